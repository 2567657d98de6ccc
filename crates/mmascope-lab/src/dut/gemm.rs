//! A device that is one output of a matrix product under a schedule.

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::model::stated;
use super::{Batch, Dut};
use crate::array::Words;
use crate::dpa::{Modifiers, Signature, Unit};
use crate::error::{Error, Result};
use crate::format::{Exact, Format, Overflow, Rounding};
use crate::gemm::schedule::Split;
use crate::gemm::{Matrices, Matrix, Schedule, ScheduledProduct, SoftwareScales, Watch};
use crate::vector::Answer;

/// Instructions of an output when nobody says how long it is.
const STEPS: usize = 4;

/// The one output of a product with m = n = 1 and any K, computed by the engine. Software scales,
/// where the schedule has some, are 1.
#[derive(Clone, Debug)]
pub struct GemmDut {
    name: String,
    unit: Unit,
    schedule: Schedule,
    signature: Signature,
}

impl GemmDut {
    /// An output of `products` products, by default four instructions.
    ///
    /// # Errors
    /// [`Error::Argument`] when the number of products is no multiple of the unit's K, or K has
    /// fewer steps than the schedule needs.
    pub fn new(
        name: &str,
        unit: Unit,
        schedule: Schedule,
        products: Option<usize>,
    ) -> Result<Self> {
        let own = schedule.signature(&unit);
        let k = products.unwrap_or(STEPS * own.k);
        if k == 0 || !k.is_multiple_of(own.k) {
            return Err(Error::Argument(format!(
                "{name}: {k} products are no multiple of the instruction's {}",
                own.k
            )));
        }
        let d = schedule.format(&unit);
        let device = Self {
            name: name.to_owned(),
            unit,
            schedule,
            signature: Signature { k, d, ..own },
        };
        // Errors of fit are reported now and not at the first question.
        let mut batch = Batch::new(device.signature);
        let scales = vec![0; device.signature.scales()];
        batch.push(&crate::dpa::Operands {
            a: &vec![0; k],
            b: &vec![0; k],
            c: 0,
            scale_a: &scales,
            scale_b: &scales,
        })?;
        device.answer(&batch)?;
        Ok(device)
    }

    fn answer(&self, batch: &Batch) -> Result<Words> {
        let Signature {
            a, b, c, k, scale, ..
        } = self.signature;
        let count = batch.len();
        let matrix = |rows: usize, columns: usize, format: &Format, words: &[u64]| {
            Matrix::batched(
                count,
                rows,
                columns,
                Words::of(format, words.iter().copied())?,
            )
        };
        let mut matrices = Matrices::new(matrix(1, k, &a, &batch.a)?, matrix(k, 1, &b, &batch.b)?)?
            .with_c(matrix(1, 1, &c, &batch.c)?)?;
        if let Some(scale) = scale {
            let blocks = self.signature.scales();
            matrices = matrices.with_scales(
                matrix(1, blocks, &scale.format, &batch.scale_a)?,
                matrix(blocks, 1, &scale.format, &batch.scale_b)?,
            )?;
        }
        let modifiers = Modifiers::default();
        let product = ScheduledProduct::new(&self.schedule, &self.unit, &matrices, modifiers)?;
        let watch = Watch {
            progress: &|_| (),
            cancel: &AtomicBool::new(false),
        };
        let scales = self.software_scales(product.steps())?;
        product.run(scales.as_ref(), &watch)
    }

    /// Scales of 1, if the schedule has some.
    fn software_scales(&self, steps: usize) -> Result<Option<SoftwareScales>> {
        let Some(promotion) = self.schedule.promotion.filter(|it| it.scale.is_some()) else {
            return Ok(None);
        };
        let format = promotion.scalar.format();
        let one = format.to_register(format.round(&Exact::ONE, Rounding::Rne, Overflow::Ieee));
        let blocks = steps.div_ceil(promotion.steps);
        let ones = || Words::filled(format.register.bits, blocks, one);
        Ok(Some(SoftwareScales {
            a: Matrix::row_major(1, blocks, ones()?)?,
            b: Matrix::row_major(blocks, 1, ones()?)?,
        }))
    }
}

impl Dut for GemmDut {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>> {
        batch.check(&self.signature)?;
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        // Workers of stream-K share out the tiles of a whole batch: there every query is a product
        // of its own, or its answer would depend on its neighbours.
        let words = match self.schedule.split {
            Split::StreamK { .. } => (0..batch.len())
                .into_par_iter()
                .map(|index| {
                    let mut one = Batch::new(self.signature);
                    one.push(&batch.query(index))?;
                    Ok(self.answer(&one)?.get(0))
                })
                .collect::<Result<Vec<u64>>>()?,
            _ => self.answer(batch)?.to_vec(),
        };
        Ok(stated(&self.unit, &self.signature.d, words))
    }
}
