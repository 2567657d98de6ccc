//! Rounding to every format of at most 16 bits, at and around every value, in every mode.

use mmascope::format::{Exact, FORMATS};
use rayon::prelude::*;

use crate::ladder::Ladder;
use crate::modes::all;
use crate::points::{between, outside};

/// Checks both signs of a point in every mode under every policy; returns how many cases.
pub(crate) fn check_point(ladder: &Ladder, point: &Exact) -> Result<u64, String> {
    let places = ladder.places(point);
    let mut cases = 0;
    for negative in [false, true] {
        let value = Exact { negative, ..*point };
        for mode in all() {
            cases += ladder.check(&value, &places, mode)?;
        }
    }
    Ok(cases)
}

#[test]
fn every_value_and_every_gap_in_every_mode() {
    let narrow = Ladder::narrow();
    assert_eq!(
        narrow.len(),
        FORMATS.iter().filter(|format| format.bits <= 16).count()
    );
    let inside: Result<u64, String> = narrow
        .par_iter()
        .flat_map(|ladder| (0..ladder.last()).into_par_iter().map(move |k| (ladder, k)))
        .map(|(ladder, k)| {
            between(ladder, k)
                .iter()
                .map(|point| check_point(ladder, point))
                .sum::<Result<u64, String>>()
        })
        .sum();
    let inside = inside.unwrap();
    println!("{inside} cases between the rungs");
    assert!(inside > 200_000_000);
}

#[test]
fn below_and_beyond_every_format() {
    let cases: Result<u64, String> = Ladder::all()
        .par_iter()
        .flat_map_iter(|ladder| {
            outside(ladder)
                .into_iter()
                .map(move |point| (ladder, point))
        })
        .map(|(ladder, point)| check_point(ladder, &point))
        .sum();
    let cases = cases.unwrap();
    println!("{cases} cases outside");
    assert!(cases > 4_000_000);
}
