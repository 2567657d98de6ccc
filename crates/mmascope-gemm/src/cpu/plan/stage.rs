//! Stages: the statements of a program, over lanes.

use crate::cpu::sum::{Round, Sum};

/// Where a stage's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cpu) enum From {
    C,
    Zero,
    Stage(usize),
}

/// One statement over lanes.
#[derive(Clone, Copy, Debug)]
pub(in crate::cpu) enum Stage {
    /// A fused sum over so many groups from a slot of the step on.
    Sum {
        sum: Sum,
        slot: usize,
        groups: usize,
        from: From,
    },
    /// A chain of fused multiply-adds in f32; without a start, the first is a product.
    Chain {
        slot: usize,
        slots: usize,
        from: Option<From>,
    },
    /// Products and sums of `p` of them, pairwise, each rounded to f32.
    Pairwise {
        slot: usize,
        slots: usize,
        p: usize,
        from: From,
        /// A zero c becomes +0 before each step.
        plus: bool,
    },
    /// Exact sums of `l` products and c, each rounded to f32.
    Exact {
        slot: usize,
        slots: usize,
        l: usize,
        from: From,
    },
    Add(From, From, Round),
    Convert(From, Round),
}

impl Stage {
    /// Where its values come from.
    pub(in crate::cpu) fn reads(&self) -> Vec<From> {
        match self {
            Self::Sum { from, .. }
            | Self::Pairwise { from, .. }
            | Self::Exact { from, .. }
            | Self::Convert(from, _) => vec![*from],
            Self::Chain { from, .. } => from.iter().copied().collect(),
            Self::Add(left, right, _) => vec![*left, *right],
        }
    }

    /// The same with values from elsewhere.
    pub(in crate::cpu) fn reading(mut self, of: impl Fn(From) -> From) -> Self {
        match &mut self {
            Self::Sum { from, .. }
            | Self::Pairwise { from, .. }
            | Self::Exact { from, .. }
            | Self::Convert(from, _) => *from = of(*from),
            Self::Chain { from, .. } => *from = from.map(of),
            Self::Add(left, right, _) => (*left, *right) = (of(*left), of(*right)),
        }
        self
    }

    /// Makes a sum one group, and says of how many slots; other stages stay.
    pub(in crate::cpu) fn cut(&mut self) -> Option<usize> {
        match self {
            Self::Sum { sum, groups, .. } => {
                *groups = 1;
                Some(sum.slots)
            }
            Self::Exact { slots, l, .. } => {
                *slots = *l;
                Some(*l)
            }
            _ => None,
        }
    }
}
