//! Measures ∞, NaN, signed zeros, ignored bits, and NaN scales (§1.9).

use super::bench::{Bench, Input, Reading, two};
use crate::error::Result;
use crate::exact::Exact;
use crate::explain::TracedValue;
use crate::format::Format;
use crate::infer::{Maker, word};
use crate::vector::Answer;

pub(super) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    infinities(bench)?;
    nans(bench)?;
    zeros(bench)?;
    ignored(bench)?;
    scales(bench)
}

fn infinities(bench: &mut Bench<'_>) -> Result<()> {
    let title = "infinities";
    let (a, c) = (bench.signature.a, bench.signature.c);
    let k = bench.signature.k;
    let one = word(two(false, 0), &bench.signature.b);
    let mut inputs: Vec<Input> = Vec::new();
    if let Some(infinity) = Maker::infinity(&a, false) {
        let mut input = bench.input("inf * 1");
        (input.case.a[0], input.case.b[0]) = (infinity, one);
        inputs.push(input.clone());
        input.what = "inf * 1 + c, c = -inf".to_owned();
        if let Some(minus) = Maker::infinity(&c, true) {
            input.case.c = minus;
            inputs.push(input);
        }
        // The 0 of a stand-in is no operand of the device.
        if bench.stand_in.is_none() {
            let mut input = bench.input("inf * 0");
            input.case.a[k - 1] = infinity;
            inputs.push(input);
        }
    }
    if let Some(infinity) = Maker::infinity(&c, true) {
        let mut input = bench.input("c = -inf");
        input.case.c = infinity;
        inputs.push(input);
    }
    if inputs.is_empty() {
        bench.conclude(
            "infinities",
            9,
            title,
            "not reachable",
            "the formats have none",
        );
        return Ok(());
    }
    let whats: Vec<String> = inputs.iter().map(|input| input.what.clone()).collect();
    let readings = bench.ask(inputs)?;
    let parts: Vec<String> = whats
        .iter()
        .zip(&readings)
        .map(|(what, r)| format!("{what} -> {}", r.value))
        .collect();
    let expected = |what: &str, reading: &Reading| match what {
        "inf * 1" => reading.value == TracedValue::Infinite { negative: false },
        "c = -inf" => reading.value == TracedValue::Infinite { negative: true },
        _ => reading.is_nan(),
    };
    let ieee = whats
        .iter()
        .zip(&readings)
        .all(|(what, reading)| expected(what, reading));
    bench.conclude(
        "infinities",
        9,
        title,
        if ieee { "ieee" } else { "other" },
        parts.join("; "),
    );
    Ok(())
}

fn nans(bench: &mut Bench<'_>) -> Result<()> {
    let title = "NaN results";
    let (a, b, c) = (bench.signature.a, bench.signature.b, bench.signature.c);
    let mut inputs: Vec<Input> = Vec::new();
    let payloads = |format: &Format| -> Vec<u64> {
        let nan = Maker::nan(format);
        let is_nan = |word: &u64| {
            let code = format.from_register(*word);
            format.decode(code).class == crate::format::Class::Nan
        };
        let sign = 1 << (format.register.bits - 1);
        let low = 1 << format.register.shift;
        nan.into_iter()
            .flat_map(|nan| [nan, nan | low, nan | sign])
            .filter(is_nan)
            .collect()
    };
    for word in payloads(&a) {
        let mut input = bench.input(format!("a0 = NaN {word:x}"));
        input.case.a[0] = word;
        inputs.push(input);
    }
    for word in payloads(&b) {
        let mut input = bench.input(format!("b0 = NaN {word:x}"));
        input.case.b[0] = word;
        inputs.push(input);
    }
    for word in payloads(&c) {
        let mut input = bench.input(format!("c = NaN {word:x}"));
        input.case.c = word;
        inputs.push(input);
    }
    let readings = bench.ask(inputs)?;
    let mut words: Vec<String> = Vec::new();
    for reading in &readings {
        let text = match reading.answer {
            Answer::AnyNan => "nan".to_owned(),
            Answer::Word(word) => format!("{word:0width$x}", width = bench.signature.d.digits()),
        };
        if !words.contains(&text) {
            words.push(text);
        }
    }
    let all = readings.iter().all(Reading::is_nan);
    let (value, text) = match (&words[..], all) {
        ([], _) => (
            "not reachable".to_owned(),
            "the formats have no NaN".to_owned(),
        ),
        ([one], true) => (one.clone(), format!("every NaN operand gives {one}")),
        (many, true) => (
            "several".to_owned(),
            format!("NaN results have several words: {}", many.join(", ")),
        ),
        (many, false) => (
            "other".to_owned(),
            format!("a NaN operand need not give NaN: {}", many.join(", ")),
        ),
    };
    bench.conclude("nan", 9, title, value, text);
    Ok(())
}

