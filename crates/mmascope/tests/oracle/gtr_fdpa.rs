//! §2.8: as §2.7, with the products of even and of odd k summed apart. One block.

use mmascope::dpa::Output;
use mmascope::format::Rounding;

use super::exact::Dyadic;
use super::operand::Term;
use super::result::{Outcome, finite_outcome, special, special_outcome};
use super::tr_fdpa::{second_floor, truncated_sum};

pub(crate) fn block(products: &[Term], c: &Term, f: u32, f2: u32, output: &Output) -> Outcome {
    let terms = || products.iter().chain([c]);
    if let Some(special) = special(terms()) {
        return special_outcome(special, output);
    }
    let fraction = f as i32;
    let parity = |first: usize| truncated_sum(products.iter().skip(first).step_by(2), fraction);
    let parities: Vec<(Dyadic, i32)> = [parity(0), parity(1)].into_iter().flatten().collect();
    let exponent_c = if c.is_zero() { -126 } else { c.exponent };
    let maximum = parities.iter().map(|(_, maximum)| *maximum).max();
    let exponent = maximum.map_or(exponent_c, |maximum| maximum.max(exponent_c));
    let mut total = Dyadic::zero();
    for (sum, _) in &parities {
        let grid = maximum.expect("there is a parity") - fraction;
        total = total.add(&sum.to_grid(grid, Rounding::Rd));
    }
    let total = total.to_grid(exponent - (f2 as i32 + 1), Rounding::Rd);
    let dropped = c.is_zero() || c.exponent < exponent - fraction - 1;
    let c_floor = if dropped {
        Dyadic::zero()
    } else {
        c.value.to_grid(exponent - fraction, Rounding::Rd)
    };
    finite_outcome(&second_floor(&total.add(&c_floor), f2), terms(), output)
}
