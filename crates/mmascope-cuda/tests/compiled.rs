//! Every generated kernel becomes machine code for its target, by NVRTC, where one is there; and the machine code has the
//! instruction that the row is about, where `nvdisasm` is there.

mod methods;

use std::collections::BTreeMap;

use methods::{METHODS, doubles};
use mmascope_cuda::engine::Doubles;
use mmascope_cuda::function::functions;
use mmascope_cuda::nvrtc::Nvrtc;
use mmascope_cuda::{engine, sass, source};
use mmascope_lab::device_code::{DeviceCode, OperandSource};
use mmascope_model::isa::{Architecture, Catalogue, Instruction};

/// A compiler for a target; the reason is printed where there is none.
fn compiler(sm: u32) -> Option<Nvrtc> {
    match Nvrtc::for_target(sm) {
        Ok(compiler) => Some(compiler),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

/// The first target of an architecture: its number.
fn sm(architecture: &Architecture) -> u32 {
    let mut names = architecture
        .aliases
        .iter()
        .filter_map(|name| name.strip_prefix("sm_"));
    names.find_map(|name| name.parse().ok()).expect("a target")
}

fn nvidia() -> impl Iterator<Item = &'static Architecture> {
    let all = Catalogue::built_in().architectures();
    all.iter()
        .filter(|architecture| architecture.vendor == "NVIDIA")
}

/// All of them are minutes: every so manieth; `MMASCOPE_NVRTC_STEP=1` is all.
fn step(otherwise: usize) -> usize {
    let step = std::env::var("MMASCOPE_NVRTC_STEP").ok();
    step.and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
        .max(1)
}

/// Rows whose device code differs, with that code.
fn rows() -> Vec<(
    &'static Architecture,
    &'static Instruction,
    OperandSource,
    DeviceCode,
)> {
    let mut seen = std::collections::HashSet::new();
    let mut found = Vec::new();
    for architecture in nvidia() {
        for row in architecture.instructions() {
            for from in [OperandSource::Shared, OperandSource::Registers] {
                if let Ok(code) = DeviceCode::of(row, "cuda", from)
                    && seen.insert((sm(architecture), code.source()))
                {
                    found.push((architecture, row, from, code));
                }
            }
        }
    }
    found
}

/// What must stand in the machine code: matrix units have one of these, everything else scalar instructions.
fn expected(row: &Instruction) -> &'static [&'static str] {
    let family = row.name.split('.').next().unwrap_or_default();
    match family {
        "wgmma" => &["HGMMA", "QGMMA", "IGMMA", "BGMMA"],
        "tcgen05" => &["UTCHMMA", "UTCQMMA", "UTCOMMA", "UTCIMMA"],
        "dp4a" | "dp2a" => &["IDP"],
        _ => &[
            "HMMA", "QMMA", "OMMA", "DMMA", "IMMA", "BMMA", "FFMA", "HFMA2",
        ],
    }
}

#[test]
fn instructions_become_machine_code() {
    let (mut count, mut unknown) = (0, Vec::new());
    let mut opcodes: BTreeMap<String, usize> = BTreeMap::new();
    let mut compilers = BTreeMap::new();
    for (architecture, row, _, code) in rows().into_iter().step_by(step(13)) {
        let sm = sm(architecture);
        let Some(compiler) = compilers.entry(sm).or_insert_with(|| compiler(sm)) else {
            continue;
        };
        let own = if code.is_own && sm >= 90 { "a" } else { "" };
        let binary = match compiler.compile(&code.source(), &format!("sm_{sm}{own}")) {
            Ok(binary) => binary,
            Err(error) => {
                let error = error.to_string();
                // The manual has the form; NVRTC 12.9 does not know it yet.
                let newer = row.name.contains("mxf4nvf4.block16") && row.name.contains("ue8m0");
                assert!(
                    newer,
                    "{} {}: {error}\n{}",
                    architecture.name,
                    row.name,
                    code.source()
                );
                unknown.push(row.name.clone());
                continue;
            }
        };
        count += 1;
        // A disassembler of CUDA 13 does not read Volta's code any more.
        let listing = sass::instructions(&binary).unwrap_or_else(|error| {
            assert!(error.to_string().contains("deprecated"), "{error}");
            None
        });
        if let Some(found) = listing {
            let has = |name: &str| {
                found
                    .keys()
                    .any(|opcode| opcode.split('.').next() == Some(name))
            };
            assert!(
                expected(row).iter().any(|name| has(name)),
                "{} {}: {}",
                architecture.name,
                row.name,
                sass::line(&found)
            );
            for (opcode, count) in found {
                *opcodes.entry(opcode).or_default() += count;
            }
        }
    }
    println!(
        "{count} compiled; unknown to this compiler: {unknown:?}; {}",
        sass::line(&opcodes)
    );
}

