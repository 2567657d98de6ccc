//! Chooses the few elements of D that every candidate is asked for, and cuts their rows and columns out of the matrices.
//!
//! Candidates differ most where products cancel: there one unit in the last place of a sum under way is many in the
//! result. So the first elements are those of small magnitude; later ones are spread over D. Where D has few bits,
//! `boundaries.rs` says which elements tell candidates apart.

use super::boundaries::Boundaries;
use super::{Factors, Question};
use crate::array::{Array, Casting, Words};
use crate::error::Result;
use crate::format::{Class, Format};
use crate::gemm::{Arrays, Excerpt};

/// Rows of D in which small elements are looked for.
const LOOKED_AT: usize = 64;

/// Some rows and columns of a question, as matrices of their own.
pub(super) struct Part {
    pub(super) excerpt: Excerpt,
    a: Array,
    b: Array,
    c: Option<Array>,
    d: Array,
    scales: Option<(Array, Array)>,
    transposes: [bool; 2],
    factors: Factors,
}

impl Part {
    /// The rows and columns of these numbers, which ascend.
    pub(super) fn new(
        whole: &Question<'_>,
        [m, n, k]: [usize; 3],
        rows: Vec<usize>,
        columns: Vec<usize>,
    ) -> Result<Self> {
        let Arrays {
            a,
            b,
            c,
            scale_a,
            scale_b,
            transpose_a,
            transpose_b,
        } = whole.operands;
        let all: Vec<usize> = (0..k).collect();
        let a = match transpose_a {
            false => a.excerpt(&rows, &all)?,
            true => a.excerpt(&all, &rows)?,
        };
        let b = match transpose_b {
            false => b.excerpt(&all, &columns)?,
            true => b.excerpt(&columns, &all)?,
        };
        // Block scales have a row for each of A's, a column for each of B's. Scales of other shapes are a kernel's.
        let blocks = |array: &Array, by_rows: bool| -> Result<Option<Array>> {
            let (own_rows, own_columns) = array.rows_and_columns()?;
            let all = |count: usize| (0..count).collect::<Vec<usize>>();
            match by_rows {
                true if own_rows == m => array.excerpt(&rows, &all(own_columns)).map(Some),
                false if own_columns == n => array.excerpt(&all(own_rows), &columns).map(Some),
                _ => Ok(None),
            }
        };
        let scales = match (scale_a, scale_b) {
            (Some(a), Some(b)) => blocks(a, true)?.zip(blocks(b, false)?),
            _ => None,
        };
        Ok(Self {
            a,
            b,
            c: c.map(|c| c.excerpt(&rows, &columns)).transpose()?,
            d: whole.d.excerpt(&rows, &columns)?,
            scales,
            transposes: [transpose_a, transpose_b],
            factors: whole.factors,
            excerpt: Excerpt::new([m, n], rows, columns)?,
        })
    }

    /// The question that these rows and columns ask, with block scales alone.
    pub(super) fn question(&self) -> Question<'_> {
        Question {
            operands: Arrays {
                a: &self.a,
                b: &self.b,
                c: self.c.as_ref(),
                scale_a: self.scales.as_ref().map(|(a, _)| a),
                scale_b: self.scales.as_ref().map(|(_, b)| b),
                transpose_a: self.transposes[0],
                transpose_b: self.transposes[1],
            },
            d: &self.d,
            factors: self.factors,
        }
    }
}

/// Rows and columns, each set within the next: a few elements that tell candidates apart, more of them, and many that are
/// spread over D.
pub(super) struct Places(pub(super) Vec<Lines>);

/// Rows and columns.
type Lines = (Vec<usize>, Vec<usize>);

