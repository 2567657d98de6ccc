//! The operands and modifiers of a line.

use super::BadLine;
use super::fields::{Fields, bad};
use crate::dpa::{Modifiers, OperandWords, Signature};
use crate::format::Format;
use crate::isa::Instruction;

/// Most products of a line, where instructions are chained.
const MOST_PRODUCTS: usize = 1 << 20;

/// The operand words of a line; `chained`: a and b may have any multiple of K elements.
pub(super) fn read_words(
    fields: &Fields<'_>,
    signature: &Signature,
    owner: &str,
    chained: bool,
) -> std::result::Result<OperandWords, BadLine> {
    let elements = |key: &str, format: &Format, count: usize| {
        let (text, column) = fields.required(key)?;
        hex_elements(key, &text, column, format, count)
    };
    let mut products = signature.k;
    if chained {
        let digits = fields.required("a")?.0.len();
        let count = digits / signature.a.digits();
        if count > 0 && count.is_multiple_of(signature.k) && count <= MOST_PRODUCTS {
            products = count;
        }
    }
    let a = elements("a", &signature.a, products)?;
    let b = elements("b", &signature.b, products)?;
    let c = elements("c", &signature.c, 1)?[0];
    let (mut scale_a, mut scale_b) = (Vec::new(), Vec::new());
    if let Some(scale) = signature.scale {
        scale_a = elements("sa", &scale.format, signature.scales())?;
        scale_b = elements("sb", &scale.format, signature.scales())?;
    } else if let Some((key, value)) = ["sa", "sb"]
        .iter()
        .find_map(|key| fields.get(key).map(|value| (key, value)))
    {
        let message = format!("\"{key}\": {owner} has no block scales");
        return Err(bad(fields.column(value), message));
    }
    Ok(OperandWords {
        a,
        b,
        c,
        scale_a,
        scale_b,
    })
}

/// The operand modifiers of a line; those of `default` where it has none.
pub(super) fn read_modifiers(
    fields: &Fields<'_>,
    instruction: &Instruction,
    default: Modifiers,
) -> std::result::Result<Modifiers, BadLine> {
    let Some(value) = fields.get("mods") else {
        let fits = instruction.check_modifiers(&default);
        return fits
            .map(|()| default)
            .map_err(|error| bad(1, error.to_string()));
    };
    let mut modifiers = Modifiers::default();
    let column = fields.column(value);
    let text = value.get();
    let names: Vec<String> = match serde_json::from_str::<String>(text) {
        // One string is taken as well: "negA noC".
        Ok(words) => words
            .split([' ', ','])
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect(),
        Err(_) => serde_json::from_str(text)
            .map_err(|_| bad(column, "\"mods\" must be a list of strings, or one string"))?,
    };
    for name in names {
        modifiers
            .add(&name)
            .map_err(|error| bad(column, error.to_string()))?;
    }
    instruction
        .check_modifiers(&modifiers)
        .map_err(|error| bad(column, error.to_string()))?;
    Ok(modifiers)
}

/// Splits a string of hex digits into register words.
pub(super) fn hex_elements(
    key: &str,
    text: &str,
    column: usize,
    format: &Format,
    count: usize,
) -> std::result::Result<Vec<u64>, BadLine> {
    let digits = format.digits();
    if let Some(at) = text.chars().position(|c| !c.is_ascii_hexdigit()) {
        let found: String = text.chars().skip(at).take(1).collect();
        return Err(bad(
            column + at,
            format!("\"{key}\": '{found}' is no hexadecimal digit"),
        ));
    }
    if text.len() != count * digits {
        let message = format!(
            "\"{key}\" has {} digits; {count} × {digits} are needed ({count} of {format})",
            text.len()
        );
        return Err(bad(column, message));
    }
    let mut words = Vec::with_capacity(count);
    for index in 0..count {
        let at = index * digits;
        let part = &text[at..at + digits];
        let Ok(word) = u64::from_str_radix(part, 16) else {
            return Err(bad(
                column + at,
                format!("\"{key}\": '{part}' is no hexadecimal number"),
            ));
        };
        // A line is written by people and programs: bits beside a signed code are a mistake there.
        let too_wide = format.register.shift == 0 && format.signed && word > format.mask();
        if too_wide {
            let message = format!(
                "\"{key}\": {part} does not fit the {} bits of {format}",
                format.bits
            );
            return Err(bad(column + at, message));
        }
        words.push(word);
    }
    Ok(words)
}
