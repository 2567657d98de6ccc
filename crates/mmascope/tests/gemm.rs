//! Matrix products: the chain over K, padding, and the statistics against the exact product.

#[path = "gemm/notation.rs"]
mod notation;
#[path = "gemm/products.rs"]
mod products;
#[path = "gemm/schedules.rs"]
mod schedules;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mmascope::Error;
use mmascope::array::Words;
use mmascope::dpa::{Modifiers, Operands, Signature, Unit};
use mmascope::gemm::{self, ErrorStatistics, Matrix, SAMPLES, Watch};
use mmascope::isa::Catalogue;

/// A small generator of test inputs.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
    }

    /// A word of a format: any code.
    fn words(&mut self, format: &mmascope::format::Format, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| format.to_register(self.bits()))
            .collect()
    }
}

/// Row-major matrices as the tests change and read them; no scales are no words.
#[derive(Clone, Debug, Default, PartialEq)]
struct Matrices {
    m: usize,
    n: usize,
    k: usize,
    a: Vec<u64>,
    b: Vec<u64>,
    c: Option<Vec<u64>>,
    scale_a: Vec<u64>,
    scale_b: Vec<u64>,
}

impl Matrices {
    fn given(&self, signature: &Signature) -> mmascope::Result<gemm::Matrices> {
        let Self { m, n, k, .. } = *self;
        let matrix = |rows, columns, format, words: &Vec<u64>| {
            Matrix::row_major(rows, columns, Words::of(format, words.iter().copied())?)
        };
        let mut given = gemm::Matrices::new(
            matrix(m, k, &signature.a, &self.a)?,
            matrix(k, n, &signature.b, &self.b)?,
        )?;
        if let Some(c) = &self.c {
            given = given.with_c(matrix(m, n, &signature.c, c)?)?;
        }
        match signature.scale {
            Some(scale) => {
                let blocks = self.scale_a.len() / m;
                given.with_scales(
                    matrix(m, blocks, &scale.format, &self.scale_a)?,
                    matrix(blocks, n, &scale.format, &self.scale_b)?,
                )
            }
            None => {
                if self.scale_a.is_empty() && self.scale_b.is_empty() {
                    return Ok(given);
                }
                let row = |words: &Vec<u64>| Matrix::row_major(words.len(), 1, words.clone());
                given.with_scales(row(&self.scale_a)?, row(&self.scale_b)?.transposed())
            }
        }
    }

    fn padded(&self, signature: &Signature) -> mmascope::Result<Self> {
        let padded = self.given(signature)?.padded(signature)?;
        let words = |matrix: Option<&Matrix>| matrix.map(|matrix| matrix.iter().collect());
        Ok(Self {
            m: padded.m(),
            n: padded.n(),
            k: padded.k(),
            a: padded.a().iter().collect(),
            b: padded.b().iter().collect(),
            c: words(padded.c()),
            scale_a: words(padded.scale_a()).unwrap_or_default(),
            scale_b: words(padded.scale_b()).unwrap_or_default(),
        })
    }
}

static GO: AtomicBool = AtomicBool::new(false);

fn unit(arch: &str, inst: &str) -> &'static Unit {
    let row = Catalogue::built_in().find(arch, inst);
    row.and_then(|row| row.unit())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn random_matrices(unit: &Unit, m: usize, n: usize, k: usize, seed: u64) -> Matrices {
    let random = &mut Random(seed);
    let signature = unit.signature();
    let scales = |random: &mut Random, count: usize| match signature.scale {
        // Near 1, so that results are finite; some codes are NaN.
        Some(scale) => {
            let one = if scale.format.name == "ue8m0" {
                127
            } else {
                0x38
            };
            (0..count / scale.block)
                .map(|_| one + random.bits() % 5)
                .collect()
        }
        None => Vec::new(),
    };
    Matrices {
        m,
        n,
        k,
        a: random.words(&signature.a, m * k),
        b: random.words(&signature.b, k * n),
        c: Some(random.words(&signature.c, m * n)),
        scale_a: scales(random, m * k),
        scale_b: scales(random, k * n),
    }
}

