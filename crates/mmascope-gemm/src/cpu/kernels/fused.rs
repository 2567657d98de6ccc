//! The kernels for fused sums (T-FDPA, ST-FDPA, TR-FDPA, GTR-FDPA) in 32-bit lanes.
//!
//! A product of two significands of together at most 24 bits is exact in f32. Multiplied by
//! 2^(F−E) it is again exact, or far below 1; the conversion to an integer is then the alignment of
//! §2.2 step 4 itself: toward zero, or to nearest even. The sum is a sum of i32, and one conversion
//! back rounds it. E comes from one byte a product, added and compared for four vectors at once.
//!
//! Each register holds as many columns as it has lanes; a tile is one row by four registers.

use super::truncated::{self, overflow};
use crate::cpu::lanes::{Lanes, Slots, VECTORS, four};
use crate::cpu::sum::{Finish, Kind, Narrow, Offsets, Sum};

/// Sign bit of an f32.
pub(super) const SIGN: u32 = 1 << 31;
/// Exponent field of an f32.
pub(super) const FIELD: u32 = 0xff << 23;
/// +∞ as f32.
pub(super) const INFINITY: u32 = FIELD;
/// Binades above the products' exponent up to which c's first bit lies at bit 29 at most, F being 24.
const REACH: u32 = 5;

impl Sum {
    /// Whether a c beyond the products' reach can be added at bit 29 of 32, as `shifted` does: its first bit
    /// survives where the products stay below 2^29, as eight do, or is looked at.
    fn lies_at_29(&self) -> bool {
        let room = match self.kind {
            Kind::Parity => self.reach >= REACH - 1,
            _ => self.reach >= REACH && self.slots <= 8,
        };
        self.f + REACH == 29 && self.f2 == 31 && room
    }
}

/// Where one row and one panel lie.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) a: *const f32,
    pub(super) a_exponents: *const u8,
    pub(super) b: *const f32,
    pub(super) b_exponents: *const u8,
    /// Exponents of the row's and the panel's block scales, a group at a time, shifted by 23.
    pub(super) a_scales: *const u32,
    pub(super) b_scales: *const u32,
}

impl At {
    /// The same, so many slots and groups on.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    pub(super) unsafe fn on<V: Lanes>(self, slots: usize, groups: usize, scaled: bool) -> Self {
        let row = VECTORS * V::WIDTH;
        // SAFETY: the caller stays within the packed operands, or one group beyond their end,
        // where the packing leaves room.
        unsafe {
            Self {
                a: self.a.add(slots),
                a_exponents: self.a_exponents.add(slots),
                b: self.b.add(slots * row),
                b_exponents: self.b_exponents.add(slots * row),
                a_scales: self.a_scales.add(if scaled { groups } else { 0 }),
                b_scales: self.b_scales.add(if scaled { groups * row } else { 0 }),
            }
        }
    }
}

/// A tile's registers.
pub(in crate::cpu) type Tile<V> = [V; VECTORS];

/// `groups` groups, one after the other, each result being the next c. Gives a mask of the lanes
/// whose result is not to be used: a precondition did not hold on the way.
///
/// # Safety
/// The instruction set of `V`; `at` has the groups, and room to read one more.
#[inline(always)]
pub(super) unsafe fn chain<V: Lanes>(
    sum: &Sum,
    offsets: &Offsets,
    at: At,
    groups: usize,
    c: &mut Tile<V>,
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        let whole = match sum.finish {
            Finish::TowardZero { mask } => Some(mask == u32::MAX),
            _ => None,
        };
        let plain = whole.filter(|_| !sum.sticky && sum.c_smallest == 0 && sum.smallest == 0);
        let told = sum.suspicious < 256;
        match (sum.kind, sum.nearest, sum.may_overflow) {
            (Kind::Fused, false, false) if plain == Some(true) && told => {
                truncated::chain::<V, false, { overflow::TOLD }, false>(sum, offsets, at, groups, c)
            }
            (Kind::Fused, false, false) if plain == Some(true) => {
                truncated::chain::<V, false, { overflow::NEVER }, false>(
                    sum, offsets, at, groups, c,
                )
            }
            (Kind::Fused, false, false) if plain == Some(false) && !told => {
                truncated::chain::<V, false, { overflow::NEVER }, true>(sum, offsets, at, groups, c)
            }
            (Kind::Fused, false, true) if plain == Some(true) => {
                truncated::chain::<V, false, { overflow::HALVES }, false>(
                    sum, offsets, at, groups, c,
                )
            }
            (Kind::Scaled, false, _) if plain == Some(true) => {
                truncated::chain::<V, true, { overflow::HALVES }, false>(
                    sum, offsets, at, groups, c,
                )
            }
            (Kind::Fused, false, false) => {
                fused::<V, false, false, false>(sum, offsets, at, groups, c)
            }
            (Kind::Fused, false, true) => {
                fused::<V, false, false, true>(sum, offsets, at, groups, c)
            }
            (Kind::Fused, true, _) => fused::<V, false, true, true>(sum, offsets, at, groups, c),
            (Kind::Scaled, _, _) => fused::<V, true, false, true>(sum, offsets, at, groups, c),
            (Kind::Late, _, _) if sum.lies_at_29() => {
                late::<V, false, true>(sum, offsets, at, groups, c)
            }
            (Kind::Late, _, _) => late::<V, false, false>(sum, offsets, at, groups, c),
            (Kind::Parity, _, _) if sum.lies_at_29() => {
                late::<V, true, true>(sum, offsets, at, groups, c)
            }
            (Kind::Parity, _, _) => late::<V, true, false>(sum, offsets, at, groups, c),
        }
    }
}

