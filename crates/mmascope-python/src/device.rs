//! Devices under test of Python: models, named devices and callables; what probes, infers and validates them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use numpy::{PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use serde_json::json;

use crate::array::to_numpy;
use crate::catalogue::Catalogue;
use crate::error::{Raised, argument, device, device_error};
use crate::repeat::Memory;
use crate::row::Row;
use mmascope::array::Words;
use mmascope::cases::Family;
use mmascope::dpa::{Signature, Unit};
use mmascope::dut::{Answers, Batch, DEFAULT_TIMEOUT, DeviceName, Dut, Interface, ModelDut};
use mmascope::format::Format;
use mmascope::gemm::Matrices;
use mmascope::infer::{InferenceOptions, infer_with_progress};
use mmascope::validate::{State, ValidationPlan, shrink};
use mmascope::vector::{Answer, question};

/// What Python raised while the library asked.
type Raiser = Arc<Mutex<Option<PyErr>>>;

/// A callable that takes arrays of words and gives an array of words.
struct CallableDut {
    name: String,
    signature: Signature,
    function: Py<PyAny>,
    raised: Raiser,
}

impl CallableDut {
    fn ask(&self, py: Python<'_>, batch: &Batch) -> PyResult<Vec<Answer>> {
        let signature = &self.signature;
        let array = |format: &Format, words: &[u64], row: usize| {
            let shape = [words.len() / row.max(1), row];
            let words = Words::of(format, words.iter().copied()).raised()?;
            to_numpy(py, words, &shape)
        };
        let (k, scales) = (signature.k, signature.scales());
        let a = array(&signature.a, batch.a(), k)?;
        let b = array(&signature.b, batch.b(), k)?;
        let c = array(&signature.c, batch.c(), 1)?;
        let scale = match signature.scale {
            Some(scale) => Some((
                array(&scale.format, batch.scale_a(), scales)?,
                array(&scale.format, batch.scale_b(), scales)?,
            )),
            None => None,
        };
        let answer = self.function.bind(py).call1((a, b, c, scale))?;
        let answer: PyReadonlyArray1<'_, u64> = answer.extract()?;
        let words = answer.to_vec()?;
        Ok(words.into_iter().map(Answer::Word).collect())
    }
}

impl Dut for CallableDut {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        batch.check(&self.signature)?;
        Python::attach(|py| {
            self.ask(py, batch).map_err(|error| {
                let message = error.to_string();
                keep(&self.raised, error);
                device_error(&self.name, &message)
            })
        })
    }
}

fn keep(raised: &Raiser, error: PyErr) {
    if let Ok(mut raised) = raised.lock() {
        raised.get_or_insert(error);
    }
}

/// A device between whose batches Ctrl-C is looked for.
struct Watched {
    device: Box<dyn Dut>,
    raised: Raiser,
    /// What is asked again at the end.
    memory: Option<Memory>,
}

impl Dut for Watched {
    fn signature(&self) -> &Signature {
        self.device.signature()
    }

    fn name(&self) -> &str {
        self.device.name()
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        self.look()?;
        let answers = self.device.run(batch)?;
        if let Some(memory) = &mut self.memory {
            memory.note(batch, &answers)?;
        }
        Ok(answers)
    }

    fn has_tiles(&self) -> bool {
        self.device.has_tiles()
    }

    fn tile(&mut self, tile: &Matrices) -> mmascope::Result<Answers> {
        self.look()?;
        self.device.tile(tile)
    }
}

impl Watched {
    /// What has another answer when it is asked again; only callables are.
    fn ask_again(&mut self) -> mmascope::Result<Option<String>> {
        match self.memory.take() {
            Some(memory) => memory.ask_again(self),
            None => Ok(None),
        }
    }

    fn look(&self) -> mmascope::Result<()> {
        Python::attach(|py| py.check_signals()).map_err(|error| {
            keep(&self.raised, error);
            mmascope::Error::Cancelled
        })
    }
}

/// What is asked: an instruction's model, a device by its name, or a callable.
#[derive(FromPyObject)]
pub(crate) struct Asked<'py> {
    row: Option<Bound<'py, Row>>,
    named: Option<String>,
    callable: Option<Bound<'py, PyAny>>,
    name: String,
    signature: Option<String>,
    catalogue: Bound<'py, Catalogue>,
    timeout: Option<f64>,
}

