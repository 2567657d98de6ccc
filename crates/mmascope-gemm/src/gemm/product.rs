//! A matrix product under way: operands prepared once, accumulators advanced step by step.

use std::ops::Range;

use rayon::prelude::*;

#[cfg(feature = "kernel")]
use std::sync::Arc;

use super::accumulators::{Accumulators, Region};
#[cfg(feature = "kernel")]
use super::packing::{Part, Prepared};
use super::{Matrices, Watch};
use crate::array::{Stored, Words, each_width};
use crate::dpa::{Modifiers, Operands, Signature, Unit};
use crate::error::{Error, Result};
#[cfg(feature = "kernel")]
use crate::kernel::{Kernel, in_large_pages};

/// Elements of D that one task computes.
const CHUNK: usize = 64;
/// Elements of parts of D that are computed at the same time, at least and at most.
const FEWEST: usize = 1 << 14;
pub(super) const MOST: usize = 1 << 18;

/// D = C + A·B by one unit, its operands checked and prepared.
///
/// A *step* is one instruction: the unit's K products of every element. What order the steps come
/// in, and what happens between them, is the caller's affair: [`chain`](super::chain) takes them
/// ascending, a schedule as it says.
///
/// Operands are packed for a kernel once, as a whole, where that takes at most 15/8 of the memory of operands,
/// C and D (or 4 MiB; for f64 8 MiB). Where it would take more, since K is far longer than D is wide, each
/// [`advance`](Product::advance) packs those of its rows, columns and steps, a piece of K at a time that
/// takes about as much memory as operands, C and D. (So does a plain chain whose faster packing would take more; other
/// schedules then pack the whole in a way that takes less.)
#[derive(Clone, Debug)]
pub struct Product<'a> {
    unit: &'a Unit,
    matrices: &'a Matrices,
    modifiers: Modifiers,
    #[cfg(feature = "kernel")]
    prepared: Option<Arc<Prepared>>,
}

impl<'a> Product<'a> {
    /// Checks the operands and prepares them for the kernel that the unit has, if it has one.
    ///
    /// # Errors
    /// [`Error::Argument`] when they do not fit the unit: lengths, K no multiple of the unit's,
    /// words wider than their format's register, block scales missing or in excess; or when
    /// `MMASCOPE_SIMD` asks for what this machine does not have.
    pub fn new(unit: &'a Unit, matrices: &'a Matrices, modifiers: Modifiers) -> Result<Self> {
        #[cfg(feature = "kernel")]
        {
            let kernel = Kernel::for_unit(unit)?.ok();
            Self::with_kernel(unit, matrices, modifiers, kernel)
        }
        #[cfg(not(feature = "kernel"))]
        Self::by_reference(unit, matrices, modifiers)
    }

    /// The same with the reference for everything, whatever kernel there is.
    ///
    /// # Errors
    /// As [`Product::new`].
    pub fn by_reference(
        unit: &'a Unit,
        matrices: &'a Matrices,
        modifiers: Modifiers,
    ) -> Result<Self> {
        matrices.check(unit.signature())?;
        modifiers.check_limits().map_err(Error::Argument)?;
        Ok(Self {
            unit,
            matrices,
            modifiers,
            #[cfg(feature = "kernel")]
            prepared: None,
        })
    }

    /// The same with this kernel, which is the unit's at some level, or with none.
    ///
    /// # Errors
    /// As [`Product::new`].
    #[cfg(feature = "kernel")]
    pub fn with_kernel(
        unit: &'a Unit,
        matrices: &'a Matrices,
        modifiers: Modifiers,
        kernel: Option<Kernel>,
    ) -> Result<Self> {
        let product = Self::by_reference(unit, matrices, modifiers)?;
        let Some(kernel) = kernel else {
            return Ok(product);
        };
        if kernel.unit() != unit {
            return Err(Error::Argument("the kernel is another unit's".to_owned()));
        }
        let prepared = Prepared::new(kernel, &product);
        Ok(Self {
            prepared: Some(Arc::new(prepared)),
            ..product
        })
    }

