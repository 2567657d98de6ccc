//! The inner loop of the fused sums: products of a row and four registers of columns, aligned and added.

use super::Lanes;

/// Where the operands of some slots lie: values of these, and exponent bytes of those whose byte sums are
/// looked for meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Slots {
    pub(crate) a: *const f32,
    /// Four registers a slot.
    pub(crate) b: *const f32,
    pub(crate) a_exponents: *const u8,
    /// A register a slot.
    pub(crate) b_exponents: *const u8,
    pub(crate) count: usize,
}

/// A body for each of the four registers. Written out: as a loop over four, LLVM keeps it a loop, with
/// the registers in memory, and the kernel loses a third.
macro_rules! four {
    (|$v:ident| $body:expr) => {{
        {
            let $v = 0;
            $body;
        }
        {
            let $v = 1;
            $body;
        }
        {
            let $v = 2;
            $body;
        }
        {
            let $v = 3;
            $body;
        }
    }};
}
pub(crate) use four;

/// The same for each of two rows.
macro_rules! two {
    (|$r:ident| $body:expr) => {{
        {
            let $r = 0;
            $body;
        }
        {
            let $r = 1;
            $body;
        }
    }};
}
pub(crate) use two;

/// The same for each of `$rows` rows: one, two or four.
macro_rules! rows {
    ($rows:expr, |$r:ident| $body:expr) => {{
        {
            let $r = 0;
            $body;
        }
        if $rows > 1 {
            let $r = 1;
            $body;
        }
        if $rows > 2 {
            {
                let $r = 2;
                $body;
            }
            let $r = 3;
            $body;
        }
    }};
}
#[allow(unused_imports)] // by `tests/inner.rs`, which takes the lanes alone
pub(crate) use rows;

/// [`Lanes::add_products`] as the compiler makes it of single operations.
///
/// # Safety
/// The instruction set of `V`; all slots are readable.
#[inline(always)]
pub(super) unsafe fn add<V: Lanes, const TERMS: u8>(
    slots: &Slots,
    scales: &[V; 4],
    sums: &mut [V; 4],
    found: &mut V,
) {
    let row = 4 * V::WIDTH;
    let mut at = *slots;
    // SAFETY: as the caller promises.
    unsafe {
        macro_rules! slot {
            ($k:expr) => {
                let a = V::splat((*at.a.add($k)).to_bits());
                let b = at.b.add($k * row).cast::<u32>();
                four!(|v| {
                    let product = a.f_mul(V::load(b.add(v * V::WIDTH)));
                    let aligned = product.f_mul(scales[v]);
                    sums[v] = sums[v].i_add(aligned.converted::<TERMS>());
                });
                let byte = V::b_splat(*at.a_exponents.add($k));
                let bytes = V::load_bytes(at.b_exponents.add($k * row));
                *found = found.b_max(bytes.b_add(byte));
            };
        }
        macro_rules! on {
            ($k:expr) => {
                at.a = at.a.add($k);
                at.b = at.b.add($k * row);
                at.a_exponents = at.a_exponents.add($k);
                at.b_exponents = at.b_exponents.add($k * row);
                at.count -= $k;
            };
        }
        while at.count >= 4 {
            slot!(0);
            slot!(1);
            slot!(2);
            slot!(3);
            on!(4);
        }
        while at.count > 0 {
            slot!(0);
            on!(1);
        }
    }
}

