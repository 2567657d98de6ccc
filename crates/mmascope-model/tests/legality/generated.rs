//! Forms made here, thousands of them, judged by the rules and by the assembler.

use std::collections::BTreeSet;

use mmascope_model::precision::legal::{Legality, Rules};

use super::assembler;

/// A form with operands that fit its types, so that only its modifiers and types can be wrong.
struct Line {
    name: String,
    operands: String,
}

/// A small generator of numbers; the same forms every time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn maybe<'a>(&mut self, word: &'a str, one_in: usize) -> &'a str {
        if self.below(one_in) == 0 { word } else { "" }
    }
}

/// Letter of the registers that hold a type.
fn register(name: &str) -> &'static str {
    match name {
        "f32" => "f",
        "f64" => "d",
        "f16" | "bf16" | "s16" | "u16" | "e4m3x2" | "e5m2x2" | "e2m3x2" | "e3m2x2" | "ue8m0x2"
        | "s2f6x2" | "ue5m3x2" | "e2m1x4" => "h",
        "e2m1x2" => "b",
        "f32x2" | "s64" | "u64" => "rd",
        _ => "r",
    }
}

fn list(letter: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|index| format!("{letter}{index}")).collect();
    names.join(",")
}

/// Every operation of the floating-point units with every combination of modifiers.
fn floating(lines: &mut Vec<Line>) {
    let operations = [
        ("add", 3),
        ("sub", 3),
        ("mul", 3),
        ("fma", 4),
        ("mad", 4),
        ("div", 3),
        ("rcp", 2),
        ("sqrt", 2),
        ("rsqrt", 2),
        ("sin", 2),
        ("cos", 2),
        ("lg2", 2),
        ("ex2", 2),
        ("tanh", 2),
        ("abs", 2),
        ("neg", 2),
        ("min", 3),
        ("max", 3),
        ("min", 4),
        ("max", 4),
        ("copysign", 3),
    ];
    let types = ["f32", "f64", "f16", "bf16", "f16x2", "bf16x2", "f32x2"];
    for (operation, count) in operations {
        let compares = matches!(operation, "abs" | "neg" | "min" | "max" | "copysign");
        let roundings: &[&str] = match operation {
            _ if compares => &["", ".rn"],
            "add" | "sub" | "mul" | "fma" | "mad" => &["", ".rn", ".rz", ".rm", ".rp"],
            _ => &["", ".rn", ".rz", ".rm", ".rp", ".approx", ".full"],
        };
        let tails: &[&str] = match operation {
            "fma" => &["", ".sat", ".relu", ".oob", ".oob.relu"],
            "min" | "max" => &["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs", ".abs"],
            _ => &["", ".sat"],
        };
        for kind in types {
            for rounding in roundings {
                for flush in ["", ".ftz"] {
                    for tail in tails {
                        lines.push(Line {
                            name: format!("{operation}{rounding}{flush}{tail}.{kind}"),
                            operands: list(register(kind), count),
                        });
                    }
                }
            }
        }
    }
}

/// Comparisons that write a predicate or a number.
fn comparisons(lines: &mut Vec<Line>, random: &mut Random) {
    let relations = ["eq", "ne", "lt", "geu", "num", "nan"];
    let types = ["f32", "f64", "f16", "bf16", "f16x2", "bf16x2"];
    for _ in 0..400 {
        let (relation, kind) = (random.of(&relations), random.of(&types));
        let flush = random.maybe(".ftz", 2);
        let letter = register(kind);
        if random.below(2) == 0 {
            let result = if kind.ends_with("x2") { "p1|p2" } else { "p1" };
            lines.push(Line {
                name: format!("setp.{relation}{flush}.{kind}"),
                operands: format!("{result},{letter}0,{letter}1"),
            });
        } else {
            let result = random.of(&[
                "f32", "u32", "s32", "f16", "bf16", "u16", "s16", "f16x2", "bf16x2",
            ]);
            lines.push(Line {
                name: format!("set.{relation}{flush}.{result}.{kind}"),
                operands: format!("{}9,{letter}0,{letter}1", register(result)),
            });
        }
    }
}

