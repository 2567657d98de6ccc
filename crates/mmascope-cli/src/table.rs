//! Tables: one line a row where nobody looks, fitted to the terminal where there is one.
//!
//! A word or a number is never cut. Where a table cannot be made narrow enough, each row becomes a few lines
//! of its own.

use std::fmt;

use crate::layout;
use mmascope::error::escaped;

/// Columns between two cells, where there is room.
const GAP: usize = 3;

/// A table with a ruled header and nothing else.
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self {
            header: header
                .iter()
                .map(|text| escaped(text).into_owned())
                .collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn add_row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells = cells
            .into_iter()
            .map(|cell| escaped(cell.as_ref()).into_owned());
        self.rows.push(cells.collect());
    }

    /// The table in lines of at most so many columns; as wide as it is without a limit.
    fn text(&self, limit: Option<usize>) -> String {
        let natural = self.widths(|cell| cell.chars().count());
        let Some(limit) = limit else {
            return self.drawn(&natural, GAP, None);
        };
        let least = self.widths(|cell| {
            let words = cell.split_whitespace().map(|word| word.chars().count());
            words.max().unwrap_or(0)
        });
        for gap in [GAP, 2, 1] {
            if let Some(widths) = fitted(&natural, &least, gap, limit) {
                return self.drawn(&widths, gap, Some(limit));
            }
        }
        self.records()
    }

    /// The widest cell of each column.
    fn widths(&self, of: impl Fn(&str) -> usize) -> Vec<usize> {
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let column = |at: usize| {
            let cells = lines().filter_map(|line| line.get(at));
            cells.map(|cell| of(cell)).max().unwrap_or(0)
        };
        (0..self.header.len()).map(column).collect()
    }

    fn drawn(&self, widths: &[usize], gap: usize, limit: Option<usize>) -> String {
        let mut lines = Vec::new();
        self.draw_row(&self.header, widths, gap, &mut lines);
        let ruled = total(widths, gap) + 1;
        lines.push("─".repeat(limit.map_or(ruled, |limit| ruled.min(limit))));
        for row in &self.rows {
            self.draw_row(row, widths, gap, &mut lines);
        }
        lines.join("\n")
    }

    fn draw_row(&self, row: &[String], widths: &[usize], gap: usize, lines: &mut Vec<String>) {
        let cells = row.iter().zip(widths);
        let cells: Vec<Vec<String>> = cells.map(|(cell, width)| broken(cell, *width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for at in 0..height {
            let mut line = String::from(" ");
            for (cell, width) in cells.iter().zip(widths) {
                let text = cell.get(at).map_or("", |text| &**text);
                let blanks = width.saturating_sub(text.chars().count()) + gap;
                line.push_str(text);
                line.extend(std::iter::repeat_n(' ', blanks));
            }
            lines.push(line.trim_end().to_owned());
        }
    }

    /// Every row as lines `header  cell`.
    fn records(&self) -> String {
        let widest = self.header.iter().map(|name| name.chars().count()).max();
        let width = widest.unwrap_or(0);
        let record = |row: &Vec<String>| {
            let cells = self.header.iter().zip(row);
            let cells = cells.filter(|(_, cell)| !cell.is_empty());
            let lines =
                cells.map(|(name, cell)| layout::labelled(&format!(" {name:<width$}  "), cell));
            lines.collect::<Vec<_>>().join("\n")
        };
        let records: Vec<String> = self.rows.iter().map(record).collect();
        records.join("\n\n")
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text(layout::terminal()))
    }
}

/// Columns of a line: one blank before it, and a gap between two cells.
fn total(widths: &[usize], gap: usize) -> usize {
    1 + widths.iter().sum::<usize>() + gap * widths.len().saturating_sub(1)
}

/// Widths that fit, none below its least: the widest column that can give way does, a step at a time.
fn fitted(natural: &[usize], least: &[usize], gap: usize, limit: usize) -> Option<Vec<usize>> {
    if total(least, gap) > limit {
        return None;
    }
    let mut widths = natural.to_vec();
    while total(&widths, gap) > limit {
        let can = (0..widths.len()).filter(|&at| widths[at] > least[at]);
        let widest = can.max_by_key(|&at| widths[at])?;
        widths[widest] -= 1;
    }
    Some(widths)
}

/// A cell in lines of at most `width` columns, broken between words.
fn broken(cell: &str, width: usize) -> Vec<String> {
    if cell.chars().count() <= width {
        return vec![cell.to_owned()];
    }
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in cell.split_whitespace() {
        let together = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && together > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::Table;

    fn table() -> Table {
        let mut table = Table::new(&["left", "right", "what"]);
        table.add_row([
            "hopper:wgmma.m64n8k16.f32.f16.f16",
            "1.798e308",
            "some words here",
        ]);
        table.add_row(["volta:mma.m8n8k4.f32.f16.f16.f32", "-3", ""]);
        table
    }

    /// At every width each word stands whole in some line, and lines fit as long as the longest word does.
    #[test]
    fn words_are_never_cut() {
        let words = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.retain(|word| !word.starts_with('─'));
            words.sort();
            words.dedup();
            words
        };
        let whole = table().text(None);
        for limit in 20..100 {
            let text = table().text(Some(limit));
            assert_eq!(words(&text), words(&whole), "{limit}: {text}");
            let widest = text.lines().map(|line| line.chars().count()).max();
            // The longest name and a label before it.
            assert!(widest.unwrap() <= limit.max(42), "{limit}: {text}");
        }
    }

    #[test]
    fn nothing_stands_behind_the_last_word() {
        for limit in [None, Some(200), Some(60), Some(30)] {
            let text = table().text(limit);
            assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        let mut table = Table::new(&["name"]);
        table.add_row(["a\u{1b}[31m\u{9b}b\nc"]);
        let text = table.text(None);
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{9b}'),
            "{text}"
        );
        assert_eq!(text.lines().count(), 3, "{text}");
    }
}
