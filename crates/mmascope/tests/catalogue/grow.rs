//! A new architecture is one block of text; a user's text overrides shipped rows.

use mmascope::Error;
use mmascope::dpa::{Modifiers, Operands};
use mmascope::isa::{Catalogue, Model, Strength};

const MADE_UP: &str = "\
# A unit that nobody builds.
arch tinychip = tc_1 TINY9000
title Tiny 9000
vendor Nobody
let small = e4m3 e5m2
source a dream
note about the chip

dot.{shape}.{d}.{a}.{b} | small x e5m2 + f32 -> f32 | m{4,8}n{8..32/8}k4 m4n8k2
  | t-fdpa L=2 F=3 e0=-10 align=rne -> rz f32 | open L=doc
  mods negA noC
  note about the family
odd.{shape}.{a} odder.{a}.{shape} | f16 x f16 + f16 -> f16 | m4n4k3
  | t = e-fdpa L=2 over k=2,0 from +0 -> rd f16 ; d = fma-chain over k=1 from t -> rz f16 | 1team
dark.{shape} | f16 x f16 + f32 -> f32 | m4n4k4 | unmodelled it is dark
";

fn grown() -> Catalogue {
    let mut catalogue = Catalogue::built_in().clone();
    catalogue.extend("tiny.txt", MADE_UP).expect("a good text");
    catalogue
}

#[test]
fn a_block_of_text_is_listed() {
    let (catalogue, before) = (grown(), Catalogue::built_in());
    assert_ne!(catalogue.hash(), before.hash());
    let rows = |catalogue: &Catalogue| catalogue.instructions().count();
    assert_eq!(rows(&catalogue), rows(before) + 6);
    let tiny = catalogue.architecture("Tiny 9000").expect("by its alias");
    assert_eq!((&*tiny.name, tiny.counts()), ("tinychip", (5, 1)));
    assert_eq!((&*tiny.title, &*tiny.vendor), ("Tiny 9000", "Nobody"));
    assert_eq!(
        (&*tiny.sources, &*tiny.notes),
        (&["a dream".into()][..], &["about the chip".into()][..])
    );
    let names: Vec<&str> = tiny.instructions().map(|row| &*row.name).collect();
    let expected = [
        "dot.m4n8k4.f32.e4m3.e5m2",
        "dot.m4n8k2.f32.e4m3.e5m2",
        "dot.m4n8k4.f32.e5m2.e5m2",
        "dot.m4n8k2.f32.e5m2.e5m2",
        "odd.m4n4k3.f16",
        "dark.m4n4k4",
    ];
    assert_eq!(names, expected);
    let row = tiny
        .find("dot.m8n24k4.f32.e4m3.e5m2")
        .expect("another legal shape");
    assert_eq!(row.name, names[0]);
    assert_eq!(row.modifiers, ["negA", "noC"]);
    assert_eq!(row.notes, ["about the family"]);
    assert_eq!(
        (row.evidence.of("L"), row.evidence.of("F")),
        (Strength::Documented, Strength::Open)
    );
    assert_eq!(row.position.to_string(), "tiny.txt:9:1");
    let shapes: Vec<String> = row.shapes.iter().map(ToString::to_string).collect();
    assert_eq!(shapes, ["m{4,8}n{8..32/8}k4"].map(String::from).to_vec());
    assert!(matches!(
        tiny.find("dark.m4n4k4").expect("a row").model,
        Model::Unmodelled(_)
    ));
}

#[test]
fn several_architectures_share_a_block() {
    let mut catalogue = Catalogue::built_in().clone();
    let text = "\
arch one
first.{shape} | f16 x f16 + f32 -> f32 | m1n1k1 | e-fdpa L=1 -> rne f32 | open
arch one, two
let word = f16
both.{shape}.{a} | word x word + f32 -> f32 | m1n1k2 | e-fdpa L=2 -> rne f32 | doc
  chained k
  evidence two hw nan=open
";
    catalogue.extend("shared.txt", text).expect("a good text");
    let names = |arch: &str| -> Vec<String> {
        let rows = catalogue
            .architecture(arch)
            .expect("it is there")
            .instructions();
        rows.map(|row| row.name.clone()).collect()
    };
    assert_eq!(names("one"), ["first.m1n1k1", "both.m1n1k2.word"]);
    assert_eq!(names("two"), ["both.m1n1k2.word"]);
    let evidence = |arch: &str| {
        let row = catalogue.find(arch, "both.m1n1k2.word").expect("a row");
        row.evidence.to_string()
    };
    assert_eq!(evidence("one"), "doc");
    assert_eq!(evidence("two"), "hw nan=open");
    // A block of its own is still there once.
    let twice = Catalogue::built_in()
        .clone()
        .extend("twice.txt", "arch one\narch one, two\narch one\n");
    let message = twice.expect_err("refused").to_string();
    assert!(message.contains("declared twice"), "{message}");
}

