//! Names of functions: which ones a language takes, and what a refusal says.

use crate::common::{Subject, representatives, source};
use mmascope_model::export::{self, Language};

fn subject() -> Subject {
    representatives(200).swap_remove(0)
}

fn refusal(name: &str, language: Language) -> String {
    let subject = subject();
    let result = export::unit(&subject.unit, &subject.name, language, Some(name));
    let error = result.expect_err(name);
    error.to_string()
}

#[test]
fn a_name_is_an_identifier_of_every_language() {
    for language in Language::ALL {
        for name in [
            "", "9", "9a", "_a", "a-b", "a b", "größe", "a\n", "a.b", "dot()",
        ] {
            let message = refusal(name, language);
            let begin = format!(
                "the function's name '{}': a letter, then",
                name.escape_debug()
            );
            assert!(message.starts_with(&begin), "{name:?}: {message}");
        }
    }
}

#[test]
fn words_of_the_language_are_refused_and_those_of_others_are_not() {
    for (language, own, free) in [
        (Language::C, "static", "class"),
        (Language::Cuda, "class", "def"),
        (Language::Rust, "impl", "class"),
        (Language::Python, "def", "impl"),
        (Language::SystemVerilog, "endpackage", "impl"),
        (Language::Smt2, "bvadd", "impl"),
    ] {
        let message = refusal(own, language);
        let end = format!("has that word for itself; my_{own} is free");
        assert!(message.ends_with(&end), "{message}");
        let text = source(&subject(), language, Some(free));
        let begin = match language {
            Language::Smt2 => format!("(define-fun {free} ("),
            _ => format!(" {free}("),
        };
        assert!(text.contains(&begin), "{text}");
    }
}

/// What a header, a compiler or a solver has is no keyword, and taken all the same.
#[test]
fn names_that_are_no_keywords_are_refused_too() {
    for (language, names) in [
        (
            Language::C,
            &[
                "linux",
                "int8_t",
                "uint_fast8_t",
                "INT8_MAX",
                "UINT32_C",
                "printf",
                "cosf",
            ][..],
        ),
        (
            Language::Cuda,
            &["unix", "std", "threadIdx", "intptr_t", "malloc"],
        ),
        (Language::SystemVerilog, &["process", "mailbox"]),
        (Language::Smt2, &["bvcomp", "bvnand", "push", "zero_extend"]),
    ] {
        for name in names {
            let message = refusal(name, language);
            assert!(message.contains("has that word for itself"), "{message}");
        }
    }
    for name in ["interest", "INTERIM", "unit_t"] {
        source(&subject(), Language::C, Some(name));
    }
}

/// The parameters, the types and the file's own functions are taken.
#[test]
fn a_name_that_the_file_has_is_refused() {
    for language in Language::ALL {
        for name in ["a", "scale_a"] {
            if name == "scale_a" && !source(&subject(), language, None).contains(name) {
                continue;
            }
            let message = refusal(name, language);
            let end = format!("the file has a name '{name}' already; my_{name} is free");
            assert!(message.ends_with(&end), "{language:?}: {message}");
        }
    }
}

/// The head says how the function is called; what is in it of the row's own name stays.
#[test]
fn comments_keep_their_words() {
    for language in Language::ALL {
        let subject = subject();
        let plain = export::unit(&subject.unit, "mychip:dot.m8", language, None);
        let named = export::unit(&subject.unit, "mychip:dot.m8", language, Some("own"));
        let (plain, named) = (plain.expect("a source"), named.expect("a source"));
        assert!(plain.contains("mychip:dot.m8:"), "{plain}");
        assert!(named.contains("mychip:dot.m8:"), "{named}");
        let call = match language {
            Language::Smt2 => "The function own takes",
            _ => "own(a, b, c): every operand",
        };
        assert!(named.contains(call), "{named}");
        // The same but for names: as many lines, and words that begin with the name or are as before.
        assert_eq!(plain.lines().count(), named.lines().count(), "{language:?}");
    }
}