/// The same for two rows, whose slots have the same columns: each register of B is loaded once. (The compiler's order
/// needs no help where there are 32 registers.)
///
/// # Safety
/// The instruction set of `V`; all slots are readable.
#[inline(always)]
pub(super) unsafe fn add_two<V: Lanes, const TERMS: u8>(
    slots: &[Slots; 2],
    scales: &[[V; 4]; 2],
    sums: &mut [[V; 4]; 2],
    found: &mut [V; 2],
) {
    let row = 4 * V::WIDTH;
    let mut at = *slots;
    // SAFETY: as the caller promises.
    unsafe {
        for _ in 0..slots[0].count {
            let a = [
                V::splat((*at[0].a).to_bits()),
                V::splat((*at[1].a).to_bits()),
            ];
            four!(|v| {
                let b = V::load(at[0].b.cast::<u32>().add(v * V::WIDTH));
                two!(|r| {
                    let aligned = a[r].f_mul(b).f_mul(scales[r][v]);
                    sums[r][v] = sums[r][v].i_add(aligned.converted::<TERMS>());
                });
            });
            let columns = V::load_bytes(at[0].b_exponents);
            two!(|r| {
                let byte = V::b_splat(*at[r].a_exponents);
                found[r] = found[r].b_max(columns.b_add(byte));
                at[r].a = at[r].a.add(1);
                at[r].a_exponents = at[r].a_exponents.add(1);
            });
            at[0].b = at[0].b.add(row);
            at[0].b_exponents = at[0].b_exponents.add(row);
        }
    }
}

/// The same as instructions, for AVX2 and for AVX-512. The compiler's order of AVX2's takes 6.5 to 7 cycles a slot
/// (it keeps broadcasts in registers and puts scales into memory for that); this one 5.2, where
/// 4.5 are the bound. AVX-512's on four pipes of 256 bits takes 10.7, where 9 are the bound.
#[cfg(target_arch = "x86_64")]
mod instructions {
    use std::arch::asm;
    use std::arch::x86_64::{__m256i, __m512i};

    use super::Slots;
    use crate::cpu::lanes::terms;

    /// A conversion in place, of registers of 256 or of 512 bits.
    macro_rules! convert {
        (zero, $width:tt, $t:literal) => {
            concat!("vcvttps2dq ", $t, ", ", $t, "\n")
        };
        (nearest, $width:tt, $t:literal) => {
            concat!("vcvtps2dq ", $t, ", ", $t, "\n")
        };
        (down, 32, $t:literal) => {
            concat!(
                "vroundps ",
                $t,
                ", ",
                $t,
                ", 9\nvcvttps2dq ",
                $t,
                ", ",
                $t,
                "\n"
            )
        };
        (up, 32, $t:literal) => {
            concat!(
                "vroundps ",
                $t,
                ", ",
                $t,
                ", 10\nvcvttps2dq ",
                $t,
                ", ",
                $t,
                "\n"
            )
        };
        (down, 64, $t:literal) => {
            concat!("vcvtps2dq ", $t, ", ", $t, ", {{rd-sae}}\n")
        };
        (up, 64, $t:literal) => {
            concat!("vcvtps2dq ", $t, ", ", $t, ", {{ru-sae}}\n")
        };
    }

    /// The k-th slot from here: stage by stage, all four registers of `width` bytes.
    macro_rules! slot {
        ($convert:ident, $width:tt, $k:literal) => {
            concat!(
                "vbroadcastss {x}, dword ptr [{a} + 4 * ",
                $k,
                "]\n",
                "vmulps {t0}, {x}, [{b} + {width} * 4 * ",
                $k,
                "]\n",
                "vmulps {t1}, {x}, [{b} + {width} * (4 * ",
                $k,
                " + 1)]\n",
                "vmulps {t2}, {x}, [{b} + {width} * (4 * ",
                $k,
                " + 2)]\n",
                "vmulps {t3}, {x}, [{b} + {width} * (4 * ",
                $k,
                " + 3)]\n",
                "vmulps {t0}, {t0}, {f0}\n",
                "vmulps {t1}, {t1}, {f1}\n",
                "vmulps {t2}, {t2}, {f2}\n",
                "vmulps {t3}, {t3}, {f3}\n",
                convert!($convert, $width, "{t0}"),
                convert!($convert, $width, "{t1}"),
                convert!($convert, $width, "{t2}"),
                convert!($convert, $width, "{t3}"),
                "vpaddd {s0}, {s0}, {t0}\n",
                "vpaddd {s1}, {s1}, {t1}\n",
                "vpaddd {s2}, {s2}, {t2}\n",
                "vpaddd {s3}, {s3}, {t3}\n",
                "vpbroadcastb {x}, byte ptr [{a_byte} + ",
                $k,
                "]\n",
                "vpaddb {x}, {x}, [{b_byte} + {width} * ",
                $k,
                "]\n",
                "vpmaxub {found}, {found}, {x}\n",
            )
        };
    }

