//! GFDRDA / GTR-FDPA, §2.8: even and odd k are summed apart, then joined as in TR-FDPA.

use super::Step;
use super::tr_fdpa::{Sum, add_c, exponent_of_c, floor_to, late, specials};
use crate::dpa::ZeroSign;
use crate::dpa::general::{Fused, General, Groups};
use crate::dpa::output::Output;
use crate::dpa::product::{Product, common_zero, zero_of};
use crate::dpa::schema::{Row, row};
use crate::dpa::survey::Survey;
use crate::format::{Class, Overflow, Rounding, Unpacked};

/// GTR-FDPA of the MMA-Sim paper (arXiv 2511.10909v2): as TR-FDPA with even and odd k summed apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GtrFdpa {
    /// Products per block.
    pub l: u32,
    /// Fraction bits of the products' alignment.
    pub f: u32,
    /// Fraction bits kept of the sum before the final rounding.
    pub f2: u32,
}

impl Step for GtrFdpa {
    const NAME: &'static str = "gtr-fdpa";
    const TITLE: &'static str = "GTR-FDPA";
    const ROWS: &'static [Row<Self>] = &[row!(L, l), row!(F, f), row!(F2, f2)];
    const RESULT: (Overflow, ZeroSign) = (Overflow::Infinity, ZeroSign::Exact);

    fn new() -> Self {
        Self { l: 1, f: 1, f2: 1 }
    }

    fn block(&self) -> usize {
        self.l as usize
    }

    fn general(&self, output: &Output) -> General {
        let groups = Groups {
            strided: true,
            f: Some(self.f),
            ..Groups::exact(self.l.div_ceil(2))
        };
        General::Fused(Fused {
            groups: Some(groups),
            drop_c: Some(self.f + 1),
            ..late(self.l, self.f, self.f2, Rounding::Rd, output)
        })
    }

    fn sums_products(&self, _: bool) -> bool {
        true
    }

    fn sum(&self, products: &[Product], c: &Unpacked, output: &Output) -> u64 {
        block(products, c, self.f, self.f2, output)
    }
}

/// One block.
fn block(products: &[Product], c: &Unpacked, f: u32, f2: u32, output: &Output) -> u64 {
    // NaN and ∞ of c are decided before c may be dropped.
    let of_parity = |parity| products.iter().skip(parity).step_by(2);
    let surveys = [0, 1].map(|parity| Survey::of(of_parity(parity)));
    if let Some(special) = specials(&surveys, products, c, output) {
        return output.special(special);
    }
    let sums = [0, 1].map(|parity| Sum::of(&surveys[parity], of_parity(parity), f));
    let zeros = common_zero(products.iter().map(Product::zero).chain([zero_of(c)]));
    let Some(exponent) = sums.iter().flatten().map(|sum| sum.exponent).max() else {
        return add_c(None, zeros, c, f, f2, output);
    };
    let grid = exponent - f as i32;
    let floored = |sum: &Sum| floor_to(sum.multiple, sum.exponent - f as i32, grid).0;
    let multiple = sums.iter().flatten().map(floored).sum();
    let e_c = exponent_of_c(c, output);
    let dropped = e_c < exponent.max(e_c) - f as i32 - 1;
    let zero = Unpacked {
        class: Class::Zero,
        significand: 0,
        negative: false,
        ..*c
    };
    let c = if dropped { &zero } else { c };
    add_c(Some(Sum { multiple, exponent }), zeros, c, f, f2, output)
}
