//! Every code of every format of at most 16 bits: its meaning, its order, and the way back.

use std::cmp::Ordering;

use mmascope::format::{Class, Exact};

use crate::dyadic::Dyadic;
use crate::ladder::Ladder;
use crate::modes::{POLICIES, all};

fn dyadic(exact: &Exact) -> Dyadic {
    assert!(!exact.sticky);
    Dyadic::new(exact.magnitude, i64::from(exact.exponent))
}

#[test]
fn every_code_means_its_rung() {
    for ladder in Ladder::narrow() {
        let Ladder { fact, format, .. } = &ladder;
        for code in 0..fact.codes() {
            let got = format.decode(code);
            let context = format!("{} {code:#x}: {got:x?}", fact.name);
            assert_eq!(format.decode(code | !format.mask()), got, "{context}");
            assert_eq!(got.fraction_bits, fact.fraction_bits, "{context}");
            if fact.is_nan(code) {
                assert_eq!((got.class, got.exact()), (Class::Nan, None), "{context}");
            } else if let Some(negative) = fact.infinity_sign(code) {
                assert_eq!(
                    (got.class, got.exact()),
                    (Class::Infinite, None),
                    "{context}"
                );
                assert_eq!(got.negative, negative, "{context}");
            } else {
                let (negative, magnitude) = ladder.value(code);
                let exact = got.exact().unwrap();
                assert_eq!(
                    (got.negative, exact.negative),
                    (negative, negative),
                    "{context}"
                );
                assert_eq!(dyadic(&exact), magnitude, "{context}");
                let zero = magnitude == Dyadic::zero();
                let class = if zero { Class::Zero } else { Class::Finite };
                assert_eq!(got.class, class, "{context}");
            }
        }
    }
}

#[test]
fn the_field_exponent_is_that_of_the_last_place() {
    // Subnormals are not normalised: the units align by the field exponent.
    for ladder in Ladder::narrow() {
        let Ladder { fact, format, .. } = &ladder;
        for k in 0..=fact.max {
            let got = format.decode(k);
            let last_place = got.exponent - fact.fraction_bits as i32;
            let gap = ladder.rung(k + 1).subtract(&ladder.rung(k));
            assert_eq!(Dyadic::power(last_place), gap, "{} {k:#x}", fact.name);
        }
    }
}

#[test]
fn rounding_a_value_gives_its_code_back() {
    for ladder in Ladder::narrow() {
        let Ladder { fact, format, .. } = &ladder;
        for code in 0..fact.codes() {
            let decoded = format.decode(code);
            for policy in POLICIES {
                let Some(exact) = decoded.exact() else {
                    let kept = match fact.infinity_sign(code) {
                        Some(negative) => format.infinity(negative, policy) == code,
                        None => continue,
                    };
                    let replaced = format!("{policy}") == "sat" || format!("{policy}") == "nan";
                    assert_ne!(kept, replaced, "{} {code:#x} {policy}", fact.name);
                    continue;
                };
                for mode in all() {
                    let got = format.round(&exact, mode, policy);
                    assert_eq!(got, code, "{} {exact:x?} {mode:?} {policy}", fact.name);
                }
            }
        }
    }
}

#[test]
fn codes_are_in_the_order_of_their_values() {
    for ladder in Ladder::narrow() {
        let Ladder { fact, format, .. } = &ladder;
        let value = |code: u64| dyadic(&format.decode(code).exact().unwrap());
        for code in 1..=fact.max {
            let order = value(code - 1).cmp(&value(code));
            assert_eq!(order, Ordering::Less, "{} {code:#x}", fact.name);
        }
    }
}

#[test]
fn neighbours_have_nothing_between_them() {
    use mmascope::format::{Overflow, Rounding};
    for ladder in Ladder::narrow() {
        let Ladder { fact, format, .. } = &ladder;
        for code in 0..fact.max {
            // Just above this code, with enough bits below it that `sticky` says no more.
            let here = format.decode(code).exact().unwrap();
            let (magnitude, exponent) = (here.magnitude << 3, here.exponent - 3);
            let above = Exact {
                magnitude,
                exponent,
                sticky: true,
                ..here
            };
            let down = format.round(&above, Rounding::Rz, Overflow::Ieee);
            let up = format.round(&above, Rounding::Ra, Overflow::Ieee);
            assert_eq!((down, up), (code, code + 1), "{} {above:x?}", fact.name);
        }
    }
}
