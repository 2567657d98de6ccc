//! Packs operands: words become floats and exponent bytes, in the order in which kernels read them. Finds and marks what
//! a kernel cannot carry.
//!
//! A lies in chunks of K, row after row; B in panels of as many columns as a tile has, slot after
//! slot. Marks are kept for each row and step, and for each column and step (a *step* is one
//! instruction's K): an ∞ or a NaN, an operand outside the window of exponents, a NaN scale.

use rayon::prelude::*;

use super::aligned::Aligned;
use super::decoder::{Decoder, mask};
use super::down;
use super::exponents::Window;
use super::fast::fast;
use super::lanes::VECTORS;
use super::packed_operand::{How, Side};
use super::rows::Rows;
use super::wide;
use crate::dpa::Signature;
use crate::engine::Elements;
use crate::format::Class;

/// How the slots of a step are filled from its k: `None` is a zero.
pub(super) type Order = Vec<Option<usize>>;

/// Sizes of packed operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) steps: usize,
    /// k of a step.
    pub(super) k: usize,
    /// Slots of a step.
    pub(super) slots: usize,
    /// Steps of a chunk.
    pub(super) chunk: usize,
    /// Columns of a panel.
    pub(super) columns: usize,
}

impl Shape {
    pub(super) fn panels(&self) -> usize {
        self.n.div_ceil(self.columns)
    }

    /// Whether there is such a panel, without a division.
    pub(super) fn has_panel(&self, panel: usize) -> bool {
        panel * self.columns < self.n
    }

    pub(super) fn chunks(&self) -> usize {
        self.steps.div_ceil(self.chunk)
    }

    /// Index of a row's first slot of a step in packed A.
    pub(super) fn a_at(&self, row: usize, step: usize) -> usize {
        let (chunk, rest) = (step / self.chunk, step % self.chunk);
        ((chunk * self.m + row) * self.chunk + rest) * self.slots
    }

    /// Index of a panel's first slot of a step in packed B.
    pub(super) fn b_at(&self, panel: usize, step: usize) -> usize {
        (panel * self.steps + step) * self.slots * self.columns
    }

    pub(super) fn a_len(&self) -> usize {
        self.chunks() * self.chunk * self.m * self.slots
    }

    pub(super) fn b_len(&self) -> usize {
        self.panels() * self.steps * self.slots * self.columns
    }
}

/// Marks of what the kernel cannot carry.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// A: row × steps.
    pub(super) rows: Vec<bool>,
    /// B: panel × steps, a bit a column.
    pub(super) columns: Vec<u64>,
}

impl Marks {
    pub(super) fn new(shape: &Shape) -> Self {
        Self {
            rows: vec![false; shape.m * shape.steps],
            columns: vec![0; shape.panels() * shape.steps],
        }
    }

    /// Whether a row has a mark in these steps.
    pub(super) fn row(&self, shape: &Shape, row: usize, steps: std::ops::Range<usize>) -> bool {
        let from = row * shape.steps;
        self.rows[from + steps.start..from + steps.end].contains(&true)
    }

    /// The marked columns of a panel in these steps.
    pub(super) fn panel(&self, shape: &Shape, panel: usize, steps: std::ops::Range<usize>) -> u64 {
        let from = panel * shape.steps;
        self.columns[from + steps.start..from + steps.end]
            .iter()
            .fold(0, |all, mask| all | mask)
    }
}

/// Slots that reads may go beyond the end.
fn room(shape: &Shape) -> usize {
    2 * shape.slots.max(64)
}

/// A segment of words turned into values, exponent bytes and marks.
struct Segment<'a> {
    decoder: &'a Decoder,
    window: &'a Window,
    /// Every finite number of the format lies in the window.
    is_wide: bool,
}

impl<'a> Segment<'a> {
    fn new(decoder: &'a Decoder, window: &'a Window) -> Self {
        let (smallest, largest) = decoder.fields();
        let is_wide = window.vanish <= smallest && window.low <= smallest && largest <= window.high;
        Self {
            decoder,
            window,
            is_wide,
        }
    }

