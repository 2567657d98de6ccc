//! Rules of schedules with `emulate=`: refusals, notation, and special values.

use super::{GO, matrix};
use mmascope::dpa::Modifiers;
use mmascope::format::{F32, F64};
use mmascope::gemm::schedule::OutputPlace;
use mmascope::gemm::{Matrices, Product, Schedule, ScheduledProduct, Watch};
use mmascope::isa::Catalogue;

const S8: (&str, &str) = ("ampere", "mma.m16n8k32.s32.s8.s8.s32");
const BF16: (&str, &str) = ("tpu", "mxu.f32.bf16");

fn watch() -> Watch<'static> {
    Watch {
        progress: &|_| (),
        cancel: &GO,
    }
}

fn refused(text: &str) -> String {
    let schedule = text.parse::<Schedule>();
    schedule.expect_err(text).to_string()
}

#[test]
fn texts_are_read_and_written() {
    for (text, canonical) in [
        ("emulate=f32 parts=2 products=1x0,0x1,0x0", None),
        ("emulate=f32 parts=1 products=0x0", None),
        ("emulate=f32 parts=3/rz/rne products=1x0,0x1,0x0", None),
        (
            "emulate=f32 parts=3/rz/rne/rne products=1x0,0x1,0x0",
            Some("emulate=f32 parts=3/rz/rne products=1x0,0x1,0x0"),
        ),
        ("emulate=f32 parts=3/rne/rz products=1x0,0x1,0x0", None),
        (
            "emulate=f32 parts=2/rne/rne products=1x0,0x1,0x0",
            Some("emulate=f32 parts=2 products=1x0,0x1,0x0"),
        ),
        (
            "emulate=f32 parts=2/rna shift=11 products=levels/2 join=ascending/f32",
            None,
        ),
        (
            "emulate=f64 slices=8/rz bits=7 products=levels/8 join=pairwise/f64",
            None,
        ),
        (
            "emulate=f64 slices=3 bits=7 products=pairs/3 join=descending/f64/rz",
            None,
        ),
        (
            "emulate=f64 residues=256,255/rz bits=6 join=residues/f64; out=rne f32",
            None,
        ),
        (
            "emulate=f64 slices=2 bits=7 products=1x0,0x1+0x0 join=ascending/f64",
            Some("emulate=f64 slices=2 bits=7 products=levels/2 join=ascending/f64"),
        ),
        // Beyond the last part of an operand levels have fewer products.
        (
            "emulate=f32 parts=2 shift=8 products=levels/3 join=ascending/f32",
            Some("emulate=f32 parts=2 shift=8 products=1x1+1x0,0x1+0x0 join=ascending/f32"),
        ),
    ] {
        let schedule: Schedule = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(schedule.to_string(), canonical.unwrap_or(text));
        assert_eq!(
            schedule.to_string().parse::<Schedule>().expect(text),
            schedule
        );
    }
}

#[test]
fn errors_name_what_is_wrong() {
    for (text, words) in [
        ("emulate=s8 parts=1 products=0x0", "signed floating-point"),
        ("emulate=f32 products=0x0", "parts=2, slices=8 or residues="),
        ("emulate=f32 parts=0 products=0x0", "from 1 to 64"),
        ("emulate=f32 parts=2 products=2x0", "numbered from 0"),
        (
            "emulate=f32 parts=2/rz/rne/rz products=0x0",
            "'rz' is too much",
        ),
        ("emulate=f32 parts=2/ products=0x0", "rne"),
        (
            "emulate=f64 slices=2/rz/rne bits=7 products=0x0",
            "'rne' is too much",
        ),
        ("emulate=f32 parts=2 products=1y0", "as in 1x0"),
        ("emulate=f32 parts=2 products=level/2", "levels/N"),
        ("emulate=f32 parts=2 products=1x0+0x0", "join="),
        (
            "emulate=f32 parts=2 shift=8 products=1x0,0x0 join=ascending/f32",
            "another power of two",
        ),
        ("emulate=f32 parts=2 shift=8 products=0x0", "join="),
        (
            "emulate=f64 slices=2 products=0x0 join=ascending/f64",
            "bits=",
        ),
        (
            "emulate=f64 slices=2/ru bits=7 products=0x0 join=ascending/f64",
            "rne or rz",
        ),
        (
            "emulate=f64 residues=256,254 bits=6 join=residues/f64",
            "common factor",
        ),
        (
            "emulate=f64 residues=256,255 bits=6 join=ascending/f64",
            "join=residues",
        ),
        (
            "emulate=f32 parts=2 products=0x0 join=residues/f32",
            "no residues",
        ),
        (
            "emulate=f32 parts=2 products=0x0 unpromoted=2",
            "there is 1 group",
        ),
    ] {
        let message = refused(text);
        assert!(message.contains(words), "{text}: {message}");
    }
}

#[test]
fn what_is_wrong_is_said_where_it_stands() {
    for (text, column) in [
        ("emulate=f32 parts=2 products=0x0,2x0", 34),
        (
            "order=descending; emulate=f32 parts=2 products=1x0,0x1+2x0",
            56,
        ),
        ("emulate=f32 parts=1 products=0x1", 30),
        (
            "emulate=f32 parts=2 shift=8 products=1x1+1x0,0x0 join=ascending/f32",
            46,
        ),
        ("emulate=f32 parts=2 products=0x0 unpromoted=2", 45),
        ("emulate=f32 parts=2 products=1x0+0x0; order=ascending", 37),
        ("emulate=f32 parts=2 products=1y0", 30),
        ("emulate=f32 parts=2 products=level/2", 30),
    ] {
        let message = refused(text);
        let begin = format!("(schedule):1:{column}: ");
        assert!(message.starts_with(&begin), "{text}: {message}");
    }
}

