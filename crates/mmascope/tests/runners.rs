//! Programs that ask a chip: every row of the catalogue has one or a reason; they compile, and run on a chip in
//! C++ that does what the PTX manual says (`runners/device.hpp`).

#[path = "runners/assembly.rs"]
mod assembly;
#[path = "runners/compilers.rs"]
mod compilers;
#[path = "runners/emulated.rs"]
mod emulated;

use std::collections::{BTreeMap, BTreeSet};

use mmascope::discriminate::{DiscriminatingLine, Vectors, discriminate, runner};
use mmascope::dpa::Modifiers;
use mmascope::dpa::OperandWords;
use mmascope::format::{Exact, Format, Overflow, Rounding};
use mmascope::isa::{Architecture, Catalogue, Instruction};

fn architecture(name: &str) -> &'static Architecture {
    let found = Catalogue::built_in().architecture(name);
    found.expect("an architecture")
}

fn row(arch: &str, inst: &str) -> &'static Instruction {
    architecture(arch).find(inst).expect("a row")
}

/// The word of a small whole number.
fn word(format: &Format, value: i32) -> u64 {
    let exact = Exact {
        negative: value < 0,
        magnitude: u128::from(value.unsigned_abs()),
        exponent: 0,
        sticky: false,
    };
    format.to_register(format.round(&exact, Rounding::Rne, Overflow::Saturate))
}

/// Lines of small whole numbers: exact under every arithmetic. No search.
fn whole_numbers(row: &Instruction, count: i32) -> Vectors {
    let signature = &row.signature;
    let line = |shift: i32| {
        let numbers = |format: &Format, count: usize, step: i32| -> Vec<u64> {
            let all = (0..count as i32).map(|k| word(format, (k * step + shift) % 4 - 1));
            all.collect()
        };
        let scales = |step: i32| -> Vec<u64> {
            let format = signature.scale.map(|scale| scale.format);
            let all = format.into_iter().flat_map(|format| {
                (0..signature.scales() as i32).map(move |at| word(&format, 1 << ((at + step) % 3)))
            });
            all.collect()
        };
        let case = OperandWords {
            a: numbers(&signature.a, signature.k, 3),
            b: numbers(&signature.b, signature.k, 5),
            c: word(&signature.c, shift),
            scale_a: scales(shift),
            scale_b: scales(2 * shift),
        };
        let d = match row.unit() {
            Ok(unit) => unit.dot(&case.operands(), &Modifiers::default()),
            Err(_) => Ok(0),
        };
        DiscriminatingLine {
            case,
            d: d.expect("computes"),
            separates: vec!["nothing".to_owned()],
        }
    };
    Vectors {
        lines: (1..=count).map(line).collect(),
        inseparable: Vec::new(),
        separated: 0,
    }
}

/// Rows in a user's catalogue whose first shape is another than in the shipped one.
fn other_shapes() -> Catalogue {
    let mut catalogue = Catalogue::empty();
    let text = "
        arch mine = my_chip
        wmma.{shape}.{d}.{a}.{b}.{c} | bf16 x bf16 + f32 -> f32 | m8n32k16 | fma-chain -> rne f32 | open
        arch tall = my_tall_chip
        wmma.{shape}.{d}.{a}.{b}.{c} | bf16 x bf16 + f32 -> f32 | m32n8k16 | fma-chain -> rne f32 | open
        arch amd = my_amd_chip
        v_mfma_f64_{shape}_{a} | f64 x f64 + f64 -> f64 | 4x4x4_4b | fma-chain -> rne f64 | open
        v_mfma_f32_{shape}_{a} | f32 x f32 + f32 -> f32 | 4x4x1_16b | fma-chain -> rne f32 | open
        v_mfma_f32_{shape}_{a} | f16 x f16 + f32 -> f32 | 16x16x4_4b | fma-chain -> rne f32 | open
        v_mfma_i32_{shape}_{a} | f16 x f16 + f32 -> f32 | 16x8x4 | fma-chain -> rne f32 | open
        mma.{shape}.{d}.{a}.{b}.{c} | f16 x f16 + f32 -> f32 | m24n8k16 | fma-chain -> rne f32 | open
    ";
    catalogue.extend("mine.txt", text).expect("a catalogue");
    catalogue
}

/// What no program is written down for is refused, with the reason and the nearest that has one.
#[test]
fn refusals_say_why_and_what_is_near() {
    let catalogue = other_shapes();
    let mine = catalogue.architecture("amd").expect("an architecture");
    for (language, inst, reason, near) in [
        (
            "hip",
            "v_mfma_i32_16x8x4_f16",
            "is not written down here",
            "16x16x4_4b_f16",
        ),
        (
            "cuda",
            "mma.m24n8k16.f32.f16.f16.f32",
            "m24n8k16",
            "no instruction of amd",
        ),
        (
            "opencl",
            "mma.m24n8k16.f32.f16.f16.f32",
            "cuda and hip",
            "no instruction of amd",
        ),
    ] {
        let row = mine.find(inst).expect("a row");
        let error = runner(mine, row, &whole_numbers(row, 1), language).expect_err(inst);
        let error = error.to_string();
        for part in [language, inst, reason, near] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}

/// What of a program is not its name, target or vectors.
fn device(text: &str) -> &str {
    let start = text.find("// ---- device").expect("a mark");
    let end = text.find("// ---- host").expect("a mark");
    &text[start..end]
}

/// The rows whose programs differ: the first with each device code and shape.
fn different(language: &str) -> Vec<(&'static Architecture, &'static Instruction, String)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for architecture in Catalogue::built_in().architectures() {
        for row in architecture.instructions() {
            if let Ok(text) = runner(architecture, row, &whole_numbers(row, 3), language) {
                let signature = row.signature;
                if seen.insert((device(&text).to_owned(), signature.a.name, signature.k)) {
                    found.push((architecture, row, text));
                }
            }
        }
    }
    found
}

