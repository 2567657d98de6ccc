//! list, show, eval, and what all commands have in common.

use super::process::{Files, NAME, question, run, run_with};

#[test]
fn without_arguments_the_usage_is_shown() {
    let none = run(&[]).expect(2);
    assert!(none.err.contains("Usage: mmascope"), "{none:?}");
    assert!(none.out.is_empty());
    for arguments in [&["--help"][..], &["help"], &["check", "--help"], &["-h"]] {
        let help = run(arguments).expect(0);
        assert!(help.out.contains("Usage: mmascope"), "{help:?}");
    }
    let version = run(&["--version"]).expect(0);
    assert_eq!(
        version.out,
        format!("mmascope {}\n", env!("CARGO_PKG_VERSION"))
    );
    for wrong in [
        &["chekc"][..],
        &["list", "--nope"],
        &["show"],
        &["check"],
        &["list", "--threads", "0"],
    ] {
        let run = run(wrong).expect(2);
        assert!(
            run.out.is_empty() && run.err.starts_with("error: "),
            "{run:?}"
        );
    }
    assert!(
        run(&["chekc"]).err.contains("check"),
        "a near miss is suggested"
    );
}

#[test]
fn list_in_both_forms() {
    let table = run(&["list"]).expect(0);
    for name in ["volta", "rtx-blackwell", "cdna3", "sm_103", "H100"] {
        assert!(table.out.contains(name), "{name}");
    }
    assert!(!table.out.contains('\u{1b}'), "no colour into a pipe");
    let json = run(&["list", "--json"]).expect(0).json();
    let architectures = json["architectures"].as_array().expect("a list");
    assert!(architectures.len() >= 15);
    for architecture in architectures {
        let rows = architecture["instructions"].as_array().expect("a list");
        let count = |key: &str| architecture[key].as_u64().expect("a number") as usize;
        assert_eq!(count("modelled") + count("unmodelled"), rows.len());
        for row in rows {
            assert_eq!(row["arch"], architecture["name"]);
            assert_eq!(
                row["modelled"].as_bool(),
                Some(row["arithmetic"].is_string())
            );
        }
    }

    let one = run(&["list", "--arch", "v100"]).expect(0);
    assert!(one.out.starts_with("volta: NVIDIA Volta"), "{}", one.out);
    assert!(one.out.contains(NAME) && one.out.contains("t-fdpa L=4 F=23 e0=-131"));
    assert!(one.out.ends_with("15 modelled, 0 known without a model\n"));
    let json = run(&["--json", "list", "--arch", "gfx1250"])
        .expect(0)
        .json();
    assert_eq!(json["architectures"][0]["modelled"], 0);
    assert_eq!(json["architectures"].as_array().map(Vec::len), Some(1));

    let wrong = run(&["list", "--arch", "hoper"]).expect(2);
    assert_eq!(
        wrong.err,
        "error: unknown architecture 'hoper'; nearest: hopper, thor\n"
    );
}

#[test]
fn listings_fit_100_columns() {
    let fits = |arguments: &[&str]| {
        let text = run(arguments).expect(0).out;
        for line in text.lines() {
            // Names are never cut, and no line has more than one word beyond.
            let is_name = !line.contains(' ');
            // A row of a table is one line, whatever reads it.
            let is_row = line.trim_start().contains("   ") || line.starts_with('─');
            assert!(
                line.chars().count() <= 100 || is_name || is_row,
                "{arguments:?}: {line}"
            );
        }
        text
    };
    fits(&["list"]);
    for (arch, inst) in [
        ("volta", "f16"),
        ("blackwell", "e2m1,e2m1,ue4m3/16"),
        ("hopper", "mma.m16n8k32.f32.e4m3.e4m3.f32"),
        ("cdna1", "f16"),
        ("cdna2", "f16"),
        ("cdna3", "fp8"),
        ("ampere", "f64"),
    ] {
        fits(&["list", "--arch", arch]);
        let text = fits(&["show", "--arch", arch, "--inst", inst]);
        let (introduction, _) = text.split_once("\n\n").expect("an introduction");
        assert!(
            introduction.contains(" is a matrix instruction of "),
            "{text}"
        );
        assert!(
            introduction.contains("Every element of D is d = c + Σ"),
            "{text}"
        );
        assert!(!introduction.contains("said below"), "{text}");
    }
}

