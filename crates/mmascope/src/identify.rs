//! Identification: which rows of the catalogue, chained over K, give these matrices.
//!
//! The candidates are the rows whose formats hold the operands and results exactly and whose K
//! divides the matrices'. A sample of D decides first; what gives the whole sample is computed in full.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value, json};

use crate::array::{Array, Casting};
use crate::dpa::{Modifiers, Operands, Signature, Unit};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::gemm::{self, Arrays, Matrices, Watch};
use crate::isa::Catalogue;
use crate::reveal::Random;

/// Elements of D that every candidate computes.
const SAMPLE: usize = 96;

/// A candidate: different names of one arithmetic.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Rows, `ARCH:INST`.
    pub rows: Vec<String>,
    /// How K is gone through.
    pub schedule: &'static str,
    /// The arithmetic.
    pub arithmetic: String,
    /// Elements of D computed.
    pub compared: usize,
    /// Those that are as given.
    pub agreeing: usize,
    /// Whether every element was computed.
    pub full: bool,
    /// The first element that is not as given: row, column, given, computed.
    pub first: Option<(usize, usize, String, String)>,
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

/// What was found.
#[derive(Clone, Debug)]
pub struct Identification {
    /// M, N, K.
    pub shape: [usize; 3],
    /// Every candidate, the best first.
    pub candidates: Vec<Candidate>,
    /// Rows that could not be candidates, because formats or K do not fit.
    pub left_out: usize,
}

impl Identification {
    /// The candidates that give every element.
    pub fn identified(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(|candidate| candidate.fits())
    }

    /// As `identify --json` gives it.
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
    /// A, B, C and scales.
    pub operands: Arrays<'a>,
    /// D, M × N.
    pub d: &'a Array,
}

