//! The facts of every format, retyped by hand from the standards; nothing here reads the subject.
//!
//! Sources: IEEE 754-2019 §3 (f64, f32, f16, and the rules of "IEEE-like" formats); OCP OFP8 1.0
//! table 1 (e5m2, e4m3fn); OCP MX 1.0 §5.3 (e3m2, e2m3, e2m1, e8m0, int8); arXiv 2206.02915 (FNUZ);
//! MLIR's types (f8E4M3, f8E3M4, f8E4M3B11FNUZ); PTX ISA 9.4 §5.2.3 (tf32, ue4m3, ue5m3, s2f6);
//! the papers on matrix units (e8m13: f32 with 13 fraction bits).

/// How the magnitudes follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Zero, then equal steps up to twice the smallest normal, then each binade doubles the step.
    Float,
    /// No zero: each magnitude is twice the one before.
    Doubling,
    /// Zero, then equal steps; negative codes are two's complement.
    Fixed,
}

/// Which codes are NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nans {
    No,
    /// These codes, first to last, and the same with the sign bit where there is one.
    From(u64, u64),
    /// This code alone.
    Only(u64),
}

/// One format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    pub(crate) bits: u32,
    pub(crate) signed: bool,
    pub(crate) steps: Steps,
    /// Bits of the fraction field, exponent bias (floats).
    pub(crate) fraction_bits: u32,
    pub(crate) bias: i32,
    /// The first step is `2^first`: the smallest subnormal, or the unit of a fixed-point number.
    pub(crate) first: i32,
    /// Code of the largest finite positive number.
    pub(crate) max: u64,
    /// Code of +∞.
    pub(crate) infinity: Option<u64>,
    pub(crate) nans: Nans,
    /// The NaN that operations make.
    pub(crate) nan: Option<u64>,
    /// Whether −0 has a code.
    pub(crate) negative_zero: bool,
}

impl Fact {
    pub(crate) fn sign_bit(&self) -> u64 {
        if self.signed { 1 << (self.bits - 1) } else { 0 }
    }

    pub(crate) fn is_nan(&self, code: u64) -> bool {
        match self.nans {
            Nans::No => false,
            Nans::From(first, last) => (first..=last).contains(&(code & !self.sign_bit())),
            Nans::Only(nan) => code == nan,
        }
    }

    /// The sign of an infinity's code, if it is one.
    pub(crate) fn infinity_sign(&self, code: u64) -> Option<bool> {
        let infinity = self.infinity?;
        (code & !self.sign_bit() == infinity).then_some(code != infinity)
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.steps == Steps::Fixed
    }

    pub(crate) fn codes(&self) -> u64 {
        assert!(self.bits <= 16, "too many codes to list");
        1 << self.bits
    }
}

const fn like_ieee(
    name: &'static str,
    bits: u32,
    (fraction_bits, bias): (u32, i32),
    first: i32,
    [max, infinity, nan, last_nan]: [u64; 4],
) -> Fact {
    Fact {
        name,
        bits,
        signed: true,
        steps: Steps::Float,
        fraction_bits,
        bias,
        first,
        max,
        infinity: Some(infinity),
        nans: Nans::From(infinity + 1, last_nan),
        nan: Some(nan),
        negative_zero: true,
    }
}

const fn finite(
    name: &'static str,
    (bits, signed): (u32, bool),
    (fraction_bits, bias): (u32, i32),
    first: i32,
    max: u64,
    nans: Nans,
) -> Fact {
    let nan = match nans {
        Nans::No => None,
        Nans::From(code, _) | Nans::Only(code) => Some(code),
    };
    let negative_zero = signed && !matches!(nans, Nans::Only(_));
    let steps = Steps::Float;
    let infinity = None;
    Fact {
        name,
        bits,
        signed,
        steps,
        fraction_bits,
        bias,
        first,
        max,
        infinity,
        nans,
        nan,
        negative_zero,
    }
}

const fn fixed(name: &'static str, bits: u32, signed: bool, first: i32, max: u64) -> Fact {
    let fact = finite(name, (bits, signed), (0, 0), first, max, Nans::No);
    Fact {
        steps: Steps::Fixed,
        negative_zero: false,
        ..fact
    }
}

