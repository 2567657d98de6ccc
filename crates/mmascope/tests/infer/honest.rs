//! The statements of `infer` hold: the printed row loads and computes, the JSON has the agreed keys,
//! rejections are answers, and the search finds shipped units without the catalogue too.

use mmascope::dpa::{Modifiers, Unit};
use mmascope::dut::{Batch, Dut, ModelDut};
use mmascope::infer::{Inference, InferenceOptions, Outcome, infer};
use mmascope::isa::Catalogue;
use mmascope::vector::Reader;

use crate::ieee::Mode;
use crate::mutant::{Device, Mutant, Sum};

fn row(arch: &str, inst: &str) -> Unit {
    Catalogue::built_in()
        .find(arch, inst)
        .and_then(|row| row.unit().cloned())
        .expect("a row")
}

pub(crate) fn of_unit(unit: &Unit, catalogue: Option<&Catalogue>) -> Inference {
    let mut device = ModelDut::new("a black box", unit.clone());
    infer(&mut device, catalogue, &InferenceOptions::default()).expect("answers")
}

#[test]
fn shipped_units_are_found_without_the_catalogue() {
    let rows = [
        (
            "volta",
            "mma.m8n8k4.f32.f16.f16.f32",
            "t-fdpa L=4 F=23 e0=-131 -> rz f32 nan=7fffffff",
        ),
        (
            "hopper",
            "mma.m16n8k16.f32.bf16.bf16.f32",
            "t-fdpa L=16 F=25 e0=-133 -> rz f32 nan=7fffffff",
        ),
        (
            "ampere",
            "mma.m16n8k8.f32.tf32.tf32.f32",
            "t-fdpa L=4 F=24 e0=-132 -> rz f32 nan=7fffffff",
        ),
        (
            "ampere",
            "mma.m8n8k4.f64.f64.f64.f64",
            "fma-chain -> rne f64",
        ),
        (
            "ada",
            "mma.m16n8k32.f32.e4m3.e4m3.f32",
            "t-fdpa L=16 F=13 e0=-132 -> rz e8m13 nan=7fffffff",
        ),
        ("cdna1", "v_mfma_f32_32x32x8_f16", "e-fdpa L=4 -> rne f32"),
        (
            "cdna2",
            "v_mfma_f32_32x32x8_bf16_1k",
            "ftz-addmul P=4 -> rne f32",
        ),
        (
            "cdna3",
            "v_mfma_f32_32x32x8_bf16",
            "tr-fdpa L=8 F=24 F2=31 -> rne f32",
        ),
        (
            "cdna3",
            "v_mfma_f32_16x16x32_bf8_bf8",
            "gtr-fdpa L=16 F=24 F2=31 -> rne f32",
        ),
    ];
    for (arch, inst, notation) in rows {
        let inference = of_unit(&row(arch, inst), None);
        let Outcome::Model(model) = &inference.outcome else {
            panic!("{arch} {inst}: {:?}", inference.outcome);
        };
        let text = model.program.to_string();
        println!(
            "{arch} {inst}: {text} ({} queries, {:.2} s)",
            inference.queries, inference.seconds
        );
        for open in &model.unobservable {
            println!("    {}: {}", open.parameter, open.values.join(" "));
        }
        // Parameters that no input settles may have another value; the others may not.
        for word in notation.split(' ') {
            let Some((name, _)) = word.split_once('=') else {
                continue;
            };
            let open = model.unobservable.iter().any(|open| open.parameter == name);
            assert!(
                text.contains(word) || open,
                "{arch} {inst}: {word} in {text}"
            );
        }
        assert_eq!(text.contains("e8m13"), notation.contains("e8m13"), "{text}");
        let algorithm = notation.split(' ').next().expect("a word");
        assert!(text.contains(algorithm), "{arch} {inst}: {text}");
    }
}

/// A second floor above the alignment shows in sums that are far above their largest term.
#[test]
fn a_second_floor_above_the_alignment_is_found() {
    for f2 in [25, 28, 29] {
        let signature = *row("volta", "mma.m8n8k4.f32.f16.f16.f32").signature();
        let program = format!("fused L=4 F=26 F2={f2} -> rz f32 nan=7fc00000");
        let unit = Unit::new(signature, program.parse().expect("a program")).expect("a unit");
        let inference = of_unit(&unit, None);
        let Outcome::Model(model) = &inference.outcome else {
            panic!("{:?}", inference.outcome);
        };
        let text = model.program.to_string();
        let word = format!("F2={f2}");
        assert!(text.split(' ').any(|it| it == word), "{text}");
        assert!(text.split(' ').any(|it| it == "F=26"), "{text}");
        let is_open = |name: &str| model.unobservable.iter().any(|open| open.parameter == name);
        assert!(!is_open("F2") && !is_open("F"), "{:?}", model.unobservable);
    }
}

