//! Files that are right.

use mmascope::Error;
use mmascope::array::{self, Array, Casting, Element};
use mmascope::format::{BF16, E2M1FN, E4M3FN, E5M2, F16, F32, F64, Format, UE8M0};

use crate::files::{f32s, npy, npy_with_header, one_tensor, safetensors};

fn words(array: &Array, format: &Format) -> Vec<u64> {
    array
        .words(format, &Casting::default())
        .expect("it fits")
        .to_vec()
}

#[test]
fn npy_in_every_element_type() {
    let one = |descr: &str, bytes: &[u8]| {
        array::npy_of_bytes(&npy(descr, false, "(1, 2)", bytes)).expect("a right file")
    };
    let array = one("<f2", &[0, 0x3c, 1, 0x80]);
    assert_eq!(array.shape(), [1, 2]);
    assert_eq!(array.element(), Element::Number(F16));
    assert_eq!(words(&array, &F16), [0x3c00, 0x8001]);
    assert_eq!(
        words(&one("<f4", &f32s(&[1.0, -2.5])), &F16),
        [0x3c00, 0xc100]
    );
    let doubles = [0.1_f64, -1e-3].map(f64::to_le_bytes).concat();
    assert_eq!(
        words(&one("<f8", &doubles), &F32),
        [0x3dcc_cccd, 0xba83_126f]
    );
    assert_eq!(words(&one("<f8", &doubles), &F64)[0], 0.1_f64.to_bits());
    assert_eq!(words(&one("|u1", &[0x38, 0xff]), &E4M3FN), [0x38, 0xff]);
    assert_eq!(words(&one("|i1", &[0x38, 0xff]), &E4M3FN), [0x38, 0xff]);
    assert_eq!(
        words(&one("<u2", &[0, 0x3c, 1, 0x80]), &F16),
        [0x3c00, 0x8001]
    );
    assert_eq!(
        words(&one("<i2", &[0, 0x3c, 1, 0x80]), &BF16),
        [0x3c00, 0x8001]
    );
    let quads = [1_u32, 0x80ff].map(u32::to_le_bytes).concat();
    assert_eq!(words(&one("<u4", &quads), &F16), [1, 0x80ff]);
    let octets = [1_i64, 0x7f].map(i64::to_le_bytes).concat();
    assert_eq!(words(&one("<i8", &octets), &E4M3FN), [1, 0x7f]);
    assert_eq!(words(&one("<u8", &octets), &E4M3FN), [1, 0x7f]);
    for descr in ["<V2", "|V2"] {
        assert_eq!(
            words(&one(descr, &[0x80, 0x3f, 0, 0xc0]), &BF16),
            [0x3f80, 0xc000]
        );
    }
    for descr in ["<V1", "|V1"] {
        assert_eq!(words(&one(descr, &[2, 15]), &E2M1FN), [2, 15]);
    }
    for descr in ["<f1", "|f1"] {
        assert_eq!(words(&one(descr, &[0x3c, 0xbc]), &E5M2), [0x3c, 0xbc]);
    }
}

#[test]
fn npy_in_every_version_and_spelling_of_the_header() {
    let bytes = f32s(&[1.0, 2.0]);
    for version in [1, 2, 3] {
        for text in [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }   \n",
            "{\"shape\":(2,1),\"descr\":\"<f4\",\"fortran_order\":False}",
            " { 'shape' : ( 2L , 1L , ) , 'fortran_order' : False , 'descr' : '<f4' } ",
        ] {
            let array = array::npy_of_bytes(&npy_with_header(version, text, &bytes));
            let array = array.unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(array.shape(), [2, 1]);
            assert_eq!(words(&array, &F32), [0x3f80_0000, 0x4000_0000]);
        }
    }
    for (shape, dimensions) in [("()", &[][..]), ("(2,)", &[2])] {
        let count: usize = dimensions.iter().product();
        let file = npy("<f4", false, shape, &f32s(&vec![0.0; count]));
        assert_eq!(
            array::npy_of_bytes(&file).expect("right").shape(),
            dimensions
        );
    }
}

#[test]
fn big_endian_npy() {
    let big = |descr: &str, bytes: &[u8]| {
        array::npy_of_bytes(&npy(descr, false, "(1, 1)", bytes)).expect("a right file")
    };
    assert_eq!(words(&big(">f2", &[0x3c, 0x01]), &F16), [0x3c01]);
    assert_eq!(words(&big(">f4", &1.5_f32.to_be_bytes()), &F16), [0x3e00]);
    assert_eq!(words(&big(">f8", &1.5_f64.to_be_bytes()), &F16), [0x3e00]);
    assert_eq!(words(&big(">u4", &[0, 0, 0x12, 0x34]), &F16), [0x1234]);
    assert_eq!(words(&big(">V2", &[0x3f, 0x80]), &BF16), [0x3f80]);
    assert_eq!(words(&big(">i1", &[0x7e]), &E4M3FN), [0x7e]);
}

