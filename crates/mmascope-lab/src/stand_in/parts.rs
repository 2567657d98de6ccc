//! A device that multiplies parts of significands: operands are powers of two times a number whose part it sees.

use super::{ask, blank};
use crate::dpa::{OperandWords, Operands, Signature};
use crate::dut::Dut;
use crate::error::Result;
use crate::exact::Dyadic;
use crate::format::{F32, F64, Float, Format, Kind, Register, Specials};

/// What is known of such a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(super) device: Signature,
    /// Fractions of a and b, as codes: with them a product shows.
    fractions: (u64, u64),
    /// The product of two numbers with exponent 0 and these fractions is 2^-lost.
    lost: i32,
}

impl Parts {
    /// Looks for numbers near 1 whose product shows, where that of 1 and 1 does not.
    pub(super) fn recognise(device: &mut dyn Dut) -> Result<(Option<Self>, usize)> {
        let signature = *device.signature();
        let (Some(a), Some(b)) = (narrow(signature.a), narrow(signature.b)) else {
            return Ok((None, 0));
        };
        if signature.scale.is_some() {
            return Ok((None, 0));
        }
        // One digit after the first, or none: highest digits first.
        let fractions = |float: Float| -> Vec<u64> {
            let digits = (0..float.fraction_bits).rev().map(|digit| 1 << digit);
            std::iter::once(0).chain(digits).collect()
        };
        let (of_a, of_b) = (fractions(a), fractions(b));
        let mut pairs: Vec<(u64, u64)> = of_a
            .iter()
            .flat_map(|&first| of_b.iter().map(move |&second| (first, second)))
            .collect();
        pairs.sort_by_key(|&(first, second)| u32::from(first > 0) + u32::from(second > 0));
        let one = |float: Float, fraction: u64, more: i32| {
            ((float.bias + more) as u64) << float.fraction_bits | fraction
        };
        let codes: Vec<(u64, u64)> = pairs
            .iter()
            .flat_map(|&(first, second)| {
                [0, 1].map(|more| (one(a, first, 0), one(b, second, more)))
            })
            .collect();
        let asked = codes.len();
        let numbers = ask(device, &codes)?;
        let (Some(none), true) = (&numbers[0], numbers.len() == asked) else {
            return Ok((None, asked));
        };
        if *none != Dyadic::default() {
            return Ok((None, asked));
        }
        let found = numbers
            .chunks(2)
            .zip(&pairs)
            .find_map(|(numbers, &fractions)| {
                let [Some(product), Some(twice)] = numbers else {
                    return None;
                };
                let lost = -i32::try_from(product.top()?).ok()?;
                let is_power = *product == super::power(-lost) && *twice == super::power(1 - lost);
                is_power.then_some(Self {
                    device: signature,
                    fractions,
                    lost,
                })
            });
        Ok((found, asked))
    }

    /// The same number of products, of powers of two.
    pub(super) fn signature(&self) -> Signature {
        Signature {
            a: powers(self.device.a, self.lost),
            b: powers(self.device.b, 0),
            ..self.device
        }
    }

    pub(super) fn operands(&self, query: &Operands<'_>) -> OperandWords {
        let mut own = blank(&self.device);
        own.c = query.c;
        let word = |format: Format, power: u64, fraction: u64| {
            let float = format.float();
            let (digits, field) = float.map_or((0, 0), |it| (it.fraction_bits, it.exponent_bits));
            let exponent = power & ((1 << field) - 1);
            let fraction = match exponent {
                0 => 0,
                _ if exponent + 1 == 1 << field => (1 << digits) - 1,
                _ => fraction,
            };
            format.to_register(power << digits | fraction)
        };
        let (format_a, format_b) = (self.device.a, self.device.b);
        for (k, (&a, &b)) in query.a.iter().zip(query.b).enumerate() {
            own.a[k] = word(format_a, a, self.fractions.0);
            own.b[k] = word(format_b, b, self.fractions.1);
        }
        own
    }

    pub(super) fn words(&self) -> String {
        let number = |format: Format, fraction: u64| {
            let digits = format.float().map_or(0, |float| float.fraction_bits);
            let digit = digits as i32 - fraction.trailing_zeros() as i32;
            match fraction {
                0 => "1".to_owned(),
                _ => format!("(1 + 2^-{digit})"),
            }
        };
        format!(
            "a product of 1 and 1 gives 0: the device multiplies parts of significands; every a that is asked is a power \
             of two times {}, every b one times {}, and other significands are not asked",
            number(self.device.a, self.fractions.0),
            number(self.device.b, self.fractions.1)
        )
    }
}

/// The float of a format whose significands are narrow enough that all pairs of digits can be asked, and whose products
/// f32 holds.
fn narrow(format: Format) -> Option<Float> {
    let is_wide = format == F32 || format == F64;
    format.float().filter(|_| format.signed && !is_wide)
}

/// The signed powers of two of a format, 2^`lost` times as small.
fn powers(format: Format, lost: i32) -> Format {
    let Some(float) = format.float() else {
        return format;
    };
    let bits = 1 + float.exponent_bits;
    Format {
        name: "powers-of-two",
        bits,
        kind: Kind::Float(Float {
            fraction_bits: 0,
            bias: float.bias + lost,
            // Exponents of all ones are left out: only they may mean something else.
            specials: Specials::AllOnesNan,
            subnormals: true,
            ..float
        }),
        register: Register {
            bits: if bits > 8 { 16 } else { 8 },
            shift: 0,
            of: None,
        },
        ..format
    }
}
