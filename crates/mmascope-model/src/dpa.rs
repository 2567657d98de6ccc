//! The arithmetic of matrix units, exact and readable: THE REFERENCE.
//!
//! One output element is `d = c + Σ a_k·b_k`, a *dot-product-accumulate* (DPA). What a unit does
//! with it is a [`Program`]: a few statements, almost always one, each of which runs a [`Dpa`]
//! algorithm over some of the k, adds two values or converts one. Programs have a text form, the
//! notation of the catalogue:
//!
//! ```text
//! t-fdpa L=16 F=25 e0=-133 -> rz f32 nan=7fffffff
//! ```
//!
//! Everything here is integers: bits in, bits out. Names are those of the papers (T-FDPA, L, F,
//! e0, ρ); the sections cited are those of the arithmetic specification, §2.1 to §2.8, which
//! restates MMA-Sim (arXiv 2511.10909), arXiv 2512.07004 and arXiv 2609.14845.

#![deny(clippy::float_arithmetic)]

mod decoded;
mod describe;
mod e_fdpa;
mod fma_chain;
mod ftz_addmul;
mod general;
mod general_notation;
mod gst_fdpa;
mod gtr_fdpa;
mod ieee;
mod limits;
mod modifiers;
mod notation;
mod output;
mod pair;
mod program;
mod scalar;
mod signature;
mod single;
mod t_fdpa;
mod token;
mod tr_fdpa;
mod unit;

pub use decoded::Decoded;
pub use describe::Parameter;
pub use general::{AddMul, Codes, Fused, General, Groups, Invalid, Side, Specials, Sticky, Terms};
pub use modifiers::Modifiers;
pub use notation::Flaw;
pub use notation::at;
pub(crate) use notation::parse;
pub use output::{Nan, Output, Tininess, ZeroSign};
pub use program::{Operation, Program, Select, Source, Statement};
pub use scalar::Scalar;
pub use signature::Queries;
pub use signature::{OperandWords, Operands, Scale, Signature};
pub use token::Token;
pub use token::tokens;
pub(crate) use unit::check_operands;
pub use unit::{Tiles, Unit};

use crate::format::{Rounding, Unpacked};
use pair::Pair;

/// An algorithm with its parameters: what one native unit does with a run of k.
///
/// L is the number of products fused per block; a run longer than L is done in blocks of L with
/// ascending k, each block's rounded result being the next block's c (§1).
// A program has a few of them, and they are copied freely; boxes would only be in the way.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dpa {
    /// §2.1 SFMA / FMA: one IEEE fused multiply-add per k.
    FmaChain,
    /// §2.2 FDA / T-FDPA, and with block scales §2.3 ST-FDPA: truncated fused sum.
    TFdpa {
        /// Products per block.
        l: u32,
        /// Fraction bits kept in alignment.
        f: u32,
        /// Floor of the alignment exponent.
        e0: i32,
        /// Rounding of each term to the alignment grid (every known unit: RZ).
        align: Rounding,
        /// Whether block scales take part (ST-FDPA).
        scaled: bool,
    },
    /// §2.4 GDFS / GST-FDPA: groups summed exactly, scaled, then a truncated fused sum.
    GstFdpa {
        /// Products per block.
        l: u32,
        /// Products per exactly summed group.
        g: u32,
        /// Fraction bits kept in alignment.
        f: u32,
        /// Floor of the alignment exponent.
        e0: i32,
        /// Rounding of each group to the alignment grid.
        align: Rounding,
    },
    /// §2.5 GPS / FTZ-AddMul: rounded products, pairwise rounded sums of P, flushes everywhere.
    FtzAddMul {
        /// Products per pairwise sum, a power of two.
        p: u32,
        /// Sign of a flushed operand.
        flush_in: FlushSign,
        /// Sign of a flushed result.
        flush_out: FlushSign,
    },
    /// §2.6 E-FDPA: exact fused sum, one rounding.
    EFdpa {
        /// Products per block.
        l: u32,
    },
    /// §2.7 FDRDA / TR-FDPA: truncated fused dot product, then c, then floor and RNE.
    TrFdpa {
        /// Products per block.
        l: u32,
        /// Fraction bits of the products' alignment.
        f: u32,
        /// Fraction bits kept of the sum before the final rounding.
        f2: u32,
    },
    /// §2.8 GFDRDA / GTR-FDPA: as TR-FDPA with even and odd k summed apart.
    GtrFdpa {
        /// Products per block.
        l: u32,
        /// Fraction bits of the products' alignment.
        f: u32,
        /// Fraction bits kept of the sum before the final rounding.
        f2: u32,
    },
    /// A step with every parameter of the model space; no known unit needs it.
    General(General),
}

