//! `cast`, `quantize`, `dequantize`, quantised operands of `matmul`, `specials`, as people run them.

mod common;

use std::path::Path;

use common::mmascope;
use serde_json::Value;

fn json(arguments: &str) -> Value {
    let run = mmascope(&format!("{arguments} --json"));
    assert_eq!(run.status, 0, "{arguments}: {}", run.err);
    serde_json::from_str(&run.out).unwrap()
}

/// The status, and that nothing was printed but a message with these words.
fn refused(arguments: &str, words: &[&str]) {
    let run = mmascope(arguments);
    assert_eq!((run.status, &*run.out), (2, ""), "{arguments}");
    for word in words {
        assert!(
            run.err.contains(word),
            "{arguments}: '{word}' is not in: {}",
            run.err
        );
    }
}

/// An `.npy` file of this type string and shape.
fn npy(path: &Path, descr: &str, shape: &str, bytes: &[u8]) {
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    let end = (10 + header.len() + 1).next_multiple_of(64) - 11;
    header.extend(std::iter::repeat_n(' ', end - header.len()));
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    file.extend(bytes);
    std::fs::write(path, file).unwrap();
}

fn floats(path: &Path, shape: &str, numbers: &[f32]) {
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    npy(path, "<f4", shape, &bytes);
}

/// What follows the header of an `.npy` file, and the header.
fn parts(path: &Path) -> (String, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8(bytes[10..10 + length].to_vec()).unwrap();
    (header, bytes[10 + length..].to_vec())
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn cast_gives_words_values_and_the_instruction() {
    let out = json("cast --from f32 --to e4m3 1000 -0x1.8p-3 -inf 0x7fc00000 0.3");
    assert_eq!(out["from"], "f32");
    assert_eq!(out["to"], "e4m3fn");
    assert_eq!(out["instruction"], "cvt.rn.satfinite.e4m3x2.f32");
    let results = out["results"].as_array().unwrap();
    let column = |key: &str| results.iter().map(|it| it[key].clone()).collect::<Vec<_>>();
    assert_eq!(
        column("in"),
        ["447a0000", "be400000", "ff800000", "7fc00000", "3e99999a"]
    );
    assert_eq!(column("out"), ["7e", "a4", "fe", "7f", "2a"]);
    assert_eq!(results[0]["value"], 448.0);
    assert_eq!(results[1]["value"], -0.1875);
    assert_eq!(results[3]["value"], "nan");
    assert_eq!(column("exact"), [false, true, false, true, false]);
}

#[test]
fn the_sign_of_a_nan_is_read() {
    let run = mmascope("cast --from f32 --to f32 -- -nan nan");
    assert!(
        run.out.contains("ffc00000") && run.out.contains("7fc00000"),
        "{}",
        run.out
    );
    // This format has one NaN, and no sign for it.
    let run = mmascope("cast --from e4m3fnuz --to f32 -- -nan");
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.out.contains("80"), "{}", run.out);
}

#[test]
fn numbers_that_vanish_are_not_clamped_and_too_large_ones_are_refused() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (x, q) = (path("x.npy"), path("q.safetensors"));
    floats(Path::new(&x), "2, 32", &[1e-44; 64]);
    let out = json(&format!("quantize {x} --format nvfp4 -o {q}"));
    assert_eq!(out["statistics"]["vanished"], 64);
    assert_eq!(out["statistics"]["clamped"], 0);
    npy(Path::new(&x), "<f8", "1, 1", &1e300_f64.to_le_bytes());
    let run = mmascope(&format!("quantize {x} --format mxfp4 -o {q}"));
    assert_eq!(run.status, 2);
    assert!(run.err.contains("is beyond the largest f32"), "{}", run.err);
    assert!(!run.err.contains("saturate"), "{}", run.err);
}

