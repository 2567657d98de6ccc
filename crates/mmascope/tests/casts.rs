//! Casts of slices against the cast of one code, and both against `ml_dtypes` and gfloat where a Python that
//! has them is at hand (`$MMASCOPE_PYTHON`, otherwise `python3`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use mmascope::array::Words;
use mmascope::cast;
use mmascope::format::{Class, F32, F64, FORMATS, Format, Rounding};
use mmascope::precision::cast::{Cast, CastOptions, CastPolicy, OutOfRange};

#[path = "formats/random.rs"]
mod random;

use random::Random;

/// f32 words: around every value and midpoint of bf16, f16 and narrower, specials, random ones.
fn singles() -> Vec<u32> {
    let mut words = Vec::new();
    for upper in 0..1_u32 << 14 {
        words.extend([-1, 0, 1].map(|next| (upper << 18).wrapping_add_signed(next)));
    }
    for e in 90..150_u32 {
        for part in 0..64 {
            let word = e << 23 | part << 17;
            words.extend([-1, 0, 1].map(|next| word.wrapping_add_signed(next) | part << 31));
        }
    }
    let mut random = Random(5);
    words.extend((0..20_000).map(|_| random.below(1 << 32) as u32));
    words
}

#[test]
fn slices_equal_the_cast_of_one_code() {
    let mut count = 0;
    let policies = [
        None,
        Some(CastPolicy::Ieee),
        Some(CastPolicy::MlDtypes),
        Some(CastPolicy::Ocp),
    ];
    // The words stand in threes around a boundary: every fourth has each place.
    let singles: Vec<u64> = singles().into_iter().step_by(4).map(u64::from).collect();
    for from in FORMATS.iter().filter(|it| it.bits <= 16 || **it == F32) {
        let codes: Vec<u64> = match from.bits {
            32 => singles.clone(),
            bits => (0..1_u64 << bits)
                .map(|code| from.to_register(code))
                .collect(),
        };
        let words = Words::of(from, codes.iter().copied()).unwrap();
        let is_fast = [F32, mmascope::format::BF16].contains(from);
        for to in FORMATS {
            for rounding in Rounding::deterministic() {
                // The other sources go by a table, whatever the rounding.
                if !is_fast && rounding != Rounding::Rne {
                    continue;
                }
                let asked = policies.iter().map(|it| (*it, None));
                for (policy, overflow) in asked.chain([(None, Some(OutOfRange::SatFinite))]) {
                    let rounding = Some(rounding);
                    let options = CastOptions {
                        rounding,
                        policy,
                        overflow,
                        ..CastOptions::default()
                    };
                    let Ok(of) = Cast::new(*from, *to, &options) else {
                        continue;
                    };
                    let made = cast::words(&of, &words).unwrap();
                    for (word, out) in codes.iter().zip(made.iter()) {
                        let wanted = of.word(*word);
                        assert!(
                            out == wanted,
                            "{from} {word:#x} to {to}: {out:#x}, not {wanted:#x}, {options:?}"
                        );
                    }
                    count += codes.len();
                }
            }
        }
    }
    println!("{count} casts");
}

#[test]
fn slices_of_another_width_or_length_are_refused() {
    let of = Cast::new(F32, mmascope::format::BF16, &CastOptions::default()).unwrap();
    let mut bytes = [0_u8; 2];
    let message = cast::slice(&of, &[1.0_f32, 2.0], &mut bytes)
        .unwrap_err()
        .to_string();
    assert!(message.contains("target elements of 8 bits"), "{message}");
    let mut halves = [0_u16; 3];
    let message = cast::slice(&of, &[1.0_f32, 2.0], &mut halves)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("2 values do not fit a slice of 3"),
        "{message}"
    );
}

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
    assert!(
        chosen.is_none(),
        "MMASCOPE_PYTHON {}: {problem}",
        python.display()
    );
    println!("skipped: {}: {problem}", python.display());
    None
}

/// A folder that goes when the test ends, however it ends.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing to be done about a failure here.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the Python script wrote, by file name, and its inputs.
struct Answers {
    files: HashMap<String, Vec<u8>>,
    singles: Vec<u32>,
    doubles: Vec<u64>,
}

fn answers(python: &Path, name: &str) -> Answers {
    let folder = std::env::temp_dir().join(format!("mmascope-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let folder = Folder(folder);
    let singles = singles();
    let mut random = Random(6);
    let doubles: Vec<u64> = (0..20_000)
        .map(|index| match index % 4 {
            // Near values of f32 and of narrower formats.
            0 => f64::from(f32::from_bits(singles[index])).to_bits() ^ random.below(4),
            1 => f64::from(f32::from_bits(singles[index])).to_bits() ^ 1 << random.below(52),
            2 => random.next(),
            _ => (random.below(1 << 20) as f64 / 1024.0 - 512.0).to_bits(),
        })
        .collect();
    let bytes: Vec<u8> = singles.iter().flat_map(|word| word.to_ne_bytes()).collect();
    std::fs::write(folder.0.join("inputs"), bytes).unwrap();
    let bytes: Vec<u8> = doubles.iter().flat_map(|word| word.to_ne_bytes()).collect();
    std::fs::write(folder.0.join("doubles"), bytes).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/casts_oracle.py");
    let output = Command::new(python)
        .arg(script)
        .arg(&folder.0)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    print!("{}", String::from_utf8_lossy(&output.stdout));
    let mut files = HashMap::new();
    for entry in std::fs::read_dir(&folder.0).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        files.insert(name, std::fs::read(&path).unwrap());
    }
    Answers {
        files,
        singles,
        doubles,
    }
}

fn words_of(bytes: &[u8], width: usize) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        chunk
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte))
    };
    bytes.chunks(width).map(word).collect()
}

