//! Arithmetic outside the unit: promotion, software scales, epilogue, output.

use super::*;

#[test]
fn promotion_to_an_accumulator_outside() {
    for row in [F16_ROW, F8_ROW] {
        compare(row, (4, 4, 7), "promote=3/f32", |x| {
            let mut sum = f32_of(x.c());
            for group in [0..3, 3..6, 6..7] {
                sum += x.chain_f32(0, group);
            }
            word(sum)
        });
        compare(
            row,
            (4, 4, 8),
            "split-k=2 reduce=ascending/f32; promote=2/f32",
            |x| {
                let first = f32_of(x.c()) + x.chain_f32(0, 0..2) + x.chain_f32(0, 2..4);
                let second = 0.0 + x.chain_f32(0, 4..6) + x.chain_f32(0, 6..8);
                word(first + second)
            },
        );
        compare(row, (4, 4, 4), "promote=1/f64", |x| {
            let start = f64::from(f32_of(x.c()));
            (0..4)
                .fold(start, |sum, step| {
                    sum + f64::from(x.chain_f32(0, step..step + 1))
                })
                .to_bits()
        });
    }
}

/// The scheme of DeepSeek's fp8 products: 1 × 128 scales of A, 128 × 128 scales of B, a promotion
/// every 128 products.
#[test]
fn software_scales_are_applied_at_the_promotion() {
    let unit = unit(F8_ROW.0, F8_ROW.1);
    let random = &mut Random(6);
    let mut scales = |rows: usize, columns: usize| {
        let words: Vec<u64> = (0..rows * columns)
            .map(|_| word((random.bits() % 1_000_003) as f32 * 1e-6 + 1e-3))
            .collect();
        Matrix::row_major(rows, columns, Words::of(&F32, words).expect("words")).expect("fits")
    };
    let (m, n) = (5, 150);
    let scales = SoftwareScales {
        a: scales(m, 3),
        b: scales(3, 2),
    };
    // K = 320 is two whole blocks of 128 and a half; from the other end only whole ones will do.
    let ragged: &[&[usize]] = &[&[0, 1, 2, 3], &[4, 5, 6, 7], &[8, 9]];
    let backwards: &[&[usize]] = &[&[11, 10, 9, 8], &[7, 6, 5, 4], &[3, 2, 1, 0]];
    for (order, steps, groups) in [("ascending", 10, ragged), ("descending", 12, backwards)] {
        let of = matrices(unit, m, n, steps, 5);
        for by in ["fma", "mul-add"] {
            let schedule = format!("order={order}; promote=4/f32 scale=1x128 by={by}");
            let got = run(unit, &of, &schedule, Some(&scales));
            for (index, got) in got.iter().enumerate() {
                let (i, j) = (index / n, index % n);
                let x = Element {
                    unit,
                    of: &of,
                    i,
                    j,
                };
                let mut sum = f32_of(x.c());
                for group in groups {
                    let block = group[0] / 4;
                    let [a, b] = [scales.a.at(0, i, block), scales.b.at(0, block, j / 128)];
                    let scale = f32_of(a) * f32_of(b);
                    let inner = x.chain_f32(0, group.iter().copied());
                    sum = match by {
                        "fma" => inner.mul_add(scale, sum),
                        _ => scale * inner + sum,
                    };
                }
                assert_eq!(*got, word(sum), "{schedule} at {i}, {j}");
            }
        }
    }
}

#[test]
fn epilogue_and_output() {
    for row in [F16_ROW, F8_ROW] {
        compare(row, (4, 4, 3), "c=epilogue", |x| {
            word(x.chain_f32(0, 0..3) + f32_of(x.c()))
        });
        compare(
            row,
            (4, 4, 3),
            "c=epilogue/f32 alpha=0.3 beta=-1.7 by=fma",
            |x| word(x.chain_f32(0, 0..3).mul_add(0.3, -1.7 * f32_of(x.c()))),
        );
        compare(
            row,
            (4, 4, 3),
            "c=epilogue/f32 alpha=0.3 beta=-1.7 by=mul-add",
            |x| word(x.chain_f32(0, 0..3) * 0.3 + -1.7 * f32_of(x.c())),
        );
        compare(row, (4, 4, 3), "c=epilogue/f64 alpha=0.3 beta=-1.7", |x| {
            let c = f64::from(f32_of(x.c()));
            f64::from(x.chain_f32(0, 0..3))
                .mul_add(0.3, -1.7 * c)
                .to_bits()
        });
        compare(row, (4, 4, 3), "c=epilogue/f32 alpha=0.3 beta=0", |x| {
            word(x.chain_f32(0, 0..3) * 0.3)
        });
        for (name, format) in [("f16", F16), ("bf16", BF16), ("e4m3", E4M3FN)] {
            for mode in ["rne", "rz", "ru", "odd"] {
                for overflow in ["ieee", "sat"] {
                    let schedule = format!("out={mode} {name} overflow={overflow}");
                    compare(row, (4, 4, 2), &schedule, |x| {
                        let conversion = Conversion {
                            rounding: Rounding::named(mode).expect("a mode"),
                            overflow: Overflow::named(overflow).expect("a policy"),
                        };
                        F32.convert(x.chain(x.c(), 0..2), &format, conversion)
                    });
                }
            }
        }
    }
    compare(
        F16_ROW,
        (4, 4, 4),
        "out=rne f16; split-k=2 reduce=pairwise/f32; c=epilogue/f32 alpha=2 beta=1",
        |x| {
            let sum = x.chain_f32(0, 0..2) + x.chain_f32(0, 2..4);
            half(f64::from(sum.mul_add(2.0, f32_of(x.c()))))
        },
    );
    // β = 0 does not read C: its NaN does not reach D.
    let unit = unit(F16_ROW.0, F16_ROW.1);
    let mut of = matrices(unit, 2, 2, 2, 1);
    of.c = Some(vec![0x7fc0_0000; 4]);
    let without = run(unit, &of, "c=epilogue/f32 beta=0", None);
    assert!(without.iter().all(|&word| f32_of(word).is_finite()));
    let with = run(unit, &of, "c=epilogue/f32 beta=1", None);
    assert!(with.iter().all(|&word| f32_of(word).is_nan()));
}

/// An output in the format that is there already: its ∞ goes where the policy says, and its NaN is the default one.
#[test]
fn outputs_of_the_same_format_follow_their_policy() {
    let unit = unit(F16_ROW.0, F16_ROW.1);
    let mut of = matrices(unit, 2, 2, 2, 1);
    let mut results = |c: u64, schedule: &str| {
        of.c = Some(vec![c; 4]);
        run(unit, &of, schedule, None)
    };
    let (infinite, nan) = (0x7f80_0000, 0x7f81_2345);
    for (schedule, of_infinity, of_nan) in [
        ("out=rne f32", 0x7f80_0000, 0x7fc0_0000),
        ("out=rne f32 overflow=sat", 0x7f7f_ffff, 0x7fc0_0000),
        ("out=rne f32 overflow=nan", 0x7fc0_0000, 0x7fc0_0000),
        (
            "split-k=2 reduce=ascending/f32; out=rz f32 overflow=sat",
            0x7f7f_ffff,
            0x7fc0_0000,
        ),
        (
            "c=epilogue/f32; out=rne f32 overflow=sat",
            0x7f7f_ffff,
            0x7fc0_0000,
        ),
    ] {
        assert_eq!(results(infinite, schedule), [of_infinity; 4], "{schedule}");
        assert_eq!(results(nan, schedule), [of_nan; 4], "{schedule}");
    }
}
