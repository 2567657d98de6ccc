//! Comparison of magnitudes that are known up to an infinitesimal.

use std::cmp::Ordering;

use mmascope::format::Exact;

use crate::dyadic::Dyadic;

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
        let high = low.add(&Dyadic::power(exponent));
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
