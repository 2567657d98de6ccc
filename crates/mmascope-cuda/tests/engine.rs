//! The engine's kernels on a chip in C++ have the bits of the reference.
//!
//! `cargo xtask prove cuda` takes all units and more outputs of each; `MMASCOPE_PROVE_OUTPUTS` and `MMASCOPE_PROVE_EVERY` say how
//! many outputs a unit has and which units are taken.

mod emulated;
mod methods;

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use emulated::{EmulatedChip, has_compiler};
use methods::{METHODS, doubles};
use mmascope_cuda::chip::{Argument, Chip};
use mmascope_cuda::engine::{CudaEngine, Doubles, Lines};
use mmascope_cuda::gpu::Gpu;
use mmascope_gemm::array::Words;
use mmascope_gemm::engine::{Engine, Watch};
use mmascope_gemm::gemm::{Matrices, Matrix, Product, Schedule};
use mmascope_lab::cases::{Family, Generator};
use mmascope_model::dpa::{Modifiers, Program, Signature, Unit};
use mmascope_model::format::Format;
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

/// All combinations of the ends of the formats of a, b and c, each product of an output the same.
fn ends(unit: &Unit, steps: usize) -> Matrices {
    let signature = unit.signature();
    let codes = |format: &Format| {
        let (mask, sign) = (format.mask(), 1 << (format.bits - 1));
        let codes = match format.float() {
            Some(float) => {
                let normal = 1 << float.fraction_bits;
                let [most, least] = [false, true].map(|negative| format.max_finite(negative));
                vec![
                    0,
                    format.zero(true),
                    most,
                    least,
                    1,
                    normal,
                    (normal + 1) | sign,
                ]
            }
            None => vec![0, 1, mask / 2, mask / 2 + 1, mask],
        };
        codes
            .into_iter()
            .map(|code| format.to_register(code & mask))
            .collect::<Vec<_>>()
    };
    let [a, b, c] = [signature.a, signature.b, signature.c].map(|format| codes(&format));
    let (m, k) = (a.len() * c.len(), steps * signature.k);
    let matrix = |rows, columns, format, of: &dyn Fn(usize, usize) -> u64| {
        let words = (0..rows * columns).map(|at| of(at / columns, at % columns));
        let words = Words::of(format, words.collect::<Vec<_>>()).expect("words");
        Matrix::row_major(rows, columns, words).expect("a matrix")
    };
    let of_a = matrix(m, k, &signature.a, &|i, _| a[i % a.len()]);
    let of_b = matrix(k, b.len(), &signature.b, &|_, j| b[j]);
    let of_c = matrix(m, b.len(), &signature.c, &|i, _| c[i / a.len()]);
    let matrices = Matrices::new(of_a, of_b).expect("operands");
    matrices.with_c(of_c).expect("operands")
}

/// How many outputs were compared; else what differs.
fn compare(name: &str, engine: &dyn Engine, unit: &Unit, outputs: usize) -> Result<usize, String> {
    let families: Vec<Family> = Family::ALL
        .into_iter()
        .filter(|family| {
            *family != Family::Exhaustive && Generator::for_unit(*family, 1, unit).is_ok()
        })
        .collect();
    let modified = Modifiers {
        negate_a: unit.signature().a.float().is_some(),
        negate_c: unit.signature().c.float().is_some(),
        ..Modifiers::default()
    };
    let is_chain = unit.signature().c == unit.signature().d
        && unit.check_chain(2 * unit.signature().k).is_ok();
    let steps = if is_chain { 2 } else { 1 };
    let mut done = 0;
    if unit.signature().scale.is_none() {
        let what = format!("{name}, ends");
        done += same(
            &what,
            engine,
            unit,
            &ends(unit, steps),
            Modifiers::default(),
        )?;
    }
    let side = if outputs > 10_000 { 64 } else { 16 };
    for turn in 0.. {
        if done >= outputs {
            break;
        }
        let family = families[turn % families.len()];
        let size = [side + turn % 3, side - 3, steps];
        let matrices = matrices(unit, family, size, turn as u64);
        let modifiers = if turn % 4 == 3 {
            modified
        } else {
            Modifiers::default()
        };
        let what = format!("{name}, {family}, turn {turn}");
        done += same(&what, engine, unit, &matrices, modifiers)?;
    }
    Ok(done)
}

