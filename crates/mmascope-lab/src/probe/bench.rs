//! The workbench of the tests: makes inputs from values, reads answers as values, gathers tests under features.

use super::report::{Feature, Features, Test};
use crate::dpa::OperandWords;
use crate::dpa::Signature;
use crate::dut::{Batch, Dut};
use crate::error::{Error, Result};
use crate::exact::{Dyadic, Exact};
use crate::explain::TracedValue;
use crate::infer::{Maker, answer_text, drawn, line, word};
use crate::reveal::Random;
use crate::stand_in::StandIn;
use crate::vector::Answer;

/// A device with the tests made so far.
pub(super) struct Bench<'a> {
    pub(super) device: &'a mut dyn Dut,
    pub(super) maker: Maker,
    pub(super) signature: Signature,
    features: Vec<Feature>,
    /// Tests of the feature being measured, with the values that were read.
    tests: Vec<(Test, TracedValue)>,
    /// The answers of the concluded features' tests, in their order.
    values: Vec<TracedValue>,
    pub(super) queries: u64,
    /// Every question with its answer.
    pub(super) asked: Vec<(Input, Reading)>,
    /// What stands in for the device's operands.
    pub(super) stand_in: Option<StandIn>,
}

/// An input being written.
#[derive(Clone)]
pub(super) struct Input {
    pub(super) case: OperandWords,
    /// A description for people.
    pub(super) what: String,
}

/// An answer as a word and as a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) answer: Answer,
    pub(super) value: TracedValue,
}

impl Reading {
    /// The exact number, if it is one.
    pub(super) fn number(&self) -> Option<Dyadic> {
        self.value.number()
    }

    /// Whether it is ±2^exponent.
    pub(super) fn is_power(&self, negative: bool, exponent: i32) -> bool {
        self.number() == Some(power(negative, exponent))
    }

    pub(super) fn is_zero(&self) -> bool {
        matches!(self.value, TracedValue::Zero { .. })
    }

    pub(super) fn is_nan(&self) -> bool {
        self.value == TracedValue::Nan
    }

    pub(super) fn is_infinite(&self) -> bool {
        matches!(self.value, TracedValue::Infinite { .. })
    }
}

/// ±2^exponent.
pub(super) fn power(negative: bool, exponent: i32) -> Dyadic {
    Dyadic::of(&Exact::power_of_two(negative, exponent))
}

impl<'a> Bench<'a> {
    pub(crate) fn new(device: &'a mut dyn Dut) -> Result<Self> {
        let signature = *device.signature();
        Ok(Self {
            device,
            maker: Maker::new(&signature)?,
            signature,
            features: Vec::new(),
            tests: Vec::new(),
            values: Vec::new(),
            queries: 0,
            asked: Vec::new(),
            stand_in: None,
        })
    }

    /// An input of zeros.
    pub(super) fn input(&self, what: impl Into<String>) -> Input {
        Input {
            case: self.maker.blank(),
            what: what.into(),
        }
    }

    /// Whether a product ±2^exponent can be made, of normal operands or at all.
    pub(super) fn reaches(&self, exponent: i32) -> bool {
        let low = self.maker.a.lowest + self.maker.b.lowest;
        (low..=self.maker.a.top + self.maker.b.top).contains(&exponent)
    }

    /// Puts a product ±2^exponent at k.
    pub(super) fn power(&self, input: &mut Input, k: usize, negative: bool, exponent: i32) {
        self.maker.power(&mut input.case, k, negative, exponent);
    }

    /// Puts a product of that value and of normal operands at k, if there is one: its significand is a's.
    pub(super) fn normal_product(&self, input: &mut Input, k: usize, number: Exact) {
        let exponent = number.top().unwrap_or(0);
        let (a, b) = (&self.maker.a, &self.maker.b);
        let (low, high) = (
            a.normal.max(exponent - b.top),
            a.top.min(exponent - b.normal),
        );
        let first = i32::midpoint(low, high);
        self.product(
            input,
            k,
            number.with_top(first),
            two(false, exponent - first),
        );
    }

    /// Puts a product of two given numbers at k.
    pub(super) fn product(&self, input: &mut Input, k: usize, a: Exact, b: Exact) {
        input.case.a[k] = word(a, &self.signature.a);
        input.case.b[k] = word(b, &self.signature.b);
    }

    /// The product at k of the operands that the formats made of what was asked for, without scales.
    pub(super) fn product_at(&self, input: &Input, k: usize) -> Option<Dyadic> {
        let value = |format: &crate::format::Format, word: u64| {
            TracedValue::of(&format.decode(format.from_register(word))).number()
        };
        let (a, b) = (input.case.a[k], input.case.b[k]);
        Some(&value(&self.signature.a, a)? * &value(&self.signature.b, b)?)
    }

