//! Packs operands for a plan of stages, and runs the stages.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::block::{Ahead, Packed};
use super::down;
use super::exact;
use super::exponents;
use super::fused::{self, At, Finish, Kind, Sum, Tile};
use super::half;
use super::lanes::Lanes;
use super::native;
use super::pack::{self, Marks, Scales, Shape};
use super::packed_operand::{How, Side};
use super::pairs::Ways;
use super::plan::{From, MAX_STAGES, Plan, Round, Stage};
use super::range::Ranges;
use crate::dpa::Signature;
use crate::engine::Elements;

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0xff << 23;
/// Bytes of a panel's chunk of K, which stays in the first cache (of 32 KiB) while rows pass by.
const CHUNK: usize = 20 << 10;
/// The same of fused sums where the second cache (of 512 KiB) feeds them as fast: beginning and ending sums costs a
/// tenth of what the shorter chunks have.
const LONG_CHUNK: usize = 160 << 10;

/// Operands packed for a plan.
#[derive(Debug)]
pub(super) struct Sums {
    plan: Plan,
    pub(super) shape: Shape,
    pub(super) ranges: Ranges,
    pub(super) a: Side,
    pub(super) b: Side,
    pub(super) scales: Scales,
    marks: Marks,
    /// How values lie.
    pub(super) how: How,
    /// The sum, where it rounds toward −∞ product by product.
    down: Option<Sum>,
    /// The sum, where its results are f16.
    half: Option<Sum>,
    /// Slots of a group, where every result is a zero: groups are then computed one by one, and the plan's only
    /// stage is one group.
    alone: Option<usize>,
    /// For exact sums: exponents of the non-zero operands of each row's and each panel's chunks.
    spans: [Vec<Option<Span>>; 2],
}

/// Smallest and largest exponent.
type Span = (i32, i32);

impl Sums {
    /// `None` when the operands' exponents leave nothing for the kernel. `ways`: what there is.
    pub(super) fn pack(
        plan: &Plan,
        signature: &Signature,
        elements: &dyn Elements,
        columns: usize,
        ways: Ways,
    ) -> Option<Self> {
        let ranges = Ranges::of(plan, elements)?;
        let reaches = |sum: &Sum| down::reaches(sum, &ranges.a, &ranges.b, ranges.offsets.empty);
        let how = match ways.of(plan) {
            How::Down(_) if !plan.down().is_some_and(|sum| reaches(&sum)) => How::Plain,
            how => how,
        };
        let down = plan.only().filter(|_| how != How::Plain);
        let half = plan.only().filter(half::fits).filter(|_| down.is_none());
        let slots = plan.order.len();
        let width: usize = how.bytes()[1];
        let steps = elements.k() / signature.k;
        let fused = matches!(plan.stages[..], [Stage::Sum { .. }, ..]);
        let bytes = match how {
            How::Wide(_) => CHUNK,
            _ if fused && ways.four_pipes => LONG_CHUNK,
            _ => CHUNK,
        };
        // Chunks of about the same length: the last one is filled up.
        let chunks = steps.div_ceil((bytes / width / columns / slots).max(1));
        let shape = Shape {
            m: elements.m(),
            n: elements.n(),
            steps,
            k: signature.k,
            slots,
            chunk: steps.div_ceil(chunks.max(1)).max(1),
            columns,
        };
        let mut marks = Marks::new(&shape);
        let [up_a, up_b] = ranges.vanishing.unwrap_or_default();
        let a = pack::pack_a(
            elements,
            &shape,
            &plan.order,
            &plan.a.moved(up_a),
            &ranges.a,
            how,
            &mut marks,
        );
        let b = pack::pack_b(
            elements,
            &shape,
            &plan.order,
            &plan.b.moved(up_b),
            &ranges.b,
            how,
            &mut marks,
        );
        let limit = ranges.scale_limit;
        let scales = pack::pack_scales(elements, &shape, signature, limit, &mut marks);
        let mut spans = [Vec::new(), Vec::new()];
        if matches!(plan.stages[..], [Stage::Exact { .. }]) {
            let span = |index, bytes: &[u8]| exponents::span(bytes, [&ranges.a, &ranges.b][index]);
            let length = shape.chunk * slots;
            let rows = a.exponents[..shape.a_len()].chunks(length);
            spans[0] = rows.map(|bytes| span(0, bytes)).collect();
            let panels = b.exponents[..shape.b_len()].chunks(shape.steps * slots * columns);
            let chunks = panels.flat_map(|panel| panel.chunks(length * columns));
            spans[1] = chunks.map(|bytes| span(1, bytes)).collect();
        }
        let mut plan = plan.clone();
        let alone = ranges
            .vanishing
            .and(plan.stages.first_mut())
            .and_then(Stage::cut);
        Some(Self {
            plan,
            shape,
            ranges,
            a,
            b,
            scales,
            marks,
            how,
            down,
            half: half.filter(|_| alone.is_none()),
            alone,
            spans,
        })
    }