#[test]
fn cast_without_a_form_of_ptx_is_ieee_and_says_so() {
    let out = json("cast --from f32 --to e4m3fnuz 300 -0");
    assert_eq!(
        (&out["policy"], &out["instruction"]),
        (&"ieee".into(), &Value::Null)
    );
    assert_eq!(out["results"][0]["out"], "80");
    assert_eq!(out["results"][1]["out"], "00");
    let run = mmascope("cast --from f32 --to e4m3 --round rz 1.99");
    assert!(run.out.contains("sm_107f, sm_107a"), "{}", run.out);
}

#[test]
fn cast_by_policy() {
    for (policy, out) in [
        ("ptx", "7e"),
        ("ml_dtypes", "7f"),
        ("ocp", "7e"),
        ("host", "7e"),
    ] {
        let result = json(&format!("cast --from f32 --to e4m3 --policy {policy} 1e9"));
        assert_eq!(result["results"][0]["out"], out, "{policy}");
        assert_eq!(result["policy"], policy);
    }
    let ocp = json("cast --from f32 --to e4m3 --policy ocp inf");
    assert_eq!(ocp["results"][0]["out"], "7f");
}

#[test]
fn packed_values_share_a_register_and_open_questions_are_said() {
    let out = json("cast --from f32 --to f16 --packed x2 --random-bits 1fff0000 1.0001 1.0001");
    assert_eq!(out["packed"][0], "3c013c00"); // a, the first, has the upper half
    let out = json("cast --from f32 --to e4m3 --random-bits 80010000 1.05 1.05 1.05 1.05");
    assert!(
        out["notes"][0]
            .as_str()
            .unwrap()
            .contains("not established")
    );
    assert_eq!(out["instruction"], "cvt.rs.satfinite.e4m3x4.f32");
    // The packed instruction is another one, on fewer targets.
    let out = json("cast --from f32 --to f16 --packed x2 1 2");
    assert_eq!(out["instruction"], "cvt.rn.f16x2.f32");
    assert_eq!(out["targets"], "sm_80 and later");
    assert_eq!(out["packed"][0], "3c004000");
    refused(
        "cast --from f32 --to f16 --packed x2 --target sm_75 1 2",
        &["--target sm_75", "cvt.rn.f16x2.f32", "sm_80 and later"],
    );
    let out = json("cast --from f32 --to f16 --packed x4 1 2 3 4");
    assert_eq!(out["instruction"], Value::Null);
    for (command, word) in [
        ("cast --from bf16 --to f32 0x7f81", "7f810000"),
        ("cast --from f64 --to f16 0xfff053459b256ae9", "fe14"),
    ] {
        let out = json(command);
        assert_eq!(out["results"][0]["out"], word, "{command}");
        let note = out["notes"][0].as_str().unwrap();
        assert!(note.contains("does not say which NaN"), "{note}");
        assert!(note.contains("H200 (sm_90)"), "{note}");
    }
    for command in [
        "cast --from int32 --to f64 1",
        "cast --from f64 --to f32 --sat 1",
        "cast --from f32 --to f16 nan",
    ] {
        assert_eq!(json(command)["notes"].as_array().unwrap().len(), 0);
    }
    let out = json("cast --from f32 --to e4m3 --random-bits 8000 1.05");
    assert_eq!(out["notes"].as_array().unwrap().len(), 0);
}

