//! How far a matrix product is from the exact one.

use rayon::prelude::*;

use super::exact::{Dyadic, Sum};
use super::{Matrices, Watch};
use crate::array::Words;
use crate::dpa::{Modifiers, Signature, Unit};
use crate::error::Result;
use crate::format::Format;

/// How many outputs are looked at where a sample is asked for.
pub const SAMPLES: usize = 4096;
/// Outputs that one task looks at.
const CHUNK: usize = 16;

/// Errors of the outputs looked at. The exact result is that of the operands as the unit gets
/// them, block scales and modifiers included.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
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
    /// The median: the middle one, or the lower of the two middle ones.
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
) -> Result<Statistics> {
    let signature = unit.signature();
    matrices.check(signature)?;
    let outputs = matrices.outputs();
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
                    Ok(errors(signature, matrices, modifiers, index, d.get(index)))
                })
                .collect::<Result<Vec<_>>>()?;
            (watch.progress)(errors.len() as u64);
            Ok(errors)
        })
        .collect::<Result<_>>()?;
    Ok(Statistics::of(outputs as u64, &errors.concat()))
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
        relative: f64,
        relative_to_products: f64,
        ulps: f64,
    },
}

fn errors(
    signature: &Signature,
    matrices: &Matrices,
    modifiers: &Modifiers,
    index: usize,
    d: u64,
) -> Errors {
    let (line, j) = (index / matrices.n(), index % matrices.n());
    let place = (line / matrices.m(), line % matrices.m(), j);
    let Some((exact, products)) = exact_dot(signature, matrices, modifiers, place) else {
        return Errors::ExactNotFinite;
    };
    let format = signature.d.container();
    let exact_is_zero = exact.is_zero();
    let Some(result) = format.decode(d & format.mask()).exact() else {
        return Errors::ResultNotFinite { exact_is_zero };
    };
    let distance = Dyadic::of(&result).distance(&exact);
    Errors::Measured {
        exact_is_zero,
        missed: exact_is_zero && result.magnitude != 0,
        relative: distance.ratio(&exact),
        relative_to_products: distance.ratio(&products),
        ulps: distance.ratio(&exact.unit_in_last_place(&format)),
    }
}

/// The exact element of D and its Σ|a·b|; `None` when an operand is ∞ or NaN.
fn exact_dot(
    signature: &Signature,
    matrices: &Matrices,
    modifiers: &Modifiers,
    (batch, i, j): (usize, usize, usize),
) -> Option<(Dyadic, Dyadic)> {
    let value = |format: &Format, word: u64| format.decode(format.from_register(word)).exact();
    let negate = modifiers.negate_a != modifiers.negate_b;
    let (mut sum, mut products) = (Sum::default(), Sum::default());
    for at in 0..matrices.k() {
        let a = value(&signature.a, matrices.a().at(batch, i, at))?;
        let b = value(&signature.b, matrices.b().at(batch, at, j))?;
        let mut magnitude = a.magnitude * b.magnitude;
        let mut exponent = a.exponent + b.exponent;
        if let (Some(scale), Some(scale_a), Some(scale_b)) =
            (signature.scale, matrices.scale_a(), matrices.scale_b())
        {
            let block = at / scale.block;
            let scale_a = value(&scale.format, scale_a.at(batch, i, block))?;
            let scale_b = value(&scale.format, scale_b.at(batch, block, j))?;
            magnitude *= scale_a.magnitude * scale_b.magnitude;
            exponent += scale_a.exponent + scale_b.exponent;
        }
        sum.add((a.negative != b.negative) != negate, magnitude, exponent);
        products.add(false, magnitude, exponent);
    }
    if !modifiers.no_c {
        let c = value(&signature.c, matrices.c_at(batch, i, j))?;
        let negative = c.negative != modifiers.negate_c;
        sum.add(negative, c.magnitude, c.exponent + modifiers.scale_d);
    }
    Some((sum.total(), products.total()))
}

impl Statistics {
    fn of(outputs: u64, errors: &[Errors]) -> Self {
        let count =
            |is: fn(&Errors) -> bool| errors.iter().filter(|&error| is(error)).count() as u64;
        let summary = |of: fn(&Errors) -> Option<f64>| Summary::of(errors.iter().filter_map(of));
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
    fn exact_is_zero(&self) -> bool {
        match self {
            Self::ExactNotFinite => false,
            Self::ResultNotFinite { exact_is_zero } | Self::Measured { exact_is_zero, .. } => {
                *exact_is_zero
            }
        }
    }
}

impl Summary {
    fn of(errors: impl Iterator<Item = f64>) -> Self {
        let mut errors: Vec<f64> = errors.collect();
        errors.sort_by(f64::total_cmp);
        let count = errors.len();
        let (Some(&max), Some(&median)) = (errors.last(), errors.get(count.saturating_sub(1) / 2))
        else {
            return Self::default();
        };
        Self {
            count: count as u64,
            max,
            mean: errors.iter().sum::<f64>() / count as f64,
            median,
        }
    }
}
