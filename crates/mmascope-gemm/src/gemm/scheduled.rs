//! A product under a schedule, whatever the schedule does to the operands.

use super::matrix::Matrix;
use super::schedule::emulation::{Expansion, Joining, Lines};
use super::schedule::{Emulation, Split, Values};
use super::statistics::compared;
use super::yardstick::Yardstick;
use super::{ErrorStatistics, Matrices, Product, Region, Schedule, SoftwareScales, Watch};
use crate::array::Words;
use crate::dpa::{Modifiers, Unit};
use crate::error::{Error, Result};

/// D = C + A·B by a unit under a schedule. A, B and C have the formats of [`Schedule::signature`].
///
/// Without `emulate=` it is a [`Product`] with its schedule. With it the operands are split, a group of products of
/// parts at a time: beside D, each group's sums and, for one group, the parts and their products' operands are in
/// memory.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use mmascope_gemm::gemm::{Matrices, Matrix, Schedule, ScheduledProduct, Watch};
/// use mmascope_model::{dpa::Modifiers, isa::Catalogue};
///
/// let unit = Catalogue::built_in().find("tpu", "mxu.f32.bf16")?.unit()?;
/// let third = (1.0_f32 / 3.0).to_bits();
/// let one = 1.0_f32.to_bits();
/// let a = Matrix::row_major(1, 128, [vec![third], vec![0; 127]].concat())?;
/// let b = Matrix::row_major(128, 1, [vec![one], vec![0; 127]].concat())?;
/// let matrices = Matrices::new(a, b)?;
/// let watch = Watch { progress: &|_| (), cancel: &AtomicBool::new(false) };
/// let d = |text: &str| -> mmascope_model::Result<u64> {
///     let schedule: Schedule = text.parse()?;
///     let product = ScheduledProduct::new(&schedule, unit, &matrices, Modifiers::default())?;
///     Ok(product.run(None, &watch)?.get(0))
/// };
/// // One pass keeps 8 bits of a third, three parts all 24.
/// assert_eq!(d("emulate=f32 parts=1 products=0x0")?, 0x3eab_0000);
/// assert_eq!(d("emulate=f32 parts=3 products=levels/3 join=ascending/f32")?, u64::from(third));
/// # Ok::<(), mmascope_model::Error>(())
/// ```
#[derive(Debug)]
pub struct ScheduledProduct<'a> {
    schedule: &'a Schedule,
    unit: &'a Unit,
    matrices: &'a Matrices,
    modifiers: Modifiers,
    kind: Kind<'a>,
}

#[derive(Debug)]
enum Kind<'a> {
    Plain(Box<Product<'a>>),
    Emulated {
        emulation: &'a Emulation,
        by_reference: bool,
    },
}

impl<'a> ScheduledProduct<'a> {
    /// Checks the operands, and prepares them where the schedule takes them as they are.
    ///
    /// # Errors
    /// As [`Product::new`]; [`Error::Argument`] when the unit does not take the parts of `emulate=`.
    pub fn new(
        schedule: &'a Schedule,
        unit: &'a Unit,
        matrices: &'a Matrices,
        modifiers: Modifiers,
    ) -> Result<Self> {
        Self::made(schedule, unit, matrices, modifiers, false)
    }

    /// The same with the reference for everything, whatever engines there are.
    ///
    /// # Errors
    /// As [`ScheduledProduct::new`].
    pub fn by_reference(
        schedule: &'a Schedule,
        unit: &'a Unit,
        matrices: &'a Matrices,
        modifiers: Modifiers,
    ) -> Result<Self> {
        Self::made(schedule, unit, matrices, modifiers, true)
    }

    fn made(
        schedule: &'a Schedule,
        unit: &'a Unit,
        matrices: &'a Matrices,
        modifiers: Modifiers,
        by_reference: bool,
    ) -> Result<Self> {
        let kind = match &schedule.emulation {
            None => Kind::Plain(Box::new(match by_reference {
                true => Product::by_reference(unit, matrices, modifiers)?,
                false => Product::new(unit, matrices, modifiers)?,
            })),
            Some(emulation) => {
                emulation.check_unit(unit)?;
                matrices.check(&schedule.signature(unit))?;
                modifiers.check_limits().map_err(Error::Argument)?;
                schedule.check_emulation(&modifiers)?;
                Kind::Emulated {
                    emulation,
                    by_reference,
                }
            }
        };
        Ok(Self {
            schedule,
            unit,
            matrices,
            modifiers,
            kind,
        })
    }

    /// Instructions that every output takes.
    #[must_use]
    pub fn steps(&self) -> usize {
        let steps = self.matrices.k() / self.unit.signature().k;
        match &self.kind {
            Kind::Plain(_) => steps,
            Kind::Emulated { emulation, .. } => steps * emulation.products(),
        }
    }

    /// The schedule.
    #[must_use]
    pub fn schedule(&self) -> &'a Schedule {
        self.schedule
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

    /// All of D.
    #[must_use]
    pub fn whole(&self) -> Region {
        Region {
            batch: 0..self.matrices.batch(),
            rows: 0..self.matrices.m(),
            columns: 0..self.matrices.n(),
        }
    }

