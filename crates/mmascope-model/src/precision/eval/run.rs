//! Evaluating what was resolved: instruction by instruction, with what is known of every value.

use num_bigint::BigInt;

use super::approximate::{self, Approximation};
use super::exact::{self, Style};
use super::interval::Interval;
use super::table::{Bound, Documented, Functions};
use super::{Enclosure, order};
use crate::error::{Error, Result};
use crate::explain::number_word;
use crate::format::{Class, Format, Overflow, Rounding};
use crate::precision::legal::Target;
use crate::precision::resolve::{Operand, Resolution, Step, accurate, element};

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
        let taker = self.steps.iter().find_map(|step| {
            let position = step
                .operands
                .iter()
                .position(|operand| *operand == Operand::Input(index))?;
            Some(source_format(step, position))
        });
        taker.unwrap_or(self.format)
    }

    /// The format of the result.
    #[must_use]
    pub fn result_format(&self) -> Format {
        match self.result {
            Operand::Step(step) => self.steps[step].format,
            _ => self.format,
        }
    }

    /// The input words of one evaluation, read from values as people write them, rounded to nearest even.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the value.
    pub fn words(&self, values: &[String]) -> Result<Vec<u64>> {
        let word = |(index, text): (usize, &String)| {
            let format = self.input_format(index);
            number_word("--value", text, &format, true)
        };
        values.iter().enumerate().map(word).collect()
    }
}

/// The words of an instruction's name that say what its operands are.
fn types(step: &Step) -> Vec<Format> {
    step.instruction
        .split('.')
        .skip(1)
        .filter_map(element)
        .collect()
}

