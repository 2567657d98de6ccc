//! Registers of pairs of 16-bit integers, whose products are added to 32-bit sums.

/// A register of 32-bit sums, or of pairs of 16-bit numbers.
///
/// # Safety
/// Every operation asks for the instruction set of its type: [`Plain`] for none, `Avx2` for AVX2, `Avx512` for AVX-512 F and BW, `Vnni` for
/// VNNI beside these. `load` and `store` read and write WIDTH words at any address, which must be the caller's.
pub(crate) unsafe trait Pairs: Copy {
    /// Words of a register.
    const WIDTH: usize;

    unsafe fn zero() -> Self;
    unsafe fn splat(word: u32) -> Self;
    unsafe fn load(from: *const u32) -> Self;
    unsafe fn store(self, to: *mut u32);
    /// Modulo 2^32.
    unsafe fn plus(self, other: Self) -> Self;
    /// The sum and both products of every pair, modulo 2^32.
    unsafe fn plus_products(self, a: Self, b: Self) -> Self;
}

/// Both products of a pair, that of the lower halves first.
pub(crate) fn products(a: u32, b: u32) -> [i32; 2] {
    let half = |word: u32, shift: u32| i32::from((word >> shift) as u16 as i16);
    [half(a, 0) * half(b, 0), half(a, 16) * half(b, 16)]
}

/// Eight words in plain Rust: what the operations mean.
#[derive(Clone, Copy)]
pub(crate) struct Plain([u32; 8]);

// SAFETY: nothing is asked for; `load` and `store` are those of the trait's promise.
unsafe impl Pairs for Plain {
    const WIDTH: usize = 8;

    #[inline(always)]
    unsafe fn zero() -> Self {
        Self([0; 8])
    }

    #[inline(always)]
    unsafe fn splat(word: u32) -> Self {
        Self([word; 8])
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { from.cast::<[u32; 8]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[u32; 8]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| {
            self.0[at].wrapping_add(other.0[at])
        }))
    }

    #[inline(always)]
    unsafe fn plus_products(self, a: Self, b: Self) -> Self {
        let product = |at: usize| {
            let [low, high] = products(a.0[at], b.0[at]);
            low.wrapping_add(high) as u32
        };
        Self(std::array::from_fn(|at| {
            self.0[at].wrapping_add(product(at))
        }))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_add_epi32, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_set1_epi32, _mm256_setzero_si256, _mm256_storeu_si256, _mm512_add_epi32,
        _mm512_dpwssd_epi32, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_set1_epi32,
        _mm512_setzero_si512, _mm512_storeu_si512,
    };

    use super::Pairs;

    macro_rules! register {
        ($name:ident, $register:ty, $width:literal, $what:literal,
         $zero:ident, $splat:ident, $load:ident, $store:ident, $add:ident,
         |$sum:ident, $a:ident, $b:ident| $products:expr) => {
            #[doc = $what]
            #[derive(Clone, Copy)]
            pub(crate) struct $name($register);

            // SAFETY: the instruction sets are those that the trait names for this type.
            unsafe impl Pairs for $name {
                const WIDTH: usize = $width;

                #[inline(always)]
                unsafe fn zero() -> Self {
                    // SAFETY: the caller has the instruction set.
                    Self(unsafe { $zero() })
                }

                #[inline(always)]
                unsafe fn splat(word: u32) -> Self {
                    // SAFETY: the caller has the instruction set.
                    Self(unsafe { $splat(word as i32) })
                }

                #[inline(always)]
                unsafe fn load(from: *const u32) -> Self {
                    // SAFETY: the caller has the instruction set, and promises the words.
                    Self(unsafe { $load(from.cast()) })
                }

                #[inline(always)]
                unsafe fn store(self, to: *mut u32) {
                    // SAFETY: the caller has the instruction set, and promises the words.
                    unsafe { $store(to.cast(), self.0) }
                }

                #[inline(always)]
                unsafe fn plus(self, other: Self) -> Self {
                    // SAFETY: the caller has the instruction set.
                    Self(unsafe { $add(self.0, other.0) })
                }

                #[inline(always)]
                unsafe fn plus_products(self, a: Self, b: Self) -> Self {
                    let ($sum, $a, $b) = (self.0, a.0, b.0);
                    // SAFETY: the caller has the instruction set.
                    Self(unsafe { $products })
                }
            }
        };
    }

    register!(
        Avx2,
        __m256i,
        8,
        "Eight words.",
        _mm256_setzero_si256,
        _mm256_set1_epi32,
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        _mm256_add_epi32,
        |sum, a, b| _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
    );
    register!(
        Avx512,
        __m512i,
        16,
        "Sixteen words.",
        _mm512_setzero_si512,
        _mm512_set1_epi32,
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_add_epi32,
        |sum, a, b| _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
    );
    register!(
        Vnni,
        __m512i,
        16,
        "Sixteen words; one instruction for products and sum.",
        _mm512_setzero_si512,
        _mm512_set1_epi32,
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_add_epi32,
        |sum, a, b| _mm512_dpwssd_epi32(sum, a, b)
    );
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512, Vnni};
