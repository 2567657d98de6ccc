//! Computes what sentences say, in exact numbers.

mod results;
mod sums;

use mmascope_model::dpa::{OperandWords, Signature};
use mmascope_model::format::Format;

use super::number::{Exact, Value, decode, emin, float};
use super::reader::{Head, Operands, Statement};

/// A term of a sum: its value and its exponent; values of products that are 0 take no part.
#[derive(Clone, Debug)]
struct Term {
    value: Exact,
    exponent: i64,
}

/// One k.
#[derive(Clone)]
struct Pair {
    a: Value,
    b: Value,
    scales: Option<(Value, Value)>,
    /// A value that is taken as it is.
    plain: bool,
}

/// The word of d.
pub(crate) fn run(
    operands: &Operands,
    statements: &[Statement],
    signature: &Signature,
    words: &OperandWords,
) -> u64 {
    let scale = |codes: &[u64], k: usize| {
        let (format, block) = operands.scales.expect("scales are said");
        assert!(operands.scales_move_exponents);
        let scale = decode(&format, codes[k / block], "special");
        let is_zero = matches!(&scale, Value::Number(_, exact, _) if exact.is_zero());
        assert!(operands.scales_may_be_zero || !is_zero);
        scale
    };
    let pairs: Vec<Pair> = (0..signature.k)
        .map(|k| Pair {
            a: decode(&signature.a, words.a[k], &operands.codes),
            b: decode(&signature.b, words.b[k], &operands.codes),
            scales: signature
                .scale
                .map(|_| (scale(&words.scale_a, k), scale(&words.scale_b, k))),
            plain: false,
        })
        .collect();
    let c = decode(&signature.c, words.c, "special");
    let mut values: Vec<(String, u64, Format)> = Vec::new();
    for statement in statements {
        let read = |name: &str| match name {
            "c" => c.clone(),
            "+0" => Value::Number(false, Exact::zero(), 0),
            name => {
                let (_, word, format) = values
                    .iter()
                    .find(|(own, ..)| own == name)
                    .expect("a value");
                // A result travels in a whole register.
                decode(&format.container(), *word, "special")
            }
        };
        if statement.wraps.is_some() {
            let word = of_integers(statement, signature, words);
            let format = statement.integers.expect("the result is said");
            values.push((statement.name.clone(), word, format));
            continue;
        }
        let own = Machine { own: statement };
        if let Some(word) = of_numbers(&own, &pairs, signature, words, &values) {
            values.push((statement.name.clone(), word, own.result().1));
            continue;
        }
        let word = match &statement.head {
            Head::None => panic!("no head"),
            Head::Convert(source) => own.convert(&read(source)),
            Head::Negate(source) => own.convert(&read(source).negated()),
            Head::Add(left, right) => own.add(&read(left), &read(right)),
            Head::Join {
                terms,
                start,
                as_products,
            } => {
                let term = |name: &String| match name
                    .strip_prefix('p')
                    .and_then(|k| k.parse::<usize>().ok())
                {
                    Some(k) => pairs[k].clone(),
                    None => Pair {
                        a: read(name),
                        b: Value::Number(false, Exact::new(1, 0), 0),
                        scales: None,
                        plain: !as_products,
                    },
                };
                let terms: Vec<Pair> = terms.iter().map(term).collect();
                own.block(&terms, &own.first(&read(start)), terms.len())
            }
            Head::Dot {
                over,
                start,
                widened,
            } => {
                let mut chosen: Vec<Pair> = order(over, signature.k)
                    .iter()
                    .map(|&k| pairs[k].clone())
                    .collect();
                if let Some(format) = widened {
                    for pair in &mut chosen {
                        (pair.a, pair.b) = (as_of(&pair.a, format), as_of(&pair.b, format));
                    }
                }
                for pair in &mut chosen {
                    pair.a = part_of(&pair.a, statement.part_a);
                    pair.b = part_of(&pair.b, statement.part_b);
                }
                let start = match start.as_str() {
                    "a zero of the first product's sign" => own.nothing(&chosen[0]),
                    name => Start::Value(own.first(&read(name))),
                };
                own.blocks(&chosen, start)
            }
        };
        values.push((statement.name.clone(), word, own.result().1));
    }
    let word = values.last().expect("a statement").1;
    match statements.last() {
        Some(last) if last.nan_of_operand => passed_nan(last, signature, words, word),
        _ => word,
    }
}

/// The NaN of an operand in place of a NaN result.
fn passed_nan(last: &Statement, signature: &Signature, words: &OperandWords, word: u64) -> u64 {
    let (_, result) = last.result.clone().expect("the result is said");
    let Head::Dot { over, .. } = &last.head else {
        panic!("no products");
    };
    if !matches!(decode(&result, word, "special"), Value::Nan) {
        return word;
    }
    let mut operands = vec![(signature.c, words.c)];
    for k in order(over, signature.k) {
        operands.extend([(signature.b, words.b[k]), (signature.a, words.a[k])]);
    }
    let is_nan =
        |(format, word): &(Format, u64)| matches!(decode(format, *word, "special"), Value::Nan);
    let Some((format, word)) = operands.into_iter().rev().find(is_nan) else {
        return word;
    };
    // Sign, ones in the exponent, fraction from its first bit on.
    let (own, m) = (float(&result), float(&format).fraction_bits);
    let sign = word >> (format.bits - 1) & 1;
    let fraction = (word & ((1 << m) - 1)) << (own.fraction_bits - m);
    let ones = (1_u64 << own.exponent_bits) - 1;
    sign << (result.bits - 1) | ones << own.fraction_bits | fraction | 1 << (own.fraction_bits - 1)
}

