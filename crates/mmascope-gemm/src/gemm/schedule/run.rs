//! Computes a product under a schedule.

use std::ops::Range;

use rayon::prelude::*;

use super::combine::Values;
use super::emulation::Join;
use super::excerpt::Chains;
use super::plan::Extent;
use super::{CEntry, MultiplyAdd, Promotion, Reduction, ReductionOrder, Schedule};
use crate::array::{Array, Casting, Element, Words};
use crate::dpa::{Modifiers, Scalar, Signs};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::gemm::matrix::Matrix;
use crate::gemm::{Product, Region, Watch};

/// Software scales of a schedule's promotion, as words of its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoftwareScales {
    /// ⌈M/rows⌉ × ⌈steps/promotion⌉.
    pub a: Matrix,
    /// ⌈steps/promotion⌉ × ⌈N/columns⌉.
    pub b: Matrix,
}

impl SoftwareScales {
    /// Scales from arrays of numbers: matrices, or batches of them.
    ///
    /// # Errors
    /// [`Error::Argument`] when an array is no matrix or has a number beyond the format's range.
    pub fn from_arrays(a: &Array, b: &Array, format: &Format) -> Result<Self> {
        let matrix = |array: &Array| {
            let stack = array.stack()?;
            if !matches!(array.element(), Element::Number(_)) {
                return Err(Error::Argument(format!(
                    "{}: software scales are numbers (f16, f32, f64 and the like), not {}",
                    array.name(),
                    array.element()
                )));
            }
            let words = array.words(format, &Casting::default())?;
            Matrix::batched(stack.batch.unwrap_or(1), stack.rows, stack.columns, words)
        };
        Ok(Self {
            a: matrix(a)?,
            b: matrix(b)?,
        })
    }
}

/// Everything that one run needs.
pub(super) struct Run<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) product: &'a Product<'a>,
    pub(super) scales: Option<&'a SoftwareScales>,
    /// The steps in the schedule's order.
    pub(super) sequence: Vec<usize>,
    /// Where the product is an excerpt of a larger one, the chains that are known of it.
    pub(super) chains: Option<&'a Chains<'a>>,
    pub(super) watch: &'a Watch<'a>,
}

impl Schedule {
    /// D, m × n, row-major, matrix by matrix of a batch, as words of [`Schedule::format`].
    ///
    /// Negations of A and B hold in every step. What is done to c concerns C where it goes into
    /// the unit; with a promotion or an epilogue C does not, and only `noC` is possible.
    ///
    /// Beside the operands, what is packed of them ([`Product`]) and D, at most ⌈log2 parts⌉ + 6 words are in
    /// memory for each of max(E, elements of a tile) elements, where E is a sixteenth of D, but at least 2^14
    /// and at most 2^18, which it is where operands are packed by pieces; nothing for the plain chain. The
    /// result does not depend on the number of threads.
    ///
    /// # Errors
    /// [`Error::Argument`] when the schedule does not fit the product: more parts than steps,
    /// software scales that are missing, in excess or of another shape, modifiers of c that
    /// nothing applies; as [`Product::advance`]; [`Error::Cancelled`].
    pub fn run(
        &self,
        product: &Product<'_>,
        scales: Option<&SoftwareScales>,
        watch: &Watch<'_>,
    ) -> Result<Words> {
        self.check_plain()?;
        let whole = product.whole();
        let extent = Extent {
            batch: whole.batch.len(),
            m: whole.rows.len(),
            n: whole.columns.len(),
            steps: product.steps(),
        };
        self.check_modifiers(&product.modifiers(), product.unit().program().signs())?;
        self.check_scales(&extent, product.at_once(), scales)?;
        if self.is_chain() {
            let mut accumulators = product.c(whole)?;
            product.advance(0..extent.steps, true, &mut accumulators, watch)?;
            return Ok(accumulators.into_words());
        }
        product.pack_whole()?;
        let run = Run {
            schedule: self,
            product,
            scales,
            sequence: self.order.sequence(extent.steps)?,
            chains: None,
            watch,
        };
        let format = self.format(product.unit());
        let mut d = Words::filled(format.register.bits, whole.len(), 0)?;
        let at_once = product.at_once();
        let regions = self.regions(&extent, at_once);
        let largest = regions.first().map_or(1, Region::len).max(1);
        let numbered: Vec<(usize, &Region)> = regions.iter().enumerate().collect();
        for group in numbered.chunks((at_once / largest).max(1)) {
            let results = group
                .par_iter()
                .map(|(index, region)| {
                    let parts = self.parts(*index, regions.len(), extent.steps)?;
                    run.region(region, &parts)
                })
                .collect::<Result<Vec<_>>>()?;
            for ((_, region), values) in group.iter().zip(results) {
                for (index, word) in values.words.iter().enumerate() {
                    let (batch, i, j) = region.place(index);
                    d.set((batch * extent.m + i) * extent.n + j, word);
                }
            }
        }
        Ok(d)
    }

