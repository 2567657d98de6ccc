//! C, Rust and Python: a program that has the sources of many units answers the cases of all.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::common::{
    Cases, Subject, cases, compare, drawn, folder, is_here, representatives, rows, run, shared_out,
    source, words,
};
use mmascope_model::export::Language;

/// What the function of a subject is called: every other one has a name of its own.
fn function(place: usize) -> String {
    match place % 2 {
        0 => "dot".to_owned(),
        _ => format!("row_{place}_of_f16"),
    }
}

/// Writes the sources of subjects, whose functions have the names that are given, and their cases as 64-bit words.
fn files(
    folder: &Path,
    language: Language,
    ending: &str,
    subjects: &[Subject],
    all: &[Cases],
    function: impl Fn(usize) -> String,
) {
    for (place, subject) in subjects.iter().enumerate() {
        let name = Some(function(place)).filter(|name| name != "dot");
        let source = source(subject, language, name.as_deref());
        std::fs::write(folder.join(format!("row_{place}.{ending}")), source).expect("a file");
    }
    let mut bytes = Vec::new();
    for cases in all {
        for operands in &cases.operands {
            bytes.extend(words(operands).flat_map(u64::to_le_bytes));
        }
    }
    std::fs::write(folder.join("cases"), bytes).expect("a file");
}

fn check(language: &str, subjects: &[Subject], all: &[Cases], printed: &str) {
    let answers = shared_out(printed, all);
    for ((subject, cases), answers) in subjects.iter().zip(all).zip(answers) {
        compare(language, subject, cases, &answers);
    }
}

fn count(all: &[Cases]) -> usize {
    all.iter().map(|cases| cases.answers.len()).sum()
}

fn of_all(subjects: &[Subject], each: impl Fn(&Subject) -> usize, salt: u64) -> Vec<Cases> {
    subjects
        .iter()
        .map(|subject| cases(subject, each(subject), salt))
        .collect()
}

#[test]
fn c_gives_the_bits() {
    if !is_here("gcc", "--version", "C") {
        return;
    }
    let subjects = rows();
    let all = of_all(&subjects, |_| 150, 3);
    assert!(count(&all) >= 100_000, "{}", count(&all));
    in_c("c", Language::C, &subjects, &all, false);
}

/// Functions with names of their own: the files of many units are one.
#[test]
fn c_gives_the_bits_in_one_file() {
    if !is_here("gcc", "--version", "C") {
        return;
    }
    let subjects = representatives(100_000);
    let all = of_all(&subjects, |_| 20, 3);
    in_c("c-one", Language::C, &subjects, &all, true);
}

/// A compiler of plain C++ takes the files for GPUs, and many as one.
#[test]
fn cuda_gives_the_bits() {
    if !is_here("g++", "--version", "CUDA C++") {
        return;
    }
    let subjects = representatives(120);
    let all = of_all(&subjects, |_| 150, 3);
    in_c("cuda", Language::Cuda, &subjects, &all, true);
}

/// Compiles the files, one by one or as one, and compares the answers.
fn in_c(name: &str, language: Language, subjects: &[Subject], all: &[Cases], is_one: bool) {
    let folder = folder(name);
    let is_cuda = language == Language::Cuda;
    files(
        &folder,
        language,
        if is_cuda { "cpp" } else { "c" },
        subjects,
        all,
        |place| match is_one {
            true => format!("dot_{place}"),
            false => "dot".to_owned(),
        },
    );
    let mut main = "#include <inttypes.h>\n#include <stdint.h>\n#include <stdio.h>\nstatic uint64_t w[4096];\n".to_owned();
    let mut body = String::new();
    for (place, (subject, cases)) in subjects.iter().zip(all).enumerate() {
        let (k, scales) = (
            subject.unit.signature().k,
            subject.unit.signature().scales(),
        );
        let (types, more) = match scales {
            0 => ("", String::new()),
            _ => (
                ", const uint64_t *, const uint64_t *",
                format!(", w + {}, w + {}", 2 * k + 1, 2 * k + 1 + scales),
            ),
        };
        let _ = writeln!(
            main,
            "extern uint64_t dot_{place}(const uint64_t *, const uint64_t *, uint64_t{types});"
        );
        let _ = writeln!(
            body,
            "    for (long i = 0; i < {}; i++) {{\n        if (fread(w, 8, {}, file) == 0) return 1;\n        printf(\"%\" PRIx64 \"\\n\", dot_{place}(w, w + {k}, w[{}]{more}));\n    }}",
            cases.answers.len(),
            2 * k + 1 + 2 * scales,
            2 * k
        );
    }
    let _ = write!(
        main,
        "int main(void) {{\n    FILE *file = fopen(\"cases\", \"rb\");\n    if (file == 0) return 1;\n{body}    return 0;\n}}\n"
    );
    std::fs::write(folder.join("main.c"), main).expect("a file");
    let mut script = "set -e\n".to_owned();
    let (compiler, ending, standard) = match is_cuda {
        true => ("g++ -x c++", "cpp", "c++17"),
        false => ("gcc", "c", "c11"),
    };
    let flags = "-O0 -Wall -Wextra -Werror -fsanitize-undefined-trap-on-error -fsanitize=undefined";
    let mut compile = |file: &str, more: &str| {
        let _ = writeln!(
            script,
            "{compiler} -std={standard} {flags} {more} -c {file}.{ending}"
        );
    };
    if is_one {
        let each = (0..subjects.len()).map(|place| format!("#include \"row_{place}.{ending}\"\n"));
        let one: String = each.collect();
        std::fs::write(folder.join(format!("row_all.{ending}")), one).expect("a file");
        compile("row_all", "");
    } else {
        // Every unit's own file has a function of the same name.
        for place in 0..subjects.len() {
            compile(&format!("row_{place}"), &format!("-Ddot=dot_{place}"));
        }
    }
    let _ = writeln!(
        script,
        "{compiler} -O1 -c main.c\n{} main.o row_*.o -o rows\n./rows",
        compiler.split(' ').next().unwrap_or_default()
    );
    std::fs::write(folder.join("build.sh"), script).expect("a file");
    let printed = run(Command::new("sh").arg("build.sh").current_dir(&folder));
    check(language.name(), subjects, all, &printed);
}

