//! The seam between matrix products and what computes them: the trait [`Engine`].
//!
//! [`gemm`](crate::gemm) decides which steps of which part of D run, in which order, and how much memory
//! prepared operands may take. An engine computes those steps. It works in three stages, one trait each:
//!
//! 1. [`Engine::plan`] looks at a unit alone. It gives a [`Plan`], or a [`Reason`] in words why the engine
//!    cannot carry the unit; the product then falls back to the reference.
//! 2. [`Plan::prepare`] reads the operands of one product, or of a piece of it, once: it packs them, or
//!    copies them to a device.
//! 3. [`Prepared::advance`] runs steps: accumulators hold c before and d after.
//!
//! There are two engines here. [`Reference`] computes every output with [`Unit::dot`] and says what every
//! bit must be. `cpu::Cpu` has the fast kernels of this machine's processor. Another crate adds one, for a GPU
//! for example, by implementing the three traits and calling
//! [`Product::with_engine`](crate::gemm::Product::with_engine). Where such an engine is not sure of an output, it asks
//! [`Dots`], the reference for single outputs.
//!
//! An engine knows the model and this module. It knows nothing of `gemm`.
//!
//! # The contract
//! For every step and output the result has the bits of [`Unit::dot`], with the signature's c (for the first
//! step) or the previous d as c, and with the modifiers of [`Steps`]. It depends neither on the number of
//! threads nor on how a product is cut into parts and steps. `crates/mmascope/tests/engine.rs` holds a third
//! engine to this contract, and shows how small one can be.
//!
//! ```
//! use mmascope_gemm::engine::{Engine, Reference};
//! use mmascope_gemm::gemm;
//! use mmascope_model::isa::Catalogue;
//!
//! let unit = Catalogue::built_in().find("H100", "mma.m16n8k8.f32.f16.f16.f32")?.unit()?;
//! // The engine that products take by default, and what it says of the unit before anything is computed.
//! let engine = gemm::engine()?;
//! match engine.plan(unit) {
//!     Ok(plan) => println!("{}: {plan}", engine.name()),
//!     Err(reason) => println!("the reference computes, since {} has no kernel: {reason}", engine.name()),
//! }
//! // The reference carries every unit.
//! assert!(Reference.plan(unit).is_ok_and(|plan| plan.is_reference()));
//! # Ok::<(), mmascope_model::Error>(())
//! ```

mod dots;
mod elements;
pub(crate) mod reference;
mod watch;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub use dots::Dots;
pub use elements::Elements;
pub use reference::Reference;
pub use watch::Watch;

pub use crate::array::WordsMut;

use crate::dpa::{Modifiers, Unit};
use crate::error::Result;

/// Something that computes matrix products with the bits of the reference.
pub trait Engine: fmt::Debug + Send + Sync {
    /// A short name for messages: `reference`, `cpu avx2`.
    fn name(&self) -> Cow<'static, str>;

    /// How this engine computes a unit, or why it cannot. Only the unit's parameters decide, never a name.
    ///
    /// # Errors
    /// The reason, in words that a user understands.
    fn plan(&self, unit: &Unit) -> std::result::Result<Arc<dyn Plan>, Reason>;
}

/// How an engine computes one unit. `Display` gives the name of the method, for people.
pub trait Plan: fmt::Debug + fmt::Display + Send + Sync {
    /// The unit.
    fn unit(&self) -> &Unit;

    /// Whether this is the reference itself: slow, for every unit.
    fn is_reference(&self) -> bool {
        false
    }

    /// About how many bytes the prepared operands of one step take in the memory of this process, for so many
    /// rows and columns of D. An engine that leaves operands where they are, or on a device, says 0.
    fn bytes(&self, rows: usize, columns: usize, layout: Layout) -> usize;

    /// Whether sums lie in D itself, so that products by pieces of K cost no reading and writing of c.
    fn sums_in_place(&self) -> bool {
        false
    }

    /// Prepares operands. Their K is a multiple of the unit's. `modifiers` are those of the whole product:
    /// negations of A and B hold in every step; [`Steps::first`] says when c's are applied.
    ///
    /// `None` says that these operands leave nothing for the engine, because of their values. The reference then
    /// computes all of them. (For single outputs of which an engine is not sure, it asks [`Dots`] instead.)
    ///
    /// # Errors
    /// What keeps the engine from working at all: no memory, a device that fails.
    fn prepare(
        &self,
        elements: &dyn Elements,
        modifiers: &Modifiers,
        layout: Layout,
    ) -> Result<Option<Box<dyn Prepared>>>;
}

/// Operands that an engine has prepared. Several threads advance parts of D at the same time.
pub trait Prepared: fmt::Debug + Send + Sync {
    /// Runs steps of a part of D. `accumulators` are the part's register words, row by row: c (in its container) before
    /// the first step, d after the last. Between steps d is the next step's c.
    ///
    /// `watch.progress` counts steps of outputs, all of them once. An engine looks at `watch.cancel` often enough
    /// for a person who waits, a few times a second.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled), or a device that fails; accumulators then hold nothing of use.
    fn advance(
        &self,
        steps: &Steps<'_>,
        accumulators: WordsMut<'_>,
        watch: &Watch<'_>,
    ) -> Result<()>;
}

/// Which steps run, and for which part of D. All indices count from the first row, column and step of
/// [`Steps::elements`].
#[non_exhaustive]
pub struct Steps<'a> {
    /// The operands, the same that were prepared.
    pub elements: &'a dyn Elements,
    /// The product's modifiers.
    pub modifiers: &'a Modifiers,
    /// The steps: instructions' K, ascending. There is at least one.
    pub steps: Range<usize>,
    /// Whether the first of them takes C with its modifiers (`noC`, `negC`, `scaleD`). The others never do.
    pub first: bool,
    /// Rows of D.
    pub rows: Range<usize>,
    /// Columns of D.
    pub columns: Range<usize>,
}

/// What matters when operands are prepared. Both have the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// Speed.
    Fastest,
    /// Memory, where the fastest layout takes more than another one.
    Smallest,
}

/// Why an engine cannot carry a unit: a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(String);

impl Reason {
    /// That reason. The words continue "no kernel: ".
    pub fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The modifiers of the steps after the first: negations of A and B hold in all of them.
#[must_use]
pub fn after_first(modifiers: &Modifiers) -> Modifiers {
    Modifiers {
        negate_a: modifiers.negate_a,
        negate_b: modifiers.negate_b,
        ..Modifiers::default()
    }
}
