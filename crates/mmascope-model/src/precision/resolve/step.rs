//! The chosen instructions with their operands, in order.

use super::instruction::element;
use crate::format::Format;

/// Where an instruction takes an operand from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepOperand {
    /// The input of that number.
    Input(usize),
    /// A register word.
    Word(u64),
    /// The result of the step of that number.
    Step(usize),
}

/// One chosen instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The instruction's name with its modifiers, `fma.rn.f32`; or `call` and a library's symbol.
    pub instruction: String,
    /// The instructions that do its work where the target does not have it; empty where it has.
    pub emulation: Vec<&'static str>,
    /// Its operands.
    pub operands: Vec<StepOperand>,
    /// The format of its result.
    pub format: Format,
    /// The rule that chose it.
    pub rule: String,
}

impl Step {
    /// Whether it calls a library's function.
    #[must_use]
    pub fn is_call(&self) -> bool {
        self.instruction.starts_with("call ")
    }

    /// How many elements its result holds: two for `add.rn.f16x2`, four for `cvt.rs.satfinite.e4m3x4.f32`.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.types().first().map_or(1, |name| lanes_of(name))
    }

    /// The words of its name that are types.
    pub fn types(&self) -> Vec<&str> {
        let words = self.instruction.split('.').skip(1);
        words.filter(|word| element(word).is_some()).collect()
    }

    /// The names as PTX text has them.
    pub fn names(&self) -> Vec<String> {
        if self.emulation.is_empty() {
            vec![self.instruction.clone()]
        } else {
            self.emulation.iter().map(|&name| name.to_owned()).collect()
        }
    }
}

/// How many elements a PTX type packs.
pub(super) fn lanes_of(name: &str) -> usize {
    match (name.ends_with("x2"), name.ends_with("x4")) {
        (true, _) => 2,
        (_, true) => 4,
        _ => 1,
    }
}
