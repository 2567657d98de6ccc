//! Grouped sums on both sides of where an alignment begins to cut, with what makes a cut bit visible: large
//! terms that cancel each other, or c, and small ones that stay.

use mmascope::array::Words;
use mmascope::cpu::Kernel;
use mmascope::dpa::{Modifiers, Unit};
use mmascope::format::{Class, F32, Format};
use mmascope::gemm::{Matrices, Matrix, Schedule};
use mmascope::isa::Catalogue;

use super::adversary::Random;
use super::cases::{by_kernel, watch};
use super::oracle::by_dots;
use super::prove::{asked, levels};

/// Rows and columns: more than a panel.
const M: usize = 11;
const N: usize = 37;

fn value(format: &Format, word: u64) -> f64 {
    let x = format.decode(format.from_register(word));
    if !matches!(x.class, Class::Finite) {
        return 0.0;
    }
    let magnitude = x.significand as f64 * 2_f64.powi(x.exponent - x.fraction_bits as i32);
    if x.negative { -magnitude } else { magnitude }
}

/// The smallest number, three of it, and the largest, as register words.
fn numbers(format: &Format) -> [u64; 3] {
    [1, 3, format.max_finite(false)].map(|code| format.to_register(code))
}

fn negated(format: &Format, word: u64) -> u64 {
    word ^ format.to_register(1 << (format.bits - 1))
}

/// The scale with an exponent, and any significand, or the largest.
fn scale(format: &Format, exponent: i32, full: bool, random: &mut Random) -> u64 {
    let float = format.float().expect("a float");
    let fraction = if full { u64::MAX } else { random.bits() };
    let fraction = fraction & ((1 << float.fraction_bits) - 1);
    format.to_register(((exponent + float.bias) as u64) << float.fraction_bits | fraction)
}

/// Elements of one row of A or column of B; `full`: the largest sums, and one of the smallest products.
fn elements(
    format: &Format,
    [k, block]: [usize; 2],
    is_b: bool,
    full: bool,
    random: &mut Random,
) -> Vec<u64> {
    let [one, three, most] = numbers(format);
    let large = [one, most, most, three][random.below(4) as usize];
    let flip = random.one_in(2);
    let (high, low) = (random.below(5), random.below(5));
    let (large, high, low) = if full {
        (most, 4, 1)
    } else {
        (large, high, low)
    };
    (0..k)
        .map(|at| {
            let is_low = at / block % 4 == 1;
            let word = match (is_low, if is_low { low } else { high }) {
                (_, 0) => 0,
                (true, 1) if at % block == 0 => one,
                (true, 2) if at % block == 0 => three,
                (true, 1 | 2) => 0,
                (true, _) => most,
                // What cancels: of A the same twice, of B with both signs.
                (false, 1 | 2) if is_b && at % 2 == 1 => negated(format, large),
                (false, 3) if at % block != 0 => 0,
                (false, _) => large,
            };
            if flip && word != 0 {
                negated(format, word)
            } else {
                word
            }
        })
        .collect()
}

