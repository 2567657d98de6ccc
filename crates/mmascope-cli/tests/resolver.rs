//! `mmascope legal` and `mmascope resolve`: JSON, exit status, messages (interfaces.md §9).

use std::process::{Command, Output};

use serde_json::Value;

fn mmascope(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(args)
        .output()
        .expect("the program runs")
}

fn json(args: &[&str]) -> (Value, i32) {
    let output = mmascope(&[args, &["--json"]].concat());
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{args:?}: {error}: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    (value, output.status.code().expect("an exit status"))
}

fn refused(args: &[&str], said: &[&str]) {
    let output = mmascope(args);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(output.stdout.is_empty(), "{args:?}");
    assert!(
        said.iter().all(|part| message.contains(part)),
        "{args:?}: {message}"
    );
}

#[test]
fn legal_lists_the_targets_that_take_an_instruction() {
    let (value, status) = json(&["legal", "cvt.rn.satfinite.e4m3x2.f32 h2,f0,f1"]);
    assert_eq!(status, 0);
    let targets = value["targets"].as_array().expect("targets");
    assert!(targets.contains(&"sm_89".into()) && !targets.contains(&"sm_86".into()));
    assert_eq!(value["table"]["sm_86"], false);
    assert_eq!(
        (
            &value["legal"],
            value["mmascope"].is_string(),
            value["catalogue"].is_string()
        ),
        (&true.into(), true, true)
    );
}

#[test]
fn legal_answers_no_with_the_reason() {
    let (value, status) = json(&["legal", "cvt.rn.e4m3x2.f32"]);
    assert_eq!((status, &value["legal"]), (1, &false.into()));
    assert_eq!(value["targets"], Value::Array(Vec::new()));
    assert!(
        value["diagnostics"][0]["text"]
            .as_str()
            .expect("a text")
            .contains("satfinite")
    );
    assert_eq!(
        json(&[
            "legal",
            "add.ftz.f32",
            "--target",
            "sm_90",
            "--target",
            "sm_75"
        ])
        .1,
        0
    );
    assert_eq!(json(&["legal", "add.bf16", "--target", "sm_90,sm_75"]).1, 1);
}

#[test]
fn resolve_gives_instructions_rule_and_diagnostics() {
    let (value, status) = json(&[
        "resolve",
        "a*b+c",
        "--type",
        "f32",
        "--target",
        "sm_90",
        "--fmf",
        "contract",
        "--denormal",
        "preserve-sign,preserve-sign",
    ]);
    assert_eq!((status, &value["legal"]), (0, &true.into()));
    assert_eq!(value["ptx"], serde_json::json!(["fma.rn.ftz.f32"]));
    assert_eq!(value["sass"], serde_json::json!(["FFMA.FTZ"]));
    assert!(value["rule"].as_str().expect("a rule").contains("contract"));
    let note = &value["diagnostics"][0];
    assert!(note["severity"].is_string() && note["text"].is_string() && note["rule"].is_string());
}

/// SM 75 has no conversions of bf16.
#[test]
fn resolve_names_what_a_target_does_instead_of_an_instruction_that_it_lacks() {
    for (target, first, named) in [
        (
            "sm_75",
            "code   cvt.f32.bf16 %t0, %a;",
            "\nptx    shl.b32; shl.b32; mul.rn.f32;",
        ),
        ("sm_90", "ptx    mul.rn.bf16 %t0, %a, %b;", ""),
    ] {
        let output = mmascope(&["resolve", "a*b", "--type", "bf16", "--target", target]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.lines().nth(1), Some(first), "{text}");
        assert!(text.contains(named), "{text}");
    }
}

/// Several targets stand under each other, each as it stands alone; one that takes nothing makes the answer no.
#[test]
fn resolve_takes_several_targets() {
    let of = |targets: &str| {
        let operation = "cvt.rn.satfinite.e4m3x2.f32";
        mmascope(&["resolve", operation, "--target", targets])
    };
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let (left, right, both) = (of("sm_90"), of("sm_80"), of("sm_90,sm_80"));
    assert_eq!(
        (left.status.code(), right.status.code()),
        (Some(0), Some(1))
    );
    assert_eq!(both.status.code(), Some(1));
    assert_eq!(
        text(&both),
        format!(
            "target sm_90\n{}\ntarget sm_80\n{}",
            text(&left),
            text(&right)
        )
    );
    let (listed, _) = json(&[
        "resolve",
        "sqrt",
        "--type",
        "f32",
        "--target",
        "sm_90,sm_80",
    ]);
    for (index, target) in ["sm_90", "sm_80"].into_iter().enumerate() {
        let (mut alone, _) = json(&["resolve", "sqrt", "--type", "f32", "--target", target]);
        for envelope in ["mmascope", "catalogue"] {
            alone.as_object_mut().expect("an object").remove(envelope);
        }
        assert_eq!(listed["resolutions"][index], alone);
    }
}

