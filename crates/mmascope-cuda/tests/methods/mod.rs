//! The fast methods of the engine: a unit of each.

use mmascope_cuda::engine::Doubles;

/// Architecture, instruction, what the method is called, and the machine instruction that its products are.
pub(crate) const METHODS: [(&str, &str, &str, &str); 22] = [
    (
        "hopper",
        "mma.m16n8k16.f32.f16.f16.f32",
        "f64 that round down",
        "DFMA.RM",
    ),
    (
        "hopper",
        "mma.m16n8k16.f16.f16.f16.f16",
        "f64 that round down",
        "DFMA.RM",
    ),
    (
        "hopper",
        "wgmma.m64n8k32.f32.e4m3.e4m3",
        "f32 that round down",
        "FFMA.RM",
    ),
    (
        "hopper",
        "mma.m16n8k16.f32.f16.f16.f32",
        "by conversions",
        "F2I",
    ),
    (
        "hopper",
        "mma.m16n8k16.f16.f16.f16.f16",
        "by conversions",
        "F2I",
    ),
    (
        "hopper",
        "mma.m16n8k32.f32.e4m3.e4m3.f32",
        "statement by statement",
        "DFMA.RM",
    ),
    // Zeros have stood in for too much there.
    (
        "ada",
        "mma.m16n8k32.f32.e4m3.e4m3.f32",
        "f32 that round down",
        "FFMA.RM",
    ),
    // Results that are flushed.
    (
        "cdna2",
        "v_mfma_f32_32x32x8_bf16_1k",
        "added in pairs",
        "FMUL",
    ),
    // Sums that saturate.
    (
        "hopper",
        "wgmma.m64n8k32.satfinite.s32.s8.u8",
        "products of four bytes",
        "IDP.4A",
    ),
    ("cdna1", "v_mfma_f32_32x32x8f16", "exact sums", "DFMA.RP"),
    ("cdna2", "v_mfma_f32_32x32x8f16", "added in pairs", "FMUL"),
    ("cdna3", "v_mfma_f32_32x32x8_f16", "c late", "DFMA.RM"),
    (
        "cdna3",
        "v_mfma_f32_16x16x32_fp8_bf8",
        "even and of odd k",
        "DFMA.RM",
    ),
    (
        "cdna3",
        "v_mfma_f32_32x32x2_f32",
        "multiply-adds in f32",
        "FFMA",
    ),
    (
        "hopper",
        "mma.m8n8k4.f64.f64.f64.f64",
        "multiply-adds in f64",
        "DFMA",
    ),
    (
        "hopper",
        "mma.m16n8k32.s32.s8.s8.s32",
        "products of four bytes",
        "IDP.4A",
    ),
    (
        "hopper",
        "mma.m16n8k256.s32.b1.b1.s32.xor.popc",
        "counts of bits",
        "POPC",
    ),
    // Exponents of all sizes, so that sums are in doubt, or beyond what has room.
    ("cdna1", "v_mfma_f32_32x32x4bf16", "exact sums", "DFMA.RP"),
    (
        "hopper",
        "mma.m16n8k16.f32.bf16.bf16.f32",
        "by conversions",
        "F2I",
    ),
    // A c whose subnormal numbers have an exponent of their own.
    (
        "hopper",
        "mma.m16n8k32.f16.e4m3.e4m3.f16",
        "statement by statement",
        "DFMA.RM",
    ),
    // Products that are infinite.
    ("cdna3", "v_mfma_f32_16x16x8_xf32", "c late", "DFMA.RM"),
    // Multiplications are among the instructions that are not counted.
    ("hopper", "dp2a.lo.s32.u32", "by multiplications", ""),
];

/// On which chips a unit has the method.
pub(crate) fn doubles(called: &str) -> Doubles {
    match called {
        "by conversions" => Doubles::Slow,
        _ => Doubles::Full,
    }
}
