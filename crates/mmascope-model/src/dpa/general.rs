//! Steps with every parameter of the model space (probing specification, §1a): what `infer` finds
//! units to be that no shipped row describes. No known unit needs them; a parameter is left at its
//! default where the unit is like the shipped ones.

mod add_mul;
mod fused;

use super::output::Output;
use super::pair::Pair;
use super::{FlushSign, Special, ieee};
use crate::format::{Class, Format, Overflow, Rounding, Unpacked};

/// A step of the model space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum General {
    /// `fused`: products, or sums of groups of them, and c in one sum that is rounded once.
    Fused(Fused),
    /// `add-mul`: rounded products and rounded additions.
    AddMul(AddMul),
}

/// What is done to operands and products before anything is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Terms {
    /// What the ∞ and NaN codes of a and b mean.
    pub codes: Codes,
    /// a and b are rounded to this format first, after the flush.
    pub operands: Option<(Rounding, Format)>,
    /// Subnormal a and b become zeros of this sign.
    pub flush_in: Option<FlushSign>,
    /// Whose subnormals `flush_in` concerns.
    pub flush_of: Side,
    /// c is rounded to this format before the first block, after its flush.
    pub round_c: Option<(Rounding, Format)>,
    /// A subnormal c becomes a zero of this sign.
    pub flush_c: Option<FlushSign>,
    /// Products are rounded to this format.
    pub products: Option<(Rounding, Format)>,
    /// Subnormal rounded products become zeros of this sign.
    pub flush_products: Option<FlushSign>,
}

/// What the codes of a and b mean that are ∞ or NaN in IEEE 754.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Codes {
    /// ∞ and NaN.
    #[default]
    Special,
    /// Numbers, as their exponent and fraction say.
    Numbers,
    /// ∞ is the largest number of its sign; NaN stays.
    Largest,
}

impl Codes {
    /// What an operand's code means.
    pub fn decode(self, format: &Format, code: u64) -> Unpacked {
        match (self, format.decode(code)) {
            (Self::Numbers, x) if matches!(x.class, Class::Infinite | Class::Nan) => {
                format.without_specials().decode(code)
            }
            (Self::Largest, x) if x.class == Class::Infinite => {
                format.decode(format.max_finite(x.negative))
            }
            (_, x) => x,
        }
    }
}

/// Operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Side {
    /// a and b.
    #[default]
    Both,
    /// a alone.
    A,
    /// b alone.
    B,
}

/// What becomes of operations on ∞ that IEEE 754 calls invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Specials {
    /// 0·∞.
    pub zero_times_infinity: Invalid,
    /// ∞ − ∞; `Zero` is not possible.
    pub opposite: Invalid,
}

/// The result of an invalid operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Invalid {
    /// NaN, as IEEE 754 says.
    #[default]
    Nan,
    /// +∞.
    Plus,
    /// −∞.
    Minus,
    /// ∞ with the sign of the product; for ∞ − ∞ the same as NaN.
    Signed,
    /// 0: the product takes no part.
    Zero,
}

impl Invalid {
    /// The value instead, of a product with this sign; `None`: it takes no part.
    fn special(self, negative: bool) -> Option<Special> {
        match self {
            Self::Nan => Some(Special::Nan),
            Self::Plus => Some(Special::Infinite { negative: false }),
            Self::Minus => Some(Special::Infinite { negative: true }),
            Self::Signed => Some(Special::Infinite { negative }),
            Self::Zero => None,
        }
    }
}

/// A fused sum with all its parameters; L products a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fused {
    /// Products per block.
    pub l: u32,
    /// What is done to operands and products.
    pub terms: Terms,
    /// Products take part in the alignment with their normalised exponents.
    pub normalised: bool,
    /// Products of 2^this and more are ∞ before the sum.
    pub product_limit: Option<i32>,
    /// Groups that are summed by themselves first.
    pub groups: Option<Groups>,
    /// Fraction bits of the alignment of products or groups; `None`: the sum is exact.
    pub f: Option<u32>,
    /// Fraction bits of the alignment of c.
    pub f_c: Option<u32>,
    /// Floor of the alignment exponent.
    pub e0: Option<i32>,
    /// Rounding of products or groups to the alignment grid.
    pub align: Rounding,
    /// Rounding of c to the alignment grid.
    pub align_c: Rounding,
    /// c takes no part in choosing the exponent of the alignment.
    pub apart: bool,
    /// What remembers that something fell off in the alignment.
    pub sticky: Sticky,
    /// Invalid operations.
    pub specials: Specials,
    /// The sum is rounded to this many fraction bits of its own exponent.
    pub f2: Option<u32>,
    /// The rounding for F2.
    pub floor: Rounding,
}

/// What remembers, in a sum that is not zero, that something fell off in the alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sticky {
    /// Nothing.
    #[default]
    None,
    /// The sum counts as longer by less than any bit.
    Kept,
    /// The sum is longer by the bit that lies so many places below the finer grid, at most
    /// [`Sticky::LOWEST`].
    Bit(u32),
}

impl Sticky {
    /// The lowest place of the bit.
    pub const LOWEST: u32 = 8;
}

/// Groups of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Groups {
    /// Products per group.
    pub g: u32,
    /// Group j of n has the products j, j + n, j + 2n …; otherwise neighbours.
    pub strided: bool,
    /// Fraction bits below the group's largest exponent; `None`: exact.
    pub f: Option<u32>,
    /// Rounding to the group's grid.
    pub align: Rounding,
    /// The group's sum takes part with its normalised exponent, not that of its largest product.
    pub normalised: bool,
    /// A group whose sum is zero takes no part, whatever its largest product was.
    pub drops_zero: bool,
}

