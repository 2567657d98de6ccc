//! The kernels for fused sums in 32-bit lanes: T-FDPA and ST-FDPA here, TR-FDPA and GTR-FDPA in `late`,
//! sums whose products alone choose the grid in `outside`, sums that do not fit 32 bits in `parts` and `split`.
//!
//! A product of two significands of together at most 24 bits is exact in f32. Multiplied by
//! 2^(F−E) it is again exact, or far below 1; the conversion to an integer is then the alignment of
//! §2.2 step 4 itself: toward zero, to nearest even, down or up. The sum is a sum of i32, and one conversion
//! back rounds it. E comes from one byte a product, added and compared for four vectors at once.
//!
//! Each register holds as many columns as it has lanes; a tile is one row by four registers.

use super::late::late;
use super::outside::outside;
use super::parts::parts;
use super::rounding::{added_each, finished};
use super::split::split;
use super::truncated;
use crate::cpu::lanes::{Lanes, Slots, VECTORS, apart, four, overflow, rows, terms, two};
use crate::cpu::range::C_HIGH;
use crate::cpu::sum::{Direction, Finish, Offsets, Sum};
use crate::shape::SumKind;

/// Sign bit of an f32.
pub(super) const SIGN: u32 = 1 << 31;
/// Exponent field of an f32.
pub(super) const FIELD: u32 = 0xff << 23;
/// What |c| stays below, as f32.
pub(super) const C_LIMIT: u32 = ((C_HIGH + 127) as u32) << 23;
/// +∞ as f32.
pub(super) const INFINITY: u32 = FIELD;
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

/// An expression with a constant of [`terms`] for terms known at run time.
macro_rules! by_terms {
    ($terms:expr, |$constant:ident| $body:expr) => {{
        macro_rules! by {
            ($value:ident) => {{
                const $constant: u8 = terms::$value;
                $body
            }};
        }
        match $terms {
            Direction::TowardZero => by!(ZERO),
            Direction::Nearest => by!(NEAREST),
            Direction::Down => by!(DOWN),
            Direction::Up => by!(UP),
        }
    }};
}

/// A tile's registers.
pub(in crate::cpu) type Tile<V> = [V; VECTORS];

