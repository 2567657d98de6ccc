//! Finds out whether every element of a tile computes alike, by the same question at every place.

use super::bench::{Bench, Input};
use crate::array::Words;
use crate::cases::{Family, Generator, Hints};
use crate::dpa::OperandWords;
use crate::error::Result;
use crate::format::Format;
use crate::gemm::{Matrices, Matrix};

/// Rows and columns of the tile.
const SIDE: usize = 32;
/// Questions of each family.
const EACH: u64 = 3;

pub(super) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let title = "whether every (i, j) of a tile computes alike";
    if !bench.device.has_tiles() {
        bench.conclude(
            "tile",
            3,
            title,
            "no tile",
            "the device is asked for single dot products: which element of a tile answers cannot \
             be chosen, so this is not seen",
        );
        return Ok(());
    }
    let mut others = Vec::new();
    let mut asked = 0;
    for family in [
        Family::Normal,
        Family::Close,
        Family::Stress,
        Family::Boundary,
    ] {
        let hints = Hints::of_signature(&bench.signature);
        let Ok(generator) = Generator::new(family, 11, &bench.signature, hints) else {
            continue;
        };
        for index in 0..EACH {
            let case = generator.case(index);
            let tile = repeated(bench, &case)?;
            let input = Input {
                case,
                what: format!("{family} {index}, alone and at {SIDE} × {SIDE} places"),
            };
            let alone = bench.ask_one(input)?;
            let answers = bench.device.tile(&tile)?;
            bench.queries += answers.len() as u64;
            asked += 1;
            let differs = |place: &usize| answers.get(*place) != alone.answer;
            others.extend((0..answers.len()).filter(differs));
        }
    }
    others.sort_unstable();
    others.dedup();
    let places = format!("{asked} questions at each of {} places", SIDE * SIDE);
    match others.first() {
        None => bench.conclude(
            "tile",
            3,
            title,
            "alike",
            format!("{places}: the same answers"),
        ),
        Some(first) => bench.conclude(
            "tile",
            3,
            title,
            format!("{} places differ", others.len()),
            format!(
                "{places}: {} answer otherwise than a single dot product, the first is ({}, {})",
                others.len(),
                first / SIDE,
                first % SIDE
            ),
        ),
    }
    Ok(())
}

/// A tile that asks the same everywhere.
fn repeated(bench: &Bench<'_>, case: &OperandWords) -> Result<Matrices> {
    let signature = bench.signature;
    let lines = |line: &[u64], format: &Format| {
        let words = std::iter::repeat_n(line, SIDE).flatten().copied();
        Matrix::row_major(SIDE, line.len(), Words::of(format, words)?)
    };
    let a = lines(&case.a, &signature.a)?;
    let b = lines(&case.b, &signature.b)?.transposed();
    let tile = Matrices::new(a, b)?.with_c(lines(&[case.c; SIDE], &signature.c)?)?;
    match signature.scale {
        None => Ok(tile),
        Some(scale) => tile.with_scales(
            lines(&case.scale_a, &scale.format)?,
            lines(&case.scale_b, &scale.format)?.transposed(),
        ),
    }
}
