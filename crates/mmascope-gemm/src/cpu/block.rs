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
use super::fused::{Tile, VECTORS};
use super::lanes::{Lanes, Portable};
use super::pack::{Marks, Shape};
use super::pairs::Begin;
use super::shared::Shared;
use crate::array::Stored;
use crate::dpa::{Modifiers, Unit};
use crate::engine::{Dots, Elements, Watch, after_first};
use crate::error::Result;

/// Rows of a tile.
const ROWS: usize = 64;
/// The widest panel: four registers of sixteen lanes.
pub(super) const WIDEST: usize = 64;

/// Chunks after which every c is looked at again: far fewer than 2^28 products.
const LOOK_AGAIN: usize = 1024;

/// Packed operands with the kernel that reads them.
pub(super) trait Packed: Sync {
    fn shape(&self) -> &Shape;
    fn marks(&self) -> &Marks;

    /// The lanes in which c lies outside the kernel's domain: (finite ones, ∞ and NaN).
    ///
    /// # Safety
    /// The instruction set of `V`.
    unsafe fn outside<V: Lanes>(&self, c: V) -> (V, V);

    /// Runs steps of one row and panel; gives the lanes whose results are not to be used.
    ///
    /// # Safety
    /// The instruction set of `V`; row, panel and steps within the shape.
    unsafe fn run<V: Lanes>(
        &self,
        row: usize,
        panel: usize,
        steps: Range<usize>,
        c: &mut Tile<V>,
    ) -> V;

    /// Whether it takes dot products of bytes.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    const DOTS: bool = false;

    /// Whether two neighbouring rows at a time are faster.
    #[inline(always)]
    fn by_two(&self) -> bool {
        false
    }

    /// The same of this row and the next; asked only where [`Packed::by_two`] says so, for pair after pair with the
    /// same steps and panel.
    ///
    /// # Safety
    /// As for [`Packed::run`], for both rows.
    #[inline(always)]
    unsafe fn run_two<V: Lanes>(
        &self,
        row: usize,
        panel: usize,
        steps: Range<usize>,
        ahead: &mut Ahead<V>,
        c: &mut [Tile<V>; 2],
    ) -> V {
        let _ = (row, panel, steps, ahead, c);
        unreachable!("`by_two` says so")
    }

    /// Whether an ∞ or a NaN in c is the result, when nothing else is special.
    fn settles(&self) -> bool;

    /// Whether a c within the domain stays there for as long as 2^28 products.
    fn keeps(&self) -> bool;
}

/// What is known of a pair of rows from the pairs before, with the same steps and panel.
pub(super) struct Ahead<V> {
    /// Where rows begin, once a pair has found it.
    pub(super) begin: Option<Begin>,
    /// The next pair's first row, which begins with the same step, if there is one.
    pub(super) next: Option<usize>,
    /// What was found out about this pair: its first group's largest byte sums.
    pub(super) found: Option<[V; 2]>,
}

