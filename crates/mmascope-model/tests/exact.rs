//! Exact numbers: sums, quotients, comparison and fixed width, against integers on one grid.
#![allow(clippy::unwrap_used)]

use std::cmp::Ordering;

use mmascope_model::dpa::{Modifiers, Operands, Signature, Unit};
use mmascope_model::exact::{Dyadic, Exact, Rounding, Sum};
use mmascope_model::format::{BF16, E4M3FN, F16, F32, F64};
use num_bigint::BigInt;

/// The grid of the tests: 2^-2400 is below the smallest product of two f64.
const GRID: i64 = -2400;

/// The number as a multiple of 2^GRID.
fn integer(number: &Exact) -> BigInt {
    let magnitude = BigInt::from(number.magnitude) << (i64::from(number.exponent) - GRID);
    if number.negative {
        -magnitude
    } else {
        magnitude
    }
}

fn dyadic_integer(number: &Dyadic) -> BigInt {
    if number.is_zero() {
        return BigInt::ZERO;
    }
    number.significand() << (number.exponent() - GRID)
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// A magnitude of any length up to 128 bits.
    fn magnitude(&mut self) -> u128 {
        let wide = u128::from(self.bits()) << 64 | u128::from(self.bits());
        wide >> self.below(129).min(127)
    }

    fn number(&mut self, low: i32, high: i32) -> Exact {
        let exponent = low + self.below((high - low) as u64) as i32;
        Exact::new(self.bits() & 1 == 1, self.magnitude(), exponent)
    }
}

/// Ranges of exponents: those of small formats, of f32, around both ends of the window, of f64.
const RANGES: [(i32, i32); 6] = [
    (-20, 20),
    (-298, 208),
    (-440, -290),
    (100, 300),
    (-2300, 1900),
    (-2300, -2200),
];

#[test]
fn a_sum_loses_nothing() {
    let mut random = Random(1);
    for round in 0..3000 {
        let (low, high) = RANGES[round % RANGES.len()];
        let mut sum = Sum::default();
        let mut total = BigInt::ZERO;
        for _ in 0..1 + random.below(40) {
            let term = random.number(low, high);
            sum.add(&term);
            total += integer(&term);
            if random.below(4) == 0 {
                let opposite = Exact {
                    negative: !term.negative,
                    ..term
                };
                sum.add(&opposite);
                total += integer(&opposite);
            }
        }
        assert_eq!(dyadic_integer(&sum.total()), total, "round {round}");
        in_fixed_width(&sum.exact(), &total);
    }
}

/// Whether a fixed-width form stands for this multiple of 2^GRID.
fn in_fixed_width(exact: &Exact, wanted: &BigInt) {
    let (low, one) = (
        integer(&Exact {
            negative: false,
            ..*exact
        }),
        integer(&Exact::power_of_two(false, exact.exponent)),
    );
    let wanted_magnitude = BigInt::from(wanted.magnitude().clone());
    if exact.sticky {
        assert!(exact.magnitude >> 64 != 0, "bits are missing: {exact:?}");
        assert!(low < wanted_magnitude && wanted_magnitude < low + one);
    } else {
        assert_eq!(low, wanted_magnitude);
    }
    if *wanted != BigInt::ZERO {
        assert_eq!(exact.negative, wanted.sign() == num_bigint::Sign::Minus);
    }
}

#[test]
fn the_window_takes_many_terms_of_its_largest() {
    let largest = Exact::new(true, u128::from(u64::MAX), 234);
    let mut sum = Sum::default();
    let mut total = BigInt::ZERO;
    for _ in 0..100_000 {
        sum.add(&largest);
        total += integer(&largest);
    }
    assert_eq!(dyadic_integer(&sum.total()), total);
}

#[test]
fn arithmetic_and_order_are_those_of_integers() {
    let mut random = Random(2);
    for round in 0..3000 {
        let (low, high) = RANGES[round % 2];
        let (x, y) = (random.number(low, high), random.number(low, high));
        let y = if round % 7 == 0 { x } else { y };
        let (a, b) = (Dyadic::of(&x), Dyadic::of(&y));
        let (n, m) = (integer(&x), integer(&y));
        assert_eq!(dyadic_integer(&(&a + &b)), &n + &m);
        assert_eq!(dyadic_integer(&(&a - &b)), &n - &m);
        assert_eq!(dyadic_integer(&-&a), -&n);
        assert_eq!(dyadic_integer(&(&a * &b)) << -GRID, &n * &m);
        assert_eq!(a.cmp(&b), n.cmp(&m));
        assert_eq!(
            dyadic_integer(&a.magnitude()),
            BigInt::from(n.magnitude().clone())
        );
        let short = x.in_lowest_terms();
        assert_eq!(integer(&short), n);
        assert!(short.magnitude == 0 || short.magnitude & 1 == 1);
        assert_eq!(x.top(), a.top().map(|top| top as i32));
        if x.magnitude != 0 {
            assert_eq!(x.with_top(17).top(), Some(17));
        }
    }
}

