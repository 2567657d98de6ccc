//! Converts accumulators between register words and f32 lanes.

use super::decoder::Decoder;
use crate::dpa::{Nan, Output};
use crate::format::{Format, Specials};

/// A format of c or d whose every number is an f32.
#[derive(Clone, Copy, Debug)]
pub(super) struct Codec {
    decoder: Decoder,
    ieee: bool,
    /// The word is the f32 itself.
    plain: bool,
    /// The bits that are read of such a word: a tf32 leaves out the lowest.
    read: u32,
    fraction_bits: u32,
    exponent_bits: u32,
    bias: i32,
    shift: u32,
    sign_bit: u32,
    /// The word of a NaN result.
    nan: u64,
    infinity: u64,
}

impl Codec {
    pub(super) fn new(format: &Format, output: &Output) -> Option<Self> {
        let beside = format.register.shift;
        let format = format.container();
        let float = format.float()?;
        let nan = match output.nan {
            Nan::Word(word) | Nan::Operand(word) => word,
            Nan::Any | Nan::Own => format.to_register(format.nan_or_substitute()),
        };
        Some(Self {
            decoder: Decoder::new(&format, None, false)?,
            ieee: float.specials == Specials::Ieee,
            plain: format.bits == 32,
            read: u32::MAX << if format.bits == 32 { beside } else { 0 },
            fraction_bits: float.fraction_bits,
            exponent_bits: float.exponent_bits,
            bias: float.bias,
            shift: format.register.shift,
            sign_bit: format.bits - 1,
            nan,
            infinity: ((1 << float.exponent_bits) - 1) << float.fraction_bits,
        })
    }

    /// Whether ∞ and NaN are those of IEEE 754.
    pub(super) fn is_ieee(&self) -> bool {
        self.ieee
    }

    /// Whether a word is its lane.
    pub(super) fn is_plain(&self) -> bool {
        self.plain && self.read == u32::MAX
    }

    /// Whether all bits of results of a format are read.
    pub(super) fn reads_all_of(&self, format: &Format) -> bool {
        let bits = format.float().map_or(u32::MAX, |float| float.fraction_bits);
        bits <= 23 - self.read.trailing_zeros().min(23)
    }

    /// The word of a NaN where all other words are their lanes.
    pub(super) fn plain_nan(&self) -> Option<u32> {
        self.plain.then_some(self.nan as u32)
    }

    /// Fraction bits of a number.
    pub(super) fn bits(&self) -> u32 {
        self.fraction_bits
    }

    /// Field of the smallest normal number as f32's in place; 0 where it is f32's own.
    pub(super) fn smallest(&self) -> u32 {
        match self.decoder.fields().0 {
            1 => 0,
            field => field << 23,
        }
    }

    /// The lane of a word.
    #[inline(always)]
    pub(super) fn decode(&self, word: u64) -> u32 {
        if self.plain {
            return word as u32 & self.read;
        }
        let (bits, special) = self.decoder.decode(word as u32);
        if !special {
            return bits;
        }
        let code = word >> self.shift;
        let magnitude = code & ((1 << self.sign_bit) - 1);
        if magnitude == self.infinity {
            bits & 1 << 31 | 0x7f80_0000
        } else {
            0x7fc0_0000
        }
    }

    /// The word of a lane that holds a number of the format.
    #[inline(always)]
    pub(super) fn encode(&self, lane: u32) -> u64 {
        let magnitude = lane & !(1 << 31);
        if magnitude > 0x7f80_0000 {
            return self.nan;
        }
        if self.plain {
            return u64::from(lane);
        }
        let sign = u64::from(lane >> 31) << self.sign_bit;
        let code = if magnitude == 0x7f80_0000 {
            self.infinity
        } else {
            // (A subnormal f32 has the exponent of field 1 and no hidden bit.)
            let field = (magnitude >> 23).max(1) as i32 - 127 + self.bias;
            let drop = 23 - self.fraction_bits;
            let normal = (magnitude >> drop) as i32 - ((127 - self.bias) << self.fraction_bits);
            let hidden = u32::from(magnitude >> 23 != 0) << 23;
            let significand = magnitude & 0x7f_ffff | hidden;
            // Field 1 is subnormal without its hidden bit, field 0 one place lower, …
            let subnormal = significand.checked_shr((drop as i32 + 1 - field) as u32);
            let zero = magnitude == 0;
            let whole = if field >= 1 {
                normal as u32
            } else {
                subnormal.filter(|_| !zero).unwrap_or(0)
            };
            u64::from(whole) & ((1 << (self.exponent_bits + self.fraction_bits)) - 1)
        };
        (sign | code) << self.shift
    }
}
