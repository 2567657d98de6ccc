//! Elements become words of an operand: rounding, range, raw words.

use mmascope::array::{Array, Casting, Element};
use mmascope::format::{
    BF16, E2M1FN, E4M3FN, E5M2, E8M13, F16, F32, F64, Format, TF32, UE4M3, UE8M0,
};

use crate::files::f32s;

fn floats(numbers: &[f32]) -> Array {
    let shape = [1, numbers.len()];
    Array::new("x", &shape, Element::Number(F32), f32s(numbers)).expect("an array")
}

fn codes(element: Element, bytes: &[u8]) -> Array {
    let size = match element {
        Element::Unsigned(size) | Element::Signed(size) | Element::Opaque(size) => size,
        Element::Number(_) => 1,
    };
    Array::new("x", &[bytes.len() / size], element, bytes.to_vec()).expect("an array")
}

const SATURATE: Casting = Casting {
    rounding: None,
    saturate: true,
};

fn message(array: &Array, operand: &Format, casting: &Casting) -> String {
    array
        .words(operand, casting)
        .expect_err("refused")
        .to_string()
}

#[test]
fn numbers_are_rounded_to_nearest_even() {
    // 1 + 2^-11 is a tie in f16, 1 + 2^-11 + 2^-20 is above it, 1 + 3·2^-11 ties upwards.
    let array = floats(&[1.000_488_3, 1.000_489_2, 1.001_464_8, 1e-8, -3e-8, -0.0]);
    let expected = [0x3c00, 0x3c01, 0x3c02, 0, 0x8001, 0x8000];
    assert_eq!(
        array.words(&F16, &Casting::default()).expect("fits"),
        expected
    );
    let rz = Casting::default().with_rounding("rz").expect("a mode");
    let expected = [0x3c00, 0x3c00, 0x3c01, 0, 0x8000, 0x8000];
    assert_eq!(array.words(&F16, &rz).expect("fits"), expected);
    assert!(Casting::default().with_rounding("up").is_err());
}

#[test]
fn f32_goes_to_tf32_as_raw_words_unless_rounding_is_asked_for() {
    let word = 0x3f80_1000; // 1 + 2^-11: half of tf32's last place
    let array = floats(&[f32::from_bits(word), f32::from_bits(0x7f80_0001)]);
    let raw = array.words(&TF32, &Casting::default()).expect("fits");
    assert_eq!(raw, [0x3f80_1000, 0x7f80_0001]);
    assert_eq!(
        array
            .words(&E8M13, &Casting::default())
            .expect("fits")
            .get(0),
        0x3f80_1000
    );
    for (mode, expected) in [
        ("rne", 0x3f80_0000),
        ("rna", 0x3f80_2000),
        ("rz", 0x3f80_0000),
    ] {
        let casting = Casting::default().with_rounding(mode).expect("a mode");
        let words = array.words(&TF32, &casting).expect("fits");
        assert_eq!(words.get(0), expected, "{mode}");
    }
    let double = (1.0 + f64::EPSILON).to_le_bytes().to_vec();
    let double = Array::new("x", &[1], Element::Number(F64), double).expect("an array");
    let words = double.words(&TF32, &Casting::default());
    assert_eq!(words.expect("fits"), [0x3f80_0000]);
}

#[test]
fn the_same_format_keeps_its_bits() {
    let nan = 0x7f81_2345;
    let array = floats(&[f32::from_bits(nan)]);
    let words = array.words(&F32, &Casting::default()).expect("fits");
    assert_eq!(words, [u64::from(nan)]);
}

#[test]
fn numbers_out_of_range_are_errors_or_saturate() {
    // For each format: the largest number that still fits after RNE, and the first that does not.
    for (format, last, first, largest) in [
        (E4M3FN, 464.0, 464.001, 0x7e),
        (E5M2, 61439.0, 61440.0, 0x7b),
        (E2M1FN, 6.999, 7.0, 7),
        (F16, 65519.0, 65520.0, 0x7bff),
        (
            BF16,
            f32::from_bits(0x7f7f_7fff),
            f32::from_bits(0x7f7f_8000),
            0x7f7f,
        ),
    ] {
        for sign in [1.0, -1.0] {
            let sign_bit = if sign < 0.0 {
                1 << (format.bits - 1)
            } else {
                0
            };
            let fits = floats(&[sign * last]).words(&format, &Casting::default());
            assert_eq!(fits.expect("fits"), [largest | sign_bit], "{format}");
            let beyond = floats(&[0.0, sign * first]);
            let text = message(&beyond, &format, &Casting::default());
            assert!(text.contains("element [0, 1] = "), "{text}");
            assert!(text.contains(&format!("largest {format}")), "{text}");
            let clamped = beyond.words(&format, &SATURATE).expect("clamped");
            assert_eq!(clamped, [0, largest | sign_bit], "{format}");
        }
    }
    let rz = Casting::default().with_rounding("rz").expect("a mode");
    assert_eq!(floats(&[65535.0]).words(&F16, &rz).expect("fits"), [0x7bff]);
    assert!(floats(&[65536.0]).words(&F16, &rz).is_err());
}

#[test]
fn infinities_and_nans_go_where_the_format_has_them() {
    let infinite = floats(&[f32::NEG_INFINITY]);
    for casting in [Casting::default(), SATURATE] {
        assert_eq!(infinite.words(&F16, &casting).expect("fits"), [0xfc00]);
        assert_eq!(infinite.words(&E5M2, &casting).expect("fits"), [0xfc]);
        assert_eq!(
            floats(&[f32::NAN]).words(&E4M3FN, &casting).expect("fits"),
            [0x7f]
        );
        assert_eq!(
            floats(&[f32::NAN]).words(&BF16, &casting).expect("fits"),
            [0x7fc0]
        );
        let text = message(&floats(&[f32::NAN]), &E2M1FN, &casting);
        assert!(text.contains("no NaN"), "{text}");
    }
    assert!(message(&infinite, &E4M3FN, &Casting::default()).contains("-inf"));
    assert_eq!(infinite.words(&E4M3FN, &SATURATE).expect("clamped"), [0xfe]);
}

