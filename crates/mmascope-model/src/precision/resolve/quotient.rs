//! Quotients: reciprocals, reciprocal roots and approximations among them.

use super::flags::Fmf;
use super::graph::{Mode, Settings};
use super::policy::Policy;
use super::select::Lowering;
use super::step::StepOperand;
use super::{Note, Severity};
use crate::explain::number_word;
use crate::format::{BF16, F16, F32, F64, Format};

impl Lowering<'_> {
    /// A quotient: reciprocal, reciprocal root, approximations. `root` is the divisor's root, if it is one.
    pub(super) fn quotient(
        &mut self,
        args: &[StepOperand],
        settings: Settings,
        root: Option<Settings>,
    ) -> StepOperand {
        let one = number_word("one", "1", &self.format, true)
            .map(StepOperand::Word)
            .ok();
        let reciprocal = Some(args[0]) == one;
        let single = matches!(self.format, F32 | F16 | BF16);
        let (arm, rule) = match (settings.rounding, self.context.policy) {
            (Some(mode @ (Mode::Approx | Mode::Full)), _) => (mode, "approx/explicit"),
            (Some(mode), _) => (mode, "operation/explicit-rounding"),
            // LLVM's option, where it is given, counts more than the flag.
            (None, Policy::Llvm)
                if settings.flags.has(Fmf::AFN) && single && self.context.prec_div.is_none() =>
            {
                (Mode::Approx, "approx/afn")
            }
            (None, Policy::Llvm | Policy::LibNvvm) if single => {
                match self.context.precise_division() {
                    0 if self.context.policy == Policy::Llvm => (Mode::Approx, "approx/option"),
                    // There is no full-range reciprocal; LLVM takes the approximation.
                    1 if self.context.policy == Policy::Llvm && reciprocal => {
                        (Mode::Approx, "approx/option")
                    }
                    0 | 1 => (Mode::Full, "approx/option"),
                    _ => (Mode::Rn, "operation/division"),
                }
            }
            _ => (Mode::Rn, "operation/division"),
        };
        if self.context.policy == Policy::LibNvvm && settings.flags.has(Fmf::AFN) && single {
            self.say(Note::new(
                Severity::Note,
                "libnvvm/afn",
                "libNVVM ignores afn on a division",
            ));
        }
        if settings.flags.has(Fmf::ARCP) && self.context.policy != Policy::Seed {
            let text = "arcp alone changes nothing about a single quotient by a variable";
            self.say(Note::new(Severity::Note, "operation/arcp", text));
        }
        if reciprocal_of_double(&self.format, args[0], self.context.policy)
            && settings.rounding.is_none()
        {
            let inverse = self.emit("rcp.rn.f64", &args[1..], rule);
            return self.emit("neg.f64", &[inverse], rule);
        }
        // LLVM asks the root alone for afn, whatever the quotient carries.
        let rootless =
            settings.rounding.is_none() && reciprocal && self.context.policy == Policy::Llvm;
        if let Some(inner) =
            root.filter(|inner| rootless && inner.flags.has(Fmf::AFN) && inner.rounding.is_none())
            && let Some(operand) = self.approximate_root(args[1], settings.flags.join(inner.flags))
        {
            let flush = if self.function_flushes() || settings.flush {
                ".ftz"
            } else {
                ""
            };
            let result = self.emit(
                &format!("rsqrt.approx{flush}.f32"),
                &[operand],
                "approx/afn",
            );
            return match self.format {
                F32 => result,
                narrow => self.emit_as(
                    &format!("cvt.rn.{narrow}.f32"),
                    self.narrowing(),
                    &[result],
                    "operation/narrowed",
                ),
            };
        }
        let stem = match (reciprocal, arm) {
            (true, Mode::Full) | (false, _) => "div",
            (true, _) => "rcp",
        };
        let operands = if stem == "rcp" { &args[1..] } else { args };
        // LLVM's level 3 is IEEE without a flush, whatever the function's mode; level 2 follows the mode.
        let keeps = self.context.policy == Policy::Llvm
            && self.context.prec_div == Some(3)
            && settings.rounding.is_none();
        match self.format {
            F16 | BF16 => {
                let flush = if self.function_flushes() && !keeps {
                    ".ftz"
                } else {
                    ""
                };
                self.promoted(operands, settings.flags, rule, |name| {
                    name(&format!("{stem}.{arm}"), flush)
                })
            }
            F64 => {
                let name = format!("{stem}.{arm}{}.f64", self.flush_suffix(settings, true));
                self.emit(&name, operands, rule)
            }
            _ => {
                let flush = if keeps && !settings.flush {
                    String::new()
                } else {
                    self.flush_suffix(settings, true)
                };
                let name = format!("{stem}.{arm}{flush}.{}", self.format);
                self.emit(&name, operands, rule)
            }
        }
    }

    /// What an approximate root in f32 is taken of, where the root is not rounded to a narrow type in between.
    fn approximate_root(&self, value: StepOperand, flags: Fmf) -> Option<StepOperand> {
        let value = match self.format {
            F32 => value,
            _ if flags.has(Fmf::CONTRACT) => {
                self.loose.iter().find(|(rounded, _)| *rounded == value)?.1
            }
            _ => return None,
        };
        match value {
            StepOperand::Step(step) if self.steps[step].instruction.starts_with("sqrt.approx") => {
                self.steps[step].operands.first().copied()
            }
            _ => None,
        }
    }
}

/// Whether a numerator is −1 in f64, of which LLVM makes a negated reciprocal.
fn reciprocal_of_double(format: &Format, numerator: StepOperand, policy: Policy) -> bool {
    let minus_one = number_word("minus one", "-1", format, true).map(StepOperand::Word);
    *format == F64 && policy == Policy::Llvm && minus_one.ok() == Some(numerator)
}
