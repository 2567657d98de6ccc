//! Finds inputs on which two units differ: directed kinds first, then the families around both.

use super::inputs::{
    Focus, Kind, Residues, carrying, half, leading, make, nearly_normal, pair, tall,
};
use super::maker::Maker;
use super::parallel;
use crate::cases::{Family, Generator, Hints};
use crate::dpa::OperandWords;
use crate::dpa::{Decoded, Modifiers, Unit};
use crate::reveal::Random;

/// Inputs of all kinds in one portion, with a share of each family.
const PORTION: usize = 250;
/// Kinds that are aimed at the units' own exponents.
const AIMED: [Kind; 5] = [
    Kind::Core,
    Kind::Products,
    Kind::Tie,
    Kind::Cancelled,
    Kind::Tiny,
];
/// Kinds that are much the same for all units.
const COMMON: [Kind; 3] = [Kind::Huge, Kind::Special, Kind::Zeros];
/// The kind that is aimed at limits of products, where they differ.
const AT_LIMIT: [Kind; 1] = [Kind::Huge];
/// Its seed.
const LIMIT_SEED: u64 = 0x1131_7001;
/// Families that are the same for all units, and how many times fewer of their inputs are tried than of the kinds.
const FAMILIES: [(Family, usize); 4] = [
    (Family::Close, 8),
    (Family::Stress, 8),
    (Family::Bits, 8),
    (Family::Normal, 8),
];
/// The family that is made around a unit's parameters.
const AROUND: (Family, usize) = (Family::Boundary, 4);
/// Sums in a portion whose c nearly cancels them, and pairs of operands that the unit may add.
const RESIDUES: usize = 80;
/// Sums that are longer than their product, beside each of them, of units of one product: which bits are lost then shows
/// in one of some hundreds.
const CARRYING: usize = 8;
/// The seed of these: they take no part in the draws of the others.
const SEED: u64 = 0x7e51_d0e5;
/// Tall sums in a portion.
const TALL: usize = 40;
/// Their seed.
const TALL_SEED: u64 = 0x7a11_50f5;
/// Sums in a portion whose largest product has a subnormal operand, or one of the smallest normal numbers.
const LEADING: usize = 40;
/// Their seed.
const LEADING_SEED: u64 = 0x1ead_0001;
/// Sums in a portion that a bit far below half of the last place decides.
const HALF: usize = 100;
/// Their seed.
const HALF_SEED: u64 = 0x5a1f_0001;
/// Such sums at floors in a portion: terms in the right step and at the right distance are rare.
const AT_FLOOR: usize = 200;
/// The number of pools of aimed inputs that are kept beside the unit's own.
const POOLS: usize = 3;

/// Whether two units give different results; which NaN does not count.
pub(crate) fn differ(left: &Unit, right: &Unit, case: &OperandWords) -> bool {
    let none = Modifiers::default();
    match (
        left.dot(&case.operands(), &none),
        right.dot(&case.operands(), &none),
    ) {
        (Ok(l), Ok(r)) => l != r && !(left.is_nan(l) && right.is_nan(r)),
        _ => false,
    }
}

/// Compares one unit with many others. Inputs aimed at the same exponents are made once, and the unit answers each
/// once.
pub(crate) struct Distinguisher<'a> {
    unit: &'a Unit,
    common: Option<Pool>,
    residues: Option<Pool>,
    tall: Option<Pool>,
    leading: Option<Pool>,
    half: Option<Pool>,
    /// The first is for the unit's own exponents; the others are the last ones that were used.
    aimed: Vec<Pool>,
}

/// Inputs in the order in which they are tried, made when they are needed.
struct Pool {
    content: Content,
    kinds: &'static [Kind],
    families: &'static [(Family, usize)],
    focus: Focus,
    /// They matter to [`AROUND`].
    hints: Hints,
    random: Random,
    /// Seed of the families' cases.
    seed: u64,
    inputs: Vec<Input>,
    /// The end of each portion of them.
    ends: Vec<usize>,
}