/// Rounded products and additions with all their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddMul {
    /// Products per group; each group's sum is added to c.
    pub p: u32,
    /// Products of a group are added one after the other, not pairwise.
    pub sequential: bool,
    /// What is done to operands and products; products are rounded to the result's format where
    /// it does not say to which.
    pub terms: Terms,
}

impl Fused {
    /// The plain truncated sum: L products and c, F bits, no floor.
    #[must_use]
    pub fn plain(l: u32, f: Option<u32>) -> Self {
        Self {
            l,
            terms: Terms::default(),
            normalised: false,
            product_limit: None,
            groups: None,
            f,
            f_c: f,
            e0: None,
            align: Rounding::Rz,
            align_c: Rounding::Rz,
            apart: false,
            sticky: Sticky::None,
            specials: Specials::default(),
            f2: None,
            floor: Rounding::Rd,
        }
    }
}

impl General {
    /// What is done to operands.
    pub(super) fn terms(&self) -> &Terms {
        match self {
            Self::Fused(fused) => &fused.terms,
            Self::AddMul(add_mul) => &add_mul.terms,
        }
    }

    /// Products per block.
    pub(super) fn block(&self) -> usize {
        match self {
            Self::Fused(fused) => fused.l as usize,
            Self::AddMul(add_mul) => add_mul.p as usize,
        }
    }

    /// c as the first block takes it.
    pub(super) fn start(&self, c: Unpacked) -> Unpacked {
        self.terms().start(c)
    }

    /// Blocks of which the first one has no value beside its products.
    pub(super) fn run_from_product(&self, pairs: &[Pair], output: &Output) -> u64 {
        let mut blocks = pairs.chunks(self.block());
        if let Self::Fused(fused) = self {
            let nothing = pairs.first().map(|first| fused.nothing(first, output));
            let nothing = nothing.unwrap_or_else(|| output.unpack(super::output::PLUS_ZERO));
            return blocks.fold(super::output::PLUS_ZERO, |sum, block| {
                let is_first = std::ptr::eq(block.as_ptr(), pairs.as_ptr());
                let start = if is_first {
                    nothing
                } else {
                    output.unpack(sum)
                };
                finished(fused.run(block, block.len(), &start, output), output)
            });
        }
        let first = match (self, blocks.next()) {
            (Self::AddMul(add_mul), Some(first)) => add_mul.group(first, output),
            _ => None,
        };
        let Some(first) = first else {
            return super::output::PLUS_ZERO;
        };
        let rounded = finished(super::output::convert(&first, output), output);
        blocks.fold(rounded, |sum, block| {
            self.run(block, &output.unpack(sum), output)
        })
    }

    /// One block.
    pub(super) fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        match self {
            Self::Fused(fused) => fused.run(pairs, pairs.len(), c, output),
            Self::AddMul(add_mul) => add_mul.run(pairs, c, output),
        }
    }
}

/// A subnormal value becomes a zero.
pub(super) fn flushed(x: &Unpacked, flush: Option<FlushSign>) -> Unpacked {
    let is_subnormal = x.class == Class::Finite && x.significand >> x.fraction_bits == 0;
    match flush {
        Some(sign) if is_subnormal => Unpacked {
            negative: x.negative && sign == FlushSign::Kept,
            class: Class::Zero,
            significand: 0,
            ..*x
        },
        _ => *x,
    }
}

/// A finite value rounded to a format.
fn narrowed(x: Unpacked, to: Option<(Rounding, Format)>) -> Unpacked {
    match to {
        Some((rounding, format)) if x.class == Class::Finite => match x.exact() {
            Some(exact) => format.decode(format.round(&exact, rounding, Overflow::Ieee)),
            None => x,
        },
        _ => x,
    }
}

impl Terms {
    /// c as the first block takes it.
    pub(super) fn start(&self, c: Unpacked) -> Unpacked {
        narrowed(flushed(&c, self.flush_c), self.round_c)
    }

    fn pair<'a>(&self, pair: &Pair<'a>) -> Pair<'a> {
        let flush = |x: &Unpacked, of: bool| flushed(x, self.flush_in.filter(|_| of));
        Pair {
            a: narrowed(flush(&pair.a, self.flush_of != Side::B), self.operands),
            b: narrowed(flush(&pair.b, self.flush_of != Side::A), self.operands),
            ..*pair
        }
    }

    /// A product as a rounded value.
    fn rounded(
        &self,
        pair: &Pair,
        rounding: Rounding,
        format: Format,
        overflow: Overflow,
        output: &Output,
    ) -> Unpacked {
        let to = Output {
            format,
            rounding,
            overflow,
            nan: super::Nan::Any,
            zero: super::ZeroSign::Ieee,
            flush: None,
            ..*output
        };
        flushed(
            &to.unpack(ieee::multiply(&pair.a, &pair.b, &to)),
            self.flush_products,
        )
    }
}

/// A result after the flush that its output asks for.
pub(super) fn finished(word: u64, output: &Output) -> u64 {
    if output.flush.is_none() {
        return word;
    }
    let x = output.unpack(word);
    let after = flushed(&x, output.flush);
    if after == x {
        word
    } else {
        output.zero(after.negative)
    }
}
