//! `mmascope gen`: its lines, files and exit statuses.

mod common;

use std::io::Read;

use common::mmascope;
use serde_json::Value;

const HOPPER: &str = "--arch H100 --inst mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";

fn lines(arguments: &str) -> Vec<Value> {
    let run = mmascope(arguments);
    assert_eq!(run.status, 0, "{}", run.err);
    let parse = |line| serde_json::from_str(line).expect("JSON");
    run.out.lines().map(parse).collect()
}

#[test]
fn lines_carry_what_replays_them() {
    let all = lines(&format!("gen {HOPPER} --family normal --seed 1 -n 3"));
    assert_eq!(all.len(), 3);
    for (index, line) in all.iter().enumerate() {
        assert_eq!(line["arch"], "hopper");
        assert_eq!(line["inst"], "mma.m16n8k16.f32.f16.f16.f32");
        assert_eq!(line["family"], "normal");
        assert_eq!(
            (line["seed"].as_u64(), line["index"].as_u64()),
            (Some(1), Some(index as u64))
        );
        assert!(line.get("d").is_none());
    }
    // The golden case of the library's tests is of K=8; its operands are the first of K=16.
    assert!(
        all[0]["a"]
            .as_str()
            .is_some_and(|a| a.starts_with("39fabacea79f4033"))
    );
    let one = lines(&format!(
        "gen {HOPPER} --family normal --seed 1 -n 1 --start 2"
    ));
    assert_eq!(one[0], all[2]);
    let last = u64::MAX;
    let far = lines(&format!(
        "gen {HOPPER} --family bits --seed {last} -n 1 --start {}",
        last - 1
    ));
    assert_eq!(
        (far[0]["seed"].as_u64(), far[0]["index"].as_u64()),
        (Some(last), Some(last - 1))
    );
}

#[test]
fn every_family_is_generated_and_its_results_pass_the_check() {
    let folder = tempfile::tempdir().expect("a folder");
    let inst = "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3";
    for (arch, inst) in [
        ("rtx-blackwell", inst),
        ("cdna3", "v_mfma_f32_32x32x16_fp8_bf8"),
    ] {
        let file = folder.path().join(format!("{arch}.jsonl"));
        let file = file.display();
        let families = "bits,normal,outlier,stress,sparse,close,boundary,exhaustive";
        let run = mmascope(&format!(
            "gen --arch {arch} --inst {inst} --family {families} --seed 9 -n 50 --with-results -o {file}"
        ));
        assert_eq!(
            (run.status, run.out.as_str(), run.err.as_str()),
            (0, "", "")
        );
        let check = mmascope(&format!("check {file}"));
        assert_eq!(
            (check.status, check.out.as_str()),
            (0, "400 passed, 0 failed\n")
        );
    }
}

#[test]
fn files_are_complete_or_absent_and_compressed_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = || {
        let entries = std::fs::read_dir(folder.path()).expect("a folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        entries.map(name).collect::<Vec<_>>()
    };
    let file = folder.path().join("x.jsonl.gz");
    let arguments = format!("gen {HOPPER} --family close --seed 4 -n 20");
    assert_eq!(
        mmascope(&format!("{arguments} -o {}", file.display())).status,
        0
    );
    assert_eq!(names(), ["x.jsonl.gz"]);
    let bytes = std::fs::read(&file).expect("the file");
    assert_eq!(bytes[..2], [0x1f, 0x8b]);
    let mut text = String::new();
    let mut reader = flate2::read::GzDecoder::new(&bytes[..]);
    reader.read_to_string(&mut text).expect("gzip");
    assert_eq!(text, mmascope(&arguments).out);
    // A run that fails leaves an older file as it was.
    let failing = format!("gen {HOPPER} --family exhaustive -o {}", file.display());
    assert_eq!(mmascope(&failing).status, 2);
    assert_eq!(std::fs::read(&file).expect("the file"), bytes);
    // The file behind a link is written, and a device stays one.
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let link = tempfile::tempdir().expect("a folder");
        let link = link.path().join("link.jsonl");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert_eq!(
            mmascope(&format!("{arguments} -o {}", link.display())).status,
            0
        );
        assert!(std::fs::symlink_metadata(&link).is_ok_and(|link| link.is_symlink()));
        assert!(std::fs::read(&file).is_ok_and(|text| text.starts_with(b"{")));
        assert_eq!(mmascope(&format!("{arguments} -o /dev/null")).status, 0);
        let null = std::fs::metadata("/dev/null").expect("a device");
        assert!(null.file_type().is_char_device());
    }
    let nowhere = folder.path().join("none/x.jsonl");
    let run = mmascope(&format!("{arguments} -o {}", nowhere.display()));
    assert_eq!(run.status, 2);
    assert!(run.err.contains("none/x.jsonl"), "{}", run.err);
    let run = mmascope(&format!("{arguments} -o {}", folder.path().display()));
    assert_eq!((run.status, names()), (2, vec!["x.jsonl.gz".into()]));
}

#[test]
fn threads_do_not_change_the_lines() {
    let run = |threads: u32| {
        mmascope(&format!(
            "gen {HOPPER} --family stress --seed 7 -n 20000 --threads {threads}"
        ))
        .out
    };
    assert!(run(1) == run(3));
}

