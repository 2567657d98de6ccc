//! The published model of the G80's special function unit (envytools, `nvhw/sfu.c`, checked against the chip by its
//! authors) lies inside the enclosures (`precision.md` §7). It is compiled beside the project; nothing of it is part of it.
//!
//! `MMASCOPE_ENVYTOOLS` names a checkout of envytools, and a C compiler (`cc`) must be at hand. The model has no range
//! reduction of sines (its header leaves `sfu_presin` out), so that the nearest fixed-point angle stands for it here.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use mmascope_model::precision::eval::Enclosure;

use crate::{Random, format, instruction, run};

/// Reads pairs of words, a function's number and its operand, and writes results.
const DRIVER: &str = r#"
#include "nvhw/sfu.h"
#include <stdio.h>
int main(void) {
    uint32_t in[2], out;
    while (fread(in, 4, 2, stdin) == 2) {
        switch (in[0]) {
        case 0: out = sfu_rcp(in[1]); break;
        case 1: out = sfu_rsqrt(in[1]); break;
        case 2: out = sfu_lg2(in[1]); break;
        case 3: out = sfu_ex2(sfu_preex2(in[1]), 0); break;
        case 4: out = sfu_sincos(in[1], 0); break;
        default: out = sfu_sincos(in[1], 1); break;
        }
        fwrite(&out, 4, 1, stdout);
    }
    return 0;
}
"#;

/// Instructions in the order of the driver's numbers. The unit always flushes.
const NAMES: [&str; 6] = [
    "rcp.approx.ftz.f32",
    "rsqrt.approx.ftz.f32",
    "lg2.approx.ftz.f32",
    "ex2.approx.ftz.f32",
    "sin.approx.ftz.f32",
    "cos.approx.ftz.f32",
];

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the model gives for pairs of a function's number and an operand.
fn model(checkout: &str, questions: &[[u32; 2]]) -> Vec<u32> {
    let folder = std::env::temp_dir().join(format!("mmascope-g80-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let folder = Folder(folder);
    let [driver, program] = ["driver.c", "model"].map(|name| folder.0.join(name));
    std::fs::write(&driver, DRIVER).expect("the driver");
    let source = |name: &str| format!("{checkout}/{name}");
    let output = Command::new("cc")
        .args(["-O1", "-I", &source("include"), "-o"])
        .arg(&program)
        .arg(&driver)
        .args([source("nvhw/sfu.c"), source("nvhw/sfu_tab.c")])
        .output()
        .expect("cc");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut child = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the model");
    let mut input = child.stdin.take().expect("its input");
    let bytes: Vec<u8> = questions
        .iter()
        .flatten()
        .flat_map(|word| word.to_ne_bytes())
        .collect();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = child.wait_with_output().expect("its output");
    writer.join().expect("a thread").expect("all questions");
    let (words, _) = output.stdout.as_chunks::<4>();
    words.iter().map(|word| u32::from_ne_bytes(*word)).collect()
}

/// The operand of the model for the operand of the instruction. An angle is turned into quarters of a turn with 23 places.
fn operand(function: usize, word: u32) -> u32 {
    if function < 4 {
        return word;
    }
    let x = f64::from(f32::from_bits(word));
    let quarters = (x.abs() * std::f64::consts::FRAC_2_PI * 2_f64.powi(23)).round_ties_even();
    quarters as u32 | word & 0x8000_0000
}

fn draw(function: usize, random: &mut Random) -> u32 {
    let word = (random.next() >> 16) as u32;
    let exponent = |low: u64, count: u64, random: &mut Random| {
        word & 0x807f_ffff | ((low + (random.next() >> 20) % count) as u32) << 23
    };
    match function {
        // One binade, where the tables are, and all others.
        0 | 1 if word & 3 == 0 => word & 0x7fff_ffff,
        0 | 1 => word & 0x00ff_ffff | 0x3f00_0000,
        2 if word & 3 == 0 => word & 0x7fff_ffff,
        2 => exponent(125, 4, random) & 0x7fff_ffff,
        // From 2^-31 on, up to overflow.
        3 => exponent(96, 39, random),
        // Up to a turn.
        _ => {
            let word = exponent(96, 33, random);
            let beyond = f32::from_bits(word).abs() > std::f32::consts::TAU;
            if beyond { word - (1 << 23) } else { word }
        }
    }
}

#[test]
fn enclosures_hold_what_the_published_model_gives() {
    let Ok(checkout) = std::env::var("MMASCOPE_ENVYTOOLS") else {
        println!("skipped: MMASCOPE_ENVYTOOLS names no checkout of envytools");
        return;
    };
    let inputs =
        std::env::var("MMASCOPE_INPUTS").map_or(20_000, |count| count.parse().expect("a number"));
    let mut random = Random(80);
    let specials = [
        0,
        1,
        0x8000_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
    ];
    for (function, name) in NAMES.iter().enumerate() {
        let mut words: Vec<u32> = if function < 4 {
            specials.to_vec()
        } else {
            Vec::new()
        };
        words.extend((0..inputs).map(|_| draw(function, &mut random)));
        let questions: Vec<[u32; 2]> = words
            .iter()
            .map(|&word| [function as u32, operand(function, word)])
            .collect();
        let results = model(&checkout, &questions);
        assert_eq!(results.len(), words.len());
        let resolution = instruction(name);
        let single = format("f32");
        let mut rounded = 0;
        for (&word, &result) in words.iter().zip(&results) {
            let enclosure: Enclosure = run(&resolution, &[word.into()]);
            assert!(
                enclosure.holds(&single, result.into()),
                "{name} of {word:08x}: the model gives {result:08x}, the enclosure is {enclosure:x?}"
            );
            rounded += usize::from(enclosure.out == u64::from(result));
        }
        println!(
            "{name}: {} inputs, {:.1} % correctly rounded by the model",
            words.len(),
            100.0 * rounded as f64 / words.len() as f64
        );
    }
}
