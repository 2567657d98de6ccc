//! Shrinks an input while two units still differ on it in the same way.

use super::number::{self, decode, nearest};
use super::{Contender, DiffExample, DiffInput, Verdict, verdict};
use crate::dpa::Modifiers;
use crate::error::Result;
use crate::exact::{Dyadic, Exact};
use crate::format::Format;

/// The size of an input; inputs are compared by it, the first number first: products that are not
/// zero, c if it is not zero, scales that are not 1, modifiers; then bits of the significands beyond
/// the leading one; then the exponents' distance from 0; then minus signs.
#[must_use]
pub fn size(input: &DiffInput) -> [u64; 5] {
    let (signature, case) = (&input.signature, &input.case);
    let mut size = [0_u64; 5];
    let mut weigh = |word: u64, format: &Format| {
        let value = decode(word, format);
        // ∞ and NaN are larger than every number.
        let (bits, exponent) = match number::number(&value) {
            Some(number) => {
                let bits = u64::from(number.magnitude.count_ones().saturating_sub(1));
                (bits, u64::from(top(&number).unsigned_abs()))
            }
            None => (64, 1 << 16),
        };
        size[2] += bits;
        size[3] += exponent;
        size[4] += u64::from(value.negative);
        word != 0
    };
    let mut live = 0;
    for (a, b) in case.a.iter().zip(&case.b) {
        let (a, b) = (weigh(*a, &signature.a), weigh(*b, &signature.b));
        live += u64::from(a || b);
    }
    live += u64::from(weigh(case.c, &signature.c));
    let mut others = u64::from(input.modifiers != Modifiers::default());
    if let Some(scale) = &signature.scale {
        let one = number::word(&Exact::ONE, &scale.format);
        for word in case.scale_a.iter().chain(&case.scale_b) {
            weigh(*word, &scale.format);
            others += u64::from(Some(*word) != one);
        }
    }
    size[0] = live;
    size[1] = others;
    size
}

/// The smallest input that the moves lead to, on which the units still differ in the same way. An
/// input on which they do not differ comes back as it is.
///
/// # Errors
/// As [`compare`](super::compare).
pub fn shrink(left: &Contender<'_>, right: &Contender<'_>, input: &DiffInput) -> Result<DiffInput> {
    let Some(wanted) = verdict(left, right, input)?.filter(|verdict| verdict.differs()) else {
        return Ok(input.clone());
    };
    let mut current = input.clone();
    while let Some(smaller) = step(left, right, &current, wanted)? {
        current = smaller;
    }
    Ok(current)
}

/// An example with its input shrunk; the origin stays.
///
/// # Errors
/// As [`compare`](super::compare).
pub fn smaller<O: Clone>(
    left: &Contender<'_>,
    right: &Contender<'_>,
    example: &DiffExample<O>,
) -> Result<DiffExample<O>> {
    let input = shrink(left, right, &example.input)?;
    let verdict = verdict(left, right, &input)?.unwrap_or(example.verdict);
    Ok(DiffExample {
        origin: example.origin.clone(),
        input,
        verdict,
    })
}

