//! Looks at a device that subtracts its products or c as if it added both, and writes what is found as the device computes.
//!
//! d = s − c is the sum of s and −c, d = −s − c what −(s + c) is, and d = −s + c what −(s − c) is: c is negated before the sum, or
//! the result after it, or both. Negation is exact, so that every answer of the device is an answer of such a sum.

use super::maker::{Maker, word};
use super::report::{Found, InferenceExample, Outcome};
use crate::dpa::{Nan, OperandWords, Operation, Program, Signature, Source, Statement, Unit};
use crate::dut::{Batch, Dut};
use crate::error::Result;
use crate::exact::Exact;
use crate::format::{Class, Format};
use crate::vector::Answer;

/// What is negated: c before the sum, and the result after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs {
    c: bool,
    result: bool,
}

/// Two questions: a power of two as a product, and as c.
pub(super) fn questions(maker: &Maker) -> [OperandWords; 2] {
    let mut product = maker.blank();
    maker.power(&mut product, 0, false, exponent_of_product(maker));
    let mut c = maker.blank();
    maker.set_c(&mut c, Exact::power_of_two(false, exponent_of_c(maker)));
    [product, c]
}

fn exponent_of_product(maker: &Maker) -> i32 {
    let (low, high) = maker.products();
    nearest_to_0(low.max(maker.d.normal), high.min(maker.d.top))
}

fn exponent_of_c(maker: &Maker) -> i32 {
    let (c, d) = (maker.c, maker.d);
    nearest_to_0(c.normal.max(d.normal), c.top.min(d.top))
}

/// Ranges of declared formats need not meet: then an answer is no power of two, and nothing is concluded.
fn nearest_to_0(low: i32, high: i32) -> i32 {
    0.max(low).min(high)
}

impl Signs {
    /// What the answers to [`questions`] show. Nothing is negated where they are not those numbers with a sign.
    pub(super) fn of(maker: &Maker, [product, c]: [Answer; 2]) -> Self {
        let format = &maker.signature.d;
        let is_minus = |answer: Answer, exponent: i32| {
            let plus = word(Exact::power_of_two(false, exponent), format);
            match answer {
                Answer::Word(found) if found == plus => Some(false),
                Answer::Word(found) if found == negated(plus, format) => Some(true),
                _ => None,
            }
        };
        let Some(result) = is_minus(product, exponent_of_product(maker)) else {
            return Self::default();
        };
        let c = is_minus(c, exponent_of_c(maker)).is_some_and(|minus| minus != result);
        Self { c, result }
    }

    /// Whether anything is negated.
    pub(super) fn any(self) -> bool {
        self.c || self.result
    }

    /// A question as the device itself is asked, of one that a sum is asked; or the other way round.
    pub(super) fn question(self, signature: &Signature, case: &OperandWords) -> OperandWords {
        let mut case = case.clone();
        if self.c {
            case.c = negated(case.c, &signature.c);
        }
        case
    }

    fn word(self, signature: &Signature, word: u64) -> u64 {
        match self.result {
            true => negated(word, &signature.d),
            false => word,
        }
    }

    /// The device's own answer, of a sum's; or the other way round.
    pub(super) fn answer(self, signature: &Signature, answer: Answer) -> Answer {
        match answer {
            Answer::Word(word) => Answer::Word(self.word(signature, word)),
            Answer::AnyNan => answer,
        }
    }

    /// What was found of the sum, as what the device computes.
    pub(super) fn outcome(self, signature: &Signature, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Model(found) => match self.found(signature, &found) {
                Some(own) => Outcome::Model(Box::new(own)),
                None => Outcome::NOTHING,
            },
            Outcome::NoModel {
                nearest,
                agreeing,
                example,
            } => Outcome::NoModel {
                nearest: nearest.and_then(|program| self.program(signature, &program)),
                agreeing,
                example: example.map(|example| InferenceExample {
                    case: self.question(signature, &example.case),
                    device: self.answer(signature, example.device),
                    model: self.word(signature, example.model),
                }),
            },
            Outcome::Noise { case, answers } => Outcome::Noise {
                case: self.question(signature, &case),
                answers: answers.map(|answer| self.answer(signature, answer)),
            },
        }
    }

    fn found(self, signature: &Signature, found: &Found) -> Option<Found> {
        let program = self.program(signature, &found.program)?;
        let unit = Unit::new(*signature, program.clone()).ok()?;
        Some(Found {
            unit,
            program,
            ..found.clone()
        })
    }

    /// The program with what is negated before and after it.
    fn program(self, signature: &Signature, program: &Program) -> Option<Program> {
        let text = format!(
            "m = negate c -> rne {} ; d = negate m -> rne {}",
            signature.c, signature.d
        );
        let negations: Program = text.parse().ok()?;
        let [before, after] = <[Statement; 2]>::try_from(negations.statements).ok()?;
        let mut own = program.clone();
        if self.c {
            for statement in &mut own.statements {
                super::canonical_form::reads(statement, |source| match source {
                    Source::C => Source::Statement(0),
                    Source::Statement(place) => Source::Statement(place + 1),
                    Source::Zero => Source::Zero,
                });
            }
            own.statements.insert(0, before);
        }
        if self.result {
            let place = own.statements.len().checked_sub(1)?;
            let last = own.statements.last_mut()?;
            last.name = "s".to_owned();
            let mut after = after;
            after.operation = Operation::Negate(Source::Statement(place));
            after.output.nan = std::mem::replace(&mut last.output.nan, Nan::Any);
            own.statements.push(after);
        }
        Some(own)
    }
}

/// The word with its other sign. A NaN stays as it is, and a zero where the format has no −0.
fn negated(word: u64, format: &Format) -> u64 {
    let number = format.decode(format.from_register(word));
    match number.class {
        Class::Nan => word,
        Class::Zero => format.to_register(format.zero(!number.negative)),
        _ => word ^ format.to_register(1 << (format.bits - 1)),
    }
}

/// The device as a sum.
pub(super) struct Mirrored<'a> {
    pub(super) device: &'a mut dyn Dut,
    pub(super) signs: Signs,
}

impl Dut for Mirrored<'_> {
    fn signature(&self) -> &Signature {
        self.device.signature()
    }

    fn name(&self) -> &str {
        self.device.name()
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>> {
        let signature = *self.device.signature();
        let mut own = Batch::new(signature);
        for index in 0..batch.len() {
            let mut query = batch.query(index);
            if self.signs.c {
                query.c = negated(query.c, &signature.c);
            }
            own.push(&query)?;
        }
        let answers = self.device.run(&own)?;
        let answers = answers.into_iter();
        Ok(answers
            .map(|answer| self.signs.answer(&signature, answer))
            .collect())
    }
}
