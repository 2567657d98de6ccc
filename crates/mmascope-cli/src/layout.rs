//! Text in lines that fit the terminal, or of at most 100 columns, broken between words.

use std::borrow::Cow;

/// The widest line, where no terminal says otherwise.
const COLUMNS: usize = 100;

/// The narrowest terminal that lines are made for.
const NARROWEST: usize = 20;

/// Columns of the terminal on standard output, if it is one.
pub(crate) fn terminal() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).and_then(known)
}

/// Columns of the terminal on standard error, if it is one.
pub(crate) fn error_terminal() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stderr()).and_then(known)
}

fn known((width, _): (terminal_size::Width, terminal_size::Height)) -> Option<usize> {
    // A terminal that knows no width says 0.
    (width.0 > 0).then(|| usize::from(width.0).max(NARROWEST))
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

/// A text whose lines fit a terminal of so many columns, where there is one.
pub(crate) fn fitted(text: &str, columns: Option<usize>) -> Cow<'_, str> {
    let Some(columns) = columns else {
        return text.into();
    };
    let lines: Vec<_> = text.split('\n').map(|line| folded(line, columns)).collect();
    lines.join("\n").into()
}

/// A line in lines of at most so many columns, broken between words; a longer word stays whole. Lines after
/// the first are indented to the text behind a label, or by two blanks more than the first.
///
/// A command, alone or behind a label and a colon, stays one that can be copied: its lines end with `\`, and no quoted argument
/// is broken.
fn folded(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_owned();
    }
    let command = line.find("mmascope ").filter(|at| {
        let label = line[..*at].trim();
        label.is_empty() || label.ends_with(':')
    });
    // Room for the blank and the sign at the end.
    let columns = columns - if command.is_some() { 2 } else { 0 };
    let indent = hanging(line, columns);
    let mut out = String::new();
    let (mut column, mut is_first) = (0, true);
    let mut at = 0;
    for (blanks, word) in pieces(line, command.is_some()) {
        let width = word.chars().count();
        let is_within = command.is_some_and(|begin| at > begin);
        at += blanks + word.len();
        if !is_first && column + blanks + width > columns {
            out.push_str(if is_within { " \\\n" } else { "\n" });
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else {
            out.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        }
        out.push_str(word);
        column += width;
        is_first = false;
    }
    out
}

/// Where lines after the first begin: at the text behind a label (two blanks or more stand between), or two
/// columns behind the first line's beginning.
fn hanging(line: &str, columns: usize) -> usize {
    let begin = line.chars().take_while(|c| *c == ' ').count();
    let rest: String = line.chars().skip(begin).collect();
    let behind_label = rest.find("  ").map(|gap| {
        let label = rest[..gap].chars().count();
        let blanks = rest[gap..].chars().take_while(|c| *c == ' ').count();
        begin + label + blanks
    });
    behind_label
        .filter(|at| *at <= columns / 3)
        .unwrap_or(begin + 2)
}

/// The words of a line, each with the number of blanks before it. With `is_quoted` a quoted text is one word.
fn pieces(line: &str, is_quoted: bool) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let (mut blanks, mut start) = (0, None);
    let (mut quote, mut is_escaped) = (None, false);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            // (Behind a backslash it opens nothing, as in 'it'\''s'.)
            (None, '\'' | '"') if is_quoted && !is_escaped => quote = Some(c),
            _ => {}
        }
        is_escaped = c == '\\' && quote.is_none();
        match (c, start) {
            (' ', Some(begin)) if quote.is_none() => {
                pieces.push((blanks, &line[begin..at]));
                (blanks, start) = (1, None);
            }
            (' ', None) => blanks += 1,
            (_, None) => start = Some(at),
            _ => {}
        }
    }
    if let Some(begin) = start {
        pieces.push((blanks, &line[begin..]));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn lines_are_broken_between_words_and_indented_to_their_text() {
        assert_eq!(folded("one two", 7), "one two");
        assert_eq!(folded("  one two three", 11), "  one two\n    three");
        assert_eq!(
            folded("at   one two three four", 15),
            "at   one two\n     three four"
        );
        assert_eq!(
            folded("one averylongword two", 9),
            "one\n  averylongword\n  two"
        );
        assert_eq!(folded("ä─ ö─ ü─", 5), "ä─ ö─\n  ü─");
    }

    #[test]
    fn a_command_can_be_copied() {
        let line = "  mmascope explain 'my A.npy' B.npy --arch a100 --at 3,4";
        assert_eq!(
            folded(line, 30),
            "  mmascope explain \\\n    'my A.npy' B.npy --arch \\\n    a100 --at 3,4"
        );
    }

    #[test]
    fn a_quoted_apostrophe_is_no_end() {
        assert_eq!(
            folded(r"mmascope explain 'it'\''s B.npy' --at 1,2", 22),
            "mmascope explain \\\n  'it'\\''s B.npy' \\\n  --at 1,2"
        );
    }

    #[test]
    fn a_command_behind_a_label_can_be_copied() {
        let line =
            "    step by step: mmascope explain --vector '{\"a\": \"00000000\"}' --against volta:x";
        assert_eq!(
            folded(line, 40),
            "    step by step: mmascope explain \\\n      --vector '{\"a\": \"00000000\"}' \\\n      --against volta:x"
        );
        // A label without room for the command stands alone.
        let narrow = folded(line, 24);
        let begin = "    step by step:\n      mmascope explain \\\n      --vector \\\n";
        assert!(narrow.starts_with(begin), "{narrow}");
    }

    /// No line is wider than asked for, and the words are the same ones in the same order.
    #[test]
    fn folded_lines_fit() {
        let line =
            "worst at 33,10: 408d00d9 = 4.40635347 and bfcb8af1 = -1.59017766 (of different signs)";
        for columns in 20..120 {
            let text = folded(line, columns);
            assert!(
                text.lines().all(|line| line.chars().count() <= columns),
                "{text}"
            );
            assert!(
                text.split_whitespace().eq(line.split_whitespace()),
                "{text}"
            );
        }
    }
}
