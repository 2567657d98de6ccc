//! `identify`: products under every kind of schedule are identified, others are not.

use std::sync::atomic::AtomicBool;

use mmascope::array::{Array, Element};
use mmascope::cases::philox;
use mmascope::dpa::{Modifiers, Operands};
use mmascope::format::{BF16, F16, F32, F64, Format};
use mmascope::gemm::{Arrays, Matrices, Matrix, Product, Schedule, Watch};
use mmascope::identify::{Factors, Identification, Question, identify};
use mmascope::isa::Catalogue;

static GO: AtomicBool = AtomicBool::new(false);

const UNIT: (&str, &str) = ("hopper", "mma.m16n8k16.f32.f16.f16.f32");

/// f16 words of numbers from 1/16 to 8, of both signs.
fn words(seed: u32, count: usize) -> Vec<u64> {
    (0..count)
        .map(|index| {
            let [x, y, ..] = philox([index as u32, 0, 0, 0], [seed, 0]);
            let exponent = 11 + u64::from(x >> 29);
            u64::from(y >> 31) << 15 | exponent.min(18) << 10 | u64::from(y & 0x3ff)
        })
        .collect()
}

fn array(name: &str, shape: [usize; 2], format: &Format, words: &[u64]) -> Array {
    let bytes: Vec<u8> = match format.bits {
        16 => words
            .iter()
            .flat_map(|&word| (word as u16).to_le_bytes())
            .collect(),
        _ => words
            .iter()
            .flat_map(|&word| (word as u32).to_le_bytes())
            .collect(),
    };
    Array::new(name, &shape, Element::Number(*format), bytes).expect("an array")
}

struct Made {
    a: Array,
    b: Array,
    c: Array,
    d: Vec<u64>,
    shape: [usize; 2],
    format: Format,
}

/// A product under a schedule, with C where it says so.
fn make(schedule: &str, shape: [usize; 3], with_c: bool) -> Made {
    make_by(UNIT, schedule, shape, with_c)
}

/// The same by another row.
fn make_by(
    (arch, inst): (&str, &str),
    schedule: &str,
    [m, n, k]: [usize; 3],
    with_c: bool,
) -> Made {
    let unit = Catalogue::built_in().find(arch, inst).expect("a row");
    let unit = unit.unit().expect("a unit");
    let (a, b) = (words(1, m * k), words(2, k * n));
    let c: Vec<u64> = words(3, m * n)
        .iter()
        .map(|word| if with_c { 0x4000_0000 | word << 8 } else { 0 })
        .collect();
    let matrices = Matrices::new(
        Matrix::row_major(m, k, a.clone()).expect("A"),
        Matrix::row_major(k, n, b.clone()).expect("B"),
    )
    .and_then(|matrices| matrices.with_c(Matrix::row_major(m, n, c.clone())?))
    .expect("matrices");
    let product = Product::by_reference(unit, &matrices, Modifiers::default()).expect("a product");
    let schedule: Schedule = schedule.parse().expect("a schedule");
    let watch = Watch {
        progress: &|_| (),
        cancel: &GO,
    };
    let d = schedule.run(&product, None, &watch).expect("D").to_vec();
    Made {
        a: array("A", [m, k], &F16, &a),
        b: array("B", [k, n], &F16, &b),
        c: array("C", [m, n], &F32, &c),
        d,
        shape: [m, n],
        format: schedule.format(unit),
    }
}

fn arrays(made: &Made, with_c: bool) -> Arrays<'_> {
    Arrays {
        a: &made.a,
        b: &made.b,
        c: with_c.then_some(&made.c),
        scale_a: None,
        scale_b: None,
        transpose_a: false,
        transpose_b: false,
    }
}

fn found(made: &Made, with_c: bool) -> Identification {
    answer(arrays(made, with_c), made, Factors::default())
}

