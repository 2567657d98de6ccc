//! The fixed-width form of exact numbers: 128 bits, made for speed.

use super::Rounding;

/// A number in 128 bits: `(−1)^negative · (magnitude + ε) · 2^exponent`, where 0 < ε < 1 if
/// `sticky` and ε = 0 otherwise.
///
/// [`Dyadic`](super::Dyadic) is the same kind of number in any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exact {
    /// The sign; also of a zero.
    pub negative: bool,
    /// Integer magnitude.
    pub magnitude: u128,
    /// Power of two that `magnitude` is multiplied by.
    pub exponent: i32,
    /// Whether something non-zero lies below the magnitude's last bit. Whoever sets it keeps
    /// enough bits that the target's last place lies above the magnitude's, and for stochastic
    /// rounding at least as many bits below that place as there are random bits.
    pub sticky: bool,
}

impl Exact {
    /// 1.
    pub const ONE: Self = Self::power_of_two(false, 0);

    /// `±magnitude · 2^exponent`, with nothing below.
    #[must_use]
    #[inline(always)]
    pub const fn new(negative: bool, magnitude: u128, exponent: i32) -> Self {
        Self {
            negative,
            magnitude,
            exponent,
            sticky: false,
        }
    }

    /// `±2^exponent`.
    #[must_use]
    pub const fn power_of_two(negative: bool, exponent: i32) -> Self {
        Self::new(negative, 1, exponent)
    }

    /// `multiple · 2^exponent`.
    #[must_use]
    #[inline(always)]
    pub const fn of_multiple(multiple: i128, exponent: i32) -> Self {
        Self::new(multiple < 0, multiple.unsigned_abs(), exponent)
    }

    /// Whether the number is 0.
    #[must_use]
    #[inline]
    pub const fn is_zero(&self) -> bool {
        self.magnitude == 0 && !self.sticky
    }

    /// Place of the highest set bit of the magnitude; `None` when that is 0.
    #[must_use]
    #[inline(always)]
    pub fn top(&self) -> Option<i32> {
        let log = self.magnitude.checked_ilog2()?;
        Some(self.exponent + log as i32)
    }

    /// The same number with an odd magnitude; a zero as `±0 · 2^0`. Two such numbers are equal
    /// when they have the same value and sign.
    #[must_use]
    pub fn in_lowest_terms(&self) -> Self {
        if self.magnitude == 0 {
            return Self {
                exponent: 0,
                ..*self
            };
        }
        let zeros = self.magnitude.trailing_zeros();
        Self {
            magnitude: self.magnitude >> zeros,
            exponent: self.exponent + zeros as i32,
            ..*self
        }
    }

    /// The number moved by a power of two, so that its highest bit lies at this place; a zero stays.
    #[must_use]
    pub fn with_top(self, place: i32) -> Self {
        let by = self.top().map_or(0, |top| place - top);
        Self {
            exponent: self.exponent + by,
            ..self
        }
    }

    /// Whether anything lies below `2^grid`.
    pub(crate) fn has_bits_below(&self, grid: i32) -> bool {
        let below = grid.saturating_sub(self.exponent);
        let has_bits = self.magnitude != 0
            && below > 0
            && (below > 127 || self.magnitude.trailing_zeros() < below as u32);
        self.sticky || has_bits
    }

    /// The number rounded to a multiple of `2^grid`: the multiple, sign included.
    ///
    /// The caller chooses a grid at most 64 places below the number's own binade, so that the
    /// multiple has at most 127 bits.
    #[inline]
    pub(crate) fn align(&self, grid: i32, rounding: Rounding) -> i128 {
        let magnitude = if self.exponent >= grid {
            self.magnitude << (self.exponent - grid).min(127)
        } else {
            let width = (grid - self.exponent) as u32;
            rounding.shift_right(self.negative, self.magnitude, self.sticky, width)
        } as i128;
        if self.negative { -magnitude } else { magnitude }
    }

    /// Magnitude, exponent and stickiness with at most 64 bits of magnitude; what falls off becomes
    /// sticky. No float's significand has more than 53 bits, so only stochastic rounding could tell
    /// the difference.
    #[inline(always)]
    pub(crate) fn narrowed(&self) -> (u64, i64, bool) {
        let exponent = i64::from(self.exponent);
        let high = (self.magnitude >> 64) as u64;
        if high == 0 {
            return (self.magnitude as u64, exponent, self.sticky);
        }
        let width = 64 - high.leading_zeros();
        let kept = self.magnitude >> width;
        let sticky = self.sticky || kept << width != self.magnitude;
        (kept as u64, exponent + i64::from(width), sticky)
    }

    /// The magnitude as a multiple of `2^last_place`, rounded.
    pub(crate) fn multiple_of(&self, last_place: i64, rounding: Rounding, negative: bool) -> u128 {
        let width = last_place - i64::from(self.exponent);
        if width > 0 {
            let width = u32::try_from(width).unwrap_or(u32::MAX);
            rounding.shift_right(negative, self.magnitude, self.sticky, width)
        } else {
            let shifted = self.magnitude.checked_shl(-width as u32).unwrap_or(0);
            rounding.shift_right(negative, shifted, self.sticky, 0)
        }
    }
}
