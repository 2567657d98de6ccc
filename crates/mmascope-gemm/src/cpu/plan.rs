//! Plans a unit's program as stages over lanes, or gives the reason why it has no kernel.
//! Only parameters of the program and its formats decide.

mod fused_sum;
mod stage;

use super::codec::Codec;
use super::decoder::Decoder;
use super::down;
use super::joined::joined;
use super::pack::Order;
use super::sum::Sum;
use crate::dpa::{FlushSign, Operation, Output, Select, Source, Start, Unit, ZeroSign};
use crate::format::{Overflow, Rounding};
use crate::shape::{StepShape, SumKind};
pub(super) use fused_sum::overflows;
use fused_sum::{fused_sum, round};
pub(super) use stage::{From, Stage};

/// Fraction bits below the largest term at which an exact sum in f64 is in doubt.
pub(super) const DOUBT: u32 = 40;

/// A program for the fused kernel.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) stages: Vec<Stage>,
    pub(super) order: Order,
    pub(super) a: Decoder,
    pub(super) b: Decoder,
    pub(super) c: Codec,
    pub(super) d: Codec,
    /// Whether a sum takes c, so that c has to lie in the kernel's range.
    pub(super) takes_c: bool,
    /// The largest and the smallest F of the sums.
    pub(super) f: u32,
    /// The sums' largest e0; `None` where there is none.
    pub(super) e0: Option<i32>,
    /// Products whose magnitude stays below half of the grid under e0 are nothing.
    pub(super) vanishes: bool,
    /// One fused sum is the whole program.
    pub(super) single: bool,
    /// Operands take part as numbers of a wider format.
    pub(super) widened: bool,
    /// Nothing but f32 arithmetic: exponents do not matter.
    pub(super) native: bool,
    /// Subnormal results are flushed.
    pub(super) flushes: bool,
    /// The sign that a result which rounds to a zero keeps: f32's sign bit, or nothing.
    pub(super) zero_sign: u32,
}

/// Why not.
pub(super) type Refusal = String;