/// A search that had no time left says so, and one that needed none does not.
#[test]
fn a_search_that_reached_its_limit_says_so() {
    let volta = row("volta", "mma.m8n8k4.f32.f16.f16.f32");
    let odd = "fused L=4 F=26 F2=28 -> rz f32 nan=7fc00000";
    let odd = Unit::new(*volta.signature(), odd.parse().expect("a program")).expect("a unit");
    let no_time = InferenceOptions {
        cpu_limit: std::time::Duration::ZERO,
        ..InferenceOptions::default()
    };
    let catalogue = Some(Catalogue::built_in());
    for (unit, options, reached) in [
        (&odd, &no_time, true),
        (&odd, &InferenceOptions::default(), false),
        (&volta, &no_time, false),
    ] {
        let mut device = ModelDut::new("a black box", unit.clone());
        let inference = infer(&mut device, catalogue, options).expect("answers");
        let json = inference.json();
        assert_eq!(inference.reached_limit, reached, "{json:?}");
        assert_eq!(json["reached_limit"], reached);
    }
}

#[test]
fn the_printed_row_loads_and_computes() {
    let mutant = Mutant::new("odd", "bf16", 8).chunks(4).with(|m| {
        m.sum = Sum::Truncated {
            f: 19,
            f_c: 22,
            e0: Some(-128),
            align: Mode::Rd,
            align_c: Mode::Rd,
        };
        m.flush_out = true;
    });
    let mut device = Device::new(mutant);
    let inference = infer(
        &mut device,
        Some(Catalogue::built_in()),
        &InferenceOptions::default(),
    )
    .expect("answers");
    let Outcome::Model(model) = &inference.outcome else {
        panic!("{:?}", inference.outcome);
    };
    let json = inference.json();
    let text = json["row"].as_str().expect("a row");
    let mut catalogue = Catalogue::built_in().clone();
    catalogue
        .extend("inferred.txt", text)
        .expect("the row loads");
    let loaded = catalogue
        .find("inferred", "dot.m1n1k8.f32.bf16.bf16.f32")
        .expect("found");
    assert_eq!(loaded.unit().expect("a unit"), &model.unit);
    for key in [
        "row",
        "algorithm",
        "parameters",
        "equivalent",
        "unobservable",
        "rejected",
        "rejected_count",
        "verified",
        "confirmed",
        "queries",
        "seconds",
        "reached_limit",
    ] {
        assert!(json.contains_key(key), "{key}");
    }
    assert_eq!(json["parameters"]["L"], 4, "{text}");
    assert_eq!(json["parameters"]["F"], 19, "{text}");
    assert_eq!(json["parameters"]["Fc"], 22, "{text}");
    assert_eq!(json["parameters"]["c"], "fused", "{text}");
    assert_eq!(json["parameters"]["align"], "rd", "{text}");
    rejections_are_answers_of(model);
    assert!(model.rejected_count > 50);
}

/// Each rejection is an answer that the model gives, as the model's row is read from its file.
pub(crate) fn rejections_are_answers_of(model: &mmascope::infer::Found) {
    let mut catalogue = Catalogue::built_in().clone();
    let text = model.row("a device");
    catalogue.extend("inferred.txt", &text).expect("it loads");
    let rows = catalogue.architecture("inferred").expect("it is there");
    let name = rows.instructions().next().expect("a row").name.clone();
    assert!(!model.rejected.is_empty());
    for rejected in &model.rejected {
        let line = rejected
            .input
            .replace("\"arch\":\"dut\"", "\"arch\":\"inferred\"");
        let (head, rest) = line.split_once("\"inst\":\"").expect("a name");
        let (_, rest) = rest.split_once('"').expect("its end");
        let line = format!("{head}\"inst\":\"{name}\"{rest}");
        let vector = Reader::new(&catalogue).read(&line).expect("a vector");
        let word = vector.compute().expect("computes");
        match vector.d.expect("an answer") {
            mmascope::vector::Answer::Word(wanted) => {
                assert!(model.unit.agrees(word, wanted), "{line}")
            }
            mmascope::vector::Answer::AnyNan => assert!(model.is_nan(word), "{line}"),
        }
    }
}

/// Two parameters that f16 results cannot settle are said to be open, with the right value among them.
#[test]
fn what_cannot_be_told_is_said() {
    let unit = row("ampere", "mma.m16n8k8.f32.f16.f16.f32");
    let inference = of_unit(&unit, Some(Catalogue::built_in()));
    let Outcome::Model(model) = &inference.outcome else {
        panic!("{:?}", inference.outcome);
    };
    let open = model
        .unobservable
        .iter()
        .find(|open| open.parameter == "e0");
    let open = open.expect("e0 is not observable with f16 operands and f32 accumulators");
    assert_eq!(open.values[0], "-132");
    assert!(
        !model
            .unobservable
            .iter()
            .any(|open| ["L", "F", "align", "rounding"].contains(&&*open.parameter))
    );
    let dot = model.unit.dot(
        &mmascope::dpa::Operands {
            a: &[0x3c00; 8],
            b: &[0x3c00; 8],
            ..Default::default()
        },
        &Modifiers::default(),
    );
    assert_eq!(dot, Ok(0x4100_0000));
}

pub(crate) fn own(signature: &str, program: &str) -> Unit {
    let signature = signature.parse().expect("a signature");
    Unit::new(signature, program.parse().expect("a program")).expect("a unit")
}

