//! Laws of the house over the source text: who may know whom.

use std::fs;
use std::path::{Path, PathBuf};

use mmascope::isa::Catalogue;

/// The Rust files below a folder, or the file itself; with their code only.
pub(super) fn sources(places: &[&str]) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut left: Vec<PathBuf> = places.iter().map(|place| root.join(place)).collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder");
            left.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a text");
            found.push((path, text));
        }
    }
    assert!(!found.is_empty(), "{places:?}");
    found
}

/// The text without comments (doc tests are comments) and, if asked, without string literals.
/// Good enough for rustfmt's output; line numbers stay.
pub(super) fn code(text: &str, keep_strings: bool) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut chars = line.chars().peekable();
        let (mut in_string, mut last) = (false, ' ');
        while let Some(c) = chars.next() {
            match c {
                '/' if !in_string && chars.peek() == Some(&'/') => break,
                '\\' if in_string => {
                    chars.next();
                    continue;
                }
                '"' if last != '\'' => {
                    in_string = !in_string;
                    out.push(' ');
                }
                _ if in_string && !keep_strings => {}
                _ => out.push(c),
            }
            last = c;
        }
        out.push('\n');
    }
    out
}

/// Identifiers and numbers.
pub(super) fn words(code: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.split(move |c| !is_word(c))
        .filter(|word| !word.is_empty())
}

/// `HopperUnit`, `hopper_unit` → hopper, unit.
fn pieces(word: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut last = ' ';
    for c in word.chars() {
        if matches!(c, '_' | '-' | '.') || (last.is_lowercase() && c.is_uppercase()) {
            found.push(String::new());
        }
        if c.is_alphanumeric() {
            found
                .last_mut()
                .expect("never empty")
                .extend(c.to_lowercase());
        }
        last = c;
    }
    found.retain(|piece| !piece.is_empty());
    found
}

/// The chip's name that a word contains. Very short names (T4, A10) must be the word itself.
fn chip_in<'n>(word: &str, names: &'n [String]) -> Option<&'n String> {
    let parts = pieces(word);
    names.iter().find(|name| {
        let wanted = pieces(name);
        let contained = parts.windows(wanted.len()).any(|part| part == wanted);
        if name.len() < 4 && *name != "ada" {
            word == *name
        } else {
            contained
        }
    })
}

fn chip_names() -> Vec<String> {
    let architectures = Catalogue::built_in().architectures();
    architectures
        .iter()
        .flat_map(|arch| std::iter::once(&arch.name).chain(&arch.aliases))
        // Kernels name the instruction sets for which they are written.
        .filter(|name| !["x86", "arm"].contains(&name.as_str()))
        .cloned()
        .collect()
}

#[test]
fn arithmetic_and_formats_name_no_chip() {
    let names = chip_names();
    assert!(names.len() > 60, "{}", names.len());
    let places = [
        "../mmascope-model/src/format.rs",
        "../mmascope-model/src/format",
        "../mmascope-model/src/dpa.rs",
        "../mmascope-model/src/dpa",
        "../mmascope-model/src/export.rs",
        "../mmascope-model/src/export",
        "../mmascope-gemm/src/cpu.rs",
        "../mmascope-gemm/src/cpu",
        "../mmascope-gemm/src/gemm.rs",
        "../mmascope-gemm/src/gemm",
        "../mmascope-gemm/src/shape.rs",
    ];
    for (path, text) in sources(&places) {
        for (number, line) in code(&text, true).lines().enumerate() {
            for word in words(line) {
                let chip = chip_in(word, &names);
                assert!(chip.is_none(), "{}:{}: {word}", path.display(), number + 1);
            }
        }
    }
}

#[test]
fn the_search_for_chips_finds_them() {
    let names = chip_names();
    let found = |line: &str| words(&code(line, true)).any(|word| chip_in(word, &names).is_some());
    let chips = [
        "struct HopperUnit;",
        "let x = volta_block(f);",
        "\"rtx-blackwell\"",
        "H100",
        "is_sm_90()",
        "fn ada() {}",
        "T4",
        "Cdna3",
        "mi300x",
        "TITANV",
    ];
    chips.iter().for_each(|line| assert!(found(line), "{line}"));
    let others = [
        "// as Hopper does",
        "/// H100",
        "let author = 1;",
        "let l4 = 4;",
        "adapt(x)",
    ];
    others
        .iter()
        .for_each(|line| assert!(!found(line), "{line}"));
}

/// The host's floats in code: their types, and literals with a point.
fn float_in(line: &str) -> Option<String> {
    if let Some(word) = words(line).find(|word| matches!(*word, "f32" | "f64")) {
        return Some(word.to_owned());
    }
    let bytes = line.as_bytes();
    let point = |at: usize| {
        let digits = bytes[..at]
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_digit())
            .count();
        let before = at.checked_sub(digits + 1).map(|i| bytes[i]);
        let part_of_name = before.is_some_and(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b));
        let after = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        digits > 0 && after && !part_of_name
    };
    let at = (0..bytes.len()).find(|&at| bytes[at] == b'.' && point(at))?;
    Some(line[at - 1..=at + 1].to_owned())
}

