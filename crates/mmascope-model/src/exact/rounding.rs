//! Rounding modes: how an exact number becomes a multiple of a power of two.

use crate::error::{Error, Result};

/// How a value between two neighbours is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To nearest, ties to even (IEEE roundTiesToEven).
    Rne,
    /// To nearest, ties away from zero.
    Rna,
    /// To nearest, ties toward zero.
    Rnz,
    /// To nearest, ties toward +∞.
    Rnu,
    /// To nearest, ties toward −∞.
    Rnd,
    /// To nearest, ties to odd.
    Rno,
    /// Toward zero.
    Rz,
    /// Away from zero.
    Ra,
    /// Toward +∞.
    Ru,
    /// Toward −∞.
    Rd,
    /// To odd: an inexact result gets an odd last bit (von Neumann rounding, "jamming").
    Odd,
    /// Stochastic: `random`, an integer of `bits` bits, is added to the first `bits` discarded
    /// bits; a carry rounds away from zero (PTX `cvt.rs`). Bits beyond those are dropped.
    Stochastic {
        /// How many random bits there are, 1 to 64.
        bits: u32,
        /// The random bits; higher ones than `bits` are ignored.
        random: u64,
    },
}

const ROUNDING_NAMES: &[(&str, Rounding)] = &[
    ("rne", Rounding::Rne),
    ("rna", Rounding::Rna),
    ("rnz", Rounding::Rnz),
    ("rnu", Rounding::Rnu),
    ("rnd", Rounding::Rnd),
    ("rno", Rounding::Rno),
    ("rz", Rounding::Rz),
    ("ra", Rounding::Ra),
    ("ru", Rounding::Ru),
    ("rd", Rounding::Rd),
    ("odd", Rounding::Odd),
];

/// Words that people write for a rounding, without hyphens; they are no names, but say which one is meant.
const ROUNDING_WORDS: &[(&str, &str, &[&str])] = &[
    (
        "rz",
        "toward zero",
        &[
            "truncate",
            "truncated",
            "truncation",
            "trunc",
            "chop",
            "chopped",
            "towardzero",
            "towardszero",
            "tozero",
            "zero",
            "rtz",
            "roundtowardzero",
        ],
    ),
    (
        "rne",
        "to nearest, ties to even",
        &[
            "nearest",
            "nearesteven",
            "tonearest",
            "nearesttieseven",
            "tiestoeven",
            "tieseven",
            "halfeven",
            "even",
            "rn",
            "rte",
            "rtne",
            "roundtiestoeven",
        ],
    ),
    (
        "rd",
        "toward −∞",
        &[
            "floor",
            "down",
            "rm",
            "rdn",
            "towardnegative",
            "towardneginf",
            "negativeinf",
            "roundtowardnegative",
        ],
    ),
    (
        "ru",
        "toward +∞",
        &[
            "ceil",
            "ceiling",
            "up",
            "rp",
            "rup",
            "towardpositive",
            "towardposinf",
            "positiveinf",
            "roundtowardpositive",
        ],
    ),
    (
        "rna",
        "to nearest, ties away from zero",
        &[
            "nearestaway",
            "tiesaway",
            "tiestoaway",
            "halfaway",
            "rmm",
            "roundtiestoaway",
        ],
    ),
    ("rnu", "to nearest, ties toward +∞", &["halfup", "tiesup"]),
    ("ra", "away from zero", &["away", "awayfromzero"]),
    ("odd", "to odd", &["jam", "jamming", "toodd", "rodd", "rto"]),
];

