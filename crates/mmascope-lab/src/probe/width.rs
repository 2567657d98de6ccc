//! Measures the width of results (§1.10).

use super::bench::{Bench, Reading, one_and, power, two};
use super::order::Order;
use crate::error::Result;

/// Measures the fraction bits of results, and whether a narrow result is rounded once. `kept`: the bits of products that
/// the alignment keeps.
pub(super) fn measure(bench: &mut Bench<'_>, order: &Order, kept: Option<i32>) -> Result<i32> {
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
    // Missing bits may be those that the alignment loses, which a carry would show.
    let hidden = widest < m && (!order.known || kept.is_none_or(|kept| kept <= widest));
    let carried = if hidden {
        carried(bench, order, m)?
    } else {
        None
    };
    let (value, text) = match carried {
        _ if widest == m => (
            widest.to_string(),
            format!("every fraction bit of {of} is produced"),
        ),
        Some(bits) if bits > widest => (
            format!(">={bits}"),
            format!(
                "{bits} fraction bits are produced where a sum carries: what is missing of others the alignment loses"
            ),
        ),
        None if hidden && order.step.len() > 1 => (
            format!(">={widest}"),
            format!(
                "{widest} of the {m} fraction bits of {of} are produced; the alignment may lose the others"
            ),
        ),
        _ => (
            widest.to_string(),
            format!(
                "{widest} of the {m} fraction bits of {of} are produced (E8M{widest}, where the exponent has 8 bits)"
            ),
        ),
    };
    bench.conclude("width", 10, title, value, text);
    twice(bench, widest)?;
    Ok(widest)
}

/// The most fraction bits of 1.5 + 1.5 + 2^-j, whose exponent is one above that of its terms; `None` where it
/// cannot be asked.
fn carried(bench: &mut Bench<'_>, order: &Order, m: i32) -> Result<Option<i32>> {
    let has_half =
        |format: &crate::format::Format| format.float().is_some_and(|f| f.fraction_bits > 0);
    if !order.known || !has_half(&bench.signature.a) {
        return Ok(None);
    }
    // The terms of a step, and two products of any with c: where groups are summed first, those carry.
    let outside = (0..bench.signature.k).find(|k| !order.step.contains(k));
    let (first, second) = (order.step.first(), order.step.get(1));
    let mut terms: Vec<(usize, usize, Option<usize>)> = Vec::new();
    if let [x, y, .., z] = order.step[..] {
        terms.push((x, y, Some(z)));
    }
    for y in second.into_iter().copied().chain(outside) {
        terms.extend(first.map(|&x| (x, y, None)));
    }
    if terms.is_empty() {
        return Ok(None);
    }
    let (mut inputs, mut bits) = (Vec::new(), Vec::new());
    for (x, y, small) in terms {
        for j in (1..m).take_while(|&j| small.is_none() || bench.reaches(-j)) {
            let place = small.map_or("c".to_owned(), |z| format!("p{z}"));
            let mut input = bench.input(format!("p{x} = p{y} = 1.5, {place} = 2^-{j}"));
            bench.product(&mut input, x, one_and(false, 0, 1, 1), two(false, 0));
            bench.product(&mut input, y, one_and(false, 0, 1, 1), two(false, 0));
            match small {
                Some(z) => bench.power(&mut input, z, false, -j),
                None => bench.c(&mut input, two(false, -j)),
            }
            inputs.push(input);
            bits.push(j);
        }
    }
    let readings = bench.ask(inputs)?;
    let three = &power(false, 1) + &power(false, 0);
    let whole = bits
        .iter()
        .zip(&readings)
        .filter(|(j, reading)| reading.number() == Some(&three + &power(false, -**j)));
    Ok(Some(whole.map(|(j, _)| j + 1).max().unwrap_or(0)))
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
