//! Variations that must not change a bit: modifiers, parts of D, batches, threads, steps in several calls.

use mmascope::array::Words;
use mmascope::cpu::{Kernel, Level};
use mmascope::dpa::{Modifiers, Unit};
use mmascope::gemm::{Matrices, Matrix, Product, Region};
use mmascope::isa::Catalogue;

use super::adversary::{ELEMENTS, Elements, STARTS, Start, matrices};
use super::cases::{Case, by_kernel, watch};
use super::oracle::by_dots;
use super::schedules::Plan;

/// Compares all levels with the oracle on the plain chain.
pub(super) fn compare(name: &str, unit: &Unit, case: &Case) {
    let levels: Vec<Level> = Level::available().collect();
    let compared = case.compare(name, unit, &levels);
    compared.unwrap_or_else(|failure| panic!("{failure}"));
}

pub(super) fn unit(arch: &str, inst: &str) -> &'static Unit {
    let row = Catalogue::built_in().find(arch, inst);
    row.and_then(|row| row.unit())
        .unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn own(signature: &str, program: &str) -> Unit {
    Unit::new(
        signature.parse().expect("a signature"),
        program.parse().expect("a program"),
    )
    .expect("a unit")
}

const UNITS: [(&str, &str); 6] = [
    ("hopper", "wgmma.m64n8k16.f32.f16.f16"),
    ("hopper", "wgmma.m64n8k16.f16.f16.f16"),
    ("cdna3", "v_mfma_f32_16x16x32_fp8_fp8"),
    (
        "rtx-blackwell",
        "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0",
    ),
    ("ampere", "mma.m8n8k4.f64.f64.f64.f64"),
    ("cdna2", "v_mfma_f32_32x32x4bf16_1k"),
];

#[test]
fn modifiers() {
    let words: [&[&str]; 7] = [
        &["negA"],
        &["negB"],
        &["negC"],
        &["noC"],
        &["negA", "negB", "negC"],
        &["scaleD=-3"],
        &["scaleD=-15", "negA"],
    ];
    for (arch, inst) in UNITS {
        for (number, words) in words.iter().enumerate() {
            let mut modifiers = Modifiers::default();
            for word in *words {
                modifiers.add(word).expect("a modifier");
            }
            for start in STARTS {
                let elements = ELEMENTS[number % ELEMENTS.len()];
                let case = Case {
                    modifiers,
                    ..Case::plain([3, 35, 2], [elements; 2], start, 77)
                };
                compare(inst, unit(arch, inst), &case);
            }
        }
    }
}

#[test]
fn regions_and_steps_in_several_calls() {
    for (arch, inst) in UNITS {
        let unit = unit(arch, inst);
        let matrices = matrices(unit, [70, 71, 6], [Elements::Sprinkled; 2], Start::Usual, 5);
        let expected = by_dots(unit, &matrices, &Modifiers::default());
        for level in Level::available() {
            let kernel = Kernel::at_level(unit, level).expect("a kernel");
            let product = by_kernel(unit, &matrices, Modifiers::default(), Some(kernel));
            for (rows, columns) in [(0..70, 0..71), (3..66, 5..37), (69..70, 31..33)] {
                let region = Region {
                    batch: 0..1,
                    rows: rows.clone(),
                    columns: columns.clone(),
                };
                let mut sums = product.c(region).expect("memory");
                for (steps, first) in [(0..1, true), (1..4, false), (4..6, false)] {
                    product
                        .advance(steps, first, &mut sums, &watch())
                        .expect("steps");
                }
                let expected = &expected;
                let inside: Vec<u64> = rows
                    .flat_map(|i| columns.clone().map(move |j| expected[i * 71 + j]))
                    .collect();
                assert_eq!(*sums.words(), inside, "{inst} at {level}");
            }
        }
    }
}

/// Every kernel under every number of threads, whole and in tiles, against the oracle.
#[test]
fn threads_and_tiles() {
    let more = [
        ("cdna1", "v_mfma_f32_32x32x4_bf16"),
        (
            "blackwell",
            "tcgen05.mma.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
        ),
    ];
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        pool.install(|| {
            for (arch, inst) in UNITS.into_iter().chain(more) {
                for (plan, pieces) in [
                    (Plan::Chain, None),
                    (Plan::StreamK, None),
                    (Plan::SplitPairwise, None),
                    (Plan::Chain, Some(0)),
                    (Plan::StreamK, Some(0)),
                ] {
                    let case = Case {
                        plan,
                        pieces,
                        ..Case::plain([70, 71, 3], [Elements::Wide; 2], Start::Near, 9)
                    };
                    compare(inst, unit(arch, inst), &case);
                }
            }
        });
    }
}