    /// One pass over contiguous words, in place: what comes out are exponent bytes, in 32 bits each.
    /// The compiler makes vectors of it, since nothing in it branches.
    #[inline(always)]
    fn turn(&self, words: &mut [u32], values: &mut [f32]) -> bool {
        if self.is_wide {
            self.turn_all(words, values)
        } else {
            self.turn_some(words, values)
        }
    }

    /// All numbers lie in the window.
    #[inline(always)]
    fn turn_all(&self, words: &mut [u32], values: &mut [f32]) -> bool {
        let decoder = *self.decoder;
        let up = self.window.first.wrapping_sub(self.window.low);
        let mut marked = 0_u32;
        for (word, value) in words.iter_mut().zip(values) {
            let (bits, special) = decoder.masks(*word);
            // (Combined by "or" it becomes a branch, and the loop no vectors.)
            marked = marked.max(special);
            let bits = bits & !special;
            *value = f32::from_bits(bits);
            let magnitude = bits & !(1 << 31);
            let field = decoder.field_of(magnitude);
            *word = field.wrapping_add(up) & mask(magnitude != 0);
        }
        marked != 0
    }

    #[inline(always)]
    fn turn_some(&self, words: &mut [u32], values: &mut [f32]) -> bool {
        let (decoder, window) = (*self.decoder, *self.window);
        let mut marked = 0;
        for (word, value) in words.iter_mut().zip(values) {
            let (bits, special) = decoder.masks(*word);
            let field = decoder.field(bits);
            let zero = mask(field < window.vanish);
            let inside = mask(field >= window.low) & mask(field <= window.high);
            marked |= special | !(zero | inside);
            let keep = inside & !zero & !special;
            // (A zero keeps its sign.)
            let value_stays = keep | (mask(field == 0) & !special);
            *value = f32::from_bits(bits & value_stays);
            *word = field.wrapping_sub(window.low).wrapping_add(window.first) & keep;
        }
        marked != 0
    }

    /// Whether the kernel cannot carry a word.
    fn is_marked(&self, word: u32) -> bool {
        let (bits, special) = self.decoder.decode(word);
        let field = self.decoder.field(bits);
        let inside = field >= self.window.low && field <= self.window.high;
        special || !(field < self.window.vanish || inside)
    }

    /// Words of a row of A.
    #[inline(always)]
    fn row(&self, words: &mut [u32], values: &mut [f32], bytes: &mut [u8]) -> bool {
        let marked = self.turn(words, values);
        for (byte, word) in bytes.iter_mut().zip(words) {
            *byte = *word as u8;
        }
        marked
    }

    /// Slots of a panel, one after the other.
    #[inline(always)]
    fn slots(
        &self,
        words: &mut [u32],
        values: &mut [f32],
        bytes: &mut [u8],
        columns: usize,
    ) -> bool {
        let marked = self.turn(words, values);
        match columns / VECTORS {
            4 => join::<4>(words, bytes),
            8 => join::<8>(words, bytes),
            16 => join::<16>(words, bytes),
            _ => unreachable!("registers have 4, 8 or 16 lanes"),
        }
        marked
    }
}

/// Exponent bytes of slots of four registers with `W` lanes: byte 4·i+v is that of column v·W+i.
#[inline(always)]
fn join<const W: usize>(words: &[u32], bytes: &mut [u8]) {
    let (registers, _) = words.as_chunks::<W>();
    let (slots, _) = registers.as_chunks::<VECTORS>();
    let (bytes, _) = bytes.as_chunks_mut::<VECTORS>();
    let (bytes, _) = bytes.as_chunks_mut::<W>();
    for ([a, b, c, d], bytes) in slots.iter().zip(bytes) {
        for (i, bytes) in bytes.iter_mut().enumerate() {
            *bytes = (a[i] | b[i] << 8 | c[i] << 16 | d[i] << 24).to_le_bytes();
        }
    }
}

fast!(
    fn run_row(
        segment: &Segment<'_>,
        words: &mut [u32],
        values: &mut [f32],
        bytes: &mut [u8],
    ) -> bool = Segment::row
);
fast!(
    fn run_slots(
        segment: &Segment<'_>,
        words: &mut [u32],
        values: &mut [f32],
        bytes: &mut [u8],
        columns: usize,
    ) -> bool = Segment::slots
);

