//! Fused sums that take c after their products (TR-FDPA, GTR-FDPA) in 32-bit lanes.

use super::fused::{At, FIELD, Tile, add_products, fields, largest};
use crate::cpu::lanes::{Lanes, VECTORS, four, rows, terms};
use crate::cpu::sum::{Offsets, Sum};
use crate::shape::SumKind;

/// Binades above the products' exponent up to which c's first bit lies at bit 29 at most, F being 24.
const REACH: u32 = 5;

impl Sum {
    /// Whether a c beyond the products' reach can be added at bit 29 of 32, as `shifted` does: its first bit
    /// survives where the products stay below 2^29, as eight do, or is looked at.
    pub(super) fn lies_at_29(&self) -> bool {
        let room = match self.kind {
            SumKind::Parity => self.reach >= REACH - 1,
            _ => self.reach >= REACH && self.slots <= 8,
        };
        self.f + REACH == 29 && self.f2 == 31 && room
    }
}

/// `AT_29`: how a c far above the products is added: by `shifted`, else in f64.
///
/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn late<V: Lanes, const ROWS: usize, const PARITY: bool, const AT_29: bool>(
    sum: &Sum,
    offsets: &Offsets,
    mut at: [At; ROWS],
    groups: usize,
    c: &mut [Tile<V>; ROWS],
) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let zero = V::splat(0);
        let zeros = [[zero; VECTORS]; ROWS];
        let (offset, start) = (V::splat(offsets.offset), V::b_splat(offsets.start));
        let top = V::splat((sum.f + 254) << 23);
        let lowest = V::splat(offsets.lowest());
        let slots = sum.slots;
        // The even k of a group come first, then the odd.
        let parts = if PARITY { 2 } else { 1 };
        let mut bytes = [[start; ROWS]; 2];
        for (part, bytes) in bytes.iter_mut().enumerate().take(parts) {
            let from = part * slots / 2;
            rows!(ROWS, |r| bytes[r] =
                largest::<V>(at[r], from..from + slots / parts, start));
        }
        let mut bad = zero;
        let mut tile = *c;
        for _ in 0..groups {
            let mut scale = zeros;
            rows!(ROWS, |r| {
                let both = if PARITY {
                    bytes[0][r].b_max(bytes[1][r])
                } else {
                    bytes[0][r]
                };
                let e = fields(both, offset);
                four!(|v| {
                    // Without a non-zero product, E is c's.
                    let own = tile[r][v].and(V::splat(FIELD));
                    let none = e[v].i_equal(lowest);
                    let e = V::select(none, e[v].i_max(own), e[v]);
                    scale[r][v] = top.i_sub(e);
                });
            });
            let mut sums = zeros;
            if PARITY {
                let mut total = zeros;
                for (parity, bytes) in bytes.iter_mut().enumerate() {
                    let mut own = zeros;
                    rows!(ROWS, |r| {
                        let fields = fields(bytes[r], offset);
                        four!(|v| own[r][v] = top.i_sub(fields[v]));
                    });
                    *bytes = [start; ROWS];
                    sums = zeros;
                    let from = parity * slots / 2;
                    let half = from..from + slots / 2;
                    add_products::<V, ROWS, { terms::ZERO }>(
                        &at, half, slots, &own, &mut sums, bytes,
                    );
                    rows!(ROWS, |r| four!(|v| {
                        let down = own[r][v].i_sub(scale[r][v]).shr::<23>();
                        total[r][v] = total[r][v].i_add(sums[r][v].sar_by(down));
                    }));
                }
                sums = total;
            } else {
                bytes[0] = [start; ROWS];
                add_products::<V, ROWS, { terms::ZERO }>(
                    &at,
                    0..slots,
                    slots,
                    &scale,
                    &mut sums,
                    &mut bytes[0],
                );
            }
            rows!(ROWS, |r| {
                at[r] = at[r].on::<V>(slots, 0, false);
                ended::<V, PARITY, AT_29>(sum, &scale[r], &sums[r], &mut tile[r], &mut bad);
            });
        }
        *c = tile;
        bad
    }
}

