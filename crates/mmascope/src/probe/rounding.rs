//! §1.5: roundings, told from results on both sides of ties.

use super::alignment::Bits;
use super::bench::{Bench, Input, Reading, one_and, power, two};
use super::order::{Ends, Order};
use crate::error::Result;
use crate::explain::Dyadic;
use crate::format::Rounding;
use crate::infer::Number;

/// Multiples of a quarter of the last place: below, at and above ties, beside even and odd.
const QUARTERS: [i64; 6] = [1, 2, 3, 5, 6, 7];

pub(super) fn measure(bench: &mut Bench<'_>, order: &Order, bits: &mut Bits) -> Result<()> {
    bits.alignment = alignment(bench, order, bits)?;
    alignment_of_c(bench, order, bits)?;
    let k = bench.signature.k;
    let last = Step {
        products: &order.last,
        ends: order.last_ends,
        // Steps before the last one pass c as it is.
        c: order.has_c,
        wide: None,
    };
    result(
        bench,
        &last,
        bits,
        "rounding-result",
        "rounding of the result",
    )?;
    let first = &order.with_c;
    if !order.c_last && first.iter().all(|k| order.last.contains(k)) {
        bench.conclude(
            "rounding-between",
            5,
            "rounding between steps",
            "one step",
            format!("the first step of {k} products is the last one"),
        );
        return Ok(());
    }
    let first = Step {
        products: first,
        ends: order.first_ends,
        c: order.shares_c,
        // What is wider than results is read once the last step has taken the leading bit away.
        wide: order.between.map(|width| (width, order.place_to_cancel())),
    };
    result(
        bench,
        &first,
        bits,
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
) -> Vec<Rounding> {
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
        return modes;
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
    modes
}

/// Rounding of products onto the alignment grid: 2^e − 2^e and a product of some quarters of the last
/// bit kept.
fn alignment(bench: &mut Bench<'_>, order: &Order, bits: &Bits) -> Result<Vec<Rounding>> {
    let (name, title) = (
        "rounding-alignment",
        "rounding of products in the alignment",
    );
    let (Some(f), [x, .., z]) = (bits.products, &order.step[..]) else {
        let text = "nothing is lost in the alignment, as far as it was seen";
        bench.conclude(name, 5, title, "unknown", text);
        return Ok(Vec::new());
    };
    let y = order.step[order.step.len() / 2];
    let grid = bits.anchor - f;
    let mut asked = Vec::new();
    let mut inputs = Vec::new();
    if y != *x && y != *z {
        for (negative, quarters) in signed_quarters() {
            let sign = if negative { "-" } else { "" };
            let mut input = bench.input(format!(
                "2^{0} - 2^{0}, {sign}{quarters}/4*2^{grid}",
                bits.anchor
            ));
            bench.power(&mut input, *x, false, bits.anchor);
            bench.power(&mut input, y, true, bits.anchor);
            if quarter_product(bench, &mut input, *z, negative, quarters, grid) {
                inputs.push(input);
                asked.push((negative, quarters));
            }
        }
    }
    let needed = "three products of a step, and quarters of the last bit, are needed";
    quarters_kept(bench, inputs, asked, grid, name, title, needed)
}

/// Rounding of c onto the alignment grid: 2^e − 2^e in products, and c some quarters of its last bit
/// kept. Units exist that align c other than products.
fn alignment_of_c(bench: &mut Bench<'_>, order: &Order, bits: &Bits) -> Result<()> {
    let (name, title) = ("rounding-alignment-c", "rounding of c in the alignment");
    let (Some(f), [x, .., z]) = (bits.c.filter(|_| order.shares_c), &order.with_c[..]) else {
        let text = "no bit of c is lost in an alignment, as far as it was seen";
        bench.conclude(name, 5, title, "unknown", text);
        return Ok(());
    };
    let grid = bits.anchor - f;
    let mut asked = Vec::new();
    let mut inputs = Vec::new();
    for (negative, quarters) in signed_quarters() {
        let sign = if negative { "-" } else { "" };
        let mut input = bench.input(format!(
            "2^{0} - 2^{0}, c = {sign}{quarters}/4*2^{grid}",
            bits.anchor
        ));
        bench.power(&mut input, *x, false, bits.anchor);
        bench.power(&mut input, *z, true, bits.anchor);
        bench.c(&mut input, quarter(negative, quarters, grid));
        if bench.c_of(&input) == Some(quarter_value(negative, quarters, grid)) {
            inputs.push(input);
            asked.push((negative, quarters));
        }
    }
    let needed = "c has no quarters of the last bit";
    quarters_kept(bench, inputs, asked, grid, name, title, needed)?;
    Ok(())
}

/// Asks for sums that are some quarters of 2^grid.
fn quarters_kept(
    bench: &mut Bench<'_>,
    inputs: Vec<Input>,
    asked: Vec<(bool, i64)>,
    grid: i32,
    name: &'static str,
    title: &'static str,
    needed: &str,
) -> Result<Vec<Rounding>> {
    if !enough(&asked) || grid < bench.maker.d.lowest {
        bench.conclude(name, 5, title, "not reachable", needed);
        return Ok(Vec::new());
    }
    let readings = bench.ask(inputs)?;
    let found: Vec<_> = asked
        .into_iter()
        .zip(&readings)
        .map(|((negative, quarters), reading)| {
            let got = multiple(reading, &Dyadic::default(), grid);
            (negative, quarters, got)
        })
        .collect();
    Ok(conclude(bench, name, title, &found))
}

fn signed_quarters() -> impl Iterator<Item = (bool, i64)> {
    [false, true]
        .into_iter()
        .flat_map(|negative| QUARTERS.map(|quarters| (negative, quarters)))
}

/// Whether below, at and above a tie was asked, for both signs.
fn enough(asked: &[(bool, i64)]) -> bool {
    [false, true]
        .into_iter()
        .all(|negative| (1..=3).all(|quarters| asked.contains(&(negative, quarters))))
}

/// ±quarters/4 · 2^place.
fn quarter(negative: bool, quarters: i64, place: i32) -> Number {
    let top = (quarters as u64).ilog2();
    Number {
        negative,
        exponent: place - 2 + top as i32,
        fraction: (quarters as u64 ^ 1 << top) << (60 - top),
    }
}

fn quarter_value(negative: bool, quarters: i64, place: i32) -> Dyadic {
    let quarters = if negative { -quarters } else { quarters };
    Dyadic::new(quarters.into(), i64::from(place) - 2)
}

/// ±quarters/4 · 2^place as a product, the fraction in a. False: these formats have no such product.
fn quarter_product(
    bench: &Bench<'_>,
    input: &mut Input,
    k: usize,
    negative: bool,
    quarters: i64,
    place: i32,
) -> bool {
    let number = quarter(negative, quarters, place);
    let wanted = quarter_value(negative, quarters, place);
    let (a, b) = (&bench.maker.a, &bench.maker.b);
    let ways = |low_a: i32, low_b: i32| {
        let from = low_a.max(number.exponent - b.top);
        from..=a.top.min(number.exponent - low_b)
    };
    // Normal operands where there are any, of exponents near each other.
    let normal = ways(a.normal, b.normal);
    let middle = i32::midpoint(*normal.start(), *normal.end());
    let exponents = if normal.is_empty() {
        ways(a.lowest, b.lowest)
    } else {
        middle..=middle
    };
    for exponent in exponents {
        let other = two(false, number.exponent - exponent);
        bench.product(input, k, Number { exponent, ..number }, other);
        if bench.product_at(input, k).as_ref() == Some(&wanted) {
            return true;
        }
    }
    false
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

/// A step whose rounding is asked for.
struct Step<'a> {
    products: &'a [usize],
    ends: Option<Ends>,
    /// Whether c is a term of it, or of a step before that passes c as it is.
    c: bool,
    /// Fraction bits, where results have fewer, and what takes the leading bit away in the last step:
    /// a product, or c.
    wide: Option<(i32, Option<usize>)>,
}

/// Inputs near ±2^top, each with its sign and its quarters of 2^place.
struct Questions {
    top: i32,
    place: i32,
    inputs: Vec<Input>,
    asked: Vec<(bool, i64)>,
}

/// The rounding of a step: ±(1 + q/4 u) with a product where the step keeps such bits, and
/// ±(4 + q/4·4u) from c and products of 3 in all otherwise.
fn result(
    bench: &mut Bench<'_>,
    step: &Step<'_>,
    bits: &Bits,
    name: &'static str,
    title: &str,
) -> Result<()> {
    let m = step.wide.map_or(bits.width, |(width, _)| width);
    let keeps = |ends: &Ends| ends.add || bits.products.is_none_or(|f| f >= m + 2);
    let beyond = step.ends.filter(keeps).and_then(|ends| {
        // The farther up, the smaller the products that are a quarter of the last place.
        let highest = (bench.maker.d.top - 2).min(40);
        (0..=highest).find_map(|top| beyond_one(bench, ends, top, m))
    });
    let Some(mut questions) = beyond.or_else(|| carried(bench, step, m)) else {
        let text = "bits beyond the result's are not kept, and no carry from c and products of that step makes some";
        bench.conclude(name, 5, title, "unknown", text);
        return Ok(());
    };
    let top = questions.top;
    if let Some((_, at)) = step.wide {
        for (input, (negative, _)) in questions.inputs.iter_mut().zip(&questions.asked) {
            match at {
                Some(at) => bench.power(input, at, !negative, top),
                None => bench.c(input, two(!negative, top)),
            }
            input.what += &format!(", less ±2^{top} in the last step");
        }
    }
    let base = match step.wide {
        Some(_) => Dyadic::default(),
        None => power(false, top),
    };
    let readings = bench.ask(questions.inputs)?;
    let found: Vec<_> = questions
        .asked
        .into_iter()
        .zip(&readings)
        .map(|((negative, quarters), reading)| {
            let base = if negative { -&base } else { base.clone() };
            (
                negative,
                quarters,
                multiple(reading, &base, questions.place),
            )
        })
        .collect();
    conclude(bench, name, title, &found);
    Ok(())
}

/// ±(1 + q/4 u)·2^top of two terms that meet in the step.
fn beyond_one(bench: &Bench<'_>, ends: Ends, top: i32, m: i32) -> Option<Questions> {
    let mut questions = Questions {
        top,
        place: top - m,
        inputs: Vec::new(),
        asked: Vec::new(),
    };
    for (negative, quarters) in signed_quarters() {
        let mut input = bench.input(format!("±(1 + {quarters}/4 u)*2^{top}, u = 2^-{m}"));
        let large = match ends.large {
            Some(at) => {
                bench.power(&mut input, at, negative, top);
                bench.product_at(&input, at)
            }
            None => {
                bench.c(&mut input, two(negative, top));
                bench.c_of(&input)
            }
        };
        if large != Some(power(negative, top)) {
            return None;
        }
        if quarter_product(bench, &mut input, ends.small, negative, quarters, top - m) {
            questions.inputs.push(input);
            questions.asked.push((negative, quarters));
        }
    }
    enough(&questions.asked).then_some(questions)
}

/// c = ±(1 + q u) and products of ±3: the carry out of a sum near 4 frees two bits.
fn carried(bench: &Bench<'_>, step: &Step<'_>, m: i32) -> Option<Questions> {
    let c_bits = bench.signature.c.float()?.fraction_bits as i32;
    // A sum to which c is added is one product: only the addition may round.
    let added = step.ends.filter(|ends| ends.add && ends.c_beside);
    if !step.c || m < 3 || c_bits < m || added.is_none() && step.products.len() < 3 {
        return None;
    }
    let mut questions = Questions {
        top: 2,
        place: 2 - m,
        inputs: Vec::new(),
        asked: Vec::new(),
    };
    for (negative, quarters) in signed_quarters() {
        let what = if added.is_some() {
            "a product of ±3"
        } else {
            "three products ±1"
        };
        let mut input = bench.input(format!("c = ±(1 + {quarters}u), {what}, u = 2^-{m}"));
        bench.c(&mut input, one_and(negative, 0, quarters as u64, m as u32));
        let sum = if let Some(ends) = added {
            let (three, one) = (one_and(negative, 1, 1, 1), two(false, 0));
            bench.product(&mut input, ends.small, three, one);
            bench.product_at(&input, ends.small)?
        } else {
            for &k in &step.products[..3] {
                bench.power(&mut input, k, negative, 0);
            }
            let terms: Option<Vec<Dyadic>> = step.products[..3]
                .iter()
                .map(|&k| bench.product_at(&input, k))
                .collect();
            terms?.iter().sum()
        };
        if sum != quarter_value(negative, 12, 0) {
            return None;
        }
        questions.inputs.push(input);
        questions.asked.push((negative, quarters));
    }
    Some(questions)
}
