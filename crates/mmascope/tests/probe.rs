//! Published findings about real units, from their models by probing alone.

#[path = "probe/drawn.rs"]
mod drawn;

use mmascope::dpa::Unit;
use mmascope::dut::ModelDut;
use mmascope::isa::Catalogue;
use mmascope::probe::{Features, probe};

fn report(arch: &str, inst: &str) -> Features {
    let unit = Catalogue::built_in()
        .find(arch, inst)
        .and_then(|row| row.unit().cloned())
        .expect("a row");
    probe(&mut ModelDut::new("a black box", unit)).expect("answers")
}

fn holds(arch: &str, inst: &str, expected: &[(&str, &str)]) {
    let report = report(arch, inst);
    for (name, value) in expected {
        assert_eq!(report.value(name), Some(*value), "{arch} {inst}: {name}");
    }
    for feature in &report.features {
        let silent = [
            "not reachable",
            "unknown",
            "no tile",
            "one step",
            "order",
            "unresolved",
            "no-single-tree",
            "not applicable",
            "one rounding a step",
        ];
        let asked = !feature.tests.is_empty()
            || silent.contains(&&*feature.value)
            || [
                "order",
                "products-per-step",
                "c",
                "products",
                "normalised-products",
                // (Its questions are those of the others.)
                "repeated",
            ]
            .contains(&feature.name);
        assert!(
            asked,
            "{arch} {inst}: {} = {} without a test",
            feature.name, feature.value
        );
    }
}

/// Fasi et al. 2021, tables 2 to 4: V100, T4 and A100.
#[test]
fn the_tables_of_fasi_et_al() {
    let common = [
        ("subnormal-a", "kept"),
        ("subnormal-b", "kept"),
        ("subnormal-c", "kept"),
        ("products", "exact"),
        ("normalised-products", "no"),
        ("normalisation", "end"),
        ("rounding-alignment", "rz"),
        ("rounding-alignment-c", "rz"),
        ("rounding-result", "rz"),
        ("monotone", "no"),
        ("c", "fused"),
    ];
    // No extra bits and blocks of 4 on V100.
    holds("V100", "mma.m8n8k4.f32.f16.f16.f32", &common);
    holds(
        "V100",
        "mma.m8n8k4.f32.f16.f16.f32",
        &[
            ("bits-products", "23"),
            ("bits-c", "23"),
            ("products-per-step", "4"),
            ("block", "4"),
            ("carries", ">=3"),
        ],
    );
    // One extra bit on T4 and A100.
    holds("T4", "mma.m16n8k8.f32.f16.f16.f32", &common);
    holds(
        "T4",
        "mma.m16n8k8.f32.f16.f16.f32",
        &[("bits-products", "24"), ("bits-c", "24")],
    );
    for (inst, block) in [
        ("mma.m16n8k8.f32.f16.f16.f32", "8"),
        ("mma.m16n8k16.f32.bf16.bf16.f32", "8"),
        ("mma.m16n8k8.f32.tf32.tf32.f32", "4"),
    ] {
        holds("A100", inst, &common[..9]);
        holds(
            "A100",
            inst,
            &[
                ("bits-products", "24"),
                ("bits-c", "24"),
                ("products-per-step", block),
                ("block", block),
                ("c", "fused"),
            ],
        );
    }
    // f16 results are rounded to nearest even, subnormals kept.
    for arch in ["V100", "T4", "A100"] {
        let inst = if arch == "V100" {
            "mma.m8n8k4.f16.f16.f16.f16"
        } else {
            "mma.m16n8k8.f16.f16.f16.f16"
        };
        holds(
            arch,
            inst,
            &[
                ("rounding-result", "rne"),
                ("subnormal-result", "kept"),
                ("width", "10"),
            ],
        );
    }
    // A100 f64: fused multiply-adds, one after the other, nearest even.
    holds(
        "A100",
        "mma.m8n8k4.f64.f64.f64.f64",
        &[
            ("rounding-result", "rne"),
            ("products-per-step", "1"),
            ("c", "first"),
            ("products", "exact"),
            ("width", "52"),
            ("subnormal-result", "kept"),
        ],
    );
}

