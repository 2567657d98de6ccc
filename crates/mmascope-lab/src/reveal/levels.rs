//! Several pairs of masks in one input: every pair says how many leaves lie below the node where it meets.
//!
//! Units have a part for every level, w_0 < w_1 < … Masks of level j absorb the parts w_0 … w_(j-1) of the units below
//! their node and keep all others. So part i of the result counts the leaves that no mask above level i absorbs.
//! Pairs are given from the largest mask to the smallest; each says how many leaves it absorbs together with those before.
//!
//! For n < 2^s leaves and sums of p bits, w_j = 2^(j(s+1+g)), where g bits guard. The mask 1.5 · 2^(p-1) · w_j has w_j for
//! its last bit, of which all parts that it absorbs are together less than 2^-(g+1), so that sums of up to g bits more
//! absorb them all the same. The parts of all leaves have no more than p bits together, and so have the masks of a leaf
//! that several pairs share: both are exact. A leaf with masks carries the parts that they do not absorb. All this holds where every sum
//! is rounded to nearest, to p bits; one is tested first, and [`super::steps`] tests those of the tree that is found.
//!
//! Where results have fewer bits than sums, p is that of the results for the parts, and that of the sums for the masks. A leaf has no
//! bits then for masks and parts, so that leaves with masks carry none.

use super::Trouble;
use super::meter::Meter;
use super::subject::{Masks, Query};
use crate::format::{F32, F64};
use crate::tree::{Term, power_of_two};

/// The fewest bits of sums that have room for two levels.
const LEAST_BITS: i32 = 8;
/// The most bits that guard the parts; the fewest are one.
const MOST_GUARD: i32 = 8;
/// A unit that sums of their own bits absorb and wider ones keep, in last bits of a mask.
pub(super) const NEAR: f64 = 0.375;
/// The most terms of inputs that are handed over at once.
const MOST_TERMS: usize = 1 << 20;

/// Two leaves that masks are put on.
pub(super) type Pair = (usize, usize);

/// The bits of a subject's sums.
#[derive(Clone, Copy)]
pub(super) struct Levels {
    /// Those of results.
    counted: i32,
    /// Those of sums before the last.
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
    /// Whether leaves with masks carry no parts.
    is_wide: bool,
}

impl Levels {
    /// Those of a subject that sums numbers or products of f32 or of f64, to nearest, in the format of its results or in f64; `None` for
    /// every other.
    pub(super) fn of(meter: &mut Meter<'_>) -> Result<Option<Self>, Trouble> {
        let subject = &meter.subject;
        let format = subject.format();
        let is_plain = subject.choices() == 1
            && subject.operand_format() == format
            && (0..subject.leaves()).all(|leaf| subject.is_product(leaf) == subject.products());
        let counted = subject.masks().counted.log2() as i32;
        if !is_plain || ![F32, F64].contains(&format) || counted < LEAST_BITS {
            return Ok(None);
        }
        let double = Masks::of(F64).counted.log2() as i32;
        let widths: &[i32] = match format == F32 {
            true => &[counted, double],
            false => &[counted],
        };
        let own = Self {
            counted,
            bits: counted,
        };
        let leaves = meter.subject.leaves();
        // As many leaves as there is room for two levels, at most all.
        let mut halves = (0..usize::BITS).map(|halvings| leaves >> halvings);
        let Some(used) = halves.find(|&used| own.most(used) > 1) else {
            return Ok(None);
        };
        if used < 3 || !own.are_counted(meter, used)? {
            return Ok(None);
        }
        let mut units = vec![0.0; leaves];
        units[..used].fill(1.0);
        // Leaves that are added to each other first have nothing between them, and the last sums may be wider: another pair
        // is asked then.
        let powers = (0..usize::BITS).map(|power| 1 << power);
        let last = used - 1;
        for x in [last].into_iter().chain(powers.take_while(|&x| x < last)) {
            let pair = (0, x);
            let count = meter.absorbed(&units, used, &[pair])?[0];
            if count == 2 {
                continue;
            }
            let mut below = None;
            for leaf in [1, 2, x / 2, x - 1, x + 1] {
                let is_other = leaf > 0 && leaf < used && leaf != x;
                let query = Query {
                    plus: Some(0),
                    minus: Some(x),
                    only: Some(leaf),
                };
                if is_other && (count == used || meter.measure(&units, &[query])?[0] == 0.0) {
                    below = Some(leaf);
                    break;
                }
            }
            let Some(below) = below else { continue };
            for &bits in widths {
                let levels = Self { bits, ..own };
                if levels.holds(meter, (used, count), pair, below)? {
                    return Ok(Some(levels));
                }
            }
        }
        Ok(None)
    }

    /// Whether sums have more bits than results.
    pub(super) fn is_wide(self) -> bool {
        self.bits > self.counted
    }

