//! The parameters of the model space: names and values; how each is changed in a program (`apply`),
//! and which values it has (`domains`).

mod apply;
mod domains;
mod of_c;
mod parts;

pub(crate) use domains::{
    defaults, domains, first_fused, nearly_alike, normalised_or_widened, products_only,
};
pub(crate) use parts::Part;

use crate::dpa::schema::{Parameter, Roundings, Value, parameter, parameters as p};
use crate::dpa::{GroupExponent, Groups, Program, Signature, Start};
use crate::format::{Format, Rounding};

/// A change of a program: one parameter with a value, or several that are changed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// One parameter of the schema.
    Of(&'static str, Value),
    /// Fraction bits of products or groups, and of c where it has the same.
    F(Option<u32>),
    /// F and the floor, Fc as far from F as it was: the grid at the floor stays where they change alike.
    Floored(u32, i32),
    /// Products and c.
    Align(Rounding),
    Groups(Option<Groups>),
    /// The alignment is that of these groups, whose sums are aligned to so many bits; without a number as
    /// c is, what looks like its own alignment being that of all.
    Within(Groups, Option<u32>),
    /// So many bits of the sum's own, of a grid with one more: what an alignment to so many looks like but
    /// where a sum borrows or carries. The rounding is that of the alignment, and of the sum.
    Cut(u32, Rounding),
    /// Two places of the order change, so that two k are of other groups.
    Swap(usize, usize),
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
}

/// The parameters that [`Setting::Groups`] changes together.
pub(crate) static IN_GROUPS: [&Parameter; 6] = [
    &p::G,
    &p::GROUPS,
    &p::FG,
    &p::ALIGN_G,
    &p::EXPONENT_G,
    &p::ZERO_G,
];

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

/// The program with every uncommon parameter at its default.
pub(crate) fn plain(signature: &Signature, program: &Program) -> Program {
    let defaults = defaults(signature, program);
    let uncommon = defaults.iter().filter(|setting| setting.is_uncommon());
    uncommon.fold(program.clone(), |plain, setting| {
        setting.apply(&plain, signature).unwrap_or(plain)
    })
}

impl Setting {
    /// A parameter with a value.
    pub(crate) fn of(parameter: &'static Parameter, value: Value) -> Self {
        Self::Of(parameter.symbol, value)
    }

    /// A parameter with a number of bits, a limit or so.
    pub(crate) fn number(parameter: &'static Parameter, number: i32) -> Self {
        Self::of(parameter, Value::Number(number))
    }

    /// A parameter with the first of its words, which says of most that it is not there.
    pub(crate) fn none(parameter: &'static Parameter) -> Self {
        let word = parameter.kind.words.first().copied().unwrap_or_default();
        Self::of(parameter, Value::Word(word))
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

    /// Whether it sets this parameter, and nothing else.
    pub(crate) fn is_of(&self, parameter: &Parameter) -> bool {
        matches!(self, Self::Of(symbol, _) if *symbol == parameter.symbol)
    }

    /// Whether it is a rule of results that may hold between steps or at the end alone.
    pub(crate) fn is_of_results(&self) -> bool {
        let rules = [&p::OVERFLOW, &p::ZERO, &p::FLUSH_RESULT];
        rules.iter().any(|rule| self.is_of(rule))
    }

    /// The parameter's name, as in the notation and in `infer --json`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Of(symbol, _) => symbol,
            Self::F(_) => p::F.symbol,
            Self::Floored(..) => "F-e0",
            Self::Align(_) => p::ALIGN.symbol,
            Self::Groups(_) | Self::Within(..) => p::GROUPS.symbol,
            Self::Cut(..) => "F-F2",
            Self::Swap(..) => "swap",
            Self::Beginning(_) => "from",
            Self::Between(..) => "rounding-between",
            Self::Chains(..) => "rounding-chains",
            Self::End(_) | Self::Everywhere(_) => "rounding",
            Self::Width(_) => "width",
        }
    }

    /// Whether a unit is believed to have it only where nothing simpler gives its answers.
    pub(crate) fn is_uncommon(&self) -> bool {
        match parameter(self.name()) {
            Some(parameter) => parameter.cost >= Parameter::UNCOMMON,
            // Several at once.
            None => matches!(self, Self::Swap(..) | Self::Cut(..)),
        }
    }

    /// The value, as the notation writes it.
    pub(crate) fn value(&self) -> String {
        let bits = |bits: &Option<u32>| bits.map_or("exact".to_owned(), |bits| bits.to_string());
        match self {
            Self::Of(_, value) => value.to_string(),
            Self::F(value) => bits(value),
            Self::Align(value) | Self::End(value) | Self::Everywhere(value) => value.to_string(),
            Self::Groups(None) => "none".to_owned(),
            Self::Groups(Some(groups)) => {
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
            }
            Self::Cut(f2, floor) => format!("F={} F2={f2} floor={floor}", f2 + 1),
            Self::Floored(f, e0) => format!("F={f} e0={e0}"),
            Self::Within(groups, _) => groups.g.to_string(),
            Self::Swap(i, j) => format!("{i} {j}"),
            Self::Beginning(value) => (match value {
                Start::Product => "product",
                _ => "+0",
            })
            .to_owned(),
            Self::Between(rounding, format) | Self::Chains(rounding, format) => {
                format!("{rounding} {format}")
            }
            Self::Width(format) => format.to_string(),
        }
    }
}
