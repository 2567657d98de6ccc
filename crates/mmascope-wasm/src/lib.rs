//! mmascope in a browser: one module that answers questions in JSON, for the explorer of the atlas.
//!
//! The page puts a question into the memory that [`reserve`] gives, with the bytes of a file behind it where it has
//! one, calls [`ask`], and reads the answer from [`answer`]. The answer is JSON: what was asked for, or `error` with a
//! message and, for texts, line and column. All arithmetic is that of the library; the page does none.

mod desk;

use std::cell::RefCell;

pub use desk::Desk;

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::new(Memory::default());
}

/// What the page writes and reads, and what is remembered between questions.
#[derive(Default)]
struct Memory {
    input: Vec<u8>,
    output: Vec<u8>,
    desk: Option<Desk>,
}

/// Makes room for a question and the file behind it; gives the place to write to.
#[allow(unsafe_code)]
// SAFETY: no other symbol of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    MEMORY.with_borrow_mut(|memory| {
        memory.input.clear();
        memory.input.resize(length, 0);
        memory.input.as_mut_ptr()
    })
}

/// Answers the question of so many bytes that stands in the reserved place; what follows it is a file. Gives the answer's
/// length.
#[allow(unsafe_code)]
// SAFETY: no other symbol of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn ask(question: usize) -> usize {
    MEMORY.with_borrow_mut(|memory| {
        let Memory {
            input,
            output,
            desk,
        } = memory;
        let (text, file) = input.split_at(question.min(input.len()));
        let desk = desk.get_or_insert_with(Desk::default);
        *output = desk
            .answer(&String::from_utf8_lossy(text), file)
            .into_bytes();
        output.len()
    })
}

/// The place of the last answer.
#[allow(unsafe_code)]
// SAFETY: no other symbol of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    MEMORY.with_borrow(|memory| memory.output.as_ptr())
}
