//! Measures which subnormals are flushed, and with which sign: of a, b, c, products, sums between steps and results
//! (§1.1).
//!
//! A normal term lifts the subnormal in question into a normal sum. What is missing there was lost on the way in, not in
//! the result. Terms that take no part are −0, which hides no sign.

use super::bench::{Bench, Input, Reading, one_and, power, two};
use super::order::Order;
use crate::error::Result;
use crate::exact::Dyadic;
use crate::explain::TracedValue;
use crate::infer::drawn;

/// What a device does with zeros.
struct Zeros {
    /// Whether a sum of −0 is −0.
    shown: bool,
}

/// Returns whether a subnormal a or b is flushed.
pub(super) fn measure(bench: &mut Bench<'_>, order: &Order) -> Result<bool> {
    let mut input = bench.input("-0 in every term");
    bench.minus_zeros(&mut input);
    let reading = bench.ask_one(input)?;
    let zeros = Zeros {
        shown: matches!(reading.value, TracedValue::Zero { negative: true }),
    };
    let grid = Grid::look(bench)?;
    let a_is_flushed = operand(bench, &zeros, true)?;
    let b_is_flushed = operand(bench, &zeros, false)?;
    c(bench, order, &zeros, &grid)?;
    products(bench, order, &grid)?;
    sums(bench, order, &grid)?;
    results(bench, order, &grid)?;
    Ok(a_is_flushed || b_is_flushed)
}

/// What the device loses of normal numbers just above the subnormal ones.
struct Grid {
    /// Whether half of one, or all of it, is lost there too: then the grid of the alignment ends above the subnormal
    /// numbers, and that they become zero says nothing of a flush.
    is_coarse: bool,
}

impl Grid {
    fn look(bench: &mut Bench<'_>) -> Result<Self> {
        let normal = bench.maker.d.normal;
        let number = one_and(false, normal, 1, 1);
        let whole = &power(false, normal) + &power(false, normal - 1);
        let mut by_c = bench.input(format!("c = 1.5*2^{normal}, no products"));
        bench.c(&mut by_c, number);
        let mut by_product = bench.input(format!("1.5*2^{normal} as a product"));
        bench.normal_product(&mut by_product, 0, number);
        let mut inputs = Vec::new();
        if bench.c_of(&by_c).as_ref() == Some(&whole) {
            inputs.push(by_c);
        }
        if bench.product_at(&by_product, 0).as_ref() == Some(&whole) {
            inputs.push(by_product);
        }
        let readings = bench.ask(inputs)?;
        let is_coarse = readings.iter().any(|reading| {
            reading.is_zero()
                || reading.is_power(false, normal)
                || reading.is_power(false, normal + 1)
        });
        Ok(Self { is_coarse })
    }

    fn lost() -> (&'static str, String) {
        let text = "is lost, but so is half of the smallest normal number: the alignment has no bits so low (its floor, 1.8)";
        ("unknown", text.to_owned())
    }

    /// The conclusion where what is subnormal becomes something else.
    fn other(&self, readings: &[Reading]) -> (&'static str, String) {
        if self.is_coarse && are_zeros(readings) {
            Self::lost()
        } else {
            other(readings)
        }
    }

    /// The conclusion where what is subnormal becomes zero.
    fn flushed(&self, text: String) -> (&'static str, String) {
        if self.is_coarse {
            Self::lost()
        } else {
            ("flushed", text)
        }
    }
}

impl Zeros {
    /// The sign of a negative subnormal that is flushed on its way in.
    fn sign(&self, negative: &Reading) -> &'static str {
        match negative.value {
            TracedValue::Zero { negative: true } => "a negative one -0",
            TracedValue::Zero { negative: false } if self.shown => "a negative one +0 too",
            _ => "with which sign does not show",
        }
    }
}

/// ±number, and the same with the terms that take no part −0.
fn both(
    bench: &Bench<'_>,
    what: impl Fn(&str) -> String,
    write: impl Fn(&mut Input, bool),
) -> Vec<Input> {
    [false, true]
        .into_iter()
        .map(|negative| {
            let mut input = bench.input(what(if negative { "-" } else { "" }));
            write(&mut input, negative);
            bench.minus_zeros(&mut input);
            input
        })
        .collect()
}

