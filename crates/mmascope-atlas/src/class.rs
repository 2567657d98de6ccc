//! The columns of the index: operand types in classes.

use mmascope::dpa::Signature;
use mmascope::format::{Format, Kind};

/// A class of operand types: all instructions whose A and B are of it stand in one column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class {
    /// Where it stands: wide floats first, then narrow ones, then integers.
    order: (u8, i32),
    /// The words for people.
    pub(crate) title: String,
    /// The name in anchors.
    pub(crate) id: String,
}

/// The class of an instruction's A and B; two classes make the class of the wider operand.
pub(crate) fn of(signature: &Signature) -> Class {
    let (a, b) = (of_format(&signature.a), of_format(&signature.b));
    a.min(b)
}

fn of_format(format: &Format) -> Class {
    let bits = format.bits;
    let (order, title) = match format.kind {
        Kind::Float(_) if bits > 8 => (0, format.name.to_owned()),
        Kind::Float(_) => (1, format!("fp{bits}")),
        Kind::Fixed { scale: 0 } => (3, format!("int{bits}")),
        Kind::Fixed { .. } => (2, format!("fixed{bits}")),
    };
    Class {
        // Of equal width the format with more fraction bits first.
        order: (order, -(bits as i32 * 64 + fraction(format))),
        id: title.clone(),
        title,
    }
}

fn fraction(format: &Format) -> i32 {
    match format.float() {
        // (fp8 and so on hold several formats.)
        Some(float) if format.bits > 8 => float.fraction_bits as i32,
        _ => 0,
    }
}
