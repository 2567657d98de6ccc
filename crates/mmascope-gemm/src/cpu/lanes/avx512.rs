//! AVX-512 F, BW, DQ and VL: sixteen lanes, with VNNI and without.
#![allow(clippy::wildcard_imports)]

use std::arch::x86_64::*;

use super::{Alone, Lanes, Slots, WideSlots, chain, products, terms, wide};

/// Directions of single instructions.
const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
const ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

/// Eight f32 as 64-bit integers.
///
/// # Safety
/// AVX-512 DQ.
#[inline(always)]
unsafe fn long<const TERMS: u8>(x: __m256) -> __m512i {
    // SAFETY: as the caller promises.
    unsafe {
        match TERMS {
            terms::NEAREST => _mm512_cvtps_epi64(x),
            terms::DOWN => _mm512_cvt_roundps_epi64::<DOWN>(x),
            terms::UP => _mm512_cvt_roundps_epi64::<UP>(x),
            _ => _mm512_cvttps_epi64(x),
        }
    }
}

/// A 512-bit register. `DOTS`: there is VNNI.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Register<const DOTS: bool>(pub(super) __m512i);

/// Without VNNI.
pub(crate) type Avx512 = Register<false>;
/// With VNNI.
pub(crate) type Vnni = Register<true>;

impl<const DOTS: bool> Register<DOTS> {
    #[inline(always)]
    fn f(self) -> __m512 {
        // SAFETY: whoever has a `Register` may use its instructions (`Lanes`).
        unsafe { _mm512_castsi512_ps(self.0) }
    }

    #[inline(always)]
    fn d(self) -> __m512d {
        // SAFETY: as above.
        unsafe { _mm512_castsi512_pd(self.0) }
    }

    #[inline(always)]
    fn of(x: __m512) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_castps_si512(x) })
    }

    #[inline(always)]
    fn of_d(x: __m512d) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_castpd_si512(x) })
    }
}

/// Operations that are one intrinsic or two: `name(operands) => expression`.
macro_rules! one {
    ($($name:ident($first:ident $(, $x:ident)*) => $make:expr;)*) => {
        $(
            #[inline(always)]
            unsafe fn $name(self $(, $x: Self)*) -> Self {
                let $first = self;
                // SAFETY: the caller has AVX-512 F, BW, DQ and VL.
                unsafe { $make }
            }
        )*
    };
}

impl<const DOTS: bool> Lanes for Register<DOTS> {
    const WIDTH: usize = 16;
    const DOTS: bool = DOTS;
    // There are 32 registers.
    const DOUBLES: usize = 4;

    #[inline(always)]
    unsafe fn alone<A: Alone>(work: A) {
        // (Without VNNI: no such work asks for it.)
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
        #[inline(never)]
        unsafe fn run<A: Alone>(work: A) {
            // SAFETY: as the caller promises.
            unsafe { work.run() }
        }
        // SAFETY: the caller has the instruction set.
        unsafe { run(work) }
    }

