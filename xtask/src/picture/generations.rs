//! One sum on six GPUs: what each unit of the catalogue makes of it, on a line of numbers.

use std::path::Path;

use mmascope_model::dpa::{Modifiers, Operands};
use mmascope_model::isa::Catalogue;

use super::svg;

/// GPUs, and an instruction of each with f16 operands and an f32 accumulator.
const UNITS: [(&str, &str); 6] = [
    ("V100", "mma.m8n8k4.f32.f16.f16.f32"),
    ("A100", "mma.m16n8k8.f32.f16.f16.f32"),
    ("H100", "mma.m16n8k8.f32.f16.f16.f32"),
    ("MI100", "v_mfma_f32_32x32x8_f16"),
    ("MI250X", "v_mfma_f32_32x32x8_f16"),
    ("MI300X", "v_mfma_f32_32x32x8_f16"),
];
/// f16: −2^13, −1/2, −1/4, −1/8.
const A: [u64; 4] = [0xf000, 0xb800, 0xb400, 0xb000];
/// f16: 2^10, 1, 1, 1.
const B: [u64; 4] = [0x6400, 0x3c00, 0x3c00, 0x3c00];
/// f32: 2^23.
const C: u64 = 0x4b00_0000;
const EXACT: f32 = -0.875;

/// Where −1 and 0 lie on the sheet.
const LINE: (u32, u32) = (330, 730);
const TOP: u32 = 104;
const ROW: u32 = 36;

pub(super) fn draw(_: &Path) -> Result<String, String> {
    let bottom = TOP + ROW * UNITS.len() as u32;
    let mut body = svg::text(
        24,
        32,
        18,
        "font-weight=\"600\"",
        "2²³ − 2²³ − ½ − ¼ − ⅛ on six GPUs",
    );
    let legend =
        "The same f16 products and f32 addend, one matrix instruction; the exact sum is −0.875.";
    body += &svg::text(24, 54, 13, "class=\"small\"", legend);
    for eighth in 0..=8 {
        let x = at(-f64::from(eighth) / 8.0);
        body += &format!(
            "<path class=\"faint\" d=\"M{x} {} V{bottom}\"/>\n",
            TOP - 12
        );
        if eighth % 2 == 0 {
            let label = format!("{}", -f32::from(eighth as u8) / 8.0).replace('-', "−");
            let label = if eighth == 0 { "0" } else { &label };
            body += &svg::text(
                x,
                bottom + 20,
                12,
                "class=\"small\" text-anchor=\"middle\"",
                label,
            );
        }
    }
    let exact = at(f64::from(EXACT));
    body += &format!(
        "<path class=\"exact\" stroke-width=\"2\" d=\"M{exact} {} V{bottom}\"/>\n",
        TOP - 12
    );
    body += &svg::text(exact, TOP - 18, 12, "text-anchor=\"middle\"", "exact");
    for (row, (chip, inst)) in UNITS.into_iter().enumerate() {
        let word = result(chip, inst)?;
        let value = f32::from_bits(word as u32);
        if !(-1.0..=0.0).contains(&value) {
            return Err(format!("{chip}: {value} is beyond the line of numbers"));
        }
        let y = TOP + ROW * row as u32 + 14;
        body += &svg::text(24, y + 5, 15, "font-weight=\"600\"", chip);
        body += &svg::text(104, y + 5, 11, "class=\"small code\"", inst);
        body += &format!(
            "<path class=\"faint\" d=\"M{} {y} H{}\"/>\n",
            LINE.0, LINE.1
        );
        let x = at(f64::from(value));
        body += &format!("<circle class=\"accent\" cx=\"{x}\" cy=\"{y}\" r=\"7\"/>\n");
        let shown = format!("{value}").replace('-', "−");
        body += &svg::text(
            LINE.1 + 30,
            y + 5,
            14,
            "class=\"code\"",
            &format!("{word:08x}"),
        );
        body += &svg::text(LINE.1 + 120, y + 5, 14, "", &shown);
    }
    let title = "One sum on six GPUs: which numbers their matrix units return";
    Ok(svg::sheet(940, bottom + 36, title, &body))
}

/// Where a value between −1 and 0 lies.
fn at(value: f64) -> u32 {
    let (left, right) = (f64::from(LINE.0), f64::from(LINE.1));
    (right + value * (right - left)).round() as u32
}

/// The word that a unit returns; its other products are +0.
fn result(chip: &str, inst: &str) -> Result<u64, String> {
    let found = Catalogue::built_in().find(chip, inst);
    let instruction = found.map_err(|error| error.to_string())?;
    let unit = instruction.unit().map_err(|error| error.to_string())?;
    let mut words = [A.to_vec(), B.to_vec()];
    words
        .iter_mut()
        .for_each(|words| words.resize(unit.signature().k, 0));
    let operands = Operands {
        a: &words[0],
        b: &words[1],
        c: C,
        ..Operands::default()
    };
    let answer = instruction.dot(&operands, &Modifiers::default());
    answer.map_err(|error| error.to_string())
}
