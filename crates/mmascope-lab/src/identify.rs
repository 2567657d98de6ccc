//! Identifies which row of the catalogue, under which schedule, produced given matrices.
//!
//! The candidates are the rows whose formats hold the operands exactly, each with the usual schedules of
//! kernels (`identify/schedules.rs` lists them); where a row's K does not divide the matrices', they are
//! filled up with +0, as kernels do. `identify/row.rs` says how much of D a candidate computes.

mod emulations;
mod matched_inputs;
mod row;
mod schedules;

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::array::Array;
use crate::dpa::{Modifiers, Unit};
use crate::error::{Error, Result};
use crate::gemm::{Arrays, Product, Schedule, Watch};
use crate::isa::Catalogue;
use matched_inputs::{MatchedInputs, matched_inputs, same_formats};
use row::Row;

/// The most elements of operands that are prepared for several rows at the same time.
const AT_ONCE: usize = 1 << 28;

/// A candidate: different names of one arithmetic, with a schedule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// Rows, `ARCH:INST`.
    pub rows: Vec<String>,
    /// The schedule, in the notation of `docs/schedules.md`.
    pub schedule: String,
    /// The arithmetic.
    pub arithmetic: String,
    /// K with the +0 that fill it up to a multiple of the unit's.
    pub k: usize,
    /// Elements of D computed.
    pub compared: usize,
    /// The number of elements that equal the given ones.
    pub agreeing: usize,
    /// Whether every element was computed.
    pub full: bool,
    /// The first element that is not as given: row, column, given, computed.
    pub first: Option<(usize, usize, String, String)>,
    /// Its place among the schedules: the simpler ones come first.
    rank: usize,
}

impl Candidate {
    /// Whether everything computed is as given.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.agreeing == self.compared
    }

    fn share(&self) -> f64 {
        self.agreeing as f64 / self.compared.max(1) as f64
    }
}

/// The result of an identification.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Identification {
    /// M, N, K.
    pub shape: [usize; 3],
    /// The best candidates, the best first: those that fit, and the best of every row.
    pub candidates: Vec<Candidate>,
    /// Rows of different arithmetic, times schedules, that were tried.
    pub tried: usize,
    /// Rows that could not be candidates, because formats or K do not fit.
    pub left_out: usize,
}

impl Identification {
    /// The candidates that give every element.
    pub fn identified(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(|candidate| candidate.fits())
    }

    /// The value that `identify --json` prints.
    #[must_use]
    pub fn json(&self) -> Map<String, Value> {
        let candidate = |candidate: &Candidate| {
            let first = candidate.first.as_ref().map(|(i, j, given, computed)| {
                json!({"i": i, "j": j, "given": given, "computed": computed})
            });
            json!({
                "rows": candidate.rows,
                "schedule": candidate.schedule,
                "arithmetic": candidate.arithmetic,
                "padded_k": candidate.k,
                "compared": candidate.compared,
                "agreeing": candidate.agreeing,
                "full": candidate.full,
                "first_disagreeing": first,
            })
        };
        let identified: Vec<Value> = self.identified().map(candidate).collect();
        let others = self.candidates.iter().filter(|candidate| !candidate.fits());
        let others: Vec<Value> = others.map(candidate).collect();
        let value = json!({
            "m": self.shape[0],
            "n": self.shape[1],
            "k": self.shape[2],
            "tried": self.tried,
            "answer": if identified.is_empty() { "none" } else { "identified" },
            "identified": identified,
            "runners_up": others,
            "left_out": self.left_out,
        });
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

/// The matrices of a question.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// A, B, C and scales. Units that take block scales get the scales as block scales. With other units they are numbers
    /// that a kernel multiplies sums by; their shapes decide how many rows, columns and steps share one.
    pub operands: Arrays<'a>,
    /// D, M × N.
    pub d: &'a Array,
    /// α and β.
    pub factors: Factors,
}

/// D = α·A·B + β·C: both 1 unless known otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// The factor of the product.
    pub alpha: f64,
    /// The factor of C.
    pub beta: f64,
}

impl Default for Factors {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            beta: 1.0,
        }
    }
}