const PACKED: &[&str] = &[
    "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2", "ue8m0x2", "s2f6x2", "ue5m3x2",
];
const FOURFOLD: &[&str] = &["e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4"];
const SCALARS: &[&str] = &[
    "f32", "f16", "bf16", "f64", "s32", "u32", "s64", "u64", "s16", "u16", "s8", "u8",
];

/// Conversions: types, roundings and modifiers drawn at random, the narrow types more often.
fn conversions(lines: &mut Vec<Line>, random: &mut Random) {
    let roundings = [
        "", ".rn", ".rn", ".rn", ".rz", ".rm", ".rp", ".rna", ".rs", ".rni", ".rzi", ".rmi", ".rpi",
    ];
    for _ in 0..7_000 {
        let wide = ["f32", "f16x2", "bf16x2"];
        let (to, from) = match random.below(5) {
            0 => (random.of(SCALARS), random.of(SCALARS)),
            1 => (random.of(PACKED), random.of(&wide)),
            2 => (random.of(&["f16x2", "bf16x2"]), random.of(PACKED)),
            3 => (
                random.of(&["tf32", "f16x2", "bf16x2", "f16", "bf16"]),
                "f32",
            ),
            _ => (random.of(FOURFOLD), "f32"),
        };
        let mut rounding = random.of(&roundings);
        if to.ends_with("x4") && random.below(2) == 0 {
            rounding = ".rs";
        }
        let scale = match random.below(12) {
            0 => ".scaled::n1::ue8m0",
            1 => ".scaled::n2::ue8m0",
            _ => "",
        };
        // Most narrow results need it; the other modifiers make most forms illegal.
        let narrow = PACKED.contains(&to) || FOURFOLD.contains(&to);
        let saturating = random.below(8) < if narrow { 7 } else { 2 };
        let name = format!(
            "cvt{rounding}{}{}{}{}{}{scale}.{to}.{from}",
            if saturating { ".satfinite" } else { "" },
            random.maybe(".relu", 4),
            random.maybe(".pzo", 6),
            random.maybe(".ftz", 10),
            random.maybe(".sat", 14),
        );
        let source = match from {
            "f32" if to.ends_with("x4") => "{f0,f1,f2,f3},r0".to_owned(),
            "f32" if to.ends_with("x2") && rounding == ".rs" => "f0,f1,r0".to_owned(),
            "f32" if to.ends_with("x2") => "f0,f1".to_owned(),
            other => format!("{}0", register(other)),
        };
        let scale = match scale {
            "" => "",
            ".scaled::n1::ue8m0" => ",b9",
            _ => ",h8",
        };
        lines.push(Line {
            name,
            operands: format!("{}9,{source}{scale}", register(to)),
        });
    }
}

/// How many bits one element takes in a register.
fn bits(name: &str) -> usize {
    match name {
        "f64" => 64,
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        _ => 8,
    }
}

fn group(letter: &str, count: usize) -> String {
    format!("{{{}}}", list(letter, count))
}

