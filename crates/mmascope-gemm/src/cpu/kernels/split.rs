//! Fused sums of which hardly one term, or none, fits 32 bits. They are summed in two registers, exactly.
//!
//! Terms that fit are summed modulo 2^32, and once more in f32. The second sum is off by far less than 2^31, so that it tells which
//! multiple of 2^32 is to be added to the first one.
//!
//! Terms that do not fit are 64-bit integers where an instruction makes them. Elsewhere they are split, and higher and lower
//! numbers are summed apart. The higher number is the term in units of 2^s grid places, cut to a whole number; the lower one is
//! what is left, rounded to the grid. Both are exact in f32, as the term is. Rounding what is left rounds the term: the higher
//! number is a whole, even number of grid places, and what is left has the term's sign.

use super::fused::{At, C_LIMIT, INFINITY, SIGN, Tile, fields, largest, own_field};
use super::outside::{c_in_f64, c_in_i64, without_products};
use super::rounding::{added_each, finish_long, finish_wide};
use crate::cpu::lanes::{Alone, Lanes, VECTORS, four, rows};
use crate::cpu::sum::{Finish, Offsets, Sum, low_bits};
use crate::shape::SumKind;

/// What the two registers of a sum hold.
mod way {
    /// The terms' sum in f32, and modulo 2^32.
    pub(super) const WRAPPED: u8 = 0;
    /// Higher numbers and lower ones.
    pub(super) const SPLIT: u8 = 1;
    /// 64-bit integers of the lower half's lanes and of the upper half's.
    pub(super) const LONG: u8 = 2;
}

/// The largest F whose terms fit i32: they stay below 2^(F + 2) units of the grid.
const MOST_F: u32 = 29;

/// Two registers for each of a tile's.
type Both<V> = [[V; 2]; VECTORS];

/// What splits terms and joins sums. (The first three are of no use to 64-bit integers.)
struct Split<V> {
    /// 2^-s.
    down: V,
    /// −2^s.
    back: V,
    /// What the first register's numbers are multiples of, in f64: 2^s, or the 2^32 that a sum in 32 bits lacks.
    unit: V,
    /// A constant of [`way`].
    way: u8,
}

impl<V: Lanes> Split<V> {
    /// # Safety
    /// Instructions: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn new(sum: &Sum) -> Self {
        let places = low_bits(sum.slots);
        let way = match sum.f {
            ..=MOST_F => way::WRAPPED,
            _ if V::LONG => way::LONG,
            _ => way::SPLIT,
        };
        let unit = match way {
            way::WRAPPED => 2_f64.powi(32),
            _ => f64::from(1_u32 << places),
        };
        // SAFETY: the caller has the instruction set.
        unsafe {
            Self {
                down: V::splat((127 - places) << 23),
                back: V::splat((127 + places) << 23 | SIGN),
                unit: V::d_splat(unit),
                way,
            }
        }
    }

    /// A term, in units of the grid, as the two registers count it.
    ///
    /// # Safety
    /// Instructions: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn counted<const TERMS: u8, const WAY: u8>(&self, term: V) -> [V; 2] {
        // SAFETY: the caller has the instruction set.
        unsafe {
            match WAY {
                way::WRAPPED => [term, term.converted::<TERMS>()],
                way::SPLIT => {
                    let high = term.f_mul(self.down).f_to_i();
                    let rest = high.i_to_f().f_fma(self.back, term);
                    [high, rest.converted::<TERMS>()]
                }
                _ => [term.f_low_to_l::<TERMS>(), term.f_high_to_l::<TERMS>()],
            }
        }
    }

    /// Two sums together, of terms that are counted.
    ///
    /// # Safety
    /// Instructions: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn together<const WAY: u8>(x: [V; 2], y: [V; 2]) -> [V; 2] {
        // SAFETY: the caller has the instruction set.
        unsafe {
            match WAY {
                way::WRAPPED => [x[0].f_add(y[0]), x[1].i_add(y[1])],
                way::SPLIT => [x[0].i_add(y[0]), x[1].i_add(y[1])],
                _ => [x[0].l_add(y[0]), x[1].l_add(y[1])],
            }
        }
    }

    /// A sum as 64-bit integers of the lower half's lanes and of the upper half's.
    ///
    /// # Safety
    /// Instructions: the head of `kernels.rs` says what they are. There is `LONG`.
    #[inline(always)]
    unsafe fn long(&self, sum: [V; 2]) -> [V; 2] {
        if self.way == way::LONG {
            return sum;
        }
        // SAFETY: the caller has the instruction set.
        unsafe {
            let wrapped = V::splat((127 - 32) << 23);
            let minus = V::splat((127 - 32) << 23 | SIGN);
            let above = sum[1].u_to_f().f_fma(minus, sum[0].f_mul(wrapped));
            sum[1].l_joined(above.f_to_i_nearest())
        }
    }

    /// A sum as f64 of the lower half's lanes and of the upper half's.
    ///
    /// # Safety
    /// Instructions: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn wide(&self, [mut high, low]: [V; 2]) -> [V; 2] {
        // SAFETY: the caller has the instruction set.
        unsafe {
            if self.way == way::WRAPPED {
                let wrapped = V::splat((127 - 32) << 23);
                high = high.f_sub(low.i_to_f()).f_mul(wrapped).f_to_i_nearest();
            }
            [
                high.i_low_to_d().d_fma(self.unit, low.i_low_to_d()),
                high.i_high_to_d().d_fma(self.unit, low.i_high_to_d()),
            ]
        }
    }
}

