//! `mmascope diff`: its findings, reports and exit statuses.

mod common;

use common::mmascope;
use serde_json::Value;

const F16: &str = "mma.m16n8k16.f32.f16.f16.f32";
const VOLTA: &str = "volta:mma.m8n8k4.f32.f16.f16.f32";
/// c = 2^23 and the products −2^23, −1/2, −1/4, −1/8.
const ONE_INPUT: &str = r#"{"a":"f000b800b400b000","b":"64003c003c003c00","c":"4b000000"}"#;

fn file_with(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("written");
    file
}

fn json(arguments: &str) -> (i32, Value) {
    let run = mmascope(&format!("{arguments} --json"));
    let json = serde_json::from_str(&run.out);
    (
        run.status,
        json.unwrap_or_else(|_| panic!("{arguments}: {}", run.err)),
    )
}

#[test]
fn one_input_tells_three_generations_apart() {
    let file = file_with(ONE_INPUT);
    let arguments = format!(
        "diff --arch {VOLTA},ampere,hopper --inst {F16} --vectors {}",
        file.path().display()
    );
    // The axis has the buckets that hold something: one a pair.
    let folder = tempfile::tempdir().expect("a folder");
    let drawing = folder.path().join("d.svg");
    mmascope(&format!("{arguments} --svg {}", drawing.display()));
    let drawing = std::fs::read_to_string(drawing).expect("written");
    assert_eq!(drawing.matches("<rect class=\"bar\"").count(), 3);
    let (status, found) = json(&arguments);
    assert_eq!(status, 1);
    assert!(found["mmascope"].is_string() && found["catalogue"].is_string());
    assert_eq!(
        (found["inputs"].as_u64(), found["differ"].as_bool()),
        (Some(1), Some(true))
    );
    let pairs = found["pairs"].as_array().expect("pairs");
    let results: Vec<_> = pairs
        .iter()
        .map(|pair| {
            [0, 1].map(|side| {
                pair["first"]["results"][side]["value"]
                    .as_str()
                    .expect("a value")
            })
        })
        .collect();
    assert_eq!(results, [["0", "-0.5"], ["0", "-0.75"], ["-0.5", "-0.75"]]);
    assert_eq!(pairs[0]["first"]["products"][0]["exponent"], 23);
    assert_eq!(pairs[2]["ulp"].as_array().map(Vec::len), Some(23)); // 2^22 ≤ distance < 2^23
    assert!(
        found["notes"][0]
            .as_str()
            .is_some_and(|note| note.contains("padded with +0"))
    );
    // Both inputs are explained: where the units part, and the command that shows every step.
    for input in ["first", "smallest"] {
        let input = &pairs[2][input];
        let words = input["parting_words"].as_str().expect("words");
        assert!(words.starts_with("at step 1, term p"), "{words}");
        assert!(input["parting"]["part"]["term"]["bit"].is_i64(), "{input}");
        let command = input["explain"].as_str().expect("a command");
        let run = explain(command);
        assert!(run.contains(&format!("part     {words}\n")), "{run}");
    }
    // The command is for the pair's own operands; where K is another there may be none.
    let third = format!("diff --arch ampere,{VOLTA},hopper --inst {F16} --family close -n 50");
    let (_, found) = json(&third);
    assert!(
        found["pairs"][2]["first"]["explain"].is_null(),
        "four slices are no line"
    );
    assert!(found["pairs"][2]["first"]["parting_words"].is_string());
    // The smallest input is a vector line that other commands read.
    let smallest = file_with(&pairs[2]["smallest"]["vector"].to_string());
    assert_eq!(
        mmascope(&format!("eval {}", smallest.path().display())).status,
        0
    );
    let text = mmascope(&arguments);
    assert_eq!(text.status, 1);
    for part in [
        "-0.75",
        "k=0: -8192 · 1024",
        "c: 8388608   exponent 23",
        "mmascope explain --vector",
        "exact sum: -0.875",
        "they part at step 1, term p1: bit 2^-1 is cut",
    ] {
        assert!(text.out.contains(part), "{part}: {}", text.out);
    }
}

