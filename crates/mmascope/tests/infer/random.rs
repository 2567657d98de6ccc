//! Units drawn at random from the whole model space are recovered: examples/devices/unit.c, which shares
//! nothing with the library, is asked as a process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mmascope::cases::{Family, Generator, Hints};
use mmascope::discriminate::discriminate;
use mmascope::dpa::{Modifiers, Signature, Unit};
use mmascope::dut::{Batch, Dut, Interface, ProcessDut};
use mmascope::infer::{Found, Outcome};
use mmascope::vector::Answer;

use crate::closure::inferred;
use crate::drawn::Drawn;

/// Fresh inputs on which a model and its unit are compared, beside directed ones: in the tests, and in `prove drawn`.
const FRESH: usize = 20_000;
const FRESH_OF_PROOF: usize = 100_000;

/// The compiled unit.
struct Source {
    _folder: tempfile::TempDir,
    program: PathBuf,
}

impl Source {
    /// `None`, printed, without a compiler.
    fn compiled() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let program = folder.path().join("unit");
        let status = Command::new("cc")
            .args(["-O2", "-I"])
            .arg(root.join("crates/mmascope-host/include"))
            .args(["process.c", "unit.c"].map(|name| root.join("examples/devices").join(name)))
            .arg("-o")
            .arg(&program)
            .status();
        match status {
            Err(error) => {
                println!("skipped: no C compiler: {error}");
                None
            }
            Ok(status) => {
                assert!(status.success(), "the unit does not compile");
                Some(Self {
                    _folder: folder,
                    program,
                })
            }
        }
    }

    fn device(&self, unit: &Drawn, signature: &Signature) -> ProcessDut {
        let settings = format!("UNIT={}", unit.settings());
        let program = self.program.to_str().expect("a path");
        let command = shell_words::join(["env", &settings, program]);
        let interface = Interface::of_signature(*signature);
        ProcessDut::spawn(&command, interface, Duration::from_secs(120)).expect("starts")
    }
}

/// What became of a unit.
enum Verdict {
    Recovered,
    /// The model's bits are not the unit's.
    Wrong(String),
    Missed(String),
    /// The unit is no program of the notation: the drawing is at fault, or the notation.
    Outside(String),
}

/// How the answers of a device differ from those of units, on fresh inputs of every family around them and
/// on inputs that separate the units from their neighbours: for each unit how many do, and the first.
fn differences(
    device: &mut dyn Dut,
    units: &[&Unit],
    fresh: usize,
) -> Vec<(usize, Option<String>)> {
    let signature = *device.signature();
    let mut batch = Batch::new(signature);
    let families: Vec<Generator> = Family::ALL
        .into_iter()
        .flat_map(|family| {
            units.iter().map(move |unit| {
                Generator::new(family, 4711, unit.signature(), Hints::of_unit(unit))
            })
        })
        .flatten()
        .collect();
    let each = fresh.div_ceil(families.len());
    for generator in &families {
        for index in 0..each as u64 {
            // The pairs of `exhaustive` lie in order.
            let step = if generator.family() == Family::Exhaustive {
                977
            } else {
                1
            };
            batch
                .push(&generator.case(index * step).operands())
                .expect("fits");
        }
    }
    // What infer has not asked: inputs around the unit itself.
    if let Some(unit) = units.last() {
        for line in discriminate(unit, 5).expect("vectors").lines {
            batch.push(&line.case.operands()).expect("fits");
        }
    }
    let answers = device.run(&batch).expect("answers");
    let differs = |unit: &Unit| {
        let (mut count, mut first) = (0, None);
        for (index, answer) in answers.iter().enumerate() {
            let query = batch.query(index);
            let word = unit.dot(&query, &Modifiers::default()).expect("computes");
            let same = match *answer {
                Answer::Word(wanted) => unit.agrees(word, wanted),
                Answer::AnyNan => unit.is_nan(word),
            };
            if !same {
                count += 1;
                let example = || {
                    format!(
                        "device {answer}, model {word:x}: a={:x?} b={:x?} c={:x}",
                        query.a, query.b, query.c
                    )
                };
                first.get_or_insert_with(example);
            }
        }
        (count, first)
    };
    units.iter().map(|unit| differs(unit)).collect()
}

fn nearest(outcome: &Outcome) -> String {
    match outcome {
        Outcome::NoModel {
            nearest: Some(nearest),
            agreeing,
            example,
        } => format!("nearest ({agreeing:.4}) {nearest}: {example:x?}"),
        other => format!("{other:?}"),
    }
}

fn verdict(device: &mut dyn Dut, truth: Option<&Unit>, outcome: &Outcome, fresh: usize) -> Verdict {
    let model: Option<&Found> = match outcome {
        Outcome::Model(model) => Some(model),
        _ => None,
    };
    let units: Vec<&Unit> = model
        .map(|model| &model.unit)
        .into_iter()
        .chain(truth)
        .collect();
    let mut differences = differences(device, &units, fresh).into_iter();
    if model.is_some()
        && let Some((count, Some(first))) = differences.next()
    {
        return Verdict::Wrong(format!("{count} differ: {first}"));
    }
    match (model, truth.and(differences.next())) {
        (None, Some((_, None))) => Verdict::Missed(nearest(outcome)),
        (None, other) => Verdict::Outside(format!("{other:?}: {}", nearest(outcome))),
        (Some(_), _) => Verdict::Recovered,
    }
}

/// Infers the units of some seeds; gives those that are not as they should be.
fn recovered(seeds: impl Iterator<Item = u64>, fresh: usize) -> Vec<String> {
    recovered_units(
        seeds.map(|seed| (seed.to_string(), Drawn::new(seed))),
        fresh,
    )
}

