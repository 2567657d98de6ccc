//! Instruction shapes: `m16n8k16`, `m64n{8..256/8}k32`, `32x32x4_2b`.

use std::fmt;

/// A set of legal shapes with one K.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Legal M; the first is that of the canonical name.
    pub m: Vec<u32>,
    /// Legal N; the first is that of the canonical name.
    pub n: Vec<u32>,
    /// K.
    pub k: u32,
    /// Independent products that one instruction does.
    pub blocks: u32,
    /// Whether it is written `MxNxK_Bb` (AMD) instead of `mMnNkK` (PTX).
    pub crosses: bool,
}

/// One shape as it stands in an instruction name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Single {
    pub(super) m: u32,
    pub(super) n: u32,
    pub(super) k: u32,
    /// `None` when the name does not say (the older AMD mnemonics).
    pub(super) blocks: Option<u32>,
}

impl Shape {
    pub(super) fn contains(&self, single: &Single) -> bool {
        self.k == single.k
            && self.m.contains(&single.m)
            && self.n.contains(&single.n)
            && single.blocks.is_none_or(|blocks| blocks == self.blocks)
    }

    /// How the shape stands in the canonical name.
    pub(super) fn canonical(&self) -> String {
        let (m, n, k) = (self.m[0], self.n[0], self.k);
        match (self.crosses, self.blocks) {
            (false, _) => format!("m{m}n{n}k{k}"),
            (true, 1) => format!("{m}x{n}x{k}"),
            (true, blocks) => format!("{m}x{n}x{k}_{blocks}b"),
        }
    }

    /// Reads a shape of the catalogue; the error says what was expected.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let expected = || {
            format!("'{text}': expected a shape like m16n8k16, m64n{{8..256/8}}k16 or 32x32x4_2b")
        };
        if let Some(rest) = text.strip_prefix('m') {
            let (m, rest) = parse_set(rest).ok_or_else(expected)?;
            let (n, rest) = rest
                .strip_prefix('n')
                .and_then(parse_set)
                .ok_or_else(expected)?;
            let k = rest
                .strip_prefix('k')
                .and_then(number)
                .ok_or_else(expected)?;
            return Ok(Self {
                m,
                n,
                k,
                blocks: 1,
                crosses: false,
            });
        }
        let single = parse_crosses(text).filter(|(_, rest)| rest.is_empty());
        let (single, _) = single.ok_or_else(expected)?;
        Ok(Self {
            m: vec![single.m],
            n: vec![single.n],
            k: single.k,
            blocks: single.blocks.unwrap_or(1),
            crosses: true,
        })
    }
}

/// A whole number from 1 to 4096.
fn number(text: &str) -> Option<u32> {
    text.parse()
        .ok()
        .filter(|value| (1..=4096).contains(value) && !text.starts_with('+'))
}

/// Splits the digits off the front.
fn leading_number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((number(&text[..end])?, &text[end..]))
}

/// `16`, `{128,64}` or `{8..256/8}` and what follows.
fn parse_set(text: &str) -> Option<(Vec<u32>, &str)> {
    let Some(inner) = text.strip_prefix('{') else {
        let (value, rest) = leading_number(text)?;
        return Some((vec![value], rest));
    };
    let (inner, rest) = inner.split_once('}')?;
    let values: Vec<u32> = match inner.split_once("..") {
        None => inner.split(',').map(number).collect::<Option<_>>()?,
        Some((low, high)) => {
            let (high, step) = high.split_once('/')?;
            (number(low)?..=number(high)?)
                .step_by(number(step)? as usize)
                .collect()
        }
    };
    (!values.is_empty()).then_some((values, rest))
}

/// `mMnNkK`, exactly.
pub(super) fn parse_letters(text: &str) -> Option<Single> {
    let (m, rest) = leading_number(text.strip_prefix('m')?)?;
    let (n, rest) = leading_number(rest.strip_prefix('n')?)?;
    let k = number(rest.strip_prefix('k')?)?;
    Some(Single {
        m,
        n,
        k,
        blocks: None,
    })
}

/// `MxNxK` or `MxNxK_Bb` and what follows.
pub(super) fn parse_crosses(text: &str) -> Option<(Single, &str)> {
    let (m, rest) = leading_number(text)?;
    let (n, rest) = leading_number(rest.strip_prefix('x')?)?;
    let (k, rest) = leading_number(rest.strip_prefix('x')?)?;
    let with_blocks = rest
        .strip_prefix('_')
        .and_then(leading_number)
        .and_then(|(blocks, rest)| {
            let rest = rest.strip_prefix('b')?;
            (rest.is_empty() || rest.starts_with('_')).then_some((blocks, rest))
        });
    match with_blocks {
        Some((blocks, rest)) => Some((
            Single {
                m,
                n,
                k,
                blocks: Some(blocks),
            },
            rest,
        )),
        None => Some((
            Single {
                m,
                n,
                k,
                blocks: None,
            },
            rest,
        )),
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.crosses {
            return out.write_str(&self.canonical());
        }
        write!(
            out,
            "m{}n{}k{}",
            set_text(&self.m),
            set_text(&self.n),
            self.k
        )
    }
}

/// A set in the notation that `parse_set` reads.
fn set_text(values: &[u32]) -> String {
    let evenly_spaced = values.len() > 3
        && values[1] > values[0]
        && values
            .windows(2)
            .all(|two| two[0] + values[1] - values[0] == two[1]);
    match values {
        [value] => value.to_string(),
        [first, second, .., last] if evenly_spaced => {
            format!("{{{first}..{last}/{}}}", second - first)
        }
        _ => {
            let list: Vec<_> = values.iter().map(ToString::to_string).collect();
            format!("{{{}}}", list.join(","))
        }
    }
}
