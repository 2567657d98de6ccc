//! NEON: four lanes.
#![allow(clippy::wildcard_imports)]

use std::arch::aarch64::*;

use super::Lanes;

/// A 128-bit register.
#[derive(Clone, Copy)]
pub(crate) struct Neon(uint32x4_t);

impl Neon {
    #[inline(always)]
    fn f(self) -> float32x4_t {
        // SAFETY: every aarch64 has NEON.
        unsafe { vreinterpretq_f32_u32(self.0) }
    }

    #[inline(always)]
    fn d(self) -> float64x2_t {
        // SAFETY: as above.
        unsafe { vreinterpretq_f64_u32(self.0) }
    }

    #[inline(always)]
    fn i(self) -> int32x4_t {
        // SAFETY: as above.
        unsafe { vreinterpretq_s32_u32(self.0) }
    }

    #[inline(always)]
    fn b(self) -> uint8x16_t {
        // SAFETY: as above.
        unsafe { vreinterpretq_u8_u32(self.0) }
    }

    #[inline(always)]
    fn of(x: float32x4_t) -> Self {
        // SAFETY: as above.
        Self(unsafe { vreinterpretq_u32_f32(x) })
    }

    #[inline(always)]
    fn of_d(x: float64x2_t) -> Self {
        // SAFETY: as above.
        Self(unsafe { vreinterpretq_u32_f64(x) })
    }

    #[inline(always)]
    fn of_i(x: int32x4_t) -> Self {
        // SAFETY: as above.
        Self(unsafe { vreinterpretq_u32_s32(x) })
    }

    #[inline(always)]
    fn of_b(x: uint8x16_t) -> Self {
        // SAFETY: as above.
        Self(unsafe { vreinterpretq_u32_u8(x) })
    }
}

/// Operations that are one intrinsic or a few: `name(operands) => expression`.
macro_rules! one {
    ($($name:ident($first:ident $(, $x:ident)*) => $make:expr;)*) => {
        $(
            #[inline(always)]
            unsafe fn $name(self $(, $x: Self)*) -> Self {
                let $first = self;
                // SAFETY: every aarch64 has NEON.
                unsafe { $make }
            }
        )*
    };
}

impl Lanes for Neon {
    const WIDTH: usize = 4;