/// The word of a sum of integers.
fn of_integers(own: &Statement, signature: &Signature, words: &OperandWords) -> u64 {
    let Head::Dot { over, start, .. } = &own.head else {
        panic!("no products");
    };
    let result = own.integers.expect("the result is said");
    let integer = |format: &Format, word: u64| {
        let code = i128::from(word & (u64::MAX >> (64 - format.bits)));
        let is_negative = format.signed && code >> (format.bits - 1) == 1;
        if is_negative {
            code - (1 << format.bits)
        } else {
            code
        }
    };
    let mut c = match start.as_str() {
        "c" => integer(&signature.c, words.c),
        "+0" => 0,
        other => panic!("begins with {other}"),
    };
    let span = 1_i128 << result.bits;
    let least = if result.signed { -span / 2 } else { 0 };
    for block in order(over, signature.k).chunks(own.block.expect("a block")) {
        for &k in block {
            let (a, b) = (
                integer(&signature.a, words.a[k]),
                integer(&signature.b, words.b[k]),
            );
            c += if own.differ {
                i128::from(a != b)
            } else {
                a * b
            };
        }
        c = match own.wraps {
            Some(true) => (c - least).rem_euclid(span) + least,
            _ => c.max(least).min(least + span - 1),
        };
    }
    c.rem_euclid(span) as u64
}

/// The word of a step that knows numbers only: c and earlier results are numbers to it, too.
fn of_numbers(
    own: &Machine<'_>,
    pairs: &[Pair],
    signature: &Signature,
    words: &OperandWords,
    values: &[(String, u64, Format)],
) -> Option<u64> {
    let Head::Dot { over, start, .. } = &own.own.head else {
        return None;
    };
    if own.own.semi.is_none() && own.own.grouped.is_none() {
        return None;
    }
    let (word, format) = match start.as_str() {
        "c" => (words.c, signature.c),
        "+0" => (0, own.result().1),
        name => {
            let found = values.iter().find(|(own, ..)| own == name);
            let (_, word, format) = found.expect("a value");
            (*word, format.container())
        }
    };
    if let Some(semi) = &own.own.semi {
        let signed = own.own.zero.as_deref() != Some("A zero result is +0.");
        let zero = if start == "+0" { 0 } else { word };
        return Some(semi.run([words.a[0], words.b[0], zero], signed));
    }
    let grouped = own.own.grouped.as_ref()?;
    let chosen: Vec<(Value, Value)> = order(over, signature.k)
        .iter()
        .map(|&k| (pairs[k].a.clone(), pairs[k].b.clone()))
        .collect();
    let c = decode(&format, word, "numbers");
    let result = own.result().1.container();
    Some(grouped.run(&chosen, c, |sum| own.finish(sum, None), &result))
}

/// Which k, in order.
fn order(text: &str, k: usize) -> Vec<usize> {
    let list =
        |text: &str| -> Vec<usize> { text.split(' ').map(|k| k.parse().expect("a k")).collect() };
    if text == "every k, ascending" {
        return (0..k).collect();
    }
    if let Some(found) = super::reader::fit("the k with k mod {} in {}, ascending", text) {
        let (modulus, residues): (usize, _) =
            (found[0].parse().expect("a modulus"), list(found[1]));
        return (0..k)
            .filter(|k| residues.contains(&(k % modulus)))
            .collect();
    }
    let found = super::reader::fit("k = {}, in this order", text);
    list(found.unwrap_or_else(|| panic!("which k: '{text}'"))[0])
}

/// Some bits of a significand, counted from that of the exponent.
fn part_of(value: &Value, part: Option<(i64, i64)>) -> Value {
    let (Value::Number(negative, x, e), Some((first, last))) = (value, part) else {
        return value.clone();
    };
    let size = if x.is_negative() {
        x.negated()
    } else {
        x.clone()
    };
    let above = size.rounded(e - first + 1, "toward zero");
    let kept = size.rounded(e - last, "toward zero").plus(&above.negated());
    Value::Number(*negative, if *negative { kept.negated() } else { kept }, *e)
}

/// The value as a number of another format, which has it.
fn as_of(value: &Value, format: &Format) -> Value {
    match value {
        Value::Number(negative, x, e) if !x.is_zero() => {
            Value::Number(*negative, x.clone(), x.top().max(emin(format)).min(*e))
        }
        other => other.clone(),
    }
}

struct Machine<'a> {
    own: &'a Statement,
}

/// A value that a block starts from, or none.
pub(crate) enum Start {
    Value(Value),
    Nothing,
}

impl From<&Value> for Start {
    fn from(value: &Value) -> Self {
        Self::Value(value.clone())
    }
}
