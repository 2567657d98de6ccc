//! Fused sums: products, or sums of groups of them, and c, rounded once.

use super::block::{Block, Change, Start, Taken};
use super::lane::{Lane, special_sum, special_value};
use super::step::{Addend, common_zero};
use super::trace::{Dropped, Factor, TracedStep, TracedTerm};
use super::value::TracedValue;
use crate::dpa::{Fused, GroupExponent, Groups, Invalid, Sticky};
use crate::exact::{Dyadic, Rounding};
use crate::format::{Class, Overflow};

/// How far below everything the trace of what fell off lies.
const TRACE: i64 = 64;

/// What a lane or an earlier value gives to a sum.
struct Member {
    addend: Addend,
    /// The lane of a product that has not been rounded.
    lane: Option<Lane>,
}

/// A finite member, or what it is instead.
enum Product {
    Member(Member),
    Special((String, TracedValue)),
}

impl Block<'_> {
    /// `values` are those of earlier statements, which a join adds.
    pub(super) fn fused(&self, fused: &Fused, values: &[Start]) -> Vec<TracedStep> {
        let mut steps = Vec::new();
        let mut changes = Vec::new();
        let mut members = Vec::new();
        let mut specials = Vec::new();
        // Zeros decide the sign of a zero sum as they are, before any alignment.
        let mut whole = Vec::new();
        for lane in self.lanes {
            let Taken {
                value: lane,
                changes: own,
            } = self.taken(lane, &fused.terms);
            match self.product(fused, &lane, own, &mut steps, &mut changes) {
                Product::Member(member) => {
                    whole.push(match member.lane {
                        Some(lane) => addend_of(&lane),
                        None => member.addend.clone(),
                    });
                    members.push(member);
                }
                Product::Special(special) => specials.push(special),
            }
        }
        for value in values {
            match special_value(&value.name, &value.value) {
                Some(special) => specials.push(special),
                None => {
                    let addend = value.addend();
                    whole.push(addend.clone());
                    members.push(Member { addend, lane: None });
                }
            }
        }
        let start = self.taken_start(&fused.terms).map(|start| {
            changes.extend(start.changes);
            start.value
        });
        specials.extend(start.iter().filter_map(Start::special));
        if let Some(special) = self.special(fused, specials) {
            steps.push(self.special_step(special, values));
            return steps;
        }
        let c = start.as_ref().map(Start::addend);
        whole.extend(c.clone());
        let mut addends = match fused.groups {
            Some(groups) => {
                let places = match values {
                    [] => members.len().max(fused.l as usize),
                    _ => members.len(),
                };
                self.groups(&groups, &members, places, &mut steps)
            }
            None => members.into_iter().map(|member| member.addend).collect(),
        };
        if let Some((f, align)) = fused.join {
            addends = self.joined(addends, f, align, &mut steps);
        }
        addends.extend(c);
        let role = match fused.groups.is_some() || fused.join.is_some() {
            true => self.role("joining"),
            false => self.role.clone(),
        };
        let mut step = TracedStep::of(&self.name, role, addends);
        let c = start.map_or_else(String::new, |start| start.name);
        self.drop_far(fused, &c, &mut step);
        self.align_fused(fused, &c, &mut step);
        if let Some((f2, top)) = fused.f2.zip(step.sum.top()) {
            step.floor(top.max(self.min_exponent()) - i64::from(f2), fused.floor);
        }
        step.finish(self.output, common_zero(&whole));
        step.take(changes);
        steps.push(step);
        steps
    }

    /// What a lane gives to the sum. What taking its operands changed goes to the step that rounds
    /// the product, or else to `changes`.
    fn product(
        &self,
        fused: &Fused,
        lane: &Lane,
        own: Vec<Change>,
        steps: &mut Vec<TracedStep>,
        changes: &mut Vec<Change>,
    ) -> Product {
        let zero = || {
            Product::Member(Member {
                addend: Addend::Zero {
                    name: lane.name(),
                    negative: lane.negative(),
                },
                lane: None,
            })
        };
        if let Some((reason, value)) = lane.special() {
            let operands = [TracedValue::of(&lane.a), TracedValue::of(&lane.b)];
            let scale = lane
                .scales
                .is_some_and(|(_, a, b)| a.class == Class::Nan || b.class == Class::Nan);
            if value != TracedValue::Nan || operands.contains(&TracedValue::Nan) || scale {
                return Product::Special((reason, value));
            }
            let negative = match fused.specials.zero_times_infinity {
                Invalid::Nan => return Product::Special((reason, value)),
                Invalid::Zero => return zero(),
                Invalid::Plus => false,
                Invalid::Minus => true,
                Invalid::Signed => lane.negative(),
            };
            return Product::Special((reason, TracedValue::Infinite { negative }));
        }
        let mut addend = addend_of(lane);
        if let Addend::Term(term) = &mut addend {
            let top = term.value.top().unwrap_or(term.exponent);
            if let Some(limit) = fused.product_limit.filter(|&limit| top >= limit.into()) {
                let value = TracedValue::Infinite {
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
            let (step, value) = self.rounded(&fused.terms, lane, own, to, Overflow::Ieee);
            let name = step.name.clone();
            steps.push(step);
            return match special_value(&name, &value.value) {
                Some(special) => Product::Special(special),
                None => Product::Member(Member {
                    addend: value.addend(),
                    lane: None,
                }),
            };
        }
        changes.extend(own);
        Product::Member(Member {
            addend,
            lane: Some(*lane),
        })
    }

    /// NaN or ∞, by the rules of the step.
    fn special(
        &self,
        fused: &Fused,
        specials: Vec<(String, TracedValue)>,
    ) -> Option<(String, TracedValue)> {
        let infinite = |negative| {
            let value = TracedValue::Infinite { negative };
            specials.iter().any(|special| special.1 == value)
        };
        let nan = specials.iter().any(|special| special.1 == TracedValue::Nan);
        let both = infinite(false) && infinite(true) && !nan;
        let negative = match fused.specials.opposite {
            Invalid::Plus if both => false,
            Invalid::Minus if both => true,
            _ => return special_sum(specials.into_iter().map(Some)),
        };
        let value = TracedValue::Infinite { negative };
        Some((format!("∞ of both signs give {value}"), value))
    }

    /// Sums of groups, as addends.
    fn groups(
        &self,
        groups: &Groups,
        members: &[Member],
        places: usize,
        steps: &mut Vec<TracedStep>,
    ) -> Vec<Addend> {
        let size = groups.g as usize;
        let count = match groups.strided {
            true => places.div_ceil(size),
            false => members.len().div_ceil(size),
        };
        let mut found = Vec::new();
        for group in 0..count {
            let own: Vec<&Member> = members
                .iter()
                .enumerate()
                .filter(|(index, _)| match groups.strided {
                    true => index % count == group,
                    false => index / size == group,
                })
                .map(|(_, member)| member)
                .collect();
            let name = format!("{}.g{group}", self.name);
            let addends: Vec<Addend> = own.iter().map(|member| member.addend.clone()).collect();
            let mut step = TracedStep::of(&name, self.role("group"), addends.clone());
            let Some(largest) = step.terms.iter().map(|term| term.exponent).max() else {
                found.extend(addends);
                continue;
            };
            let lows = step.terms.iter().map(|term| term.low);
            let mut low = lows.min().unwrap_or(largest);
            match (groups.f, common_scales(groups, &own)) {
                (Some(f), _) => {
                    let f = i64::from(f);
                    step.align(None, groups.align, format!("2^(E-{f})"), |_, e| e - f);
                    low = largest - f;
                }
                // Scales of the whole group are factors of its sum.
                (None, Some((lanes, factors))) => {
                    let addends = lanes.iter().map(|lane| lane.addend(false)).collect();
                    step = TracedStep::of(&name, self.role("group"), addends);
                    step.multiply(factors);
                    let number = step.value.number();
                    low = number.map_or(largest, |value| value.exponent());
                }
                (None, None) => {}
            }
            let top = step.value.number().and_then(|value| value.top());
            let exponent = match (groups.exponent, top) {
                (GroupExponent::Own, Some(top)) => Some(top),
                (GroupExponent::Own, None) => None,
                (_, None) if groups.drops_zero => None,
                (GroupExponent::Products | GroupExponent::Scales, _) => Some(largest),
            };
            if let Some(exponent) = exponent {
                found.push(Addend::of_step(&step, exponent, low.min(exponent)));
            }
            steps.push(step);
        }
        found
    }

    /// Products or groups as one sum, which takes part as a term.
    fn joined(
        &self,
        addends: Vec<Addend>,
        f: u32,
        align: Rounding,
        steps: &mut Vec<TracedStep>,
    ) -> Vec<Addend> {
        let name = format!("{}.T", self.name);
        let mut step = TracedStep::of(&name, self.role("joined"), addends.clone());
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
    fn drop_far(&self, fused: &Fused, c: &str, step: &mut TracedStep) {
        let Some(far) = fused.drop_c.filter(|_| fused.f.is_some()) else {
            return;
        };
        let floor = fused.e0.map(i64::from);
        let counts = |term: &&TracedTerm| !(fused.c_outside_alignment && term.name == c);
        let exponents = step.terms.iter().filter(counts).map(|term| term.exponent);
        let Some(largest) = exponents.chain(floor).max() else {
            return;
        };
        let below = largest - i64::from(far);
        let is_far = |term: &TracedTerm| term.name == c && term.exponent < below;
        let Some(place) = step.terms.iter().position(is_far) else {
            return;
        };
        let term = step.terms.remove(place);
        step.lose(format!("dropping {c}"), &term.value);
        step.dropped = Some(Dropped {
            name: c.to_owned(),
            exponent: term.exponent,
            value: TracedValue::of_number(&term.value),
            below,
        });
        step.sum = step.terms.iter().map(|term| &term.value).sum();
        step.value = TracedValue::of_number(&step.sum);
    }

    fn align_fused(&self, fused: &Fused, c: &str, step: &mut TracedStep) {
        let (Some(f), Some(f_c)) = (fused.f, fused.f_c) else {
            return;
        };
        let (f, f_c) = (i64::from(f), i64::from(f_c));
        let counts = |term: &TracedTerm| !(fused.c_outside_alignment && term.name == c);
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
        let lost = |term: &TracedTerm| {
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
            step.value = TracedValue::of_number(&step.sum);
            step.remarks
                .push(format!("sticky: what fell off counts as 2^{place}"));
        }
    }
}

/// The lanes of a group that aligns with its scales and has one pair of them, and those scales.
fn common_scales(groups: &Groups, members: &[&Member]) -> Option<(Vec<Lane>, Vec<Factor>)> {
    if groups.exponent != GroupExponent::Scales {
        return None;
    }
    let lanes: Option<Vec<Lane>> = members.iter().map(|member| member.lane).collect();
    let lanes = lanes?;
    let (block, a, b) = lanes.first()?.scales?;
    let is_common = |lane: &Lane| lane.scales.is_some_and(|(other, ..)| other == block);
    let factor = |side: &str, scale| Factor {
        name: format!("{side}{block}"),
        value: TracedValue::of(scale),
    };
    lanes
        .iter()
        .all(is_common)
        .then(|| (lanes.clone(), vec![factor("sa", &a), factor("sb", &b)]))
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
