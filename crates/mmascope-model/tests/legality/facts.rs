//! Facts of `precision.md` §2.1, §2.3 and §2.6, retyped, each a test of its rule's name; and what is said of wrong forms.

use mmascope_model::Error;
use mmascope_model::precision::legal::{Legality, Rules};

/// Family- and architecture-specific Blackwell.
const NARROW: &str = "100f 100a 103f 103a 107f 107a 110f 110a 120f 120a 121f 121a";
/// The same without the consumer parts.
const UNIT_5: &str = "100f 100a 103f 103a 107f 107a 110f 110a";
const CONSUMER: &str = "120f 120a 121f 121a";
const STOCHASTIC: &str = "100a 103a 107a";
pub(super) const NOWHERE: &str = "";

pub(super) fn targets(form: &str) -> String {
    let legality = Legality::of(form).unwrap_or_else(|error| panic!("{form}: {error}"));
    let names: Vec<String> = legality
        .legal()
        .map(|target| target.to_string()[3..].to_owned())
        .collect();
    names.join(" ")
}

/// Every target from an SM number on, as names without `sm_`.
pub(super) fn from(sm: u32) -> String {
    let names = Rules::built_in()
        .targets()
        .iter()
        .filter(|target| target.sm >= sm);
    let names: Vec<String> = names
        .map(|target| target.to_string()[3..].to_owned())
        .collect();
    names.join(" ")
}

pub(super) fn all_are(forms: &[&str], expected: &str) {
    for form in forms {
        assert_eq!(targets(form), expected, "{form}");
    }
}

/// The kinds that depth and block really have; the companion pages attach other names to the pairs.
#[test]
fn rule_1_3_kinds_of_depth_and_block() {
    let dense = |rest: &str| format!("mma.sync.aligned.{rest}");
    for (form, expected) in [
        (
            "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0",
            CONSUMER,
        ),
        (
            "m16n8k32.row.col.kind::f8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0",
            NOWHERE,
        ),
        (
            "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
            CONSUMER,
        ),
        (
            "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
            CONSUMER,
        ),
        (
            "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
            CONSUMER,
        ),
        (
            "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0",
            CONSUMER,
        ),
        (
            "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3",
            NOWHERE,
        ),
    ] {
        assert_eq!(targets(&dense(form)), expected, "{form}");
    }
}

#[test]
fn rule_1_3_two_groups_of_blocks_take_nvfp4() {
    all_are(
        &["tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16"],
        UNIT_5,
    );
}

#[test]
fn rule_1_3_sm_110_has_the_fifth_generation_unit() {
    for target in ["110a", "110f"] {
        assert!(
            targets("tcgen05.mma.cta_group::1.kind::f8f6f4")
                .split(' ')
                .any(|known| known == target)
        );
    }
}

#[test]
fn rule_1_3_sm_120_takes_ue4m3_scales() {
    let form = "mma.m16n8k64.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3";
    all_are(&[form], CONSUMER);
}

#[test]
fn rule_1_3_bf16_matrices_need_sm_80() {
    all_are(&["mma.m16n8k8.f32.bf16.bf16.f32"], &from(80));
}

#[test]
fn rule_1_3_i8_and_explicit_scale_vectors_are_architecture_specific() {
    all_are(&["tcgen05.mma.cta_group::1.kind::i8"], "100a 110a");
    for scale in [
        "kind::mxf8f6f4.block_scale.scale_vec::1X",
        "kind::mxf4.block_scale.scale_vec::2X",
    ] {
        all_are(
            &[&format!("tcgen05.mma.cta_group::1.{scale}")],
            "100a 103a 107a 110a",
        );
    }
}

#[test]
fn rule_2_1_fp8_conversions_need_sm_89_and_satfinite() {
    all_are(
        &[
            "cvt.rn.satfinite.e4m3x2.f32",
            "cvt.rn.satfinite.relu.e5m2x2.f32",
            "cvt.rn.satfinite.e4m3x2.f16x2",
            "cvt.rn.f16x2.e4m3x2",
            "cvt.rn.relu.f16x2.e5m2x2",
        ],
        &from(89),
    );
}

