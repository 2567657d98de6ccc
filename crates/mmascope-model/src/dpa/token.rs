//! Splits the notation into words with their columns.

/// A word of a text and its column (in characters, from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Characters before it in its line, from 1.
    pub column: usize,
    /// The word itself.
    pub text: &'a str,
}

/// Splits at white space; `;` and `,` at the end of a word are words of their own. `column` is
/// that of the text's first character.
pub fn tokens(text: &str, column: usize) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut start: Option<(usize, usize)> = None;
    let mut end_word = |start: &mut Option<(usize, usize)>, end: usize| {
        if let Some((from, column)) = start.take() {
            push_word(&text[from..end], column, &mut found);
        }
    };
    for (count, (offset, c)) in text.char_indices().enumerate() {
        if c.is_whitespace() {
            end_word(&mut start, offset);
        } else if start.is_none() {
            start = Some((offset, column + count));
        }
    }
    end_word(&mut start, text.len());
    found
}

fn push_word<'a>(word: &'a str, column: usize, found: &mut Vec<Token<'a>>) {
    let separator = word.len() > 1 && (word.ends_with(';') || word.ends_with(','));
    if !separator {
        found.push(Token { column, text: word });
        return;
    }
    let (text, mark) = word.split_at(word.len() - 1);
    found.push(Token { column, text });
    found.push(Token {
        column: column + text.chars().count(),
        text: mark,
    });
}
