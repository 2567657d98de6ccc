//! Makes the questions for a device: kinds of inputs, each aimed at some parameters of the model space.

mod alone;
mod half;
mod large;
mod leading;
mod middle;
mod residues;
mod small;
mod tall;

use super::maker::{FRACTION, Maker, drawn, word};
use crate::cases::{Family, Generator, Hints};
use crate::dpa::OperandWords;
use crate::dpa::Signature;
use crate::dpa::schema::{ShownBy, Value};
use crate::dpa::{Operation, Unit};
use crate::format::Format;
use crate::reveal::Random;
use crate::tree::Tree;
pub(crate) use alone::alone;
pub(crate) use half::half;
use large::{huge, special, zeros};
pub(crate) use leading::leading;
use middle::{cancelled, core, tie};
pub(crate) use residues::{Residues, carrying, nearly_normal, pair};
use small::tiny;
pub(crate) use tall::tall;

/// The parameters that an input is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Alignment and rounding, in the middle of the range.
    Core,
    /// The same without c, all in one place of k.
    Products,
    /// A number, half of its last place, and bits far below that decide.
    Tie,
    /// Two products that cancel, and one term as far below as the alignment reaches.
    Cancelled,
    /// Small terms: floors, subnormals, flushes.
    Tiny,
    /// Large terms: overflow.
    Huge,
    /// ∞ and NaN.
    Special,
    /// Signed zeros and sums that are or round to zero.
    Zeros,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Core,
        Self::Products,
        Self::Tie,
        Self::Cancelled,
        Self::Tiny,
        Self::Huge,
        Self::Special,
        Self::Zeros,
    ];
}

/// An order in which a sum reads k.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadingOrder {
    /// Each place once.
    places: Vec<usize>,
    /// Where the places of each statement or node begin in it.
    starts: Vec<usize>,
}

/// So far apart in a family are the cases that are asked.
const STRIDE: u64 = 977;

/// Half of the runs of places begin this near the first of a statement or node.
const FIRST: usize = 4;

/// Distances, exponents and places at which candidates differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Focus {
    /// Numbers of fraction bits.
    pub bits: Vec<i32>,
    /// Floors.
    pub(crate) floors: Vec<i32>,
    /// Powers of two from which on products are infinite.
    pub(crate) limits: Vec<i32>,
    /// The orders in which sums read k, but for k's own.
    pub(crate) orders: Vec<ReadingOrder>,
}

impl Focus {
    /// The focus that a unit's parameters suggest.
    pub(crate) fn of(unit: &Unit) -> Self {
        let mut focus = Self::default();
        for statement in &unit.program().statements {
            let (Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. }) =
                &statement.operation
            else {
                continue;
            };
            for (parameter, value) in algorithm.parameters() {
                match (parameter.shown_by, value) {
                    (ShownBy::Alignment | ShownBy::SumBits, Value::Number(bits)) => {
                        focus.bits.push(bits);
                    }
                    (ShownBy::Floor, Value::Number(floor)) => focus.floors.push(floor),
                    (ShownBy::Range, Value::Number(limit)) => focus.limits.push(limit),
                    _ => {}
                }
            }
        }
        let k = unit.signature().k;
        let statements = unit.program().statements.iter();
        let read = statements.filter_map(|statement| match &statement.operation {
            Operation::Dot { over, .. } => Some(over.indices(k)),
            _ => None,
        });
        focus.orders.extend(ReadingOrder::of(read, k));
        focus
    }

    /// The same with the order of a tree.
    pub(crate) fn along(self, tree: &Tree, k: usize) -> Self {
        let nodes = tree.nodes().iter();
        let products = nodes.map(|node| {
            let leaves = node.children.iter().copied();
            leaves.filter(|&leaf| leaf < k).collect()
        });
        let orders = ReadingOrder::of(products, k).into_iter().collect();
        Self { orders, ..self }
    }

    pub(crate) fn with(mut self, other: &Self) -> Self {
        self.bits.extend(&other.bits);
        self.floors.extend(&other.floors);
        self.limits.extend(&other.limits);
        for order in &other.orders {
            if !self.orders.contains(order) {
                self.orders.push(order.clone());
            }
        }
        self
    }

    /// Each of them once.
    pub(crate) fn distinct(mut self) -> Self {
        for numbers in [&mut self.bits, &mut self.floors, &mut self.limits] {
            numbers.sort_unstable();
            numbers.dedup();
        }
        self
    }
}

/// An input of a kind.
pub(crate) fn make(maker: &Maker, kind: Kind, focus: &Focus, random: &mut Random) -> OperandWords {
    match kind {
        Kind::Core => core(maker, focus, true, random),
        Kind::Products => core(maker, focus, false, random),
        Kind::Tie => {
            let mut case = maker.blank();
            scale(maker, &mut case, false, random);
            tie(maker, focus, &mut case, random);
            case
        }
        Kind::Cancelled => cancelled(maker, focus, random),
        Kind::Tiny => tiny(maker, focus, random),
        Kind::Huge => huge(maker, focus, random),
        Kind::Special => special(maker, focus, random),
        Kind::Zeros => zeros(maker, focus, random),
    }
}

