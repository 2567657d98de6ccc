//! Time of `identify` for 1024 × 1024 × 1024, with D made under several schedules: all rows times all
//! usual schedules, sampled first, then in full.
#![allow(missing_docs)]

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use mmascope::array::{Array, Element};
use mmascope::cases::{Distribution, GeneratedOperand};
use mmascope::dpa::Modifiers;
use mmascope::format::{F16, F32, Format};
use mmascope::gemm::{Arrays, Matrices, Matrix, Product, Schedule, Watch};
use mmascope::identify::{Factors, Question, identify};
use mmascope::isa::Catalogue;

const SIZE: usize = 1024;
static GO: AtomicBool = AtomicBool::new(false);

fn main() {
    let unit = Catalogue::built_in().find("hopper", "wgmma.m64n8k16.f32.f16.f16");
    let unit = unit.and_then(|row| row.unit().cloned()).expect("a unit");
    let normal: Distribution = "normal".parse().expect("a distribution");
    let words = |operand| -> Vec<u64> {
        let code = normal.codes(&F16, operand, 1).expect("a format");
        let places = (0..SIZE as u32).flat_map(|i| (0..SIZE as u32).map(move |j| (i, j)));
        places.map(|(i, j)| code(i, j)).collect()
    };
    let (a, b) = (words(GeneratedOperand::A), words(GeneratedOperand::B));
    let matrix = |words: &[u64]| {
        let words: Vec<u16> = words.iter().map(|&word| word as u16).collect();
        Matrix::row_major(SIZE, SIZE, words).expect("a matrix")
    };
    let matrices = Matrices::new(matrix(&a), matrix(&b)).expect("matrices");
    let product = Product::new(&unit, &matrices, Modifiers::default()).expect("a product");
    let watch = Watch {
        progress: &|_| (),
        cancel: &GO,
    };
    let (a, b) = (array(&F16, &a), array(&F16, &b));
    for schedule in [
        "chain",
        "split-k=4 reduce=ascending/f32",
        "stream-k=132 tile=128x128 iteration=4 reduce=ascending/f32",
    ] {
        let parsed: Schedule = schedule.parse().expect("a schedule");
        let d = parsed.run(&product, None, &watch).expect("D").to_vec();
        let d = array(&F32, &d);
        let question = Question {
            operands: Arrays {
                a: &a,
                b: &b,
                c: None,
                scale_a: None,
                scale_b: None,
                transpose_a: false,
                transpose_b: false,
            },
            d: &d,
            factors: Factors::default(),
        };
        let begun = Instant::now();
        let found = identify(Catalogue::built_in(), &question, &GO, &|_| ()).expect("an answer");
        println!(
            "{schedule}: {:.1} s, {} pairs of unit and schedule; identified: {:?}",
            begun.elapsed().as_secs_f64(),
            found.tried,
            found
                .identified()
                .map(|candidate| format!("{} {}", candidate.rows[0], candidate.schedule))
                .collect::<Vec<_>>()
        );
    }
}

fn array(format: &Format, words: &[u64]) -> Array {
    let bytes = words.iter().flat_map(|word| {
        let bytes = word.to_le_bytes();
        bytes.into_iter().take(format.bits as usize / 8)
    });
    let element = Element::Number(*format);
    Array::new("matrix", &[SIZE, SIZE], element, bytes.collect()).expect("an array")
}
