//! Every number of the text is recomputed from the text alone, with big integers.

use std::collections::HashMap;

use mmascope::explain::Trace;
use num_bigint::BigInt;
use rayon::prelude::*;

use super::cases::{Case, Random, UNITS, unit};
use super::parse::{Digits, Number, Operand, Rounding, Step, Text, Value, parse};

/// Cases of every algorithm.
const CASES: usize = 10_500;

/// Fraction bits, smallest exponent, exponent bits, digits and shift of a result format.
struct Format {
    fraction: i64,
    emin: i64,
    field_bits: u32,
    digits: usize,
    shift: u32,
}

fn format(name: &str) -> Format {
    let (fraction, field_bits, digits, shift) = match name {
        "f64" => (52, 11, 16, 0),
        "f32" => (23, 8, 8, 0),
        "f16" => (10, 5, 4, 0),
        "e8m13" => (13, 8, 8, 10),
        _ => panic!("result format {name}"),
    };
    let emin = 2 - (1 << (field_bits - 1));
    Format {
        fraction,
        emin,
        field_bits,
        digits,
        shift,
    }
}

impl Format {
    fn word(&self, value: &Value, nan: Option<&str>) -> String {
        let top_field = (1_u64 << self.field_bits) - 1;
        let (negative, magnitude) = match value {
            Value::Nan => match nan {
                Some(word) => return word.to_owned(),
                None => (false, top_field << self.fraction | 1 << (self.fraction - 1)),
            },
            Value::Infinite(negative) => (*negative, top_field << self.fraction),
            Value::Zero(negative) => (*negative, 0),
            Value::Finite(number) => {
                let binade = number.top().max(self.emin);
                let integer = number.on((binade - self.fraction).min(number.place));
                let excess = (binade - self.fraction - number.place).max(0);
                let integer = u64::try_from(integer.magnitude() >> excess).expect("fits");
                let field = (binade - self.emin) as u64;
                (number.negative(), (field << self.fraction) + integer)
            }
        };
        let bits = 1 + u64::from(self.field_bits) + self.fraction as u64;
        let code = u64::from(negative) << (bits - 1) | magnitude;
        format!("{:0width$x}", code << self.shift, width = self.digits)
    }

    fn largest(&self) -> Number {
        let emax = (1 << (self.field_bits - 1)) - 1;
        let ones = (BigInt::from(1) << (self.fraction + 1)) - 1;
        Number::new(ones, emax - self.fraction)
    }
}

/// Digits kept and below, rounded: the magnitude grows or not, by the mode's definition.
fn rounded(digits: &Digits, mode: &str) -> BigInt {
    let kept = format!("0{}", digits.kept);
    let kept = BigInt::parse_bytes(kept.as_bytes(), 2).expect("binary");
    let below = digits.below.trim_end_matches('0');
    let odd = digits.kept.ends_with('1');
    let grows = match mode {
        "rz" => false,
        "rd" => digits.negative && !below.is_empty(),
        "ru" => !digits.negative && !below.is_empty(),
        "rne" => match below.strip_prefix('1') {
            None => false,
            Some("") => odd,
            Some(_) => true,
        },
        _ => panic!("mode {mode}"),
    };
    let magnitude = kept + u8::from(grows);
    if digits.negative {
        -magnitude
    } else {
        magnitude
    }
}

fn sum_of_specials(values: &[&Value]) -> Option<Value> {
    let nan = values.iter().any(|value| **value == Value::Nan);
    let infinite = |sign| values.iter().any(|value| **value == Value::Infinite(sign));
    match (nan, infinite(false), infinite(true)) {
        (true, ..) | (_, true, true) => Some(Value::Nan),
        (_, true, _) => Some(Value::Infinite(false)),
        (_, _, true) => Some(Value::Infinite(true)),
        _ => None,
    }
}

fn product(a: &Value, b: &Value) -> Value {
    let negative = a.negative() != b.negative();
    match (a.number(), b.number()) {
        (Some(x), Some(y)) if x.is_zero() || y.is_zero() => Value::Zero(negative),
        (Some(x), Some(y)) => Value::Finite(x.times(&y)),
        _ if *a == Value::Nan || *b == Value::Nan => Value::Nan,
        _ if matches!(a, Value::Zero(_)) || matches!(b, Value::Zero(_)) => Value::Nan,
        _ => Value::Infinite(negative),
    }
}

/// A value by its name, with the exponent at which it aligns.
type Known = HashMap<String, (Value, Option<i64>)>;