/// Parameters that no row has: groups, joined sums, other roundings, flushes, short blocks, other results.
#[test]
fn c_gives_the_bits_of_drawn_parameters() {
    if !is_here("gcc", "--version", "C") {
        return;
    }
    let (subjects, reasons) = drawn(3);
    println!("{} units; without a source: {reasons:#?}", subjects.len());
    let all = of_all(&subjects, |_| 40, 10);
    in_c("drawn", Language::C, &subjects, &all, false);
    assert!(reasons.len() * 5 < subjects.len(), "{reasons:#?}");
}

#[test]
fn rust_gives_the_bits() {
    if !is_here("rustc", "--version", "Rust") {
        return;
    }
    let subjects = representatives(100_000);
    let all = of_all(&subjects, |_| 400, 4);
    assert!(count(&all) >= 100_000, "{}", count(&all));
    let folder = folder("rust");
    files(&folder, Language::Rust, "rs", &subjects, &all, function);
    let mut main = String::new();
    let mut body = String::new();
    for (place, (subject, cases)) in subjects.iter().zip(&all).enumerate() {
        let (k, scales) = (
            subject.unit.signature().k,
            subject.unit.signature().scales(),
        );
        let _ = writeln!(
            main,
            "mod row_{place} {{\n    include!(\"row_{place}.rs\");\n}}"
        );
        let part =
            |from: usize, count: usize| format!("w[{from}..{}].try_into().unwrap()", from + count);
        let more = match scales {
            0 => String::new(),
            _ => format!(
                ", {}, {}",
                part(2 * k + 1, scales),
                part(2 * k + 1 + scales, scales)
            ),
        };
        let _ = writeln!(
            body,
            "    for _ in 0..{} {{\n        let w = next({});\n        println!(\"{{:x}}\", row_{place}::{}({}, {}, w[{}]{more}));\n    }}",
            cases.answers.len(),
            2 * k + 1 + 2 * scales,
            function(place),
            part(0, k),
            part(k, k),
            2 * k
        );
    }
    let _ = write!(
        main,
        "fn main() {{\n    let bytes = std::fs::read(\"cases\").unwrap();\n    let mut words = bytes.chunks(8).map(|eight| u64::from_le_bytes(eight.try_into().unwrap()));\n    let mut next = |count: usize| -> Vec<u64> {{ words.by_ref().take(count).collect() }};\n{body}}}\n"
    );
    std::fs::write(folder.join("main.rs"), main).expect("a file");
    let flags = [
        "--edition=2024",
        "-Copt-level=1",
        "-Cdebug-assertions=on",
        "-Dwarnings",
    ];
    run(Command::new("rustc")
        .args(flags)
        .args(["main.rs", "-o", "rows"])
        .current_dir(&folder));
    let printed = run(Command::new("./rows").current_dir(&folder));
    check("Rust", &subjects, &all, &printed);
}

#[test]
fn python_gives_the_bits() {
    if !is_here("python3", "--version", "Python") {
        return;
    }
    let mut subjects = representatives(100_000);
    let few = |subject: &Subject| 4 + 2000 / subject.unit.signature().k.pow(2);
    let mut all = of_all(&subjects, few, 5);
    // Every other row with a few cases.
    for subject in rows() {
        if !subjects.iter().any(|own| own.name == subject.name) {
            all.push(cases(&subject, 2, 5));
            subjects.push(subject);
        }
    }
    assert!(count(&all) >= 100_000, "{}", count(&all));
    let folder = folder("python");
    files(&folder, Language::Python, "py", &subjects, &all, function);
    let mut main = "import struct\nfile = open('cases', 'rb')\ndef next_words(count):\n    return struct.unpack(f'<{count}Q', file.read(8 * count))\ndef load(name, function):\n    space = {'__name__': name}\n    exec(compile(open(name).read(), name, 'exec'), space)\n    return space[function]\n".to_owned();
    for (place, (subject, cases)) in subjects.iter().zip(&all).enumerate() {
        let (k, scales) = (
            subject.unit.signature().k,
            subject.unit.signature().scales(),
        );
        let more = match scales {
            0 => String::new(),
            _ => format!(
                ", w[{}:{}], w[{}:]",
                2 * k + 1,
                2 * k + 1 + scales,
                2 * k + 1 + scales
            ),
        };
        let _ = writeln!(
            main,
            "dot = load('row_{place}.py', '{}')\nfor _ in range({}):\n    w = next_words({})\n    print(f'{{dot(w[:{k}], w[{k}:{}], w[{}]{more}):x}}')",
            function(place),
            cases.answers.len(),
            2 * k + 1 + 2 * scales,
            2 * k,
            2 * k
        );
    }
    std::fs::write(folder.join("main.py"), main).expect("a file");
    let printed = run(Command::new("python3").arg("main.py").current_dir(&folder));
    check("Python", &subjects, &all, &printed);
}
