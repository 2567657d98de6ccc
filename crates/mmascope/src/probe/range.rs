//! §1.1, §1.8, §1.9: subnormals and flushes, the floor of the alignment, overflow.

use super::alignment::Bits;
use super::bench::{Bench, Input, Reading, power, two};
use super::order::Order;
use crate::error::Result;
use crate::explain::Value;

pub(super) fn subnormals(bench: &mut Bench<'_>) -> Result<()> {
    operand(bench, true)?;
    operand(bench, false)?;
    c(bench)?;
    results(bench)
}

/// The smallest subnormal of an operand times a power of two that makes the product normal.
fn operand(bench: &mut Bench<'_>, is_a: bool) -> Result<()> {
    let (own, other) = if is_a {
        (bench.maker.a, bench.maker.b)
    } else {
        (bench.maker.b, bench.maker.a)
    };
    let (name, letter) = if is_a {
        ("subnormal-a", "a")
    } else {
        ("subnormal-b", "b")
    };
    let title = format!("subnormal {letter}");
    if own.lowest == own.normal {
        bench.conclude(
            name,
            1,
            &title,
            "not reachable",
            "the format has no subnormals",
        );
        return Ok(());
    }
    let lift = other.top.min(10);
    let mut inputs = Vec::new();
    for negative in [false, true] {
        let sign = if negative { "-" } else { "" };
        let mut input = bench.input(format!("{letter} = {sign}2^{}, times 2^{lift}", own.lowest));
        let (small, large) = (two(negative, own.lowest), two(false, lift));
        if is_a {
            bench.product(&mut input, 0, small, large);
        } else {
            bench.product(&mut input, 0, large, small);
        }
        inputs.push(input);
    }
    let wanted = own.lowest + lift;
    let readings = bench.ask(inputs)?;
    flushed(bench, name, &title, &readings, wanted);
    Ok(())
}

fn c(bench: &mut Bench<'_>) -> Result<()> {
    let range = bench.maker.c;
    // The largest power of two: narrow results have that one too.
    let small = (range.normal - 1).max(range.lowest);
    if small < bench.maker.d.lowest {
        bench.conclude(
            "subnormal-c",
            1,
            "subnormal c",
            "not reachable",
            format!("results are multiples of 2^{}", bench.maker.d.lowest),
        );
        return Ok(());
    }
    let mut inputs = Vec::new();
    for negative in [false, true] {
        let sign = if negative { "-" } else { "" };
        let mut input = bench.input(format!("c = {sign}2^{}, no products", small));
        bench.c(&mut input, two(negative, small));
        inputs.push(input);
    }
    let readings = bench.ask(inputs)?;
    flushed(bench, "subnormal-c", "subnormal c", &readings, small);
    Ok(())
}

/// A product of normal operands that is a subnormal result.
fn results(bench: &mut Bench<'_>) -> Result<()> {
    let title = "subnormal results from normal operands";
    let low = bench.maker.a.normal + bench.maker.b.normal;
    let wanted = (bench.maker.d.normal - 1).max(low);
    if wanted >= bench.maker.d.normal {
        bench.conclude(
            "subnormal-result",
            1,
            title,
            "not reachable",
            "no product of normal operands is so small",
        );
        return Ok(());
    }
    let mut inputs = Vec::new();
    for negative in [false, true] {
        let sign = if negative { "-" } else { "" };
        let mut input = bench.input(format!("{sign}2^{wanted} as a product of normal operands"));
        bench.power(&mut input, 0, negative, wanted);
        inputs.push(input);
    }
    let readings = bench.ask(inputs)?;
    flushed(bench, "subnormal-result", title, &readings, wanted);
    Ok(())
}

