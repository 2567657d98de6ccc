//! Measures the bits that the alignment keeps, and whether products are exact (§1.2, §1.4).

use super::bench::{Bench, Input, one_and, power, two};
use super::order::Order;
use crate::error::Result;
use crate::format::Rounding;
use crate::infer::drawn;

/// Bits kept, as far as they were measured.
pub(super) struct Bits {
    /// The bits kept of a small product beside large products.
    pub(super) products: Option<i32>,
    /// The bits kept of a small c beside large products.
    pub(super) c: Option<i32>,
    /// The roundings that the alignment of products may have.
    pub(super) alignment: Vec<Rounding>,
    /// The exponent of the anchor with which it was measured.
    pub(super) anchor: i32,
    /// Fraction bits of results.
    pub(super) width: i32,
}

/// Distances that are tried.
const FARTHEST: i32 = 70;

/// Which terms cancel, and which one is small.
#[derive(Clone, Copy)]
enum Setting {
    ProductsUnderProducts,
    ProductUnderC,
    CUnderProducts,
}

pub(super) fn measure(bench: &mut Bench<'_>, order: &Order) -> Result<Bits> {
    let (low, high) = bench.maker.products();
    let anchor = (high - 1)
        .min(bench.maker.c.top - 2)
        .min(bench.maker.d.top - 2)
        .min(20.max(low));
    let title = "bits kept of a small product beside large ones (F)";
    let products = kept(
        bench,
        order,
        anchor,
        Setting::ProductsUnderProducts,
        "bits-products",
        title,
    )?;
    let title = "bits kept of a small product beside a large c";
    kept(
        bench,
        order,
        anchor,
        Setting::ProductUnderC,
        "bits-products-c",
        title,
    )?;
    let title = "bits kept of a small c beside large products (F of c)";
    let c = kept(
        bench,
        order,
        anchor,
        Setting::CUnderProducts,
        "bits-c",
        title,
    )?;
    Ok(Bits {
        products,
        c,
        alignment: Vec::new(),
        anchor,
        width: bench.maker.bits,
    })
}

