//! `mmascope formats`: number formats with their ranges and special values, and every code of a narrow one.

use std::io::Write;

use serde_json::{Map, Value as Json, json};

use crate::args::{Common, Formats};
use crate::layout;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::terminal;
use mmascope::explain::{Facts, TracedValue};
use mmascope::format::{FORMATS, Format, Kind};
use mmascope::isa::Catalogue;

/// The widest format whose codes are listed.
const LISTED_BITS: u32 = 8;
/// Digits of a value in the table; of one format the value is exact as well.
const DIGITS: usize = 4;
/// Digits before the point that stand without an exponent there.
const LONG: usize = 6;

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Formats,
) -> Result<Status, Failure> {
    // A file's own formats stand behind those of the table; its names go first.
    let declared = catalogue.declared_formats();
    let named = |name: &str| {
        let lower = name.to_lowercase();
        let own = declared.iter().rev().find(|own| own.name == lower);
        own.map_or_else(|| Format::named(name), |own| Ok(*own))
    };
    let one = options.name.as_deref().map(named).transpose()?;
    let all: Vec<Format> = FORMATS.iter().chain(declared).copied().collect();
    let chosen = match &one {
        Some(format) => std::slice::from_ref(format),
        None => &all[..],
    };
    if common.json() {
        let list: Vec<Json> = chosen
            .iter()
            .map(|format| json_of(format, one.is_some()))
            .collect();
        let mut body = Map::new();
        body.insert("formats".into(), list.into());
        report::print_json(catalogue, body)?;
        return Ok(Status::Done);
    }
    match &one {
        Some(format) => print_one(format)?,
        None => print_all(chosen)?,
    }
    Ok(Status::Done)
}

fn print_all(formats: &[Format]) -> Result<(), Failure> {
    let head = [
        "format",
        "bits",
        "fields",
        "bias",
        "largest",
        "normal from",
        "least",
        "special",
    ];
    let mut table = Table::new(&head);
    for format in formats {
        let facts = Facts::of(format);
        let special = [
            (facts.infinity, "inf"),
            (facts.nans > 0, "NaN"),
            (facts.negative_zero, "-0"),
        ];
        let special = special.into_iter().filter(|(has, _)| *has);
        let special: Vec<&str> = special.map(|(_, name)| name).collect();
        let text = |value: &TracedValue| in_one_notation(&value.decimal_of(DIGITS));
        table.add_row([
            format.name.to_owned(),
            format.bits.to_string(),
            facts.fields,
            facts.bias.map_or(String::new(), |bias| bias.to_string()),
            text(&facts.largest),
            facts.smallest_normal.as_ref().map_or(String::new(), text),
            text(&facts.smallest),
            special.join(" "),
        ]);
    }
    writeln!(
        terminal::out(),
        "{table}\n{}",
        layout::paragraph("Codes of a narrow one, and other spellings: mmascope formats NAME")
    )?;
    Ok(())
}

