//! Speed of `validate`: dot products a second on one thread, by family, against a device in this
//! process that computes by the reference and by the engine. Time of the processor. Behind `--`: a part
//! of the names of the families that are wanted.
#![allow(missing_docs)]

use std::time::Instant;

use mmascope::cases::Family;
use mmascope::dut::ModelDut;
use mmascope::isa::Catalogue;
use mmascope::validate::{State, ValidationPlan, validate};

const ROWS: [(&str, &str); 4] = [
    ("hopper", "mma.m16n8k16.f32.f16.f16.f32"),
    ("ampere", "mma.m16n8k16.f32.bf16.bf16.f32"),
    ("cdna3", "v_mfma_f32_16x16x16_f16"),
    ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"),
];
/// Seconds for each figure.
const SECONDS: f64 = 1.0;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a thread").install(run);
}

fn run() {
    let wanted = std::env::args().skip(1).find(|x| !x.starts_with('-'));
    println!("million dot products a second, one thread: device by the reference | by the engine");
    for (arch, inst) in ROWS {
        let row = Catalogue::built_in().find(arch, inst).expect("a row");
        let unit = row.unit().expect("a unit");
        println!("{arch}:{inst}");
        let each = Family::ALL.map(|family| (family.name(), vec![family]));
        let all = [("all families", Family::ALL.to_vec())];
        let each = each.into_iter().chain(all);
        for (name, families) in
            each.filter(|(name, _)| wanted.as_ref().is_none_or(|x| name.contains(x)))
        {
            let plan = ValidationPlan { families, seed: 1 };
            let Ok(fresh) = State::new(&plan, unit) else {
                continue;
            };
            let rate = |mut device: ModelDut| {
                let mut state = fresh.clone();
                // The single cases that come first are not measured.
                validate(&mut device, unit, &mut state, 40_000, &mut |_| true).expect("answers");
                let (before, begun, busy) = (state.trials(), Instant::now(), busy());
                let go_on = &mut |_: &State| begun.elapsed().as_secs_f64() < SECONDS;
                validate(&mut device, unit, &mut state, u64::MAX, go_on).expect("answers");
                assert_eq!(state.mismatches(), 0);
                (state.trials() - before) as f64 / (self::busy() - busy) / 1e6
            };
            let model = || ModelDut::new("model", unit.clone());
            let (reference, engine) = (rate(model().by_reference()), rate(model()));
            println!("  {name:12} {reference:8.2} | {engine:8.2}");
        }
    }
}

/// Seconds that the threads of this process have run.
fn busy() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux");
    tasks
        .filter_map(|task| {
            let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<f64>().ok()
        })
        .sum::<f64>()
        / 1e9
}