    /// The largest power of two of which all products of a row, a panel and a chunk are whole numbers, when
    /// sums of `l` of them stay below 2^52 of it.
    #[inline(always)]
    fn grain(&self, row: usize, panel: usize, chunk: usize, l: usize) -> Option<i32> {
        let chunks = self.shape.chunks();
        let a = self.spans[0][chunk * self.shape.m + row]?;
        let b = self.spans[1][panel * chunks + chunk]?;
        let places = self.plan.a.fraction_bits() + self.plan.b.fraction_bits();
        let grain = a.0 + b.0 - places as i32;
        // Each product lies below 2^(its exponent + 2).
        let above = a.1 + b.1 + 2 + l.next_power_of_two().trailing_zeros() as i32;
        let fits = above <= grain + 52 && (-126..=126).contains(&-grain);
        fits.then_some(grain)
    }

    #[inline(always)]
    pub(super) fn at(&self, row: usize, panel: usize, step: usize) -> At {
        let (a, b) = (self.shape.a_at(row, step), self.shape.b_at(panel, step));
        assert!(row < self.shape.m && self.shape.has_panel(panel) && step < self.shape.steps);
        let scaled = !self.scales.a.is_empty();
        let steps = self.shape.steps;
        let scale_a = if scaled { row * steps + step } else { 0 };
        let scale_b = if scaled {
            (panel * steps + step) * self.shape.columns
        } else {
            0
        };
        debug_assert!(!matches!(self.how, How::Wide(_)));
        At {
            a: self.a.values[a..].as_ptr(),
            a_exponents: self.a.exponents[a..].as_ptr(),
            b: self.b.values[b..].as_ptr(),
            b_exponents: self.b.exponents[b..].as_ptr(),
            a_scales: self.scales.a[scale_a..].as_ptr(),
            b_scales: self.scales.b[scale_b..].as_ptr(),
        }
    }

    /// Steps of some rows of a sum with f16 results.
    #[inline(always)]
    unsafe fn halves<V: Lanes, const ROWS: usize>(
        &self,
        sum: &Sum,
        rows: [usize; ROWS],
        panel: usize,
        steps: &Range<usize>,
        c: &mut [Tile<V>; ROWS],
    ) -> V {
        let at = rows.map(|row| self.at(row, panel, steps.start));
        let groups = self.shape.slots / sum.slots * steps.len();
        // SAFETY: as for `run`; `at` checks row, panel and step.
        unsafe { half::chain(sum, &self.ranges.offsets, at, groups, c) }
    }