impl Plan {
    pub(super) fn new(unit: &Unit, negate: [bool; 2]) -> Result<Self, Refusal> {
        let signature = unit.signature();
        let statements = &unit.program().statements;
        let last = unit.program().output();
        let widened = statements
            .iter()
            .find_map(|statement| match &statement.operation {
                Operation::Dot { operands, .. } => Some(*operands),
                _ => None,
            });
        let reading = widened.ok_or("no dot product in the program")?;
        if !reading.is_whole() {
            return Err("parts of significands".to_owned());
        }
        let widened = reading.widened;
        let decoder = |format, negate| {
            Decoder::new(format, widened.as_ref(), negate)
                .ok_or_else(|| format!("operands in {format} are no f32"))
        };
        let codec = |format| {
            Codec::new(format, last)
                .filter(Codec::is_ieee)
                .ok_or_else(|| format!("accumulators in {format} are no f32"))
        };
        let mut plan = Self {
            stages: Vec::new(),
            order: Order::new(),
            a: decoder(&signature.a, negate[0])?,
            b: decoder(&signature.b, negate[1])?,
            c: codec(&signature.c)?,
            d: codec(&signature.d)?,
            takes_c: false,
            f: 0,
            e0: None,
            vanishes: true,
            single: statements.len() == 1,
            widened: widened.is_some(),
            native: true,
            flushes: false,
            zero_sign: match last.zero {
                ZeroSign::Plus => 0,
                _ => 1 << 31,
            },
        };
        if !plan.c.reads_all_of(&last.format) {
            return Err(format!(
                "c in {} drops bits of results in {}",
                signature.c, last.format
            ));
        }
        if statements.len() > MAX_STAGES {
            return Err(format!("more than {MAX_STAGES} statements"));
        }
        let from_c = matches!(
            statements[0].operation,
            Operation::Dot { from: Start::C, .. }
        );
        plan.single &= from_c;
        let c_smallest = plan.c.smallest();
        let mut reads_c = Vec::new();
        let mut formats = Vec::new();
        let mut fraction_bits = Vec::new();
        for statement in statements {
            let output = &statement.output;
            let from = |source: Source| match source {
                Source::C => From::C,
                Source::Zero => From::Zero,
                Source::Statement(index) => From::Stage(index),
            };
            let smallest = |from: From| match from {
                From::C => c_smallest,
                From::Zero => 0,
                From::Stage(index) => formats[index],
            };
            let has_c = |from: From| match from {
                From::C => true,
                From::Zero => false,
                From::Stage(index) => reads_c[index],
            };
            if output.flush.is_some() {
                return Err("results that are flushed".to_owned());
            }
            let out = Codec::new(&output.format, output)
                .filter(Codec::is_ieee)
                .ok_or_else(|| format!("results in {} are no f32", output.format))?;
            let (out_smallest, out_bits) = (out.smallest(), out.bits());
            fraction_bits.push(out_bits);
            let (stage, c) = match &statement.operation {
                Operation::Dot {
                    algorithm,
                    operands: own,
                    over,
                    from: source,
                } => {
                    if *own != reading {
                        return Err("operands widened in two ways".into());
                    }
                    if over.indices(signature.k).is_empty() {
                        return Err("a sum of no products".into());
                    }
                    let slot = plan.order.len();
                    let mut shape = StepShape::of(algorithm, output)?;
                    if let Some(scale) = &signature.scale {
                        let scaled = match shape {
                            StepShape::Sum(sum) => sum.scaled(&scale.format),
                            _ => None,
                        };
                        shape = scaled
                            .map(StepShape::Sum)
                            .ok_or_else(|| format!("{algorithm} with block scales"))?;
                    }
                    let StepShape::Sum(alignment) = shape else {
                        let (stage, slots) =
                            plan.other(shape, over, output, *source, signature.k)?;
                        plan.stages.push(stage);
                        reads_c.push(*source == Start::C);
                        formats.push(out_smallest);
                        debug_assert!(plan.order.len() == slot + slots);
                        continue;
                    };
                    // A zero beside the products shows in the sign of a zero sum alone.
                    let is_product = *source == Start::Product;
                    if is_product && !matches!(output.zero, ZeroSign::Plus | ZeroSign::Exact) {
                        return Err(format!("a sum from product with zero={}", output.zero));
                    }
                    let from = from(source.source().unwrap_or(Source::Zero));
                    plan.native = false;
                    let (sum, e0) = fused_sum(&alignment, signature, over, output, smallest(from))?;
                    plan.takes_c |= has_c(from);
                    if plan.f != 0 && (plan.f, plan.e0) != (sum.f, e0) {
                        return Err("sums with different F or e0".into());
                    }
                    (plan.f, plan.e0) = (sum.f, e0);
                    plan.vanishes &= sum.kind == SumKind::Fused && !sum.terms.is_directed();
                    fill(&mut plan.order, over, signature.k, algorithm.block(), &sum);
                    let groups = (plan.order.len() - slot) / sum.slots;
                    (
                        Stage::Sum {
                            sum,
                            slot,
                            groups,
                            from,
                        },
                        has_c(from),
                    )
                }
                Operation::Add(left, right) => {
                    let (left, right) = (from(*left), from(*right));
                    let fits = |from| {
                        let bits = match from {
                            From::C => plan.c.bits(),
                            From::Zero => 0,
                            From::Stage(index) => fraction_bits[index],
                        };
                        smallest(from) == out_smallest && bits <= out_bits
                    };
                    let round = round(output, out_smallest != 0 && fits(left) && fits(right))?;
                    (Stage::Add(left, right, round), has_c(left) || has_c(right))
                }
                Operation::Join { .. } => return Err("a sum of several values".to_owned()),
                Operation::Negate(_) => return Err("a value whose sign is changed".to_owned()),
                Operation::Convert(source) => {
                    let from = from(*source);
                    (Stage::Convert(from, round(output, false)?), has_c(from))
                }
            };
            plan.stages.push(stage);
            reads_c.push(c);
            formats.push(out_smallest);
        }
        let is_chain = |stage: &Stage| matches!(stage, Stage::Chain { .. });
        if !plan.native && plan.stages.iter().any(is_chain) {
            // What a sum may leave out of its operands, and what it may take as its c, is not what a
            // chain takes and gives.
            return Err("chains of multiply-adds beside fused sums".into());
        }
        plan.stages = joined(plan.stages);
        Ok(plan)
    }

