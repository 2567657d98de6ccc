//! HIP: MFMA of one block, operands in vector registers.

use super::Kernel;
use crate::isa::Instruction;

pub(super) fn kernel(row: &Instruction) -> Option<Kernel> {
    let rest = row.name.strip_prefix("v_mfma_")?;
    let (result, rest) = rest.split_once('_')?;
    let (shape, types) = rest.split_once('_')?;
    let sizes: Vec<usize> = shape.split('x').filter_map(|n| n.parse().ok()).collect();
    let [m, n, k] = sizes[..] else { return None };
    if m != n
        || types.starts_with(|c: char| c.is_ascii_digit())
        || k != row.signature.k
        || m * k < 64
    {
        return None;
    }
    let each = m * k / 64;
    let accumulators = m * n / 64;
    let (element, operand, name) = match types {
        "f16" => (
            "unsigned short",
            vector_of("_Float16", each),
            format!("{shape}f16"),
        ),
        "bf16_1k" => (
            "unsigned short",
            vector_of("short", each),
            format!("{shape}bf16_1k"),
        ),
        "bf16" => (
            "unsigned short",
            vector_of("short", each),
            format!("{shape}bf16"),
        ),
        "f32" if each == 1 => ("unsigned", "float".to_owned(), format!("{shape}f32")),
        "xf32" => (
            "unsigned",
            vector_of("float", each),
            format!("{shape}_xf32"),
        ),
        "f64" if each == 1 => (
            "unsigned long long",
            "double".to_owned(),
            format!("{shape}f64"),
        ),
        _ if types.contains("fp8") || types.contains("bf8") => (
            "unsigned char",
            "long".to_owned(),
            format!("{shape}_{types}"),
        ),
        _ => return None,
    };
    let scalar = if result == "f64" { "double" } else { "float" };
    let bytes = if result == "f64" { 8 } else { 4 };
    let body = format!(
        "  // Lane l holds row (column) l % {m} and {each} consecutive k from l / {m} * {each} on.\n\
         \x20 {element} xs[{each}] = {{0}}, ys[{each}] = {{0}};\n\
         \x20 if (lane % {m} == 0)\n\
         \x20   for (int e = 0; e < {each}; e++) {{\n\
         \x20     int k = lane / {m} * {each} + e;\n\
         \x20     xs[e] = ({element})a[k];\n\
         \x20     ys[e] = ({element})b[k];\n\
         \x20   }}\n\
         \x20 operand x, y;\n\
         \x20 memcpy(&x, xs, sizeof x);\n\
         \x20 memcpy(&y, ys, sizeof y);\n\
         \x20 sums z = {{0}};\n\
         \x20 {scalar} first = 0;\n\
         \x20 if (lane == 0) memcpy(&first, &c, {bytes});\n\
         \x20 z[0] = first;\n\
         \x20 z = __builtin_amdgcn_mfma_{result}_{name}(x, y, z, 0, 0, 0);\n\
         \x20 first = z[0];\n\
         \x20 if (lane == 0) {{ *d = 0; memcpy(d, &first, {bytes}); }}\n"
    );
    let head = format!(
        "typedef {operand} operand;\ntypedef {scalar} sums __attribute__((ext_vector_type({accumulators})));\n"
    );
    Some(Kernel {
        lanes: 64,
        is_own: false,
        body,
        head: head.replace("typedef __vec ", "typedef "),
    })
}

/// A vector type of clang.
fn vector_of(element: &str, count: usize) -> String {
    format!("{element} __attribute__((ext_vector_type({count})))")
}