struct Check<'a> {
    text: &'a Text,
    known: Known,
    block: usize,
}

impl Check<'_> {
    /// The scale of a k; `block` is not 0.
    fn scale(&self, side: &str, k: usize) -> &Operand {
        &self.text.other[&format!("{side}{}", k / self.block)]
    }

    /// Products, with power-of-two or other scales where the arithmetic has them.
    fn operands(&mut self) {
        let scales_terms = self.text.head["does"].contains("st-fdpa") && self.block > 0;
        for (k, pair) in self.text.pairs.iter().enumerate() {
            assert_eq!(
                pair.product,
                product(&pair.a.value, &pair.b.value),
                "product {k}"
            );
            // Widened subnormals are normal numbers of the wider format.
            if let Some(wide) = self.text.head.get("widened") {
                let Format { emin, .. } = format(wide);
                for operand in [&pair.a, &pair.b] {
                    let number = operand.value.number().filter(|number| !number.is_zero());
                    let e = number.map(|number| number.top().max(emin));
                    assert_eq!(operand.e, e, "exponent of an operand of p{k}, as {wide}");
                }
            }
            let finite = matches!(pair.product, Value::Finite(_));
            let e = pair
                .a
                .e
                .zip(pair.b.e)
                .map(|(a, b)| a + b)
                .filter(|_| finite);
            assert_eq!(pair.e, e, "exponent of product {k}");
            let (mut value, mut e) = (pair.product.clone(), pair.e);
            if self.block > 0 {
                for side in ["sa", "sb"] {
                    let scale = self.scale(side, k);
                    if scale.value == Value::Nan {
                        value = Value::Nan;
                    } else if scales_terms && !self.text.head["does"].contains("gst-fdpa") {
                        value = product(&value, &scale.value);
                        e = e.zip(scale.e).map(|(e, scale)| e + scale);
                    }
                }
            }
            self.known.insert(format!("p{k}"), (value, e));
        }
        let c = &self.text.other["c"];
        self.known.insert("c".to_owned(), (c.value.clone(), c.e));
        self.known
            .insert("+0".to_owned(), (Value::Zero(false), None));
    }

    fn exact(&self) -> Value {
        let mut values = vec![self.text.other["c"].value.clone()];
        for (k, pair) in self.text.pairs.iter().enumerate() {
            let mut value = pair.product.clone();
            if self.block > 0 {
                for side in ["sa", "sb"] {
                    let scale = self.scale(side, k);
                    // An infinite product stays one, whatever its scale (§2.4).
                    if scale.value == Value::Nan {
                        value = Value::Nan;
                    } else if value.number().is_some() {
                        value = product(&value, &scale.value);
                    }
                }
            }
            values.push(value);
        }
        if let Some(special) = sum_of_specials(&values.iter().collect::<Vec<_>>()) {
            return special;
        }
        let sum = values
            .iter()
            .filter_map(Value::number)
            .fold(Number::new(0, 0), |s, x| s.plus(&x));
        if sum.is_zero() {
            Value::Zero(false)
        } else {
            Value::Finite(sum)
        }
    }

    /// Values of the operands of a step after its flushes.
    fn flushed(&self, step: &Step) -> Known {
        let mut known = self.known.clone();
        let mut taken: HashMap<&str, Value> = HashMap::new();
        for (name, value, to) in &step.flushes {
            let (value, to) = (Value::parse(value), Value::parse(to));
            let index = name[1..].parse::<usize>().ok();
            let was = match (name.as_bytes()[0], index) {
                (b'a', Some(k)) => &self.text.pairs[k].a.value,
                (b'b', Some(k)) => &self.text.pairs[k].b.value,
                _ => &self.known[name].0,
            };
            assert_eq!(*was, value);
            assert!(matches!(to, Value::Zero(_)));
            taken.insert(name, to);
        }
        for (name, to) in &taken {
            let Ok(k) = name[1..].parse::<usize>() else {
                known.insert((*name).to_owned(), (to.clone(), None));
                continue;
            };
            let pair = &self.text.pairs[k];
            let value = |side: &str, value: &Value| {
                let flushed = taken.get(&*format!("{side}{k}"));
                flushed.cloned().unwrap_or_else(|| value.clone())
            };
            let product = product(&value("a", &pair.a.value), &value("b", &pair.b.value));
            known.insert(format!("p{k}"), (product, None));
        }
        known
    }

    /// Successive steps that hand one sum on, or 0, because everything else is zero.
    fn quiet(&mut self, step: &Step) {
        for name in &step.zeros {
            assert!(
                matches!(self.known[name].0, Value::Zero(_)),
                "{name} is not zero"
            );
        }
        let value = match &step.adds[..] {
            [] => Value::Zero(false),
            [given] => self.known[given].0.clone(),
            more => panic!("{more:?}"),
        };
        self.finish(step, value, None);
    }

    fn step(&mut self, step: &Step) {
        if step.role == "nothing changes" {
            return self.quiet(step);
        }
        let known = self.flushed(step);
        let algorithm = step.role.split([' ', ',', ':']).next().expect("a word");
        let joins_late = ["tr-fdpa", "gtr-fdpa"].contains(&algorithm);
        if let Some(special) = &step.special {
            self.special(step, special, &known, joins_late);
            return;
        }
        // What takes part: everything that is not zero, and it is finite.
        for name in &step.zeros {
            let is_dropped = step.drop.as_ref() == Some(name);
            let zero = matches!(known[name].0, Value::Zero(_));
            let scaled_away = algorithm == "gst-fdpa";
            assert!(zero || is_dropped || scaled_away, "{name} is not zero");
        }
        for name in &step.adds {
            assert!(known[name].0.number().is_some(), "{name} is special");
        }
        if !step.terms.is_empty() {
            let names: Vec<&String> = step.terms.iter().map(|term| &term.name).collect();
            assert_eq!(names, step.adds.iter().collect::<Vec<_>>());
        }
        let total = self.total(step, &known);
        let printed = Value::parse(step.total.as_ref().expect("a total"));
        assert_eq!(printed.number(), Some(total.clone()), "total");
        let mut value = total;
        for (name, scale) in &step.scale {
            assert_eq!(Value::parse(scale), self.text.other[name].value);
            value = value.times(&Value::parse(scale).number().expect("finite"));
        }
        if let Some(floor) = &step.floor {
            let top = value.top().max(-126);
            let below: i64 = self.parameter(step, " F2=");
            assert_eq!(floor.place, top - below);
            value = self.check_rounding(floor, &value);
        }
        // Zeros of one sign keep it.
        let zero_of = |negative: bool| {
            let same = |name: &String| known[name].0 == Value::Zero(negative);
            step.adds.is_empty() && step.zeros.iter().all(same)
        };
        let zeros = [false, true]
            .into_iter()
            .find(|&negative| zero_of(negative));
        self.result(step, algorithm, value, zeros);
        self.losses(step, &known);
    }

    fn special(&mut self, step: &Step, special: &str, known: &Known, overflows: bool) {
        let values: Vec<Value> = step
            .adds
            .iter()
            .map(|name| match &known[name].0 {
                Value::Finite(number)
                    if overflows && name.starts_with('p') && number.top() >= 128 =>
                {
                    Value::Infinite(number.negative())
                }
                value => value.clone(),
            })
            .collect();
        let value = sum_of_specials(&values.iter().collect::<Vec<_>>()).expect("a special");
        assert_eq!(value, Value::parse(special));
        self.finish(step, value, None);
    }

    /// A parameter of the statement that a step belongs to.
    fn parameter(&self, step: &Step, name: &str) -> i64 {
        self.parameter_of(step, name).expect(name)
    }

    /// The same, if the statement has it.
    fn parameter_of(&self, step: &Step, name: &str) -> Option<i64> {
        let does = &self.text.head["does"];
        let algorithm = step.role.split([' ', ',', ':']).next().expect("a word");
        let from = does.find(algorithm).expect("the algorithm");
        let (_, value) = does[from..].split_once(name)?;
        let value = value.split(' ').next().expect("a word");
        Some(value.parse().expect("a number"))
    }

    /// The sum of the step's terms as it brings them together.
    fn total(&self, step: &Step, known: &Known) -> Number {
        let (algorithm, part) = step.role.split_once(": ").unwrap_or((&step.role, ""));
        let name = algorithm.split([' ', ',']).next().expect("a word");
        let joins_late = ["tr-fdpa", "gtr-fdpa"].contains(&name);
        // Groups of gst-fdpa are exact; without a floor of E there must be something to align.
        let is_aligned = name.contains("-fdpa")
            && name != "e-fdpa"
            && (name != "gst-fdpa" || part != "group")
            && (!joins_late || !step.adds.is_empty());
        assert_eq!(is_aligned, step.e.is_some(), "{}", step.role);
        let Some((e, set_by, floor)) = &step.e else {
            let values = step.adds.iter().filter_map(|name| known[name].0.number());
            let sum = values.fold(Number::new(0, 0), |sum, value| sum.plus(&value));
            for term in &step.terms {
                let value = known[&term.name].0.number().expect("finite");
                assert_eq!(term.digits.mark, ':');
                assert_eq!(*term.on_grid.as_ref().expect_err("no grid"), value);
                let place = step.round.as_ref().map(|round| round.place);
                if let Some(place) = place {
                    assert_eq!(term.digits.number(place), value);
                }
            }
            return sum;
        };
        let largest = step.terms.iter().map(|term| term.e).max();
        assert_eq!(Some(*e), largest.max(*floor), "E");
        match step.terms.iter().find(|term| term.e == *e) {
            Some(term) => assert_eq!(term.name, *set_by),
            None => assert_eq!(set_by, "floor"),
        }
        let e0 = (!joins_late).then(|| self.parameter(step, " e0="));
        assert_eq!(*floor, e0, "floor of E in {}", step.role);
        let (mode, grid) = step.cut.as_ref().expect("how terms are cut");
        // tr-fdpa and gtr-fdpa align the sum of the products more finely than c.
        let (f, f2) = (
            self.parameter(step, " F="),
            self.parameter_of(step, " F2=").unwrap_or(0),
        );
        let is_joining = joins_late && part == "joining";
        let c = match is_joining {
            true => grid.split([' ', ',']).nth(4).expect("a name"),
            false => "",
        };
        let words = match is_joining {
            true => format!("2^(E-{}), and rd {c} to 2^(E-{f})", f2 + 1),
            false => format!("2^(E-{f})"),
        };
        assert_eq!(*grid, words);
        assert!(!c.ends_with(".T"), "{c} is the sum of the products");
        let mut sum = Number::new(0, 0);
        for term in &step.terms {
            let (value, exponent) = &known[&term.name];
            assert_eq!(Some(term.e), *exponent, "exponent of {}", term.name);
            let (multiple, place) = term.on_grid.as_ref().expect("a grid");
            let below = if is_joining && term.name != c {
                f2 + 1
            } else {
                f
            };
            assert_eq!(*place, e - below);
            assert_eq!(term.digits.mark, '|');
            assert_eq!(term.digits.kept.len() as i64, step.top - place + 1);
            assert_eq!(
                Some(term.digits.number(*place)),
                value.number(),
                "digits of {}",
                term.name
            );
            assert_eq!(
                rounded(&term.digits, mode),
                *multiple,
                "{} on its grid",
                term.name
            );
            sum = sum.plus(&Number::new(multiple.clone(), *place));
        }
        sum
    }

    fn check_rounding(&self, rounding: &Rounding, value: &Number) -> Number {
        let Rounding {
            mode,
            place,
            digits,
            direction,
            multiple,
            ..
        } = rounding;
        assert_eq!(digits.number(*place), *value, "digits before rounding");
        assert_eq!(rounded(digits, mode), *multiple, "rounding");
        let result = Number::new(multiple.clone(), *place);
        if !direction.is_empty() {
            let low = value.place.min(*place);
            let (before, after) = (value.on(low), result.on(low));
            let expected = match before.magnitude().cmp(after.magnitude()) {
                std::cmp::Ordering::Equal => "exact",
                std::cmp::Ordering::Greater => "toward zero",
                std::cmp::Ordering::Less => "away from zero",
            };
            assert_eq!(direction, expected);
        }
        result
    }

    /// The conversion at the step's end.
    fn result(&mut self, step: &Step, algorithm: &str, value: Number, zeros: Option<bool>) {
        if step.word.is_none() {
            let printed = Value::parse(&step.value);
            assert_eq!(printed.number(), Some(value.clone()));
            let e = match (&step.e, step.scale.is_empty()) {
                (Some((e, ..)), _) => Some(*e),
                (None, false) => step
                    .scale
                    .iter()
                    .map(|(name, _)| self.text.other[name].e)
                    .sum(),
                (None, true) => None,
            };
            self.known.insert(step.name.clone(), (printed, e));
            return;
        }
        let rule = step
            .notes
            .iter()
            .find_map(|note| note.strip_prefix("sign of zero: "));
        let Some(round) = &step.round else {
            assert!(value.is_zero(), "only a zero is not rounded");
            let down = self.statement(step).contains("-> rd");
            let negative = rule.expect("a rule") == "ieee" && zeros.unwrap_or(down);
            return self.finish(step, Value::Zero(negative), None);
        };
        let name = round.format.as_ref().expect("a format");
        let Format { fraction, emin, .. } = format(name);
        assert_eq!(round.place, value.top().max(emin) - fraction, "last place");
        assert!(
            self.statement(step)
                .contains(&format!("-> {} {name}", round.mode))
        );
        let result = self.check_rounding(round, &value);
        let largest = format(name).largest();
        let low = result.place.min(largest.place);
        let beyond = result.on(low).magnitude() > largest.on(low).magnitude();
        let overflow_note = step.notes.iter().any(|note| note.starts_with("overflow"));
        assert_eq!(beyond, overflow_note);
        let negative = value.negative();
        let result = if beyond {
            let plain = ["fma-chain", "ftz-addmul", "add", "convert"].contains(&algorithm);
            let ieee = plain || self.statement(step).contains("overflow=ieee");
            let inward = match &*round.mode {
                "rz" => true,
                "rd" => !negative,
                "ru" => negative,
                _ => false,
            };
            match (ieee && inward, negative) {
                (false, _) => Value::Infinite(negative),
                (true, false) => Value::Finite(largest),
                (true, true) => Value::Finite(Number::new(-largest.integer, largest.place)),
            }
        } else if result.is_zero() {
            Value::Zero(negative && rule.expect("a rule") != "plus")
        } else {
            Value::Finite(result)
        };
        let flushes = step.notes.iter().any(|note| note.starts_with("flushed"));
        let subnormal = result
            .number()
            .is_some_and(|n| !n.is_zero() && n.top() < emin);
        assert_eq!(flushes, subnormal && algorithm == "ftz-addmul");
        let result = if flushes {
            let plus = self.statement(step).contains("flush-out=plus");
            Value::Zero(negative && !plus)
        } else {
            result
        };
        self.finish(step, result, Some(name));
    }

    /// The text of the statement that a step belongs to.
    fn statement(&self, step: &Step) -> &str {
        let does = &self.text.head["does"];
        let mut statements: Vec<&str> = does.split(" ; ").collect();
        let name = step
            .name
            .split('.')
            .find(|part| !part.starts_with('i'))
            .expect("a name");
        statements.retain(|text| text.starts_with(&format!("{name} = ")));
        statements.first().unwrap_or(&&**does)
    }

    fn finish(&mut self, step: &Step, value: Value, name: Option<&str>) {
        assert_eq!(Value::parse(&step.value), value, "value of {}", step.name);
        let statement = self.statement(step);
        let output = statement.split(" -> ").nth(1).expect("an output");
        let name = name.or(output.split(' ').nth(1)).expect("a format");
        let nan = output
            .split(" nan=")
            .nth(1)
            .map(|rest| rest.split(' ').next().expect("a word"));
        let format = format(name);
        assert_eq!(
            step.word.as_ref(),
            Some(&format.word(&value, nan)),
            "word of {}",
            step.name
        );
        let e = value.number().filter(|number| !number.is_zero());
        let e = e.map(|number| number.top().max(format.emin));
        self.known.insert(step.name.clone(), (value, e));
    }

    /// Each loss is before − after of the line it names.
    fn losses(&self, step: &Step, known: &Known) {
        for (value, by) in &step.lost {
            let expected = if let Some(name) = by.strip_prefix("aligning ") {
                let term = step
                    .terms
                    .iter()
                    .find(|term| term.name == name)
                    .expect("a term");
                let (multiple, place) = term.on_grid.as_ref().expect("a grid");
                let after = Number::new(multiple.clone(), *place);
                known[name].0.number().expect("finite").minus(&after)
            } else if let Some(name) = by.strip_prefix("dropping ") {
                known[name].0.number().expect("finite")
            } else if let Some(name) = by.strip_prefix("flushing operands of ") {
                let before = &self.known[name].0;
                before
                    .number()
                    .expect("finite")
                    .minus(&known[name].0.number().expect("finite"))
            } else if by == "flooring" {
                let floor = step.floor.as_ref().expect("a floor");
                let after = Number::new(floor.multiple.clone(), floor.place);
                floor.digits.number(floor.place).minus(&after)
            } else if by == "rounding" {
                let round = step.round.as_ref().expect("a rounding");
                let overflow = step.notes.iter().any(|note| note.starts_with("overflow"));
                let after = match overflow {
                    true => Value::parse(&step.value).number().expect("finite"),
                    false => Number::new(round.multiple.clone(), round.place),
                };
                round.digits.number(round.place).minus(&after)
            } else if by == "flushing the result" {
                let round = step.round.as_ref().expect("a rounding");
                Number::new(round.multiple.clone(), round.place)
            } else {
                let name = by.strip_prefix("flushing ").expect("a known loss");
                self.known[name].0.number().expect("finite")
            };
            assert_eq!(*value, expected, "lost {by}");
        }
    }
}

