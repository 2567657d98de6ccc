//! Measures how many products share a step, the order of the steps, and where c enters (§1.3).

use super::bench::{Bench, one_and, two};
use crate::error::Result;
use crate::reveal::{DeviceSum, Nature, RevealOptions, Revelation, reveal};
use crate::stand_in::StandIn;
use crate::tree::{Op, Tree};

/// The order as later tests use it.
pub(super) struct Order {
    /// Products of the first step that c shares, if masks show it; else the first products.
    pub(super) with_c: Vec<usize>,
    /// Products of one step, the largest set.
    pub(super) step: Vec<usize>,
    /// Products that are summed last.
    pub(super) last: Vec<usize>,
    /// Whether c is a term of a step with products, or that is not known.
    fused: bool,
    /// Whether c is a term of the step `with_c`, fused or not.
    pub(super) shares_c: bool,
    /// Whether c takes part at all.
    pub(super) has_c: bool,
    /// Whether c is added last, to a sum of all products.
    pub(super) c_last: bool,
    /// Two terms that meet in the step `with_c`, and in the last one.
    pub(super) first_ends: Option<Ends>,
    pub(super) last_ends: Option<Ends>,
    /// Fraction bits of what goes from the first step to the last one, where results have fewer.
    pub(super) between: Option<i32>,
    /// A product that meets c in c's own step, by itself or in a sum.
    pub(super) beside_c: Option<usize>,
    /// A product whose sum with others, or c, is a term of the step `step` too.
    pub(super) carried: Option<usize>,
    /// Whether masks show the steps; what stands here is a guess otherwise.
    pub(super) known: bool,
    /// Whether the products of `step` surely share a step, as masks or what the alignment keeps show.
    pub(super) together: bool,
}

/// Two terms of which nothing is rounded together before a step.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    /// A product, or c.
    pub(super) large: Option<usize>,
    pub(super) small: usize,
    /// Whether only the step's result is rounded: an addition of two, or a fused multiply-add.
    pub(super) add: bool,
    /// Whether c reaches the step on another way than the small one.
    pub(super) c_beside: bool,
}

/// What masks show of a device.
pub(super) enum Found {
    /// The order of its products.
    Order(Order),
    /// Only the products of a stand-in have an order.
    StandIn(StandIn),
}

pub(super) fn measure(bench: &mut Bench<'_>) -> Result<Found> {
    let options = RevealOptions {
        trials: 50,
        ..RevealOptions::default()
    };
    let mut subject = DeviceSum::new(bench.device)?;
    let report = reveal(&mut subject, &options);
    if subject.subtracts() {
        // The tests read signs: what they would conclude of such a device would be wrong.
        let name = bench.device.name();
        return Err(crate::Error::Argument(format!(
            "{name}: it subtracts its products or c; probe takes devices that add both. A device that changes the \
             signs of a or c, or the form of the instruction that adds, can be probed; infer takes this one"
        )));
    }
    match subject.stand_in() {
        Some(stand_in) => Ok(Found::StandIn(stand_in)),
        None => of_products(bench, report).map(Found::Order),
    }
}