#[test]
fn resolve_exits_1_for_what_is_illegal() {
    for args in [
        &[
            "resolve",
            "cvt.rn.satfinite.e4m3x2.f32",
            "--target",
            "sm_80",
        ][..],
        &[
            "resolve", "a+b", "--type", "f64", "--target", "sm_90", "--ftz",
        ],
        &[
            "resolve",
            "__nv_sqrtf",
            "--type",
            "f32",
            "--target",
            "sm_90",
            "--policy",
            "seed",
            "--reflect",
            "__CUDA_FTZ=1",
        ],
        &[
            "resolve", "sin", "--type", "f32", "--target", "sm_90", "--round", "rn",
        ],
    ] {
        let (value, status) = json(args);
        assert_eq!((status, &value["legal"]), (1, &false.into()), "{args:?}");
        let notes = value["diagnostics"].as_array().expect("diagnostics");
        assert!(
            notes.iter().any(|note| note["severity"] == "error"),
            "{args:?}"
        );
    }
}

#[test]
fn resolve_evaluates_what_it_resolved() {
    let (value, _) = json(&[
        "resolve", "a/b", "--type", "f32", "--target", "sm_90", "--value", "1", "3",
    ]);
    for key in ["out", "lo", "hi"] {
        assert_eq!(value[key], "3eaaaaab", "{key}");
    }
    assert_eq!(
        (&value["in"], &value["exact"]),
        (&serde_json::json!(["3f800000", "40400000"]), &true.into())
    );
    let (value, _) = json(&[
        "resolve", "sqrt", "--type", "f32", "--target", "sm_90", "--approx", "--value", "2", "-0",
        "4",
    ]);
    let results = value["results"].as_array().expect("results");
    assert_eq!(results.len(), 3);
    assert_eq!(
        (&results[0]["out"], &results[0]["exact"]),
        (&"3fb504f3".into(), &false.into())
    );
    assert!(
        results[0]["lo"].as_str() < results[0]["out"].as_str()
            && results[0]["out"].as_str() < results[0]["hi"].as_str()
    );
    assert_eq!(
        (&results[1]["out"], &results[1]["exact"]),
        (&"80000000".into(), &true.into())
    );
}

#[test]
fn resolve_packs_elements_and_says_where_no_value_is_known() {
    let (value, status) = json(&[
        "resolve",
        "cvt.rn.satfinite.e4m3x2.f32",
        "--target",
        "sm_90",
        "--value",
        "1",
        "1000",
    ]);
    assert_eq!(status, 0);
    for key in ["out", "lo", "hi"] {
        assert_eq!(value[key], "387e", "{key}");
    }
    assert_eq!(value["exact"], true);
    let (value, status) = json(&[
        "resolve",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
        "--target",
        "sm_90a",
        "--value",
        "1",
    ]);
    assert_eq!(status, 0);
    for key in ["out", "lo", "hi"] {
        assert_eq!(value[key], Value::Null, "{key}");
    }
    assert_eq!(value["exact"], false);
    let reason = value["bound"].as_str().expect("a reason");
    assert!(reason.contains("no value is known"), "{reason}");
}

#[test]
fn legal_does_not_deny_what_it_does_not_cover() {
    refused(
        &["legal", "mma.sp.m16n8k32.f32.f16.f16.f32"],
        &["do not cover sparse"],
    );
    refused(&["legal", "add.s32"], &["do not cover", "integers"]);
    let (value, status) = json(&["legal", "mma.m16n8k64.s32.s4.u4.s32"]);
    assert_eq!((status, &value["legal"]), (0, &true.into()));
    assert_eq!(value["table"]["sm_75"], false);
    assert_eq!(value["table"]["sm_80"], true);
}

#[test]
fn resolve_reads_a_function_from_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("f.ll");
    std::fs::write(
        &file,
        "define float @f(float %x) {\n  %r = fsub nnan float %x, %x\n  ret float %r\n}\n",
    )
    .expect("a file");
    let (value, status) = json(&[
        "resolve",
        "--input",
        file.to_str().expect("a name"),
        "--target",
        "sm_90",
        "--value",
        "5",
    ]);
    assert_eq!(
        (status, &value["ptx"], &value["out"]),
        (0, &serde_json::json!([]), &"00000000".into())
    );
}

