//! `mmascope matmul` of batches and of transposed files: every element against single dot products.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use mmascope::array::{self, Casting, write_npy};
use mmascope::dpa::Operands;
use mmascope::format::{E4M3FN, F16, F32, Format, UE8M0};
use mmascope::isa::Catalogue;
use serde_json::Value;

const F16_ROW: (&str, &str) = ("hopper", "mma.m16n8k16.f32.f16.f16.f32");
const MX_ROW: (&str, &str) = (
    "rtx-blackwell",
    "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0",
);

/// An array of codes with its shape; indexed as numpy.matmul sees it.
struct Given {
    shape: Vec<usize>,
    codes: Vec<u64>,
    transposed: bool,
}

impl Given {
    /// Codes that depend on nothing but the place and the seed.
    fn new(shape: &[usize], format: &Format, seed: usize, transposed: bool) -> Self {
        let code = |index: usize| {
            let number = (index * 37 + seed * 101) % 89;
            match format.name {
                "f16" => 0x3000 + 83 * number as u64 + ((number as u64 & 1) << 15),
                "f32" => u64::from((number as f32 - 44.25).to_bits()),
                "ue8m0" => 120 + number as u64 % 14,
                _ => number as u64,
            }
        };
        Self {
            shape: shape.to_vec(),
            codes: (0..shape.iter().product()).map(code).collect(),
            transposed,
        }
    }

    fn batch(&self) -> usize {
        if self.shape.len() == 3 {
            self.shape[0]
        } else {
            1
        }
    }

    fn at(&self, batch: usize, i: usize, j: usize) -> u64 {
        let [rows, columns] = *self.shape.last_chunk().expect("two dimensions");
        let batch = if self.batch() == 1 { 0 } else { batch };
        let (i, j) = if self.transposed { (j, i) } else { (i, j) };
        self.codes[(batch * rows + i) * columns + j]
    }

    fn write(&self, folder: &Path, name: &str, format: &Format) {
        let file = folder.join(name);
        let file = file.to_str().expect("a name");
        let go = AtomicBool::new(false);
        write_npy(file, &self.shape, format, &self.codes, &go).expect("written");
    }
}

