//! Chains in f64 over packed operands: which blocks of D run, and the micro-kernel.
//!
//! Sums are D's own words. Tiles are disjoint rectangles of D, one a task; a task reads and writes words of its own tile
//! only, and keeps no reference to a line while the micro-kernel writes through a pointer.

use std::ops::Range;

use rayon::prelude::*;

use crate::array::Stored;
use crate::cpu::Level;
use crate::cpu::block::Part;
use crate::cpu::double::{Doubles, ROWS, TILE, WIDEST, span};
use crate::cpu::lanes::{Lanes, Portable};
use crate::cpu::shared::Shared;
use crate::engine::Watch;

impl Doubles {
    /// Steps of a part of D.
    pub(in crate::cpu) fn run<W: Stored>(
        &self,
        level: Level,
        part: &Part,
        (steps, first): (Range<usize>, bool),
        accumulators: &mut [W],
        watch: &Watch<'_>,
    ) -> crate::error::Result<()> {
        assert!(level.is_there());
        // Accumulators of f64 have the words of f64: the micro-kernel reads and writes them as that. (u64 is the only type of
        // words with this size, and has f64's alignment.)
        assert!(size_of::<W>() == size_of::<f64>());
        let (rows, columns) = (&part.rows, &part.columns);
        // Tiles of blocks of rows by spans of panels.
        let tiles = rows.start / (TILE * ROWS)..rows.end.div_ceil(TILE * ROWS);
        let width = span(self.columns);
        let spans = columns.start / width..columns.end.div_ceil(width);
        let shared = Shared::new(accumulators);
        let ks = steps.start * self.step..steps.end * self.step;
        (0..tiles.len() * spans.len())
            .into_par_iter()
            .try_for_each(|index| {
                let (tile, part) = (
                    tiles.start + index / spans.len(),
                    spans.start + index % spans.len(),
                );
                let within = |part: &Range<usize>, index: usize, size: usize| {
                    part.start.max(index * size)..part.end.min((index + 1) * size)
                };
                let own_rows = within(rows, tile, TILE * ROWS);
                let own_columns = within(columns, part, width);
                let blocks = own_rows.start / ROWS..own_rows.end.div_ceil(ROWS);
                let panels =
                    own_columns.start / self.columns..own_columns.end.div_ceil(self.columns);
                let at = |row: usize, column: usize| {
                    (row - rows.start) * columns.len() + column - columns.start
                };
                let lines = || {
                    // SAFETY: the line lies in this task's tile, which no other task touches, and the iterators below end with one
                    // line before they take the next. Broken, two `&mut` to one word, or a data race.
                    let line =
                        |row| unsafe { shared.run(at(row, own_columns.start), own_columns.len()) };
                    own_rows.clone().map(line)
                };
                if first && self.no_c {
                    lines().for_each(|line| line.fill(W::stored(0)));
                } else if first && self.negate_c {
                    let negated = |word: &mut W| *word = W::stored(word.word() ^ 1 << 63);
                    lines().for_each(|line| line.iter_mut().for_each(negated));
                }
                let mut from = ks.start;
                while from < ks.end {
                    watch.check()?;
                    let end = ks.end.min(from + self.chunk);
                    for panel in panels.clone() {
                        for block in blocks.clone() {
                            let rows = within(&own_rows, block, ROWS);
                            let own = within(&own_columns, panel, self.columns);
                            let factors = self.factors(block, panel, from..end);
                            let (row, column) = (rows.start, own.start);
                            if rows.len() == ROWS && own.len() == self.columns {
                                let stride = columns.len();
                                let sums = shared.block(at(row, column), stride, ROWS, own.len());
                                // SAFETY: `block` has checked that ROWS lines of `own.len()` words lie within D; they belong to
                                // this tile, and no line is borrowed here. The level is there (asserted above).
                                unsafe { micro_at(level, factors, sums.cast(), stride, own.len()) };
                                continue;
                            }
                            // At the edges the block is larger than what is left of D.
                            let mut sums = [0.0_f64; ROWS * WIDEST];
                            let skip = (row % ROWS) * self.columns + column % self.columns;
                            let line = |row| {
                                // SAFETY: as for `lines`: within this tile, one line at a time.
                                unsafe { shared.run(at(row, column), own.len()) }
                            };
                            for (row, sums) in
                                rows.clone().zip(sums[skip..].chunks_mut(self.columns))
                            {
                                for (sum, word) in sums.iter_mut().zip(line(row).iter()) {
                                    *sum = f64::from_bits(word.word());
                                }
                            }
                            let all = sums.as_mut_ptr();
                            // SAFETY: `sums` has ROWS × WIDEST numbers, at least ROWS lines of `self.columns`; it is this
                            // task's. The level is there (asserted above).
                            unsafe { micro_at(level, factors, all, self.columns, self.columns) };
                            for (row, sums) in rows.zip(sums[skip..].chunks(self.columns)) {
                                for (sum, word) in sums.iter().zip(line(row)) {
                                    *word = W::stored(sum.to_bits());
                                }
                            }
                        }
                    }
                    from = end;
                }
                for line in lines() {
                    let is_nan = |word: &W| f64::from_bits(word.word()).is_nan();
                    if line.iter().fold(false, |any, word| any | is_nan(word)) {
                        let nan = W::stored(self.plan.nan);
                        line.iter_mut()
                            .filter(|word| is_nan(word))
                            .for_each(|word| *word = nan);
                    }
                }
                (watch.progress)((own_rows.len() * own_columns.len() * steps.len()) as u64);
                Ok(())
            })
    }

