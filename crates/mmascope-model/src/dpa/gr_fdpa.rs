//! GR-FDPA: products summed in groups on a rounded grid, then the groups and c on a second one
//! (`tensix.md` §4: the matrix unit of Tensix; no ∞ and no NaN, every code is a number).

use super::events::Events;
use super::output::Output;
use super::pair::{Pair, Term};
use crate::format::{Class, Exact, Rounding, Unpacked};

/// The parameters of a GR-FDPA.
///
/// Operands and c are numbers whatever their codes: an exponent field of ones is one more binade, and
/// an exponent field of zeros is zero. A product is exact, and not normalised: its exponent is the sum
/// of its operands' exponents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GrFdpa {
    /// What a pair of operands adds to the sum.
    pub terms: Terms,
    /// Products per block.
    pub l: u32,
    /// Products per group; a group is G neighbours.
    pub g: u32,
    /// Fraction bits of a group's grid, below the group's largest exponent.
    pub f_g: u32,
    /// Rounding of products to the group's grid.
    pub align_g: Rounding,
    /// Fraction bits of the grid of the groups and c.
    pub f: u32,
    /// A second grid, coarser than F's, onto which the groups and c are rounded once more.
    pub f2: Option<u32>,
    /// Rounding of groups, on both grids.
    pub align: Rounding,
    /// Rounding of c, on both grids.
    pub align_c: Rounding,
    /// The part of a's significand that the multiplier takes.
    pub a: Part,
    /// The part of b's significand that the multiplier takes.
    pub b: Part,
    /// Largest exponent at or below which everything is zero.
    pub e0: i32,
    /// Exponent with which a zero product takes part in the alignment; e0 where it says nothing.
    pub e_z: Option<i32>,
    /// A fault: a sum of −1 in the last place of the grid counts this many places higher.
    pub fault: Option<u32>,
}

/// What a pair of operands adds to a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Terms {
    /// One term: the product a·b.
    #[default]
    Product,
    /// Two terms: a and b.
    Sum,
    /// Two terms: a and −b.
    Difference,
}

/// A part of a significand: the bits worth 2^−first to 2^−last. The hidden bit is worth 2^0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Place of the highest bit.
    pub first: u32,
    /// Place of the lowest bit.
    pub last: u32,
}

impl Part {
    /// Every bit of any significand.
    pub const WHOLE: Self = Self { first: 0, last: 31 };

    /// The bits of a significand with so many fraction bits, and how many places of them lie behind
    /// the first one.
    fn of(self, significand: u64, fraction_bits: u32) -> (u64, u32) {
        // A part that reaches below the significand gives nothing there.
        let last = self.last.min(fraction_bits);
        if last < self.first {
            return (0, 0);
        }
        let places = last - self.first;
        let mask = u64::MAX >> (63 - places);
        ((significand >> (fraction_bits - last)) & mask, places)
    }
}

/// A number that a sum takes in: `sum · 2^(exponent − fraction bits)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum {
    /// The exponent that takes part in alignment.
    exponent: i32,
    /// Exponent of the unit of `sum`.
    place: i32,
    sum: i128,
}

impl Sum {
    /// The sum as a multiple of 2^grid.
    fn align(&self, grid: i32, rounding: Rounding) -> i128 {
        align(self.sum, self.place, grid, rounding)
    }
}

/// A multiple of 2^place as one of 2^grid.
fn align(sum: i128, place: i32, grid: i32, rounding: Rounding) -> i128 {
    let negative = sum < 0;
    let magnitude = sum.unsigned_abs();
    let magnitude = if place >= grid {
        magnitude << (place - grid)
    } else {
        rounding.shift_right(negative, magnitude, false, (grid - place) as u32)
    } as i128;
    if negative { -magnitude } else { magnitude }
}

/// Whether the unit takes a value for zero.
fn is_zero(x: &Unpacked) -> bool {
    x.significand >> x.fraction_bits == 0
}

impl GrFdpa {
    /// The places that the parts leave below the exponents of the operands.
    fn below(&self) -> i32 {
        match self.terms {
            Terms::Product => (self.a.first + self.b.first) as i32,
            Terms::Sum | Terms::Difference => 0,
        }
    }

    /// The exponent of a zero term.
    pub(crate) fn zero_exponent(&self) -> i32 {
        self.e_z.unwrap_or(self.e0)
    }