    /// All slots, four a turn, then one a turn.
    macro_rules! all {
        ($convert:ident, $class:ident, $width:tt, $register:ty, $slots:ident, $scales:ident, $sums:ident, $found:ident) => {{
            // (Of 512 bits what is written to nobody has no name in the text.)
            let (x, t0, t1, t2, t3): ($register, $register, $register, $register, $register);
            asm!(
                "sub {n}, 4",
                "jb 3f",
                ".p2align 4",
                "2:",
                slot!($convert, $width, 0),
                slot!($convert, $width, 1),
                slot!($convert, $width, 2),
                slot!($convert, $width, 3),
                "add {a}, 16",
                "add {b}, 16 * {width}",
                "add {a_byte}, 4",
                "add {b_byte}, 4 * {width}",
                "sub {n}, 4",
                "jae 2b",
                "3:",
                "add {n}, 4",
                "je 5f",
                "4:",
                slot!($convert, $width, 0),
                "add {a}, 4",
                "add {b}, 4 * {width}",
                "add {a_byte}, 1",
                "add {b_byte}, {width}",
                "sub {n}, 1",
                "jne 4b",
                "5:",
                width = const $width,
                a = inout(reg) $slots.a => _,
                b = inout(reg) $slots.b => _,
                a_byte = inout(reg) $slots.a_exponents => _,
                b_byte = inout(reg) $slots.b_exponents => _,
                n = inout(reg) $slots.count => _,
                f0 = in($class) $scales[0],
                f1 = in($class) $scales[1],
                f2 = in($class) $scales[2],
                f3 = in($class) $scales[3],
                s0 = inout($class) $sums[0],
                s1 = inout($class) $sums[1],
                s2 = inout($class) $sums[2],
                s3 = inout($class) $sums[3],
                found = inout($class) *$found,
                x = out($class) x,
                t0 = out($class) t0,
                t1 = out($class) t1,
                t2 = out($class) t2,
                t3 = out($class) t3,
                options(nostack, readonly),
            );
            let _ = (x, t0, t1, t2, t3);
        }};
    }

    /// # Safety
    /// AVX2; all slots are readable.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in super::super) unsafe fn avx2<const TERMS: u8>(
        slots: &Slots,
        scales: &[__m256i; 4],
        sums: &mut [__m256i; 4],
        found: &mut __m256i,
    ) {
        // SAFETY: reads the slots, all readable, and nothing else; the instructions are AVX2's.
        unsafe {
            match TERMS {
                terms::NEAREST => all!(nearest, ymm_reg, 32, __m256i, slots, scales, sums, found),
                terms::DOWN => all!(down, ymm_reg, 32, __m256i, slots, scales, sums, found),
                terms::UP => all!(up, ymm_reg, 32, __m256i, slots, scales, sums, found),
                _ => all!(zero, ymm_reg, 32, __m256i, slots, scales, sums, found),
            }
        }
    }

    /// # Safety
    /// AVX-512 F and BW; all slots are readable.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(in super::super) unsafe fn avx512<const TERMS: u8>(
        slots: &Slots,
        scales: &[__m512i; 4],
        sums: &mut [__m512i; 4],
        found: &mut __m512i,
    ) {
        // SAFETY: reads the slots, all readable, and nothing else; the instructions are AVX-512 F's and BW's.
        unsafe {
            match TERMS {
                terms::NEAREST => all!(nearest, zmm_reg, 64, __m512i, slots, scales, sums, found),
                terms::DOWN => all!(down, zmm_reg, 64, __m512i, slots, scales, sums, found),
                terms::UP => all!(up, zmm_reg, 64, __m512i, slots, scales, sums, found),
                _ => all!(zero, zmm_reg, 64, __m512i, slots, scales, sums, found),
            }
        }
    }
}
#[cfg(target_arch = "x86_64")]
pub(super) use instructions::{avx2, avx512};
