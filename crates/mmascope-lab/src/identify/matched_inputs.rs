//! Converts the matrices of a question to a row's formats, where that is exact.

use super::Question;
use super::schedules::Scaled;
use crate::array::{Array, Casting, Element, Words};
use crate::dpa::Signature;
use crate::error::Result;
use crate::format::{BF16, F16, F32, F64, Format};
use crate::gemm::{Arrays, Matrices, SoftwareScales};

/// The matrices as register words of one signature.
pub(super) struct MatchedInputs {
    pub(super) matrices: Matrices,
    /// D in each of its possible formats.
    pub(super) d: Vec<(Format, Words)>,
    /// Scales that the unit does not take, so that a kernel must have.
    pub(super) scales: Option<SoftwareScales>,
}

pub(super) fn same_formats(x: &Signature, y: &Signature) -> bool {
    (x.a, x.b, x.c, x.d, x.scale) == (y.a, y.b, y.c, y.d, y.scale)
}

/// The format in which a kernel computes outside a unit with these results.
pub(super) fn outside(signature: &Signature) -> Format {
    match signature.d.container() {
        F64 => F64,
        _ => F32,
    }
}

/// The matrices in a row's formats; `None` when one of them is not exact in its format. D may be in
/// the row's own result format or in another one, to which a kernel may convert at its end.
pub(super) fn matched_inputs(
    question: &Question<'_>,
    signature: &Signature,
) -> Option<MatchedInputs> {
    let Question { operands, d, .. } = question;
    // A product takes numbers of f32 as they are where the unit reads the upper part of such words.
    let is_word = |array: &Array, operand: &Format| {
        array.element() == Element::Number(F32) && operand.container() == F32
    };
    let fits =
        |array: &Array, operand: &Format| array.is_exact_in(operand) || is_word(array, operand);
    let exact = fits(operands.a, &signature.a)
        && fits(operands.b, &signature.b)
        && operands.c.is_none_or(|c| c.is_exact_in(&signature.c))
        && (operands.scale_a.is_some() || signature.scale.is_none());
    if !exact {
        return None;
    }
    let casting = Casting::default();
    let own = signature.d.container();
    let mut formats = vec![own];
    formats.extend(
        [F16, BF16, F32]
            .into_iter()
            .filter(|format| *format != own && own.bits > 8),
    );
    // Numbers of a narrower format in a file are what a kernel converted to it.
    let is_wider = |format: &Format| match d.element() {
        Element::Number(own) => *format != own && format.has_all_values_of(&own),
        _ => false,
    };
    let d: Vec<(Format, Words)> = formats
        .into_iter()
        .filter(|format| !is_wider(format) && d.is_exact_in(format))
        .filter_map(|format| Some((format, d.words(&format, &casting).ok()?)))
        .collect();
    if d.is_empty() {
        return None;
    }
    let scales = match (signature.scale, operands.scale_a, operands.scale_b) {
        (None, Some(a), Some(b)) => Some(software(a, b, &outside(signature)).ok()??),
        _ => None,
    };
    let own = Arrays {
        scale_a: operands.scale_a.filter(|_| scales.is_none()),
        scale_b: operands.scale_b.filter(|_| scales.is_none()),
        ..*operands
    };
    let matrices = Matrices::from_arrays(&own, signature, &casting).ok()?;
    Some(MatchedInputs {
        matrices,
        d,
        scales,
    })
}

/// Scales as numbers of that format; `None` when they are not exactly that. Codes are block scales.
fn software(a: &Array, b: &Array, format: &Format) -> Result<Option<SoftwareScales>> {
    let is_number =
        |array: &Array| matches!(array.element(), Element::Number(_)) && array.is_exact_in(format);
    if !is_number(a) || !is_number(b) {
        return Ok(None);
    }
    SoftwareScales::from_arrays(a, b, format).map(Some)
}

impl MatchedInputs {
    /// The same with K filled up to a multiple of the signature's; `None` where that cannot be.
    pub(super) fn padded(self, signature: &Signature) -> Option<Self> {
        let matrices = self.matrices.padded(signature).ok()?;
        Some(Self { matrices, ..self })
    }

    /// Finds how many rows, columns and steps share a scale, from the shapes of the scales; `None` when no numbers fit.
    pub(super) fn scaled(&self, m: usize, n: usize, steps: usize) -> Option<Scaled> {
        let SoftwareScales { a, b } = self.scales.as_ref()?;
        if a.columns() != b.rows() {
            return None;
        }
        Some(Scaled {
            rows: shared(m, a.rows())?,
            columns: shared(n, b.columns())?,
            steps: shared(steps, a.columns())?,
        })
    }
}

/// How many of `length` share one of `count`: a power of two when one gives that count.
fn shared(length: usize, count: usize) -> Option<usize> {
    let powers = (0..usize::BITS - 1).map(|bit| 1 << bit);
    let even = length.checked_div(count).filter(|&even| even > 0);
    powers
        .take_while(|power| *power < 2 * length)
        .chain(even)
        .chain(even.map(|even| even + 1))
        .find(|each| length.div_ceil(*each) == count)
}
