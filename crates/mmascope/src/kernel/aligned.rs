//! Numbers that begin at a cache line, so that no register's load crosses one.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u8; 64]);

/// What may lie in lines: every bit pattern is a value, and 0 bits are 0.
///
/// # Safety
/// As said; the size divides 64.
pub(super) unsafe trait Plain: Copy + Send + Sync {}

// SAFETY: every bit pattern is a value.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}

/// A slice that begins at a cache line.
#[derive(Debug, Default)]
pub(super) struct Aligned<T> {
    lines: Vec<Line>,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Plain> Aligned<T> {
    pub(super) fn zeros(len: usize) -> Self {
        let lines = (len * size_of::<T>()).div_ceil(64);
        Self {
            lines: vec![Line([0; 64]); lines],
            len,
            kind: PhantomData,
        }
    }
}

impl<T: Plain> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the lines have `len` numbers, aligned, and every bit pattern is one.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Plain> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