fn answer(operands: Arrays<'_>, made: &Made, factors: Factors) -> Identification {
    let d = array("D", made.shape, &made.format, &made.d);
    let question = Question {
        operands,
        d: &d,
        factors,
    };
    identify(Catalogue::built_in(), &question, &GO, &|_| ()).expect("an answer")
}

/// Results in a file of a wider type: which NaN a NaN was there is not known, and no schedule is refuted by it.
#[test]
fn a_nan_in_a_wider_file_is_any_nan() {
    let [m, n, k] = [8, 8, 48];
    let mut made = make("chain", [m, n, k], true);
    let mut a = words(1, m * k);
    a[3] = 0x7e00;
    made.a = array("A", [m, k], &F16, &a);
    // A row of NaN, as the unit writes it.
    made.d[..n].fill(0x7fff_ffff);
    let wide = |word: &u64| f64::from(f32::from_bits(*word as u32)).to_le_bytes();
    let bytes: Vec<u8> = made.d.iter().flat_map(wide).collect();
    let d = Array::new("D", &[m, n], Element::Number(F64), bytes).expect("an array");
    let question = Question {
        operands: arrays(&made, true),
        d: &d,
        factors: Factors::default(),
    };
    let wide = identify(Catalogue::built_in(), &question, &GO, &|_| ()).expect("an answer");
    for found in [found(&made, true), wide] {
        assert!(schedules(&found).contains(&"chain".to_owned()));
    }
}

/// A unit that adds a and b makes no product of matrices, whatever it gives.
#[test]
fn units_that_add_their_operands_are_no_candidates() {
    let adds = ("blackhole", "tensix.elwadd.f16.d32");
    let made = make_by(adds, "chain", [8, 16, 4], false);
    let found = found(&made, false);
    let name = format!("{}:{}", adds.0, adds.1);
    let is_named = found.candidates.iter().any(|it| it.rows.contains(&name));
    assert!(!is_named && found.identified().count() == 0);
    assert!(found.tried > 500, "{}", found.tried);
}

/// The schedules under which the unit is said to have made it.
fn schedules(found: &Identification) -> Vec<String> {
    let name = format!("{}:{}", UNIT.0, UNIT.1);
    let own = found.identified().filter(|it| it.rows.contains(&name));
    own.map(|it| it.schedule.clone()).collect()
}

#[test]
fn every_kind_of_schedule_is_found() {
    let shape = [32, 24, 256];
    for (schedule, with_c) in [
        ("chain", true),
        ("order=descending", false),
        ("promote=4/f32", false),
        ("split-k=8 reduce=pairwise/f32", true),
        ("order=stride/4; split-k=4 reduce=pairwise/f32", false),
        (
            "stream-k=3 tile=128x128 iteration=2 reduce=ascending/f32",
            false,
        ),
        ("split-k=2 reduce=ascending/f32; c=epilogue/f32", true),
    ] {
        let made = make(schedule, shape, with_c);
        let found = found(&made, with_c);
        let name = format!("{}:{}", UNIT.0, UNIT.1);
        let same = |text: &str| {
            let parse = |text: &str| text.parse::<Schedule>().expect("a schedule");
            parse(text) == parse(schedule)
        };
        let identified: Vec<String> = found
            .identified()
            .map(|candidate| format!("{} {}", candidate.rows[0], candidate.schedule))
            .collect();
        println!("{schedule}: of {} {identified:?}", found.tried);
        let own = found
            .identified()
            .find(|it| it.rows.contains(&name) && same(&it.schedule));
        let own = own.unwrap_or_else(|| panic!("{schedule}: {identified:?}"));
        assert!(own.full && own.compared == shape[0] * shape[1]);
        // Nothing else is named but what gives the same bits: other units do not.
        for candidate in found.identified() {
            assert!(candidate.rows.contains(&name), "{schedule}: {candidate:?}");
        }
        let other = found.candidates.iter().find(|candidate| !candidate.fits());
        assert!(other.expect("runners-up").first.is_some());
    }
}

