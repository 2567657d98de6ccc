//! Casts of whole slices, with the bits of [`Cast`].
//!
//! ```
//! use mmascope_gemm::cast;
//! use mmascope_model::format::{E4M3FN, F32};
//! use mmascope_model::precision::cast::{Cast, CastOptions};
//!
//! let to_e4m3 = Cast::new(F32, E4M3FN, &CastOptions::default())?;
//! let mut codes = [0_u8; 3];
//! cast::slice(&to_e4m3, &[1.0_f32, -1000.0, f32::NAN], &mut codes)?;
//! assert_eq!(codes, [0x38, 0xfe, 0x7f]);
//! # Ok::<(), mmascope_model::Error>(())
//! ```
//!
//! How a slice is cast depends on its formats alone: f32 and bf16 to floats of at most 16 bits by
//! integer arithmetic that the compiler turns into vectors, f16 and bf16 to f32 the same way, other
//! narrow sources by a table, and the rest one by one.

use crate::array::{Stored, Words};
use crate::each_width;
use crate::error::{Error, Result};
use crate::format::{BF16, Class, F16, F32, Format, Kind, Overflow, Rounding};
use mmascope_model::precision::cast::{Cast, NanRule};

/// What a slice may hold: register words, or numbers of the host with these bits.
pub trait Bits: Copy + Send + Sync {
    /// How many bits.
    const WIDTH: u32;
    /// The bits.
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($type:ty, $width:literal, $bits:expr;)*) => {$(
        impl Bits for $type {
            const WIDTH: u32 = $width;
            #[inline(always)]
            fn bits(self) -> u64 {
                $bits(self)
            }
        }
    )*};
}
bits! {
    u8, 8, u64::from;
    u16, 16, u64::from;
    u32, 32, u64::from;
    u64, 64, u64::from;
    f32, 32, |x: f32| u64::from(x.to_bits());
    f64, 64, f64::to_bits;
}

/// Casts register words of the source to register words of the target. Elements have the width of the
/// registers: 8, 16, 32 or 64 bits (formats of 4 bits take 8).
///
/// # Errors
/// [`Error::Argument`] when the slices have different lengths or elements of another width.
pub fn slice<S: Bits, D: Stored>(cast: &Cast, from: &[S], to: &mut [D]) -> Result<()> {
    check_width("source", cast.from(), S::WIDTH)?;
    check_width("target", cast.to(), 8 * size_of::<D>() as u32)?;
    if from.len() != to.len() {
        return Err(Error::Argument(format!(
            "{} values do not fit a slice of {}",
            from.len(),
            to.len()
        )));
    }
    match Way::of(cast, from.len()) {
        Way::Encoded(encoder) => run::encode(&encoder, from, to),
        Way::Decoded(decoder) => run::decode(&decoder, from, to),
        Way::Table => by_table(cast, from, to),
        Way::Each => {
            for (word, out) in from.iter().zip(to) {
                *out = D::stored(cast.word(word.bits()));
            }
        }
    }
    Ok(())
}

/// Casts words.
///
/// # Errors
/// [`Error::Argument`] when they are not as wide as the source's registers or do not fit the memory.
pub fn words(cast: &Cast, from: &Words) -> Result<Words> {
    let mut to = Words::filled(cast.to().register.bits, from.len(), 0)?;
    each_width!(from, from => each_width!(&mut to, to => slice(cast, from, to)))?;
    Ok(to)
}

fn check_width(what: &str, format: &Format, width: u32) -> Result<()> {
    let wanted = format.register.bits.max(8);
    if width == wanted {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "{what} elements of {width} bits: words of {format} have {wanted}"
    )))
}

/// How a slice is cast.
enum Way {
    Encoded(Encoder),
    Decoded(Decoder),
    Table,
    Each,
}

impl Way {
    fn of(cast: &Cast, length: usize) -> Self {
        let from = cast.from();
        if let Some(encoder) = Encoder::of(cast) {
            return Self::Encoded(encoder);
        }
        if let Some(decoder) = Decoder::of(cast) {
            return Self::Decoded(decoder);
        }
        // A table costs as many casts as it has entries.
        let is_worth_it = from.register.bits <= 16 && length >> from.register.bits > 0;
        if is_worth_it { Self::Table } else { Self::Each }
    }
}

