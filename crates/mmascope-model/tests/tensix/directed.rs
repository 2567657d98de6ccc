//! §10.2: directed inputs on which the simulator and the specification agree.

use crate::support::{fpu, machines, phase, source};
use mmascope_model::tensix::{
    Machine, SourceFormat, Width, accumulate_bf16, accumulate_f16, accumulate_f32,
};

/// MVMUL, phase 0, of a column with these data in its two groups; b is 1 where it says nothing else.
fn sum(machine: &Machine, width: Width, groups: [&[(f32, f32)]; 2], dst: u32) -> u32 {
    let mut a = [0; 16];
    let mut b = [source(1.0); 16];
    for (group, terms) in groups.into_iter().enumerate() {
        for (k, (x, y)) in terms.iter().enumerate() {
            a[8 * group + k] = source(*x);
            b[8 * group + k] = source(*y);
        }
    }
    let fpu = fpu(machine, SourceFormat::Tf32, width);
    fpu.mvmul(phase(0), &a, &b, dst).0
}

fn two(power: i32) -> f32 {
    2_f32.powi(power)
}

/// Both machines give this.
fn both(expected: u32, of: impl Fn(&Machine) -> u32) {
    for machine in machines() {
        let got = of(&machine);
        assert_eq!(got, expected, "{got:08x}, expected {expected:08x}");
    }
}

fn ones(values: &[f32]) -> Vec<(f32, f32)> {
    values.iter().map(|value| (*value, 1.0)).collect()
}

#[test]
fn groups_have_a_grid_of_their_own() {
    let wide = |first: &[f32], second: &[f32], expected| {
        let (first, second) = (ones(first), ones(second));
        both(expected, |machine| {
            sum(machine, Width::Bits32, [&first, &second], 0)
        });
    };
    let eight = |first: f32, power: i32| {
        let mut values = vec![first];
        values.extend([two(power); 7]);
        values
    };
    // Seven terms of 2^-12 and of 2^-11 beside 1, in one group.
    wide(&eight(1.0, -12), &[], 0x3f80_0000);
    wide(&eight(1.0, -11), &[], 0x3f80_e000);
    let mut negative = vec![1.0];
    negative.extend([-two(-11); 7]);
    wide(&negative, &[], 0x3f7e_4000);
    // The same in the other group is a sum of its own.
    wide(&[1.0], &[two(-12); 8], 0x3f80_4000);
    wide(&[1.0], &[two(-24)], 0x3f80_0001);
    wide(&[1.0], &[-two(-24)], 0x3f80_0000);
    wide(&[1.0], &[two(-25)], 0x3f80_0000);
}

#[test]
fn ties_of_products_go_up_and_those_of_dst_away_from_zero() {
    let added = |width, dst, term: f32, expected| {
        let term = ones(&[term]);
        both(expected, |machine| sum(machine, width, [&term, &[]], dst));
    };
    let (one, minus_one) = (0x3f80_0000, 0xbf80_0000);
    added(Width::Bits32, one, two(-24), 0x3f80_0001);
    added(Width::Bits32, one, -two(-24), 0x3f80_0000);
    added(Width::Bits32, minus_one, -two(-24), 0xbf80_0000);
    added(Width::Bits32, minus_one, two(-24), 0xbf7f_fffe);
    added(Width::Bits16, one, two(-8), 0x3f81_0000);
    added(Width::Bits16, one, two(-9), 0x3f80_0000);
    added(Width::Bits16, one, 1.75 * two(-9), 0x3f81_0000);
}

#[test]
fn overflow_and_underflow() {
    let wide = |first: &[(f32, f32)], second: &[(f32, f32)], dst, expected| {
        both(expected, |machine| {
            sum(machine, Width::Bits32, [first, second], dst)
        });
    };
    let (large, negative) = ((two(127), 2.0), (-two(127), 2.0));
    wide(&[large, negative], &[], 0, 0);
    wide(&[large], &[negative], 0, 0);
    wide(&[large], &[], 0, 0x7f80_0000);
    wide(&[large], &[], (-two(127)).to_bits(), 0x7f00_0000);
    let small = (two(-126), 0.5);
    wide(&[small], &[], 0, 0);
    wide(&[small, small], &[], 0, 0);
    wide(&[small, small, (two(-126), 1.0)], &[], 0, 0x0100_0000);
}

#[test]
fn every_code_of_dst_is_a_number() {
    let dst = |dst, expected| {
        both(expected, |machine| {
            sum(machine, Width::Bits32, [&[(0.0, 0.0)], &[]], dst)
        });
    };
    dst(0x7fc0_0000, 0x7f80_0000);
    dst(0xff80_0001, 0xff80_0000);
    dst(0x8000_0000, 0);
    dst(0x0040_0000, 0);
}

#[test]
fn zeros_of_f16_disturb_a_small_dst() {
    let zero = |dst, expected| {
        both(expected, |machine| {
            let fpu = fpu(machine, SourceFormat::F16, Width::Bits32);
            fpu.mvmul(phase(0), &[0; 16], &[0; 16], dst).0
        });
    };
    zero(0x3000_0001, 0x3000_0002);
    zero(0x2581_2345, 0x2580_0000);
}