fn zeros(bench: &mut Bench<'_>) -> Result<()> {
    let k = bench.signature.k;
    let (a, c) = (bench.signature.a, bench.signature.c);
    let minus = |format: &Format| format.to_register(format.zero(true));
    let mut all = bench.input("every product -0, c = -0");
    for at in 0..k {
        all.case.a[at] = minus(&a);
        all.case.b[at] = word(two(false, 0), &bench.signature.b);
    }
    all.case.c = minus(&c);
    let mut exact = bench.input("c = 1, p0 = -1");
    bench.c(&mut exact, two(false, 0));
    bench.power(&mut exact, 0, true, 0);
    let mut inputs = vec![all, exact];
    let low = bench.maker.a.lowest + bench.maker.b.lowest;
    let tiny = bench.maker.d.lowest - 2;
    if low <= tiny {
        let mut input = bench.input(format!("-2^{tiny}, below half the smallest result"));
        bench.power(&mut input, 0, true, tiny);
        inputs.push(input);
    }
    let readings = bench.ask(inputs)?;
    let sign = |reading: &Reading| match reading.value {
        TracedValue::Zero { negative: true } => "-0".to_owned(),
        TracedValue::Zero { negative: false } => "+0".to_owned(),
        ref other => other.to_string(),
    };
    let tiny = readings.get(2).map_or("not reachable".to_owned(), &sign);
    let text = format!(
        "all -0 gives {}; 1 - 1 gives {}; a tiny negative sum: {tiny}",
        sign(&readings[0]),
        sign(&readings[1])
    );
    let value = format!("{} {} {tiny}", sign(&readings[0]), sign(&readings[1]));
    bench.conclude("zeros", 9, "signs of zero results", value, text);
    Ok(())
}

/// Register bits beside the code.
fn ignored(bench: &mut Bench<'_>) -> Result<()> {
    let a = bench.signature.a;
    if a.register.shift == 0 {
        return Ok(());
    }
    let title = "low bits of the operand's register";
    let mut plain = bench.input("a0 = 1, b0 = 1");
    bench.power(&mut plain, 0, false, 0);
    let mut set = plain.clone();
    set.what = "the same with every low bit of a0 set".to_owned();
    set.case.a[0] |= (1 << a.register.shift) - 1;
    let mut nan = plain.clone();
    nan.what = "a0 = infinity with low bits: a NaN as f32".to_owned();
    if let Some(infinity) = Maker::infinity(&a, false) {
        nan.case.a[0] = infinity | 1;
    }
    let readings = bench.ask(vec![plain, set, nan])?;
    let (value, text) = if readings[0] == readings[1] && readings[2].is_infinite() {
        (
            "ignored",
            "they are cleared before anything else, so a NaN may become ∞".to_owned(),
        )
    } else {
        (
            "used",
            format!("{} against {}", readings[0].value, readings[1].value),
        )
    };
    bench.conclude("ignored-bits", 9, title, value, text);
    Ok(())
}

fn scales(bench: &mut Bench<'_>) -> Result<()> {
    let Some(scale) = bench.signature.scale else {
        return Ok(());
    };
    let title = "block scales";
    let mut inputs = Vec::new();
    let mut doubled = bench.input("p0 = 1, scale of a's first block 2");
    bench.power(&mut doubled, 0, false, 0);
    doubled.case.scale_a[0] = word(Exact::power_of_two(false, 1), &scale.format);
    inputs.push(doubled);
    if let Some(nan) = Maker::nan(&scale.format) {
        let mut input = bench.input("no products, scale of a's first block NaN");
        input.case.scale_a[0] = nan;
        inputs.push(input);
    }
    let readings = bench.ask(inputs)?;
    let nan = readings
        .get(1)
        .map_or("no NaN scale".to_owned(), |reading| {
            format!("a NaN scale of zeros gives {}", reading.value)
        });
    let value = if readings[0].is_power(false, 1) {
        "multiply"
    } else {
        "other"
    };
    bench.conclude(
        "scales",
        9,
        title,
        value,
        format!("scale 2 gives {}; {nan}", readings[0].value),
    );
    Ok(())
}
