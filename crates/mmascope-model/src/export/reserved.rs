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
    words.split_ascii_whitespace().any(|own| own == word)
}

/// C11, 6.4.1, the words that C23 adds there, `asm` and `main`.
const C: &str = include_str!("reserved/c.txt");

/// C++20, [lex.key], with its other spellings of operators, and `main`.
const CPP: &str = include_str!("reserved/cuda.txt");

/// The Rust Reference, "Keywords": strict and reserved ones of the edition 2024.
const RUST: &str = include_str!("reserved/rust.txt");

/// The Python Language Reference, 2.3.1.
const PYTHON: &str = include_str!("reserved/python.txt");

/// IEEE 1800-2017, Annex B.
const SYSTEMVERILOG: &str = include_str!("reserved/systemverilog.txt");

/// The SMT-LIB Standard 2.6, 3.1, and what the theories of the file are made of.
const SMT: &str = include_str!("reserved/smt2.txt");