    /// Whether an operand at k is subnormal.
    pub(super) fn has_subnormals(&self, input: &Input, k: usize) -> bool {
        let (signature, maker) = (&self.signature, &self.maker);
        [
            (&signature.a, input.case.a[k], maker.a.normal),
            (&signature.b, input.case.b[k], maker.b.normal),
        ]
        .into_iter()
        .any(|(format, word, normal)| {
            let number = TracedValue::of(&format.decode(format.from_register(word))).number();
            let top = number.and_then(|it| it.top());
            top.is_some_and(|top| top < i64::from(normal))
        })
    }

    /// The number that c's format made of what was asked for.
    pub(super) fn c_of(&self, input: &Input) -> Option<Dyadic> {
        let format = &self.signature.c;
        TracedValue::of(&format.decode(format.from_register(input.case.c))).number()
    }

    /// Makes every product and c that is zero −0, where the formats have it: (−1)·(+0).
    pub(super) fn minus_zeros(&self, input: &mut Input) {
        let (a, b) = (&self.signature.a, &self.signature.b);
        let zero = Dyadic::default();
        for k in 0..self.signature.k {
            if self.product_at(input, k).as_ref() != Some(&zero) {
                continue;
            }
            let (in_a, in_b) = (a.to_register(a.zero(false)), b.to_register(b.zero(false)));
            (input.case.a[k], input.case.b[k]) = if a.signed {
                (word(two(true, 0), a), in_b)
            } else {
                (in_a, word(two(true, 0), b))
            };
        }
        if self.c_of(input).as_ref() == Some(&zero) {
            let c = &self.signature.c;
            input.case.c = c.to_register(c.zero(true));
        }
    }

    pub(super) fn c(&self, input: &mut Input, number: Exact) {
        self.maker.set_c(&mut input.case, number);
    }

    /// Asks and notes a test.
    pub(super) fn ask(&mut self, inputs: Vec<Input>) -> Result<Vec<Reading>> {
        let mut batch = Batch::new(self.signature);
        for input in &inputs {
            batch.push(&input.case.operands())?;
        }
        let answers = self.device.run(&batch)?;
        if answers.len() != inputs.len() {
            return Err(Error::Device {
                device: self.device.name().to_owned(),
                query: None,
                message: format!("{} answers to {} queries", answers.len(), inputs.len()),
            });
        }
        self.queries += inputs.len() as u64;
        let d = self.signature.d.container();
        let mut found = Vec::with_capacity(inputs.len());
        for (input, answer) in inputs.into_iter().zip(answers) {
            let value = match answer {
                Answer::AnyNan => TracedValue::Nan,
                Answer::Word(word) => TracedValue::of(&d.decode(d.from_register(word))),
            };
            let test = Test {
                what: input.what.clone(),
                input: self.line(&input.case),
                output: answer_text(answer, &self.signature),
                reading: String::new(),
            };
            self.tests.push((test, value.clone()));
            let reading = Reading { answer, value };
            found.push(reading.clone());
            self.asked.push((input, reading));
        }
        Ok(found)
    }

    /// A question as a vector line of the device.
    fn line(&self, case: &OperandWords) -> String {
        match &self.stand_in {
            Some(it) => line(it.own(), &it.operands(&case.operands()), None),
            None => line(&self.signature, case, None),
        }
    }

    /// One question.
    pub(super) fn ask_one(&mut self, input: Input) -> Result<Reading> {
        let mut readings = self.ask(vec![input])?;
        Ok(readings.remove(0))
    }

    /// Keeps only the marked tests of those since the last feature.
    pub(super) fn keep_tests(&mut self, marked: &[bool]) {
        let mut marks = marked.iter();
        self.tests.retain(|_| marks.next().copied().unwrap_or(true));
    }

    /// Ends a feature with the tests made since the last one.
    pub(super) fn conclude(
        &mut self,
        name: &'static str,
        section: u32,
        title: &str,
        value: impl Into<String>,
        conclusion: impl Into<String>,
    ) {
        let (tests, values): (Vec<Test>, Vec<TracedValue>) =
            std::mem::take(&mut self.tests).into_iter().unzip();
        self.values.extend(values);
        self.features.push(Feature {
            name,
            section,
            title: title.to_owned(),
            value: value.into(),
            conclusion: conclusion.into(),
            tests,
        });
    }

    pub(super) fn finish(mut self, subject: String, signature: Signature) -> Features {
        // Numbers of one page are in one notation.
        let readings = TracedValue::column(self.values.iter());
        let tests = self.features.iter_mut().flat_map(|it| &mut it.tests);
        for (test, reading) in tests.zip(readings) {
            test.reading = reading;
        }
        self.features.sort_by_key(|feature| feature.section);
        Features {
            subject,
            signature,
            features: self.features,
            queries: self.queries,
        }
    }

    pub(super) fn random(&self) -> Random {
        Random::new(7)
    }
}

/// A number with no fraction.
pub(super) fn two(negative: bool, exponent: i32) -> Exact {
    Exact::power_of_two(negative, exponent)
}

/// 1 + `units`·2^-`bits`, a number that formats of so many bits have.
pub(super) fn one_and(negative: bool, exponent: i32, units: u64, bits: u32) -> Exact {
    drawn(negative, exponent, units << (60 - bits))
}
