//! Decides what an engine prepares of a product's operands, and when: all at once, or piece by piece of K.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::Region;
use super::piece::Piece;
use super::product::MOST;
use super::task::Task;
use crate::array::Stored;
use crate::engine::{Layout, Plan, Prepared, Steps, Watch, reference};
use crate::error::Result;

/// Prepared operands of a product may always take so many bytes.
const SMALL: usize = 4 << 20;
/// Prepared operands of engines that sum in D itself: pieces, whose memory is used again, are faster than
/// memory that nobody has touched yet.
const REUSED: usize = 8 << 20;
/// Bytes of a row's or a column's piece at least: 512 k as f32.
const LEAST: usize = 512 * 5;

/// A plan with what it has prepared.
#[derive(Debug)]
pub(super) struct Preparation {
    plan: Arc<dyn Plan>,
    packing: Packing,
}

#[derive(Debug)]
enum Packing {
    Whole(Whole),
    /// As a whole only in the layout that takes less memory, and only when [`Preparation::pack_whole`] is called; until
    /// then, as for a plain chain, by pieces in the faster layout.
    Sparing(OnceLock<Whole>, Room),
    /// Nothing: each part prepares the operands of its steps, as many at a time as there is room for.
    Pieces(Room),
}

/// The operands of each product of the batch; `None` where they leave nothing for the engine.
type Whole = Vec<Option<Box<dyn Prepared>>>;

/// Room for prepared operands.
#[derive(Clone, Copy, Debug)]
enum Room {
    /// Bytes for a part of D with [`MOST`] elements, or with all of them; less for smaller parts, of
    /// which as many may be under way.
    Shared(usize),
    /// Bytes for any part.
    Each(usize),
}

impl Room {
    /// Steps that are prepared together for a part.
    fn steps(self, plan: &dyn Plan, part: &Region, whole: &Region) -> usize {
        let step = plan.bytes(part.rows.len(), part.columns.len(), Layout::Fastest);
        let fitting = |bytes: usize| (bytes / step.max(1)).max(1);
        match self {
            Self::Each(bytes) => fitting(bytes),
            Self::Shared(bytes) => {
                let share = part.len() as f64 / whole.len().clamp(1, MOST) as f64;
                let line = step.div_ceil(part.rows.len() + part.columns.len());
                let least = LEAST.div_ceil(line.max(1));
                fitting((bytes as f64 * share.min(1.0)) as usize).max(least)
            }
        }
    }
}

/// Steps of a part of D.
pub(super) struct Part<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) region: &'a Region,
    pub(super) steps: &'a Range<usize>,
    /// C with its modifiers goes into the first of them.
    pub(super) first: bool,
}

impl Preparation {
    /// Prepares a product's operands, where that takes no more than [`Product`](super::Product) says.
    pub(super) fn new(plan: Arc<dyn Plan>, task: &Task<'_>) -> Result<Self> {
        let whole = task.whole();
        let given = task.bytes();
        let all = |layout| {
            let step = plan.bytes(whole.rows.len(), whole.columns.len(), layout);
            (step.saturating_mul(task.steps())).saturating_mul(whole.batch.len())
        };
        let most = SMALL.max(given / 8 * 15);
        let (most, room) = if plan.sums_in_place() {
            (REUSED.min(most), REUSED.min(given))
        } else {
            (most, given)
        };
        let packing = if all(Layout::Fastest) <= most {
            Packing::Whole(prepare_whole(&*plan, task, Layout::Fastest)?)
        } else if all(Layout::Smallest) <= most {
            Packing::Sparing(OnceLock::new(), Room::Shared(room))
        } else {
            Packing::Pieces(Room::Shared(room))
        };
        Ok(Self { plan, packing })
    }

    /// The same plan with pieces of so many bytes.
    pub(super) fn in_pieces(&self, bytes: usize) -> Self {
        Self {
            plan: Arc::clone(&self.plan),
            packing: Packing::Pieces(Room::Each(bytes)),
        }
    }

    /// The plan.
    pub(super) fn plan(&self) -> &dyn Plan {
        &*self.plan
    }

    /// Whether the operands are prepared as a whole, or will be when [`Preparation::pack_whole`] is called.
    pub(super) fn is_whole(&self) -> bool {
        !matches!(self.packing, Packing::Pieces(_))
    }

