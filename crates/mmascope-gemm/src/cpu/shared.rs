//! A slice of which several tasks read and write parts of their own.

use std::marker::PhantomData;

/// Such a slice.
pub(super) struct Shared<'a, W> {
    words: *mut W,
    len: usize,
    all: PhantomData<&'a mut [W]>,
}

// SAFETY: tasks use disjoint elements, as `run` and `block` ask for.
unsafe impl<W: Send> Sync for Shared<'_, W> {}

impl<'a, W> Shared<'a, W> {
    pub(super) fn new(words: &'a mut [W]) -> Self {
        Self {
            words: words.as_mut_ptr(),
            len: words.len(),
            all: PhantomData,
        }
    }

    /// # Safety
    /// Nobody else uses these elements while the slice lives.
    #[allow(clippy::mut_from_ref)]
    pub(super) unsafe fn run(&self, from: usize, length: usize) -> &mut [W] {
        assert!(from <= self.len && length <= self.len - from);
        // SAFETY: in bounds; the caller promises that it is ours.
        unsafe { std::slice::from_raw_parts_mut(self.words.add(from), length) }
    }

    /// Where a block of rows begins, each so many words behind the last.
    pub(super) fn block(&self, from: usize, stride: usize, rows: usize, columns: usize) -> *mut W {
        let length = stride * (rows - 1) + columns;
        assert!(from <= self.len && length <= self.len - from);
        // SAFETY: in bounds.
        unsafe { self.words.add(from) }
    }
}
