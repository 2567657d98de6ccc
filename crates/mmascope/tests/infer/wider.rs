//! Devices that keep sums wider than their results, chains that pass the NaN of an operand on, and chains of short rounded sums.

use mmascope::dpa::Signature;
use mmascope::dut::{Batch, Dut, ModelDut};
use mmascope::infer::{Found, InferenceOptions, Outcome, infer};
use mmascope::vector::Answer;

use crate::honest::own;
use crate::mutants::mismatch;
use crate::outside::odd;

/// The model of a device that no row of the catalogue describes; it gives the device's answers on other inputs too.
fn found(name: &str, device: &mut dyn Dut) -> Box<Found> {
    let (model, queries) = found_within(InferenceOptions::default().budget, name, device);
    println!("{name}: {}, {queries} queries", model.program);
    model
}

/// The same with another budget, and the number of queries.
fn found_within(budget: u64, name: &str, device: &mut dyn Dut) -> (Box<Found>, u64) {
    let options = InferenceOptions {
        budget,
        ..InferenceOptions::default()
    };
    let inference = infer(device, None, &options).expect("answers");
    let Outcome::Model(model) = inference.outcome else {
        panic!("{name}: {:?}", inference.outcome);
    };
    assert_eq!(mismatch(device, &model), None, "{name}: {}", model.program);
    (model, inference.queries)
}

/// The host's f64 accumulates, and the sum is rounded to f32 once.
#[test]
fn sums_in_double_are_found() {
    let mut device = odd("c, then one by one in f64", |_, products, c| {
        products.iter().fold(c, |sum, product| sum + product) as f32
    });
    let model = found("one by one", &mut device);
    assert!(
        model.program.to_string().contains("f64"),
        "{}",
        model.program
    );
    let mut device = odd("f64 from the left, c in f32", |_, products, c| {
        products.iter().fold(0.0, |sum, product| sum + product) as f32 + c as f32
    });
    found("c in f32", &mut device);
    let mut device = odd("f64 in halves", |_, products, c| {
        let half = |from: usize| products[from..from + 4].iter().sum::<f64>();
        (half(0) + half(4) + c) as f32
    });
    found("in halves", &mut device);
}

/// Sums of more range than f32's: an end of F2 below the smallest normal number, and a sum on the way.
#[test]
fn sums_with_more_range_are_found() {
    let formats = "a=bf16 b=bf16 c=f32 d=f32 k=8";
    let programs = [
        "s = fused L=8 F=30 F2=27 -> rz e11m23 ; d = convert s -> rz f32",
        "s = fused L=4 F=exact over k=0..3 -> rne e11m23 ; d = fused L=4 F=exact over k=4..7 from s -> rne f32",
    ];
    for program in programs {
        let mut device = ModelDut::new("a black box", own(formats, program));
        let model = found(program, &mut device);
        assert!(
            model.program.to_string().contains("e11m23"),
            "{}",
            model.program
        );
    }
}

/// Pairs and triples are added one after the other and pairwise alike: they are one chain all the same, in any order.
#[test]
fn rounded_sums_of_two_and_three_products_are_one_chain() {
    let formats = "a=f16 b=f16 c=f32 d=f32 k=6";
    for program in [
        "add-mul P=2 -> rne f32",
        "add-mul P=2 over k=3,1,0,5,2,4 -> rne f32",
        "add-mul P=3 over k=3,1,0,5,2,4 -> rne f32",
    ] {
        let mut device = ModelDut::new("a black box", own(formats, program));
        let model = found(program, &mut device);
        let text = model.program.to_string();
        assert!(!text.contains(';') && text.contains("add-mul P="), "{text}");
    }
}

