//! What people meet who use the program for the first time: tables that fit, one way to name a unit, optional outputs,
//! limits that are said.

#[path = "common/user.rs"]
mod user;

use std::path::Path;
use std::process::Command;

use user::{err, npy, out, printed, run, words};

const VOLTA: &str = "mma.m8n8k4.f32.f16.f16.f32";

#[test]
fn piped_tables_have_no_blanks_at_the_end_and_no_broken_rows() {
    for arguments in [
        &["formats"][..],
        &["list"],
        &["list", "--types", "f16", "--inst", "wgmma"],
        &["show", "--arch", "volta", "--inst", VOLTA],
        &["probe", &format!("model:volta:{VOLTA}")],
    ] {
        let text = printed(arguments, 0);
        for line in text.lines() {
            assert_eq!(line, line.trim_end(), "{arguments:?}");
        }
    }
    let of_one = printed(&["list", "power10"], 0);
    assert_eq!(of_one, printed(&["list", "--arch", "power10"], 0));
    let rows = printed(&["list"], 0);
    assert_ne!(of_one, rows);
    assert!(
        rows.lines().any(|line| line.contains("volta")
            && line.contains("NVIDIA Volta: V100, Titan V (sm_70), Xavier (sm_72)")),
        "{rows}"
    );
    let features = printed(&["probe", &format!("model:volta:{VOLTA}")], 0);
    assert!(
        !features.contains('§') && !features.contains(" 1.1 "),
        "{features}"
    );
}

/// What a command prints on a terminal of so many columns; `None` without the program `script`.
fn on_terminal(columns: usize, arguments: &str) -> Option<String> {
    let program = shell_words::quote(env!("CARGO_BIN_EXE_mmascope")).into_owned();
    let command = format!("stty rows 40 cols {columns} && {program} {arguments}");
    let output = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| out(&output).replace('\r', ""))
}

#[test]
fn no_word_is_broken_on_a_narrow_terminal() {
    let words = |text: &str| -> std::collections::BTreeSet<String> {
        let words = text.split_whitespace().map(str::to_owned);
        words.filter(|word| !word.starts_with('─')).collect()
    };
    for arguments in [
        "formats",
        "list",
        "list --types f16 --inst wgmma",
        &format!("probe model:volta:{VOLTA}"),
    ] {
        let piped = words(&printed(&arguments.split(' ').collect::<Vec<_>>(), 0));
        for columns in [80, 60] {
            let Some(text) = on_terminal(columns, arguments) else {
                return println!("skipped: no program script");
            };
            assert_eq!(words(&text), piped, "{arguments} at {columns}: {text}");
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns), "{arguments} at {columns}: {text}");
        }
    }
    let text = on_terminal(60, &format!("show volta:{VOLTA}")).expect("as above");
    let long: Vec<&str> = text
        .lines()
        .filter(|line| line.chars().count() > 60)
        .collect();
    // What has one word too long, such as an address, stays as it is.
    assert!(
        long.iter().all(|line| line.trim().split(' ').count() <= 2),
        "{long:#?}"
    );
}

#[test]
fn evidence_does_not_say_its_level_twice() {
    let text = printed(&["show", &format!("volta:{VOLTA}")], 0);
    assert!(text.contains("open (disputed or unknown)"), "{text}");
    assert!(!text.contains("(open: "), "{text}");
}

#[test]
fn formats_of_a_file_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let isa = folder.path().join("own.isa");
    std::fs::write(
        &isa,
        "format e5m7 = sign 1 exponent 5 bias 15 fraction 7 specials ieee\narch own\n",
    )
    .expect("written");
    let isa = isa.to_str().expect("UTF-8");
    let all = run(&["--isa", isa, "formats"]);
    assert_eq!(all.status.code(), Some(0), "{}", err(&all));
    assert!(out(&all).contains("e5m7"), "{}", out(&all));
    assert!(printed(&["--isa", isa, "formats", "e5m7"], 0).contains("13"));
    assert!(!printed(&["formats"], 0).contains("e5m7"));
}