#[test]
fn files_that_are_read_whole_have_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    if std::path::Path::new("/dev/zero").exists() {
        for device in ["/dev/zero", "/dev/full"] {
            let refused = run(&["--isa", device, "list"]).expect(2);
            assert!(refused.err.contains("no regular file"), "{}", refused.err);
        }
    }
    let large = file("large.txt", &vec![b'#'; (16 << 20) + 1]);
    let refused = run(&["--isa", &large, "list"]).expect(2);
    assert!(
        refused.err.contains("more than 16777216 bytes"),
        "{}",
        refused.err
    );
    // What files say reaches the terminal escaped, or not at all.
    let hostile = file(
        "hostile.txt",
        "arch x\ntitle \u{1b}[2J\u{9b}2J\n".as_bytes(),
    );
    let refused = run(&["--isa", &hostile, "list"]).expect(2);
    assert!(
        refused.err.contains(":2:7: a control character"),
        "{}",
        refused.err
    );
    let line = r#"{"arch":"\u001b[2J\u009b","inst":"x","a":"","b":"","c":""}"#;
    let lines = file("lines.jsonl", line.as_bytes());
    let bad = run(&["check", &lines]).expect(2);
    assert!(!bad.err.contains(['\u{1b}', '\u{9b}']), "{:?}", bad.err);
    // One architecture has one block in a text, under whatever name.
    for (text, told) in [
        ("arch x\narch x\n", ":2:1: 'x' is declared twice"),
        ("arch x = y\narch y\n", ":2:1: 'y' is declared twice"),
        (
            "arch x = y\narch y = x\n",
            ":2:10: 'y' is an alias of 'x' already",
        ),
    ] {
        let twice = file("twice.txt", text.as_bytes());
        let refused = run(&["--isa", &twice, "list"]).expect(2);
        assert!(refused.err.contains(told), "{}", refused.err);
    }
}

#[test]
fn too_many_threads_are_fewer() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(["check", "/dev/null"])
        .env("RAYON_NUM_THREADS", "65535")
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("RAYON_NUM_THREADS 65535: ") && text.contains("threads are used"),
        "{text}"
    );
}

