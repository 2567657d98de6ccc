//! Measures how far a matrix product is from the exact one.

use crate::exact::{Dyadic, Exact, Rounding};
use crate::format::{F64, Format, Overflow};
use rayon::prelude::*;

use super::yardstick::Yardstick;
use super::{Matrices, Product, Schedule, SoftwareScales, Watch};
use crate::array::Words;
use crate::dpa::{Modifiers, Unit};
use crate::error::Result;

/// How many outputs are looked at where a sample is asked for.
pub const SAMPLES: usize = 4096;
/// Outputs that one task looks at.
const CHUNK: usize = 16;

/// Errors of the outputs looked at. The exact result is that of the operands as the unit gets
/// them, block scales and modifiers included.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ErrorStatistics {
    /// Outputs there are.
    pub outputs: u64,
    /// Outputs looked at.
    pub sampled: u64,
    /// Of those, the exact result is 0. They count in none of the errors relative to |exact| and
    /// in ULPs.
    pub exact_zeros: u64,
    /// Of the exact zeros, the result is another number, ∞ or NaN.
    pub missed_zeros: u64,
    /// The exact result is ∞ or NaN, by the operands. They count in no error.
    pub exact_not_finite: u64,
    /// The exact result is finite and the result is ∞ or NaN. They count in no error.
    pub result_not_finite: u64,
    /// The exact result is not 0 and the result is.
    pub vanished: u64,
    /// The mean of (result − exact) / Σ|a·b|, signed: what errors of one direction add up to.
    pub bias: f64,
    /// The standard error of that mean, as if outputs were independent.
    pub bias_error: f64,
    /// |result − exact| / |exact|.
    pub relative: Summary,
    /// |result − exact| / Σ|a·b|, where that sum is not 0; exact zeros included.
    pub relative_to_products: Summary,
    /// |result − exact| in units in the last place of the output format at the exact result.
    pub ulps: Summary,
}

/// A set of errors in three numbers, each 0 when there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many errors there are.
    pub count: u64,
    /// The largest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The median: the middle one, or the mean of the two middle ones.
    pub median: f64,
}

/// Compares D, the result of [`chain`](super::chain), with the exact product.
///
/// With `sample`, [`SAMPLES`] outputs are looked at, spread over all of D and the same every time;
/// without, or where D has no more, every output. Nothing depends on the number of threads.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) when the lengths do not fit each other;
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn statistics(
    unit: &Unit,
    matrices: &Matrices,
    modifiers: &Modifiers,
    d: &Words,
    sample: bool,
    watch: &Watch<'_>,
) -> Result<ErrorStatistics> {
    let product = Product::new(unit, matrices, *modifiers)?;
    scheduled_statistics(&Schedule::default(), &product, None, d, sample, watch)
}

/// As [`statistics`], of the result of [`Schedule::run`]: the exact result has its scales, α and β,
/// and ULPs are those of its format.
///
/// # Errors
/// As [`statistics`].
pub fn scheduled_statistics(
    schedule: &Schedule,
    product: &Product<'_>,
    scales: Option<&SoftwareScales>,
    d: &Words,
    sample: bool,
    watch: &Watch<'_>,
) -> Result<ErrorStatistics> {
    let (unit, matrices) = (product.unit(), product.matrices());
    let yardstick = Yardstick::new(schedule, unit, matrices, product.modifiers(), scales);
    compared(&yardstick, matrices.outputs(), d, sample, watch)
}

/// Compares the results of a yardstick's product with the exact ones.
pub(super) fn compared(
    yardstick: &Yardstick<'_>,
    outputs: usize,
    d: &Words,
    sample: bool,
    watch: &Watch<'_>,
) -> Result<ErrorStatistics> {
    if d.len() != outputs {
        return Err(crate::Error::Argument(format!(
            "D has {} elements; {outputs} are needed",
            d.len()
        )));
    }
    let count = if sample {
        outputs.min(SAMPLES)
    } else {
        outputs
    };
    let tasks: Vec<usize> = (0..count).step_by(CHUNK).collect();
    let errors: Vec<Vec<Errors>> = tasks
        .par_iter()
        .map(|&first| {
            let range = first..count.min(first + CHUNK);
            let errors = range
                .map(|number| {
                    watch.check()?;
                    let index = sampled(number, count, outputs);
                    Ok(errors(yardstick, index, d.get(index)))
                })
                .collect::<Result<Vec<_>>>()?;
            (watch.progress)(errors.len() as u64);
            Ok(errors)
        })
        .collect::<Result<_>>()?;
    Ok(ErrorStatistics::of(outputs as u64, &errors.concat()))
}

/// The place in D of the sample of that number: one in each of `count` equal parts of D, at a
/// place in the part that a hash of the number chooses.
fn sampled(number: usize, count: usize, outputs: usize) -> usize {
    let start = |number: usize| (number as u128 * outputs as u128 / count as u128) as usize;
    let (first, end) = (start(number), start(number + 1));
    // The finaliser of SplitMix64.
    let mut hash = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    first + (hash % (end - first).max(1) as u64) as usize
}

