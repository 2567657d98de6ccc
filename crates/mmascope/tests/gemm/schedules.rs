//! Schedules: each clause against a computation of its own, in which everything outside the unit
//! is the host's IEEE arithmetic.

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

#[test]
fn orders() {
    for row in [F16_ROW, F8_ROW, F64_ROW, HALF_ROW] {
        let chain =
            |steps: &'static [usize]| move |x: &Element<'_>| x.chain(x.c(), steps.iter().copied());
        let shape = (5, 3, 7);
        compare(row, shape, "chain", chain(&[0, 1, 2, 3, 4, 5, 6]));
        compare(row, shape, "order=ascending", chain(&[0, 1, 2, 3, 4, 5, 6]));
        compare(
            row,
            shape,
            "order=descending",
            chain(&[6, 5, 4, 3, 2, 1, 0]),
        );
        compare(row, shape, "order=stride/3", chain(&[0, 3, 6, 1, 4, 2, 5]));
        compare(row, shape, "order=stride/9", chain(&[0, 1, 2, 3, 4, 5, 6]));
        // Blocks begin at 0, ⌊7/3⌋ = 2, ⌊14/3⌋ = 4.
        compare(
            row,
            shape,
            "order=blocks/2,0,1",
            chain(&[4, 5, 6, 0, 1, 2, 3]),
        );
    }
    // The orders differ in their bits, so that the comparisons can fail.
    let unit = unit(F16_ROW.0, F16_ROW.1);
    let of = matrices(unit, 5, 3, 7, 77);
    assert_ne!(
        run(unit, &of, "chain", None),
        run(unit, &of, "order=descending", None)
    );
}

#[test]
fn split_k_and_its_reductions() {
    // Three parts of seven steps begin at 0, 2, 4.
    let parts = |x: &Element<'_>| {
        [
            x.chain_f32(x.c(), 0..2),
            x.chain_f32(0, 2..4),
            x.chain_f32(0, 4..7),
        ]
    };
    for row in [F16_ROW, F8_ROW] {
        compare(row, (4, 5, 7), "split-k=3 reduce=ascending/f32", |x| {
            let [p, q, r] = parts(x);
            word((p + q) + r)
        });
        compare(row, (4, 5, 7), "split-k=3 reduce=descending/f32", |x| {
            let [p, q, r] = parts(x);
            word((r + q) + p)
        });
        compare(row, (4, 5, 7), "split-k=3 reduce=ascending/f64", |x| {
            let [p, q, r] = parts(x).map(f64::from);
            ((p + q) + r).to_bits()
        });
        // Toward zero: the sum is exact in f64 here, and its low bits are cut off.
        compare(row, (4, 5, 7), "split-k=3 reduce=ascending/f32/rz", |x| {
            let add = |x: f32, y: f32| {
                let exact = f64::from(x) + f64::from(y);
                let nearest = exact as f32;
                if f64::from(nearest).abs() <= exact.abs() {
                    nearest
                } else {
                    f32::from_bits(nearest.to_bits() - 1)
                }
            };
            let [p, q, r] = parts(x);
            word(add(add(p, q), r))
        });
    }
    compare(F64_ROW, (4, 5, 7), "split-k=3 reduce=pairwise/f64", |x| {
        let of = |c: u64, steps| f64::from_bits(x.chain(c, steps));
        ((of(x.c(), 0..2) + of(0, 2..4)) + of(0, 4..7)).to_bits()
    });
    // Pairwise over every number of parts, by levels.
    for parts in 1..=9 {
        let schedule = format!("split-k={parts} reduce=pairwise/f32");
        compare(F16_ROW, (3, 2, 9), &schedule, |x| {
            let start = |part: usize| part * 9 / parts;
            let mut sums: Vec<f32> = (0..parts)
                .map(|part| {
                    let c = if part == 0 { x.c() } else { 0 };
                    x.chain_f32(c, start(part)..start(part + 1))
                })
                .collect();
            while sums.len() > 1 {
                sums = sums
                    .chunks(2)
                    .map(|pair| pair.iter().copied().reduce(|p, q| p + q).expect("one"))
                    .collect();
            }
            word(sums[0])
        });
    }
    // f16: partial sums are rounded to f16 first; f64 holds sums of two exactly.
    compare(F16_ROW, (6, 6, 4), "split-k=2 reduce=ascending/f16", |x| {
        let round = |value: f64| half(value);
        let [p, q] = [x.chain(x.c(), 0..2), x.chain(0, 2..4)].map(|sum| f64::from(f32_of(sum)));
        let sum = half_value(round(p)) + half_value(round(q));
        round(sum)
    });
    // The order of steps comes before the cut.
    compare(
        F16_ROW,
        (3, 3, 6),
        "order=stride/2; split-k=2 reduce=ascending/f32",
        |x| word(x.chain_f32(x.c(), [0, 2, 4]) + x.chain_f32(0, [1, 3, 5])),
    );
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

