//! Project tasks: `cargo xtask test` runs every check that the machine allows, `cargo xtask prove`
//! the long proofs, `cargo xtask emulate` those of instruction sets that this machine lacks.

mod api;
mod atlas;
mod bounds;
mod header;
mod picture;
mod python;
mod record;
mod rtl;
mod size;

use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask test | prove NAME | emulate LEVEL | bounds [neon] | size | generate | api | record NAME | wheel | atlas
  test    build, format, lint, documentation, licence and test checks; skips are printed
  prove   long proofs; NAME is one of: fp8 infer drawn kernels cuda compiled miri tensix tensix-engine x86 emulators casts quantise functions riscv
            fp8      every fp8 row of the catalogue: all 65,536 (a0, b0) pairs × 16 chosen c
            infer    every different unit of the catalogue is inferred from its answers
            drawn    units drawn from the whole model space are recovered from their answers
            kernels  every kernel equals the reference on 10^6 outputs a row
            cuda     every unit by the GPU engine's kernels, on a chip in C++, equals the reference on 10^5 outputs
            compiled every kernel for GPUs becomes machine code by NVRTC; the list of those that did is written again
            miri     in miri (nightly Rust): the model, files, products and experiments on small inputs, every kind of kernel over the
                     portable lanes, and the C functions that touch memory
            tensix   every row of Tensix equals exact numbers on 10^6 cases
            tensix-engine  their kernel equals the reference on 10^6 outputs a row
            casts    10^7 random f32 words to every format, rounding and policy
            quantise 10^6 blocks for each format and recipe against NumPy
            functions  every approximate function on 10^6 inputs against another library's floats
            riscv    RISC-V's rows equal the algorithm of their text on 10^6 cases
  emulate the kernels' tests at a level that this machine lacks; LEVEL is one of: avx512 neon big-endian
            avx512   in Bochs, on a Linux kernel that VMLINUZ names (xtask/emulate-avx512.sh)
            neon     in qemu-aarch64
            big-endian  the tests of the model, of files and of the portable kernels in qemu-s390x
  bounds [neon | PROGRAM]
          what llvm-mca says of the inner loops of the release build's kernels, of those for aarch64, or of a program with
          line tables
  size [PROGRAM]
          where the bytes of the release build, or of a program that kept its symbols, are: sections, and code by crate
  generate [--check]
          writes the manual pages, the C header, the pictures and the tables of the documents; --check compares the
          committed ones (a test of the program compares the pages)
  api [--check]
          writes the lists of public items in docs/api (cargo-public-api and nightly Rust); --check compares them
  wheel   builds the Python wheel into dist, with the maturin of the Python that MMASCOPE_PYTHON names
  atlas [module]
          builds the explorer's module into target/atlas, and with it the site into target/atlas/site
  record  runs a measurement and writes docs/measured/NAME-DATE.md; without a known NAME it lists them";

/// What runs in an emulator: every operation of the lanes, then some outputs of every row.
const OUTPUTS_EMULATED: &str = "2500";

/// A check that needs something that may be missing.
struct Optional {
    what: &'static str,
    /// All succeed where the check can run.
    probes: &'static [&'static [&'static str]],
    command: &'static [&'static str],
}