impl Rounding {
    /// The mode of that name: `rne rna rnz rnu rnd rno rz ra ru rd odd`.
    ///
    /// # Errors
    /// [`Error::Unknown`]; stochastic rounding has no name, because it needs its random bits.
    pub fn named(name: &str) -> Result<Self> {
        ROUNDING_NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, rounding)| *rounding)
            .ok_or_else(|| Self::unknown(name))
    }

    /// The error for a word that is no name: the rounding that it means, if it is a usual word for one.
    fn unknown(name: &str) -> Error {
        let names = || ROUNDING_NAMES.iter().map(|(known, _)| *known);
        let plain: String = name
            .chars()
            .filter(|letter| !matches!(letter, '-' | '_' | ' '))
            .collect();
        let plain = plain.to_ascii_lowercase();
        let meant = ROUNDING_WORDS
            .iter()
            .find(|(own, _, words)| *own == plain || words.contains(&&*plain));
        match meant {
            Some((own, meaning, _)) => {
                Error::meant("rounding", name, &format!("{own} ({meaning})"), names())
            }
            None => Error::unknown("rounding", name, names()),
        }
    }

    /// The modes that need no random bits.
    pub fn deterministic() -> impl Iterator<Item = Self> {
        ROUNDING_NAMES.iter().map(|(_, rounding)| *rounding)
    }

    /// Does the magnitude grow? `rest` is what is discarded, as a fraction of one unit in the last
    /// place times 2^64; a bit of 1 at its end stands for anything non-zero below.
    #[inline(always)]
    fn increments(self, negative: bool, odd: bool, rest: u64) -> bool {
        const HALF: u64 = 1 << 63;
        let to_nearest = |tie_grows: bool| rest > HALF - u64::from(tie_grows);
        match self {
            Self::Rne => to_nearest(odd),
            Self::Rna => to_nearest(true),
            Self::Rnz => to_nearest(false),
            Self::Rnu => to_nearest(!negative),
            Self::Rnd => to_nearest(negative),
            Self::Rno => to_nearest(!odd),
            Self::Rz | Self::Stochastic { .. } => false,
            Self::Ra => rest != 0,
            Self::Ru => rest != 0 && !negative,
            Self::Rd => rest != 0 && negative,
            Self::Odd => rest != 0 && !odd,
        }
    }

    /// Rounds `magnitude + ε` (ε as in [`Exact`](super::Exact)) to a multiple of `2^width` and returns the
    /// quotient. A carry may make it one bit longer than the shifted magnitude.
    #[must_use]
    #[inline]
    pub fn shift_right(self, negative: bool, magnitude: u128, sticky: bool, width: u32) -> u128 {
        // Most magnitudes are narrow, and 64-bit arithmetic is several times cheaper.
        if let Ok(narrow) = u64::try_from(magnitude)
            && width > 0
            && !matches!(self, Self::Stochastic { .. })
        {
            let width = i64::from(width);
            return u128::from(self.shift_right_narrow(negative, narrow, sticky, width));
        }
        let kept = magnitude.checked_shr(width).unwrap_or(0);
        let remainder = magnitude ^ kept.checked_shl(width).unwrap_or(0);
        if let Self::Stochastic { bits, random } = self {
            return kept.saturating_add(u128::from(carries(remainder, width, bits, random)));
        }
        let rest = match width {
            0 => u64::from(sticky),
            1..=128 => {
                let rest = magnitude << (128 - width);
                (rest >> 64) as u64 | u64::from(rest as u64 != 0 || sticky)
            }
            _ => u64::from(magnitude != 0 || sticky),
        };
        kept.saturating_add(u128::from(self.increments(negative, kept & 1 == 1, rest)))
    }

    /// As [`Rounding::shift_right`] for magnitudes of at most 64 bits, which a carry does not leave
    /// when `width` is 0; not stochastic.
    #[inline(always)]
    pub(crate) fn shift_right_narrow(
        self,
        negative: bool,
        magnitude: u64,
        sticky: bool,
        width: i64,
    ) -> u64 {
        let (kept, rest) = match width {
            0 => (magnitude, 0),
            1..=63 => (magnitude >> width, magnitude << (64 - width)),
            64 => (0, magnitude),
            _ => (0, u64::from(magnitude != 0)),
        };
        let rest = rest | u64::from(sticky);
        kept + u64::from(self.increments(negative, kept & 1 == 1, rest))
    }
}

/// Stochastic rounding: whether the first `bits` bits of the discarded `remainder / 2^width` plus
/// `random` carry out.
fn carries(remainder: u128, width: u32, bits: u32, random: u64) -> bool {
    let bits = bits.clamp(1, 64);
    let fraction = if width >= bits {
        remainder.checked_shr(width - bits).unwrap_or(0)
    } else {
        remainder << (bits - width)
    };
    let random = random & (u64::MAX >> (64 - bits));
    fraction + u128::from(random) >= 1_u128 << bits
}

impl std::fmt::Display for Rounding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match ROUNDING_NAMES.iter().find(|(_, rounding)| rounding == self) {
            Some((name, _)) => out.write_str(name),
            None => out.write_str("stochastic"),
        }
    }
}
