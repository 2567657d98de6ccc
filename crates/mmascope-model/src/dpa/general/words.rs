//! The longer sentences of the model space's steps.

use super::{Fused, GroupExponent, Groups, Sticky};
use crate::dpa::FlushSign;
use crate::dpa::describe::{overflow_stand_in, rounded};
use crate::format::{Format, Rounding};

/// What a flush makes of a subnormal number.
pub(super) fn becomes(sign: FlushSign) -> &'static str {
    match sign {
        FlushSign::Plus => "becomes +0",
        FlushSign::Kept => "becomes a zero of its sign",
    }
}

pub(super) fn flushes(what: &str, flush: Option<FlushSign>) -> String {
    flush.map_or_else(String::new, |sign| {
        format!("A subnormal {what} {}.", becomes(sign))
    })
}

pub(super) fn narrows(what: &str, to: Option<(Rounding, Format)>) -> String {
    to.map_or_else(String::new, |(rounding, format)| {
        format!(
            "{what} rounded to {format}, {}, with IEEE 754 overflow{}.",
            rounded(rounding),
            overflow_stand_in(&format)
        )
    })
}

pub(super) fn block(size: u32) -> String {
    let products = if size == 1 { "product" } else { "products" };
    format!(
        "A block has at most {size} {products}, in this order; the result of a block is the c of the next."
    )
}

impl Fused {
    /// What is added to c, and how one of it is called.
    pub(super) fn added(&self) -> (&'static str, &'static str) {
        match (self.join, self.groups) {
            (Some(_), _) => ("the joined sum", "The joined sum"),
            (None, Some(_)) => ("the groups", "Each group"),
            (None, None) => ("the products", "Each product"),
        }
    }

    /// What is joined.
    pub(super) fn joined(&self) -> &'static str {
        match self.groups {
            Some(_) => "group",
            None => "product",
        }
    }

    pub(super) fn products_words(&self) -> String {
        match (self.terms.products, self.normalised) {
            (Some((rounding, format)), _) => format!(
                "Products are rounded to {format}, {}, with IEEE 754 overflow{}; the exponent of a product is that of the rounded number.",
                rounded(rounding),
                overflow_stand_in(&format)
            ),
            (None, true) => {
                "Products are exact; the exponent of a product is that of its leading bit."
                    .to_owned()
            }
            (None, false) => {
                "Products are exact; the exponent of a product is the sum of those of its factors."
                    .to_owned()
            }
        }
    }

    pub(super) fn grid_words(&self) -> String {
        let Some(_) = self.f else {
            return String::new();
        };
        let of = match (self.join, self.groups) {
            (Some(_), _) => "joined sum",
            (None, Some(_)) => "groups",
            (None, None) => "non-zero products",
        };
        let c = if self.c_outside_alignment {
            ""
        } else {
            " and of a non-zero c"
        };
        match self.e0 {
            Some(e0) => format!("E is the largest exponent of the {of}{c}, and at least {e0}."),
            None => format!(
                "E is the largest exponent of the {of}{c}; where there is none, the sum is c."
            ),
        }
    }

    pub(super) fn sum_words(&self) -> String {
        let (all, each) = self.added();
        let (Some(f), Some(f_c)) = (self.f, self.f_c) else {
            let all = capital(all);
            return format!("{all} and c are summed exactly.");
        };
        let align = rounded(self.align);
        if (f, self.align) == (f_c, self.align_c) {
            return format!(
                "{each} and c are rounded to a multiple of 2^(E-{f}), {align}, and summed exactly."
            );
        }
        format!(
            "{each} is rounded to a multiple of 2^(E-{f}), {align}; c is rounded to a multiple of 2^(E-{f_c}), {}; then all are summed exactly.",
            rounded(self.align_c)
        )
    }

    pub(super) fn group_words(&self) -> String {
        let Some(Groups {
            g,
            strided,
            f,
            align,
            exponent,
            drops_zero,
        }) = self.groups
        else {
            return String::new();
        };
        let count = self.l.div_ceil(g.max(1));
        let members = match strided {
            false => format!("neighbours, {g} a group."),
            true => {
                format!("group j of {count} has the products j, j+{count}, j+2*{count} and so on.")
            }
        };
        let sum = match f {
            None => "A group is summed exactly.".to_owned(),
            Some(f) => format!(
                "In a group each product is rounded to a multiple of 2^(e-{f}), {}, where e is {}; then they are summed exactly.",
                rounded(align),
                match exponent {
                    GroupExponent::Scales => "the sum of the exponents of its two scales",
                    _ => "the largest exponent of its non-zero products",
                }
            ),
        };
        let exponent = match exponent {
            GroupExponent::Products => "the largest of its non-zero products",
            GroupExponent::Own => "that of the leading bit of its sum",
            GroupExponent::Scales => "the sum of those of its two scales",
        };
        let dropped = if drops_zero
            || self
                .groups
                .is_some_and(|own| own.exponent == GroupExponent::Own)
        {
            "whose sum is 0 or without a non-zero product"
        } else {
            "without a non-zero product"
        };
        format!(
            "Products are summed in groups first: {members}\n{sum}\nThe exponent of a group is {exponent}; a group {dropped} takes no part."
        )
    }

    pub(super) fn sticky_words(&self) -> String {
        let place = self.f.max(self.f_c).unwrap_or(0);
        let by = match self.sticky {
            Sticky::None => return String::new(),
            Sticky::Kept => "less than any bit".to_owned(),
            Sticky::Bit(below) => format!("2^(E-{})", place + below),
        };
        format!(
            "Where rounding these terms lost something and the sum is not 0, its magnitude grows by {by}."
        )
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
