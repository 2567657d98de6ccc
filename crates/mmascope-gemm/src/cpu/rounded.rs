//! Sums of groups on rounded grids (`gr-fdpa`) in integer lanes: 32 columns of D at a time.
//!
//! Every number of such a unit is finite and every grid has fewer than 32 bits, so that nothing is left to the
//! reference: products and sums of groups are 16-bit integers, exponents and sums with c 32-bit ones. Statements that take other parts of the same
//! significands have the same distances of exponents, which are computed once.

#![allow(clippy::needless_range_loop)] // lanes of several registers, side by side

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use rayon::prelude::*;

use super::enter;
use super::level::Level;
use crate::array::Stored;
use crate::dpa::{
    Addends, Codes, Dpa, FlushSign, GrFdpa, Modifiers, Operation, Output, Reading, Start,
    TakenBits, Tininess, Unit, ZeroSign,
};
use crate::engine::{Elements, Steps, Watch};
use crate::error::Result;
use crate::format::{BF16, F16, Format, Overflow, Rounding, Specials, TF32};

/// Columns of D that are computed together.
const WIDTH: usize = 32;
/// Fraction bits of a group's grid, which products have as well.
const GROUP_BITS: u32 = 10;
/// Fraction bits of the grid of groups and c.
const BITS: u32 = 23;
/// Exponent of a zero operand: far below every product's.
const ZERO: i32 = -4096;
/// Rows of D that one task computes.
const ROWS: usize = 4;
/// A product is gone when it is moved so far to the right.
const FAR: i16 = 14;

/// Different lists of k among the statements.
const MOST_ORDERS: usize = 8;

type Lanes = [i32; WIDTH];
/// Products and their distances: numbers of 16 bits.
type Halves = [i16; WIDTH];

/// How a unit is computed.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    k: usize,
    /// k of a group, one group after the other, of the different orders that there are.
    orders: Vec<Order>,
    statements: Vec<Statement>,
    /// The different parts of a's and of b's significands.
    parts: [Vec<TakenBits>; 2],
    operands: [Format; 2],
    /// Layout of c and d.
    result: Kind,
    /// At or below this exponent everything is zero.
    floor: i32,
    coarse: bool,
    fault: Option<u32>,
}

/// The k of one statement, in groups.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Order {
    groups: Vec<Vec<usize>>,
}

#[derive(Clone, Debug)]
struct Statement {
    order: usize,
    /// Places in `parts`.
    parts: [usize; 2],
    below: i32,
    /// A group's exponent is at least this.
    least: i32,
}

/// The format of c and d.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Single,
    Brain,
    Half,
}

impl Kind {
    fn fraction_bits(self) -> u32 {
        match self {
            Self::Single => 23,
            Self::Brain => 7,
            Self::Half => 10,
        }
    }

    fn bias(self) -> i32 {
        match self {
            Self::Single | Self::Brain => 127,
            Self::Half => 15,
        }
    }

    fn of(output: &Output) -> Option<Self> {
        let float = output.format.float()?;
        let is_ieee = float.specials == Specials::Ieee;
        match output.format.name {
            "f32" if is_ieee => Some(Self::Single),
            "bf16" if is_ieee => Some(Self::Brain),
            "f16" if float.specials == Specials::None => Some(Self::Half),
            _ => None,
        }
    }
}

impl Plan {
    /// `None` for a unit of another kind, else how it is computed or what there is no kernel for.
    pub(super) fn new(unit: &Unit) -> Option<std::result::Result<Self, String>> {
        let is_grouped = unit.program().statements.iter().any(|statement| {
            let Operation::Dot { algorithm, .. } = &statement.operation else {
                return false;
            };
            matches!(algorithm, Dpa::GrFdpa(_))
        });
        is_grouped.then(|| Self::of(unit))
    }

    fn of(unit: &Unit) -> std::result::Result<Self, String> {
        let signature = unit.signature();
        for format in [signature.a, signature.b] {
            if ![BF16, TF32, F16].contains(&format) {
                return Err(format!("operands in {format}"));
            }
        }
        if unit.program().codes != Codes::Numbers || signature.c != signature.d {
            return Err("another reading of codes, or c in another format than d".into());
        }
        let mut plan: Option<Self> = None;
        for (index, statement) in unit.program().statements.iter().enumerate() {
            let Operation::Dot {
                algorithm: Dpa::GrFdpa(step),
                operands: Reading::WHOLE,
                over,
                from,
            } = &statement.operation
            else {
                return Err("statements of other kinds".into());
            };
            let chained = match index {
                0 => *from == Start::C,
                _ => *from == Start::Statement(index - 1),
            };
            let result = result_of(&statement.output).ok_or_else(|| {
                format!(
                    "results as {} {}",
                    statement.output.rounding, statement.output.format
                )
            })?;
            let indices = over.indices(signature.k);
            if !chained || indices.len() > step.l as usize {
                return Err("statements that do not follow each other, or several blocks".into());
            }
            check(step)?;
            let own = plan.get_or_insert_with(|| Self {
                k: signature.k,
                orders: Vec::new(),
                statements: Vec::new(),
                parts: [Vec::new(), Vec::new()],
                operands: [signature.a, signature.b],
                result,
                floor: step.e0,
                coarse: step.f2.is_some(),
                fault: step.fault,
            });
            let same = own.result == result
                && own.floor == step.e0
                && own.coarse == step.f2.is_some()
                && own.fault == step.fault;
            if !same || step.e0 != -result.bias() {
                return Err("statements that differ in more than their parts".into());
            }
            own.add(step, &indices)?;
        }
        plan.ok_or_else(|| "no statement".into())
    }

