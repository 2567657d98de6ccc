//! The kernel for chains of fused multiply-adds in f64 (§2.1): a plain matrix product whose every output takes its
//! products in ascending k. f64 lanes round as the unit does; ∞ and NaN come out right, so there is
//! nothing to mark and nothing to route.

use rayon::prelude::*;

use super::aligned::Aligned;
use super::ways::Ways;
use crate::dpa::{Dpa, Modifiers, Nan, Operation, Reading, Select, Start, Unit, ZeroSign};
use crate::engine::Elements;
use crate::format::{F64, Overflow, Rounding};

/// Rows of a micro-kernel. Of columns it has [`Lanes::DOUBLES`] registers. Where registers are sixteen, two: twelve
/// accumulators, two columns' registers, and two for broadcasts, of which one alone would do; with three columns'
/// registers one accumulator goes through memory, and the loop takes twice as long.
pub(super) const ROWS: usize = 6;
/// Numbers of a panel's chunk of k: 16 KiB, which lie in the first cache beside the rows that pass them.
const CHUNK: usize = 2048;
/// The most k of a chunk: a block of rows has 12 KiB then. (Where the second cache feeds panels.)
const LONG_CHUNK: usize = 256;
/// Blocks of rows of a tile, whose chunk lies in the second cache with its part of D.
pub(super) const TILE: usize = 16;
/// Columns of B that are packed together: whole panels.
const TOGETHER: usize = 128;
/// Columns of the widest panel.
pub(super) const WIDEST: usize = 32;

/// Columns that a tile meets there: whole panels. Processors with the widest registers have the larger caches.
pub(super) fn span(panel: usize) -> usize {
    if panel == WIDEST { 480 } else { 240 }
}

/// Rows and columns with those that fill up blocks and panels of so many columns.
pub(super) fn filled(rows: usize, columns: usize, panel: usize) -> [usize; 2] {
    [rows.next_multiple_of(ROWS), columns.next_multiple_of(panel)]
}

/// What the kernel needs to know of a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) nan: u64,
}

impl Plan {
    /// `None` unless there are f64 operands; then why it is not one chain to nearest even.
    pub(super) fn new(unit: &Unit) -> Option<Result<Self, String>> {
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
                    Nan::Word(word) | Nan::Operand(word) => word,
                    Nan::Any | Nan::Own => F64.nan_or_substitute(),
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
    pub(super) plan: Plan,
    pub(super) k: usize,
    /// k of a step.
    pub(super) step: usize,
    pub(super) columns: usize,
    /// k of a chunk.
    pub(super) chunk: usize,
    pub(super) a: Aligned<f64>,
    pub(super) b: Aligned<f64>,
    pub(super) negate_c: bool,
    pub(super) no_c: bool,
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
}
