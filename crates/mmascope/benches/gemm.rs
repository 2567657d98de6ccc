//! `cargo bench -p mmascope --bench gemm`: matrix products by the kernels against the fastest native f32
//! product of the same size (matrixmultiply, OpenBLAS), packing included, one thread.
//!
//! Ours and the native products take turns in one run, in CPU time of the thread, and the least time of each
//! counts: what others do on the machine only adds to it. That is why this is no criterion benchmark,
//! which cannot alternate subjects. The table is Markdown, as in the README.
//!
//! Arguments (behind `--`): a size (default 1024), or `sizes` for 256 to 2048, `data` for other data,
//! `threads` for two threads against one; behind that a part of the titles of the rows that are wanted.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mmascope::array::Words;
use mmascope::cpu::{Kernel, Level};
use mmascope::dpa::{Modifiers, Unit};
use mmascope::format::Format;
use mmascope::gemm::{Matrices, Matrix, Product, Watch};
use mmascope::isa::Catalogue;

/// Rows of the table: title, architecture, instruction.
const PATHS: [(&str, &str, &str); 27] = [
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
        "fp6, 32 terms, F=25",
        "rtx-blackwell",
        "mma.m16n8k32.kind::f8f6f4.f32.e2m3.e2m3.f32",
    ),
    (
        "fp4, 32 terms, F=25",
        "rtx-blackwell",
        "mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32",
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
    ("CDNA3 bf16", "cdna3", "v_mfma_f32_32x32x8_bf16"),
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
    ("s8 → s32", "hopper", "wgmma.m64n8k32.s32.s8.s8"),
    (
        "s8 → s32, saturating",
        "ampere",
        "mma.m16n8k32.satfinite.s32.s8.s8.s32",
    ),
    ("u8 × s8 → s32", "x86", "tdpbusd"),
    ("s4 → s32", "ampere", "mma.m16n8k64.s32.s4.s4.s32"),
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

/// Units that are in no catalogue.
const USERS: [(&str, u32, &str); 28] = [
    (
        "L=12 F=20 align=rne",
        12,
        "t-fdpa L=12 F=20 e0=-126 align=rne -> rne f32",
    ),
    (
        "L=12 F=20 align=rd",
        12,
        "t-fdpa L=12 F=20 e0=-126 align=rd -> rne f32",
    ),
    (
        "L=12 F=20 align=rd, results rounded down",
        12,
        "t-fdpa L=12 F=20 e0=-126 align=rd -> rd f32",
    ),
    (
        "L=12 F=24 align=rd, then c",
        12,
        "s = t-fdpa L=12 F=24 e0=-133 align=rd from +0 -> rne f32 ; d = add s c -> rne f32",
    ),
    (
        "L=6 F=24 align=rd, c between",
        12,
        "s = t-fdpa L=6 F=24 e0=-133 align=rd over k=0..5 -> rz f32 ; \
         d = t-fdpa L=6 F=24 e0=-133 align=rd over k=6..11 from s -> rz f32",
    ),
    (
        "L=8 F=24, then c",
        8,
        "s = t-fdpa L=8 F=24 e0=-133 from +0 -> rz f32 ; d = add s c -> rne f32",
    ),
    (
        "L=4 F=24 of eight, c first",
        8,
        "t-fdpa L=4 F=24 e0=-133 -> rz f32",
    ),
    (
        "L=16 F=24, the products' grid",
        16,
        "fused L=16 F=24 grid=products -> rz f32",
    ),
    (
        "L=8 F=24 align=rne, the products' grid",
        8,
        "fused L=8 F=24 align=rne grid=products -> rne f32",
    ),
    ("L=8 F=24, f16 results", 8, "fused L=8 F=24 -> rne f16"),
    (
        "L=8 F=24, the products' grid, f16 results",
        8,
        "fused L=8 F=24 grid=products -> rne f16",
    ),
    (
        "L=8 F=24, then c toward zero",
        8,
        "s = fused L=8 F=24 from +0 -> rz f32 ; d = add s c -> rz f32",
    ),
    ("L=16 F=26", 16, "fused L=16 F=26 -> rz f32"),
    (
        "L=8 F=27, then c",
        8,
        "s = fused L=8 F=27 from +0 -> rz f32 ; d = add s c -> rne f32",
    ),
    (
        "L=8 F=27, the products' grid",
        8,
        "fused L=8 F=27 grid=products -> rne f32",
    ),
    (
        "L=8 F=29 align=rne",
        8,
        "fused L=8 F=29 align=rne -> rne f32",
    ),
    ("L=16 F=40", 16, "fused L=16 F=40 -> rz f32"),
    (
        "L=4 F=35 align=rd of eight, c first",
        8,
        "fused L=4 F=35 align=rd -> rne f32",
    ),
    (
        "L=8 F=33, then c",
        8,
        "s = fused L=8 F=33 from +0 -> rz f32 ; d = add s c -> rne f32",
    ),
    (
        "L=8 F=35, the products' grid",
        8,
        "fused L=8 F=35 grid=products -> rne f32",
    ),
    (
        "L=4 F=24, c, L=12 F=24",
        16,
        "s = fused L=4 F=24 over k=0..3 from +0 -> rz f32 ; t = add s c -> rne f32 ; \
         d = fused L=12 F=24 over k=4..15 from t -> rz f32",
    ),
    ("L=8 F=36", 8, "fused L=8 F=36 -> rz f32"),
    ("L=4 F=29", 8, "fused L=4 F=29 -> rz f32"),
    (
        "L=4 F=24, the products' grid",
        8,
        "fused L=4 F=24 grid=products -> rz f32",
    ),
    ("L=2 F=24", 8, "fused L=2 F=24 -> rz f32"),
    ("L=2 F=29", 8, "fused L=2 F=29 -> rz f32"),
    (
        "L=2 F=24, the products' grid",
        8,
        "fused L=2 F=24 grid=products -> rz f32",
    ),
    ("L=1 F=24", 8, "fused L=1 F=24 -> rz f32"),
];

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
        let x = match format.float() {
            Some(_) => random.normal(),
            // Whole numbers of all sizes.
            None => random.normal() * f64::from(1 << (format.bits - 2)),
        };
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
    let product = match kernel {
        Some(kernel) => Product::with_plan(unit, matrices, Modifiers::default(), Arc::new(kernel)),
        None => Product::by_reference(unit, matrices, Modifiers::default()),
    };
    let product = product.expect("operands");
    let mut sums = product.c(product.whole()).expect("memory");
    product
        .advance(0..product.steps(), true, &mut sums, &watch)
        .expect("a product");
    black_box(sums);
}