fn are(readings: &[Reading], wanted: &Dyadic) -> bool {
    readings[0].number().as_ref() == Some(wanted) && readings[1].number() == Some(-wanted)
}

fn are_zeros(readings: &[Reading]) -> bool {
    readings.iter().all(Reading::is_zero)
}

fn other(readings: &[Reading]) -> (&'static str, String) {
    let text = format!("{} and {}", readings[0].value, readings[1].value);
    ("changed", text)
}

/// The smallest subnormal of an operand times a power of two as large as there is: the product is far above
/// subnormal results, and above a floor of the alignment.
/// Returns whether it is flushed.
fn operand(bench: &mut Bench<'_>, zeros: &Zeros, is_a: bool) -> Result<bool> {
    let (own, times) = if is_a {
        (bench.maker.a, bench.maker.b)
    } else {
        (bench.maker.b, bench.maker.a)
    };
    let (name, letter) = if is_a {
        ("subnormal-a", "a")
    } else {
        ("subnormal-b", "b")
    };
    let title = format!("subnormal {letter}");
    if own.lowest == own.normal {
        let text = "the format has no subnormals";
        bench.conclude(name, 1, &title, "not reachable", text);
        return Ok(false);
    }
    let lift = times.top.min(bench.maker.d.top - own.lowest);
    let what = |sign: &str| format!("{letter} = {sign}2^{}, times 2^{lift}", own.lowest);
    let inputs = both(bench, what, |input, negative| {
        let (small, large) = (two(negative, own.lowest), two(false, lift));
        if is_a {
            bench.product(input, 0, small, large);
        } else {
            bench.product(input, 0, large, small);
        }
    });
    let wanted = own.lowest + lift;
    let readings = bench.ask(inputs)?;
    let (value, text) = if are(&readings, &power(false, wanted)) {
        ("kept", "taken as it is".to_owned())
    } else if !are_zeros(&readings) {
        other(&readings)
    } else if wanted < bench.maker.d.normal {
        let text = "becomes zero, but a result so small may be flushed itself";
        ("unknown", text.to_owned())
    } else if is_larger_kept(bench, own.normal - 1, lift, is_a)? {
        let text = "the largest is taken as it is; smaller ones are lost";
        ("kept", text.to_owned())
    } else {
        let sign = zeros.sign(&readings[1]);
        ("flushed", format!("becomes zero on the way in; {sign}"))
    };
    bench.conclude(name, 1, &title, value, text);
    Ok(value == "flushed")
}

/// Whether the largest subnormal power of two of an operand is kept: smaller ones have the same exponent, so that an alignment or a rounding
/// may cut them.
fn is_larger_kept(bench: &mut Bench<'_>, subnormal: i32, lift: i32, is_a: bool) -> Result<bool> {
    let lift = lift.min(bench.maker.d.top - subnormal);
    let letter = if is_a { "a" } else { "b" };
    let what = |sign: &str| format!("{letter} = {sign}2^{subnormal}, times 2^{lift}");
    let inputs = both(bench, what, |input, negative| {
        let (small, large) = (two(negative, subnormal), two(false, lift));
        match is_a {
            true => bench.product(input, 0, small, large),
            false => bench.product(input, 0, large, small),
        }
    });
    let readings = bench.ask(inputs)?;
    Ok(are(&readings, &power(false, subnormal + lift)))
}

