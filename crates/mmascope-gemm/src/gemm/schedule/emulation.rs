//! Emulated precision: operands of a wide format are split into parts that a unit takes, products of parts are
//! formed, and their sums are joined.
//!
//! An [`Emulation`] is data, the clause `emulate=` of a schedule. `emulation/split.rs` splits operands,
//! `emulation/join.rs` joins sums, `scheduled.rs` does the products between them.

mod join;
mod split;

use super::{Reduction, Schedule};
use crate::dpa::{Addends, Scalar, Signature, Signs, Unit};
use crate::error::{Error, Result};
use crate::format::{Format, Kind, Rounding};

pub(in crate::gemm) use join::Joining;
pub(in crate::gemm) use split::{Expansion, Lines};

/// The most parts of an operand.
pub(super) const MOST_PARTS: usize = 64;
/// The most bits of a slice.
pub(super) const MOST_SLICE: u32 = 24;
/// The most bits of a number that residues stand for.
pub(super) const MOST_BITS: u32 = 100;
/// The largest modulus.
pub(super) const MOST_MODULUS: u32 = 1 << 16;

/// How a product of a wide format is made of products of a narrower one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Emulation {
    /// The format of A and B.
    pub from: Format,
    /// How an operand is split.
    pub split: OperandSplit,
    /// The products of parts (part of A, part of B), by groups. A group is one product of the unit over all of K.
    pub groups: Vec<Vec<(usize, usize)>>,
    /// In which order a group's products are taken.
    pub within: Within,
    /// The number of groups, from the first on, that a promotion leaves out.
    pub unpromoted: usize,
    /// How the groups' sums become one; `None` where the one group's sum is the result.
    pub join: Option<Join>,
}

/// How an operand is split.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OperandSplit {
    /// Numbers of the unit's own format: each part is the rounded rest; what it leaves, times 2^shift, is the
    /// next rest. The product of parts p and q counts 2^(−shift·(p + q)).
    Parts {
        /// How many.
        count: usize,
        /// How the rest is rounded to the first part, the second, and so on; the last one holds for all others.
        roundings: Vec<Rounding>,
        /// Bits that a rest is moved up by.
        shift: u32,
    },
    /// Whole numbers of some bits, relative to the largest magnitude of the row of A or column of B.
    Slices {
        /// How many.
        count: usize,
        /// Bits of each.
        bits: u32,
        /// How the rest is rounded: toward zero or to nearest.
        rounding: Rounding,
    },
    /// One whole number relative to the largest magnitude of its row or column, modulo each of these.
    Residues {
        /// Pairwise coprime.
        moduli: Vec<u32>,
        /// Bits of the whole number.
        bits: u32,
        /// How it is rounded: toward zero or to nearest.
        rounding: Rounding,
    },
}

/// The order of a group's products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Within {
    /// All of them for a step of K, then for the next step.
    #[default]
    Step,
    /// The first over all of K, then the next.
    Pass,
}

/// A part of the clause `emulate=` that can be wrong by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The product of that number, counted over all groups.
    Product(usize),
    /// `unpromoted=`.
    Unpromoted,
    /// The end, where something is missing.
    End,
}

/// How sums of groups become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// Each times its power of two, rounded, then added in an order.
    Sum(Reduction),
    /// The number of smallest magnitude that has these residues (of two, the negative one), times its power of
    /// two, rounded once.
    Residues(Scalar),
}

impl Join {
    /// Format and rounding of the result.
    #[must_use]
    pub fn scalar(&self) -> Scalar {
        match self {
            Self::Sum(reduction) => reduction.scalar,
            Self::Residues(scalar) => *scalar,
        }
    }
}

impl OperandSplit {
    /// Parts of an operand.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Parts { count, .. } | Self::Slices { count, .. } => *count,
            Self::Residues { moduli, .. } => moduli.len(),
        }
    }

    /// The power of two that the product of two parts counts, beside those of its row and column.
    fn exponent(&self, (p, q): (usize, usize)) -> i64 {
        match *self {
            Self::Parts { shift, .. } => -(i64::from(shift) * (p + q) as i64),
            Self::Slices { bits, .. } => -(i64::from(bits) * (p + q + 2) as i64),
            Self::Residues { bits, .. } => -(2 * i64::from(bits)),
        }
    }

    /// Whether sums count a power of two.
    fn is_scaled(&self) -> bool {
        !matches!(self, Self::Parts { shift: 0, .. })
    }

    /// The largest magnitude of a part that is a whole number.
    fn largest(&self) -> Option<u64> {
        match self {
            Self::Parts { .. } => None,
            Self::Slices { bits, rounding, .. } => Some(match rounding {
                Rounding::Rz => (1 << bits) - 1,
                _ => 1 << (bits - 1),
            }),
            Self::Residues { moduli, .. } => moduli.iter().max().map(|&modulus| {
                let half = u64::from(modulus / 2);
                // Of an even modulus only the negative half is there.
                half - u64::from(modulus % 2 == 0)
            }),
        }
    }
}

