//! Evaluating what was resolved: instruction by instruction, with what is known of every value.

use super::approximate::Approximation;
use super::conversion;
use super::exact::{self, Style};
use super::plan::{Plan, source_format};
use super::table::Functions;
use super::{Enclosure, order};
use crate::error::{Error, Result};
use crate::explain::number_word;
use crate::format::{Class, Format, Overflow};
use crate::precision::legal::Target;
use crate::precision::resolve::{Resolution, Step, StepOperand};

/// Evaluates resolutions with a table of functions.
#[derive(Clone, Copy, Debug)]
pub struct Evaluator<'a> {
    /// What is known of approximate functions.
    pub functions: &'a Functions,
    /// The target whose primitives are meant.
    pub target: Target,
}

/// Evaluates a resolution with the shipped table. Inputs are register words, one for each name in
/// [`Resolution::inputs`].
///
/// # Errors
/// [`Error::Argument`] when the number of inputs is wrong or an instruction cannot be evaluated.
pub fn evaluate(resolution: &Resolution, target: Target, inputs: &[u64]) -> Result<Enclosure> {
    let evaluator = Evaluator {
        functions: Functions::built_in(),
        target,
    };
    evaluator.evaluate(resolution, inputs)
}

impl Resolution {
    /// The format of an input: of its first taker's operands.
    #[must_use]
    pub fn input_format(&self, index: usize) -> Format {
        if self.inputs.get(index).is_some_and(|name| name == "rbits")
            && let Ok(word) = Format::named("uint32")
        {
            return word;
        }
        let taker = self.steps.iter().find_map(|step| {
            let position = step
                .operands
                .iter()
                .position(|operand| *operand == StepOperand::Input(index))?;
            Some(source_format(step, position))
        });
        taker.unwrap_or(self.format)
    }

    /// The format of the result.
    #[must_use]
    pub fn result_format(&self) -> Format {
        match self.result {
            StepOperand::Step(step) => self.steps[step].format,
            _ => self.format,
        }
    }

    /// How many elements the result packs.
    #[must_use]
    pub fn result_lanes(&self) -> usize {
        match self.result {
            StepOperand::Step(step) => self.steps[step].lanes(),
            _ => 1,
        }
    }

    /// Why no value of it is known, whatever the inputs; `None` where one is or an enclosure is.
    #[must_use]
    pub fn unknown(&self) -> Option<String> {
        self.steps.iter().find_map(Plan::unknown)
    }

    /// The input words of one evaluation, read from values as people write them, rounded to nearest even.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the value.
    pub fn words(&self, values: &[String]) -> Result<Vec<u64>> {
        let word = |(index, text): (usize, &String)| {
            let format = self.input_format(index);
            number_word("value", text, &format, true)
        };
        values.iter().enumerate().map(word).collect()
    }
}

