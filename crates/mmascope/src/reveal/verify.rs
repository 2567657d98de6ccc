//! Verification instead of trust: the tree replayed against its subject on random data.

use super::meter::Meter;
use super::random::Random;
use super::report::{Nature, Report};
use super::types;
use crate::error::Result;
use crate::format::{F64, Rounding};
use crate::tree::{Arithmetic, Builder, Op, Term, Tree, round};

/// Fraction bits and roundings tried for fused nodes.
const FUSED_BITS: std::ops::RangeInclusive<i32> = 8..=40;
/// Elements of random inputs that are held at once.
const MOST_TERMS: usize = 1 << 20;

/// Finds node types, replays the tree, and names what it cannot be.
pub(super) fn verify(
    meter: &mut Meter<'_>,
    report: &mut Report,
    trials: usize,
    random: &mut Random,
) -> Result<()> {
    if report.nature != Nature::Tree {
        name_nature(meter, report, random)?;
        return Ok(());
    }
    report.tree = types::find(meter, &report.tree)?;
    let ops = |op| report.tree.nodes().iter().any(|node| node.op == op);
    if ops(Op::Unresolved) {
        report.verified.arithmetic = "unresolved nodes cannot be executed".to_owned();
        return Ok(());
    }
    let leaf = report.operands;
    let mut candidates = vec![Arithmetic::ieee(leaf)];
    if ops(Op::Fused) {
        candidates = [Rounding::Rz, Rounding::Rne]
            .into_iter()
            .flat_map(|rounding| {
                FUSED_BITS.map(move |bits| Arithmetic {
                    leaf,
                    fused_bits: Some(bits),
                    fused_rounding: rounding,
                })
            })
            .collect();
    }
    let is_fused = candidates.len() > 1;
    let at_once = (MOST_TERMS / report.tree.leaves()).clamp(1, trials.max(1));
    let mut failures: Vec<Vec<Term>> = Vec::new();
    let mut done = 0;
    while done < trials {
        let count = at_once.min(trials - done);
        let inputs: Vec<Vec<Term>> = (0..count).map(|_| random_input(meter, random)).collect();
        let results = meter.evaluate(&inputs)?;
        for (input, result) in inputs.into_iter().zip(results) {
            let before = candidates.clone();
            candidates.retain(|arithmetic| agrees(report, &report.tree, arithmetic, &input, result));
            if candidates.is_empty() {
                candidates = before;
                failures.push(input);
            }
        }
        done += count;
    }
    let chosen = candidates[0];
    if is_fused && !failures.is_empty() {
        let (low, high) = (FUSED_BITS.start(), FUSED_BITS.end());
        report.verified.arithmetic = format!(
            "the arithmetic of the fused nodes is no truncated sum of {low} to {high} fraction \
             bits, so the tree is not replayed"
        );
        return Ok(());
    }
    report.verified.trials = trials;
    report.verified.mismatches = failures.len();
    report.verified.arithmetic = describe(report, &chosen);
    if let Some(failure) = failures.into_iter().next() {
        let smallest = shrink(meter, report, &chosen, failure)?;
        report.verified.counter_example = Some(words(meter, report, &chosen, &smallest)?);
        name_nature(meter, report, random)?;
        if report.nature == Nature::Tree {
            report.notes.push(
                "the assumption that failed: every node is one IEEE operation of the format shown, \
                 in an order that does not depend on the values"
                    .to_owned(),
            );
        }
    } else if report.tree.nodes().last().is_some_and(|root| {
        root.op == Op::Exact && root.children.len() == report.tree.leaves() && root.children.len() > 2
    }) {
        report.notes.push("order-independent: every sum is exact before its one rounding".to_owned());
    }
    Ok(())
}

fn random_input(meter: &Meter<'_>, random: &mut Random) -> Vec<Term> {
    (0..meter.subject.leaves())
        .map(|leaf| meter.subject.random_term(leaf, random.bits()))
        .collect()
}

/// Zeros of either sign agree: revealing does not look at them.
fn agrees(
    report: &Report,
    tree: &Tree,
    arithmetic: &Arithmetic,
    input: &[Term],
    result: f64,
) -> bool {
    tree.execute(input, arithmetic).is_ok_and(|value| {
        let value = round(report.format, value);
        value == result || value.is_nan() && result.is_nan()
    })
}

