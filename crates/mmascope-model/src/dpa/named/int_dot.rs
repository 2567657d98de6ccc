//! INT-DOT: an exact sum of integers that wraps or saturates (`catalogue.md`, integer units).

use super::{Step, TakenBits};
use crate::dpa::events::Events;
use crate::dpa::general::General;
use crate::dpa::output::{Ends, Output};
use crate::dpa::pair::Pair;
use crate::dpa::schema::{Row, row, typed_words};
use crate::dpa::{Nan, Select, Signature, Tininess, ZeroSign};
use crate::format::{Format, Kind, Overflow, Rounding, Unpacked};

/// Integer operands, exact products, an integer accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntDot {
    /// Products per block, after each of which the sum is brought to the accumulator.
    pub l: u32,
    /// What a pair of operands gives.
    pub pair: IntPair,
    /// The result of a sum that the accumulator does not hold.
    pub beyond: Beyond,
}

/// What a pair of integers gives to the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IntPair {
    /// Their product (of bits: AND).
    #[default]
    Product,
    /// 1 where bits differ, of codes of one bit (XOR).
    Differ,
}

/// The result of a sum beyond the accumulator's integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Beyond {
    /// The bits that the accumulator has: two's complement.
    Wraps,
    /// The nearest integer that it holds.
    Saturates,
}

typed_words!(IntPair: Self::Product => "product", Self::Differ => "differ");
typed_words!(Beyond: Self::Wraps => "wraps", Self::Saturates => "saturates");

impl Step for IntDot {
    const NAME: &'static str = "int-dot";
    const TITLE: &'static str = "INT-DOT";
    const RESULT: (Overflow, ZeroSign) = (Overflow::Saturate, ZeroSign::Plus);
    const ENDS: Ends = Ends {
        nan: Nan::Own,
        flush: None,
        tininess: Tininess::After,
    };

    const ROWS: &'static [Row<Self>] = &[
        row!(L, l).says(10, |step, _| {
            let many = if step.l == 1 { "product" } else { "products" };
            format!(
                "A block has at most {} {many} of integers, added to c exactly; the result of a block is the c of the next.",
                step.l
            )
        }),
        row!(PAIR, pair)
            .or(|_| crate::dpa::schema::Value::Word("product"))
            .says(30, |step, _| match step.pair {
                IntPair::Product => "A product is that of a and b.",
                IntPair::Differ => "A product is here 1 where a and b differ, else 0.",
            }
            .to_owned()),
        row!(BEYOND, beyond).says(40, |step, output| {
            let format = output.format;
            match step.beyond {
                Beyond::Wraps => format!(
                    "A sum beyond {format} loses its upper bits: it changes by a multiple of 2^{}.",
                    format.bits
                ),
                Beyond::Saturates => {
                    format!("A sum beyond {format} becomes the nearest number of {format}.")
                }
            }
        }),
    ];

    fn new() -> Self {
        Self {
            l: 1,
            pair: IntPair::Product,
            beyond: Beyond::Wraps,
        }
    }

    fn block(&self) -> usize {
        self.l as usize
    }

    fn general(&self, _: &Output) -> General {
        General::Integer(*self)
    }

    fn fits(&self, signature: &Signature, _: &Select, result: &Format) -> Result<bool, String> {
        let Signature { a, b, c, scale, .. } = signature;
        for (name, format) in [("a", a), ("b", b), ("c", c), ("the result", result)] {
            if !is_integer(format) {
                return Err(format!(
                    "{name} is {format}: {} takes and gives integers",
                    Self::NAME
                ));
            }
        }
        if let Some(wide) = [a, b].into_iter().find(|format| format.bits > 32) {
            return Err(format!(
                "{} takes operands of at most 32 bits, not {wide}",
                Self::NAME
            ));
        }
        if c != result {
            return Err(format!(
                "c is {c} and the result {result}: they are one accumulator"
            ));
        }
        if self.pair == IntPair::Differ && (a.bits, b.bits) != (1, 1) {
            return Err("pair=differ takes operands of one bit".into());
        }
        match scale {
            Some(_) => Err("integer sums have no block scales".into()),
            None => Ok(false),
        }
    }

    fn takes(&self, output: &Output) -> Result<(), String> {
        let usual = output.rounding == Rounding::Rz
            && output.overflow == Overflow::Saturate
            && output.nan == Nan::Own
            && output.zero == ZeroSign::Plus
            && output.flush.is_none();
        match usual {
            true => Ok(()),
            false => Err(format!(
                "{} is exact: its result is 'rz' and a format, and beyond= says what is too large",
                Self::NAME
            )),
        }
    }

    fn rounds_every_operation(&self) -> bool {
        // No sum is rounded, so that accumulators may have 64 bits.
        true
    }

    fn parts(&self) -> Option<(TakenBits, TakenBits)> {
        None
    }

    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        let terms = pairs.iter().map(|pair| self.of_pair(&pair.a, &pair.b));
        self.brought(integer(c) + terms.sum::<i128>(), &output.format)
    }

    fn run_noting(&self, pairs: &[Pair], c: &Unpacked, output: &Output, _: &mut Events) -> u64 {
        self.run(pairs, c, output)
    }
}

/// Whether a format is one of whole numbers.
fn is_integer(format: &Format) -> bool {
    format.kind == Kind::Fixed { scale: 0 }
}

fn integer(x: &Unpacked) -> i128 {
    let magnitude = i128::from(x.significand);
    if x.negative { -magnitude } else { magnitude }
}

impl IntDot {
    /// What a pair gives to the sum.
    pub(crate) fn of_pair(&self, a: &Unpacked, b: &Unpacked) -> i128 {
        match self.pair {
            IntPair::Product => integer(a) * integer(b),
            IntPair::Differ => i128::from(a.significand != b.significand),
        }
    }

    /// The register word that the accumulator holds of a sum.
    pub(crate) fn brought(&self, sum: i128, format: &Format) -> u64 {
        let span = 1_i128 << format.bits;
        let (least, most) = match format.signed {
            true => (-span / 2, span / 2 - 1),
            false => (0, span - 1),
        };
        let kept = match self.beyond {
            Beyond::Wraps => sum,
            Beyond::Saturates => sum.clamp(least, most),
        };
        format.to_register(kept.rem_euclid(span) as u64)
    }
}
