//! Explains one output step by step: decoded operands, alignment, sums, roundings, losses.
//!
//! A [`Trace`] is computed here, on exact numbers of any size, and not recorded from the reference:
//! its result is a second way to the same bits. Every step is one sum: terms are brought onto a
//! grid (or not), added exactly, and the sum is rounded (or passed on).
//!
//! # The text form
//!
//! `Display` writes a trace as lines from which it can be recomputed. Numbers are exact: a decimal
//! when it is short, a hexadecimal float otherwise; also `0 -0 inf -inf nan`. WORD is a register
//! word in hexadecimal, `e=` a field exponent (left out for zeros and specials).
//!
//! ```text
//! types    a=f16 b=f16 c=f32 d=f32 k=8       formats, products of one instruction, block scales
//! does     PROGRAM                           the arithmetic in the notation of the catalogue
//! widened  FORMAT                            a and b are widened to it first, so that the table has
//!                                            its exponents; left out when they are not
//! chain    N instructions                    left out for one: d of each is c of the next
//! mods     negA scaleD=-3                    left out when there are none
//! note     WORDS                             any number of them
//! result   WORD = VALUE
//! exact    VALUE                             c + Σ a·b, scales and modifiers included
//! error    VALUE = VALUE ulp of 2^P          result − exact; left out when one is not finite
//!
//! operands
//!   k     a   value  e   b   value  e   product  e
//!   0..3  WORD VALUE e   WORD VALUE e   VALUE    e     equal rows are one; '-' is no exponent
//!   c     WORD VALUE e
//!   sa0   WORD VALUE e                       scales of block 0
//!
//! step 1: NAME = p0..p3 + c   ROLE           what is added; (…) * sa0 * sb0 of a scaled group
//!   zero     p4..p7                          what is zero and takes no part
//!   flush    NAME VALUE -> VALUE             an operand taken as zero
//!   drop     NAME = VALUE counts as 0: e=-40 is below -3
//!   special  VALUE: WORDS                    the operands decide that the result is NaN or ∞
//!   E        23 from NAME, floor -132        the largest exponent; 'from floor' when that sets it
//!   cut      rz to 2^(E-24)                  how terms are rounded to their grids; two grids where
//!                                            a sum of products meets c
//!   bits     from 2^24
//!   NAME     23 -101...|..1 = -5*2^-1        exponent, digits kept|cut off, the term on its grid
//!   NAME     23 +101...:..1 = VALUE          of an exact sum: ':' is the result's last place
//!   total    VALUE                           the exact sum
//!   scale    NAME VALUE NAME VALUE           exact factors of the sum
//!   floor    rd at 2^P: -101|01 -> -6        the magnitude's kept|discarded digits, the multiple
//!   round    rne f32 at 2^P: -101|01 toward zero -> -5
//!   note     WORDS                           overflow, sign of zero, flush
//!   value    WORD = VALUE                    without 'WORD =' for a value passed on unrounded
//!   lost     VALUE aligning NAME             before − after, one line a loss
//!
//! steps 2 to 4: NAME = NAME   nothing changes  successive steps that hand a sum (or 0) on, as one
//!   zero     p1..p3                          what they would add
//!   value    WORD = VALUE
//!
//! lost     VALUE in all = exact - result     left out when something is not finite
//! ```
//!
//! In digits `.` is a place above or below the significand (a zero), and a run of many equal digits
//! is written once with its length: `.{38}`.

mod add_mul;
mod against;
mod block;
mod chain;
mod facts;
mod fused;
mod grouped;
mod html;
mod input;
mod integer;
mod lane;
mod number;
mod picture;
mod quiet;
mod report;
mod run;
mod step;
mod text;
mod trace;
mod value;

pub use against::{Comparison, Parting, TracedPart};
pub use chain::{ChainState, ChainStep, ChainSum, OutputChain};
pub use facts::Facts;
pub(crate) use html::escaped;
pub use html::{fragment, fragment_against, fragment_style, page, page_against};
pub use input::{TraceRequest, TracedInput};
pub(crate) use number::word as number_word;
pub use report::Report;
pub use trace::{
    Alignment, Cut, Dropped, Factor, Flush, Loss, PairTrace, Rounded, Trace, TracedCode,
    TracedError, TracedOperand, TracedSpecial, TracedStep, TracedTerm,
};
pub use value::TracedValue;

/// The register word that a text stands for in a format: a decimal, a power of two (`1.5*2^-3`), a C99
/// hexadecimal float, `inf`, `nan` or a word (`0x3c00`). `name` is for messages. What the format does not
/// have is rounded to nearest even if `round` is set, else an error.
///
/// # Errors
/// [`crate::Error::Argument`] naming the text and what is wrong with it.
///
/// ```
/// use mmascope_model::{explain, format::F16};
/// assert_eq!(explain::word_of("x", "0x1.8p1", &F16, false)?, 0x4200);
/// # Ok::<(), mmascope_model::Error>(())
/// ```
pub fn word_of(
    name: &str,
    text: &str,
    format: &crate::format::Format,
    round: bool,
) -> crate::Result<u64> {
    number::word(name, text, format, round)
}
