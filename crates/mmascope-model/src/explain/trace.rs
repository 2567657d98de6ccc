//! The parts of an explanation: operands, steps, terms, roundings, losses.

use num_bigint::BigInt;
use serde::{Serialize, Serializer};

use super::value::TracedValue;
use crate::dpa::Addends;
use crate::exact::Dyadic;
use crate::format::Rounding;

/// How one output came to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Trace {
    /// Formats and K, as [`crate::dpa::Signature`] writes them.
    pub types: String,
    /// The arithmetic in the notation of the catalogue.
    pub arithmetic: String,
    /// The format that operands are widened to before they are multiplied: the exponents of the
    /// operand table are its own, so that numbers that are subnormal in their own format may be
    /// normal. `None` where they are not widened, or not by every statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widened: Option<&'static str>,
    /// Products that one instruction takes.
    pub k: usize,
    /// Chained instructions: each one's d is the next one's c.
    pub instructions: usize,
    /// Names of the operand modifiers in use.
    pub modifiers: Vec<String>,
    /// What was done to the operands before: padding, conversion.
    pub notes: Vec<String>,
    /// The pairs of operands, k ascending.
    pub pairs: Vec<PairTrace>,
    /// The accumulator input.
    pub c: TracedOperand,
    /// Scales of A's blocks; empty without block scales.
    pub scale_a: Vec<TracedOperand>,
    /// Scales of B's blocks.
    pub scale_b: Vec<TracedOperand>,
    /// Products that share a scale; 0 without block scales.
    pub scale_block: usize,
    /// The steps in order; the last one gives the result.
    pub steps: Vec<TracedStep>,
    /// The result as a register word and what it means.
    pub result: TracedOperand,
    /// Whether the result is a NaN whose sign and payload are not known; its word is then one of many.
    pub any_nan: bool,
    /// The exact `c + Σ a·b`, scales and modifiers included.
    pub exact: TracedValue,
    /// The result against the exact one; `None` when one of them is not finite.
    pub error: Option<TracedError>,
}

/// The operands of a dot product and what they are worth, before any arithmetic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracedCode {
    /// The pairs of operands, k ascending.
    pub pairs: Vec<PairTrace>,
    /// The accumulator input.
    pub c: TracedOperand,
    /// Scales of A's blocks; empty without block scales.
    pub scale_a: Vec<TracedOperand>,
    /// Scales of B's blocks.
    pub scale_b: Vec<TracedOperand>,
    /// Products that share a scale; 0 without block scales.
    pub scale_block: usize,
    /// The exact `c + Σ a·b` (or of a + b, a − b), scales and modifiers included.
    pub exact: TracedValue,
    /// What each pair adds.
    #[serde(skip)]
    pub added: Addends,
}

/// One k: two operands and their exact product, without scales.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PairTrace {
    /// Index, from 0.
    pub k: usize,
    /// a_k.
    pub a: TracedOperand,
    /// b_k.
    pub b: TracedOperand,
    /// The exact product; NaN or ∞ where an operand makes it so.
    pub product: TracedValue,
    /// Its exponent e(a_k) + e(b_k), not normalised; `None` for zeros and specials.
    pub exponent: Option<i64>,
}

/// A word and what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracedOperand {
    /// The register word in hexadecimal.
    pub word: String,
    /// What kind of value: `zero`, `subnormal`, `normal`, `infinite` or `nan`.
    pub class: &'static str,
    /// The value, modifiers applied.
    pub value: TracedValue,
    /// The field exponent; `None` for zeros and specials.
    pub exponent: Option<i64>,
}

/// The result's error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TracedError {
    /// Result − exact.
    pub difference: Dyadic,
    /// The unit in the last place of the result format at the exact value is `2^ulp`.
    pub ulp: i64,
    /// The difference in those units.
    pub ulps: Dyadic,
}

/// One sum: terms are brought onto a grid, added exactly, and the sum is rounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TracedStep {
    /// Name of the value that the step makes; the last one is `d`.
    pub name: String,
    /// What the step is: `t-fdpa, block 1 of 2`.
    pub role: String,
    /// The whole alignment; `None` when nothing is aligned because the sum is exact.
    pub alignment: Option<Alignment>,
    /// Operands that were flushed to zero before.
    pub flushed: Vec<Flush>,
    /// Finite terms in order; one is 0 only where a sum that cancelled keeps its exponent.
    pub terms: Vec<TracedTerm>,
    /// Names of the terms that are zero and take no part.
    pub zeros: Vec<String>,
    /// A term that counts as zero because it is too small (GTR-FDPA's c).
    pub dropped: Option<Dropped>,
    /// Why the result is NaN or ∞, when the operands decide that.
    pub special: Option<TracedSpecial>,
    /// The exact sum of the aligned terms.
    pub sum: Dyadic,
    /// Factors that the sum is multiplied by, exactly (GST-FDPA's block scales).
    pub factors: Vec<Factor>,
    /// The floor before the rounding (TR-FDPA and GTR-FDPA).
    pub floor: Option<Rounded>,
    /// The rounding to the result's format; `None` for an exact zero, a special result and a value
    /// that is passed on unrounded.
    pub rounding: Option<Rounded>,
    /// What became of the rounded value beyond its word: overflow, sign of zero, flush.
    pub remarks: Vec<String>,
    /// Result format; empty when the value is passed on unrounded.
    pub format: &'static str,
    /// The register word; empty when the value is passed on unrounded.
    pub word: String,
    /// The value that the step makes.
    pub value: TracedValue,
    /// What was lost, before − after, in order; only what is not zero.
    pub losses: Vec<Loss>,
    /// Whether the result has the value with the other sign, so that its losses count against those of
    /// other steps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subtracted: bool,
}