/// MMA-Sim, tables I and II: bits and roundings by generation.
#[test]
fn the_tables_of_mma_sim() {
    type Row = (
        &'static str,
        &'static str,
        &'static [(&'static str, &'static str)],
    );
    let rows: [Row; 9] = [
        (
            "hopper",
            "mma.m16n8k16.f32.f16.f16.f32",
            &[
                ("bits-products", "25"),
                ("bits-c", "25"),
                ("products-per-step", "16"),
                ("rounding-alignment", "rz"),
                ("rounding-result", "rz"),
            ],
        ),
        (
            "hopper",
            "mma.m16n8k16.f32.bf16.bf16.f32",
            &[
                ("e0", "-133"),
                ("overflow", "infinity"),
                ("product-overflow", "none"),
                ("nan", "7fffffff"),
            ],
        ),
        (
            "ampere",
            "mma.m16n8k16.f32.bf16.bf16.f32",
            &[("e0", "-132"), ("rounding-between", "rz")],
        ),
        (
            "ada",
            "mma.m16n8k32.f32.e4m3.e4m3.f32",
            &[
                ("bits-products", "13"),
                ("width", "13"),
                ("products-per-step", "16"),
                ("subnormal-c", "kept"),
                ("rounding-between", "rz"),
            ],
        ),
        (
            "blackwell",
            "mma.m16n8k16.f32.f16.f16.f32",
            &[("bits-products", "25"), ("products-per-step", "16")],
        ),
        (
            "cdna1",
            "v_mfma_f32_32x32x8_f16",
            &[
                ("bits-products", ">=68"),
                ("rounding-result", "rne"),
                ("products-per-step", "4"),
            ],
        ),
        (
            "cdna2",
            "v_mfma_f32_32x32x8_bf16_1k",
            &[
                ("subnormal-a", "flushed"),
                ("subnormal-c", "flushed"),
                ("subnormal-result", "flushed"),
                ("product-overflow", "overflows"),
                ("sum-overflow", "overflows"),
            ],
        ),
        (
            "cdna3",
            "v_mfma_f32_32x32x8_bf16",
            &[
                ("bits-products", "24"),
                ("rounding-result", "rne"),
                ("product-overflow", "overflows"),
                ("subnormal-a", "kept"),
                ("products-per-step", "8"),
            ],
        ),
        (
            "cdna3",
            "v_mfma_f32_16x16x32_bf8_bf8",
            &[("order", "no-single-tree"), ("bits-products", "24")],
        ),
    ];
    for (arch, inst, expected) in rows {
        holds(arch, inst, expected);
    }
}

/// FTTN: extra bits and block sizes.
#[test]
fn the_findings_of_fttn() {
    for (arch, inst, extra, block) in [
        ("V100", "mma.m8n8k4.f32.f16.f16.f32", 0, 4),
        ("A100", "mma.m16n8k16.f32.f16.f16.f32", 1, 8),
        ("H100", "mma.m16n8k16.f32.f16.f16.f32", 2, 16),
    ] {
        let report = report(arch, inst);
        assert_eq!(
            report.value("bits-products"),
            Some(&*(23 + extra).to_string()),
            "{arch}"
        );
        assert_eq!(report.value("block"), Some(&*block.to_string()), "{arch}");
    }
}

/// A narrow result of a wide accumulator: what it hides is not taken for a finding.
#[test]
fn a_wide_accumulator_under_a_narrow_result() {
    holds(
        "turing",
        "wmma.m16n16k16.f16.f16.f16.f32",
        &[
            ("subnormal-c", "not reachable"),
            ("e0", "<=-24"),
            ("width", "10"),
            ("width-between", "23"),
            ("rounding-result", "rne"),
            ("rounding-between", "rz"),
            ("block", "hidden"),
            ("products-per-step", "8"),
        ],
    );
}

/// A unit of the model space behind a black box.
fn own(signature: &str, program: &str) -> Features {
    let signature = signature.parse().expect("a signature");
    let unit = Unit::new(signature, program.parse().expect("a program")).expect("a unit");
    probe(&mut ModelDut::new("a black box", unit)).expect("answers")
}

fn says(report: &Features, expected: &[(&str, &str)]) {
    for (name, value) in expected {
        assert_eq!(report.value(name), Some(*value), "{name}");
    }
}

fn conclusion<'a>(report: &'a Features, name: &str) -> &'a str {
    let feature = report.features.iter().find(|feature| feature.name == name);
    &feature.expect("a feature").conclusion
}

/// What cancels may be dropped, and then says nothing of what lies beside it: c is one term of four sums.
#[test]
fn groups_that_are_dropped_where_they_cancel() {
    let report = own(
        "a=e5m2 b=e4m3fn c=f32 d=f32 k=16",
        "fused L=16 F=21 align=rd G=4 groups=strided Fg=9 align-g=rz zero-g=dropped -> rne f32",
    );
    says(
        &report,
        &[
            ("c", "fused"),
            ("block", "hidden"),
            ("bits-products", "9"),
            ("bits-c", "unknown"),
            ("width", ">=22"),
        ],
    );
}

