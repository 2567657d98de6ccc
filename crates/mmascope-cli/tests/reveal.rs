//! `mmascope reveal` and `mmascope tree`: output, files, exit statuses.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HOPPER: &str = "model:hopper:mma.m16n8k16.f32.f16.f16.f32";
const CHAIN: &str = "gemm:hopper:mma.m16n8k16.f32.f16.f16.f32";

fn mmascope(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mmascope"));
    command
        .args(arguments)
        .env("OPENBLAS_NUM_THREADS", "1")
        .output()
        .expect("the program")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_string_lossy().into_owned()
}

#[test]
fn a_row_is_revealed_and_verified() {
    let output = mmascope(&["reveal", HOPPER]);
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output);
    assert!(
        text.contains("(fused f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)"),
        "{text}"
    );
    let last = text.lines().last().unwrap_or_default();
    assert_eq!(
        last,
        "verified over 100 trials (1 fused f32 keeping 25 bits, rounding rz)"
    );
}

#[test]
fn json_has_the_keys_of_the_interface() {
    let output = mmascope(&["reveal", HOPPER, "--json", "-n", "16"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["n"], 17);
    assert_eq!(value["leaves"][16], "c");
    assert_eq!(value["tree"]["op"], "fused");
    assert_eq!(value["tree"]["type"], "f32");
    assert_eq!(value["verified"]["trials"], 100);
    assert_eq!(value["verified"]["mismatches"], 0);
    assert!(value["calls"].as_u64() > Some(0) && value["unresolved"].is_array());
    assert!(value["catalogue"].is_string() && value["mmascope"].is_string());
}

#[test]
fn files_are_written_by_their_ending() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, start) in [
        ("t.svg", "<svg"),
        ("t.dot", "digraph"),
        ("t.html", "<!doctype"),
        ("t.json", "{"),
    ] {
        let path = folder.path().join(name).to_string_lossy().into_owned();
        let output = mmascope(&["reveal", HOPPER, "-o", &path]);
        assert_eq!(output.status.code(), Some(0));
        let written = std::fs::read_to_string(&path).expect("the file");
        assert!(written.starts_with(start), "{name}: {}", &written[..40]);
    }
    // Said before the subject is asked anything.
    let output = mmascope(&["reveal", "cmd:true", "-o", "t.png"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("must end with .svg"), "{message}");
}

#[test]
fn a_subject_without_a_single_tree_is_status_1() {
    let output = mmascope(&["reveal", "model:cdna3:v_mfma_f32_16x16x32_fp8_fp8"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output).contains("no-single-tree"),
        "{}",
        text(&output)
    );
}

#[test]
fn wrong_input_is_status_2_and_a_broken_device_3() {
    for arguments in [
        &["reveal", "nonsense"][..],
        &["reveal", HOPPER, "-n", "8"],
        &["reveal", HOPPER, "--algorithm", "guess"],
        &["reveal", HOPPER, "--algorithm", "naive"],
        &["reveal", "lib:libm.so.6:cblas_sdot"],
        &["reveal", "lib:libm.so.6:cos", "-n", "8"],
        &["reveal", "cmd:cat"],
        &["reveal", "cmd:cat", "--dtype", "f32"],
        &["reveal", "cmd:cat", "--dtype", "e8m0", "-n", "4"],
        &["reveal", "cmd:cat", "--dtype", "f32", "-n", "0"],
        &["reveal", "cmd:cat", "--dtype", "f32", "-n", "99999999"],
        &["reveal", HOPPER, "--dtype", "f32"],
        &["reveal", CHAIN, "-n", "160000000"],
        &["tree", "show", "/nonexistent"],
    ] {
        assert_eq!(mmascope(arguments).status.code(), Some(2), "{arguments:?}");
    }
    // A prefix that was forgotten is suggested, with the options that it takes as well.
    for options in [&[][..], &["--dtype", "f32", "-n", "4"]] {
        let output = mmascope(&[&["reveal", "python3 x.py"], options].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("cmd:python3 x.py"), "{told}");
    }
    for arguments in [
        &["reveal", "lib:/nonexistent.so:cblas_sdot", "-n", "8"][..],
        &["reveal", "cmd:true", "--dtype", "f32", "-n", "4"],
    ] {
        assert_eq!(mmascope(arguments).status.code(), Some(3), "{arguments:?}");
    }
}

