//! The whole model on inputs small enough for miri: `cargo xtask prove miri` runs this file there. Units come from a text of a
//! few rows, because the whole catalogue takes miri minutes to read. Each test says in another way what is right.

mod inputs;

use std::sync::LazyLock;

use inputs::{KINDS, Random, operands};
use mmascope_model::dpa::{Dpa, Modifiers, Operands, Unit};
use mmascope_model::explain::{self, Comparison, Trace};
use mmascope_model::format::{Class, F32, Format};
use mmascope_model::isa::{Catalogue, Instruction};
use mmascope_model::precision::block::{BlockFormat, Quantiser, Recipe};
use mmascope_model::precision::cast::{Cast, CastOptions, OutOfRange};
use mmascope_model::precision::specials;
use mmascope_model::tree::{Arithmetic, Term, Tree, TreeLanguage};

/// A row of each algorithm and kind of program.
const TEXT: &str = "arch small = tiny
title A chip for miri
fused.{shape} | f16 x f16 + f32 -> f32 | m1n1k4 | t-fdpa L=4 F=24 e0=-133 -> rz f32 nan=7fffffff | open
half.{shape} | f16 x f16 + f16 -> f16 | m1n1k4 | t-fdpa L=4 F=24 e0=-20 -> rne f16 nan=7fff | open
late.{shape} | f16 x f16 + f32 -> f32 | m1n1k4 | tr-fdpa L=4 F=24 F2=31 -> rne f32 | open
exact.{shape} | f16 x f16 + f32 -> f32 | m1n1k4 | e-fdpa L=4 -> rne f32 | open
flush.{shape} | f16 x f16 + f32 -> f32 | m1n1k4 | ftz-addmul P=2 -> rne f32 | open
chain.{shape} | f32 x f32 + f32 -> f32 | m1n1k4 | fma-chain -> rne f32 | open
whole.{shape} | s8 x s8 + s32 -> s32 | m1n1k4 | int-dot L=4 beyond=wraps -> rz s32 | open
joined.{shape} | f16 x f16 + f32 -> f32 | m1n1k8 | s = t-fdpa L=4 F=24 e0=-133 over k=0..3 -> rz f32 ; d = t-fdpa L=4 F=24 e0=-133 over k=4..7 from s -> rz f32 | open
";

/// Read once: each row takes miri seconds.
fn catalogue() -> &'static Catalogue {
    static READ: LazyLock<Catalogue> = LazyLock::new(|| {
        let mut catalogue = Catalogue::empty();
        let read = catalogue.extend("small.txt", TEXT);
        read.unwrap_or_else(|error| panic!("{error}"));
        catalogue
    });
    &READ
}

fn each(mut action: impl FnMut(&Instruction, &Unit)) {
    let catalogue = catalogue();
    let mut rows = 0;
    for row in catalogue.instructions() {
        action(row, row.unit().expect("a model"));
        rows += 1;
    }
    assert_eq!(rows, 8);
}

/// The reference, the general form of the unit and the explanation, which computes for itself, are one function.
#[test]
fn three_computations_agree() {
    let none = Modifiers::default();
    each(|row, unit| {
        let general = Unit::new(*unit.signature(), unit.program().general()).expect("a unit");
        let mut random = Random::seeded(&row.name, 1);
        for kind in KINDS.into_iter().step_by(3) {
            let words = operands(unit.signature(), kind, &mut random);
            let words = words.operands();
            let own = unit.dot(&words, &none).expect("fits");
            let same = general.dot(&words, &none).expect("fits");
            assert!(unit.agrees(own, same), "{}: {own:x} {same:x}", row.name);
            let trace = Trace::of(unit, &words, &none).expect("a trace");
            assert!(unit.agrees(own, trace.word()), "{}: {own:x}", row.name);
        }
    });
}

/// Algorithms that no row above has, with their own parameters.
#[test]
fn drawn_parameters_are_their_general_forms() {
    let mut random = Random::seeded("portable", 2);
    let mut units = 0;
    for algorithm in Dpa::all() {
        let text = match algorithm.sums_integers() {
            true => "a=int8 b=uint8 c=int32 d=int32 k=6",
            false => "a=e4m3 b=e2m3 c=f32 d=f32 k=64 scale=ue8m0 block=32",
        };
        let signature = text.parse().expect("a signature");
        let algorithm = inputs::drawn(&algorithm, &mut random);
        let to = if algorithm.sums_integers() {
            "int32"
        } else {
            "f32"
        };
        let Ok(program) = format!("{algorithm} -> rz {to}").parse() else {
            continue;
        };
        let Ok(unit) = Unit::new(signature, program) else {
            continue;
        };
        let general = Unit::new(signature, unit.program().general()).expect("a unit");
        units += 1;
        for kind in KINDS.into_iter().take(1) {
            let words = operands(&signature, kind, &mut random);
            let dot = |unit: &Unit| unit.dot(&words.operands(), &Modifiers::default());
            let (own, same) = (dot(&unit).expect("fits"), dot(&general).expect("fits"));
            assert!(
                unit.agrees(own, same),
                "{}: {own:x} {same:x}",
                unit.program()
            );
        }
    }
    assert!(units >= 3, "{units} units");
}

