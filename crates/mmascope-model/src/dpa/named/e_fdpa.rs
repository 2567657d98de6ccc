//! E-FDPA, §2.6: the exact sum of c and L products, rounded once.

use super::{Step, common_zero};
use crate::dpa::ZeroSign;
use crate::dpa::general::{Fused, General};
use crate::dpa::output::Output;
use crate::dpa::pair::{Pair, Term, special_terms};
use crate::dpa::schema::{Row, row};
use crate::exact::Sum;
use crate::format::{Overflow, Unpacked};

/// E-FDPA of the MMA-Sim paper (arXiv 2511.10909v2): exact fused sum, one rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EFdpa {
    /// Products per block.
    pub l: u32,
}

impl Step for EFdpa {
    const NAME: &'static str = "e-fdpa";
    const TITLE: &'static str = "E-FDPA";
    const ROWS: &'static [Row<Self>] = &[row!(L, l)];
    const RESULT: (Overflow, ZeroSign) = (Overflow::Infinity, ZeroSign::Exact);

    fn new() -> Self {
        Self { l: 1 }
    }

    fn block(&self) -> usize {
        self.l as usize
    }

    fn general(&self, _: &Output) -> General {
        General::Fused(Fused::plain(self.l, None))
    }

    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        block(pairs, c, output)
    }
}

/// One block, without intermediate overflow.
fn block(pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
    if let Some(special) = special_terms(pairs, c) {
        return output.special(special);
    }
    let mut sum = Sum::default();
    let products = pairs.iter().filter_map(Pair::scaled_product);
    for term in products.chain(Term::of_value(c)) {
        sum.add(&term.value);
    }
    output.finite(&sum.exact(), common_zero(pairs, c))
}
