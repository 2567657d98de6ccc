//! Lists the starting points of the search: rows of the catalogue, then programs in the order that masks show, then the
//! usual orders with every kind of step. Before masks are asked: rows, and chains in k's own order.

use super::order::{Order, order, order_of_changes};
use super::run::Run;
use super::shapes::{self, Place, Step};
use super::{canonical_form, grouped, rewriting, rounded_steps, widths};
use crate::dpa::{
    Codes, Dpa, FlushSign, FmaChain, FtzAddMul, Fused, Groups, GstFdpa, GtrFdpa, Operation, Output,
    Program, Reading, Select, Signature, Source, Start, Statement, Unit,
};
use crate::error::Result;
use crate::format::Rounding;
use crate::isa::Catalogue;
use crate::tree::Tree;

/// A row of the catalogue with the signature asked for.
pub(crate) struct Row {
    /// Architecture and instruction.
    pub(crate) names: Vec<String>,
    pub(crate) unit: Unit,
}

/// The different units of that signature, each with all its rows.
pub(crate) fn rows(catalogue: Option<&Catalogue>, signature: &Signature) -> Vec<Row> {
    let mut found: Vec<Row> = Vec::new();
    let Some(catalogue) = catalogue else {
        return found;
    };
    for row in catalogue.instructions() {
        if row.signature != *signature {
            continue;
        }
        let Ok(unit) = row.unit() else { continue };
        let name = format!("{}:{}", row.architecture, row.name);
        match found.iter_mut().find(|known| known.unit == *unit) {
            Some(known) => known.names.push(name),
            None => found.push(Row {
                names: vec![name],
                unit: unit.clone(),
            }),
        }
    }
    found
}

/// Whether an operand is too wide for anything but FMA chains.
pub(crate) fn is_wide(signature: &Signature) -> bool {
    let Signature { a, b, c, d, .. } = signature;
    [a, b, c, d].iter().any(|format| format.bits > 32)
}

/// The kinds of steps with which a shape is begun.
fn steps(signature: &Signature) -> Vec<Step> {
    let plain = Fused::plain(1, Some(24));
    // Products first, then c: two sums in one step.
    let late = Fused {
        groups: Some(Groups {
            f: Some(24),
            ..Groups::exact(1)
        }),
        ..Fused::plain(1, Some(28))
    };
    let floored = Fused {
        f: Some(32),
        f_c: Some(24),
        e0: Some(signature.d.float().map_or(-126, |float| float.emin())),
        align: Rounding::Rd,
        align_c: Rounding::Rd,
        f2: Some(31),
        ..late
    };
    let mut steps = vec![Step::Fused(plain)];
    if signature.scale.is_none() {
        steps.push(Step::Fused(Fused::plain(1, None)));
        steps.push(Step::Rounded);
    }
    steps.push(Step::Fused(late));
    steps.push(Step::Fused(floored));
    steps
}

/// Programs to begin with before any order is asked for: rows, and chains of steps in k's own order, which most units are.
pub(crate) fn in_order_of_k(signature: &Signature, rows: &[Row]) -> [Vec<Program>; 2] {
    let order: Vec<usize> = (0..signature.k).collect();
    let chained = |step: Step, place: Place| {
        let sizes = sizes(signature.k).into_iter();
        let chained =
            sizes.filter_map(|size| shapes::chained(signature, step, &order, size, place));
        chained.collect::<Vec<_>>()
    };
    let steps = steps(signature);
    let near = rows
        .iter()
        .map(|row| canonical_form::general(row.unit.program(), false));
    let mut first: Vec<Program> = near.collect();
    first.extend(chained(steps[0], Place::First));
    first.extend(named(signature));
    let mut others = Vec::new();
    for &step in &steps[1..] {
        others.extend(chained(step, Place::First));
    }
    for &step in &steps {
        others.extend(chained(step, Place::Last));
    }
    [first, others]
}

