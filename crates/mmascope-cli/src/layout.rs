//! Text in lines of at most 100 columns, broken between words.

use std::io::IsTerminal;

/// The widest line, where no terminal says otherwise.
pub(crate) const COLUMNS: usize = 100;

/// A label and a text; lines after the first are indented to the text. A word is never cut.
pub(crate) fn labelled(label: &str, text: &str) -> String {
    let indent = label.chars().count();
    let mut out = String::from(label);
    let mut column = indent;
    for (index, word) in text.split_whitespace().enumerate() {
        let width = word.chars().count();
        if index > 0 && column + 1 + width > COLUMNS {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if index > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out
}

/// A paragraph.
pub(crate) fn paragraph(text: &str) -> String {
    labelled("", text)
}

/// The width of tables where standard output is no terminal; a terminal says its own.
pub(crate) fn table_width() -> Option<u16> {
    (!std::io::stdout().is_terminal()).then_some(COLUMNS as u16)
}