/// Matrix instructions of a warp.
fn matrices(lines: &mut Vec<Line>, random: &mut Random) {
    let narrow = ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"];
    for _ in 0..900 {
        let (mut kind, mut scale, mut scale_type) = (String::new(), "", "");
        let (a, b);
        let k;
        if random.below(2) == 0 {
            a = random.of(&[
                "f16", "bf16", "tf32", "f64", "e4m3", "e5m2", "s8", "u8", "e2m1",
            ]);
            b = match a {
                "e4m3" | "e5m2" => random.of(&["e4m3", "e5m2"]),
                "s8" | "u8" => random.of(&["s8", "u8"]),
                _ => a,
            };
            k = [4, 8, 16, 32][random.below(4)];
        } else {
            (a, b) = if random.below(2) == 0 {
                ("e2m1", "e2m1")
            } else {
                (random.of(&narrow), random.of(&narrow))
            };
            k = [32, 64][random.below(2)];
            kind = format!(
                ".kind::{}",
                random.of(&["f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4"])
            );
            if random.below(4) > 0 {
                scale = random.of(&["", ".scale_vec::1X", ".scale_vec::2X", ".scale_vec::4X"]);
                scale_type = random.of(&[".ue8m0", ".ue8m0", ".ue4m3"]);
            }
        }
        let d = match a {
            "f64" => "f64",
            "s8" | "u8" => "s32",
            _ => random.of(&["f32", "f32", "f16"]),
        };
        let four = kind.contains("mxf4");
        let (m, n) = if a == "f64" && k == 4 && random.below(2) == 0 {
            (8, 8)
        } else {
            (16, 8)
        };
        let count = |elements: usize, name: &str| match (name, four) {
            ("f64", _) => ("d", elements / 32),
            ("f32", _) => ("f", elements / 32),
            (_, true) if bits(name) == 8 => ("r", elements * 4 / 1024),
            _ => ("r", elements * bits(name) / 1024),
        };
        let operand = |elements: usize, name: &str| {
            let (letter, count) = count(elements, name);
            group(letter, count.max(1))
        };
        let accumulator = operand(m * n, d);
        let letters = |elements: usize, name: &str| match name {
            "f64" => operand(elements, name),
            _ => operand(elements, name).replace('f', "r"),
        };
        let block = if scale_type.is_empty() {
            ""
        } else {
            ".block_scale"
        };
        let scales = if scale_type.is_empty() {
            ""
        } else {
            ",r40,{h0,h1},r41,{h0,h1}"
        };
        lines.push(Line {
            name: format!("mma.sync.aligned.m{m}n{n}k{k}.row.col{kind}{block}{scale}.{d}.{a}.{b}.{d}{scale_type}"),
            operands: format!("{accumulator},{},{},{accumulator}{scales}", letters(m * k, a), letters(n * k, b)),
        });
    }
}

/// Matrix instructions of a warp on integers of 8, 4 and 1 bits, and m8n8k4 in every layout.
fn integers(lines: &mut Vec<Line>) {
    for (a, b) in [
        ("s8", "u8"),
        ("u8", "u8"),
        ("s4", "u4"),
        ("s4", "s4"),
        ("u4", "s4"),
        ("s8", "s4"),
        ("b1", "b1"),
    ] {
        let bits = match a {
            "b1" => 1,
            "s4" | "u4" => 4,
            _ => 8,
        };
        for m in [8, 16] {
            for k in [16, 32, 64, 128, 256] {
                let count = |rows: usize| group("r", (rows * k * bits / 1024).max(1));
                let sums = group("r", m / 4);
                for (modifier, operation) in [
                    ("", ""),
                    (".satfinite", ""),
                    ("", ".xor.popc"),
                    ("", ".and.popc"),
                    (".satfinite", ".and.popc"),
                ] {
                    lines.push(Line {
                        name: format!("mma.sync.aligned.m{m}n8k{k}.row.col{modifier}.s32.{a}.{b}.s32{operation}"),
                        operands: format!("{sums},{},{},{sums}", count(m), count(8)),
                    });
                }
            }
        }
        for n in [8, 24, 32, 40, 48, 256] {
            let sums = group("r", n / 2);
            for (k, modifier, operation) in [
                (32, "", ""),
                (32, ".satfinite", ""),
                (256, "", ".and.popc"),
                (256, "", ".xor.popc"),
                (64, "", ""),
            ] {
                lines.push(Line {
                    name: format!(
                        "wgmma.mma_async.sync.aligned.m64n{n}k{k}{modifier}.s32.{a}.{b}{operation}"
                    ),
                    operands: format!("{sums},rd1,rd2,p1"),
                });
            }
        }
    }
    for a in ["row", "col"] {
        for b in ["row", "col"] {
            lines.push(Line {
                name: format!("mma.sync.aligned.m8n8k4.{a}.{b}.f32.f16.f16.f32"),
                operands: format!("{0},{{r0,r1}},{{r2,r3}},{0}", group("f", 8)),
            });
            lines.push(Line {
                name: format!("mma.sync.aligned.m8n8k4.{a}.{b}.f64.f64.f64.f64"),
                operands: "{d0,d1},{d2},{d3},{d0,d1}".to_owned(),
            });
            lines.push(Line {
                name: format!("mma.sync.aligned.m16n8k8.{a}.{b}.f32.f16.f16.f32"),
                operands: format!("{0},{{r0,r1}},{{r2}},{0}", group("f", 4)),
            });
        }
    }
}

