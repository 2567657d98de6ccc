//! §1.5 and §1.10: roundings, told from results on both sides of ties; the width of results.

use super::alignment::Bits;
use super::bench::{Bench, Input, Reading, one_and, power, two};
use super::order::Order;
use crate::error::Result;
use crate::explain::Dyadic;
use crate::format::Rounding;

/// Multiples of a quarter of the last place: below, at and above ties, beside even and odd.
const QUARTERS: [i64; 6] = [1, 2, 3, 5, 6, 7];

pub(super) fn measure(bench: &mut Bench<'_>, order: &Order, bits: &Bits) -> Result<()> {
    alignment(bench, order, bits)?;
    let k = bench.signature.k;
    let last = order.last.clone();
    result(
        bench,
        &last,
        bits,
        None,
        "rounding-result",
        "rounding of the result",
    )?;
    let first = order.with_c.clone();
    if first.iter().all(|k| last.contains(k)) {
        bench.conclude(
            "rounding-between",
            5,
            "rounding between steps",
            "one step",
            format!("the first step of {k} products is the last one"),
        );
        return Ok(());
    }
    // What is wider than results is read once the last step has taken the leading bit away.
    let wide = order.between.map(|width| (width, last[0]));
    result(
        bench,
        &first,
        bits,
        wide,
        "rounding-between",
        "rounding between steps",
    )
}

/// The modes that give `got` (in last places, rounded) for every `quarters`/4 last places.
fn consistent(found: &[(bool, i64, Option<i64>)]) -> Vec<Rounding> {
    Rounding::deterministic()
        .filter(|mode| {
            found.iter().all(|&(negative, quarters, got)| {
                let whole = mode.shift_right(negative, quarters as u128, false, 2) as i64;
                got == Some(if negative { -whole } else { whole })
            })
        })
        .collect()
}

fn names(modes: &[Rounding]) -> String {
    modes
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" or ")
}

fn conclude(
    bench: &mut Bench<'_>,
    name: &'static str,
    title: &str,
    found: &[(bool, i64, Option<i64>)],
) {
    let modes = consistent(found);
    let text = if modes.is_empty() {
        let rows: Vec<String> = found
            .iter()
            .map(|(negative, quarters, got)| {
                let sign = if *negative { "-" } else { "" };
                format!(
                    "{sign}{quarters}/4 -> {}",
                    got.map_or("?".to_owned(), |got| got.to_string())
                )
            })
            .collect();
        bench.conclude(
            name,
            5,
            title,
            "none",
            format!("no rounding gives this: {}", rows.join(", ")),
        );
        return;
    } else {
        let symmetric = modes.iter().all(|mode| {
            !matches!(
                mode,
                Rounding::Rd | Rounding::Ru | Rounding::Rnd | Rounding::Rnu
            )
        });
        let signs = if symmetric {
            "both signs alike"
        } else {
            "signs differ"
        };
        format!("{} ({signs})", names(&modes))
    };
    bench.conclude(name, 5, title, names(&modes), text);
}

/// Rounding onto the alignment grid: 2^e − 2^e and a product of some quarters of the last bit kept.
fn alignment(bench: &mut Bench<'_>, order: &Order, bits: &Bits) -> Result<()> {
    let title = "rounding in the alignment";
    let m = bench.signature.a.float().map_or(0, |f| f.fraction_bits);
    let (Some(f), [x, .., z]) = (bits.products, &order.step[..]) else {
        bench.conclude(
            "rounding-alignment",
            5,
            title,
            "unknown",
            "nothing is lost in the alignment, as far as it was seen",
        );
        return Ok(());
    };
    let y = order.step[order.step.len() / 2];
    let grid = bits.anchor - f;
    if y == *x || y == *z || m < 2 || !bench.reaches(grid - 2) {
        bench.conclude(
            "rounding-alignment",
            5,
            title,
            "not reachable",
            "three products of a step, and quarters of the last bit, are needed",
        );
        return Ok(());
    }
    let mut inputs = Vec::new();
    let mut asked = Vec::new();
    for negative in [false, true] {
        for quarters in QUARTERS {
            let sign = if negative { "-" } else { "" };
            let mut input = bench.input(format!(
                "2^{0} - 2^{0}, {sign}{quarters}/4*2^{grid}",
                bits.anchor
            ));
            bench.power(&mut input, *x, false, bits.anchor);
            bench.power(&mut input, y, true, bits.anchor);
            quarter_product(bench, &mut input, *z, negative, quarters, grid);
            inputs.push(input);
            asked.push((negative, quarters));
        }
    }
    let readings = bench.ask(inputs)?;
    let found: Vec<_> = asked
        .into_iter()
        .zip(&readings)
        .map(|((negative, quarters), reading)| {
            (
                negative,
                quarters,
                multiple(reading, &Dyadic::default(), grid),
            )
        })
        .collect();
    conclude(bench, "rounding-alignment", title, &found);
    Ok(())
}

