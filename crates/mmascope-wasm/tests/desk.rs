//! The desk without a browser: its answers are those of the library, and wrong questions are answered in words.

use mmascope_lab::cases::{Family, Generator};
use mmascope_model::dpa::Modifiers;
use mmascope_model::isa::Catalogue;
use mmascope_wasm::Desk;
use serde_json::{Value, json};

fn ask(desk: &mut Desk, question: Value, file: &[u8]) -> Value {
    serde_json::from_str(&desk.answer(&question.to_string(), file)).expect("JSON")
}

fn error(desk: &mut Desk, question: Value) -> String {
    let answer = ask(desk, question, &[]);
    let message = answer["error"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"));
    message.to_owned()
}

#[test]
fn every_row_gives_the_librarys_bits() {
    let mut desk = Desk::default();
    let mut count = 0;
    for row in Catalogue::built_in()
        .instructions()
        .filter(|row| row.is_modelled())
    {
        let unit = row.unit().expect("a unit");
        let name = format!("{}:{}", row.architecture, row.name);
        let generator = Generator::for_unit(Family::Stress, 3, unit).expect("cases");
        let case = generator.case(count);
        let expected = unit
            .dot(&case.operands(), &Modifiers::default())
            .expect("a result");
        let drawn = ask(
            &mut desk,
            json!({"do": "draw", "unit": name, "family": "stress", "seed": 3, "index": count}),
            &[],
        );
        let mut question = json!({"do": "compute", "units": [name], "picture": 0});
        for key in ["a", "b", "c", "sa", "sb"] {
            if !drawn[key].is_null() {
                question[key] = drawn[key].clone();
            }
        }
        let answer = ask(&mut desk, question, &[]);
        let word = answer["results"][0]["word"]
            .as_str()
            .unwrap_or_else(|| panic!("{name}: {answer}"));
        let digits = unit.signature().d.digits();
        let is_any = unit.is_nan(expected) && !unit.program().nan_is_known();
        let expected = if is_any {
            "nan".to_owned()
        } else {
            format!("{expected:0digits$x}")
        };
        assert_eq!(word, expected, "{name}");
        let picture = answer["picture"].as_str().unwrap_or_default();
        assert!(
            picture.contains("class=\"explained one\"") && picture.ends_with("</div>"),
            "{name}"
        );
        count += 1;
    }
    assert!(count > 1400, "{count} rows");
}

#[test]
fn wrong_questions_are_answered_in_words() {
    let mut desk = Desk::default();
    assert!(error(&mut desk, json!({"do": "dance"})).contains("dance"));
    assert!(desk.answer("{", &[]).contains("error"));
    assert!(
        error(&mut desk, json!({"do": "unit", "unit": "hopper"}))
            .contains("expected an architecture")
    );
    let answer = ask(&mut desk, json!({"do": "unit", "unit": "hoper:f16"}), &[]);
    assert_eq!(answer["nearest"][0], "hopper");
    let compute =
        |a: &str| json!({"do": "compute", "units": ["hopper:f16"], "a": a, "b": "1", "c": "0"});
    assert!(error(&mut desk, compute("one")).contains("a[0]"));
    assert!(error(&mut desk, compute(&"1,".repeat(99))).contains("at most"));
    assert!(
        error(
            &mut desk,
            json!({"do": "bits", "format": "f16", "word": "12345"})
        )
        .contains("4 hexadecimal digits")
    );
    assert!(
        error(
            &mut desk,
            json!({"do": "flip", "format": "f16", "word": "0", "bit": 16})
        )
        .contains("16 bits")
    );
    assert!(error(&mut desk, json!({"do": "step", "index": 0})).contains("nothing was revealed"));
    assert!(
        error(
            &mut desk,
            json!({"do": "element", "units": ["hopper:f16"], "row": 0, "column": 0})
        )
        .contains("no file yet")
    );
    let damaged = ask(
        &mut desk,
        json!({"do": "array", "name": "A", "file": "x.npy"}),
        b"\x93NUMPY",
    );
    assert!(
        damaged["error"]
            .as_str()
            .is_some_and(|it| it.contains("x.npy")),
        "{damaged}"
    );
    let text =
        "arch a\ndot | f16 x f16 + f32 -> f32 | m8n8k4 | t-fdpa L=4 F=200 e0=-126 -> rz f32 | open";
    let answer = ask(&mut desk, json!({"do": "load", "text": text}), &[]);
    assert!(
        answer["line"] == 2 && answer["column"].as_u64().is_some_and(|column| column > 40),
        "{answer}"
    );
    // A text that is refused changes nothing.
    assert!(error(&mut desk, json!({"do": "unit", "unit": "a:dot"})).contains("unknown"));
}

#[test]
fn one_bit_changes_and_comes_back() {
    let mut desk = Desk::default();
    for (format, word) in [
        ("f32", "3dcccccd"),
        ("tf32", "3dccc000"),
        ("e4m3", "1d"),
        ("int8", "ff"),
        ("bf16", "0001"),
    ] {
        let before = ask(
            &mut desk,
            json!({"do": "bits", "format": format, "word": word}),
            &[],
        );
        let fields = before["fields"].as_array().expect("fields");
        let digits: String = fields
            .iter()
            .map(|field| field["digits"].as_str().expect("digits"))
            .collect();
        for bit in 0..digits.len() {
            let flip =
                |word: &Value| json!({"do": "flip", "format": format, "word": word, "bit": bit});
            let once = ask(&mut desk, flip(&before["word"]), &[]);
            assert_ne!(once["word"], before["word"], "{format} {bit}");
            assert_eq!(
                ask(&mut desk, flip(&once["word"]), &[]),
                before,
                "{format} {bit}"
            );
        }
    }
}

#[test]
fn masked_inputs_lead_to_the_tree() {
    let mut desk = Desk::default();
    let found = ask(
        &mut desk,
        json!({"do": "reveal", "unit": "volta:mma.m8n8k4.f32.f16.f16.f32"}),
        &[],
    );
    assert_eq!(
        (&found["nature"], &found["mismatches"]),
        (&json!("tree"), &json!(0))
    );
    let steps = found["steps"].as_u64().expect("a number");
    let said: Vec<String> = (0..steps)
        .map(|index| {
            ask(&mut desk, json!({"do": "step", "index": index}), &[])["words"]
                .as_str()
                .expect("words")
                .to_owned()
        })
        .collect();
    // All products and c are one step: any two meet in a node over all five.
    let masked: Vec<&String> = said
        .iter()
        .filter(|words| words.contains("a unit at 3 other leaves"))
        .collect();
    assert!(
        masked.len() >= 4
            && masked
                .iter()
                .all(|words| words.contains("a node over 5 of")),
        "{said:?}"
    );
    // Sums of integers have no masks; they are found by what the accumulator does at its ends.
    let integers = ask(
        &mut desk,
        json!({"do": "reveal", "unit": "ampere:dp4a.s32.s32"}),
        &[],
    );
    assert_eq!(integers["steps"], 0, "{integers}");
}
