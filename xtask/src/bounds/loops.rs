//! Loops of a function, and what they multiply.

use std::collections::HashMap;
use std::ops::Range;

use super::disassembly::{Instruction, Set};

/// A loop without loops within it, as places in its function.
pub(super) struct Loop {
    pub(super) body: Range<usize>,
    /// What the next loop around it has beside all its inner loops.
    pub(super) around: Option<Vec<usize>>,
}

/// The innermost loops.
pub(super) fn innermost(set: Set, function: &[Instruction]) -> Vec<Loop> {
    let places: HashMap<u64, usize> = function
        .iter()
        .enumerate()
        .map(|(at, it)| (it.address, at))
        .collect();
    let mut all: Vec<Range<usize>> = function
        .iter()
        .enumerate()
        .filter_map(|(end, it)| Some(*places.get(&it.back(set)?)?..end + 1))
        .collect();
    all.sort_by_key(|it| (it.len(), it.start));
    all.dedup();
    let holds = |outer: &Range<usize>, inner: &Range<usize>| {
        outer != inner && outer.start <= inner.start && inner.end <= outer.end
    };
    let mut found = Vec::new();
    for body in &all {
        if all.iter().any(|other| holds(body, other)) {
            continue;
        }
        // The shortest comes first.
        let outer = all.iter().find(|outer| holds(outer, body));
        let around = outer.map(|outer| {
            let inner: Vec<&Range<usize>> = all.iter().filter(|it| holds(outer, it)).collect();
            let is_outside = |at: &usize| !inner.iter().any(|it| it.contains(at));
            outer.clone().filter(is_outside).collect()
        });
        found.push(Loop {
            body: body.clone(),
            around,
        });
    }
    found
}

/// Kinds of registers, in the order of the tables.
pub(super) const REGISTERS: [&str; 3] = ["ymm", "zmm", "NEON"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Work {
    /// One of [`REGISTERS`].
    pub(super) registers: &'static str,
    /// Of a turn.
    pub(super) products: usize,
}

/// How many products an instruction stands for, if it is one that every product of its kind needs once.
struct Counted {
    /// How the name begins.
    name: &'static str,
    /// How the first operand ends, where that tells widths apart.
    operand: &'static str,
    /// Products of 128 bits.
    products: usize,
}

const fn counted(name: &'static str, operand: &'static str, products: usize) -> Counted {
    Counted {
        name,
        operand,
        products,
    }
}

/// Kinds of products, each by its instructions. The first kind that a loop has is the one that counts: a product that is
/// converted to an integer was multiplied before, and bytes' products are added in pairs by what multiplies 16-bit numbers.
const X86: [&[Counted]; 4] = [
    &[counted("vcvttps2dq", "", 4), counted("vcvtps2dq", "", 4)],
    &[counted("vpmaddubsw", "", 16), counted("vpdpbusd", "", 16)],
    &[counted("vpmaddwd", "", 8), counted("vpdpwssd", "", 8)],
    &[
        counted("vfmadd132pd", "", 2),
        counted("vfmadd213pd", "", 2),
        counted("vfmadd231pd", "", 2),
        counted("vfmadd132ps", "", 4),
        counted("vfmadd213ps", "", 4),
        counted("vfmadd231ps", "", 4),
        counted("vmulps", "", 4),
    ],
];

const AARCH64: [&[Counted]; 4] = [
    &[
        counted("fcvtzs", ".4s", 4),
        counted("fcvtns", ".4s", 4),
        counted("fcvtms", ".4s", 4),
        counted("fcvtps", ".4s", 4),
    ],
    // Bytes, widened.
    &[counted("mul", ".8h", 8)],
    &[
        counted("smull", ".4s", 4),
        counted("smull2", ".4s", 4),
        counted("smlal", ".4s", 4),
        counted("smlal2", ".4s", 4),
        counted("mul", ".4s", 4),
        counted("mla", ".4s", 4),
    ],
    &[
        counted("fmla", ".2d", 2),
        counted("fmla", ".4s", 4),
        counted("fmul", ".4s", 4),
    ],
];

/// Registers and products of a turn; `None` for loops that call something or multiply nothing.
pub(super) fn work(set: Set, body: &[&Instruction]) -> Option<Work> {
    if body.iter().any(|it| it.is_call(set)) {
        return None;
    }
    let has = |register| body.iter().any(|it| it.text.contains(register));
    let (registers, parts, kinds) = match set {
        Set::X86 if has("%zmm") => ("zmm", 4, &X86),
        Set::X86 if has("%ymm") => ("ymm", 2, &X86),
        Set::X86 => return None,
        Set::Aarch64 => ("NEON", 1, &AARCH64),
    };
    // Operands that are converted were multiplied twice. Conversions beside fewer multiplications are of results, and such a loop
    // multiplies no operands.
    let named = |names: &[&str]| body.iter().filter(|it| names.contains(&it.name())).count();
    let conversions = body.iter().filter(|it| products(it, kinds[0]) > 0).count();
    if named(&["vmulps", "fmul"]) < 2 * conversions {
        return None;
    }
    let products = kinds
        .iter()
        .map(|kind| body.iter().map(|it| products(it, kind)).sum::<usize>())
        .find(|&products| products > 0)?;
    Some(Work {
        registers,
        products: products * parts,
    })
}

fn products(instruction: &Instruction, kind: &[Counted]) -> usize {
    let mut words = instruction.text.split([' ', '\t', ',']);
    let (name, first) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let row = kind
        .iter()
        .find(|row| name == row.name && first.ends_with(row.operand));
    row.map_or(0, |row| row.products)
}
