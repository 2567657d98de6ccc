//! Writes the findings of `diff` as JSON.

use serde_json::{Map, Value as Json, json};

use super::text::{live_pairs, scales};
use super::{Compare, Findings, Shown};
use mmascope::explain::{PairTrace, TracedCode, TracedOperand, TracedValue};

pub(super) fn body(findings: &Findings<'_>) -> Map<String, Json> {
    let units: Vec<Json> = findings
        .subjects
        .iter()
        .map(|subject| {
            let row = subject.instruction();
            json!({"arch": row.architecture, "inst": row.name, "k": row.signature.k})
        })
        .collect();
    let pairs: Vec<Json> = findings
        .compares
        .iter()
        .map(|compare| pair(findings, compare))
        .collect();
    let different = findings.compares.iter().any(|c| c.tally.different() > 0);
    let entries = [
        ("units", units.into()),
        ("source", findings.source.clone().into()),
        ("notes", findings.notes.clone().into()),
        ("inputs", findings.inputs.into()),
        ("bad", findings.bad.into()),
        ("differ", different.into()),
        ("pairs", pairs.into()),
    ];
    entries
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn pair(findings: &Findings<'_>, compare: &Compare) -> Json {
    let tally = &compare.tally;
    let ulps: Vec<Json> = tally
        .histogram()
        .map(|(least, greatest, count)| json!({"from": least, "to": greatest, "count": count}))
        .collect();
    json!({
        "left": findings.subjects[compare.left].name(),
        "right": findings.subjects[compare.right].name(),
        "compared": tally.compared,
        "equal": tally.equal,
        "different": tally.different(),
        "not_comparable": tally.left_out,
        "ulp": ulps,
        "largest_ulp": tally.largest,
        "zero_sign": tally.zero_sign,
        "infinite": tally.infinite,
        "nan": tally.nan,
        "nan_word": tally.nan_payload,
        "first": compare.first.as_ref().map(shown),
        "smallest": compare.smallest.as_ref().map(shown),
    })
}

fn shown(shown: &Shown) -> Json {
    let explanation = &shown.explanation;
    let operands = &explanation.operands;
    let results: Vec<Json> = explanation
        .sides
        .iter()
        .map(|side| {
            let d = side.trace.as_ref().map(|(_, word)| word);
            let value = side
                .trace
                .as_ref()
                .map(|(trace, _)| text(&trace.result.value));
            json!({"unit": side.name, "d": d, "value": value})
        })
        .collect();
    json!({
        "from": shown.example.origin.place,
        "vector": serde_json::from_str::<Json>(&shown.line).ok(),
        "products": live_pairs(operands).map(|pair| product(operands, pair)).collect::<Vec<_>>(),
        "c": word(&operands.c),
        "exact": text(&operands.exact),
        "results": results,
        "parting": explanation.parting,
        "parting_words": explanation.words,
        "explain": shown.command,
    })
}

fn product(operands: &TracedCode, pair: &PairTrace) -> Json {
    let scales = scales(operands, pair);
    json!({
        "k": pair.k,
        "a": word(&pair.a),
        "b": word(&pair.b),
        "scale_a": scales.map(|(a, _)| word(a)),
        "scale_b": scales.map(|(_, b)| word(b)),
        "exponent": pair.exponent,
    })
}

fn word(operand: &TracedOperand) -> Json {
    let TracedOperand {
        word,
        value,
        exponent,
        ..
    } = operand;
    json!({"word": word, "value": text(value), "exponent": exponent})
}

fn text(value: &TracedValue) -> String {
    value.to_string()
}