#[test]
fn show_in_both_forms() {
    let show = |inst: &str, more: &[&str]| {
        run(&[&["show", "--arch", "H100", "--inst", inst], more].concat())
    };
    let full = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
    let text = show(full, &[]).expect(0).out;
    for part in [
        "mma.m16n8k16.f32.bf16.bf16.f32",
        "a=bf16 b=bf16 c=f32 d=f32 k=16",
        "t-fdpa L=16 F=25 e0=-133 -> rz f32 nan=7fffffff",
        "T-FDPA",
        "p0 … p15, c",
        "(built in) nvidia.txt:",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json = show(full, &["--json"]).expect(0).json();
    assert_eq!(json["inst"], "mma.m16n8k16.f32.bf16.bf16.f32");
    // What computes whole products: a kernel, or the reference and why.
    let kernel = json["kernel"].as_str().expect("a kernel");
    assert!(text.contains(&format!("kernel      {kernel}\n")), "{text}");
    assert!(json["no_kernel"].is_null());
    let other = "mma.m16n8k16.rm.f64.f64.f64.f64";
    let without = show(other, &["--json"]).expect(0).json();
    let reason = without["no_kernel"].as_str().expect("a reason");
    assert!(
        reason.contains("rd") && without["kernel"].is_null(),
        "{without}"
    );
    let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = in_one_line(&format!("kernel none: {reason}; the reference computes it"));
    assert!(in_one_line(&show(other, &[]).expect(0).out).contains(&line));
    assert_eq!(json["k"], 16);
    assert_eq!(json["leaves"].as_array().map(Vec::len), Some(17));
    assert_eq!(json["tree"]["op"], "fused");
    assert_eq!(json["tree"]["children"].as_array().map(Vec::len), Some(17));
    let parameters = json["parameters"].as_array().expect("a list");
    let parameter = |name: &str| {
        let found = parameters
            .iter()
            .find(|parameter| parameter["name"] == name);
        found.unwrap_or_else(|| panic!("{name}")).clone()
    };
    assert_eq!(
        (&parameter("e0")["value"], &parameter("e0")["evidence"]),
        (&"-133".into(), &"hw".into())
    );
    assert_eq!(parameter("zero")["evidence"], "hw");

    let wrong = show("mma.m16n8k16.f32.bf16.bf16.f23", &[]).expect(2);
    assert!(
        wrong
            .err
            .contains("nearest: mma.m16n8k16.f32.bf16.bf16.f32"),
        "{wrong:?}"
    );
    let illegal = show("wgmma.m64n12k16.f32.f16.f16", &[]).expect(2);
    assert!(illegal.err.contains("m64n{8..256/8}k16"), "{illegal:?}");
    let sparse = show("mma.sp.m16n8k32.f32.f16.f16.f32", &["--json"]).expect(2);
    assert!(sparse.err.contains("known but not modelled"), "{sparse:?}");
    assert!(sparse.out.is_empty());
}

const MINE: &str = "arch mine = my_1\ndot.{shape} | f16 x f16 + f32 -> f32 | m1n1k4 | e-fdpa L=4 -> rne f32 | open\n";

#[test]
fn a_catalogue_of_ones_own() {
    let files = Files::new();
    let good = files.write("mine.txt", MINE);
    let bare = run(&["list", "--json"]).json();
    let json = run(&["list", "--isa", &good, "--arch", "my_1", "--json"])
        .expect(0)
        .json();
    assert_eq!(
        json["architectures"][0]["instructions"][0]["inst"],
        "dot.m1n1k4"
    );
    assert_ne!(json["catalogue"], bare["catalogue"]);
    let line = question("3f800000")
        .replace(NAME, "dot.m1n1k4")
        .replace("volta", "MINE");
    let eval = run_with(&["eval", "--isa", &good], line.as_bytes()).expect(0);
    assert!(eval.out.contains("\"d\":\"40a00000\""), "{eval:?}");

    // A second file overrides the first.
    let more = files.write("more.txt", MINE.replace("L=4 -> rne", "L=1 -> ru"));
    let show = run(&[
        "show",
        "--isa",
        &good,
        "--isa",
        &more,
        "--arch",
        "mine",
        "--inst",
        "dot.m1n1k4",
    ]);
    let show = show.expect(0);
    assert!(show.out.contains("e-fdpa L=1 -> ru f32") && show.out.contains("more.txt:2:1"));

    let text = MINE.replace("e-fdpa", "e-fpda");
    let line = text.lines().nth(1).expect("a line");
    let column = line.find("e-fpda").expect("there") + 1;
    let bad = files.write("bad.txt", &text);
    let refused = run(&["list", "--isa", &bad]).expect(2);
    let place = format!("error: {bad}:2:{column}: unknown algorithm 'e-fpda'; nearest: e-fdpa");
    assert!(refused.err.starts_with(&place), "{}\n{place}", refused.err);
    assert!(refused.out.is_empty());
    let binary = files.write("binary.txt", [0xff, 0xfe, 0x00]);
    for file in ["/no/such/file", "/", &binary] {
        let refused = run(&["list", "--isa", file]).expect(2);
        assert!(
            refused.err.starts_with(&format!("error: --isa {file}: ")),
            "{refused:?}"
        );
    }
}

/// What `eval --mods` computes, `check` finds right: the modifiers stand in the lines.
#[test]
fn modifiers_of_the_command_stand_in_the_lines() {
    const NEGATED: &str = "wgmma.m64n8k16.f32.f16.f16";
    let make = [
        "gen", "--arch", "hopper", "--inst", NEGATED, "--family", "normal",
    ];
    let questions = run(&[&make[..], &["-n", "50"]].concat()).expect(0);
    let evaluate = ["eval", "--mods", "negA"];
    let answered = run_with(&evaluate, questions.out.as_bytes()).expect(0);
    let counted = run_with(&["check", "-"], answered.out.as_bytes()).expect(0);
    assert_eq!(counted.lines().last(), Some(&"50 passed, 0 failed"));
    // A line's own modifiers stay.
    let own = questions.out.replace("\"c\":", "\"mods\":[],\"c\":");
    let answered = run_with(&evaluate, own.as_bytes()).expect(0);
    assert!(!answered.out.contains("negA"), "{answered:?}");
    assert_eq!(
        answered.out.replace("\"mods\":[],", ""),
        run_with(&["eval"], questions.out.as_bytes()).expect(0).out
    );
}

#[test]
fn eval_answers_files_and_standard_input() {
    let files = Files::new();
    let text = format!("{}\n\n{}\n", question("3f800000"), question("40000000"));
    let file = files.write("q.jsonl", &text);
    let expected = ["40a00000", "", "40c00000"];
    let check = |out: &[&str]| {
        assert_eq!(out.len(), expected.len(), "{out:?}");
        for (line, d) in out.iter().zip(expected) {
            let d = if d.is_empty() {
                String::new()
            } else {
                format!("\"d\":\"{d}\"}}")
            };
            assert!(
                line.ends_with(&d) && line.is_empty() == d.is_empty(),
                "{line} {d}"
            );
        }
    };
    check(&run(&["eval", &file]).expect(0).lines());
    check(&run_with(&["eval"], text.as_bytes()).expect(0).lines());
    check(&run_with(&["eval", "-"], text.as_bytes()).expect(0).lines());
    check(
        &run_with(&["eval", "--threads", "1"], text.as_bytes())
            .expect(0)
            .lines(),
    );

    // Names from the command line; a line's own name wins.
    let bare = r#"{"a":"3c003c003c003c00","b":"3c003c003c003c00","c":"3f800000"}"#;
    let eval = run_with(&["eval", "--arch", "V100", "--inst", NAME], bare.as_bytes()).expect(0);
    assert_eq!(eval.out, bare.replace('}', ",\"d\":\"40a00000\"}\n"));
    let nameless = run_with(&["eval"], bare.as_bytes()).expect(2);
    assert_eq!(
        nameless.out,
        "{\"error\":\"key \\\"arch\\\" is missing\"}\n"
    );
    assert_eq!(nameless.err, "-:1:1: key \"arch\" is missing\n");
    run(&["eval", "/no/such/file"]).expect(2);
}

/// A pipe whose reader leaves, and a closed standard error: no panic, no message.
#[test]
fn readers_that_leave() {
    let files = Files::new();
    let text = format!("{}\n", question("3f800000")).repeat(20_000);
    let file = files.write("many.jsonl", text);
    let bad = files.write("bad.jsonl", "x\n".repeat(20_000));
    let program = env!("CARGO_BIN_EXE_mmascope");
    let shell = |script: &str| {
        let output = std::process::Command::new("sh")
            .args(["-c", script])
            .output();
        let output = output.expect("a shell");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!err.contains("panicked"), "{script}: {err}");
        (String::from_utf8_lossy(&output.stdout).into_owned(), err)
    };
    for arguments in [
        format!("eval {file}"),
        "list --json".to_owned(),
        "list --arch blackwell".to_owned(),
        "--help".to_owned(),
        format!("check {file}"),
    ] {
        let (out, err) = shell(&format!("{program} {arguments} | head -1; echo done"));
        assert!(out.ends_with("done\n"), "{arguments}: {out} {err}");
    }
    shell(&format!("{program} check {bad} 2>&1 >/dev/null | head -1"));
    shell(&format!("{program} eval {bad} 2>&1 >/dev/null | head -1"));
    let (out, _) = shell(&format!("{program} check {bad} 2>&-; echo $?"));
    assert_eq!(out, "0 passed, 0 failed, 20000 bad\n2\n");
    let (out, _) = shell(&format!("{program} list >&-; echo $?"));
    assert!(out == "2\n" || out == "0\n", "{out}");
    let (out, err) = shell(&format!("{program} list >/dev/full; echo $?"));
    assert_eq!(out, "2\n", "{err}");
}