impl Asked<'_> {
    fn open(&self) -> PyResult<(Watched, Raiser)> {
        let raised = Raiser::default();
        let catalogue = &self.catalogue.get().inner;
        let signature = self.signature.as_deref().map(str::parse::<Signature>);
        let signature = signature.transpose().raised()?;
        let device: Box<dyn Dut> = match (&self.row, &self.named, &self.callable) {
            (Some(row), _, _) => {
                let unit = row.get().unit().raised()?.clone();
                Box::new(ModelDut::new(&self.name, unit))
            }
            (_, Some(named), _) => {
                let timeout = match self.timeout {
                    Some(seconds) => Duration::try_from_secs_f64(seconds)
                        .map_err(|error| argument(&format!("timeout: {error}")))?,
                    None => DEFAULT_TIMEOUT,
                };
                let name: DeviceName = named.parse().raised()?;
                let interface = signature.map(Interface::of_signature);
                name.open(catalogue, interface, timeout).raised()?
            }
            (_, _, Some(callable)) => {
                let Some(signature) = signature else {
                    return Err(argument(
                        "signature: a callable needs one, such as \"a=f16 b=f16 c=f32 d=f32 k=16\", or like= with an \
                         instruction",
                    ));
                };
                Box::new(CallableDut {
                    name: self.name.clone(),
                    signature,
                    function: callable.clone().unbind(),
                    raised: raised.clone(),
                })
            }
            _ => return Err(argument("no device")),
        };
        let watched = Watched {
            memory: (self.callable.as_ref()).map(|_| Memory::new(*device.signature())),
            device,
            raised: raised.clone(),
        };
        Ok((watched, raised))
    }

    /// The exception of a callable that changes between calls.
    fn changed(&self, how: &str) -> PyErr {
        device(&format!(
            "fn: {}: the same inputs gave other outputs: {how}",
            self.name
        ))
    }
}

/// What Python raised goes before what the library made of it.
fn outcome<T>(raised: &Raiser, result: mmascope::Result<T>) -> PyResult<T> {
    let first = raised.lock().ok().and_then(|mut raised| raised.take());
    match first {
        Some(error) => Err(error),
        None => result.raised(),
    }
}

/// The features of a device: JSON and a page.
#[pyfunction]
pub(crate) fn probe(py: Python<'_>, asked: Asked<'_>) -> PyResult<(String, String)> {
    let (mut device, raised) = asked.open()?;
    let result = py.detach(|| {
        let features = mmascope::probe::probe(&mut device)?;
        Ok((features, device.ask_again()?))
    });
    let (features, changed) = outcome(&raised, result)?;
    if let Some(how) = changed {
        return Err(asked.changed(&how));
    }
    if features.is_noisy() && asked.callable.is_some() {
        let repeated = features.features.iter().find(|it| it.value == "noise");
        return Err(asked.changed(repeated.map_or("", |it| &it.conclusion)));
    }
    let json = serde_json::Value::Object(features.json()).to_string();
    Ok((json, features.page()))
}

/// The model of a device: JSON; where one was found, a row for a catalogue, its signature and its program; whether it
/// holds.
#[pyfunction]
pub(crate) fn infer(
    py: Python<'_>,
    asked: Asked<'_>,
    budget: u64,
    confirm: Option<u64>,
    seed: u64,
    with_catalogue: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Option<[String; 3]>, bool)> {
    let (mut device, raised) = asked.open()?;
    if budget < 2000 {
        return Err(argument(&format!(
            "budget = {budget}: 2000 queries or more are needed"
        )));
    }
    // It asks again itself, within the budget.
    device.memory = None;
    let options = InferenceOptions {
        budget,
        seed,
        confirm,
        // A child that `fork` made has its parent's pool, but none of its threads.
        shares_work: false,
        ..InferenceOptions::default()
    };
    let catalogue = asked.catalogue.get().inner.clone();
    let kept = raised.clone();
    let result = py.detach(|| {
        let mut tell = |queries: u64, what: &str| {
            let Some(progress) = &progress else { return };
            let told = Python::attach(|py| progress.call1(py, (queries, what)).map(|_| ()));
            if let Err(error) = told {
                keep(&kept, error);
            }
        };
        let rows = with_catalogue.then_some(&*catalogue);
        infer_with_progress(&mut device, rows, &options, &mut tell)
    });
    let inference = outcome(&raised, result)?;
    if let (mmascope::infer::Outcome::Noise { case, answers }, Some(_)) =
        (&inference.outcome, &asked.callable)
    {
        let signature = &inference.signature;
        let line = question(
            "dut",
            &signature.to_string(),
            &[],
            signature,
            &case.operands(),
        );
        let [first, second] = answers;
        return Err(asked.changed(&format!("first {first}, then {second}, for {line}")));
    }
    let row = match &inference.outcome {
        mmascope::infer::Outcome::Model(found) => Some([
            found.row(&inference.subject),
            inference.signature.to_string(),
            found.program.to_string(),
        ]),
        _ => None,
    };
    let json = serde_json::Value::Object(inference.json()).to_string();
    Ok((json, row, inference.holds()))
}

