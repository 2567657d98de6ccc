//! Compares the results that several units gave for the same matrices.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::Done;
use crate::args::Common;
use crate::report::{self, Failure};
use crate::table::Table;
use crate::terminal;
use mmascope::diff::Verdict;
use mmascope::isa::Catalogue;

/// Two results, by their numbers, and the outputs whose words differ.
struct Compared {
    left: usize,
    right: usize,
    /// How many differ, and the first; `None` where the formats are not the same.
    differ: Option<(u64, Option<usize>)>,
}

pub(super) fn report(
    catalogue: &Catalogue,
    common: &Common,
    done: &mut [Done<'_>],
) -> Result<(), Failure> {
    let mut pairs = Vec::new();
    for left in 0..done.len() {
        for right in left + 1..done.len() {
            let differ = compare(&done[left], &done[right]);
            pairs.push(Compared {
                left,
                right,
                differ,
            });
        }
    }
    let names: Vec<String> = done.iter().map(name).collect();
    let shape = done.first().map_or_else(Vec::new, |it| it.shape.clone());
    if common.json() {
        let compared: Vec<Value> = pairs
            .iter()
            .map(|pair| {
                json!({
                    "left": names[pair.left],
                    "right": names[pair.right],
                    "different": pair.differ.map(|(count, _)| count),
                    "first": pair.differ.and_then(|(_, first)| first).map(|at| place(&shape, at)),
                })
            })
            .collect();
        let products = done.iter_mut().map(|it| std::mem::take(&mut it.json));
        let products: Vec<Value> = products.map(Value::Object).collect();
        let mut body = Map::new();
        body.insert("products".into(), products.into());
        body.insert("compared".into(), compared.into());
        return report::print_json(catalogue, body);
    }
    let outputs: usize = shape.iter().product();
    let mut table = Table::new(&["left", "right", "differ", "share", "first at"]);
    for pair in &pairs {
        let (differ, share, first) = match pair.differ {
            None => ("other format".to_owned(), String::new(), String::new()),
            Some((count, first)) => (
                count.to_string(),
                format!("{:.3} %", 100.0 * count as f64 / outputs.max(1) as f64),
                first.map_or_else(String::new, |at| {
                    let place: Vec<String> =
                        place(&shape, at).iter().map(usize::to_string).collect();
                    place.join(",")
                }),
            ),
        };
        table.add_row([
            names[pair.left].clone(),
            names[pair.right].clone(),
            differ,
            share,
            first,
        ]);
    }
    writeln!(
        terminal::out(),
        "\nOutputs whose bits differ, of {outputs}:\n{table}"
    )?;
    Ok(())
}

fn name(done: &Done<'_>) -> String {
    format!("{}:{}", done.row.architecture, done.row.name)
}

fn compare(left: &Done<'_>, right: &Done<'_>) -> Option<(u64, Option<usize>)> {
    if left.format != right.format || left.shape != right.shape {
        return None;
    }
    // Where one unit's NaN is not known, two NaNs are not known to differ.
    let knows_nan = |done: &Done<'_>| {
        let unit = done.row.unit();
        unit.is_ok_and(|unit| unit.program().nan_is_known())
    };
    let any_nan = !(knows_nan(left) && knows_nan(right));
    let are_nan = |one: u64, other: u64| {
        let verdict = Verdict::of_words((one, &left.format), (other, &left.format));
        verdict == Verdict::NanPayload
    };
    let (mut count, mut first) = (0, None);
    for (at, (one, other)) in left.d.iter().zip(right.d.iter()).enumerate() {
        if one != other && !(any_nan && are_nan(one, other)) {
            count += 1;
            first = first.or(Some(at));
        }
    }
    Some((count, first))
}

/// The index of an output along each dimension.
fn place(shape: &[usize], mut at: usize) -> Vec<usize> {
    let mut place: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&length| {
            let index = at % length.max(1);
            at /= length.max(1);
            index
        })
        .collect();
    place.reverse();
    place
}
