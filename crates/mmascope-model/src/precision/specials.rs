//! Special values of every unit: NaN, ∞, subnormals, zeros and overflow, computed from the models.
//!
//! ```
//! use mmascope_model::{isa::Catalogue, precision::specials};
//!
//! let row = Catalogue::built_in().find("MI300X", "v_mfma_f32_32x32x8_f16")?;
//! let all = specials::of(row)?;
//! let case = all.iter().find(|it| it.name == "inf*0").unwrap();
//! assert_eq!(case.outcome.as_ref().unwrap().result(), "nan"); // its payload is not fixed
//! # Ok::<(), mmascope_model::Error>(())
//! ```

#![deny(clippy::float_arithmetic)]

mod page;

pub use page::page;

use crate::dpa::{Modifiers, OperandWords, Signature, Unit};
use crate::error::Result;
use crate::exact::Dyadic;
use crate::explain::TracedValue;
use crate::format::{Class, Exact, Format, Overflow, Rounding};
use crate::isa::Instruction;

/// A case and what the unit gives for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Special {
    /// The name: `nan+x`, `inf*0` …
    pub name: &'static str,
    /// What the operands are, in words.
    pub what: &'static str,
    /// `None` where the unit's formats have no such operands.
    pub outcome: Option<SpecialOutcome>,
}

/// Operands and the result that a unit gives for them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpecialOutcome {
    /// The operands.
    pub operands: OperandWords,
    /// The result's register word.
    pub word: u64,
    /// What the word means.
    pub value: TracedValue,
    /// Hexadecimal digits of the word.
    digits: usize,
    /// A NaN whose word the unit does not fix.
    is_any_nan: bool,
}

impl SpecialOutcome {
    /// The result's word in hexadecimal; `nan` where its payload is not fixed.
    #[must_use]
    pub fn result(&self) -> String {
        let (word, digits) = (self.word, self.digits);
        match self.is_any_nan {
            true => "nan".to_owned(),
            false => format!("{word:0digits$x}"),
        }
    }
}