fn chain(unit: &Unit, matrices: &Matrices, modifiers: &Modifiers) -> mmascope::Result<Vec<u64>> {
    let watch = Watch {
        progress: &|_| (),
        cancel: &GO,
    };
    let given = matrices.given(unit.signature())?;
    Ok(gemm::chain(unit, &given, modifiers, &watch)?.to_vec())
}

/// D element by element, each operand picked by its own index.
fn by_elements(unit: &Unit, matrices: &Matrices, modifiers: &Modifiers) -> Vec<u64> {
    let signature = unit.signature();
    let Matrices { m, n, k, .. } = *matrices;
    let block = signature.scale.map_or(usize::MAX, |scale| scale.block);
    let mut d = Vec::new();
    for i in 0..m {
        for j in 0..n {
            let mut sum = matrices.c.as_ref().map_or(0, |c| c[i * n + j]);
            let mut first = 0;
            while first < k {
                let ks = first..first + signature.k;
                let a: Vec<u64> = ks.clone().map(|k_| matrices.a[i * k + k_]).collect();
                let b: Vec<u64> = ks.clone().map(|k_| matrices.b[k_ * n + j]).collect();
                let (mut scale_a, mut scale_b) = (Vec::new(), Vec::new());
                if block != usize::MAX {
                    for at in ks.step_by(block) {
                        scale_a.push(matrices.scale_a[i * (k / block) + at / block]);
                        scale_b.push(matrices.scale_b[at / block * n + j]);
                    }
                }
                let operands = Operands {
                    a: &a,
                    b: &b,
                    c: sum,
                    scale_a: &scale_a,
                    scale_b: &scale_b,
                };
                let step = if first == 0 {
                    *modifiers
                } else {
                    Modifiers {
                        negate_c: false,
                        no_c: false,
                        scale_d: 0,
                        ..*modifiers
                    }
                };
                sum = unit.dot(&operands, &step).expect("lengths fit");
                first += signature.k;
            }
            d.push(sum);
        }
    }
    d
}

const UNITS: [(&str, &str, &[&str]); 8] = [
    ("hopper", "mma.m16n8k16.f32.f16.f16.f32", &[]),
    ("hopper", "wgmma.m64n8k8.f32.tf32.tf32", &["negA"]),
    ("hopper", "wgmma.m64n8k16.f16.f16.f16", &["negB", "noC"]),
    (
        "blackwell",
        "tcgen05.mma.m128n8k16.kind::f16.f32.f16.f16",
        &["scaleD=-3", "negA"],
    ),
    (
        "rtx-blackwell",
        "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0",
        &[],
    ),
    ("cdna3", "v_mfma_f32_32x32x8_f16", &[]),
    ("cdna2", "v_mfma_f32_32x32x8f16", &[]),
    ("ampere", "mma.m8n8k4.f64.f64.f64.f64", &[]),
];

#[test]
fn the_chain_is_that_of_single_dot_products_for_any_thread_count() {
    for (arch, inst, mods) in UNITS {
        let unit = unit(arch, inst);
        let mut modifiers = Modifiers::default();
        mods.iter()
            .for_each(|text| modifiers.add(text).expect("a modifier"));
        for (m, n, steps) in [(1, 1, 1), (3, 5, 2), (17, 13, 3), (1, 130, 2)] {
            let k = steps * unit.signature().k;
            let mut matrices = random_matrices(unit, m, n, k, 11 + m as u64);
            let expected = by_elements(unit, &matrices, &modifiers);
            for threads in [1, 2, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let got = pool
                    .expect("threads")
                    .install(|| chain(unit, &matrices, &modifiers).expect("fits"));
                assert_eq!(
                    got, expected,
                    "{arch} {inst} {m}×{n}×{k} on {threads} threads"
                );
            }
            matrices.c = None;
            let expected = by_elements(unit, &matrices, &modifiers);
            assert_eq!(chain(unit, &matrices, &modifiers).expect("fits"), expected);
        }
    }
}