fn by_table<S: Bits, D: Stored>(cast: &Cast, from: &[S], to: &mut [D]) {
    let entries = 1_u64 << cast.from().register.bits.max(8);
    let table: Vec<D> = (0..entries)
        .map(|word| D::stored(cast.word(word)))
        .collect();
    let last = table.len() - 1;
    for (word, out) in from.iter().zip(to) {
        *out = table[word.bits() as usize & last];
    }
}

/// A result for each sign.
#[derive(Clone, Copy)]
struct Signed {
    plus: u32,
    /// What changes where the sign is set.
    change: u32,
}

impl Signed {
    fn of(cast: &Cast, plus: u64, minus: u64) -> Self {
        let [plus, minus] = [plus, minus].map(|word| cast.word(word) as u32);
        Self {
            plus,
            change: plus ^ minus,
        }
    }

    #[inline(always)]
    fn at(self, negative: u32) -> u32 {
        self.plus ^ (self.change & negative)
    }
}

/// From f32, or bf16 as its upper half, to a float of fewer bits.
#[derive(Clone, Copy)]
struct Encoder {
    rounding: Rounding,
    /// Bits of the source word below the f32 word.
    source_shift: u32,
    fraction_bits: u32,
    /// The f32 exponent field of the target's smallest normal number.
    least: u32,
    /// Code of the largest finite magnitude.
    largest: u32,
    /// Where a set sign counts.
    signs: u32,
    sign_bit: u32,
    register_shift: u32,
    zero: Signed,
    beyond: Signed,
    infinity: Signed,
    nan: Signed,
}

impl Encoder {
    fn of(cast: &Cast) -> Option<Self> {
        let (from, to) = (cast.from(), cast.to());
        let float = to.float().filter(|float| float.subnormals)?;
        let source_shift = match *from {
            F32 => 0,
            BF16 => 16,
            _ => return None,
        };
        let is_stochastic = matches!(cast.rounding(), Rounding::Stochastic { .. });
        if !cast.is_plain()
            || is_stochastic
            // A NaN whose payload matters is left to the reference.
            || cast.nan_rule().is_some_and(NanRule::keeps_payload)
            || float.fraction_bits > 13
            || to == from
            || float.emin() < F32.float()?.emin()
            || cast.overflow() == Overflow::NanFinite
        {
            return None;
        }
        let word = |word: u64| word >> source_shift;
        let both = |plus: u64| Signed::of(cast, word(plus), word(plus | 1 << 31));
        let smallest = if source_shift == 0 {
            0x7f7f_ffff
        } else {
            0x7f7f_0000
        };
        Some(Self {
            rounding: cast.rounding(),
            source_shift,
            fraction_bits: float.fraction_bits,
            least: (float.emin() + 127) as u32,
            largest: to.max_finite(false) as u32,
            signs: if to.signed { u32::MAX } else { 0 },
            sign_bit: if to.signed { 1 << (to.bits - 1) } else { 0 },
            register_shift: to.register.shift,
            zero: both(0),
            beyond: both(smallest),
            infinity: both(0x7f80_0000),
            nan: both(0x7fc0_0000),
        })
    }

    /// One word, without branches. `MODE` is the rounding.
    #[inline(always)]
    fn word<const MODE: u8>(&self, word: u32) -> u32 {
        let magnitude = word & 0x7fff_ffff;
        let sign = ((word as i32) >> 31) as u32;
        let negative = sign & self.signs;
        let field = magnitude >> 23;
        let own = field.max(1);
        let binade = own.max(self.least);
        let significand = (magnitude & 0x007f_ffff) | (field.min(1) << 23);
        let shift = (23 - self.fraction_bits + binade - own).min(31);
        let unit = 1_u32 << shift;
        let odd = (significand >> shift) & 1;
        let plus = !negative & 1;
        let half = (unit >> 1) - 1;
        let added = match MODE {
            modes::RNE => half + odd,
            modes::RNA => half + 1,
            modes::RNZ => half,
            modes::RNU => half + plus,
            modes::RND => half + (plus ^ 1),
            modes::RNO => half + (odd ^ 1),
            modes::RA => unit - 1,
            modes::RU => (unit - 1) & !negative,
            modes::RD => (unit - 1) & negative,
            _ => 0,
        };
        let mut kept = (significand + added) >> shift;
        if MODE == modes::ODD {
            kept |= u32::from(significand & (unit - 1) != 0);
        }
        let code = ((binade - self.least) << self.fraction_bits) + kept;
        let mut out = (code | (self.sign_bit & negative)) << self.register_shift;
        out = if code == 0 { self.zero.at(sign) } else { out };
        out = if code > self.largest {
            self.beyond.at(sign)
        } else {
            out
        };
        out = if magnitude == 0x7f80_0000 {
            self.infinity.at(sign)
        } else {
            out
        };
        if magnitude > 0x7f80_0000 {
            self.nan.at(sign)
        } else {
            out
        }
    }
}

