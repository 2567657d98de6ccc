//! The normal deviate: its table and its moments.

use crate::normal::magnitude;
use crate::philox::philox;
use crate::quantiles::QUANTILES;

#[test]
fn quantiles_rise_and_include_known_ones() {
    assert!(QUANTILES.windows(2).all(|pair| pair[0] < pair[1]));
    // Median 0.674489750196…, upper quartile 1.150349380376…, 7/8 1.534120544352… (tables).
    assert_eq!(QUANTILES[16], 181_056_963);
    assert_eq!(QUANTILES[32], 308_794_560);
    assert_eq!(QUANTILES[48], 411_812_347);
}

#[test]
fn the_ends_of_the_words_are_taken() {
    assert_eq!(magnitude(u32::MAX, 0), u64::from(QUANTILES[15]) << 32);
    assert_eq!(magnitude(0x8000_0000, 0), 0);
    assert_eq!(magnitude(0, 0), u64::from(QUANTILES[496]) << 32);
    assert_eq!(magnitude(1, 0), u64::from(QUANTILES[496]) << 32);
    assert_eq!(magnitude(15, 0), u64::from(QUANTILES[16 * 28 + 14]) << 32);
}

/// Mean of |z| is sqrt(2/π) = 0.79788, mean of z² is 1, mean of z⁴ is 3.
#[test]
fn moments_are_those_of_the_normal_distribution() {
    let n = 1_u32 << 18;
    let (mut first, mut second, mut fourth) = (0_u128, 0_u128, 0_u128);
    for index in 0..n {
        let [u, v, ..] = philox([index, 0, 0, 0], [1, 2]);
        let z = u128::from(magnitude(u, v) >> 40); // 20 fraction bits
        let square = (z * z) >> 20;
        first += z;
        second += square;
        fourth += (square * square) >> 20;
    }
    let thousandths = |sum: u128| (sum * 1000 / u128::from(n)) >> 20;
    let near = |value: u128, wanted: u128, by: u128| value.abs_diff(wanted) <= by;
    assert!(near(thousandths(first), 797, 4), "{}", thousandths(first));
    assert!(
        near(thousandths(second), 999, 10),
        "{}",
        thousandths(second)
    );
    assert!(
        near(thousandths(fourth), 2999, 80),
        "{}",
        thousandths(fourth)
    );
}
