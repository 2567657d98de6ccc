//! Processors, and llvm-mca's answers about them.

use std::io::Write;
use std::process::{Command, Stdio};

use super::disassembly::{Instruction, Set};
use super::llvm_tool;

pub(super) struct Processor {
    pub(super) title: &'static str,
    /// LLVM's name of it.
    name: &'static str,
    /// Its pipes are twice as wide as LLVM has them: it is asked about the same instructions of half the width.
    is_wider: bool,
}

const fn processor(name: &'static str) -> Processor {
    Processor {
        title: name,
        name,
        is_wider: false,
    }
}

/// A Zen 5 with pipes of 512 bits, for which LLVM has no schedule: that of a Zen 4, whose pipes have 256.
const WIDE_ZEN: Processor = Processor {
    title: "znver4, pipes of 512 bits",
    name: "znver4",
    is_wider: true,
};

/// Which processors are asked about loops of which registers.
const PROCESSORS: [(&str, &[Processor]); 3] = [
    (
        "ymm",
        &[
            processor("znver3"),
            processor("znver4"),
            processor("znver5"),
        ],
    ),
    (
        "zmm",
        &[
            processor("znver4"),
            processor("znver5"),
            WIDE_ZEN,
            processor("cascadelake"),
            processor("sapphirerapids"),
        ],
    ),
    ("NEON", &[processor("neoverse-v2"), processor("apple-m1")]),
];

pub(super) fn of(registers: &str) -> &'static [Processor] {
    let row = PROCESSORS.iter().find(|row| row.0 == registers);
    row.map_or(&[], |row| row.1)
}

/// llvm-mca as it is here.
pub(super) struct Mca {
    program: String,
    /// The tool and its version.
    pub(super) version: String,
}

impl Mca {
    pub(super) fn find() -> Result<Self, String> {
        let program = llvm_tool("llvm-mca")?;
        let output = Command::new(&program).arg("--version").output();
        let output = output.map_err(|error| format!("{program}: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let number = text.lines().find(|line| line.contains("version"));
        let version = format!("{program}: {}", number.unwrap_or("of no version").trim());
        Ok(Self { program, version })
    }

    /// Cycles of one turn in the steady state, waiting for its own results too; `None` where the processor or an instruction
    /// isn't known.
    pub(super) fn cycles(&self, set: Set, on: &Processor, body: &[&Instruction]) -> Option<f64> {
        const TURNS: f64 = 100.0;
        let turns = format!("-iterations={TURNS}");
        let report = self.ask(set, on, &[&turns], &lines(set, on, body))?;
        Some(value(&report, "Total Cycles:")?.parse::<f64>().ok()? / TURNS)
    }

    /// Cycles for which the pipes are busy with these instructions: what else goes on beside them fills the time that
    /// they wait.
    pub(super) fn busy(&self, set: Set, on: &Processor, body: &[&Instruction]) -> Option<f64> {
        let report = self.ask(set, on, &["-iterations=1"], &lines(set, on, body))?;
        value(&report, "Block RThroughput:")?.parse().ok()
    }

    /// How the names of the resources in LLVM's schedule of this processor begin. They tell which processor it was written for.
    pub(super) fn schedule(&self, set: Set, processor: &Processor) -> Option<String> {
        let report = self.ask(set, processor, &[], "nop\n")?;
        let (_, list) = report.split_once("Resources:\n")?;
        let names = list.lines().map_while(|line| line.split_once("- "));
        let names: Vec<&str> = names.map(|(_, name)| name.trim()).collect();
        let first = *names.first()?;
        let shared = |name: &&str| {
            let same = first.chars().zip(name.chars());
            same.take_while(|(one, other)| one == other).count()
        };
        let length = names.iter().map(shared).min()?;
        Some(first[..length].to_owned())
    }

    fn ask(&self, set: Set, processor: &Processor, how: &[&str], text: &str) -> Option<String> {
        let mut child = Command::new(&self.program)
            .arg(format!("-mtriple={}", set.triple()))
            .arg(format!("-mcpu={}", processor.name))
            .args(how)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        // (It reads everything before it writes; where it refuses the processor, it reads nothing.)
        let _ = child.stdin.take()?.write_all(text.as_bytes());
        let output = child.wait_with_output().ok()?;
        // A name that it does not know is a mere warning to it, and the numbers are another processor's.
        let is_known = !String::from_utf8_lossy(&output.stderr).contains("not a recognized");
        (output.status.success() && is_known)
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// What llvm-mca is asked about: instructions that take a pipe.
fn lines(set: Set, on: &Processor, body: &[&Instruction]) -> String {
    let busy = body.iter().filter(|it| !it.is_idle() && !it.is_jump(set));
    let texts = busy.map(|it| match on.is_wider {
        true => narrow(&it.text) + "\n",
        false => format!("{}\n", it.text),
    });
    texts.collect()
}

/// The instruction for half of its registers.
pub(super) fn narrow(text: &str) -> String {
    // Each takes what those above it have left.
    const HALVES: [(&str, &str); 12] = [
        ("%ymm", "%xmm"),
        ("%zmm", "%ymm"),
        ("{1to8}", "{1to4}"),
        ("{1to16}", "{1to8}"),
        ("f64x4", "f64x2"),
        ("i64x4", "i64x2"),
        ("f32x8", "f32x4"),
        ("i32x8", "i32x4"),
        // No narrow instruction has a rounding of its own; with one, it takes the same pipes.
        ("{rn-sae}, ", ""),
        ("{rd-sae}, ", ""),
        ("{ru-sae}, ", ""),
        ("{rz-sae}, ", ""),
    ];
    let halve = |text: String, (wide, half): (&str, &str)| text.replace(wide, half);
    HALVES.into_iter().fold(text.to_owned(), halve)
}

fn value<'a>(report: &'a str, title: &str) -> Option<&'a str> {
    let line = report.lines().find_map(|line| line.strip_prefix(title));
    line.map(str::trim)
}
