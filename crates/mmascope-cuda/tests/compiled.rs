//! Every generated kernel becomes machine code for every target, by NVRTC; and the machine code has the instruction that the kernel is about,
//! where `nvdisasm` is there.
//!
//! All of them take hours of a processor. So `compiled.txt` lists those that were compiled, each by a hash of source and target: a kernel that is
//! not in it fails the test, and `cargo xtask prove compiled` compiles it. Where a compiler is there, the tests compile a sample again.

mod methods;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

use methods::{METHODS, doubles};
use mmascope_cuda::engine::Doubles;
use mmascope_cuda::function::functions;
use mmascope_cuda::nvrtc::Nvrtc;
use mmascope_cuda::{engine, sass, source};
use mmascope_lab::device_code::{DeviceCode, OperandSource};
use mmascope_model::dpa::Unit;
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

/// Targets of the engine's products: one of every kind of chip from sm_80 on.
const PRODUCTS: [u32; 6] = [80, 86, 89, 90, 100, 120];
/// Targets of conversions and approximate functions.
const FUNCTIONS: [(u32, &str); 4] = [
    (80, "sm_80"),
    (90, "sm_90a"),
    (100, "sm_100a"),
    (120, "sm_120a"),
];

/// A kernel for a target.
struct Kernel {
    /// What it is of, for people.
    name: String,
    sm: u32,
    target: String,
    source: String,
    /// One of these must stand in its machine code; nothing must where there are none.
    opcodes: &'static [&'static str],
}

impl Kernel {
    fn of(name: &str, sm: u32, target: &str, source: String) -> Self {
        Self {
            name: name.to_owned(),
            sm,
            target: target.to_owned(),
            source,
            opcodes: &[],
        }
    }