/// Worked out by hand. L=2, F=3: the first block is c = 1 and the products 1.5·1 and 1/8·1/2; E = 0,
/// so terms are multiples of 1/8: 1 + 1.5 + RNE(1/16 → 0) = 2.5. The second block is 2.5 (E = 1, multiples
/// of 1/4), 3/8 → tie to even 1/2, and −1/16 → 0: 3.0.
#[test]
fn a_block_of_text_is_simulated() {
    let catalogue = grown();
    let row = catalogue
        .find("tc_1", "dot.m4n8k4.f32.e4m3.e5m2")
        .expect("a row");
    let operands = Operands {
        a: &[0x3c, 0x20, 0x3c, 0xa0], // 1.5, 1/8, 1.5, -1/8 in e4m3
        b: &[0x3c, 0x38, 0x34, 0x38], // 1, 1/2, 1/4, 1/2 in e5m2
        c: 0x3f80_0000,
        ..Operands::default()
    };
    let dot = |modifiers: &Modifiers| row.dot(&operands, modifiers).expect("modelled");
    assert_eq!(dot(&Modifiers::default()), 0x4040_0000);
    // Without c: 1.5 + 0; then 1.5 (E = 0) + 3/8 − 1/16, the tie to 0: 1.875.
    let no_c = Modifiers {
        no_c: true,
        ..Modifiers::default()
    };
    assert_eq!(dot(&no_c), 0x3ff0_0000);
    let neg_b = Modifiers {
        negate_b: true,
        ..Modifiers::default()
    };
    assert!(row.dot(&operands, &neg_b).is_err());
}

/// t = a2·b2 + a0·b0 exactly, rounded down to f16; d = a1·b1 + t rounded to zero; c takes no part.
#[test]
fn a_program_of_two_statements_is_simulated() {
    let catalogue = grown();
    let row = catalogue
        .find("tinychip", "odder.f16.m4n4k3")
        .expect("the further name");
    assert_eq!(row.name, "odd.m4n4k3.f16");
    let operands = Operands {
        a: &[0x8001, 0x1000, 0x3c00], // -2^-24, 2^-11, 1
        b: &[0x3c00, 0x3c00, 0x3c00], // 1, 1, 1
        c: 0x7c00,
        ..Operands::default()
    };
    // 1 − 2^-24 rounded down is 1 − 2^-11; + 2^-11 is 1.
    assert_eq!(row.dot(&operands, &Modifiers::default()), Ok(0x3c00));
}

#[test]
fn a_shipped_row_can_be_overridden() {
    let mut catalogue = Catalogue::built_in().clone();
    let name = "mma.m8n8k4.f32.f16.f16.f32";
    let shipped = catalogue.find("volta", name).expect("a row").clone();
    let text = "arch V100\nmma.{shape}.{d}.{a}.{b}.{c} | f16 x f16 + f32 -> f32 | m8n8k4\n\
                | t-fdpa L=2 F=30 e0=-140 -> rne f32 | open\n\
                new.{shape} | f16 x f16 + f32 -> f32 | m8n8k4 | e-fdpa L=4 -> rne f32 | open\n";
    catalogue.extend("mine.txt", text).expect("a good text");
    assert_eq!(
        catalogue.architectures().len(),
        Catalogue::built_in().architectures().len()
    );
    let volta = catalogue.architecture("volta").expect("still there");
    assert_eq!(
        volta.counts().0,
        Catalogue::built_in()
            .architecture("volta")
            .expect("it")
            .counts()
            .0
            + 1
    );
    assert_eq!(
        volta.title,
        Catalogue::built_in()
            .architecture("volta")
            .expect("it")
            .title
    );
    let mine = catalogue.find("sm_70", name).expect("a row");
    assert_ne!(mine.unit(), shipped.unit());
    assert_eq!(mine.position.to_string(), "mine.txt:2:1");
    // The row belongs to the architecture under its own name, whatever alias the text used.
    assert_eq!(mine.architecture, "volta");
    assert_eq!(
        volta.find("new.m8n8k4").expect("added").architecture,
        "volta"
    );
}

#[test]
fn a_bad_text_changes_nothing() {
    let mut catalogue = Catalogue::empty();
    catalogue
        .extend("a", "arch one = uno\narch two = due\n")
        .expect("good");
    let (hash, count) = (catalogue.hash(), catalogue.architectures().len());
    let error = catalogue.extend("b", "arch three\narch four = uno\narch five = due uno\n");
    let Err(Error::Text { position, message }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(
        (position.to_string(), &*message),
        ("b:2:13".into(), "'uno' already names another architecture")
    );
    assert_eq!(
        (catalogue.hash(), catalogue.architectures().len()),
        (hash, count)
    );
    assert!(catalogue.architecture("three").is_err());
}

/// Two texts that name two architectures after each other: the second one's name is an alias, whose alias would be the first.
#[test]
fn aliases_in_a_circle_are_refused_in_two_texts_too() {
    let mut catalogue = Catalogue::empty();
    catalogue.extend("a", "arch one = uno\n").expect("good");
    let Err(Error::Text { position, message }) = catalogue.extend("b", "arch uno = ein one\n")
    else {
        panic!("it names itself");
    };
    assert_eq!(position.to_string(), "b:1:16");
    assert!(message.contains("in a circle"), "{message}");
    catalogue
        .extend("b", "arch uno = ein\n")
        .expect("an alias of it may stand for it");
}

/// The same text gives the same hash, and every byte counts.
#[test]
fn the_hash_is_that_of_the_text() {
    let hash = |text| {
        let mut catalogue = Catalogue::empty();
        catalogue.extend("x", text).expect("good");
        catalogue.hash()
    };
    assert_eq!(hash("arch a\n"), hash("arch a\n"));
    assert_ne!(hash("arch a\n"), hash("arch a \n"));
    assert_eq!(hash("arch a\n").len(), 16);
}
