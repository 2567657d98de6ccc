//! Units outside the model space are reported as such: no model, with a counter-example, or noise.

use mmascope::dpa::{Modifiers, Signature, Unit};
use mmascope::dut::{Batch, Dut};
use mmascope::infer::{InferenceOptions, Outcome, infer};
use mmascope::isa::Catalogue;
use mmascope::vector::Answer;

/// A device from a function of decoded products and c.
pub(crate) struct Odd<F> {
    name: &'static str,
    signature: Signature,
    calls: u64,
    sum: F,
}

impl<F: FnMut(u64, &[f64], f64) -> f32 + Send> Dut for Odd<F> {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        self.name
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        let bf16 = |word: u64| f64::from(f32::from_bits((word as u32) << 16));
        Ok((0..batch.len())
            .map(|index| {
                let query = batch.query(index);
                let products: Vec<f64> = query
                    .a
                    .iter()
                    .zip(query.b)
                    .map(|(&a, &b)| bf16(a) * bf16(b))
                    .collect();
                self.calls += 1;
                let d = (self.sum)(
                    self.calls,
                    &products,
                    f64::from(f32::from_bits(query.c as u32)),
                );
                Answer::Word(if d.is_nan() {
                    0x7fff_ffff
                } else {
                    u64::from(d.to_bits())
                })
            })
            .collect())
    }
}

/// A device of eight bf16 products and an f32 c.
pub(crate) fn odd<F: FnMut(u64, &[f64], f64) -> f32 + Send>(name: &'static str, sum: F) -> Odd<F> {
    let signature = "a=bf16 b=bf16 c=f32 d=f32 k=8"
        .parse()
        .expect("a signature");
    Odd {
        name,
        signature,
        calls: 0,
        sum,
    }
}

fn is_outside(device: impl Dut) {
    no_model_of(device, Some(Catalogue::built_in()));
}

/// Asserts that the search says of a device that no model fits it, with a counter-example that holds.
pub(crate) fn no_model_of(mut device: impl Dut, catalogue: Option<&Catalogue>) {
    let name = device.name().to_owned();
    let options = InferenceOptions {
        // Much longer finds no more.
        cpu_limit: std::time::Duration::from_secs(5),
        ..InferenceOptions::default()
    };
    let inference = infer(&mut device, catalogue, &options).expect("answers");
    let Outcome::NoModel {
        nearest,
        example,
        agreeing,
    } = &inference.outcome
    else {
        panic!("{name}: {:?}", inference.outcome);
    };
    let example = example.as_ref().expect("a counter-example");
    println!(
        "{name}: nearest {} ({agreeing:.3}), {} queries",
        nearest.as_ref().expect("a nearest"),
        inference.queries
    );
    // The counter-example holds: the device gives that answer, the nearest program another one.
    let mut batch = Batch::new(*device.signature());
    batch.push(&example.case.operands()).expect("fits");
    assert_eq!(
        device.run(&batch).expect("answers"),
        [example.device],
        "{name}"
    );
    let unit = mmascope::dpa::Unit::new(*device.signature(), nearest.clone().expect("a nearest"))
        .expect("a unit");
    let word = unit
        .dot(&example.case.operands(), &Modifiers::default())
        .expect("computes");
    assert_eq!(word, example.model, "{name}");
    assert_ne!(Answer::Word(word), example.device, "{name}");
}

#[test]
fn kahan_summation_is_outside() {
    is_outside(odd("Kahan", |_, products, c| {
        let (mut sum, mut lost) = (c as f32, 0.0_f32);
        for &product in products {
            let term = product as f32 - lost;
            let next = sum + term;
            lost = (next - sum) - term;
            sum = next;
        }
        sum
    }));
}

#[test]
fn an_order_by_value_is_outside() {
    is_outside(odd("sorted by magnitude", |_, products, c| {
        let mut terms: Vec<f32> = products
            .iter()
            .map(|&p| p as f32)
            .chain([c as f32])
            .collect();
        terms.sort_by(|x, y| x.abs().total_cmp(&y.abs()));
        terms.into_iter().sum()
    }));
}

/// Rounded up or down by a hash of the operands: the same every time, but no rounding.
#[test]
fn rounding_by_a_hash_is_outside() {
    is_outside(odd("hashed rounding", |_, products, c| {
        let exact: f64 = products.iter().sum::<f64>() + c;
        let hash = products.iter().fold(c.to_bits(), |h, p| {
            h.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ p.to_bits()
        });
        let near = exact as f32;
        if hash.count_ones() % 2 == 0 || f64::from(near) == exact || !near.is_finite() {
            near
        } else {
            near.next_up()
        }
    }));
}

#[test]
fn random_rounding_is_noise() {
    let mut device = odd("random rounding", |call, products, c| {
        let near = (products.iter().sum::<f64>() + c) as f32;
        if call % 7 == 3 && near.is_finite() {
            near.next_up()
        } else {
            near
        }
    });
    let inference = infer(
        &mut device,
        Some(Catalogue::built_in()),
        &InferenceOptions::default(),
    )
    .expect("answers");
    let Outcome::Noise { answers, .. } = inference.outcome else {
        panic!("{:?}", inference.outcome);
    };
    assert_ne!(answers[0], answers[1]);
}