#[test]
fn names_and_errors_of_the_notation() {
    let catalogue = catalogue();
    let row = catalogue.find("tiny", "fused.m1n1k4").expect("a row");
    assert_eq!((&*row.architecture, &*row.name), ("small", "fused.m1n1k4"));
    let error = catalogue.find("tiny", "fusd.m1n1k4").expect_err("no row");
    assert!(error.to_string().contains("fused.m1n1k4"), "{error}");
    let mut other = Catalogue::empty();
    let text =
        "arch odd\nx | f16 x f16 + f32 -> f32 | m1n1k4 | t-fdpa L=4 F=240 -> rz f32 | open\n";
    let error = other.extend("odd.txt", text).expect_err("F=240");
    assert!(error.to_string().starts_with("odd.txt:2:"), "{error}");
    each(|row, unit| {
        let text = unit.program().to_string();
        let again = Unit::new(*unit.signature(), text.parse().expect("a program"));
        assert_eq!(again.as_ref(), Ok(unit), "{}", row.name);
        assert!(!unit.summary().is_empty());
    });
}

/// c = 2^23, and the products −2^23, −0.5, −0.25, −0.125.
#[test]
fn explanations_are_drawn() {
    let catalogue = catalogue();
    let unit = |name: &str| catalogue.find("small", name).and_then(Instruction::unit);
    let (one, other) = (
        unit("fused.m1n1k4").expect("a"),
        unit("late.m1n1k4").expect("b"),
    );
    let operands = Operands {
        a: &[0xf000, 0xb800, 0xb400, 0xb000],
        b: &[0x6400, 0x3c00, 0x3c00, 0x3c00],
        c: 0x4b00_0000,
        ..Operands::default()
    };
    let none = Modifiers::default();
    let trace = |unit: &Unit| Trace::of(unit, &operands, &none).expect("a trace");
    let (left, right) = (trace(one), trace(other));
    assert_eq!(left.word(), 0xbf00_0000, "−0.5 with 24 bits");
    assert!(left.to_string().contains("lost"), "{left}");
    let both = Comparison::of(("one", &left), ("other", &right)).to_string();
    assert!(both.contains("one") && both.contains("other"), "{both}");
    let page = explain::page("one", &left);
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("lost"),
        "{page}"
    );
}

#[test]
fn specials_are_computed() {
    each(|row, unit| {
        let all = specials::of_unit(unit).expect("cases");
        for special in all.iter().filter_map(|it| it.outcome.as_ref()) {
            let words = special.operands.operands();
            let word = unit.dot(&words, &Modifiers::default()).expect("fits");
            assert_eq!(word, special.word, "{}", row.name);
        }
        assert_eq!(all.len(), specials::names().count());
    });
}

/// Codes of narrow formats go to a wide one and back, and words beyond the range saturate. (No instruction of PTX converts
/// these formats: for one that does, a cast reads the table of instructions, which takes miri minutes.)
#[test]
fn casts_go_out_and_back() {
    let cast = |from: Format, to: Format| {
        let options = CastOptions {
            overflow: Some(OutOfRange::SatFinite),
            ..CastOptions::default()
        };
        Cast::new(from, to, &options).unwrap_or_else(|error| panic!("{error}"))
    };
    for name in ["e4m3fnuz", "e5m2fnuz"] {
        let format = Format::named(name).expect("a format");
        let (out, back) = (cast(format, F32), cast(F32, format));
        for code in (0..1_u64 << format.bits).step_by(31) {
            assert_ne!(format.decode(code).class, Class::Nan, "{code:x}");
            let wide = out.word(format.to_register(code));
            assert_eq!(back.word(wide), format.to_register(code), "{name} {code:x}");
        }
        let largest = format.to_register(format.max_finite(false));
        assert_eq!(back.word(0x7f7f_ffff), largest, "{name}");
    }
}

#[test]
fn blocks_are_quantised() {
    let format = BlockFormat::named("mxfp4").expect("a format");
    let quantiser = Quantiser::new(format, Recipe::Ocp).expect("a quantiser");
    let words: Vec<u32> = [7.9_f32, -7.9, 0.5, 0.0].map(f32::to_bits).to_vec();
    let tensor = quantiser.tensor(Quantiser::largest(&words));
    let mut codes = vec![0; words.len()];
    let scale = quantiser.block(&words, &tensor, |_| None, &mut codes);
    assert_eq!((scale, &codes[..]), (127, &[0x7, 0xf, 0x1, 0x0][..]));
}

#[test]
fn trees_are_read_drawn_and_executed() {
    let (tree, _) = Tree::read("(add f32 (add f32 0 1) (add f32 2 3))").expect("a tree");
    let terms = [1.0, 2.0, 3.0, 4.5].map(Term::Value);
    assert_eq!(tree.execute(&terms, &Arithmetic::ieee(F32)), Ok(10.5));
    let (again, _) = Tree::read(&tree.json()).expect("JSON");
    assert!(tree.difference(&again).is_none());
    assert!(tree.svg("a sum", &[]).starts_with("<svg"));
    assert!(tree.dot(&[]).starts_with("digraph"));
    let _ = (tree.pattern(), tree.statistics());
    for language in [TreeLanguage::C, TreeLanguage::Python] {
        let source = tree.export(language, 0, &Arithmetic::ieee(F32), None);
        assert!(source.expect("a source").contains("mmascope_sum"));
    }
}
