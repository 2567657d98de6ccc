//! Identifies which row of the catalogue, under which schedule, produced given matrices.
//!
//! The candidates are the rows whose formats hold the operands exactly, each with the usual schedules of
//! kernels (`identify/schedules.rs` lists them); where a row's K does not divide the matrices', they are
//! filled up with +0, as kernels do. `identify/search.rs` says how much of D a candidate computes.

mod answers;
mod boundaries;
mod emulations;
mod excerpts;
mod exhaustive;
mod finalists;
mod headline;
mod matched_inputs;
mod schedules;
mod search;
mod sums;
mod trial;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value, json};

use crate::array::Array;
use crate::error::{Error, Result};
use crate::gemm::Arrays;
use crate::isa::{Catalogue, Strength};
use trial::{Asked, Named};

pub use exhaustive::exhaustive;

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
    /// What it computes.
    sum: sums::SameSum,
}

impl Candidate {
    /// Whether everything computed is as given.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.agreeing == self.compared
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
    /// Rows whose arithmetic as a whole is open or assumed.
    pub doubts: BTreeMap<String, Strength>,
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
            "headline": self.headline(),
            "answers": self.answers(),
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
fn units(catalogue: &Catalogue) -> Vec<Named> {
    let mut units: Vec<Named> = Vec::new();
    let mut places = HashMap::new();
    for row in catalogue.instructions() {
        let Ok(unit) = row.unit() else { continue };
        let place = *places.entry(unit).or_insert(units.len());
        if place == units.len() {
            units.push(Named {
                unit: unit.clone(),
                names: Vec::new(),
            });
        }
        units[place]
            .names
            .push(format!("{}:{}", row.architecture, row.name));
    }
    units
}

/// How often [`identify`] tells its progress: once for each unit.
#[must_use]
pub fn trials(catalogue: &Catalogue) -> usize {
    units(catalogue).len()
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
    let asked = Asked {
        question,
        shape: shape(question)?,
        cancel,
    };
    let mut found = search::search(&units(catalogue), &asked, progress)?;
    let rows = catalogue.instructions().filter_map(|row| {
        let name = format!("{}:{}", row.architecture, row.name);
        Some((name, row.evidence.doubt()?))
    });
    found.doubts = rows.collect();
    Ok(found)
}

/// Whether an emulation of one part is the unit alone, which gives the same bits: the part is the operand itself.
fn is_repeated(candidate: &Candidate, others: &[Candidate]) -> bool {
    let is_one_part =
        candidate.schedule.starts_with("emulate=") && candidate.schedule.contains(" parts=1");
    let is_plain = |other: &Candidate| {
        other.fits() && other.schedule == "chain" && other.rows == candidate.rows
    };
    is_one_part && candidate.fits() && others.iter().any(is_plain)
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
