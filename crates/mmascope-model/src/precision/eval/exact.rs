//! Quotients and roots of exact numbers, by integers.

use num_bigint::BigUint;

use crate::format::Exact;

/// Bits of a quotient or root: more than twice the 53 of the widest significand, so that no rounding can err.
const KEPT: u64 = 120;

/// `x / y` with enough bits for every rounding. `y` is not 0.
pub(crate) fn quotient(x: &Exact, y: &Exact) -> Exact {
    let negative = x.negative != y.negative;
    if x.magnitude == 0 || y.magnitude == 0 {
        return Exact {
            negative,
            magnitude: 0,
            exponent: 0,
            sticky: false,
        };
    }
    let (over, under) = (BigUint::from(x.magnitude), BigUint::from(y.magnitude));
    let shift = (KEPT + under.bits()).saturating_sub(over.bits());
    let wide = over << shift;
    let whole = &wide / &under;
    let sticky = &whole * &under != wide;
    exact(negative, &whole, i64::from(x.exponent) - i64::from(y.exponent) - shift as i64, sticky)
}

/// `√x` with enough bits for every rounding.
pub(crate) fn root(x: &Exact) -> Exact {
    if x.magnitude == 0 {
        return *x;
    }
    let value = BigUint::from(x.magnitude);
    let mut shift = (2 * KEPT).saturating_sub(value.bits()) as i64;
    // The exponent under the root is even.
    if (i64::from(x.exponent) - shift) % 2 != 0 {
        shift += 1;
    }
    let wide = value << shift as u64;
    let whole = wide.sqrt();
    let sticky = &whole * &whole != wide;
    exact(false, &whole, (i64::from(x.exponent) - shift) / 2, sticky)
}

/// An integer times a power of two, with what does not fit into 120 bits as sticky.
fn exact(negative: bool, whole: &BigUint, exponent: i64, sticky: bool) -> Exact {
    let cut = whole.bits().saturating_sub(KEPT + 4);
    let kept = whole >> cut;
    let sticky = sticky || (&kept << cut) != *whole;
    Exact {
        negative,
        magnitude: u128::try_from(kept).unwrap_or(0),
        exponent: (exponent + cut as i64) as i32,
        sticky,
    }
}
