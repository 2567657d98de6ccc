//! Exact operations: the host's own arithmetic for nearest, integer inequalities for the directed roundings.

use num_bigint::BigInt;

use crate::{Random, instruction, run};

/// Operands with every exponent, and special ones often.
fn word(random: &mut Random) -> u32 {
    const SPECIAL: &[u32] = &[
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x007f_ffff,
        0x0080_0000,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x3f80_0001,
    ];
    match random.next() % 5 {
        0 => SPECIAL[(random.next() >> 20) as usize % SPECIAL.len()],
        // Near one another, so that sums and quotients come close to ties.
        1 => 0x3f80_0000 + (random.next() >> 40) as u32,
        _ => (random.next() >> 16) as u32,
    }
}

fn same(ours: u64, host: f32) -> bool {
    if host.is_nan() {
        ours == 0x7fff_ffff
    } else {
        ours == u64::from(host.to_bits())
    }
}

#[test]
fn nearest_even_is_the_hosts() {
    let mut random = Random(1);
    let names = [
        "add.rn.f32",
        "sub.rn.f32",
        "mul.rn.f32",
        "div.rn.f32",
        "fma.rn.f32",
        "sqrt.rn.f32",
        "rcp.rn.f32",
    ];
    let resolutions = names.map(instruction);
    for _ in 0..60_000 {
        let words = [word(&mut random), word(&mut random), word(&mut random)];
        let [a, b, c] = words.map(f32::from_bits);
        let expected = [
            a + b,
            a - b,
            a * b,
            a / b,
            a.mul_add(b, c),
            a.sqrt(),
            1.0 / a,
        ];
        for ((name, resolution), expected) in names.iter().zip(&resolutions).zip(expected) {
            let operands: Vec<u64> = words[..resolution.inputs.len()]
                .iter()
                .map(|&word| word.into())
                .collect();
            let result = run(resolution, &operands);
            assert!(
                result.is_known() && same(result.out, expected),
                "{name} of {operands:x?}: {result:x?}, host {expected:e}"
            );
        }
    }
}

#[test]
fn f64_is_the_hosts() {
    let mut random = Random(2);
    let names = [
        "add.rn.f64",
        "mul.rn.f64",
        "div.rn.f64",
        "fma.rn.f64",
        "sqrt.rn.f64",
        "rcp.rn.f64",
    ];
    let resolutions = names.map(instruction);
    for round in 0..30_000 {
        let words = [(); 3].map(|()| {
            if round % 2 == 0 {
                random.next() ^ random.next() << 17
            } else {
                0x3ff0_0000_0000_0000 + (random.next() >> 8)
            }
        });
        let [a, b, c] = words.map(f64::from_bits);
        let expected = [a + b, a * b, a / b, a.mul_add(b, c), a.sqrt(), 1.0 / a];
        for ((name, resolution), expected) in names.iter().zip(&resolutions).zip(expected) {
            let result = run(resolution, &words[..resolution.inputs.len()]);
            let equal = if expected.is_nan() {
                f64::from_bits(result.out).is_nan()
            } else {
                result.out == expected.to_bits()
            };
            assert!(
                equal,
                "{name} of {words:x?}: {result:x?}, host {expected:e}"
            );
        }
    }
}