#[test]
fn nvfp4_scales_are_found_in_their_blocks() {
    let rows = Catalogue::built_in().instructions();
    let mut blocks = std::collections::BTreeSet::new();
    for row in rows.filter(|row| row.is_modelled()) {
        let Some(scale) = row.signature.scale else {
            continue;
        };
        if !blocks.insert((row.signature.k, scale.format.name, scale.block)) {
            continue;
        }
        let unit = row.unit().expect("modelled");
        let matrices = random_matrices(unit, 3, 4, 2 * row.signature.k, 5);
        let expected = by_elements(unit, &matrices, &Modifiers::default());
        let got = chain(unit, &matrices, &Modifiers::default()).expect("fits");
        assert_eq!(got, expected, "{}", row.name);
    }
    assert!(
        blocks
            .iter()
            .any(|(_, name, block)| *name == "ue4m3" && *block == 16),
        "{blocks:?}"
    );
}

#[test]
fn padding_adds_products_of_plus_zero_with_scales_of_one() {
    for (arch, inst, k) in [
        ("hopper", "mma.m16n8k16.f32.f16.f16.f32", 21),
        (
            "rtx-blackwell",
            "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
            80,
        ),
    ] {
        let unit = unit(arch, inst);
        let signature = unit.signature();
        let given = random_matrices(unit, 3, 2, k, 3);
        let error = chain(unit, &given, &Modifiers::default()).expect_err("K does not fit");
        assert!(
            error
                .to_string()
                .contains(&format!("K = {k} is no multiple")),
            "{error}"
        );
        let padded = given.padded(signature).expect("padded");
        assert_eq!(padded.k % signature.k, 0);
        assert!(padded.k - k < signature.k);
        for i in 0..3 {
            for at in 0..padded.k {
                let expected = if at < k { given.a[i * k + at] } else { 0 };
                assert_eq!(padded.a[i * padded.k + at], expected);
            }
        }
        assert_eq!(padded.b[..k * 2], given.b);
        assert!(padded.b[k * 2..].iter().all(|&word| word == 0));
        if let Some(scale) = signature.scale {
            let (blocks, all) = (k / scale.block, padded.k / scale.block);
            assert_eq!(padded.scale_a[blocks..all], [0x38].repeat(all - blocks));
            assert_eq!(
                padded.scale_a[all..all + blocks],
                given.scale_a[blocks..2 * blocks]
            );
            assert_eq!(
                padded.scale_b[2 * blocks..],
                [0x38].repeat(2 * (all - blocks))
            );
        }
        let again = padded.padded(signature).expect("padded");
        assert_eq!(again, padded);
        let got = chain(unit, &padded, &Modifiers::default()).expect("fits");
        assert_eq!(got, by_elements(unit, &padded, &Modifiers::default()));
    }
    let unit = unit("rtx-blackwell", UNITS[4].1);
    let mut ragged = random_matrices(unit, 1, 1, 32, 1);
    (ragged.k, ragged.a, ragged.b) = (40, vec![0; 40], vec![0; 40]);
    let error = ragged.padded(unit.signature()).expect_err("a block is cut");
    assert!(error.to_string().contains("32 must divide K"), "{error}");
}

#[test]
fn results_that_cannot_be_the_next_c_are_refused() {
    for inst in [
        "mma.m8n8k4.f32.f16.f16.f16",
        "wmma.m16n16k16.f16.f16.f16.f32",
    ] {
        let unit = unit("volta", inst);
        let k = unit.signature().k;
        let one_step = random_matrices(unit, 2, 2, k, 1);
        assert!(chain(unit, &one_step, &Modifiers::default()).is_ok());
        let two_steps = random_matrices(unit, 2, 2, 2 * k, 1);
        let error = chain(unit, &two_steps, &Modifiers::default()).expect_err("two steps");
        assert!(
            error.to_string().contains("cannot be the next step's c"),
            "{error}"
        );
    }
}

#[test]
fn wrong_lengths_are_refused() {
    let unit = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let right = random_matrices(unit, 2, 3, 16, 1);
    let wrong: [fn(&mut Matrices); 8] = [
        |x| x.a.truncate(31),
        |x| x.b.push(0),
        |x| x.c = Some(vec![0; 5]),
        |x| x.scale_a.push(0),
        |x| x.scale_b.push(0),
        |x| x.m = 0,
        |x| x.k = 0,
        |x| x.n = usize::MAX,
    ];
    for (index, change) in wrong.iter().enumerate() {
        let mut matrices = right.clone();
        change(&mut matrices);
        let result = chain(unit, &matrices, &Modifiers::default());
        assert!(
            matches!(result, Err(Error::Argument(_))),
            "{index}: {result:?}"
        );
        assert!(matrices.padded(unit.signature()).is_err(), "{index}");
    }
}

