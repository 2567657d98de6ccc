//! Draws where in D two results differ: a cell for each place, darker where more outputs differ.

use std::fmt::Write as _;

use super::{Compared, Side, dimensions};
use crate::diff::drawing::{MARGIN, WIDTH, drawing, label};
use mmascope::diff::Place;

/// Room for the numbers of rows, left of the cells.
const LEFT: usize = 64;
/// Room for title and numbers of columns above the cells, and for the words below them.
const ABOVE: usize = 56;
const BELOW: usize = 44;
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
            // What is there is seen, however little it is.
            let opacity = match different {
                0 => 100,
                _ => 25 + 75 * different / all.max(1),
            };
            let class = if different == 0 { "equal" } else { "bar" };
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
    ABOVE + rows * size + BELOW
}

/// The rows or columns of a cell, of `all` in `cells`: `4–7`.
fn range(cell: usize, cells: usize, all: usize) -> String {
    let start = |cell: usize| (cell * all).div_ceil(cells);
    match (start(cell), start(cell + 1) - 1) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}–{last}"),
    }
}