/// The sign of a zero that a flush makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlushSign {
    /// Always +0.
    Plus,
    /// The sign of what was flushed.
    Kept,
}

impl Dpa {
    /// Products per block: how many k one rounding step takes in.
    #[must_use]
    pub fn block(&self) -> usize {
        match *self {
            Self::FmaChain => 1,
            Self::FtzAddMul { p, .. } => p as usize,
            Self::General(ref step) => step.block(),
            Self::TFdpa { l, .. }
            | Self::GstFdpa { l, .. }
            | Self::EFdpa { l }
            | Self::TrFdpa { l, .. }
            | Self::GtrFdpa { l, .. } => l as usize,
        }
    }

    /// Runs the algorithm over `pairs` in their order, starting from `c`. `start` is `None` when
    /// an FMA chain begins with a plain product.
    fn run(&self, pairs: &[Pair], start: Option<Unpacked>, output: &Output) -> u64 {
        let Some(mut c) = start else {
            if let Self::General(step) = self {
                return step.run_from_product(pairs, output);
            }
            return fma_chain::run_from_product(pairs, output);
        };
        if let Self::FtzAddMul { flush_in, .. } = *self {
            c = ftz_addmul::flush_operand(&c, flush_in);
        }
        if let Self::General(step) = self {
            c = step.start(c);
        }
        let mut sum = output::PLUS_ZERO;
        for block in pairs.chunks(self.block()) {
            sum = match *self {
                Self::FmaChain => fma_chain::step(&block[0], &c, output),
                Self::TFdpa { f, e0, align, .. } => t_fdpa::block(block, &c, f, e0, align, output),
                Self::GstFdpa {
                    g, f, e0, align, ..
                } => gst_fdpa::block(block, &c, g as usize, f, e0, align, output),
                Self::FtzAddMul {
                    flush_in,
                    flush_out,
                    ..
                } => ftz_addmul::block(block, &c, flush_in, flush_out, output),
                Self::EFdpa { .. } => e_fdpa::block(block, &c, output),
                Self::TrFdpa { f, f2, .. } => tr_fdpa::block(block, &c, f, f2, output),
                Self::GtrFdpa { f, f2, .. } => gtr_fdpa::block(block, &c, f, f2, output),
                Self::General(ref step) => step.run(block, &c, output),
            };
            if output.flush.is_some() {
                sum = general::finished(sum, output);
            }
            c = output.unpack(sum);
        }
        sum
    }
}

impl Dpa {
    /// One block over all the pairs, whatever L is.
    ///
    /// The pairs from `products` on are values times one.
    fn run_whole(&self, pairs: &[Pair], products: usize, start: Unpacked, output: &Output) -> u64 {
        match self {
            Self::General(General::Fused(fused)) => {
                fused.run(pairs, products, &fused.terms.start(start), output)
            }
            Self::General(step) => step.run(pairs, &step.start(start), output),
            _ => self.run(pairs, Some(start), output),
        }
    }
}

/// The value of a special result, decided before any finite arithmetic (§2.2 step 1).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    Nan,
    Infinite { negative: bool },
}

/// §2.2 step 1 over any terms: a NaN, or ∞ of both signs, is NaN; ∞ of one sign is that ∞.
fn special_sum(terms: impl IntoIterator<Item = Option<Special>>) -> Option<Special> {
    terms
        .into_iter()
        .flatten()
        .reduce(|sum, term| if sum == term { sum } else { Special::Nan })
}

/// A finite c as ∞ or NaN, if it is one.
fn special_value(value: &Unpacked) -> Option<Special> {
    use crate::format::Class::{Finite, Infinite, Nan, Zero};
    match value.class {
        Zero | Finite => None,
        Infinite => Some(Special::Infinite {
            negative: value.negative,
        }),
        Nan => Some(Special::Nan),
    }
}
