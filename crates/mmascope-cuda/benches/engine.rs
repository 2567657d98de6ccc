//! How fast a GPU computes as other chips would, beside cuBLAS's product in f32 on the same GPU in the same run.
//!
//! `cargo bench -p mmascope-cuda --bench engine [-- SIDE] [ARCH:INST …]` takes the first GPU and says so where there is none;
//! units that are named are taken instead of one of each path.
//! `cargo xtask record gpu-engine` keeps what it prints; that needs a GPU (`-- --record`).
//! `-- source ARCH:INST` prints the source of a product, which needs none.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use mmascope_cuda::chip::{Argument, Chip};
use mmascope_cuda::cublas;
use mmascope_cuda::engine::{CudaEngine, Doubles, Lines, product_source};
use mmascope_cuda::gpu::Gpu;
use mmascope_gemm::engine::Watch;
use mmascope_lab::cases::{Family, Generator};
use mmascope_model::dpa::Unit;
use mmascope_model::isa::Catalogue;

type Failure = Box<dyn std::error::Error>;

/// One unit of each path. Those of `SLOW` once more as on a chip whose f64 is slow.
const UNITS: [&str; 17] = [
    "hopper:mma.m16n8k16.f32.f16.f16.f32",
    "ampere:mma.m16n8k16.f32.f16.f16.f32",
    "volta:mma.m8n8k4.f32.f16.f16.f32",
    "hopper:mma.m16n8k16.f32.bf16.bf16.f32",
    "hopper:mma.m16n8k8.f32.tf32.tf32.f32",
    "hopper:wgmma.m64n8k32.f32.e4m3.e4m3",
    "blackwell:tcgen05.mma.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3",
    "hopper:mma.m16n8k16.f16.f16.f16.f16",
    "hopper:mma.m16n8k32.f32.e4m3.e4m3.f32",
    "mi100:v_mfma_f32_32x32x8f16",
    "mi250x:v_mfma_f32_32x32x8f16",
    "mi300x:v_mfma_f32_32x32x8_f16",
    "hopper:mma.m8n8k4.f64.f64.f64.f64",
    "hopper:mma.m16n8k32.s32.s8.s8.s32",
    "mi300x:v_mfma_f32_16x16x32_fp8_bf8",
    "mi300x:v_mfma_f32_32x32x2_f32",
    "hopper:mma.m16n8k256.s32.b1.b1.s32.xor.popc",
];
const SLOW: [&str; 2] = [
    "hopper:mma.m16n8k16.f32.f16.f16.f32",
    "hopper:mma.m16n8k16.f16.f16.f16.f16",
];

fn watch() -> Watch<'static> {
    static GO: AtomicBool = AtomicBool::new(false);
    Watch {
        progress: &|_| (),
        cancel: &GO,
    }
}

fn unit(name: &str) -> Result<Unit, Failure> {
    let (arch, inst) = name.split_once(':').ok_or("expected ARCH:INST")?;
    Ok(Catalogue::built_in().find(arch, inst)?.unit()?.clone())
}

/// Words of normally distributed operands, in the bytes that the engine takes.
fn operand(unit: &Unit, of_b: bool, count: usize) -> Result<Vec<u8>, Failure> {
    let generator = Generator::for_unit(Family::Normal, 1, unit)?;
    let signature = unit.signature();
    let format = if of_b { signature.b } else { signature.a };
    let bytes = format.register.bits.div_ceil(8).next_power_of_two() as usize;
    let mut words = Vec::new();
    for index in 0.. {
        let case = generator.case(index);
        words.extend(if of_b { case.b } else { case.a });
        if words.len() >= 1 << 16 {
            break;
        }
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut all = Vec::with_capacity(count * bytes);
    for _ in 0..count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let word = words[(state >> 20) as usize % words.len()];
        all.extend_from_slice(&word.to_le_bytes()[..bytes]);
    }
    Ok(all)
}