fn of_products(bench: &mut Bench<'_>, report: Result<Revelation>) -> Result<Order> {
    let k = bench.signature.k;
    let unknown = Order {
        with_c: (0..k).collect(),
        step: (0..k).collect(),
        last: vec![k - 1],
        fused: true,
        shares_c: true,
        has_c: true,
        c_last: false,
        first_ends: ends_of(&(0..k).collect::<Vec<_>>(), true, false),
        last_ends: ends_of(&[k - 1], true, false),
        between: None,
        beside_c: None,
        carried: None,
        known: false,
        together: false,
    };
    let report = match report {
        Ok(report) => report,
        Err(error @ crate::Error::Device { .. }) => return Err(error),
        Err(error) => {
            bench.conclude(
                "order",
                3,
                "order of the sum",
                "unknown",
                format!("masks do not work: {error}"),
            );
            return Ok(unknown);
        }
    };
    bench.queries += report.all_measurements;
    if report.nature != Nature::Tree {
        let text = format!("{}: {}", report.nature.name(), report.nature.reason());
        bench.conclude("order", 3, "order of the sum", report.nature.name(), text);
        block_size(bench, &unknown)?;
        return Ok(unknown);
    }
    let tree = &report.tree;
    let mut order = of_tree(tree, k);
    let value = if tree.leaves() <= 40 {
        tree.to_string()
    } else {
        tree.pattern()
    };
    bench.conclude(
        "order",
        3,
        "order of the sum",
        value,
        format!("{} ({})", tree.pattern(), report.verdict()),
    );
    let resolved = report.unresolved.is_empty();
    order.known = resolved;
    order.together = resolved;
    let text = if resolved {
        format!("at most {} products share a step", order.step.len())
    } else {
        "the formats do not span masks and units: not resolved".to_owned()
    };
    let value = if resolved {
        order.step.len().to_string()
    } else {
        "unresolved".to_owned()
    };
    bench.conclude(
        "products-per-step",
        3,
        "products fused in a step (L)",
        value,
        text,
    );
    let (value, text) = place_of_c(tree, k, resolved);
    bench.conclude("c", 3, "where c enters", value, text);
    between(bench, &mut order)?;
    block_size(bench, &order)?;
    Ok(order)
}

/// Measures the fraction bits of a partial sum: 1 + 2^-j in the first step, -1 in the last one.
fn between(bench: &mut Bench<'_>, order: &mut Order) -> Result<()> {
    let bits = bench.maker.bits;
    let last = order.place_to_cancel();
    let [one, .., small] = order.with_c[..] else {
        return Ok(());
    };
    if last.is_some_and(|last| order.with_c.contains(&last)) {
        return Ok(());
    }
    let lowest = bench.maker.d.lowest;
    let distances: Vec<i32> = (1..=60)
        .take_while(|j| -j >= lowest && bench.reaches(-j))
        .collect();
    let mut inputs = Vec::new();
    for j in &distances {
        let mut input = bench.input(format!("1 + 2^-{j} in the first step, -1 in the last"));
        bench.power(&mut input, one, false, 0);
        bench.power(&mut input, small, false, -j);
        match last {
            Some(last) => bench.power(&mut input, last, true, 0),
            None => bench.c(&mut input, two(true, 0)),
        }
        inputs.push(input);
    }
    let readings = bench.ask(inputs)?;
    let exact = |(reading, j): &(&super::bench::Reading, &i32)| reading.is_power(false, -**j);
    let widest = readings.iter().zip(&distances).take_while(exact).last();
    let widest = widest.map_or(0, |(_, j)| *j);
    let (value, text) = if distances.last().is_none_or(|far| *far == widest) {
        (
            format!(">={widest}"),
            "as many as the formats show".to_owned(),
        )
    } else {
        let more = widest - bits;
        (
            widest.to_string(),
            format!("{more} more than results have (the alignment may keep no more)"),
        )
    };
    let title = "fraction bits of sums between steps";
    bench.conclude("width-between", 10, title, value, text);
    order.between = (widest > bits).then_some(widest);
    Ok(())
}

impl Order {
    /// Where c is when no step aligns it with products; `None` where one does, or may.
    pub(super) fn c_outside(&self) -> Option<&'static str> {
        if !self.known || self.shares_c || self.has_c && self.fused {
            return None;
        }
        Some(match (self.has_c, self.c_last) {
            (false, _) => "c takes no part",
            (_, true) => "c is added last, to the rounded sum of the products",
            (_, false) => "c is added to a rounded sum of products",
        })
    }

    /// A term that is added in the last step only: a product, or c.
    pub(super) fn place_to_cancel(&self) -> Option<usize> {
        (!self.c_last).then(|| self.last[0])
    }
}

/// Ends of a step that has these products, and perhaps c.
fn ends_of(step: &[usize], c: bool, add: bool) -> Option<Ends> {
    let (large, small) = match step {
        [large, .., small] => (Some(*large), *small),
        [small] if c => (None, *small),
        _ => return None,
    };
    Some(Ends {
        large,
        small,
        add,
        c_beside: c,
    })
}