/// The largest byte sums of some slots.
///
/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn largest<V: Lanes>(at: At, slots: std::ops::Range<usize>, start: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let mut found = start;
        for k in slots {
            let bytes = V::load(at.b_exponents.add(k * VECTORS * V::WIDTH).cast());
            found = found.b_max(bytes.b_add(V::b_splat(*at.a_exponents.add(k))));
        }
        found
    }
}

/// Bytes v of the lanes as exponent fields.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn fields<V: Lanes>(bytes: V, offset: V) -> Tile<V> {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let field = V::splat(FIELD);
        [
            bytes.shl::<23>().and(field).i_add(offset),
            bytes.shl::<15>().and(field).i_add(offset),
            bytes.shl::<7>().and(field).i_add(offset),
            bytes.shr::<1>().and(field).i_add(offset),
        ]
    }
}

/// What is the same in all groups.
#[derive(Clone, Copy)]
struct Constants<V> {
    offset: V,
    lowest: V,
    empty: V,
    top: V,
    start: V,
    slots: usize,
    half: usize,
}

impl At {
    /// Some slots of a group, with those of the next for the byte sums.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    pub(super) unsafe fn slots<V: Lanes>(
        &self,
        range: std::ops::Range<usize>,
        all: usize,
    ) -> Slots {
        let row = VECTORS * V::WIDTH;
        // SAFETY: as for `on`.
        unsafe {
            Slots {
                a: self.a.add(range.start),
                b: self.b.add(range.start * row),
                a_exponents: self.a_exponents.add(all + range.start),
                b_exponents: self.b_exponents.add((all + range.start) * row),
                count: range.len(),
            }
        }
    }
}

/// Four registers of a row through one group.
///
/// `HALVES`: the halves' sums are kept apart, since they may together leave i32. `bytes`: this group's largest
/// byte sums going in, the next one's coming out.
///
/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn group<V: Lanes, const SCALED: bool, const NEAREST: bool, const HALVES: bool>(
    sum: &Sum,
    constants: &Constants<V>,
    at: &At,
    smallest: u32,
    bytes: &mut V,
    tile: &mut Tile<V>,
    bad: &mut V,
) {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let zero = V::splat(0);
        let fields = fields(*bytes, constants.offset);
        let mut units = [zero; VECTORS];
        let mut scales = [zero; VECTORS];
        let mut sums = [zero; VECTORS];
        four!(|v| {
            let mut e = fields[v];
            let mut own = tile[v].and(V::splat(FIELD));
            if smallest != 0 {
                // A subnormal of a narrow format has the exponent of its field.
                let none = tile[v].and(V::splat(!SIGN)).i_equal(zero);
                own = none.not_and(own.i_max(V::splat(smallest)));
            }
            let mut shift = zero;
            if SCALED {
                shift = V::splat(*at.a_scales).i_add(V::load(at.b_scales.add(v * V::WIDTH)));
                let none = e.i_equal(constants.lowest);
                e = V::select(none, constants.empty, e.i_add(shift));
            }
            units[v] = constants.top.i_sub(e.i_max(own));
            scales[v] = if SCALED {
                units[v].i_add(shift)
            } else {
                units[v]
            };
            let aligned = tile[v].f_mul(units[v]);
            sums[v] = if NEAREST {
                aligned.f_to_i_nearest()
            } else {
                aligned.f_to_i()
            };
        });
        let (half, all) = (constants.half, constants.slots);
        let mut found = constants.start;
        let slots = at.slots::<V>(0..half, all);
        V::add_products::<NEAREST>(&slots, &scales, &mut sums, &mut found);
        if HALVES {
            let first = sums;
            sums = [zero; VECTORS];
            let slots = at.slots::<V>(half..all, all);
            V::add_products::<NEAREST>(&slots, &scales, &mut sums, &mut found);
            four!(|v| {
                let second = sums[v];
                sums[v] = first[v].i_add(second);
                *bad = bad.or(first[v].xor(sums[v]).and(second.xor(sums[v])));
            });
        }
        *bytes = found;
        four!(|v| {
            // 2^(E − F), when the unit is 2^(F − E).
            let back = V::splat(254 << 23).i_sub(units[v]);
            let whole = sums[v].i_abs();
            *bad = match HALVES {
                // −2^31 does not wrap and has no magnitude.
                true => bad.or(whole),
                false => bad.b_max(whole),
            };
            let result = finish(&sum.finish, sums[v], back);
            tile[v] = if sum.sticky {
                let infinite = tile[v].and(V::splat(!SIGN)).i_equal(V::splat(INFINITY));
                V::select(infinite, tile[v], result)
            } else {
                result
            };
        });
    }
}

