//! §2.4: groups summed exactly, scaled, then one truncated fused sum. One block.

use std::cmp::Ordering;

use mmascope::dpa::Output;

use super::exact::Dyadic;
use super::operand::{Class, Operand, Term};
use super::result::{Outcome, Special, finite_outcome, special, special_outcome};
use super::t_fdpa::{Alignment, aligned_sum};

/// One group: its operands and its two scales.
pub(crate) struct Group<'a> {
    pub(crate) pairs: Vec<(Operand, Operand)>,
    pub(crate) scale_a: &'a Operand,
    pub(crate) scale_b: &'a Operand,
}

pub(crate) fn block<'a>(
    groups: impl Iterator<Item = Group<'a>>,
    c: &Term,
    alignment: &Alignment,
    output: &Output,
) -> Outcome {
    let groups: Vec<(bool, Term)> = groups.map(|group| scaled_sum(&group)).collect();
    let terms = || groups.iter().map(|(_, term)| term).chain([c]);
    // A NaN of c or a scale, and an infinite c, by the rules of every sum.
    if let Some(special) = special(terms()) {
        return special_outcome(special, output);
    }
    let raising = groups.iter().map(|(raises, term)| (*raises, term));
    let sum = aligned_sum(raising.chain([(!c.is_zero(), c)]), alignment);
    finite_outcome(&sum, terms(), output)
}

/// The group as one term, whose exponent is that of the scales alone, and whether it takes part
/// in the maximum: a group that only cancels to zero does.
fn scaled_sum(group: &Group<'_>) -> (bool, Term) {
    let scale = group.scale_a.times(group.scale_b);
    let products: Vec<Term> = group.pairs.iter().map(|(a, b)| a.times(b)).collect();
    if scale.class == Class::Nan {
        return (false, Term::special(Class::Nan, false));
    }
    match special(products.iter()) {
        Some(Special::Nan) => return (false, Term::special(Class::Nan, false)),
        Some(Special::Infinite { negative }) => {
            return (false, Term::special(Class::Infinite, negative));
        }
        None => {}
    }
    let sum = products
        .iter()
        .fold(Dyadic::zero(), |sum, term| sum.add(&term.value));
    let all_zero = products.iter().all(Term::is_zero) || scale.is_zero();
    let value = sum.multiply(&scale.value);
    // A cancelled group is +0; a group of zeros is −0 only if all of them are.
    let negative = match value.sign() {
        Ordering::Equal => products.iter().all(|term| term.is_zero() && term.negative),
        sign => sign == Ordering::Less,
    };
    (
        !all_zero,
        Term {
            class: Class::Finite,
            negative,
            exponent: scale.exponent,
            value,
        },
    )
}
