//! The buffers that are kept between products: they come back as zeros, and they are bounded.
//!
//! The pool is no part of the library's interface, so that its file is compiled here once more. A buffer that
//! was kept shows by its capacity, which a new one would not have.

#[path = "../src/cpu/buffer_pool.rs"]
mod buffer_pool;

use buffer_pool::{LEAST, MOST, keep, zeros};

/// The process has one pool: one test.
#[test]
fn memory_comes_back_as_zeros_and_is_bounded() {
    keep(vec![0xff; 3 * LEAST]);
    let bytes = zeros(2 * LEAST);
    assert_eq!(bytes.capacity(), 3 * LEAST, "the one that was kept");
    assert!(bytes.len() == 2 * LEAST && bytes.iter().all(|&byte| byte == 0));
    assert_eq!(zeros(2 * LEAST).capacity(), 2 * LEAST, "it was given away");
    // Too large for what is asked, and too large to be kept.
    keep(bytes);
    assert_eq!(zeros(LEAST).capacity(), LEAST);
    assert_eq!(zeros(3 * LEAST).capacity(), 3 * LEAST);
    keep(vec![0xff; MOST + 1]);
    assert_eq!(zeros(MOST).capacity(), MOST);
    // The smallest that is large enough.
    keep(vec![0xff; 7 * LEAST]);
    keep(vec![0xff; 6 * LEAST]);
    assert_eq!(zeros(5 * LEAST).capacity(), 6 * LEAST);
    // Of many, those that are kept have not more than so many bytes.
    let part = MOST / 3;
    for _ in 0..10 {
        keep(vec![0xff; part]);
    }
    let taken: Vec<Vec<u8>> = (0..10).map(|_| zeros(part - 1)).collect();
    let kept = taken.iter().filter(|bytes| bytes.capacity() == part);
    assert_eq!(kept.count(), 3);
    assert!(taken.iter().flatten().all(|&byte| byte == 0));
}