#[test]
fn cast_of_files_gives_codes_as_unsigned_integers() {
    let folder = folder();
    let name = |name: &str| folder.path().join(name);
    floats(
        &name("x.npy"),
        "2, 3",
        &[1.0, -2.5, 0.3, f32::NAN, 1e9, -0.0],
    );
    let path = |file: &str| name(file).display().to_string();
    for (to, descr) in [
        ("e4m3", "|u1"),
        ("bf16", "<u2"),
        ("tf32", "<u4"),
        ("int64", "<u8"),
    ] {
        let (x, y) = (path("x.npy"), path("y.npy"));
        let run = mmascope(&format!("cast --from f32 --to {to} --input {x} -o {y}"));
        assert_eq!(run.status, 0, "{}", run.err);
        let (header, _) = parts(&name("y.npy"));
        assert!(
            header.contains(&format!("'{descr}'")) && header.contains("(2, 3)"),
            "{header}"
        );
    }
    let arguments = format!(
        "cast --from f32 --to e4m3 --input {} -o {}",
        path("x.npy"),
        path("e.npy")
    );
    assert_eq!(json(&arguments)["inexact"], 2);
    assert_eq!(
        parts(&name("e.npy")).1,
        [0x38, 0xc2, 0x2a, 0x7f, 0x7e, 0x80]
    );
    // Integers are codes of the source.
    let arguments = format!(
        "cast --from e4m3 --to f32 --input {} -o {}",
        path("e.npy"),
        path("f.npy")
    );
    json(&arguments);
    let (_, bytes) = parts(&name("f.npy"));
    assert_eq!(bytes[4..8], (-2.5_f32).to_le_bytes());
    // The plain lanes give the same.
    let scalar = std::process::Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args([
            "cast",
            "--from",
            "f32",
            "--to",
            "e4m3",
            "--input",
            &path("x.npy"),
            "-o",
        ])
        .arg(path("s.npy"))
        .env("MMASCOPE_SIMD", "scalar")
        .output()
        .unwrap();
    assert!(scalar.status.success());
    assert_eq!(parts(&name("s.npy")), parts(&name("e.npy")));
}

#[test]
fn wrong_casts_are_refused_with_what_is_allowed() {
    refused(
        "cast --from f32 --to e4m4 1",
        &["--to", "e4m4", "nearest", "e4m3"],
    );
    refused("cast --from f33 --to e4m3 1", &["--from", "f33"]);
    refused(
        "cast --from f32 --to e4m3 --overflow ieee 1",
        &["overflow ieee", "e4m3fn has no infinity", "satfinite, nan"],
    );
    refused("cast --from e4m3 --to f32 inf", &["inf", "e4m3fn has none"]);
    refused("cast --from f32 --to e4m3 --round rx 1", &["--round", "rx"]);
    refused(
        "cast --from f32 --to e4m3 --policy ptx --round rna 1",
        &["rounding rna", "rne, rz"],
    );
    refused(
        "cast --from f32 --to e4m3 --target sm_80 1",
        &["sm_80", "sm_89 and later"],
    );
    refused("cast --from f32 --to e4m3 --round rs 1", &["--random-bits"]);
    refused(
        "cast --from f32 --to f16 --random-bits xyz 1",
        &["--random-bits", "xyz", "allowed"],
    );
    refused(
        "cast --from f32 --to e4m3 one",
        &["one", "expected a decimal"],
    );
    refused(
        "cast --from f32 --to e2m1 --packed x2 1 2 3",
        &["--packed", "3 values", "2"],
    );
    let folder = folder();
    let y = folder.path().join("y.npy");
    floats(&folder.path().join("x.npy"), "1", &[1.0]);
    let x = folder.path().join("x.npy");
    let (x, y_name) = (x.display(), y.display());
    refused(
        &format!("cast --from f32 --to e4m3 --overflow ieee --input {x} -o {y_name}"),
        &[],
    );
    refused(
        &format!("cast --from f32 --to e4m3 -o {y_name} 1"),
        &["-o", "--input"],
    );
    assert!(!y.exists());
}

/// Numbers that are no codes.
fn numbers(count: usize) -> Vec<f32> {
    (0..count)
        .map(|i| ((i * 37 % 101) as f32 - 50.0) / 7.0)
        .collect()
}

#[test]
fn quantised_arrays_come_back_on_any_axis_with_shorter_blocks_at_the_end() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    floats(&folder.path().join("x.npy"), "3, 40, 2", &numbers(240));
    for (axis, scales) in [("0", [1, 40, 2]), ("1", [3, 2, 2]), ("-1", [3, 40, 1])] {
        let (x, q, y) = (path("x.npy"), path("q.safetensors"), path("y.npy"));
        let out = json(&format!(
            "quantize {x} --format mxfp8-e4m3 --axis {axis} -o {q}"
        ));
        assert_eq!(out["recipe"], "ocp");
        assert_eq!(out["scale_shape"], serde_json::json!(scales), "axis {axis}");
        assert_eq!(out["statistics"]["vanished"], 0);
        let back = json(&format!("dequantize {q} -o {y}"));
        assert_eq!(back["shape"], serde_json::json!([3, 40, 2]));
        let (header, bytes) = parts(&folder.path().join("y.npy"));
        assert!(header.contains("'<f4'"));
        let (words, _) = bytes.as_chunks::<4>();
        for (word, x) in words.iter().zip(numbers(240)) {
            let error = (f32::from_le_bytes(*word) - x).abs();
            assert!(error <= 0.5, "axis {axis}: {x}");
        }
    }
}

