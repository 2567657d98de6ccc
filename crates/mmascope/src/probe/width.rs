//! §1.10: the width of results.

use super::bench::{Bench, Reading, one_and, power, two};
use crate::error::Result;

/// How many fraction bits results have, and whether a narrow one is rounded once.
pub(super) fn measure(bench: &mut Bench<'_>) -> Result<i32> {
    let m = bench.maker.bits.max(
        bench
            .signature
            .d
            .container()
            .float()
            .map_or(0, |f| f.fraction_bits as i32),
    );
    let title = "fraction bits of results";
    let k = bench.signature.k;
    let mut inputs = Vec::new();
    for j in 1..=m {
        let mut input = bench.input(format!("1 + 2^-{j}"));
        bench.power(&mut input, 0, false, 0);
        if k > 1 && bench.reaches(-j) {
            bench.power(&mut input, k - 1, false, -j);
        } else {
            bench.c(&mut input, two(false, -j));
        }
        inputs.push(input);
        // The same bit of a sum without a large term: c itself.
        let mut input = bench.input(format!("c = 1 + 2^-{j}"));
        bench.c(&mut input, one_and(false, 0, 1, j as u32));
        inputs.push(input);
    }
    let readings = bench.ask(inputs)?;
    let mut widest = 0;
    for (j, pair) in (1..=m).zip(readings.chunks(2)) {
        let exact = &power(false, 0) + &power(false, -j);
        if pair
            .iter()
            .any(|reading| reading.number().as_ref() == Some(&exact))
        {
            widest = j;
        }
    }
    let of = bench.signature.d;
    let text = if widest == m {
        format!("every fraction bit of {of} is produced")
    } else {
        format!(
            "{widest} of the {m} fraction bits of {of} are produced (E8M{widest}, where the exponent has 8 bits)"
        )
    };
    bench.conclude("width", 10, title, widest.to_string(), text);
    twice(bench, widest)?;
    Ok(widest)
}

/// A sum just above a tie of a narrow result: rounded to f32 toward zero first it is the tie itself.
fn twice(bench: &mut Bench<'_>, m: i32) -> Result<()> {
    let title = "narrow results rounded once";
    let k = bench.signature.k;
    if bench.signature.d.bits >= 32 || bench.signature.d.container().bits >= 32 || k < 3 {
        return Ok(());
    }
    let mut inputs = Vec::new();
    for small in [-24, -23] {
        let mut input = bench.input(format!("1 + 2^-{} + 2^{small}", m + 1));
        bench.power(&mut input, 0, false, 0);
        bench.power(&mut input, 1, false, -m - 1);
        bench.power(&mut input, 2, false, small);
        inputs.push(input);
    }
    let readings = bench.ask(inputs)?;
    let up = &power(false, 0) + &power(false, -m);
    let above = |reading: &Reading| reading.number().as_ref() == Some(&up);
    let (value, text) = match (above(&readings[0]), above(&readings[1])) {
        (true, true) => (
            "once",
            "2^-24 beyond a tie rounds up: not through f32 toward zero",
        ),
        (false, true) => (
            "unknown",
            "2^-24 beyond a tie is lost: in the alignment, or in f32 on the way",
        ),
        _ => (
            "unknown",
            "what lies beyond a tie is lost before the rounding, or the rounding is no nearest one",
        ),
    };
    bench.conclude("rounded-once", 10, title, value, text);
    Ok(())
}
