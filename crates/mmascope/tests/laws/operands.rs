//! Seeded random operands of several kinds, from integers only.

use mmascope::dpa::{Modifiers, Operands, Signature, Unit};
use mmascope::format::{Class, Format};

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    /// A stream of its own for every text (a row's name, for example).
    pub(super) fn seeded(text: &str, salt: u64) -> Self {
        let fold = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(text.bytes().fold(0xcbf2_9ce4_8422_2325 ^ salt, fold))
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    pub(super) fn range(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1) as usize) as i32
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any register word, ∞ and NaN included.
    Uniform,
    /// Exponents within a few binades of each other.
    Clustered,
    /// The lowest binades, subnormals included.
    Tiny,
    /// The highest finite binades.
    NearMax,
    /// Half of the operands are zeros of either sign.
    Zeros,
    /// Large products that cancel, and small ones.
    Cancelling,
}

pub(super) const KINDS: [Kind; 6] = [
    Kind::Uniform,
    Kind::Clustered,
    Kind::Tiny,
    Kind::NearMax,
    Kind::Zeros,
    Kind::Cancelling,
];

/// The operands of one dot product, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) a: Vec<u64>,
    pub(super) b: Vec<u64>,
    pub(super) c: u64,
    pub(super) scale_a: Vec<u64>,
    pub(super) scale_b: Vec<u64>,
}

impl Case {
    pub(super) fn operands(&self) -> Operands<'_> {
        Operands {
            a: &self.a,
            b: &self.b,
            c: self.c,
            scale_a: &self.scale_a,
            scale_b: &self.scale_b,
        }
    }

    pub(super) fn run(&self, unit: &Unit) -> u64 {
        self.run_with(unit, &Modifiers::default())
    }

    pub(super) fn run_with(&self, unit: &Unit, modifiers: &Modifiers) -> u64 {
        unit.dot(&self.operands(), modifiers).expect("lengths fit")
    }

    pub(super) fn random(signature: &Signature, kind: Kind, random: &mut Random) -> Self {
        let Signature { a, b, c, .. } = *signature;
        let mut case = Self {
            a: words(&a, signature.k, kind, random),
            b: words(&b, signature.k, kind, random),
            c: 0,
            scale_a: Vec::new(),
            scale_b: Vec::new(),
        };
        if let Some(scale) = signature.scale {
            case.scale_a = words(&scale.format, signature.scales(), kind, random);
            case.scale_b = words(&scale.format, signature.scales(), kind, random);
        }
        case.c = match kind {
            Kind::Clustered | Kind::Zeros if random.below(8) > 0 => {
                let product = exponent(&a, case.a[0]) + exponent(&b, case.b[0]);
                near(&c, product + random.range(-12, 12), random)
            }
            _ => words(&c, 1, kind, random)[0],
        };
        if kind == Kind::Cancelling && signature.k > 2 {
            let (x, y) = (random.below(signature.k), random.below(signature.k));
            if x != y {
                let big = near(&a, exponent(&a, case.a[x]) + 20, random);
                (case.a[x], case.b[y]) = (big, case.b[x]);
                case.a[y] = negated(&a, big);
            }
        }
        case
    }
}

fn words(format: &Format, count: usize, kind: Kind, random: &mut Random) -> Vec<u64> {
    let float = format.float().expect("operands are floats");
    let (low, high) = exponent_range(format);
    let middle = random.range(low, high);
    let junk = (1_u64 << format.register.shift) - 1;
    (0..count)
        .map(|_| match kind {
            Kind::Uniform => random.bits() & (u64::MAX >> (64 - format.register.bits)),
            Kind::Clustered | Kind::Cancelling => {
                near(format, middle + random.range(-2, 2), random)
            }
            Kind::Tiny => {
                let field = random.below(3) as u64;
                let code =
                    field << float.fraction_bits | random.bits() & ((1 << float.fraction_bits) - 1);
                finite(format, with_sign(format, code, random)) | random.bits() & junk
            }
            Kind::NearMax => near(format, high - random.range(0, 2), random),
            Kind::Zeros if random.below(2) == 0 && format.signed => {
                finite(format, with_sign(format, 0, random)) | random.bits() & junk
            }
            Kind::Zeros => near(format, middle + random.range(-3, 3), random),
        })
        .collect()
}

/// Lowest and highest exponent of normal numbers.
pub(super) fn exponent_range(format: &Format) -> (i32, i32) {
    let float = format.float().expect("operands are floats");
    let top = format.decode(format.max_finite(false)).exponent;
    (float.emin(), top)
}

/// A random normal number with that exponent (the nearest one that the format has), any sign.
pub(super) fn near(format: &Format, exponent: i32, random: &mut Random) -> u64 {
    let float = format.float().expect("operands are floats");
    let (low, high) = exponent_range(format);
    let field = exponent.clamp(low, high) - low + i32::from(float.subnormals);
    let fraction = random.bits() & ((1 << float.fraction_bits) - 1);
    let code = (field as u64) << float.fraction_bits | fraction;
    finite(format, with_sign(format, code, random))
}

fn with_sign(format: &Format, code: u64, random: &mut Random) -> u64 {
    let sign = u64::from(format.signed) & random.bits();
    code | (sign & 1) << (format.bits - 1)
}

/// The register word of a code; ∞ and NaN become the largest finite number, the NaN that stands in
/// the place of −0 becomes 0.
fn finite(format: &Format, code: u64) -> u64 {
    let value = format.decode(code);
    let is_finite = matches!(value.class, Class::Zero | Class::Finite);
    let code = match (is_finite, code & (format.mask() >> 1)) {
        (true, _) => code,
        (false, 0) => 0,
        (false, _) => format.max_finite(value.negative),
    };
    format.to_register(code)
}

fn exponent(format: &Format, word: u64) -> i32 {
    format.decode(format.from_register(word)).exponent
}

/// The word with the opposite sign; the formats without −0 keep their zero and their NaN.
pub(super) fn negated(format: &Format, word: u64) -> u64 {
    let sign = 1_u64 << (format.bits - 1);
    let code = format.from_register(word);
    let has_negative_zero = format.zero(true) != format.zero(false);
    if code & !sign == 0 && !has_negative_zero {
        word
    } else {
        word ^ sign << format.register.shift
    }
}