/// A product whose scales have exponents `spread` apart.
fn product(unit: &Unit, spread: i32, seed: u64) -> Option<Matrices> {
    let signature = unit.signature();
    let of = signature.scale?;
    let random = &mut Random::new(seed);
    let k = signature.k * (1 + random.below(3) as usize);
    let full = random.one_in(3);
    let float = of.format.float()?;
    let (lowest, highest) = (
        float.emin().max(-20),
        of.format
            .decode(of.format.max_finite(false))
            .exponent
            .min(20),
    );
    let apart = [spread / 2, spread - spread / 2];
    if apart.iter().any(|apart| *apart > highest - lowest - 1) {
        return None;
    }
    // The largest significand at the largest exponent may be a NaN.
    let high = apart.map(|apart| random.between(lowest + apart, highest - 1));
    let blocks = k / of.block;
    let mut scales = |side: usize, count: usize| -> Vec<Vec<u64>> {
        (0..count)
            .map(|_| {
                let none = random.one_in(7);
                (0..blocks)
                    .map(|at| match at % 4 {
                        _ if none => 0,
                        1 => scale(&of.format, high[side] - apart[side], full, random),
                        _ => scale(&of.format, high[side], full, random),
                    })
                    .collect()
            })
            .collect()
    };
    let (scale_a, scale_b) = (scales(0, M), scales(1, N));
    let mut all = |format: &Format, count: usize, is_b: bool| -> Vec<Vec<u64>> {
        (0..count)
            .map(|_| elements(format, [k, of.block], is_b, full, random))
            .collect()
    };
    let (a, b) = (all(&signature.a, M, false), all(&signature.b, N, true));
    let mut c = Vec::with_capacity(M * N);
    for i in 0..M {
        for j in 0..N {
            // The sum of the large terms of the first instruction.
            let large: f64 = (0..signature.k)
                .filter(|k| k / of.block % 4 != 1)
                .map(|k| {
                    let block = k / of.block;
                    value(&signature.a, a[i][k])
                        * value(&signature.b, b[j][k])
                        * value(&of.format, scale_a[i][block])
                        * value(&of.format, scale_b[j][block])
                })
                .sum();
            let near = |exponent: i32, random: &mut Random| {
                let fraction = [0, u64::MAX, random.bits()][random.below(3) as usize] & 0x7f_ffff;
                let exponent = (exponent + random.between(-2, 2) + 127) as u64;
                random.below(2) << 31 | exponent << 23 | fraction
            };
            let sum = high[0] + high[1];
            // One c that rules a row out hides what the others could show: rows of zeros, rows with
            // one other c, and rows of all kinds.
            let kind = match i % 3 {
                0 => random.below(2),
                1 if !random.one_in(40) => [0, 1, 6][random.below(3) as usize],
                _ => random.below(8),
            };
            c.push(match kind {
                0 => 0,
                1 => 1 << 31,
                2 => near(sum - 12, random),
                3 => near(sum - spread + 27, random),
                4 => near(sum - random.below(50) as i32, random),
                5 => u64::from((-large as f32).to_bits() ^ 1),
                _ => u64::from((-large as f32).to_bits()),
            });
        }
    }
    let matrix = |format: &Format, rows: usize, columns: usize, words: Vec<u64>| {
        let words = Words::of(format, words).expect("words");
        Matrix::row_major(rows, columns, words).expect("a matrix")
    };
    let turned = |rows: &[Vec<u64>], k: usize| -> Vec<u64> {
        (0..k)
            .flat_map(|k| rows.iter().map(move |row| row[k]))
            .collect()
    };
    let matrices = Matrices::new(
        matrix(&signature.a, M, k, a.concat()),
        matrix(&signature.b, k, N, turned(&b, k)),
    );
    let matrices = matrices.expect("shapes").with_c(matrix(&F32, M, N, c));
    let scale_a = matrix(&of.format, M, blocks, scale_a.concat());
    let scale_b = matrix(&of.format, blocks, N, turned(&scale_b, blocks));
    matrices.expect("C").with_scales(scale_a, scale_b).ok()
}

#[test]
fn grouped_sums_where_alignment_begins_to_cut() {
    let row = |inst: &str| {
        let row = Catalogue::built_in().find("rtx-blackwell", inst);
        row.and_then(|row| row.unit()).expect("a unit").clone()
    };
    let own = |signature: &str, program: &str| {
        let (signature, program) = (signature.parse(), program.parse());
        Unit::new(signature.expect("a signature"), program.expect("a program")).expect("a unit")
    };
    let units = [
        row("mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
        row("mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0"),
        own(
            "a=e2m1 b=e2m3 c=f32 d=f32 k=48 scale=ue4m3 block=16",
            "gst-fdpa L=24 G=8 F=30 e0=-139 -> rz f32",
        ),
        own(
            "a=e2m1 b=e2m1 c=f32 d=f32 k=64 scale=ue8m0 block=16",
            "gst-fdpa L=32 G=16 F=24 e0=-90 -> rz f32",
        ),
    ];
    // Few where the processor is emulated (`cargo xtask emulate`).
    let is_short = asked("MMASCOPE_PROVE_OUTPUTS", 1_000_000) < 100_000;
    let (repeats, levels) = (if is_short { 2 } else { 12 }, levels());
    let plain: Schedule = "chain".parse().expect("a schedule");
    let mut outputs = 0;
    for (number, unit) in units.iter().enumerate() {
        for spread in 0..40 {
            for repeat in 0..repeats {
                let seed = (number * 10_000 + spread * 100 + repeat) as u64;
                let Some(matrices) = product(unit, spread as i32, seed) else {
                    continue;
                };
                let expected = by_dots(unit, &matrices, &Modifiers::default());
                for &level in &levels {
                    let kernel = Some(Kernel::at_level(unit, level).expect("a kernel"));
                    assert_eq!(kernel.as_ref().map(Kernel::level), Some(level));
                    let modifiers = Modifiers::default();
                    let product = by_kernel(unit, &matrices, modifiers, kernel);
                    let got = plain
                        .run(&product, None, &watch())
                        .expect("a product")
                        .to_vec();
                    let wrong = (0..got.len()).filter(|at| got[*at] != expected[*at]);
                    let wrong: Vec<usize> = wrong.collect();
                    assert!(
                        wrong.is_empty(),
                        "unit {number}, {level}, scales {spread} binades apart, seed {seed}: {} of {} \
                         differ, the first [{}, {}]: {:x} instead of {:x}",
                        wrong.len(),
                        got.len(),
                        wrong[0] / N,
                        wrong[0] % N,
                        got[wrong[0]],
                        expected[wrong[0]]
                    );
                    outputs += got.len();
                }
            }
        }
    }
    println!("{outputs} outputs");
}
