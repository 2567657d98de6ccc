//! Measures the floor of the alignment, and overflow (§1.8, §1.9).

use super::alignment::Bits;
use super::bench::{Bench, Input, Reading, one_and, power, two};
use super::order::Order;
use crate::error::Result;
use crate::explain::TracedValue;

/// §1.8: the smallest term that still counts beside another tiny one. Where it is F bits below the
/// other, no floor is seen; where it is fewer, the difference is the floor's.
pub(super) fn floor(bench: &mut Bench<'_>, order: &Order, bits: &Bits) -> Result<()> {
    let title = "floor of the alignment exponent (e0)";
    let lowest = bench.maker.d.lowest;
    // Subnormal operands that are flushed make no products.
    let low = if bits.flushes_operands {
        bench.maker.a.normal + bench.maker.b.normal
    } else {
        bench.maker.a.lowest + bench.maker.b.lowest
    };
    // Where the order is not known, a later step may align the sum as it aligns c.
    let is_one_grid = order.known || bits.c == bits.products;
    let Some(f) = bits
        .products
        .filter(|_| order.step.len() >= 2 && is_one_grid)
    else {
        bench.conclude(
            "e0",
            8,
            title,
            "unknown",
            "the bits that are kept are not known",
        );
        return Ok(());
    };
    if low > lowest - f {
        bench.conclude("e0", 8, title, "not reachable", format!("the smallest product is 2^{low}: no floor below shows in a result of 2^{lowest} or more"));
        return Ok(());
    }
    let (x, y) = (order.step[0], order.step[order.step.len() - 1]);
    // Half the smallest result and a little more; and one and a half of it and a little less.
    let mut inputs: Vec<Input> = Vec::new();
    let places: Vec<i32> = ((lowest - f - 40).max(low)..lowest - 1).collect();
    for &place in &places {
        let mut above = bench.input(format!("2^{} + 2^{place}", lowest - 1));
        bench.power(&mut above, x, false, lowest - 1);
        bench.power(&mut above, y, false, place);
        let mut below = bench.input(format!("2^{} - 2^{place}", lowest + 1));
        bench.power(&mut below, x, false, lowest + 1);
        bench.power(&mut below, y, true, place);
        inputs.extend([above, below]);
    }
    let mut without = bench.input(format!("2^{}", lowest - 1));
    bench.power(&mut without, x, false, lowest - 1);
    let mut whole = bench.input(format!("2^{}", lowest + 1));
    bench.power(&mut whole, x, false, lowest + 1);
    inputs.extend([without, whole]);
    let readings = bench.ask(inputs)?;
    let (pairs, references) = readings.split_at(readings.len() - 2);
    // The smallest place from which on every term counts, for either of the two tests.
    let smallest = |which: usize| -> Option<i32> {
        let counts = |pair: &&[Reading]| pair[which].value != references[which].value;
        let chunks: Vec<&[Reading]> = pairs.chunks(2).collect();
        let from = chunks
            .iter()
            .rposition(|pair| !counts(pair))
            .map_or(0, |at| at + 1);
        // If terms of any size count, they are rounded away from zero, and no place is seen.
        let place = places.get(from).copied()?;
        (from > 0 || place == low).then_some(place)
    };
    let anchors = [lowest - 1, lowest + 1];
    // The test that the rounding of results does not hide is the one that sees further down.
    // Less than half a unit must not show of itself.
    let shows_none = |negative: bool| {
        let mut modes = bits.alignment.iter();
        modes.all(|mode| mode.shift_right(negative, 1, false, 2) == 0)
    };
    let seen = [0, 1]
        .into_iter()
        .filter(|&which| shows_none(which == 1))
        .filter_map(|which| Some((smallest(which)?, anchors[which])))
        .min();
    let by_alignment = match seen {
        Some((place, anchor)) => rounds_as_aligned(bench, bits, [x, y], anchor, place, low)?,
        None => false,
    };
    let above = match seen {
        None => above_results(bench, [x, y], f, low)?,
        Some(_) => None,
    };
    let (value, text) = match (seen, above) {
        (None, Some(place)) => (
            (place + f).to_string(),
            format!(
                "terms count down to 2^{place} only, and half of it is lost of 1.5*2^{place} too: a floor of {} where the grid lies {f} bits below it",
                place + f
            ),
        ),
        (None, None) => (
            "unknown".to_owned(),
            "no term below the smallest result counts: the rounding of results hides it".to_owned(),
        ),
        (Some((place, anchor)), _) => {
            let exponent = place + f;
            // Sums between steps keep no more than they have bits.
            let is_cut = order.between.is_some_and(|width| anchor - place >= width);
            if exponent > anchor && place == low {
                (
                    format!("<={exponent}"),
                    format!(
                        "every product counts, down to the smallest, 2^{low}: no floor above {exponent}"
                    ),
                )
            } else if exponent > anchor && is_cut {
                (
                    format!("<={exponent}"),
                    format!(
                        "terms count down to 2^{place}, and a sum between steps keeps no less: no floor above {exponent}"
                    ),
                )
            } else if exponent <= anchor {
                (
                    "none".to_owned(),
                    format!(
                        "a term {f} bits below 2^{anchor} still counts: no floor above 2^{anchor}"
                    ),
                )
            } else if by_alignment {
                (
                    exponent.to_string(),
                    format!(
                        "terms count down to 2^{place}, whatever the others are: a floor of {exponent} where the grid lies {f} bits below it"
                    ),
                )
            } else {
                (
                    format!("units of 2^{place}"),
                    format!(
                        "terms count down to 2^{place}, whatever the others are; what is lost there is not rounded as it is in the alignment of products: a grid of its own"
                    ),
                )
            }
        }
    };
    bench.conclude("e0", 8, title, value, text);
    Ok(())
}

