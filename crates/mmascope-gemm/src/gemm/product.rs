//! A matrix product that is being computed: operands prepared once, accumulators advanced step by step.

use std::ops::Range;
use std::sync::Arc;

use super::accumulators::{Accumulators, Region};
use super::choice::engine;
use super::preparation::{Part, Preparation};
use super::task::Task;
use super::{Matrices, Watch};
use crate::array::{Stored, Words, each_width};
use crate::dpa::{Modifiers, Signature, Unit};
use crate::engine::{Engine, Plan, Reason, Reference};
use crate::error::{Error, Result};
use crate::memory::in_large_pages;

/// Elements of parts of D that are computed at the same time, at least and at most.
const FEWEST: usize = 1 << 14;
pub(super) const MOST: usize = 1 << 18;

/// D = C + A·B by one unit, its operands checked and prepared for an engine.
///
/// A *step* is one instruction: the unit's K products of every element. What order the steps come
/// in, and what happens between them, is the caller's affair: [`chain`](super::chain) takes them
/// ascending, a schedule as it says.
///
/// Operands are prepared once, as a whole, where that takes at most 15/8 of the memory of operands,
/// C and D (or 4 MiB; for f64 8 MiB). Where it would take more, since K is far longer than D is wide, each
/// [`advance`](Product::advance) prepares those of its rows, columns and steps, a piece of K at a time that
/// takes about as much memory as operands, C and D. (So does a plain chain whose faster packing would take more; other
/// schedules then pack the whole in a way that takes less.)
///
/// Threads are those of rayon's current pool ([`on_threads`](super::on_threads) says how a caller bounds them).
#[derive(Clone, Debug)]
pub struct Product<'a> {
    task: Task<'a>,
    preparation: Arc<Preparation>,
    /// Why the engine that was asked for does not compute it.
    reason: Option<Reason>,
}

impl<'a> Product<'a> {
    /// Checks the operands and prepares them for the default engine ([`engine`]), or for the reference where that cannot
    /// carry the unit.
    ///
    /// # Errors
    /// [`Error::Argument`] when they do not fit the unit: lengths, K no multiple of the unit's,
    /// words wider than their format's register, block scales missing or in excess; or when
    /// `MMASCOPE_SIMD` asks for what this machine does not have.
    pub fn new(unit: &'a Unit, matrices: &'a Matrices, modifiers: Modifiers) -> Result<Self> {
        Self::with_engine(unit, matrices, modifiers, &*engine()?)
    }

    /// The same with the reference for everything, whatever engines there are.
    ///
    /// # Errors
    /// As [`Product::new`].
    pub fn by_reference(
        unit: &'a Unit,
        matrices: &'a Matrices,
        modifiers: Modifiers,
    ) -> Result<Self> {
        Self::with_engine(unit, matrices, modifiers, &Reference)
    }

    /// The same with an engine of the caller's choice, or with the reference where that cannot carry the unit:
    /// [`Product::reason`] then says why.
    ///
    /// # Errors
    /// As [`Product::new`]; what the engine reports when it prepares the operands.
    pub fn with_engine(
        unit: &'a Unit,
        matrices: &'a Matrices,
        modifiers: Modifiers,
        engine: &dyn Engine,
    ) -> Result<Self> {
        let (plan, reason) = match engine.plan(unit) {
            Ok(plan) => (plan, None),
            Err(reason) => (reference(unit)?, Some(reason)),
        };
        let product = Self::with_plan(unit, matrices, modifiers, plan)?;
        Ok(Self { reason, ..product })
    }

    /// The same with a plan, which an engine has made for this unit.
    ///
    /// # Errors
    /// As [`Product::with_engine`]; [`Error::Argument`] when the plan is another unit's.
    pub fn with_plan(
        unit: &'a Unit,
        matrices: &'a Matrices,
        modifiers: Modifiers,
        plan: Arc<dyn Plan>,
    ) -> Result<Self> {
        matrices.check(unit.signature())?;
        unit.check_chain(matrices.k())?;
        modifiers.check_limits().map_err(Error::Argument)?;
        if plan.unit() != unit {
            return Err(Error::Argument("the plan is another unit's".to_owned()));
        }
        let task = Task {
            unit,
            matrices,
            modifiers,
        };
        Ok(Self {
            preparation: Arc::new(Preparation::new(plan, &task)?),
            task,
            reason: None,
        })
    }

    /// The same with operands prepared a piece of K at a time, of so many bytes but at least a step. The
    /// result is the same.
    #[must_use]
    pub fn in_pieces(self, bytes: usize) -> Self {
        let preparation = Arc::new(self.preparation.in_pieces(bytes));
        Self {
            preparation,
            ..self
        }
    }

    /// The plan by which it is computed; its `Display` names the method.
    #[must_use]
    pub fn plan(&self) -> &dyn Plan {
        self.preparation.plan()
    }

    /// Whether the reference computes all of it, which is slow. (Single outputs, and operands whose values leave
    /// nothing for an engine, come from the reference with every engine.)
    #[must_use]
    pub fn is_by_reference(&self) -> bool {
        self.plan().is_reference()
    }

    /// Why the engine that was asked for cannot carry the unit, so that the reference computes.
    #[must_use]
    pub fn reason(&self) -> Option<&Reason> {
        self.reason.as_ref()
    }