const OPTIONAL: [Optional; 7] = [
    Optional {
        what: "formatting",
        probes: &[&["cargo", "fmt", "--version"]],
        command: &["cargo", "fmt", "--all", "--check"],
    },
    Optional {
        what: "lints",
        probes: &[&["cargo", "clippy", "--version"]],
        command: &[
            "cargo",
            "clippy",
            "--workspace",
            "--all-targets",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ],
    },
    Optional {
        what: "licences of the dependencies",
        // Licences are those of every platform; building for one does not fetch all crates.
        probes: &[
            &["cargo", "deny", "--version"],
            &["cargo", "fetch", "--locked", "--quiet"],
        ],
        command: &[
            "cargo",
            "deny",
            "--offline",
            "check",
            "licenses",
            "bans",
            "sources",
        ],
    },
    Optional {
        what: "the explorer's module, for WebAssembly",
        probes: &[&[
            "sh",
            "-c",
            "test -d \"$(rustc --print target-libdir --target wasm32-unknown-unknown)\"",
        ]],
        command: &[
            "cargo",
            "check",
            "--package",
            "mmascope-wasm",
            "--target",
            "wasm32-unknown-unknown",
            "--quiet",
        ],
    },
    Optional {
        what: "the same, by Debian's compiler for WebAssembly",
        probes: &[&[
            "sh",
            "-c",
            "dpkg --status rustc-web cargo-web rust-web-src >/dev/null 2>&1",
        ]],
        command: &["xtask/web.sh", "check"],
    },
    Optional {
        what: "public items",
        probes: &[
            &["cargo", "public-api", "--version"],
            &["rustdoc", "+nightly", "--version"],
        ],
        command: &[
            "cargo",
            "run",
            "--quiet",
            "--package",
            "xtask",
            "--",
            "api",
            "--check",
        ],
    },
    Optional {
        what: "documentation",
        probes: &[&["rustdoc", "--version"]],
        command: &["cargo", "doc", "--workspace", "--no-deps", "--quiet"],
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let passed = match words[..] {
        ["test"] => test(),
        ["prove", "fp8"] => prove("mmascope", "oracle", "fp8"),
        ["prove", "infer"] => prove("mmascope", "infer", "infer"),
        ["prove", "drawn"] => prove("mmascope", "infer", "drawn"),
        ["prove", "kernels"] => prove("mmascope", "kernel", "kernels"),
        ["prove", "miri"] => miri(),
        ["prove", "tensix"] => prove("mmascope-model", "tensix", "tensix"),
        ["prove", "tensix-engine"] => prove("mmascope-gemm", "rounded", "tensix_engine"),
        ["prove", "x86"] => prove("mmascope-cli", "native", "x86"),
        ["prove", "emulators"] => prove("mmascope-cli", "emulators", "emulators"),
        ["prove", "casts"] => prove("mmascope-model", "casts", "casts"),
        ["prove", "quantise"] => prove("mmascope", "quantise", "quantise"),
        ["prove", "cuda"] => prove("mmascope-cuda", "engine", "cuda"),
        ["prove", "compiled"] => prove("mmascope-cuda", "compiled", "compiled"),
        ["prove", "functions"] => prove("mmascope-model", "evaluation", "functions"),
        ["prove", "riscv"] => prove("mmascope-model", "riscv", "riscv"),
        ["emulate", "avx512"] => emulate_avx512(),
        ["emulate", "neon"] => emulate_neon(),
        ["emulate", "big-endian"] => emulate_big_endian(),
        ["generate"] => picture::generate(false) && header::generate(false) && manual_pages(),
        ["generate", "--check"] => picture::generate(true) && header::generate(true),
        ["api"] => api::list(false),
        ["api", "--check"] => api::list(true),
        ["record", name] => record::record(name),
        ["wheel"] => python::wheel(),
        ["atlas"] => atlas::site(),
        ["atlas", "module"] => atlas::module(),
        ["bounds"] => with_lines() && bounds::bounds("target/lines/mmascope"),
        ["bounds", "neon"] => {
            with_lines_for_neon() && bounds::bounds(&format!("target/{NEON_TARGET}/lines/mmascope"))
        }
        ["bounds", program] => bounds::bounds(program),
        ["size"] => with_lines() && size::size("target/lines/mmascope"),
        ["size", program] => size::size(program),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn test() -> bool {
    let mut failed = Vec::new();
    let mut check = |command: &[&str]| {
        if !run(command) {
            failed.push(command.join(" "));
        }
    };
    check(&["cargo", "build", "--workspace", "--all-targets"]);
    for Optional {
        what,
        probes,
        command,
    } in OPTIONAL
    {
        match probes.iter().find(|probe| !is_there(probe)) {
            None => check(command),
            Some(probe) => println!("skipped: {what}: `{}` does not run here", probe.join(" ")),
        }
    }
    // The tests in a browser need it; where no compiler for it is there, they say that they are skipped.
    if !atlas::module_if_possible() {
        failed.push("the explorer's module".to_owned());
    }
    let check = &mut |command: &[&str]| {
        if !run(command) {
            failed.push(command.join(" "));
        }
    };
    // Without kernels: that it compiles, tests and all.
    check(&[
        "cargo",
        "check",
        "--package",
        "mmascope",
        "--no-default-features",
        "--tests",
        "--quiet",
    ]);
    check(&["cargo", "test", "--workspace", "--no-fail-fast"]);
    if !python::test() {
        failed.push("the tests of the Python package".to_owned());
    }
    // After Python's, which place its module.
    if !rtl::test() {
        failed.push("the example unit in SystemVerilog".to_owned());
    }
    // Once more at the end, where it is looked for.
    for command in &failed {
        println!("failed: {command}");
    }
    failed.is_empty()
}

fn prove(package: &str, test: &str, name: &str) -> bool {
    let filter = format!("prove_{name}");
    let arguments = ["cargo", "test", "--package", package, "--test", test, "--"];
    run(&[&arguments[..], &["--ignored", "--nocapture", &filter]].concat())
}

/// Packages with the tests that miri runs, and whether they start threads. What starts processes, loads libraries or reads
/// the whole catalogue is not among them: `docs/measured/proofs.md` says why.
const IN_MIRI: [(&str, &[&str], bool); 5] = [
    ("mmascope-model", &["--test", "portable"], false),
    ("mmascope-gemm", &["--test", "portable"], true),
    ("mmascope", &["--test", "portable"], true),
    ("mmascope-host", &["--lib"], false),
    ("mmascope-capi", &["--lib"], true),
];

/// Reads beyond packed operands, races and values that nobody has written: miri finds them in plain Rust, so that the
/// portable lanes stand for all.
fn miri() -> bool {
    // Files and variables such as `MMASCOPE_SIMD` are read.
    const ALONE: &str = "-Zmiri-disable-isolation -Zmiri-strict-provenance";
    // The queues of rayon's threads (crossbeam) cast integers to pointers and break the older of miri's two sets of
    // rules, and threads wait when the program ends.
    const WITH_THREADS: &str = "-Zmiri-disable-isolation -Zmiri-tree-borrows \
                                -Zmiri-permissive-provenance -Zmiri-ignore-leaks";
    let probe = ["cargo", "+nightly", "miri", "--version"];
    if !is_there(&probe) {
        println!("skipped: miri: `{}` does not run here", probe.join(" "));
        return true;
    }
    let mut failed = Vec::new();
    for (package, tests, has_threads) in IN_MIRI {
        let command = ["cargo", "+nightly", "miri", "test", "--package", package];
        let command = [&command[..], tests].concat();
        println!("running: {}", command.join(" "));
        let status = Command::new(command[0])
            .args(&command[1..])
            .env("MIRIFLAGS", if has_threads { WITH_THREADS } else { ALONE })
            .status();
        if !status.is_ok_and(|status| status.success()) {
            failed.push(package);
        }
    }
    if !failed.is_empty() {
        println!("failed: {}", failed.join(", "));
    }
    failed.is_empty()
}

/// Writes the manual pages; a test of the program says whether they are stale.
fn manual_pages() -> bool {
    let program = ["cargo", "run", "--quiet", "--package", "mmascope-cli", "--"];
    run(&[&program[..], &["man-pages", "crates/mmascope-cli/man"]].concat())
}

/// The release program with its line tables, which the one for users does not have.
fn with_lines() -> bool {
    let package = ["--package", "mmascope-cli"];
    run(&[&["cargo", "build", "--profile", "lines"][..], &package].concat())
}

const NEON_TARGET: &str = "aarch64-unknown-linux-gnu";
const NEON_LINKER: (&str, &str) = (
    "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
    "aarch64-linux-gnu-gcc",
);

/// The same program for aarch64.
fn with_lines_for_neon() -> bool {
    let status = Command::new("cargo")
        .args(["build", "--profile", "lines", "--package", "mmascope-cli"])
        .args(["--target", NEON_TARGET])
        .envs([NEON_LINKER])
        .status();
    status.is_ok_and(|status| status.success())
}

/// The test binaries of the kernels and of their lanes.
const KERNEL_TESTS: [&str; 7] = [
    "--release",
    "--package",
    "mmascope",
    "--test",
    "kernel",
    "--test",
    "inner",
];

fn emulate_avx512() -> bool {
    let build = [
        &["cargo", "test"],
        &KERNEL_TESTS[..],
        &["--no-run", "--message-format=json"],
    ]
    .concat();
    println!("running: {}", build.join(" "));
    let output = Command::new(build[0])
        .args(&build[1..])
        .stderr(std::process::Stdio::inherit())
        .output();
    let Ok(output) = output else { return false };
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let binaries: Vec<&str> = messages
        .split("\"executable\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let line = format!(
        "export MMASCOPE_PROVE_LEVELS=avx512 MMASCOPE_PROVE_OUTPUTS={OUTPUTS_EMULATED} && \
         /inner --nocapture lanes down && /kernel --nocapture grouped_sums vanish in_pieces && \
         /kernel --nocapture --ignored prove_kernels"
    );
    let script = ["sh", "xtask/emulate-avx512.sh", "target/emulate", &line];
    run(&[&script[..], &binaries].concat())
}

/// The reference, files and the portable kernels where memory has the other order of bytes.
fn emulate_big_endian() -> bool {
    const TARGET: &str = "s390x-unknown-linux-gnu";
    const VARIABLES: [(&str, &str); 2] = [
        (
            "CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER",
            "s390x-linux-gnu-gcc",
        ),
        (
            "CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER",
            "qemu-s390x -L /usr/s390x-linux-gnu",
        ),
    ];
    let packages =
        ["mmascope-model", "mmascope-gemm", "mmascope-io"].map(|name| ["--package", name]);
    // Exhaustive tests of casts take hours in an emulator.
    let skipped = ["every_source_of_16_bits", "f32_patterns_of_bf16"].map(|name| ["--skip", name]);
    let command = [
        &["test", "--no-fail-fast", "--target", TARGET],
        &packages.concat()[..],
        &["--"],
        &skipped.concat()[..],
    ];
    let status = Command::new("cargo")
        .args(command.concat())
        .envs(VARIABLES)
        .env_remove("MMASCOPE_PYTHON")
        .status();
    status.is_ok_and(|status| status.success())
}

fn emulate_neon() -> bool {
    let variables = [
        NEON_LINKER,
        (
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
            "qemu-aarch64 -L /usr/aarch64-linux-gnu",
        ),
        ("MMASCOPE_PROVE_LEVELS", "neon"),
        ("MMASCOPE_PROVE_OUTPUTS", OUTPUTS_EMULATED),
    ];
    let tests = [
        &["test", "--target", NEON_TARGET],
        &KERNEL_TESTS[..],
        &["--"],
    ]
    .concat();
    let filters: [&[&str]; 2] = [
        &[
            "--nocapture",
            "lanes",
            "down",
            "grouped_sums",
            "vanish",
            "in_pieces",
            "threads_and_tiles",
        ],
        &["--nocapture", "--ignored", "prove_kernels"],
    ];
    filters.into_iter().all(|filter| {
        let status = Command::new("cargo")
            .args(&tests)
            .args(filter)
            .envs(variables)
            .status();
        status.is_ok_and(|status| status.success())
    })
}

fn is_there(probe: &[&str]) -> bool {
    Command::new(probe[0])
        .args(&probe[1..])
        .output()
        .is_ok_and(|output| output.status.success())
}

fn run(command: &[&str]) -> bool {
    println!("running: {}", command.join(" "));
    let status = Command::new(command[0])
        .args(&command[1..])
        .env("RUSTDOCFLAGS", "-D warnings")
        .status();
    let passed = status.is_ok_and(|status| status.success());
    if !passed {
        println!("failed: {}", command.join(" "));
    }
    passed
}
