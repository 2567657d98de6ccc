//! A line that declares a format: `format NAME = sign 1 exponent 4 bias 7 fraction 3 specials fn [in f32]`.

use super::{Field, Outcome, Reader, fault};
use crate::dpa::Token;
use crate::format::{FORMATS, Float, Specials};

const EXPECTED: &str = "expected 'format NAME = sign 0|1 exponent E bias B fraction M specials ieee|fn|fnuz|none [in f32]'";

impl Reader<'_> {
    pub(super) fn declare(&mut self, head: Field<'_>, words: &[Token<'_>]) -> Outcome<()> {
        let end = head.end();
        let [name, equals, rest @ ..] = words else {
            return fault(head.line, end, EXPECTED);
        };
        if equals.text != "=" {
            return fault(head.line, equals.column, EXPECTED);
        }
        let mut rest = rest.iter();
        let mut value = |key: &str| -> Outcome<Token<'_>> {
            match rest.next() {
                Some(word) if word.text == key => {}
                Some(word) => return fault(head.line, word.column, EXPECTED),
                None => return fault(head.line, end, EXPECTED),
            }
            match rest.next() {
                Some(word) => Ok(*word),
                None => fault(head.line, end, EXPECTED),
            }
        };
        let number = |word: Token<'_>, low: i32, high: i32| match word.text.parse::<i32>() {
            Ok(number) if (low..=high).contains(&number) => Ok(number),
            _ => fault(
                head.line,
                word.column,
                format!("'{}': expected a whole number {low} to {high}", word.text),
            ),
        };
        let signed = number(value("sign")?, 0, 1)? == 1;
        let exponent_bits = number(value("exponent")?, 1, 8)? as u32;
        let bias = number(value("bias")?, -200, 200)?;
        let fraction_bits = number(value("fraction")?, 0, 23)? as u32;
        let word = value("specials")?;
        let specials = match word.text {
            "ieee" => Specials::Ieee,
            "fn" => Specials::AllOnesNan,
            "fnuz" => Specials::NegativeZeroNan,
            "none" => Specials::None,
            other => {
                let message = format!("specials '{other}': expected ieee, fn, fnuz or none");
                return fault(head.line, word.column, message);
            }
        };
        let float = Float {
            exponent_bits,
            fraction_bits,
            bias,
            specials,
            subnormals: true,
        };
        let within = match words.get(12) {
            None => None,
            Some(_) => {
                let word = value("in")?;
                let known = FORMATS.iter().find(|format| format.name == word.text);
                match known {
                    Some(format) => Some(format),
                    None => {
                        let message = format!("'{}': expected a format like f32", word.text);
                        return fault(head.line, word.column, message);
                    }
                }
            }
        };
        if let Some(extra) = words.get(14) {
            return fault(head.line, extra.column, EXPECTED);
        }
        let declared = self.formats.declare(name.text, signed, float, within);
        match declared {
            Ok(_) => Ok(()),
            Err(message) => fault(head.line, name.column, message),
        }
    }
}
