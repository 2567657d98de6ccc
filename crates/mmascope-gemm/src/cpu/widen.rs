//! Operand words, as they are stored, as words of 32 bits.

use std::ops::Range;

use super::fast::fast;
use crate::array::{Stored, Words};

/// Some consecutive words; of longer ones the lower bits.
pub(crate) fn widen(words: &Words, range: Range<usize>, out: &mut [u32]) {
    match words {
        Words::U8(words) => bytes(&words[range], out),
        Words::U16(words) => halves(&words[range], out),
        Words::U32(words) => out.copy_from_slice(&words[range]),
        Words::U64(words) => each(&words[range], out),
    }
}

fast!(fn bytes(words: &[u8], out: &mut [u32]) = each);
fast!(fn halves(words: &[u16], out: &mut [u32]) = each);

#[inline(always)]
fn each<W: Stored>(words: &[W], out: &mut [u32]) {
    for (out, word) in out.iter_mut().zip(words) {
        *out = word.word() as u32;
    }
}
