//! Validation: tiles and single cases compare the same questions, differences are replayed from their
//! numbers, interrupted runs go on where they were.

use mmascope::cases::{Family, Generator};
use mmascope::dpa::{Modifiers, Signature, Unit};
use mmascope::dut::{Batch, Dut, ModelDut};
use mmascope::isa::Catalogue;
use mmascope::validate::{Mismatch, SIDE, State, ValidationPlan, parts, shrink, validate};
use mmascope::vector::Answer;

fn unit(arch: &str, inst: &str) -> &'static Unit {
    let row = Catalogue::built_in().find(arch, inst).expect("a row");
    row.unit().expect("a unit")
}

/// A device that knows single dot products only, and counts them.
struct Single {
    model: ModelDut,
    asked: usize,
}

impl Single {
    fn new(unit: &Unit) -> Self {
        Self {
            model: ModelDut::new("single", unit.clone()),
            asked: 0,
        }
    }
}

impl Dut for Single {
    fn signature(&self) -> &Signature {
        self.model.signature()
    }

    fn name(&self) -> &str {
        "single"
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        self.asked += batch.len();
        self.model.run(batch)
    }
}

fn run(device: &mut dyn Dut, model: &Unit, families: &[Family], trials: u64) -> State {
    let plan = ValidationPlan {
        families: families.to_vec(),
        seed: 3,
    };
    let mut state = State::new(&plan, model).expect("a plan");
    validate(device, model, &mut state, trials, &mut |_| true).expect("answers");
    state
}

/// The mismatch is there when its case is made again from its numbers, and computed without tiles.
fn replays(device: &Unit, model: &Unit, mismatch: &Mismatch) {
    let family = Family::named(&mismatch.family).expect("a family");
    let generator = Generator::for_unit(family, mismatch.seed, model).expect("a generator");
    let row = generator.case(mismatch.index);
    let column = generator.case(mismatch.column.unwrap_or(mismatch.index));
    let even = (mismatch.index + mismatch.column.unwrap_or(mismatch.index)).is_multiple_of(2);
    let mut case = row.clone();
    (case.b, case.scale_b) = (column.b, column.scale_b);
    case.c = if even { row.c } else { column.c };
    let word = |unit: &Unit| {
        let word = unit
            .dot(&case.operands(), &Modifiers::default())
            .expect("computes");
        mmascope::vector::answer(unit, word)
    };
    assert_eq!(
        (word(device), word(model)),
        (mismatch.device.clone(), mismatch.model.clone())
    );
    assert_ne!(mismatch.device, mismatch.model);
}

/// The engine, the reference and single questions give the same state.
#[test]
fn tiles_are_the_same_questions() {
    let model = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let other = unit("ampere", "mma.m16n8k16.f32.f16.f16.f32");
    let families = [Family::Normal, Family::Sparse, Family::Close];
    let trials = 3 * 4096 + 2 * SIDE * SIDE + 1000;
    let mut single = Single::new(other);
    let by_single = run(&mut single, model, &families, trials);
    assert_eq!(single.asked as u64, trials);
    let mut engine = ModelDut::new("engine", other.clone());
    let by_engine = run(&mut engine, model, &families, trials);
    let mut reference = ModelDut::new("reference", other.clone()).by_reference();
    assert_eq!(by_single, by_engine);
    assert_eq!(by_single, run(&mut reference, model, &families, trials));
    assert_eq!(by_single.trials(), trials);
    assert!(by_single.families[0].tiles == 1 && by_single.families[1].tiles == 1);
    assert!(by_single.mismatches() > 0);
    for mismatch in &by_single.examples {
        replays(other, model, mismatch);
    }
}

/// Tiles share their c: a device without tiles meets as many single cases, each with its own.
#[test]
fn single_cases_keep_up_where_there_are_no_tiles() {
    let model = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let trials = 4096 + 3 * SIDE * SIDE;
    let by_single = run(&mut Single::new(model), model, &[Family::Normal], trials);
    let mut engine = ModelDut::new("engine", model.clone());
    let by_engine = run(&mut engine, model, &[Family::Normal], trials);
    assert_eq!((by_single.trials(), by_engine.trials()), (trials, trials));
    let counts = |state: &State| (state.families[0].done, state.families[0].tiles);
    assert_eq!(counts(&by_engine), (4096, 3));
    assert_eq!(counts(&by_single), (4096 + SIDE * SIDE, 2));
}

