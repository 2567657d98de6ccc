//! The table of approximate functions: guaranteed errors and known results of primitives, read from `isa/functions.txt`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use num_bigint::BigInt;

use super::function;
use super::interval::Interval;
use crate::error::{Error, Position, Result};
use crate::explain::number_word;
use crate::format::F64;
use crate::precision::legal::Target;

const TEXT: &str = include_str!("../../../isa/functions.txt");
const FILE: &str = "functions.txt";

/// A guaranteed largest error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// So many units in the last place of the exact result.
    Ulps(u32),
    /// So many units in the last place of the correctly rounded result.
    UlpsOfRounded(u32),
    /// At most `2^E`; E in thousandths.
    Absolute(i64),
    /// At most `2^E` times the exact result; E in thousandths.
    Relative(i64),
    /// None is documented.
    None,
}

/// For which inputs a bound holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Inputs {
    All,
    /// |x| ≤ the f64 with these bits.
    AtMost(u64),
    /// Between the f64 with these bits.
    Between(u64, u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    instruction: String,
    inputs: Inputs,
    bound: Bound,
    text: String,
    /// The power of two of the bound, as an interval, computed once.
    power: Option<Interval>,
}

/// A bound with its text and its power of two.
#[derive(Clone, Copy)]
pub(super) struct Documented<'a> {
    pub(super) bound: &'a Bound,
    pub(super) text: &'a str,
    pub(super) power: Option<&'a Interval>,
}

impl Documented<'_> {
    /// What holds where no bound is documented.
    pub(super) const NONE: Self = Self {
        bound: &Bound::None,
        text: "none",
        power: None,
    };
}

/// Everything that the table says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    rows: Vec<Row>,
    known: BTreeMap<(String, u64), Vec<(String, u64)>>,
}

static BUILT_IN: LazyLock<Functions> =
    LazyLock::new(|| Functions::read(FILE, TEXT).unwrap_or_default());

impl Functions {
    /// The shipped table.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The text of the shipped table.
    #[must_use]
    pub fn built_in_text() -> &'static str {
        TEXT
    }

    /// Reads a table; the notation is described at the head of `isa/functions.txt`.
    ///
    /// # Errors
    /// [`Error::Text`] with the line.
    pub fn read(file: &str, text: &str) -> Result<Self> {
        let mut functions = Self::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            functions.line(line).map_err(|message| Error::Text {
                position: Position {
                    file: file.to_owned(),
                    line: number + 1,
                    column: 1,
                },
                message,
            })?;
        }
        Ok(functions)
    }

    fn line(&mut self, line: &str) -> std::result::Result<(), String> {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        // |x| is no separator.
        let rest = rest.replace("|x|", "abs x");
        let fields: Vec<&str> = rest.split('|').map(str::trim).collect();
        let &[name, what, value, evidence] = &fields[..] else {
            return Err("a line has four fields".to_owned());
        };
        if !["hw", "2team", "1team", "doc", "open"].contains(&evidence) {
            return Err(format!(
                "'{evidence}' is no evidence: hw 2team 1team doc open"
            ));
        }
        match kind {
            "error" => {
                let bound = bound(value)?;
                self.rows.push(Row {
                    instruction: name.to_owned(),
                    inputs: inputs(what)?,
                    power: match bound {
                        Bound::Absolute(thousandths) | Bound::Relative(thousandths) => {
                            Some(power(thousandths))
                        }
                        _ => None,
                    },
                    bound,
                    text: value.to_owned(),
                });
            }
            "known" => {
                for pair in value.split(',') {
                    let (input, output) = pair
                        .split_once("->")
                        .ok_or("a known result is INPUT -> OUTPUT")?;
                    let [input, output] =
                        [input, output].map(|text| u64::from_str_radix(text.trim(), 16));
                    match (input, output) {
                        (Ok(input), Ok(output)) => {
                            let key = (name.to_owned(), input);
                            self.known
                                .entry(key)
                                .or_default()
                                .push((what.to_owned(), output));
                        }
                        _ => {
                            return Err(format!(
                                "'{}' has a word that is not hexadecimal",
                                pair.trim()
                            ));
                        }
                    }
                }
            }
            _ => return Err(format!("'{kind}' is no kind of line: error, known")),
        }
        Ok(())
    }

    /// What a primitive gives for an input word on a target, if that is known bit for bit.
    #[must_use]
    pub fn known(&self, primitive: &str, target: Target, input: u64) -> Option<u64> {
        let results = self.known.get(&(primitive.to_owned(), input))?;
        let holds = |targets: &str| {
            targets
                .split_whitespace()
                .any(|word| match word.strip_suffix('+') {
                    Some(sm) => sm.parse().is_ok_and(|sm: u32| target.sm >= sm),
                    None => word == "all" || word.parse() == Ok(target),
                })
        };
        results
            .iter()
            .find(|(targets, _)| holds(targets))
            .map(|(_, output)| *output)
    }

    /// The bound of an instruction for an input, with its text. `x` is the exact input.
    pub(super) fn bound(&self, instruction: &str, x: &Interval) -> Documented<'_> {
        let plain = instruction.replace(".ftz", "");
        let names = [instruction, &plain];
        let row = names.iter().find_map(|name| {
            self.rows
                .iter()
                .find(|row| row.instruction == *name && holds(&row.inputs, x))
        });
        row.map_or(Documented::NONE, |row| Documented {
            bound: &row.bound,
            text: &row.text,
            power: row.power.as_ref(),
        })
    }
}