    /// D, m × n, row-major, matrix by matrix of a batch, as words of [`Schedule::format`].
    ///
    /// # Errors
    /// As [`Schedule::run`].
    pub fn run(&self, scales: Option<&SoftwareScales>, watch: &Watch<'_>) -> Result<Words> {
        match &self.kind {
            Kind::Plain(product) => self.schedule.run(product, scales, watch),
            Kind::Emulated {
                emulation,
                by_reference,
            } => {
                self.no_scales(scales)?;
                self.region(emulation, *by_reference, &self.whole(), watch)
            }
        }
    }

    /// Parts of D alone, region by region, each row by row.
    ///
    /// # Errors
    /// As [`Schedule::run`].
    pub fn sample(
        &self,
        scales: Option<&SoftwareScales>,
        wanted: &[Region],
        watch: &Watch<'_>,
    ) -> Result<Vec<u64>> {
        let (emulation, by_reference) = match &self.kind {
            Kind::Plain(product) => return self.schedule.sample(product, scales, wanted, watch),
            Kind::Emulated {
                emulation,
                by_reference,
            } => (emulation, *by_reference),
        };
        self.no_scales(scales)?;
        // The workers of stream-K share out all of D.
        if matches!(self.schedule.split, Split::StreamK { .. }) {
            let (all, whole) = (self.run(scales, watch)?, self.whole());
            let places = wanted
                .iter()
                .flat_map(|region| (0..region.len()).map(|index| region.place(index)));
            return Ok(places.map(|place| all.get(whole.index(place))).collect());
        }
        let mut found = Vec::new();
        for region in wanted {
            found.extend(self.region(emulation, by_reference, region, watch)?.iter());
        }
        Ok(found)
    }

    /// Compares D with the exact product of the operands as they are before they are split.
    ///
    /// # Errors
    /// As [`statistics`](super::statistics).
    pub fn statistics(
        &self,
        scales: Option<&SoftwareScales>,
        d: &Words,
        sample: bool,
        watch: &Watch<'_>,
    ) -> Result<ErrorStatistics> {
        let yardstick = Yardstick::new(
            self.schedule,
            self.unit,
            self.matrices,
            self.modifiers,
            scales,
        );
        compared(&yardstick, self.matrices.outputs(), d, sample, watch)
    }

    fn no_scales(&self, scales: Option<&SoftwareScales>) -> Result<()> {
        match scales {
            None => Ok(()),
            Some(_) => Err(Error::Argument(
                "software scales are given, but the schedule has no scale=".into(),
            )),
        }
    }

    /// A region of D, row by row.
    fn region(
        &self,
        emulation: &Emulation,
        by_reference: bool,
        region: &Region,
        watch: &Watch<'_>,
    ) -> Result<Words> {
        let signature = self.unit.signature();
        let lines = |lines: &std::ops::Range<usize>, columns| Lines {
            batch: region.batch.clone(),
            lines: lines.clone(),
            columns,
        };
        let rows = lines(&region.rows, false);
        let columns = lines(&region.columns, true);
        let a = Expansion::new(emulation, signature.a, self.matrices.a(), &rows)?;
        let b = Expansion::new(emulation, signature.b, self.matrices.b(), &columns)?;
        let mut sums = Vec::new();
        for (index, group) in emulation.groups.iter().enumerate() {
            watch.check()?;
            let own_a = a.operand(group, emulation.within, signature.k)?;
            let own_b = b.operand(group, emulation.within, signature.k)?;
            let mut matrices = Matrices::new(own_a, own_b)?;
            let mut modifiers = self.modifiers;
            match emulation.join {
                Some(_) => modifiers.no_c = false,
                None => {
                    if let Some(c) = self.matrices.c() {
                        matrices = matrices.with_c(part(c, region)?)?;
                    }
                }
            }
            let product = match by_reference {
                true => Product::by_reference(self.unit, &matrices, modifiers)?,
                false => Product::new(self.unit, &matrices, modifiers)?,
            };
            let inner = emulation.inner(self.schedule, index);
            let words = inner.run(&product, None, watch)?;
            if emulation.join.is_none() {
                return Ok(words);
            }
            sums.push(Values {
                words,
                format: inner.format(self.unit),
            });
        }
        let join = emulation
            .join
            .ok_or_else(|| Error::Argument("the schedule has no products".into()))?;
        let sum = Joining::new(emulation, region, [&a, &b]).joined(&join, sums)?;
        let c = match self.matrices.c() {
            Some(c) if !self.modifiers.no_c => Some(part(c, region)?),
            _ => None,
        };
        self.schedule.finished(sum, &join, c.as_ref())
    }
}

/// A part of C, row by row.
fn part(matrix: &Matrix, region: &Region) -> Result<Matrix> {
    let mut words = Words::with_capacity(matrix.words().width(), region.len())?;
    for index in 0..region.len() {
        let (batch, i, j) = region.place(index);
        words.push(matrix.at(batch, i, j));
    }
    Matrix::batched(
        region.batch.len(),
        region.rows.len(),
        region.columns.len(),
        words,
    )
}
