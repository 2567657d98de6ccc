//! GR-FDPA and SEMI-FMA on exact numbers: a second way to the result, as for the other algorithms.

use super::block::{Block, Start};
use super::lane::Lane;
use super::step::{Addend, C};
use super::trace::{Factor, TracedStep, TracedTerm};
use super::value::TracedValue;
use crate::dpa::{Addends, GrFdpa, Output, SemiFma, SemiNan, TakenBits};
use crate::exact::Dyadic;
use crate::format::{Class, F32, Rounding, Unpacked};

/// Whether the exponent field is 0, which counts as zero.
fn is_zero(x: &Unpacked) -> bool {
    x.significand >> x.fraction_bits == 0
}

fn number(x: &Unpacked) -> Dyadic {
    TracedValue::of(x).number().unwrap_or_default()
}

/// What is lost before terms are added: parts only where parts are taken, subnormal numbers only where there are some.
fn lost_words(step: &GrFdpa, lanes: &[Lane]) -> String {
    let is_flushed = |x: &Unpacked| is_zero(x) && x.significand != 0;
    let flushed = lanes
        .iter()
        .any(|lane| is_flushed(&lane.a) || is_flushed(&lane.b));
    let words = match (step.terms, flushed) {
        (Addends::Product, false) => "parts that are not multiplied",
        (Addends::Product, true) => "parts that are not multiplied, subnormal operands",
        _ => "subnormal operands",
    };
    words.to_owned()
}

/// The part of a number that the multiplier takes.
fn part_of(x: &Unpacked, part: TakenBits) -> Dyadic {
    let exponent = i64::from(x.exponent);
    let full = number(x);
    let down = |from: &Dyadic, place: i64| Dyadic::new(from.rounded(place, Rounding::Rz), place);
    let last = match part.last {
        Some(last) => down(&full, exponent - i64::from(last)),
        None => full.clone(),
    };
    match part.first {
        0 => last,
        first => &last - &down(&full, exponent - i64::from(first) + 1),
    }
}

