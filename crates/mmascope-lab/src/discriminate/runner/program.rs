//! The host program around the device code: it holds the vectors, checks the layout and compares results.

use std::fmt::Write;

use crate::device_code::{DeviceCode, fill};
use crate::discriminate::Vectors;
use crate::error::{Error, Result};
use crate::format::{Exact, Format, Overflow, Rounding};
use crate::isa::{Architecture, Instruction};
use crate::vector::answer;

const TEXT: &str = include_str!("program.cpp");

pub(super) fn program(
    architecture: &Architecture,
    row: &Instruction,
    vectors: &Vectors,
    kernel: &DeviceCode,
    language: &str,
) -> Result<String> {
    let (unit, signature) = (row.unit()?, &row.signature);
    let (runtime, prefix) = match language {
        "hip" => ("hip/hip_runtime.h", "hip"),
        _ => ("cuda_runtime.h", "cuda"),
    };
    let mut table = String::new();
    for line in &vectors.lines {
        let nan = answer(unit, line.d) == "nan";
        let short: String = line.separates.join(", ").chars().take(160).collect();
        let _ = writeln!(
            table,
            "  {{{{{}}}, {{{}}}, 0x{:x}ull, 0x{:x}ull, {}, {short:?}}},",
            words(&[&line.case.a[..], &line.case.scale_a].concat()),
            words(&[&line.case.b[..], &line.case.scale_b].concat()),
            line.case.c,
            line.d,
            u8::from(nan),
        );
    }
    let powers = match &signature.scale {
        Some(scale) => codes(&scale.format, &[1, 2, 4]),
        None => "0".to_owned(),
    };
    let (c, d) = (float(&signature.c)?, float(&signature.d)?);
    let number = |value: u32| value.to_string();
    let text = fill(
        TEXT,
        &[
            ("DEVICE", kernel.source()),
            ("WHAT", format!("{}:{}", row.architecture, row.name)),
            ("MODEL", unit.program().to_string()),
            ("COMPILE", compile(architecture, row, kernel, language)),
            ("RUNTIME", runtime.to_owned()),
            ("PREFIX", prefix.to_owned()),
            ("LANES", number(kernel.lanes)),
            ("CTAS", number(kernel.ctas)),
            ("EXPONENT", number(d.0)),
            ("FRACTION", number(d.1)),
            ("C_EXPONENT", number(c.0)),
            ("C_FRACTION", number(c.1)),
            ("D_EXPONENT", number(d.0)),
            ("D_FRACTION", number(d.1)),
            ("DIGITS", signature.d.digits().to_string()),
            ("DIGITS_A", codes(&signature.a, &[-3, -2, -1, 0, 1, 2, 3])),
            ("DIGITS_B", codes(&signature.b, &[-3, -2, -1, 0, 1, 2, 3])),
            ("POWERS", powers),
            ("TABLE", table),
        ],
    );
    Ok(text)
}

/// The command that compiles the file. An architecture's own instructions need its target by name, which ends
/// with an `a`; what stands behind an `@` in the name is the compiler that makes this row of the instruction.
fn compile(
    architecture: &Architecture,
    row: &Instruction,
    kernel: &DeviceCode,
    language: &str,
) -> String {
    if language == "hip" {
        return "hipcc FILE -o run".to_owned();
    }
    let own = architecture.aliases.iter().find_map(|alias| {
        let number = alias.strip_prefix("sm_")?;
        number.ends_with('a').then_some(number)
    });
    let command = match own.filter(|_| kernel.is_own) {
        Some(number) => {
            format!("nvcc -gencode arch=compute_{number},code=sm_{number} FILE -o run")
        }
        None => "nvcc -arch=native FILE -o run".to_owned(),
    };
    match row.name.split_once('@') {
        Some((_, compiler)) => format!("{command} (with {compiler}: this row is what it makes)"),
        None => command,
    }
}

/// Exponent and fraction bits of the register word.
fn float(format: &Format) -> Result<(u32, u32)> {
    let float = format.container().float();
    let float = float.ok_or_else(|| Error::Argument(format!("runner: {format} is no float")))?;
    Ok((float.exponent_bits, float.fraction_bits))
}

/// The register words of whole numbers that the format has.
fn codes(format: &Format, values: &[i32]) -> String {
    let code = |&value: &i32| {
        let exact = Exact::of_multiple(value.into(), 0);
        format.to_register(format.round(&exact, Rounding::Rne, Overflow::Saturate))
    };
    words(&values.iter().map(code).collect::<Vec<_>>())
}

/// The words of a list as C++ initialisers.
fn words(words: &[u64]) -> String {
    let all: Vec<String> = words.iter().map(|word| format!("0x{word:x}ull")).collect();
    all.join(",")
}
