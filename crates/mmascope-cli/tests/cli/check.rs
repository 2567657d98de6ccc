//! check: counts, mismatches, bad lines, selections, exit statuses.

use std::io::Write;

use super::process::{Files, NAME, answered, command, question, run, run_with};

fn gzip(text: &str) -> Vec<u8> {
    use std::process::{Command, Stdio};
    let child = Command::new("gzip")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("gzip is there");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(text.as_bytes())
        .expect("written");
    child.wait_with_output().expect("it ends").stdout
}

const RIGHT: (&str, &str) = ("3f800000", "40a00000");
const WRONG: (&str, &str) = ("3f800000", "40a00001");

fn lines(of: &[(&str, &str)]) -> String {
    of.iter().map(|(c, d)| answered(c, d) + "\n").collect()
}

#[test]
fn the_closing_line_and_the_exit_status() {
    let no_answer = question("3f800000");
    let cases = [
        (String::new(), "0 passed, 0 failed", 0),
        ("\n \n".to_owned(), "0 passed, 0 failed", 0),
        (lines(&[RIGHT, RIGHT]), "2 passed, 0 failed", 0),
        (lines(&[RIGHT, WRONG]), "1 passed, 1 failed", 1),
        (
            format!("{}{no_answer}\n", lines(&[RIGHT])),
            "1 passed, 0 failed, 1 bad",
            2,
        ),
        (
            format!("{}x\n", lines(&[WRONG, RIGHT])),
            "1 passed, 1 failed, 1 bad",
            2,
        ),
    ];
    for (text, closing, status) in cases {
        let run = run_with(&["check", "-"], text.as_bytes()).expect(status);
        assert_eq!(run.lines().last(), Some(&closing), "{run:?}");
        let json = run_with(&["check", "-", "--json"], text.as_bytes())
            .expect(status)
            .json();
        let count = |key: &str| json[key].as_u64().expect("a number");
        let bad = if count("bad") > 0 {
            format!(", {} bad", count("bad"))
        } else {
            String::new()
        };
        assert_eq!(
            format!(
                "{} passed, {} failed{bad}",
                count("passed"),
                count("failed")
            ),
            closing
        );
    }
}

#[test]
fn mismatches_are_shown_with_their_place() {
    let files = Files::new();
    let file = files.write("v.jsonl", lines(&[RIGHT, WRONG]));
    let run = super::process::run(&["check", &file]).expect(1);
    let expected = format!(
        "{file}:2: volta:{NAME}: recorded 40a00001, the model gives 40a00000\n  {}\n1 passed, 1 failed\n",
        answered(WRONG.0, WRONG.1)
    );
    assert_eq!(run.out, expected);
    assert_eq!(run.err, "");
    let json = super::process::run(&["check", &file, "--json"])
        .expect(1)
        .json();
    let mismatch = &json["mismatches"][0];
    assert_eq!(
        (&mismatch["line"], &mismatch["got"]),
        (&2.into(), &"40a00000".into())
    );
    assert_eq!(mismatch["vector"], answered(WRONG.0, WRONG.1));
    // The same by names that say whose they are.
    assert_eq!(mismatch["model"], mismatch["got"]);
    assert_eq!(mismatch["answer"], mismatch["expected"]);
}

#[test]
fn at_most_twenty_are_shown() {
    let text = format!("{}{}", lines(&[WRONG; 50]), "bad\n".repeat(30));
    let run = run_with(&["check", "-"], text.as_bytes()).expect(2);
    let shown = run
        .lines()
        .iter()
        .filter(|line| line.contains("the model gives"))
        .count();
    assert_eq!(
        (shown, run.lines().last()),
        (20, Some(&"0 passed, 50 failed, 30 bad"))
    );
    let bad: Vec<&str> = run
        .err
        .lines()
        .filter(|line| line.starts_with("-:"))
        .collect();
    assert_eq!(bad.len(), 20);
    assert!(
        bad[0].starts_with("-:51:1: not a vector line"),
        "{}",
        bad[0]
    );
    assert!(
        run.err
            .contains("30 more mismatches not shown\n10 more bad lines not shown\n"),
        "{}",
        run.err
    );
    let json = run_with(&["check", "-", "--json"], text.as_bytes())
        .expect(2)
        .json();
    assert_eq!(json["mismatches"].as_array().map(Vec::len), Some(20));
    assert_eq!(json["bad_lines"].as_array().map(Vec::len), Some(20));
    assert_eq!((&json["failed"], &json["bad"]), (&50.into(), &30.into()));
}

