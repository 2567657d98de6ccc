//! Defaults: every combination of operand types that a unit is modelled for has exactly one, and it is
//! the one that the rule at the head of `isa/nvidia.txt` gives.

use std::collections::BTreeMap;

use mmascope::Error;
use mmascope::isa::{Architecture, Catalogue, Instruction};

fn built_in(name: &str) -> &'static Architecture {
    Catalogue::built_in()
        .architecture(name)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn types(row: &Instruction) -> String {
    let mut signature = row.signature;
    signature.k = 1;
    signature.to_string()
}

/// What the rule does not take: sparse ones, pairs and `.ws` of `tcgen05`, other roundings, variants.
fn is_candidate(row: &Instruction) -> bool {
    let excluded = [
        "@",
        ".rz.",
        ".rm.",
        ".rp.",
        "cta_group::2",
        ".ws.",
        ".sp",
        "smfmac",
        "swmmac",
    ];
    row.is_modelled() && !excluded.iter().any(|part| row.name.contains(part))
}

#[test]
fn one_for_every_combination_of_types() {
    let mut combinations = 0;
    for architecture in Catalogue::built_in().architectures() {
        let mut of_types: BTreeMap<String, Vec<&Instruction>> = BTreeMap::new();
        for row in architecture.instructions().filter(|row| row.is_modelled()) {
            of_types.entry(types(row)).or_default().push(row);
        }
        for (types, rows) in of_types {
            let defaults: Vec<_> = rows.iter().filter(|row| row.is_default).collect();
            let [default] = defaults[..] else {
                panic!("{} {types}: {} defaults", architecture.name, defaults.len());
            };
            let candidates = || rows.iter().filter(|row| is_candidate(row));
            assert!(is_candidate(default), "{}", default.name);
            // The rule, written anew: K, then not wmma, then M x N.
            let largest = |row: &Instruction| {
                let shapes = row.shapes.iter().map(|shape| {
                    let most = |values: &[u32]| values.iter().max().copied().unwrap_or(0);
                    most(&shape.m) * most(&shape.n)
                });
                let k = row.signature.k;
                (k, !row.name.starts_with("wmma"), shapes.max())
            };
            let best = candidates().map(|row| largest(row)).max();
            assert_eq!(Some(largest(default)), best, "{}", default.name);
            combinations += 1;
        }
    }
    assert!(combinations > 150, "{combinations}");
}

#[test]
fn types_in_place_of_a_name() {
    for (architecture, text, name) in [
        ("hopper", "f16", "wgmma.m64n8k16.f32.f16.f16"),
        ("hopper", "f16,f16,f32", "wgmma.m64n8k16.f32.f16.f16"),
        ("hopper", "f16,f16,f16", "wgmma.m64n8k16.f16.f16.f16"),
        ("hopper", "E4M3", "wgmma.m64n8k32.f32.e4m3.e4m3"),
        ("hopper", "e4m3, e5m2", "wgmma.m64n8k32.f32.e4m3.e5m2"),
        ("ampere", "f16", "mma.m16n8k16.f32.f16.f16.f32"),
        ("volta", "f16,f16,f32,f16", "wmma.m16n16k16.f16.f16.f16.f32"),
        (
            "blackwell",
            "e2m1",
            "tcgen05.mma.m128n8k32.kind::f8f6f4.f32.e2m1.e2m1",
        ),
        (
            "blackwell",
            "e2m1,e2m1,ue8m0/32",
            "tcgen05.mma.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
        ),
        (
            "rtx-blackwell",
            "e2m1,e2m1,f32,f32,ue4m3/16",
            "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
        ),
        ("cdna3", "fp8", "v_mfma_f32_16x16x32_fp8_fp8"),
        ("cdna3", "xf32", "v_mfma_f32_16x16x8_xf32"),
    ] {
        let found = built_in(architecture).find(text);
        let found = found.unwrap_or_else(|error| panic!("{architecture} {text}: {error}"));
        assert_eq!(found.name, name, "{architecture} {text}");
    }
}

