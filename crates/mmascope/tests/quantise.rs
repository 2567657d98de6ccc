//! Block scaling against NumPy code of its own (`python/quantise_oracle.py`), where a Python with NumPy is at
//! hand: random numbers, outliers, subnormals, NaN, ∞, zeros, every format and recipe.
//!
//! The interpreter is `$MMASCOPE_PYTHON`, otherwise `python3`. Without NumPy the test says so and ends,
//! unless the variable names an interpreter.

#[path = "support/numpy.rs"]
mod numpy;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use mmascope::blocks;
use mmascope::precision::block::{BlockFormat, Quantiser, Recipe};

#[path = "formats/random.rs"]
mod random;

use random::Random;

/// Numbers of a tensor: 32 blocks of 32.
const TENSOR: usize = 1024;

/// A word of a magnitude near two to that, of either sign.
fn near(random: &mut Random, exponent: i64) -> u32 {
    let field = (exponent + 127).clamp(0, 254) as u32;
    let bits = random.below(1 << 24) as u32;
    (bits >> 23) << 31 | field << 23 | bits & 0x7f_ffff
}

/// f32 words of blocks of 32, in tensors of one kind each; NaN and ∞ come in some.
fn inputs(tensors: usize) -> Vec<u32> {
    let mut random = Random(26);
    let mut words = Vec::with_capacity(tensors * TENSOR);
    for tensor in 0..tensors {
        let kind = tensor % 16;
        let centre = random.below(200) as i64 - 110;
        for index in 0..TENSOR {
            let block = index / 32;
            let spread = random.below(9) as i64;
            let word = match kind {
                // Much alike, as activations are.
                0..=5 => near(&mut random, -spread.min(3)),
                // Each block elsewhere.
                6 | 7 => near(&mut random, (block as i64 * 11) % 60 - 30 - spread),
                // One outlier in a block.
                8 | 9 if index % 32 == block % 32 => near(&mut random, 12),
                8 | 9 => near(&mut random, -spread),
                // The whole range of exponents.
                10 | 11 => near(&mut random, centre - spread),
                // Subnormals, and the smallest scales.
                12 => near(&mut random, -120 - spread * 3),
                // The largest numbers.
                13 => near(&mut random, 127 - spread),
                // Zeros of both signs, whole blocks of them, whole tensors.
                14 if tensor % 32 < 16 || block % 3 == 0 => (random.below(2) as u32) << 31,
                14 => near(&mut random, -spread),
                // Simple numbers: ties of the element formats.
                _ => {
                    let number = random.below(64) as f32 / 8.0;
                    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
                    (number * sign).to_bits()
                }
            };
            let special = match (tensor % 5, random.below(200)) {
                (3, 0) => Some(0x7fc0_0000),
                (4, 0) => Some(0xff80_0000),
                (4, 1) => Some(0x7f80_0000),
                _ => None,
            };
            words.push(special.unwrap_or(word));
        }
    }
    words
}

fn compare(folder: &Path, words: &[u32], name: &str, recipe: Recipe) -> usize {
    let quantiser = Quantiser::new(BlockFormat::named(name).unwrap(), recipe).unwrap();
    let read = |what: &str| std::fs::read(folder.join(format!("{name}.{recipe}.{what}"))).unwrap();
    let (codes, scales) = (read("codes"), read("scales"));
    let words_of = |bytes: Vec<u8>| -> Vec<u32> {
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|word| u32::from_le_bytes(*word)).collect()
    };
    let (tensors, values) = (words_of(read("tensors")), words_of(read("values")));
    let block = quantiser.format().block;
    let cancel = AtomicBool::new(false);
    assert_eq!(codes.len(), words.len());
    for (number, tensor) in words.chunks(TENSOR).enumerate() {
        // As a matrix of 32 rows; blocks of 16 lie two in a row.
        let shape = [TENSOR / 32, 32];
        let made = blocks::quantise(tensor, &shape, 1, block, &quantiser, None, &cancel).unwrap();
        assert_eq!(
            made.tensor_scale, tensors[number],
            "{name} {recipe} tensor {number}"
        );
        let per_tensor = TENSOR / block;
        for at in 0..per_tensor {
            let scale = scales[number * per_tensor + at];
            let of = number * TENSOR + at * block..number * TENSOR + (at + 1) * block;
            let own = at * block..(at + 1) * block;
            assert!(
                made.scales[at] == scale && made.codes[own.clone()] == codes[of.clone()],
                "{name} {recipe} tensor {number} block {at}: scale {:#x} codes {:x?}, not {scale:#x} \
                 {:x?}; numbers {:x?}",
                made.scales[at],
                &made.codes[own],
                &codes[of.clone()],
                &words[of]
            );
        }
        for (at, word) in made.dequantise().iter().enumerate() {
            let wanted = values[number * TENSOR + at];
            let same = f32::from_bits(*word).is_nan() && f32::from_bits(wanted).is_nan();
            assert!(
                same || *word == wanted,
                "{name} {recipe} tensor {number} element {at}: {word:#x}, not {wanted:#x}"
            );
        }
    }
    words.len() / block
}

/// Every format and recipe on so many tensors of 32 blocks of 32.
fn check(tensors: usize) {
    let Some(python) = numpy::python() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (mut checked, mut done) = (0, 0);
    let most = 2048;
    let words = inputs(tensors);
    for part in words.chunks(most * TENSOR) {
        let bytes: Vec<u8> = part.iter().flat_map(|word| word.to_ne_bytes()).collect();
        std::fs::write(folder.join("inputs"), bytes).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/quantise_oracle.py");
        let output = Command::new(&python)
            .arg(script)
            .arg(folder)
            .arg(TENSOR.to_string())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        checked = 0;
        for name in BlockFormat::names() {
            let format = BlockFormat::named(name).unwrap();
            for recipe in Recipe::of(&format) {
                compare(folder, part, name, *recipe);
                checked += 1;
            }
        }
        done += part.len() / 32;
        println!("{done} blocks of 32 are the same in {checked} formats and recipes");
    }
    assert_eq!(checked, 14);
}

#[test]
fn every_format_and_recipe_equals_numpy() {
    check(640);
}

#[test]
#[ignore = "a million blocks for each format and recipe: cargo xtask prove quantise"]
fn prove_quantise() {
    check(31_250);
}
