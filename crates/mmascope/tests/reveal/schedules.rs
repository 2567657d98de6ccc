//! Closure over schedules: what is revealed of an output of the engine is the schedule's tree.

use mmascope::dut::{DeviceName, Dut};
use mmascope::format::{F32, F64};
use mmascope::gemm::{Schedule, schedule::OutputPlace};
use mmascope::isa::Catalogue;
use mmascope::reveal::{DeviceSum, RevealOptions, reveal};

#[test]
fn revealed_trees_are_the_schedules_trees() {
    let catalogue = Catalogue::built_in();
    // Single FMAs and pairwise sums: masks see every node of these rows.
    let rows = [
        ("ampere", "mma.m8n8k4.f64.f64.f64.f64", 24, F64, "f64"),
        ("cdna3", "v_mfma_f32_32x32x2_f32", 12, F32, "f32"),
        ("hopper", "mma.m16n8k16.f32.f16.f16.f32", 96, F32, "f32"),
    ];
    for (arch, inst, n, format, name) in rows {
        for schedule in [
            "",
            "order=descending",
            "order=stride/2",
            "order=blocks/2,0,1",
            "split-k=3 reduce=ascending/TYPE",
            "split-k=4 reduce=descending/TYPE",
            "split-k=5 reduce=pairwise/TYPE",
            "stream-k=4 tile=8x8 reduce=ascending/TYPE",
            "promote=2/TYPE",
            "c=epilogue/TYPE by=mul-add",
            "c=epilogue/TYPE alpha=0.25 beta=-8 by=mul-add",
            "split-k=2 reduce=ascending/TYPE; c=epilogue/TYPE alpha=-1 beta=2 by=mul-add",
            "c=epilogue/TYPE alpha=-1024 beta=0",
            "order=descending; split-k=2 reduce=ascending/TYPE; promote=1/TYPE; c=epilogue/TYPE by=mul-add",
        ] {
            let schedule = schedule.replace("TYPE", name);
            let text = match &*schedule {
                "" => format!("gemm:{arch}:{inst}"),
                schedule => format!("gemm:{arch}:{inst}:{schedule}"),
            };
            let subject: DeviceName = text.parse().expect("a subject");
            let mut device = subject
                .with_products(Some(n))
                .open(catalogue, None, mmascope::dut::DEFAULT_TIMEOUT)
                .expect("opens");
            let device: &mut dyn Dut = device.as_mut();
            let mut sum = DeviceSum::new(device).expect("float operands");
            let report =
                reveal(&mut sum, &RevealOptions::default()).expect("a model does not fail");
            let schedule = match &*schedule {
                "" => Schedule::default(),
                text => text.parse().expect("a schedule"),
            };
            let unit = catalogue
                .find(arch, inst)
                .and_then(|row| row.unit())
                .expect("a row");
            let expected = schedule
                .tree(unit, &OutputPlace::single(n))
                .expect("a tree");
            assert_eq!(
                report.tree.shape(format).to_string(),
                expected.shape(format).to_string(),
                "{text}: {} {:?}",
                report.verdict(),
                report.notes
            );
            assert!(
                report.holds(),
                "{text}: {} {:?}",
                report.verdict(),
                report.notes
            );
        }
    }
}