#[test]
fn a_unit_is_named_in_one_word_or_two() {
    let one = format!("volta:{VOLTA}");
    let two = printed(&["show", "--arch", "volta", "--inst", VOLTA], 0);
    assert_eq!(printed(&["show", &one], 0), two);
    assert_eq!(printed(&["show", "--arch", &one], 0), two);
    let c = printed(
        &[
            "export",
            "--language",
            "c",
            "--arch",
            "volta",
            "--inst",
            VOLTA,
        ],
        0,
    );
    assert_eq!(printed(&["export", "--language", "c", &one], 0), c);
}

#[test]
fn several_units_stand_with_commas() {
    let [one, other] = [format!("volta:{VOLTA}"), format!("ampere:{VOLTA}")];
    let both = format!("{one},{other}");
    let alone = [&one, &other].map(|unit| printed(&["show", unit], 0));
    assert_eq!(printed(&["show", &both], 0), alone.join("\n"));
    let json = printed(&["show", &both, "--json"], 0);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["units"][1]["arch"], "ampere");
    let specials = printed(&["specials", &both], 0);
    assert!(
        specials.contains(&one) && specials.contains(&other),
        "{specials}"
    );
    assert!(specials.contains("2 units"), "{specials}");
    let listed = printed(&["list", &format!("{both},power10"), "--types", "f16"], 0);
    assert!(listed.contains(&one) && listed.contains(&other), "{listed}");
    assert!(printed(&["list", &one], 0).contains("1 instruction"));
    let architectures = printed(&["list", "volta,power10"], 0);
    assert!(architectures.contains("volta: ") && architectures.contains("power10: "));
    let spaced = printed(
        &[
            "probe",
            "--compare",
            &format!("model:{one}"),
            &format!("model:{other}"),
        ],
        1,
    );
    let with_comma = format!("model:{one},model:{other}");
    assert_eq!(printed(&["probe", "--compare", &with_comma], 1), spaced);
    for (arguments, message) in [
        (
            &["explain", "--arch", "a100,h100", "--a", "1", "--b", "1"][..],
            "--against ARCH:INST takes the second",
        ),
        (
            &["explain", &both, "--a", "1", "--b", "1"],
            "--against ARCH:INST takes the second",
        ),
        (&["show", "--arch", "volta"], "give volta:INST or --inst"),
        (
            &["probe", "--compare", "model:volta:x"],
            "expected two subjects",
        ),
    ] {
        let wrong = run(arguments);
        assert_eq!(wrong.status.code(), Some(2));
        assert!(err(&wrong).contains(message), "{}", err(&wrong));
    }
}

/// ESC and a C1 character in a name of a file are shown, not obeyed.
#[test]
fn names_of_files_reach_no_terminal_as_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = npy(folder.path(), "a\u{1b}[2J\u{9b}2J.npy", [4, 16], words(5));
    let b = npy(folder.path(), "b\u{1b}[2J\u{9b}2J.npy", [16, 4], words(6));
    let d = a.replace(".npy", "-d.npy");
    let [volta, cdna] = ["volta", "mi300x"];
    let both = format!("{volta},{cdna}");
    for arguments in [
        &["matmul", "--arch", volta, &a, &b, "-o", &d][..],
        &["--json", "matmul", "--arch", volta, &a, &b],
        &["matmul", "--arch", &both, &a, &b, "-o", &d],
        &["diff", "--arch", &both, &a, &b],
        &["diff", "--results", &d, &a],
        &["diff", "--results", &d, &d],
        &["error", "--arch", volta, &a, &b],
        &["identify", &a, &b, &d],
        &["identify", &a, &b, &a],
        &["quantize", &a, "--to", "e4m3", "-o", &d],
        &["explain", &a, &b, "--arch", volta, "--at", "0,0"],
        &["check", &a],
        &["tree", "show", &a],
        &["readmemh", &a, "-o", &b],
    ] {
        let output = run(arguments);
        for text in [out(&output), err(&output)] {
            assert!(
                !text.contains(['\u{1b}', '\u{9b}']),
                "{arguments:?}: {text:?}"
            );
        }
        let json = arguments[0] == "--json";
        if arguments.contains(&"matmul") || arguments.contains(&"error") {
            assert_eq!(output.status.code(), Some(0), "{}", err(&output));
            let escaped = if json {
                "\\u001b[2J\\u009b2J"
            } else {
                "\\u{1b}[2J\\u{9b}2J"
            };
            assert!(
                out(&output).contains(escaped) || arguments[2] == both,
                "{arguments:?}: {}",
                out(&output)
            );
        }
    }
}

