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

/// A plugin with scales, whose answers depend on every word that it is given and on its place.
const MIXES: &str = r#"
#include "mmascope_plugin.h"
#include <stdio.h>
uint32_t mmascope_abi(void) { return 1; }
const char *mmascope_signature(void) {
    return "a=e4m3 b=e5m2 c=f32 d=f32 k=8 scale=ue8m0 block=4";
}
static uint64_t mix(uint64_t h, const uint64_t *words, size_t n) {
    for (size_t i = 0; i < n; i++) h = (h ^ words[i]) * 0x100000001b3u;
    return h;
}
int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                 const uint64_t *sa, const uint64_t *sb, uint64_t *d) {
    for (size_t i = 0; i < n; i++) {
        uint64_t h = mix(mix(mix(1, a + 8 * i, 8), b + 8 * i, 8), c + i, 1);
        h = mix(mix(h, sa + 2 * i, 2), sb + 2 * i, 2);
        d[i] = (h ^ h >> 32) & 0x3fffffff;
    }
    return 0;
}
"#;

/// The program after these words of a shell.
#[cfg(target_os = "linux")]
fn after(words: &str, plugin: &Path, file: &Path) -> String {
    let output = Command::new("sh")
        .args(["-c", &format!("{words} exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_mmascope"))
        .args(["eval", "--subject", &format!("plugin:{}", plugin.display())])
        .arg(file)
        .output()
        .expect("the program runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    String::from_utf8(output.stdout).expect("text")
}

/// A shell's words after which no process can have shared memory: a file may have no bytes.
#[cfg(target_os = "linux")]
const NO_MEMORY: &str = "trap '' XFSZ; ulimit -f 0;";

#[cfg(target_os = "linux")]
#[test]
fn words_go_through_shared_memory_or_the_pipe_and_are_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mixes) = compiled(folder.path(), "mixes", MIXES) else {
        return;
    };
    let mut state = 1u64;
    let mut hex = |digits: usize| -> String {
        let mut digit = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from_digit((state >> 60) as u32, 16).expect("a digit")
        };
        (0..digits).map(|_| digit()).collect()
    };
    let lines: Vec<String> = (0..9000)
        .map(|id| {
            let (a, b, c, sa, sb) = (hex(16), hex(16), hex(8), hex(4), hex(4));
            format!(r#"{{"id":{id},"a":"{a}","b":"{b}","c":"{c}","sa":"{sa}","sb":"{sb}"}}"#)
        })
        .collect();
    let file = folder.path().join("many.jsonl");
    std::fs::write(&file, lines.join("\n")).expect("the questions");
    let shared = after("", &mixes, &file);
    assert_eq!(shared.lines().count(), 9000);
    let answers: std::collections::BTreeSet<&str> = shared
        .lines()
        .map(|line| line.rsplit_once("\"d\":").expect("an answer").1)
        .collect();
    assert!(answers.len() > 8900, "answers that differ");
    assert!(shared == after(NO_MEMORY, &mixes, &file), "by the pipe");
    let (inside, _) = eval(&mixes, &file, &["--in-process"]);
    assert!(shared.as_bytes() == inside.stdout, "in process");
    // The two ways are two: a plugin sees whether its process maps such memory.
    let looks = "FILE *f = fopen(\"/proc/self/maps\", \"r\"); char line[4096]; int found = 0; \
                 while (fgets(line, sizeof line, f)) found |= strstr(line, \"memfd:mmascope\") != 0; \
                 fclose(f); for (size_t i = 0; i < n; i++) d[i] = found;";
    let text = format!("#include <string.h>\n{HEAD} {looks} return 0; }}");
    let Some(looks) = compiled(folder.path(), "looks", &text) else {
        return;
    };
    let file = folder.path().join("one.jsonl");
    let question = r#"{"id":0,"a":"3c00000000000000","b":"3c00000000000000","c":"00000005"}"#;
    std::fs::write(&file, question).expect("the question");
    for (words, d) in [("", "00000001"), (NO_MEMORY, "00000000")] {
        let text = after(words, &looks, &file);
        assert!(text.contains(&format!("\"d\":\"{d}\"")), "{words} {text}");
    }
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
