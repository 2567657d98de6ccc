//! Executes a tree: sums given terms in the tree's order and formats.

use super::{Inner, Op, Tree};
use crate::error::{Error, Result};
use crate::exact::Sum;
use crate::format::{Exact, F32, F64, Format, Overflow, Rounding};

/// One summand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Term {
    /// A number.
    Value(f64),
    /// A product that `add` rounds to the leaves' format first and the other operations take
    /// exactly.
    Product(f64, f64),
}

/// The result of a fused node from its children's numbers (leaves are below [`Tree::leaves`]) and
/// terms.
pub type FusedSum<'a> = &'a mut dyn FnMut(&Inner, &[(usize, Term)]) -> Result<f64>;

/// What the tree leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// Format in which operands are held, and of a product that is rounded by itself.
    pub leaf: Format,
    /// Format of the operands: a fused node aligns them by their exponent fields, which for
    /// subnormals is that of the smallest normal number.
    pub operands: Format,
    /// What `fused` nodes do; without it such nodes are refused.
    pub fused: Option<Truncated>,
    /// Rounding of the results of all other nodes.
    pub rounding: Rounding,
}

/// A fused sum: terms truncated to so many fraction bits below the largest exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// Fraction bits that are kept in the alignment.
    pub bits: i32,
    /// Rounding of the sum.
    pub rounding: Rounding,
}

impl Truncated {
    /// The most fraction bits that are taken. Products of f64 span 4,196 places, so more bits than that cut nothing off.
    const MOST_BITS: i32 = 1 << 16;

    /// What numbers of fraction bits are taken, in words.
    pub(super) const BITS_NEEDED: &'static str = "a whole number of bits from 1 to 65536";

    /// Whether a sum can keep so many fraction bits.
    pub(super) fn takes(bits: i32) -> bool {
        (1..=Self::MOST_BITS).contains(&bits)
    }

    /// Refuses numbers of fraction bits that no sum can keep.
    pub(super) fn check(self) -> Result<Self> {
        let (bits, needed) = (self.bits, Self::BITS_NEEDED);
        match Self::takes(bits) {
            true => Ok(self),
            false => Err(Error::Argument(format!(
                "fused_bits = {bits}: {needed} is needed"
            ))),
        }
    }
}

impl Arithmetic {
    /// IEEE additions and multiply-adds over operands of this format. Products of narrower
    /// operands than f32 are held in f32, which has them all.
    #[must_use]
    pub fn ieee(operands: Format) -> Self {
        Self {
            leaf: if operands.bits > 32 { operands } else { F32 },
            operands,
            fused: None,
            rounding: Rounding::Rne,
        }
    }

    /// From names as people and files write them; what is not said is as in [`Arithmetic::ieee`],
    /// over f32, and fused sums are rounded as everything else.
    ///
    /// # Errors
    /// [`Error::Unknown`] for a format or rounding of another name; [`Error::Argument`] for fraction bits that are not
    /// 1 to 65536.
    pub fn named(
        operands: Option<&str>,
        fused_bits: Option<i32>,
        fused_rounding: Option<&str>,
        rounding: Option<&str>,
    ) -> Result<Self> {
        let named = |name: Option<&str>| name.map_or(Ok(Rounding::Rne), Rounding::named);
        let fused_rounding = named(fused_rounding.or(rounding))?;
        let truncated = |bits| Truncated {
            bits,
            rounding: fused_rounding,
        };
        Ok(Self {
            fused: fused_bits.map(|bits| truncated(bits).check()).transpose()?,
            rounding: named(rounding)?,
            ..Self::ieee(operands.map_or(Ok(F32), Format::named)?)
        })
    }
}

