//! Exact sums of integers: the terms, their sum, and what the accumulator holds of it.

use num_bigint::BigInt;

use super::block::{Block, Start};
use super::lane::Lane;
use super::step::{Addend, C};
use super::trace::{TracedStep, TracedTerm};
use super::value::TracedValue;
use crate::dpa::{Beyond, IntDot, IntPair};
use crate::exact::Dyadic;
use crate::format::{Format, Unpacked};

/// What a pair of operands gives to the sum.
pub(super) fn of_pair(lane: &Lane, pair: IntPair) -> Dyadic {
    let number = |x: &Unpacked| TracedValue::of(x).number().unwrap_or_default();
    let (a, b) = (number(&lane.a), number(&lane.b));
    match pair {
        IntPair::Product => &a * &b,
        // The bits themselves, whatever a modifier makes of their signs.
        IntPair::Differ if a.magnitude() == b.magnitude() => Dyadic::default(),
        IntPair::Differ => Dyadic::power_of_two(0),
    }
}

/// A term of the sum: its places are those of an integer.
fn addend(name: String, value: Dyadic, cover: Vec<usize>) -> Addend {
    let Some(high) = value.top() else {
        let negative = false;
        return Addend::Zero { name, negative };
    };
    Addend::Term(Box::new(TracedTerm {
        name,
        value,
        exponent: 0,
        high,
        low: 0,
        cut: None,
        cover,
    }))
}

impl Block<'_> {
    /// The block's sum, which wraps or saturates.
    pub(super) fn integer(&self, step: &IntDot) -> Vec<TracedStep> {
        let of_lane = |lane: &Lane| addend(lane.name(), of_pair(lane, step.pair), vec![lane.k]);
        let of_start = |start: &Start| {
            let value = TracedValue::of(&start.value).number().unwrap_or_default();
            addend(start.name.clone(), value, vec![C])
        };
        let addends = self.lanes.iter().map(of_lane);
        let addends = addends.chain(self.start.map(of_start)).collect();
        let mut last = TracedStep::of(&self.name, self.role.clone(), addends);
        let format = &self.output.format;
        let sum = last.sum.clone();
        last.set_word(held(&sum, step.beyond, format), self.output);
        let held = last.value.number().unwrap_or_default();
        if held != sum {
            let what = match step.beyond {
                Beyond::Wraps => "wraps",
                Beyond::Saturates => "saturates",
            };
            last.remarks
                .push(format!("beyond {format}: the sum {what} to {}", last.value));
            last.lose(format!("what {what}"), &(&sum - &held));
        }
        vec![last]
    }
}

/// The register word of what an accumulator holds of an integer.
fn held(sum: &Dyadic, beyond: Beyond, format: &Format) -> u64 {
    let integer = sum.rounded(0, crate::format::Rounding::Rz);
    let span = BigInt::from(1) << format.bits;
    let (least, most) = match format.signed {
        true => (BigInt::ZERO - &span / 2, &span / 2 - 1),
        false => (BigInt::ZERO, &span - 1),
    };
    let kept = match beyond {
        Beyond::Saturates => integer.clamp(least, most),
        Beyond::Wraps => integer,
    };
    // The remainder of BigInt has the sign of the dividend.
    let code = ((kept % &span) + &span) % &span;
    format.to_register(u64::try_from(&code).unwrap_or_default())
}