/// What a pool has beside kinds and families.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Nothing,
    Residues,
    Tall,
    Leading,
    Half,
    /// Such sums at floors, which matter where floors differ.
    AtFloor,
}

struct Input {
    case: OperandWords,
    decoded: Decoded,
    /// The unit's answer.
    word: u64,
}

impl<'a> Distinguisher<'a> {
    pub(crate) fn new(unit: &'a Unit) -> Self {
        Self {
            unit,
            common: None,
            residues: None,
            tall: None,
            leading: None,
            half: None,
            aimed: Vec::new(),
        }
    }

    /// An input on which the other unit differs, from about `tries` inputs of all kinds and the families'
    /// share beside them.
    pub(crate) fn find(
        &mut self,
        maker: &Maker,
        other: &Unit,
        tries: usize,
        random: &mut Random,
    ) -> Option<OperandWords> {
        let unit = self.unit;
        self.aim(other, random);
        let own = (Focus::of(unit).distinct(), Hints::of_unit(unit));
        let common = (self.common)
            .get_or_insert_with(|| Pool::new(&COMMON, &FAMILIES, own.0, own.1, random));
        let apart = |content, seed| {
            let pool = Pool::new(
                &[],
                &[],
                Focus::of(unit).distinct(),
                own.1,
                &mut Random::new(seed),
            );
            Pool { content, ..pool }
        };
        let residues = (self.residues).get_or_insert_with(|| apart(Content::Residues, SEED));
        let tall = (self.tall).get_or_insert_with(|| apart(Content::Tall, TALL_SEED));
        let leading = (self.leading).get_or_insert_with(|| apart(Content::Leading, LEADING_SEED));
        let half = (self.half).get_or_insert_with(|| apart(Content::Half, HALF_SEED));
        // The floors and limits of both matter, so that no other unit can use these sums.
        let [own, others] = [unit, other].map(Focus::of);
        let both = own.clone().with(&others).distinct();
        let count = |unit: &Unit| unit.program().statements.len();
        // Where one says in several statements what the other says in one, each number counts once.
        let [own, others] = match count(unit) == count(other) {
            true => [own, others],
            false => [own, others].map(Focus::distinct),
        };
        let mut at_floor = (own.floors != others.floors).then(|| Pool {
            focus: both.clone(),
            ..apart(Content::AtFloor, HALF_SEED)
        });
        let mut at_limit = (own.limits != others.limits).then(|| Pool {
            kinds: &AT_LIMIT,
            focus: both,
            ..apart(Content::Nothing, LIMIT_SEED)
        });
        let aimed = self.aimed.last_mut()?;
        let mut pools = vec![aimed, common, residues, tall, leading, half];
        pools.extend(at_floor.as_mut().into_iter().chain(at_limit.as_mut()));
        let differs = |input: &&Input| {
            let word = other.dot_decoded(&input.decoded, &input.case.operands());
            word != input.word && !(unit.is_nan(word) && unit.is_nan(input.word))
        };
        // Most units differ on inputs of the first portion, where a pool is made when it is needed.
        let portions = tries.div_ceil(PORTION);
        let mut from = 0;
        while from < portions {
            let to = portions.min((2 * from).max(1));
            let together = if from == 0 { 1 } else { pools.len() };
            for pools in pools.chunks_mut(together) {
                for pool in &mut *pools {
                    while pool.ends.len() < to {
                        pool.make(maker, unit);
                    }
                }
                let of_portion = |portion| pools.iter().flat_map(move |pool| pool.portion(portion));
                let inputs: Vec<&Input> = (from..to).flat_map(of_portion).collect();
                if let Some(place) = parallel::position(&inputs, differs) {
                    return Some(inputs[place].case.clone());
                }
            }
            from = to;
        }
        None
    }

