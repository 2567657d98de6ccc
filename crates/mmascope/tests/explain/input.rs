//! Operands as people write them: what is taken, what is refused and in which words.

use mmascope::dpa::{Scale, Signature};
use mmascope::explain::{TraceRequest, TracedInput};
use mmascope::format::{E4M3FN, F16, F32, Format, UE8M0};

fn signature() -> Signature {
    Signature {
        a: F16,
        b: F16,
        c: F32,
        d: F32,
        k: 4,
        scale: None,
    }
}

fn scaled() -> Signature {
    let scale = Some(Scale {
        format: UE8M0,
        block: 32,
    });
    Signature {
        a: E4M3FN,
        b: E4M3FN,
        c: F32,
        d: F32,
        k: 64,
        scale,
    }
}

#[test]
fn every_spelling_of_a_number() {
    for (text, word) in [
        ("1", 0x3c00),
        ("-0.5", 0xb800),
        ("+2", 0x4000),
        ("0", 0),
        ("-0", 0x8000),
        (".5", 0x3800),
        ("2^13", 0x7000),
        ("-2^13", 0xf000),
        ("1.5*2^-3", 0x3200),
        ("3*2^-26", 1),
        ("2^-24", 1),
        ("0x3c00", 0x3c00),
        ("0x1.8p-3", 0x3200),
        ("-0x1p0", 0xbc00),
        ("5e-1", 0x3800),
        ("1e2", 0x5640),
        ("inf", 0x7c00),
        ("-Inf", 0xfc00),
        ("nan", 0x7e00),
        (" 1 ", 0x3c00),
        ("65504", 0x7bff),
        ("0x1", 1),
    ] {
        let request = TraceRequest {
            a: text,
            round: text == "3*2^-26",
            ..TraceRequest::default()
        };
        let input = TracedInput::read(&signature(), &request);
        assert_eq!(input.map(|input| input.words.a[0]), Ok(word), "{text}");
    }
}

#[test]
fn short_lists_and_hexadecimal_strings() {
    let request = TraceRequest {
        a: "1,1",
        b: "3c003c003c003c00",
        c: Some("3f800000"),
        ..TraceRequest::default()
    };
    let input = TracedInput::read(&signature(), &request).expect("operands");
    assert_eq!(
        (input.words.a, input.words.b, input.words.c),
        (vec![0x3c00, 0x3c00, 0, 0], vec![0x3c00; 4], 0x3f80_0000)
    );
    assert_eq!(input.given, 4);
    assert_eq!(input.notes, ["a has 2 of 4 elements; the others are +0"]);
    // Eight decimal digits are a word, and the output says so.
    let digits = TraceRequest {
        c: Some("16777216"),
        ..TraceRequest::default()
    };
    let input = TracedInput::read(&signature(), &digits).expect("operands");
    assert_eq!(input.words.c, 0x1677_7216);
    assert!(
        input
            .notes
            .iter()
            .any(|note| note.contains("read as a hexadecimal word")),
        "{:?}",
        input.notes
    );
    let point = TraceRequest {
        c: Some("16777216.0"),
        ..TraceRequest::default()
    };
    assert_eq!(
        TracedInput::read(&signature(), &point)
            .expect("operands")
            .words
            .c,
        0x4b80_0000
    );
    // Scales are 1 where they are left out.
    let some = TraceRequest {
        a: "1",
        b: "1",
        scale_a: Some("2^3"),
        ..TraceRequest::default()
    };
    let input = TracedInput::read(&scaled(), &some).expect("operands");
    assert_eq!(
        (input.words.scale_a, input.words.scale_b),
        (vec![130, 127], vec![127, 127])
    );
}

#[test]
fn values_are_exact_unless_rounding_is_asked_for() {
    let tenth = TraceRequest {
        a: "0.1",
        ..TraceRequest::default()
    };
    let error = TracedInput::read(&signature(), &tenth)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("a[0] = 0.1 is no f16: the nearest is 0x1.998p-4; rounding takes that"),
        "{error}"
    );
    let rounded = TracedInput::read(
        &signature(),
        &TraceRequest {
            round: true,
            ..tenth
        },
    )
    .expect("rounded");
    assert_eq!(rounded.words.a[0], 0x2e66);
    // Ties go to even, from exact fractions and not from binary64.
    for (text, word) in [
        ("2049", 0x6800),
        ("2051", 0x6802),
        ("2049.0000000000000000000000000001", 0x6801),
    ] {
        let request = TraceRequest {
            a: text,
            round: true,
            ..TraceRequest::default()
        };
        assert_eq!(
            TracedInput::read(&signature(), &request).map(|input| input.words.a[0]),
            Ok(word),
            "{text}"
        );
    }
    // Beyond the largest number nothing is rounded, in formats that saturate neither.
    let e2m1 = Format::named("e2m1").expect("known");
    let narrow = Signature {
        a: e2m1,
        b: e2m1,
        ..signature()
    };
    for (signature, text, word) in [
        (signature(), "65503", Some(0x7bff)),
        (signature(), "65519", Some(0x7bff)),
        (signature(), "65520", None),
        (narrow, "5.5", Some(7)),
        (narrow, "-5.5", Some(15)),
        (narrow, "6.5", None),
        (narrow, "-600", None),
    ] {
        let request = TraceRequest {
            a: text,
            round: true,
            ..TraceRequest::default()
        };
        let input = TracedInput::read(&signature, &request);
        assert_eq!(input.ok().map(|input| input.words.a[0]), word, "{text}");
    }
    // Every f16 written out is itself.
    for code in (0..0x7c00).step_by(37) {
        let value = mmascope::explain::TracedValue::of(&F16.decode(code)).to_string();
        let request = TraceRequest {
            a: &value,
            ..TraceRequest::default()
        };
        assert_eq!(
            TracedInput::read(&signature(), &request).map(|input| input.words.a[0]),
            Ok(code),
            "{value}"
        );
    }
}

