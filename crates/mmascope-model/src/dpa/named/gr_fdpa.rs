//! GR-FDPA: products summed in groups on a rounded grid, then the groups and c on a second one
//! (`tensix.md` §4: the matrix unit of Tensix; no ∞ and no NaN, every code is a number).

use super::Step;
use crate::dpa::describe::rounded;
use crate::dpa::events::Events;
use crate::dpa::general::General;
use crate::dpa::output::{Ends, Output};
use crate::dpa::pair::Pair;
use crate::dpa::schema::{Row, Value, row, typed_words};
use crate::dpa::{FlushSign, Nan, Select, Signature, Tininess, ZeroSign};
use crate::exact::{Dyadic, Exact, Rounding};
use crate::format::{Class, Format, Overflow, Unpacked};

/// The parameters of a GR-FDPA.
///
/// Operands and c are numbers whatever their codes: an exponent field of ones is one more binade, and
/// an exponent field of zeros is zero. A product is exact, and not normalised: its exponent is the sum
/// of its operands' exponents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GrFdpa {
    /// What a pair of operands adds to the sum.
    pub terms: Addends,
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
    pub a: TakenBits,
    /// The part of b's significand that the multiplier takes.
    pub b: TakenBits,
    /// Largest exponent at or below which everything is zero.
    pub e0: i32,
    /// Exponent with which a zero product takes part in the alignment; e0 where it says nothing.
    pub e_z: Option<i32>,
    /// A fault: a sum of −1 in the last place of the grid counts this many places higher.
    pub fault: Option<u32>,
}

/// What a pair of operands adds to a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Addends {
    /// One term: the product a·b.
    #[default]
    Product,
    /// Two terms: a and b.
    Sum,
    /// Two terms: a and −b.
    Difference,
}

typed_words!(Addends: Self::Product => "product", Self::Sum => "sum", Self::Difference => "difference");

/// A part of a significand: the bits worth 2^−first to 2^−last. The hidden bit is worth 2^0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TakenBits {
    /// Place of the highest bit.
    pub first: u32,
    /// Place of the lowest bit; `None`: that of the significand.
    pub last: Option<u32>,
}

impl TakenBits {
    /// Every bit.
    pub const WHOLE: Self = Self {
        first: 0,
        last: None,
    };

    /// The bits of a significand with so many fraction bits, and how many places of them lie behind
    /// the first one.
    fn of(self, significand: u64, fraction_bits: u32) -> (u64, u32) {
        // A part that reaches below the significand gives nothing there.
        let last = self.last.unwrap_or(fraction_bits).min(fraction_bits);
        if last < self.first {
            return (0, 0);
        }
        let places = last - self.first;
        let mask = u64::MAX >> (63 - places);
        ((significand >> (fraction_bits - last)) & mask, places)
    }

    /// Whether it has a bit in common with another part.
    pub(in crate::dpa) fn meets(self, other: Self) -> bool {
        let last = |part: Self| part.last.unwrap_or(u32::MAX);
        self.first <= last(other) && other.first <= last(self)
    }

    fn check(self, name: &str) -> Result<(), String> {
        match self.last {
            Some(last) if last < self.first => Err(format!(
                "{name}-from={} {name}-to={last}: a part goes from a place to one behind it",
                self.first
            )),
            _ => Ok(()),
        }
    }

    /// What the multiplier takes, in words.
    fn words(self, name: &str) -> String {
        if self == Self::WHOLE {
            return String::new();
        }
        let last = match self.last {
            None => "the last".to_owned(),
            Some(last) => format!("2^-{last}"),
        };
        let down = match self.first {
            0 => String::new(),
            first => format!(" The exponent of {name} counts as lower by {first}."),
        };
        format!(
            "Of the significand of {name} the multiplier takes the bits worth 2^-{} to {last}.{down}",
            self.first
        )
    }
}

/// A term of a group: its exact value, which may be 0, and the exponent with which it takes part.
#[derive(Clone, Copy, Debug)]
struct Term {
    value: Exact,
    exponent: i32,
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
    Exact::of_multiple(sum, place).align(grid, rounding)
}

/// Whether the unit takes a value for zero.
fn is_zero(x: &Unpacked) -> bool {
    x.significand >> x.fraction_bits == 0
}

impl GrFdpa {
    /// The places that the parts leave below the exponents of the operands.
    fn below(&self) -> i32 {
        match self.terms {
            Addends::Product => (self.a.first + self.b.first) as i32,
            Addends::Sum | Addends::Difference => 0,
        }
    }

    /// Whether the multiplier takes only a part of a significand.
    pub(crate) fn takes_parts(&self) -> bool {
        self.terms == Addends::Product && (self.a != TakenBits::WHOLE || self.b != TakenBits::WHOLE)
    }

