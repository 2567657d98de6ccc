//! Puts the sources of kernels together: an instruction's own code, the generator of cases, the model.

use mmascope_lab::cases::{Family, Generator};
pub use mmascope_lab::device_code::{DeviceCode, OperandSource};
use mmascope_model::dpa::Unit;
use mmascope_model::export::{self, Language};
use mmascope_model::format::Specials;
use mmascope_model::isa::Instruction;

use crate::Result;

const TRIAL: &str = include_str!("source/trial.cu");

/// What an instruction's name may end with where A is to come from registers (`wgmma`).
pub const REGISTERS: &str = "+registers";

/// An instruction's name without [`REGISTERS`], and where A comes from.
#[must_use]
pub fn operand_source(inst: &str) -> (&str, OperandSource) {
    match inst.strip_suffix(REGISTERS) {
        Some(inst) => (inst, OperandSource::Registers),
        None => (inst, OperandSource::Shared),
    }
}

/// The model of a unit as device code: `model::dot(a, b, c, …)`.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) where the unit has no source.
pub fn model(unit: &Unit, name: &str) -> Result<String> {
    let text = export::unit(unit, name, Language::Cuda, None)?;
    Ok(format!(
        "namespace model {{\n{text}typedef uint64_t word_of_model;\n}}\n"
    ))
}

/// Whether words of d are any NaN, as device code: the unit's NaN may be known, and then none is.
fn any_nan(unit: &Unit) -> String {
    let format = unit.signature().d.container();
    let test = match format.float() {
        Some(float) if !unit.program().nan_is_known() && float.specials == Specials::Ieee => {
            let top = ((1_u64 << float.exponent_bits) - 1) << float.fraction_bits;
            let below = (1_u64 << (float.exponent_bits + float.fraction_bits)) - 1;
            format!("(x & {below:#x}ull) > {top:#x}ull")
        }
        _ => "x != x".to_owned(),
    };
    format!("static __device__ bool is_any_nan(word x) {{ return {test}; }}\n")
}

/// The source with which a chip makes cases of a row, computes them by the instruction and compares them with the model.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) where no device code is written down; [`Error::Unmodelled`](crate::Error::Unmodelled).
pub fn trial(row: &Instruction, source: OperandSource) -> Result<String> {
    let unit = row.unit()?;
    let code = DeviceCode::of(row, "cuda", source)?;
    // Every family's generator has the same source.
    let cases = Generator::for_unit(Family::Bits, 0, unit)?.device_source();
    let scales = match row.signature.scale {
        Some(_) => ", (const model::word_of_model *)(x + K), (const model::word_of_model *)(y + K)",
        None => "",
    };
    Ok(format!(
        "{}\nnamespace cases {{\n{cases}}}\n{}{}{}",
        code.source(),
        model(unit, &row.name)?,
        any_nan(unit),
        TRIAL.replace("@SCALE_ARGUMENTS@", scales)
    ))
}
