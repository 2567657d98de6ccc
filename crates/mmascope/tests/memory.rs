//! Memory of whole products, counted where it is allocated: at most three times operands and results.
//!
//! The command line's test measures the process instead, which pages, stacks and the program itself blur
//! by a MiB or two: small products are held here.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use mmascope::array::Words;
use mmascope::dpa::{Modifiers, Unit};
use mmascope::format::Format;
use mmascope::gemm::{Matrices, Matrix, Product, Schedule, Watch};
use mmascope::isa::Catalogue;
use peak_alloc::PeakAlloc;

#[global_allocator]
static COUNTED: PeakAlloc = PeakAlloc;

/// One measurement at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Ones and twos of a format, so that nothing is special.
fn matrix(rows: usize, columns: usize, format: &Format) -> Matrix {
    let float = format.float().expect("a float");
    let one = (float.bias as u64) << float.fraction_bits;
    let two = |at: usize| u64::from(at.is_multiple_of(3)) << float.fraction_bits;
    let words = (0..rows * columns).map(|at| one + two(at));
    Matrix::row_major(rows, columns, Words::of(format, words).expect("words")).expect("fits")
}

/// The peak of a product's allocations with its operands, in units of operands and results.
fn peak(unit: &Unit, [m, n, k]: [usize; 3], schedule: &str) -> f64 {
    let signature = unit.signature();
    let bytes = |words: usize, format: &Format| words * format.register.bits as usize / 8;
    let schedule: Schedule = schedule.parse().expect("a schedule");
    let results = bytes(m * n, &schedule.format(unit));
    let all = bytes(m * k, &signature.a) + bytes(k * n, &signature.b) + results;
    let (a, b) = (matrix(m, k, &signature.a), matrix(k, n, &signature.b));
    let before = COUNTED.current_usage() - (all - results);
    COUNTED.reset_peak_usage();
    let matrices = Matrices::new(a, b).expect("fits");
    let product = Product::new(unit, &matrices, Modifiers::default()).expect("fits");
    let watch = Watch {
        progress: &|_| (),
        cancel: &AtomicBool::new(false),
    };
    let d = schedule.run(&product, None, &watch).expect("computed");
    let used = COUNTED.peak_usage() - before;
    assert_eq!(d.len(), m * n);
    assert!(used >= all, "counted too little: {used} bytes for {all}");
    used as f64 / all as f64
}

/// By two threads: each holds what is its own.
fn check(arch: &str, inst: &str, shape: [usize; 3], schedules: &[&str]) {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let pool = pool.expect("threads");
    let row = Catalogue::built_in().find(arch, inst);
    let unit = row.and_then(|row| row.unit()).expect("a row");
    for schedule in schedules {
        let ratio = pool.install(|| peak(unit, shape, schedule));
        println!("{inst} {shape:?} [{schedule}]: {ratio:.2}");
        assert!(ratio <= 3.0, "{inst} {shape:?} [{schedule}]: {ratio:.2}");
    }
}

/// D is small, so that what a schedule holds beside it tells most.
#[test]
fn where_d_is_small() {
    let inst = "wgmma.m64n8k16.f32.f16.f16";
    let schedules = [
        "chain",
        "promote=4/f32",
        "split-k=4 reduce=pairwise/f32",
        "split-k=32 reduce=pairwise/f32",
        "split-k=8 reduce=pairwise/f64",
    ];
    check("hopper", inst, [512, 512, 512], &schedules);
    check("hopper", inst, [1024, 1024, 1024], &schedules);
    let inst = "wgmma.m64n8k32.f32.e4m3.e4m3";
    let schedules = [
        "chain",
        "promote=4/f32",
        "split-k=4 reduce=pairwise/f32",
        "split-k=16 reduce=pairwise/f32",
        "split-k=8 reduce=pairwise/f64",
    ];
    check("hopper", inst, [512, 512, 512], &schedules);
}

/// Packed, these operands would take five times themselves.
#[test]
fn where_k_is_long() {
    for inst in ["wgmma.m64n8k16.f32.f16.f16", "wgmma.m64n8k32.f32.e4m3.e4m3"] {
        let schedules = [
            "chain",
            "split-k=4 reduce=pairwise/f32",
            "promote=4/f32",
            "stream-k=7 tile=128x128 reduce=ascending/f32",
        ];
        check("hopper", inst, [256, 256, 8192], &schedules);
    }
}
