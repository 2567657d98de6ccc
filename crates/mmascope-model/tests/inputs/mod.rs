//! Seeded operands for any signature, from integers only.

use mmascope_model::dpa::schema::{PARAMETERS, Parameter, Roundings, ShownBy, Value};
use mmascope_model::dpa::{Dpa, OperandWords, Signature};
use mmascope_model::format::{BF16, E8M13, F16, Format, Rounding, TF32};

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded(text: &str, salt: u64) -> Self {
        let fold = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(text.bytes().fold(0xcbf2_9ce4_8422_2325 ^ salt, fold))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }
}

/// How the numbers of a case lie.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Any code, ∞ and NaN included.
    Uniform,
    /// Exponents within a few binades of each other.
    Clustered,
    /// Exponents within some forty binades: terms fall off.
    Spread,
    /// The lowest binades, subnormals included.
    Tiny,
    /// The highest binades.
    Large,
    /// Half of the operands are zeros of either sign.
    Zeros,
    /// Products that cancel in pairs, and few others.
    Cancelling,
}

pub(crate) const KINDS: [Kind; 7] = [
    Kind::Uniform,
    Kind::Clustered,
    Kind::Spread,
    Kind::Tiny,
    Kind::Large,
    Kind::Zeros,
    Kind::Cancelling,
];

/// A code with a field near `centre` (in 1/1024 of the exponent fields).
fn code(format: &Format, kind: Kind, centre: u64, random: &mut Random) -> u64 {
    let any = random.bits();
    let Some(float) = format.float() else {
        return any & format.mask();
    };
    let (fraction_bits, fields) = (float.fraction_bits, 1_u64 << float.exponent_bits);
    let middle = centre * fields / 1024;
    let around = |spread: u64, random: &mut Random| {
        (middle + random.below(2 * spread + 1))
            .saturating_sub(spread)
            .min(fields - 2)
    };
    let field = match kind {
        Kind::Uniform => return any & format.mask(),
        Kind::Clustered | Kind::Cancelling => around(2, random),
        Kind::Spread => around(20, random),
        Kind::Tiny => random.below(3.min(fields)),
        Kind::Large => fields - 2 - random.below(3.min(fields - 1)),
        Kind::Zeros if random.below(2) == 0 => {
            let sign = if format.signed { any & 1 } else { 0 };
            return sign << (format.bits - 1);
        }
        Kind::Zeros => around(3, random),
    };
    let fraction = match random.below(3) {
        0 => 0,
        1 => (1_u64 << fraction_bits) - 1,
        _ => any,
    } & ((1 << fraction_bits) - 1);
    let sign = u64::from(format.signed) & (any >> 63);
    sign << (format.bits - 1) | field << fraction_bits | fraction
}

/// Operands of one dot product.
pub(crate) fn operands(signature: &Signature, kind: Kind, random: &mut Random) -> OperandWords {
    let Signature {
        a, b, c, k, scale, ..
    } = signature;
    let (high, low) = (random.below(1024), random.below(1024));
    let mut words = |format: &Format, centre: u64, count: usize| -> Vec<u64> {
        let one = |_| format.to_register(code(format, kind, centre, random));
        (0..count).map(one).collect()
    };
    let mut found = OperandWords {
        a: words(a, high, *k),
        b: words(b, low, *k),
        c: words(c, (high + low) / 2, 1)[0],
        ..OperandWords::default()
    };
    if let Some(scale) = scale {
        let (near, count) = (500 + high / 32, signature.scales());
        found.scale_a = words(&scale.format, near, count);
        found.scale_b = words(&scale.format, near, count);
    }
    if let Kind::Cancelling = kind {
        for k in (1..*k).step_by(2) {
            if random.below(4) > 0 {
                found.b[k] = found.b[k - 1];
                let code = a.from_register(found.a[k - 1]) ^ 1 << (a.bits - 1);
                found.a[k] = a.to_register(code);
            }
        }
    }
    if random.below(3) == 0 {
        // A c near the products, whatever its own format.
        found.c = c.to_register(code(c, Kind::Spread, (high + low) / 2, random));
    }
    found
}

/// The step with drawn parameters: most of those that need not be said stay at their defaults.
#[allow(dead_code)]
pub(crate) fn drawn(step: &Dpa, random: &mut Random) -> Dpa {
    loop {
        let mut changed = *step;
        for parameter in PARAMETERS {
            let is_general = matches!(step, Dpa::General(_));
            let is_needed = ["L", "P", "F"].contains(&parameter.symbol);
            if !is_general || is_needed || random.below(5) == 0 {
                changed.set(parameter.symbol, value(parameter, random));
            }
        }
        if changed.check_limits().is_ok() {
            return changed;
        }
    }
}

/// A value of a parameter.
#[allow(dead_code)]
pub(crate) fn value(parameter: &Parameter, random: &mut Random) -> Value {
    let kind = parameter.kind;
    let mut pick = |count: usize| random.below(count as u64) as usize;
    let numbers = usize::from(kind.numbers.is_some()) * 4;
    let words = kind.words.len();
    let roundings = usize::from(kind.rounding != Roundings::No) * 2;
    let choice = pick(numbers + words + roundings);
    if choice < words {
        return Value::Word(kind.words[choice]);
    }
    const ROUNDINGS: [Rounding; 9] = [
        Rounding::Rz,
        Rounding::Rne,
        Rounding::Rd,
        Rounding::Ru,
        Rounding::Ra,
        Rounding::Rna,
        Rounding::Rnz,
        Rounding::Odd,
        Rounding::Rnd,
    ];
    if let Some((low, high)) = kind.numbers {
        let number = match parameter.shown_by {
            ShownBy::Blocks => [1, 2, 3, 4, 8, 16, 32][pick(7)],
            ShownBy::Floor => -(pick(170) as i32),
            ShownBy::Range => pick(150) as i32 - 20,
            _ => 1 + pick(40) as i32,
        };
        return Value::Number(number.clamp(low, high));
    }
    let rounding = ROUNDINGS[pick(9)];
    match kind.rounding {
        Roundings::WithFormat => Value::Rounded(rounding, [TF32, BF16, F16, E8M13][pick(4)]),
        _ => Value::Rounding(rounding),
    }
}