/// A difference that only tiles reach is found, replayed and shrunk.
#[test]
fn a_difference_inside_a_tile_is_named() {
    let model = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let other = unit("ampere", "mma.m16n8k16.f32.f16.f16.f32");
    let plan = ValidationPlan {
        families: vec![Family::Normal],
        seed: 3,
    };
    let mut state = State::new(&plan, model).expect("a plan");
    // Right until the first tile, then another unit.
    let mut right = ModelDut::new("right", model.clone());
    validate(&mut right, model, &mut state, 4096, &mut |_| true).expect("answers");
    assert_eq!((state.mismatches(), state.families[0].tiles), (0, 0));
    let mut wrong = ModelDut::new("wrong", other.clone());
    validate(
        &mut wrong,
        model,
        &mut state,
        4096 + SIDE * SIDE,
        &mut |_| true,
    )
    .expect("answers");
    assert_eq!(state.families[0].tiles, 1);
    assert!(
        state
            .examples
            .iter()
            .any(|mismatch| mismatch.column.is_some())
    );
    for mismatch in &state.examples {
        replays(other, model, mismatch);
        let example = shrink(&mut wrong, model, mismatch).expect("answers");
        assert_ne!(example.device, Answer::Word(example.model));
        assert!(example.differs(model));
        // A device that is right when it is asked again does not repeat its answers, and nothing is left to explain.
        let example = shrink(&mut right, model, mismatch).expect("answers");
        assert!(!example.differs(model));
    }
    let text = serde_json::to_string(&state).expect("JSON");
    assert_eq!(
        serde_json::from_str::<State>(&text).expect("a state"),
        state
    );
}

/// All pairs of narrow operands: a tile for each c, every index once.
#[test]
fn all_pairs_are_tiles() {
    let model = unit("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3");
    let other = unit(
        "blackwell",
        "tcgen05.mma.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3",
    );
    let mut single = Single::new(other);
    let trials = 3 * 65_536 + 5000;
    let by_single = run(&mut single, model, &[Family::Exhaustive], trials);
    let mut engine = ModelDut::new("engine", other.clone());
    assert_eq!(
        by_single,
        run(&mut engine, model, &[Family::Exhaustive], trials)
    );
    assert_eq!(by_single.families[0].done, trials);
    assert!(by_single.mismatches() > 0);
    for mismatch in &by_single.examples {
        assert_eq!(mismatch.column, None);
        replays(other, model, mismatch);
    }
}

/// Scales are part of a tile.
#[test]
fn block_scales_are_crossed_too() {
    let inst = "tcgen05.mma.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0";
    let model = unit("blackwell", inst);
    let mut single = Single::new(model);
    let trials = 4096 + SIDE * SIDE;
    let state = run(&mut single, model, &[Family::Normal], trials);
    assert_eq!((state.mismatches(), state.families[0].tiles), (0, 1));
}

/// Few cases are shared out, so that no family is left without any.
#[test]
fn few_cases_are_of_every_family() {
    let model = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    for trials in [5, 3000, 3005] {
        let mut device = ModelDut::new("itself", model.clone());
        let families = [Family::Bits, Family::Normal, Family::Close, Family::Stress];
        let state = run(&mut device, model, &families, trials);
        assert_eq!(state.trials(), trials);
        let each = trials / families.len() as u64;
        assert!(state.families.iter().all(|family| family.done >= each));
    }
}