/// Accumulators that are added, and c after them: where every addition gives -0 the result is -0, and no
/// single addition's rule shows it.
#[test]
fn signs_of_zero_of_several_additions_are_found_together() {
    let unit = own(
        "a=tf32 b=tf32 c=f32 d=f32 k=8",
        "t0 = t-fdpa L=2 F=24 e0=-300 over k%2=0 from +0 -> rz f32 zero=exact ; \
         t1 = t-fdpa L=2 F=24 e0=-300 over k%2=1 from +0 -> rz f32 zero=exact ; \
         t2 = add t0 t1 -> rne f32 ; d = add t2 c -> rne f32 nan=7fffffff",
    );
    // -2^-126 · 2^-74 eight times: both accumulators round to zero, and keep the sign.
    let (a, b) = ([0x8080_0000; 8], [0x1a80_0000; 8]);
    for seed in 1..=3 {
        let mut device = ModelDut::new("a black box", unit.clone());
        let options = InferenceOptions {
            seed,
            ..InferenceOptions::default()
        };
        let found = infer(&mut device, None, &options).expect("answers");
        let Outcome::Model(model) = found.outcome else {
            panic!("seed {seed}: {:?}", found.outcome);
        };
        for c in [0, 0x8000_0000] {
            let mut batch = Batch::new(*unit.signature());
            batch
                .push(
                    &mmascope::dpa::OperandWords {
                        a: a.to_vec(),
                        b: b.to_vec(),
                        c,
                        ..Default::default()
                    }
                    .operands(),
                )
                .expect("fits");
            let wanted = device.run(&batch).expect("answers");
            let mut again = ModelDut::new("the model", model.unit.clone());
            assert_eq!(
                again.run(&batch).expect("answers"),
                wanted,
                "seed {seed}, c={c:x}: {}",
                model.program
            );
        }
    }
}

/// Groups that are no neighbours, shorter than the sum and dropped where they cancel.
#[test]
fn short_strided_groups_are_found() {
    let unit = own(
        "a=e5m2 b=e4m3fn c=f32 d=f32 k=16",
        "fused L=16 F=21 align=rd G=4 groups=strided Fg=9 align-g=rz zero-g=dropped -> rne f32 \
         nan=7fc00000 overflow=satfinite",
    );
    let found = of_unit(&unit, None);
    let Outcome::Model(model) = found.outcome else {
        panic!("{:?}", found.outcome);
    };
    let mut device = ModelDut::new("a black box", unit);
    assert_eq!(
        crate::mutants::mismatch(&mut device, &model),
        None,
        "{}",
        model.program
    );
}

/// The number of inputs that confirmed a model goes by what the model is and what was asked for.
#[test]
fn a_model_says_how_many_inputs_confirmed_it() {
    let volta = ("volta", "mma.m8n8k4.f32.f16.f16.f32");
    let unusual = ("cdna3", "v_mfma_f32_32x32x8_bf16");
    let subtracting = ("power10", "xvf32gernn");
    for ((arch, inst), knows_rows, budget, confirm, confirmed) in [
        (volta, true, 20_000, None, 20_000),
        (volta, true, 20_000, Some(1_001), 201),
        (volta, true, 19_999, None, 0),
        (volta, true, 19_999, Some(500), 100),
        (volta, false, 20_000, None, 100_000),
        (volta, false, 20_000, Some(0), 0),
        (volta, false, 2_000, Some(70), 70),
        (unusual, false, 20_000, Some(1_000), 3_000),
        (subtracting, false, 20_000, Some(1_000), 1_000),
    ] {
        let mut device = ModelDut::new("a black box", row(arch, inst));
        let options = InferenceOptions {
            budget,
            confirm,
            ..InferenceOptions::default()
        };
        let rows = knows_rows.then(Catalogue::built_in);
        let inference = infer(&mut device, rows, &options).expect("answers");
        let text = format!("{arch}:{inst} {budget} {confirm:?}");
        assert!(matches!(inference.outcome, Outcome::Model(_)), "{text}");
        assert_eq!(inference.confirmed, confirmed, "{text}");
        assert_eq!(inference.json()["confirmed"]["trials"], confirmed, "{text}");
    }
}

/// The search spreads over threads, and finds the same with the same questions for any number of them.
#[test]
fn the_number_of_threads_changes_nothing() {
    let units = [
        own(
            "a=bf16 b=bf16 c=f32 d=f32 k=6",
            "t0 = fused L=3 F=27 Fc=24 align=rne over k%2=0 -> ru f32 ; \
             d = fused L=3 F=27 Fc=24 align=rne over k%2=1 from t0 -> ru f32",
        ),
        row("hopper", "mma.m16n8k16.f16.e4m3.e4m3.f16"),
    ];
    for unit in &units {
        let found = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let mut json = pool.expect("a pool").install(|| of_unit(unit, None)).json();
            json.remove("seconds");
            json
        });
        assert_eq!(found[0]["outcome"], "model", "{:?}", found[0]);
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
    }
}
