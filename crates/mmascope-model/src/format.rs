//! Number formats: each format is a value in one table, and decoding and rounding read that value.
//!
//! The facts are those of IEEE 754-2019, OCP OFP8 1.0, OCP MX 1.0, the PTX ISA (§5.2.3) and
//! arXiv 2206.02915 (the FNUZ formats).

#![deny(clippy::float_arithmetic)]

mod convert;
mod declared;
mod decode;
mod round;

pub use convert::Conversion;
pub use declared::Formats;
pub use decode::{Class, Unpacked};
pub use round::Overflow;

pub use crate::exact::{Exact, Rounding};

use crate::error::{Error, Result};

/// A number format: how many bits a code has and what each code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// The name used in the catalogue and in messages.
    pub name: &'static str,
    /// Bits of one code; codes are right-aligned.
    pub bits: u32,
    /// Whether the top bit of a code is a sign (floats: sign and magnitude; fixed: two's complement).
    pub signed: bool,
    /// Float or fixed point, with the parameters of that kind.
    pub kind: Kind,
    /// How a code sits in the word that registers, vectors and arrays carry.
    pub register: Register,
}

/// What the bits below the sign mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Exponent field, then fraction field.
    Float(Float),
    /// An integer times `2^scale`.
    Fixed {
        /// Exponent of the unit in the last place.
        scale: i32,
    },
}

/// Parameters of a floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Float {
    /// Width of the exponent field.
    pub exponent_bits: u32,
    /// Width of the fraction field (the significand has one bit more).
    pub fraction_bits: u32,
    /// Exponent bias.
    pub bias: i32,
    /// Which codes are not finite numbers.
    pub specials: Specials,
    /// Whether exponent field 0 means zero and subnormals (false for the power-of-two scale
    /// format, where it is one more normal binade).
    pub subnormals: bool,
}

/// Which codes of a float are infinities and NaNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Specials {
    /// IEEE 754: exponent field all ones is ∞ (fraction 0) or NaN.
    Ieee,
    /// `fn`: no ∞; exponent and fraction all ones is NaN.
    AllOnesNan,
    /// `fnuz`: no ∞, no −0; the code of −0 is the one NaN.
    NegativeZeroNan,
    /// Every code is a finite number.
    None,
}

/// The word a code travels in: registers, vector lines and arrays hold `code << shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    /// Width of the word in bits.
    pub bits: u32,
    /// Low bits below the code; the unit ignores them in operands and writes them as 0.
    pub shift: u32,
    /// The format of the whole word, where the code is the upper part of another's.
    pub of: Option<&'static Format>,
}

const fn float(
    name: &'static str,
    sign: bool,
    exponent_bits: u32,
    fraction_bits: u32,
    bias: i32,
    specials: Specials,
) -> Format {
    let bits = sign as u32 + exponent_bits + fraction_bits;
    Format {
        name,
        bits,
        signed: sign,
        kind: Kind::Float(Float {
            exponent_bits,
            fraction_bits,
            bias,
            specials,
            subnormals: true,
        }),
        register: Register {
            bits: storage(bits),
            shift: 0,
            of: None,
        },
    }
}

/// Vector lines print 4-bit formats as one digit and 6- to 8-bit formats as two.
const fn storage(bits: u32) -> u32 {
    match bits {
        0..=4 => 4,
        5..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => 64,
    }
}

/// A float whose code is the upper part of a word of `whole`: it has fewer fraction bits.
const fn upper_part(name: &'static str, whole: &'static Format, fraction_bits: u32) -> Format {
    match whole.kind {
        Kind::Float(of) => Format {
            register: Register {
                bits: whole.bits,
                shift: of.fraction_bits - fraction_bits,
                of: Some(whole),
            },
            ..float(
                name,
                true,
                of.exponent_bits,
                fraction_bits,
                of.bias,
                of.specials,
            )
        },
        Kind::Fixed { .. } => *whole,
    }
}

const fn fixed(name: &'static str, bits: u32, signed: bool, scale: i32) -> Format {
    let register = Register {
        bits: storage(bits),
        shift: 0,
        of: None,
    };
    Format {
        name,
        bits,
        signed,
        kind: Kind::Fixed { scale },
        register,
    }
}

