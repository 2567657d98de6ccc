//! Numbers that begin at a cache line, so that no register's load crosses one.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::kept;

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
        let bytes = kept::zeros(len * size_of::<T>() + LINE);
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
        kept::keep(std::mem::take(&mut self.bytes));
    }
}

impl<T: Plain> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: from the line on are `len` numbers, aligned, and every bit pattern is one.
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
        // SAFETY: as for `deref`.
        unsafe { std::slice::from_raw_parts_mut(first.add(self.from).cast(), self.len) }
    }
}

/// Asks the system for large pages where these numbers, which nobody has touched yet, will lie: pages of 4 KiB
/// cost a tenth of a product of 1024³ when they are first written. Only pages that lie wholly within are
/// asked for, so that no memory is used beside them. It is advice: nothing depends on it.
pub(crate) fn in_large_pages<T>(numbers: &[T]) {
    #[cfg(target_os = "linux")]
    {
        /// Of x86-64, and of aarch64 with pages of 4 KiB.
        const LARGE: usize = 2 << 20;
        let first = numbers.as_ptr().addr();
        let from = first.next_multiple_of(LARGE);
        let to = (first + size_of_val(numbers)) / LARGE * LARGE;
        if from < to {
            let page = numbers.as_ptr().cast::<u8>().wrapping_add(from - first);
            let advice = rustix::mm::Advice::LinuxHugepage;
            // SAFETY: the pages are ours, and their content stays.
            let _ = unsafe { rustix::mm::madvise(page.cast_mut().cast(), to - from, advice) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = numbers;
}
