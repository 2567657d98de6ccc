//! Text in lines that fit the terminal, or of at most 100 columns, broken between words.

/// The widest line, where no terminal says otherwise.
const COLUMNS: usize = 100;

/// The narrowest terminal that lines are made for.
const NARROWEST: usize = 20;

/// Columns of the terminal on standard output, if it is one.
pub(crate) fn terminal() -> Option<usize> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(std::io::stdout())?;
    // One that knows no width says 0.
    (width > 0).then(|| usize::from(width).max(NARROWEST))
}

/// Columns of a line: those of the terminal, or [`COLUMNS`].
pub(crate) fn columns() -> usize {
    terminal().unwrap_or(COLUMNS)
}

/// A label and a text; lines after the first are indented to the text. A word is never cut.
pub(crate) fn labelled(label: &str, text: &str) -> String {
    let (indent, columns) = (label.chars().count(), columns());
    let mut out = String::from(label);
    let mut column = indent;
    let text = mmascope::error::escaped(text);
    for (index, word) in text.split_whitespace().enumerate() {
        let width = word.chars().count();
        if index > 0 && column + 1 + width > columns {
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
