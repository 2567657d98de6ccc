//! The parameters of the model space: names and values; how each is changed in a program (`apply`),
//! and which values it has (`domains`).

mod apply;
mod domains;
mod of_c;
mod parts;

pub(crate) use domains::{defaults, domains, limit};
pub(crate) use parts::Part;

use crate::dpa::schema::{Parameter, Roundings, Value, parameter};
use crate::dpa::{Codes, FlushSign, GroupExponent, Groups, Start, Tininess, ZeroSign};
use crate::format::{Format, Overflow, Rounding};

/// A parameter with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// A parameter of a step, by its row: it concerns nothing else.
    Of(&'static str, Value),
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
    G(u32),
    Groups(Option<Groups>),
    /// The alignment is that of these groups, whose sums are aligned to so many bits; without a number as
    /// c is, what looks like its own alignment being that of all.
    Within(Groups, Option<u32>),
    F2(Option<u32>),
    /// So many bits of the sum's own, of a grid with one more: what an alignment to so many looks like but
    /// where a sum borrows or carries.
    Cut(u32),
    Normalised(bool),
    Products(Option<(Rounding, Format)>),
    /// What the ∞ and NaN codes of a and b are.
    Codes(Codes),
    /// What c is rounded to.
    RoundC(Option<(Rounding, Format)>),
    /// Two places of the order change, so that two k are of other groups.
    Swap(usize, usize),
    FlushIn(Option<FlushSign>),
    FlushC(Option<FlushSign>),
    FlushProducts(Option<FlushSign>),
    FlushOut(Option<FlushSign>),
    /// When a result counts as subnormal.
    Tininess(Tininess),
    P(u32),
    /// What fused sums begin with that c takes no part in: +0, or nothing.
    Beginning(Start),
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

/// The parameters of steps that have settings of their own, because they change together with others or
/// have values of their own kind. Every other one is changed by its row.
pub(crate) const OWN: [&str; 23] = [
    "L",
    "P",
    "F",
    "Fc",
    "e0",
    "align",
    "G",
    "groups",
    "Fg",
    "align-g",
    "exponent-g",
    "zero-g",
    "F2",
    "products",
    "flush-in",
    "flush-c",
    "flush-products",
    "flush-out",
    "round-c",
    "operands",
    "product-limit",
    "align-c",
    "floor",
];

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
    /// A parameter of a step with the value that says it is not there.
    pub(crate) fn absent(parameter: &'static Parameter) -> Option<Self> {
        let word = parameter
            .kind
            .words
            .first()
            .filter(|_| parameter.kind.absent)?;
        Some(Self::Of(parameter.symbol, Value::Word(word)))
    }

    /// Every value of a parameter that its row alone describes: words, roundings, and the first of a short
    /// range of numbers.
    pub(crate) fn all(parameter: &'static Parameter) -> Vec<Self> {
        let kind = parameter.kind;
        let words = kind.words.iter().map(|word| Value::Word(word));
        let numbers = kind.numbers.into_iter();
        let numbers = numbers
            .flat_map(|(low, high)| low..=high.min(low + 2))
            .map(Value::Number);
        let roundings = ALIGNMENTS.map(Value::Rounding).into_iter();
        let roundings = roundings.filter(|_| kind.rounding == Roundings::Alone);
        let all = words.chain(numbers).chain(roundings);
        all.map(|value| Self::Of(parameter.symbol, value)).collect()
    }

    /// The parameter's name, as in the notation and in `infer --json`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Of(symbol, _) => symbol,
            Self::L(_) => "L",
            Self::F(_) => "F",
            Self::Fc(_) => "Fc",
            Self::E0(_) => "e0",
            Self::Floored(..) => "F-e0",
            Self::Align(_) => "align",
            Self::G(_) => "G",
            Self::Groups(_) | Self::Within(..) => "groups",
            Self::F2(_) => "F2",
            Self::Cut(_) => "F-F2",
            Self::Normalised(_) | Self::Products(_) => "products",
            Self::Codes(_) => "codes",
            Self::RoundC(_) => "round-c",
            Self::Swap(..) => "swap",
            Self::FlushIn(_) => "flush-in",
            Self::FlushC(_) => "flush-c",
            Self::FlushProducts(_) => "flush-products",
            Self::FlushOut(_) => "flush",
            Self::Tininess(_) => "tininess",
            Self::P(_) => "P",
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
            Self::Of(_, value) => value.to_string(),
            Self::L(value) | Self::Fc(value) | Self::G(value) | Self::P(value) => value.to_string(),
            Self::F(value) => bits(value),
            Self::F2(value) => none(value.map(|bits| bits.to_string())),
            Self::E0(value) => none(value.map(|value| value.to_string())),
            Self::Align(value) | Self::End(value) | Self::Everywhere(value) => value.to_string(),
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
            Self::Products(value) | Self::RoundC(value) => value
                .map_or("exact".to_owned(), |(rounding, format)| {
                    format!("{rounding}:{format}")
                }),
            Self::Codes(value) => value.to_string(),
            Self::Cut(f2) => format!("{} {f2}", f2 + 1),
            Self::Floored(f, e0) => format!("{f} {e0}"),
            Self::Within(groups, _) => groups.g.to_string(),
            Self::Swap(i, j) => format!("{i} {j}"),
            Self::FlushIn(value)
            | Self::FlushC(value)
            | Self::FlushProducts(value)
            | Self::FlushOut(value) => none(value.map(|sign| sign.to_string())),
            Self::Tininess(value) => (match value {
                Tininess::After => "after",
                Tininess::Before => "before",
                Tininess::Unbounded => "unbounded",
            })
            .to_owned(),
            Self::Beginning(value) => (match value {
                Start::Product => "product",
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
