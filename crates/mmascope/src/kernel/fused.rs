//! The fused sums (T-FDPA, ST-FDPA, TR-FDPA, GTR-FDPA) in 32-bit lanes.
//!
//! A product of two significands of together at most 24 bits is exact in f32. Multiplied by
//! 2^(F−E) it is again exact, or far below 1; the conversion to an integer is then the alignment of
//! §2.2 step 4 itself: toward zero, or to nearest even. The sum is a sum of i32, and one conversion
//! back rounds it. E comes from one byte a product, added and compared for four vectors at once.
//!
//! Each register holds as many columns as it has lanes; a tile is one row by four registers.

use super::lanes::Lanes;

/// Sign bit of an f32.
const SIGN: u32 = 1 << 31;
/// Exponent field of an f32.
const FIELD: u32 = 0xff << 23;
/// +∞ as f32.
const INFINITY: u32 = FIELD;
/// Registers of a tile.
pub(super) const VECTORS: usize = 4;

/// How the terms and c come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// §2.2: c is one more term.
    Fused,
    /// §2.3: so, with a block scale for the group.
    Scaled,
    /// §2.7: the products first, then c, floored.
    Late,
    /// §2.8: even and odd products apart, then c.
    Parity,
}

/// The final rounding of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// Toward zero, keeping these bits of an f32.
    TowardZero { mask: u32 },
    /// To nearest even, f32.
    Nearest,
    /// To nearest even at fewer bits than f32 has.
    NearestAt(Narrow),
}

/// A format with fewer fraction bits than f32, perhaps with fewer exponents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Narrow {
    /// Fraction bits.
    pub(super) bits: u32,
    /// Field of the smallest normal number, as f32 bits; 0 where f32 has the same.
    pub(super) smallest: u32,
    /// The largest finite number, as f32 bits.
    pub(super) largest: u32,
}

/// One fused sum with its constants; exponents are f32 fields in place (shifted by 23).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    pub(super) kind: Kind,
    /// Slots of a group: an even number.
    pub(super) slots: usize,
    /// F.
    pub(super) f: u32,
    /// Terms are rounded to nearest even instead of toward zero.
    pub(super) nearest: bool,
    /// The two half sums may together leave i32, and what comes of that is not told by its size.
    pub(super) may_overflow: bool,
    /// Sums whose magnitude has at least this first byte may have left i32; 256 when none can.
    pub(super) suspicious: u32,
    pub(super) finish: Finish,
    /// Exponent field of a subnormal c of a narrow format; 0 when c is f32.
    pub(super) c_smallest: u32,
    /// The same of the results, which are the next groups' c.
    pub(super) smallest: u32,
    /// c may become ∞ on the way.
    pub(super) sticky: bool,
    /// [`Kind::Late`], [`Kind::Parity`]: how far c's exponent may lie above the products'.
    pub(super) reach: u32,
    /// [`Kind::Late`], [`Kind::Parity`]: F2.
    pub(super) f2: u32,
}

/// What depends on the operands' range of exponents.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offsets {
    /// Added to the sum of two exponent bytes, shifted by 23, to give an exponent field.
    pub(super) offset: u32,
    /// The smallest byte sum: that of the floor of E.
    pub(super) start: u8,
    /// Where no product is non-zero: the smallest E, as a field.
    pub(super) empty: u32,
}

