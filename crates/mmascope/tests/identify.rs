//! Who made these bits: products under every kind of schedule are identified, others are not.

use std::sync::atomic::AtomicBool;

use mmascope::array::{Array, Element};
use mmascope::cases::philox;
use mmascope::dpa::Modifiers;
use mmascope::format::{BF16, F16, F32, Format};
use mmascope::gemm::{Arrays, Matrices, Matrix, Product, Schedule, Watch};
use mmascope::identify::{Identification, Question, identify};
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
fn make(schedule: &str, [m, n, k]: [usize; 3], with_c: bool) -> Made {
    let unit = Catalogue::built_in().find(UNIT.0, UNIT.1).expect("a row");
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

fn found(made: &Made, with_c: bool) -> Identification {
    let d = array("D", made.shape, &made.format, &made.d);
    let operands = Arrays {
        a: &made.a,
        b: &made.b,
        c: with_c.then_some(&made.c),
        scale_a: None,
        scale_b: None,
        transpose_a: false,
        transpose_b: false,
    };
    let question = Question { operands, d: &d };
    identify(Catalogue::built_in(), &question, &GO, &|_| ()).expect("an answer")
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
