//! Rows that are packed in several readings, and products wider than what a tile meets at once.

use mmascope::cpu::{Kernel, Level};

use super::adversary::{Elements, Start};
use super::cases::Case;
use super::parts::{compare, own, unit};

/// More than twice the slots of a row of A that are read at once, with specials in some steps.
#[test]
fn long_rows_with_specials() {
    // (Sums in 64-bit lanes, rounding down, by conversion; an odd number of slots, of which one is empty; c late.)
    let own = [
        own(
            "a=f16 b=f16 c=f32 d=f32 k=16",
            "t-fdpa L=16 F=25 e0=-132 -> rz f32",
        ),
        own(
            "a=e4m3 b=e4m3 c=f32 d=f32 k=32",
            "t-fdpa L=32 F=13 e0=-132 -> rz e8m13",
        ),
        own(
            "a=f16 b=f16 c=f32 d=f32 k=8",
            "t-fdpa L=8 F=24 e0=-132 -> rz f32",
        ),
        own(
            "a=f16 b=f16 c=f32 d=f32 k=9",
            "t-fdpa L=9 F=24 e0=-132 -> rz f32",
        ),
    ];
    let rows = own
        .iter()
        .chain([unit("cdna3", "v_mfma_f32_16x16x32_fp8_fp8")]);
    for (seed, unit) in (1..).zip(rows) {
        let steps = 4500 / unit.signature().k;
        for second in [Elements::Sprinkled, Elements::Wide] {
            let elements = [Elements::Sprinkled, second];
            let case = Case::plain([3, 17, steps], elements, Start::Usual, seed);
            compare(&unit.program().to_string(), unit, &case);
        }
    }
}

/// More columns in f64 than a tile meets.
#[test]
fn wide_products_in_f64() {
    let unit = unit("ampere", "mma.m8n8k4.f64.f64.f64.f64");
    for (shape, seed) in [([7, 515, 3], 1), ([1, 990, 40], 2), ([101, 483, 2], 3)] {
        let case = Case::plain(shape, [Elements::Sprinkled; 2], Start::Usual, seed);
        compare("f64", unit, &case);
    }
}

/// A level that has nothing more for a kernel is the level below; sums of bytes have a use for VNNI.
#[test]
fn levels_with_nothing_more() {
    let bytes = "tcgen05.mma.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3";
    let rows = [
        ("hopper", "wgmma.m64n8k16.f32.f16.f16", Level::Avx512),
        ("blackwell", bytes, Level::Vnni),
    ];
    for (arch, inst, expected) in rows {
        for level in Level::available() {
            let kernel = Kernel::at_level(unit(arch, inst), level).expect("a kernel");
            let expected = if level == Level::Vnni {
                expected
            } else {
                level
            };
            assert_eq!(kernel.level(), expected, "{inst} at {level}");
        }
    }
}