#[test]
fn wrong_input_is_refused_in_words() {
    let a = |text: &'static str| TraceRequest {
        a: text,
        ..TraceRequest::default()
    };
    let cases = [
        (a("1,1,1,1,1"), "a has 5 elements; at most 4 are taken"),
        (
            a("one"),
            "a[0] = 'one': 'one' is no number; expected a decimal",
        ),
        (a("1,,1"), "a[1] = '': '' is no number"),
        (a("1/2"), "a[0] = '1/2': '1/2' is no number"),
        (a("2^x"), "the exponent 'x' is no whole number"),
        (
            a("1e99999"),
            "the exponent '99999' is no whole number of this size",
        ),
        (
            a("0x12345"),
            "a[0] = 0x12345: a word of f16 has at most 4 hexadecimal digits",
        ),
        (
            a("0xg"),
            "a[0] = 0xg: a word of f16 has at most 4 hexadecimal digits",
        ),
        (a("65520"), "a[0] = 65520 is beyond the largest f16, 65504"),
        (a("1e300"), "a[0] = 1e300 is beyond the largest f16, 65504"),
        (a("--1"), "a[0] = '--1'"),
        (a("1*"), "'' is no number"),
        (a("0x1.8"), "0x1.8"),
        (
            TraceRequest {
                c: Some("1,2"),
                ..TraceRequest::default()
            },
            "c has 2 elements; at most 1 are taken",
        ),
        (
            TraceRequest {
                scale_a: Some("1"),
                ..TraceRequest::default()
            },
            "sa: the instruction has no block scales",
        ),
    ];
    for (request, wanted) in cases {
        match TracedInput::read(&signature(), &request) {
            Err(error) => assert!(error.to_string().contains(wanted), "{error}\n{wanted}"),
            // A hexadecimal float without an exponent is one with p0.
            Ok(_) => assert_eq!(request.a, "0x1.8"),
        }
    }
    let none = TraceRequest {
        a: "inf",
        ..TraceRequest::default()
    };
    let error = TracedInput::read(&scaled(), &none).unwrap_err().to_string();
    assert!(error.contains("e4m3fn has none"), "{error}");
    let scale = TraceRequest {
        scale_a: Some("3"),
        ..TraceRequest::default()
    };
    let error = TracedInput::read(&scaled(), &scale)
        .unwrap_err()
        .to_string();
    assert!(error.contains("sa[0] = 3 is no ue8m0"), "{error}");
    let narrow = Signature {
        a: Format::named("e3m2").expect("known"),
        ..signature()
    };
    let error = TracedInput::read(&narrow, &a("0xff"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("does not fit the 6 bits of e3m2fn"),
        "{error}"
    );
}

#[test]
fn operands_move_to_other_units() {
    let request = TraceRequest {
        a: "1.5, 2, 3",
        b: "1, 1, 1",
        c: Some("0.25"),
        ..TraceRequest::default()
    };
    let input = TracedInput::read(&signature(), &request).expect("operands");
    let narrow = Signature {
        a: E4M3FN,
        b: E4M3FN,
        k: 2,
        ..signature()
    };
    let moved = input.transfer(&signature(), &narrow, false).expect("fits");
    assert_eq!(moved.words.a, [0x3c, 0x40, 0x44, 0]);
    assert_eq!(
        moved.notes[0],
        "2 chained instructions: each d is the next one's c"
    );
    let fine = TraceRequest {
        a: "1.0625",
        ..request
    };
    let input = TracedInput::read(&signature(), &fine).expect("operands");
    let error = input
        .transfer(&signature(), &narrow, false)
        .unwrap_err()
        .to_string();
    assert!(error.contains("a[0] = 1.0625 is no e4m3fn"), "{error}");
    assert!(input.transfer(&signature(), &narrow, true).is_ok());
    // Scales: to a unit without them only when all are 1; to other blocks only when they agree.
    let request = TraceRequest {
        a: "1",
        b: "1",
        scale_a: Some("2"),
        ..TraceRequest::default()
    };
    let input = TracedInput::read(&scaled(), &request).expect("operands");
    let error = input
        .transfer(&scaled(), &signature(), false)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("sa: a scale is 2; the other unit has none"),
        "{error}"
    );
    let plain = TracedInput::read(
        &scaled(),
        &TraceRequest {
            scale_a: None,
            ..request
        },
    )
    .expect("operands");
    assert_eq!(
        plain
            .transfer(&scaled(), &signature(), false)
            .map(|moved| moved.words.scale_a),
        Ok(vec![])
    );
    let ones = vec!["1"; 64].join(",");
    let both = TraceRequest {
        a: &ones,
        b: &ones,
        scale_a: Some("2, 4"),
        ..TraceRequest::default()
    };
    let input = TracedInput::read(&scaled(), &both).expect("operands");
    let wide = Signature {
        scale: Some(Scale {
            format: UE8M0,
            block: 64,
        }),
        ..scaled()
    };
    let error = input
        .transfer(&scaled(), &wide, false)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("one scale for 64 products, where 2 and 4 are given"),
        "{error}"
    );
}