fn flushed(
    bench: &mut Bench<'_>,
    name: &'static str,
    title: &str,
    readings: &[Reading],
    wanted: i32,
) {
    let kept = readings[0].is_power(false, wanted) && readings[1].is_power(true, wanted);
    let zero = readings.iter().all(Reading::is_zero);
    let signed = matches!(readings[1].value, Value::Zero { negative: true });
    let (value, text) = match (kept, zero, signed) {
        (true, ..) => ("kept", "taken as it is".to_owned()),
        (_, true, true) => ("flushed", "becomes zero; a negative one -0".to_owned()),
        (_, true, false) => ("flushed", "becomes zero; a negative one +0 too".to_owned()),
        _ => (
            "changed",
            format!("{} and {}", readings[0].value, readings[1].value),
        ),
    };
    bench.conclude(name, 1, title, value, text);
}

/// §1.8: the smallest term that still counts beside another tiny one. Where it is F bits below the
/// other, no floor is seen; where it is fewer, the difference is the floor's.
pub(super) fn floor(bench: &mut Bench<'_>, order: &Order, bits: &Bits) -> Result<()> {
    let title = "floor of the alignment exponent (e0)";
    let lowest = bench.maker.d.lowest;
    let low = bench.maker.a.lowest + bench.maker.b.lowest;
    let Some(f) = bits.products.filter(|_| order.step.len() >= 2) else {
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
        places.get(from).copied()
    };
    let anchors = [lowest - 1, lowest + 1];
    // The test that the rounding of results does not hide is the one that sees further down.
    let seen = [0, 1]
        .into_iter()
        .filter_map(|which| Some((smallest(which)?, anchors[which])))
        .min();
    let (value, text) = match seen {
        None => (
            "unknown".to_owned(),
            "no term below the smallest result counts: the rounding of results hides it".to_owned(),
        ),
        Some((place, anchor)) => {
            let exponent = place + f;
            if place == low && exponent > anchor {
                (
                    format!("<={exponent}"),
                    format!(
                        "every product counts, down to the smallest, 2^{low}: no floor above {exponent}"
                    ),
                )
            } else if exponent <= anchor {
                (
                    "none".to_owned(),
                    format!(
                        "a term {f} bits below 2^{anchor} still counts: no floor above 2^{anchor}"
                    ),
                )
            } else {
                (
                    exponent.to_string(),
                    format!(
                        "terms count down to 2^{place}, whatever the others are: a floor of {exponent} where the grid lies {f} bits below it"
                    ),
                )
            }
        }
    };
    bench.conclude("e0", 8, title, value, text);
    Ok(())
}

pub(super) fn overflow(bench: &mut Bench<'_>, order: &Order) -> Result<()> {
    let title = "overflow of results";
    let top = bench.maker.d.top;
    let (x, y) = (order.step[0], order.step[order.step.len() - 1]);
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
            Value::of(&d.decode(d.max_finite(false)))
        };
        let (value, text) = match &readings[0].value {
            Value::Infinite { .. } => (
                "infinity",
                format!("∞ ({} for the negative sum)", readings[1].value),
            ),
            Value::Nan => ("nan", "NaN".to_owned()),
            other if *other == largest => ("largest", "the largest finite number".to_owned()),
            other => ("other", other.to_string()),
        };
        bench.conclude("overflow", 9, title, value, text);
    }
    intermediate(bench, x, y, top)
}

/// 2^top + 2^top − 2^top: in range, but not on the way.
fn intermediate(bench: &mut Bench<'_>, x: usize, y: usize, top: i32) -> Result<()> {
    let title = "overflow of an intermediate sum in a step";
    if x == y || !bench.reaches(top) || bench.maker.c.top < top {
        bench.conclude(
            "sum-overflow",
            9,
            title,
            "not reachable",
            "two products of a step and c at the top of the range are needed",
        );
        return Ok(());
    }
    let mut input = bench.input(format!("2^{top} + 2^{top} - 2^{top}"));
    bench.power(&mut input, x, false, top);
    bench.power(&mut input, y, false, top);
    bench.c(&mut input, two(true, top));
    let reading = bench.ask_one(input)?;
    let (value, text) = if reading.number() == Some(power(false, top)) {
        (
            "none",
            "the sum of a step is not limited before its end".to_owned(),
        )
    } else {
        ("overflows", format!("gives {}", reading.value))
    };
    bench.conclude("sum-overflow", 9, title, value, text);
    Ok(())
}
