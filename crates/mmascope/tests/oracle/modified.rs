//! Operand modifiers (§3), and a tile as so many dot products.

use mmascope::dpa::{Modifiers, Tiles};

use super::families::{FAMILIES, Target, case};
use super::proof::{prove_modified, scaled_unit, seed, unit};

#[test]
fn negated_absent_and_scaled_operands() {
    let f32_sum = "t-fdpa L=16 F=25 e0=-133 -> rz f32 nan=7fffffff";
    let f16_sum = "t-fdpa L=16 F=25 e0=-21 -> rne f16 nan=7fff";
    let units = [
        unit("f16", "f16", "f32", 16, f32_sum),
        unit("bf16", "bf16", "f32", 16, f32_sum),
        unit("f16", "f16", "f16", 16, f16_sum),
        unit(
            "e4m3",
            "e5m2",
            "f32",
            32,
            "t-fdpa L=32 F=13 e0=-133 -> rz e8m13 nan=7fffffff",
        ),
        unit(
            "tf32",
            "tf32",
            "f32",
            8,
            "t-fdpa L=8 F=25 e0=-133 align=ru -> rd f32 zero=exact",
        ),
        scaled_unit(
            ["e4m3", "e2m1"],
            "f32",
            32,
            ("ue8m0", 32),
            "st-fdpa L=32 F=25 e0=-133 -> rz f32 nan=7fffffff",
        ),
        scaled_unit(
            ["e2m1", "e2m1"],
            "f32",
            64,
            ("ue4m3", 16),
            "gst-fdpa L=64 G=16 F=35 e0=-139 -> rz f32 nan=7fffffff",
        ),
    ];
    prove_modified("modifiers", &units, 150_000, &|index| Modifiers {
        negate_a: index & 1 != 0,
        negate_b: index & 2 != 0,
        negate_c: index & 4 != 0,
        no_c: index % 5 == 0,
        scale_d: -((index / 3 % 16) as i32),
    });
}

#[test]
fn a_tile_is_its_dot_products() {
    let unit = scaled_unit(
        ["e4m3", "e5m2"],
        "f32",
        64,
        ("ue8m0", 32),
        "st-fdpa L=32 F=25 e0=-133 -> rz f32 nan=7fffffff",
    );
    let target = Target::new(unit.signature(), unit.program());
    let (m, n, k, blocks) = (3, 5, 64, 2);
    for (round, family) in FAMILIES.into_iter().cycle().take(160).enumerate() {
        let cases: Vec<_> = (0..15)
            .map(|index| case(family, &target, seed(), round as u64 * 15 + index))
            .collect();
        let rows = |i: usize| &cases[i];
        let columns = |j: usize| &cases[m + j];
        let a: Vec<u64> = (0..m).flat_map(|i| rows(i).a.clone()).collect();
        let scale_a: Vec<u64> = (0..m).flat_map(|i| rows(i).scale_a.clone()).collect();
        let b: Vec<u64> = (0..k)
            .flat_map(|x| (0..n).map(move |j| columns(j).b[x]))
            .collect();
        let scale_b: Vec<u64> = (0..blocks)
            .flat_map(|x| (0..n).map(move |j| columns(j).scale_b[x]))
            .collect();
        let c: Vec<u64> = cases.iter().map(|case| case.c).collect();
        let tiles = Tiles {
            m,
            n,
            a: &a,
            b: &b,
            c: &c,
            scale_a: &scale_a,
            scale_b: &scale_b,
        };
        let d = unit
            .tile(&tiles, &Modifiers::default())
            .expect("tiles that fit");
        for i in 0..m {
            for j in 0..n {
                let operands = mmascope::dpa::Operands {
                    a: &rows(i).a,
                    b: &columns(j).b,
                    c: c[i * n + j],
                    scale_a: &rows(i).scale_a,
                    scale_b: &columns(j).scale_b,
                };
                let dot = unit
                    .dot(&operands, &Modifiers::default())
                    .expect("operands that fit");
                assert_eq!(d[i * n + j], dot, "element ({i}, {j}), {family:?}");
            }
        }
    }
}
