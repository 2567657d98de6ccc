//! Devices that sum no products of whole significands, as devices that do: what stands in for their operands.
//!
//! Masks, units and directed questions are products of numbers that are mostly powers of two. A device that adds its
//! operands, or one that multiplies only the lower digits of significands, answers such questions with something else.
//! A stand-in has a signature whose products such a device does sum, and turns them into the device's own operands.

mod parts;
mod sums;

use crate::dpa::{OperandWords, Operands, Signature};
use crate::dut::{Batch, Dut};
use crate::error::Result;
use crate::exact::{Dyadic, Exact};
use crate::explain::TracedValue;
use crate::format::Format;
use crate::vector::Answer;
use parts::Parts;
use sums::Sums;

/// What stands in for a device's operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StandIn {
    /// The device adds its operands.
    Sums(Sums),
    /// The device multiplies parts of significands.
    Parts(Parts),
}

impl StandIn {
    /// Asks a device which of them it needs, after it gave no product for 1·1; also gives the number of inputs that
    /// this took.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn recognise(device: &mut dyn Dut) -> Result<(Option<Self>, usize)> {
        let (sums, asked) = Sums::recognise(device)?;
        if let Some(sums) = sums {
            return Ok((Some(Self::Sums(sums)), asked));
        }
        let (parts, more) = Parts::recognise(device)?;
        Ok((parts.map(Self::Parts), asked + more))
    }

    /// The signature of its products.
    pub(crate) fn signature(&self) -> Signature {
        match self {
            Self::Sums(sums) => sums.signature(),
            Self::Parts(parts) => parts.signature(),
        }
    }

    /// The device's own signature.
    pub(crate) fn own(&self) -> &Signature {
        match self {
            Self::Sums(sums) => &sums.device,
            Self::Parts(parts) => &parts.device,
        }
    }

    /// The device's own operands for those of [`StandIn::signature`].
    pub(crate) fn operands(&self, query: &Operands<'_>) -> OperandWords {
        match self {
            Self::Sums(sums) => sums.operands(query),
            Self::Parts(parts) => parts.operands(query),
        }
    }

    /// Answers queries of [`StandIn::signature`].
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn run(&self, device: &mut dyn Dut, batch: &Batch) -> Result<Vec<Answer>> {
        let mut own = Batch::new(*self.own());
        for query in 0..batch.len() {
            own.push(&self.operands(&batch.query(query)).operands())?;
        }
        device.run(&own)
    }

    /// The name of a summand.
    pub(crate) fn name_of(&self, product: usize) -> String {
        match self {
            Self::Sums(sums) => sums.name_of(product),
            Self::Parts(_) => format!("p{product}"),
        }
    }

    /// Whether its products are those of two operands.
    pub(crate) fn multiplies(&self) -> bool {
        matches!(self, Self::Parts(_))
    }

    /// What the device does, in words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Sums(sums) => sums.words().to_owned(),
            Self::Parts(parts) => parts.words(),
        }
    }
}

/// A device, asked through its stand-in.
pub(crate) struct StandInDut<'a> {
    device: &'a mut dyn Dut,
    stand_in: StandIn,
    signature: Signature,
}

impl<'a> StandInDut<'a> {
    pub(crate) fn new(device: &'a mut dyn Dut, stand_in: StandIn) -> Self {
        Self {
            device,
            stand_in,
            signature: stand_in.signature(),
        }
    }
}

impl Dut for StandInDut<'_> {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        self.device.name()
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>> {
        self.stand_in.run(self.device, batch)
    }
}

/// Every operand +0.
fn blank(signature: &Signature) -> OperandWords {
    OperandWords {
        a: vec![0; signature.k],
        b: vec![0; signature.k],
        c: 0,
        scale_a: Vec::new(),
        scale_b: Vec::new(),
    }
}

/// The numbers that a device gives for products of a_0 and b_0 (codes; all else is 0); `None` for what is no number.
fn ask(device: &mut dyn Dut, pairs: &[(u64, u64)]) -> Result<Vec<Option<Dyadic>>> {
    let signature = *device.signature();
    let mut batch = Batch::new(signature);
    for &(a, b) in pairs {
        let mut words = blank(&signature);
        words.a[0] = signature.a.to_register(a);
        words.b[0] = signature.b.to_register(b);
        batch.push(&words.operands())?;
    }
    let answers = device.run(&batch)?;
    Ok(answers
        .into_iter()
        .map(|it| number(it, &signature.d))
        .collect())
}

/// 2^exponent.
fn power(exponent: i32) -> Dyadic {
    Dyadic::of(&Exact::power_of_two(false, exponent))
}

fn number(answer: Answer, d: &Format) -> Option<Dyadic> {
    match answer {
        Answer::AnyNan => None,
        Answer::Word(word) => TracedValue::of(&d.decode(d.from_register(word))).number(),
    }
}