/// How the terms of a step were aligned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alignment {
    /// The largest exponent E.
    pub exponent: i64,
    /// The term that set it, or `floor`.
    pub set_by: String,
    /// The smallest E that the unit allows.
    pub floor: Option<i64>,
    /// How each term was brought to its grid.
    #[serde(serialize_with = "as_text")]
    pub rounding: Rounding,
    /// The grids in words: `2^(E-24)`.
    pub grid: String,
}

/// A term of a sum and what alignment made of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TracedTerm {
    /// `p3`, `c` or the name of an earlier step's value.
    pub name: String,
    /// Its exact value before alignment.
    pub value: Dyadic,
    /// The exponent with which it takes part in alignment.
    pub exponent: i64,
    /// Place of the highest digit of its significand, which may be 0.
    pub high: i64,
    /// Place of the lowest digit of its significand.
    pub low: i64,
    /// What is cut off; `None` when the term enters the sum as it is.
    pub cut: Option<Cut>,
    /// Numbers of the products it contains that are not zero; c has the number K.
    #[serde(skip)]
    pub(super) cover: Vec<usize>,
}

/// A term on its grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cut {
    /// The grid is `2^place`.
    pub place: i64,
    /// The term is this multiple of it now.
    #[serde(serialize_with = "as_text")]
    pub multiple: BigInt,
    /// Digits of the significand on the grid.
    pub kept: String,
    /// Digits of the significand below the grid, from `2^(place − 1)` or, when the whole
    /// significand lies below the grid, from its highest digit on.
    pub lost: String,
    /// Before − after.
    pub difference: Dyadic,
}

/// A sum brought to the last place of its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rounded {
    /// The mode.
    #[serde(serialize_with = "as_text")]
    pub rounding: Rounding,
    /// The last place is `2^place`.
    pub place: i64,
    /// Binary digits of the magnitude that are kept, before rounding.
    pub kept: String,
    /// Binary digits below the last place, without zeros at their end.
    pub discarded: String,
    /// `exact`, `toward zero` or `away from zero`.
    pub direction: &'static str,
    /// The rounded value is this multiple of `2^place`.
    #[serde(serialize_with = "as_text")]
    pub multiple: BigInt,
}

/// An operand that became zero before the step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flush {
    /// `a3`, `b3` or `c`.
    pub name: String,
    /// What it was.
    pub value: TracedValue,
    /// The zero it became.
    pub zero: TracedValue,
}

/// A result that the operands decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracedSpecial {
    /// Names of everything that the step would add.
    pub adds: Vec<String>,
    /// Why the result is NaN or ∞: `p3 = 0 * inf`.
    pub reason: String,
}

/// A term that counts as zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: TracedValue,
    /// Its exponent.
    pub exponent: i64,
    /// Terms with exponents below this one are dropped.
    pub below: i64,
}

/// An exact factor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Factor {
    /// `sa0`.
    pub name: String,
    /// Its value.
    pub value: TracedValue,
}

/// What a step lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// Where: `aligning p3`, `flooring`, `rounding`, `flushing a2`, `dropping c`.
    pub by: String,
    /// Before − after.
    pub value: Dyadic,
}

fn as_text<T: ToString, S: Serializer>(
    value: &T,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_string())
}

impl TracedStep {
    /// The losses of a step in all.
    #[must_use]
    pub fn lost(&self) -> Dyadic {
        self.losses.iter().map(|loss| &loss.value).sum()
    }

    /// The place of the highest digit that any term or the sum has.
    #[must_use]
    pub fn top(&self) -> Option<i64> {
        let terms = self.terms.iter().map(|term| term.high);
        let e = self.alignment.as_ref().map(|alignment| alignment.exponent);
        terms.chain(e).chain(self.sum.top()).max()
    }

    /// The place right of which the picture shows what is lost or discarded: the grid of an
    /// aligned sum, the result's last place of an exact one.
    #[must_use]
    pub fn place_of(&self, term: &TracedTerm) -> Option<i64> {
        let cut = term.cut.as_ref().map(|cut| cut.place);
        cut.or_else(|| self.rounding.as_ref().map(|rounded| rounded.place))
    }

    /// The aligned value of a term.
    #[must_use]
    pub fn aligned(&self, term: &TracedTerm) -> Dyadic {
        match &term.cut {
            Some(cut) => Dyadic::new(cut.multiple.clone(), cut.place),
            None => term.value.clone(),
        }
    }

    /// Numbers of the products, c being K, that are in the step's value.
    pub(super) fn cover(&self) -> Vec<usize> {
        let mut cover: Vec<usize> = self
            .terms
            .iter()
            .flat_map(|term| term.cover.iter().copied())
            .collect();
        cover.sort_unstable();
        cover
    }
}

impl Trace {
    /// The losses of all steps: exact − result, where both are finite.
    #[must_use]
    pub fn lost(&self) -> Dyadic {
        let lost = |step: &TracedStep| match step.subtracted {
            false => step.lost(),
            true => -&step.lost(),
        };
        let lost: Vec<Dyadic> = self.steps.iter().map(lost).collect();
        lost.iter().sum()
    }

    /// What is noted of operands and result, for people.
    pub(super) fn remarks(&self) -> impl Iterator<Item = String> {
        let unknown = self.any_nan.then(|| {
            let word = &self.result.word;
            format!("which NaN the result is is not known; {word} stands for any")
        });
        self.notes.iter().cloned().chain(unknown)
    }

    /// The result as a register word.
    #[must_use]
    pub fn word(&self) -> u64 {
        u64::from_str_radix(&self.result.word, 16).unwrap_or_default()
    }
}