/// A unit of the catalogue, and one of the space that has no row, each with one answer in a thousand wrong.
#[test]
fn rare_noise_is_named() {
    for exact in [true, false] {
        let mut device = odd("a rare fault", move |call, products, c| {
            let total = match exact {
                true => (products.iter().sum::<f64>() + c) as f32,
                false => products
                    .iter()
                    .fold(c as f32, |sum, product| sum + *product as f32),
            };
            let wrong = call.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            match wrong % 1000 {
                7 if total.is_finite() => -total,
                _ => total,
            }
        });
        let inference = infer(
            &mut device,
            Some(Catalogue::built_in()),
            &InferenceOptions::default(),
        );
        let inference = inference.expect("answers");
        let Outcome::Noise { answers, .. } = inference.outcome else {
            panic!("{:?}", inference.outcome);
        };
        assert_ne!(answers[0], answers[1]);
        assert!(inference.queries < 8000, "{}", inference.queries);
    }
}

/// A unit with a wrong last bit wherever certain pairs of operands meet, one pair in so many.
struct Faulty {
    unit: Unit,
    one_in: u64,
}

impl Dut for Faulty {
    fn signature(&self) -> &Signature {
        self.unit.signature()
    }

    fn name(&self) -> &'static str {
        "a rare pair of operands"
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        let answer = |index| {
            let query = batch.query(index);
            let word = self.unit.dot(&query, &Modifiers::default())?;
            let wrong = query.a.iter().zip(query.b).any(|(&a, &b)| {
                let mixed = (a << 16 | b).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
                a & 0x7fff != 0 && b & 0x7fff != 0 && mixed % self.one_in == 7
            });
            Ok(Answer::Word(
                word ^ u64::from(wrong && !self.unit.is_nan(word)),
            ))
        };
        (0..batch.len()).map(answer).collect()
    }
}

/// A wrong pair of operands, so rare that only the inputs at the end show it: neither the row of the catalogue that the unit is otherwise, nor, of a unit
/// that has none, the program that describes it otherwise.
#[test]
fn rare_pairs_of_operands_are_not_overlooked() {
    let catalogue = Catalogue::built_in();
    let row = catalogue
        .find("hopper", "mma.m16n8k16.f32.f16.f16.f32")
        .expect("a row");
    let hopper = row.unit().expect("a unit").clone();
    let program = "t-fdpa L=4 F=22 e0=-132 -> rz f32"
        .parse()
        .expect("a program");
    let own = Unit::new(
        "a=f16 b=f16 c=f32 d=f32 k=8".parse().expect("a signature"),
        program,
    );
    // The row is confirmed over fewer inputs.
    for (unit, one_in) in [(hopper, 80_000), (own.expect("a unit"), 150_000)] {
        let mut device = Faulty { unit, one_in };
        // Nothing else shows it.
        let unconfirmed = InferenceOptions {
            confirm: Some(0),
            ..InferenceOptions::default()
        };
        let inference = infer(&mut device, Some(catalogue), &unconfirmed).expect("answers");
        assert!(matches!(inference.outcome, Outcome::Model(_)), "{one_in}");
        is_outside(device);
    }
}

/// T-FDPA whose zero products take part in the largest exponent, with the exponents of both operands.
struct RaisingZeros(Signature);

impl Dut for RaisingZeros {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn name(&self) -> &'static str {
        "zeros that raise the exponent"
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        let exponent = |x: f32| ((x.to_bits() >> 23 & 0xff) as i32).max(1) - 127;
        let bf16 = |word: &u64| f32::from_bits((*word as u32) << 16);
        let dot = |index| {
            let query = batch.query(index);
            let pairs = || query.a.iter().map(bf16).zip(query.b.iter().map(bf16));
            let c = f32::from_bits(query.c as u32);
            let exact: f64 = pairs().map(|(a, b)| f64::from(a) * f64::from(b)).sum();
            if !(exact + f64::from(c)).is_finite() {
                return (exact + f64::from(c)) as f32;
            }
            let of_c = if c == 0.0 {
                -133
            } else {
                exponent(c).max(-133)
            };
            let largest = pairs()
                .map(|(a, b)| exponent(a) + exponent(b))
                .fold(of_c, i32::max);
            let unit = 2_f64.powi(largest - 24);
            let terms = pairs().map(|(a, b)| (f64::from(a) * f64::from(b) / unit).trunc());
            let sum = terms.sum::<f64>() + (f64::from(c) / unit).trunc();
            // Toward zero, to 24 bits and to a whole number of the smallest subnormal.
            let kept = f64::from_bits((sum * unit).to_bits() >> 29 << 29);
            let smallest = 2_f64.powi(-149);
            ((kept / smallest).trunc() * smallest + 0.0) as f32
        };
        let word = |d: f32| if d.is_nan() { 0x7fff_ffff } else { d.to_bits() };
        Ok((0..batch.len())
            .map(|index| Answer::Word(word(dot(index)).into()))
            .collect())
    }
}

#[test]
fn zeros_that_raise_the_exponent_are_no_other_floor() {
    let signature = "a=bf16 b=bf16 c=f32 d=f32 k=4"
        .parse()
        .expect("a signature");
    is_outside(RaisingZeros(signature));
}