/// Ends of the last step, whose terms may be sums.
fn ends_of_root(tree: &Tree, k: usize) -> Option<Ends> {
    let root = tree.nodes().last()?;
    // For each term: the products in it, and whether it is a product itself.
    let terms: Vec<Vec<usize>> = root
        .children
        .iter()
        .map(|&child| tree.leaves_below(child))
        .collect();
    let product = |term: &Vec<usize>| term.iter().copied().rfind(|&leaf| leaf < k);
    let single = |term: &Vec<usize>| term.len() == 1 && term[0] < k;
    let at = terms
        .iter()
        .rposition(single)
        .or_else(|| {
            terms
                .iter()
                .rposition(|term| product(term).is_some() && !term.contains(&k))
        })
        .or_else(|| terms.iter().rposition(|term| product(term).is_some()))?;
    let small = product(&terms[at])?;
    let others = || terms.iter().enumerate().filter(|(other, _)| *other != at);
    let c_beside = others().any(|(_, term)| term.contains(&k));
    let large = match others().find(|(_, term)| single(term)) {
        Some((_, term)) => Some(term[0]),
        None if c_beside => None,
        None => Some(others().find_map(|(_, term)| product(term))?),
    };
    Some(Ends {
        large,
        small,
        add: is_rounded_once(root.op),
        c_beside,
    })
}

/// Whether a step of two terms rounds its result only, and aligns nothing.
fn is_rounded_once(op: Op) -> bool {
    matches!(op, Op::Add | Op::Fma)
}

fn of_tree(tree: &Tree, k: usize) -> Order {
    let products = |children: &[usize]| -> Vec<usize> {
        children
            .iter()
            .copied()
            .filter(|&child| child < k)
            .collect()
    };
    let nodes = tree.nodes();
    let step = nodes
        .iter()
        .map(|node| products(&node.children))
        .max_by_key(Vec::len)
        .filter(|step| !step.is_empty())
        .unwrap_or_else(|| (0..k).collect());
    let carried = nodes.iter().find_map(|node| {
        let is_fused = node.op == Op::Fused && products(&node.children) == step;
        let sums = node.children.iter().filter(|&&child| child > k);
        let mut before = sums.flat_map(|&child| tree.leaves_below(child));
        before.find(|&leaf| is_fused && leaf < k)
    });
    let of_c = nodes.iter().find(|node| node.children.contains(&k));
    let shared = of_c
        .map(|node| products(&node.children))
        .filter(|products| !products.is_empty());
    let beside_c = of_c.and_then(|node| {
        let terms = node.children.iter().filter(|&&child| child != k);
        let mut products = terms.flat_map(|&term| tree.leaves_below(term));
        products.find(|&leaf| leaf < k)
    });
    let shares_c = shared.is_some();
    let with_c = shared.unwrap_or_else(|| step.clone());
    let add = nodes
        .iter()
        .any(|node| is_rounded_once(node.op) && with_c.iter().all(|x| node.children.contains(x)));
    let c_last = nodes
        .last()
        .is_some_and(|root| root.children.contains(&k) && products(&root.children).is_empty());
    let last = nodes
        .last()
        .map(|root| products(&root.children))
        .filter(|products| !products.is_empty())
        .unwrap_or_else(|| vec![k - 1]);
    let fused = nodes.iter().any(|node| {
        let fused = matches!(node.op, Op::Fused | Op::Exact | Op::Unresolved | Op::Fma);
        fused && node.children.contains(&k) && node.children.len() > 1
    });
    Order {
        shares_c,
        has_c: of_c.is_some(),
        c_last,
        first_ends: ends_of(&with_c, shares_c, add),
        last_ends: ends_of_root(tree, k),
        with_c,
        step,
        last,
        fused,
        between: None,
        beside_c,
        carried,
        known: true,
        together: true,
    }
}

