//! Every operation of every level of this machine against `Portable`.

use mmascope::cpu::Level;

use crate::cpu::lanes::{self, Lanes, Portable};

/// A multiple of every width.
const WORDS: usize = 16;
type Block = [u32; WORDS];

/// All operations on three blocks of words, in one order; the name of each with what it gives.
#[inline(always)]
unsafe fn all<V: Lanes>(x: &Block, y: &Block, z: &Block) -> Vec<(&'static str, Block)> {
    let mut found = Vec::new();
    macro_rules! operation {
        ($name:expr, |$a:ident, $b:ident, $c:ident| $value:expr) => {
            let mut out = [0; WORDS];
            for at in (0..WORDS).step_by(V::WIDTH) {
                // SAFETY: the caller has the instruction set; the blocks have `WORDS` words.
                unsafe {
                    let $a = V::load(x.as_ptr().add(at));
                    let $b = V::load(y.as_ptr().add(at));
                    let $c = V::load(z.as_ptr().add(at));
                    let _ = ($b, $c);
                    // (Plain Rust in functions of its own: one of all operations takes the compiler minutes.)
                    let value: V = lanes::apart!(V, $value);
                    value.store(out.as_mut_ptr().add(at));
                }
            }
            found.push(($name, out));
        };
    }
    operation!("splat", |_a, _b, _c| V::splat(0x8123_4567));
    operation!("b_splat", |_a, _b, _c| V::b_splat(0x9d));
    operation!("b_add", |a, b, _c| a.b_add(b));
    operation!("b_max", |a, b, _c| a.b_max(b));
    operation!("and", |a, b, _c| a.and(b));
    operation!("or", |a, b, _c| a.or(b));
    operation!("xor", |a, b, _c| a.xor(b));
    operation!("not_and", |a, b, _c| a.not_and(b));
    operation!("i_add", |a, b, _c| a.i_add(b));
    operation!("i_sub", |a, b, _c| a.i_sub(b));
    operation!("i_max", |a, b, _c| a.i_max(b));
    operation!("i_min", |a, b, _c| a.i_min(b));
    operation!("i_abs", |a, _b, _c| a.i_abs());
    operation!("i_signed", |a, b, _c| a.i_signed(b.or(V::splat(1))));
    operation!("i_greater", |a, b, _c| a.i_greater(b));
    operation!("i_equal", |a, b, c| a.i_equal(b).or(b.i_equal(c)));
    operation!("i_ones", |a, _b, _c| a.i_ones());
    operation!("b_ones", |a, _b, _c| a.and(V::b_splat(15)).b_ones());
    operation!("shl", |a, _b, _c| a.shl::<7>());
    operation!("shr", |a, _b, _c| a.shr::<24>());
    operation!("shl_by", |a, b, _c| a.shl_by(b.and(V::splat(63))));
    operation!("shl_by far", |a, b, _c| a.shl_by(b));
    operation!("sar_by", |a, b, _c| a.sar_by(b.and(V::splat(63))));
    operation!("sar_by far", |a, b, _c| a.sar_by(b.shr::<1>()));
    operation!("sar_odd", |a, b, _c| a.sar_odd(b.and(V::splat(63))));
    operation!("sar_odd exact", |a, b, _c| {
        // Half of the numbers lose nothing.
        let count = b.and(V::splat(15));
        a.and(V::splat(0xffff_0000)).sar_odd(count)
    });
    operation!("b_any_equal", |a, _b, _c| {
        let (none, same) = (a.xor(V::b_splat(0x5a)), V::b_splat(0x5a).xor(a));
        let equal = [a.b_any_equal(none), none.b_any_equal(same)];
        // The lowest byte of each lane is the other's.
        let lowest = a.b_any_equal(a.xor(V::splat(0x0101_0100)));
        V::splat(u32::from(equal[0]) | u32::from(equal[1]) << 1 | u32::from(lowest) << 2)
    });
    operation!("select", |a, b, c| V::select(a.i_greater(b), b, c));
    operation!("top_bits", |a, _b, _c| V::splat(
        a.top_bits().count_ones() & 1
    ));
    operation!("f_add", |a, b, _c| numbers(a).f_add(numbers(b)));
    operation!("f_sub", |a, b, _c| numbers(a).f_sub(numbers(b)));
    operation!("f_mul", |a, b, _c| numbers(a).f_mul(numbers(b)));
    operation!("f_fma", |a, b, c| numbers(a).f_fma(numbers(b), numbers(c)));
    operation!("f_add_down", |a, b, _c| numbers(a).f_add_down(numbers(b)));
    operation!("f_add_rounded, to nearest", |a, b, _c| numbers(a)
        .f_add_rounded::<{ lanes::terms::NEAREST }>(numbers(b)));
    operation!("f_add_rounded, toward zero", |a, b, _c| numbers(a)
        .f_add_rounded::<{ lanes::terms::ZERO }>(numbers(b)));
    operation!("f_add_rounded, down", |a, b, _c| numbers(a)
        .f_add_rounded::<{ lanes::terms::DOWN }>(numbers(b)));
    operation!("f_add_rounded, up", |a, b, _c| numbers(a)
        .f_add_rounded::<{ lanes::terms::UP }>(numbers(b)));
    operation!("f_add_rounded, cancelled", |a, _b, _c| {
        let x = numbers(a);
        let toward_zero = x.f_add_rounded::<{ lanes::terms::ZERO }>(x.xor(V::splat(1 << 31)));
        toward_zero.or(x
            .f_add_rounded::<{ lanes::terms::DOWN }>(x.xor(V::splat(1 << 31)))
            .shr::<1>())
    });
    operation!("f_fma_down", |a, b, c| numbers(a)
        .f_fma_down(numbers(b), numbers(c)));
    operation!("f_fma_down near", |a, b, _c| {
        // All but cancelled.
        let (x, y) = (numbers(a), numbers(b));
        x.f_fma_down(y, x.f_mul(y).xor(V::splat(1 << 31)))
    });
    operation!("f_to_i", |a, _b, _c| small(a).f_to_i());
    operation!("f_to_i_nearest", |a, _b, _c| small(a).f_to_i_nearest());
    operation!("f_to_i_down", |a, _b, _c| small(a).f_to_i_down());
    operation!("f_to_i_up", |a, _b, _c| small(a).f_to_i_up());
    operation!("f_floor", |a, _b, _c| small(a).f_floor());
    operation!("i_to_f", |a, _b, _c| a.i_to_f());
    operation!("i_to_f_toward_zero", |a, _b, _c| a.i_to_f_toward_zero());
    operation!("i_to_f_odd", |a, _b, _c| a
        .i_max(V::splat(0x8000_0001))
        .i_to_f_odd());
    operation!("f_to_half", |a, b, _c| {
        // Around f16's numbers, beyond them, and halfway between them.
        let magnitude = a.and(V::splat(0x1fff_ffff)).i_add(V::splat(0x3000_0000));
        let x = magnitude.or(a.and(V::splat(0x8000_0000)));
        let tie = x.and(V::splat(0xffff_e000)).or(V::splat(0x1000));
        V::select(a.i_greater(b), x, tie).f_to_half()
    });
    operation!("f_to_half zero", |a, _b, _c| a
        .and(V::splat(0x8000_0000))
        .f_to_half());
    operation!("f to d to f", |a, _b, _c| numbers(a)
        .f_low_to_d()
        .d_to_f(numbers(a).f_high_to_d()));
    operation!("i to d to f", |a, _b, _c| a
        .i_low_to_d()
        .d_to_f(a.i_high_to_d()));
    operation!("d_splat", |_a, _b, _c| V::d_splat(-1.7));
    operation!("d_add", |a, b, _c| doubles(a).d_add(doubles(b)));
    operation!("d_mul", |a, b, _c| doubles(a).d_mul(doubles(b)));
    operation!("d_fma", |a, b, c| doubles(a).d_fma(doubles(b), doubles(c)));
    operation!("d_trunc", |a, _b, _c| doubles(a).d_trunc());
    operation!("d_floor", |a, _b, _c| doubles(a).d_floor());
    operation!("d_negative", |a, _b, _c| a.d_negative());
    operation!("d_to_f rounds", |a, _b, _c| {
        // Halves of a register go where they came from, whatever its width.
        let (x, by) = (numbers(a), V::d_splat(1.000_000_123_4));
        let (low, high) = (x.f_low_to_d().d_mul(by), x.f_high_to_d().d_mul(by));
        low.d_to_f(high)
    });
    operation!("l_add", |a, b, _c| a.l_add(b));
    operation!("b_dot4", |a, b, _c| {
        // Two products in 16 bits.
        a.and(V::b_splat(0x7f)).b_dot4(b)
    });
    operation!("b_dot4_add", |a, b, c| {
        a.and(V::b_splat(0x7f)).b_dot4_add(b, c)
    });
    operation!("b_dot2", |a, b, _c| a.and(V::b_splat(0x7f)).b_dot2(b));
    operation!("w_add", |a, b, _c| a.w_add(b));
    operation!("w_pairs", |a, _b, _c| a.w_pairs());
    // (Last, since levels without them end here.)
    if V::LONG || V::APART {
        macro_rules! each_direction {
            ($($direction:ident)*) => {$(
                operation!(concat!("f_to_l ", stringify!($direction)), |a, b, _c| {
                    const HOW: u8 = lanes::terms::$direction;
                    // From 2^-6 to 2^58, of both signs.
                    let field = b.and(V::splat(0x1f80_0000)).i_add(V::splat(121 << 23));
                    let x = a.and(V::splat(0x807f_ffff)).or(field);
                    let (low, high) = (x.f_low_to_l::<HOW>(), x.f_high_to_l::<HOW>());
                    low.l_to_f::<{ lanes::terms::NEAREST }>(high)
                });
                operation!(concat!("l_to_f ", stringify!($direction)), |a, b, _c| {
                    let [low, high] = a.l_joined(b);
                    low.l_to_f::<{ lanes::terms::$direction }>(high)
                });
            )*};
        }
        each_direction! { ZERO NEAREST DOWN UP }
        operation!("l_to_f of few bits", |a, _b, _c| {
            let [low, high] = a.l_joined(a.sar_by(V::splat(31)));
            low.l_to_f::<{ lanes::terms::ZERO }>(high)
        });
        operation!("l_to_d", |a, _b, _c| a.l_to_d());
        operation!("u_to_f", |a, _b, _c| a.u_to_f());
    }
    found
}