/// Numbers of native products.
trait Number: Copy + 'static {
    const ZERO: Self;
    /// matrixmultiply's product of square or other row-major matrices.
    fn multiply(size: [usize; 3], a: &[Self], b: &[Self], c: &mut [Self]);
    /// OpenBLAS's, where its library is.
    fn multiply_by_blas(blas: &Blas, size: [usize; 3], a: &[Self], b: &[Self], c: &mut [Self]);
    fn from_f64(x: f64) -> Self;
}

macro_rules! number {
    ($type:ty, $zero:literal, $one:literal, $multiply:ident, $cblas:ident) => {
        impl Number for $type {
            const ZERO: Self = $zero;

            fn multiply(size: [usize; 3], a: &[Self], b: &[Self], c: &mut [Self]) {
                let [m, n, k] = size;
                let (row_a, row_b) = (k as isize, n as isize);
                let (a, b) = (a.as_ptr(), b.as_ptr());
                // SAFETY: the three matrices have these sizes.
                #[allow(unsafe_code)]
                unsafe {
                    let c = c.as_mut_ptr();
                    matrixmultiply::$multiply(
                        m, k, n, $one, a, row_a, 1, b, row_b, 1, $zero, c, row_b, 1,
                    );
                }
            }

            fn multiply_by_blas(
                blas: &Blas,
                size: [usize; 3],
                a: &[Self],
                b: &[Self],
                c: &mut [Self],
            ) {
                let [m, n, k] = size.map(|x| x as i32);
                let (a, b) = (a.as_ptr(), b.as_ptr());
                // SAFETY: the three matrices have these sizes; 101 is row-major, 111 not transposed.
                #[allow(unsafe_code)]
                unsafe {
                    let c = c.as_mut_ptr();
                    (blas.$cblas)(101, 111, 111, m, n, k, $one, a, k, b, n, $zero, c, n);
                }
            }

            fn from_f64(x: f64) -> Self {
                x as Self
            }
        }
    };
}

number!(f32, 0.0, 1.0, sgemm, sgemm);
number!(f64, 0.0, 1.0, dgemm, dgemm);

/// Layout, two transpositions, M, N, K, α, A and its row, B and its row, β, C and its row.
type Gemm<T> = unsafe extern "C" fn(
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
    T,
    *const T,
    i32,
    *const T,
    i32,
    T,
    *mut T,
    i32,
);

/// OpenBLAS, one thread.
struct Blas {
    sgemm: Gemm<f32>,
    dgemm: Gemm<f64>,
}