/// The first move that makes the input smaller and keeps the difference.
fn step(
    left: &Contender<'_>,
    right: &Contender<'_>,
    input: &DiffInput,
    wanted: Verdict,
) -> Result<Option<DiffInput>> {
    let own = size(input);
    for candidate in moves(input) {
        if size(&candidate) >= own {
            continue;
        }
        let found = verdict(left, right, &candidate)?;
        if found.is_some_and(|found| found.same_kind(wanted)) {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// Inputs near this one, the greatest simplifications first.
pub(crate) fn moves(input: &DiffInput) -> impl Iterator<Item = DiffInput> + '_ {
    zeroed_products(input)
        .chain(neutral(input))
        .chain((0..input.signature.k).filter_map(|k| merged(input, k)))
        .chain(shifted(input))
        .chain(places(input).flat_map(|place| simplified(input, place)))
        .chain((0..input.signature.k).flat_map(|k| balanced(input, k)))
}

/// Runs of products set to +0·+0: the whole, halves, quarters … single ones.
fn zeroed_products(input: &DiffInput) -> impl Iterator<Item = DiffInput> + '_ {
    let k = input.signature.k;
    let lengths =
        std::iter::successors(Some(k), |length| (*length > 1).then(|| length.div_ceil(2)));
    lengths.flat_map(move |length| {
        (0..k).step_by(length).map(move |first| {
            let mut smaller = input.clone();
            let run = first..k.min(first + length);
            smaller.case.a[run.clone()].fill(0);
            smaller.case.b[run].fill(0);
            smaller
        })
    })
}

/// A product added to c, rounded, and set to +0·+0: the sum stays nearly what it was.
fn merged(input: &DiffInput, k: usize) -> Option<DiffInput> {
    let (signature, case) = (&input.signature, &input.case);
    let number = |place: Place| Some(Dyadic::of(&number(input, place)?));
    let mut product = &number(Place::A(k))? * &number(Place::B(k))?;
    if let Some(scale) = &signature.scale {
        let block = k / scale.block;
        product = &product * &number(Place::ScaleA(block))?;
        product = &product * &number(Place::ScaleB(block))?;
    }
    let sum = &product + &number(Place::C)?;
    let mut smaller = input.clone();
    (smaller.case.a[k], smaller.case.b[k]) = (0, 0);
    smaller.case.c = nearest(&sum, &signature.c)?;
    (case.a[k] != 0 || case.b[k] != 0).then_some(smaller)
}

/// No modifiers; every scale 1.
fn neutral(input: &DiffInput) -> impl Iterator<Item = DiffInput> + '_ {
    let plain = DiffInput {
        modifiers: Modifiers::default(),
        ..input.clone()
    };
    let one = input
        .signature
        .scale
        .and_then(|scale| number::word(&Exact::ONE, &scale.format));
    let unscaled = one.map(|one| {
        let mut smaller = input.clone();
        smaller.case.scale_a.fill(one);
        smaller.case.scale_b.fill(one);
        smaller
    });
    std::iter::once(plain).chain(unscaled)
}

/// One word of an input.
#[derive(Clone, Copy)]
enum Place {
    A(usize),
    B(usize),
    C,
    ScaleA(usize),
    ScaleB(usize),
}

fn places(input: &DiffInput) -> impl Iterator<Item = Place> + use<> {
    let (k, blocks) = (input.signature.k, input.case.scale_a.len());
    std::iter::once(Place::C)
        .chain((0..k).flat_map(|k| [Place::A(k), Place::B(k)]))
        .chain((0..blocks).flat_map(|block| [Place::ScaleA(block), Place::ScaleB(block)]))
}

fn word(input: &DiffInput, place: Place) -> (u64, Format) {
    let (case, signature) = (&input.case, &input.signature);
    let scale = signature.scale.map_or(signature.c, |scale| scale.format);
    match place {
        Place::A(k) => (case.a[k], signature.a),
        Place::B(k) => (case.b[k], signature.b),
        Place::C => (case.c, signature.c),
        Place::ScaleA(block) => (case.scale_a[block], scale),
        Place::ScaleB(block) => (case.scale_b[block], scale),
    }
}

fn with_word(input: &DiffInput, place: Place, word: u64) -> DiffInput {
    let mut changed = input.clone();
    let case = &mut changed.case;
    *match place {
        Place::A(k) => &mut case.a[k],
        Place::B(k) => &mut case.b[k],
        Place::C => &mut case.c,
        Place::ScaleA(block) => &mut case.scale_a[block],
        Place::ScaleB(block) => &mut case.scale_b[block],
    } = word;
    changed
}

/// The number at a place, in lowest terms; `None` for ∞ and NaN.
fn number(input: &DiffInput, place: Place) -> Option<Exact> {
    let (word, format) = word(input, place);
    number::number(&decode(word, &format))
}

/// The input with one number in place of another, if its format has it.
fn with_number(input: &DiffInput, place: Place, number: Exact) -> Option<DiffInput> {
    let (_, format) = word(input, place);
    number::word(&number, &format).map(|word| with_word(input, place, word))
}

/// Place of the highest bit; 0 for a zero.
fn top(number: &Exact) -> i32 {
    number.top().unwrap_or(0)
}

