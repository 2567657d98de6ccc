//! Two pairs of masks in one input, at leaves of two parts of a tree that have none in common.
//!
//! Each unit has a heavy part and a light one. Masks of middle size absorb the light parts below the node B where they
//! meet; the largest masks absorb both parts below their own node A. So heavy parts of the result count the leaves
//! outside A, and light ones those outside both.
//!
//! For n < 2^s leaves and sums of p bits, the light part is 1 and the heavy one W = 2^(s+1+g), where g bits guard. The
//! middle mask 1.5 · 2^(p+s+g) has W for its last bit, of which all light parts together are less than 2^-(g+1), so
//! that sums of up to g bits more absorb them all the same. n · (W + 1) < 2^p, so that results are exact. Masks of middle
//! size carry a heavy part: all leaves but the two of the largest ones have one.

use super::Trouble;
use super::meter::Meter;
use crate::format::{F32, F64};
use crate::tree::{Term, power_of_two};

/// The fewest bits of sums that have room for two parts.
const LEAST_BITS: i32 = 8;
/// The most bits that guard the parts.
const MOST_GUARD: i32 = 8;
/// The most terms of inputs that are handed over at once.
const MOST_TERMS: usize = 1 << 20;

/// Two leaves that masks are put on.
pub(super) type Pair = (usize, usize);

/// The numbers of inputs with two pairs of masks.
#[derive(Clone, Copy)]
pub(super) struct Double {
    heavy: f64,
    middle: f64,
    /// Fewer leaves than this have units in one input.
    pub(super) room: usize,
}

/// What an input with two pairs shows: how many of the leaves with units the large pair absorbs, and how many are
/// absorbed by one of the two.
#[derive(Clone, Copy)]
pub(super) struct Absorbed {
    pub(super) large: usize,
    pub(super) both: usize,
}

impl Double {
    /// Those of a subject that sums numbers or products of f32 or of f64; `None` for every other.
    pub(super) fn of(meter: &Meter<'_>) -> Option<Self> {
        let subject = &meter.subject;
        let is_plain = subject.choices() == 1
            && subject.operand_format() == subject.format()
            && (0..subject.leaves()).all(|leaf| subject.is_product(leaf) == subject.products());
        let is_wide = [F32, F64].contains(&subject.format());
        let bits = subject.masks().counted.log2() as i32;
        (is_plain && is_wide && bits >= LEAST_BITS).then(|| Self::new(bits, subject.leaves()))
    }

    /// Of sums of so many bits; as large as the leaves need, or as these sums allow.
    fn new(bits: i32, leaves: usize) -> Self {
        let needed = (usize::BITS - leaves.leading_zeros()) as i32;
        let s = needed.min((bits - 2) / 2).max(2);
        let guard = (bits - 1 - 2 * s).min(MOST_GUARD);
        Self {
            heavy: power_of_two(s + 1 + guard),
            middle: 1.5 * power_of_two(bits + s + guard),
            room: 1 << s,
        }
    }

    /// Whether middle masks absorb light parts and keep heavy ones: sums are no wider and no narrower than they are said to be,
    /// and are rounded to nearest.
    pub(super) fn works(&self, meter: &mut Meter<'_>) -> Result<bool, Trouble> {
        let leaves = meter.subject.leaves();
        let used = leaves.min(self.room - 1);
        let last = used - 1;
        let mut units = vec![0.0; leaves];
        units[..used].fill(1.0);
        let products = meter.subject.products();
        let term = |value: f64| term(products, value);
        let all = (0..used).map(|leaf| (leaf, term(self.heavy + 1.0)));
        let whole = meter.evaluate_sparse(term(0.0), &[all.collect()])?[0];
        if whole != used as f64 * (self.heavy + 1.0) {
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
            // Toward zero, light parts are lost beside a mask of their own sign alone: masks are exchanged, too.
            let inputs = [self.middle, -self.middle].map(|mask| {
                let masks = [(p, mask + self.heavy), (x, -mask + self.heavy)];
                let others = (0..used).filter(|leaf| ![p, x].contains(leaf));
                let others = others.map(|leaf| (leaf, self.heavy + 1.0));
                let all = others.chain(masks);
                all.map(|(leaf, value)| (leaf, term(value))).collect()
            });
            let results = meter.evaluate_sparse(term(0.0), &inputs)?;
            let expected = used as f64 * self.heavy + (used - count) as f64;
            if results.iter().all(|&result| result == expected) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What inputs with two pairs of masks show, the large one first, with units on the leaves of `support`, and on
    /// all where it is `None`.
    pub(super) fn absorbed(
        &self,
        meter: &mut Meter<'_>,
        inputs: &[(Option<Vec<usize>>, [Pair; 2])],
    ) -> Result<Vec<Absorbed>, Trouble> {
        let leaves = meter.subject.leaves();
        let products = meter.subject.products();
        let term = |value: f64| term(products, value);
        let unit = term(self.heavy + 1.0);
        let large = meter.subject.masks().large;
        let capacity = meter.subject.capacity().max(1);
        let most = (MOST_TERMS / leaves / capacity).max(1) * capacity;
        let mut found = vec![Absorbed { large: 0, both: 0 }; inputs.len()];
        for everywhere in [true, false] {
            let asked: Vec<usize> = (0..inputs.len())
                .filter(|&at| inputs[at].0.is_none() == everywhere)
                .collect();
            let background = if everywhere { unit } else { term(0.0) };
            for part in asked.chunks(most) {
                let terms: Vec<Vec<(usize, Term)>> = (part.iter())
                    .map(|&at| {
                        let (support, [(p, x), (q, k)]) = &inputs[at];
                        let is_masked = |leaf: &usize| [p, x, q, k].contains(&leaf);
                        let units = support.iter().flatten().filter(|leaf| !is_masked(leaf));
                        let masks = [
                            (*p, large),
                            (*x, -large),
                            (*q, self.middle + self.heavy),
                            (*k, -self.middle + self.heavy),
                        ];
                        (units.map(|&leaf| (leaf, unit)))
                            .chain(masks.map(|(leaf, value)| (leaf, term(value))))
                            .collect()
                    })
                    .collect();
                let results = meter.evaluate_sparse(background, &terms)?;
                for (&at, result) in part.iter().zip(results) {
                    let (support, pairs) = &inputs[at];
                    let total = support.as_ref().map_or(leaves, Vec::len);
                    found[at] = self.read(total, result).ok_or_else(|| {
                        let [(p, x), (q, k)] = pairs;
                        Trouble::no_tree(format!(
                            "masks at leaves {p}, {x} and {q}, {k} leave {result:e} of {total} units"
                        ))
                    })?;
                }
            }
        }
        Ok(found)
    }

    /// The counts behind a result.
    fn read(&self, total: usize, result: f64) -> Option<Absorbed> {
        let all = total as f64;
        let heavy = (result / self.heavy).floor();
        let light = result - heavy * self.heavy;
        let is_count = |count: f64| count.fract() == 0.0 && (0.0..=all - 2.0).contains(&count);
        let fits = is_count(heavy) && is_count(light) && light <= heavy;
        fits.then(|| Absorbed {
            large: total - heavy as usize,
            both: total - light as usize,
        })
    }
}

/// A number as a summand, or as a product with 1.
fn term(products: bool, value: f64) -> Term {
    match products {
        true => Term::Product(value, 1.0),
        false => Term::Value(value),
    }
}
