//! `reveal lib:` runs a library in a process of its own: whatever one does, the program says what
//! happened and ends with 3. `reveal plugin:` finds the orders of plugins, and what is wrong with some.
#![cfg(unix)]

#[path = "common/c.rs"]
mod c;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use c::compiled;

/// What every library here begins with: a sum of products from the last to the first.
const DOT: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static float dot(int n, const float *x, const float *y) {
    float sum = 0;
    for (int k = n - 1; k >= 0; k--) { float product = x[k] * y[k]; sum = sum + product; }
    return sum;
}
static int calls = 0;
"#;

/// A library whose `cblas_sdot` runs these statements first.
fn library(folder: &Path, name: &str, statements: &str) -> Option<PathBuf> {
    let routine = format!(
        "float cblas_sdot(int n, const float *x, int dx, const float *y, int dy) {{\n\
         (void)dx; (void)dy; calls++;\n{statements}\nreturn dot(n, x, y); }}\n"
    );
    compiled(folder, name, &format!("{DOT}{routine}"))
}

fn reveal(subject: &str, more: &[&str]) -> (Output, Duration) {
    let started = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(["reveal", subject])
        .args(more)
        .output()
        .expect("the program runs");
    (output, started.elapsed())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_way_in_which_a_library_fails_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    // (name, statements of the routine, what the message says)
    let cases: [(&str, &str, &[&str]); 8] = [
        (
            "aborts",
            "abort();",
            &["while the library was loaded and tried", "signal: 6"],
        ),
        (
            "aborts_later",
            "if (calls > 40) { fputs(\"enough of this\", stderr); abort(); }",
            &["the process ended; signal: 6", "it wrote: enough of this"],
        ),
        ("crashes", "*(volatile int *)0 = 1;", &["signal: 11"]),
        (
            "crashes_later",
            "if (calls > 40) *(volatile int *)0 = 1;",
            &["ended; signal: 11"],
        ),
        (
            "hangs",
            "for (;;) sleep(1);",
            &["no answer within 1.5 s (while the library was loaded and tried)"],
        ),
        (
            "hangs_later",
            "signal(SIGTERM, SIG_IGN); if (calls > 40) for (;;) {}",
            &["no answer within 1.5 s"],
        ),
        (
            "exits",
            "_exit(0);",
            &["the process ended", "exit status: 0"],
        ),
        (
            "exits_later",
            "if (calls > 40) exit(7);",
            &["ended; exit status: 7"],
        ),
    ];
    for (name, statements, words) in cases {
        let Some(library) = library(folder.path(), name, statements) else {
            return;
        };
        let subject = format!("lib:{}:cblas_sdot", library.display());
        let (output, time) = reveal(&subject, &["-n", "12", "--timeout", "1.5"]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{name}: {message}");
        for words in words.iter().chain([&&*subject]) {
            assert!(message.contains(words), "{name}: {words}: {message}");
        }
        assert!(output.stdout.is_empty(), "{name} gives no tree");
        assert!(time < Duration::from_secs(6), "{name} took {time:?}");
    }
}

#[test]
fn loading_may_fail_as_well() {
    let folder = tempfile::tempdir().expect("a folder");
    let early = "#include <unistd.h>\n__attribute__((constructor)) static void early(void) ";
    for (name, source, words) in [
        (
            "falls_early",
            format!("{early} {{ *(volatile int *)0 = 1; }}"),
            "signal: 11",
        ),
        (
            "hangs_early",
            format!("{early} {{ for (;;) sleep(1); }}"),
            "no answer within 1 s",
        ),
        ("has_no_routine", "int nothing;".to_owned(), "cblas_sdot"),
    ] {
        let Some(library) = compiled(folder.path(), name, &source) else {
            return;
        };
        let subject = format!("lib:{}:cblas_sdot", library.display());
        let (output, time) = reveal(&subject, &["-n", "12", "--timeout", "1"]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{name}: {message}");
        assert!(message.contains(words), "{name}: {message}");
        assert!(time < Duration::from_secs(5), "{name} took {time:?}");
    }
}

/// What a library prints is no answer, and both ways find the same.
#[test]
fn a_good_library_is_revealed_alike_in_both_ways() {
    let folder = tempfile::tempdir().expect("a folder");
    let loud = "printf(\"3ff0000000000000\\n\"); fflush(stdout);";
    let Some(library) = library(folder.path(), "loud", loud) else {
        return;
    };
    let subject = format!("lib:{}:cblas_sdot", library.display());
    for algorithm in ["pivot", "basic", "fprev", "fprev-narrow", "distinct"] {
        let more = ["-n", "12", "--json", "--algorithm", algorithm];
        let (output, _) = reveal(&subject, &more);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(json["pattern"], "right to left", "{algorithm}");
        assert_eq!(json["verified"]["mismatches"], 0, "{algorithm}");
        let (inside, _) = reveal(&subject, &[&more[..], &["--in-process"]].concat());
        let inside = text(&inside.stdout);
        let (_, inside) = inside
            .split_once('{')
            .expect("JSON after what the library printed");
        assert_eq!(text(&output.stdout), format!("{{{inside}"), "{algorithm}");
    }
}

/// A dot product of four f32 as a plugin; `sum` is C over x[0..4] (products) and c.
fn plugin(folder: &Path, name: &str, sum: &str) -> Option<PathBuf> {
    let source = format!(
        r#"
#include "mmascope_plugin.h"
#include <stdlib.h>
#include <string.h>
static float value(uint64_t word) {{ uint32_t bits = (uint32_t)word; float x; memcpy(&x, &bits, 4); return x; }}
static unsigned turn = 0;
uint32_t mmascope_abi(void) {{ return 1; }}
const char *mmascope_signature(void) {{ return "a=f32 b=f32 c=f32 d=f32 k=4"; }}
int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *words,
                 const uint64_t *scale_a, const uint64_t *scale_b, uint64_t *d) {{
    (void)scale_a; (void)scale_b;
    for (size_t i = 0; i < n; i++) {{
        float x[4], c = value(words[i]), sum = 0;
        for (int k = 0; k < 4; k++) x[k] = value(a[4 * i + k]) * value(b[4 * i + k]);
        turn++;
        {sum}
        uint32_t bits; memcpy(&bits, &sum, 4); d[i] = bits;
    }}
    return 0;
}}
"#
    );
    compiled(folder, name, &source)
}

/// The plugin of the examples, whose source says its order: from the last product to the first, c
/// the start.
#[test]
fn the_plugin_of_the_examples_is_revealed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = std::fs::read_to_string(root.join("examples/devices/sequential.c"));
    let folder = tempfile::tempdir().expect("a folder");
    let Some(plugin) = compiled(folder.path(), "sequential", &source.expect("the example")) else {
        return;
    };
    let expected = (0..8).rev().fold("8".to_owned(), |sum, k| match k {
        7 => "(add f32 7 8)".to_owned(),
        _ => format!("(add f32 {k} {sum})"),
    });
    for way in [&[][..], &["--in-process"]] {
        let (output, _) = reveal(&format!("plugin:{}", plugin.display()), way);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains(&expected), "{said}");
        assert!(
            said.contains("verified over 100 trials (8 add f32)"),
            "{said}"
        );
    }
}

