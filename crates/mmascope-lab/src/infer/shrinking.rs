//! Shrinks an input on which a device and a unit still differ.

use super::asker::{Asked, Asker};
use super::report::InferenceExample;
use crate::diff::{DiffInput, moves, size};
use crate::dpa::OperandWords;
use crate::dpa::{Modifiers, Unit};
use crate::dut::{Batch, Dut};
use crate::error::Result;
use crate::vector::Answer;

/// Moves that are asked in one batch.
const BATCH: usize = 64;
/// The most batches.
const BATCHES: usize = 60;

/// Shrinks a difference with a device that is asked directly; gives the queries too.
pub(crate) fn shrink(
    device: &mut dyn Dut,
    unit: &Unit,
    case: &OperandWords,
) -> Result<(InferenceExample, u64)> {
    let mut queries = 0;
    let example = run(unit, case, |cases| {
        let mut batch = Batch::new(*device.signature());
        for case in cases {
            batch.push(&case.operands())?;
        }
        queries += cases.len() as u64;
        device.run(&batch)
    })?;
    Ok((example, queries))
}

/// The same through what is known already.
pub(super) fn shrink_asking(
    asker: &mut Asker<'_>,
    unit: &Unit,
    case: &OperandWords,
) -> Result<InferenceExample> {
    run(unit, case, |cases| {
        let places = asker.ask(cases.to_vec())?;
        Ok(places
            .into_iter()
            .map(|place| asker.asked[place].answer)
            .collect())
    })
}

fn run(
    unit: &Unit,
    case: &OperandWords,
    mut ask: impl FnMut(&[OperandWords]) -> Result<Vec<Answer>>,
) -> Result<InferenceExample> {
    let mut current = DiffInput {
        signature: *unit.signature(),
        case: case.clone(),
        modifiers: Modifiers::default(),
    };
    let mut batches = 0;
    'smaller: loop {
        let own = size(&current);
        let candidates: Vec<DiffInput> =
            moves(&current).filter(|input| size(input) < own).collect();
        for chunk in candidates.chunks(BATCH) {
            if batches == BATCHES {
                break 'smaller;
            }
            batches += 1;
            let cases: Vec<OperandWords> = chunk.iter().map(|input| input.case.clone()).collect();
            let answers = ask(&cases)?;
            for (case, answer) in cases.into_iter().zip(answers) {
                let asked = Asked::new(unit.signature(), case, answer)?;
                if !asked.fits(unit) {
                    current.case = asked.case;
                    continue 'smaller;
                }
            }
        }
        break;
    }
    let answers = ask(std::slice::from_ref(&current.case))?;
    let model = unit.dot(&current.case.operands(), &Modifiers::default())?;
    Ok(InferenceExample {
        device: answers.first().copied().unwrap_or(Answer::AnyNan),
        model,
        case: current.case,
    })
}
