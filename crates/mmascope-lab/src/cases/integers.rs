//! Cases of integer sums: the same families, of whole numbers (`docs/generator.md`).

use super::Family;
use super::draw::{Draws, Role, below, bit, step};
use crate::dpa::{OperandWords, Signature};
use crate::error::{Error, Result};
use crate::format::{Format, Kind};

/// The formats of a sum of integers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) k: usize,
    pub(super) a: Format,
    pub(super) b: Format,
    pub(super) c: Format,
}

/// Chosen c for every pair of operands.
const ACCUMULATORS: u64 = 16;

fn is_integer(format: &Format) -> bool {
    format.kind == Kind::Fixed { scale: 0 }
}

impl Layout {
    /// `None` when c is no integer.
    pub(super) fn of(signature: &Signature) -> Result<Option<Self>> {
        let Signature {
            a,
            b,
            c,
            d,
            k,
            scale,
        } = signature;
        if !is_integer(c) {
            return Ok(None);
        }
        if !is_integer(a) || !is_integer(b) || c != d || scale.is_some() {
            return Err(Error::Argument(format!(
                "{signature}: cases of an integer c are made where a, b and d are integers too, d as c, without scales"
            )));
        }
        Ok(Some(Self {
            k: *k,
            a: *a,
            b: *b,
            c: *c,
        }))
    }

    pub(super) fn count(&self) -> u64 {
        ACCUMULATORS << (self.a.bits + self.b.bits)
    }

    pub(super) fn case(
        &self,
        family: Family,
        draws: &Draws<'_>,
        index: u64,
        case: &mut OperandWords,
    ) {
        case.scale_a.clear();
        case.scale_b.clear();
        let row = |words: &mut Vec<u64>, format: &Format, role: Role| {
            words.clear();
            words.extend((0..self.k).map(|k| operand(family, format, role, draws.at(role, k))));
        };
        if family == Family::Exhaustive {
            return self.pair(index, case);
        }
        row(&mut case.a, &self.a, Role::A);
        row(&mut case.b, &self.b, Role::B);
        let draw = draws.at(Role::C, 0);
        if family == Family::Close {
            // Neighbours cancel where numbers have a negative.
            for k in (1..self.k).step_by(2) {
                case.a[k] = case.a[k - 1];
                case.b[k] = case.b[k - 1].wrapping_neg() & self.b.mask();
            }
        }
        case.c = match family {
            Family::Close | Family::Boundary => self.near_the_end(draw, case),
            _ => operand(family, &self.c, Role::C, draw),
        };
    }

    /// A c with which the sum lies within two of an end of the accumulator, if there is such a c.
    fn near_the_end(&self, draw: [u32; 4], case: &OperandWords) -> u64 {
        let products = case.a.iter().zip(&case.b);
        let products = products.map(|(&a, &b)| value(&self.a, a) * value(&self.b, b));
        let (least, most) = ends(&self.c);
        let end = if bit(draw[0], 0) { most } else { least };
        let c = end - products.sum::<i128>() + i128::from(step(5, draw[1]) - 2);
        c.clamp(least, most) as u64 & self.c.mask()
    }

    /// One pair of operands with one of the chosen c.
    fn pair(&self, index: u64, case: &mut OperandWords) {
        for words in [&mut case.a, &mut case.b] {
            words.clear();
            words.resize(self.k, 0);
        }
        case.a[0] = index & self.a.mask();
        case.b[0] = (index >> self.a.bits) & self.b.mask();
        let (least, most) = ends(&self.c);
        let which = (index >> (self.a.bits + self.b.bits)) % ACCUMULATORS;
        let steps = i128::from(which / 2);
        let c = if which.is_multiple_of(2) {
            least + steps * 77
        } else {
            most - steps * 77
        };
        case.c = match which {
            14 => 0,
            15 => 1,
            _ => c.clamp(least, most) as u64 & self.c.mask(),
        };
    }
}

/// Any number, a small one, or one of the ends, as the family has it.
fn operand(family: Family, format: &Format, role: Role, draw: [u32; 4]) -> u64 {
    let any = (u64::from(draw[0]) | u64::from(draw[1]) << 32) & format.mask();
    let small = |bits: u32| (value(format, any) >> bits) as u64 & format.mask();
    let half = format.bits / 2;
    match family {
        Family::Normal => small(2.min(format.bits - 1)),
        Family::Outlier if (draw[2] >> 8) & 31 != 0 => small(half),
        Family::Sparse => {
            let choices = if matches!(role, Role::A) { 4 } else { 2 };
            if below(choices, draw[3]) == 0 { any } else { 0 }
        }
        Family::Stress => {
            let (least, most) = ends(format);
            match below(6, draw[2]) {
                0 => 0,
                1 => 1,
                2 => format.mask(),
                3 => least as u64 & format.mask(),
                4 => most as u64 & format.mask(),
                _ => any,
            }
        }
        _ => any,
    }
}

/// The least and the largest number.
fn ends(format: &Format) -> (i128, i128) {
    let span = 1_i128 << format.bits;
    match format.signed {
        true => (-span / 2, span / 2 - 1),
        false => (0, span - 1),
    }
}

fn value(format: &Format, code: u64) -> i128 {
    let code = i128::from(code);
    match format.signed && code >> (format.bits - 1) == 1 {
        true => code - (1 << format.bits),
        false => code,
    }
}
