//! Writes a trace as text; [`crate::explain`] describes its lines.

use std::fmt::{self, Write};

use super::quiet::Quiet;
use super::trace::{PairTrace, Rounded, Trace, TracedStep, TracedTerm};
use super::value::TracedValue;

/// Longest run of equal digits that is written out.
const LONGEST_RUN: usize = 48;
/// Shortest run of products that is written as a range.
const SHORTEST_RANGE: usize = 3;

impl fmt::Display for Trace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(out)?;
        self.write_operands(out)?;
        let mut index = 0;
        while let Some(step) = self.steps.get(index) {
            writeln!(out)?;
            index += match Quiet::in_front(self, index..self.steps.len()) {
                Some(quiet) => quiet.write(out, index + 1)?,
                None => step.write(out, index + 1, None).map(|()| 1)?,
            };
        }
        if self.error.is_some() && self.steps.iter().all(|step| !step.value.is_special()) {
            writeln!(out, "\nlost     {} in all = exact - result", self.lost())?;
        }
        Ok(())
    }
}

impl Trace {
    fn write_head(&self, out: &mut impl Write) -> fmt::Result {
        writeln!(out, "types    {}", self.types)?;
        writeln!(out, "does     {}", self.arithmetic)?;
        if let Some(format) = self.widened {
            writeln!(out, "widened  {format}")?;
        }
        if self.instructions > 1 {
            writeln!(out, "chain    {} instructions", self.instructions)?;
        }
        if !self.modifiers.is_empty() {
            writeln!(out, "mods     {}", self.modifiers.join(" "))?;
        }
        for note in self.remarks() {
            writeln!(out, "note     {note}")?;
        }
        writeln!(out, "result   {} = {}", self.result.word, self.result.value)?;
        writeln!(out, "exact    {}", self.exact)?;
        if let Some(error) = &self.error {
            let (difference, ulps) = (&error.difference, &error.ulps);
            writeln!(out, "error    {difference} = {ulps} ulp of 2^{}", error.ulp)?;
        }
        Ok(())
    }

    /// The operands as a table; neighbouring rows that are equal but for k are one row.
    pub(super) fn operand_rows(&self) -> Vec<(String, &PairTrace)> {
        let mut rows: Vec<(usize, usize, &PairTrace)> = Vec::new();
        for pair in &self.pairs {
            match rows.last_mut() {
                Some((_, last, row)) if row.a == pair.a && row.b == pair.b => *last = pair.k,
                _ => rows.push((pair.k, pair.k, pair)),
            }
        }
        let range = |first: usize, last: usize| match first == last {
            true => first.to_string(),
            false => format!("{first}..{last}"),
        };
        rows.into_iter()
            .map(|(first, last, pair)| (range(first, last), pair))
            .collect()
    }

    fn write_operands(&self, out: &mut impl Write) -> fmt::Result {
        writeln!(out, "\noperands")?;
        let mut table = vec![
            ["k", "a", "value", "e", "b", "value", "e", "product", "e"]
                .map(str::to_owned)
                .to_vec(),
        ];
        let mut below = vec![("c".to_owned(), &self.c)];
        for (side, scales) in [("sa", &self.scale_a), ("sb", &self.scale_b)] {
            let named = scales.iter().enumerate();
            below.extend(named.map(|(block, scale)| (format!("{side}{block}"), scale)));
        }
        let rows = self.operand_rows();
        let pairs = || rows.iter().map(|(_, pair)| *pair);
        let c_and_scales = below.iter().map(|(_, operand)| &operand.value);
        let a = TracedValue::column(pairs().map(|pair| &pair.a.value).chain(c_and_scales));
        let b = TracedValue::column(pairs().map(|pair| &pair.b.value));
        let products = TracedValue::column(pairs().map(|pair| &pair.product));
        for (at, (k, pair)) in rows.iter().enumerate() {
            table.push(vec![
                k.clone(),
                pair.a.word.clone(),
                a[at].clone(),
                exponent_cell(pair.a.exponent),
                pair.b.word.clone(),
                b[at].clone(),
                exponent_cell(pair.b.exponent),
                products[at].clone(),
                exponent_cell(pair.exponent),
            ]);
        }
        for ((name, operand), value) in below.iter().zip(&a[rows.len()..]) {
            let e = exponent_cell(operand.exponent);
            table.push(vec![name.clone(), operand.word.clone(), value.clone(), e]);
        }
        let width = |column: usize| {
            let cells = table.iter().filter_map(|row| row.get(column));
            cells.map(String::len).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..9).map(width).collect();
        for row in &table {
            let mut line = format!("  {:<width$}", row[0], width = widths[0]);
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                write!(line, "  {cell:>width$}")?;
            }
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

fn exponent_cell(exponent: Option<i64>) -> String {
    exponent.map_or_else(|| "-".to_owned(), |e| e.to_string())
}

impl Quiet<'_> {
    /// Writes the steps' lines, the first one having this number; gives how many they are.
    pub(super) fn write(&self, out: &mut impl Write, number: usize) -> Result<usize, fmt::Error> {
        let (given, last, count) = (self.given(), self.last(), self.len());
        let end = number + count - 1;
        writeln!(
            out,
            "steps {number} to {end}: {} = {given}   nothing changes",
            last.name
        )?;
        writeln!(out, "  zero     {}", self.zero_names())?;
        last.write_value(out)?;
        Ok(count)
    }
}

impl TracedStep {
    /// The step's right-hand side in words: `p0..p7 + c`.
    pub(super) fn formula(&self) -> String {
        let names: Vec<&str> = match &self.special {
            Some(special) => special.adds.iter().map(String::as_str).collect(),
            None => self.terms.iter().map(|term| &*term.name).collect(),
        };
        let mut sum = ranges(&names).join(" + ");
        if names.is_empty() {
            sum.push('0');
        }
        if !self.factors.is_empty() {
            let factors = self
                .factors
                .iter()
                .map(|factor| format!(" * {}", factor.name));
            sum = format!("({sum}){}", factors.collect::<String>());
        }
        sum
    }

