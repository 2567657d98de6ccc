//! Sums of exactly summed, scaled groups (GST-FDPA, §2.4).
//!
//! The operands are small whole numbers times a power of two, so a group's sum is a dot product of
//! bytes: A's are moved up to be unsigned, and what that adds (a constant times the sum of B's) is
//! taken off again. A group's sum times both scales' significands is exact in f32; in f64 it is
//! aligned (truncated) and added, where everything stays below 2^53, and one truncation to 24 bits
//! ends the block.

use std::ops::Range;

use rayon::prelude::*;

use super::block::Packed;
use super::codec::Codec;
use super::fused::{Tile, VECTORS};
use super::lanes::Lanes;
use super::pack::{Elements, Marks, Shape};
use crate::dpa::{Dpa, Operation, Scale, Select, Source, Unit, ZeroSign};
use crate::format::{Class, F32, Format, Rounding};

const SIGN: u32 = 1 << 31;
const FIELD: u32 = 0xff << 23;
const INFINITY: u32 = FIELD;
/// Operands at most this large in units of their last place, so that two products fit 16 bits.
const LARGEST: i32 = 63;
/// Scales outside 2^±this are not carried.
const SCALES: i32 = 30;
/// E is at least this: below the exponents of all carried scales.
const FLOOR: i32 = -2 * SCALES - 2;
/// |c| stays below 2^this.
const C_HIGH: i32 = 100;
/// Slots of a chunk of K: a panel's chunk of 32 columns is 16 KiB.
const CHUNK_SLOTS: usize = 512;
/// Bits of an f64 below those of an f32.
const BELOW_F32: u64 = (1 << 29) - 1;

/// What the kernel needs to know of a unit.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Products of a group, groups of a block.
    group: usize,
    groups: usize,
    f: u32,
    scale: Scale,
    /// Whole numbers of all codes of a and b; `None` for a special.
    a: Vec<Option<i8>>,
    b: Vec<Option<i8>>,
    /// What is added to a.
    bias: u8,
    /// Last place of a group's sum with both scales' significands.
    last_place: i32,
    pub(super) c: Codec,
    pub(super) d: Codec,
}

/// Codes as whole numbers in units of the smallest subnormal.
fn numbers(format: &Format, negate: bool) -> Option<(Vec<Option<i8>>, i32)> {
    if format.bits > 8 {
        return None;
    }
    let float = format.float()?;
    let last_place = float.emin() - float.fraction_bits as i32;
    let mut found = Vec::new();
    for code in 0..1_u64 << format.bits {
        let x = format.decode(code);
        if matches!(x.class, Class::Infinite | Class::Nan) {
            found.push(None);
            continue;
        }
        let up = x.exponent - x.fraction_bits as i32 - last_place;
        let magnitude = (x.significand as i32).checked_shl(up as u32)?;
        if magnitude > LARGEST {
            return None;
        }
        let number = if x.negative == negate {
            magnitude
        } else {
            -magnitude
        };
        found.push(Some(number as i8));
    }
    Some((found, last_place))
}

