//! The oracle of rounding: a search in the ladder, then the definition of the mode in words.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use mmascope::format::{Exact, Overflow, Rounding};

use crate::dyadic::Dyadic;
use crate::ladder::Ladder;
use crate::modes::POLICIES;
use crate::point::Point;

/// Where a magnitude stands.
pub(crate) enum Place {
    /// Below the lowest rung (only a format without zero has this).
    Below,
    /// On rung k or between it and rung k + 1.
    At { k: u64, gap: Gap },
    /// Above every rung of the ladder, which goes on well beyond the largest finite number.
    Above,
}

/// The interval between two rungs, and a point in it.
pub(crate) struct Gap {
    low: Dyadic,
    width: Dyadic,
    point: Point,
    /// Whether the point is the lower rung itself.
    exact: bool,
    /// The point against the midpoint.
    half: Ordering,
    /// Whether the lower rung is an odd multiple of the gap, that is, has an odd significand.
    odd: bool,
}

/// A rounded magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounded {
    Rung(u64),
    Overflow,
}

impl Gap {
    /// Does the magnitude go to the upper rung?
    fn rises(&self, mode: Rounding, negative: bool) -> bool {
        let nearest = |at_tie: bool| self.half == Greater || (self.half == Equal && at_tie);
        match mode {
            _ if self.exact => false,
            Rounding::Rne => nearest(self.odd),
            Rounding::Rno => nearest(!self.odd),
            Rounding::Rna => nearest(true),
            Rounding::Rnz => nearest(false),
            Rounding::Rnu => nearest(!negative),
            Rounding::Rnd => nearest(negative),
            Rounding::Rz => false,
            Rounding::Ra => true,
            Rounding::Ru => !negative,
            Rounding::Rd => negative,
            Rounding::Odd => !self.odd,
            Rounding::Stochastic { bits, random } => {
                // floor(d·2^bits) + r ≥ 2^bits, d the discarded part of the gap, is the same as
                // d ≥ 1 − r/2^bits.
                let all = 1_u128 << bits;
                let missing = all - u128::from(random) % all;
                let share = self.width.multiply(&Dyadic::new(missing, -i64::from(bits)));
                self.point.cmp(&self.low.add(&share)) != Less
            }
        }
    }
}

impl Ladder {
    /// The places of the value's magnitude; two for the ends of what a sticky value may be.
    pub(crate) fn places(&self, value: &Exact) -> Vec<Place> {
        Point::of(value)
            .into_iter()
            .map(|point| self.place(point))
            .collect()
    }

    fn place(&self, point: Point) -> Place {
        let Some(k) = self.at_or_below(&point) else {
            return Place::Below;
        };
        if k == self.last() {
            return Place::Above;
        }
        let (low, high) = (self.rung(k), self.rung(k + 1));
        let middle = low.add(&high).times_power_of_two(-1);
        let width = high.subtract(&low);
        let (exact, half) = (point.cmp(&low).is_eq(), point.cmp(&middle));
        let odd = low.divided_by(&width).is_odd();
        Place::At {
            k,
            gap: Gap {
                low,
                width,
                point,
                exact,
                half,
                odd,
            },
        }
    }

    /// The rounded magnitude, or `None` if that depends on what a sticky value leaves open.
    pub(crate) fn rounded(
        &self,
        places: &[Place],
        negative: bool,
        mode: Rounding,
    ) -> Option<Rounded> {
        let sign_counts = negative && (self.fact.signed || self.fact.is_fixed());
        let rounded = |place: &Place| match place {
            Place::Below => Rounded::Rung(0),
            Place::At { k, gap } => {
                let rung = k + u64::from(gap.rises(mode, sign_counts));
                if rung > self.largest(negative) {
                    Rounded::Overflow
                } else {
                    Rounded::Rung(rung)
                }
            }
            Place::Above => Rounded::Overflow,
        };
        let first = rounded(&places[0]);
        places
            .iter()
            .all(|place| rounded(place) == first)
            .then_some(first)
    }

    /// The right code for a rounded magnitude.
    pub(crate) fn finish(
        &self,
        rounded: Rounded,
        negative: bool,
        mode: Rounding,
        policy: Overflow,
    ) -> u64 {
        match rounded {
            Rounded::Rung(rung) => self.code(rung, negative),
            Rounded::Overflow => self.overflow(negative, mode, policy),
        }
    }

    /// The rung of the largest finite magnitude of that sign.
    fn largest(&self, negative: bool) -> u64 {
        match (self.fact.is_fixed() && negative, self.fact.signed) {
            (true, true) => self.fact.max + 1,
            (true, false) => 0,
            (false, _) => self.fact.max,
        }
    }

    fn code(&self, rung: u64, negative: bool) -> u64 {
        if !negative || !self.fact.signed || (rung == 0 && !self.fact.negative_zero) {
            rung
        } else if self.fact.is_fixed() {
            ((1_u128 << self.fact.bits) - u128::from(rung)) as u64
        } else {
            rung + self.fact.sign_bit()
        }
    }

    fn overflow(&self, negative: bool, mode: Rounding, policy: Overflow) -> u64 {
        let away_from_infinity = match mode {
            Rounding::Rz | Rounding::Odd => true,
            Rounding::Ru => negative && self.fact.signed,
            Rounding::Rd => !(negative && self.fact.signed),
            _ => false,
        };
        let largest = match policy {
            Overflow::Saturate | Overflow::SaturateFinite => true,
            Overflow::Ieee => away_from_infinity,
            Overflow::NanFinite => return self.infinity(negative, Overflow::Nan),
            Overflow::Infinity | Overflow::Nan => false,
        };
        if largest {
            self.code(self.largest(negative), negative)
        } else {
            self.infinity(negative, policy)
        }
    }

    /// What stands for ∞ under the policy.
    pub(crate) fn infinity(&self, negative: bool, policy: Overflow) -> u64 {
        let sign = if negative { self.fact.sign_bit() } else { 0 };
        match (policy, self.fact.infinity, self.fact.nan) {
            (Overflow::Saturate, ..) | (_, None, None) | (Overflow::Nan, _, None) => {
                self.code(self.largest(negative), negative)
            }
            (Overflow::Nan, _, Some(nan)) | (_, None, Some(nan)) => nan | sign,
            (_, Some(infinity), _) => infinity | sign,
        }
    }

    /// Rounds with the subject and the oracle under every policy and compares; returns how many
    /// cases the oracle could tell.
    pub(crate) fn check(
        &self,
        value: &Exact,
        places: &[Place],
        mode: Rounding,
    ) -> Result<u64, String> {
        let name = self.fact.name;
        let Some(rounded) = self.rounded(places, value.negative, mode) else {
            let stochastic = matches!(mode, Rounding::Stochastic { .. });
            assert!(stochastic, "{name}: {value:x?} is no fair point for {mode}");
            return Ok(0);
        };
        for policy in POLICIES {
            let expected = self.finish(rounded, value.negative, mode, policy);
            let got = self.format.round(value, mode, policy);
            if got != expected {
                return Err(format!(
                    "{name}: {value:x?} under {mode:?} {policy:?}: \
                     got {got:#x}, expected {expected:#x}"
                ));
            }
        }
        Ok(POLICIES.len() as u64)
    }
}
