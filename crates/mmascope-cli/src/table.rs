//! Tables: one line a row where nobody looks, fitted to the terminal where there is one.
//!
//! A word or a number is never cut. Where a table cannot be made narrow enough, each row becomes a few lines
//! of its own.

use std::fmt;

use comfy_table::{ColumnConstraint, ContentArrangement, TableComponent, Width, presets};

use crate::layout;
use mmascope::error::escaped;

/// Blanks before and after a cell: those of a wide table, and of one that has to fit a narrow terminal.
const PADDINGS: [(u16, u16); 2] = [(1, 1), (1, 0)];

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
        let mut table = comfy_table::Table::new();
        table
            .load_preset(presets::NOTHING)
            .set_style(TableComponent::HeaderLines, '─')
            .set_style(TableComponent::MiddleHeaderIntersections, '─')
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(&self.header)
            .add_rows(&self.rows);
        if let Some(limit) = limit {
            let least: Vec<usize> = (0..self.header.len()).map(|at| self.least(at)).collect();
            let around = |(before, after): (u16, u16)| usize::from(before + after);
            let fits = |padding: &(u16, u16)| {
                // A blank stands between two columns.
                let columns = least.iter().map(|width| width + around(*padding) + 1);
                columns.sum::<usize>() <= limit + 1
            };
            let Some(padding) = PADDINGS.into_iter().find(fits) else {
                return self.records();
            };
            table
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(u16::try_from(limit).unwrap_or(u16::MAX));
            for (column, width) in table.column_iter_mut().zip(least) {
                let width = u16::try_from(width + around(padding)).unwrap_or(u16::MAX);
                column
                    .set_padding(padding)
                    .set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
            }
        }
        table.trim_fmt()
    }

    /// The longest word of a column.
    fn least(&self, column: usize) -> usize {
        let lines = std::iter::once(&self.header).chain(&self.rows);
        let words = lines
            .filter_map(|line| line.get(column))
            .flat_map(|cell| cell.split_whitespace());
        words.map(|word| word.chars().count()).max().unwrap_or(0)
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
