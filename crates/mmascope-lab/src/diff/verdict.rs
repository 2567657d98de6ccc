//! The kinds of difference between two results.

use super::Contender;
use super::number::{decode, number, translate};
use crate::format::{Class, F32, F64, Format, Kind};

/// How two results differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// They do not; any two NaNs are equal where a payload is not known or the formats differ.
    Equal,
    /// Two finite numbers, so many representable numbers apart.
    Ulps(u64),
    /// Only in the sign of a zero.
    ZeroSign,
    /// One is ∞ (or both, of different sign).
    Infinite,
    /// One is NaN.
    Nan,
    /// Both are NaN, with known and different words.
    NanPayload,
}

impl Verdict {
    /// Whether the results differ.
    #[must_use]
    pub fn differs(self) -> bool {
        self != Self::Equal
    }

    /// Whether two verdicts are of the same kind, whatever the distance.
    #[must_use]
    pub fn same_kind(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }

    /// Compares two results, each with its unit. The distance is counted in steps of
    /// the wider of the two result formats.
    #[must_use]
    pub fn of(left: (&Contender<'_>, u64), right: (&Contender<'_>, u64)) -> Self {
        let any = left.0.is_any_nan(left.1) || right.0.is_any_nan(right.1);
        let format = |subject: &Contender<'_>| subject.unit().result_format();
        let verdict = Self::of_words((left.1, &format(left.0)), (right.1, &format(right.0)));
        if any && verdict == Self::NanPayload {
            return Self::Equal;
        }
        verdict
    }

    /// Compares two results of known formats.
    #[must_use]
    pub fn of_words(left: (u64, &Format), right: (u64, &Format)) -> Self {
        let (l, r) = (decode(left.0, left.1), decode(right.0, right.1));
        match (l.class, r.class) {
            (Class::Nan, Class::Nan) if left.1 != right.1 || left.0 == right.0 => Self::Equal,
            (Class::Nan, Class::Nan) => Self::NanPayload,
            (Class::Nan, _) | (_, Class::Nan) => Self::Nan,
            (Class::Infinite, Class::Infinite) if l.negative == r.negative => Self::Equal,
            (Class::Infinite, _) | (_, Class::Infinite) => Self::Infinite,
            _ => match (number(&l), number(&r)) {
                (Some(l_number), Some(r_number)) if l_number == r_number => Self::Equal,
                (Some(l_number), Some(r_number)) if l_number.is_zero() && r_number.is_zero() => {
                    Self::ZeroSign
                }
                _ => Self::Ulps(distance((left.0, *left.1), (right.0, *right.1))),
            },
        }
    }
}

/// How many steps lie between two finite words in the wider of the two formats (in a wider one still
/// when that does not hold both numbers).
fn distance(left: (u64, Format), right: (u64, Format)) -> u64 {
    let wider = if left.1.bits >= right.1.bits {
        left.1
    } else {
        right.1
    };
    [wider, F32, F64]
        .iter()
        .find_map(|common| {
            let ordinal = |(word, format): (u64, Format)| {
                // −0 is the same step as +0.
                let is_zero = decode(word, &format).class == Class::Zero;
                let word = if is_zero {
                    0
                } else {
                    translate(word, &format, common)?
                };
                let code = common.from_register(word);
                // Integers are two's complement.
                if matches!(common.kind, Kind::Fixed { .. }) {
                    let is_negative = common.signed && code >> (common.bits - 1) == 1;
                    let wrapped = if is_negative {
                        1_i128 << common.bits
                    } else {
                        0
                    };
                    return Some(i128::from(code) - wrapped);
                }
                let magnitude = i128::from(code & (common.mask() >> 1));
                Some(if code == magnitude as u64 {
                    magnitude
                } else {
                    -magnitude
                })
            };
            let steps = (ordinal(left)? - ordinal(right)?).unsigned_abs();
            u64::try_from(steps).ok()
        })
        .unwrap_or(u64::MAX)
}
