//! The parameters of the model space: names and values; how each is changed in a program (`apply`),
//! and which values it has (`domains`).

mod apply;
mod domains;
mod of_c;
mod parts;

pub(crate) use domains::{defaults, domains};
pub(crate) use parts::Part;

use crate::dpa::schema::{Parameter, parameter};
use crate::dpa::{
    Codes, FlushSign, GroupExponent, Groups, Invalid, Side, Source, Sticky, Tininess, ZeroSign,
};
use crate::format::{Format, Overflow, Rounding};

/// A parameter with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    L(u32),
    /// Products or groups, and c where it has the same bits.
    F(Option<u32>),
    /// c alone.
    Fc(u32),
    E0(Option<i32>),
    /// F and the floor, Fc as far from F as it was: the grid at the floor stays where they change alike.
    Floored(u32, i32),
    /// Products and c.
    Align(Rounding),
    AlignC(Rounding),
    G(u32),
    Groups(Option<Groups>),
    /// The alignment is that of these groups, whose sums are aligned to so many bits; without a number as
    /// c is, what looks like its own alignment being that of all.
    Within(Groups, Option<u32>),
    F2(Option<u32>),
    /// So many bits of the sum's own, of a grid with one more: what an alignment to so many looks like but
    /// where a sum borrows or carries.
    Cut(u32),
    Floor(Rounding),
    Normalised(bool),
    Products(Option<(Rounding, Format)>),
    Limit(Option<i32>),
    /// What the ∞ and NaN codes of a and b are.
    Codes(Codes),
    /// What a and b are rounded to.
    Operands(Option<(Rounding, Format)>),
    /// What c is rounded to.
    RoundC(Option<(Rounding, Format)>),
    /// Whether c takes no part in choosing the grid.
    Apart(bool),
    Sticky(Sticky),
    ZeroTimesInfinity(Invalid),
    InfinityMinusInfinity(Invalid),
    /// Two places of the order change, so that two k are of other groups.
    Swap(usize, usize),
    FlushIn(Option<FlushSign>),
    FlushOf(Side),
    FlushC(Option<FlushSign>),
    FlushProducts(Option<FlushSign>),
    FlushOut(Option<FlushSign>),
    /// When a result counts as subnormal.
    Tininess(Tininess),
    P(u32),
    Sequential(bool),
    /// What fused sums begin with that c takes no part in: +0, or nothing.
    Beginning(Source),
    /// Between steps.
    Between(Rounding, Format),
    /// Of chains whose results are added, the additions being left as they are.
    Chains(Rounding, Format),
    /// At the end.
    End(Rounding),
    /// Everywhere.
    Everywhere(Rounding),
    /// The part of the result's word that is produced, everywhere.
    Width(Format),
    Overflow(Overflow),
    Zero(ZeroSign),
}

/// What becomes of subnormal numbers.
pub(crate) const FLUSHES: [Option<FlushSign>; 3] =
    [None, Some(FlushSign::Plus), Some(FlushSign::Kept)];
/// The roundings of alignments, the likely ones first.
pub(crate) const ALIGNMENTS: [Rounding; 9] = [
    Rounding::Rz,
    Rounding::Rne,
    Rounding::Rd,
    Rounding::Ru,
    Rounding::Ra,
    Rounding::Rna,
    Rounding::Rnz,
    Rounding::Odd,
    Rounding::Rnd,
];
/// The roundings of results, the likely ones first.
pub(crate) const ROUNDINGS: [Rounding; 11] = [
    Rounding::Rz,
    Rounding::Rne,
    Rounding::Rd,
    Rounding::Ru,
    Rounding::Ra,
    Rounding::Rna,
    Rounding::Rnz,
    Rounding::Odd,
    Rounding::Rno,
    Rounding::Rnu,
    Rounding::Rnd,
];

