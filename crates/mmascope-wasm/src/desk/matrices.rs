//! Small matrices from files: products on several units, and the step that decides an element.

use std::sync::atomic::AtomicBool;

use mmascope_gemm::array::{Array, Casting, Words};
use mmascope_gemm::gemm::{Arrays, ErrorStatistics, Matrices, Schedule, ScheduledProduct, Watch};
use mmascope_io::array;
use mmascope_lab::diff::{self, Contender};
use mmascope_model::dpa::Modifiers;
use mmascope_model::explain::TracedValue;
use mmascope_model::{Error, Result};
use serde_json::{Value, json};

use super::{Desk, compute, error_json, units};

/// Products that are computed at most: larger matrices are the program's affair.
const MOST: usize = 1 << 23;
/// Rows and columns of D that are shown.
const SHOWN: usize = 48;

/// Reads a file by its ending; one without a known one is taken for `.npy`.
pub(super) fn read(title: &str, file: &[u8]) -> Result<Array> {
    let named = |error: Error| match error {
        Error::Io { message, .. } => Error::Io {
            file: title.to_owned(),
            message,
        },
        other => other,
    };
    let ending = title.rsplit('.').next().unwrap_or_default();
    let array = match ending {
        "safetensors" => {
            let names = array::safetensors_names(file).map_err(named)?;
            let first = names.first().cloned().unwrap_or_default();
            array::safetensors_of_bytes(file, &first)
        }
        _ => array::npy_of_bytes(file),
    };
    Ok(array.map_err(named)?.with_name(title))
}

impl Desk {
    /// The matrices as an instruction takes them, padded to whole steps.
    fn matrices(&self, contender: &Contender<'_>) -> Result<Matrices> {
        let missing = |name: &str| Error::Argument(format!("{name}: no file yet"));
        let a = self.arrays[0].as_ref().ok_or_else(|| missing("A"))?;
        let b = self.arrays[1].as_ref().ok_or_else(|| missing("B"))?;
        let arrays = Arrays {
            a,
            b,
            c: self.arrays[2].as_ref(),
            scale_a: None,
            scale_b: None,
            transpose_a: false,
            transpose_b: false,
        };
        let signature = contender.unit().signature();
        let matrices = Matrices::from_arrays(&arrays, signature, &Casting::default())?;
        let work = matrices.outputs().checked_mul(matrices.k());
        if work.is_none_or(|work| work > MOST) {
            return Err(Error::Argument(format!(
                "{} × {} outputs of {} products: at most {MOST} products are computed here; the program's matmul takes more",
                matrices.m(),
                matrices.n(),
                matrices.k()
            )));
        }
        matrices.padded(signature)
    }
}

/// D of every unit, with errors and the elements that differ from the first unit's.
pub(super) fn product(desk: &Desk, names: &[String]) -> Result<Value> {
    let mut first: Option<(Words, mmascope_model::format::Format)> = None;
    let mut results = Vec::new();
    for name in names {
        match one(desk, name) {
            Ok((body, words, format)) => {
                let mut body = body;
                if let Some((own, own_format)) = &first {
                    body["differing"] = differing(&body, (own, own_format), (&words, &format))?;
                } else {
                    first = Some((words, format));
                }
                results.push(body);
            }
            Err(error) => {
                let mut body = error_json(&error);
                body["unit"] = json!(name);
                results.push(body);
            }
        }
    }
    Ok(json!({"results": results}))
}

fn one(desk: &Desk, name: &str) -> Result<(Value, Words, mmascope_model::format::Format)> {
    let row = units::find(desk.catalogue(), name)?;
    let contender = Contender::new(row)?;
    let matrices = desk.matrices(&contender)?;
    let schedule = Schedule::default();
    let product =
        ScheduledProduct::new(&schedule, contender.unit(), &matrices, Modifiers::default())?;
    let cancel = AtomicBool::new(false);
    let watch = Watch {
        progress: &|_| (),
        cancel: &cancel,
    };
    let d = product.run(None, &watch)?;
    let statistics = product.statistics(None, &d, true, &watch)?;
    let format = contender.unit().result_format();
    let digits = format.digits();
    let (m, n) = (matrices.m(), matrices.n());
    let cell = |row: usize, column: usize| {
        let word = d.get(row * n + column);
        let value = TracedValue::of_word(&format, word);
        json!([format!("{word:0digits$x}"), value.decimal_of(6)])
    };
    let rows: Vec<Vec<Value>> = (0..m.min(SHOWN))
        .map(|row| (0..n.min(SHOWN)).map(|column| cell(row, column)).collect())
        .collect();
    let body = json!({
        "unit": contender.name(),
        "m": m,
        "n": n,
        "k": matrices.k(),
        "type": format.name,
        "d": rows,
        "errors": errors(&statistics),
    });
    Ok((body, d, format))
}

fn errors(it: &ErrorStatistics) -> Value {
    json!({
        "mean": format!("{:.3e}", it.relative_to_products.mean),
        "max": format!("{:.3e}", it.relative_to_products.max),
        "bias": format!("{:+.2e}", it.bias),
        "ulps": format!("{:.3}", it.ulps.mean),
    })
}

/// How many elements differ from the first unit's, and which of the shown ones.
fn differing(
    body: &Value,
    left: (&Words, &mmascope_model::format::Format),
    right: (&Words, &mmascope_model::format::Format),
) -> Result<Value> {
    let length = |name: &str| body[name].as_u64().unwrap_or(0) as usize;
    let (m, n) = (length("m"), length("n"));
    let found = diff::outputs(left, right, [1, m, n], true)?;
    let mut places = Vec::new();
    for row in 0..m.min(SHOWN) {
        for column in 0..n.min(SHOWN) {
            let at = row * n + column;
            let verdict =
                diff::Verdict::of_words((left.0.get(at), left.1), (right.0.get(at), right.1));
            if verdict.differs() && verdict != diff::Verdict::NanPayload {
                places.push(json!([row, column]));
            }
        }
    }
    Ok(json!({"count": found.different, "places": places}))
}

/// The operands of the step of an element in which the first two units part, or of its last step.
pub(super) fn element(desk: &Desk, names: &[String], row: usize, column: usize) -> Result<Value> {
    let name = names.first().map_or("", String::as_str);
    let left = Contender::new(units::find(desk.catalogue(), name)?)?;
    let steps = diff::chain(&left, &desk.matrices(&left)?, [0, row, column], true)?;
    let mut at = steps.len().saturating_sub(1);
    for other in &names[1.min(names.len())..] {
        let Ok(found) = units::find(desk.catalogue(), other) else {
            continue;
        };
        let right = Contender::new(found)?;
        let Ok(matrices) = desk.matrices(&right) else {
            continue;
        };
        let others = diff::chain(&right, &matrices, [0, row, column], true)?;
        if let Some((own, _)) = diff::parting((&left, &steps), (&right, &others)) {
            at = own;
            break;
        }
    }
    let step = steps
        .get(at)
        .ok_or_else(|| Error::Argument("K = 0: there is no step".to_owned()))?;
    let signature = left.unit().signature();
    Ok(json!({
        "operands": compute::operands_json(signature, &step.words.operands()),
        "first": step.first,
        "step": at + 1,
        "steps": steps.len(),
    }))
}
