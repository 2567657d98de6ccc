//! Draws where in D two results differ: a cell for each place, darker where more outputs differ.

use std::fmt::Write as _;

use super::{Compared, Side, dimensions};
use crate::diff::drawing::{MARGIN, WIDTH, drawing, label};
use mmascope::diff::Place;

/// Room for the numbers of rows, left of the cells.
const LEFT: usize = 64;
/// Room for title and numbers of columns above the cells, and for the words below them.
const ABOVE: usize = 56;
const BELOW: usize = 66;
/// The largest side of a cell.
const CELL: usize = 22;

/// The maps of all pairs, one below the other.
pub(super) fn svg(sides: &[Side<'_>], pairs: &[Compared]) -> String {
    let (mut parts, mut top) = (String::new(), MARGIN);
    for pair in pairs {
        top += map(&mut parts, sides, pair, top);
    }
    drawing(top, "Where results differ", &parts)
}

/// The map of one pair.
pub(super) fn of_pair(sides: &[Side<'_>], pair: &Compared) -> String {
    let mut parts = String::new();
    let height = map(&mut parts, sides, pair, MARGIN);
    drawing(MARGIN + height, "Where results differ", &parts)
}

/// Draws a map from `top` down; gives its height.
fn map(svg: &mut String, sides: &[Side<'_>], pair: &Compared, top: usize) -> usize {
    let cells = &pair.outputs.map;
    let (rows, columns) = (cells.len(), cells.first().map_or(0, Vec::len));
    let [_, m, n] = sides[pair.left].shape;
    let size = ((WIDTH - LEFT - MARGIN) / columns.max(1)).min(CELL);
    let (left, right) = (&sides[pair.left].name, &sides[pair.right].name);
    label(svg, "", MARGIN, top + 14, &format!("{left} and {right}"));
    let counts = (pair.outputs.different, pair.outputs.compared);
    let share = format!("{} of {} outputs differ", counts.0, counts.1);
    label(svg, "faint", MARGIN, top + 30, &share);
    let first = top + ABOVE;
    for (row, line) in cells.iter().enumerate() {
        let y = first + row * size;
        for (column, &(different, all)) in line.iter().enumerate() {
            let x = LEFT + column * size;
            let title = format!(
                "rows {}, columns {}: {different} of {all} differ",
                range(row, rows, m),
                range(column, columns, n)
            );
            let (class, opacity) = match different {
                0 => ("equal", 100),
                _ => ("bar", opacity(100 * different / all.max(1))),
            };
            // Writing to a string cannot fail.
            let _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{0}\" height=\"{0}\" \
                 fill-opacity=\"{opacity}%\"><title>{title}</title></rect>",
                size.saturating_sub(1).max(1)
            );
        }
    }
    let end = first + rows * size;
    if rows > 0 && columns > 0 {
        label(svg, "faint end", LEFT - 6, first + 11, "row 0");
        if rows > 1 {
            let last = (m - 1).to_string();
            label(svg, "faint end", LEFT - 6, end - 4, &last);
        }
        label(svg, "faint", LEFT, first - 5, "column 0");
        if columns > 6 {
            let last = (n - 1).to_string();
            label(svg, "faint end", LEFT + columns * size, first - 5, &last);
        }
    }
    let mut mark = |class: &str, [_, row, column]: Place, inset: usize| {
        let (x, y) = (column * columns / n, row * rows / m);
        let _ = write!(
            svg,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{2}\" height=\"{2}\"/>",
            LEFT + x * size + inset,
            first + y * size + inset,
            size.saturating_sub(1 + 2 * inset).max(1)
        );
    };
    let outputs = &pair.outputs;
    if let (Some((at, _)), Some((worst, _))) = (outputs.first, outputs.worst) {
        mark("first", at, 0);
        // In the same place both are seen.
        mark("worst", worst, 4);
    }
    let words = match (outputs.different, sides[pair.left].shape) {
        (0, shape) => format!("D, {}: no output differs", dimensions(shape)),
        (_, [1, ..]) => {
            "outlined: the first output that differs; small square: the worst".to_owned()
        }
        (_, [batch, ..]) => format!(
            "all {batch} products together; outlined: the first output that differs; small square: the worst"
        ),
    };
    label(svg, "faint", LEFT, end + 16, &words);
    if rows > 0 && columns > 0 {
        let is_one = rows == m && columns == n && sides[pair.left].shape[0] == 1;
        legend(svg, end + 28, is_one);
    }
    ABOVE + rows * size + BELOW
}

/// How dark a place is of whose outputs so many percent differ. What is there is seen, however little it is.
fn opacity(percent: u64) -> u64 {
    25 + 75 * percent / 100
}

/// What the colours say; `is_one` where every place is one output.
fn legend(svg: &mut String, top: usize, is_one: bool) {
    let shares: &[(u64, &str)] = match is_one {
        true => &[(0, "equal"), (100, "different")],
        false => &[
            (0, "all equal"),
            (1, "few differ"),
            (50, "half"),
            (100, "all differ"),
        ],
    };
    for (index, (percent, words)) in shares.iter().enumerate() {
        let x = LEFT + index * 110;
        let (class, opacity) = match percent {
            0 => ("equal", 100),
            percent => ("bar", opacity(*percent)),
        };
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<rect class=\"key {class}\" x=\"{x}\" y=\"{top}\" width=\"11\" height=\"11\" fill-opacity=\"{opacity}%\"/>"
        );
        label(svg, "faint", x + 16, top + 10, words);
    }
}

/// The rows or columns of a cell, of `all` in `cells`: `4–7`.
fn range(cell: usize, cells: usize, all: usize) -> String {
    let start = |cell: usize| (cell * all).div_ceil(cells);
    match (start(cell), start(cell + 1) - 1) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}–{last}"),
    }
}
