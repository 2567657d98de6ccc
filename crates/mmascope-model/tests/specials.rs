//! Special values of units: computed from every model, and some that recorded hardware fixes.

use mmascope_model::isa::Catalogue;
use mmascope_model::precision::specials::{self, Special};

fn of(architecture: &str, instruction: &str) -> Vec<Special> {
    specials::of(
        Catalogue::built_in()
            .find(architecture, instruction)
            .unwrap(),
    )
    .unwrap()
}

fn result(all: &[Special], name: &str) -> Option<String> {
    let case = all.iter().find(|case| case.name == name).unwrap();
    case.outcome.as_ref().map(|outcome| outcome.result())
}

#[test]
fn every_modelled_unit_has_every_case() {
    let catalogue = Catalogue::built_in();
    let mut units = 0;
    for row in catalogue.instructions().filter(|row| row.is_modelled()) {
        let all = specials::of(row).unwrap();
        let names: Vec<&str> = all.iter().map(|case| case.name).collect();
        assert_eq!(names, specials::names().collect::<Vec<_>>());
        // The result is what the unit gives for the operands that are shown.
        for case in &all {
            let Some(outcome) = &case.outcome else {
                continue;
            };
            let operands = outcome.operands.operands();
            let word = row
                .unit()
                .unwrap()
                .dot(&operands, &Default::default())
                .unwrap();
            assert_eq!(word, outcome.word, "{} {}", row.name, case.name);
        }
        units += 1;
    }
    assert!(units > 400, "{units}");
}

#[test]
fn nan_and_infinity_of_an_nvidia_unit() {
    let all = of("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    for name in ["nan+x", "nan*x", "inf*0", "inf-inf", "inf-inf in c"] {
        assert_eq!(result(&all, name).unwrap(), "7fffffff", "{name}");
    }
    assert_eq!(result(&all, "inf").unwrap(), "7f800000");
    assert_eq!(result(&all, "all -0").unwrap(), "00000000");
    assert_eq!(result(&all, "subnormal c").unwrap(), "00000001");
}

#[test]
fn cdna2_flushes_subnormals_and_cdna3_does_not() {
    let cdna2 = of("cdna2", "v_mfma_f32_32x32x8f16");
    let cdna3 = of("cdna3", "v_mfma_f32_32x32x8_f16");
    for name in ["subnormal a", "subnormal b", "subnormal c"] {
        assert_eq!(result(&cdna2, name).unwrap(), "00000000", "{name}");
        assert_ne!(result(&cdna3, name).unwrap(), "00000000", "{name}");
    }
    // The payload of AMD's NaN is not fixed.
    assert_eq!(result(&cdna3, "inf*0").unwrap(), "nan");
}

#[test]
fn a_case_that_the_formats_do_not_have_is_left_out() {
    let inst = "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3";
    let all = of("rtx-blackwell", inst);
    assert_eq!(result(&all, "inf*0"), None);
    assert_eq!(result(&all, "nan scale").unwrap(), "7fffffff");
}

#[test]
fn a_page_has_a_row_for_each_unit() {
    let units = vec![(
        "a <unit>".to_owned(),
        of("hopper", "mma.m16n8k16.f32.f16.f16.f32"),
    )];
    let page = specials::page("Special values", &units);
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("a &lt;unit&gt;"));
    assert_eq!(page.matches("<td>").count(), 1 + specials::names().count());
}
