//! A PTX instruction as an operation: it is taken as it is written.

use super::graph::Settings;
use super::step::{Step, StepOperand, lanes_of};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::precision::legal::{InstructionForm, Rules};

/// Whether a text is a PTX instruction and no expression.
pub(super) fn is_one(text: &str) -> bool {
    let name = text.split_whitespace().next().unwrap_or("");
    let begins_like_one = name.contains('.') && !name.contains(['(', '*', '/', '+', '%', '@']);
    begins_like_one
        && name
            .split('.')
            .next()
            .is_some_and(|first| first.starts_with(|letter: char| letter.is_ascii_alphabetic()))
}

/// The step of an instruction, and the names of its inputs.
///
/// # Errors
/// [`Error::Argument`] when something else asks for what its name says.
pub(super) fn step(
    form: &InstructionForm,
    settings: Settings,
    rules: &Rules,
) -> Result<(Step, Vec<String>)> {
    if settings.rounding.is_some() || settings.flush {
        return Err(Error::Argument(format!(
            "operation '{form}': an instruction has its modifiers in its name; no other rounding, approximation or flush can be asked for"
        )));
    }
    let names = names(form, rules);
    let format = form
        .types
        .first()
        .and_then(|name| element(name))
        .unwrap_or(crate::format::F32);
    let step = Step {
        instruction: form.to_string(),
        emulation: Vec::new(),
        operands: (0..names.len()).map(StepOperand::Input).collect(),
        format,
        rule: "operation/as-written".to_owned(),
    };
    Ok((step, names))
}

/// The format of one element of a PTX type: of `e4m3x2` it is e4m3fn.
pub(crate) fn element(name: &str) -> Option<Format> {
    let plain = ["x2", "x4"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name);
    Format::named(plain).ok()
}

/// The names of what an instruction reads: its operands without the result, and of packed ones each element, the
/// uppermost first (`a.1 a.0`). The four sources of an x4 conversion stand in one pair of braces.
fn names(form: &InstructionForm, rules: &Rules) -> Vec<String> {
    const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    let written = form.operands.or_else(|| rules.operands(form));
    let count = written.unwrap_or(2).saturating_sub(1);
    let named = |word: &str| form.modifiers.iter().any(|modifier| modifier == word);
    if form.opcode == "cvt" && form.types.first().is_some_and(|name| lanes_of(name) == 4) {
        return ["a", "b", "e", "f", "rbits"].map(str::to_owned).to_vec();
    }
    let mut names: Vec<String> = NAMES
        .iter()
        .take(count)
        .map(|&name| name.to_owned())
        .collect();
    if form.opcode == "cvt" && named("rs") {
        names.pop();
        names.push("rbits".to_owned());
        return names;
    }
    let source = match (form.opcode.as_str(), &form.types[..]) {
        ("mma" | "wgmma.mma_async" | "tcgen05.mma", _) => None,
        ("cvt", [_, source]) | (_, [source]) => Some(lanes_of(source)),
        _ => None,
    };
    match source {
        Some(lanes @ 2..) => {
            let elements = |name: &String| {
                (0..lanes)
                    .rev()
                    .map(|lane| format!("{name}.{lane}"))
                    .collect::<Vec<_>>()
            };
            names.iter().flat_map(elements).collect()
        }
        _ => names,
    }
}
