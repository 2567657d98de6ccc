//! Draws a step as SVG: one row a term, one column a power of two.

use std::fmt::Write;

use super::html::{CARD_DIGITS, equals, escaped, minus, short};
use super::trace::{Rounded, TracedStep, TracedTerm};
use super::value::TracedValue;
use crate::exact::Dyadic;

/// Size of a cell.
const CELL: (i64, i64) = (14, 18);
/// Room for the names and exponents left of the cells.
const LEFT: i64 = 132;
/// Width of a character of the numbers right of them.
const CHARACTER: i64 = 7;
/// Room for the scale above the cells.
const ABOVE: i64 = 46;
/// Space between the terms and the sum.
const RULE: i64 = 12;
/// Longest run of columns without any digit that is drawn.
const LONGEST_GAP: i64 = 5;
/// More columns than these are folded more.
const WIDEST: usize = 64;
/// Digits below the grid that are drawn at most.
const DEEPEST: i64 = 44;

/// A column: a place, or a number of places in which nothing has a digit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Place(i64),
    Gap,
}

/// How a row's digits look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A term on a grid: what lies below it is lost.
    Aligned,
    /// A term of an exact sum: what lies below the line is still in the sum.
    Whole,
    /// The sum, and what its rounding discards.
    Sum,
}

struct Row {
    name: String,
    note: String,
    negative: bool,
    number: Dyadic,
    /// Places of the highest and the lowest digit.
    high: i64,
    low: i64,
    /// Lowest place that is kept.
    line: i64,
    /// The exponent, whose place is marked (the hidden bit of a normal number).
    unit: Option<i64>,
    kind: Kind,
    right: String,
    lost: String,
}

impl Row {
    fn of_term(step: &TracedStep, term: &TracedTerm) -> Self {
        let end = if term.value.is_zero() {
            term.low
        } else {
            term.value.exponent()
        };
        let line = term
            .cut
            .as_ref()
            .map(|cut| cut.place)
            .or_else(|| last_place(step));
        let line = line.unwrap_or(i64::MIN);
        let (kind, right) = match &term.cut {
            Some(cut) => (
                Kind::Aligned,
                format!("= {} · 2^{}", minus(&cut.multiple.to_string()), cut.place),
            ),
            None => (Kind::Whole, equal(&term.value)),
        };
        let lost = term.cut.as_ref().filter(|cut| !cut.difference.is_zero());
        Self {
            name: term.name.clone(),
            note: minus(&format!("e={}", term.exponent)),
            negative: term.value.is_negative(),
            number: term.value.clone(),
            high: term.high,
            low: if line > term.low {
                end.min(line)
            } else {
                term.low
            },
            line,
            unit: Some(term.exponent),
            kind,
            right,
            lost: lost.map_or_else(String::new, |cut| {
                format!("{} lost", short(&cut.difference))
            }),
        }
    }

    /// The sum; its digits reach down to the terms' grid, and to what its rounding discards.
    fn of_sum(step: &TracedStep, grid: Option<i64>) -> Self {
        let end = step.sum.exponent();
        Self {
            name: "sum".to_owned(),
            note: String::new(),
            negative: step.sum.is_negative(),
            number: step.sum.clone(),
            high: step.sum.top().unwrap_or(end),
            low: grid.map_or(end, |grid| grid.min(end)),
            line: last_place(step).unwrap_or(i64::MIN),
            unit: None,
            kind: Kind::Sum,
            right: equal(&step.sum),
            lost: String::new(),
        }
    }

    fn of_rounded(step: &TracedStep, name: &str, note: String, rounded: &Rounded) -> Self {
        let value = rounded.value();
        let difference = &step.sum - &value;
        Self {
            name: name.to_owned(),
            note,
            negative: value.is_negative(),
            high: value.top().unwrap_or(rounded.place),
            low: rounded.place,
            line: rounded.place,
            unit: None,
            kind: Kind::Sum,
            right: equal(&value),
            lost: if difference.is_zero() {
                String::new()
            } else {
                format!("{} lost", short(&difference))
            },
            number: value,
        }
    }

