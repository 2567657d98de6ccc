//! Fused sums of few fraction bits by rounding toward −∞: one multiply-add a product.
//!
//! The sum starts at 1.5·2^(E + 23 − F), so that its last place is 2^(E − F): a multiply-add that rounds
//! toward −∞ then adds the floor of a product on the grid. A's values are a little too large, by
//! 2^-20 of themselves, and zeros are ±2^-90: no product lies on the grid, so that the floor of each
//! negative one is its truncation less 1, without exception, and the signs alone say how many those
//! are. c is treated alike: its last bit is set.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;

use super::{Lanes, four, rows};

/// Two or four rows by four registers of columns, some groups of them.
#[derive(Clone, Copy)]
pub(crate) struct Rows<const ROWS: usize> {
    /// The first row's values, as the head of this file has them; each other row's lie `apart` behind the one before.
    pub(crate) a: *const f32,
    /// Four registers a slot; zeros are ±2^-90.
    pub(crate) b: *const f32,
    pub(crate) a_exponents: *const u8,
    /// A register a slot.
    pub(crate) b_exponents: *const u8,
    /// Each row's signs: a word a group, a bit a slot.
    pub(crate) a_signs: [*const u32; ROWS],
    /// Four registers a group.
    pub(crate) b_signs: *const u32,
    /// Slots from row to row.
    pub(crate) apart: usize,
    /// Slots of a group: even, at most 32.
    pub(crate) slots: usize,
    /// At least one.
    pub(crate) groups: usize,
    pub(crate) f: u32,
    /// The bits of an f32 that results keep.
    pub(crate) mask: u32,
    /// Added to a sum of two exponent bytes, shifted by 23, to give an exponent field.
    pub(crate) offset: u32,
    /// The smallest sum of bytes.
    pub(crate) start: u8,
    /// Exponents of the rows that are next with the same columns.
    pub(crate) next: Option<[*const u8; ROWS]>,
}

const SIGN: u32 = 1 << 31;
const FIELD: u32 = 0xff << 23;
const HALF: u32 = 1 << 22;

/// Added to the field of E: the start of a sum.
const fn anchor(f: u32) -> u32 {
    (23 - f) << 23 | HALF
}

/// [`Lanes::sum_down`] as the compiler makes it of single operations.
///
/// # Safety
/// The instruction set of `V`; the groups are readable, and the exponents of the next rows' first.
#[inline(always)]
pub(super) unsafe fn sum<V: Lanes, const ROWS: usize>(
    given: &Rows<ROWS>,
    ahead: &mut Option<[V; ROWS]>,
    c: &mut [[V; 4]; ROWS],
) {
    let row = 4 * V::WIDTH;
    let mut at = *given;
    // SAFETY: as the caller promises.
    unsafe {
        let (field, start) = (V::splat(FIELD), V::b_splat(given.start));
        let (offset, anchor) = (V::splat(given.offset), V::splat(anchor(given.f)));
        let mask = V::splat(given.mask);
        let mut tile = *c;
        let mut found = match ahead.take() {
            Some(found) => found,
            None => first::<V, ROWS>(given),
        };
        for left in (0..given.groups).rev() {
            let mut sums = tile;
            rows!(ROWS, |r| {
                let bytes: V = found[r];
                let own = [
                    bytes.shl::<23>(),
                    bytes.shl::<15>(),
                    bytes.shl::<7>(),
                    bytes.shr::<1>(),
                ];
                let signs = V::splat(*at.a_signs[r]);
                four!(|v| {
                    let c = tile[r][v];
                    let e = own[v].and(field).i_add(offset);
                    let e = e.i_max(c.and(V::splat(!SIGN))).and(field);
                    let negative = signs.xor(V::load(at.b_signs.add(v * V::WIDTH))).i_ones();
                    let anchor = e.i_add(anchor).i_add(negative);
                    let anchor = anchor.i_sub(c.sar_by(V::splat(31)));
                    sums[r][v] = anchor.f_add_down(c.or(V::splat(1)));
                });
            });
            found = [start; ROWS];
            // The byte sums of the next group, or of the next rows' first.
            let (first, panel) = if left == 0 {
                (given.a_exponents, given.b_exponents)
            } else {
                let next = at.a_exponents.add(given.slots);
                (next, at.b_exponents.add(given.slots * row))
            };
            let mut rows = [first; ROWS];
            rows!(ROWS, |r| rows[r] = first.add(r * given.apart));
            if let (0, Some(next)) = (left, given.next) {
                rows = next;
            }
            for k in 0..given.slots {
                let columns = V::load_bytes(panel.add(k * row));
                let mut b = [columns; 4];
                four!(|v| b[v] = V::load(at.b.add(k * row).cast::<u32>().add(v * V::WIDTH)));
                rows!(ROWS, |r| {
                    let a = V::splat((*at.a.add(r * at.apart + k)).to_bits());
                    four!(|v| sums[r][v] = a.f_fma_down(b[v], sums[r][v]));
                    let byte = V::b_splat(*rows[r].add(k));
                    found[r] = found[r].b_max(columns.b_add(byte));
                });
            }
            rows!(ROWS, |r| four!(|v| {
                let anchor = sums[r][v].and(field).or(V::splat(HALF));
                tile[r][v] = sums[r][v].f_sub(anchor).and(mask);
            }));
            at.a = at.a.add(given.slots);
            at.b = at.b.add(given.slots * row);
            at.a_exponents = at.a_exponents.add(given.slots);
            at.b_exponents = at.b_exponents.add(given.slots * row);
            rows!(ROWS, |r| at.a_signs[r] = at.a_signs[r].add(1));
            at.b_signs = at.b_signs.add(row);
        }
        *ahead = given.next.map(|_| found);
        *c = tile;
    }
}

/// The largest byte sums of the first group's slots.
#[inline(always)]
unsafe fn first<V: Lanes, const ROWS: usize>(given: &Rows<ROWS>) -> [V; ROWS] {
    // SAFETY: as for `sum`.
    unsafe {
        let mut found = [V::b_splat(given.start); ROWS];
        for k in 0..given.slots {
            let columns = V::load_bytes(given.b_exponents.add(k * 4 * V::WIDTH));
            rows!(ROWS, |r| {
                let byte = V::b_splat(*given.a_exponents.add(r * given.apart + k));
                found[r] = found[r].b_max(columns.b_add(byte));
            });
        }
        found
    }
}

/// `a · b + c` toward −∞, by f64: the product is exact there, and what its sum lost is found again.
pub(super) fn multiply_add([a, b, c]: [f32; 3]) -> f32 {
    let (x, y) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = x + y;
    if sum == 0.0 {
        // IEEE 754 §6.3: −0, but for a sum of nothing but +0.
        let plus = x.is_sign_positive() && y.is_sign_positive();
        return if plus { 0.0 } else { -0.0 };
    }
    let back = sum - x;
    let lost = (x - (sum - back)) + (y - back);
    #[allow(clippy::cast_possible_truncation)]
    let near = sum as f32;
    let above = f64::from(near) - sum;
    if above > 0.0 || (above == 0.0 && lost < 0.0) {
        near.next_down()
    } else {
        near
    }
}
