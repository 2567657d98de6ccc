//! Measures the rounding of terms onto the grid of the alignment.

use super::conclude;
use super::quarters::{enough, multiple, quarter, quarter_product, quarter_value, signed_quarters};
use crate::error::Result;
use crate::exact::Dyadic;
use crate::format::Rounding;
use crate::probe::alignment::Bits;
use crate::probe::bench::{Bench, Input};
use crate::probe::order::Order;

/// Rounding of products onto the alignment grid: 2^e − 2^e and a product of some quarters of the last
/// bit kept.
pub(super) fn of_products(
    bench: &mut Bench<'_>,
    order: &Order,
    bits: &Bits,
) -> Result<Vec<Rounding>> {
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
pub(super) fn of_c(bench: &mut Bench<'_>, order: &Order, bits: &Bits) -> Result<()> {
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