/// Recomputes a text; gives the word of its result.
fn recompute(text: &Text) -> &str {
    let types = &text.head["types"];
    let block = types
        .split(" block=")
        .nth(1)
        .map_or(0, |block| block.parse().expect("a block"));
    let mut check = Check {
        text,
        known: Known::new(),
        block,
    };
    check.operands();
    for step in &text.steps {
        check.step(step);
    }
    let last = text.steps.last().expect("a step");
    let (word, value) = text.head["result"].split_once(" = ").expect("word = value");
    assert_eq!((last.word.as_deref(), &*last.value), (Some(word), value));
    let exact = check.exact();
    assert_eq!(Value::parse(&text.head["exact"]), exact);
    let result = Value::parse(value);
    match (result.number(), exact.number()) {
        (Some(result), Some(exact)) => {
            let (difference, rest) = text.head["error"].split_once(" = ").expect("an error");
            let difference = Value::parse(difference).number().expect("finite");
            assert_eq!(difference, result.minus(&exact));
            let (ulps, place) = rest.split_once(" ulp of 2^").expect("ulps");
            let ulps = Value::parse(ulps).number().expect("finite");
            let place: i64 = place.parse().expect("a place");
            assert_eq!(difference, ulps.times(&Number::new(1, place)));
            if let Some(lost) = &text.lost {
                assert_eq!(*lost, exact.minus(&result));
                let losses = text.steps.iter().flat_map(|step| &step.lost);
                let sum = losses.fold(Number::new(0, 0), |sum, (value, _)| sum.plus(value));
                assert_eq!(*lost, sum);
            }
        }
        _ => assert!(!text.head.contains_key("error")),
    }
    word
}

