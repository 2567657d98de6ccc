//! CUDA: `mma.sync` with operands in registers, block-scaled or not, and `wgmma` with operands in shared
//! memory behind descriptors.

use super::Kernel;
use crate::isa::Instruction;

pub(super) fn kernel(row: &Instruction) -> Option<Kernel> {
    if row.name.contains('@') {
        return None;
    }
    if let Some(rest) = row.name.strip_prefix("wgmma.") {
        return wgmma(row, rest);
    }
    let rest = row.name.strip_prefix("mma.")?;
    let (shape, types) = rest.split_once('.')?;
    if shape == "m8n8k4" && row.signature.a.name == "f64" {
        return Some(m8n8k4(shape, types));
    }
    registers(row, shape, types)
}

/// Bits that an operand has in a register, and how far its code is shifted there.
fn place(name: &str, in_bytes: bool) -> Option<(u32, u32)> {
    match name {
        "e4m3fn" | "e5m2" => Some((8, 0)),
        // Four bits in the middle of a byte, six at its low end.
        "e2m1fn" if in_bytes => Some((8, 2)),
        "e3m2fn" | "e2m3fn" if in_bytes => Some((8, 0)),
        "e2m1fn" => Some((4, 0)),
        "f16" | "bf16" => Some((16, 0)),
        "tf32" => Some((32, 0)),
        _ => None,
    }
}

fn m8n8k4(shape: &str, types: &str) -> Kernel {
    let body = format!(
        "  // a: row lane/4, k lane%4; b: k lane%4, column lane/4; c: row lane/4, columns 2*(lane%4) and the next.\n\
         \x20 double x = 0, y = 0, z0 = 0, z1 = 0;\n\
         \x20 if (lane < 4) {{ memcpy(&x, &a[lane], 8); memcpy(&y, &b[lane], 8); }}\n\
         \x20 if (lane == 0) memcpy(&z0, &c, 8);\n\
         \x20 asm volatile(\"mma.sync.aligned.{shape}.row.col.{types} {{%0,%1}}, {{%2}}, {{%3}}, {{%0,%1}};\" : \"+d\"(z0), \"+d\"(z1) : \"d\"(x), \"d\"(y));\n\
         \x20 if (lane == 0) memcpy(d, &z0, 8);\n"
    );
    Kernel {
        lanes: 32,
        is_own: false,
        body,
        head: String::new(),
    }
}

/// `{%first,…}`.
fn list(first: u32, count: u32) -> String {
    let names: Vec<String> = (first..first + count).map(|i| format!("%{i}")).collect();
    format!("{{{}}}", names.join(","))
}

/// What stands between `mma.sync.aligned` and the shape, between the layout and the types, and after
/// the types: for kinds and block scales. And whether only
/// this architecture has it.
fn words(types: &str) -> Option<(String, String, bool)> {
    let Some(rest) = types.strip_prefix("kind::") else {
        return Some((String::new(), types.to_owned(), false));
    };
    let (kind, rest) = rest.split_once('.')?;
    let vectors = match (kind, rest.split_once('.')) {
        ("f8f6f4", _) => None,
        ("mxf8f6f4", Some(("block32", types))) => Some(("1X", types)),
        ("mxf4" | "mxf4nvf4", Some(("block32", types))) => Some(("2X", types)),
        ("mxf4nvf4", Some(("block16", types))) => Some(("4X", types)),
        _ => return None,
    };
    Some(match vectors {
        None => (format!(".kind::{kind}"), rest.to_owned(), true),
        Some((count, types)) => {
            let kind = format!(".kind::{kind}.block_scale.scale_vec::{count}");
            (kind, types.to_owned(), true)
        }
    })
}