fn is_nan(format: &Format, word: u64) -> bool {
    format.decode(format.from_register(word)).class == Class::Nan
}

#[test]
fn casts_under_its_policy_equal_ml_dtypes() {
    let Some(python) = python() else { return };
    let answers = answers(&python, "ml");
    let (mut pairs, mut count) = (0, 0);
    for (name, bytes) in &answers.files {
        let Some((from, to)) = name.strip_suffix(".ml").and_then(|it| it.split_once('.')) else {
            continue;
        };
        let [from, to] = [from, to].map(|name| Format::named(name).unwrap());
        let to_integer = to.float().is_none();
        // Integers are truncated.
        let rounding = if to_integer {
            Rounding::Rz
        } else {
            Rounding::Rne
        };
        let options = CastOptions {
            rounding: Some(rounding),
            policy: Some(CastPolicy::MlDtypes),
            ..CastOptions::default()
        };
        let cast = Cast::new(from, to, &options).unwrap();
        let sources: Vec<u64> = match from.bits {
            64 => answers.doubles.clone(),
            32 => answers
                .singles
                .iter()
                .map(|word| u64::from(*word))
                .collect(),
            bits => (0..1_u64 << bits).collect(),
        };
        let width = bytes.len() / sources.len();
        assert!([1, 2, 4, 8].contains(&width), "{name}");
        for (word, wanted) in sources.iter().zip(words_of(bytes, width)) {
            let got = cast.word(*word);
            if to_integer && from.float().is_some() {
                // What does not fit is undefined there.
                let wider = Cast::new(
                    from,
                    Format::named("int64").unwrap(),
                    &CastOptions {
                        rounding: Some(Rounding::Rz),
                        overflow: Some(OutOfRange::SatFinite),
                        ..CastOptions::default()
                    },
                );
                let whole = wider.unwrap().word(*word) as i64;
                let back = to.decode(got);
                let own = if back.negative {
                    -(back.significand as i64)
                } else {
                    back.significand as i64
                };
                if is_nan(&from, *word) || whole != own {
                    continue;
                }
            }
            // Hardware and NumPy set the quiet bit of a NaN in some of these and leave it in others.
            let wide = [F32, F64].contains(&to) && is_nan(&from, *word);
            if wide {
                assert!(is_nan(&to, wanted) && is_nan(&to, got), "{name} {word:#x}");
                continue;
            }
            let wanted = wanted & to.mask();
            assert!(got == wanted, "{name} {word:#x}: {got:#x}, not {wanted:#x}");
            count += 1;
        }
        pairs += 1;
    }
    println!("{pairs} pairs of formats, {count} casts");
    assert!(pairs > 300, "{pairs}");
}

#[test]
fn casts_equal_gfloat() {
    let Some(python) = python() else { return };
    let answers = answers(&python, "gfloat");
    let mut checked = 0;
    for (name, bytes) in &answers.files {
        let Some(name) = name.strip_suffix(".gfloat") else {
            continue;
        };
        let mut words = name.split('.');
        let to = Format::named(words.next().unwrap()).unwrap();
        let rounding = Rounding::named(words.next().unwrap()).unwrap();
        let saturates = words.next() == Some("sat");
        let options = CastOptions {
            rounding: Some(rounding),
            policy: Some(CastPolicy::Ieee),
            overflow: saturates.then_some(OutOfRange::SatFinite),
            ..CastOptions::default()
        };
        let cast = Cast::new(F32, to, &options).unwrap();
        let largest = number(&to, to.max_finite(false));
        for (word, wanted) in answers.singles.iter().zip(words_of(bytes, 8)) {
            let x = f64::from(f32::from_bits(*word));
            if !x.is_finite() || !saturates && x.abs() > largest {
                continue;
            }
            let got = number(&to, cast.word(u64::from(*word)));
            let wanted = f64::from_bits(wanted);
            assert!(got == wanted, "{name}: {x:e} gives {got:e}, not {wanted:e}");
        }
        checked += 1;
    }
    if checked == 0 {
        println!("skipped: there is no gfloat");
        return;
    }
    println!("{checked} formats, roundings and overflows");
    assert_eq!(checked, 70);
}

fn number(format: &Format, word: u64) -> f64 {
    let value = format.decode(format.from_register(word));
    let exact = value
        .exact()
        .unwrap_or_else(|| panic!("{format} {word:#x} is no number"));
    let magnitude = exact.magnitude as f64 * f64::powi(2.0, exact.exponent);
    if exact.negative {
        -magnitude
    } else {
        magnitude
    }
}