/// Programs to begin with, the more likely lists first.
pub(crate) fn starts(run: &mut Run<'_>, rows: &[Row]) -> Result<Vec<Vec<Program>>> {
    let signature = run.signature;
    let k = signature.k;
    let wide = is_wide(&signature);
    let mut lists: Vec<Vec<Program>> = Vec::new();
    let near = rows
        .iter()
        .map(|row| canonical_form::general(row.unit.program(), wide));
    let near: Vec<Program> = near.chain(named(&signature)).collect();
    if wide {
        let usual = near.into_iter().chain(chains(&signature)).collect();
        return Ok(vec![usual, rounded(run)?]);
    }
    let mut seen = Vec::new();
    let mut kept_wide = Vec::new();
    let order = order(run)?;
    let changed = order_of_changes(run, &order)?;
    let shown = match &order {
        Order::Tree(tree) => Some(tree),
        Order::Unknown | Order::NoMasks => None,
    };
    for tree in shown.into_iter().chain(&changed) {
        let mut forms = grouped::of_tree(tree, &signature);
        forms.extend(rounded_steps::of_tree(tree, &signature));
        forms.extend(rounded_steps::added(tree, &signature));
        for step in steps(&signature) {
            for apart in [false, true] {
                if let Some(program) = shapes::of_tree(tree, &signature, step, apart) {
                    forms.extend(grouped::continued(&program));
                    forms.extend(grouped::gathered(&program));
                    forms.extend(shapes::apart(&program, &signature));
                    forms.push(program);
                }
            }
        }
        for program in forms {
            if seen.contains(&program) {
                continue;
            }
            seen.extend(grouped::absorbed(&program));
            seen.extend(shapes::c_added(&program, k));
            seen.extend(shapes::begun_singly(&program));
            seen.extend(widths::widened(&program, &signature));
            seen.extend(widths::narrow_between(&program, &signature));
            kept_wide.extend(widths::wider_than_f32(&program, &signature));
            seen.push(program);
        }
    }
    seen.extend(near);
    lists.push(seen);
    if matches!(order, Order::NoMasks) {
        lists.push(narrow(&signature));
    }
    let order: Vec<usize> = (0..k).collect();
    for step in [Step::Rounded, Step::Chain(Start::Zero)] {
        for place in [Place::First, Place::Last] {
            let program = shapes::chained(&signature, step, &order, 1, place);
            let programs = program.map(|it| widths::wider_than_f32(&it, &signature));
            kept_wide.extend(programs.into_iter().flatten());
        }
    }
    let mut usual = Vec::new();
    for step in steps(&signature) {
        for size in sizes(k) {
            for place in Place::ALL {
                if let Some(program) = shapes::chained(&signature, step, &order, size, place) {
                    usual.extend(widths::widened(&program, &signature));
                    usual.push(program);
                }
            }
            usual.extend(shapes::added(&signature, step, &order, size));
        }
    }
    let apart = separate(&signature, &steps(&signature)[..3]);
    let wide = apart
        .iter()
        .flat_map(|program| widths::widened(program, &signature));
    let wide: Vec<Program> = wide.collect();
    usual.extend(apart);
    lists.push(usual);
    let mut odd = Vec::new();
    for step in steps(&signature).into_iter().take(3) {
        for order in shapes::orders(k).into_iter().skip(1) {
            for size in sizes(k).into_iter().filter(|&size| size < k) {
                for place in [Place::First, Place::Last] {
                    odd.extend(shapes::chained(&signature, step, &order, size, place));
                }
            }
        }
    }
    lists.push(odd);
    let mut shown = Vec::new();
    if let Some(products) = run.shown_products()? {
        // List by list: the order that masks show comes before what is usual, as it does with exact products.
        let apply = |program: &Program| products.apply(program, &signature);
        shown.extend(
            lists
                .iter()
                .map(|list| list.iter().filter_map(apply).collect()),
        );
    }
    lists.push(wide);
    lists.push(kept_wide);
    shown.extend(lists);
    Ok(shown)
}

/// Chains of steps with few bits between them: what masks cannot pass, since their large terms overflow there.
fn narrow(signature: &Signature) -> Vec<Program> {
    let order: Vec<usize> = (0..signature.k).collect();
    let plain = Step::Fused(Fused::plain(1, Some(24)));
    let chained = |size| shapes::chained(signature, plain, &order, size, Place::First);
    sizes(signature.k)
        .into_iter()
        .filter(|&size| size < signature.k)
        .filter_map(chained)
        .flat_map(|program| widths::narrow_between(&program, signature))
        .collect()
}

