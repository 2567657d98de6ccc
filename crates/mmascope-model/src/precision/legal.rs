//! Judges which targets take a PTX instruction: a form, the rules in `isa/ptx.txt`, and the answer with its reasons.
//!
//! The rules generalise what NVIDIA's assembler accepts (`precision.md` §2.1, §2.3, §2.6). They know nothing of
//! compilers or their policies: those choose instructions, the rules say where they exist.

mod form;
mod notation;
mod rule;
mod table;
mod target;

pub use form::InstructionForm;
pub use rule::Rule;
pub use table::Rules;
pub use target::{Suffix, Target};

use crate::error::Result;

/// What is wrong with a form, or on which targets it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is said to people.
    pub text: String,
    /// Where in the table the reason stands, for example `ptx.txt:34`.
    pub rule: String,
}

/// The targets that take one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Legality {
    /// The instruction as it was understood.
    pub form: InstructionForm,
    /// Every target of the table with the answer, in the table's order.
    pub targets: Vec<(Target, bool)>,
    /// The rules that allow the form somewhere.
    pub rules: Vec<&'static Rule>,
    /// Why the form is legal nowhere, or what the rules note about it.
    pub findings: Vec<Finding>,
}

impl Legality {
    /// The targets of an instruction, from the shipped rules.
    ///
    /// # Errors
    /// [`crate::Error::Unknown`] or [`crate::Error::Argument`] when the text is no instruction: an unknown
    /// opcode, modifier or type.
    ///
    /// ```
    /// use mmascope_model::precision::legal::{Legality, Target};
    /// let legality = Legality::of("cvt.rn.satfinite.e4m3x2.f32")?;
    /// assert!(legality.on("sm_89".parse()?)?);
    /// assert!(!legality.on("sm_86".parse()?)?);
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    pub fn of(text: &str) -> Result<Self> {
        Rules::built_in().legality(text)
    }

    /// Whether this target takes the instruction.
    ///
    /// # Errors
    /// [`crate::Error::Unknown`] when the rules do not know the target.
    pub fn on(&self, target: Target) -> Result<bool> {
        match self.targets.iter().find(|(known, _)| *known == target) {
            Some((_, legal)) => Ok(*legal),
            None => Err(target.unknown(self.targets.iter().map(|(known, _)| *known))),
        }
    }

    /// The targets that take it.
    pub fn legal(&self) -> impl Iterator<Item = Target> + '_ {
        let takes = |&&(_, legal): &&(Target, bool)| legal;
        self.targets.iter().filter(takes).map(|(target, _)| *target)
    }
}
