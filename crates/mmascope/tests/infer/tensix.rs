//! Units of Tensix: a fault that shows in sums of exactly -1, and sums of operands, are told from their neighbours.

use mmascope::dpa::{Modifiers, OperandWords, Program, Signature, Unit};
use mmascope::dut::ModelDut;
use mmascope::infer::{Found, InferenceOptions, Outcome, infer};
use mmascope::isa::Catalogue;

fn found(name: &str, unit: Unit) -> Found {
    let mut device = ModelDut::new(name, unit);
    let inference = infer(
        &mut device,
        Some(Catalogue::built_in()),
        &InferenceOptions::default(),
    );
    let inference = inference.expect("answers");
    let Outcome::Model(model) = inference.outcome else {
        panic!("{name}: {:?}", inference.outcome);
    };
    *model
}

fn row(arch: &str, inst: &str) -> Unit {
    let row = Catalogue::built_in().find(arch, inst).expect("a row");
    row.unit().expect("a unit").clone()
}

fn open<'a>(model: &'a Found, name: &str) -> Option<&'a [String]> {
    let open = model
        .unobservable
        .iter()
        .find(|open| open.parameter == name);
    open.map(|open| &open.values[..])
}

/// The fault shows in few inputs: each chip's unit is that chip's alone, and the fault is no open value.
#[test]
fn a_faulty_unit_is_not_its_mended_twin() {
    for inst in [
        "tensix.elwadd.bf16.d32",
        "tensix.elwadd.tf32.d32",
        "tensix.elwsub.bf16.d32",
        "tensix.elwsub.tf32.d32",
        "tensix.elwmul.bf16.d32.phase0",
        "tensix.elwmul.tf32.d32.phase0",
    ] {
        for (arch, fault) in [("wormhole", true), ("blackhole", false)] {
            let name = format!("{arch}:{inst}");
            let model = found(&name, row(arch, inst));
            assert_eq!(model.equivalent, [&*name]);
            let text = model.program.to_string();
            assert_eq!(text.contains("fault=27"), fault, "{name}: {text}");
            assert_eq!(open(&model, "fault"), None, "{name}");
            assert_eq!(open(&model, "flush"), None, "{name}");
            if inst.contains("elwadd") {
                assert_eq!(open(&model, "rounding"), None, "{name}");
            }
        }
    }
}

/// A device that no row describes: its fault is found with its own number of places.
#[test]
fn a_fault_of_other_places_is_found() {
    let signature: Signature = "a=bf16 b=bf16 c=f32 d=f32 k=1"
        .parse()
        .expect("a signature");
    let program = "codes=numbers ; gr-fdpa of=sum L=1 G=1 Fg=10 F=23 e0=-127 fault=20 -> rna f32";
    let unit = Unit::new(signature, program.parse::<Program>().expect("a program"));
    let model = found("a foreign device", unit.expect("a unit"));
    assert!(model.equivalent.is_empty(), "{:?}", model.equivalent);
    assert_eq!(model.program.to_string(), program);
    assert_eq!(open(&model, "fault"), None);
    // -1.5 + 0 and 1.5 less one in the last place: 2^20 times too much.
    let case = OperandWords {
        a: vec![0xbfc0],
        b: vec![0],
        c: 0x3fbf_ffff,
        scale_a: Vec::new(),
        scale_b: Vec::new(),
    };
    let d = model.unit.dot(&case.operands(), &Modifiers::default());
    assert_eq!(d, Ok(0xbe00_0000));
}

/// Units that are a row's but for one parameter, which shows in few inputs: they are not taken for the row.
#[test]
fn rows_with_one_other_parameter_are_not_the_rows() {
    for (inst, from, to) in [
        ("tensix.sfpmad", "loses=bit", "loses=nothing"),
        ("tensix.sfpmad", "tiny=zero", "tiny=rounded"),
        ("tensix.elwmul.bf16.d32.phase0", "-> rna f32", "-> rz f32"),
    ] {
        let own = row("wormhole", inst);
        let changed = own.program().to_string().replace(from, to);
        assert_ne!(changed, own.program().to_string(), "{inst}");
        let program = changed.parse::<Program>().expect("a program");
        let unit = Unit::new(*own.signature(), program).expect("a unit");
        let model = found(inst, unit);
        let name = format!("wormhole:{inst}");
        assert!(!model.equivalent.contains(&name), "{inst} {to}");
        let text = model.program.to_string();
        assert!(text.contains(to), "{inst} {to}: {text}");
    }
}