    /// The class of a cell and its digit; `None` where the row has nothing.
    fn cell(&self, place: i64) -> Option<(&'static str, char)> {
        let bit = self.number.bit(place);
        let digit = if bit { '1' } else { '0' };
        let inside = (self.low..=self.high).contains(&place);
        let class = match (self.kind, place >= self.line, inside) {
            (Kind::Sum, _, false) | (_, false, false) => return None,
            (Kind::Whole, true, false) if place < self.low => return None,
            (_, true, false) => return Some(("p", '·')),
            (Kind::Sum, true, true) if bit => "s1",
            (Kind::Sum, true, true) => "s0",
            (_, true, true) if bit => "k1",
            (_, true, true) => "k0",
            (Kind::Whole, false, true) if bit => "w1",
            (Kind::Whole, false, true) => "w0",
            (_, false, true) if bit => "l1",
            (_, false, true) => "l0",
        };
        Some((class, digit))
    }
}

/// The rows of a step: its terms, the sum, and what floor and rounding make of it.
fn rows(step: &TracedStep) -> (Vec<Row>, usize) {
    let mut rows: Vec<Row> = step
        .terms
        .iter()
        .map(|term| Row::of_term(step, term))
        .collect();
    let terms = rows.len();
    rows.push(Row::of_sum(step, grid_of(step)));
    let exact = |rounded: &Rounded| rounded.value() == step.sum;
    if let Some(floor) = step.floor.as_ref().filter(|floor| !exact(floor)) {
        rows.push(Row::of_rounded(
            step,
            "floored",
            floor.rounding.to_string(),
            floor,
        ));
    }
    if let Some(rounded) = step.rounding.as_ref().filter(|rounded| !exact(rounded)) {
        rows.push(Row::of_rounded(
            step,
            "rounded",
            rounded.rounding.to_string(),
            rounded,
        ));
    }
    (rows, terms)
}

/// The coarsest grid of the terms.
fn grid_of(step: &TracedStep) -> Option<i64> {
    let cuts = step.terms.iter().filter_map(|term| term.cut.as_ref());
    cuts.map(|cut| cut.place).max()
}

/// The last place of a sum that is not exact there.
fn last_place(step: &TracedStep) -> Option<i64> {
    let inexact = |rounded: &&Rounded| rounded.value() != step.sum;
    let rounded = step.rounding.iter().chain(&step.floor).filter(inexact);
    rounded.map(|rounded| rounded.place).max()
}

/// Columns from the highest digit to the lowest, long empty stretches folded.
fn columns(step: &TracedStep, rows: &[Row]) -> Vec<Column> {
    let e = step.alignment.as_ref().map(|alignment| alignment.exponent);
    let lines: Vec<i64> = grid_of(step).into_iter().chain(last_place(step)).collect();
    let highs = rows.iter().map(|row| row.high);
    let top = highs
        .chain(e)
        .chain(lines.iter().copied())
        .max()
        .unwrap_or(0);
    let lows = rows.iter().map(|row| row.low);
    let bottom = lows.chain(lines.iter().copied()).min().unwrap_or(top);
    let deepest = lines.iter().map(|line| line - DEEPEST).min();
    let bottom = deepest.map_or(bottom, |deepest| bottom.max(deepest));
    let near = |place: i64| {
        let beside = |at: &i64| (place - at).abs() <= 1;
        place == top || e.iter().chain(&lines).any(beside)
    };
    let digits = |place: i64| {
        let in_row = |row: &Row| (row.low..=row.high).contains(&place);
        near(place) || rows.iter().any(in_row)
    };
    let all = folded(top, bottom, digits);
    if all.len() <= WIDEST {
        return all;
    }
    // Too wide: stretches in which no row has a 1 are folded as well.
    let ones = |place: i64| near(place) || rows.iter().any(|row| row.number.bit(place));
    folded(top, bottom, ones)
}

/// The places from `top` to `bottom`, long stretches that are not wanted as one column.
fn folded(top: i64, bottom: i64, wanted: impl Fn(i64) -> bool) -> Vec<Column> {
    let mut columns = Vec::new();
    let mut place = top;
    while place >= bottom {
        let run = (bottom..=place).rev().take_while(|&at| !wanted(at)).count() as i64;
        if run > LONGEST_GAP {
            columns.push(Column::Gap);
            place -= run;
        } else {
            columns.push(Column::Place(place));
            place -= 1;
        }
    }
    columns
}

