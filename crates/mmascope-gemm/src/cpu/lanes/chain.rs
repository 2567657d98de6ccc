//! Fused sums of two rows, truncated or with f16 results, group after group, in one block of instructions for AVX-512.
//!
//! It does what `kernels/truncated.rs` and `kernels/half.rs` say, in lanes that convert toward zero. Written out, all that two rows need stays in 32 registers: c becomes the
//! sum and the sum the next c in place. The compiler moves half of it through memory between groups, so that short
//! groups take a twentieth longer (`docs/measured/gemm-zen5.md`).

/// Where the operands of two rows lie, and what is the same in all groups. Pointers are to the first group, those to exponents to the second.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) struct Chain {
    pub(crate) a: [*const f32; 2],
    /// Four registers a slot.
    pub(crate) b: *const f32,
    pub(crate) a_exponents: [*const u8; 2],
    /// A register a slot.
    pub(crate) b_exponents: *const u8,
    /// Of sums with block scales: a word a group, and four registers a group.
    pub(crate) a_scales: [*const u32; 2],
    pub(crate) b_scales: *const u32,
    /// At least 1.
    pub(crate) groups: usize,
    /// Slots of a group, an even number.
    pub(crate) slots: usize,
    /// The smallest byte sum.
    pub(crate) start: u8,
    /// The field of byte sum 0.
    pub(crate) offset: u32,
    /// The fields of F + 254, and of E where no product is there to raise it.
    pub(crate) top: u32,
    pub(crate) empty: u32,
    /// Of f16 results: what the exponents of a non-zero c are at least, of the first and of later groups, as f32; and what is added to results.
    pub(crate) smallest: [u32; 2],
    pub(crate) zero: u32,
}

#[cfg(target_arch = "x86_64")]
mod instructions {
    use std::arch::asm;
    use std::arch::x86_64::{__m512i, _mm512_setzero_si512};

    use super::Chain;
    use crate::cpu::lanes::overflow;

    /// What the block reads beside the operands, at the places that its text names.
    #[repr(C, align(64))]
    struct Constants {
        /// 0 and 4: the even and the odd bytes.
        bytes: [u32; 2],
        /// 8: the exponent field.
        field: u32,
        /// 12 and 16: the first less E is the unit, 2^(F − E), and the second less the unit is 2^(E − F).
        top: u32,
        back: u32,
        /// 20: slots that are summed at a time.
        slots: u32,
        /// 24 and 28: the field of the smallest byte sum, and what stands for it.
        lowest: u32,
        empty: u32,
        /// 32: all bits of a magnitude.
        magnitude: u32,
        /// 36: the last bit.
        last: u32,
        /// 40 and 44: what a non-zero c counts as at least, in the first group and in later ones.
        smallest: [u32; 2],
        /// 48: added to an f16 result, it gives a zero its sign.
        zero: u32,
        /// 64
        start: Bytes,
        /// 128: with it byte sums are exponents of f32.
        offset: Bytes,
    }

    #[repr(C, align(64))]
    struct Bytes([u8; 64]);

    /// One slot of both rows: two registers of columns at a time, stage by stage.
    macro_rules! slot {
        ($k:literal) => {
            concat!(
                two_columns!(
                    $k, 0, "zmm0", "zmm4", "zmm8", "zmm12", 1, "zmm1", "zmm5", "zmm9", "zmm13"
                ),
                two_columns!(
                    $k, 2, "zmm2", "zmm6", "zmm10", "zmm14", 3, "zmm3", "zmm7", "zmm11", "zmm15"
                ),
                "vmovdqu32 zmm27, [{b_byte} + 64 * ",
                $k,
                "]\n",
                "vpbroadcastb zmm28, byte ptr [{a_byte} + ",
                $k,
                "]\n",
                "vpbroadcastb zmm29, byte ptr [{a2_byte} + ",
                $k,
                "]\n",
                "vpaddb zmm28, zmm28, zmm27\n",
                "vpaddb zmm29, zmm29, zmm27\n",
                "vpmaxub zmm24, zmm24, zmm28\n",
                "vpmaxub zmm25, zmm25, zmm29\n",
            )
        };
    }