fn describe(report: &Report, arithmetic: &Arithmetic) -> String {
    let kinds: Vec<String> = report
        .tree
        .statistics()
        .kinds
        .iter()
        .map(|(op, format, count)| match (op, arithmetic.fused_bits) {
            (Op::Fused, Some(bits)) => format!(
                "{count} fused {format} keeping {bits} bits, {}",
                arithmetic.fused_rounding
            ),
            _ => format!("{count} {} {format}", op.name()),
        })
        .collect();
    kinds.join(", ")
}

/// Sets terms to zero for as long as tree and subject still differ.
fn shrink(
    meter: &mut Meter<'_>,
    report: &Report,
    arithmetic: &Arithmetic,
    mut input: Vec<Term>,
) -> Result<Vec<Term>> {
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
                if !agrees(report, &report.tree, arithmetic, &smaller, result) {
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

fn words(
    meter: &mut Meter<'_>,
    report: &Report,
    arithmetic: &Arithmetic,
    input: &[Term],
) -> Result<String> {
    let result = meter.evaluate(&[input.to_vec()])?[0];
    let expected = report.tree.execute(input, arithmetic)?;
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
    let expected = round(report.format, expected);
    Ok(format!("{} (others 0): subject {result:e}, tree {expected:e}", terms.join(" ")))
}

/// Looks for what a subject without a verified tree is: independent of the order, or compensated.
fn name_nature(meter: &mut Meter<'_>, report: &mut Report, random: &mut Random) -> Result<()> {
    if matches!(report.nature, Nature::Nondeterministic(_)) {
        return Ok(());
    }
    let leaves = meter.subject.leaves();
    let inputs: Vec<Vec<Term>> = (0..12).map(|_| random_input(meter, random)).collect();
    let results = meter.evaluate(&inputs)?;
    let again = meter.evaluate(&inputs)?;
    if results.iter().zip(&again).any(|(a, b)| a.to_bits() != b.to_bits()) {
        report.nature = Nature::Nondeterministic("one input gave two results".to_owned());
        return Ok(());
    }
    let mut builder = Builder::new(leaves);
    let root = builder.node(Op::Exact, F64, (0..leaves).collect());
    let exact = builder.build(root)?;
    let arithmetic = Arithmetic::ieee(report.operands);
    let exact: Vec<f64> = inputs
        .iter()
        .map(|input| exact.execute(input, &arithmetic).map(|sum| round(report.format, sum)))
        .collect::<Result<_>>()?;
    // Units in the last place, roughly: enough to tell exact sums from rounded ones.
    let precision = report.format.float().map_or(24, |float| float.fraction_bits as i32 + 1);
    let ulp = |value: f64| value.abs() * crate::tree::power_of_two(1 - precision);
    let close = |a: f64, b: f64| (a - b).abs() <= 2.0 * ulp(b);
    let all_exact = results.iter().zip(&exact).all(|(a, b)| a == b);
    let permuted: Vec<Vec<Term>> = inputs
        .iter()
        .map(|input| {
            let mut permuted = input.clone();
            random.shuffle(&mut permuted);
            permuted
        })
        .collect();
    let same_kind = !matches!(inputs[0].last(), Some(Term::Value(_)))
        || matches!(inputs[0].first(), Some(Term::Value(_)));
    let invariant = same_kind && leaves > 4 && meter.evaluate(&permuted)? == results;
    let tree_exact = inputs.iter().zip(&exact).all(|(input, exact)| {
        let value = report.tree.execute(input, &arithmetic);
        value.is_ok_and(|value| close(round(report.format, value), *exact))
    });
    if invariant && all_exact {
        report.nature =
            Nature::OrderIndependent("every sum is the exact one, rounded once".to_owned());
    } else if invariant {
        report.nature = Nature::ValueDependent(
            "permuting the summands changes nothing, yet the sum is not exact: they are sorted"
                .to_owned(),
        );
    } else if results.iter().zip(&exact).all(|(a, b)| close(*a, *b)) && !tree_exact && leaves > 16 {
        report.nature = Nature::Compensated(
            "sums are within 2 units in the last place of the exact ones, which no tree of rounded \
             additions gives: errors are carried along and added back"
                .to_owned(),
        );
    }
    Ok(())
}
