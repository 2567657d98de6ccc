//! The engine's kernels on a chip in C++ have the bits of the reference.
//!
//! `cargo xtask prove cuda` takes all units and more outputs of each; `MMASCOPE_PROVE_OUTPUTS` and `MMASCOPE_PROVE_EVERY` say how
//! many outputs a unit has and which units are taken.

mod emulated;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use emulated::{EmulatedChip, has_compiler};
use mmascope_cuda::chip::{Argument, Chip, Loaded};
use mmascope_cuda::engine::{CudaEngine, Lines};
use mmascope_cuda::gpu::Gpu;
use mmascope_gemm::array::Words;
use mmascope_gemm::engine::{Engine, Watch};
use mmascope_gemm::gemm::{Matrices, Matrix, Product, Schedule};
use mmascope_lab::cases::{Family, Generator};
use mmascope_model::dpa::{Modifiers, Program, Signature, Unit};
use mmascope_model::isa::Catalogue;

fn watch() -> Watch<'static> {
    static GO: AtomicBool = AtomicBool::new(false);
    Watch {
        progress: &|_| (),
        cancel: &GO,
    }
}

/// Operands of some steps of a unit, of a family each row and column of its own.
fn matrices(unit: &Unit, family: Family, [m, n, steps]: [usize; 3], seed: u64) -> Matrices {
    let signature = unit.signature();
    let generator = Generator::for_unit(family, seed, unit).expect("a generator");
    let case = |line: usize, step: usize| generator.case((line * steps + step) as u64);
    let lines = |count: usize, of: &dyn Fn(usize, usize) -> Vec<u64>, format| {
        let words: Vec<u64> = (0..count)
            .flat_map(|line| (0..steps).flat_map(move |step| of(line, step)))
            .collect();
        let length = words.len() / count;
        Matrix::row_major(count, length, Words::of(format, words).expect("words"))
            .expect("a matrix")
    };
    let a = lines(m, &|line, step| case(line, step).a, &signature.a);
    let b = lines(n, &|line, step| case(line, step).b, &signature.b).transposed();
    let c: Vec<u64> = (0..m * n).map(|at| case(at, 0).c).collect();
    let c = Matrix::row_major(m, n, Words::of(&signature.c, c).expect("words")).expect("a matrix");
    let matrices = Matrices::new(a, b)
        .expect("operands")
        .with_c(c)
        .expect("operands");
    let Some(scale) = signature.scale else {
        return matrices;
    };
    let of_a = lines(m, &|line, step| case(line, step).scale_a, &scale.format);
    let of_b = lines(n, &|line, step| case(line, step).scale_b, &scale.format).transposed();
    matrices.with_scales(of_a, of_b).expect("operands")
}

fn compare(name: &str, engine: &dyn Engine, unit: &Unit, outputs: usize) -> usize {
    let families: Vec<Family> = Family::ALL
        .into_iter()
        .filter(|family| {
            *family != Family::Exhaustive && Generator::for_unit(*family, 1, unit).is_ok()
        })
        .collect();
    let mut done = 0;
    let modified = Modifiers {
        negate_a: unit.signature().a.float().is_some(),
        negate_c: unit.signature().c.float().is_some(),
        ..Modifiers::default()
    };
    let side = if outputs > 10_000 { 64 } else { 16 };
    for turn in 0.. {
        if done >= outputs {
            break;
        }
        let family = families[turn % families.len()];
        let is_chain = unit.signature().c == unit.signature().d
            && unit.check_chain(2 * unit.signature().k).is_ok();
        let steps = if is_chain { 2 } else { 1 };
        let matrices = matrices(
            unit,
            family,
            [side + turn % 3, side - 3, steps],
            turn as u64,
        );
        let modifiers = if turn % 4 == 3 {
            modified
        } else {
            Modifiers::default()
        };
        let reference = Product::by_reference(unit, &matrices, modifiers).expect("a product");
        let product = Product::with_engine(unit, &matrices, modifiers, engine).expect("a product");
        assert!(!product.is_by_reference(), "{name}: {:?}", product.reason());
        let schedule = Schedule::default();
        let expected = schedule
            .run(&reference, None, &watch())
            .expect("a product")
            .to_vec();
        let got = schedule
            .run(&product, None, &watch())
            .expect("a product")
            .to_vec();
        for (at, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert!(
                unit.agrees(*expected, *got),
                "{name}, {family}, turn {turn}, output {at}: {got:x}, the reference {expected:x}"
            );
        }
        done += got.len();
    }
    done
}

fn number(name: &str, otherwise: usize) -> usize {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
        .max(1)
}

/// Units of every kind of arithmetic.
#[test]
fn products_have_the_bits_of_the_reference() {
    if has_compiler() {
        all_units(2_000, 37);
    }
}

/// Every unit, 10⁵ outputs each. `MMASCOPE_PROVE_FROM=n` goes on at unit n.
#[test]
#[ignore = "most of an hour; cargo xtask prove cuda"]
fn prove_cuda() {
    if on_gpu() || has_compiler() {
        all_units(
            number("MMASCOPE_PROVE_OUTPUTS", 100_000),
            number("MMASCOPE_PROVE_EVERY", 1),
        );
    }
}

