//! Which machine instructions a program really has, by `nvdisasm`, where it is there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use crate::Result;
use crate::chip::failed;
use crate::search;

/// The variable that names the program.
pub const VARIABLE: &str = "MMASCOPE_NVDISASM";

/// The disassembler, if there is one.
#[must_use]
pub fn disassembler() -> Option<PathBuf> {
    search::program(VARIABLE, "nvdisasm")
}

/// How often each instruction that computes stands in a machine program; `None` without a disassembler.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device) when the disassembler fails.
pub fn instructions(binary: &[u8]) -> Result<Option<BTreeMap<String, usize>>> {
    let Some(program) = disassembler() else {
        return Ok(None);
    };
    let name = program.display().to_string();
    let file = std::env::temp_dir().join(format!(
        "mmascope-{}-{:p}.cubin",
        std::process::id(),
        binary
    ));
    let wrong = |error: std::io::Error| failed(&name, error.to_string());
    std::fs::write(&file, binary).map_err(wrong)?;
    let output = Command::new(&program).arg(&file).output();
    // A file that stays behind harms nobody.
    let _ = std::fs::remove_file(&file);
    let output = output.map_err(wrong)?;
    if !output.status.success() {
        return Err(failed(&name, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(Some(counted(&String::from_utf8_lossy(&output.stdout))))
}

/// The opcodes of a listing.
fn counted(listing: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for line in listing.lines() {
        // `/*0040*/  @P0 HMMA.16816.F32 R4, …`
        let Some((address, rest)) = line
            .trim_start()
            .strip_prefix("/*")
            .and_then(|rest| rest.split_once("*/"))
        else {
            continue;
        };
        if address.len() < 4 || !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            continue;
        }
        let mut words = rest.split_whitespace();
        let mut opcode = words.next().unwrap_or_default();
        if opcode.starts_with('@') {
            opcode = words.next().unwrap_or_default();
        }
        let opcode = opcode.trim_end_matches(';');
        if computes(opcode) {
            *found.entry(opcode.to_owned()).or_default() += 1;
        }
    }
    found
}

/// Whether an opcode may be what an instruction of PTX became: matrix units, scalar arithmetic in floats, conversions.
fn computes(opcode: &str) -> bool {
    let family = opcode.split('.').next().unwrap_or_default();
    family.ends_with("MMA")
        || [
            "FFMA", "FADD", "FMUL", "HADD2", "HFMA2", "HMUL2", "DFMA", "DADD", "DMUL", "MUFU",
            "F2F", "F2FP", "F2I", "IDP", "POPC",
        ]
        .contains(&family)
}

/// The instructions of matrix units among them, as one line: `HMMA.16816.F32 x1`.
#[must_use]
pub fn line(instructions: &BTreeMap<String, usize>) -> String {
    let units: Vec<String> = instructions
        .iter()
        .map(|(opcode, count)| format!("{opcode} x{count}"))
        .collect();
    units.join(", ")
}
