//! Searches for the candidates that give D: all of them compute a few elements, those that may still be it compute more.
//!
//! 1. Every unit computes two elements under all of its schedules at once.
//! 2. Candidates that give at least half of these compute some 20 to 100 elements, then several hundred.
//! 3. Candidates of stream-K that still fit compute elements of tiles that they cut in other ways than simpler candidates.
//! 4. `finalists.rs` computes whole matrices for those that fit.
//!
//! A candidate that does not fit is out of it; the nearest ones are kept to be shown.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::boundaries::Boundaries;
use super::excerpts::{Part, Places, even_out};
use super::matched_inputs::Formats;
use super::trial::{Asked, Named, Trial};
use super::{Candidate, Identification, finalists, is_repeated};
use crate::dpa::{Addends, Signature};
use crate::error::Result;
use crate::format::Format;

/// How many candidates of each unit are kept to be shown, beside those that may still be it.
const KEPT: usize = 2;
/// The most candidates that do not fit, but may be the nearest, after each step.
const NEAR: [usize; 3] = [64, 8, 8];
/// How often candidates of stream-K are told apart.
const ROUNDS: usize = 8;
/// The most rows and columns that are added for that each time.
const ADDED: usize = 16;

/// Finds the candidates that give D, and the nearest.
pub(super) fn search(
    units: &[Named],
    asked: &Asked<'_>,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Identification> {
    let mut found = Identification {
        shape: asked.shape,
        candidates: Vec::new(),
        tried: 0,
        left_out: 0,
        doubts: BTreeMap::new(),
    };
    let candidates = Candidates::new(units, asked)?;
    let Some(places) = &candidates.places else {
        for named in units {
            progress(&named.names[0]);
        }
        found.left_out = candidates
            .takers
            .iter()
            .map(|it| it.named.names.len())
            .sum();
        return Ok(found);
    };
    let mut part = asked.part(&places.0[0])?;
    // The first step: every candidate.
    let results: Vec<Kept<'_>> = candidates
        .takers
        .par_iter()
        .map(|taker| {
            let kept = taker.try_all(asked, &part);
            progress(&taker.named.names[0]);
            kept
        })
        .collect::<Result<_>>()?;
    let (mut open, mut shown) = (Vec::new(), Vec::new());
    for (taker, mut kept) in candidates.takers.iter().zip(results) {
        found.tried += kept.tried;
        if kept.is_left_out {
            found.left_out += taker.named.names.len();
        }
        open.append(&mut kept.open);
        shown.append(&mut kept.shown);
    }
    // The further steps: candidates that may still be it.
    for (step, place) in places.0.iter().enumerate().skip(1) {
        sort(&mut open);
        let (fitting, mut near): (Vec<_>, Vec<_>) = open.into_iter().partition(Trial::fits);
        let beyond = near.split_off(near.len().min(NEAR[step - 1]));
        shown.extend(beyond);
        part = asked.part(place)?;
        open = ask_all(asked, [fitting, near].concat(), &part)?;
    }
    open = told_apart(asked, open, part)?;
    open = finalists::compute(asked, open, &mut shown)?;
    open.append(&mut shown);
    sort(&mut open);
    keep_few(&mut open);
    finalists::complete_nearest(asked, &mut open)?;
    let all = open.iter().map(|trial| trial.candidate(asked));
    let all: Vec<Candidate> = all.collect();
    found.candidates = all.clone();
    found
        .candidates
        .retain(|candidate| !is_repeated(candidate, &all));
    Ok(found)
}

/// The best first: those that fit, those computed in full, the simpler schedule. Of the others those that were asked more,
/// since few elements say little, then the larger share.
pub(super) fn sort(trials: &mut [Trial<'_>]) {
    trials.sort_by(|x, y| {
        let fits = y.fits().cmp(&x.fits());
        let order = match x.fits() && y.fits() {
            true => y.full.cmp(&x.full),
            false => (y.compared.cmp(&x.compared)).then(y.share().total_cmp(&x.share())),
        };
        fits.then(order)
            .then(x.rank.cmp(&y.rank))
            .then(x.named.names[0].cmp(&y.named.names[0]))
    });
}

/// Keeps those that fit and the best others of every unit.
fn keep_few(trials: &mut Vec<Trial<'_>>) {
    let mut counts = HashMap::new();
    trials.retain(|trial| {
        let count: &mut usize = counts.entry(std::ptr::from_ref(trial.named)).or_default();
        *count += 1;
        trial.fits() || *count <= KEPT
    });
}

/// Asks candidates of several units, unit by unit.
pub(super) fn ask_all<'n>(
    asked: &Asked<'_>,
    mut trials: Vec<Trial<'n>>,
    part: &Part,
) -> Result<Vec<Trial<'n>>> {
    trials.sort_by(|x, y| {
        let unit = x.named.names[0].cmp(&y.named.names[0]);
        unit.then(x.rank.cmp(&y.rank))
    });
    let is_one = |x: &Trial<'_>, y: &Trial<'_>| std::ptr::eq(x.named, y.named);
    let groups: Vec<&[Trial<'n>]> = trials.chunk_by(is_one).collect();
    let found: Vec<Vec<Trial<'n>>> = groups
        .par_iter()
        .map(|group| asked.ask(group.to_vec(), part))
        .collect::<Result<_>>()?;
    Ok(found.concat())
}

