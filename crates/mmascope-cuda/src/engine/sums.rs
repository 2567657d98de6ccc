//! Fused sums of one grid, in f64 or by conversions.

use mmascope_gemm::shape::{StepShape, SumGrid, SumKind};
use mmascope_model::dpa::{Output, Part, Reading, Signature, ZeroSign};
use mmascope_model::format::{F32, Overflow, Rounding};

use super::fast::Doubles;
use super::statements::{Dot, Dots};
use super::{converted, down};

const METHODS: &str = include_str!("../source/sums.cu");

/// What the dot products of a program have in common.
pub(super) struct Sums {
    grid: SumGrid,
    output: Output,
    reading: Reading,
    /// Products of a block.
    block: usize,
    by_conversion: bool,
}

impl Sums {
    pub(super) fn new(
        signature: &Signature,
        grid: SumGrid,
        output: &Output,
        reading: Reading,
        count: usize,
        doubles: Doubles,
    ) -> Result<Self, String> {
        let block = count.min(grid.l as usize);
        down::has_room(signature, &grid)?;
        if (reading.a, reading.b) != (Part::Whole, Part::Whole) {
            return Err("parts of significands".to_owned());
        }
        match grid.kind {
            SumKind::Scaled => return Err("block scales".to_owned()),
            SumKind::Outside => return Err("the products' grid".to_owned()),
            SumKind::Fused => down::has_result(output, true)?,
            SumKind::Late | SumKind::Parity => {
                let overflows = matches!(output.overflow, Overflow::Infinity | Overflow::Ieee);
                let usual = output.rounding == Rounding::Rne
                    && output.zero == ZeroSign::Exact
                    && output.flush.is_none();
                // c and sums in f64: all of their places.
                let fits = (grid.f..=40).contains(&grid.f2);
                if !(overflows && usual && fits) || output.format != F32 {
                    return Err(format!(
                        "{} {}, F2={}",
                        output.rounding, output.format, grid.f2
                    ));
                }
            }
        }
        if grid.kind == SumKind::Parity && !block.is_multiple_of(2) {
            return Err("an odd number of products in two parts".to_owned());
        }
        let is_slow = doubles == Doubles::Slow;
        // Sizes lie in f32 there, which shows no exponents below those of its normal numbers.
        let wide = reading.widened.and_then(|format| format.float());
        let shows = wide.is_none_or(|float| float.emin() >= -126);
        Ok(Self {
            grid,
            output: *output,
            reading,
            block,
            by_conversion: is_slow && shows && converted::fits(signature, &grid, output),
        })
    }

    /// The k of blocks as slots: even and odd ones apart where they are summed so.
    pub(super) fn ordered(&self, indices: &[usize]) -> Vec<usize> {
        if self.grid.kind != SumKind::Parity {
            return indices.to_vec();
        }
        let parts = |block: &[usize]| {
            let part = |first: usize| block.iter().skip(first).step_by(2).copied();
            part(0).chain(part(1)).collect::<Vec<_>>()
        };
        indices.chunks(self.block.max(1)).flat_map(parts).collect()
    }

    /// The method of one dot product.
    pub(super) fn method(&self, dot: &Dot<'_>) -> Result<String, String> {
        let StepShape::Sum(grid) = dot.shape else {
            return Err("sums of several kinds".to_owned());
        };
        if (grid, *dot.output, dot.reading) != (self.grid, self.output, self.reading) {
            return Err("sums with different grids, results or operands".to_owned());
        }
        let block = dot.count.min(self.grid.l as usize);
        if dot.count == 0 || block != self.block || !dot.count.is_multiple_of(block) {
            return Err("blocks of several lengths".to_owned());
        }
        let smallest = dot.c.float().map_or(0, |float| float.emin());
        match self.grid.kind {
            SumKind::Fused => Ok(format!("Sum<({smallest} + BIAS) * UNIT>")),
            _ if dot.c == F32 => Ok("Late".to_owned()),
            _ => Err(format!("c in {}, after the products", dot.c)),
        }
    }

    pub(super) fn dots(&self) -> Dots {
        let (grid, output) = (&self.grid, &self.output);
        let mut values = vec![
            ("F", grid.f.to_string()),
            ("HALF_OPERANDS", "0".to_owned()),
            ("F2", grid.f2.to_string()),
            ("E0", grid.e0.unwrap_or(0).to_string()),
            (
                "PARTS",
                if grid.kind == SumKind::Parity {
                    "2"
                } else {
                    "1"
                }
                .to_owned(),
            ),
        ];
        let finish = match self.by_conversion {
            true => converted::finish(output),
            false => down::finish(&output.format, output.rounding, true),
        };
        values.push(("FINISH", finish.unwrap_or_default()));
        Dots {
            what: match (grid.kind, self.by_conversion) {
                (SumKind::Fused | SumKind::Scaled | SumKind::Outside, true) => {
                    "fused sums by conversions to integers"
                }
                (SumKind::Fused | SumKind::Scaled | SumKind::Outside, false) => {
                    "fused sums by multiply-adds in f64 that round down, statement by statement"
                }
                (SumKind::Late, _) => "fused sums by multiply-adds in f64 that round down, c late",
                (SumKind::Parity, _) => {
                    "fused sums of even and of odd k by multiply-adds in f64 that round down, c late"
                }
            },
            is_wide: !self.by_conversion,
            bytes: if self.by_conversion { 4 } else { 8 },
            columns: 4,
            // As measured (docs/measured/gpu-engine.md).
            resident: match (self.by_conversion, grid.kind) {
                (true, _) => 1,
                (false, SumKind::Parity) => 3,
                (false, _) => 4,
            },
            block: self.block,
            has_exponents: true,
            widened: self
                .reading
                .widened
                .and_then(|format| format.float())
                .map(|float| float.emin()),
            pieces: match self.by_conversion {
                true => converted::PIECES,
                false => [down::ALIGNED, METHODS],
            },
            values,
        }
    }
}