    /// Parts of D alone, region by region, each row by row: the words that [`Schedule::run`] has
    /// there.
    ///
    /// # Errors
    /// As [`Schedule::run`].
    pub fn sample(
        &self,
        product: &Product<'_>,
        scales: Option<&SoftwareScales>,
        wanted: &[Region],
        watch: &Watch<'_>,
    ) -> Result<Vec<u64>> {
        self.check_plain()?;
        let whole = product.whole();
        let extent = Extent {
            batch: whole.batch.len(),
            m: whole.rows.len(),
            n: whole.columns.len(),
            steps: product.steps(),
        };
        self.check_scales(&extent, product.at_once(), scales)?;
        product.pack_whole()?;
        let run = Run {
            schedule: self,
            product,
            scales,
            sequence: self.order.sequence(extent.steps)?,
            chains: None,
            watch,
        };
        let regions = self.regions(&extent, product.at_once());
        let mut found = Vec::new();
        for wanted in wanted {
            let mut words = vec![0; wanted.len()];
            for (index, region) in regions.iter().enumerate() {
                let common = region.intersection(wanted);
                if common.is_empty() {
                    continue;
                }
                let parts = self.parts(index, regions.len(), extent.steps)?;
                let values = run.region(&common, &parts)?;
                for (index, word) in values.words.iter().enumerate() {
                    words[wanted.index(common.place(index))] = word;
                }
            }
            found.extend(words);
        }
        Ok(found)
    }

    pub(super) fn check_plain(&self) -> Result<()> {
        match self.emulation {
            None => Ok(()),
            Some(_) => Err(Error::Argument(
                "the schedule: emulate= splits operands of another format: ScheduledProduct takes them".into(),
            )),
        }
    }

    /// The epilogue, where there is one: α·X + β·C.
    fn epilogue(
        &self,
        sum: Values,
        c: impl FnOnce(&Scalar) -> Result<Option<Values>>,
    ) -> Result<Values> {
        let CEntry::Epilogue {
            scalar,
            alpha,
            beta,
            by,
        } = self.c
        else {
            return Ok(sum);
        };
        let mut sum = sum.converted(&scalar)?;
        // No C is a C of +0, so that both give one sign of zero.
        let reads_c = !scalar.is_zero(beta);
        let c = match reads_c {
            true => c(&scalar)?,
            false => None,
        };
        let c = |index| c.as_ref().map_or(0, |c| c.words.get(index));
        sum.update(|index, x| match reads_c {
            true => by.multiply_add(&scalar, alpha, x, scalar.multiply(beta, c(index))),
            false => scalar.multiply(alpha, x),
        });
        Ok(sum)
    }

    /// Finishes a joined sum: C is added, in the epilogue or as the last addend, and the output is converted. C
    /// has the format of the join.
    pub(in crate::gemm) fn finished(
        &self,
        sum: Values,
        join: &Join,
        c: Option<&Matrix>,
    ) -> Result<Words> {
        let format = join.scalar().format();
        let c = match c {
            Some(c) => {
                let words = Words::of(&format, c.iter())?;
                Some(Values { words, format })
            }
            None => None,
        };
        let mut sum = sum;
        match (self.c, c) {
            (CEntry::First, Some(c)) => sum.add(&c, &join.scalar()),
            (CEntry::First, None) => {}
            (CEntry::Epilogue { .. }, c) => {
                sum = self.epilogue(sum, |scalar| c.map(|c| c.converted(scalar)).transpose())?;
            }
        }
        let sum = match &self.output {
            Some(output) => sum.output(output)?,
            None => sum,
        };
        Ok(sum.words)
    }

