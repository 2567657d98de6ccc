//! Every algorithm against the oracle: the known parameter rows (§4) and user-defined ones.

use mmascope::dpa::Unit;

use super::proof::{prove, scaled_unit, unit};

/// All roundings that an alignment or a result can have.
pub(crate) const ROUNDINGS: [&str; 11] = [
    "rz", "rne", "rna", "rnz", "rnu", "rnd", "rno", "ra", "ru", "rd", "odd",
];
const ZEROS: [&str; 3] = ["plus", "exact", "ieee"];
const OUTPUTS: [&str; 6] = ["f32", "f16", "bf16", "e8m13", "tf32", "e5m2"];

/// The i-th entry, starting again at the end: coprime strides give all combinations in turn.
fn cycle<T: Copy>(list: &[T], i: usize) -> T {
    list[i % list.len()]
}

/// The parameters of user-defined sums, number `i`: F, rounding of the alignment, conversion.
fn user_defined(i: usize) -> (usize, String, String) {
    let f = if i % 32 == 31 { 64 } else { 10 + i % 31 };
    let align = format!("align={}", cycle(&ROUNDINGS, i));
    let rounding = cycle(&ROUNDINGS, i / 3);
    let output = cycle(&OUTPUTS, i);
    let overflow = if i % 5 == 0 { " overflow=ieee" } else { "" };
    (
        f,
        align,
        format!(
            "-> {rounding} {output} zero={}{overflow}",
            cycle(&ZEROS, i / 2)
        ),
    )
}

const F32_NAN: &str = "-> rz f32 nan=7fffffff";
const F16_NAN: &str = "-> rne f16 nan=7fff";

#[test]
fn t_fdpa_known_rows() {
    let mut units = Vec::new();
    // Operands, K, L, F and e0 of f32 accumulators; e0 of f16 accumulators where there are any.
    let rows: [(&str, usize, usize, i32, i32, Option<i32>); 12] = [
        ("f16", 4, 4, 23, -131, Some(-19)),
        ("f16", 8, 8, 24, -132, Some(-20)),
        ("f16", 16, 8, 24, -132, Some(-20)),
        ("tf32", 4, 4, 24, -132, None),
        ("tf32", 8, 4, 24, -132, None),
        ("bf16", 8, 8, 24, -132, None),
        ("bf16", 16, 8, 24, -132, None),
        ("f16", 8, 16, 25, -133, Some(-21)),
        ("f16", 16, 16, 25, -133, Some(-21)),
        ("bf16", 16, 16, 25, -133, None),
        ("tf32", 4, 8, 25, -133, None),
        ("tf32", 8, 8, 25, -133, None),
    ];
    for (operand, k, l, f, e0, e0_f16) in rows {
        let program = format!("t-fdpa L={l} F={f} e0={e0} {F32_NAN}");
        units.push(unit(operand, operand, "f32", k, &program));
        if operand == "f16" {
            units.push(unit(operand, operand, "f16", k, &program));
        }
        if let Some(e0) = e0_f16 {
            let program = format!("t-fdpa L={l} F={f} e0={e0} {F16_NAN}");
            units.push(unit(operand, operand, "f16", k, &program));
            units.push(unit(operand, operand, "f32", k, &program));
        }
    }
    for (a, b) in [
        ("e4m3", "e4m3"),
        ("e4m3", "e5m2"),
        ("e5m2", "e4m3"),
        ("e5m2", "e5m2"),
    ] {
        for (k, l, e0, e0_f16) in [
            (16, 16, -132, -20),
            (32, 16, -132, -20),
            (32, 32, -133, -21),
        ] {
            let program = format!("t-fdpa L={l} F=13 e0={e0} -> rz e8m13 nan=7fffffff");
            units.push(unit(a, b, "f32", k, &program));
            let program = format!("t-fdpa L={l} F=13 e0={e0_f16} {F16_NAN}");
            units.push(unit(a, b, "f16", k, &program));
        }
    }
    let narrow = ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"];
    for a in narrow {
        for b in narrow {
            let program = format!("t-fdpa L=32 F=25 e0=-133 {F32_NAN}");
            units.push(unit(a, b, "f32", 32, &program));
            let program = format!("t-fdpa L=32 F=25 e0=-21 {F16_NAN}");
            units.push(unit(a, b, "f16", 32, &program));
        }
    }
    prove("t-fdpa, known rows", &units, 16_000);
}