/// A case: its name, what it is, and the operands, if the formats have them.
type Case = (
    &'static str,
    &'static str,
    fn(&Maker<'_>) -> Option<OperandWords>,
);

const CASES: [Case; 18] = [
    ("nan+x", "c is NaN, one product is 1", |it| {
        it.sum(&[(it.one_a()?, it.one_b()?)], it.c.nan()?)
    }),
    ("nan*x", "a is NaN, b is 1", |it| {
        it.sum(&[(it.a.nan()?, it.one_b()?)], 0)
    }),
    ("inf*0", "a is ∞, b is 0", |it| {
        it.sum(&[(infinity(it.a, false)?, 0)], 0)
    }),
    ("inf-inf", "products +∞ and −∞", |it| {
        let b = it.one_b()?;
        let (plus, minus) = (infinity(it.a, false)?, infinity(it.a, true)?);
        it.sum(&[(plus, b), (minus, b)], 0)
    }),
    ("inf-inf in c", "a product is +∞, c is −∞", |it| {
        let plus = infinity(it.a, false)?;
        it.sum(&[(plus, it.one_b()?)], infinity(it.c, true)?)
    }),
    ("inf", "a product is +∞", |it| {
        it.sum(&[(infinity(it.a, false)?, it.one_b()?)], 0)
    }),
    ("-inf", "c is −∞", |it| {
        it.sum(&[], infinity(it.c, true)?)
    }),
    (
        "subnormal a",
        "the smallest a times the largest power of two b",
        |it| it.sum(&[(subnormal(it.a)?, largest_power(it.b)?)], 0),
    ),
    (
        "subnormal b",
        "the largest power of two a times the smallest b",
        |it| it.sum(&[(largest_power(it.a)?, subnormal(it.b)?)], 0),
    ),
    (
        "subnormal c",
        "c is the smallest there is, products are 0",
        |it| it.sum(&[], subnormal(it.c)?),
    ),
    (
        "subnormal result",
        "one product of normal numbers, below the smallest normal result",
        |it| {
            let result = it.d.float()?.emin() - 2;
            let (a, b) = (it.a.float()?.emin(), it.b.float()?.emin());
            // b takes what a cannot.
            let exponent = a.max(result - largest_exponent(it.b)?);
            let rest = result - exponent;
            (rest >= b).then_some(())?;
            it.sum(&[(power(it.a, exponent)?, power(it.b, rest)?)], 0)
        },
    ),
    (
        "-0 + -0",
        "a product is −0, c is −0; the other products are 0",
        |it| it.sum(&[(minus_zero(it.a)?, it.one_b()?)], minus_zero(it.c)?),
    ),
    ("all -0", "every product is −0, c is −0", |it| {
        let product = (minus_zero(it.a)?, it.one_b()?);
        it.sum(&vec![product; it.k], minus_zero(it.c)?)
    }),
    ("1 - 1", "products 1 and −1", |it| {
        let one = (it.one_a()?, it.one_b()?);
        // An unsigned A has no −1; where B has none either, there is no such case.
        let minus_one = match number(it.a, true, 0) {
            Some(a) => (a, one.1),
            None => (one.0, number(it.b, true, 0)?),
        };
        it.sum(&[one, minus_one], 0)
    }),
    (
        "overflow",
        "every a, b and c is the largest number, and their sum is beyond the result's range",
        |it| it.overflow(false),
    ),
    ("-overflow", "the same with negative a and c", |it| {
        it.overflow(true)
    }),
    (
        "product beyond",
        "a product is the first power of two beyond the result's range, c is minus half of it",
        |it| {
            it.d.float()?;
            let beyond = largest_exponent(it.d)? + 1;
            let a = largest_exponent(it.a)?;
            let product = (power(it.a, a)?, power(it.b, beyond - a)?);
            it.sum(&[product], number(it.c, true, beyond - 1)?)
        },
    ),
    (
        "nan scale",
        "the first scale of A is NaN, one product is 1",
        |it| {
            let scale = it.scale.as_ref()?;
            let mut words = it.sum(&[(it.one_a()?, it.one_b()?)], 0)?;
            *words.scale_a.first_mut()? = scale.to_register(scale.nan()?);
            Some(words)
        },
    ),
];

/// The names of the cases, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    CASES.iter().map(|(name, ..)| *name)
}

/// Every case on an instruction.
///
/// # Errors
/// [`crate::Error::Unmodelled`] when the instruction has no model.
pub fn of(instruction: &Instruction) -> Result<Vec<Special>> {
    of_unit(instruction.unit()?)
}

/// Every case on a unit.
///
/// # Errors
/// None: the operands fit the unit.
pub fn of_unit(unit: &Unit) -> Result<Vec<Special>> {
    let maker = Maker::new(unit.signature());
    let one = |(name, what, make): &Case| {
        let outcome = match make(&maker) {
            Some(operands) => Some(outcome(unit, operands)?),
            None => None,
        };
        Ok(Special {
            name,
            what,
            outcome,
        })
    };
    CASES.iter().map(one).collect()
}

fn outcome(unit: &Unit, operands: OperandWords) -> Result<SpecialOutcome> {
    let word = unit.dot(&operands.operands(), &Modifiers::default())?;
    let d = unit.signature().d.container();
    let value = d.decode(d.from_register(word));
    let is_any_nan = unit.is_nan(word) && !unit.program().nan_is_known();
    Ok(SpecialOutcome {
        word,
        value: TracedValue::of(&value),
        digits: unit.signature().d.digits(),
        is_any_nan,
        operands,
    })
}

/// Makes operands of one signature.
struct Maker<'a> {
    a: &'a Format,
    b: &'a Format,
    c: &'a Format,
    d: &'a Format,
    k: usize,
    scale: Option<Format>,
    scales: usize,
}