#[test]
fn stream_k_deals_tiles_times_iterations_out() {
    // 5 × 7 in tiles of 2 × 3 is 3 × 3 tiles.
    for (workers, iteration) in [
        (1, 1),
        (2, 1),
        (4, 1),
        (5, 2),
        (7, 3),
        (9, 1),
        (40, 1),
        (200, 1),
    ] {
        for order in ["ascending", "descending"] {
            let schedule =
                format!("stream-k={workers} tile=2x3 iteration={iteration} reduce={order}/f32");
            let steps = 5_usize;
            compare(F16_ROW, (5, 7, steps), &schedule, |x| {
                let tile = x.i / 2 * 3 + x.j / 3;
                let iterations = steps.div_ceil(iteration);
                let total = 9 * iterations;
                // Who does each iteration, one by one.
                let mut owner = Vec::new();
                for worker in 0..workers {
                    let mine = total / workers + usize::from(worker < total % workers);
                    owner.extend(vec![worker; mine]);
                }
                let mut sums: Vec<u64> = Vec::new();
                for at in 0..iterations {
                    let number = tile * iterations + at;
                    if at == 0 || owner[number] != owner[number - 1] {
                        sums.push(if at == 0 { x.c() } else { 0 });
                    }
                    let sum = sums.last_mut().expect("one");
                    *sum = x.chain(*sum, at * iteration..steps.min((at + 1) * iteration));
                }
                if order == "descending" {
                    sums.reverse();
                }
                word(
                    sums.into_iter()
                        .map(f32_of)
                        .reduce(|p, q| p + q)
                        .expect("one"),
                )
            });
        }
    }
}

#[test]
fn promotion_to_an_accumulator_outside() {
    for row in [F16_ROW, F8_ROW] {
        compare(row, (4, 4, 7), "promote=3/f32", |x| {
            let mut sum = f32_of(x.c());
            for group in [0..3, 3..6, 6..7] {
                sum += x.chain_f32(0, group);
            }
            word(sum)
        });
        compare(
            row,
            (4, 4, 8),
            "split-k=2 reduce=ascending/f32; promote=2/f32",
            |x| {
                let first = f32_of(x.c()) + x.chain_f32(0, 0..2) + x.chain_f32(0, 2..4);
                let second = 0.0 + x.chain_f32(0, 4..6) + x.chain_f32(0, 6..8);
                word(first + second)
            },
        );
        compare(row, (4, 4, 4), "promote=1/f64", |x| {
            let start = f64::from(f32_of(x.c()));
            (0..4)
                .fold(start, |sum, step| {
                    sum + f64::from(x.chain_f32(0, step..step + 1))
                })
                .to_bits()
        });
    }
}

