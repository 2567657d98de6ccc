//! Computes many vectors at once, by the engine of matrix products.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use super::Vector;
use crate::dpa::{Modifiers, Operands};
use crate::error::Result;
use crate::gemm::{self, Watch};

/// The results of vectors, as [`Vector::compute`] gives them: those of the same instruction and
/// modifiers are computed together, as matrix products.
#[must_use]
pub fn compute_together(vectors: &[&Vector<'_>]) -> Vec<Result<u64>> {
    // Instructions live in the catalogue, so that their addresses tell them apart.
    let mut results: Vec<Result<u64>> = vec![Ok(0); vectors.len()];
    let mut groups: HashMap<(usize, Modifiers), Vec<usize>> = HashMap::new();
    for (index, vector) in vectors.iter().enumerate() {
        if !vector.is_single() {
            results[index] = vector.compute();
            continue;
        }
        let address = std::ptr::from_ref(vector.instruction).addr();
        let key = (address, vector.modifiers);
        groups.entry(key).or_default().push(index);
    }
    for members in groups.into_values() {
        match group(vectors, &members) {
            Ok(words) => {
                for (&index, word) in members.iter().zip(words) {
                    results[index] = Ok(word);
                }
            }
            Err(error) => {
                for index in members {
                    results[index] = Err(error.clone());
                }
            }
        }
    }
    results
}

/// Vectors of one instruction with the same modifiers.
fn group(vectors: &[&Vector<'_>], members: &[usize]) -> Result<Vec<u64>> {
    let first = vectors[members[0]];
    first.instruction.check_modifiers(&first.modifiers)?;
    let unit = first.instruction.unit()?;
    let operands: Vec<Operands<'_>> = members
        .iter()
        .map(|&index| vectors[index].operands())
        .collect();
    let watch = Watch {
        progress: &|_| (),
        cancel: &AtomicBool::new(false),
    };
    gemm::dots(unit, &operands, &first.modifiers, &watch)
}