    /// Makes the pool for another unit the last one.
    fn aim(&mut self, other: &Unit, random: &mut Random) {
        let focus = Focus::of(self.unit).with(&Focus::of(other)).distinct();
        let hints = Hints::of_unit(other);
        let same = |pool: &Pool| pool.focus == focus && pool.hints == hints;
        let known = self.aimed.iter().position(same);
        let pool = match known {
            Some(known) => self.aimed.remove(known),
            None => {
                if self.aimed.len() > POOLS {
                    // The unit's own is used again and again.
                    let own = Focus::of(self.unit).distinct();
                    let old = self.aimed.iter().position(|pool| pool.focus != own);
                    self.aimed.remove(old.unwrap_or(0));
                }
                Pool::new(&AIMED, std::slice::from_ref(&AROUND), focus, hints, random)
            }
        };
        self.aimed.push(pool);
    }
}

impl Pool {
    fn new(
        kinds: &'static [Kind],
        families: &'static [(Family, usize)],
        focus: Focus,
        hints: Hints,
        random: &mut Random,
    ) -> Self {
        Self {
            content: Content::Nothing,
            kinds,
            families,
            focus,
            hints,
            random: Random::new(random.bits()),
            seed: random.bits(),
            inputs: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The inputs of a portion.
    fn portion(&self, portion: usize) -> &[Input] {
        let from = portion.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.inputs[from..self.ends[portion]]
    }

    /// Sums whose c nearly cancels what the unit gives without it, and pairs of operands.
    fn residues(&mut self, maker: &Maker, unit: &Unit) -> Vec<OperandWords> {
        let residues = Residues {
            maker,
            focus: &self.focus,
        };
        let mut cases = Vec::new();
        for _ in 0..RESIDUES {
            let products = residues.products(&mut self.random);
            let given = unit.dot(&products.operands(), &Modifiers::default());
            let made = given.ok().map(|given| {
                [
                    residues.with_c(&products, given, &mut self.random),
                    residues.crossing(&products, given, &mut self.random),
                ]
            });
            cases.extend(made.into_iter().flatten().flatten());
            cases.push(nearly_normal(maker, &mut self.random));
            if maker.signature.k == 1 {
                cases.extend((0..CARRYING).map(|_| carrying(maker, &mut self.random)));
                cases.push(pair(maker, &mut self.random));
            }
        }
        cases
    }

    /// Makes another portion.
    fn make(&mut self, maker: &Maker, unit: &Unit) {
        let count = PORTION * self.kinds.len() / Kind::ALL.len();
        let mut cases: Vec<OperandWords> = (0..count)
            .map(|round| {
                let kind = self.kinds[round % self.kinds.len()];
                make(maker, kind, &self.focus, &mut self.random)
            })
            .collect();
        for &(family, share) in self.families {
            let generator = Generator::new(family, self.seed, &maker.signature, self.hints);
            let Ok(generator) = generator else { continue };
            let count = PORTION / share;
            let first = self.ends.len() * count;
            cases.extend((first..first + count).map(|index| generator.case(index as u64)));
        }
        match self.content {
            Content::Nothing => {}
            Content::Residues => cases.extend(self.residues(maker, unit)),
            Content::Tall => {
                cases.extend((0..TALL).map(|_| tall(maker, &self.focus, &mut self.random)));
            }
            Content::Half | Content::AtFloor => {
                let at_floor = self.content == Content::AtFloor;
                let count = if at_floor { AT_FLOOR } else { HALF };
                let make = |_| half(maker, &self.focus, at_floor, &mut self.random);
                cases.extend((0..count).map(make));
            }
            Content::Leading => {
                let make = |_| leading(maker, &self.focus, &mut self.random);
                cases.extend((0..LEADING).filter_map(make));
            }
        }
        let inputs = parallel::each(cases, parallel::PIECE, |case| {
            let decoded = Decoded::new(&maker.signature, &case.operands()).ok()?;
            let word = unit.dot_decoded(&decoded, &case.operands());
            Some(Input {
                case,
                decoded,
                word,
            })
        });
        self.inputs.extend(inputs.into_iter().flatten());
        self.ends.push(self.inputs.len());
    }
}
