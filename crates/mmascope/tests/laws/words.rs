//! The law of words: the bits that a result may have, and the operand bits that are ignored.

use mmascope::dpa::Nan;
use mmascope::format::{BF16, Class, E8M13, F16, F32, F64, Format, TF32};

use super::operands::{Case, Kind};
use super::rows::{for_every_row, has_specials, modelled};

#[test]
fn results_fit_their_word_and_their_format() {
    for_every_row(50, 10, |row, case, kind, _| {
        let d = case.run(&row.unit);
        let container = row.signature().d.container();
        assert_eq!(d & !container.mask(), 0, "{} {kind:?} {d:x}", row.name);
        let output = row.program().output();
        if output.format == E8M13 && container.decode(d).class != Class::Nan {
            assert_eq!(d & 0x3ff, 0, "{} {kind:?} {d:x} {case:?}", row.name);
        }
    });
    let narrow = modelled()
        .iter()
        .filter(|row| row.program().output().format == E8M13)
        .count();
    assert!(narrow > 5, "{narrow} rows with e8m13 results");
}

/// Every NaN result of a row is one word: the one it states, or the default quiet NaN.
#[test]
fn a_nan_result_is_one_word() {
    for_every_row(51, 6, |row, case, _, random| {
        if !has_specials(row.program()) {
            return; // No operand is a NaN.
        }
        let signature = row.signature();
        let mut poisoned = case.clone();
        let k = random.below(signature.k);
        match (signature.a.nan(), random.below(2)) {
            (Some(nan), 0) => poisoned.a[k] = signature.a.to_register(nan),
            _ => {
                poisoned.c = signature
                    .c
                    .to_register(signature.c.nan().expect("c has a NaN"))
            }
        }
        let d = poisoned.run(&row.unit);
        let quiet = |format: Format| match format {
            F32 => 0x7fc0_0000,
            F16 => 0x7e00,
            BF16 => 0x7fc0,
            F64 => 0x7ff8_0000_0000_0000,
            other => panic!("{}: a {other} result", row.name),
        };
        let is_nvidia = row.name.contains("mma.") && row.program().nan_is_known();
        let expected = match (row.signature().d.container(), row.program().output().nan) {
            // The NaN of an operand, which the words of `show` are tested to say.
            (_, Nan::Operand(_)) => return assert!(row.unit.is_nan(d)),
            (F32, Nan::Word(_)) if is_nvidia => 0x7fff_ffff,
            (F16, Nan::Word(_)) if is_nvidia => 0x7fff,
            (other, _) => quiet(other),
        };
        assert_eq!(d, expected, "{} {poisoned:?}", row.name);
        assert!(row.unit.is_nan(d));
    });
}

#[test]
fn the_low_bits_of_tf32_words_are_ignored() {
    let mut rows = 0;
    for row in modelled() {
        let signature = *row.signature();
        if signature.a != TF32 {
            continue;
        }
        rows += 1;
        let mut random = super::operands::Random::seeded(&row.name, 52);
        for kind in [Kind::Uniform, Kind::Clustered, Kind::Tiny] {
            for _ in 0..50 {
                let case = Case::random(&signature, kind, &mut random);
                let mut cleared = case.clone();
                let words = cleared.a.iter_mut().chain(&mut cleared.b);
                words.for_each(|word| *word &= !0x1fff);
                assert_eq!(
                    case.run(&row.unit),
                    cleared.run(&row.unit),
                    "{} {case:?}",
                    row.name
                );
            }
        }
        if !has_specials(row.program()) {
            continue;
        }
        // A NaN whose payload lies in those bits is an infinity.
        let infinity = Case {
            a: vec![0x7f80_0001; signature.k],
            b: vec![0x3f80_0000; signature.k],
            c: 0,
            scale_a: Vec::new(),
            scale_b: Vec::new(),
        };
        assert_eq!(infinity.run(&row.unit), 0x7f80_0000, "{}", row.name);
        let nan = Case {
            a: vec![0x7f80_2000; signature.k],
            ..infinity
        };
        assert!(row.unit.is_nan(nan.run(&row.unit)), "{}", row.name);
    }
    assert!(rows >= 15, "{rows} rows with tf32 operands");
}