/// Fresh cases of families that a device with this signature can be asked.
pub(crate) fn of_families(
    signature: &Signature,
    families: &[Family],
    count: usize,
    hints: Hints,
    random: &mut Random,
) -> Vec<OperandWords> {
    let mut cases = Vec::new();
    for &family in families {
        let seed = random.bits();
        let Ok(generator) = Generator::new(family, seed, signature, hints) else {
            continue;
        };
        // The pairs of `exhaustive` lie in order.
        let first = match family {
            Family::Exhaustive => random.bits() >> 44,
            _ => 0,
        };
        cases.extend((0..count as u64).map(|index| generator.case(first + index * STRIDE)));
    }
    cases
}

/// A number of `from ..= to`.
fn between(from: i32, to: i32, random: &mut Random) -> i32 {
    from + random.below((to - from).max(0) as usize + 1) as i32
}

/// The fraction bits of a format, at most those that [`drawn`] takes.
fn kept(format: &Format) -> i32 {
    let bits = format.float().map_or(0, |float| float.fraction_bits);
    bits.min(FRACTION) as i32
}

impl ReadingOrder {
    /// The order in which statements or nodes read their places, each place where it is read first; `None` where that is k's own.
    fn of(parts: impl Iterator<Item = Vec<usize>>, k: usize) -> Option<Self> {
        let (mut places, mut starts) = (Vec::new(), Vec::new());
        let mut seen = vec![false; k];
        for part in parts {
            let before = places.len();
            let new = part.into_iter();
            places.extend(
                new.filter(|&place| place < k && !std::mem::replace(&mut seen[place], true)),
            );
            if places.len() > before {
                starts.push(before);
            }
        }
        (!places.is_sorted()).then_some(Self { places, starts })
    }
}

/// In half of the cases places that a sum reads one after the other, in any order; where a unit reads many in another order than k's,
/// these hardly meet else. `None` in the other half, and where all read k in its own order.
fn along(focus: &Focus, count: usize, random: &mut Random) -> Option<Vec<usize>> {
    if focus.orders.is_empty() || random.below(2) == 0 {
        return None;
    }
    let order = &focus.orders[random.below(focus.orders.len())];
    // The first statement is often longer than the others.
    let start = order.starts[random.below(order.starts.len()) * random.below(2)];
    let rest = &order.places[start..];
    let most = [FIRST, rest.len()][random.below(2)];
    let first = random.below(rest.len().saturating_sub(count).min(most) + 1);
    let mut run: Vec<usize> = rest[first..].iter().copied().take(count).collect();
    random.shuffle(&mut run);
    Some(run)
}

/// One of some numbers, if there are any.
fn one_of(numbers: &[i32], random: &mut Random) -> Option<i32> {
    (!numbers.is_empty()).then(|| numbers[random.below(numbers.len())])
}

/// Some places of k: a run, scattered ones, or all; or a run in another order.
fn places(maker: &Maker, focus: &Focus, count: usize, random: &mut Random) -> Vec<usize> {
    let k = maker.signature.k;
    let count = count.min(k);
    if let Some(run) = along(focus, count, random) {
        return run;
    }
    let mut places: Vec<usize> = match random.below(3) {
        0 => {
            let first = random.below(k - count + 1);
            (first..first + count).collect()
        }
        1 => {
            let stride = [1, 2, 4][random.below(3)];
            let first = random.below(k);
            (0..count).map(|i| (first + i * stride) % k).collect()
        }
        _ => {
            let mut all: Vec<usize> = (0..k).collect();
            random.shuffle(&mut all);
            all.truncate(count);
            all
        }
    };
    places.sort_unstable();
    places.dedup();
    random.shuffle(&mut places);
    places
}

/// Scales around an exponent, or 1.
fn scale(maker: &Maker, case: &mut OperandWords, spread: bool, random: &mut Random) {
    let Some(range) = maker.scale else { return };
    let width = match random.below(4) {
        0 => 0,
        1 => 3,
        _ => 20,
    };
    let (low, high) = ((2 * range.normal).max(-width), (2 * range.top).min(width));
    let common = between(low, high, random);
    for block in 0..case.scale_a.len() {
        let sum = if spread {
            between(low, high, random)
        } else {
            common
        };
        maker.set_scales(case, block, sum);
        if random.below(3) == 0 {
            // A scale that is no power of two, where the format has one.
            let format = maker.signature.scale.map(|scale| scale.format);
            if let Some(format) = format.filter(|f| f.float().is_some_and(|f| f.fraction_bits > 0))
            {
                let exponent = between(range.normal.max(-3), range.top.min(3), random);
                case.scale_a[block] = word(drawn(false, exponent, random.bits() >> 4), &format);
            }
        }
    }
}
