//! Modifiers do to the operands what their names say, on every row that could have them.

use mmascope::dpa::Modifiers;
use mmascope::isa::Catalogue;

use super::operands::{Case, Kind, near, negated};
use super::rows::{adds_products, for_every_row};

fn modifiers(names: &[&str]) -> Modifiers {
    let mut modifiers = Modifiers::default();
    names
        .iter()
        .for_each(|name| modifiers.add(name).expect("known"));
    modifiers
}

#[test]
fn negation_negates_the_words() {
    for_every_row(40, 6, |row, case, kind, _| {
        let signature = row.signature();
        let negate = |words: &[u64], format| -> Vec<u64> {
            words.iter().map(|&word| negated(format, word)).collect()
        };
        // The formats without −0 have no word for a negated zero; the modifier makes one.
        let exact = |format: &mmascope::format::Format| format.zero(true) != format.zero(false);
        if exact(&signature.a) {
            let a = negate(&case.a, &signature.a);
            let by_hand = Case { a, ..case.clone() }.run(&row.unit);
            let d = case.run_with(&row.unit, &modifiers(&["negA"]));
            assert_eq!(d, by_hand, "negA {} {kind:?} {case:?}", row.name);
        }
        if exact(&signature.b) {
            let b = negate(&case.b, &signature.b);
            let by_hand = Case { b, ..case.clone() }.run(&row.unit);
            let d = case.run_with(&row.unit, &modifiers(&["negB"]));
            assert_eq!(d, by_hand, "negB {} {kind:?} {case:?}", row.name);
        }
        let c = negated(&signature.c, case.c);
        let by_hand = Case { c, ..case.clone() }.run(&row.unit);
        let d = case.run_with(&row.unit, &modifiers(&["negC"]));
        assert_eq!(d, by_hand, "negC {} {kind:?} {case:?}", row.name);
        if !adds_products(row.program()) {
            return;
        }
        let both = case.run_with(&row.unit, &modifiers(&["negA", "negB"]));
        assert_eq!(
            both,
            case.run(&row.unit),
            "negA negB {} {kind:?} {case:?}",
            row.name
        );
    });
}

#[test]
fn no_c_is_c_of_plus_zero() {
    for_every_row(41, 6, |row, case, kind, _| {
        let zero = Case {
            c: 0,
            ..case.clone()
        };
        for names in [&["noC"][..], &["noC", "negC"], &["noC", "scaleD=-3"]] {
            let d = case.run_with(&row.unit, &modifiers(names));
            assert_eq!(
                d,
                zero.run(&row.unit),
                "{names:?} {} {kind:?} {case:?}",
                row.name
            );
        }
    });
}

/// For a c that stays normal, scaleD=-n is c with an exponent less by n.
#[test]
fn scale_d_scales_c() {
    for_every_row(42, 6, |row, case, kind, random| {
        if kind == Kind::Uniform {
            return;
        }
        let format = row.signature().c;
        let c = near(&format, random.range(0, 3), random);
        let n = random.range(0, 10);
        let fraction_bits = format.float().expect("a float").fraction_bits;
        let scaled = format.to_register(format.from_register(c) - ((n as u64) << fraction_bits));
        let d =
            Case { c, ..case.clone() }.run_with(&row.unit, &modifiers(&[&format!("scaleD=-{n}")]));
        let by_hand = Case {
            c: scaled,
            ..case.clone()
        }
        .run(&row.unit);
        assert_eq!(d, by_hand, "{} n={n} c={c:x} {case:?}", row.name);
    });
}

#[test]
fn a_row_takes_only_its_own_modifiers() {
    let catalogue = Catalogue::built_in();
    let plain = catalogue
        .find("hopper", "mma.m16n8k16.f32.f16.f16.f32")
        .expect("a row");
    let wgmma = catalogue
        .find("hopper", "wgmma.m64n8k16.f32.f16.f16")
        .expect("a row");
    let tcgen05 = catalogue.find("blackwell", "tcgen05.mma.m128n8k16.kind::f16.f32.f16.f16");
    let tcgen05 = tcgen05.expect("a row");
    assert!(plain.check_modifiers(&modifiers(&[])).is_ok());
    assert!(
        wgmma
            .check_modifiers(&modifiers(&["negA", "negB", "noC"]))
            .is_ok()
    );
    assert!(
        tcgen05
            .check_modifiers(&modifiers(&["scaleD=-15", "noC"]))
            .is_ok()
    );
    let refused = |row: &mmascope::isa::Instruction, name: &str| {
        let error = row
            .check_modifiers(&modifiers(&[name]))
            .expect_err("refused");
        error.to_string()
    };
    assert_eq!(
        refused(plain, "negA"),
        "mma.m16n8k16.f32.f16.f16.f32 has no modifier negA; it has: none"
    );
    assert_eq!(
        refused(wgmma, "scaleD=-1"),
        "wgmma.m64n8k16.f32.f16.f16 has no modifier scaleD; it has: negA negB noC"
    );
    for bad in ["scaleD=-16", "scaleD=1", "scaleD=", "scaleD=x", "scaleD"] {
        assert!(Modifiers::default().add(bad).is_err(), "{bad}");
    }
    for twice in ["negA", "negB", "negC", "noC", "scaleD=-2"] {
        let mut modifiers = modifiers(&["scaleD=0"]);
        modifiers.add(twice).expect("the first time");
        let before = modifiers;
        let error = modifiers.add(twice).expect_err("twice").to_string();
        let name = twice.trim_end_matches("=-2");
        assert_eq!(error, format!("the modifier {name} stands twice"));
        assert_eq!(modifiers, before);
    }
    let error = Modifiers::default().add("nega").expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "unknown modifier 'nega'; nearest: negA, negB, negC"
    );
}