/// Pairs of products that are added to several chains, as x86's tiles of fp8 are, are found as these with few questions. They were stated
/// as thirty sums, some of them exact.
#[test]
fn rounded_sums_of_two_products_in_several_chains_are_found() {
    let program = "e = add-mul P=2 over k%4=0,1 from product -> rne f32 ; o = add-mul P=2 over k%4=2,3 from product -> rne f32 \
        ; s = add e o -> rne f32 ; d = add s c -> rne f32";
    let formats = "a=e4m3fn b=e5m2 c=f32 d=f32 k=32";
    let mut device = ModelDut::new("a black box", own(formats, program));
    let (model, _) = found_within(2_000, program, &mut device);
    let text = model.program.to_string();
    assert!(
        text.contains("add-mul P=2 over k%4=0,1") && text.contains("add-mul P=2 over k%4=2,3"),
        "{text}"
    );
}

/// Sums of FMAs that flush, as x86's tiles of bf16 are, keep the sign of a zero only where the chains, their sum and c all do. Few questions
/// show that; the device was named as outside the space.
#[test]
fn signs_of_flushed_sums_are_found_together() {
    let chain = "fused L=1 F=exact flush-in=kept";
    let output = "rne f32 zero=ieee flush=kept tininess=unbounded";
    let program = format!(
        "e = {chain} over k%2=0 from +0 -> {output} ; o = {chain} over k%2=1 from +0 -> {output} \
         ; s = add e o -> {output} ; d = join fused L=1 F=exact flush-c=kept of c s -> {output}"
    );
    let unit = own("a=bf16 b=bf16 c=f32 d=f32 k=32", &program);
    let mut device = ModelDut::new("a black box", unit);
    let (_, queries) = found_within(2_000, &program, &mut device);
    assert!(queries <= 2_200, "{queries} queries");
}

/// A NaN operand is the result, made quiet; another NaN is a word of its own. Of a device whose NaNs follow neither rule, the word
/// is said to be unknown.
#[test]
fn operands_whose_nan_is_passed_on_are_found() {
    let formats = "a=f32 b=f32 c=f32 d=f32 k=4";
    let program = "fma-chain -> rne f32 nan=operand:ffc00000";
    let mut device = ModelDut::new("a black box", own(formats, program));
    let model = found(program, &mut device);
    assert!(
        model.program.to_string().contains("nan=operand:ffc00000"),
        "{}",
        model.program
    );
    // A NaN that follows a rule of its own is any NaN.
    let mut device = Changing(ModelDut::new("a black box", own(formats, program)));
    let model = found("NaNs by the first operand", &mut device);
    assert!(
        !model.program.to_string().contains("nan="),
        "{}",
        model.program
    );
}

/// A device whose NaNs have the last bit of the first operand.
struct Changing(ModelDut);

impl Dut for Changing {
    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        let answers = self.0.run(batch)?;
        let changed = answers
            .into_iter()
            .enumerate()
            .map(|(index, answer)| match answer {
                Answer::Word(word) if f32::from_bits(word as u32).is_nan() => {
                    Answer::Word(word & !1 | batch.query(index).a[0] & 1)
                }
                other => other,
            });
        Ok(changed.collect())
    }
}

/// One product and c in f64, as C's `(float)fma((double)a, b, c)`.
#[test]
fn one_multiply_add_in_double_is_found() {
    let formats = "a=f32 b=f32 c=f32 d=f32 k=1";
    let program = "s = fma-chain -> rne f64 ; d = convert s -> rne f32";
    let mut device = ModelDut::new("a black box", own(formats, program));
    found(program, &mut device);
}

/// Results so narrow that their whole range is some numbers: every kind of question can be made for them.
#[test]
fn units_of_four_and_six_bits_are_asked() {
    for (formats, d) in [
        ("a=e2m1 b=e2m1 c=e2m1 d=e2m1 k=4", "e2m1"),
        ("a=e2m3 b=e2m1 c=f32 d=e2m3 k=2", "e2m3"),
        ("a=e3m2 b=e3m2 c=e3m2 d=e3m2 k=1", "e3m2"),
    ] {
        let unit = own(formats, &format!("fused L=1 F=exact -> rne {d}"));
        found(formats, &mut ModelDut::new("a black box", unit));
    }
}