/// Small numbers of a column with an exponent, each of them, and large ones too: some have one in any case.
fn in_one_notation(text: &str) -> String {
    let digits = text.trim_start_matches('-');
    let is_plain = !digits.contains('e');
    let is_long = digits
        .split('.')
        .next()
        .is_some_and(|whole| whole.len() > LONG);
    match text.parse::<f64>() {
        Ok(value) if is_plain && (is_long || digits.starts_with("0.000")) => {
            let text = format!("{value:.*e}", DIGITS - 1);
            let (significand, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let significand = match significand.contains('.') {
                true => significand.trim_end_matches('0').trim_end_matches('.'),
                false => significand,
            };
            format!("{significand}e{exponent}")
        }
        _ => text.to_owned(),
    }
}

fn print_one(format: &Format) -> Result<(), Failure> {
    let facts = Facts::of(format);
    let mut out = terminal::out();
    let mut line = |name: &str, text: String| {
        if text.is_empty() {
            return Ok(());
        }
        writeln!(out, "{}", layout::labelled(&format!("{name:<14}"), &text))
    };
    line("format", format.name.to_owned())?;
    line("also", format.aliases().collect::<Vec<_>>().join(" "))?;
    line("bits", format.bits.to_string())?;
    line("fields", facts.fields)?;
    line(
        "bias",
        facts.bias.map_or(String::new(), |bias| bias.to_string()),
    )?;
    line("largest", both(&facts.largest))?;
    line(
        "least normal",
        facts.smallest_normal.as_ref().map_or(String::new(), both),
    )?;
    line("least", both(&facts.smallest))?;
    line(
        "infinities",
        if facts.infinity { "two" } else { "none" }.to_owned(),
    )?;
    let nans = match facts.nans {
        0 => "none".to_owned(),
        1 => "1 code".to_owned(),
        many => format!("{many} codes"),
    };
    line("NaN", nans)?;
    line(
        "-0",
        if facts.negative_zero {
            "a code of its own"
        } else {
            "none"
        }
        .to_owned(),
    )?;
    line("word", word(format))?;
    if format.bits <= LISTED_BITS {
        writeln!(out, "\ncode  value")?;
        for (code, value) in Facts::codes(format).enumerate() {
            writeln!(
                out,
                "{code:>0width$x}{}{value}",
                " ".repeat(6 - width(format)),
                width = width(format)
            )?;
        }
    }
    Ok(())
}

/// A value in decimal digits, and exactly where these are not.
fn both(value: &TracedValue) -> String {
    let (short, exact) = (value.decimal_of(9), value.to_string());
    if short == exact {
        short
    } else {
        format!("{short} = {exact}")
    }
}

/// How a code sits in a register word.
fn word(format: &Format) -> String {
    let register = format.register;
    match (register.of, register.shift) {
        (Some(whole), shift) => format!(
            "the upper {} bits of a word of {}; the {shift} low bits are ignored",
            format.bits, whole.name
        ),
        _ => format!("{} bits", register.bits),
    }
}

fn width(format: &Format) -> usize {
    format.bits.div_ceil(4) as usize
}

fn json_of(format: &Format, with_codes: bool) -> Json {
    let facts = Facts::of(format);
    let float = format.float();
    let mut body = json!({
        "name": format.name,
        "aliases": format.aliases().collect::<Vec<_>>(),
        "bits": format.bits,
        "word_bits": format.register.bits,
        "signed": format.signed,
        "exponent_bits": float.map(|float| float.exponent_bits),
        "fraction_bits": float.map(|float| float.fraction_bits),
        "bias": facts.bias,
        "scale": match format.kind {
            Kind::Fixed { scale } => Some(scale),
            Kind::Float(_) => None,
        },
        "largest": facts.largest.to_string(),
        "least_normal": facts.smallest_normal.map(|value| value.to_string()),
        "least": facts.smallest.to_string(),
        "infinities": facts.infinity,
        "nan_codes": facts.nans,
        "negative_zero": facts.negative_zero,
    });
    if with_codes && format.bits <= LISTED_BITS {
        let codes = Facts::codes(format).map(|value| value.to_string());
        body["codes"] = codes.collect::<Vec<_>>().into();
    }
    body
}

#[cfg(test)]
mod tests {
    use super::in_one_notation;

    #[test]
    fn small_and_large_numbers_have_exponents() {
        for (text, expected) in [
            ("0.00006104", "6.104e-5"),
            ("0.0009765625", "9.766e-4"),
            ("0.001953125", "0.001953125"),
            ("5.96e-8", "5.96e-8"),
            ("0.0005", "5e-4"),
            ("2147483647", "2.147e9"),
            ("114688", "114688"),
            ("-1", "-1"),
            ("0", "0"),
        ] {
            assert_eq!(in_one_notation(text), expected);
        }
    }
}
