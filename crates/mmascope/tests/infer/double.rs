//! Sums of f64 that round after every operation, in orders that no row has, by the host's own arithmetic.

use mmascope::dpa::Signature;
use mmascope::dut::{Batch, Dut};
use mmascope::infer::{Options, Outcome, infer};
use mmascope::isa::Catalogue;
use mmascope::vector::Answer;

use crate::mutants::mismatch;

struct Double {
    name: &'static str,
    signature: Signature,
    sum: fn(&[f64], &[f64], f64) -> f64,
}

impl Dut for Double {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        self.name
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
    let unit = |name, sum| Double {
        name,
        signature: "a=f64 b=f64 c=f64 d=f64 k=4".parse().expect("a signature"),
        sum,
    };
    let units = [
        unit("products, a tree, then c", |a, b, c| {
            (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + c
        }),
        unit("products added one by one", |a, b, c| {
            a.iter().zip(b).fold(c, |sum, (a, b)| sum + a * b)
        }),
        unit("two accumulators of fused steps", |a, b, c| {
            let even = a[2].mul_add(b[2], a[0].mul_add(b[0], c));
            even + a[3].mul_add(b[3], a[1].mul_add(b[1], 0.0))
        }),
    ];
    for mut unit in units {
        let name = unit.name;
        let inference =
            infer(&mut unit, Some(Catalogue::built_in()), &Options::default()).expect("answers");
        let Outcome::Model(model) = &inference.outcome else {
            panic!("{name}: {:?}", inference.outcome);
        };
        println!("{name}: {} queries, {}", inference.queries, model.program);
        assert_eq!(mismatch(&mut unit, model), None, "{name}");
    }
}
