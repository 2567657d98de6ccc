//! Builds the trace of one step: terms, alignment, sum, floor, rounding.

use super::trace::{Alignment, Cut, Factor, Loss, Rounded, TracedSpecial, TracedStep, TracedTerm};
use super::value::TracedValue;
use crate::dpa::{FlushSign, Nan, Output, Tininess, ZeroSign};
use crate::exact::Dyadic;
use crate::format::{Rounding, Unpacked};

/// The number that stands for c in [`TracedTerm::cover`].
pub(super) const C: usize = usize::MAX;

/// How a remark on the sign of a zero begins.
pub(super) const ZERO_RULE: &str = "sign of zero: ";

/// Something that a step adds, finite.
#[derive(Clone, Debug)]
pub(super) enum Addend {
    /// A zero, which takes no part.
    Zero { name: String, negative: bool },
    /// A term; its value may be 0 where a sum that cancelled keeps its exponent.
    Term(Box<TracedTerm>),
}

impl Addend {
    /// A decoded value as an addend.
    pub(super) fn of(name: &str, value: &Unpacked, cover: Vec<usize>) -> Self {
        let name = name.to_owned();
        let exponent = i64::from(value.exponent);
        match TracedValue::of(value) {
            TracedValue::Finite(number) => Self::Term(Box::new(TracedTerm {
                name,
                value: number,
                exponent,
                high: exponent,
                low: exponent - i64::from(value.fraction_bits),
                cut: None,
                cover,
            })),
            _ => Self::Zero {
                name,
                negative: value.negative,
            },
        }
    }

    /// The unrounded value of an earlier step, which aligns at `exponent`.
    pub(super) fn of_step(step: &TracedStep, exponent: i64, low: i64) -> Self {
        let value = step.value.number().unwrap_or_default();
        Self::Term(Box::new(TracedTerm {
            name: step.name.clone(),
            exponent,
            high: value.top().map_or(exponent, |top| top.max(exponent)),
            low,
            cut: None,
            cover: step.cover(),
            value,
        }))
    }

    /// The exponent of a term; `None` for a zero that takes no part.
    pub(super) fn exponent(&self) -> Option<i64> {
        match self {
            Self::Zero { .. } => None,
            Self::Term(term) => Some(term.exponent),
        }
    }

    /// The sign of a zero; `None` for another number.
    fn zero_sign(&self) -> Option<bool> {
        match self {
            Self::Zero { negative, .. } => Some(*negative),
            Self::Term(_) => None,
        }
    }
}

/// The sign that all addends share if all are zeros.
pub(super) fn common_zero(addends: &[Addend]) -> Option<bool> {
    let sign = addends.first()?.zero_sign()?;
    addends
        .iter()
        .all(|addend| addend.zero_sign() == Some(sign))
        .then_some(sign)
}

impl TracedStep {
    /// The exact sum of the addends as they are.
    pub(super) fn of(name: &str, role: String, addends: Vec<Addend>) -> Self {
        let (mut terms, mut zeros) = (Vec::new(), Vec::new());
        for addend in addends {
            match addend {
                Addend::Zero { name, .. } => zeros.push(name),
                Addend::Term(term) => terms.push(*term),
            }
        }
        let sum = terms.iter().map(|term| &term.value).sum();
        Self {
            name: name.to_owned(),
            role,
            alignment: None,
            flushed: Vec::new(),
            value: TracedValue::of_number(&sum),
            terms,
            zeros,
            dropped: None,
            special: None,
            sum,
            factors: Vec::new(),
            floor: None,
            rounding: None,
            remarks: Vec::new(),
            format: "",
            word: String::new(),
            losses: Vec::new(),
            subtracted: false,
        }
    }

