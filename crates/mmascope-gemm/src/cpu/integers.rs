//! The kernel for sums of integers: exact products of at most 8 bits in 16-bit lanes, sums modulo 2^32, which are those of
//! units that wrap. Where a unit saturates, chunks whose sums cannot reach the ends are the same; others take their
//! blocks one by one.

use rayon::prelude::*;

use super::Level;
use super::aligned::Aligned;
use crate::dpa::{Beyond, IntPair, Modifiers, Unit};
use crate::engine::Elements;
use crate::format::{Format, Kind};

/// Rows of a micro-kernel.
pub(super) const ROWS: usize = 6;
/// Blocks of rows of a tile.
pub(super) const TILE: usize = 16;
/// k of a chunk, about.
const CHUNK: usize = 256;
/// Columns of the widest panel.
pub(super) const WIDEST: usize = 64;

/// Columns of a panel.
pub(super) fn panel(level: Level) -> usize {
    match level {
        Level::Avx512 | Level::Vnni => WIDEST,
        _ => 16,
    }
}

/// Columns that a tile meets there: whole panels.
pub(super) const SPAN: usize = 256;

/// What the kernel needs to know of a unit.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    a: Format,
    b: Format,
    /// Where sums saturate; `None` where they wrap.
    saturates: Option<Saturates>,
}

/// How sums saturate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saturates {
    /// Products after which they do.
    pub(super) block: usize,
    /// The least and the largest number of the accumulator.
    pub(super) ends: [i64; 2],
}

impl Saturates {
    /// The number of an accumulator's word.
    pub(super) fn number(&self, word: u64) -> i64 {
        match self.ends[0] {
            0 => i64::from(word as u32),
            _ => i64::from(word as u32 as i32),
        }
    }
}

impl Plan {
    /// `None` unless operands are integers; then why there is no kernel for them.
    pub(super) fn new(unit: &Unit) -> Option<Result<Self, String>> {
        let signature = unit.signature();
        let is_integer = |format: &Format| format.float().is_none();
        if !is_integer(&signature.a) && !is_integer(&signature.b) {
            return None;
        }
        Some(Self::of_integers(unit))
    }

    fn of_integers(unit: &Unit) -> Result<Self, String> {
        let signature = unit.signature();
        let Some(dot) = unit.program().integer_sum() else {
            return Err("integers in another sum than one of all products and c".to_owned());
        };
        for (name, format) in [("A", signature.a), ("B", signature.b)] {
            if format.kind != (Kind::Fixed { scale: 0 }) || format.bits > 8 {
                return Err(format!(
                    "operands in {format} ({name}): integers of more than 8 bits"
                ));
            }
        }
        if dot.pair != IntPair::Product {
            return Err("bits that differ in place of products".to_owned());
        }
        if signature.d.bits != 32 || signature.c != signature.d || signature.scale.is_some() {
            return Err(format!("integer accumulators in {}", signature.d));
        }
        if !signature.k.is_multiple_of(2) {
            return Err("an odd number of integer products".to_owned());
        }
        let saturates = match dot.beyond {
            Beyond::Wraps => None,
            Beyond::Saturates => {
                let block = (dot.l as usize).min(signature.k);
                if !signature.k.is_multiple_of(block) {
                    return Err("a last block of integer products that is shorter".to_owned());
                }
                let ends = match signature.d.signed {
                    true => [i32::MIN.into(), i32::MAX.into()],
                    false => [0, u32::MAX.into()],
                };
                Some(Saturates { block, ends })
            }
        };
        Ok(Self {
            a: signature.a,
            b: signature.b,
            saturates,
        })
    }
}

/// The number of every code of at most 8 bits.
struct Numbers([i16; 256]);

impl Numbers {
    fn of(format: &Format) -> Self {
        let number = |code: usize| {
            let value = format.decode(code as u64 & format.mask());
            let magnitude = value.significand as i16;
            if value.negative {
                -magnitude
            } else {
                magnitude
            }
        };
        Self(std::array::from_fn(number))
    }