fn source_format(step: &Step, position: usize) -> Format {
    let types = types(step);
    match &types[..] {
        // add.f32.f16 takes the narrow type first and the wide one last.
        [to, from] if !step.instruction.starts_with("cvt") => {
            let last = position + 1 == step.operands.len();
            if last { *to } else { *from }
        }
        [_, from] => *from,
        _ => step.format,
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
                "--value: {} values, not {}; one for each of {}",
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
        Ok(value(resolution.result, inputs, &values))
    }

    /// One instruction on operands of which intervals are known.
    fn step(&self, step: &Step, operands: &[Enclosure]) -> Result<Enclosure> {
        let plan = Plan::of(step)?;
        let points = |words: &[u64]| self.point(&plan, step, words);
        let outs: Vec<u64> = operands.iter().map(|operand| operand.out).collect();
        let center = points(&outs)?;
        if operands.iter().all(Enclosure::is_known) {
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

    /// One instruction on words.
    fn point(&self, plan: &Plan<'_>, step: &Step, words: &[u64]) -> Result<Enclosure> {
        let style = &plan.style;
        let known = |word: u64| Ok(Enclosure::known(word));
        let wrong = || {
            Error::Argument(format!(
                "--value: '{}' has no evaluation here",
                step.instruction
            ))
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
            ("cvt", &[x]) if plan.is_plain_conversion(step) => {
                known(exact::convert(&source_format(step, 0), style, x))
            }
            ("rcp" | "rsqrt" | "sqrt" | "lg2" | "ex2" | "sin" | "cos" | "tanh", &[x])
                if style.format.name != "f64" =>
            {
                Ok(self.approximation(step, plan.opcode, *style).of(x))
            }
            ("call", &[x]) => self.library(plan, x).ok_or_else(wrong),
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

    /// `div.approx` and `div.full`: the reciprocal times the dividend, with the documented error.
    fn approximate_quotient(
        &self,
        plan: &Plan<'_>,
        step: &Step,
        a: u64,
        b: u64,
    ) -> Result<Enclosure> {
        let style = plan.style;
        let full = step.instruction.contains(".full");
        let (a, b) = (style.operand(a), style.operand(b));
        let (x, y) = (style.decode(a), style.decode(b));
        let known = |word: u64| Ok(Enclosure::known(style.result(word)));
        if x.class == Class::Nan || y.class == Class::Nan {
            return known(style.nan());
        }
        let magnitude = b & 0x7fff_ffff;
        let beyond = magnitude > 0x7e80_0000 && y.class == Class::Finite;
        if beyond && !full {
            // The reciprocal vanishes: ∞ times 0 is NaN, everything else a zero.
            let zero = style
                .format
                .to_register(style.format.zero(x.negative != y.negative));
            return known(if x.class == Class::Infinite {
                style.nan()
            } else {
                zero
            });
        }
        let special = y.class != Class::Finite || x.class != Class::Finite;
        if special {
            // The reciprocal of such a divisor is known, or its size does not matter.
            let one = number_word("one", "1", &style.format, true)?;
            let reciprocal = Style {
                flush: false,
                ..style
            }
            .divide(one, b);
            let reciprocal = if magnitude == 0 || y.class == Class::Infinite {
                reciprocal
            } else {
                (b & sign(&style.format)) | one
            };
            return known(style.multiply(a, reciprocal)?);
        }
        let (Some(x), Some(y)) = (x.exact(), y.exact()) else {
            return known(style.nan());
        };
        let quotient = exact::quotient(&x, &y);
        let low = Interval::point(&crate::format::Exact {
            sticky: false,
            ..quotient
        });
        let dust = Interval::of(
            BigInt::from(u8::from(quotient.sticky)),
            quotient.exponent.into(),
        );
        let value = low.widened(&dust);
        let subnormal = magnitude < 0x0080_0000;
        if subnormal && !full {
            return Ok(approximate::enclose(&style, &value, &Documented::NONE));
        }
        let one = Interval::of(BigInt::from(1), 0);
        Ok(approximate::enclose(
            &style,
            &value,
            &self.functions.bound(&step.instruction, &one),
        ))
    }

    /// A function of the library: correctly rounded, with the largest error that is documented.
    fn library(&self, plan: &Plan<'_>, x: u64) -> Option<Enclosure> {
        let (function, ulps) = accurate(plan.symbol)?;
        let functions = Functions::default();
        let approximation = Approximation {
            functions: &functions,
            target: self.target,
            name: "",
            function,
            style: plan.style,
        };
        let value = plan.style.decode(x);
        let special =
            value.class != Class::Finite || (value.negative && function.starts_with("log"));
        if special || function == "pow" || plan.style.format.name != "f32" {
            return (special && function != "pow").then(|| approximation.of(x));
        }
        let exact = value.exact()?;
        let value = approximate::value(function, &exact, &plan.style.format);
        let text = format!("{ulps} ulp of the rounded result (tests of the vendor, no proof)");
        let bound = Bound::UlpsOfRounded(ulps);
        let documented = Documented {
            bound: &bound,
            text: &text,
            power: None,
        };
        Some(approximate::enclose(&plan.style, &value, &documented))
    }
}

/// An instruction taken apart for evaluation.
struct Plan<'a> {
    opcode: &'a str,
    symbol: &'a str,
    style: Style,
    approximate: bool,
    /// Whether operands have a narrower type than the result.
    mixed: bool,
}

impl<'a> Plan<'a> {
    fn of(step: &'a Step) -> Result<Self> {
        let (opcode, symbol) = match step.instruction.strip_prefix("call ") {
            Some(symbol) => ("call", symbol),
            None => (step.instruction.split('.').next().unwrap_or(""), ""),
        };
        let has = |word: &str| step.instruction.split('.').any(|part| part == word);
        let rounding = [
            ("rz", Rounding::Rz),
            ("rm", Rounding::Rd),
            ("rp", Rounding::Ru),
        ];
        let rounding = rounding.iter().find(|(word, _)| has(word));
        if has("f16x2")
            || has("bf16x2")
            || has("f32x2")
            || has("NaN")
            || has("xorsign")
            || has("oob")
        {
            return Err(Error::Argument(format!(
                "--value: '{}' has no evaluation here; take the form of one element",
                step.instruction
            )));
        }
        Ok(Self {
            opcode,
            symbol,
            style: Style {
                format: step.format,
                rounding: rounding.map_or(Rounding::Rne, |(_, rounding)| *rounding),
                flush: has("ftz"),
                saturate: has("sat"),
                relu: has("relu"),
            },
            approximate: has("approx") || has("full"),
            mixed: opcode != "cvt" && types(step).len() > 1,
        })
    }

    /// Whether the extremes over the operands lie at their ends.
    fn is_monotone(&self, operands: &[Enclosure]) -> bool {
        let format = &self.style.format;
        let crosses =
            |operand: &Enclosure| order(format, operand.lo) < 0 && order(format, operand.hi) >= 0;
        match self.opcode {
            "add" | "sub" | "mul" | "fma" | "mad" | "neg" | "min" | "max" | "ex2" | "lg2"
            | "sqrt" | "tanh" | "cvt" => true,
            "div" => !crosses(&operands[1]) && !self.approximate,
            "rcp" | "rsqrt" => !crosses(&operands[0]),
            "abs" => !crosses(&operands[0]),
            _ => false,
        }
    }

    /// Whether a conversion is between floats of 16 bits or more, one element each.
    fn is_plain_conversion(&self, step: &Step) -> bool {
        let plain = ["f16", "bf16", "f32", "f64"];
        let types: Vec<&str> = step
            .instruction
            .split('.')
            .skip(1)
            .filter(|word| element(word).is_some())
            .collect();
        let words: Vec<&str> = step.instruction.split('.').collect();
        let other = ["satfinite", "rna", "rs", "pzo", "rni", "rzi", "rmi", "rpi"];
        types.len() == 2
            && types.iter().all(|name| plain.contains(name))
            && !words.iter().any(|word| other.contains(word))
    }
}

fn value(operand: Operand, inputs: &[u64], values: &[Enclosure]) -> Enclosure {
    match operand {
        Operand::Input(index) => Enclosure::known(inputs[index]),
        Operand::Word(word) => Enclosure::known(word),
        Operand::Step(step) => values[step].clone(),
    }
}

fn sign(format: &Format) -> u64 {
    1 << (format.register.bits - 1)
}

fn is_nan(format: &Format, word: u64) -> bool {
    format.decode(format.from_register(word)).class == Class::Nan
}

/// The smaller or larger of two numbers; with one NaN the other, unless `.NaN` asks for it.
fn smaller(plan: &Plan<'_>, x: u64, y: u64) -> u64 {
    let format = &plan.style.format;
    match (is_nan(format, x), is_nan(format, y)) {
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
