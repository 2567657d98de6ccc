//! Names: aliases, full spellings, old mnemonics, near misses.

use mmascope::Error;
use mmascope::isa::{Catalogue, Instruction};

const ALIASES: [(&str, &[&str]); 10] = [
    ("volta", &["sm_70", "sm_72", "V100", "TITAN V"]),
    ("turing", &["sm_75", "T4", "RTX 2080"]),
    (
        "ampere",
        &[
            "sm_80", "sm_86", "sm_87", "sm_88", "A100", "A2", "A30", "RTX 3090",
        ],
    ),
    ("ada", &["sm_89", "L4", "L40S", "RTX 4090"]),
    ("hopper", &["sm_90", "sm_90a", "H100", "H200", "GH200"]),
    ("blackwell", &["sm_100", "sm_100a", "B200", "GB200"]),
    ("rtx-blackwell", &["sm_120", "sm_121", "RTX 5090", "GB10"]),
    ("cdna1", &["gfx908", "MI100"]),
    ("cdna2", &["gfx90a", "MI210", "MI250X"]),
    ("cdna3", &["gfx942", "MI300X", "MI300A"]),
];

#[test]
fn aliases_in_any_case() {
    let catalogue = Catalogue::built_in();
    for (name, aliases) in ALIASES {
        for alias in aliases.iter().chain([&name]) {
            let spellings = [
                (*alias).to_owned(),
                alias.to_lowercase(),
                alias.to_uppercase(),
                alias.replace('_', ""),
                alias.replace([' ', '-'], ""),
            ];
            for spelling in spellings {
                let found = catalogue.architecture(&spelling);
                let found = found.unwrap_or_else(|error| panic!("{spelling}: {error}"));
                assert_eq!(found.name, name, "{spelling}");
            }
        }
    }
}

#[test]
fn known_chips_without_a_model() {
    let catalogue = Catalogue::built_in();
    for chip in [
        "sm_103", "sm_107", "sm_110", "gfx950", "gfx1100", "gfx1201", "gfx1250",
    ] {
        let architecture = catalogue
            .architecture(chip)
            .unwrap_or_else(|error| panic!("{error}"));
        // Sums of integers are exact everywhere.
        let floats = |row: &&Instruction| row.signature.c.float().is_some();
        for row in architecture.instructions().filter(floats) {
            let error = row.unit().expect_err("no model");
            assert!(matches!(error, Error::Unmodelled { .. }), "{chip} {error}");
        }
        let unlisted = match chip.starts_with("sm") {
            true => "mma.m99n8k16.f32",
            false => "v_wmma_f64_99x99x99_f64",
        };
        let unknown = architecture.find("hello").expect_err("no such row");
        assert!(matches!(unknown, Error::Unknown { .. }), "{chip} {unknown}");
        let error = architecture.find(unlisted).expect_err("no such row");
        assert!(matches!(error, Error::Unmodelled { .. }), "{chip} {error}");
        assert!(
            error.to_string().contains("known but not modelled: "),
            "{error}"
        );
    }
}

