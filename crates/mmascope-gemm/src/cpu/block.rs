//! Computes a product tile by tile, and divides rows, columns and steps between the kernel and the reference.
//!
//! A tile is a run of rows by one panel of columns. Its accumulators lie in a buffer of f32 lanes
//! while all steps run, chunk of K by chunk, so that the panel's chunk stays in the first cache.
//! For every row and chunk the kernel runs unless a mark forbids it; it then says which lanes left
//! its domain on the way, and the row's chunk is done again a step at a time, where each such lane
//! comes from the reference.

use std::ops::Range;

use rayon::prelude::*;

use super::Level;
use super::codec::Codec;
use super::enter::{Masks, Packed, Place, WIDEST, enter};
use crate::array::Stored;
use crate::dpa::{Modifiers, Unit};
use crate::engine::{Dots, Elements, Watch, after_first};
use crate::error::Result;

/// Rows of a tile.
const ROWS: usize = 64;
/// Chunks after which every c is looked at again: far fewer than 2^28 products.
const LOOK_AGAIN: usize = 1024;

/// The reference for single outputs and steps.
pub(super) struct Reference<'a> {
    pub(super) unit: &'a Unit,
    pub(super) elements: &'a dyn Elements,
    pub(super) modifiers: Modifiers,
}

/// A run of steps over all outputs.
pub(super) struct Job<'a, P> {
    pub(super) packed: &'a P,
    pub(super) reference: Reference<'a>,
    pub(super) c: Codec,
    pub(super) d: Codec,
    pub(super) steps: Range<usize>,
    /// The first step takes C with its modifiers.
    pub(super) first: bool,
}

/// The part of D that accumulators hold, row by row.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
}

