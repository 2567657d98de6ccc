//! Operands of sums of groups on rounded grids, packed, and the steps over them.
#![allow(clippy::needless_range_loop)] // lanes of several registers, side by side

use std::ops::Range;

use rayon::prelude::*;

use super::state::{State, left, right};
use super::{GROUP_BITS, Halves, Lanes, MOST_ORDERS, Plan, WIDTH, ZERO, nominal};
use crate::array::Stored;
use crate::cpu::enter;
use crate::cpu::level::Level;
use crate::dpa::{Modifiers, TakenBits};
use crate::engine::{Elements, Steps, Watch};
use crate::error::Result;
use crate::format::Format;

/// Rows of D that one task computes.
const ROWS: usize = 4;
/// A product is gone when it is moved so far to the right.
const FAR: i16 = 14;

/// Operands by exponents and parts.
#[derive(Debug)]
pub(in crate::cpu) struct Packed {
    plan: Plan,
    /// By row, then by k.
    a: Side,
    /// By panel of [`WIDTH`] columns, then by k.
    b: Side,
    /// k of all steps.
    k: usize,
    columns: usize,
}

/// One operand.
#[derive(Debug, Default)]
struct Side {
    exponents: Vec<i16>,
    /// 0, or −1 (all bits) for a negative number.
    signs: Vec<i16>,
    /// Magnitudes, doubled for A; the products are multiples of 2^(exponent − 10).
    parts: Vec<Vec<i16>>,
}

/// A code's exponent and signed significand; [`ZERO`] and 0 where its exponent field is 0.
fn number(format: &Format, word: u32) -> (i32, i32) {
    let Some(float) = format.float() else {
        return (ZERO, 0);
    };
    let code = format.from_register(word.into()) as u32;
    let field = code >> float.fraction_bits & ((1 << float.exponent_bits) - 1);
    if field == 0 {
        return (ZERO, 0);
    }
    let hidden = 1 << float.fraction_bits;
    let significand = (code & (hidden - 1) | hidden) as i32;
    let negative = code >> (float.fraction_bits + float.exponent_bits) & 1 == 1;
    let signed = if negative { -significand } else { significand };
    (field as i32 - float.bias, signed)
}

/// The magnitude of the part of a signed significand, moved up by so many places.
fn part_of(signed: i32, part: TakenBits, fraction_bits: u32, up: u32) -> i16 {
    let magnitude = signed.unsigned_abs();
    let last = part.last.unwrap_or(fraction_bits).min(fraction_bits);
    if last < part.first {
        return 0;
    }
    let mask = (1_u32 << (last - part.first + 1)) - 1;
    ((magnitude >> (fraction_bits - last) & mask) << up) as i16
}

/// Steps of one row and panel.
struct Work<'a> {
    packed: &'a Packed,
    row: usize,
    panel: usize,
    steps: std::ops::Range<usize>,
    c: &'a [u32; WIDTH],
}

impl enter::Work for Work<'_> {
    type Result = [u32; WIDTH];

    #[inline(always)]
    fn run(self) -> Self::Result {
        self.packed.lanes(self.row, self.panel, self.steps, self.c)
    }
}