/// How many outputs of a product are those of the reference; else which is not.
fn same(
    what: &str,
    engine: &dyn Engine,
    unit: &Unit,
    matrices: &Matrices,
    modifiers: Modifiers,
) -> Result<usize, String> {
    let reference = Product::by_reference(unit, matrices, modifiers).expect("a product");
    let product = Product::with_engine(unit, matrices, modifiers, engine).expect("a product");
    assert!(!product.is_by_reference(), "{what}: {:?}", product.reason());
    let run = |product: &Product<'_>| {
        let d = Schedule::default().run(product, None, &watch());
        d.expect("a product").to_vec()
    };
    let (expected, got) = (run(&reference), run(&product));
    for (at, (got, expected)) in got.iter().zip(&expected).enumerate() {
        if !unit.agrees(*expected, *got) {
            return Err(format!(
                "{what}, output {at}: {got:x}, the reference {expected:x}"
            ));
        }
    }
    Ok(got.len())
}

fn number(name: &str, otherwise: usize) -> usize {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
        .max(1)
}

/// Units of every method, and some others.
#[test]
fn products_have_the_bits_of_the_reference() {
    if !has_compiler() {
        return;
    }
    let mut wrong = Vec::new();
    // Some units are there for two methods.
    let rows: BTreeMap<_, _> = METHODS
        .iter()
        .map(|(arch, name, called, _)| ((*arch, *name), *called))
        .collect();
    for ((arch, name), called) in rows {
        let row = Catalogue::built_in().find(arch, name).expect("a row");
        let unit = row.unit().expect("a unit");
        // Places that a sum keeps where c comes late show in few outputs.
        let outputs = match called {
            "c late" | "even and of odd k" => 20_000,
            _ => 2_000,
        };
        wrong.extend(one_unit(&format!("{arch} {name}"), unit, outputs).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    all_units(2_000, 101);
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

/// The units of the catalogue that differ, with the names of the first rows that have them.
fn different_units() -> Vec<(String, &'static Unit)> {
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
    units
}

fn all_units(outputs: usize, every: usize) {
    let units = different_units();
    let from = number("MMASCOPE_PROVE_FROM", 1) - 1;
    let mut picked: Vec<usize> = (from..units.len()).step_by(every).collect();
    // `MMASCOPE_PROVE_METHOD` takes the units whose method is called so, or a part of it.
    if let Ok(text) = std::env::var("MMASCOPE_PROVE_METHOD") {
        picked.retain(|at| {
            methods(units[*at].1)
                .iter()
                .any(|name| name.contains(&text))
        });
    }
    // A GPU has time for several; a chip in C++ takes this machine's processors itself.
    let workers = if on_gpu() { 12 } else { 1 };
    let next = AtomicUsize::new(0);
    let sums = Mutex::new((0, BTreeMap::new(), Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(&at) = picked.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (name, unit) = &units[at];
                    let done = one_unit(&format!("{at} {name}"), unit, outputs);
                    let mut sums = sums.lock().expect("no panic");
                    match done {
                        Ok(done) => sums.0 += done,
                        Err(what) => {
                            println!("{what}");
                            sums.2.push(what);
                        }
                    }
                    for method in methods(unit) {
                        *sums.1.entry(method).or_insert(0) += 1;
                    }
                }
            });
        }
    });
    let (done, by_method, wrong) = sums.into_inner().expect("no panic");
    println!("{} units of {}, {done} outputs", picked.len(), units.len());
    for (method, count) in &by_method {
        println!("{count} units: {method}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A part of them may have none that is fast.
    assert!(done > 0 && (by_method.len() > 1 || from > 0 || picked.len() < 10));
}

/// What each kind of engine says that it computes a unit by.
fn methods(unit: &Unit) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for engine in engines() {
        let plan = engine.plan(unit);
        let name = plan.map_or_else(
            |reason| format!("no source: {reason}"),
            |plan| plan.to_string(),
        );
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// With all fast methods, as on a chip whose f64 is slow, and without.
fn engines() -> [CudaEngine; 3] {
    let engine = || CudaEngine::new("cuda:0", chip());
    [
        engine().with_doubles(Doubles::Full),
        engine().with_doubles(Doubles::Slow),
        engine().in_integers(),
    ]
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

/// How many outputs were compared, by each method that the unit has.
fn one_unit(name: &str, unit: &Unit, outputs: usize) -> Result<usize, String> {
    let (mut done, mut seen) = (0, Vec::new());
    for engine in engines() {
        let plan = match engine.plan(unit) {
            Ok(plan) => plan.to_string(),
            Err(reason) => {
                println!("{name}: no source: {reason}");
                return Ok(0);
            }
        };
        if seen.contains(&plan) {
            continue;
        }
        // Behind a fast method the integers are held to less.
        let share = if seen.is_empty() || !plan.contains("in integers") {
            1
        } else {
            4
        };
        done += compare(&format!("{name}: {plan}"), &engine, unit, outputs / share)?;
        seen.push(plan);
    }
    if outputs >= 100_000 {
        println!(
            "{name}: {done} outputs equal the reference; {}",
            seen.join("; ")
        );
    }
    Ok(done)
}

/// Of ordinary data the fast methods leave nothing or little to the integers, and of what is not finite all that it is in.
#[test]
fn fast_methods_compute_ordinary_outputs() {
    if !has_compiler() {
        return;
    }
    for (arch, name, called, _) in METHODS {
        let row = Catalogue::built_in().find(arch, name).expect("a row");
        let unit = row.unit().expect("a unit");
        let engine = CudaEngine::new("cuda:0", chip()).with_doubles(doubles(called));
        let method = engine.method(unit).expect("a fast method");
        assert!(method.contains(called), "{arch} {name}: {method}");
        let generator = Generator::for_unit(Family::Normal, 7, unit).expect("a generator");
        let (side, steps, k) = (20, 3, unit.signature().k);
        let is_float = unit.signature().a.float().is_some();
        for with_nan in [false, true].into_iter().take(if is_float { 2 } else { 1 }) {
            let mut loaded = engine.program(unit).expect("a program");
            let mut lines = |format: &Format, of_b: bool| {
                let bytes = (format.register.bits.div_ceil(8) as usize).next_power_of_two();
                let cases = (0..side * steps).map(|at| generator.case(at as u64));
                let mut words: Vec<u64> = cases
                    .flat_map(|case| if of_b { case.b } else { case.a })
                    .collect();
                if with_nan && !of_b {
                    words[5 * steps * k + k + 1] = format.to_register(format.nan_or_substitute());
                }
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
            let operands = [
                lines(&unit.signature().a, false),
                lines(&unit.signature().b, true),
            ];
            let d = loaded.allocate(side * side * 8).expect("memory");
            let mut product = engine
                .on_chip(loaded, unit, operands, steps)
                .expect("a product");
            product
                .run(Argument::Memory(d), &watch())
                .expect("computed");
            let marked = product
                .left_to_integers()
                .expect("read")
                .expect("a fast method");
            // What is kept of the largest exponents may be one for four rows; an exact sum may be in doubt.
            let least = if with_nan { side } else { 0 };
            assert!(
                (least..=least * 4 + 8).contains(&marked),
                "{arch} {name}, {method}: {marked} of {}",
                side * side
            );
        }
    }
}

/// How many units have which method; every one is had by some.
#[test]
fn units_of_every_method() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for unit in different_units().iter().map(|(_, unit)| unit) {
        for method in methods(unit) {
            *counts.entry(method).or_insert(0) += 1;
        }
    }
    for (method, count) in &counts {
        println!("{count} units: {method}");
    }
    for (_, _, called, _) in METHODS {
        assert!(
            counts.keys().any(|method| method.contains(called)),
            "{called}"
        );
    }
}

/// Parts of D that a schedule takes begin anywhere, and steps too: a unit of every kernel, with several tiles of rows and columns.
#[test]
fn parts_begin_anywhere() {
    if !has_compiler() {
        return;
    }
    let mut wrong = Vec::new();
    for (arch, inst, called, _) in METHODS {
        let row = Catalogue::built_in().find(arch, inst).expect("a row");
        let unit = row.unit().expect("a unit");
        if unit.check_chain(4 * unit.signature().k).is_err() {
            continue;
        }
        let matrices = matrices(unit, Family::Close, [131, 137, 4], 5);
        let engine = CudaEngine::new("cuda:0", chip()).with_doubles(doubles(called));
        let modifiers = Modifiers::default();
        let reference = Product::by_reference(unit, &matrices, modifiers).expect("a product");
        let product = Product::with_engine(unit, &matrices, modifiers, &engine).expect("a product");
        // Integers of 32 bits are numbers of f64, too.
        let sums = match unit.signature().c.float() {
            Some(_) => "f32",
            None => "f64",
        };
        // Steps in two parts; tiles whose rows and columns begin beside multiples of what is copied at once.
        for schedule in [
            format!("split-k=2 reduce=pairwise/{sums}"),
            format!("stream-k=7 tile=67x51 iteration=1 reduce=ascending/{sums}"),
        ] {
            let schedule: Schedule = schedule.parse().expect("a schedule");
            let run = |product: &Product<'_>| {
                let d = schedule.run(product, None, &watch()).expect("a product");
                d.to_vec()
            };
            let what = format!("{arch} {inst}: {called}, {schedule}");
            if run(&product) != run(&reference) {
                wrong.push(what);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is asked of products of two numbers and a c: architecture, instruction, the numbers' codes, c.
fn directed(engine: &CudaEngine, arch: &str, name: &str, [a, b]: [u64; 2], c: u64) {
    let row = Catalogue::built_in().find(arch, name).expect("a row");
    let unit = row.unit().expect("a unit");
    let signature = unit.signature();
    let all = |rows: usize, columns: usize, format, word| {
        let words = Words::of(format, vec![word; rows * columns]).expect("words");
        Matrix::row_major(rows, columns, words).expect("a matrix")
    };
    let of_a = all(4, signature.k, &signature.a, a);
    let of_b = all(signature.k, 4, &signature.b, b);
    let matrices = Matrices::new(of_a, of_b).expect("operands");
    let of_c = all(4, 4, &signature.c, c);
    let matrices = matrices.with_c(of_c).expect("operands");
    let what = format!("{arch} {name}, {a:x} {b:x} {c:x}");
    let same = same(&what, engine, unit, &matrices, Modifiers::default());
    same.unwrap_or_else(|what| panic!("{what}"));
}

/// A c below the normal numbers of f32 stays what it is beside products of zeros, where sums are in f32 and elsewhere.
#[test]
fn a_subnormal_c_stays() {
    if !has_compiler() {
        return;
    }
    let engine = CudaEngine::new("cuda:0", chip());
    for (arch, name) in [
        ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"),
        ("ada", "mma.m16n8k32.f32.e5m2.e5m2.f32"),
        ("hopper", "mma.m16n8k16.f32.f16.f16.f32"),
    ] {
        for c in [
            0x0020_0000,
            0x8000_0001,
            0x007f_ffff,
            0x0080_0000,
            0x2180_0000,
        ] {
            directed(&engine, arch, name, [0, 0], c);
        }
    }
}

/// By conversions, a sum that 32 bits do not hold is left to the integers.
#[test]
fn sums_beyond_32_bits() {
    if !has_compiler() {
        return;
    }
    let engine = CudaEngine::new("cuda:0", chip()).with_doubles(Doubles::Slow);
    // Sixteen times the largest product, and a c of its size with each sign.
    for (a, c) in [
        (0x7bff, 0x4eff_ffff),
        (0xfbff, 0xceff_ffff),
        (0x7bff, 0xceff_ffff),
    ] {
        let name = "mma.m16n8k16.f32.f16.f16.f32";
        directed(&engine, "hopper", name, [a, 0x7bff], c);
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
        // A value between statements whose subnormal numbers have an exponent of their own.
        "a=f16 b=f16 c=f16 d=f16 k=8 : t = t-fdpa L=4 F=12 e0=-40 over k=0..3 -> rne f16 ; \
         d = t-fdpa L=4 F=12 e0=-40 over k=4..7 from t -> rne f16",
        "a=bf16 b=bf16 c=f32 d=f32 k=4 : ftz-addmul P=2 flush-in=kept -> rne f32",
        "a=f32 b=f32 c=f32 d=f32 k=4 : e-fdpa L=4 -> rne f32",
        "a=e5m2 b=e5m2 c=f32 d=f32 k=8 : gtr-fdpa L=4 F=24 F2=28 -> rne f32",
        // What f32 has no room for, since A's nudge is a unit of the grid there; ties that go another way; blocks of two lengths.
        "a=e4m3 b=e4m3 c=f32 d=f32 k=4 : t-fdpa L=1 F=19 e0=-133 -> rz f32",
        "a=f32 b=f32 c=f32 d=f32 k=1 : fma-chain -> rna f32",
        "a=bf16 b=bf16 c=f32 d=f32 k=1 : t-fdpa L=1 F=13 e0=-133 as f64 -> rz f32",
        "a=f16 b=f16 c=f32 d=f32 k=12 : t = t-fdpa L=8 F=24 e0=-132 over k=0..3 -> rz f32 ; \
         d = t-fdpa L=8 F=24 e0=-132 over k=4..11 from t -> rz f32",
        "a=f16 b=f16 c=f32 d=f32 k=19 : t = e-fdpa L=3 over k=0..2 -> rne f32 ; \
         d = e-fdpa L=4 over k=3..18 from t -> rne f32",
        "a=f16 b=f16 c=f32 d=f32 k=19 : t = e-fdpa L=4 over k=0..2 -> rne f32 ; \
         d = e-fdpa L=4 over k=3..18 from t -> rne f32",
        "a=f16 b=f16 c=f32 d=f32 k=8 : fused L=8 F=24 grid=products -> rz f32",
        // Blocks that shared memory holds in two parts, and several of which lie in one that they do not fill.
        "a=f16 b=f16 c=f32 d=f32 k=24 : t-fdpa L=24 F=25 e0=-133 -> rz f32",
        "a=bf16 b=bf16 c=f32 d=f32 k=31 : t-fdpa L=31 F=24 e0=-133 -> rz f32",
        "a=e4m3 b=e4m3 c=f32 d=f32 k=20 : t-fdpa L=20 F=13 e0=-133 -> rz f32",
        "a=f16 b=f16 c=f32 d=f32 k=15 : t-fdpa L=3 F=24 e0=-133 -> rne f32",
        "a=e5m2 b=e5m2 c=f16 d=f16 k=24 : t-fdpa L=12 F=20 e0=-133 -> rne f16",
        "a=e4m3 b=e4m3 c=f32 d=f32 k=10 : t-fdpa L=5 F=13 e0=-133 -> rz f32",
        // c late: results that keep hardly more places than they have, fewer, or many.
        "a=bf16 b=bf16 c=f32 d=f32 k=8 : tr-fdpa L=4 F=20 F2=20 -> rne f32",
        "a=bf16 b=bf16 c=f32 d=f32 k=8 : tr-fdpa L=8 F=22 F2=23 -> rne f32",
        "a=f16 b=f16 c=f32 d=f32 k=5 : tr-fdpa L=5 F=24 F2=24 -> rne f32",
        "a=bf16 b=bf16 c=f32 d=f32 k=8 : tr-fdpa L=8 F=24 F2=40 -> rne f32",
        "a=bf16 b=bf16 c=f32 d=f32 k=8 : gtr-fdpa L=8 F=22 F2=24 -> rne f32",
        // Numbers of one format read as those of another, whose smallest normal number is 1.
        "a=e2m1 b=e2m1 c=f32 d=f32 k=8 : t-fdpa L=8 F=25 e0=-133 as e2m3 -> rz f32",
    ] {
        let (signature, program) = text.split_once(" : ").expect("two parts");
        let signature: Signature = signature.parse().expect("a signature");
        let program: Program = program.parse().expect("a program");
        let unit = Unit::new(signature, program).expect("a unit");
        one_unit(text, &unit, 2_000).unwrap_or_else(|what| panic!("{what}"));
    }
}