/// Runs a command of a report in its own words.
fn explain(command: &str) -> String {
    let words = shell_words::split(command).expect("words");
    assert_eq!(words[0], "mmascope");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(&words[1..])
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{command}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn equal_units_agree_and_different_ones_do_not() {
    // The same arithmetic by two architectures.
    let (status, found) = json(&format!(
        "diff --arch hopper,blackwell --inst {F16} --family boundary --seed 1 -n 800"
    ));
    assert_eq!((status, found["differ"].as_bool()), (0, Some(false)));
    assert_eq!(found["pairs"][0]["equal"], 800);
    assert!(found["pairs"][0]["first"].is_null());
    let (status, found) = json(&format!(
        "diff --arch hopper,ampere --inst {F16} --family close,normal --seed 1 -n 800"
    ));
    let pair = &found["pairs"][0];
    let count = |key: &str| pair[key].as_u64().expect("a count");
    assert_eq!((status, count("compared")), (1, 1600));
    assert_eq!(count("equal") + count("different"), 1600);
    let ulps = pair["ulp"].as_array().expect("a histogram");
    let sum: u64 = ulps
        .iter()
        .map(|bucket| bucket["count"].as_u64().expect("a count"))
        .sum();
    let others = ["zero_sign", "infinite", "nan", "nan_word"].map(count);
    assert_eq!(sum + others.iter().sum::<u64>(), count("different"));
    assert!(count("different") > 100);
}

#[test]
fn the_first_input_is_replayed_from_its_numbers() {
    let arguments =
        format!("diff --arch hopper,ampere --inst {F16} --family normal --seed 3 -n 500");
    let (_, found) = json(&arguments);
    let first = &found["pairs"][0]["first"];
    let place = first["from"].as_str().expect("a place");
    let index = place
        .strip_prefix("family normal, seed 3, index ")
        .expect("the numbers");
    let again = mmascope(&format!(
        "gen --arch hopper --inst {F16} --family normal --seed 3 -n 1 --start {index}"
    ));
    let again: Value = serde_json::from_str(&again.out).expect("JSON");
    assert_eq!(
        (&again["a"], &again["c"]),
        (&first["vector"]["a"], &first["vector"]["c"])
    );
    let (status, alone) = json(&format!(
        "diff --arch hopper,ampere --inst {F16} --family normal --seed 3 -n 1 --start {index}"
    ));
    assert_eq!((status, &alone["pairs"][0]["first"]), (1, first));
}

#[test]
fn units_are_architectures_times_instructions_that_exist() {
    let run = |arch: &str, inst: &str| {
        let (_, found) = json(&format!("diff --arch {arch} {inst} --family bits -n 1"));
        let units = found["units"].as_array().expect("units").clone();
        let name = |unit: &Value| format!("{} {}", unit["arch"], unit["k"]).replace('"', "");
        units.iter().map(name).collect::<Vec<_>>()
    };
    let both = "--inst mma.m8n8k4.f32.f16.f16.f32 --inst mma.m16n8k16.f32.f16.f16.f32";
    assert_eq!(
        run("V100,hopper", both),
        ["volta 4", "hopper 4", "hopper 16"]
    );
    assert_eq!(
        run(&format!("hopper,{VOLTA}"), &format!("--inst {F16}")),
        ["hopper 16", "volta 4"]
    );
    // kind:: has colons of its own; only the first one separates.
    let f8 = "mma.m16n8k32.kind::f8f6f4.f32.e4m3.e4m3.f32";
    let items = format!("rtx-blackwell:{f8},ada:mma.m16n8k32.f32.e4m3.e4m3.f32");
    assert_eq!(run(&items, ""), ["rtx-blackwell 32", "ada 32"]);
}

#[test]
fn reports_are_well_formed_and_need_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let (html, svg) = (folder.path().join("r.html"), folder.path().join("r.svg"));
    let run = mmascope(&format!(
        "diff --arch {VOLTA},hopper,cdna3:v_mfma_f32_32x32x8_f16 --inst {F16} --family normal,stress -n 300 \
         --html {} --svg {}",
        html.display(),
        svg.display()
    ));
    assert_eq!(run.status, 1, "{}", run.err);
    let (html, svg) = [html, svg]
        .map(|file| std::fs::read_to_string(file).expect("a report"))
        .into();
    for text in [&html, &svg] {
        assert!(
            text.contains(".chart{--paper")
                && text.contains("prefers-color-scheme:dark")
                && text.contains("class=\"bar\"")
        );
        assert!(!text.contains("<script") && !text.contains("href") && !text.contains("src="));
        balanced(text);
    }
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(html.contains("The smallest found") && html.contains("mmascope explain --vector"));
    assert!(
        html.matches("<b>They part</b> at step").count() >= 4,
        "first and smallest of two pairs"
    );
}

