//! General steps: every parameter of the model space (probing specification, §1a). `infer` uses them for units that no
//! shipped row describes; no known unit needs them. Where a unit is like the shipped ones, a parameter is at its default.

mod add_mul;
mod fused;
mod rows;
mod summands;
mod words;

use super::output::Output;
use super::pair::Pair;
use super::schema::{Parameter, Typed, Value, typed_words};
use super::{FlushSign, GrFdpa, IntDot, Select, SemiFma, Signature, Special, ieee};
use crate::format::{Class, Format, Overflow, Rounding, Unpacked};

/// A step of the model space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum General {
    /// `fused`: products, or sums of groups of them, and c in one sum that is rounded once.
    Fused(Fused),
    /// `add-mul`: rounded products and rounded additions.
    AddMul(AddMul),
    /// `gr-fdpa`: parts of products in groups on a rounded grid, then the groups and c on a second one.
    Grouped(GrFdpa),
    /// `semi-fma`: a multiply-add with a few bits below the product.
    Semi(SemiFma),
    /// `int-dot`: an exact sum of integers.
    Integer(IntDot),
}

typed_words!(OperandChoice: Self::Both => "both", Self::A => "a", Self::B => "b");
typed_words!(Invalid: Self::Nan => "nan", Self::Plus => "plus", Self::Minus => "minus",
    Self::Signed => "signed", Self::Zero => "zero");

impl Typed for Sticky {
    fn value(self, _: &Parameter) -> Value {
        match self {
            Self::None => Value::Word("none"),
            Self::Kept => Value::Word("kept"),
            Self::Bit(place) => Value::Number(place as i32),
        }
    }

    fn of(value: Value, _: &Parameter) -> Option<Self> {
        match value {
            Value::Word("none") => Some(Self::None),
            Value::Word("kept") => Some(Self::Kept),
            Value::Number(place) => u32::try_from(place).ok().map(Self::Bit),
            _ => None,
        }
    }
}

impl std::fmt::Display for Sticky {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => out.write_str("none"),
            Self::Kept => out.write_str("kept"),
            Self::Bit(place) => place.fmt(out),
        }
    }
}

/// What is done to operands and products before anything is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Terms {
    /// a and b are rounded to this format first, after the flush.
    pub operands: Option<(Rounding, Format)>,
    /// Subnormal a and b become zeros of this sign.
    pub flush_in: Option<FlushSign>,
    /// Whose subnormals `flush_in` concerns.
    pub flush_of: OperandChoice,
    /// c is rounded to this format before the first block, after its flush.
    pub round_c: Option<(Rounding, Format)>,
    /// A subnormal c becomes a zero of this sign.
    pub flush_c: Option<FlushSign>,
    /// Products are rounded to this format.
    pub products: Option<(Rounding, Format)>,
    /// Subnormal rounded products become zeros of this sign.
    pub flush_products: Option<FlushSign>,
    /// Zeros among a, b and c, after the flush, count as +0.
    pub plus_zeros: bool,
}

/// Operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OperandChoice {
    /// a and b.
    #[default]
    Both,
    /// a alone.
    A,
    /// b alone.
    B,
}

/// The results of operations on ∞ that IEEE 754 calls invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SpecialRules {
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
    /// Products or groups are joined before c: rounded so to so many bits below their largest exponent,
    /// which their sum keeps.
    pub join: Option<(u32, Rounding)>,
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
    pub c_outside_alignment: bool,
    /// A c whose exponent lies more than so far below that of the alignment counts as 0.
    pub drop_c: Option<u32>,
    /// What remembers that something fell off in the alignment.
    pub sticky: Sticky,
    /// Invalid operations.
    pub specials: SpecialRules,
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

/// The exponent with which a group's sum takes part in the alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GroupExponent {
    /// That of its largest product.
    #[default]
    Products,
    /// Its own: that of its leading bit.
    Own,
    /// The sum of those of its two scales.
    Scales,
}

typed_words!(GroupExponent: Self::Products => "products", Self::Own => "own", Self::Scales => "scales");