impl Tree {
    /// Sums the terms in the order and the formats of the tree, rounding as stated. ∞ and NaN are as in IEEE 754: a NaN
    /// stays, ∞ − ∞ and 0 · ∞ are NaN, and what is beyond the largest number is ∞ or that number, as the rounding says.
    /// A format without ∞ takes NaN for it.
    ///
    /// # Errors
    /// [`Error::Argument`] when the number of terms is not that of the leaves, a node has no
    /// known arithmetic (`unresolved`; `fused` without its bits, or with other bits than 1 to 65536), nodes are `fma` and
    /// no term is a product, or the sum of a node is ∞ or NaN and its format has neither.
    pub fn execute(&self, terms: &[Term], arithmetic: &Arithmetic) -> Result<f64> {
        self.execute_by(terms, arithmetic, &mut |node, operands| {
            let Some(fused) = arithmetic.fused else {
                return Err(Error::Argument(
                    "a fused node has no arithmetic of its own: give the fraction bits that it keeps"
                        .to_owned(),
                ));
            };
            let terms: Vec<Term> = operands.iter().map(|&(_, term)| term).collect();
            let fused = fused.check()?;
            Ok(fused_sum(node.format, &terms, fused, arithmetic.operands))
        })
    }

    /// The same with another arithmetic of fused nodes.
    ///
    /// # Errors
    /// As [`Tree::execute`], and those of `fused`.
    pub fn execute_by(
        &self,
        terms: &[Term],
        arithmetic: &Arithmetic,
        fused: FusedSum<'_>,
    ) -> Result<f64> {
        if terms.len() != self.leaves() {
            return Err(Error::Argument(format!(
                "{} terms for a tree of {} leaves",
                terms.len(),
                self.leaves()
            )));
        }
        let is_product = |term: &Term| matches!(term, Term::Product(..));
        if let Some(count) = self.multiplying()
            && !terms.iter().any(is_product)
        {
            return Err(Error::Argument(format!(
                "run: {count} of {} nodes are fma, which multiply and add, but no term is a product: \
                 products need both factors (a*b)",
                self.nodes().len()
            )));
        }
        let mut values: Vec<f64> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            let operand = |child: usize| match child.checked_sub(self.leaves()) {
                Some(index) => Term::Value(values[index]),
                None => terms[child],
            };
            let rounded = |term: Term| match term {
                Term::Value(value) => value,
                Term::Product(a, b) => multiply(arithmetic.leaf, a, b),
            };
            let directed = arithmetic.rounding != Rounding::Rne;
            let value = match node.op {
                Op::Add | Op::Fma if directed => {
                    let children = node.children.iter().enumerate();
                    let is_product = |&c: &usize| matches!(operand(c), Term::Product(..));
                    let fused = node.children.iter().rposition(is_product);
                    let terms: Vec<Term> = children
                        .map(|(at, &child)| match operand(child) {
                            term if node.op == Op::Fma && fused == Some(at) => term,
                            // Every operation of the node rounds alike: a product, a sum that goes into it, its own sum.
                            term => {
                                Term::Value(exact_sum(node.format, &[term], arithmetic.rounding))
                            }
                        })
                        .collect();
                    exact_sum(node.format, &terms, arithmetic.rounding)
                }
                Op::Add => {
                    let children = node.children.iter();
                    let values = children.map(|&child| round(node.format, rounded(operand(child))));
                    values
                        .reduce(|left, right| add(node.format, left, right))
                        .unwrap_or(0.0)
                }
                Op::Fma => {
                    let terms: Vec<Term> = node.children.iter().map(|&c| operand(c)).collect();
                    let fused = terms.iter().rposition(|t| matches!(t, Term::Product(..)));
                    let rest = terms.iter().enumerate().filter(|(i, _)| Some(*i) != fused);
                    let sum = rest
                        .map(|(_, term)| round(node.format, rounded(*term)))
                        .reduce(|left, right| add(node.format, left, right))
                        .unwrap_or(0.0);
                    match fused.map(|index| terms[index]) {
                        Some(Term::Product(a, b)) => multiply_add(node.format, a, b, sum),
                        _ => sum,
                    }
                }
                Op::Exact => {
                    let terms: Vec<Term> = node.children.iter().map(|&c| operand(c)).collect();
                    exact_sum(node.format, &terms, arithmetic.rounding)
                }
                Op::Fused => {
                    let operands: Vec<(usize, Term)> =
                        node.children.iter().map(|&c| (c, operand(c))).collect();
                    fused(node, &operands)?
                }
                Op::Unresolved => {
                    return Err(Error::Argument(
                        "an unresolved node cannot be executed: its order is not known".to_owned(),
                    ));
                }
            };
            values.push(held(node.format, value)?);
        }
        Ok(match (values.last(), terms[0]) {
            (Some(value), _) => *value,
            (None, Term::Value(value)) => value,
            (None, Term::Product(a, b)) => multiply(arithmetic.leaf, a, b),
        })
    }
}

