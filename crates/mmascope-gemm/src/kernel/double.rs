//! Chains of fused multiply-adds in f64 (§2.1): a plain matrix product whose every output takes its
//! products in ascending k. f64 lanes round as the unit does; ∞ and NaN come out right, so there is
//! nothing to mark and nothing to route.

use std::ops::Range;

use rayon::prelude::*;

use super::Level;
use super::aligned::Aligned;
use super::block::Part;
use super::lanes::{Lanes, Portable};
use super::pack::Elements;
use super::pairs::Ways;
use super::shared::Shared;
use crate::array::Stored;
use crate::dpa::{Dpa, Modifiers, Nan, Operation, Reading, Select, Start, Unit, ZeroSign};

use crate::format::{F64, Overflow, Rounding};
use crate::gemm::Watch;

/// Rows of a micro-kernel. Of columns it has [`Lanes::DOUBLES`] registers. Where registers are sixteen, two: twelve
/// accumulators, two columns' registers, and two for broadcasts, of which one alone would do; with three columns'
/// registers one accumulator goes through memory, and the loop takes twice as long.
const ROWS: usize = 6;
/// Numbers of a panel's chunk of k: 16 KiB, which lie in the first cache beside the rows that pass them.
const CHUNK: usize = 2048;
/// The most k of a chunk: a block of rows has 12 KiB then. (Where the second cache feeds panels.)
const LONG_CHUNK: usize = 256;
/// Blocks of rows of a tile, whose chunk lies in the second cache with its part of D.
const TILE: usize = 16;
/// Columns of B that are packed together: whole panels.
const TOGETHER: usize = 128;
/// Columns of the widest panel.
const WIDEST: usize = 32;

/// Columns that a tile meets there: whole panels. Processors with the widest registers have the larger caches.
fn span(panel: usize) -> usize {
    if panel == WIDEST { 480 } else { 240 }
}

/// Rows and columns with those that fill up blocks and panels of so many columns.
pub(super) fn filled(rows: usize, columns: usize, panel: usize) -> [usize; 2] {
    [rows.next_multiple_of(ROWS), columns.next_multiple_of(panel)]
}

/// What the kernel needs to know of a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    nan: u64,
}

impl Plan {
    /// `None` unless there are f64 operands; then why it is not one chain to nearest even.
    pub(crate) fn new(unit: &Unit) -> Option<Result<Self, String>> {
        let signature = unit.signature();
        if signature.a != F64 && signature.b != F64 {
            return None;
        }
        let [statement] = unit.program().statements.as_slice() else {
            return Some(Err("f64 among several statements".to_owned()));
        };
        let is_chain = matches!(
            &statement.operation,
            Operation::Dot {
                algorithm: Dpa::FmaChain(_),
                operands: Reading::WHOLE,
                over: Select::All,
                from: Start::C,
            }
        );
        let formats = [signature.a, signature.b, signature.c, signature.d];
        let output = &statement.output;
        let fits = is_chain
            && formats.iter().all(|format| *format == F64)
            && output.rounding == Rounding::Rne
            && output.overflow == Overflow::Ieee
            && output.flush.is_none()
            && output.zero == ZeroSign::Ieee;
        Some(if fits {
            Ok(Self {
                nan: match output.nan {
                    Nan::Word(word) => word,
                    Nan::Any => F64.nan_or_substitute(),
                },
            })
        } else {
            let rounding = output.rounding;
            Err(format!(
                "f64 other than one chain to nearest even (here {rounding})"
            ))
        })
    }
}

/// Packed operands: A by blocks of rows, B by panels, k after k.
#[derive(Debug)]
pub(super) struct Doubles {
    plan: Plan,
    k: usize,
    /// k of a step.
    step: usize,
    columns: usize,
    /// k of a chunk.
    chunk: usize,
    a: Aligned<f64>,
    b: Aligned<f64>,
    negate_c: bool,
    no_c: bool,
}