/// IEEE binary64.
pub const F64: Format = float("f64", true, 11, 52, 1023, Specials::Ieee);
/// IEEE binary32.
pub const F32: Format = float("f32", true, 8, 23, 127, Specials::Ieee);
/// TF32 / XF32: 19 bits, the upper part of an f32 word whose 13 low bits are ignored.
pub const TF32: Format = upper_part("tf32", &F32, 10);
/// The accumulator of the narrow fp8 sums: f32 with 13 fraction bits, stored as an f32 word.
pub const E8M13: Format = upper_part("e8m13", &F32, 13);
/// f32's significand with the exponents of f64, stored as an f64 word: a number rounded to the precision
/// of f32 and not to its range, as POWER10 does between two sums.
pub const E11M23: Format = upper_part("e11m23", &F64, 23);
/// IEEE binary16.
pub const F16: Format = float("f16", true, 5, 10, 15, Specials::Ieee);
/// bfloat16.
pub const BF16: Format = float("bf16", true, 8, 7, 127, Specials::Ieee);
/// OCP E4M3, the format that NVIDIA calls e4m3.
pub const E4M3FN: Format = float("e4m3fn", true, 4, 3, 7, Specials::AllOnesNan);
/// OCP E5M2.
pub const E5M2: Format = float("e5m2", true, 5, 2, 15, Specials::Ieee);
/// E4M3 FNUZ, bias 8: CDNA3's fp8.
pub const E4M3FNUZ: Format = float("e4m3fnuz", true, 4, 3, 8, Specials::NegativeZeroNan);
/// E5M2 FNUZ, bias 16: CDNA3's bf8.
pub const E5M2FNUZ: Format = float("e5m2fnuz", true, 5, 2, 16, Specials::NegativeZeroNan);
/// OCP MX E2M1 (fp4).
pub const E2M1FN: Format = float("e2m1fn", true, 2, 1, 1, Specials::None);
/// OCP MX E8M0: a power of two, code 0 is 2^-127, no zero, no sign.
pub const UE8M0: Format = {
    let format = float("ue8m0", false, 8, 0, 127, Specials::AllOnesNan);
    match format.kind {
        Kind::Float(float) => Format {
            kind: Kind::Float(Float {
                subnormals: false,
                ..float
            }),
            ..format
        },
        Kind::Fixed { .. } => format,
    }
};
/// Unsigned E4M3, 7 bits in a byte whose top bit is ignored: NVFP4's block scale.
pub const UE4M3: Format = {
    let format = float("ue4m3", false, 4, 3, 7, Specials::AllOnesNan);
    Format {
        register: Register {
            bits: 8,
            shift: 0,
            of: None,
        },
        ..format
    }
};

/// Every format, widest first within each family.
pub const FORMATS: &[Format] = &[
    F64,
    F32,
    TF32,
    E8M13,
    E11M23,
    F16,
    BF16,
    E5M2,
    E4M3FN,
    E5M2FNUZ,
    E4M3FNUZ,
    float("e4m3-ieee", true, 4, 3, 7, Specials::Ieee),
    float("e3m4", true, 3, 4, 3, Specials::Ieee),
    float("e4m3b11fnuz", true, 4, 3, 11, Specials::NegativeZeroNan),
    float("e3m2fn", true, 3, 2, 3, Specials::None),
    float("e2m3fn", true, 2, 3, 1, Specials::None),
    E2M1FN,
    UE8M0,
    UE4M3,
    float("ue5m3", false, 5, 3, 15, Specials::AllOnesNan),
    fixed("int64", 64, true, 0),
    fixed("uint64", 64, false, 0),
    fixed("int32", 32, true, 0),
    fixed("uint32", 32, false, 0),
    fixed("int16", 16, true, 0),
    fixed("uint16", 16, false, 0),
    fixed("int8", 8, true, 0),
    fixed("uint8", 8, false, 0),
    fixed("int4", 4, true, 0),
    fixed("uint4", 4, false, 0),
    fixed("int2", 2, true, 0),
    fixed("uint2", 2, false, 0),
    fixed("int1", 1, true, 0),
    fixed("uint1", 1, false, 0),
    fixed("mxint8", 8, true, -6),
    fixed("s2f6", 8, true, -6),
];

/// Further spellings: ours, ml_dtypes', MLIR's, NumPy's.
const ALIASES: &[(&str, &str)] = &[
    ("float64", "f64"),
    ("double", "f64"),
    ("fp64", "f64"),
    ("float32", "f32"),
    ("float", "f32"),
    ("fp32", "f32"),
    ("xf32", "tf32"),
    ("float16", "f16"),
    ("half", "f16"),
    ("fp16", "f16"),
    ("bfloat16", "bf16"),
    ("e4m3", "e4m3fn"),
    ("float8_e4m3fn", "e4m3fn"),
    ("f8e4m3fn", "e4m3fn"),
    ("float8_e5m2", "e5m2"),
    ("f8e5m2", "e5m2"),
    ("float8_e4m3fnuz", "e4m3fnuz"),
    ("f8e4m3fnuz", "e4m3fnuz"),
    ("float8_e5m2fnuz", "e5m2fnuz"),
    ("f8e5m2fnuz", "e5m2fnuz"),
    ("float8_e4m3", "e4m3-ieee"),
    ("f8e4m3", "e4m3-ieee"),
    ("float8_e3m4", "e3m4"),
    ("f8e3m4", "e3m4"),
    ("float8_e4m3b11fnuz", "e4m3b11fnuz"),
    ("f8e4m3b11fnuz", "e4m3b11fnuz"),
    ("e3m2", "e3m2fn"),
    ("float6_e3m2fn", "e3m2fn"),
    ("f6e3m2fn", "e3m2fn"),
    ("e2m3", "e2m3fn"),
    ("float6_e2m3fn", "e2m3fn"),
    ("f6e2m3fn", "e2m3fn"),
    ("e2m1", "e2m1fn"),
    ("float4_e2m1fn", "e2m1fn"),
    ("f4e2m1fn", "e2m1fn"),
    ("e8m0", "ue8m0"),
    ("float8_e8m0fnu", "ue8m0"),
    ("f8e8m0fnu", "ue8m0"),
    ("s8", "int8"),
    ("u8", "uint8"),
    ("s16", "int16"),
    ("u16", "uint16"),
    ("s32", "int32"),
    ("u32", "uint32"),
    ("s64", "int64"),
    ("u64", "uint64"),
];