    /// A step whose operands decide that its result is NaN or ∞.
    pub(super) fn special(
        name: &str,
        role: String,
        adds: Vec<String>,
        (reason, value): (String, TracedValue),
        output: &Output,
    ) -> Self {
        let mut step = Self::of(name, role, Vec::new());
        step.special = Some(TracedSpecial { adds, reason });
        let format = &output.format;
        let bits = match (value, output.nan) {
            (TracedValue::Infinite { negative }, _) => {
                format.to_register(format.infinity(negative, output.overflow))
            }
            (_, Nan::Word(bits) | Nan::Operand(bits)) => bits,
            (_, Nan::Any | Nan::Own) => format.to_register(format.nan_or_substitute()),
        };
        step.set_word(bits, output);
        step
    }

    /// Aligns every term: E is the largest exponent, at least `floor`; `grid` gives the place to
    /// which a term is rounded. Gives E.
    pub(super) fn align(
        &mut self,
        floor: Option<i64>,
        rounding: Rounding,
        grid_words: String,
        grid: impl Fn(&TracedTerm, i64) -> i64,
    ) -> i64 {
        let each = |term: &TracedTerm, e| (grid(term, e), rounding);
        self.align_each(floor, rounding, grid_words, |_| true, each)
    }

    /// The same where terms have roundings of their own and some do not count for E.
    pub(super) fn align_each(
        &mut self,
        floor: Option<i64>,
        rounding: Rounding,
        grid_words: String,
        counts: impl Fn(&TracedTerm) -> bool,
        grid: impl Fn(&TracedTerm, i64) -> (i64, Rounding),
    ) -> i64 {
        let counting = || self.terms.iter().filter(|term| counts(term));
        let largest = counting().map(|term| term.exponent).max();
        let exponent = largest.max(floor).unwrap_or(0);
        let set_by = counting().find(|term| term.exponent == exponent);
        self.alignment = Some(Alignment {
            exponent,
            set_by: set_by.map_or_else(|| "floor".to_owned(), |term| term.name.clone()),
            floor,
            rounding,
            grid: grid_words,
        });
        for term in &mut self.terms {
            let (place, rounding) = grid(term, exponent);
            let multiple = term.value.rounded(place, rounding);
            let difference = &term.value - &Dyadic::new(multiple.clone(), place);
            lose(
                &mut self.losses,
                format!("aligning {}", term.name),
                &difference,
            );
            let lost = term.value.bits(term.high.min(place - 1), term.low);
            term.cut = Some(Cut {
                place,
                multiple,
                kept: term.value.bits(term.high, place.max(term.low)),
                lost: lost.trim_end_matches('0').to_owned(),
                difference,
            });
        }
        let aligned: Vec<Dyadic> = self.terms.iter().map(|term| self.aligned(term)).collect();
        self.sum = aligned.iter().sum();
        self.value = TracedValue::of_number(&self.sum);
        exponent
    }

    /// Multiplies the sum by factors, exactly.
    pub(super) fn multiply(&mut self, factors: Vec<Factor>) {
        let product = factors
            .iter()
            .filter_map(|factor| factor.value.number())
            .fold(self.sum.clone(), |product, factor| &product * &factor);
        self.value = TracedValue::of_number(&product);
        self.factors = factors;
    }

    /// Rounds the sum to a multiple of `2^place`.
    pub(super) fn floor(&mut self, place: i64, rounding: Rounding) {
        let rounded = Rounded::of(&self.sum, place, rounding);
        let value = rounded.value();
        lose(
            &mut self.losses,
            "flooring".to_owned(),
            &(&self.sum - &value),
        );
        self.floor = Some(rounded);
        self.value = TracedValue::of_number(&value);
    }

