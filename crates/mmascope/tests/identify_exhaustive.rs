//! `identify`, which asks few elements, gives the answer of computing every element for every candidate; excerpts of products
//! have the words of the whole ones.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use mmascope::array::{Array, Element, Words};
use mmascope::cases::philox;
use mmascope::dpa::{Modifiers, Unit};
use mmascope::format::Format;
use mmascope::gemm::{Arrays, Excerpt, Matrices, Matrix, Product, Schedule, SoftwareScales, Watch};
use mmascope::identify::{Factors, Question, exhaustive, identify};
use mmascope::isa::Catalogue;

static GO: AtomicBool = AtomicBool::new(false);

const WATCH: Watch<'static> = Watch {
    progress: &|_| (),
    cancel: &GO,
};

fn drawn(seed: u32, index: usize) -> [u32; 4] {
    philox([index as u32, 0, 0, 0], [seed, 17])
}

/// Words of a format: floats from 1/8 to 16, integers of any size, of both signs.
fn words(format: &Format, seed: u32, count: usize) -> Vec<u64> {
    let word = |index| {
        let [x, y, z, _] = drawn(seed, index);
        let code = match format.float() {
            Some(float) => {
                let exponent = (float.bias as u64).saturating_sub(3) + u64::from(x % 7);
                let fraction = u64::from(y) & ((1 << float.fraction_bits) - 1);
                let sign = u64::from(z & 1) << (format.bits - 1);
                sign | exponent << float.fraction_bits | fraction
            }
            None => u64::from(x) & format.mask(),
        };
        format.to_register(code)
    };
    (0..count).map(word).collect()
}

fn matrix(format: &Format, rows: usize, columns: usize, words: &[u64]) -> Matrix {
    let words = Words::of(format, words.iter().copied()).expect("words");
    Matrix::row_major(rows, columns, words).expect("a matrix")
}

/// Numbers where the format is a float of at least 16 bits, else codes.
fn array(format: &Format, shape: [usize; 2], words: &[u64]) -> Array {
    let size = (format.register.bits as usize).div_ceil(8);
    let bytes = words
        .iter()
        .flat_map(|word| word.to_le_bytes().into_iter().take(size))
        .collect();
    let element = match format.float() {
        Some(_) if format.bits >= 16 => Element::Number(format.container()),
        _ if size == 1 => Element::Opaque(1),
        _ => Element::Signed(size),
    };
    Array::new("matrix", &shape, element, bytes).expect("an array")
}

/// D of a unit and a schedule, by the reference.
fn product(unit: &Unit, text: &str, [m, n, k]: [usize; 3]) -> (Array, Array, Vec<u64>, Format) {
    let schedule: Schedule = text.parse().expect("a schedule");
    let signature = unit.signature();
    let (a, b) = (words(&signature.a, 1, m * k), words(&signature.b, 2, k * n));
    let matrices = Matrices::new(
        matrix(&signature.a, m, k, &a),
        matrix(&signature.b, k, n, &b),
    );
    let matrices = matrices.expect("matrices").padded(signature).expect("K");
    let product = Product::by_reference(unit, &matrices, Modifiers::default()).expect("a product");
    let d = schedule.run(&product, None, &WATCH).expect("D").to_vec();
    (
        array(&signature.a, [m, k], &a),
        array(&signature.b, [k, n], &b),
        d,
        schedule.format(unit),
    )
}

/// Both answers: of `identify`, and of the exhaustive way.
fn answers(
    catalogue: &Catalogue,
    a: &Array,
    b: &Array,
    d: &Array,
) -> [BTreeSet<(String, String)>; 2] {
    let question = Question {
        operands: Arrays {
            a,
            b,
            c: None,
            scale_a: None,
            scale_b: None,
            transpose_a: false,
            transpose_b: false,
        },
        d,
        factors: Factors::default(),
    };
    let found = identify(catalogue, &question, &GO, &|_| ()).expect("an answer");
    let quick = found
        .identified()
        .map(|candidate| (candidate.rows[0].clone(), candidate.schedule.clone()));
    let slow = exhaustive(catalogue, &question, &GO).expect("an answer");
    [quick.collect(), slow.into_iter().collect()]
}