    /// The names of what is zero: `p4..p7 c`.
    pub(super) fn zero_names(&self) -> String {
        let zeros: Vec<&str> = self.zeros.iter().map(String::as_str).collect();
        ranges(&zeros).join(" ")
    }

    /// Writes the step's lines. `mark` points at a digit of a term: its name and its place.
    pub(super) fn write(
        &self,
        out: &mut impl Write,
        number: usize,
        mark: Option<(&str, i64)>,
    ) -> fmt::Result {
        let formula = self.formula();
        writeln!(
            out,
            "step {number}: {} = {formula}   {}",
            self.name, self.role
        )?;
        if !self.zeros.is_empty() {
            writeln!(out, "  zero     {}", self.zero_names())?;
        }
        for flush in &self.flushed {
            writeln!(
                out,
                "  flush    {} {} -> {}",
                flush.name, flush.value, flush.zero
            )?;
        }
        if let Some(drop) = &self.dropped {
            let (name, value, e, below) = (&drop.name, &drop.value, drop.exponent, drop.below);
            writeln!(
                out,
                "  drop     {name} = {value} counts as 0: e={e} is below {below}"
            )?;
        }
        if let Some(special) = &self.special {
            writeln!(out, "  special  {}: {}", self.value, special.reason)?;
        }
        if let Some(alignment) = &self.alignment {
            write!(
                out,
                "  E        {} from {}",
                alignment.exponent, alignment.set_by
            )?;
            match alignment.floor {
                Some(floor) => writeln!(out, ", floor {floor}")?,
                None => writeln!(out)?,
            }
            writeln!(
                out,
                "  cut      {} to {}",
                alignment.rounding, alignment.grid
            )?;
        }
        if self.factors.is_empty() {
            self.write_terms(out, mark)?;
        }
        if self.special.is_none() {
            writeln!(out, "  total    {}", self.sum)?;
        }
        if !self.factors.is_empty() {
            let factor = |factor: &super::Factor| format!("{} {}", factor.name, factor.value);
            let factors: Vec<String> = self.factors.iter().map(factor).collect();
            writeln!(out, "  scale    {}", factors.join(" "))?;
        }
        if let Some(floor) = &self.floor {
            let digits = rounded_digits(floor, self.sum.is_negative());
            let (mode, place, multiple) = (floor.rounding, floor.place, &floor.multiple);
            writeln!(
                out,
                "  floor    {mode} at 2^{place}: {digits} -> {multiple}"
            )?;
        }
        if let Some(rounded) = &self.rounding {
            let digits = rounded_digits(rounded, self.sum.is_negative());
            let (mode, place, multiple) = (rounded.rounding, rounded.place, &rounded.multiple);
            let (format, direction) = (self.format, rounded.direction);
            writeln!(
                out,
                "  round    {mode} {format} at 2^{place}: {digits} {direction} -> {multiple}"
            )?;
        }
        for remark in &self.remarks {
            writeln!(out, "  note     {remark}")?;
        }
        self.write_value(out)?;
        for loss in &self.losses {
            writeln!(out, "  lost     {} {}", loss.value, loss.by)?;
        }
        Ok(())
    }

    fn write_value(&self, out: &mut impl Write) -> fmt::Result {
        match self.word.is_empty() {
            true => writeln!(out, "  value    {}", self.value),
            false => writeln!(out, "  value    {} = {}", self.word, self.value),
        }
    }

