//! What an inference has found: a row, its evidence, and what cannot be known.

use serde_json::{Map, Value, json};

use super::neighbours::Stands;
use super::{Run, answer_text, forms};
use crate::cases::Case;
use crate::dpa::{Dpa, General, Nan, Operation, Program, Signature, Source, Unit};
use crate::format::{Class, Format};
use crate::vector::{Answer, question};

/// The most rejected candidates that are shown.
const SHOWN: usize = 100;

/// The outcome of an inference.
#[derive(Clone, Debug)]
pub struct Inference {
    /// The subject as the user named it.
    pub subject: String,
    /// Its formats and K.
    pub signature: Signature,
    /// What it is.
    pub outcome: Outcome,
    /// Fresh random and directed inputs with which the model was verified.
    pub trials: u64,
    /// Queries asked.
    pub queries: u64,
    /// Time taken.
    pub seconds: f64,
}

/// What a device turned out to be.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A model that gives every answer.
    Model(Box<Found>),
    /// No model of the space fits.
    NoModel {
        /// The program that gave the most answers.
        nearest: Option<Program>,
        /// The share of the answers that it gave.
        agreeing: f64,
        /// A small input on which it differs.
        example: Option<Example>,
    },
    /// The same input gave different answers.
    Noise {
        /// The input.
        case: Case,
        /// Two of its answers.
        answers: [Answer; 2],
    },
}

/// An input on which a device and a model differ.
#[derive(Clone, Debug)]
pub struct Example {
    /// The input.
    pub case: Case,
    /// The device's answer.
    pub device: Answer,
    /// The model's word.
    pub model: u64,
}

/// A model and what is known about it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The model.
    pub unit: Unit,
    /// Its program, in the shortest notation.
    pub program: Program,
    /// Rows of the catalogue, `ARCH:INST`, that cannot be told from it.
    pub equivalent: Vec<String>,
    /// Parameters of which several values cannot be told apart.
    pub unobservable: Vec<Unobservable>,
    /// The rejected candidates nearest to the model.
    pub rejected: Vec<Rejected>,
    /// How many candidates were rejected.
    pub rejected_count: usize,
}

/// A parameter that no input settles.
#[derive(Clone, Debug)]
pub struct Unobservable {
    /// Its name.
    pub parameter: String,
    /// The values that cannot be told apart, the one in the program first.
    pub values: Vec<String>,
}

/// A candidate and the input that rejects it.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// A row's name, or the parameter that differs with its value.
    pub row: String,
    /// The input with the device's answer, as a vector line.
    pub input: String,
}