#[test]
fn types_without_a_default() {
    let message = |architecture: &str, text: &str| {
        let error = built_in(architecture).find(text).expect_err(text);
        (error.to_string(), matches!(error, Error::Unmodelled { .. }))
    };
    let (text, unmodelled) = message("hopper", "f32");
    assert!(!unmodelled, "{text}");
    assert!(text.contains("unknown operand types 'f32,f32'"), "{text}");
    // (Names that have commas are told apart by words.)
    assert!(
        text.contains("nearest: tf32,tf32,f32 or f16,f16,f32"),
        "{text}"
    );
    let (text, unmodelled) = message("cdna4", "f16");
    assert!(unmodelled, "{text}");
    // Nothing says which scales.
    let blackwell = built_in("blackwell");
    let mut types = blackwell.operand_types("e2m1").expect("types");
    types.scaling = mmascope::isa::Scaling::Some;
    let error = blackwell.default_for(&types).expect_err("ambiguous");
    assert!(error.to_string().contains("ue4m3/16"), "{error}");
    for wrong in ["f16,f16,f32,f32,f32", "ue8m0/32,f16", "ue8m0/0", "", "f16,"] {
        assert!(blackwell.operand_types(wrong).is_err(), "{wrong}");
    }
}

const CHIP: &str = "arch chip
    let half = f16
    default dot.{shape}.{d}.{a} | half x half + f32 -> f32 | m8n8k4 m8n8k8
      | fma-chain -> rne f32 | open
    row.{shape}.{d}.{a} | bf16 x bf16 + f32 -> f32 | m8n8k4 | fma-chain -> rne f32 | open
";

fn extended(text: &str) -> mmascope::Result<Catalogue> {
    let mut catalogue = Catalogue::built_in().clone();
    catalogue.extend("chip.txt", text)?;
    Ok(catalogue)
}

#[test]
fn marks_of_a_users_file() {
    let catalogue = extended(CHIP).expect("the text is right");
    let name = |catalogue: &Catalogue, text: &str| {
        let row = catalogue.find("chip", text);
        row.unwrap_or_else(|error| panic!("{text}: {error}"))
            .name
            .clone()
    };
    assert_eq!(name(&catalogue, "half"), "dot.m8n8k8.f32.half");
    // The only one of its types needs no mark.
    assert_eq!(name(&catalogue, "bf16"), "row.m8n8k4.f32.bf16");
    // A later text may mark another, and a row that it describes anew keeps its mark.
    let mut catalogue = catalogue;
    let other = "arch chip
    default new.{shape} | f16 x f16 + f32 -> f32 | m8n8k2 | fma-chain -> rne f32 | open";
    catalogue.extend("other.txt", other).expect("right");
    assert_eq!(name(&catalogue, "f16"), "new.m8n8k2");
    let again = other.replace("default ", "").replace("rne", "rz");
    catalogue.extend("again.txt", &again).expect("right");
    assert_eq!(name(&catalogue, "f16"), "new.m8n8k2");
    let defaults = catalogue.architecture("chip").expect("chip").defaults();
    assert_eq!(defaults.count(), 1);
}

#[test]
fn two_marks_of_one_kind_are_refused() {
    let twice = format!(
        "{CHIP}    default two.{{shape}} | f16 x f16 + f32 -> f32 | m8n8k8 | fma-chain -> rne f32 | open\n"
    );
    let error = extended(&twice).expect_err("two defaults").to_string();
    assert!(error.starts_with("chip.txt:6:"), "{error}");
    assert!(error.contains("marked default"), "{error}");
    let unmodelled =
        "arch chip\n default x.{shape} | f16 x f16 + f32 -> f32 | m8n8k8 | unmodelled no";
    let error = extended(unmodelled).expect_err("no model").to_string();
    assert!(error.contains("unmodelled"), "{error}");
}
