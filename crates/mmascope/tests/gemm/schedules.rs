//! Schedules: each clause against a computation of its own, in which everything outside the unit
//! is the host's IEEE arithmetic.

#[path = "schedules/outside.rs"]
mod outside;
#[path = "schedules/parts.rs"]
mod parts;
#[path = "schedules/whole.rs"]
mod whole;

use mmascope::array::Words;
use mmascope::dpa::{Modifiers, Operands, Unit};
use mmascope::format::{BF16, Conversion, E4M3FN, F16, F32, F64, Format, Overflow, Rounding};
use mmascope::gemm::{self, Matrix, Product, Schedule, SoftwareScales, Watch};

use super::{GO, Matrices, Random, unit};

const F16_ROW: (&str, &str) = ("hopper", "mma.m16n8k16.f32.f16.f16.f32");
const F8_ROW: (&str, &str) = ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3");
const HALF_ROW: (&str, &str) = ("hopper", "mma.m16n8k16.f16.f16.f16.f16");
const F64_ROW: (&str, &str) = ("ampere", "mma.m8n8k4.f64.f64.f64.f64");

fn watch() -> Watch<'static> {
    Watch {
        progress: &|_| (),
        cancel: &GO,
    }
}

/// A finite number of moderate size.
fn moderate(format: &Format, random: &mut Random) -> u64 {
    let bits = random.bits();
    let float = format.float().expect("a float");
    let middle = (1_u64 << (float.exponent_bits - 1)) - 4;
    let field = middle + bits % 7;
    let fraction = (bits >> 8) & ((1 << float.fraction_bits) - 1);
    let sign = (bits >> 60 & 1) << (format.bits - 1);
    format.to_register(sign | field << float.fraction_bits | fraction)
}

fn matrices(unit: &Unit, m: usize, n: usize, steps: usize, seed: u64) -> Matrices {
    let signature = unit.signature();
    let k = steps * signature.k;
    let random = &mut Random(seed);
    let mut words = |format: &Format, count: usize| -> Vec<u64> {
        (0..count).map(|_| moderate(format, random)).collect()
    };
    Matrices {
        m,
        n,
        k,
        a: words(&signature.a, m * k),
        b: words(&signature.b, k * n),
        c: Some(words(&signature.c, m * n)),
        ..Matrices::default()
    }
}

/// One output, step by step by single dot products.
struct Element<'a> {
    unit: &'a Unit,
    of: &'a Matrices,
    i: usize,
    j: usize,
}

impl Element<'_> {
    fn c(&self) -> u64 {
        self.of
            .c
            .as_ref()
            .map_or(0, |c| c[self.i * self.of.n + self.j])
    }

    fn step(&self, c: u64, step: usize) -> u64 {
        let (native, k, n) = (self.unit.signature().k, self.of.k, self.of.n);
        let ks = step * native..(step + 1) * native;
        let a: Vec<u64> = ks.clone().map(|at| self.of.a[self.i * k + at]).collect();
        let b: Vec<u64> = ks.map(|at| self.of.b[at * n + self.j]).collect();
        let operands = Operands {
            a: &a,
            b: &b,
            c,
            ..Operands::default()
        };
        self.unit
            .dot(&operands, &Modifiers::default())
            .expect("fits")
    }

    fn chain(&self, c: u64, steps: impl IntoIterator<Item = usize>) -> u64 {
        steps.into_iter().fold(c, |c, step| self.step(c, step))
    }

    fn chain_f32(&self, c: u64, steps: impl IntoIterator<Item = usize>) -> f32 {
        f32_of(self.chain(c, steps))
    }
}

fn f32_of(word: u64) -> f32 {
    f32::from_bits(u32::try_from(word).expect("32 bits"))
}

fn word(value: f32) -> u64 {
    u64::from(value.to_bits())
}

fn run(unit: &Unit, of: &Matrices, schedule: &str, scales: Option<&SoftwareScales>) -> Vec<u64> {
    let schedule: Schedule = schedule.parse().unwrap_or_else(|error| panic!("{error}"));
    let given = of.given(unit.signature()).expect("fits");
    let product = Product::new(unit, &given, Modifiers::default()).expect("fits");
    let d = schedule.run(&product, scales, &watch());
    d.unwrap_or_else(|error| panic!("{schedule}: {error}"))
        .to_vec()
}

/// Every output of a product of S steps against a function of its element.
fn compare(
    (arch, inst): (&str, &str),
    (m, n, steps): (usize, usize, usize),
    schedule: &str,
    expected: impl Fn(&Element<'_>) -> u64,
) {
    let unit = unit(arch, inst);
    let of = matrices(unit, m, n, steps, 77);
    let got = run(unit, &of, schedule, None);
    for (index, got) in got.iter().enumerate() {
        let (i, j) = (index / n, index % n);
        let element = Element {
            unit,
            of: &of,
            i,
            j,
        };
        let expected = expected(&element);
        assert_eq!(
            *got, expected,
            "{inst} [{schedule}] at {i}, {j}: {got:x} {expected:x}"
        );
    }
}

/// The f16 code nearest to a number below 65504, ties to even, by search among its neighbours.
fn half(value: f64) -> u64 {
    let magnitude = value.abs();
    let (mut low, mut high) = (0_u64, 0x7bff);
    assert!(magnitude <= half_value(high), "{value}");
    while high - low > 1 {
        let middle = (low + high) / 2;
        if half_value(middle) <= magnitude {
            low = middle;
        } else {
            high = middle;
        }
    }
    let (below, above) = (magnitude - half_value(low), half_value(high) - magnitude);
    let up = above < below || above == below && low & 1 == 1;
    (if up { high } else { low }) | u64::from(value.is_sign_negative()) << 15
}

fn half_value(code: u64) -> f64 {
    let (field, fraction) = ((code >> 10 & 31) as i32, (code & 1023) as f64);
    let magnitude = match field {
        0 => fraction * 2_f64.powi(-24),
        _ => (1024.0 + fraction) * 2_f64.powi(field - 25),
    };
    if code >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}
