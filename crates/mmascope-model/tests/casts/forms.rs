//! The `cvt` instructions of each target: precision.md §2.1, and `legality.json` where it is at hand.

use mmascope_model::format::{Format, Rounding};
use mmascope_model::precision::cast::{Cast, CastOptions, CastPolicy, OutOfRange, Packing};

/// A cast as `cvt` modifiers and types say it: `rn.satfinite.e4m3x2.f32`.
fn cast(text: &str) -> Option<Cast> {
    let mut options = CastOptions {
        policy: Some(CastPolicy::Ptx),
        ..CastOptions::default()
    };
    let mut types = Vec::new();
    for word in text.split('.').skip(1) {
        match word {
            "rn" | "rni" => options.rounding = Some(Rounding::Rne),
            "rz" | "rzi" => options.rounding = Some(Rounding::Rz),
            "rm" => options.rounding = Some(Rounding::Rd),
            "rp" => options.rounding = Some(Rounding::Ru),
            "rna" => options.rounding = Some(Rounding::Rna),
            "rs" => {
                options.rounding = Some(Rounding::Stochastic {
                    bits: 16,
                    random: 0,
                })
            }
            "satfinite" => options.overflow = Some(OutOfRange::SatFinite),
            "relu" => options.relu = true,
            "sat" => options.sat = true,
            "ftz" => options.ftz = true,
            "pzo" => options.pzo = true,
            name => {
                let name = name.trim_end_matches("x2").trim_end_matches("x4");
                types.push(Format::named(name).unwrap());
            }
        }
    }
    let [to, from] = types[..] else {
        panic!("{text}")
    };
    if options.overflow.is_none() && to.name != "f32" {
        // The text has no `.satfinite`.
        let plain = CastOptions {
            overflow: Some(OutOfRange::Ieee),
            ..options
        };
        if Cast::new(from, to, &options).is_ok_and(|cast| cast.form().unwrap().saturates) {
            return Cast::new(from, to, &plain).ok();
        }
    }
    Cast::new(from, to, &options).ok()
}

fn targets(text: &str) -> String {
    cast(text).map_or("never".into(), |cast| {
        cast.form().unwrap().targets.to_string()
    })
}

const FAMILY: &str = "sm_100f, sm_100a, sm_103f, sm_103a, sm_107f, sm_107a, sm_110f, sm_110a, sm_120f, sm_120a, \
     sm_121f, sm_121a";

#[test]
fn fp8_from_f32_and_f16_and_back_needs_sm_89() {
    for text in [
        "cvt.rn.satfinite.e4m3x2.f32",
        "cvt.rn.satfinite.relu.e5m2x2.f32",
        "cvt.rn.satfinite.e4m3x2.f16x2",
        "cvt.rn.f16x2.e4m3x2",
        "cvt.rn.relu.f16x2.e5m2x2",
    ] {
        assert_eq!(targets(text), "sm_89 and later", "{text}");
        assert_eq!(cast(text).unwrap().form().unwrap().to_string(), text);
    }
}

#[test]
fn satfinite_is_mandatory_and_rna_rp_rm_ftz_do_not_exist_for_fp8() {
    for text in [
        "cvt.rn.e4m3x2.f32",
        "cvt.rna.satfinite.e4m3x2.f32",
        "cvt.rp.satfinite.e4m3x2.f32",
        "cvt.rm.satfinite.e5m2x2.f32",
        "cvt.rn.satfinite.ftz.e4m3x2.f32",
    ] {
        assert_eq!(targets(text), "never", "{text}");
    }
}

#[test]
fn rz_pzo_and_ue5m3_need_sm_107() {
    for text in [
        "cvt.rz.satfinite.e4m3x2.f32",
        "cvt.rn.satfinite.pzo.e4m3x2.f32",
        "cvt.rn.ue5m3x2.f32",
    ] {
        assert_eq!(targets(text), "sm_107f, sm_107a", "{text}");
    }
    assert_eq!(targets("cvt.rz.satfinite.s2f6x2.f32"), "sm_107a");
}

#[test]
fn random_rounding_exists_on_three_targets() {
    for text in [
        "cvt.rs.satfinite.e4m3x4.f32",
        "cvt.rs.satfinite.e3m2x4.f32",
        "cvt.rs.satfinite.e2m1x4.f32",
        "cvt.rs.f16x2.f32",
        "cvt.rs.bf16x2.f32",
    ] {
        assert_eq!(targets(text), "sm_100a, sm_103a, sm_107a", "{text}");
        assert_eq!(cast(text).unwrap().form().unwrap().to_string(), text);
    }
}

