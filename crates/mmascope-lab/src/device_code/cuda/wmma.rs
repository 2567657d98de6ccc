//! CUDA device code for `wmma`: the instructions load and store their own fragments.

use super::super::{DeviceCode, fill};
use super::{no_place, packed_bits};
use crate::isa::Instruction;

const TEXT: &str = include_str!("wmma.cu");

/// `{a0,…}`.
fn fragment(name: char, count: u32) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("{name}{i}")).collect();
    format!("{{{}}}", names.join(","))
}

/// What PTX calls a format.
fn ptx_name(name: &str) -> String {
    match name.strip_prefix("uint") {
        Some("1") => "b1".to_owned(),
        Some(bits) => format!("u{bits}"),
        None => match name.strip_prefix("int") {
            Some(bits) => format!("s{bits}"),
            None => name.to_owned(),
        },
    }
}

pub(super) fn kernel(row: &Instruction, rest: &str) -> Result<DeviceCode, String> {
    let signature = &row.signature;
    let (shape, types) = rest.split_once('.').unwrap_or((rest, ""));
    let [m, n] = [row.shapes[0].m[0], row.shapes[0].n[0]];
    // Registers of A and B, and the register's type.
    let (a, b, register) = match (signature.a.name, m) {
        ("f16", _) => (8, 8, "b32"),
        ("bf16", 8) => (2, 8, "b32"),
        ("bf16", 32) => (8, 2, "b32"),
        ("int8" | "uint8", 16) => (2, 2, "b32"),
        ("int8" | "uint8", 8) => (1, 4, "b32"),
        ("int8" | "uint8", 32) => (4, 1, "b32"),
        ("int4" | "uint4" | "uint1", 8) => (1, 1, "b32"),
        ("bf16" | "tf32", 16) => (4, 4, "b32"),
        ("f64", 8) => (1, 1, "f64"),
        _ => return Err(no_place(row)),
    };
    let sums = |name: &str| match name {
        "f16" => Some((4, "b32", "unsigned short")),
        "f32" => Some((8, "f32", "unsigned")),
        "f64" => Some((2, "f64", "word")),
        // Of a tile of 8 rows and columns a lane holds two.
        "int32" if m == 8 && n == 8 => Some((2, "b32", "unsigned")),
        "int32" => Some((8, "b32", "unsigned")),
        _ => None,
    };
    let (c, d) = (sums(signature.c.name), sums(signature.d.container().name));
    let (Some((rc, c_register, c_element)), Some((rd, d_register, d_element))) = (c, d) else {
        return Err(no_place(row));
    };
    let element = match signature.a.name {
        "f64" => "word",
        "tf32" => "unsigned",
        "f16" | "bf16" => "unsigned short",
        _ => "unsigned char",
    };
    let bits = packed_bits(signature.a.name).ok_or_else(|| no_place(row))?;
    let pairs = ["xor", "and"].map(|pair| (pair, format!(".{pair}.popc")));
    let pair = pairs.iter().find(|(_, end)| types.ends_with(end));
    let (operation, types) = match pair {
        // Of single bits the pair's operation stands before the layouts.
        Some((pair, end)) => (
            format!(".{pair}.popc"),
            types.strip_suffix(end.as_str()).unwrap_or(types),
        ),
        None => (String::new(), types),
    };
    // With f16 the operands' types are understood.
    let types = match signature.a.name {
        "f16" => format!(".{}.{}", signature.d.name, signature.c.name),
        _ => format!(".{types}"),
    };
    let body = fill(
        TEXT,
        &[
            ("OPERATION", operation),
            ("BITS", bits.to_string()),
            ("ELEMENT", element.to_owned()),
            ("C_ELEMENT", c_element.to_owned()),
            ("D_ELEMENT", d_element.to_owned()),
            ("FRAGMENT", format!(".{register}")),
            ("C_FRAGMENT", format!(".{c_register}")),
            ("D_FRAGMENT", format!(".{d_register}")),
            ("SHAPE", shape.to_owned()),
            ("TYPES", types),
            ("A", ptx_name(signature.a.name)),
            ("B", ptx_name(signature.b.name)),
            ("C", ptx_name(signature.c.name)),
            ("D", ptx_name(signature.d.name)),
            ("LIST_A", fragment('a', a)),
            ("LIST_B", fragment('b', b)),
            ("LIST_C", fragment('c', rc)),
            ("LIST_D", fragment('d', rd)),
        ],
    );
    Ok(DeviceCode {
        signature: *signature,
        lanes: 32,
        ctas: 1,
        tile: [m, n, 1],
        is_own: false,
        head: String::new(),
        body,
    })
}
