//! The name that a caller gives the function of a source file. Where all files of a program share one space of names,
//! whatever else the file defines gets that name in front, so that several files fit in one.

use super::ir::Module;
use super::{Language, c, reserved, smt};
use crate::error::{Error, Result};

/// What the function is called when nobody says.
pub(super) const DEFAULT: &str = "dot";

/// Checks that a language takes the name of a function.
pub(super) fn check(name: &str, language: Language) -> Result<()> {
    let refused = |why: &str| {
        Err(Error::Argument(format!(
            "the function's name '{}': {why}",
            name.escape_debug()
        )))
    };
    let mut letters = name.chars();
    if !letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        || !letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    {
        return refused(
            "a letter, then letters, digits and _, all of them ASCII, such as unit_f16",
        );
    }
    if reserved::is_reserved(name, language) {
        return refused(&format!(
            "{} has that word for itself; my_{name} is free",
            language.title()
        ));
    }
    Ok(())
}

/// The text of a module with its function under that name.
pub(super) fn named(text: &str, name: &str, module: &Module, language: Language) -> Result<String> {
    let others: Vec<String> = match language {
        Language::C | Language::Cuda => c::names(module),
        Language::Smt2 => smt::names(module),
        // The rest is private in a module, or has a package's name in front.
        Language::Rust | Language::Python | Language::SystemVerilog => Vec::new(),
    };
    let front = format!("{name}_");
    let mut changed = String::with_capacity(text.len() + 16 * others.len());
    for part in parts(text, language) {
        let Part::Word(word) = part else {
            changed += part.text();
            continue;
        };
        let begins = !others.is_empty() && word.starts_with(&front);
        if (word == name && name != DEFAULT) || begins {
            return Err(Error::Argument(format!(
                "the function's name '{name}': the file has a name '{word}' already; my_{name} is free"
            )));
        }
        match word {
            DEFAULT => changed += name,
            _ if others.iter().any(|other| other == word) => {
                changed += &front;
                changed += word;
            }
            _ => changed += word,
        }
    }
    Ok(changed)
}

/// A piece of a source text.
enum Part<'a> {
    /// A name or a word of the language.
    Word(&'a str),
    /// Everything else: comments, texts in quotation marks, numbers, signs.
    Rest(&'a str),
}

impl<'a> Part<'a> {
    fn text(&self) -> &'a str {
        match self {
            Self::Word(text) | Self::Rest(text) => text,
        }
    }
}

/// The pieces of a text, which together are the text.
fn parts(text: &str, language: Language) -> impl Iterator<Item = Part<'_>> {
    // How comments and texts begin and end: the first that fits counts.
    let skipped: &[(&str, &str)] = match language {
        Language::C | Language::Cuda | Language::Rust | Language::SystemVerilog => {
            &[("//", "\n"), ("/*", "*/")]
        }
        Language::Python => &[("#", "\n"), ("\"\"\"", "\"\"\""), ("\"", "\"")],
        Language::Smt2 => &[(";", "\n")],
    };
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let comment = skipped.iter().find(|(begin, _)| rest.starts_with(begin));
        let length = match comment {
            Some((begin, end)) => {
                let after = &rest[begin.len()..];
                begin.len() + after.find(end).map_or(after.len(), |at| at + end.len())
            }
            None if is_word(first) => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
            None => first.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        rest = after;
        Some(
            match comment.is_none() && is_word(first) && !first.is_ascii_digit() {
                true => Part::Word(part),
                false => Part::Rest(part),
            },
        )
    })
}