/// What lies beside a c that is added to the rounded sum says nothing of the sum's own bits.
#[test]
fn bits_beside_c_need_a_sum_that_c_shares() {
    let formats = "a=f16 b=f16 c=f32 d=f32 k=4";
    let outside = own(
        formats,
        "s = fused L=4 F=24 from +0 -> rz f32; d = add s c -> rne f32",
    );
    says(
        &outside,
        &[
            ("c", "last"),
            ("bits-products", "24"),
            ("bits-products-c", "not applicable"),
            ("bits-c", "not applicable"),
        ],
    );
    let inside = own(formats, "fused L=4 F=24 -> rz f32");
    says(&inside, &[("bits-products-c", "24"), ("bits-c", "24")]);
    // Where the products alone choose the grid, the product that cancels a large c does, and not c.
    let above = own(formats, "fused L=4 F=24 grid=products -> rz f32");
    says(
        &above,
        &[("bits-products", "24"), ("bits-products-c", ">=25")],
    );
    // A step of two products has one beside the small one: 1.75 takes all but a quarter from a c whose exponent is one larger.
    let formats = "a=f16 b=f16 c=f32 d=f32 k=2";
    for products in ["", " products=normalised"] {
        let inside = own(formats, &format!("fused L=2 F=24{products} -> rz f32"));
        says(&inside, &[("bits-products-c", "24")]);
        let above = own(
            formats,
            &format!("fused L=2 F=24{products} grid=products -> rz f32"),
        );
        says(&above, &[("bits-products-c", ">=25")]);
    }
}

/// A carry shows that results have the bits which the alignment loses.
#[test]
fn bits_that_only_a_carry_shows() {
    let report = own(
        "a=e4m3fn b=e4m3fn c=f32 d=f32 k=32",
        "fused L=8 F=13 align=rd over k=0,4,8,12,16,20,24,28,1,5,9,13,17,21,25,29,2,6,10,14,18,22,26,30,3,7,11,15,19,23,27,31 -> rz f32",
    );
    says(
        &report,
        &[("width", ">=14"), ("rounding-result", "unknown")],
    );
    // A result that is as narrow is said to be.
    let report = own(
        "a=e4m3fn b=e4m3fn c=f32 d=f32 k=32",
        "t-fdpa L=32 F=13 e0=-132 -> rz e8m13",
    );
    says(&report, &[("width", "13")]);
}

/// A floor so high that small results are lost: no flush is concluded from it.
#[test]
fn a_floor_above_the_smallest_result() {
    for (e0, place) in [(-100, -126), (-80, -106)] {
        let report = own(
            "a=bf16 b=bf16 c=f32 d=f32 k=16",
            &format!("t-fdpa L=8 F=26 e0={e0} -> rne f32"),
        );
        says(
            &report,
            &[
                ("e0", &e0.to_string()),
                ("subnormal-a", "kept"),
                ("subnormal-c", "unknown"),
                ("subnormal-product", "unknown"),
                ("subnormal-result", "unknown"),
            ],
        );
        let text = conclusion(&report, "e0");
        assert!(text.contains(&format!("2^{place} only")), "{text}");
    }
    // What is flushed is still said to be, and no floor is made of it.
    let report = own(
        "a=bf16 b=bf16 c=f32 d=f32 k=16",
        "ftz-addmul P=4 -> rne f32",
    );
    says(
        &report,
        &[("subnormal-c", "flushed"), ("subnormal-product", "flushed")],
    );
    assert_ne!(report.value("e0"), Some("-103"));
}

/// Where c is added last, the two roundings are those of the sums of products and of that addition.
#[test]
fn the_roundings_where_c_is_last() {
    holds(
        "hopper",
        "mma.m16n8k32.f32.e4m3.e4m3.f32",
        &[
            ("c", "last"),
            ("rounding-result", "rne"),
            ("rounding-between", "rz"),
            ("rounding-alignment-c", "unknown"),
        ],
    );
    for (between, end) in [("rz", "rne"), ("rne", "rz"), ("rd", "ru"), ("rna", "rd")] {
        let program = format!(
            "t = fused L=8 F=25 from +0 -> {between} f32 nan=7fffffff ; d = add c t -> {end} f32 nan=7fffffff"
        );
        for operands in ["a=bf16 b=bf16", "a=e4m3 b=e4m3"] {
            let report = own(&format!("{operands} c=f32 d=f32 k=8"), &program);
            says(
                &report,
                &[
                    ("c", "last"),
                    ("rounding-result", end),
                    ("rounding-between", between),
                ],
            );
        }
    }
}

