//! AVX2 and FMA: eight lanes.
#![allow(clippy::wildcard_imports)]

use std::arch::x86_64::*;

use super::{Alone, Lanes, Rows, Slots, down, products};

/// A 256-bit register.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(pub(super) __m256i);

impl Avx2 {
    #[inline(always)]
    fn f(self) -> __m256 {
        // SAFETY: whoever has an `Avx2` may use its instructions (`Lanes`).
        unsafe { _mm256_castsi256_ps(self.0) }
    }

    #[inline(always)]
    fn d(self) -> __m256d {
        // SAFETY: as above.
        unsafe { _mm256_castsi256_pd(self.0) }
    }

    #[inline(always)]
    fn of(x: __m256) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_castps_si256(x) })
    }

    #[inline(always)]
    fn of_d(x: __m256d) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_castpd_si256(x) })
    }
}

/// Operations that are one intrinsic: `name(operands) => expression`.
macro_rules! one {
    ($($name:ident($first:ident $(, $x:ident)*) => $make:expr;)*) => {
        $(
            #[inline(always)]
            unsafe fn $name(self $(, $x: Self)*) -> Self {
                let $first = self;
                // SAFETY: the caller has AVX2 and FMA.
                unsafe { $make }
            }
        )*
    };
}

impl Lanes for Avx2 {
    const WIDTH: usize = 8;

