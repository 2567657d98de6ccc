//! The fast lanes: what computes whole matrix products with the bits of the reference.
//!
//! A kernel is chosen by the parameters of a unit's program and formats, never by a name, so that a
//! unit from a user's file has one whenever its parameters fit. Operands are packed once: decoded to
//! floats and exponents in the order in which they are read, with marks where a kernel's
//! preconditions do not hold (∞, NaN, exponents out of its window, …). Marked rows and columns, and
//! lanes in which a precondition breaks on the way, are computed by [`Unit::dot`], the reference, a
//! step at a time; all others by vector instructions. The result has the same bits at every level
//! ([`Level`]), thread count and tile size.
//!
//! ```
//! use mmascope::{isa::Catalogue, kernel::Kernel};
//!
//! let unit = Catalogue::built_in().find("H100", "wgmma.m64n8k16.f32.f16.f16")?.unit()?;
//! let kernel = Kernel::for_unit(unit)?;
//! assert!(kernel.is_ok(), "no kernel: {}", kernel.unwrap_err());
//! # Ok::<(), mmascope::Error>(())
//! ```

#![allow(unsafe_code)]

mod block;
mod codec;
mod fused;
mod lanes;
mod level;
mod pack;
mod plan;
mod program;
mod range;
mod whole;

pub use level::{Level, VARIABLE};
pub(crate) use pack::Elements;

use std::ops::Range;

use crate::dpa::{Modifiers, Unit};
use crate::error::Result;
use crate::gemm::Watch;
use block::{Job, Reference};
use fused::VECTORS;
use lanes::{Lanes, Portable};
use plan::Plan;
use program::Sums;

/// A unit with the fast lanes that fit its parameters.
#[derive(Clone, Debug)]
pub struct Kernel {
    unit: Unit,
    level: Level,
    family: Family,
}

/// Why a unit has no kernel: the sentence that `show` prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(String);

impl std::fmt::Display for Reason {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

/// The kernels.
#[derive(Clone, Debug)]
enum Family {
    Sums(Plan),
}

impl Kernel {
    /// The kernel of a unit at the level in use.
    ///
    /// # Errors
    /// As [`Level::current`]. The inner error says which parameter no kernel has.
    pub fn for_unit(unit: &Unit) -> Result<std::result::Result<Self, Reason>> {
        Ok(Self::at_level(unit, Level::current()?))
    }

    /// The kernel of a unit at a level.
    ///
    /// # Errors
    /// Which parameter no kernel has, or that the level is not there.
    pub fn at_level(unit: &Unit, level: Level) -> std::result::Result<Self, Reason> {
        if !level.is_there() {
            return Err(Reason(format!("this machine has no {level}")));
        }
        let family = Family::of(unit, [false; 2])?;
        Ok(Self {
            unit: unit.clone(),
            level,
            family,
        })
    }

    /// The level.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Columns of a panel.
    fn columns(&self) -> usize {
        VECTORS
            * match self.level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => <lanes::Avx2 as Lanes>::WIDTH,
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => <lanes::Avx512 as Lanes>::WIDTH,
                #[cfg(target_arch = "aarch64")]
                Level::Neon => <lanes::Neon as Lanes>::WIDTH,
                _ => <Portable as Lanes>::WIDTH,
            }
    }

    /// Packs the operands of a product. K is a multiple of the unit's; `None` when the operands'
    /// exponents leave nothing for the kernel.
    pub(crate) fn pack(&self, elements: &dyn Elements, modifiers: &Modifiers) -> Option<Operand> {
        let negate = [modifiers.negate_a, modifiers.negate_b];
        let columns = self.columns();
        let signature = self.unit.signature();
        match Family::of(&self.unit, negate).ok()? {
            Family::Sums(plan) => {
                let sums = Sums::pack(&plan, signature, elements, columns)?;
                Some(Operand(Packs::Sums(Box::new(sums), plan)))
            }
        }
    }

    /// Runs steps of a product: `accumulators` are C before and D after, m × n register words.
    /// `first`: the first of the steps takes C with its modifiers.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`].
    pub(crate) fn advance(
        &self,
        operand: &Operand,
        elements: &dyn Elements,
        modifiers: &Modifiers,
        steps: Range<usize>,
        first: bool,
        accumulators: &mut [u64],
        watch: &Watch<'_>,
    ) -> Result<()> {
        let reference = Reference {
            unit: &self.unit,
            elements,
            modifiers: *modifiers,
        };
        match &operand.0 {
            Packs::Sums(packed, plan) => {
                let (c, d) = (plan.c, plan.d);
                let job = Job {
                    packed: &**packed,
                    reference,
                    c,
                    d,
                    steps,
                    first,
                };
                job.run(self.level, accumulators, watch)
            }
        }
    }
}

impl std::fmt::Display for Kernel {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.family {
            Family::Sums(plan) => write!(out, "{}; {}", program::describe(plan), self.level),
        }
    }
}

impl Family {
    fn of(unit: &Unit, negate: [bool; 2]) -> std::result::Result<Self, Reason> {
        Plan::new(unit, negate).map(Self::Sums).map_err(Reason)
    }
}

/// Operands packed for a kernel.
pub(crate) struct Operand(Packs);

enum Packs {
    Sums(Box<Sums>, Plan),
}
