//! Validates a device against a model over all families of cases, replayable and resumable.
//!
//! A run is a position in every family's sequence of indices; a case is made again from family, seed
//! and index alone, so that a failure is three numbers and an interrupted run goes on where it was.
//! Families whose operands are independent are also compared tile by tile: rows of some cases, columns
//! of the same ones, every pair a dot product (`Generator::crossed`), so that the engine of matrix
//! products can compute what is expected. The reference decides every difference.
//!
//! ```
//! use mmascope_lab::{dut::ModelDut, validate::{ValidationPlan, State, validate}};
//! use mmascope_model::isa::Catalogue;
//!
//! let catalogue = Catalogue::built_in();
//! let model = catalogue.find("hopper", "mma.m16n8k16.f32.f16.f16.f32")?.unit()?;
//! let other = catalogue.find("ampere", "mma.m16n8k16.f32.f16.f16.f32")?.unit()?;
//! let mut device = ModelDut::new("a black box", other.clone());
//! let mut state = State::new(&ValidationPlan::default(), model)?;
//! validate(&mut device, model, &mut state, 20_000, &mut |_| true)?;
//! assert!(state.mismatches() > 0);
//! assert!(!state.examples.is_empty());
//! # Ok::<(), mmascope_model::Error>(())
//! ```

mod tile;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::cases::{Family, Generator};
use crate::dpa::{Signature, Unit};
use crate::dut::{Batch, Dut};
use crate::error::{Error, Result};
use crate::infer::InferenceExample;
use crate::vector::Answer;
pub use tile::SIDE;
use tile::Tile;

/// Cases of a family that are asked together.
const CHUNK: u64 = 4096;
/// Cases that a thread makes and computes in one go.
const TURN: u64 = 256;
/// A count of cases that no run can reach.
const MOST: u64 = 1 << 56;
/// The number of mismatches that are kept of each family.
const KEPT: usize = 5;

/// The options of a validation.
#[derive(Clone, Debug)]
pub struct ValidationPlan {
    /// The families; those that cannot be made for a signature are left out and named.
    pub families: Vec<Family>,
    /// Seed of every family.
    pub seed: u64,
}

impl Default for ValidationPlan {
    fn default() -> Self {
        Self {
            families: Family::ALL.to_vec(),
            seed: 1,
        }
    }
}

/// The progress of a validation: the content of a state file, which is also kept as evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Whose answers were compared, as the caller names it.
    #[serde(default)]
    pub subject: String,
    /// Formats and K.
    pub signature: String,
    /// The model's arithmetic.
    pub arithmetic: String,
    /// Seed of every family.
    pub seed: u64,
    /// Every family with its counts.
    pub families: Vec<ValidationProgress>,
    /// Families that cannot be made for these formats, and why.
    pub left_out: Vec<(String, String)>,
    /// The first mismatches of every family.
    pub examples: Vec<Mismatch>,
}

/// Counts of one family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ValidationProgress {
    /// Its name.
    pub family: String,
    /// Cases compared: indices 0 to `done` − 1.
    pub done: u64,
    /// Tiles compared, each the cases `crossed(row, column)` of [`SIDE`] rows and columns: those of
    /// tile t are t·SIDE to t·SIDE + SIDE − 1.
    #[serde(default)]
    pub tiles: u64,
    /// Cases that there are, where they are finite.
    pub count: Option<u64>,
    /// Cases on which device and model differ.
    pub mismatches: u64,
}

/// A case on which device and model differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Mismatch {
    /// Its family.
    pub family: String,
    /// The seed.
    pub seed: u64,
    /// The index.
    pub index: u64,
    /// The index of the case that b is of, where it is another one (`Generator::crossed`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The device's answer, as vector lines write it.
    pub device: String,
    /// The model's.
    pub model: String,
}

impl ValidationProgress {
    /// Cases compared, singly and in tiles.
    #[must_use]
    pub fn trials(&self) -> u64 {
        let tiles = self.tiles.saturating_mul(SIDE * SIDE);
        self.done.saturating_add(tiles)
    }
}