/// The scheme of DeepSeek's fp8 products: 1 × 128 scales of A, 128 × 128 scales of B, a promotion
/// every 128 products.
#[test]
fn software_scales_are_applied_at_the_promotion() {
    let unit = unit(F8_ROW.0, F8_ROW.1);
    let random = &mut Random(6);
    let mut scales = |rows: usize, columns: usize| {
        let words: Vec<u64> = (0..rows * columns)
            .map(|_| word((random.bits() % 1_000_003) as f32 * 1e-6 + 1e-3))
            .collect();
        Matrix::row_major(rows, columns, Words::of(&F32, words).expect("words")).expect("fits")
    };
    let (m, n) = (5, 150);
    let scales = SoftwareScales {
        a: scales(m, 3),
        b: scales(3, 2),
    };
    // K = 320 is two whole blocks of 128 and a half; from the other end only whole ones will do.
    let ragged: &[&[usize]] = &[&[0, 1, 2, 3], &[4, 5, 6, 7], &[8, 9]];
    let backwards: &[&[usize]] = &[&[11, 10, 9, 8], &[7, 6, 5, 4], &[3, 2, 1, 0]];
    for (order, steps, groups) in [("ascending", 10, ragged), ("descending", 12, backwards)] {
        let of = matrices(unit, m, n, steps, 5);
        for by in ["fma", "mul-add"] {
            let schedule = format!("order={order}; promote=4/f32 scale=1x128 by={by}");
            let got = run(unit, &of, &schedule, Some(&scales));
            for (index, got) in got.iter().enumerate() {
                let (i, j) = (index / n, index % n);
                let x = Element {
                    unit,
                    of: &of,
                    i,
                    j,
                };
                let mut sum = f32_of(x.c());
                for group in groups {
                    let block = group[0] / 4;
                    let [a, b] = [scales.a.at(0, i, block), scales.b.at(0, block, j / 128)];
                    let scale = f32_of(a) * f32_of(b);
                    let inner = x.chain_f32(0, group.iter().copied());
                    sum = match by {
                        "fma" => inner.mul_add(scale, sum),
                        _ => scale * inner + sum,
                    };
                }
                assert_eq!(*got, word(sum), "{schedule} at {i}, {j}");
            }
        }
    }
}

#[test]
fn epilogue_and_output() {
    for row in [F16_ROW, F8_ROW] {
        compare(row, (4, 4, 3), "c=epilogue", |x| {
            word(x.chain_f32(0, 0..3) + f32_of(x.c()))
        });
        compare(
            row,
            (4, 4, 3),
            "c=epilogue/f32 alpha=0.3 beta=-1.7 by=fma",
            |x| word(x.chain_f32(0, 0..3).mul_add(0.3, -1.7 * f32_of(x.c()))),
        );
        compare(
            row,
            (4, 4, 3),
            "c=epilogue/f32 alpha=0.3 beta=-1.7 by=mul-add",
            |x| word(x.chain_f32(0, 0..3) * 0.3 + -1.7 * f32_of(x.c())),
        );
        compare(row, (4, 4, 3), "c=epilogue/f64 alpha=0.3 beta=-1.7", |x| {
            let c = f64::from(f32_of(x.c()));
            f64::from(x.chain_f32(0, 0..3))
                .mul_add(0.3, -1.7 * c)
                .to_bits()
        });
        compare(row, (4, 4, 3), "c=epilogue/f32 alpha=0.3 beta=0", |x| {
            word(x.chain_f32(0, 0..3) * 0.3)
        });
        for (name, format) in [("f16", F16), ("bf16", BF16), ("e4m3", E4M3FN)] {
            for mode in ["rne", "rz", "ru", "odd"] {
                for overflow in ["ieee", "sat"] {
                    let schedule = format!("out={mode} {name} overflow={overflow}");
                    compare(row, (4, 4, 2), &schedule, |x| {
                        let conversion = Conversion {
                            rounding: Rounding::named(mode).expect("a mode"),
                            overflow: Overflow::named(overflow).expect("a policy"),
                        };
                        F32.convert(x.chain(x.c(), 0..2), &format, conversion)
                    });
                }
            }
        }
    }
    compare(
        F16_ROW,
        (4, 4, 4),
        "out=rne f16; split-k=2 reduce=pairwise/f32; c=epilogue/f32 alpha=2 beta=1",
        |x| {
            let sum = x.chain_f32(0, 0..2) + x.chain_f32(0, 2..4);
            half(f64::from(sum.mul_add(2.0, f32_of(x.c()))))
        },
    );
    // β = 0 does not read C: its NaN does not reach D.
    let unit = unit(F16_ROW.0, F16_ROW.1);
    let mut of = matrices(unit, 2, 2, 2, 1);
    of.c = Some(vec![0x7fc0_0000; 4]);
    let without = run(unit, &of, "c=epilogue/f32 beta=0", None);
    assert!(without.iter().all(|&word| f32_of(word).is_finite()));
    let with = run(unit, &of, "c=epilogue/f32 beta=1", None);
    assert!(with.iter().all(|&word| f32_of(word).is_nan()));
}