/// The width of such a picture, in CSS pixels.
fn width_of(rows: &[Row], columns: &[Column]) -> i64 {
    let right = rows
        .iter()
        .map(|row| (row.right.chars().count() + row.lost.chars().count()) as i64);
    let right = (right.max().unwrap_or(0) + 4) * CHARACTER;
    LEFT + columns.len() as i64 * CELL.0 + right
}

/// The width of a step's picture, in CSS pixels.
pub(super) fn width(step: &TracedStep) -> i64 {
    let (rows, _) = rows(step);
    width_of(&rows, &columns(step, &rows))
}

/// The step's picture. `mark` rings a digit of a term.
pub(super) fn picture(step: &TracedStep, mark: Option<(&str, i64)>) -> String {
    let (rows, terms) = rows(step);
    let e = step.alignment.as_ref().map(|alignment| alignment.exponent);
    let (grid, last) = (grid_of(step), last_place(step));
    let columns = columns(step, &rows);
    let x_of = |place: i64| {
        let at = columns
            .iter()
            .position(|column| *column == Column::Place(place));
        at.map(|at| LEFT + at as i64 * CELL.0)
    };
    let width = width_of(&rows, &columns);
    let height = ABOVE + rows.len() as i64 * CELL.1 + RULE + 6;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" style=\"--width:{width}px\" role=\"img\" aria-label=\"{}\">",
        escaped(&format!("bits of {} = {}", step.name, step.formula()))
    );
    let bottom = ABOVE + terms as i64 * CELL.1;
    if let Some(x) = e.and_then(x_of) {
        let (cell, tall) = (CELL.0, bottom - ABOVE + 4);
        write!(
            svg,
            "<rect class=\"e\" x=\"{x}\" y=\"{}\" width=\"{cell}\" height=\"{tall}\"/>",
            ABOVE - 2
        )
        .ok();
    }
    scale(&mut svg, &columns, [e, grid, last]);
    for (index, row) in rows.iter().enumerate() {
        let gap = if index >= terms { RULE } else { 0 };
        let y = ABOVE + index as i64 * CELL.1 + gap;
        draw_row(&mut svg, row, &columns, y);
        if let Some((name, place)) = mark
            && row.name == name
            && let Some(x) = x_of(place)
        {
            let (w, h) = (CELL.0 + 3, CELL.1 + 1);
            write!(
                svg,
                "<rect class=\"mark\" x=\"{}\" y=\"{}\" width=\"{w}\" height=\"{h}\" rx=\"4\"/>",
                x - 2,
                y - 1
            )
            .ok();
        }
    }
    let rule = bottom + RULE / 2;
    let end = LEFT + columns.len() as i64 * CELL.0;
    write!(
        svg,
        "<path class=\"rule\" d=\"M{} {rule}H{end}\"/>",
        LEFT - 22
    )
    .ok();
    // The grid cuts the terms, the last place the sum; of an exact sum the last place goes through.
    let from_terms = grid.is_none().then_some(ABOVE - 8);
    for (place, from, to) in [
        (grid, ABOVE - 8, bottom + 2),
        (last, from_terms.unwrap_or(rule + 2), height - 4),
    ] {
        if let Some(x) = place.and_then(x_of) {
            let x = x + CELL.0;
            write!(svg, "<path class=\"grid\" d=\"M{x} {from}V{to}\"/>").ok();
        }
    }
    svg.push_str("</svg>");
    svg
}

/// The powers of two above the columns: E, the grid, the ends, and every eighth where there is room.
fn scale(svg: &mut String, columns: &[Column], [e, grid, last]: [Option<i64>; 3]) {
    let at = |place: i64| {
        columns
            .iter()
            .position(|column| *column == Column::Place(place))
    };
    let ends = columns.iter().filter_map(|column| match column {
        Column::Place(place) => Some(*place),
        Column::Gap => None,
    });
    let places: Vec<i64> = ends.collect();
    let mut wanted: Vec<(i64, &str)> = Vec::new();
    wanted.extend(e.map(|e| (e, "E")));
    wanted.extend(grid.or(last).map(|place| (place, "")));
    wanted.extend(places.first().map(|&place| (place, "")));
    wanted.extend(places.last().map(|&place| (place, "")));
    wanted.extend(
        places
            .iter()
            .filter(|place| *place % 8 == 0)
            .map(|&place| (place, "")),
    );
    let mut used: Vec<usize> = Vec::new();
    for (place, name) in wanted {
        let Some(column) = at(place) else { continue };
        if used.iter().any(|other| other.abs_diff(column) < 3) {
            continue;
        }
        used.push(column);
        let x = LEFT + column as i64 * CELL.0 + CELL.0 / 2;
        let y = ABOVE - 14;
        write!(svg, "<text class=\"tick\" x=\"{x}\" y=\"{y}\">2<tspan class=\"up\" dy=\"-5\">{}</tspan></text>",
            minus(&place.to_string())).ok();
        write!(
            svg,
            "<path class=\"tickline\" d=\"M{x} {}V{}\"/>",
            ABOVE - 10,
            ABOVE - 4
        )
        .ok();
        if !name.is_empty() {
            write!(
                svg,
                "<text class=\"tick big\" x=\"{x}\" y=\"{}\">{name}</text>",
                ABOVE - 31
            )
            .ok();
        }
    }
}

