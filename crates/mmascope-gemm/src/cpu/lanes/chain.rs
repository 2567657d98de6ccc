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
#[macro_use]
mod text;

#[cfg(target_arch = "x86_64")]
mod instructions {
    use std::arch::asm;
    use std::arch::x86_64::{__m512i, _mm512_setzero_si512};

    use super::Chain;
    use crate::cpu::lanes::overflow;

    /// What the block reads beside the operands, at the places that its text (`chain/text.rs`) names.
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
