//! §2.6: the exact sum of c and the products, rounded once. One block.

use mmascope::dpa::Output;

use super::fma_chain::step;
use super::operand::Term;
use super::result::Outcome;

pub(crate) fn block(products: &[Term], c: &Term, output: &Output) -> Outcome {
    let terms: Vec<Term> = products.iter().chain([c]).cloned().collect();
    step(&terms, output)
}
