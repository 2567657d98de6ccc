//! Computes what sentences say, in exact numbers.

use mmascope_model::dpa::{OperandWords, Signature};
use mmascope_model::format::{Format, Specials};

use super::number::{Exact, Value, decode, emin, encode, float, largest};
use super::reader::{Groups, Head, Operands, Products, Statement, Sum, To};

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
        decode(&format, codes[k / block], "special")
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

/// IEEE 754: infinity, or the largest number where rounding goes toward it.
fn goes_inward(negative: bool, how: &str) -> bool {
    match how {
        "toward zero" | "to odd" => true,
        "up" => negative,
        "down" => !negative,
        _ => false,
    }
}

/// A number rounded to a format with IEEE 754's overflow; its sign is kept.
fn rounded(negative: bool, x: &Exact, (how, format): &To) -> Value {
    let m = i64::from(float(format).fraction_bits);
    if x.is_zero() {
        return Value::Number(negative, Exact::zero(), emin(format));
    }
    let e = x.top().max(emin(format));
    let y = x.rounded(e - m, how);
    if beyond(&y, format) {
        if goes_inward(negative, how) {
            let most = largest(format);
            let e = most.top();
            return Value::Number(negative, if negative { most.negated() } else { most }, e);
        }
        return match float(format).specials {
            Specials::Ieee => Value::Infinite(negative),
            _ => Value::Nan,
        };
    }
    let e = if y.is_zero() {
        emin(format)
    } else {
        y.top().max(emin(format))
    };
    Value::Number(negative, y, e)
}

fn beyond(x: &Exact, format: &Format) -> bool {
    let size = if x.is_negative() {
        x.negated()
    } else {
        x.clone()
    };
    !size.plus(&largest(format).negated()).is_negative()
        && !size.plus(&largest(format).negated()).is_zero()
}

struct Machine<'a> {
    own: &'a Statement,
}

