//! CUDA device code: `mma.sync` and `wmma` of one warp, `wgmma` of four, `tcgen05.mma` with tensor memory.

mod mma;
mod tcgen05;
mod wgmma;
mod wmma;

use super::Kernel;
use crate::isa::Instruction;

/// Operands in shared memory and their descriptors.
const SHARED: &str = include_str!("cuda/shared.cu");

pub(super) fn kernel(row: &Instruction) -> Result<Kernel, String> {
    // The part behind an @ names the compiler, not the instruction.
    let name = row.name.split('@').next().unwrap_or_default();
    let (family, rest) = name.split_once('.').unwrap_or((name, ""));
    if rest.starts_with("sp") || rest.contains(".sp.") {
        return Err("operands with two of four elements left out have no vectors".to_owned());
    }
    match family {
        "mma" => mma::kernel(row, rest),
        "wmma" => wmma::kernel(row, rest),
        "wgmma" => wgmma::kernel(row, rest),
        "tcgen05" => tcgen05::kernel(row, rest),
        _ => Err("it is no mma, wmma, wgmma or tcgen05 instruction of PTX".to_owned()),
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
