//! CUDA device code: `mma.sync` and `wmma` of one warp, `wgmma` of four, `tcgen05.mma` with tensor memory, `dp4a` and
//! `dp2a` of single threads.

mod lane;
mod mma;
mod tcgen05;
mod wgmma;
mod wmma;

use super::{DeviceCode, OperandSource};
use crate::isa::Instruction;

/// Operands in shared memory and their descriptors.
const SHARED: &str = include_str!("cuda/shared.cu");

pub(super) fn code(row: &Instruction, source: OperandSource) -> Result<DeviceCode, String> {
    // The part behind an @ names the compiler, not the instruction.
    let name = row.name.split('@').next().unwrap_or_default();
    let (family, rest) = name.split_once('.').unwrap_or((name, ""));
    if rest.starts_with("sp") || rest.contains(".sp.") {
        return Err("operands with two of four elements left out have no vectors".to_owned());
    }
    if source == OperandSource::Registers && family != "wgmma" {
        return Err("only wgmma may take A from elsewhere".to_owned());
    }
    match family {
        "mma" => mma::kernel(row, rest),
        "wmma" => wmma::kernel(row, rest),
        "wgmma" => wgmma::kernel(row, rest, source),
        "tcgen05" => tcgen05::kernel(row, rest),
        "dp4a" | "dp2a" => lane::kernel(row, name).ok_or_else(|| no_place(row)),
        _ => Err("it is no mma, wmma, wgmma, tcgen05, dp4a or dp2a instruction of PTX".to_owned()),
    }
}

/// The bits of an operand that lies packed, without gaps: floats from 16 bits on, fp8, integers.
fn packed_bits(name: &str) -> Option<u32> {
    match name {
        "f64" => Some(64),
        "tf32" => Some(32),
        "f16" | "bf16" => Some(16),
        "e4m3fn" | "e5m2" | "int8" | "uint8" => Some(8),
        "e2m1fn" | "int4" | "uint4" => Some(4),
        "uint1" => Some(1),
        _ => None,
    }
}

/// The refusal for a format that has no place in a register or in shared memory.
fn no_place(row: &Instruction) -> String {
    let signature = &row.signature;
    format!(
        "where {} and {} with {} products lie is not written down here",
        signature.a, signature.b, signature.k
    )
}