    fn largest(&self) -> i64 {
        let magnitudes = self.0.iter().map(|number| i64::from(number.unsigned_abs()));
        magnitudes.max().unwrap_or(0)
    }

    fn at(&self, word: u32) -> u32 {
        u32::from(self.0[word as usize & 255] as u16)
    }
}

/// Packed operands: A by blocks of rows, B by panels; pairs of k, one after the other, in a word.
#[derive(Debug)]
pub(super) struct Integers {
    pub(super) k: usize,
    /// k of a step.
    pub(super) step: usize,
    /// Columns of a panel.
    pub(super) columns: usize,
    /// k of a chunk: whole blocks that saturate.
    pub(super) chunk: usize,
    /// Where sums saturate.
    pub(super) saturates: Option<Saturates>,
    /// The largest magnitude of a product.
    pub(super) largest: i64,
    pub(super) a: Aligned<u32>,
    pub(super) b: Aligned<u32>,
    pub(super) no_c: bool,
}

impl Integers {
    /// `None` where modifiers change numbers, which this kernel does not do.
    pub(super) fn pack(
        plan: &Plan,
        unit: &Unit,
        elements: &dyn Elements,
        modifiers: &Modifiers,
        columns: usize,
    ) -> Option<Self> {
        let plain = Modifiers {
            no_c: modifiers.no_c,
            ..Modifiers::default()
        };
        if *modifiers != plain {
            return None;
        }
        let (m, n, k) = (elements.m(), elements.n(), elements.k());
        let (of_a, of_b) = (Numbers::of(&plan.a), Numbers::of(&plan.b));
        let pairs = k / 2;
        let mut a = Aligned::zeros(m.div_ceil(ROWS) * ROWS * pairs);
        a.par_chunks_mut(ROWS * pairs)
            .enumerate()
            .for_each(|(block, out)| {
                let mut words = vec![0_u32; k];
                for row in 0..ROWS.min(m - block * ROWS) {
                    elements.narrow_a_row(block * ROWS + row, 0, &mut words);
                    let (both, _) = words.as_chunks::<2>();
                    for (out, [low, high]) in out[row..].iter_mut().step_by(ROWS).zip(both) {
                        *out = of_a.at(*low) | of_a.at(*high) << 16;
                    }
                }
            });
        let mut b = Aligned::zeros(n.div_ceil(columns) * columns * pairs);
        b.par_chunks_mut(columns * pairs)
            .enumerate()
            .for_each(|(panel, out)| {
                let first = panel * columns;
                let own = columns.min(n - first);
                let mut words = [vec![0_u32; own], vec![0_u32; own]];
                for (pair, out) in out.chunks_mut(columns).enumerate() {
                    for (at, words) in words.iter_mut().enumerate() {
                        elements.narrow_b_row(2 * pair + at, first, words);
                    }
                    let [low, high] = &words;
                    for (out, (low, high)) in out.iter_mut().zip(low.iter().zip(high)) {
                        *out = of_b.at(*low) | of_b.at(*high) << 16;
                    }
                }
            });
        let step = unit.signature().k;
        // Pairs of k, and whole blocks.
        let whole = match plan.saturates.map(|it| it.block) {
            None => 2,
            Some(block) if block % 2 == 0 => block,
            Some(block) => 2 * block,
        };
        Some(Self {
            k,
            step,
            columns,
            chunk: (CHUNK / whole).max(1) * whole,
            saturates: plan.saturates,
            largest: of_a.largest() * of_b.largest(),
            a,
            b,
            no_c: modifiers.no_c,
        })
    }

    /// Column `column` of pairs `pair` of B, or row `row` of A.
    pub(super) fn pair_of_a(&self, row: usize, pair: usize) -> u32 {
        self.a[(row / ROWS * (self.k / 2) + pair) * ROWS + row % ROWS]
    }

    pub(super) fn pair_of_b(&self, column: usize, pair: usize) -> u32 {
        self.b[(column / self.columns * (self.k / 2) + pair) * self.columns + column % self.columns]
    }
}
