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
    // Where every result is the exact sum, rounded once, an order that gives the same says nothing.
    let by_order = match all_exact {
        true => None,
        false => sorted(report, &inputs, &results),
    };
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
    if let Some(order) = by_order {
        report.nature = Nature::ValueDependent(format!("the summands are added {order}"));
    } else if invariant && all_exact {
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

/// Where c stands among summands that are sorted.
#[derive(Clone, Copy)]
enum Place {
    Sorted,
    First,
    Last,
}

/// The order of values in which all inputs are added one by one, if there is one.
fn sorted(report: &Revelation, inputs: &[Vec<Term>], results: &[f64]) -> Option<&'static str> {
    type Key = fn(&f64) -> f64;
    let orders: [(&str, Key); 4] = [
        ("from the smallest to the largest", |x| *x),
        ("from the largest to the smallest", |x| -x),
        ("from the smallest magnitude to the largest", |x| x.abs()),
        ("from the largest magnitude to the smallest", |x| -x.abs()),
    ];
    // Products may be rounded before they are added; c may come first or last whatever its value.
    let has_c = report.products > 0 && report.products < report.tree.leaves();
    let places = [Place::Sorted, Place::Last, Place::First];
    let places = &places[..if has_c { 3 } else { 1 }];
    let ways = places
        .iter()
        .flat_map(|place| [(false, place), (true, place)]);
    let ways = ways.flat_map(|(rounds, place)| orders.map(|order| (rounds, place, order)));
    for (rounds, place, (name, key)) in ways {
        let sum = |input: &Vec<Term>, sorts: bool| {
            let mut terms: Vec<f64> = input
                .iter()
                .map(|term| match *term {
                    Term::Value(value) => value,
                    Term::Product(a, b) if rounds => round(report.format, a * b),
                    Term::Product(a, b) => a * b,
                })
                .collect();
            let c = match place {
                Place::Sorted => None,
                Place::First | Place::Last => terms.pop(),
            };
            if sorts {
                terms.sort_by(|left, right| key(left).total_cmp(&key(right)));
            }
            match place {
                Place::First => terms = c.into_iter().chain(terms).collect(),
                Place::Sorted | Place::Last => terms.extend(c),
            }
            let mut all = terms.into_iter();
            let first = all.next().unwrap_or(0.0);
            all.fold(round(report.format, first), |sum, term| {
                round(report.format, sum + term)
            })
        };
        let explains = |sorts| {
            let sums = inputs.iter().map(|input| sum(input, sorts));
            sums.eq(results.iter().copied())
        };
        // Where sums are hardly rounded, every order gives the same.
        if explains(true) && !explains(false) {
            return Some(name);
        }
    }
    None
}
