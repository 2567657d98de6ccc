//! One block of a step: its operands as they are taken, and the parts that every kind of step has.
//!
//! Whatever an algorithm is called, its trace is that of the step of the model space that it is
//! ([`Dpa::general`]): the computation here is written once, on exact numbers, and shares only
//! decoding and encoding with the reference.

use super::lane::{Lane, special_sum, special_value};
use super::step::{Addend, C, common_zero};
use super::trace::{Flush, TracedStep};
use super::value::TracedValue;
use crate::dpa::{Dpa, FlushSign, General, OperandChoice, Output, Terms};
use crate::exact::{Dyadic, Rounding};
use crate::format::{Class, Format, Overflow, Unpacked};

/// A value that a block starts from: c, a zero, or the result of an earlier step.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) name: String,
    pub(super) value: Unpacked,
    pub(super) cover: Vec<usize>,
}

impl Start {
    pub(super) fn c(value: Unpacked) -> Self {
        Self {
            name: "c".to_owned(),
            value,
            cover: vec![C],
        }
    }

    /// What a step has made; its word lies in the output's format.
    pub(super) fn of_step(step: &TracedStep, output: &Output) -> Self {
        Self {
            name: step.name.clone(),
            value: output.format.container().decode(step.bits()),
            cover: step.cover(),
        }
    }

    /// The same value with the other sign.
    pub(super) fn negated(&self) -> Self {
        let negative = !self.value.negative;
        Self {
            name: format!("-{}", self.name),
            value: Unpacked {
                negative,
                ..self.value
            },
            cover: self.cover.clone(),
        }
    }

    pub(super) fn addend(&self) -> Addend {
        Addend::of(&self.name, &self.value, self.cover.clone())
    }

    pub(super) fn special(&self) -> Option<(String, TracedValue)> {
        special_value(&self.name, &self.value)
    }
}

/// One block of an algorithm.
pub(super) struct Block<'a> {
    /// Name of the block's result.
    pub(super) name: String,
    /// `t-fdpa, block 1 of 2`.
    pub(super) role: String,
    pub(super) lanes: &'a [Lane],
    /// The value beside the products; `None`: there is none.
    pub(super) start: Option<&'a Start>,
    /// Whether no other block of the statement comes before.
    pub(super) first: bool,
    pub(super) output: &'a Output,
}

/// What taking an operand changed.
pub(super) struct Change {
    pub(super) flush: Flush,
    /// How its loss is told.
    pub(super) by: String,
    /// Before − after: of an operand that of its product.
    pub(super) lost: Dyadic,
}

/// A value with what taking it changed.
pub(super) struct Taken<T> {
    pub(super) value: T,
    pub(super) changes: Vec<Change>,
}

impl TracedStep {
    /// Notes what taking operands changed.
    pub(super) fn take(&mut self, changes: Vec<Change>) {
        for Change { flush, by, lost } in changes {
            self.flushed.push(flush);
            self.lose(by, &lost);
        }
    }
}

impl Block<'_> {
    /// The steps of the block; the last one makes its result. `values` are those of earlier
    /// statements, which a join adds.
    pub(super) fn steps(&self, algorithm: &Dpa, values: &[Start]) -> Vec<TracedStep> {
        match algorithm.general(self.output) {
            General::Fused(fused) => self.fused(&fused, values),
            General::AddMul(step) => self.add_mul(&step),
            General::Grouped(step) => self.grouped(&step),
            General::Semi(step) => self.semi(&step),
            General::Integer(step) => self.integer(&step),
        }
    }

    pub(super) fn role(&self, part: &str) -> String {
        format!("{}: {part}", self.role)
    }

    pub(super) fn special_step(
        &self,
        special: (String, TracedValue),
        values: &[Start],
    ) -> TracedStep {
        let products = self.lanes.iter().map(Lane::name);
        let others = values.iter().chain(self.start);
        let adds = products.chain(others.map(|start| start.name.clone()));
        TracedStep::special(
            &self.name,
            self.role.clone(),
            adds.collect(),
            special,
            self.output,
        )
    }

    /// An operand pair as the step takes it.
    pub(super) fn taken(&self, lane: &Lane, terms: &Terms) -> Taken<Lane> {
        let (of_a, of_b) = (
            terms.flush_of != OperandChoice::B,
            terms.flush_of != OperandChoice::A,
        );
        let flush = |of: bool| terms.flush_in.filter(|_| of);
        let value = Lane {
            a: changed(&lane.a, flush(of_a), terms.operands, terms.plus_zeros),
            b: changed(&lane.b, flush(of_b), terms.operands, terms.plus_zeros),
            ..*lane
        };
        let verb = match terms.operands {
            None => "flushing",
            Some(_) => "changing",
        };
        let mut lost = difference(&lane.product(), &value.product());
        let sides = [("a", lane.a, value.a), ("b", lane.b, value.b)];
        let changes = sides.into_iter().filter_map(|(side, before, after)| {
            let flush = told(format!("{side}{}", lane.k), &before, &after)?;
            // Both operands have one product, whose loss is told once.
            Some(Change {
                flush,
                by: format!("{verb} operands of {}", lane.name()),
                lost: std::mem::take(&mut lost),
            })
        });
        Taken {
            changes: changes.collect(),
            value,
        }
    }

    /// The value beside the products as the step takes it: the first block's is an operand.
    pub(super) fn taken_start(&self, terms: &Terms) -> Option<Taken<Start>> {
        let start = self.start?;
        let mut value = start.clone();
        if self.first {
            value.value = changed(&start.value, terms.flush_c, terms.round_c, terms.plus_zeros);
        }
        let verb = match terms.round_c {
            None => "flushing",
            Some(_) => "changing",
        };
        let (before, after) = (&start.value, &value.value);
        let change = told(start.name.clone(), before, after).map(|flush| Change {
            by: format!("{verb} {}", start.name),
            lost: difference(&flush.value, &flush.zero),
            flush,
        });
        Some(Taken {
            value,
            changes: change.into_iter().collect(),
        })
    }

    /// The smallest exponent that a second floor takes (§2.7): −126 for f32.
    pub(super) fn min_exponent(&self) -> i64 {
        let float = self.output.format.float();
        float.map_or(0, |float| float.emin().into())
    }
}