    /// Pairs that an input with units on so many leaves has room for.
    pub(super) fn most(self, leaves: usize) -> usize {
        let s = needed_bits(leaves);
        if s >= self.counted {
            return 1;
        }
        1 + ((self.counted - s) / (s + 2)) as usize
    }

    fn numbers(self, leaves: usize) -> Numbers {
        let (s, levels) = (needed_bits(leaves), self.most(leaves));
        let room = (self.counted - s) / (levels as i32 - 1).max(1);
        let step = s + 1 + (room - s - 1).clamp(0, MOST_GUARD);
        let part = |level: usize| power_of_two(step * level as i32);
        Numbers {
            parts: (0..levels).map(part).collect(),
            masks: (1..=levels)
                .map(|level| 1.5 * power_of_two(self.bits - 1) * part(level))
                .collect(),
            is_wide: self.is_wide(),
        }
    }

    /// Whether units on so many leaves are counted.
    fn are_counted(self, meter: &mut Meter<'_>, used: usize) -> Result<bool, Trouble> {
        let unit: f64 = self.numbers(used).parts.iter().sum();
        let products = meter.subject.products();
        let all = (0..used).map(|leaf| (leaf, term(products, unit)));
        let whole = meter.evaluate_sparse(term(products, 0.0), &[all.collect()])?[0];
        Ok(whole == used as f64 * unit)
    }

    /// Whether masks at a pair of `used` leaves absorb the parts below their level of `count` of them, and keep the others, so that sums
    /// have as many bits as they are said to have and are rounded to nearest. `below` is one of these leaves.
    fn holds(
        self,
        meter: &mut Meter<'_>,
        (used, count): (usize, usize),
        (plus, minus): Pair,
        below: usize,
    ) -> Result<bool, Trouble> {
        let numbers = self.numbers(used);
        let unit: f64 = numbers.parts.iter().sum();
        let (light, mask) = (numbers.parts[0], numbers.masks[0]);
        let kept = unit - light;
        let (beside, carriers) = match self.is_wide() {
            true => (0.0, used - 2),
            false => (kept, used),
        };
        // Light parts are so small that chains of them do not show sums of more bits: what these would keep of one unit does.
        let near = NEAR * numbers.parts[1];
        let others = (0..used).filter(|leaf| ![plus, minus].contains(leaf));
        let units: Vec<(usize, f64)> = others.map(|leaf| (leaf, unit)).collect();
        let products = meter.subject.products();
        // Toward zero, light parts are lost beside a mask of their own sign alone: masks are exchanged, too.
        let inputs = [mask, -mask].into_iter().flat_map(|mask| {
            let masks = |beside| [(plus, mask + beside), (minus, -mask + beside)];
            let all = [&units, masks(beside).as_slice()].concat();
            [all, [[(below, near)].as_slice(), &masks(0.0)].concat()]
        });
        let as_terms = |input: Vec<(usize, f64)>| {
            let terms = input.into_iter();
            terms
                .map(|(leaf, value)| (leaf, term(products, value)))
                .collect()
        };
        let inputs: Vec<Vec<(usize, Term)>> = inputs.map(as_terms).collect();
        let results = meter.evaluate_sparse(term(products, 0.0), &inputs)?;
        let expected = carriers as f64 * kept + (used - count) as f64 * light;
        Ok(results == [expected, 0.0, expected, 0.0])
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
                    let counts = numbers.read(total, result);
                    found[at] = counts.and_then(|counts| inputs[at].unions(counts, self.is_wide()));
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
        let masks = masked
            .iter()
            .map(|&(leaf, mask, level)| match numbers.is_wide {
                true => (leaf, mask),
                false => (leaf, mask + parts(level)),
            });
        units.map(|leaf| (leaf, unit)).chain(masks).collect()
    }

    /// What each pair absorbs together with those before. Counts are of the leaves that have no part of the pair's level in the
    /// result: where leaves with masks carry no parts, those of later pairs are among them wherever they are. They are taken to be outside,
    /// which is so if these pairs absorb more.
    fn unions(&self, mut counts: Vec<usize>, is_wide: bool) -> Option<Vec<usize>> {
        // No pair has these levels.
        let unused = counts.split_off(self.pairs.len());
        if unused.iter().any(|count| Some(count) != counts.last()) {
            return None;
        }
        if !is_wide {
            return Some(counts);
        }
        let mut outside = 0;
        for at in (1..counts.len()).rev() {
            let count = counts[at];
            counts[at] = count.checked_sub(outside)?;
            if counts[at - 1] == count {
                return None;
            }
            let (plus, minus) = self.pairs[at];
            let before = || self.pairs[..at].iter();
            let is_new = |leaf: usize| !before().any(|&(p, x)| leaf == p || leaf == x);
            outside += [plus, minus]
                .into_iter()
                .filter(|&leaf| is_new(leaf))
                .count();
        }
        let first = counts.first_mut()?;
        *first = first.checked_sub(outside)?;
        Some(counts)
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
