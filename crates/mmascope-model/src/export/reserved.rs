//! The words that each language keeps for itself: no function can be called so.

use super::Language;

/// Whether a language keeps a word for itself.
pub(super) fn is_reserved(word: &str, language: Language) -> bool {
    let words = match language {
        Language::C => C,
        Language::Cuda => CPP,
        Language::Rust => RUST,
        Language::Python => PYTHON,
        Language::SystemVerilog => SYSTEMVERILOG,
        Language::Smt2 => SMT,
    };
    is_listed_in(words, word)
        || match language {
            Language::C | Language::Cuda => is_of_stdint(word) || is_listed_in(LIBC, word),
            // Functions on bit-vectors, of the theory and of solvers.
            Language::Smt2 => word.starts_with("bv"),
            Language::Rust | Language::Python | Language::SystemVerilog => false,
        }
}

fn is_listed_in(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|own| own == word)
}

/// C11, 7.20 and 7.31.10: types such as `uint_fast8_t`, and macros such as `INT8_MAX` and `UINT32_C`, also those to come.
fn is_of_stdint(word: &str) -> bool {
    let signed = word.strip_prefix(['u', 'U']).unwrap_or(word);
    let ends = |ends: &[&str]| ends.iter().any(|end| word.ends_with(end));
    (signed.starts_with("int") && ends(&["_t"]))
        || (signed.starts_with("INT") && ends(&["_C", "_MAX", "_MIN"]))
}

/// C11, 6.4.1, the words that C23 adds there, `asm` and `main`, and what gcc defines when no standard is asked for.
const C: &str = include_str!("reserved/c.txt");

/// C11, annex B: functions of the standard library, and macros that are used like them, which keeps their names for itself (7.1.3).
const LIBC: &str = include_str!("reserved/libc.txt");

/// C++20, [lex.key], with its other spellings of operators, `main`, `std`, what gcc defines when no standard is asked for, and the variables that
/// CUDA C++ gives every kernel.
const CPP: &str = include_str!("reserved/cuda.txt");

/// The Rust Reference, "Keywords": strict and reserved ones of the edition 2024.
const RUST: &str = include_str!("reserved/rust.txt");

/// The Python Language Reference, 2.3.1.
const PYTHON: &str = include_str!("reserved/python.txt");

/// IEEE 1800-2017, Annex B, and the classes of its package `std`, which are no keywords.
const SYSTEMVERILOG: &str = include_str!("reserved/systemverilog.txt");

/// The SMT-LIB Standard 2.6, 3.1, with the commands that are one word, and functions of its theories (Core, FixedSizeBitVectors).
const SMT: &str = include_str!("reserved/smt2.txt");
