//! `mmascope matmul`: from files to a file, and everything that must be refused.

#[cfg(unix)]
#[path = "common/interrupt.rs"]
mod interrupt;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use mmascope::array::{self, Casting, write_npy};
use mmascope::dpa::Operands;
use mmascope::format::{BF16, E4M3FN, F16, F32, Format};
use mmascope::isa::Catalogue;
use serde_json::Value;

#[cfg(unix)]
use interrupt::interrupt;

const F16_INST: &str = "mma.m16n8k16.f32.f16.f16.f32";
const MX_INST: &str = "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0";

/// An empty folder in which the program runs.
struct Workplace(tempfile::TempDir);

impl Workplace {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes an array of any words of a format (or of small numbers, for f16 and f32).
    fn matrix(&self, name: &str, rows: usize, columns: usize, format: &Format) -> Vec<u64> {
        let words: Vec<u64> = (0..rows * columns)
            .map(|index| {
                let number = (index * 37 + name.len() * 11) % 97;
                match format.name {
                    "f16" => 0x3000 + 83 * number as u64 + ((number as u64 & 1) << 15),
                    "f32" => u64::from((number as f32 - 48.25).to_bits()),
                    _ => number as u64,
                }
            })
            .collect();
        let file = self.path().join(name);
        let file = file.to_str().expect("a name");
        let go = std::sync::atomic::AtomicBool::new(false);
        write_npy(file, &[rows, columns], format, &words, &go).expect("written");
        words
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_mmascope"))
            .arg("matmul")
            .args(arguments)
            .current_dir(self.path())
            .output()
            .expect("the program runs")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
        assert_eq!(errors, "");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn words(&self, name: &str, format: &Format) -> Vec<u64> {
        let file = self.path().join(name);
        let array = array::read(file.to_str().expect("a name")).expect("right");
        array
            .words(format, &Casting::default())
            .expect("fits")
            .to_vec()
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path())
            .expect("a folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("a name")
            })
            .collect();
        names.sort();
        names
    }
}

#[test]
fn the_product_is_the_chain_of_dot_products() {
    let place = Workplace::new();
    let (m, n, k) = (7, 19, 48);
    let a = place.matrix("a.npy", m, k, &F16);
    let b = place.matrix("b.npy", k, n, &F16);
    let c = place.matrix("c.npy", m, n, &F32);
    let unit = Catalogue::built_in()
        .find("hopper", F16_INST)
        .expect("found");
    let mut expected = c.clone();
    for (index, sum) in expected.iter_mut().enumerate() {
        let column: Vec<u64> = (0..k).map(|at| b[at * n + index % n]).collect();
        for first in (0..k).step_by(16) {
            let row = index / n * k + first;
            let operands = Operands {
                a: &a[row..row + 16],
                b: &column[first..first + 16],
                c: *sum,
                ..Operands::default()
            };
            *sum = unit.dot(&operands, &Default::default()).expect("fits");
        }
    }
    for threads in ["1", "2"] {
        let arguments = [
            "--arch", "H100", "--inst", F16_INST, "a.npy", "b.npy", "--c", "c.npy",
        ];
        let rest = ["-o", "d.npy", "--threads", threads, "--stats", "full"];
        let json = place.json(&[&arguments[..], &rest].concat());
        assert_eq!(place.words("d.npy", &F32), expected);
        assert_eq!(
            (&json["m"], &json["n"], &json["k"]),
            (&7.into(), &19.into(), &48.into())
        );
        assert_eq!((&json["steps"], &json["padded_k"]), (&3.into(), &48.into()));
        assert_eq!(
            (&json["arch"], &json["inst"]),
            (&"hopper".into(), &F16_INST.into())
        );
        assert!(json["mmascope"].is_string() && json["catalogue"].is_string());
        assert!(json["products_per_second"].as_f64().expect("a number") > 0.0);
        assert!(!json["method"].as_str().expect("a text").is_empty());
        let statistics = &json["statistics"];
        assert_eq!(
            (&statistics["outputs"], &statistics["sampled"]),
            (&133.into(), &133.into())
        );
        for error in ["relative", "relative_to_products", "ulps"] {
            for figure in ["max", "mean", "median"] {
                assert!(statistics[error][figure].is_f64(), "{statistics}");
            }
        }
        let largest = statistics["relative_to_products"]["max"].as_f64();
        assert!(largest.is_some_and(|error| error < 1e-5), "{statistics}");
    }
    assert_eq!(place.files(), ["a.npy", "b.npy", "c.npy", "d.npy"]);
}

