//! Measures normalisation of products and partial sums, carries, and monotonicity (§1.6, §1.7).

use super::alignment::Bits;
use super::bench::{Bench, one_and, power, two};
use super::order::Order;
use crate::error::Result;
use crate::exact::{Dyadic, Exact};

pub(super) fn measure(bench: &mut Bench<'_>, order: &Order, bits: &Bits) -> Result<()> {
    normalised_products(bench, order, bits)?;
    late_normalisation(bench, order)?;
    carries(bench, order)?;
    monotonicity(bench, order, bits)
}

/// 1.5·1.5 counts as 2.25·2^0 or as 1.125·2^1: with the second, a term F bits below 1 is lost.
fn normalised_products(bench: &mut Bench<'_>, order: &Order, bits: &Bits) -> Result<()> {
    let title = "products normalised before the alignment";
    let (Some(f), [x, .., z]) = (bits.products, &order.step[..]) else {
        bench.conclude(
            "normalised-products",
            6,
            title,
            "unknown",
            "the bits that are kept are not known",
        );
        return Ok(());
    };
    let y = order.step[order.step.len() / 2];
    let has_half =
        |format: &crate::format::Format| format.float().is_some_and(|f| f.fraction_bits > 0);
    let small = bits.anchor - f;
    if y == *x || y == *z || !has_half(&bench.signature.a) || !has_half(&bench.signature.b) {
        bench.conclude(
            "normalised-products",
            6,
            title,
            "not reachable",
            "three products of a step with fractions are needed",
        );
        return Ok(());
    }
    let (e_a, e_b) = (bits.anchor / 2, bits.anchor - bits.anchor / 2);
    // Where the order is not known, one of the three may come as the result of an earlier step, which is normalised.
    let mut roles = vec![[*x, y, *z]];
    if !order.known {
        roles.extend([[*x, *z, y], [y, *z, *x]]);
    }
    let mut survives = false;
    for [x, y, z] in roles {
        let mut input = bench.input(format!(
            "1.5*1.5*2^{0} - 1.5*1.5*2^{0} + 2^{small}",
            bits.anchor
        ));
        for (k, negative) in [(x, false), (y, true)] {
            let (a, b) = (one_and(negative, e_a, 1, 1), one_and(false, e_b, 1, 1));
            bench.product(&mut input, k, a, b);
        }
        bench.power(&mut input, z, false, small);
        survives = bench.ask_one(input)?.is_power(false, small);
        if survives {
            break;
        }
    }
    let (value, text) = if survives {
        ("no", "2.25 is aligned at exponent 0")
    } else {
        ("yes", "2.25 is aligned at exponent 1")
    };
    bench.conclude("normalised-products", 6, title, value, text);
    Ok(())
}

/// c = 1 − 2^-(m+1) and four products 2^-(m+1): 1 + u when nothing is normalised before the end.
fn late_normalisation(bench: &mut Bench<'_>, order: &Order) -> Result<()> {
    let title = "normalisation of partial sums";
    let m = bench.maker.bits;
    let places = &order.with_c;
    if !order.known {
        let text = "which products share a step with c is not known";
        bench.conclude("normalisation", 6, title, "unknown", text);
        return Ok(());
    }
    if places.len() < 4
        || !bench.reaches(-m - 1)
        || bench
            .signature
            .c
            .float()
            .map_or(0, |f| f.fraction_bits as i32)
            < m
    {
        bench.conclude(
            "normalisation",
            6,
            title,
            "not reachable",
            "four products with c in one step, and small ones, are needed",
        );
        return Ok(());
    }
    let n = 4;
    let c = one_and(false, -1, (1 << m) - 1, m as u32);
    let mut input = bench.input(format!("c = 1 - 2^-{}, {n} products 2^-{}", m + 1, m + 1));
    bench.c(&mut input, c);
    for &k in places.iter().take(n) {
        bench.power(&mut input, k, false, -m - 1);
    }
    let reading = bench.ask_one(input)?;
    let up = &power(false, 0) + &power(false, -m);
    let up2 = &power(false, 0) + &power(false, 1 - m);
    let number = reading.number();
    let (value, text) = if number == Some(up) || number == Some(up2) {
        ("end", "the sum is normalised only at the end")
    } else if !is_kept(bench, c, m)? {
        (
            "unknown",
            "a c of so many bits is not kept, so that nothing shows",
        )
    } else {
        (
            "between",
            "a partial sum of 1 is normalised, and what follows is lost",
        )
    };
    bench.conclude("normalisation", 6, title, value, text);
    Ok(())
}

/// Whether c = 1 − 2^-(m+1), written as `c`, is the result without products.
fn is_kept(bench: &mut Bench<'_>, c: Exact, m: i32) -> Result<bool> {
    let mut input = bench.input(format!("c = 1 - 2^-{}, no products", m + 1));
    bench.c(&mut input, c);
    let wanted = &power(false, 0) + &power(true, -m - 1);
    Ok(bench.ask_one(input)?.number() == Some(wanted))
}