/// ±quarters/4 · 2^place as a product, the fraction in a.
fn quarter_product(
    bench: &mut Bench<'_>,
    input: &mut Input,
    k: usize,
    negative: bool,
    quarters: i64,
    place: i32,
) {
    let top = (quarters as u64).ilog2();
    let number = crate::infer::Number {
        negative,
        exponent: place - 2 + top as i32,
        fraction: (quarters as u64 ^ 1 << top) << (60 - top),
    };
    // The exponent goes where the formats have room; the fraction stays with a.
    let mut random = bench.random();
    bench
        .maker
        .product(&mut input.case, k, number, 0, &mut random);
}

/// (reading − base) / 2^place, if it is a whole number.
fn multiple(reading: &Reading, base: &Dyadic, place: i32) -> Option<i64> {
    let difference = &reading.number()? - base;
    if difference.is_zero() {
        return Some(0);
    }
    let scaled = difference.scaled(-i64::from(place));
    let exponent = scaled.exponent();
    if !(0..62).contains(&exponent) {
        return None;
    }
    let significand = i64::try_from(scaled.significand()).ok()?;
    significand.checked_mul(1 << exponent)
}

/// The rounding of the step that has these products: ±(1 + q/4 u) with a product where the step keeps
/// such bits, and ±(4 + q/4·4u) from c and three products otherwise.
fn result(
    bench: &mut Bench<'_>,
    step: &[usize],
    bits: &Bits,
    wide: Option<(i32, usize)>,
    name: &'static str,
    title: &str,
) -> Result<()> {
    let m = wide.map_or(bits.width, |(width, _)| width);
    let c_bits = bench
        .signature
        .c
        .float()
        .map_or(0, |f| f.fraction_bits as i32);
    let keeps = bits.products.is_none_or(|f| f >= m + 2) && bench.reaches(-m - 2);
    let has_quarters = bench
        .signature
        .a
        .float()
        .is_some_and(|f| f.fraction_bits >= 2);
    let mut inputs = Vec::new();
    let mut asked = Vec::new();
    let (base, place);
    if keeps && has_quarters {
        (base, place) = (power(false, 0), -m);
        let one = step[0];
        let small = step[step.len() - 1];
        if one == small {
            // c is the 1.
            for negative in [false, true] {
                for quarters in QUARTERS {
                    let mut input = bench.input(format!("±(1 + {quarters}/4 u), u = 2^-{m}"));
                    bench.c(&mut input, two(negative, 0));
                    quarter_product(bench, &mut input, small, negative, quarters, -m);
                    inputs.push(input);
                    asked.push((negative, quarters));
                }
            }
        } else {
            for negative in [false, true] {
                for quarters in QUARTERS {
                    let mut input = bench.input(format!("±(1 + {quarters}/4 u), u = 2^-{m}"));
                    bench.power(&mut input, one, negative, 0);
                    quarter_product(bench, &mut input, small, negative, quarters, -m);
                    inputs.push(input);
                    asked.push((negative, quarters));
                }
            }
        }
    } else if step.len() >= 3 && c_bits >= m {
        // The carry out of a sum near 4 frees two bits. Steps before it pass c as it is.
        (base, place) = (power(false, 2), 2 - m);
        for negative in [false, true] {
            for quarters in QUARTERS {
                let mut input = bench.input(format!(
                    "c = ±(1 + {quarters}u), three products ±1, u = 2^-{m}"
                ));
                bench.c(&mut input, one_and(negative, 0, quarters as u64, m as u32));
                for &k in &step[..3] {
                    bench.power(&mut input, k, negative, 0);
                }
                inputs.push(input);
                asked.push((negative, quarters));
            }
        }
    } else {
        let text =
            "bits beyond the result's are not kept, and c with three products is not in that step";
        bench.conclude(name, 5, title, "unknown", text);
        return Ok(());
    }
    if let Some((_, at)) = wide {
        let top = if base == power(false, 0) { 0 } else { 2 };
        for (input, (negative, _)) in inputs.iter_mut().zip(&asked) {
            bench.power(input, at, !negative, top);
            input.what += &format!(", less ±2^{top} in the last step");
        }
    }
    let base = if wide.is_some() {
        Dyadic::default()
    } else {
        base
    };
    let readings = bench.ask(inputs)?;
    let found: Vec<_> = asked
        .into_iter()
        .zip(&readings)
        .map(|((negative, quarters), reading)| {
            let base = if negative { -&base } else { base.clone() };
            (negative, quarters, multiple(reading, &base, place))
        })
        .collect();
    conclude(bench, name, title, &found);
    Ok(())
}

/// §1.10: how many fraction bits results have, and whether a narrow one is rounded once.
pub(super) fn width(bench: &mut Bench<'_>) -> Result<i32> {
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
