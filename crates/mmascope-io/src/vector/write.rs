//! Writes vector lines from operands.

use crate::dpa::{Operands, Signature, Unit};
use crate::format::Format;

/// Register words as a line writes them: fixed-width hexadecimal, one after the other.
///
/// ```
/// assert_eq!(mmascope_io::vector::hex(&[0x3c00, 1], &mmascope_model::format::F16), "3c000001");
/// ```
#[must_use]
pub fn hex(words: &[u64], format: &Format) -> String {
    let mut text = String::new();
    push_hex(&mut text, words, format);
    text
}

/// The same behind what a text has: lines are written by the million.
fn push_hex(text: &mut String, words: &[u64], format: &Format) {
    let width = format.digits();
    text.reserve(words.len() * width);
    for word in words {
        let own = (u64::BITS - word.leading_zeros()).div_ceil(4) as usize;
        let places = (0..width.max(own)).rev();
        text.extend(places.map(|place| DIGITS[(word >> (4 * place)) as usize & 15]));
    }
}

const DIGITS: [char; 16] = [
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
];

/// A line that asks for the result of these operands. `extra` is further keys, each a name and its
/// value as JSON text, which stand between the names and the operands.
///
/// ```
/// use mmascope_io::vector;
/// use mmascope_model::{dpa::Operands, isa::Catalogue};
/// let row = Catalogue::built_in().find("volta", "mma.m8n8k4.f32.f16.f16.f32")?;
/// let operands = Operands { a: &[0x3c00; 4], b: &[0; 4], ..Operands::default() };
/// let line = vector::question(&row.architecture, &row.name, &[("id", "7".into())], &row.signature, &operands);
/// assert_eq!(line, r#"{"arch":"volta","inst":"mma.m8n8k4.f32.f16.f16.f32","id":7,"#.to_owned()
///     + r#""a":"3c003c003c003c00","b":"0000000000000000","c":"00000000"}"#);
/// # Ok::<(), mmascope_model::Error>(())
/// ```
#[must_use]
pub fn question(
    arch: &str,
    inst: &str,
    extra: &[(&str, String)],
    signature: &Signature,
    operands: &Operands<'_>,
) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let mut line = format!("{{\"arch\":{},\"inst\":{}", text(arch), text(inst));
    for (key, value) in extra {
        line += &format!(",{}:{value}", text(key));
    }
    let mut operand = |key: &str, words: &[u64], format: &Format| {
        for part in [",\"", key, "\":\""] {
            line.push_str(part);
        }
        push_hex(&mut line, words, format);
        line.push('"');
    };
    operand("a", operands.a, &signature.a);
    operand("b", operands.b, &signature.b);
    operand("c", &[operands.c], &signature.c);
    if let Some(scale) = signature.scale {
        operand("sa", operands.scale_a, &scale.format);
        operand("sb", operands.scale_b, &scale.format);
    }
    line.push('}');
    line
}

/// A result as lines write it: hexadecimal digits, or `nan` where the NaN's payload is not known.
#[must_use]
pub fn answer(unit: &Unit, d: u64) -> String {
    if unit.is_nan(d) && !unit.program().nan_is_known() {
        "nan".to_owned()
    } else {
        hex(&[d], &unit.signature().d)
    }
}
