//! Texts of the catalogue that use more than shipped formats: formats of their own, integers as
//! operands, parts of significands.

use mmascope_model::dpa::{Modifiers, Operands};
use mmascope_model::format::{Class, F32, Formats};
use mmascope_model::isa::Catalogue;

fn catalogue(text: &str) -> mmascope_model::Result<Catalogue> {
    let mut catalogue = Catalogue::empty();
    catalogue.extend("chip.txt", text)?;
    Ok(catalogue)
}

const CHIP: &str = "
format e5m7 = sign 1 exponent 5 bias 15 fraction 7 specials ieee
format tf24 = sign 1 exponent 8 bias 127 fraction 15 specials ieee in f32
arch chip
x.{shape} | e5m7 x tf24 + f32 -> f32 | m1n1k2
  | fused L=2 F=20 products=rne:tf24 -> rz tf24 | open
i.{shape} | int8 x uint8 + f32 -> f32 | m1n1k3
  | e-fdpa L=3 -> rne f32 | open
";

#[test]
fn declared_formats_compute() {
    let chip = catalogue(CHIP).expect("a chip");
    let row = chip.find("chip", "x.m1n1k2").expect("a row");
    let unit = row.unit().expect("a unit");
    let (a, b) = (unit.signature().a, unit.signature().b);
    assert_eq!((a.bits, a.register.bits), (13, 16));
    assert_eq!(
        (b.register.bits, b.register.shift, b.container()),
        (32, 8, F32)
    );
    // 1.0 in e5m7 is 15 << 7; an upper part of an f32 word reads its high bits.
    let three = u64::from(3.0_f32.to_bits());
    let operands = Operands {
        a: &[15 << 7, 16 << 7],
        b: &[three | 0xff, three],
        c: u64::from(0.5_f32.to_bits()),
        ..Operands::default()
    };
    let d = unit.dot(&operands, &Modifiers::default()).expect("a word");
    assert_eq!(d, u64::from(9.5_f32.to_bits()));
    assert_eq!(a.decode(0x1fff).class, Class::Nan);
}

/// The result register of a part of f32 is an f32 word, and so of f16.
#[test]
fn parts_of_other_words_than_f32() {
    let mut formats = Formats::default();
    let f16 = mmascope_model::format::FORMATS
        .iter()
        .find(|f| f.name == "f16")
        .expect("f16");
    let float = mmascope_model::format::Float {
        fraction_bits: 6,
        ..f16.float().expect("a float")
    };
    let format = formats
        .declare("e5m6", true, float, Some(f16))
        .expect("a format");
    assert_eq!((format.register.bits, format.register.shift), (16, 4));
    assert_eq!(format.container(), *f16);
    assert_eq!(format.to_register(format.max_finite(false)), 0x7bf0);
}

#[test]
fn integers_are_operands() {
    let chip = catalogue(CHIP).expect("a chip");
    let unit = chip
        .find("chip", "i.m1n1k3")
        .expect("a row")
        .unit()
        .expect("a unit");
    let operands = Operands {
        a: &[0x80, 0x7f, 0xff], // -128, 127, -1
        b: &[0xff, 0xff, 3],    // 255, 255, 3
        c: u64::from(0.5_f32.to_bits()),
        ..Operands::default()
    };
    let d = unit.dot(&operands, &Modifiers::default()).expect("a word");
    assert_eq!(f32::from_bits(d as u32), -255.0 - 3.0 + 0.5);
}

#[test]
fn wrong_declarations_name_line_and_column() {
    for (line, column, expected) in [
        ("format x", 9, "expected 'format NAME = sign"),
        (
            "format x = sign 2",
            17,
            "'2': expected a whole number 0 to 1",
        ),
        (
            "format x = sign 1 exponent 4 bias 7 fraction 3 specials odd",
            57,
            "specials 'odd': expected ieee, fn, fnuz or none",
        ),
        (
            "format f16 = sign 1 exponent 4 bias 7 fraction 3 specials fn",
            8,
            "'f16' is a format already",
        ),
        (
            "format half = sign 1 exponent 4 bias 7 fraction 3 specials fn",
            8,
            "'half' is a format already",
        ),
        (
            "format É = sign 1 exponent 4 bias 7 fraction 3 specials fn",
            8,
            "cannot name a format",
        ),
        (
            "format x = sign 1 exponent 8 bias 0 fraction 3 specials fn",
            8,
            "bias 0: the numbers reach",
        ),
        (
            "format x = sign 1 exponent 5 bias 15 fraction 0 specials ieee",
            8,
            "needs 2 exponent bits",
        ),
        (
            "format x = sign 0 exponent 5 bias 15 fraction 2 specials fnuz",
            8,
            "needs a sign",
        ),
        (
            "format x = sign 1 exponent 5 bias 15 fraction 2 specials ieee in f32",
            8,
            "the upper part of a word of f32",
        ),
        (
            "format x = sign 1 exponent 5 bias 15 fraction 2 specials ieee in f99",
            66,
            "'f99': expected a format like f32",
        ),
        (
            "format x = sign 1 exponent 5 bias 15 fraction 2 specials ieee in f16 more",
            70,
            "expected 'format NAME",
        ),
        (
            "format x = sign 1 exponent 5 fraction 2 specials ieee",
            30,
            "expected 'format NAME",
        ),
    ] {
        let text = format!("# a chip\n{line}\narch chip\n");
        let error = catalogue(&text).expect_err(line).to_string();
        assert!(
            error.starts_with(&format!("chip.txt:2:{column}: ")),
            "{line}: {error}"
        );
        assert!(error.contains(expected), "{line}: {error}");
    }
    // A format counts from its line on, in its own text.
    assert!(catalogue("arch c\nx.{shape} | z x z + f32 -> f32 | m1n1k1 | fma-chain -> rne f32 | open\nformat z = sign 1 exponent 5 bias 15 fraction 2 specials ieee\n").is_err());
}