impl Packed {
    /// `None` for modifiers that only the reference has.
    pub(in crate::cpu) fn new(
        plan: &Plan,
        elements: &dyn Elements,
        modifiers: &Modifiers,
    ) -> Option<Self> {
        if *modifiers != Modifiers::default() {
            return None;
        }
        let (m, n, k) = (elements.m(), elements.n(), elements.k());
        let panels = n.div_ceil(WIDTH);
        let fraction_bits = |side: usize| {
            plan.operands[side]
                .float()
                .map_or(0, |float| float.fraction_bits)
        };
        // Products of every pair of parts have the same places: each side has its share of them.
        let widest = |side: usize| {
            let parts = plan.parts[side].iter();
            let places = parts.map(|part| nominal(*part, fraction_bits(side)));
            places.max().unwrap_or(0)
        };
        let shares = [GROUP_BITS - widest(1), widest(1)];
        let side = |side: usize, count: usize, words: &dyn Fn(&mut [u32])| {
            let mut raw = vec![0; count];
            words(&mut raw);
            let format = &plan.operands[side];
            let numbers: Vec<(i32, i32)> =
                raw.par_iter().map(|word| number(format, *word)).collect();
            let parts = plan.parts[side].iter().map(|part| {
                let bits = fraction_bits(side);
                let up = shares[side] - nominal(*part, bits) + u32::from(side == 0);
                let of = |(_, signed): &(i32, i32)| part_of(*signed, *part, bits, up);
                numbers.par_iter().map(of).collect::<Vec<i16>>()
            });
            Side {
                parts: parts.collect(),
                signs: numbers
                    .par_iter()
                    .map(|(_, signed)| -i16::from(*signed < 0))
                    .collect(),
                exponents: numbers
                    .par_iter()
                    .map(|(exponent, _)| *exponent as i16)
                    .collect(),
            }
        };
        let a = side(0, m * k, &|words| {
            words
                .par_chunks_mut(k.max(1))
                .enumerate()
                .for_each(|(i, row)| elements.narrow_a_row(i, 0, row));
        });
        let b = side(1, panels * k * WIDTH, &|words| {
            let panel = (k * WIDTH).max(1);
            words
                .par_chunks_mut(panel)
                .enumerate()
                .for_each(|(index, words)| {
                    let columns = index * WIDTH..n.min((index + 1) * WIDTH);
                    elements.narrow_b_rows(0..k, columns, words, WIDTH);
                });
        });
        Some(Self {
            plan: plan.clone(),
            a,
            b,
            k,
            columns: n,
        })
    }

    /// Runs steps of a part of D.
    pub(in crate::cpu) fn run<W: Stored>(
        &self,
        level: Level,
        steps: &Steps<'_>,
        words: &mut [W],
        watch: &Watch<'_>,
    ) -> Result<()> {
        let columns = steps.columns.len();
        words
            .par_chunks_mut((columns * ROWS).max(1))
            .enumerate()
            .try_for_each(|(chunk, words)| {
                let first = steps.columns.start / WIDTH;
                let last = steps.columns.end.min(self.columns).div_ceil(WIDTH);
                for (offset, row) in words.chunks_mut(columns.max(1)).enumerate() {
                    let i = steps.rows.start + chunk * ROWS + offset;
                    for panel in first..last {
                        watch.check()?;
                        let from = (panel * WIDTH).max(steps.columns.start);
                        let to = ((panel + 1) * WIDTH).min(steps.columns.end);
                        let own = &mut row[from - steps.columns.start..to - steps.columns.start];
                        let lane = from - panel * WIDTH;
                        let mut c = [0_u32; WIDTH];
                        for (c, word) in c[lane..].iter_mut().zip(own.iter()) {
                            *c = word.word() as u32;
                        }
                        let d = self.advance(level, i, panel, steps, &c);
                        for (word, d) in own.iter_mut().zip(&d[lane..]) {
                            *word = W::stored(u64::from(*d));
                        }
                    }
                }
                (watch.progress)((words.len() * steps.steps.len()) as u64);
                Ok(())
            })
    }

    /// Neighbouring outputs of a row through some steps.
    fn advance(
        &self,
        level: Level,
        row: usize,
        panel: usize,
        steps: &Steps<'_>,
        c: &[u32; WIDTH],
    ) -> [u32; WIDTH] {
        let work = Work {
            packed: self,
            row,
            panel,
            steps: steps.steps.clone(),
            c,
        };
        enter::widely(level, work)
    }