#[test]
fn every_format_has_its_recipes_and_a_histogram() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    floats(&folder.path().join("x.npy"), "4, 64", &numbers(256));
    let x = path("x.npy");
    for (format, recipe) in [
        ("mxfp8-e4m3", "ocp"),
        ("mxfp8-e5m2", "round-up"),
        ("mxfp6-e2m3", "ocp"),
        ("mxfp6-e3m2", "round-up"),
        ("mxfp4", "ocp"),
        ("mxint8", "round-up"),
        ("nvfp4", "nvfp4"),
        ("nvfp4", "four-over-six"),
    ] {
        let (q, svg) = (path("q.safetensors"), path("h.svg"));
        let _ = std::fs::remove_file(&svg);
        let drawing = if recipe == "ocp" { "-o" } else { "--svg" };
        let out = json(&format!(
            "quantize {x} --format {format} --recipe {recipe} {drawing} {svg} -o {q}"
        ));
        assert_eq!(
            (&out["format"], &out["recipe"]),
            (&format.into(), &recipe.into())
        );
        let histogram = out["statistics"]["histogram"].as_array().unwrap();
        let counted: u64 = histogram.iter().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(counted, 256, "{format}");
        assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg"));
    }
}

#[test]
fn stochastic_rounding_is_the_same_for_any_number_of_threads() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    floats(&folder.path().join("x.npy"), "8, 64", &numbers(512));
    let made = |threads: u32, seed: u32| {
        let (x, q) = (path("x.npy"), path("q.safetensors"));
        let run = mmascope(&format!(
            "quantize {x} --format mxfp4 --stochastic {seed} --threads {threads} -o {q}"
        ));
        assert_eq!(run.status, 0, "{}", run.err);
        std::fs::read(q).unwrap()
    };
    assert_eq!(made(1, 7), made(3, 7));
    assert_ne!(made(1, 7), made(1, 8));
}

const INST: &str = "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3";

