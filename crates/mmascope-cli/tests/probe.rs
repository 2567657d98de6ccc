//! `probe`, `infer`, `validate`, `gen --discriminating` and `identify`: output, files, exit statuses.

#[path = "common/c.rs"]
mod c;
#[path = "common/interrupt.rs"]
mod interrupt;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const VOLTA: &str = "volta:mma.m8n8k4.f32.f16.f16.f32";
const HOPPER: &str = "hopper:mma.m16n8k8.f32.f16.f16.f32";

fn mmascope(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let text = String::from_utf8_lossy(&output.stderr);
        panic!("{error}: {text}")
    })
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn features_are_shown_compared_and_drawn() {
    let folder = folder();
    let subject = format!("model:{VOLTA}");
    let arguments = ["probe", &subject, "--json", "--html", "page.html"];
    let output = mmascope(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0));
    let report = json(&output);
    for key in [
        "mmascope",
        "catalogue",
        "subject",
        "signature",
        "features",
        "queries",
    ] {
        assert!(!report[key].is_null(), "{key}");
    }
    let features = report["features"].as_array().expect("features");
    let of = |name: &str| features.iter().find(|f| f["feature"] == name).expect("it");
    assert_eq!(of("bits-products")["value"], "23");
    assert!(of("bits-products")["tests"][0]["output"].is_string());
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.contains("</html>"));
    let other = format!("model:{HOPPER}");
    let output = mmascope(
        folder.path(),
        &["probe", "--compare", &subject, &other, "--json"],
    );
    assert_eq!(output.status.code(), Some(1));
    let differing = json(&output)["differing"].to_string();
    assert!(differing.contains("bits-products"), "{differing}");
    let output = mmascope(folder.path(), &["probe", "--compare", &subject, &subject]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(mmascope(folder.path(), &["probe"]).status.code(), Some(2));
}

/// Adds 1/8 to every fifth answer.
const NOISY: &str = r#"
#include "mmascope_plugin.h"
#include <string.h>
uint32_t mmascope_abi(void) { return 1; }
const char *mmascope_signature(void) { return "a=f32 b=f32 c=f32 d=f32 k=2"; }
static float value(uint64_t word) { uint32_t u = (uint32_t)word; float x; memcpy(&x, &u, 4); return x; }
int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *sa,
                 const uint64_t *sb, uint64_t *d) {
    static unsigned asked;
    for (size_t i = 0; i < n; i++) {
        float x = value(c[i]) + value(a[2 * i]) * value(b[2 * i]) + value(a[2 * i + 1]) * value(b[2 * i + 1]);
        if (++asked % 5 == 0) x += 0.125f;
        uint32_t u;
        memcpy(&u, &x, 4);
        d[i] = u;
    }
    return sa || sb;
}
"#;