/// Asks in both ways for a product, and for the same with one bit of one element altered.
fn compare(catalogue: &Catalogue, arch: &str, inst: &str, schedule: &str, shape: [usize; 3]) {
    let name = format!("{arch}:{inst}");
    let unit = catalogue.find(arch, inst).expect("a row");
    let unit = unit.unit().expect("a unit");
    let (a, b, mut d, format) = product(unit, schedule, shape);
    let [m, n, _] = shape;
    let given = array(&format, [m, n], &d);
    let [quick, slow] = answers(catalogue, &a, &b, &given);
    println!("{name} {schedule}: {} answers", slow.len());
    let parse = |text: &str| text.parse::<Schedule>().expect("a schedule");
    let is_it = |(_, own): &(String, String)| parse(own) == parse(schedule);
    assert!(slow.iter().any(is_it), "{name} {schedule}: {slow:?}");
    assert_eq!(quick, slow, "{name} {schedule}");
    let [x, ..] = drawn(99, m * n);
    d[x as usize % (m * n)] ^= 1;
    let [quick, slow] = answers(catalogue, &a, &b, &array(&format, [m, n], &d));
    assert_eq!(quick, slow, "{name} {schedule}, altered");
    let is_it = |(row, own): &(String, String)| *row == name && parse(own) == parse(schedule);
    assert!(!quick.iter().any(is_it), "{name} {schedule}: {quick:?}");
}

/// Every row of the catalogue, on small matrices.
#[test]
fn the_answer_is_that_of_computing_everything() {
    for (arch, inst, schedule, shape) in [
        (
            "hopper",
            "wgmma.m64n8k16.f32.f16.f16",
            "split-k=3 reduce=descending/f32",
            [4, 7, 48],
        ),
        (
            "cdna3",
            "v_mfma_f32_32x32x8_f16",
            "order=stride/2; out=rne f16",
            [5, 4, 32],
        ),
        (
            "hopper",
            "wgmma.m64n8k32.f32.e4m3.e4m3",
            "chain",
            [5, 6, 40],
        ),
        (
            "ampere",
            "mma.m16n8k32.s32.s8.s8.s32",
            "order=descending",
            [6, 4, 64],
        ),
    ] {
        compare(Catalogue::built_in(), arch, inst, schedule, shape);
    }
}

/// Rows that differ in little, on matrices of several tiles and far more elements than candidates are asked for.
#[test]
fn the_answer_is_that_of_computing_everything_of_larger_matrices() {
    const ROWS: &str = "arch near
title units that differ in little

bits24  | f16 x f16 + f32 -> f32 | m8n8k8 | fused L=8 F=24 -> rz f32 | open
bits25  | f16 x f16 + f32 -> f32 | m8n8k8 | fused L=8 F=25 -> rz f32 | open
nearest | f16 x f16 + f32 -> f32 | m8n8k8 | fused L=8 F=24 align=rne -> rne f32 | open
pairs   | f16 x f16 + f32 -> f32 | m8n8k8 | fused L=2 F=24 -> rz f32 | open
exact   | f16 x f16 + f32 -> f32 | m8n8k8 | fused L=8 F=exact -> rne f32 | open
half    | f16 x f16 + f16 -> f16 | m8n8k8 | fused L=8 F=24 -> rne f16 | open
";
    let mut catalogue = Catalogue::empty();
    catalogue.extend("near.txt", ROWS).expect("a catalogue");
    for (inst, schedule) in [
        ("bits25", "chain"),
        ("nearest", "promote=4/f32"),
        ("half", "order=stride/2; split-k=2 reduce=pairwise/f16"),
        (
            "pairs",
            "stream-k=4 tile=64x64 iteration=8 reduce=ascending/f32",
        ),
        (
            "bits24",
            "stream-k=2 tile=64x128 iteration=4 reduce=ascending/f32",
        ),
    ] {
        compare(&catalogue, "near", inst, schedule, [150, 12, 128]);
    }
}

