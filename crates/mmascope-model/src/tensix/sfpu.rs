//! The vector unit: multiply-add, loads and stores, conversions, order (§7).

mod convert;
mod random;

pub use convert::{
    Integers, Narrow, absolute_reciprocal, cast_to_f32, lut_coefficient, lut16_coefficient,
    round_to_integer, round_to_narrow,
};
pub use random::TensixRandomBits;

use super::flags::{Flag, StickyFlags};
use super::fpu;
use super::machine::Machine;
use crate::dpa::Events;
use crate::error::{Error, Result};

const SIGN: u32 = 1 << 31;
const ONE: u32 = 0x3f80_0000;

impl Machine {
    /// SFPMAD: `a · b + c` of f32 words. SFPADD has a = 1, SFPMUL c = +0.
    #[must_use]
    pub fn multiply_add(&self, a: u32, b: u32, c: u32) -> u32 {
        self.fma.of_words(a, b, c, self.zero).0
    }

    /// The same over lanes, with the status bits that they set; the flags are ORed over the lanes.
    pub fn multiply_add_lanes(&self, lanes: &[[u32; 3]], sticky: &mut StickyFlags) -> Vec<u32> {
        let lane = |[a, b, c]: &[u32; 3]| {
            let (word, events) = self.fma.of_words(*a, *b, *c, self.zero);
            self.note_sfpu(events, sticky);
            word
        };
        lanes.iter().map(lane).collect()
    }

    /// SFPMAD with the signs of a and c flipped first, where the machine can.
    ///
    /// # Errors
    /// [`Error::Argument`] when a sign is to be flipped and the machine cannot.
    pub fn multiply_add_flipped(
        &self,
        [a, b, c]: [u32; 3],
        flip_a: bool,
        flip_c: bool,
    ) -> Result<u32> {
        if flip_a || flip_c {
            self.needs("sfpu-sign-flips", "a multiply-add with flipped signs")?;
        }
        let flip = |word: u32, by: bool| word ^ if by { SIGN } else { 0 };
        Ok(self.multiply_add(flip(a, flip_a), b, flip(c, flip_c)))
    }

    fn note_sfpu(&self, events: Events, sticky: &mut StickyFlags) {
        sticky.join(self.sfpu_flags.of(events).unwrap_or_default());
    }
}

/// SFPADDI: `imm · 1 + d`, imm a bf16 word.
#[must_use]
pub fn add_immediate(machine: &Machine, immediate: u16, d: u32) -> u32 {
    machine.multiply_add(u32::from(immediate) << 16, ONE, d)
}

/// SFPIADD: two's complement addition; a signed overflow sets its status bit (assumed).
pub fn add_integers(a: u32, b: u32, sticky: &mut StickyFlags) -> u32 {
    let (sum, overflow) = (a as i32).overflowing_add(b as i32);
    if overflow {
        sticky.set(Flag::SfpuOverflow);
    }
    sum as u32
}

/// What a datum of Dst is for loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stored {
    /// bf16, 16 bits.
    Bf16,
    /// f16, 16 bits.
    F16,
    /// f32.
    F32,
    /// A 32-bit integer, as it is.
    Int32,
}

/// SFPLOAD: a datum of Dst as a 32-bit word. A subnormal f16 becomes a subnormal f32, which is 0 for the
/// arithmetic.
#[must_use]
pub fn load(kind: Stored, datum: u32) -> u32 {
    match kind {
        Stored::Bf16 => datum << 16,
        Stored::F16 => super::f16_to_f32(datum as u16),
        Stored::F32 | Stored::Int32 => datum,
    }
}

/// SFPLOADI of an f16 immediate: every exponent field is rebiased, 0 and 31 as well.
#[must_use]
pub fn load_immediate_f16(word: u16) -> u32 {
    (u32::from(word >> 15) << 31) | ((u32::from(word & 0x7fff) << 13) + (112 << 23))
}

/// SFPSTORE: a 32-bit word as a datum of Dst. Floats are truncated, subnormal ones become signed zeros (for
/// f32 the simulator says so, the documentation says as it is).
#[must_use]
pub fn store(kind: Stored, word: u32) -> u32 {
    let is_small = word >> 23 & 0xff == 0;
    let flushed = if is_small { word & SIGN } else { word };
    match kind {
        Stored::Bf16 => flushed >> 16,
        Stored::F16 => {
            let sign = word >> 31 << 15;
            match (word >> 23 & 0xff) as i32 - 112 {
                ..=0 => sign,
                _ => super::f32_to_f16(word).into(),
            }
        }
        Stored::F32 => flushed,
        Stored::Int32 => word,
    }
}

/// SFPABS of a float: the sign is cleared unless the word is a NaN with a sign.
#[must_use]
pub fn absolute(word: u32) -> u32 {
    if word > 0xff80_0000 {
        word
    } else {
        word & !SIGN
    }
}

/// SFPDIVP2, adding: the exponent field wraps; one of all ones is left alone.
#[must_use]
pub fn divide_by_power(word: u32, add: u8) -> u32 {
    let exponent = (word >> 23) as u8;
    match exponent {
        255 => word,
        _ => word & !(0xff << 23) | u32::from(exponent.wrapping_add(add)) << 23,
    }
}

/// The order of SFPSWAP, SFPLE and SFPGT: −NaN < −∞ < … < −0 < +0 < … < +∞ < +NaN.
#[must_use]
pub fn compare_order(x: u32, y: u32) -> std::cmp::Ordering {
    fpu::order(x).cmp(&fpu::order(y))
}

/// The constants of the vector unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constant;

impl Constant {
    /// The value of a constant register in a lane.
    ///
    /// # Errors
    /// [`Error::Argument`] for another register.
    pub fn read(register: u8, lane: u32) -> Result<u32> {
        match register {
            8 => Ok(0x3f56_594b),
            9 => Ok(0),
            10 => Ok(ONE),
            11 => Ok(SIGN | ONE),
            15 => Ok(2 * lane),
            _ => Err(Error::Argument(format!(
                "register {register}: the constants are 8, 9, 10, 11 (by default) and 15"
            ))),
        }
    }
}
