//! The lowered programs of §3: what the compiler makes of instructions without a native unit.

use mmascope::dpa::{Modifiers, Operands, Unit};
use mmascope::format::Format;
use mmascope::isa::Catalogue;

use super::algorithms::ROUNDINGS;
use super::proof::{prove, unit};

/// fp8 without a native unit: two sums over f16 and an addition. `l` is 16 or, for K=16, 8.
pub(crate) fn emulated_fp8(output: &str, l: usize, old_compiler: bool) -> String {
    let (e0, sum) = match output {
        "f32" => (-133, "rz f32 nan=7fffffff"),
        _ => (-21, "rne f16 nan=7fff"),
    };
    let nan = if output == "f32" { "7fffffff" } else { "7fff" };
    let half = |ks: &str, from: &str| {
        format!("t-fdpa L={l} F=25 e0={e0} as f16 over k%4={ks} from {from} -> {sum}")
    };
    let (first, add) = (half("0,1", "+0"), format!("-> rne {output} nan={nan}"));
    if old_compiler {
        let second = half("2,3", "+0");
        format!("t = {first} ; u = {second} ; s = add t u {add} ; d = add c s {add}")
    } else {
        let second = half("2,3", "t");
        format!("t = {first} ; u = {second} ; d = add c u {add}")
    }
}

#[test]
fn fp8_without_a_native_unit() {
    let mut units = Vec::new();
    for (a, b) in [
        ("e4m3", "e4m3"),
        ("e4m3", "e5m2"),
        ("e5m2", "e4m3"),
        ("e5m2", "e5m2"),
    ] {
        for output in ["f32", "f16"] {
            for (k, l) in [(32, 16), (16, 8)] {
                for old_compiler in [false, true] {
                    let program = emulated_fp8(output, l, old_compiler);
                    units.push(unit(a, b, output, k, &program));
                }
            }
        }
    }
    prove("emulated fp8", &units, 32_000);
}

/// §3 in this file's words against the catalogue's: the oracle walks the program that a row has,
/// so it cannot see a row with a wrong program.
#[test]
fn the_catalogue_has_the_programs_of_the_specification() {
    let catalogue = Catalogue::built_in();
    let mut rows = 0;
    for arch in ["hopper", "blackwell"] {
        for row in catalogue.architecture(arch).expect(arch).instructions() {
            let signature = &row.signature;
            let is_fp8 = |format: &Format| format.bits == 8 && format.float().is_some();
            let is_fp8 = [signature.a, signature.b].iter().all(is_fp8);
            let (Ok(unit), true) = (row.unit(), is_fp8 && row.name.starts_with("mma.")) else {
                continue;
            };
            let old_compiler = row.name.ends_with("@ptxas12.4");
            let expected = emulated_fp8(signature.d.name, 16, old_compiler);
            assert_eq!(unit.program().to_string(), expected, "{}", row.name);
            rows += 1;
        }
    }
    // 4 operand pairs: Hopper k32 and k16 with two accumulators and the old compiler; Blackwell
    // the same without it, and the kind of narrow operands.
    assert_eq!(rows, 4 * (4 + 1) + 4 * (4 + 2));
}

/// −2^-9 + 2^-9 at exponents of products 6 and −18: e4m3 subnormals are normal f16 numbers, which
/// puts the small product above the alignment's last place.
#[test]
fn widening_moves_subnormal_operands() {
    let program = emulated_fp8("f32", 16, false);
    let with = unit("e4m3", "e5m2", "f32", 32, &program);
    let without = unit("e4m3", "e5m2", "f32", 32, &program.replace(" as f16", ""));
    let (mut a, mut b) = ([0; 32], [0; 32]);
    (a[0], a[1], a[4]) = (0x01, 0x81, 0x01);
    (b[0], b[1], b[4]) = (0x78, 0x78, 0x18);
    let operands = Operands {
        a: &a,
        b: &b,
        ..Operands::default()
    };
    let dot = |unit: &Unit| {
        unit.dot(&operands, &Modifiers::default())
            .expect("a result")
    };
    assert_eq!(dot(&with), 0x3680_0000);
    assert_eq!(dot(&without), 0);
}

#[test]
fn m8n8k4_as_scalar_code() {
    let mut units = Vec::new();
    for nan in ["", " nan=7fffffff"] {
        let program =
            format!("s = fma-chain from +0 -> rne f32{nan} ; d = add c s -> rne f32{nan}");
        units.push(unit("f16", "f16", "f32", 4, &program));
        units.push(unit("f16", "f16", "f16", 4, &program));
    }
    // p01 = fma(a1, b1, a0·b0): the order of the k is part of the instruction.
    let pairs = "p = fma-chain over k=0,1 from product -> rne f16 ; \
                 q = fma-chain over k=2,3 from product -> rne f16 ; \
                 s = add c p -> rne f16 ; d = add s q -> rne f16";
    units.push(unit("f16", "f16", "f16", 4, pairs));
    let single = "p = fma-chain over k=0,1 from product -> rne f32 ; \
                  q = fma-chain over k=3,2 from product -> rne f32 ; \
                  s = add c p -> rne f32 ; d = add s q -> rne f16";
    units.push(unit("f16", "f16", "f16", 4, single));
    units.push(unit("f16", "f16", "f32", 4, single));
    prove("m8n8k4 as scalar code", &units, 200_000);
}

#[test]
fn f16_result_of_an_f32_sum() {
    let mut units = Vec::new();
    for (l, f, e0) in [(4, 23, -131), (8, 24, -132), (16, 25, -133)] {
        let program = format!(
            "s = t-fdpa L={l} F={f} e0={e0} -> rz f32 nan=7fffffff ; \
             d = convert s -> rne f16 nan=7fff"
        );
        units.push(unit("f16", "f16", "f32", 16, &program));
    }
    prove("wmma with an f16 result", &units, 400_000);
}

#[test]
fn chains_of_statements_in_any_order() {
    let mut units: Vec<Unit> = Vec::new();
    for (i, rounding) in ROUNDINGS.iter().enumerate() {
        let output = ["f32", "f16", "bf16", "f32"][i % 4];
        let zero = ["ieee", "plus", "exact"][i % 3];
        let program = format!(
            "x = t-fdpa L=3 F={} e0=-126 over k=5,2,1 -> {rounding} f32 ; \
             y = e-fdpa L=2 over k=0,4 from x -> rne bf16 ; \
             z = tr-fdpa L=2 F=24 F2=31 over k=7,3,6 from +0 -> rne f32 ; \
             w = add y z -> {rounding} {output} zero={zero} ; \
             d = convert w -> {rounding} f16 zero={zero}",
            20 + i
        );
        units.push(unit("bf16", "f16", "f32", 8, &program));
    }
    prove("several statements", &units, 100_000);
}

#[test]
fn conversions_and_additions() {
    let mut units: Vec<Unit> = Vec::new();
    for rounding in ROUNDINGS {
        for output in [
            "f16", "bf16", "e5m2", "e4m3fn", "e4m3fnuz", "e2m1", "e3m2", "tf32", "f32",
        ] {
            let program =
                format!("s = fma-chain -> rne f64 ; d = convert s -> {rounding} {output}");
            units.push(unit("f32", "bf16", "f32", 1, &program));
            let program = format!(
                "s = fma-chain from product -> rne f32 ; \
                 d = add s c -> {rounding} {output} overflow=inf"
            );
            units.push(unit("f16", "bf16", "f32", 1, &program));
        }
    }
    prove("conversions and additions", &units, 16_000);
}
