//! What engines know of an algorithm: the one place that looks at every algorithm. Kernels of a processor and of a GPU take their
//! parameters from here.

use crate::dpa::{
    Dpa, EFdpa, FlushSign, FtzAddMul, Fused, General, GtrFdpa, Output, StFdpa, TFdpa, TrFdpa,
};
use crate::format::{Format, Rounding};

/// A floor of E that no term lies below: products of two f32 reach 2^-298.
const NO_FLOOR: i32 = -300;

/// How the terms and c of a fused sum come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumKind {
    /// §2.2: c is one more term.
    Fused,
    /// §2.3: so, with a block scale for the group.
    Scaled,
    /// §2.7: the products first, then c, floored.
    Late,
    /// §2.8: even and odd products apart, then c.
    Parity,
    /// c is one more term on the grid of the products, however far above it.
    Outside,
}

/// An algorithm as kernels compute it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepShape {
    /// A fused sum over a grid.
    Sum(SumGrid),
    /// A chain of multiply-adds.
    Chain,
    /// Rounded products, added in pairs, in groups of `p`.
    Pairwise {
        /// Products of a group.
        p: u32,
        /// Sign of a flushed operand.
        flush_in: FlushSign,
        /// Sign of a flushed result.
        flush_out: FlushSign,
    },
    /// Exact sums of `l` products and c.
    Exact {
        /// Products of a block.
        l: u32,
    },
}

/// The alignment of a fused sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumGrid {
    /// How terms and c come together.
    pub kind: SumKind,
    /// Products of a block.
    pub l: u32,
    /// Fraction bits below the largest exponent.
    pub f: u32,
    /// The floor of that exponent; `None` where there is none.
    pub e0: Option<i32>,
    /// How terms are rounded to the grid.
    pub align: Rounding,
    /// Fraction bits of the sum with c, where c comes late.
    pub f2: u32,
}

impl StepShape {
    /// The shape of an algorithm.
    ///
    /// # Errors
    /// Why it has none. An algorithm without a shape is left to the reference, or to a kernel of its own (`grouped`, `rounded` and
    /// `integers` of `cpu`).
    pub fn of(algorithm: &Dpa, output: &Output) -> Result<Self, String> {
        let sum = |kind, l, f, e0, align, f2| {
            Ok(Self::Sum(SumGrid {
                kind,
                l,
                f,
                e0,
                align,
                f2,
            }))
        };
        match *algorithm {
            Dpa::TFdpa(TFdpa { l, f, e0, align }) => sum(SumKind::Fused, l, f, Some(e0), align, 0),
            Dpa::StFdpa(StFdpa { l, f, e0, align }) => {
                sum(SumKind::Scaled, l, f, Some(e0), align, 0)
            }
            Dpa::TrFdpa(TrFdpa { l, f, f2 }) => sum(SumKind::Late, l, f, None, Rounding::Rz, f2),
            Dpa::GtrFdpa(GtrFdpa { l, f, f2 }) => {
                sum(SumKind::Parity, l, f, None, Rounding::Rz, f2)
            }
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
                (None, Some(f)) => sum(SumKind::Outside, step.l, f, None, step.align, 0),
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

impl SumGrid {
    /// The same sum of products that scales multiply, where it has this shape: scales that are powers of two move the
    /// exponents of products alone, and of the sums in the space of models the plain one takes them so, as §2.3 does.
    #[must_use]
    pub fn scaled(self, scales: &Format) -> Option<Self> {
        let powers = scales.float().is_some_and(|scale| scale.fraction_bits == 0);
        // (Scales take products below any floor that stands for none.)
        let has_floor = self.e0.is_some_and(|e0| e0 > NO_FLOOR);
        let kind = match self.kind {
            SumKind::Scaled => SumKind::Scaled,
            SumKind::Fused if powers && has_floor => SumKind::Scaled,
            _ => return None,
        };
        Some(Self { kind, ..self })
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
