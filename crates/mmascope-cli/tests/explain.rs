//! `mmascope explain` as a program: its outputs, its inputs, its exit statuses.

use std::process::{Command, Output};

const VOLTA: [&str; 4] = ["--arch", "volta", "--inst", "mma.m8n8k4.f32.f16.f16.f32"];
const OPERANDS: [&str; 6] = [
    "--a",
    "-2^13,-0.5,-0.25,-0.125",
    "--b",
    "2^10,1,1,1",
    "--c",
    "2^23",
];

fn explain(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .arg("explain")
        .args(arguments)
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Runs it; gives the output of a run that ended with 0.
fn done(arguments: &[&str]) -> String {
    let output = explain(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn explains_values_words_and_vector_lines_alike() {
    let values = done(&[&VOLTA[..], &OPERANDS].concat());
    assert!(
        values.starts_with("volta:mma.m8n8k4.f32.f16.f16.f32\ntypes "),
        "{values}"
    );
    assert!(
        values.contains("result   00000000 = 0\nexact    -0.875\n"),
        "{values}"
    );
    let hex = [
        "--a",
        "f000b800b400b000",
        "--b",
        "64003c003c003c00",
        "--c",
        "4b000000",
    ];
    assert_eq!(done(&[&VOLTA[..], &hex].concat()), values);
    let operands = r#""a":"f000b800b400b000","b":"64003c003c003c00","c":"4b000000""#;
    let named = format!(r#"{{"arch":"V100","inst":"mma.m8n8k4.f32.f16.f16.f32",{operands}}}"#);
    assert_eq!(done(&["--vector", &named]), values);
    let unnamed = format!("{{{operands}}}");
    assert_eq!(
        done(&[&VOLTA[..], &["--vector", &unnamed]].concat()),
        values
    );
}

#[test]
fn shows_where_two_units_part() {
    let against = ["--against", "hopper:mma.m16n8k16.f32.f16.f16.f32"];
    let output = done(&[&VOLTA[..], &OPERANDS, &against].concat());
    assert!(
        output.contains("part     at step 1, term p1: bit 2^-1 is cut"),
        "{output}"
    );
    let fp4 = [
        "--against",
        "rtx-blackwell:mma.m16n8k32.kind::f8f6f4.f32.e5m2.e5m2.f32",
    ];
    let output = done(&[&VOLTA[..], &OPERANDS, &fp4].concat());
    assert!(
        output.contains("note: a is converted from f16 to e5m2"),
        "{output}"
    );
}

#[test]
fn an_architecture_alone_takes_the_same_name_or_the_same_types() {
    let hopper = ["--arch", "hopper:mma.m16n8k8.f32.f16.f16.f32"];
    let on = |against: &str| {
        let more = [
            "--a",
            "2^13,1",
            "--b",
            "1,1",
            "--against",
            against,
            "--json",
        ];
        let output = done(&[&hopper[..], &more].concat());
        let json: serde_json::Value = serde_json::from_str(&output).expect("JSON");
        let unit = |json: &serde_json::Value, key: &str| json[key].as_str().map(str::to_owned);
        let other = &json["against"];
        (unit(other, "arch"), unit(other, "inst"))
    };
    let is = |arch: &str, inst: &str| (Some(arch.to_owned()), Some(inst.to_owned()));
    assert_eq!(on("a100"), is("ampere", "mma.m16n8k8.f32.f16.f16.f32"));
    assert_eq!(on("mi300x"), is("cdna3", "v_mfma_f32_16x16x16_f16"));
    // A name that is none, and an architecture that does not take these types.
    for against in ["h10", "cdna1"] {
        let arguments = ["--a", "1", "--b", "1", "--against", against];
        let output = match against {
            "h10" => explain(&[&hopper[..], &arguments].concat()),
            _ => explain(
                &[
                    &["--arch", "hopper:wgmma.m64n8k32.f32.e4m3.e4m3"][..],
                    &arguments,
                ]
                .concat(),
            ),
        };
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(&format!("--against {against}: ")), "{error}");
    }
}

#[test]
fn operands_of_a_longer_unit_are_a_chain_on_a_shorter_one() {
    let hopper = ["--arch", "hopper", "--inst", "mma.m16n8k16.f32.f16.f16.f32"];
    let ones = ["1"; 16].join(",");
    let operands = ["--a", &ones, "--b", &ones, "--c", "2^23"];
    let on = |against: &str| {
        let more = ["--against", against, "--json"];
        let output = done(&[&hopper[..], &operands, &more].concat());
        serde_json::from_str::<serde_json::Value>(&output).expect("JSON")["against"].take()
    };
    let volta = on("volta:mma.m8n8k4.f32.f16.f16.f32");
    assert_eq!(
        volta["result"]["word"],
        format!("{:08x}", (8_388_624_f32).to_bits())
    );
    assert!(volta["flags"].is_null());
    // A row with a status register says which bits the whole chain set.
    let sfpu = on("wormhole:tensix.sfpmad");
    assert_eq!(sfpu["result"]["word"], volta["result"]["word"]);
    assert_eq!(sfpu["flags"], "00");
    let infinite = ["--a", "1,1,inf,1", "--b", "1,1,1,1"];
    let against = ["--against", "wormhole:tensix.sfpmad", "--json"];
    let output = done(&[&hopper[..], &infinite, &against].concat());
    let json: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!(json["against"]["flags"], "04", "{json}");
}

#[test]
fn modifiers_are_applied_and_checked() {
    let wgmma = ["--arch", "hopper", "--inst", "wgmma.m64n8k16.f32.f16.f16"];
    let operands = ["--a", "1,2", "--b", "1,1", "--c", "5", "--mods", "negA,noC"];
    let output = done(&[&wgmma[..], &operands].concat());
    assert!(output.contains("mods     negA noC\n"), "{output}");
    assert!(output.contains("result   c0400000 = -3\n"), "{output}");
    let wrong = explain(&[&VOLTA[..], &OPERANDS, &["--mods", "negA"]].concat());
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("has no modifier negA"));
}

#[test]
fn json_carries_the_whole_explanation() {
    let output = done(&[&VOLTA[..], &OPERANDS, &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    assert!(json["mmascope"].is_string() && json["catalogue"].is_string());
    let trace = &json["explanation"];
    assert_eq!(trace["arch"], "volta");
    assert_eq!(trace["result"]["word"], "00000000");
    assert_eq!(trace["exact"]["decimal"], "-0.875");
    let term = &trace["steps"][0]["terms"][1];
    assert_eq!(
        (&term["name"], &term["cut"]["lost"]),
        (&"p1".into(), &"1".into())
    );
    assert_eq!(trace["steps"][0]["alignment"]["exponent"], 23);
    let against = ["--against", "ampere:mma.m16n8k8.f32.f16.f16.f32", "--json"];
    let output = done(&[&VOLTA[..], &OPERANDS, &against].concat());
    let json: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!(json["parting"]["part"]["term"]["bit"], -1);
    assert_eq!(json["against"]["result"]["word"], "bf000000");
}

#[test]
fn writes_a_page_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    let name = file.to_str().expect("UTF-8");
    let output = explain(&[&VOLTA[..], &OPERANDS, &["--html", name]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("wrote "));
    assert!(text(&output.stdout).contains("result   00000000 = 0"));
    let page = std::fs::read_to_string(&file).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        1
    );
    let missing = folder.path().join("nowhere").join("page.html");
    let missing = missing.to_str().expect("UTF-8");
    let output = explain(&[&VOLTA[..], &OPERANDS, &["--html", missing]].concat());
    assert_eq!(output.status.code(), Some(2));
    // A folder is no file, and nothing is left behind.
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).expect("a folder");
    let output = explain(
        &[
            &VOLTA[..],
            &OPERANDS,
            &["--html", taken.to_str().expect("UTF-8")],
        ]
        .concat(),
    );
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        2
    );
}

#[test]
fn wrong_input_is_exit_status_2_with_a_reason() {
    let with = |more: &[&str]| -> Vec<String> {
        VOLTA
            .iter()
            .chain(more)
            .map(|word| (*word).to_owned())
            .collect()
    };
    let cases: [(Vec<String>, &str); 11] = [
        (vec![], "--arch and --inst name the instruction"),
        (
            vec!["--arch".into(), "volta".into()],
            "--arch and --inst name the instruction",
        ),
        (with(&["--a", "0.1"]), "a[0] = 0.1 is no f16"),
        (
            with(&["--a", "1,1,1,1,1"]),
            "a has 5 elements; at most 4 are taken",
        ),
        (
            with(&["--sa", "1"]),
            "sa: the instruction has no block scales",
        ),
        (with(&["--mods", "negX"]), "unknown modifier 'negX'"),
        (with(&["--against", "hoper"]), "--against hoper: "),
        (
            with(&["--against", "hopper:nothing"]),
            "unknown instruction",
        ),
        (with(&["--vector", "{"]), "--vector:"),
        (with(&["--vector", "{}", "--a", "1"]), "cannot be used with"),
        (
            with(&["--a", "1", "--at", "9,9"]),
            "--at: it is for the product of two files",
        ),
    ];
    for (arguments, wanted) in cases {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = explain(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(
            text(&output.stderr).contains(wanted),
            "{words:?}: {}",
            text(&output.stderr)
        );
        assert!(output.stdout.is_empty(), "{words:?}");
    }
    let unmodelled = ["--arch", "cdna4", "--inst", "v_mfma_f32_32x32x8_f16"];
    let output = explain(&unmodelled);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("known but not modelled"),
        "{}",
        text(&output.stderr)
    );
}

/// The units ignore the top bit of a ue4m3 scale (§2.4 of the arithmetic), so that words of a device may have it.
#[test]
fn bits_beside_the_code_of_a_scale_are_taken() {
    let unit = "rtx-blackwell:mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3";
    let with = |scale: &str| {
        let operands = [
            "--a", "1", "--b", "1", "--c", "0", "--sb", "0x38", "--sa", scale,
        ];
        done(&[&["--arch", unit][..], &operands].concat())
    };
    for (scale, result) in [
        ("0x38", "3f800000"),
        ("0xb8", "3f800000"),
        ("0xc0", "40000000"),
    ] {
        let said = with(scale);
        let line = said.lines().find(|line| line.starts_with("result"));
        assert!(
            line.is_some_and(|line| line.contains(result)),
            "{scale}: {said}"
        );
    }
}