impl Machine<'_> {
    fn result(&self) -> To {
        self.own.result.clone().expect("the result is said")
    }

    fn nan(&self) -> u64 {
        let (_, format) = self.result();
        match self.own.nan.expect("NaN is said") {
            Some(word) => word,
            None => {
                // Any: all exponent bits and the highest of the fraction.
                let float = float(&format);
                let ones = (1_u64 << float.exponent_bits) - 1;
                (ones << float.fraction_bits | 1 << (float.fraction_bits - 1))
                    << format.register.shift
            }
        }
    }

    fn infinity(&self, negative: bool) -> u64 {
        let (_, format) = self.result();
        let overflow = self.own.overflow.as_deref().expect("overflow is said");
        if overflow.ends_with("and so is infinity") {
            return match overflow.starts_with("NaN") {
                true => self.nan(),
                false => self.most(negative),
            };
        }
        let float = float(&format);
        let ones = (1_u64 << float.exponent_bits) - 1;
        let sign = u64::from(negative) << (format.bits - 1);
        (sign | ones << float.fraction_bits) << format.register.shift
    }

    fn most(&self, negative: bool) -> u64 {
        let (_, format) = self.result();
        let most = largest(&format);
        encode(
            &format,
            negative,
            &if negative { most.negated() } else { most },
        )
    }

    /// The word of an exact sum; `zeros` is the sign that all its terms have, if they are zeros.
    fn finish(&self, sum: &Exact, zeros: Option<bool>) -> u64 {
        let (how, format) = self.result();
        let m = i64::from(float(&format).fraction_bits);
        if let Some((kept, true)) = self.own.flush
            && !sum.is_zero()
            && sum.top() < emin(&format)
        {
            return encode(&format, kept && sum.is_negative(), &Exact::zero());
        }
        if let Some(kept) = self.own.flush_unbounded
            && !sum.is_zero()
            && sum.rounded(sum.top() - m, &how).top() < emin(&format)
        {
            return encode(&format, kept && sum.is_negative(), &Exact::zero());
        }
        let negative = sum.is_negative();
        if self.own.ones_are_numbers && !sum.is_zero() {
            let rounded = sum.rounded(sum.top() - m, &how);
            let ones = (1_i64 << float(&format).exponent_bits) - 1;
            let most = ones - i64::from(float(&format).bias);
            let code = match rounded.top() {
                top if top > most => (1_u64 << (format.bits - 1)) - 1,
                top if top == most => {
                    // The codes of one binade less, and one field more.
                    let half = rounded.times(&Exact::new(1, -1));
                    let size = if negative { half.negated() } else { half };
                    encode(&format, false, &size) + (1 << float(&format).fraction_bits)
                }
                _ => {
                    let size = if negative { rounded.negated() } else { rounded };
                    encode(&format, false, &size)
                }
            };
            return code | u64::from(negative) << (format.bits - 1);
        }
        let (rounded, e) = match sum.is_zero() {
            true => (Exact::zero(), 0),
            false => {
                let e = sum.top().max(emin(&format));
                (sum.rounded(e - m, &how), e)
            }
        };
        let _ = e;
        if rounded.is_zero() {
            return encode(&format, self.zero(sum, zeros), &Exact::zero());
        }
        if beyond(&rounded, &format) {
            let overflow = self.own.overflow.as_deref().expect("overflow is said");
            return match overflow {
                "infinity, however it is rounded" => self.infinity(negative),
                "what IEEE 754 says: infinity, or the largest number where rounding goes toward it" => {
                    match goes_inward(negative, &how) {
                        true => self.most(negative),
                        false => self.infinity(negative),
                    }
                }
                text if text.starts_with("NaN") => self.nan(),
                text if text.starts_with("the largest number") => self.most(negative),
                other => panic!("overflow: {other}"),
            };
        }
        let flush = self.own.flush;
        if let Some((kept, false)) = flush
            && rounded.top() < emin(&format)
        {
            return encode(&format, kept && negative, &Exact::zero());
        }
        encode(&format, negative, &rounded)
    }

    /// Whether a zero result is −0.
    fn zero(&self, sum: &Exact, zeros: Option<bool>) -> bool {
        let text = self.own.zero.as_deref().expect("zeros are said");
        match text {
            "A zero result is +0." => return false,
            "A zero result is -0." => return true,
            _ => {}
        }
        assert!(
            text.ends_with("one that is rounded to zero keeps its sign."),
            "{text}"
        );
        if !sum.is_zero() {
            return sum.is_negative();
        }
        let other = text.contains("of exactly 0 is -0");
        match text.starts_with("A sum of zeros of one sign is that zero;") {
            true => zeros.unwrap_or(other),
            false => other,
        }
    }

    fn convert(&self, value: &Value) -> u64 {
        match value {
            Value::Nan => self.nan(),
            Value::Infinite(negative) => self.infinity(*negative),
            Value::Number(negative, x, _) => self.finish(x, x.is_zero().then_some(*negative)),
        }
    }

    /// One addition of IEEE 754.
    fn add(&self, x: &Value, y: &Value) -> u64 {
        match (x, y) {
            (Value::Nan, _) | (_, Value::Nan) => self.nan(),
            (Value::Infinite(x), Value::Infinite(y)) if x != y => self.nan(),
            (Value::Infinite(negative), _) | (_, Value::Infinite(negative)) => {
                self.infinity(*negative)
            }
            (Value::Number(p, x, _), Value::Number(q, y, _)) => {
                let zeros = (x.is_zero() && y.is_zero() && p == q).then_some(*p);
                self.finish(&x.plus(y), zeros)
            }
        }
    }

    fn value(&self, word: u64) -> Value {
        decode(&self.result().1.container(), word, "special")
    }

    /// A value as the c of the first block.
    fn first(&self, value: &Value) -> Value {
        self.operand(value, self.own.flush_c, self.own.round_c.as_ref())
    }

    fn operand(&self, value: &Value, flush: Option<bool>, to: Option<&To>) -> Value {
        let mut value = value.clone();
        if let Some(kept) = flush
            && value.is_subnormal()
        {
            value = value.as_zero(kept && value.is_negative());
        }
        if self.own.plus_zeros && value.is_zero() {
            value = value.as_zero(false);
        }
        match (&value, to) {
            (Value::Number(negative, x, _), Some(to)) if !x.is_zero() => rounded(*negative, x, to),
            _ => value,
        }
    }

    fn taken(&self, pair: &Pair) -> Pair {
        match pair.plain {
            true => pair.clone(),
            false => Pair {
                a: self.operand(&pair.a, self.own.flush_a, self.own.operands.as_ref()),
                b: self.operand(&pair.b, self.own.flush_b, self.own.operands.as_ref()),
                ..pair.clone()
            },
        }
    }

    fn blocks(&self, pairs: &[Pair], start: Start) -> u64 {
        let size = self.own.block.expect("blocks are said");
        let mut c = start;
        let mut word = 0;
        for block in pairs.chunks(size) {
            word = match &c {
                Start::Value(c) => self.block(block, c, size),
                Start::Nothing => self.convert(&self.added(block)),
            };
            c = Start::Value(self.value(word));
        }
        word
    }

    /// What the first block starts from where that is no value.
    fn nothing(&self, first: &Pair) -> Start {
        if self.own.adds.is_some() {
            // Nothing is added to the sum of rounded products.
            return Start::Nothing;
        }
        let pair = self.taken(first);
        let negative = pair.a.is_negative() != pair.b.is_negative();
        Start::Value(Value::Number(negative, Exact::zero(), 0))
    }

    fn block(&self, pairs: &[Pair], c: impl Into<Start>, places: usize) -> u64 {
        let Start::Value(c) = c.into() else {
            panic!("a value")
        };
        if self.own.adds.is_some() {
            let word = self.add(&c, &self.added(pairs));
            return self.flushed_sum(word);
        }
        self.fused(pairs, &c, places)
    }

    /// The sum of a block's rounded products.
    fn added(&self, pairs: &[Pair]) -> Value {
        assert!(self.own.rounded_additions);
        let mut level: Vec<Value> = pairs
            .iter()
            .map(|pair| self.rounded_product(&self.taken(pair)))
            .collect();
        let sum = |x: &Value, y: &Value| self.value(self.flushed_sum(self.add(x, y)));
        if self.own.adds == Some(true) {
            let first = level[0].clone();
            return level[1..]
                .iter()
                .fold(first, |total, next| sum(&total, next));
        }
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|two| match two {
                    [x, y] => sum(x, y),
                    _ => two[0].clone(),
                })
                .collect();
        }
        level[0].clone()
    }

    fn flushed_sum(&self, word: u64) -> u64 {
        let value = self.value(word);
        match self.own.flush_sums {
            Some(kept) if value.is_subnormal() => encode(
                &self.result().1,
                kept && value.is_negative(),
                &Exact::zero(),
            ),
            _ => word,
        }
    }

    fn rounded_product(&self, pair: &Pair) -> Value {
        let negative = pair.a.is_negative() != pair.b.is_negative();
        let value = match (&pair.a, &pair.b) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinite(_), other) | (other, Value::Infinite(_)) if other.is_zero() => {
                Value::Nan
            }
            (Value::Infinite(_), _) | (_, Value::Infinite(_)) => match &self.own.products {
                Some(Products::LikeResult) => self.value(self.infinity(negative)),
                _ => Value::Infinite(negative),
            },
            (Value::Number(_, x, _), Value::Number(_, y, _)) => match &self.own.products {
                Some(Products::To(to)) => rounded(negative, &x.times(y), to),
                Some(Products::LikeResult) => {
                    let product = x.times(y);
                    let own = Statement {
                        result: self.own.result.clone(),
                        overflow: self.own.overflow.clone(),
                        nan: self.own.nan,
                        zero: Some("A sum of zeros of one sign is that zero; another sum of exactly 0 is +0; one that is rounded to zero keeps its sign.".to_owned()),
                        ..Statement::default()
                    };
                    let own = Machine { own: &own };
                    self.value(own.finish(&product, product.is_zero().then_some(negative)))
                }
                other => panic!("products: {other:?}"),
            },
        };
        match self.own.flush_products {
            Some(kept) if value.is_subnormal() => value.as_zero(kept && value.is_negative()),
            _ => value,
        }
    }

    /// A product of a fused sum: NaN, infinity, or a number with its exponent.
    fn product(&self, pair: &Pair) -> Value {
        let negative = pair.a.is_negative() != pair.b.is_negative();
        if let Some((a, b)) = &pair.scales
            && (matches!(a, Value::Nan) || matches!(b, Value::Nan))
        {
            return Value::Nan;
        }
        let (x, y, e) = match (&pair.a, &pair.b) {
            (Value::Nan, _) | (_, Value::Nan) => return Value::Nan,
            (Value::Infinite(_), other) | (other, Value::Infinite(_)) if other.is_zero() => {
                return match self
                    .own
                    .zero_times_infinity
                    .as_deref()
                    .expect("0 times infinity is said")
                {
                    "NaN" => Value::Nan,
                    "+infinity" => Value::Infinite(false),
                    "-infinity" => Value::Infinite(true),
                    "infinity of the product's sign" => Value::Infinite(negative),
                    "a zero of the product's sign" => Value::Number(negative, Exact::zero(), 0),
                    other => panic!("{other}"),
                };
            }
            (Value::Infinite(_), _) | (_, Value::Infinite(_)) => return Value::Infinite(negative),
            (Value::Number(_, x, e), Value::Number(_, y, f)) => (x, y, e + f),
        };
        let (mut value, mut exponent) = (x.times(y), e);
        if let Some((Value::Number(_, a, e), Value::Number(_, b, f))) = &pair.scales {
            value = value.times(a).times(b);
            exponent += e + f;
        }
        if value.is_zero() {
            return Value::Number(negative, Exact::zero(), exponent);
        }
        if pair.plain {
            return Value::Number(negative, value, exponent);
        }
        if self.own.limit.is_some_and(|limit| value.top() >= limit) {
            return Value::Infinite(negative);
        }
        match self.own.products.as_ref().expect("products are said") {
            Products::Sum => Value::Number(negative, value, exponent),
            Products::Leading => {
                let top = value.top();
                Value::Number(negative, value, top)
            }
            Products::To(to) => {
                let value = rounded(negative, &value, to);
                match self.own.flush_products {
                    Some(kept) if value.is_subnormal() => value.as_zero(kept && negative),
                    _ => value,
                }
            }
            Products::LikeResult => panic!("a fused sum"),
        }
    }

    fn fused(&self, pairs: &[Pair], c: &Value, places: usize) -> u64 {
        let pairs: Vec<Pair> = pairs.iter().map(|pair| self.taken(pair)).collect();
        let products: Vec<Value> = pairs.iter().map(|pair| self.product(pair)).collect();
        let all = || products.iter().chain([c]);
        if all().any(|x| matches!(x, Value::Nan)) {
            return self.nan();
        }
        let infinite =
            |sign| all().any(|x| matches!(x, Value::Infinite(negative) if *negative == sign));
        match (infinite(false), infinite(true)) {
            (false, false) => {}
            (true, false) => return self.infinity(false),
            (false, true) => return self.infinity(true),
            (true, true) => {
                return match self
                    .own
                    .opposite
                    .as_deref()
                    .expect("opposite infinities are said")
                {
                    "+infinity" => self.infinity(false),
                    "-infinity" => self.infinity(true),
                    _ => self.nan(),
                };
            }
        }
        let factor_zero = |pair: &Pair| pair.a.is_zero() || pair.b.is_zero();
        let is_rounded = matches!(self.own.products, Some(Products::To(_)));
        // A zero scale makes no zero of an operand's sign.
        let zeros = c.is_zero()
            && pairs.iter().zip(&products).all(|(pair, product)| {
                let is_zero = product.is_zero() && (factor_zero(pair) || is_rounded);
                is_zero && product.is_negative() == c.is_negative()
            });
        let zeros = zeros.then_some(c.is_negative());
        let term = |value: &Value| match value {
            Value::Number(_, x, e) if !x.is_zero() => Some(Term {
                value: x.clone(),
                exponent: *e,
            }),
            _ => None,
        };
        let terms: Vec<Option<Term>> = products.iter().map(term).collect();
        let mut sums: Vec<Term> = match &self.own.groups {
            None => terms.into_iter().flatten().collect(),
            Some(groups) => self.groups(groups, &terms, &pairs, places),
        };
        if let Some((f, how)) = &self.own.join
            && let Some(m) = sums.iter().map(|term| term.exponent).max()
        {
            let rounded: Vec<Exact> = sums
                .iter()
                .map(|term| term.value.rounded(m - f, how))
                .collect();
            sums = vec![Term {
                value: Exact::sum(&rounded),
                exponent: m,
            }];
        }
        let mut c = term(c);
        let sum = match self.own.sum.as_ref().expect("the sum is said") {
            Sum::Exact => Exact::sum(sums.iter().chain(&c).map(|term| &term.value)),
            Sum::Aligned((f, how), (f_c, how_c)) => {
                let of_c = c.iter().filter(|_| !self.own.c_has_no_say);
                let exponents = sums.iter().chain(of_c).map(|term| term.exponent);
                let floor = self.own.floor.expect("E is said");
                match exponents.chain(floor).max() {
                    None => c.map_or(Exact::zero(), |c| c.value),
                    Some(e) => {
                        if self
                            .own
                            .drop_c
                            .is_some_and(|far| c.as_ref().is_some_and(|c| c.exponent < e - far))
                        {
                            c = None;
                        }
                        let mut lost = false;
                        let mut align = |term: &Term, grid: i64, how: &str| {
                            let rounded = term.value.rounded(grid, how);
                            lost |= !rounded.plus(&term.value.negated()).is_zero();
                            rounded
                        };
                        let mut all: Vec<Exact> =
                            sums.iter().map(|term| align(term, e - f, how)).collect();
                        all.extend(c.iter().map(|c| align(c, e - f_c, how_c)));
                        let sum = Exact::sum(&all);
                        self.grown(sum, lost, e)
                    }
                }
            }
        };
        let sum = match &self.own.f2 {
            Some((f2, how, least)) if !sum.is_zero() => {
                let n = sum.top().max(*least);
                sum.rounded(n - f2, how)
            }
            _ => sum,
        };
        self.finish(&sum, zeros)
    }

    /// The sum with what remembers a loss.
    fn grown(&self, sum: Exact, lost: bool, e: i64) -> Exact {
        let Some(by) = self.own.sticky.filter(|_| lost && !sum.is_zero()) else {
            return sum;
        };
        let place = by.map_or(sum.p.min(sum.top()) - 4000, |below| e - below);
        let more = Exact::new(if sum.is_negative() { -1 } else { 1 }, place);
        sum.plus(&more)
    }

    fn groups(
        &self,
        groups: &Groups,
        terms: &[Option<Term>],
        pairs: &[Pair],
        places: usize,
    ) -> Vec<Term> {
        let _ = places;
        let count = groups
            .strided
            .unwrap_or_else(|| terms.len().div_ceil(groups.size.expect("groups are said")));
        let mut found = Vec::new();
        for group in 0..count {
            let own: Vec<usize> = (0..terms.len())
                .filter(|index| match groups.size {
                    Some(size) => index / size == group,
                    None => index % count == group,
                })
                .collect();
            let own_terms: Vec<&Term> = own
                .iter()
                .filter_map(|&index| terms[index].as_ref())
                .collect();
            let Some(e) = own_terms.iter().map(|term| term.exponent).max() else {
                continue;
            };
            let by_scales = || match &pairs[own[0]].scales {
                Some((Value::Number(_, _, a), Value::Number(_, _, b))) => a + b,
                _ => panic!("scales"),
            };
            let sum = match &groups.grid {
                Some((f, how)) => {
                    let e = if groups.grid_by_scales {
                        by_scales()
                    } else {
                        e
                    };
                    let rounded: Vec<Exact> = own_terms
                        .iter()
                        .map(|term| term.value.rounded(e - f, how))
                        .collect();
                    Exact::sum(&rounded)
                }
                None => {
                    assert!(groups.exact);
                    Exact::sum(own_terms.iter().map(|term| &term.value))
                }
            };
            if groups.drops_zero && sum.is_zero() {
                continue;
            }
            let exponent = match groups.exponent.as_str() {
                "the largest of its non-zero products" => e,
                "that of the leading bit of its sum" => sum.top(),
                "the sum of those of its two scales" => by_scales(),
                other => panic!("{other}"),
            };
            found.push(Term {
                value: sum,
                exponent,
            });
        }
        found
    }
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
