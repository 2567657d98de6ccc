//! Tries one row of the catalogue under every usual schedule, and counts how much of D each gives.
//!
//! A schedule that gives none of four elements of D is out. Sixteen elements rank the others. Those that give all of
//! these compute more and more of D, and in the end every element.

use super::matched_inputs::MatchedInputs;
use super::schedules::{self, Shape};
use super::{Candidate, Factors};
use crate::array::Words;
use crate::dpa::Unit;
use crate::error::Result;
use crate::format::Format;
use crate::gemm::{Product, Region, Schedule, Watch};

/// Elements of the first rectangle. Schedules that give one of four elements compute it.
const PLACE: usize = 16;
/// The number of rectangles that the better schedules compute.
const PLACES: usize = 12;
/// The number of whole rows of D for schedules that give all of the rectangles.
const ROWS: usize = 16;
/// The most candidates that compute every element.
const WHOLE: usize = 24;
/// The number of candidates that are kept for each row, beside those that fit.
const KEPT: usize = 2;

/// A row with the product in question.
pub(super) struct Row<'a> {
    pub(super) product: &'a Product<'a>,
    pub(super) inputs: &'a MatchedInputs,
    pub(super) factors: Factors,
    pub(super) names: &'a [String],
    pub(super) watch: Watch<'a>,
}

/// A schedule that is being tried.
struct Tried<'a> {
    schedule: Schedule,
    d: &'a (Format, Words),
    candidate: Candidate,
}

impl Row<'_> {
    /// Tries every schedule. Returns how many there were, and the best.
    pub(super) fn run(&self) -> Result<(usize, Vec<Candidate>)> {
        let matrices = self.product.matrices();
        let (m, n) = (matrices.m(), matrices.n());
        let steps = self.product.steps();
        let scaled = self.inputs.scaled(m, n, steps);
        if scaled.is_none() && self.inputs.scales.is_some() {
            return Ok((0, Vec::new()));
        }
        let shape = Shape {
            m,
            n,
            steps,
            with_c: matrices.c().is_some(),
            factors: self.factors,
            scaled,
        };
        let unit = self.product.unit();
        let own = unit.signature().d.container();
        let mut tried: Vec<Tried<'_>> = Vec::new();
        for d in &self.inputs.d {
            let output = (d.0 != own).then_some(d.0);
            for schedule in schedules::usual(unit.signature(), &shape, output) {
                if schedule.format(unit).container() == d.0 {
                    let candidate = self.candidate(&schedule, tried.len());
                    tried.push(Tried {
                        schedule,
                        d,
                        candidate,
                    });
                }
            }
        }
        let count = tried.len();
        let (few, more) = (rectangles(m, n, 1), rectangles(m, n, PLACES));
        let first = corners(m, n);
        for one in &mut tried {
            self.compare(one, &first)?;
        }
        tried.sort_by_key(|one| (one.candidate.agreeing == 0, one.candidate.rank));
        let some = tried
            .iter()
            .filter(|one| one.candidate.agreeing > 0)
            .count();
        tried.truncate(some.max(KEPT));
        for one in &mut tried {
            self.compare(one, &few)?;
        }
        // The schedules of a row that may still be it, the likeliest and simplest first.
        let best = |tried: &mut Vec<Tried<'_>>| {
            tried.sort_by(|x, y| {
                let share = y.candidate.share().total_cmp(&x.candidate.share());
                share.then(x.candidate.rank.cmp(&y.candidate.rank))
            });
            let fitting = tried.iter().filter(|one| one.candidate.fits()).count();
            tried.truncate(fitting.max(KEPT));
            fitting
        };
        best(&mut tried);
        for one in &mut tried {
            self.compare(one, &more)?;
        }
        let fitting = best(&mut tried);
        let lines = lines(m, n);
        for one in tried.iter_mut().take(fitting) {
            self.compare(one, &lines)?;
        }
        let fitting = best(&mut tried);
        let whole = [self.product.whole()];
        for one in tried.iter_mut().take(fitting.min(WHOLE)) {
            self.compare(one, &whole)?;
            one.candidate.full = true;
        }
        let fitting = best(&mut tried);
        let kept = tried.into_iter().take(fitting.max(KEPT));
        Ok((count, kept.map(|one| one.candidate).collect()))
    }

    fn candidate(&self, schedule: &Schedule, rank: usize) -> Candidate {
        Candidate {
            rows: self.names.to_vec(),
            schedule: schedule.to_string(),
            arithmetic: self.product.unit().program().to_string(),
            k: self.product.matrices().k(),
            compared: 0,
            agreeing: 0,
            full: false,
            first: None,
            rank,
        }
    }

    /// Computes some of D anew.
    fn compare(&self, tried: &mut Tried<'_>, regions: &[Region]) -> Result<()> {
        let scales = self.inputs.scales.as_ref();
        let words = match regions {
            [one] if *one == self.product.whole() => {
                let all = tried.schedule.run(self.product, scales, &self.watch)?;
                all.to_vec()
            }
            _ => tried
                .schedule
                .sample(self.product, scales, regions, &self.watch)?,
        };
        let n = self.product.matrices().n();
        let unit = self.product.unit();
        compared(&mut tried.candidate, unit, tried.d, n, regions, words);
        Ok(())
    }

    /// Computes all of D for a candidate.
    pub(super) fn complete(&self, candidate: &mut Candidate) -> Result<()> {
        let schedule: Schedule = candidate.schedule.parse()?;
        let format = schedule.format(self.product.unit()).container();
        if let Some(d) = self.inputs.d.iter().find(|(own, _)| *own == format) {
            let mut tried = Tried {
                schedule,
                d,
                candidate: candidate.clone(),
            };
            self.compare(&mut tried, &[self.product.whole()])?;
            *candidate = tried.candidate;
            candidate.full = true;
        }
        Ok(())
    }
}

