//! Compares the results of whole products, and walks along K to where two units part.

use super::{Contender, Verdict};
use crate::array::Words;
use crate::dpa::{Modifiers, OperandWords};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::gemm::{Matrices, Matrix};

/// Rows and columns of the map of differences, at most.
const MAP: (usize, usize) = (16, 48);

/// An output: its product in the batch, its row and its column.
pub type Place = [usize; 3];

/// Where and how two matrices of results differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outputs {
    /// The number of outputs.
    pub compared: u64,
    /// How many differ.
    pub different: u64,
    /// How many of these differ by steps of the result format.
    pub by_steps: u64,
    /// How many differ in the sign of a zero only.
    pub zero_sign: u64,
    /// How many differ by an infinity or a NaN.
    pub special: u64,
    /// The first that differs, batch by batch and row by row.
    pub first: Option<(Place, Verdict)>,
    /// The one that differs most: a NaN more than an infinity, and that more than any number of steps.
    pub worst: Option<(Place, Verdict)>,
    /// Differences by place, all products of a batch together: outputs that differ, and outputs.
    pub map: Vec<Vec<(u64, u64)>>,
}

/// Compares results word by word; `shape` is the batch, M and N of both. With `any_nan` two NaNs are equal: where a unit's
/// payload is not known.
///
/// # Errors
/// [`Error::Argument`] when a matrix has another number of words than its shape.
pub fn outputs(
    left: (&Words, &Format),
    right: (&Words, &Format),
    shape: [usize; 3],
    any_nan: bool,
) -> Result<Outputs> {
    let [batch, m, n] = shape;
    let count = batch * m * n;
    for words in [left.0, right.0] {
        if words.len() != count {
            return Err(Error::Argument(format!(
                "results: {} words for {batch} × {m} × {n} outputs",
                words.len()
            )));
        }
    }
    let (rows, columns) = (m.min(MAP.0), n.min(MAP.1));
    let mut found = Outputs {
        compared: count as u64,
        different: 0,
        by_steps: 0,
        zero_sign: 0,
        special: 0,
        first: None,
        worst: None,
        map: vec![vec![(0, 0); columns]; rows],
    };
    for at in 0..count {
        let place = [at / (m * n), at / n % m, at % n];
        let cell = &mut found.map[place[1] * rows / m][place[2] * columns / n];
        cell.1 += 1;
        let verdict = Verdict::of_words((left.0.get(at), left.1), (right.0.get(at), right.1));
        if !verdict.differs() || any_nan && verdict == Verdict::NanPayload {
            continue;
        }
        cell.0 += 1;
        found.different += 1;
        match verdict {
            Verdict::Ulps(_) => found.by_steps += 1,
            Verdict::ZeroSign => found.zero_sign += 1,
            _ => found.special += 1,
        }
        found.first.get_or_insert((place, verdict));
        if found
            .worst
            .is_none_or(|(_, worst)| rank(verdict) > rank(worst))
        {
            found.worst = Some((place, verdict));
        }
    }
    Ok(found)
}

fn rank(verdict: Verdict) -> (u8, u64) {
    match verdict {
        Verdict::Equal => (0, 0),
        Verdict::ZeroSign => (1, 0),
        Verdict::Ulps(steps) => (2, steps),
        Verdict::Infinite => (3, 0),
        Verdict::NanPayload => (4, 0),
        Verdict::Nan => (5, 0),
    }
}

/// One step of an output's chain: an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffStep {
    /// The first k.
    pub first: usize,
    /// Its operands; c is the result of the step before.
    pub words: OperandWords,
    /// Its result.
    pub d: u64,
}

impl DiffStep {
    /// The k behind its last one.
    pub(super) fn end(&self, subject: &Contender<'_>) -> usize {
        self.first + subject.unit().signature().k
    }
}

