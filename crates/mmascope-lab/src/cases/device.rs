//! The generator as CUDA C++, so that a chip makes its own operands.

use std::fmt::Write;

use super::quantiles::QUANTILES;
use super::{Hints, Operands};
use crate::device_code::fill;

const DRAWS: &str = include_str!("device/draws.cu");
const FLOATS: &str = include_str!("device/floats.cu");
const BOUNDARY: &str = include_str!("device/boundary.cu");
const INTEGERS: &str = include_str!("device/integers.cu");

pub(super) fn source(operands: &Operands, hints: &Hints) -> String {
    let (k, scales, block) = match operands {
        Operands::Floats(layout) => (
            layout.k,
            layout.blocks(),
            layout.scale.map_or(1, |(_, block)| block),
        ),
        Operands::Integers(layout) => (layout.k, 0, 1),
    };
    let mut out = format!(
        "enum {{ PRODUCTS = {k}, SCALE_COUNT = {scales}, SCALE_BLOCK = {block}, BLOCK_COUNT = {} }};\n{DRAWS}\n",
        scales.max(1)
    );
    let declared = |all: &[(&str, String)]| {
        let mut text = String::new();
        for (name, value) in all {
            let _ = writeln!(text, "static __device__ const Code of_{name} = {value};");
        }
        text
    };
    match operands {
        Operands::Integers(layout) => {
            let all = [("a", layout.a), ("b", layout.b), ("c", layout.c)].map(|(name, format)| {
                let value = format!("{{{}, {}}}", format.bits, u8::from(format.signed));
                (name, value)
            });
            out += &fill(INTEGERS, &[("CODES", declared(&all))]);
        }
        Operands::Floats(layout) => {
            // Without block scales nothing reads the scales' format.
            let scale = layout.scale.as_ref().map_or(&layout.a, |(code, _)| code);
            let all = [
                ("a", layout.a.initialiser()),
                ("b", layout.b.initialiser()),
                ("c", layout.c.initialiser()),
                ("d", layout.d.initialiser()),
                ("scale", scale.initialiser()),
            ];
            let mut quantiles = String::new();
            for line in QUANTILES.chunks(8) {
                let numbers: Vec<String> = line.iter().map(|x| format!("{x:#x}u")).collect();
                let _ = writeln!(quantiles, "  {},", numbers.join(", "));
            }
            out += &fill(
                FLOATS,
                &[
                    ("BOUNDARY", BOUNDARY.to_owned()),
                    ("CODES", declared(&all)),
                    ("QUANTILES", quantiles),
                    ("L", hints.l.to_string()),
                    ("F", hints.f.to_string()),
                    ("F2", hints.f2.to_string()),
                    ("E0", hints.e0.to_string()),
                    ("HINT_M", hints.m.to_string()),
                ],
            );
        }
    }
    out
}
