//! `mmascope export`: the same text on standard output, in a file and in JSON; units without a source are refused.

mod common;

use std::fs;

use common::mmascope;

const ROW: &str = "--arch volta --inst mma.m8n8k4.f32.f16.f16.f32";
const LANGUAGES: [&str; 5] = ["c", "rust", "python", "systemverilog", "smt2"];

#[test]
fn file_output_and_json_have_one_text() {
    let folder = tempfile::tempdir().expect("a folder");
    for language in LANGUAGES {
        let file = folder.path().join(language);
        let command = format!("export {ROW} --language {language}");
        let printed = mmascope(&command);
        assert_eq!((printed.status, &*printed.err), (0, ""), "{language}");
        assert!(
            printed.out.contains("t-fdpa L=4 F=23 e0=-131"),
            "{language}"
        );
        assert!(
            printed.out.contains("hw (recorded hardware results)"),
            "{language}"
        );
        let written = mmascope(&format!("{command} -o {}", file.display()));
        assert_eq!((written.status, &*written.out), (0, ""), "{language}");
        assert_eq!(
            fs::read_to_string(&file).expect("the file"),
            printed.out,
            "{language}"
        );
        let json = mmascope(&format!("{command} --json"));
        let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
        assert_eq!(json["text"], *printed.out, "{language}");
        assert_eq!(json["language"], *language);
        assert_eq!(json["architecture"], "volta");
        assert_eq!(json["unit"], "mma.m8n8k4.f32.f16.f16.f32");
    }
    // Nothing but the files is left.
    assert_eq!(
        fs::read_dir(folder.path()).expect("a folder").count(),
        LANGUAGES.len()
    );
}

/// The function has the name that is asked for, and JSON says it; a name that the language does not take is refused.
#[test]
fn the_function_has_a_name() {
    for (language, words) in [
        ("c", "uint64_t v100(const uint64_t a[4]"),
        ("cuda", "__device__ uint64_t v100("),
        ("rust", "pub fn v100("),
        ("python", "def v100(a, b, c):"),
        ("systemverilog", "package v100_pkg;"),
        ("smt2", "(define-fun v100 ("),
    ] {
        let command = format!("export {ROW} --language {language}");
        let run = mmascope(&format!("{command} --name v100"));
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(run.out.contains(words), "{}", run.out);
        let json = mmascope(&format!("{command} --name v100 --json"));
        let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
        assert_eq!(
            (&json["function"], &json["text"]),
            (&"v100".into(), &run.out.into())
        );
        let json = mmascope(&format!("{command} --json"));
        let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
        assert_eq!(json["function"], "dot");
        let refused = mmascope(&format!("{command} --name 9x"));
        assert_eq!((refused.status, &*refused.out), (2, ""));
        assert!(
            refused.err.contains("the function's name '9x'"),
            "{}",
            refused.err
        );
    }
}

/// Every row with a known model has a source.
#[test]
fn tensix_has_a_source() {
    for (row, words) in [
        ("tensix.matmul.bf16.d16.hifi4", "def product("),
        ("tensix.sfpmad", "def multiply_add(x, y, z):"),
    ] {
        let run = mmascope(&format!(
            "export --arch blackhole --inst {row} --language python"
        ));
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(run.out.contains(words), "{}", run.out);
    }
}

#[test]
fn sums_of_integers_have_a_source() {
    let run = mmascope(
        "export --arch hopper --inst mma.m16n8k32.satfinite.s32.s8.s8.s32 --language python",
    );
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(
        run.out.contains("def integer_of_int8(word):"),
        "{}",
        run.out
    );
}

#[test]
fn a_unit_of_the_user_has_a_source() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/my_chip.txt");
    let run = mmascope(&format!(
        "--isa {file} export --arch mychip --inst dot.m8n8k12.f32.f16 --language python"
    ));
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.out.contains("def dot(a, b, c):"), "{}", run.out);
}

#[test]
fn what_has_no_source_is_refused_with_the_reason() {
    for (row, words) in [
        (
            "--arch cdna4 --inst v_mfma_f32_16x16x32_f16 --language c",
            "no published arithmetic",
        ),
        (
            &format!("{ROW} --language pyton"),
            "unknown language 'pyton'; nearest: python",
        ),
        (
            "--arch volta --inst mma.m8n8k5.f32.f16.f16.f32 --language c",
            "unknown instruction",
        ),
    ] {
        let run = mmascope(&format!("export {row}"));
        assert_eq!((run.status, &*run.out), (2, ""), "{row}: {}", run.err);
        assert!(run.err.contains(words), "{row}: {}", run.err);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let isa = folder.path().join("odd.txt");
    fs::write(
        &isa,
        "arch odd\ndot | f16 x f16 + f32 -> f32 | m1n1k4 | fused L=4 F=30 grid=products sticky=8 -> rz f32 | open\n",
    )
    .expect("a file");
    let run = mmascope(&format!(
        "--isa {} export --arch odd --inst dot --language smt2",
        isa.display()
    ));
    assert_eq!(run.status, 2, "{}", run.err);
    assert!(
        run.err.contains(
            "odd:dot has no source in smt2: it has grid=products and a sticky bit below the grid"
        ),
        "{}",
        run.err
    );
    let file = folder.path().join("missing").join("x.c");
    let run = mmascope(&format!("export {ROW} --language c -o {}", file.display()));
    assert_eq!(run.status, 2);
    assert!(run.err.starts_with("error: -o "), "{}", run.err);
}
