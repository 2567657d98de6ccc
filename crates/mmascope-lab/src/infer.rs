//! Infers a model of a black box, in the catalogue's own notation.
//!
//! The device is asked directed and random inputs; rows of the catalogue and then programs of the
//! whole model space are compared with its answers; what fits is tried on fresh inputs of every
//! family; every parameter is then changed, value by value, and an input is looked for and asked
//! that tells the changed unit apart. Values for which there is none are reported as not told apart.
//! At the end the model is confirmed over many more fresh inputs.
//! Nothing here sees what is behind a [`Dut`].
//!
//! ```
//! use mmascope_lab::{dut::ModelDut, infer::{InferenceOptions, Outcome, infer}};
//! use mmascope_model::isa::Catalogue;
//!
//! let catalogue = Catalogue::built_in();
//! let unit = catalogue.find("volta", "mma.m8n8k4.f32.f16.f16.f32")?.unit()?;
//! let mut device = ModelDut::new("a black box", unit.clone());
//! let inference = infer(&mut device, Some(catalogue), &InferenceOptions::default())?;
//! let Outcome::Model(model) = &inference.outcome else { panic!("nothing fits") };
//! assert!(model.program.to_string().starts_with("t-fdpa L=4 F=23"));
//! # Ok::<(), mmascope_model::Error>(())
//! ```

mod alternatives;
mod asker;
mod candidates;
mod canonical_form;
mod confirm;
mod coupled_parameters;
mod cpu_limit;
mod distinguish;
mod grouped;
mod inputs;
mod maker;
mod mirrored;
mod multistart;
mod neighbours;
mod order;
mod parallel;
mod parting;
mod perturbing;
mod products;
mod regrouping;
mod report;
mod reshaping;
mod rewriting;
mod rounded_steps;
mod run;
mod search;
mod settings;
mod shapes;
mod shrinking;
mod simplify;
mod space;
mod together;
mod widths;

pub(crate) use alternatives::{alternatives, neighbour};
pub(crate) use distinguish::{Distinguisher, differ};
pub(crate) use maker::{Maker, drawn, word};
pub(crate) use neighbours::stated;
pub(crate) use report::line;
pub(crate) use shrinking::shrink as shrink_on_device;

pub use report::{Found, Inference, InferenceExample, Outcome, Rejected, Unobservable};

use std::time::{Duration, Instant};

use crate::dpa::{Scale, Signature};
use crate::dut::Dut;
use crate::error::{Error, Result};
use crate::isa::Catalogue;
use crate::vector::Answer;
use mirrored::{Mirrored, Signs};
use run::{Ending, Run};

/// The usual budget. Who gives less has a slow device.
const BUDGET: u64 = 20_000;
/// Fresh inputs beside it that usually confirm a model.
const CONFIRMING: u64 = 100_000;

/// The options of an inference.
#[derive(Clone, Debug)]
pub struct InferenceOptions {
    /// About the most queries: the order of long sums and the last checks may take more. Below 8,000 the first questions are fewer.
    pub budget: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// Fresh random inputs of each family with which the model is verified.
    pub trials: usize,
    /// Fresh inputs beside the budget with which a model is confirmed at the end: a fifth as many where it is a row of the catalogue, three times
    /// as many where it has several unusual parameters or more than eight statements, or the search reached its limit. By default 100,000, and none with a budget below 20,000.
    /// They end when the device has taken about ten seconds for them. Sums of integers have none.
    pub confirm: Option<u64>,
    /// Computing time of the search, of all its threads together (the device's does not count), after which the search
    /// through the model space gives up.
    pub cpu_limit: Duration,
    /// Whether the threads of the current pool help. They change no result, unless the search comes near the limit.
    pub shares_work: bool,
}

impl Default for InferenceOptions {
    fn default() -> Self {
        Self {
            budget: BUDGET,
            seed: 1,
            trials: 300,
            confirm: None,
            cpu_limit: Duration::from_secs(60),
            shares_work: true,
        }
    }
}

