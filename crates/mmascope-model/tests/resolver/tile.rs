//! The Tile dialect's `ftof`, `mmaf` and `mmaf_scaled` (`precision.md` §4, TILE).

use mmascope_model::precision::resolve::Policy;

use crate::{answer, ask, chosen};

fn cast(from: &str, to: &str, more: &str, target: &str) -> (bool, String) {
    let text = format!("ftof %x {more}: tile<16x{from}> -> tile<16x{to}>");
    let answer = answer(&ask(&text, "", target, "", Policy::CudaTile));
    (answer.legal, answer.ptx().join(" "))
}

#[test]
fn rule_4_ftof_saturates_and_rounds_to_nearest() {
    assert_eq!(
        cast("f32", "f8E4M3FN", "", "sm_90"),
        (true, "cvt.rn.satfinite.e4m3x2.f32".to_owned())
    );
    assert_eq!(
        cast("f16", "f8E5M2", "rounding<nearest_even> ", "sm_90"),
        (true, "cvt.rn.satfinite.e5m2x2.f16x2".to_owned())
    );
    assert!(
        !cast("f32", "f8E4M3FN", "", "sm_89").0,
        "the dialect's compiler takes fp8 from sm_90 on"
    );
    assert!(!cast("f32", "bf16", "rounding<zero> ", "sm_90").0);
}

#[test]
fn rule_4_ftof_to_e8m0_rounds_to_zero_or_up() {
    assert_eq!(
        cast("f32", "f8E8M0FNU", "rounding<zero> ", "sm_100a"),
        (true, "cvt.rz.satfinite.ue8m0x2.f32".to_owned())
    );
    assert!(cast("f32", "f8E8M0FNU", "rounding<positive_inf> ", "sm_100a").0);
    assert!(!cast("f32", "f8E8M0FNU", "", "sm_100a").0);
}

#[test]
fn rule_4_mmaf_takes_the_targets_unit() {
    let text = "mmaf %a, %b, %c : tile<64x32xf8E4M3FN>, tile<32x64xf8E5M2>, tile<64x64xf32>";
    for (target, start) in [
        ("sm_89", "mma.sync"),
        ("sm_90a", "wgmma.mma_async"),
        ("sm_100a", "tcgen05.mma"),
        ("sm_120", "mma.sync"),
    ] {
        let name = chosen(text, "", target, "", Policy::CudaTile);
        assert!(
            name.starts_with(start) && answer(&ask(text, "", target, "", Policy::CudaTile)).legal,
            "{target}: {name}"
        );
    }
    assert!(!answer(&ask(text, "", "sm_80", "", Policy::CudaTile)).legal);
}

#[test]
fn rule_4_mmaf_scaled_blocks_and_scales() {
    let scaled = |element: &str, k: u32, columns: u32, scale: &str, sum: &str| {
        let text = format!(
            "mmaf_scaled %a, %b, %c, %sa, %sb : tile<16x{k}x{element}>, tile<{k}x8x{element}>, tile<16x8x{sum}>, \
             tile<16x{columns}x{scale}>, tile<{columns}x8x{scale}>"
        );
        answer(&ask(&text, "", "sm_120a", "", Policy::CudaTile)).legal
    };
    assert!(scaled("f8E4M3FN", 32, 1, "f8E8M0FNU", "f32"));
    assert!(!scaled("f8E4M3FN", 32, 2, "f8E8M0FNU", "f32"));
    assert!(!scaled("f8E4M3FN", 32, 1, "f8E4M3FN", "f32"));
    assert!(scaled("f4E2M1FN", 64, 2, "f8E8M0FNU", "f32"));
    assert!(scaled("f4E2M1FN", 64, 4, "f8E8M0FNU", "f32"));
    assert!(scaled("f4E2M1FN", 64, 4, "f8E4M3FN", "f32"));
    assert!(!scaled("f4E2M1FN", 64, 2, "f8E4M3FN", "f32"));
    assert!(!scaled("f4E2M1FN", 64, 4, "f8E4M3FN", "f16"));
    assert!(!scaled("f4E2M1FN", 64, 3, "f8E8M0FNU", "f32"));
}

#[test]
fn results_with_names_and_full_names_are_read() {
    for text in [
        "%0 = ftof %a : tile<f32> -> tile<f16>",
        "%0 = cuda_tile.ftof %a : tile<f32> -> tile<f16>",
        "cuda_tile.ftof %a : tile<f32> -> tile<f16>",
    ] {
        assert_eq!(
            chosen(text, "", "sm_90", "", Policy::CudaTile),
            "cvt.rn.f16.f32",
            "{text}"
        );
    }
    for text in [
        "%d = mmaf %a, %b, %c : tile<16x16xf16>, tile<16x8xf16>, tile<16x8xf32>",
        "%d = cuda_tile.mmaf_scaled %a, %b, %c, %sa, %sb : tile<16x64xf8E4M3FN>, tile<64x8xf8E4M3FN>, \
         tile<16x8xf32>, tile<16x2xf8E8M0FNU>, tile<2x8xf8E8M0FNU>",
    ] {
        let resolution = answer(&ask(text, "", "sm_100a", "", Policy::CudaTile));
        assert_eq!(resolution.steps.len(), 1, "{text}");
    }
}

#[test]
fn products_of_f32_are_legal_and_what_they_become_is_not_established() {
    let text = "mmaf %a, %b, %c : tile<16x16xf32>, tile<16x8xf32>, tile<16x8xf32>";
    let resolution = answer(&ask(text, "", "sm_90", "", Policy::CudaTile));
    assert!(resolution.legal);
    assert!(
        resolution
            .notes
            .iter()
            .any(|note| note.text.contains("not established"))
    );
    assert!(resolution.unknown().is_some(), "no value");
}

#[test]
fn what_is_refused_has_no_code() {
    let text = "mmaf %a, %b, %c : tile<16x16xf16>, tile<16x8xf16>, tile<16x8xbf16>";
    let resolution = answer(&ask(text, "", "sm_90", "", Policy::CudaTile));
    assert!(!resolution.legal);
    assert_eq!(resolution.code(), Vec::<String>::new());
    assert_eq!(resolution.rule(), "");
}
