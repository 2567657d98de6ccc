//! §2.2 and §2.3: the truncated fused sum, one block. Scales are in the products already.

use mmascope::dpa::Output;
use mmascope::format::Rounding;

use super::exact::Dyadic;
use super::operand::Term;
use super::result::{Outcome, finite_outcome, special, special_outcome};

pub(crate) struct Alignment {
    pub(crate) f: u32,
    pub(crate) e0: i32,
    pub(crate) rounding: Rounding,
}

pub(crate) fn block(
    products: &[Term],
    c: &Term,
    alignment: &Alignment,
    output: &Output,
) -> Outcome {
    let terms = || products.iter().chain([c]);
    if let Some(special) = special(terms()) {
        return special_outcome(special, output);
    }
    // Step 3: a zero term, whatever its field says, raises nothing.
    let sum = aligned_sum(terms().map(|term| (!term.is_zero(), term)), alignment);
    finite_outcome(&sum, terms(), output)
}

/// Steps 3 to 5 over finite terms, each with whether it raises the alignment exponent.
pub(crate) fn aligned_sum<'a>(
    terms: impl Iterator<Item = (bool, &'a Term)> + Clone,
    alignment: &Alignment,
) -> Dyadic {
    let raising = terms.clone().filter(|(raises, _)| *raises);
    let top = raising
        .map(|(_, term)| term.exponent)
        .fold(alignment.e0, i32::max);
    let grid = top - alignment.f as i32;
    terms
        .filter(|(_, term)| !term.is_zero())
        .fold(Dyadic::zero(), |sum, (_, term)| {
            sum.add(&term.value.to_grid(grid, alignment.rounding))
        })
}
