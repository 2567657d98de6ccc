//! CUDA device code for `wgmma`: four warps, both operands in shared memory.

use super::super::{Kernel, fill, list, operands};
use super::{SHARED, no_place};
use crate::isa::Instruction;

const TEXT: &str = include_str!("wgmma.cu");

pub(super) fn kernel(row: &Instruction, rest: &str) -> Result<Kernel, String> {
    let (shape, types) = rest.split_once('.').unwrap_or((rest, ""));
    let signature = &row.signature;
    let bits = |name: &str| match name {
        "e4m3fn" | "e5m2" => Some(8),
        "f16" | "bf16" => Some(16),
        "tf32" => Some(32),
        _ => None,
    };
    let bits = bits(signature.a.name).filter(|width| bits(signature.b.name) == Some(*width));
    let Some(bits) = bits.filter(|bits| signature.k * bits == 256 && shape.starts_with("m64n8k"))
    else {
        return Err(no_place(row));
    };
    let wide = signature.d.container().bits == 32;
    let (registers, constraint, declared, from, into) = if wide {
        (4, "+f", "float", "__uint_as_float", "__float_as_uint")
    } else {
        (2, "+r", "unsigned", "(unsigned)", "(word)")
    };
    // Only operands of 16 bits may lie the other way.
    let major = if bits == 16 { ", 0, 0" } else { "" };
    let text = format!(
        "wgmma.mma_async.sync.aligned.{shape}.{types} {}, %{registers}, %{}, 1, 1, 1{major};",
        list(0, registers),
        registers + 1
    );
    let body = fill(
        TEXT,
        &[
            ("TEXT", text),
            ("OUTS", operands(constraint, "z", registers)),
            ("REGISTERS", registers.to_string()),
            ("TYPE", declared.to_owned()),
            ("FROM", from.to_owned()),
            ("INTO", into.to_owned()),
            ("BITS", bits.to_string()),
        ],
    );
    Ok(Kernel {
        lanes: 128,
        ctas: 1,
        tile: [64, 8, 1],
        is_own: true,
        head: fill(SHARED, &[("PER", (128 / bits).to_string())]),
        body,
    })
}