/// Counts the elements of some regions, computed anew, that are as given.
pub(super) fn compared(
    candidate: &mut Candidate,
    unit: &Unit,
    (format, d): &(Format, Words),
    n: usize,
    regions: &[Region],
    words: Vec<u64>,
) {
    (candidate.compared, candidate.agreeing, candidate.first) = (0, 0, None);
    let places = regions
        .iter()
        .flat_map(|region| (0..region.len()).map(|index| region.place(index)));
    for ((_, i, j), word) in places.zip(words) {
        let wanted = d.get(i * n + j);
        candidate.compared += 1;
        if wanted == word || agrees(unit, format, wanted, word) {
            candidate.agreeing += 1;
        } else if candidate.first.is_none() {
            let text = |word: u64| format!("{word:0width$x}", width = format.digits());
            candidate.first = Some((i, j, text(wanted), text(word)));
        }
    }
}

/// Whether a word is as good as the one given: a NaN where the payload is not known.
fn agrees(unit: &Unit, format: &Format, wanted: u64, word: u64) -> bool {
    if *format == unit.signature().d.container() {
        return unit.agrees(word, wanted);
    }
    let is_nan = |word: u64| {
        let code = format.from_register(word);
        format.decode(code).class == crate::format::Class::Nan
    };
    is_nan(wanted) && is_nan(word)
}

/// Four elements of D, near its corners.
pub(super) fn corners(m: usize, n: usize) -> Vec<Region> {
    let mut places = vec![
        (0, n / 4),
        (m - 1, n - 1 - n / 4),
        (m - 1 - m / 4, 0),
        (m / 4, n - 1),
    ];
    places.sort_unstable();
    places.dedup();
    let element = |(i, j)| region(i..i + 1, j..j + 1);
    places.into_iter().map(element).collect()
}

/// Rectangles of [`PLACE`] elements spread over D, the same ones every time; all of D when it is
/// hardly larger.
fn rectangles(m: usize, n: usize, count: usize) -> Vec<Region> {
    let columns = n.min(PLACE);
    let rows = m.min(PLACE / columns);
    if m * n <= PLACE * count {
        return vec![region(0..m, 0..n)];
    }
    (0..count)
        .map(|index| {
            // From the first corner to the last, and back and forth across.
            let place = |length: usize, part: usize, by: usize| {
                (length - part) * (index * by % count) / count.saturating_sub(1).max(1)
            };
            let (i, j) = (place(m, rows, 1), place(n, columns, 5));
            region(i..i + rows, j..j + columns)
        })
        .collect()
}

/// Whole rows of D, spread over it.
fn lines(m: usize, n: usize) -> Vec<Region> {
    let count = m.min(ROWS);
    (0..count)
        .map(|index| {
            let i = (2 * index + 1) * m / (2 * count);
            region(i..i + 1, 0..n)
        })
        .collect()
}

fn region(rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Region {
    Region {
        batch: 0..1,
        rows,
        columns,
    }
}
