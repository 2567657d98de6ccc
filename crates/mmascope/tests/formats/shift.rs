//! `Rounding::shift_right`, the integer rounding that alignment uses, against a quotient.

use std::cmp::Ordering::{Equal, Greater};

use mmascope::format::Rounding;
use num_bigint::BigUint;

use crate::modes::all;

/// Whether floor(m / 2^w) must grow, from twice the remainder against 2^w and its parity.
fn grows(mode: Rounding, negative: bool, magnitude: u128, sticky: bool, width: u32) -> bool {
    let divisor = BigUint::from(1_u32) << width;
    let magnitude = BigUint::from(magnitude);
    let odd = (&magnitude / &divisor).bit(0);
    let remainder = &magnitude % &divisor;
    let inexact = sticky || remainder != BigUint::ZERO;
    let half = (&remainder * 2_u32).cmp(&divisor);
    let half = if sticky { half.then(Greater) } else { half };
    let nearest = |tie: bool| half == Greater || half == Equal && tie;
    match mode {
        Rounding::Rne => nearest(odd),
        Rounding::Rno => nearest(!odd),
        Rounding::Rna => nearest(true),
        Rounding::Rnz => nearest(false),
        Rounding::Rnu => nearest(!negative),
        Rounding::Rnd => nearest(negative),
        Rounding::Rz => false,
        Rounding::Ra => inexact,
        Rounding::Ru => inexact && !negative,
        Rounding::Rd => inexact && negative,
        Rounding::Odd => inexact && !odd,
        Rounding::Stochastic { bits, random } => {
            let first = (remainder << bits) / divisor;
            let random = u128::from(random) % (1_u128 << bits);
            first + random >= BigUint::from(1_u32) << bits
        }
    }
}

fn check(magnitude: u128, width: u32) -> u64 {
    let mut cases = 0;
    for (negative, sticky) in [(false, false), (true, false), (false, true), (true, true)] {
        for mode in all() {
            let open = match mode {
                Rounding::Stochastic { bits, .. } => bits.max(1) > width,
                _ => width == 0,
            };
            if sticky && open {
                continue; // sticky leaves the result open
            }
            let quotient = magnitude.checked_shr(width).unwrap_or(0);
            let expected = quotient + u128::from(grows(mode, negative, magnitude, sticky, width));
            let got = mode.shift_right(negative, magnitude, sticky, width);
            let sign = if negative { '-' } else { '+' };
            assert_eq!(
                got, expected,
                "{sign}{magnitude:#x} >> {width} {mode:?} sticky {sticky}"
            );
            cases += 1;
        }
    }
    cases
}

#[test]
fn small_magnitudes_and_every_width() {
    let mut cases = 0;
    for magnitude in 0..130 {
        for width in (0..12)
            .chain(60..68)
            .chain(120..136)
            .chain([192, 200, 255, 256, 1000])
        {
            cases += check(magnitude, width);
        }
    }
    println!("{cases} cases");
}

#[test]
fn magnitudes_around_the_powers_of_two() {
    let mut cases = 0;
    for log in 0..128 {
        for magnitude in [
            (1_u128 << log) - 1,
            1 << log,
            (1 << log) | 1,
            u128::MAX >> log,
        ] {
            for width in (0..136).chain([190, 191, 192, 193, 4096]) {
                cases += check(magnitude, width);
            }
        }
    }
    println!("{cases} cases");
}