/// The same of units with a name each.
fn recovered_units(units: impl Iterator<Item = (String, Drawn)>, fresh: usize) -> Vec<String> {
    let Some(source) = Source::compiled() else {
        return Vec::new();
    };
    let mut failures = Vec::new();
    let mut times = Vec::new();
    let (mut recovered, mut most) = (0, 0);
    for (seed, unit) in units {
        let signature: Signature = unit.signature().parse().expect("a signature");
        let truth = unit
            .program()
            .parse()
            .and_then(|program| Unit::new(signature, program));
        let mut device = source.device(&unit, &signature);
        let (inference, seconds) = inferred(&mut device);
        times.push(seconds);
        most = most.max(inference.queries);
        let verdict = match &truth {
            Err(error) => Verdict::Outside(error.to_string()),
            Ok(truth) => verdict(&mut device, Some(truth), &inference.outcome, fresh),
        };
        let (word, text) = match verdict {
            Verdict::Recovered => ("recovered", String::new()),
            Verdict::Wrong(text) => ("WRONG", text),
            Verdict::Missed(text) => ("MISSED", text),
            Verdict::Outside(text) => ("OUTSIDE", text),
        };
        println!(
            "{seed}: {word}, {} queries, {seconds:.2} s",
            inference.queries
        );
        println!("    unit  {}", unit.settings());
        println!("    is    {}", unit.program());
        if let Outcome::Model(model) = &inference.outcome {
            println!("    found {}", model.program);
        }
        if text.is_empty() {
            recovered += 1;
        } else {
            println!("    {text}");
            failures.push(format!("{seed}: {word}: {text}"));
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| {
        times
            .get(times.len().saturating_sub(1) * share / 100)
            .copied()
            .unwrap_or(0.0)
    };
    println!(
        "{recovered} of {} recovered; median {:.2} s, 95 % within {:.2} s, slowest {:.2} s; at most {most} queries",
        times.len(),
        at(50),
        at(95),
        at(100)
    );
    failures
}

/// Recovers units of which the search once missed each.
fn are_recovered(seeds: &[u64]) {
    let failures = recovered(seeds.iter().copied(), FRESH);
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// One unit of every kind that the search once missed.
#[test]
fn drawn_units_are_recovered() {
    let seeds = [
        3, 12, 1002, 1005, 1011, 1034, 2010, 3003, 3014, 5008, 6003, 12020, 13021, 13046, 13060,
        14017, 14051, 38124,
    ];
    are_recovered(&seeds);
}

/// The rest of them, as another test beside the first.
#[test]
fn further_drawn_units_are_recovered() {
    let seeds = [
        15002, 15015, 16037, 17017, 17056, 18048, 18058, 34027, 34052, 37035, 37042, 37113, 37150,
        37230, 37309, 37516, 37701, 37963,
    ];
    are_recovered(&seeds);
}

/// Truncated sums of f16, neighbours in order, with nothing odd.
fn plain(k: usize, l: usize) -> Drawn {
    let word = |name, value: &str| (name, value.to_owned());
    Drawn {
        a: "f16",
        b: "f16",
        d: "f32",
        k,
        l,
        order: (0..k).collect(),
        place: "first",
        own_steps: false,
        accumulators: 1,
        neighbours: false,
        in_sequence: false,
        sum: "fused",
        between_format: "f32",
        between: "rz",
        end: "rz",
        step: vec![word("F", "25"), word("e0", "none"), word("align", "rz")],
        operands: Vec::new(),
        c: Vec::new(),
        output: vec![word("overflow", "infinity"), word("zero", "plus")],
        nan: None,
    }
}

/// Masks on operands of few exponents do not tell a sum that keeps every bit from one that they do not
/// reach across: their order is known all the same.
#[test]
fn permuted_exact_sums_of_short_formats_are_recovered() {
    let of = |format| Drawn {
        a: format,
        b: format,
        order: vec![3, 1, 6, 0, 7, 2, 5, 4],
        step: vec![("F", "exact".to_owned())],
        ..plain(8, 4)
    };
    let units = ["e4m3", "e5m2"].map(|format| (format.to_owned(), of(format)));
    let failures = recovered_units(units.into_iter(), FRESH);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Chains that are rounded in another way than their additions.
#[test]
fn accumulators_that_are_added_otherwise_are_recovered() {
    let unit = Drawn {
        place: "last",
        accumulators: 4,
        end: "rne",
        ..plain(16, 4)
    };
    let Some(source) = Source::compiled() else {
        return;
    };
    let signature: Signature = unit.signature().parse().expect("a signature");
    let (inference, _) = inferred(&mut source.device(&unit, &signature));
    let Outcome::Model(model) = inference.outcome else {
        panic!("{:?}", inference.outcome);
    };
    let text = model.program.to_string();
    // Not as the groups of steps that are rounded twice, whose bits are the same.
    assert!(
        text.contains("t-fdpa L=4 F=25") && !text.contains("G="),
        "{text}"
    );
}

/// `cargo xtask prove drawn`: `MMASCOPE_PROVE_COUNT` units (200) from seed `MMASCOPE_PROVE_SEED` (1) on.
#[test]
#[ignore = "minutes: cargo xtask prove drawn"]
fn prove_drawn() {
    let number = |name: &str, default: u64| match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is a number")),
        Err(_) => default,
    };
    let (first, count) = (
        number("MMASCOPE_PROVE_SEED", 1),
        number("MMASCOPE_PROVE_COUNT", 200),
    );
    let failures = recovered(first..first + count, FRESH_OF_PROOF);
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures.join("\n")
    );
}
