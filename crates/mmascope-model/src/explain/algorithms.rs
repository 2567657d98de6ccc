//! Computes the steps of every algorithm on exact numbers (§2.1 to §2.8). It is a second way to the result, which shares
//! only decoding and encoding with the reference.

use super::lane::{Lane, special_sum, special_value};
use super::step::{Addend, C, common_zero};
use super::trace::{Dropped, Factor, Flush, Step};
use super::value::Value;
use crate::dpa::{Dpa, FlushSign, FtzAddMul, GstFdpa, GtrFdpa, Output, StFdpa, TFdpa, TrFdpa};
use crate::format::{Class, Rounding, Unpacked};

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
    pub(super) fn of_step(step: &Step, output: &Output) -> Self {
        Self {
            name: step.name.clone(),
            value: output.format.container().decode(step.bits()),
            cover: step.cover(),
        }
    }

    fn addend(&self) -> Addend {
        Addend::of(&self.name, &self.value, self.cover.clone())
    }

    fn special(&self) -> Option<(String, Value)> {
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
    pub(super) start: &'a Start,
    /// Whether no other block of the statement comes before.
    pub(super) first: bool,
    pub(super) output: &'a Output,
}

impl Block<'_> {
    /// The steps of the block; the last one makes its result.
    pub(super) fn steps(&self, algorithm: &Dpa) -> Vec<Step> {
        let lanes: Vec<Lane> = self.lanes.iter().map(|lane| lane.unscaled()).collect();
        match *algorithm {
            Dpa::FmaChain(_) => vec![self.unscaled(&lanes).exact_sum()],
            Dpa::EFdpa(_) => vec![self.exact_sum()],
            Dpa::TFdpa(TFdpa { f, e0, align, .. }) | Dpa::StFdpa(StFdpa { f, e0, align, .. }) => {
                vec![self.t_fdpa(f, e0, align)]
            }
            Dpa::GstFdpa(GstFdpa {
                g, f, e0, align, ..
            }) => self.gst_fdpa(g as usize, f, e0, align),
            Dpa::FtzAddMul(FtzAddMul {
                flush_in,
                flush_out,
                ..
            }) => self.unscaled(&lanes).ftz_addmul(flush_in, flush_out),
            Dpa::TrFdpa(TrFdpa { f, f2, .. }) => self.tr_fdpa(f, f2),
            Dpa::GtrFdpa(GtrFdpa { f, f2, .. }) => self.gtr_fdpa(f, f2),
            // An algorithm without steps of its own is the step of the model space that it is.
            ref other => self.general(&other.general(self.output)),
        }
    }

    /// The block for arithmetic that knows no scales.
    fn unscaled<'b>(&'b self, lanes: &'b [Lane]) -> Block<'b> {
        Block {
            name: self.name.clone(),
            role: self.role.clone(),
            lanes,
            ..*self
        }
    }

    pub(super) fn role(&self, part: &str) -> String {
        format!("{}: {part}", self.role)
    }

    /// The block's result when its operands decide that it is NaN or ∞.
    fn special(&self) -> Option<Step> {
        let products = self.lanes.iter().map(Lane::special);
        let special = special_sum(products.chain([self.start.special()]))?;
        Some(self.special_step(special))
    }

    pub(super) fn special_step(&self, special: (String, Value)) -> Step {
        let products = self.lanes.iter().map(Lane::name);
        let adds = products.chain([self.start.name.clone()]).collect();
        Step::special(&self.name, self.role.clone(), adds, special, self.output)
    }

    /// Products and start; `scaled` as in [`Lane::addend`].
    fn addends(&self, scaled: bool) -> Vec<Addend> {
        let products = self.lanes.iter().map(|lane| lane.addend(scaled));
        products.chain([self.start.addend()]).collect()
    }

    /// §2.1 and §2.6: everything is added exactly and rounded once.
    fn exact_sum(&self) -> Step {
        if let Some(step) = self.special() {
            return step;
        }
        let addends = self.addends(false);
        let zeros = common_zero(&addends);
        let mut step = Step::of(&self.name, self.role.clone(), addends);
        step.finish(self.output, zeros);
        step
    }

    /// §2.2 and §2.3.
    fn t_fdpa(&self, f: u32, e0: i32, align: Rounding) -> Step {
        if let Some(step) = self.special() {
            return step;
        }
        let addends = self.addends(true);
        let zeros = common_zero(&addends);
        let mut step = Step::of(&self.name, self.role.clone(), addends);
        let grid = |e| e - i64::from(f);
        step.align(Some(e0.into()), align, format!("2^(E-{f})"), |_, e| grid(e));
        step.finish(self.output, zeros);
        step
    }

    /// §2.4: groups are summed and scaled exactly, and align at the exponents of their scales.
    fn gst_fdpa(&self, g: usize, f: u32, e0: i32, align: Rounding) -> Vec<Step> {
        if let Some(step) = self.special() {
            return vec![step];
        }
        let mut steps = Vec::new();
        let mut addends = Vec::new();
        for lanes in self.lanes.chunks(g) {
            let name = format!("{}.g{}", self.name, lanes[0].k / g);
            let products = lanes.iter().map(|lane| lane.addend(false)).collect();
            let mut step = Step::of(&name, self.role("group"), products);
            let Some((block, scale_a, scale_b)) = lanes[0].scales else {
                continue;
            };
            let is_scaled = scale_a.class == Class::Finite && scale_b.class == Class::Finite;
            if !is_scaled || step.terms.is_empty() {
                addends.extend(lanes.iter().map(|lane| Addend::Zero {
                    name: lane.name(),
                    negative: lane.negative(),
                }));
                continue;
            }
            let factor = |side: &str, scale: &Unpacked| Factor {
                name: format!("{side}{block}"),
                value: Value::of(scale),
            };
            step.multiply(vec![factor("sa", &scale_a), factor("sb", &scale_b)]);
            let exponent = i64::from(scale_a.exponent) + i64::from(scale_b.exponent);
            let low = step
                .value
                .number()
                .map_or(exponent, |value| value.exponent());
            addends.push(Addend::of_step(&step, exponent, low.min(exponent)));
            steps.push(step);
        }
        addends.push(self.start.addend());
        let mut step = Step::of(&self.name, self.role.clone(), addends);
        let grid = |e| e - i64::from(f);
        step.align(Some(e0.into()), align, format!("2^(E-{f})"), |_, e| grid(e));
        step.finish(self.output, common_zero(&self.addends(false)));
        steps.push(step);
        steps
    }

    /// §2.5: every product and every sum is a step of its own.
    fn ftz_addmul(&self, flush_in: FlushSign, flush_out: FlushSign) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut level: Vec<(Start, usize, usize)> = Vec::new();
        for lane in self.lanes {
            let mut flushed = Vec::new();
            let mut flush = |side: &str, value: &Unpacked| {
                flush_operand(&format!("{side}{}", lane.k), value, flush_in, &mut flushed)
            };
            let taken = Lane {
                a: flush("a", &lane.a),
                b: flush("b", &lane.b),
                ..*lane
            };
            let name = format!("{}.m{}", self.name, lane.k);
            let role = self.role("product");
            let mut step = match taken.special() {
                Some(special) => {
                    Step::special(&name, role, vec![lane.name()], special, self.output)
                }
                None => rounded_sum(&name, role, vec![taken.addend(false)], self.output),
            };
            if let (Some(before), Some(after)) = (lane.product().number(), taken.product().number())
            {
                let difference = &before - &after;
                step.lose(format!("flushing operands of p{}", lane.k), &difference);
            }
            step.flushed = flushed;
            let result = flush_result(&mut step, flush_out, self.output);
            steps.push(step);
            level.push((result, lane.k, lane.k));
        }
        while level.len() > 1 {
            let mut next = Vec::new();
            for two in level.chunks(2) {
                let [(left, first, _), (right, _, last)] = two else {
                    next.extend_from_slice(two);
                    continue;
                };
                let name = format!("{}.s{first}-{last}", self.name);
                let mut step = add(&name, self.role("pairwise sum"), left, right, self.output);
                let result = flush_result(&mut step, flush_out, self.output);
                steps.push(step);
                next.push((result, *first, *last));
            }
            level = next;
        }
        let mut flushed = Vec::new();
        // What the statement starts from is an operand; what comes from a block is a result.
        let mut start = self.start.clone();
        if self.first {
            start.value = flush_operand(&start.name, &start.value, flush_in, &mut flushed);
        }
        let Some((sum, ..)) = level.first() else {
            return steps;
        };
        let mut step = add(&self.name, self.role("joining"), &start, sum, self.output);
        if let (Some(before), Some(after)) = (
            Value::of(&self.start.value).number(),
            Value::of(&start.value).number(),
        ) {
            step.lose(format!("flushing {}", start.name), &(&before - &after));
        }
        step.flushed = flushed;
        flush_result(&mut step, flush_out, self.output);
        steps.push(step);
        steps
    }

    /// Exponent of a zero c, and the smallest that the second floor takes (§2.7): −126 for f32.
    pub(super) fn min_exponent(&self) -> i64 {
        let float = self.output.format.float();
        float.map_or(0, |float| float.emin().into())
    }

    /// §2.7 step 1: products beyond the accumulator's exponents, 2^128 and more for f32, are ∞.
    fn special_with_overflow(&self) -> Option<Step> {
        let float = self.output.format.float();
        let limit = float.map_or(0, |float| 1_i64 << (float.exponent_bits - 1));
        let product = |lane: &Lane| {
            lane.special().or_else(|| {
                let product = lane.product().number()?;
                (product.top()? >= limit).then(|| {
                    let negative = lane.negative();
                    let value = Value::Infinite { negative };
                    (
                        format!("{} = {value}, being 2^{limit} or more", lane.name()),
                        value,
                    )
                })
            })
        };
        let special = special_sum(self.lanes.iter().map(product).chain([self.start.special()]))?;
        Some(self.special_step(special))
    }

    /// §2.7.
    fn tr_fdpa(&self, f: u32, f2: u32) -> Vec<Step> {
        if let Some(step) = self.special_with_overflow() {
            return vec![step];
        }
        let lanes: Vec<&Lane> = self.lanes.iter().collect();
        let name = format!("{}.T", self.name);
        let products = self.products(&name, "truncated products", &lanes, f);
        self.join(
            products.into_iter().collect(),
            self.start.addend(),
            None,
            f,
            f2,
        )
    }

    /// §2.8.
    fn gtr_fdpa(&self, f: u32, f2: u32) -> Vec<Step> {
        if let Some(step) = self.special_with_overflow() {
            return vec![step];
        }
        let mut steps = Vec::new();
        for (start, name) in [(0, "even"), (1, "odd")] {
            let lanes: Vec<&Lane> = self.lanes.iter().skip(start).step_by(2).collect();
            let part = format!("truncated products, {name}");
            let name = format!("{}.{name}", self.name);
            steps.extend(self.products(&name, &part, &lanes, f));
        }
        if let [even, odd] = &steps[..] {
            let addends = [even, odd].map(|step| {
                let e = step
                    .alignment
                    .as_ref()
                    .map_or(0, |aligned| aligned.exponent);
                Addend::of_step(step, e, e - i64::from(f))
            });
            let name = format!("{}.T", self.name);
            let mut step = Step::of(&name, self.role("even and odd"), addends.into());
            step.align(None, Rounding::Rd, format!("2^(E-{f})"), |_, e| {
                e - i64::from(f)
            });
            steps.push(step);
        }
        let c = &self.start.value;
        let e_dot = last_exponent(&steps);
        let mut addend = self.start.addend();
        let mut dropped = None;
        if let (Some(e_dot), Value::Finite(value)) = (e_dot, Value::of(c)) {
            let exponent = i64::from(c.exponent);
            let below = e_dot.max(exponent) - i64::from(f) - 1;
            if exponent < below {
                dropped = Some(Dropped {
                    name: self.start.name.clone(),
                    value: Value::Finite(value),
                    exponent,
                    below,
                });
                addend = Addend::Zero {
                    name: self.start.name.clone(),
                    negative: false,
                };
            }
        }
        self.join(steps, addend, dropped, f, f2)
    }

    /// The products of some lanes, truncated at their own largest exponent; `None` when all are 0.
    fn products(&self, name: &str, part: &str, lanes: &[&Lane], f: u32) -> Option<Step> {
        let addends = lanes.iter().map(|lane| lane.addend(false)).collect();
        let mut step = Step::of(name, self.role(part), addends);
        if step.terms.is_empty() {
            return None;
        }
        let grid = |e| e - i64::from(f);
        step.align(None, Rounding::Rz, format!("2^(E-{f})"), |_, e| grid(e));
        Some(step)
    }

    /// §2.7 steps 3 and 4: the last of `steps` and c are floored to a common grid, added, floored
    /// again and rounded.
    fn join(
        &self,
        mut steps: Vec<Step>,
        c: Addend,
        dropped: Option<Dropped>,
        f: u32,
        f2: u32,
    ) -> Vec<Step> {
        let e_dot = last_exponent(&steps);
        let (f, f2) = (i64::from(f), i64::from(f2));
        let floor = matches!(c, Addend::Zero { .. }).then_some(self.min_exponent());
        let mut addends = Vec::new();
        let mut t_name = None;
        if let Some((step, e_dot)) = steps.last().zip(e_dot) {
            addends.push(Addend::of_step(step, e_dot, e_dot - f));
            t_name = Some(step.name.clone());
        } else {
            let zero = |lane: &Lane| lane.addend(false);
            addends.extend(self.lanes.iter().map(zero));
        }
        addends.push(c);
        let zeros = common_zero(&addends);
        let mut step = Step::of(&self.name, self.role("joining"), addends);
        let words = match &t_name {
            Some(name) => format!(
                "2^(E-{f}) for {}, 2^(E-{}) for {name}, which stays as it is where that is finer",
                self.start.name,
                f2 + 1
            ),
            None => format!("2^(E-{f})"),
        };
        step.align(floor, Rounding::Rd, words, |term, e| {
            if Some(&term.name) == t_name.as_ref() {
                (e - (f2 + 1)).max(term.low)
            } else {
                e - f
            }
        });
        if let Some(top) = step.sum.top() {
            step.floor(top.max(self.min_exponent()) - f2, Rounding::Rd);
        }
        step.finish(self.output, zeros);
        if let Some(dropped) = dropped {
            let value = dropped.value.number().unwrap_or_default();
            step.lose(format!("dropping {}", dropped.name), &value);
            step.dropped = Some(dropped);
        }
        steps.push(step);
        steps
    }
}

