//! Verification instead of trust: the tree replayed against its subject on random data.

use super::meter::Meter;
use super::random::Random;
use super::report::{Nature, Report};
use super::types;
use crate::error::Result;
use crate::format::{E8M13, F32, F64, Rounding};
use crate::tree::{Arithmetic, Builder, Inner, Op, Term, Tree, round};

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
    let is_fused = ops(Op::Fused);
    let mut candidates = candidates(report, is_fused)?;
    let at_once = (MOST_TERMS / report.tree.leaves()).clamp(1, trials.max(1));
    let mut failures: Vec<Vec<Term>> = Vec::new();
    let mut done = 0;
    while done < trials {
        let count = at_once.min(trials - done);
        let inputs: Vec<Vec<Term>> = (0..count).map(|_| random_input(meter, random)).collect();
        let results = meter.evaluate(&inputs)?;
        for (input, result) in inputs.into_iter().zip(results) {
            let fits: Vec<bool> = candidates
                .iter()
                .map(|(tree, arithmetic)| agrees(report, tree, arithmetic, &input, result))
                .collect();
            if fits.contains(&true) {
                let mut fits = fits.into_iter();
                candidates.retain(|_| fits.next().unwrap_or(false));
            } else {
                failures.push(input);
            }
        }
        done += count;
    }
    let (tree, chosen) = candidates.swap_remove(0);
    report.tree = tree;
    if is_fused && !failures.is_empty() {
        let (low, high) = (FUSED_BITS.start(), FUSED_BITS.end());
        report.verified.arithmetic = format!(
            "the arithmetic of the fused nodes is no truncated sum of {low} to {high} fraction \
             bits, so the tree is not replayed"
        );
        if report.products == 0 {
            name_nature(meter, report, random)?;
        }
        return Ok(());
    }
    report.verified.trials = trials;
    report.verified.mismatches = failures.len();
    report.verified.arithmetic = describe(report, &chosen);
    report.verified.chosen = Some(chosen);
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
        root.op == Op::Exact
            && root.children.len() == report.tree.leaves()
            && root.children.len() > 2
    }) {
        report
            .notes
            .push("order-independent: every sum is exact before its one rounding".to_owned());
    }
    Ok(())
}

/// What the nodes may do: their format or, for narrow results, a wider one that is rounded at the
/// end; the rounding; the bits that fused nodes keep.
fn candidates(report: &Report, is_fused: bool) -> Result<Vec<(Tree, Arithmetic)>> {
    // Products of operands narrower than the result are exact in it, and so are rounded to it.
    let leaf = if report.operands == F64 { F64 } else { F32 };
    let mut trees = vec![report.tree.clone()];
    let all_of = |format| {
        report.tree.map(|_, node| Inner {
            format,
            ..node.clone()
        })
    };
    if report.products > 0 && report.format != F64 {
        for format in [F32, E8M13] {
            if is_fused || report.format != F32 {
                trees.push(all_of(format)?);
            }
        }
    }
    let bits: Vec<Option<i32>> = if is_fused {
        FUSED_BITS.map(Some).collect()
    } else {
        vec![None]
    };
    let roundings = if is_fused {
        &[Rounding::Rz, Rounding::Rne][..]
    } else {
        &[Rounding::Rne, Rounding::Rz, Rounding::Rd, Rounding::Ru][..]
    };
    let mut candidates = Vec::new();
    for tree in &trees {
        for &rounding in roundings {
            for &fused_bits in &bits {
                let arithmetic = Arithmetic {
                    leaf,
                    operands: report.operands,
                    fused_bits,
                    rounding,
                };
                candidates.push((tree.clone(), arithmetic));
            }
        }
    }
    Ok(candidates)
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
            (Op::Fused, Some(bits)) => format!("{count} fused {format} keeping {bits} bits"),
            _ => format!("{count} {} {format}", op.name()),
        })
        .collect();
    match arithmetic.rounding {
        Rounding::Rne => kinds.join(", "),
        rounding => format!("{}, rounding {rounding}", kinds.join(", ")),
    }
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
    Ok(format!(
        "{} (others 0): subject {result:e}, tree {expected:e}",
        terms.join(" ")
    ))
}

/// Looks for what a subject without a verified tree is: independent of the order, or compensated.
fn name_nature(meter: &mut Meter<'_>, report: &mut Report, random: &mut Random) -> Result<()> {
    if matches!(report.nature, Nature::Nondeterministic(_)) {
        return Ok(());
    }
    let leaves = meter.subject.leaves();
    let inputs: Vec<Vec<Term>> = (0..32).map(|_| random_input(meter, random)).collect();
    let results = meter.evaluate(&inputs)?;
    let again = meter.evaluate(&inputs)?;
    if results
        .iter()
        .zip(&again)
        .any(|(a, b)| a.to_bits() != b.to_bits())
    {
        report.nature = Nature::Nondeterministic("one input gave two results".to_owned());
        return Ok(());
    }
    let mut builder = Builder::new(leaves);
    let root = builder.node(Op::Exact, F64, (0..leaves).collect());
    let exact = builder.build(root)?;
    let arithmetic = Arithmetic::ieee(report.operands);
    let sums: Vec<f64> = inputs
        .iter()
        .map(|input| {
            exact
                .execute(input, &arithmetic)
                .map(|sum| round(report.format, sum))
        })
        .collect::<Result<_>>()?;
    let all_exact = results.iter().zip(&sums).all(|(a, b)| a == b);
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
    let invariant =
        report.products == 0 && same_kind && leaves > 4 && meter.evaluate(&permuted)? == results;
    // Summands of one sign: the errors of rounded additions add up.
    let positive = |term: Term| match term {
        Term::Value(value) => Term::Value(value.abs()),
        Term::Product(a, b) => Term::Product(a.abs(), b.abs()),
    };
    let inputs: Vec<Vec<Term>> = inputs
        .into_iter()
        .map(|input| input.into_iter().map(positive).collect())
        .collect();
    let (mut own, mut plain) = (0.0, 0.0);
    for (input, result) in inputs.iter().zip(meter.evaluate(&inputs)?) {
        let sum = round(report.format, exact.execute(input, &arithmetic)?);
        own += (result - sum).abs();
        let chain = input.iter().fold(0.0, |sum, term| match *term {
            Term::Value(value) => round(report.format, sum + value),
            Term::Product(a, b) => round(report.format, sum + a * b),
        });
        plain += (chain - sum).abs();
    }
    let carried = 4.0 * own < plain && report.products == 0;
    if invariant && all_exact {
        report.nature =
            Nature::OrderIndependent("every sum is the exact one, rounded once".to_owned());
    } else if invariant {
        report.nature = Nature::ValueDependent(
            "permuting the summands changes nothing, yet the sum is not exact: they are sorted"
                .to_owned(),
        );
    } else if carried && leaves > 16 {
        report.nature = Nature::Compensated(
            "sums are far nearer to the exact ones than rounded additions come: errors are carried \
             along and added back"
                .to_owned(),
        );
    }
    Ok(())
}