/// What is known of one output.
#[derive(Clone, Copy)]
enum Errors {
    ExactNotFinite,
    ResultNotFinite {
        exact_is_zero: bool,
    },
    Measured {
        exact_is_zero: bool,
        missed: bool,
        vanished: bool,
        is_below: bool,
        relative: f64,
        relative_to_products: f64,
        ulps: f64,
    },
}

fn errors(yardstick: &Yardstick<'_>, index: usize, d: u64) -> Errors {
    let Some((exact, products)) = yardstick.exact(index) else {
        return Errors::ExactNotFinite;
    };
    let format = yardstick.format();
    let exact_is_zero = exact.is_zero();
    let decoded = yardstick.decode(d);
    let Some(result) = decoded.and_then(|value| value.exact()) else {
        return Errors::ResultNotFinite { exact_is_zero };
    };
    let value = Dyadic::of(&result);
    let distance = (&value - &exact).magnitude();
    Errors::Measured {
        exact_is_zero,
        missed: exact_is_zero && result.magnitude != 0,
        vanished: !exact_is_zero && result.magnitude == 0,
        is_below: value < exact,
        relative: ratio(&distance, &exact),
        relative_to_products: ratio(&distance, &products),
        ulps: ratio(&distance, &unit_in_last_place(&exact, &format)),
    }
}

/// `|left| / |right|` as the nearest f64; ∞ beyond its range, NaN for a division by 0.
fn ratio(left: &Dyadic, right: &Dyadic) -> f64 {
    let Some(quotient) = left.quotient(right) else {
        return f64::NAN;
    };
    let magnitude = Exact {
        negative: false,
        ..quotient
    };
    f64::from_bits(F64.round(&magnitude, Rounding::Rne, Overflow::Ieee))
}

/// The unit in the last place of a float format at a value: that of the subnormals below its
/// range, that of the largest binade above it.
fn unit_in_last_place(value: &Dyadic, format: &Format) -> Dyadic {
    let Some(float) = format.float() else {
        return Dyadic::power_of_two(0);
    };
    let emin = i64::from(float.emin());
    let largest = format.decode(format.max_finite(false));
    let emax = i64::from(largest.exponent);
    let binade = value.top().unwrap_or(emin).clamp(emin, emax.max(emin));
    Dyadic::power_of_two(binade - i64::from(float.fraction_bits))
}

impl ErrorStatistics {
    fn of(outputs: u64, errors: &[Errors]) -> Self {
        let count =
            |is: fn(&Errors) -> bool| errors.iter().filter(|&error| is(error)).count() as u64;
        let summary = |of: fn(&Errors) -> Option<f64>| Summary::of(errors.iter().filter_map(of));
        let (bias, bias_error) = mean_and_error(errors.iter().filter_map(Errors::signed));
        Self {
            outputs,
            sampled: errors.len() as u64,
            exact_zeros: count(|errors| errors.exact_is_zero()),
            missed_zeros: count(|errors| match errors {
                Errors::Measured { missed, .. } => *missed,
                other => other.exact_is_zero(),
            }),
            exact_not_finite: count(|errors| matches!(errors, Errors::ExactNotFinite)),
            result_not_finite: count(|errors| matches!(errors, Errors::ResultNotFinite { .. })),
            vanished: count(|errors| matches!(errors, Errors::Measured { vanished: true, .. })),
            bias,
            bias_error,
            relative: summary(|errors| match errors {
                Errors::Measured {
                    exact_is_zero: false,
                    relative,
                    ..
                } => Some(*relative),
                _ => None,
            }),
            relative_to_products: summary(|errors| match errors {
                Errors::Measured {
                    relative_to_products,
                    ..
                } => Some(*relative_to_products).filter(|error| !error.is_nan()),
                _ => None,
            }),
            ulps: summary(|errors| match errors {
                Errors::Measured {
                    exact_is_zero: false,
                    ulps,
                    ..
                } => Some(*ulps),
                _ => None,
            }),
        }
    }
}

impl Errors {
    /// The error relative to Σ|a·b| with its sign.
    fn signed(&self) -> Option<f64> {
        match *self {
            Self::Measured {
                is_below,
                relative_to_products,
                ..
            } if !relative_to_products.is_nan() => Some(match is_below {
                true => -relative_to_products,
                false => relative_to_products,
            }),
            _ => None,
        }
    }

    fn exact_is_zero(&self) -> bool {
        match self {
            Self::ExactNotFinite => false,
            Self::ResultNotFinite { exact_is_zero } | Self::Measured { exact_is_zero, .. } => {
                *exact_is_zero
            }
        }
    }
}

/// The mean and its standard error; 0 where there are no values.
fn mean_and_error(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.collect();
    let count = values.len() as f64;
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    (mean, (squares / count / (count - 1.0).max(1.0)).sqrt())
}

impl Summary {
    fn of(errors: impl Iterator<Item = f64>) -> Self {
        let mut errors: Vec<f64> = errors.collect();
        errors.sort_by(f64::total_cmp);
        let count = errors.len();
        let Some(&max) = errors.last() else {
            return Self::default();
        };
        let (below, above) = (errors[(count - 1) / 2], errors[count / 2]);
        Self {
            count: count as u64,
            max,
            mean: errors.iter().sum::<f64>() / count as f64,
            median: below.midpoint(above),
        }
    }
}
