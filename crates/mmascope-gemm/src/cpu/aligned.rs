//! Memory for numbers that begins at a cache line, so that no register's load crosses one.

#![allow(unsafe_code)] // slices of numbers in memory that lies as bytes

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::buffer_pool;
use crate::memory::in_large_pages;

/// Bytes of a cache line.
const LINE: usize = 64;

/// What may lie in lines: every bit pattern is a value, and 0 bits are 0.
///
/// # Safety
/// As said; the size divides 64.
pub(super) unsafe trait Plain: Copy + Send + Sync {}

// SAFETY: every bit pattern is a value.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}

/// A slice that begins at a cache line.
///
/// Bytes with room before the line, since the system gives zeroed pages for those, and writes zeros itself
/// where it is asked for lines.
#[derive(Debug, Default)]
pub(super) struct Aligned<T> {
    bytes: Vec<u8>,
    /// Where the line begins.
    from: usize,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Plain> Aligned<T> {
    pub(super) fn zeros(len: usize) -> Self {
        let bytes = buffer_pool::zeros(len * size_of::<T>() + LINE);
        in_large_pages(&bytes);
        let from = bytes.as_ptr().addr().wrapping_neg() % LINE;
        Self {
            bytes,
            from,
            len,
            kind: PhantomData,
        }
    }
}

impl<T> Drop for Aligned<T> {
    fn drop(&mut self) {
        buffer_pool::keep(std::mem::take(&mut self.bytes));
    }
}

impl<T: Plain> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: `zeros` made `bytes` of `len · size_of::<T>() + LINE` bytes and chose `from < LINE` so that it is a multiple of 64
        // in memory, which every `T` (`Plain`: its size divides 64) asks no more than; nothing changes the length or moves the
        // bytes before `drop`. Every bit pattern is a `T` (`Plain`). Broken, a reference beyond the allocation, or misaligned.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().add(self.from).cast(), self.len) }
    }
}

impl<T: Plain> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        let first = self.bytes.as_mut_ptr();
        // SAFETY: as for `deref`; `&mut self` has the bytes alone.
        unsafe { std::slice::from_raw_parts_mut(first.add(self.from).cast(), self.len) }
    }
}