#[test]
fn a_k_takes_part_once_or_in_parts_that_differ() {
    let row = |program: &str| {
        catalogue(&format!(
            "arch c\nx.{{shape}} | f16 x f16 + f32 -> f32 | m1n1k2\n | {program} | open\n"
        ))
    };
    let phases = "t = fused L=2 F=20 part a=0:5 b=0:7 -> rz f32 ; d = fused L=2 F=20 part a=5:5 b=0:7 from t -> rz f32";
    let chip = row(phases).expect("two phases");
    let unit = chip
        .find("c", "x.m1n1k2")
        .expect("a row")
        .unit()
        .expect("a unit");
    assert_eq!(unit.program().to_string(), phases);
    // 1 + 2^-4 + 2^-5: the last bit is the first one of the second phase.
    let operands = Operands {
        a: &[0x3c60, 0],
        b: &[0x3c00, 0],
        c: 0,
        ..Operands::default()
    };
    let d = unit.dot(&operands, &Modifiers::default()).expect("a word");
    assert_eq!(f32::from_bits(d as u32), 1.0 + 1.0 / 16.0 + 1.0 / 32.0);
    for (program, expected) in [
        (
            "t = fused L=2 F=20 part a=0:5 -> rz f32 ; d = fused L=2 F=20 part a=4:5 from t -> rz f32",
            "k=0 is summed twice",
        ),
        (
            "t = fused L=2 F=20 part a=0:5 -> rz f32 ; d = fused L=2 F=20 from t -> rz f32",
            "k=0 is summed twice",
        ),
        (
            "fused L=2 F=20 part a=0:0 -> rz f32",
            "a=0:0: expected FIRST:COUNT",
        ),
        (
            "fused L=2 F=20 part a=60:5 -> rz f32",
            "a=60:5: expected FIRST:COUNT",
        ),
        ("fused L=2 F=20 part -> rz f32", "expected a=FIRST:COUNT"),
        ("fused L=2 F=20 part q=1:1 -> rz f32", "unknown operand 'q'"),
    ] {
        let error = row(program).expect_err(program).to_string();
        assert!(error.contains(expected), "{program}: {error}");
    }
}

/// What another architecture has is said, and the nearest names are of rows that can be computed.
#[test]
fn an_unknown_instruction_says_who_has_it() {
    let message = |arch: &str, inst: &str| {
        let found = Catalogue::built_in().find(arch, inst);
        found.expect_err("unknown there").to_string()
    };
    let fp8 = message("ampere", "mma.m16n8k32.f32.e4m3.e4m3.f32");
    println!("{fp8}");
    assert!(fp8.contains("; nearest: "), "{fp8}");
    assert!(!fp8.contains("allowed"), "{fp8}");
    let ada = fp8.contains("ada, ") && fp8.contains("hopper") && fp8.ends_with(" have it");
    assert!(ada, "{fp8}");
    let wgmma = message("cdna3", "wgmma.m64n8k16.f32.f16.f16");
    assert!(wgmma.ends_with("; hopper has it"), "{wgmma}");
    for near in fp8
        .split("; nearest: ")
        .nth(1)
        .unwrap_or("")
        .split("; ")
        .next()
        .unwrap_or("")
        .split(", ")
    {
        let row = Catalogue::built_in().find("ampere", near).expect(near);
        assert!(row.is_modelled(), "{near}");
    }
    let none = message("hopper", "zzz");
    assert_eq!(none, "unknown instruction 'zzz' of 'hopper'");
}
