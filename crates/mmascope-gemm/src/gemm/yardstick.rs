//! Computes the exact result of every output, from the operands as the unit gets them, with the scales and factors of a
//! schedule.

use super::schedule::CEntry;
use super::{Matrices, Schedule, SoftwareScales};
use crate::dpa::{Addends, Codes, Modifiers, Signature, Signs, Unit};
use crate::exact::{Dyadic, Exact, Sum};
use crate::format::{Format, Unpacked};

/// What results are measured against.
pub(super) struct Yardstick<'a> {
    matrices: &'a Matrices,
    modifiers: Modifiers,
    /// Formats of the operands, before they are split.
    signature: Signature,
    codes: Codes,
    codes_of_c: Codes,
    addends: Addends,
    /// With which signs the unit adds products and c.
    signs: Signs,
    software: Option<Software<'a>>,
    /// α and β, where C enters in the epilogue.
    factors: Option<(Dyadic, Dyadic)>,
    format: Format,
    /// The format by which results are read, where every code of the unit's is a number.
    numbers: Option<Format>,
}

/// Software scales and how many k, rows and columns share one.
struct Software<'a> {
    scales: &'a SoftwareScales,
    format: Format,
    k: usize,
    rows: usize,
    columns: usize,
}

impl<'a> Yardstick<'a> {
    /// The scales' shapes are those that the schedule has been run with.
    pub(super) fn new(
        schedule: &Schedule,
        unit: &Unit,
        matrices: &'a Matrices,
        modifiers: Modifiers,
        scales: Option<&'a SoftwareScales>,
    ) -> Self {
        let signature = schedule.signature(unit);
        let native = signature.k;
        // What codes mean is the unit's affair; split operands are ordinary numbers.
        let codes = match &schedule.emulation {
            None => unit.program().codes,
            Some(_) => Codes::Special,
        };
        let software = schedule.promotion.and_then(|promotion| {
            let (scale, scales) = promotion.scale.zip(scales)?;
            Some(Software {
                scales,
                format: promotion.scalar.format(),
                k: promotion.steps * native,
                rows: scale.rows,
                columns: scale.columns,
            })
        });
        let factors = match schedule.c {
            CEntry::First => None,
            CEntry::Epilogue {
                scalar,
                alpha,
                beta,
                ..
            } => {
                let format = scalar.format();
                let value = |word| finite(&format, word).map(|exact| Dyadic::of(&exact));
                value(alpha).zip(value(beta))
            }
        };
        let format = schedule.format(unit).container();
        let numbers = Some(unit.result_format()).filter(|own| {
            let is_own = format == unit.signature().d && schedule.emulation.is_none();
            is_own && *own != format
        });
        Self {
            matrices,
            modifiers,
            signature,
            codes,
            codes_of_c: match unit.program().knows_numbers_only() && schedule.emulation.is_none() {
                true => Codes::Numbers,
                false => Codes::Special,
            },
            addends: unit.program().addends(),
            signs: unit.program().signs(),
            software,
            factors,
            format,
            numbers,
        }
    }

    /// The format that results are in.
    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// What an output means; `None` for the largest number of a unit to which every code is a number, which stands for
    /// overflow.
    pub(super) fn decode(&self, word: u64) -> Option<Unpacked> {
        let Some(own) = &self.numbers else {
            return Some(self.format.decode(word & self.format.mask()));
        };
        let value = own.decode(word & own.mask());
        let largest = own.decode(own.max_finite(value.negative));
        (value != largest).then_some(value)
    }

