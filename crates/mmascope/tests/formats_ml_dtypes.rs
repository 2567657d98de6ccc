//! The formats against ml_dtypes and NumPy, where a Python that has them is at hand.
//!
//! The interpreter is `$MMASCOPE_PYTHON`, otherwise `python3`. Without ml_dtypes the test says so
//! and ends, unless the variable names an interpreter: then that interpreter has to have it.
//!
//! ml_dtypes rounds to nearest even. Beyond the range it gives ∞, NaN where there is no ∞, and
//! the largest number where there is neither, as `Overflow::Infinity` does. It differs from PTX and
//! from us in four things, which are left out here:
//! - NaN keeps its sign there and becomes the default positive NaN here; both must be NaN.
//! - NaN to fp6 and fp4 gives −0 or +0 there, the largest number here.
//! - e8m0 gives NaN for zero and negative numbers there; PTX clamps to 2^-127 and drops the sign.
//! - e8m0 of the subnormal f32 in the lower half of (2^-127, 2^-126) is 2^-126 in ml_dtypes 0.6.0,
//!   though 2^-127 is nearer.

use std::path::{Path, PathBuf};
use std::process::Command;

use mmascope::format::{Class, Conversion, F32, Format, Overflow, Rounding};

#[path = "formats/random.rs"]
mod random;

const CONVERSION: Conversion = Conversion {
    rounding: Rounding::Rne,
    overflow: Overflow::Infinity,
};

/// The interpreter, if it can import ml_dtypes.
fn python() -> Option<PathBuf> {
    let chosen = std::env::var_os("MMASCOPE_PYTHON");
    let python = PathBuf::from(chosen.clone().unwrap_or_else(|| "python3".into()));
    let problem = match Command::new(&python)
        .args(["-c", "import ml_dtypes"])
        .output()
    {
        Ok(output) if output.status.success() => return Some(python),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    let problem = problem.trim().lines().last().unwrap_or("failed").to_owned();
    assert!(
        chosen.is_none(),
        "MMASCOPE_PYTHON {}: {problem}",
        python.display()
    );
    println!("skipped: {}: {problem}", python.display());
    None
}

/// f32 words: all signs, exponents and 11 fraction bits (so every value and every midpoint of
/// every format of at most 16 bits) with their neighbours, and random words.
fn inputs() -> Vec<u32> {
    let mut words = Vec::new();
    for upper in 0..1_u32 << 20 {
        words.extend([-1, 0, 1].map(|next| (upper << 12).wrapping_add_signed(next)));
    }
    let mut random = random::Random(2026);
    words.extend((0..500_000).map(|_| random.below(1 << 32) as u32));
    words
}

/// A folder that goes when the test ends, however it ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("mmascope-formats-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing to be done about a failure here.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn values_and_conversions() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let folder = folder.0.as_path();
    let inputs = inputs();
    let bytes: Vec<u8> = inputs.iter().flat_map(|word| word.to_ne_bytes()).collect();
    std::fs::write(folder.join("inputs"), bytes).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/ml_dtypes_oracle.py");
    let output = Command::new(&python)
        .arg(script)
        .arg(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut dtypes = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let Ok(format) = Format::named(stem) else {
            continue;
        };
        let bytes = std::fs::read(&path).unwrap();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("values") => check_values(&format, stem, &bytes),
            Some("codes") => check_codes(&format, stem, &inputs, &bytes),
            _ => continue,
        }
        dtypes += u32::from(path.extension().unwrap() == "values");
    }
    let version = String::from_utf8_lossy(&output.stdout);
    println!(
        "ml_dtypes {}: {dtypes} dtypes, {} inputs",
        version.trim(),
        inputs.len()
    );
    assert!(
        dtypes >= 10,
        "ml_dtypes {version} has too few of our formats"
    );
}

fn check_values(format: &Format, dtype: &str, bytes: &[u8]) {
    let (values, rest) = bytes.as_chunks::<8>();
    assert!(
        rest.is_empty() && values.len() as u64 == format.mask() + 1,
        "{dtype}"
    );
    for (code, expected) in (0..).zip(values) {
        let (expected, got) = (f64::from_ne_bytes(*expected), format.decode(code));
        let context = format!("{dtype} {code:#x}: {got:x?}, expected {expected:e}");
        let Some(exact) = got.exact() else {
            assert_eq!(got.class == Class::Nan, expected.is_nan(), "{context}");
            assert_eq!(
                got.class == Class::Infinite,
                expected.is_infinite(),
                "{context}"
            );
            assert!(
                got.class == Class::Nan || got.negative == (expected < 0.0),
                "{context}"
            );
            continue;
        };
        let value = exact.magnitude as f64 * f64::powi(2.0, exact.exponent);
        let value = if exact.negative { -value } else { value };
        assert_eq!(value.to_bits(), expected.to_bits(), "{context}");
    }
}

fn check_codes(format: &Format, dtype: &str, inputs: &[u32], bytes: &[u8]) {
    let size = bytes.len() / inputs.len();
    assert_eq!(bytes.len(), size * inputs.len(), "{dtype}");
    let has_nan = format.nan().is_some();
    let mut compared = 0;
    for (&word, code) in inputs.iter().zip(bytes.chunks(size)) {
        let code = match *code {
            [byte] => u64::from(byte),
            [low, high] => u64::from(u16::from_ne_bytes([low, high])),
            _ => panic!("{dtype}: codes of {size} bytes"),
        };
        let input = f32::from_bits(word);
        if format.name == "ue8m0" && left_out_of_e8m0(input) || !has_nan && input.is_nan() {
            continue;
        }
        let got = F32.convert(word.into(), format, CONVERSION);
        let context = || format!("f32 {word:#x} ({input:e}) to {dtype}: {got:#x}, not {code:#x}");
        if input.is_nan() {
            let classes = [got, code].map(|code| format.decode(code).class);
            assert_eq!(classes, [Class::Nan; 2], "{}", context());
        } else {
            assert!(got == code, "{}", context());
        }
        compared += 1;
    }
    println!("{dtype}: {compared} conversions");
}

fn left_out_of_e8m0(input: f32) -> bool {
    let least = f32::from_bits(0x0040_0000); // 2^-127
    input <= 0.0 || input > least && input < 1.5 * least
}
