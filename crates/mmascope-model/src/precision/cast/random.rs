//! Random bits of stochastic rounding: how many a value takes and which of a register they are.

use crate::error::{Error, Result};
use crate::format::{BF16, E2M1FN, F16, Format, Rounding};

use super::Packing;

/// The random bits of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// How many.
    pub bits: u32,
    /// The bits, right-aligned.
    pub value: u64,
}

impl Slice {
    /// The rounding that adds them to the first discarded bits.
    #[must_use]
    pub fn rounding(self) -> Rounding {
        Rounding::Stochastic {
            bits: self.bits,
            random: self.value,
        }
    }

    /// The same bits read from the other end.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            value: reversed(self.value, self.bits),
            ..self
        }
    }
}

/// The lowest `bits` bits in opposite order.
#[must_use]
pub fn reversed(value: u64, bits: u32) -> u64 {
    (value & (u64::MAX >> (64 - bits.clamp(1, 64)))).reverse_bits() >> (64 - bits.clamp(1, 64))
}

/// How many random bits PTX `cvt.rs` takes for one value of a target: 13 for f16, 16 for bf16
/// and the narrow formats. Targets that PTX has no `.rs` for take 16.
#[must_use]
pub fn slice_bits(to: &Format) -> u32 {
    if *to == F16 { 13 } else { 16 }
}

/// Random bits as they are given: for each value the same, or a register of PTX's for each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RandomBits {
    /// The same bits for every value.
    Each(Slice),
    /// The 32-bit register `rbits` of `cvt.rs`: each value of a group has its part of it.
    Register(u32),
}

impl RandomBits {
    /// Reads hexadecimal digits. A number that fits one value's bits is taken for every value, unless
    /// `packed`; a larger one is a register.
    ///
    /// # Errors
    /// [`Error::Argument`] when the text is no number of at most 32 bits, or a register where the
    /// target has no packed form.
    pub fn parse(text: &str, to: &Format, packed: bool) -> Result<Self> {
        let digits = text.trim().to_lowercase();
        let digits = digits.strip_prefix("0x").unwrap_or(&digits);
        let bits = slice_bits(to);
        let wrong = |why: &str| {
            Error::Argument(format!(
                "random bits '{text}': {why}; allowed: up to {bits} bits in hexadecimal for each \
                 value, or the 32-bit register of a packed cvt.rs"
            ))
        };
        let is_hex = (1..=16).contains(&digits.len())
            && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let value = u64::from_str_radix(digits, 16).ok().filter(|_| is_hex);
        let value = value.ok_or_else(|| wrong("this is no hexadecimal number"))?;
        if value >> bits == 0 && !packed {
            return Ok(Self::Each(Slice { bits, value }));
        }
        let register = u32::try_from(value).map_err(|_| wrong("more than 32 bits"))?;
        match Packing::of_random(to) {
            Some(_) => Ok(Self::Register(register)),
            None => Err(wrong(&format!(
                "PTX has no cvt.rs to {to}, so a value has {bits} bits"
            ))),
        }
    }

    /// The bits of the value at a place of the order in which operands are written (a, b, e, f).
    /// The second is the same read from the other end where PTX leaves open which way round it is:
    /// two lanes of an x4 form share their bits and read them in opposite order, and which one
    /// reads them reversed is not established.
    #[must_use]
    pub fn of(self, to: &Format, place: usize) -> (Slice, Option<Slice>) {
        let bits = slice_bits(to);
        let register = match self {
            Self::Each(slice) => return (slice, None),
            Self::Register(register) => u64::from(register),
        };
        let half = |upper: bool| register >> if upper { 16 } else { 0 } & 0xffff;
        match *to {
            F16 | BF16 => {
                let value = half(place.is_multiple_of(2)) & (u64::MAX >> (64 - bits));
                (Slice { bits, value }, None)
            }
            E2M1FN => {
                // Upper bytes of both halves for a and b, lower bytes for e and f.
                let shift = if place % 4 < 2 { 8 } else { 0 };
                let byte = |word: u64| word >> shift & 0xff;
                let value = byte(half(true)) << 8 | byte(half(false));
                let slice = Slice { bits, value };
                (slice, Some(slice.reversed()))
            }
            _ => {
                let value = half(place % 4 < 2);
                let slice = Slice { bits, value };
                (slice, Some(slice.reversed()))
            }
        }
    }
}