/// The chain of an output: K in ascending order, each result being the next step's c. The first c is that of the matrices, or +0
/// where C comes in behind the chain (`is_with_c` is false) or there is none.
///
/// # Errors
/// [`Error::Argument`] for a place outside D, and for a K that the instruction does not divide.
pub fn chain(
    subject: &Contender<'_>,
    matrices: &Matrices,
    place: Place,
    is_with_c: bool,
) -> Result<Vec<DiffStep>> {
    let [batch, row, column] = place;
    let limits = [matrices.batch(), matrices.m(), matrices.n()];
    if place.iter().zip(limits).any(|(&at, limit)| at >= limit) {
        return Err(Error::Argument(match limits {
            [1, m, n] if batch == 0 => {
                format!("output ({row}, {column}): D has {m} × {n} outputs, counted from 0")
            }
            [batches, m, n] => format!(
                "output ({batch}, {row}, {column}): D has {batches} × {m} × {n} outputs, counted from 0"
            ),
        }));
    }
    let unit = subject.unit();
    let signature = unit.signature();
    let (k, step) = (matrices.k(), signature.k);
    if !k.is_multiple_of(step) {
        return Err(Error::Argument(format!(
            "K = {k}: {} takes multiples of {step}",
            subject.name()
        )));
    }
    if k > step && signature.c != signature.d {
        return Err(Error::Argument(format!(
            "{}: d in {} is no c in {} for a next step",
            subject.name(),
            signature.d,
            signature.c
        )));
    }
    // One matrix serves a whole batch.
    let of = |matrix: &Matrix, row, column| matrix.at(batch.min(matrix.batch() - 1), row, column);
    let zero = signature.c.to_register(signature.c.zero(false));
    let given = matrices.c().filter(|_| is_with_c);
    let mut c = given.map_or(zero, |c| of(c, row, column));
    let mut steps = Vec::with_capacity(k / step);
    for first in (0..k).step_by(step) {
        let scales = |matrix: Option<&Matrix>, is_a: bool| -> Vec<u64> {
            let (Some(matrix), Some(scale)) = (matrix, signature.scale) else {
                return Vec::new();
            };
            let blocks = first / scale.block..(first + step).div_ceil(scale.block);
            blocks
                .map(|block| match is_a {
                    true => of(matrix, row, block),
                    false => of(matrix, block, column),
                })
                .collect()
        };
        let words = OperandWords {
            a: (first..first + step)
                .map(|k| of(matrices.a(), row, k))
                .collect(),
            b: (first..first + step)
                .map(|k| of(matrices.b(), k, column))
                .collect(),
            c,
            scale_a: scales(matrices.scale_a(), true),
            scale_b: scales(matrices.scale_b(), false),
        };
        let d = unit.dot(&words.operands(), &Modifiers::default())?;
        steps.push(DiffStep { first, words, d });
        c = d;
    }
    Ok(steps)
}

/// A unit and its chain of an output.
pub(super) type Own<'a> = (&'a Contender<'a>, &'a [DiffStep]);

/// The steps of two chains from which on their sums differ, as the numbers of their steps: up to the end, or for an
/// output that is equal in the end, the first of them. Of steps of unequal length sums are compared where both end one. Their
/// last steps end together, however far each is padded.
#[must_use]
pub fn parting(left: Own<'_>, right: Own<'_>) -> Option<(usize, usize)> {
    let (begins, is_equal) = partings(left, right);
    match is_equal {
        true => begins.first().copied(),
        false => begins.last().copied(),
    }
}

/// The first steps after which the sums of two chains differ. They may be equal again later: see [`parting`].
#[must_use]
pub fn first_parting(left: Own<'_>, right: Own<'_>) -> Option<(usize, usize)> {
    partings(left, right).0.first().copied()
}

/// The first and the last k that two units sum since both began a step together, up to two steps that end together: what makes
/// the sums after these two differ lies among them.
#[must_use]
pub fn parted_k(left: Own<'_>, right: Own<'_>, (at, other): (usize, usize)) -> (usize, usize) {
    let (own, others) = (&left.1[..=at], &right.1[..=other]);
    let begins = |step: &&DiffStep| others.iter().any(|it| it.first == step.first);
    let first = own.iter().rev().find(begins);
    let first = first.map_or(0, |step| step.first);
    (first, left.1[at].end(left.0) - 1)
}

/// Where runs of steps begin after which the sums differ, and whether the last sums are equal.
fn partings(left: Own<'_>, right: Own<'_>) -> (Vec<(usize, usize)>, bool) {
    let mut begins = Vec::new();
    let mut is_equal = true;
    for (at, step) in left.1.iter().enumerate() {
        let same_end = right
            .1
            .iter()
            .position(|it| it.end(right.0) == step.end(left.0));
        // Padded to another multiple each, chains still end together.
        let is_last = at + 1 == left.1.len();
        let other = same_end.or_else(|| right.1.len().checked_sub(1).filter(|_| is_last));
        let Some(other) = other else {
            continue;
        };
        let verdict = Verdict::of((left.0, step.d), (right.0, right.1[other].d));
        if verdict.differs() && is_equal {
            begins.push((at, other));
        }
        is_equal = !verdict.differs();
    }
    (begins, is_equal)
}
