//! §2.1: one fused multiply-add after the other, k ascending.

use mmascope::dpa::Output;

use super::operand::{Operand, Term};
use super::result::{Outcome, finite_outcome, special, special_outcome};

/// d = fma(a, b, d); without a `start` the first d is the rounded product alone.
pub(crate) fn chain(pairs: &[(Operand, Operand)], start: Option<Term>, output: &Output) -> Outcome {
    let mut last = None;
    let mut d = start;
    for (a, b) in pairs {
        let terms: Vec<Term> = [a.times(b)].into_iter().chain(d).collect();
        let outcome = step(&terms, output);
        d = Some(outcome.term(output));
        last = Some(outcome);
    }
    last.expect("a chain has at least one product")
}

/// The terms' exact sum, rounded once: a product, a fused multiply-add, an addition.
pub(crate) fn step(terms: &[Term], output: &Output) -> Outcome {
    if let Some(special) = special(terms.iter()) {
        return special_outcome(special, output);
    }
    let sum = terms[1..]
        .iter()
        .fold(terms[0].value.clone(), |sum, term| sum.add(&term.value));
    finite_outcome(&sum, terms.iter(), output)
}