    /// The exponent of a zero term.
    pub(crate) fn zero_exponent(&self) -> i32 {
        self.e_z.unwrap_or(self.e0)
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
        let per_group = self.g as usize * if self.terms == Addends::Product { 1 } else { 2 };
        let groups: Vec<Sum> = terms
            .chunks(per_group)
            .map(|group| self.group(group.iter().copied()))
            .collect();
        let is_lost = || {
            let values = terms.iter().map(|term| Dyadic::of(&term.value));
            !values
                .fold(Dyadic::default(), |sum, value| &sum + &value)
                .is_zero()
        };
        let (word, events) = self.total(&groups, is_lost, c, output);
        (crate::dpa::general::finished(word, output), events)
    }

    /// What one pair adds: one term or two. A term of magnitude 0 keeps its exponent.
    fn terms_of(&self, a: &Unpacked, b: &Unpacked) -> [Option<Term>; 2] {
        let zero = Term {
            value: Exact::new(false, 0, 0),
            exponent: self.zero_exponent(),
        };
        let value = |x: &Unpacked, negated: bool| match is_zero(x) {
            true => zero,
            false => Term {
                value: Exact::new(
                    x.negative != negated,
                    x.significand.into(),
                    x.exponent - x.fraction_bits as i32,
                ),
                exponent: x.exponent,
            },
        };
        match self.terms {
            Addends::Sum => [Some(value(a, false)), Some(value(b, false))],
            Addends::Difference => [Some(value(a, false)), Some(value(b, true))],
            Addends::Product if is_zero(a) || is_zero(b) => [Some(zero), None],
            Addends::Product => {
                let (m_a, places_a) = self.a.of(a.significand, a.fraction_bits);
                let (m_b, places_b) = self.b.of(b.significand, b.fraction_bits);
                let exponent = a.exponent + b.exponent - self.below();
                let product = Term {
                    value: Exact::new(
                        a.negative != b.negative,
                        u128::from(m_a) * u128::from(m_b),
                        exponent - (places_a + places_b) as i32,
                    ),
                    exponent,
                };
                [Some(product), None]
            }
        }
    }

    /// The sum of a group's terms on its grid.
    fn group(&self, terms: impl Iterator<Item = Term> + Clone) -> Sum {
        let exponents = terms.clone().map(|term| term.exponent);
        let largest = exponents.max().unwrap_or(self.e0);
        if largest <= self.e0 {
            return Sum {
                exponent: self.e0,
                place: self.e0,
                sum: 0,
            };
        }
        let grid = largest - self.f_g as i32;
        Sum {
            exponent: largest,
            place: grid,
            sum: terms.map(|term| term.value.align(grid, self.align_g)).sum(),
        }
    }