/// Packs A. Rows with marks are entered in `marks`.
pub(super) fn pack_a(
    elements: &dyn Elements,
    shape: &Shape,
    order: &Order,
    decoder: &Decoder,
    window: &Window,
    how: How,
    marks: &mut Marks,
) -> Side {
    let used = shape.a_len();
    let mut side = Side::zeros(used, room(shape), how, true);
    let segment = Segment::new(decoder, window);
    let plain = is_plain(order, shape);
    let mut rows = Rows::of(&mut side, shape, how);
    // Whole chunks that are read at once.
    let steps = (READ / (shape.chunk * shape.slots)).max(1) * shape.chunk;
    marks
        .rows
        .par_chunks_mut(shape.steps)
        .zip(rows.each())
        .for_each_init(Buffers::default, |buffers, (marks, mut own)| {
            let row = own.row();
            for (marks, first) in marks.chunks_mut(steps).zip((0..).step_by(steps)) {
                let read = |buffers: &mut Buffers| {
                    buffers.words.resize(marks.len() * shape.k, 0);
                    elements.narrow_a_row(row, first * shape.k, &mut buffers.words);
                    if !plain {
                        in_order(&buffers.words, shape.k, order, &mut buffers.ordered);
                        std::mem::swap(&mut buffers.words, &mut buffers.ordered);
                    }
                };
                read(buffers);
                let all = marks.len() * shape.slots;
                buffers.values.resize(all, 0.0);
                buffers.bytes.resize(all, 0);
                let (values, bytes) = (&mut buffers.values[..], &mut buffers.bytes[..]);
                let marked = run_row(&segment, &mut buffers.words[..all], values, bytes);
                let length = shape.chunk * shape.slots;
                let chunks = values.chunks(length).zip(bytes.chunks(length));
                for ((values, bytes), step) in chunks.zip((first..).step_by(shape.chunk)) {
                    own.put(step, values, bytes);
                }
                if marked {
                    read(buffers);
                    for (mark, words) in marks.iter_mut().zip(buffers.words.chunks(shape.slots)) {
                        *mark |= words.iter().any(|word| segment.is_marked(*word));
                    }
                }
            }
        });
    side
}

/// Slots of a row of A that are read at once, if chunks are shorter.
const READ: usize = 2048;

/// A segment of a row on its way: words, the same in the order of slots, and what becomes of them.
#[derive(Default)]
struct Buffers {
    words: Vec<u32>,
    ordered: Vec<u32>,
    values: Vec<f32>,
    bytes: Vec<u8>,
}

/// So many parts of a length, or nothing for each where there is nothing.
fn of_chunks<T>(all: &mut [T], length: usize, count: usize) -> Vec<&mut [T]> {
    if all.is_empty() {
        return (0..count).map(|_| Default::default()).collect();
    }
    all.chunks_mut(length).take(count).collect()
}

/// Rows of B that are read at once.
const ROWS: usize = 64;

/// Whether slots are the k themselves.
fn is_plain(order: &Order, shape: &Shape) -> bool {
    order.len() == shape.k && order.iter().zip(0..).all(|(k, slot)| *k == Some(slot))
}

/// The words of some steps in the order of slots.
fn in_order(words: &[u32], k: usize, order: &Order, out: &mut Vec<u32>) {
    out.clear();
    for step in words.chunks(k) {
        out.extend(order.iter().map(|k| k.map_or(0, |k| step[k])));
    }
}

