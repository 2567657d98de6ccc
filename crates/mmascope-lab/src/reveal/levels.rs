//! Several pairs of masks in one input: every pair says how many leaves lie below the node where it meets.
//!
//! Units have a part for every level, w_0 < w_1 < … Masks of level j absorb the parts w_0 … w_(j-1) of the units below
//! their node and keep all others. So part i of the result counts the leaves that no mask above level i absorbs.
//! Pairs are given from the largest mask to the smallest; each says how many leaves it absorbs together with those before.
//!
//! For n < 2^s leaves and sums of p bits, w_j = 2^(j(s+1+g)), where g bits guard. The mask 1.5 · 2^(p-1) · w_j has w_j for
//! its last bit, of which all parts that it absorbs are together less than 2^-(g+1), so that sums of up to g bits more
//! absorb them all the same. The parts of all leaves have no more than p bits together, and so have the masks of a leaf
//! that several pairs share: both are exact. A leaf with masks carries the parts that they do not absorb.

use super::Trouble;
use super::meter::Meter;
use super::subject::Query;
use crate::format::{F32, F64};
use crate::tree::{Term, power_of_two};

/// The fewest bits of sums that have room for two levels.
const LEAST_BITS: i32 = 8;
/// The most bits that guard the parts; the fewest are one.
const MOST_GUARD: i32 = 8;
/// The most terms of inputs that are handed over at once.
const MOST_TERMS: usize = 1 << 20;

/// Two leaves that masks are put on.
pub(super) type Pair = (usize, usize);

/// The sums of a subject, as wide as they are said to be.
#[derive(Clone, Copy)]
pub(super) struct Levels {
    pub(super) bits: i32,
}

/// An input: leaves with units, all where it is `None`, and its pairs from the largest mask to the smallest.
pub(super) struct Masked {
    pub(super) support: Option<Vec<usize>>,
    pub(super) pairs: Vec<Pair>,
}

/// The numbers of an input with so many leaves.
struct Numbers {
    /// The parts of a unit.
    parts: Vec<f64>,
    /// The masks of the levels from 1 on.
    masks: Vec<f64>,
}

impl Levels {
    /// Those of a subject that sums numbers or products of f32 or of f64; `None` for every other.
    pub(super) fn of(meter: &Meter<'_>) -> Option<Self> {
        let subject = &meter.subject;
        let is_plain = subject.choices() == 1
            && subject.operand_format() == subject.format()
            && (0..subject.leaves()).all(|leaf| subject.is_product(leaf) == subject.products());
        let is_wide = [F32, F64].contains(&subject.format());
        let bits = subject.masks().counted.log2() as i32;
        (is_plain && is_wide && bits >= LEAST_BITS).then_some(Self { bits })
    }

    /// Pairs that an input with units on so many leaves has room for.
    pub(super) fn most(self, leaves: usize) -> usize {
        let s = needed_bits(leaves);
        if s >= self.bits {
            return 1;
        }
        1 + ((self.bits - s) / (s + 2)) as usize
    }

    fn numbers(self, leaves: usize) -> Numbers {
        let (s, levels) = (needed_bits(leaves), self.most(leaves));
        let room = (self.bits - s) / (levels as i32 - 1).max(1);
        let step = s + 1 + (room - s - 1).clamp(0, MOST_GUARD);
        let part = |level: usize| power_of_two(step * level as i32);
        Numbers {
            parts: (0..levels).map(part).collect(),
            masks: (1..=levels)
                .map(|level| 1.5 * power_of_two(self.bits - 1) * part(level))
                .collect(),
        }
    }