/// Excerpts of random rows and columns, under schedules of every kind, beside whole products of the reference.
#[test]
fn excerpts_have_the_words_of_whole_products() {
    let schedules: Vec<Schedule> = [
        "chain",
        "order=descending",
        "order=stride/3",
        "order=blocks/2,0,1",
        "promote=2/f32",
        "order=stride/2; promote=3/f32",
        "split-k=5 reduce=pairwise/f32",
        "order=stride/4; split-k=4 reduce=descending/f32; out=rne bf16",
        "stream-k=7 tile=16x8 iteration=2 reduce=ascending/f32",
        "order=descending; stream-k=5 tile=8x32 iteration=1 reduce=pairwise/f32",
        "split-k=2 reduce=ascending/f32; c=epilogue/f32 alpha=0.5 beta=-2",
    ]
    .iter()
    .map(|text| text.parse().expect("a schedule"))
    .collect();
    let [m, n, steps] = [37, 41, 10];
    for (arch, inst) in [
        ("hopper", "mma.m16n8k16.f32.f16.f16.f32"),
        ("cdna3", "v_mfma_f32_32x32x8_f16"),
        ("arm", "fmopa.f32.f16"),
        ("ampere", "mma.m16n8k8.f32.tf32.tf32.f32"),
        (
            "blackwell",
            "tcgen05.mma.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0",
        ),
    ] {
        let Ok(row) = Catalogue::built_in().find(arch, inst) else {
            panic!("{arch}:{inst}");
        };
        let unit = row.unit().expect("a unit");
        let signature = unit.signature();
        let k = signature.k * steps;
        let [a, b] = [(&signature.a, m * k), (&signature.b, k * n)]
            .map(|(format, count)| words(format, 3, count));
        let c = words(&signature.c, 4, m * n);
        let scales: Option<(usize, Vec<u64>, Vec<u64>)> = signature.scale.map(|scale| {
            let blocks = k / scale.block;
            let words = |seed, count: usize| -> Vec<u64> {
                let word = |index| u64::from(120 + drawn(seed, index)[0] % 9);
                (0..count).map(word).collect()
            };
            (blocks, words(5, m * blocks), words(6, blocks * n))
        });
        let made = |rows: &[usize], columns: &[usize]| {
            let some =
                |words: &[u64], width: usize, rows: &[usize], columns: &[usize]| -> Vec<u64> {
                    let places = rows
                        .iter()
                        .flat_map(|i| columns.iter().map(move |j| i * width + j));
                    places.map(|at| words[at]).collect()
                };
            let all: Vec<usize> = (0..k).collect();
            let matrices = Matrices::new(
                matrix(&signature.a, rows.len(), k, &some(&a, k, rows, &all)),
                matrix(&signature.b, k, columns.len(), &some(&b, n, &all, columns)),
            );
            let own = some(&c, n, rows, columns);
            let c = matrix(&signature.c, rows.len(), columns.len(), &own);
            let matrices = matrices.and_then(|matrices| matrices.with_c(c));
            let matrices = matrices.expect("matrices");
            let (Some((blocks, of_a, of_b)), Some(scale)) = (&scales, signature.scale) else {
                return matrices;
            };
            let all: Vec<usize> = (0..*blocks).collect();
            let of_a = some(of_a, *blocks, rows, &all);
            let of_b = some(of_b, n, &all, columns);
            let with = matrices.with_scales(
                matrix(&scale.format, rows.len(), *blocks, &of_a),
                matrix(&scale.format, *blocks, columns.len(), &of_b),
            );
            with.expect("scales")
        };
        let all = |count: usize| (0..count).collect::<Vec<usize>>();
        let whole = made(&all(m), &all(n));
        let product = Product::by_reference(unit, &whole, Modifiers::default()).expect("a product");
        let some = |seed, length: usize| -> Vec<usize> {
            (0..length)
                .filter(|&index| drawn(seed, index)[1].is_multiple_of(5))
                .collect()
        };
        let (rows, columns) = (some(7, m), some(8, n));
        let excerpt = Excerpt::new([m, n], rows.clone(), columns.clone()).expect("an excerpt");
        let small = made(&rows, &columns);
        let found = excerpt.words(unit, &small, &schedules, None, &WATCH);
        let found = found.expect("words");
        let check = |schedule: &Schedule, found: &[u64], scales: Option<&SoftwareScales>| {
            let d = schedule.run(&product, scales, &WATCH).expect("D");
            let places = rows
                .iter()
                .flat_map(|i| columns.iter().map(move |j| i * n + j));
            let wanted: Vec<u64> = places.map(|at| d.get(at)).collect();
            assert_eq!(found, wanted, "{arch}:{inst} {schedule}");
        };
        for (schedule, found) in schedules.iter().zip(&found) {
            check(schedule, found, None);
        }
        if signature.scale.is_some() {
            continue;
        }
        // Scales of a kernel: of 8 rows, 5 columns and 4 steps.
        let schedule: Schedule = "promote=4/f32 scale=8x5".parse().expect("a schedule");
        let scale = |seed, rows: usize, columns: usize| {
            let word = |index| u64::from(0x3f00_0000 | drawn(seed, index)[0] >> 9);
            let words: Vec<u64> = (0..rows * columns).map(word).collect();
            matrix(&mmascope::format::F32, rows, columns, &words)
        };
        let scales = SoftwareScales {
            a: scale(9, m.div_ceil(8), 3),
            b: scale(10, 3, n.div_ceil(5)),
        };
        let some = [schedule];
        let found = excerpt.words(unit, &small, &some, Some(&scales), &WATCH);
        check(&some[0], &found.expect("words")[0], Some(&scales));
    }
}

/// Impossible excerpts are refused.
#[test]
fn excerpts_lie_within_their_products() {
    for (rows, columns) in [
        (vec![], vec![0]),
        (vec![1, 1], vec![0]),
        (vec![2, 1], vec![0]),
        (vec![0], vec![4]),
    ] {
        assert!(Excerpt::new([3, 4], rows.clone(), columns.clone()).is_err());
    }
    assert!(Excerpt::new([3, 4], vec![0, 2], vec![3]).is_ok());
}