    #[inline(always)]
    unsafe fn alone<A: Alone>(work: A) {
        #[target_feature(enable = "avx2,fma,f16c")]
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
        // SAFETY: the caller has AVX2.
        Self(unsafe { _mm256_set1_epi32(word as i32) })
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: the caller has AVX2 and gives 32 readable bytes.
        Self(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller has AVX2 and gives 32 writable bytes.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn b_splat(byte: u8) -> Self {
        // SAFETY: the caller has AVX2.
        Self(unsafe { _mm256_set1_epi8(byte as i8) })
    }

    #[inline(always)]
    unsafe fn d_splat(value: f64) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { Self::of_d(_mm256_set1_pd(value)) }
    }

    #[inline(always)]
    unsafe fn shl<const N: i32>(self) -> Self {
        // SAFETY: the caller has AVX2.
        Self(unsafe { _mm256_slli_epi32::<N>(self.0) })
    }

    #[inline(always)]
    unsafe fn shr<const N: i32>(self) -> Self {
        // SAFETY: the caller has AVX2.
        Self(unsafe { _mm256_srli_epi32::<N>(self.0) })
    }

    #[inline(always)]
    unsafe fn top_bits(self) -> u32 {
        // SAFETY: the caller has AVX.
        unsafe { _mm256_movemask_ps(self.f()) as u32 }
    }

    #[inline(always)]
    unsafe fn b_any_equal(self, other: Self) -> bool {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi8(self.0, other.0)) != 0 }
    }

    one! {
        b_add(x, y) => Self(_mm256_add_epi8(x.0, y.0));
        b_max(x, y) => Self(_mm256_max_epu8(x.0, y.0));
        and(x, y) => Self(_mm256_and_si256(x.0, y.0));
        or(x, y) => Self(_mm256_or_si256(x.0, y.0));
        xor(x, y) => Self(_mm256_xor_si256(x.0, y.0));
        not_and(x, y) => Self(_mm256_andnot_si256(x.0, y.0));
        i_add(x, y) => Self(_mm256_add_epi32(x.0, y.0));
        i_sub(x, y) => Self(_mm256_sub_epi32(x.0, y.0));
        i_max(x, y) => Self(_mm256_max_epi32(x.0, y.0));
        i_min(x, y) => Self(_mm256_min_epi32(x.0, y.0));
        i_abs(x) => Self(_mm256_abs_epi32(x.0));
        i_signed(x, y) => Self(_mm256_sign_epi32(x.0, y.0));
        i_greater(x, y) => Self(_mm256_cmpgt_epi32(x.0, y.0));
        i_equal(x, y) => Self(_mm256_cmpeq_epi32(x.0, y.0));
        shl_by(x, n) => Self(_mm256_sllv_epi32(x.0, n.0));
        sar_by(x, n) => Self(_mm256_srav_epi32(x.0, n.0));
        select(mask, yes, no) => Self::of(_mm256_blendv_ps(no.f(), yes.f(), mask.f()));
        f_add(x, y) => Self::of(_mm256_add_ps(x.f(), y.f()));
        f_sub(x, y) => Self::of(_mm256_sub_ps(x.f(), y.f()));
        f_mul(x, y) => Self::of(_mm256_mul_ps(x.f(), y.f()));
        f_fma(x, y, z) => Self::of(_mm256_fmadd_ps(x.f(), y.f(), z.f()));
        f_to_i(x) => Self(_mm256_cvttps_epi32(x.f()));
        f_to_i_nearest(x) => Self(_mm256_cvtps_epi32(x.f()));
        f_floor(x) => Self::of(_mm256_round_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(x.f()));
        i_to_f(x) => Self::of(_mm256_cvtepi32_ps(x.0));
        f_to_half(x) => {
            let half = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x.f());
            Self::of(_mm256_cvtph_ps(half))
        };
        f_low_to_d(x) => Self::of_d(_mm256_cvtps_pd(_mm256_castps256_ps128(x.f())));
        f_high_to_d(x) => Self::of_d(_mm256_cvtps_pd(_mm256_extractf128_ps::<1>(x.f())));
        i_low_to_d(x) => Self::of_d(_mm256_cvtepi32_pd(_mm256_castsi256_si128(x.0)));
        i_high_to_d(x) => Self::of_d(_mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(x.0)));
        d_to_f(low, high) => Self::of(_mm256_set_m128(_mm256_cvtpd_ps(high.d()), _mm256_cvtpd_ps(low.d())));
        d_add(x, y) => Self::of_d(_mm256_add_pd(x.d(), y.d()));
        d_mul(x, y) => Self::of_d(_mm256_mul_pd(x.d(), y.d()));
        d_fma(x, y, z) => Self::of_d(_mm256_fmadd_pd(x.d(), y.d(), z.d()));
        d_trunc(x) => Self::of_d(_mm256_round_pd::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(x.d()));
        d_floor(x) => Self::of_d(_mm256_round_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(x.d()));
        d_negative(x) => Self(_mm256_cmpgt_epi64(_mm256_setzero_si256(), x.0));
        l_add(x, y) => Self(_mm256_add_epi64(x.0, y.0));
        b_dot2(x, y) => Self(_mm256_maddubs_epi16(x.0, y.0));
        w_add(x, y) => Self(_mm256_add_epi16(x.0, y.0));
        w_pairs(x) => Self(_mm256_madd_epi16(x.0, _mm256_set1_epi16(1)));
        b_dot4(x, y) => Self(_mm256_madd_epi16(_mm256_maddubs_epi16(x.0, y.0), _mm256_set1_epi16(1)));
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
        // SAFETY: the caller has AVX2 and gives readable slots.
        unsafe { products::avx2::<TERMS>(slots, &words(scales), &mut all, &mut found.0) };
        *sums = [Self(all[0]), Self(all[1]), Self(all[2]), Self(all[3])];
    }

    const DOWN: bool = true;

    #[inline(always)]
    unsafe fn sum_down<const ROWS: usize>(
        rows: &Rows<ROWS>,
        _: &mut Option<[Self; ROWS]>,
        c: &mut [[Self; 4]; ROWS],
    ) {
        assert!(ROWS == 2, "four rows do not fit sixteen registers");
        let two = Rows {
            a_signs: [rows.a_signs[0], rows.a_signs[1]],
            next: None,
            a: rows.a,
            b: rows.b,
            a_exponents: rows.a_exponents,
            b_exponents: rows.b_exponents,
            b_signs: rows.b_signs,
            apart: rows.apart,
            slots: rows.slots,
            groups: rows.groups,
            f: rows.f,
            mask: rows.mask,
            offset: rows.offset,
            start: rows.start,
        };
        let mut tiles = [c[0], c[1]];
        // SAFETY: as the caller promises.
        unsafe { down::avx2::sum(&two, &mut tiles) };
        c[..2].copy_from_slice(&tiles);
    }
}
