//! The kernels for arithmetic that f32 lanes do themselves: chains of fused multiply-adds (§2.1), products and
//! pairwise sums with flushes (§2.5). All of it rounds to nearest even; ∞ and NaN come out right.

use super::fused::{At, Tile};
use crate::cpu::lanes::{Lanes, VECTORS};

const SIGN: u32 = 1 << 31;
/// The smallest normal f32.
const SMALLEST: u32 = 1 << 23;

/// Column registers of a slot.
macro_rules! b {
    ($v:ty, $at:expr, $k:expr, $i:expr) => {
        <$v>::load($at.b.add(($k * VECTORS + $i) * <$v>::WIDTH).cast())
    };
}

/// `slots` links; without a start the first is a plain product.
///
/// # Safety
/// The instruction set of `V`; `at` has the slots.
#[inline(always)]
pub(super) unsafe fn chain<V: Lanes>(at: At, slots: usize, start: Option<Tile<V>>) -> Tile<V> {
    // SAFETY: as the caller promises.
    unsafe {
        let a = |k: usize| V::splat((*at.a.add(k)).to_bits());
        let (mut sum, first) = match start {
            Some(start) => (start, 0),
            None => {
                let a = a(0);
                let product = [
                    a.f_mul(b!(V, at, 0, 0)),
                    a.f_mul(b!(V, at, 0, 1)),
                    a.f_mul(b!(V, at, 0, 2)),
                    a.f_mul(b!(V, at, 0, 3)),
                ];
                (product, 1)
            }
        };
        for k in first..slots {
            let a = a(k);
            sum[0] = a.f_fma(b!(V, at, k, 0), sum[0]);
            sum[1] = a.f_fma(b!(V, at, k, 1), sum[1]);
            sum[2] = a.f_fma(b!(V, at, k, 2), sum[2]);
            sum[3] = a.f_fma(b!(V, at, k, 3), sum[3]);
        }
        sum
    }
}

/// How pairwise sums are made.
pub(super) struct Pairwise {
    /// Products of a sum: 1, 2 or 4.
    pub(super) p: usize,
    /// A zero c becomes +0 before each step.
    pub(super) plus: bool,
    /// Subnormal results may come about, and are flushed.
    pub(super) flush: bool,
    /// Slots of a step.
    pub(super) slots: usize,
}

/// So many steps.
///
/// # Safety
/// The instruction set of `V`; `at` has the steps.
#[inline(always)]
pub(super) unsafe fn pairwise<V: Lanes>(how: &Pairwise, at: At, steps: usize, c: &mut Tile<V>) {
    // SAFETY: as the caller promises.
    unsafe {
        if how.flush {
            pairwise_in::<V, true>(how, at, steps, c);
        } else {
            pairwise_in::<V, false>(how, at, steps, c);
        }
    }
}

/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn pairwise_in<V: Lanes, const FLUSH: bool>(
    how: &Pairwise,
    at: At,
    steps: usize,
    c: &mut Tile<V>,
) {
    // SAFETY: as the caller of `pairwise` promises.
    unsafe {
        for step in 0..steps {
            for c in c.iter_mut() {
                let flushed = flush::<V, FLUSH>(*c);
                *c = if how.plus {
                    flushed.f_add(V::splat(0))
                } else {
                    flushed
                };
            }
            let mut k = step * how.slots;
            let end = k + how.slots;
            while k < end {
                let sum = match how.p {
                    1 => products::<V, FLUSH>(at, k),
                    2 => pairs::<V, FLUSH>(at, k),
                    _ => {
                        let (low, high) = (pairs::<V, FLUSH>(at, k), pairs::<V, FLUSH>(at, k + 2));
                        add::<V, FLUSH>(&low, &high)
                    }
                };
                *c = add::<V, FLUSH>(c, &sum);
                k += how.p;
            }
        }
    }
}

/// A subnormal becomes a zero of its sign.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn flush<V: Lanes, const FLUSH: bool>(x: V) -> V {
    if !FLUSH {
        return x;
    }
    // SAFETY: as the caller of `pairwise` promises.
    unsafe {
        let normal = x.and(V::splat(!SIGN)).i_greater(V::splat(SMALLEST - 1));
        x.and(normal.or(V::splat(SIGN)))
    }
}

/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn products<V: Lanes, const FLUSH: bool>(at: At, k: usize) -> Tile<V> {
    // SAFETY: as the caller of `pairwise` promises.
    unsafe {
        let a = V::splat((*at.a.add(k)).to_bits());
        [
            flush::<V, FLUSH>(a.f_mul(b!(V, at, k, 0))),
            flush::<V, FLUSH>(a.f_mul(b!(V, at, k, 1))),
            flush::<V, FLUSH>(a.f_mul(b!(V, at, k, 2))),
            flush::<V, FLUSH>(a.f_mul(b!(V, at, k, 3))),
        ]
    }
}

/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn pairs<V: Lanes, const FLUSH: bool>(at: At, k: usize) -> Tile<V> {
    // SAFETY: as the caller of `pairwise` promises.
    unsafe {
        let (even, odd) = (products::<V, FLUSH>(at, k), products::<V, FLUSH>(at, k + 1));
        add::<V, FLUSH>(&even, &odd)
    }
}

/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn add<V: Lanes, const FLUSH: bool>(x: &Tile<V>, y: &Tile<V>) -> Tile<V> {
    // SAFETY: as the caller of `pairwise` promises.
    unsafe {
        [
            flush::<V, FLUSH>(x[0].f_add(y[0])),
            flush::<V, FLUSH>(x[1].f_add(y[1])),
            flush::<V, FLUSH>(x[2].f_add(y[2])),
            flush::<V, FLUSH>(x[3].f_add(y[3])),
        ]
    }
}