impl Places {
    /// The places for D, which these formats hold. `near` has what tells sums apart where D has few bits.
    pub(super) fn new(
        d: &Array,
        [m, n, k]: [usize; 3],
        formats: &[Format],
        near: Option<&Boundaries>,
    ) -> Self {
        let mut sets = match near {
            Some(near) => {
                let small = Looked::at(&near.rows, &near.columns, |i, j| near.size(i, j));
                let close = Looked::at(&near.rows, &near.columns, |i, j| near.distance(i, j));
                // Of elements that are spread over a D of few bits hardly one tells anything.
                vec![
                    small.few(1, 2),
                    small.few(2, 2),
                    both(small.few(4, 2), close.few(4, 2)),
                    both(close.few(8, 2), (spread(m, 4), spread(n, 8))),
                ]
            }
            None => {
                let words = formats.first().and_then(|format| {
                    let words = d.words(format, &Casting::default()).ok()?;
                    Some((*format, words))
                });
                let (rows, columns) = (spread(m, LOOKED_AT), spread(n, n));
                let small = Looked::at(&rows, &columns, |i, j| match &words {
                    Some((format, words)) => magnitude(format, words, rows[i] * n + columns[j]),
                    None => u64::MAX,
                });
                vec![
                    small.few(1, 2),
                    small.few(4, 4),
                    (spread(m, 16), spread(n, 32)),
                ]
            }
        };
        for index in 0..sets.len() {
            if index > 0 {
                sets[index] = both(sets[index].clone(), sets[index - 1].clone());
            }
            sets[index].0.sort_unstable();
            sets[index].0.dedup();
            // One row will do where its elements of 4 bits are whole bytes.
            if sets[index].0.len() > 1 || !k.is_multiple_of(2) {
                even_out(&mut sets[index].0, m);
            }
            even_out(&mut sets[index].1, n);
        }
        Self(sets)
    }
}

/// The best elements of some rows.
struct Looked(Vec<Row>);

/// A row and its best four elements: what each measures, and its column. What measures least is best.
type Row = (usize, Vec<(u64, usize)>);

impl Looked {
    /// `measure` takes the places of a row and a column among those that are looked at.
    fn at(rows: &[usize], columns: &[usize], measure: impl Fn(usize, usize) -> u64) -> Self {
        let of_row = |(i, row): (usize, &usize)| {
            let mut found: Vec<(u64, usize)> = (columns.iter().enumerate())
                .map(|(j, column)| (measure(i, j), *column))
                .collect();
            let kept = found.len().min(4);
            found.select_nth_unstable(kept - 1);
            found.truncate(kept);
            found.sort_unstable();
            (*row, found)
        };
        Self(rows.iter().enumerate().map(of_row).collect())
    }

    /// The best row of each of so many parts of D, with so many of its elements: that of which the last one is best.
    fn few(&self, rows: usize, count: usize) -> Lines {
        let last = |row: &&Row| row.1.iter().take(count).next_back().copied();
        let parts = self.0.chunks(self.0.len().div_ceil(rows));
        let rows: Vec<&Row> = parts
            .filter_map(|some| some.iter().min_by_key(last))
            .collect();
        let columns = rows
            .iter()
            .flat_map(|row| row.1.iter().take(count).map(|(_, column)| *column));
        (rows.iter().map(|row| row.0).collect(), columns.collect())
    }
}

fn both(some: Lines, more: Lines) -> Lines {
    ([some.0, more.0].concat(), [some.1, more.1].concat())
}

/// Sorts lines, and adds one where their number is odd: elements of 4 bits lie two in a byte.
pub(super) fn even_out(lines: &mut Vec<usize>, length: usize) {
    lines.sort_unstable();
    lines.dedup();
    if lines.len() % 2 == 1
        && let Some(more) = (0..length).find(|line| lines.binary_search(line).is_err())
    {
        lines.push(more);
        lines.sort_unstable();
    }
}

/// How large an element is, for sorting: what separates nothing (zeros, NaNs, infinities) comes last.
fn magnitude(format: &Format, words: &Words, index: usize) -> u64 {
    let code = format.from_register(words.get(index));
    if format.float().is_none() {
        return 0;
    }
    match format.decode(code).class {
        Class::Finite => code & (format.mask() >> u32::from(format.signed)),
        Class::Zero | Class::Nan | Class::Infinite => u64::MAX,
    }
}

/// So many numbers below `length`, from the first to the last.
pub(super) fn spread(length: usize, count: usize) -> Vec<usize> {
    let count = count.min(length);
    let place = |index: usize| index * (length - 1) / (count - 1).max(1);
    let mut places: Vec<usize> = (0..count).map(place).collect();
    places.dedup();
    places
}
