//! The exponents that packed operands may have, and the conditions on c that follow.
//!
//! Everything the fused kernel takes for granted is here. With products' exponents in [low, high]
//! and E at least `floor`:
//!
//! * products are exact in f32: 2^(low − 22) is normal, 2^(high + 2) finite;
//! * bytes show exponents: the two ranges together are at most 125 binades, so that the byte of a
//!   zero (0) plus any other lies below that of the smallest product;
//! * 2^(F − E) and 2^(E − F) are normal numbers, because −126 + F ≤ floor and E < 2^7 − 24;
//! * a c that is 0, or at least 2^floor, or a multiple of 2^(floor − F), and below 2^100, stays so:
//!   results are multiples of 2^(E − F), and 2^28 products add less than 2^100. A program that adds values outside its
//!   sums may cancel c down to its last bits: there c is a multiple of 2^(floor − F) whatever its size.
//!
//! Where terms are rounded toward an infinity, the smallest product counts however far it lies below the grid, so that it
//! must not vanish in f32 when it is scaled: 2^(least + F − E) ≥ 2^-149, where `least` is the exponent of the smallest
//! product's value, which lies below `low` for subnormal operands. (Then c does not vanish either: it is at least
//! 2^(low − F), and only c itself lifts E above products.) There each term may add a unit of the grid, so that results grow
//! beyond 2^100 in a few steps: the kernel looks at each of them. So may results that are themselves rounded down or up, by a last
//! place each.
//!
//! Products so small that every sum of them rounds to a zero leave nothing of a result but its sign. Operands are
//! then moved up by powers of two, each result becomes a zero with its sign, and c has to be a zero.

use super::decoder::Decoder;
use super::exponents::{self, Window};
use super::plan::{Plan, Stage};
use super::sum::Offsets;
use crate::engine::Elements;
use crate::shape::SumKind;

/// Smallest and largest exponent of a product.
const LOW: i32 = -100;
const HIGH: i32 = 66;
/// Two ranges together.
const SPAN: i32 = 125;
/// |c| stays below 2^this.
pub(super) const C_HIGH: i32 = 100;
/// Exponent of the smallest number of f32.
const TINIEST: i32 = -149;
/// A sum below this power of two rounds to a zero of f32, whatever its last place was rounded to on the way.
const NOTHING: i32 = -151;
/// Smallest exponent of operands that are moved up.
const MOVED: i32 = -30;
/// Around the median exponent, when the data spread further than a window.
const BELOW: i32 = 44;
const ABOVE: i32 = 18;

/// The domain of c, for lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Domain {
    /// From here on (f32 bits) any c is right.
    pub(super) from: u32,
    /// Up to here, exclusive.
    pub(super) below: u32,
    /// Below `from`: c times this is a whole number.
    pub(super) grain: f32,
}

/// What packing and kernel need to know of the exponents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranges {
    pub(super) a: Window,
    pub(super) b: Window,
    pub(super) offsets: Offsets,
    pub(super) domain: Domain,
    /// Scales outside ± this are not carried.
    pub(super) scale_limit: i32,
    /// Native sums have to be flushed after each operation.
    pub(super) flush: bool,
    /// Powers of two that A and B are moved up by, where every result is a zero.
    pub(super) vanishing: Option<[i32; 2]>,
}

