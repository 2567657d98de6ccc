//! The parameters of a unit (L, F, F2, e0, m) for which the family `boundary` is built.

use crate::dpa::schema::{ShownBy, Value};
use crate::dpa::{Dpa, Operation, Signature, Unit};
use crate::error::{Error, Result};
use crate::format::Format;

/// The numbers around which `boundary` builds its cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hints {
    /// L: products fused per block.
    pub l: u32,
    /// F: fraction bits of the alignment.
    pub f: u32,
    /// F2: fraction bits of a second alignment; F where there is none.
    pub f2: u32,
    /// e0: floor of the alignment exponent.
    pub e0: i32,
    /// Fraction bits of the result as it is rounded.
    pub m: u32,
}

/// Exponents beyond any format's products and scales make no other case.
const LARGEST_EXPONENT: i32 = 1 << 16;

impl Hints {
    /// The hints of a unit: those of its program's first dot product.
    #[must_use]
    pub fn of_unit(unit: &Unit) -> Self {
        let first = unit.program().statements.iter().find_map(|statement| {
            let Operation::Dot { algorithm, .. } = &statement.operation else {
                return None;
            };
            Some(Self::of_algorithm(algorithm, &statement.output.format))
        });
        first.unwrap_or_else(|| Self::of_signature(unit.signature()))
    }

    /// The hints of every sum of a unit, with each of its numbers of aligned bits in turn; the first entry is that of [`Self::of_unit`].
    pub(crate) fn all_of_unit(unit: &Unit) -> Vec<Self> {
        let mut all = vec![Self::of_unit(unit)];
        for statement in &unit.program().statements {
            let (Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. }) =
                &statement.operation
            else {
                continue;
            };
            let own = Self::of_algorithm(algorithm, &statement.output.format);
            let bits = algorithm
                .parameters()
                .into_iter()
                .filter_map(|(own, value)| match value {
                    Value::Number(bits) if own.shown_by == ShownBy::Alignment => Some(bits as u32),
                    _ => None,
                });
            for f in std::iter::once(own.f).chain(bits) {
                let hints = Self { f, ..own };
                if !all.contains(&hints) {
                    all.push(hints);
                }
            }
        }
        all
    }

    /// The hints for a unit of which only the formats are known.
    #[must_use]
    pub fn of_signature(signature: &Signature) -> Self {
        let f = fraction_bits(&signature.c) + 2;
        Self {
            l: signature.k.clamp(1, 4096) as u32,
            f,
            f2: f,
            e0: e_min(&signature.c),
            m: fraction_bits(&signature.d),
        }
    }

    /// What the rows of an algorithm's parameters say.
    fn of_algorithm(algorithm: &Dpa, result: &Format) -> Self {
        let m = fraction_bits(result);
        let number = |shown_by: ShownBy| {
            let parameters = algorithm.parameters();
            let mut own = parameters
                .iter()
                .filter(|(own, _)| own.shown_by == shown_by);
            own.find_map(|(_, value)| match value {
                Value::Number(number) => Some(*number),
                _ => None,
            })
        };
        let bits = |shown_by| number(shown_by).map(|bits| bits as u32);
        // What rounds after every operation keeps the result's bits; an exact sum is decided a little below.
        let kept = if algorithm.rounds_every_operation() {
            m
        } else {
            m + 2
        };
        let f = bits(ShownBy::Alignment).unwrap_or(kept);
        Self {
            l: algorithm.block() as u32,
            f,
            f2: bits(ShownBy::SumBits).unwrap_or(f),
            e0: number(ShownBy::Floor).unwrap_or(e_min(result)),
            m,
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        let bits = [("F", self.f), ("F2", self.f2), ("m", self.m)];
        if let Some((name, value)) = bits.into_iter().find(|(_, bits)| *bits > 1024) {
            return Err(Error::Argument(format!(
                "{name}={value}: at most 1024 fraction bits are supported"
            )));
        }
        if self.l == 0 || self.e0.abs() > LARGEST_EXPONENT {
            return Err(Error::Argument(format!(
                "L={} e0={}: L must be at least 1, e0 within ±{LARGEST_EXPONENT}",
                self.l, self.e0
            )));
        }
        Ok(())
    }
}

fn fraction_bits(format: &Format) -> u32 {
    format.float().map_or(0, |float| float.fraction_bits)
}

fn e_min(format: &Format) -> i32 {
    format.float().map_or(0, |float| float.emin())
}