#[test]
fn plugins_of_other_orders_are_revealed() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, sum, order) in [
        (
            "pairs",
            "sum = (x[0] + x[2]) + (x[1] + x[3]); sum = sum + c;",
            "(add f32 (add f32 (add f32 0 2) (add f32 1 3)) 4)",
        ),
        (
            "c_first",
            "sum = c + x[2]; sum = sum + x[0]; sum = sum + (x[3] + x[1]);",
            "(add f32 (add f32 0 (add f32 2 4)) (add f32 1 3))",
        ),
        (
            "in_double",
            "sum = (float)((double)x[0] + x[1] + x[2] + x[3] + c);",
            "(add f64 (add f64 (add f64 (add f64 0 1) 2) 3) 4)",
        ),
    ] {
        let Some(plugin) = plugin(folder.path(), name, sum) else {
            return;
        };
        for algorithm in [
            "pivot",
            "distinct",
            "basic",
            "fprev",
            "fprev-narrow",
            "naive",
        ] {
            let subject = format!("plugin:{}", plugin.display());
            let (output, _) = reveal(&subject, &["--algorithm", algorithm]);
            let said = text(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{name} {algorithm}: {said}");
            assert!(said.contains(order), "{name} {algorithm}: {said}");
            assert!(
                said.contains("verified over 100 trials"),
                "{name} {algorithm}: {said}"
            );
        }
    }
}