/// `mma.sync` with m16n8: row 0 and column 0 lie in lanes 0 to 3.
fn registers(row: &Instruction, shape: &str, types: &str) -> Option<Kernel> {
    if !shape.starts_with("m16n8k") {
        return None;
    }
    let (kind, types, is_own) = words(types)?;
    let signature = &row.signature;
    let in_bytes = kind.contains("f8f6f4");
    let (bits, shift_a) = place(signature.a.name, in_bytes)?;
    let (bits_b, shift_b) = place(signature.b.name, in_bytes)?;
    let halves = match signature.k as u32 * bits {
        128 => 1,
        256 => 2,
        _ => return None,
    };
    let wide = signature.d.container().bits == 32;
    if bits_b != bits || (signature.c.bits == 32) != wide {
        return None;
    }
    let each = 32 / bits;
    // Registers of A: row lane/4 and row lane/4 + 8 in turn, then the upper half of k; of B: halves of k.
    let (na, nb, nc) = (2 * halves, halves, if wide { 4 } else { 2 });
    let (dl, al, bl) = (list(0, nc), list(nc, na), list(nc + na, nb));
    let outs: Vec<String> = (0..nc).map(|i| format!("\"+r\"(z[{i}])")).collect();
    let mut ins: Vec<String> = (0..na)
        .map(|i| format!("\"r\"(x[{i}])"))
        .chain((0..nb).map(|i| format!("\"r\"(y[{i}])")))
        .collect();
    let (mut scales, mut factors) = (String::new(), String::new());
    if signature.scale.is_some() {
        // Every lane holds the scales of row 0 and column 0, block after block: other rows are zero.
        let (k, count) = (signature.k, signature.scales());
        scales = format!(
            "  unsigned sa = 0, sb = 0;\n\
             \x20 for (int block = 0; block < 4; block++) {{\n\
             \x20   sa |= (unsigned)a[{k} + block % {count}] << (8 * block);\n\
             \x20   sb |= (unsigned)b[{k} + block % {count}] << (8 * block);\n\
             \x20 }}\n"
        );
        ins.extend(["\"r\"(sa)".to_owned(), "\"r\"(sb)".to_owned()]);
        let at = nc + na + nb;
        factors = format!(", {}, {{0,0}}, {}, {{0,0}}", list(at, 1), list(at + 1, 1));
    }
    let text =
        format!("mma.sync.aligned.{shape}.row.col{kind}.{types} {dl}, {al}, {bl}, {dl}{factors};");
    let body = format!(
        "  unsigned x[4] = {{0, 0, 0, 0}}, y[2] = {{0, 0}}, z[4] = {{0, 0, 0, 0}};\n\
         \x20 // Row 0 and column 0 lie in lanes 0 to 3, {each} consecutive k in a register.\n\
         \x20 for (int half = 0; half < {halves} && lane < 4; half++)\n\
         \x20   for (int e = 0; e < {each}; e++) {{\n\
         \x20     int k = half * 4 * {each} + lane * {each} + e;\n\
         \x20     x[2 * half] |= (unsigned)a[k] << ({bits} * e + {shift_a});\n\
         \x20     y[half] |= (unsigned)b[k] << ({bits} * e + {shift_b});\n\
         \x20   }}\n{scales}\
         \x20 if (lane == 0) z[0] = (unsigned)c;\n\
         \x20 asm volatile(\"{text}\" : {} : {});\n\
         \x20 if (lane == 0) *d = z[0]{};\n",
        outs.join(", "),
        ins.join(", "),
        if wide { "" } else { " & 0xffff" },
    );
    Some(Kernel {
        lanes: 32,
        is_own,
        body,
        head: String::new(),
    })
}

/// `wgmma` with n = 8: both operands in shared memory, K-major without swizzle. A core matrix is 8 rows of
/// 16 bytes; those of the next k follow after 128 bytes, those of the next 8 rows after 256.
fn wgmma(row: &Instruction, rest: &str) -> Option<Kernel> {
    let (shape, types) = rest.split_once('.')?;
    let signature = &row.signature;
    if !shape.starts_with("m64n8k") || rest.contains("::") {
        return None;
    }
    let (bits, _) = place(signature.a.name, false)?;
    let (bits_b, _) = place(signature.b.name, false)?;
    if bits_b != bits || signature.k as u32 * bits != 256 {
        return None;
    }
    let wide = signature.d.container().bits == 32;
    let (nd, kind, element) = (
        if wide { 4 } else { 2 },
        if wide { "f" } else { "r" },
        bits / 8,
    );
    let (declared, taken, given) = if wide {
        (
            "float z[4] = {0, 0, 0, 0};",
            "__uint_as_float((unsigned)c)",
            "__float_as_uint(z[0])",
        )
    } else {
        ("unsigned z[2] = {0, 0};", "(unsigned)c", "z[0] & 0xffff")
    };
    // Only operands of 16 bits may lie the other way.
    let major = if bits == 16 { ", 0, 0" } else { "" };
    let outs: Vec<String> = (0..nd).map(|i| format!("\"+{kind}\"(z[{i}])")).collect();
    let text = format!(
        "wgmma.mma_async.sync.aligned.{shape}.{types} {}, %{nd}, %{}, 1, 1, 1{major};",
        list(0, nd),
        nd + 1
    );
    let per = 16 / element;
    let body = format!(
        "  __shared__ __align__(128) unsigned char x[2048], y[256];\n\
         \x20 for (int i = lane; i < 2048; i += 128) x[i] = 0;\n\
         \x20 for (int i = lane; i < 256; i += 128) y[i] = 0;\n\
         \x20 __syncthreads();\n\
         \x20 // Row 0 of A and column 0 of B.\n\
         \x20 for (int k = lane; k < {k}; k += 128)\n\
         \x20   for (int byte = 0; byte < {element}; byte++) {{\n\
         \x20     int at = k / {per} * 128 + k % {per} * {element} + byte;\n\
         \x20     x[at] = (unsigned char)(a[k] >> (8 * byte));\n\
         \x20     y[at] = (unsigned char)(b[k] >> (8 * byte));\n\
         \x20   }}\n\
         \x20 asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n\
         \x20 __syncthreads();\n\
         \x20 // Offsets along k and along rows, in units of 16 bytes.\n\
         \x20 const word strides = (word)(128 >> 4) << 16 | (word)(256 >> 4) << 32;\n\
         \x20 const word to_a = strides | ((unsigned)__cvta_generic_to_shared(x) & 0x3ffff) >> 4;\n\
         \x20 const word to_b = strides | ((unsigned)__cvta_generic_to_shared(y) & 0x3ffff) >> 4;\n\
         \x20 {declared}\n\
         \x20 if (lane == 0) z[0] = {taken};\n\
         \x20 asm volatile(\"wgmma.fence.sync.aligned;\\n{text}\\n\"\n\
         \x20   \"wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;\"\n\
         \x20   : {} : \"l\"(to_a), \"l\"(to_b) : \"memory\");\n\
         \x20 if (lane == 0) *d = {given};\n",
        outs.join(", "),
        k = signature.k,
    );
    Some(Kernel {
        lanes: 128,
        is_own: true,
        body,
        head: String::new(),
    })
}
