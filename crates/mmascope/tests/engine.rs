//! The seam between products and engines: a third engine, written outside the library, is held to the reference;
//! what callers can ask before anything is computed; how many threads a product takes.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use mmascope::array::Words;
use mmascope::dpa::{Modifiers, Unit};
use mmascope::engine::{
    Dots, Elements, Engine, Layout, Plan, Prepared, Reason, Reference, Steps, Watch, WordsMut,
};
use mmascope::gemm::{self, Matrices, Matrix, Product, Schedule};
use mmascope::isa::Catalogue;
use mmascope::{Error, Result};

/// What the engine below has done.
#[derive(Debug, Default)]
struct Counts {
    prepared: AtomicUsize,
    /// Pieces of operands that it left to the reference.
    left: AtomicUsize,
    /// Outputs that it was not sure of.
    asked: AtomicUsize,
}

/// Chains of fused multiply-adds in f32, on the host's own floats: nothing else.
#[derive(Clone, Debug, Default)]
struct Host {
    counts: Arc<Counts>,
    /// It says that operands take a lot of memory, so that they are prepared by pieces.
    is_large: bool,
    /// It gives wrong bits.
    is_broken: bool,
    /// It has no memory.
    fails: bool,
}

#[derive(Debug)]
struct HostPlan {
    engine: Host,
    unit: Arc<Unit>,
}

#[derive(Debug)]
struct HostOperands {
    engine: Host,
    unit: Arc<Unit>,
    k: usize,
    /// Row after row, and column after column.
    a: Vec<f32>,
    b: Vec<f32>,
}

impl Engine for Host {
    fn name(&self) -> Cow<'static, str> {
        "host".into()
    }

    fn plan(&self, unit: &Unit) -> std::result::Result<Arc<dyn Plan>, Reason> {
        let program = unit.program().to_string();
        if program != "fma-chain -> rne f32" {
            return Err(Reason::new(format!("'{program}' is no chain in f32")));
        }
        Ok(Arc::new(HostPlan {
            engine: self.clone(),
            unit: Arc::new(unit.clone()),
        }))
    }
}

impl fmt::Display for HostPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the host's multiply-adds")
    }
}

impl Plan for HostPlan {
    fn unit(&self) -> &Unit {
        &self.unit
    }

    fn bytes(&self, rows: usize, columns: usize, _layout: Layout) -> usize {
        let step = 4 * self.unit.signature().k;
        if self.engine.is_large {
            1 << 40
        } else {
            (rows + columns) * step
        }
    }

    fn prepare(
        &self,
        elements: &dyn Elements,
        modifiers: &Modifiers,
        _layout: Layout,
    ) -> Result<Option<Box<dyn Prepared>>> {
        if self.engine.fails {
            return Err(Error::Argument("the host is out of memory".to_owned()));
        }
        let (m, n, k) = (elements.m(), elements.n(), elements.k());
        let mut words = vec![0_u64; (m + n) * k];
        let (a, b) = words.split_at_mut(m * k);
        for (i, row) in a.chunks_mut(k).enumerate() {
            elements.a_row(i, 0, row);
        }
        for (j, column) in b.chunks_mut(k).enumerate() {
            elements.b_column(j, 0, column);
        }
        let floats = |words: &[u64], negate: bool| -> Vec<f32> {
            let sign = u32::from(negate) << 31;
            let float = |word: &u64| f32::from_bits(*word as u32 ^ sign);
            words.iter().map(float).collect()
        };
        let operands = HostOperands {
            engine: self.engine.clone(),
            unit: Arc::clone(&self.unit),
            k,
            a: floats(a, modifiers.negate_a),
            b: floats(b, modifiers.negate_b),
        };
        let counts = &self.engine.counts;
        counts.prepared.fetch_add(1, Ordering::Relaxed);
        if operands.a.iter().any(|a| a.is_nan()) {
            counts.left.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        }
        Ok(Some(Box::new(operands)))
    }
}

impl Prepared for HostOperands {
    fn advance(
        &self,
        steps: &Steps<'_>,
        mut accumulators: WordsMut<'_>,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let mut dots = Dots::new(&self.unit, steps.elements, steps.modifiers);
        let k = self.unit.signature().k;
        let ks = steps.steps.start * k..steps.steps.end * k;
        let scaled = steps.first && steps.modifiers.scale_d != 0;
        for index in 0..accumulators.len() {
            watch.check()?;
            let i = steps.rows.start + index / steps.columns.len();
            let j = steps.columns.start + index % steps.columns.len();
            let given = accumulators.get(index);
            let mut c = f32::from_bits(given as u32);
            if steps.first {
                c = if steps.modifiers.no_c { 0.0 } else { c };
                c = if steps.modifiers.negate_c { -c } else { c };
            }
            let (a, b) = (&self.a[i * self.k..], &self.b[j * self.k..]);
            let sum = ks.clone().fold(c, |sum, k| a[k].mul_add(b[k], sum));
            let mut word = u64::from(sum.to_bits() ^ u32::from(self.engine.is_broken));
            if sum.is_nan() || scaled {
                // Which NaN it is, and what a scaled c is, the reference knows.
                self.engine.counts.asked.fetch_add(1, Ordering::Relaxed);
                word = given;
                for step in steps.steps.clone() {
                    let first = steps.first && step == steps.steps.start;
                    word = dots.step(i, j, step, first, word)?;
                }
            }
            accumulators.set(index, word);
        }
        (watch.progress)((accumulators.len() * steps.steps.len()) as u64);
        Ok(())
    }
}

