//! `cargo bench -p mmascope --bench gemm`: matrix products by the kernels against the native f32
//! product of the same size, packing included, one thread.
//!
//! Each pair is measured alternately in one run, in CPU time of the thread, and the median of the
//! ratios is given: other work on the machine then changes the ratio little. That is why this is no
//! criterion benchmark, which cannot alternate two subjects. The table is Markdown, as in the README.
//!
//! Arguments (behind `--`): a size (default 1024), or `sizes` for 256 to 2048, `data` for other data,
//! `threads` for two threads against one; behind that a part of the titles of the rows that are wanted.

use std::hint::black_box;
use std::sync::atomic::AtomicBool;

use mmascope::array::Words;
use mmascope::dpa::{Modifiers, Unit};
use mmascope::format::Format;
use mmascope::gemm::{Matrices, Matrix, Product, Watch};
use mmascope::isa::Catalogue;
use mmascope::kernel::{Kernel, Level};

/// Rows of the table: title, architecture, instruction.
const PATHS: [(&str, &str, &str); 20] = [
    (
        "f16 → f32, 16 terms",
        "hopper",
        "wgmma.m64n8k16.f32.f16.f16",
    ),
    (
        "f16 → f32, 8 terms",
        "ampere",
        "mma.m16n8k16.f32.f16.f16.f32",
    ),
    (
        "bf16 → f32, 8 terms",
        "ampere",
        "mma.m16n8k16.f32.bf16.bf16.f32",
    ),
    ("f16 → f32, 4 terms", "volta", "mma.m8n8k4.f32.f16.f16.f32"),
    (
        "bf16 → f32, 16 terms",
        "hopper",
        "wgmma.m64n8k16.f32.bf16.bf16",
    ),
    (
        "tf32 → f32, 8 terms",
        "hopper",
        "wgmma.m64n8k8.f32.tf32.tf32",
    ),
    (
        "tf32 → f32, 4 terms",
        "ampere",
        "mma.m16n8k8.f32.tf32.tf32.f32",
    ),
    (
        "fp8, 32 terms, F=13",
        "hopper",
        "wgmma.m64n8k32.f32.e4m3.e4m3",
    ),
    (
        "fp8, 32 terms, F=25",
        "rtx-blackwell",
        "mma.m16n8k32.kind::f8f6f4.f32.e4m3.e4m3.f32",
    ),
    (
        "mxfp8, 32 terms, F=25",
        "rtx-blackwell",
        "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0",
    ),
    (
        "nvfp4, 64 terms, F=35",
        "rtx-blackwell",
        "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
    ),
    (
        "mxf4, 64 terms, F=35",
        "rtx-blackwell",
        "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0",
    ),
    (
        "f16 → f16, 16 terms",
        "hopper",
        "wgmma.m64n8k16.f16.f16.f16",
    ),
    ("CDNA3 f16", "cdna3", "v_mfma_f32_32x32x8_f16"),
    ("CDNA3 xf32", "cdna3", "v_mfma_f32_16x16x8_xf32"),
    ("CDNA3 fp8", "cdna3", "v_mfma_f32_16x16x32_fp8_fp8"),
    ("CDNA1 f16, exact", "cdna1", "v_mfma_f32_32x32x8_f16"),
    ("CDNA2 f16, flush", "cdna2", "v_mfma_f32_32x32x8_f16"),
    (
        "fp8 on mma.sync of Hopper",
        "hopper",
        "mma.m16n8k32.f32.e4m3.e4m3.f32",
    ),
    (
        "f64 (to native f64)",
        "ampere",
        "mma.m8n8k4.f64.f64.f64.f64",
    ),
];

/// Those of other sizes, other data and two threads: one of each kind of kernel.
fn chosen() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    const TITLES: [&str; 8] = [
        "f16 → f32, 16 terms",
        "bf16 → f32, 16 terms",
        "fp8, 32 terms, F=13",
        "nvfp4, 64 terms, F=35",
        "CDNA3 f16",
        "CDNA1 f16, exact",
        "CDNA2 f16, flush",
        "f64 (to native f64)",
    ];
    PATHS.into_iter().filter(|path| TITLES.contains(&path.0))
}

/// A unit that is in no catalogue.
const USER: &str = "t-fdpa L=12 F=20 e0=-126 align=rne -> rne f32";

