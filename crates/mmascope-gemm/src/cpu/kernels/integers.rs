//! Sums of integers over packed operands: which blocks of D run, and the micro-kernel.
//!
//! Sums are D's own words, as in `double.rs`: tiles are disjoint rectangles of D, one a task; a task reads and writes words of its own
//! tile only, and keeps no reference to a line while the micro-kernel writes through a pointer.

use std::ops::Range;

use rayon::prelude::*;

use crate::array::Stored;
use crate::cpu::Level;
use crate::cpu::block::Part;
use crate::cpu::integers::{Integers, ROWS, SPAN, Saturates, TILE, WIDEST};
use crate::cpu::lanes::pairs::{Pairs, Plain, products};
use crate::cpu::shared::Shared;
use crate::engine::Watch;

/// Registers of a micro-kernel's row, at most.
const REGISTERS: usize = 4;

impl Integers {
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
        // Accumulators have the words of u32 (the only type of words with this size).
        assert!(size_of::<W>() == size_of::<u32>());
        let (rows, columns) = (&part.rows, &part.columns);
        let tiles = rows.start / (TILE * ROWS)..rows.end.div_ceil(TILE * ROWS);
        let spans = columns.start / SPAN..columns.end.div_ceil(SPAN);
        let shared = Shared::new(accumulators);
        let ks = steps.start * self.step..steps.end * self.step;
        (0..tiles.len() * spans.len())
            .into_par_iter()
            .try_for_each(|index| {
                let (tile, span) = (
                    tiles.start + index / spans.len(),
                    spans.start + index % spans.len(),
                );
                let within = |part: &Range<usize>, index: usize, size: usize| {
                    part.start.max(index * size)..part.end.min((index + 1) * size)
                };
                let own_rows = within(rows, tile, TILE * ROWS);
                let own_columns = within(columns, span, SPAN);
                let at = |row: usize, column: usize| {
                    (row - rows.start) * columns.len() + column - columns.start
                };
                let line = |row: usize| {
                    // SAFETY: the line lies in this task's tile, which no other task touches, and callers end with one line before
                    // they take the next. Broken, two `&mut` to one word, or a data race.
                    unsafe { shared.run(at(row, own_columns.start), own_columns.len()) }
                };
                if first && self.no_c {
                    own_rows
                        .clone()
                        .for_each(|row| line(row).fill(W::stored(0)));
                }
                let mut from = ks.start;
                while from < ks.end {
                    watch.check()?;
                    let end = ks.end.min(from + self.chunk);
                    let chunk = from..end;
                    from = end;
                    let reach = self.largest * chunk.len() as i64;
                    let saturates = self.saturates.filter(|saturates| {
                        // Sums that stay between the ends saturate nowhere.
                        let [least, most] = saturates.ends;
                        let leaves = |word: &W| {
                            let number = saturates.number(word.word());
                            number - reach < least || number + reach > most
                        };
                        own_rows.clone().any(|row| line(row).iter().any(leaves))
                    });
                    if let Some(saturates) = saturates {
                        for row in own_rows.clone() {
                            for (column, word) in own_columns.clone().zip(line(row)) {
                                let sum = saturates.number(word.word());
                                let sum = self.saturated(&saturates, sum, [row, column], &chunk);
                                *word = W::stored((sum as u32).into());
                            }
                        }
                        continue;
                    }
                    let blocks = own_rows.start / ROWS..own_rows.end.div_ceil(ROWS);
                    let panels =
                        own_columns.start / self.columns..own_columns.end.div_ceil(self.columns);
                    for panel in panels {
                        for block in blocks.clone() {
                            let rows = within(&own_rows, block, ROWS);
                            let own = within(&own_columns, panel, self.columns);
                            let factors = self.factors(block, panel, &chunk);
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
                            let mut sums = [0_u32; ROWS * WIDEST];
                            let skip = (row % ROWS) * self.columns + column % self.columns;
                            let line = |row| {
                                // SAFETY: as for `line` above: within this tile, one line at a time.
                                unsafe { shared.run(at(row, column), own.len()) }
                            };
                            for (row, sums) in
                                rows.clone().zip(sums[skip..].chunks_mut(self.columns))
                            {
                                for (sum, word) in sums.iter_mut().zip(line(row).iter()) {
                                    *sum = word.word() as u32;
                                }
                            }
                            let all = sums.as_mut_ptr();
                            // SAFETY: `sums` has ROWS × WIDEST words, at least ROWS lines of `self.columns`; it is this task's.
                            // The level is there (asserted above).
                            unsafe { micro_at(level, factors, all, self.columns, self.columns) };
                            for (row, sums) in rows.zip(sums[skip..].chunks(self.columns)) {
                                for (sum, word) in sums.iter().zip(line(row)) {
                                    *word = W::stored((*sum).into());
                                }
                            }
                        }
                    }
                }
                (watch.progress)((own_rows.len() * own_columns.len() * steps.len()) as u64);
                Ok(())
            })
    }

    /// A sum that saturates after every block.
    fn saturated(
        &self,
        saturates: &Saturates,
        c: i64,
        [row, column]: [usize; 2],
        ks: &Range<usize>,
    ) -> i64 {
        let [least, most] = saturates.ends;
        let mut sum = c;
        for k in ks.clone() {
            let both = products(self.pair_of_a(row, k / 2), self.pair_of_b(column, k / 2));
            sum += i64::from(both[k % 2]);
            if (k + 1) % saturates.block == 0 {
                sum = sum.clamp(least, most);
            }
        }
        sum
    }

    /// A block's and a panel's packed operands of some k.
    fn factors(&self, block: usize, panel: usize, ks: &Range<usize>) -> [&[u32]; 2] {
        let (pairs, first, end) = (self.k / 2, ks.start / 2, ks.end / 2);
        let of = |index: usize, lanes: usize| {
            (index * pairs + first) * lanes..(index * pairs + end) * lanes
        };
        [&self.a[of(block, ROWS)], &self.b[of(panel, self.columns)]]
    }
}

