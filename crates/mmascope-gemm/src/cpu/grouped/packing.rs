//! Packs operands of grouped sums: codes become bytes, scales their parts; what cannot be carried is marked.

use rayon::prelude::*;

use super::{Groups, Plan, SCALES};
use crate::cpu::aligned::Aligned;
use crate::cpu::exponents::power_of_two;
use crate::cpu::pack::{Marks, Shape};
use crate::dpa::{Scale, Unit};
use crate::engine::Elements;
use crate::format::{Class, Format};

/// Bytes of a panel's chunk of K: with scales half as many again, which lie in the first cache.
const CHUNK: usize = 16 << 10;

/// Scales of one side: as f32 (A's with the last place), their exponents shifted by 23, and which of a
/// group's numbers are not zero.
#[derive(Debug, Default)]
pub(in crate::cpu) struct Scales {
    pub(in crate::cpu) units: Aligned<f32>,
    pub(in crate::cpu) exponents: Aligned<u32>,
    pub(in crate::cpu) present: Aligned<u32>,
}

impl Scales {
    fn new(length: usize) -> Self {
        Self {
            units: Aligned::zeros(length),
            exponents: Aligned::zeros(length),
            present: Aligned::zeros(length),
        }
    }

    /// Parts of `length` scales each.
    fn parts(&mut self, length: usize) -> impl IndexedParallelIterator<Item = Part<'_>> {
        (self.units.par_chunks_mut(length))
            .zip(self.exponents.par_chunks_mut(length))
            .zip(self.present.par_chunks_mut(length))
            .map(|((units, exponents), present)| Part {
                units,
                exponents,
                present,
            })
    }
}

/// Some of them.
struct Part<'a> {
    units: &'a mut [f32],
    exponents: &'a mut [u32],
    present: &'a mut [u32],
}

impl Part<'_> {
    /// Writes a scale, in units of `one`; a zero takes part in nothing.
    fn set(&mut self, at: usize, scale: Carried, one: f32, range: &mut Exponents) {
        if scale.value == 0.0 {
            self.present[at] = 0;
            return;
        }
        self.units[at] = scale.value * one;
        self.exponents[at] = (scale.exponent << 23) as u32;
        range.low = range.low.min(scale.exponent);
        range.high = range.high.max(scale.exponent);
    }
}

/// The smallest and the largest exponent of some scales that are not zero; `low` above `high` for none.
#[derive(Clone, Copy, Debug)]
pub(in crate::cpu) struct Exponents {
    pub(in crate::cpu) low: i32,
    pub(in crate::cpu) high: i32,
}

impl Exponents {
    const NONE: Self = Self {
        low: i32::MAX,
        high: i32::MIN,
    };
}

/// What packing needs to know of a code: its byte; above it, whether it is not zero and whether it is
/// special; and from bit 16 its number, moved up to be none below zero.
struct Codes([u32; 256]);

const PRESENT: u32 = 1 << 8;
const SPECIAL: u32 = 1 << 9;
const MOVED: i32 = 1 << 7;

/// Four codes, the first the lowest byte.
struct Four {
    bytes: u32,
    /// A bit for each that is not zero.
    present: u32,
    special: bool,
    sum: i32,
}

impl Codes {
    /// Of every lower byte of a register word.
    fn new(numbers: &[Option<i8>], format: &Format, bias: u8) -> Self {
        Self(std::array::from_fn(|word| {
            let found = numbers[format.from_register(word as u64) as usize];
            let number = found.unwrap_or(0);
            let flags = [(number != 0, PRESENT), (found.is_none(), SPECIAL)];
            let flags = flags.into_iter().filter(|flag| flag.0);
            let moved = (i32::from(number) + MOVED) as u32;
            let byte = (number as u8).wrapping_add(bias);
            flags.fold(u32::from(byte) | moved << 16, |all, flag| all | flag.1)
        }))
    }

    #[inline]
    fn four(&self, words: [u32; 4]) -> Four {
        let [p, q, r, s] = words.map(|word| self.0[word as usize & 0xff]);
        let present = p & PRESENT | (q & PRESENT) << 1 | (r & PRESENT) << 2 | (s & PRESENT) << 3;
        Four {
            bytes: p & 0xff | (q & 0xff) << 8 | (r & 0xff) << 16 | s << 24,
            present: present / PRESENT,
            special: (p | q | r | s) & SPECIAL != 0,
            sum: ((p + q + r + s) >> 16) as i32 - 4 * MOVED,
        }
    }
}

/// A scale that can be carried: its value, and the exponent of its last place.
#[derive(Clone, Copy)]
struct Carried {
    value: f32,
    exponent: i32,
}

/// What can be carried of a format's scales; looked up for the codes of a byte.
struct ScaleCodes {
    format: Format,
    bytes: Vec<Option<Carried>>,
}

impl ScaleCodes {
    fn new(of: &Scale) -> Self {
        let codes = 0..1_u64 << of.format.bits.min(8);
        Self {
            format: of.format,
            bytes: codes.map(|code| decoded(&of.format, code)).collect(),
        }
    }

    #[inline]
    fn of(&self, word: u64) -> Option<Carried> {
        let code = self.format.from_register(word);
        match self.bytes.get(code as usize) {
            Some(known) => *known,
            None => decoded(&self.format, code),
        }
    }
}

fn decoded(format: &Format, code: u64) -> Option<Carried> {
    let x = format.decode(code);
    match x.class {
        Class::Zero => Some(Carried {
            value: 0.0,
            exponent: 0,
        }),
        Class::Finite if x.exponent.abs() <= SCALES => Some(Carried {
            value: x.significand as f32 * power_of_two(x.exponent) as f32,
            exponent: x.exponent,
        }),
        _ => None,
    }
}