    /// One step, or for a program of one statement `repeat` steps.
    #[inline(always)]
    unsafe fn stages<V: Lanes>(&self, at: At, repeat: usize, c: &mut Tile<V>) -> V {
        // SAFETY: as for `run`; values of earlier stages are there.
        unsafe {
            let zero = V::splat(0);
            // (Zeros that nobody reads would be written for every row and chunk.)
            let mut values = [const { MaybeUninit::<Tile<V>>::uninit() }; MAX_STAGES];
            let mut bad = zero;
            for (index, stage) in self.plan.stages.iter().enumerate() {
                let read = |from: &From| match from {
                    From::C => *c,
                    From::Zero => [zero; fused::VECTORS],
                    From::Stage(at) => {
                        assert!(*at < index, "a stage takes values of stages before it");
                        values[*at].assume_init()
                    }
                };
                let value = match stage {
                    Stage::Sum {
                        sum,
                        slot,
                        groups,
                        from,
                    } => {
                        let mut value = read(from);
                        let at = at.on::<V>(*slot, 0, false);
                        let groups = groups * repeat;
                        let offsets = &self.ranges.offsets;
                        bad = bad.or(fused::chain(sum, offsets, at, groups, &mut value));
                        value
                    }
                    Stage::Chain { slot, slots, from } => {
                        let start = from.as_ref().map(&read);
                        native::chain(at.on::<V>(*slot, 0, false), slots * repeat, start)
                    }
                    Stage::Pairwise {
                        slot,
                        slots,
                        p,
                        from,
                        plus,
                    } => {
                        let mut value = read(from);
                        let how = native::Pairwise {
                            p: *p,
                            plus: *plus,
                            flush: self.ranges.flush,
                            slots: *slots,
                        };
                        native::pairwise(&how, at.on::<V>(*slot, 0, false), repeat, &mut value);
                        value
                    }
                    Stage::Exact {
                        slot,
                        slots,
                        l,
                        from,
                    } => {
                        let mut value = read(from);
                        let at = at.on::<V>(*slot, 0, false);
                        let groups = slots / l * repeat;
                        let offsets = &self.ranges.offsets;
                        let places = self.plan.a.fraction_bits() + self.plan.b.fraction_bits();
                        let l = (*l, places);
                        bad = bad.or(exact::chain(l, offsets, at, groups, &mut value));
                        value
                    }
                    Stage::Add(left, right, to) => {
                        let (mut left, right) = (read(left), read(right));
                        for (left, right) in left.iter_mut().zip(right) {
                            *left = rounded(to, left.f_add(right));
                        }
                        left
                    }
                    Stage::Convert(from, to) => {
                        let mut value = read(from);
                        for value in &mut value {
                            *value = rounded(to, *value);
                        }
                        value
                    }
                };
                if index + 1 == self.plan.stages.len() {
                    // The last one's is the result.
                    *c = value;
                    break;
                }
                values[index].write(value);
            }
            if self.plan.single {
                return bad;
            }
            for c in c {
                // What an ∞ becomes on the way is the reference's business.
                let magnitude = c.and(V::splat(!SIGN));
                bad = bad.or(magnitude.i_greater(V::splat(INFINITY - 1)));
            }
            bad
        }
    }
}

#[inline(always)]
unsafe fn rounded<V: Lanes>(to: &Round, x: V) -> V {
    match &to.narrow {
        None => x,
        // SAFETY: as for `run`.
        Some(narrow) => unsafe { fused::narrowed(narrow, x, to.signed_zero) },
    }
}

impl Packed for Sums {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn marks(&self) -> &Marks {
        &self.marks
    }

    #[inline(always)]
    unsafe fn outside<V: Lanes>(&self, c: V) -> (V, V) {
        // SAFETY: the caller has the instruction set.
        unsafe {
            let magnitude = c.and(V::splat(!SIGN));
            let special = magnitude.i_greater(V::splat(INFINITY - 1));
            // f32 arithmetic itself says what becomes of an ∞ or a NaN.
            let reported = if self.plan.native {
                V::splat(0)
            } else {
                special
            };
            if !self.plan.takes_c {
                return (V::splat(0), reported);
            }
            let domain = &self.ranges.domain;
            let large = magnitude.i_greater(V::splat(domain.from.wrapping_sub(1)));
            let small = V::splat(domain.below).i_greater(magnitude);
            let grains = magnitude.f_mul(V::splat(domain.grain.to_bits()));
            // (What underflows to nothing is no whole number of grains, unless it is zero.)
            let nothing = grains.i_equal(V::splat(0));
            let nothing = magnitude.i_equal(V::splat(0)).not_and(nothing);
            let whole = nothing.not_and(grains.f_to_i().i_to_f().i_equal(grains));
            let inside = large.and(small).or(large.not_and(whole));
            let finite = special.not_and(V::splat(u32::MAX));
            (inside.not_and(finite), reported)
        }
    }