/// The model with the NaN that was seen, and its report.
pub(super) fn found(run: &Run<'_>, stands: Stands) -> Found {
    let Stands {
        unit,
        equivalent,
        open,
        mut rejected,
    } = stands;
    let signature = run.signature;
    let asked = &run.asker.asked;
    let mut unobservable: Vec<Unobservable> = open
        .into_iter()
        .map(|(parameter, own, values)| Unobservable {
            parameter: parameter.to_owned(),
            values: std::iter::once(own).chain(ranges(values)).collect(),
        })
        .collect();
    let mut program = unit.program().clone();
    if equivalent.is_empty() {
        program = forms::named(&program, signature.k, signature.scale.is_some());
        let mut words: Vec<Option<u64>> = Vec::new();
        for asked in asked {
            let word = match asked.answer {
                Answer::AnyNan => None,
                Answer::Word(word) if unit.is_nan(word) => Some(word),
                Answer::Word(_) => continue,
            };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        if let ([Some(word)], Some(last)) = (&words[..], program.statements.last_mut()) {
            last.output.nan = Nan::Word(*word);
            let exact = Unit::new(signature, program.clone());
            let all = exact.is_ok_and(|unit| asked.iter().all(|asked| asked.fits_exactly(&unit)));
            if let (false, Some(last)) = (all, program.statements.last_mut()) {
                last.output.nan = Nan::Any;
            }
        }
        if words.is_empty() {
            unobservable.push(Unobservable {
                parameter: "nan".to_owned(),
                values: vec!["any".to_owned()],
            });
        }
    }
    let unit = Unit::new(signature, program.clone()).unwrap_or(unit);
    // Nearest first: those that give the most of a sample of the answers.
    let step = asked.len().div_ceil(120).max(1);
    let misses = |other: &Unit| {
        asked
            .iter()
            .step_by(step)
            .filter(|a| !a.fits(other))
            .count()
    };
    rejected.sort_by_cached_key(|(_, other, _)| misses(other));
    let rejected_count = rejected.len();
    let rejected = rejected
        .into_iter()
        .take(SHOWN)
        .map(|(row, _, place)| Rejected {
            row,
            input: line(&signature, &asked[place].case, Some(asked[place].answer)),
        })
        .collect();
    Found {
        unit,
        program,
        equivalent,
        unobservable,
        rejected,
        rejected_count,
    }
}

/// Runs of whole numbers as ranges.
fn ranges(values: Vec<String>) -> Vec<String> {
    let mut numbers: Vec<i64> = Vec::new();
    let mut others = Vec::new();
    for value in values {
        match value.parse() {
            Ok(number) => numbers.push(number),
            Err(_) => others.push(value),
        }
    }
    numbers.sort_unstable();
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while at < numbers.len() {
        let mut end = at;
        while end + 1 < numbers.len() && numbers[end + 1] == numbers[end] + 1 {
            end += 1;
        }
        if end - at < 3 {
            found.extend(numbers[at..=end].iter().map(ToString::to_string));
        } else {
            found.push(format!("{}..{}", numbers[at], numbers[end]));
        }
        at = end + 1;
    }
    found.extend(others);
    found
}

/// A case as a vector line of a device that is no row.
pub(crate) fn line(signature: &Signature, case: &Case, answer: Option<Answer>) -> String {
    let mut line = question(
        "dut",
        &signature.to_string(),
        &[],
        signature,
        &case.operands(),
    );
    if let Some(answer) = answer {
        line.pop();
        line += &format!(",\"d\":\"{}\"}}", answer_text(answer, signature));
    }
    line
}

/// What a program does with c, in one word.
fn place_of_c(program: &Program) -> &'static str {
    let uses = |operation: &Operation| match operation {
        Operation::Dot { from, .. } => *from == Source::C,
        Operation::Add(left, right) => *left == Source::C || *right == Source::C,
        Operation::Convert(source) => *source == Source::C,
        Operation::Join { of, .. } => of.contains(&Source::C),
    };
    let last = program.statements.len().saturating_sub(1);
    let at = program
        .statements
        .iter()
        .position(|statement| uses(&statement.operation));
    match at.map(|at| (at, &program.statements[at].operation)) {
        None => "absent",
        Some((_, Operation::Dot { .. })) => "fused",
        Some((at, Operation::Add(..))) if at == last => "separate-last",
        Some((_, Operation::Add(..))) => "separate-first",
        Some((_, Operation::Convert(_))) => "converted",
        Some((at, Operation::Join { .. })) if at == last => "last-step",
        Some(_) => "joined",
    }
}

/// The name of the algorithm that sums products.
pub(crate) fn algorithm(program: &Program) -> &'static str {
    let dot = program.statements.iter().find_map(|s| match &s.operation {
        Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } => Some(algorithm),
        _ => None,
    });
    match dot {
        None => "none",
        Some(Dpa::FmaChain) => "fma-chain",
        Some(Dpa::TFdpa { scaled: false, .. }) => "t-fdpa",
        Some(Dpa::TFdpa { scaled: true, .. }) => "st-fdpa",
        Some(Dpa::GstFdpa { .. }) => "gst-fdpa",
        Some(Dpa::FtzAddMul { .. }) => "ftz-addmul",
        Some(Dpa::EFdpa { .. }) => "e-fdpa",
        Some(Dpa::TrFdpa { .. }) => "tr-fdpa",
        Some(Dpa::GtrFdpa { .. }) => "gtr-fdpa",
        Some(Dpa::General(General::Fused(_))) => "fused",
        Some(Dpa::General(General::AddMul(_))) => "add-mul",
    }
}

/// Parameters by name; where statements differ, a later one's value stands under `STATEMENT.NAME`.
pub(crate) fn parameters(program: &Program) -> Map<String, Value> {
    let mut found = Map::new();
    let last = program
        .statements
        .last()
        .map_or("", |statement| &statement.name);
    for parameter in program.parameters() {
        let value: Value = match parameter.value.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => parameter.value.into(),
        };
        let is_last = parameter.statement.is_empty() || parameter.statement == last;
        match found.get(parameter.name) {
            None => {
                found.insert(parameter.name.to_owned(), value);
            }
            Some(known) if *known == value => {}
            // The result's own rounding, overflow, NaN and zero are those of the last statement.
            Some(known) if is_last && !["order", "L", "F", "P"].contains(&parameter.name) => {
                let earlier = format!("between.{}", parameter.name);
                found.insert(earlier, known.clone());
                found.insert(parameter.name.to_owned(), value);
            }
            Some(_) => {
                found.insert(format!("{}.{}", parameter.statement, parameter.name), value);
            }
        }
    }
    found.insert("c".to_owned(), place_of_c(program).into());
    found
}