/// A value in a format, nearest even; values of the format stay. ∞ becomes NaN in a format that has NaN alone; both stay
/// where a format has neither.
pub fn round(format: Format, value: f64) -> f64 {
    if !value.is_finite() {
        special(format, value).unwrap_or(value)
    } else if format == F64 {
        value
    } else if format == F32 {
        f64::from(value as f32)
    } else {
        decode(
            format,
            format.round(&exact(value), Rounding::Rne, Overflow::Ieee),
        )
    }
}

/// What ∞ or NaN becomes in a format; `None` where the format has neither.
fn special(format: Format, value: f64) -> Option<f64> {
    let nan = format.nan()?;
    Some(if value.is_nan() {
        decode(format, nan)
    } else {
        decode(format, format.infinity(value < 0.0, Overflow::Ieee))
    })
}

/// The result of a node: a number stays, ∞ and NaN are what the format has for them.
fn held(format: Format, value: f64) -> Result<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    special(format, value).ok_or_else(|| {
        let what = if value.is_nan() { "NaN" } else { "∞" };
        Error::Argument(format!(
            "run: the sum of a node is {what}, and {format} has neither ∞ nor NaN"
        ))
    })
}

/// The sum of the terms that are ∞ or NaN; `None` where all are finite. A product of finite factors is finite here,
/// however large it is: only a rounding makes ∞ of it.
fn special_sum(terms: &[Term]) -> Option<f64> {
    let mut sum: Option<f64> = None;
    for term in terms {
        let value = match *term {
            Term::Value(value) => value,
            Term::Product(a, b) if a.is_finite() && b.is_finite() => continue,
            Term::Product(a, b) => a * b,
        };
        if !value.is_finite() {
            sum = Some(sum.map_or(value, |sum| sum + value));
        }
    }
    // (The sign of a NaN that a processor makes is its own.)
    sum.map(|sum| if sum.is_nan() { f64::NAN } else { sum })
}

/// The number that a code of a format of at most 64 bits means.
pub fn decode(format: Format, code: u64) -> f64 {
    if format == F64 {
        return f64::from_bits(code);
    }
    if format == F32 {
        return f64::from(f32::from_bits(code as u32));
    }
    let value = format.decode(code);
    match value.exact() {
        Some(exact) => {
            let magnitude = exact.magnitude as f64 * power_of_two(exact.exponent);
            if exact.negative {
                -magnitude
            } else {
                magnitude
            }
        }
        None if value.class == crate::format::Class::Nan => f64::NAN,
        None if value.negative => f64::NEG_INFINITY,
        None => f64::INFINITY,
    }
}

/// The register word of a number in a format, nearest even.
pub fn encode(format: Format, value: f64) -> u64 {
    let code = if value.is_finite() {
        format.round(&exact(value), Rounding::Rne, Overflow::Ieee)
    } else {
        format.infinity(value < 0.0, Overflow::Ieee)
    };
    format.to_register(code)
}

/// The exponent field of a format's smallest normal number.
pub(crate) fn lowest(format: Format) -> i32 {
    format.float().map_or(0, |float| float.emin())
}

/// 2^exponent, also where it is subnormal.
pub fn power_of_two(exponent: i32) -> f64 {
    2.0_f64.powi(exponent.max(-1000)) * 2.0_f64.powi((exponent + 1000).min(0))
}

/// A finite number as integer and exponent.
fn parts(value: f64) -> (bool, u64, i32) {
    let unpacked = F64.decode(value.to_bits());
    let exponent = unpacked.exponent - unpacked.fraction_bits as i32;
    (unpacked.negative, unpacked.significand, exponent)
}

fn exact(value: f64) -> Exact {
    let (negative, significand, exponent) = parts(value);
    Exact::new(negative, significand.into(), exponent)
}

