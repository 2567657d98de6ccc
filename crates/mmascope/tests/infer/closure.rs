//! infer(model(row)) is that row, or one that nothing tells apart from it.

use crate::honest::rejections_are_answers_of;
use mmascope::cases::Family;
use mmascope::discriminate::{DiscriminatingLine, discriminate};
use mmascope::dpa::{Modifiers, Program, Signature, Unit};
use mmascope::dut::{Dut, ModelDut};
use mmascope::infer::{Found, Inference, InferenceOptions, Outcome, infer};
use mmascope::isa::Catalogue;
use mmascope::validate::{State, ValidationPlan, validate};

/// The different units of the catalogue, with a name each.
pub(crate) fn units() -> Vec<(String, Unit)> {
    let mut seen: Vec<(Signature, Program)> = Vec::new();
    let mut found = Vec::new();
    for row in Catalogue::built_in().instructions() {
        let Ok(unit) = row.unit() else { continue };
        let key = (*unit.signature(), unit.program().clone());
        if !seen.contains(&key) {
            seen.push(key);
            found.push((format!("{}:{}", row.architecture, row.name), unit.clone()));
        }
    }
    found
}

pub(crate) fn closes(name: &str, unit: &Unit, inference: &Inference) -> Result<(), String> {
    let Outcome::Model(model) = &inference.outcome else {
        return Err(format!("{name}: {:?}", inference.outcome));
    };
    if !model.equivalent.iter().any(|row| row == name) {
        return Err(format!(
            "{name}: {} found for {}; equivalent: {:?}",
            model.program,
            unit.program(),
            model.equivalent
        ));
    }
    Ok(())
}

/// Parameters of the row that the model gives another value without saying that it is open. Where the
/// programs have other statements or steps, their words cannot be compared, and that they are
/// equivalent is all that is stated.
fn wrongly_certain(unit: &Unit, model: &Found) -> Vec<String> {
    let (wanted, stated) = (unit.program().to_string(), model.program.to_string());
    let names = |text: &str| -> Vec<String> {
        let words = text
            .split_whitespace()
            .filter(|word| !word.starts_with("nan="));
        words
            .map(|word| word.split('=').next().unwrap_or("").to_owned())
            .collect()
    };
    if names(&wanted) != names(&stated) {
        return Vec::new();
    }
    let pairs = wanted.split_whitespace().zip(stated.split_whitespace());
    let different = pairs.filter(|(wanted, stated)| wanted != stated);
    different
        .filter_map(|(wanted, stated)| {
            let (name, _) = wanted.split_once('=')?;
            let open = model.unobservable.iter().any(|open| open.parameter == name);
            (!open && name != "nan")
                .then(|| format!("{stated} is stated as certain; the row has {wanted}"))
        })
        .collect()
}

/// Most questions and seconds of a unit that the project aims at, for 95 of 100 units.
const AIM: (u64, f64) = (20_000, 2.0);

/// Seconds that this process's threads have run, where the system tells.
fn busy() -> Option<f64> {
    let mut total = 0.0;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        total += text.split(' ').next()?.parse::<f64>().ok()? / 1e9;
    }
    Some(total)
}

/// What is found, and the seconds that it took: a busy machine's clock says little, so the processor's, where
/// they are known. (Those of tests beside it too: run proofs alone.)
pub(crate) fn inferred(device: &mut dyn Dut) -> (Inference, f64) {
    let begun = busy();
    let inference = infer(
        device,
        Some(Catalogue::built_in()),
        &InferenceOptions::default(),
    );
    let inference = inference.expect("answers");
    let seconds = begun
        .zip(busy())
        .map_or(inference.seconds, |(from, to)| to - from);
    (inference, seconds)
}

