//! Devices whose sums are integers: what `probe`, `reveal` and `infer` find of them.
//!
//! There is nothing to round, so few questions decide: what a pair gives, what becomes of a sum that the
//! accumulator does not hold, and where it is brought to the accumulator. Every such unit is an [`IntDot`];
//! those that give another answer are dropped, one by one.

use crate::cases::{Family, Generator, Hints};
use crate::dpa::{
    Beyond, Dpa, IntDot, IntPair, Modifiers, OperandWords, Operation, Signature, Unit,
};
use crate::dut::{Batch, Dut};
use crate::error::{Error, Result};
use crate::format::{Format, Kind};
use crate::infer::{Found, InferenceExample, Outcome, Unobservable, answer_text, line};
use crate::isa::Catalogue;
use crate::probe::{Feature, Features, Test};
use crate::reveal::{Nature, Revelation, Verified};
use crate::tree::{Node, Op, Tree};
use crate::vector::Answer;

/// The most cases of each family that a device is asked.
const CASES: u64 = 200;
/// The part of a budget that is one family's, where it affords fewer.
const PART: u64 = 40;

/// Whether the accumulator of a device is an integer.
#[must_use]
pub fn are_summed(signature: &Signature) -> bool {
    signature.c.kind == Kind::Fixed { scale: 0 }
}

/// What a device answered, and the units that give all of its answers.
pub(crate) struct Examined {
    signature: Signature,
    asked: Vec<(OperandWords, Answer)>,
    /// The first one has the longest blocks.
    fitting: Vec<Unit>,
    /// The unit of the most answers, with their number.
    nearest: Option<(Unit, usize)>,
    rejected: usize,
    /// A question that got two answers.
    noise: Option<(OperandWords, [Answer; 2])>,
}

/// Asks a device with about so many queries at most, and drops every unit that gives another answer.
pub(crate) fn examine(device: &mut dyn Dut, seed: u64, budget: u64) -> Result<Examined> {
    let signature = *device.signature();
    let questions = questions(&signature, seed, CASES.min(budget / PART).max(1))?;
    let mut batch = Batch::new(signature);
    for case in &questions {
        batch.push(&case.operands())?;
    }
    let (answers, again) = (device.run(&batch)?, device.run(&batch)?);
    let twice = answers.iter().zip(&again).zip(&questions);
    let noise = twice
        .filter(|((first, second), _)| first != second)
        .map(|((first, second), case)| (case.clone(), [*first, *second]))
        .next();
    let asked: Vec<_> = questions.into_iter().zip(answers).collect();
    let mut found = Examined {
        signature,
        asked,
        fitting: Vec::new(),
        nearest: None,
        rejected: 0,
        noise,
    };
    for unit in candidates(&signature) {
        let agreeing = found.agreeing(&unit);
        if agreeing == found.asked.len() {
            found.fitting.push(unit.clone());
        } else {
            found.rejected += 1;
        }
        if found
            .nearest
            .as_ref()
            .is_none_or(|(_, most)| agreeing > *most)
        {
            found.nearest = Some((unit, agreeing));
        }
    }
    Ok(found)
}

/// Every unit of integer sums with these formats; a sum that wraps has no blocks that show.
fn candidates(signature: &Signature) -> Vec<Unit> {
    let k = signature.k as u32;
    let mut steps = Vec::new();
    for pair in [IntPair::Product, IntPair::Differ] {
        let step = |l, beyond| IntDot { l, pair, beyond };
        steps.push(step(k, Beyond::Wraps));
        steps.extend((1..=k).rev().map(|l| step(l, Beyond::Saturates)));
    }
    let unit = |step: IntDot| {
        let text = format!("{} -> rz {}", Dpa::from(step), signature.d);
        Unit::new(*signature, text.parse().ok()?).ok()
    };
    steps.into_iter().filter_map(unit).collect()
}

/// Cases of every family, and sums that leave the accumulator and come back at another k.
fn questions(signature: &Signature, seed: u64, cases: u64) -> Result<Vec<OperandWords>> {
    let hints = Hints::of_signature(signature);
    let mut found = Vec::new();
    for family in Family::ALL {
        if family == Family::Exhaustive {
            continue;
        }
        let generator = Generator::new(family, seed, signature, hints)?;
        found.extend((0..cases).map(|index| generator.case(index)));
    }
    let (least, most) = ends(&signature.c);
    let (one, minus) = (1, |format: &Format| format.mask());
    let blank = OperandWords {
        a: vec![0; signature.k],
        b: vec![0; signature.k],
        ..OperandWords::default()
    };
    // Up at one k and down at another, where a negative product can be made.
    let factors = match (signature.a.signed, signature.b.signed) {
        (true, _) => Some((minus(&signature.a), one)),
        (_, true) => Some((one, minus(&signature.b))),
        _ => None,
    };
    for (k, at) in (1..signature.k)
        .map(|k| (k, k - 1))
        .chain((1..signature.k).map(|k| (k, 0)))
    {
        let Some((a, b)) = factors else { break };
        for (c, up) in [(most, true), (least, false)] {
            let mut case = OperandWords {
                c: c as u64 & signature.c.mask(),
                ..blank.clone()
            };
            let (first, second) = if up { (at, k) } else { (k, at) };
            (case.a[first], case.b[first]) = (one, one);
            (case.a[second], case.b[second]) = (a, b);
            found.push(case.clone());
            found.push(OperandWords { c: 0, ..case });
        }
    }
    Ok(found)
}

