//! Sums that round down on AVX2, written out as instructions. AVX2 has no rounding mode per instruction, so these set the
//! processor's mode before the first and restore it after the last.

use std::arch::asm;
use std::mem::offset_of;

use super::super::Avx2;
use super::{FIELD, HALF, Rows, SIGN, anchor, first};

type Words = [u32; 8];

/// What the instructions find in memory.
#[repr(C, align(32))]
struct Block {
    offset: Words,
    field: Words,
    anchor: Words,
    magnitude: Words,
    one: Words,
    nibble: Words,
    ones: Words,
    bytes: Words,
    shorts: Words,
    half: Words,
    mask: Words,
    start: Words,
    even: Words,
    starts: [Words; 8],
    a_signs: [*const u32; 2],
    b_signs: *const u32,
    slots: usize,
    groups: usize,
    down: u32,
    saved: u32,
}

/// How many of four bits are set, a byte each, twice.
const ONES: Words = [
    0x0201_0100,
    0x0302_0201,
    0x0302_0201,
    0x0403_0302,
    0x0201_0100,
    0x0302_0201,
    0x0302_0201,
    0x0403_0302,
];
/// All exceptions masked, toward −∞, subnormal numbers as they are.
const DOWN: u32 = 0x1f80 | 1 << 13;

/// A register's start before E is known: negative products are counted.
macro_rules! count {
    ($signs:literal, $to:literal) => {
        concat!(
            "vpxor {y}, {w}, ymmword ptr [{q} + ",
            $signs,
            "]\n",
            "vpand {x0}, {y}, {t}\n",
            "vpsrlw {y}, {y}, 4\n",
            "vpand {y}, {y}, {t}\n",
            "vpshufb {x0}, {u}, {x0}\n",
            "vpshufb {y}, {u}, {y}\n",
            "vpaddb {x0}, {x0}, {y}\n",
            "vpmaddubsw {x0}, {x0}, {x1}\n",
            "vpmaddwd {x0}, {x0}, ymmword ptr [{block} + {shorts}]\n",
            "vpaddd {x0}, {x0}, ymmword ptr [{block} + {anchor}]\n",
            "vmovdqa ymmword ptr [{block} + {starts} + ",
            $to,
            "], {x0}\n",
        )
    };
}

/// Its sum begins: E from its byte (`field`) and c, to which c is added.
macro_rules! begin {
    ($sum:literal, $field:literal, $start:literal) => {
        concat!(
            $field,
            "\n",
            "vpaddd {t}, {t}, {x0}\n",
            "vpand {y}, {",
            $sum,
            "}, {x1}\n",
            "vpmaxsd {t}, {t}, {y}\n",
            "vpand {t}, {t}, ymmword ptr [{block} + {field}]\n",
            "vpaddd {t}, {t}, ymmword ptr [{block} + {starts} + ",
            $start,
            "]\n",
            "vpsrad {y}, {",
            $sum,
            "}, 31\n",
            "vpsubd {t}, {t}, {y}\n",
            "vpor {y}, {",
            $sum,
            "}, ymmword ptr [{block} + {one}]\n",
            "vaddps {",
            $sum,
            "}, {t}, {y}\n",
        )
    };
}

/// It ends: less where it began, and only the bits that results keep.
macro_rules! end {
    ($sum:literal) => {
        concat!(
            "vpand {t}, {",
            $sum,
            "}, ymmword ptr [{block} + {field}]\n",
            "vpor {t}, {t}, ymmword ptr [{block} + {half}]\n",
            "vsubps {",
            $sum,
            "}, {",
            $sum,
            "}, {t}\n",
            "vpand {",
            $sum,
            "}, {",
            $sum,
            "}, ymmword ptr [{block} + {mask}]\n",
        )
    };
}

