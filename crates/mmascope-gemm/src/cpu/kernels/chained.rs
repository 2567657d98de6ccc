//! Chains of two rows in one block of instructions, where lanes have one, and what is looked at in their sums.

use super::fused::{At, Tile, largest};
use crate::cpu::lanes::chain::Chain;
use crate::cpu::lanes::{Lanes, overflow, two};
use crate::cpu::sum::{Offsets, Sum};

/// All groups by [`Lanes::chain_two`], as [`super::fused::chain`] says; `None` where there is no such block for so many rows.
///
/// # Safety
/// As for [`super::fused::chain`].
#[inline(always)]
pub(super) unsafe fn chained<
    V: Lanes,
    const ROWS: usize,
    const SCALED: bool,
    const OVERFLOW: u8,
    const HALF: bool,
>(
    sum: &Sum,
    offsets: &Offsets,
    at: &[At; ROWS],
    groups: usize,
    c: &mut [Tile<V>; ROWS],
) -> Option<V> {
    let (true, [one, other]) = (V::CHAIN && groups > 0, &at[..]) else {
        return None;
    };
    // SAFETY: as the caller promises: there is room to read one group more.
    unsafe {
        let next = [
            one.slots::<V>(0..0, sum.slots),
            other.slots::<V>(0..0, sum.slots),
        ];
        let chain = Chain {
            a: [one.a, other.a],
            b: one.b,
            a_exponents: [next[0].a_exponents, next[1].a_exponents],
            b_exponents: next[0].b_exponents,
            a_scales: [one.a_scales, other.a_scales],
            b_scales: one.b_scales,
            groups,
            slots: sum.slots,
            start: offsets.start,
            offset: offsets.offset,
            top: (sum.f + 254) << 23,
            empty: offsets.empty,
            smallest: [sum.c_smallest, sum.smallest],
            zero: sum.zero_result(),
        };
        let start = V::b_splat(offsets.start);
        // (Not `map`: what it is given is not inlined, and calls instructions as functions.)
        let found = [
            largest::<V>(*one, 0..sum.slots, start),
            largest::<V>(*other, 0..sum.slots, start),
        ];
        let mut both = [c[0], c[1]];
        let seen = V::chain_two::<SCALED, OVERFLOW, HALF>(&chain, found, &mut both);
        two!(|r| c[r] = both[r]);
        Some(left::<V, OVERFLOW>(sum, seen))
    }
}

/// The lanes in which a sum has left i32, of what was looked at.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn left<V: Lanes, const OVERFLOW: u8>(sum: &Sum, seen: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        match OVERFLOW {
            // A sum that left i32 is back with a magnitude of at least this.
            overflow::TOLD => seen.shr::<24>().i_greater(V::splat(sum.suspicious - 1)),
            _ => seen,
        }
    }
}
