//! What the lanes of the fused kernel know of an algorithm: the one place that looks at every algorithm.

use super::Refusal;
use crate::cpu::sum::Kind;
use crate::dpa::{Dpa, EFdpa, FlushSign, FtzAddMul, GtrFdpa, StFdpa, TFdpa, TrFdpa};
use crate::format::Rounding;

/// An algorithm as lanes compute it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// A fused sum over a grid.
    Sum(Alignment),
    /// A chain of multiply-adds.
    Chain,
    /// Rounded products, added in pairs, in groups of `p`.
    Pairwise {
        p: u32,
        flush_in: FlushSign,
        flush_out: FlushSign,
    },
    /// Exact sums of `l` products and c.
    Exact { l: u32 },
}

/// The alignment of a fused sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alignment {
    pub(super) kind: Kind,
    pub(super) l: u32,
    pub(super) f: u32,
    pub(super) e0: Option<i32>,
    pub(super) align: Rounding,
    pub(super) f2: u32,
}

impl Shape {
    /// The shape of an algorithm, or why lanes have none. An algorithm without a shape is left to the reference; `grouped`,
    /// `rounded` and `integers` beside the plan have kernels of their own.
    pub(super) fn of(algorithm: &Dpa) -> Result<Self, Refusal> {
        let sum = |kind, l, f, e0, align, f2| {
            Ok(Self::Sum(Alignment {
                kind,
                l,
                f,
                e0,
                align,
                f2,
            }))
        };
        match *algorithm {
            Dpa::TFdpa(TFdpa { l, f, e0, align }) => sum(Kind::Fused, l, f, Some(e0), align, 0),
            Dpa::StFdpa(StFdpa { l, f, e0, align }) => sum(Kind::Scaled, l, f, Some(e0), align, 0),
            Dpa::TrFdpa(TrFdpa { l, f, f2 }) => sum(Kind::Late, l, f, None, Rounding::Rz, f2),
            Dpa::GtrFdpa(GtrFdpa { l, f, f2 }) => sum(Kind::Parity, l, f, None, Rounding::Rz, f2),
            Dpa::FmaChain(_) => Ok(Self::Chain),
            Dpa::FtzAddMul(FtzAddMul {
                p,
                flush_in,
                flush_out,
            }) => Ok(Self::Pairwise {
                p,
                flush_in,
                flush_out,
            }),
            Dpa::EFdpa(EFdpa { l }) => Ok(Self::Exact { l }),
            Dpa::GstFdpa(_)
            | Dpa::GrFdpa(_)
            | Dpa::SemiFma(_)
            | Dpa::IntDot(_)
            | Dpa::General(_) => Err("no fused sum".to_owned()),
        }
    }
}