/// a + b rounded to odd: rounding that to a format two bits narrower is rounding the exact sum.
fn add_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let other = sum - a;
    let error = (a - (sum - other)) + (b - other);
    if error == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // The neighbour on the side of the error is odd.
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away {
        sum.to_bits() + 1
    } else {
        sum.to_bits() - 1
    })
}

fn add(format: Format, a: f64, b: f64) -> f64 {
    if format == F64 {
        a + b
    } else if format == F32 {
        f64::from(a as f32 + b as f32)
    } else {
        round(format, add_odd(a, b))
    }
}

fn multiply(format: Format, a: f64, b: f64) -> f64 {
    // Products of formats of at most 26 bits of precision are exact in f64.
    round(format, a * b)
}

fn multiply_add(format: Format, a: f64, b: f64, c: f64) -> f64 {
    if format == F64 {
        a.mul_add(b, c)
    } else if format == F32 {
        f64::from((a as f32).mul_add(b as f32, c as f32))
    } else {
        round(format, add_odd(a * b, c))
    }
}

/// A finite product.
fn exact_product(a: f64, b: f64) -> Exact {
    let ((sign_a, a, exponent_a), (sign_b, b, exponent_b)) = (parts(a), parts(b));
    let product = u128::from(a) * u128::from(b);
    Exact::new(sign_a != sign_b, product, exponent_a + exponent_b)
}

/// The exact sum, rounded once.
fn exact_sum(format: Format, terms: &[Term], rounding: Rounding) -> f64 {
    if let Some(sum) = special_sum(terms) {
        return sum;
    }
    let mut sum = Sum::default();
    for term in terms {
        sum.add(&match *term {
            Term::Value(value) => exact(value),
            Term::Product(a, b) => exact_product(a, b),
        });
    }
    decode(format, format.round(&sum.exact(), rounding, Overflow::Ieee))
}

/// Every term truncated to the bits below the largest exponent, summed, rounded once.
fn fused_sum(format: Format, terms: &[Term], fused: Truncated, operands: Format) -> f64 {
    if let Some(sum) = special_sum(terms) {
        return sum;
    }
    let field = |exponent: i32, of: Format| (exponent + 52).max(lowest(of));
    // Sign, significand, exponent of its last place, exponent that takes part in alignment.
    let aligned = |term: &Term| match *term {
        Term::Value(value) => {
            let (negative, significand, exponent) = parts(value);
            (
                negative,
                u128::from(significand),
                exponent,
                field(exponent, format),
            )
        }
        Term::Product(a, b) => {
            let largest = field(parts(a).2, operands) + field(parts(b).2, operands);
            let product = exact_product(a, b);
            (
                product.negative,
                product.magnitude,
                product.exponent,
                largest,
            )
        }
    };
    let terms: Vec<_> = terms.iter().map(aligned).filter(|t| t.1 != 0).collect();
    let Some(top) = terms.iter().map(|term| term.3).max() else {
        return 0.0;
    };
    let grid = top - fused.bits;
    // A term is below 4 units of the largest exponent. (Almost every sum fits.)
    let carries = terms.len().next_power_of_two().ilog2() as i32;
    let value = if fused.bits + 2 + carries < 127 {
        let multiples = terms.iter().map(|&(negative, significand, exponent, _)| {
            let shift = grid - exponent;
            let magnitude = match shift {
                128.. => 0,
                0.. => significand >> shift,
                _ => significand << -shift,
            } as i128;
            if negative { -magnitude } else { magnitude }
        });
        Exact::of_multiple(multiples.sum(), grid)
    } else {
        let mut sum = Sum::default();
        for &(negative, significand, exponent, _) in &terms {
            let cut = (grid - exponent).clamp(0, 128) as u32;
            let kept = significand.checked_shr(cut).unwrap_or(0);
            let kept = kept.checked_shl(cut).unwrap_or(0);
            sum.add(&Exact::new(negative, kept, exponent));
        }
        sum.exact()
    };
    decode(format, format.round(&value, fused.rounding, Overflow::Ieee))
}
