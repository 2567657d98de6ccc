//! Files, products, devices and experiments on inputs small enough for miri: `cargo xtask prove miri` runs this file there. The
//! catalogue is a text of two rows, because the whole one takes miri minutes to read. (Kernels: `portable` of mmascope-gemm;
//! formats, arithmetic and texts: that of mmascope-model. `probe`, `infer`, `identify` and discriminating
//! vectors ask or try thousands of things, which takes miri too long.)

#[path = "arrays/files.rs"]
#[allow(dead_code)] // the tests of arrays use the rest
mod files;

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use mmascope::accuracy::{AccuracySetting, Curve, Data};
use mmascope::array;
use mmascope::cases::{Family, Generator};
use mmascope::diff::{self, Contender, DiffInput, Verdict};
use mmascope::dpa::{Modifiers, OperandWords, Unit};
use mmascope::dut::ModelDut;
use mmascope::gemm::{Matrices, Matrix, Product, Schedule, Watch};
use mmascope::isa::Catalogue;
use mmascope::reveal::{RevealOptions, SliceSum, reveal};
use mmascope::validate::{State, ValidationPlan, validate};
use mmascope::vector::{Lines, Reader};

const TEXT: &str = "arch small
one.{shape} | f16 x f16 + f32 -> f32 | m8n8k4 | t-fdpa L=4 F=23 e0=-131 -> rz f32 nan=7fffffff | open
other.{shape} | f16 x f16 + f32 -> f32 | m8n8k4 | t-fdpa L=4 F=25 e0=-133 -> rz f32 nan=7fffffff | open
";

static GO: AtomicBool = AtomicBool::new(false);

fn watch() -> Watch<'static> {
    Watch {
        progress: &|_| (),
        cancel: &GO,
    }
}

/// Read once: each row takes miri seconds.
fn catalogue() -> &'static Catalogue {
    static READ: LazyLock<Catalogue> = LazyLock::new(|| {
        let mut catalogue = Catalogue::empty();
        catalogue.extend("small.txt", TEXT).expect("two rows");
        catalogue
    });
    &READ
}

fn unit(catalogue: &Catalogue, name: &str) -> Unit {
    let row = catalogue.find("small", &format!("{name}.m8n8k4"));
    row.and_then(|row| row.unit().cloned()).expect("a model")
}

/// c = 2^23 and the products −2^23, −1/2, −1/4, −1/8: F=23 keeps none of the small ones, F=25 two.
fn parting() -> OperandWords {
    OperandWords {
        a: vec![0xf000, 0xb800, 0xb400, 0xb000],
        b: vec![0x6400, 0x3c00, 0x3c00, 0x3c00],
        c: 0x4b00_0000,
        ..OperandWords::default()
    }
}

#[test]
fn vector_lines_are_read_and_computed() {
    let catalogue = catalogue();
    let lines = concat!(
        r#"{"arch":"small","inst":"one.m8n8k4","a":"f000b800b400b000","b":"64003c003c003c00","c":"4b000000","d":"00000000"}"#,
        "\n",
        r#"{"arch":"small","inst":"other.m8n8k4","a":"f000b800b400b000","b":"64003c003c003c00","c":"4b000000","d":"bf400000"}"#,
        "\n{\"arch\":\"small\"}\n",
    );
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, lines.as_bytes()).expect("memory takes it");
    for bytes in [
        lines.as_bytes().to_vec(),
        packed.finish().expect("memory takes it"),
    ] {
        let mut read = Lines::new("-", Box::new(std::io::Cursor::new(bytes))).expect("lines");
        let mut reader = Reader::new(catalogue);
        let mut good = 0;
        while let Some(line) = read.next_line().expect("a line") {
            match reader.read(&line.text.expect("UTF-8")) {
                Ok(vector) => {
                    let got = vector.compute().expect("a model");
                    assert_eq!(vector.agrees(got), Ok(true), "{got:x}");
                    good += 1;
                }
                Err(bad) => assert!(bad.message.contains("inst"), "{}", bad.message),
            }
        }
        assert_eq!(good, 2);
    }
}

#[test]
fn array_files_are_read() {
    let bytes = files::f32s(&[1.0, -2.0, 0.5, 3.0, 4.0, 5.0]);
    let npy = files::npy("<f4", false, "(2, 3)", &bytes);
    let npz = files::npz(&[("x.npy", &npy, true), ("y.npy", &npy, false)]);
    for array in [
        array::npy_of_bytes(&npy),
        array::npz_of_bytes(&npz, Some("x")),
        array::safetensors_of_bytes(&files::one_tensor("F32", "[2,3]", &bytes), "x"),
    ] {
        let array = array.expect("an array");
        assert_eq!((array.shape(), array.bytes()), (&[2, 3][..], &bytes[..]));
    }
    // Cut anywhere it is an error, never a panic or a read beyond the end.
    for length in (0..npz.len()).step_by(17) {
        assert!(array::npz_of_bytes(&npz[..length], Some("x")).is_err());
    }
    for length in (0..npy.len()).step_by(7) {
        assert!(array::npy_of_bytes(&npy[..length]).is_err());
    }
}