/// One word made simpler: +0 (c and the pairs of an operand alone), 1, a power of two, fewer bits, a
/// smaller exponent, a plus sign.
fn simplified(input: &DiffInput, place: Place) -> impl Iterator<Item = DiffInput> + '_ {
    let (own_word, _) = word(input, place);
    let zero = (own_word != 0).then(|| with_word(input, place, 0));
    let Some(own) = number(input, place) else {
        let one = with_number(input, place, Exact::ONE);
        return zero.into_iter().chain(one).collect::<Vec<_>>().into_iter();
    };
    if own.is_zero() {
        return zero.into_iter().collect::<Vec<_>>().into_iter();
    }
    let top = top(&own);
    let power = Exact::power_of_two(own.negative, top);
    // Without its lowest bit.
    let rest = own.magnitude & (own.magnitude - 1);
    let fewer = (rest != 0).then_some(Exact {
        magnitude: rest,
        ..own
    });
    let positive = Exact {
        negative: false,
        ..own
    };
    let numbers = [Exact::ONE, power, power.with_top(0)]
        .into_iter()
        .chain(fewer)
        .chain([
            own.with_top(0),
            own.with_top(top / 2),
            own.with_top(top - top.signum()),
            positive,
        ]);
    let words = numbers.filter_map(|number| with_number(input, place, number));
    zero.into_iter()
        .chain(words)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Both operands of a product at once: powers of two (the highest or the lowest bit of each); or the
/// same value, the exponent of one operand going to the other, or both signs changed.
fn balanced(input: &DiffInput, k: usize) -> Vec<DiffInput> {
    let (a_place, b_place) = (Place::A(k), Place::B(k));
    let (Some(a), Some(b)) = (number(input, a_place), number(input, b_place)) else {
        return Vec::new();
    };
    if a.is_zero() || b.is_zero() {
        return Vec::new();
    }
    let moved = |number: Exact, by: i32| Exact {
        exponent: number.exponent + by,
        ..number
    };
    let flipped = |number: Exact| Exact {
        negative: !number.negative,
        ..number
    };
    let (top_a, top_b) = (top(&a), top(&b));
    let by = [-top_a, top_b, -top_a.signum(), top_b.signum()];
    let shifts = by.map(|by| (moved(a, by), moved(b, -by)));
    let lowest = |number: Exact| Exact::power_of_two(number.negative, number.exponent);
    let highest = |number: Exact| Exact::power_of_two(number.negative, top(&number));
    let powers = [(highest(a), highest(b)), (lowest(a), lowest(b))];
    let halves = [(lowest(a), highest(b)), (highest(a), lowest(b))];
    powers
        .into_iter()
        .chain(halves)
        .chain(shifts)
        .chain([(flipped(a), flipped(b))])
        .filter_map(|(a, b)| with_number(&with_number(input, a_place, a)?, b_place, b))
        .collect()
}

/// Every product and c times the same power of two: the one that makes c or a product 1, or one step.
fn shifted(input: &DiffInput) -> Vec<DiffInput> {
    let c = number(input, Place::C).map(|c| c.top());
    let tops = [c]
        .into_iter()
        .chain((0..input.signature.k).map(|k| {
            let (a, b) = (number(input, Place::A(k))?, number(input, Place::B(k))?);
            Some((!a.is_zero() && !b.is_zero()).then(|| top(&a) + top(&b)))
        }))
        .flatten()
        .flatten()
        .map(|top| -top);
    let mut by: Vec<i32> = tops.chain([-1, 1]).filter(|by| *by != 0).collect();
    by.dedup();
    by.into_iter()
        .flat_map(|by| [Place::A as fn(usize) -> Place, Place::B].map(|side| (by, side)))
        .filter_map(|(by, side)| {
            let operands = (0..input.signature.k).map(side);
            operands
                .chain([Place::C])
                .try_fold(input.clone(), |moved, place| {
                    let Some(own) = number(&moved, place) else {
                        return Some(moved); // ∞ and NaN stay what they are
                    };
                    if own.is_zero() {
                        return Some(moved);
                    }
                    let exponent = own.exponent + by;
                    with_number(&moved, place, Exact { exponent, ..own })
                })
        })
        .collect()
}
