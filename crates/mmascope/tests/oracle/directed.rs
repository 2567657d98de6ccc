//! Single inputs that decide a rule which the families reach only now and then.

use mmascope::dpa::{Modifiers, Operands, Unit};

use super::proof::unit;

fn dot(unit: &Unit, a: &[u64], b: &[u64], c: u64) -> u64 {
    let operands = Operands {
        a,
        b,
        c,
        ..Operands::default()
    };
    unit.dot(&operands, &Modifiers::default())
        .expect("operands of the right length")
}

/// IEEE 754 §6.3: toward −∞ an exact cancellation is −0, but a sum of +0 alone is +0.
#[test]
fn zeros_of_one_sign_keep_it_toward_minus_infinity() {
    let chain = unit("f64", "f64", "f64", 1, "fma-chain -> rd f64");
    let (one, minus_one) = (1_f64.to_bits(), (-1_f64).to_bits());
    let minus_zero = (-0_f64).to_bits();
    assert_eq!(dot(&chain, &[one], &[minus_one], one), minus_zero);
    assert_eq!(dot(&chain, &[0], &[minus_one], 0), minus_zero);
    assert_eq!(dot(&chain, &[0], &[one], 0), 0, "+0·1 + 0 toward −∞");
    let from_product = unit("f64", "f64", "f64", 1, "fma-chain from product -> rd f64");
    assert_eq!(dot(&from_product, &[0], &[one], 0), 0, "+0·1 toward −∞");
    let add = unit(
        "f32",
        "f32",
        "f32",
        1,
        "s = fma-chain -> rne f32 ; d = add c s -> rd f32",
    );
    assert_eq!(dot(&add, &[0], &[0], 0), 0, "0 + 0 toward −∞");
    let convert = unit(
        "f32",
        "f32",
        "f32",
        1,
        "s = fma-chain -> rne f32 ; d = convert s -> rd f16",
    );
    assert_eq!(
        dot(&convert, &[0], &[0], 0),
        0,
        "a conversion of +0 toward −∞"
    );
}

/// `zero=ieee` means the same for every algorithm: terms that are all −0 give −0.
#[test]
fn zeros_of_one_sign_keep_it_in_every_algorithm() {
    for algorithm in [
        "t-fdpa L=2 F=24 e0=-132",
        "e-fdpa L=2",
        "tr-fdpa L=2 F=24 F2=31",
        "gtr-fdpa L=2 F=24 F2=31",
    ] {
        let unit = unit(
            "f16",
            "f16",
            "f32",
            2,
            &format!("{algorithm} -> rne f32 zero=ieee"),
        );
        let d = dot(&unit, &[0x8000, 0], &[0x3c00, 0xbc00], 0x8000_0000);
        assert_eq!(d, 0x8000_0000, "{algorithm}");
    }
}

/// §2.5 makes +0 of the operand c, not of the −0 that a flushed addition has left.
#[test]
fn a_flushed_sum_keeps_its_sign_in_the_next_group() {
    let unit = unit("bf16", "bf16", "f32", 4, "ftz-addmul P=2 -> rne f32");
    // 1.5·2^-126 − 1.75·2^-126 is flushed to −0, to which two products flushed to −0 are added.
    let (a, b) = ([0xa060, 0, 0x8d80, 0x8d80], [0x2000, 0, 0x0d80, 0x0d80]);
    assert_eq!(dot(&unit, &a, &b, 0x00c0_0000), 0x8000_0000);
    // c itself is an operand: −0 becomes +0.
    let (a, b) = ([0x8d80; 4], [0x0d80; 4]);
    assert_eq!(dot(&unit, &a, &b, 0x8000_0000), 0);
}

/// A product that becomes −0 by rounding or by its flush is a zero like any other.
#[test]
fn rounded_products_are_zeros_too() {
    for algorithm in ["fused L=8 F=exact", "add-mul P=8"] {
        for (products, expected) in [
            ("products=rne:f32 flush-products=kept", 0x8000_0000),
            ("products=rne:f32 flush-products=plus", 0),
            ("products=rne:f16", 0x8000_0000),
        ] {
            let program = format!("{algorithm} {products} -> rne f32 nan=7fffffff zero=ieee");
            let unit = unit("bf16", "bf16", "f32", 8, &program);
            // −2^-127, and −0 seven times.
            let (mut a, mut b) = ([0x8000; 8], [0x3f80; 8]);
            (a[0], b[0]) = (0xa000, 0x1f80);
            assert_eq!(dot(&unit, &a, &b, 0x8000_0000), expected, "{program}");
        }
    }
    let alone = "fused L=4 F=24 e0=-133 flush-products=kept -> rz f32";
    let message = alone
        .parse::<mmascope::dpa::Program>()
        .expect_err("no rounding");
    assert!(
        message.to_string().contains("products=rne:f32"),
        "{message}"
    );
}
