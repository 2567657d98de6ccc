//! `mmascope diff A B` and `mmascope explain A B --at`: whole products, from where they differ to the step that parts them.

use std::path::Path;
use std::process::{Command, Output};

use mmascope::array::{self, write_npy};
use mmascope::dpa::{Modifiers, Operands};
use mmascope::format::{F16, F32};
use mmascope::isa::Catalogue;
use serde_json::Value;

const INST: &str = "mma.m16n8k16.f32.f16.f16.f32";
const K: usize = 64;
const SHAPE: (usize, usize) = (20, 30);

struct Workplace(tempfile::TempDir);

impl Workplace {
    /// A folder with A, B and C of a product.
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a folder"));
        let mut state = 1_u64;
        let mut word = |format: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            let bits = state >> 33;
            match format {
                // f16 from 2^-8 to 2^7, of both signs.
                16 => (bits & 0x83ff) | (7 + bits % 16) << 10,
                _ => (bits & 0x807f_ffff) | (120 + bits % 16) << 23,
            }
        };
        let (m, n) = SHAPE;
        for (name, shape, format) in [("a", [m, K], F16), ("b", [K, n], F16), ("c", [m, n], F32)] {
            let words: Vec<u64> = (0..shape[0] * shape[1])
                .map(|_| word(u64::from(format.bits)))
                .collect();
            let file = place.path().join(format!("{name}.npy"));
            let file = file.to_str().expect("text");
            let never = std::sync::atomic::AtomicBool::new(false);
            write_npy(file, &shape, &format, &words, &never).expect("written");
        }
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, arguments: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_mmascope"))
            .args(arguments.split_whitespace())
            .current_dir(self.path())
            .output()
            .expect("the program runs")
    }

    fn json(&self, arguments: &str, status: i32) -> Value {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{error}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// The words of a file.
    fn words(&self, name: &str) -> Vec<u64> {
        let file = self.path().join(name);
        let array = array::read(file.to_str().expect("text")).expect("a file");
        let format = array.format().expect("numbers");
        array
            .words(&format, &array::Casting::default())
            .expect("words")
            .to_vec()
    }
}

/// Every step's result for an output, single dot products of the reference.
fn steps(place: &Workplace, arch: &str, inst: &str, row: usize, column: usize) -> Vec<u64> {
    let (a, b, c) = (
        place.words("a.npy"),
        place.words("b.npy"),
        place.words("c.npy"),
    );
    let unit = Catalogue::built_in().find(arch, inst).expect("a row");
    let k = unit.signature.k;
    let n = SHAPE.1;
    let mut sum = c[row * n + column];
    (0..K / k)
        .map(|step| {
            let range = step * k..(step + 1) * k;
            let of_a: Vec<u64> = range.clone().map(|k| a[row * K + k]).collect();
            let of_b: Vec<u64> = range.map(|k| b[k * n + column]).collect();
            let operands = Operands {
                a: &of_a,
                b: &of_b,
                c: sum,
                ..Operands::default()
            };
            sum = unit.dot(&operands, &Modifiers::default()).expect("a word");
            sum
        })
        .collect()
}

