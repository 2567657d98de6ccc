//! CUDA device code for `wmma`: the instructions load and store their own fragments.

use super::super::{Kernel, fill};
use super::no_place;
use crate::isa::Instruction;

const TEXT: &str = include_str!("wmma.cu");

/// `{a0,…}`.
fn fragment(name: char, count: u32) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("{name}{i}")).collect();
    format!("{{{}}}", names.join(","))
}

pub(super) fn kernel(row: &Instruction, rest: &str) -> Result<Kernel, String> {
    let signature = &row.signature;
    let (shape, types) = rest.split_once('.').unwrap_or((rest, ""));
    let [m, n] = [row.shapes[0].m[0], row.shapes[0].n[0]];
    // Registers of A and B, and the register's type.
    let (a, b, register) = match (signature.a.name, m) {
        ("f16", _) => (8, 8, "b32"),
        ("bf16", 8) => (2, 8, "b32"),
        ("bf16", 32) => (8, 2, "b32"),
        ("bf16" | "tf32", 16) => (4, 4, "b32"),
        ("f64", 8) => (1, 1, "f64"),
        _ => return Err(no_place(row)),
    };
    let sums = |name: &str| match name {
        "f16" => Some((4, "b32", "unsigned short")),
        "f32" => Some((8, "f32", "unsigned")),
        "f64" => Some((2, "f64", "word")),
        _ => None,
    };
    let (c, d) = (sums(signature.c.name), sums(signature.d.container().name));
    let (Some((rc, c_register, c_element)), Some((rd, d_register, d_element))) = (c, d) else {
        return Err(no_place(row));
    };
    let element = match signature.a.name {
        "f64" => "word",
        "tf32" => "unsigned",
        _ => "unsigned short",
    };
    // With f16 the operands' types are understood.
    let types = match signature.a.name {
        "f16" => format!(".{}.{}", signature.d.name, signature.c.name),
        _ => format!(".{types}"),
    };
    let body = fill(
        TEXT,
        &[
            ("ELEMENT", element.to_owned()),
            ("C_ELEMENT", c_element.to_owned()),
            ("D_ELEMENT", d_element.to_owned()),
            ("FRAGMENT", format!(".{register}")),
            ("C_FRAGMENT", format!(".{c_register}")),
            ("D_FRAGMENT", format!(".{d_register}")),
            ("SHAPE", shape.to_owned()),
            ("TYPES", types),
            ("A", signature.a.name.to_owned()),
            ("C", signature.c.name.to_owned()),
            ("D", signature.d.name.to_owned()),
            ("LIST_A", fragment('a', a)),
            ("LIST_B", fragment('b', b)),
            ("LIST_C", fragment('c', rc)),
            ("LIST_D", fragment('d', rd)),
        ],
    );
    Ok(Kernel {
        lanes: 32,
        ctas: 1,
        tile: [m, n, 1],
        is_own: false,
        head: String::new(),
        body,
    })
}
