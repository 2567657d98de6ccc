//! The matrices of a question in the formats of a row, where they are exactly that.

use super::Question;
use crate::array::{Array, Casting, Words};
use crate::dpa::Signature;
use crate::format::{BF16, F16, F32, Format};
use crate::gemm::Matrices;

/// The matrices as register words of one signature.
pub(super) struct Given {
    pub(super) matrices: Matrices,
    /// D in each of its possible formats.
    pub(super) d: Vec<(Format, Words)>,
}

pub(super) fn same_formats(x: &Signature, y: &Signature) -> bool {
    (x.a, x.b, x.c, x.d, x.scale) == (y.a, y.b, y.c, y.d, y.scale)
}

/// Whether an array's numbers are numbers of the format: rounding them up and down is the same.
fn is_exact(array: &Array, format: &Format) -> bool {
    let words = |rounding: &str| {
        let casting = Casting::default().with_rounding(rounding).ok()?;
        array.words(format, &casting).ok()
    };
    match (words("rz"), words("ra")) {
        (Some(down), Some(up)) => (0..down.len()).all(|index| down.get(index) == up.get(index)),
        _ => false,
    }
}

/// The matrices in a row's formats; `None` when one of them is not exact in its format. D may be in
/// the row's own result format or in another one, to which a kernel may convert at its end.
pub(super) fn given(question: &Question<'_>, signature: &Signature) -> Option<Given> {
    let Question { operands, d } = question;
    let exact = is_exact(operands.a, &signature.a)
        && is_exact(operands.b, &signature.b)
        && operands.c.is_none_or(|c| is_exact(c, &signature.c))
        && operands.scale_a.is_some() == signature.scale.is_some();
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
    let d: Vec<(Format, Words)> = formats
        .into_iter()
        .filter(|format| is_exact(d, format))
        .filter_map(|format| Some((format, d.words(&format, &casting).ok()?)))
        .collect();
    if d.is_empty() {
        return None;
    }
    let matrices = Matrices::from_arrays(operands, signature, &casting).ok()?;
    Some(Given { matrices, d })
}