/// An operand after its flush and its rounding.
fn changed(
    x: &Unpacked,
    flush: Option<FlushSign>,
    to: Option<(Rounding, Format)>,
    plus_zeros: bool,
) -> Unpacked {
    let mut after = match flush {
        Some(sign) if is_subnormal(x) => zero_of(x, sign),
        _ => *x,
    };
    after.negative &= !(plus_zeros && after.class == Class::Zero);
    narrowed(after, to)
}

/// How an operand changed, if it did.
fn told(name: String, before: &Unpacked, after: &Unpacked) -> Option<Flush> {
    let (value, zero) = (TracedValue::of(before), TracedValue::of(after));
    (value != zero).then_some(Flush { name, value, zero })
}

/// before − after; 0 where either is no number.
fn difference(before: &TracedValue, after: &TracedValue) -> Dyadic {
    match (before.number(), after.number()) {
        (Some(before), Some(after)) => &before - &after,
        _ => Dyadic::default(),
    }
}

/// A finite value rounded to a format.
fn narrowed(x: Unpacked, to: Option<(Rounding, Format)>) -> Unpacked {
    let Some((rounding, format)) = to.filter(|_| x.class == Class::Finite) else {
        return x;
    };
    let Some(exact) = x.exact() else { return x };
    format.decode(format.round(&exact, rounding, Overflow::Ieee))
}

/// The exact sum of finite addends, rounded once.
pub(super) fn rounded_sum(
    name: &str,
    role: String,
    addends: Vec<Addend>,
    output: &Output,
) -> TracedStep {
    let zeros = common_zero(&addends);
    let mut step = TracedStep::of(name, role, addends);
    step.finish(output, zeros);
    step
}

/// `left + right`, rounded once.
pub(super) fn add(
    name: &str,
    role: String,
    left: &Start,
    right: &Start,
    output: &Output,
) -> TracedStep {
    match special_sum([left.special(), right.special()]) {
        Some(special) => {
            let adds = vec![left.name.clone(), right.name.clone()];
            TracedStep::special(name, role, adds, special, output)
        }
        None => rounded_sum(name, role, vec![left.addend(), right.addend()], output),
    }
}

/// A value rounded to another format.
pub(super) fn convert(name: &str, role: String, source: &Start, output: &Output) -> TracedStep {
    match source.special() {
        Some(special) => {
            TracedStep::special(name, role, vec![source.name.clone()], special, output)
        }
        None => rounded_sum(name, role, vec![source.addend()], output),
    }
}

pub(super) fn zero_of(x: &Unpacked, sign: FlushSign) -> Unpacked {
    Unpacked {
        negative: x.negative && sign == FlushSign::Kept,
        class: Class::Zero,
        significand: 0,
        ..*x
    }
}

/// Whether a number is non-zero and has no hidden bit.
pub(super) fn is_subnormal(x: &Unpacked) -> bool {
    x.class == Class::Finite && x.significand >> x.fraction_bits == 0
}

/// What goes on after the flush that an output asks for, if it does.
pub(super) fn finished(step: &mut TracedStep, output: &Output) -> Start {
    match output.flush {
        None => Start::of_step(step, output),
        Some(sign) => flush_result(step, sign, output),
    }
}

/// A subnormal result becomes a zero. Gives what goes on.
pub(super) fn flush_result(step: &mut TracedStep, sign: FlushSign, output: &Output) -> Start {
    let result = Start::of_step(step, output);
    if !is_subnormal(&result.value) {
        return result;
    }
    let lost = step.value.number().unwrap_or_default();
    let zero = zero_of(&result.value, sign);
    let format = output.format.container();
    step.set_word(format.to_register(format.zero(zero.negative)), output);
    step.remarks.push(format!(
        "flushed: the subnormal {lost} becomes {}",
        step.value
    ));
    step.lose("flushing the result".to_owned(), &lost);
    Start {
        value: zero,
        ..result
    }
}