/// The least and the largest number.
fn ends(format: &Format) -> (i128, i128) {
    let span = 1_i128 << format.bits;
    match format.signed {
        true => (-span / 2, span / 2 - 1),
        false => (0, span - 1),
    }
}

impl Examined {
    fn word(unit: &Unit, case: &OperandWords) -> Answer {
        let word = unit.dot(&case.operands(), &Modifiers::default());
        word.map_or(Answer::AnyNan, Answer::Word)
    }

    /// How many answers a unit gives.
    fn agreeing(&self, unit: &Unit) -> usize {
        let agrees = |(case, answer): &&(OperandWords, Answer)| Self::word(unit, case) == *answer;
        self.asked.iter().filter(agrees).count()
    }

    /// A question that the nearest unit answers otherwise.
    fn example(&self) -> Option<InferenceExample> {
        let (unit, _) = self.nearest.as_ref()?;
        self.asked.iter().find_map(|(case, answer)| {
            let model = unit.dot(&case.operands(), &Modifiers::default()).ok()?;
            (Answer::Word(model) != *answer).then(|| InferenceExample {
                case: case.clone(),
                device: *answer,
                model,
            })
        })
    }

    fn step(unit: &Unit) -> Option<IntDot> {
        match &unit.program().statements.first()?.operation {
            Operation::Dot {
                algorithm: Dpa::IntDot(step),
                ..
            } => Some(*step),
            _ => None,
        }
    }

    /// The longest blocks are the simplest: nothing shows that they are shorter.
    fn simplest(&self) -> Option<(&Unit, IntDot)> {
        let unit = self.fitting.first()?;
        Some((unit, Self::step(unit)?))
    }

    /// The values of L that fit.
    fn lengths(&self) -> Vec<String> {
        let steps = self.fitting.iter().filter_map(Self::step);
        steps.map(|step| step.l.to_string()).collect()
    }

    /// What `infer` says.
    pub(crate) fn outcome(&self, catalogue: Option<&Catalogue>) -> Outcome {
        if let Some((case, answers)) = &self.noise {
            return Outcome::Noise {
                case: case.clone(),
                answers: *answers,
            };
        }
        let Some((unit, step)) = self.simplest() else {
            let share = |(_, agreeing): &(Unit, usize)| *agreeing as f64 / self.asked.len() as f64;
            return Outcome::NoModel {
                nearest: self
                    .nearest
                    .as_ref()
                    .map(|(unit, _)| unit.program().clone()),
                agreeing: self.nearest.as_ref().map_or(0.0, share),
                example: self.example(),
            };
        };
        let rows = catalogue.map_or_else(Vec::new, |catalogue| {
            let same = catalogue
                .instructions()
                .filter(|row| row.signature == self.signature);
            let fits = same.filter(|row| {
                row.unit()
                    .is_ok_and(|unit| self.agreeing(unit) == self.asked.len())
            });
            fits.map(|row| format!("{}:{}", row.architecture, row.name))
                .collect()
        });
        let mut unobservable = Vec::new();
        if step.beyond == Beyond::Wraps && self.signature.k > 1 {
            unobservable.push(Unobservable::new(
                "L".to_owned(),
                step.l.to_string(),
                (1..step.l).map(|l| l.to_string()).collect(),
            ));
        } else if self.fitting.len() > 1 {
            let mut values = self.lengths();
            let own = values.remove(0);
            values.reverse();
            unobservable.push(Unobservable::new("L".to_owned(), own, values));
        }
        Outcome::Model(Box::new(Found {
            unit: unit.clone(),
            program: unit.program().clone(),
            equivalent: rows,
            unobservable,
            rejected: Vec::new(),
            rejected_count: self.rejected,
        }))
    }

    /// Questions asked, each of them twice.
    pub(crate) fn queries(&self) -> u64 {
        2 * self.asked.len() as u64
    }

    pub(crate) fn trials(&self) -> u64 {
        self.asked.len() as u64
    }
}