#[test]
fn a_noisy_device_is_named() {
    let folder = folder();
    let Some(library) = c::compiled(folder.path(), "noisy", NOISY) else {
        return;
    };
    let subject = format!("plugin:{}", library.display());
    let output = mmascope(folder.path(), &["probe", &subject]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let words = "noise: the same input gave different answers";
    assert!(text.contains(words), "{text}");
    let both = mmascope(folder.path(), &["probe", "--compare", &subject, &subject]);
    let text = String::from_utf8_lossy(&both.stdout).into_owned();
    assert!(text.contains(&format!("{subject}: {words}")), "{text}");
    let report = json(&mmascope(folder.path(), &["probe", &subject, "--json"]));
    assert_eq!(report["noise"], true);
    let steady = json(&mmascope(
        folder.path(),
        &["probe", &format!("model:{VOLTA}"), "--json"],
    ));
    assert_eq!(steady["noise"], false);
}

#[test]
fn an_inferred_row_loads_and_validates() {
    let folder = folder();
    let subject = format!("model:{VOLTA}");
    let output = mmascope(
        folder.path(),
        &["infer", &subject, "--json", "-o", "row.txt"],
    );
    assert_eq!(output.status.code(), Some(0));
    let found = json(&output);
    assert_eq!(found["algorithm"], "t-fdpa");
    assert_eq!(found["parameters"]["F"], 23);
    assert_eq!(found["equivalent"][0], VOLTA);
    assert!(
        found["queries"]
            .as_u64()
            .is_some_and(|queries| queries <= 20_000)
    );
    let against = "inferred:dot.m1n1k4.f32.f16.f16.f32";
    let base = [
        "validate",
        &subject,
        "--against",
        against,
        "--isa",
        "row.txt",
    ];
    let arguments = [
        &base[..],
        &["--trials", "30000", "--json", "-o", "summary.json"],
    ]
    .concat();
    let output = mmascope(folder.path(), &arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let summary = json(&output);
    assert_eq!(
        (&summary["trials"], &summary["mismatches"]),
        (&30_000.into(), &0.into())
    );
    let file = std::fs::read_to_string(folder.path().join("summary.json")).expect("a file");
    assert!(file.contains("\"families\""));
}

#[test]
fn validation_goes_on_where_it_was() {
    let folder = folder();
    let subject = "model:ampere:mma.m16n8k8.f32.f16.f16.f32";
    let base = [
        "validate",
        subject,
        "--against",
        HOPPER,
        "--state",
        "state.json",
        "--json",
        "--families",
        "close,normal",
    ];
    let run = |trials: &str| {
        let arguments = [&base[..], &["--trials", trials]].concat();
        let output = mmascope(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(1));
        json(&output)
    };
    let first = run("8192");
    let second = run("20000");
    assert_eq!(first["trials"], 8192);
    assert_eq!(second["trials"], 20_000);
    // The same as in one run.
    let arguments = [
        "validate",
        subject,
        "--against",
        HOPPER,
        "--json",
        "--families",
        "close,normal",
        "--trials",
        "20000",
    ];
    let whole = json(&mmascope(folder.path(), &arguments));
    assert_eq!(second["mismatches"], whole["mismatches"]);
    assert_eq!(second["examples"], whole["examples"]);
    let shrunk = &second["shrunk"][0];
    assert_ne!(shrunk["device"], shrunk["model"]);
    // Another plan does not continue this state.
    let arguments = [&base[..], &["--seed", "5", "--trials", "100"]].concat();
    assert_eq!(mmascope(folder.path(), &arguments).status.code(), Some(2));
}

/// Ctrl-C in the middle: nothing that was done is lost, and nothing is done twice.
#[cfg(unix)]
#[test]
fn an_interrupted_validation_goes_on_as_if_it_had_not_been() {
    let folder = folder();
    let plan = [
        "validate",
        "model:ampere:mma.m16n8k8.f32.f16.f16.f32",
        "--against",
        HOPPER,
        "--json",
        "--families",
        "close,boundary,normal",
        "--threads",
        "1",
    ];
    let endless = ["--state", "state.json", "--trials", "1000000000000"];
    let child = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(plan)
        .args(endless)
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program");
    let status = interrupt::interrupt(child);
    assert_eq!(status.code(), Some(130));
    let text = std::fs::read_to_string(folder.path().join("state.json")).expect("a state");
    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    let run = |rest: &[&str]| json(&mmascope(folder.path(), &[&plan[..], rest].concat()));
    // Nothing more is asked for: what the interrupted run had done.
    let state = ["--state", "state.json", "--trials"];
    let done = run(&[&state[..], &["1"]].concat());
    let done = done["trials"].as_u64().expect("a number");
    assert!(done > 4096, "{done}");
    let total = (done + 100_000).to_string();
    let resumed = run(&[&state[..], &[&total]].concat());
    let whole = run(&["--trials", &total]);
    assert_eq!(resumed["trials_before"], done);
    for key in ["trials", "mismatches", "families", "examples", "shrunk"] {
        assert!(!whole[key].is_null(), "{key}");
        assert_eq!(resumed[key], whole[key], "{key}");
    }
}

#[test]
fn discriminating_vectors_pass_on_their_row_and_fail_on_a_neighbour() {
    let folder = folder();
    let (arch, inst) = HOPPER.split_once(':').expect("a row");
    let arguments = [
        "gen",
        "--discriminating",
        "--arch",
        arch,
        "--inst",
        inst,
        "-o",
        "v.jsonl",
        "--cuda",
        "run.cu",
    ];
    let output = mmascope(folder.path(), &arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let check = |more: &[&str]| {
        mmascope(folder.path(), &[&["check", "v.jsonl"], more].concat())
            .status
            .code()
    };
    assert_eq!(check(&[]), Some(0));
    assert_eq!(
        check(&["--as", "ampere:mma.m16n8k8.f32.f16.f16.f32"]),
        Some(1)
    );
    let line = std::fs::read_to_string(folder.path().join("v.jsonl")).expect("lines");
    let first: Value = serde_json::from_str(line.lines().next().expect("a line")).expect("JSON");
    assert!(
        first["separates"]
            .as_array()
            .is_some_and(|names| !names.is_empty())
    );
    let source = std::fs::read_to_string(folder.path().join("run.cu")).expect("a source");
    assert!(source.contains("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"));
}

/// Nothing is written where there is no program to write.
#[test]
fn a_refused_program_leaves_no_vectors() {
    let folder = folder();
    let row = [
        "--arch",
        "volta",
        "--inst",
        "wmma.m16n16k16.f32.f16.f16.f32",
    ];
    let file = ["--hip", "run.cu"];
    let output = mmascope(
        folder.path(),
        &[&["gen", "--discriminating"], &row[..], &file].concat(),
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(!folder.path().join("run.cu").exists());
}

/// A product of the example matrices is recognised; one bit off is not.
#[test]
fn the_producer_of_a_product_is_found() {
    let folder = folder();
    let write = |name: &str, rows: usize, columns: usize, bytes: &[u8], kind: &str| {
        let mut header = format!(
            "{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
        );
        while (header.len() + 11) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(bytes);
        std::fs::write(folder.path().join(name), file).expect("a file");
    };
    // f16 numbers between 1/64 and 2, of both signs.
    let numbers = |count: usize, seed: u32| -> Vec<u8> {
        let mut state = seed;
        (0..count)
            .flat_map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let exponent = 9 + (state >> 28) % 7;
                let word = (state >> 9 & 1) << 15 | exponent << 10 | state >> 12 & 0x3ff;
                (word as u16).to_le_bytes()
            })
            .collect()
    };
    write("a.npy", 24, 64, &numbers(24 * 64, 1), "<f2");
    write("b.npy", 64, 16, &numbers(64 * 16, 2), "<f2");
    let matmul = [
        "matmul",
        "--arch",
        "ampere",
        "--inst",
        "mma.m16n8k16.f32.f16.f16.f32",
        "a.npy",
        "b.npy",
        "-o",
        "d.npy",
    ];
    assert_eq!(mmascope(folder.path(), &matmul).status.code(), Some(0));
    let output = mmascope(
        folder.path(),
        &["identify", "a.npy", "b.npy", "d.npy", "--json"],
    );
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let found = json(&output);
    let rows = found["identified"].to_string();
    assert!(
        rows.contains("ampere:mma.m16n8k16.f32.f16.f16.f32"),
        "{rows}"
    );
    assert!(
        !rows.contains("volta:mma.m8n8k4.f32") && !rows.contains("hopper:mma.m16n8k16.f32.f16"),
        "{rows}"
    );
    assert!(found["runners_up"][0]["first_disagreeing"]["i"].is_u64());
    // α times the same, by the options of both programs.
    let scaled = [&matmul[..], &["--schedule", "c=epilogue alpha=-0.3 beta=0"]].concat();
    let scaled = [&scaled[..8], &["e.npy"], &scaled[9..]].concat();
    assert_eq!(mmascope(folder.path(), &scaled).status.code(), Some(0));
    let files = ["identify", "a.npy", "b.npy", "e.npy"];
    let with = |more: &[&str]| mmascope(folder.path(), &[&files[..], more].concat());
    assert_eq!(with(&[]).status.code(), Some(1));
    let output = with(&["--alpha", "-0.3"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("alpha=-0.3 beta=0"), "{text}");
    for (wrong, words) in [
        (&["--beta", "2"][..], "beta = 2: there is no C (--c)"),
        (&["--alpha", "inf"], "alpha = inf is not finite"),
        (&["--alpha", "two"], "--alpha"),
        (&["--scale-a", "a.npy"], "--scale-b"),
        (&["--transpose-a"], "expected M × K, K × N and M × N"),
    ] {
        let output = with(wrong);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {text}");
        assert!(text.contains(words), "{wrong:?}: {text}");
    }
    // The lowest bit of one element changed.
    let path = folder.path().join("d.npy");
    let mut bytes = std::fs::read(&path).expect("D");
    let at = bytes.len() - 4;
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).expect("written");
    let output = mmascope(folder.path(), &["identify", "a.npy", "b.npy", "d.npy"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("none, nearest ") && text.contains("(383 of 384)"),
        "{text}"
    );
}

/// What a short alignment cuts is not taken for a property of sums or operands.
#[test]
fn a_short_alignment_is_not_mistaken_for_something_else() {
    let folder = folder();
    let rows = "arch pf\n\
        z22 | f16 x f16 + f32 -> f32 | m1n1k4 | fused L=4 F=22 -> rz f32 | open\n\
        z23 | f16 x f16 + f32 -> f32 | m1n1k4 | fused L=4 F=23 -> rz f32 | open\n\
        g8 | f16 x f16 + f32 -> f32 | m1n1k8 | fused L=4 F=24 G=2 Fg=8 -> rz f32 | open\n";
    std::fs::write(folder.path().join("rows.txt"), rows).expect("written");
    for (inst, feature, value) in [
        ("z22", "normalisation", "unknown"),
        ("z23", "normalisation", "end"),
        ("g8", "subnormal-a", "kept"),
        ("g8", "subnormal-b", "kept"),
    ] {
        let subject = format!("model:pf:{inst}");
        let output = mmascope(
            folder.path(),
            &["--isa", "rows.txt", "probe", &subject, "--json"],
        );
        let report = json(&output);
        let features = report["features"].as_array().expect("features");
        let found = features.iter().find(|it| it["feature"] == feature);
        let found = found.unwrap_or_else(|| panic!("{feature} is not in {features:?}"));
        assert_eq!(found["value"], value, "{inst}: {found}");
    }
}

/// A scale that is zero makes zero in formats without fraction bits too.
#[test]
fn a_scale_without_fraction_bits_may_be_zero() {
    let folder = folder();
    let rows = "format s5 = sign 0 exponent 5 bias 15 fraction 0 specials none\n\
        arch zs\n\
        u | e4m3 x e4m3 + f32 -> f32 scale s5/1 | m1n1k1 | st-fdpa L=1 F=25 e0=-133 -> rz f32 | open\n";
    std::fs::write(folder.path().join("rows.txt"), rows).expect("written");
    for (scale, d) in [("00", "00000000"), ("01", "38800000")] {
        let line = format!(
            r#"{{"arch":"zs","inst":"u","a":"38","b":"38","c":"00000000","sa":"{scale}","sb":"0f"}}"#
        );
        std::fs::write(folder.path().join("line.jsonl"), line).expect("written");
        let output = mmascope(folder.path(), &["--isa", "rows.txt", "eval", "line.jsonl"]);
        assert_eq!(json(&output)["d"], d, "{scale}");
    }
    let arguments = ["--isa", "rows.txt", "export", "zs:u", "--language", "c"];
    let output = mmascope(folder.path(), &arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("its scales in s5 have a zero"), "{said}");
}

/// A model whose NaN is not known gives no word for it.
#[test]
fn a_model_states_no_nan_that_is_not_known() {
    let folder = folder();
    let rows = "arch pf\n\
        any | f16 x f16 + f32 -> f32 | m1n1k1 | fused L=1 F=24 -> rz f32 | open\n\
        one | f16 x f16 + f32 -> f32 | m1n1k1 | fused L=1 F=24 -> rz f32 nan=7fffffff | open\n";
    std::fs::write(folder.path().join("rows.txt"), rows).expect("written");
    for (inst, d) in [("any", "nan"), ("one", "7fffffff")] {
        let line =
            format!(r#"{{"arch":"pf","inst":"{inst}","a":"7e00","b":"3c00","c":"00000000"}}"#);
        std::fs::write(folder.path().join("line.jsonl"), line).expect("written");
        let subject = format!("model:pf:{inst}");
        for more in [&["--subject", &subject][..], &[]] {
            let arguments = [&["--isa", "rows.txt", "eval"][..], more, &["line.jsonl"]].concat();
            let output = mmascope(folder.path(), &arguments);
            assert_eq!(json(&output)["d"], d, "{arguments:?}");
        }
    }
}
