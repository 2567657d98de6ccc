//! Programs that ask a chip for the vectors of a row: one CUDA or HIP source, plain C++, no library.
//!
//! Each vector goes to row 0 of A and column 0 of B, everything else is zero; element (0, 0) of D is
//! compared. Fragment layouts are those of the PTX ISA (mma.sync with m16n8, and f64 m8n8k4) and of
//! the MFMA instructions with one block.

use std::fmt::Write;

use super::Vectors;
use crate::dpa::Unit;
use crate::error::{Error, Result};
use crate::isa::Instruction;
use crate::vector::answer;

/// The source that runs the vectors of a row: `language` is `cuda` or `hip`.
///
/// # Errors
/// [`Error::Argument`] when the instruction has no runner: its operands do not lie in registers, its
/// fragment layout is not written down here, or it is not one of that language.
pub fn runner(row: &Instruction, vectors: &Vectors, language: &str) -> Result<String> {
    let unit = row.unit()?;
    let kernel = match language {
        "cuda" => cuda(row),
        "hip" => hip(row),
        _ => None,
    };
    let Some(kernel) = kernel else {
        return Err(Error::Argument(format!(
            "{language} runner: '{}' has none; CUDA runners are made for mma.m16n8k… with operands of 8, 16 and 32 \
             bits and for f64 m8n8k4, HIP runners for v_mfma_… of one block",
            row.name
        )));
    };
    Ok(whole(row, unit, vectors, &kernel, language))
}

/// Device code and its launch.
struct Kernel {
    /// Threads that work together.
    lanes: u32,
    /// The body of `dot`, with `lane`, `a`, `b` (64-bit words, k ascending), `c` and `*d`.
    body: String,
    /// What comes before it.
    head: String,
}

/// Bits of an operand that lies in registers in its own width.
fn plain_bits(name: &str) -> Option<u32> {
    match name {
        "e4m3fn" | "e5m2" | "e4m3fnuz" | "e5m2fnuz" => Some(8),
        "f16" | "bf16" => Some(16),
        "tf32" | "f32" => Some(32),
        _ => None,
    }
}

fn cuda(row: &Instruction) -> Option<Kernel> {
    let rest = row.name.strip_prefix("mma.")?;
    if row.signature.scale.is_some() || rest.contains("::") || rest.contains('@') {
        return None;
    }
    let (shape, types) = rest.split_once('.')?;
    let k = row.signature.k;
    let head = String::new();
    if shape == "m8n8k4" && row.signature.a.name == "f64" {
        let body = format!(
            "  // a: row lane/4, k lane%4; b: k lane%4, column lane/4; c: row lane/4, columns 2*(lane%4) and the next.\n\
             \x20 double x = 0, y = 0, z0 = 0, z1 = 0;\n\
             \x20 if (lane < 4) {{ memcpy(&x, &a[lane], 8); memcpy(&y, &b[lane], 8); }}\n\
             \x20 if (lane == 0) memcpy(&z0, &c, 8);\n\
             \x20 asm volatile(\"mma.sync.aligned.{shape}.row.col.{types} {{%0,%1}}, {{%2}}, {{%3}}, {{%0,%1}};\" : \"+d\"(z0), \"+d\"(z1) : \"d\"(x), \"d\"(y));\n\
             \x20 if (lane == 0) memcpy(d, &z0, 8);\n"
        );
        return Some(Kernel {
            lanes: 32,
            body,
            head,
        });
    }
    if !shape.starts_with("m16n8k") {
        return None;
    }
    let bits = plain_bits(row.signature.a.name)?;
    if plain_bits(row.signature.b.name)? != bits {
        return None;
    }
    let halves = match k as u32 * bits {
        128 => 1,
        256 => 2,
        _ => return None,
    };
    let each = 32 / bits;
    let wide = row.signature.d.container().bits == 32;
    if (row.signature.c.bits == 32) != wide {
        return None;
    }
    // Registers of A: row lane/4 and row lane/4 + 8 in turn, then the upper half of k; of B: halves of k.
    let (na, nb, nc) = (2 * halves, halves, if wide { 4 } else { 2 });
    let list = |from: u32, count: u32| {
        let names: Vec<String> = (from..from + count).map(|i| format!("%{i}")).collect();
        format!("{{{{{}}}}}", names.join(","))
    };
    let (dl, al, bl) = (list(0, nc), list(nc, na), list(nc + na, nb));
    let outs: Vec<String> = (0..nc).map(|i| format!("\"+r\"(z[{i}])")).collect();
    let ins: Vec<String> = (0..na)
        .map(|i| format!("\"r\"(x[{i}])"))
        .chain((0..nb).map(|i| format!("\"r\"(y[{i}])")))
        .collect();
    let text = format!("mma.sync.aligned.{shape}.row.col.{types} {dl}, {al}, {bl}, {dl};")
        .replace("{{", "{")
        .replace("}}", "}");
    let body = format!(
        "  unsigned x[4] = {{0, 0, 0, 0}}, y[2] = {{0, 0}}, z[4] = {{0, 0, 0, 0}};\n\
         \x20 // Row 0 and column 0 lie in lanes 0 to 3, {each} consecutive k in a register.\n\
         \x20 for (int half = 0; half < {halves} && lane < 4; half++)\n\
         \x20   for (int e = 0; e < {each}; e++) {{\n\
         \x20     int k = half * 4 * {each} + lane * {each} + e;\n\
         \x20     x[2 * half] |= (unsigned)a[k] << ({bits} * e);\n\
         \x20     y[half] |= (unsigned)b[k] << ({bits} * e);\n\
         \x20   }}\n\
         \x20 if (lane == 0) z[0] = (unsigned)c;\n\
         \x20 asm volatile(\"{text}\" : {} : {});\n\
         \x20 if (lane == 0) *d = z[0]{};\n",
        outs.join(", "),
        ins.join(", "),
        if wide { "" } else { " & 0xffff" },
    );
    Some(Kernel {
        lanes: 32,
        body,
        head,
    })
}