impl Setting {
    /// The parameter's name, as in the notation and in `infer --json`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::L(_) => "L",
            Self::F(_) => "F",
            Self::Fc(_) => "Fc",
            Self::E0(_) => "e0",
            Self::Floored(..) => "F-e0",
            Self::Align(_) => "align",
            Self::AlignC(_) => "align-c",
            Self::G(_) => "G",
            Self::Groups(_) | Self::Within(..) => "groups",
            Self::F2(_) => "F2",
            Self::Cut(_) => "F-F2",
            Self::Floor(_) => "floor",
            Self::Normalised(_) | Self::Products(_) => "products",
            Self::Limit(_) => "product-limit",
            Self::Codes(_) => "codes",
            Self::Operands(_) => "operands",
            Self::RoundC(_) => "round-c",
            Self::Apart(_) => "grid",
            Self::Sticky(_) => "sticky",
            Self::ZeroTimesInfinity(_) => "zero-times-inf",
            Self::InfinityMinusInfinity(_) => "inf-minus-inf",
            Self::Swap(..) => "swap",
            Self::FlushIn(_) => "flush-in",
            Self::FlushOf(_) => "flush-of",
            Self::FlushC(_) => "flush-c",
            Self::FlushProducts(_) => "flush-products",
            Self::FlushOut(_) => "flush",
            Self::Tininess(_) => "tininess",
            Self::P(_) => "P",
            Self::Sequential(_) => "adds",
            Self::Beginning(_) => "from",
            Self::Between(..) => "rounding-between",
            Self::Chains(..) => "rounding-chains",
            Self::End(_) | Self::Everywhere(_) => "rounding",
            Self::Width(_) => "width",
            Self::Overflow(_) => "overflow",
            Self::Zero(_) => "zero",
        }
    }

    /// Whether a unit is believed to have it only where nothing simpler gives its answers.
    pub(crate) fn is_uncommon(&self) -> bool {
        match parameter(self.name()) {
            Some(parameter) => parameter.cost >= Parameter::UNCOMMON,
            // Not of a step, or several at once.
            None => matches!(self, Self::Codes(_) | Self::Swap(..) | Self::Cut(_)),
        }
    }

    /// The value, as the notation writes it.
    pub(crate) fn value(&self) -> String {
        let bits = |bits: &Option<u32>| bits.map_or("exact".to_owned(), |bits| bits.to_string());
        let none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        match self {
            Self::L(value) | Self::Fc(value) | Self::G(value) | Self::P(value) => value.to_string(),
            Self::F(value) => bits(value),
            Self::F2(value) => none(value.map(|bits| bits.to_string())),
            Self::E0(value) | Self::Limit(value) => none(value.map(|value| value.to_string())),
            Self::Align(value)
            | Self::AlignC(value)
            | Self::Floor(value)
            | Self::End(value)
            | Self::Everywhere(value) => value.to_string(),
            Self::Groups(groups) => none(groups.map(|groups| {
                let strided = if groups.strided { " strided" } else { "" };
                let own = match groups.exponent {
                    GroupExponent::Products => "",
                    GroupExponent::Own => " own exponent",
                    GroupExponent::Scales => " exponent of scales",
                };
                let zero = if groups.drops_zero {
                    " zeros dropped"
                } else {
                    ""
                };
                format!(
                    "{}{strided} F={} {}{own}{zero}",
                    groups.g,
                    bits(&groups.f),
                    groups.align
                )
            })),
            Self::Normalised(value) => (if *value { "normalised" } else { "exact" }).to_owned(),
            Self::Products(value) | Self::Operands(value) | Self::RoundC(value) => value
                .map_or("exact".to_owned(), |(rounding, format)| {
                    format!("{rounding}:{format}")
                }),
            Self::Apart(value) => (if *value { "products" } else { "all" }).to_owned(),
            Self::Sticky(value) => value.to_string(),
            Self::ZeroTimesInfinity(value) | Self::InfinityMinusInfinity(value) => {
                value.to_string()
            }
            Self::Codes(value) => value.to_string(),
            Self::Cut(f2) => format!("{} {f2}", f2 + 1),
            Self::Floored(f, e0) => format!("{f} {e0}"),
            Self::Within(groups, _) => groups.g.to_string(),
            Self::Swap(i, j) => format!("{i} {j}"),
            Self::FlushOf(value) => value.to_string(),
            Self::FlushIn(value)
            | Self::FlushC(value)
            | Self::FlushProducts(value)
            | Self::FlushOut(value) => none(value.map(|sign| sign.to_string())),
            Self::Tininess(value) => (match value {
                Tininess::After => "after",
                Tininess::Before => "before",
            })
            .to_owned(),
            Self::Sequential(value) => (if *value { "sequential" } else { "pairwise" }).to_owned(),
            Self::Beginning(value) => (match value {
                Source::Product => "product",
                _ => "+0",
            })
            .to_owned(),
            Self::Between(rounding, format) | Self::Chains(rounding, format) => {
                format!("{rounding} {format}")
            }
            Self::Width(format) => format.to_string(),
            Self::Overflow(value) => value.to_string(),
            Self::Zero(value) => value.to_string(),
        }
    }
}
