//! The table of formats against the project's `formats.json`, where that file is at hand.

use std::path::Path;

use mmascope::format::{Class, FORMATS, Format, Kind};
use num_bigint::BigInt;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::dyadic::Dyadic;

/// The text of the file; without it these tests have nothing to compare with.
fn text() -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/spec/formats.json");
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) => {
            println!("skipped: {}: {error}", path.display());
            None
        }
    }
}

fn specification() -> Vec<Value> {
    let Some(text) = text() else {
        return Vec::new();
    };
    let mut all: Value = serde_json::from_str(&text).unwrap();
    let Value::Array(formats) = all["formats"].take() else {
        panic!("no formats")
    };
    formats
}

/// The lists of values as they are written: `serde_json` does not round decimals correctly.
#[derive(serde::Deserialize)]
struct Lists {
    formats: Vec<List>,
}

#[derive(serde::Deserialize)]
struct List {
    name: String,
    #[serde(default)]
    decode: Vec<Box<RawValue>>,
}

/// The format of an entry; the entry `e4m3` is the IEEE-like one, which we call `e4m3-ieee`.
fn format_of(entry: &Value) -> Option<Format> {
    format_named(entry["name"].as_str().unwrap())
}

fn format_named(name: &str) -> Option<Format> {
    let name = match name {
        "nv4_e0m3" => return None, // nobody has published what its codes mean
        "e4m3" => "e4m3-ieee",
        name => name,
    };
    let found = FORMATS.iter().find(|format| format.name == name);
    Some(*found.unwrap_or_else(|| panic!("{name} is not in the table")))
}

fn number(code: &Value) -> u64 {
    u64::from_str_radix(code.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

/// A value written `n*2^e`.
fn dyadic(text: &str) -> Dyadic {
    let (mantissa, exponent) = text.split_once("*2^").unwrap();
    Dyadic::new(
        mantissa.parse::<BigInt>().unwrap(),
        exponent.parse::<i64>().unwrap(),
    )
}

fn magnitude(format: &Format, code: u64) -> Dyadic {
    let exact = format.decode(code).exact().unwrap();
    Dyadic::new(exact.magnitude, i64::from(exact.exponent))
}

/// The codes of a class, of all codes or (wide formats) of those with the top or no field bits.
fn codes_of(format: &Format, class: Class) -> Vec<u64> {
    (0..=format.mask())
        .filter(|&code| format.decode(code).class == class)
        .collect()
}

#[test]
fn parameters_and_named_codes() {
    for entry in specification() {
        let Some(format) = format_of(&entry) else {
            continue;
        };
        let name = format.name;
        assert_eq!(entry["bits"], format.bits, "{name}");
        let Kind::Float(float) = format.kind else {
            check_fixed(&format, &entry);
            continue;
        };
        assert_eq!(entry["sign_bit"], format.signed, "{name}");
        assert_eq!(entry["exponent_bits"], float.exponent_bits, "{name}");
        assert_eq!(entry["mantissa_bits"], float.fraction_bits, "{name}");
        assert_eq!(entry["bias"], float.bias, "{name}");
        assert_eq!(entry["emin"], float.emin(), "{name}");
        for which in ["max_finite", "min_normal", "min_subnormal", "max_subnormal"] {
            if entry[which].is_null() {
                assert!(
                    !float.subnormals && which.ends_with("subnormal"),
                    "{name} {which}"
                );
                continue;
            }
            let expected = dyadic(entry[which]["exact"].as_str().unwrap());
            let got = magnitude(&format, number(&entry[which]["code"]));
            assert_eq!(got, expected, "{name} {which}");
        }
        assert_eq!(
            number(&entry["max_finite"]["code"]),
            format.max_finite(false),
            "{name}"
        );
        check_classes(&format, &entry);
    }
}

fn check_classes(format: &Format, entry: &Value) {
    let name = format.name;
    for (which, class) in [
        ("zero_codes", Class::Zero),
        ("inf_codes", Class::Infinite),
        ("nan_codes", Class::Nan),
    ] {
        // Formats of 16 bits and more list no NaN codes: IEEE's rule, which the facts hold.
        let Some(listed) = entry[which].as_array() else {
            continue;
        };
        let listed: Vec<u64> = listed.iter().map(number).collect();
        if format.bits <= 19 {
            assert_eq!(codes_of(format, class), listed, "{name} {which}");
        }
        for code in listed {
            assert_eq!(format.decode(code).class, class, "{name} {code:#x}");
        }
    }
}

fn check_fixed(format: &Format, entry: &Value) {
    let name = format.name;
    assert_eq!(entry["signed"], format.signed, "{name}");
    let value = |code| f64_of(format, code).unwrap();
    assert_eq!(
        entry["min"].as_f64(),
        Some(value(if format.signed {
            1 << (format.bits - 1)
        } else {
            0
        }))
    );
    assert_eq!(
        entry["max"].as_f64(),
        Some(value(format.max_finite(false))),
        "{name}"
    );
    let scale = entry["scale"]
        .as_str()
        .map_or(0, |scale| scale[2..].parse().unwrap());
    assert_eq!(format.kind, Kind::Fixed { scale }, "{name}");
}

fn f64_of(format: &Format, code: u64) -> Option<f64> {
    let exact = format.decode(code).exact()?;
    let magnitude = exact.magnitude as f64 * f64::powi(2.0, exact.exponent);
    Some(if exact.negative {
        -magnitude
    } else {
        magnitude
    })
}

#[test]
fn every_listed_value() {
    let Some(text) = text() else { return };
    let lists: Lists = serde_json::from_str(&text).unwrap();
    let mut values = 0;
    for List { name, decode } in lists.formats.iter().filter(|list| !list.decode.is_empty()) {
        let format = format_named(name).unwrap();
        assert_eq!(decode.len() as u64, format.mask() + 1, "{format}");
        let listed = decode.iter().map(|value| value.get().trim_matches('"'));
        for (code, expected) in (0..).zip(listed) {
            let value = format.decode(code);
            let agrees = match expected {
                "nan" => value.class == Class::Nan,
                "inf" => value.class == Class::Infinite && !value.negative,
                "-inf" => value.class == Class::Infinite && value.negative,
                "-0" => value.class == Class::Zero && value.negative,
                number => f64_of(&format, code) == number.parse().ok(),
            };
            assert!(
                agrees,
                "{format} {code:#x}: {value:x?}, expected {expected}"
            );
            values += 1;
        }
    }
    println!("{values} values compared");
    assert!(values > 2500);
}

#[test]
fn the_names_of_other_projects() {
    for entry in specification() {
        for project in ["mlir", "ml_dtypes", "numpy"] {
            // `FloatNV…` are type names inside one compiler, not MLIR's public ones.
            let name = entry[project]
                .as_str()
                .filter(|name| !name.starts_with("FloatNV"));
            let Some(name) = name else { continue };
            assert_eq!(
                Format::named(name),
                Ok(format_of(&entry).unwrap()),
                "{project} {name}"
            );
        }
    }
}