#[test]
fn rule_2_1_fp8_without_satfinite_or_with_other_modifiers_is_nowhere() {
    all_are(
        &[
            "cvt.rn.e4m3x2.f32",
            "cvt.rn.satfinite.ftz.e4m3x2.f32",
            "cvt.rna.satfinite.e4m3x2.f32",
            "cvt.rp.satfinite.e5m2x2.f32",
            "cvt.rm.satfinite.e4m3x2.f32",
        ],
        NOWHERE,
    );
}

#[test]
fn rule_2_1_rz_pzo_scaled_and_ue5m3_need_sm_107() {
    all_are(
        &[
            "cvt.rz.satfinite.e4m3x2.f32",
            "cvt.rn.satfinite.pzo.e4m3x2.f32",
            "cvt.rn.ue5m3x2.f32",
            "cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32",
            "cvt.rn.f16x2.ue5m3x2",
        ],
        "107f 107a",
    );
}

#[test]
fn rule_2_1_stochastic_rounding_is_architecture_specific() {
    all_are(
        &[
            "cvt.rs.satfinite.e4m3x4.f32",
            "cvt.rs.satfinite.relu.e2m1x4.f32",
            "cvt.rs.f16x2.f32",
            "cvt.rs.bf16x2.f32",
        ],
        STOCHASTIC,
    );
}

#[test]
fn rule_2_1_fp6_fp4_and_bf16x2_are_family_specific() {
    all_are(
        &[
            "cvt.rn.satfinite.e2m3x2.f32",
            "cvt.rn.satfinite.e2m1x2.f32",
            "cvt.rn.f16x2.e3m2x2",
            "cvt.rn.satfinite.e4m3x2.bf16x2",
            "cvt.rn.bf16x2.e5m2x2",
            "cvt.rz.satfinite.ue8m0x2.f32",
            "cvt.rp.ue8m0x2.bf16x2",
            "cvt.rn.bf16x2.ue8m0x2",
        ],
        NARROW,
    );
}

#[test]
fn rule_2_1_ue8m0_is_never_rounded_to_nearest() {
    all_are(
        &["cvt.rn.ue8m0x2.f32", "cvt.rn.satfinite.ue8m0x2.bf16x2"],
        NOWHERE,
    );
}

#[test]
fn rule_2_1_s2f6() {
    all_are(
        &["cvt.rn.satfinite.s2f6x2.f32"],
        "100a 103a 107a 110a 120a 121a",
    );
    all_are(&["cvt.rz.satfinite.s2f6x2.f32"], "107a");
}

#[test]
fn rule_2_1_tf32() {
    all_are(
        &["cvt.rna.tf32.f32", "cvt.rna.satfinite.tf32.f32"],
        &from(80),
    );
    all_are(&["cvt.rn.tf32.f32", "cvt.rz.tf32.f32"], &from(90));
    all_are(&["cvt.rn.satfinite.tf32.f32"], &from(100));
}

#[test]
fn rule_2_1_f16_and_bf16() {
    all_are(&["cvt.rn.f16.f32", "cvt.rp.f16.f32"], &from(75));
    all_are(
        &["cvt.rn.relu.f16.f32", "cvt.rz.f16x2.f32", "cvt.rp.bf16.f32"],
        &from(80),
    );
    all_are(&["cvt.rm.f16x2.f32", "cvt.rna.f16.f32"], NOWHERE);
    all_are(&["cvt.ftz.f32.bf16", "cvt.rn.bf16.f64"], &from(90));
}

#[test]
fn rule_2_3_arithmetic_by_type() {
    all_are(
        &[
            "add.rz.ftz.sat.f32",
            "fma.rm.f64",
            "mul.ftz.f16",
            "fma.rn.sat.f16",
        ],
        &from(75),
    );
    all_are(&["fma.rn.relu.f16", "fma.rn.bf16"], &from(80));
    all_are(&["add.bf16", "mul.rn.bf16x2"], &from(90));
    all_are(&["add.rn.f32x2", "add.rn.f32.f16"], &from(100));
    all_are(
        &[
            "add.ftz.f64",
            "add.ftz.bf16",
            "add.rz.f16",
            "fma.f32",
            "fma.rn.ftz.bf16",
        ],
        NOWHERE,
    );
}