/// 2^e − 2^e ± 2^(e−j): the largest j for which nothing is lost, for both signs.
fn kept(
    bench: &mut Bench<'_>,
    order: &Order,
    anchor: i32,
    setting: Setting,
    name: &'static str,
    title: &str,
) -> Result<Option<i32>> {
    if !matches!(setting, Setting::ProductsUnderProducts)
        && let Some(outside) = order.c_outside()
    {
        bench.conclude(name, 4, title, "not applicable", outside);
        return Ok(None);
    }
    let places = match setting {
        Setting::ProductsUnderProducts => &order.step,
        _ => &order.with_c,
    };
    let needed = match setting {
        Setting::ProductsUnderProducts => 3,
        _ => 2,
    };
    if places.len() < needed {
        bench.conclude(
            name,
            4,
            title,
            "one rounding a step",
            format!(
                "steps take {} products: what is kept is the result's format",
                places.len()
            ),
        );
        return Ok(None);
    }
    let (x, y) = (places[0], places[places.len() / 2]);
    let z = places[places.len() - 1];
    let mut last = None;
    let mut reached = true;
    let mut distances = Vec::new();
    let mut inputs: Vec<Input> = Vec::new();
    for j in 1..=FARTHEST {
        let small = anchor - j;
        let fits = match setting {
            Setting::CUnderProducts => small >= bench.maker.c.lowest,
            _ => bench.reaches(small),
        };
        if !fits || small < bench.maker.d.lowest {
            reached = false;
            break;
        }
        for negative in [false, true] {
            let sign = if negative { "-" } else { "" };
            let mut input = bench.input(format!("2^{anchor} - 2^{anchor}, {sign}2^{small}"));
            match setting {
                Setting::ProductsUnderProducts => {
                    bench.power(&mut input, x, false, anchor);
                    bench.power(&mut input, y, true, anchor);
                    bench.power(&mut input, z, negative, small);
                }
                Setting::ProductUnderC => {
                    bench.c(&mut input, two(false, anchor));
                    bench.power(&mut input, x, true, anchor);
                    bench.power(&mut input, z, negative, small);
                }
                Setting::CUnderProducts => {
                    bench.power(&mut input, x, false, anchor);
                    bench.power(&mut input, z, true, anchor);
                    bench.c(&mut input, two(negative, small));
                }
            }
            inputs.push(input);
        }
        distances.push(j);
    }
    let readings = bench.ask(inputs)?;
    for (&j, pair) in distances.iter().zip(readings.chunks(2)) {
        let exact = pair[0].is_power(false, anchor - j) && pair[1].is_power(true, anchor - j);
        if !exact {
            reached = true;
            break;
        }
        last = Some(j);
    }
    let all = last.is_some() && last == distances.last().copied() && !reached;
    let far = last.filter(|&bits| all || bits == FARTHEST);
    if let Some(far) = far
        && let Some(doubt) = doubt(bench, order, setting, [x, z])?
    {
        let text =
            format!("nothing is lost over {far} bits where the large terms cancel, but {doubt}");
        bench.conclude(name, 4, title, "unknown", text);
        return Ok(None);
    }
    let (value, text) = match last {
        _ if all => {
            let far = last.unwrap_or(0);
            (
                format!(">={far}"),
                format!(
                    "nothing is lost down to {far} bits below the largest, as far as the formats reach"
                ),
            )
        }
        Some(bits) if bits == FARTHEST => (
            format!(">={bits}"),
            format!("nothing is lost over {bits} bits"),
        ),
        Some(bits) => {
            let extra = bits - bench.maker.bits;
            (
                bits.to_string(),
                format!(
                    "{bits} fraction bits below the largest exponent ({extra} beyond the result's)"
                ),
            )
        }
        None => (
            "0".to_owned(),
            "not even the first bit below the largest survives".to_owned(),
        ),
    };
    bench.conclude(name, 4, title, value, text);
    Ok(last.filter(|_| !all))
}

/// Why a small term that survives where large ones cancel need not have been beside them: the order is not known,
/// or beside a 1 it is lost within the bits of results.
fn doubt(
    bench: &mut Bench<'_>,
    order: &Order,
    setting: Setting,
    [large, small]: [usize; 2],
) -> Result<Option<String>> {
    if !order.known {
        return Ok(Some("the terms may lie in different steps".to_owned()));
    }
    let mut inputs = Vec::new();
    let mut distances = Vec::new();
    for j in 1..=bench.maker.bits {
        let fits = match setting {
            Setting::CUnderProducts => -j >= bench.maker.c.lowest,
            _ => bench.reaches(-j),
        };
        if !fits || -j < bench.maker.d.lowest || !bench.reaches(0) {
            break;
        }
        let mut input = bench.input(format!("1, 2^-{j}"));
        match setting {
            Setting::ProductUnderC => bench.c(&mut input, two(false, 0)),
            _ => bench.power(&mut input, large, false, 0),
        }
        match setting {
            Setting::CUnderProducts => bench.c(&mut input, two(false, -j)),
            _ => bench.power(&mut input, small, false, -j),
        }
        inputs.push(input);
        distances.push(j);
    }
    let readings = bench.ask(inputs)?;
    let lost = distances.iter().zip(&readings).find(|(j, reading)| {
        let exact = &power(false, 0) + &power(false, -**j);
        reading.number() != Some(exact)
    });
    Ok(lost.map(|(j, _)| format!("1 + 2^-{j} does not come out whole")))
}

