//! Expands an instruction as the assembler does: the unit's primitives and the code around them (`precision.md` §2.5).
//!
//! The sequences are the same on every target that was looked at (sm_75 to sm_120a).

/// Multiplications by powers of two around a primitive are exact unless they over- or underflow.
const TABLE: &[(&str, &[&str])] = &[
    ("rcp.approx.ftz.f32", &["MUFU.RCP"]),
    ("rsqrt.approx.ftz.f32", &["MUFU.RSQ"]),
    ("sqrt.approx.ftz.f32", &["MUFU.SQRT"]),
    ("lg2.approx.ftz.f32", &["MUFU.LG2"]),
    ("ex2.approx.ftz.f32", &["MUFU.EX2"]),
    (
        "rcp.approx.f32",
        &[
            "FMUL x*s (s = 2^24 if |x| < 2^-126, 0.25 if |x| > 2^126, else 1)",
            "MUFU.RCP",
            "FMUL by s",
        ],
    ),
    (
        "rsqrt.approx.f32",
        &[
            "FMUL by 2^24 if |x| < 2^-126",
            "MUFU.RSQ",
            "FMUL by 2^12 if scaled",
        ],
    ),
    (
        "sqrt.approx.f32",
        &[
            "FMUL by 2^24 if |x| < 2^-126",
            "MUFU.SQRT",
            "FMUL by 2^-12 if scaled",
        ],
    ),
    (
        "lg2.approx.f32",
        &[
            "FMUL by 2^24 if |x| < 2^-126",
            "MUFU.LG2",
            "FADD -24 if scaled",
        ],
    ),
    (
        "ex2.approx.f32",
        &["FMUL by 0.5 if x < -126", "MUFU.EX2", "FMUL y*y if halved"],
    ),
    ("sin.approx.f32", &["FMUL.RZ by 0x3e22f983", "MUFU.SIN"]),
    ("sin.approx.ftz.f32", &["FMUL.RZ by 0x3e22f983", "MUFU.SIN"]),
    ("cos.approx.f32", &["FMUL.RZ by 0x3e22f983", "MUFU.COS"]),
    ("cos.approx.ftz.f32", &["FMUL.RZ by 0x3e22f983", "MUFU.COS"]),
    ("div.approx.ftz.f32", &["MUFU.RCP of b", "FMUL.FTZ by a"]),
    (
        "div.approx.f32",
        &[
            "FMUL of a and b by 2^24 if |b| < 2^-126",
            "MUFU.RCP of b",
            "FMUL by a",
        ],
    ),
    (
        "div.full.f32",
        &[
            "FMUL of a and b by 0.25 if |b| > 2^126, by 2^24 if |b| < 2^-126",
            "MUFU.RCP of b",
            "FMUL by a",
        ],
    ),
    (
        "div.full.ftz.f32",
        &[
            "FMUL of a and b by 0.25 if |b| > 2^126",
            "MUFU.RCP of b",
            "FMUL.FTZ by a",
        ],
    ),
    ("tanh.approx.f32", &["MUFU.TANH"]),
    ("tanh.approx.f16", &["MUFU.TANH.F16"]),
    ("tanh.approx.bf16", &["MUFU.TANH.BF16"]),
    ("ex2.approx.f16", &["MUFU.EX2.F16"]),
    ("ex2.approx.ftz.bf16", &["MUFU.EX2.BF16"]),
    (
        "rcp.approx.ftz.f64",
        &["MUFU.RCP64H of the upper word; the lower word is 0"],
    ),
    (
        "rsqrt.approx.ftz.f64",
        &["MUFU.RSQ64H of the upper word; the lower word is 0"],
    ),
    (
        "cvt.rna.tf32.f32",
        &["if |x| < Inf: IADD 0x1000", "LOP3 & 0xffffe000"],
    ),
];

/// The sequence of an instruction by its name; empty where it was not looked at.
#[must_use]
pub(super) fn of(instruction: &str) -> Vec<String> {
    let known = TABLE.iter().find(|(name, _)| *name == instruction);
    if let Some((_, sequence)) = known {
        return sequence.iter().map(|&line| line.to_owned()).collect();
    }
    let words: Vec<&str> = instruction.split('.').collect();
    let (opcode, kind) = (words[0], *words.last().unwrap_or(&""));
    let suffix = |wanted: &[&str]| -> String {
        let kept = words[1..words.len() - 1]
            .iter()
            .filter(|word| wanted.contains(word));
        kept.map(|word| format!(".{}", word.to_uppercase()))
            .collect()
    };
    let with = |name: &str| {
        vec![format!(
            "{name}{}",
            suffix(&["rz", "rm", "rp", "ftz", "sat"])
        )]
    };
    match (opcode, kind) {
        ("add" | "sub", "f32") => with("FADD"),
        ("mul", "f32") => with("FMUL"),
        ("fma", "f32") => with("FFMA"),
        ("div" | "sqrt" | "rcp", "f32") => {
            let seed = if opcode == "sqrt" {
                "MUFU.RSQ"
            } else {
                "MUFU.RCP"
            };
            vec![
                seed.to_owned(),
                "FFMA refinement, slow path for the rest; correctly rounded".to_owned(),
            ]
        }
        ("cvt", _)
            if words
                .iter()
                .any(|word| word.starts_with("e4m3x") || word.starts_with("e5m2x")) =>
        {
            vec!["F2FP".to_owned()]
        }
        _ => Vec::new(),
    }
}