impl State {
    /// The beginning of a validation against a model.
    ///
    /// # Errors
    /// [`Error::Argument`] when no family is left.
    pub fn new(plan: &ValidationPlan, model: &Unit) -> Result<Self> {
        let mut families = Vec::new();
        let mut left_out = Vec::new();
        for (place, &family) in plan.families.iter().enumerate() {
            if plan.families[..place].contains(&family) {
                return Err(Error::Argument(format!(
                    "families: '{}' is named twice",
                    family.name()
                )));
            }
            match Generator::for_unit(family, plan.seed, model) {
                Ok(generator) => families.push(ValidationProgress {
                    family: family.name().to_owned(),
                    done: 0,
                    tiles: 0,
                    count: generator.count(),
                    mismatches: 0,
                }),
                Err(error) => left_out.push((family.name().to_owned(), error.to_string())),
            }
        }
        if families.is_empty() {
            return Err(Error::Argument(format!(
                "families: none can be made for {}",
                model.signature()
            )));
        }
        Ok(Self {
            subject: String::new(),
            signature: model.signature().to_string(),
            arithmetic: model.program().to_string(),
            seed: plan.seed,
            families,
            left_out,
            examples: Vec::new(),
        })
    }

    /// Whether a saved state is one of this subject, plan and model, with counts that can be.
    #[must_use]
    pub fn continues(&self, fresh: &Self) -> bool {
        let can_be = |family: &ValidationProgress, fresh: &ValidationProgress| {
            family.count == fresh.count
                && family.done <= family.count.unwrap_or(MOST)
                && family.tiles <= MOST / (SIDE * SIDE)
                && family.mismatches <= family.trials()
        };
        let names = |state: &Self| -> Vec<String> {
            state.families.iter().map(|f| f.family.clone()).collect()
        };
        self.subject == fresh.subject
            && self.signature == fresh.signature
            && self.arithmetic == fresh.arithmetic
            && self.seed == fresh.seed
            && names(self) == names(fresh)
            && self
                .families
                .iter()
                .zip(&fresh.families)
                .all(|(family, fresh)| can_be(family, fresh))
    }

    /// Cases compared.
    #[must_use]
    pub fn trials(&self) -> u64 {
        self.families.iter().map(ValidationProgress::trials).sum()
    }

    /// Cases that differ.
    #[must_use]
    pub fn mismatches(&self) -> u64 {
        self.families.iter().map(|family| family.mismatches).sum()
    }

    /// The family with the fewest cases done that is not at its end.
    fn next(&self) -> Option<usize> {
        let open =
            |family: &ValidationProgress| family.count.is_none_or(|count| family.done < count);
        (0..self.families.len())
            .filter(|&index| open(&self.families[index]))
            .min_by_key(|&index| self.families[index].trials())
    }

    /// Single cases that every family gets first: few cases are shared out, so that no family goes without,
    /// and no family gets all that a run adds to earlier ones.
    fn share(&self, trials: u64) -> u64 {
        (trials / self.families.len().max(1) as u64).clamp(1, CHUNK)
    }

    /// The family whose turn it is in a run of `trials` cases in all, and the most cases that it gets.
    fn upcoming(&self, trials: u64) -> Option<(usize, u64)> {
        let left = trials.checked_sub(self.trials()).filter(|left| *left > 0)?;
        let index = self.next()?;
        let missing = self.share(trials).saturating_sub(self.families[index].done);
        let most = if missing == 0 {
            left
        } else {
            left.min(missing)
        };
        Some((index, most))
    }

    /// Keeps the first mismatches of every family.
    fn keep(&mut self, found: impl IntoIterator<Item = Mismatch>) {
        for mismatch in found {
            let own = self
                .examples
                .iter()
                .filter(|it| it.family == mismatch.family);
            if own.count() < KEPT {
                self.examples.push(mismatch);
            }
        }
    }

