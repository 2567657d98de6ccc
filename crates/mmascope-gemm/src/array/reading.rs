//! Describes how the elements of a file are read, since the same bytes can mean two things.

use super::casting::Way;
use super::{Array, Casting, Element};
use crate::format::{BF16, E5M2, Format};

/// What an array is taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayReading {
    /// The file, and the array in it, as the caller named them.
    pub name: String,
    /// The element type as the file names it.
    pub dtype: String,
    /// What is done with the elements.
    pub words: String,
    /// Why they may mean something else.
    pub warning: Option<String>,
}

impl Array {
    /// How [`Array::words`] takes the elements for an operand of that format.
    #[must_use]
    pub fn reading(&self, operand: &Format, casting: &Casting) -> ArrayReading {
        let words = match self.element {
            Element::Number(from) => match Self::way(&from, operand, casting) {
                Way::Same => format!("values of {operand}"),
                Way::Word => format!(
                    "f32 words as they are: the unit takes the upper part as {operand} (none is \
                     rounded)"
                ),
                Way::Rounded(rounding) => {
                    let clamped = if casting.saturate { ", saturating" } else { "" };
                    let rounding = rounding.to_string().to_uppercase();
                    format!("values of {from} rounded {rounding} to {operand}{clamped}")
                }
            },
            _ => format!("raw codes of {operand}"),
        };
        self.read_as(words, operand)
    }

    /// How [`Array::scale_words`] takes the elements for scales of that format.
    #[must_use]
    pub fn scale_reading(&self, scale: &Format) -> ArrayReading {
        self.read_as(format!("raw codes of {scale}"), scale)
    }

    /// The element type without its byte order.
    fn kind(&self) -> &str {
        self.dtype.trim_start_matches(['<', '>', '|', '='])
    }

    /// The one format of `ml_dtypes` that `np.save` writes as this element type.
    pub(super) fn written_by_numpy(&self) -> Option<Format> {
        match (self.element, self.kind()) {
            (Element::Opaque(2), _) => Some(BF16),
            (Element::Opaque(1), "f1") => Some(E5M2),
            _ => None,
        }
    }

    fn read_as(&self, words: String, format: &Format) -> ArrayReading {
        let kind = self.kind();
        let written = self.written_by_numpy().filter(|own| own != format);
        let warning = written.map(|own| {
            let name = if own == BF16 {
                "bfloat16"
            } else {
                "float8_e5m2"
            };
            let void = if kind == "f1" { "f1" } else { "void" };
            format!(
                "{}: {void} elements ({}) are read as {format} codes; if this file holds {name}, \
                 which np.save writes as {kind}, its numbers are wrong here: save it as float32, or \
                 take an instruction with {own} operands",
                self.name, self.dtype
            )
        });
        ArrayReading {
            name: self.name.clone(),
            dtype: self.dtype.clone(),
            words,
            warning,
        }
    }
}
