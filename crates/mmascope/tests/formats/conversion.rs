//! `Format::convert` between all pairs of formats, against the oracle's reading of both.

use mmascope::format::{Conversion, Exact, F32, Overflow, Rounding};
use rayon::prelude::*;

use crate::facts::{Fact, Nans};
use crate::ladder::Ladder;
use crate::modes::{POLICIES, all};
use crate::random::Random;

/// Checks one code to one format in every mode under every policy; returns how many cases.
fn check(from: &Ladder, code: u64, to: &Ladder, modes: &[Rounding]) -> Result<u64, String> {
    let special = special(&from.fact, code, to);
    let value = special.is_none().then(|| {
        let (negative, magnitude) = from.value(code);
        let (odd, exponent) = magnitude.odd_part();
        Exact {
            negative,
            magnitude: odd.try_into().unwrap(),
            exponent: exponent as i32,
            sticky: false,
        }
    });
    let places = value.as_ref().map(|value| to.places(value));
    for &rounding in modes {
        let finite = value.as_ref().zip(places.as_ref()).map(|(value, places)| {
            let rounded = to.rounded(places, value.negative, rounding).unwrap();
            (value.negative, rounded)
        });
        for overflow in POLICIES {
            let expected = match (&special, finite) {
                (Some(special), _) => special(to, overflow),
                (None, Some((negative, rounded))) => {
                    to.finish(rounded, negative, rounding, overflow)
                }
                (None, None) => unreachable!("neither special nor finite"),
            };
            let got = from
                .format
                .convert(code, &to.format, Conversion { rounding, overflow });
            if got != expected {
                let (from, to) = (from.fact.name, to.fact.name);
                return Err(format!(
                    "{from} {code:#x} ({value:x?}) to {to} under {rounding:?} {overflow:?}: \
                     got {got:#x}, expected {expected:#x}"
                ));
            }
        }
    }
    Ok((modes.len() * POLICIES.len()) as u64)
}

type Special = Box<dyn Fn(&Ladder, Overflow) -> u64>;

/// What a NaN or an infinity becomes.
fn special(from: &Fact, code: u64, to: &Ladder) -> Option<Special> {
    if from.is_nan(code) {
        let is_integer = to.fact.is_fixed() && to.fact.first == 0;
        let code = match to.fact.nan {
            Some(nan) => nan,
            None if is_integer => 0,
            None => to.fact.max,
        };
        assert_eq!(to.fact.nan.is_none(), to.fact.nans == Nans::No);
        return Some(Box::new(move |_, _| code));
    }
    let negative = from.infinity_sign(code)?;
    Some(Box::new(move |to, overflow| {
        to.infinity(negative, overflow)
    }))
}

#[test]
fn every_code_of_every_narrow_format_to_every_format() {
    let (from, to, modes) = (Ladder::narrow(), Ladder::all(), all());
    let cases: Result<u64, String> = from
        .par_iter()
        .flat_map(|from| {
            (0..from.fact.codes())
                .into_par_iter()
                .map(move |code| (from, code))
        })
        .map(|(from, code)| {
            // All modes for the small formats; for f16 and bf16 three of them by turns.
            let few = (0..3).map(|n| modes[(code as usize * 3 + n) % modes.len()]);
            let some: Vec<_> = few.collect();
            let modes = if from.fact.bits <= 8 { &modes } else { &some };
            to.iter()
                .map(|to| check(from, code, to, modes))
                .sum::<Result<u64, String>>()
        })
        .sum();
    let cases = cases.unwrap();
    println!("{cases} cases");
    assert!(cases > 10_000_000);
}

#[test]
fn f16_and_bf16_in_every_deterministic_mode_to_the_small_formats() {
    let from = [Ladder::named("f16"), Ladder::named("bf16")];
    let to: Vec<_> = Ladder::narrow()
        .into_iter()
        .filter(|to| to.fact.bits <= 8)
        .collect();
    let cases: Result<u64, String> = from
        .par_iter()
        .flat_map(|from| {
            (0..from.fact.codes())
                .into_par_iter()
                .map(move |code| (from, code))
        })
        .map(|(from, code)| {
            to.iter()
                .map(|to| check(from, code, to, &crate::modes::DETERMINISTIC))
                .sum::<Result<u64, String>>()
        })
        .sum();
    let cases = cases.unwrap();
    println!("{cases} cases");
}

/// The f32 words at and next to every value and every midpoint of a format, and random ones.
fn words(to: &Ladder) -> Vec<u32> {
    let mut words = vec![
        0,
        1,
        2,
        0x007f_ffff,
        0x0080_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7fc0_0000,
    ];
    for k in 0..to.last() {
        let (low, high) = (to.rung(k), to.rung(k + 1));
        let middle = low.add(&high).times_power_of_two(-1);
        for x in [low, middle] {
            let (odd, exponent) = x.odd_part();
            let odd = u64::try_from(odd).unwrap();
            let word = (odd as f64 * f64::powi(2.0, exponent as i32)) as f32;
            let word = word.to_bits();
            words.extend([word.saturating_sub(1), word, word + 1]);
        }
    }
    let mut random = Random(u64::from(to.fact.bits));
    words.extend((0..4000).map(|_| random.next() as u32));
    // And within the range of the format, where a random exponent seldom falls.
    let lowest = (127 + to.fact.first - 3).max(0) as u64;
    let span = to.fact.max / (1 << to.fact.fraction_bits) + u64::from(to.fact.fraction_bits) + 6;
    words.extend((0..8000).map(|_| {
        let exponent = (lowest + random.below(span)).min(254) as u32;
        exponent << 23 | random.next() as u32 >> 9
    }));
    words
}

#[test]
fn f32_around_the_values_of_every_narrow_format() {
    let f32 = Ladder::named("f32");
    assert_eq!(f32.format, F32);
    let modes = all();
    let cases: Result<u64, String> = Ladder::narrow()
        .into_par_iter()
        .map(|to| {
            let words = words(&to);
            // The two formats of 16 bits have so many values that modes take turns.
            let stride = if to.fact.bits <= 8 { 1 } else { 8 };
            let one = |(n, &word): (usize, &u32)| {
                let modes: Vec<_> = modes[n % stride..]
                    .iter()
                    .copied()
                    .step_by(stride)
                    .collect();
                let word = u64::from(word);
                Ok(check(&f32, word, &to, &modes)? + check(&f32, word | 1 << 31, &to, &modes)?)
            };
            words
                .par_iter()
                .enumerate()
                .map(one)
                .sum::<Result<u64, String>>()
        })
        .sum();
    let cases = cases.unwrap();
    println!("{cases} cases");
    assert!(cases > 10_000_000);
}
