//! Emulated precision against NumPy code of its own, one function a scheme (`python/emulation_oracle.py`), where a
//! Python with NumPy is at hand: at least 10^5 outputs a scheme, every bit.
//!
//! The interpreter is `$MMASCOPE_PYTHON`, otherwise `python3`. Without NumPy the comparison says so and ends, unless
//! the variable names an interpreter. What needs no NumPy is tested in `emulation/rules.rs`.

#[path = "emulation/rules.rs"]
mod rules;

#[path = "support/numpy.rs"]
mod numpy;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use mmascope::array::Words;
use mmascope::cases::philox;
use mmascope::dpa::Modifiers;
use mmascope::format::{E4M3FN, F32, F64, Format};
use mmascope::gemm::{Matrices, Matrix, Schedule, ScheduledProduct, Watch};
use mmascope::isa::Catalogue;

static GO: AtomicBool = AtomicBool::new(false);

const SHAPE: [usize; 3] = [320, 320, 128];

/// Name, unit, schedule, and whether C takes part.
const SCHEMES: [(&str, &str, &str, &str, bool); 15] = [
    (
        "pass1",
        "tpu",
        "mxu.f32.bf16",
        "emulate=f32 parts=1 products=0x0",
        true,
    ),
    (
        "pass3",
        "tpu",
        "mxu.f32.bf16",
        "emulate=f32 parts=2 products=1x0,0x1,0x0 within=pass",
        true,
    ),
    (
        "pass6",
        "tpu",
        "mxu.f32.bf16",
        "emulate=f32 parts=3 products=1x1,2x0,0x2,1x0,0x1,0x0 within=pass",
        true,
    ),
    (
        "bf16x3",
        "hopper",
        "mma.m16n8k16.f32.bf16.bf16.f32",
        "emulate=f32 parts=2 products=1x0,0x1,0x0",
        true,
    ),
    (
        "bf16x3-cut",
        "hopper",
        "mma.m16n8k16.f32.bf16.bf16.f32",
        "emulate=f32 parts=2/rz/rne products=1x0,0x1,0x0",
        true,
    ),
    (
        "bf16x6",
        "hopper",
        "mma.m16n8k16.f32.bf16.bf16.f32",
        "emulate=f32 parts=3 products=1x1,2x0,0x2,1x0,0x1,0x0",
        true,
    ),
    (
        "bf16x9",
        "hopper",
        "mma.m16n8k16.f32.bf16.bf16.f32",
        "emulate=f32 parts=3 products=2x2,1x2,2x1,1x1,2x0,0x2,1x0,0x1,0x0",
        true,
    ),
    (
        "bf16-levels3",
        "hopper",
        "mma.m16n8k16.f32.bf16.bf16.f32",
        "emulate=f32 parts=3 shift=8 products=levels/3 join=ascending/f32",
        true,
    ),
    (
        "bf16-levels5",
        "hopper",
        "mma.m16n8k16.f32.bf16.bf16.f32",
        "emulate=f32 parts=3 shift=8 products=levels/5 join=ascending/f32",
        true,
    ),
    (
        "3xtf32",
        "ampere",
        "mma.m16n8k8.f32.tf32.tf32.f32",
        "emulate=f32 parts=2/rna products=1x0,0x1,0x0",
        true,
    ),
    (
        "fp16",
        "ampere",
        "mma.m16n8k8.f32.f16.f16.f32",
        "emulate=f32 parts=2 shift=11 products=levels/2 unpromoted=1 join=ascending/f32; promote=1/f32",
        false,
    ),
    (
        "ozaki-levels",
        "ampere",
        "mma.m16n8k32.s32.s8.s8.s32",
        "emulate=f64 slices=8/rz bits=7 products=levels/8 join=ascending/f64",
        true,
    ),
    (
        "ozaki-pairs",
        "ampere",
        "mma.m16n8k32.s32.s8.s8.s32",
        "emulate=f64 slices=6 bits=7 products=pairs/6 join=ascending/f64",
        false,
    ),
    (
        "ozaki-residues",
        "ampere",
        "mma.m16n8k32.s32.s8.s8.s32",
        "emulate=f64 residues=256,255,253,251,247,241,239,233,229,227,223,217,211,199/rz bits=50 join=residues/f64",
        false,
    ),
    (
        "fp8",
        "hopper",
        "wgmma.m64n8k32.f32.e4m3.e4m3",
        "promote=2/f32",
        false,
    ),
];