const SIGNED_8: (u32, bool) = (8, true);

/// Every format of the table, with what its source says.
pub(crate) const FACTS: &[Fact] = &[
    like_ieee(
        "f64",
        64,
        (52, 1023),
        -1074,
        [
            0x7fef_ffff_ffff_ffff,
            0x7ff0 << 48,
            0x7ff8 << 48,
            0x7fff_ffff_ffff_ffff,
        ],
    ),
    like_ieee(
        "e11m23",
        35,
        (23, 1023),
        -1045,
        [0x3_ff7f_ffff, 0x3_ff80_0000, 0x3_ffc0_0000, 0x3_ffff_ffff],
    ),
    like_ieee(
        "f32",
        32,
        (23, 127),
        -149,
        [0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000, 0x7fff_ffff],
    ),
    like_ieee(
        "tf32",
        19,
        (10, 127),
        -136,
        [0x3fbff, 0x3fc00, 0x3fe00, 0x3ffff],
    ),
    like_ieee(
        "e8m13",
        22,
        (13, 127),
        -139,
        [0x1f_dfff, 0x1f_e000, 0x1f_f000, 0x1f_ffff],
    ),
    like_ieee("f16", 16, (10, 15), -24, [0x7bff, 0x7c00, 0x7e00, 0x7fff]),
    like_ieee("bf16", 16, (7, 127), -133, [0x7f7f, 0x7f80, 0x7fc0, 0x7fff]),
    like_ieee("e5m2", 8, (2, 15), -16, [0x7b, 0x7c, 0x7e, 0x7f]),
    like_ieee("e4m3-ieee", 8, (3, 7), -9, [0x77, 0x78, 0x7c, 0x7f]),
    like_ieee("e3m4", 8, (4, 3), -6, [0x6f, 0x70, 0x78, 0x7f]),
    finite("e4m3fn", SIGNED_8, (3, 7), -9, 0x7e, Nans::From(0x7f, 0x7f)),
    finite("e5m2fnuz", SIGNED_8, (2, 16), -17, 0x7f, Nans::Only(0x80)),
    finite("e4m3fnuz", SIGNED_8, (3, 8), -10, 0x7f, Nans::Only(0x80)),
    finite(
        "e4m3b11fnuz",
        SIGNED_8,
        (3, 11),
        -13,
        0x7f,
        Nans::Only(0x80),
    ),
    finite("e3m2fn", (6, true), (2, 3), -4, 0x1f, Nans::No),
    finite("e2m3fn", (6, true), (3, 1), -3, 0x1f, Nans::No),
    finite("e2m1fn", (4, true), (1, 1), -1, 0x7, Nans::No),
    Fact {
        steps: Steps::Doubling,
        ..finite(
            "ue8m0",
            (8, false),
            (0, 127),
            -127,
            0xfe,
            Nans::From(0xff, 0xff),
        )
    },
    finite(
        "ue4m3",
        (7, false),
        (3, 7),
        -9,
        0x7e,
        Nans::From(0x7f, 0x7f),
    ),
    finite(
        "ue5m3",
        (8, false),
        (3, 15),
        -17,
        0xfe,
        Nans::From(0xff, 0xff),
    ),
    fixed("int64", 64, true, 0, 0x7fff_ffff_ffff_ffff),
    fixed("uint64", 64, false, 0, u64::MAX),
    fixed("int32", 32, true, 0, 0x7fff_ffff),
    fixed("uint32", 32, false, 0, 0xffff_ffff),
    fixed("int16", 16, true, 0, 0x7fff),
    fixed("uint16", 16, false, 0, 0xffff),
    fixed("int8", 8, true, 0, 127),
    fixed("uint8", 8, false, 0, 255),
    fixed("int4", 4, true, 0, 7),
    fixed("uint4", 4, false, 0, 15),
    fixed("int2", 2, true, 0, 1),
    fixed("uint2", 2, false, 0, 3),
    fixed("int1", 1, true, 0, 0),
    fixed("uint1", 1, false, 0, 1),
    fixed("mxint8", 8, true, -6, 127),
    fixed("s2f6", 8, true, -6, 127),
];