#[test]
fn drawings_take_their_kind_from_the_ending() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let diff = |output: &str| {
        let units = format!("volta:{VOLTA},ampere:mma.m8n8k4.f32.f16.f16.f32");
        run(&[
            "diff", "--arch", &units, "--family", "bits", "--count", "50", "-o", output,
        ])
    };
    let svg = diff(&file("d.svg"));
    assert!(svg.status.code() != Some(2), "{}", err(&svg));
    assert!(
        std::fs::read_to_string(file("d.svg"))
            .expect("written")
            .starts_with("<svg")
    );
    diff(&file("d.html"));
    assert!(
        std::fs::read_to_string(file("d.html"))
            .expect("written")
            .contains("<html")
    );
    let wrong = diff(&file("d.pdf"));
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        err(&wrong).contains("must end with .html or .svg"),
        "{}",
        err(&wrong)
    );
}

#[test]
fn a_product_needs_no_output_and_takes_several_units() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = npy(folder.path(), "a.npy", [16, 32], words(1));
    let b = npy(folder.path(), "b.npy", [32, 16], words(2));
    let alone = printed(&["matmul", "--arch", "volta", &a, &b], 0);
    assert!(alone.contains("D, not written"), "{alone}");
    assert!(alone.contains("relative to |exact|"), "{alone}");
    let d = folder
        .path()
        .join("d.npy")
        .to_str()
        .expect("UTF-8")
        .to_owned();
    let both = printed(
        &["matmul", "--arch", "volta,hopper:f16", &a, &b, "-o", &d],
        0,
    );
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect(name);
    let (left, right) = (read("d-volta.npy"), read("d-hopper-f16.npy"));
    assert!(!Path::new(&d).exists());
    // The files say how many outputs differ: 4 bytes each behind the header.
    let differing = left[left.len() - 1024..]
        .chunks(4)
        .zip(right[right.len() - 1024..].chunks(4))
        .filter(|(one, other)| one != other)
        .count();
    assert!(differing > 0);
    let last = both.lines().last().expect("a line");
    assert!(
        last.contains(&format!(" {differing} ")),
        "{differing}: {both}"
    );
    let json = printed(
        &["--json", "matmul", "--arch", "volta,hopper:f16", &a, &b],
        0,
    );
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["compared"][0]["different"], differing);
    assert_eq!(json["products"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_answer_of_identify_comes_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = npy(folder.path(), "a.npy", [16, 32], words(3));
    let b = npy(folder.path(), "b.npy", [32, 16], words(4));
    let d = folder
        .path()
        .join("d.npy")
        .to_str()
        .expect("UTF-8")
        .to_owned();
    printed(
        &[
            "matmul",
            "--arch",
            &format!("volta:{VOLTA}"),
            &a,
            &b,
            "-o",
            &d,
        ],
        0,
    );
    let text = printed(&["identify", &a, &b, &d], 0);
    let first = text.lines().next().expect("a line");
    assert!(
        first.contains("answer") && first.contains(&format!("volta:{VOLTA}")),
        "{text}"
    );
    assert!(printed(&["identify", "--help"], 0).contains("schedules"));
}

#[test]
fn long_work_says_how_far_it_is_without_a_terminal() {
    let subject = format!("model:volta:{VOLTA}");
    let against = format!("volta:{VOLTA}");
    let minutes = [
        "validate",
        &subject,
        "--against",
        &against,
        "--minutes",
        "0.05",
    ];
    let silent = run(&minutes);
    assert_eq!(err(&silent), "");
    let told = run(&[&minutes[..], &["--progress=1"]].concat());
    let lines = err(&told);
    assert!(
        lines.starts_with("after 1 s: ") && lines.contains(" cases"),
        "{lines}"
    );
    assert!(lines.lines().count() <= 4, "{lines}");
}

#[test]
fn refused_lines_are_wrong_input_and_limits_are_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("v.jsonl");
    let good = format!(
        r#"{{"arch":"volta","inst":"{VOLTA}","a":"3c003c003c003c00","b":"3c003c003c003c00","c":"3f800000"}}"#
    );
    std::fs::write(&file, format!("{good}\nrubbish\n")).expect("written");
    let file = file.to_str().expect("UTF-8");
    let units = format!("volta:{VOLTA},ampere:{VOLTA}");
    let diff = run(&["diff", "--vectors", file, "--arch", &units]);
    assert_eq!(diff.status.code(), Some(2), "{}{}", out(&diff), err(&diff));
    for (text, message) in [
        ("arch one\narch one\n", "declared twice"),
        ("arch one = One\n", "an alias of itself"),
        ("arch one = two Two\n", "named twice"),
        ("arch one = two\narch two = one\n", "in a circle"),
    ] {
        let isa = folder.path().join("wrong.isa");
        std::fs::write(&isa, text).expect("written");
        let wrong = run(&["--isa", isa.to_str().expect("UTF-8"), "list"]);
        assert_eq!(wrong.status.code(), Some(2), "{text}");
        assert!(err(&wrong).contains(message), "{}", err(&wrong));
    }
}