fn matmul(folder: &Path, (arch, inst): (&str, &str), arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(["matmul", "--arch", arch, "--inst", inst, "-o", "d.npy"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

fn read(folder: &Path) -> (Vec<usize>, Vec<u64>) {
    let file = folder.join("d.npy");
    let array = array::read(file.to_str().expect("a name")).expect("right");
    let words = array.words(&F32, &Casting::default()).expect("fits");
    (array.shape().to_vec(), words.to_vec())
}

/// Operands and the shape of D.
struct Case {
    a: Given,
    b: Given,
    c: Option<Given>,
    scales: Option<(Given, Given)>,
    wanted: Vec<usize>,
}

impl Case {
    /// D by single dot products, K padded with zeros and scales of 1.
    fn by_elements(&self, row: (&str, &str), (m, n, k): (usize, usize, usize)) -> Vec<u64> {
        let unit = Catalogue::built_in().find(row.0, row.1).expect("found");
        let native = unit.signature.k;
        let batches = self.wanted[..self.wanted.len() - 2].iter().product();
        let mut d = Vec::new();
        for batch in 0..batches {
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let mut sum = self.c.as_ref().map_or(0, |c| c.at(batch, i, j));
                for first in (0..k).step_by(native) {
                    let inside = |at: usize| at < k;
                    let ks = first..first + native;
                    let a = |at| {
                        if inside(at) {
                            self.a.at(batch, i, at)
                        } else {
                            0
                        }
                    };
                    let b = |at| {
                        if inside(at) {
                            self.b.at(batch, at, j)
                        } else {
                            0
                        }
                    };
                    let (a, b): (Vec<u64>, Vec<u64>) = ks.map(|at| (a(at), b(at))).unzip();
                    let scale = self.scales.as_ref().map(|(scale_a, scale_b)| {
                        let block = first / 32;
                        (scale_a.at(batch, i, block), scale_b.at(batch, block, j))
                    });
                    let scale = scale.map_or(vec![], |(a, b)| vec![a, b]);
                    let operands = Operands {
                        a: &a,
                        b: &b,
                        c: sum,
                        scale_a: scale.get(..1).unwrap_or(&[]),
                        scale_b: scale.get(1..).unwrap_or(&[]),
                    };
                    sum = unit.dot(&operands, &Default::default()).expect("fits");
                }
                d.push(sum);
            }
        }
        d
    }

    fn check(&self, row: (&str, &str), size: (usize, usize, usize), more: &[&str]) {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let operand = if self.scales.is_some() { E4M3FN } else { F16 };
        self.a.write(folder, "a.npy", &operand);
        self.b.write(folder, "b.npy", &operand);
        let mut arguments = vec!["a.npy", "b.npy", "--json", "--stats", "full"];
        arguments.extend(self.a.transposed.then_some("--transpose-a"));
        arguments.extend(self.b.transposed.then_some("--transpose-b"));
        if let Some(c) = &self.c {
            c.write(folder, "c.npy", &F32);
            arguments.extend(["--c", "c.npy"]);
        }
        if let Some((scale_a, scale_b)) = &self.scales {
            scale_a.write(folder, "sa.npy", &UE8M0);
            scale_b.write(folder, "sb.npy", &UE8M0);
            arguments.extend(["--scale-a", "sa.npy", "--scale-b", "sb.npy"]);
        }
        arguments.extend(more);
        let output = matmul(folder, row, &arguments);
        let what = format!(
            "{:?} {:?} {arguments:?}: {}",
            self.a.shape,
            self.b.shape,
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(output.status.code(), Some(0), "{what}");
        assert_eq!(
            read(folder),
            (self.wanted.clone(), self.by_elements(row, size)),
            "{what}"
        );
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let length: usize = self.wanted[..self.wanted.len() - 2].iter().product();
        assert_eq!(json["batch"], length, "{what}");
        assert_eq!(
            (&json["m"], &json["n"], &json["k"]),
            (&size.0.into(), &size.1.into(), &size.2.into())
        );
        assert_eq!(json["statistics"]["outputs"], length * size.0 * size.1);
        // Against the exact product a slip of an index would be an error of the size of the products.
        let largest = json["statistics"]["relative_to_products"]["max"].as_f64();
        assert!(largest.is_some_and(|error| error < 1e-4), "{what}: {json}");
    }
}

/// (…, rows, columns), the last two exchanged where the file is transposed.
fn shape(batch: &[usize], rows: usize, columns: usize, transposed: bool) -> Vec<usize> {
    let matrix = if transposed {
        [columns, rows]
    } else {
        [rows, columns]
    };
    [batch, &matrix].concat()
}

#[test]
fn batches_broadcast_as_in_numpy_and_files_may_be_transposed() {
    let (m, n) = (3, 5);
    // Batches of A and of B, and D's.
    let batches: [(&[usize], &[usize], &[usize]); 8] = [
        (&[], &[], &[]),
        (&[3], &[], &[3]),
        (&[], &[2], &[2]),
        (&[2], &[2], &[2]),
        (&[1], &[3], &[3]),
        (&[3], &[1], &[3]),
        (&[1], &[], &[1]),
        (&[1], &[1], &[1]),
    ];
    for (number, (of_a, of_b, of_d)) in batches.into_iter().enumerate() {
        for transposed in 0..4 {
            let (a, b) = (transposed & 1 == 1, transposed & 2 == 2);
            // C for all products, one for each, none; K ragged in every other case.
            let c: Option<&[usize]> = match (number + transposed) % 3 {
                0 => Some(&[]),
                1 => Some(of_d),
                _ => None,
            };
            let k = if transposed % 2 == 0 { 32 } else { 21 };
            let case = Case {
                a: Given::new(&shape(of_a, m, k, a), &F16, 1, a),
                b: Given::new(&shape(of_b, k, n, b), &F16, 2, b),
                c: c.map(|batch| Given::new(&shape(batch, m, n, false), &F32, 3, false)),
                scales: None,
                wanted: shape(of_d, m, n, false),
            };
            case.check(F16_ROW, (m, n, k), &["--pad"]);
        }
    }
}

#[test]
fn block_scales_keep_their_shape_when_operands_are_transposed() {
    let (m, n, k) = (3, 5, 64);
    for (of_a, of_b) in [
        (&[2_usize][..], &[][..]),
        (&[][..], &[2][..]),
        (&[2][..], &[2][..]),
    ] {
        for transposed in [false, true] {
            let case = Case {
                a: Given::new(&shape(&[2], m, k, transposed), &E4M3FN, 1, transposed),
                b: Given::new(&shape(&[], k, n, transposed), &E4M3FN, 2, transposed),
                c: None,
                scales: Some((
                    Given::new(&shape(of_a, m, k / 32, false), &UE8M0, 4, false),
                    Given::new(&shape(of_b, k / 32, n, false), &UE8M0, 5, false),
                )),
                wanted: shape(&[2], m, n, false),
            };
            case.check(MX_ROW, (m, n, k), &[]);
        }
    }
}

#[test]
fn schedules_and_threads_leave_batches_as_they_are() {
    let case = || Case {
        a: Given::new(&[3, 4, 32], &F16, 1, false),
        b: Given::new(&[32, 4], &F16, 2, false),
        c: Some(Given::new(&[3, 4, 4], &F32, 3, false)),
        scales: None,
        wanted: vec![3, 4, 4],
    };
    for more in [
        &["--threads", "1"][..],
        &["--threads", "2"],
        &["--schedule", "order=ascending"],
    ] {
        case().check(F16_ROW, (4, 4, 32), more);
    }
    // Two parts of one step each: the sum of the parts is as without a batch.
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let schedule = ["--schedule", "split-k=2 reduce=ascending/f32"];
    let (a, b) = (case().a, case().b);
    b.write(folder, "b.npy", &F16);
    let mut singly = Vec::new();
    for batch in 0..3 {
        let codes = a.codes[batch * 128..(batch + 1) * 128].to_vec();
        let one = Given {
            shape: vec![4, 32],
            codes,
            transposed: false,
        };
        one.write(folder, "a.npy", &F16);
        let output = matmul(
            folder,
            F16_ROW,
            &[&["a.npy", "b.npy"][..], &schedule].concat(),
        );
        assert_eq!(output.status.code(), Some(0));
        singly.extend(read(folder).1);
    }
    a.write(folder, "a.npy", &F16);
    let output = matmul(
        folder,
        F16_ROW,
        &[&["a.npy", "b.npy"][..], &schedule].concat(),
    );
    assert_eq!(read(folder), (vec![3, 4, 4], singly));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("shape        3 products, M=4 N=4 K=32"),
        "{text}"
    );
    assert!(text.contains("d.npy: 3 × 4 × 4 f32"), "{text}");
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for (name, shape) in [
        ("one.npy", &[3, 32][..]),
        ("two.npy", &[2, 3, 32]),
        ("b.npy", &[32, 4]),
        ("three.npy", &[3, 32, 4]),
        ("four.npy", &[1, 2, 3, 32]),
        ("row.npy", &[32]),
        ("none.npy", &[0, 3, 32]),
    ] {
        Given::new(shape, &F16, 1, false).write(folder, name, &F16);
    }
    Given::new(&[2, 3, 4], &F32, 1, false).write(folder, "c2.npy", &F32);
    Given::new(&[3, 3, 4], &F32, 1, false).write(folder, "c3.npy", &F32);
    let before = std::fs::read_dir(folder).expect("a folder").count();
    let table: [(&[&str], &str); 10] = [
        (
            &["two.npy", "three.npy"],
            "A (two.npy) is a batch of 2 matrices and B (three.npy) one of 3",
        ),
        (
            &["four.npy", "b.npy"],
            "A: four.npy has the shape [1, 2, 3, 32]: a matrix with two dimensions",
        ),
        (&["row.npy", "b.npy"], "or a batch of matrices with three"),
        (&["none.npy", "b.npy"], "an empty matrix has no products"),
        (
            &["two.npy", "b.npy", "--transpose-a"],
            "A (two.npy), transposed, is 32 × 3 and B (b.npy) is 32 × 4: B must have 3 rows",
        ),
        (
            &["one.npy", "b.npy", "--transpose-b"],
            "B (b.npy), transposed, is 4 × 32: B must have 32 rows",
        ),
        (
            &["two.npy", "b.npy", "--c", "c3.npy"],
            "C (c3.npy) has the shape [3, 3, 4]; M × N = 3 × 4, or 2 × 3 × 4, is needed",
        ),
        (
            &["one.npy", "b.npy", "--c", "c2.npy"],
            "C (c2.npy) has the shape [2, 3, 4]; M × N = 3 × 4 is needed",
        ),
        (
            &["two.npy", "b.npy", "--c", "row.npy"],
            "C (row.npy) has the shape [32]",
        ),
        (
            &["two.npy", "b.npy", "--scale-a", "one.npy"],
            "no block scales",
        ),
    ];
    for (arguments, words) in table {
        let output = matmul(folder, F16_ROW, arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(words), "{arguments:?}: {message}");
    }
    let after = std::fs::read_dir(folder).expect("a folder").count();
    assert_eq!(before, after, "no output");
}

/// Of a batch no product is taken for the one that is meant.
#[test]
fn an_output_of_a_batch_is_explained_by_its_number() {
    let folder = tempfile::tempdir().expect("a folder");
    Given::new(&[2, 4, 16], &F16, 1, false).write(folder.path(), "a.npy", &F16);
    Given::new(&[2, 16, 5], &F16, 2, false).write(folder.path(), "b.npy", &F16);
    let explain = |at: &str| {
        Command::new(env!("CARGO_BIN_EXE_mmascope"))
            .args(["explain", "a.npy", "b.npy", "--arch", F16_ROW.0])
            .args(["--inst", F16_ROW.1, "--at", at])
            .current_dir(folder.path())
            .output()
            .expect("the program runs")
    };
    let without = explain("1,2");
    let told = String::from_utf8_lossy(&without.stderr).into_owned();
    assert_eq!(without.status.code(), Some(2), "{told}");
    assert!(
        told.contains("2 products") && told.contains("--at 0,1,2"),
        "{told}"
    );
    let [first, second] = ["0,1,2", "1,1,2"].map(explain);
    assert!(first.status.success() && second.status.success());
    assert_ne!(first.stdout, second.stdout);
}
