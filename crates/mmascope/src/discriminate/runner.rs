//! Programs that ask a chip for the vectors of a row: one CUDA or HIP source, plain C++, no library.
//!
//! Each vector goes to row 0 of A and column 0 of B, everything else is zero; element (0, 0) of D is
//! compared. Layouts are those of the PTX ISA (mma.sync with m16n8, block-scaled too, f64 m8n8k4, and wgmma)
//! and of the MFMA instructions with one block.

mod cuda;
mod hip;

use std::fmt::Write;

use super::Vectors;
use crate::dpa::Unit;
use crate::error::{Error, Result};
use crate::isa::{Architecture, Instruction};
use crate::vector::answer;

/// The source that runs the vectors of a row of an architecture: `language` is `cuda` or `hip`.
///
/// # Errors
/// [`Error::Argument`] when the instruction has no runner: its operands do not lie in registers, its
/// fragment layout is not written down here, or it is not one of that language.
pub fn runner(
    architecture: &Architecture,
    row: &Instruction,
    vectors: &Vectors,
    language: &str,
) -> Result<String> {
    let unit = row.unit()?;
    let kernel = match language {
        "cuda" => cuda::kernel(row),
        "hip" => hip::kernel(row),
        _ => None,
    };
    let Some(kernel) = kernel else {
        return Err(Error::Argument(format!(
            "{language} runner: '{}' has none; CUDA runners are made for mma.m16n8k… (kinds and block scales too), \
             wgmma and f64 m8n8k4, HIP runners for v_mfma_… of one block",
            row.name
        )));
    };
    let compile = compile(architecture, &kernel, language);
    Ok(whole(row, unit, vectors, &kernel, (language, &compile)))
}

/// Device code and its launch.
struct Kernel {
    /// Threads that work together.
    lanes: u32,
    /// Whether only this architecture has the instruction, not the later ones too.
    is_own: bool,
    /// The body of `dot`, with `lane`, `a`, `b` (64-bit words: k ascending, then the scales), `c` and `*d`.
    body: String,
    /// What comes before it.
    head: String,
}

/// The command that compiles the file. An architecture's own instructions need its target by name, which ends
/// with an `a`.
fn compile(architecture: &Architecture, kernel: &Kernel, language: &str) -> String {
    if language == "hip" {
        return "hipcc FILE -o run".to_owned();
    }
    let own = architecture.aliases.iter().find_map(|alias| {
        let number = alias.strip_prefix("sm_")?;
        number.ends_with('a').then_some(number)
    });
    match own.filter(|_| kernel.is_own) {
        Some(number) => {
            format!("nvcc -gencode arch=compute_{number},code=sm_{number} FILE -o run")
        }
        None => "nvcc -arch=native FILE -o run".to_owned(),
    }
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
    (language, compile): (&str, &str),
) -> String {
    // Scales stand behind the operands.
    let k = row.signature.k + row.signature.scales();
    let (runtime, prefix) = match language {
        "hip" => ("hip/hip_runtime.h", "hip"),
        _ => ("cuda_runtime.h", "cuda"),
    };
    let mut table = String::new();
    for line in &vectors.lines {
        let nan = answer(unit, line.d) == "nan";
        let what = line.separates.join(", ");
        let short: String = what.chars().take(160).collect();
        let _ = writeln!(
            table,
            "  {{{{{}}}, {{{}}}, 0x{:x}ull, 0x{:x}ull, {}, {:?}}},",
            words(&[&line.case.a[..], &line.case.scale_a].concat()),
            words(&[&line.case.b[..], &line.case.scale_b].concat()),
            line.case.c,
            line.d,
            u8::from(nan),
            short,
        );
    }
    let Kernel {
        lanes, body, head, ..
    } = kernel;
    let digits = row.signature.d.digits();
    let float = row.signature.d.container().float();
    let (exponent, fraction) = float.map_or((8, 23), |f| (f.exponent_bits, f.fraction_bits));
    let what = format!("{} {}", row.architecture, row.name);
    let arithmetic = unit.program();
    format!(
        "// {what}\n// Model: {arithmetic}\n// Each line separates the model from the neighbours that it names.\n\
// Compile: {compile}\n\
// Written from the layouts in the manufacturer's manual; this program has not run on a chip yet.\n\
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
