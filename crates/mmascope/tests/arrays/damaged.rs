//! Files that are wrong: each is refused, with a message that says why.

use mmascope::array::{self, Array};

use crate::files::{f32s, npy, npy_with_header, one_tensor, safetensors};

fn refused(what: &str, result: mmascope::Result<Array>, wanted: &str) {
    match result {
        Ok(array) => panic!("{what}: read as {:?} {:?}", array.element(), array.shape()),
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains(wanted), "{what}: {message}");
        }
    }
}

#[test]
fn npy_files_that_are_wrong() {
    let bytes = f32s(&[1.0, 2.0]);
    let right = npy("<f4", false, "(1, 2)", &bytes);
    for end in 0..right.len() {
        let cut = array::npy_of_bytes(&right[..end]);
        assert!(cut.is_err(), "{end} bytes of {}", right.len());
    }
    let with = |descr: &str, shape: &str| npy(descr, false, shape, &bytes);
    let entry = |text: &str| npy_with_header(1, text, &bytes);
    let mut huge_header = b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec();
    huge_header.extend([b' '; 100]);
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", Vec::new(), "no .npy file"),
        (
            "a zip",
            b"PK\x03\x04 and more bytes".to_vec(),
            "no .npy file",
        ),
        (
            "only the magic number",
            b"\x93NUMPY".to_vec(),
            "no .npy file",
        ),
        ("version 9", npy_with_header(9, "{}", &[]), "version 9.0"),
        ("a header of 4 GiB", huge_header, "claims 4294967295 bytes"),
        (
            "a header of 60 kB that is not there",
            b"\x93NUMPY\x01\x00\x60\xea{".to_vec(),
            "60000",
        ),
        (
            "2^60 elements",
            with("<f4", "(1073741824, 1073741824)"),
            "no memory",
        ),
        (
            "a terabyte",
            with("<f4", "(524288, 524288)"),
            "should have 1099511627776 bytes",
        ),
        (
            "more than 2^64",
            with("<f4", "(4294967296, 4294967296)"),
            "no memory can hold",
        ),
        (
            "a dimension beyond 2^64",
            with("<f4", "(99999999999999999999, 1)"),
            "a dimension",
        ),
        (
            "a negative dimension",
            with("<f4", "(-1, 2)"),
            "a dimension",
        ),
        (
            "a fractional dimension",
            with("<f4", "(1.0, 2)"),
            "expected",
        ),
        (
            "a shape that is no tuple",
            with("<f4", "[1, 2]"),
            "'(' is expected",
        ),
        ("a number for a shape", with("<f4", "2"), "'(' is expected"),
        ("an open shape", with("<f4", "(1, 2"), "a dimension"),
        (
            "too few bytes",
            with("<f4", "(1, 3)"),
            "cut short or damaged",
        ),
        ("too many bytes", with("<f4", "(1, 1)"), "4 bytes follow"),
        (
            "complex numbers",
            with("<c8", "(1, 1)"),
            "'<c8' are not taken",
        ),
        (
            "extended floats",
            with("<f16", "(1, 1)"),
            "'<f16' are not taken",
        ),
        ("booleans", with("|b1", "(1, 8)"), "'|b1' are not taken"),
        ("objects", with("|O", "(1, 1)"), "'|O' are not taken"),
        ("text", with("<U2", "(1, 1)"), "'<U2' are not taken"),
        ("byte strings", with("|S8", "(1, 1)"), "'|S8' are not taken"),
        ("dates", with("<M8[ns]", "(1, 1)"), "are not taken"),
        ("void of 0 bytes", with("|V0", "(1, 1)"), "are not taken"),
        ("void of 3 bytes", with("|V3", "(1, 1)"), "are not taken"),
        ("no byte order", with("f4", "(1, 2)"), "are not taken"),
        ("native byte order", with("=f4", "(1, 2)"), "are not taken"),
        (
            "floats without byte order",
            with("|f4", "(1, 2)"),
            "are not taken",
        ),
        ("an empty type", with("", "(1, 2)"), "are not taken"),
        (
            "a type that is no ASCII",
            with("é4", "(1, 2)"),
            "are not taken",
        ),
        (
            "a record",
            entry("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
            "several fields",
        ),
        ("an empty dictionary", entry("{}"), "no entry 'descr'"),
        (
            "no shape",
            entry("{'descr': '<f4', 'fortran_order': False}"),
            "no entry 'shape'",
        ),
        (
            "no order",
            entry("{'descr': '<f4', 'shape': (2,)}"),
            "no entry 'fortran_order'",
        ),
        (
            "two shapes",
            entry("{'shape': (2,), 'shape': (2,)}"),
            "two entries 'shape'",
        ),
        ("another entry", entry("{'size': 3}"), "an entry 'size'"),
        ("order 1", entry("{'fortran_order': 1}"), "True or False"),
        (
            "no comma",
            entry("{'shape': (2,) 'descr': '<f4'}"),
            "'}' is expected",
        ),
        ("no colon", entry("{'shape' (2,)}"), "':' is expected"),
        (
            "a string without an end",
            entry("{'shape"),
            "a string with an end",
        ),
        (
            "an open dictionary",
            entry("{'shape': (2,)"),
            "ends where '}'",
        ),
        (
            "something behind",
            entry("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)} x"),
            "the end of the header",
        ),
        (
            "nesting",
            npy_with_header(2, &"(".repeat(60_000), &[]),
            "'{' is expected",
        ),
        (
            "nested shapes",
            with("<f4", &"(".repeat(20_000)),
            "a dimension",
        ),
        (
            "65 dimensions",
            with("<f4", &format!("({})", "1, ".repeat(65))),
            "65 dimensions",
        ),
        (
            "zero times huge",
            with("<f4", "(0, 18446744073709551615)"),
            "8 bytes follow",
        ),
    ];
    for (what, file, wanted) in table {
        refused(what, array::npy_of_bytes(&file), wanted);
    }
    let mut latin = entry("{'descr': '<f4'}");
    latin[12] = 0xe9;
    refused("no UTF-8", array::npy_of_bytes(&latin), "no text");
}