/// Bits with a middling exponent: no NaN, whose payloads differ from machine to machine.
#[inline(always)]
unsafe fn numbers<V: Lanes>(x: V) -> V {
    // SAFETY: as the caller's.
    unsafe { x.and(V::splat(0xbfff_ffff)).or(V::splat(0x2000_0000)) }
}

/// Numbers from 2 to 2^17, most with a fraction.
#[inline(always)]
unsafe fn small<V: Lanes>(x: V) -> V {
    // SAFETY: as the caller's.
    unsafe { x.and(V::splat(0x87ff_ffff)).or(V::splat(0x4000_0000)) }
}

/// Numbers from 2 to 2^65 in f64.
#[inline(always)]
unsafe fn doubles<V: Lanes>(x: V) -> V {
    // SAFETY: as the caller's.
    unsafe {
        let mask = V::d_splat(f64::from_bits(0x83ff_ffff_ffff_ffff));
        x.and(mask)
            .or(V::d_splat(f64::from_bits(0x4000_0000_0000_0000)))
    }
}

fn at_level(level: Level, x: &Block, y: &Block, z: &Block) -> Vec<(&'static str, Block)> {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => {
            #[target_feature(enable = "avx2,fma,f16c")]
            fn enter(x: &Block, y: &Block, z: &Block) -> Vec<(&'static str, Block)> {
                // SAFETY: this function has AVX2 and FMA.
                unsafe { all::<lanes::Avx2>(x, y, z) }
            }
            // SAFETY: the test asks only for levels that are there.
            unsafe { enter(x, y, z) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
            fn enter(x: &Block, y: &Block, z: &Block) -> Vec<(&'static str, Block)> {
                // SAFETY: this function has AVX-512 F, BW, DQ and VL.
                unsafe { all::<lanes::Avx512>(x, y, z) }
            }
            // SAFETY: the test asks only for levels that are there.
            unsafe { enter(x, y, z) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Vnni => {
            #[target_feature(
                enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c"
            )]
            fn enter(x: &Block, y: &Block, z: &Block) -> Vec<(&'static str, Block)> {
                // SAFETY: this function has AVX-512 F, BW, DQ, VL and VNNI.
                unsafe { all::<lanes::Vnni>(x, y, z) }
            }
            // SAFETY: the test asks only for levels that are there.
            unsafe { enter(x, y, z) }
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: every aarch64 has NEON.
        Level::Neon => unsafe { all::<lanes::Neon>(x, y, z) },
        // SAFETY: plain Rust.
        _ => unsafe { all::<Portable>(x, y, z) },
    }
}

