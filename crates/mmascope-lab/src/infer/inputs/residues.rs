//! Makes inputs whose c takes away what the products give, but for a few units in the last place; and pairs of operands
//! that a device may add.

use super::middle::{cancelled, core};
use super::{Focus, between, places};
use crate::dpa::{OperandWords, Signature};
use crate::exact::{Dyadic, Exact};
use crate::format::Class;
use crate::infer::maker::{Maker, drawn, fraction, word};
use crate::reveal::Random;

/// The fraction with four leading ones.
const TOP: u64 = 0xf << (crate::infer::maker::FRACTION - 4);

/// Makes residues of sums in two steps: the products alone, and a c that nearly cancels what they gave.
pub(crate) struct Residues<'a> {
    pub(crate) maker: &'a Maker,
    pub(crate) focus: &'a Focus,
}

impl Residues<'_> {
    /// Products without c.
    pub(crate) fn products(&self, random: &mut Random) -> OperandWords {
        let maker = self.maker;
        let mut case = match random.below(8) {
            0 => core(maker, self.focus, false, random),
            1 => cancelled(maker, self.focus, random),
            _ if maker.signature.k == 1 && random.below(2) == 0 => pair(maker, random),
            _ => few(maker, self.focus, random),
        };
        case.c = 0;
        case
    }

    /// The products with a c that is minus what they gave, changed by so many units in c's last place that one or a few
    /// in the last place of the sum's grid are left. `None` where they gave no number, or one that c cannot be.
    pub(crate) fn with_c(
        &self,
        products: &OperandWords,
        given: u64,
        random: &mut Random,
    ) -> Option<OperandWords> {
        let Signature { c, d, .. } = &self.maker.signature;
        let given = d.decode(d.from_register(given));
        if given.class != Class::Finite || given.significand == 0 {
            return None;
        }
        let opposite = Exact::new(
            !given.negative,
            given.significand.into(),
            given.exponent - given.fraction_bits as i32,
        );
        let near = c.from_register(word(opposite, c));
        // The grid may be coarser than c's last place, where terms cancelled.
        let places = [0, 0, 0, 0, 1, 2, between(1, 12, random)][random.below(7)];
        let units = [1, 1, 1, 2, 3][random.below(5)] << places;
        let moved = match random.below(2) {
            0 => near.checked_add(units),
            _ => near.checked_sub(units),
        };
        let moved = moved.filter(|moved| {
            let moved = c.decode(*moved);
            moved.class == Class::Finite && moved.negative != given.negative
        })?;
        Some(OperandWords {
            c: c.to_register(moved),
            ..products.clone()
        })
    }
}

impl Residues<'_> {
    /// The products with a c so that the sum lies within some units in the last place of a power of two that is larger than
    /// they are: one more step of a chain is a carry, whose result is longer than the grid, and is rounded.
    pub(crate) fn crossing(
        &self,
        products: &OperandWords,
        given: u64,
        random: &mut Random,
    ) -> Option<OperandWords> {
        let Signature { c, d, .. } = &self.maker.signature;
        let given = d.decode(d.from_register(given));
        if given.class != Class::Finite || given.significand == 0 {
            return None;
        }
        let number = Exact::new(
            given.negative,
            given.significand.into(),
            given.exponent - given.fraction_bits as i32,
        );
        let top = number.top()? + between(1, self.maker.bits.min(16), random);
        if top > self.maker.c.top - 1 || top - self.maker.bits < self.maker.c.lowest {
            return None;
        }
        let power = Dyadic::of(&Exact::power_of_two(given.negative, top));
        let near = (&power - &Dyadic::of(&number)).to_exact();
        let near = c.from_register(word(near, c));
        let units = random.below(16) as u64;
        let moved = match random.below(4) {
            0 => near.checked_add(units),
            _ => near.checked_sub(units),
        }?;
        Some(OperandWords {
            c: c.to_register(moved),
            ..products.clone()
        })
    }
}

