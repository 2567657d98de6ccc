//! `powf` of the device library: special cases of C, the rest within the documented error of another library's power.

use astro_float::{BigFloat, Consts, RoundingMode};
use mmascope_model::precision::resolve::{Request, Resolution, resolve};

use crate::{Random, format, run, target};

const PRECISION: usize = 256;
const NONE: RoundingMode = RoundingMode::None;

fn power() -> Resolution {
    let request = Request {
        format: Some(format("f32")),
        ..Request::new("__nv_powf(x,y)", target())
    };
    resolve(&request).expect("a call")
}

fn word(x: f32) -> u64 {
    x.to_bits().into()
}

#[test]
fn special_cases_are_those_of_c() {
    let inf = f32::INFINITY;
    let nan = f32::NAN;
    for (x, y, expected) in [
        (0.0, -1.0, inf),
        (-0.0, -3.0, -inf),
        (-0.0, -2.0, inf),
        (-0.0, -0.5, inf),
        (-0.0, 3.0, -0.0),
        (-0.0, 2.0, 0.0),
        (-1.0, inf, 1.0),
        (1.0, nan, 1.0),
        (nan, 0.0, 1.0),
        (nan, 1.0, nan),
        (2.0, nan, nan),
        (-2.0, 0.5, nan),
        (0.5, -inf, inf),
        (2.0, -inf, 0.0),
        (-0.5, inf, 0.0),
        (-2.0, inf, inf),
        (-inf, -3.0, -0.0),
        (-inf, -2.0, 0.0),
        (-inf, 3.0, -inf),
        (-inf, 2.5, inf),
        (inf, -1.0, 0.0),
        (inf, 1.0, inf),
    ] {
        let result = run(&power(), &[word(x), word(y)]);
        let out = f32::from_bits(result.out as u32);
        assert!(result.is_known(), "{x}^{y}: {result:x?}");
        assert!(
            out.to_bits() == expected.to_bits() || out.is_nan() && expected.is_nan(),
            "{x}^{y}: {out}, not {expected}"
        );
    }
}

#[test]
fn exact_powers_are_rounded_once() {
    // 4097^2 = 2^24 + 2^13 + 1 lies halfway between two f32 numbers; to even is down.
    for (x, y, expected) in [
        (4097_f32, 2.0, 16_785_408_f32),
        (4099.0, 2.0, 16_801_800.0),
        (-3.0, 3.0, -27.0),
        (2.0, -149.0, f32::from_bits(1)),
        (9.0, 0.5, 3.0),
        (0.1, 0.0, 1.0),
    ] {
        let result = run(&power(), &[word(x), word(y)]);
        assert_eq!(result.out, word(expected), "{x}^{y}");
    }
}

#[test]
fn powers_are_correctly_rounded_within_four_units() {
    let mut consts = Consts::new().expect("constants");
    let mut random = Random(41);
    let single = format("f32");
    let resolution = power();
    let big = |x: f32| BigFloat::from_f64(x.into(), PRECISION);
    let mut checked = 0;
    for _ in 0..2_000 {
        let exponent =
            |random: &mut Random, low: u64, count: u64| low + (random.next() >> 20) % count;
        let bits = (random.next() >> 16) as u32;
        let x = f32::from_bits(bits & 0x7f_ffff | (exponent(&mut random, 117, 20) as u32) << 23);
        let bits = (random.next() >> 16) as u32;
        let y = f32::from_bits(bits & 0x807f_ffff | (exponent(&mut random, 117, 16) as u32) << 23);
        let value = big(x).pow(&big(y), PRECISION, NONE, &mut consts);
        let result = run(&resolution, &[word(x), word(y)]);
        let [out, lo, hi] =
            [result.out, result.lo, result.hi].map(|word| f32::from_bits(word as u32));
        if !out.is_normal() || out == f32::MAX {
            continue;
        }
        let distance = |x: f32| big(x).sub(&value, PRECISION, NONE).abs();
        for neighbour in [out.next_up(), out.next_down()] {
            assert!(
                distance(out).cmp(&distance(neighbour)) != Some(1),
                "{x:e}^{y:e}: {out:e}, but {neighbour:e} is nearer"
            );
        }
        assert!(result.holds(&single, result.out) && !result.is_known());
        let steps = (i64::from(hi.to_bits()) - i64::from(lo.to_bits())).abs();
        assert!((8..=12).contains(&steps), "{x:e}^{y:e}: {steps} steps");
        checked += 1;
    }
    assert!(checked > 1_000, "{checked}");
}