/// Matrix instructions of warp groups, and of the fifth-generation unit with one group of blocks.
fn asynchronous(lines: &mut Vec<Line>, random: &mut Random) {
    for _ in 0..250 {
        let a = random.of(&["f16", "bf16", "tf32", "e4m3", "e5m2"]);
        let b = if a.starts_with('e') {
            random.of(&["e4m3", "e5m2"])
        } else {
            a
        };
        let d = random.of(&["f32", "f16"]);
        let n = [8, 16, 24, 12, 64][random.below(5)];
        let k = match random.below(6) {
            0 => 64,
            1 => 16,
            _ => 256 / bits(a),
        };
        let sums = if d == "f32" {
            group("f", n / 2)
        } else {
            group("r", n / 4)
        };
        let transposed = if bits(a) == 16 { ",0,0" } else { "" };
        lines.push(Line {
            name: format!("wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}"),
            operands: format!("{sums},rd1,rd2,p1,1,1{transposed}"),
        });
    }
    for kind in [
        "f16", "tf32", "i8", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4", "ti16",
    ] {
        for separate in ["", ".ws"] {
            for scale in [
                "-",
                "",
                ".scale_vec::1X",
                ".scale_vec::2X",
                ".scale_vec::4X",
                ".block16",
                ".block32",
            ] {
                let (block, scale, scales) = match scale {
                    "-" => ("", "", ""),
                    scale => (".block_scale", scale, "[r3],[r4],"),
                };
                lines.push(Line {
                    name: format!("tcgen05.mma{separate}.cta_group::1.kind::{kind}{block}{scale}"),
                    operands: format!("[r0],rd1,rd2,r5,{scales}p1"),
                });
            }
        }
    }
}

/// Each generated form once.
fn all() -> Vec<Line> {
    let (mut lines, mut random) = (Vec::new(), Random(22));
    floating(&mut lines);
    comparisons(&mut lines, &mut random);
    conversions(&mut lines, &mut random);
    matrices(&mut lines, &mut random);
    integers(&mut lines);
    asynchronous(&mut lines, &mut random);
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert(format!("{} {}", line.name, line.operands)));
    lines
}

#[test]
fn the_assembler_agrees_on_thousands_of_generated_forms() {
    let Some(assembler) = assembler::find() else {
        eprintln!("skipped: no ptxas (MMASCOPE_PTXAS, or nvidia-cuda-nvcc beside MMASCOPE_PYTHON)");
        return;
    };
    let lines = all();
    let judged: Vec<Legality> = lines
        .iter()
        .map(|line| {
            let text = format!("{} {}", line.name, line.operands);
            Legality::of(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
        })
        .collect();
    let somewhere = judged
        .iter()
        .filter(|legality| legality.legal().next().is_some())
        .count();
    let (mut wrong, mut answers) = (Vec::new(), 0);
    for &target in Rules::built_in().targets() {
        let name = target.to_string();
        for (lines, judged) in lines.chunks(400).zip(judged.chunks(400)) {
            let texts: Vec<String> = lines
                .iter()
                .map(|line| format!("{} {}", line.name, line.operands))
                .collect();
            let taken = assembler::takes(&assembler, &name, &texts);
            for ((text, taken), legality) in texts.iter().zip(taken).zip(judged) {
                answers += 1;
                if legality.on(target).expect("a known target") != taken {
                    wrong.push(format!("{text} on {name}: the assembler says {taken}"));
                }
            }
        }
    }
    eprintln!(
        "{} forms, {somewhere} of them legal somewhere, {answers} answers",
        lines.len()
    );
    let shown: Vec<&String> = wrong.iter().take(40).collect();
    assert!(
        wrong.is_empty(),
        "{} of {answers} differ: {shown:#?}",
        wrong.len()
    );
    assert!(
        lines.len() >= 2_000 && somewhere >= 900,
        "{} forms, {somewhere} legal",
        lines.len()
    );
}
