//! Project tasks: `cargo xtask test` runs every check that the machine allows, `cargo xtask prove`
//! the long proofs, `cargo xtask emulate` those of instruction sets that this machine lacks.

mod bounds;

use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask test | prove NAME | emulate LEVEL | bounds | generate
  test    build, format, lint, documentation, licence and test checks; skips are printed
  prove   long proofs; NAME is one of: fp8 infer drawn kernels
            fp8      every fp8 row of the catalogue: all 65,536 (a0, b0) pairs × 16 chosen c
            infer    every different unit of the catalogue is inferred from its answers
            drawn    units drawn from the whole model space are recovered from their answers
            kernels  every kernel equals the reference on 10^6 outputs a row
  emulate the kernels' tests at a level that this machine lacks; LEVEL is one of: avx512 neon
            avx512   in Bochs, on a Linux kernel that VMLINUZ names (xtask/emulate-avx512.sh)
            neon     in qemu-aarch64
  generate  writes the files that are generated and committed: the manual pages
  bounds  what llvm-mca says of the inner loops of the release build's kernels";

/// What runs in an emulator: every operation of the lanes, then some outputs of every row.
const OUTPUTS_EMULATED: &str = "2500";

/// A check that needs something that may be missing.
struct Optional {
    what: &'static str,
    /// All succeed where the check can run.
    probes: &'static [&'static [&'static str]],
    command: &'static [&'static str],
}

const OPTIONAL: [Optional; 4] = [
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
        ["prove", "fp8"] => prove("oracle", "fp8"),
        ["prove", "infer"] => prove("infer", "infer"),
        ["prove", "drawn"] => prove("infer", "drawn"),
        ["prove", "kernels"] => prove("kernel", "kernels"),
        ["emulate", "avx512"] => emulate_avx512(),
        ["emulate", "neon"] => emulate_neon(),
        ["generate"] => generate(),
        ["bounds"] => with_lines() && bounds::bounds("target/lines/mmascope"),
        ["bounds", program] => bounds::bounds(program),
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
    check(&["cargo", "test", "--workspace"]);
    // Once more at the end, where it is looked for.
    for command in &failed {
        println!("failed: {command}");
    }
    failed.is_empty()
}

fn prove(test: &str, name: &str) -> bool {
    let filter = format!("prove_{name}");
    let arguments = [
        "cargo",
        "test",
        "--package",
        "mmascope",
        "--test",
        test,
        "--",
    ];
    run(&[&arguments[..], &["--ignored", "--nocapture", &filter]].concat())
}

/// Writes every generated file; tests say which are stale.
fn generate() -> bool {
    let program = ["cargo", "run", "--quiet", "--package", "mmascope-cli", "--"];
    run(&[&program[..], &["man-pages", "crates/mmascope-cli/man"]].concat())
}

/// The release program with its line tables, which the one for users does not have.
fn with_lines() -> bool {
    let package = ["--package", "mmascope-cli"];
    run(&[&["cargo", "build", "--profile", "lines"][..], &package].concat())
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

fn emulate_neon() -> bool {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    let variables = [
        (
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
            "aarch64-linux-gnu-gcc",
        ),
        (
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
            "qemu-aarch64 -L /usr/aarch64-linux-gnu",
        ),
        ("MMASCOPE_PROVE_LEVELS", "neon"),
        ("MMASCOPE_PROVE_OUTPUTS", OUTPUTS_EMULATED),
    ];
    let tests = [&["test", "--target", TARGET], &KERNEL_TESTS[..], &["--"]].concat();
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
