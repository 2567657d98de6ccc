//! `cargo xtask bounds [neon | PROGRAM]`: what the ports of processors allow the kernels' inner loops, by llvm-mca.
//!
//! The loops are cut out of the disassembly of the release program: a loop goes from the target of a
//! backward jump to the jump. Innermost loops with vector arithmetic and without calls are measured, and
//! what the loop around each of them has beside its inner loops.

mod disassembly;
mod loops;
mod processors;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::process::Command;

use disassembly::{Instruction, Set};
use processors::Mca;

/// A table for each kind of registers; false when a tool is missing or no loop is found.
pub(crate) fn bounds(program: &str) -> bool {
    match tables(program) {
        Ok(()) => true,
        Err(message) => {
            eprintln!("{message}");
            false
        }
    }
}

/// An innermost loop, what it multiplies, and what the loop around it has beside its inner loops.
struct Found<'a> {
    body: Vec<&'a Instruction>,
    work: loops::Work,
    around: Option<Vec<&'a Instruction>>,
}

/// A row of a table: one loop, or several copies of it.
struct Row {
    products: usize,
    instructions: usize,
    /// Instructions of the loop around it that belong to no inner loop.
    around: Option<usize>,
    /// By processor.
    cycles: Vec<Cycles>,
    copies: usize,
}

/// Of a turn in the steady state, and for which what stands around the loop keeps pipes busy; `None` where llvm-mca gives
/// no number.
#[derive(Clone, Copy)]
struct Cycles {
    turn: Option<f64>,
    around: Option<f64>,
}

fn tables(program: &str) -> Result<(), String> {
    let mca = Mca::find()?;
    let (set, functions) = disassembly::read(program)?;
    let mut found = Vec::new();
    for function in &functions {
        for cut in loops::innermost(set, function) {
            let body = function[cut.body.clone()].iter().collect::<Vec<_>>();
            if let Some(work) = loops::work(set, &body) {
                let around = cut.around.map(|rest| {
                    let rest = rest.into_iter().map(|at| &function[at]);
                    rest.collect::<Vec<_>>()
                });
                found.push(Found { body, work, around });
            }
        }
    }
    let bodies = found.iter().map(|it| it.body.as_slice());
    let names = sources::names(program, bodies)?;

    let mut copies = BTreeMap::<_, Vec<&Found>>::new();
    for (it, name) in found.iter().zip(names) {
        // Loops of no kernel: packing, and what the compiler made of copies.
        if let Some(name) = name {
            let key = (it.work.registers, name, it.work.products);
            copies.entry(key).or_default().push(it);
        }
    }
    let rows: BTreeMap<_, Row> = copies
        .into_iter()
        .filter_map(|(key, copies)| Some((key, row(&mca, set, &copies)?)))
        .collect();
    if rows.is_empty() {
        return Err(format!(
            "{program} has no loops of kernels with source lines"
        ));
    }
    println!("{}", mca.version);
    for registers in loops::REGISTERS {
        let mut of_these = rows
            .iter()
            .filter(|((of, ..), _)| *of == registers)
            .peekable();
        if of_these.peek().is_some() {
            print!("{}", head(&mca, set, registers));
            for ((_, name, _), row) in of_these {
                println!("{}", line(name, row));
            }
        }
    }
    Ok(())
}

/// The compiler makes a loop several times, for each way to finish: shown is the slowest of equals.
fn row(mca: &Mca, set: Set, copies: &[&Found]) -> Option<Row> {
    let first = copies.first()?;
    let processors = processors::of(first.work.registers);
    let turn = |it: &Found| {
        let mut known = processors
            .iter()
            .filter_map(|on| mca.cycles(set, on, &it.body));
        known.next().unwrap_or(0.0)
    };
    let slowest = match copies {
        [alone] => *alone,
        _ => {
            let timed = copies.iter().map(|it| (turn(it), *it));
            timed.max_by(|one, other| one.0.total_cmp(&other.0))?.1
        }
    };
    let around = slowest.around.as_deref();
    let cycles = processors.iter().map(|on| Cycles {
        turn: mca.cycles(set, on, &slowest.body),
        around: around.and_then(|around| mca.busy(set, on, around)),
    });
    Some(Row {
        products: slowest.work.products,
        instructions: slowest.body.len(),
        around: around.map(<[_]>::len),
        cycles: cycles.collect(),
        copies: copies.len(),
    })
}

/// What stands above a table: registers, the schedules that the processors' names stand for, titles.
fn head(mca: &Mca, set: Set, registers: &str) -> String {
    let processors = processors::of(registers);
    let schedules: Vec<String> = processors
        .iter()
        .map(|processor| match mca.schedule(set, processor) {
            Some(schedule) => format!("{} by {schedule}", processor.title),
            None => format!("{}: not known", processor.title),
        })
        .collect();
    let titles: String = processors
        .iter()
        .map(|processor| format!(" {} |", processor.title))
        .collect();
    format!(
        "\n{registers}; schedules: {}\nof each processor: products a cycle (cycles of a turn; pipes busy with what stands around it)\n\n\
         | loop | copies | instructions; around it | products |{titles}\n|---|---|---|---|{}\n",
        schedules.join(", "),
        "---|".repeat(processors.len())
    )
}

fn line(name: &str, row: &Row) -> String {
    let around = match row.around {
        Some(around) => format!("; {around}"),
        None => String::new(),
    };
    let mut text = format!(
        "| {name} | {} | {}{around} | {} |",
        row.copies, row.instructions, row.products
    );
    for cycles in &row.cycles {
        text += &match (cycles.turn, cycles.around) {
            (None, _) => " – |".to_owned(),
            (Some(turn), around) => {
                let speed = row.products as f64 / turn;
                let around = match (row.around, around) {
                    (None, _) => String::new(),
                    (Some(_), None) => "; –".to_owned(),
                    (Some(_), Some(around)) => format!("; {around:.1}"),
                };
                format!(" {speed:.2} ({turn:.1}{around}) |")
            }
        };
    }
    text
}

/// The first of these names that can be run: LLVM's tools of version 22 where they are, else those without a number.
fn llvm_tool(name: &str) -> Result<String, String> {
    let names = [format!("{name}-22"), name.to_owned()];
    let is_there = |name: &String| {
        let output = Command::new(name).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    let found = names.into_iter().find(is_there);
    found.ok_or_else(|| format!("{name} does not run here: LLVM's tools are needed"))
}