    fn add(&mut self, step: &GrFdpa, indices: &[usize]) -> std::result::Result<(), String> {
        let groups = indices.chunks(step.g as usize).map(<[usize]>::to_vec);
        let order = Order {
            groups: groups.collect(),
        };
        if order.groups.len() > 2 {
            return Err("more than two groups".into());
        }
        let order = place(&mut self.orders, order);
        let all = self
            .orders
            .iter()
            .flat_map(|order| order.groups.iter().flatten());
        let distinct: BTreeSet<&usize> = all.clone().collect();
        if self.orders.len() > MOST_ORDERS || distinct.len() != all.count() {
            return Err("the same k in different groups".into());
        }
        let parts = [
            place(&mut self.parts[0], step.a),
            place(&mut self.parts[1], step.b),
        ];
        let places: u32 = [step.a, step.b]
            .into_iter()
            .zip(self.operands)
            .map(|(part, format)| {
                let fraction_bits = format.float().map_or(0, |float| float.fraction_bits);
                nominal(part, fraction_bits)
            })
            .sum();
        if places > GROUP_BITS {
            return Err(format!("products of {places} fraction bits"));
        }
        let below = (step.a.first + step.b.first) as i32;
        self.statements.push(Statement {
            order,
            parts,
            below,
            least: step.e_z.unwrap_or(step.e0).max(step.e0),
        });
        Ok(())
    }

    /// Bytes that a row or column of one step's operands takes.
    pub(super) fn bytes(&self) -> [usize; 2] {
        [0, 1].map(|side| self.k * 2 * (2 + self.parts[side].len()))
    }

    /// Columns that are packed together.
    pub(super) fn panel(&self) -> usize {
        WIDTH
    }
}

/// The index of a thing in a list, to which it is added where it is new.
fn place<T: PartialEq>(list: &mut Vec<T>, thing: T) -> usize {
    match list.iter().position(|own| *own == thing) {
        Some(place) => place,
        None => {
            list.push(thing);
            list.len() - 1
        }
    }
}

/// Places behind the first one of a part, of a significand with so many fraction bits.
fn nominal(part: TakenBits, fraction_bits: u32) -> u32 {
    let last = part.last.unwrap_or(fraction_bits).min(fraction_bits);
    last.saturating_sub(part.first)
}

/// What there is no kernel for.
fn check(step: &GrFdpa) -> std::result::Result<(), String> {
    let usual = step.terms == Addends::Product
        && step.f_g == GROUP_BITS
        && step.f == BITS
        && step.f2.is_none_or(|f2| f2 == GROUP_BITS)
        && step.align_g == Rounding::Rna
        && step.align == Rounding::Rnu
        && step.align_c == Rounding::Rna
        && step.g <= 8
        && step.fault.is_none_or(|places| places < 31)
        // A zero product is below every other one, so that it need not be told apart.
        && step.e_z.is_none_or(|e_z| e_z <= -28 - (step.a.first + step.b.first) as i32);
    match usual {
        true => Ok(()),
        false => Err("sums of groups with other grids, roundings or terms".into()),
    }
}

fn result_of(output: &Output) -> Option<Kind> {
    let usual = output.rounding == Rounding::Rna
        && output.overflow == Overflow::Infinity
        && output.zero == ZeroSign::Plus
        && output.flush == Some(FlushSign::Plus)
        && output.tininess == Tininess::Unbounded;
    usual.then(|| Kind::of(output)).flatten()
}

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "groups on rounded grids, in lanes of {WIDTH} integers")
    }
}

