//! An input taken apart: what each product is worth, and what each unit made of the sum.

use super::value::{decode, text};
use super::{Input, Subject};
use crate::error::Result;
use crate::format::{Class, Format};
use crate::vector::{answer, hex};

/// A word and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The word, as vector lines write it.
    pub word: String,
    /// Its exact value.
    pub value: String,
}

/// One product that is not zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Which k.
    pub k: usize,
    /// a_k.
    pub a: Value,
    /// b_k.
    pub b: Value,
    /// The scales of its block, where there are any.
    pub scales: Option<(Value, Value)>,
    /// The exponent that takes part in alignment: the sum of the field exponents, scales included.
    /// `None` when an operand is ∞ or NaN.
    pub exponent: Option<i32>,
}

/// An input taken apart, with the results side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The products that are not zero.
    pub products: Vec<Product>,
    /// The accumulator input.
    pub c: Value,
    /// Its exponent; `None` when it is zero, ∞ or NaN.
    pub c_exponent: Option<i32>,
    /// Each unit's name and result; `None` where the unit cannot take the input.
    pub results: Vec<(String, Option<Value>)>,
}

/// Takes an input apart and gives it to the units.
///
/// # Errors
/// As [`compare`](super::compare).
pub fn explain(subjects: &[&Subject<'_>], input: &Input) -> Result<Explanation> {
    let (signature, case) = (&input.signature, &input.case);
    let results = subjects
        .iter()
        .map(|subject| {
            let result = subject.compute(input)?.map(|d| Value {
                word: answer(subject.unit(), d),
                value: text(d, &subject.unit().signature().d),
            });
            Ok((subject.name(), result))
        })
        .collect::<Result<_>>()?;
    let products = (0..signature.k).filter_map(|k| product(input, k)).collect();
    let c = decode(case.c, &signature.c);
    Ok(Explanation {
        products,
        c: value(case.c, &signature.c),
        c_exponent: (c.class == Class::Finite).then_some(c.exponent),
        results,
    })
}

fn value(word: u64, format: &Format) -> Value {
    Value {
        word: hex(&[word], format),
        value: text(word, format),
    }
}

fn product(input: &Input, k: usize) -> Option<Product> {
    let (signature, case) = (&input.signature, &input.case);
    let (a, b) = (
        decode(case.a[k], &signature.a),
        decode(case.b[k], &signature.b),
    );
    let is_finite = |class: Class| matches!(class, Class::Zero | Class::Finite);
    let finite = is_finite(a.class) && is_finite(b.class);
    if finite && (a.significand == 0 || b.significand == 0) {
        return None;
    }
    let mut exponent = finite.then_some(a.exponent + b.exponent);
    let scales = signature.scale.map(|scale| {
        let block = k / scale.block;
        let words = (case.scale_a[block], case.scale_b[block]);
        let (s, t) = (
            decode(words.0, &scale.format),
            decode(words.1, &scale.format),
        );
        let both_finite = is_finite(s.class) && is_finite(t.class);
        exponent = exponent
            .filter(|_| both_finite)
            .map(|e| e + s.exponent + t.exponent);
        (value(words.0, &scale.format), value(words.1, &scale.format))
    });
    Some(Product {
        k,
        a: value(case.a[k], &signature.a),
        b: value(case.b[k], &signature.b),
        scales,
        exponent,
    })
}