#[test]
fn fp6_fp4_bf16_and_ue8m0_forms_are_of_a_family() {
    for text in [
        "cvt.rn.satfinite.e2m3x2.f32",
        "cvt.rn.satfinite.e2m1x2.f32",
        "cvt.rn.f16x2.e2m1x2",
        "cvt.rn.satfinite.e4m3x2.bf16x2",
        "cvt.rn.bf16x2.e4m3x2",
        "cvt.rz.satfinite.ue8m0x2.f32",
        "cvt.rp.ue8m0x2.bf16x2",
        "cvt.rn.bf16x2.ue8m0x2",
    ] {
        assert_eq!(targets(text), FAMILY, "{text}");
    }
    assert_eq!(targets("cvt.rn.ue8m0x2.f32"), "never");
}

#[test]
fn tf32_f16_and_bf16_forms() {
    for (text, wanted) in [
        ("cvt.rna.tf32.f32", "sm_80 and later"),
        ("cvt.rna.satfinite.tf32.f32", "sm_80 and later"),
        ("cvt.rn.tf32.f32", "sm_90 and later"),
        ("cvt.rn.satfinite.tf32.f32", "sm_100 and later"),
        ("cvt.rm.f16.f32", "sm_75 and later"),
        ("cvt.rn.relu.f16.f32", "sm_80 and later"),
        ("cvt.rm.bf16.f32", "sm_80 and later"),
        ("cvt.ftz.f32.bf16", "sm_90 and later"),
        ("cvt.rn.bf16.f64", "sm_90 and later"),
        ("cvt.rn.ftz.f32.f64", "sm_75 and later"),
    ] {
        assert_eq!(targets(text), wanted, "{text}");
    }
}

/// Every `cvt` of `legality.json` on every target of it, as a cast finds it.
#[test]
fn legality_of_every_listed_cvt() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/spec/legality.json"
    );
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: {path} is not at hand");
        return;
    };
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut count = 0;
    for (instruction, targets) in all["tables"]["cvt"].as_object().unwrap() {
        let text = instruction.split(' ').next().unwrap();
        // Packed f16 and bf16 from two f32 have fewer roundings and targets than the scalar form.
        let is_packed_half = text.contains("f16x2.f32") && !text.contains(".rs.");
        for (target, legal) in targets.as_object().unwrap() {
            let form = cast(text).map(|cast| *cast.form().unwrap());
            let form = if is_packed_half {
                form.and_then(|form| form.packed(Packing::X2))
            } else {
                form
            };
            let ours = form.is_some_and(|form| form.targets.include(target).unwrap());
            assert_eq!(ours, legal.as_bool().unwrap(), "{text} on {target}");
            count += 1;
        }
    }
    println!("{count} forms and targets");
    assert!(count > 700, "{count}");
}

#[test]
fn a_cast_names_the_packed_instruction_with_its_own_targets() {
    let form = *cast("cvt.rn.f16.f32").unwrap().form().unwrap();
    let packed = form.packed(Packing::X2).unwrap();
    assert_eq!(packed.to_string(), "cvt.rn.f16x2.f32");
    assert_eq!(packed.targets.to_string(), "sm_80 and later");
    assert_eq!(form.packed(Packing::X4), None);
    let form = *cast("cvt.rm.f16.f32").unwrap().form().unwrap();
    assert_eq!(form.packed(Packing::X2), None);
}

#[test]
fn an_unknown_target_is_refused() {
    let form = *cast("cvt.rn.f16.f32").unwrap().form().unwrap();
    let error = form.targets.include("sm_91").unwrap_err().to_string();
    assert!(error.contains("sm_90"), "{error}");
}

#[test]
fn a_form_that_is_not_there_says_why() {
    let refused = |rounding, relu| {
        let options = CastOptions {
            policy: Some(CastPolicy::Ptx),
            rounding: Some(rounding),
            relu,
            sat: !relu,
            ..CastOptions::default()
        };
        let error = Cast::new(
            Format::named("f32").unwrap(),
            Format::named("e4m3").unwrap(),
            &options,
        );
        error.unwrap_err().to_string()
    };
    let message = refused(Rounding::Rna, true);
    assert!(message.contains("it rounds rne, rz"), "{message}");
    let message = refused(Rounding::Odd, true);
    assert!(message.contains("it rounds rne, rz"), "{message}");
    let message = refused(Rounding::Rne, false);
    assert!(message.contains("'.sat' is illegal"), "{message}");
}
