//! Approximate quotients: `div.approx` and `div.full`.

use num_bigint::BigInt;

use super::approximate;
use super::exact;
use super::exact::Style;
use super::interval::Interval;
use super::plan::Plan;
use super::run::sign;
use super::table::Documented;
use super::{Enclosure, Evaluator};
use crate::error::Result;
use crate::explain::number_word;
use crate::format::{Class, Exact};
use crate::precision::resolve::Step;

impl Evaluator<'_> {
    /// `div.approx` and `div.full`: the reciprocal times the dividend, with the documented error.
    pub(super) fn approximate_quotient(
        &self,
        plan: &Plan<'_>,
        step: &Step,
        a: u64,
        b: u64,
    ) -> Result<Enclosure> {
        let style = plan.style;
        let full = step.instruction.contains(".full");
        let (a, b) = (style.operand(a), style.operand(b));
        let (x, y) = (style.decode(a), style.decode(b));
        let known = |word: u64| Ok(Enclosure::known(style.result(word)));
        if x.class == Class::Nan || y.class == Class::Nan {
            return known(style.nan());
        }
        let magnitude = b & 0x7fff_ffff;
        let beyond = magnitude > 0x7e80_0000 && y.class == Class::Finite;
        if beyond && !full {
            // The reciprocal vanishes: ∞ times 0 is NaN, everything else a zero.
            let zero = style
                .format
                .to_register(style.format.zero(x.negative != y.negative));
            return known(if x.class == Class::Infinite {
                style.nan()
            } else {
                zero
            });
        }
        let special = y.class != Class::Finite || x.class != Class::Finite;
        if special {
            // The reciprocal of such a divisor is known, or its size does not matter.
            let one = number_word("one", "1", &style.format, true)?;
            let reciprocal = Style {
                flush: false,
                ..style
            }
            .divide(one, b);
            let reciprocal = if magnitude == 0 || y.class == Class::Infinite {
                reciprocal
            } else {
                (b & sign(&style.format)) | one
            };
            return known(style.multiply(a, reciprocal)?);
        }
        let (Some(x), Some(y)) = (x.exact(), y.exact()) else {
            return known(style.nan());
        };
        let quotient = exact::quotient(&x, &y);
        let low = Interval::point(&Exact {
            sticky: false,
            ..quotient
        });
        let dust = Interval::of(
            BigInt::from(u8::from(quotient.sticky)),
            quotient.exponent.into(),
        );
        let value = low.widened(&dust);
        let subnormal = magnitude < 0x0080_0000;
        if subnormal && !full {
            return Ok(approximate::enclose(&style, &value, &Documented::NONE));
        }
        let one = Interval::of(BigInt::from(1), 0);
        Ok(approximate::enclose(
            &style,
            &value,
            &self.functions.bound(&step.instruction, &one),
        ))
    }
}
