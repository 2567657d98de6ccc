//! The text form of a trace, read back by a parser that knows nothing but its documented lines.

use std::collections::HashMap;

use num_bigint::{BigInt, Sign};

/// A number as an integer times a power of two.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) integer: BigInt,
    pub(super) place: i64,
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        let low = self.place.min(other.place);
        self.on(low) == other.on(low)
    }
}

impl Number {
    pub(super) fn new(integer: impl Into<BigInt>, place: i64) -> Self {
        let integer = integer.into();
        Self { integer, place }
    }

    /// The integer at a lower place.
    pub(super) fn on(&self, place: i64) -> BigInt {
        assert!(place <= self.place);
        &self.integer << (self.place - place)
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let low = self.place.min(other.place);
        Self::new(self.on(low) + other.on(low), low)
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.plus(&Self::new(-&other.integer, other.place))
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        Self::new(&self.integer * &other.integer, self.place + other.place)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.integer.sign() == Sign::NoSign
    }

    pub(super) fn negative(&self) -> bool {
        self.integer.sign() == Sign::Minus
    }

    /// Place of the highest bit.
    pub(super) fn top(&self) -> i64 {
        self.place + self.integer.bits() as i64 - 1
    }

    /// `-0x1.8p-3`, `-0.375`, `12`.
    fn parse(text: &str) -> Self {
        let (sign, magnitude) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let number = if let Some(hex) = magnitude.strip_prefix("0x") {
            let (digits, exponent) = hex.split_once('p').expect("an exponent");
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let all = format!("{whole}{fraction}");
            let integer = BigInt::parse_bytes(all.as_bytes(), 16).expect("hex digits");
            let exponent: i64 = exponent.parse().expect("an exponent");
            Self::new(integer, exponent - 4 * fraction.len() as i64)
        } else {
            let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
            let all: BigInt = format!("{whole}{fraction}").parse().expect("digits");
            let five = BigInt::from(5).pow(fraction.len() as u32);
            assert_eq!(&all % &five, BigInt::from(0), "{text} is no dyadic number");
            Self::new(all / five, -(fraction.len() as i64))
        };
        number.times(&Self::new(sign, 0))
    }
}

/// A printed value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Nan,
    Infinite(bool),
    Zero(bool),
    Finite(Number),
}

impl Value {
    pub(super) fn parse(text: &str) -> Self {
        match text {
            "nan" => Self::Nan,
            "inf" => Self::Infinite(false),
            "-inf" => Self::Infinite(true),
            "0" => Self::Zero(false),
            "-0" => Self::Zero(true),
            _ => Self::Finite(Number::parse(text)),
        }
    }

    pub(super) fn number(&self) -> Option<Number> {
        match self {
            Self::Zero(_) => Some(Number::new(0, 0)),
            Self::Finite(number) => Some(number.clone()),
            _ => None,
        }
    }

    pub(super) fn negative(&self) -> bool {
        match self {
            Self::Nan => false,
            Self::Infinite(negative) | Self::Zero(negative) => *negative,
            Self::Finite(number) => number.negative(),
        }
    }
}

/// A printed word with value and exponent.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) word: String,
    pub(super) value: Value,
    pub(super) e: Option<i64>,
}