    /// Checks what `emulate=` excludes.
    pub(in crate::gemm) fn check_emulation(&self, modifiers: &Modifiers) -> Result<()> {
        let refused = |what: &str| {
            Err(Error::Argument(format!(
                "the schedule: emulate= with {what}; they exclude each other"
            )))
        };
        let is_joined = self.emulation.as_ref().is_some_and(|it| it.join.is_some());
        if self.software_scale().is_some() {
            return refused("scale= (software scales)");
        }
        if is_joined && (modifiers.negate_c || modifiers.scale_d != 0) {
            return refused("negC or scaleD, which no instruction does where sums are joined");
        }
        Ok(())
    }

    fn check_modifiers(&self, modifiers: &Modifiers, signs: Signs) -> Result<()> {
        let outside = match (self.promotion, self.c) {
            (_, CEntry::Epilogue { .. }) => "the epilogue",
            (Some(_), CEntry::First) => "the promotion",
            (None, CEntry::First) => return Ok(()),
        };
        if signs.c < 0 {
            return Err(Error::Argument(format!(
                "the instruction subtracts its accumulator; with this schedule C enters in {outside}, so that it would \
                 be added"
            )));
        }
        for (name, is_used) in [
            ("negC", modifiers.negate_c),
            ("scaleD", modifiers.scale_d != 0),
        ] {
            if is_used {
                return Err(Error::Argument(format!(
                    "{name}: with this schedule C enters in {outside}, not in the unit, so that \
                     no instruction does this to it"
                )));
            }
        }
        Ok(())
    }

    pub(super) fn check_scales(
        &self,
        extent: &Extent,
        at_once: usize,
        scales: Option<&SoftwareScales>,
    ) -> Result<()> {
        let (promotion, scale, scales) = match (self.promotion, self.software_scale(), scales) {
            (_, None, None) => return Ok(()),
            (_, None, Some(_)) => {
                return Err(Error::Argument(
                    "software scales are given, but the schedule has no scale=".into(),
                ));
            }
            (Some(promotion), Some(scale), Some(scales)) => (promotion, scale, scales),
            _ => {
                return Err(Error::Argument(
                    "the schedule's scale= needs software scales of A and of B".into(),
                ));
            }
        };
        let Extent { batch, m, n, steps } = *extent;
        let blocks = steps.div_ceil(promotion.steps);
        let wanted = [
            ("A", &scales.a, m.div_ceil(scale.rows), blocks),
            ("B", &scales.b, blocks, n.div_ceil(scale.columns)),
        ];
        for (name, matrix, rows, columns) in wanted {
            let fits = matrix.batch() == 1 || matrix.batch() == batch;
            if !fits || (matrix.rows(), matrix.columns()) != (rows, columns) {
                return Err(Error::Argument(format!(
                    "the software scales of {name} are {} × {}; {rows} × {columns} is \
                     needed: {} steps of the instruction share one",
                    matrix.rows(),
                    matrix.columns(),
                    promotion.steps
                )));
            }
        }
        // The sums of one promotion must share a scale.
        let sequence = self.order.sequence(steps)?;
        let count = self.regions(extent, at_once).len();
        for index in 0..count {
            for part in self.parts(index, count, steps)? {
                for group in sequence[part].chunks(promotion.steps) {
                    let block = |step: &usize| step / promotion.steps;
                    if let Some(other) = group.iter().find(|step| block(step) != block(&group[0])) {
                        return Err(Error::Argument(format!(
                            "the schedule: one promotion would take in steps {} and {other}, whose \
                             scales differ; order and parts must keep runs of {} steps together",
                            group[0], promotion.steps
                        )));
                    }
                }
            }
            if !matches!(self.split, super::Split::StreamK { .. }) {
                break; // all regions have the same parts
            }
        }
        Ok(())
    }
}

