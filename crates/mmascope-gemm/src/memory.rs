//! Advises the system about large memory.

#![allow(unsafe_code)] // madvise

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
            // SAFETY: `from` and `to` are rounded inwards, so that every page advised on lies wholly within `numbers`,
            // which we borrow. This advice changes no content and unmaps nothing; others would (DONTNEED), so
            // the kind of advice is part of the argument.
            let _ = unsafe { rustix::mm::madvise(page.cast_mut().cast(), to - from, advice) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = numbers;
}