impl<'a> Maker<'a> {
    fn new(signature: &'a Signature) -> Self {
        Self {
            a: &signature.a,
            b: &signature.b,
            c: &signature.c,
            d: &signature.d,
            k: signature.k,
            scale: signature.scale.map(|scale| scale.format),
            scales: signature.scales(),
        }
    }

    /// These products (codes of a and b), then zeros, and a code of c; scales are 1.
    fn sum(&self, products: &[(u64, u64)], c: u64) -> Option<OperandWords> {
        if products.len() > self.k {
            return None;
        }
        let mut words = OperandWords {
            a: vec![0; self.k],
            b: vec![0; self.k],
            c: self.c.to_register(c),
            ..OperandWords::default()
        };
        for (index, (a, b)) in products.iter().enumerate() {
            words.a[index] = self.a.to_register(*a);
            words.b[index] = self.b.to_register(*b);
        }
        if let Some(scale) = &self.scale {
            let one = scale.to_register(power(scale, 0)?);
            words.scale_a = vec![one; self.scales];
            words.scale_b = vec![one; self.scales];
        }
        Some(words)
    }

    /// The largest numbers of one sign, if their sum is a power of two or more beyond the largest result. (c is such a
    /// number already where the result is an integer, and the products are added to it.)
    fn overflow(&self, negative: bool) -> Option<OperandWords> {
        if negative && !(self.a.signed && self.c.signed) {
            return None;
        }
        let value = |format: &Format| {
            let largest = format.decode(format.max_finite(false));
            let last = i64::from(largest.exponent) - i64::from(largest.fraction_bits);
            Dyadic::new(largest.significand.into(), last)
        };
        if self.d.float().is_some() {
            let product = &value(self.a) * &value(self.b);
            let sum = &(&product * &Dyadic::new(self.k.into(), 0)) + &value(self.c);
            (sum.top()? > i64::from(largest_exponent(self.d)?)).then_some(())?;
        }
        let product = (self.a.max_finite(negative), self.b.max_finite(false));
        self.sum(&vec![product; self.k], self.c.max_finite(negative))
    }

    fn one_a(&self) -> Option<u64> {
        power(self.a, 0)
    }

    fn one_b(&self) -> Option<u64> {
        power(self.b, 0)
    }
}

/// The code of a power of two, if the format has it.
fn power(format: &Format, exponent: i32) -> Option<u64> {
    number(format, false, exponent)
}

/// The code of a power of two or of its negative, if the format has it.
fn number(format: &Format, negative: bool, exponent: i32) -> Option<u64> {
    let exact = Exact {
        negative,
        magnitude: 1,
        exponent,
        sticky: false,
    };
    let [down, up] = [Rounding::Rz, Rounding::Ra]
        .map(|rounding| format.round(&exact, rounding, Overflow::Infinity));
    let value = format.decode(down);
    let is_it = down == up && value.class == Class::Finite && value.negative == negative;
    is_it.then_some(down)
}

/// The exponent of the largest power of two.
fn largest_exponent(format: &Format) -> Option<i32> {
    let value = format.decode(format.max_finite(false));
    let top = value.significand.checked_ilog2()? as i32;
    Some(value.exponent + top - value.fraction_bits as i32)
}

fn largest_power(format: &Format) -> Option<u64> {
    power(format, largest_exponent(format)?)
}

fn infinity(format: &Format, negative: bool) -> Option<u64> {
    let code = format.infinity(negative, Overflow::Infinity);
    (format.decode(code).class == Class::Infinite).then_some(code)
}

/// The smallest subnormal number.
fn subnormal(format: &Format) -> Option<u64> {
    format.float().filter(|float| float.subnormals).map(|_| 1)
}

fn minus_zero(format: &Format) -> Option<u64> {
    let code = format.zero(true);
    (code != format.zero(false)).then_some(code)
}