#[test]
fn fixed_width_keeps_the_highest_bits() {
    let mut random = Random(3);
    for _ in 0..2000 {
        let (x, y) = (random.number(-300, 300), random.number(-300, 300));
        let sum = &Dyadic::of(&x) + &Dyadic::of(&y);
        in_fixed_width(&sum.to_exact(), &dyadic_integer(&sum));
    }
}

#[test]
fn quotients_lie_between_their_neighbours() {
    let mut random = Random(4);
    let zero = Dyadic::default();
    assert_eq!(Dyadic::power_of_two(3).quotient(&zero), None);
    for _ in 0..2000 {
        let (x, y) = (random.number(-300, 300), random.number(-300, 300));
        let (x, y) = (Dyadic::of(&x), Dyadic::of(&y));
        let Some(quotient) = x.quotient(&y) else {
            assert!(y.is_zero());
            continue;
        };
        if x.is_zero() {
            assert!(quotient.is_zero());
            continue;
        }
        assert!(quotient.magnitude >> 64 != 0);
        assert_eq!(quotient.negative, x.is_negative() != y.is_negative());
        let at = |magnitude: u128| {
            let bound = Dyadic::of(&Exact::new(false, magnitude, quotient.exponent));
            (&bound * &y.magnitude()).cmp(&x.magnitude())
        };
        match quotient.sticky {
            false => assert_eq!(at(quotient.magnitude), Ordering::Equal),
            true => {
                assert_eq!(at(quotient.magnitude), Ordering::Less);
                let above = quotient.magnitude.checked_add(1);
                assert!(above.is_none_or(|above| at(above) == Ordering::Greater));
            }
        }
    }
}

#[test]
fn both_widths_round_alike() {
    let mut random = Random(5);
    for _ in 0..3000 {
        let number = Exact::new(random.bits() & 1 == 1, random.bits().into(), -40);
        let place = -60 + random.below(120) as i64;
        for rounding in Rounding::deterministic() {
            let wide = Dyadic::of(&number).rounded(place, rounding);
            if place < -40 {
                assert_eq!(wide, integer(&number) >> (place - GRID));
                continue;
            }
            let width = (place + 40) as u32;
            let magnitude = rounding.shift_right(number.negative, number.magnitude, false, width);
            let signed = BigInt::from(magnitude);
            let signed = if number.negative { -signed } else { signed };
            assert_eq!(wide, signed, "{number:?} {rounding} to 2^{place}");
        }
    }
}

/// 2^100 and −2^100 lie in different groups, and 2^-100 beside one of them: no group fits 128 bits.
#[test]
fn exact_groups_in_an_exact_sum_lose_nothing() {
    let signature = Signature {
        a: F32,
        b: F32,
        c: F32,
        d: F32,
        k: 4,
        scale: None,
    };
    let program = "fused L=4 G=2 F=exact -> rne f32".parse().unwrap();
    let unit = Unit::new(signature, program).unwrap();
    let word = |exponent: u64| (127 + exponent) << 23;
    let small = (127 - 100) << 23;
    let (a, b) = ([word(100), small, word(100) | 1 << 31, 0], [word(0); 4]);
    let operands = Operands {
        a: &a,
        b: &b,
        c: 0,
        ..Operands::default()
    };
    assert_eq!(unit.dot(&operands, &Modifiers::default()), Ok(small));
}

#[test]
fn codes_of_numbers_are_those_that_mean_them() {
    for format in [F16, BF16, E4M3FN] {
        for code in 0..1_u64 << format.bits {
            let Some(number) = format.decode(code).exact() else {
                continue;
            };
            assert_eq!(format.code_of(&number), Some(code), "{format} {code:x}");
            assert_eq!(format.code_of(&number.in_lowest_terms()), Some(code));
            // Half of the smallest subnormal below a number of full length is no number.
            let between = Exact::new(
                number.negative,
                number.magnitude << 40 | 1,
                number.exponent - 40,
            );
            assert_eq!(format.code_of(&between), None, "{format} {code:x}");
        }
    }
    assert_eq!(F32.code_of(&Exact::ONE), Some(0x3f80_0000));
    assert_eq!(F32.code_of(&Exact::power_of_two(true, 128)), None);
    assert_eq!(F64.code_of(&Exact::power_of_two(false, -1074)), Some(1));
    assert_eq!(F64.code_of(&Exact::power_of_two(false, -1075)), None);
}
