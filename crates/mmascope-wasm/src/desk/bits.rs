//! The bits of a word: fields, values, one bit changed.

use mmascope_model::explain::TracedValue;
use mmascope_model::format::Format;
use mmascope_model::{Error, Result};
use serde_json::{Value, json};

/// The register word of hexadecimal digits.
fn word(format: &Format, digits: &str) -> Result<u64> {
    let word = u64::from_str_radix(digits.trim().trim_start_matches("0x"), 16);
    let word = word.ok().filter(|word| *word <= format.widest_word());
    word.ok_or_else(|| {
        Error::Argument(format!(
            "'{}' is no word of {format}: up to {} hexadecimal digits are",
            mmascope_model::error::quoted(digits),
            format.digits()
        ))
    })
}

/// The fields of a code, highest bit first: the name of each and its digits, with the number of its lowest bit.
fn fields(format: &Format, code: u64) -> Vec<Value> {
    let mut widths: Vec<(&str, u32)> = Vec::new();
    match format.float() {
        Some(float) => {
            widths.extend(format.signed.then_some(("sign", 1)));
            widths.push(("exponent", float.exponent_bits));
            widths.push(("fraction", float.fraction_bits));
        }
        None => widths.push(("value", format.bits)),
    }
    let mut low = format.bits;
    let mut found = Vec::new();
    for (name, width) in widths.into_iter().filter(|(_, width)| *width > 0) {
        low -= width;
        let digits: String = (low..low + width)
            .rev()
            .map(|bit| if code >> bit & 1 == 1 { '1' } else { '0' })
            .collect();
        found.push(json!({"name": name, "digits": digits, "low": low}));
    }
    found
}

/// What a word is, bit by bit.
pub(super) fn of_word(format: &Format, word: u64) -> Value {
    let code = format.from_register(word);
    let value = TracedValue::of_word(format, word);
    let digits = format.digits();
    json!({
        "format": format.name,
        "word": format!("{word:0digits$x}"),
        "fields": fields(format, code),
        "value": value.to_string(),
        "decimal": value.decimal_of(17),
    })
}

pub(super) fn bits(format: &Format, digits: &str) -> Result<Value> {
    Ok(of_word(format, word(format, digits)?))
}

/// A word with one bit of its code changed; bit 0 is the lowest.
pub(super) fn flip(format: &Format, digits: &str, bit: u32) -> Result<Value> {
    if bit >= format.bits {
        return Err(Error::Argument(format!(
            "bit {bit}: {format} has {} bits",
            format.bits
        )));
    }
    let code = format.from_register(word(format, digits)?) ^ 1 << bit;
    Ok(of_word(format, format.to_register(code)))
}
