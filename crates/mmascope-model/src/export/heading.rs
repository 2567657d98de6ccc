//! The head of a source file: the unit, how well it is known, what is not known, how to call it.

use super::Language;
use crate::dpa::{Nan, Unit};
use crate::isa::Instruction;

/// Types and notation.
pub(super) fn of_unit(unit: &Unit) -> Vec<String> {
    let mut lines = vec![
        String::new(),
        format!("types       {}", unit.signature()),
        format!("arithmetic  {}", unit.program()),
    ];
    let general = unit.program().general();
    if general.to_string() != unit.program().to_string() {
        lines.push(format!("in general  {general}"));
    }
    if !unit.program().nan_is_known() {
        let what = match unit.program().output().nan {
            Nan::Any => "Which NaN a NaN result is, is not known (nan=any)",
            _ => "Which NaN an overflow gives, is not known",
        };
        lines.push(String::new());
        lines.push(format!(
            "{what}: here it is the default one, and every NaN is right."
        ));
    }
    lines
}

/// How well each parameter is known, the strongest first, and the notes.
pub(super) fn evidence(row: &Instruction, unit: &Unit) -> Vec<String> {
    let mut known: Vec<(crate::isa::Strength, Vec<String>)> = Vec::new();
    for parameter in unit.program().parameters() {
        let level = row.evidence.of(parameter.name);
        let text = match &*parameter.statement {
            "" => format!("{}={}", parameter.name, parameter.value),
            statement => format!("{statement}: {}={}", parameter.name, parameter.value),
        };
        match known.iter_mut().find(|(own, _)| *own == level) {
            Some((_, all)) => all.push(text),
            None => known.push((level, vec![text])),
        }
    }
    known.sort_by_key(|(level, _)| *level);
    let mut lines = vec![String::new()];
    for (level, all) in known {
        lines.push(format!(
            "evidence    {level} ({}): {}",
            level.words(),
            all.join(", ")
        ));
    }
    for note in &row.notes {
        lines.push(format!("note        {note}"));
    }
    for source in &row.sources {
        lines.push(format!("source      {source}"));
    }
    lines
}

/// How the function of that name is called.
pub(super) fn usage(unit: &Unit, language: Language, function: &str) -> Vec<String> {
    let signature = unit.signature();
    let scales = match signature.scale {
        Some(_) => ", scale_a, scale_b",
        None => "",
    };
    let call = format!("{function}(a, b, c{scales})");
    let text = match language {
        Language::SystemVerilog => format!(
            "{call}: every operand is a register word; element k of an array of W-bit words is [W*k +: W]."
        ),
        Language::Smt2 => format!(
            "The function {function} takes the register words of a (a_0, a_1 …), b, c{} as bit-vectors.",
            if scales.is_empty() {
                ""
            } else {
                " and the scales"
            }
        ),
        _ => format!("{call}: every operand and the result are register words, one a number."),
    };
    vec![String::new(), text]
}