/// Sums of more and more terms of 1.5: whether carries are lost.
fn carries(bench: &mut Bench<'_>, order: &Order) -> Result<()> {
    let title = "carry bits of a step's sum";
    let places = &order.step;
    if !order.together {
        let text = "which products share a step is not known";
        bench.conclude("carries", 6, title, "unknown", text);
        return Ok(());
    }
    let mut inputs = Vec::new();
    for count in 1..=places.len() {
        let mut input = bench.input(format!("{count} products 1.5"));
        for &k in places.iter().take(count) {
            bench.product(&mut input, k, one_and(false, 0, 1, 1), two(false, 0));
        }
        inputs.push(input);
    }
    let has_half = bench
        .signature
        .a
        .float()
        .is_some_and(|f| f.fraction_bits > 0);
    if !has_half {
        bench.conclude("carries", 6, title, "not reachable", "a has no fraction");
        return Ok(());
    }
    let readings = bench.ask(inputs)?;
    let term = &power(false, 0) + &power(false, -1);
    let mut sum = Dyadic::default();
    let mut good = 0;
    for reading in readings {
        sum = &sum + &term;
        if reading.number().as_ref() != Some(&sum) {
            break;
        }
        good += 1;
    }
    let bits = (good as u32).max(1).ilog2() + 1;
    let (value, text) = if good == places.len() {
        (
            format!(">={bits}"),
            format!(
                "the sum of {good} terms, all of them 1.5, is right: at least {bits} carry bits"
            ),
        )
    } else {
        (
            bits.to_string(),
            format!("the sum of terms that are all 1.5 is right up to {good} of them"),
        )
    };
    bench.conclude("carries", 6, title, value, text);
    Ok(())
}

/// A larger c that gives a smaller sum.
fn monotonicity(bench: &mut Bench<'_>, order: &Order, bits: &Bits) -> Result<()> {
    let title = "monotonicity in c";
    let m = bench.maker.bits;
    let c_bits = bench
        .signature
        .c
        .float()
        .map_or(0, |f| f.fraction_bits as i32);
    if let Some(f) = bits.products
        && bench.reaches(-f - 1)
        && c_bits >= m
    {
        let count = order.with_c.len();
        let small = -f - 1;
        let mut below = bench.input(format!("c = 1 - 2^-{}, {count} products 2^{small}", m + 1));
        bench.c(&mut below, one_and(false, -1, (1 << m) - 1, m as u32));
        let mut one = bench.input(format!("c = 1, {count} products 2^{small}"));
        bench.c(&mut one, two(false, 0));
        for input in [&mut below, &mut one] {
            for &k in &order.with_c {
                bench.power(input, k, false, small);
            }
        }
        let readings = bench.ask(vec![below, one])?;
        if let (Some(low), Some(high)) = (readings[0].number(), readings[1].number())
            && (&high - &low).is_negative()
        {
            bench.conclude(
                "monotone",
                7,
                title,
                "no",
                format!(
                    "c = 1 gives {}, the smaller c = 1 - 2^-{} gives {}",
                    readings[1].value,
                    m + 1,
                    readings[0].value
                ),
            );
            return Ok(());
        }
    }
    search(bench, title)
}

/// A bounded search for a pair that is not monotone.
fn search(bench: &mut Bench<'_>, title: &str) -> Result<()> {
    const PAIRS: usize = 400;
    let mut random = bench.random();
    let mut inputs = Vec::new();
    let (low, high) = bench.maker.products();
    for _ in 0..PAIRS {
        let mut input = bench.input("random products, and the next c");
        for k in 0..bench.signature.k {
            let exponent = (-(random.below(26) as i32)).clamp(low, high);
            let number = crate::infer::drawn(random.below(2) == 0, exponent, random.bits() >> 4);
            let other = random.bits() >> 4;
            bench
                .maker
                .product(&mut input.case, k, number, other, &mut random);
        }
        let c = crate::infer::word(two(false, 0), &bench.signature.c);
        let shift = bench.signature.c.register.shift;
        let mut above = input.clone();
        input.case.c = c - (1 << shift);
        above.case.c = c;
        inputs.extend([input, above]);
    }
    let readings = bench.ask(inputs)?;
    let witness = readings
        .chunks(2)
        .find(|pair| match (pair[0].number(), pair[1].number()) {
            (Some(low), Some(high)) => (&high - &low).is_negative(),
            _ => false,
        });
    let (value, text) = match witness {
        Some(pair) => (
            "no",
            format!(
                "a larger c gives {} where a smaller one gives {}",
                pair[1].value, pair[0].value
            ),
        ),
        None => ("not refuted", format!("no witness among {PAIRS} pairs")),
    };
    bench.conclude("monotone", 7, title, value, text);
    Ok(())
}
