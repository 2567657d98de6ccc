//! Schedules and what each of them is, said once more: the steps by the reference, one output after the
//! other, and all sums outside the unit by the host's IEEE arithmetic.

use mmascope::array::Words;
use mmascope::dpa::{Modifiers, Unit};
use mmascope::format::{F32, F64, Format};
use mmascope::gemm::{Matrices, Matrix, SoftwareScales};

use super::adversary::Random;
use super::oracle::{Dots, Output};

/// A schedule's text and, apart from it, its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    Chain,
    Descending,
    Stride,
    Blocks,
    SplitAscending,
    SplitPairwise,
    StreamK,
    Promote,
    Scaled,
    Epilogue,
    Together,
}

/// Rows and columns of a tile, and workers: no multiple of anything that kernels are made of.
const TILE: [usize; 2] = [13, 37];
const WORKERS: usize = 7;
/// Steps of a promotion; columns that share a software scale.
const EVERY: usize = 2;
const SHARED: usize = 24;

impl Plan {
    pub(crate) const ALL: [Self; 11] = [
        Self::Chain,
        Self::Descending,
        Self::Stride,
        Self::Blocks,
        Self::SplitAscending,
        Self::SplitPairwise,
        Self::StreamK,
        Self::Promote,
        Self::Scaled,
        Self::Epilogue,
        Self::Together,
    ];

    /// The text; needs three steps.
    pub(crate) fn text(self, unit: &Unit) -> String {
        let wide = if is_wide(unit) { "f64" } else { "f32" };
        let [rows, columns] = TILE;
        match self {
            Self::Chain => "chain".to_owned(),
            Self::Descending => "order=descending".to_owned(),
            Self::Stride => "order=stride/2".to_owned(),
            Self::Blocks => "order=blocks/2,0,1".to_owned(),
            Self::SplitAscending => format!("split-k=2 reduce=ascending/{wide}"),
            Self::SplitPairwise => format!("split-k=3 reduce=pairwise/{wide}"),
            Self::StreamK => {
                format!("stream-k={WORKERS} tile={rows}x{columns} reduce=descending/{wide}")
            }
            Self::Promote => format!("promote={EVERY}/{wide}"),
            Self::Scaled => format!("promote={EVERY}/{wide} scale=1x{SHARED}"),
            Self::Epilogue => format!("c=epilogue/{wide} alpha=0.375 beta=-3"),
            Self::Together => format!(
                "order=stride/2; split-k=2 reduce=descending/{wide}; promote=1/{wide}; \
                 c=epilogue/{wide} alpha=-1 beta=0.5 by=mul-add; out=rz bf16"
            ),
        }
    }

    /// Software scales, where the schedule has some: powers of two and numbers beside them.
    pub(crate) fn scales(
        self,
        unit: &Unit,
        matrices: &Matrices,
        seed: u64,
    ) -> Option<SoftwareScales> {
        (self == Self::Scaled).then(|| {
            let random = &mut Random::new(seed);
            let groups = (matrices.k() / unit.signature().k).div_ceil(EVERY);
            let mut scales = |rows: usize, columns: usize| {
                let mut word = || {
                    let value = 1.5_f64.powi(random.between(-9, 9)) as f32;
                    match is_wide(unit) {
                        true => f64::from(value).to_bits(),
                        false => u64::from(value.to_bits()),
                    }
                };
                let words: Vec<u64> = (0..rows * columns).map(|_| word()).collect();
                let words = Words::of(&outer(unit), words).expect("words");
                Matrix::row_major(rows, columns, words).expect("a matrix")
            };
            SoftwareScales {
                a: scales(matrices.m(), groups),
                b: scales(groups, matrices.n().div_ceil(SHARED)),
            }
        })
    }

    /// D.
    pub(crate) fn evaluate(
        self,
        unit: &Unit,
        matrices: &Matrices,
        modifiers: &Modifiers,
        scales: Option<&SoftwareScales>,
    ) -> Vec<u64> {
        let dots = Dots::new(unit, matrices, modifiers);
        let n = matrices.n();
        dots.all(|output| self.output(output, n, scales))
    }

