//! Rounded products and rounded additions: every one is a step of its own.

use super::block::{
    Block, Change, Start, Taken, add, convert, finished, flush_result, rounded_sum,
};
use super::lane::Lane;
use super::trace::TracedStep;
use crate::dpa::{AddMul, Nan, Output, Terms, Tininess, ZeroSign};
use crate::exact::Rounding;
use crate::format::{Format, Overflow};

/// A sum of a run of products, and the first and the last of them.
type TracedPart = (Start, usize, usize);

impl Block<'_> {
    pub(super) fn add_mul(&self, add_mul: &AddMul) -> Vec<TracedStep> {
        let (rounding, format, overflow) = match add_mul.terms.products {
            Some((rounding, format)) => (rounding, format, Overflow::Ieee),
            None => (
                self.output.rounding,
                self.output.format,
                self.output.overflow,
            ),
        };
        let mut steps: Vec<TracedStep> = Vec::new();
        let mut level: Vec<TracedPart> = Vec::new();
        for lane in self.lanes {
            let Taken { value, changes } = self.taken(lane, &add_mul.terms);
            let to = (rounding, format);
            let (step, product) = self.rounded(&add_mul.terms, &value, changes, to, overflow);
            steps.push(step);
            level.push((product, lane.k, lane.k));
        }
        let mut sum = |(left, first, _): &TracedPart, (right, _, last): &TracedPart| {
            let name = format!("{}.s{first}-{last}", self.name);
            let part = match add_mul.sequential {
                true => "sum",
                false => "pairwise sum",
            };
            let mut step = add(&name, self.role(part), left, right, self.output);
            let value = summed(add_mul, &mut step, self.output);
            steps.push(step);
            (value, *first, *last)
        };
        while level.len() > 1 {
            if add_mul.sequential {
                let right = level.remove(1);
                level[0] = sum(&level[0], &right);
            } else {
                level = level
                    .chunks(2)
                    .map(|two| match two {
                        [left, right] => sum(left, right),
                        _ => two[0].clone(),
                    })
                    .collect();
            }
        }
        let Some((group, ..)) = level.first() else {
            return steps;
        };
        let step = match self.taken_start(&add_mul.terms) {
            Some(start) => {
                let role = self.role("joining");
                let mut step = add(&self.name, role, &start.value, group, self.output);
                if add_mul.flush_sums.is_some() {
                    summed(add_mul, &mut step, self.output);
                }
                step.take(start.changes);
                step
            }
            None => convert(&self.name, self.role("beginning"), group, self.output),
        };
        steps.push(step);
        steps
    }

    /// A product rounded to a format, and flushed.
    pub(super) fn rounded(
        &self,
        terms: &Terms,
        lane: &Lane,
        changes: Vec<Change>,
        (rounding, format): (Rounding, Format),
        overflow: Overflow,
    ) -> (TracedStep, Start) {
        let output = Output {
            format,
            rounding,
            overflow,
            nan: match format == self.output.format {
                true => self.output.nan,
                false => Nan::Any,
            },
            zero: ZeroSign::Ieee,
            flush: None,
            tininess: Tininess::After,
        };
        let lane = lane.unscaled();
        let name = format!("{}.m{}", self.name, lane.k);
        let role = self.role("product");
        let mut step = match lane.special() {
            Some(special) => TracedStep::special(&name, role, vec![lane.name()], special, &output),
            None => rounded_sum(&name, role, vec![lane.addend(false)], &output),
        };
        step.take(changes);
        let value = match terms.flush_products {
            Some(sign) => flush_result(&mut step, sign, &output),
            None => Start::of_step(&step, &output),
        };
        (step, value)
    }
}

/// A sum after the flushes.
fn summed(add_mul: &AddMul, step: &mut TracedStep, output: &Output) -> Start {
    let value = finished(step, output);
    match add_mul.flush_sums {
        Some(sign) => flush_result(step, sign, output),
        None => value,
    }
}
