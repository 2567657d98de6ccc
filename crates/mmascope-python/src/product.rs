//! Whole matrix products of arrays.

use std::num::NonZeroUsize;

use pyo3::prelude::*;

use crate::array::{Operand, to_numpy};
use crate::error::{Raised, argument};
use crate::interrupt::{self, Work};
use crate::row::Row;
use mmascope::array::{Casting, Words};
use mmascope::dpa::{Scalar, Signature};
use mmascope::format::{F32, Format, Rounding};
use mmascope::gemm::{MOST_THREADS, Matrices, Matrix, Schedule, ScheduledProduct, SoftwareScales};

/// The arrays of a product, two or three dimensions each.
#[derive(FromPyObject)]
pub(crate) struct Given<'py> {
    a: Operand<'py>,
    b: Operand<'py>,
    c: Option<Operand<'py>>,
    scale_a: Option<Operand<'py>>,
    scale_b: Option<Operand<'py>>,
}

/// Everything else.
#[derive(FromPyObject)]
pub(crate) struct Options<'py> {
    schedule: Option<String>,
    modifiers: Vec<String>,
    round: Option<String>,
    saturate: bool,
    pad: bool,
    threads: Option<usize>,
    /// f32 words of tensor scales.
    tensor_scales: Option<(u32, u32)>,
    progress: Option<Bound<'py, PyAny>>,
    by_reference: bool,
}

impl Given<'_> {
    fn matrix(operand: &Operand<'_>, words: Words) -> PyResult<Matrix> {
        let (batch, rows, columns) = match *operand.shape() {
            [rows, columns] => (1, rows, columns),
            [batch, rows, columns] => (batch, rows, columns),
            ref shape => {
                return Err(argument(&format!(
                    "an array of shape {shape:?} is no matrix"
                )));
            }
        };
        let matrix = Matrix::batched(batch, rows, columns, words).raised()?;
        Ok(if operand.is_turned {
            matrix.transposed()
        } else {
            matrix
        })
    }

    fn matrices(
        &self,
        signature: &Signature,
        casting: &Casting,
        is_block: bool,
    ) -> PyResult<Matrices> {
        let operand = |operand: &Operand<'_>, format: &Format| {
            Self::matrix(operand, operand.words(format, casting)?)
        };
        let a = operand(&self.a, &signature.a)?;
        let b = operand(&self.b, &signature.b)?;
        let mut out = Matrices::new(a, b).raised()?;
        if let Some(c) = &self.c {
            out = out.with_c(operand(c, &signature.c)?).raised()?;
        }
        if let (Some(scale_a), Some(scale_b), true) = (&self.scale_a, &self.scale_b, is_block) {
            let Some(scale) = signature.scale else {
                return Err(argument(
                    "scale_a, scale_b: the instruction has no block scales",
                ));
            };
            let words = |operand: &Operand<'_>| {
                let words = operand.array()?.scale_words(&scale.format).raised()?;
                Self::matrix(operand, words)
            };
            out = out.with_scales(words(scale_a)?, words(scale_b)?).raised()?;
        }
        Ok(out)
    }
}

fn schedule(text: Option<&str>) -> PyResult<Schedule> {
    text.map_or(Ok(Schedule::default()), |text| {
        text.parse()
            .map_err(|error| argument(&format!("schedule: {error}")))
    })
}

/// The name of D's format under a schedule.
pub(crate) fn result_format(row: &Row, text: Option<&str>) -> PyResult<&'static str> {
    Ok(schedule(text)?.format(row.unit().raised()?).name)
}

/// What a schedule multiplies C by.
#[pyfunction]
#[pyo3(signature = (schedule=None))]
pub(crate) fn beta_of(schedule: Option<&str>) -> PyResult<f64> {
    Ok(self::schedule(schedule)?.beta())
}

/// D as an array of words, and the name of their format.
pub(crate) fn multiply<'py>(
    py: Python<'py>,
    row: &Row,
    given: &Given<'py>,
    options: &Options<'py>,
) -> PyResult<(Bound<'py, PyAny>, &'static str)> {
    let unit = row.unit().raised()?;
    let modifiers = row.modifiers(&options.modifiers)?;
    if modifiers.no_c && given.c.is_some() {
        return Err(argument(
            "c with the modifier noC: noC leaves c out; give one of them",
        ));
    }
    let mut schedule = schedule(options.schedule.as_deref())?;
    let signature = &schedule.signature(unit);
    let mut casting = Casting {
        saturate: options.saturate,
        ..Casting::default()
    };
    if let Some(name) = &options.round {
        casting = casting.with_rounding(name).raised()?;
    }
    if given.scale_a.is_some() != given.scale_b.is_some() {
        return Err(argument(
            "scale_a and scale_b go together: give both or none",
        ));
    }
    let promotion = schedule.promotion.filter(|it| it.scale.is_some());
    if promotion.is_some() && signature.scale.is_some() {
        return Err(argument(
            "schedule: scale= asks for software scales, but the instruction has block scales, and scale_a and scale_b \
             cannot be both",
        ));
    }
    let matrices = given.matrices(signature, &casting, promotion.is_none())?;
    let software = match (promotion, &given.scale_a, &given.scale_b) {
        (Some(promotion), Some(a), Some(b)) => {
            let format = promotion.scalar.format();
            let scales = SoftwareScales::from_arrays(&a.array()?, &b.array()?, &format);
            Some(scales.raised()?)
        }
        _ => None,
    };
    if let Some((a, b)) = options.tensor_scales {
        let factor = Scalar::new(F32, Rounding::Rne)
            .raised()?
            .multiply(a.into(), b.into());
        schedule = schedule
            .scaled_by(factor, matrices.c().is_some())
            .raised()?;
    }
    let matrices = match options.pad {
        true => matrices.padded(signature).raised()?,
        false => matrices,
    };
    let threads = match options.threads {
        None => None,
        Some(threads) => Some(
            NonZeroUsize::new(threads)
                .filter(|it| it.get() <= MOST_THREADS)
                .ok_or_else(|| {
                    argument(&format!(
                        "threads = {threads}: 1 to {MOST_THREADS} are possible"
                    ))
                })?,
        ),
    };
    let outputs = matrices.outputs() as u64;
    let work = Work {
        steps: outputs.saturating_mul(matrices.k() as u64),
        threads,
        progress: options.progress.as_ref(),
    };
    let by_reference = options.by_reference;
    let words = interrupt::run(py, &work, |watch| {
        let product = match by_reference {
            true => ScheduledProduct::by_reference(&schedule, unit, &matrices, modifiers)?,
            false => {
                mmascope_cli::choose_engine()?;
                ScheduledProduct::new(&schedule, unit, &matrices, modifiers)?
            }
        };
        product.run(software.as_ref(), watch)
    })?;
    let shape = [matrices.batch(), matrices.m(), matrices.n()];
    let format = schedule.format(unit);
    // A unit whose c is wider than its d leaves words as wide as c.
    let words = match words.width() == format.register.bits.max(8) {
        true => words,
        false => Words::of(&format, words.iter()).raised()?,
    };
    Ok((to_numpy(py, words, &shape)?, format.name))
}
