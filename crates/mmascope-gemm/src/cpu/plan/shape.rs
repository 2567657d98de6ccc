//! What the lanes of the fused kernel know of an algorithm: the one place that looks at every algorithm.

use super::Refusal;
use crate::cpu::sum::Kind;
use crate::dpa::{
    Dpa, EFdpa, FlushSign, FtzAddMul, Fused, General, GtrFdpa, Output, StFdpa, TFdpa, TrFdpa,
};
use crate::format::Rounding;

/// A floor of E that no term lies below: products of two f32 reach 2^-298.
const NO_FLOOR: i32 = -300;

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
    pub(super) fn of(algorithm: &Dpa, output: &Output) -> Result<Self, Refusal> {
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
            Dpa::General(General::Fused(step)) => match (named(&step, output), outside(&step)) {
                (Some(named), _) => Self::of(&named, output),
                (None, Some(f)) => sum(Kind::Outside, step.l, f, None, step.align, 0),
                (None, None) => Err(format!(
                    "{algorithm}: of fused sums, kernels carry L, F, align, and e0 or grid"
                )),
            },
            Dpa::General(_) => Err(format!("{algorithm}: no kernel carries it")),
            Dpa::GstFdpa(_) | Dpa::GrFdpa(_) | Dpa::SemiFma(_) | Dpa::IntDot(_) => {
                Err(format!("{algorithm}: not with these operands"))
            }
        }
    }
}

/// F of a fused sum whose products alone choose the grid.
fn outside(step: &Fused) -> Option<u32> {
    let plain = Fused {
        c_outside_alignment: true,
        align: step.align,
        align_c: step.align,
        floor: step.floor,
        ..Fused::plain(step.l, step.f)
    };
    step.f.filter(|_| *step == plain)
}

/// The algorithm of a paper that a fused sum of the model space is.
fn named(step: &Fused, output: &Output) -> Option<Dpa> {
    let (l, align) = (step.l, step.align);
    // A sum without a floor is one whose floor lies below every term.
    let e0 = step.f.map(|_| step.e0.unwrap_or(NO_FLOOR));
    let floored = Fused { e0, ..*step };
    let candidates: [Option<(Dpa, Fused)>; 3] = [
        step.f
            .zip(e0)
            .map(|(f, e0)| (TFdpa { l, f, e0, align }.into(), floored)),
        step.f
            .zip(step.f2)
            .map(|(f, f2)| (TrFdpa { l, f, f2 }.into(), *step)),
        Some((EFdpa { l }.into(), *step)),
    ];
    let is_it = |(named, step): &(Dpa, Fused)| named.general(output) == General::Fused(*step);
    candidates
        .into_iter()
        .flatten()
        .find(is_it)
        .map(|(named, _)| named)
}