    /// Rounds the step's value to the output's format; overflow and zeros as the output says.
    pub(super) fn finish(&mut self, output: &Output, zeros: Option<bool>) {
        let format = &output.format;
        let number = self.value.number().unwrap_or_default();
        let Some((float, top)) = format.float().zip(number.top()) else {
            let negative = match output.zero {
                ZeroSign::Plus | ZeroSign::Exact => false,
                ZeroSign::Minus | ZeroSign::ExactMinus => true,
                ZeroSign::Ieee => zeros.unwrap_or(output.rounding == Rounding::Rd),
                ZeroSign::Common => zeros.unwrap_or(false),
                ZeroSign::CommonMinus => zeros.unwrap_or(true),
            };
            return self.set_zero(negative, output);
        };
        let judged = match output.tininess {
            Tininess::After => None,
            Tininess::Before => Some(top),
            // As many bits as a normal number has, whatever the exponent.
            Tininess::Unbounded => {
                let place = top - i64::from(float.fraction_bits);
                Rounded::of(&number, place, output.rounding).value().top()
            }
        };
        let is_small = judged.is_some_and(|top| top < i64::from(float.emin()));
        if let Some(sign) = output.flush.filter(|_| is_small) {
            let negative = number.is_negative() && sign == FlushSign::Kept;
            self.set_word(format.to_register(format.zero(negative)), output);
            self.remarks.push(format!(
                "flushed: {number} lies below the smallest normal number and becomes {}",
                self.value
            ));
            lose(&mut self.losses, "flushing the result".to_owned(), &number);
            return;
        }
        let binade = top.max(float.emin().into());
        let place = binade - i64::from(float.fraction_bits);
        let rounded = Rounded::of(&number, place, output.rounding);
        let value = rounded.value();
        self.rounding = Some(rounded);
        if value.is_zero() {
            let negative = match output.zero {
                ZeroSign::Plus => false,
                ZeroSign::Minus => true,
                _ => number.is_negative(),
            };
            self.set_zero(negative, output);
        } else {
            let code = format.round(&value.to_exact(), output.rounding, output.overflow);
            self.set_word(format.to_register(code), output);
            if self.value != TracedValue::Finite(value) {
                let words = format!(
                    "overflow: beyond the largest {format}, which gives {}",
                    self.value
                );
                self.remarks.push(words);
            }
        }
        if let Some(value) = self.value.number() {
            lose(&mut self.losses, "rounding".to_owned(), &(&number - &value));
        }
    }

    fn set_zero(&mut self, negative: bool, output: &Output) {
        let format = &output.format;
        self.set_word(format.to_register(format.zero(negative)), output);
        self.remarks.push(format!("{ZERO_RULE}{}", output.zero));
    }

    /// Sets the result to a register word of the output's format.
    pub(super) fn set_word(&mut self, bits: u64, output: &Output) {
        let container = output.format.container();
        self.format = output.format.name;
        self.word = format!("{bits:0width$x}", width = container.digits());
        self.value = TracedValue::of(&container.decode(bits));
    }

    /// The result word.
    pub fn bits(&self) -> u64 {
        u64::from_str_radix(&self.word, 16).unwrap_or_default()
    }

    /// Everything is lost: the step's value is 0.
    pub(super) fn lose_all(&mut self, why: String) {
        let value = std::mem::take(&mut self.sum);
        self.value = TracedValue::of_number(&self.sum);
        lose(&mut self.losses, "leaving the group out".to_owned(), &value);
        self.remarks.push(why);
    }

    /// Notes a loss, if there is one.
    pub(super) fn lose(&mut self, by: String, difference: &Dyadic) {
        lose(&mut self.losses, by, difference);
    }
}

fn lose(losses: &mut Vec<Loss>, by: String, difference: &Dyadic) {
    if !difference.is_zero() {
        losses.push(Loss {
            by,
            value: difference.clone(),
        });
    }
}

impl Rounded {
    fn of(number: &Dyadic, place: i64, rounding: Rounding) -> Self {
        let multiple = number.rounded(place, rounding);
        let value = Dyadic::new(multiple.clone(), place);
        let grew = (&value - number).is_negative() == number.is_negative();
        let discarded = number.bits(place - 1, number.exponent());
        Self {
            rounding,
            place,
            kept: number.bits(number.top().unwrap_or(place).max(place), place),
            discarded,
            direction: match (value == *number, grew) {
                (true, _) => "exact",
                (false, true) => "away from zero",
                (false, false) => "toward zero",
            },
            multiple,
        }
    }

    /// The rounded value.
    #[must_use]
    pub fn value(&self) -> Dyadic {
        Dyadic::new(self.multiple.clone(), self.place)
    }
}
