//! Matrix products on a processor with AVX-512: what is reached, and the bound of each kernel, on one line of speeds.
//!
//! Every number comes from the recorded pages; this file says only which kernel a path takes.

use std::path::Path;

use super::svg;

const REACHED: &str = "docs/measured/gemm-avx512.md";
const BOUNDS: &str = "docs/measured/kernel-bounds.md";
/// The heading of the section whose second table has the bounds.
const SECTION: &str = "## AVX-512 with two pipes";

/// Paths, how the row of their kernel's bound begins, and the place of the bound in it. Paths without one have no counted bound.
const PATHS: [(&str, Option<(&str, usize)>); 23] = [
    ("f16 → f32, 16 terms", Some(("64-bit lanes", 1))),
    ("bf16 → f32, 16 terms", Some(("64-bit lanes", 1))),
    ("f16 → f32, 8 terms", Some(("by conversion", 1))),
    ("bf16 → f32, 8 terms", Some(("by conversion", 1))),
    ("tf32 → f32, 8 terms", Some(("by conversion", 1))),
    ("f16 → f32, 4 terms", Some(("by conversion", 2))),
    ("tf32 → f32, 4 terms", Some(("by conversion", 2))),
    ("f16 → f16, 16 terms", Some(("f16 results", 0))),
    ("fp8, 32 terms, F=13", Some(("32-bit lanes", 0))),
    ("fp8, 32 terms, F=25", Some(("64-bit lanes", 0))),
    ("fp6, 32 terms, F=25", Some(("64-bit lanes", 0))),
    ("fp4, 32 terms, F=25", Some(("64-bit lanes", 0))),
    ("mxfp8, 32 terms, F=25", Some(("64-bit lanes", 0))),
    ("fp8 on mma.sync of Hopper", Some(("fp8 on `mma.sync`", 0))),
    ("CDNA3 f16", Some(("c late", 0))),
    ("CDNA3 bf16", Some(("c late", 0))),
    ("CDNA3 xf32", Some(("c late", 1))),
    ("CDNA3 fp8", Some(("c late", 2))),
    ("CDNA1 f16, exact", Some(("exact sums", 0))),
    ("CDNA2 f16, flush", None),
    ("nvfp4, 64 terms, F=35", Some(("grouped sums", 0))),
    ("mxf4, 64 terms, F=35", Some(("grouped sums", 0))),
    ("f64 (to native f64)", Some(("f64", 0))),
];

/// Where 0 lies on the sheet, and how wide 10⁹ products a second are.
const LEFT: u32 = 230;
const SCALE: f64 = 4.5;
const TOP: u32 = 118;
const ROW: u32 = 22;
/// The last speed on the line.
const LAST: u32 = 120;

pub(super) fn draw(root: &Path) -> Result<String, String> {
    let read = |file: &str| {
        let text = std::fs::read_to_string(root.join(file));
        text.map_err(|error| format!("{file}: {error}"))
    };
    let (reached, bounds) = (read(REACHED)?, read(BOUNDS)?);
    let section = bounds.split_once(SECTION).ok_or("no section of bounds")?.1;
    // "(76·10⁹ a second; OpenBLAS reached 57)"
    let limit = number_after(section, "multiply-adds alone (")?;
    let native = number_after(section, "OpenBLAS reached ")?;

    let bottom = TOP + ROW * PATHS.len() as u32;
    let bold = "font-weight=\"600\"";
    let mut body = svg::text(
        24,
        32,
        18,
        bold,
        "What the kernels reach, and what bounds them",
    );
    let legend = "10⁹ products a second, one core with AVX-512 and two vector pipes, 1024³. Filled: reached. Frame: the bound of the kernel.";
    body += &svg::text(24, 54, 13, "class=\"small\"", legend);
    for speed in (0..=LAST).step_by(20) {
        let x = at(f64::from(speed));
        body += &format!("<path class=\"faint\" d=\"M{x} {} V{bottom}\"/>\n", TOP - 6);
        let middle = "class=\"small\" text-anchor=\"middle\"";
        body += &svg::text(x, bottom + 18, 12, middle, &speed.to_string());
    }
    for (speed, name, anchor) in [
        (native, format!("native f32: {native}"), "end"),
        (
            limit,
            format!("the processor's limit in f32: {limit}"),
            "start",
        ),
    ] {
        let x = at(speed);
        body += &format!(
            "<path class=\"exact\" stroke-width=\"2\" d=\"M{x} {} V{bottom}\"/>\n",
            TOP - 14
        );
        body += &svg::text(x, TOP - 20, 12, &format!("text-anchor=\"{anchor}\""), &name);
    }
    for (row, (path, kernel)) in PATHS.into_iter().enumerate() {
        let speed = cell(&reached, path, 2).ok_or(format!("{REACHED}: no row '{path}'"))?;
        let speed = number_after(speed, "")?;
        let y = TOP + ROW * row as u32;
        body += &svg::text(24, y + 15, 13, "", path);
        body += &bar("accent", y, speed);
        let (end, label) = match kernel {
            Some((name, place)) => {
                let cell = cell(section, name, 3).ok_or(format!("{BOUNDS}: no row '{name}'"))?;
                let part = cell
                    .split(';')
                    .nth(place)
                    .ok_or(format!("'{name}' has no {place}"))?;
                let part = part.trim_start();
                let rough = part.strip_prefix("about ");
                let bound = number_after(rough.unwrap_or(part), "")?;
                body += &bar("line", y, bound);
                let share = match rough {
                    // A share of a rough bound would say too much.
                    Some(_) => format!("{speed} of about {bound}"),
                    None => format!("{speed} of {bound}: {:.0} %", 100.0 * speed / bound),
                };
                (bound.max(speed), share)
            }
            None => (speed, format!("{speed}; no bound counted")),
        };
        let x = at(end) + 8;
        body += &svg::text(x, y + 15, 12, "class=\"small\"", &label);
    }
    let title = "Speeds that matrix products reach on a processor with AVX-512, and the bounds of their kernels";
    Ok(svg::sheet(940, bottom + 34, title, &body))
}

fn at(speed: f64) -> u32 {
    LEFT + (speed * SCALE).round() as u32
}

fn bar(class: &str, y: u32, speed: f64) -> String {
    let width = at(speed) - LEFT;
    format!(
        "<rect class=\"{class}\" x=\"{LEFT}\" y=\"{}\" width=\"{width}\" height=\"{}\"/>\n",
        y + 3,
        ROW - 6
    )
}

/// A cell of the first table row that begins so.
fn cell<'a>(text: &'a str, start: &str, column: usize) -> Option<&'a str> {
    let row = text.lines().find(|line| {
        let first = line.strip_prefix("| ");
        first.is_some_and(|first| first.starts_with(start))
    })?;
    row.split('|').nth(column + 1).map(str::trim)
}

/// The number that follows these words.
fn number_after(text: &str, words: &str) -> Result<f64, String> {
    let rest = text
        .split_once(words)
        .ok_or_else(|| format!("'{words}' is not there"))?
        .1;
    let end = rest
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(rest.len());
    rest[..end]
        .parse()
        .map_err(|_| format!("no number at '{:.20}'", rest))
}
