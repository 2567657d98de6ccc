//! Verifies a tree: replays it against its subject on random data.

use super::meter::Meter;
use super::naming::name_nature;
use super::random::Random;
use super::replay::{FUSED_BITS, Outcome, Way, cancelling_input, modelled, replay, truncating};
use super::report::{Nature, Revelation};
use super::types;
use crate::error::Result;
use crate::format::Rounding;
use crate::tree::{Op, Term, Tree};

/// Finds node types, replays the tree, and names what it cannot be.
pub(super) fn verify(
    meter: &mut Meter<'_>,
    report: &mut Revelation,
    trials: usize,
    random: &mut Random,
) -> Result<()> {
    if report.nature != Nature::Tree {
        name_nature(meter, report, random)?;
        return Ok(());
    }
    report.tree = types::find(meter, &report.tree)?;
    let nodes = |op| report.tree.nodes().iter().any(|node| node.op == op);
    let (has_unresolved, has_fused) = (nodes(Op::Unresolved), nodes(Op::Fused));
    let ways = match has_unresolved {
        true => Vec::new(),
        false => truncating(report)?,
    };
    let mut outcome = replay(meter, ways, trials, random)?;
    let stands = |outcome: &Outcome| outcome.failures.is_empty();
    // A sum whose bits the trials do not tell apart is less well known than a model's.
    let is_certain = |it: &Outcome| stands(it) && it.most_bits == it.way.bits();
    if (has_unresolved || has_fused) && !outcome.as_ref().is_some_and(is_certain) {
        // A tree of one node is the whole instruction: its model would be compared with itself.
        let known = meter.subject.fused_format();
        let known = known.filter(|_| report.tree.nodes().len() > 1);
        let by_model = match known {
            Some(format) => replay(meter, modelled(report, format)?, trials, random)?,
            None => None,
        };
        match by_model {
            Some(by_model) if stands(&by_model) || !has_unresolved => outcome = Some(by_model),
            _ if outcome.as_ref().is_some_and(stands) => {}
            _ => {
                report.verified.arithmetic = why_not_replayed(has_unresolved);
                name_nature(meter, report, random)?;
                return Ok(());
            }
        }
    }
    let Some(Outcome {
        mut way,
        ways,
        most_bits,
        failures,
    }) = outcome
    else {
        return Ok(());
    };
    if trials > 0 && failures.is_empty() && is_exact(&way.tree) {
        let Some(left) = cancelling(meter, report, ways, random)? else {
            report.nature = Nature::Compensated(
                "sums are the exact ones, rounded once, but for some in which large terms cancel: errors are carried along and \
                 added back"
                    .to_owned(),
            );
            return Ok(());
        };
        way = left;
    }
    report.verified.trials = trials;
    report.verified.mismatches = failures.len();
    report.verified.arithmetic = describe(&way, most_bits);
    report.verified.chosen = Some(way.arithmetic);
    if !has_unresolved {
        report.tree = Tree::clone(&way.tree);
    }
    if let Some(failure) = failures.into_iter().next() {
        let smallest = shrink(meter, &way, failure)?;
        report.verified.counter_example = Some(words(meter, report, &way, &smallest)?);
        name_nature(meter, report, random)?;
        if report.nature == Nature::Tree {
            let what = if way.by_model {
                "every fused node is one instruction of the model, every other node"
            } else {
                "every node"
            };
            report.notes.push(format!(
                "the assumption that failed: {what} is one IEEE operation of the format shown, in an \
                 order that does not depend on the values"
            ));
        }
    } else if is_exact(&report.tree) {
        report
            .notes
            .push("order-independent: every sum is exact before its one rounding".to_owned());
    }
    Ok(())
}

/// Whether the tree is one exact sum of more than two terms.
fn is_exact(tree: &Tree) -> bool {
    let leaves = tree.leaves();
    let root = tree.nodes().last();
    root.is_some_and(|root| root.op == Op::Exact && root.children.len() == leaves && leaves > 2)
}

/// Inputs with large terms that cancel, on which an exact sum is compared.
const CANCELLING: usize = 100;

