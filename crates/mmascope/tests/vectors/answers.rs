//! Good lines: what they mean, and how answers are written.

use mmascope::isa::Catalogue;
use mmascope::vector::{Answer, Reader, with_answer};

fn line(architecture: &str, instruction: &str, rest: &str) -> String {
    format!(r#"{{"arch":"{architecture}","inst":"{instruction}",{rest}}}"#)
}

const ONES: &str = r#""a":"3c003c003c003c00","b":"3c003C003c003c00","c":"3F800000""#;

#[test]
fn other_keys_are_carried_through_in_their_order() {
    let text = r#" {"note" : "é \"x\" \u0041", "d":"00000000","arch":"volta", "z":[1, {"d":2}],"id":7,"n":-0.10e+1,"t":null} "#;
    let expected = r#"{"note":"é \"x\" \u0041","arch":"volta","z":[1, {"d":2}],"id":7,"n":-0.10e+1,"t":null,"d":"40a00000"}"#;
    assert_eq!(with_answer(text, "40a00000").as_deref(), Ok(expected));
    assert_eq!(with_answer("{}", "nan").as_deref(), Ok(r#"{"d":"nan"}"#));
    assert_eq!(
        with_answer(r#"{"d":"x"}"#, "nan").as_deref(),
        Ok(r#"{"d":"nan"}"#)
    );
    // Keys are written as they are meant, and an answer can be read again.
    let answered = with_answer("{\"a\\n\\u00e9\":1}", "0").expect("an object");
    assert_eq!(answered, "{\"a\\né\":1,\"d\":\"0\"}");
    assert!(with_answer("[1]", "0").is_err());
    assert!(with_answer("{", "0").is_err());
}

#[test]
fn answers_are_computed_and_compared() {
    let mut reader = Reader::new(Catalogue::built_in());
    let name = "mma.m8n8k4.f32.f16.f16.f32";
    let question = reader.read(&line("v100", name, ONES)).expect("good");
    assert_eq!((question.d, question.compute()), (None, Ok(0x40a0_0000)));
    assert_eq!(
        question.agrees(0x40a0_0000),
        Ok(false),
        "a question agrees with nothing"
    );
    assert_eq!(question.answer_text(0x40a0_0000).as_deref(), Ok("40a00000"));

    let right = line("v100", name, &format!(r#"{ONES},"d":"40A00000""#));
    let right = reader.read(&right).expect("good");
    assert_eq!(right.d, Some(Answer::Word(0x40a0_0000)));
    assert_eq!(right.agrees(right.compute().expect("modelled")), Ok(true));
    assert_eq!(right.agrees(0x40a0_0001), Ok(false));
}

/// Where the NaN's word is known only that word agrees (or the line's `nan`); where it is not, any.
#[test]
fn nan_answers() {
    let mut reader = Reader::new(Catalogue::built_in());
    let nan_line = |d: &str| {
        let rest = r#""a":"7e003c003c003c00","b":"3c003c003c003c00","c":"00000000","d":"#;
        line(
            "volta",
            "mma.m8n8k4.f32.f16.f16.f32",
            &format!("{rest}\"{d}\""),
        )
    };
    for (d, agrees) in [
        ("nan", true),
        ("7fffffff", true),
        ("7fc00000", false),
        ("7f800000", false),
    ] {
        let text = nan_line(d);
        let vector = reader.read(&text).expect("good");
        let got = vector.compute().expect("modelled");
        assert_eq!((got, vector.agrees(got)), (0x7fff_ffff, Ok(agrees)), "{d}");
        assert_eq!(vector.answer_text(got).as_deref(), Ok("7fffffff"));
    }
    let any_line = |d: &str| {
        let (a, b) = ("7e00".repeat(8), "3c00".repeat(8));
        let rest = format!(r#""a":"{a}","b":"{b}","c":"00000000","d":"{d}""#);
        line("cdna3", "v_mfma_f32_32x32x8_f16", &rest)
    };
    for (d, agrees) in [
        ("nan", true),
        ("7fffffff", true),
        ("ffc00001", true),
        ("7f800000", false),
    ] {
        let text = any_line(d);
        let vector = reader.read(&text).expect("good");
        let got = vector.compute().expect("modelled");
        assert_eq!(vector.agrees(got), Ok(agrees), "{d}");
        assert_eq!(vector.answer_text(got).as_deref(), Ok("nan"));
    }
    let text = line(
        "volta",
        "mma.m8n8k4.f32.f16.f16.f32",
        &format!(r#"{ONES},"d":"nan""#),
    );
    let number = reader.read(&text).expect("good");
    assert_eq!(number.d, Some(Answer::AnyNan));
    assert_eq!(number.agrees(0x40a0_0000), Ok(false));
}

#[test]
fn modifiers_are_read() {
    let mut reader = Reader::new(Catalogue::built_in());
    let (a, b) = ("3c00".repeat(16), "3c00".repeat(16));
    let text = |mods: &str| {
        let rest = format!(r#""a":"{a}","b":"{b}","c":"3f800000","mods":{mods}"#);
        line(
            "sm_100",
            "tcgen05.mma.m64n16k16.kind::f16.f32.f16.f16",
            &rest,
        )
    };
    let cases = [
        ("[]", 0x4188_0000),                      // 17
        (r#"["negA"]"#, 0xc170_0000),             // -15
        (r#"["negA","negB"]"#, 0x4188_0000),      // 17
        (r#"["noC"]"#, 0x4180_0000),              // 16
        (r#"["scaleD=-3"]"#, 0x4181_0000),        // 16.125
        (r#"["scaleD=-1","negB"]"#, 0xc178_0000), // -15.5
    ];
    for (mods, expected) in cases {
        let text = text(mods);
        let vector = reader
            .read(&text)
            .unwrap_or_else(|bad| panic!("{mods}: {bad:?}"));
        assert_eq!(vector.compute(), Ok(expected), "{mods}");
    }
}

#[test]
fn defaults_stand_in_for_missing_names() {
    let name = "mma.m8n8k4.f32.f16.f16.f32";
    let catalogue = Catalogue::built_in();
    let mut reader = Reader::new(catalogue).with_default(Some("volta".into()), Some(name.into()));
    let bare = format!("{{{ONES}}}");
    assert_eq!(reader.read(&bare).expect("good").compute(), Ok(0x40a0_0000));
    // A name in the line wins, except with `read_default`.
    let other = line("hopper", "mma.m8n8k4.f16.f16.f16.f16", ONES);
    assert!(reader.read(&other).is_err(), "c has 8 digits, f16 needs 4");
    let forced = reader.read_default(&other).expect("good");
    assert_eq!(forced.instruction.architecture, "volta");
    let names = reader.names(&other).expect("an object");
    assert_eq!(
        names,
        ("hopper".into(), "mma.m8n8k4.f16.f16.f16.f16".into())
    );
    assert!(Reader::new(catalogue).read_default(&bare).is_err());
    // A default that is not known is the line's error, in column 1.
    let mut wrong = Reader::new(catalogue).with_default(Some("volt".into()), Some(name.into()));
    assert_eq!(wrong.read(&bare).expect_err("unknown").column, 1);
}

/// NVFP4: one digit an element, the scale's top bit ignored.
#[test]
fn four_bit_elements_and_scales() {
    let mut reader = Reader::new(Catalogue::built_in());
    let instruction = "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3";
    let (a, b) = ("2".repeat(64), "4".repeat(64)); // 1 and 2
    let rest = format!(r#""a":"{a}","b":"{b}","c":"00000000","sa":"38b83838","sb":"40404040""#);
    let text = line("sm_120", instruction, &rest);
    let vector = reader.read(&text).expect("good");
    assert_eq!(vector.compute(), Ok(0x4380_0000)); // 64 · 1·2 · 1·2 = 256
}