fn all_units(outputs: usize, every: usize) {
    let mut seen = HashSet::new();
    let mut units = Vec::new();
    for architecture in Catalogue::built_in().architectures() {
        for row in architecture.instructions() {
            if let Ok(unit) = row.unit()
                && seen.insert(format!("{} {}", unit.signature(), unit.program()))
            {
                units.push((format!("{} {}", row.architecture, row.name), unit));
            }
        }
    }
    let from = number("MMASCOPE_PROVE_FROM", 1) - 1;
    let mut picked: Vec<usize> = (from..units.len()).step_by(every).collect();
    // Sums in f32, where zeros have stood in for too much.
    picked.extend(
        units
            .iter()
            .position(|(name, _)| name == "ada mma.m16n8k32.f32.e4m3.e4m3.f32")
            .filter(|at| every > 1 && from == 0 && !picked.contains(at)),
    );
    // A GPU has time for several; a chip in C++ takes this machine's processors itself.
    let workers = if on_gpu() { 12 } else { 1 };
    let (next, sums) = (AtomicUsize::new(0), Mutex::new([0; 3]));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(&at) = picked.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (name, unit) = &units[at];
                    let own = one_unit(&format!("{at} {name}"), unit, outputs);
                    let mut sums = sums.lock().expect("no panic");
                    (0..3).for_each(|i| sums[i] += own[i]);
                }
            });
        }
    });
    let [all, count, fast] = sums.into_inner().expect("no panic");
    println!(
        "{count} units of {}, {fast} of them by multiply-adds, {all} outputs",
        units.len()
    );
    // A part of them may have none that is fast.
    assert!(count > 0 && (fast > 0 || from > 0));
}

/// Whether `MMASCOPE_PROVE_ON=cuda:0` asks for the first GPU instead of a chip in C++.
fn on_gpu() -> bool {
    std::env::var("MMASCOPE_PROVE_ON").is_ok_and(|name| name == "cuda:0")
}

fn chip() -> Arc<dyn Chip> {
    match on_gpu() {
        true => Arc::new(Gpu::open(0).expect("a GPU")),
        false => Arc::new(EmulatedChip::new(80).unchecked()),
    }
}

/// Outputs that were compared, 1 for a unit that has a source, 1 for one whose sums are multiply-adds.
fn one_unit(name: &str, unit: &Unit, outputs: usize) -> [usize; 3] {
    let engine = CudaEngine::new("cuda:0", chip());
    let plan = match engine.plan(unit) {
        Ok(plan) => plan.to_string(),
        Err(reason) => {
            println!("{name}: no source: {reason}");
            return [0; 3];
        }
    };
    let mut done = compare(name, &engine, unit, outputs);
    let is_fast = plan.contains("round down");
    if is_fast {
        // What is fast is held to more.
        let plain = CudaEngine::new("cuda:0", chip()).in_integers();
        done += compare(name, &plain, unit, outputs / 4);
    }
    if outputs >= 100_000 {
        println!("{name}: {done} outputs equal the reference");
    }
    [done, 1, usize::from(is_fast)]
}

/// Of ordinary data the multiply-adds leave nothing to the integers, and of infinities all that they are in.
#[test]
fn ordinary_outputs_are_sums_of_multiply_adds() {
    if !has_compiler() {
        return;
    }
    for name in [
        "mma.m16n8k16.f32.f16.f16.f32",
        "wgmma.m64n8k32.f32.e4m3.e4m3",
        "mma.m16n8k16.f16.f16.f16.f16",
    ] {
        let row = Catalogue::built_in().find("hopper", name).expect("a row");
        let unit = row.unit().expect("a unit");
        let engine = CudaEngine::new("cuda:0", chip());
        let (side, steps, k) = (20, 3, unit.signature().k);
        let one = unit.signature().a.bits / 2;
        for with_infinity in [false, true] {
            let mut loaded = engine.program(unit).expect("a program");
            // 1.0 in a place of 16 or of 8 bits.
            let word: u64 = if one == 8 { 0x3c00 } else { 0x38 };
            let bytes = unit.signature().a.bits as usize / 8;
            let mut words = vec![word; side * steps * k];
            if with_infinity {
                // Infinity, or the NaN of e4m3, in row 5.
                words[5 * steps * k + 7] = if one == 8 { 0x7c00 } else { 0x7f };
            }
            let lines = |loaded: &mut dyn Loaded, words: &[u64]| {
                let all: Vec<u8> = words
                    .iter()
                    .flat_map(|word| word.to_le_bytes()[..bytes].to_vec())
                    .collect();
                let memory = loaded.allocate(all.len()).expect("memory");
                loaded.write(memory, &all).expect("written");
                Lines {
                    codes: Argument::Memory(memory),
                    count: side,
                    line_stride: steps * k,
                    k_stride: 1,
                    scales: Argument::Word(0),
                }
            };
            let a = lines(loaded.as_mut(), &words);
            let b = lines(loaded.as_mut(), &vec![word; side * steps * k]);
            let d = loaded.allocate(side * side * 4).expect("memory");
            let mut product = engine
                .on_chip(loaded, unit, [a, b], steps)
                .expect("a product");
            product
                .run(Argument::Memory(d), &watch())
                .expect("computed");
            let marked = product.left_to_integers().expect("read");
            // What is kept of the largest exponents is one for four rows.
            let expected = if with_infinity {
                side..=4 * side
            } else {
                0..=0
            };
            assert!(
                marked.is_some_and(|marked| expected.contains(&marked)),
                "{name}: {marked:?}, not {expected:?}"
            );
        }
    }
}