fn draw_row(svg: &mut String, row: &Row, columns: &[Column], y: i64) {
    let (width, height) = (CELL.0 - 1, CELL.1 - 2);
    let base = y + CELL.1 - 6;
    let name = escaped(&row.name);
    let kind = if row.kind == Kind::Sum {
        "name sum"
    } else {
        "name"
    };
    write!(
        svg,
        "<text class=\"{kind}\" x=\"4\" y=\"{base}\">{name}</text>"
    )
    .ok();
    write!(
        svg,
        "<text class=\"note\" x=\"{}\" y=\"{base}\">{}</text>",
        LEFT - 24,
        escaped(&row.note)
    )
    .ok();
    let sign = match (row.number.is_zero(), row.negative) {
        (true, _) => " ",
        (_, true) => "−",
        (_, false) => "+",
    };
    write!(
        svg,
        "<text class=\"sign\" x=\"{}\" y=\"{base}\">{sign}</text>",
        LEFT - 12
    )
    .ok();
    for (index, column) in columns.iter().enumerate() {
        let x = LEFT + index as i64 * CELL.0;
        let middle = x + CELL.0 / 2;
        let Column::Place(place) = *column else {
            write!(
                svg,
                "<text class=\"gap\" x=\"{middle}\" y=\"{base}\">⋯</text>"
            )
            .ok();
            continue;
        };
        let Some((class, digit)) = row.cell(place) else {
            continue;
        };
        if class != "p" {
            write!(svg, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"2\"/>").ok();
        }
        write!(
            svg,
            "<text class=\"d {class}\" x=\"{middle}\" y=\"{base}\">{digit}</text>"
        )
        .ok();
        if row.unit == Some(place) {
            write!(svg, "<rect class=\"unit\" x=\"{x}.5\" y=\"{y}.5\" width=\"{}\" height=\"{}\" rx=\"2\"/>", width - 1, height - 1).ok();
        }
    }
    let x = LEFT + columns.len() as i64 * CELL.0 + 10;
    let places: Vec<i64> = columns
        .iter()
        .filter_map(|column| match column {
            Column::Place(place) => Some(*place),
            Column::Gap => None,
        })
        .collect();
    let hidden = places.last().is_some_and(|&last| {
        row.low < last && row.number.exponent() < last && !row.number.is_zero()
    });
    let more = if hidden { "… " } else { "" };
    write!(
        svg,
        "<text class=\"value\" x=\"{x}\" y=\"{base}\">{more}{}",
        powers(&row.right)
    )
    .ok();
    if !row.lost.is_empty() {
        write!(
            svg,
            "<tspan class=\"lost\" dx=\"10\">{}</tspan>",
            powers(&row.lost)
        )
        .ok();
    }
    svg.push_str("</text>");
}

/// `= 0.5` or `≈ 0.333333`.
fn equal(number: &Dyadic) -> String {
    equals(&TracedValue::of_number(number), CARD_DIGITS)
}

/// Text with `2^-3` as a raised exponent, escaped.
fn powers(text: &str) -> String {
    let Some((before, after)) = text.split_once("2^") else {
        return escaped(text);
    };
    let end = after
        .find(|c: char| c != '-' && !c.is_ascii_digit())
        .unwrap_or(after.len());
    let (exponent, rest) = after.split_at(end);
    format!(
        "{}2<tspan class=\"up\" dy=\"-5\">{}</tspan><tspan dy=\"5\">​{}</tspan>",
        escaped(before),
        minus(exponent),
        escaped(rest)
    )
}
