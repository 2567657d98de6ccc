//! The kernel for sums of exactly summed, scaled groups (GST-FDPA, §2.4).
//!
//! The operands are small whole numbers times a power of two, so a group's sum is a dot product of
//! bytes: A's are moved up to be unsigned, and what that adds (a constant times the sum of B's) is
//! taken off again. Where the scales' exponents and c lie so near each other that no alignment cuts
//! anything, all is added in f64 as it is (`kernels/grouped/whole.rs`); else every term is aligned (`kernels/grouped/aligned.rs`).
//! Everything stays below 2^53 units of the alignment, and one truncation to 24 bits ends the block.

mod packing;

use super::aligned::Aligned;
use super::codec::Codec;
use super::pack::{Marks, Shape};
use super::plan;
use crate::dpa::{Dpa, GstFdpa, Operation, Reading, Scale, Select, Start, Unit, ZeroSign};
use crate::format::{Class, F32, Format, Rounding};

/// Operands at most this large in units of their last place, so that two products fit 16 bits.
const LARGEST: i32 = 63;
/// Scales outside 2^±this are not carried.
const SCALES: i32 = 30;
/// E is at least this: below the exponents of all carried scales.
pub(super) const FLOOR: i32 = -2 * SCALES - 2;
/// |c| stays below 2^this.
pub(super) const C_HIGH: i32 = 100;
/// Bits of an f64 below those of an f32.
pub(super) const BELOW_F32: u64 = (1 << 29) - 1;

/// What the kernel needs to know of a unit.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Products of a group, groups of a block.
    pub(super) group: usize,
    pub(super) groups: usize,
    pub(super) f: u32,
    pub(super) scale: Scale,
    /// Whole numbers of all codes of a and b; `None` for a special.
    pub(super) a: Vec<Option<i8>>,
    pub(super) b: Vec<Option<i8>>,
    /// Whether sums of two neighbouring products, over a group, fit 16 bits.
    pub(super) narrow: bool,
    /// What is added to a.
    pub(super) bias: u8,
    /// Last place of a group's sum with both scales' significands.
    pub(super) last_place: i32,
    /// The largest such sum in units of its last place.
    pub(super) term: i64,
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

    pub(super) fn new(unit: &Unit, negate: [bool; 2]) -> Result<Self, String> {
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
    pub(super) plan: Plan,
    pub(super) shape: Shape,
    /// Chunks of K.
    pub(super) chunks: usize,
    /// Four k a word: row × quads; panel × quads × columns.
    pub(super) a: Aligned<u32>,
    pub(super) b: Aligned<u32>,
    /// Row × groups; panel × groups × columns.
    pub(super) a_scales: packing::Scales,
    pub(super) b_scales: packing::Scales,
    /// Of the scales of a chunk: row × chunks; panel × chunks.
    pub(super) a_ranges: Vec<packing::Exponents>,
    pub(super) b_ranges: Vec<packing::Exponents>,
    /// What takes off again what A's bias adds to a group: panel × groups × columns.
    pub(super) excess: Aligned<u32>,
    pub(super) marks: Marks,
}
