//! Sums of exactly summed, scaled groups (GST-FDPA, §2.4).
//!
//! The operands are small whole numbers times a power of two, so a group's sum is a dot product of
//! bytes: A's are moved up to be unsigned, and what that adds (a constant times the sum of B's) is
//! taken off again. Where the scales' exponents and c lie so near each other that no alignment cuts
//! anything, all is added in f64 as it is (`whole.rs`); else every term is aligned (`aligned.rs`).
//! Everything stays below 2^53 units of the alignment, and one truncation to 24 bits ends the block.

mod aligned;
mod packing;
mod whole;

use std::ops::Range;

use super::aligned::Aligned;
use super::block::Packed;
use super::codec::Codec;
use super::fused::Tile;
use super::lanes::Lanes;
use super::pack::{Marks, Shape};
use super::plan;
use crate::dpa::{Dpa, GstFdpa, Operation, Reading, Scale, Select, Start, Unit, ZeroSign};
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
    /// Whether sums of two neighbouring products, over a group, fit 16 bits.
    narrow: bool,
    /// What is added to a.
    bias: u8,
    /// Last place of a group's sum with both scales' significands.
    last_place: i32,
    /// The largest such sum in units of its last place.
    term: i64,
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
    /// Products of a group.
    pub(super) fn group(&self) -> usize {
        self.group
    }

    pub(crate) fn new(unit: &Unit, negate: [bool; 2]) -> Result<Self, String> {
        let signature = unit.signature();
        let [statement] = unit.program().statements.as_slice() else {
            return Err("grouped sums among other statements".into());
        };
        let Operation::Dot {
            algorithm: Dpa::GstFdpa(GstFdpa { l, g, f, e0, align }),
            operands: Reading::WHOLE,
            over: Select::All,
            from: Start::C,
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
            && matches!(output.zero, ZeroSign::Plus | ZeroSign::Exact)
            && plan::overflows(output);
        if !fits || !rounds || e0 > FLOOR || !scale.block.is_multiple_of(group) {
            return Err(format!(
                "groups of {group} in blocks of {l}, {align}, {} {} zero={} overflow={}",
                output.rounding, output.format, output.zero, output.overflow
            ));
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
        let term = top * ((2 << scale_bits) - 1_i64).pow(2);
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
            narrow: 2 * largest(&a) * largest(&b) * (group as i64 / 2) <= i64::from(i16::MAX),
            a,
            b,
            last_place,
            term,
            c: codec(&signature.c)?,
            d: codec(&signature.d)?,
        })
    }
}

/// Packed operands.
#[derive(Debug)]
pub(super) struct Groups {
    plan: Plan,
    shape: Shape,
    /// Chunks of K.
    chunks: usize,
    /// Four k a word: row × quads; panel × quads × columns.
    a: Aligned<u32>,
    b: Aligned<u32>,
    /// Row × groups; panel × groups × columns.
    a_scales: packing::Scales,
    b_scales: packing::Scales,
    /// Of the scales of a chunk: row × chunks; panel × chunks.
    a_ranges: Vec<packing::Exponents>,
    b_ranges: Vec<packing::Exponents>,
    /// What takes off again what A's bias adds to a group: panel × groups × columns.
    excess: Aligned<u32>,
    marks: Marks,
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
        let shape = &self.shape;
        assert!(row < shape.m && shape.has_panel(panel) && steps.end <= shape.steps);
        let in_step = shape.k / self.plan.group;
        let mut first = steps.start * in_step;
        // SAFETY: the caller has the instruction set; row, panel and steps were checked.
        unsafe {
            if let Some(whole) = self.whole(row, panel, &steps) {
                let mut sums = *c;
                if self.add_whole(row, panel, first..steps.end * in_step, &whole, &mut sums) {
                    *c = sums;
                    return V::splat(0);
                }
            }
            while first < steps.end * in_step {
                for (v, c) in c.iter_mut().enumerate() {
                    *c = self.block(row, panel, first, v, *c);
                }
                first += self.plan.groups;
            }
            V::splat(0)
        }
    }

    const DOTS: bool = true;

    fn settles(&self) -> bool {
        true
    }

    fn keeps(&self) -> bool {
        false
    }
}
