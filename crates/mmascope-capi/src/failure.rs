//! Turns results into statuses, and keeps the words of the last error of each thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use mmascope_model::Error;

/// Nothing went wrong.
const DONE: c_int = 0;
/// An argument is wrong, or nobody knows the arithmetic.
const WRONG_INPUT: c_int = 2;
/// A device, or the library itself, failed.
const FAILED: c_int = 3;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// What an argument cannot be.
pub(crate) fn wrong(message: impl Into<String>) -> Error {
    Error::Argument(message.into())
}

/// Runs the work of a function: its status, and its error for [`mmascope_last_error`].
pub(crate) fn status(work: impl FnOnce() -> Result<(), Error>) -> c_int {
    let (status, message) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return DONE,
        Ok(Err(error @ Error::Device { .. })) => (FAILED, error.to_string()),
        Ok(Err(error)) => (WRONG_INPUT, error.to_string()),
        Err(_) => (
            FAILED,
            "a fault in mmascope: please report it with the arguments".to_owned(),
        ),
    };
    let text: Vec<u8> = message
        .into_bytes()
        .into_iter()
        .filter(|&b| b != 0)
        .collect();
    let text = CString::new(text).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = text);
    status
}

/// The words of this thread's last error, UTF-8; empty when there was none. They stay until the thread's next error.
#[unsafe(no_mangle)]
pub extern "C" fn mmascope_last_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}