#[test]
fn the_report_names_shape_time_instruction_and_errors() {
    let place = Workplace::new();
    place.matrix("a.npy", 70, 20, &F16);
    place.matrix("b.npy", 20, 70, &F16);
    let arguments = [
        "--arch", "hopper", "--inst", F16_INST, "a.npy", "b.npy", "-o", "d.npy",
    ];
    let output = place.run(&[&arguments[..], &["--pad"]].concat());
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(0), "{text}");
    for part in [
        "instruction  hopper:mma.m16n8k16",
        "M=70 N=70 K=32, of which 12 padding; 2 steps of K=16",
        "time ",
        "products/s",
        "d.npy: 70 × 70 f32",
        "4096 of 4900 outputs",
        "|exact|",
        "Σ|a·b|",
        "ULPs of f32",
        "exact result 0: ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let without = place.run(&[&arguments[..], &["--pad", "--stats", "none"]].concat());
    let text = String::from_utf8(without.stdout).expect("text");
    assert!(text.contains("time") && !text.contains("ULPs"), "{text}");
    let json = place.json(&[&arguments[..], &["--pad", "--stats", "none"]].concat());
    assert_eq!(json["statistics"], Value::Null);
    assert_eq!((&json["k"], &json["padded_k"]), (&20.into(), &32.into()));
}

