//! Finds the elements of a D of few bits that tell sums apart: small ones, and those whose sum lies near a value at which
//! rounding changes.
//!
//! Candidates of one family differ in the last bits of f32. A kernel that converts to f16 drops those bits, but where products
//! cancel or the sum lies next to the middle between two numbers of f16. Such elements are found with sums in f64, over some
//! rows and columns.

use rayon::prelude::*;

use super::Question;
use super::excerpts::spread;
use crate::array::{Array, Casting};
use crate::dpa::Signature;
use crate::format::Format;
use crate::tree::decode;

/// The widest fraction of a D that is called narrow: that of f16.
const NARROW: u32 = 10;
/// Products that are computed to choose elements.
const PRODUCTS: usize = 1 << 26;
/// Elements of B that are kept as f64.
const KEPT: usize = 1 << 22;
/// Rows of D that are looked at.
const ROWS: usize = 64;

/// How small the sums of some elements are, and how near to values at which rounding changes.
pub(super) struct Boundaries {
    pub(super) rows: Vec<usize>,
    pub(super) columns: Vec<usize>,
    /// Sizes and distances, by rows, in parts of Σ|a·b|.
    sums: Vec<[f64; 2]>,
}

impl Boundaries {
    /// Of a question whose operands have a signature's formats; `None` where D is not narrow, and where sums have scales.
    pub(super) fn new(
        question: &Question<'_>,
        [m, n, k]: [usize; 3],
        signature: &Signature,
        formats: &[Format],
    ) -> Option<Self> {
        let fraction = |format: &Format| format.float().map(|float| float.fraction_bits);
        let narrow = formats.iter().min_by_key(|format| fraction(format))?;
        if fraction(narrow).is_none_or(|bits| bits > NARROW)
            || question.operands.scale_a.is_some()
            || k == 0
        {
            return None;
        }
        let rows = spread(m, ROWS.min(PRODUCTS / k).max(1));
        let most = (PRODUCTS / k / rows.len()).min(KEPT / k);
        let columns = spread(n, most.max(1));
        let all: Vec<usize> = (0..k).collect();
        let operands = &question.operands;
        let taken = |array: &Array, format: &Format, lines: &[usize], is_k_first: bool| {
            let some = match is_k_first {
                true => array.excerpt(&all, lines),
                false => array.excerpt(lines, &all),
            };
            values(&some.ok()?, format)
        };
        let a = taken(operands.a, &signature.a, &rows, operands.transpose_a)?;
        let b = taken(operands.b, &signature.b, &columns, !operands.transpose_b)?;
        let c = match operands.c {
            Some(c) => Some(values(&c.excerpt(&rows, &columns).ok()?, &signature.c)?),
            None => None,
        };
        let a_at = |i: usize, at: usize| match operands.transpose_a {
            true => a[at * rows.len() + i],
            false => a[i * k + at],
        };
        // B with k first, so that columns are summed side by side.
        let b = match operands.transpose_b {
            false => b,
            true => (0..k * columns.len())
                .map(|index| b[index % columns.len() * k + index / columns.len()])
                .collect(),
        };
        let factors = question.factors;
        let smallest = (narrow.float()).map_or(0.0, |float| f64::powi(2.0, float.emin()));
        let of_row = |i: usize| -> Vec<[f64; 2]> {
            let mut sums = vec![0.0; columns.len()];
            let mut magnitudes = vec![0.0; columns.len()];
            for at in 0..k {
                let factor = a_at(i, at);
                let of_b = &b[at * columns.len()..][..columns.len()];
                for ((sum, magnitude), value) in sums.iter_mut().zip(&mut magnitudes).zip(of_b) {
                    let product: f64 = factor * value;
                    *sum += product;
                    *magnitude += product.abs();
                }
            }
            let sums = sums.iter().zip(&magnitudes).enumerate();
            sums.map(|(j, (sum, magnitude))| {
                let c = c.as_ref().map_or(0.0, |c| c[i * columns.len() + j]);
                let sum = sum * factors.alpha + c * factors.beta;
                let of_all = match sum == 0.0 {
                    true => f64::NAN,
                    false => magnitude.recip(),
                };
                // Below the normal numbers steps become no smaller.
                [
                    sum.abs().max(smallest) * of_all,
                    distance(sum, narrow) * of_all,
                ]
            })
            .collect()
        };
        let sums: Vec<Vec<[f64; 2]>> = (0..rows.len()).into_par_iter().map(of_row).collect();
        Some(Self {
            rows,
            columns,
            sums: sums.concat(),
        })
    }

    /// How small the sum in a row and a column that are looked at is, for sorting: what is no number comes last.
    pub(super) fn size(&self, row: usize, column: usize) -> u64 {
        ordered(self.sums[row * self.columns.len() + column][0])
    }

    /// How near it is to a value at which rounding changes, for sorting.
    pub(super) fn distance(&self, row: usize, column: usize) -> u64 {
        ordered(self.sums[row * self.columns.len() + column][1])
    }
}

/// A number that is not negative, for sorting.
fn ordered(number: f64) -> u64 {
    match number.is_finite() {
        true => number.to_bits(),
        false => u64::MAX,
    }
}

/// How far a sum is from the next middle between two numbers of a format.
fn distance(sum: f64, format: &Format) -> f64 {
    let Some(float) = format.float() else {
        return f64::NAN;
    };
    let largest = decode(*format, format.max_finite(false));
    if sum.is_nan() || sum.abs() > largest {
        return f64::NAN;
    }
    let exponent = (sum.abs().log2().floor() as i32).max(float.emin());
    let step = f64::powi(2.0, exponent - float.fraction_bits as i32);
    let places = sum.abs() / step;
    (places - places.floor() - 0.5).abs() * step
}

/// The values of an array's elements; `None` where it has no such format.
fn values(array: &Array, format: &Format) -> Option<Vec<f64>> {
    let words = array.words(format, &Casting::default()).ok()?;
    let values = words
        .iter()
        .map(|word| decode(*format, format.from_register(word)));
    Some(values.collect())
}
