//! The parameters of a unit (L, F, F2, e0, m) for which the family `boundary` is built.

use crate::dpa::{Dpa, General, Operation, Signature, Unit};
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

/// Exponent of the smallest normal single-precision number: the floor of the units without an e0.
const SINGLE_E_MIN: i32 = -126;
/// Fraction bits of a single-precision number.
const SINGLE_FRACTION: u32 = 23;
/// Exponents beyond any format's products and scales make no other case.
const LARGEST_EXPONENT: i32 = 1 << 16;

impl Hints {
    /// The hints of a unit: those of its program's first dot product.
    #[must_use]
    pub fn of_unit(unit: &Unit) -> Self {
        let first = unit.program().statements.iter().find_map(|statement| {
            let Operation::Dot { algorithm, .. } = statement.operation else {
                return None;
            };
            Some(Self::of_algorithm(&algorithm, &statement.output.format))
        });
        first.unwrap_or_else(|| Self::of_signature(unit.signature()))
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

    fn of_algorithm(algorithm: &Dpa, result: &Format) -> Self {
        let (m, e_min) = (fraction_bits(result), e_min(result));
        let hints = |l, f, f2, e0| Self { l, f, f2, e0, m };
        match *algorithm {
            Dpa::TFdpa { l, f, e0, .. } | Dpa::GstFdpa { l, f, e0, .. } => hints(l, f, f, e0),
            Dpa::TrFdpa { l, f, f2 } | Dpa::GtrFdpa { l, f, f2 } => hints(l, f, f2, SINGLE_E_MIN),
            Dpa::FtzAddMul { p, .. } => hints(p, SINGLE_FRACTION, SINGLE_FRACTION, SINGLE_E_MIN),
            Dpa::EFdpa { l } => hints(l, m + 2, m + 2, e_min),
            Dpa::FmaChain => hints(1, m, m, e_min),
            Dpa::General(General::Fused(fused)) => {
                let f = fused.f.unwrap_or(m + 2);
                hints(fused.l, f, fused.f2.unwrap_or(f), fused.e0.unwrap_or(e_min))
            }
            Dpa::General(General::AddMul(step)) => hints(step.p, m, m, e_min),
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