#[test]
fn element_wise_sums() {
    let add = |width, a: f32, b: f32, expected: u32| {
        both(expected, |machine| {
            fpu(machine, SourceFormat::Tf32, width)
                .add(source(a), source(b), 0)
                .0
        });
    };
    let infinite = f32::INFINITY;
    add(Width::Bits32, infinite, infinite, 0x7f80_0000);
    add(Width::Bits32, -infinite, -infinite, 0xff80_0000);
    add(Width::Bits32, infinite, -infinite, 0);
    add(Width::Bits32, infinite, -two(127), 0x7f00_0000);
    add(Width::Bits32, -0.0, -0.0, 0);
    add(Width::Bits16, 1.0, two(-8), 0x3f81_0000);
    add(Width::Bits16, 1.0, -two(-8), 0x3f7f_0000);
    add(Width::Bits32, 1.0, two(-11), 0x3f80_2000);
    add(Width::Bits32, 1.0, two(-12), 0x3f80_0000);
    add(Width::Bits32, 1.0, -two(-11), 0x3f7f_c000);
    // Subtraction is addition of −b.
    both(0x3f7f_c000, |machine| {
        let fpu = fpu(machine, SourceFormat::Tf32, Width::Bits32);
        fpu.subtract(source(1.0), source(two(-11)), 0).0
    });
}

#[test]
fn f16_in_a_narrow_dst() {
    // Working form: sign(31) exponent(27..23) fraction(22..13).
    let f16 = |word: u32| (word >> 15 << 31) | (word & 0x7fff) << 13;
    let narrow = |of: &dyn Fn(&mmascope_model::tensix::Fpu<'_>) -> u32, expected: u32| {
        both(f16(expected), |machine| {
            of(&fpu(machine, SourceFormat::F16, Width::Bits16))
        });
    };
    let datum = |word: u16| SourceFormat::of_f16(word);
    narrow(
        &|fpu| fpu.multiply(phase(0), datum(0x7bff), datum(0x4000), 0).0,
        0x7fc0,
    );
    narrow(&|fpu| fpu.add(datum(0x7c00), datum(0), 0).0, 0x7c00);
    narrow(&|fpu| fpu.add(datum(0x7c00), datum(0x7c00), 0).0, 0x7fff);
}

#[test]
fn multiply_adds() {
    let cases: &[([u32; 3], [u32; 2])] = &[
        ([0, 0x7f80_0000, 0], [0x7f80_0001, 0x7fc0_0000]),
        ([0x8000_0000, 0x7f80_0000, 0], [0xff80_0001, 0x7fc0_0000]),
        (
            [0x7f80_0000, 0x3f80_0000, 0xff80_0000],
            [0x7f80_0001, 0x7fc0_0000],
        ),
        (
            [0x3f80_0000, 0x3f80_0000, 0x7fff_ffff],
            [0x7f80_0001, 0x7fc0_0000],
        ),
        (
            [0x7f00_0000, 0x4000_0000, 0xff80_0000],
            [0x7f80_0001, 0xff80_0000],
        ),
        ([0x7f00_0000, 0x4000_0000, 0xff7f_ffff], [0x7f80_0000; 2]),
        ([0x8000_0000, 0x3f80_0000, 0x8000_0000], [0, 0x8000_0000]),
        ([0x8080_0000, 0x3f00_0000, 0], [0, 0x8000_0000]),
        ([0x0080_0000, 0x3f7f_ffff, 0], [0, 0x0080_0000]),
        ([0x00ff_ffff, 0x3f00_0000, 0], [0, 0x0080_0000]),
        ([0x3f80_0000, 0x3f80_0000, 0x3380_0000], [0x3f80_0000; 2]),
        ([0x3f80_0000, 0x3f80_0000, 0x3380_0001], [0x3f80_0001; 2]),
        ([0x3f80_0001, 0x3f80_0001, 0xbf80_0002], [0x3280_0000; 2]),
        (
            [0x3ffc_47a6, 0x427d_9080, 0x40e6_163b],
            [0x4304_214c, 0x4304_214d],
        ),
        (
            [0x4378_6507, 0x3f7f_431d, 0x4126_c7c9],
            [0x4381_0d1e, 0x4381_0d1f],
        ),
    ];
    for ([x, y, z], expected) in cases {
        let got = machines().map(|machine| machine.multiply_add(*x, *y, *z));
        assert_eq!(got, *expected, "{x:08x} · {y:08x} + {z:08x}");
    }
}

#[test]
fn accumulation_in_memory() {
    assert_eq!(accumulate_f32(0x7f80_0000, 0xff80_0000), Ok(0x7fc0_0000));
    assert_eq!(accumulate_f32(0x0080_0000, 0x8080_0001), Ok(0x8000_0000));
    for (memory, packed, sum) in [
        (0x3f80, 0x3b80, 0x3f80),
        (0x3f81, 0x3b80, 0x3f82),
        (0x7f80, 0xff80, 0x7fc0),
        (0x7fc0, 0xff80, 0xff80),
        (0x7f80, 0xffc0, 0x7f80),
    ] {
        assert_eq!(
            accumulate_bf16(memory, packed),
            Ok(sum),
            "{memory:04x} + {packed:04x}"
        );
    }
    for (memory, packed, sum) in [
        (0x7c00, 0xfc00, 0x7fff),
        (0x77ff, 0xf7ff, 0),
        (0x0400, 0x8401, 0xffff),
    ] {
        assert_eq!(
            accumulate_f16(memory, packed),
            Ok(sum),
            "{memory:04x} + {packed:04x}"
        );
    }
}