/// A group of each row.
struct Group<'s, V, const ROWS: usize> {
    at: &'s [At; ROWS],
    slots: usize,
    units: &'s [Tile<V>; ROWS],
    /// c, where it is a term.
    c: Option<&'s [Tile<V>; ROWS]>,
}

impl<V: Lanes, const ROWS: usize> Group<'_, V, ROWS> {
    /// Its sums, in the registers that `WAY` names; and the largest byte sums of the next group, with those of `bytes`.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn sums<const TERMS: u8, const WAY: u8>(
        &self,
        numbers: &Split<V>,
        bytes: &mut [V; ROWS],
    ) -> [Both<V>; ROWS] {
        // SAFETY: as the caller promises.
        unsafe {
            let Self {
                at, slots, units, ..
            } = *self;
            let zero = V::splat(0);
            let mut sums: [Both<V>; ROWS] = [[[zero; 2]; VECTORS]; ROWS];
            if let Some(c) = self.c {
                rows!(ROWS, |r| four!(|v| {
                    let term = c[r][v].f_mul(units[r][v]);
                    sums[r][v] = numbers.counted::<TERMS, WAY>(term);
                }));
            }
            for k in 0..slots {
                let from = k * VECTORS * V::WIDTH;
                let ahead = slots + k;
                let next = V::load_bytes(at[0].b_exponents.add(ahead * VECTORS * V::WIDTH));
                let mut a = [zero; ROWS];
                rows!(ROWS, |r| {
                    let own = V::b_splat(*at[r].a_exponents.add(ahead));
                    bytes[r] = bytes[r].b_max(next.b_add(own));
                    a[r] = V::splat((*at[r].a.add(k)).to_bits());
                });
                four!(|v| {
                    let b = V::load(at[0].b.add(from + v * V::WIDTH).cast());
                    rows!(ROWS, |r| {
                        let term = a[r].f_mul(b).f_mul(units[r][v]);
                        let number = numbers.counted::<TERMS, WAY>(term);
                        sums[r][v] = Split::together::<WAY>(sums[r][v], number);
                    });
                });
            }
            sums
        }
    }
}

/// A result from a sum, c as it was before the group, and the unit of the grid; and the lanes in `bad` that lost bits.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn settled<V: Lanes, const TERMS: u8>(
    sum: &Sum,
    finish: &Finish,
    numbers: &Split<V>,
    total: [V; 2],
    [c, unit]: [V; 2],
    bad: &mut V,
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        let outside = sum.kind == SumKind::Outside;
        // 2^(E − F), when the unit is 2^(F − E).
        let back = V::splat(254 << 23).i_sub(unit);
        let mut result;
        if V::LONG {
            let mut total = numbers.long(total);
            if outside {
                let (own, inexact) = c_in_i64::<V, TERMS>(finish, c, unit);
                total = [total[0].l_add(own[0]), total[1].l_add(own[1])];
                *bad = bad.or(inexact);
            }
            result = finish_long(finish, total, back);
        } else {
            let mut total = numbers.wide(total);
            if outside {
                let (own, inexact) = c_in_f64::<V, TERMS>(c, unit);
                total = [total[0].d_add(own[0]), total[1].d_add(own[1])];
                *bad = bad.or(inexact);
            }
            result = finish_wide(finish, total, back);
        }
        // c may be an ∞ that another sum of the program has left. The conversion to an integer makes −2^63 of it. On a grid that c
        // sets this becomes an ∞ again, which is seen in the end; on the products' grid it may stay finite.
        if sum.sticky || V::LONG && outside {
            let special = c.and(V::splat(!SIGN)).i_greater(V::splat(INFINITY - 1));
            result = V::select(special, c, result);
        }
        // A result may leave the domain of the next group's c.
        if !sum.sticky && sum.grows() {
            let magnitude = result.and(V::splat(!SIGN));
            *bad = bad.or(magnitude.i_greater(V::splat(C_LIMIT - 1)));
        }
        result
    }
}

/// What [`super::fused::chain`] is given, and what it gives.
struct Chain<'s, V, const ROWS: usize, const TERMS: u8> {
    sum: &'s Sum,
    offsets: &'s Offsets,
    at: [At; ROWS],
    groups: usize,
    c: &'s mut [Tile<V>; ROWS],
    bad: &'s mut V,
}