/// The place down to which terms count where that is above the smallest result: single products of
/// less vanish, and so does half of it beside a whole (a flush would take the small ones only).
fn above_results(
    bench: &mut Bench<'_>,
    [x, y]: [usize; 2],
    f: i32,
    low: i32,
) -> Result<Option<i32>> {
    let lowest = bench.maker.d.lowest;
    let places: Vec<i32> = (lowest.max(low)..lowest + 3 * f)
        .filter(|&at| bench.reaches(at))
        .collect();
    let mut inputs = Vec::new();
    for &place in &places {
        let mut alone = bench.input(format!("2^{place}"));
        bench.power(&mut alone, x, false, place);
        inputs.push(alone);
    }
    let readings = bench.ask(inputs)?;
    let shown = |at: &usize| readings[*at].is_power(false, places[*at]);
    let Some(from) = (0..places.len()).rev().take_while(shown).last() else {
        return Ok(None);
    };
    let place = places[from];
    let vanish = readings[..from].iter().rev().skip(1).all(Reading::is_zero);
    if from < 2 || !vanish || from + 1 == places.len() {
        return Ok(None);
    }
    let mut beside = bench.input(format!("2^{} + 1.5*2^{place}", place + 1));
    bench.power(&mut beside, x, false, place + 1);
    bench.normal_product(&mut beside, y, one_and(false, place, 1, 1));
    let whole = &power(false, place + 1) + &power(false, place);
    let half = power(false, place - 1);
    if bench.product_at(&beside, y) != Some(&power(false, place) + &half) {
        return Ok(None);
    }
    let reading = bench.ask_one(beside)?;
    Ok((reading.number() == Some(whole)).then_some(place))
}