#[test]
fn t_fdpa_user_defined() {
    let formats = ["bf16", "f16", "tf32", "e4m3", "f32", "e5m2fnuz", "e3m4"];
    let units: Vec<Unit> = (0..132)
        .map(|i| {
            let (f, align, output) = user_defined(i);
            let l = cycle(&[1, 3, 5, 7, 9, 13, 31], i / 2);
            let e0 = cycle(&[-133, -126, -149, -20, -40, 0, -300, 7], i / 3);
            let c = cycle(&["f32", "f16", "bf16"], i / 5);
            let k = cycle(&[1, 5, 8, 15, 16], i);
            let program = format!("t-fdpa L={l} F={f} e0={e0} {align} {output}");
            unit(cycle(&formats, i), cycle(&formats, i / 4), c, k, &program)
        })
        .collect();
    prove("t-fdpa, user-defined", &units, 10_000);
}

/// Many products per block: carries far above the leading term.
#[test]
fn long_blocks() {
    let mut units = Vec::new();
    for (operand, f) in [("bf16", 64), ("f32", 64), ("f16", 25), ("tf32", 10)] {
        for algorithm in [
            format!("t-fdpa L=256 F={f} e0=-133 -> rz f32"),
            format!("t-fdpa L=100 F={f} e0=-133 align=rd -> rd f32 zero=exact"),
            "e-fdpa L=200 -> rne f32".to_owned(),
            format!("tr-fdpa L=256 F={f} F2=64 -> rne f32"),
        ] {
            units.push(unit(operand, operand, "f32", 256, &algorithm));
        }
    }
    // Only f16: §2.8 does not say what a product of 2^128 or more is, and fp8 cannot form one.
    units.push(unit(
        "f16",
        "f16",
        "f32",
        256,
        "gtr-fdpa L=256 F=64 F2=31 -> rne f32",
    ));
    prove("long blocks", &units, 2_000);
}

#[test]
fn st_fdpa() {
    let mut units = Vec::new();
    let narrow = ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"];
    for a in narrow {
        for b in narrow {
            let program = format!("st-fdpa L=32 F=25 e0=-133 {F32_NAN}");
            units.push(scaled_unit([a, b], "f32", 32, ("ue8m0", 32), &program));
        }
    }
    for i in 0..40 {
        let (f, align, output) = user_defined(i);
        let l = cycle(&[3, 7, 8, 32, 1], i / 2);
        let e0 = cycle(&[-133, -126, -20, -300], i / 3);
        let (k, block) = cycle(&[(8, 4), (12, 3), (16, 16), (64, 32)], i);
        let operands = [
            cycle(&narrow, i),
            cycle(&["e5m2", "bf16", "e2m1", "e4m3fnuz"], i / 2),
        ];
        let program = format!("st-fdpa L={l} F={f} e0={e0} {align} {output}");
        units.push(scaled_unit(operands, "f32", k, ("ue8m0", block), &program));
    }
    prove("st-fdpa", &units, 18_000);
}

#[test]
fn gst_fdpa() {
    let mut units = Vec::new();
    for scale in [("ue8m0", 32), ("ue8m0", 16), ("ue4m3", 16)] {
        let program = format!("gst-fdpa L=64 G=16 F=35 e0=-139 {F32_NAN}");
        units.push(scaled_unit(["e2m1"; 2], "f32", 64, scale, &program));
        units.push(scaled_unit(["e2m1"; 2], "f32", 128, scale, &program));
    }
    for i in 0..66 {
        let (f, align, output) = user_defined(i);
        // §2.4 does not say what an IEEE zero of groups is: is a group times a zero scale one?
        let output = output.replace("zero=ieee", "zero=exact");
        let (l, g, k) = cycle(
            &[(64, 16, 64), (8, 4, 16), (3, 3, 9), (10, 2, 10), (5, 1, 5)],
            i,
        );
        let scale = cycle(&["ue8m0", "ue4m3", "ue5m3"], i / 2);
        let e0 = cycle(&[-139, -126, -20, -300], i / 3);
        let operands = [
            cycle(&["e2m1", "e2m3", "e3m2"], i),
            cycle(&["e2m1", "e3m2"], i / 2),
        ];
        let program = format!("gst-fdpa L={l} G={g} F={f} e0={e0} {align} {output}");
        units.push(scaled_unit(operands, "f32", k, (scale, g), &program));
    }
    prove("gst-fdpa", &units, 16_000);
}

#[test]
fn fma_chain() {
    let mut units = Vec::new();
    for rounding in ["rne", "rz", "rd", "ru"] {
        for k in [1, 4, 8, 16] {
            for format in ["f64", "f32"] {
                let program = format!("fma-chain -> {rounding} {format}");
                units.push(unit(format, format, format, k, &program));
            }
        }
    }
    for i in 0..44 {
        let rounding = cycle(&ROUNDINGS, i);
        let output = cycle(&["f32", "f16", "bf16", "e5m2", "f64"], i);
        let operand = cycle(&["f16", "bf16", "f32", "tf32", "e4m3", "e5m2fnuz"], i);
        let from = cycle(&["", " from +0", " from product"], i / 2);
        let zero = cycle(&ZEROS, i / 4);
        let overflow = cycle(&["ieee", "inf"], i / 3);
        let program =
            format!("fma-chain{from} -> {rounding} {output} zero={zero} overflow={overflow}");
        units.push(unit(
            operand,
            operand,
            cycle(&["f32", "f16"], i),
            1 + i % 7,
            &program,
        ));
    }
    prove("fma-chain", &units, 16_000);
}