#[test]
fn arithmetic_and_formats_use_no_host_floats() {
    for (path, text) in sources(&[
        "../mmascope-model/src/format.rs",
        "../mmascope-model/src/format",
        "../mmascope-model/src/dpa.rs",
        "../mmascope-model/src/dpa",
        "../mmascope-model/src/export.rs",
        "../mmascope-model/src/export",
    ]) {
        for (number, line) in code(&text, false).lines().enumerate() {
            let float = float_in(line);
            assert!(
                float.is_none(),
                "{}:{}: {float:?}",
                path.display(),
                number + 1
            );
        }
    }
    for module in [
        "../mmascope-model/src/format.rs",
        "../mmascope-model/src/dpa.rs",
        "../mmascope-model/src/export.rs",
    ] {
        let (_, text) = sources(&[module]).remove(0);
        assert!(
            text.contains("#![deny(clippy::float_arithmetic)]"),
            "{module}"
        );
    }
    let floats = ["x as f64", "let y: f32 = z;", "x * 0.5", "f64::from(x)"];
    floats
        .iter()
        .for_each(|line| assert!(float_in(line).is_some(), "{line}"));
    let others = ["self.0.1", "0..4", "F32", "1..=9", "x.0", "a1.2"];
    others
        .iter()
        .for_each(|line| assert!(float_in(line).is_none(), "{line}"));
}

#[test]
fn front_doors_do_no_arithmetic() {
    // Naming a format, a rounding or what an overflow gives, for a library call, is no arithmetic.
    const FORBIDDEN: [&str; 6] = ["Exact", "Unpacked", "Conversion", "decode", "ieee", "Pair"];
    for (path, text) in sources(&[
        "../mmascope-cli/src",
        "../mmascope-python/src",
        "../mmascope-wasm/src",
        "../mmascope-atlas/src",
    ]) {
        let code: String = code(&text, false)
            .lines()
            .filter(|line| !line.trim_start().starts_with("use "))
            .map(|line| line.to_owned() + "\n")
            .collect();
        let word = words(&code).find(|word| FORBIDDEN.contains(word));
        assert!(word.is_none(), "{}: {word:?}", path.display());
    }
}

/// In `mmascope-gemm` products know engines, and engines know neither products nor each other.
#[test]
fn nothing_below_products_knows_them() {
    let gemm = "../mmascope-gemm/src/";
    let may_not_know = [
        ("array", &["cpu", "engine", "gemm", "memory", "random"][..]),
        ("random", &["array", "cpu", "engine", "gemm", "memory"]),
        ("memory", &["array", "cpu", "engine", "gemm", "random"]),
        ("engine", &["cpu", "gemm"]),
        (
            "shape",
            &["array", "cpu", "engine", "gemm", "memory", "random"],
        ),
        ("cpu", &["gemm", "random"]),
    ];
    let mut seen = 0;
    for (room, others) in may_not_know {
        let file = format!("{gemm}{room}.rs");
        let folder = format!("{gemm}{room}");
        let mut places = vec![&*file];
        if Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder).is_dir() {
            places.push(&folder);
        }
        for (path, text) in sources(&places) {
            for (number, line) in code(&text, false).lines().enumerate() {
                let known = others.iter().find(|other| {
                    let name = format!("crate::{other}");
                    line.find(&name).is_some_and(|at| {
                        let next = line[at + name.len()..].chars().next();
                        !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
                    })
                });
                assert!(
                    known.is_none(),
                    "{}:{}: {known:?}",
                    path.display(),
                    number + 1
                );
                seen += usize::from(line.contains("crate::"));
            }
        }
    }
    assert!(seen > 20, "{seen} uses");
}

/// The feature decides in few places: which room there is, and which engine is chosen.
#[test]
fn one_place_chooses_engines() {
    let mut gates = Vec::new();
    for (path, text) in sources(&["../mmascope-gemm/src"]) {
        // (`code` leaves blanks for quotes.)
        let count = code(&text, true).matches("feature =  kernel ").count();
        if count > 0 {
            let path = path.display().to_string();
            let (_, file) = path.rsplit_once("/src/").expect("a source");
            gates.push((file.to_owned(), count));
        }
    }
    gates.sort();
    let expected = [
        ("cast.rs", 2),
        ("gemm/choice.rs", 1),
        ("lib.rs", 1),
        ("random.rs", 2),
    ];
    assert_eq!(
        gates,
        expected.map(|(file, count)| (file.to_owned(), count))
    );
}

/// A message of the library names arguments; what options they are is the program's affair.
#[test]
fn messages_of_the_library_name_no_options() {
    // Examples for people: commands whose output a page shows, and how a file that was written is compiled.
    let is_example = |path: &Path| {
        let path = path.to_string_lossy();
        path.contains("precision/deviations") || path.ends_with("tree/export.rs")
    };
    let crates =
        ["model", "gemm", "lab", "io", "host"].map(|name| format!("../mmascope-{name}/src"));
    let places: Vec<&str> = crates.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for (path, text) in sources(&places) {
        if is_example(&path) {
            continue;
        }
        for (number, line) in code(&text, true).lines().enumerate() {
            let words =
                line.split(|letter: char| letter.is_whitespace() || "\"'`(".contains(letter));
            for word in words.filter_map(|word| word.strip_prefix("--")) {
                // Properties of a style sheet have a colon behind their name or stand in var(…).
                let name: String = word
                    .chars()
                    .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '-')
                    .collect();
                let is_style =
                    word[name.len()..].starts_with(':') || line.contains(&format!("var(--{name}"));
                let is_option = !name.is_empty() && !is_style;
                if is_option {
                    found.push(format!("{}:{}: --{word}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
