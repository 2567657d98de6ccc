//! Contraction: a product and a sum as one fused operation.

use super::flags::Fmf;
use super::fold::{Fold, Folder};
use super::graph::{Op, Settings};
use super::policy::Policy;

impl Folder<'_> {
    /// Whether a product may be fused into a sum.
    fn may_fuse(&self, product: usize, sum: usize) -> bool {
        let (mul, add) = (self.node(product), self.node(sum));
        if mul.op != Op::Mul {
            return false;
        }
        let flagged = mul
            .settings
            .flags
            .join(add.settings.flags)
            .has(Fmf::CONTRACT);
        let plain = self.plain(product) && self.plain(sum);
        match self.context.policy {
            Policy::Seed => flagged && plain && self.uses[product] == 1,
            Policy::Llvm => flagged && plain,
            Policy::LibNvvm => plain && (self.context.fma || flagged),
            Policy::CudaTile => {
                let same = mul.settings.rounding == add.settings.rounding;
                same && mul.settings.flush == add.settings.flush && self.uses[product] == 1
            }
        }
    }

    /// A product and a sum become one fused operation.
    pub(super) fn contract(&mut self, index: usize) -> Fold {
        if let Some(fold) = self.negated_fused(index) {
            return Some(fold);
        }
        let node = self.node(index).clone();
        let subtracts = match node.op {
            Op::Add => false,
            // libNVVM leaves a difference apart; without .rn the assembler may fuse it.
            Op::Sub if self.context.policy == Policy::LibNvvm => return None,
            Op::Sub => true,
            _ => return None,
        };
        let (x, y) = (node.args[0], node.args[1]);
        let (product, right) = if self.may_fuse(x, index) {
            (x, false)
        } else if self.may_fuse(y, index) {
            (y, true)
        } else if self
            .negated(x)
            .is_some_and(|inner| self.may_fuse(inner, index))
            && subtracts
        {
            // -(a*b)-c
            (self.negated(x)?, false)
        } else {
            return None;
        };
        let (mut a, b) = self.pair(product, &Op::Mul)?;
        let mut addend = if right { x } else { y };
        // What is made of two operations has the flags of both.
        let flags = node.settings.flags.join(self.node(product).settings.flags);
        let settings = Settings {
            flags,
            ..node.settings
        };
        if (subtracts && right) || (!right && product != x) {
            a = self.make(Op::Neg, &[a], settings);
        }
        if subtracts && !right {
            addend = self.make(Op::Neg, &[addend], settings);
        }
        // The flags of the sum decide about what the fused operation may become next.
        let fused = self.make(Op::Fma, &[a, b, addend], node.settings);
        let text = match self.context.policy {
            Policy::Seed => "a*b+c is one fma: the product has one use and both carry contract",
            Policy::Llvm => "a*b+c is one fma: both operations carry contract",
            Policy::LibNvvm if self.context.fma => "a*b+c is one fma: -fma=1 needs no flag",
            Policy::LibNvvm => "a*b+c is one fma: both operations carry contract",
            Policy::CudaTile => {
                "a*b+c is one fma: the product has one use, rounding and flush are equal"
            }
        };
        Some((fused, self.note("contract", text)))
    }

    /// fma(-a, b, -c) is -fma(a, b, c) where the sign of zero does not matter.
    fn negated_fused(&mut self, index: usize) -> Fold {
        let node = self.node(index).clone();
        if node.op != Op::Fma
            || !node.settings.flags.has(Fmf::NSZ)
            || self.context.policy == Policy::CudaTile
        {
            return None;
        }
        let (a, addend) = (self.negated(node.args[0])?, self.negated(node.args[2])?);
        let fused = self.make(Op::Fma, &[a, node.args[1], addend], node.settings);
        let negated = self.make(Op::Neg, &[fused], node.settings);
        Some((
            negated,
            self.note(
                "nsz",
                "fma(-a,b,-c) is -fma(a,b,c) where the sign of zero does not matter",
            ),
        ))
    }
}