/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn fused<V: Lanes, const SCALED: bool, const NEAREST: bool, const HALVES: bool>(
    sum: &Sum,
    offsets: &Offsets,
    mut at: At,
    groups: usize,
    c: &mut Tile<V>,
) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let start = V::b_splat(offsets.start);
        let constants = Constants {
            offset: V::splat(offsets.offset),
            lowest: V::splat(offsets.lowest()),
            empty: V::splat(offsets.empty),
            top: V::splat((sum.f + 254) << 23),
            start,
            slots: sum.slots,
            half: if HALVES { sum.slots / 2 } else { sum.slots },
        };
        let mut bad = V::splat(0);
        let mut bytes = largest::<V>(at, 0..sum.slots, start);
        let mut smallest = sum.c_smallest;
        let mut tile = *c;
        for _ in 0..groups {
            group::<V, SCALED, NEAREST, HALVES>(
                sum, &constants, &at, smallest, &mut bytes, &mut tile, &mut bad,
            );
            at = at.on::<V>(sum.slots, 1, SCALED);
            smallest = sum.smallest;
        }
        *c = tile;
        if HALVES {
            bad
        } else {
            // A sum that left i32 is back with a magnitude of at least this.
            bad.shr::<24>().i_greater(V::splat(sum.suspicious - 1))
        }
    }
}

/// `AT_29`: how a c far above the products is added: by `shifted`, else in f64.
///
/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn late<V: Lanes, const PARITY: bool, const AT_29: bool>(
    sum: &Sum,
    offsets: &Offsets,
    mut at: At,
    groups: usize,
    c: &mut Tile<V>,
) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let zero = V::splat(0);
        let (offset, start) = (V::splat(offsets.offset), V::b_splat(offsets.start));
        let top = V::splat((sum.f + 254) << 23);
        let drop = V::splat(sum.f << 23);
        let reach = V::splat(sum.reach << 23);
        let lowest = V::splat(offsets.lowest());
        let slots = sum.slots;
        let mut bytes = if PARITY {
            [
                largest::<V>(at, 0..slots / 2, start),
                largest::<V>(at, slots / 2..slots, start),
            ]
        } else {
            [largest::<V>(at, 0..slots, start); 2]
        };
        let mut bad = zero;
        let mut tile = *c;
        for _ in 0..groups {
            let both = if PARITY {
                bytes[0].b_max(bytes[1])
            } else {
                bytes[0]
            };
            let mut e = fields(both, offset);
            let mut scale = [zero; VECTORS];
            four!(|v| {
                // Without a non-zero product, E is c's.
                let own = tile[v].and(V::splat(FIELD));
                let none = e[v].i_equal(lowest);
                e[v] = V::select(none, e[v].i_max(own), e[v]);
                scale[v] = top.i_sub(e[v]);
            });
            let mut sums = [zero; VECTORS];
            if PARITY {
                let mut total = [zero; VECTORS];
                for (parity, bytes) in bytes.iter_mut().enumerate() {
                    let own = fields(*bytes, offset);
                    let mut scale = [zero; VECTORS];
                    four!(|v| scale[v] = top.i_sub(own[v]));
                    let mut found = start;
                    sums = [zero; VECTORS];
                    // The even k of a group come first, then the odd.
                    let from = parity * slots / 2;
                    let half = at.slots::<V>(from..from + slots / 2, slots);
                    V::add_products::<false>(&half, &scale, &mut sums, &mut found);
                    *bytes = found;
                    four!(|v| {
                        let down = e[v].i_sub(own[v]).shr::<23>();
                        total[v] = total[v].i_add(sums[v].sar_by(down));
                    });
                }
                sums = total;
            } else {
                let mut found = start;
                let all = at.slots::<V>(0..slots, slots);
                V::add_products::<false>(&all, &scale, &mut sums, &mut found);
                bytes = [found; 2];
            }
            at = at.on::<V>(slots, 0, false);
            four!(|v| {
                let own = tile[v].and(V::splat(FIELD));
                let far = own.i_greater(e[v].i_add(reach));
                let mut shift = zero;
                if AT_29 {
                    let above = own.i_sub(e[v].i_add(V::splat(REACH << 23)));
                    shift = above.i_max(zero);
                }
                let unit = scale[v].i_sub(shift);
                let mut late = tile[v].f_mul(unit).f_floor().f_to_i();
                if PARITY {
                    let below = own.i_add(V::splat((sum.f + 1) << 23));
                    late = e[v].i_greater(below).not_and(late);
                }
                let unit = e[v].i_sub(drop);
                tile[v] = if AT_29 {
                    let total = shifted::<V, PARITY>(sums[v], late, shift, &mut bad);
                    total.i_to_f().f_mul(unit.i_add(shift))
                } else {
                    let result = sums[v].i_add(late).i_to_f().f_mul(unit);
                    if far.top_bits() == 0 {
                        result
                    } else {
                        V::select(far, beyond(sum, sums[v], e[v], tile[v], own), result)
                    }
                };
            });
        }
        *c = tile;
        bad
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