impl Ranges {
    /// Chosen from the formats where all their numbers fit, else from the operands themselves;
    /// `None` when no window holds a useful part of them.
    pub(super) fn of(plan: &Plan, elements: &dyn Elements) -> Option<Self> {
        if plan.native {
            return Some(Self::native(plan, elements));
        }
        let full = |decoder: &Decoder| {
            let (low, high) = decoder.fields();
            (low as i32 - 127, high as i32 - 127)
        };
        let formats = [full(&plan.a), full(&plan.b)];
        if let Some(ranges) = Self::with(plan, formats, [i32::MIN; 2]) {
            return Some(ranges);
        }
        let mut a = exponents::extent_a(elements, &plan.a);
        let mut b = exponents::extent_b(elements, &plan.b);
        let mut vanish = [i32::MIN; 2];
        if let (true, Some(e0)) = (plan.vanishes, plan.e0) {
            // |p| < 2^(e(p)+2) ≤ 2^(e0−F−1) truncates and rounds to nothing, whatever E is.
            let nothing = e0 - plan.f as i32 - 4;
            vanish = [nothing - b.1, nothing - a.1];
            a = (a.0.max(vanish[0] + 1), a.1.max(vanish[0] + 1));
            b = (b.0.max(vanish[1] + 1), b.1.max(vanish[1] + 1));
        }
        if let Some(ranges) = Self::with(plan, [a, b], vanish) {
            return Some(ranges);
        }
        if let Some(ranges) = Self::vanishing(plan, [a, b]) {
            return Some(ranges);
        }
        let below = if is_directed(plan) { BELOW / 2 } else { BELOW };
        let narrowed = |(low, high): (i32, i32), counts: &[u64]| {
            let median = median(counts);
            (low.max(median - below), high.min(median + ABOVE).max(low))
        };
        let a = narrowed(a, &exponents::histogram_a(elements, &plan.a));
        let b = narrowed(b, &exponents::histogram_b(elements, &plan.b));
        Self::with(plan, [a, b], vanish)
    }

    /// Native arithmetic: every finite operand. Subnormal results are out of the question when all
    /// products are multiples of 2^-126, and c too.
    fn native(plan: &Plan, elements: &dyn Elements) -> Self {
        let all = Window {
            vanish: 1,
            low: 1,
            high: 254,
            first: 0,
        };
        let last_place = |decoder: &Decoder, low: i32| low - decoder.fraction_bits() as i32;
        let low = |decoder: &Decoder| decoder.fields().0 as i32 - 127;
        let normal = |a: i32, b: i32| last_place(&plan.a, a) + last_place(&plan.b, b) >= -126;
        let flush = plan.flushes
            && !normal(low(&plan.a), low(&plan.b))
            && !normal(
                exponents::extent_a(elements, &plan.a).0,
                exponents::extent_b(elements, &plan.b).0,
            );
        Self {
            a: all,
            b: all,
            offsets: Offsets::default(),
            domain: Domain {
                from: if flush { 0 } else { 27 << 23 },
                below: 0x7f80_0000,
                grain: 1.0,
            },
            scale_limit: 0,
            flush,
            vanishing: None,
        }
    }

    /// Where every sum of products rounds to a zero: with operands moved up.
    fn vanishing(plan: &Plan, [a, b]: [(i32, i32); 2]) -> Option<Self> {
        let slots = match plan.stages[..] {
            [Stage::Sum { sum, .. }] if matches!(sum.kind, SumKind::Late | SumKind::Parity) => {
                sum.slots
            }
            [Stage::Exact { l, .. }] => l,
            _ => return None,
        };
        // Each product lies below 2^(its exponent + 2).
        let above = a.1 + b.1 + 2 + slots.next_power_of_two().trailing_zeros() as i32;
        if !plan.single || above > NOTHING {
            return None;
        }
        let up = [MOVED - a.0, MOVED - b.0];
        let moved = |(low, high): (i32, i32), up: i32| (low + up, high + up);
        let ranges = Self::with(plan, [moved(a, up[0]), moved(b, up[1])], [i32::MIN; 2])?;
        Some(Self {
            // (Only a zero is a whole number of these grains.)
            domain: Domain {
                from: 0x7f80_0000,
                below: 0,
                grain: 0.0,
            },
            vanishing: Some(up),
            ..ranges
        })
    }