    #[inline(always)]
    fn lanes(
        &self,
        row: usize,
        panel: usize,
        steps: Range<usize>,
        c: &[u32; WIDTH],
    ) -> [u32; WIDTH] {
        let plan = &self.plan;
        let mut state = State::of(plan, c);
        let mut distances = vec![
            Distances {
                half: [0; WIDTH],
                scale: [0; WIDTH]
            };
            plan.k
        ];
        for step in steps {
            let a_from = row * self.k + step * plan.k;
            let b_from = panel * self.k + step * plan.k;
            let mut largest: [[Lanes; 2]; MOST_ORDERS] = [[[2 * ZERO; WIDTH]; 2]; MOST_ORDERS];
            for (order, largest) in plan.orders.iter().zip(&mut largest) {
                for (group, largest) in order.groups.iter().zip(largest) {
                    self.align(group, (a_from, b_from), largest, &mut distances);
                }
            }
            for statement in &plan.statements {
                let [a, b] = statement.parts;
                let (a, b) = (&self.a.parts[a], &self.b.parts[b]);
                let order = &plan.orders[statement.order];
                let mut sums = [[0_i16; WIDTH]; 2];
                let mut exponents = [[plan.floor; WIDTH]; 2];
                let largest = &largest[statement.order.min(MOST_ORDERS - 1)];
                for (index, group) in order.groups.iter().enumerate() {
                    let sum = &mut sums[index];
                    for &k in group {
                        let (x, sign) = (a[a_from + k], self.a.signs[a_from + k]);
                        let at = (b_from + k) * WIDTH;
                        let (y, signs) = (halves_at(b, at), halves_at(&self.b.signs, at));
                        let Distances { half, scale } = &distances[k];
                        for lane in 0..WIDTH {
                            // Twice the magnitude, a half of the unit more, moved down: a tie grows.
                            let twice = x.wrapping_mul(y[lane]).wrapping_add(half[lane]) as u16;
                            let moved = (u32::from(twice) * u32::from(scale[lane] as u16)) >> 16;
                            let sign = signs[lane] ^ sign;
                            let signed = (moved as i16 ^ sign).wrapping_sub(sign);
                            sum[lane] = sum[lane].wrapping_add(signed);
                        }
                    }
                    for lane in 0..WIDTH {
                        let own = (largest[index][lane] - statement.below).max(statement.least);
                        let something = own > plan.floor;
                        exponents[index][lane] = own;
                        sum[lane] = if something { sum[lane] } else { 0 };
                    }
                }
                state.add(plan, &sums, &exponents);
            }
        }
        state.words(plan)
    }

    /// The largest exponent of a group's products, and how far each lies below it.
    #[inline(always)]
    fn align(
        &self,
        group: &[usize],
        (a_from, b_from): (usize, usize),
        largest: &mut Lanes,
        distances: &mut [Distances],
    ) {
        let mut most = [(2 * ZERO) as i16; WIDTH];
        for &k in group {
            let x = self.a.exponents[a_from + k];
            let y = halves_at(&self.b.exponents, (b_from + k) * WIDTH);
            for lane in 0..WIDTH {
                most[lane] = most[lane].max(x.wrapping_add(y[lane]));
            }
        }
        for &k in group {
            let x = self.a.exponents[a_from + k];
            let y = halves_at(&self.b.exponents, (b_from + k) * WIDTH);
            let own = &mut distances[k];
            for lane in 0..WIDTH {
                let distance = most[lane].wrapping_sub(x).wrapping_sub(y[lane]);
                let distance = i32::from(distance.clamp(0, FAR));
                own.half[lane] = left(1, distance) as i16;
                own.scale[lane] = right(1 << 15, distance) as i16;
            }
        }
        for lane in 0..WIDTH {
            largest[lane] = most[lane].into();
        }
    }
}

/// How far products lie below the largest exponent of their group.
#[derive(Clone, Copy)]
struct Distances {
    /// A half of the unit, for twice the product.
    half: Halves,
    /// 2^16 / (2 · unit): what a number is multiplied by to be moved down, its upper half being the result.
    scale: Halves,
}

/// Neighbours.
#[inline(always)]
fn halves_at(values: &[i16], from: usize) -> &Halves {
    // (The slice has so many.)
    values[from..from + WIDTH].try_into().unwrap_or(&[0; WIDTH])
}