/// `total · 2^unit`, rounded; `unit` as the bits of the f32 that is that power.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn finish<V: Lanes>(finish: &Finish, total: V, unit: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let sign = total.and(V::splat(SIGN));
        match *finish {
            Finish::Nearest => total.i_to_f().f_mul(unit),
            Finish::TowardZero { mask } => {
                let result = total.i_to_f_toward_zero().f_mul(unit);
                if mask == u32::MAX {
                    return result;
                }
                // What is left of a negative number may be a zero, which is +0: it is not, since
                // the sum's first bit is kept.
                result.and(V::splat(mask))
            }
            Finish::NearestAt(narrow) => {
                // To odd at 24 bits, so that the second rounding sees what was lost.
                let magnitude = total.i_abs();
                let kept = toward_zero(magnitude);
                let exact = kept.f_to_i().i_equal(magnitude);
                let odd = kept.or(exact.not_and(V::splat(1)));
                round_at(&narrow, odd.f_mul(unit), sign)
            }
        }
    }
}

/// A non-negative i32 as f32, toward zero. Clearing bits of x>>24 clears the first bit that is
/// discarded and none that is kept, so that rounding to nearest goes down.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn toward_zero<V: Lanes>(magnitude: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe { magnitude.shr::<24>().not_and(magnitude).i_to_f() }
}

/// A magnitude rounded to nearest even at a narrower format, with a sign if it is not zero.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn round_at<V: Lanes>(narrow: &Narrow, magnitude: V, sign: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        if narrow.wide {
            // Words of one sign lie as their values do, subnormals and ∞ too: half a last place, less
            // one unless the last bit kept is set, carries where it has to.
            let drop = 23 - narrow.bits;
            let last = magnitude.sar_by(V::splat(drop)).and(V::splat(1));
            let half = V::splat((1 << drop >> 1) - 1).i_add(last);
            let rounded = magnitude.i_add(half).and(V::splat(u32::MAX << drop));
            let zero = rounded.i_equal(V::splat(0));
            return rounded.or(zero.not_and(sign));
        }
        let field = magnitude
            .and(V::splat(FIELD))
            .i_max(V::splat(narrow.smallest));
        // 1.5 · 2^(e + 23 − bits): the sum's last place is that of the result.
        let shift = V::splat((23 - narrow.bits) << 23 | 1 << 22);
        let anchor = field.i_add(shift);
        let rounded = magnitude.f_add(anchor).f_sub(anchor);
        let over = rounded.i_greater(V::splat(narrow.largest));
        let rounded = V::select(over, V::splat(INFINITY), rounded);
        let zero = rounded.i_equal(V::splat(0));
        rounded.or(zero.not_and(sign))
    }
}

/// An f32 of any class rounded to nearest even at a narrower format (§3: `convert`, `add`), by the
/// rules of IEEE 754; a NaN stays one.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn narrowed<V: Lanes>(narrow: &Narrow, x: V, signed_zero: bool) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let sign = x.and(V::splat(SIGN));
        let magnitude = x.and(V::splat(!SIGN));
        let special = magnitude.i_greater(V::splat(INFINITY - 1));
        // Twice the largest number overflows like any larger one, and leaves room for the anchor.
        let rounded = if narrow.wide {
            magnitude
        } else {
            magnitude.i_min(V::splat(narrow.largest + (1 << 23)))
        };
        let rounded = round_at(narrow, rounded, sign);
        let rounded = if signed_zero {
            rounded.or(sign)
        } else {
            rounded
        };
        V::select(special, x, rounded)
    }
}
