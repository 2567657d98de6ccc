//! The generator against its second implementation, against golden lines, and against itself.

#[path = "generator/families.rs"]
mod families;
#[path = "generator/golden.rs"]
mod golden;
#[path = "generator/twin.rs"]
mod twin;

use mmascope::dpa::OperandWords;
use mmascope::dpa::{Scale, Signature};
use mmascope::format::Format;

/// A signature from its text: `f16 f16 f32 f32 16`, with `ue8m0/32` behind it for block scales.
fn signature(text: &str) -> Signature {
    let words: Vec<&str> = text.split_whitespace().collect();
    let format = |index: usize| Format::named(words[index]).expect("a format");
    let scale = words.get(5).map(|scale| {
        let (name, block) = scale.split_once('/').expect("FORMAT/BLOCK");
        Scale {
            format: Format::named(name).expect("a format"),
            block: block.parse().expect("a block"),
        }
    });
    Signature {
        a: format(0),
        b: format(1),
        c: format(2),
        d: format(3),
        k: words[4].parse().expect("K"),
        scale,
    }
}

/// `a b c sa sb` as vector lines write them, `-` for nothing.
fn text(case: &OperandWords, signature: &Signature) -> String {
    let row = |words: &[u64], format: Option<Format>| match format {
        Some(format) if !words.is_empty() => words
            .iter()
            .map(|word| format!("{word:0width$x}", width = format.digits()))
            .collect(),
        _ => "-".to_owned(),
    };
    let scale = signature.scale.map(|scale| scale.format);
    [
        row(&case.a, Some(signature.a)),
        row(&case.b, Some(signature.b)),
        row(&[case.c], Some(signature.c)),
        row(&case.scale_a, scale),
        row(&case.scale_b, scale),
    ]
    .join(" ")
}