/// Operands by exponents and parts.
#[derive(Debug)]
pub(super) struct Packed {
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
    pub(super) fn new(plan: &Plan, elements: &dyn Elements, modifiers: &Modifiers) -> Option<Self> {
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
    pub(super) fn run<W: Stored>(
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

// Shifts and sums that wrap: every number is in range, and vector instructions check nothing.

#[inline(always)]
fn right(x: i32, by: i32) -> i32 {
    x.wrapping_shr(by as u32)
}

#[inline(always)]
fn left(x: i32, by: i32) -> i32 {
    x.wrapping_shl(by as u32)
}

/// A half of the unit 2^by; 0 where nothing is moved.
#[inline(always)]
fn half(by: i32) -> i32 {
    right(left(1, by), 1)
}

/// Neighbours.
#[inline(always)]
fn halves_at(values: &[i16], from: usize) -> &Halves {
    // (The slice has so many.)
    values[from..from + WIDTH].try_into().unwrap_or(&[0; WIDTH])
}

/// How far products lie below the largest exponent of their group.
#[derive(Clone, Copy)]
struct Distances {
    /// A half of the unit, for twice the product.
    half: Halves,
    /// 2^16 / (2 · unit): what a number is multiplied by to be moved down, its upper half being the result.
    scale: Halves,
}

/// c, as a significand of 24 bits with a sign and an exponent; 0 and the floor for zero.
struct State {
    significand: Lanes,
    exponent: Lanes,
}

impl State {
    #[inline(always)]
    fn of(plan: &Plan, words: &[u32; WIDTH]) -> Self {
        let (bits, bias) = (plan.result.fraction_bits(), plan.result.bias());
        let mut state = Self {
            significand: [0; WIDTH],
            exponent: [plan.floor; WIDTH],
        };
        let (sign_at, fields) = match plan.result {
            Kind::Single => (31, 255),
            Kind::Brain => (15, 255),
            Kind::Half => (15, 31),
        };
        for lane in 0..WIDTH {
            let word = words[lane];
            let field = (word >> bits & fields) as i32;
            let fraction = word & ((1 << bits) - 1) | 1 << bits;
            let magnitude = (fraction << (BITS - bits)) as i32;
            let signed = if word >> sign_at & 1 == 1 {
                -magnitude
            } else {
                magnitude
            };
            state.significand[lane] = if field == 0 { 0 } else { signed };
            state.exponent[lane] = if field == 0 { plan.floor } else { field - bias };
        }
        state
    }

    /// Adds two groups, and rounds.
    #[inline(always)]
    fn add(&mut self, plan: &Plan, sums: &[Halves; 2], exponents: &[Lanes; 2]) {
        let bits = plan.result.fraction_bits() as i32;
        let is_half = plan.result == Kind::Half;
        // Of f16 the exponent field of ones is one more binade.
        let most = plan.result.bias() + i32::from(is_half);
        let fault = plan.fault.unwrap_or(0) as i32;
        let limit = if is_half { 0xff_e000 } else { 1 << BITS };
        let beyond = most + i32::from(!is_half);
        let coarse = plan.coarse;
        let on_coarse = |x: i32| match coarse {
            true => left(right(x.wrapping_add(4096), 13), 13),
            false => x,
        };
        for lane in 0..WIDTH {
            let own = self.exponent[lane];
            let largest = exponents[0][lane].max(exponents[1][lane]).max(own);
            let mut sum = 0_i32;
            for group in 0..2 {
                let by = largest.wrapping_sub(exponents[group][lane]).min(30);
                // A tie goes up.
                let term = left(sums[group][lane].into(), (BITS - GROUP_BITS) as i32);
                let term = right(term.wrapping_add(half(by)), by);
                sum = sum.wrapping_add(on_coarse(term));
            }
            let by = largest.wrapping_sub(own).min(30);
            let signed = self.significand[lane];
            let sign = signed >> 31;
            let c = (signed ^ sign).wrapping_sub(sign);
            let c = on_coarse(right(c.wrapping_add(half(by)), by));
            sum = sum.wrapping_add((c ^ sign).wrapping_sub(sign));
            sum = if sum == -1 { left(-1, fault) } else { sum };

            let sign = sum >> 31;
            let magnitude = (sum ^ sign).wrapping_sub(sign);
            // The place of the leading bit, from a number that rounds to no other binade.
            let alone = magnitude & !(magnitude >> 1);
            let top = right((alone as f32).to_bits() as i32, 23)
                .wrapping_sub(127)
                .max(0);
            let down = top.wrapping_sub(bits).max(0);
            let up = bits.wrapping_sub(top).max(0);
            let rounded = left(right(magnitude.wrapping_add(half(down)), down), up);
            let carry = right(rounded, bits.wrapping_add(1));
            let exponent = largest
                .wrapping_sub(BITS as i32)
                .wrapping_add(top)
                .wrapping_add(carry);
            let kept = left(right(rounded, carry), (BITS as i32).wrapping_sub(bits));
            let is_zero = (magnitude == 0) | (exponent <= plan.floor) | (largest <= plan.floor);
            let is_large = exponent > most;
            let kept = if is_large { limit } else { kept };
            let exponent = if is_large { beyond } else { exponent };
            let kept = if is_zero { 0 } else { kept };
            self.significand[lane] = (kept ^ sign).wrapping_sub(sign);
            self.exponent[lane] = if is_zero { plan.floor } else { exponent };
        }
    }

    #[inline(always)]
    fn words(&self, plan: &Plan) -> [u32; WIDTH] {
        let (bits, bias) = (plan.result.fraction_bits(), plan.result.bias());
        let sign_at = if plan.result == Kind::Single { 31 } else { 15 };
        let mut words = [0; WIDTH];
        for lane in 0..WIDTH {
            let signed = self.significand[lane];
            let fraction = (signed.unsigned_abs() >> (BITS - bits)) & ((1 << bits) - 1);
            let field = ((self.exponent[lane] + bias) as u32) << bits;
            let word = u32::from(signed < 0) << sign_at | field | fraction;
            words[lane] = if signed == 0 { 0 } else { word };
        }
        words
    }
}