#[test]
fn wrong_input_exits_2_and_names_the_argument() {
    let base = ["resolve", "sqrt", "--target", "sm_90", "--type"];
    let with = |more: &[&str], said: &[&str]| refused(&[&base[..], &["f32"], more].concat(), said);
    with(&["--fmf", "contrct"], &["--fmf", "contrct", "contract"]);
    with(&["--policy", "nvvm"], &["--policy", "nvvm", "libnvvm"]);
    with(&["--round", "rne2"], &["--round", "rne2"]);
    with(
        &["--denormal", "flush"],
        &["--denormal", "flush", "preserve-sign"],
    );
    with(&["--reflect", "KEY"], &["reflect", "KEY", "KEY=VALUE"]);
    with(&["--preset", "inferense"], &["--preset", "inference"]);
    with(&["--value", "abc"], &["value", "abc"]);
    refused(
        &["resolve", "sqrt", "--type", "f32", "--target", "sm_91"],
        &["--target", "sm_91", "sm_90"],
    );
    refused(
        &["resolve", "sqrt", "--target", "sm_90"],
        &["--type: it is missing"],
    );
    refused(
        &["resolve", "sqrt", "--type", "f23", "--target", "sm_90"],
        &["--type", "f23", "f32"],
    );
    refused(
        &[
            "resolve", "a*b", "--type", "f32", "--target", "sm_90", "--value", "1", "2", "3",
        ],
        &["--value", "multiple of 2"],
    );
    refused(
        &["legal", "frobnicate.f32"],
        &["unknown opcode", "frobnicate"],
    );
    refused(
        &["legal", "add.f32", "--target", "hopper"],
        &["--target", "hopper"],
    );
}

#[test]
fn names_that_nobody_knows_are_refused() {
    for (name, said) in [
        ("foo", "unknown operation 'foo'"),
        ("sinf", "nearest: sin"),
        ("__nv_foo", "unknown function '__nv_foo'"),
    ] {
        refused(
            &["resolve", name, "--type", "f32", "--target", "sm_90"],
            &[said],
        );
    }
    refused(
        &["resolve", "zzz.f32", "--target", "sm_90"],
        &["OPERATION", "allowed"],
    );
    refused(&["legal", "zzz.f32"], &["INSTRUCTION", "allowed"]);
    refused(
        &["legal", "add.f32", "--target", "sm_70"],
        &["--target", "start at sm_75"],
    );
    refused(
        &[
            "resolve", "a+b", "--type", "f32", "--target", "sm_90", "--round", "rna",
        ],
        &["--round", "rna", "rn, rz, rm, rp"],
    );
}

#[test]
fn options_that_decide_nothing_are_refused() {
    let ask = |more: &[&str], said: &[&str]| {
        let base = ["resolve", "a/b", "--type", "f32", "--target", "sm_90"];
        refused(&[&base[..], more].concat(), said);
    };
    ask(&["--fma", "0"], &["--fma 0", "llvm", "libnvvm"]);
    ask(
        &["--prec-div", "3", "--policy", "libnvvm"],
        &["--prec-div 3", "0 and 1"],
    );
    ask(
        &["--prec-div", "1", "--policy", "cuda-tile"],
        &["--prec-div 1", "cuda-tile"],
    );
    ask(
        &["--prec-sqrt", "1", "--policy", "cuda-tile"],
        &["--prec-sqrt 1"],
    );
    let text = "define float @f(float %a) {\n%r = fadd float %a, %a\nret float %r\n}";
    for option in [["--type", "f32"], ["--fmf", "fast"]] {
        refused(
            &[&["resolve", text, "--target", "sm_90"][..], &option].concat(),
            &[option[0], "leave it out"],
        );
    }
}

#[test]
fn values_may_be_negative_infinities_and_results_two() {
    let (value, status) = json(&[
        "resolve", "a+b", "--type", "f32", "--target", "sm_90", "--value", "1", "-inf",
    ]);
    assert_eq!((status, &value["out"]), (0, &"ff800000".into()));
    let (value, _) = json(&[
        "resolve",
        "__nv_fast_sincosf",
        "--type",
        "f32",
        "--target",
        "sm_90",
        "--value",
        "0",
    ]);
    assert_eq!(value["out"], "00000000");
    assert_eq!(value["second"]["out"], "3f800000");
    let output = mmascope(&[
        "resolve",
        "__nv_fast_sincosf",
        "--type",
        "f32",
        "--target",
        "sm_90",
        "--value",
        "0",
    ]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.ends_with("00000000 -> 00000000\n00000000 -> 3f800000\n"),
        "{text}"
    );
}

#[test]
fn errors_of_a_file_name_it() {
    let file = std::env::temp_dir().join(format!("mmascope-resolve-{}.ll", std::process::id()));
    std::fs::write(
        &file,
        "define float @f(float %a) {\n  %r = fcmp olt float %a, %a\n}\n",
    )
    .expect("a file");
    let name = file.to_str().expect("a name");
    refused(
        &["resolve", "--input", name, "--target", "sm_90"],
        &[&format!("{name}:2:8"), "comparisons"],
    );
    std::fs::remove_file(&file).expect("it is there");
}

#[test]
fn what_is_refused_has_no_code_and_no_rule() {
    let output = mmascope(&[
        "resolve",
        "mmaf %a, %b, %c : tile<16x16xf16>, tile<16x8xf16>, tile<16x8xbf16>",
        "--target",
        "sm_90",
        "--policy",
        "cuda-tile",
    ]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(!text.contains("ptx ") && !text.contains("rule "), "{text}");
}
