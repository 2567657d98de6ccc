//! Computes general steps (`fused`, `add-mul`, `join`) on exact numbers. It is a second way to the result, as for the
//! algorithms of the shipped rows.

use super::algorithms::{
    Block, Start, add, finished, flush_result, is_subnormal, rounded_sum, zero_of,
};
use super::lane::{Lane, special_sum, special_value};
use super::step::{Addend, common_zero};
use super::trace::{Dropped, Flush, Step, Term};
use super::value::Value;
use crate::dpa::{
    AddMul, Dpa, FlushSign, Fused, General, GroupExponent, Groups, Invalid, Nan, Output, Side,
    Sticky, Terms, Tininess, ZeroSign,
};
use crate::exact::Dyadic;
use crate::format::{Class, Format, Overflow, Rounding, Unpacked};

/// How far below everything the trace of what fell off lies.
const TRACE: i64 = 64;

/// What a lane gives to a sum.
enum Product {
    Addend(Addend),
    Special((String, Value)),
}

/// Operands of a block as its terms take them, with what was flushed.
struct Taken {
    lanes: Vec<Lane>,
    start: Start,
    flushed: Vec<Flush>,
}

/// The values of earlier statements that a join adds.
type Values<'a> = &'a [Start];

impl Block<'_> {
    pub(super) fn general(&self, step: &General) -> Vec<Step> {
        match step {
            General::Fused(fused) => self.fused(fused, &[], true),
            General::AddMul(step) => self.add_mul(step, true),
        }
    }

    /// A block that has no value beside its products.
    pub(super) fn without_start(&self, algorithm: &Dpa) -> Vec<Step> {
        match algorithm {
            Dpa::General(General::AddMul(step)) => self.add_mul(step, false),
            Dpa::General(General::Fused(fused)) => self.fused(fused, &[], false),
            other => self.steps(other),
        }
    }

    /// Products and values of earlier statements in one sum.
    pub(super) fn of_values(&self, algorithm: &Dpa, values: Values<'_>) -> Vec<Step> {
        match algorithm {
            Dpa::General(General::Fused(fused)) => self.fused(fused, values, true),
            other => self.steps(other),
        }
    }

    fn take(&self, terms: &Terms) -> Taken {
        let mut flushed = Vec::new();
        let mut take = |name: String, x: &Unpacked, flush: Option<FlushSign>, to| {
            let mut after = *x;
            if let Some(sign) = flush.filter(|_| is_subnormal(x)) {
                after = zero_of(x, sign);
            }
            if terms.plus_zeros && after.class == Class::Zero {
                after.negative = false;
            }
            after = narrowed(after, to);
            if after != *x && Value::of(&after) != Value::of(x) {
                flushed.push(Flush {
                    name,
                    value: Value::of(x),
                    zero: Value::of(&after),
                });
            }
            after
        };
        let (of_a, of_b) = (terms.flush_of != Side::B, terms.flush_of != Side::A);
        let mut lanes = Vec::new();
        for lane in self.lanes {
            let (a, b) = (format!("a{}", lane.k), format!("b{}", lane.k));
            lanes.push(Lane {
                a: take(a, &lane.a, terms.flush_in.filter(|_| of_a), terms.operands),
                b: take(b, &lane.b, terms.flush_in.filter(|_| of_b), terms.operands),
                ..*lane
            });
        }
        let mut start = self.start.clone();
        if self.first {
            let name = start.name.clone();
            start.value = take(name, &start.value, terms.flush_c, terms.round_c);
        }
        Taken {
            lanes,
            start,
            flushed,
        }
    }

    fn fused(&self, fused: &Fused, values: Values<'_>, with_start: bool) -> Vec<Step> {
        let Taken {
            lanes,
            start,
            flushed,
        } = self.take(&fused.terms);
        let mut steps = Vec::new();
        let mut addends = Vec::new();
        let mut specials = Vec::new();
        let mut exact = Vec::new();
        for lane in &lanes {
            match self.product(fused, lane, &mut steps) {
                Product::Addend(addend) => {
                    // A rounded product is the zero that it became.
                    let is_rounded = fused.terms.products.is_some();
                    exact.push(if is_rounded {
                        addend.clone()
                    } else {
                        addend_of(lane)
                    });
                    addends.push(addend);
                }
                Product::Special(special) => specials.push(special),
            }
        }
        for value in values {
            match special_value(&value.name, &value.value) {
                Some(special) => specials.push(special),
                None => addends.push(Addend::of(&value.name, &value.value, value.cover.clone())),
            }
            exact.extend(addends.last().cloned());
        }
        let start = with_start.then_some(start);
        specials.extend(
            start
                .iter()
                .filter_map(|c| special_value(&c.name, &c.value)),
        );
        if let Some(special) = self.general_special(fused, specials) {
            steps.push(self.special_step(special));
            return steps;
        }
        let c = start.map(|c| Addend::of(&c.name, &c.value, c.cover.clone()));
        exact.extend(c.clone());
        let zeros = common_zero(&exact);
        if let Some(groups) = fused.groups {
            let places = match values {
                [] => addends.len().max(fused.l as usize),
                _ => addends.len(),
            };
            addends = self.groups(&groups, addends, places, &mut steps);
        }
        if let Some((f, align)) = fused.join {
            addends = self.joined(addends, f, align, &mut steps);
        }
        addends.extend(c);
        let mut step = Step::of(&self.name, self.role.clone(), addends);
        step.flushed = flushed;
        let c = if with_start { &self.start.name } else { "" };
        self.drop_far(fused, c, &mut step);
        self.align_fused(fused, c, &mut step);
        if let Some((f2, top)) = fused.f2.zip(step.sum.top()) {
            step.floor(top.max(self.min_exponent()) - i64::from(f2), fused.floor);
        }
        step.finish(self.output, zeros);
        steps.push(step);
        steps
    }

    /// Products or groups as one sum, which takes part as a term.
    fn joined(
        &self,
        addends: Vec<Addend>,
        f: u32,
        align: Rounding,
        steps: &mut Vec<Step>,
    ) -> Vec<Addend> {
        let name = format!("{}.T", self.name);
        let mut step = Step::of(&name, self.role("joined"), addends.clone());
        if step.terms.is_empty() {
            return addends;
        }
        let f = i64::from(f);
        let largest = step.align(None, align, format!("2^(E-{f})"), |_, e| e - f);
        let addend = Addend::of_step(&step, largest, largest - f);
        steps.push(step);
        vec![addend]
    }

    /// A c that lies too far below the grid counts as 0.
    fn drop_far(&self, fused: &Fused, c: &str, step: &mut Step) {
        let Some(far) = fused.drop_c.filter(|_| fused.f.is_some()) else {
            return;
        };
        let floor = fused.e0.map(i64::from);
        let counts = |term: &&Term| !(fused.apart && term.name == c);
        let exponents = step.terms.iter().filter(counts).map(|term| term.exponent);
        let Some(largest) = exponents.chain(floor).max() else {
            return;
        };
        let below = largest - i64::from(far);
        let is_far = |term: &Term| term.name == c && term.exponent < below;
        let Some(place) = step.terms.iter().position(is_far) else {
            return;
        };
        let term = step.terms.remove(place);
        step.lose(format!("dropping {c}"), &term.value);
        step.dropped = Some(Dropped {
            name: c.to_owned(),
            exponent: term.exponent,
            value: Value::of_number(&term.value),
            below,
        });
        step.sum = step.terms.iter().map(|term| &term.value).sum();
        step.value = Value::of_number(&step.sum);
    }

    fn align_fused(&self, fused: &Fused, c: &str, step: &mut Step) {
        let (Some(f), Some(f_c)) = (fused.f, fused.f_c) else {
            return;
        };
        let (f, f_c) = (i64::from(f), i64::from(f_c));
        let counts = |term: &Term| !(fused.apart && term.name == c);
        let floor = fused.e0.map(i64::from);
        if floor.is_none() && !step.terms.iter().any(counts) {
            return;
        }
        let words = if (f, fused.align) == (f_c, fused.align_c) {
            format!("2^(E-{f})")
        } else {
            format!("2^(E-{f}), and {} {c} to 2^(E-{f_c})", fused.align_c)
        };
        let largest = step.align_each(floor, fused.align, words, counts, |term, e| {
            match term.name == c {
                true => (e - f_c, fused.align_c),
                false => (e - f, fused.align),
            }
        });
        let lost = |term: &Term| {
            term.cut
                .as_ref()
                .is_some_and(|cut| !cut.difference.is_zero())
        };
        let lost = step.terms.iter().any(lost) && !step.sum.is_zero();
        if lost && fused.sticky != Sticky::None {
            let place = match fused.sticky {
                Sticky::Bit(below) => largest - f.max(f_c) - i64::from(below),
                _ => step.sum.exponent() - TRACE,
            };
            let trace = Dyadic::new(if step.sum.is_negative() { -1 } else { 1 }.into(), place);
            step.sum = [&step.sum, &trace].into_iter().sum();
            step.value = Value::of_number(&step.sum);
            step.remarks
                .push(format!("sticky: what fell off counts as 2^{place}"));
        }
    }

    /// NaN or ∞, by the rules of the step.
    fn general_special(
        &self,
        fused: &Fused,
        specials: Vec<(String, Value)>,
    ) -> Option<(String, Value)> {
        let infinite = |negative| {
            let value = Value::Infinite { negative };
            specials.iter().any(|special| special.1 == value)
        };
        let nan = specials.iter().any(|special| special.1 == Value::Nan);
        let both = infinite(false) && infinite(true) && !nan;
        let negative = match fused.specials.opposite {
            Invalid::Plus if both => false,
            Invalid::Minus if both => true,
            _ => return special_sum(specials.into_iter().map(Some)),
        };
        let value = Value::Infinite { negative };
        Some((format!("∞ of both signs give {value}"), value))
    }

    fn product(&self, fused: &Fused, lane: &Lane, steps: &mut Vec<Step>) -> Product {
        if let Some((reason, value)) = lane.special() {
            let operands = [Value::of(&lane.a), Value::of(&lane.b)];
            let scale = lane
                .scales
                .is_some_and(|(_, a, b)| a.class == Class::Nan || b.class == Class::Nan);
            if value != Value::Nan || operands.contains(&Value::Nan) || scale {
                return Product::Special((reason, value));
            }
            let negative = match fused.specials.zero_times_infinity {
                Invalid::Nan => return Product::Special((reason, value)),
                Invalid::Zero => {
                    return Product::Addend(Addend::Zero {
                        name: lane.name(),
                        negative: lane.negative(),
                    });
                }
                Invalid::Plus => false,
                Invalid::Minus => true,
                Invalid::Signed => lane.negative(),
            };
            return Product::Special((reason, Value::Infinite { negative }));
        }
        let mut addend = addend_of(lane);
        if let Addend::Term(term) = &mut addend {
            let top = term.value.top().unwrap_or(term.exponent);
            if let Some(limit) = fused.product_limit.filter(|&limit| top >= limit.into()) {
                let value = Value::Infinite {
                    negative: lane.negative(),
                };
                let reason = format!("{} = {value}, being 2^{limit} or more", lane.name());
                return Product::Special((reason, value));
            }
            if fused.normalised {
                (term.exponent, term.high) = (top, top);
            }
            let by_scales = |groups: &Groups| groups.exponent == GroupExponent::Scales;
            if fused.groups.as_ref().is_some_and(by_scales)
                && let Some((_, a, b)) = lane.scales
            {
                term.exponent = i64::from(a.exponent) + i64::from(b.exponent);
                term.high = term.high.max(term.exponent);
            }
        }
        if let Some(to) = fused.terms.products {
            let (step, value) = self.rounded(&fused.terms, lane, to, Overflow::Ieee);
            let name = step.name.clone();
            steps.push(step);
            return match special_value(&name, &value.value) {
                Some(special) => Product::Special(special),
                None => Product::Addend(Addend::of(&name, &value.value, value.cover)),
            };
        }
        Product::Addend(addend)
    }

    /// A product rounded to a format, and flushed.
    fn rounded(
        &self,
        terms: &Terms,
        lane: &Lane,
        to: (Rounding, Format),
        overflow: Overflow,
    ) -> (Step, Start) {
        let output = Output {
            format: to.1,
            rounding: to.0,
            overflow,
            nan: Nan::Any,
            zero: ZeroSign::Ieee,
            flush: None,
            tininess: Tininess::After,
        };
        let lane = lane.unscaled();
        let name = format!("{}.m{}", self.name, lane.k);
        let role = self.role("product");
        let mut step = match lane.special() {
            Some(special) => Step::special(&name, role, vec![lane.name()], special, &output),
            None => rounded_sum(&name, role, vec![lane.addend(false)], &output),
        };
        let value = match terms.flush_products {
            Some(sign) => flush_result(&mut step, sign, &output),
            None => Start::of_step(&step, &output),
        };
        (step, value)
    }

    /// Sums of groups, as addends.
    fn groups(
        &self,
        groups: &Groups,
        addends: Vec<Addend>,
        places: usize,
        steps: &mut Vec<Step>,
    ) -> Vec<Addend> {
        let size = groups.g as usize;
        let count = match groups.strided {
            true => places.div_ceil(size),
            false => addends.len().div_ceil(size),
        };
        let mut found = Vec::new();
        for group in 0..count {
            let own: Vec<Addend> = addends
                .iter()
                .enumerate()
                .filter(|(index, _)| match groups.strided {
                    true => index % count == group,
                    false => index / size == group,
                })
                .map(|(_, addend)| addend.clone())
                .collect();
            let name = format!("{}.g{group}", self.name);
            let mut step = Step::of(&name, self.role("group"), own);
            let Some(largest) = step.terms.iter().map(|term| term.exponent).max() else {
                continue;
            };
            let mut low = step
                .terms
                .iter()
                .map(|term| term.low)
                .min()
                .unwrap_or(largest);
            if let Some(f) = groups.f {
                let f = i64::from(f);
                step.align(None, groups.align, format!("2^(E-{f})"), |_, e| e - f);
                low = largest - f;
            }
            let normalised = groups.exponent == GroupExponent::Own;
            let exponent = match (normalised, step.sum.top()) {
                (false, None) if groups.drops_zero => {
                    steps.push(step);
                    continue;
                }
                (false, _) => largest,
                (true, Some(top)) => top,
                (true, None) => {
                    steps.push(step);
                    continue;
                }
            };
            found.push(Addend::of_step(&step, exponent, low.min(exponent)));
            steps.push(step);
        }
        found
    }

    fn add_mul(&self, add_mul: &AddMul, with_start: bool) -> Vec<Step> {
        let Taken {
            lanes,
            start,
            flushed,
        } = self.take(&add_mul.terms);
        let (rounding, format, overflow) = match add_mul.terms.products {
            Some((rounding, format)) => (rounding, format, Overflow::Ieee),
            None => (
                self.output.rounding,
                self.output.format,
                self.output.overflow,
            ),
        };
        let mut steps: Vec<Step> = Vec::new();
        let mut level: Vec<Start> = Vec::new();
        for lane in &lanes {
            let to = (rounding, format);
            let (step, value) = self.rounded(&add_mul.terms, lane, to, overflow);
            steps.push(step);
            level.push(value);
        }
        let mut count = 0;
        let mut sum = |left: &Start, right: &Start, steps: &mut Vec<Step>| {
            count += 1;
            let name = format!("{}.s{count}", self.name);
            let mut step = add(&name, self.role("sum"), left, right, self.output);
            let value = summed(add_mul, &mut step, self.output);
            steps.push(step);
            value
        };
        while level.len() > 1 {
            if add_mul.sequential {
                let right = level.remove(1);
                level[0] = sum(&level[0], &right, &mut steps);
            } else {
                level = level
                    .chunks(2)
                    .map(|two| match two {
                        [left, right] => sum(left, right, &mut steps),
                        _ => two[0].clone(),
                    })
                    .collect();
            }
        }
        let Some(group) = level.first() else {
            return steps;
        };
        if with_start {
            let role = self.role("joining");
            let mut step = add(&self.name, role, &start, group, self.output);
            if add_mul.flush_sums.is_some() {
                summed(add_mul, &mut step, self.output);
            }
            steps.push(step);
        } else {
            let role = self.role("beginning");
            let output = self.output;
            steps.push(super::algorithms::convert(&self.name, role, group, output));
        }
        if let Some(first) = steps.first_mut() {
            first.flushed = flushed;
        }
        steps
    }
}

/// A sum after the flushes.
fn summed(add_mul: &AddMul, step: &mut Step, output: &Output) -> Start {
    let value = finished(step, output);
    match add_mul.flush_sums {
        Some(sign) => flush_result(step, sign, output),
        None => value,
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

/// A product with its scales, whatever their significands.
fn addend_of(lane: &Lane) -> Addend {
    let mut addend = lane.addend(true);
    if let Addend::Term(term) = &mut addend
        && let Some((_, a, b)) = lane.scales
    {
        match lane.scaled_product().filter(|product| !product.is_zero()) {
            Some(product) => {
                term.value = product;
                term.low -= i64::from(a.fraction_bits + b.fraction_bits);
            }
            None => {
                return Addend::Zero {
                    name: lane.name(),
                    negative: lane.negative(),
                };
            }
        }
    }
    addend
}