/// A file of one row, in the catalogue's notation.
pub(crate) fn row_text(signature: &Signature, program: &Program, title: &str) -> String {
    let Signature {
        a,
        b,
        c,
        d,
        k,
        scale,
    } = signature;
    let name = |format: &Format| format.name;
    let scale = scale.map_or_else(String::new, |scale| {
        format!(" scale {}/{}", scale.format.name, scale.block)
    });
    let title: String = title
        .chars()
        .filter(|c| !c.is_control() && *c != '|' && *c != '#')
        .collect();
    format!(
        "arch inferred\ntitle {title}\ndot.{{shape}}.{{d}}.{{a}}.{{b}}.{{c}} | {} x {} + {} -> {}{scale} | m1n1k{k}\n  | {program} | open\n",
        name(a),
        name(b),
        name(c),
        name(d)
    )
}

impl Inference {
    /// Whether a model fits.
    #[must_use]
    pub fn holds(&self) -> bool {
        matches!(self.outcome, Outcome::Model(_))
    }

    /// The result as `infer --json` gives it.
    #[must_use]
    pub fn json(&self) -> Map<String, Value> {
        let mut value = json!({
            "subject": self.subject,
            "signature": self.signature.to_string(),
            "queries": self.queries,
            "seconds": self.seconds,
        });
        let rest = match &self.outcome {
            Outcome::Model(found) => found.json(self),
            Outcome::NoModel {
                nearest,
                agreeing,
                example,
            } => json!({
                "outcome": "no-model",
                "reason": "no model in the space fits",
                "row": null,
                "algorithm": null,
                "parameters": {},
                "equivalent": [],
                "unobservable": [],
                "rejected": [],
                "rejected_count": 0,
                "nearest": nearest.as_ref().map(ToString::to_string),
                "agreeing": agreeing,
                "counter_example": example.as_ref().map(|example| example.json(&self.signature)),
                "verified": {"trials": self.trials, "mismatches": u64::from(example.is_some())},
            }),
            Outcome::Noise { case, answers } => json!({
                "outcome": "noise",
                "reason": "the same input gave different answers",
                "row": null,
                "algorithm": null,
                "parameters": {},
                "equivalent": [],
                "unobservable": [],
                "rejected": [],
                "rejected_count": 0,
                "counter_example": {
                    "input": line(&self.signature, case, None),
                    "answers": answers.map(|answer| answer_text(answer, &self.signature)),
                },
                "verified": {"trials": self.trials, "mismatches": 0},
            }),
        };
        if let (Value::Object(value), Value::Object(rest)) = (&mut value, rest) {
            value.extend(rest);
        }
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

impl Example {
    /// The example as JSON.
    #[must_use]
    pub fn json(&self, signature: &Signature) -> Value {
        json!({
            "input": line(signature, &self.case, None),
            "device": answer_text(self.device, signature),
            "model": answer_text(Answer::Word(self.model), signature),
        })
    }
}

impl Found {
    fn json(&self, inference: &Inference) -> Value {
        let unobservable: Vec<Value> = self
            .unobservable
            .iter()
            .map(|open| json!({"parameter": open.parameter, "values": open.values}))
            .collect();
        let rejected: Vec<Value> = self
            .rejected
            .iter()
            .map(|rejected| json!({"row": rejected.row, "input": rejected.input}))
            .collect();
        json!({
            "outcome": "model",
            "row": self.row(&inference.subject),
            "notation": self.program.to_string(),
            "algorithm": algorithm(&self.program),
            "parameters": parameters(&self.program),
            "equivalent": self.equivalent,
            "unobservable": unobservable,
            "rejected": rejected,
            "rejected_count": self.rejected_count,
            "verified": {"trials": inference.trials, "mismatches": 0},
        })
    }

    /// The model as a file of the catalogue's notation, for `--isa`.
    #[must_use]
    pub fn row(&self, subject: &str) -> String {
        let title = format!("Inferred from {subject}");
        row_text(self.unit.signature(), &self.program, &title)
    }

    /// Whether d is a NaN.
    #[must_use]
    pub fn is_nan(&self, word: u64) -> bool {
        let d = self.unit.signature().d;
        d.decode(d.from_register(word)).class == Class::Nan
    }
}