#[test]
fn the_text_alone_gives_the_result() {
    for (_, units) in UNITS {
        units.par_iter().for_each(|(signature, program)| {
            let unit = unit(signature, program);
            let mut random = Random::seeded(program, 11);
            for number in 0..CASES.div_ceil(units.len()) {
                let case = Case::of(unit.signature(), &mut random, number);
                let trace = Trace::of(&unit, &case.operands(), &case.modifiers).expect("fits");
                let printed = trace.to_string();
                let guard = Guard(&printed);
                let text = parse(&printed);
                assert_eq!(text.pairs[0].a.word, trace.pairs[0].a.word);
                let word = recompute(&text);
                let reference = unit.dot(&case.operands(), &case.modifiers).expect("fits");
                assert_eq!(u64::from_str_radix(word, 16), Ok(reference));
                std::mem::forget(guard);
            }
        });
    }
}

/// Shows the text when a check of it panics.
struct Guard<'a>(&'a str);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        eprintln!("{}", self.0);
    }
}

#[test]
fn a_changed_digit_is_noticed() {
    let unit = unit(
        "f16 f16 f32 f32 4",
        "t-fdpa L=4 F=23 e0=-131 -> rz f32 nan=7fffffff",
    );
    let mut random = Random::seeded("changed", 12);
    let case = Case::of(unit.signature(), &mut random, 2);
    let trace = Trace::of(&unit, &case.operands(), &case.modifiers).expect("fits");
    let printed = trace.to_string();
    recompute(&parse(&printed));
    let places: Vec<usize> = printed
        .char_indices()
        .filter(|(at, c)| *at > printed.find("step").expect("a step") && ['0', '1'].contains(c))
        .map(|(at, _)| at)
        .collect();
    let silence = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let unnoticed: Vec<usize> = places
        .iter()
        .copied()
        .filter(|&at| {
            let other = if printed.as_bytes()[at] == b'0' {
                "1"
            } else {
                "0"
            };
            let changed = format!("{}{other}{}", &printed[..at], &printed[at + 1..]);
            std::panic::catch_unwind(|| recompute(&parse(&changed)).to_owned()).is_ok()
        })
        .collect();
    std::panic::set_hook(silence);
    // The step's number is a name and not computed.
    assert!(
        places.len() > 100 && unnoticed.len() <= 1,
        "{unnoticed:?}\n{printed}"
    );
}