/// One slot: both rows' products, and byte sums of the next group.
macro_rules! slot {
    ($a:literal, $b0:literal, $b1:literal, $b2:literal, $b3:literal, $byte:literal, $bytes:literal) => {
        concat!(
            "vbroadcastss {x0}, dword ptr [{a} + ",
            $a,
            "]\n",
            "vbroadcastss {x1}, dword ptr [{a} + 4*{apart} + ",
            $a,
            "]\n",
            "vmovups {t}, ymmword ptr [{b} + ",
            $b0,
            "]\n",
            "vfmadd231ps {s0}, {x0}, {t}\n",
            "vfmadd231ps {s4}, {x1}, {t}\n",
            "vmovups {w}, ymmword ptr [{b} + ",
            $b1,
            "]\n",
            "vfmadd231ps {s1}, {x0}, {w}\n",
            "vfmadd231ps {s5}, {x1}, {w}\n",
            "vmovups {t}, ymmword ptr [{b} + ",
            $b2,
            "]\n",
            "vfmadd231ps {s2}, {x0}, {t}\n",
            "vfmadd231ps {s6}, {x1}, {t}\n",
            "vmovups {w}, ymmword ptr [{b} + ",
            $b3,
            "]\n",
            "vfmadd231ps {s3}, {x0}, {w}\n",
            "vfmadd231ps {s7}, {x1}, {w}\n",
            "vmovdqu {u}, ymmword ptr [{b_byte} + ",
            $bytes,
            "]\n",
            "vpbroadcastb {y}, byte ptr [{a_byte} + ",
            $byte,
            "]\n",
            "vpaddb {y}, {y}, {u}\n",
            "vpmaxub {f0}, {f0}, {y}\n",
            "vpbroadcastb {y}, byte ptr [{a_byte} + {apart} + ",
            $byte,
            "]\n",
            "vpaddb {y}, {y}, {u}\n",
            "vpmaxub {f1}, {f1}, {y}\n",
        )
    };
}