#[test]
fn rule_2_3_division_and_roots() {
    all_are(
        &[
            "div.approx.ftz.f32",
            "div.full.f32",
            "div.rm.ftz.f32",
            "div.rp.f64",
            "rcp.approx.f32",
            "sqrt.rz.f64",
        ],
        &from(75),
    );
    all_are(
        &[
            "div.ftz.f32",
            "div.approx.f64",
            "div.rn.ftz.f64",
            "sqrt.approx.f64",
            "rcp.approx.f64",
            "div.rn.f16",
        ],
        NOWHERE,
    );
    all_are(&["rcp.rn.ftz.f64"], &from(75));
}

#[test]
fn rule_2_3_transcendentals_are_approximate_or_nothing() {
    all_are(
        &[
            "sin.approx.ftz.f32",
            "ex2.approx.f16",
            "rsqrt.approx.f64",
            "tanh.approx.f32",
        ],
        &from(75),
    );
    all_are(&["ex2.approx.ftz.bf16", "tanh.approx.bf16x2"], &from(90));
    all_are(
        &[
            "sin.rn.f32",
            "sin.f32",
            "rsqrt.rn.f32",
            "tanh.approx.ftz.f32",
            "ex2.approx.ftz.f16",
            "ex2.approx.bf16",
            "erf.approx.f32",
            "atan.approx.f32",
        ],
        NOWHERE,
    );
}

#[test]
fn rule_2_3_gross_f64_approximations_must_flush() {
    all_are(&["rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"], &from(75));
}

#[test]
fn rule_2_3_what_compares_or_turns_signs() {
    all_are(
        &[
            "abs.ftz.f32",
            "neg.ftz.f32",
            "min.ftz.f32",
            "max.f32",
            "setp.lt.ftz.f32",
            "set.eq.ftz.u32.f32",
            "cvt.ftz.f32.f16",
            "cvt.rn.ftz.f16.f32",
            "abs.ftz.f16",
        ],
        &from(75),
    );
    all_are(
        &["min.ftz.f16", "max.ftz.f16x2", "min.bf16", "abs.bf16"],
        &from(80),
    );
    all_are(
        &[
            "min.ftz.bf16",
            "abs.ftz.bf16",
            "abs.ftz.f64",
            "min.ftz.f64",
            "setp.lt.ftz.f64",
        ],
        NOWHERE,
    );
}

#[test]
fn rule_2_3_packed_and_mixed_arithmetic_need_sm_100() {
    all_are(
        &[
            "fma.rn.f32x2",
            "mul.rz.ftz.f32x2",
            "add.f32.f16",
            "fma.rn.f32.bf16",
        ],
        &from(100),
    );
}

#[test]
fn rule_2_3_error_function_and_arc_tangent_have_no_instruction() {
    all_are(&["erf.approx.f32", "erfc.f32", "atan.approx.f32"], NOWHERE);
}

#[test]
fn rule_2_3_a_rounding_that_is_written_blocks_contraction() {
    let legality = Legality::of("add.f32").unwrap();
    let notes: Vec<&str> = legality
        .findings
        .iter()
        .map(|finding| &*finding.text)
        .collect();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("explicit .rn blocks")),
        "{notes:?}"
    );
}

#[test]
fn rule_2_6_mixed_narrow_matrices() {
    all_are(
        &[
            "mma.m16n8k32.kind::f8f6f4.f32.e3m2.e2m1.f32",
            "mma.m16n8k32.kind::f8f6f4.f16.e2m3.e4m3.f16",
        ],
        CONSUMER,
    );
    let fp8 = targets("mma.m16n8k32.kind::f8f6f4.f32.e4m3.e5m2.f32");
    assert!(fp8.contains("100a") && fp8.contains("120a"), "{fp8}");
}