    /// Adds what a part came to that begins where this state stands ([`parts`]).
    ///
    /// # Errors
    /// [`Error::Argument`] when it is a part of another run, or does not begin here.
    pub fn join(&mut self, begin: &Self, part: Self) -> Result<()> {
        let stands = |state: &Self| -> Vec<_> {
            let families = state.families.iter();
            families
                .map(|it| (it.family.clone(), it.done, it.tiles))
                .collect()
        };
        let fits = part.continues(&Self {
            subject: self.subject.clone(),
            ..begin.clone()
        });
        if !fits || stands(self) != stands(begin) {
            return Err(Error::Argument(
                "the part is of another run, or does not begin where this one stands".to_owned(),
            ));
        }
        for (own, other) in self.families.iter_mut().zip(part.families) {
            own.done = other.done;
            own.tiles = other.tiles;
            own.mismatches += other.mismatches;
        }
        self.keep(part.examples);
        Ok(())
    }
}

/// Compares until `trials` cases are done in all, or every family is at its end. `go_on` is told the
/// state after every batch and may stop the run.
///
/// # Errors
/// The device's own errors; the state then holds everything before the failing batch.
pub fn validate(
    device: &mut dyn Dut,
    model: &Unit,
    state: &mut State,
    trials: u64,
    go_on: &mut dyn FnMut(&State) -> bool,
) -> Result<()> {
    if device.signature() != model.signature() {
        return Err(Error::Argument(format!(
            "{} has the signature {}, the model {}",
            device.name(),
            device.signature(),
            model.signature()
        )));
    }
    let mut memory = Memory::new(model.signature());
    while let Some((index, left)) = state.upcoming(trials) {
        let family = &mut state.families[index];
        let found = turn(device, model, state.seed, family, left, &mut memory)?;
        state.keep(found);
        if !go_on(state) {
            break;
        }
    }
    Ok(())
}

/// The states between which a run can be cut: `state` without its mismatches, and then one after every `part`
/// cases or somewhat more, the last at the end of the run. Nothing is compared.
///
/// A part is a run of its own: [`validate`] from one of these states to [`State::trials`] of the next. What the
/// parts come to, [`State::join`]ed in their order, is what one run comes to. `has_tiles` is [`Dut::has_tiles`].
///
/// # Errors
/// [`Error::Argument`] when a family of the state is not the model's.
pub fn parts(
    model: &Unit,
    state: &State,
    trials: u64,
    part: u64,
    has_tiles: bool,
) -> Result<Vec<State>> {
    let mut now = state.clone();
    now.examples.clear();
    for family in &mut now.families {
        family.mismatches = 0;
    }
    let generators: Vec<Generator> = now
        .families
        .iter()
        .map(|family| Generator::for_unit(Family::named(&family.family)?, state.seed, model))
        .collect::<Result<_>>()?;
    let mut found = vec![now.clone()];
    let (share, mut begun) = (now.share(trials), now.trials());
    while let Some((index, left)) = now.upcoming(trials) {
        let family = &mut now.families[index];
        Turn::next(&generators[index], family, has_tiles, left).advance(family);
        // Parts begin where the share that families get first no longer says whose turn it is.
        let is_shared = now.share(now.trials()) == share
            && now
                .families
                .iter()
                .all(|family| family.done >= share.min(family.count.unwrap_or(share)));
        if is_shared && now.trials() - begun >= part {
            found.push(now.clone());
            begun = now.trials();
        }
    }
    if begun < now.trials() {
        found.push(now);
    }
    Ok(found)
}

/// What is compared next in a family.
enum Turn {
    Tile(Tile),
    Cases(u64),
}

impl Turn {
    /// A tile where the family has them and the single cases are not fewer than a batch of them, else single cases;
    /// at most `left` cases.
    fn next(
        generator: &Generator,
        progress: &ValidationProgress,
        has_tiles: bool,
        left: u64,
    ) -> Self {
        let next = Tile::next(generator, progress.done, progress.tiles, has_tiles);
        if let Some(tile) = next.filter(|tile| tile.len() <= left) {
            return Self::Tile(tile);
        }
        // Tiles begin at whole chunks.
        let count = left.min(CHUNK - progress.done % CHUNK);
        let rest = |all: u64| count.min(all - progress.done);
        Self::Cases(progress.count.map_or(count, rest))
    }

    /// Counts it as done.
    fn advance(&self, progress: &mut ValidationProgress) {
        match self {
            Self::Tile(tile) if tile.is_crossed() => progress.tiles += 1,
            Self::Tile(tile) => progress.done += tile.len(),
            Self::Cases(count) => progress.done += count,
        }
    }
}

