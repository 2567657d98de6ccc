//! Asks some questions again, to find out whether the device is noisy.

use super::bench::{Bench, Input};
use crate::error::Result;

/// Questions that are asked once more, spread over all that were asked.
const AGAIN: usize = 256;

pub(super) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let (name, title) = ("repeated", "the same question once more");
    let every = bench.asked.len().div_ceil(AGAIN).max(1);
    // The last ones first: a device that counts its questions gives itself away.
    let places: Vec<usize> = (0..bench.asked.len()).rev().step_by(every).collect();
    let of = |bench: &Bench<'_>, place: usize| bench.asked[place].clone();
    let (mut inputs, mut first) = (Vec::new(), Vec::new());
    for &place in &places {
        let (input, reading) = of(bench, place);
        let what = format!("{}, after {}", input.what, reading.value);
        inputs.push(Input { what, ..input });
        first.push(reading);
    }
    let again = bench.ask(inputs)?;
    let differs: Vec<bool> = first
        .iter()
        .zip(&again)
        .map(|(first, again)| first.answer != again.answer)
        .collect();
    bench.keep_tests(&differs);
    let count = differs.iter().filter(|differs| **differs).count();
    let (value, conclusion) = match count {
        0 => (
            "same",
            format!(
                "{} of the questions were asked once more, in another order: the same answers",
                places.len()
            ),
        ),
        _ => (
            "noise",
            format!(
                "{count} of {} questions had another answer when they were asked once more: what is \
                 concluded from single answers does not hold",
                places.len()
            ),
        ),
    };
    bench.conclude(name, 9, title, value, conclusion);
    Ok(())
}
