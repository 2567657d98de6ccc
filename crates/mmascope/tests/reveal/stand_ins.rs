//! Devices that add their operands, and devices that multiply parts of significands: asked by what stands in for these.

use mmascope::dpa::Signature;
use mmascope::dut::{Batch, Dut, ModelDut};
use mmascope::format::{BF16, F32};
use mmascope::isa::Catalogue;
use mmascope::probe::probe;
use mmascope::reveal::{DeviceSum, Nature, RevealOptions, Revelation, Summation, reveal};
use mmascope::vector::Answer;

/// A device over bf16 operands and an f32 sum that computes in this host's floats.
struct Host<F>(Signature, F);

impl<F: Fn(&[f32], &[f32], f32) -> f32 + Send> Host<F> {
    fn new(k: usize, sum: F) -> Self {
        let signature = Signature {
            a: BF16,
            b: BF16,
            c: F32,
            d: F32,
            k,
            scale: None,
        };
        Self(signature, sum)
    }
}

impl<F: Fn(&[f32], &[f32], f32) -> f32 + Send> Dut for Host<F> {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn name(&self) -> &'static str {
        "this host"
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        let numbers = |words: &[u64]| -> Vec<f32> {
            let number = |word: &u64| f32::from_bits((*word as u32) << 16);
            words.iter().map(number).collect()
        };
        let answer = |index| {
            let query = batch.query(index);
            let sum = (self.1)(
                &numbers(query.a),
                &numbers(query.b),
                f32::from_bits(query.c as u32),
            );
            Answer::Word(u64::from(sum.to_bits()))
        };
        Ok((0..batch.len()).map(answer).collect())
    }
}

fn revealed(device: &mut dyn Dut) -> (Revelation, Vec<String>) {
    let mut subject = DeviceSum::new(device).expect("float operands");
    let report = reveal(&mut subject, &RevealOptions::default()).expect("answers");
    let names = (0..subject.leaves()).map(|leaf| subject.leaf_name(leaf));
    let names = names.collect();
    (report, names)
}

fn row(inst: &str) -> ModelDut {
    let row = Catalogue::built_in().find("wormhole", inst).expect("a row");
    ModelDut::new("a black box", row.unit().expect("a unit").clone())
}

#[test]
fn the_operands_of_sums_are_leaves() {
    let mut device = Host::new(2, |a, b, c| (c + (a[0] + b[0])) + (a[1] + b[1]));
    let (report, names) = revealed(&mut device);
    assert_eq!(names, ["a0", "b0", "a1", "b1", "c"]);
    assert_eq!(report.verdict(), "verified over 100 trials (4 add f32)");
    let tree = report.tree.to_string();
    assert_eq!(tree, "(add f32 (add f32 (add f32 0 1) 4) (add f32 2 3))");
}

#[test]
fn the_operands_of_differences_are_leaves_with_a_sign() {
    let mut device = Host::new(1, |a, b, c| (c + a[0]) - b[0]);
    let (report, names) = revealed(&mut device);
    assert_eq!(names, ["a0", "-b0", "c"]);
    assert_eq!(report.verdict(), "verified over 100 trials (2 add f32)");
    assert_eq!(report.tree.to_string(), "(add f32 (add f32 0 2) 1)");
}

/// A number without the digits of its significand above `digits`.
fn lower(x: f32, digits: u32) -> f32 {
    let upper = f32::from_bits(x.to_bits() & (u32::MAX << digits));
    x - upper
}

#[test]
fn parts_of_significands_are_multiplied_in_an_order() {
    // The lower three digits of a bf16 b: none of a power of two.
    let mut device = Host::new(4, |a, b, c| {
        let products = a.iter().zip(b).map(|(a, &b)| a * lower(b, 19));
        products.fold(c, |sum, product| sum + product)
    });
    let (report, names) = revealed(&mut device);
    assert_eq!(names, ["p0", "p1", "p2", "p3", "c"]);
    assert_eq!(report.verdict(), "verified over 100 trials (4 add f32)");
    let tree = report.tree.to_string();
    assert_eq!(tree, "(add f32 (add f32 (add f32 (add f32 0 4) 1) 2) 3)");
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("every b one times (1 + 2^-5)")),
        "{:?}",
        report.notes
    );
}

#[test]
fn a_device_that_gives_nothing_has_no_masks() {
    let mut device = Host::new(2, |_, _, _| 0.0);
    let mut subject = DeviceSum::new(&mut device).expect("float operands");
    let error = reveal(&mut subject, &RevealOptions::default()).expect_err("nothing to see");
    assert!(error.to_string().contains("no masks work"), "{error}");
}

#[test]
fn every_row_of_tensix_is_revealed_and_probed() {
    let rows = Catalogue::built_in().architecture("wormhole").expect("it");
    let (mut sums, mut parts) = (0, 0);
    for instruction in rows.instructions() {
        let name = instruction.name.as_str();
        // One of each kind: the others differ in formats only.
        if !name.contains("bf16.d32") || name.contains("matmul") {
            continue;
        }
        let (report, names) = revealed(&mut row(name));
        assert!(report.nature == Nature::Tree || report.nature.name() == "no-single-tree");
        let features = probe(&mut row(name)).expect(name);
        assert_ne!(features.value("bits-c"), Some("unknown"), "{name}");
        let products = features.value("products");
        if name.contains("elwadd") || name.contains("elwsub") {
            assert_eq!(names.len(), 3, "{name}");
            assert_eq!(products, Some("not applicable"), "{name}");
            // The evidence is questions that the device itself can be asked.
            let tests = features.features.iter().flat_map(|it| &it.tests);
            let inputs: Vec<&str> = tests.map(|test| test.input.as_str()).collect();
            assert!(inputs.iter().any(|line| !line.contains("\"b\":\"0000\"")));
            assert!(inputs.iter().all(|line| line.contains("\"a\":")));
            sums += 1;
        } else if !name.contains("phase0") {
            assert_eq!(products, Some("not applicable"), "{name}");
            assert_eq!(features.value("subnormal-c"), Some("flushed"), "{name}");
            parts += 1;
        }
    }
    assert_eq!((sums, parts), (2, 6));
}
