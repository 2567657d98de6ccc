//! Schedules: everything a GPU kernel does outside the matrix unit, and the order in which it runs through K.
//!
//! A schedule is data with a text form, the same on the command line:
//!
//! ```
//! use mmascope_gemm::gemm::Schedule;
//! let schedule: Schedule = "split-k=4 reduce=pairwise/f32; out=rne bf16".parse()?;
//! assert_eq!(schedule.to_string(), "split-k=4 reduce=pairwise/f32; out=rne bf16");
//! assert!(Schedule::default().is_chain());
//! # Ok::<(), mmascope_model::Error>(())
//! ```
//!
//! What each clause means is stated here, on the types, and for people in `docs/schedules.md`.
//! Nothing outside the unit uses the host's floating point: it is [`Scalar`], integers.

mod combine;
pub mod emulation;
mod excerpt;
mod factor;
mod notation;
mod plan;
mod run;
mod shares;
mod tree;

use crate::dpa::{Scalar, Unit};
use crate::format::Format;
pub(in crate::gemm) use combine::Values;

pub use emulation::Emulation;
pub use excerpt::Excerpt;

pub use run::SoftwareScales;
pub use tree::OutputPlace;

/// How a matrix product is computed with a unit. The default is the plain chain.
///
/// One output element goes through these stages; those that are left out do nothing. With an [`Emulation`] that
/// joins groups, each group goes through the first two, and the joined sum through the others:
/// 1. the steps of K in [`Order`], cut into parts ([`Split`]), each a chain of its own, with
///    [`Promotion`] inside;
/// 2. the parts' sums added in the order of the [`Reduction`];
/// 3. the epilogue ([`CEntry`]);
/// 4. the conversion of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// A wider precision, made of several products.
    pub emulation: Option<Emulation>,
    /// The order of the steps.
    pub order: Order,
    /// How the steps are divided into parts.
    pub split: Split,
    /// A second accumulator outside the unit.
    pub promotion: Option<Promotion>,
    /// Where C enters.
    pub c: CEntry,
    /// What D is converted to; `None` leaves it in the format of the last stage.
    pub output: Option<Scalar>,
}

/// The order in which the steps (the unit's K products each) are taken. S is their number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// 0, 1, … S−1.
    #[default]
    Ascending,
    /// S−1, … 1, 0.
    Descending,
    /// The steps s with s mod n = 0, ascending, then those with s mod n = 1, and so on.
    Stride(usize),
    /// The steps cut into as many blocks as the list is long, block i beginning at ⌊i·S/blocks⌋;
    /// the blocks in this order, each ascending.
    Blocks(Vec<usize>),
}

/// How the ordered steps are divided into parts that are summed apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Split {
    /// One part.
    #[default]
    None,
    /// `count` parts in every element; part p begins at place ⌊p·S/count⌋ of the order.
    SplitK {
        /// How many parts.
        count: usize,
        /// How their sums are added.
        reduction: Reduction,
    },
    /// Tiles of D times iterations of K, laid end to end, are dealt out to workers.
    ///
    /// Tiles are numbered row by row of tiles, product by product of a batch. An iteration is
    /// `iteration` places of the order (the last of a tile may be shorter); tile t has the
    /// iterations t·I … (t+1)·I − 1, where I = ⌈S/iteration⌉. Of all T·I iterations worker w
    /// takes ⌊T·I/workers⌋ in a row, the first (T·I mod workers) workers one more. A tile's
    /// parts are its iterations as the workers cut them.
    StreamK {
        /// How many workers.
        workers: usize,
        /// Rows of a tile.
        rows: usize,
        /// Columns of a tile.
        columns: usize,
        /// Places of the order in an iteration.
        iteration: usize,
        /// How the parts' sums are added: the fix-up.
        reduction: Reduction,
    },
}

/// How sums of parts are added: each is converted to the format, then added in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// The order of the additions.
    pub order: ReductionOrder,
    /// Format and rounding of the additions, and of the conversion before them.
    pub scalar: Scalar,
}

/// The order in which sums of parts are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReductionOrder {
    /// ((p0 + p1) + p2) + …
    Ascending,
    /// ((p_last + p_(last−1)) + …) + p0
    Descending,
    /// Neighbours, then neighbours of those sums, …; an odd one out waits for the next level.
    Pairwise,
}

/// After every `steps` steps of a part the unit's sum is added to an accumulator outside the unit,
/// and the unit starts again from +0.
///
/// The outer accumulator starts from C, converted to its format, or from +0. The last steps of a
/// part may be fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Promotion {
    /// Steps between two additions.
    pub steps: usize,
    /// Format and rounding of the outer accumulator.
    pub scalar: Scalar,
    /// Software scales that the unit's sums are multiplied by on the way.
    pub scale: Option<SoftwareScale>,
}