    /// Prepares the operands as a whole, where that is the way.
    pub(super) fn pack_whole(&self, task: &Task<'_>) -> Result<()> {
        if let Packing::Sparing(whole, _) = &self.packing
            && whole.get().is_none()
        {
            // (Not within `get_or_init`: a thread that packs may meanwhile take up work that asks for the same.)
            let _ = whole.set(prepare_whole(&*self.plan, task, Layout::Smallest)?);
        }
        Ok(())
    }

    /// The steps of a part by the engine, product by product of the batch; by the reference those whose operands leave
    /// nothing for it.
    pub(super) fn advance<W: Stored>(
        &self,
        part: &Part<'_>,
        words: &mut [W],
        watch: &Watch<'_>,
    ) -> Result<()> {
        let region = part.region;
        let size = (region.rows.len() * region.columns.len()).max(1);
        let whole = match &self.packing {
            Packing::Whole(operands) => Some(operands),
            Packing::Sparing(operands, _) => operands.get(),
            Packing::Pieces(_) => None,
        };
        let room = match (&self.packing, whole) {
            // (Products that hold no memory of their own run at the same time: small ones are many.)
            (_, Some(operands)) => {
                let products = words.par_chunks_mut(size).zip(region.batch.clone());
                return products.try_for_each(|(words, batch)| {
                    self.run_whole(part, batch, operands[batch].as_deref(), words, watch)
                });
            }
            (Packing::Pieces(room) | Packing::Sparing(_, room), None) => *room,
            (Packing::Whole(_), None) => unreachable!("they are the operands"),
        };
        for (words, batch) in words.chunks_mut(size).zip(region.batch.clone()) {
            self.run_pieces(part, batch, room, words, watch)?;
        }
        Ok(())
    }

    /// The steps of one product of the batch, prepared as a whole.
    fn run_whole<W: Stored>(
        &self,
        part: &Part<'_>,
        batch: usize,
        operands: Option<&dyn Prepared>,
        words: &mut [W],
        watch: &Watch<'_>,
    ) -> Result<()> {
        let task = part.task;
        let steps = Steps {
            elements: &Piece::whole(task.matrices, batch),
            modifiers: &task.modifiers,
            steps: part.steps.clone(),
            first: part.first,
            rows: part.region.rows.clone(),
            columns: part.region.columns.clone(),
        };
        self.run(operands, &steps, words, watch)
    }

    /// The steps of one product of the batch, a piece of K at a time.
    fn run_pieces<W: Stored>(
        &self,
        part: &Part<'_>,
        batch: usize,
        room: Room,
        words: &mut [W],
        watch: &Watch<'_>,
    ) -> Result<()> {
        let (task, steps) = (part.task, part.steps);
        let region = Region {
            batch: batch..batch + 1,
            ..part.region.clone()
        };
        let whole = task.whole();
        let is_chain = region.rows == whole.rows
            && region.columns == whole.columns
            && *steps == (0..task.steps());
        // Parts of D, which several threads prepare at once, in the layout that takes less memory.
        let layout = if is_chain {
            Layout::Fastest
        } else {
            Layout::Smallest
        };
        let room = room.steps(&*self.plan, &region, &whole);
        for start in steps.clone().step_by(room) {
            watch.check()?;
            let own = start..steps.end.min(start.saturating_add(room));
            let elements = Piece::of(task, &region, &own);
            let operands = self.plan.prepare(&elements, &task.modifiers, layout)?;
            let run = Steps {
                elements: &elements,
                modifiers: &task.modifiers,
                steps: 0..own.len(),
                first: part.first && start == steps.start,
                rows: 0..region.rows.len(),
                columns: 0..region.columns.len(),
            };
            self.run(operands.as_deref(), &run, words, watch)?;
        }
        Ok(())
    }

    fn run<W: Stored>(
        &self,
        operands: Option<&dyn Prepared>,
        steps: &Steps<'_>,
        words: &mut [W],
        watch: &Watch<'_>,
    ) -> Result<()> {
        let words = W::words_mut(words);
        match operands {
            Some(operands) => operands.advance(steps, words, watch),
            None => reference::advance(self.plan.unit(), steps, words, watch),
        }
    }
}

fn prepare_whole(plan: &dyn Plan, task: &Task<'_>, layout: Layout) -> Result<Whole> {
    let prepare =
        |batch| plan.prepare(&Piece::whole(task.matrices, batch), &task.modifiers, layout);
    task.whole().batch.map(prepare).collect()
}