/// From f16 and bf16 to f32.
#[derive(Clone, Copy)]
struct Decoder {
    is_f16: bool,
    /// Magnitudes above this are NaNs that become `nan`.
    largest: u32,
    nan: Signed,
}

impl Decoder {
    fn of(cast: &Cast) -> Option<Self> {
        let from = *cast.from();
        let is_half = [F16, BF16].contains(&from);
        if !is_half || *cast.to() != F32 || !cast.is_plain() {
            return None;
        }
        let largest = match (cast.nan_rule(), from) {
            // The shift that makes numbers of bf16 wider keeps a NaN as well.
            (Some(NanRule::Kept), BF16) => u32::MAX,
            (Some(rule), _) if rule.keeps_payload() => return None,
            (_, BF16) => 0x7f80,
            _ => 0x7c00,
        };
        let nan = from.nan()?;
        let exact = from.decode(nan).class == Class::Nan && matches!(from.kind, Kind::Float(_));
        // `--overflow` concerns the infinities too.
        if !exact || cast.overflow() != Overflow::Ieee {
            return None;
        }
        Some(Self {
            is_f16: from == F16,
            largest,
            nan: Signed::of(cast, nan, nan | 1 << 15),
        })
    }

    #[inline(always)]
    fn word<const F16_SOURCE: bool>(&self, word: u32) -> u32 {
        let sign = ((word << 16) as i32 >> 31) as u32;
        let magnitude = word & 0x7fff;
        let number = if F16_SOURCE {
            // A subnormal is an integer times 2^-24: the host's conversion and product are exact.
            let subnormal = (magnitude as i32 as f32 * f32::from_bits((127 - 24) << 23)).to_bits();
            let normal = (magnitude << 13) + ((127 - 15) << 23);
            let infinite = 255 << 23;
            let number = if magnitude < 0x400 { subnormal } else { normal };
            if magnitude == 0x7c00 {
                infinite
            } else {
                number
            }
        } else {
            magnitude << 16
        };
        let out = number | (sign & 1 << 31);
        if magnitude > self.largest {
            self.nan.at(sign)
        } else {
            out
        }
    }
}

/// The roundings as constants, so that each has a loop of its own.
mod modes {
    pub(super) const RNE: u8 = 0;
    pub(super) const RNA: u8 = 1;
    pub(super) const RNZ: u8 = 2;
    pub(super) const RNU: u8 = 3;
    pub(super) const RND: u8 = 4;
    pub(super) const RNO: u8 = 5;
    pub(super) const RZ: u8 = 6;
    pub(super) const RA: u8 = 7;
    pub(super) const RU: u8 = 8;
    pub(super) const RD: u8 = 9;
    pub(super) const ODD: u8 = 10;
}

/// The loops, and which instruction set runs them.
mod run {
    use super::{Bits, Decoder, Encoder, Stored, modes};
    use crate::format::Rounding;

    #[inline(always)]
    fn encoded<const MODE: u8, S: Bits, D: Stored>(encoder: &Encoder, from: &[S], to: &mut [D]) {
        let encoder = *encoder;
        for (word, out) in from.iter().zip(to) {
            let word = (word.bits() as u32) << encoder.source_shift;
            *out = D::stored(u64::from(encoder.word::<MODE>(word)));
        }
    }

