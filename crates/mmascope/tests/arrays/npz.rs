//! `.npz` archives: right ones, and damaged ones that are refused.

use mmascope::Result;
use mmascope::array::{self, Array};

use super::files::{f32s, npy, npz};

fn message(result: Result<Array>) -> String {
    result.expect_err("refused").to_string()
}

#[test]
fn arrays_by_name_stored_and_packed() {
    let one = npy("<f4", false, "(2, 2)", &f32s(&[1.0, 2.0, 3.0, 4.0]));
    let two = npy("<f4", true, "(2, 2)", &f32s(&[1.0, 2.0, 3.0, 4.0]));
    for is_packed in [false, true] {
        let both = npz(&[("b.npy", &two, is_packed), ("a.npy", &one, is_packed)]);
        assert_eq!(array::npz_names(&both).expect("names"), ["a", "b"]);
        for name in ["a", "a.npy"] {
            let array = array::npz_of_bytes(&both, Some(name)).expect("a");
            assert_eq!(array.bytes(), f32s(&[1.0, 2.0, 3.0, 4.0]));
        }
        let array = array::npz_of_bytes(&both, Some("b")).expect("b");
        assert_eq!(array.bytes(), f32s(&[1.0, 3.0, 2.0, 4.0]));
        let text = message(array::npz_of_bytes(&both, None));
        assert!(text.contains(":NAME; the file has 'a', 'b'"), "{text}");
        let text = message(array::npz_of_bytes(&both, Some("c")));
        assert!(text.contains("unknown array 'c'; the file has"), "{text}");
        // A lone array needs no name; what is no array is none.
        let lone = npz(&[("a.npy", &one, is_packed), ("notes.txt", b"x", false)]);
        let array = array::npz_of_bytes(&lone, None).expect("a");
        assert_eq!(array.shape(), [2, 2]);
    }
}

#[test]
fn damage_is_refused() {
    let numbers = f32s(&[1.5; 64]);
    let matrix = npy("<f4", false, "(8, 8)", &numbers);
    for is_packed in [false, true] {
        let whole = npz(&[("a.npy", &matrix, is_packed)]);
        assert!(array::npz_of_bytes(&whole, None).is_ok());
        for cut in 0..whole.len() {
            assert!(array::npz_of_bytes(&whole[..cut], None).is_err(), "{cut}");
        }
        // Any change of the data shows in the checksum.
        for at in 40..whole.len() - 80 {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            assert!(array::npz_of_bytes(&damaged, None).is_err(), "{at}");
        }
    }
    // Names reach no terminal as they are.
    let hostile = npz(&[("\x1b[2J.npy", &matrix, false), ("b.npy", &matrix, false)]);
    let text = message(array::npz_of_bytes(&hostile, None));
    assert!(!text.contains('\x1b') && text.contains("\\u{1b}"), "{text}");
}

#[test]
fn a_claim_beyond_the_file_takes_no_memory() {
    let shape = "(1099511627776,)";
    let header = npy("|u1", false, shape, b"abc");
    for is_packed in [false, true] {
        let mut file = npz(&[("a.npy", &header, is_packed)]);
        // The directory claims 4 GB.
        let at = file.windows(4).rposition(|four| four == b"PK\x01\x02");
        let at = at.expect("a directory") + 24;
        file[at..at + 4].fill(0xff);
        file[at + 3] = 0x7f;
        let text = message(array::npz_of_bytes(&file, None));
        assert!(text.contains("damaged"), "{text}");
    }
}

#[test]
fn from_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("many.npz");
    let matrix = npy("<f2", false, "(1, 2)", &[0, 0x3c, 0, 0x40]);
    std::fs::write(&path, npz(&[("w.npy", &matrix, true)])).expect("a file");
    let path = path.to_str().expect("UTF-8");
    for name in [path.to_owned(), format!("{path}:w")] {
        let array = array::read(&name).expect("an array");
        assert_eq!((array.name(), array.shape()), (&*name, &[1, 2][..]));
    }
    let error = array::check_writable(path).expect_err("no .npz is written");
    assert!(error.to_string().contains(".npz file"), "{error}");
}
