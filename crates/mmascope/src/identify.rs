//! Identification: which rows of the catalogue, and which schedule around them, give these matrices.
//!
//! The candidates are the rows whose formats hold the operands exactly and whose K divides the
//! matrices', each with the usual schedules of kernels (`identify/schedules.rs` lists them). Sixteen
//! elements of D rank them; those that give all of these compute more and more of it, and in the end
//! every element.

mod given;
mod schedules;

use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value, json};

use crate::array::{Array, Words};
use crate::dpa::{Modifiers, Signature, Unit};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::gemm::{Arrays, Product, Region, Schedule, Watch};
use crate::isa::Catalogue;
use given::{Given, given, same_formats};
use schedules::Shape;

/// Elements of D that every candidate computes.
const FIRST: usize = 16;
/// Rectangles of so many elements that the better ones compute.
const PLACES: usize = 12;
/// Rows of D that those compute that give all of the rectangles.
const ROWS: usize = 16;
/// Candidates that compute every element.
const WHOLE: usize = 24;
/// Candidates that are kept for each row, beside those that fit.
const KEPT: usize = 2;

/// A candidate: different names of one arithmetic, with a schedule.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Rows, `ARCH:INST`.
    pub rows: Vec<String>,
    /// What the kernel does around the unit, in the notation of `docs/schedules.md`.
    pub schedule: String,
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

/// What was found.
#[derive(Clone, Debug)]
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
    /// A, B, C and scales.
    pub operands: Arrays<'a>,
    /// D, M × N.
    pub d: &'a Array,
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
    let (m, k) = question.operands.a.rows_and_columns()?;
    let (rows, n) = question.operands.b.rows_and_columns()?;
    let (d_rows, d_columns) = question.d.rows_and_columns()?;
    if rows != k || (d_rows, d_columns) != (m, n) {
        return Err(Error::Argument(format!(
            "A is {m} × {k}, B {rows} × {n}, D {d_rows} × {d_columns}: expected M × K, K × N and M × N"
        )));
    }
    let mut units: Vec<(Unit, Vec<String>)> = Vec::new();
    for row in catalogue.instructions() {
        let Ok(unit) = row.unit() else { continue };
        let name = format!("{}:{}", row.architecture, row.name);
        match units.iter_mut().find(|(known, _)| known == unit) {
            Some((_, names)) => names.push(name),
            None => units.push((unit.clone(), vec![name])),
        }
    }
    units.sort_by_key(|(unit, _)| unit.signature().to_string());
    let mut found = Identification {
        shape: [m, n, k],
        candidates: Vec::new(),
        tried: 0,
        left_out: 0,
    };
    let mut known: Option<(Signature, Option<Given>)> = None;
    for (unit, names) in units {
        let signature = unit.signature();
        if known
            .as_ref()
            .is_none_or(|(same, _)| !same_formats(same, signature))
        {
            known = Some((*signature, given(question, signature)));
        }
        let chains = k == signature.k || signature.c.container() == signature.d.container();
        match &known {
            Some((_, Some(given))) if chains && k.is_multiple_of(signature.k) => {
                progress(&names[0]);
                let product = Product::new(&unit, &given.matrices, Modifiers::default())?;
                let row = Row {
                    product: &product,
                    given,
                    names: &names,
                    watch: Watch {
                        progress: &|_| (),
                        cancel,
                    },
                };
                found.tried += row.run(&mut found.candidates)?;
            }
            _ => found.left_out += names.len(),
        }
    }
    found.candidates.sort_by(|x, y| {
        let fits = y.fits().cmp(&x.fits());
        fits.then(y.share().total_cmp(&x.share()))
            .then(x.rank.cmp(&y.rank))
            .then(x.rows[0].cmp(&y.rows[0]))
    });
    // How near the nearest is, is said of all of D.
    if let Some(nearest) = found.candidates.first_mut().filter(|best| !best.full) {
        let (arch, inst) = nearest.rows[0].split_once(':').unwrap_or_default();
        let unit = catalogue.find(arch, inst)?.unit()?;
        if let Some(given) = given(question, unit.signature()) {
            let product = Product::new(unit, &given.matrices, Modifiers::default())?;
            let row = Row {
                product: &product,
                given: &given,
                names: &nearest.rows.clone(),
                watch: Watch {
                    progress: &|_| (),
                    cancel,
                },
            };
            row.complete(nearest)?;
        }
    }
    Ok(found)
}

/// A row with the product under question.
struct Row<'a> {
    product: &'a Product<'a>,
    given: &'a Given,
    names: &'a [String],
    watch: Watch<'a>,
}

/// A schedule on its way.
struct Tried<'a> {
    schedule: Schedule,
    d: &'a (Format, Words),
    candidate: Candidate,
}

impl Row<'_> {
    /// Tries every schedule; gives how many there were.
    fn run(&self, found: &mut Vec<Candidate>) -> Result<usize> {
        let matrices = self.product.matrices();
        let (m, n) = (matrices.m(), matrices.n());
        let shape = Shape {
            m,
            n,
            steps: self.product.steps(),
            with_c: matrices.c().is_some(),
        };
        let unit = self.product.unit();
        let own = unit.signature().d.container();
        let mut tried: Vec<Tried<'_>> = Vec::new();
        for d in &self.given.d {
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
        found.extend(
            tried
                .into_iter()
                .take(fitting.max(KEPT))
                .map(|one| one.candidate),
        );
        Ok(count)
    }

    fn candidate(&self, schedule: &Schedule, rank: usize) -> Candidate {
        Candidate {
            rows: self.names.to_vec(),
            schedule: schedule.to_string(),
            arithmetic: self.product.unit().program().to_string(),
            compared: 0,
            agreeing: 0,
            full: false,
            first: None,
            rank,
        }
    }

    /// Computes some of D anew.
    fn compare(&self, tried: &mut Tried<'_>, regions: &[Region]) -> Result<()> {
        let words = match regions {
            [one] if *one == self.product.whole() => self.schedule_words(&tried.schedule)?,
            _ => tried.schedule.sample(self.product, regions, &self.watch)?,
        };
        let n = self.product.matrices().n();
        let unit = self.product.unit();
        let (format, d) = tried.d;
        let candidate = &mut tried.candidate;
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
        Ok(())
    }

    /// Computes all of D for a candidate.
    fn complete(&self, candidate: &mut Candidate) -> Result<()> {
        let schedule: Schedule = candidate.schedule.parse()?;
        let format = schedule.format(self.product.unit()).container();
        if let Some(d) = self.given.d.iter().find(|(own, _)| *own == format) {
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

    fn schedule_words(&self, schedule: &Schedule) -> Result<Vec<u64>> {
        Ok(schedule.run(self.product, None, &self.watch)?.to_vec())
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

/// Rectangles of [`FIRST`] elements spread over D, the same ones every time; all of D when it is
/// hardly larger.
fn rectangles(m: usize, n: usize, count: usize) -> Vec<Region> {
    let columns = n.min(FIRST);
    let rows = m.min(FIRST / columns);
    if m * n <= FIRST * count {
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