/// CPU time of this thread in seconds; elsewhere than on Linux and macOS the time that passes.
fn now() -> f64 {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    {
        passed()
    }
}

/// Seconds that have passed since the first call.
fn passed() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START
        .get_or_init(std::time::Instant::now)
        .elapsed()
        .as_secs_f64()
}

/// What one run takes by a clock: of as many as it needs for 50 ms.
fn seconds(clock: fn() -> f64, run: &mut dyn FnMut()) -> f64 {
    let start = clock();
    for runs in 1.. {
        run();
        let so_far = clock() - start;
        if so_far >= 0.05 {
            return so_far / f64::from(runs);
        }
    }
    unreachable!("fewer runs than i32 has")
}

struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform().max(1e-300), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// What the operands hold.
#[derive(Clone, Copy, PartialEq)]
enum Data {
    Normal,
    Subnormal,
    Zeros,
    Specials,
}

fn words(format: &Format, count: usize, row: usize, data: Data, random: &mut Random) -> Words {
    let codes = (0..count).map(|index| {
        let special_row = index / row % 100 == 7;
        match data {
            Data::Subnormal => {
                let bits = format.float().map_or(1, |float| float.fraction_bits);
                let fraction = (random.uniform() * f64::from(1 << bits)) as u64;
                return format.to_register(
                    fraction | u64::from(random.uniform() < 0.5) << (format.bits - 1),
                );
            }
            Data::Zeros if random.uniform() < 0.75 => return 0,
            Data::Specials if special_row && index % row == 3 => {
                return format.to_register(format.nan_or_substitute());
            }
            _ => {}
        }
        let x = random.normal();
        format.to_register(encode(format, x))
    });
    Words::of(format, codes.collect::<Vec<_>>()).expect("words")
}

/// The nearest code, ties aside.
fn encode(format: &Format, x: f64) -> u64 {
    use mmascope::format::{Exact, Overflow, Rounding};
    let scaled = x.abs() * 2_f64.powi(60);
    let exact = Exact {
        negative: x < 0.0,
        magnitude: scaled as u128,
        exponent: -60,
        sticky: false,
    };
    format.round(&exact, Rounding::Rne, Overflow::SaturateFinite)
}

fn operands(unit: &Unit, size: [usize; 3], data: Data) -> Matrices {
    let signature = unit.signature();
    let [m, n, k] = size;
    let k = k.next_multiple_of(signature.k);
    let random = &mut Random(0x9e37_79b9_7f4a_7c15);
    let a = Matrix::row_major(m, k, words(&signature.a, m * k, k, data, random)).expect("A");
    let b = Matrix::row_major(k, n, words(&signature.b, k * n, n, Data::Normal, random));
    let b = match data {
        Data::Normal | Data::Specials => b,
        _ => Matrix::row_major(k, n, words(&signature.b, k * n, n, data, random)),
    };
    let matrices = Matrices::new(a, b.expect("B")).expect("shapes");
    let Some(scale) = signature.scale else {
        return matrices;
    };
    let one = encode(&scale.format, 1.0);
    let scales = |rows, columns| {
        Matrix::row_major(
            rows,
            columns,
            Words::filled(8, rows * columns, one).expect("memory"),
        )
    };
    let blocks = k / scale.block;
    matrices
        .with_scales(
            scales(m, blocks).expect("scales"),
            scales(blocks, n).expect("scales"),
        )
        .expect("scales")
}

static GO: AtomicBool = AtomicBool::new(false);

fn product(unit: &Unit, matrices: &Matrices, kernel: Option<Kernel>) {
    let watch = Watch {
        progress: &|_| (),
        cancel: &GO,
    };
    let product =
        Product::with_kernel(unit, matrices, Modifiers::default(), kernel).expect("operands");
    let mut sums = product.c(product.whole()).expect("memory");
    product
        .advance(0..product.steps(), true, &mut sums, &watch)
        .expect("a product");
    black_box(sums);
}

/// Native products of matrixmultiply.
struct Native {
    size: [usize; 3],
    a: Vec<f32>,
    b: Vec<f32>,
    c: Vec<f32>,
}