/// c = ±2^small without products, and beside a product that makes a normal sum of it.
fn c(bench: &mut Bench<'_>, order: &Order, zeros: &Zeros, grid: &Grid) -> Result<()> {
    let (name, title) = ("subnormal-c", "subnormal c");
    let (range, d) = (bench.maker.c, bench.maker.d);
    // The largest power of two: narrow results have that one too.
    let small = (range.normal - 1).max(range.lowest);
    if small < d.lowest {
        let text = format!("results are multiples of 2^{}", d.lowest);
        bench.conclude(name, 1, title, "not reachable", text);
        return Ok(());
    }
    let what = |sign: &str| format!("c = {sign}2^{small}, no products");
    let inputs = both(bench, what, |input, negative| {
        bench.c(input, two(negative, small));
    });
    let alone = bench.ask(inputs)?;
    let sum = &power(false, d.normal) + &power(false, small);
    // A product of another step than c's would not lift c, but what c's step makes of it. Some product is in c's step:
    // where that one is not known, each is tried.
    let places = match order.beside_c {
        _ if small >= d.normal => Vec::new(),
        Some(place) => vec![place],
        None => (0..bench.signature.k).rev().collect(),
    };
    let mut lifted = None;
    for place in places {
        let inputs = beside(bench, place, d.normal, |input, negative| {
            bench.c(input, two(negative, small));
        });
        let Some(inputs) = inputs else {
            lifted = None;
            break;
        };
        let readings = bench.ask(inputs)?;
        let is_plain = are(&readings, &power(false, d.normal));
        lifted = Some(readings);
        if !is_plain {
            break;
        }
    }
    let (value, text) = match lifted {
        _ if are(&alone, &power(false, small)) => ("kept", "taken as it is".to_owned()),
        _ if !are_zeros(&alone) => other(&alone),
        Some(lifted) if are(&lifted, &sum) => (
            "kept",
            "taken as it is beside a normal product; alone, the result becomes zero".to_owned(),
        ),
        Some(lifted) if !are(&lifted, &power(false, d.normal)) => grid.other(&lifted),
        None if small < d.normal => (
            "unknown",
            "alone it becomes zero, on the way in or as a result: no product is small enough to tell".to_owned(),
        ),
        _ => {
            let text = format!("becomes zero on the way in; {}", zeros.sign(&alone[1]));
            if small < d.normal {
                grid.flushed(text)
            } else {
                ("flushed", text)
            }
        }
    };
    bench.conclude(name, 1, title, value, text);
    Ok(())
}

/// Inputs with a product ±2^normal of normal operands at k, beside what is written first.
/// `None`: there is no such product.
fn beside(
    bench: &Bench<'_>,
    k: usize,
    normal: i32,
    write: impl Fn(&mut Input, bool),
) -> Option<Vec<Input>> {
    let what = |sign: &str| format!("{sign}(that + 2^{normal} as a product of normal operands)");
    let inputs = both(bench, what, |input, negative| {
        write(input, negative);
        bench.normal_product(input, k, two(negative, normal));
    });
    let made = |input: &Input| {
        let product = bench.product_at(input, k);
        product == Some(power(false, normal)) || product == Some(power(true, normal))
    };
    let (low, _) = bench.maker.products();
    (normal >= low && inputs.iter().all(made)).then_some(inputs)
}

/// A product of normal operands that is subnormal for results, beside a normal c, or beside a normal product where c is
/// no term of its step.
fn products(bench: &mut Bench<'_>, order: &Order, grid: &Grid) -> Result<()> {
    let (name, title) = ("subnormal-product", "subnormal products");
    let (d, range) = (bench.maker.d, bench.maker.c);
    let small = d.normal - 1;
    let (low, _) = bench.maker.products();
    let (at, other) = match order.step[..] {
        _ if order.shares_c && order.known => (order.with_c[0], None),
        [x, .., z] if order.together => (x, Some(z)),
        _ => (0, None),
    };
    // Without such a term, what becomes zero may be the result of a step.
    let is_beside = order.shares_c && order.known || other.is_some();
    let has_other = other.is_some() && d.normal >= low || d.normal >= range.normal;
    if small < low || !has_other || small < d.lowest {
        let text = "no product of normal operands is so small, or no c is beside it";
        bench.conclude(name, 1, title, "not reachable", text);
        return Ok(());
    }
    // One of two may come a step before the other, as a result: then only the other way round says something.
    let places = match other {
        Some(z) => vec![(at, Some(z)), (z, Some(at))],
        None => vec![(at, None)],
    };
    let (term, normal) = match other {
        Some(_) => ("a product of", "product"),
        None => ("c =", "c"),
    };
    let what = |sign: &str| format!("{sign}({term} 2^{} + a product 2^{small})", d.normal);
    let large = power(false, d.normal);
    let sum = &large + &power(false, small);
    let mut readings = Vec::new();
    for (at, other) in places {
        let inputs = both(bench, what, |input, negative| {
            match other {
                Some(z) => bench.normal_product(input, z, two(negative, d.normal)),
                None => bench.c(input, two(negative, d.normal)),
            }
            bench.normal_product(input, at, two(negative, small));
        });
        readings = bench.ask(inputs)?;
        if are(&readings, &sum) {
            break;
        }
    }
    let (value, text) = if are(&readings, &sum) {
        ("kept", format!("counts beside a normal {normal}"))
    } else if !are(&readings, &large) {
        grid.other(&readings)
    } else if is_beside {
        grid.flushed(format!(
            "counts as zero beside a normal {normal}; with which sign does not show"
        ))
    } else {
        (
            "unknown",
            "becomes zero, or the result of its step does before c is added".to_owned(),
        )
    };
    bench.conclude(name, 1, title, value, text);
    Ok(())
}

