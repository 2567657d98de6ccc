//! A slice of which several tasks read and write parts of their own.

#![allow(unsafe_code)] // shared slices

use std::marker::PhantomData;

/// Such a slice.
pub(super) struct Shared<'a, W> {
    words: *mut W,
    len: usize,
    all: PhantomData<&'a mut [W]>,
}

// SAFETY: a `Shared` gives elements only by `run`, whose callers promise that nobody else uses them meanwhile, and as a pointer by
// `block`, which asks its users for the same. Elements then move between threads as with `&mut`, for which `W: Send` is enough.
// Broken (two tasks with a common element), there is a data race.
unsafe impl<W: Send> Sync for Shared<'_, W> {}
// SAFETY: as above: it is an exclusive reference to all elements, handed out in parts.
unsafe impl<W: Send> Send for Shared<'_, W> {}

impl<'a, W> Shared<'a, W> {
    pub(super) fn new(words: &'a mut [W]) -> Self {
        Self {
            words: words.as_mut_ptr(),
            len: words.len(),
            all: PhantomData,
        }
    }

    /// Some elements.
    ///
    /// # Safety
    /// Nobody else uses these elements while the slice lives.
    #[allow(clippy::mut_from_ref)]
    pub(super) unsafe fn run(&self, from: usize, length: usize) -> &mut [W] {
        assert!(from <= self.len && length <= self.len - from);
        // SAFETY: `words` and `len` are those of one slice, borrowed for `'a`, and the assertion keeps the run within it; that
        // nobody else uses it is the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.words.add(from), length) }
    }

    /// Where a block of rows begins, each so many elements behind the last. All of the block lies within the slice. Whoever uses the
    /// pointer sees to it that nobody else uses the block.
    pub(super) fn block(&self, from: usize, stride: usize, rows: usize, columns: usize) -> *mut W {
        let length = stride * (rows - 1) + columns;
        assert!(from <= self.len && length <= self.len - from);
        // SAFETY: the assertion keeps the pointer, and all of the block behind it, within the slice.
        unsafe { self.words.add(from) }
    }
}