/// A finite f32 as an integer times 2^-149.
fn integer(bits: u32) -> BigInt {
    let exponent = (bits >> 23 & 0xff).max(1) - 1;
    let fraction = bits & 0x7f_ffff | if bits >> 23 & 0xff == 0 { 0 } else { 1 << 23 };
    let magnitude = BigInt::from(fraction) << exponent;
    if bits >> 31 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// The neighbours of an f32 below and above.
fn neighbours(x: f32) -> (f32, f32) {
    (x.next_down(), x.next_up())
}

#[test]
fn directed_roundings_are_the_neighbours_on_that_side() {
    let mut random = Random(3);
    for mode in ["rz", "rm", "rp"] {
        let div = instruction(&format!("div.{mode}.f32"));
        let fma = instruction(&format!("fma.{mode}.f32"));
        let sqrt = instruction(&format!("sqrt.{mode}.f32"));
        for _ in 0..6_000 {
            let words = [word(&mut random), word(&mut random), word(&mut random)];
            let [a, b, c] = words.map(f32::from_bits);
            if ![a, b, c].iter().all(|x| x.is_finite()) || b == 0.0 {
                continue;
            }
            let [ia, ib, ic] = words.map(integer);
            // Each is compared as sign(result · scale − exact) by integers alone.
            let quotient = run(
                &div,
                &words[..2]
                    .iter()
                    .map(|&word| word.into())
                    .collect::<Vec<_>>(),
            );
            let side = |result: f32| {
                // result ? a/b  <=>  result·b ? a, turned round for negative b; 2^-149 cancels once.
                let left = integer(result.to_bits()) * &ib;
                let right: BigInt = &ia << 149_u32;
                if b < 0.0 {
                    right.cmp(&left)
                } else {
                    left.cmp(&right)
                }
            };
            check(
                mode,
                f32::from_bits(quotient.out as u32),
                side,
                &format!("div {words:x?}"),
            );
            let fused = run(&fma, &words.map(u64::from));
            let exact: BigInt = &ia * &ib + (&ic << 149_u32);
            let side = |result: f32| (integer(result.to_bits()) << 149_u32).cmp(&exact);
            check(
                mode,
                f32::from_bits(fused.out as u32),
                side,
                &format!("fma {words:x?}"),
            );
            if a > 0.0 {
                let root = run(&sqrt, &[words[0].into()]);
                let side = |result: f32| {
                    let result = integer(result.to_bits());
                    (&result * &result).cmp(&(&ia << 149_u32))
                };
                check(
                    mode,
                    f32::from_bits(root.out as u32),
                    side,
                    &format!("sqrt {words:x?}"),
                );
            }
        }
    }
}

/// Checks that a result is exact, or the neighbour that its rounding asks for.
fn check(mode: &str, result: f32, side: impl Fn(f32) -> std::cmp::Ordering, what: &str) {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if !result.is_finite() {
        let largest = if result > 0.0 { f32::MAX } else { f32::MIN };
        assert_ne!(
            side(largest),
            if result > 0.0 { Greater } else { Less },
            "{mode} {what}: ∞"
        );
        return;
    }
    let (below, above) = neighbours(result);
    let down = match mode {
        "rm" => true,
        "rp" => false,
        _ => side(0.0) != Greater,
    };
    match side(result) {
        Equal => {}
        Less => assert!(
            down && (!above.is_finite() || side(above) == Greater),
            "{mode} {what}: {result:e} is not the nearest below"
        ),
        Greater => assert!(
            !down && (!below.is_finite() || side(below) == Less),
            "{mode} {what}: {result:e} is not the nearest above"
        ),
    }
}

#[test]
fn rule_2_3_ftz_flushes_operands_and_results_to_zeros_with_their_sign() {
    let cases: &[(&str, &[u64], u64)] = &[
        ("add.rn.ftz.f32", &[1, 1], 0),
        ("add.rn.ftz.f32", &[0x8000_0001, 0x8000_0001], 0x8000_0000),
        ("add.rn.f32", &[1, 1], 2),
        ("mul.rn.ftz.f32", &[0x0080_0000, 0x3f00_0000], 0),
        ("mul.rn.ftz.f32", &[0x8080_0000, 0x3f00_0000], 0x8000_0000),
        ("div.rn.ftz.f32", &[0x3f80_0000, 1], 0x7f80_0000),
        ("add.rn.sat.f32", &[0x3f80_0000, 0x3f80_0000], 0x3f80_0000),
        ("add.rn.sat.f32", &[0xbf80_0000, 0], 0),
        ("mul.rn.sat.f32", &[0x7f80_0000, 0], 0),
        ("fma.rn.relu.f16", &[0xbc00, 0x3c00, 0x0000], 0),
        ("fma.rn.relu.f16", &[0x7e00, 0x3c00, 0x0000], 0x7fff),
        ("neg.ftz.f32", &[1], 0x8000_0000),
        ("cvt.ftz.f32.f16", &[1], 0x3380_0000),
        ("cvt.rn.f16.f32", &[0x477f_f000], 0x7c00),
        ("cvt.rz.f16.f32", &[0x477f_f000], 0x7bff),
        ("cvt.rn.bf16.f32", &[0x3f80_8000], 0x3f80),
        ("min.f32", &[0x7fc0_0000, 0x3f80_0000], 0x3f80_0000),
        ("max.f32", &[0x8000_0000, 0], 0),
    ];
    for (name, words, expected) in cases {
        let result = run(&instruction(name), words);
        assert_eq!(result.out, *expected, "{name} of {words:x?}: {result:x?}");
    }
}