impl Groups {
    pub(in crate::cpu) fn pack(
        plan: &Plan,
        unit: &Unit,
        elements: &dyn Elements,
        columns: usize,
    ) -> Self {
        let k = unit.signature().k;
        let shape = Shape {
            m: elements.m(),
            n: elements.n(),
            steps: elements.k() / k,
            k,
            slots: k,
            chunk: (CHUNK / columns / k).max(1),
            columns,
        };
        let all = elements.k();
        let (quads, groups) = (all / 4, all / plan.group);
        let (rows, panels) = (shape.m, shape.panels());
        let mut packed = Self {
            plan: plan.clone(),
            shape,
            chunks: shape.chunks(),
            a: Aligned::zeros(rows * quads),
            b: Aligned::zeros(panels * quads * columns),
            a_scales: Scales::new(rows * groups),
            b_scales: Scales::new(panels * groups * columns),
            a_ranges: vec![Exponents::NONE; rows * shape.chunks()],
            b_ranges: vec![Exponents::NONE; panels * shape.chunks()],
            excess: Aligned::zeros(panels * groups * columns),
            marks: Marks::new(&shape),
        };
        packed.pack_a(unit, elements);
        packed.pack_b(unit, elements);
        packed
    }

    fn pack_a(&mut self, unit: &Unit, elements: &dyn Elements) {
        let (plan, shape) = (&self.plan, &self.shape);
        let codes = Codes::new(&plan.a, &unit.signature().a, plan.bias);
        let all = elements.k();
        let groups = all / plan.group;
        let one = power_of_two(plan.last_place) as f32;
        let known = ScaleCodes::new(&plan.scale);
        (self.a.par_chunks_mut(all / 4))
            .zip(self.a_scales.parts(groups))
            .zip(self.a_ranges.par_chunks_mut(shape.chunks()))
            .zip(self.marks.rows.par_chunks_mut(shape.steps))
            .enumerate()
            .for_each_init(
                || vec![0; all],
                |words, (row, (((bytes, mut scales), ranges), marks))| {
                    elements.narrow_a_row(row, 0, words);
                    let of_steps = words
                        .chunks_exact(shape.k)
                        .zip(bytes.chunks_exact_mut(shape.k / 4));
                    for ((step, (words, bytes)), mark) in of_steps.enumerate().zip(marks) {
                        let range = &mut ranges[step / shape.chunk];
                        let of_groups = words
                            .chunks_exact(plan.group)
                            .zip(bytes.chunks_exact_mut(plan.group / 4));
                        for (group, (words, bytes)) in of_groups.enumerate() {
                            let at = step * (shape.k / plan.group) + group;
                            let (quads, _) = words.as_chunks::<4>();
                            let mut present = 0;
                            for (quad, (words, bytes)) in quads.iter().zip(bytes).enumerate() {
                                let four = codes.four(*words);
                                *bytes = four.bytes;
                                present |= four.present << (4 * quad);
                                *mark |= four.special;
                            }
                            scales.present[at] = present;
                            let block = at * plan.group / plan.scale.block;
                            match known.of(elements.scale_a(row, block)) {
                                Some(scale) => scales.set(at, scale, one, range),
                                None => *mark = true,
                            }
                        }
                    }
                },
            );
    }

    fn pack_b(&mut self, unit: &Unit, elements: &dyn Elements) {
        let (plan, shape) = (&self.plan, &self.shape);
        let codes = Codes::new(&plan.b, &unit.signature().b, 0);
        let bias = i32::from(plan.bias);
        let known = ScaleCodes::new(&plan.scale);
        let (all, columns) = (elements.k(), shape.columns);
        let groups = all / plan.group;
        (self.b.par_chunks_mut(all / 4 * columns))
            .zip(self.b_scales.parts(groups * columns))
            .zip(self.excess.par_chunks_mut(groups * columns))
            .zip(self.b_ranges.par_chunks_mut(shape.chunks()))
            .zip(self.marks.columns.par_chunks_mut(shape.steps))
            .enumerate()
            .for_each(
                |(panel, ((((bytes, mut scales), excess), ranges), marks))| {
                    let first = panel * columns;
                    let there = columns.min(shape.n - first);
                    let mut words = vec![0; 4 * columns];
                    for (at, bytes) in bytes.chunks_exact_mut(columns).enumerate() {
                        let k = 4 * at;
                        elements.narrow_b_rows(k..k + 4, first..first + there, &mut words, columns);
                        let (up, group) = (k % plan.group, k / plan.group * columns);
                        let present = &mut scales.present[group..group + there];
                        let excess = &mut excess[group..group + there];
                        let [p, q, r, s] = [0, 1, 2, 3].map(|i| &words[i * columns..][..there]);
                        for column in 0..there {
                            let words = [p[column], q[column], r[column], s[column]];
                            let four = codes.four(words);
                            bytes[column] = four.bytes;
                            present[column] |= four.present << up;
                            excess[column] = (excess[column] as i32 - four.sum * bias) as u32;
                            if four.special {
                                marks[k / shape.k] |= 1 << column;
                            }
                        }
                    }
                    for at in 0..groups {
                        let k = at * plan.group;
                        let (block, step) = (k / plan.scale.block, k / shape.k);
                        let range = &mut ranges[step / shape.chunk];
                        for column in 0..there {
                            match known.of(elements.scale_b(block, first + column)) {
                                Some(scale) => {
                                    scales.set(at * columns + column, scale, 1.0, range);
                                }
                                None => marks[step] |= 1 << column,
                            }
                        }
                    }
                },
            );
    }
}
