//! Deterministic mutations of right files: no panic, no memory beyond what the files have. The
//! fuzz targets in `fuzz/` go on where this ends.

#[path = "../../../fuzz/entry.rs"]
#[allow(dead_code)]
mod entry;
#[path = "arrays/files.rs"]
mod files;

use std::time::{Duration, Instant};

use mmascope::array::{self, Array, Casting, Element};
use mmascope::format::{BF16, E2M1FN, E4M3FN, F32, F64, TF32, UE4M3, UE8M0};

const TIME: Duration = Duration::from_secs(5);
/// The same mutations every time: so many rounds over all seeds, less on a slow machine.
const ROUNDS: u64 = 120_000;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end.max(1) as u64) as usize
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let bytes = files::f32s(&[1.0, -2.5, 0.0, 1e9, f32::NAN, f32::INFINITY, 1e-40, 3.0]);
    let mut seeds = Vec::new();
    for (descr, shape) in [
        ("<f4", "(2, 4)"),
        (">f8", "(4, 1)"),
        ("|u1", "(4, 8)"),
        ("<V2", "(16,)"),
    ] {
        for fortran in [false, true] {
            seeds.push(files::npy(descr, fortran, shape, &bytes));
        }
    }
    let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (4, 4), }";
    seeds.push(files::npy_with_header(2, header, &bytes));
    for (dtype, shape) in [
        ("F32", "[2,4]"),
        ("BF16", "[4,4]"),
        ("F4", "[8,8]"),
        ("U8", "[32]"),
    ] {
        seeds.push(files::one_tensor(dtype, shape, &bytes));
    }
    seeds.push(files::safetensors(
        r#"{"__metadata__":{"a":"b"},"x":{"dtype":"I8","shape":[2,8],"data_offsets":[0,16]},
           "y":{"dtype":"F16","shape":[8],"data_offsets":[16,32]}}"#,
        &bytes,
    ));
    let matrix = files::npy("<f4", false, "(2, 4)", &bytes);
    let zeros = files::npy("|u1", false, "(256,)", &[0; 256]);
    seeds.push(files::npz(&[("x.npy", &matrix, false)]));
    seeds.push(files::npz(&[
        ("x.npy", &matrix, true),
        ("z.npy", &zeros, true),
    ]));
    seeds
}

/// One to four changes: a byte, a digit, a piece doubled or taken out, a cut, a length.
fn mutate(random: &mut Random, file: &mut Vec<u8>) {
    for _ in 0..=random.below(4) {
        let at = random.below(file.len());
        match random.below(8) {
            0 if !file.is_empty() => file[at] ^= 1 << random.below(8),
            1 if !file.is_empty() => file[at] = random.below(256) as u8,
            2 if !file.is_empty() => file[at] = b"0123456789()[]{}',:<>|-"[random.below(23)],
            3 => {
                let digits = [
                    "99999999",
                    "0",
                    "18446744073709551615",
                    "1, 1, ",
                    "((((",
                    "\u{e9}",
                ];
                let text = digits[random.below(digits.len())];
                file.splice(at..at, text.bytes());
            }
            4 => {
                let end = (at + random.below(16)).min(file.len());
                file.drain(at..end);
            }
            5 => file.truncate(at),
            6 => {
                let end = (at + random.below(16)).min(file.len());
                let piece = file[at..end].to_vec();
                file.splice(at..at, piece);
            }
            // Both formats have their lengths here.
            _ if file.len() > 12 => file[random.below(4) + 6] = 0xff,
            _ => {}
        }
    }
}

/// Everything that a caller does with an array.
fn exercise(array: &Array) {
    assert!(array.bytes().len() <= 1 << 10);
    let _ = (array.rows_and_columns(), array.element().to_string());
    for casting in [
        Casting {
            rounding: None,
            saturate: false,
        },
        Casting {
            rounding: None,
            saturate: true,
        },
    ] {
        for format in [F64, F32, TF32, BF16, E4M3FN, E2M1FN] {
            let _ = array
                .words(&format, &casting)
                .map_err(|error| error.to_string());
        }
    }
    for format in [UE8M0, UE4M3] {
        let _ = array.scale_words(&format);
    }
}

/// The most memory that the process ever asked the system for, in kB.
fn peak_kilobytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmPeak:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn mutated_files_never_panic_and_take_no_memory() {
    let seeds = seeds();
    let before = peak_kilobytes();
    let (mut right, mut refused) = (0, 0);
    let random = &mut Random(2024);
    let start = Instant::now();
    for _ in 0..ROUNDS {
        for seed in &seeds {
            let mut file = seed.clone();
            mutate(random, &mut file);
            entry::npy(&file);
            entry::safetensors(&file);
            entry::npz(&file);
            let names = array::safetensors_names(&file).unwrap_or_default();
            let arrays = names
                .iter()
                .map(|name| array::safetensors_of_bytes(&file, name))
                .chain([
                    array::npy_of_bytes(&file),
                    array::npz_of_bytes(&file, None),
                    array::npz_of_bytes(&file, Some("z")),
                ]);
            for array in arrays {
                match array {
                    Ok(array) => {
                        right += 1;
                        exercise(&array);
                    }
                    Err(error) => {
                        refused += 1;
                        assert!(!error.to_string().is_empty());
                    }
                }
            }
        }
        if start.elapsed() > TIME {
            break;
        }
    }
    assert!(
        right > 100 && refused > 1000,
        "{right} right, {refused} refused"
    );
    match (before, peak_kilobytes()) {
        (Some(before), Some(after)) => {
            assert!(
                after - before < 200_000,
                "{before} kB before, {after} kB after"
            );
        }
        _ => println!("skipped: the memory that was taken is not known here"),
    }
    let empty = Array::new("x", &[0], Element::Unsigned(1), Vec::new()).expect("an array");
    exercise(&empty);
}
