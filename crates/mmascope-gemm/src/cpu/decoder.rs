//! Decodes register words of a format to f32, without branches.

use super::exponents::power_of_two;
use crate::dpa::FlushSign;
use crate::format::{Float, Format, Specials};

/// Turns register words of a format into f32, branch-free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder {
    shift: u32,
    mask: u32,
    fraction_bits: u32,
    sign_shift: u32,
    /// Added to a field in place to make it f32's.
    rebias: u32,
    /// Unit of a subnormal.
    unit: f32,
    /// Codes, without their sign, above this one are special; and so is this code, which a format without
    /// specials of its own kind does not have. (Below 2^31, as signed comparisons take one instruction.)
    last_finite: i32,
    special_code: u32,
    flip: u32,
    /// What is left of a number whose field is 0: all, its sign, or nothing.
    left: u32,
    /// Field of the smallest normal number, as f32's: subnormals align there.
    smallest: u32,
    /// Field of the largest finite number, as f32's.
    largest: u32,
}

impl Decoder {
    /// `None` for formats that f32 does not contain. `widened`: the format whose exponents count.
    pub(super) fn new(format: &Format, widened: Option<&Format>, negate: bool) -> Option<Self> {
        let Float {
            exponent_bits,
            fraction_bits,
            bias,
            specials,
            subnormals,
        } = format.float()?;
        let fits = fraction_bits <= 23 && exponent_bits <= 8 && bias <= 127 && subnormals;
        // The largest exponent; above it IEEE 754 has its specials.
        let top = (1_i32 << exponent_bits) - 1 - i32::from(specials == Specials::Ieee) - bias;
        if !fits || !format.signed || top > 127 {
            return None;
        }
        let smallest = widened.unwrap_or(format).float()?.emin() + 127;
        let all = (1_u32 << (exponent_bits + fraction_bits)) - 1;
        let infinity = ((1_u32 << exponent_bits) - 1) << fraction_bits;
        Some(Self {
            shift: format.register.shift,
            mask: format.mask() as u32,
            fraction_bits,
            sign_shift: 32 - format.bits,
            rebias: (127 - bias) as u32,
            unit: power_of_two(1 - bias - fraction_bits as i32) as f32,
            last_finite: match specials {
                Specials::Ieee => infinity as i32 - 1,
                Specials::AllOnesNan => all as i32 - 1,
                Specials::NegativeZeroNan | Specials::None => i32::MAX,
            },
            special_code: match specials {
                Specials::NegativeZeroNan => all + 1,
                _ => u32::MAX,
            },
            flip: if negate { 1 << 31 } else { 0 },
            left: u32::MAX,
            smallest: smallest.max(1) as u32,
            largest: (format.decode(format.max_finite(false)).exponent + 127) as u32,
        })
    }

    /// The same, where operands whose field is 0 become zeros of this sign.
    pub(super) fn flushed(self, sign: FlushSign) -> Self {
        let left = match sign {
            FlushSign::Plus => 0,
            FlushSign::Kept => 1 << 31,
        };
        Self { left, ..self }
    }

    /// The same, of numbers times a power of two; the caller's numbers stay finite and normal as f32.
    pub(super) fn moved(self, by: i32) -> Self {
        let up = |field: u32| field.wrapping_add_signed(by);
        Self {
            rebias: up(self.rebias),
            unit: (f64::from(self.unit) * power_of_two(by)) as f32,
            smallest: up(self.smallest),
            largest: up(self.largest),
            ..self
        }
    }

    /// Fraction bits of the format.
    pub(super) fn fraction_bits(&self) -> u32 {
        self.fraction_bits
    }

    /// Fields of the smallest and the largest finite number, as f32's.
    pub(super) fn fields(&self) -> (u32, u32) {
        (self.smallest, self.largest)
    }

    /// The value as f32 bits and whether it is ∞ or NaN (its value is then any).
    #[inline(always)]
    pub(super) fn decode(&self, word: u32) -> (u32, bool) {
        let (bits, special) = self.masks(word);
        (bits, special != 0)
    }

    /// The same, "whether" as a mask: without a branch, so that the compiler makes vectors of loops.
    #[inline(always)]
    pub(super) fn masks(&self, word: u32) -> (u32, u32) {
        let code = (word >> self.shift) & self.mask;
        let sign = (code << self.sign_shift) & 1 << 31;
        let magnitude = code & self.mask >> 1;
        let normal = (magnitude << (23 - self.fraction_bits)).wrapping_add(self.rebias << 23);
        // f32's own subnormals lie as its normal numbers do; a subnormal factor takes some processors 50 times as long.
        let other = self.rebias != 0;
        let unit = if other { self.unit } else { 1.0 };
        let subnormal = (magnitude as i32 as f32 * unit).to_bits();
        let is_subnormal = mask(magnitude >> self.fraction_bits == 0);
        let bits = choose(is_subnormal & mask(other), subnormal, normal);
        let special = mask(magnitude as i32 > self.last_finite) | mask(code == self.special_code);
        let bits = (bits | sign) ^ self.flip;
        (bits & choose(is_subnormal, self.left, u32::MAX), special)
    }

    /// The exponent field with which a value takes part in alignment; 0 for a zero.
    #[inline(always)]
    pub(super) fn field(&self, bits: u32) -> u32 {
        let magnitude = bits & !(1 << 31);
        self.field_of(magnitude) & mask(magnitude != 0)
    }

    /// The same of a magnitude that is not zero.
    #[inline(always)]
    pub(super) fn field_of(&self, magnitude: u32) -> u32 {
        (magnitude >> 23).max(self.smallest)
    }
}

/// All ones or none.
#[inline(always)]
pub(super) fn mask(whether: bool) -> u32 {
    u32::from(whether).wrapping_neg()
}

/// The one where the mask is set, the other where not.
#[inline(always)]
pub(super) fn choose(mask: u32, one: u32, other: u32) -> u32 {
    mask & one | !mask & other
}