/// ±(1.5 − 1)·2^normal in products and c; the products' part, if any, in the first step.
fn difference(bench: &Bench<'_>, input: &mut Input, k: usize, negative: bool) -> bool {
    let normal = bench.maker.d.normal;
    let large = drawn(negative, normal, 1 << 59);
    bench.c(input, large);
    bench.normal_product(input, k, two(!negative, normal));
    let c = &power(negative, normal) + &power(negative, normal - 1);
    bench.c_of(input) == Some(c) && bench.product_at(input, k) == Some(power(!negative, normal))
}

/// A subnormal sum of normal terms in the step of c, lifted in the last one.
fn sums(bench: &mut Bench<'_>, order: &Order, grid: &Grid) -> Result<()> {
    let (name, title) = ("subnormal-sum", "subnormal sums between steps");
    let normal = bench.maker.d.normal;
    let (low, _) = bench.maker.products();
    let (first, last) = (order.with_c[0], order.last[0]);
    let apart = !order.with_c.contains(&last) && order.shares_c && !order.c_last;
    if order.known && order.c_last && order.step.len() > 1 {
        return sums_before_c(bench, order, grid);
    }
    if !apart || normal < low || normal - 1 < bench.maker.d.lowest {
        let text = "a later step and normal products as small as results are needed";
        bench.conclude(name, 1, title, "not reachable", text);
        return Ok(());
    }
    let what = |sign: &str| {
        format!(
            "{sign}(c = 1.5*2^{normal}, less 2^{normal} in its step, and 2^{normal} in the last)"
        )
    };
    let made = std::cell::Cell::new(true);
    let inputs = both(bench, what, |input, negative| {
        made.set(made.get() && difference(bench, input, first, negative));
        bench.normal_product(input, last, two(negative, normal));
    });
    if !made.get() {
        bench.conclude(name, 1, title, "not reachable", "c has no such number");
        return Ok(());
    }
    let readings = bench.ask(inputs)?;
    let whole = power(false, normal);
    let (value, text) = if are(&readings, &(&whole + &power(false, normal - 1))) {
        ("kept", "goes on to the next step as it is".to_owned())
    } else if are(&readings, &whole) {
        let text = "becomes zero before the next step; with which sign does not show";
        grid.flushed(text.to_owned())
    } else {
        grid.other(&readings)
    };
    bench.conclude(name, 1, title, value, text);
    Ok(())
}