    fn with(plan: &Plan, [a, b]: [(i32, i32); 2], vanish: [i32; 2]) -> Option<Self> {
        let (range_a, range_b) = (a.1 - a.0, b.1 - b.0);
        let (low, high) = (a.0 + b.0, a.1 + b.1);
        let f = plan.f as i32;
        if range_a < 0 || range_b < 0 || range_a + range_b > SPAN || low < LOW || high > HIGH {
            return None;
        }
        let subnormal = |low: i32, decoder: &Decoder| match low <= decoder.fields().0 as i32 - 127 {
            true => decoder.fraction_bits() as i32,
            false => 0,
        };
        let least = low - subnormal(a.0, &plan.a) - subnormal(b.0, &plan.b);
        if is_directed(plan) && least + f - C_HIGH < TINIEST {
            return None;
        }
        let kind = plan.stages.iter().find_map(|stage| match stage {
            Stage::Sum { sum, .. } => Some(sum.kind),
            Stage::Exact { .. } => Some(SumKind::Late),
            _ => None,
        })?;
        let (first_a, first_b) = (range_b + 2, range_a + 2);
        let smallest = first_a + first_b;
        // The byte sum of the floor of E, or one that no product has.
        let (start, floor) = match (kind, plan.e0) {
            (SumKind::Fused, Some(e0)) if e0 > low => (smallest + e0 - low, e0),
            (SumKind::Fused, _) => (smallest, low),
            _ => (smallest - 1, low - 1),
        };
        if !(0..=255).contains(&start) || floor > HIGH {
            return None;
        }
        let field = |exponent: i32| ((exponent + 127) as u32) << 23;
        // 2^(F − E + e(scales)) has to be finite where no product is there to raise E, and normal where c does;
        // products times scales stay as small as products without them.
        let scale_limit = ((126 - f + low - 1) / 4)
            .min((126 + f - C_HIGH) / 2)
            .min((HIGH - high) / 2)
            .min(30);
        let floor = match kind {
            SumKind::Scaled if scale_limit < 1 => return None,
            SumKind::Scaled => floor - 2 * scale_limit,
            _ => floor,
        };
        let deepest = match kind {
            // c's unit beyond the products' reach is 2^(E − 41) at the least.
            SumKind::Late | SumKind::Parity => f.max(41),
            // Without products c is whole on its grid.
            SumKind::Outside => f.max(23),
            SumKind::Fused | SumKind::Scaled => f,
        };
        if floor - deepest < -126 || plan.e0.is_some_and(|e0| e0 > floor) {
            return None;
        }
        // From here on the last place of an f32 is at least 2^(floor − F).
        let whole = floor - f + 23;
        let adds = (plan.stages.iter()).any(|stage| matches!(stage, Stage::Add(..)));
        let from = if adds { whole } else { whole.min(floor) };
        let window = |(low, high): (i32, i32), first: i32, vanish: i32| Window {
            vanish: (vanish.max(-127) + 128).max(1) as u32,
            low: (low + 127) as u32,
            high: (high + 127) as u32,
            first: first as u32,
        };
        Some(Self {
            a: window(a, first_a, vanish[0]),
            b: window(b, first_b, vanish[1]),
            offsets: Offsets {
                offset: ((low + 127 - smallest) as u32) << 23,
                start: start as u8,
                empty: field(floor),
            },
            domain: Domain {
                from: field(from),
                below: field(C_HIGH),
                grain: f32::from_bits(field(f - floor)),
            },
            scale_limit,
            flush: false,
            vanishing: None,
        })
    }
}

/// Whether a sum rounds its terms toward an infinity.
fn is_directed(plan: &Plan) -> bool {
    (plan.stages.iter())
        .any(|stage| matches!(stage, Stage::Sum { sum, .. } if sum.terms.is_directed()))
}

fn median(counts: &[u64]) -> i32 {
    let half = counts.iter().sum::<u64>().div_ceil(2);
    let mut seen = 0;
    let reached = counts.iter().position(|count| {
        seen += count;
        seen >= half
    });
    reached.map_or(0, |field| field as i32 - 127)
}