/// OpenBLAS, where its library is. (The crate `gemm` takes minutes to compile in every build of the tests.)
fn blas() -> Option<&'static Blas> {
    static BLAS: std::sync::OnceLock<Option<Blas>> = std::sync::OnceLock::new();
    let load = || {
        let name = std::env::var("OPENBLAS").unwrap_or_else(|_| "libopenblas.so.0".to_owned());
        // SAFETY: the library is OpenBLAS, whose functions these are; it stays loaded.
        #[allow(unsafe_code)]
        unsafe {
            let library = Box::leak(Box::new(libloading::Library::new(name).ok()?));
            let threads = library.get::<unsafe extern "C" fn(i32)>(b"openblas_set_num_threads\0");
            threads.ok()?(1);
            Some(Blas {
                sgemm: *library.get::<Gemm<f32>>(b"cblas_sgemm\0").ok()?,
                dgemm: *library.get::<Gemm<f64>>(b"cblas_dgemm\0").ok()?,
            })
        }
    };
    BLAS.get_or_init(load).as_ref()
}

/// Native products of one size.
struct Native<T> {
    size: [usize; 3],
    a: Vec<T>,
    b: Vec<T>,
    c: Vec<T>,
}

impl<T: Number> Native<T> {
    fn new(size: [usize; 3]) -> Self {
        let random = &mut Random(7);
        let mut fill = |count| (0..count).map(|_| T::from_f64(random.normal())).collect();
        let [m, n, k] = size;
        Self {
            size,
            a: fill(m * k),
            b: fill(k * n),
            c: vec![T::ZERO; m * n],
        }
    }

    /// Seconds that each of the native products takes: of matrixmultiply, then of OpenBLAS.
    fn seconds(&mut self) -> [Option<f64>; 2] {
        let Self { size, a, b, c } = self;
        let ours = seconds(now, &mut || T::multiply(*size, a, b, c));
        let blas = blas().map(|blas| {
            let mut run = || T::multiply_by_blas(blas, *size, a, b, c);
            seconds(now, &mut run)
        });
        black_box(&self.c);
        [Some(ours), blas]
    }
}

/// Products a second of each native product, the best of fifteen.
fn natives<T: Number>(size: usize) -> [Option<f64>; 2] {
    let mut native = Native::<T>::new([size; 3]);
    native.seconds();
    let times: Vec<[Option<f64>; 2]> = (0..15).map(|_| native.seconds()).collect();
    [0, 1].map(|which| {
        let times = times.iter().filter_map(|times| times[which]);
        Some((size as f64).powi(3) / 1e9 / times.min_by(f64::total_cmp)?)
    })
}

/// One line: products a second of ours and of the fastest native product, and their ratio.
fn line(title: &str, unit: &Unit, size: [usize; 3], data: Data) {
    match unit.signature().a.bits {
        64 => line_beside(Native::<f64>::new(size), title, unit, data),
        _ => line_beside(Native::<f32>::new(size), title, unit, data),
    }
}

fn line_beside<T: Number>(mut native: Native<T>, title: &str, unit: &Unit, data: Data) {
    let level = Level::current().expect("a level");
    let Ok(kernel) = Kernel::at_level(unit, level) else {
        println!("| {title} | no kernel | | |");
        return;
    };
    let size = native.size;
    let matrices = operands(unit, size, data);
    let mut ours = || product(unit, &matrices, Some(kernel.clone()));
    ours();
    native.seconds();
    let (mut least, mut natives) = (f64::MAX, f64::MAX);
    for _ in 0..15 {
        least = least.min(seconds(now, &mut ours));
        natives = native
            .seconds()
            .into_iter()
            .flatten()
            .fold(natives, f64::min);
    }
    let count = size.iter().product::<usize>() as f64 / 1e9;
    println!(
        "| {title} | {:.2} | {:.2} | **{:.3}** |",
        count / least,
        count / natives,
        natives / least
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
        let named = |[own, blas]: [Option<f64>; 2]| {
            let blas = blas.map_or_else(|| "not here".to_owned(), |rate| format!("{rate:.1}"));
            format!("matrixmultiply {:.1}, OpenBLAS {blas}", own.unwrap_or(0.0))
        };
        println!("native f32: {}", named(natives::<f32>(size)));
        println!("native f64: {}\n", named(natives::<f64>(size)));
    }
    head();
    for (title, arch, inst) in PATHS {
        if only.is_none_or(|only| title.contains(only)) {
            line(title, unit(arch, inst), [size; 3], Data::Normal);
        }
    }
    for (title, k, program) in USERS {
        let title = format!("user's row: {title}");
        if only.is_none_or(|only| title.contains(only)) {
            let result = program.rsplit(' ').next().unwrap_or("f32");
            let signature = format!("a=f16 b=f16 c={result} d={result} k={k}");
            let signature = signature.parse().expect("a signature");
            let user = Unit::new(signature, program.parse().expect("a program")).expect("a unit");
            let k = size / k as usize * k as usize;
            line(&title, &user, [size, size, k], Data::Normal);
        }
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
