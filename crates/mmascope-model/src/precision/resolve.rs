//! The resolver: finds the instructions that a compiler chooses for an operation.
//!
//! Flags, denormal mode, reflect map, rounding and target go in; instructions with their modifiers, the rules that
//! chose them and diagnostics come out (`precision.md` §1, §3, §4). Which instructions exist is another question,
//! answered by [`super::legal`].

mod combine;
mod constant;
mod contract;
mod conversion;
mod denormal;
mod expression;
mod flags;
mod fold;
mod function;
mod graph;
mod instruction;
mod intrinsic;
mod library;
mod policy;
mod preset;
mod quotient;
mod reflect;
mod request;
mod sass;
mod select;
mod simplify;
mod step;
mod text;
mod tile;

pub use denormal::{Denormal, DenormalMode};
pub use flags::Fmf;
pub use graph::Mode;
pub(crate) use instruction::element;
pub(crate) use library::accurate;
pub use library::fast_names;
pub use policy::Policy;
pub use preset::Preset;
pub use reflect::{KEYS as REFLECT_KEYS, Origin, ReflectMap};
pub use request::{Request, Resolution, resolve};
pub use step::{Step, StepOperand};

use crate::format::{F32, Format};
use crate::precision::legal::Target;

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Something to know.
    Note,
    /// Something that is probably not meant.
    Warning,
    /// The combination is illegal.
    Error,
}

impl Severity {
    /// The word in JSON and text.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A diagnostic, with the rule that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How grave it is.
    pub severity: Severity,
    /// What is said.
    pub text: String,
    /// The rule, for example `llvm/contract`.
    pub rule: String,
    /// The number of the source document's deviation that it is about (docs/source-document.md).
    pub deviation: Option<u8>,
}

/// The rule of what compilers may do beyond what is given.
const OPEN: &str = "open";

impl Note {
    fn new(severity: Severity, rule: &str, text: &str) -> Self {
        Self {
            severity,
            text: text.to_owned(),
            rule: rule.to_owned(),
            deviation: None,
        }
    }

    fn fold(policy: Policy, rule: &str, text: &str) -> Self {
        Self::new(Severity::Note, &format!("{policy}/{rule}"), text)
    }

    /// Says that a compiler may go further than what is given, so that no result is known exactly.
    fn open(policy: Policy, reason: &str) -> Self {
        let text = format!("{reason}; the value is not known exactly");
        Self::new(Severity::Note, &format!("{policy}/{OPEN}"), &text)
    }

    /// Whether it says so.
    fn is_open(&self) -> bool {
        matches!(self.rule.split_once('/'), Some((_, rule)) if rule == OPEN)
    }

    fn deviating(mut self, number: u8) -> Self {
        self.deviation = Some(number);
        self.rule = format!("{} (deviation {number})", self.rule);
        if self.severity == Severity::Note {
            self.severity = Severity::Warning;
        }
        self
    }
}

/// What holds of a whole function while its operations are folded and lowered.
struct Context<'a> {
    policy: Policy,
    target: Target,
    /// The function's mode for f32.
    denormal: DenormalMode,
    /// The function's mode for the other types.
    denormal_other: DenormalMode,
    reflect: &'a ReflectMap,
    /// libNVVM's `-ftz=1`, or the flush that every operation asks for.
    flush: bool,
    /// libNVVM's `-fma`, which is on unless it is turned off.
    fma: bool,
    /// Precision of f32 divisions, as the compiler's option has it.
    prec_div: Option<u8>,
    /// Whether f32 roots are precise, as the compiler's option has it.
    prec_sqrt: Option<bool>,
}

impl Context<'_> {
    /// 0 approximate, 1 full range, 2 and 3 IEEE (LLVM's levels; libNVVM's 0 is the full-range form).
    fn precise_division(&self) -> u8 {
        match (self.policy, self.prec_div) {
            (_, None) => 3,
            (Policy::LibNvvm, Some(0)) => 1,
            (Policy::LibNvvm, Some(_)) => 3,
            (_, Some(level)) => level,
        }
    }

    /// Whether subnormal numbers of a type stay: then a difference from −0 is a negation, which never flushes.
    fn keeps_subnormals(&self, format: &Format) -> bool {
        let mode = if *format == F32 {
            self.denormal
        } else {
            self.denormal_other
        };
        let ieee = DenormalMode::default();
        self.policy != Policy::Llvm || mode == ieee
    }

    fn precise_root(&self) -> bool {
        self.prec_sqrt.unwrap_or(true)
    }
}