impl Offsets {
    /// The field of the smallest byte sum.
    #[inline(always)]
    pub(super) fn lowest(&self) -> u32 {
        self.offset.wrapping_add(u32::from(self.start) << 23)
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
pub(super) type Tile<V> = [V; VECTORS];

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
        let truncates = matches!(sum.finish, Finish::TowardZero { .. });
        let plain = truncates && !sum.sticky && sum.c_smallest == 0 && sum.smallest == 0;
        let halves = sum.may_overflow;
        match (sum.kind, sum.nearest, halves) {
            (Kind::Fused, false, false) if plain => {
                fused::<V, false, false, true, false>(sum, offsets, at, groups, c)
            }
            (Kind::Fused, false, true) if plain => {
                fused::<V, false, false, true, true>(sum, offsets, at, groups, c)
            }
            (Kind::Fused, false, false) => {
                fused::<V, false, false, false, false>(sum, offsets, at, groups, c)
            }
            (Kind::Fused, false, true) => {
                fused::<V, false, false, false, true>(sum, offsets, at, groups, c)
            }
            (Kind::Fused, true, _) => {
                fused::<V, false, true, false, true>(sum, offsets, at, groups, c)
            }
            (Kind::Scaled, _, _) if plain => {
                fused::<V, true, false, true, true>(sum, offsets, at, groups, c)
            }
            (Kind::Scaled, _, _) => {
                fused::<V, true, false, false, true>(sum, offsets, at, groups, c)
            }
            (Kind::Late, _, _) => late::<V, false>(sum, offsets, at, groups, c),
            (Kind::Parity, _, _) => late::<V, true>(sum, offsets, at, groups, c),
        }
    }
}

/// A body for each of the four registers. Written out: as a loop over four, LLVM keeps it a loop, with
/// the registers in memory, and the kernel loses a third.
macro_rules! four {
    (|$v:ident| $body:expr) => {{
        {
            let $v = 0;
            $body;
        }
        {
            let $v = 1;
            $body;
        }
        {
            let $v = 2;
            $body;
        }
        {
            let $v = 3;
            $body;
        }
    }};
}

pub(super) use four;

/// The byte sums of one slot.
macro_rules! exponents {
    ($v:ty, $at:expr, $k:expr) => {
        <$v>::b_splat(*$at.a_exponents.add($k)).b_add(<$v>::load(
            $at.b_exponents.add($k * VECTORS * <$v>::WIDTH).cast(),
        ))
    };
}

/// The largest byte sums of every `STRIDE`th slot.
#[inline(always)]
unsafe fn largest<V: Lanes, const STRIDE: usize>(at: At, from: usize, slots: usize, start: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let mut found = start;
        let mut k = from;
        while k < slots {
            found = found.b_max(exponents!(V, at, k));
            k += STRIDE;
        }
        found
    }
}

/// Products of every `STRIDE`th slot: multiplied, scaled, converted, added; and the next group's byte
/// sums, which find free ports between them.
#[inline(always)]
unsafe fn products<V: Lanes, const NEAREST: bool, const STRIDE: usize>(
    at: &At,
    next: &At,
    slots: std::ops::Range<usize>,
    scale: &Tile<V>,
    sums: &mut Tile<V>,
    found: &mut V,
) {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        macro_rules! slot {
            ($k:expr) => {
                let k = $k;
                let a = V::splat((*at.a.add(k)).to_bits());
                let b = at.b.add(k * VECTORS * V::WIDTH).cast::<u32>();
                four!(|v| {
                    let aligned = a.f_mul(V::load(b.add(v * V::WIDTH))).f_mul(scale[v]);
                    let term = if NEAREST {
                        aligned.f_to_i_nearest()
                    } else {
                        aligned.f_to_i()
                    };
                    sums[v] = sums[v].i_add(term);
                });
                *found = found.b_max(exponents!(V, next, k));
            };
        }
        let mut k = slots.start;
        while k + STRIDE < slots.end {
            slot!(k);
            slot!(k + STRIDE);
            k += 2 * STRIDE;
        }
        if k < slots.end {
            slot!(k);
        }
    }
}

/// Bytes v of the lanes as exponent fields.
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
    mask: V,
    start: V,
    slots: usize,
    half: usize,
}

/// Four registers of a row through one group.
///
/// `PLAIN`: results are truncated and c is f32 and stays finite. `HALVES`: the halves' sums are kept apart,
/// since they may together leave i32. `bytes`: this group's largest byte sums going in, the next one's
/// coming out.
#[inline(always)]
unsafe fn group<
    V: Lanes,
    const SCALED: bool,
    const NEAREST: bool,
    const PLAIN: bool,
    const HALVES: bool,