#[test]
fn every_row_has_a_program_or_a_reason() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for architecture in Catalogue::built_in().architectures() {
        let language = match architecture.vendor.as_str() {
            "NVIDIA" => "cuda",
            "AMD" => "hip",
            _ => {
                no_language_has(architecture);
                continue;
            }
        };
        for row in architecture.instructions() {
            let result = runner(architecture, row, &whole_numbers(row, 1), language);
            let family = match row.name.strip_prefix("v_") {
                Some(rest) => rest.split('_').next(),
                None => row.name.split('.').next(),
            };
            let family = family.unwrap_or_default();
            let key = match result {
                Ok(_) => format!("{language} {family}"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains(&row.name), "{text}");
                    let is_integer = row.signature.a.float().is_none();
                    if row.unit().is_ok() && is_integer {
                        assert!(text.contains("integer operands"), "{text}");
                        continue;
                    }
                    assert!(row.unit().is_err(), "modelled, but no program: {text}");
                    "no published arithmetic".to_owned()
                }
            };
            *counts.entry(key).or_default() += 1;
            // The other language has none, and says what it has.
            let other = if language == "cuda" { "hip" } else { "cuda" };
            let refused = runner(architecture, row, &whole_numbers(row, 1), other);
            let error = refused.expect_err("another maker's").to_string();
            assert!(
                row.unit().is_err() || error.contains("has none: it is no"),
                "{error}"
            );
        }
    }
    println!("{counts:#?}");
    let of = |key: &str| counts.get(key).copied().unwrap_or(0);
    assert_eq!(counts.len(), COUNTS.len() + 1);
    for (key, count) in COUNTS {
        assert_eq!(of(key), count, "{key}");
    }
}

/// No row of another maker has a program, and the answer says so.
fn no_language_has(architecture: &Architecture) {
    for row in architecture.instructions() {
        for language in ["cuda", "hip"] {
            let refused = runner(architecture, row, &whole_numbers(row, 1), language);
            let error = refused.expect_err("another maker's").to_string();
            assert!(
                error.contains(&row.name) && error.contains("has none"),
                "{error}"
            );
        }
    }
}

/// Rows with a program.
const COUNTS: [(&str, usize); 5] = [
    ("cuda mma", 262),
    ("cuda wmma", 58),
    ("cuda wgmma", 12),
    ("cuda tcgen05", 226),
    ("hip mfma", 42),
];

/// Real vectors, all of them, in programs of every family.
#[test]
fn programs_hold_every_line() {
    for (arch, inst, language) in [
        ("hopper", "mma.m16n8k16.f32.f16.f16.f32", "cuda"),
        ("volta", "wmma.m16n16k16.f32.f16.f16.f32", "cuda"),
        ("hopper", "wgmma.m64n8k32.f32.e4m3.e5m2", "cuda"),
        (
            "blackwell",
            "tcgen05.mma.m128n8k16.kind::f16.f32.f16.f16",
            "cuda",
        ),
        (
            "rtx-blackwell",
            "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
            "cuda",
        ),
        ("cdna3", "v_mfma_f32_16x16x32_fp8_bf8", "hip"),
    ] {
        let row = row(arch, inst);
        let vectors = discriminate(row.unit().expect("a unit"), 1).expect("vectors");
        let text = runner(architecture(arch), row, &vectors, language).expect("a runner");
        let lines = text.matches("ull, 0, \"").count() + text.matches("ull, 1, \"").count();
        assert_eq!(lines, vectors.lines.len(), "{arch} {inst}");
        assert!(!text.contains('@'), "{arch} {inst}: a name is left");
        // What only one architecture has is compiled for it.
        let own = ["wgmma", "tcgen05"]
            .iter()
            .any(|family| inst.starts_with(family));
        let own = own || inst.contains("kind::");
        assert_eq!(text.contains("-gencode arch=compute_"), own, "{inst}");
    }
}

#[test]
fn a_row_that_a_compiler_makes_names_it() {
    let row = row("hopper", "mma.m16n8k32.f32.e4m3.e4m3.f32@ptxas12.4");
    let text = runner(architecture("hopper"), row, &whole_numbers(row, 1), "cuda");
    let text = text.expect("a runner");
    assert!(text.contains("with ptxas12.4"), "{text}");
    assert!(text.contains("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0"));
}