impl Operand {
    fn parse(cells: &[&str]) -> Self {
        Self {
            word: cells[0].to_owned(),
            value: Value::parse(cells[1]),
            e: cells[2].parse().ok(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) a: Operand,
    pub(super) b: Operand,
    pub(super) product: Value,
    pub(super) e: Option<i64>,
}

/// Sign, digits above and below the mark.
#[derive(Clone, Debug)]
pub(super) struct Digits {
    pub(super) negative: bool,
    pub(super) kept: String,
    pub(super) below: String,
    pub(super) mark: char,
}

impl Digits {
    fn parse(text: &str) -> Self {
        let negative = text.starts_with('-');
        let text = unfolded(text[1..].trim());
        let mark = text.find(['|', ':']).expect("a mark");
        Self {
            negative,
            mark: text.as_bytes()[mark].into(),
            kept: text[..mark].replace('.', "0"),
            below: text[mark + 1..].replace('.', "0"),
        }
    }

    /// All digits as a number, when the last kept one has this place.
    pub(super) fn number(&self, place: i64) -> Number {
        let all = format!("0{}{}", self.kept, self.below);
        let integer = BigInt::parse_bytes(all.as_bytes(), 2).expect("binary digits");
        let number = Number::new(integer, place - self.below.len() as i64);
        if self.negative {
            Number::new(-number.integer, number.place)
        } else {
            number
        }
    }
}

/// Digits with `0{38}` written out.
fn unfolded(text: &str) -> String {
    let mut out = String::new();
    let mut left = text;
    while let Some(open) = left.find('{') {
        let close = left.find('}').expect("a closing brace");
        let count: usize = left[open + 1..close].parse().expect("a number");
        out.push_str(&left[..open]);
        let digit = out.pop().expect("a digit");
        out.extend(std::iter::repeat_n(digit, count));
        left = &left[close + 1..];
    }
    out + left
}

#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) name: String,
    pub(super) e: i64,
    pub(super) digits: Digits,
    /// `N*2^P` of a term on a grid, or the value of one that is as it was.
    pub(super) on_grid: Result<(BigInt, i64), Number>,
}

/// `rne f32 at 2^P: DIGITS DIRECTION -> MULTIPLE`.
#[derive(Clone, Debug)]
pub(super) struct Rounding {
    pub(super) mode: String,
    pub(super) format: Option<String>,
    pub(super) place: i64,
    pub(super) digits: Digits,
    pub(super) direction: String,
    pub(super) multiple: BigInt,
}

impl Rounding {
    fn parse(text: &str) -> Self {
        let (head, rest) = text.split_once(": ").expect("a colon");
        let (how, place) = head.split_once(" at 2^").expect("a place");
        let (digits, multiple) = rest.split_once(" -> ").expect("a multiple");
        let (digits, direction) = digits.split_once(' ').unwrap_or((digits, ""));
        let (mode, format) = how
            .split_once(' ')
            .map_or((how, None), |(m, f)| (m, Some(f)));
        Self {
            mode: mode.to_owned(),
            format: format.map(str::to_owned),
            place: place.parse().expect("a place"),
            digits: Digits::parse(digits),
            direction: direction.to_owned(),
            multiple: multiple.parse().expect("an integer"),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) adds: Vec<String>,
    pub(super) role: String,
    pub(super) zeros: Vec<String>,
    pub(super) flushes: Vec<(String, String, String)>,
    pub(super) drop: Option<String>,
    pub(super) special: Option<String>,
    pub(super) e: Option<(i64, String, Option<i64>)>,
    pub(super) cut: Option<(String, String)>,
    pub(super) top: i64,
    pub(super) terms: Vec<Term>,
    pub(super) total: Option<String>,
    pub(super) scale: Vec<(String, String)>,
    pub(super) floor: Option<Rounding>,
    pub(super) round: Option<Rounding>,
    pub(super) notes: Vec<String>,
    pub(super) word: Option<String>,
    pub(super) value: String,
    pub(super) lost: Vec<(Number, String)>,
}

#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) head: HashMap<String, String>,
    pub(super) pairs: Vec<Pair>,
    pub(super) other: HashMap<String, Operand>,
    pub(super) steps: Vec<Step>,
    pub(super) lost: Option<Number>,
}

/// `p0..p3 c` as names.
fn names(text: &str, separator: &str) -> Vec<String> {
    let mut found = Vec::new();
    for name in text.split(separator).filter(|name| !name.is_empty()) {
        match name.split_once("..") {
            None => found.push(name.to_owned()),
            Some((first, last)) => {
                let number = |name: &str| -> usize { name[1..].parse().expect("p and a number") };
                found.extend((number(first)..=number(last)).map(|k| format!("p{k}")));
            }
        }
    }
    found
}

pub(super) fn parse(text: &str) -> Text {
    let mut found = Text::default();
    let mut sections = text.trim_end().split("\n\n");
    for line in sections.next().expect("a head").lines() {
        let (key, rest) = line.split_once(' ').expect("key and text");
        found.head.insert(key.to_owned(), rest.trim().to_owned());
    }
    for section in sections {
        if section.starts_with("operands") {
            operands(section, &mut found);
        } else if let Some(rest) = section.strip_prefix("lost ") {
            let value = rest.trim().split(' ').next().expect("a value");
            found.lost = Some(Number::parse(value));
        } else {
            found.steps.push(step(section));
        }
    }
    found
}

fn operands(section: &str, found: &mut Text) {
    for line in section.lines().skip(2) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if cells.len() == 4 {
            found
                .other
                .insert(cells[0].to_owned(), Operand::parse(&cells[1..]));
            continue;
        }
        let (first, last) = cells[0].split_once("..").unwrap_or((cells[0], cells[0]));
        let (first, last): (usize, usize) = (first.parse().expect("k"), last.parse().expect("k"));
        for k in first..=last {
            assert_eq!(k, found.pairs.len());
            found.pairs.push(Pair {
                a: Operand::parse(&cells[1..4]),
                b: Operand::parse(&cells[4..7]),
                product: Value::parse(cells[7]),
                e: cells[8].parse().ok(),
            });
        }
    }
}