/// Whether half of the last bit above the floor, of either sign, is rounded as the alignment of
/// products does it: a floor of another kind (one of sums, say) need not lie F bits below an exponent.
fn rounds_as_aligned(
    bench: &mut Bench<'_>,
    bits: &Bits,
    [x, y]: [usize; 2],
    anchor: i32,
    place: i32,
    low: i32,
) -> Result<bool> {
    let lowest = bench.maker.d.lowest;
    if place - 1 < low {
        return Ok(true);
    }
    // One of these sums shows the half bit: ±(2^anchor + half) or ±(2^anchor − half).
    let outward = anchor < lowest;
    let mut seen = Vec::new();
    for negative in [false, true] {
        let mut inputs = Vec::new();
        for small in [place, place - 1] {
            let (large, less) = (negative == outward, negative);
            let mut input = bench.input(format!(
                "{}2^{anchor} {} 2^{small}",
                if large { "-" } else { "" },
                if less { "-" } else { "+" }
            ));
            bench.power(&mut input, x, large, anchor);
            bench.power(&mut input, y, less, small);
            inputs.push(input);
        }
        let mut alone = bench.input(format!("±2^{anchor}"));
        bench.power(&mut alone, x, negative == outward, anchor);
        inputs.push(alone);
        let readings = bench.ask(inputs)?;
        // A whole unit that does not show says nothing about half of one.
        if readings[0].value != readings[2].value {
            seen.push((negative, readings[1].value != readings[2].value));
        }
    }
    Ok(bits.alignment.iter().any(|mode| {
        seen.iter()
            .all(|&(negative, counts)| (mode.shift_right(negative, 2, false, 2) != 0) == counts)
    }))
}

pub(super) fn overflow(bench: &mut Bench<'_>, order: &Order) -> Result<()> {
    let title = "overflow of results";
    let top = bench.maker.d.top;
    let x = order.step[0];
    let mut inputs = Vec::new();
    for negative in [false, true] {
        let sign = if negative { "-" } else { "" };
        let mut input = bench.input(format!("{sign}(2^{top} + 2^{top})"));
        bench.c(&mut input, two(negative, top.min(bench.maker.c.top)));
        if bench.reaches(top) {
            bench.power(&mut input, x, negative, top);
        }
        inputs.push(input);
    }
    if !bench.reaches(top) {
        bench.conclude(
            "overflow",
            9,
            title,
            "not reachable",
            format!("no product reaches 2^{top}"),
        );
    } else {
        let readings = bench.ask(inputs)?;
        let largest = {
            let d = bench.signature.d;
            TracedValue::of(&d.decode(d.max_finite(false)))
        };
        let (value, text) = match &readings[0].value {
            TracedValue::Infinite { .. } => (
                "infinity",
                format!("∞ ({} for the negative sum)", readings[1].value),
            ),
            TracedValue::Nan => ("nan", "NaN".to_owned()),
            other if *other == largest => ("largest", "the largest finite number".to_owned()),
            other => ("other", other.to_string()),
        };
        bench.conclude("overflow", 9, title, value, text);
    }
    intermediate(bench, order, top)
}

/// 2^top + 2^top − 2^top: in range, but not on the way.
fn intermediate(bench: &mut Bench<'_>, order: &Order, top: i32) -> Result<()> {
    let title = "overflow of an intermediate sum in a step";
    // The last term is c where c shares the step, or else a third product.
    let places = match (&order.step[..], &order.with_c[..]) {
        (_, &[x, .., y]) if order.shares_c && bench.maker.c.top >= top => Some((x, y, None)),
        (&[x, z, .., y], _) => Some((x, y, Some(z))),
        (&[x, y], _) if bench.maker.c.top >= top => Some((x, y, None)),
        _ => None,
    };
    let Some((x, y, third)) = places.filter(|_| bench.reaches(top)) else {
        bench.conclude(
            "sum-overflow",
            9,
            title,
            "not reachable",
            "three terms of a step at the top of the range are needed",
        );
        return Ok(());
    };
    let mut input = bench.input(format!("2^{top} + 2^{top} - 2^{top}"));
    bench.power(&mut input, x, false, top);
    bench.power(&mut input, y, false, top);
    match third {
        Some(z) => bench.power(&mut input, z, true, top),
        None => bench.c(&mut input, two(true, top)),
    }
    let reading = bench.ask_one(input)?;
    let (value, text) = if reading.number() == Some(power(false, top)) {
        (
            "none",
            "the sum of a step is not limited before its end".to_owned(),
        )
    } else if order.known && (third.is_some() || order.shares_c) {
        ("overflows", format!("gives {}", reading.value))
    } else if order.known {
        let text = format!("gives {}: before c is added", reading.value);
        ("overflows", text)
    } else {
        let text = format!(
            "gives {}: the sum of a step overflows, or its result, as the order is not known",
            reading.value
        );
        ("unknown", text)
    };
    bench.conclude("sum-overflow", 9, title, value, text);
    Ok(())
}