/// A subnormal sum of two normal products, lifted by the c that is added last.
fn sums_before_c(bench: &mut Bench<'_>, order: &Order, grid: &Grid) -> Result<()> {
    let (name, title) = ("subnormal-sum", "subnormal sums between steps");
    let (d, range) = (bench.maker.d, bench.maker.c);
    let normal = d.normal.max(range.normal);
    let (low, _) = bench.maker.products();
    let (x, y) = (order.step[0], order.step[order.step.len() - 1]);
    // c must not be so large that results lose the sum beside it.
    let is_near = normal - d.normal < bench.maker.bits;
    let made = std::cell::Cell::new(is_near && normal >= low && d.normal > d.lowest);
    let what = |sign: &str| {
        format!(
            "{sign}(products 1.5*2^{0} and -2^{0}, c = 2^{normal})",
            d.normal
        )
    };
    let inputs = both(bench, what, |input, negative| {
        bench.normal_product(input, x, drawn(negative, d.normal, 1 << 59));
        bench.normal_product(input, y, two(!negative, d.normal));
        bench.c(input, two(negative, normal));
        let first = &power(negative, d.normal) + &power(negative, d.normal - 1);
        let is_whole = bench.product_at(input, x) == Some(first)
            && bench.product_at(input, y) == Some(power(!negative, d.normal))
            && bench.c_of(input) == Some(power(negative, normal));
        made.set(made.get() && is_whole);
    });
    if !made.get() {
        let text = "normal products as small as results are needed";
        bench.conclude(name, 1, title, "not reachable", text);
        return Ok(());
    }
    let readings = bench.ask(inputs)?;
    let whole = power(false, normal);
    let (value, text) = if are(&readings, &(&whole + &power(false, d.normal - 1))) {
        ("kept", "is added to c as it is".to_owned())
    } else if are(&readings, &whole) {
        let text = "becomes zero before c is added; with which sign does not show";
        grid.flushed(text.to_owned())
    } else {
        grid.other(&readings)
    };
    bench.conclude(name, 1, title, value, text);
    Ok(())
}

/// A subnormal result: of normal terms that cancel in part, and of one product of normal operands.
fn results(bench: &mut Bench<'_>, order: &Order, grid: &Grid) -> Result<()> {
    let (name, title) = ("subnormal-result", "subnormal results from normal operands");
    let d = bench.maker.d;
    let (low, _) = bench.maker.products();
    let small = (d.normal - 1).max(low);
    if small >= d.normal || small < d.lowest {
        let text = "no product of normal operands is so small";
        bench.conclude(name, 1, title, "not reachable", text);
        return Ok(());
    }
    let what = |sign: &str| format!("{sign}2^{small} as a product of normal operands");
    let inputs = both(bench, what, |input, negative| {
        bench.normal_product(input, 0, two(negative, small));
    });
    let product = bench.ask(inputs)?;
    let k = if order.known {
        order.last[0]
    } else {
        bench.signature.k - 1
    };
    let made = std::cell::Cell::new(true);
    let what = |sign: &str| format!("{sign}(c = 1.5*2^{0}, less a product 2^{0})", d.normal);
    let inputs = both(bench, what, |input, negative| {
        made.set(made.get() && difference(bench, input, k, negative));
    });
    let sum = if made.get() {
        Some(bench.ask(inputs)?)
    } else {
        None
    };
    let sign = |readings: &[Reading]| match readings[1].value {
        TracedValue::Zero { negative: true } => "a negative one -0",
        _ => "a negative one +0",
    };
    let (value, text) = match &sum {
        Some(sum) if are_zeros(sum) && !order.known => (
            "unknown",
            "a subnormal sum of normal terms becomes zero, as a result or between steps".to_owned(),
        ),
        Some(sum) if are_zeros(sum) => grid.flushed(format!(
            "a subnormal sum of normal terms becomes zero; {}",
            sign(sum)
        )),
        Some(sum) if !are(sum, &power(false, d.normal - 1)) => grid.other(sum),
        _ if are(&product, &power(false, small)) => ("kept", "given as it is".to_owned()),
        Some(_) => (
            "kept",
            format!(
                "a subnormal sum of normal terms is given as it is; a subnormal product alone gives {}",
                product[0].value
            ),
        ),
        None if are_zeros(&product) => (
            "unknown",
            "a subnormal product alone becomes zero, as a product or as a result".to_owned(),
        ),
        None => other(&product),
    };
    bench.conclude(name, 1, title, value, text);
    Ok(())
}
