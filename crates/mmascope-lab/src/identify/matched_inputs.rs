//! Converts the matrices of a question to a row's formats, where that is exact.

use std::collections::HashMap;

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
    pub(super) d: Vec<GivenD>,
    /// Scales that the unit does not take, so that a kernel must have.
    pub(super) scales: Option<SoftwareScales>,
}

/// D as words of a format.
pub(super) struct GivenD {
    pub(super) format: Format,
    pub(super) words: Words,
    /// Whether the file has its numbers in another format: which NaN it was is not known then.
    pub(super) loses_nans: bool,
}

/// The format in which a kernel computes outside a unit with these results.
pub(super) fn outside(signature: &Signature) -> Format {
    match signature.d.container() {
        F64 => F64,
        _ => F32,
    }
}

/// Which formats hold which matrices of a question exactly, found once each.
pub(super) struct Formats<'a> {
    question: &'a Question<'a>,
    known: HashMap<(Operand, Format), bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operand {
    A,
    B,
    C,
    D,
}

impl<'a> Formats<'a> {
    pub(super) fn new(question: &'a Question<'a>) -> Self {
        Self {
            question,
            known: HashMap::new(),
        }
    }

    fn is_exact(&mut self, operand: Operand, format: &Format) -> bool {
        let Question { operands, d, .. } = self.question;
        let array = match operand {
            Operand::A => Some(operands.a),
            Operand::B => Some(operands.b),
            Operand::C => operands.c,
            Operand::D => Some(*d),
        };
        let Some(array) = array else { return true };
        // A product takes numbers of f32 as they are where the unit reads the upper part of such words.
        let is_word = matches!(operand, Operand::A | Operand::B)
            && array.element() == Element::Number(F32)
            && format.container() == F32;
        let exact = || is_word || array.is_exact_in(format);
        *self.known.entry((operand, *format)).or_insert_with(exact)
    }

    /// The formats that D may have under a signature: the row's own result format or another one, to which a kernel may
    /// convert at its end. `None` when a matrix is not exact in its format.
    pub(super) fn of_d(&mut self, signature: &Signature) -> Option<Vec<Format>> {
        let exact = (self.question.operands.scale_a.is_some() || signature.scale.is_none())
            && self.is_exact(Operand::A, &signature.a)
            && self.is_exact(Operand::B, &signature.b)
            && self.is_exact(Operand::C, &signature.c);
        if !exact {
            return None;
        }
        let own = signature.d.container();
        let mut formats = vec![own];
        formats.extend(
            [F16, BF16, F32]
                .into_iter()
                .filter(|format| *format != own && own.bits > 8),
        );
        // Numbers of a narrower format in a file are what a kernel converted to it.
        let is_wider = |format: &Format| match self.question.d.element() {
            Element::Number(own) => *format != own && format.has_all_values_of(&own),
            _ => false,
        };
        formats.retain(|format| !is_wider(format));
        formats.retain(|format| self.is_exact(Operand::D, format));
        (!formats.is_empty()).then_some(formats)
    }
}

/// The matrices of a question, or of a part of it, in a row's formats, K filled up; `d` are formats of D that
/// [`Formats::of_d`] gives. `None` when scales do not fit or K cannot be filled up. `scales` are those of the
/// whole question.
pub(super) fn matched_inputs(
    question: &Question<'_>,
    scales: Option<(&Array, &Array)>,
    signature: &Signature,
    d: &[Format],
) -> Option<MatchedInputs> {
    let operands = &question.operands;
    let casting = Casting::default();
    let given = |format: &Format| {
        Some(GivenD {
            format: *format,
            words: question.d.words(format, &casting).ok()?,
            loses_nans: matches!(question.d.element(), Element::Number(own) if own != *format),
        })
    };
    let d = d.iter().filter_map(given).collect();
    let scales = match (signature.scale, scales) {
        (None, Some((a, b))) => Some(software(a, b, &outside(signature)).ok()??),
        _ => None,
    };
    let is_blocks = signature.scale.is_some();
    let own = Arrays {
        scale_a: operands.scale_a.filter(|_| is_blocks),
        scale_b: operands.scale_b.filter(|_| is_blocks),
        ..*operands
    };
    let matrices = Matrices::from_arrays(&own, signature, &casting).ok()?;
    Some(MatchedInputs {
        matrices: matrices.padded(signature).ok()?,
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
