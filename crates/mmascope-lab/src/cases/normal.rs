//! Computes normal deviates from a table of quantiles, as exact integers.

use super::quantiles::QUANTILES;

/// The last place of a deviate.
pub(super) const PLACE: i32 = -60;

/// The magnitude of a normal deviate in units of 2^-60. `u` chooses the octave of probability (its
/// leading zeros) and one of its sixteen parts, `v` the point between two quantiles.
pub(super) fn magnitude(u: u32, v: u32) -> u64 {
    let octave = u.leading_zeros().min(31);
    let part = ((u64::from(u) << (octave + 1)) as u32) >> 28;
    let index = (16 * octave + part) as usize;
    let (from, to) = (QUANTILES[index], QUANTILES[index + 1]);
    (u64::from(from) << 32) + u64::from(to - from) * u64::from(v)
}