fn hip(row: &Instruction) -> Option<Kernel> {
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
        body,
        head: head.replace("typedef __vec ", "typedef "),
    })
}

/// A vector type of clang.
fn vector_of(element: &str, count: usize) -> String {
    format!("{element} __attribute__((ext_vector_type({count})))")
}

/// The words of a list as C++ initialisers.
fn words(words: &[u64]) -> String {
    words
        .iter()
        .map(|word| format!("0x{word:x}ull"))
        .collect::<Vec<_>>()
        .join(",")
}

fn whole(
    row: &Instruction,
    unit: &Unit,
    vectors: &Vectors,
    kernel: &Kernel,
    language: &str,
) -> String {
    let k = row.signature.k;
    let (runtime, prefix, compile) = match language {
        "hip" => ("hip/hip_runtime.h", "hip", "hipcc FILE -o run"),
        _ => ("cuda_runtime.h", "cuda", "nvcc -arch=native FILE -o run"),
    };
    let mut table = String::new();
    for line in &vectors.lines {
        let nan = answer(unit, line.d) == "nan";
        let what = line.separates.join(", ");
        let short: String = what.chars().take(160).collect();
        let _ = writeln!(
            table,
            "  {{{{{}}}, {{{}}}, 0x{:x}ull, 0x{:x}ull, {}, {:?}}},",
            words(&line.case.a),
            words(&line.case.b),
            line.case.c,
            line.d,
            u8::from(nan),
            short,
        );
    }
    let Kernel { lanes, body, head } = kernel;
    let digits = row.signature.d.digits();
    let float = row.signature.d.container().float();
    let (exponent, fraction) = float.map_or((8, 23), |f| (f.exponent_bits, f.fraction_bits));
    let what = format!("{} {}", row.architecture, row.name);
    let arithmetic = unit.program();
    format!(
        "// {what}\n// Model: {arithmetic}\n// Each line separates the model from the neighbours that it names.\n\
// Compile: {compile}\n\
#ifndef __CUDACC_RTC__\n#include <{runtime}>\n#include <cstdio>\n#include <cstring>\n#endif\n\n\
typedef unsigned long long word;\nstruct Vector {{ word a[{k}], b[{k}], c, d; int any_nan; const char *separates; }};\n{head}\n\
extern \"C\" __global__ void dot(const word *all_a, const word *all_b, const word *all_c, word *all_d) {{\n\
\x20 int lane = threadIdx.x;\n\
\x20 const word *a = all_a + (size_t)blockIdx.x * {k}, *b = all_b + (size_t)blockIdx.x * {k};\n\
\x20 word c = all_c[blockIdx.x], *d = all_d + blockIdx.x;\n{body}}}\n\n\
#ifndef __CUDACC_RTC__\nstatic const Vector vectors[] = {{\n{table}}};\n\n\
static bool is_nan(word x) {{\n\
\x20 word exponent = ((word)1 << {exponent}) - 1, fraction = ((word)1 << {fraction}) - 1;\n\
\x20 return (x >> {fraction} & exponent) == exponent && (x & fraction) != 0;\n}}\n\n\
int main() {{\n\
\x20 const int n = sizeof vectors / sizeof vectors[0];\n\
\x20 word *a, *b, *c, *d;\n\
\x20 if ({prefix}MallocManaged((void **)&a, n * {k} * sizeof(word)) != {prefix}Success ||\n\
\x20     {prefix}MallocManaged((void **)&b, n * {k} * sizeof(word)) != {prefix}Success ||\n\
\x20     {prefix}MallocManaged((void **)&c, n * sizeof(word)) != {prefix}Success ||\n\
\x20     {prefix}MallocManaged((void **)&d, n * sizeof(word)) != {prefix}Success) {{\n\
\x20   fprintf(stderr, \"no device or no memory\\n\");\n\x20   return 3;\n\x20 }}\n\
\x20 for (int i = 0; i < n; i++) {{\n\
\x20   memcpy(a + i * {k}, vectors[i].a, sizeof vectors[i].a);\n\
\x20   memcpy(b + i * {k}, vectors[i].b, sizeof vectors[i].b);\n\
\x20   c[i] = vectors[i].c;\n\x20   d[i] = 0;\n\x20 }}\n\
\x20 dot<<<n, {lanes}>>>(a, b, c, d);\n\
\x20 if ({prefix}DeviceSynchronize() != {prefix}Success) {{\n\
\x20   fprintf(stderr, \"the kernel failed: %s\\n\", {prefix}GetErrorString({prefix}GetLastError()));\n\x20   return 3;\n\x20 }}\n\
\x20 int wrong = 0;\n\
\x20 for (int i = 0; i < n; i++) {{\n\
\x20   bool same = d[i] == vectors[i].d || (vectors[i].any_nan && is_nan(d[i]));\n\
\x20   if (!same) {{\n\x20     wrong++;\n\
\x20     printf(\"line %d: got %0{digits}llx, the model %0{digits}llx; separates %s\\n\", i + 1, d[i], vectors[i].d, vectors[i].separates);\n\x20   }}\n\x20 }}\n\
\x20 printf(\"%d passed, %d failed\\n\", n - wrong, wrong);\n\
\x20 return wrong != 0;\n}}\n#endif\n"
    )
}