/// What a flush takes: operands, products, sums between steps and results apart, with their signs.
#[test]
fn where_subnormals_are_flushed() {
    let of = |program: &str| own("a=bf16 b=bf16 c=f32 d=f32 k=8", program);
    let kept = [
        ("subnormal-a", "kept"),
        ("subnormal-b", "kept"),
        ("subnormal-c", "kept"),
        ("subnormal-product", "kept"),
        ("subnormal-result", "kept"),
    ];
    let cases = [
        ("fused L=8 F=exact -> rne f32", "", ""),
        (
            "fused L=8 F=exact -> rne f32 flush=kept",
            "subnormal-result",
            "-0",
        ),
        (
            "fused L=8 F=exact -> rne f32 flush=plus",
            "subnormal-result",
            "+0",
        ),
        (
            "fused L=8 F=exact flush-c=kept -> rne f32",
            "subnormal-c",
            "-0",
        ),
        (
            "fused L=8 F=exact flush-c=plus -> rne f32",
            "subnormal-c",
            "+0 too",
        ),
        (
            "fused L=8 F=exact products=rne:f32 flush-products=kept -> rne f32",
            "subnormal-product",
            "",
        ),
        (
            "fused L=8 F=exact flush-in=kept flush-of=a -> rne f32",
            "subnormal-a",
            "-0",
        ),
        (
            "fused L=8 F=exact flush-in=plus flush-of=b -> rne f32",
            "subnormal-b",
            "+0 too",
        ),
    ];
    for (program, flushed, sign) in cases {
        // Zeros as IEEE sums have them: every sign shows.
        let report = of(&format!("{program} zero=ieee"));
        for (name, value) in kept {
            let value = if name == flushed { "flushed" } else { value };
            assert_eq!(report.value(name), Some(value), "{program}: {name}");
        }
        if !flushed.is_empty() {
            let text = conclusion(&report, flushed);
            assert!(text.contains(sign), "{program}: {text}");
        }
    }
    // Where zero sums are +0 a sign does not show.
    let report = of("fused L=8 F=exact flush-c=kept -> rne f32 zero=plus");
    assert!(conclusion(&report, "subnormal-c").contains("does not show"));
    // Between steps only: the last step's results are kept.
    let report = of(
        "t = fused L=8 F=exact over k=0,1,2,3 from c -> rne f32 flush=kept ; d = fused L=8 F=exact over k=4,5,6,7 from t -> rne f32",
    );
    says(
        &report,
        &[("subnormal-sum", "flushed"), ("subnormal-result", "kept")],
    );
    // No f16 product lifts a subnormal f32 number.
    let report = own(
        "a=f16 b=f16 c=f32 d=f32 k=8",
        "fused L=8 F=exact -> rne f32 flush=kept",
    );
    says(
        &report,
        &[("subnormal-c", "unknown"), ("subnormal-a", "kept")],
    );
    let report = own(
        "a=f16 b=f16 c=f32 d=f32 k=8",
        "fused L=8 F=exact -> rne f32",
    );
    says(&report, &[("subnormal-c", "kept")]);
}

/// CDNA3 truncates products and floors c, and its second floor is no floor of the alignment.
#[test]
fn c_is_aligned_by_a_rounding_of_its_own() {
    holds(
        "cdna3",
        "v_mfma_f32_32x32x8_bf16",
        &[
            ("rounding-alignment", "rz"),
            ("rounding-alignment-c", "rd"),
            ("e0", "units of 2^-157"),
        ],
    );
    // A negative term of any size shows where the alignment rounds down: no floor can be seen there.
    for (align, align_c, e0) in [
        ("rz", "rz", "-130"),
        ("rz", "ru", "-130"),
        ("rd", "rz", "unknown"),
    ] {
        let report = own(
            "a=bf16 b=bf16 c=f32 d=f32 k=8",
            &format!("fused L=8 F=24 e0=-130 align={align} align-c={align_c} -> rz f32"),
        );
        says(
            &report,
            &[
                ("rounding-alignment", align),
                ("rounding-alignment-c", align_c),
                ("e0", e0),
            ],
        );
    }
}