impl<V: Lanes, const ROWS: usize, const TERMS: u8> Alone for Chain<'_, V, ROWS, TERMS> {
    /// # Safety
    /// As for [`super::fused::chain`], with what this holds.
    #[inline(always)]
    unsafe fn run(self) {
        // SAFETY: as the caller promises.
        *self.bad = unsafe {
            chain::<V, ROWS, TERMS>(self.sum, self.offsets, self.at, self.groups, self.c)
        };
    }
}

/// `groups` groups of each row, as [`super::fused::chain`].
///
/// # Safety
/// As for [`super::fused::chain`].
#[inline(always)]
pub(super) unsafe fn split<V: Lanes, const ROWS: usize, const TERMS: u8>(
    sum: &Sum,
    offsets: &Offsets,
    at: [At; ROWS],
    groups: usize,
    c: &mut [Tile<V>; ROWS],
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        let mut bad = V::splat(0);
        V::alone(Chain::<V, ROWS, TERMS> {
            sum,
            offsets,
            at,
            groups,
            c,
            bad: &mut bad,
        });
        bad
    }
}

/// The same, inlined.
///
/// # Safety
/// As for [`super::fused::chain`].
#[inline(always)]
unsafe fn chain<V: Lanes, const ROWS: usize, const TERMS: u8>(
    sum: &Sum,
    offsets: &Offsets,
    mut at: [At; ROWS],
    groups: usize,
    c: &mut [Tile<V>; ROWS],
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        let zero = V::splat(0);
        let none = [[zero; VECTORS]; ROWS];
        let outside = sum.kind == SumKind::Outside;
        let (offset, start) = (V::splat(offsets.offset), V::b_splat(offsets.start));
        let top = V::splat((sum.f + 254) << 23);
        let numbers = Split::<V>::new(sum);
        let mut smallest = sum.c_smallest;
        let mut bytes = [zero; ROWS];
        rows!(ROWS, |r| bytes[r] =
            largest::<V>(at[r], 0..sum.slots, start));
        let mut bad = zero;
        let mut tiles = *c;
        // Where c is no term, it lies here, and a sum has so many more groups.
        let mut apart = *c;
        let mut more = 0;
        for _ in 0..groups {
            let mut has_c = !outside;
            if let Some(after) = &sum.after {
                if more == 0 {
                    (tiles, smallest, more) = (none, 0, after.groups);
                    has_c = false;
                }
                more -= 1;
            }
            let mut units = none;
            rows!(ROWS, |r| {
                let mut e = fields(bytes[r], offset);
                if outside {
                    without_products(sum, offsets, bytes[r], &tiles[r], &mut e);
                } else if has_c {
                    four!(|v| {
                        e[v] = e[v].i_max(own_field(tiles[r][v], smallest));
                    });
                }
                four!(|v| units[r][v] = top.i_sub(e[v]));
                bytes[r] = start;
            });
            let group = Group {
                at: &at,
                slots: sum.slots,
                units: &units,
                c: has_c.then_some(&tiles),
            };
            let sums = if numbers.way == way::WRAPPED {
                group.sums::<TERMS, { way::WRAPPED }>(&numbers, &mut bytes)
            } else if V::LONG {
                group.sums::<TERMS, { way::LONG }>(&numbers, &mut bytes)
            } else {
                group.sums::<TERMS, { way::SPLIT }>(&numbers, &mut bytes)
            };
            smallest = sum.smallest;
            rows!(ROWS, |r| {
                at[r] = at[r].on::<V>(sum.slots, 0, false);
                /// Register v's result.
                macro_rules! settle {
                    ($v:ident, $finish:expr) => {
                        settled::<V, TERMS>(
                            sum,
                            $finish,
                            &numbers,
                            sums[r][$v],
                            [tiles[r][$v], units[r][$v]],
                            &mut bad,
                        )
                    };
                }
                match sum.finish {
                    Finish::TowardZero { mask } => {
                        four!(|v| tiles[r][v] = settle!(v, &Finish::TowardZero { mask }));
                    }
                    Finish::Nearest => four!(|v| tiles[r][v] = settle!(v, &Finish::Nearest)),
                    _ => {
                        // (Not written out, since it is long and there are many copies of it. Arrays that a loop indexes lie in
                        // memory: these are copies, so that those of the loop over products do not.)
                        let (totals, cs, own) = (sums[r], tiles[r], units[r]);
                        let mut results = cs;
                        for v in 0..VECTORS {
                            let (total, of) = (totals[v], [cs[v], own[v]]);
                            let finish = &sum.finish;
                            results[v] =
                                settled::<V, TERMS>(sum, finish, &numbers, total, of, &mut bad);
                        }
                        four!(|v| tiles[r][v] = results[v]);
                    }
                }
                if let (Some(after), 0) = (&sum.after, more) {
                    added_each(&after.round, &mut apart[r], &tiles[r]);
                }
            });
        }
        *c = match sum.after {
            Some(_) => apart,
            None => tiles,
        };
        bad
    }
}
