//! Project tasks: `cargo xtask test` runs every check that the machine allows, `cargo xtask prove`
//! the long proofs.

use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask test | cargo xtask prove NAME
  test    build, format, lint, documentation, licence and test checks; skips are printed
  prove   long proofs; NAME is one of: fp8 infer kernels
            fp8      every fp8 row of the catalogue: all 65,536 (a0, b0) pairs × 16 chosen c
            infer    every different unit of the catalogue is inferred from its answers
            kernels  every kernel equals the reference on 10^6 outputs a row";

/// A check that needs a program that may be missing.
struct Optional {
    what: &'static str,
    probe: &'static [&'static str],
    command: &'static [&'static str],
}

const OPTIONAL: [Optional; 4] = [
    Optional {
        what: "formatting",
        probe: &["cargo", "fmt", "--version"],
        command: &["cargo", "fmt", "--all", "--check"],
    },
    Optional {
        what: "lints",
        probe: &["cargo", "clippy", "--version"],
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
        probe: &["cargo", "deny", "--version"],
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
        probe: &["rustdoc", "--version"],
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
        ["prove", "kernels"] => prove("kernel", "kernels"),
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
    let mut passed = run(&["cargo", "build", "--workspace", "--all-targets"]);
    for Optional {
        what,
        probe,
        command,
    } in OPTIONAL
    {
        if is_there(probe) {
            passed &= run(command);
        } else {
            println!("skipped: {what}: `{}` does not run here", probe.join(" "));
        }
    }
    passed & run(&["cargo", "test", "--workspace"])
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
