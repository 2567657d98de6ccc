//! What was chosen: instructions with their operands, in order.

use crate::format::Format;

/// Where an instruction takes an operand from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
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
    pub operands: Vec<Operand>,
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

    /// The names as PTX text has them.
    pub fn names(&self) -> Vec<String> {
        if self.emulation.is_empty() {
            vec![self.instruction.clone()]
        } else {
            self.emulation.iter().map(|&name| name.to_owned()).collect()
        }
    }
}