#[test]
fn safetensors_files_that_are_wrong() {
    let right = one_tensor("F32", "[1,2]", &f32s(&[1.0, 2.0]));
    for end in 0..right.len() {
        let cut = array::safetensors_of_bytes(&right[..end], "x");
        assert!(cut.is_err(), "{end} bytes of {}", right.len());
    }
    let longer = [&right[..], &[0]].concat();
    let with = |text: &str| safetensors(text, &[0; 8]);
    let tensor = |dtype: &str, shape: &str, from: u64, to: u64| {
        with(&format!(
            r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{from},{to}]}}}}"#
        ))
    };
    let huge = u64::MAX;
    // Sizes whose sum passes 2^64: seven arrays of 2^61 − 8 bytes and one up to the end.
    let mut entries: Vec<String> = Vec::new();
    let (size, mut at) = ((1_u64 << 61) - 8, 0_u64);
    for index in 0..8 {
        let end = at + size;
        entries.push(format!(
            r#""t{index}":{{"dtype":"U8","shape":[{size}],"data_offsets":[{at},{end}]}}"#
        ));
        at = end;
    }
    entries.push(format!(
        r#""x":{{"dtype":"U8","shape":[63],"data_offsets":[{at},{}]}}"#,
        at + 63
    ));
    let overflowing = with(&format!("{{{}}}", entries.join(",")));
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", Vec::new(), "cut short"),
        (
            "a name twice",
            with(
                r#"{"x":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},
                    "x":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}"#,
            ),
            "twice",
        ),
        (
            "an npy file",
            b"\x93NUMPY\x01\x00 and more".to_vec(),
            "this is a .npy file, and no .safetensors file, which is needed here",
        ),
        (
            "an npz file",
            b"PK\x03\x04 and so on".to_vec(),
            "this is an .npz file, and no .safetensors file, which is needed here",
        ),
        (
            "a header of 2^64 bytes",
            vec![0xff; 100],
            "no .safetensors file",
        ),
        (
            "a header of 99 MB",
            99_000_000_u64.to_le_bytes().to_vec(),
            "cut short",
        ),
        ("no JSON", with("{"), "the header is wrong"),
        ("a list", with("[]"), "the header is wrong"),
        ("nesting", with(&"[".repeat(100_000)), "the header is wrong"),
        (
            "nested values",
            with(&format!("{{\"x\":{}", "[".repeat(100_000))),
            "wrong",
        ),
        ("no arrays but bytes", with("{}"), "cut short or damaged"),
        ("bytes behind", longer, "should have 8 bytes, 9 are there"),
        (
            "an unknown type",
            tensor("F5", "[1]", 0, 8),
            "the header is wrong",
        ),
        (
            "an array beyond the end",
            tensor("F32", "[2,2]", 0, 16),
            "16 bytes, 8 are there",
        ),
        (
            "offsets in reverse",
            tensor("F32", "[1,2]", 8, 0),
            "the header is wrong",
        ),
        (
            "a gap in front",
            tensor("F32", "[1,1]", 4, 8),
            "the header is wrong",
        ),
        (
            "offsets and shape differ",
            tensor("F32", "[1,1]", 0, 8),
            "the header is wrong",
        ),
        (
            "huge offsets",
            tensor("U8", "[1]", 0, huge),
            "the header is wrong",
        ),
        (
            "huge shape",
            tensor("F64", "[4294967296,4294967296]", 0, 8),
            "the header is wrong",
        ),
        (
            "half a byte",
            tensor("F4", "[15]", 0, 8),
            "the header is wrong",
        ),
        (
            "a negative dimension",
            tensor("U8", "[-8]", 0, 8),
            "the header is wrong",
        ),
        ("complex numbers", tensor("C64", "[1,1]", 0, 8), "C64"),
        (
            "six-bit floats",
            tensor("F6_E2M3", "[4]", 0, 3),
            "cut short or damaged",
        ),
        ("booleans", tensor("BOOL", "[8]", 0, 8), "BOOL"),
        ("sizes beyond 2^64", overflowing, "cut short or damaged"),
    ];
    for (what, file, wanted) in table {
        refused(what, array::safetensors_of_bytes(&file, "x"), wanted);
    }
    let other = array::safetensors_of_bytes(&right, "y");
    refused("another name", other, "the file has 'x'");
    let mut text = right.clone();
    text[10] = 0xff;
    refused(
        "no UTF-8",
        array::safetensors_of_bytes(&text, "x"),
        "the header is wrong",
    );
}
