//! ST-FDPA, §2.3: T-FDPA with block scales that are powers of two.

use super::{Step, TFdpa};
use crate::dpa::general::General;
use crate::dpa::output::Output;
use crate::dpa::product::Product;
use crate::dpa::schema::{Row, Value, row};
use crate::dpa::{Select, Signature, ZeroSign};
use crate::format::{Format, Overflow, Rounding, Unpacked};

/// ST-FDPA of the MMA-Sim paper (arXiv 2511.10909v2): a truncated fused sum of scaled products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StFdpa {
    /// Products per block.
    pub l: u32,
    /// Fraction bits kept in alignment.
    pub f: u32,
    /// Floor of the alignment exponent.
    pub e0: i32,
    /// Rounding of each term to the alignment grid (every known unit: RZ).
    pub align: Rounding,
}

impl StFdpa {
    /// The sum without the scales, which travel with the operands.
    fn unscaled(&self) -> TFdpa {
        let Self { l, f, e0, align } = *self;
        TFdpa { l, f, e0, align }
    }
}

impl Step for StFdpa {
    const NAME: &'static str = "st-fdpa";
    const TITLE: &'static str = "ST-FDPA";
    const ROWS: &'static [Row<Self>] = &[
        row!(L, l),
        row!(F, f),
        row!(E0, e0),
        row!(ALIGN, align).or(|_| Value::Rounding(Rounding::Rz)),
    ];
    const RESULT: (Overflow, ZeroSign) = TFdpa::RESULT;
    const SCALED: bool = true;

    fn new() -> Self {
        let TFdpa { l, f, e0, align } = TFdpa::new();
        Self { l, f, e0, align }
    }

    fn block(&self) -> usize {
        self.l as usize
    }

    fn general(&self, output: &Output) -> General {
        self.unscaled().general(output)
    }

    fn fits(&self, signature: &Signature, _: &Select, _: &Format) -> Result<bool, String> {
        match signature.scale {
            Some(scale) if scale.format.float().is_some_and(|f| f.fraction_bits > 0) => {
                Err(format!(
                    "st-fdpa takes scales that are powers of two, not {}",
                    scale.format
                ))
            }
            _ => Ok(true),
        }
    }

    fn sums_products(&self, _: bool) -> bool {
        true
    }

    fn sum(&self, products: &[Product], c: &Unpacked, output: &Output) -> u64 {
        self.unscaled().sum(products, c, output)
    }
}