/// Which elements share a software scale, and how it is applied: with s = round(scale_a · scale_b),
/// the outer accumulator P becomes round(s · sum + P), or P + round(s · sum), rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SoftwareScale {
    /// Rows of A that share a scale (with the products of one promotion).
    pub rows: usize,
    /// Columns of B that share a scale (with the products of one promotion).
    pub columns: usize,
    /// How product and sum are rounded.
    pub by: MultiplyAdd,
}

/// How `x·y + z` is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MultiplyAdd {
    /// Fused: rounded once.
    #[default]
    Fma,
    /// The product is rounded, then the sum.
    MulAdd,
}

/// Where C enters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CEntry {
    /// It is what the first part starts from: the unit's c, or the outer accumulator's start.
    #[default]
    First,
    /// Every part starts from +0; at the end the sum X, converted, becomes
    /// round(α·X + round(β·C)), or round(round(α·X) + round(β·C)). With β = 0 C is not read and
    /// the result is round(α·X).
    Epilogue {
        /// Format and rounding of the epilogue.
        scalar: Scalar,
        /// α, a word of that format.
        alpha: u64,
        /// β, a word of that format.
        beta: u64,
        /// How α·X and β·C are added.
        by: MultiplyAdd,
    },
}

impl Schedule {
    /// Whether this is the plain chain over ascending K, and nothing else.
    #[must_use]
    pub fn is_chain(&self) -> bool {
        *self == Self::default()
    }

    /// What C is multiplied by.
    #[must_use]
    pub fn beta(&self) -> f64 {
        match self.c {
            CEntry::Epilogue { scalar, beta, .. } => crate::tree::decode(scalar.format(), beta),
            CEntry::First => 1.0,
        }
    }

    /// The format of D's words under a unit.
    #[must_use]
    pub fn format(&self, unit: &Unit) -> Format {
        let join = self.emulation.as_ref().and_then(|emulation| emulation.join);
        let sum = match (join, self.reduction(), self.promotion) {
            (Some(join), ..) => join.scalar().format(),
            (None, Some(reduction), _) => reduction.scalar.format(),
            (None, None, Some(promotion)) => promotion.scalar.format(),
            (None, None, None) => unit.signature().d,
        };
        let after = match self.c {
            CEntry::First => sum,
            CEntry::Epilogue { scalar, .. } => scalar.format(),
        };
        self.output.map_or(after, |output| output.format())
    }

    /// The fewest steps of K that the schedule can be run with.
    #[must_use]
    pub fn least_steps(&self) -> usize {
        let blocks = match &self.order {
            Order::Blocks(blocks) => blocks.len(),
            _ => 1,
        };
        let least = match self.split {
            Split::SplitK { count, .. } => blocks.max(count),
            _ => blocks,
        };
        // Every product of a group has as many steps as K.
        let groups = self.emulation.iter().flat_map(|it| &it.groups);
        least.div_ceil(groups.map(Vec::len).min().unwrap_or(1))
    }

    /// The same schedule for a unit that takes `count` instructions for one of this unit's, where K has `steps` of these:
    /// the sums are the same where the instructions are. `None` where that is not known.
    #[must_use]
    pub fn in_shorter_steps(&self, count: usize, steps: usize) -> Option<Self> {
        if count == 1 {
            return Some(self.clone());
        }
        let mut shorter = self.clone();
        if self.emulation.is_some() || self.order != Order::Ascending {
            return None;
        }
        match &mut shorter.split {
            Split::None => {}
            // Parts of whole steps.
            Split::SplitK { count: parts, .. } if steps.is_multiple_of(*parts) => {}
            Split::SplitK { .. } => return None,
            Split::StreamK { iteration, .. } => *iteration = iteration.checked_mul(count)?,
        }
        if let Some(promotion) = &mut shorter.promotion {
            promotion.steps = promotion.steps.checked_mul(count)?;
        }
        Some(shorter)
    }

    /// The software scales' shapes, if the schedule has some.
    #[must_use]
    pub fn software_scale(&self) -> Option<SoftwareScale> {
        self.promotion.and_then(|promotion| promotion.scale)
    }

    fn reduction(&self) -> Option<Reduction> {
        match self.split {
            Split::None => None,
            Split::SplitK { reduction, .. } | Split::StreamK { reduction, .. } => Some(reduction),
        }
    }
}
