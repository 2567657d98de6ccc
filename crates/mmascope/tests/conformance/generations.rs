//! `conformance.md` §1: one input, a different answer on almost every generation.

use super::case::{Case, group, products};
use super::subject::Subject;

/// c = 2^23 and products −2^23, −1/2, −1/4, −1/8; the exact sum is −0.875.
fn one_input() -> Case {
    products(["-2^13 x 2^10", "-0.5 x 1", "-0.25 x 1", "-0.125 x 1"]).c("2^23")
}

#[test]
fn one_input_through_every_model() {
    let rows = [
        // FP64 FMA
        ("ampere", "mma.m8n8k4.f64.f64.f64.f64", "-0.875"),
        ("ada", "mma.m8n8k4.f64.f64.f64.f64", "-0.875"),
        ("hopper", "mma.m16n8k4.f64.f64.f64.f64", "-0.875"),
        ("blackwell", "mma.m8n8k4.f64.f64.f64.f64", "-0.875"),
        ("rtx-blackwell", "mma.m8n8k4.f64.f64.f64.f64", "-0.875"),
        ("cdna2", "v_mfma_f64_16x16x4_f64", "-0.875"),
        ("cdna3", "v_mfma_f64_16x16x4_f64", "-0.875"),
        // Volta fp16
        ("volta", "mma.m8n8k4.f32.f16.f16.f32", "0"),
        // Turing, Ampere, Ada fp16
        ("turing", "mma.m16n8k8.f32.f16.f16.f32", "-0.5"),
        ("ampere", "mma.m16n8k8.f32.f16.f16.f32", "-0.5"),
        ("ampere", "mma.m16n8k16.f32.f16.f16.f32", "-0.5"),
        ("ada", "mma.m16n8k8.f32.f16.f16.f32", "-0.5"),
        ("ada", "mma.m16n8k16.f32.f16.f16.f32", "-0.5"),
        // Ampere tf32, bf16
        ("ampere", "mma.m16n8k4.f32.tf32.tf32.f32", "-0.5"),
        ("ampere", "mma.m16n8k8.f32.tf32.tf32.f32", "-0.5"),
        ("ampere", "mma.m16n8k8.f32.bf16.bf16.f32", "-0.5"),
        ("ampere", "mma.m16n8k16.f32.bf16.bf16.f32", "-0.5"),
        // Ada e5m2
        ("ada", "mma.m16n8k32.f32.e5m2.e5m2.f32", "0"),
        ("ada", "mma.m16n8k16.f32.e5m2.e5m2.f32", "0"),
        // Hopper fp16, bf16
        ("hopper", "mma.m16n8k16.f32.f16.f16.f32", "-0.75"),
        ("hopper", "mma.m16n8k16.f32.bf16.bf16.f32", "-0.75"),
        ("hopper", "wgmma.m64n8k16.f32.f16.f16", "-0.75"),
        ("hopper", "wgmma.m64n8k16.f32.bf16.bf16", "-0.75"),
        // Hopper e5m2 wgmma
        ("hopper", "wgmma.m64n8k32.f32.e5m2.e5m2", "0"),
        // Blackwell fp16, e5m2, MXFP8 with unit scales
        ("blackwell", "mma.m16n8k16.f32.f16.f16.f32", "-0.75"),
        (
            "blackwell",
            "tcgen05.mma.m128n8k16.kind::f16.f32.f16.f16",
            "-0.75",
        ),
        (
            "blackwell",
            "tcgen05.mma.m128n8k32.kind::f8f6f4.f32.e5m2.e5m2",
            "-0.75",
        ),
        (
            "blackwell",
            "tcgen05.mma.m128n8k32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0",
            "-0.75",
        ),
        ("rtx-blackwell", "mma.m16n8k16.f32.f16.f16.f32", "-0.75"),
        ("rtx-blackwell", "mma.m16n8k32.f32.e5m2.e5m2.f32", "-0.75"),
        (
            "rtx-blackwell",
            "mma.m16n8k32.kind::f8f6f4.f32.e5m2.e5m2.f32",
            "-0.75",
        ),
        (
            "rtx-blackwell",
            "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.f32.ue8m0",
            "-0.75",
        ),
        // CDNA1 fp16, bf16
        ("cdna1", "v_mfma_f32_32x32x8f16", "-0.875"),
        ("cdna1", "v_mfma_f32_32x32x4bf16", "-0.875"),
        // CDNA2 fp16, bf16_1k (P=4), bf16 (P=2)
        ("cdna2", "v_mfma_f32_32x32x8f16", "0"),
        ("cdna2", "v_mfma_f32_32x32x8bf16_1k", "0"),
        ("cdna2", "v_mfma_f32_32x32x4bf16", "-0.375"),
        // CDNA3 fp16, bf16, bf8
        ("cdna3", "v_mfma_f32_32x32x8_f16", "-0.5"),
        ("cdna3", "v_mfma_f32_32x32x8_bf16", "-0.5"),
        ("cdna3", "v_mfma_f32_16x16x32_bf8_bf8", "-1"),
        ("cdna3", "v_mfma_f32_32x32x16_bf8_bf8", "-1"),
    ];
    group("§1 one input", |group| {
        for (architecture, instruction, expected) in rows {
            group.check(
                &Subject::new(architecture, instruction),
                &one_input(),
                expected,
            );
        }
    });
}

#[test]
fn one_input_through_scaled_fp4() {
    let case = products(["-4 x 4"])
        .at(16, "-1 x 1")
        .at(17, "-1 x 0.5")
        .at(18, "-0.5 x 0.5")
        .c("2^23")
        .scales(&["2^11", "1", "1", "1"], &["2^8", "2^-1", "1", "1"]);
    let rows = [
        (
            "blackwell",
            "tcgen05.mma.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue8m0",
        ),
        (
            "rtx-blackwell",
            "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue8m0",
        ),
    ];
    group("§1 FP4 with block scales", |group| {
        for (architecture, instruction) in rows {
            group.check(&Subject::new(architecture, instruction), &case, "-0.875");
        }
    });
}

/// CDNA3 rounds the accumulator down: −1e-6f becomes −1/4.
#[test]
fn cdna3_is_asymmetric() {
    let case = products(["2048 x 2048", "2048 x -2048"]).c("#b58637bd");
    let rows = [
        ("cdna3", "v_mfma_f32_32x32x8_f16", "-0.25"),
        // The exact sum.
        ("cdna1", "v_mfma_f32_32x32x8f16", "#b58637bd"),
        // Aligned with truncation.
        ("volta", "mma.m8n8k4.f32.f16.f16.f32", "0"),
        ("turing", "mma.m16n8k8.f32.f16.f16.f32", "0"),
        ("ampere", "mma.m16n8k16.f32.f16.f16.f32", "0"),
        ("ada", "mma.m16n8k16.f32.f16.f16.f32", "0"),
        ("hopper", "mma.m16n8k16.f32.f16.f16.f32", "0"),
        ("blackwell", "mma.m16n8k16.f32.f16.f16.f32", "0"),
        ("rtx-blackwell", "mma.m16n8k16.f32.f16.f16.f32", "0"),
    ];
    group("§1 CDNA3 asymmetry", |group| {
        for (architecture, instruction, expected) in rows {
            group.check(&Subject::new(architecture, instruction), &case, expected);
        }
    });
}
