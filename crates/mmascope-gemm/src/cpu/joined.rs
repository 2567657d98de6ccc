//! Joins a sum with the statement after it where that goes on with it, or adds c to it: one chain of groups.

use super::plan::{From, Stage};
use super::sum::{After, Sum};
use crate::shape::SumKind;

/// The same stages, with sums that only go on with a sum before them made part of it. A chain finds a group's
/// exponents while it sums the group before; a sum that begins anew finds them first.
pub(super) fn joined(stages: Vec<Stage>) -> Vec<Stage> {
    let all = stages.iter().flat_map(Stage::reads);
    let read: Vec<usize> = all
        .filter_map(|from| match from {
            From::Stage(index) => Some(index),
            _ => None,
        })
        .collect();
    let is_read_once = |index: usize| read.iter().filter(|&&it| it == index).count() == 1;
    // Where each stage's value has gone.
    let mut places: Vec<usize> = Vec::new();
    let mut out: Vec<Stage> = Vec::new();
    for stage in stages {
        let before = places.len().checked_sub(1);
        if let (
            Some(Stage::Sum {
                sum: first,
                slot: begin,
                groups: done,
                ..
            }),
            Stage::Sum {
                sum,
                slot,
                groups,
                from: From::Stage(index),
            },
        ) = (out.last_mut(), &stage)
            && Some(*index) == before
            && is_read_once(*index)
            && *begin + *done * first.slots == *slot
            && goes_on(first, sum)
        {
            *done += groups;
        } else {
            out.push(stage.reading(|from| match from {
                From::Stage(index) => From::Stage(places[index]),
                other => other,
            }));
        }
        places.push(out.len() - 1);
    }
    with_addition(out)
}

/// A program's only sum, with the addition of c to it as part of it.
fn with_addition(stages: Vec<Stage>) -> Vec<Stage> {
    let first = From::Stage(0);
    if let [
        Stage::Sum {
            sum,
            slot,
            groups,
            from: From::Zero,
        },
        Stage::Add(left, right, round),
    ] = stages[..]
        && sum.kind == SumKind::Fused
        && [(first, From::C), (From::C, first)].contains(&(left, right))
    {
        let after = Some(After { groups, round });
        return vec![Stage::Sum {
            sum: Sum { after, ..sum },
            slot,
            groups,
            from: From::C,
        }];
    }
    stages
}

/// Whether a chain of the first sum does what the second would do with its results.
fn goes_on(first: &Sum, second: &Sum) -> bool {
    let Sum { c_smallest, .. } = *second;
    let same = Sum {
        c_smallest: first.c_smallest,
        ..*second
    };
    c_smallest == first.smallest && same == *first
}
