//! Units of every algorithm, and seeded operands of several kinds, from integers only.

use mmascope::dpa::{Modifiers, Operands, Scale, Signature, Unit};
use mmascope::format::Format;

/// Kinds of operands; every case takes the next one.
pub(super) const KINDS: usize = 7;

/// Signature and program of units, by algorithm.
pub(super) const UNITS: [(&str, &[(&str, &str)]); 10] = [
    (
        "fma-chain",
        &[
            ("f32 f32 f32 f32 4", "fma-chain -> rne f32"),
            ("f64 f64 f64 f64 4", "fma-chain -> rne f64"),
            ("f64 f64 f64 f64 3", "fma-chain -> rd f64"),
            ("f64 f64 f64 f64 3", "fma-chain -> ru f64"),
            ("f64 f64 f64 f64 3", "fma-chain -> rz f64"),
        ],
    ),
    (
        "t-fdpa",
        &[
            (
                "f16 f16 f32 f32 4",
                "t-fdpa L=4 F=23 e0=-131 -> rz f32 nan=7fffffff",
            ),
            (
                "f16 f16 f32 f32 16",
                "t-fdpa L=8 F=24 e0=-132 -> rz f32 nan=7fffffff",
            ),
            (
                "bf16 bf16 f32 f32 16",
                "t-fdpa L=16 F=25 e0=-133 -> rz f32 nan=7fffffff",
            ),
            (
                "tf32 tf32 f32 f32 8",
                "t-fdpa L=4 F=24 e0=-132 -> rz f32 nan=7fffffff",
            ),
            (
                "f16 f16 f16 f16 16",
                "t-fdpa L=16 F=25 e0=-21 -> rne f16 nan=7fff",
            ),
            (
                "e4m3 e5m2 f32 f32 32",
                "t-fdpa L=16 F=13 e0=-132 -> rz e8m13 nan=7fffffff",
            ),
            (
                "bf16 bf16 f32 f32 6",
                "t-fdpa L=4 F=9 e0=-126 align=rne -> rne f32 zero=ieee",
            ),
            (
                "bf16 bf16 f32 f32 6",
                "t-fdpa L=4 F=9 e0=-126 align=ru -> rd f32 zero=exact overflow=ieee",
            ),
        ],
    ),
    (
        "st-fdpa",
        &[
            (
                "e5m2 e4m3 f32 f32 64 ue8m0 32",
                "st-fdpa L=32 F=25 e0=-133 -> rz f32 nan=7fffffff",
            ),
            (
                "e3m2 e2m1 f32 f32 32 ue8m0 32",
                "st-fdpa L=32 F=25 e0=-133 -> rz f32 nan=7fffffff",
            ),
        ],
    ),
    (
        "gst-fdpa",
        &[
            (
                "e2m1 e2m1 f32 f32 64 ue8m0 32",
                "gst-fdpa L=64 G=16 F=35 e0=-139 -> rz f32 nan=7fffffff",
            ),
            (
                "e2m1 e2m1 f32 f32 64 ue4m3 16",
                "gst-fdpa L=64 G=16 F=35 e0=-139 -> rz f32 nan=7fffffff",
            ),
            (
                "e4m3 e5m2 f32 f32 32 ue4m3 8",
                "gst-fdpa L=16 G=4 F=9 e0=-30 align=rd -> rne f32 zero=ieee",
            ),
        ],
    ),
    (
        "ftz-addmul",
        &[
            ("f16 f16 f32 f32 8", "ftz-addmul P=4 -> rne f32"),
            ("bf16 bf16 f32 f32 4", "ftz-addmul P=2 -> rne f32"),
            (
                "bf16 bf16 f32 f32 7",
                "ftz-addmul P=4 flush-in=kept flush-out=plus -> rne f32",
            ),
        ],
    ),
    (
        "e-fdpa",
        &[
            ("f16 f16 f32 f32 8", "e-fdpa L=4 -> rne f32"),
            ("bf16 bf16 f32 f32 4", "e-fdpa L=2 -> rne f32"),
            ("f32 f32 f32 f32 8", "e-fdpa L=8 -> rne f32"),
        ],
    ),
    (
        "tr-fdpa",
        &[
            ("f16 f16 f32 f32 16", "tr-fdpa L=8 F=24 F2=31 -> rne f32"),
            ("bf16 bf16 f32 f32 8", "tr-fdpa L=8 F=24 F2=31 -> rne f32"),
            ("tf32 tf32 f32 f32 8", "tr-fdpa L=4 F=24 F2=31 -> rne f32"),
            (
                "bf16 bf16 f32 f32 4",
                "tr-fdpa L=4 F=5 F2=8 -> rz f32 zero=ieee",
            ),
        ],
    ),
    (
        "gtr-fdpa",
        &[
            (
                "e4m3fnuz e5m2fnuz f32 f32 32",
                "gtr-fdpa L=16 F=24 F2=31 -> rne f32",
            ),
            (
                "e5m2fnuz e5m2fnuz f32 f32 16",
                "gtr-fdpa L=16 F=24 F2=31 -> rne f32",
            ),
            ("bf16 bf16 f32 f32 7", "gtr-fdpa L=4 F=6 F2=9 -> rne f32"),
        ],
    ),
    (
        "add, convert",
        &[
            (
                "e4m3 e5m2 f32 f32 8",
                "s = t-fdpa L=16 F=25 e0=-133 as f16 over k%4=0,1 from +0 -> rz f32 nan=7fffffff ; \
                 t = t-fdpa L=16 F=25 e0=-133 as f16 over k%4=2,3 from s -> rz f32 nan=7fffffff ; \
                 d = add c t -> rne f32 nan=7fffffff",
            ),
            (
                "f16 f16 f32 f16 16",
                "t = t-fdpa L=8 F=24 e0=-132 -> rz f32 nan=7fffffff ; d = convert t -> rne f16 nan=7fff",
            ),
            (
                "f16 f16 f16 f32 16",
                "w = convert c -> rne f32 nan=7fffffff ; d = t-fdpa L=8 F=24 e0=-132 from w -> rz f32 nan=7fffffff",
            ),
        ],
    ),
    (
        "from product",
        &[(
            "f16 f16 f16 f16 4",
            "p = fma-chain over k=0,1 from product -> rne f32 nan=7fffffff ; \
             q = fma-chain over k=2,3 from product -> rne f32 nan=7fffffff ; \
             s = add c p -> rne f32 nan=7fffffff ; t = add s q -> rne f32 nan=7fffffff ; \
             d = convert t -> rne f16 nan=7fff",
        )],
    ),
];

