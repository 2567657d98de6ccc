//! `eval --subject`: devices answer instead of the model.

use std::process::{Command, Output};

fn eval(arguments: &[&str], file: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .arg("eval")
        .args(arguments)
        .arg(file)
        .output()
        .expect("the program runs")
}

/// One question for Volta's unit: 2^23 and the products −2^23, −1/2, −1/4, −1/8.
fn question(folder: &tempfile::TempDir, arch: &str, inst: &str) -> String {
    let file = folder.path().join("question.jsonl");
    let line = format!(
        r#"{{"id":5,"arch":"{arch}","inst":"{inst}","a":"f000b800b400b000","b":"64003c003c003c00","c":"4b000000"}}"#
    );
    std::fs::write(&file, line).unwrap();
    file.to_str().unwrap().to_owned()
}

const INST: &str = "mma.m8n8k4.f32.f16.f16.f32";

#[test]
fn a_model_and_the_program_itself_answer_alike() {
    let folder = tempfile::tempdir().unwrap();
    let file = question(&folder, "volta", INST);
    let itself = format!(
        "cmd:{} eval",
        shell_words::quote(env!("CARGO_BIN_EXE_mmascope"))
    );
    let direct = eval(&[], &file);
    let model = eval(&["--subject", &format!("model:sm_70:{INST}")], &file);
    let process = eval(
        &["--subject", &itself, "--arch", "volta", "--inst", INST],
        &file,
    );
    let text = String::from_utf8(direct.stdout).unwrap();
    assert!(text.ends_with(",\"d\":\"00000000\"}\n"), "{text}");
    for (what, output) in [("model", model), ("process", process)] {
        assert_eq!(output.status.code(), Some(0), "{what}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), text, "{what}");
    }
}

#[test]
fn a_device_that_is_no_row_takes_lines_that_carry_its_signature() {
    let folder = tempfile::tempdir().unwrap();
    let signature = "a=f16 b=f16 c=f32 d=f32 k=4";
    // This device answers with c.
    let device = "cmd:python3 -u -c \"import sys, json
for line in sys.stdin:
    q = json.loads(line) if line.strip() else None
    print(json.dumps({'id': q['id'], 'd': q['c']}) if q else '')\"";
    if Command::new("python3").arg("--version").output().is_err() {
        return println!("skipped: python3 does not run");
    }
    let file = question(&folder, "dut", signature);
    let output = eval(&["--subject", device, "--signature", signature], &file);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\"d\":\"4b000000\""), "{text}");
    assert_eq!(output.status.code(), Some(0));
    // Another signature in the line is a bad line, not a question.
    let file = question(&folder, "dut", "a=bf16 b=f16 c=f32 d=f32 k=4");
    let output = eval(&["--subject", device, "--signature", signature], &file);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("{\"id\":5,\"error\":\"the device takes"),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn exit_statuses_tell_a_failed_device_from_wrong_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = question(&folder, "volta", INST);
    let signature = "a=f16 b=f16 c=f32 d=f32 k=4";
    let cases: [(&[&str], i32, &str); 7] = [
        (
            &["--subject", "cmd:false", "--signature", signature],
            3,
            "query 0: the process ended",
        ),
        (
            &[
                "--subject",
                "cmd:/no/such/program",
                "--signature",
                signature,
            ],
            3,
            "cannot start",
        ),
        (&["--subject", "plugin:/no/such.so"], 3, "/no/such.so"),
        (&["--subject", "cmd:cat"], 2, "--signature"),
        (&["--subject", "robot:x"], 2, "model:ARCH:INST"),
        (
            &["--subject", "cmd:cat", "--signature", "a=f16"],
            2,
            "b= is missing",
        ),
        (
            &[
                "--subject",
                "cmd:cat",
                "--signature",
                signature,
                "--timeout",
                "0",
            ],
            2,
            "--timeout",
        ),
    ];
    for (arguments, status, words) in cases {
        let output = eval(arguments, &file);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            output.status.code(),
            Some(status),
            "{arguments:?}: {message}"
        );
        assert!(message.contains(words), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}
