//! Builds directed inputs: products and c by exponent, with scales where the device has them.

use crate::dpa::OperandWords;
use crate::dpa::Signature;
use crate::error::{Error, Result};
use crate::exact::{Exact, Rounding};
use crate::format::{Format, Overflow, Specials};
use crate::reveal::Random;

/// Fraction bits that [`drawn`] takes.
pub(crate) const FRACTION: u32 = 60;

/// Exponents that a format has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    /// The exponent of its smallest subnormal.
    pub(crate) lowest: i32,
    /// The exponent of its smallest normal number.
    pub(crate) normal: i32,
    /// The exponent of its largest number.
    pub(crate) top: i32,
}

impl Range {
    pub(crate) fn of(format: &Format) -> Result<Self> {
        let Some(float) = format.float() else {
            return Err(Error::Argument(format!("{format}: floats are probed")));
        };
        let top = format.decode(format.max_finite(false)).exponent;
        let lowest = if float.subnormals {
            float.emin() - float.fraction_bits as i32
        } else {
            float.emin()
        };
        Ok(Self {
            lowest,
            normal: float.emin(),
            top,
        })
    }

    fn clamp(&self, exponent: i32) -> i32 {
        exponent.clamp(self.lowest, self.top)
    }
}

/// A number of inputs from its drawn parts: ±(1 + fraction·2^-60)·2^exponent.
pub(crate) fn drawn(negative: bool, exponent: i32, fraction: u64) -> Exact {
    let magnitude = 1 << FRACTION | u128::from(fraction);
    Exact::new(negative, magnitude, exponent - FRACTION as i32)
}

/// The register word nearest to a number toward zero, within the format's finite numbers.
pub(crate) fn word(number: Exact, format: &Format) -> u64 {
    let exact = Exact {
        negative: number.negative && format.signed,
        ..number
    };
    format.to_register(format.round(&exact, Rounding::Rz, Overflow::SaturateFinite))
}

/// Random bits of a fraction that formats of `bits` fraction bits keep some of.
pub(crate) fn fraction(random: &mut Random) -> u64 {
    let bits = random.bits() >> (64 - FRACTION);
    match random.below(6) {
        0 | 1 => 0,
        2 => (1 << FRACTION) - 1,
        // A few leading bits.
        3 => bits & (0xf << (FRACTION - 4)),
        _ => bits,
    }
}

/// Makes inputs of one signature.
#[derive(Clone, Debug)]
pub(crate) struct Maker {
    pub(crate) signature: Signature,
    pub(crate) a: Range,
    pub(crate) b: Range,
    pub(crate) c: Range,
    pub(crate) d: Range,
    /// Exponents of block scales.
    pub(crate) scale: Option<Range>,
    /// Fraction bits of d.
    pub bits: i32,
}

impl Maker {
    pub(crate) fn new(signature: &Signature) -> Result<Self> {
        let scale = match &signature.scale {
            Some(scale) => Some(Range::of(&scale.format)?),
            None => None,
        };
        Ok(Self {
            signature: *signature,
            a: Range::of(&signature.a)?,
            b: Range::of(&signature.b)?,
            c: Range::of(&signature.c)?,
            d: Range::of(&signature.d)?,
            scale,
            bits: signature.d.float().map_or(0, |float| float.fraction_bits) as i32,
        })
    }

    /// Every operand +0, every scale 1.
    pub(crate) fn blank(&self) -> OperandWords {
        let Signature { k, scale, .. } = self.signature;
        let one = scale.map_or(0, |scale| word(Exact::ONE, &scale.format));
        let scales = vec![one; self.signature.scales()];
        OperandWords {
            a: vec![0; k],
            b: vec![0; k],
            c: 0,
            scale_a: scales.clone(),
            scale_b: scales,
        }
    }

    /// Sets the scales of a block to a sum of exponents; gives the sum that they have.
    pub(crate) fn set_scales(&self, case: &mut OperandWords, block: usize, sum: i32) -> i32 {
        let (Some(range), Some(scale)) = (self.scale, self.signature.scale) else {
            return 0;
        };
        let first = range.clamp(sum / 2).max(range.normal);
        let second = range.clamp(sum - first).max(range.normal);
        case.scale_a[block] = word(Exact::power_of_two(false, first), &scale.format);
        case.scale_b[block] = word(Exact::power_of_two(false, second), &scale.format);
        first + second
    }

    /// The exponents that the scales of k's block add.
    fn scaled(&self, case: &OperandWords, k: usize) -> i32 {
        let Some(scale) = self.signature.scale else {
            return 0;
        };
        let exponent = |word: u64| {
            let format = &scale.format;
            format.decode(format.from_register(word)).exponent
        };
        let block = k / scale.block;
        exponent(case.scale_a[block]) + exponent(case.scale_b[block])
    }

    /// The least and the largest exponent of a product of normal operands without scales.
    pub(crate) fn products(&self) -> (i32, i32) {
        (self.a.normal + self.b.normal, self.a.top + self.b.top)
    }

    /// Puts a product of about that value at k: a has the number's
    /// significand, b the fraction `other`. The
    /// exponent is split at random; subnormal operands are used only when it needs them.
    pub(crate) fn product(
        &self,
        case: &mut OperandWords,
        k: usize,
        number: Exact,
        other: u64,
        random: &mut Random,
    ) {
        let Signature { a, b, .. } = &self.signature;
        let wanted = number.top().unwrap_or(0) - self.scaled(case, k);
        let normal = wanted >= self.a.normal + self.b.normal;
        let low = |range: &Range| if normal { range.normal } else { range.lowest };
        let from = low(&self.a).max(wanted - self.b.top);
        let to = self.a.top.min(wanted - low(&self.b)).max(from);
        let first = self
            .a
            .clamp(from + random.below((to - from + 1) as usize) as i32);
        let flip = random.below(4) == 0;
        let factor = Exact {
            negative: number.negative ^ flip,
            ..number
        };
        case.a[k] = word(factor.with_top(first), a);
        case.b[k] = word(drawn(flip, self.b.clamp(wanted - first), other), b);
    }

    /// A product ±2^exponent of two powers of two.
    pub(crate) fn power(&self, case: &mut OperandWords, k: usize, negative: bool, exponent: i32) {
        let wanted = exponent - self.scaled(case, k);
        let first = (wanted / 2)
            .clamp(wanted - self.b.top, wanted - self.b.lowest)
            .clamp(self.a.lowest, self.a.top);
        case.a[k] = word(Exact::power_of_two(negative, first), &self.signature.a);
        case.b[k] = word(
            Exact::power_of_two(false, wanted - first),
            &self.signature.b,
        );
    }

    pub(crate) fn set_c(&self, case: &mut OperandWords, number: Exact) {
        case.c = word(number, &self.signature.c);
    }

    /// ∞ of a format, if it has one.
    pub(crate) fn infinity(format: &Format, negative: bool) -> Option<u64> {
        let ieee = format.float()?.specials == Specials::Ieee;
        ieee.then(|| format.to_register(format.infinity(negative, Overflow::Ieee)))
    }

    /// A NaN of a format, if it has one.
    pub(crate) fn nan(format: &Format) -> Option<u64> {
        format.nan().map(|code| format.to_register(code))
    }
}
