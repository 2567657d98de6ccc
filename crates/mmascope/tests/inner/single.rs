//! The addition of f32 words, against the processor's.

use crate::single::add;

#[test]
fn sums_equal_those_of_the_processor() {
    let check = |x: u32, y: u32| {
        let [a, b] = [x, y].map(f32::from_bits);
        let expected = (a.is_finite() && b.is_finite()).then(|| (a + b).to_bits());
        assert_eq!(add(x, y), expected, "{x:08x} + {y:08x}");
    };
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 32) as u32
    };
    let edges = [
        0,
        1,
        2,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0xff_ffff,
        0x3f80_0000,
        0x3f7f_ffff,
        0x7f7f_ffff,
        0x7f00_0000,
        0x7f80_0000,
        0x7fc0_0000,
    ];
    for x in edges {
        for y in edges {
            for signs in 0..4_u32 {
                check(x | signs << 31, y | (signs >> 1) << 31);
            }
        }
    }
    for _ in 0..1_000_000 {
        let (x, y) = (random(), random());
        check(x, y);
        // Near each other in exponent, where cancellation and ties are.
        let near = (x & 0x7f80_0000).wrapping_add((y % 64) << 23) & 0x7f80_0000;
        check(x, y & 0x807f_ffff | near);
        // Few fraction bits make ties; small exponents make subnormals.
        check(x & 0xff80_000f, (y & 0x8078_0000) | near);
        check(x & 0x83ff_ffff, y & 0x83ff_ffff);
        check(x & 0x80ff_ffff, y & 0x80ff_ffff);
    }
}
