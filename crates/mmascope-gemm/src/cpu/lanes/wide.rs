//! Products of two rows by four registers of columns, summed in f64 lanes by rounding toward −∞.
//!
//! A sum starts at 1.5·2^52 units of the grid 2^(E − F), so that its last place is the grid: a multiply-add that
//! rounds toward −∞ then adds the floor of a product. A's values are a little too large, by 2^-30 of
//! themselves, and zeros are ±2^-300: no product lies on the grid, so that the floor of each
//! negative one is its truncation less 1, without exception. The caller counts those and puts their number into the
//! start. The lower half of the f64 is then the sum as an i32, and the upper one tells whether it fits.
//!
//! One multiply-add for eight products, where `products.rs` takes four operations for sixteen.

/// Where two rows' operands of some slots lie: values of these, and exponent bytes of those whose byte sums
/// are looked for meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct WideSlots {
    /// Each row's values, as the head of this file has them.
    pub(crate) a: [*const f64; 2],
    /// Eight registers a slot: of each sixteen columns those whose number has bit 1 clear, then the others.
    pub(crate) b: *const f64,
    /// Each row's exponents: four equal bytes a slot.
    pub(crate) a_exponents: [*const u32; 2],
    /// A register a slot.
    pub(crate) b_exponents: *const u8,
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(crate) count: usize,
}

#[cfg(target_arch = "x86_64")]
pub(super) mod avx512 {
    use std::arch::x86_64::*;

    use super::super::avx512::Register;
    use super::super::{four, two};
    use super::WideSlots;

    const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    /// Less an f32's field of 2^(F − E), shifted to f64's: the field of 2^(E − F + 52), and a half of it.
    const ANCHOR: i32 = (127 + 1023 + 52) << 20 | 1 << 19;

    macro_rules! eight {
        (|$v:ident| $body:expr) => {{
            four!(|v| {
                let $v = v;
                $body
            });
            four!(|v| {
                let $v = v + 4;
                $body
            });
        }};
    }

    /// `Lanes::add_products_wide`.
    ///
    /// # Safety
    /// AVX-512 F, BW, DQ and VL; all slots are readable.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(in super::super) unsafe fn add<const DOTS: bool>(
        slots: &WideSlots,
        scales: &[[Register<DOTS>; 4]; 2],
        sums: &mut [[Register<DOTS>; 4]; 2],
        found: &mut [Register<DOTS>; 2],
        beyond: &mut Register<DOTS>,
    ) {
        // Sums as unsigned numbers, 2^31 more than they are: then nothing is carried into the upper half.
        let middle = _mm512_set1_epi32(i32::MIN);
        let anchor = _mm512_set1_epi32(ANCHOR);
        let upper =
            |scale: Register<DOTS>| _mm512_sub_epi32(anchor, _mm512_srli_epi32::<3>(scale.0));
        let mut all = [[_mm512_setzero_pd(); 8]; 2];
        two!(|r| four!(|v| {
            let (low, high) = (_mm512_add_epi32(sums[r][v].0, middle), upper(scales[r][v]));
            all[r][2 * v] = _mm512_castsi512_pd(_mm512_unpacklo_epi32(low, high));
            all[r][2 * v + 1] = _mm512_castsi512_pd(_mm512_unpackhi_epi32(low, high));
        }));
        let mut at = *slots;
        let mut bytes = [found[0].0, found[1].0];
        for _ in 0..slots.count {
            // SAFETY: this slot is readable.
            unsafe {
                let a = [_mm512_set1_pd(*at.a[0]), _mm512_set1_pd(*at.a[1])];
                eight!(|v| {
                    let b = _mm512_loadu_pd(at.b.add(8 * v));
                    two!(|r| all[r][v] = _mm512_fmadd_round_pd::<DOWN>(a[r], b, all[r][v]));
                });
                let columns = _mm512_loadu_si512(at.b_exponents.cast());
                two!(|r| {
                    let row = _mm512_set1_epi32(*at.a_exponents[r] as i32);
                    bytes[r] = _mm512_max_epu8(bytes[r], _mm512_add_epi8(row, columns));
                });
                two!(|r| {
                    at.a[r] = at.a[r].add(1);
                    at.a_exponents[r] = at.a_exponents[r].add(1);
                });
                at.b = at.b.add(64);
                at.b_exponents = at.b_exponents.add(64);
            }
        }
        two!(|r| found[r] = Register(bytes[r]));
        two!(|r| four!(|v| {
            let first = _mm512_castpd_ps(all[r][2 * v]);
            let second = _mm512_castpd_ps(all[r][2 * v + 1]);
            let low = _mm512_castps_si512(_mm512_shuffle_ps::<0b10_00_10_00>(first, second));
            let high = _mm512_castps_si512(_mm512_shuffle_ps::<0b11_01_11_01>(first, second));
            let left = _mm512_xor_si512(high, upper(scales[r][v]));
            *beyond = Register(_mm512_or_si512(beyond.0, left));
            sums[r][v] = Register(_mm512_add_epi32(low, middle));
        }));
    }
}