/// Two blocks in one instruction are two instructions of one block: no matrices tell them apart, and none are asked for.
#[test]
fn instructions_of_one_chain_are_one_answer() {
    let rows = [
        "mma.m16n8k16.f32.f16.f16.f32",
        "mma.m16n8k8.f32.f16.f16.f32",
    ];
    let shape = [32, 24, 256];
    for (schedule, other) in [
        ("chain", "chain"),
        ("promote=2/f32", "promote=4/f32"),
        (
            "split-k=4 reduce=pairwise/f32",
            "split-k=4 reduce=pairwise/f32",
        ),
    ] {
        let found = found(&make_by(("ampere", rows[0]), schedule, shape, false), false);
        let headline = found.headline();
        let like = format!(" rows like it, schedule {schedule}");
        assert!(headline.ends_with(&like), "{headline}");
        // A promotion has the bits of some splits, too.
        let is_one = headline.starts_with("one answer: ");
        assert!(is_one || schedule.starts_with("promote"), "{headline}");
        let answers = found.answers();
        let heads = answers.iter().filter(|line| line.starts_with("identified"));
        assert_eq!(heads.count(), 1, "{answers:?}");
        for line in rows.map(|row| format!("  ampere:{row}")) {
            assert!(answers.contains(&line), "{line}: {answers:?}");
        }
        for line in [schedule, other].map(|schedule| format!("  schedule {schedule}")) {
            assert!(answers.contains(&line), "{line}: {answers:?}");
        }
    }
    // Descending instructions are blocks in different orders; f16 results of sums that agree hide what differs.
    let split = found(
        &make_by(("ampere", rows[0]), "order=descending", shape, false),
        false,
    );
    let names = split.identified().flat_map(|it| &it.rows);
    assert!(!names.into_iter().any(|name| name.ends_with(rows[1])));
    let rounded = found(
        &make_by(("hopper", rows[0]), "out=rne bf16", [8, 8, 32], false),
        false,
    );
    assert!(
        rounded.answers()[0].contains(" different sums, "),
        "{:?}",
        rounded.answers()
    );
}

/// One bit of one element changed, anywhere: nothing fits, and the true producer is the nearest.
#[test]
fn a_wrong_bit_is_no_producer() {
    let schedule = "split-k=3 reduce=descending/f32";
    let mut made = make(schedule, [40, 40, 64], false);
    made.d[40 * 17 + 33] ^= 1;
    let found = found(&made, false);
    assert_eq!(found.identified().count(), 0);
    let nearest = &found.candidates[0];
    assert_eq!((nearest.compared, nearest.agreeing), (1600, 1599));
    assert_eq!(
        nearest.first.as_ref().map(|first| (first.0, first.1)),
        Some((17, 33))
    );
    assert_eq!(nearest.schedule, schedule);
    assert_eq!(found.json()["answer"], "none");
}

/// bf16 results of an f32 accumulator are not taken for f16 ones.
#[test]
fn the_output_format_is_part_of_the_answer() {
    let made = make("out=rne bf16", [32, 32, 128], false);
    assert_eq!(made.format, BF16);
    let found = found(&made, false);
    assert!(
        found
            .identified()
            .all(|candidate| candidate.schedule.contains("bf16"))
    );
    assert!(found.identified().count() > 0);
}

