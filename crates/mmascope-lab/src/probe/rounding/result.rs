//! Measures the rounding of a step's result.

use super::conclude;
use super::quarters::{enough, multiple, quarter_product, quarter_value, signed_quarters};
use crate::error::Result;
use crate::exact::Dyadic;
use crate::probe::alignment::Bits;
use crate::probe::bench::{Bench, Input, one_and, power, two};
use crate::probe::order::Ends;

/// A step whose rounding is asked for.
pub(super) struct Step<'a> {
    pub(super) products: &'a [usize],
    pub(super) ends: Option<Ends>,
    /// Whether c is a term of it, or of a step before that passes c as it is.
    pub(super) c: bool,
    /// Fraction bits, where results have fewer, and what takes the leading bit away in the last step:
    /// a product, or c.
    pub(super) wide: Option<(i32, Option<usize>)>,
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
pub(super) fn result(
    bench: &mut Bench<'_>,
    step: &Step<'_>,
    bits: &Bits,
    name: &'static str,
    title: &str,
) -> Result<()> {
    let m = step.wide.map_or(bits.width, |(width, _)| width);
    let keeps = |ends: &Ends| ends.add || bits.surely >= m + 2;
    let beyond = match step.ends.filter(keeps) {
        Some(ends) => first_beyond_one(bench, ends, bits, m)?,
        None => None,
    };
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

/// The first of ±(1 + q/4 u)·2^top, top from 0 on, of which the small terms are products that come out whole alone.
fn first_beyond_one(
    bench: &mut Bench<'_>,
    ends: Ends,
    bits: &Bits,
    m: i32,
) -> Result<Option<Questions>> {
    let highest = (bench.maker.d.top - 2).min(40);
    let mut tops: Vec<i32> = (0..=highest).collect();
    // Products that are rounded by themselves may lose quarters that are small.
    if bits.are_rounded {
        tops.reverse();
    }
    // Subnormal operands may be lost on the way in.
    for is_normal in [true, false] {
        for &top in &tops {
            let Some(questions) = beyond_one(bench, ends, top, m, is_normal) else {
                continue;
            };
            let quarter = [1, 3].map(|quarters| quarter_value(false, quarters, top - m));
            let lowest = power(false, bench.maker.d.lowest);
            if (&quarter[0] - &lowest).is_negative() {
                // Results do not show it alone.
                return Ok(Some(questions));
            }
            let alone = [1, 3].map(|quarters| {
                let place = top - m;
                let mut input = bench.input(format!("{quarters}/4 * 2^{place} alone"));
                quarter_product(bench, &mut input, ends.small, false, quarters, place);
                input
            });
            let readings = bench.ask(alone.to_vec())?;
            let mut pairs = readings.iter().zip(quarter);
            if pairs.all(|(reading, wanted)| reading.number() == Some(wanted)) {
                return Ok(Some(questions));
            }
        }
    }
    Ok(None)
}

/// ±(1 + q/4 u)·2^top of two terms that meet in the step.
fn beyond_one(
    bench: &Bench<'_>,
    ends: Ends,
    top: i32,
    m: i32,
    is_normal: bool,
) -> Option<Questions> {
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
        let place = top - m;
        if quarter_product(bench, &mut input, ends.small, negative, quarters, place)
            && !(is_normal && bench.has_subnormals(&input, ends.small))
        {
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