/// Bad lines go to standard error with file, line and column, and are never simulated.
#[test]
fn bad_lines_are_reported_and_not_counted_otherwise() {
    let files = Files::new();
    let bad = [
        (
            question("3f800000"),
            "2:1: key \"d\" is missing: no result to check",
        ),
        (
            answered("3f80000x", "0"),
            "3:111: \"c\": 'x' is no hexadecimal digit",
        ),
        (answered("3f800000", "40a0"), "4:"),
        (
            answered("3f800000", "40a00000").replace("volta", "volt"),
            "5:10: unknown architecture 'volt'",
        ),
        (
            answered("3f800000", "40a00000").replace("volta", "sm_103"),
            "6:",
        ),
        ("é".to_owned(), "7:1: not a vector line"),
    ];
    let text = bad
        .iter()
        .fold(lines(&[RIGHT]), |text, (line, _)| text + line + "\n");
    let file = files.write("v.jsonl", format!("{text}{}", lines(&[RIGHT])));
    let run = run(&["check", &file]).expect(2);
    assert_eq!(run.out, "2 passed, 0 failed, 6 bad\n");
    let told: Vec<&str> = run.err.lines().collect();
    assert_eq!(told.len(), bad.len(), "{told:#?}");
    for (told, (_, expected)) in told.iter().zip(&bad) {
        assert!(
            told.starts_with(&format!("{file}:{expected}")),
            "{told}\n{expected}"
        );
    }
    let json = super::process::run(&["check", "--json", &file])
        .expect(2)
        .json();
    let unmodelled: Vec<bool> = json["bad_lines"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|bad| bad["unmodelled"].as_bool().expect("a flag"))
        .collect();
    assert_eq!(unmodelled, [false, false, false, false, true, false]);
    // Not UTF-8, and too long.
    let bytes = [&b"\xff\xfe\n"[..], &b"x".repeat((1 << 20) + 1), b"\n"].concat();
    let run = run_with(&["check", "-"], &bytes).expect(2);
    assert_eq!(run.out, "0 passed, 0 failed, 2 bad\n");
    assert_eq!(
        run.err,
        "-:1:1: byte 1 of the line is not UTF-8\n-:2:1: the line has more than 1048576 bytes\n"
    );
}

#[test]
fn gzip_files_and_several_files() {
    let files = Files::new();
    let plain = files.write("a.jsonl", lines(&[RIGHT]));
    let packed = gzip(&lines(&[RIGHT, WRONG]));
    let gz = files.write("b.jsonl.gz", &packed);
    let run = run(&["check", &plain, &gz]).expect(1);
    assert!(run.out.contains(&format!("{gz}:2: ")) && run.out.ends_with("2 passed, 1 failed\n"));
    run_with(&["check", "-"], &packed).expect(1);
    let cut = files.write("cut.jsonl.gz", &packed[..packed.len() - 9]);
    let cut_run = super::process::run(&["check", &cut]).expect(2);
    assert!(
        cut_run.err.starts_with(&format!("error: {cut}: ")),
        "{cut_run:?}"
    );
    let missing = super::process::run(&["check", "/no/such/file"]).expect(2);
    assert!(
        missing.err.starts_with("error: /no/such/file: "),
        "{missing:?}"
    );
}

#[test]
fn only_the_lines_asked_for() {
    let turing = answered(RIGHT.0, RIGHT.1).replace("volta", "turing");
    let text = format!("{}{turing}\n", lines(&[RIGHT, WRONG]));
    let check = |arguments: &[&str], status| {
        let all = [&["check", "-"], arguments].concat();
        let run = run_with(&all, text.as_bytes()).expect(status);
        (run.lines().last().expect("a line").to_string(), run.err)
    };
    let left_out = |n: u32| format!("{n} lines of other instructions left out\n");
    assert_eq!(
        check(&["--arch", "T4"], 0),
        ("1 passed, 0 failed".into(), left_out(2))
    );
    assert_eq!(
        check(&["--arch", "sm_70", "--inst", NAME], 1),
        ("1 passed, 1 failed".into(), left_out(1))
    );
    let full = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32";
    assert_eq!(
        check(&["--inst", full], 1),
        ("2 passed, 1 failed".into(), String::new())
    );
    // Against another instruction than the lines name.
    assert_eq!(
        check(&["--as", &format!("ampere:{NAME}")], 1).0,
        "2 passed, 1 failed"
    );
    for (wrong, message) in [
        (&["--as", "volta"][..], "expected ARCH:INST"),
        (
            &["--as", "volt:x"],
            "unknown architecture 'volt'; nearest: volta",
        ),
        (&["--as", &format!("sm_103:{NAME}")], "not modelled"),
        (
            &["--arch", "volt"],
            "unknown architecture 'volt'; nearest: volta",
        ),
        (
            &["--arch", "volta", "--inst", "mma.m8n8k4.f32.f16.f16.f3"],
            "nearest: mma.m8n8k4",
        ),
        (&["--as", "a:b", "--arch", "volta"], "cannot be used with"),
    ] {
        let err = check_error(&text, wrong);
        assert!(err.starts_with("error: ") && err.contains(message), "{err}");
    }
}