fn product_refused((arch, inst): (&str, &str), text: &str, modifiers: Modifiers) -> String {
    let unit = Catalogue::built_in().find(arch, inst).expect("a row");
    let unit = unit.unit().expect("a unit");
    let schedule: Schedule = text.parse().expect(text);
    let (k, format) = (unit.signature().k, schedule.signature(unit).a);
    let matrices = Matrices::new(
        matrix(1, k, &format, &vec![0; k]),
        matrix(k, 1, &format, &vec![0; k]),
    )
    .expect("matrices");
    let product = ScheduledProduct::new(&schedule, unit, &matrices, modifiers);
    product.expect_err(text).to_string()
}

#[test]
fn units_that_do_not_take_the_parts_are_named() {
    let none = Modifiers::default();
    let message = product_refused(S8, "emulate=f32 parts=2 products=0x0", none);
    assert!(message.contains("the instruction takes int8"), "{message}");
    let text = "emulate=f64 slices=2 bits=9 products=levels/2 join=ascending/f64";
    let message = product_refused(S8, text, none);
    assert!(message.contains("whole numbers up to 127"), "{message}");
    let text = "emulate=f32 parts=2 products=levels/2 join=ascending/f32";
    let negative = Modifiers {
        negate_c: true,
        ..none
    };
    let message = product_refused(BF16, text, negative);
    assert!(message.contains("negC"), "{message}");
    let scaled = "emulate=f32 parts=1 products=0x0; promote=1/f32 scale=1x1";
    let message = product_refused(BF16, scaled, none);
    assert!(message.contains("exclude each other"), "{message}");
}

#[test]
fn a_plain_product_and_a_tree_refuse_split_operands() {
    let unit = Catalogue::built_in().find(BF16.0, BF16.1).expect("a row");
    let unit = unit.unit().expect("a unit");
    let schedule: Schedule = "emulate=f32 parts=1 products=0x0"
        .parse()
        .expect("a schedule");
    let tree = schedule.tree(unit, &OutputPlace::single(128));
    assert!(tree.expect_err("no tree").to_string().contains("emulate="));
    let zeros = vec![0_u16; 128];
    let matrices = Matrices::new(
        mmascope::gemm::Matrix::row_major(1, 128, zeros.clone()).expect("A"),
        mmascope::gemm::Matrix::row_major(128, 1, zeros).expect("B"),
    )
    .expect("matrices");
    let product = Product::new(unit, &matrices, Modifiers::default()).expect("a product");
    let d = schedule.run(&product, None, &watch());
    assert!(
        d.expect_err("no D")
            .to_string()
            .contains("ScheduledProduct")
    );
}

fn run((arch, inst): (&str, &str), text: &str, row: &[f64], modifiers: Modifiers) -> f64 {
    let unit = Catalogue::built_in().find(arch, inst).expect("a row");
    let unit = unit.unit().expect("a unit");
    let schedule: Schedule = text.parse().expect(text);
    let (k, format) = (unit.signature().k, schedule.signature(unit).a);
    let word = |value: f64| match format {
        F64 => value.to_bits(),
        _ => u64::from((value as f32).to_bits()),
    };
    let mut a: Vec<u64> = row.iter().map(|&value| word(value)).collect();
    a.resize(k, 0);
    let b = vec![word(1.0); k];
    let matrices = Matrices::new(matrix(1, k, &format, &a), matrix(k, 1, &format, &b));
    let matrices = matrices.expect("matrices");
    let product = ScheduledProduct::new(&schedule, unit, &matrices, modifiers).expect("a product");
    let d = product.run(None, &watch()).expect("D").get(0);
    match schedule.format(unit) {
        F32 => f32::from_bits(d as u32).into(),
        _ => f64::from_bits(d),
    }
}

#[test]
fn special_values_and_ranges() {
    let none = Modifiers::default();
    let levels = "emulate=f64 slices=8/rz bits=7 products=levels/8 join=ascending/f64";
    let residues = "emulate=f64 residues=256,255,253,251,247,241,239,233,229,227,223,217,211,199/rz bits=53 \
                    join=residues/f64";
    for text in [levels, residues] {
        // A row with an infinity or a NaN gives NaN; zeros give 0.
        assert!(run(S8, text, &[1.0, f64::INFINITY], none).is_nan());
        assert!(run(S8, text, &[f64::NAN], none).is_nan());
        assert_eq!(run(S8, text, &[0.0, -0.0], none), 0.0);
        // Exact where all bits are held: the ends of the range, subnormal numbers.
        for value in [1.0, -1.0 / 3.0, 1e300, -1e-300, 5e-324, f64::MIN_POSITIVE] {
            assert_eq!(run(S8, text, &[value], none), value, "{text}");
        }
        // Beyond the range it is an infinity.
        assert_eq!(run(S8, text, &[f64::MAX, f64::MAX], none), f64::INFINITY);
        let negative = Modifiers {
            negate_a: true,
            ..none
        };
        assert_eq!(run(S8, text, &[1.5], negative), -1.5, "negA");
    }
    // The rest of an infinity is NaN, as in the programs that split numbers.
    let two = "emulate=f32 parts=2 products=1x0,0x1,0x0";
    assert!(run(BF16, two, &[f64::INFINITY], none).is_nan());
    assert_eq!(
        run(
            BF16,
            "emulate=f32 parts=1 products=0x0",
            &[f64::INFINITY],
            none
        ),
        f64::INFINITY
    );
}
