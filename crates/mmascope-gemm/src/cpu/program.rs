//! Packs operands for a plan of stages. `kernels/stages.rs` runs the stages.

use super::down;
use super::exponents;
use super::pack::{self, Marks, Scales, Shape};
use super::packed_operand::{How, Side};
use super::plan::{From, Plan, Stage};
use super::range::Ranges;
use super::sum::{Direction, Finish, Sum};
use super::ways::Ways;
use crate::dpa::Signature;
use crate::engine::Elements;
use crate::shape::SumKind;

/// Bytes of a panel's chunk of K, which stays in the first cache (of 32 KiB) while rows pass by.
const CHUNK: usize = 20 << 10;
/// The same of fused sums where the second cache (of 1 MiB) feeds them as fast, two rows and more at a time: beginning
/// and ending sums costs a sixth of what the shorter chunks have.
const LONG_CHUNK: usize = 256 << 10;

/// Operands packed for a plan.
#[derive(Debug)]
pub(super) struct Sums {
    pub(super) plan: Plan,
    pub(super) shape: Shape,
    pub(super) ranges: Ranges,
    pub(super) a: Side,
    pub(super) b: Side,
    pub(super) scales: Scales,
    pub(super) marks: Marks,
    /// How values lie.
    pub(super) how: How,
    /// The sum, where it rounds toward −∞ product by product.
    pub(super) down: Option<Sum>,
    /// The sum, where its results are f16.
    pub(super) half: Option<Sum>,
    /// Whether the program is one chain of sums, fused or exact, that is faster two rows at a time: where lanes lack `Lanes::LONG`,
    /// and where they have it.
    pub(super) by_two: [bool; 2],
    /// Whether sums that round toward −∞ in 32-bit lanes are faster four rows at a time.
    pub(super) by_four: bool,
    /// Slots of a group, where every result is a zero: groups are then computed one by one, and the plan's only
    /// stage is one group.
    pub(super) alone: Option<usize>,
    /// For exact sums: exponents of the non-zero operands of each row's and each panel's chunks.
    pub(super) spans: [Vec<Option<Span>>; 2],
}

/// Smallest and largest exponent.
pub(super) type Span = (i32, i32);

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
        // (Exact sums of two rows share the columns as f64.)
        let is_exact = matches!(
            plan.stages[..],
            [Stage::Exact {
                slot: 0,
                from: From::C,
                ..
            }]
        );
        let by_two = |long| is_exact || plan.one_sum().is_some_and(|sum| sum.is_by_two(long));
        let by_two = [false, true].map(by_two);
        let half = plan.only().filter(Sum::is_half).filter(|_| down.is_none());
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
            by_two: by_two.map(|by_two| alone.is_none() && by_two && ways.four_pipes),
            by_four: ways.four_pipes && matches!(how, How::Down(_)),
            alone,
            spans,
        })
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
        SumKind::Fused => "fused sum",
        SumKind::Scaled => "fused sum with a block scale",
        SumKind::Late => "fused sum, c late",
        SumKind::Parity => "fused sums of even and of odd k, c late",
        SumKind::Outside => "fused sum on the products' grid",
    };
    let direction = match sum.finish {
        Finish::TowardZero { .. } => Direction::TowardZero,
        Finish::Directed { up: false, .. } => Direction::Down,
        Finish::Directed { up: true, .. } => Direction::Up,
        Finish::Nearest => Direction::Nearest,
        Finish::At(narrow) => narrow.direction,
    };
    let finish = match direction {
        Direction::TowardZero => "toward zero",
        Direction::Down => "down",
        Direction::Up => "up",
        Direction::Nearest => "to nearest",
    };
    let lanes = match ways.of(plan) {
        How::Plain if sum.part < sum.slots => "lanes of 32 bits, sums of 64 bits",
        How::Plain => "32-bit lanes",
        How::Down(_) => "32-bit lanes, rounding down",
        How::Wide(_) => "64-bit lanes, rounding down",
    };
    format!("{kind} in {lanes}, {} products, {finish}", sum.slots)
}
