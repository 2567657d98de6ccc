//! Products of Google's matrix unit as users printed them: f32 operands, JAX's default precision, one pass of bf16.
//!
//! Sources: jax-ml/jax, issue 9973 (2022, a TPU of Colab) and issue 16349 (2023, a TPU v3-8). The operands of the second are
//! `jax.random.normal` of the key 0 split in three, with JAX 0.4.12's generator. Eight outputs of at most four products
//! say nothing about longer sums.

use mmascope::dpa::{Modifiers, Operands};
use mmascope::format::{BF16, F32};
use mmascope::isa::Catalogue;

/// Rounded to bf16 with the reference; +0 fills up to the unit's K.
fn operand(numbers: &[f32], k: usize) -> Vec<u64> {
    let rounded = numbers.iter().map(|number| {
        let exact = F32.decode(u64::from(number.to_bits())).exact();
        let exact = exact.expect("a number");
        BF16.round(
            &exact,
            mmascope::format::Rounding::Rne,
            mmascope::format::Overflow::Ieee,
        )
    });
    let mut words: Vec<u64> = rounded.collect();
    words.resize(k, 0);
    words
}

fn product<const K: usize>(a: [[f32; K]; 2], b: [[f32; 2]; K]) -> [[f32; 2]; 2] {
    let row = Catalogue::built_in()
        .find("tpu", "mxu.f32.bf16")
        .expect("a row");
    let k = row.unit().expect("a unit").signature().k;
    let mut d = [[0.0; 2]; 2];
    for (i, outputs) in d.iter_mut().enumerate() {
        for (j, output) in outputs.iter_mut().enumerate() {
            let (a, b) = (operand(&a[i], k), operand(&b.map(|row| row[j]), k));
            let operands = Operands {
                a: &a,
                b: &b,
                ..Operands::default()
            };
            let word = row.dot(&operands, &Modifiers::default()).expect("a result");
            *output = f32::from_bits(word as u32);
        }
    }
    d
}

#[test]
fn a_product_of_issue_9973() {
    let a = [[0.3744, 0.1656], [0.4707, 0.1663]];
    let b = [[0.3946, 0.1186], [0.1569, 0.3145]];
    let printed = [[0.174_051_28, 0.096_698_76], [0.211_809_16, 0.108_054_16]];
    assert_eq!(product(a, b), printed);
}

#[test]
fn a_product_of_issue_16349() {
    let a = [
        [-1.619_368_6, 1.283_861_2, -1.136_875, -0.488_556_86],
        [-0.195_228_06, 1.541_155_1, -0.370_269_86, -0.178_549_81],
    ];
    let b = [
        [-0.385_374_43, -1.470_738_9],
        [0.546_792, 2.095_505_5],
        [1.116_561_7, 0.161_174_7],
        [-0.537_137_4, -0.892_138_24],
    ];
    let printed = [[0.311_843_87, 5.308_944_7], [0.598_579_4, 3.608_646_4]];
    assert_eq!(product(a, b), printed);
}
