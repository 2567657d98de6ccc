//! §10.3: hashes of 16,000 to 200,000 results that the vendor's simulator gives.

use crate::support::{Xorshift, fpu, machines, phase};
use mmascope_model::tensix::{Machine, SourceFormat, Width};

struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, word: u32) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn source(random: &mut Xorshift, wide: bool) -> u32 {
    let v = random.word();
    let mut fraction = v & 0x3ff;
    if v >> 28 & 1 == 1 {
        fraction &= 0x3f8;
    }
    let any = v >> 29 & 3 == 0;
    let exponent = match (wide, any) {
        (true, true) => v >> 10 & 255,
        (true, false) => 120 + (v >> 10 & 15),
        (false, true) => v >> 10 & 31,
        (false, false) => 11 + (v >> 10 & 7),
    };
    v >> 31 << 18 | exponent << 10 | fraction
}

fn dst(random: &mut Xorshift, wide: bool, width: Width) -> u32 {
    let (v, w) = (random.word(), random.word());
    if w & 3 == 0 {
        return 0;
    }
    if width == Width::Bits16 && !wide {
        return v & 0x807f_e000 | (w >> 4 & 31) << 23;
    }
    let word = match w >> 2 & 1 {
        0 => v,
        _ => v & 0x807f_ffff | (116 + (w >> 4 & 31)) << 23,
    };
    match width {
        Width::Bits32 => word,
        Width::Bits16 => word & 0xffff_0000,
    }
}

enum Op {
    Mvmul,
    Elwmul,
    Elwadd,
}

fn hash(machine: &Machine, op: &Op) -> u64 {
    let mut random = Xorshift(0x1234_5678);
    let mut hash = Fnv::new();
    for wide in [true, false] {
        for width in [Width::Bits32, Width::Bits16] {
            let kind = if wide {
                SourceFormat::Tf32
            } else {
                SourceFormat::F16
            };
            let fpu = fpu(machine, kind, width);
            for step in 0..if matches!(op, Op::Elwadd) { 2 } else { 4 } {
                for _ in 0..2000 {
                    let dst = dst(&mut random, wide, width);
                    let mut sixteen = || std::array::from_fn(|_| source(&mut random, wide));
                    let word = match op {
                        Op::Mvmul => {
                            let (a, b) = (sixteen(), sixteen());
                            fpu.mvmul(phase(step), &a, &b, dst).0
                        }
                        Op::Elwmul => {
                            let (a, b) = (source(&mut random, wide), source(&mut random, wide));
                            fpu.multiply(phase(step), a, b, dst).0
                        }
                        Op::Elwadd => {
                            let (a, b) = (source(&mut random, wide), source(&mut random, wide));
                            fpu.add(a, b, if step == 1 { dst } else { 0 }).0
                        }
                    };
                    hash.add(word);
                }
            }
        }
    }
    hash.0
}

#[test]
fn the_generator_is_the_specifications() {
    assert_eq!(Xorshift(0x1234_5678).word(), 0x8798_5aa5);
}

#[test]
fn mvmul() {
    let expected = [0xfcdf_5722_56b9_1282, 0x95b2_e288_a8d3_bd92];
    assert_eq!(
        machines().map(|machine| hash(&machine, &Op::Mvmul)),
        expected
    );
}

#[test]
fn elwmul() {
    let expected = [0x2264_cf35_4072_3376, 0xeabb_0283_b0a1_5c8a];
    assert_eq!(
        machines().map(|machine| hash(&machine, &Op::Elwmul)),
        expected
    );
}

#[test]
fn elwadd() {
    let expected = [0x7daa_e41f_b0f5_1216; 2];
    assert_eq!(
        machines().map(|machine| hash(&machine, &Op::Elwadd)),
        expected
    );
}

#[test]
fn multiply_add() {
    let hash = |machine: Machine| {
        let mut random = Xorshift(0x9e37_79b9);
        let mut hash = Fnv::new();
        for _ in 0..200_000 {
            let [a, b, t, mut c] = std::array::from_fn(|_| random.word());
            if t % 2 == 0 {
                let field = |word: u32| (word >> 23 & 255) as i32;
                let e = field(a) + field(b) - 127 + ((t >> 1) % 61) as i32 - 30;
                c = c & 0x807f_ffff | (e.clamp(0, 255) as u32) << 23;
            }
            hash.add(machine.multiply_add(a, b, c));
        }
        hash.0
    };
    let expected = [0x8ba4_cb4d_3c4d_3beb, 0xaef6_e601_cbde_92c9];
    assert_eq!(machines().map(hash), expected);
}