/// (architecture, a spelling, the row's name)
const SPELLINGS: &[(&str, &str, &str)] = &[
    (
        "sm_80",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.m16n8k16.f32.f16.f16.f32",
    ),
    (
        "sm_80",
        "MMA.SYNC.ALIGNED.M16N8K16.ROW.COL.F32.F16.F16.F32",
        "mma.m16n8k16.f32.f16.f16.f32",
    ),
    (
        "sm_80",
        " mma.m16n8k16.f32.f16.f16.f32 ",
        "mma.m16n8k16.f32.f16.f16.f32",
    ),
    (
        "sm_70",
        "mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16",
        "mma.m8n8k4.f16.f16.f16.f16",
    ),
    (
        "sm_90",
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
        "mma.m8n8k16.f64",
    ),
    (
        "sm_80",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn",
        "mma.m8n8k4.f64.f64.f64.f64",
    ),
    (
        "sm_80",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz",
        "mma.m8n8k4.rz.f64.f64.f64.f64",
    ),
    (
        "sm_80",
        "mma.m8n8k4.rz.f64.f64.f64.f64",
        "mma.m8n8k4.rz.f64.f64.f64.f64",
    ),
    (
        "sm_80",
        "mma.rz.m8n8k4.f64.f64.f64.f64",
        "mma.m8n8k4.rz.f64.f64.f64.f64",
    ),
    (
        "sm_80",
        "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64",
        "wmma.m8n8k4.rz.f64.f64.f64.f64",
    ),
    (
        "sm_80",
        "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rp",
        "wmma.m8n8k4.rp.f64.f64.f64.f64",
    ),
    (
        "sm_70",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
        "wmma.m16n16k16.f32.f16.f16.f32",
    ),
    (
        "sm_70",
        "wmma.mma.sync.aligned.row.col.m32n8k16.f16.f32",
        "wmma.m16n16k16.f16.f16.f16.f32",
    ),
    (
        "sm_80",
        "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32",
        "wmma.m16n16k8.f32.tf32.tf32.f32",
    ),
    (
        "sm_90",
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16",
        "wgmma.m64n8k16.f32.f16.f16",
    ),
    (
        "sm_90",
        "wgmma.m64n24k32.f32.e4m3.e5m2",
        "wgmma.m64n8k32.f32.e4m3.e5m2",
    ),
    (
        "sm_90",
        "mma.m16n8k32.f32.e4m3.e4m3.f32@ptxas12.4",
        "mma.m16n8k32.f32.e4m3.e4m3.f32@ptxas12.4",
    ),
    (
        "sm_90",
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32@PTXAS12.4",
        "mma.m16n8k32.f32.e4m3.e4m3.f32@ptxas12.4",
    ),
    (
        "sm_120",
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0",
        "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0",
    ),
    (
        "sm_120",
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
        "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0",
    ),
    (
        "sm_121",
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
        "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
    ),
    (
        "sm_121",
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        "mma.m16n8k64.kind::mxf4nvf4.block32.f32.e2m1.e2m1.f32.ue8m0",
    ),
    (
        "sm_100",
        "tcgen05.mma.cta_group::1.m128n8k64.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3",
        "tcgen05.mma.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    ),
    (
        "sm_100",
        "tcgen05.mma.cta_group::2.m256n64k32.kind::f8f6f4.f32.e4m3.e3m2",
        "tcgen05.mma.cta_group::2.m128n16k32.kind::f8f6f4.f32.e4m3.e3m2",
    ),
    (
        "sm_100",
        "tcgen05.mma.ws.m32n64k16.kind::f16.f32.bf16.bf16",
        "tcgen05.mma.ws.m128n64k16.kind::f16.f32.bf16.bf16",
    ),
    ("gfx942", "v_mfma_f32_32x32x8_f16", "v_mfma_f32_32x32x8_f16"),
    ("gfx942", "v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16"),
    (
        "gfx942",
        "v_mfma_f32_32x32x4f16",
        "v_mfma_f32_32x32x4_2b_f16",
    ),
    (
        "gfx90a",
        "v_mfma_f32_32x32x4_2b_f16",
        "v_mfma_f32_32x32x4_2b_f16",
    ),
    ("gfx90a", "V_MFMA_F32_4X4X4F16", "v_mfma_f32_16x16x4_4b_f16"),
    (
        "gfx90a",
        "v_mfma_f32_32x32x4bf16_1k",
        "v_mfma_f32_32x32x4_2b_bf16_1k",
    ),
    ("gfx90a", "v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64"),
    (
        "gfx942",
        "v_mfma_f32_32x32x8_bf16_1k",
        "v_mfma_f32_32x32x8_bf16",
    ),
    (
        "gfx942",
        "v_mfma_f32_16x16x32_fp8_bf8",
        "v_mfma_f32_16x16x32_fp8_bf8",
    ),
    (
        "gfx942",
        "v_mfma_f32_16x16x8xf32",
        "v_mfma_f32_16x16x8_xf32",
    ),
];

#[test]
fn full_spellings_and_old_mnemonics() {
    let catalogue = Catalogue::built_in();
    for &(architecture, spelling, name) in SPELLINGS {
        let found = catalogue.find(architecture, spelling);
        let found = found.unwrap_or_else(|error| panic!("{spelling}: {error}"));
        if name == "mma.m8n8k16.f64" {
            assert!(found.name.starts_with("mma.m16n8k16.f64"), "{}", found.name);
        } else {
            let same = catalogue.find(architecture, name).expect(name);
            assert_eq!(found.name, same.name, "{spelling}");
        }
    }
}

/// A spelling's row is the one of its K, whatever shape stands first.
#[test]
fn shapes_that_are_not_legal_are_named_with_those_that_are() {
    let catalogue = Catalogue::built_in();
    let refused = |architecture, name: &str| match catalogue.find(architecture, name) {
        Err(Error::Argument(message)) => message,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(
        refused("hopper", "wgmma.m64n12k16.f32.f16.f16"),
        "instruction 'wgmma.m64n12k16.f32.f16.f16': the shape is not legal on hopper; \
         legal with K=16: m64n{8..256/8}k16"
    );
    let message = refused("blackwell", "tcgen05.mma.m64n264k16.kind::f16.f32.f16.f16");
    assert!(
        message.ends_with("legal with K=16: m{128,64}n{8..256/8}k16"),
        "{message}"
    );
    let message = refused("cdna3", "v_mfma_f32_8x8x8_f16");
    assert!(message.ends_with("legal with K=8: 32x32x8"), "{message}");
    let message = refused("cdna3", "v_mfma_f32_32x32x4_4b_f16");
    assert!(message.contains("32x32x4_2b"), "{message}");
}

#[test]
fn the_beginning_of_a_name_suggests_names_that_begin_so() {
    for (arch, beginning) in [
        ("hopper", "mma.m16n8k32.f16"),
        ("ampere", "wmma.m16"),
        ("turing", "wmma.m16"),
    ] {
        let message = Catalogue::built_in()
            .architecture(arch)
            .and_then(|architecture| architecture.find(beginning).map(drop))
            .expect_err("no whole name")
            .to_string();
        let nearest = message.split("nearest: ").nth(1).expect("suggestions");
        assert!(nearest.starts_with(beginning), "{message}");
    }
}

#[test]
fn near_misses_suggest_the_right_name() {
    let catalogue = Catalogue::built_in();
    let architectures = [
        ("hoper", "hopper"),
        ("sm_9O", "sm_90"),
        ("H10O", "H100"),
        ("rtx-blackwel", "rtx-blackwell"),
        ("cdna", "cdna1"),
        ("gfx94", "gfx942"),
    ];
    for (wrong, right) in architectures {
        match catalogue.architecture(wrong) {
            Err(Error::Unknown {
                what,
                name,
                nearest,
                ..
            }) => {
                assert_eq!((what, &*name), ("architecture", wrong));
                assert!(
                    nearest.iter().any(|name| name == right),
                    "{wrong}: {nearest:?}"
                );
                assert!(nearest.len() <= 3);
            }
            other => panic!("{wrong}: {other:?}"),
        }
    }
    let instructions = [
        (
            "hopper",
            "mma.m16n8k16.f32.f16.f16",
            "mma.m16n8k16.f32.f16.f16.f32",
        ),
        (
            "hopper",
            "mma.m16n8k61.f32.f16.f16.f32",
            "mma.m16n8k16.f32.f16.f16.f32",
        ),
        (
            "hopper",
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f23",
            "mma.m16n8k16.f32.f16.f16.f32",
        ),
        (
            "hopper",
            "wgma.m64n8k16.f32.f16.f16",
            "wgmma.m64n8k16.f32.f16.f16",
        ),
        (
            "hopper",
            "mma.m16n8k32.f32.e4m3.e4m3.f32@ptxas12.5",
            "mma.m16n8k32.f32.e4m3.e4m3.f32@ptxas12.4",
        ),
        ("cdna3", "v_mfma_f32_32x32x8_fp16", "v_mfma_f32_32x32x8_f16"),
        ("cdna3", "mfma_f32_32x32x8_f16", "v_mfma_f32_32x32x8_f16"),
    ];
    for (architecture, wrong, right) in instructions {
        match catalogue.find(architecture, wrong) {
            Err(Error::Unknown { what, nearest, .. }) => {
                assert_eq!(what, "instruction");
                assert!(
                    nearest.iter().any(|name| name == right),
                    "{wrong}: {nearest:?}"
                );
            }
            other => panic!("{wrong}: {other:?}"),
        }
    }
    let error = catalogue.find("hopper", "zzz").expect_err("unknown");
    assert_eq!(error.to_string(), "unknown instruction 'zzz' of 'hopper'");
}

/// A name of a megabyte is refused at once, and the message does not repeat it.
#[test]
fn huge_names_are_refused_quickly() {
    let catalogue = Catalogue::built_in();
    let start = std::time::Instant::now();
    for unit in ["a", "m", ".m16n8k16", "v_1_", "_1x1x1", "😀", "1"] {
        let long = unit.repeat((1 << 20) / unit.len());
        for name in [long.clone(), format!("v_{long}"), format!("mma.{long}")] {
            let error = catalogue.find("blackwell", &name).expect_err("unknown");
            assert!(
                error.to_string().len() < 1000,
                "{}",
                error.to_string().len()
            );
            assert!(catalogue.architecture(&name).is_err());
        }
    }
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}