impl InferenceOptions {
    /// Fresh inputs that confirm a model.
    fn confirming(&self) -> u64 {
        let usual = if self.budget < BUDGET { 0 } else { CONFIRMING };
        self.confirm.unwrap_or(usual)
    }
}

/// Progress: queries asked so far, but for those that confirm the model, and what is being done.
pub type InferenceProgress<'a> = &'a mut dyn FnMut(u64, &str);

/// Finds a model of a device.
///
/// Rows of `catalogue` with the device's signature are tried first. That nothing fits, or that the
/// device is noisy, is an [`Outcome`] and no error.
///
/// # Errors
/// The device's own errors; [`crate::Error::Argument`] for operands that are no floats.
pub fn infer(
    device: &mut dyn Dut,
    catalogue: Option<&Catalogue>,
    options: &InferenceOptions,
) -> Result<Inference> {
    infer_with_progress(device, catalogue, options, &mut |_, _| ())
}

/// As [`infer`], telling `progress`.
///
/// # Errors
/// As [`infer`].
pub fn infer_with_progress(
    device: &mut dyn Dut,
    catalogue: Option<&Catalogue>,
    options: &InferenceOptions,
    progress: InferenceProgress<'_>,
) -> Result<Inference> {
    let begin = Instant::now();
    let (subject, signature) = (device.name().to_owned(), *device.signature());
    if let Some(Scale { block, .. }) = signature.scale
        && (block == 0 || !signature.k.is_multiple_of(block))
    {
        return Err(Error::Argument(format!(
            "{signature}: block={block} does not divide k={}; no unit of the model space has such scales",
            signature.k
        )));
    }
    if crate::integers::are_summed(&signature) {
        let found = crate::integers::examine(device, options.seed, options.budget)?;
        return Ok(Inference {
            subject,
            signature,
            outcome: found.outcome(catalogue),
            trials: found.trials(),
            confirmed: 0,
            queries: found.queries(),
            seconds: begin.elapsed().as_secs_f64(),
            reached_limit: false,
        });
    }
    let _alone = (!options.shares_work).then(parallel::alone);
    let mut run = Run::new(device, options, Signs::default())?;
    let ending = run.run(catalogue, &mut *progress)?;
    let (mut trials, mut queries) = (run.trials, run.asker.queries);
    let (mut confirmed, mut reached_limit) = (run.confirmed, run.is_cut_short);
    let outcome = match ending {
        Ending::Outcome(outcome) => outcome,
        Ending::Subtracts(signs) => {
            let left = InferenceOptions {
                budget: options.budget.saturating_sub(queries),
                confirm: Some(options.confirming()),
                ..options.clone()
            };
            let mut mirrored = Mirrored { device, signs };
            let mut run = Run::new(&mut mirrored, &left, signs)?;
            let ending = run.run(None, progress)?;
            (trials, confirmed) = (run.trials, run.confirmed);
            reached_limit = run.is_cut_short;
            queries += run.asker.queries;
            match ending {
                Ending::Outcome(outcome) => signs.outcome(&signature, outcome),
                Ending::Subtracts(_) => Outcome::NOTHING,
            }
        }
    };
    let is_model = matches!(outcome, Outcome::Model(_));
    let is_noise = matches!(outcome, Outcome::Noise { .. });
    Ok(Inference {
        subject,
        signature,
        outcome,
        trials,
        confirmed: if is_model { confirmed } else { 0 },
        queries,
        seconds: begin.elapsed().as_secs_f64(),
        reached_limit: reached_limit && !is_noise,
    })
}

/// An answer as the wire writes it.
pub(crate) fn answer_text(answer: Answer, signature: &Signature) -> String {
    match answer {
        Answer::AnyNan => "nan".to_owned(),
        Answer::Word(word) => format!("{word:0width$x}", width = signature.d.digits()),
    }
}