/// Compares the next cases of a family, at most `left`.
fn turn(
    device: &mut dyn Dut,
    model: &Unit,
    seed: u64,
    progress: &mut ValidationProgress,
    left: u64,
    memory: &mut Memory,
) -> Result<Vec<Mismatch>> {
    let generator = Generator::for_unit(Family::named(&progress.family)?, seed, model)?;
    let next = Turn::next(&generator, progress, device.has_tiles(), left);
    let differing = match &next {
        Turn::Tile(tile) => tile.compare(device, model, &generator)?,
        Turn::Cases(count) => memory.compare(device, model, &generator, progress.done, *count)?,
    };
    next.advance(progress);
    progress.mismatches += differing.len() as u64;
    let first = differing.into_iter().take(KEPT);
    Ok(first
        .map(|(index, column, answer, word)| Mismatch {
            family: progress.family.clone(),
            seed,
            index,
            column,
            device: crate::infer::answer_text(answer, model.signature()),
            model: crate::vector::answer(model, word),
        })
        .collect())
}

/// A case on which device and model differ: index, index of b's case, answer, the model's word.
type Differing = (u64, Option<u64>, Answer, u64);

/// Memory of single cases, which is used again: mapping it anew took a fifth of their time.
struct Memory {
    /// What a thread makes and computes in one go: cases, and the model's words.
    parts: Vec<(Batch, Vec<u64>)>,
    /// All of them.
    batch: Batch,
}

impl Memory {
    fn new(signature: &Signature) -> Self {
        Self {
            parts: Vec::new(),
            batch: Batch::new(*signature),
        }
    }

    /// The cases of a run of indices on which device and model differ: index, answer, the model's word.
    fn compare(
        &mut self,
        device: &mut dyn Dut,
        model: &Unit,
        generator: &Generator,
        first: u64,
        count: u64,
    ) -> Result<Vec<Differing>> {
        let Self { parts, batch } = self;
        let last = first + count;
        parts.resize_with(count.div_ceil(TURN) as usize, || {
            (Batch::new(*model.signature()), Vec::new())
        });
        let each = parts.par_iter_mut().enumerate();
        each.try_for_each(|(turn, (batch, words))| {
            let from = first + turn as u64 * TURN;
            let mut maker = generator.maker();
            batch.clear();
            for index in from..last.min(from + TURN) {
                batch.push(&maker.make(index).operands())?;
            }
            *words = model.dots(&batch.queries())?;
            Ok::<(), Error>(())
        })?;
        batch.clear();
        for (part, _) in &*parts {
            batch.append(part);
        }
        let answers = device.run(batch)?;
        check_count(device, answers.len(), batch.len())?;
        let words = parts.iter().flat_map(|(_, words)| words);
        let found = (first..).zip(words.zip(answers));
        Ok(found
            .filter(|(_, (word, answer))| !agrees(model, **word, *answer))
            .map(|(index, (word, answer))| (index, None, answer, *word))
            .collect())
    }
}

/// An error when a device gives too few or too many answers.
fn check_count(device: &dyn Dut, answers: usize, queries: usize) -> Result<()> {
    if answers == queries {
        return Ok(());
    }
    Err(Error::Device {
        device: device.name().to_owned(),
        query: None,
        message: format!("{answers} answers to {queries} queries"),
    })
}

/// Whether an answer is right where the model gives `word`.
fn agrees(model: &Unit, word: u64, answer: Answer) -> bool {
    match answer {
        Answer::Word(got) => model.agrees(word, got),
        Answer::AnyNan => model.is_nan(word),
    }
}

/// A mismatch made smaller by asking the device.
///
/// # Errors
/// The device's own errors.
pub fn shrink(device: &mut dyn Dut, model: &Unit, mismatch: &Mismatch) -> Result<InferenceExample> {
    let family = Family::named(&mismatch.family)?;
    let case = Generator::for_unit(family, mismatch.seed, model)?
        .crossed(mismatch.index, mismatch.column.unwrap_or(mismatch.index));
    crate::infer::shrink_on_device(device, model, &case).map(|(example, _)| example)
}