#[test]
fn progress_reaches_the_end_and_cancel_stops() {
    let unit = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let matrices = random_matrices(unit, 20, 30, 16, 1);
    let matrices = matrices.given(unit.signature()).expect("fits");
    let done = AtomicU64::new(0);
    let progress = |count| {
        done.fetch_add(count, Ordering::Relaxed);
    };
    let cancel = AtomicBool::new(false);
    let watch = Watch {
        progress: &progress,
        cancel: &cancel,
    };
    let modifiers = Modifiers::default();
    let d = gemm::chain(unit, &matrices, &modifiers, &watch).expect("fits");
    assert_eq!(done.swap(0, Ordering::Relaxed), 600);
    gemm::statistics(unit, &matrices, &modifiers, &d, false, &watch).expect("fits");
    assert_eq!(done.load(Ordering::Relaxed), 600);
    cancel.store(true, Ordering::Relaxed);
    assert_eq!(
        gemm::chain(unit, &matrices, &modifiers, &watch),
        Err(Error::Cancelled)
    );
    let statistics = gemm::statistics(unit, &matrices, &modifiers, &d, false, &watch);
    assert_eq!(statistics, Err(Error::Cancelled));
}

fn statistics(
    unit: &Unit,
    matrices: &Matrices,
    d: &[u64],
    modifiers: &Modifiers,
) -> ErrorStatistics {
    let watch = Watch {
        progress: &|_| (),
        cancel: &GO,
    };
    let given = matrices.given(unit.signature()).expect("fits");
    let d = Words::from(d.to_vec());
    gemm::statistics(unit, &given, modifiers, &d, true, &watch).expect("fits")
}