#[cfg(unix)]
#[test]
fn more_threads_than_there_can_be_are_fewer_threads() {
    let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .arg("list")
        .env("RAYON_NUM_THREADS", "65535")
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(
        err(&output).contains("threads are used") || err(&output).contains("1 thread is used"),
        "{}",
        err(&output)
    );
}

/// A machine with no room for another thread's stack: the program works alone, as it says.
#[cfg(target_os = "linux")]
#[test]
fn a_machine_that_starts_no_thread_computes_all_the_same() {
    let program = shell_words::quote(env!("CARGO_BIN_EXE_mmascope")).into_owned();
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/one-input-many-answers.jsonl"
    );
    let command = format!("ulimit -v 60000 && RAYON_NUM_THREADS=64 {program} check {file}");
    let output = Command::new("sh")
        .args(["-c", &command])
        .output()
        .expect("sh runs");
    let text = err(&output);
    assert!(!text.contains("panicked"), "{text}");
    assert!(text.contains("used"), "{text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        out(&output).ends_with(" passed, 0 failed\n"),
        "{}",
        out(&output)
    );
}

/// f32 files of numbers that f16 holds: an emulation with one part is the unit itself.
#[test]
fn an_emulation_of_one_part_is_not_listed_beside_the_unit() {
    let folder = tempfile::tempdir().expect("a folder");
    let wide = |name: &str, shape: [usize; 2], seed: u64| {
        let narrow = npy(folder.path(), "narrow.npy", shape, words(seed));
        let bytes = std::fs::read(narrow).expect("written");
        let count = shape[0] * shape[1];
        let (header, body) = bytes.split_at(bytes.len() - 2 * count);
        let mut file = String::from_utf8_lossy(&header[10..])
            .replace("<f2", "<f4")
            .into_bytes();
        file.splice(0..0, header[..10].iter().copied());
        for pair in body.chunks(2) {
            let word = u32::from(u16::from_le_bytes([pair[0], pair[1]]));
            let exponent = (word >> 10 & 0x1f) + 112;
            let value = (word >> 15) << 31 | exponent << 23 | (word & 0x3ff) << 13;
            file.extend(value.to_le_bytes());
        }
        let path = folder.path().join(name);
        std::fs::write(&path, file).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let (a, b) = (wide("a.npy", [16, 32], 5), wide("b.npy", [32, 16], 6));
    let d = folder
        .path()
        .join("d.npy")
        .to_str()
        .expect("UTF-8")
        .to_owned();
    let unit = format!("volta:{VOLTA}");
    printed(&["matmul", "--arch", &unit, &a, &b, "-o", &d], 0);
    let json = printed(&["--json", "identify", &a, &b, &d], 0);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let schedules: Vec<&str> = json["identified"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|it| {
            it["rows"]
                .as_array()
                .expect("a list")
                .iter()
                .any(|row| *row == *unit)
        })
        .filter_map(|it| it["schedule"].as_str())
        .collect();
    assert!(schedules.contains(&"chain"), "{schedules:?}");
    assert!(
        !schedules.iter().any(|it| it.contains("parts=1")),
        "{schedules:?}"
    );
}

#[test]
fn text_is_not_written_under_the_name_of_a_picture() {
    let subject = format!("model:volta:{VOLTA}");
    for file in ["page.html", "drawing.SVG"] {
        let output = run(&["infer", &subject, "-o", file]);
        assert_eq!(output.status.code(), Some(2), "{file}");
        assert!(err(&output).contains("draws nothing"), "{}", err(&output));
        assert!(!Path::new(file).exists());
    }
}

#[test]
fn errors_of_some_outputs_are_said_to_be_of_some() {
    let unit = format!("volta:{VOLTA}");
    let some = printed(&["error", "--arch", &unit, "--shape", "128x64x16"], 0);
    assert!(some.contains("4096 of the 128 × 64 outputs"), "{some}");
    let full = ["error", "--arch", &unit, "--shape", "128x64x16"];
    let full = printed(&[&full[..], &["--stats", "full"]].concat(), 0);
    assert!(full.contains(", 128 × 64 outputs"), "{full}");
}

#[test]
fn a_unit_that_counts_c_twice_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("own.txt");
    let line = |name: &str, from: &str| {
        format!(
            "{name} | f16 x f16 + f32 -> f32 | m8n8k8 | s = fused L=8 F=24 {from}-> rz f32 ; d = add s c -> rne f32 | open\n"
        )
    };
    let text = format!(
        "arch own\ntitle a made-up chip\n\n{}{}",
        line("twice", ""),
        line("once", "from +0 ")
    );
    std::fs::write(&file, text).expect("written");
    let file = file.to_str().expect("UTF-8");
    for (name, is_told) in [("own:twice", true), ("own:once", false)] {
        let arguments = [
            "--isa", file, "explain", "--arch", name, "--a", "1", "--b", "1",
        ];
        let output = run(&[&arguments[..], &["--c", "1"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        let told = err(&output).contains("reads c more than once");
        assert_eq!(told, is_told, "{name}: {}", err(&output));
    }
}

#[test]
fn a_tree_that_lacks_its_c_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = printed(
        &[
            "reveal",
            &format!("model:volta:{VOLTA}"),
            "-n",
            "4",
            "--json",
        ],
        0,
    );
    let [file, values] = ["tree.json", "values"].map(|name| folder.path().join(name));
    std::fs::write(&file, tree).expect("written");
    let [file, path] = [&file, &values].map(|path| path.to_str().expect("UTF-8"));
    std::fs::write(&values, "1*1 2*1 3*1 4*1").expect("written");
    let output = run(&["tree", "run", file, path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        err(&output).contains("the last of which is c"),
        "{}",
        err(&output)
    );
    std::fs::write(&values, "1*1 2*1 3*1 4*1 0").expect("written");
    assert_eq!(printed(&["tree", "run", file, path], 0), "10.0\n");
}

#[test]
fn distances_between_numbers_of_different_signs_say_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = npy(
        folder.path(),
        "one.npy",
        [1, 2],
        [0x3c00, 0x3c00].into_iter(),
    );
    let other = npy(
        folder.path(),
        "other.npy",
        [1, 2],
        [0x3c01, 0xbc00].into_iter(),
    );
    let text = printed(&["diff", "--results", &one, &other], 1);
    assert!(
        text.contains("first at 0,0: 3c00 and 3c01 (1 ulp)"),
        "{text}"
    );
    assert!(text.contains("ulp, of different signs)"), "{text}");
}

#[test]
fn answers_of_eval_are_no_commands_to_a_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lines.jsonl");
    std::fs::write(&file, "{\"arch\":\"volta\u{9b}31m\",\"inst\":\"x\"}\n").expect("written");
    let output = run(&["eval", file.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(2));
    let text = out(&output);
    assert!(
        !text.contains('\u{9b}') && text.contains("\\u009b"),
        "{text}"
    );
}