/// Finds the rows that give D.
///
/// # Errors
/// [`Error::Argument`] when the shapes do not fit each other; [`Error::Cancelled`].
pub fn identify(
    catalogue: &Catalogue,
    question: &Question<'_>,
    cancel: &AtomicBool,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Identification> {
    let (m, k) = question.operands.a.rows_and_columns()?;
    let (rows, n) = question.operands.b.rows_and_columns()?;
    let (d_rows, d_columns) = question.d.rows_and_columns()?;
    if rows != k || (d_rows, d_columns) != (m, n) {
        return Err(Error::Argument(format!(
            "A is {m} × {k}, B {rows} × {n}, D {d_rows} × {d_columns}: expected M × K, K × N and M × N"
        )));
    }
    let sample = sample(m, n);
    let mut units: Vec<(Unit, Vec<String>)> = Vec::new();
    for row in catalogue.instructions() {
        let Ok(unit) = row.unit() else { continue };
        let name = format!("{}:{}", row.architecture, row.name);
        match units.iter_mut().find(|(known, _)| known == unit) {
            Some((_, names)) => names.push(name),
            None => units.push((unit.clone(), vec![name])),
        }
    }
    let mut candidates = Vec::new();
    let mut left_out = 0;
    let mut known: Option<(Signature, Option<Given>)> = None;
    units.sort_by_key(|(unit, _)| unit.signature().to_string());
    for (unit, names) in units {
        let signature = unit.signature();
        if known
            .as_ref()
            .is_none_or(|(same, _)| !same_formats(same, signature))
        {
            known = Some((*signature, given(question, signature)));
        }
        let Some((_, Some(given))) = &known else {
            left_out += names.len();
            continue;
        };
        if !k.is_multiple_of(signature.k)
            || k > signature.k && signature.c.container() != signature.d.container()
        {
            left_out += names.len();
            continue;
        }
        progress(&names[0]);
        candidates.push(sampled(&unit, names, given, &sample, cancel)?);
    }
    for candidate in &mut candidates {
        if candidate.fits() {
            let row = &candidate.rows[0];
            progress(row);
            let (arch, inst) = row.split_once(':').unwrap_or((row, ""));
            let unit = catalogue.find(arch, inst)?.unit()?;
            if let Some(given) = given(question, unit.signature()) {
                in_full(candidate, unit, &given, cancel)?;
            }
        }
    }
    candidates.sort_by(|x, y| {
        let fits = y.fits().cmp(&x.fits());
        fits.then(y.share().total_cmp(&x.share()))
            .then(x.rows[0].cmp(&y.rows[0]))
    });
    Ok(Identification {
        shape: [m, n, k],
        candidates,
        left_out,
    })
}

/// The matrices as register words of one signature.
struct Given {
    matrices: Matrices,
    d: Vec<u64>,
}

fn same_formats(x: &Signature, y: &Signature) -> bool {
    (x.a, x.b, x.c, x.d, x.scale) == (y.a, y.b, y.c, y.d, y.scale)
}

/// Whether an array's numbers are numbers of the format: rounding them up and down is the same.
fn is_exact(array: &Array, format: &Format) -> bool {
    let words = |rounding: &str| {
        let casting = Casting::default().with_rounding(rounding).ok()?;
        array.words(format, &casting).ok()
    };
    match (words("rz"), words("ra")) {
        (Some(down), Some(up)) => (0..down.len()).all(|index| down.get(index) == up.get(index)),
        _ => false,
    }
}

/// The matrices in a row's formats; `None` when one of them is not exact in its format.
fn given(question: &Question<'_>, signature: &Signature) -> Option<Given> {
    let Question { operands, d } = question;
    let result = signature.d.container();
    let exact = is_exact(operands.a, &signature.a)
        && is_exact(operands.b, &signature.b)
        && operands.c.is_none_or(|c| is_exact(c, &signature.c))
        && is_exact(d, &result)
        && operands.scale_a.is_some() == signature.scale.is_some();
    if !exact {
        return None;
    }
    let casting = Casting::default();
    let matrices = Matrices::from_arrays(operands, signature, &casting).ok()?;
    let words = d.words(&result, &casting).ok()?;
    Some(Given {
        matrices,
        d: (0..words.len()).map(|index| words.get(index)).collect(),
    })
}

/// Elements spread over D, the same ones every time.
fn sample(m: usize, n: usize) -> Vec<(usize, usize)> {
    if m * n <= SAMPLE {
        return (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).collect();
    }
    let mut random = Random::new(1);
    let mut chosen = BTreeSet::new();
    while chosen.len() < SAMPLE {
        chosen.insert((random.below(m), random.below(n)));
    }
    chosen.into_iter().collect()
}

fn sampled(
    unit: &Unit,
    rows: Vec<String>,
    given: &Given,
    sample: &[(usize, usize)],
    cancel: &AtomicBool,
) -> Result<Candidate> {
    let n = given.matrices.n();
    let mut candidate = Candidate {
        rows,
        schedule: "chain",
        arithmetic: unit.program().to_string(),
        compared: 0,
        agreeing: 0,
        full: false,
        first: None,
    };
    for &(i, j) in sample {
        if cancel.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        let word = element(unit, &given.matrices, i, j)?;
        note(&mut candidate, unit, (i, j), given.d[i * n + j], word);
    }
    Ok(candidate)
}

fn note(candidate: &mut Candidate, unit: &Unit, (i, j): (usize, usize), wanted: u64, word: u64) {
    candidate.compared += 1;
    if unit.agrees(word, wanted) {
        candidate.agreeing += 1;
    } else if candidate.first.is_none() {
        let text = |word: u64| format!("{word:0width$x}", width = unit.signature().d.digits());
        candidate.first = Some((i, j, text(wanted), text(word)));
    }
}

/// One element: the chain over K.
fn element(unit: &Unit, matrices: &Matrices, i: usize, j: usize) -> Result<u64> {
    let signature = unit.signature();
    let (step, blocks) = (signature.k, signature.scales());
    let mut sum = matrices.c().map_or(0, |c| c.at(0, i, j));
    for first in (0..matrices.k()).step_by(step) {
        let a: Vec<u64> = (first..first + step)
            .map(|k| matrices.a().at(0, i, k))
            .collect();
        let b: Vec<u64> = (first..first + step)
            .map(|k| matrices.b().at(0, k, j))
            .collect();
        let from = first / step * blocks;
        let scales = |matrix: Option<&gemm::Matrix>, is_a: bool| -> Vec<u64> {
            let at = |block: usize| match matrix {
                Some(matrix) if is_a => matrix.at(0, i, block),
                Some(matrix) => matrix.at(0, block, j),
                None => 0,
            };
            (from..from + blocks).map(at).collect()
        };
        let (scale_a, scale_b) = (
            scales(matrices.scale_a(), true),
            scales(matrices.scale_b(), false),
        );
        let operands = Operands {
            a: &a,
            b: &b,
            c: sum,
            scale_a: &scale_a,
            scale_b: &scale_b,
        };
        sum = unit.dot(&operands, &Modifiers::default())?;
    }
    Ok(sum)
}

/// Every element of D.
fn in_full(
    candidate: &mut Candidate,
    unit: &Unit,
    given: &Given,
    cancel: &AtomicBool,
) -> Result<()> {
    let watch = Watch {
        progress: &|_| (),
        cancel,
    };
    let words = gemm::chain(unit, &given.matrices, &Modifiers::default(), &watch)?;
    let n = given.matrices.n();
    (candidate.compared, candidate.agreeing, candidate.full) = (0, 0, true);
    candidate.first = None;
    for (index, &wanted) in given.d.iter().enumerate() {
        note(
            candidate,
            unit,
            (index / n, index % n),
            wanted,
            words.get(index),
        );
    }
    Ok(())
}
