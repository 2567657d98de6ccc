//! The disassembly of a program, as instructions of functions.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::llvm_tool;

/// An instruction set whose disassembly is understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Set {
    X86,
    Aarch64,
}

impl Set {
    /// By the line that llvm-objdump begins with.
    fn of(line: &str) -> Option<Self> {
        let (_, format) = line.split_once("file format ")?;
        match format.trim() {
            "elf64-x86-64" => Some(Self::X86),
            "elf64-littleaarch64" => Some(Self::Aarch64),
            _ => None,
        }
    }

    pub(super) fn triple(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }
}

pub(super) struct Instruction {
    pub(super) address: u64,
    /// Name and operands as the assembler takes them, without what llvm-objdump remarks.
    pub(super) text: String,
}

impl Instruction {
    pub(super) fn name(&self) -> &str {
        self.text.split_whitespace().next().unwrap_or("")
    }

    pub(super) fn is_jump(&self, set: Set) -> bool {
        let name = self.name();
        match set {
            Set::X86 => name.starts_with('j'),
            Set::Aarch64 => {
                name.starts_with("b.") || ["b", "br", "cbz", "cbnz", "tbz", "tbnz"].contains(&name)
            }
        }
    }

    pub(super) fn is_call(&self, set: Set) -> bool {
        match set {
            Set::X86 => self.name().starts_with("call"),
            Set::Aarch64 => ["bl", "blr"].contains(&self.name()),
        }
    }

    /// Nothing that a pipe does: padding, and returns, which llvm-mca would take for the end.
    pub(super) fn is_idle(&self) -> bool {
        let name = self.name();
        name.contains("nop") || name.starts_with("data16") || name.starts_with("ret")
    }

    /// The target of a jump back: the last operand.
    pub(super) fn back(&self, set: Set) -> Option<u64> {
        let last = self.text.split([' ', '\t', ',']).next_back()?;
        let target = u64::from_str_radix(last.strip_prefix("0x")?, 16).ok()?;
        (self.is_jump(set) && target <= self.address).then_some(target)
    }
}

/// The functions of the kernels.
pub(super) fn read(program: &str) -> Result<(Set, Vec<Vec<Instruction>>), String> {
    let tool = llvm_tool("llvm-objdump")?;
    let mut child = Command::new(&tool)
        .args(["-d", "-C", "--no-show-raw-insn", program])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{tool}: {error}"))?;
    let listing = BufReader::new(child.stdout.take().ok_or("no output")?);
    let lines = listing.lines().map_while(Result::ok);
    let found = functions(lines);
    let status = child.wait().map_err(|error| format!("{tool}: {error}"))?;
    if !status.success() {
        return Err(format!("{tool} -d {program}: {status}"));
    }
    found.ok_or_else(|| format!("{program} is of no known instruction set"))
}

/// The same out of the lines that llvm-objdump prints.
pub(super) fn functions(
    lines: impl Iterator<Item = String>,
) -> Option<(Set, Vec<Vec<Instruction>>)> {
    let mut set = None;
    let mut found: Vec<Vec<Instruction>> = Vec::new();
    let mut inside = false;
    for line in lines {
        if set.is_none() {
            set = Set::of(&line);
        } else if line.ends_with(">:") {
            inside = line.contains("mmascope_gemm::cpu::");
            if inside {
                found.push(Vec::new());
            }
        } else if inside
            && let Some((address, text)) = line.split_once(':')
            && let Ok(address) = u64::from_str_radix(address.trim(), 16)
            && let Some(function) = found.last_mut()
        {
            let text = without_remarks(set?, text);
            function.push(Instruction { address, text });
        }
    }
    Some((set?, found))
}

/// Behind `<` stands the name of an address, behind `#` (in x86) and `//` a remark.
fn without_remarks(set: Set, text: &str) -> String {
    let remark = match set {
        Set::X86 => "#",
        Set::Aarch64 => "//",
    };
    let text = text.split(remark).next().unwrap_or("");
    text.split('<').next().unwrap_or("").trim().to_owned()
}