#[test]
fn trials_and_products_become_machine_code() {
    let mut count = 0;
    let mut compilers = BTreeMap::new();
    for (architecture, row, from, code) in rows().into_iter().step_by(step(61)) {
        if row.unit().is_err() {
            continue;
        }
        let sm = sm(architecture);
        let Some(compiler) = compilers.entry(sm).or_insert_with(|| compiler(sm)) else {
            continue;
        };
        let own = if code.is_own && sm >= 90 { "a" } else { "" };
        let name = format!("{} {}", architecture.name, row.name);
        let text = source::trial(row, from).expect("a source");
        let compiled = compiler.compile(&text, &format!("sm_{sm}{own}"));
        if !(row.name.contains("mxf4nvf4.block16") && row.name.contains("ue8m0")) {
            compiled.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        count += 1;
    }
    println!("{count} trials compiled");
    // Any unit's products run on any chip from Ampere on.
    let catalogue = Catalogue::built_in();
    for sm in [80, 90, 100] {
        let Some(compiler) = compiler(sm) else {
            continue;
        };
        for (arch, inst) in [
            ("volta", "mma.m8n8k4.f32.f16.f16.f32"),
            ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"),
            ("cdna1", "v_mfma_f32_32x32x4_bf16"),
            ("cdna2", "v_mfma_f32_32x32x8_f16"),
            ("cdna3", "v_mfma_f32_32x32x8_f16"),
            (
                "rtx-blackwell",
                "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
            ),
        ] {
            let unit = catalogue
                .find(arch, inst)
                .expect("a row")
                .unit()
                .expect("a unit");
            let text = engine::product_source(unit, inst, Doubles::Full).expect("a source");
            let compiled = compiler.compile(&text, &format!("sm_{sm}"));
            compiled.unwrap_or_else(|error| panic!("{arch} {inst}: {error}"));
        }
    }
}

/// The fast methods are what they are said to be, on every chip: an instruction for each of a thread's outputs. `MMASCOPE_LISTING` names a
/// folder for the machine code.
#[test]
fn fast_methods_are_their_instructions() {
    for (place, sm) in [90, 80, 89, 100, 120].into_iter().enumerate() {
        let Some(compiler) = compiler(sm) else {
            continue;
        };
        // All of them on one chip, some on every other.
        let own = METHODS.into_iter().enumerate();
        for (_, (arch, inst, called, opcode)) in
            own.filter(|(at, _)| place == 0 || at % 8 + 1 == place)
        {
            let unit = Catalogue::built_in()
                .find(arch, inst)
                .expect("a row")
                .unit()
                .expect("a unit");
            let text = engine::product_source(unit, "unit", doubles(called)).expect("a source");
            let binary = compiler.compile(&text, &format!("sm_{sm}"));
            let binary = binary.unwrap_or_else(|error| panic!("{arch} {inst}: {error}"));
            if let Ok(folder) = std::env::var("MMASCOPE_LISTING") {
                let file = format!("{folder}/{inst}.{}.sm_{sm}.cubin", opcode.to_lowercase());
                std::fs::write(file, &binary).expect("written");
            }
            let Some(found) = sass::instructions(&binary).expect("a listing") else {
                println!("skipped: no nvdisasm");
                return;
            };
            let own = found.iter().filter(|(name, _)| name.starts_with(opcode));
            let count: usize = own.map(|(_, count)| count).sum();
            let line = sass::line(&found);
            assert!(
                count >= 16 || opcode.is_empty(),
                "sm_{sm} {arch} {inst}: {count} {opcode} in {line}"
            );
            println!("sm_{sm} {arch} {inst}, {called}: {line}");
        }
    }
}

/// Conversions and approximate functions become machine code on the targets that the rules of legality name.
#[test]
fn functions_become_machine_code() {
    let mut count = 0;
    for (sm, target) in [
        (80, "sm_80"),
        (90, "sm_90a"),
        (100, "sm_100a"),
        (120, "sm_120a"),
    ] {
        let Some(compiler) = compiler(sm) else {
            continue;
        };
        for function in functions(target).expect("a target").iter().step_by(step(7)) {
            let text = function.source().unwrap_or_else(|error| panic!("{error}"));
            let compiled = compiler.compile(&text, target);
            compiled.unwrap_or_else(|error| panic!("{target} {}: {error}\n{text}", function.name));
            count += 1;
        }
    }
    println!("{count} functions compiled");
}