/// A unit from `a b c d K [scale block]` and a program.
pub(super) fn unit(signature: &str, program: &str) -> Unit {
    let words: Vec<&str> = signature.split(' ').collect();
    let format = |index: usize| Format::named(words[index]).expect("a format");
    let signature = Signature {
        a: format(0),
        b: format(1),
        c: format(2),
        d: format(3),
        k: words[4].parse().expect("K"),
        scale: words.get(6).map(|block| Scale {
            format: format(5),
            block: block.parse().expect("a block"),
        }),
    };
    Unit::new(signature, program.parse().expect("a program")).expect("a unit")
}

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
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

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }
}

/// The operands of one case.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) a: Vec<u64>,
    pub(super) b: Vec<u64>,
    pub(super) c: u64,
    pub(super) scale_a: Vec<u64>,
    pub(super) scale_b: Vec<u64>,
    pub(super) modifiers: Modifiers,
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

    /// The case of a number; its kind is `number mod KINDS`.
    pub(super) fn of(signature: &Signature, random: &mut Random, number: usize) -> Self {
        let kind = number % KINDS;
        // Centre of the exponent fields, as a fraction of their range; shared by a and b.
        let centre = random.below(1000);
        let side = |format: &Format, random: &mut Random| -> Vec<u64> {
            (0..signature.k)
                .map(|_| element(format, kind, centre, random))
                .collect()
        };
        let mut a = side(&signature.a, random);
        let mut b = side(&signature.b, random);
        let mut c = element(
            &signature.c,
            kind,
            (2 * centre).saturating_sub(500).min(999),
            random,
        );
        if kind == 4 {
            // Neighbours cancel, wholly or almost.
            for k in (1..signature.k).step_by(2) {
                let nearly = u64::from(random.below(3) == 0);
                b[k] = b[k - 1];
                a[k] = a[k - 1] ^ sign_bit(&signature.a) ^ signature.a.to_register(nearly);
            }
            if random.below(2) == 0 {
                c = sign_bit(&signature.c) * random.below(2);
            }
        }
        let scale = |random: &mut Random| -> Vec<u64> {
            let Some(Scale { format, .. }) = signature.scale else {
                return Vec::new();
            };
            let one = |random: &mut Random| match (kind, random.below(16)) {
                (0, _) | (_, 0) => random.bits() & format.mask(),
                _ => (format.mask() / 2).saturating_sub(4) + random.below(8),
            };
            (0..signature.scales()).map(|_| one(random)).collect()
        };
        let (scale_a, scale_b) = (scale(random), scale(random));
        let mut modifiers = Modifiers::default();
        if random.below(8) == 0 {
            modifiers.negate_a = random.below(2) == 0;
            modifiers.negate_b = random.below(2) == 0;
            modifiers.negate_c = random.below(2) == 0;
            modifiers.no_c = random.below(4) == 0;
            modifiers.scale_d = -(random.below(16) as i32);
            if signature.c.float().is_none() {
                modifiers.scale_d = 0;
            }
        }
        Self {
            a,
            b,
            c,
            scale_a,
            scale_b,
            modifiers,
        }
    }
}

