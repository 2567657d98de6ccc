//! The slow, obvious way to identify: every candidate computes every element of D. `identify` must give the same answer.

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::excerpts::Part;
use super::matched_inputs::Formats;
use super::trial::{Asked, Trial};
use super::{Question, shape, units};
use crate::error::{Error, Result};
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
    let whole = Part::new(question, asked.shape, (0..m).collect(), (0..n).collect())?;
    let units = units(catalogue);
    let mut trials = Vec::new();
    for named in &units {
        if named.unit.check_chain(asked.shape[2]).is_err() {
            continue;
        }
        let of_d = formats.of_d(named.unit.signature());
        let plain = of_d.and_then(|of_d| asked.plain(named, &of_d, &whole));
        trials.extend(plain.unwrap_or_default());
        trials.extend(asked.emulated(named, |signature| formats.of_d(signature))?);
    }
    let fits = |mut trial: Trial<'_>| {
        let inputs = asked.inputs(None, &trial.signature(), &[trial.format()])?;
        match asked.compute(&mut trial, &inputs) {
            Ok(()) => {}
            Err(Error::Cancelled) => return Some(Err(Error::Cancelled)),
            // A unit may not take a scheme's parts.
            Err(_) => return None,
        }
        trial
            .fits()
            .then(|| Ok((trial.named.names[0].clone(), trial.schedule.to_string())))
    };
    trials.into_par_iter().filter_map(fits).collect()
}
