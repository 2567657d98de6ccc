//! Sums of integers at every level against the reference: every different unit, numbers at the ends of operands and
//! accumulators, so that sums wrap and saturate in the middle of K.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mmascope::array::Words;
use mmascope::cases::philox;
use mmascope::cpu::{Kernel, Level};
use mmascope::dpa::{Modifiers, Unit};
use mmascope::format::Format;
use mmascope::gemm::{Matrices, Matrix, Product, Watch};
use mmascope::isa::Catalogue;

static GO: AtomicBool = AtomicBool::new(false);

/// Any code; in some matrices mostly the ends of the format, so that all products have one sign.
fn words(format: &Format, count: usize, seed: u32, kind: u32) -> Vec<u64> {
    let top = 1_u64 << (format.bits - 1);
    let word = |index: usize| {
        let [x, y, z, _] = philox([index as u32, 0, 0, 0], [seed, 8]);
        let any = u64::from(x) << 32 | u64::from(y);
        let code = match (kind, z & 15) {
            (0, _) | (_, 0) => any,
            // Near the largest number, or near the smallest.
            (1, _) => (top - 1).wrapping_sub(any & 3),
            (2, _) => top + (any & 3),
            (_, 1..=6) => top - 1,
            (_, 7..=12) => top,
            _ => any,
        };
        format.to_register(code & format.mask())
    };
    (0..count).map(word).collect()
}

fn matrix(rows: usize, columns: usize, format: &Format, words: Vec<u64>) -> Matrix {
    let words = Words::of(format, words).expect("words");
    Matrix::row_major(rows, columns, words).expect("a matrix")
}

fn run(product: Product<'_>) -> Vec<u64> {
    let watch = Watch {
        progress: &|_| (),
        cancel: &GO,
    };
    let mut sums = product.c(product.whole()).expect("memory");
    // In two parts, so that sums go on.
    let steps = product.steps();
    product
        .advance(0..steps.div_ceil(2), true, &mut sums, &watch)
        .expect("steps");
    product
        .advance(steps.div_ceil(2)..steps, false, &mut sums, &watch)
        .expect("steps");
    sums.into_words().to_vec()
}

/// Outputs compared, and those that are an end of the accumulator.
fn compare(
    name: &str,
    unit: &Unit,
    [m, n, steps]: [usize; 3],
    kind: u32,
    modifiers: Modifiers,
) -> [usize; 2] {
    let signature = unit.signature();
    let k = steps * signature.k;
    let seed = kind * 100 + steps as u32;
    let matrices = Matrices::new(
        matrix(m, k, &signature.a, words(&signature.a, m * k, seed, kind)),
        matrix(
            k,
            n,
            &signature.b,
            words(&signature.b, k * n, seed + 1, kind % 3),
        ),
    )
    .and_then(|matrices| {
        let c = words(&signature.c, m * n, seed + 2, kind);
        matrices.with_c(matrix(m, n, &signature.c, c))
    })
    .expect("matrices");
    let reference = Product::by_reference(unit, &matrices, modifiers).expect("a product");
    let wanted = run(reference);
    for level in Level::available() {
        let kernel =
            Kernel::at_level(unit, level).unwrap_or_else(|reason| panic!("{name}: {reason}"));
        let whole =
            Product::with_plan(unit, &matrices, modifiers, Arc::new(kernel)).expect("a product");
        for product in [whole.clone(), whole.in_pieces(1)] {
            let got = run(product);
            let differs = (0..got.len()).find(|&index| got[index] != wanted[index]);
            assert_eq!(
                differs.map(|index| (index, got[index], wanted[index])),
                None,
                "{name} {level} {m}x{n}x{k} kind {kind}"
            );
        }
    }
    let ends = wanted
        .iter()
        .filter(|word| matches!(**word, 0x7fff_ffff | 0x8000_0000));
    [m * n, ends.count()]
}

#[test]
fn every_unit_of_integers_has_the_bits_of_the_reference() {
    let mut seen: Vec<&Unit> = Vec::new();
    let (mut outputs, mut ends) = (0, 0);
    for row in Catalogue::built_in().instructions() {
        let Ok(unit) = row.unit() else { continue };
        let signature = unit.signature();
        if !unit.program().sums_integers() || seen.contains(&unit) {
            continue;
        }
        let is_bits = unit.program().to_string().contains("pair=differ");
        if signature.a.bits > 8 || signature.b.bits > 8 || signature.d.bits != 32 || is_bits {
            let reason = Kernel::at_level(unit, Level::Scalar).expect_err("no kernel");
            assert!(
                reason.to_string().contains("integer") || is_bits,
                "{reason}"
            );
            continue;
        }
        seen.push(unit);
        for kind in 0..4 {
            // As many steps as make several chunks of K, and edges of blocks and panels.
            let long = (700 / signature.k).max(2);
            for (shape, no_c) in [
                ([7, 67, 2], false),
                ([13, 18, long], false),
                ([5, 65, 3], true),
            ] {
                let modifiers = Modifiers {
                    no_c,
                    ..Modifiers::default()
                };
                let [compared, at_ends] = compare(&row.name, unit, shape, kind, modifiers);
                outputs += compared;
                ends += at_ends;
            }
        }
    }
    println!(
        "{} units, {outputs} outputs, {ends} at the ends of the accumulator",
        seen.len()
    );
    assert!(
        seen.len() >= 40 && ends > 1000,
        "{} units, {ends} ends",
        seen.len()
    );
}

/// Negated operands are computed by the reference, which says what they are.
#[test]
fn negated_integers_are_those_of_the_reference() {
    let unit = Catalogue::built_in().find("ampere", "mma.m16n8k32.s32.s8.s8.s32");
    let unit = unit.and_then(|row| row.unit()).expect("a unit");
    let negated = Modifiers {
        negate_a: true,
        ..Modifiers::default()
    };
    compare("negA", unit, [7, 20, 2], 3, negated);
}