    #[inline(always)]
    unsafe fn splat(word: u32) -> Self {
        // SAFETY: the caller has AVX-512.
        Self(unsafe { _mm512_set1_epi32(word as i32) })
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: the caller has AVX-512 and gives 64 readable bytes.
        Self(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller has AVX-512 and gives 64 writable bytes.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn b_splat(byte: u8) -> Self {
        // SAFETY: the caller has AVX-512.
        Self(unsafe { _mm512_set1_epi8(byte as i8) })
    }

    #[inline(always)]
    unsafe fn d_splat(value: f64) -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { Self::of_d(_mm512_set1_pd(value)) }
    }

    #[inline(always)]
    unsafe fn shl<const N: i32>(self) -> Self {
        // SAFETY: the caller has AVX-512.
        Self(unsafe { _mm512_sllv_epi32(self.0, _mm512_set1_epi32(N)) })
    }

    #[inline(always)]
    unsafe fn shr<const N: i32>(self) -> Self {
        // SAFETY: the caller has AVX-512.
        Self(unsafe { _mm512_srlv_epi32(self.0, _mm512_set1_epi32(N)) })
    }

    #[inline(always)]
    unsafe fn top_bits(self) -> u32 {
        // SAFETY: the caller has AVX-512 DQ.
        u32::from(unsafe { _mm512_movepi32_mask(self.0) })
    }

    #[inline(always)]
    unsafe fn b_any_equal(self, other: Self) -> bool {
        // SAFETY: the caller has AVX-512 BW.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, other.0) != 0 }
    }

    #[inline(always)]
    unsafe fn f_add_rounded<const HOW: u8>(self, other: Self) -> Self {
        let (x, y) = (self.f(), other.f());
        // SAFETY: the caller has AVX-512.
        Self::of(unsafe {
            match HOW {
                terms::NEAREST => _mm512_add_ps(x, y),
                terms::DOWN => _mm512_add_round_ps::<DOWN>(x, y),
                terms::UP => _mm512_add_round_ps::<UP>(x, y),
                _ => _mm512_add_round_ps::<ZERO>(x, y),
            }
        })
    }

    const LONG: bool = true;

    #[inline(always)]
    unsafe fn f_low_to_l<const TERMS: u8>(self) -> Self {
        // SAFETY: the caller has AVX-512 DQ.
        Self(unsafe { long::<TERMS>(_mm512_castps512_ps256(self.f())) })
    }

    #[inline(always)]
    unsafe fn f_high_to_l<const TERMS: u8>(self) -> Self {
        // SAFETY: the caller has AVX-512 DQ.
        Self(unsafe { long::<TERMS>(_mm512_extractf32x8_ps::<1>(self.f())) })
    }

    #[inline(always)]
    unsafe fn l_to_f<const HOW: u8>(self, high: Self) -> Self {
        // SAFETY: the caller has AVX-512 DQ.
        let half = |x: Self| unsafe {
            match HOW {
                terms::NEAREST => _mm512_cvtepi64_ps(x.0),
                terms::DOWN => _mm512_cvt_roundepi64_ps::<DOWN>(x.0),
                terms::UP => _mm512_cvt_roundepi64_ps::<UP>(x.0),
                _ => _mm512_cvt_roundepi64_ps::<ZERO>(x.0),
            }
        };
        // SAFETY: the caller has AVX-512 DQ.
        Self::of(unsafe { _mm512_insertf32x8::<1>(_mm512_castps256_ps512(half(self)), half(high)) })
    }

    #[inline(always)]
    unsafe fn l_joined(self, above: Self) -> [Self; 2] {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
            [low, high].map(|order| Self(_mm512_permutex2var_epi32(self.0, order, above.0)))
        }
    }