#[test]
fn matmul_takes_quantised_operands_and_the_second_scales_as_a_factor() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    floats(&folder.path().join("a.npy"), "5, 64", &numbers(320));
    floats(&folder.path().join("b.npy"), "64, 7", &numbers(448));
    floats(&folder.path().join("t.npy"), "64, 5", &numbers(320));
    let (a, b) = (path("a.safetensors"), path("b.safetensors"));
    json(&format!("quantize {} --format nvfp4 -o {a}", path("a.npy")));
    json(&format!(
        "quantize {} --format nvfp4 --axis 0 -o {b}",
        path("b.npy")
    ));
    let d = path("d.npy");
    let matmul = format!("matmul --arch rtx-blackwell --inst {INST}");
    let out = json(&format!("{matmul} {a} {b} -o {d} --stats full"));
    assert!(
        out["schedule"].as_str().unwrap().contains("alpha="),
        "{}",
        out["schedule"]
    );
    // The dequantised matrices, multiplied by the host.
    let read = |name: &str| -> Vec<f64> {
        let (_, bytes) = parts(&folder.path().join(name));
        let words = bytes.as_chunks::<4>().0;
        words
            .iter()
            .map(|word| f64::from(f32::from_le_bytes(*word)))
            .collect()
    };
    json(&format!("dequantize {a} -o {}", path("da.npy")));
    json(&format!("dequantize {b} -o {}", path("db.npy")));
    let (da, db, d) = (read("da.npy"), read("db.npy"), read("d.npy"));
    for (i, j) in (0..5).flat_map(|i| (0..7).map(move |j| (i, j))) {
        let exact: f64 = (0..64).map(|k| da[i * 64 + k] * db[k * 7 + j]).sum();
        assert!(
            (d[i * 7 + j] - exact).abs() < 1e-4 * exact.abs().max(1.0),
            "[{i}, {j}]"
        );
    }
    // A transposed operand takes its scales along.
    let t = path("t.safetensors");
    json(&format!(
        "quantize {} --format nvfp4 --axis 0 -o {t}",
        path("t.npy")
    ));
    json(&format!(
        "{matmul} {t} --transpose-a {b} -o {}",
        path("e.npy")
    ));
    // What does not fit is refused, and nothing is written.
    let e = path("no.npy");
    refused(
        &format!("{matmul} {b} {b} -o {e}"),
        &["A:", "axis 0", "K is axis 1"],
    );
    let mxfp8 = path("m.safetensors");
    json(&format!(
        "quantize {} --format mxfp8-e4m3 -o {mxfp8}",
        path("a.npy")
    ));
    refused(
        &format!("{matmul} {mxfp8} {b} -o {e}"),
        &["A:", "mxfp8-e4m3", "e2m1fn"],
    );
    let short = path("s.safetensors");
    json(&format!(
        "quantize {} --format nvfp4 --block 32 -o {short}",
        path("a.npy")
    ));
    refused(
        &format!("{matmul} {short} {b} -o {e}"),
        &["A:", "blocks of 32", "every 16 k"],
    );
    refused(
        &format!("{matmul} {a} {b} --scale-a {} -o {e}", path("a.npy")),
        &["--scale-a"],
    );
    assert!(!Path::new(&e).exists());
}

#[test]
fn wrong_quantisations_are_refused_and_write_nothing() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    floats(&folder.path().join("x.npy"), "2, 32", &numbers(64));
    npy(&folder.path().join("i.npy"), "|u1", "4", &[1, 2, 3, 4]);
    let (x, q) = (path("x.npy"), path("q.safetensors"));
    refused(
        &format!("quantize {x} --format mxfp5 -o {q}"),
        &["--format", "mxfp5", "mxfp4"],
    );
    refused(
        &format!("quantize {x} --format nvfp4 --recipe ocp -o {q}"),
        &["--recipe", "ocp", "allowed: nvfp4, four-over-six"],
    );
    refused(
        &format!("quantize {x} --format nvfp4 --recipe foo -o {q}"),
        &["--recipe foo", "nvfp4 has nvfp4, four-over-six"],
    );
    for block in ["0", "33"] {
        let arguments = format!("quantize {x} --format mxfp4 --block {block} -o {q}");
        refused(&arguments, &["--block", block, "1 to 32"]);
    }
    refused(
        &format!("quantize {x} --format mxfp4 --axis 2 -o {q}"),
        &["--axis 2", "-2 to 1"],
    );
    refused(
        &format!("quantize {} --format mxfp4 -o {q}", path("i.npy")),
        &["uint8", "floats"],
    );
    refused(
        &format!("quantize {x} --format mxfp4 -o {}", path("q.npy")),
        &["-o", ".safetensors"],
    );
    assert!(!Path::new(&q).exists());
}

#[test]
fn a_formats_own_block_may_be_longer_than_the_axis() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    floats(&folder.path().join("x.npy"), "2, 16", &numbers(32));
    let (x, q) = (path("x.npy"), path("q.safetensors"));
    for block in ["", "--block 32"] {
        let run = mmascope(&format!("quantize {x} --format mxfp4 {block} -o {q}"));
        assert_eq!(run.status, 0, "{block}: {}", run.err);
        assert!(
            run.out.contains("at the smallest scale, ") && run.out.contains(" at the largest"),
            "{}",
            run.out
        );
    }
    refused(
        &format!("quantize {x} --format mxfp4 --block 33 -o {q}"),
        &["--block 33", "1 to 32"],
    );
}

