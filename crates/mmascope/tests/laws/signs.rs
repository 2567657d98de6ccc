//! d(−a, −c) = −d where every rounding treats both signs alike; a witness where not.

use mmascope::format::Class;
use rayon::prelude::*;

use super::operands::{Case, negated};
use super::rows::{Row, for_every_row, is_symmetric, modelled, row, witness};

fn opposite(row: &Row, case: &Case) -> Case {
    let signature = row.signature();
    let mut other = case.clone();
    for word in &mut other.a {
        *word = negated(&signature.a, *word);
    }
    other.c = negated(&signature.c, case.c);
    other
}

/// Whether the results are opposite; the signs of zeros and NaNs are left out.
fn are_opposite(row: &Row, d: u64, other: u64) -> bool {
    let format = row.signature().d;
    let class = |word| format.decode(format.from_register(word)).class;
    match (class(d), class(other)) {
        (Class::Zero, Class::Zero) | (Class::Nan, Class::Nan) => true,
        _ => other == negated(&format, d),
    }
}

#[test]
fn symmetric_rows_are_odd_functions() {
    let symmetric = modelled()
        .iter()
        .filter(|r| is_symmetric(r.program()))
        .count();
    assert!(symmetric > 500, "{symmetric}");
    for_every_row(20, 15, |row, case, kind, _| {
        if !is_symmetric(row.program()) {
            return;
        }
        let (d, other) = (case.run(&row.unit), opposite(row, case).run(&row.unit));
        let message = || format!("{} {kind:?} {d:x} {other:x} {case:?}", row.name);
        assert!(are_opposite(row, d, other), "{}", message());
    });
}

#[test]
fn rows_that_round_down_are_not() {
    let rows: Vec<Row> = modelled()
        .into_iter()
        .filter(|row| !is_symmetric(row.program()))
        .collect();
    assert!(rows.len() > 20, "{}", rows.len());
    let odd: Vec<&str> = rows
        .par_iter()
        .filter(|row| {
            let found = witness(row, 21, |case, _| {
                let (d, other) = (case.run(&row.unit), opposite(row, case).run(&row.unit));
                !are_opposite(row, d, other)
            });
            found.is_none()
        })
        .map(|row| &*row.name)
        .collect();
    assert!(odd.is_empty(), "no witness for {odd:#?}");
}

/// 2048·2048 − 2048·2048 − 1e-6 is −0.25 on CDNA3, and +1e-6 is lost: the floor is toward −∞.
#[test]
fn the_published_asymmetry_of_cdna3() {
    let row = row("cdna3", "v_mfma_f32_32x32x8_f16");
    let mut case = Case {
        a: vec![0x6800, 0xe800, 0, 0, 0, 0, 0, 0],
        b: vec![0x6800, 0x6800, 0, 0, 0, 0, 0, 0],
        c: 0xb586_37bd,
        scale_a: Vec::new(),
        scale_b: Vec::new(),
    };
    assert_eq!(case.run(&row.unit), 0xbe80_0000);
    case.c ^= 0x8000_0000;
    assert_eq!(case.run(&row.unit), 0);
}

/// The sum is floored to F2 = 31 bits before it is rounded: ±(1 + 2^-23 + 2^-24 − 2^-32) lies just
/// inside a tie; the negative one is floored onto it and goes to even, the positive one is not.
#[test]
fn the_second_floor_of_cdna3() {
    let row = row("cdna3", "v_mfma_f32_32x32x8_f16");
    let d = |c: u64, a: u64| {
        let case = Case {
            a: vec![a, 0, 0, 0, 0, 0, 0, 0], // 255/256
            b: vec![0x0001; 8],              // 2^-24
            c,
            scale_a: Vec::new(),
            scale_b: Vec::new(),
        };
        case.run(&row.unit)
    };
    assert_eq!(d(0x3f80_0001, 0x3bf8), 0x3f80_0001);
    assert_eq!(d(0xbf80_0001, 0xbbf8), 0xbf80_0002);
}
