//! The slow, obvious way to identify: every candidate computes every element of D. `identify` must give the same answer.

use std::sync::atomic::AtomicBool;

use super::excerpts::Part;
use super::matched_inputs::Formats;
use super::trial::Asked;
use super::{Question, shape, units};
use crate::error::Result;
use crate::isa::Catalogue;

/// The rows, named by the first of those that are the same arithmetic, and schedules that give every element of D, by
/// computing all of it for each of them. It is for small matrices: it is what [`identify`](super::identify()) is tested
/// against.
///
/// # Errors
/// As [`identify`](super::identify()).
pub fn exhaustive(
    catalogue: &Catalogue,
    question: &Question<'_>,
    cancel: &AtomicBool,
) -> Result<Vec<(String, String)>> {
    let asked = Asked {
        question,
        shape: shape(question)?,
        cancel,
    };
    let [m, n, _] = asked.shape;
    let mut formats = Formats::new(question);
    let rows: Vec<usize> = (0..m).collect();
    let whole = Part::new(question, asked.shape, rows.clone(), (0..n).collect())?;
    let mut found = Vec::new();
    for named in units(catalogue) {
        if named.unit.check_chain(asked.shape[2]).is_err() {
            continue;
        }
        let of_d = formats.of_d(named.unit.signature());
        let plain = of_d.and_then(|of_d| asked.plain(&named, &of_d, &whole));
        let emulated = asked.emulated(&named, |signature| formats.of_d(signature))?;
        for mut trial in plain.unwrap_or_default().into_iter().chain(emulated) {
            let inputs = asked.inputs(None, &trial.signature(), &[trial.format()]);
            let Some(inputs) = inputs else { continue };
            // A unit may not take a scheme's parts.
            let computed = asked.compute(&mut trial, &inputs, &rows);
            if computed.is_ok() && trial.fits() {
                found.push((named.names[0].clone(), trial.schedule.to_string()));
            }
        }
    }
    Ok(found)
}