/// A process that speaks the protocol: the program itself.
#[test]
fn a_process_is_revealed() {
    let eval = format!("cmd:{} eval", env!("CARGO_BIN_EXE_mmascope"));
    let row = ["--arch", "ampere", "--inst", "mma.m16n8k16.f32.f16.f16.f32"];
    let output = mmascope(&[&["reveal", &eval][..], &row].concat());
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        text(&output).contains("chain of 8+1-term fused sums"),
        "{}",
        text(&output)
    );
}

#[test]
fn trees_are_shown_compared_run_and_exported() {
    let folder = tempfile::tempdir().expect("a folder");
    let left = file(folder.path(), "left.txt", "(add f32 (add f32 0 1) 2)");
    let right = file(folder.path(), "right.txt", "(add f32 0 (add f32 1 2))");
    let values = file(folder.path(), "values.txt", "1e8 -1e8 1.5");
    let show = mmascope(&["tree", "show", &left]);
    assert!(text(&show).contains("sequential") && show.status.code() == Some(0));
    assert_eq!(
        mmascope(&["tree", "diff", &left, &left]).status.code(),
        Some(0)
    );
    let diff = mmascope(&["tree", "diff", &left, &right]);
    assert_eq!(diff.status.code(), Some(1));
    assert_eq!(text(&diff).trim(), "sequential against right to left");
    assert_eq!(
        text(&mmascope(&["tree", "run", &left, &values])).trim(),
        "1.5"
    );
    assert_eq!(
        text(&mmascope(&["tree", "run", &right, &values])).trim(),
        "0.0"
    );
    for (language, words) in [
        ("c", "float mmascope_sum(const float *x)"),
        ("rust", "pub fn mmascope_sum(x: &[f32]) -> f32"),
        ("python", "def mmascope_sum(x):"),
        ("cuda", "__device__ float mmascope_sum"),
    ] {
        let output = mmascope(&["tree", "export", &left, "--language", language]);
        assert!(text(&output).contains(words), "{}", text(&output));
        let json = mmascope(&["tree", "export", &left, "--language", language, "--json"]);
        let value: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
        assert_eq!(value["code"].as_str(), Some(&*text(&output)));
        assert!(value["catalogue"].is_string() && value["mmascope"].is_string());
    }
    let output = mmascope(&["tree", "export", &left, "--language", "fortran"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("rust, c, python, cuda"), "{message}");
}

/// What `reveal --json` says of the arithmetic is what running and exporting its tree takes.
#[test]
fn a_revealed_unit_is_run_and_exported() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = mmascope(&["reveal", HOPPER, "--json"]);
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(value["fused_bits"], 25);
    assert_eq!(value["rounding"], "rz");
    let tree = file(folder.path(), "hopper.json", &text(&json));
    // 2^24 − 1 − 1/4: the quarter lies below the 25 bits that are kept.
    let mut products = vec!["0*0"; 17];
    (products[0], products[1], products[16]) = ("-1*1", "0.5*-0.5", "16777216");
    let values = file(folder.path(), "values.txt", &products.join("\n"));
    let run = mmascope(&["tree", "run", &tree, &values]);
    assert_eq!(text(&run).trim(), "16777215.0");
    for language in ["c", "rust", "python", "cuda"] {
        let output = mmascope(&["tree", "export", &tree, "--language", language]);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output).contains("25"), "{}", text(&output));
    }
    let refused = mmascope(&["tree", "export", &tree, "--fused-bits", "60"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// A tree of multiply-adds is other arithmetic than the same order of additions.
#[test]
fn multiply_adds_are_not_run_as_additions() {
    let folder = tempfile::tempdir().expect("a folder");
    let bare = "(fma f32 (fma f32 0 1) 2)";
    let order = file(folder.path(), "order.txt", bare);
    let nested = bare.parse::<mmascope::Tree>().expect("a tree").json();
    let facts = r#""operands":"f32","format":"bf16","products":3"#;
    let whole = file(
        folder.path(),
        "whole.json",
        &format!("{{{facts},\"leaves\":[],\"tree\":{nested}}}"),
    );
    let wrong = file(
        folder.path(),
        "wrong.json",
        &format!("{{\"products\":4,\"tree\":{nested}}}"),
    );
    let numbers = file(folder.path(), "numbers.txt", "1 2 3");
    let products = file(folder.path(), "products.txt", "1*1 2*0.001 3*1");
    let refused = |arguments: &[&str], words: &str| {
        let output = mmascope(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(words), "{message}");
    };
    refused(&["tree", "export", &order], "products says how many leaves");
    refused(
        &["tree", "run", &order, &numbers],
        "products need both factors",
    );
    refused(&["tree", "export", &wrong], "products = 4");
    let given = mmascope(&["tree", "export", &order, "--products", "3"]);
    let said = mmascope(&["tree", "export", &whole]);
    assert_eq!(said.status.code(), Some(0));
    assert!(text(&said).contains("(const float *a, const float *b)"));
    // The order is the same; the sum is rounded to the format of the results, where that is said.
    let end = |output: &Output| text(output).lines().rev().nth(1).map(str::to_owned);
    assert_eq!(end(&given).as_deref(), Some("    return t4;"));
    let rounded =
        "    return (float)mmascope_round(((double)t4), 7, -126, 3.3895313892515355e38, 0);";
    assert_eq!(end(&said).as_deref(), Some(rounded));
    // What shows a file also passes it on.
    let copy = folder.path().join("copy.json");
    let copy = copy.to_string_lossy();
    mmascope(&["tree", "show", &whole, "-o", &copy]);
    assert_eq!(text(&mmascope(&["tree", "export", &copy])), text(&said));
    // The sum is rounded to the format of the results.
    let run = |tree: &str| text(&mmascope(&["tree", "run", tree, &products]));
    assert_eq!(run(&order).trim(), "4.001999855041504");
    assert_eq!(run(&whole).trim(), "4.0");
}

/// ∞, NaN, roundings, bits and formats that `tree run` and `tree export` once passed over.
#[test]
fn trees_are_run_and_exported_as_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| file(folder.path(), name, text);
    let chain = file("chain.txt", "(add f32 (add f32 0 1) 2)");
    let fused = file("fused.txt", "(fused f32 0 1 2)");
    let printed = |arguments: &[&str]| {
        let output = mmascope(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        text(&output).trim().to_owned()
    };
    let refused = |arguments: &[&str], words: &str| {
        let output = mmascope(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(words), "{message}");
    };
    for (values, expected) in [
        ("inf 1 2", "inf"),
        ("nan 1 2", "NaN"),
        ("inf 1 -inf", "NaN"),
    ] {
        let values = file("values.txt", values);
        let sum = printed(&["tree", "run", &fused, &values, "--fused-bits", "24"]);
        assert_eq!(sum, expected);
        for rounding in ["rz", "rd", "odd", "rne"] {
            let sum = printed(&["tree", "run", &chain, &values, "--rounding", rounding]);
            assert_eq!(sum, expected, "{rounding}");
        }
    }
    // Every rounding is code of its own.
    let roundings = "rne rna rnz rnu rnd rno rz ra ru rd odd";
    for language in ["c", "rust", "python", "cuda"] {
        let code = |rounding| {
            let arguments = [
                "tree",
                "export",
                &chain,
                "--language",
                language,
                "--rounding",
            ];
            printed(&[&arguments[..], &[rounding]].concat())
        };
        let all: std::collections::HashSet<String> = roundings.split(' ').map(code).collect();
        assert_eq!(all.len(), 11, "{language}");
    }
    // c and the result have the format of the results.
    let mixed =
        r#"{"op":"add","type":"f64","children":[{"op":"add","type":"f64","children":[0,1]},2]}"#;
    let facts = r#""operands":"f32","format":"f64","products":2"#;
    let mixed = file("mixed.json", &format!("{{{facts},\"tree\":{mixed}}}"));
    for (language, words) in [
        (
            "c",
            "double mmascope_sum(const float *a, const float *b, double c)",
        ),
        (
            "cuda",
            "double mmascope_sum(const float *a, const float *b, double c)",
        ),
        ("rust", "(a: &[f32], b: &[f32], c: f64) -> f64"),
    ] {
        let code = printed(&["tree", "export", &mixed, "--language", language]);
        assert!(code.contains(words) && !code.contains("float)t"), "{code}");
    }
    // Bits that fused sums cannot keep.
    let values = file("values.txt", "0.1 100000 -0.3");
    for bits in ["127", "150", "200"] {
        let sum = printed(&["tree", "run", &fused, &values, "--fused-bits", bits]);
        assert_eq!(sum, "99999.796875");
        refused(&["tree", "export", &fused, "--fused-bits", bits], "53 bits");
    }
    for bits in ["0", "-1", "65537", "2147483647"] {
        let option = format!("--fused-bits={bits}");
        let words = format!("fused_bits = {bits}: a whole number of bits from 1 to 65536");
        refused(&["tree", "run", &fused, &values, &option], &words);
        refused(&["tree", "export", &fused, &option], &words);
        let node = r#"{"op":"fused","type":"f32","children":[0,1,2]}"#;
        let said = file(
            "said.json",
            &format!("{{\"fused_bits\":{bits},\"tree\":{node}}}"),
        );
        refused(&["tree", "run", &said, &values], &words);
    }
    // Numbers that the operands' format does not have.
    for (dtype, words) in [
        ("e2m1", "0.1 is no number of e2m1fn: the nearest is 0.0"),
        (
            "f16",
            "0.1 is no number of f16: the nearest is 0.0999755859375",
        ),
        ("int8", "0.1 is no number of"),
    ] {
        let arguments = ["tree", "run", &chain, &values, "--dtype", dtype];
        refused(&arguments, words);
        refused(&arguments, &values);
    }
    let printed = printed(&["tree", "run", &chain, &values, "--dtype", "f32"]);
    assert_eq!(printed, "99999.8046875");
}

/// The page folds and searches; looked at in a headless browser where one is installed.
#[test]
fn the_page_works_in_a_browser() {
    let browser = ["/usr/bin/chromium", "/usr/bin/google-chrome"]
        .iter()
        .find(|p| Path::new(p).exists());
    let Some(browser) = browser else {
        println!("skipped: no Chromium here");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let page: PathBuf = folder.path().join("t.html");
    let chain = (1..300).fold("0".to_owned(), |sum, leaf| {
        format!("(add f32 {sum} {leaf})")
    });
    let tree = file(folder.path(), "t.txt", &chain);
    let written = mmascope(&["tree", "show", &tree, "-o", &page.to_string_lossy()]);
    assert_eq!(written.status.code(), Some(0));
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
            "--virtual-time-budget=3000",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg(format!("file://{}#leaf=297", page.display()))
        .output();
    let Ok(output) = output else {
        println!("skipped: {browser} does not start");
        return;
    };
    let dom = text(&output);
    if dom.is_empty() {
        println!("skipped: {browser} gives nothing here");
        return;
    }
    assert!(dom.contains("297: 3 operations up to the result"), "{dom}");
    assert!(dom.contains("class=\"leaf hit\""), "the leaf is marked");
}

/// Real software: NumPy's sum, against its published rule: fewer than 8 terms one after the other;
/// up to 128 in eight lanes; more in halves, the first a multiple of 8.
#[test]
fn the_sum_of_numpy_is_revealed() {
    fn add(left: &str, right: &str) -> String {
        format!("(add f32 {left} {right})")
    }
    fn rule(first: usize, n: usize) -> String {
        let chain = |leaves: &mut dyn Iterator<Item = usize>| {
            let leaves = leaves.map(|leaf| leaf.to_string());
            leaves
                .reduce(|sum, leaf| add(&sum, &leaf))
                .unwrap_or_default()
        };
        if n < 8 {
            return chain(&mut (first..first + n));
        }
        if n > 128 {
            let half = n / 2 / 8 * 8;
            return add(&rule(first, half), &rule(first + half, n - half));
        }
        let whole = n / 8 * 8;
        let lane = |j: usize| chain(&mut (first + j..first + whole).step_by(8));
        let two = |j: usize| add(&lane(j), &lane(j + 1));
        let sum = add(&add(&two(0), &two(2)), &add(&two(4), &two(6)));
        (first + whole..first + n).fold(sum, |sum, leaf| add(&sum, &leaf.to_string()))
    }
    let python = std::env::var("MMASCOPE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let probe = Command::new(&python).args(["-c", "import numpy"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        return println!("skipped: {python} has no NumPy");
    }
    let device = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/devices/numpy_sum.py"
    );
    for n in [5, 8, 20, 64, 129, 300, 513] {
        let subject = format!("cmd:{python} {device}");
        let count = n.to_string();
        let output = mmascope(&["reveal", &subject, "--dtype", "f32", "-n", &count, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{n}");
        let (tree, _) = mmascope::tree::Tree::read(&text(&output)).expect("a tree");
        let expected = add(&rule(0, n), &count);
        assert_eq!(tree, expected.parse().expect("a tree"), "{n}");
    }
}

/// A ring of processes: chunk c of the vector sets out from rank c and goes around.
#[test]
fn the_ring_of_the_examples_is_revealed() {
    let python = std::env::var("MMASCOPE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if Command::new(&python).arg("--version").output().is_err() {
        return println!("skipped: {python} does not run");
    }
    let device = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/devices/all_reduce.py"
    );
    for (ranks, chunk) in [(1, 0), (4, 0), (8, 3)] {
        let subject = format!("cmd:{python} {device} {chunk}");
        let n = ranks.to_string();
        let output = mmascope(&["reveal", &subject, "--dtype", "f32", "-n", &n, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{ranks} {chunk}");
        let (tree, _) = mmascope::tree::Tree::read(&text(&output)).expect("a tree");
        let around = (0..ranks).map(|step| ((chunk + step) % ranks).to_string());
        let sum = around
            .chain([n])
            .reduce(|sum, leaf| format!("(add f32 {sum} {leaf})"));
        let expected = sum.unwrap_or_default();
        assert_eq!(tree, expected.parse().expect("a tree"), "{ranks} {chunk}");
    }
    let subject = format!("cmd:{python} {device} 4");
    let output = mmascope(&["reveal", &subject, "--dtype", "f32", "-n", "4"]);
    assert_eq!(output.status.code(), Some(3));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("4 ranks have chunks 0 to 3"), "{message}");
}

/// Intel's MKL where `MMASCOPE_MKL` names its library.
#[test]
fn mkl_is_revealed_and_verified() {
    let Ok(library) = std::env::var("MMASCOPE_MKL") else {
        return println!("skipped: MMASCOPE_MKL names no libmkl_rt.so");
    };
    for symbol in [
        "cblas_sdot",
        "cblas_dgemm",
        "sgemm_",
        "cblas_gemm_bf16bf16f32",
        "cblas_gemm_f16f16f32",
        "gemm_bf16bf16f32",
        "cblas_hgemm_64",
    ] {
        // On processors without f16 arithmetic MKL's `hgemm` gives wrong subnormal results; it may be verified or contradicted.
        let is_f16 = symbol.contains("hgemm");
        let subject = format!("lib:{library}:{symbol}");
        let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
            .args(["reveal", &subject, "-n", "64", "--trials", "20"])
            .env("MKL_THREADING_LAYER", "SEQUENTIAL")
            .output()
            .expect("the program");
        let said = text(&output);
        if is_f16 {
            assert_ne!(output.status.code(), Some(3), "{symbol}: {said}");
            assert!(said.contains("pattern"), "{symbol}: {said}");
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{symbol}: {said}");
        assert!(said.contains("verified over 20 trials"), "{symbol}: {said}");
    }
}

/// Real software: OpenBLAS where it is installed, every routine.
#[test]
fn openblas_is_revealed_and_verified() {
    let library = "libopenblas.so.0";
    let probe = mmascope(&["reveal", &format!("lib:{library}:cblas_sdot"), "-n", "8"]);
    if probe.status.code() == Some(3) {
        println!("skipped: {library} is not installed");
        return;
    }
    for symbol in [
        "cblas_sdot",
        "ddot_",
        "sgemv_",
        "cblas_dgemv",
        "cblas_sgemm",
        "dgemm_",
    ] {
        for n in ["7", "100", "300"] {
            let subject = format!("lib:{library}:{symbol}");
            let output = mmascope(&["reveal", &subject, "-n", n, "--trials", "40"]);
            let said = format!(
                "{}{}",
                text(&output),
                String::from_utf8_lossy(&output.stderr)
            );
            assert_eq!(output.status.code(), Some(0), "{symbol} {n}: {said}");
            assert!(
                said.contains("verified over 40 trials"),
                "{symbol} {n}: {said}"
            );
        }
    }
}

/// Infinities and overflow in exported Python, where `fma` is written out in exact fractions.
#[test]
fn exported_python_takes_infinities() {
    let folder = tempfile::tempdir().expect("a folder");
    let nested = "(fma f64 (fma f64 0 1) 2)"
        .parse::<mmascope::Tree>()
        .expect("a tree")
        .json();
    let facts = r#""operands":"f64","format":"f64","products":3"#;
    let tree = format!("{{{facts},\"leaves\":[],\"tree\":{nested}}}");
    let tree = file(folder.path(), "tree.json", &tree);
    let code = text(&mmascope(&[
        "tree",
        "export",
        &tree,
        "--language",
        "python",
    ]));
    assert!(code.contains("fma64("), "{code}");
    let asked = "\nfor a in ([1.0, math.inf, 1.0], [math.inf, -1.0, 1.0], [1e200, 1e200, 1.0], [1.0, -1e200, 1.0]):\n    \
                 print(mmascope_sum(a, [1.0, 1.0 if math.inf in a else 1e200, 1.0]))\n\
                 print(fma64(1e200, 1e200, -math.inf), fma32(1.0, math.nan, 1.0))\n";
    let program = file(folder.path(), "sum.py", &(code + asked));
    let python = std::env::var("MMASCOPE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    match std::process::Command::new(&python).arg(program).output() {
        Err(error) => println!("skipped: {python}: {error}"),
        Ok(output) => {
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(text(&output), "inf\ninf\ninf\n-inf\n-inf nan\n", "{error}");
        }
    }
}

/// The product of two f16 numbers has more digits than f16: a chain of multiply-adds in f16 does not round it.
#[test]
fn chains_of_multiply_adds_in_narrow_formats_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    for (format, chain, nodes) in [
        ("f16", "fma-chain -> rne f16", "fma f16"),
        ("bf16", "fma-chain -> rne bf16", "fma bf16"),
    ] {
        let row = format!(
            "arch own\nchain.{{shape}}.{{a}} | {format} x {format} + {format} -> {format} | m8n8k8 | {chain} | open\n"
        );
        let isa = file(folder.path(), "own.txt", &row);
        let subject = format!("model:own:chain.m8n8k8.{format}");
        let output = mmascope(&["--isa", &isa, "reveal", &subject]);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(0), "{text}");
        let last = text.lines().last().unwrap_or_default();
        assert_eq!(last, format!("verified over 100 trials (8 {nodes})"));
    }
}