/// E of the last step.
fn last_exponent(steps: &[Step]) -> Option<i64> {
    steps
        .last()?
        .alignment
        .as_ref()
        .map(|alignment| alignment.exponent)
}

/// The exact sum of finite addends, rounded once.
pub(super) fn rounded_sum(name: &str, role: String, addends: Vec<Addend>, output: &Output) -> Step {
    let zeros = common_zero(&addends);
    let mut step = Step::of(name, role, addends);
    step.finish(output, zeros);
    step
}

/// `left + right`, rounded once.
pub(super) fn add(name: &str, role: String, left: &Start, right: &Start, output: &Output) -> Step {
    match special_sum([left.special(), right.special()]) {
        Some(special) => {
            let adds = vec![left.name.clone(), right.name.clone()];
            Step::special(name, role, adds, special, output)
        }
        None => rounded_sum(name, role, vec![left.addend(), right.addend()], output),
    }
}

/// A value rounded to another format.
pub(super) fn convert(name: &str, role: String, source: &Start, output: &Output) -> Step {
    match source.special() {
        Some(special) => Step::special(name, role, vec![source.name.clone()], special, output),
        None => rounded_sum(name, role, vec![source.addend()], output),
    }
}

/// A plain rounded product (§3, scalar lowerings).
pub(super) fn multiply(name: &str, role: String, lane: &Lane, output: &Output) -> Step {
    match lane.special() {
        Some(special) => Step::special(name, role, vec![lane.name()], special, output),
        None => rounded_sum(name, role, vec![lane.addend(false)], output),
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

/// §2.5: an operand whose exponent field is 0, a zero included, becomes a zero.
fn flush_operand(name: &str, x: &Unpacked, sign: FlushSign, flushed: &mut Vec<Flush>) -> Unpacked {
    let is_small = matches!(x.class, Class::Zero) || is_subnormal(x);
    if !is_small {
        return *x;
    }
    let zero = zero_of(x, sign);
    if zero != *x {
        flushed.push(Flush {
            name: name.to_owned(),
            value: Value::of(x),
            zero: Value::of(&zero),
        });
    }
    zero
}

/// Whether a number is non-zero and has no hidden bit.
pub(super) fn is_subnormal(x: &Unpacked) -> bool {
    x.class == Class::Finite && x.significand >> x.fraction_bits == 0
}

/// What goes on after the flush that an output asks for, if it does.
pub(super) fn finished(step: &mut Step, output: &Output) -> Start {
    match output.flush {
        None => Start::of_step(step, output),
        Some(sign) => flush_result(step, sign, output),
    }
}

/// §2.5: a subnormal result becomes a zero. Gives what goes on.
pub(super) fn flush_result(step: &mut Step, sign: FlushSign, output: &Output) -> Start {
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