/// An f16 number in units of 2^-24, decoded here.
fn f16_units(word: u64) -> i128 {
    let (field, fraction) = ((word >> 10 & 31) as i32, (word & 1023) as i128);
    let magnitude = if field == 0 {
        fraction
    } else {
        (fraction + 1024) << (field - 1)
    };
    if word >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// A finite f32 number in units of 2^-60.
fn f32_units(word: u64) -> i128 {
    let exact = f64::from(f32::from_bits(word as u32)) * 2_f64.powi(60);
    assert!(
        exact.fract() == 0.0 && exact.abs() < 2_f64.powi(120),
        "{word:08x}"
    );
    exact as i128
}

fn close(got: f64, expected: f64) -> bool {
    (got - expected).abs() <= 1e-12 * expected.abs()
}

#[test]
fn statistics_are_those_of_a_separate_computation() {
    let unit = unit("blackwell", "tcgen05.mma.m128n8k16.kind::f16.f32.f16.f16");
    let mut modifiers = Modifiers::default();
    for (mods, seed) in [(&[][..], 1), (&["negA", "scaleD=-2"], 2), (&["noC"], 3)] {
        mods.iter()
            .for_each(|text| modifiers.add(text).expect("a modifier"));
        let (m, n, k) = (13, 11, 48);
        let mut matrices = random_matrices(unit, m, n, k, seed);
        // Finite numbers from 2^-10 to 2^5, some zeros; row 0 of A is zero, row 1 cancels.
        for word in matrices.a.iter_mut().chain(&mut matrices.b) {
            let field = (*word >> 10) % 16 + 5;
            let is_zero = *word % 7 == 0;
            *word = if is_zero {
                0
            } else {
                *word & 0x83ff | field << 10
            };
        }
        matrices.a[..k].fill(0);
        for at in 0..k / 2 {
            matrices.a[k + at] = 0x3c00;
            matrices.a[k + k / 2 + at] = 0xbc00;
            for j in 0..n {
                matrices.b[(k / 2 + at) * n + j] = matrices.b[at * n + j];
            }
        }
        let mut random = Random(seed);
        let c: Vec<u64> = (0..m * n)
            .map(|index| match index / n {
                0 | 1 => 0,
                _ => u64::from(((random.bits() % 1000) as f32 - 500.0).to_bits()),
            })
            .collect();
        matrices.c = Some(c);
        let mut d = chain(unit, &matrices, &modifiers).expect("fits");
        d[0] = 0x3f80_0000; // an exact zero missed
        d[1] = 0x7fc0_0000; // and another one, as a NaN
        d[2 * n] = 0x7f80_0000; // an overflow
        let mut errors = [const { Vec::<f64>::new() }; 3];
        let (mut zeros, mut missed, mut lost) = (0, 0, 0);
        for i in 0..m {
            for j in 0..n {
                let (mut exact, mut products) = (0_i128, 0_i128);
                for at in 0..k {
                    let a = f16_units(matrices.a[i * k + at]);
                    let product = (a * f16_units(matrices.b[at * n + j])) << 12;
                    exact += if modifiers.negate_a {
                        -product
                    } else {
                        product
                    };
                    products += product.abs();
                }
                if !modifiers.no_c {
                    let c = f32_units(matrices.c.as_ref().expect("given")[i * n + j]);
                    exact += c >> -modifiers.scale_d;
                }
                zeros += u64::from(exact == 0);
                missed += u64::from(exact == 0 && d[i * n + j] << 1 & 0xffff_ffff != 0);
                if d[i * n + j] & 0x7f80_0000 == 0x7f80_0000 {
                    lost += 1;
                    continue;
                }
                let error = (f32_units(d[i * n + j]) - exact).abs() as f64;
                if exact != 0 {
                    errors[0].push(error / exact.abs() as f64);
                    let binade = exact.unsigned_abs().ilog2() as i32; // above emin here
                    errors[2].push(error / 2_f64.powi(binade - 23));
                }
                if products != 0 {
                    errors[1].push(error / products as f64);
                }
            }
        }
        let statistics = statistics(unit, &matrices, &d, &modifiers);
        assert_eq!((statistics.outputs, statistics.sampled), (143, 143));
        assert_eq!(
            (statistics.exact_zeros, statistics.missed_zeros),
            (zeros, missed)
        );
        assert!(
            zeros >= 2 * n as u64 && (2..zeros).contains(&missed),
            "{missed} of {zeros}"
        );
        assert_eq!((statistics.result_not_finite, lost), (2, 2));
        assert_eq!(statistics.exact_not_finite, 0);
        let summaries = [
            statistics.relative,
            statistics.relative_to_products,
            statistics.ulps,
        ];
        for (mut expected, got) in errors.into_iter().zip(summaries) {
            expected.sort_by(f64::total_cmp);
            let (count, sum) = (expected.len(), expected.iter().sum::<f64>());
            assert_eq!(got.count, count as u64);
            assert!(
                close(got.max, expected[count - 1]) && got.max > 0.0,
                "{got:?}"
            );
            assert!(close(got.mean, sum / count as f64), "{got:?}");
            let middle = &expected[(count - 1) / 2..=count / 2];
            let median = middle.iter().sum::<f64>() / middle.len() as f64;
            assert!(close(got.median, median), "{got:?}");
        }
    }
}

#[test]
fn statistics_of_scaled_wide_and_special_operands() {
    // 2^100 scales: 1 · 1 · 2^-50 · 2^-50 for 32 products is 2^-95, exactly d.
    let scaled = unit("rtx-blackwell", UNITS[4].1);
    let ones = |word: u64| vec![word; 32];
    let matrices = Matrices {
        m: 1,
        n: 1,
        k: 32,
        a: ones(0x38),
        b: ones(2),
        c: None,
        scale_a: vec![77],
        scale_b: vec![77],
    };
    let d = chain(scaled, &matrices, &Modifiers::default()).expect("fits");
    assert_eq!(d, [u64::from((127 - 95_u32) << 23)]);
    let none = statistics(scaled, &matrices, &d, &Modifiers::default());
    assert_eq!(
        (none.relative.count, none.relative.max, none.ulps.max),
        (1, 0.0, 0.0)
    );
    // f64: 1 + 2^-60 - 1 is 2^-60, and 0.5 ULP is lost on the way to 0: relative error 1.
    let double = unit("ampere", "mma.m8n8k4.f64.f64.f64.f64");
    let one = 1_f64.to_bits();
    let mut matrices = Matrices {
        m: 1,
        n: 1,
        k: 4,
        a: vec![one, 2_f64.powi(-60).to_bits(), (-1_f64).to_bits(), 0],
        b: vec![one; 4],
        ..Matrices::default()
    };
    let d = chain(double, &matrices, &Modifiers::default()).expect("fits");
    assert_eq!(d, [0]);
    let lost = statistics(double, &matrices, &d, &Modifiers::default());
    assert_eq!((lost.relative.max, lost.ulps.max), (1.0, 2_f64.powi(52)));
    assert!(
        close(lost.relative_to_products.max, 2_f64.powi(-61)),
        "{lost:?}"
    );
    // Products longer than 64 bits: (1 + 2^-52)² is 1 + 2^-51 + 2^-104, and the last term is lost.
    let above_one = one + 1;
    matrices.a = vec![above_one, 0, 0, 0];
    matrices.b = vec![above_one; 4];
    let d = chain(double, &matrices, &Modifiers::default()).expect("fits");
    assert_eq!(d, [one + 2]);
    let square = statistics(double, &matrices, &d, &Modifiers::default());
    assert_eq!(square.ulps.max, 2_f64.powi(-52));
    // The widest span of f64 products: (2^1023)² and (2^-1074)².
    matrices.a = vec![0x7fe0_0000_0000_0000, 1, 0xffe0_0000_0000_0000, 0];
    matrices.b = matrices.a.iter().map(|word| word & !(1 << 63)).collect();
    let tiny = statistics(double, &matrices, &[0], &Modifiers::default());
    assert_eq!(tiny.relative.max, 1.0);
    assert_eq!(tiny.ulps.max, f64::from_bits(1)); // 2^-2148 in units of 2^-1074
    matrices.a[3] = f64::INFINITY.to_bits();
    let special = statistics(double, &matrices, &[0], &Modifiers::default());
    assert_eq!((special.exact_not_finite, special.relative.count), (1, 0));
}

#[test]
fn the_median_of_an_even_number_is_between_the_middle_two() {
    let unit = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let (m, n, k) = (1, 2, 16);
    let matrices = Matrices {
        m,
        n,
        k,
        a: vec![0x3c00; m * k],
        b: vec![0x3c00; k * n],
        ..Matrices::default()
    };
    let d = [16.0_f32, 32.0].map(|value| u64::from(value.to_bits()));
    let relative = statistics(unit, &matrices, &d, &Modifiers::default()).relative;
    assert_eq!((relative.max, relative.median), (1.0, 0.5));
}

#[test]
fn the_sample_is_spread_over_all_outputs() {
    let unit = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let (m, n, k) = (100, 100, 16);
    let matrices = Matrices {
        m,
        n,
        k,
        a: vec![0x3c00; m * k],
        b: vec![0x3c00; k * n],
        ..Matrices::default()
    };
    // The last quarter of D is twice what it should be.
    let d: Vec<u64> = (0..m * n)
        .map(|index| u64::from((if index < 7500 { 16.0_f32 } else { 32.0 }).to_bits()))
        .collect();
    let sampled = statistics(unit, &matrices, &d, &Modifiers::default());
    assert_eq!((sampled.outputs, sampled.sampled), (10_000, SAMPLES as u64));
    let relative = sampled.relative;
    assert_eq!(
        (relative.max, relative.mean, relative.median),
        (1.0, 0.25, 0.0)
    );
    assert_eq!(
        statistics(unit, &matrices, &d, &Modifiers::default()),
        sampled
    );
    assert!(
        gemm::statistics(
            unit,
            &matrices.given(unit.signature()).expect("fits"),
            &Modifiers::default(),
            &Words::from(d[1..].to_vec()),
            true,
            &Watch {
                progress: &|_| (),
                cancel: &GO
            }
        )
        .is_err()
    );
}
