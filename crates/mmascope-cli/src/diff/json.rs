//! The findings as JSON.

use serde_json::{Map, Value as Json, json};

use super::text::explain_command;
use super::{Compare, Findings, Shown};
use mmascope::diff::{Product, Value};

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
        "explain": compare.smallest.as_ref().and_then(|s| explain_command(findings, compare, s)),
    })
}

fn shown(shown: &Shown) -> Json {
    let explanation = &shown.explanation;
    let results: Vec<Json> = explanation
        .results
        .iter()
        .map(|(name, result)| match result {
            Some(Value { word, value }) => json!({"unit": name, "d": word, "value": value}),
            None => json!({"unit": name, "d": null, "value": null}),
        })
        .collect();
    json!({
        "from": shown.example.origin.place,
        "vector": serde_json::from_str::<Json>(&shown.line).ok(),
        "products": explanation.products.iter().map(product).collect::<Vec<_>>(),
        "c": {
            "word": explanation.c.word,
            "value": explanation.c.value,
            "exponent": explanation.c_exponent,
        },
        "results": results,
    })
}

fn product(product: &Product) -> Json {
    let word = |value: &Value| json!({"word": value.word, "value": value.value});
    json!({
        "k": product.k,
        "a": word(&product.a),
        "b": word(&product.b),
        "scale_a": product.scales.as_ref().map(|(a, _)| word(a)),
        "scale_b": product.scales.as_ref().map(|(_, b)| word(b)),
        "exponent": product.exponent,
    })
}
