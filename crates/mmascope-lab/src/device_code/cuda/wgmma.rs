//! CUDA device code for `wgmma`: four warps, B in shared memory, A there or in registers.

use super::super::{DeviceCode, OperandSource, fill, list, operands};
use super::{SHARED, no_place, packed_bits};
use crate::isa::Instruction;

const TEXT: &str = include_str!("wgmma.cu");
const IN_SHARED: &str = include_str!("wgmma_shared.cu");
const IN_REGISTERS: &str = include_str!("wgmma_registers.cu");

pub(super) fn kernel(
    row: &Instruction,
    rest: &str,
    source: OperandSource,
) -> Result<DeviceCode, String> {
    let (shape, types) = rest.split_once('.').unwrap_or((rest, ""));
    let signature = &row.signature;
    let bits = packed_bits(signature.a.name)
        .map(|bits| bits as usize)
        .filter(|_| packed_bits(signature.a.name) == packed_bits(signature.b.name));
    let Some(bits) = bits.filter(|bits| signature.k * bits == 256 && shape.starts_with("m64n8k"))
    else {
        return Err(no_place(row));
    };
    let wide = signature.d.container().bits == 32;
    let is_integer = signature.a.float().is_none();
    let (registers, constraint, declared, from, into) = match (is_integer, wide) {
        (true, _) => (4, "+r", "unsigned", "(unsigned)", "(word)"),
        (false, true) => (4, "+f", "float", "__uint_as_float", "__float_as_uint"),
        (false, false) => (2, "+r", "unsigned", "(unsigned)", "(word)"),
    };
    let in_registers = source == OperandSource::Registers;
    // A's four registers stand in the place of its descriptor.
    let (own, at_b) = match in_registers {
        true => (list(registers, 4), registers + 4),
        false => (format!("%{registers}"), registers + 1),
    };
    // Signs are changed in floats only, and only operands of 16 bits may lie the other way.
    let more = match (is_integer, bits, in_registers) {
        (true, ..) => "",
        (false, 16, true) => ", 1, 1, 0",
        (false, 16, false) => ", 1, 1, 0, 0",
        _ => ", 1, 1",
    };
    let text = format!(
        "wgmma.mma_async.sync.aligned.{shape}.{types} {}, {own}, %{at_b}, 1{more};",
        list(0, registers),
    );
    let (place_a, given_a) = match in_registers {
        true => (IN_REGISTERS, operands("r", "own", 4)),
        false => (IN_SHARED, "\"l\"(to_a)".to_owned()),
    };
    let body = fill(
        TEXT,
        &[
            ("PLACE_A", place_a.to_owned()),
            ("GIVEN_A", given_a),
            ("TEXT", text),
            ("OUTS", operands(constraint, "z", registers)),
            ("REGISTERS", registers.to_string()),
            ("TYPE", declared.to_owned()),
            ("FROM", from.to_owned()),
            ("INTO", into.to_owned()),
            ("BITS", bits.to_string()),
        ],
    );
    Ok(DeviceCode {
        signature: *signature,
        lanes: 128,
        ctas: 1,
        tile: [64, 8, 1],
        is_own: true,
        head: fill(SHARED, &[("PER", (128 / bits).to_string())]),
        body,
    })
}