#[test]
fn codes_are_checked() {
    let default = Casting::default();
    let shorts = [0x1ff_u16, 3].map(u16::to_le_bytes).concat();
    let text = message(&codes(Element::Unsigned(2), &shorts), &E4M3FN, &default);
    assert!(
        text.contains("element [0] = 0x1ff is no code of e4m3fn"),
        "{text}"
    );
    let text = message(&codes(Element::Unsigned(1), &[1, 16]), &E2M1FN, &default);
    assert!(
        text.contains("element [1] = 0x10 is no code of e2m1fn"),
        "{text}"
    );
    let text = message(&codes(Element::Signed(2), &[0xff, 0xff]), &E4M3FN, &default);
    assert!(text.contains("is negative: only an int8"), "{text}");
    let text = message(&codes(Element::Signed(1), &[0xff]), &F16, &default);
    assert!(text.contains("is negative: only an int16"), "{text}");
    let text = message(&codes(Element::Signed(1), &[0xff]), &E2M1FN, &default);
    assert!(text.contains("no code of e2m1fn"), "{text}");
    for (bytes, operand) in [(1, F16), (2, E4M3FN), (2, F32), (1, F64)] {
        let text = message(&codes(Element::Opaque(bytes), &[0; 4]), &operand, &default);
        assert!(text.contains("takes"), "{text}");
    }
    let words = codes(Element::Unsigned(4), &[1, 0x20, 0x80, 0x3f]).words(&TF32, &default);
    assert_eq!(words.expect("raw word"), [0x3f80_2001]);
    let number = Array::new("x", &[1], Element::Number(F16), vec![0, 0x3c]).expect("an array");
    let integers = Format::named("int8").expect("a format");
    assert!(
        message(&number, &integers, &default).contains("integers are needed (int8, or its codes)")
    );
}

#[test]
fn block_scales_are_codes() {
    let scales = codes(Element::Unsigned(1), &[127, 0, 255]);
    assert_eq!(scales.scale_words(&UE8M0).expect("codes"), [127, 0, 255]);
    let f8 = |bytes: &[u8]| {
        Array::new("s", &[bytes.len()], Element::Number(E4M3FN), bytes.to_vec()).expect("an array")
    };
    assert_eq!(
        f8(&[0x38, 0x7f]).scale_words(&UE4M3).expect("codes"),
        [0x38, 0x7f]
    );
    let error = f8(&[0x38, 0xb8])
        .scale_words(&UE4M3)
        .expect_err("refused")
        .to_string();
    assert!(error.contains("element [1] = -1e0 is negative"), "{error}");
    for (array, scale) in [
        (f8(&[0x38]), UE8M0),
        (floats(&[1.0]), UE8M0),
        (codes(Element::Opaque(2), &[0; 2]), UE8M0),
        // An int8 or int16 may as well be an exponent.
        (codes(Element::Signed(1), &[0]), UE8M0),
        (codes(Element::Signed(2), &[0; 2]), UE8M0),
        (codes(Element::Unsigned(2), &[0; 2]), UE8M0),
        (codes(Element::Signed(8), &[0; 8]), UE8M0),
    ] {
        let error = array.scale_words(&scale).expect_err("refused").to_string();
        assert!(error.contains("block scales are codes of ue8m0"), "{error}");
    }
    assert!(
        codes(Element::Unsigned(2), &[0, 1])
            .scale_words(&UE8M0)
            .is_err()
    );
}

#[test]
fn arrays_that_cannot_be_are_refused() {
    for (shape, element, bytes) in [
        (&[2, 2][..], Element::Number(F32), 15),
        (&[3][..], Element::Number(E2M1FN), 2),
        (&[1][..], Element::Unsigned(3), 3),
        (&[1][..], Element::Number(TF32), 4),
        (&[usize::MAX, 2][..], Element::Unsigned(1), 0),
    ] {
        let array = Array::new("x", shape, element, vec![0; bytes]);
        assert!(array.is_err(), "{shape:?} {element}");
    }
    assert!(Array::new("x", &[0, usize::MAX], Element::Unsigned(1), Vec::new()).is_ok());
}

/// Long arrays remember what became of a number; short ones do not.
#[test]
fn long_arrays_are_cast_as_short_ones() {
    let number = |bytes: Vec<u8>| {
        Array::new("x", &[1, bytes.len()], Element::Number(E4M3FN), bytes).expect("an array")
    };
    let all: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
    let words = |bytes: &[u8], operand: &Format, casting: &Casting| {
        number(bytes.to_vec()).words(operand, casting)
    };
    for operand in [F16, E5M2, TF32, E2M1FN] {
        let finite: Vec<u8> = all
            .iter()
            .copied()
            .filter(|code| code & 0x7f != 0x7f)
            .collect();
        let long = words(&finite, &operand, &SATURATE).expect("words").to_vec();
        let each = finite.iter().flat_map(|code| {
            let word = words(&[*code], &operand, &SATURATE);
            word.expect("a word").to_vec()
        });
        assert_eq!(long, each.collect::<Vec<u64>>(), "{operand}");
    }
    // An error names the first element, also the second time that its number is met.
    let twice = [&[0x38; 256][..], &[0x7e, 0x7e]].concat();
    let error = words(&twice, &E2M1FN, &Casting::default()).expect_err("448");
    assert!(error.to_string().contains("[0, 256]"), "{error}");
}
