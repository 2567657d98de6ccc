//! HIP device code for MFMA: operands in vector registers, one block or several.

use super::{DeviceCode, fill};
use crate::isa::Instruction;

const TEXT: &str = include_str!("hip/mfma.hip");

pub(super) fn code(row: &Instruction) -> Result<DeviceCode, String> {
    let Some(rest) = row.name.strip_prefix("v_mfma_") else {
        return Err("it is no v_mfma_ instruction of AMD".to_owned());
    };
    mfma(row, rest).ok_or_else(|| {
        let signature = &row.signature;
        format!(
            "the compiler's function for {} x {} with {} products is not written down here",
            signature.a, signature.b, signature.k
        )
    })
}

fn mfma(row: &Instruction, rest: &str) -> Option<DeviceCode> {
    let (result, rest) = rest.split_once('_')?;
    let (_, types) = rest.split_once('_')?;
    let (shape, k) = (&row.shapes[0], u32::try_from(row.signature.k).ok()?);
    let (m, n, blocks) = (shape.m[0], shape.n[0], shape.blocks);
    // A function of the compiler has no count of blocks in its name.
    let types = types.strip_prefix(&format!("{blocks}b_")).unwrap_or(types);
    let (each, sums) = (m * k * blocks / 64, m * n * blocks / 64);
    if m != n || each == 0 || !(m * k * blocks).is_multiple_of(64) {
        return None;
    }
    let size = format!("{m}x{n}x{k}");
    let (element, operand, name) = match (types, each) {
        ("f16", _) => ("unsigned short", vector("_Float16", each), "f16".to_owned()),
        // Four of a lane have the later form, whatever the row is called.
        ("bf16" | "bf16_1k", 4) => (
            "unsigned short",
            vector("short", each),
            "bf16_1k".to_owned(),
        ),
        ("bf16", 2) => ("unsigned short", vector("short", each), "bf16".to_owned()),
        ("f32", 1) => ("unsigned", "float".to_owned(), "f32".to_owned()),
        ("xf32", _) => ("unsigned", vector("float", each), "_xf32".to_owned()),
        ("f64", 1) => ("word", "double".to_owned(), "f64".to_owned()),
        ("fp8_fp8" | "fp8_bf8" | "bf8_fp8" | "bf8_bf8", 8) => {
            ("unsigned char", "long".to_owned(), format!("_{types}"))
        }
        _ => return None,
    };
    let is_double = result == "f64";
    let scalar = if is_double { "double" } else { "float" };
    let sums_type = if sums == 1 {
        scalar.to_owned()
    } else {
        vector(scalar, sums)
    };
    // Sums of 64 bits go round the rows of four lanes, those of 32 bits four by four.
    let row_of = match (is_double, blocks) {
        (true, 1) => "4 * r + lane / N",
        (true, _) => "lane / (N * BLOCKS)",
        (false, 1) => "r / 4 * 4 * (64 / N) + lane / N * 4 + r % 4",
        (false, _) if n == 4 => "r",
        (false, _) => "r % EACH_BLOCK / 4 * 4 * (64 / N) + lane / N * 4 + r % 4",
    };
    let block_of = match (is_double, blocks) {
        (_, 1) => "0",
        (true, _) => "lane / N % BLOCKS",
        (false, _) if n == 4 => "lane / N",
        (false, _) => "r / EACH_BLOCK",
    };
    let body = fill(
        TEXT,
        &[
            ("OPERAND", operand),
            ("SUMS_TYPE", sums_type),
            ("ELEMENT", element.to_owned()),
            (
                "RESULT",
                if is_double { "word" } else { "unsigned" }.to_owned(),
            ),
            (
                "CALL",
                format!("__builtin_amdgcn_mfma_{result}_{size}{name}"),
            ),
            ("EACH", each.to_string()),
            ("SUMS", sums.to_string()),
            ("ROW", row_of.to_owned()),
            ("BLOCK", block_of.to_owned()),
        ],
    );
    Some(DeviceCode {
        signature: row.signature,
        lanes: 64,
        ctas: 1,
        tile: [m, n, blocks],
        is_own: false,
        head: String::new(),
        body,
    })
}

/// A vector type of clang.
fn vector(element: &str, count: u32) -> String {
    format!("{element} __attribute__((ext_vector_type({count})))")
}
