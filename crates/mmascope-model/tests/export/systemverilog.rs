//! SystemVerilog: a test bench asks the packages of many units.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::common::{
    Cases, Subject, cases, compare, folder, is_here, representatives, run, shared_out, source,
};
use mmascope_model::export::{self, Language};
use mmascope_model::format::Format;

/// A case as one binary number: c, b and a, the scales in front.
fn packed(subject: &Subject, operands: &mmascope_model::dpa::OperandWords) -> String {
    let signature = subject.unit.signature();
    let mut digits = String::new();
    let mut push = |format: &Format, words: &[u64]| {
        for word in words.iter().rev() {
            let _ = write!(
                digits,
                "{word:0width$b}",
                width = format.register.bits as usize
            );
        }
    };
    if let Some(scale) = &signature.scale {
        push(&scale.format, &operands.scale_b);
        push(&scale.format, &operands.scale_a);
    }
    push(&signature.c, &[operands.c]);
    push(&signature.b, &operands.b);
    push(&signature.a, &operands.a);
    digits
}

/// Writes the packages and a test bench that prints every answer.
fn files(folder: &Path, subjects: &[Subject], all: &[Cases]) {
    let mut bench = String::new();
    let mut body = String::new();
    for (place, (subject, cases)) in subjects.iter().zip(all).enumerate() {
        let name = format!("row_{place}");
        bench += &source(subject, Language::SystemVerilog, Some(&name));
        let lines: Vec<String> = cases
            .operands
            .iter()
            .map(|operands| packed(subject, operands))
            .collect();
        std::fs::write(
            folder.join(format!("cases_{place}")),
            lines.join("\n") + "\n",
        )
        .expect("a file");
        let signature = subject.unit.signature();
        let mut from = 0;
        let mut part = |format: &Format, count: usize| {
            let width = format.register.bits as usize * count;
            from += width;
            format!("case_{place}[{} +: {width}]", from - width)
        };
        let mut arguments = vec![
            part(&signature.a, signature.k),
            part(&signature.b, signature.k),
            part(&signature.c, 1),
        ];
        if let Some(scale) = &signature.scale {
            arguments.push(part(&scale.format, signature.scales()));
            arguments.push(part(&scale.format, signature.scales()));
        }
        let count = cases.answers.len();
        let _ = write!(
            body,
            "    $readmemb(\"cases_{place}\", cases_{place});\n    for (int i = 0; i < {count}; i = i + 1) begin\n      case_{place} = cases_{place}[i];\n      $display(\"%h\", row_{place}_pkg::row_{place}({}));\n    end\n",
            arguments.join(", ")
        );
        let _ = writeln!(
            bench,
            "// of row {place}: {from} bits\n`define BITS_{place} {from}\n`define COUNT_{place} {count}"
        );
    }
    bench += "module bench;\n";
    for place in 0..subjects.len() {
        let _ = writeln!(
            bench,
            "  logic [`BITS_{place}-1:0] cases_{place} [0:`COUNT_{place}-1];\n  logic [`BITS_{place}-1:0] case_{place};"
        );
    }
    let _ = write!(
        bench,
        "  initial begin\n{body}    $finish;\n  end\nendmodule\n"
    );
    std::fs::write(folder.join("bench.sv"), bench).expect("a file");
}

fn check(simulator: &str, subjects: &[Subject], all: &[Cases], printed: &str) {
    let lines = printed.lines().filter(|line| !line.contains("$finish"));
    let printed = lines.collect::<Vec<&str>>().join("\n");
    let answers = shared_out(&printed, all);
    for ((subject, cases), answers) in subjects.iter().zip(all).zip(answers) {
        compare(simulator, subject, cases, &answers);
    }
}

#[test]
fn icarus_gives_the_bits() {
    if !is_here("iverilog", "-V", "SystemVerilog in Icarus") {
        return;
    }
    let subjects = representatives(10_000);
    let all: Vec<Cases> = subjects
        .iter()
        .map(|subject| cases(subject, 3, 6))
        .collect();
    let folder = folder("icarus");
    files(&folder, &subjects, &all);
    run(Command::new("iverilog")
        .args(["-g2012", "-o", "bench", "bench.sv"])
        .current_dir(&folder));
    let printed = run(Command::new("vvp")
        .args(["-n", "bench"])
        .current_dir(&folder));
    check("Icarus", &subjects, &all, &printed);
}

#[test]
fn verilator_gives_the_bits() {
    if !is_here("verilator", "--version", "SystemVerilog in Verilator") {
        return;
    }
    let subjects = representatives(140);
    let all: Vec<Cases> = subjects
        .iter()
        .map(|subject| cases(subject, 600, 7))
        .collect();
    let count: usize = all.iter().map(|cases| cases.answers.len()).sum();
    assert!(count >= 100_000, "{count}");
    let folder = folder("verilator");
    files(&folder, &subjects, &all);
    // Not optimised: to compile takes longer than to run.
    let plain = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0";
    let flags = [
        "--binary",
        "-Wno-lint",
        "-Wno-style",
        "--build-jobs",
        "2",
        "-MAKEFLAGS",
        plain,
    ];
    run(Command::new("verilator")
        .args(flags)
        .arg("bench.sv")
        .current_dir(&folder));
    let printed = run(Command::new("obj_dir/Vbench").current_dir(&folder));
    check("Verilator", &subjects, &all, &printed);
}

/// Modules around the packages, which synthesis would take: the linter finds nothing to say, not about widths either.
#[test]
fn verilator_has_no_warning() {
    if !is_here("verilator", "--version", "the linter of SystemVerilog") {
        return;
    }
    let subjects = representatives(10_000);
    let folder = folder("lint");
    let mut top = String::new();
    let mut files = vec!["top.sv".to_owned()];
    for (place, subject) in subjects.iter().enumerate() {
        let source = export::unit(
            &subject.unit,
            &format!("row {place}"),
            Language::SystemVerilog,
            None,
        );
        let name = format!("row_{place}.sv");
        let source = source.unwrap_or_else(|error| panic!("{error}"));
        std::fs::write(folder.join(&name), source).expect("a file");
        files.push(name);
        let signature = subject.unit.signature();
        let mut operands = vec![
            ("a", signature.a.register.bits as usize * signature.k),
            ("b", signature.b.register.bits as usize * signature.k),
            ("c", signature.c.register.bits as usize),
        ];
        if let Some(scale) = &signature.scale {
            let width = scale.format.register.bits as usize * signature.scales();
            operands.extend([("scale_a", width), ("scale_b", width)]);
        }
        let ports: Vec<String> = operands
            .iter()
            .map(|(name, width)| format!("input logic [{}:0] {name}", width - 1))
            .collect();
        let names: Vec<&str> = operands.iter().map(|(name, _)| *name).collect();
        let _ = writeln!(
            top,
            "module top_{place}({}, output logic [{}:0] d);\n  assign d = unit_row_{place}::dot({});\nendmodule\n",
            ports.join(", "),
            signature.d.container().register.bits - 1,
            names.join(", ")
        );
    }
    // (Many modules in one file, none of which is the others' top.)
    let top =
        format!("/* verilator lint_off DECLFILENAME */\n/* verilator lint_off MULTITOP */\n{top}");
    std::fs::write(folder.join("top.sv"), top).expect("a file");
    files.rotate_left(1);
    run(Command::new("verilator")
        .args(["--lint-only", "-Wall"])
        .args(&files)
        .current_dir(&folder));
    println!("{} units", subjects.len());
}