#[test]
fn scales_modifiers_rounding_and_saturation_reach_the_unit() {
    let place = Workplace::new();
    // Block scales: 1 · 1 · 2^3 · 2^-1 over 64 products.
    let ones = |count: usize, code: u8| vec![code; count];
    let header = r#"{"a":{"dtype":"F8_E4M3","shape":[1,64],"data_offsets":[0,64]},
        "b":{"dtype":"F8_E4M3","shape":[64,1],"data_offsets":[64,128]},
        "sa":{"dtype":"U8","shape":[1,2],"data_offsets":[128,130]},
        "sb":{"dtype":"U8","shape":[2,1],"data_offsets":[130,132]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend([ones(128, 0x38), ones(2, 130), ones(2, 126)].concat());
    fs::write(place.path().join("x.safetensors"), bytes).expect("written");
    let file = |name: &str| format!("x.safetensors:{name}");
    place.json(&[
        "--arch",
        "rtx-blackwell",
        "--inst",
        MX_INST,
        &file("a"),
        &file("b"),
        "-o",
        "d.npy",
        "--scale-a",
        &file("sa"),
        "--scale-b",
        &file("sb"),
    ]);
    assert_eq!(place.words("d.npy", &F32), [u64::from(256_f32.to_bits())]);
    // Modifiers: C enters once, A is negated in both steps.
    place.matrix("one.npy", 1, 1, &F32);
    let c = f32::from_bits(place.words("one.npy", &F32)[0] as u32);
    for (name, shape) in [("row.npy", [1, 32]), ("column.npy", [32, 1])] {
        let go = std::sync::atomic::AtomicBool::new(false);
        let file = place.path().join(name);
        write_npy(
            file.to_str().expect("a name"),
            &shape,
            &F16,
            [0x3c00; 32],
            &go,
        )
        .expect("written");
    }
    let modified = |mods: &[&str]| {
        let inst = "tcgen05.mma.m128n8k16.kind::f16.f32.f16.f16";
        let arguments = [
            "--arch",
            "blackwell",
            "--inst",
            inst,
            "row.npy",
            "column.npy",
            "-o",
            "d.npy",
        ];
        place.json(&[&arguments[..], mods].concat());
        f32::from_bits(place.words("d.npy", &F32)[0] as u32)
    };
    assert_eq!(modified(&["--c", "one.npy"]), 32.0 + c);
    assert_eq!(
        modified(&["--c", "one.npy", "--mods", "negA,scaleD=-2"]),
        c / 4.0 - 32.0
    );
    assert_eq!(modified(&["--mods", "noC", "--mods", "negB"]), -32.0);
    // Rounding of f32 on the way to tf32, and saturation on the way to f16.
    let number = 1.0 + 2_f32.powi(-11) + 2_f32.powi(-12);
    let save = |name: &str, shape: [usize; 2], first: f32| {
        let mut words = vec![0; 16];
        words[0] = u64::from(first.to_bits());
        let go = std::sync::atomic::AtomicBool::new(false);
        let file = place.path().join(name);
        write_npy(file.to_str().expect("a name"), &shape, &F32, &words, &go).expect("written");
    };
    save("r.npy", [1, 16], number);
    save("s.npy", [16, 1], 1.0);
    save("big.npy", [1, 16], 1e9);
    let tf32 = |more: &[&str]| {
        let inst = "mma.m16n8k8.f32.tf32.tf32.f32";
        let arguments = [
            "--arch", "hopper", "--inst", inst, "r.npy", "s.npy", "-o", "d.npy",
        ];
        place.json(&[&arguments[..], more].concat());
        f32::from_bits(place.words("d.npy", &F32)[0] as u32)
    };
    assert_eq!(tf32(&[]), 1.0); // the unit drops the low bits of raw words
    assert_eq!(tf32(&["--round", "rz"]), 1.0);
    assert_eq!(tf32(&["--round", "rne"]), 1.0 + 2_f32.powi(-10));
    let arguments = [
        "--arch", "hopper", "--inst", F16_INST, "big.npy", "s.npy", "-o", "d.npy",
    ];
    place.json(&[&arguments[..], &["--saturate"]].concat());
    assert_eq!(place.words("d.npy", &F32), [u64::from(65504_f32.to_bits())]);
}

#[test]
fn own_units_and_f16_results() {
    let place = Workplace::new();
    place.matrix("a.npy", 3, 24, &F16);
    place.matrix("b.npy", 24, 2, &F16);
    let isa = "arch mychip = mc1\n\
        dot.{shape}.{d}.{a} | f16 x f16 + f16 -> f16 | m8n8k12 \\\n\
        | t-fdpa L=12 F=20 e0=-126 align=rne -> rne f16 | open\n";
    fs::write(place.path().join("my.txt"), isa.replace("\\\n", "")).expect("written");
    let arguments = [
        "--isa",
        "my.txt",
        "--arch",
        "mc1",
        "--inst",
        "dot.m8n8k12.f16.f16",
    ];
    let json = place.json(&[&arguments[..], &["a.npy", "b.npy", "-o", "d.npy"]].concat());
    assert_eq!((&json["steps"], &json["d"]), (&2.into(), &"f16".into()));
    let file = fs::read(place.path().join("d.npy")).expect("read");
    assert!(String::from_utf8_lossy(&file[..60]).contains("<f2"));
    assert_eq!(place.words("d.npy", &F16).len(), 6);
}

#[test]
fn wrong_input_is_exit_2_with_a_message_and_no_output_file() {
    let place = Workplace::new();
    place.matrix("a.npy", 3, 32, &F16);
    place.matrix("b.npy", 32, 4, &F16);
    place.matrix("c.npy", 3, 5, &F32);
    place.matrix("ragged_a.npy", 3, 20, &F16);
    place.matrix("ragged_b.npy", 20, 4, &F16);
    place.matrix("codes.npy", 3, 32, &E4M3FN);
    let go = std::sync::atomic::AtomicBool::new(false);
    let file = place.path().join("vector.npy");
    write_npy(file.to_str().expect("a name"), &[32], &F16, [0; 32], &go).expect("written");
    let file = place.path().join("empty.npy");
    write_npy(
        file.to_str().expect("a name"),
        &[0, 32],
        &F16,
        [0_u64; 0],
        &go,
    )
    .expect("written");
    let file = place.path().join("big.npy");
    let big = u64::from(1e6_f32.to_bits());
    write_npy(
        file.to_str().expect("a name"),
        &[1, 32],
        &F32,
        [big; 32],
        &go,
    )
    .expect("written");
    let right = fs::read(place.path().join("a.npy")).expect("read");
    fs::write(place.path().join("cut.npy"), &right[..right.len() - 1]).expect("written");
    fs::write(place.path().join("text.npy"), "1, 2, 3\n").expect("written");
    let before = place.files();
    let base = ["--arch", "hopper", "--inst", F16_INST];
    let mx = ["--arch", "rtx-blackwell", "--inst", MX_INST];
    let table: Vec<(&[&str], &[&str], &str)> = vec![
        (
            &base,
            &["ragged_a.npy", "ragged_b.npy"],
            "K = 20 is no multiple",
        ),
        (&base, &["a.npy", "ragged_b.npy"], "B must have 32 rows"),
        (&base, &["vector.npy", "b.npy"], "two dimensions"),
        (&base, &["empty.npy", "b.npy"], "empty"),
        (&base, &["cut.npy", "b.npy"], "cut short"),
        (&base, &["text.npy", "b.npy"], "no .npy file"),
        (&base, &["missing.npy", "b.npy"], "A: missing.npy"),
        (
            &base,
            &["codes.npy", "b.npy"],
            "a code of f16 takes 2 bytes",
        ),
        (
            &base,
            &["big.npy", "b.npy"],
            "element [0, 0] = 1e6 is beyond the largest f16",
        ),
        (
            &base,
            &["a.npy", "b.npy", "--c", "c.npy"],
            "C (c.npy) has the shape [3, 5]",
        ),
        (
            &base,
            &["a.npy", "b.npy", "--c", "x.safetensors"],
            "--c: x.safetensors",
        ),
        (
            &base,
            &["a.npy", "b.npy", "--scale-a", "c.npy"],
            "no block scales",
        ),
        (
            &base,
            &["a.npy", "b.npy", "--mods", "negA"],
            "has no modifier negA",
        ),
        (
            &base,
            &["a.npy", "b.npy", "--mods", "neg"],
            "unknown modifier 'neg'; nearest: negA, negB, negC",
        ),
        (
            &base,
            &["a.npy", "b.npy", "--mods", "half"],
            "unknown modifier 'half'; allowed: negA, negB, negC, noC, scaleD",
        ),
        (&base, &["a.npy", "b.npy", "--round", "up"], "--round"),
        (&base, &["a.npy", "b.npy", "--stats", "some"], "--stats"),
        (&base, &["a.npy"], "required"),
        (&mx, &["codes.npy", "codes.npy"], "B must have 32 rows"),
        (
            &["--arch", "hoper", "--inst", F16_INST],
            &["a.npy", "b.npy"],
            "nearest: hopper",
        ),
        (
            &["--arch", "hopper", "--inst", "mma.x"],
            &["a.npy", "b.npy"],
            "unknown instruction",
        ),
        (
            &["--arch", "sm_103", "--inst", F16_INST],
            &["a.npy", "b.npy"],
            "not modelled",
        ),
        (
            &["--arch", "volta", "--inst", "mma.m8n8k4.f32.f16.f16.f16"],
            &["a.npy", "b.npy"],
            "cannot be the next step's c",
        ),
    ];
    for (instruction, rest, wanted) in table {
        let output = place.run(&[instruction, rest, &["-o", "d.npy"]].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{rest:?}: {message}");
        assert!(message.contains(wanted), "{rest:?}: {message}");
        assert_eq!(place.files(), before, "{rest:?}");
        // A file that was there stays as it was.
        let kept = place.run(&[instruction, rest, &["-o", "codes.npy"]].concat());
        assert_eq!(kept.status.code(), Some(2), "{rest:?}");
        assert_eq!(place.files(), before, "{rest:?}");
    }
    let codes = place.words("codes.npy", &E4M3FN);
    assert_eq!(codes.len(), 96);
    for (output, wanted) in [
        ("no/d.npy", "no folder"),
        (".", "folder"),
        ("/dev/null", "regular"),
        // It would replace all arrays of that file by one that is no safetensors file.
        ("x.safetensors", "what is written is an .npy file"),
        ("x.safetensors:d", "what is written is an .npy file"),
    ] {
        let output = place.run(&[&base[..], &["a.npy", "b.npy", "-o", output]].concat());
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(wanted), "{message}");
    }
    assert_eq!(place.files(), before);
}

#[test]
fn an_output_that_is_also_an_input_is_replaced_whole() {
    let place = Workplace::new();
    place.matrix("a.npy", 16, 16, &F16);
    place.matrix("b.npy", 16, 16, &F16);
    let arguments = ["--arch", "hopper", "--inst", F16_INST, "a.npy", "b.npy"];
    place.json(&[&arguments[..], &["-o", "d.npy"]].concat());
    let done = place.run(&[&arguments[..], &["-o", "a.npy"]].concat());
    assert_eq!(done.status.code(), Some(0));
    let told = String::from_utf8_lossy(&done.stderr);
    assert_eq!(told, "-o: D in a.npy will replace the file of A\n");
    assert_eq!(place.words("a.npy", &F32), place.words("d.npy", &F32));
    assert_eq!(place.files(), ["a.npy", "b.npy", "d.npy"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_and_is_exit_130() {
    let place = Workplace::new();
    place.matrix("a.npy", 3000, 2048, &F16);
    place.matrix("b.npy", 2048, 3000, &F16);
    // The slowest way, so that any machine is still at work when the interrupt comes.
    let child = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(["matmul", "--arch", "hopper", "--inst", F16_INST])
        .args(["a.npy", "b.npy", "-o", "d.npy", "--threads", "1"])
        .env("MMASCOPE_SIMD", "scalar")
        .current_dir(place.path())
        .spawn()
        .expect("the program runs");
    assert_eq!(interrupt(child).code(), Some(130));
    assert_eq!(place.files(), ["a.npy", "b.npy"]);
}

/// The same bytes can mean two things: the output says what they were taken for.
#[test]
fn the_output_says_how_each_file_was_read() {
    let place = Workplace::new();
    let file = |name: &str| place.path().join(name).to_str().expect("a name").to_owned();
    let write = |name: &str, format: &Format, word: u64| {
        let go = std::sync::atomic::AtomicBool::new(false);
        write_npy(&file(name), &[16, 16], format, [word; 256], &go).expect("written");
    };
    write("void.npy", &BF16, 0x3f80);
    write("half.npy", &F16, 0x3c00);
    write("single.npy", &F32, 0x3f80_0000);
    let common = [
        "--arch", "hopper", "--inst", F16_INST, "--stats", "none", "-o", "d.npy",
    ];
    let bf16 = "mma.m16n8k16.f32.bf16.bf16.f32";
    // Values are rounded, codes are taken; of codes that np.save writes of another format it warns.
    let run = place.run(&[&common[..], &["single.npy", "void.npy", "--c", "half.npy"]].concat());
    let (out, err) = (
        String::from_utf8_lossy(&run.stdout).into_owned(),
        String::from_utf8_lossy(&run.stderr).into_owned(),
    );
    assert_eq!(run.status.code(), Some(0), "{err}");
    for line in [
        "A            single.npy: <f4, values of f32 rounded RNE to f16\n",
        "B            void.npy: <V2, raw codes of f16\n",
        "C            half.npy: <f2, values of f16 rounded RNE to f32\n",
    ] {
        assert!(out.contains(line), "{out}");
    }
    assert_eq!(err.lines().count(), 1, "{err}");
    for words in ["warning: B: void.npy", "<V2", "f16 codes", "bfloat16"] {
        assert!(err.contains(words), "{words}: {err}");
    }
    let found: Value = serde_json::from_slice(
        &place
            .run(&[&common[..], &["single.npy", "void.npy", "--json"]].concat())
            .stdout,
    )
    .expect("JSON");
    let read = found["read"].as_array().expect("a list");
    assert_eq!(read.len(), 2);
    assert_eq!(
        (&read[0]["argument"], &read[0]["dtype"]),
        (&"A".into(), &"<f4".into())
    );
    assert_eq!(read[0]["as"], "values of f32 rounded RNE to f16");
    assert!(read[0]["warning"].is_null() && read[1]["warning"].is_string());
    // Its own format needs no warning.
    let own = [
        "--arch", "hopper", "--inst", bf16, "--stats", "none", "-o", "d.npy",
    ];
    let found = place.json(&[&own[..], &["void.npy", "void.npy"]].concat());
    assert_eq!(found["read"][1]["as"], "raw codes of bf16");
    // f1 is what np.save writes for float8_e5m2; V1 may be any other.
    let inst = "mma.m16n8k32.f32.e4m3.e5m2.f32";
    for (name, descr, shape) in [
        ("v1.npy", "|V1", "(1, 32)"),
        ("f1.npy", "<f1", "(1, 32)"),
        ("t.npy", "<f1", "(32, 1)"),
    ] {
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        bytes.extend([0x38; 32]);
        fs::write(file(name), bytes).expect("written");
    }
    let common = [
        "--arch", "ada", "--inst", inst, "--stats", "none", "-o", "d.npy",
    ];
    let found = place.json(&[&common[..], &["v1.npy", "t.npy"]].concat());
    assert_eq!(
        (&found["read"][0]["as"], &found["read"][1]["as"]),
        (&"raw codes of e4m3fn".into(), &"raw codes of e5m2".into())
    );
    let run = place.run(&[&common[..], &["f1.npy", "t.npy"]].concat());
    let err = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{err}");
    assert!(
        err.starts_with("warning: A: f1.npy: f1 elements (<f1) are read as e4m3fn codes"),
        "{err}"
    );
    assert_eq!(err.lines().count(), 1, "{err}");
}

/// Where nobody reads the report any more, every D is written all the same.
#[test]
fn a_closed_pipe_leaves_no_file_out() {
    let place = Workplace::new();
    place.matrix("a.npy", 16, 32, &F16);
    place.matrix("b.npy", 32, 8, &F16);
    let mut child = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args([
            "matmul",
            "a.npy",
            "b.npy",
            "--arch",
            "ampere,hopper",
            "-o",
            "d.npy",
        ])
        .current_dir(place.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    assert!(child.wait().expect("it ends").success());
    for file in ["d-ampere.npy", "d-hopper.npy"] {
        assert!(place.path().join(file).exists(), "{file}");
    }
}