fn check_error(text: &str, arguments: &[&str]) -> String {
    let all = [&["check", "-"], arguments].concat();
    let run = run_with(&all, text.as_bytes()).expect(2);
    assert!(run.out.is_empty(), "{run:?}");
    run.err
}

/// The result does not depend on the number of threads.
#[test]
fn threads_change_nothing() {
    let mut text = String::new();
    for i in 0..30_000_u32 {
        // c = i, as an integer-valued f32 made without floats: every tenth answer is wrong.
        let c = format!("{:08x}", 0x4b00_0000 + i);
        let d = format!("{:08x}", 0x4b00_0004 + i + u32::from(i % 10 == 0));
        text += &if i % 997 == 0 {
            "?\n".to_owned()
        } else {
            answered(&c, &d) + "\n"
        };
    }
    let with = |threads: &str, command: &str| {
        let run = run_with(&[command, "-", "--threads", threads], text.as_bytes()).expect(2);
        (run.out, run.err)
    };
    let (one, two) = (with("1", "check"), with("2", "check"));
    assert!(one == two);
    assert!(
        one.0.ends_with("26973 passed, 2996 failed, 31 bad\n"),
        "{}",
        &one.0[one.0.len() - 60..]
    );
    let (one, two) = (with("1", "eval"), with("2", "eval"));
    assert!(one == two);
    assert_eq!(one.0.lines().count(), 30_000);
}

/// Through the engine the report is the same, whatever the lines are.
#[test]
fn the_engine_reports_the_same() {
    let scaled = "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3";
    let rows = [
        ("volta", NAME),
        ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"),
        ("rtx-blackwell", scaled),
        ("cdna3", "v_mfma_f32_16x16x32_fp8_fp8"),
        ("ampere", "mma.m8n8k4.f64.f64.f64.f64"),
    ];
    let mut text = String::new();
    for (arch, inst) in rows {
        let generated = run(&[
            "gen",
            "--arch",
            arch,
            "--inst",
            inst,
            "--family",
            "bits,stress,boundary",
            "--count",
            "37",
            "--with-results",
            "-o",
            "-",
        ])
        .expect(0);
        text += &generated.out;
    }
    let made = text.lines().count();
    assert!(made >= 5 * 37, "{made}");
    // Mismatches, bad lines, modifiers that a row has and has not, instructions without a model.
    text += &lines(&[RIGHT, WRONG, WRONG]);
    text += &format!("{}\nnot JSON\n\n", question("3f800000"));
    let with = |mods: &str| {
        answered(RIGHT.0, RIGHT.1).replace("\"c\"", &format!("\"mods\":[\"{mods}\"],\"c\""))
    };
    text += &format!("{}\n{}\n", with("negA"), with("scaleD=-3"));
    text += &answered(RIGHT.0, RIGHT.1).replace("volta", "sm_103");
    for extra in [
        &[][..],
        &["--json"],
        &["--arch", "volta"],
        &["--threads", "1"],
    ] {
        let plain = run_with(&[&["check", "-"], extra].concat(), text.as_bytes());
        let engine = run_with(
            &[&["check", "--engine", "-"], extra].concat(),
            text.as_bytes(),
        );
        assert_eq!(plain.out, engine.out, "{extra:?}");
        assert_eq!(
            (plain.err, plain.status),
            (engine.err, engine.status),
            "{extra:?}"
        );
    }
    // A level that there is not is one error, whatever the lines.
    let wrong = command(&["check", "--engine", "-"])
        .env("MMASCOPE_SIMD", "sse")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("mmascope runs");
    assert_eq!(wrong.status.code(), Some(2));
    let said = String::from_utf8_lossy(&wrong.stderr);
    assert!(
        said.lines().count() == 1 && said.contains("unknown SIMD level 'sse'"),
        "{said}"
    );
    let engine = run_with(&["check", "--engine", "-"], text.as_bytes()).expect(2);
    assert!(
        engine
            .lines()
            .last()
            .is_some_and(|line| line.contains("2 failed")),
        "{engine:?}"
    );
}

