//! LLVM and libNVVM as oracles beside the project (PyPI `llvmlite` and `nvidia-nvvm`, found through `MMASCOPE_PYTHON`).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// For each target and function the names of LLVM's instructions, sorted; `None` for one that it cannot select.
/// `None` altogether where there is no LLVM.
pub(super) fn instructions(cases: &[(String, String)]) -> Option<Vec<Option<Vec<String>>>> {
    asked(&["-c", "import llvmlite"], "emit.py", cases)
}

/// The same of libNVVM (PyPI `nvidia-nvvm`).
pub(super) fn of_libnvvm(cases: &[(String, String)]) -> Option<Vec<Option<Vec<String>>>> {
    let script = scripts().join("nvvm.py");
    asked(&[script.to_str()?, "--there"], "nvvm.py", cases)
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resolver")
}

/// What a script answers, where `probe` says that it can.
fn asked(
    probe: &[&str],
    script: &str,
    cases: &[(String, String)],
) -> Option<Vec<Option<Vec<String>>>> {
    let python = std::env::var("MMASCOPE_PYTHON").ok()?;
    let there = Command::new(&python)
        .args(probe)
        .stderr(Stdio::null())
        .status();
    if !there.is_ok_and(|status| status.success()) {
        return None;
    }
    let mut child = Command::new(python)
        .arg(scripts().join(script))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python runs");
    let mut input = child.stdin.take().expect("a pipe");
    let lines: Vec<String> = cases
        .iter()
        .map(|(target, text)| json!([target, text]).to_string())
        .collect();
    let writer = std::thread::spawn(move || {
        for line in lines {
            writeln!(input, "{line}").expect("the script reads");
        }
    });
    let output = child.wait_with_output().expect("the script ends");
    writer.join().expect("everything was written");
    let answers: Vec<Option<Vec<String>>> = String::from_utf8(output.stdout)
        .expect("text")
        .lines()
        .map(|line| match serde_json::from_str(line).expect("JSON") {
            Value::Array(names) => {
                let mut names: Vec<String> = names
                    .iter()
                    .map(|name| name.as_str().expect("a name").to_owned())
                    .collect();
                names.sort();
                Some(names)
            }
            _ => None,
        })
        .collect();
    assert_eq!(answers.len(), cases.len(), "an answer to every case");
    Some(answers)
}
