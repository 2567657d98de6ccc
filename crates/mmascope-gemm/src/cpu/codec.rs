//! Converts accumulators between register words and f32 lanes.

use super::decoder::{Decoder, choose, mask};
use super::exponents::power_of_two;
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
    /// What is taken from f32's field to make it the format's.
    rebias: u32,
    /// Times both, a subnormal is its significand. (One alone may be no f32.)
    places: [f32; 2],
    shift: u32,
    sign_bit: u32,
    /// The word of a NaN result.
    nan: u32,
    infinity: u32,
}

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0xff << 23;
const QUIET_NAN: u32 = INFINITY | 1 << 22;
/// 2^23, to which f32 adds whole numbers below it exactly.
const WHOLE: f32 = (1 << 23) as f32;

impl Codec {
    pub(super) fn new(format: &Format, output: &Output) -> Option<Self> {
        let beside = format.register.shift;
        let format = format.container();
        let float = format.float()?;
        let up = float.bias - 1 + float.fraction_bits as i32;
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
            rebias: (127 - float.bias) as u32,
            places: [up.div_euclid(2), up - up.div_euclid(2)].map(|up| power_of_two(up) as f32),
            shift: format.register.shift,
            sign_bit: format.bits - 1,
            nan: nan as u32,
            infinity: ((1 << float.exponent_bits) - 1) << float.fraction_bits,
        })
    }

    /// Whether ∞ and NaN are those of IEEE 754.
    pub(super) fn is_ieee(&self) -> bool {
        self.ieee
    }

    /// Whether all bits of results of a format are read.
    pub(super) fn reads_all_of(&self, format: &Format) -> bool {
        let bits = format.float().map_or(u32::MAX, |float| float.fraction_bits);
        bits <= 23 - self.read.trailing_zeros().min(23)
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

    /// The lane of a word; without branches, so that the compiler makes vectors of loops.
    #[inline(always)]
    pub(super) fn decode(&self, word: u64) -> u32 {
        let word = word as u32;
        if self.plain {
            return word & self.read;
        }
        let (bits, special) = self.decoder.masks(word);
        let magnitude = word >> self.shift & ((1 << self.sign_bit) - 1);
        let infinite = mask(magnitude == self.infinity);
        let beyond = choose(infinite, bits & SIGN | INFINITY, QUIET_NAN);
        choose(special, beyond, bits)
    }

    /// The word of a lane that holds a number of the format; without branches, too.
    #[inline(always)]
    pub(super) fn encode(&self, lane: u32) -> u64 {
        let magnitude = lane & !SIGN;
        if self.plain {
            let nan = mask(magnitude > INFINITY);
            return u64::from(choose(nan, self.nan, lane));
        }
        let drop = 23 - self.fraction_bits;
        let normal = (magnitude >> drop).wrapping_sub(self.rebias << self.fraction_bits);
        // (f32's own subnormals lie as its normal numbers do; to multiply them takes some processors 50 times as long.)
        let other = mask(self.rebias != 0);
        let [first, second] = self.places;
        let places = f32::from_bits(magnitude & other) * first * second;
        // Below 2^23, so that the sum has them as its last bits.
        let subnormal = (places + WHOLE).to_bits() ^ WHOLE.to_bits();
        let small = other & mask(magnitude >> 23 < self.decoder.fields().0);
        let finite = choose(small, subnormal, normal);
        let infinite = mask(magnitude == INFINITY);
        let code = choose(infinite, self.infinity, finite) | (lane >> 31) << self.sign_bit;
        let nan = mask(magnitude > INFINITY);
        u64::from(choose(nan, self.nan, code << self.shift))
    }
}