/// The units of a catalogue, each with the rows that have it.
fn units(catalogue: &Catalogue) -> Vec<(Unit, Vec<String>)> {
    let mut units: Vec<(Unit, Vec<String>)> = Vec::new();
    for row in catalogue.instructions() {
        let Ok(unit) = row.unit() else { continue };
        let name = format!("{}:{}", row.architecture, row.name);
        match units.iter_mut().find(|(known, _)| known == unit) {
            Some((_, names)) => names.push(name),
            None => units.push((unit.clone(), vec![name])),
        }
    }
    units
}

/// How often [`identify`] tells its progress: each unit is tried as it is, and with emulated precision.
#[must_use]
pub fn trials(catalogue: &Catalogue) -> usize {
    2 * units(catalogue).len()
}

/// Finds the rows and schedules that give D.
///
/// # Errors
/// [`Error::Argument`] when the shapes do not fit each other; [`Error::Cancelled`].
pub fn identify(
    catalogue: &Catalogue,
    question: &Question<'_>,
    cancel: &AtomicBool,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Identification> {
    let [m, n, k] = shape(question)?;
    let mut units = units(catalogue);
    // A chain of instructions that subtract c is no product of matrices.
    units.retain(|(unit, _)| unit.check_chain(k).is_ok());
    units.sort_by_key(|(unit, _)| unit.signature().to_string());
    let mut found = Identification {
        shape: [m, n, k],
        candidates: Vec::new(),
        tried: 0,
        left_out: 0,
    };
    let at_once = (AT_ONCE / (m * k + k * n).max(1)).max(1);
    for group in units.chunk_by(|(x, _), (y, _)| same_formats(x.signature(), y.signature())) {
        let inputs = matched_inputs(question, group[0].0.signature());
        for some in group.chunks(at_once) {
            let results = some
                .par_iter()
                .map(|(unit, names)| {
                    progress(&names[0]);
                    match &inputs {
                        None => Ok(None),
                        Some(inputs) => try_unit(unit, names, inputs, question, cancel),
                    }
                })
                .collect::<Result<Vec<_>>>()?;
            for ((_, names), result) in some.iter().zip(results) {
                match result {
                    None => found.left_out += names.len(),
                    Some((tried, candidates)) => {
                        found.tried += tried;
                        found.candidates.extend(candidates);
                    }
                }
            }
        }
    }
    // Schemes of emulated precision, where A and B are wider than what a unit takes.
    let emulated = units
        .par_iter()
        .map(|(unit, names)| {
            progress(&names[0]);
            emulations::try_unit(unit, names, question, cancel)
        })
        .collect::<Result<Vec<_>>>()?;
    for (tried, candidates) in emulated {
        found.tried += tried;
        found.candidates.extend(candidates);
    }
    leave_out_repeated(&mut found.candidates);
    found.candidates.sort_by(|x, y| {
        let fits = y.fits().cmp(&x.fits());
        fits.then(y.share().total_cmp(&x.share()))
            .then(x.rank.cmp(&y.rank))
            .then(x.rows[0].cmp(&y.rows[0]))
    });
    // The nearest candidate is computed on all of D, so that its distance is exact.
    if let Some(nearest) = found.candidates.first_mut().filter(|best| !best.full) {
        let (arch, inst) = nearest.rows[0].split_once(':').unwrap_or_default();
        let unit = catalogue.find(arch, inst)?.unit()?;
        let schedule: Schedule = nearest.schedule.parse()?;
        if schedule.emulation.is_some() {
            emulations::complete(nearest, unit, question, cancel)?;
        } else if let Some(inputs) = matched_inputs(question, unit.signature()) {
            let names = nearest.rows.clone();
            with_row(unit, &names, &inputs, question, cancel, |row| {
                row.complete(nearest)
            })?;
        }
    }
    Ok(found)
}

/// Leaves out emulations of one part where the unit alone gives the same bits: the part is the operand itself.
fn leave_out_repeated(candidates: &mut Vec<Candidate>) {
    let chain = Schedule::default().to_string();
    let plain: Vec<Vec<String>> = candidates
        .iter()
        .filter(|it| it.fits() && it.schedule == chain)
        .map(|it| it.rows.clone())
        .collect();
    candidates.retain(|it| {
        let is_one_part = it.schedule.starts_with("emulate=") && it.schedule.contains(" parts=1");
        !(is_one_part && it.fits() && plain.contains(&it.rows))
    });
}

/// M, N and K of a question.
fn shape(question: &Question<'_>) -> Result<[usize; 3]> {
    let Arrays {
        a,
        b,
        c,
        scale_a,
        scale_b,
        transpose_a,
        transpose_b,
    } = question.operands;
    let sides = |array: &Array, transpose: bool| {
        let (rows, columns) = array.rows_and_columns()?;
        Ok::<_, Error>(if transpose {
            (columns, rows)
        } else {
            (rows, columns)
        })
    };
    let ((m, k), (rows, n)) = (sides(a, transpose_a)?, sides(b, transpose_b)?);
    let (d_rows, d_columns) = question.d.rows_and_columns()?;
    if rows != k || (d_rows, d_columns) != (m, n) {
        return Err(Error::Argument(format!(
            "A is {m} × {k}, B {rows} × {n}, D {d_rows} × {d_columns}: expected M × K, K × N and M × N"
        )));
    }
    if let Some(c) = c {
        let (c_rows, c_columns) = c.rows_and_columns()?;
        if (c_rows, c_columns) != (m, n) {
            return Err(Error::Argument(format!(
                "C is {c_rows} × {c_columns}: expected M × N = {m} × {n}"
            )));
        }
    }
    let scales = [("A", scale_a, [m, k]), ("B", scale_b, [k, n])];
    for (name, scale, [most_rows, most_columns]) in scales {
        let Some(scale) = scale else { continue };
        let (rows, columns) = scale.rows_and_columns()?;
        if !(1..=most_rows).contains(&rows) || !(1..=most_columns).contains(&columns) {
            return Err(Error::Argument(format!(
                "the scales of {name} are {rows} × {columns}: expected at most {most_rows} × {most_columns}"
            )));
        }
    }
    let Factors { alpha, beta } = question.factors;
    for (name, factor) in [("alpha", alpha), ("beta", beta)] {
        if !factor.is_finite() {
            return Err(Error::Argument(format!("{name} = {factor} is not finite")));
        }
    }
    if c.is_none() && beta != 1.0 {
        return Err(Error::Argument(format!(
            "beta = {beta}: there is no C that it multiplies"
        )));
    }
    Ok([m, n, k])
}

/// Tries the schedules of a unit. Returns how many there were, and the best; `None` when there is none, because results
/// that are no accumulators cannot be chained, or because no scales of this product have these shapes.
fn try_unit(
    unit: &Unit,
    names: &[String],
    inputs: &MatchedInputs,
    question: &Question<'_>,
    cancel: &AtomicBool,
) -> Result<Option<(usize, Vec<Candidate>)>> {
    let signature = unit.signature();
    let is_chain = inputs.matrices.k() > signature.k;
    if is_chain && signature.c.container() != signature.d.container() {
        return Ok(None);
    }
    let found = with_row(unit, names, inputs, question, cancel, |row| row.run())?;
    Ok(found.filter(|(tried, _)| *tried > 0))
}

/// Does something with a unit and its operands, filled up; `None` when they cannot be.
fn with_row<T>(
    unit: &Unit,
    names: &[String],
    inputs: &MatchedInputs,
    question: &Question<'_>,
    cancel: &AtomicBool,
    action: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let signature = unit.signature();
    let padded;
    let matrices = match inputs.matrices.k().is_multiple_of(signature.k) {
        true => &inputs.matrices,
        false => match inputs.matrices.clone().padded(signature) {
            Ok(matrices) => {
                padded = matrices;
                &padded
            }
            Err(_) => return Ok(None),
        },
    };
    let product = Product::new(unit, matrices, Modifiers::default())?;
    let watch = Watch {
        progress: &|_| (),
        cancel,
    };
    let row = Row {
        product: &product,
        inputs,
        factors: question.factors,
        names,
        watch,
    };
    action(&row).map(Some)
}