/// Facts of OCP OFP8, OCP MX and IEEE 754, typed from the standards.
#[test]
fn formats_and_their_codes() {
    let all = run(&["formats", "--json"]).expect(0).json();
    let fact = |name: &str, key: &str| {
        let list = all["formats"].as_array().expect("a list");
        let found = list
            .iter()
            .find(|format| format["name"] == name)
            .expect("a format");
        found[key].to_string().trim_matches('"').to_owned()
    };
    let cases = [
        (
            "e4m3fn",
            ["448", "0.015625", "0.001953125", "false", "2", "true"],
        ),
        ("e5m2", ["57344", "0x1p-14", "0x1p-16", "true", "6", "true"]),
        (
            "e4m3fnuz",
            ["240", "0.0078125", "0.0009765625", "false", "1", "false"],
        ),
        ("e2m1fn", ["6", "1", "0.5", "false", "0", "true"]),
        ("e3m2fn", ["28", "0.25", "0.0625", "false", "0", "true"]),
        ("e2m3fn", ["7.5", "1", "0.125", "false", "0", "true"]),
        (
            "f16",
            ["65504", "0x1p-14", "0x1p-24", "true", "2046", "true"],
        ),
        (
            "ue8m0",
            ["0x1p127", "0x1p-127", "0x1p-127", "false", "1", "false"],
        ),
        (
            "f32",
            [
                "0x1.fffffep127",
                "0x1p-126",
                "0x1p-149",
                "true",
                "16777214",
                "true",
            ],
        ),
        (
            "mxint8",
            ["1.984375", "null", "0.015625", "false", "0", "false"],
        ),
    ];
    for (name, expected) in cases {
        let keys = [
            "largest",
            "least_normal",
            "least",
            "infinities",
            "nan_codes",
            "negative_zero",
        ];
        assert_eq!(
            keys.map(|key| fact(name, key)),
            expected.map(str::to_owned),
            "{name}"
        );
    }
    let one = run(&["formats", "e2m1", "--json"]).expect(0).json();
    let codes = one["formats"][0]["codes"]
        .as_array()
        .expect("codes")
        .clone();
    let expected = [
        "0", "0.5", "1", "1.5", "2", "3", "4", "6", "-0", "-0.5", "-1", "-1.5", "-2", "-3", "-4",
        "-6",
    ];
    assert_eq!(codes, expected);
    let text = run(&["formats", "e4m3"]).expect(0).out;
    assert!(text.contains("\n7e    448\n7f    nan\n"), "{text}");
    let wide = run(&["formats", "f32"]).expect(0).out;
    assert!(!wide.contains("code  value"), "{wide}");
    assert!(
        run(&["formats", "e4m4"])
            .expect(2)
            .err
            .contains("unknown format 'e4m4'; nearest: e4m3")
    );
}

#[test]
fn list_by_types_and_names() {
    let found = run(&[
        "list",
        "--types",
        "f16,f16,f32",
        "--inst",
        "wgmma",
        "--json",
    ])
    .expect(0)
    .json();
    let rows = found["instructions"].as_array().expect("a list");
    assert!(!rows.is_empty());
    for row in rows {
        let types = ["a", "b", "c"].map(|key| row[key].as_str().expect("a name").to_owned());
        assert_eq!(types, ["f16", "f16", "f32"]);
        assert!(row["inst"].as_str().expect("a name").contains("wgmma"));
    }
    let text = run(&["list", "--arch", "hopper", "--types", "e4m3,e5m2"])
        .expect(0)
        .out;
    assert!(
        text.contains("hopper:wgmma.m64n8k32.f32.e4m3.e5m2"),
        "{text}"
    );
    assert!(!text.contains("ampere"), "{text}");
    let none = run(&["list", "--arch", "volta", "--types", "e4m3"]).expect(1);
    assert_eq!(none.out, "0 instructions\n");
    assert!(
        run(&["list", "--types", "f17"])
            .expect(2)
            .err
            .contains("--types f17: unknown format")
    );
}
