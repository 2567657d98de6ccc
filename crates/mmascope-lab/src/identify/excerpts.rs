//! Chooses the few elements of D that every candidate is asked for, and cuts their rows and columns out of the matrices.
//!
//! Candidates differ most where products cancel: there one unit in the last place of a sum under way is many in the
//! result. So the first elements are those of small magnitude; later ones are spread over D.

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
pub(super) struct Places(pub(super) Vec<(Vec<usize>, Vec<usize>)>);

impl Places {
    /// The places for D, which these formats hold.
    pub(super) fn new(d: &Array, [m, n, _]: [usize; 3], formats: &[Format]) -> Self {
        let words = formats.first().and_then(|format| {
            let words = d.words(format, &Casting::default()).ok()?;
            Some((*format, words))
        });
        let magnitude = |i: usize, j: usize| match &words {
            Some((format, words)) => magnitude(format, words, i * n + j),
            None => u64::MAX,
        };
        // The smallest elements of some rows, and how small the fourth of them is.
        let looked_at: Vec<(u64, usize, Vec<usize>)> = spread(m, LOOKED_AT)
            .into_iter()
            .map(|i| {
                let mut columns: Vec<(u64, usize)> = (0..n).map(|j| (magnitude(i, j), j)).collect();
                let kept = columns.len().min(4);
                columns.select_nth_unstable(kept - 1);
                columns.truncate(kept);
                columns.sort_unstable();
                let worst = columns.last().map_or(u64::MAX, |(size, _)| *size);
                (worst, i, columns.into_iter().map(|(_, j)| j).collect())
            })
            .collect();
        // The best row of each part of D.
        let best = |some: &[(u64, usize, Vec<usize>)]| some.iter().min().cloned();
        let four: Vec<_> = looked_at
            .chunks(looked_at.len().div_ceil(4))
            .filter_map(best)
            .collect();
        let mut first: Vec<_> = four.iter().collect();
        first.sort();
        first.truncate(2);
        let few = |count: usize, rows: &[&(u64, usize, Vec<usize>)]| {
            let columns = rows
                .iter()
                .flat_map(|row| row.2.iter().take(count).copied());
            (rows.iter().map(|row| row.1).collect(), columns.collect())
        };
        let mut sets: Vec<(Vec<usize>, Vec<usize>)> = vec![
            few(1, &first),
            few(4, &four.iter().collect::<Vec<_>>()),
            (spread(m, 16), spread(n, 32)),
        ];
        for index in 0..sets.len() {
            let (rows, columns) = match index {
                0 => (Vec::new(), Vec::new()),
                _ => sets[index - 1].clone(),
            };
            sets[index].0.extend(rows);
            sets[index].1.extend(columns);
            even_out(&mut sets[index].0, m);
            even_out(&mut sets[index].1, n);
        }
        Self(sets)
    }
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
fn spread(length: usize, count: usize) -> Vec<usize> {
    let count = count.min(length);
    let place = |index: usize| index * (length - 1) / (count - 1).max(1);
    let mut places: Vec<usize> = (0..count).map(place).collect();
    places.dedup();
    places
}
