//! CUDA device code for `tcgen05.mma`: operands in shared memory, sums and scales in tensor memory; one thread block or a pair.

use super::super::{DeviceCode, fill};
use super::{SHARED, no_place};
use crate::isa::Instruction;

const TEXT: &str = include_str!("tcgen05.cu");
const SCALES: &str = include_str!("tcgen05_scales.cu");

/// How an operand lies and what the instruction descriptor calls it.
struct Operand {
    /// Bits of a code.
    bits: u32,
    /// Elements in 16 bytes.
    per: u32,
    /// Its number in the descriptor.
    number: u32,
}

fn operand(kind: &str, name: &str) -> Option<Operand> {
    let (bits, per, number) = match (kind, name) {
        ("f16", "f16") => (16, 8, 0),
        ("f16", "bf16") => (16, 8, 1),
        ("tf32", "tf32") => (32, 4, 2),
        // Sixteen elements take 16 bytes, whatever their width.
        ("f8f6f4" | "mxf8f6f4", "e4m3fn") => (8, 16, 0),
        ("f8f6f4" | "mxf8f6f4", "e5m2") => (8, 16, 1),
        ("f8f6f4" | "mxf8f6f4", "e2m3fn") => (6, 16, 3),
        ("f8f6f4" | "mxf8f6f4", "e3m2fn") => (6, 16, 4),
        ("f8f6f4" | "mxf8f6f4", "e2m1fn") => (4, 16, 5),
        ("mxf4" | "mxf4nvf4", "e2m1fn") => (4, 32, 1),
        ("i8", "uint8") => (8, 16, 0),
        ("i8", "int8") => (8, 16, 1),
        _ => return None,
    };
    Some(Operand { bits, per, number })
}

pub(super) fn kernel(row: &Instruction, rest: &str) -> Result<DeviceCode, String> {
    dense(row, rest).ok_or_else(|| no_place(row))
}

fn dense(row: &Instruction, rest: &str) -> Option<DeviceCode> {
    let signature = &row.signature;
    let rest = rest.strip_prefix("mma.")?;
    let (form, rest) = match rest.strip_prefix("ws.") {
        Some(rest) => (".ws", rest),
        None => ("", rest),
    };
    let (ctas, rest) = match rest.strip_prefix("cta_group::2.") {
        Some(rest) => (2, rest),
        None => (1, rest),
    };
    let (kind, types) = rest.split_once("kind::")?.1.split_once('.')?;
    let (a, b) = (
        operand(kind, signature.a.name)?,
        operand(kind, signature.b.name)?,
    );
    if signature.k as u32 != 2 * a.per || a.per != b.per {
        return None;
    }
    // 128 rows for a thread block. The smallest number of columns that every kind takes with them.
    let shape = &row.shapes[0];
    let m = *shape.m.iter().find(|&&m| m == 128 * ctas)?;
    let n = *shape.n.iter().filter(|&&n| n % (16 * ctas) == 0).min()?;
    let wide = signature.d.container().bits == 32;
    let (mut descriptor, mut names) = (
        vec![
            (a.number << 7, "A"),
            (b.number << 10, "B"),
            (n >> 3 << 17, "N / 8"),
            (m >> 4 << 24, "M / 16"),
        ],
        format!(".kind::{kind}"),
    );
    let (mut scale, mut factors) = ("", "");
    if let Some(given) = &signature.scale {
        let count = match (kind, signature.k / given.block) {
            ("mxf8f6f4", 1) => 1,
            ("mxf4" | "mxf4nvf4", 2) => 2,
            ("mxf4nvf4", 4) => 4,
            _ => return None,
        };
        names += &format!(".block_scale.scale_vec::{count}X");
        descriptor.push((
            u32::from(given.format.name == "ue8m0") << 23,
            "scales are powers of two",
        ));
        (scale, factors) = (SCALES, ", [%4], [%5]");
    } else if kind == "i8" {
        descriptor.insert(0, (2 << 4, "D is s32"));
        if types.starts_with("satfinite") {
            descriptor.insert(1, (1 << 3, "sums saturate"));
        }
    } else {
        descriptor.insert(0, (u32::from(wide) << 4, "D is f32"));
    }
    let text = format!("tcgen05.mma{form}.cta_group::{ctas}{names} [%0], %1, %2, %3{factors}, p;");
    let (meet, cluster, commit) = if ctas == 1 {
        ("  __syncthreads();", "", ".b64 [%0];")
    } else {
        (
            "  asm volatile(\"barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;\" ::: \"memory\");",
            "__cluster_dims__(CTAS, 1, 1) ",
            ".multicast::cluster.b64 [%0], %1;",
        )
    };
    let said: Vec<&str> = descriptor.iter().map(|(_, what)| *what).collect();
    let sum: Vec<String> = descriptor
        .iter()
        .map(|(bits, _)| format!("0x{bits:x}u"))
        .collect();
    let body = fill(
        TEXT,
        &[
            ("SCALE", scale.to_owned()),
            ("TEXT", text),
            ("MEET", meet.to_owned()),
            ("CLUSTER", cluster.to_owned()),
            ("COMMIT", commit.to_owned()),
            ("CTAS", ctas.to_string()),
            ("BITS_A", a.bits.to_string()),
            ("BITS_B", b.bits.to_string()),
            ("BITS", said.join(", ")),
            ("DESCRIPTOR", sum.join(" | ")),
            ("MASK", if wide { "" } else { " & 0xffff" }.to_owned()),
        ],
    );
    Some(DeviceCode {
        signature: *signature,
        lanes: 128,
        ctas,
        tile: [m, n, 1],
        is_own: true,
        head: fill(SHARED, &[("PER", a.per.to_string())]),
        body,
    })
}