>(
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
        let field = V::splat(FIELD);
        let fields = [
            bytes.shl::<23>().and(field).i_add(constants.offset),
            bytes.shl::<15>().and(field).i_add(constants.offset),
            bytes.shl::<7>().and(field).i_add(constants.offset),
            bytes.shr::<1>().and(field).i_add(constants.offset),
        ];
        let mut units = [zero; VECTORS];
        let mut scales = [zero; VECTORS];
        let mut sums = [zero; VECTORS];
        four!(|v| {
            let mut e = fields[v];
            let mut own = tile[v].and(field);
            if !PLAIN && smallest != 0 {
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
        let row = VECTORS * V::WIDTH;
        let mut b = at.b.cast::<u32>();
        let mut a = at.a;
        let mut a_next = at.a_exponents.add(constants.slots);
        let mut b_next = at.b_exponents.add(constants.slots * row);
        let mut found = constants.start;
        macro_rules! slot {
            ($k:expr) => {
                let x = V::splat((*a.add($k)).to_bits());
                four!(|v| {
                    let product = x.f_mul(V::load(b.add($k * row + v * V::WIDTH)));
                    let aligned = product.f_mul(scales[v]);
                    let term = if NEAREST {
                        aligned.f_to_i_nearest()
                    } else {
                        aligned.f_to_i()
                    };
                    sums[v] = sums[v].i_add(term);
                });
                let byte = V::b_splat(*a_next.add($k));
                let bytes = V::load(b_next.add($k * row).cast()).b_add(byte);
                found = found.b_max(bytes);
            };
        }
        macro_rules! slots {
            ($count:expr) => {
                let mut left = $count;
                while left >= 4 {
                    slot!(0);
                    slot!(1);
                    slot!(2);
                    slot!(3);
                    a = a.add(4);
                    b = b.add(4 * row);
                    a_next = a_next.add(4);
                    b_next = b_next.add(4 * row);
                    left -= 4;
                }
                while left > 0 {
                    slot!(0);
                    a = a.add(1);
                    b = b.add(row);
                    a_next = a_next.add(1);
                    b_next = b_next.add(row);
                    left -= 1;
                }
            };
        }
        slots!(constants.half);
        if HALVES {
            let first = sums;
            sums = [zero; VECTORS];
            slots!(constants.slots - constants.half);
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
            if PLAIN {
                let magnitude = sums[v].i_abs();
                if !HALVES {
                    *bad = bad.b_max(magnitude);
                }
                let sign = sums[v].and(V::splat(SIGN));
                let result = toward_zero(magnitude).f_mul(back).or(sign);
                tile[v] = result.and(constants.mask);
            } else {
                if !HALVES {
                    *bad = bad.b_max(sums[v].i_abs());
                }
                let result = finish(&sum.finish, sums[v], back);
                tile[v] = if sum.sticky {
                    let infinite = tile[v].and(V::splat(!SIGN)).i_equal(V::splat(INFINITY));
                    V::select(infinite, tile[v], result)
                } else {
                    result
                };
            }
        });
    }
}

#[inline(always)]
unsafe fn fused<
    V: Lanes,
    const SCALED: bool,
    const NEAREST: bool,
    const PLAIN: bool,
    const HALVES: bool,
>(
    sum: &Sum,
    offsets: &Offsets,
    mut at: At,
    groups: usize,
    c: &mut Tile<V>,
) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let start = V::b_splat(offsets.start);
        let mask = match sum.finish {
            Finish::TowardZero { mask } => mask,
            _ => u32::MAX,
        };
        let constants = Constants {
            offset: V::splat(offsets.offset),
            lowest: V::splat(offsets.lowest()),
            empty: V::splat(offsets.empty),
            top: V::splat((sum.f + 254) << 23),
            mask: V::splat(mask),
            start,
            slots: sum.slots,
            half: if HALVES { sum.slots / 2 } else { sum.slots },
        };
        let mut bad = V::splat(0);
        let mut bytes = largest::<V, 1>(at, 0, sum.slots, start);
        let mut smallest = sum.c_smallest;
        let mut tile = *c;
        for _ in 0..groups {
            group::<V, SCALED, NEAREST, PLAIN, HALVES>(
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

#[inline(always)]
unsafe fn late<V: Lanes, const PARITY: bool>(
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
                largest::<V, 2>(at, 0, slots, start),
                largest::<V, 2>(at, 1, slots, start),
            ]
        } else {
            [largest::<V, 1>(at, 0, slots, start); 2]
        };
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
            let next = at.on::<V>(slots, 0, false);
            let mut sums = [zero; VECTORS];
            if PARITY {
                let mut total = [zero; VECTORS];
                for (parity, bytes) in bytes.iter_mut().enumerate() {
                    let own = fields(*bytes, offset);
                    let mut scale = [zero; VECTORS];
                    four!(|v| scale[v] = top.i_sub(own[v]));
                    let mut found = start;
                    sums = [zero; VECTORS];
                    let all = parity..slots;
                    products::<V, false, 2>(&at, &next, all, &scale, &mut sums, &mut found);
                    *bytes = found;
                    four!(|v| {
                        let down = e[v].i_sub(own[v]).shr::<23>();
                        total[v] = total[v].i_add(sums[v].sar_by(down));
                    });
                }
                sums = total;
            } else {
                let mut found = start;
                products::<V, false, 1>(&at, &next, 0..slots, &scale, &mut sums, &mut found);
                bytes = [found; 2];
            }
            at = next;
            four!(|v| {
                let own = tile[v].and(V::splat(FIELD));
                let mut late = tile[v].f_mul(scale[v]).f_floor().f_to_i();
                if PARITY {
                    let far = own.i_add(V::splat((sum.f + 1) << 23));
                    late = e[v].i_greater(far).not_and(late);
                }
                let result = sums[v].i_add(late).i_to_f().f_mul(e[v].i_sub(drop));
                let far = own.i_greater(e[v].i_add(reach));
                tile[v] = if far.top_bits() == 0 {
                    result
                } else {
                    V::select(far, beyond(sum, sums[v], e[v], tile[v], own), result)
                };
            });
        }
        *c = tile;
        zero
    }
}

