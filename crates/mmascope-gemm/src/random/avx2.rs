//! Random words with AVX2: four counters in each register.

#![allow(unsafe_code)] // calls into an instruction set, stores of registers

use std::arch::x86_64::*;

use super::philox::{KEY_STEPS, MULTIPLIERS, ROUNDS};

/// Counters of two registers.
const TURN: usize = 8;

/// `philox([index, first + i], key)` for every `i` of `out`, if this machine has AVX2; says whether it has.
pub(super) fn fill(index: [u32; 2], first: u32, key: [u32; 2], out: &mut [[u32; 4]]) -> bool {
    let is_there = is_x86_feature_detected!("avx2");
    if is_there {
        // SAFETY: `counters` asks for AVX2 and nothing else, and the processor has just said that it has it. Without
        // it the first instruction would be undefined behaviour, in practice an illegal instruction.
        unsafe { counters(index, first, key, out) };
    }
    is_there
}

/// Every counter's words. A word of a counter is the lower half of a 64-bit lane; what is in the upper half
/// does not matter to the next product.
#[target_feature(enable = "avx2")]
fn counters(index: [u32; 2], first: u32, key: [u32; 2], out: &mut [[u32; 4]]) {
    let splat = |word: u32| _mm256_set1_epi64x(i64::from(word));
    let multipliers = MULTIPLIERS.map(splat);
    let steps = KEY_STEPS.map(splat);
    for (turn, out) in out.chunks_mut(TURN).enumerate() {
        let begin = |at: usize| {
            let lane = splat(first.wrapping_add((turn * TURN + at) as u32));
            let lane = _mm256_add_epi64(lane, _mm256_setr_epi64x(0, 1, 2, 3));
            [
                splat(index[0]),
                splat(index[1]),
                lane,
                _mm256_setzero_si256(),
            ]
        };
        let mut both = [begin(0), begin(4)];
        let mut key = key.map(splat);
        for _ in 0..ROUNDS {
            for words in &mut both {
                let p = _mm256_mul_epu32(words[0], multipliers[0]);
                let q = _mm256_mul_epu32(words[2], multipliers[1]);
                let mixed = |product, word, key| {
                    let high = _mm256_srli_epi64::<32>(product);
                    _mm256_xor_si256(_mm256_xor_si256(high, word), key)
                };
                *words = [mixed(q, words[1], key[0]), q, mixed(p, words[3], key[1]), p];
            }
            key = [
                _mm256_add_epi32(key[0], steps[0]),
                _mm256_add_epi32(key[1], steps[1]),
            ];
        }
        let mut all = [[0_u32; 4]; TURN];
        for (words, all) in both.iter().zip(all.chunks_mut(4)) {
            let join =
                |low, high| _mm256_blend_epi32::<0b1010_1010>(low, _mm256_slli_epi64::<32>(high));
            let (lower, upper) = (join(words[0], words[1]), join(words[2], words[3]));
            let even = _mm256_unpacklo_epi64(lower, upper);
            let odd = _mm256_unpackhi_epi64(lower, upper);
            let halves = [
                _mm256_permute2x128_si256::<0x20>(even, odd),
                _mm256_permute2x128_si256::<0x31>(even, odd),
            ];
            for (half, two) in halves.into_iter().zip(all.chunks_exact_mut(2)) {
                // SAFETY: `two` is a chunk of exactly two counters of four words (`chunks_exact_mut(2)`), so that all
                // 32 bytes of the register lie within it. The store asks for no alignment.
                unsafe { _mm256_storeu_si256(two.as_mut_ptr().cast(), half) };
            }
        }
        out.copy_from_slice(&all[..out.len()]);
    }
}
