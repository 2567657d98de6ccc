//! Measures roundings from results on both sides of ties (§1.5).

mod alignment;
mod quarters;
mod result;

use super::alignment::Bits;
use super::bench::Bench;
use super::order::Order;
use crate::error::Result;
use crate::format::Rounding;
use result::{Step, result};

pub(super) fn measure(bench: &mut Bench<'_>, order: &Order, bits: &mut Bits) -> Result<()> {
    bits.alignment = alignment::of_products(bench, order, bits)?;
    alignment::of_c(bench, order, bits)?;
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
    if !order.known {
        bench.conclude(
            "rounding-between",
            5,
            "rounding between steps",
            "unknown",
            "which products share a step is not known",
        );
        return Ok(());
    }
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
        // A sum wider than results is read once the last step has taken the leading bit away.
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
        // Less than two last places cannot be rounded to more: those were lost elsewhere.
        let is_rounded = |got: Option<i64>| got.is_some_and(|got| got.abs() <= 2);
        let (value, text) = if !found.iter().all(|&(.., got)| is_rounded(got)) {
            ("unknown", "not to be read from these results")
        } else if found.iter().all(|&(.., got)| got == Some(0)) {
            ("unknown", "the small terms are lost before")
        } else {
            ("none", "no rounding gives this")
        };
        bench.conclude(
            name,
            5,
            title,
            value,
            format!("{text}: {}", rows.join(", ")),
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
