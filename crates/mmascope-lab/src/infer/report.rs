//! The result of an inference: a row, its evidence, and the parameters that cannot be observed.

mod json;
mod row;

use std::fmt;

use super::canonical_form;
use super::neighbours::Stands;
use super::run::Run;
use crate::dpa::OperandWords;
use crate::dpa::{Nan, Program, Signature, Unit};
use crate::format::{Class, Format};
use crate::vector::Answer;

pub(crate) use json::line;

/// The most rejected candidates that are shown.
const SHOWN: usize = 100;

/// The outcome of an inference.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inference {
    /// The subject as the user named it.
    pub subject: String,
    /// Its formats and K.
    pub signature: Signature,
    /// The outcome: a model, noise, or nothing that fits.
    pub outcome: Outcome,
    /// Fresh random and directed inputs with which the model was verified.
    pub trials: u64,
    /// Fresh inputs beside [`Inference::queries`] that confirmed the model.
    pub confirmed: u64,
    /// Queries asked to find the model and to verify it.
    pub queries: u64,
    /// Time taken.
    pub seconds: f64,
    /// Whether the search ended at its limit of computing time: what it left untried may fit as well, or be what the device is.
    pub reached_limit: bool,
}

/// The outcome of an inference.
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
        example: Option<InferenceExample>,
    },
    /// The same input gave different answers.
    Noise {
        /// The input.
        case: OperandWords,
        /// Two of its answers.
        answers: [Answer; 2],
    },
}

impl Outcome {
    /// No model, and none that is near.
    pub(super) const NOTHING: Self = Self::NoModel {
        nearest: None,
        agreeing: 0.0,
        example: None,
    };
}

/// An input on which a device and a model differ.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InferenceExample {
    /// The input.
    pub case: OperandWords,
    /// The device's answer.
    pub device: Answer,
    /// The model's word.
    pub model: u64,
}

impl InferenceExample {
    /// Whether the device's last answer differs from the model's word. It may not where a device does not repeat its answers.
    #[must_use]
    pub fn differs(&self, unit: &Unit) -> bool {
        match self.device {
            Answer::Word(word) => !unit.agrees(self.model, word),
            Answer::AnyNan => !unit.is_nan(self.model),
        }
    }
}

/// A model and what is known about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
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
    /// The number of rejected candidates.
    pub rejected_count: usize,
}

/// A parameter whose value none of the inputs that were tried decides.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unobservable {
    /// Its name.
    pub parameter: String,
    /// The values that cannot be told apart, the one in the program first.
    pub values: Vec<String>,
}

impl Unobservable {
    /// A parameter, the value in use, and those that cannot be told from it, runs of numbers as ranges.
    pub fn new(parameter: String, own: String, values: Vec<String>) -> Self {
        Self {
            parameter,
            values: std::iter::once(own).chain(ranges(values)).collect(),
        }
    }
}

/// `not told apart PARAMETER: value in use, other values`: by the inputs that were tried, which is no proof.
impl fmt::Display for Unobservable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parameter, values } = self;
        write!(out, "not told apart {parameter}: {}", values.join(", "))
    }
}

/// A candidate and the input that rejects it.
#[derive(Clone, Debug)]
#[non_exhaustive]
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
        .map(|(parameter, own, values)| Unobservable::new(parameter, own, values))
        .collect();
    let mut program = unit.program().clone();
    if equivalent.is_empty() {
        program = canonical_form::named(&program, signature.k, signature.scale.is_some());
    }
    // Steps that know numbers only make no NaN that answers could show.
    if equivalent.is_empty() && !program.knows_numbers_only() {
        let mut words: Vec<Option<u64>> = Vec::new();
        // Words of sums that became NaN without a NaN among their operands.
        let mut own: Vec<u64> = Vec::new();
        for asked in asked {
            let word = match asked.answer {
                Answer::AnyNan => None,
                Answer::Word(word) if unit.is_nan(word) => Some(word),
                Answer::Word(_) => continue,
            };
            if !words.contains(&word) {
                words.push(word);
            }
            let made = word.filter(|word| !own.contains(word));
            own.extend(made.filter(|_| !has_nan(&signature, &asked.case)));
        }
        // A program that began as a row of the catalogue has that row's NaN, which no answer has shown.
        let seen = match words[..] {
            [Some(word)] => Some(Nan::Word(word)),
            _ => None,
        };
        for statement in &mut program.statements {
            statement.output.nan = Nan::Any;
        }
        // Several words: chains of multiply-adds may pass an operand's on.
        let passed = own.iter().map(|&word| Nan::Operand(word));
        let passed = passed.filter(|_| words.len() > 1 && own.len() == 1);
        let exact = seen.into_iter().chain(passed).find(|&nan| {
            let mut other = program.clone();
            if let Some(last) = other.statements.last_mut() {
                last.output.nan = nan;
            }
            Unit::new(signature, other)
                .is_ok_and(|unit| asked.iter().all(|asked| asked.fits_exactly(&unit)))
        });
        if let (Some(nan), Some(last)) = (exact, program.statements.last_mut()) {
            last.output.nan = nan;
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
        .map(|(row, _, place)| {
            let case = run.signs.question(&signature, &asked[place].case);
            let answer = run.signs.answer(&signature, asked[place].answer);
            Rejected {
                row,
                input: line(&signature, &case, Some(answer)),
            }
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

/// Whether a or b has a NaN, or c is one.
fn has_nan(signature: &Signature, case: &OperandWords) -> bool {
    let is_nan =
        |format: &Format, word: u64| format.decode(format.from_register(word)).class == Class::Nan;
    let Signature { a, b, c, .. } = signature;
    case.a.iter().any(|&word| is_nan(a, word))
        || case.b.iter().any(|&word| is_nan(b, word))
        || is_nan(c, case.c)
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

impl Inference {
    /// Whether a model fits.
    #[must_use]
    pub fn holds(&self) -> bool {
        matches!(self.outcome, Outcome::Model(_))
    }
}

impl Found {
    /// The model as a file of the catalogue's notation, for `--isa`.
    #[must_use]
    pub fn row(&self, subject: &str) -> String {
        let title = format!("Inferred from {subject}");
        row::row_text(self.unit.signature(), &self.program, &title)
    }

    /// Whether d is a NaN.
    #[must_use]
    pub fn is_nan(&self, word: u64) -> bool {
        let d = self.unit.signature().d;
        d.decode(d.from_register(word)).class == Class::Nan
    }
}