    /// Columns v and w: the sums of both rows, then their scales.
    macro_rules! two_columns {
        (
            $k:literal, $v:literal, $s0:literal, $t0:literal, $f0:literal, $g0:literal,
            $w:literal, $s1:literal, $t1:literal, $f1:literal, $g1:literal
        ) => {
            concat!(
                "vmovups zmm27, [{b} + 256 * ",
                $k,
                " + 64 * ",
                $v,
                "]\n",
                "vmulps zmm28, zmm27, dword ptr [{a} + 4 * ",
                $k,
                "]{{1to16}}\n",
                "vmulps zmm29, zmm27, dword ptr [{a2} + 4 * ",
                $k,
                "]{{1to16}}\n",
                "vmovups zmm27, [{b} + 256 * ",
                $k,
                " + 64 * ",
                $w,
                "]\n",
                "vmulps zmm30, zmm27, dword ptr [{a} + 4 * ",
                $k,
                "]{{1to16}}\n",
                "vmulps zmm31, zmm27, dword ptr [{a2} + 4 * ",
                $k,
                "]{{1to16}}\n",
                "vmulps zmm28, zmm28, ",
                $f0,
                "\n",
                "vmulps zmm29, zmm29, ",
                $g0,
                "\n",
                "vmulps zmm30, zmm30, ",
                $f1,
                "\n",
                "vmulps zmm31, zmm31, ",
                $g1,
                "\n",
                "vcvttps2dq zmm28, zmm28\n",
                "vcvttps2dq zmm29, zmm29\n",
                "vcvttps2dq zmm30, zmm30\n",
                "vcvttps2dq zmm31, zmm31\n",
                "vpaddd ",
                $s0,
                ", ",
                $s0,
                ", zmm28\n",
                "vpaddd ",
                $t0,
                ", ",
                $t0,
                ", zmm29\n",
                "vpaddd ",
                $s1,
                ", ",
                $s1,
                ", zmm30\n",
                "vpaddd ",
                $t1,
                ", ",
                $t1,
                ", zmm31\n",
            )
        };
    }

    /// As many slots as the constants say, four a turn, then one a turn.
    macro_rules! slots {
        () => {
            concat!(
                "mov {n:e}, dword ptr [{k} + 20]\n",
                "sub {n}, 4\n",
                "jb 3f\n",
                ".p2align 4\n",
                "2:\n",
                slot!(0),
                slot!(1),
                slot!(2),
                slot!(3),
                on!(4),
                "sub {n}, 4\n",
                "jae 2b\n",
                "3:\n",
                "add {n}, 4\n",
                "je 5f\n",
                "4:\n",
                slot!(0),
                on!(1),
                "sub {n}, 1\n",
                "jne 4b\n",
                "5:\n",
            )
        };
    }

    /// So many slots on.
    macro_rules! on {
        ($slots:literal) => {
            concat!(
                "add {a}, 4 * ",
                $slots,
                "\n",
                "add {a2}, 4 * ",
                $slots,
                "\n",
                "add {b}, 256 * ",
                $slots,
                "\n",
                "add {a_byte}, ",
                $slots,
                "\n",
                "add {a2_byte}, ",
                $slots,
                "\n",
                "add {b_byte}, 64 * ",
                $slots,
                "\n",
            )
        };
    }

    /// A piece of text for each register of columns of a row: its number, its sum, its scale, and a register that is free.
    macro_rules! each {
        ($piece:ident, first) => {
            concat!(
                $piece!(0, "zmm0", "zmm8", "{a_scale}", "zmm16"),
                $piece!(1, "zmm1", "zmm9", "{a_scale}", "zmm17"),
                $piece!(2, "zmm2", "zmm10", "{a_scale}", "zmm18"),
                $piece!(3, "zmm3", "zmm11", "{a_scale}", "zmm19"),
            )
        };
        ($piece:ident, second) => {
            concat!(
                $piece!(0, "zmm4", "zmm12", "{a2_scale}", "zmm20"),
                $piece!(1, "zmm5", "zmm13", "{a2_scale}", "zmm21"),
                $piece!(2, "zmm6", "zmm14", "{a2_scale}", "zmm22"),
                $piece!(3, "zmm7", "zmm15", "{a2_scale}", "zmm23"),
            )
        };
        ($piece:ident, both) => {
            concat!(each!($piece, first), each!($piece, second))
        };
    }