    /// The same with operands packed a piece of K at a time, of so many bytes but at least a step. The
    /// result is the same.
    #[cfg(feature = "kernel")]
    #[must_use]
    pub fn in_pieces(self, bytes: usize) -> Self {
        let prepared = self.prepared.as_ref();
        let prepared = prepared.map(|prepared| Arc::new(prepared.in_pieces(bytes)));
        Self { prepared, ..self }
    }

    /// Packs all operands, where they are to lie packed as a whole for other schedules than a plain chain.
    pub(super) fn pack_whole(&self) {
        #[cfg(feature = "kernel")]
        if let Some(prepared) = &self.prepared {
            prepared.pack_whole(self);
        }
    }

    /// Whether all operands lie packed for a kernel, or will for other schedules than a plain chain.
    #[cfg(feature = "kernel")]
    #[must_use]
    pub fn is_packed(&self) -> bool {
        (self.prepared.as_ref()).is_some_and(|prepared| prepared.is_whole())
    }

    /// How many elements of parts of D a schedule computes at the same time: where operands lie packed, so few
    /// that what stands beside them takes little of D; else more, since each part packs its own.
    pub(super) fn at_once(&self) -> usize {
        #[cfg(feature = "kernel")]
        if self.prepared.is_some() && !self.is_packed() {
            return MOST;
        }
        (self.whole().len() / 16).clamp(FEWEST, MOST)
    }

    /// The unit.
    #[must_use]
    pub fn unit(&self) -> &'a Unit {
        self.unit
    }

    /// The operands.
    #[must_use]
    pub fn matrices(&self) -> &'a Matrices {
        self.matrices
    }

    /// What is done to the operands.
    #[must_use]
    pub fn modifiers(&self) -> Modifiers {
        self.modifiers
    }

    /// How many steps K takes.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.matrices.k() / self.unit.signature().k
    }

    /// All of D.
    #[must_use]
    pub fn whole(&self) -> Region {
        Region {
            batch: 0..self.matrices.batch(),
            rows: 0..self.matrices.m(),
            columns: 0..self.matrices.n(),
        }
    }

    /// Accumulators that hold C.
    ///
    /// # Errors
    /// [`Error::Argument`] when the region is no part of D or does not fit the memory.
    pub fn c(&self, region: Region) -> Result<Accumulators> {
        let mut out = self.zeros(region)?;
        if let Some(c) = self.matrices.c() {
            let packed = c.packed().filter(|c| c.width() == out.words.width());
            if let Some(words) =
                packed.filter(|_| out.region == self.whole() && c.batch() == self.matrices.batch())
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
        let Signature { c, d, .. } = self.unit.signature();
        let bits = c.register.bits.max(d.register.bits);
        let mut words = Words::with_capacity(bits, region.len()).map_err(|_| {
            Error::Argument(format!(
                "D, {} × {}, does not fit the memory",
                self.matrices.m(),
                self.matrices.n()
            ))
        })?;
        each_width!(&mut words, words => {
            #[cfg(feature = "kernel")]
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
        let Signature { c, d, k, .. } = self.unit.signature();
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
                self.matrices.k(),
                self.steps()
            )));
        }
        let Accumulators { region, words, .. } = accumulators;
        each_width!(words, words => self.advance_words(&steps, first, region, words, watch))?;
        accumulators.format = d.container();
        Ok(())
    }

    #[cfg(not(feature = "kernel"))]
    fn advance_words<W: Stored>(
        &self,
        steps: &Range<usize>,
        first: bool,
        region: &Region,
        words: &mut [W],
        watch: &Watch<'_>,
    ) -> Result<()> {
        self.reference(steps, first, region, words, watch)
    }

    /// The steps by the kernel where there is one, product by product of the batch.
    #[cfg(feature = "kernel")]
    fn advance_words<W: Stored>(
        &self,
        steps: &Range<usize>,
        first: bool,
        region: &Region,
        words: &mut [W],
        watch: &Watch<'_>,
    ) -> Result<()> {
        let Some(prepared) = &self.prepared else {
            return self.reference(steps, first, region, words, watch);
        };
        let size = region.rows.len() * region.columns.len();
        for (batch, words) in region.batch.clone().zip(words.chunks_mut(size.max(1))) {
            let region = Region {
                batch: batch..batch + 1,
                ..region.clone()
            };
            let part = Part {
                product: self,
                region: &region,
                steps,
                first,
            };
            let reference = |steps: &Range<usize>, words: &mut [W]| {
                let first = first && steps.start == part.steps.start;
                self.reference(steps, first, &region, words, watch)
            };
            prepared.advance(&part, words, watch, reference)?;
        }
        Ok(())
    }

    /// The steps by [`Unit::dot`], element by element: what everything faster has to equal.
    fn reference<W: Stored>(
        &self,
        steps: &Range<usize>,
        first: bool,
        region: &Region,
        words: &mut [W],
        watch: &Watch<'_>,
    ) -> Result<()> {
        words
            .par_chunks_mut(CHUNK)
            .enumerate()
            .try_for_each(|(chunk, words)| {
                let mut operands = Buffers::of(self.unit.signature());
                for (offset, word) in words.iter_mut().enumerate() {
                    let place = region.place(chunk * CHUNK + offset);
                    let mut sum = word.word();
                    for step in steps.clone() {
                        watch.check()?;
                        let modifiers = self.modifiers_of(first && step == steps.start);
                        sum = operands.dot(self, step, place, sum, &modifiers)?;
                    }
                    *word = W::stored(sum);
                }
                (watch.progress)((words.len() * steps.len()) as u64);
                Ok(())
            })
    }

    fn modifiers_of(&self, first: bool) -> Modifiers {
        if first {
            return self.modifiers;
        }
        Modifiers {
            negate_a: self.modifiers.negate_a,
            negate_b: self.modifiers.negate_b,
            ..Modifiers::default()
        }
    }
}