/// Products whose operands, packed as a whole, would take more memory than is allowed: they are packed a
/// piece at a time, and what c is done to happens once.
#[test]
fn a_long_k_in_pieces() {
    let long = [
        ("hopper", "wgmma.m64n8k16.f32.f16.f16", 4000),
        ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3", 2000),
        ("ampere", "mma.m8n8k4.f64.f64.f64.f64", 25000),
        (
            "blackwell",
            "tcgen05.mma.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
            3000,
        ),
    ];
    for (arch, inst, steps) in long {
        let unit = unit(arch, inst);
        let shape = [2, 3, steps];
        let operands = matrices(unit, shape, [Elements::Wide; 2], Start::Near, 3);
        let product = Product::new(unit, &operands, Modifiers::default()).expect("operands");
        assert!(!product.is_packed(), "{inst}");
        for plan in [Plan::Chain, Plan::StreamK, Plan::Promote] {
            let mut case = Case {
                plan,
                ..Case::plain(shape, [Elements::Wide; 2], Start::Near, 3)
            };
            case.modifiers.negate_a = true;
            case.modifiers.negate_c = plan == Plan::Chain;
            compare(inst, unit, &case);
        }
    }
}

/// Two products with an A of their own and with one A for both, as a whole and in pieces.
#[test]
fn batches_and_threads() {
    let scaled = "tcgen05.mma.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3";
    for (arch, inst) in [
        ("hopper", "wgmma.m64n8k16.f32.f16.f16"),
        ("blackwell", scaled),
    ] {
        let unit = unit(arch, inst);
        let one = |seed| matrices(unit, [17, 33, 3], [Elements::Wide; 2], Start::None, seed);
        let pair = [one(1), one(2)];
        let stacked = |first: &Matrix, second: &Matrix| {
            let bits = if unit.signature().scale.is_some() {
                8
            } else {
                16
            };
            let all = first.iter().chain(second.iter());
            let mut words =
                Words::filled(bits, 2 * first.rows() * first.columns(), 0).expect("memory");
            all.enumerate().for_each(|(at, word)| words.set(at, word));
            Matrix::batched(2, first.rows(), first.columns(), words).expect("a batch")
        };
        let joined = |a: Matrix, b: Matrix, scales: Option<(Matrix, Matrix)>| {
            let matrices = Matrices::new(a, b).expect("shapes");
            match scales {
                Some((a, b)) => matrices.with_scales(a, b).expect("scales"),
                None => matrices,
            }
        };
        let scales = |index: usize| pair[index].scale_a().zip(pair[index].scale_b());
        // A of the first product: for both, or its own for the second.
        for shared in [true, false] {
            let other = usize::from(!shared);
            let apart = joined(
                pair[other].a().clone(),
                pair[1].b().clone(),
                scales(1)
                    .map(|(_, b)| (pair[other].scale_a().expect("a scale").clone(), b.clone())),
            );
            let a = match shared {
                true => pair[0].a().clone(),
                false => stacked(pair[0].a(), pair[1].a()),
            };
            let both = scales(0).zip(scales(1)).map(|((a0, b0), (a1, b1))| {
                let a = if shared { a0.clone() } else { stacked(a0, a1) };
                (a, stacked(b0, b1))
            });
            let batch = joined(a, stacked(pair[0].b(), pair[1].b()), both);
            let mut expected = by_dots(unit, &pair[0].clone().without_c(), &Modifiers::default());
            expected.extend(by_dots(unit, &apart, &Modifiers::default()));
            for (threads, pieces) in [(1, None), (2, None), (5, None), (1, Some(0)), (5, Some(0))] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let kernel = Kernel::at_level(unit, Level::available().last().expect("one")).ok();
                let got = pool.expect("threads").install(|| {
                    let product = by_kernel(unit, &batch, Modifiers::default(), kernel);
                    let product = match pieces {
                        Some(bytes) => product.in_pieces(bytes),
                        None => product,
                    };
                    let mut sums = product.c(product.whole()).expect("memory");
                    product
                        .advance(0..3, true, &mut sums, &watch())
                        .expect("steps");
                    sums.into_words()
                });
                assert_eq!(
                    got, expected,
                    "{inst}, {threads} threads, {pieces:?}, {shared}"
                );
            }
        }
    }
}
