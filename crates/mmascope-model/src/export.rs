//! Writes a unit's arithmetic as one source file that depends on nothing: C, CUDA C++, Rust, Python, SystemVerilog,
//! SMT-LIB 2.
//!
//! Every algorithm has a general form ([`Dpa::general`](crate::dpa::Dpa::general)). `run` walks a unit's program in
//! that form and makes an `ir::Module`: functions over integers of stated widths. Each language writes the
//! module in its own way and adds nothing to the arithmetic.

#![deny(clippy::float_arithmetic)]

mod add_mul;
mod build;
mod c;
mod fused;
mod grouped;
mod heading;
mod ieee;
mod integer;
mod ir;
mod naming;
mod numbers;
mod print;
mod python;
mod reserved;
mod result;
mod rounding;
mod run;
mod rust;
mod semi;
mod smt;
mod systemverilog;
mod terms;
mod tidy;

use crate::dpa::Unit;
use crate::error::{Error, Result};
use crate::isa::{Architecture, Instruction};

/// A language of source files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// C99 with `unsigned __int128` (GCC, Clang): words are `uint64_t`.
    C,
    /// CUDA C++, whose `dot` is a function for a GPU; plain C++ takes the file too. Words are `uint64_t`.
    Cuda,
    /// Rust: words are `u64`.
    Rust,
    /// Python 3: words are integers.
    Python,
    /// SystemVerilog: a package with a combinational function; arrays are packed, element 0 lowest.
    SystemVerilog,
    /// SMT-LIB 2 over bit-vectors (logic `QF_BV`): a `define-fun`.
    Smt2,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 6] = [
        Self::C,
        Self::Cuda,
        Self::Rust,
        Self::Python,
        Self::SystemVerilog,
        Self::Smt2,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cuda => "cuda",
            Self::Rust => "rust",
            Self::Python => "python",
            Self::SystemVerilog => "systemverilog",
            Self::Smt2 => "smt2",
        }
    }

    /// The name in sentences.
    fn title(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cuda => "CUDA C++",
            Self::Rust => "Rust",
            Self::Python => "Python",
            Self::SystemVerilog => "SystemVerilog",
            Self::Smt2 => "SMT-LIB 2",
        }
    }

    /// The language of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|language| language.name() == name)
            .ok_or_else(|| Error::unknown("language", name, Self::ALL.map(Self::name)))
    }
}

/// The source of an instruction's function: equal to [`Instruction::dot`] without modifiers.
///
/// The function is called `dot`, or what `function` says. A name of your own also makes room for several files in one:
/// in C, CUDA C++ and SMT-LIB 2, whose files share one space of names, whatever else the file defines has the
/// name and `_` in front, and SMT-LIB 2 does not set the logic; a package in SystemVerilog is the name with `_pkg`.
///
/// # Errors
/// [`Error::Unmodelled`]; [`Error::Argument`] where the unit has no source in any language, or the language does not take
/// the function's name, with the reason.
///
/// ```
/// use mmascope_model::{export::{self, Language}, isa::Catalogue};
///
/// let catalogue = Catalogue::built_in();
/// let row = catalogue.find("volta", "mma.m8n8k4.f32.f16.f16.f32")?;
/// let volta = catalogue.architecture("volta")?;
/// let source = export::instruction(volta, row, Language::C, None)?;
/// assert!(source.contains("uint64_t dot(const uint64_t a[4], const uint64_t b[4], uint64_t c)"));
/// let source = export::instruction(volta, row, Language::C, Some("v100"))?;
/// assert!(source.contains("uint64_t v100(const uint64_t a[4], const uint64_t b[4], uint64_t c)"));
/// # Ok::<(), mmascope_model::Error>(())
/// ```
pub fn instruction(
    architecture: &Architecture,
    row: &Instruction,
    language: Language,
    function: Option<&str>,
) -> Result<String> {
    let name = format!("{}:{}", row.architecture, row.name);
    let mut heading = vec![format!(
        "{} of {}: one element of D, bit for bit.",
        row.name, architecture.title
    )];
    let unit = row.unit()?;
    heading.extend(heading::of_unit(unit));
    heading.extend(heading::evidence(row, unit));
    write(unit, &name, heading, language, function)
}

/// The source of a unit's function: equal to [`Unit::dot`] without modifiers. The name is for people; the function is
/// called `dot`, or what `function` says, as for [`instruction`].
///
/// # Errors
/// [`Error::Argument`] where the unit has no source, or the language does not take the function's name, with the
/// reason.
pub fn unit(unit: &Unit, name: &str, language: Language, function: Option<&str>) -> Result<String> {
    let mut heading = vec![format!("{name}: one element of D, bit for bit.")];
    heading.extend(heading::of_unit(unit));
    write(unit, name, heading, language, function)
}

fn write(
    unit: &Unit,
    name: &str,
    mut heading: Vec<String>,
    language: Language,
    function: Option<&str>,
) -> Result<String> {
    if let Some(function) = function {
        naming::check(function, language)?;
    }
    let mut module = run::module(unit).map_err(|reason| {
        Error::Argument(format!(
            "{name} has no source in {}: {reason}",
            language.name()
        ))
    })?;
    module = tidy::tidy(module);
    let called = function.unwrap_or(naming::DEFAULT);
    heading.extend(heading::usage(unit, language, called));
    module.heading = heading;
    module.name = match function {
        Some(function) => format!("{function}_pkg"),
        None => format!("unit_{}", numbers::identifier(name)),
    };
    let text = match language {
        Language::C => c::source(&module, c::Variant::C),
        Language::Cuda => c::source(&module, c::Variant::Cuda),
        Language::Rust => rust::source(&module),
        Language::Python => python::source(&module),
        Language::SystemVerilog => systemverilog::source(&module),
        Language::Smt2 => smt::source(&module, function.is_some()),
    };
    match function {
        Some(function) => naming::named(&text, function, &module, language),
        None => Ok(text),
    }
}