/// Asks candidates of stream-K for elements of tiles that simpler candidates of the same unit cut in other ways.
fn told_apart<'n>(
    asked: &Asked<'_>,
    mut trials: Vec<Trial<'n>>,
    mut part: Part,
) -> Result<Vec<Trial<'n>>> {
    let [m, n, _] = asked.shape;
    for _ in 0..ROUNDS {
        let mut added: Vec<(usize, usize)> = Vec::new();
        let mut fitting: Vec<&Trial<'_>> = trials.iter().filter(|trial| trial.fits()).collect();
        fitting.sort_by_key(|trial| (std::ptr::from_ref(trial.named), trial.rank));
        for unit in fitting.chunk_by(|x, y| std::ptr::eq(x.named, y.named)) {
            let simplest = unit[0];
            for other in unit.iter().filter(|it| !it.is_emulated()).skip(1) {
                let steps = (other.products() / other.signature().k as u128) as usize;
                let schedules = (&other.schedule, &simplest.schedule);
                if !schedules.0.is_by_tiles() && !schedules.1.is_by_tiles() {
                    continue;
                }
                let parted = schedules.0.parted_from(schedules.1, [m, n], steps)?;
                let asked = |place: &(usize, usize)| {
                    part.excerpt.rows().binary_search(&place.0).is_ok()
                        && part.excerpt.columns().binary_search(&place.1).is_ok()
                };
                // A tile in the middle: cuts are the same at the beginning and the end.
                let own = parted.get(parted.len() / 2).filter(|place| !asked(place));
                added.extend(own.filter(|place| !added.contains(place)));
                if added.len() == ADDED {
                    break;
                }
            }
        }
        if added.is_empty() {
            break;
        }
        added.truncate(ADDED);
        part = asked.with_places(&part, &added)?;
        let before = trials.iter().filter(|trial| trial.fits()).count();
        trials = ask_all(asked, trials, &part)?;
        if trials.iter().filter(|trial| trial.fits()).count() == before {
            break;
        }
    }
    Ok(trials)
}

impl Asked<'_> {
    /// The rows and columns of these numbers.
    pub(super) fn part(&self, (rows, columns): &(Vec<usize>, Vec<usize>)) -> Result<Part> {
        Part::new(self.question, self.shape, rows.clone(), columns.clone())
    }

    /// The part with these rows and columns, in any order.
    pub(super) fn of_lines(&self, mut rows: Vec<usize>, mut columns: Vec<usize>) -> Result<Part> {
        even_out(&mut rows, self.shape[0]);
        even_out(&mut columns, self.shape[1]);
        self.part(&(rows, columns))
    }

    /// A part with some more elements.
    pub(super) fn with_places(&self, part: &Part, places: &[(usize, usize)]) -> Result<Part> {
        let (rows, columns): (Vec<usize>, Vec<usize>) = places.iter().copied().unzip();
        let rows = [part.excerpt.rows(), &rows].concat();
        let columns = [part.excerpt.columns(), &columns].concat();
        self.of_lines(rows, columns)
    }
}

/// A unit with the formats that D may have under it.
struct Taker<'a> {
    named: &'a Named,
    /// `None` where the unit's formats do not hold the matrices.
    formats: Option<Vec<Format>>,
    emulated: Vec<Trial<'a>>,
    /// Whether the unit sums products: a chain of instructions that subtract c, or that add a and b, is no product of
    /// matrices.
    is_chain: bool,
}

struct Candidates<'a> {
    takers: Vec<Taker<'a>>,
    /// `None` where no unit takes the matrices.
    places: Option<Places>,
}

impl<'a> Candidates<'a> {
    fn new(units: &'a [Named], asked: &Asked<'_>) -> Result<Self> {
        let mut formats = Formats::new(asked.question);
        let mut takers = Vec::new();
        let mut of_d: Option<(Signature, Vec<Format>)> = None;
        for named in units {
            let is_chain = named.unit.check_chain(asked.shape[2]).is_ok()
                && named.unit.program().addends() == Addends::Product;
            let mut taker = Taker {
                named,
                formats: None,
                emulated: Vec::new(),
                is_chain,
            };
            if is_chain {
                taker.formats = formats.of_d(named.unit.signature());
                taker.emulated = asked.emulated(named, |signature| formats.of_d(signature))?;
            }
            let emulated = taker.emulated.first();
            let emulated = emulated.map(|trial| (trial.signature(), vec![trial.format()]));
            let plain = taker.formats.clone();
            let plain = plain.map(|formats| (*named.unit.signature(), formats));
            of_d = of_d.or(plain).or(emulated);
            takers.push(taker);
        }
        let places = of_d.map(|(signature, of_d)| {
            let near = Boundaries::new(asked.question, asked.shape, &signature, &of_d);
            Places::new(asked.question.d, asked.shape, &of_d, near.as_ref())
        });
        Ok(Self { takers, places })
    }
}

/// What is left of a unit's candidates.
struct Kept<'a> {
    tried: usize,
    is_left_out: bool,
    /// Those that may still be it.
    open: Vec<Trial<'a>>,
    /// Those that may be shown.
    shown: Vec<Trial<'a>>,
}

impl<'a> Taker<'a> {
    fn try_all(&self, asked: &Asked<'_>, part: &Part) -> Result<Kept<'a>> {
        let plain = self.formats.as_ref();
        let plain = plain.and_then(|formats| asked.plain(self.named, formats, part));
        let is_left_out = self.is_chain && plain.is_none();
        let trials = [plain.unwrap_or_default(), self.emulated.clone()].concat();
        let mut trials = asked.ask(trials, part)?;
        let tried = trials.len();
        sort(&mut trials);
        let (open, mut shown): (Vec<_>, Vec<_>) = trials.into_iter().partition(Trial::is_near);
        // An emulation that gives nothing of D is not worth a line.
        shown.retain(|trial| !trial.is_emulated() || trial.agreeing > 0);
        shown.truncate(KEPT.saturating_sub(open.len()));
        Ok(Kept {
            tried,
            is_left_out,
            open,
            shown,
        })
    }
}