    /// One block. The events are those of its result.
    pub(super) fn block(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> (u64, Events) {
        let groups = pairs.chunks(self.g as usize).map(|group| {
            let terms = group
                .iter()
                .flat_map(|pair| self.terms_of(&pair.a, &pair.b));
            self.group(terms.flatten())
        });
        let mut any = false;
        let groups: Vec<Sum> = groups
            .map(|(sum, is_something)| {
                any |= is_something;
                sum
            })
            .collect();
        self.total(&groups, any, c, output)
    }

    /// One block over numbers, for callers that decode by rules of their own.
    pub(crate) fn of_numbers(
        &self,
        pairs: impl Iterator<Item = (Unpacked, Unpacked)>,
        c: &Unpacked,
        output: &Output,
    ) -> (u64, Events) {
        let terms: Vec<Term> = pairs
            .flat_map(|(a, b)| self.terms_of(&a, &b))
            .flatten()
            .collect();
        let per_group = self.g as usize * if self.terms == Terms::Product { 1 } else { 2 };
        let mut any = false;
        let groups: Vec<Sum> = terms
            .chunks(per_group)
            .map(|group| {
                let (sum, is_something) = self.group(group.iter().copied());
                any |= is_something;
                sum
            })
            .collect();
        let (word, events) = self.total(&groups, any, c, output);
        (super::general::finished(word, output), events)
    }

    /// What one pair adds: one term or two. A term of magnitude 0 keeps its exponent.
    fn terms_of(&self, a: &Unpacked, b: &Unpacked) -> [Option<Term>; 2] {
        let zero = Term {
            negative: false,
            exponent: self.zero_exponent(),
            significand: 0,
            fraction_bits: 0,
        };
        let value = |x: &Unpacked, negated: bool| match is_zero(x) {
            true => zero,
            false => Term {
                negative: x.negative != negated,
                exponent: x.exponent,
                significand: x.significand.into(),
                fraction_bits: x.fraction_bits as i32,
            },
        };
        match self.terms {
            Terms::Sum => [Some(value(a, false)), Some(value(b, false))],
            Terms::Difference => [Some(value(a, false)), Some(value(b, true))],
            Terms::Product if is_zero(a) || is_zero(b) => [Some(zero), None],
            Terms::Product => {
                let (m_a, places_a) = self.a.of(a.significand, a.fraction_bits);
                let (m_b, places_b) = self.b.of(b.significand, b.fraction_bits);
                let product = Term {
                    negative: a.negative != b.negative,
                    exponent: a.exponent + b.exponent - self.below(),
                    significand: u128::from(m_a) * u128::from(m_b),
                    fraction_bits: (places_a + places_b) as i32,
                };
                [Some(product), None]
            }
        }
    }

    /// The sum of a group's terms on its grid, and whether a term is not zero.
    fn group(&self, terms: impl Iterator<Item = Term> + Clone) -> (Sum, bool) {
        let exponents = terms.clone().map(|term| term.exponent);
        let largest = exponents.max().unwrap_or(self.e0);
        let any = terms.clone().any(|term| term.significand != 0);
        if largest <= self.e0 {
            let nothing = Sum {
                exponent: self.e0,
                place: self.e0,
                sum: 0,
            };
            return (nothing, any);
        }
        let grid = largest - self.f_g as i32;
        let sum = Sum {
            exponent: largest,
            place: grid,
            sum: terms.map(|term| term.align(grid, self.align_g)).sum(),
        };
        (sum, any)
    }

    /// The groups and c, aligned to the largest exponent, summed and rounded. `any`: whether a term of
    /// the groups is not zero.
    fn total(&self, groups: &[Sum], any: bool, c: &Unpacked, output: &Output) -> (u64, Events) {
        let c = self.number(c, output);
        let exponents = groups.iter().chain(&c).map(|sum| sum.exponent);
        let largest = exponents.fold(self.e0, i32::max);
        if largest <= self.e0 {
            let events = Events {
                underflow: any,
                ..Events::default()
            };
            return (output.zero(false), events);
        }
        let fine = largest - self.f as i32;
        let aligned = |sum: &Sum, rounding: Rounding| {
            let on_fine = sum.align(fine, rounding);
            match self.f2 {
                None => on_fine,
                Some(f2) => {
                    let coarse = largest - f2 as i32;
                    align(on_fine, fine, coarse, rounding) << (coarse - fine)
                }
            }
        };
        let groups = groups.iter().map(|sum| aligned(sum, self.align));
        let c = c.iter().map(|sum| aligned(sum, self.align_c));
        let sum: i128 = groups.chain(c).sum();
        let sum = match self.fault {
            Some(places) if sum == -1 => -1 << places,
            _ => sum,
        };
        let exact = Exact {
            negative: sum < 0,
            magnitude: sum.unsigned_abs(),
            exponent: fine,
            sticky: false,
        };
        (output.finite(&exact, None), output.events(&exact))
    }

    /// c as a number; `None` when it is zero. An ∞ can only be an earlier result, and means 2^(emax + 1).
    fn number(&self, c: &Unpacked, output: &Output) -> Option<Sum> {
        if c.class == Class::Infinite {
            let exponent = output
                .format
                .float()
                .map_or(0, |float| (1 << float.exponent_bits) - 1 - float.bias);
            return Some(Sum {
                exponent,
                place: exponent,
                sum: if c.negative { -1 } else { 1 },
            });
        }
        (!is_zero(c)).then(|| Sum {
            exponent: c.exponent,
            place: c.exponent - c.fraction_bits as i32,
            sum: i128::from(c.significand) * if c.negative { -1 } else { 1 },
        })
    }
}
