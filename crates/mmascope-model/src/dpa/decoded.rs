//! Operands as numbers: decoded for one unit, or once for many units of one signature.

use std::sync::OnceLock;

use super::pair::{Pair, Scales};
use super::product::Product;
use super::program::Known;
use super::{Codes, Modifiers, Operands, Scale, Signature, check_operands};
use crate::error::Result;
use crate::format::{Format, Unpacked};

/// The operands of one dot product, checked and decoded.
///
/// A search runs thousands of units on the same operands; to decode them takes as long as a sum.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// With the scales in `scales` not yet put to them.
    pub(super) pairs: Vec<Pair<'static>>,
    /// Their products, for signatures without scales; none where the formats have more than 32 bits.
    pub(super) products: Vec<Product>,
    /// Of every block of k; none for a signature without.
    pub(super) scales: Vec<Scales>,
    pub(super) c: Unpacked,
    /// Whether an operand is ∞ or NaN, which some units read as numbers.
    pub(super) special: bool,
    /// The pairs as numbers of the first wider format that a unit asked for, and their products.
    wide: OnceLock<(Format, Vec<Pair<'static>>, Vec<Product>)>,
}

impl Decoded {
    /// Decodes operands.
    ///
    /// # Errors
    /// [`crate::Error::Argument`] when a length or a word does not fit the signature.
    pub fn new(signature: &Signature, operands: &Operands<'_>) -> Result<Self> {
        let none = Modifiers::default();
        check_operands(signature, operands, &none)?;
        let codes = Codes::Special;
        let mut of_pairs = Vec::new();
        pairs(signature, operands, &[], &none, codes, &mut of_pairs);
        let of_products = match signature.scale.is_none() && signature.has_products() {
            true => of_pairs.iter().map(Product::of_pair).collect(),
            false => Vec::new(),
        };
        let special = |pair: &Pair| pair.a.is_special() || pair.b.is_special();
        Ok(Self {
            special: of_pairs.iter().any(special),
            pairs: of_pairs,
            products: of_products,
            scales: scales(signature, operands.scale_a, operands.scale_b),
            c: c(signature, operands, &none, Codes::Special),
            wide: OnceLock::new(),
        })
    }

    /// The operands of every k, with their products where there are no scales.
    pub(super) fn known(&self) -> Known<'_, 'static> {
        Known {
            pairs: &self.pairs,
            products: &self.products,
        }
    }

    /// The operands as numbers of a wider format, where there are no scales and it is the usual one.
    pub(super) fn widened(&self, format: Format) -> Option<Known<'_, 'static>> {
        let make = || {
            let wide = self.pairs.iter().map(|pair| pair.widened(&format));
            let pairs: Vec<Pair<'_>> = wide.collect();
            let products = match self.products.is_empty() {
                true => Vec::new(),
                false => pairs.iter().map(Product::of_pair).collect(),
            };
            (format, pairs, products)
        };
        let (of, pairs, products) = self.wide.get_or_init(make);
        let known = Known { pairs, products };
        (*of == format && self.scales.is_empty()).then_some(known)
    }

    /// The pairs with the scales of their blocks, where there are scales.
    pub(super) fn scaled(&self) -> Option<Vec<Pair<'_>>> {
        if self.scales.is_empty() {
            return None;
        }
        let block = self.pairs.len().div_ceil(self.scales.len());
        let blocks = self.pairs.chunks(block).zip(&self.scales);
        let pairs = blocks.flat_map(|(pairs, scales)| {
            pairs.iter().map(move |pair| Pair {
                a: pair.a,
                b: pair.b,
                scales,
            })
        });
        Some(pairs.collect())
    }
}

/// The scales of every block of k; none for a unit without.
pub(super) fn scales(signature: &Signature, a: &[u64], b: &[u64]) -> Vec<Scales> {
    let Some(Scale { format, .. }) = &signature.scale else {
        return Vec::new();
    };
    let decode = |word: &u64| format.decode(format.from_register(*word));
    (a.iter().zip(b))
        .map(|(a, b)| Scales {
            a: decode(a),
            b: decode(b),
        })
        .collect()
}

/// Every k's operands, as modifiers change them, with the scales of their blocks; where `scales` has none, the neutral ones.
pub(super) fn pairs<'a>(
    signature: &Signature,
    operands: &Operands<'_>,
    scales: &'a [Scales],
    modifiers: &Modifiers,
    codes: Codes,
    pairs: &mut Vec<Pair<'a>>,
) {
    let neutral = &Scales::NONE;
    let pair = |a, b| Pair {
        a,
        b,
        scales: neutral,
    };
    each(signature, operands, codes, pair, pairs);
    if modifiers.negate_a || modifiers.negate_b {
        for pair in &mut *pairs {
            pair.a.negative ^= modifiers.negate_a;
            pair.b.negative ^= modifiers.negate_b;
        }
    }
    with_scales(signature, pairs, scales, |pair, scales| {
        pair.scales = scales
    });
}

/// Every k's product, as modifiers change it, times the powers of two of its scales.
pub(super) fn products(
    signature: &Signature,
    operands: &Operands<'_>,
    scales: &[Scales],
    modifiers: &Modifiers,
    codes: Codes,
    products: &mut Vec<Product>,
) {
    each(
        signature,
        operands,
        codes,
        |a, b| Product::of(&a, &b),
        products,
    );
    if modifiers.negate_a != modifiers.negate_b {
        products.iter_mut().for_each(Product::negate);
    }
    with_scales(signature, products, scales, Product::scale);
}

/// Gives every block of k its scales, where there are any.
fn with_scales<'s, T>(
    signature: &Signature,
    terms: &mut [T],
    scales: &'s [Scales],
    give: impl Fn(&mut T, &'s Scales),
) {
    if let Some(scale) = signature.scale {
        for (terms, scales) in terms.chunks_mut(scale.block).zip(scales) {
            terms.iter_mut().for_each(|term| give(term, scales));
        }
    }
}

/// What `take` makes of every k's operands, in place of what the list had.
fn each<T>(
    signature: &Signature,
    operands: &Operands<'_>,
    codes: Codes,
    take: impl Fn(Unpacked, Unpacked) -> T,
    list: &mut Vec<T>,
) {
    list.clear();
    let words = operands.a.iter().zip(operands.b);
    let Signature { a, b, .. } = signature;
    match (codes, a.float_codes(), b.float_codes()) {
        // Almost every unit. (Most have one format, whose masks then stay in registers: those of two are too many.)
        (Codes::Special, Some(a), Some(b)) if a == b => {
            list.extend(words.map(|(x, y)| take(a.decode(*x), a.decode(*y))));
        }
        (Codes::Special, Some(a), Some(b)) => {
            list.extend(words.map(|(x, y)| take(a.decode(*x), b.decode(*y))));
        }
        _ => {
            let decode = |format: &Format, word| codes.decode(format, format.from_register(word));
            list.extend(words.map(|(x, y)| take(decode(a, *x), decode(b, *y))));
        }
    }
}

/// c, as modifiers change it.
pub(super) fn c(
    signature: &Signature,
    operands: &Operands<'_>,
    modifiers: &Modifiers,
    codes: Codes,
) -> Unpacked {
    let word = if modifiers.no_c { 0 } else { operands.c };
    let c = codes.decode(&signature.c, signature.c.from_register(word));
    let negative = c.negative ^ (modifiers.negate_c && !modifiers.no_c);
    Unpacked {
        negative,
        exponent: c.exponent + modifiers.scale_d,
        ..c
    }
}
