//! The formats too wide to list: random and directed values against big integers and the host.

use mmascope::format::{Class, Conversion, Exact, F32, F64, Overflow, Rounding};
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::ladder::Ladder;
use crate::points::between;
use crate::random::Random;
use crate::rounding::check_point;

const WIDE: [&str; 5] = ["f64", "e11m23", "f32", "tf32", "e8m13"];

#[test]
fn around_chosen_and_random_values() {
    let cases: Result<u64, String> = WIDE
        .par_iter()
        .flat_map_iter(|name| {
            let ladder = Ladder::named(name);
            let mut random = Random(name.len() as u64);
            let (max, binade) = (ladder.fact.max, 1 << ladder.fact.fraction_bits);
            let mut rungs: Vec<u64> = (0..600).map(|_| random.below(max)).collect();
            for edge in [
                0,
                binade,
                2 * binade,
                3 * binade,
                binade * (max / binade / 2),
                max,
            ] {
                rungs.extend(edge.saturating_sub(3)..edge + 4);
            }
            rungs.into_iter().map(move |k| {
                between(&ladder, k)
                    .iter()
                    .map(|point| check_point(&ladder, point))
                    .sum::<Result<u64, String>>()
            })
        })
        .sum();
    let cases = cases.unwrap();
    println!("{cases} cases");
    assert!(cases > 1_000_000);
}

#[test]
fn random_magnitudes_of_every_length() {
    let cases: Result<u64, String> = WIDE
        .par_iter()
        .flat_map(|name| (0..16_u64).into_par_iter().map(move |part| (name, part)))
        .map(|(name, part)| {
            let ladder = Ladder::named(name);
            let top = i64::from(ladder.rung(ladder.fact.max).logarithm()) + 1;
            let lowest = i64::from(ladder.fact.first);
            let mut random = Random(part << 32 | name.len() as u64);
            let mut cases = 0;
            for _ in 0..400 {
                let bits = u128::from(random.next()) << 64 | u128::from(random.next());
                let magnitude = bits >> random.below(128);
                let length = i64::from(128 - magnitude.leading_zeros());
                let binade = lowest - 3 + random.below((top - lowest + 6) as u64) as i64;
                let exponent = (binade - length) as i32;
                let point = Exact {
                    negative: false,
                    magnitude,
                    exponent,
                    sticky: false,
                };
                cases += check_point(&ladder, &point)?;
            }
            Ok(cases)
        })
        .sum();
    let cases = cases.unwrap();
    println!("{cases} cases");
    assert!(cases > 1_000_000);
}

#[test]
fn decoding_is_the_hosts() {
    let mut random = Random(64);
    for n in 0..400_000_u64 {
        let bits = if n < 4096 {
            n << 52 | (n & 1)
        } else {
            random.next()
        };
        same_as_host(F64.decode(bits), f64::from_bits(bits), bits);
        let word = (bits >> 32) as u32;
        same_as_host(F32.decode(word.into()), f32::from_bits(word).into(), bits);
    }
}

fn same_as_host(got: mmascope::format::Unpacked, host: f64, bits: u64) {
    let Some(exact) = got.exact() else {
        assert_eq!(got.class == Class::Nan, host.is_nan(), "{bits:#x}");
        assert_eq!(
            got.class == Class::Infinite,
            host.is_infinite(),
            "{bits:#x}"
        );
        assert!(host.is_nan() || got.negative == (host < 0.0), "{bits:#x}");
        return;
    };
    // In two factors, each a power of two that f64 has, so that nothing is rounded on the way.
    let half = exact.exponent / 2;
    let value = exact.magnitude as f64 * f64::powi(2.0, half);
    let value = value * f64::powi(2.0, exact.exponent - half);
    let value = if exact.negative { -value } else { value };
    assert_eq!(value.to_bits(), host.to_bits(), "{bits:#x}");
}

#[test]
fn f64_to_f32_is_the_hosts() {
    let rne = Conversion {
        rounding: Rounding::Rne,
        overflow: Overflow::Ieee,
    };
    let check = |bits: u64| {
        let host = f64::from_bits(bits) as f32;
        let got = F64.convert(bits, &F32, rne);
        let expected = if host.is_nan() {
            0x7fc0_0000
        } else {
            host.to_bits()
        };
        assert_eq!(got, u64::from(expected), "f64 {bits:#x} to f32");
        // And back, exactly.
        if !host.is_nan() {
            let wide = F32.convert(got, &F64, rne);
            assert_eq!(wide, f64::from(host).to_bits(), "f32 {got:#x} to f64");
        }
    };
    let mut random = Random(3264);
    for _ in 0..1_000_000 {
        let bits = random.next();
        check(bits);
        // With an exponent in or near the range of f32, and with ties often.
        let exponent = 1023 - 155 + random.below(155 + 132);
        let near = bits & (1 << 63) | exponent << 52 | random.next() >> 12;
        check(near);
        let cleared = 29 - random.below(3) + 2 * random.below(11);
        check(near >> cleared << cleared);
    }
}

#[test]
fn decimal_parsing_is_correct_rounding() {
    // n·2^-s = n·5^s · 10^-s: the host's parser rounds it to nearest even.
    let mut random = Random(10);
    for case in 0..60_000_u64 {
        let bits = u128::from(random.next()) << 64 | u128::from(random.next());
        let mut magnitude = bits >> random.below(110);
        if case % 2 == 0 {
            // A tie of f64 or f32, perhaps with one bit far below.
            let width = if case % 4 == 0 { 54 } else { 25 };
            magnitude = (magnitude >> 74 << 1 | 1) & ((1 << width) - 1) | 1 << (width - 1);
            magnitude = magnitude << 70 | random.below(2) as u128;
        }
        let shift = random.below(if case % 5 == 0 { 1250 } else { 300 }) as i32;
        let digits = BigUint::from(magnitude) * BigUint::from(5_u32).pow(shift as u32);
        let text = format!("{digits}e-{shift}");
        let value = Exact {
            negative: false,
            magnitude,
            exponent: -shift,
            sticky: false,
        };
        let got = F64.round(&value, Rounding::Rne, Overflow::Ieee);
        assert_eq!(
            got,
            text.parse::<f64>().unwrap().to_bits(),
            "{value:x?} to f64"
        );
        let got = F32.round(&value, Rounding::Rne, Overflow::Ieee);
        assert_eq!(
            got as u32,
            text.parse::<f32>().unwrap().to_bits(),
            "{value:x?} to f32"
        );
    }
}
