//! Chooses masks and units within the exponents that a device's formats reach.

use crate::dpa::Signature;
use crate::error::{Error, Result};
use crate::format::{F16, Format, Specials};

/// Exponents of M and of the unit, for both operands.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub(super) large: (i32, i32),
    pub(super) unit: (i32, i32),
    /// Units are negative: sums rounded toward +∞ absorb only those.
    pub(super) negative: bool,
}

/// Exponents of block scales: of each operand's masked blocks, and of the others.
#[derive(Clone, Copy)]
pub(super) struct Raised {
    pub(super) high: i32,
    pub(super) low: i32,
}

/// Exponents of the powers of two of a format.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) subnormal: i32,
    pub(super) normal: i32,
    pub(super) top: i32,
}

impl Range {
    pub(super) fn of(format: Format) -> Option<Self> {
        let float = format.float()?;
        let field = (1 << float.exponent_bits) - 1;
        let top = match float.specials {
            Specials::Ieee => field - 1 - float.bias,
            Specials::AllOnesNan if float.fraction_bits == 0 => field - 1 - float.bias,
            _ => field - float.bias,
        };
        Some(Self {
            subnormal: if float.subnormals {
                float.emin() - float.fraction_bits as i32
            } else {
                float.emin()
            },
            normal: float.emin(),
            top,
        })
    }

    /// The same of numbers that are multiplied with 2^`shift` before they take this format.
    pub(super) fn lowered(self, shift: i32) -> Self {
        Self {
            subnormal: self.subnormal - shift,
            normal: self.normal - shift,
            top: self.top - shift,
        }
    }

    /// Two exponents that add to `sum`, each in its range; both start from their least.
    pub(super) fn split(sum: i32, a: (i32, i32), b: (i32, i32)) -> (i32, i32) {
        let more = (sum - a.0 - b.0).max(0);
        let first = (more / 2 + more % 2).min(a.1 - a.0);
        let second = (more - first).min(b.1 - b.0);
        ((a.0 + more - second).min(a.1), b.0 + second)
    }
}

/// The factors of the device's sum and of c: α and β of a GEMM, where they are powers of two.
///
/// Masks, units and random terms are those of the sum before these factors: c is divided by its own,
/// results by that of the products, both exactly.
#[derive(Clone, Copy)]
pub(super) struct Factors {
    pub(super) products: f64,
    /// 0 where c is not read: it is then no leaf.
    pub(super) c: f64,
}

impl Default for Factors {
    fn default() -> Self {
        Self {
            products: 1.0,
            c: 1.0,
        }
    }
}

/// log2 of the magnitude of a power of two.
pub(super) fn exponent(power: f64) -> i32 {
    power.abs().log2() as i32
}

impl Factors {
    /// The factor that makes c count as a product does.
    pub(super) fn for_c(&self) -> f64 {
        if self.c == 0.0 {
            0.0
        } else {
            self.products / self.c
        }
    }

    /// The same as an exponent.
    pub(super) fn c_shift(&self) -> i32 {
        if self.c == 0.0 {
            0
        } else {
            exponent(self.for_c())
        }
    }
}

impl Factors {
    /// A remark on factors that are not 1.
    pub(super) fn words(&self) -> Option<String> {
        let Self { products, c } = *self;
        let counted = format!("the sum of the products counts {products} times");
        let tree = "factors are no nodes, and the tree is that of the numbers before them";
        match (products, c) {
            (1.0, 1.0) => None,
            (1.0, 0.0) => Some("c is not read, so it is no leaf".to_owned()),
            (_, 0.0) => Some(format!(
                "{counted}: {tree}; c is not read, so it is no leaf"
            )),
            _ => Some(format!("{counted}, c {c} times: {tree}")),
        }
    }
}

impl Choice {
    /// The choices in the order in which they are tried. M, units and their counts stay in the range of
    /// the results before and after the products' factor.
    pub(super) fn all(signature: &Signature, factors: &Factors) -> Result<Vec<Self>> {
        let range = |format: Format| {
            Range::of(format)
                .filter(|_| format.float().is_some_and(|float| float.subnormals))
                .ok_or_else(|| Error::Argument(format!("{format}: masks need signed floats")))
        };
        let (a, b) = (range(signature.a)?, range(signature.b)?);
        let c = range(signature.c)?.lowered(factors.c_shift());
        let d = range(signature.d)?;
        let after = d.lowered(exponent(factors.products));
        let top = (a.top + b.top).min(c.top).min(d.top.min(after.top));
        let d = Range {
            subnormal: d.subnormal.max(after.subnormal),
            normal: d.normal.max(after.normal),
            top: d.top,
        };
        let floors = [
            // First as far down as the formats reach; then with normal results; then with all numbers normal.
            ((a.subnormal, b.subnormal), c.subnormal.max(d.subnormal)),
            ((a.subnormal, b.subnormal), c.normal.max(d.normal)),
            ((a.normal, b.normal), c.normal.max(d.normal)),
        ];
        let mut choices = Vec::new();
        for (negative, large) in [
            (false, top),
            (false, top - 1),
            (false, top / 2),
            (true, top),
        ] {
            for (least, floor) in floors {
                let sum = floor.max(least.0 + least.1);
                choices.push(Choice {
                    large: Range::split(large, (a.normal, a.top), (b.normal, b.top)),
                    unit: Range::split(sum, (least.0, a.top), (least.1, b.top)),
                    negative,
                });
            }
        }
        // What is rounded to f16 on the way overflows with larger masks.
        if let Some(narrow) = Range::of(F16).filter(|narrow| top > narrow.top) {
            let unit = floors[2].1.max(a.normal + b.normal).max(narrow.normal);
            let choice = |negative| Choice {
                large: Range::split(narrow.top, (a.normal, a.top), (b.normal, b.top)),
                unit: Range::split(unit, (a.normal, a.top), (b.normal, b.top)),
                negative,
            };
            choices.extend([false, true].map(choice));
        }
        Ok(choices)
    }
}