/// Whether products are exact, and whether they overflow by themselves.
pub(super) fn products(bench: &mut Bench<'_>, order: &Order, bits: &Bits) -> Result<()> {
    let fraction = |format: &crate::format::Format| format.float().map_or(0, |f| f.fraction_bits);
    let (m_a, m_b) = (fraction(&bench.signature.a), fraction(&bench.signature.b));
    let (x, y) = (order.step[0], order.step[order.step.len() - 1]);
    let title = "products exact or rounded";
    if m_a == 0 || m_b == 0 || x == y {
        // One product a step: c cancels the leading part.
        exact_beside_c(bench, order, m_a, m_b, title)?;
    } else {
        // (1 + u)(1 + v) − (1 + u)·1 − v·1 … the last term is u·v, which a rounded product lacks.
        let mut input = bench.input(format!("(1 + 2^-{m_a})(1 + 2^-{m_b}) - (1 + 2^-{m_a})"));
        bench.product(
            &mut input,
            x,
            one_and(false, 0, 1, m_a),
            one_and(false, 0, 1, m_b),
        );
        bench.product(&mut input, y, one_and(true, 0, 1, m_a), two(false, 0));
        let reading = bench.ask_one(input)?;
        let small = power(false, -(m_a as i32 + m_b as i32));
        let exact = &power(false, -(m_b as i32)) + &small;
        let (value, text) = if reading.number() == Some(exact) {
            ("exact", "the last bit of a product reaches the sum")
        } else if bits.products.is_some_and(|bits| bits < (m_a + m_b) as i32) {
            (
                "unknown",
                "the last bit of a product lies below the bits that are kept",
            )
        } else {
            (
                "rounded",
                "the last bit of a product does not reach the sum",
            )
        };
        bench.conclude("products", 2, title, value, text);
    }
    overflow_of_products(bench, order)
}

fn exact_beside_c(
    bench: &mut Bench<'_>,
    order: &Order,
    m_a: u32,
    m_b: u32,
    title: &str,
) -> Result<()> {
    let x = order.with_c[0];
    if m_a == 0 || m_b == 0 {
        bench.conclude(
            "products",
            2,
            title,
            "exact",
            "an operand is a power of two",
        );
        return Ok(());
    }
    // (1 + u)(1 + v) − (1 + u + v) is u·v; c must have 1 + u + v.
    let mut input = bench.input(format!(
        "c = -(1 + 2^-{m_a} + 2^-{m_b}), (1 + 2^-{m_a})(1 + 2^-{m_b})"
    ));
    let c = drawn(true, 0, (1 << (60 - m_a)) + (1 << (60 - m_b)));
    bench.c(&mut input, c);
    let (a, b) = (one_and(false, 0, 1, m_a), one_and(false, 0, 1, m_b));
    bench.product(&mut input, x, a, b);
    let reading = bench.ask_one(input)?;
    let (value, text) = if reading.is_power(false, -(m_a as i32 + m_b as i32)) {
        ("exact", "the last bit of a product reaches the sum with c")
    } else {
        (
            "unknown",
            "the last bit of a product does not reach the result; a rounding of the result may take it too",
        )
    };
    bench.conclude("products", 2, title, value, text);
    Ok(())
}

fn overflow_of_products(bench: &mut Bench<'_>, order: &Order) -> Result<()> {
    let top = bench.maker.d.top + 1;
    let title = "overflow of a product before the sum";
    let (x, y) = (order.step[0], order.step[order.step.len() - 1]);
    if !bench.reaches(top) || x == y {
        let why = if x == y {
            "one product a step"
        } else {
            "no product of these formats is beyond the result's range"
        };
        bench.conclude("product-overflow", 2, title, "not reachable", why);
        return Ok(());
    }
    let mut input = bench.input(format!("2^{top} - 2^{top}"));
    bench.power(&mut input, x, false, top);
    bench.power(&mut input, y, true, top);
    let reading = bench.ask_one(input)?;
    let (value, text) = if reading.is_nan() || reading.is_infinite() {
        (
            "overflows",
            format!("a product of 2^{top} is ∞ before it is added"),
        )
    } else {
        ("none", "only sums are limited".to_owned())
    };
    bench.conclude("product-overflow", 2, title, value, text);
    Ok(())
}