    /// The fields of a row's largest byte sums, with other bits below them.
    macro_rules! fields {
        ($found:literal, $e0:literal, $e1:literal, $e2:literal, $e3:literal) => {
            concat!(
                "vpaddb ",
                $found,
                ", ",
                $found,
                ", [{k} + 128]\n",
                "vpandd zmm30, ",
                $found,
                ", dword ptr [{k}]{{1to16}}\n",
                "vpandd zmm31, ",
                $found,
                ", dword ptr [{k} + 4]{{1to16}}\n",
                "vpslld ",
                $e0,
                ", zmm30, 23\n",
                "vpslld ",
                $e1,
                ", zmm31, 15\n",
                "vpslld ",
                $e2,
                ", zmm30, 7\n",
                "vpsrld ",
                $e3,
                ", zmm31, 1\n",
                "vmovdqa32 ",
                $found,
                ", [{k} + 64]\n",
            )
        };
    }

    /// The fields beside that of c (as magnitudes, which are in the order of their exponents).
    macro_rules! beside_c {
        ($v:literal, $c:literal, $e:literal, $scale:literal, $kept:literal) => {
            concat!("vrangeps ", $e, ", ", $e, ", ", $c, ", 11\n")
        };
    }

    /// The same where a subnormal c has the exponent of its field, and a zero none. c is kept.
    macro_rules! beside_half {
        ($v:literal, $c:literal, $e:literal, $scale:literal, $kept:literal) => {
            concat!(
                "vptestmd k1, ",
                $c,
                ", dword ptr [{k} + 32]{{1to16}}\n",
                "vmovdqa32 ",
                $kept,
                ", ",
                $c,
                "\n",
                "vrangeps zmm30{{k1}}{{z}}, ",
                $c,
                ", dword ptr [{smallest}]{{1to16}}, 11\n",
                "vrangeps ",
                $e,
                ", ",
                $e,
                ", zmm30, 11\n",
            )
        };
    }

    /// Scales, and c on the grid.
    macro_rules! scaled {
        ($v:literal, $c:literal, $e:literal, $scale:literal, $kept:literal) => {
            concat!(
                "vpandd ",
                $e,
                ", zmm29, ",
                $e,
                "\n",
                "vpsubd ",
                $e,
                ", zmm28, ",
                $e,
                "\n",
                "vmulps ",
                $c,
                ", ",
                $c,
                ", ",
                $e,
                "\n",
                "vcvttps2dq ",
                $c,
                ", ",
                $c,
                "\n",
            )
        };
    }

    /// Both pieces for both rows.
    macro_rules! begin {
        () => {
            concat!(each!(beside_c, both), each!(scaled, both))
        };
        (half) => {
            concat!(each!(beside_half, both), each!(scaled, both))
        };
    }

    /// Both pieces where there are block scales.
    macro_rules! beside_c_in_blocks {
        ($v:literal, $c:literal, $e:literal, $scale:literal, $kept:literal) => {
            concat!(
                "vmovdqu32 zmm30, [{b_scale} + 64 * ",
                $v,
                "]\n",
                "vpaddd zmm30, zmm30, dword ptr [",
                $scale,
                "]{{1to16}}\n",
                "vpandd ",
                $e,
                ", zmm29, ",
                $e,
                "\n",
                "vpcmpeqd k1, ",
                $e,
                ", dword ptr [{k} + 24]{{1to16}}\n",
                "vpaddd ",
                $e,
                ", ",
                $e,
                ", zmm30\n",
                "vpbroadcastd ",
                $e,
                "{{k1}}, dword ptr [{k} + 28]\n",
                "vrangeps ",
                $e,
                ", ",
                $e,
                ", ",
                $c,
                ", 11\n",
                "vpandd ",
                $e,
                ", zmm29, ",
                $e,
                "\n",
                "vpsubd ",
                $e,
                ", zmm28, ",
                $e,
                "\n",
                "vmulps ",
                $c,
                ", ",
                $c,
                ", ",
                $e,
                "\n",
                "vcvttps2dq ",
                $c,
                ", ",
                $c,
                "\n",
                "vpaddd ",
                $e,
                ", ",
                $e,
                ", zmm30\n",
            )
        };
    }

    /// The first half's sums.
    macro_rules! halves {
        () => {
            "vmovdqa32 zmm16, zmm0
            vmovdqa32 zmm17, zmm1
            vmovdqa32 zmm18, zmm2
            vmovdqa32 zmm19, zmm3
            vmovdqa32 zmm20, zmm4
            vmovdqa32 zmm21, zmm5
            vmovdqa32 zmm22, zmm6
            vmovdqa32 zmm23, zmm7
            "
        };
    }