/// Seconds of a product of that side, the outputs left to integers, and whether the integers alone give the same bits for a part.
fn product(
    engine: &CudaEngine,
    unit: &Unit,
    side: usize,
) -> Result<(f64, Option<usize>, Vec<u8>), Failure> {
    let k = side / unit.signature().k * unit.signature().k;
    let mut loaded = engine.program(unit)?;
    let mut lines = Vec::new();
    for of_b in [false, true] {
        let words = operand(unit, of_b, side * k)?;
        let memory = loaded.allocate(words.len())?;
        loaded.write(memory, &words)?;
        lines.push(Lines {
            codes: Argument::Memory(memory),
            count: side,
            line_stride: k,
            k_stride: 1,
            scales: Argument::Word(0),
        });
    }
    let size = side * side * 8;
    let d = loaded.allocate(size)?;
    let [a, b] = [lines[0], lines[1]];
    let mut best = f64::INFINITY;
    let mut product = engine.on_chip(loaded, unit, [a, b], k / unit.signature().k)?;
    for _ in 0..3 {
        product.loaded().write(d, &vec![0; size])?;
        let begun = Instant::now();
        product.run(Argument::Memory(d), &watch())?;
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let left = product.left_to_integers()?;
    let mut bytes = vec![0; size];
    product.loaded().read(d, &mut bytes)?;
    Ok((best, left, bytes))
}

/// A line of the table: a unit by one engine, beside the same in integers.
fn line(
    name: &str,
    [engine, plain]: [&CudaEngine; 2],
    side: usize,
    native: f64,
) -> Result<(), Failure> {
    let unit = unit(name)?;
    let cube = |side: usize| (side as f64).powi(3);
    // The integers take long: a smaller product tells their speed, and whether the bits are the same.
    let small = side.min(1024);
    let (_, left, fast) = product(engine, &unit, small)?;
    let (slow, _, expected) = product(plain, &unit, small)?;
    if fast != expected {
        return Err(format!("{name}: the two methods give different bits").into());
    }
    let plain_rate = cube(small) / slow;
    let (rate, left) = match left {
        Some(_) => {
            let (seconds, left, _) = product(engine, &unit, side)?;
            (cube(side) / seconds, left.unwrap_or_default().to_string())
        }
        None => (plain_rate, "all".to_owned()),
    };
    let method = engine.method(&unit).unwrap_or("integers");
    println!(
        "| `{name}` | {rate:.2e} | {:.3} | {method} | {left} | {plain_rate:.2e} |",
        native * rate / cube(side),
    );
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| it != "--bench")
        .collect();
    if let [what, name] = &arguments[..]
        && what == "source"
    {
        println!("{}", product_source(&unit(name)?, "unit", Doubles::Full)?);
        return Ok(());
    }
    let is_record = arguments.iter().any(|it| it == "--record");
    arguments.retain(|it| it != "--record");
    let (own, sides): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|it| it.contains(':'));
    let side: usize = sides.first().map_or(Ok(4096), |text| text.parse())?;
    let named = |all: &[&str]| -> Vec<String> {
        match own.is_empty() {
            true => all.iter().map(|name| (*name).to_owned()).collect(),
            false => own.clone(),
        }
    };
    let gpu = match Gpu::open(0) {
        Ok(gpu) => Arc::new(gpu),
        // What was not measured is not recorded.
        Err(why) if is_record => return Err(why.into()),
        Err(why) => {
            println!("skipped: {why}");
            return Ok(());
        }
    };
    let about = gpu.description();
    println!(
        "{}, driver {}, {}; products of {side} x {side} x {side}, the shortest of three runs",
        about.name, about.driver, about.compiler
    );
    let native = cublas::seconds(0, "sgemm", side)?;
    println!(
        "cuBLAS sgemm: {:.3} ms, {:.3e} products/s",
        native * 1e3,
        (side as f64).powi(3) / native
    );
    println!(
        "| unit | products/s | to cuBLAS f32 | method | outputs left to integers | in integers alone, products/s |\n|---|---|---|---|---|---|"
    );
    let engine = || CudaEngine::new("gpu", Arc::<Gpu>::clone(&gpu));
    let plain = engine().in_integers();
    for name in &named(&UNITS) {
        line(name, [&engine(), &plain], side, native)?;
    }
    let slow = engine().with_doubles(Doubles::Slow);
    for name in &named(&SLOW) {
        line(name, [&slow, &plain], side, native)?;
    }
    Ok(())
}