/// Mismatches that are made smaller.
const SHRUNK: usize = 3;

/// The state of a run, fresh or as it was saved.
fn begin(
    asked: &Asked<'_>,
    unit: &Unit,
    families: &[String],
    seed: u64,
    state: Option<&str>,
) -> PyResult<State> {
    let families = match families {
        [] => Family::ALL.to_vec(),
        _ => {
            let named = families.iter().map(|name| Family::named(name));
            named.collect::<mmascope::Result<_>>().raised()?
        }
    };
    let mut fresh = State::new(&ValidationPlan { families, seed }, unit).raised()?;
    fresh.subject.clone_from(&asked.name);
    let Some(text) = state else { return Ok(fresh) };
    let state = saved(text)?;
    if !state.continues(&fresh) {
        return Err(argument(
            "state: it is of another run (subject, signature, arithmetic, seed, families or counts differ)",
        ));
    }
    Ok(state)
}

fn saved(text: &str) -> PyResult<State> {
    serde_json::from_str(text)
        .map_err(|error| argument(&format!("state: no state of validate: {error}")))
}

fn to_text(state: &State) -> PyResult<String> {
    serde_json::to_string(state).map_err(|error| argument(&error.to_string()))
}

/// The states between which a validation can be cut, with their cases; nothing is compared.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the package names each")]
pub(crate) fn validate_parts(
    py: Python<'_>,
    asked: Asked<'_>,
    against: &Row,
    trials: u64,
    families: Vec<String>,
    seed: u64,
    state: Option<&str>,
    part: u64,
) -> PyResult<Vec<(u64, String)>> {
    let unit = against.unit().raised()?;
    let own = begin(&asked, unit, &families, seed, state)?;
    let (device, _) = asked.open()?;
    let has_tiles = device.has_tiles();
    let states = py.detach(|| mmascope::validate::parts(unit, &own, trials, part, has_tiles));
    let states = states.raised()?;
    states
        .iter()
        .map(|state| Ok((state.trials(), to_text(state)?)))
        .collect()
}

/// A state with what a part came to that begins where it stands.
#[pyfunction]
pub(crate) fn validate_join(state: &str, begin: &str, part: &str) -> PyResult<String> {
    let mut state = saved(state)?;
    state.join(&saved(begin)?, saved(part)?).raised()?;
    to_text(&state)
}

/// A device against a row: the summary as JSON, and the state from which it can go on.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the package names each")]
pub(crate) fn validate(
    py: Python<'_>,
    asked: Asked<'_>,
    against: &Row,
    trials: u64,
    families: Vec<String>,
    seed: u64,
    state: Option<&str>,
    progress: Option<Py<PyAny>>,
    shrinks: bool,
) -> PyResult<(String, String)> {
    let unit = against.unit().raised()?;
    let (mut device, raised) = asked.open()?;
    let mut own = begin(&asked, unit, &families, seed, state)?;
    let before = own.examples.clone();
    let kept = raised.clone();
    let mut changed = None;
    let result = py.detach(|| {
        let mut go_on = |state: &State| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                match &progress {
                    Some(progress) => progress.call1(py, (state.trials(),)).map(|_| ()),
                    None => Ok(()),
                }
            });
            told.map_err(|error| keep(&kept, error)).is_ok()
        };
        mmascope::validate::validate(&mut device, unit, &mut own, trials, &mut go_on)?;
        if let Some(memory) = &mut device.memory {
            for mismatch in own.examples.iter().filter(|it| !before.contains(it)) {
                memory.note_mismatch(unit, mismatch)?;
            }
        }
        changed = device.ask_again()?;
        if changed.is_some() {
            return Ok(Vec::new());
        }
        let examples = own.examples.iter().take(if shrinks { SHRUNK } else { 0 });
        examples
            .map(|mismatch| shrink(&mut device, unit, mismatch))
            .collect::<mmascope::Result<Vec<_>>>()
    });
    let smallest = outcome(&raised, result)?;
    if let Some(how) = changed {
        return Err(asked.changed(&how));
    }
    let smallest: Vec<_> = smallest
        .iter()
        .map(|example| {
            let mut json = example.json(unit.signature());
            json["differs"] = example.differs(unit).into();
            json
        })
        .collect();
    let saved = to_text(&own)?;
    let summary = json!({
        "subject": asked.name,
        "against": against.full_name(),
        "trials": own.trials(),
        "mismatches": own.mismatches(),
        "families": own.families,
        "examples": own.examples,
        "smallest": smallest,
        "left_out": own.left_out,
    });
    Ok((summary.to_string(), saved))
}