/// A few products of numbers with few digits, near each other.
fn few(maker: &Maker, focus: &Focus, random: &mut Random) -> OperandWords {
    let mut case = maker.blank();
    let (low, high) = maker.products();
    let high = high.min(maker.d.top - 4).min(24);
    let low = low.max(maker.d.normal + maker.bits).max(-40).min(high);
    let anchor = between(low, high, random);
    let count = [1, 1, 2, 3, 8, usize::MAX][random.below(6)];
    let negative = random.below(2) == 0;
    for k in places(maker, focus, count, random) {
        let sign = negative ^ (random.below(4) == 0);
        let number = drawn(sign, anchor - between(0, 2, random), fraction(random));
        let other = [0, fraction(random)][random.below(2)];
        maker.product(&mut case, k, number, other, random);
    }
    case
}

/// An a and a b as what is added: of nearly one exponent, also the smallest; with a c beside their sum, or none.
pub(crate) fn pair(maker: &Maker, random: &mut Random) -> OperandWords {
    let mut case = maker.blank();
    let Signature { a, b, k, .. } = &maker.signature;
    let low = maker.a.normal.max(maker.b.normal);
    let high = maker.a.top.min(maker.b.top).min(maker.d.top);
    let exponent = match random.below(3) {
        0 => low + between(0, 3, random),
        1 => between(-4, 4, random),
        _ => between(low, high, random),
    };
    let exponent = exponent.clamp(low, high.max(low));
    let digits = |random: &mut Random| fraction(random) | [0, TOP][random.below(2)];
    let (negative, at) = (random.below(2) == 0, random.below(*k));
    let below = [0, 0, 1, between(0, 12, random)][random.below(4)];
    case.a[at] = word(drawn(negative, exponent, digits(random)), a);
    let other = drawn(
        negative ^ (random.below(2) == 0),
        (exponent - below).max(maker.b.normal),
        digits(random),
    );
    case.b[at] = match random.below(6) {
        0 => 0,
        _ => word(other, b),
    };
    if random.below(3) != 0 {
        let sign = negative ^ (random.below(4) == 0);
        let number = drawn(sign, exponent + between(-1, 1, random), fraction(random));
        maker.set_c(&mut case, number);
    }
    if a == b && random.below(2) == 0 {
        std::mem::swap(&mut case.a, &mut case.b);
    }
    case
}

/// A product of numbers with all their digits, or few in one of them, and a c of its sign beside it: their sum may be one or two places longer
/// than the product. In one case of four both are as small as the smallest normal result.
pub(crate) fn carrying(maker: &Maker, random: &mut Random) -> OperandWords {
    let mut case = maker.blank();
    let (low, high) = maker.products();
    let anchor = match random.below(4) {
        0 => maker.d.normal + between(-2, 1, random),
        _ => between(-20, 20, random),
    };
    let anchor = anchor.clamp(low, high.min(maker.d.top - 2).max(low));
    let negative = random.below(2) == 0;
    let digits = |random: &mut Random| random.bits() >> 4 | [0, TOP][random.below(2)];
    // Beside a factor with few digits every bit of the product is kept.
    let (first, second) = (digits(random), [digits(random), TOP & digits(random)]);
    let second = second[random.below(2)];
    maker.product(&mut case, 0, drawn(negative, anchor, first), second, random);
    if random.below(4) != 0 {
        let sign = negative ^ (random.below(8) == 0);
        let number = drawn(sign, anchor + between(-2, 2, random), digits(random));
        maker.set_c(&mut case, number);
    }
    case
}

/// The smallest normal number of d, less than half a place of which something takes away: whether that is too small is
/// asked before or after the rounding.
pub(crate) fn nearly_normal(maker: &Maker, random: &mut Random) -> OperandWords {
    let mut case = maker.blank();
    let k = maker.signature.k;
    let (low, high) = maker.products();
    let normal = maker.d.normal;
    let below = normal - maker.bits - between(1, 4, random);
    let negative = random.below(2) == 0;
    let first = random.below(k);
    if random.below(2) == 0 || !(low..=high).contains(&normal) || k == 1 {
        maker.set_c(&mut case, drawn(negative, normal, 0));
    } else {
        maker.power(&mut case, first, negative, normal);
    }
    let second = if k == 1 {
        0
    } else {
        (first + 1 + random.below(k - 1)) % k
    };
    maker.power(&mut case, second, !negative, below.max(low));
    case
}