    #[inline(always)]
    fn decoded<const F16_SOURCE: bool, S: Bits, D: Stored>(
        decoder: &Decoder,
        from: &[S],
        to: &mut [D],
    ) {
        let decoder = *decoder;
        for (word, out) in from.iter().zip(to) {
            let word = decoder.word::<F16_SOURCE>(word.bits() as u32);
            *out = D::stored(u64::from(word));
        }
    }

    pub(super) fn encode<S: Bits, D: Stored>(encoder: &Encoder, from: &[S], to: &mut [D]) {
        match encoder.rounding {
            Rounding::Rne => vectors::encode::<{ modes::RNE }, S, D>(encoder, from, to),
            Rounding::Rna => vectors::encode::<{ modes::RNA }, S, D>(encoder, from, to),
            Rounding::Rnz => vectors::encode::<{ modes::RNZ }, S, D>(encoder, from, to),
            Rounding::Rnu => vectors::encode::<{ modes::RNU }, S, D>(encoder, from, to),
            Rounding::Rnd => vectors::encode::<{ modes::RND }, S, D>(encoder, from, to),
            Rounding::Rno => vectors::encode::<{ modes::RNO }, S, D>(encoder, from, to),
            Rounding::Ra => vectors::encode::<{ modes::RA }, S, D>(encoder, from, to),
            Rounding::Ru => vectors::encode::<{ modes::RU }, S, D>(encoder, from, to),
            Rounding::Rd => vectors::encode::<{ modes::RD }, S, D>(encoder, from, to),
            Rounding::Odd => vectors::encode::<{ modes::ODD }, S, D>(encoder, from, to),
            Rounding::Rz | Rounding::Stochastic { .. } => {
                vectors::encode::<{ modes::RZ }, S, D>(encoder, from, to);
            }
        }
    }

    pub(super) fn decode<S: Bits, D: Stored>(decoder: &Decoder, from: &[S], to: &mut [D]) {
        if decoder.is_f16 {
            vectors::decode::<true, S, D>(decoder, from, to);
        } else {
            vectors::decode::<false, S, D>(decoder, from, to);
        }
    }

    /// The same loops, compiled for AVX2 where the machine has it: shifts by different widths have an
    /// instruction there.
    #[cfg(all(feature = "kernel", target_arch = "x86_64"))]
    mod vectors {
        #![allow(unsafe_code)]

        use super::{Bits, Decoder, Encoder, Stored};
        use crate::cpu::Level;

        fn has_avx2() -> bool {
            Level::current().is_ok_and(|level| level >= Level::Avx2)
        }

        #[target_feature(enable = "avx2")]
        fn encode_avx2<const MODE: u8, S: Bits, D: Stored>(e: &Encoder, from: &[S], to: &mut [D]) {
            super::encoded::<MODE, S, D>(e, from, to);
        }

        #[target_feature(enable = "avx2")]
        fn decode_avx2<const F16: bool, S: Bits, D: Stored>(d: &Decoder, from: &[S], to: &mut [D]) {
            super::decoded::<F16, S, D>(d, from, to);
        }

        pub(super) fn encode<const MODE: u8, S: Bits, D: Stored>(
            encoder: &Encoder,
            from: &[S],
            to: &mut [D],
        ) {
            if has_avx2() {
                // SAFETY: a level of AVX2 or more is there only where the processor has AVX2.
                unsafe { encode_avx2::<MODE, S, D>(encoder, from, to) }
            } else {
                super::encoded::<MODE, S, D>(encoder, from, to);
            }
        }

        pub(super) fn decode<const F16: bool, S: Bits, D: Stored>(
            decoder: &Decoder,
            from: &[S],
            to: &mut [D],
        ) {
            if has_avx2() {
                // SAFETY: a level of AVX2 or more is there only where the processor has AVX2.
                unsafe { decode_avx2::<F16, S, D>(decoder, from, to) }
            } else {
                super::decoded::<F16, S, D>(decoder, from, to);
            }
        }
    }

    #[cfg(not(all(feature = "kernel", target_arch = "x86_64")))]
    mod vectors {
        pub(super) use super::{decoded as decode, encoded as encode};
    }
}
