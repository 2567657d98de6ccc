//! Names a subject that no tree describes: random, sorting, exact or compensated.

use super::meter::Meter;
use super::random::Random;
use super::replay::random_input;
use super::report::{Nature, Revelation};
use crate::error::Result;
use crate::format::F64;
use crate::tree::{Arithmetic, Builder, Op, Term, round};

/// Looks for what a subject without a verified tree is: independent of the order, or compensated.
pub(super) fn name_nature(
    meter: &mut Meter<'_>,
    report: &mut Revelation,
    random: &mut Random,
) -> Result<()> {
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
