//! CUDA device code for `dp4a` and `dp2a`: every thread has a dot product of its own.

use super::super::{DeviceCode, fill};
use crate::isa::Instruction;

const TEXT: &str = include_str!("lane.cu");

pub(super) fn kernel(row: &Instruction, name: &str) -> Option<DeviceCode> {
    let signature = &row.signature;
    let (bits_a, bits_b) = (signature.a.bits, signature.b.bits);
    if signature.k as u32 * bits_a != 32 {
        return None;
    }
    let body = fill(
        TEXT,
        &[
            ("TEXT", format!("{name} %0, %1, %2, %3;")),
            ("BITS_A", bits_a.to_string()),
            ("BITS_B", bits_b.to_string()),
        ],
    );
    Some(DeviceCode {
        signature: *signature,
        lanes: 32,
        ctas: 1,
        tile: [1, 1, 32],
        is_own: false,
        head: String::new(),
        body,
    })
}