    /// The program's only statement, if it is a fused sum.
    pub(super) fn only(&self) -> Option<Sum> {
        match self.stages[..] {
            [Stage::Sum { sum, .. }] if self.single => Some(sum),
            _ => None,
        }
    }

    /// The sum, if the steps are groups of one.
    pub(super) fn one_sum(&self) -> Option<&Sum> {
        match &self.stages[..] {
            [
                Stage::Sum {
                    sum, from: From::C, ..
                },
            ] => Some(sum),
            _ => None,
        }
    }

    /// The same, if the sum can round toward −∞ product by product in 32-bit lanes.
    pub(super) fn down(&self) -> Option<Sum> {
        self.only().filter(|sum| down::fits(sum, &self.a, &self.b))
    }

    /// The stages that are no fused sum, with their slots entered.
    fn other(
        &mut self,
        shape: StepShape,
        over: &Select,
        output: &Output,
        source: Start,
        k: usize,
    ) -> Result<(Stage, usize), Refusal> {
        let from = match source {
            Start::C => Some(From::C),
            Start::Zero => Some(From::Zero),
            Start::Product => None,
            Start::Statement(index) => Some(From::Stage(index)),
        };
        let slot = self.order.len();
        let is_f32 = output.format.bits == 32 && output.rounding == Rounding::Rne;
        let indices = over.indices(k);
        let slots = indices.len();
        let wrong = || {
            Err(format!(
                "{} {} zero={} overflow={}",
                output.rounding, output.format, output.zero, output.overflow
            ))
        };
        let ieee = is_f32 && output.zero == ZeroSign::Ieee && output.overflow == Overflow::Ieee;
        let stage = match shape {
            StepShape::Chain => {
                if !ieee {
                    return wrong();
                }
                Stage::Chain { slot, slots, from }
            }
            StepShape::Pairwise {
                p,
                flush_in,
                flush_out,
            } => {
                if !ieee || flush_out != FlushSign::Kept {
                    return wrong();
                }
                if self.widened || self.c.smallest() != 0 {
                    return Err(
                        "flushes by another exponent than f32's or the operands' own".into(),
                    );
                }
                let p = p as usize;
                if !(p == 1 || p == 2 || p == 4) || !slots.is_multiple_of(p) {
                    return Err(format!("pairwise sums of P={p}"));
                }
                let (Some(from), true) = (from, self.single) else {
                    return Err("pairwise sums among other statements".into());
                };
                (self.a, self.b) = (self.a.flushed(flush_in), self.b.flushed(flush_in));
                self.flushes = true;
                self.takes_c = true;
                Stage::Pairwise {
                    slot,
                    slots,
                    p,
                    from,
                    plus: flush_in == FlushSign::Plus,
                }
            }
            StepShape::Exact { l } => {
                let l = l as usize;
                let bits = self.a.fraction_bits() + self.b.fraction_bits() + 2;
                if l > 16 || bits > 24 || !slots.is_multiple_of(l.min(slots)) {
                    return Err(format!(
                        "exact sums of {l} products of {bits} bits over {slots} k"
                    ));
                }
                if !is_f32 || output.zero != ZeroSign::Exact || !overflows(output) {
                    return wrong();
                }
                let (Some(from), true) = (from, self.single) else {
                    return Err("exact sums among other statements".into());
                };
                self.native = false;
                self.takes_c = true;
                self.vanishes = false;
                self.f = DOUBT;
                Stage::Exact {
                    slot,
                    slots,
                    l: l.min(slots),
                    from,
                }
            }
            StepShape::Sum(_) => return Err("a fused sum is a stage of its own".to_owned()),
        };
        self.order.extend(indices.into_iter().map(Some));
        Ok((stage, slots))
    }
}

/// Longest program.
pub(super) const MAX_STAGES: usize = 6;

/// Fills up slots with a statement's k, each group to its slots; even and odd ones apart where the sum
/// takes them so.
fn fill(order: &mut Order, over: &Select, k: usize, block: usize, sum: &Sum) {
    let parts = if sum.kind == SumKind::Parity { 2 } else { 1 };
    for group in over.indices(k).chunks(block) {
        for part in 0..parts {
            let own = group.iter().skip(part).step_by(parts);
            let zeros = sum.slots / parts - own.len();
            order.extend(own.map(|k| Some(*k)));
            order.extend(std::iter::repeat_n(None, zeros));
        }
    }
}
