//! Measures how the error of a matrix product grows with K, by unit and schedule.
//!
//! A [`Curve`] is one unit under one schedule, on given or generated matrices: statistics of the
//! product over the first K columns of A and rows of B, for K from one instruction's on, doubling.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use mmascope_lab::accuracy::{Curve, Data, AccuracySetting};
//! use mmascope_gemm::gemm::{Schedule, Watch};
//! use mmascope_model::isa::Catalogue;
//!
//! let row = Catalogue::built_in().find("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3")?;
//! let data = Data::generated("normal".parse()?, 1, [8, 8, 256])?;
//! let watch = Watch { progress: &|_| (), cancel: &AtomicBool::new(false) };
//! let setting = AccuracySetting { row, schedule: Schedule::default() };
//! let curve = Curve::measure(&setting, &data, true, &watch)?;
//! let ks: Vec<usize> = curve.points.iter().map(|point| point.k).collect();
//! assert_eq!(ks, [32, 64, 128, 256]);
//! # Ok::<(), mmascope_model::Error>(())
//! ```

mod chart;
mod data;
mod scaled;

pub(crate) use chart::RoundStep;
pub use chart::chart;
pub use data::Data;

use crate::dpa::Modifiers;
use crate::error::{Error, Result};
use crate::gemm::{ErrorStatistics, Matrices, Schedule, ScheduledProduct, SoftwareScales, Watch};
use crate::isa::Instruction;

/// What one curve measures: a unit under a schedule.
#[derive(Clone, Debug)]
pub struct AccuracySetting<'c> {
    /// The instruction.
    pub row: &'c Instruction,
    /// The schedule. Software scales are made from the data: each block's largest magnitude over the
    /// format's largest number, as f32, and operands rounded in units of them.
    pub schedule: Schedule,
}

/// Errors at one K.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Point {
    /// Products of an output.
    pub k: usize,
    /// Errors over D.
    pub statistics: ErrorStatistics,
}

/// The errors of one unit under one schedule.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Curve {
    /// Architecture.
    pub arch: String,
    /// Instruction.
    pub inst: String,
    /// The schedule's text.
    pub schedule: String,
    /// K ascending.
    pub points: Vec<Point>,
}

impl Curve {
    /// Measures the errors. With `sample`, statistics are over a sample of D (see
    /// [`crate::gemm::statistics`]). `watch.progress` counts steps of elements; their number is
    /// [`Curve::work`].
    ///
    /// # Errors
    /// [`Error::Unmodelled`]; [`Error::Argument`] when no K fits instruction and schedule, or the
    /// data do not fit the operands; [`Error::Cancelled`].
    pub fn measure(
        setting: &AccuracySetting<'_>,
        data: &Data,
        sample: bool,
        watch: &Watch<'_>,
    ) -> Result<Self> {
        let (row, schedule) = (setting.row, &setting.schedule);
        let unit = row.unit()?;
        let mut points = Vec::new();
        for k in setting.ks(data)? {
            let (matrices, scales) = setting.operands(data, k)?;
            let scales = scales.as_ref();
            let modifiers = Modifiers::default();
            let product = ScheduledProduct::new(schedule, unit, &matrices, modifiers)?;
            let d = product.run(scales, watch)?;
            let quiet = Watch {
                progress: &|_| (),
                cancel: watch.cancel,
            };
            let statistics = product.statistics(scales, &d, sample, &quiet)?;
            points.push(Point { k, statistics });
        }
        Ok(Self {
            arch: row.architecture.clone(),
            inst: row.name.clone(),
            schedule: schedule.to_string(),
            points,
        })
    }

    /// Steps of elements that a curve takes.
    ///
    /// # Errors
    /// As [`Curve::measure`], and where the largest operands do not fit the memory.
    pub fn work(setting: &AccuracySetting<'_>, data: &Data) -> Result<u64> {
        let native = setting.row.unit()?.signature().k;
        let emulation = setting.schedule.emulation.as_ref();
        let each = emulation.map_or(1, |emulation| emulation.products()) as u64;
        let outputs = data.m() as u64 * data.n() as u64;
        let ks = setting.ks(data)?;
        data.check_memory(ks.last().copied().unwrap_or(0))?;
        let steps: u64 = ks.iter().map(|k| (k / native) as u64).sum();
        Ok(outputs * steps * each)
    }

    /// Architecture, instruction and, unless it is the plain chain, schedule.
    #[must_use]
    pub fn name(&self) -> String {
        match &*self.schedule {
            "chain" => format!("{}:{}", self.arch, self.inst),
            schedule => format!("{}:{} [{schedule}]", self.arch, self.inst),
        }
    }
}

impl AccuracySetting<'_> {
    /// The operands over the first k products, with software scales where the schedule has some.
    fn operands(&self, data: &Data, k: usize) -> Result<(Matrices, Option<SoftwareScales>)> {
        let signature = &self.schedule.signature(self.row.unit()?);
        match self.schedule.promotion.map(|it| (it, it.scale)) {
            Some((promotion, Some(scale))) => {
                let (matrices, scales) = data.scaled(signature, k, &promotion, scale)?;
                Ok((matrices, Some(scales)))
            }
            _ => Ok((data.matrices(signature, k)?, None)),
        }
    }

    /// One instruction's K, its doubles, and the largest multiple that the data have; from as many
    /// steps on as the schedule needs.
    fn ks(&self, data: &Data) -> Result<Vec<usize>> {
        let native = self.row.unit()?.signature().k;
        let last = data.k() / native * native;
        let least = native.saturating_mul(self.schedule.least_steps());
        let doubles = std::iter::successors(Some(native), |k| k.checked_mul(2));
        let mut ks: Vec<usize> = doubles
            .take_while(|&k| k < last)
            .chain([last])
            .filter(|&k| k >= least)
            .collect();
        ks.dedup();
        if last == 0 || ks.is_empty() {
            return Err(Error::Argument(format!(
                "K = {}: {} under '{}' needs at least {least}",
                data.k(),
                self.row.name,
                self.schedule
            )));
        }
        Ok(ks)
    }
}
