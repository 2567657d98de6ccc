//! `cargo xtask bounds [PROGRAM]`: what the ports of a processor allow the kernels' inner loops, by llvm-mca.
//!
//! The loops are cut out of the disassembly of the release program: a loop goes from the target of a
//! backward jump to the jump. Innermost loops with vector arithmetic and without calls are measured, and
//! what the loop around each of them has beside its inner loops.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

struct Instruction {
    address: u64,
    text: String,
    /// Where in the kernels it comes from, as `fused.rs:123`.
    source: String,
}

impl Instruction {
    /// The target of a jump back.
    fn back(&self) -> Option<u64> {
        let mut words = self.text.split_whitespace();
        let is_jump = words.next()?.starts_with('j');
        let target = u64::from_str_radix(words.next()?, 16).ok()?;
        (is_jump && target <= self.address).then_some(target)
    }

    fn is(&self, prefix: &str) -> bool {
        self.text.starts_with(prefix)
    }
}

/// Prints the table; false when a tool is missing.
pub(crate) fn bounds(program: &str) -> bool {
    let listing = Command::new("objdump")
        .args(["-d", "-C", "-l", "--no-show-raw-insn", program])
        .output();
    let Some(listing) = listing.ok().filter(|listing| listing.status.success()) else {
        eprintln!("objdump -d {program} does not work here");
        return false;
    };
    println!(
        "loop                 registers  instructions  products  cycles  products/cycle  around it: \
         instructions, cycles"
    );
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    // The compiler makes a loop several times, for each way to finish: shown is the slowest of equals.
    let mut rows = BTreeMap::<_, (f64, String)>::new();
    for function in functions(&listing) {
        for (key, cycles, row) in loops(&function) {
            let slowest = rows.entry(key).or_default();
            if cycles > slowest.0 {
                *slowest = (cycles, row);
            }
        }
    }
    for (_, row) in rows.values() {
        println!("{row}");
    }
    !rows.is_empty()
}

/// The functions of the kernels, as instructions.
fn functions(listing: &str) -> Vec<Vec<Instruction>> {
    let mut found: Vec<Vec<Instruction>> = Vec::new();
    let (mut inside, mut source) = (false, String::new());
    for line in listing.lines() {
        if line.ends_with(">:") {
            inside = line.contains("mmascope_gemm::cpu::");
            source.clear();
            if inside {
                found.push(Vec::new());
            }
        } else if let Some((_, place)) = line.split_once("/src/kernel/") {
            if !place.starts_with("lanes") {
                place
                    .split(' ')
                    .next()
                    .unwrap_or("")
                    .clone_into(&mut source);
            }
        } else if let Some((address, text)) = line.split_once(":\t")
            && inside
            && let Ok(address) = u64::from_str_radix(address.trim(), 16)
            && let Some(function) = found.last_mut()
        {
            let text = text.split(['#', '<']).next().unwrap_or("").trim();
            function.push(Instruction {
                address,
                text: text.to_owned(),
                source: source.clone(),
            });
        }
    }
    found
}

/// What tells loops apart: where they come from, their registers, their products.
type Key = (String, &'static str, usize);

/// The cycles and a line of the table for each innermost loop.
fn loops(function: &[Instruction]) -> Vec<(Key, f64, String)> {
    let place = |address| function.iter().position(|it| it.address == address);
    let mut all: Vec<(usize, usize)> = (0..function.len())
        .filter_map(|end| Some((place(function[end].back()?)?, end)))
        .collect();
    all.sort_by_key(|&(start, end)| end - start);
    let holds = |outer: (usize, usize), inner: (usize, usize)| {
        outer != inner && outer.0 <= inner.0 && inner.1 <= outer.1
    };
    let mut rows = Vec::new();
    for &inner in &all {
        if all.iter().any(|&other| holds(inner, other)) {
            continue;
        }
        let body: Vec<&Instruction> = function[inner.0..=inner.1].iter().collect();
        let Some((registers, products)) = work(&body) else {
            continue;
        };
        let Some(cycles) = cycles(&body, registers) else {
            continue;
        };
        let around = all
            .iter()
            .find(|&&outer| holds(outer, inner))
            .and_then(|&outer| {
                let inside = |at: usize| {
                    all.iter()
                        .any(|&other| holds(outer, other) && (other.0..=other.1).contains(&at))
                };
                let rest: Vec<&Instruction> = (outer.0..=outer.1)
                    .filter(|&at| !inside(at))
                    .map(|at| &function[at])
                    .collect();
                let cycles = self::cycles(&rest, registers)?;
                Some(format!("{:>4} {cycles:>6.1}", rest.len()))
            });
        let source = body.iter().map(|it| &it.source).find(|it| !it.is_empty());
        let source = source.cloned().unwrap_or_default();
        let row = format!(
            "{source:<20} {registers:<9} {:>13} {products:>9} {cycles:>7.1} {:>15.2}  {}",
            body.len(),
            products as f64 / cycles,
            around.unwrap_or_default()
        );
        rows.push(((source, registers, products), cycles, row));
    }
    rows
}

/// Registers and how many products a turn has, counted by the instruction that every product needs
/// once; `None` for loops that multiply nothing.
fn work(body: &[&Instruction]) -> Option<(&'static str, usize)> {
    if body.iter().any(|it| it.is("call")) {
        return None;
    }
    let count = |names: &[&str]| {
        let named = |it: &&&Instruction| names.iter().any(|name| it.is(name));
        body.iter().filter(named).count()
    };
    let has = |register| body.iter().any(|it| it.text.contains(register));
    let (registers, lanes) = match (has("%zmm"), has("%ymm")) {
        (true, _) => ("zmm", 16),
        (_, true) => ("ymm", 8),
        _ => return None,
    };
    let aligned = count(&["vcvttps2dq", "vcvtps2dq"]);
    let (bytes, doubles) = (count(&["vpmaddubsw", "vpdpbusd"]), count(&["vfmadd"]));
    let singles = count(&["vmulps"]);
    let is_double = count(&["vfmadd132pd", "vfmadd213pd", "vfmadd231pd"]) == doubles;
    let products = match () {
        () if aligned > 0 => aligned * lanes,
        () if bytes > 0 => bytes * lanes * 4,
        () if doubles > 0 && is_double => doubles * lanes / 2,
        () => (doubles + singles) * lanes,
    };
    (products > 0).then_some((registers, products))
}

/// Cycles of one turn in the steady state, by llvm-mca.
fn cycles(body: &[&Instruction], registers: &str) -> Option<f64> {
    const TURNS: f64 = 200.0;
    let processor = if registers == "zmm" {
        "icelake-server"
    } else {
        "znver3"
    };
    let mut child = Command::new("llvm-mca")
        .args(["-mtriple=x86_64", &format!("-mcpu={processor}")])
        .arg(format!("-iterations={TURNS}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut text = String::new();
    for it in body {
        let is_idle = it.text.contains("nop") || it.is("data16") || it.is("ret");
        if !is_idle && !it.is("j") {
            text += &it.text;
            text.push('\n');
        }
    }
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let total = report
        .lines()
        .find_map(|line| line.strip_prefix("Total Cycles:"))?;
    Some(total.trim().parse::<f64>().ok()? / TURNS)
}
