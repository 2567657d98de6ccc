//! Exact non-negative rationals `n·2^e`, and comparison of values known up to an infinitesimal.

use std::cmp::Ordering;

use mmascope::format::Exact;
use num_bigint::BigUint;

/// `mantissa · 2^exponent`.
#[derive(Clone, Debug)]
pub(crate) struct Dyadic {
    pub(crate) mantissa: BigUint,
    pub(crate) exponent: i64,
}

impl Dyadic {
    pub(crate) fn new(mantissa: impl Into<BigUint>, exponent: i64) -> Self {
        Self {
            mantissa: mantissa.into(),
            exponent,
        }
    }

    /// The integers n and m with `self = n·2^e`, `other = m·2^e` for one e, which is returned too.
    fn on_one_grid(&self, other: &Self) -> (BigUint, BigUint, i64) {
        let exponent = self.exponent.min(other.exponent);
        let at = |x: &Self| &x.mantissa << u64::try_from(x.exponent - exponent).unwrap();
        (at(self), at(other), exponent)
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let (a, b, exponent) = self.on_one_grid(other);
        Self::new(a + b, exponent)
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        let (a, b, exponent) = self.on_one_grid(other);
        Self::new(a - b, exponent)
    }

    /// The same number with an odd mantissa (or 0·2^0).
    pub(crate) fn reduced(self) -> Self {
        match self.mantissa.trailing_zeros() {
            None => Self::new(0_u32, 0),
            Some(zeros) => Self::new(self.mantissa >> zeros, self.exponent + zeros as i64),
        }
    }

    /// The integer `self / unit`, and whether it is odd.
    pub(crate) fn divided_by(&self, unit: &Self) -> (BigUint, bool) {
        let (a, unit, _) = self.on_one_grid(unit);
        let quotient = &a / &unit;
        assert_eq!(&quotient * unit, a, "not a multiple");
        let odd = quotient.bit(0);
        (quotient, odd)
    }

    /// Exponent of the leading bit plus one; `None` for zero.
    fn top(&self) -> Option<i64> {
        let bits = self.mantissa.bits();
        (bits > 0).then(|| bits as i64 + self.exponent)
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        // Comparing the leading bits first keeps 2^(2^31) from being written out.
        let tops = self.top().cmp(&other.top());
        if tops.is_ne() || self.top().is_none() {
            return tops;
        }
        match self.exponent.cmp(&other.exponent) {
            Ordering::Equal => self.mantissa.cmp(&other.mantissa),
            _ => {
                let (a, b, _) = self.on_one_grid(other);
                a.cmp(&b)
            }
        }
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Dyadic {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Dyadic {}

/// A magnitude to be rounded: a dyadic, or just above or just below one.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    at: Dyadic,
    /// `Greater`: infinitesimally above `at`; `Less`: below; `Equal`: at it.
    side: Ordering,
}

impl Point {
    /// The magnitudes that an [`Exact`] stands for: one, or the two ends of an open interval.
    pub(crate) fn of(value: &Exact) -> Vec<Self> {
        let exponent = i64::from(value.exponent);
        let low = Dyadic::new(value.magnitude, exponent);
        if !value.sticky {
            return vec![Self {
                at: low,
                side: Ordering::Equal,
            }];
        }
        let high = Dyadic::new(BigUint::from(value.magnitude) + 1_u32, exponent);
        vec![
            Self {
                at: low,
                side: Ordering::Greater,
            },
            Self {
                at: high,
                side: Ordering::Less,
            },
        ]
    }

    pub(crate) fn cmp(&self, other: &Dyadic) -> Ordering {
        self.at.cmp(other).then(self.side)
    }
}