#[test]
fn nothing_depends_on_threads_or_on_the_batch() {
    let unit = unit(F16_ROW.0, F16_ROW.1);
    let singles: Vec<Matrices> = (0..3).map(|seed| matrices(unit, 9, 11, 5, seed)).collect();
    let all = |of: fn(&Matrices) -> &Vec<u64>| -> Vec<u64> {
        singles.iter().flat_map(of).copied().collect()
    };
    let batched = gemm::Matrices::new(
        Matrix::batched(3, 9, 80, all(|x| &x.a)).expect("fits"),
        Matrix::batched(3, 80, 11, all(|x| &x.b)).expect("fits"),
    )
    .and_then(|x| {
        x.with_c(Matrix::batched(
            3,
            9,
            11,
            all(|x| x.c.as_ref().expect("given")),
        )?)
    })
    .expect("fits");
    for schedule in [
        "order=stride/2; split-k=3 reduce=pairwise/f32",
        "promote=2/f32; c=epilogue/f32 alpha=0.1 beta=3; out=rz bf16",
        "split-k=5 reduce=descending/f16",
    ] {
        let expected: Vec<u64> = singles
            .iter()
            .flat_map(|one| run(unit, one, schedule, None))
            .collect();
        let parsed: Schedule = schedule.parse().expect("a schedule");
        let product = Product::new(unit, &batched, Modifiers::default()).expect("fits");
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let got = pool
                .expect("threads")
                .install(|| parsed.run(&product, None, &watch()).expect("fits"));
            assert_eq!(got, expected, "{schedule} on {threads} threads");
        }
    }
    // Larger than a region: 300 × 1100 is 2 × 2 of them.
    let of = matrices(unit, 300, 1100, 2, 4);
    let got = run(unit, &of, "split-k=2 reduce=ascending/f32", None);
    for (i, j) in [(0, 0), (255, 1023), (256, 1023), (255, 1024), (299, 1099)] {
        let x = Element {
            unit,
            of: &of,
            i,
            j,
        };
        let expected = x.chain_f32(x.c(), 0..1) + x.chain_f32(0, 1..2);
        assert_eq!(got[i * 1100 + j], word(expected));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let unit = unit(F16_ROW.0, F16_ROW.1);
    let of = matrices(unit, 4, 4, 5, 1);
    let given = of.given(unit.signature()).expect("fits");
    let ones = |rows: usize, columns: usize| {
        Matrix::row_major(rows, columns, vec![0x3f80_0000_u32; rows * columns]).expect("fits")
    };
    let scales = SoftwareScales {
        a: ones(4, 3),
        b: ones(3, 1),
    };
    let refused = |schedule: &str, modifiers: &[&str], scales: Option<&SoftwareScales>| {
        let schedule: Schedule = schedule.parse().expect("a schedule");
        let mut chosen = Modifiers::default();
        modifiers
            .iter()
            .for_each(|text| chosen.add(text).expect("a modifier"));
        let product = Product::new(unit, &given, chosen).expect("fits");
        match schedule.run(&product, scales, &watch()) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    let parts = refused("split-k=6 reduce=ascending/f32", &[], None);
    assert!(parts.contains("K takes only 5 steps"), "{parts}");
    let blocks = refused("order=blocks/0,1,2,3,4,5", &[], None);
    assert!(blocks.contains("K takes only 5 steps"), "{blocks}");
    let needed = refused("promote=2/f32 scale=1x128", &[], None);
    assert!(needed.contains("needs software scales"), "{needed}");
    assert_eq!(
        refused("promote=2/f32 scale=1x128", &[], Some(&scales)),
        "accepted"
    );
    let shape = refused("promote=3/f32 scale=1x128", &[], Some(&scales));
    assert!(shape.contains("4 × 2 is needed"), "{shape}");
    let excess = refused("promote=2/f32", &[], Some(&scales));
    assert!(excess.contains("has no scale="), "{excess}");
    // Five steps in twos from the end would join steps 3 and 2 of two blocks.
    let mixed = refused(
        "order=descending; promote=2/f32 scale=1x128",
        &[],
        Some(&scales),
    );
    assert!(mixed.contains("whose scales differ"), "{mixed}");
    let modifier = refused("c=epilogue", &["negC"], None);
    assert!(modifier.contains("negC"), "{modifier}");
    assert_eq!(refused("c=epilogue", &["negA", "noC"], None), "accepted");
}

#[test]
fn f64_rows_sum_as_their_trees() {
    // The conversion of the output is RNE from f64 to f64 here: nothing.
    let unit = unit(F64_ROW.0, F64_ROW.1);
    let steps = 6;
    let of = matrices(unit, 1, 1, steps, 9);
    for schedule in [
        "chain",
        "order=descending",
        "order=blocks/1,0",
        "split-k=4 reduce=ascending/f64",
        "split-k=5 reduce=descending/f64",
        "split-k=6 reduce=pairwise/f64",
        "stream-k=4 tile=1x1 reduce=ascending/f64",
        "promote=2/f64",
        "c=epilogue/f64",
        "split-k=3 reduce=pairwise/f64; promote=1/f64; c=epilogue/f64",
    ] {
        let parsed: Schedule = schedule.parse().expect("a schedule");
        let tree = parsed
            .tree(unit, &gemm::schedule::Output::single(of.k))
            .expect("a tree");
        let terms: Vec<mmascope::tree::Term> =
            of.a.iter()
                .zip(&of.b)
                .map(|(a, b)| mmascope::tree::Term::Product(f64::from_bits(*a), f64::from_bits(*b)))
                .chain(
                    of.c.iter()
                        .flatten()
                        .map(|c| mmascope::tree::Term::Value(f64::from_bits(*c))),
                )
                .collect();
        let arithmetic = mmascope::tree::Arithmetic::ieee(F64);
        let expected = tree.execute(&terms, &arithmetic).expect("IEEE nodes");
        assert_eq!(
            run(unit, &of, schedule, None),
            [expected.to_bits()],
            "{schedule}: {tree}"
        );
    }
}

#[test]
fn trees_of_schedules() {
    let unit = unit("volta", "mma.m8n8k4.f32.f16.f16.f32");
    let text = |schedule: &str, output: gemm::schedule::Output| {
        let schedule: Schedule = schedule.parse().expect("a schedule");
        schedule.tree(unit, &output).expect("a tree").to_string()
    };
    let single = gemm::schedule::Output::single(8);
    assert_eq!(
        text("chain", single),
        "(fused f32 (fused f32 0 1 2 3 8) 4 5 6 7)"
    );
    assert_eq!(
        text("order=descending", single),
        "(fused f32 0 1 2 3 (fused f32 4 5 6 7 8))"
    );
    assert_eq!(
        text("split-k=2 reduce=ascending/f32", single),
        "(add f32 (fused f32 0 1 2 3 8) (fused f32 4 5 6 7))"
    );
    assert_eq!(
        text("promote=1/f64; out=rne bf16", single),
        "(add f64 (add f64 (fused f32 0 1 2 3) 8) (fused f32 4 5 6 7))"
    );
    assert_eq!(
        text("c=epilogue/f32 alpha=2", single),
        "(fma f32 (fused f32 (fused f32 0 1 2 3) 4 5 6 7) 8)"
    );
    assert_eq!(
        text("c=epilogue beta=0", single),
        "(fused f32 (fused f32 0 1 2 3) 4 5 6 7)"
    );
    // Two tiles of two iterations for three workers: 2 + 1 + 1, so that only the second is cut.
    let of = |j| gemm::schedule::Output {
        m: 1,
        n: 2,
        k: 8,
        i: 0,
        j,
    };
    let stream = "stream-k=3 tile=1x1 reduce=ascending/f32";
    assert_eq!(text(stream, of(0)), text("chain", single));
    assert_eq!(
        text(stream, of(1)),
        text("split-k=2 reduce=ascending/f32", single)
    );
}

/// Small integers: every sum is exact, in the schedule and here.
#[test]
fn statistics_take_scales_and_factors_into_account() {
    let unit = unit(F16_ROW.0, F16_ROW.1);
    let (m, n) = (6, 5);
    let random = &mut Random(3);
    let mut small = |count: usize| -> Vec<i64> {
        (0..count)
            .map(|_| (random.bits() % 17) as i64 - 8)
            .collect()
    };
    let (a, b, c) = (small(m * 64), small(64 * n), small(m * n));
    let scale_a: Vec<i64> = small(m * 2).iter().map(|x| x.abs() + 1).collect();
    let scale_b: Vec<i64> = small(2).iter().map(|x| x.abs() + 1).collect();
    let halves = |of: &[i64]| of.iter().map(|&x| half(x as f64)).collect();
    let singles = |of: &[i64]| -> Vec<u64> { of.iter().map(|&x| word(x as f32)).collect() };
    let of = Matrices {
        m,
        n,
        k: 64,
        a: halves(&a),
        b: halves(&b),
        c: Some(singles(&c)),
        ..Matrices::default()
    };
    let scales = SoftwareScales {
        a: Matrix::row_major(m, 2, singles(&scale_a)).expect("fits"),
        b: Matrix::row_major(2, 1, singles(&scale_b)).expect("fits"),
    };
    let given = of.given(unit.signature()).expect("fits");
    let product = Product::new(unit, &given, Modifiers::default()).expect("fits");
    let text = "promote=2/f32 scale=1x128; c=epilogue/f32 alpha=-2 beta=3; out=rne f16";
    let schedule: Schedule = text.parse().expect("a schedule");
    let d = schedule
        .run(&product, Some(&scales), &watch())
        .expect("fits");
    let of_d = |d: &Words| {
        let scales = Some(&scales);
        gemm::scheduled_statistics(&schedule, &product, scales, d, false, &watch()).expect("fits")
    };
    let got = of_d(&d);
    let (mut worst, mut worst_to_products) = (0.0_f64, 0.0_f64);
    for i in 0..m {
        for j in 0..n {
            let (mut sum, mut magnitudes) = (0, 0);
            for at in 0..64 {
                let scale = scale_a[i * 2 + at / 32] * scale_b[at / 32];
                let product = a[i * 64 + at] * b[at * n + j] * scale;
                sum += product;
                magnitudes += product.abs();
            }
            let exact = -2 * sum + 3 * c[i * n + j];
            let error = (half_value(d.get(i * n + j)) - exact as f64).abs();
            assert_eq!(d.get(i * n + j), half(exact as f64));
            worst = worst.max(error / exact.abs() as f64);
            worst_to_products = worst_to_products.max(error / (2 * magnitudes) as f64);
        }
    }
    assert_eq!(
        (got.relative.max, got.relative_to_products.max),
        (worst, worst_to_products)
    );
    assert!(worst > 0.0 && got.ulps.max <= 0.5, "{got:?}");
    // One output made wrong by three units in the last place of f16.
    let mut wrong = d.clone();
    wrong.set(7, d.get(7) + 3);
    assert!(of_d(&wrong).ulps.max >= 2.5);
}