/// `groups` groups of each row, one after the other, each result being the next c. Gives a mask of the lanes whose
/// result is not to be used: a precondition did not hold on the way. Of two rows only sums by
/// [`Sum::is_by_two`].
///
/// # Safety
/// The instruction set of `V`; `at` has the groups, and room to read one more; of two rows the columns are the same.
#[inline(always)]
pub(super) unsafe fn chain<V: Lanes, const ROWS: usize>(
    sum: &Sum,
    offsets: &Offsets,
    at: [At; ROWS],
    groups: usize,
    c: &mut [Tile<V>; ROWS],
) -> V {
    /// A kernel for these, as a function of its own where lanes are loops.
    macro_rules! run {
        ($($kernel:tt)*) => {
            apart!(V, $($kernel)*(sum, offsets, at, groups, c))
        };
    }
    /// The same for kernels that take one row.
    macro_rules! run_one {
        ($($kernel:tt)*) => {{
            assert!(ROWS == 1, "two rows of a sum that has a kernel for one");
            apart!(V, $($kernel)*(sum, offsets, at[0], groups, &mut c[0]))
        }};
    }
    // SAFETY: as the caller promises.
    unsafe {
        let whole = match sum.finish {
            Finish::TowardZero { mask } => Some(mask == u32::MAX),
            _ => None,
        };
        let plain = whole.filter(|_| sum.is_plain());
        let told = sum.suspicious < 256;
        match (sum.kind, sum.terms, sum.may_overflow) {
            (_, terms, _) if sum.part == 1 || V::LONG && sum.part < sum.slots => {
                by_terms!(terms, |TERMS| split::<V, ROWS, TERMS>(
                    sum, offsets, at, groups, c
                ))
            }
            (_, terms, _) if sum.part < sum.slots => {
                by_terms!(terms, |TERMS| run_one!(parts::<V, TERMS>))
            }
            (SumKind::Fused, Direction::TowardZero, false) if plain == Some(true) && told => {
                run!(truncated::chain::<V, ROWS, false, { overflow::TOLD }, false>)
            }
            (SumKind::Fused, Direction::TowardZero, false) if plain == Some(true) => {
                run!(truncated::chain::<V, ROWS, false, { overflow::NEVER }, false>)
            }
            (SumKind::Fused, Direction::TowardZero, false) if plain == Some(false) && !told => {
                run!(truncated::chain::<V, ROWS, false, { overflow::NEVER }, true>)
            }
            (SumKind::Fused, Direction::TowardZero, true) if plain == Some(true) => {
                run!(truncated::chain::<V, ROWS, false, { overflow::HALVES }, false>)
            }
            (SumKind::Scaled, Direction::TowardZero, _) if plain == Some(true) => {
                run!(truncated::chain::<V, ROWS, true, { overflow::HALVES }, false>)
            }
            (SumKind::Fused, Direction::TowardZero, false) if told => {
                run_one!(fused::<V, false, { terms::ZERO }, { overflow::TOLD }>)
            }
            (SumKind::Fused, terms, false) => {
                by_terms!(terms, |TERMS| run_one!(
                    fused::<V, false, TERMS, { overflow::NEVER }>
                ))
            }
            (SumKind::Fused, terms, true) => {
                by_terms!(terms, |TERMS| run_one!(
                    fused::<V, false, TERMS, { overflow::HALVES }>
                ))
            }
            (SumKind::Scaled, _, _) => {
                run_one!(fused::<V, true, { terms::ZERO }, { overflow::HALVES }>)
            }
            (SumKind::Late, _, _) if sum.lies_at_29() => run!(late::<V, ROWS, false, true>),
            (SumKind::Late, _, _) => run!(late::<V, ROWS, false, false>),
            (SumKind::Outside, terms, _) => {
                by_terms!(terms, |TERMS| run_one!(outside::<V, TERMS>))
            }
            (SumKind::Parity, _, _) if sum.lies_at_29() => run!(late::<V, ROWS, true, true>),
            (SumKind::Parity, _, _) => run!(late::<V, ROWS, true, false>),
        }
    }
}