    /// Output `index` of D, row by row, and its Σ|a·b| (of units that add a and b, Σ|a| + |b|); `None` when an operand that is read is ∞
    /// or NaN.
    pub(super) fn exact(&self, index: usize) -> Option<(Dyadic, Dyadic)> {
        let (matrices, modifiers) = (self.matrices, &self.modifiers);
        let (m, n, k) = (matrices.m(), matrices.n(), matrices.k());
        let (batch, i, j) = (index / n / m, index / n % m, index % n);
        let block = self.software.as_ref().map_or(k, |software| software.k);
        let (mut sum, mut products) = (Dyadic::default(), Dyadic::default());
        for first in (0..k).step_by(block) {
            let ks = first..k.min(first + block);
            let (mut part, mut magnitudes) = self.products(batch, i, j, ks)?;
            if let Some(software) = &self.software {
                let scale = software.at(batch, i, j, first / software.k)?;
                part = &part * &scale;
                magnitudes = &magnitudes * &scale.magnitude();
            }
            sum = &sum + &part;
            products = &products + &magnitudes;
        }
        let mut beta = None;
        if let Some((alpha, factor)) = &self.factors {
            sum = &sum * alpha;
            products = &products * &alpha.magnitude();
            beta = Some(factor);
        }
        if !modifiers.no_c && beta.is_none_or(|beta| !beta.is_zero()) {
            let mut c = operand(
                &self.signature.c,
                self.codes_of_c,
                matrices.c_at(batch, i, j),
            )?;
            // In an epilogue c does not pass through the unit.
            c.negative ^= modifiers.negate_c != (self.signs.c < 0 && beta.is_none());
            c.exponent += modifiers.scale_d;
            let c = Dyadic::of(&c);
            sum = match beta {
                None => &sum + &c,
                Some(beta) => &sum + &(&c * beta),
            };
        }
        Some((sum, products))
    }

    /// The sum of some products, and that of their magnitudes, block scales included.
    fn products(
        &self,
        batch: usize,
        i: usize,
        j: usize,
        ks: std::ops::Range<usize>,
    ) -> Option<(Dyadic, Dyadic)> {
        let (matrices, modifiers) = (self.matrices, &self.modifiers);
        let signature = &self.signature;
        let subtracts = self.signs.products < 0;
        let negate = modifiers.negate_a != (modifiers.negate_b != subtracts);
        let (codes, addends) = (self.codes, self.addends);
        let (mut sum, mut products) = (Sum::default(), Sum::default());
        for at in ks {
            let a = operand(&signature.a, codes, matrices.a().at(batch, i, at))?;
            let b = operand(&signature.b, codes, matrices.b().at(batch, at, j))?;
            if addends != Addends::Product {
                let negate_b = modifiers.negate_b != (addends == Addends::Difference);
                for (mut x, negate) in [(a, modifiers.negate_a), (b, negate_b)] {
                    x.negative ^= negate;
                    sum.add(&x);
                    products.add(&Exact::new(false, x.magnitude, x.exponent));
                }
                continue;
            }
            let mut magnitude = a.magnitude * b.magnitude;
            let mut exponent = a.exponent + b.exponent;
            if let (Some(scale), Some(scale_a), Some(scale_b)) =
                (signature.scale, matrices.scale_a(), matrices.scale_b())
            {
                let block = at / scale.block;
                let scale_a = finite(&scale.format, scale_a.at(batch, i, block))?;
                let scale_b = finite(&scale.format, scale_b.at(batch, block, j))?;
                magnitude *= scale_a.magnitude * scale_b.magnitude;
                exponent += scale_a.exponent + scale_b.exponent;
            }
            let negative = (a.negative != b.negative) != negate;
            sum.add(&Exact::new(negative, magnitude, exponent));
            products.add(&Exact::new(false, magnitude, exponent));
        }
        Some((sum.total(), products.total()))
    }
}

impl Software<'_> {
    /// The product of both scales; `None` when one is ∞ or NaN.
    fn at(&self, batch: usize, i: usize, j: usize, block: usize) -> Option<Dyadic> {
        let a = finite(&self.format, self.scales.a.at(batch, i / self.rows, block))?;
        let b = finite(
            &self.format,
            self.scales.b.at(batch, block, j / self.columns),
        )?;
        Some(&Dyadic::of(&a) * &Dyadic::of(&b))
    }
}

/// The value of an operand, whose ∞ and NaN codes may be numbers; `None` for ∞ and NaN.
fn operand(format: &Format, codes: Codes, word: u64) -> Option<Exact> {
    codes.decode(format, format.from_register(word)).exact()
}

/// The value of a register word; `None` for ∞ and NaN.
fn finite(format: &Format, word: u64) -> Option<Exact> {
    format.decode(format.from_register(word)).exact()
}
