//! E-FDPA, §2.6: the exact sum of c and L products, rounded once.

use super::output::Output;
use super::pair::{Pair, Term};
use super::t_fdpa::common_zero;
use super::{special_sum, special_value};
use crate::exact::Sum;
use crate::format::Unpacked;

/// One block, without intermediate overflow.
pub(super) fn block(pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
    let specials = pairs.iter().map(Pair::special).chain([special_value(c)]);
    if let Some(special) = special_sum(specials) {
        return output.special(special);
    }
    let mut sum = Sum::default();
    let products = pairs.iter().filter_map(Pair::product);
    for term in products.chain(Term::of_value(c)) {
        sum.add(&term.value);
    }
    output.finite(&sum.exact(), common_zero(pairs, c))
}
