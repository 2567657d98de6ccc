//! Decodes one k: two operands, their scales, and the product as an addend.

use super::step::Addend;
use super::trace::TracedTerm;
use super::value::TracedValue;
use crate::exact::Dyadic;
use crate::format::{Class, Format, Overflow, Rounding, Unpacked};

/// The operands of one k.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    pub(super) k: usize,
    pub(super) a: Unpacked,
    pub(super) b: Unpacked,
    /// Whether an earlier statement has taken a part of the product.
    pub(super) taken: bool,
    /// Scales of A's and B's blocks and the number of the block.
    pub(super) scales: Option<(usize, Unpacked, Unpacked)>,
}

impl Lane {
    pub(super) fn name(&self) -> String {
        format!("p{}", self.k)
    }

    pub(super) fn negative(&self) -> bool {
        self.a.negative != self.b.negative
    }

    pub(super) fn exponent(&self) -> i64 {
        i64::from(self.a.exponent) + i64::from(self.b.exponent)
    }

    /// The lane for arithmetic that knows no scales.
    pub(super) fn unscaled(self) -> Self {
        Self {
            scales: None,
            ..self
        }
    }

    /// The operands as numbers of a wider format: subnormals may become normal.
    pub(super) fn widened(self, format: &Format) -> Self {
        let widened = |value: Unpacked| match value.exact() {
            Some(exact) => format.decode(format.round(&exact, Rounding::Rne, Overflow::Ieee)),
            None => value,
        };
        Self {
            a: widened(self.a),
            b: widened(self.b),
            ..self
        }
    }

    /// The product without scales: NaN and ∞ as §2.2 step 1 says.
    pub(super) fn product(&self) -> TracedValue {
        let (a, b) = (TracedValue::of(&self.a), TracedValue::of(&self.b));
        let negative = self.negative();
        match (a.number(), b.number()) {
            (Some(a), Some(b)) if a.is_zero() || b.is_zero() => TracedValue::Zero { negative },
            (Some(a), Some(b)) => TracedValue::Finite(&a * &b),
            _ if a == TracedValue::Nan || b == TracedValue::Nan => TracedValue::Nan,
            _ if [self.a.class, self.b.class].contains(&Class::Zero) => TracedValue::Nan,
            _ => TracedValue::Infinite { negative },
        }
    }

    /// Why the product is NaN or ∞, if it is; a NaN scale makes it NaN (§2.3).
    pub(super) fn special(&self) -> Option<(String, TracedValue)> {
        if let Some((block, scale_a, scale_b)) = self.scales {
            for (name, scale) in [("sa", scale_a), ("sb", scale_b)] {
                if scale.class == Class::Nan {
                    return Some((format!("the scale {name}{block} is nan"), TracedValue::Nan));
                }
            }
        }
        let product = self.product();
        product.is_special().then(|| {
            let (a, b) = (TracedValue::of(&self.a), TracedValue::of(&self.b));
            (format!("{} = {a} * {b}", self.name()), product)
        })
    }

    /// The product as an addend; `scaled` raises its value and exponent by those of the scales,
    /// which are powers of two.
    pub(super) fn addend(&self, scaled: bool) -> Addend {
        let scales = self.scales.filter(|_| scaled);
        let raise = scales.map_or(0, |(_, a, b)| i64::from(a.exponent) + i64::from(b.exponent));
        let exponent = self.exponent() + raise;
        match self.product() {
            TracedValue::Finite(product) => Addend::Term(Box::new(TracedTerm {
                name: self.name(),
                value: product.scaled(raise),
                exponent,
                high: exponent + 1,
                low: exponent - i64::from(self.a.fraction_bits + self.b.fraction_bits),
                cut: None,
                cover: vec![self.k],
            })),
            _ => Addend::Zero {
                name: self.name(),
                negative: self.negative(),
            },
        }
    }

    /// The product with its scales, in exact arithmetic.
    pub(super) fn scaled_product(&self) -> Option<Dyadic> {
        let mut product = self.product().number()?;
        if let Some((_, scale_a, scale_b)) = &self.scales {
            for scale in [scale_a, scale_b] {
                product = &product * &TracedValue::of(scale).number()?;
            }
        }
        Some(product)
    }
}

/// §2.2 step 1 over any terms, with the reason in words: a NaN, or ∞ of both signs, is NaN; ∞ of
/// one sign is that ∞.
pub(super) fn special_sum(
    terms: impl IntoIterator<Item = Option<(String, TracedValue)>>,
) -> Option<(String, TracedValue)> {
    terms
        .into_iter()
        .flatten()
        .reduce(
            |(reason, value), (next_reason, next)| match (&value, &next) {
                (TracedValue::Nan, _) => (reason, value),
                (_, TracedValue::Nan) => (next_reason, next),
                _ if value == next => (reason, value),
                _ => (format!("{reason} against {next_reason}"), TracedValue::Nan),
            },
        )
}

/// Why a value is NaN or ∞, if it is.
pub(super) fn special_value(name: &str, value: &Unpacked) -> Option<(String, TracedValue)> {
    let value = TracedValue::of(value);
    value
        .is_special()
        .then(|| (format!("{name} = {value}"), value))
}