    /// The sum has left i32 where its sign is neither half's: (x ≠ z and y ≠ z) is table 0x42.
    macro_rules! left {
        ($sum:literal, $half:literal) => {
            concat!(
                "vpsubd zmm28, ",
                $sum,
                ", ",
                $half,
                "\n",
                "vpternlogd zmm28, ",
                $half,
                ", ",
                $sum,
                ", 0x42\n",
                "vpord zmm26, zmm26, zmm28\n",
            )
        };
    }

    /// Looks at the sums.
    macro_rules! watch {
        (never) => {
            ""
        };
        (told) => {
            each!(magnitude, both)
        };
        (halves) => {
            concat!(
                left!("zmm0", "zmm16"),
                left!("zmm1", "zmm17"),
                left!("zmm2", "zmm18"),
                left!("zmm3", "zmm19"),
                left!("zmm4", "zmm20"),
                left!("zmm5", "zmm21"),
                left!("zmm6", "zmm22"),
                left!("zmm7", "zmm23"),
            )
        };
    }

    macro_rules! magnitude {
        ($v:literal, $sum:literal, $e:literal, $scale:literal, $kept:literal) => {
            concat!(
                "vpabsd zmm28, ",
                $sum,
                "\n",
                "vpmaxub zmm26, zmm26, zmm28\n"
            )
        };
    }

    /// Results.
    macro_rules! result {
        ($v:literal, $sum:literal, $e:literal, $scale:literal, $kept:literal) => {
            concat!(
                "vcvtdq2ps ",
                $sum,
                ", ",
                $sum,
                ", {{rz-sae}}\n",
                "vpsubd ",
                $e,
                ", zmm27, ",
                $e,
                "\n",
                "vmulps ",
                $sum,
                ", ",
                $sum,
                ", ",
                $e,
                "\n",
            )
        };
    }

    /// f16 results. The sums go to f32 by way of odd numbers, so that the second rounding sees what the first lost. An infinite c stays.
    macro_rules! half_result {
        ($v:literal, $sum:literal, $e:literal, $scale:literal, $kept:literal) => {
            concat!(
                "vcvtdq2ps zmm30, ",
                $sum,
                ", {{rz-sae}}\n",
                "vcvttps2dq zmm31, zmm30\n",
                "vpcmpneqd k1, zmm31, ",
                $sum,
                "\n",
                "vpord zmm30{{k1}}, zmm30, dword ptr [{k} + 36]{{1to16}}\n",
                "vpsubd ",
                $e,
                ", zmm27, ",
                $e,
                "\n",
                "vmulps zmm30, zmm30, ",
                $e,
                "\n",
                "vcvtps2ph ymm30, zmm30, 0\n",
                "vcvtph2ps zmm30, ymm30\n",
                "vfpclassps k1, ",
                $kept,
                ", 24\n",
                "vaddps ",
                $sum,
                ", zmm30, dword ptr [{k} + 48]{{1to16}}\n",
                "vmovaps ",
                $sum,
                "{{k1}}, ",
                $kept,
                "\n",
            )
        };
    }

    macro_rules! result_in_blocks {
        ($v:literal, $sum:literal, $e:literal, $scale:literal, $kept:literal) => {
            concat!(
                "vmovdqu32 zmm30, [{b_scale} + 64 * ",
                $v,
                "]\n",
                "vpaddd zmm30, zmm30, dword ptr [",
                $scale,
                "]{{1to16}}\n",
                "vpsubd ",
                $e,
                ", ",
                $e,
                ", zmm30\n",
                result!($v, $sum, $e, $scale, $kept),
            )
        };
    }

    /// The slots of a group, and what is looked at in the sums.
    macro_rules! sums {
        (halves) => {
            concat!(slots!(), halves!(), slots!(), watch!(halves))
        };
        ($watch:ident) => {
            concat!(slots!(), watch!($watch))
        };
    }

    /// All groups.
    macro_rules! groups {
        ($begin:expr, $watch:ident, $result:ident, $on:literal) => {
            concat!(
                "6:\n",
                "vpbroadcastd zmm29, dword ptr [{k} + 8]\n",
                "vpbroadcastd zmm28, dword ptr [{k} + 12]\n",
                fields!("zmm24", "zmm8", "zmm9", "zmm10", "zmm11"),
                fields!("zmm25", "zmm12", "zmm13", "zmm14", "zmm15"),
                $begin,
                sums!($watch),
                "vpbroadcastd zmm27, dword ptr [{k} + 16]\n",
                each!($result, both),
                $on,
                "sub {groups}, 1\n",
                "jne 6b\n",
            )
        };
    }