#[test]
fn a_tensor_scale_that_is_negative_or_nan_is_refused() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    floats(&folder.path().join("x.npy"), "2, 32", &numbers(64));
    let (x, q, y) = (path("x.npy"), path("q.safetensors"), path("y.npy"));
    json(&format!("quantize {x} --format nvfp4 -o {q}"));
    refused(
        &format!("dequantize {x} -o {y}"),
        &[
            "x.npy: this is a .npy file",
            ".safetensors file, which is needed",
        ],
    );
    let bytes = std::fs::read(&q).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    // The tensor's scale is the first array.
    for (scale, what) in [
        (-1.5_f32, "negative"),
        (f32::NAN, "NaN"),
        (f32::INFINITY, "infinite"),
    ] {
        let mut changed = bytes.clone();
        changed[8 + length..12 + length].copy_from_slice(&scale.to_le_bytes());
        std::fs::write(&q, changed).unwrap();
        refused(
            &format!("dequantize {q} -o {y}"),
            &["tensor_scale", what, "allowed"],
        );
        let d = path("d.npy");
        let matmul = format!("matmul --arch rtx-blackwell --inst {INST} {q} {q} -o {d}");
        refused(&matmul, &["A:", "tensor_scale", what]);
    }
    // A block scale that is NaN.
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() = 0x7f;
    std::fs::write(&q, changed).unwrap();
    refused(
        &format!("dequantize {q} -o {y}"),
        &["scale: element 3", "0x7f is NaN", "at most 0x7e is allowed"],
    );
    let matmul = format!(
        "matmul --arch rtx-blackwell --inst {INST} {q} {q} -o {}",
        path("d.npy")
    );
    refused(&matmul, &["A:", "0x7f is NaN"]);
    // A block scale with the sign bit set.
    let mut changed = bytes;
    *changed.last_mut().unwrap() |= 0x80;
    std::fs::write(&q, changed).unwrap();
    refused(
        &format!("dequantize {q} -o {y}"),
        &["scale: element 3", "negative"],
    );
    assert!(!Path::new(&y).exists());
}

#[test]
fn specials_of_units_as_text_json_and_page() {
    let out = json("specials --arch hopper --inst mma.m16n8k16.f32.f16.f16.f32");
    let cases = out["units"][0]["cases"].as_array().unwrap();
    let of = |name: &str| cases.iter().find(|case| case["case"] == name).unwrap()["d"].clone();
    assert_eq!(of("nan+x"), "7fffffff");
    assert_eq!(of("inf*0"), "7fffffff");
    assert_eq!(of("inf"), "7f800000");
    assert_eq!(of("nan scale"), Value::Null);
    let all = json("specials");
    assert!(all["units"].as_array().unwrap().len() > 400);
    let folder = folder();
    let page = folder.path().join("s.html");
    let run = mmascope(&format!("specials --arch cdna3 -o {}", page.display()));
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(
        std::fs::read_to_string(page)
            .unwrap()
            .contains("v_mfma_f32_32x32x8_f16")
    );
    refused("specials --arch hoper", &["hoper", "hopper"]);
    refused("specials --inst mma.nothing", &["mma.nothing"]);
    refused("specials -o s.txt", &["-o s.txt", ".html", ".jsonl"]);
}