    /// The groups and c, aligned to the largest exponent, summed and rounded. `is_lost`: whether the
    /// exact sum of the terms is not zero.
    fn total(
        &self,
        groups: &[Sum],
        is_lost: impl Fn() -> bool,
        c: &Unpacked,
        output: &Output,
    ) -> (u64, Events) {
        let c = self.number(c, output);
        let exponents = groups.iter().chain(&c).map(|sum| sum.exponent);
        let largest = exponents.fold(self.e0, i32::max);
        if largest <= self.e0 {
            let events = Events {
                underflow: is_lost(),
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
        let exact = Exact::of_multiple(sum, fine);
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

impl Step for GrFdpa {
    const NAME: &'static str = "gr-fdpa";
    const TITLE: &'static str = "GR-FDPA";
    const RESULT: (Overflow, ZeroSign) = (Overflow::Infinity, ZeroSign::Plus);
    const ENDS: Ends = Ends {
        nan: Nan::Own,
        flush: Some(FlushSign::Plus),
        tininess: Tininess::Unbounded,
    };
    const NUMBERS_ONLY: bool = true;

    const ROWS: &'static [Row<Self>] = &[
        row!(OF, terms)
            .or(|_| Value::Word("product"))
            .says(10, |step, _| {
                let what = match step.terms {
                    Addends::Product => "A term is a product a·b",
                    Addends::Sum => "Each pair gives two terms, a and b",
                    Addends::Difference => "Each pair gives two terms, a and -b",
                };
                format!(
                    "{what}; every code of a, b and c is a number, and one whose exponent field is 0 is zero."
                )
            }),
        row!(L, l),
        row!(G, g).says(40, |step, _| step.group_words()),
        row!(FG, f_g),
        row!(F, f).says(60, |step, _| step.sum_words()),
        row!(F2, f2).or(|_| Value::Word("none")),
        row!(E0, e0),
        row!(EZ, e_z)
            .or(|_| Value::Word("none"))
            .says(41, |step, _| {
                format!(
                    "The exponent of a term that is zero because an operand is zero is {}.",
                    step.zero_exponent()
                )
            }),
        row!(A_FROM, a.first)
            .or(|_| Value::Number(0))
            .if_any(Self::multiplies)
            .says(20, |step, _| step.a.words("a")),
        row!(A_TO, a.last)
            .or(|_| Value::Word("last"))
            .if_any(Self::multiplies),
        row!(B_FROM, b.first)
            .or(|_| Value::Number(0))
            .if_any(Self::multiplies)
            .says(21, |step, _| step.b.words("b")),
        row!(B_TO, b.last)
            .or(|_| Value::Word("last"))
            .if_any(Self::multiplies),
        row!(ALIGN_G, align_g).or(|_| Value::Rounding(Rounding::Rna)),
        row!(ALIGN, align).or(|_| Value::Rounding(Rounding::Rnu)),
        row!(ALIGN_C, align_c).or(|_| Value::Rounding(Rounding::Rna)),
        row!(FAULT, fault)
            .or(|_| Value::Word("none"))
            .says(61, |step, _| {
                step.fault.map_or_else(String::new, |places| {
                    format!("A fault: a sum of exactly -2^(E-{}) counts 2^{places} times.", step.f)
                })
            }),
    ];

    fn new() -> Self {
        Self {
            terms: Addends::Product,
            l: 1,
            g: 1,
            f_g: 1,
            align_g: Rounding::Rna,
            f: 1,
            f2: None,
            align: Rounding::Rnu,
            align_c: Rounding::Rna,
            a: TakenBits::WHOLE,
            b: TakenBits::WHOLE,
            e0: 0,
            e_z: None,
            fault: None,
        }
    }

    fn block(&self) -> usize {
        self.l as usize
    }

    fn general(&self, _: &Output) -> General {
        General::Grouped(*self)
    }

    fn check(&self) -> Result<(), String> {
        self.a.check("a")?;
        self.b.check("b")?;
        match self.f2 {
            Some(f2) if f2 > self.f => Err(format!(
                "F2={f2}: the second grid is no finer than F={}",
                self.f
            )),
            _ => Ok(()),
        }
    }

    fn fits(&self, signature: &Signature, _: &Select, _: &Format) -> Result<bool, String> {
        let Signature { a, b, c, .. } = signature;
        if let Some(fixed) = [a, b, c]
            .into_iter()
            .find(|format| format.float().is_none())
        {
            return Err(format!("{} takes floats, not {fixed}", Self::NAME));
        }
        if signature.scale.is_some() {
            return Err(format!("{} takes no block scales", Self::NAME));
        }
        if self.terms != Addends::Product && signature.k != 1 {
            return Err(format!("of={} adds one a and one b: K is 1", self.terms));
        }
        Ok(false)
    }

    fn parts(&self) -> Option<(TakenBits, TakenBits)> {
        Some((self.a, self.b))
    }

    fn takes(&self, output: &Output) -> Result<(), String> {
        match output.overflow {
            Overflow::Nan | Overflow::NanFinite => Err(format!(
                "{} gives numbers only: overflow={} makes NaN",
                Self::NAME,
                output.overflow
            )),
            _ => Ok(()),
        }
    }

    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        self.run_noting(pairs, c, output, &mut Events::default())
    }

    fn run_noting(
        &self,
        pairs: &[Pair],
        c: &Unpacked,
        output: &Output,
        events: &mut Events,
    ) -> u64 {
        let numbers = pairs.iter().map(|pair| (pair.a, pair.b));
        let (word, own) = self.of_numbers(numbers, c, output);
        events.join(own);
        word
    }
}

impl GrFdpa {
    fn multiplies(&self) -> Result<(), &'static str> {
        match self.terms {
            Addends::Product => Ok(()),
            _ => Err("is of products: it needs of=product"),
        }
    }

    fn group_words(&self) -> String {
        let Self {
            l,
            g,
            f_g,
            e0,
            align_g,
            ..
        } = *self;
        format!(
            "Blocks have {l} pairs, groups {g} neighbours. A group's exponent is the largest of its terms' exponents, of which that of a product is the sum of its operands', normalised or not; a product of parts that is zero keeps its exponent. Every term is rounded to a multiple of 2^(exponent-{f_g}), {}, and they are added. A group whose exponent is {e0} or less is zero.",
            rounded(align_g)
        )
    }

    fn sum_words(&self) -> String {
        let Self {
            f,
            f2,
            e0,
            align,
            align_c,
            ..
        } = *self;
        let again = f2.map_or_else(String::new, |f2| {
            format!(", then in the same way to one of 2^(E-{f2})")
        });
        format!(
            "E is the largest exponent of groups and c, a zero c apart; if it is {e0} or less, the result is +0. Each group is rounded to a multiple of 2^(E-{f}), {}, c {}{again}, and they are added.",
            rounded(align),
            rounded(align_c)
        )
    }
}
