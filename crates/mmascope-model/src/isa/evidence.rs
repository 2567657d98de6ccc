//! Evidence: how well each parameter of a row is known.

use crate::dpa::schema::all_parameters;
use crate::error::{Error, Result};

/// Strength of evidence, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Strength {
    /// A recorded hardware result fixes it.
    Hardware,
    /// Two independent teams state it.
    TwoTeams,
    /// One team states it.
    OneTeam,
    /// The vendor's simulator computes it so; no hardware result was compared.
    Simulator,
    /// Vendor documentation, or what a compiler was seen to emit.
    Documented,
    /// Disputed or unknown; the value is the best guess there is.
    Open,
    /// No source states it; it is what one would expect.
    Assumed,
}

const NAMES: [(&str, Strength); 7] = [
    ("hw", Strength::Hardware),
    ("2team", Strength::TwoTeams),
    ("1team", Strength::OneTeam),
    ("sim", Strength::Simulator),
    ("doc", Strength::Documented),
    ("open", Strength::Open),
    ("assumed", Strength::Assumed),
];

/// What evidence can be given for beside the parameters of the schema, because it stands in the notation without a name:
/// the rounding of the result, which k when (`order`), where c enters (`c`), how operands are read.
const UNNAMED: [&str; 6] = ["rounding", "order", "c", "widened", "part-a", "part-b"];

/// The names of the parameters that evidence can be given for.
pub(crate) fn parameters() -> impl Iterator<Item = &'static str> + Clone {
    let of_schema = all_parameters().map(|parameter| parameter.symbol);
    of_schema.chain(UNNAMED)
}

impl Strength {
    /// The level of that name: `hw 2team 1team sim doc open assumed`.
    ///
    /// # Errors
    /// [`Error::Unknown`].
    pub fn named(name: &str) -> Result<Self> {
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, level)| *level)
            .ok_or_else(|| Error::unknown("evidence", name, NAMES.iter().map(|(known, _)| *known)))
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Hardware => "recorded hardware results",
            Self::TwoTeams => "two independent teams",
            Self::OneTeam => "one team",
            Self::Simulator => "bit-exact to the vendor's simulator, not compared with hardware",
            Self::Documented => "documentation or compiler output",
            Self::Open => "open: disputed or unknown",
            Self::Assumed => "assumed: no source states it",
        }
    }
}

impl std::fmt::Display for Strength {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(
            NAMES
                .iter()
                .find(|(_, level)| level == self)
                .map_or("", |(name, _)| name),
        )
    }
}

/// Evidence of a row: one level for all parameters, with exceptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The level of every parameter without one of its own.
    pub default: Strength,
    /// Parameters with another level.
    pub exceptions: Vec<(String, Strength)>,
}

impl Evidence {
    /// The level of a parameter.
    #[must_use]
    pub fn of(&self, parameter: &str) -> Strength {
        let exception = self.exceptions.iter().find(|(name, _)| name == parameter);
        exception.map_or(self.default, |(_, level)| *level)
    }

    /// The level of the whole, where it is one that leaves the results in doubt: open or assumed.
    #[must_use]
    pub fn doubt(&self) -> Option<Strength> {
        (self.default >= Strength::Open).then_some(self.default)
    }
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.default)?;
        self.exceptions
            .iter()
            .try_for_each(|(name, level)| write!(out, " {name}={level}"))
    }
}