/// Numbers of one matrix: most within four binades of each other, some far smaller, some zeros of both signs, and few
/// bits in some, so that roundings tie. Each line (of `lines`) has a magnitude of its own.
fn number(seed: u32, index: usize, line: usize, format: &Format) -> u64 {
    let [x, y, z, w] = philox([index as u32, 0, 0, 0], [seed, 26]);
    let float = format.float().expect("a float");
    let (sign, kind) = (u64::from(x >> 31) << (format.bits - 1), x & 31);
    let fraction = (u64::from(y) << 32 | u64::from(z)) >> (64 - float.fraction_bits);
    if format.bits == 8 {
        return sign | (u64::from(w & 7) + 4) << 3 | fraction;
    }
    let below = match kind {
        0 => return sign,
        1..=3 => w % 40,
        _ => w & 3,
    };
    let of_line = philox([line as u32, 1, 0, 0], [seed, 26])[0] % 9;
    let fraction = match kind {
        4..=6 => fraction >> (float.fraction_bits - 9) << (float.fraction_bits - 9),
        _ => fraction,
    };
    sign | (float.bias as u64 + u64::from(of_line) - u64::from(below)) << float.fraction_bits
        | fraction
}

fn bytes(format: &Format, words: &[u64]) -> Vec<u8> {
    let size = format.bits as usize / 8;
    words
        .iter()
        .flat_map(|word| word.to_le_bytes().into_iter().take(size))
        .collect()
}

fn words(format: &Format, bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks_exact(format.bits as usize / 8)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        })
        .collect()
}

/// A, B and C in a format.
fn operands(format: &Format) -> [Vec<u64>; 3] {
    let [m, n, k] = SHAPE;
    [
        (0..m * k).map(|at| number(1, at, at / k, format)).collect(),
        (0..k * n).map(|at| number(2, at, at % n, format)).collect(),
        (0..m * n).map(|at| number(3, at, 0, format)).collect(),
    ]
}

fn matrix(rows: usize, columns: usize, format: &Format, words: &[u64]) -> Matrix {
    let words = Words::of(format, words.iter().copied()).expect("words");
    Matrix::row_major(rows, columns, words).expect("a matrix")
}

#[test]
fn every_scheme_has_the_bits_of_its_own_program() {
    let Some(python) = numpy::python() else {
        return;
    };
    let [m, n, k] = SHAPE;
    let folder = tempfile::tempdir().expect("a folder");
    for (format, width) in [(F32, "32"), (F64, "64"), (E4M3FN, "8")] {
        for (side, words) in ["a", "b", "c"].iter().zip(operands(&format)) {
            let file = folder.path().join(format!("{side}{width}"));
            std::fs::write(file, bytes(&format, &words)).expect("written");
        }
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/emulation_oracle.py");
    let shape = SHAPE.map(|length| length.to_string());
    let output = Command::new(python)
        .arg(script)
        .arg(folder.path())
        .args(shape)
        .output()
        .expect("python runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let watch = Watch {
        progress: &|_| (),
        cancel: &GO,
    };
    let mut wrong = Vec::new();
    for (name, arch, inst, text, with_c) in SCHEMES {
        let unit = Catalogue::built_in().find(arch, inst).expect("a row");
        let unit = unit.unit().expect("a unit");
        let schedule: Schedule = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            schedule.to_string().parse::<Schedule>().expect("its text"),
            schedule
        );
        let signature = schedule.signature(unit);
        let [a, b, _] = operands(&signature.a);
        let mut matrices = Matrices::new(
            matrix(m, k, &signature.a, &a),
            matrix(k, n, &signature.b, &b),
        )
        .expect("A and B");
        if with_c {
            let [_, _, c] = operands(&signature.c);
            matrices = matrices.with_c(matrix(m, n, &signature.c, &c)).expect("C");
        }
        let product = ScheduledProduct::new(&schedule, unit, &matrices, Modifiers::default());
        let product = product.unwrap_or_else(|error| panic!("{name}: {error}"));
        let d = product.run(None, &watch).expect("D").to_vec();
        let own = std::fs::read(folder.path().join(format!("{name}.d"))).expect("D of NumPy");
        let own = words(&schedule.format(unit).container(), &own);
        assert_eq!((d.len(), own.len()), (m * n, m * n), "{name}");
        let differ: Vec<usize> = (0..d.len())
            .filter(|&index| d[index] != own[index])
            .collect();
        println!("{name}: {} of {} outputs differ", differ.len(), d.len());
        if let Some(&first) = differ.first() {
            wrong.push(format!(
                "{name}: {} differ, the first {first}: {:x}, NumPy {:x}",
                differ.len(),
                d[first],
                own[first]
            ));
        }
        // Regions alone have the same bits.
        let region = mmascope::gemm::Region {
            batch: 0..1,
            rows: 7..9,
            columns: 300..303,
        };
        let some = product
            .sample(None, std::slice::from_ref(&region), &watch)
            .expect("some");
        for (index, word) in some.iter().enumerate() {
            let (_, i, j) = region.place(index);
            assert_eq!(*word, d[i * n + j], "{name} at {i}, {j}");
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