fn numbers(count: usize, salt: u64) -> Vec<u64> {
    let word = |index: u64| 0x3000 + (index * 2_654_435_761 + salt * 40_503) % 0x1800;
    (0..count as u64).map(word).collect()
}

/// A schedule on two threads gives the sums of single dot products.
#[test]
fn products_of_a_schedule() {
    let catalogue = catalogue();
    let unit = unit(catalogue, "one");
    let [m, n, k] = [3, 2, 16];
    let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
    let matrices = Matrices::new(
        Matrix::row_major(m, k, a.clone()).expect("A"),
        Matrix::row_major(k, n, b.clone()).expect("B"),
    );
    let matrices = matrices.expect("matrices");
    let product = Product::by_reference(&unit, &matrices, Modifiers::default()).expect("fits");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let schedule: Schedule = "split-k=2 reduce=ascending/f32"
        .parse()
        .expect("a schedule");
    let run = || schedule.run(&product, None, &watch()).expect("D").to_vec();
    let d = pool.expect("threads").install(run);
    let chain = |i: usize, j: usize, from: usize, to: usize| {
        (from..to).fold(0_u64, |c, step| {
            let column: Vec<u64> = (4 * step..4 * step + 4).map(|x| b[x * n + j]).collect();
            let words = OperandWords {
                a: a[i * k + 4 * step..][..4].to_vec(),
                b: column,
                c,
                ..OperandWords::default()
            };
            unit.dot(&words.operands(), &Modifiers::default())
                .expect("fits")
        })
    };
    for i in 0..m {
        for j in 0..n {
            let half = |from, to| f32::from_bits(chain(i, j, from, to) as u32);
            let sum = half(0, 2) + half(2, 4);
            assert_eq!(d[i * n + j], u64::from(sum.to_bits()), "{i},{j}");
        }
    }
}

#[test]
fn differences_are_found_and_made_small() {
    let catalogue = catalogue();
    let contender = |name: &str| {
        let row = catalogue.find("small", &format!("{name}.m8n8k4"));
        Contender::new(row.expect("a row")).expect("a model")
    };
    let units = [contender("one"), contender("other")];
    let input = DiffInput::new(units[0].instruction(), parting());
    let compared = diff::compare(&units, &input).expect("results");
    let verdict = compared.verdicts[0].expect("results");
    assert_ne!(verdict, Verdict::Equal);
    let unit = unit(catalogue, "one");
    for family in Family::ALL {
        let Ok(generator) = Generator::for_unit(family, 5, &unit) else {
            continue;
        };
        let case = generator.case(3);
        assert_eq!((case.a.len(), case.b.len()), (4, 4), "{family}");
        let again = Generator::for_unit(family, 5, &unit).expect("the same");
        assert_eq!(case, again.case(3), "{family}");
    }
}

#[test]
fn sums_are_revealed() {
    let mut subject = SliceSum::new("a loop", 9, |x: &[f32]| {
        x.iter().fold(0.0, |sum, x| sum + x)
    });
    let options = RevealOptions {
        trials: 5,
        ..RevealOptions::default()
    };
    let report = reveal(&mut subject, &options).expect("a closure");
    assert_eq!(report.tree.pattern(), "sequential");
    assert!(report.holds(), "{}", report.verdict());
}

#[test]
fn a_device_is_validated() {
    let catalogue = catalogue();
    let (one, other) = (unit(catalogue, "one"), unit(catalogue, "other"));
    let plan = ValidationPlan {
        families: vec![Family::Stress],
        seed: 3,
    };
    for (model, is_equal) in [(&one, true), (&other, false)] {
        let mut device = ModelDut::new("a device", one.clone());
        let mut state = State::new(&plan, model).expect("a plan");
        validate(&mut device, model, &mut state, 128, &mut |_| true).expect("answers");
        assert_eq!(state.mismatches() == 0, is_equal);
    }
}

#[test]
fn errors_are_measured() {
    let catalogue = catalogue();
    let setting = AccuracySetting {
        row: catalogue.find("small", "one.m8n8k4").expect("a row"),
        schedule: Schedule::default(),
    };
    let data = Data::generated("normal".parse().expect("a word"), 1, [2, 2, 16]);
    let curve = Curve::measure(&setting, &data.expect("a shape"), true, &watch());
    assert!(!curve.expect("a curve").points.is_empty());
}