static GO: AtomicBool = AtomicBool::new(false);

fn watch() -> Watch<'static> {
    Watch {
        progress: &|_| (),
        cancel: &GO,
    }
}

fn unit(arch: &str, inst: &str) -> &'static Unit {
    let row = Catalogue::built_in().find(arch, inst).expect("a row");
    row.unit().expect("a model")
}

fn chain_in_f32() -> &'static Unit {
    unit("cdna2", "v_mfma_f32_32x32x2_f32")
}

/// A small generator of words, any and those near 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 32) as u32
    }

    fn matrix(&mut self, [batch, rows, columns]: [usize; 3], any: bool) -> Matrix {
        const SPECIAL: [u32; 6] = [0, 1 << 31, 0x7f80_0000, 0xffc0_0001, 1, 0x0080_0001];
        let word = |_| match (any, self.next()) {
            (true, word) if word & 0xf0 == 0 => SPECIAL[self.next() as usize % SPECIAL.len()],
            (_, word) => word & 0x83ff_ffff | 0x3e00_0000,
        };
        let words: Vec<u32> = (0..batch * rows * columns).map(word).collect();
        Matrix::batched(batch, rows, columns, words).expect("a matrix")
    }

    fn operands(&mut self, [batch, m, n, k]: [usize; 4], any: bool) -> Matrices {
        let (a, b) = (
            self.matrix([batch, m, k], any),
            self.matrix([batch, k, n], any),
        );
        let matrices = Matrices::new(a, b).expect("operands");
        let c = self.matrix([batch, m, n], any);
        matrices.with_c(c).expect("operands")
    }
}

fn run(product: &Product<'_>, schedule: &str) -> Vec<u64> {
    let schedule: Schedule = schedule.parse().expect("a schedule");
    let d = schedule.run(product, None, &watch());
    d.expect("a product").to_vec()
}

#[test]
fn a_third_engine_has_the_bits_of_the_reference() {
    let unit = chain_in_f32();
    let mut random = Random(1);
    let modified = Modifiers {
        negate_a: true,
        negate_c: true,
        scale_d: -3,
        ..Modifiers::default()
    };
    let without_c = Modifiers {
        negate_b: true,
        no_c: true,
        ..Modifiers::default()
    };
    let counts = Arc::new(Counts::default());
    for (any, is_large) in [(false, false), (true, false), (false, true), (true, true)] {
        let engine = Host {
            counts: Arc::clone(&counts),
            is_large,
            ..Host::default()
        };
        for (schedule, modifiers) in [
            ("chain", Modifiers::default()),
            ("chain", modified),
            ("chain", without_c),
            ("split-k=3 reduce=pairwise/f32", Modifiers::default()),
        ] {
            let operands = random.operands([3, 9, 17, 12], any);
            let reference = Product::by_reference(unit, &operands, modifiers).expect("fits");
            let expected = run(&reference, schedule);
            let product = Product::with_engine(unit, &operands, modifiers, &engine).expect("fits");
            assert_eq!(product.is_packed(), !is_large);
            assert_eq!(
                run(&product, schedule),
                expected,
                "{schedule} {modifiers:?}"
            );
            let pieces = product.clone().in_pieces(1);
            assert_eq!(run(&pieces, schedule), expected, "{schedule} in pieces");
            // The comparison tells engines apart.
            let broken = Host {
                is_broken: true,
                ..engine.clone()
            };
            let product = Product::with_engine(unit, &operands, modifiers, &broken).expect("fits");
            assert!(any || modifiers.scale_d != 0 || run(&product, schedule) != expected);
        }
    }
    for count in [&counts.prepared, &counts.left, &counts.asked] {
        assert!(count.load(Ordering::Relaxed) > 0, "{counts:?}");
    }
}

#[test]
fn a_region_and_some_steps_reach_the_engine() {
    let unit = chain_in_f32();
    let operands = Random(5).operands([2, 9, 7, 12], false);
    let region = gemm::Region {
        batch: 1..2,
        rows: 3..8,
        columns: 2..7,
    };
    let run = |product: Product<'_>| {
        let mut sums = product.c(region.clone()).expect("a region");
        for (steps, first) in [(0..2, true), (2..3, false), (3..6, false)] {
            product
                .advance(steps, first, &mut sums, &watch())
                .expect("steps");
        }
        sums.into_words()
    };
    let none = Modifiers::default();
    let expected = run(Product::by_reference(unit, &operands, none).expect("fits"));
    for is_large in [false, true] {
        let engine = Host {
            is_large,
            ..Host::default()
        };
        let product = Product::with_engine(unit, &operands, none, &engine).expect("fits");
        assert_eq!(run(product), expected);
    }
}