/// Every tag that opens closes, in order.
fn balanced(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in text.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("a tag ends");
        let name = tag
            .trim_start_matches('/')
            .split(' ')
            .next()
            .expect("a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') && !tag.starts_with('!') && name != "meta" {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn threads_do_not_change_the_findings() {
    let run = |threads: u32| {
        mmascope(&format!(
            "diff --arch hopper,ampere,{VOLTA} --inst {F16} --family close -n 9000 --json --threads {threads}"
        ))
        .out
    };
    assert!(run(1) == run(3));
}

#[test]
fn wrong_input_ends_with_2_and_says_why() {
    let two = format!("--arch hopper,ampere --inst {F16}");
    for (arguments, words) in [
        (
            format!("--arch hopper --inst {F16} --family bits"),
            "at least two",
        ),
        (
            format!("--arch hopper,H100 --inst {F16} --family bits"),
            "at least two",
        ),
        (
            "--arch hopper,ampere --family bits".into(),
            "which instruction",
        ),
        (
            format!("--arch hopper,ampre --inst {F16} --family bits"),
            "nearest: ampere",
        ),
        (
            format!("--arch volta,ampere --inst {F16} --family bits"),
            "unknown instruction",
        ),
        (
            format!("--arch hopper,sm_103 --inst {F16} --family bits"),
            "not modelled",
        ),
        (two.clone(), "--family is missing"),
        (format!("{two} --family norml"), "nearest: normal"),
        (format!("{two} --family exhaustive"), "at most 8 bits"),
        (
            format!("{two} --family bits --vectors x"),
            "cannot be used with",
        ),
        (format!("{two} --vectors /nowhere/x"), "/nowhere/x"),
        (format!("{two} --family bits -n 0"), "no input"),
        (
            format!("{two} --family bits -n 1 --html /nowhere/x"),
            "/nowhere/x",
        ),
        (
            "--arch hopper:,ampere --inst x --family bits".into(),
            "unknown instruction",
        ),
    ] {
        let run = mmascope(&format!("diff {arguments}"));
        assert_eq!(run.status, 2, "{arguments}: {}", run.out);
        assert!(run.err.contains(words), "{arguments}: {}", run.err);
    }
}

#[test]
fn bad_lines_are_reported_and_win() {
    let file = file_with(&format!("{ONE_INPUT}\n\n{{\"a\":\"zz\"}}\n"));
    let run = mmascope(&format!(
        "diff --arch {VOLTA},ampere --inst {F16} --vectors {}",
        file.path().display()
    ));
    assert_eq!(run.status, 2);
    assert!(
        run.err.contains(":3:7: \"a\": 'z' is no hexadecimal digit"),
        "{}",
        run.err
    );
    assert!(run.out.contains("-0.5"));
}

#[test]
fn a_file_without_lines_compares_nothing() {
    let file = file_with("\n");
    let path = file.path().display();
    let run = mmascope(&format!(
        "diff --arch {VOLTA},ampere --inst {F16} --vectors {path}"
    ));
    assert_eq!(run.status, 2);
    assert!(run.err.contains("there is no input"), "{}", run.err);
}

#[test]
fn operands_that_no_format_holds_are_counted_apart() {
    let e4m3 = "ada:mma.m16n8k32.f32.e4m3.e4m3.f32";
    let run = mmascope(&format!(
        "diff --arch ampere:{F16},{e4m3} --family normal -n 5"
    ));
    assert_eq!(run.status, 2);
    assert!(
        run.err.contains("no input could be given to both"),
        "{}",
        run.err
    );
    let (status, found) = json(&format!(
        "diff --arch {e4m3},ampere:{F16} --family normal -n 5"
    ));
    assert_eq!(
        (status, found["pairs"][0]["compared"].as_u64()),
        (1, Some(5))
    );
}
