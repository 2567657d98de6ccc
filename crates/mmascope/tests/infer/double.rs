//! Sums of f64 that round after every operation, in orders that no row has, by the host's own arithmetic.

use mmascope::dpa::Signature;
use mmascope::dut::{Batch, Dut};
use mmascope::infer::{InferenceOptions, Outcome, infer};
use mmascope::isa::Catalogue;
use mmascope::vector::Answer;

use crate::drawn::{Dice, order};
use crate::mutants::mismatch;

type Sum = Box<dyn Fn(&[f64], &[f64], f64) -> f64 + Send>;

struct Double {
    name: String,
    signature: Signature,
    sum: Sum,
}

impl Dut for Double {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        let numbers = |words: &[u64]| -> Vec<f64> {
            words.iter().map(|&word| f64::from_bits(word)).collect()
        };
        let answer = |query: mmascope::dpa::Operands<'_>| {
            let (a, b) = (numbers(query.a), numbers(query.b));
            let sum = (self.sum)(&a, &b, f64::from_bits(query.c));
            match sum.is_nan() {
                true => Answer::Word(0x7ff8_0000_0000_0000),
                false => Answer::Word(sum.to_bits()),
            }
        };
        Ok((0..batch.len())
            .map(|index| answer(batch.query(index)))
            .collect())
    }
}

#[test]
fn rounded_sums_of_doubles_are_recovered() {
    let unit = |name: &str, sum: fn(&[f64], &[f64], f64) -> f64| Double {
        name: name.to_owned(),
        signature: "a=f64 b=f64 c=f64 d=f64 k=4".parse().expect("a signature"),
        sum: Box::new(sum),
    };
    recovered([
        unit("products, a tree, then c", |a, b, c| {
            (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + c
        }),
        unit("products added one by one", |a, b, c| {
            a.iter().zip(b).fold(c, |sum, (a, b)| sum + a * b)
        }),
        // Which of the first two products is rounded by itself, masks do not show.
        unit("a chain that begins with the second product", |a, b, c| {
            let first = a[0].mul_add(b[0], a[1] * b[1]);
            a[3].mul_add(b[3], a[2].mul_add(b[2], first)) + c
        }),
        unit("two accumulators of fused steps", |a, b, c| {
            let even = a[2].mul_add(b[2], a[0].mul_add(b[0], c));
            even + a[3].mul_add(b[3], a[1].mul_add(b[1], 0.0))
        }),
    ]);
}

/// A sum drawn at random: fused or rounded, in groups, in any order, with accumulators, c first, last or
/// absent.
fn drawn(seed: u64) -> Double {
    let mut dice = Dice::new(seed);
    let k: usize = dice.of(&[2, 3, 4, 4, 6, 8, 8, 16]);
    let order = order(k, &mut dice);
    let counts: Vec<usize> = [1, 1, 2, 4]
        .into_iter()
        .filter(|count| k.is_multiple_of(*count))
        .collect();
    let count = dice.of(&counts);
    let each = k / count;
    let groups: Vec<usize> = [1, 2, 4]
        .into_iter()
        .filter(|p| each.is_multiple_of(*p))
        .collect();
    let p = dice.of(&groups);
    let [fused, strided, pairwise] = [(); 3].map(|()| dice.below(2) == 0);
    // One product that is rounded and one that is not are no chain.
    let fused = fused && (count == 1 || each > 1);
    let place = dice.of(&["first", "first", "last", "absent"]);
    let parts: Vec<Vec<usize>> = (0..count)
        .map(|part| match strided {
            true => order.iter().skip(part).step_by(count).copied().collect(),
            false => order[part * each..(part + 1) * each].to_vec(),
        })
        .collect();
    let kind = if fused {
        "fused".to_owned()
    } else {
        format!("groups of {p}")
    };
    let adds = if pairwise { "pairwise" } else { "in sequence" };
    let name = format!("{seed}: {kind}, {parts:?} {adds}, c {place}");
    let chain = move |a: &[f64], b: &[f64], part: &[usize], c: Option<f64>| {
        if fused {
            return part.iter().fold(c, |sum, &k| {
                Some(sum.map_or(a[k] * b[k], |sum| a[k].mul_add(b[k], sum)))
            });
        }
        part.chunks(p).fold(c, |sum, group| {
            let own = tree(group.iter().map(|&k| a[k] * b[k]).collect(), true);
            Some(sum.map_or(own, |sum| sum + own))
        })
    };
    let sum = move |a: &[f64], b: &[f64], c: f64| {
        let of_part = |(index, part): (usize, &Vec<usize>)| {
            chain(
                a,
                b,
                part,
                Some(c).filter(|_| index == 0 && place == "first"),
            )
        };
        let sums = parts.iter().enumerate().filter_map(of_part).collect();
        let sum = tree(sums, pairwise);
        if place == "last" { c + sum } else { sum }
    };
    Double {
        name,
        signature: format!("a=f64 b=f64 c=f64 d=f64 k={k}")
            .parse()
            .expect("a signature"),
        sum: Box::new(sum),
    }
}

/// The sum of some numbers, pairwise or one after the other.
fn tree(mut values: Vec<f64>, pairwise: bool) -> f64 {
    while pairwise && values.len() > 1 {
        values = values
            .chunks(2)
            .map(|pair| pair.iter().copied().reduce(|x, y| x + y).expect("one"))
            .collect();
    }
    values.into_iter().reduce(|x, y| x + y).expect("one")
}

/// Part of `cargo xtask prove drawn`.
#[test]
#[ignore = "a minute: cargo xtask prove drawn"]
fn prove_drawn_doubles() {
    recovered((1..=60).map(drawn));
}

fn recovered(units: impl IntoIterator<Item = Double>) {
    let mut failures = Vec::new();
    for mut unit in units {
        let name = unit.name.clone();
        let inference = infer(
            &mut unit,
            Some(Catalogue::built_in()),
            &InferenceOptions::default(),
        )
        .expect("answers");
        let Outcome::Model(model) = &inference.outcome else {
            println!("{name}: NOT FOUND");
            failures.push(format!("{name}: {:?}", inference.outcome));
            continue;
        };
        println!("{name}: {} queries, {}", inference.queries, model.program);
        failures.extend(
            mismatch(&mut unit, model).map(|found| format!("{name}: {found}: {}", model.program)),
        );
    }
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures.join("\n")
    );
}