#[test]
fn every_level_does_what_portable_says() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        match state >> 60 {
            0 => 0,
            1 => u32::MAX,
            2 => 1 << 31,
            3 => 0x4b00_0000 | state as u32 & 0xff,
            _ => state as u32,
        }
    };
    let levels = Level::ALL
        .into_iter()
        .filter(|level| *level != Level::Scalar);
    let (there, missing): (Vec<Level>, Vec<Level>) = levels.partition(|level| level.is_there());
    for level in missing {
        println!("skipped: this machine has no {level}");
    }
    for round in 0..20_000 {
        let mut block = || std::array::from_fn(|_| word());
        let (x, y, z): (Block, Block, Block) = (block(), block(), block());
        let expected = at_level(Level::Scalar, &x, &y, &z);
        for level in &there {
            let got = at_level(*level, &x, &y, &z);
            // `top_bits` counts per register, so only registers of one width agree.
            for (got, expected) in got
                .iter()
                .zip(&expected)
                .filter(|(got, _)| got.0 != "top_bits")
            {
                assert_eq!(
                    got, expected,
                    "{level}, round {round}: {x:x?} {y:x?} {z:x?}"
                );
            }
        }
    }
}

/// Sums of products of pairs at every level against what [`lanes::pairs::Plain`] says.
mod pairs {
    use super::{Block, Level, WORDS};
    use crate::cpu::lanes::pairs::{self, Pairs};