/// §2.7 steps 3 and 4 for a c whose exponent `own` lies above that of the products, `e`: in f64,
/// where both are whole numbers of 2^(own − F2 − 1) and stay below 2^53.
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
#[inline(always)]
unsafe fn finish<V: Lanes>(finish: &Finish, total: V, unit: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let sign = total.and(V::splat(SIGN));
        match *finish {
            Finish::Nearest => total.i_to_f().f_mul(unit),
            Finish::TowardZero { mask } => {
                let result = toward_zero(total.i_abs()).f_mul(unit).or(sign);
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
#[inline(always)]
unsafe fn toward_zero<V: Lanes>(magnitude: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe { magnitude.shr::<24>().not_and(magnitude).i_to_f() }
}

/// A magnitude rounded to nearest even at a narrower format, with a sign if it is not zero.
#[inline(always)]
unsafe fn round_at<V: Lanes>(narrow: &Narrow, magnitude: V, sign: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
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
#[inline(always)]
pub(super) unsafe fn narrowed<V: Lanes>(narrow: &Narrow, x: V, signed_zero: bool) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let sign = x.and(V::splat(SIGN));
        let magnitude = x.and(V::splat(!SIGN));
        let special = magnitude.i_greater(V::splat(INFINITY - 1));
        // Twice the largest number overflows like any larger one, and leaves room for the anchor.
        let rounded = match narrow.smallest {
            0 => magnitude,
            _ => magnitude.i_min(V::splat(narrow.largest + (1 << 23))),
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