fn point(bits: u64) -> Option<Interval> {
    F64.decode(bits)
        .exact()
        .map(|exact| Interval::point(&exact))
}

fn holds(inputs: &Inputs, x: &Interval) -> bool {
    let less = |a: &Interval, b: &Interval| {
        let scale = a.scale.min(b.scale);
        a.at(scale).high < b.at(scale).low
    };
    match inputs {
        Inputs::All => true,
        Inputs::AtMost(limit) => {
            let magnitude = if x.low < BigInt::from(0) {
                x.negated()
            } else {
                x.clone()
            };
            point(*limit).is_some_and(|limit| !less(&limit, &magnitude))
        }
        Inputs::Between(low, high) => {
            let inside = |low: &Interval, high: &Interval| less(low, x) && less(x, high);
            point(*low)
                .zip(point(*high))
                .is_some_and(|(low, high)| inside(&low, &high))
        }
    }
}

fn number(text: &str) -> std::result::Result<u64, String> {
    number_word("number", text.trim(), &F64, true).map_err(|error| error.to_string())
}

fn inputs(text: &str) -> std::result::Result<Inputs, String> {
    if text == "all" {
        return Ok(Inputs::All);
    }
    if let Some(limit) = text.strip_prefix("abs x <=") {
        return Ok(Inputs::AtMost(number(limit)?));
    }
    match text.split_once("< x <") {
        Some((low, high)) => Ok(Inputs::Between(number(low)?, number(high)?)),
        None => Err(format!(
            "'{text}' is no range of inputs: all, |x| <= A, A < x < B"
        )),
    }
}

fn bound(text: &str) -> std::result::Result<Bound, String> {
    let wrong = || {
        format!("'{text}' is no bound: N ulp, N ulp of the rounded result, abs 2^E, rel 2^E, none")
    };
    if text == "none" {
        return Ok(Bound::None);
    }
    if let Some(count) = text.strip_suffix(" ulp of the rounded result") {
        return count.parse().map(Bound::UlpsOfRounded).map_err(|_| wrong());
    }
    if let Some(count) = text.strip_suffix(" ulp") {
        return count.parse().map(Bound::Ulps).map_err(|_| wrong());
    }
    let (kind, exponent) = text.split_once(" 2^").ok_or_else(wrong)?;
    let thousandths = thousandths(exponent).ok_or_else(wrong)?;
    match kind {
        "abs" => Ok(Bound::Absolute(thousandths)),
        "rel" => Ok(Bound::Relative(thousandths)),
        _ => Err(wrong()),
    }
}

/// A decimal with at most three places, times 1000.
fn thousandths(text: &str) -> Option<i64> {
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    if places.len() > 3 {
        return None;
    }
    let negative = whole.starts_with('-');
    let whole: i64 = whole.parse().ok()?;
    let places: i64 = format!("{places:0<3}").parse().ok()?;
    Some(whole * 1000 + if negative { -places } else { places })
}

/// `2^(E/1000)` as an interval.
fn power(thousandths: i64) -> Interval {
    let exponent = Interval::of(BigInt::from(thousandths), 0);
    function::exp2(&exponent.over(&Interval::of(BigInt::from(1000), 0), -function::PLACES))
}
