//! Explanations of every row equal the reference, and what they say is lost is what is lost.

use crate::support::{ARCHITECTURES, Xorshift};
use mmascope_model::dpa::{Modifiers, Operands};
use mmascope_model::explain::Trace;
use mmascope_model::isa::Catalogue;

/// A word of a format: any, one near 1, or a code of an exponent field of zeros or ones.
fn word(random: &mut Xorshift, bits: u32, exponent_bits: u32, kind: u32) -> u64 {
    let any = u64::from(random.word()) & (u64::MAX >> (64 - bits));
    let below = bits - 1 - exponent_bits;
    let ones = (1_u64 << exponent_bits) - 1;
    let field = match kind {
        0 => return any,
        1 => ones / 2 - 4 + u64::from(random.below(8)),
        _ => [0, 1, ones / 2, ones - 1, ones][random.below(5) as usize],
    };
    any & !(ones << below) | field << below
}

#[test]
fn explanations_equal_the_reference() {
    let mut random = Xorshift(77);
    let mut rows = 0;
    for architecture in ARCHITECTURES {
        let architecture = Catalogue::built_in().architecture(architecture).unwrap();
        for row in architecture.instructions() {
            rows += 1;
            let signature = &row.signature;
            for round in 0..120 {
                let mut draw = |format: &mmascope_model::format::Format| {
                    let float = format.float().unwrap();
                    word(
                        &mut random,
                        format.register.bits,
                        float.exponent_bits,
                        round % 3,
                    )
                };
                let a: Vec<u64> = (0..signature.k).map(|_| draw(&signature.a)).collect();
                let b: Vec<u64> = (0..signature.k).map(|_| draw(&signature.b)).collect();
                let operands = Operands {
                    a: &a,
                    b: &b,
                    c: draw(&signature.c),
                    ..Operands::default()
                };
                let expected = row.dot(&operands, &Modifiers::default()).unwrap();
                let trace =
                    Trace::of(row.unit().unwrap(), &operands, &Modifiers::default()).unwrap();
                let name = format!(
                    "{} {} {a:x?} {b:x?} {:x}",
                    row.architecture, row.name, operands.c
                );
                assert_eq!(trace.word(), expected, "{name}\n{trace}");
                let finite = trace.steps.iter().all(|step| !step.value.is_special());
                if let Some(error) = trace.error.as_ref().filter(|_| finite) {
                    let lost = -&trace.lost();
                    assert_eq!(lost, error.difference, "{name}\n{trace}");
                }
            }
        }
    }
    assert_eq!(rows, 170);
}

/// What is lost is called subnormal operands only where there are some.
#[test]
fn only_subnormal_operands_are_called_so() {
    let row = Catalogue::built_in().find("wormhole", "tensix.elwmul.bf16.d32.phase1");
    let unit = row.expect("a row").unit().expect("a unit");
    let text = |a: u64| {
        let operands = Operands {
            a: &[a],
            b: &[0x7fc0],
            c: 0,
            scale_a: &[],
            scale_b: &[],
        };
        let trace = Trace::of(unit, &operands, &Modifiers::default());
        trace.expect("an explanation").to_string()
    };
    let normal = text(0x3fc0);
    assert!(normal.contains("parts that are not multiplied"), "{normal}");
    assert!(!normal.contains("subnormal"), "{normal}");
    assert!(text(0x0040).contains("subnormal operands"));
}
