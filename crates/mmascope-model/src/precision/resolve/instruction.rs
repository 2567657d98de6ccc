//! A PTX instruction as an operation: it is taken as it is written.

use super::graph::Settings;
use super::step::{Operand, Step};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::precision::legal::{Form, Rules};

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
pub(super) fn step(form: &Form, settings: Settings, rules: &Rules) -> Result<(Step, Vec<String>)> {
    if settings.rounding.is_some() || settings.flush {
        return Err(Error::Argument(format!(
            "operation '{form}': an instruction has its modifiers in its name; leave out --round, --approx and --ftz"
        )));
    }
    let inputs = inputs(form, rules);
    let names = ["a", "b", "c", "d", "e", "f"]
        .iter()
        .take(inputs)
        .map(|&name| name.to_owned());
    let format = form
        .types
        .first()
        .and_then(|name| element(name))
        .unwrap_or(crate::format::F32);
    let step = Step {
        instruction: form.to_string(),
        emulation: Vec::new(),
        operands: (0..inputs).map(Operand::Input).collect(),
        format,
        rule: "operation/as-written".to_owned(),
    };
    Ok((step, names.collect()))
}

/// The format of one element of a PTX type: of `e4m3x2` it is e4m3fn.
pub(crate) fn element(name: &str) -> Option<Format> {
    let plain = ["x2", "x4"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name);
    Format::named(plain).ok()
}

/// How many operands are read: all but the result.
fn inputs(form: &Form, rules: &Rules) -> usize {
    let written = form.operands.or_else(|| rules.operands(form));
    written.unwrap_or(2).saturating_sub(1)
}