/// Conversion at the end of a split sum, and α and β, whose epilogue the host's arithmetic does here.
#[test]
fn epilogues_are_found() {
    let shape = [32, 24, 256];
    let split = "split-k=4 reduce=ascending/f32; out=rne f16";
    let made = make(split, shape, false);
    let own = schedules(&found(&made, false));
    assert!(own.iter().any(|text| text == split), "{own:?}");

    let (alpha, beta) = (0.7f32, -1.3f32);
    let factors = Factors {
        alpha: 0.7,
        beta: -1.3,
    };
    let sums = make("chain", shape, false);
    let c: Vec<u64> = words(3, shape[0] * shape[1])
        .iter()
        .map(|word| 0x4000_0000 | word << 8)
        .collect();
    let epilogue = |by: &str, element: &dyn Fn(f32, f32) -> f32| {
        let d = sums.d.iter().zip(&c).map(|(&sum, &c)| {
            let d = element(f32::from_bits(sum as u32), f32::from_bits(c as u32));
            u64::from(d.to_bits())
        });
        let made = Made {
            d: d.collect(),
            ..make("chain", shape, true)
        };
        let own = schedules(&answer(arrays(&made, true), &made, factors));
        let expected = format!("c=epilogue/f32 alpha=0.7 beta=-1.3{by}");
        assert_eq!(own, [expected]);
        let none = schedules(&found(&made, true));
        assert!(none.is_empty(), "{none:?}");
    };
    epilogue(" by=fma", &|sum, c| alpha.mul_add(sum, beta * c));
    epilogue(" by=mul-add", &|sum, c| alpha * sum + beta * c);

    let beta = Factors {
        beta: 2.0,
        ..Factors::default()
    };
    let d = array("D", made.shape, &made.format, &made.d);
    let question = Question {
        operands: arrays(&made, false),
        d: &d,
        factors: beta,
    };
    let error = identify(Catalogue::built_in(), &question, &GO, &|_| ()).expect_err("no C");
    assert!(error.to_string().contains("beta = 2"), "{error}");
}

/// Scales of 8 rows, all columns and 4 instructions, applied by the host's arithmetic.
#[test]
fn scales_of_a_kernel_are_found() {
    let [m, n, k] = [32, 24, 256];
    let parts: Vec<Vec<u64>> = (0..4)
        .map(|part| sums([m, n, k], part * 64..part * 64 + 64))
        .collect();
    let scale = |seed: u32, count: usize| -> Vec<u64> {
        let word = |index| philox([index as u32, 7, 0, 0], [seed, 0])[0] >> 9;
        (0..count)
            .map(|index| u64::from(0x3f00_0000 | word(index)))
            .collect()
    };
    let (scale_a, scale_b) = (scale(5, m / 8 * 4), scale(6, 4));
    let value = |word: u64| f32::from_bits(word as u32);
    let d = (0..m * n).map(|at| {
        let sum = (0..4).fold(0f32, |sum, part| {
            let scale = value(scale_a[at / n / 8 * 4 + part]) * value(scale_b[part]);
            scale.mul_add(value(parts[part][at]), sum)
        });
        u64::from(sum.to_bits())
    });
    let made = Made {
        d: d.collect(),
        ..make("chain", [m, n, k], false)
    };
    let (scale_a, scale_b) = (
        array("the scale of A", [m / 8, 4], &F32, &scale_a),
        array("the scale of B", [4, 1], &F32, &scale_b),
    );
    let operands = Arrays {
        scale_a: Some(&scale_a),
        scale_b: Some(&scale_b),
        ..arrays(&made, false)
    };
    let own = schedules(&answer(operands, &made, Factors::default()));
    assert_eq!(own, ["promote=4/f32 scale=8x32 by=fma"]);
}

/// A ragged K, and operands that lie the other way in their files.
#[test]
fn padding_and_transposes_are_found() {
    let [m, n, k] = [24, 16, 72];
    let made = Made {
        a: array("A", [m, k], &F16, &words(1, m * k)),
        b: array("B", [k, n], &F16, &words(2, k * n)),
        c: array("C", [m, n], &F32, &vec![0; m * n]),
        d: sums([m, n, k], 0..k),
        shape: [m, n],
        format: F32,
    };
    let given = |seed, rows: usize, columns: usize| {
        let words = words(seed, rows * columns);
        let turned = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j)));
        let turned: Vec<u64> = turned.map(|(i, j)| words[i * columns + j]).collect();
        array("a turned one", [columns, rows], &F16, &turned)
    };
    let (a, b) = (given(1, m, k), given(2, k, n));
    let operands = Arrays {
        a: &a,
        b: &b,
        transpose_a: true,
        transpose_b: true,
        ..arrays(&made, false)
    };
    let found = answer(operands, &made, Factors::default());
    assert!(schedules(&found).iter().any(|text| text == "chain"));
    let own = found.identified().find(|it| it.schedule == "chain");
    assert_eq!((found.shape[2], own.map(|it| it.k)), (72, Some(80)));
}