    fn output(self, x: Output<'_>, n: usize, scales: Option<&SoftwareScales>) -> u64 {
        let steps = x.dots.steps();
        let strided = || (0..steps).step_by(2).chain((1..steps).step_by(2));
        let [one_third, half, two_thirds] = [steps / 3, steps / 2, 2 * steps / 3];
        let wide = is_wide(x.dots.unit());
        let inner = Sum::of_unit(x.dots.unit());
        match self {
            Self::Chain => x.chain_from_c(0..steps),
            Self::Descending => x.chain_from_c((0..steps).rev()),
            Self::Stride => x.chain_from_c(strided()),
            Self::Blocks => x.chain_from_c(
                (two_thirds..steps)
                    .chain(0..one_third)
                    .chain(one_third..two_thirds),
            ),
            Self::SplitAscending => {
                let parts = [x.chain_from_c(0..half), x.chain(0, half..steps)];
                let [p, q] = parts.map(inner);
                p.plus(q).word()
            }
            Self::SplitPairwise => {
                let parts = [
                    x.chain_from_c(0..one_third),
                    x.chain(0, one_third..two_thirds),
                    x.chain(0, two_thirds..steps),
                ];
                let [p, q, r] = parts.map(inner);
                p.plus(q).plus(r).word()
            }
            Self::StreamK => {
                let mut parts = parts_of_tile(&x, n, steps);
                if let [only] = parts[..] {
                    return match x.dots.unit().signature().d == outer(x.dots.unit()) {
                        true => only,
                        false => inner(only).word(),
                    };
                }
                parts.reverse();
                let sums = parts.into_iter().map(inner);
                sums.reduce(Sum::plus).expect("a part").word()
            }
            Self::Promote => {
                let mut sum = Sum::of_c(&x);
                for from in (0..steps).step_by(EVERY) {
                    sum = sum.plus(inner(x.chain(0, from..steps.min(from + EVERY))));
                }
                sum.word()
            }
            Self::Scaled => {
                let scales = scales.expect("scales");
                let mut sum = Sum::of_c(&x);
                for from in (0..steps).step_by(EVERY) {
                    let group = from / EVERY;
                    let of = |word: u64| match wide {
                        true => Sum::Wide(f64::from_bits(word)),
                        false => Sum::Single(f32::from_bits(word as u32)),
                    };
                    let a = of(scales.a.at(0, x.i, group));
                    let b = of(scales.b.at(0, group, x.j / SHARED));
                    let part = inner(x.chain(0, from..steps.min(from + EVERY)));
                    sum = a.times(b).times_plus(part, sum);
                }
                sum.word()
            }
            Self::Epilogue => {
                let sum = inner(x.chain(0, 0..steps));
                let (alpha, beta) = (Sum::new(0.375, wide), Sum::new(-3.0, wide));
                alpha.times_plus(sum, beta.times(Sum::of_c(&x))).word()
            }
            Self::Together => {
                let places: Vec<usize> = strided().collect();
                let part = |places: &[usize]| {
                    let zero = Sum::new(0.0, wide);
                    let sums = places.iter().map(|&step| inner(x.chain(0, [step])));
                    sums.fold(zero, Sum::plus)
                };
                let sum = part(&places[half..]).plus(part(&places[..half]));
                let (alpha, beta) = (Sum::new(-1.0, wide), Sum::new(0.5, wide));
                let sum = alpha.times(sum).plus(beta.times(Sum::of_c(&x)));
                sum.bf16_toward_zero()
            }
        }
    }
}