/// The lines hold what the table says; `check` finds nothing wrong with them, and `eval` gives the same words.
#[test]
fn specials_as_vector_lines() {
    let folder = folder();
    for (units, count) in [
        ("hopper:mma.m16n8k16.f32.f16.f16.f32", Some(13)),
        // Flags of Tensix, NaN without a payload, block scales.
        ("blackhole:tensix.matmul.bf16.d16.hifi4", None),
        ("cdna3:v_mfma_f32_32x32x8_f16", None),
        ("blackwell", None),
    ] {
        let file = folder.path().join("special.jsonl");
        let file = file.to_str().unwrap();
        let out = json(&format!("specials --arch {units} -o {file}"));
        let mut cases = Vec::new();
        for unit in out["units"].as_array().unwrap() {
            for case in unit["cases"].as_array().unwrap() {
                if !case["a"].is_null() {
                    cases.push((unit.clone(), case.clone()));
                }
            }
        }
        let text = std::fs::read_to_string(file).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), cases.len(), "{units}");
        assert!(count.is_none_or(|count| lines.len() == count), "{units}");
        for (line, (unit, case)) in lines.iter().zip(&cases) {
            assert_eq!(line["special"], case["case"]);
            assert_eq!(
                (&line["arch"], &line["inst"]),
                (&unit["arch"], &unit["inst"])
            );
            for key in ["a", "b", "c", "d", "sa", "sb"] {
                assert_eq!(line[key], case[key], "{key} of {line}");
            }
        }
        let checked = mmascope(&format!("check {file}"));
        assert_eq!(checked.status, 0, "{}{}", checked.out, checked.err);
        let questions: String = lines
            .iter()
            .map(|line| {
                let mut line = line.clone();
                line.as_object_mut().unwrap().remove("d");
                format!("{line}\n")
            })
            .collect();
        let asked = folder.path().join("asked.jsonl");
        std::fs::write(&asked, questions).unwrap();
        let answered = mmascope(&format!("eval {}", asked.display()));
        assert_eq!(answered.status, 0, "{}", answered.err);
        for (answer, line) in answered.out.lines().zip(&lines) {
            let answer: Value = serde_json::from_str(answer).unwrap();
            assert_eq!(answer["d"], line["d"], "{line}");
        }
        assert_eq!(answered.out.lines().count(), lines.len(), "{units}");
    }
    let packed = folder.path().join("all.jsonl.gz");
    let run = mmascope(&format!("specials --arch volta -o {}", packed.display()));
    assert_eq!(run.status, 0, "{}", run.err);
    let checked = mmascope(&format!("check {}", packed.display()));
    assert_eq!(checked.status, 0, "{}{}", checked.out, checked.err);
}

/// Words of unsigned formats with spare bits, and numbers in a file that the source format does not hold.
#[test]
fn what_the_source_of_a_cast_does_not_hold_is_refused() {
    for (format, word) in [("ue4m3", "0x80"), ("ue4m3", "0xff"), ("uint1", "0x2")] {
        refused(
            &format!("cast --from {format} --to f32 {word}"),
            &["does not fit", format],
        );
    }
    let folder = folder();
    let file = folder.path().join("x.npy");
    let out = folder.path().join("y.npy");
    for (from, number) in [("f16", 70000.0), ("e4m3", 1e6), ("e4m3", f32::INFINITY)] {
        floats(&file, "2,", &[1.0, number]);
        let arguments = format!(
            "cast --from {from} --to f32 --input {} -o {}",
            file.display(),
            out.display()
        );
        refused(&arguments, &["--input", from]);
        // There is no option that would clamp it.
        assert!(!mmascope(&arguments).err.contains("saturate"));
        assert!(!out.exists());
    }
}

#[test]
fn scales_that_are_nan_leave_no_error_to_be_told() {
    let folder = folder();
    let (file, out) = (
        folder.path().join("x.npy"),
        folder.path().join("q.safetensors"),
    );
    let mut numbers = vec![1.0_f32; 40];
    (numbers[3], numbers[35]) = (f32::NAN, f32::INFINITY);
    floats(&file, "40,", &numbers);
    let arguments = format!(
        "quantize {} --format mxfp4 -o {}",
        file.display(),
        out.display()
    );
    let found = json(&arguments);
    let statistics = &found["statistics"];
    assert_eq!(
        (&statistics["compared"], &statistics["lost_to_nan"]),
        (&0.into(), &38.into())
    );
    let run = mmascope(&arguments);
    assert!(
        run.out.contains("error        of no element"),
        "{}",
        run.out
    );
    assert!(
        run.out.contains("38 finite numbers became NaN"),
        "{}",
        run.out
    );
}

#[test]
fn specials_of_an_architecture_without_models_are_refused() {
    refused(
        "specials --arch gfx1250",
        &["gfx1250", "no published arithmetic"],
    );
}
