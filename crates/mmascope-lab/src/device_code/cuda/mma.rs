//! CUDA device code for `mma.sync`: operands in registers, with kinds and block scales.

use super::super::{DeviceCode, fill, list, operands};
use super::{no_place, packed_bits};
use crate::isa::Instruction;

const ROWS: &str = include_str!("mma.cu");
const QUADS: &str = include_str!("quads.cu");

/// Bits that an operand has in a register, and how far its code is shifted there.
fn place(name: &str, in_bytes: bool) -> Option<(u32, u32)> {
    match name {
        // Four bits in the middle of a byte, six at its low end.
        "e2m1fn" if in_bytes => Some((8, 2)),
        "e3m2fn" | "e2m3fn" if in_bytes => Some((8, 0)),
        _ => packed_bits(name).map(|bits| (bits, 0)),
    }
}

/// Splits off the words between the layouts and the types: those of kinds and block scales. Returns them and the types.
fn words(types: &str) -> Option<(String, &str)> {
    let Some(rest) = types.strip_prefix("kind::") else {
        return Some((String::new(), types));
    };
    let (kind, rest) = rest.split_once('.')?;
    let count = match (kind, rest.split_once('.')) {
        ("f8f6f4", _) => return Some((format!(".kind::{kind}"), rest)),
        ("mxf8f6f4", Some(("block32", _))) => "1X",
        ("mxf4" | "mxf4nvf4", Some(("block32", _))) => "2X",
        ("mxf4nvf4", Some(("block16", _))) => "4X",
        _ => return None,
    };
    let (_, types) = rest.split_once('.')?;
    Some((
        format!(".kind::{kind}.block_scale.scale_vec::{count}"),
        types,
    ))
}

pub(super) fn kernel(row: &Instruction, rest: &str) -> Result<DeviceCode, String> {
    let (shape, types) = rest.split_once('.').unwrap_or((rest, ""));
    let is_half = row.signature.a.name == "f16";
    match shape {
        "m8n8k4" if is_half => Ok(quads(row, shape, types)),
        _ if shape.starts_with("m16n8k") || shape.starts_with("m8n8k") => {
            rows(row, shape, types).ok_or_else(|| no_place(row))
        }
        _ => Err(format!(
            "the registers of {shape} are not written down here"
        )),
    }
}

/// Four products of eight lanes each.
fn quads(row: &Instruction, shape: &str, types: &str) -> DeviceCode {
    let count = |bits: u32| if bits == 32 { 8 } else { 4 };
    let (rc, rd) = (count(row.signature.c.bits), count(row.signature.d.bits));
    let text = format!(
        "mma.sync.aligned.{shape}.row.col.{types} {}, {}, {}, {};",
        list(0, rd),
        list(rd, 2),
        list(rd + 2, 2),
        list(rd + 4, rc)
    );
    let ins = [
        operands("r", "x", 2),
        operands("r", "y", 2),
        operands("r", "z", rc),
    ]
    .join(", ");
    let body = fill(
        QUADS,
        &[
            ("TEXT", text),
            ("OUTS", operands("=r", "w", rd)),
            ("INS", ins),
            ("RC", rc.to_string()),
            ("RD", rd.to_string()),
        ],
    );
    DeviceCode {
        signature: row.signature,
        lanes: 32,
        ctas: 1,
        tile: [8, 8, 4],
        is_own: false,
        head: String::new(),
        body,
    }
}

/// One product of the warp.
fn rows(row: &Instruction, shape: &str, types: &str) -> Option<DeviceCode> {
    let (kind, types) = words(types)?;
    let signature = &row.signature;
    let in_bytes = kind.contains("f8f6f4");
    let (bits, shift_a) = place(signature.a.name, in_bytes)?;
    let (bits_b, shift_b) = place(signature.b.name, in_bytes)?;
    let (is_double, tall) = (bits == 64, if shape.starts_with("m16") { 2 } else { 1 });
    let each = if is_double { 1 } else { 32 / bits as usize };
    // Registers of B: four lanes with `each` k, again and again; of A the same for every eight rows.
    let rb = signature.k / (4 * each);
    let packed = |bits: u32| if bits == 16 { tall } else { 2 * tall };
    let (ra, rc, rd) = (
        rb * tall,
        packed(signature.c.bits),
        packed(signature.d.container().bits),
    );
    if bits_b != bits || rb == 0 || !signature.k.is_multiple_of(4 * each) {
        return None;
    }
    let register = if is_double { "d" } else { "r" };
    let (dl, al, bl) = (list(0, rd), list(rd, ra), list(rd + ra, rb));
    let cl = list(rd + ra + rb, rc);
    let mut ins = [("x", ra), ("y", rb), ("z", rc)]
        .map(|(name, count)| operands(register, name, count))
        .join(", ");
    let (mut scale, mut factors) = (String::new(), String::new());
    if signature.scale.is_some() {
        scale = "  // Even lanes hold the scales of row g, odd ones of row g + 8, all those of column g.\n\
                 \x20 unsigned sa = 0, sb = 0;\n\
                 \x20 for (int block = 0; block < 4; block++) {\n\
                 \x20   sa |= (unsigned)a[(g + q % 2 * 8) * WIDE + K + block % SCALES] << (8 * block);\n\
                 \x20   sb |= (unsigned)b[g * WIDE + K + block % SCALES] << (8 * block);\n\
                 \x20 }\n"
            .to_owned();
        ins += ", \"r\"(sa), \"r\"(sb)";
        let at = rd + ra + rb + rc;
        factors = format!(", {}, {{0,0}}, {}, {{0,0}}", list(at, 1), list(at + 1, 1));
    }
    let (declared, from, into) = if is_double {
        ("double", "__longlong_as_double", "__double_as_longlong")
    } else {
        ("unsigned", "(unsigned)", "(word)")
    };
    let text =
        format!("mma.sync.aligned.{shape}.row.col{kind}.{types} {dl}, {al}, {bl}, {cl}{factors};");
    let body = fill(
        ROWS,
        &[
            ("TEXT", text),
            ("OUTS", operands(&format!("={register}"), "w", rd)),
            ("INS", ins),
            ("SCALE", scale),
            ("TYPE", declared.to_owned()),
            ("FROM", from.to_owned()),
            ("INTO", into.to_owned()),
            ("EACH", each.to_string()),
            ("BITS", bits.to_string()),
            ("SHIFT_A", shift_a.to_string()),
            ("SHIFT_B", shift_b.to_string()),
            ("RA", ra.to_string()),
            ("RB", rb.to_string()),
            ("RC", rc.to_string()),
            ("RD", rd.to_string()),
        ],
    );
    Some(DeviceCode {
        signature: row.signature,
        lanes: 32,
        ctas: 1,
        tile: [8 * u32::try_from(tall).ok()?, 8, 1],
        is_own: !kind.is_empty(),
        head: String::new(),
        body,
    })
}