impl<P: Packed> Job<'_, P> {
    /// All tiles of a part of D. `accumulators`: c before and d after.
    pub(super) fn run<W: Stored>(
        &self,
        level: Level,
        part: &Part,
        accumulators: &mut [W],
        watch: &Watch<'_>,
    ) -> Result<()> {
        let width = self.packed.shape().columns;
        let (rows, columns) = (&part.rows, &part.columns);
        let panels = columns.start / width..columns.end.div_ceil(width);
        // (Rows stay in the second cache while panel after panel passes by.)
        accumulators
            .par_chunks_mut(ROWS * columns.len())
            .zip((rows.start..rows.end).into_par_iter().step_by(ROWS))
            .try_for_each(|(words, first)| {
                let rows = first..rows.end.min(first + ROWS);
                let own =
                    |panel| columns.start.max(panel * width)..columns.end.min((panel + 1) * width);
                let mut tiles: Vec<Vec<&mut [W]>> = Vec::new();
                tiles.resize_with(panels.len(), || Vec::with_capacity(rows.len()));
                for mut line in words.chunks_mut(columns.len()) {
                    for (panel, tile) in panels.clone().zip(&mut tiles) {
                        let (words, rest) = line.split_at_mut(own(panel).len());
                        tile.push(words);
                        line = rest;
                    }
                }
                tiles
                    .into_par_iter()
                    .zip(panels.clone())
                    .try_for_each(|(mut words, panel)| {
                        let tile = Part {
                            rows: rows.clone(),
                            columns: own(panel),
                        };
                        self.tile(level, &tile, panel, &mut words, watch)
                    })
            })
    }

    /// `words`: the tile's rows of accumulators.
    fn tile<W: Stored>(
        &self,
        level: Level,
        tile: &Part,
        panel: usize,
        words: &mut [&mut [W]],
        watch: &Watch<'_>,
    ) -> Result<()> {
        let shape = self.packed.shape();
        let width = shape.columns;
        let (rows, columns) = (&tile.rows, tile.columns.len());
        let shift = tile.columns.start - panel * width;
        // Lanes beside the tile's columns stay out of it.
        let mut lanes = vec![0_u32; rows.len() * width];
        // Before the first step: columns whose c the kernel's lanes cannot show.
        let mut hidden = vec![0_u64; rows.len()];
        let modified =
            self.first && self.reference.modifiers != after_first(&self.reference.modifiers);
        let codec = if self.first { self.c } else { self.d };
        for (r, words) in words.iter().enumerate() {
            if !modified {
                let lanes = &mut lanes[r * width + shift..];
                for (lane, word) in lanes.iter_mut().zip(words.iter()) {
                    *lane = codec.decode(word.word());
                }
                continue;
            }
            for (v, word) in words.iter().enumerate() {
                let (lane, shown) = self.load(word.word());
                lanes[r * width + shift + v] = lane;
                hidden[r] |= u64::from(!shown) << (shift + v);
            }
        }
        let whole = (u64::MAX >> (64 - columns)) << shift;
        // Rows whose lanes are known to lie within the kernel's domain, a bit each.
        let mut inside = 0_u64;
        // Rows with marks anywhere, and those with columns that are hidden.
        let rows_where = |is: &dyn Fn(usize) -> bool| {
            let bit = |r: usize| u64::from(is(r)) << r;
            (0..rows.len()).fold(0, |all, r| all | bit(r))
        };
        let marks = self.packed.marks();
        let marked_rows = rows_where(&|r| marks.row(shape, rows.start + r, self.steps.clone()));
        let hidden_rows = rows_where(&|r| hidden[r] != 0);
        let mut step = self.steps.start;
        while step < self.steps.end {
            watch.check()?;
            let end = self.steps.end.min((step / shape.chunk + 1) * shape.chunk);
            let marked = marks.panel(shape, panel, step..end) & whole;
            let at_start = self.first && step == self.steps.start;
            if (step / shape.chunk).is_multiple_of(LOOK_AGAIN) {
                inside = 0;
            }
            // Rows that the kernel must not see whole.
            let mut barred = if marked == 0 { 0 } else { u64::MAX };
            for r in bits(marked_rows & !barred) {
                let is_marked = marks.row(shape, rows.start + r, step..end);
                barred |= u64::from(is_marked) << r;
            }
            if at_start {
                barred |= hidden_rows;
            }
            let mut r = 0;
            while r < rows.len() {
                let run = (barred >> r).trailing_zeros() as usize;
                let run = run.min(rows.len() - r);
                let failed = if run > 0 {
                    let lanes = &mut lanes[r * width..(r + run) * width];
                    let place = Place {
                        row: rows.start + r,
                        panel,
                        whole,
                        wanted: true,
                        inside: inside >> r,
                    };
                    let [failed, special] = self.fast(level, &place, step..end, lanes);
                    if self.packed.keeps() {
                        let own = (u64::MAX >> (64 - run)) << r;
                        inside = inside & !own | own & !((failed | special) << r);
                    }
                    failed
                } else {
                    inside &= !(1 << r);
                    1
                };
                for at in bits(failed) {
                    let r = r + at;
                    let lanes = &mut lanes[r * width..(r + 1) * width];
                    for one in step..end {
                        let is_first = at_start && one == step;
                        let asked = Asked {
                            row: rows.start + r,
                            panel,
                            step: one,
                            hidden: if is_first { hidden[r] } else { 0 },
                            original: is_first.then(|| &*words[r]),
                            shift,
                            whole,
                        };
                        self.careful(level, &asked, lanes)?;
                    }
                }
                r += run.max(1);
            }
            (watch.progress)((rows.len() * columns * (end - step)) as u64);
            step = end;
        }
        for (words, lanes) in words.iter_mut().zip(lanes.chunks(width)) {
            let lanes = &lanes[shift..shift + columns];
            for (word, lane) in words.iter_mut().zip(lanes) {
                *word = W::stored(self.d.encode(*lane));
            }
        }
        Ok(())
    }

    /// The lane of a word before the first of these steps, and whether it shows all that matters.
    fn load(&self, word: u64) -> (u32, bool) {
        if !self.first {
            return (self.d.decode(word), true);
        }
        let modifiers = &self.reference.modifiers;
        if modifiers.no_c {
            return (0, true);
        }
        let lane = self.c.decode(word) ^ if modifiers.negate_c { 1 << 31 } else { 0 };
        if modifiers.scale_d == 0 {
            return (lane, true);
        }
        let (field, magnitude) = (lane >> 23 & 0xff, lane & !(1 << 31));
        if magnitude == 0 || field == 0xff {
            return (lane, true);
        }
        // The exponent moves, that of a subnormal's field too: only normal numbers show that.
        let moved = field as i32 + modifiers.scale_d;
        if (field << 23) < self.c.smallest().max(1 << 23) || moved < 1 {
            return (0, false);
        }
        let normal = moved as u32 >= self.c.smallest() >> 23;
        (lane.wrapping_add((modifiers.scale_d << 23) as u32), normal)
    }

    /// All steps of some rows by the kernel; gives the rows, a bit each, in which some lane cannot be
    /// used, where nothing changes, and those with a special c.
    fn fast(
        &self,
        level: Level,
        place: &Place,
        steps: Range<usize>,
        lanes: &mut [u32],
    ) -> [u64; 2] {
        let mut masks = [Masks::default(); ROWS];
        let masks = &mut masks[..lanes.len() / self.packed.shape().columns];
        enter(level, self.packed, place, steps, lanes, masks);
        let mut rows = [0; 2];
        let all = (masks.iter()).fold(0, |all, masks| all | masks.outside | masks.special);
        if all & place.whole == 0 {
            return rows;
        }
        for (r, masks) in masks.iter().enumerate() {
            rows[0] |= u64::from(masks.outside & place.whole != 0) << r;
            rows[1] |= u64::from(masks.special & place.whole != 0) << r;
        }
        rows
    }

    /// One step, each lane by the kernel if it may, else by the reference.
    fn careful<W: Stored>(
        &self,
        level: Level,
        asked: &Asked<'_, W>,
        lanes: &mut [u32],
    ) -> Result<()> {
        let shape = self.packed.shape();
        let steps = asked.step..asked.step + 1;
        let marks = self.packed.marks();
        let marked = if marks.row(shape, asked.row, steps.clone()) {
            asked.whole
        } else {
            marks.panel(shape, asked.panel, steps.clone())
        };
        let mut before = [0_u32; WIDEST];
        before[..lanes.len()].copy_from_slice(lanes);
        let place = Place {
            row: asked.row,
            panel: asked.panel,
            whole: asked.whole,
            wanted: false,
            inside: 0,
        };
        let mut masks = [Masks::default()];
        enter(level, self.packed, &place, steps, lanes, &mut masks);
        let [masks] = masks;
        let settled = if self.packed.settles() {
            masks.special & !marked & !asked.hidden & asked.whole
        } else {
            0
        };
        for v in bits(settled) {
            lanes[v] = before[v];
        }
        let wrong = marked | masks.outside | masks.special | asked.hidden;
        let Reference {
            unit,
            elements,
            modifiers,
        } = &self.reference;
        let mut dots = Dots::new(unit, *elements, modifiers);
        for v in bits(wrong & asked.whole & !settled) {
            let word = match asked.original {
                Some(words) => words[v - asked.shift].word(),
                None => self.d.encode(before[v]),
            };
            let column = asked.panel * shape.columns + v;
            let first = asked.original.is_some();
            let result = dots.step(asked.row, column, asked.step, first, word)?;
            lanes[v] = self.d.decode(result);
        }
        Ok(())
    }
}

/// The set bits.
pub(super) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        bit
    })
}

/// What `careful` needs to know.
struct Asked<'a, W> {
    row: usize,
    panel: usize,
    step: usize,
    hidden: u64,
    /// The words of C, when this is the first step.
    original: Option<&'a [W]>,
    /// Lanes before the tile's first column.
    shift: usize,
    whole: u64,
}