    #[inline(always)]
    unsafe fn run<V: Lanes>(
        &self,
        row: usize,
        panel: usize,
        steps: Range<usize>,
        c: &mut Tile<V>,
    ) -> V {
        // SAFETY: as this function's; `at` checks row, panel and step.
        unsafe {
            if let (true, Some(sum)) = (V::DOWN, &self.down) {
                let mut twice = [*c; 2];
                let ahead = &mut Ahead::default();
                let bad = self.two(sum, [row; 2], panel, &steps, ahead, &mut twice);
                *c = twice[0];
                return bad;
            }
            if let Some(sum) = &self.half {
                let mut one = [*c];
                let bad = self.halves(sum, [row], panel, &steps, &mut one);
                [*c] = one;
                return bad;
            }
            if self.plan.single && self.alone.is_none() {
                let at = self.at(row, panel, steps.start);
                if let Stage::Exact { slots, l, .. } = self.plan.stages[0] {
                    let chunk = steps.start / self.shape.chunk;
                    let within = steps.end <= (chunk + 1) * self.shape.chunk;
                    if let (true, Some(grain)) = (within, self.grain(row, panel, chunk, l)) {
                        let mut tile = *c;
                        let groups = slots / l * steps.len();
                        let bad = exact::whole(l, grain, at, groups, &mut tile);
                        if bad.top_bits() == 0 {
                            *c = tile;
                            return bad;
                        }
                    }
                }
                return self.stages(at, steps.len(), c);
            }
            let mut bad = V::splat(0);
            let slots = self.alone.unwrap_or(self.shape.slots);
            let kept = match self.alone {
                Some(_) => self.plan.zero_sign,
                None => u32::MAX,
            };
            for step in steps {
                let mut at = self.at(row, panel, step);
                for _ in 0..self.shape.slots / slots {
                    bad = bad.or(self.stages(at, 1, c));
                    at = at.on::<V>(slots, 0, false);
                    for c in c.iter_mut() {
                        *c = c.and(V::splat(kept));
                    }
                }
            }
            bad
        }
    }

    #[inline(always)]
    fn by_two(&self) -> bool {
        self.down.is_some() || self.half.is_some()
    }

    #[inline(always)]
    unsafe fn run_two<V: Lanes>(
        &self,
        row: usize,
        panel: usize,
        steps: Range<usize>,
        ahead: &mut Ahead<V>,
        c: &mut [Tile<V>; 2],
    ) -> V {
        let rows = [row, row + 1];
        match (&self.down, &self.half) {
            // SAFETY: as this function's.
            (Some(sum), _) => unsafe { self.two(sum, rows, panel, &steps, ahead, c) },
            // SAFETY: as this function's.
            (None, Some(sum)) => unsafe { self.halves(sum, rows, panel, &steps, c) },
            (None, None) => unreachable!("`by_two` says so"),
        }
    }

    fn settles(&self) -> bool {
        self.plan.single && !self.plan.native
    }

    fn keeps(&self) -> bool {
        let wide = |stage: &Stage| matches!(stage, Stage::Sum { sum, .. } if !sum.sticky);
        self.plan.single && self.plan.stages.iter().all(wide)
    }
}

/// The name of a kernel, for people.
pub(super) fn describe(plan: &Plan, ways: Ways) -> String {
    let sums = plan.stages.iter().find_map(|stage| match stage {
        Stage::Sum { sum, .. } => Some(*sum),
        _ => None,
    });
    let Some(sum) = sums else {
        return match plan.stages.first() {
            Some(Stage::Exact { .. }) => "exact sums in f64 lanes",
            Some(Stage::Pairwise { .. }) => "pairwise sums in f32 lanes",
            _ => "multiply-adds in f32 lanes",
        }
        .to_owned();
    };
    let kind = match sum.kind {
        Kind::Fused => "fused sum",
        Kind::Scaled => "fused sum with a block scale",
        Kind::Late => "fused sum, c late",
        Kind::Parity => "fused sums of even and of odd k, c late",
    };
    let finish = match sum.finish {
        Finish::TowardZero { .. } => "toward zero",
        Finish::Nearest | Finish::NearestAt(_) => "to nearest",
    };
    let lanes = match ways.of(plan) {
        How::Plain => "32-bit lanes",
        How::Down(_) => "32-bit lanes, rounding down",
        How::Wide(_) => "64-bit lanes, rounding down",
    };
    format!("{kind} in {lanes}, {} products, {finish}", sum.slots)
}
