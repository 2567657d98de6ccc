//! Compares units: gives them the same operands and reports where the results differ.
//!
//! Units need not have equal formats or K. Operands travel to a unit of other formats when these
//! hold them exactly; a unit with a smaller K computes slices of k, ascending, each result being the
//! next slice's c; a unit with a larger K is given +0 for the k that are missing.
//!
//! ```
//! use mmascope_lab::{cases::{Family, Generator}, diff::{self, DiffInput, Contender, Verdict}};
//! use mmascope_model::isa::Catalogue;
//!
//! let catalogue = Catalogue::built_in();
//! let find = |arch, inst| Contender::new(catalogue.find(arch, inst)?);
//! let units = [
//!     find("hopper", "mma.m16n8k16.f32.f16.f16.f32")?,
//!     find("ampere", "mma.m16n8k16.f32.f16.f16.f32")?,
//! ];
//! let generator = Generator::for_unit(Family::Close, 1, units[0].unit())?;
//! let differing = (0..100).find_map(|index| {
//!     let input = DiffInput::new(units[0].instruction(), generator.case(index));
//!     let compared = diff::compare(&units, &input).ok()?;
//!     compared.verdicts[0].is_some_and(Verdict::differs).then_some(input)
//! });
//! assert!(differing.is_some());
//! # Ok::<(), mmascope_model::Error>(())
//! ```

#![deny(clippy::float_arithmetic)]

mod explain;
mod number;
mod products;
mod shrink;
mod subject;
mod tally;
mod verdict;
mod walk;

pub use explain::{Explanation, Party, explain};
pub use number::translate;
pub use products::{DiffStep, Outputs, Place, chain, first_parting, outputs, parted_k, parting};
pub(crate) use shrink::moves;
pub use shrink::{shrink, size, smaller};
pub use subject::{Contender, DiffInput};
pub use tally::{DiffExample, Tally};
pub use verdict::Verdict;
pub use walk::walk;

use crate::error::Result;

/// The results of several units for one input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compared {
    /// Each unit's result; `None` where the unit cannot take the operands exactly.
    pub results: Vec<Option<u64>>,
    /// For each of [`pairs`], how the two results differ; `None` where a result is missing.
    pub verdicts: Vec<Option<Verdict>>,
}

/// The pairs of `count` units, in the order of [`Compared::verdicts`].
#[must_use]
pub fn pairs(count: usize) -> Vec<(usize, usize)> {
    (0..count)
        .flat_map(|left| (left + 1..count).map(move |right| (left, right)))
        .collect()
}

/// Gives one input to every unit and compares the results in pairs.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) when the operands do not fit the input's instruction,
/// or a unit lacks one of the input's modifiers.
pub fn compare(subjects: &[Contender<'_>], input: &DiffInput) -> Result<Compared> {
    let results: Vec<Option<u64>> = subjects
        .iter()
        .map(|subject| subject.compute(input))
        .collect::<Result<_>>()?;
    let verdicts = pairs(subjects.len())
        .into_iter()
        .map(|(left, right)| {
            let (l, r) = (results[left]?, results[right]?);
            Some(Verdict::of((&subjects[left], l), (&subjects[right], r)))
        })
        .collect();
    Ok(Compared { results, verdicts })
}

/// How two units differ on an input, if both can take it.
///
/// # Errors
/// As [`compare`].
pub fn verdict(
    left: &Contender<'_>,
    right: &Contender<'_>,
    input: &DiffInput,
) -> Result<Option<Verdict>> {
    let (Some(l), Some(r)) = (left.compute(input)?, right.compute(input)?) else {
        return Ok(None);
    };
    Ok(Some(Verdict::of((left, l), (right, r))))
}