fn place_of_c(tree: &Tree, k: usize, resolved: bool) -> (&'static str, String) {
    if !resolved {
        return ("unresolved", "masks do not show it".to_owned());
    }
    let Some(at) = tree
        .nodes()
        .iter()
        .position(|node| node.children.contains(&k))
    else {
        return ("absent", "c takes no part".to_owned());
    };
    let node = &tree.nodes()[at];
    let products = node.children.iter().filter(|&&child| child < k).count();
    let is_root = at + 1 == tree.nodes().len();
    let sums = node.children.len() - 1 - products;
    match (products, node.op) {
        (0, Op::Fused | Op::Exact) if sums > 1 => (
            "fused",
            format!("c is one term of a sum of {sums} sums of products"),
        ),
        (0, _) if is_root => ("last", "c is added last, by itself".to_owned()),
        (0, _) => ("added", "c is added by itself to a partial sum".to_owned()),
        (_, Op::Add) => ("first", "c is added to the first product".to_owned()),
        (_, Op::Fma) => (
            "first",
            "c starts the chain of fused multiply-adds".to_owned(),
        ),
        (count, _) => (
            "fused",
            format!("c is one term of the sum of {count} products"),
        ),
    }
}

/// The block size of FTTN: 1 + u as c, 1 at the first product and u at another are 2 + 2u in one
/// step, and 2 (or 2 + 2u by rounding up) in two.
fn block_size(bench: &mut Bench<'_>, order: &Order) -> Result<()> {
    let bits = bench.maker.bits;
    let c_bits = bench.signature.c.float().map_or(0, |f| f.fraction_bits) as i32;
    let title = "products that share a step with the first one (FTTN)";
    let first = order.with_c[0];
    if c_bits < bits || !bench.reaches(-bits) || !bench.reaches(0) {
        bench.conclude(
            "block",
            3,
            title,
            "not reachable",
            "u cannot be formed as a product",
        );
        return Ok(());
    }
    let others: Vec<usize> = (0..bench.signature.k).filter(|&k| k != first).collect();
    let mut inputs = Vec::new();
    for &k in &others {
        let mut input = bench.input(format!("c = 1 + 2^-{bits}, p{first} = 1, p{k} = 2^-{bits}"));
        bench.c(&mut input, one_and(false, 0, 1, bits as u32));
        bench.power(&mut input, first, false, 0);
        bench.power(&mut input, k, false, -bits);
        inputs.push(input);
    }
    let mut reference = bench.input(format!("c = 1 + 2^-{bits}, p{first} = 1"));
    bench.c(&mut reference, one_and(false, 0, 1, bits as u32));
    bench.power(&mut reference, first, false, 0);
    inputs.push(reference);
    let mut readings = bench.ask(inputs)?;
    let alone = readings.pop();
    let exact = super::bench::power(false, 1);
    let exact = &exact + &super::bench::power(false, 1 - bits);
    let together: Vec<usize> = others
        .iter()
        .zip(&readings)
        .filter(|(_, reading)| reading.number().as_ref() == Some(&exact))
        .map(|(&k, _)| k)
        .collect();
    if alone.is_some_and(|alone| alone.number().as_ref() == Some(&exact)) {
        bench.conclude(
            "block",
            3,
            title,
            "hidden",
            "1 + (1 + u) rounds up by itself here",
        );
        return Ok(());
    }
    if order.between.is_some() {
        bench.conclude(
            "block",
            3,
            title,
            "hidden",
            "sums between steps have more bits than results: a unit of results stays in any step",
        );
        return Ok(());
    }
    if !order.fused {
        bench.conclude(
            "block",
            3,
            title,
            "not applicable",
            "c and products are not summed in one step",
        );
        return Ok(());
    }
    let count = together.len() + 1;
    let (value, text) = if !order.known {
        (
            "unknown".to_owned(),
            format!("{count} products let a unit through, in an order that is not known"),
        )
    } else if count < order.with_c.len() {
        (
            "hidden".to_owned(),
            "a unit of results is lost in the step itself".to_owned(),
        )
    } else {
        (
            count.to_string(),
            format!(
                "{count} products: a unit in another product reaches the result only in the same step"
            ),
        )
    };
    bench.conclude("block", 3, title, value, text);
    Ok(())
}