/// Schedules whose units are no IEEE operations are replayed, not only seen by masks: by truncated sums
/// where those have the bits, otherwise by the model of the instruction, a node at a time.
#[test]
fn added_and_fused_nodes_are_replayed() {
    let catalogue = Catalogue::built_in();
    let f16 = "hopper:mma.m16n8k16.f32.f16.f16.f32";
    let cdna3 = "cdna3:v_mfma_f32_32x32x8_f16";
    for (text, n, arithmetic) in [
        (
            format!("gemm:{f16}:split-k=2 reduce=ascending/f32"),
            64,
            "4 fused f32 keeping 25 bits rounding rz, 1 add f32",
        ),
        (
            format!("gemm:{f16}:promote=2/f64"),
            64,
            "4 fused f32 keeping 25 bits rounding rz, 2 add f64",
        ),
        (
            "gemm:hopper:wgmma.m64n8k32.f32.e4m3.e4m3:promote=1/f32".to_owned(),
            128,
            "4 fused e8m13 keeping 13 bits rounding rz, 4 add f32",
        ),
        (
            "gemm:ampere:mma.m8n8k4.f64.f64.f64.f64:split-k=2 reduce=ascending/f32".to_owned(),
            16,
            "15 fma f64, 1 add f32",
        ),
        (
            "gemm:cdna2:v_mfma_f32_32x32x8_f16:split-k=2 reduce=ascending/f64".to_owned(),
            32,
            "31 add f32, 1 add f64",
        ),
        (
            format!("gemm:{cdna3}"),
            32,
            "4 fused f32 by the instruction's own model",
        ),
        (
            format!("gemm:{cdna3}:split-k=2 reduce=pairwise/f32"),
            32,
            "4 fused f32 by the instruction's own model, 1 add f32",
        ),
        (
            format!("gemm:{cdna3}:promote=1/f32; out=rne f16"),
            32,
            "4 fused f32 by the instruction's own model, 4 add f32",
        ),
    ] {
        let subject: DeviceName = text.parse().expect("a subject");
        let subject = subject.with_products(Some(n));
        let instruction = subject.instruction(catalogue).expect("a row");
        let mut device = subject
            .open(catalogue, None, mmascope::dut::DEFAULT_TIMEOUT)
            .expect("opens");
        let device: &mut dyn Dut = device.as_mut();
        let sum = DeviceSum::new(device).expect("float operands");
        let mut sum = sum.with_instruction(instruction.expect("a model"));
        let report = reveal(&mut sum, &RevealOptions::default()).expect("a model does not fail");
        assert_eq!(
            report.verdict(),
            format!("verified over 100 trials ({arithmetic})"),
            "{text}: {:?}",
            report.notes
        );
    }
}

/// α and β are no nodes: powers of two are taken out, and said; others are refused with numbers.
#[test]
fn factors_are_said() {
    let revealed = |epilogue: &str| {
        let text = format!(
            "gemm:hopper:mma.m16n8k16.f32.f16.f16.f32:c=epilogue/f32 {epilogue}; out=rne f16"
        );
        let subject: DeviceName = text.parse().expect("a subject");
        let opened = subject.with_products(Some(32)).open(
            Catalogue::built_in(),
            None,
            mmascope::dut::DEFAULT_TIMEOUT,
        );
        let mut device = opened.expect("opens");
        let device: &mut dyn Dut = device.as_mut();
        let mut sum = DeviceSum::new(device).expect("float operands");
        reveal(&mut sum, &RevealOptions::default())
    };
    let plain = revealed("by=mul-add").expect("a tree");
    assert!(plain.holds() && plain.notes.is_empty(), "{:?}", plain.notes);
    let scaled = revealed("alpha=0.5 beta=-4 by=mul-add").expect("a tree");
    assert!(scaled.holds(), "{}", scaled.verdict());
    assert_eq!(scaled.tree, plain.tree);
    assert_eq!(
        scaled.notes,
        [
            "the sum of the products counts 0.5 times, c -4 times: factors are no nodes, and the tree \
             is that of the numbers before them"
        ]
    );
    let alone = revealed("beta=0").expect("a tree");
    assert!(alone.holds(), "{}", alone.verdict());
    assert_eq!(
        (alone.leaves.len(), &*alone.notes[0]),
        (32, "c is not read, so it is no leaf")
    );
    let refused = revealed("alpha=3").expect_err("3 is no power of two");
    let refused = refused.to_string();
    assert!(
        refused.contains("a product of 1 gives 3, and c = 1 gives 1"),
        "{refused}"
    );
}