/// Every modelled kind of row can be probed, and says what it cannot reach instead of guessing.
#[test]
fn reports_have_json_and_a_page() {
    let report = report(
        "blackwell",
        "tcgen05.mma.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3",
    );
    let json = report.json();
    assert_eq!(
        json["features"].as_array().map(Vec::len),
        Some(report.features.len())
    );
    let page = report.page();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Features of a black box"));
    assert!(!page.contains("http"), "a page is complete in itself");
    // Inputs and outputs are shown; what is concluded without any has none to open.
    let tested = report.features.iter().filter(|it| !it.tests.is_empty());
    let tested = tested.count();
    assert!(tested > 0 && tested < report.features.len());
    assert_eq!(page.matches("<details open>").count(), tested);
    assert_eq!(page.matches("<details").count(), tested);
}

/// A device whose element (3, 5) of a tile computes with another unit.
struct OneElement(ModelDut, ModelDut);

impl mmascope::dut::Dut for OneElement {
    fn signature(&self) -> &mmascope::dpa::Signature {
        self.0.signature()
    }

    fn name(&self) -> &str {
        "one element"
    }

    fn run(
        &mut self,
        batch: &mmascope::dut::Batch,
    ) -> mmascope::Result<Vec<mmascope::vector::Answer>> {
        self.0.run(batch)
    }

    fn has_tiles(&self) -> bool {
        true
    }

    fn tile(
        &mut self,
        tile: &mmascope::gemm::Matrices,
    ) -> mmascope::Result<mmascope::dut::Answers> {
        let place = 3 * tile.n() + 5;
        let other = self.1.tile(tile)?.get(place);
        let own = self.0.tile(tile)?;
        let mut answers: Vec<_> = (0..own.len()).map(|index| own.get(index)).collect();
        answers[place] = other;
        Ok(mmascope::dut::Answers::Each(answers))
    }
}

/// Every place of a tile is asked the same, where the device has tiles.
#[test]
fn an_element_that_differs_is_named() {
    let unit = |arch: &str| {
        let row = Catalogue::built_in().find(arch, "mma.m16n8k16.f32.f16.f16.f32");
        row.and_then(|row| row.unit().cloned()).expect("a row")
    };
    let model = |arch: &str| ModelDut::new(arch, unit(arch));
    let alike = probe(&mut model("hopper")).expect("answers");
    assert_eq!(alike.value("tile"), Some("alike"));
    let mut device = OneElement(model("hopper"), model("ampere"));
    let report = probe(&mut device).expect("answers");
    assert_eq!(report.value("tile"), Some("1 places differ"));
    let feature = report
        .features
        .iter()
        .find(|feature| feature.name == "tile");
    assert!(
        feature
            .expect("a feature")
            .conclusion
            .ends_with("the first is (3, 5)")
    );
}

/// A model of which about every seventh answer is one off.
struct Noisy(ModelDut, u64);

impl mmascope::dut::Dut for Noisy {
    fn signature(&self) -> &mmascope::dpa::Signature {
        self.0.signature()
    }

    fn name(&self) -> &str {
        "noisy"
    }

    fn run(
        &mut self,
        batch: &mmascope::dut::Batch,
    ) -> mmascope::Result<Vec<mmascope::vector::Answer>> {
        let mut answers = self.0.run(batch)?;
        for answer in &mut answers {
            self.1 += 1;
            // One answer of seven or so, at no fixed distance.
            let draw = self.1.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            if let (0, mmascope::vector::Answer::Word(word)) = (draw % 7, answer) {
                *word ^= 1;
            }
        }
        Ok(answers)
    }
}

/// The same question twice: a device that answers differently is said to be noisy, with the questions.
#[test]
fn noise_is_noticed() {
    let row = Catalogue::built_in().find("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let unit = row.and_then(|row| row.unit().cloned()).expect("a row");
    let mut steady = ModelDut::new("steady", unit.clone());
    let report = probe(&mut steady).expect("answers");
    assert_eq!(report.value("repeated"), Some("same"));
    assert!(!report.is_noisy());
    assert_eq!(report.json()["noise"], false);
    let mut device = Noisy(ModelDut::new("noisy", unit), 0);
    let report = probe(&mut device).expect("answers");
    assert_eq!(report.value("repeated"), Some("noise"));
    assert_eq!(report.json()["noise"], true);
    assert!(report.page().contains(mmascope::probe::NOISE));
    let mut features = report.features.iter();
    let feature = features.find(|feature| feature.name == "repeated");
    // Only the questions that had two answers stay as evidence, and each says the first.
    let tests = &feature.expect("it").tests;
    assert!((10..128).contains(&tests.len()), "{}", tests.len());
    assert!(tests.iter().all(|test| test.what.contains("after ")));
}
