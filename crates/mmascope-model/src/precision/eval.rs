//! Evaluation of chosen instructions: exact where PTX defines the bits, enclosures where a unit's tables are unknown.
//!
//! No bits are invented. An approximate function of which only an error bound is documented gives the correctly
//! rounded value and the smallest and largest result that the bound allows; measured tables make it exact
//! (`isa/functions.txt`).

mod approximate;
mod conversion;
mod exact;
mod function;
mod interval;
mod library;
mod plan;
mod quotient;
mod run;
mod table;

pub(crate) use exact::{divided, quotient, rooted};
pub use run::{Evaluator, evaluate};
pub use table::{Bound, Functions};

use crate::format::{Class, Format};

/// What is known of a result: register words of its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enclosure {
    /// The result; where the bits are unknown, the correctly rounded one.
    pub out: u64,
    /// The smallest possible result.
    pub lo: u64,
    /// The largest possible result.
    pub hi: u64,
    /// What bounds it, where the bits are unknown.
    pub bound: Option<String>,
}

impl Enclosure {
    /// A result that is known bit for bit.
    #[must_use]
    pub fn known(word: u64) -> Self {
        Self {
            out: word,
            lo: word,
            hi: word,
            bound: None,
        }
    }

    /// Whether the bits are known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.bound.is_none() && self.lo == self.hi && self.out == self.lo
    }

    /// Whether a word of the format is among the possible results.
    #[must_use]
    pub fn holds(&self, format: &Format, word: u64) -> bool {
        if self.is_known() {
            return self.out == word;
        }
        let class = format.decode(format.from_register(word)).class;
        let inside = order(format, self.lo) <= order(format, word)
            && order(format, word) <= order(format, self.hi);
        class != Class::Nan && inside
    }
}

/// A number that orders the words of a signed float as their values; −0 comes just before +0.
fn order(format: &Format, word: u64) -> i128 {
    let code = format.from_register(word);
    let sign = 1_u64 << (format.bits - 1);
    if code & sign == 0 {
        i128::from(code)
    } else {
        -1 - i128::from(code & !sign)
    }
}