    #[inline(always)]
    unsafe fn splat(word: u32) -> Self {
        // SAFETY: every aarch64 has NEON.
        Self(unsafe { vdupq_n_u32(word) })
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: the caller gives 16 readable bytes.
        unsafe { Self::of_b(vld1q_u8(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller gives 16 writable bytes.
        unsafe { vst1q_u8(to.cast(), self.b()) }
    }

    #[inline(always)]
    unsafe fn b_splat(byte: u8) -> Self {
        // SAFETY: every aarch64 has NEON.
        unsafe { Self::of_b(vdupq_n_u8(byte)) }
    }

    #[inline(always)]
    unsafe fn d_splat(value: f64) -> Self {
        // SAFETY: every aarch64 has NEON.
        unsafe { Self::of_d(vdupq_n_f64(value)) }
    }

    #[inline(always)]
    unsafe fn shl<const N: i32>(self) -> Self {
        // SAFETY: every aarch64 has NEON.
        Self(unsafe { vshlq_u32(self.0, vdupq_n_s32(N)) })
    }

    #[inline(always)]
    unsafe fn shr<const N: i32>(self) -> Self {
        // SAFETY: every aarch64 has NEON.
        Self(unsafe { vshlq_u32(self.0, vdupq_n_s32(-N)) })
    }

    #[inline(always)]
    unsafe fn top_bits(self) -> u32 {
        // SAFETY: every aarch64 has NEON.
        unsafe {
            let weights = vld1q_s32([0, 1, 2, 3].as_ptr());
            vaddvq_u32(vshlq_u32(vshrq_n_u32::<31>(self.0), weights))
        }
    }

    one! {
        b_add(x, y) => Self::of_b(vaddq_u8(x.b(), y.b()));
        b_max(x, y) => Self::of_b(vmaxq_u8(x.b(), y.b()));
        and(x, y) => Self(vandq_u32(x.0, y.0));
        or(x, y) => Self(vorrq_u32(x.0, y.0));
        xor(x, y) => Self(veorq_u32(x.0, y.0));
        not_and(x, y) => Self(vbicq_u32(y.0, x.0));
        i_add(x, y) => Self(vaddq_u32(x.0, y.0));
        i_sub(x, y) => Self(vsubq_u32(x.0, y.0));
        i_max(x, y) => Self::of_i(vmaxq_s32(x.i(), y.i()));
        i_min(x, y) => Self::of_i(vminq_s32(x.i(), y.i()));
        i_abs(x) => Self::of_i(vabsq_s32(x.i()));
        i_signed(x, y) => Self(vbslq_u32(vcltzq_s32(y.i()), vreinterpretq_u32_s32(vnegq_s32(x.i())), x.0));
        i_greater(x, y) => Self(vcgtq_s32(x.i(), y.i()));
        i_equal(x, y) => Self(vceqq_u32(x.0, y.0));
        shl_by(x, n) => Self(vshlq_u32(x.0, vreinterpretq_s32_u32(vminq_u32(n.0, vdupq_n_u32(32)))));
        sar_by(x, n) => Self::of_i(vshlq_s32(x.i(), vnegq_s32(vreinterpretq_s32_u32(vminq_u32(n.0, vdupq_n_u32(31))))));
        select(mask, yes, no) => Self(vbslq_u32(vreinterpretq_u32_s32(vshrq_n_s32::<31>(mask.i())), yes.0, no.0));
        f_add(x, y) => Self::of(vaddq_f32(x.f(), y.f()));
        f_sub(x, y) => Self::of(vsubq_f32(x.f(), y.f()));
        f_mul(x, y) => Self::of(vmulq_f32(x.f(), y.f()));
        f_fma(x, y, z) => Self::of(vfmaq_f32(z.f(), x.f(), y.f()));
        f_to_i(x) => Self::of_i(vcvtq_s32_f32(x.f()));
        f_to_i_nearest(x) => Self::of_i(vcvtnq_s32_f32(x.f()));
        f_floor(x) => Self::of(vrndmq_f32(x.f()));
        i_to_f(x) => Self::of(vcvtq_f32_s32(x.i()));
        f_low_to_d(x) => Self::of_d(vcvt_f64_f32(vget_low_f32(x.f())));
        f_high_to_d(x) => Self::of_d(vcvt_high_f64_f32(x.f()));
        i_low_to_d(x) => Self::of_d(vcvtq_f64_s64(vmovl_s32(vget_low_s32(x.i()))));
        i_high_to_d(x) => Self::of_d(vcvtq_f64_s64(vmovl_high_s32(x.i())));
        d_to_f(low, high) => Self::of(vcvt_high_f32_f64(vcvt_f32_f64(low.d()), high.d()));
        d_add(x, y) => Self::of_d(vaddq_f64(x.d(), y.d()));
        d_mul(x, y) => Self::of_d(vmulq_f64(x.d(), y.d()));
        d_fma(x, y, z) => Self::of_d(vfmaq_f64(z.d(), x.d(), y.d()));
        d_trunc(x) => Self::of_d(vrndq_f64(x.d()));
        d_floor(x) => Self::of_d(vrndmq_f64(x.d()));
        d_negative(x) => Self(vreinterpretq_u32_s64(vshrq_n_s64::<63>(vreinterpretq_s64_u32(x.0))));
        l_add(x, y) => Self(vreinterpretq_u32_u64(vaddq_u64(vreinterpretq_u64_u32(x.0), vreinterpretq_u64_u32(y.0))));
        b_dot2(x, y) => {
            let (u, s) = (x.b(), vreinterpretq_s8_u32(y.0));
            let low = vmulq_s16(
                vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(u))),
                vmovl_s8(vget_low_s8(s)),
            );
            let high = vmulq_s16(vreinterpretq_s16_u16(vmovl_high_u8(u)), vmovl_high_s8(s));
            Self(vreinterpretq_u32_s16(vpaddq_s16(low, high)))
        };
        w_add(x, y) => Self(vreinterpretq_u32_s16(vaddq_s16(vreinterpretq_s16_u32(x.0), vreinterpretq_s16_u32(y.0))));
        w_pairs(x) => Self::of_i(vpaddlq_s16(vreinterpretq_s16_u32(x.0)));
        b_dot4(x, y) => {
            let (u, s) = (x.b(), vreinterpretq_s8_u32(y.0));
            let low = vmulq_s16(
                vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(u))),
                vmovl_s8(vget_low_s8(s)),
            );
            let high = vmulq_s16(vreinterpretq_s16_u16(vmovl_high_u8(u)), vmovl_high_s8(s));
            let (low, high) = (vpaddlq_s16(low), vpaddlq_s16(high));
            Self::of_i(vpaddq_s32(low, high))
        };
    }
}
