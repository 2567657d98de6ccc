//! Plugins run in a process of their own: whatever one does, the program says what happened to which
//! query and ends with 3.
#![cfg(unix)]

#[path = "common/c.rs"]
mod c;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use c::compiled;

/// What every plugin here begins with.
const HEAD: &str = r#"
#include "mmascope_plugin.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
uint32_t mmascope_abi(void) { return 1; }
const char *mmascope_signature(void) { return "a=f16 b=f16 c=f32 d=f32 k=4"; }
int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                 const uint64_t *scale_a, const uint64_t *scale_b, uint64_t *d) {
    (void)a; (void)b; (void)scale_a; (void)scale_b;
    for (size_t i = 0; i < n; i++) d[i] = c[i];
"#;

/// The plugin that answers with c after these statements; `None`, printed, without a C compiler.
fn plugin(folder: &Path, name: &str, statements: &str) -> Option<PathBuf> {
    compiled(
        folder,
        name,
        &format!("{HEAD}    {statements}\n    return 0;\n}}\n"),
    )
}

/// Questions for the plugins, with a bad line between them: queries 0 to 99 are lines 1 to 101.
fn questions(folder: &Path) -> PathBuf {
    let line = |index: u32| {
        format!(
            r#"{{"id":{index},"a":"3c00000000000000","b":"3c00000000000000","c":"{index:08x}"}}"#
        )
    };
    let mut lines: Vec<String> = (0..100).map(line).collect();
    lines.insert(50, "{}".to_owned());
    let file = folder.join("questions.jsonl");
    std::fs::write(&file, lines.join("\n")).expect("the questions");
    file
}

fn eval(plugin: &Path, file: &Path, more: &[&str]) -> (Output, Duration) {
    let started = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(["eval", "--subject", &format!("plugin:{}", plugin.display())])
        .args(more)
        .arg(file)
        .output()
        .expect("the program runs");
    (output, started.elapsed())
}

#[test]
fn every_way_to_fail_names_the_queries() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = questions(folder.path());
    // (name, statements of mmascope_run, what the message says)
    let cases: [(&str, &str, &[&str]); 7] = [
        (
            "hangs",
            "for (;;) sleep(1);",
            &["query 0: no answer within 1.5 s (0 of 100 answered, queries 0 to 99)"],
        ),
        (
            "spins_and_ignores",
            "signal(SIGTERM, SIG_IGN); signal(SIGPIPE, SIG_IGN); for (;;) {}",
            &["query 0: no answer within 1.5 s"],
        ),
        (
            "crashes",
            "fputs(\"about to fall\", stderr); *(volatile int *)0 = 1;",
            &[
                "query 0: the process ended (0 of 100 answered, queries 0 to 99)",
                "signal: 11",
                "it wrote: about to fall",
            ],
        ),
        ("aborts", "abort();", &["queries 0 to 99", "signal: 6"]),
        ("exits", "_exit(0);", &["queries 0 to 99", "exit status: 0"]),
        (
            "refuses",
            "return 7;",
            &[
                "query 0: the device reports: mmascope_run returned 7; 0 means success (queries 0 to 99)",
            ],
        ),
        (
            "too_wide",
            "d[70] = 1ull << 32;",
            &[
                "query 70: the device reports: answer 100000000 is wider than f32",
                "questions.jsonl:72",
            ],
        ),
    ];
    for (name, statements, words) in cases {
        let Some(plugin) = plugin(folder.path(), name, statements) else {
            return;
        };
        let (output, time) = eval(&plugin, &file, &["--timeout", "1.5"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{name}: {message}");
        for words in words
            .iter()
            .chain(&["queries 0 to 99 are lines 1 to 101", name])
        {
            assert!(message.contains(words), "{name}: {words}: {message}");
        }
        assert!(output.stdout.is_empty(), "{name} gives no results");
        assert!(time < Duration::from_secs(6), "{name} took {time:?}");
    }
}

#[test]
fn loading_may_fail_as_well() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = questions(folder.path());
    let early = "#include <unistd.h>\n__attribute__((constructor)) static void early(void) ";
    let cases = [
        (
            "hangs_early",
            format!("{early} {{ for (;;) sleep(1); }}\n{HEAD} return 0; }}"),
            "no answer within 1 s (while the plugin was loaded)",
        ),
        (
            "crashes_early",
            format!("{early} {{ *(volatile int *)0 = 1; }}\n{HEAD} return 0; }}"),
            "while the plugin was loaded); signal: 11",
        ),
        (
            "other_abi",
            HEAD.replace("return 1;", "return 2;") + "return 0; }",
            "ABI version 2",
        ),
        (
            "other_text",
            HEAD.replace("k=4", "k=four") + "return 0; }",
            "k=four",
        ),
        ("nothing", "int nothing;".to_owned(), "mmascope_abi"),
    ];
    for (name, text, words) in cases {
        let Some(plugin) = compiled(folder.path(), name, &text) else {
            return;
        };
        let (output, time) = eval(&plugin, &file, &["--timeout", "1"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{name}: {message}");
        assert!(message.contains(words), "{name}: {message}");
        assert!(time < Duration::from_secs(5), "{name} took {time:?}");
    }
}

#[test]
fn what_a_plugin_leaves_unanswered_is_no_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = questions(folder.path());
    let text = HEAD.replace("i < n;", "i + 1 < n;") + "return 0; }";
    let Some(plugin) = compiled(folder.path(), "leaves_one", &text) else {
        return;
    };
    for way in [&[][..], &["--in-process"]] {
        let (output, _) = eval(&plugin, &file, way);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(message.contains("left d as it was"), "{message}");
    }
}

#[test]
fn a_good_plugin_answers_alike_in_both_ways_and_may_print() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = questions(folder.path());
    let loud = "printf(\"{\\\"id\\\": 0, \\\"d\\\": \\\"00000000\\\"}\\n\"); fflush(stdout);";
    let Some(loud) = plugin(folder.path(), "loud", loud) else {
        return;
    };
    let Some(quiet) = plugin(folder.path(), "quiet", "") else {
        return;
    };
    let (isolated, _) = eval(&loud, &file, &[]);
    let (inside, _) = eval(&quiet, &file, &["--in-process"]);
    for output in [&isolated, &inside] {
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "the bad line: {message}");
    }
    let text = String::from_utf8_lossy(&isolated.stdout).into_owned();
    assert_eq!(text, String::from_utf8_lossy(&inside.stdout));
    assert_eq!(text.lines().count(), 101);
    assert!(
        text.ends_with("\"c\":\"00000063\",\"d\":\"00000063\"}\n"),
        "{text}"
    );
    // In this process a refusal names the queries too.
    let Some(refuses) = plugin(folder.path(), "refuses", "return -1;") else {
        return;
    };
    let (output, _) = eval(&refuses, &file, &["--in-process"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        message.contains("mmascope_run returned -1; 0 means success (queries 0 to 99)"),
        "{message}"
    );
}

#[test]
fn reveal_survives_a_plugin_that_crashes() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(plugin) = plugin(folder.path(), "crashes", "*(volatile int *)0 = 1;") else {
        return;
    };
    let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(["reveal", &format!("plugin:{}", plugin.display())])
        .output()
        .expect("the program runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("query 0: the process ended"), "{message}");
}

/// A plugin that hangs ends soon after the program that asked it was killed.
#[cfg(target_os = "linux")]
#[test]
fn nothing_stays_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = questions(folder.path());
    let note = folder.path().join("pid");
    let statements = format!(
        "FILE *f = fopen(\"{0}.part\", \"w\"); fprintf(f, \"%d\", (int)getpid()); fclose(f); \
         rename(\"{0}.part\", \"{0}\"); for (;;) sleep(1);",
        note.display()
    );
    let Some(plugin) = plugin(folder.path(), "hangs", &statements) else {
        return;
    };
    let mut program = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(["eval", "--subject", &format!("plugin:{}", plugin.display())])
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let until = |what: &str, done: &dyn Fn() -> bool| {
        let started = Instant::now();
        while !done() {
            assert!(started.elapsed() < Duration::from_secs(9), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until("the plugin runs", &|| note.exists());
    let pid = std::fs::read_to_string(&note).expect("the number");
    program.kill().expect("killed");
    program.wait().expect("ended");
    // An ended process without a parent that waits is a zombie: its command line is empty.
    let gone =
        || std::fs::read(format!("/proc/{pid}/cmdline")).map_or(true, |text| text.is_empty());
    until("the plugin ends", &gone);
}