impl<V> Default for Ahead<V> {
    fn default() -> Self {
        Self {
            begin: None,
            next: None,
            found: None,
        }
    }
}

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
        let blocks = rows.len().div_ceil(ROWS);
        let panels = columns.start / width..columns.end.div_ceil(width);
        let shared = Shared::new(accumulators);
        (0..blocks * panels.len())
            .into_par_iter()
            .try_for_each(|index| {
                // Rows stay in the second cache while panel after panel passes by.
                let (block, panel) = (index / panels.len(), panels.start + index % panels.len());
                let first = rows.start + block * ROWS;
                let tile = Part {
                    rows: first..rows.end.min(first + ROWS),
                    columns: columns.start.max(panel * width)..columns.end.min((panel + 1) * width),
                };
                let mut words: Vec<&mut [W]> = (tile.rows.clone())
                    .map(|row| {
                        let from = (row - rows.start) * columns.len();
                        let from = from + tile.columns.start - columns.start;
                        // SAFETY: each output belongs to one tile.
                        unsafe { shared.run(from, tile.columns.len()) }
                    })
                    .collect();
                self.tile(level, &tile, panel, &mut words, watch)
            })
    }

    /// Runs steps of some rows and a panel by the kernel, lanes in and out.
    fn attempt(
        &self,
        level: Level,
        place: &Place,
        steps: Range<usize>,
        lanes: &mut [u32],
        masks: &mut [Masks],
    ) {
        assert!(level.is_there());
        // A function that has the instructions, into which everything is inlined.
        #[cfg(target_arch = "x86_64")]
        macro_rules! enter {
            ($features:literal, $lanes:ident) => {{
                #[target_feature(enable = $features)]
                fn enter<P: Packed>(
                    packed: &P,
                    place: &Place,
                    steps: Range<usize>,
                    lanes: &mut [u32],
                    masks: &mut [Masks],
                ) {
                    // SAFETY: this function has the instruction set.
                    unsafe {
                        attempt::<super::lanes::$lanes, P>(packed, place, steps, lanes, masks)
                    }
                }
                // SAFETY: the level is there.
                unsafe { enter(self.packed, place, steps, lanes, masks) }
            }};
        }
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => enter!("avx2,fma,f16c", Avx2),
            #[cfg(target_arch = "x86_64")]
            Level::Vnni if P::DOTS => {
                enter!(
                    "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c",
                    Vnni
                )
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 | Level::Vnni => {
                enter!("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c", Avx512)
            }
            #[cfg(target_arch = "aarch64")]
            // SAFETY: the level is there.
            Level::Neon => unsafe {
                attempt::<super::lanes::Neon, P>(self.packed, place, steps, lanes, masks)
            },
            // SAFETY: plain Rust.
            _ => unsafe { attempt::<Portable, P>(self.packed, place, steps, lanes, masks) },
        }
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
        // Where words are the lanes themselves.
        let modified =
            self.first && self.reference.modifiers != after_first(&self.reference.modifiers);
        let same = self.c.is_plain() && self.d.is_plain() && !modified;
        for (r, words) in words.iter().enumerate() {
            if same {
                let lanes = &mut lanes[r * width + shift..];
                for (lane, word) in lanes.iter_mut().zip(words.iter()) {
                    *lane = word.word() as u32;
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
            if let Some(nan) = self.d.plain_nan() {
                for (word, lane) in words.iter_mut().zip(lanes) {
                    let is_nan = lane & !(1 << 31) > 0x7f80_0000;
                    *word = W::stored(u64::from(if is_nan { nan } else { *lane }));
                }
            } else {
                for (word, lane) in words.iter_mut().zip(lanes) {
                    *word = W::stored(self.d.encode(*lane));
                }
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
        self.attempt(level, place, steps, lanes, masks);
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
        self.attempt(level, &place, steps, lanes, &mut masks);
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

/// Columns of a row whose results are not the kernel's, a bit each.
#[derive(Clone, Copy, Default)]
struct Masks {
    /// c lay outside the domain, or something left it on the way.
    outside: u64,
    /// c was ∞ or NaN.
    special: u64,
}

/// Where some rows' lanes lie.
struct Place {
    /// The first row.
    row: usize,
    panel: usize,
    /// Lanes that count.
    whole: u64,
    /// Only results of which all lanes can be used are wanted, with what settles itself in place.
    wanted: bool,
    /// Rows whose c need not be looked at, a bit each.
    inside: u64,
}

/// Rows one after the other, as many as there are masks.
///
/// # Safety
/// The instruction set of `V`.
#[inline(always)]
unsafe fn attempt<V: Lanes, P: Packed>(
    packed: &P,
    place: &Place,
    steps: Range<usize>,
    lanes: &mut [u32],
    masks: &mut [Masks],
) {
    let width = VECTORS * V::WIDTH;
    assert!(lanes.len() == masks.len() * width);
    let pairs = if packed.by_two() { masks.len() / 2 } else { 0 };
    let (two, one) = lanes.split_at_mut(2 * pairs * width);
    let (masks_of_two, masks_of_one) = masks.split_at_mut(2 * pairs);
    let both = two
        .chunks_exact_mut(2 * width)
        .zip(masks_of_two.chunks_exact_mut(2));
    let mut ahead = Ahead::default();
    for (r, (lanes, masks)) in (0..).step_by(2).zip(both) {
        let (first, second) = lanes.split_at_mut(width);
        ahead.next = (r + 2 < 2 * pairs).then_some(place.row + r + 2);
        // SAFETY: the caller has the instruction set.
        unsafe {
            let mut c = [
                begin::<V, P>(packed, place, r, first, &mut masks[0]),
                begin::<V, P>(packed, place, r + 1, second, &mut masks[1]),
            ];
            let steps = steps.clone();
            let bad = packed.run_two(place.row + r, place.panel, steps, &mut ahead, &mut c);
            end(packed, place, &c[0], bad, first, &mut masks[0]);
            end(packed, place, &c[1], bad, second, &mut masks[1]);
        }
    }
    let each = one.chunks_exact_mut(width).zip(masks_of_one);
    for (r, (lanes, masks)) in (2 * pairs..).zip(each) {
        // SAFETY: the caller has the instruction set.
        unsafe {
            let mut c = begin::<V, P>(packed, place, r, lanes, masks);
            let bad = packed.run(place.row + r, place.panel, steps.clone(), &mut c);
            end(packed, place, &c, bad, lanes, masks);
        }
    }
}

/// The lanes of the r-th row, those that the kernel cannot carry as +0, with their masks.
///
/// # Safety
/// The instruction set of `V`.
#[inline(always)]
unsafe fn begin<V: Lanes, P: Packed>(
    packed: &P,
    place: &Place,
    r: usize,
    lanes: &[u32],
    masks: &mut Masks,
) -> Tile<V> {
    // SAFETY: the caller has the instruction set; `read` checks the length.
    unsafe {
        let mut c: Tile<V> = read(lanes);
        let known = place.inside >> r & 1 != 0;
        for (v, c) in c.iter_mut().enumerate().filter(|_| !known) {
            let (finite, special) = packed.outside(*c);
            masks.outside |= u64::from(finite.top_bits()) << (v * V::WIDTH);
            masks.special |= u64::from(special.top_bits()) << (v * V::WIDTH);
            // Such a lane runs along as +0.
            *c = special.or(finite).not_and(*c);
        }
        c
    }
}

/// A row's results are written, if they are wanted.
///
/// # Safety
/// The instruction set of `V`.
#[inline(always)]
unsafe fn end<V: Lanes, P: Packed>(
    packed: &P,
    place: &Place,
    c: &Tile<V>,
    bad: V,
    lanes: &mut [u32],
    masks: &mut Masks,
) {
    // SAFETY: the caller has the instruction set; `write` checks the length.
    unsafe {
        let bad = u64::from(bad.top_bits());
        for v in 0..VECTORS {
            // One mask for the four registers: a lane that is bad in any of them.
            masks.outside |= bad << (v * V::WIDTH);
        }
        if !place.wanted {
            write(c, lanes);
            return;
        }
        let special = masks.special & place.whole;
        if special != 0 && !packed.settles() {
            masks.outside |= special;
        }
        if masks.outside & place.whole != 0 {
            return;
        }
        if special == 0 {
            write(c, lanes);
            return;
        }
        let mut before = [0_u32; WIDEST];
        before[..lanes.len()].copy_from_slice(lanes);
        write(c, lanes);
        for v in bits(special) {
            lanes[v] = before[v];
        }
    }
}

/// The set bits.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
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

/// # Safety
/// The instruction set of `V`; `lanes` has four registers.
#[inline(always)]
unsafe fn read<V: Lanes>(lanes: &[u32]) -> Tile<V> {
    assert!(lanes.len() == VECTORS * V::WIDTH);
    // SAFETY: the length was checked.
    unsafe {
        let from = lanes.as_ptr();
        [
            V::load(from),
            V::load(from.add(V::WIDTH)),
            V::load(from.add(2 * V::WIDTH)),
            V::load(from.add(3 * V::WIDTH)),
        ]
    }
}

/// # Safety
/// The instruction set of `V`; `lanes` has four registers.
#[inline(always)]
unsafe fn write<V: Lanes>(tile: &Tile<V>, lanes: &mut [u32]) {
    assert!(lanes.len() == VECTORS * V::WIDTH);
    for (v, register) in tile.iter().enumerate() {
        // SAFETY: the length was checked.
        unsafe { register.store(lanes.as_mut_ptr().add(v * V::WIDTH)) };
    }
}