/// What is no fixed tree is named, and what fails on the way names the query.
#[test]
fn plugins_that_misbehave_give_no_tree() {
    let folder = tempfile::tempdir().expect("a folder");
    let forwards = "sum = c + x[0] + x[1] + x[2] + x[3];";
    let backwards = "sum = c + x[3] + x[2] + x[1] + x[0];";
    for (name, sum, status, words) in [
        // The order changes from question to question.
        (
            "changing",
            format!("if (turn % 3) {{ {forwards} }} else {{ {backwards} }}"),
            1,
            "",
        ),
        // The order is another one where the first product is a small negative number.
        (
            "by_value",
            format!("if (x[0] < 0 && x[0] > -8) {{ {backwards} }} else {{ {forwards} }}"),
            1,
            "differs",
        ),
        // It forgets a product.
        (
            "forgetful",
            "sum = c + x[0] + x[1] + x[2];".to_owned(),
            2,
            "a lone unit at p3 gives 0 units",
        ),
        (
            "breaks_down",
            format!("if (turn > 60) abort(); {forwards}"),
            3,
            "signal: 6",
        ),
    ] {
        let Some(plugin) = plugin(folder.path(), name, &sum) else {
            return;
        };
        let (output, _) = reveal(&format!("plugin:{}", plugin.display()), &[]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{name}: {said}");
        assert!(
            said.contains(words) && !said.contains("verified over"),
            "{name}: {said}"
        );
    }
}

/// Names of NumPy's and SciPy's libraries: a prefix, and 64-bit integers by the suffix or by `--ilp64`. The upper half of
/// each number is checked by the routine itself.
#[test]
fn routines_with_64_bit_integers_are_revealed() {
    let folder = tempfile::tempdir().expect("a folder");
    let body = r#"
#include <stdint.h>
#include <stdlib.h>
static float wide(int64_t n, const float *x, int64_t dx, const float *y, int64_t dy) {
    if (n < 0 || n > 64 || dx != 1 || dy != 1) abort();
    return dot((int)n, x, y);
}
float scipy_cblas_sdot64_(int64_t n, const float *x, int64_t dx, const float *y, int64_t dy) {
    return wide(n, x, dx, y, dy);
}
float cblas_sdot(int64_t n, const float *x, int64_t dx, const float *y, int64_t dy) {
    return wide(n, x, dx, y, dy);
}
/* Fortran passes addresses: 32-bit reading of these would do, 64-bit writing not. */
float my_sdot_64_(const int64_t *n, const float *x, const int64_t *dx, const float *y, const int64_t *dy) {
    return wide(*n, x, *dx, y, *dy);
}
"#;
    let Some(library) = compiled(folder.path(), "wide", &format!("{DOT}{body}")) else {
        return;
    };
    for (symbol, more) in [
        ("scipy_cblas_sdot64_", &[][..]),
        ("my_sdot_64_", &[]),
        ("cblas_sdot", &["--ilp64"]),
    ] {
        let subject = format!("lib:{}:{symbol}", library.display());
        let (output, _) = reveal(&subject, &[&["-n", "12"], more].concat());
        assert_eq!(
            output.status.code(),
            Some(0),
            "{symbol}: {}",
            text(&output.stderr)
        );
        assert!(text(&output.stdout).contains("right to left"), "{symbol}");
    }
    let (wrong, _) = reveal("model:volta:f16", &["--ilp64"]);
    assert_eq!(wrong.status.code(), Some(2));
    // A plain name that the library lacks: the ones that it has are told.
    let subject = format!("lib:{}:sdot", library.display());
    let (missing, _) = reveal(&subject, &["-n", "12"]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(
        text(&missing.stderr).contains("this library has cblas_sdot, scipy_cblas_sdot64_"),
        "{}",
        text(&missing.stderr)
    );
}