/// The sums of some of K, filled up to whole instructions, by single dot products.
fn sums([m, n, k]: [usize; 3], some: std::ops::Range<usize>) -> Vec<u64> {
    let unit = Catalogue::built_in().find(UNIT.0, UNIT.1).expect("a row");
    let unit = unit.unit().expect("a unit");
    let (a, b) = (words(1, m * k), words(2, k * n));
    let dot = |at: usize| {
        some.clone().step_by(16).fold(0, |c, first| {
            let of = |word: &dyn Fn(usize) -> u64| -> Vec<u64> {
                let own = (first..first + 16).map(|at| if at < k { word(at) } else { 0 });
                own.collect()
            };
            let operands = Operands {
                a: &of(&|place| a[at / n * k + place]),
                b: &of(&|place| b[place * n + at % n]),
                c,
                ..Operands::default()
            };
            unit.dot(&operands, &Modifiers::default()).expect("a dot")
        })
    };
    (0..m * n).map(dot).collect()
}

/// A product takes f32 numbers as they are where the unit reads the upper part of such words; so does the question.
#[test]
fn f32_files_on_tf32_rows_are_identified() {
    let row = Catalogue::built_in()
        .find("hopper", "mma.m16n8k8.f32.tf32.tf32.f32")
        .expect("a row");
    let unit = row.unit().expect("a unit");
    let [m, n, k] = [24, 20, 16];
    // All 23 bits of the fractions: these are no numbers of tf32.
    let words = |seed, count: usize| -> Vec<u64> {
        let word = |index| {
            let [x, y, ..] = philox([index as u32, 0, 0, 0], [seed, 0]);
            u64::from(y >> 31) << 31 | u64::from(124 + x % 8) << 23 | u64::from(y & 0x7f_ffff) | 1
        };
        (0..count).map(word).collect()
    };
    let (of_a, of_b) = (words(1, m * k), words(2, k * n));
    let a = array("A", [m, k], &F32, &of_a);
    let b = array("B", [k, n], &F32, &of_b);
    let arrays = Arrays {
        a: &a,
        b: &b,
        c: None,
        scale_a: None,
        scale_b: None,
        transpose_a: false,
        transpose_b: false,
    };
    let mut product = Vec::new();
    for i in 0..m {
        for j in 0..n {
            let mut d = 0;
            for from in (0..k).step_by(row.signature.k) {
                let (a, b): (Vec<u64>, Vec<u64>) = (from..from + row.signature.k)
                    .map(|at| (of_a[i * k + at], of_b[at * n + j]))
                    .unzip();
                let operands = Operands {
                    a: &a,
                    b: &b,
                    c: d,
                    scale_a: &[],
                    scale_b: &[],
                };
                d = unit
                    .dot(&operands, &Modifiers::default())
                    .expect("computes");
            }
            product.push(d);
        }
    }
    let d = array("D", [m, n], &F32, &product);
    let question = Question {
        operands: arrays,
        d: &d,
        factors: Factors::default(),
    };
    let found = identify(Catalogue::built_in(), &question, &GO, &|_| ()).expect("an answer");
    let mut rows = found.identified().flat_map(|candidate| &candidate.rows);
    assert!(
        rows.any(|name| name.contains("hopper") && name.contains("tf32")),
        "{:?}",
        found.candidates.first()
    );
}

