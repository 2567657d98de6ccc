//! An instruction taken apart for evaluation: its opcode, its modifiers, the formats of its operands.

use super::exact::Style;
use super::{Enclosure, order};
use crate::format::{Format, Rounding};
use crate::precision::resolve::{Step, element};

/// The words of an instruction's name that say what its operands are.
pub(super) fn types(step: &Step) -> Vec<Format> {
    step.instruction
        .split('.')
        .skip(1)
        .filter_map(element)
        .collect()
}

pub(super) fn source_format(step: &Step, position: usize) -> Format {
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

/// An instruction taken apart for evaluation.
pub(super) struct Plan<'a> {
    pub(super) opcode: &'a str,
    pub(super) symbol: &'a str,
    pub(super) style: Style,
    pub(super) approximate: bool,
    /// Whether operands have a narrower type than the result.
    pub(super) mixed: bool,
    /// `.NaN`: the smaller or larger of a NaN and a number is NaN.
    pub(super) keeps_nan: bool,
}

/// Why no value is known of instructions with one of these words, or of this name.
const UNKNOWN: &[(&str, &str)] = &[
    (
        "cvt.rn.ftz.bf16.f64",
        "the f32 in between flushes, which is not modelled near the smallest normal number",
    ),
    (
        "mma",
        "a matrix instruction's operands are not numbers; its dot products are computed by the model of the unit",
    ),
    (
        "call mmaf",
        "which instructions the compiler chooses for this product is not established",
    ),
    (
        "wgmma",
        "a matrix instruction's operands are not numbers; its dot products are computed by the model of the unit",
    ),
    (
        "tcgen05",
        "a matrix instruction's operands are not numbers; its dot products are computed by the model of the unit",
    ),
    (
        "scaled::n1::ue8m0",
        "when a scaled conversion rounds is not established",
    ),
    (
        "scaled::n2::ue8m0",
        "when a scaled conversion rounds is not established",
    ),
    (
        "oob",
        "what .oob takes for out of bounds is not established",
    ),
    (
        "xorsign",
        "the smaller or larger of magnitudes with .xorsign is not covered",
    ),
    ("setp", "its result is a predicate, no number"),
    (
        "set",
        "its result is a mask or a flag of a comparison, which is not covered",
    ),
];

impl<'a> Plan<'a> {
    /// Why no value of a step is known, whatever its operands.
    pub(super) fn unknown(step: &Step) -> Option<String> {
        let found = UNKNOWN.iter().find(|(word, _)| {
            step.instruction == *word || step.instruction.split('.').any(|part| part == *word)
        });
        found.map(|(_, reason)| format!("no value is known: {reason}"))
    }

    pub(super) fn of(step: &'a Step) -> Self {
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
        Self {
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
            keeps_nan: has("NaN"),
            mixed: opcode != "cvt" && types(step).len() > 1,
        }
    }

    /// Whether the extremes over the operands lie at their ends.
    pub(super) fn is_monotone(&self, operands: &[Enclosure]) -> bool {
        let format = &self.style.format;
        let crosses =
            |operand: &Enclosure| order(format, operand.lo) < 0 && order(format, operand.hi) >= 0;
        match self.opcode {
            "add" | "sub" | "mul" | "fma" | "mad" | "neg" | "min" | "max" | "ex2" | "lg2"
            | "sqrt" | "tanh" | "cvt" => true,
            "div" => !crosses(&operands[1]),
            "rcp" | "rsqrt" => !crosses(&operands[0]),
            "abs" => !crosses(&operands[0]),
            _ => false,
        }
    }

    /// Whether a conversion is between floats of 16 bits or more, one element each.
    pub(super) fn is_plain_conversion(&self, step: &Step) -> bool {
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