    #[inline(always)]
    unsafe fn sums<V: Pairs>([x, y, z]: &[Block; 3]) -> [Block; 3] {
        let mut out = [[0; WORDS]; 3];
        for at in (0..WORDS).step_by(V::WIDTH) {
            // SAFETY: the caller has the instruction set; the blocks have `WORDS` words.
            unsafe {
                let [a, b, c] = [x, y, z].map(|block| V::load(block.as_ptr().add(at)));
                a.plus_products(b, c).store(out[0].as_mut_ptr().add(at));
                a.plus(b).store(out[1].as_mut_ptr().add(at));
                let splat = V::splat(0x8000_ffff);
                V::zero()
                    .plus_products(splat, c)
                    .store(out[2].as_mut_ptr().add(at));
            }
        }
        out
    }

    fn at_level(level: Level, blocks: &[Block; 3]) -> [Block; 3] {
        assert!(level.is_there());
        #[cfg(target_arch = "x86_64")]
        macro_rules! enter {
            ($features:literal, $lanes:ident) => {{
                #[target_feature(enable = $features)]
                fn enter(blocks: &[Block; 3]) -> [Block; 3] {
                    // SAFETY: this function has the features.
                    unsafe { sums::<pairs::$lanes>(blocks) }
                }
                // SAFETY: the level is there (asserted above).
                unsafe { enter(blocks) }
            }};
        }
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => enter!("avx2", Avx2),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => enter!("avx512f,avx512bw", Avx512),
            #[cfg(target_arch = "x86_64")]
            Level::Vnni => enter!("avx512f,avx512bw,avx512vnni", Vnni),
            // SAFETY: plain Rust asks for no instructions.
            _ => unsafe { sums::<pairs::Plain>(blocks) },
        }
    }

    #[test]
    fn products_of_pairs_are_the_same_at_every_level() {
        let mut state = 26_u64;
        let mut word = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // The ends of 16 bits in one of four.
            let ends = [0x8000_8000, 0x7fff_7fff, 0x8000_7fff, 0xffff_0001];
            match state >> 60 {
                at @ 0..4 => ends[at as usize],
                _ => (state >> 24) as u32,
            }
        };
        for _ in 0..2000 {
            let blocks: [Block; 3] = std::array::from_fn(|_| std::array::from_fn(|_| word()));
            let [x, y, z] = &blocks;
            // Written in 64 bits: what Plain has to give.
            let halves = |word: u32| {
                [
                    i64::from(word as u16 as i16),
                    i64::from((word >> 16) as u16 as i16),
                ]
            };
            let wanted: Block = std::array::from_fn(|at| {
                let ([b0, b1], [c0, c1]) = (halves(y[at]), halves(z[at]));
                (i64::from(x[at]) + b0 * c0 + b1 * c1) as u32
            });
            for level in Level::available() {
                let got = at_level(level, &blocks);
                assert_eq!(got[0], wanted, "{level}");
                assert_eq!(got, at_level(Level::Scalar, &blocks), "{level}");
            }
        }
    }
}