impl Format {
    /// The format of that name or alias, in any case.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    ///
    /// ```
    /// use mmascope_model::format::Format;
    /// assert_eq!(Format::named("e4m3")?.name, "e4m3fn");
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        let lower = name.to_lowercase();
        let canonical = ALIASES
            .iter()
            .find(|(alias, _)| *alias == lower)
            .map_or(&*lower, |(_, name)| name);
        FORMATS
            .iter()
            .find(|format| format.name == canonical)
            .copied()
            .ok_or_else(|| {
                let names = FORMATS.iter().map(|format| format.name);
                Error::unknown(
                    "format",
                    name,
                    names.chain(ALIASES.iter().map(|(alias, _)| *alias)),
                )
            })
    }

    /// Further spellings of its name.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> {
        let name = self.name;
        let own = ALIASES.iter().filter(move |(_, known)| *known == name);
        own.map(|(alias, _)| *alias)
    }

    /// Mask of the bits of one code.
    #[must_use]
    #[inline]
    pub fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// The code in a register word: ignored low bits and high bits are dropped.
    #[must_use]
    #[inline]
    pub fn from_register(&self, word: u64) -> u64 {
        (word >> self.register.shift) & self.mask()
    }

    /// The register word of a code.
    #[must_use]
    #[inline]
    pub fn to_register(&self, code: u64) -> u64 {
        (code & self.mask()) << self.register.shift
    }

    /// The largest register word. Bits beside the code may be set; the units ignore them.
    #[must_use]
    pub fn widest_word(&self) -> u64 {
        u64::MAX >> (64 - self.register.bits)
    }

    /// Whether every finite value of `other` is a value of this format.
    #[must_use]
    pub fn has_all_values_of(&self, other: &Self) -> bool {
        let (Kind::Float(wide), Kind::Float(narrow)) = (self.kind, other.kind) else {
            return false;
        };
        let smallest = |float: Float| float.emin() - float.fraction_bits as i32;
        let largest = |format: &Self| {
            let x = format.decode(format.max_finite(false));
            x.exponent
        };
        (self.signed || !other.signed)
            && wide.fraction_bits >= narrow.fraction_bits
            && smallest(wide) <= smallest(narrow)
            && largest(self) >= largest(other)
    }

    /// The format of the whole register word: f32 for tf32 and e8m13, which are upper parts of an f32
    /// word, the format itself where nothing lies below its codes.
    #[must_use]
    #[inline]
    pub fn container(&self) -> Self {
        *self.container_ref()
    }

    /// As [`Format::container`], without a copy.
    #[inline]
    pub(crate) fn container_ref(&self) -> &Self {
        self.register.of.unwrap_or(self)
    }

    /// Hexadecimal digits of one element in vector lines: the register word's width.
    #[must_use]
    pub fn digits(&self) -> usize {
        self.register.bits.div_ceil(4) as usize
    }

    /// The format whose ∞ and NaN codes are numbers, as their exponent and fraction say.
    #[must_use]
    pub(crate) fn without_specials(mut self) -> Self {
        if let Kind::Float(float) = &mut self.kind {
            float.specials = Specials::None;
        }
        self
    }

    /// Its usual reading: that which [`Format::without_specials`] has changed.
    pub(crate) fn with_specials(&self) -> Self {
        let mut named = FORMATS.iter().filter(|format| format.name == self.name);
        let own = named.find(|named| named.without_specials() == *self);
        *own.unwrap_or(self)
    }

    /// Whether it is a format whose usual reading has ∞ or NaN, read as numbers only.
    pub(crate) fn is_numbers_only(&self) -> bool {
        self.with_specials() != *self
    }

    /// The float parameters, if this is a floating-point format.
    #[must_use]
    pub fn float(&self) -> Option<Float> {
        match self.kind {
            Kind::Float(float) => Some(float),
            Kind::Fixed { .. } => None,
        }
    }
}

impl Float {
    /// Exponent of the smallest normal number.
    #[must_use]
    pub fn emin(&self) -> i32 {
        if self.subnormals {
            1 - self.bias
        } else {
            -self.bias
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name)
    }
}