/// All pairs of 4 bits.
const NARROW: &str =
    "--arch rtx-blackwell --inst mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32 --family exhaustive";

#[test]
fn exhaustive_has_its_own_number() {
    let run = mmascope(&format!("gen {NARROW}"));
    assert_eq!((run.status, run.out.lines().count()), (0, 16 * 16 * 16));
    let end = mmascope(&format!("gen {NARROW} --start 4000"));
    assert_eq!(end.out.lines().count(), 96);
    assert!(run.out.ends_with(&end.out));
}

#[test]
fn wrong_input_ends_with_2_and_says_why() {
    for (arguments, words) in [
        (format!("{HOPPER} --family norml -n 1"), "nearest: normal"),
        (format!("{HOPPER} -n 1"), "--family is missing"),
        (
            format!("{HOPPER} --family bits -n 1 --cuda x.cu"),
            "--cuda x.cu: such a program is made of the lines of --discriminating",
        ),
        (
            format!("{HOPPER} --family bits -n 1 --hip x.hip"),
            "--hip x.hip: ",
        ),
        (
            format!("{HOPPER} --family exhaustive -n 1"),
            "at most 8 bits",
        ),
        (
            format!("{HOPPER} --family bits,normal,bits -n 1"),
            "--family bits: it stands twice",
        ),
        (
            format!("{NARROW} --start 4096"),
            "--start 4096: family exhaustive has 4096 cases, 0 to 4095",
        ),
        (format!("{NARROW} --start 4000 -n 97"), "0 to 4095"),
        (format!("{NARROW} -n 4097"), "0 to 4095"),
        (format!("{HOPPER} --family bits -n x"), "invalid value"),
        (format!("{HOPPER} --family bits --seed=-1"), "--seed"),
        (
            format!("{HOPPER} --family bits -n 2 --start {}", u64::MAX),
            "2^64",
        ),
        (
            "--arch hoper --inst x --family bits".into(),
            "nearest: hopper",
        ),
        (
            format!("{HOPPER} --family foo"),
            "unknown family 'foo'; allowed: bits, normal, outlier, stress, sparse, close, boundary, exhaustive",
        ),
        (
            "--arch h100 --family bits".into(),
            "--arch h100: which of its instructions? ARCH:INST names one, and `mmascope list hopper` has all",
        ),
        (
            "--arch hopper --inst nothing --family bits".into(),
            "unknown instruction",
        ),
        (
            "--arch sm_103 --inst mma.m16n8k16.f32.f16.f16.f32 --family bits".into(),
            "not modelled",
        ),
    ] {
        let run = mmascope(&format!("gen {arguments}"));
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{arguments}");
        assert!(run.err.contains(words), "{arguments}: {}", run.err);
    }
    assert_eq!(lines(&format!("gen {HOPPER} --family bits -n 0")).len(), 0);
}

/// Status flags travel beside results, and every command that computes one says them.
#[test]
fn flags_travel_beside_results() {
    let row = "--arch wormhole --inst tensix.elwmul.bf16.d32.phase0";
    let all = lines(&format!("gen {row} --family stress --with-results -n 64"));
    let flags: Vec<&str> = all
        .iter()
        .filter_map(|line| line["flags"].as_str())
        .collect();
    assert_eq!(flags.len(), 64);
    for bits in ["00", "20", "40"] {
        assert!(flags.contains(&bits), "{bits}: {flags:?}");
    }
    let none = lines(&format!("gen {HOPPER} --family stress --with-results -n 4"));
    assert!(none.iter().all(|line| line.get("flags").is_none()));
    let file = std::env::temp_dir().join(format!("mmascope-flags-{}", std::process::id()));
    let file = file.to_str().expect("text");
    let made = mmascope(&format!(
        "gen {row} --family stress --with-results -n 64 -o {file}"
    ));
    assert_eq!(made.status, 0, "{}", made.err);
    let checked = mmascope(&format!("check --flags {file}"));
    let counted = mmascope(&format!("check --flags --json {file}"));
    let plain = mmascope(&format!("check {file}"));
    std::fs::remove_file(file).expect("removes");
    assert_eq!(checked.out.trim(), "64 passed, 0 failed");
    let counted: Value = serde_json::from_str(&counted.out).expect("JSON");
    assert_eq!(counted["with_flags"], 64);
    assert_eq!(plain.out.trim(), "64 passed, 0 failed");

    let overflow = "--a 0x7f00 --b 0x4000 --c 0";
    let text = mmascope(&format!("explain {row} {overflow}")).out;
    let last = text.trim_end().lines().last().unwrap_or_default();
    assert_eq!(
        last,
        "flags 20: bit 5 (overflow) (when a bit is set is assumed)"
    );
    let json = mmascope(&format!("explain --json {row} {overflow}")).out;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["explanation"]["flags"], "20");
    let shown = mmascope(&format!("show {row}")).out;
    assert!(
        shown.contains("flags: bit 5 (overflow), bit 6 (underflow)"),
        "{shown}"
    );
    assert!(
        shown.contains("groups") || shown.contains("a product is"),
        "{shown}"
    );
    let shown: Value =
        serde_json::from_str(&mmascope(&format!("show --json {row}")).out).expect("JSON");
    assert_eq!(shown["flags"][0], "bit 5 (overflow)");
}
