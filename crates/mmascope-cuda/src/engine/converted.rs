//! Fused sums by conversions (method B of `docs/kernels-inside.md`): products in f32, moved to the grid by their conversion to integers.

use mmascope_gemm::shape::{SumGrid, SumKind};
use mmascope_model::dpa::{Output, Signature};
use mmascope_model::format::{F16, F32, Rounding};

/// Operands and methods.
pub(super) const PIECES: [&str; 2] = [
    include_str!("../source/converted.cu"),
    include_str!("../source/converted_sums.cu"),
];

/// Whether 32 bits have room for half of a sum, and there is a [`finish`].
pub(super) fn fits(signature: &Signature, grid: &SumGrid, output: &Output) -> bool {
    let bits =
        |format: &mmascope_model::format::Format| format.float().map_or(64, |it| it.fraction_bits);
    let (a, b) = (bits(&signature.a), bits(&signature.b));
    if grid.kind != SumKind::Fused || finish(output).is_none() || a + b > 22 || grid.f > 28 {
        return false;
    }
    // The largest product, c, and their sum in units of the grid: products of half the k beside c.
    let product =
        (u128::from((1_u64 << (a + 1)) - 1) * u128::from((1_u64 << (b + 1)) - 1)) << grid.f;
    let half = u128::from(grid.l.div_ceil(2)) * (product.div_ceil(1 << (a + b)) + 1);
    half + (2 << grid.f) < 1 << 31
}

/// How a sum is rounded: an integer of the grid's units, given with the power of two that they are.
pub(super) fn finish(output: &Output) -> Option<String> {
    let float = output.format.float()?;
    let is_f32 = output.format.container() == F32;
    let text = match (output.rounding, is_f32) {
        (Rounding::Rz, true) => {
            let mask = u32::MAX << (23 - float.fraction_bits);
            format!("return __uint_as_float(__float_as_uint(__int2float_rz(sum)) & {mask:#x}u) * unit;")
        }
        (Rounding::Rne, true) if output.format == F32 => "return __int2float_rn(sum) * unit;".to_owned(),
        // First to 24 bits, made odd where something is lost: then the second rounding is that of the sum.
        (Rounding::Rne, false) if output.format == F16 => {
            "const float cut = __int2float_rz(sum);\n\
             \x20 return as_f16(__uint_as_float(__float_as_uint(cut) | (__float2int_rz(cut) != sum)) * unit) + 0.0f;"
                .to_owned()
        }
        _ => return None,
    };
    Some(format!(
        "static __device__ value finished(int sum, value unit) {{\n  {text}\n}}"
    ))
}