/// The parts of an output under stream-K, worker by worker.
fn parts_of_tile(x: &Output<'_>, n: usize, steps: usize) -> Vec<u64> {
    let [rows, columns] = TILE;
    let across = n.div_ceil(columns);
    let m = x.dots.m();
    let total = m.div_ceil(rows) * across * steps;
    let first = (x.i / rows * across + x.j / columns) * steps;
    // Worker w begins at w·⌊total/workers⌋ and one more for each of the workers before it that has one more.
    let begins = |worker: usize| worker * (total / WORKERS) + worker.min(total % WORKERS);
    let is_cut = |place: usize| (0..WORKERS).any(|worker| begins(worker) == place);
    let mut parts = Vec::new();
    let mut from = 0;
    for end in 1..=steps {
        if end == steps || is_cut(first + end) {
            parts.push(match from {
                0 => x.chain_from_c(from..end),
                _ => x.chain(0, from..end),
            });
            from = end;
        }
    }
    parts
}

/// Whether sums outside the unit are f64.
fn is_wide(unit: &Unit) -> bool {
    unit.signature().d == F64
}

fn outer(unit: &Unit) -> Format {
    if is_wide(unit) { F64 } else { F32 }
}

/// A number outside the unit.
#[derive(Clone, Copy, Debug)]
enum Sum {
    Single(f32),
    Wide(f64),
}

impl Sum {
    fn new(value: f32, wide: bool) -> Self {
        match wide {
            true => Self::Wide(value.into()),
            false => Self::Single(value),
        }
    }

    /// A word of a format, exactly.
    fn of(format: &Format, word: u64, wide: bool) -> Self {
        let single = match format.name {
            "f64" => return Self::Wide(f64::from_bits(word)),
            "f16" => half_value(word),
            "bf16" => f32::from_bits((word as u32) << 16),
            // These are f32 words with low bits 0.
            "f32" | "tf32" | "e8m13" => f32::from_bits(word as u32),
            other => panic!("an accumulator in {other}"),
        };
        Self::new(single, wide)
    }

    fn of_unit(unit: &Unit) -> impl Fn(u64) -> Self + Copy {
        let wide = is_wide(unit);
        move |word| Self::of(&unit.signature().d, word, wide)
    }

    fn of_c(x: &Output<'_>) -> Self {
        let unit = x.dots.unit();
        Self::of(&unit.signature().c, x.c(), is_wide(unit))
    }

    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Single(x), Self::Single(y)) => Self::Single(x + y),
            (Self::Wide(x), Self::Wide(y)) => Self::Wide(x + y),
            _ => unreachable!("one format"),
        }
    }

    fn times(self, other: Self) -> Self {
        match (self, other) {
            (Self::Single(x), Self::Single(y)) => Self::Single(x * y),
            (Self::Wide(x), Self::Wide(y)) => Self::Wide(x * y),
            _ => unreachable!("one format"),
        }
    }

    fn times_plus(self, factor: Self, other: Self) -> Self {
        match (self, factor, other) {
            (Self::Single(x), Self::Single(y), Self::Single(z)) => Self::Single(x.mul_add(y, z)),
            (Self::Wide(x), Self::Wide(y), Self::Wide(z)) => Self::Wide(x.mul_add(y, z)),
            _ => unreachable!("one format"),
        }
    }

    /// NaNs outside the unit are the default quiet one.
    fn word(self) -> u64 {
        match self {
            Self::Single(x) if x.is_nan() => 0x7fc0_0000,
            Self::Single(x) => x.to_bits().into(),
            Self::Wide(x) if x.is_nan() => 0x7ff8_0000_0000_0000,
            Self::Wide(x) => x.to_bits(),
        }
    }

    fn bf16_toward_zero(self) -> u64 {
        let nearest = match self {
            Self::Single(x) => x,
            Self::Wide(x) => {
                // To f32 toward zero, then to bf16 toward zero: the same as once.
                let nearest = x as f32;
                let went_up = f64::from(nearest).abs() > x.abs();
                f32::from_bits(nearest.to_bits() - u32::from(went_up))
            }
        };
        match nearest.is_nan() {
            true => 0x7fc0,
            false => (nearest.to_bits() >> 16).into(),
        }
    }
}

fn half_value(word: u64) -> f32 {
    let (field, fraction) = ((word >> 10 & 31) as i32, (word & 1023) as f32);
    let magnitude = match field {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2_f32.powi(field - 25),
    };
    if word >> 15 & 1 == 1 {
        -magnitude
    } else {
        magnitude
    }
}
