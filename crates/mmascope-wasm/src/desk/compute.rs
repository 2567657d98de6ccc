//! Computes one dot product on several units, and explains it.

use mmascope_io::vector::{answer, hex};
use mmascope_lab::diff::{Contender, DiffInput};
use mmascope_model::Result;
use mmascope_model::dpa::{Modifiers, Operands, Signature};
use mmascope_model::explain::{
    Comparison, Trace, TraceRequest, TracedCode, TracedInput, TracedOperand, fragment,
    fragment_against,
};
use mmascope_model::isa::{Catalogue, Instruction};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{error_json, units};

/// Digits of values that people read.
const DIGITS: usize = 9;
/// The most units.
const MOST: usize = 4;

/// Operands as text, and the units that get them.
#[derive(Deserialize)]
#[serde(default)]
pub(super) struct Question {
    /// The first one's formats are those of the operands.
    units: Vec<String>,
    a: String,
    b: String,
    c: String,
    sa: Option<String>,
    sb: Option<String>,
    mods: Vec<String>,
    /// The unit that is drawn beside the first; none or 0 draws the first alone, and -1 nothing.
    picture: i64,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            units: Vec::new(),
            a: String::new(),
            b: String::new(),
            c: String::new(),
            sa: None,
            sb: None,
            mods: Vec::new(),
            picture: -1,
        }
    }
}

/// A unit's part: its trace, or why it has none.
struct Side<'c> {
    name: String,
    contender: Option<Contender<'c>>,
    trace: std::result::Result<Trace, Value>,
}

pub(super) fn run(catalogue: &Catalogue, question: &Question) -> Result<Value> {
    let mut names = question.units.iter().take(MOST);
    let first = units::find(catalogue, names.next().map_or("", String::as_str))?;
    let unit = first.unit()?;
    let request = TraceRequest {
        a: &question.a,
        b: &question.b,
        c: Some(&question.c)
            .filter(|c| !c.is_empty())
            .map(String::as_str),
        scale_a: question
            .sa
            .as_deref()
            .filter(|_| first.signature.scale.is_some()),
        scale_b: question
            .sb
            .as_deref()
            .filter(|_| first.signature.scale.is_some()),
        round: true,
    };
    let read = TracedInput::read(&first.signature, &request)?;
    let mut modifiers = Modifiers::default();
    question
        .mods
        .iter()
        .try_for_each(|name| modifiers.add(name))?;
    first.check_modifiers(&modifiers)?;
    let input = DiffInput {
        signature: first.signature,
        case: read.words,
        modifiers,
    };
    let mut sides = vec![side(first, &input)];
    sides.extend(names.map(|name| match units::find(catalogue, name) {
        Ok(row) => side(row, &input),
        Err(error) => Side {
            name: name.clone(),
            contender: None,
            trace: Err(error_json(&error)),
        },
    }));
    let code = TracedCode::of_unit(unit, &input.case.operands(), &input.modifiers)?;
    // Cells show operands as they were written: a modifier changes them behind their words.
    let written = TracedCode::of_unit(unit, &input.case.operands(), &Modifiers::default())?;
    let results: Vec<Value> = (0..sides.len())
        .map(|index| result(&sides, index))
        .collect();
    let picture = usize::try_from(question.picture)
        .ok()
        .and_then(|at| picture(&sides, at));
    Ok(json!({
        "operands": operands_json(&first.signature, &input.case.operands()),
        "a": written.pairs.iter().map(|pair| operand(&pair.a)).collect::<Vec<_>>(),
        "b": written.pairs.iter().map(|pair| operand(&pair.b)).collect::<Vec<_>>(),
        "c": operand(&written.c),
        "sa": written.scale_a.iter().map(operand).collect::<Vec<_>>(),
        "sb": written.scale_b.iter().map(operand).collect::<Vec<_>>(),
        "exact": code.exact.decimal_of(DIGITS),
        "results": results,
        "picture": picture,
    }))
}

fn side<'c>(row: &'c Instruction, input: &DiffInput) -> Side<'c> {
    let name = format!("{}:{}", row.architecture, row.name);
    let contender = match Contender::new(row) {
        Ok(contender) => contender,
        Err(error) => {
            return Side {
                name,
                contender: None,
                trace: Err(error_json(&error)),
            };
        }
    };
    let trace = match contender.trace(input) {
        Ok(Some(trace)) => Ok(trace),
        Ok(None) => Err(json!({"error": "its formats do not hold these operands exactly"})),
        Err(error) => Err(error_json(&error)),
    };
    Side {
        name,
        contender: Some(contender),
        trace,
    }
}

/// A unit's result, and where it parts from the first unit.
fn result(sides: &[Side<'_>], index: usize) -> Value {
    let side = &sides[index];
    let (trace, contender) = match (&side.trace, &side.contender) {
        (Ok(trace), Some(contender)) => (trace, contender),
        (Err(error), _) => {
            return json!({"unit": side.name, "refused": error["error"], "nearest": error["nearest"]});
        }
        _ => return json!({"unit": side.name}),
    };
    let parting = match (&sides[0].trace, index) {
        (_, 0) | (Err(_), _) => None,
        (Ok(first), _) => Some(Comparison::of((&sides[0].name, first), (&side.name, trace))),
    };
    json!({
        "unit": side.name,
        "word": answer(contender.unit(), trace.word()),
        "value": trace.result.value.decimal_of(DIGITS),
        "error": trace.error.as_ref().map(|error| error.difference.to_string()),
        "ulps": trace.error.as_ref().map(|error| format!("{} ulp of 2^{}", error.ulps.decimal(), error.ulp)),
        "notes": trace.notes,
        "differs": parting.as_ref().map(|it| it.parting.is_some()),
        "parting": parting.as_ref().map(|it| it.words.clone()),
    })
}

/// The explanation of the first unit, beside another one if that is another.
fn picture(sides: &[Side<'_>], other: usize) -> Option<String> {
    let first = sides[0].trace.as_ref().ok()?;
    let other = sides.get(other)?;
    match &other.trace {
        Ok(trace) if !std::ptr::eq(trace, first) => Some(fragment_against(&Comparison::of(
            (&sides[0].name, first),
            (&other.name, trace),
        ))),
        _ => Some(fragment(&sides[0].name, first)),
    }
}

fn operand(operand: &TracedOperand) -> Value {
    json!([operand.word, operand.value.to_string(), operand.class])
}

/// Operands as hexadecimal strings, as vector lines write them.
pub(super) fn operands_json(signature: &Signature, operands: &Operands<'_>) -> Value {
    let scale = |words: &[u64]| signature.scale.map(|scale| hex(words, &scale.format));
    json!({
        "a": hex(operands.a, &signature.a),
        "b": hex(operands.b, &signature.b),
        "c": hex(&[operands.c], &signature.c),
        "sa": scale(operands.scale_a),
        "sb": scale(operands.scale_b),
    })
}