/// # Safety
/// AVX2 and FMA; as for [`super::sum`].
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in super::super) unsafe fn sum(pair: &Rows<2>, c: &mut [[Avx2; 4]; 2]) {
    let block = Block {
        offset: [pair.offset; 8],
        field: [FIELD; 8],
        anchor: [anchor(pair.f); 8],
        magnitude: [!SIGN; 8],
        one: [1; 8],
        nibble: [0x0f0f_0f0f; 8],
        ones: ONES,
        bytes: [0x0101_0101; 8],
        shorts: [0x0001_0001; 8],
        half: [HALF; 8],
        mask: [pair.mask; 8],
        start: [u32::from_ne_bytes([pair.start; 4]); 8],
        even: [0x00ff_00ff; 8],
        starts: [[0; 8]; 8],
        a_signs: pair.a_signs,
        b_signs: pair.b_signs,
        slots: pair.slots,
        groups: pair.groups,
        down: DOWN,
        saved: 0,
    };
    let mut block = block;
    let [[s0, s1, s2, s3], [s4, s5, s6, s7]] = c;
    // SAFETY: reads the groups and the exponents of one more, all readable; writes nothing but `block`;
    // the instructions are AVX2's and FMA's; the control word is again what it was.
    unsafe {
        let found = first::<Avx2, 2>(pair);
        asm!(
            "stmxcsr dword ptr [{block} + {saved}]",
            "ldmxcsr dword ptr [{block} + {down}]",
            "20:",
            "vmovdqa {u}, ymmword ptr [{block} + {ones}]",
            "vmovdqa {t}, ymmword ptr [{block} + {nibble}]",
            "vmovdqa {x1}, ymmword ptr [{block} + {bytes}]",
            "mov {q}, qword ptr [{block} + {b_signs}]",
            "mov {p}, qword ptr [{block} + {a_signs}]",
            "vpbroadcastd {w}, dword ptr [{p}]",
            "add qword ptr [{block} + {a_signs}], 4",
            count!("0", "0"),
            count!("32", "32"),
            count!("64", "64"),
            count!("96", "96"),
            "mov {p}, qword ptr [{block} + {a_signs} + 8]",
            "vpbroadcastd {w}, dword ptr [{p}]",
            "add qword ptr [{block} + {a_signs} + 8], 4",
            count!("0", "128"),
            count!("32", "160"),
            count!("64", "192"),
            count!("96", "224"),
            "vmovdqa {x0}, ymmword ptr [{block} + {offset}]",
            "vmovdqa {x1}, ymmword ptr [{block} + {magnitude}]",
            "vpand {u}, {f0}, ymmword ptr [{block} + {even}]",
            "vpandn {w}, {u}, {f0}",
            begin!("s0", "vpslld {t}, {u}, 23", "0"),
            begin!("s1", "vpslld {t}, {w}, 15", "32"),
            begin!("s2", "vpslld {t}, {u}, 7", "64"),
            begin!("s3", "vpsrld {t}, {w}, 1", "96"),
            "vpand {u}, {f1}, ymmword ptr [{block} + {even}]",
            "vpandn {w}, {u}, {f1}",
            begin!("s4", "vpslld {t}, {u}, 23", "128"),
            begin!("s5", "vpslld {t}, {w}, 15", "160"),
            begin!("s6", "vpslld {t}, {u}, 7", "192"),
            begin!("s7", "vpsrld {t}, {w}, 1", "224"),
            "add qword ptr [{block} + {b_signs}], 128",
            "vmovdqa {f0}, ymmword ptr [{block} + {start}]",
            "vmovdqa {f1}, {f0}",
            "mov {n}, qword ptr [{block} + {slots}]",
            // The next two rows lie behind these, in the third cache if not in the second.
            "lea {p}, [{a} + 8*{apart}]",
            "lea {q}, [{a_byte} + 2*{apart}]",
            "prefetcht0 byte ptr [{p}]",
            "prefetcht0 byte ptr [{p} + 64]",
            "prefetcht0 byte ptr [{p} + 4*{apart}]",
            "prefetcht0 byte ptr [{p} + 4*{apart} + 64]",
            "prefetcht0 byte ptr [{q}]",
            "prefetcht0 byte ptr [{q} + {apart}]",
            ".p2align 4",
            "21:",
            slot!(0, 0, 32, 64, 96, 0, 0),
            slot!(4, 128, 160, 192, 224, 1, 32),
            "add {a}, 8",
            "add {b}, 256",
            "add {a_byte}, 2",
            "add {b_byte}, 64",
            "sub {n}, 2",
            "ja 21b",
            end!("s0"),
            end!("s1"),
            end!("s2"),
            end!("s3"),
            end!("s4"),
            end!("s5"),
            end!("s6"),
            end!("s7"),
            "sub qword ptr [{block} + {groups}], 1",
            "ja 20b",
            "ldmxcsr dword ptr [{block} + {saved}]",
            // A difference of equal numbers was −0.
            "vpxor {t}, {t}, {t}",
            "vaddps {s0}, {s0}, {t}",
            "vaddps {s1}, {s1}, {t}",
            "vaddps {s2}, {s2}, {t}",
            "vaddps {s3}, {s3}, {t}",
            "vaddps {s4}, {s4}, {t}",
            "vaddps {s5}, {s5}, {t}",
            "vaddps {s6}, {s6}, {t}",
            "vaddps {s7}, {s7}, {t}",
            a = inout(reg) pair.a => _,
            b = inout(reg) pair.b => _,
            a_byte = inout(reg) pair.a_exponents.add(pair.slots) => _,
            b_byte = inout(reg) pair.b_exponents.add(pair.slots * 32) => _,
            apart = in(reg) pair.apart,
            block = in(reg) &raw mut block,
            n = out(reg) _,
            p = out(reg) _,
            q = out(reg) _,
            s0 = inout(ymm_reg) s0.0,
            s1 = inout(ymm_reg) s1.0,
            s2 = inout(ymm_reg) s2.0,
            s3 = inout(ymm_reg) s3.0,
            s4 = inout(ymm_reg) s4.0,
            s5 = inout(ymm_reg) s5.0,
            s6 = inout(ymm_reg) s6.0,
            s7 = inout(ymm_reg) s7.0,
            f0 = inout(ymm_reg) found[0].0 => _,
            f1 = inout(ymm_reg) found[1].0 => _,
            x0 = out(ymm_reg) _,
            x1 = out(ymm_reg) _,
            t = out(ymm_reg) _,
            u = out(ymm_reg) _,
            w = out(ymm_reg) _,
            y = out(ymm_reg) _,
            offset = const offset_of!(Block, offset),
            field = const offset_of!(Block, field),
            anchor = const offset_of!(Block, anchor),
            magnitude = const offset_of!(Block, magnitude),
            one = const offset_of!(Block, one),
            nibble = const offset_of!(Block, nibble),
            ones = const offset_of!(Block, ones),
            bytes = const offset_of!(Block, bytes),
            shorts = const offset_of!(Block, shorts),
            half = const offset_of!(Block, half),
            mask = const offset_of!(Block, mask),
            start = const offset_of!(Block, start),
            even = const offset_of!(Block, even),
            starts = const offset_of!(Block, starts),
            a_signs = const offset_of!(Block, a_signs),
            b_signs = const offset_of!(Block, b_signs),
            slots = const offset_of!(Block, slots),
            groups = const offset_of!(Block, groups),
            down = const offset_of!(Block, down),
            saved = const offset_of!(Block, saved),
            options(nostack),
        );
    }
}