    /// FNV-1a of target and source.
    fn hash(&self) -> u64 {
        let bytes = self.target.bytes().chain([0]).chain(self.source.bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// Makes machine code, and looks for the instruction.
    fn compile(&self, compiler: &Nvrtc) -> Result<(), String> {
        let wrong = |what: String| format!("{} for {}: {what}", self.name, self.target);
        let binary = compiler
            .compile(&self.source, &self.target)
            .map_err(|error| wrong(error.to_string()))?;
        if self.opcodes.is_empty() {
            return Ok(());
        }
        let listing = match sass::instructions(&binary) {
            Ok(listing) => listing,
            // A disassembler of CUDA 13 does not read Volta's code any more.
            Err(error) if error.to_string().contains("deprecated") => None,
            Err(error) => return Err(wrong(error.to_string())),
        };
        let Some(found) = listing else {
            return Ok(());
        };
        let has = |name: &str| {
            found
                .keys()
                .any(|opcode| opcode.split('.').next() == Some(name))
        };
        match self.opcodes.iter().any(|name| has(name)) {
            true => Ok(()),
            false => Err(wrong(sass::line(&found))),
        }
    }
}

/// The units of the catalogue that differ, with the names of the first rows that have them.
fn different_units() -> Vec<(String, &'static Unit)> {
    let mut seen = BTreeSet::new();
    let architectures = Catalogue::built_in().architectures().iter();
    architectures
        .flat_map(Architecture::instructions)
        .filter_map(|row| {
            let unit = row.unit().ok()?;
            let is_new = seen.insert(format!("{} {}", unit.signature(), unit.program()));
            is_new.then(|| (format!("{} {}", row.architecture, row.name), unit))
        })
        .collect()
}

/// Every kernel that this crate generates, for every target.
fn for_each_kernel(mut take: impl FnMut(Kernel)) {
    let rows = rows();
    for (architecture, row, _, code) in &rows {
        let sm = sm(architecture);
        let own = if code.is_own && sm >= 90 { "a" } else { "" };
        let target = format!("sm_{sm}{own}");
        let name = format!("{} {}", architecture.name, row.name);
        take(Kernel {
            opcodes: expected(row),
            ..Kernel::of(&name, sm, &target, code.source())
        });
    }
    for (name, unit) in different_units() {
        for sm in PRODUCTS {
            // Units of some programs have no source.
            if let Ok(text) = engine::product_source(unit, "unit", Doubles::of(sm)) {
                let name = format!("products of {name}");
                take(Kernel::of(&name, sm, &format!("sm_{sm}"), text));
            }
        }
    }
    for (sm, target) in FUNCTIONS {
        for function in functions(target).expect("a target") {
            let text = function.source().unwrap_or_else(|error| panic!("{error}"));
            take(Kernel::of(&function.name, sm, target, text));
        }
    }
    for (architecture, row, from, code) in rows {
        let sm = sm(architecture);
        let own = if code.is_own && sm >= 90 { "a" } else { "" };
        if row.unit().is_ok() {
            let text = source::trial(row, from).expect("a source");
            let name = format!("a trial of {} {}", architecture.name, row.name);
            take(Kernel::of(&name, sm, &format!("sm_{sm}{own}"), text));
        }
    }
}

/// The list: hashes by target.
const LIST: &str = include_str!("compiled.txt");

fn listed() -> BTreeMap<String, BTreeSet<u64>> {
    let mut all: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let mut target = String::new();
    for line in LIST.lines().filter(|line| !line.starts_with('#')) {
        match u64::from_str_radix(line, 16) {
            Ok(hash) => {
                all.entry(target.clone()).or_default().insert(hash);
            }
            Err(_) => line.clone_into(&mut target),
        }
    }
    all
}

/// None is left out, and the list names none that is no longer generated.
#[test]
fn every_kernel_was_compiled() {
    let mut left = listed();
    let (mut missing, mut count, mut seen) = (Vec::new(), 0, BTreeSet::new());
    for_each_kernel(|kernel| {
        let hash = kernel.hash();
        if !seen.insert(hash) {
            return;
        }
        count += 1;
        if !left.entry(kernel.target.clone()).or_default().remove(&hash) {
            missing.push(format!("{} for {}", kernel.name, kernel.target));
        }
    });
    let stale: usize = left.values().map(BTreeSet::len).sum();
    println!("{count} kernels");
    let some: Vec<&String> = missing.iter().take(5).collect();
    assert!(
        missing.is_empty() && stale == 0,
        "{} of {count} kernels were not compiled ({some:?} …), {stale} of the list are no more: `cargo xtask prove compiled`",
        missing.len()
    );
}

/// Compilers by target, where they are there.
#[derive(Default)]
struct Compilers(HashMap<u32, Option<Nvrtc>>);

impl Compilers {
    fn of(&mut self, sm: u32) -> Option<&Nvrtc> {
        self.0.entry(sm).or_insert_with(|| compiler(sm)).as_ref()
    }
}

/// A sample is compiled again: what the list says can be seen.
#[test]
fn a_sample_becomes_machine_code() {
    let (mut compilers, mut count, mut at) = (Compilers::default(), 0, 0);
    let mut failed = Vec::new();
    for_each_kernel(|kernel| {
        at += 1;
        if at % 61 == 1
            && let Some(compiler) = compilers.of(kernel.sm)
        {
            count += 1;
            // The manual has this form; NVRTC 12.9 does not know it yet.
            let is_newer =
                kernel.name.contains("mxf4nvf4.block16") && kernel.name.contains("ue8m0");
            if let Err(what) = kernel.compile(compiler)
                && !is_newer
            {
                failed.push(what);
            }
        }
    });
    println!("{count} of {at} kernels compiled");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Compiles what the list lacks, and writes it again; a run that is stopped keeps what it has done. Of all kernels
/// `MMASCOPE_COMPILED_KIND` takes those whose name contains it (`products of`), and `MMASCOPE_COMPILED_FILE` names another file to write:
/// for a machine with more processors.
#[test]
#[ignore = "an hour of a processor after a change of all kernels; cargo xtask prove compiled"]
fn prove_compiled() {
    let before = listed();
    let mut known: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let mut versions = BTreeSet::new();
    let state = Mutex::new((
        BTreeMap::<String, BTreeSet<u64>>::new(),
        Vec::new(),
        0_usize,
    ));
    let (send, receive) = sync_channel::<Kernel>(16);
    let receive = Mutex::new(receive);
    let file = match std::env::var_os("MMASCOPE_COMPILED_FILE") {
        Some(file) => file.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compiled.txt"),
    };
    let kind = std::env::var("MMASCOPE_COMPILED_KIND").unwrap_or_default();
    let write = |known: &BTreeMap<String, BTreeSet<u64>>, new: &BTreeMap<String, BTreeSet<u64>>| {
        let mut text = String::from(
            "# Kernels of which NVRTC has made machine code: hashes of source and target, by target. Written by `cargo xtask prove compiled`.\n",
        );
        let targets: BTreeSet<&String> = known.keys().chain(new.keys()).collect();
        for target in targets {
            let _ = writeln!(text, "{target}");
            let none = BTreeSet::new();
            let [old, new] = [known, new].map(|all| all.get(target).unwrap_or(&none));
            for hash in old.union(new) {
                let _ = writeln!(text, "{hash:016x}");
            }
        }
        let part = file.with_extension("part");
        std::fs::write(&part, text).expect("written");
        std::fs::rename(&part, &file).expect("written");
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut compilers = Compilers::default();
                loop {
                    let next = receive.lock().expect("no panic").recv();
                    let Ok(kernel) = next else { break };
                    let done = match compilers.of(kernel.sm) {
                        Some(compiler) => kernel.compile(compiler),
                        None => Err(format!(
                            "{}: no compiler for {}",
                            kernel.name, kernel.target
                        )),
                    };
                    let mut state = state.lock().expect("no panic");
                    match done {
                        Ok(()) => {
                            let hash = kernel.hash();
                            state.0.entry(kernel.target).or_default().insert(hash);
                            state.2 += 1;
                            if state.2.is_multiple_of(50) {
                                println!("{} compiled", state.2);
                                write(&before, &state.0);
                            }
                        }
                        Err(what) => {
                            println!("{what}");
                            state.1.push(what);
                        }
                    }
                }
            });
        }
        let mut seen = BTreeSet::new();
        for_each_kernel(|kernel| {
            let hash = kernel.hash();
            if !seen.insert(hash) {
                return;
            }
            versions.insert(kernel.sm);
            let is_asked = kernel.name.contains(&kind);
            if before
                .get(&kernel.target)
                .is_some_and(|all| all.contains(&hash))
            {
                known.entry(kernel.target).or_default().insert(hash);
            } else if is_asked {
                send.send(kernel).expect("a worker");
            }
        });
        drop(send);
    });
    let (new, failed, count) = state.into_inner().expect("no panic");
    write(&known, &new);
    let mut compilers = Compilers::default();
    for sm in versions {
        if let Some(compiler) = compilers.of(sm) {
            println!("sm_{sm}: NVRTC {}", compiler.version());
        }
    }
    println!(
        "{count} kernels compiled, {} known",
        known.values().map(BTreeSet::len).sum::<usize>()
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The fast methods are what they are said to be, on every chip: an instruction for each of a thread's outputs. `MMASCOPE_LISTING` names a
/// folder for the machine code.
#[test]
fn fast_methods_are_their_instructions() {
    for (place, sm) in [90, 80, 89, 100, 120, 75].into_iter().enumerate() {
        let Some(compiler) = compiler(sm) else {
            continue;
        };
        // All of them on one chip, some on every other, of which one copies nothing while it computes.
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