fn sign_bit(format: &Format) -> u64 {
    format.to_register(1 << (format.bits - 1))
}

fn element(format: &Format, kind: usize, centre: u64, random: &mut Random) -> u64 {
    let Some(float) = format.float() else {
        return format.to_register(random.bits());
    };
    let sign = sign_bit(format) * random.below(2);
    let fields = 1_u64 << float.exponent_bits;
    let fraction_mask = (1 << float.fraction_bits) - 1;
    let make = |field: u64, fraction: u64| {
        let field = field.min(fields - 1);
        sign | format.to_register(field << float.fraction_bits | fraction & fraction_mask)
    };
    let near = |spread: u64, random: &mut Random| {
        let spread = spread.min(fields / 2).max(1);
        (centre * (fields - spread) / 1000) + random.below(spread)
    };
    match kind {
        // Any bits, specials included.
        0 => {
            random.bits() & (u64::MAX >> (64 - format.register.bits)) & format.to_register(u64::MAX)
        }
        // Exponents that are close to each other.
        1 | 4 => make(near(6, random), random.bits()),
        // Exponents as far apart as the alignment reaches.
        2 => make(near(40, random), random.bits()),
        // Subnormals, zeros of both signs, the smallest normals.
        3 => make(random.below(3), random.bits() & random.bits()),
        // Powers of two, neighbours of powers of two, zeros.
        5 => match random.below(6) {
            0 => make(0, 0),
            1 => make(near(30, random), u64::MAX),
            2 => make(near(30, random), 1),
            _ => make(near(30, random), 0),
        },
        // The largest, the smallest, infinities, NaN, few of each among ordinary numbers.
        _ => match random.below(8) {
            0 => make(fields - 1, 0),
            1 => make(fields - 2, u64::MAX),
            2 => make(0, 1),
            3 if random.below(8) == 0 => make(fields - 1, u64::MAX),
            _ => make(near(12, random), random.bits()),
        },
    }
}
