//! Operands as numbers: decoded for one unit, or once for many units of one signature.

use std::sync::OnceLock;

use super::pair::{Pair, Scales};
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
    /// Of every block of k; none for a signature without.
    pub(super) scales: Vec<Scales>,
    pub(super) c: Unpacked,
    /// Whether an operand is ∞ or NaN, which some units read as numbers.
    pub(super) special: bool,
    /// The pairs as numbers of the first wider format that a unit asked for.
    wide: OnceLock<(Format, Vec<Pair<'static>>)>,
}

impl Decoded {
    /// Decodes operands.
    ///
    /// # Errors
    /// [`crate::Error::Argument`] when a length or a word does not fit the signature.
    pub fn new(signature: &Signature, operands: &Operands<'_>) -> Result<Self> {
        let none = Modifiers::default();
        check_operands(signature, operands, &none)?;
        let mut decoded = Vec::new();
        pairs(
            signature,
            operands,
            &[],
            &none,
            Codes::Special,
            &mut decoded,
        );
        let pairs = decoded;
        let special = |pair: &Pair| pair.a.is_special() || pair.b.is_special();
        Ok(Self {
            special: pairs.iter().any(special),
            pairs,
            scales: scales(signature, operands.scale_a, operands.scale_b),
            c: c(signature, operands, &none, Codes::Special),
            wide: OnceLock::new(),
        })
    }

    /// The pairs as numbers of a wider format, where there are no scales and it is the usual one.
    pub(super) fn widened(&self, format: Format) -> Option<&[Pair<'static>]> {
        let make = || {
            let wide = self.pairs.iter().map(|pair| pair.widened(&format));
            (format, wide.collect())
        };
        let (of, pairs) = self.wide.get_or_init(make);
        (*of == format && self.scales.is_empty()).then_some(&pairs[..])
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

/// Every k's operands, as `pairs`; where `scales` has none, the neutral ones.
pub(super) fn pairs<'a>(
    signature: &Signature,
    operands: &Operands<'_>,
    scales: &'a [Scales],
    modifiers: &Modifiers,
    codes: Codes,
    pairs: &mut Vec<Pair<'a>>,
) {
    pairs.clear();
    let words = operands.a.iter().zip(operands.b);
    let signed = |x: Unpacked, negate: bool| Unpacked {
        negative: x.negative ^ negate,
        ..x
    };
    let pair = |a: Unpacked, b: Unpacked| Pair {
        a: signed(a, modifiers.negate_a),
        b: signed(b, modifiers.negate_b),
        scales: &Scales::NONE,
    };
    let Signature { a, b, .. } = signature;
    match (codes, a.float_decoder(), b.float_decoder()) {
        // Almost every unit.
        (Codes::Special, Some(a), Some(b)) => pairs.extend(words.map(|(x, y)| pair(a(*x), b(*y)))),
        _ => {
            let decode = |format: &Format, word| codes.decode(format, format.from_register(word));
            pairs.extend(words.map(|(x, y)| pair(decode(a, *x), decode(b, *y))));
        }
    }
    if !scales.is_empty() {
        let block = signature.scale.map_or(signature.k, |scale| scale.block);
        for (pairs, scales) in pairs.chunks_mut(block).zip(scales) {
            for pair in pairs {
                pair.scales = scales;
            }
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