/// Groups of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Groups {
    /// Products per group.
    pub g: u32,
    /// Group j of n = ⌈L/G⌉ has the products j, j + n, j + 2n …; otherwise neighbours.
    pub strided: bool,
    /// Fraction bits below the group's largest exponent; `None`: exact.
    pub f: Option<u32>,
    /// Rounding to the group's grid.
    pub align: Rounding,
    /// The exponent with which the group's sum takes part.
    pub exponent: GroupExponent,
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
    /// Subnormal sums become zeros of this sign, after each addition.
    pub flush_sums: Option<FlushSign>,
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
            join: None,
            f,
            f_c: f,
            e0: None,
            align: Rounding::Rz,
            align_c: Rounding::Rz,
            c_outside_alignment: false,
            drop_c: None,
            sticky: Sticky::None,
            specials: SpecialRules::default(),
            f2: None,
            floor: Rounding::Rd,
        }
    }
}

impl Groups {
    /// Neighbours, summed exactly, that take part with the exponent of their largest product.
    #[must_use]
    pub fn exact(g: u32) -> Self {
        Self {
            g,
            strided: false,
            f: None,
            align: Rounding::Rz,
            exponent: GroupExponent::Products,
            drops_zero: false,
        }
    }
}

impl AddMul {
    /// Rounded products in groups of `p`, added pairwise.
    #[must_use]
    pub fn plain(p: u32) -> Self {
        Self {
            p,
            sequential: false,
            flush_sums: None,
            terms: Terms::default(),
        }
    }
}

impl General {
    /// Blocks of which the first one has no value beside its products.
    pub(super) fn run_from_product(&self, pairs: &[Pair], output: &Output) -> u64 {
        match self {
            Self::Fused(step) => step.begin_with_product(pairs, output),
            Self::AddMul(step) => step.begin_with_product(pairs, output),
            // Those begin with a value: `Step::FROM_PRODUCT`.
            Self::Grouped(_) | Self::Semi(_) | Self::Integer(_) => super::output::PLUS_ZERO,
        }
    }
}

/// Groups lie within blocks: the one check that G divides L.
pub(super) fn divides(g: u32, l: u32) -> Result<(), String> {
    match l.is_multiple_of(g) {
        true => Ok(()),
        false => Err(format!("G={g} does not divide L={l}")),
    }
}

/// Groups that are scaled as wholes lie within the blocks of scales, and their exact sums are short.
pub(super) fn groups_fit(
    name: &str,
    g: u32,
    signature: &Signature,
    over: &Select,
) -> Result<bool, String> {
    let Signature { a, b, scale, .. } = signature;
    let is_wide = |format: &&Format| {
        format.bits > 8 || format.float().is_some_and(|float| float.exponent_bits > 5)
    };
    if let Some(wide) = [a, b].into_iter().find(is_wide) {
        return Err(format!(
            "{name} takes operands of at most 8 bits, 5 of them of the exponent, not {wide}"
        ));
    }
    match scale {
        Some(scale) if scale.block % g as usize != 0 || *over != Select::All => Err(format!(
            "groups of G={g} do not fit scale blocks of {}",
            scale.block
        )),
        _ => Ok(true),
    }
}

/// A subnormal value becomes a zero.
fn flushed(x: &Unpacked, flush: Option<FlushSign>) -> Unpacked {
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

impl General {
    /// Whether it does something to c that it does not do to the results of its blocks.
    pub(super) fn changes_c(&self) -> bool {
        let terms = match self {
            Self::Fused(step) => step.terms,
            Self::AddMul(step) => step.terms,
            Self::Grouped(_) | Self::Semi(_) | Self::Integer(_) => return false,
        };
        terms.flush_c.is_some() || terms.round_c.is_some() || terms.plus_zeros
    }
}

impl Terms {
    /// c as the first block takes it.
    pub(super) fn start(&self, c: Unpacked) -> Unpacked {
        narrowed(self.zero(flushed(&c, self.flush_c)), self.round_c)
    }

    /// A zero as it counts.
    fn zero(&self, x: Unpacked) -> Unpacked {
        let negative = x.negative && !(self.plus_zeros && x.class == Class::Zero);
        Unpacked { negative, ..x }
    }

    fn pair<'a>(&self, pair: &Pair<'a>) -> Pair<'a> {
        let flush = |x: &Unpacked, of: bool| self.zero(flushed(x, self.flush_in.filter(|_| of)));
        Pair {
            a: narrowed(
                flush(&pair.a, self.flush_of != OperandChoice::B),
                self.operands,
            ),
            b: narrowed(
                flush(&pair.b, self.flush_of != OperandChoice::A),
                self.operands,
            ),
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