impl Evaluator<'_> {
    /// Evaluates a resolution. Inputs are register words.
    ///
    /// # Errors
    /// [`Error::Argument`] when the number of inputs is wrong or an instruction cannot be evaluated.
    pub fn evaluate(&self, resolution: &Resolution, inputs: &[u64]) -> Result<Enclosure> {
        if inputs.len() != resolution.inputs.len() {
            return Err(Error::Argument(format!(
                "value: {} values, not {}; one for each of {}",
                resolution.inputs.len(),
                inputs.len(),
                resolution.inputs.join(" ")
            )));
        }
        let mut values: Vec<Enclosure> = Vec::new();
        for step in &resolution.steps {
            let operands: Vec<Enclosure> = step
                .operands
                .iter()
                .map(|operand| value(*operand, inputs, &values))
                .collect();
            values.push(self.step(step, &operands)?);
        }
        let result = value(resolution.result, inputs, &values);
        if !resolution.is_open() {
            return Ok(result);
        }
        // Another order gives another result, and nothing bounds it.
        let format = resolution.result_format();
        let [lo, hi] = [true, false]
            .map(|negative| format.to_register(format.infinity(negative, Overflow::Ieee)));
        Ok(Enclosure {
            out: result.out,
            lo,
            hi,
            bound: Some("the compiler may combine further".to_owned()),
        })
    }

    /// One instruction on operands of which intervals are known.
    fn step(&self, step: &Step, operands: &[Enclosure]) -> Result<Enclosure> {
        let unmodelled = |reason: String| Error::Unmodelled {
            name: step.instruction.clone(),
            reason,
        };
        if let Some(reason) = Plan::unknown(step) {
            return Err(unmodelled(reason));
        }
        let plan = Plan::of(step);
        let is_known = operands.iter().all(Enclosure::is_known);
        if plan.opcode == "cvt" && (is_known || !plan.is_plain_conversion(step)) {
            if !is_known {
                let reason = "no value is known: its operand's bits are not";
                return Err(unmodelled(reason.to_owned()));
            }
            let words: Vec<u64> = operands.iter().map(|operand| operand.out).collect();
            return self.conversion(step, &words);
        }
        if step.lanes() > 1 {
            return self.elements(step, operands);
        }
        let points = |words: &[u64]| self.point(&plan, step, words);
        let outs: Vec<u64> = operands.iter().map(|operand| operand.out).collect();
        let center = points(&outs)?;
        if is_known {
            return Ok(center);
        }
        let bound = operands
            .iter()
            .find_map(|operand| operand.bound.clone())
            .or(center.bound.clone());
        let whole = || {
            let format = plan.style.format;
            let [lo, hi] = [true, false]
                .map(|negative| format.to_register(format.infinity(negative, Overflow::Ieee)));
            Enclosure {
                out: center.out,
                lo,
                hi,
                bound: Some("none documented".to_owned()),
            }
        };
        if !plan.is_monotone(operands) {
            return Ok(whole());
        }
        let (mut lo, mut hi) = (center.lo, center.hi);
        let format = plan.style.format;
        for corner in 0..1_u32 << operands.len() {
            let words: Vec<u64> = operands
                .iter()
                .enumerate()
                .map(|(index, operand)| {
                    if corner >> index & 1 == 0 {
                        operand.lo
                    } else {
                        operand.hi
                    }
                })
                .collect();
            let result = points(&words)?;
            if [result.lo, result.hi, center.out]
                .iter()
                .any(|&word| is_nan(&format, word))
            {
                return Ok(whole());
            }
            if order(&format, result.lo) < order(&format, lo) {
                lo = result.lo;
            }
            if order(&format, result.hi) > order(&format, hi) {
                hi = result.hi;
            }
        }
        Ok(Enclosure {
            out: center.out,
            lo,
            hi,
            bound,
        })
    }

    /// An instruction on packed operands: each element by itself.
    fn elements(&self, step: &Step, operands: &[Enclosure]) -> Result<Enclosure> {
        let lanes = step.lanes();
        let types = step.types();
        let name = |word: &str| match word.strip_suffix("x2") {
            Some(plain) if types.contains(&word) => plain.to_owned(),
            _ => word.to_owned(),
        };
        let words: Vec<String> = step.instruction.split('.').map(name).collect();
        let element = Step {
            instruction: words.join("."),
            ..step.clone()
        };
        let results: Vec<Enclosure> = (0..lanes)
            .map(|lane| {
                let own: Vec<Enclosure> =
                    operands.iter().skip(lane).step_by(lanes).cloned().collect();
                self.step(&element, &own)
            })
            .collect::<Result<_>>()?;
        conversion::packed(step, &step.format, &results)
    }

    /// One instruction on words.
    fn point(&self, plan: &Plan<'_>, step: &Step, words: &[u64]) -> Result<Enclosure> {
        let style = &plan.style;
        let known = |word: u64| Ok(Enclosure::known(word));
        let wrong = || Error::Unmodelled {
            name: step.instruction.clone(),
            reason: "no value is known for these inputs".to_owned(),
        };
        match (plan.opcode, words) {
            ("add" | "sub" | "mul" | "fma" | "mad", _) if plan.mixed => {
                let wide: Vec<u64> = words
                    .iter()
                    .enumerate()
                    .map(|(index, &word)| exact::convert(&source_format(step, index), style, word))
                    .collect();
                self.arithmetic(plan, &wide)
                    .ok_or_else(wrong)?
                    .map(Enclosure::known)
            }
            ("add" | "sub" | "mul" | "fma" | "mad", _) => self
                .arithmetic(plan, words)
                .ok_or_else(wrong)?
                .map(Enclosure::known),
            ("div", &[a, b]) if plan.approximate => self.approximate_quotient(plan, step, a, b),
            ("div", &[a, b]) => known(style.divide(a, b)),
            ("rcp", &[x]) if !plan.approximate => {
                let one = number_word("one", "1", &style.format, true)?;
                known(style.divide(one, x))
            }
            ("sqrt", &[x]) if !plan.approximate => known(style.square_root(x)),
            ("neg", &[x]) => known(style.operand(x) ^ sign(&style.format)),
            ("abs", &[x]) => known(style.operand(x) & !sign(&style.format)),
            ("min" | "max", &[x, y]) => known(smaller(plan, style.operand(x), style.operand(y))),
            ("cvt", _) => self.conversion(step, words),
            ("rcp" | "rsqrt" | "sqrt" | "lg2" | "ex2" | "sin" | "cos" | "tanh", &[x]) => {
                let approximation = self.approximation(step, plan.opcode, *style);
                if approximation.is_unseen_nan(x) {
                    return Err(Error::Unmodelled {
                        name: step.instruction.clone(),
                        reason: "no value is known: only the upper word reaches the unit, and of this NaN it is \
                                 an infinity's"
                            .to_owned(),
                    });
                }
                Ok(approximation.of(x))
            }
            ("copysign", &[a, b]) => known((a & sign(&style.format)) | (b & !sign(&style.format))),
            ("call", _) => self.library(plan, words).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    fn approximation<'a>(
        &'a self,
        step: &'a Step,
        function: &'a str,
        style: Style,
    ) -> Approximation<'a> {
        Approximation {
            functions: self.functions,
            target: self.target,
            name: &step.instruction,
            function,
            style,
        }
    }

    fn arithmetic(&self, plan: &Plan<'_>, words: &[u64]) -> Option<Result<u64>> {
        let style = &plan.style;
        match (plan.opcode, words) {
            ("add", &[x, y]) => Some(style.add(x, y)),
            // The difference of x and y is the sum of x and −y, also in its sign of zero; a NaN stays one.
            ("sub", &[x, y]) => Some(style.add(x, y ^ sign(&style.format))),
            ("mul", &[x, y]) => Some(style.multiply(x, y)),
            ("fma" | "mad", &[x, y, z]) => Some(style.fused(x, y, z)),
            _ => None,
        }
    }
}

fn value(operand: StepOperand, inputs: &[u64], values: &[Enclosure]) -> Enclosure {
    match operand {
        StepOperand::Input(index) => Enclosure::known(inputs[index]),
        StepOperand::Word(word) => Enclosure::known(word),
        StepOperand::Step(step) => values[step].clone(),
    }
}

pub(super) fn sign(format: &Format) -> u64 {
    1 << (format.register.bits - 1)
}

fn is_nan(format: &Format, word: u64) -> bool {
    format.decode(format.from_register(word)).class == Class::Nan
}

/// The smaller or larger of two numbers; with one NaN the other, unless `.NaN` asks for it.
fn smaller(plan: &Plan<'_>, x: u64, y: u64) -> u64 {
    let format = &plan.style.format;
    match (is_nan(format, x), is_nan(format, y)) {
        (true, _) | (_, true) if plan.keeps_nan => return plan.style.nan(),
        (true, true) => return plan.style.nan(),
        (true, false) => return y,
        (false, true) => return x,
        _ => {}
    }
    let below = order(format, x) <= order(format, y);
    if below == (plan.opcode == "min") {
        x
    } else {
        y
    }
}
