//! Integer matrices, layouts, how an instruction is written, and what the rules do not cover.

use mmascope_model::Error;
use mmascope_model::precision::legal::Legality;

use super::facts::{NOWHERE, all_are, from, targets};

#[test]
fn integer_matrices_of_8_4_and_1_bits() {
    all_are(
        &[
            "mma.m8n8k32.s32.s4.u4.s32",
            "mma.m8n8k16.satfinite.s32.s8.u8.s32",
            "mma.m8n8k128.s32.b1.b1.s32.xor.popc",
        ],
        &from(75),
    );
    all_are(
        &[
            "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.s4.s32",
            "mma.m8n8k128.s32.b1.b1.s32.and.popc",
            "mma.m16n8k256.s32.b1.b1.s32.xor.popc",
        ],
        &from(80),
    );
    all_are(
        &[
            "wgmma.m64n8k32.s32.s8.u8.satfinite",
            "wgmma.m64n48k32.s32.u8.u8",
            "wgmma.m64n24k256.s32.b1.b1.and.popc",
        ],
        "90a",
    );
    all_are(
        &[
            "mma.m16n8k16.s32.s4.s4.s32",
            "mma.m16n8k32.s32.s8.s4.s32",
            "mma.m16n8k128.s32.b1.b1.s32",
            "wgmma.m64n40k32.s32.s8.s8",
            "wgmma.m64n8k256.s32.b1.b1.xor.popc",
        ],
        NOWHERE,
    );
}

#[test]
fn layouts_other_than_row_col_are_those_of_m8n8k4_alone() {
    all_are(
        &[
            "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32",
            "mma.sync.aligned.m8n8k4.row.row.f16.f16.f16.f16",
        ],
        &from(75),
    );
    all_are(
        &[
            "mma.sync.aligned.m16n8k8.col.row.f32.f16.f16.f32",
            "mma.sync.aligned.m8n8k4.col.col.f64.f64.f64.f64",
        ],
        NOWHERE,
    );
}

#[test]
fn an_instruction_is_written_as_the_assembler_takes_it() {
    for text in [
        "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
        "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3",
        "cvt.rn.satfinite.relu.e4m3x2.f32",
    ] {
        assert_eq!(Legality::of(text).unwrap().form.to_string(), text);
    }
}

/// "No" would be a wrong answer about these: they exist.
#[test]
fn what_the_rules_do_not_cover_is_said_and_not_denied() {
    for (form, said) in [
        ("mma.sp.m16n8k32.f32.f16.f16.f32", "sparse"),
        ("wgmma.mma_async.sp.m64n8k64.s32.s8.s8", "sparse"),
        ("tcgen05.mma.sp.cta_group::1.kind::f16", "sparse"),
        ("add.s32", "integers"),
        ("mul.hi.u32", "integers"),
        ("mad.lo.s32", "integers"),
        ("set.eq.u32.s32", "integers"),
        ("setp.lt.u64", "integers"),
        ("max.s16x2", "integers"),
    ] {
        let error = Legality::of(form).expect_err(form);
        assert!(
            matches!(error, Error::Unmodelled { .. }) && error.to_string().contains(said),
            "{form}: {error}"
        );
    }
    assert!(targets("set.eq.u32.f32").starts_with("75"));
}