#[test]
fn an_engine_says_why_it_does_not_carry_a_unit() {
    let halves = unit("hopper", "mma.m16n8k8.f32.f16.f16.f32");
    let zeros = || Matrix::row_major(8, 8, vec![0_u16; 64]).expect("a matrix");
    let operands = Matrices::new(zeros(), zeros()).expect("operands");
    let none = Modifiers::default();
    let product = Product::with_engine(halves, &operands, none, &Host::default()).expect("fits");
    assert!(product.is_by_reference());
    let reason = product.reason().expect("a reason").to_string();
    assert!(reason.ends_with("is no chain in f32"), "{reason}");
    assert_eq!(
        product.plan().to_string(),
        "the reference, output by output"
    );

    // The default engine, before there are operands, and with them.
    let engine = gemm::engine().expect("an engine");
    let rounds_up = unit("ampere", "mma.m8n8k4.rp.f64.f64.f64.f64");
    let operands = Matrices::new(
        Matrix::row_major(2, 4, vec![0_u64; 8]).expect("a matrix"),
        Matrix::row_major(4, 2, vec![0_u64; 8]).expect("a matrix"),
    )
    .expect("operands");
    let product = Product::new(rounds_up, &operands, none).expect("fits");
    assert!(product.is_by_reference());
    if cfg!(feature = "kernel") {
        let reason = engine.plan(rounds_up).expect_err("no kernel");
        assert!(reason.to_string().contains("to nearest even"), "{reason}");
        assert_eq!(product.reason(), Some(&reason));
        let plan = engine.plan(halves).expect("a kernel");
        assert!(
            !plan.is_reference() && plan.to_string().contains("fused sum"),
            "{plan}"
        );
    } else {
        assert_eq!(engine.name(), "reference");
        assert_eq!(product.reason(), None);
    }
    let plan = Reference.plan(rounds_up).expect("every unit");
    assert!(plan.is_reference());
}

#[test]
fn a_plan_of_another_unit_is_refused_and_failures_come_through() {
    let unit = chain_in_f32();
    let operands = Random(2).operands([1, 2, 2, 2], false);
    let none = Modifiers::default();
    let other = Reference.plan(self::unit("hopper", "mma.m16n8k8.f32.f16.f16.f32"));
    let other = other.expect("every unit");
    let error = Product::with_plan(unit, &operands, none, other).expect_err("another unit's");
    assert!(error.to_string().contains("another unit's"), "{error}");

    let failing = Host {
        fails: true,
        ..Host::default()
    };
    let error = Product::with_engine(unit, &operands, none, &failing).expect_err("no memory");
    assert!(error.to_string().contains("out of memory"), "{error}");
    // By pieces the operands are prepared later.
    let later = Host {
        is_large: true,
        ..failing
    };
    let product = Product::with_engine(unit, &operands, none, &later).expect("nothing is prepared");
    let mut sums = product.c(product.whole()).expect("memory");
    let error = product.advance(0..1, true, &mut sums, &watch());
    assert!(error.is_err_and(|error| error.to_string().contains("out of memory")));
}

/// The threads that report progress of a product, and its words.
fn threads_of(unit: &Unit, operands: &Matrices) -> (HashSet<ThreadId>, Words) {
    let seen = Mutex::new(HashSet::new());
    let progress = |_| {
        seen.lock()
            .expect("a set")
            .insert(std::thread::current().id());
    };
    let watch = Watch {
        progress: &progress,
        cancel: &GO,
    };
    let d = gemm::chain(unit, operands, &Modifiers::default(), &watch).expect("a product");
    (seen.into_inner().expect("a set"), d)
}

#[test]
fn a_caller_bounds_the_threads_of_a_whole_product() {
    let zeros = vec![0x3c00_u16; 300 * 64];
    let a = Matrix::row_major(300, 64, zeros.clone()).expect("a matrix");
    let b = Matrix::column_major(64, 300, zeros).expect("a matrix");
    let operands = Matrices::new(a, b).expect("operands");
    let unit = unit("hopper", "wgmma.m64n8k16.f32.f16.f16");
    let (_, expected) = threads_of(unit, &operands);
    for count in 1..4 {
        let bound = NonZeroUsize::new(count).expect("a number");
        let here = std::thread::current().id();
        let ran = gemm::on_threads(bound, || {
            assert_eq!(rayon::current_num_threads(), count);
            threads_of(unit, &operands)
        });
        let (seen, d) = ran.expect("threads");
        assert!((1..=count).contains(&seen.len()), "{seen:?}");
        assert!(!seen.contains(&here));
        assert_eq!(d, expected);
        // A pool of the caller's.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        let pool = pool.expect("threads");
        let own: HashSet<ThreadId> = pool
            .broadcast(|_| std::thread::current().id())
            .into_iter()
            .collect();
        let (seen, d) = pool.install(|| threads_of(unit, &operands));
        assert!(seen.is_subset(&own), "{seen:?} {own:?}");
        assert_eq!(d, expected);
    }
}