    /// Prepares all operands, where they are to be prepared as a whole for other schedules than a plain chain.
    pub(super) fn pack_whole(&self) -> Result<()> {
        self.preparation.pack_whole(&self.task)
    }

    /// Whether all operands are prepared, or will be for other schedules than a plain chain.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        self.preparation.is_whole()
    }

    /// How many elements of parts of D a schedule computes at the same time: where operands are prepared, so few
    /// that what stands beside them takes little of D; else more, since each part prepares its own.
    pub(super) fn at_once(&self) -> usize {
        if !self.is_packed() {
            return MOST;
        }
        (self.whole().len() / 16).clamp(FEWEST, MOST)
    }

    /// The unit.
    #[must_use]
    pub fn unit(&self) -> &'a Unit {
        self.task.unit
    }

    /// The operands.
    #[must_use]
    pub fn matrices(&self) -> &'a Matrices {
        self.task.matrices
    }

    /// What is done to the operands.
    #[must_use]
    pub fn modifiers(&self) -> Modifiers {
        self.task.modifiers
    }

    /// How many steps K takes.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.task.steps()
    }

    /// All of D.
    #[must_use]
    pub fn whole(&self) -> Region {
        self.task.whole()
    }

    /// Accumulators that hold C.
    ///
    /// # Errors
    /// [`Error::Argument`] when the region is no part of D or does not fit the memory.
    pub fn c(&self, region: Region) -> Result<Accumulators> {
        let mut out = self.zeros(region)?;
        if let Some(c) = self.task.matrices.c() {
            let packed = c.packed().filter(|c| c.width() == out.words.width());
            if let Some(words) = packed
                .filter(|_| out.region == self.whole() && c.batch() == self.task.matrices.batch())
            {
                out.words = words.clone();
                return Ok(out);
            }
            for index in 0..out.region.len() {
                let (batch, i, j) = out.region.place(index);
                out.words.set(index, c.at(batch, i, j));
            }
        }
        Ok(out)
    }

    /// Accumulators that hold +0.
    ///
    /// # Errors
    /// [`Error::Argument`] as [`Product::c`].
    pub fn zeros(&self, region: Region) -> Result<Accumulators> {
        let whole = self.whole();
        let fits = |part: &Range<usize>, whole: &Range<usize>| {
            part.start <= part.end && part.end <= whole.end
        };
        if !fits(&region.batch, &whole.batch)
            || !fits(&region.rows, &whole.rows)
            || !fits(&region.columns, &whole.columns)
        {
            return Err(Error::Argument(format!(
                "{region:?} is no part of D, {} × {} × {}",
                whole.batch.end, whole.rows.end, whole.columns.end
            )));
        }
        let Signature { c, d, .. } = self.task.unit.signature();
        let bits = c.register.bits.max(d.register.bits);
        let mut words = Words::with_capacity(bits, region.len()).map_err(|_| {
            Error::Argument(format!(
                "D, {} × {}, does not fit the memory",
                self.task.matrices.m(),
                self.task.matrices.n()
            ))
        })?;
        each_width!(&mut words, words => {
            in_large_pages(words.spare_capacity_mut());
            words.resize(region.len(), Stored::stored(0));
        });
        Ok(Accumulators {
            region,
            words,
            format: c.container(),
        })
    }

    /// Runs some steps, ascending, on accumulators: c going in, d coming out.
    ///
    /// Negations of A and B hold in every step. What is done to c (`noC`, `negC`, `scaleD`) is done
    /// in the first of these steps when `first` is set, and never otherwise. The result does not
    /// depend on the number of threads. `watch.progress` counts steps of elements.
    ///
    /// # Errors
    /// [`Error::Argument`] when the steps are not all there, or the unit's d cannot be the next
    /// step's c; [`Error::Cancelled`], and then the accumulators hold nothing of use.
    pub fn advance(
        &self,
        steps: Range<usize>,
        first: bool,
        accumulators: &mut Accumulators,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let Signature { c, d, k, .. } = self.task.unit.signature();
        if steps.end > self.steps() {
            return Err(Error::Argument(format!(
                "steps {} to {} of {}: there are not so many",
                steps.start,
                steps.end,
                self.steps()
            )));
        }
        if steps.is_empty() {
            return Ok(());
        }
        let is_c = accumulators.format == c.container();
        if !is_c || steps.len() > 1 && c.container() != d.container() {
            return Err(Error::Argument(format!(
                "K = {} takes {} steps, but the instruction gives {d} and takes c in {c}, so its \
                 result cannot be the next step's c; K = {k} is one step",
                self.task.matrices.k(),
                self.steps()
            )));
        }
        let Accumulators { region, words, .. } = accumulators;
        let part = Part {
            task: &self.task,
            region,
            steps: &steps,
            first,
        };
        each_width!(words, words => self.preparation.advance(&part, words, watch))?;
        accumulators.format = d.container();
        Ok(())
    }
}

/// The reference's plan.
fn reference(unit: &Unit) -> Result<Arc<dyn Plan>> {
    let plan = Reference.plan(unit);
    plan.map_err(|reason| Error::Argument(reason.to_string()))
}