fn step(section: &str) -> Step {
    let mut lines = section.lines();
    let head = lines.next().expect("a head");
    let (_, head) = head.split_once(": ").expect("step N: …");
    let (name, rest) = head.split_once(" = ").expect("name = formula");
    let (formula, role) = rest.split_once("   ").expect("formula   role");
    let sum = formula
        .strip_prefix('(')
        .map_or(formula, |rest| rest.split_once(')').expect(")").0);
    let mut step = Step {
        name: name.to_owned(),
        adds: if sum == "0" {
            Vec::new()
        } else {
            names(sum, " + ")
        },
        role: role.to_owned(),
        ..Step::default()
    };
    for line in lines {
        let (key, rest) = line.trim_start().split_once(' ').expect("key and text");
        let rest = rest.trim_start();
        let two = |separator: &str| {
            let (one, other) = rest.split_once(separator).expect(separator);
            (one.to_owned(), other.to_owned())
        };
        match key {
            "zero" => step.zeros = names(rest, " "),
            "flush" => {
                let (what, to) = two(" -> ");
                let (name, value) = what.split_once(' ').expect("name and value");
                step.flushes.push((name.to_owned(), value.to_owned(), to));
            }
            "drop" => step.drop = Some(two(" = ").0),
            "special" => step.special = Some(two(": ").0),
            "E" => {
                let (e, by) = two(" from ");
                let (by, floor) = by
                    .split_once(", floor ")
                    .map_or((&*by, None), |(b, f)| (b, Some(f)));
                let floor = floor.map(|floor| floor.parse().expect("a floor"));
                step.e = Some((e.parse().expect("E"), by.to_owned(), floor));
            }
            "cut" => step.cut = Some(two(" to ")),
            "bits" => step.top = two("^").1.parse().expect("a place"),
            "total" => step.total = Some(rest.to_owned()),
            "scale" => {
                let words: Vec<&str> = rest.split(' ').collect();
                let pairs = words
                    .chunks(2)
                    .map(|two| (two[0].to_owned(), two[1].to_owned()));
                step.scale = pairs.collect();
            }
            "floor" => step.floor = Some(Rounding::parse(rest)),
            "round" => step.round = Some(Rounding::parse(rest)),
            "note" => step.notes.push(rest.to_owned()),
            "value" => match rest.split_once(" = ") {
                Some((word, value)) => {
                    step.word = Some(word.to_owned());
                    value.clone_into(&mut step.value);
                }
                None => rest.clone_into(&mut step.value),
            },
            "lost" => {
                let (value, by) = two(" ");
                step.lost.push((Number::parse(&value), by));
            }
            name => {
                let (left, right) = rest.split_once(" = ").expect("digits = value");
                let (e, digits) = left.split_once(' ').expect("e and digits");
                let on_grid = match right.split_once("*2^") {
                    Some((multiple, place)) => {
                        Ok((multiple.parse().expect("N"), place.parse().expect("P")))
                    }
                    None => Err(Value::parse(right).number().expect("a number")),
                };
                step.terms.push(Term {
                    name: name.to_owned(),
                    e: e.parse().expect("e"),
                    digits: Digits::parse(digits),
                    on_grid,
                });
            }
        }
    }
    step
}