impl Doubles {
    /// Panels have so many columns. `None` when c is scaled, which f64 lanes do not show.
    pub(super) fn pack(
        plan: Plan,
        unit: &Unit,
        elements: &dyn Elements,
        modifiers: &Modifiers,
        columns: usize,
        ways: Ways,
    ) -> Option<Self> {
        if modifiers.scale_d != 0 {
            return None;
        }
        let (m, n, k) = (elements.m(), elements.n(), elements.k());
        let mut a = Aligned::zeros(m.div_ceil(ROWS) * ROWS * k);
        a.par_chunks_mut(ROWS * k)
            .enumerate()
            .for_each(|(block, out)| {
                let mut words = vec![0; ROWS * k];
                for (row, words) in words.chunks_mut(k).enumerate().take(m - block * ROWS) {
                    elements.a_row(block * ROWS + row, 0, words);
                }
                let sign = u64::from(modifiers.negate_a) << 63;
                let mut rows = words.chunks_exact(k);
                let rows: [_; ROWS] = std::array::from_fn(|_| rows.next().unwrap_or(&[]));
                let [r0, r1, r2, r3, r4, r5] = rows.map(|row| row.iter().map(|word| word ^ sign));
                let all = r0.zip(r1).zip(r2.zip(r3)).zip(r4.zip(r5));
                let (blocks, _) = out.as_chunks_mut::<ROWS>();
                for (out, (((w0, w1), (w2, w3)), (w4, w5))) in blocks.iter_mut().zip(all) {
                    *out = [w0, w1, w2, w3, w4, w5].map(f64::from_bits);
                }
            });
        assert!(TOGETHER.is_multiple_of(columns) && span(columns).is_multiple_of(columns));
        let mut b = Aligned::zeros(n.div_ceil(columns) * columns * k);
        b.par_chunks_mut(TOGETHER * k)
            .enumerate()
            .for_each(|(index, out)| {
                let first = index * TOGETHER;
                let sign = u64::from(modifiers.negate_b) << 63;
                let mut words = vec![0; TOGETHER.min(n - first)];
                for at in 0..k {
                    elements.b_row(at, first, &mut words);
                    for (panel, words) in words.chunks(columns).enumerate() {
                        let out = &mut out[(panel * k + at) * columns..][..words.len()];
                        for (out, word) in out.iter_mut().zip(words) {
                            *out = f64::from_bits(word ^ sign);
                        }
                    }
                }
            });
        Some(Self {
            plan,
            k,
            step: unit.signature().k,
            columns,
            chunk: if ways.four_pipes {
                LONG_CHUNK
            } else {
                CHUNK / columns
            },
            a,
            b,
            negate_c: modifiers.negate_c,
            no_c: modifiers.no_c,
        })
    }

    /// Steps of a part of D.
    pub(super) fn run<W: Stored>(
        &self,
        level: Level,
        part: &Part,
        (steps, first): (Range<usize>, bool),
        accumulators: &mut [W],
        watch: &Watch<'_>,
    ) -> crate::error::Result<()> {
        assert!(level.is_there());
        // Accumulators of f64 have the words of f64; that they are summed in place relies on it.
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
                    // SAFETY: each output belongs to one tile, and nobody keeps a line.
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
                                // SAFETY: the block belongs to this tile; the level is there.
                                unsafe { micro_at(level, factors, sums.cast(), stride, own.len()) };
                                continue;
                            }
                            // At the edges the block is larger than what is left of D.
                            let mut sums = [0.0_f64; ROWS * WIDEST];
                            let skip = (row % ROWS) * self.columns + column % self.columns;
                            let line = |row| {
                                // SAFETY: as above.
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
                            // SAFETY: there is room for whole blocks; the level is there.
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
                unsafe { micro::<super::lanes::Avx2>(a, b, sums, stride) }
            }
            // SAFETY: the level is there.
            unsafe { enter(a, b, sums, stride) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Vnni => {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
            unsafe fn enter(a: &[f64], b: &[f64], sums: *mut f64, stride: usize) {
                // SAFETY: this function has AVX-512 F, BW, DQ and VL.
                unsafe { micro::<super::lanes::Avx512>(a, b, sums, stride) }
            }
            // SAFETY: the level is there.
            unsafe { enter(a, b, sums, stride) }
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the level is there.
        Level::Neon => unsafe { micro::<super::lanes::Neon>(a, b, sums, stride) },
        // SAFETY: plain Rust.
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
    // SAFETY: lengths were checked; the caller has the instruction set.
    unsafe {
        let at = |row: usize, v: usize| row * stride + v * width;
        let load = |from: *const f64| V::load(from.cast());
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
                c.store(sums.add(at(row, v)).cast());
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
