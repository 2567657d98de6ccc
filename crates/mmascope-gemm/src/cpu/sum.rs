//! A fused sum with its constants, as the program's parameters give them.

use crate::format::Rounding;
use crate::shape::SumKind;

/// The final rounding of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// Toward zero, keeping these bits of an f32.
    TowardZero { mask: u32 },
    /// Toward −∞ or +∞, keeping these bits of an f32.
    Directed { up: bool, mask: u32 },
    /// To nearest even, f32.
    Nearest,
    /// To fewer bits than f32 has.
    At(Narrow),
}

/// Where a number goes that lies between two of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// To nearest, ties to even.
    Nearest,
    TowardZero,
    Down,
    Up,
}

impl Direction {
    /// Whether the smallest term that is no zero may still count.
    pub(super) fn is_directed(self) -> bool {
        matches!(self, Self::Down | Self::Up)
    }

    /// The direction of a rounding, if lanes have it.
    pub(super) fn of(rounding: Rounding) -> Option<Self> {
        match rounding {
            Rounding::Rne => Some(Self::Nearest),
            Rounding::Rz => Some(Self::TowardZero),
            Rounding::Rd => Some(Self::Down),
            Rounding::Ru => Some(Self::Up),
            _ => None,
        }
    }
}

/// A format with fewer fraction bits than f32, perhaps with fewer exponents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Narrow {
    /// Fraction bits.
    pub(super) bits: u32,
    /// f32 has the same exponents.
    pub(super) wide: bool,
    /// Field of the smallest normal number, as f32 bits.
    pub(super) smallest: u32,
    /// The largest finite number, as f32 bits.
    pub(super) largest: u32,
    pub(super) direction: Direction,
    /// What is beyond the largest number becomes that number where the direction leads back to it, else always ∞.
    pub(super) stays_finite: bool,
    /// What rounds to a zero keeps its sign.
    pub(super) signed_zero: bool,
    /// It is f16, to nearest.
    pub(super) half: bool,
}

/// What an addition or a conversion is rounded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// f32. `stays_finite`: as in [`Narrow`].
    Single {
        direction: Direction,
        stays_finite: bool,
    },
    /// Fewer bits, of a sum in f32 where `twice` says that this rounds as the exact sum would.
    Narrow { to: Narrow, twice: bool },
}

/// What a chain of sums does with them where c is no term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct After {
    /// Groups of a sum, which begins with 0.
    pub(super) groups: usize,
    /// The sum is then added to c, and that is rounded.
    pub(super) round: Round,
}

/// One fused sum with its constants; exponents are f32 fields in place (shifted by 23).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) kind: SumKind,
    /// Slots of a group: an even number.
    pub(super) slots: usize,
    /// Slots that are summed in i32 lanes: all of them, or those of a part. Parts are added in f64 (`kernels/parts.rs`); terms are
    /// summed as `kernels/split.rs` says where this is 1, and where lanes have `Lanes::LONG` also for larger parts.
    pub(super) part: usize,
    /// F.
    pub(super) f: u32,
    /// How terms are rounded to the grid.
    pub(super) terms: Direction,
    /// The two half sums may together leave i32, and what comes of that is not told by its size.
    pub(super) may_overflow: bool,
    /// Sums whose magnitude has at least this first byte may have left i32; 256 when none can.
    pub(super) suspicious: u32,
    pub(super) finish: Finish,
    /// Exponent field of a subnormal c of a narrow format; 0 when c is f32.
    pub(super) c_smallest: u32,
    /// The same of the results, which are the next groups' c.
    pub(super) smallest: u32,
    /// c is added to the sum and is no term of it.
    pub(super) after: Option<After>,
    /// c may become ∞ on the way.
    pub(super) sticky: bool,
    /// [`SumKind::Late`], [`SumKind::Parity`], [`SumKind::Outside`]: how far c's exponent may lie above the products' so that both
    /// together fit i32.
    pub(super) reach: u32,
    /// [`SumKind::Outside`]: a c beyond the reach and the products may together be so small that bits below i32 count.
    pub(super) may_cancel: bool,
    /// [`SumKind::Late`], [`SumKind::Parity`]: F2.
    pub(super) f2: u32,
}

/// Bits of a split term's lower number: so many that the lower numbers of all slots fit i32 together.
pub(super) fn low_bits(slots: usize) -> u32 {
    30_u32.saturating_sub(slots.next_power_of_two().trailing_zeros())
}

impl Sum {
    /// Whether it is a plain fused sum with f16 results, which `kernels/half.rs` does two rows at a time.
    pub(super) fn is_half(&self) -> bool {
        matches!(self.finish, Finish::At(narrow) if narrow.half)
            && self.kind == SumKind::Fused
            && self.terms == Direction::TowardZero
            && !self.may_overflow
            && self.part == self.slots
            && self.after.is_none()
            && self.sticky
    }

    /// Whether c and results have f32's exponents, so that no subnormal is among them, and no ∞ comes about.
    pub(super) fn is_plain(&self) -> bool {
        !self.sticky && self.c_smallest == 0 && self.smallest == 0
    }

    /// Whether there is a kernel for two rows at a time, where registers suffice (`Lanes::TWO`): sums that are truncated,
    /// those that do not fit 32 bits and those that take c late have one. `long`: whether lanes have `Lanes::LONG`.
    pub(super) fn is_by_two(&self, long: bool) -> bool {
        if self.part < self.slots {
            return self.part == 1 || long;
        }
        if matches!(self.kind, SumKind::Late | SumKind::Parity) {
            return true;
        }
        let Finish::TowardZero { mask } = self.finish else {
            return false;
        };
        let told = self.suspicious < 256;
        let has_kernel = match self.kind {
            SumKind::Fused if mask == u32::MAX => true,
            SumKind::Fused => !told && !self.may_overflow,
            SumKind::Scaled => mask == u32::MAX,
            _ => false,
        };
        self.terms == Direction::TowardZero && self.is_plain() && has_kernel
    }

    /// Whether results grow by more than their products: each term may add a unit of the grid, or each result a last place.
    pub(super) fn grows(&self) -> bool {
        self.terms.is_directed() || matches!(self.finish, Finish::Directed { .. })
    }

    /// The zero that is added to results, so that one that rounds to a zero has the right sign: −0 + 0 is +0, and −0 + −0 is −0. (No result
    /// of f32's exponents rounds to one.)
    pub(super) fn zero_result(&self) -> u32 {
        u32::from(matches!(self.finish, Finish::At(narrow) if narrow.signed_zero)) << 31
    }
}

/// What depends on the operands' range of exponents.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offsets {
    /// Added to the sum of two exponent bytes, shifted by 23, to give an exponent field.
    pub(super) offset: u32,
    /// The smallest byte sum: that of the floor of E.
    pub(super) start: u8,
    /// Where no product is non-zero: the smallest E, as a field.
    pub(super) empty: u32,
}

impl Offsets {
    /// The field of the smallest byte sum.
    #[inline(always)]
    pub(super) fn lowest(&self) -> u32 {
        self.offset.wrapping_add(u32::from(self.start) << 23)
    }
}