    /// Whether masks absorb the parts below their level and keep the others: sums are no wider and no narrower than they are said
    /// to be, and are rounded to nearest.
    pub(super) fn works(self, meter: &mut Meter<'_>) -> Result<bool, Trouble> {
        let leaves = meter.subject.leaves();
        // As many leaves as there is room for two levels, at most all.
        let used = (0..=usize::BITS)
            .filter_map(|halvings| leaves.checked_shr(halvings))
            .find(|&used| self.most(used) > 1)
            .unwrap_or(0);
        if used < 2 {
            return Ok(false);
        }
        let last = used - 1;
        let mut units = vec![0.0; leaves];
        units[..used].fill(1.0);
        let numbers = self.numbers(used);
        let unit: f64 = numbers.parts.iter().sum();
        let (light, mask) = (numbers.parts[0], numbers.masks[0]);
        let products = meter.subject.products();
        let term = |value: f64| term(products, value);
        let all = (0..used).map(|leaf| (leaf, term(unit)));
        let whole = meter.evaluate_sparse(term(0.0), &[all.collect()])?[0];
        if whole != used as f64 * unit {
            return Ok(false);
        }
        // Leaves that are added to each other first have nothing between them, and the last sums may be wider: another pair
        // is asked then.
        let powers = (0..usize::BITS).map(|power| 1 << power);
        for (p, x) in [last]
            .into_iter()
            .chain(powers.take_while(|&x| x < last))
            .map(|x| (0, x))
        {
            let count = meter.absorbed(&units, used, &[(p, x)])?[0];
            if count == 2 {
                continue;
            }
            let others = || (0..used).filter(|leaf| ![p, x].contains(leaf));
            let is_lost = |leaf: usize, meter: &mut Meter<'_>| {
                let query = Query {
                    plus: Some(p),
                    minus: Some(x),
                    only: Some(leaf),
                };
                Ok::<_, Trouble>(meter.measure(&units, &[query])?[0] == 0.0)
            };
            let Some(below) = (match count == used {
                true => others().next(),
                false => {
                    let near = [1, 2, x / 2, x - 1, x + 1].into_iter();
                    let mut near = near.filter(|&leaf| others().any(|other| other == leaf));
                    loop {
                        match near.next() {
                            Some(leaf) if !is_lost(leaf, meter)? => {}
                            found => break found,
                        }
                    }
                }
            }) else {
                continue;
            };
            // Light parts are so small that chains of them do not show sums of more bits: what these would keep of one unit does.
            let near = 0.375 * numbers.parts[1];
            // Toward zero, light parts are lost beside a mask of their own sign alone: masks are exchanged, too.
            let kept = unit - light;
            let inputs = [mask, -mask].into_iter().flat_map(|mask| {
                let masks = |kept: f64| [(p, mask + kept), (x, -mask + kept)];
                let all: Vec<_> = others()
                    .map(|leaf| (leaf, unit))
                    .chain(masks(kept))
                    .collect();
                [all, [(below, near)].into_iter().chain(masks(0.0)).collect()]
            });
            let as_terms = |input: Vec<(usize, f64)>| {
                let terms = input.into_iter();
                terms.map(|(leaf, value)| (leaf, term(value))).collect()
            };
            let inputs: Vec<Vec<(usize, Term)>> = inputs.map(as_terms).collect();
            let results = meter.evaluate_sparse(term(0.0), &inputs)?;
            let expected = used as f64 * kept + (used - count) as f64 * light;
            if results == [expected, 0.0, expected, 0.0] {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// For every pair of each input: how many of the leaves with units it absorbs together with the pairs before it. `None` where the
    /// result is that of no such counts.
    pub(super) fn absorbed(
        self,
        meter: &mut Meter<'_>,
        inputs: &[Masked],
    ) -> Result<Vec<Option<Vec<usize>>>, Trouble> {
        let leaves = meter.subject.leaves();
        let products = meter.subject.products();
        let capacity = meter.subject.capacity().max(1);
        let most = (MOST_TERMS / leaves / capacity).max(1) * capacity;
        let mut found = vec![None; inputs.len()];
        let everywhere = self.numbers(leaves);
        for is_everywhere in [true, false] {
            let asked: Vec<usize> = (0..inputs.len())
                .filter(|&at| inputs[at].support.is_none() == is_everywhere)
                .collect();
            let unit: f64 = everywhere.parts.iter().sum();
            let background = term(products, if is_everywhere { unit } else { 0.0 });
            for part in asked.chunks(most) {
                let of_support = |at: usize| {
                    let support = inputs[at].support.as_ref();
                    support.map(|support| self.numbers(support.len()))
                };
                let numbers: Vec<Option<Numbers>> = part.iter().map(|&at| of_support(at)).collect();
                let terms: Vec<Vec<(usize, Term)>> = (part.iter().zip(&numbers))
                    .map(|(&at, numbers)| {
                        let numbers = numbers.as_ref().unwrap_or(&everywhere);
                        let large = meter.subject.masks().large;
                        let values = inputs[at].values(numbers, large);
                        let as_term = |(leaf, value)| (leaf, term(products, value));
                        values.into_iter().map(as_term).collect()
                    })
                    .collect();
                let results = meter.evaluate_sparse(background, &terms)?;
                for ((&at, numbers), result) in part.iter().zip(&numbers).zip(results) {
                    let total = inputs[at].support.as_ref().map_or(leaves, Vec::len);
                    let numbers = numbers.as_ref().unwrap_or(&everywhere);
                    found[at] = numbers.read(total, result).map(|mut counts| {
                        counts.truncate(inputs[at].pairs.len());
                        counts
                    });
                }
            }
        }
        Ok(found)
    }
}

impl Masked {
    /// The leaves that do not hold what the others hold, and what they hold.
    fn values(&self, numbers: &Numbers, large: f64) -> Vec<(usize, f64)> {
        let unit: f64 = numbers.parts.iter().sum();
        let top = numbers.masks.len();
        let shares = |(p, x): Pair, (q, k): Pair| [p, x].contains(&q) || [p, x].contains(&k);
        // A leaf with several masks has no bits for M.
        let is_alone = |at: usize| {
            let mut others = (0..self.pairs.len()).filter(|&other| other != at);
            !others.any(|other| shares(self.pairs[at], self.pairs[other]))
        };
        let mut masked: Vec<(usize, f64, usize)> = Vec::with_capacity(2 * self.pairs.len());
        for (at, &(plus, minus)) in self.pairs.iter().enumerate() {
            let level = top - at;
            let mask = match at == 0 && is_alone(at) {
                true => large,
                false => numbers.masks[level - 1],
            };
            for (leaf, mask) in [(plus, mask), (minus, -mask)] {
                match masked.iter_mut().find(|(other, _, _)| *other == leaf) {
                    // The first level is the largest.
                    Some((_, sum, _)) => *sum += mask,
                    None => masked.push((leaf, mask, level)),
                }
            }
        }
        let is_masked = |leaf: &usize| masked.iter().any(|(other, _, _)| other == leaf);
        let units = self.support.iter().flatten().copied();
        let units = units.filter(|leaf| !is_masked(leaf));
        let parts = |level: usize| numbers.parts[level..].iter().sum::<f64>();
        let masks = (masked.iter()).map(|&(leaf, mask, level)| (leaf, mask + parts(level)));
        units.map(|leaf| (leaf, unit)).chain(masks).collect()
    }
}

impl Numbers {
    /// The counts behind a result, from the largest mask's.
    fn read(&self, total: usize, result: f64) -> Option<Vec<usize>> {
        let mut rest = result;
        let mut counts = Vec::with_capacity(self.parts.len());
        for &part in self.parts.iter().rev() {
            let left = (rest / part).floor();
            rest -= left * part;
            // Smaller masks absorb more.
            let most = total as f64 - 2.0;
            let most = counts
                .last()
                .map_or(most, |&before| (total - before) as f64);
            if !(0.0..=most).contains(&left) {
                return None;
            }
            counts.push(total - left as usize);
        }
        (rest == 0.0).then_some(counts)
    }
}

/// Bits of numbers up to that of the leaves; two are the fewest.
fn needed_bits(leaves: usize) -> i32 {
    ((usize::BITS - leaves.leading_zeros()) as i32).max(2)
}

/// A number as a summand, or as a product with 1.
pub(super) fn term(products: bool, value: f64) -> Term {
    match products {
        true => Term::Product(value, 1.0),
        false => Term::Value(value),
    }
}
