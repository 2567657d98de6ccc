//! What is packed for a kernel, and when: all operands at once, or piece by piece of K.

use std::ops::Range;
use std::sync::OnceLock;

use super::piece::Piece;
use super::product::MOST;
use super::{Product, Region, Watch};
use crate::array::Stored;
use crate::error::Result;
use crate::kernel::{Elements, Kernel, Operand, Steps};

/// Packed operands of a product may always take so many bytes.
const SMALL: usize = 4 << 20;
/// Packed operands of kernels that sum in D itself: pieces, whose memory is used again, are faster than
/// memory that nobody has touched yet.
const REUSED: usize = 8 << 20;
/// Bytes of a row's or a column's piece at least: 512 k as f32.
const LEAST: usize = 512 * 5;

/// A kernel with what is packed for it.
#[derive(Debug)]
pub(super) struct Prepared {
    kernel: Kernel,
    packing: Packing,
}

#[derive(Debug)]
enum Packing {
    Whole(Whole),
    /// As a whole only in the way that takes less memory, and only when [`Prepared::pack_whole`] is called; until then,
    /// as for a plain chain, by pieces in the faster way.
    Sparing(OnceLock<Whole>, Room),
    /// Nothing: each part packs the operands of its steps, as many at a time as there is room for.
    Pieces(Room),
}

/// The operands of each product of the batch; `None` where they leave nothing for the kernel.
type Whole = Vec<Option<Operand>>;

/// Room for packed operands.
#[derive(Clone, Copy, Debug)]
enum Room {
    /// Bytes for a part of D with [`MOST`] elements, or with all of them; less for smaller parts, of
    /// which as many may be under way.
    Shared(usize),
    /// Bytes for any part.
    Each(usize),
}

impl Room {
    /// Steps that are packed together for a part.
    fn steps(self, kernel: &Kernel, part: &Region, whole: &Region) -> usize {
        let step = kernel.packed_bytes(part.rows.len(), part.columns.len(), false);
        let fitting = |bytes: usize| (bytes / step.max(1)).max(1);
        match self {
            Self::Each(bytes) => fitting(bytes),
            Self::Shared(bytes) => {
                let share = part.len() as f64 / whole.len().clamp(1, MOST) as f64;
                let line = step.div_ceil(part.rows.len() + part.columns.len());
                let least = LEAST.div_ceil(line.max(1));
                fitting((bytes as f64 * share.min(1.0)) as usize).max(least)
            }
        }
    }
}

/// Steps of a part of D within one product of the batch.
pub(super) struct Part<'a> {
    pub(super) product: &'a Product<'a>,
    pub(super) region: &'a Region,
    pub(super) steps: &'a Range<usize>,
    /// C with its modifiers goes into the first of them.
    pub(super) first: bool,
}

impl Prepared {
    /// Packs a product's operands, where that takes no more than [`Product`] says.
    pub(crate) fn new(kernel: Kernel, product: &Product<'_>) -> Self {
        let whole = product.whole();
        let given = bytes(product);
        let all = |sparing: bool| {
            let step = kernel.packed_bytes(whole.rows.len(), whole.columns.len(), sparing);
            (step.saturating_mul(product.steps())).saturating_mul(whole.batch.len())
        };
        let most = SMALL.max(given / 8 * 15);
        let (most, room) = if kernel.sums_in_place() {
            (REUSED.min(most), REUSED.min(given))
        } else {
            (most, given)
        };
        let packing = if all(false) <= most {
            Packing::Whole(pack_whole(&kernel, product, false))
        } else if all(true) <= most {
            Packing::Sparing(OnceLock::new(), Room::Shared(room))
        } else {
            Packing::Pieces(Room::Shared(room))
        };
        Self { kernel, packing }
    }

    /// The same kernel with pieces of so many bytes.
    pub(super) fn in_pieces(&self, bytes: usize) -> Self {
        Self {
            kernel: self.kernel.clone(),
            packing: Packing::Pieces(Room::Each(bytes)),
        }
    }

    /// Whether the operands lie packed as a whole, or will when [`Prepared::pack_whole`] is called.
    pub(super) fn is_whole(&self) -> bool {
        !matches!(self.packing, Packing::Pieces(_))
    }

    /// Packs the operands as a whole, where that is the way.
    pub(super) fn pack_whole(&self, product: &Product<'_>) {
        if let Packing::Sparing(whole, _) = &self.packing
            && whole.get().is_none()
        {
            // (Not within `get_or_init`: a thread that packs may meanwhile take up work that asks for the same.)
            let _ = whole.set(pack_whole(&self.kernel, product, true));
        }
    }

    /// The steps of a part by the kernel; by `reference` those whose operands leave nothing for it.
    pub(super) fn advance<W: Stored>(
        &self,
        part: &Part<'_>,
        words: &mut [W],
        watch: &Watch<'_>,
        reference: impl Fn(&Range<usize>, &mut [W]) -> Result<()>,
    ) -> Result<()> {
        let Part {
            product,
            region,
            steps,
            first,
        } = *part;
        let modifiers = &product.modifiers();
        let whole = product.whole();
        let is_chain = region.rows == whole.rows
            && region.columns == whole.columns
            && *steps == (0..product.steps());
        let operands = match &self.packing {
            Packing::Whole(operands) => Some(operands),
            Packing::Sparing(operands, _) => operands.get(),
            _ => None,
        };
        let room = match (operands, &self.packing) {
            (Some(operands), _) => {
                let batch = region.batch.start;
                let Some(operand) = &operands[batch] else {
                    return reference(steps, words);
                };
                let run = Steps {
                    elements: &Piece::whole(product.matrices(), batch),
                    modifiers,
                    steps: steps.clone(),
                    first,
                    rows: region.rows.clone(),
                    columns: region.columns.clone(),
                };
                return self.kernel.advance(operand, &run, words, watch);
            }
            (None, Packing::Pieces(room) | Packing::Sparing(_, room)) => {
                room.steps(&self.kernel, region, &whole)
            }
            (None, Packing::Whole(_)) => unreachable!("they are the operands"),
        };
        // Parts of D, which several threads pack at once, in the way that takes less memory.
        let sparing = !is_chain;
        for start in steps.clone().step_by(room) {
            watch.check()?;
            let own = start..steps.end.min(start.saturating_add(room));
            let elements = Piece::of(product, region, &own);
            let Some(operand) = self.kernel.pack(&elements, modifiers, sparing) else {
                reference(&own, words)?;
                continue;
            };
            let run = Steps {
                elements: &elements,
                modifiers,
                steps: 0..own.len(),
                first: first && start == steps.start,
                rows: 0..elements.m(),
                columns: 0..elements.n(),
            };
            self.kernel.advance(&operand, &run, words, watch)?;
        }
        Ok(())
    }
}

fn pack_whole(kernel: &Kernel, product: &Product<'_>, sparing: bool) -> Whole {
    let (matrices, modifiers) = (product.matrices(), product.modifiers());
    let pack = |batch| kernel.pack(&Piece::whole(matrices, batch), &modifiers, sparing);
    product.whole().batch.map(pack).collect()
}

/// Bytes of operands, C and D.
fn bytes(product: &Product<'_>) -> usize {
    let matrices = product.matrices();
    let scales = [matrices.scale_a(), matrices.scale_b()];
    let given = [Some(matrices.a()), Some(matrices.b()), matrices.c()];
    let given = given.into_iter().chain(scales).flatten();
    let d = product.unit().signature().d.register.bits as usize / 8;
    given.map(|matrix| matrix.words().bytes()).sum::<usize>() + d * product.whole().len()
}