/// Packs B, as [`pack_a`]. Marked columns are entered in `marks`.
pub(super) fn pack_b(
    elements: &dyn Elements,
    shape: &Shape,
    order: &Order,
    decoder: &Decoder,
    window: &Window,
    how: How,
    marks: &mut Marks,
) -> Side {
    let used = shape.b_len();
    let mut side = Side::zeros(used, room(shape) * shape.columns, how, false);
    let segment = Segment::new(decoder, window);
    let plain = is_plain(order, shape);
    let length = shape.steps * shape.slots * shape.columns;
    let panels = shape.panels();
    of_chunks(&mut side.values, length, panels)
        .into_par_iter()
        .zip(of_chunks(&mut side.exponents, length, panels))
        .zip(of_chunks(&mut side.signs, how.signs(length), panels))
        .zip(of_chunks(&mut side.wide, length, panels))
        .zip(marks.columns.par_chunks_mut(shape.steps))
        .enumerate()
        .for_each(|(panel, ((((values, bytes), signs), wide), marks))| {
            let first = panel * shape.columns;
            let columns = shape.columns.min(shape.n - first);
            let own = first..first + columns;
            let block = (ROWS / shape.k).max(1);
            let row = |k: usize| k * shape.columns..(k + 1) * shape.columns;
            // Columns beyond the last stay zeros.
            let mut read = vec![0; block * row(shape.k).start];
            let mut ordered = Vec::new();
            let mut narrow = Vec::new();
            for from in (0..shape.steps).step_by(block) {
                let steps = from..shape.steps.min(from + block);
                let ks = steps.start * shape.k..steps.end * shape.k;
                let words = &mut read[..row(ks.len()).start];
                elements.narrow_b_rows(ks.clone(), own.clone(), words, shape.columns);
                let words = if plain {
                    words
                } else {
                    ordered.clear();
                    for step in words.chunks(row(shape.k).start) {
                        for k in order {
                            match k {
                                Some(k) => ordered.extend_from_slice(&step[row(*k)]),
                                None => ordered.resize(ordered.len() + shape.columns, 0),
                            }
                        }
                    }
                    &mut ordered[..]
                };
                let all = row(steps.start * shape.slots).start..row(steps.end * shape.slots).start;
                let bytes = &mut bytes[all.clone()];
                let signs = &mut signs[how.signs(all.start)..how.signs(all.end)];
                let values = if let How::Wide(_) = how {
                    narrow.resize(all.len(), 0.0);
                    &mut narrow[..]
                } else {
                    &mut values[all.clone()]
                };
                let marked = run_slots(&segment, words, values, bytes, shape.columns);
                match how {
                    How::Plain => {}
                    How::Down(slots) => down::prepare_b(values, signs, slots, shape.columns),
                    How::Wide(slots) => {
                        wide::prepare_b(values, &mut wide[all], signs, slots, shape.columns);
                    }
                }
                if !marked {
                    continue;
                }
                let mut words = vec![0; columns];
                for (k, step) in ks.clone().zip(0..) {
                    elements.narrow_b_row(k, first, &mut words);
                    let step = steps.start + step / shape.k;
                    for (column, word) in words.iter().enumerate() {
                        marks[step] |= u64::from(segment.is_marked(*word)) << column;
                    }
                }
            }
        });
    side
}

/// Block scales that are powers of two, one for each group, as exponents shifted by 23.
#[derive(Debug, Default)]
pub(super) struct Scales {
    /// Row × groups.
    pub(super) a: Aligned<u32>,
    /// Panel × groups × columns.
    pub(super) b: Aligned<u32>,
}

/// Packs the scales of one group a step; those outside ±`limit` are marked.
pub(super) fn pack_scales(
    elements: &dyn Elements,
    shape: &Shape,
    signature: &Signature,
    limit: i32,
    marks: &mut Marks,
) -> Scales {
    let mut scales = Scales::default();
    let Some(scale) = signature.scale else {
        return scales;
    };
    let read = |word: u64| {
        let x = scale.format.decode(scale.format.from_register(word));
        let inside = x.class == Class::Finite && x.exponent.abs() <= limit;
        inside.then_some((x.exponent << 23) as u32)
    };
    scales.a = Aligned::zeros(shape.m * shape.steps + 2);
    for row in 0..shape.m {
        for step in 0..shape.steps {
            match read(elements.scale_a(row, step)) {
                Some(exponent) => scales.a[row * shape.steps + step] = exponent,
                None => marks.rows[row * shape.steps + step] = true,
            }
        }
    }
    scales.b = Aligned::zeros((shape.panels() * shape.steps + 2) * shape.columns);
    for j in 0..shape.n {
        let (panel, column) = (j / shape.columns, j % shape.columns);
        for step in 0..shape.steps {
            let at = panel * shape.steps + step;
            match read(elements.scale_b(step, j)) {
                Some(exponent) => scales.b[at * shape.columns + column] = exponent,
                None => marks.columns[at] |= 1 << column,
            }
        }
    }
    scales
}