/// Products of each row by the same columns: some slots of a group of `all`.
///
/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn add_products<V: Lanes, const ROWS: usize, const TERMS: u8>(
    at: &[At; ROWS],
    range: std::ops::Range<usize>,
    all: usize,
    scales: &[Tile<V>; ROWS],
    sums: &mut [Tile<V>; ROWS],
    found: &mut [V; ROWS],
) {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        if V::TWO && ROWS == 2 {
            let slots = [0, 1].map(|r| at[r].slots::<V>(range.clone(), all));
            let (mut both, mut bytes) = ([sums[0], sums[1]], [found[0], found[1]]);
            let scales = [scales[0], scales[1]];
            V::add_products_two::<TERMS>(&slots, &scales, &mut both, &mut bytes);
            two!(|r| (sums[r], found[r]) = (both[r], bytes[r]));
            return;
        }
        rows!(ROWS, |r| {
            let slots = at[r].slots::<V>(range.clone(), all);
            V::add_products::<TERMS>(&slots, &scales[r], &mut sums[r], &mut found[r]);
        });
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
            let bytes = V::load_bytes(at.b_exponents.add(k * VECTORS * V::WIDTH));
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

/// The exponent field with which c takes part; `smallest`: that of a subnormal of a narrow format, 0 where c is f32.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn own_field<V: Lanes>(c: V, smallest: u32) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let own = c.and(V::splat(FIELD));
        if smallest == 0 {
            return own;
        }
        let none = c.and(V::splat(!SIGN)).i_equal(V::splat(0));
        none.not_and(own.i_max(V::splat(smallest)))
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

/// What was seen of all groups.
struct Seen<V> {
    /// The sums that leave i32, as a constant of [`overflow`] says it.
    bad: V,
    /// The largest magnitude of results that may leave the domain of c.
    most: V,
}

/// Four registers of a row through one group.
///
/// `OVERFLOW`: a constant of [`overflow`]. `bytes`: this group's largest byte sums going in, the next one's coming
/// out.
///
/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn group<V: Lanes, const SCALED: bool, const TERMS: u8, const OVERFLOW: u8>(
    sum: &Sum,
    constants: &Constants<V>,
    at: &At,
    smallest: u32,
    bytes: &mut V,
    tile: &mut Tile<V>,
    seen: &mut Seen<V>,
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
            let own = own_field(tile[v], smallest);
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
            sums[v] = aligned.converted::<TERMS>();
        });
        let halves = OVERFLOW == overflow::HALVES;
        let (half, all) = (constants.half, constants.slots);
        let mut found = constants.start;
        let slots = at.slots::<V>(0..half, all);
        V::add_products::<TERMS>(&slots, &scales, &mut sums, &mut found);
        if halves {
            let first = sums;
            sums = [zero; VECTORS];
            let slots = at.slots::<V>(half..all, all);
            V::add_products::<TERMS>(&slots, &scales, &mut sums, &mut found);
            four!(|v| {
                let second = sums[v];
                sums[v] = first[v].i_add(second);
                seen.bad = seen.bad.or(first[v].xor(sums[v]).and(second.xor(sums[v])));
            });
        }
        *bytes = found;
        let grows = sum.grows();
        // (A unit is 2^(F − E); a sum times 2^(E − F) is the result.)
        let results = finished(&sum.finish, &sums, &units);
        four!(|v| {
            match OVERFLOW {
                // −2^31 does not wrap and has no magnitude.
                overflow::HALVES => seen.bad = seen.bad.or(sums[v].i_abs()),
                overflow::TOLD => seen.bad = seen.bad.b_max(sums[v].i_abs()),
                _ => {}
            }
            tile[v] = if sum.sticky {
                let infinite = tile[v].and(V::splat(!SIGN)).i_equal(V::splat(INFINITY));
                V::select(infinite, tile[v], results[v])
            } else {
                results[v]
            };
            // A result may leave the domain of the next group's c.
            if grows {
                seen.most = seen.most.i_max(tile[v].and(V::splat(!SIGN)));
            }
        });
    }
}

/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn fused<V: Lanes, const SCALED: bool, const TERMS: u8, const OVERFLOW: u8>(
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
            half: match OVERFLOW {
                overflow::HALVES => sum.slots / 2,
                _ => sum.slots,
            },
        };
        let zero = V::splat(0);
        let mut seen = Seen {
            bad: zero,
            most: zero,
        };
        let mut bytes = largest::<V>(at, 0..sum.slots, start);
        let mut smallest = sum.c_smallest;
        let mut tile = *c;
        // Where c is no term, it lies here, and a sum has so many more groups.
        let mut outside = *c;
        let mut more = 0;
        for _ in 0..groups {
            if let Some(after) = &sum.after {
                if more == 0 {
                    (tile, smallest, more) = ([zero; VECTORS], 0, after.groups);
                }
                more -= 1;
            }
            group::<V, SCALED, TERMS, OVERFLOW>(
                sum, &constants, &at, smallest, &mut bytes, &mut tile, &mut seen,
            );
            at = at.on::<V>(sum.slots, 1, SCALED);
            smallest = sum.smallest;
            if let (Some(after), 0) = (&sum.after, more) {
                added_each(&after.round, &mut outside, &tile);
            }
        }
        *c = match sum.after {
            Some(_) => outside,
            None => tile,
        };
        let bad = match OVERFLOW {
            // A sum that left i32 is back with a magnitude of at least this.
            overflow::TOLD => seen.bad.shr::<24>().i_greater(V::splat(sum.suspicious - 1)),
            _ => seen.bad,
        };
        bad.or(seen.most.i_greater(V::splat(C_LIMIT - 1)))
    }
}