impl Native {
    fn new(size: [usize; 3]) -> Self {
        let random = &mut Random(7);
        let mut fill = |count| (0..count).map(|_| random.normal() as f32).collect();
        let [m, n, k] = size;
        Self {
            size,
            a: fill(m * k),
            b: fill(k * n),
            c: vec![0.0; m * n],
        }
    }

    fn run(&mut self) {
        let [m, n, k] = self.size;
        let (row_a, row_b) = (k as isize, n as isize);
        // SAFETY: the three matrices have these sizes.
        #[allow(unsafe_code)]
        unsafe {
            matrixmultiply::sgemm(
                m,
                k,
                n,
                1.0,
                self.a.as_ptr(),
                row_a,
                1,
                self.b.as_ptr(),
                row_b,
                1,
                0.0,
                self.c.as_mut_ptr(),
                row_b,
                1,
            );
        }
        black_box(&self.c);
    }
}

struct NativeDouble {
    size: [usize; 3],
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl NativeDouble {
    fn new(size: [usize; 3]) -> Self {
        let random = &mut Random(7);
        let mut fill = |count| (0..count).map(|_| random.normal()).collect();
        let [m, n, k] = size;
        Self {
            size,
            a: fill(m * k),
            b: fill(k * n),
            c: vec![0.0; m * n],
        }
    }

    fn run(&mut self) {
        let [m, n, k] = self.size;
        let (row_a, row_b) = (k as isize, n as isize);
        // SAFETY: the three matrices have these sizes.
        #[allow(unsafe_code)]
        unsafe {
            matrixmultiply::dgemm(
                m,
                k,
                n,
                1.0,
                self.a.as_ptr(),
                row_a,
                1,
                self.b.as_ptr(),
                row_b,
                1,
                0.0,
                self.c.as_mut_ptr(),
                row_b,
                1,
            );
        }
        black_box(&self.c);
    }
}

/// OpenBLAS's sgemm, where its library is: another native product to compare with. (Its dgemm and the
/// crate `gemm` are left out: the one would say nothing new, the other takes minutes to compile in every
/// build of the tests.)
fn open_blas(size: usize) -> Option<f64> {
    type Sgemm = unsafe extern "C" fn(
        layout: i32,
        a_transposed: i32,
        b_transposed: i32,
        m: i32,
        n: i32,
        k: i32,
        alpha: f32,
        a: *const f32,
        row_a: i32,
        b: *const f32,
        row_b: i32,
        beta: f32,
        c: *mut f32,
        row_c: i32,
    );
    let name = std::env::var("OPENBLAS").unwrap_or_else(|_| "libopenblas.so.0".to_owned());
    let mut native = Native::new([size; 3]);
    let n = size as i32;
    // SAFETY: the library is OpenBLAS, whose functions these are; the three matrices have these sizes.
    #[allow(unsafe_code)]
    let run = unsafe {
        let library = libloading::Library::new(name).ok()?;
        let threads = library.get::<unsafe extern "C" fn(i32)>(b"openblas_set_num_threads\0");
        threads.ok()?(1);
        let sgemm = library.get::<Sgemm>(b"cblas_sgemm\0").ok()?;
        let mut one = || {
            let (a, b, c) = (native.a.as_ptr(), native.b.as_ptr(), native.c.as_mut_ptr());
            sgemm(101, 111, 111, n, n, n, 1.0, a, n, b, n, 0.0, c, n);
        };
        one();
        let mut times: Vec<f64> = (0..9).map(|_| seconds(now, &mut one)).collect();
        times.sort_by(f64::total_cmp);
        times[4]
    };
    Some((size as f64).powi(3) / 1e9 / run)
}

/// One line: products a second of both, and the median ratio.
fn line(title: &str, unit: &Unit, size: [usize; 3], data: Data) {
    let level = Level::current().expect("a level");
    let Ok(kernel) = Kernel::at_level(unit, level) else {
        println!("| {title} | no kernel | | |");
        return;
    };
    let matrices = operands(unit, size, data);
    let double = unit.signature().a.bits == 64;
    let (mut native, mut native_double) =
        (Native::new(size), double.then(|| NativeDouble::new(size)));
    let mut ours = || product(unit, &matrices, Some(kernel.clone()));
    let mut theirs = || match &mut native_double {
        Some(native) => native.run(),
        None => native.run(),
    };
    ours();
    theirs();
    let mut pairs: Vec<[f64; 2]> = (0..9)
        .map(|_| [seconds(now, &mut ours), seconds(now, &mut theirs)])
        .collect();
    let count = size.iter().product::<usize>() as f64 / 1e9;
    pairs.sort_by(|x, y| (x[1] / x[0]).total_cmp(&(y[1] / y[0])));
    let [mine, native] = pairs[pairs.len() / 2];
    println!(
        "| {title} | {:.2} | {:.2} | **{:.3}** |",
        count / mine,
        count / native,
        native / mine
    );
}

fn run() {
    let level = Level::current().expect("a level");
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|x| !x.starts_with('-'))
        .collect();
    let asked = arguments.first().map_or("1024", String::as_str);
    let only = arguments.get(1).map(String::as_str);
    println!("level {level}, one thread; 10^9 products a second\n");
    let unit = |arch: &str, inst: &str| {
        let row = Catalogue::built_in().find(arch, inst);
        row.and_then(|row| row.unit())
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let head = || println!("| path | mmascope | native | ratio |\n|---|---|---|---|");
    if asked == "threads" {
        return threads(&unit);
    }
    if asked == "sizes" || asked == "data" {
        head();
        for (title, arch, inst) in chosen() {
            let unit = unit(arch, inst);
            if asked == "sizes" {
                for size in [256, 512, 1024, 2048] {
                    line(&format!("{title}, {size}³"), unit, [size; 3], Data::Normal);
                }
            } else {
                let kinds = [
                    ("normal", Data::Normal),
                    ("all subnormal", Data::Subnormal),
                    ("75 % zeros", Data::Zeros),
                    ("1 % of rows with a NaN", Data::Specials),
                ];
                for (kind, data) in kinds {
                    line(&format!("{title}, {kind}"), unit, [1024; 3], data);
                }
            }
        }
        return;
    }
    let size = asked.parse().unwrap_or(1024);
    if only.is_none() {
        let mut native = Native::new([size; 3]);
        native.run();
        let mut times: Vec<f64> = (0..9).map(|_| seconds(now, &mut || native.run())).collect();
        times.sort_by(f64::total_cmp);
        let rate = (size as f64).powi(3) / 1e9 / times[4];
        match open_blas(size) {
            Some(blas) => println!("native f32: matrixmultiply {rate:.1}, OpenBLAS {blas:.1}\n"),
            None => println!("native f32: matrixmultiply {rate:.1}; no OpenBLAS here\n"),
        }
    }
    head();
    for (title, arch, inst) in PATHS {
        if only.is_none_or(|only| title.contains(only)) {
            line(title, unit(arch, inst), [size; 3], Data::Normal);
        }
    }
    if only.is_none_or(|only| "user".contains(only)) {
        let signature = "a=f16 b=f16 c=f32 d=f32 k=12".parse().expect("a signature");
        let user = Unit::new(signature, USER.parse().expect("a program")).expect("a unit");
        let title = "user's row: L=12 F=20 align=rne";
        line(title, &user, [size, size, size / 12 * 12], Data::Normal);
    }
}

/// Two threads against one, in time that passes; the best of nine, since others may use the machine.
fn threads(unit: &dyn Fn(&str, &str) -> &'static Unit) {
    println!("| path, 1024³ | one thread | two | ratio |\n|---|---|---|---|");
    for (title, arch, inst) in chosen() {
        let unit = unit(arch, inst);
        let Ok(kernel) = Kernel::at_level(unit, Level::current().expect("a level")) else {
            continue;
        };
        let matrices = operands(unit, [1024; 3], Data::Normal);
        let pools = [1, 2].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().expect("threads")
        });
        let mut best = [f64::MAX; 2];
        for _ in 0..9 {
            for (best, pool) in best.iter_mut().zip(&pools) {
                let mut run = || pool.install(|| product(unit, &matrices, Some(kernel.clone())));
                *best = best.min(seconds(passed, &mut run));
            }
        }
        let [one, two] = best.map(|seconds| 1024_f64.powi(3) / 1e9 / seconds);
        println!("| {title} | {one:.2} | {two:.2} | **{:.2}** |", two / one);
    }
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a thread").install(run);
}