impl Plan {
    pub(super) fn new(unit: &Unit, negate: [bool; 2]) -> Result<Self, String> {
        let signature = unit.signature();
        let [statement] = unit.program().statements.as_slice() else {
            return Err("grouped sums among other statements".into());
        };
        let Operation::Dot {
            algorithm: Dpa::GstFdpa { l, g, f, e0, align },
            widened: None,
            over: Select::All,
            from: Source::C,
        } = statement.operation
        else {
            return Err("no grouped sum".into());
        };
        let output = &statement.output;
        let (Some(scale), true) = (signature.scale, signature.c == F32 && signature.d == F32)
        else {
            return Err("grouped sums without scales".into());
        };
        let l = (l as usize).min(signature.k);
        let group = g as usize;
        let fits = signature.k.is_multiple_of(l)
            && l.is_multiple_of(group)
            && group.is_multiple_of(4)
            && group <= 32;
        let rounds = align == Rounding::Rz
            && output.rounding == Rounding::Rz
            && output.format == F32
            && matches!(output.zero, ZeroSign::Plus | ZeroSign::Exact);
        if !fits || !rounds || e0 > FLOOR || !scale.block.is_multiple_of(group) {
            return Err(format!("groups of {group} in blocks of {l}, {align}"));
        }
        let wide = || "operands that are no small whole numbers".to_owned();
        let (a, place_a) = numbers(&signature.a, negate[0]).ok_or_else(wide)?;
        let (b, place_b) = numbers(&signature.b, negate[1]).ok_or_else(wide)?;
        let largest = |numbers: &[Option<i8>]| {
            numbers
                .iter()
                .flatten()
                .map(|x| i64::from(x.unsigned_abs()))
                .max()
                .unwrap_or(0)
        };
        let scale_bits = scale.format.float().map_or(0, |float| float.fraction_bits);
        let top = largest(&a) * largest(&b) * group as i64;
        // The scaled sum in f32; aligned terms, and c, in f64.
        let term = top << (2 * scale_bits + 2);
        let last_place = place_a + place_b - 2 * scale_bits as i32;
        let aligned = (term as f64).log2() + f64::from(f as i32 + last_place);
        let sum = aligned.max(f64::from(f + 1)) + ((l / group + 1) as f64).log2();
        if term >= 1 << 24 || sum >= 52.0 || f < 23 || f as i32 - FLOOR > 126 {
            return Err(format!("F={f} fraction bits that do not fit f64"));
        }
        let codec = |format| Codec::new(format, output).ok_or_else(|| "c is no f32".to_owned());
        Ok(Self {
            group,
            groups: l / group,
            f,
            scale,
            bias: largest(&a) as u8,
            a,
            b,
            last_place,
            c: codec(&signature.c)?,
            d: codec(&signature.d)?,
        })
    }
}

/// Scales of one side: significands as f32, exponents shifted by 23, and which numbers are not zero.
#[derive(Debug, Default)]
struct Scales {
    significands: Vec<f32>,
    exponents: Vec<u32>,
    present: Vec<u32>,
}

impl Scales {
    fn new(length: usize) -> Self {
        Self {
            significands: vec![0.0; length],
            exponents: vec![0; length],
            present: vec![0; length],
        }
    }
}

/// Packed operands.
#[derive(Debug)]
pub(super) struct Groups {
    plan: Plan,
    shape: Shape,
    /// Four k a word: row × quads; panel × quads × columns.
    a: Vec<u32>,
    b: Vec<u32>,
    /// Row × groups; panel × groups × columns.
    a_scales: Scales,
    b_scales: Scales,
    /// What A's bias adds to a group: panel × groups × columns.
    excess: Vec<u32>,
    marks: Marks,
}