    fn write_terms(&self, out: &mut impl Write, mark: Option<(&str, i64)>) -> fmt::Result {
        let Some(top) = self.top().filter(|_| !self.terms.is_empty()) else {
            return Ok(());
        };
        if self.terms.len() == 1 && self.alignment.is_none() {
            return Ok(());
        }
        let name_width = self.terms.iter().map(|term| term.name.len()).max();
        let name_width = name_width.unwrap_or(0).max(8);
        let e_width = self
            .terms
            .iter()
            .map(|term| term.exponent.to_string().len())
            .max();
        let e_width = e_width.unwrap_or(0);
        let indent = name_width + e_width + 4;
        writeln!(out, "  {:<width$}from 2^{top}", "bits", width = indent - 2)?;
        let rows: Vec<(&TracedTerm, String)> = self
            .terms
            .iter()
            .map(|term| (term, self.term_digits(term, top)))
            .collect();
        let width = rows
            .iter()
            .map(|(_, digits)| digits.chars().count())
            .max()
            .unwrap_or(0);
        for (term, digits) in rows {
            let (name, e) = (&term.name, term.exponent);
            write!(
                out,
                "  {name:<name_width$} {e:>e_width$} {digits:<width$} = "
            )?;
            match &term.cut {
                Some(cut) => writeln!(out, "{}*2^{}", cut.multiple, cut.place)?,
                None => writeln!(out, "{}", term.value)?,
            }
            if let Some((marked, place)) = mark
                && marked == term.name
            {
                let column = self.column_of(term, top, place);
                writeln!(
                    out,
                    "  {:indent$}^ 2^{place}",
                    "",
                    indent = indent - 2 + column
                )?;
            }
        }
        Ok(())
    }

    /// Sign and digits of a term from place `top` down, with `|` (`:`) above what is cut off
    /// (discarded together).
    fn term_digits(&self, term: &TracedTerm, top: i64) -> String {
        let (kept, lost) = self.split_digits(term, top);
        let mark = if term.cut.is_some() { '|' } else { ':' };
        let sign = if term.value.is_negative() { '-' } else { '+' };
        format!("{sign}{}{mark}{}", folded(&kept), folded(&lost))
    }

    fn split_digits(&self, term: &TracedTerm, top: i64) -> (String, String) {
        let digit = |place: i64| {
            let outside = place > term.high || place < term.low;
            match (outside, term.value.bit(place)) {
                (true, _) => '.',
                (false, true) => '1',
                (false, false) => '0',
            }
        };
        let grid = self.place_of(term).unwrap_or(term.low);
        let kept: String = (grid..=top).rev().map(digit).collect();
        let lowest = if term.value.is_zero() {
            grid
        } else {
            term.value.exponent()
        };
        let lost: String = (lowest..grid).rev().map(digit).collect();
        (kept, lost)
    }

    /// Column of a place in [`TracedStep::term_digits`].
    fn column_of(&self, term: &TracedTerm, top: i64, place: i64) -> usize {
        let (kept, lost) = self.split_digits(term, top);
        let width = |digits: &str| folded(digits).chars().count();
        let steps = usize::try_from(top - place).unwrap_or(0);
        if steps < kept.len() {
            return 1 + width(&kept[..steps]);
        }
        2 + width(&kept) + width(&lost[..(steps - kept.len()).min(lost.len())])
    }
}

/// The k of a product's name.
pub(super) fn product_number(name: &str) -> Option<usize> {
    name.strip_prefix('p')?.parse().ok()
}

/// Names with runs of consecutive products as `p0..p7`.
pub(super) fn ranges(names: &[&str]) -> Vec<String> {
    let number = product_number;
    let mut runs: Vec<(&str, &str, usize)> = Vec::new();
    for name in names {
        match runs.last_mut() {
            Some((_, last, length))
                if number(name)
                    .zip(number(last))
                    .is_some_and(|(n, l)| n == l + 1) =>
            {
                (*last, *length) = (name, *length + 1);
            }
            _ => runs.push((name, name, 1)),
        }
    }
    let written = |(first, last, length): (&str, &str, usize)| match length {
        1 => vec![first.to_owned()],
        SHORTEST_RANGE.. => vec![format!("{first}..{last}")],
        _ => vec![first.to_owned(), last.to_owned()],
    };
    runs.into_iter().flat_map(written).collect()
}

/// Sign, kept and discarded digits of a magnitude.
pub(super) fn rounded_digits(rounded: &Rounded, negative: bool) -> String {
    let sign = if negative { '-' } else { '+' };
    format!(
        "{sign}{}|{}",
        folded(&rounded.kept),
        folded(&rounded.discarded)
    )
}

/// Digits with long runs written as one digit and a length.
pub(super) fn folded(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len());
    let mut left = digits;
    while let Some(digit) = left.chars().next() {
        let rest = left.trim_start_matches(digit);
        let run = left.len() - rest.len();
        if run > LONGEST_RUN {
            write!(out, "{digit}{{{run}}}").ok();
        } else {
            out.push_str(&left[..run]);
        }
        left = rest;
    }
    out
}