/// Infers every unit given. Prints a line of the table in `docs/measured/closure.md` for each as soon as it is
/// there, failures at once, and the shares that keep to the aim.
fn close(units: &[&(String, Unit)]) {
    let mut failures = Vec::new();
    let mut times: Vec<(f64, u64, &str)> = Vec::new();
    println!("| unit | arithmetic | queries | seconds | equivalent rows | unobservable |");
    println!("|---|---|---|---|---|---|");
    for (name, unit) in units {
        let mut device = ModelDut::new("a black box", unit.clone());
        let (inference, seconds) = inferred(&mut device);
        times.push((seconds, inference.queries, name));
        if let Err(failure) = closes(name, unit, &inference) {
            println!("FAILED {failure}");
            failures.push(failure);
        }
        if let Outcome::Model(model) = &inference.outcome {
            for wrong in wrongly_certain(unit, model) {
                println!("FAILED {name}: {wrong}");
                failures.push(format!("{name}: {wrong}"));
            }
            let open: Vec<String> = model
                .unobservable
                .iter()
                .map(|open| format!("{}: {}", open.parameter, open.values.join(" ")))
                .collect();
            println!(
                "| {name} | `{}` | {} | {:.2} | {} | {} |",
                unit.program().to_string().replace('\n', "; "),
                inference.queries,
                seconds,
                model.equivalent.len(),
                open.join("; ")
            );
        }
    }
    times.sort_by(|x, y| x.0.total_cmp(&y.0));
    let at = |share: usize| &times[(times.len() - 1) * share / 100];
    let share = |fits: &dyn Fn(&(f64, u64, &str)) -> bool| {
        100.0 * times.iter().filter(|time| fits(time)).count() as f64 / times.len() as f64
    };
    println!(
        "{} units: median {:.2} s, 95 % within {:.2} s, slowest {:.2} s ({}); at most {} queries; \
         {:.1} % within {} queries, {:.1} % within {} s",
        times.len(),
        at(50).0,
        at(95).0,
        at(100).0,
        at(100).2,
        times.iter().map(|time| time.1).max().unwrap_or(0),
        share(&|time| time.1 <= AIM.0),
        AIM.0,
        share(&|time| time.0 <= AIM.1),
        AIM.1,
    );
    assert!(
        failures.is_empty(),
        "{}\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn a_part_of_the_catalogue_closes() {
    let units = units();
    close(&units.iter().step_by(9).collect::<Vec<_>>());
}

/// What is found of units where no row of the catalogue is known: prints a line for each, and compares what is found
/// with the unit on fresh inputs of every family. A unit that is stated wrongly fails; one that is not found is counted.
fn close_alone(units: &[&(String, Unit)]) -> usize {
    let (mut found, mut wrong) = (0, Vec::new());
    println!("| unit | arithmetic | found | queries | seconds | result |");
    println!("|---|---|---|---|---|---|");
    let budget = std::env::var("MMASCOPE_PROVE_BUDGET").ok();
    let budget = budget.map(|text| text.parse().expect("MMASCOPE_PROVE_BUDGET is a number"));
    let default = InferenceOptions::default();
    let options = InferenceOptions {
        budget: budget.unwrap_or(default.budget),
        ..default
    };
    for (name, unit) in units {
        let mut device = ModelDut::new("a black box", unit.clone());
        let begun = busy();
        let inference = infer(&mut device, None, &options).expect("answers");
        let seconds = begun
            .zip(busy())
            .map_or(inference.seconds, |(from, to)| to - from);
        let (program, result) = match &inference.outcome {
            Outcome::Model(model) => {
                let other = Unit::new(*unit.signature(), model.program.clone()).expect("a unit");
                let count = differences(&other, unit);
                if count > 0 {
                    wrong.push(format!("{name}: {count} of {FRESH}: {}", model.program));
                }
                found += usize::from(count == 0);
                (
                    model.program.to_string(),
                    format!("{count} of {FRESH} fresh outputs differ"),
                )
            }
            Outcome::NoModel { agreeing, .. } => (
                String::new(),
                format!("not found: {:.2} % agree", 100.0 * agreeing),
            ),
            other => (String::new(), format!("{other:?}")),
        };
        println!(
            "| {name} | `{}` | `{}` | {} | {seconds:.2} | {result} |",
            unit.program().to_string().replace('\n', "; "),
            program.replace('\n', "; "),
            inference.queries,
        );
    }
    println!(
        "{found} of {} units found, {} stated wrongly",
        units.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    found
}

/// Fresh inputs with which a model is compared that was found without the catalogue.
const FRESH: u64 = 20_000;

/// How many of the unit's answers to these fresh inputs, and to inputs that separate either from its neighbours, are not what was found
/// says: any NaN is, where it says `nan=any`.
fn differences(found: &Unit, unit: &Unit) -> u64 {
    let separating = [found, unit].map(|own| match own.signature().a.float() {
        Some(_) => discriminate(own, 5).expect("vectors").lines,
        // Sums of integers have no neighbours.
        None => Vec::new(),
    });
    let differs = |line: &DiscriminatingLine| {
        let word = |unit: &Unit| unit.dot(&line.case.operands(), &Modifiers::default());
        !found.agrees(
            word(found).expect("computes"),
            word(unit).expect("computes"),
        )
    };
    let lines = separating.iter().flatten();
    let separated = lines.filter(|line| differs(line)).count() as u64;
    let plan = ValidationPlan {
        families: Family::ALL.to_vec(),
        seed: 20_261_127,
    };
    let mut state = State::new(&plan, found).expect("families");
    let mut device = ModelDut::new("a black box", unit.clone());
    validate(&mut device, found, &mut state, FRESH, &mut |_| true).expect("answers");
    separated + state.mismatches()
}

/// A sample of the catalogue up to Tensix, whose steps rows alone propose, and units of the kinds that were missed once: c of
/// f16 and operands of fp8 that are widened first.
#[test]
fn a_part_of_the_catalogue_is_found_without_it() {
    let units = units();
    let once_missed = [
        "turing:wmma.m16n16k16.f32.f16.f16.f16",
        "hopper:mma.m16n8k32.f32.e5m2.e4m3.f32",
        "hopper:mma.m16n8k32.f32.e4m3.e5m2.f32",
        "hopper:mma.m16n8k16.f16.e4m3.e5m2.f16",
    ];
    let is_tensix = |unit: &(String, Unit)| unit.1.program().to_string().contains("gr-fdpa");
    let before = units.iter().take_while(|unit| !is_tensix(unit));
    let some = before.step_by(41);
    let missed = units
        .iter()
        .filter(|(name, _)| once_missed.contains(&&**name));
    let chosen: Vec<_> = some.chain(missed).collect();
    let found = close_alone(&chosen);
    assert_eq!(found, chosen.len());
}

/// Sums with bits of their own (F2): an alignment with as many bits differs where the sum carries or borrows, one output in 10⁵. With
/// these seeds it was once stated in their place.
#[test]
fn bits_of_the_sum_are_told_from_those_of_the_alignment() {
    let units = units();
    for (name, seed) in [
        ("cdna3:v_mfma_f32_32x32x4_2b_bf16", 1),
        ("cdna3:v_mfma_f32_16x16x8_xf32", 5),
    ] {
        let (_, unit) = units.iter().find(|own| own.0 == name).expect("a row");
        let mut device = ModelDut::new("a black box", unit.clone());
        let options = InferenceOptions {
            seed,
            ..InferenceOptions::default()
        };
        let inference = infer(&mut device, None, &options).expect("answers");
        let Outcome::Model(model) = &inference.outcome else {
            panic!("{name}: {:?}", inference.outcome);
        };
        let text = model.program.to_string();
        assert!(text.starts_with("tr-fdpa L=4 F=24 F2=31"), "{name}: {text}");
    }
}

/// Checks the model that 2,000 queries give for a unit of the catalogue whose row is not known. Returns the number of queries.
fn with_few_queries(name: &str) -> u64 {
    let units = units();
    let (_, unit) = units.iter().find(|own| own.0 == name).expect("a row");
    let mut device = ModelDut::new("a black box", unit.clone());
    let options = InferenceOptions {
        budget: 2_000,
        ..InferenceOptions::default()
    };
    let inference = infer(&mut device, None, &options).expect("answers");
    let Outcome::Model(model) = inference.outcome else {
        panic!("{name}: {:?}", inference.outcome);
    };
    assert_eq!(differences(&model.unit, unit), 0, "{name}");
    inference.queries
}

/// A second rounding was stated as one, and widened operands as normalised products: 1 and 2 of 20,000 outputs differed.
#[test]
fn few_queries_tell_a_second_rounding_and_widened_operands() {
    with_few_queries("volta:wmma.m16n16k16.f16.f16.f16.f32");
    with_few_queries("hopper:mma.m16n8k32.f16.e4m3.e5m2.f16");
}

/// Masks over these sums would take more than a quarter of the budget, up to 13,000 queries: k's own order comes before them.
#[test]
fn long_sums_in_order_need_no_masks() {
    for name in [
        "blackwell:tcgen05.mma.m128n8k32.kind::f8f6f4.f32.e3m2.e2m1",
        "blackwell:tcgen05.mma.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
        "riscv:vfqwbdota.vv.vlen256.e5m2",
    ] {
        let queries = with_few_queries(name);
        assert!(queries <= 2_000, "{name}: {queries}");
    }
}

/// Devices that subtract products, c or both are inferred as the sums that they are beside signs.
#[test]
fn devices_that_subtract_are_found_without_the_catalogue() {
    let units = units();
    let subtracts = |unit: &Unit| unit.program().to_string().contains("negate");
    let chosen: Vec<_> = (units.iter()).filter(|(_, unit)| subtracts(unit)).collect();
    assert!(chosen.len() >= 12, "{}", chosen.len());
    for (name, unit) in &chosen {
        let mut device = ModelDut::new("a black box", unit.clone());
        let inference = infer(&mut device, None, &InferenceOptions::default()).expect("answers");
        let Outcome::Model(model) = inference.outcome else {
            panic!("{name}: {:?}", inference.outcome);
        };
        assert!(model.program.to_string().contains("negate"), "{name}");
        assert_eq!(differences(&model.unit, unit), 0, "{name}");
        rejections_are_answers_of(&model);
    }
}

/// `cargo xtask prove infer`; `MMASCOPE_PROVE_UNITS=TEXT,…` takes the units with a TEXT in their names,
/// `MMASCOPE_PROVE_EVERY=N` every Nth. With `MMASCOPE_PROVE_ALONE=1` no row of the catalogue is known to the search.
#[test]
#[ignore = "minutes: cargo xtask prove infer"]
fn prove_infer() {
    let text = std::env::var("MMASCOPE_PROVE_UNITS").unwrap_or_default();
    let every = std::env::var("MMASCOPE_PROVE_EVERY").map_or(Ok(1), |every| every.parse());
    let every: usize = every.expect("MMASCOPE_PROVE_EVERY is a number");
    let units = units();
    let chosen = (units.iter()).filter(|(name, _)| text.split(',').any(|part| name.contains(part)));
    let chosen: Vec<_> = chosen.step_by(every.max(1)).collect();
    match std::env::var("MMASCOPE_PROVE_ALONE").is_ok_and(|value| value == "1") {
        true => {
            close_alone(&chosen);
        }
        false => close(&chosen),
    }
}