impl Run<'_> {
    /// One region of D.
    pub(super) fn region(&self, region: &Region, parts: &[Range<usize>]) -> Result<Values> {
        let mut sum = match self.schedule.reduction() {
            Some(reduction) => self.reduced(region, parts, &reduction)?,
            None => self.part(region, parts[0].clone(), true)?,
        };
        if let CEntry::Epilogue { .. } = self.schedule.c {
            sum = self
                .schedule
                .epilogue(sum, |scalar| self.c(region, scalar))?;
        }
        match &self.schedule.output {
            Some(output) => sum.output(output),
            None => Ok(sum),
        }
    }

    /// The parts' sums, added. Parts are computed in the order in which they are added.
    fn reduced(
        &self,
        region: &Region,
        parts: &[Range<usize>],
        reduction: &Reduction,
    ) -> Result<Values> {
        let scalar = &reduction.scalar;
        let part = |index: usize| {
            let sum = self.part(region, parts[index].clone(), index == 0)?;
            sum.converted(scalar)
        };
        let descending = reduction.order == ReductionOrder::Descending;
        let place = |index: usize| match descending {
            true => parts.len() - 1 - index,
            false => index,
        };
        // Sums under way, each with the number of parts it holds.
        let mut sums: Vec<(usize, Values)> = Vec::new();
        for index in 0..parts.len() {
            let mut sum = (1, part(place(index))?);
            while let Some((count, _)) = sums.last()
                && (reduction.order != ReductionOrder::Pairwise || *count == sum.0)
                && let Some((count, mut left)) = sums.pop()
            {
                left.add(&sum.1, scalar);
                sum = (count + sum.0, left);
            }
            sums.push(sum);
        }
        let last = sums.pop().map(|(_, sum)| sum);
        let mut sum = last.ok_or_else(|| Error::Argument("the schedule has no parts".into()))?;
        while let Some((_, mut left)) = sums.pop() {
            left.add(&sum, scalar);
            sum = left;
        }
        Ok(sum)
    }

    /// The sum of one part; C goes into the first one if it goes into any.
    fn part(&self, region: &Region, places: Range<usize>, is_first: bool) -> Result<Values> {
        let with_c = is_first && self.schedule.c == CEntry::First;
        match &self.schedule.promotion {
            None => self.chain(region, places, with_c),
            Some(promotion) => self.promoted(region, places, with_c, promotion),
        }
    }

    /// The steps at some places of the order, in the unit.
    fn chain(&self, region: &Region, places: Range<usize>, with_c: bool) -> Result<Values> {
        if let Some(chains) = self.chains {
            return chains.sum(region, places, with_c, self.watch);
        }
        let steps = &self.sequence[places];
        let mut accumulators = match with_c {
            true => self.product.c(region.clone())?,
            false => self.product.zeros(region.clone())?,
        };
        let mut first = with_c;
        for run in steps.chunk_by(|step, next| step + 1 == *next) {
            let range = run[0]..run[run.len() - 1] + 1;
            self.product
                .advance(range, first, &mut accumulators, self.watch)?;
            first = false;
        }
        let format = *accumulators.format();
        Ok(Values {
            words: accumulators.into_words(),
            format,
        })
    }

    fn promoted(
        &self,
        region: &Region,
        places: Range<usize>,
        with_c: bool,
        promotion: &Promotion,
    ) -> Result<Values> {
        let scalar = &promotion.scalar;
        let c = match with_c {
            true => self.c(region, scalar)?,
            false => None,
        };
        let mut outer = match c {
            Some(c) => c,
            None => Values::zeros(scalar.format(), region.len())?,
        };
        for start in places.clone().step_by(promotion.steps) {
            let group = start..places.end.min(start.saturating_add(promotion.steps));
            let inner = self.chain(region, group, false)?.converted(scalar)?;
            match (promotion.scale, self.scales) {
                (Some(scale), Some(scales)) => {
                    let block = self.sequence[start] / promotion.steps;
                    outer.update(|index, sum| {
                        let place = region.place(index);
                        let (batch, i, j) = self.chains.map_or(place, |own| own.place(place));
                        let a = scales.a.at(batch, i / scale.rows, block);
                        let b = scales.b.at(batch, block, j / scale.columns);
                        let by: MultiplyAdd = scale.by;
                        let inner = inner.words.get(index);
                        by.multiply_add(scalar, scalar.multiply(a, b), inner, sum)
                    });
                }
                _ => outer.add(&inner, scalar),
            }
        }
        Ok(outer)
    }

    /// C of a region in another format; `None` when there is none or `noC` leaves it out.
    fn c(&self, region: &Region, scalar: &Scalar) -> Result<Option<Values>> {
        if self.product.matrices().c().is_none() || self.product.modifiers().no_c {
            return Ok(None);
        }
        let accumulators = self.product.c(region.clone())?;
        let format = self.product.unit().signature().c;
        let values = Values {
            words: accumulators.into_words(),
            format,
        };
        values.converted(scalar).map(Some)
    }
}