impl Block<'_> {
    /// The terms that a lane gives, and what is lost before they are added.
    fn terms_of(&self, step: &GrFdpa, lane: &Lane) -> (Vec<Addend>, Dyadic) {
        let zero = |name: String, negative: bool| match step.e_z {
            Some(e_z) => Addend::Term(Box::new(TracedTerm {
                name,
                value: Dyadic::default(),
                exponent: e_z.into(),
                high: e_z.into(),
                low: e_z.into(),
                cut: None,
                cover: Vec::new(),
            })),
            None => Addend::Zero { name, negative },
        };
        if step.terms != Addends::Product {
            let negated = step.terms == Addends::Difference;
            let b = Unpacked {
                negative: lane.b.negative != negated,
                ..lane.b
            };
            let value = |name: String, x: &Unpacked| match is_zero(x) {
                true => zero(name, x.negative),
                false => Addend::of(&name, x, vec![lane.k]),
            };
            let lost = |x: &Unpacked| {
                if is_zero(x) {
                    number(x)
                } else {
                    Dyadic::default()
                }
            };
            let names = [format!("a{}", lane.k), format!("b{}", lane.k)];
            let [a_name, b_name] = names;
            let addends = vec![value(a_name, &lane.a), value(b_name, &b)];
            return (addends, &lost(&lane.a) + &lost(&b));
        }
        let full = &number(&lane.a) * &number(&lane.b);
        // An earlier statement may have taken another part, and lost this one.
        let before = match lane.taken {
            true => Dyadic::default(),
            false => full,
        };
        if is_zero(&lane.a) || is_zero(&lane.b) {
            return (vec![zero(lane.name(), lane.negative())], before);
        }
        let value = &part_of(&lane.a, step.a) * &part_of(&lane.b, step.b);
        let lost = &before - &value;
        let exponent = lane.exponent() - i64::from(step.a.first + step.b.first);
        let low = if value.is_zero() {
            exponent
        } else {
            value.exponent().min(exponent)
        };
        let term = TracedTerm {
            name: lane.name(),
            exponent,
            high: exponent + 1,
            low,
            cut: None,
            cover: vec![lane.k],
            value,
        };
        (vec![Addend::Term(Box::new(term))], lost)
    }

    /// §4.3 to §4.5 of `tensix.md`.
    pub(super) fn grouped(&self, step: &GrFdpa) -> Vec<TracedStep> {
        // Such a step always has a value beside its products.
        let Some(start) = self.start else {
            return Vec::new();
        };
        let (floor, f_g, f) = (i64::from(step.e0), i64::from(step.f_g), i64::from(step.f));
        let mut steps = Vec::new();
        let mut addends = Vec::new();
        let mut lost_before = Dyadic::default();
        for (index, lanes) in self.lanes.chunks(step.g as usize).enumerate() {
            let mut own = Vec::new();
            for lane in lanes {
                let (terms, lost) = self.terms_of(step, lane);
                own.extend(terms);
                lost_before = &lost_before + &lost;
            }
            let name = format!("{}.g{index}", self.name);
            let mut group = TracedStep::of(&name, self.role("group"), own);
            let Some(largest) = group.terms.iter().map(|term| term.exponent).max() else {
                addends.extend(lanes.iter().map(|lane| Addend::Zero {
                    name: lane.name(),
                    negative: lane.negative(),
                }));
                continue;
            };
            if largest <= floor {
                group.lose_all(format!("E={largest} is {floor} or less: the group is 0"));
            } else {
                group.align(None, step.align_g, format!("2^(E-{f_g})"), |_, e| e - f_g);
                addends.push(Addend::of_step(&group, largest, largest - f_g));
            }
            steps.push(group);
        }
        let c = number_of(start, self.output);
        let c_lost = if is_zero(&c) {
            number(&c)
        } else {
            Dyadic::default()
        };
        addends.push(match is_zero(&c) {
            true => Addend::Zero {
                name: start.name.clone(),
                negative: c.negative,
            },
            false => Addend::of(&start.name, &c, start.cover.clone()),
        });
        let largest = addends.iter().filter_map(Addend::exponent).max();
        if largest.is_none_or(|e| e <= floor) {
            let mut last = TracedStep::of(&self.name, self.role("groups and c"), addends);
            last.lose_all(format!("no exponent is above {floor}: the result is +0"));
            last.set_word(0, self.output);
            last.lose(lost_words(step, self.lanes), &lost_before);
            last.lose(format!("taking {} for 0", start.name), &c_lost);
            steps.push(last);
            return steps;
        }
        let rounding = |term: &TracedTerm| match term.name == start.name {
            true => step.align_c,
            false => step.align,
        };
        if let (Some(e), Some(_)) = (largest, step.f2) {
            // The first of two grids: only where it takes something away.
            addends = addends
                .into_iter()
                .map(|addend| self.on_first_grid(addend, e, f, &mut steps, rounding))
                .collect();
        }
        let f = step.f2.map_or(f, i64::from);
        let mut last = TracedStep::of(&self.name, self.role("groups and c"), addends);
        if largest.is_some() {
            let words = format!("2^(E-{f})");
            last.align_each(
                largest,
                step.align,
                words,
                |_| true,
                |term, e| (e - f, rounding(term)),
            );
        }
        if let (Some(places), Some(e)) = (step.fault, largest)
            && last.sum == Dyadic::new((-1).into(), e - i64::from(step.f))
        {
            let before = last.sum.clone();
            last.multiply(vec![Factor {
                name: "fault".to_owned(),
                value: TracedValue::of_number(&Dyadic::power_of_two(places.into())),
            }]);
            let after = last.value.number().unwrap_or_default();
            last.lose("the fault".to_owned(), &(&before - &after));
        }
        last.finish(self.output, None);
        last.lose(lost_words(step, self.lanes), &lost_before);
        last.lose(format!("taking {} for 0", start.name), &c_lost);
        steps.push(last);
        steps
    }

    /// A term on the finer of two grids; a step of its own where it loses something.
    fn on_first_grid(
        &self,
        addend: Addend,
        e: i64,
        f: i64,
        steps: &mut Vec<TracedStep>,
        rounding: impl Fn(&TracedTerm) -> Rounding,
    ) -> Addend {
        let Addend::Term(term) = &addend else {
            return addend;
        };
        if term.low >= e - f {
            return addend;
        }
        let (exponent, mode, own) = (term.exponent, rounding(term), term.name.clone());
        let name = format!("{}.{own}", self.name);
        let mut step = TracedStep::of(&name, self.role("first grid"), vec![addend]);
        let words = format!("2^(E-{f})");
        step.align_each(Some(e), mode, words, |_| true, |_, e| (e - f, mode));
        let mut rounded = Addend::of_step(&step, exponent, e - f);
        if let Addend::Term(term) = &mut rounded {
            // The second rounding is chosen by the name.
            term.name = own;
        }
        steps.push(step);
        rounded
    }

    /// §7.1 of `tensix.md`.
    pub(super) fn semi(&self, step: &SemiFma) -> Vec<TracedStep> {
        let ([lane], Some(start)) = (self.lanes, self.start) else {
            return Vec::new();
        };
        let (x, y, z) = (&lane.a, &lane.b, &number_of(start, self.output));
        let word = step.of_words(word(x), word(y), word(z), self.output.zero).0;
        let field = |x: &Unpacked| {
            if is_zero(x) {
                0
            } else {
                i64::from(x.exponent) + 127
            }
        };
        let e = field(x) + field(y) - 127;
        let adds = vec![lane.name(), start.name.clone()];
        let decided = |reason: &str| {
            let value = TracedValue::of(&F32.decode(word.into()));
            let special = (reason.to_owned(), value);
            let mut step = TracedStep::special(
                &self.name,
                self.role.clone(),
                adds.clone(),
                special,
                self.output,
            );
            step.set_word(word.into(), self.output);
            vec![step]
        };
        if [x, y, z].iter().any(|x| field(x) == 255) {
            return decided(match step.nan {
                SemiNan::Quiet => "an operand is infinite or NaN",
                SemiNan::Leaks => {
                    "an operand is infinite or NaN; bits of the sum may leak into a NaN"
                }
            });
        }
        if e >= 255 {
            return decided("the product is 2^128 or more by itself");
        }
        let mut steps = Vec::new();
        let mut addends = Vec::new();
        let product = match is_zero(x) || is_zero(y) {
            true => Dyadic::default(),
            false => &number(x) * &number(y),
        };
        let own = if is_zero(z) {
            Dyadic::default()
        } else {
            number(z)
        };
        let flushed = &(&(&number(x) * &number(y)) - &product) + &(&number(z) - &own);
        let counts = e >= 0 && !product.is_zero();
        let place = |field: i64| field - 127 - 26;
        if counts {
            let term = TracedTerm {
                name: lane.name(),
                exponent: e - 127,
                high: e - 126,
                low: product.exponent().min(e - 127),
                cut: None,
                cover: vec![lane.k],
                value: product.clone(),
            };
            let name = format!("{}.m{}", self.name, lane.k);
            let mut step = TracedStep::of(
                &name,
                self.role("product"),
                vec![Addend::Term(Box::new(term))],
            );
            step.floor(place(e), Rounding::Odd);
            addends.push(Addend::of_step(&step, e - 127, place(e)));
            steps.push(step);
        }
        if !is_zero(z) {
            addends.push(Addend::of(&start.name, z, vec![C]));
        }
        let mut last = TracedStep::of(&self.name, self.role("sum"), addends);
        if !last.terms.is_empty() && counts {
            let words = "2^(E-26)".to_owned();
            last.align_each(
                None,
                Rounding::Odd,
                words,
                |_| true,
                |term, e| {
                    let nothing = term.value.top().is_none_or(|top| top < e - 26);
                    (e - 26, if nothing { Rounding::Rz } else { Rounding::Odd })
                },
            );
        }
        let sum = last.sum.clone();
        if let Some(top) = sum.top() {
            // What lies below the three places behind the significand leaves a sticky bit.
            let low = top - 26;
            let short = counts && step.drops_bit && lowest_is_clear(&sum, low, &last);
            last.floor(low, if short { Rounding::Rz } else { Rounding::Odd });
        }
        let is_tiny = word >> 23 & 0xff == 0 || sum.top().is_some_and(|top| top < -126);
        if sum.is_zero() || is_tiny {
            let before = last.value.number().unwrap_or_default();
            last.set_word(word.into(), self.output);
            last.remarks.push(match sum.is_zero() {
                true => "the sign of a zero is the unit's own".to_owned(),
                false => format!("below 2^-126: {before} becomes {}", last.value),
            });
            let after = last.value.number().unwrap_or_default();
            last.lose("rounding".to_owned(), &(&before - &after));
        } else {
            last.finish(self.output, None);
        }
        if !counts {
            last.lose(format!("leaving {} out", lane.name()), &product);
        }
        last.lose("taking subnormal operands for 0".to_owned(), &flushed);
        steps.push(last);
        steps
    }
}

/// Whether a sum that is two places too long has nothing in the lower one of them.
fn lowest_is_clear(sum: &Dyadic, low: i64, step: &TracedStep) -> bool {
    let grid = step.alignment.as_ref().map_or(low, |it| it.exponent - 26);
    low - grid == 2 && !sum.bit(grid)
}

/// What a block starts from as a number: an ∞ is an earlier result, and means one binade more.
fn number_of(start: &Start, output: &Output) -> Unpacked {
    let value = start.value;
    match (value.class, output.format.float()) {
        (Class::Infinite, Some(float)) => Unpacked {
            class: Class::Finite,
            exponent: (1 << float.exponent_bits) - 1 - float.bias,
            significand: 1 << value.fraction_bits,
            ..value
        },
        _ => value,
    }
}

/// The f32 word of a number that was decoded from one, whatever its code.
fn word(x: &Unpacked) -> u32 {
    let sign = u32::from(x.negative) << 31;
    let fraction = x.significand as u32 & 0x7f_ffff;
    match is_zero(x) {
        true => sign | fraction,
        false => sign | ((x.exponent + 127) as u32) << 23 | fraction,
    }
}