#[test]
fn rule_2_6_fp8_matrices() {
    all_are(
        &[
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
            "mma.m16n8k16.f16.e5m2.e5m2.f16",
        ],
        &from(89),
    );
    all_are(
        &[
            "m16n8k32.row.col.bf16.e4m3.e4m3.bf16",
            "mma.m16n8k32.f32.e3m2.e3m2.f32",
        ],
        NOWHERE,
    );
    all_are(
        &["wgmma.m64n256k32.f32.e4m3.e5m2", "m64n8k32.f16.e4m3.e4m3"],
        "90a",
    );
    all_are(
        &[
            "wgmma.m64n12k32.f32.e4m3.e5m2",
            "wgmma.m64n264k32.f32.e4m3.e5m2",
        ],
        NOWHERE,
    );
}

#[test]
fn rule_2_6_block_scales_on_consumer_blackwell() {
    all_are(
        &[
            "mma.m16n8k32.kind::mxf8f6f4.block_scale.f32.e2m1.e5m2.f32.ue8m0",
            "mma.m16n8k64.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
            "mma.m16n8k64.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
            "mma.m16n8k64.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        ],
        CONSUMER,
    );
}

#[test]
fn rule_2_6_block_scales_that_are_never_legal() {
    all_are(
        &[
            "mma.m16n8k64.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3",
            "mma.m16n8k64.kind::mxf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0",
            "mma.m16n8k64.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3",
            "mma.m16n8k64.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3",
            "mma.m16n8k32.kind::f8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0",
            "tcgen05.mma.ws.cta_group::1.kind::mxf8f6f4.block_scale",
        ],
        NOWHERE,
    );
}

#[test]
fn rule_2_6_the_fifth_generation_unit() {
    all_are(
        &[
            "tcgen05.mma.cta_group::1.kind::f16",
            "tcgen05.mma.kind::f8f6f4",
            "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16",
            "tcgen05.mma.kind::mxf8f6f4.block_scale",
        ],
        UNIT_5,
    );
    all_are(
        &["tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::4X"],
        "100a 103a 107a 110a",
    );
    all_are(&["tcgen05.mma.cta_group::1.kind::i8"], "100a 110a");
    all_are(&["tcgen05.mma.cta_group::1.kind::ti16"], "107f 107a");
}

#[test]
fn a_form_that_is_never_legal_says_why() {
    let cases = [
        ("cvt.rn.e4m3x2.f32", "modifier '.satfinite' is required"),
        (
            "cvt.rn.satfinite.ftz.e4m3x2.f32",
            "modifier '.ftz' is illegal",
        ),
        ("sin.rn.f32", "'.approx' is required"),
        ("div.rn.f16", "does not take the types .f16"),
        ("erf.approx.f32", "PTX has no such instruction"),
        ("add.f32 f0,f1", "it takes 3 operands, not 2"),
        ("add.rn.rz.f32", "'.rz' is illegal"),
    ];
    for (form, said) in cases {
        let legality = Legality::of(form).expect(form);
        let finding = &legality.findings[0];
        assert!(finding.text.contains(said), "{form}: {finding:?}");
        assert!(finding.rule.starts_with("ptx.txt:"), "{form}: {finding:?}");
    }
}

#[test]
fn what_is_no_instruction_is_an_error_with_the_nearest_name() {
    let cases = [
        ("cvtt.rn.f16.f32", "unknown opcode 'cvtt'; nearest: cvt"),
        (
            "cvt.rn.satfinte.e4m3x2.f32",
            "unknown modifier or type 'satfinte'; nearest: satfinite",
        ),
        ("add..f32", "an empty word"),
        ("", "an empty word"),
        ("add", "a type is missing"),
        ("add.f32 f0,,f1", "an operand is empty"),
        ("add.f32 {f0,f1", "left open"),
        (
            "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
            "do not cover sparse",
        ),
    ];
    for (form, said) in cases {
        let error = Legality::of(form).expect_err(form);
        assert!(error.to_string().contains(said), "{form}: {error}");
        assert!(!matches!(error, Error::Text { .. }));
    }
}