impl Groups {
    pub(super) fn pack(plan: &Plan, unit: &Unit, elements: &dyn Elements, columns: usize) -> Self {
        let k = unit.signature().k;
        let shape = Shape {
            m: elements.m(),
            n: elements.n(),
            steps: elements.k() / k,
            k,
            slots: k,
            chunk: (CHUNK_SLOTS / k).max(1),
            columns,
        };
        let (group, scale) = (plan.group, plan.scale);
        let all = elements.k();
        let (quads, groups) = (all / 4, all / group);
        let in_step = k / group;
        let read_scale = |word: u64| {
            let x = scale.format.decode(scale.format.from_register(word));
            match x.class {
                Class::Zero => Some((0.0, 0)),
                Class::Finite if x.exponent.abs() <= SCALES => {
                    Some((x.significand as f32, (x.exponent << 23) as u32))
                }
                _ => None,
            }
        };
        let mut marks = Marks::new(&shape);
        let signature = unit.signature();
        let number = |table: &[Option<i8>], format: &Format, word: u64| {
            table[format.from_register(word) as usize]
        };
        let (mut a, mut a_scales) = (vec![0; shape.m * quads], Scales::new(shape.m * groups));
        let mut words = vec![0; all];
        for row in 0..shape.m {
            elements.a_row(row, 0, &mut words);
            for (at, word) in words.iter().enumerate() {
                let found = number(&plan.a, &signature.a, *word);
                marks.rows[row * shape.steps + at / k] |= found.is_none();
                let found = found.unwrap_or(0);
                let byte = (found as u8).wrapping_add(plan.bias);
                a[row * quads + at / 4] |= u32::from(byte) << (8 * (at % 4));
                a_scales.present[row * groups + at / group] |=
                    u32::from(found != 0) << (at % group);
            }
            for at in 0..groups {
                match read_scale(elements.scale_a(row, at * group / scale.block)) {
                    Some((significand, exponent)) => {
                        a_scales.significands[row * groups + at] = significand;
                        a_scales.exponents[row * groups + at] = exponent;
                        if significand == 0.0 {
                            a_scales.present[row * groups + at] = 0;
                        }
                    }
                    None => marks.rows[row * shape.steps + at / in_step] = true,
                }
            }
        }
        let panels = shape.panels();
        let mut b = vec![0; panels * quads * columns];
        let mut b_scales = Scales::new(panels * groups * columns);
        let mut excess = vec![0; panels * groups * columns];
        b.par_chunks_mut(quads * columns)
            .zip(b_scales.significands.par_chunks_mut(groups * columns))
            .zip(b_scales.exponents.par_chunks_mut(groups * columns))
            .zip(b_scales.present.par_chunks_mut(groups * columns))
            .zip(excess.par_chunks_mut(groups * columns))
            .zip(marks.columns.par_chunks_mut(shape.steps))
            .enumerate()
            .for_each(
                |(panel, (((((b, significands), exponents), present), excess), marks))| {
                    let first = panel * columns;
                    let mut words = vec![0; columns.min(shape.n - first)];
                    for at in 0..all {
                        elements.b_row(at, first, &mut words);
                        for (column, word) in words.iter().enumerate() {
                            let found = number(&plan.b, &signature.b, *word);
                            marks[at / k] |= u64::from(found.is_none()) << column;
                            let found = found.unwrap_or(0);
                            let place = at / group * columns + column;
                            b[at / 4 * columns + column] |=
                                u32::from(found as u8) << (8 * (at % 4));
                            present[place] |= u32::from(found != 0) << (at % group);
                            let more = i32::from(found) * i32::from(plan.bias);
                            excess[place] = (excess[place] as i32 + more) as u32;
                        }
                    }
                    for at in 0..groups {
                        for column in 0..words.len() {
                            let place = at * columns + column;
                            let block = at * group / scale.block;
                            match read_scale(elements.scale_b(block, first + column)) {
                                Some((significand, exponent)) => {
                                    significands[place] = significand;
                                    exponents[place] = exponent;
                                    if significand == 0.0 {
                                        present[place] = 0;
                                    }
                                }
                                None => marks[at / in_step] |= 1 << column,
                            }
                        }
                    }
                },
            );
        Self {
            plan: plan.clone(),
            shape,
            a,
            b,
            a_scales,
            b_scales,
            excess,
            marks,
        }
    }

    /// The exact sum of a group in one register of columns.
    #[inline(always)]
    unsafe fn sum<V: Lanes>(&self, a: *const u32, b: *const u32, v: usize) -> V {
        // SAFETY: as for `run`.
        unsafe {
            let columns = VECTORS * V::WIDTH;
            let mut sum = V::splat(0);
            for quad in 0..self.plan.group / 4 {
                let b = V::load(b.add(quad * columns + v * V::WIDTH));
                sum = sum.i_add(V::splat(*a.add(quad)).b_dot4(b));
            }
            sum
        }
    }