/// The first way that agrees on sums in which large terms cancel; `None` where none does.
fn cancelling(
    meter: &mut Meter<'_>,
    report: &Revelation,
    mut ways: Vec<Way>,
    random: &mut Random,
) -> Result<Option<Way>> {
    for _ in 0..CANCELLING {
        let input = cancelling_input(meter, report, random);
        let result = meter.evaluate(std::slice::from_ref(&input))?[0];
        ways.retain(|way| way.agrees(meter, &input, result));
    }
    Ok(ways.into_iter().next())
}

fn why_not_replayed(has_unresolved: bool) -> String {
    if has_unresolved {
        return "unresolved nodes cannot be executed".to_owned();
    }
    let (low, high) = (FUSED_BITS.start(), FUSED_BITS.end());
    format!(
        "the arithmetic of the fused nodes is no truncated sum of {low} to {high} fraction bits, so \
         the tree is not replayed"
    )
}

/// Describes what the nodes did; `most_bits` is the most with which fused nodes agree as well.
fn describe(way: &Way, most_bits: Option<i32>) -> String {
    let arithmetic = &way.arithmetic;
    let bits = |least: i32| match most_bits {
        Some(most) if most > least => format!("{least} to {most} bits (all agree)"),
        _ => format!("{least} bits"),
    };
    let rounded = |rounding: Rounding| match rounding {
        Rounding::Rne => String::new(),
        rounding => format!(" rounding {rounding}"),
    };
    let statistics = way.tree.statistics();
    let is_mixed = statistics.kinds.iter().any(|kind| kind.0 != Op::Fused);
    let kinds: Vec<String> = (statistics.kinds.iter())
        .map(|(op, format, count)| match (op, arithmetic.fused) {
            (Op::Fused, _) if way.by_model => {
                format!("{count} fused {format} by the instruction's own model")
            }
            (Op::Fused, Some(fused)) if is_mixed => format!(
                "{count} fused {format} keeping {}{}",
                bits(fused.bits),
                rounded(fused.rounding)
            ),
            (Op::Fused, Some(fused)) => {
                format!("{count} fused {format} keeping {}", bits(fused.bits))
            }
            _ => format!("{count} {} {format}", op.name()),
        })
        .collect();
    let rest = match rounded(arithmetic.rounding) {
        rounding if rounding.is_empty() => rounding,
        rounding => format!(",{rounding}"),
    };
    kinds.join(", ") + &rest
}

/// Sets terms to zero for as long as tree and subject still differ.
fn shrink(meter: &mut Meter<'_>, way: &Way, mut input: Vec<Term>) -> Result<Vec<Term>> {
    let zero = |term: &Term| match term {
        Term::Value(_) => Term::Value(0.0),
        Term::Product(..) => Term::Product(0.0, 0.0),
    };
    let mut part = input.len().div_ceil(2);
    loop {
        let mut first = 0;
        while first < input.len() {
            let mut smaller = input.clone();
            for term in smaller.iter_mut().skip(first).take(part) {
                *term = zero(term);
            }
            if smaller != input {
                let result = meter.evaluate(std::slice::from_ref(&smaller))?[0];
                if !way.agrees(meter, &smaller, result) {
                    input = smaller;
                }
            }
            first += part;
        }
        if part == 1 {
            return Ok(input);
        }
        part = part.div_ceil(2);
    }
}

fn words(meter: &mut Meter<'_>, report: &Revelation, way: &Way, input: &[Term]) -> Result<String> {
    let result = meter.evaluate(&[input.to_vec()])?[0];
    let expected = way.value(meter, input)?;
    let terms: Vec<String> = input
        .iter()
        .enumerate()
        .filter_map(|(leaf, term)| {
            let name = &report.leaves[leaf];
            match *term {
                Term::Value(0.0) | Term::Product(0.0, 0.0) => None,
                Term::Value(value) => Some(format!("{name}={value:e}")),
                Term::Product(a, b) => Some(format!("{name}={a:e}*{b:e}")),
            }
        })
        .take(16)
        .collect();
    Ok(format!(
        "{} (others 0): subject {result:e}, tree {expected:e}",
        terms.join(" ")
    ))
}