/// Products of wider numbers under schemes of emulated precision, each by a unit that takes narrower ones.
#[test]
fn schemes_of_emulated_precision_are_found() {
    use mmascope::format::F64;
    use mmascope::gemm::ScheduledProduct;

    let [m, n, k] = [20, 18, 64];
    for (arch, inst, text) in [
        (
            "ampere",
            "mma.m16n8k8.f32.tf32.tf32.f32",
            "emulate=f32 parts=2/rna products=1x0,0x1,0x0",
        ),
        (
            "hopper",
            "mma.m16n8k16.f32.bf16.bf16.f32",
            "emulate=f32 parts=3 products=2x2,1x2,2x1,1x1,2x0,0x2,1x0,0x1,0x0",
        ),
        (
            "ampere",
            "mma.m16n8k32.s32.s8.s8.s32",
            "emulate=f64 slices=5/rz bits=7 products=levels/5 join=ascending/f64",
        ),
        (
            "ampere",
            "mma.m16n8k32.s32.s8.s8.s32",
            "emulate=f64 residues=256,255,253,251,247,241,239,233,229,227/rz bits=36 join=residues/f64",
        ),
    ] {
        let unit = Catalogue::built_in().find(arch, inst).expect("a row");
        let unit = unit.unit().expect("a unit");
        let schedule: Schedule = text.parse().expect("a schedule");
        let format = schedule.signature(unit).a;
        // Of full width, so that every part counts.
        let numbers = |seed: u32, count: usize| -> Vec<u64> {
            (0..count)
                .map(|index| {
                    let [x, y, z, _] = philox([index as u32, 0, 0, 0], [seed, 0]);
                    let sign = u64::from(x & 1) << (format.bits - 1);
                    let float = format.float().expect("a float");
                    let exponent = (float.bias as u64 - u64::from(x >> 30)) << float.fraction_bits;
                    let fraction =
                        (u64::from(y) << 32 | u64::from(z)) >> (64 - float.fraction_bits);
                    sign | exponent | fraction
                })
                .collect()
        };
        let (a, b) = (numbers(1, m * k), numbers(2, k * n));
        let matrix = |rows, columns, words: &[u64]| {
            let words = mmascope::array::Words::of(&format, words.iter().copied()).expect("words");
            Matrix::row_major(rows, columns, words).expect("a matrix")
        };
        let matrices = Matrices::new(matrix(m, k, &a), matrix(k, n, &b)).expect("matrices");
        let product =
            ScheduledProduct::by_reference(&schedule, unit, &matrices, Modifiers::default());
        let watch = Watch {
            progress: &|_| (),
            cancel: &GO,
        };
        let d = product
            .expect("a product")
            .run(None, &watch)
            .expect("D")
            .to_vec();
        let array = |name: &str, shape: [usize; 2], words: &[u64]| {
            let size = format.bits as usize / 8;
            let bytes = words
                .iter()
                .flat_map(|word| word.to_le_bytes().into_iter().take(size))
                .collect();
            Array::new(name, &shape, Element::Number(format), bytes).expect("an array")
        };
        let (a, b, d) = (
            array("A", [m, k], &a),
            array("B", [k, n], &b),
            array("D", [m, n], &d),
        );
        assert!(format == F32 || format == F64);
        let question = Question {
            operands: Arrays {
                a: &a,
                b: &b,
                c: None,
                scale_a: None,
                scale_b: None,
                transpose_a: false,
                transpose_b: false,
            },
            d: &d,
            factors: Factors::default(),
        };
        let found = identify(Catalogue::built_in(), &question, &GO, &|_| ()).expect("an answer");
        let name = format!("{arch}:{inst}");
        let own = found
            .identified()
            .find(|it| it.rows.contains(&name) && it.schedule == text);
        let all: Vec<_> = found
            .identified()
            .map(|it| (&it.rows[0], &it.schedule))
            .collect();
        let own = own
            .unwrap_or_else(|| panic!("{text}: {all:?}, nearest {:?}", found.candidates.first()));
        assert!(own.full && own.compared == m * n, "{text}");
        println!("{text}: of {}, {} fit", found.tried, all.len());
    }
}
