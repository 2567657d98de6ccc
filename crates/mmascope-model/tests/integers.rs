//! Every integer row against plain integers: random operands, extremes, and all pairs of 8 bits at the accumulator's ends.

#[allow(dead_code, reason = "the random numbers alone are used")]
mod inputs;

use inputs::{KINDS, Random, operands};
use mmascope_model::dpa::{Beyond, Dpa, IntPair, Modifiers, Operands, Operation, Unit};
use mmascope_model::format::Format;
use mmascope_model::isa::{Catalogue, Instruction};

/// The rows whose sums are integers.
fn rows() -> Vec<(&'static Instruction, &'static Unit)> {
    let all = Catalogue::built_in().instructions();
    let known = all.filter_map(|row| Some((row, row.unit().ok()?)));
    known
        .filter(|(_, unit)| unit.program().sums_integers())
        .collect()
}

/// Two's complement, written without the library's decoder.
fn value(format: &Format, word: u64) -> i128 {
    let shift = 128 - format.bits;
    match format.signed {
        true => ((u128::from(word) << shift) as i128) >> shift,
        false => ((u128::from(word) << shift) >> shift) as i128,
    }
}

/// What the name says: `satfinite`, `clamp`, and the vendors' suffixes saturate, all others wrap; `xor` counts differing bits.
fn expected(row: &Instruction, unit: &Unit, a: &[u64], b: &[u64], c: u64) -> u64 {
    let signature = unit.signature();
    let name = &row.name;
    let intel = name.starts_with("vpdp") && name.ends_with('s') && !name.ends_with("ss");
    let intel = intel || name == "vpdpwssds" || name == "vpdpbssds";
    let saturates =
        name.contains("satfinite") || name.contains("clamp") || name.ends_with("spp") || intel;
    let terms = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| match name.contains(".xor.") {
            true => i128::from(a != b),
            false => value(&signature.a, a) * value(&signature.b, b),
        });
    let sum = value(&signature.c, c) + terms.sum::<i128>();
    let (bits, signed) = (signature.d.bits, signature.d.signed);
    let most = (1_i128 << (bits - u32::from(signed))) - 1;
    let least = if signed { -most - 1 } else { 0 };
    let kept = match saturates {
        true if sum > most => most,
        true if sum < least => least,
        _ => sum,
    };
    (kept as u128 & ((1 << bits) - 1)) as u64
}

fn compare(row: &Instruction, unit: &Unit, a: &[u64], b: &[u64], c: u64) {
    let operands = Operands {
        a,
        b,
        c,
        ..Operands::default()
    };
    let got = unit.dot(&operands, &Modifiers::default()).expect("fits");
    let wanted = expected(row, unit, a, b, c);
    assert_eq!(
        got, wanted,
        "{} {}: a={a:x?} b={b:x?} c={c:x}",
        row.architecture, row.name
    );
}

fn extremes(format: &Format) -> [u64; 5] {
    let ones = u64::MAX >> (64 - format.bits);
    [0, 1, ones, ones >> 1, (ones >> 1) + 1]
}

#[test]
fn random_operands_and_extremes() {
    let mut random = Random::seeded("integers", 1);
    let rows = rows();
    assert!(rows.len() > 250, "{} rows", rows.len());
    for (row, unit) in rows {
        let signature = unit.signature();
        for kind in KINDS {
            let case = operands(signature, kind, &mut random);
            compare(row, unit, &case.a, &case.b, case.c);
        }
        for trial in 0..200 {
            let mut word = |format: &Format| match trial % 4 {
                0 => random.bits() & (u64::MAX >> (64 - format.bits)),
                1 => extremes(format)[random.below(5) as usize],
                2 => extremes(format)[3 + random.below(2) as usize],
                _ => extremes(format)[2 + random.below(2) as usize],
            };
            let a: Vec<u64> = (0..signature.k).map(|_| word(&signature.a)).collect();
            let b: Vec<u64> = (0..signature.k).map(|_| word(&signature.b)).collect();
            compare(row, unit, &a, &b, word(&signature.c));
        }
    }
}

#[test]
fn all_pairs_of_eight_bits_at_the_ends_of_the_accumulator() {
    let mut seen: Vec<&Unit> = Vec::new();
    for (row, unit) in rows() {
        let signature = unit.signature();
        if (signature.a.bits, signature.b.bits) != (8, 8) || seen.contains(&unit) {
            continue;
        }
        seen.push(unit);
        let (mut a, mut b) = (vec![0; signature.k], vec![0; signature.k]);
        for x in 0..=255 {
            for y in 0..=255 {
                let place = (x as usize * 7 + y as usize) % signature.k;
                (a[place], b[place]) = (x, y);
                for c in extremes(&signature.c) {
                    compare(row, unit, &a, &b, c);
                }
                (a[place], b[place]) = (0, 0);
            }
        }
    }
    assert!(seen.len() >= 20, "{} units", seen.len());
}

/// That names and parameters mean the same: the rows of the other test are told apart by their names.
#[test]
fn names_say_what_parameters_do() {
    for (row, unit) in rows() {
        let Operation::Dot { algorithm, .. } = &unit.program().statements[0].operation else {
            panic!("no sum");
        };
        let Dpa::IntDot(step) = algorithm else {
            panic!("another step");
        };
        assert_eq!(step.l as usize, unit.signature().k, "{}", row.name);
        assert_eq!(step.pair == IntPair::Differ, row.name.contains(".xor."));
        if row.name.contains("satfinite") {
            assert_eq!(step.beyond, Beyond::Saturates, "{}", row.name);
        }
    }
}
