//! Sums of groups on rounded grids: the kernel equals the reference at every level, on whole matrices.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use mmascope_gemm::array::Words;
use mmascope_gemm::cpu::{Cpu, Level};
use mmascope_gemm::engine::{Engine, Reference, Watch};
use mmascope_gemm::gemm::{Matrices, Matrix, Product};
use mmascope_model::dpa::{Modifiers, Unit};
use mmascope_model::format::Format;
use mmascope_model::isa::{Catalogue, Instruction};

/// The rows of products.
fn rows() -> Vec<&'static Instruction> {
    let all = Catalogue::built_in().instructions();
    all.filter(|row| {
        ["mvmul", "elwmul", "matmul"]
            .iter()
            .any(|name| row.name.starts_with(&format!("tensix.{name}.")))
    })
    .collect()
}

struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A word of a format: any, near 1, or a code with an exponent field of zeros, of ones, or next to them.
    fn of(&mut self, format: &Format, family: u64) -> u64 {
        let float = format.float().unwrap();
        let any = self.word() & format.widest_word();
        let below = format.register.bits - 1 - float.exponent_bits;
        let ones = (1_u64 << float.exponent_bits) - 1;
        let field = match family {
            0 => return any,
            1 => ones / 2 - 5 + self.word() % 10,
            2 => ones / 2,
            _ => [0, 1, 2, ones / 2, ones - 1, ones][self.word() as usize % 6],
        };
        any & !(ones << below) | field << below
    }
}

fn matrices(unit: &Unit, m: usize, n: usize, steps: usize, family: u64, seed: u64) -> Matrices {
    let signature = unit.signature();
    let mut random = Random(seed | 1);
    let mut matrix = |rows: usize, columns: usize, format: &Format| {
        let words: Vec<u64> = (0..rows * columns)
            .map(|_| random.of(format, family))
            .collect();
        Matrix::row_major(rows, columns, Words::of(format, words).unwrap()).unwrap()
    };
    let k = steps * signature.k;
    let a = matrix(m, k, &signature.a);
    let b = matrix(k, n, &signature.b);
    let c = matrix(m, n, &signature.c);
    Matrices::new(a, b).unwrap().with_c(c).unwrap()
}

fn d(unit: &Unit, matrices: &Matrices, engine: &dyn Engine) -> Vec<u64> {
    let product = Product::with_engine(unit, matrices, Modifiers::default(), engine).unwrap();
    let watch = Watch {
        progress: &|_| (),
        cancel: &AtomicBool::new(false),
    };
    let mut sums = product.c(product.whole()).unwrap();
    product
        .advance(0..product.steps(), true, &mut sums, &watch)
        .unwrap();
    sums.into_words().to_vec()
}

fn check(row: &Instruction, m: usize, n: usize, steps: usize, cases: u64) -> usize {
    let unit = row.unit().unwrap();
    let levels: Vec<Cpu> = Level::available()
        .map(|level| Cpu::at(level).unwrap())
        .collect();
    for engine in &levels {
        let plan = engine.plan(unit);
        assert!(plan.is_ok(), "{}: {}", row.name, plan.err().unwrap());
    }
    let mut outputs = 0;
    for case in 0..cases {
        let matrices = matrices(unit, m, n, steps, case % 4, 0x9e37_79b9 * (case + 1));
        let expected = d(unit, &matrices, &Reference);
        outputs += expected.len();
        for engine in &levels {
            let got = d(unit, &matrices, engine);
            for (index, (got, expected)) in got.iter().zip(&expected).enumerate() {
                assert_eq!(
                    got,
                    expected,
                    "{} {} {} case {case}, output {index}: {got:x}, the reference gives {expected:x}",
                    row.architecture,
                    row.name,
                    engine.name()
                );
            }
        }
    }
    outputs
}

#[test]
fn rows_of_products_have_a_kernel_with_the_bits_of_the_reference() {
    for row in rows() {
        // Columns that fill no panel, and several instructions.
        check(row, 5, 37, 2, 4);
    }
}

#[test]
#[ignore = "minutes: cargo xtask prove tensix-engine"]
fn prove_tensix_engine() {
    for row in rows() {
        let start = Instant::now();
        let outputs = check(row, 160, 160, 1, 40);
        println!(
            "{} {}: {outputs} outputs, {:.0?}",
            row.architecture,
            row.name,
            start.elapsed()
        );
        assert!(outputs >= 1_000_000);
    }
}

/// Seconds of processor time of this thread where Linux tells them, else of the clock on the wall.
fn seconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let own = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let run = own.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let wall = START.get_or_init(Instant::now).elapsed().as_secs_f64();
    run.map_or(wall, |nanoseconds| nanoseconds / 1e9)
}

/// What the kernel is faster than the reference, on one thread.
#[test]
#[ignore = "a measurement: cargo test --release -p mmascope-gemm --test rounded -- --ignored --nocapture speed"]
fn speed() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    pool.install(|| {
        for name in ["bf16.d32.hifi4", "bf16.d16.hifi2", "tf32.d32.lofi", "f16.d16.hifi4"] {
            let row = Catalogue::built_in().find("wormhole", &format!("tensix.matmul.{name}")).unwrap();
            let unit = row.unit().unwrap();
            let time = |m: usize, steps: usize, engine: &dyn Engine| {
                let matrices = matrices(unit, m, 256, steps, 1, 1);
                let start = seconds();
                d(unit, &matrices, engine);
                (seconds() - start) / (m * 256 * steps) as f64
            };
            let slow = time(16, 8, &Reference);
            let fast = time(256, 64, &Cpu::current().unwrap());
            println!(
                "{name}: {:.0} ns an output and tile of 32 by the reference, {:.1} ns by {}: {:.0} times",
                slow * 1e9, fast * 1e9, Cpu::current().unwrap().name(), slow / fast
            );
        }
    });
}
