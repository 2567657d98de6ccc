//! Says which candidates compute the same sums from whatever matrices, because their arithmetic is one.

use super::trial::{Asked, Trial};
use crate::dpa::{Beyond, IntPair, Signature, Unit};
use crate::format::{Format, Kind};
use crate::gemm::Schedule;
use crate::gemm::schedule::{ReductionOrder, Split};

/// What a candidate computes. Candidates of equal sums give equal bits, whatever the matrices of this K hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SameSum {
    /// C and all products of integers of these formats, added exactly and reduced to the accumulator's bits, so that
    /// neither the order of the steps nor their length matters.
    Integers([Format; 3]),
    /// A chain of blocks: how many of them an instruction has does not matter.
    Blocks(Box<Blocks>),
}

/// Blocks under a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// The unit of one block.
    unit: Unit,
    /// The schedule, whose steps are blocks.
    schedule: Schedule,
    /// K with the +0 that fill it up.
    k: usize,
}

impl SameSum {
    /// What a candidate computes.
    pub(super) fn of(asked: &Asked<'_>, trial: &Trial<'_>) -> Self {
        if let Some(formats) = integers(asked, trial) {
            return Self::Integers(formats);
        }
        let (unit, k) = (&trial.named.unit, trial.padded_k());
        let native = unit.signature().k;
        let in_blocks = unit.one_block().and_then(|block| {
            let count = native / block.signature().k;
            let schedule = trial.schedule.in_shorter_steps(count, k / native)?;
            Some((block, schedule))
        });
        let (unit, mut schedule) =
            in_blocks.unwrap_or_else(|| (unit.clone(), trial.schedule.clone()));
        if let Split::SplitK { count, reduction } = &mut schedule.split {
            reduction.order = of_few_parts(*count, reduction.order);
        }
        Self::Blocks(Box::new(Blocks { unit, schedule, k }))
    }
}

/// The order of a reduction, by one name where several are the same additions: two parts have one sum, and of three parts
/// the first two are added first in pairs too.
fn of_few_parts(count: usize, order: ReductionOrder) -> ReductionOrder {
    match (count, order) {
        (2, _) | (3, ReductionOrder::Pairwise) => ReductionOrder::Ascending,
        _ => order,
    }
}

/// The formats of an exact sum of integers; `None` where a candidate is not known to be one.
fn integers(asked: &Asked<'_>, trial: &Trial<'_>) -> Option<[Format; 3]> {
    let order = Schedule {
        order: trial.schedule.order.clone(),
        ..Schedule::default()
    };
    let signature = trial.signature();
    let Signature { a, b, c, d, .. } = signature;
    let are_integers = [a, b, d]
        .iter()
        .all(|format| format.kind == Kind::Fixed { scale: 0 });
    if order != trial.schedule || !are_integers || c != d || trial.format() != d.container() {
        return None;
    }
    let dot = trial.named.unit.program().integer_sum()?;
    // Sums that cannot leave the accumulator's range saturate nowhere.
    let bits = a.bits + b.bits + asked.shape[2].next_power_of_two().ilog2();
    let is_within = asked.question.operands.c.is_none() && d.signed && bits < d.bits;
    let is_exact = dot.beyond == Beyond::Wraps || is_within;
    (dot.pair == IntPair::Product && is_exact).then_some([a, b, d])
}