/// Stopped after every turn and begun again from its state file, a run is the same.
#[test]
fn a_stopped_run_goes_on() {
    let model = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let other = unit("ampere", "mma.m16n8k16.f32.f16.f16.f32");
    let families = [Family::Normal, Family::Boundary];
    let trials = 2 * SIDE * SIDE;
    let mut device = ModelDut::new("other", other.clone());
    let whole = run(&mut device, model, &families, trials);
    let plan = ValidationPlan {
        families: families.to_vec(),
        seed: 3,
    };
    let fresh = State::new(&plan, model).expect("a plan");
    let mut state = fresh.clone();
    while state.trials() < trials {
        let text = serde_json::to_string(&state).expect("JSON");
        state = serde_json::from_str(&text).expect("a state");
        assert!(state.continues(&fresh));
        validate(&mut device, model, &mut state, trials, &mut |_| false).expect("answers");
    }
    assert_eq!(state, whole);
}

/// Each part is a run of its own, by another device; joined in their order they are one run.
#[test]
fn parts_come_to_one_run() {
    let model = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let other = unit("ampere", "mma.m16n8k16.f32.f16.f16.f32");
    let narrow = unit("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3");
    let ada = unit("ada", "mma.m16n8k32.f32.e4m3.e4m3.f32");
    let all = &Family::ALL[..];
    let fixed = &[Family::Exhaustive, Family::Normal][..];
    for (model, other, families, trials, part) in [
        (model, other, all, 400_000, 30_000),
        (model, other, all, 9000, 1000),
        (model, other, &[Family::Sparse, Family::Close], 300_000, 1),
        (narrow, ada, fixed, 2_000_000, 200_000),
    ] {
        for has_tiles in [true, false] {
            let device = || -> Box<dyn Dut> {
                match has_tiles {
                    true => Box::new(ModelDut::new("tiles", other.clone())),
                    false => Box::new(Single::new(other)),
                }
            };
            let plan = ValidationPlan {
                families: families.to_vec(),
                seed: 3,
            };
            let fresh = State::new(&plan, model).expect("a plan");
            let states = parts(model, &fresh, trials, part, has_tiles).expect("parts");
            assert!(
                states.len() > 3 || trials == 9000,
                "{} states",
                states.len()
            );
            let mut joined = fresh.clone();
            let mut results = Vec::new();
            for pair in states.windows(2) {
                let mut state = pair[0].clone();
                let end = pair[1].trials();
                validate(&mut *device(), model, &mut state, end, &mut |_| true).expect("answers");
                assert_eq!(state.trials(), end);
                joined.join(&pair[0], state.clone()).expect("it fits");
                results.push(state);
            }
            let mut whole = fresh;
            validate(&mut *device(), model, &mut whole, trials, &mut |_| true).expect("answers");
            assert_eq!(joined, whole);
            assert!(whole.mismatches() > 0);
            // A part twice, or one of another run, is refused.
            let last = states[states.len() - 2].clone();
            let again = results.pop().expect("a part");
            assert!(joined.join(&last, again.clone()).is_err());
            let mut stranger = again;
            stranger.seed += 1;
            let mut before = last.clone();
            assert!(before.join(&last, stranger).is_err());
        }
    }
}

#[test]
fn a_state_of_another_run_or_with_impossible_counts_is_refused() {
    let model = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let plan = ValidationPlan {
        families: vec![Family::Normal, Family::Close],
        seed: 3,
    };
    let mut fresh = State::new(&plan, model).expect("a plan");
    fresh.subject = "model:one".to_owned();
    assert!(fresh.clone().continues(&fresh));
    let changes: [fn(&mut State); 6] = [
        |state| state.subject = "model:other".to_owned(),
        |state| state.seed = 4,
        |state| state.families[0].done = u64::MAX,
        |state| state.families[1].tiles = 1 << 60,
        |state| state.families[0].mismatches = 1,
        |state| _ = state.families.pop(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut state = fresh.clone();
        change(&mut state);
        let _ = state.trials();
        assert!(!state.continues(&fresh), "change {number}");
    }
    let twice = ValidationPlan {
        families: vec![Family::Normal, Family::Normal],
        seed: 3,
    };
    let message = State::new(&twice, model).expect_err("twice").to_string();
    assert!(message.contains("'normal' is named twice"), "{message}");
}