#[test]
fn fortran_order_npy() {
    // [[1, 2, 3], [4, 5, 6]] and a 2 × 3 × 2 array of its own indices, first index fastest.
    let file = npy("|u1", true, "(2, 3)", &[1, 4, 2, 5, 3, 6]);
    let array = array::npy_of_bytes(&file).expect("a right file");
    assert_eq!(array.bytes(), [1, 2, 3, 4, 5, 6]);
    let mut fortran = Vec::new();
    for l in 0..2_u8 {
        for j in 0..3_u8 {
            for i in 0..2_u8 {
                fortran.extend([i, 16 * j + l]); // big-endian
            }
        }
    }
    let array = array::npy_of_bytes(&npy(">u2", true, "(2, 3, 2)", &fortran));
    let mut expected = Vec::new();
    for i in 0..2_u8 {
        for j in 0..3_u8 {
            for l in 0..2_u8 {
                expected.extend([16 * j + l, i]);
            }
        }
    }
    assert_eq!(array.expect("a right file").bytes(), expected);
    let empty = array::npy_of_bytes(&npy("<f4", true, "(0, 5)", &[])).expect("a right file");
    assert_eq!(empty.shape(), [0, 5]);
    assert!(empty.rows_and_columns().is_err());
}

#[test]
fn safetensors_in_every_element_type() {
    let one = |dtype: &str, shape: &str, bytes: &[u8]| {
        let file = one_tensor(dtype, shape, bytes);
        array::safetensors_of_bytes(&file, "x").expect("a right file")
    };
    assert_eq!(
        words(&one("F32", "[1,2]", &f32s(&[1.0, -2.5])), &F16),
        [0x3c00, 0xc100]
    );
    assert_eq!(
        words(&one("F64", "[1,1]", &0.1_f64.to_le_bytes()), &F32),
        [0x3dcc_cccd]
    );
    assert_eq!(words(&one("F16", "[1,1]", &[1, 0x3c]), &F16), [0x3c01]);
    assert_eq!(words(&one("BF16", "[1,1]", &[0x81, 0x3f]), &BF16), [0x3f81]);
    assert_eq!(words(&one("BF16", "[1,1]", &[0x80, 0x3f]), &F16), [0x3c00]);
    assert_eq!(
        words(&one("F8_E4M3", "[1,2]", &[0x38, 0x7e]), &E4M3FN),
        [0x38, 0x7e]
    );
    assert_eq!(
        words(&one("F8_E4M3", "[1,2]", &[0x38, 0xb8]), &F16),
        [0x3c00, 0xbc00]
    );
    assert_eq!(
        words(&one("F8_E5M2", "[1,2]", &[0x3c, 0xbc]), &F16),
        [0x3c00, 0xbc00]
    );
    assert_eq!(words(&one("F8_E5M2", "[1,1]", &[0x3c]), &E4M3FN), [0x38]);
    assert_eq!(words(&one("F8_E4M3FNUZ", "[1,1]", &[0x40]), &F16), [0x3c00]);
    assert_eq!(words(&one("F8_E5M2FNUZ", "[1,1]", &[0x40]), &F16), [0x3c00]);
    assert_eq!(words(&one("U8", "[1,2]", &[1, 255]), &E4M3FN), [1, 255]);
    assert_eq!(words(&one("I8", "[1,2]", &[1, 255]), &E4M3FN), [1, 255]);
    assert_eq!(words(&one("U16", "[1,1]", &[1, 2]), &F16), [0x201]);
    assert_eq!(words(&one("I16", "[1,1]", &[1, 2]), &F16), [0x201]);
    // Element 2i is the low nibble.
    let fp4 = one("F4", "[2,4]", &[0x21, 0x43, 0xa9, 0xfe]);
    assert_eq!(words(&fp4, &E2M1FN), [1, 2, 3, 4, 9, 10, 14, 15]);
    assert_eq!(words(&fp4, &F16)[..4], [0x3800, 0x3c00, 0x3e00, 0x4000]); // 0.5 1 1.5 2
    let scales = one("F8_E8M0", "[1,2]", &[127, 255]);
    assert_eq!(scales.scale_words(&UE8M0).expect("codes"), [127, 255]);
}

#[test]
fn the_right_array_among_several_is_read_from_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = r#"{"__metadata__":{"format":"pt"},
        "w.2":{"dtype":"U8","shape":[1,2],"data_offsets":[4,6]},
        "w:1":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},
        "flag":{"dtype":"BOOL","shape":[1],"data_offsets":[6,7]}}"#;
    let bytes = [&f32s(&[1.0])[..], &[7, 8, 1]].concat();
    let path = folder.path().join("two.safetensors");
    std::fs::write(&path, safetensors(header, &bytes)).expect("written");
    let path = path.to_str().expect("a name");
    assert_eq!(
        array::read(&format!("{path}:w.2")).expect("right").bytes(),
        [7, 8]
    );
    let first = array::read(&format!("{path}:w:1")).expect("right");
    assert_eq!(words(&first, &F32), [0x3f80_0000]);
    assert_eq!(first.name(), format!("{path}:w:1"));
    let file = std::fs::read(path).expect("read");
    assert_eq!(
        array::safetensors_names(&file).expect("names"),
        ["flag", "w.2", "w:1"]
    );
    for (wrong, wanted) in [
        (
            path.to_owned(),
            &["name one of its arrays", "'w.2'", "'w:1'"][..],
        ),
        (
            format!("{path}:w.3"),
            &["unknown array 'w.3'", "nearest: w.2", "'flag'"],
        ),
        (format!("{path}:"), &["unknown array ''", "'w.2'"]),
        (format!("{path}:flag"), &["BOOL", "not taken"]),
    ] {
        let error = array::read(&wrong).expect_err("wrong").to_string();
        for part in wanted {
            assert!(error.contains(part), "{wrong}: {error}");
        }
    }
    let missing = array::read("no/such/file.npy");
    assert!(matches!(missing, Err(Error::Io { .. })), "{missing:?}");
    let folder_name = folder.path().to_str().expect("a name");
    let error = array::read(folder_name).expect_err("a folder").to_string();
    assert!(error.contains("no regular file"), "{error}");
}