/// A row's results, the next group's c, of its products' sums: c is added.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn ended<V: Lanes, const PARITY: bool, const AT_29: bool>(
    sum: &Sum,
    scale: &Tile<V>,
    sums: &Tile<V>,
    tile: &mut Tile<V>,
    bad: &mut V,
) {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let zero = V::splat(0);
        let top = V::splat((sum.f + 254) << 23);
        let drop = V::splat(sum.f << 23);
        let reach = V::splat(sum.reach << 23);
        four!(|v| {
            let e = top.i_sub(scale[v]);
            let own = tile[v].and(V::splat(FIELD));
            let far = own.i_greater(e.i_add(reach));
            let mut shift = zero;
            if AT_29 {
                let above = own.i_sub(e.i_add(V::splat(REACH << 23)));
                shift = above.i_max(zero);
            }
            let unit = scale[v].i_sub(shift);
            let mut late = tile[v].f_mul(unit).f_to_i_down();
            if PARITY {
                let below = own.i_add(V::splat((sum.f + 1) << 23));
                late = e.i_greater(below).not_and(late);
            }
            let unit = e.i_sub(drop);
            tile[v] = if AT_29 {
                let total = shifted::<V, PARITY>(sums[v], late, shift, bad);
                total.i_to_f().f_mul(unit.i_add(shift))
            } else {
                let result = sums[v].i_add(late).i_to_f().f_mul(unit);
                if far.top_bits() == 0 {
                    result
                } else {
                    V::select(far, beyond(sum, sums[v], e, tile[v], own), result)
                }
            };
        });
    }
}

/// §2.7 steps 3 and 4 in whole numbers: the products' sum, shifted down so that c begins at bit 29, and c.
///
/// What the shift drops lies below bit 0 of the total, whose rounding drops four bits and more; it only
/// tells a tie from what lies above it. Of it the floor to F2 = 31 fraction bits keeps 2 bits, 1
/// where the total has reached bit 30, and 3 where it is back at bit 28: those go into the last three
/// bits of the total, where any of them says the same. (At the ends of a binade, where the floor
/// could move the exponent, no tie is near.) c is a multiple of 2^6 then.
///
/// `CHECKED`: 16 products can be as large as c, so that the total leaves i32 or comes out small.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn shifted<V: Lanes, const CHECKED: bool>(products: V, c: V, shift: V, bad: &mut V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let count = shift.shr::<23>();
        let above = products.sar_by(count);
        let below = products.shl_by(V::splat(32).i_sub(count));
        let total = above.i_add(c);
        let magnitude = total.i_abs();
        if CHECKED {
            let left = above.xor(total).and(c.xor(total));
            let small = V::splat(1 << 27).i_greater(magnitude);
            let small = shift.i_greater(V::splat(0)).and(small);
            *bad = bad.or(left).or(small);
        }
        let reached = magnitude.or(magnitude.shr::<1>());
        let kept = reached.not_and(below.and(V::splat(0b111 << 29)));
        total.or(kept.shr::<29>())
    }
}

/// §2.7 steps 3 and 4 for a c whose exponent `own` lies above that of the products, `e`: in f64,
/// where both are whole numbers of 2^(own − F2 − 1) and stay below 2^53.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn beyond<V: Lanes>(sum: &Sum, products: V, e: V, c: V, own: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let power = |bits: u32| V::splat((bits + 127) << 23);
        // 2^(e − F − own + F2 + 1); where that is tiny, any tiny number has the same floor.
        let up = sum.f2 + 1 - sum.f;
        let unit = e.i_sub(own).i_add(power(up)).i_max(V::splat(1 << 23));
        let whole = c.f_mul(V::splat((sum.f + 254) << 23).i_sub(own)).f_floor();
        let (unit_low, unit_high) = (unit.f_low_to_d(), unit.f_high_to_d());
        let low = products.i_low_to_d().d_mul(unit_low).d_floor();
        let high = products.i_high_to_d().d_mul(unit_high).d_floor();
        let c_unit = V::d_splat(f64::from(1_u32 << up));
        let low = whole.f_low_to_d().d_fma(c_unit, low);
        let high = whole.f_high_to_d().d_fma(c_unit, high);
        // Down to F2 fraction bits: away from zero where negative.
        let below = f64::from_bits((1 << (52 - sum.f2)) - 1);
        let (below, kept) = (
            V::d_splat(below),
            V::d_splat(f64::from_bits(!below.to_bits())),
        );
        let floor = |x: V| x.l_add(x.d_negative().and(below)).and(kept);
        let unit = own.i_sub(V::splat((sum.f2 + 1) << 23));
        let low = floor(low).d_mul(unit.f_low_to_d());
        low.d_to_f(floor(high).d_mul(unit.f_high_to_d()))
    }
}