/// Parts of D that a schedule takes begin anywhere.
#[test]
fn parts_begin_anywhere() {
    if !has_compiler() {
        return;
    }
    let row = Catalogue::built_in()
        .find("hopper", "mma.m16n8k16.f32.f16.f16.f32")
        .expect("a row");
    let unit = row.unit().expect("a unit");
    let matrices = matrices(unit, Family::Close, [131, 129, 4], 5);
    let engine = CudaEngine::new("cuda:0", chip());
    let modifiers = Modifiers::default();
    let reference = Product::by_reference(unit, &matrices, modifiers).expect("a product");
    let product = Product::with_engine(unit, &matrices, modifiers, &engine).expect("a product");
    let schedule: Schedule = "split-k=2 reduce=pairwise/f32".parse().expect("a schedule");
    let run = |product: &Product<'_>| {
        let d = schedule.run(product, None, &watch()).expect("a product");
        d.to_vec()
    };
    assert_eq!(run(&product), run(&reference));
}

/// A c below the normal numbers of f32 stays what it is beside products of zeros, where sums are in f32 and elsewhere.
#[test]
fn a_subnormal_c_stays() {
    if !has_compiler() {
        return;
    }
    for (arch, name) in [
        ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"),
        ("ada", "mma.m16n8k32.f32.e5m2.e5m2.f32"),
        ("hopper", "mma.m16n8k16.f32.f16.f16.f32"),
    ] {
        let row = Catalogue::built_in().find(arch, name).expect("a row");
        let unit = row.unit().expect("a unit");
        let k = unit.signature().k;
        let engine = CudaEngine::new("cuda:0", chip());
        for c in [
            0x0020_0000,
            0x8000_0001,
            0x007f_ffff,
            0x0080_0000,
            0x2180_0000_u64,
        ] {
            let zeros = |rows: usize, columns: usize, format| {
                let words = Words::of(format, vec![0; rows * columns]).expect("words");
                Matrix::row_major(rows, columns, words).expect("a matrix")
            };
            let a = zeros(4, k, &unit.signature().a);
            let b = zeros(k, 4, &unit.signature().b);
            let words = Words::of(&unit.signature().c, vec![c; 16]).expect("words");
            let matrices = Matrices::new(a, b)
                .expect("operands")
                .with_c(Matrix::row_major(4, 4, words).expect("a matrix"))
                .expect("operands");
            let modifiers = Modifiers::default();
            let reference = Product::by_reference(unit, &matrices, modifiers).expect("a product");
            let product =
                Product::with_engine(unit, &matrices, modifiers, &engine).expect("a product");
            let run = |product: &Product<'_>| {
                let schedule = Schedule::default();
                let d = schedule.run(product, None, &watch()).expect("a product");
                d.to_vec()
            };
            assert_eq!(run(&product), run(&reference), "{arch} {name}, c = {c:x}");
        }
    }
}

/// Units of users whose sums have no room in f32, or in f64, or whose words are others, are not taken for those that have.
#[test]
fn units_of_users_have_the_bits_of_the_reference() {
    if !has_compiler() {
        return;
    }
    for text in [
        "a=e4m3 b=e4m3 c=f32 d=f32 k=32 : t-fdpa L=32 F=17 e0=-133 -> rz f32",
        "a=e5m2 b=e5m2 c=f32 d=f32 k=32 : t-fdpa L=32 F=17 e0=-133 -> rz f32",
        "a=e5m2 b=e5m2 c=f32 d=f32 k=32 : t-fdpa L=8 F=13 e0=-133 -> rz f32",
        "a=f16 b=f16 c=tf32 d=f32 k=16 : t-fdpa L=16 F=25 e0=-133 -> rz f32",
        "a=f16 b=f16 c=f32 d=f32 k=16 : t-fdpa L=16 F=25 e0=1000 -> rz f32",
        "a=e4m3 b=e4m3 c=f32 d=f32 k=32 : t-fdpa L=32 F=13 e0=119 -> rz f32",
    ] {
        let (signature, program) = text.split_once(" : ").expect("two parts");
        let signature: Signature = signature.parse().expect("a signature");
        let program: Program = program.parse().expect("a program");
        let unit = Unit::new(signature, program).expect("a unit");
        one_unit(text, &unit, 2_000);
    }
}