#[test]
fn ftz_addmul() {
    let mut units = Vec::new();
    for flush in ["", " flush-in=kept"] {
        for (operand, p) in [
            ("f16", 4),
            ("bf16", 4),
            ("bf16", 2),
            ("bf16", 1),
            ("f32", 8),
        ] {
            for k in [p, 2 * p, 4 * p] {
                for nan in ["", " nan=7fc00000"] {
                    let program = format!("ftz-addmul P={p}{flush} -> rne f32{nan}");
                    units.push(unit(operand, operand, "f32", k, &program));
                }
            }
        }
    }
    prove("ftz-addmul", &units, 20_000);
}

#[test]
fn ftz_addmul_that_flushes_to_plus_zero() {
    let units: Vec<Unit> = [("f16", 4), ("bf16", 2), ("bf16", 4), ("e5m2", 1)]
        .iter()
        .flat_map(|&(operand, p)| {
            ["plus", "kept"].map(|sign| {
                let program = format!("ftz-addmul P={p} flush-in={sign} flush-out=plus -> rne f32");
                unit(operand, operand, "f32", 2 * p, &program)
            })
        })
        .collect();
    prove("ftz-addmul, flush-out=plus", &units, 20_000);
}

#[test]
fn e_fdpa() {
    let mut units = Vec::new();
    for (operand, l) in [("f16", 4), ("bf16", 2)] {
        for blocks in [1, 2, 4] {
            units.push(unit(
                operand,
                operand,
                "f32",
                l * blocks,
                &format!("e-fdpa L={l} -> rne f32"),
            ));
        }
    }
    for i in 0..60 {
        let (_, _, output) = user_defined(i);
        let l = cycle(&[1, 3, 4, 7, 16, 32], i);
        let formats = ["bf16", "f32", "f16", "e4m3", "tf32", "e4m3b11fnuz", "e2m1"];
        let c = cycle(&["f32", "bf16"], i);
        let program = format!("e-fdpa L={l} {output}");
        units.push(unit(
            cycle(&formats, i),
            cycle(&formats, i / 3),
            c,
            1 + i % 17,
            &program,
        ));
    }
    prove("e-fdpa", &units, 20_000);
}

#[test]
fn tr_fdpa() {
    let mut units = Vec::new();
    for (operand, l) in [("tf32", 4), ("f16", 8), ("bf16", 8)] {
        for blocks in [1, 2] {
            let program = format!("tr-fdpa L={l} F=24 F2=31 -> rne f32");
            units.push(unit(operand, operand, "f32", l * blocks, &program));
        }
    }
    for i in 0..66 {
        let (f, _, output) = user_defined(i);
        let f2 = cycle(&[31, 24, 28, 35, 64, 40, 20], i);
        let l = cycle(&[1, 3, 8, 5, 16], i);
        let operand = cycle(&["bf16", "f16", "tf32", "f32", "e4m3fnuz"], i / 2);
        let output = if i % 2 == 0 {
            output
        } else {
            format!("-> {} f32", cycle(&ROUNDINGS, i))
        };
        let program = format!("tr-fdpa L={l} F={f} F2={f2} {output}");
        units.push(unit(operand, operand, "f32", 1 + i % 17, &program));
    }
    prove("tr-fdpa", &units, 20_000);
}

#[test]
fn gtr_fdpa() {
    let mut units = Vec::new();
    for a in ["e4m3fnuz", "e5m2fnuz"] {
        for b in ["e4m3fnuz", "e5m2fnuz"] {
            for k in [16, 32] {
                units.push(unit(a, b, "f32", k, "gtr-fdpa L=16 F=24 F2=31 -> rne f32"));
            }
        }
    }
    for i in 0..66 {
        let (f, _, output) = user_defined(i);
        let f2 = cycle(&[31, 24, 28, 35, 64, 40, 20], i);
        let l = cycle(&[1, 3, 8, 5, 16], i);
        let operand = cycle(&["e5m2", "f16", "e4m3fnuz", "e5m2fnuz"], i / 2);
        let output = if i % 2 == 0 {
            output
        } else {
            format!("-> {} f32", cycle(&ROUNDINGS, i))
        };
        let program = format!("gtr-fdpa L={l} F={f} F2={f2} {output}");
        units.push(unit(operand, operand, "f32", 1 + i % 33, &program));
    }
    prove("gtr-fdpa", &units, 20_000);
}