/// Rounded sums of every shape: what there is for wide formats beside chains.
fn rounded(run: &mut Run<'_>) -> Result<Vec<Program>> {
    let signature = run.signature;
    let tree = match order(run)? {
        Order::Tree(tree) => Some(tree),
        Order::Unknown | Order::NoMasks => None,
    };
    let steps = [
        Step::Rounded,
        Step::Chain(Start::Product),
        Step::Chain(Start::Zero),
    ];
    let mut found = Vec::new();
    for step in steps {
        let of_tree = |tree: &Tree| shapes::of_tree(tree, &signature, step, true);
        found.extend(tree.as_ref().and_then(of_tree));
        let sizes = match step {
            Step::Rounded => sizes(signature.k),
            _ => vec![1],
        };
        for order in shapes::orders(signature.k) {
            for place in [Place::First, Place::Last, Place::Absent] {
                let of = |&size: &usize| shapes::chained(&signature, step, &order, size, place);
                found.extend(sizes.iter().filter_map(of));
            }
        }
    }
    found.extend(separate(&signature, &steps));
    let otherwise = found.iter();
    let otherwise =
        otherwise.filter_map(|program| rewriting::begun_otherwise(program, signature.k));
    let otherwise: Vec<Program> = otherwise.collect();
    found.extend(otherwise);
    Ok(found)
}

/// Several accumulators that are added at the end: masks do not show them where the additions round in
/// one direction.
fn separate(signature: &Signature, steps: &[Step]) -> Vec<Program> {
    let k = signature.k;
    let mut found = Vec::new();
    for count in (2..=k.min(16)).filter(|count| k.is_multiple_of(*count)) {
        for parts in shapes::partitions(k, count) {
            for size in sizes(k / count).into_iter().take(4) {
                for &step in steps {
                    for place in [Place::First, Place::Last] {
                        for pairwise in [true, false] {
                            found.extend(shapes::joined(
                                signature, step, &parts, size, place, pairwise,
                            ));
                        }
                    }
                }
            }
        }
    }
    found
}

/// Block sizes: divisors of K, the largest first.
pub(super) fn sizes(k: usize) -> Vec<usize> {
    (1..=k.min(256))
        .rev()
        .filter(|size| k.is_multiple_of(*size))
        .collect()
}

fn dot(signature: &Signature, algorithm: Dpa, step: Step) -> Program {
    Program {
        codes: Codes::Special,
        statements: vec![Statement {
            name: "d".to_owned(),
            operation: Operation::Dot {
                algorithm,
                operands: Reading::WHOLE,
                over: Select::All,
                from: Start::C,
            },
            output: shapes::output(signature, step),
        }],
    }
}

/// The named algorithms that the steps of the model space cannot stand for.
fn named(signature: &Signature) -> Vec<Program> {
    let k = signature.k as u32;
    let fused = Step::Fused(Fused::plain(1, None));
    let mut found = Vec::new();
    let mut sizes: Vec<u32> = (0..=8)
        .map(|log| 1 << log)
        .filter(|size| *size <= k)
        .collect();
    sizes.reverse();
    if let Some(scale) = signature.scale {
        for l in sizes.iter().copied().chain([k]) {
            for g in [16, 32, 8, 4, 2, 1] {
                if scale.block.is_multiple_of(g as usize) && l.is_multiple_of(g) {
                    let gst = GstFdpa {
                        l,
                        g,
                        f: 35,
                        e0: -139,
                        align: Rounding::Rz,
                    };
                    found.push(dot(signature, gst.into(), fused));
                }
            }
        }
        return found;
    }
    for &l in &sizes {
        let (f, f2) = (24, 31);
        found.push(dot(signature, GtrFdpa { l, f, f2 }.into(), fused));
        let ftz = FtzAddMul {
            p: l,
            flush_in: FlushSign::Plus,
            flush_out: FlushSign::Kept,
        };
        found.push(dot(signature, ftz.into(), Step::Rounded));
    }
    found
}

/// FMA chains for wide formats: both directions, and c first, last or nowhere.
fn chains(signature: &Signature) -> Vec<Program> {
    let output: Output = shapes::output(signature, Step::Rounded);
    let k = signature.k;
    let chain = |over: Select, from: Start| Operation::Dot {
        algorithm: FmaChain.into(),
        operands: Reading::WHOLE,
        over,
        from,
    };
    let statement = |name: &str, operation: Operation| Statement {
        name: name.to_owned(),
        operation,
        output,
    };
    let mut found = Vec::new();
    for order in shapes::orders(k) {
        let over = || {
            if order.iter().copied().eq(0..k) {
                Select::All
            } else {
                Select::List(order.clone())
            }
        };
        for from in [Start::C, Start::Zero] {
            found.push(Program {
                codes: Codes::Special,
                statements: vec![statement("d", chain(over(), from))],
            });
        }
        for from in [Start::Product, Start::Zero] {
            found.push(Program {
                codes: Codes::Special,
                statements: vec![
                    statement("t", chain(over(), from)),
                    statement("d", Operation::Add(Source::C, Source::Statement(0))),
                ],
            });
        }
    }
    found
}
