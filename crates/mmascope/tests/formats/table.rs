//! The table of formats against the retyped facts: parameters, specials, words and names.

use mmascope::format::{FORMATS, Format, Kind, Register, Specials};

use crate::facts::{FACTS, Fact, Nans, Steps};
use crate::ladder::Ladder;

#[test]
fn the_table_holds_exactly_the_formats_of_the_facts() {
    let sorted = |names: &mut Vec<&'static str>| names.sort_unstable();
    let mut of_facts: Vec<_> = FACTS.iter().map(|fact| fact.name).collect();
    let mut of_table: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    sorted(&mut of_facts);
    sorted(&mut of_table);
    assert_eq!(of_table, of_facts);
    for format in FORMATS {
        assert_eq!(Format::named(format.name), Ok(*format));
        assert_eq!(Format::named(&format.name.to_uppercase()), Ok(*format));
        assert_eq!(format.to_string(), format.name);
    }
}

#[test]
fn parameters() {
    for ladder in Ladder::all() {
        let Ladder { fact, format, .. } = &ladder;
        let name = fact.name;
        assert_eq!(
            (format.bits, format.signed),
            (fact.bits, fact.signed),
            "{name}"
        );
        assert_eq!(format.mask(), ((1_u128 << fact.bits) - 1) as u64, "{name}");
        match format.kind {
            Kind::Fixed { scale } => assert!(fact.is_fixed() && scale == fact.first, "{name}"),
            Kind::Float(float) => {
                assert_eq!(format.float(), Some(float), "{name}");
                assert_eq!(float.fraction_bits, fact.fraction_bits, "{name}");
                assert_eq!(float.bias, fact.bias, "{name}");
                let sign_bits = u32::from(fact.signed);
                let exponent_bits = fact.bits - sign_bits - fact.fraction_bits;
                assert_eq!(float.exponent_bits, exponent_bits, "{name}");
                assert_eq!(float.specials, specials(fact), "{name}");
                assert_eq!(float.subnormals, fact.steps == Steps::Float, "{name}");
                // The exponent of the last place of the smallest normal is that of the first step.
                assert_eq!(
                    float.emin() - fact.fraction_bits as i32,
                    fact.first,
                    "{name}"
                );
            }
        }
        assert_eq!(format.max_finite(false), fact.max, "{name}");
        assert_eq!(format.nan(), fact.nan, "{name}");
    }
}

fn specials(fact: &Fact) -> Specials {
    match (fact.infinity, fact.nans) {
        (Some(_), _) => Specials::Ieee,
        (None, Nans::From(..)) => Specials::AllOnesNan,
        (None, Nans::Only(_)) => Specials::NegativeZeroNan,
        (None, Nans::No) => Specials::None,
    }
}

#[test]
fn register_words() {
    // tf32 and e8m13 sit in the upper bits of an f32, e11m23 in those of an f64; the others at the bottom of their word.
    for format in FORMATS {
        let (bits, shift) = match format.name {
            "f64" => (64, 0),
            "e11m23" => (64, 29),
            "f32" => (32, 0),
            "tf32" => (32, 13),
            "e8m13" => (32, 10),
            "f16" | "bf16" | "int16" | "uint16" => (16, 0),
            "int32" | "uint32" => (32, 0),
            "int64" | "uint64" => (64, 0),
            _ if format.bits <= 4 => (4, 0),
            _ => (8, 0),
        };
        let Register {
            bits: width,
            shift: unused,
            of,
        } = format.register;
        assert_eq!((width, unused), (bits, shift), "{format}");
        assert_eq!(of.is_some(), shift > 0, "{format}");
        assert_eq!(format.digits() as u32, bits / 4, "{format}");
        assert_eq!(
            format.container().name,
            match shift {
                0 => format.name,
                29 => "f64",
                _ => "f32",
            }
        );
        for code in [0, 1, format.mask() >> 1, format.mask()] {
            let word = format.to_register(code);
            assert_eq!(word, code << shift, "{format}");
            let ignored = (1 << shift) - 1;
            assert_eq!(format.from_register(word | ignored), code, "{format}");
            // The word holds the same value in the container format.
            if shift > 0 {
                let (own, f32) = (format.decode(code), format.container().decode(word));
                assert_eq!(own.class, f32.class, "{format} {code:#x}");
                assert_eq!((own.negative, own.exponent), (f32.negative, f32.exponent));
                assert_eq!(
                    own.significand << shift,
                    f32.significand,
                    "{format} {code:#x}"
                );
            }
        }
    }
}

#[test]
fn an_unknown_name_is_answered_with_near_ones() {
    let message = Format::named("e4m3fm").unwrap_err().to_string();
    assert!(message.contains("e4m3fn"), "{message}");
}