#[test]
fn products_are_compared_output_by_output() {
    let place = Workplace::new();
    let found = place.json(
        &format!("diff a.npy b.npy --c c.npy --arch ampere,hopper --inst {INST} --json"),
        1,
    );
    let pair = &found["pairs"][0];
    for arch in ["ampere", "hopper"] {
        let output = place.run(&format!(
            "matmul a.npy b.npy --c c.npy --arch {arch} --inst {INST} -o {arch}.npy"
        ));
        assert!(output.status.success());
    }
    let (left, right) = (place.words("ampere.npy"), place.words("hopper.npy"));
    let ordinal = |word: u64| {
        let magnitude = (word & 0x7fff_ffff) as i64;
        if word >> 31 == 1 {
            -magnitude
        } else {
            magnitude
        }
    };
    let steps: Vec<u64> = (left.iter().zip(&right))
        .map(|(&l, &r)| ordinal(l).abs_diff(ordinal(r)))
        .collect();
    let different = steps.iter().filter(|&&steps| steps > 0).count();
    assert!(different > 100, "{different}");
    assert_eq!(pair["different"], different);
    assert_eq!(pair["compared"], SHAPE.0 * SHAPE.1);
    let at = |index: usize| serde_json::json!([0, index / SHAPE.1, index % SHAPE.1]);
    let first = steps.iter().position(|&steps| steps > 0).expect("one");
    assert_eq!(pair["first"]["at"], at(first));
    assert_eq!(pair["first"]["ulp"], steps[first]);
    let most = steps.iter().max().expect("some");
    let worst = steps.iter().position(|steps| steps == most).expect("it");
    assert_eq!(
        (&pair["worst"]["at"], &pair["worst"]["ulp"]),
        (&at(worst), &(*most).into())
    );
    let cells = pair["map"].as_array().expect("rows").iter();
    let sum: u64 = cells
        .flat_map(|row| row.as_array().expect("cells"))
        .map(|cell| cell.as_u64().expect("a count"))
        .sum();
    assert_eq!(sum, different as u64);
    // The same of the files of results, also where they are equal.
    let results = place.json("diff --results ampere.npy hopper.npy --json", 1);
    assert_eq!(results["pairs"][0]["different"], different);
    let same = place.json("diff --results ampere.npy ampere.npy --json", 0);
    assert_eq!(same["pairs"][0]["different"], 0);
}

#[test]
fn the_step_that_parts_two_units_is_explained() {
    let place = Workplace::new();
    let other = "wgmma.m64n8k16.f32.f16.f16";
    let volta = "mma.m8n8k4.f32.f16.f16.f32";
    for (row, column) in [(0, 0), (7, 3), (19, 29)] {
        // Units of 16 and of 4 products a step: sums are compared where both have ended one.
        for (arch, inst) in [("hopper", other), ("volta", volta)] {
            let found = place.json(
                &format!(
                    "explain a.npy b.npy --c c.npy --arch ampere --inst {INST} --at {row},{column} \
                     --against {arch}:{inst} --json"
                ),
                0,
            );
            let left = steps(&place, "ampere", INST, row, column);
            let right = steps(&place, arch, inst, row, column);
            let ratio = right.len() / left.len();
            let chain: Vec<String> = left.iter().map(|word| format!("{word:08x}")).collect();
            let shown = found["chain"].as_array().expect("steps").iter();
            let shown: Vec<&str> = shown.map(|it| it["d"].as_str().expect("a word")).collect();
            assert_eq!(shown, chain);
            let parting = (0..left.len()).find(|&at| left[at] != right[(at + 1) * ratio - 1]);
            match parting {
                Some(at) => {
                    assert_eq!(found["parting_step"]["k"], at * 16);
                    assert_eq!(found["explanation"]["inst"], INST);
                    assert_eq!(found["against"]["arch"], arch);
                }
                None => assert!(found["parting_step"].is_null()),
            }
        }
    }
}

#[test]
fn what_is_wrong_is_named() {
    let place = Workplace::new();
    for (arguments, message) in [
        ("diff a.npy --arch ampere,hopper", "two files"),
        (
            "diff a.npy b.npy --arch ampere",
            "at least two different units",
        ),
        ("diff --results a.npy", "the D of two units or more"),
        (
            "diff --results a.npy c.npy",
            "results of 20 × 30, and a.npy has 20 × 64",
        ),
        ("diff a.npy missing.npy --arch ampere,hopper", "missing.npy"),
        (
            "diff a.npy b.npy --arch ampere,hopper --schedule split=3",
            "--schedule",
        ),
        (
            "diff a.npy b.npy --arch ampere,hopper --family bits",
            "cannot be used with",
        ),
        ("explain a.npy b.npy --arch ampere", "--at"),
        ("explain a.npy b.npy --arch ampere --at 20,0", "(20, 0)"),
        (
            "explain a.npy b.npy --arch ampere --at 2",
            "a row and a column",
        ),
        ("explain a.npy b.npy --at 2,2", "--arch"),
    ] {
        let output = place.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
        assert!(error.contains(message), "{arguments}: {error}");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
}