/// All recorded hardware rows by way of the engine, at every level of this machine.
#[test]
fn recorded_rows_through_the_engine_at_every_level() {
    use mmascope::cpu::Level;
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/vectors/hardware"
    );
    let Ok(entries) = std::fs::read_dir(folder) else {
        println!("skipped: {folder} is not there");
        return;
    };
    let files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    for level in Level::available() {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_mmascope"))
            .args(["check", "--engine"])
            .args(&files)
            .env("MMASCOPE_SIMD", level.name())
            .output()
            .expect("the program runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{level}: {text}");
        let last = text.lines().last();
        assert_eq!(last, Some("88000 passed, 0 failed"), "{level}");
    }
}

/// The neighbour is stated here by hand, in an `--isa` file of its own, and answers the pack of Volta's unit.
const NARROW: &str = "arch narrow
title two bits less

unit | f16 x f16 + f32 -> f32 | m8n8k4 | PROGRAM | open
";

#[test]
fn a_discriminating_pack_ends_with_the_neighbour_that_explains_it() {
    let files = Files::new();
    let pack = ["gen", "--discriminating", "--arch", "volta", "--inst", NAME];
    let pack = run(&pack).expect(0).out;
    assert!(pack.contains("\"separates\""));
    let right = files.write("right.jsonl", &pack);
    let fits = run(&["check", &right]).expect(0);
    let own = format!("these answers fit volta:{NAME}; ");
    assert!(
        fits.lines().last().expect("a line").starts_with(&own),
        "{}",
        fits.out
    );

    let shown = run(&["--json", "show", "--arch", "volta", "--inst", NAME])
        .expect(0)
        .json();
    let program = shown["arithmetic"].as_str().expect("a text");
    assert!(program.contains("F=23"), "{program}");
    let isa = NARROW.replace("PROGRAM", &program.replace("F=23", "F=21"));
    let isa = files.write("narrow.isa", isa);
    let device = "model:narrow:unit";
    let asked = run(&["--isa", &isa, "check", "--subject", device, &right]).expect(1);
    assert_eq!(
        asked.lines().last(),
        Some(&"these answers fit F=21; they fit F=21 e0=-133 too"),
        "{}",
        asked.out
    );
    assert!(
        asked.out.contains(&format!(": {device} gives ")),
        "{}",
        asked.out
    );
    // Kilobytes of neighbours are shown on demand.
    assert!(!asked.out.contains("separates"), "{}", asked.out);
    let whole = run(&[
        "--isa",
        &isa,
        "check",
        "--verbose",
        "--subject",
        device,
        &right,
    ]);
    assert!(whole.out.contains("\"separates\":["), "{}", whole.out);

    // Another NaN is named too.
    let isa = NARROW.replace("PROGRAM", &program.replace("nan=7fffffff", "nan=ffc00000"));
    let isa = files.write("nan.isa", isa);
    let asked = run(&["--isa", &isa, "check", "--subject", device, &right]).expect(1);
    let said = Some(&"these answers fit nan=ffc00000");
    assert_eq!(asked.lines().last(), said, "{}", asked.out);

    // A process is asked too, and its answers need not be in the file.
    let unanswered: String = pack
        .lines()
        .map(|line| line.rsplit_once(",\"d\"").expect("a result").0.to_owned() + "}\n")
        .collect();
    let unanswered = files.write("unanswered.jsonl", unanswered);
    run(&["check", &unanswered]).expect(2);
    let process = format!("cmd:{} eval", env!("CARGO_BIN_EXE_mmascope"));
    let right_again = run(&["check", "--subject", &process, &unanswered]).expect(0);
    assert!(
        right_again
            .lines()
            .last()
            .expect("a line")
            .starts_with(&own)
    );

    // More lines than a verdict weighs: it says so.
    let lines = pack.lines().count();
    let many = pack.repeat(4096 / lines + 1);
    let whole = run_with(&["check", "-"], many.as_bytes()).expect(0);
    let last = whole.lines().last().expect("a line").to_string();
    let more = lines * (4096 / lines + 1) - 4096;
    let said = format!("(the first 4096 lines were weighed, {more} more were not)");
    assert!(last.ends_with(&said), "{last}");

    // Answers of no neighbour.
    let other: String = pack
        .lines()
        .map(|line| {
            line.rsplit_once(",\"d\"").expect("a result").0.to_owned() + ",\"d\":\"12345678\"}\n"
        })
        .collect();
    let none = run_with(&["check", "-"], other.as_bytes()).expect(1);
    let last = none.lines().last().expect("a line").to_string();
    assert!(last.starts_with("no neighbour explains all "), "{last}");
    let json = run_with(&["--json", "check", "-"], other.as_bytes())
        .expect(1)
        .json();
    assert_eq!(json["verdicts"][0]["fits"], serde_json::json!([]));
}
