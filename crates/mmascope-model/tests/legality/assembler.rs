//! NVIDIA's assembler as an oracle beside the project: which of many lines it takes for a target.
//!
//! It is found through `MMASCOPE_PTXAS`, or in the packages of the interpreter that `MMASCOPE_PYTHON` names
//! (PyPI `nvidia-cuda-nvcc`). Nothing of it is part of the project.

use std::path::PathBuf;
use std::process::Command;

/// The assembler's program, if there is one.
pub(super) fn find() -> Option<PathBuf> {
    if let Ok(path) = std::env::var("MMASCOPE_PTXAS") {
        return Some(PathBuf::from(path));
    }
    let python = std::env::var("MMASCOPE_PYTHON").ok()?;
    let script = "import nvidia, pathlib\n\
        found = [f for p in nvidia.__path__ for f in pathlib.Path(p).rglob('bin/ptxas')]\n\
        print(found[0] if found else '')";
    let answer = Command::new(python).args(["-c", script]).output().ok()?;
    let path = String::from_utf8(answer.stdout).ok()?.trim().to_owned();
    (!path.is_empty()).then(|| PathBuf::from(path))
}

/// Registers of every class that the lines use.
const REGISTERS: &str = ".reg .pred p<9>; .reg .b8 b<40>; .reg .b16 h<40>; .reg .b32 r<160>; .reg .f32 f<80>;\n\
    .reg .b64 rd<40>; .reg .f64 d<40>;\n";

/// For each line whether the assembler takes it on this target.
///
/// The lines stand in one kernel. The lines that it refuses are taken out until it takes the rest, because some
/// of its checks run only when others have passed.
pub(super) fn takes(assembler: &PathBuf, target: &str, lines: &[String]) -> Vec<bool> {
    let file = std::env::temp_dir().join(format!("mmascope-{}-{target}.ptx", std::process::id()));
    let mut live: Vec<usize> = (0..lines.len()).collect();
    let mut taken = vec![false; lines.len()];
    while !live.is_empty() {
        let mut text = format!(
            ".version 9.4\n.target {target}\n.address_size 64\n.visible .entry k(){{\n{REGISTERS}"
        );
        let first = text.lines().count() + 1;
        for &index in &live {
            text.push_str(&lines[index]);
            text.push_str(";\n");
        }
        text.push_str("ret;\n}\n");
        std::fs::write(&file, text).expect("a temporary file");
        let answer = Command::new(assembler)
            .args(["-O0", "-o", "/dev/null", &format!("-arch={target}")])
            .arg(&file)
            .output()
            .expect("the assembler runs");
        if answer.status.success() {
            live.iter().for_each(|&index| taken[index] = true);
            break;
        }
        let said = String::from_utf8_lossy(&answer.stderr).into_owned();
        let mut refused: Vec<usize> = said
            .lines()
            .filter_map(|line| {
                line.split_once(", line ")?
                    .1
                    .split(';')
                    .next()?
                    .trim()
                    .parse()
                    .ok()
            })
            .filter_map(|number: usize| number.checked_sub(first))
            .filter(|&position| position < live.len())
            .collect();
        refused.sort_unstable();
        refused.dedup();
        assert!(
            !refused.is_empty(),
            "{target}: the assembler names no line: {said}"
        );
        refused.iter().rev().for_each(|&position| {
            live.remove(position);
        });
    }
    let _ = std::fs::remove_file(&file);
    taken
}
