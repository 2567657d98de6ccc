//! The arithmetic of matrix units, exact and readable. This is the reference.
//!
//! One output element is `d = c + Σ a_k·b_k`, a *dot-product-accumulate* (DPA). What a unit does
//! with it is a [`Program`]: a few statements, almost always one, each of which runs a [`Dpa`]
//! algorithm over some of the k, adds two values or converts one. Programs have a text form, the
//! notation of the catalogue:
//!
//! ```text
//! t-fdpa L=16 F=25 e0=-133 -> rz f32 nan=7fffffff
//! ```
//!
//! Everything here is integers: bits in, bits out. Names are those of the papers (T-FDPA, L, F,
//! e0, ρ); the sections cited are those of the arithmetic specification, §2.1 to §2.8, which
//! restates MMA-Sim (arXiv 2511.10909), arXiv 2512.07004 and arXiv 2609.14845.

#![deny(clippy::float_arithmetic)]

mod codes;
mod decoded;
mod describe;
mod events;
mod general;
mod ieee;
mod limits;
mod modifiers;
mod named;
mod notation;
mod output;
mod pair;
mod product;
mod program;
mod reading;
mod scalar;
pub mod schema;
mod signature;
mod signs;
mod single;
mod summary;
mod survey;
mod token;
mod unit;

pub use codes::Codes;
pub use decoded::Decoded;
pub use describe::ProgramParameter;
pub(crate) use describe::rounded as rounding_words;
pub use events::{EVENTS, Events};
pub use general::{
    AddMul, Fused, General, GroupExponent, Groups, Invalid, OperandChoice, SpecialRules, Sticky,
    Terms,
};
pub use modifiers::Modifiers;
pub use named::*;
pub use notation::Flaw;
pub use notation::at;
pub(crate) use notation::parse;
pub use output::{Nan, Output, Tininess, ZeroSign};
pub use program::{Operation, Program, Select, Source, Start, Statement};
pub use reading::{Part, Reading};
pub use scalar::Scalar;
pub use signature::Queries;
pub use signature::{OperandWords, Operands, Scale, Signature};
pub use signs::Signs;
pub use token::Token;
pub use token::tokens;
pub(crate) use unit::check_operands;
pub use unit::{Tiles, Unit};

use crate::format::Unpacked;

/// The sign of a zero that a flush makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlushSign {
    /// Always +0.
    Plus,
    /// The sign of what was flushed.
    Kept,
}

impl FlushSign {
    /// The word in the notation.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Plus => "plus",
            Self::Kept => "kept",
        }
    }
}

schema::typed_words!(FlushSign: Self::Plus => "plus", Self::Kept => "kept");

/// The value of a special result, decided before any finite arithmetic (§2.2 step 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    Nan,
    Infinite { negative: bool },
}

/// §2.2 step 1 over any terms: a NaN, or ∞ of both signs, is NaN; ∞ of one sign is that ∞.
fn special_sum(terms: impl IntoIterator<Item = Option<Special>>) -> Option<Special> {
    terms
        .into_iter()
        .flatten()
        .reduce(|sum, term| if sum == term { sum } else { Special::Nan })
}

/// A finite c as ∞ or NaN, if it is one.
fn special_value(value: &Unpacked) -> Option<Special> {
    use crate::format::Class::{Finite, Infinite, Nan, Zero};
    match value.class {
        Zero | Finite => None,
        Infinite => Some(Special::Infinite {
            negative: value.negative,
        }),
        Nan => Some(Special::Nan),
    }
}