    /// A block's and a panel's packed operands of some k.
    fn factors(&self, block: usize, panel: usize, ks: Range<usize>) -> [&[f64]; 2] {
        let of = |index: usize, lanes: usize| {
            (index * self.k + ks.start) * lanes..(index * self.k + ks.end) * lanes
        };
        [&self.a[of(block, ROWS)], &self.b[of(panel, self.columns)]]
    }
}

/// One block of rows by one panel: so many columns, rows so many numbers apart.
///
/// # Safety
/// The level is there; the block of sums is there, and nobody else's.
unsafe fn micro_at(
    level: Level,
    [a, b]: [&[f64]; 2],
    sums: *mut f64,
    stride: usize,
    columns: usize,
) {
    assert!(columns <= WIDEST && stride >= columns);
    assert!(a.len() / ROWS * columns == b.len());
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => {
            #[target_feature(enable = "avx2,fma,f16c")]
            unsafe fn enter(a: &[f64], b: &[f64], sums: *mut f64, stride: usize) {
                // SAFETY: this function has AVX2 and FMA.
                unsafe { micro::<crate::cpu::lanes::Avx2>(a, b, sums, stride) }
            }
            // SAFETY: the caller promises the level, whose features these are; lengths were asserted above, the sums are the
            // caller's promise.
            unsafe { enter(a, b, sums, stride) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Vnni => {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
            unsafe fn enter(a: &[f64], b: &[f64], sums: *mut f64, stride: usize) {
                // SAFETY: this function has AVX-512 F, BW, DQ and VL.
                unsafe { micro::<crate::cpu::lanes::Avx512>(a, b, sums, stride) }
            }
            // SAFETY: the caller promises the level, whose features these are; lengths were asserted above, the sums are the
            // caller's promise.
            unsafe { enter(a, b, sums, stride) }
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: NEON is part of every aarch64; the rest as above.
        Level::Neon => unsafe { micro::<crate::cpu::lanes::Neon>(a, b, sums, stride) },
        // SAFETY: plain Rust asks for no instructions; the rest as above.
        _ => unsafe { micro::<Portable>(a, b, sums, stride) },
    }
}

/// # Safety
/// The instruction set of `V`; the sums as for `micro_at`.
#[inline(always)]
unsafe fn micro<V: Lanes>(a: &[f64], b: &[f64], sums: *mut f64, stride: usize) {
    const { assert!(V::DOUBLES == 2 || V::DOUBLES == 4) };
    let (width, columns) = (V::WIDTH / 2, V::DOUBLES * V::WIDTH / 2);
    let ks = a.len() / ROWS;
    assert!(b.len() == ks * columns);
    // SAFETY: the caller has the instruction set. `a` has ROWS numbers and `b` `columns` numbers for each of `ks` (asserted), and
    // the loop goes on by so many; sums are read and written at `row · stride + v · width`, within the block that
    // the caller promises. The prefetched addresses are computed by `wrapping_add` and never read.
    unsafe {
        let at = |row: usize, v: usize| row * stride + v * width;
        let load = |from: *const f64| V::d_load(from);
        // (The compiler leaves out the registers that are not used.)
        let zero = V::splat(0);
        let mut c = [[zero; 4]; ROWS];
        for (row, c) in c.iter_mut().enumerate() {
            for (v, c) in c[..V::DOUBLES].iter_mut().enumerate() {
                *c = load(sums.add(at(row, v)));
            }
        }
        // (The next block of rows: its sums would be waited for, since they come before all products.)
        let below = sums.wrapping_add(ROWS * stride);
        for row in 0..ROWS {
            for line in (0..columns).step_by(LINE) {
                ahead(below.wrapping_add(row * stride + line));
            }
            ahead(below.wrapping_add(row * stride + columns - 1));
        }
        let (mut a, mut b) = (a.as_ptr(), b.as_ptr());
        for _ in 0..ks {
            let (b0, b1) = (load(b), load(b.add(width)));
            let (mut b2, mut b3) = (zero, zero);
            if V::DOUBLES == 4 {
                (b2, b3) = (load(b.add(2 * width)), load(b.add(3 * width)));
            }
            // Written out: as a loop it is rolled up again.
            macro_rules! row {
                ($row:expr) => {
                    let value = V::d_splat(*a.add($row));
                    c[$row][0] = value.d_fma(b0, c[$row][0]);
                    c[$row][1] = value.d_fma(b1, c[$row][1]);
                    if V::DOUBLES == 4 {
                        c[$row][2] = value.d_fma(b2, c[$row][2]);
                        c[$row][3] = value.d_fma(b3, c[$row][3]);
                    }
                };
            }
            row!(0);
            row!(1);
            row!(2);
            row!(3);
            row!(4);
            row!(5);
            a = a.add(ROWS);
            b = b.add(columns);
        }
        for (row, c) in c.iter().enumerate() {
            for (v, c) in c[..V::DOUBLES].iter().enumerate() {
                c.d_store(sums.add(at(row, v)));
            }
        }
    }
}

/// Doubles of a line of memory.
const LINE: usize = 8;

/// Asks for a line of memory, which may be nobody's.
#[inline(always)]
fn ahead(at: *const f64) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, whatever the address; SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