/// The model of another instruction does not reproduce the bits, and the report says so.
#[test]
fn a_wrong_model_is_refuted() {
    let catalogue = Catalogue::built_in();
    let open = |text: &str| {
        let subject: DeviceName = text.parse().expect("a subject");
        subject.open(catalogue, None, mmascope::dut::DEFAULT_TIMEOUT)
    };
    let mut device = open("gemm:cdna3:v_mfma_f32_32x32x8_f16").expect("opens");
    let device: &mut dyn Dut = device.as_mut();
    let other = open("model:cdna2:v_mfma_f32_32x32x8_f16").expect("opens");
    let mut sum = DeviceSum::new(device)
        .expect("float operands")
        .with_instruction(other);
    let report = reveal(&mut sum, &RevealOptions::default()).expect("a model does not fail");
    assert!(!report.holds(), "{}", report.verdict());
    let example = report.verified.counter_example.expect("a counter-example");
    assert!(
        example.contains("subject") && example.contains("tree"),
        "{example}"
    );
}

#[test]
fn subjects_that_are_wrong() {
    for (text, message) in [
        (
            "gemm:hopper",
            "expected model:ARCH:INST, gemm:ARCH:INST[:SCHEDULE]",
        ),
        ("gemm::hopper:x", "expected"),
        ("hopper:wgmma", "did you mean 'model:hopper:wgmma'?"),
        (
            "hopper:wgmma:chain",
            "did you mean 'gemm:hopper:wgmma:chain'?",
        ),
        ("build/unit.so", "did you mean 'plugin:build/unit.so'?"),
        (
            "libopenblas.so.0:cblas_sdot",
            "did you mean 'lib:libopenblas.so.0:cblas_sdot'?",
        ),
        ("x.dylib:sdot", "did you mean 'lib:x.dylib:sdot'?"),
        ("Cargo.toml", "did you mean 'cmd:Cargo.toml'?"),
        ("python3 x.py", "did you mean 'cmd:python3 x.py'?"),
        ("python3 x.py a:b", "did you mean 'cmd:python3 x.py a:b'?"),
        ("nothing", "reveal takes lib:PATH:SYMBOL too"),
        (
            "gemm:hopper:mma.m16n8k16.f32.f16.f16.f32:split-k=2",
            "expected reduce=",
        ),
        (
            "gemm:hopper:mma.m16n8k16.f32.f16.f16.f32:chain:chain",
            "expected",
        ),
    ] {
        let error = text.parse::<DeviceName>().expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
    // Two colons separate nothing.
    let kind = "gemm:blackwell:tcgen05.mma.m128n8k16.kind::f16.f32.f16.f16:order=descending";
    match kind.parse::<DeviceName>() {
        Ok(DeviceName::Gemm { inst, schedule, .. }) => {
            assert_eq!(inst, "tcgen05.mma.m128n8k16.kind::f16.f32.f16.f16");
            assert_eq!(schedule.to_string(), "order=descending");
        }
        other => panic!("{other:?}"),
    }
    let open = |text: &str, n: usize| {
        let subject: DeviceName = text.parse().expect("a subject");
        let opened = subject.with_products(Some(n)).open(
            Catalogue::built_in(),
            None,
            mmascope::dut::DEFAULT_TIMEOUT,
        );
        opened
            .map(|device| *device.signature())
            .map_err(|error| error.to_string())
    };
    let row = "gemm:hopper:mma.m16n8k16.f32.f16.f16.f32";
    let ragged = open(row, 20).expect_err("20 is no multiple");
    assert!(
        ragged.contains("20 products are no multiple of the instruction's 16"),
        "{ragged}"
    );
    let parts = open(&format!("{row}:split-k=4 reduce=pairwise/f32"), 48).expect_err("3 steps");
    assert!(parts.contains("K takes only 3 steps"), "{parts}");
    let halves = open(&format!("{row}:out=rne f16"), 48).expect("opens");
    assert_eq!((halves.k, halves.d.name), (48, "f16"));
    let scaled = open(&format!("{row}:promote=2/f32 scale=1x128"), 80);
    assert_eq!(scaled.map(|signature| signature.k), Ok(80));
}