    /// One block in one register of columns.
    #[inline(always)]
    unsafe fn block<V: Lanes>(&self, row: usize, panel: usize, first: usize, v: usize, c: V) -> V {
        // SAFETY: as for `run`.
        unsafe {
            let plan = &self.plan;
            let columns = VECTORS * V::WIDTH;
            let groups = self.shape.steps * self.shape.k / plan.group;
            let quads = plan.group / 4;
            let a_at = row * groups + first;
            let b_at = (panel * groups + first) * columns + v * V::WIDTH;
            let mut largest = c
                .and(V::splat(FIELD))
                .i_max(V::splat(((FLOOR + 127) as u32) << 23));
            let exponent = |g: usize| {
                let b = V::load(self.b_scales.exponents.as_ptr().add(b_at + g * columns));
                V::splat(*self.a_scales.exponents.as_ptr().add(a_at + g)).i_add(b)
            };
            for g in 0..plan.groups {
                let a = V::splat(*self.a_scales.present.as_ptr().add(a_at + g));
                let b = V::load(self.b_scales.present.as_ptr().add(b_at + g * columns));
                let none = a.and(b).i_equal(V::splat(0));
                let field = exponent(g).i_add(V::splat(127 << 23));
                largest = largest.i_max(none.not_and(field));
            }
            let shift = |bits: i32| V::splat(((bits + 127) as u32) << 23);
            // 2^(F − E), and for a group its exponent and last place besides.
            let align = V::splat((plan.f + 254) << 23).i_sub(largest);
            let last_place = V::splat((plan.last_place << 23) as u32);
            let smallest = shift(-126);
            let mut low = c.f_low_to_d().d_mul(align.f_low_to_d()).d_trunc();
            let mut high = c.f_high_to_d().d_mul(align.f_high_to_d()).d_trunc();
            let zero = V::splat(0);
            (low, high) = (low.d_add(zero), high.d_add(zero));
            for g in 0..plan.groups {
                let a = self.a.as_ptr().add((a_at + g) * quads);
                let b = self
                    .b
                    .as_ptr()
                    .add((panel * groups + first + g) * quads * columns);
                let excess = V::load(self.excess.as_ptr().add(b_at + g * columns));
                let sum = self.sum::<V>(a, b, v).i_sub(excess);
                let scale_a = *self.a_scales.significands.as_ptr().add(a_at + g);
                let scale_b = V::load(
                    self.b_scales
                        .significands
                        .as_ptr()
                        .add(b_at + g * columns)
                        .cast(),
                );
                let scaled = sum
                    .i_to_f()
                    .f_mul(V::splat(scale_a.to_bits()))
                    .f_mul(scale_b);
                // (A group without a product may have any exponent: its unit only has to be finite.)
                let unit = align.i_add(exponent(g)).i_add(last_place);
                let unit = unit.i_min(shift(127)).i_max(smallest);
                low = low.d_add(scaled.f_low_to_d().d_mul(unit.f_low_to_d()).d_trunc());
                high = high.d_add(scaled.f_high_to_d().d_mul(unit.f_high_to_d()).d_trunc());
            }
            let unit = largest.i_sub(V::splat(plan.f << 23));
            let kept = V::d_splat(f64::from_bits(!BELOW_F32));
            let low = low.and(kept).d_mul(unit.f_low_to_d());
            low.d_to_f(high.and(kept).d_mul(unit.f_high_to_d()))
        }
    }
}

impl Packed for Groups {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn marks(&self) -> &Marks {
        &self.marks
    }

    #[inline(always)]
    unsafe fn outside<V: Lanes>(&self, c: V) -> (V, V) {
        // SAFETY: the caller has the instruction set.
        unsafe {
            let magnitude = c.and(V::splat(!SIGN));
            let special = magnitude.i_greater(V::splat(INFINITY - 1));
            // A c of this size is a multiple of 2^(floor − F), and so is what comes of it; smaller
            // ones are when they are whole numbers of it.
            let f = self.plan.f as i32;
            let from = FLOOR.min(FLOOR - f + 23);
            let field = |exponent: i32| ((exponent + 127) as u32) << 23;
            let large = magnitude.i_greater(V::splat(field(from) - 1));
            let small = V::splat(field(C_HIGH)).i_greater(magnitude);
            let grains = magnitude.f_mul(V::splat(field(f - FLOOR)));
            let whole = grains.f_to_i().i_to_f().i_equal(grains);
            let inside = large.and(small).or(large.not_and(whole)).or(special);
            (inside.not_and(V::splat(u32::MAX)), special)
        }
    }

    #[inline(always)]
    unsafe fn run<V: Lanes>(
        &self,
        row: usize,
        panel: usize,
        steps: Range<usize>,
        c: &mut Tile<V>,
    ) -> V {
        assert!(row < self.shape.m && panel < self.shape.panels() && steps.end <= self.shape.steps);
        let in_step = self.shape.k / self.plan.group;
        let mut first = steps.start * in_step;
        // SAFETY: the caller has the instruction set; row, panel and steps were checked.
        unsafe {
            while first < steps.end * in_step {
                for (v, c) in c.iter_mut().enumerate() {
                    *c = self.block(row, panel, first, v, *c);
                }
                first += self.plan.groups;
            }
            V::splat(0)
        }
    }

    fn settles(&self) -> bool {
        true
    }

    fn keeps(&self) -> bool {
        false
    }
}
