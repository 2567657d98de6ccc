//! A device that adds its operands, `d = c + Σ (a_k ± b_k)`: each operand is a product of itself and 1.

use super::{ask, blank};
use crate::dpa::{OperandWords, Operands, Signature};
use crate::dut::Dut;
use crate::error::Result;
use crate::exact::{Dyadic, Exact};
use crate::format::{Float, Format, Kind, Overflow, Register, Rounding, Specials};

/// The format of the second factors: code 0 is 0, code 1 is 1.
const ONE_OR_NONE: Format = Format {
    name: "0-or-1",
    bits: 1,
    signed: false,
    kind: Kind::Float(Float {
        exponent_bits: 1,
        fraction_bits: 0,
        bias: 1,
        specials: Specials::None,
        subnormals: true,
    }),
    register: Register {
        bits: 4,
        shift: 0,
        of: None,
    },
};

/// What is known of such a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    pub(super) device: Signature,
    /// Whether b is subtracted.
    negated: bool,
}

impl Sums {
    /// Asks a device for operands alone, which show where products of 0 would not.
    pub(super) fn recognise(device: &mut dyn Dut) -> Result<(Option<Self>, usize)> {
        let signature = *device.signature();
        if signature.a != signature.b || !signature.a.signed || signature.scale.is_some() {
            return Ok((None, 0));
        }
        let format = &signature.a;
        let power = |exponent| {
            let number = Exact::power_of_two(false, exponent);
            format.round(&number, Rounding::Rne, Overflow::SaturateFinite)
        };
        let pairs = [(power(0), 0), (power(1), 0), (0, power(0)), (0, power(1))];
        let numbers: Option<Vec<Dyadic>> = ask(device, &pairs)?.into_iter().collect();
        let Some([a, twice_a, b, twice_b]) = numbers.as_deref() else {
            return Ok((None, pairs.len()));
        };
        let none = Dyadic::default();
        let doubles = &(a + a) == twice_a && &(b + b) == twice_b;
        let negated = a + b == none;
        let adds = *a != none && doubles && (negated || a == b);
        let found = adds.then_some(Self {
            device: signature,
            negated,
        });
        Ok((found, pairs.len()))
    }

    /// Twice as many products, of an operand and 0 or 1.
    pub(super) fn signature(&self) -> Signature {
        Signature {
            b: ONE_OR_NONE,
            k: 2 * self.device.k,
            ..self.device
        }
    }

    /// The operand that is the first factor of a product.
    pub(super) fn name_of(&self, product: usize) -> String {
        let sign = if self.negated { "-" } else { "" };
        match product % 2 {
            0 => format!("a{}", product / 2),
            _ => format!("{sign}b{}", product / 2),
        }
    }

    pub(super) fn words(&self) -> &'static str {
        if self.negated {
            "the device subtracts b from a and multiplies nothing: every operand is a summand of its own"
        } else {
            "the device adds a and b and multiplies nothing: every operand is a summand of its own"
        }
    }

    pub(super) fn operands(&self, query: &Operands<'_>) -> OperandWords {
        let mut own = blank(&self.device);
        own.c = query.c;
        let format = self.device.a;
        for (k, (&first, &second)) in query.a.iter().zip(query.b).enumerate() {
            if second == 0 {
                continue;
            }
            if k % 2 == 0 {
                own.a[k / 2] = first;
            } else {
                let sign = u64::from(self.negated) << (format.bits - 1);
                own.b[k / 2] = format.to_register(format.from_register(first) ^ sign);
            }
        }
        own
    }
}