impl Emulation {
    /// What makes no sense, whatever the unit is, and which part of the clause says it.
    pub(super) fn check(&self) -> std::result::Result<(), (Part, String)> {
        let count = self.split.count();
        for (place, &(p, q)) in self.groups.iter().flatten().enumerate() {
            if p >= count || q >= count {
                let parts = match count {
                    1 => "one part, number 0".to_owned(),
                    _ => format!("{count} parts, numbered from 0"),
                };
                let message = format!("the product {p}x{q}: operands have {parts}");
                return Err((Part::Product(place), message));
            }
        }
        if self.split.is_scaled() {
            let mut before = 0;
            for group in &self.groups {
                let exponent = self.split.exponent(group[0]);
                let differs = |&pair: &(usize, usize)| self.split.exponent(pair) != exponent;
                if let Some(place) = group.iter().position(differs) {
                    let ((p, q), (first_p, first_q)) = (group[place], group[0]);
                    let message = format!(
                        "the product {p}x{q} counts another power of two than {first_p}x{first_q}, so they are no one group"
                    );
                    return Err((Part::Product(before + place), message));
                }
                before += group.len();
            }
        }
        if self.join.is_none() && (self.groups.len() > 1 || self.split.is_scaled()) {
            let message = "expected join=, as in join=ascending/f32".into();
            return Err((Part::End, message));
        }
        if self.unpromoted > self.groups.len() {
            let groups = match self.groups.len() {
                1 => "there is 1 group".to_owned(),
                count => format!("there are {count} groups"),
            };
            let message = format!("unpromoted={}: {groups}", self.unpromoted);
            return Err((Part::Unpromoted, message));
        }
        Ok(())
    }

    /// The operands and results of a product with that unit.
    fn signature(&self, own: &Signature) -> Signature {
        let joined = |format| self.join.map_or(format, |join| join.scalar().format());
        Signature {
            a: self.from,
            b: self.from,
            c: joined(own.c),
            d: joined(own.d),
            ..*own
        }
    }

    /// Checks that a unit takes the parts.
    pub(in crate::gemm) fn check_unit(&self, unit: &Unit) -> Result<()> {
        let signature = unit.signature();
        let refused = |why: String| Err(Error::Argument(format!("the schedule: emulate=: {why}")));
        if signature.scale.is_some() || unit.program().addends() != Addends::Product {
            return refused(
                "the instruction has block scales or sums no products of two operands".into(),
            );
        }
        if unit.program().signs() != (Signs { products: 1, c: 1 }) {
            return refused("the instruction subtracts its products or c".into());
        }
        for (name, format) in [("A", signature.a), ("B", signature.b)] {
            match self.split.largest() {
                None => {
                    if Scalar::new(format, Rounding::Rne).is_err() {
                        return refused(format!(
                            "parts of {name} are floating-point numbers, and the instruction takes {format}; slices= \
                             and residues= make whole numbers"
                        ));
                    }
                }
                Some(largest) => {
                    let most = whole_numbers(&format);
                    if largest > most {
                        return refused(format!(
                            "parts of {name} reach {largest}; {format} has the whole numbers up to {most}"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// The schedule of one group.
    pub(in crate::gemm) fn inner(&self, schedule: &Schedule, group: usize) -> Schedule {
        let mut inner = Schedule {
            emulation: None,
            ..schedule.clone()
        };
        if self.join.is_some() {
            inner.c = super::CEntry::First;
            inner.output = None;
        }
        if group < self.unpromoted {
            inner.promotion = None;
        }
        inner
    }

    /// Instructions of all groups for one step of K.
    #[must_use]
    pub fn products(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }
}

/// The largest n so that a format has every whole number of magnitude up to n (of a two's complement −n − 1 too).
fn whole_numbers(format: &Format) -> u64 {
    match format.kind {
        Kind::Fixed { scale: 0 } if format.signed => (1 << (format.bits - 1)) - 1,
        Kind::Fixed { .. } => 0,
        Kind::Float(float) if format.signed && float.emin() <= 0 => {
            let top = format.decode(format.max_finite(false)).exponent;
            let bits = (float.fraction_bits + 1).min(u32::try_from(top + 1).unwrap_or(0));
            1_u64.checked_shl(bits).unwrap_or(u64::MAX) - 1
        }
        Kind::Float(_) => 0,
    }
}

impl Schedule {
    /// The formats of operands and results of a product with that unit: the unit's own, or those of `emulate=`.
    #[must_use]
    pub fn signature(&self, unit: &Unit) -> Signature {
        match &self.emulation {
            None => *unit.signature(),
            Some(emulation) => emulation.signature(unit.signature()),
        }
    }
}