/// One block of rows by one panel: so many columns, rows so many words apart.
///
/// # Safety
/// The level is there; the block of sums is there, and nobody else's.
unsafe fn micro_at(
    level: Level,
    [a, b]: [&[u32]; 2],
    sums: *mut u32,
    stride: usize,
    columns: usize,
) {
    assert!(columns <= WIDEST && stride >= columns);
    assert!(a.len() / ROWS * columns == b.len());
    #[cfg(target_arch = "x86_64")]
    macro_rules! enter {
        ($features:literal, $lanes:ident, $registers:literal) => {{
            #[target_feature(enable = $features)]
            unsafe fn enter(a: &[u32], b: &[u32], sums: *mut u32, stride: usize) {
                // SAFETY: this function has the features that the operations of this register type ask for; the sums are the caller's
                // promise.
                unsafe { micro::<crate::cpu::lanes::pairs::$lanes, $registers>(a, b, sums, stride) }
            }
            // SAFETY: the caller promises the level, whose features these are; lengths were asserted above, the sums are the
            // caller's promise.
            unsafe { enter(a, b, sums, stride) }
        }};
    }
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => enter!("avx2,fma,f16c", Avx2, 2),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => enter!(
            "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c",
            Avx512,
            4
        ),
        #[cfg(target_arch = "x86_64")]
        Level::Vnni => enter!(
            "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c",
            Vnni,
            4
        ),
        // SAFETY: plain Rust asks for no instructions; the rest as above.
        _ => unsafe { micro::<Plain, 2>(a, b, sums, stride) },
    }
}

/// # Safety
/// The instruction set of `V`; the sums as for `micro_at`.
#[inline(always)]
unsafe fn micro<V: Pairs, const N: usize>(a: &[u32], b: &[u32], sums: *mut u32, stride: usize) {
    const { assert!(N <= REGISTERS && N * V::WIDTH <= WIDEST) };
    let columns = N * V::WIDTH;
    let pairs = a.len() / ROWS;
    assert!(b.len() == pairs * columns);
    // SAFETY: the caller has the instruction set. `a` has ROWS words and `b` `columns` words for each of `pairs` (asserted), and the
    // loop goes on by so many; sums are read and written at `row · stride + v · width`, within the block that the caller
    // promises.
    unsafe {
        let mut c = [[V::zero(); N]; ROWS];
        let (mut a, mut b) = (a.as_ptr(), b.as_ptr());
        for _ in 0..pairs {
            let mut of_b = [V::zero(); N];
            for (v, of_b) in of_b.iter_mut().enumerate() {
                *of_b = V::load(b.add(v * V::WIDTH));
            }
            // Written out: as a loop it is rolled up again.
            macro_rules! row {
                ($row:expr) => {
                    let value = V::splat(*a.add($row));
                    for v in 0..N {
                        c[$row][v] = c[$row][v].plus_products(value, of_b[v]);
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
            for (v, c) in c.iter().enumerate() {
                let at = sums.add(row * stride + v * V::WIDTH);
                V::load(at).plus(*c).store(at);
            }
        }
    }
}
