//! §10.1: seven observations on silicon that are older than the vendor's simulator.

use crate::support::{fpu, machine, machines, phase, source};
use mmascope_model::tensix::{SourceFormat, Width};

/// An element-wise product in bf16, a result for each number of phases.
fn products(a: f32, b: f32) -> [f32; 4] {
    let results = machines().map(|machine| {
        let fpu = fpu(&machine, SourceFormat::Bf16, Width::Bits16);
        let mut dst = 0;
        [0, 1, 2, 3].map(|number| {
            dst = fpu.multiply(phase(number), source(a), source(b), dst).0;
            f32::from_bits(dst)
        })
    });
    assert_eq!(results[0], results[1]);
    results[0]
}

#[test]
fn issue_12923_two_and_four_phases() {
    assert_eq!(products(1.3125, 7.96875), [10.4375, 10.4375, 10.5, 10.5]);
}

#[test]
fn issue_16448_four_phases() {
    let first = [-1.078125, -1.0859375, -1.09375, -1.09375];
    assert_eq!(products(-3.640625, 0.298_828_13), first);
    let second = [-1.09375, -1.101_562_5, -1.101_562_5, -1.101_562_5];
    assert_eq!(products(-3.640625, 0.300_781_25), second);
}

#[test]
fn issue_12776_a_nan_is_a_number() {
    let nan = f32::from_bits(0x7fc0_0000);
    let bits = |x: f32| products(nan, x)[3].to_bits() >> 16;
    assert_eq!(bits(0.5), 0x7f40);
    assert_eq!(
        f32::from_bits(0x7f40_0000),
        255_211_775_190_703_847_597_530_955_573_826_158_592.0
    );
    assert_eq!([0.664_062_5, 0.671_875].map(bits), [0x7f7f, 0x7f80]);
}

#[test]
fn issue_38306_the_fault_of_one_machine() {
    let [faulty, sound] = machines().map(|machine| {
        let fpu = fpu(&machine, SourceFormat::Tf32, Width::Bits32);
        let (a, b) = (source(-1.5), source(1.0));
        fpu.multiply(phase(0), a, b, 0x3fbf_ffff).0
    });
    assert_eq!([faulty, sound], [0xc180_0000, 0xb400_0000]);
}

#[test]
fn issue_17012_a_row_is_reduced() {
    let machine = machine("wormhole");
    let fpu = fpu(&machine, SourceFormat::Bf16, Width::Bits32);
    let mut a = [0; 16];
    let values = [1.265_625, 1.789_062_5, 0.271_484_38, 1.671_875];
    for (a, value) in a.iter_mut().zip(values) {
        *a = source(value);
    }
    let ones = [source(1.0); 16];
    let sum = [0, 1, 2, 3].map(phase).into_iter();
    let sum = sum.fold(0, |dst, phase| fpu.mvmul(phase, &a, &ones, dst).0);
    assert_eq!(sum, 0x409f_f000);
    assert_eq!(f32::from_bits(sum), 4.998_047);
    // The move back to a source truncates to bf16: the 4.96875 that was reported.
    let moved = fpu.from_dst(SourceFormat::Bf16, sum);
    assert_eq!(moved, SourceFormat::of_bf16(0x409f));
    assert_eq!(f32::from_bits(0x409f_0000), 4.968_75);
}

#[test]
fn issue_46101_two_roundings() {
    // 1.75 · 2^-9 is rounded to a multiple of 2^-10 first, 2^-8, which is then a tie of bf16.
    let machine = machine("wormhole");
    let fpu = fpu(&machine, SourceFormat::Tf32, Width::Bits16);
    let product = |value: f32| {
        let b = source(1.0);
        fpu.multiply(phase(0), source(value), b, 0x3f80_0000).0
    };
    let unit = 2_f32.powi(-9);
    assert_eq!(product(2.0 * unit), 0x3f81_0000);
    assert_eq!(product(unit), 0x3f80_0000);
    assert_eq!(product(1.75 * unit), 0x3f81_0000);
}