    one! {
        b_add(x, y) => Self(_mm512_add_epi8(x.0, y.0));
        b_max(x, y) => Self(_mm512_max_epu8(x.0, y.0));
        and(x, y) => Self(_mm512_and_si512(x.0, y.0));
        or(x, y) => Self(_mm512_or_si512(x.0, y.0));
        xor(x, y) => Self(_mm512_xor_si512(x.0, y.0));
        not_and(x, y) => Self(_mm512_andnot_si512(x.0, y.0));
        i_add(x, y) => Self(_mm512_add_epi32(x.0, y.0));
        i_sub(x, y) => Self(_mm512_sub_epi32(x.0, y.0));
        i_max(x, y) => Self(_mm512_max_epi32(x.0, y.0));
        i_min(x, y) => Self(_mm512_min_epi32(x.0, y.0));
        i_abs(x) => Self(_mm512_abs_epi32(x.0));
        i_signed(x, y) => Self(_mm512_mask_sub_epi32(x.0, _mm512_movepi32_mask(y.0), _mm512_setzero_si512(), x.0));
        i_greater(x, y) => Self(_mm512_movm_epi32(_mm512_cmpgt_epi32_mask(x.0, y.0)));
        i_ones(x) => {
            let table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            let nibble = _mm512_set1_epi8(15);
            let low = _mm512_shuffle_epi8(table, _mm512_and_si512(x.0, nibble));
            let high = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16::<4>(x.0), nibble));
            Self(_mm512_add_epi8(low, high)).b_dot4(Self(_mm512_set1_epi8(1)))
        };
        b_ones(x) => {
            let table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            Self(_mm512_shuffle_epi8(table, x.0))
        };
        i_equal(x, y) => Self(_mm512_movm_epi32(_mm512_cmpeq_epi32_mask(x.0, y.0)));
        shl_by(x, n) => Self(_mm512_sllv_epi32(x.0, n.0));
        sar_by(x, n) => Self(_mm512_srav_epi32(x.0, n.0));
        sar_odd(x, n) => {
            let kept = _mm512_srav_epi32(x.0, n.0);
            let lost = _mm512_cmpneq_epi32_mask(_mm512_sllv_epi32(kept, n.0), x.0);
            Self(_mm512_mask_or_epi32(kept, lost, kept, _mm512_set1_epi32(1)))
        };
        select(mask, yes, no) => Self(_mm512_mask_blend_epi32(_mm512_movepi32_mask(mask.0), no.0, yes.0));
        f_add(x, y) => Self::of(_mm512_add_ps(x.f(), y.f()));
        f_sub(x, y) => Self::of(_mm512_sub_ps(x.f(), y.f()));
        f_mul(x, y) => Self::of(_mm512_mul_ps(x.f(), y.f()));
        f_fma(x, y, z) => Self::of(_mm512_fmadd_ps(x.f(), y.f(), z.f()));
        f_add_down(x, y) => Self::of(_mm512_add_round_ps::<DOWN>(x.f(), y.f()));
        f_fma_down(x, y, z) => Self::of(_mm512_fmadd_round_ps::<DOWN>(x.f(), y.f(), z.f()));
        f_to_i(x) => Self(_mm512_cvttps_epi32(x.f()));
        f_to_i_nearest(x) => Self(_mm512_cvtps_epi32(x.f()));
        f_to_i_down(x) => Self(_mm512_cvt_roundps_epi32::<DOWN>(x.f()));
        f_to_i_up(x) => Self(_mm512_cvt_roundps_epi32::<UP>(x.f()));
        f_floor(x) => Self::of(_mm512_roundscale_ps::<DOWN>(x.f()));
        i_to_f(x) => Self::of(_mm512_cvtepi32_ps(x.0));
        i_to_f_toward_zero(x) => Self::of(_mm512_cvt_roundepi32_ps::<ZERO>(x.0));
        i_to_f_odd(x) => {
            let kept = _mm512_castps_si512(_mm512_cvt_roundepi32_ps::<ZERO>(x.0));
            let back = _mm512_cvttps_epi32(_mm512_castsi512_ps(kept));
            let lost = _mm512_cmpneq_epi32_mask(back, x.0);
            Self(_mm512_mask_or_epi32(kept, lost, kept, _mm512_set1_epi32(1)))
        };
        f_to_half(x) => {
            let half = _mm512_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x.f());
            Self::of(_mm512_cvtph_ps(half))
        };
        f_low_to_d(x) => Self::of_d(_mm512_cvtps_pd(_mm512_castps512_ps256(x.f())));
        f_high_to_d(x) => Self::of_d(_mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(x.f())));
        i_low_to_d(x) => Self::of_d(_mm512_cvtepi32_pd(_mm512_castsi512_si256(x.0)));
        i_high_to_d(x) => Self::of_d(_mm512_cvtepi32_pd(_mm512_extracti32x8_epi32::<1>(x.0)));
        d_to_f(low, high) => Self::of(_mm512_insertf32x8::<1>(
            _mm512_castps256_ps512(_mm512_cvtpd_ps(low.d())),
            _mm512_cvtpd_ps(high.d()),
        ));
        d_add(x, y) => Self::of_d(_mm512_add_pd(x.d(), y.d()));
        d_mul(x, y) => Self::of_d(_mm512_mul_pd(x.d(), y.d()));
        d_fma(x, y, z) => Self::of_d(_mm512_fmadd_pd(x.d(), y.d(), z.d()));
        d_trunc(x) => Self::of_d(_mm512_roundscale_pd::<ZERO>(x.d()));
        d_floor(x) => Self::of_d(_mm512_roundscale_pd::<DOWN>(x.d()));
        d_negative(x) => Self(_mm512_srai_epi64::<63>(x.0));
        l_to_d(x) => Self::of_d(_mm512_cvtepi64_pd(x.0));
        u_to_f(x) => Self::of(_mm512_cvtepu32_ps(x.0));
        l_add(x, y) => Self(_mm512_add_epi64(x.0, y.0));
        b_dot2(x, y) => Self(_mm512_maddubs_epi16(x.0, y.0));
        w_add(x, y) => Self(_mm512_add_epi16(x.0, y.0));
        w_pairs(x) => Self(_mm512_madd_epi16(x.0, _mm512_set1_epi16(1)));
        b_dot4(x, y) => Self(_mm512_madd_epi16(_mm512_maddubs_epi16(x.0, y.0), _mm512_set1_epi16(1)));
    }

    #[inline(always)]
    unsafe fn b_dot4_add(self, other: Self, sum: Self) -> Self {
        if DOTS {
            // SAFETY: the caller has AVX-512 VNNI.
            return Self(unsafe { _mm512_dpbusd_epi32(sum.0, self.0, other.0) });
        }
        // SAFETY: the caller has AVX-512 BW.
        unsafe { sum.i_add(self.b_dot4(other)) }
    }

    #[inline(always)]
    unsafe fn add_products<const TERMS: u8>(
        slots: &Slots,
        scales: &[Self; 4],
        sums: &mut [Self; 4],
        found: &mut Self,
    ) {
        let words = |tile: &[Self; 4]| [tile[0].0, tile[1].0, tile[2].0, tile[3].0];
        let mut all = words(sums);
        // SAFETY: the caller has AVX-512 and gives readable slots.
        unsafe { products::avx512::<TERMS>(slots, &words(scales), &mut all, &mut found.0) };
        *sums = [Self(all[0]), Self(all[1]), Self(all[2]), Self(all[3])];
    }

    const CHAIN: bool = true;

    #[inline(always)]
    unsafe fn chain_two<const SCALED: bool, const OVERFLOW: u8, const HALF: bool>(
        groups: &chain::Chain,
        found: [Self; 2],
        c: &mut [[Self; 4]; 2],
    ) -> Self {
        let found = [found[0].0, found[1].0];
        // SAFETY: the caller has AVX-512 F, BW and DQ; the groups are readable, and the exponents of one more. A `Register` is an
        // `__m512i` and nothing else.
        unsafe {
            let tiles = &mut *std::ptr::from_mut(c).cast::<[[__m512i; 4]; 2]>();
            Self(chain::run::<SCALED, OVERFLOW, HALF>(groups, found, tiles))
        }
    }

    const TWO: bool = true;
    const ROUNDS: bool = true;
    const DOWN: bool = true;
    const FOUR: bool = true;
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn add_products_wide(
        slots: &WideSlots,
        scales: &[[Self; 4]; 2],
        sums: &mut [[Self; 4]; 2],
        found: &mut [Self; 2],
        beyond: &mut Self,
    ) {
        // SAFETY: the caller has AVX-512; the slots are readable.
        unsafe { wide::avx512::add(slots, scales, sums, found, beyond) };
    }
}