/// Reveals a device of integer sums: a tree of exact sums, or why there is none.
///
/// # Errors
/// The device's own; [`Error::Argument`] for an accumulator that is no integer.
pub fn reveal(device: &mut dyn Dut, seed: u64) -> Result<Revelation> {
    let signature = *device.signature();
    if !are_summed(&signature) {
        return Err(Error::Argument(format!("{signature}: c is no integer")));
    }
    let name = device.name().to_owned();
    let found = examine(device, seed, u64::MAX)?;
    let leaves = signature.k + 1;
    let all = |op| Node::Inner {
        op,
        format: signature.d,
        children: (0..leaves).map(Node::Leaf).collect(),
    };
    let (node, nature, beyond) = match (&found.noise, found.simplest()) {
        (Some(_), _) => (
            all(Op::Unresolved),
            Nature::Nondeterministic("the same input gave two answers".to_owned()),
            "",
        ),
        (None, None) => (
            all(Op::Unresolved),
            Nature::NoSingleTree("the answers are those of no exact sum of integers".to_owned()),
            "",
        ),
        (None, Some((unit, step))) => (
            Node::of_program(unit.program(), &signature).unwrap_or_else(|| all(Op::Exact)),
            Nature::Tree,
            match step.beyond {
                Beyond::Wraps => "integer sums that wrap",
                Beyond::Saturates => "integer sums that saturate",
            },
        ),
    };
    let tree = Tree::of_node(&node, leaves)?;
    let mismatches = usize::from(nature != Nature::Tree);
    let nodes = tree.nodes().iter().enumerate();
    let unresolved = nodes
        .filter(|(_, node)| node.op == Op::Unresolved)
        .map(|(index, _)| tree.leaves_below(tree.leaves() + index));
    Ok(Revelation {
        subject: name,
        leaves: (0..signature.k)
            .map(|k| format!("p{k}"))
            .chain(["c".to_owned()])
            .collect(),
        operands: signature.a,
        format: signature.d,
        products: signature.k,
        unresolved: unresolved.collect(),
        nature,
        calls: 2,
        measurements: found.queries(),
        all_calls: 2,
        all_measurements: found.queries(),
        verified: Verified {
            trials: found.asked.len(),
            mismatches,
            arithmetic: beyond.to_owned(),
            chosen: None,
            counter_example: None,
        },
        notes: vec![
            "integer sums are exact: their order shows only where they saturate in between"
                .to_owned(),
        ],
        tree,
    })
}

/// The features of a device of integer sums.
pub(crate) fn probe(device: &mut dyn Dut) -> Result<Features> {
    let (subject, signature) = (device.name().to_owned(), *device.signature());
    let found = examine(device, 1, u64::MAX)?;
    let tests = |about: &dyn Fn(&OperandWords) -> bool| -> Vec<Test> {
        let own = found.asked.iter().filter(|(case, _)| about(case)).take(4);
        own.map(|(case, answer)| Test {
            what: "a sum of integers".to_owned(),
            input: line(&signature, case, None),
            output: answer_text(*answer, &signature),
            reading: match answer {
                Answer::Word(word) => number(&signature.d, *word).to_string(),
                Answer::AnyNan => "nan".to_owned(),
            },
        })
        .collect()
    };
    let (least, most) = ends(&signature.c);
    let at_ends = |case: &OperandWords| {
        let c = number(&signature.c, case.c);
        c - least < 1000 || most - c < 1000
    };
    let step = found.simplest().map(|(_, step)| step);
    let told = |word: Option<&str>| word.unwrap_or("unknown").to_owned();
    let fits = match step {
        Some(_) => "every answer is that of an exact sum of integers",
        None => "some answers are those of no exact sum of integers",
    };
    let feature = |name, section, title: &str, value: String, conclusion: String, tests| Feature {
        name,
        section,
        title: title.to_owned(),
        value,
        conclusion,
        tests,
    };
    let blocks = match step {
        Some(IntDot {
            beyond: Beyond::Wraps,
            ..
        }) => ("not reachable".to_owned(), "sums that wrap show no order"),
        Some(IntDot { l, .. }) if found.fitting.len() == 1 => (
            l.to_string(),
            "products are added before the sum is limited",
        ),
        Some(_) => (
            "unknown".to_owned(),
            "several numbers of products give all answers",
        ),
        None => ("unknown".to_owned(), fits),
    };
    let features = vec![
        feature(
            "products",
            2,
            "what a pair gives",
            told(step.map(|step| match step.pair {
                IntPair::Product => "exact",
                IntPair::Differ => "differing bits",
            })),
            fits.to_owned(),
            tests(&|_| true),
        ),
        feature(
            "overflow-sum",
            9,
            "sums beyond the accumulator",
            told(step.map(|step| match step.beyond {
                Beyond::Wraps => "wraps",
                Beyond::Saturates => "saturates",
            })),
            format!("the accumulator holds {least} to {most}"),
            tests(&at_ends),
        ),
        feature(
            "step",
            3,
            "products per step",
            blocks.0,
            blocks.1.to_owned(),
            Vec::new(),
        ),
        feature(
            "repeated",
            10,
            "the same question again",
            told(Some(match found.noise {
                Some(_) => "noise",
                None => "same",
            })),
            "every question was asked twice".to_owned(),
            Vec::new(),
        ),
    ];
    Ok(Features {
        subject,
        signature,
        features,
        queries: found.queries(),
    })
}

fn number(format: &Format, word: u64) -> i128 {
    let code = i128::from(format.from_register(word));
    match format.signed && code >> (format.bits - 1) == 1 {
        true => code - (1 << format.bits),
        false => code,
    }
}