    /// All groups: c in, results out. Gives what `OVERFLOW` looks at. `HALF`: results are numbers of f16.
    ///
    /// # Safety
    /// AVX-512 F, BW and DQ; the groups are there, and of the exponents one more.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    pub(in super::super) unsafe fn run<const SCALED: bool, const OVERFLOW: u8, const HALF: bool>(
        chain: &Chain,
        found: [__m512i; 2],
        c: &mut [[__m512i; 4]; 2],
    ) -> __m512i {
        // (Two texts take it for granted.)
        const { assert!(!SCALED || OVERFLOW == overflow::HALVES) };
        const { assert!(!HALF || OVERFLOW == overflow::TOLD) };
        let halves = OVERFLOW == overflow::HALVES;
        let constants = &Constants {
            bytes: [0x00ff_00ff, 0xff00_ff00],
            field: 0xff << 23,
            top: chain.top,
            back: 254 << 23,
            slots: (if halves { chain.slots / 2 } else { chain.slots }) as u32,
            lowest: chain.offset.wrapping_add(u32::from(chain.start) << 23),
            empty: chain.empty,
            magnitude: u32::MAX >> 1,
            last: 1,
            smallest: chain.smallest,
            zero: chain.zero,
            start: Bytes([chain.start; 64]),
            offset: Bytes([(chain.offset >> 23) as u8; 64]),
        };
        let mut seen = _mm512_setzero_si512();
        /// The block: its text, and operands that not every text names.
        macro_rules! block {
            ($text:expr $(, $name:ident = $value:expr)*) => {
                asm!(
                    $text,
                    k = in(reg) constants,
                    groups = inout(reg) chain.groups => _,
                    n = out(reg) _,
                    a = inout(reg) chain.a[0] => _,
                    a2 = inout(reg) chain.a[1] => _,
                    b = inout(reg) chain.b => _,
                    a_byte = inout(reg) chain.a_exponents[0] => _,
                    a2_byte = inout(reg) chain.a_exponents[1] => _,
                    b_byte = inout(reg) chain.b_exponents => _,
                    $($name = inout(reg) $value => _,)*
                    inout("zmm0") c[0][0],
                    inout("zmm1") c[0][1],
                    inout("zmm2") c[0][2],
                    inout("zmm3") c[0][3],
                    inout("zmm4") c[1][0],
                    inout("zmm5") c[1][1],
                    inout("zmm6") c[1][2],
                    inout("zmm7") c[1][3],
                    inout("zmm24") found[0] => _,
                    inout("zmm25") found[1] => _,
                    inout("zmm26") seen,
                    out("zmm8") _,
                    out("zmm9") _,
                    out("zmm10") _,
                    out("zmm11") _,
                    out("zmm12") _,
                    out("zmm13") _,
                    out("zmm14") _,
                    out("zmm15") _,
                    out("zmm16") _,
                    out("zmm17") _,
                    out("zmm18") _,
                    out("zmm19") _,
                    out("zmm20") _,
                    out("zmm21") _,
                    out("zmm22") _,
                    out("zmm23") _,
                    out("zmm27") _,
                    out("zmm28") _,
                    out("zmm29") _,
                    out("zmm30") _,
                    out("zmm31") _,
                    out("k1") _,
                    options(nostack, readonly),
                )
            };
        }
        // SAFETY: reads the groups' operands, the exponents of one group more and the constants, all readable, and nothing else; the
        // instructions are AVX-512 F's, BW's and DQ's.
        unsafe {
            match (SCALED, HALF, OVERFLOW) {
                (_, true, _) => block!(
                    groups!(
                        begin!(half),
                        told,
                        half_result,
                        "lea {smallest}, [{k} + 44]\n"
                    ),
                    smallest = constants.smallest.as_ptr()
                ),
                (true, ..) => block!(
                    groups!(
                        each!(beside_c_in_blocks, both),
                        halves,
                        result_in_blocks,
                        "add {a_scale}, 4\nadd {a2_scale}, 4\nadd {b_scale}, 256\n"
                    ),
                    a_scale = chain.a_scales[0],
                    a2_scale = chain.a_scales[1],
                    b_scale = chain.b_scales
                ),
                (_, _, overflow::HALVES) => block!(groups!(begin!(), halves, result, "")),
                (_, _, overflow::TOLD) => block!(groups!(begin!(), told, result, "")),
                _ => block!(groups!(begin!(), never, result, "")),
            }
        }
        seen
    }
}
#[cfg(target_arch = "x86_64")]
pub(super) use instructions::run;
