//! Measures the bits that the alignment keeps, and whether products are exact (§1.2, §1.4).

use super::bench::{Bench, Input, Reading, one_and, power, two};
use super::order::Order;
use crate::error::Result;
use crate::exact::Dyadic;
use crate::format::Rounding;
use crate::infer::drawn;

/// Bits kept, as far as they were measured.
pub(super) struct Bits {
    /// The bits kept of a small product beside large products.
    pub(super) products: Option<i32>,
    /// So many bits of a small product surely stay beside a larger term; 0 where that is not known.
    pub(super) surely: i32,
    /// Whether a subnormal a or b is flushed.
    pub(super) flushes_operands: bool,
    /// Whether products are rounded by themselves.
    pub(super) are_rounded: bool,
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

/// A term of a step.
#[derive(Clone, Copy, PartialEq)]
enum Term {
    Product(usize),
    C,
}

impl Term {
    fn write(self, bench: &Bench<'_>, input: &mut Input, negative: bool, exponent: i32) {
        match self {
            Term::Product(k) => bench.power(input, k, negative, exponent),
            Term::C => bench.c(input, two(negative, exponent)),
        }
    }

    /// Whether the formats have it as ±2^exponent, and results too.
    fn reaches(self, bench: &Bench<'_>, exponent: i32) -> bool {
        let lowest = match self {
            Term::Product(_) => bench.maker.a.lowest + bench.maker.b.lowest,
            Term::C => bench.maker.c.lowest,
        };
        exponent >= lowest.max(bench.maker.d.lowest)
    }
}

/// Two large terms that cancel, and a small one.
#[derive(Clone, Copy)]
struct Roles {
    large: [Term; 2],
    small: Term,
}

impl Roles {
    fn inputs(self, bench: &Bench<'_>, anchor: i32, j: i32) -> [Input; 2] {
        let small = anchor - j;
        [false, true].map(|negative| {
            let sign = if negative { "-" } else { "" };
            let mut input = bench.input(format!("2^{anchor} - 2^{anchor}, {sign}2^{small}"));
            self.large[0].write(bench, &mut input, false, anchor);
            self.large[1].write(bench, &mut input, true, anchor);
            self.small.write(bench, &mut input, negative, small);
            input
        })
    }
}

/// What cancelling terms leave of a small one.
struct Seen {
    /// The largest distance at which nothing is lost.
    last: Option<i32>,
    /// Whether the formats end there.
    all: bool,
    /// Whether the large terms alone are no numbers any more.
    overflows: bool,
}

impl Seen {
    fn finite(&self) -> Option<i32> {
        self.last.filter(|&bits| !self.all && bits < FARTHEST)
    }
}

fn is_exact(pair: &[Reading], exponent: i32) -> bool {
    pair[0].is_power(false, exponent) && pair[1].is_power(true, exponent)
}

/// 2^e − 2^e ± 2^(e−j): the largest j for which nothing is lost, for both signs.
fn seen(bench: &mut Bench<'_>, roles: Roles, anchor: i32) -> Result<Seen> {
    let farthest = (1..=FARTHEST).take_while(|j| roles.small.reaches(bench, anchor - j));
    let farthest = farthest.last().unwrap_or(0);
    let inputs = (1..=farthest).flat_map(|j| roles.inputs(bench, anchor, j));
    let inputs = inputs.collect();
    let readings = bench.ask(inputs)?;
    let pairs = (1..=farthest).zip(readings.chunks(2));
    let whole = pairs.take_while(|(j, pair)| is_exact(pair, anchor - j));
    let last = whole.last().map(|(j, _)| j);
    let next = last.filter(|&last| last < farthest);
    let ends = match next {
        Some(last) => is_lost_alone(bench, roles.small, anchor - last - 1)?,
        None => last == Some(farthest) && farthest < FARTHEST,
    };
    Ok(Seen {
        last,
        all: ends,
        overflows: readings
            .first()
            .is_some_and(|reading| reading.is_nan() || reading.is_infinite()),
    })
}

/// Whether a small product of subnormal operands, or a subnormal c, is lost already where it is alone: then these are
/// flushed.
fn is_lost_alone(bench: &mut Bench<'_>, term: Term, exponent: i32) -> Result<bool> {
    let mut alone = bench.input(format!("2^{exponent} alone"));
    term.write(bench, &mut alone, false, exponent);
    let is_subnormal = match term {
        Term::Product(k) => bench.has_subnormals(&alone, k),
        Term::C => exponent < bench.maker.c.normal,
    };
    if !is_subnormal {
        return Ok(false);
    }
    Ok(!bench.ask_one(alone)?.is_power(false, exponent))
}

/// Whether each of three terms, where it is the small one, keeps just as many bits. Terms that meet in different steps do
/// not: of these one comes after the others have cancelled.
fn agree(bench: &mut Bench<'_>, terms: [Term; 3], anchor: i32, bits: i32) -> Result<bool> {
    let [x, y, z] = terms;
    let roles = [([x, y], z), ([x, z], y), ([y, z], x)];
    let mut inputs = Vec::new();
    for (large, small) in roles {
        for j in [bits, bits + 1] {
            if !small.reaches(bench, anchor - j) {
                return Ok(false);
            }
            inputs.extend(Roles { large, small }.inputs(bench, anchor, j));
        }
    }
    let readings = bench.ask(inputs)?;
    Ok(readings.chunks(4).all(|four| {
        is_exact(&four[..2], anchor - bits) && !is_exact(&four[2..], anchor - bits - 1)
    }))
}

/// Whether the third of three terms meets the first two in one step: each of these, where it is the small one, loses bits
/// beside the other two that it keeps alone. A term that came after the other two have cancelled would lose none of those.
fn meet(bench: &mut Bench<'_>, [x, y, z]: [Term; 3], anchor: i32) -> Result<bool> {
    for (large, small) in [([x, z], y), ([y, z], x)] {
        let Some(bits) = seen(bench, Roles { large, small }, anchor)?.finite() else {
            return Ok(false);
        };
        let lost = anchor - bits - 1;
        let mut alone = bench.input(format!("2^{lost} alone"));
        small.write(bench, &mut alone, false, lost);
        if !bench.ask_one(alone)?.is_power(false, lost) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn measure(bench: &mut Bench<'_>, order: &mut Order) -> Result<Bits> {
    let (low, high) = bench.maker.products();
    let mut anchor = (high - 1)
        .min(bench.maker.c.top - 2)
        .min(bench.maker.d.top - 2)
        .min(20.max(low));
    let products = of_products(bench, order, &mut anchor)?;
    let title = "bits kept of a small product beside a large c";
    let beside_c = with_c(bench, order, anchor, false, "bits-products-c", title)?;
    let title = "bits kept of a small c beside large products (F of c)";
    let c = with_c(bench, order, anchor, true, "bits-c", title)?;
    let bits = |seen: &Option<Seen>| seen.as_ref().and_then(Seen::finite);
    let of_sum = products.as_ref().or(beside_c.as_ref());
    Ok(Bits {
        products: bits(&products),
        surely: of_sum.and_then(|seen| seen.last).unwrap_or(0),
        flushes_operands: false,
        are_rounded: false,
        c: bits(&c),
        alignment: Vec::new(),
        anchor,
        width: bench.maker.bits,
    })
}

/// A small product beside large ones. Where an order is not known, three products are looked for that share a step: they
/// are the order's step from then on.
fn of_products(bench: &mut Bench<'_>, order: &mut Order, anchor: &mut i32) -> Result<Option<Seen>> {
    let name = "bits-products";
    let title = "bits kept of a small product beside large ones (F)";
    if !order.known {
        let mut beyond = None;
        for places in triples(bench.signature.k) {
            let terms = places.map(Term::Product);
            let found = seen_below(bench, terms, anchor)?;
            match found.finite() {
                Some(bits) if agree(bench, terms, *anchor, bits)? => {
                    order.step = places.to_vec();
                    order.together = true;
                    conclude(bench, name, title, &found);
                    return Ok(Some(found));
                }
                Some(_) => {}
                None => beyond = beyond.or(found.last),
            }
        }
        let text = match beyond {
            Some(far) => format!(
                "nothing is lost over {far} bits where the large terms cancel, but the terms may lie in different steps"
            ),
            None => "no three products were found that share a step".to_owned(),
        };
        bench.conclude(name, 4, title, "unknown", text);
        return Ok(None);
    }
    let places = match (&order.step[..], order.carried) {
        ([x, .., z], _) if order.step.len() > 2 => [*x, order.step[order.step.len() / 2], *z],
        // A sum of an earlier step stands in for the third product.
        (&[y, z], Some(x)) => [x, y, z],
        _ => {
            one_rounding(bench, name, title, order.step.len());
            return Ok(None);
        }
    };
    let terms = places.map(Term::Product);
    let found = seen_below(bench, terms, anchor)?;
    conclude_known(bench, name, title, terms, found)
}

/// Three products each: of everywhere, neighbours, and others at equal distances.
fn triples(k: usize) -> Vec<[usize; 3]> {
    let mut found = Vec::new();
    if k >= 3 {
        found.push([0, k / 2, k - 1]);
        let strides = std::iter::successors(Some(1), |stride| Some(stride * 2));
        found.extend(
            strides
                .take_while(|stride| 2 * stride < k)
                .map(|stride| [0, stride, 2 * stride]),
        );
    }
    found
}

/// The same with smaller terms where the large ones overflow by themselves, as products that are rounded may.
fn seen_below(bench: &mut Bench<'_>, terms: [Term; 3], anchor: &mut i32) -> Result<Seen> {
    let [x, y, z] = terms;
    let roles = Roles {
        large: [x, y],
        small: z,
    };
    let found = seen(bench, roles, *anchor)?;
    let low = bench.maker.products().0;
    if found.overflows && *anchor > low.max(0) {
        *anchor = low.max(0);
        return seen(bench, roles, *anchor);
    }
    Ok(found)
}

/// A small c beside large products, or a small product beside a large c.
fn with_c(
    bench: &mut Bench<'_>,
    order: &Order,
    anchor: i32,
    is_small: bool,
    name: &'static str,
    title: &str,
) -> Result<Option<Seen>> {
    if let Some(outside) = order.c_outside() {
        bench.conclude(name, 4, title, "not applicable", outside);
        return Ok(None);
    }
    let pairs = match order.known {
        true => vec![&order.with_c[..]],
        // Any two of the products that share a step may do, or the first two.
        false if order.step.len() > 1 => vec![&order.step[..], &order.step[..2], &[0, 1]],
        false => vec![&order.step[..]],
    };
    for places in pairs {
        let &[x, .., z] = places else {
            one_rounding(bench, name, title, places.len());
            return Ok(None);
        };
        let (x, z) = (Term::Product(x), Term::Product(z));
        let terms = if is_small {
            [x, z, Term::C]
        } else {
            [Term::C, x, z]
        };
        let roles = Roles {
            large: [terms[0], terms[1]],
            small: terms[2],
        };
        let found = seen(bench, roles, anchor)?;
        if order.known {
            if let (false, Some(bits)) = (is_small, found.finite())
                && stays_beside_c(bench, places, anchor, bits + 1)?
            {
                let more = bits + 1;
                let text = format!(
                    "the largest product limits them, not c: {bits} bits below it are kept, and {more} below a c whose exponent is one larger"
                );
                bench.conclude(name, 4, title, format!(">={more}"), text);
                return Ok(Some(found));
            }
            return conclude_known(bench, name, title, terms, found);
        }
        // A c may have other bits than products, so that the three need not agree.
        let is_shown = match found.finite() {
            Some(_) if is_small => meet(bench, terms, anchor)?,
            Some(bits) => agree(bench, terms, anchor, bits)?,
            None => false,
        };
        if is_shown {
            conclude(bench, name, title, &found);
            return Ok(Some(found));
        }
    }
    let text = "the terms may lie in different steps, or c has other bits than products";
    bench.conclude(name, 4, title, "unknown", text);
    Ok(None)
}

/// Whether a small product stays so many bits below c where c counts by an exponent that is one larger than the largest product's:
/// 2^e − 2^(e−1) − 2^(e−1), or where a step has one product beside the small one, 2^e − 1.75·2^(e−1), of which 2^(e−3) is left.
fn stays_beside_c(bench: &mut Bench<'_>, places: &[usize], anchor: i32, j: i32) -> Result<bool> {
    let (half, small) = (anchor - 1, anchor - j);
    let (x, y, z) = match *places {
        [x, y, .., z] => (x, Some(y), z),
        [x, z] => (x, None, z),
        _ => return Ok(false),
    };
    if !Term::Product(x).reaches(bench, half) || !Term::Product(z).reaches(bench, small) {
        return Ok(false);
    }
    let (minus, left) = match y {
        Some(_) => (format!("2^{half} - 2^{half}"), Dyadic::default()),
        None => (format!("1.75*2^{half}"), power(false, anchor - 3)),
    };
    let inputs = [false, true].map(|negative| {
        let sign = if negative { "-" } else { "" };
        let mut input = bench.input(format!("2^{anchor} - {minus}, {sign}2^{small}"));
        Term::C.write(bench, &mut input, false, anchor);
        match y {
            Some(y) => {
                bench.power(&mut input, x, true, half);
                bench.power(&mut input, y, true, half);
            }
            None => bench.normal_product(&mut input, x, one_and(true, half, 3, 2)),
        }
        bench.power(&mut input, z, negative, small);
        input
    });
    let readings = bench.ask(inputs.into())?;
    let wanted = [false, true].map(|negative| &left + &power(negative, small));
    Ok(readings.iter().map(Reading::number).eq(wanted.map(Some)))
}

fn one_rounding(bench: &mut Bench<'_>, name: &'static str, title: &str, products: usize) {
    let text = format!("steps take {products} products: what is kept is the result's format");
    bench.conclude(name, 4, title, "one rounding a step", text);
}

/// The conclusion where the terms are known to share a step. `None`: none can be drawn.
fn conclude_known(
    bench: &mut Bench<'_>,
    name: &'static str,
    title: &str,
    terms: [Term; 3],
    found: Seen,
) -> Result<Option<Seen>> {
    if found.finite().is_none()
        && let Some(far) = found.last
        && let Some(doubt) = doubt(bench, terms)?
    {
        let text =
            format!("nothing is lost over {far} bits where the large terms cancel, but {doubt}");
        bench.conclude(name, 4, title, "unknown", text);
        return Ok(None);
    }
    conclude(bench, name, title, &found);
    Ok(Some(found))
}

fn conclude(bench: &mut Bench<'_>, name: &'static str, title: &str, found: &Seen) {
    let (value, text) = match found.last {
        Some(far) if found.all => (
            format!(">={far}"),
            format!(
                "nothing is lost down to {far} bits below the largest, as far as the formats reach"
            ),
        ),
        Some(FARTHEST) => (
            format!(">={FARTHEST}"),
            format!("nothing is lost over {FARTHEST} bits"),
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
        None if found.overflows => (
            "unknown".to_owned(),
            "terms so large overflow by themselves".to_owned(),
        ),
        None => (
            "0".to_owned(),
            "not even the first bit below the largest survives".to_owned(),
        ),
    };
    bench.conclude(name, 4, title, value, text);
}

/// Why a small term that survives where large ones cancel need not have been beside them: beside a 1 it is lost within the
/// bits of results.
fn doubt(bench: &mut Bench<'_>, [large, .., small]: [Term; 3]) -> Result<Option<String>> {
    let mut inputs = Vec::new();
    let mut distances = Vec::new();
    for j in 1..=bench.maker.bits {
        if !small.reaches(bench, -j) || !bench.reaches(0) {
            break;
        }
        let mut input = bench.input(format!("1, 2^-{j}"));
        large.write(bench, &mut input, false, 0);
        small.write(bench, &mut input, false, -j);
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
pub(super) fn products(bench: &mut Bench<'_>, order: &Order, bits: &mut Bits) -> Result<()> {
    let fraction = |format: &crate::format::Format| format.float().map_or(0, |f| f.fraction_bits);
    let (m_a, m_b) = (fraction(&bench.signature.a), fraction(&bench.signature.b));
    let (x, y) = (order.step[0], order.step[order.step.len() - 1]);
    let title = "products exact or rounded";
    if m_a == 0 || m_b == 0 || x == y {
        // One product a step: c cancels the leading part.
        exact_beside_c(bench, order, m_a, m_b, title)?;
    } else {
        let is_exact = |bench: &mut Bench<'_>, x: usize, y: usize| -> Result<bool> {
            // (1 + u)(1 + v) − (1 + u) is v + u·v, whose last part a rounded product lacks.
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
            Ok(reading.number() == Some(&power(false, -(m_b as i32)) + &small))
        };
        let last = (m_a + m_b) as i32;
        // Where the order is not known, one of the two may come a step before the other, as a result.
        let (value, text) = if is_exact(bench, x, y)? || !order.known && is_exact(bench, y, x)? {
            ("exact", "the last bit of a product reaches the sum")
        } else if bits.surely >= last || order.known && stays(bench, x, y, last)? {
            bits.are_rounded = true;
            (
                "rounded",
                "the last bit of a product does not reach the sum",
            )
        } else {
            (
                "unknown",
                "the last bit of a product may lie below the bits that are kept",
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

/// Whether 1 + 2^-distance comes out whole, as two products.
fn stays(bench: &mut Bench<'_>, x: usize, y: usize, distance: i32) -> Result<bool> {
    if !bench.reaches(-distance) {
        return Ok(false);
    }
    let mut input = bench.input(format!("1 + 2^-{distance}"));
    bench.power(&mut input, x, false, 0);
    bench.power(&mut input, y, false, -distance);
    let reading = bench.ask_one(input)?;
    Ok(reading.number() == Some(&power(false, 0) + &power(false, -distance)))
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
    // Where one of the two is the result of an earlier step, that overflows: then the other one must be in range.
    let mut pairs = vec![[(x, false, top), (y, true, top)]];
    pairs.extend([[x, y], [y, x]].map(|[x, y]| [(x, true, top - 1), (y, false, top)]));
    let (mut overflows, mut is_sum) = (true, false);
    for pair in pairs {
        let mut input = bench.input(format!("2^{top} - 2^{}", pair[0].2.min(pair[1].2)));
        for (k, negative, exponent) in pair {
            bench.power(&mut input, k, negative, exponent);
        }
        let reading = bench.ask_one(input)?;
        if reading.is_nan() || reading.is_infinite() {
            continue;
        }
        overflows = false;
        let [one, other] = pair.map(|(_, negative, exponent)| power(negative, exponent));
        let sum = &one + &other;
        is_sum = reading.number() == Some(sum.clone()) || sum.is_zero() && reading.is_zero();
        if is_sum {
            break;
        }
    }
    let (value, text) = match overflows {
        false if is_sum => ("none", "only sums are limited".to_owned()),
        false => (
            "unknown",
            "the result is neither the sum nor ∞ or NaN".to_owned(),
        ),
        true if order.together => (
            "overflows",
            format!("a product of 2^{top} is ∞ before it is added"),
        ),
        true => (
            "unknown",
            format!("2^{top} is ∞ as a product or as the result of a step: the order is not known"),
        ),
    };
    bench.conclude("product-overflow", 2, title, value, text);
    Ok(())
}