/// The operands of one dot product, gathered from their matrices.
struct Buffers {
    a: Vec<u64>,
    b: Vec<u64>,
    scale_a: Vec<u64>,
    scale_b: Vec<u64>,
}

impl Buffers {
    fn of(signature: &Signature) -> Self {
        let (k, blocks) = (signature.k, signature.scales());
        Self {
            a: vec![0; k],
            b: vec![0; k],
            scale_a: vec![0; blocks],
            scale_b: vec![0; blocks],
        }
    }

    fn dot(
        &mut self,
        product: &Product<'_>,
        step: usize,
        (batch, i, j): (usize, usize, usize),
        c: u64,
        modifiers: &Modifiers,
    ) -> Result<u64> {
        let matrices = product.matrices;
        let first = step * self.a.len();
        for (offset, (a, b)) in self.a.iter_mut().zip(&mut self.b).enumerate() {
            *a = matrices.a().at(batch, i, first + offset);
            *b = matrices.b().at(batch, first + offset, j);
        }
        if let (Some(scale_a), Some(scale_b)) = (matrices.scale_a(), matrices.scale_b()) {
            let first = step * self.scale_a.len();
            let scales = self.scale_a.iter_mut().zip(&mut self.scale_b);
            for (offset, (a, b)) in scales.enumerate() {
                *a = scale_a.at(batch, i, first + offset);
                *b = scale_b.at(batch, first + offset, j);
            }
        }
        let operands = Operands {
            a: &self.a,
            b: &self.b,
            c,
            scale_a: &self.scale_a,
            scale_b: &self.scale_b,
        };
        product.unit.dot(&operands, modifiers)
    }
}
