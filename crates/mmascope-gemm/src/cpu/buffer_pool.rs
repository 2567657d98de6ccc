//! A pool that keeps the buffers of finished products for the next ones.
//!
//! Small products are many products: at 256³ a quarter of the time went into memory that the system had taken
//! back after the last product, and handed out again page by page.

use std::sync::{Mutex, PoisonError};

/// Bytes that are kept at most, for the whole process.
pub(super) const MOST: usize = 4 << 20;
/// Smaller pieces are not kept: the allocator has them at hand.
pub(super) const LEAST: usize = 32 << 10;

/// The latest last.
static KEPT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Zero bytes.
pub(super) fn zeros(len: usize) -> Vec<u8> {
    match fitting(len) {
        Some(mut bytes) => {
            bytes.clear();
            bytes.resize(len, 0);
            bytes
        }
        None => vec![0; len],
    }
}

/// The smallest that has room for so many bytes, and not more than twice as much.
fn fitting(len: usize) -> Option<Vec<u8>> {
    if !(LEAST..=MOST).contains(&len) {
        return None;
    }
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let fits = |bytes: &Vec<u8>| (len..=2 * len).contains(&bytes.capacity());
    let (at, _) = kept
        .iter()
        .enumerate()
        .filter(|(_, bytes)| fits(bytes))
        .min_by_key(|(_, bytes)| bytes.capacity())?;
    Some(kept.remove(at))
}

/// Bytes that nobody needs any more. The oldest make room for them.
pub(super) fn keep(bytes: Vec<u8>) {
    if !(LEAST..=MOST).contains(&bytes.capacity()) {
        return;
    }
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.push(bytes);
    let mut all: usize = kept.iter().map(Vec::capacity).sum();
    let mut old = 0;
    while all > MOST {
        all -= kept[old].capacity();
        old += 1;
    }
    kept.drain(..old);
}
