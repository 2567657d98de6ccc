//! The histogram of errors as a picture (SVG).

use std::fmt::Write;

use super::QuantisationStatistics;

const WIDTH: usize = 720;
const HEIGHT: usize = 320;
const LEFT: usize = 60;
const RIGHT: usize = 20;
const TOP: usize = 40;
const BOTTOM: usize = 50;

/// A picture of how errors are spread, relative to the largest number of their block.
#[must_use]
pub fn histogram_svg(title: &str, statistics: &QuantisationStatistics) -> String {
    let most = statistics
        .histogram
        .iter()
        .max()
        .copied()
        .unwrap_or(0)
        .max(1);
    let bins = statistics.histogram.len().max(1);
    let (wide, high) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    let mut out = String::new();
    // Writing to a text does not fail.
    let mut line = |text: std::fmt::Arguments<'_>| {
        writeln!(out, "{text}").ok();
    };
    line(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">"#
    ));
    line(format_args!("<title>{title}</title>"));
    line(format_args!(
        r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>"#
    ));
    line(format_args!(
        r#"<text x="{LEFT}" y="22" font-size="14">{title}</text>"#
    ));
    for (bin, count) in statistics.histogram.iter().enumerate() {
        let height = *count as f64 / most as f64 * high as f64;
        let x = LEFT as f64 + bin as f64 * wide as f64 / bins as f64;
        let y = (TOP + high) as f64 - height;
        let width = wide as f64 / bins as f64 - 1.0;
        line(format_args!(
            r##"<rect x="{x:.2}" y="{y:.2}" width="{width:.2}" height="{height:.2}" fill="#2b6cb0"><title>{count}</title></rect>"##
        ));
    }
    let base = TOP + high;
    let right = LEFT + wide;
    line(format_args!(
        r#"<path d="M{LEFT} {TOP}V{base}H{right}" fill="none" stroke="black"/>"#
    ));
    for (part, text) in [(0, "−1/4"), (1, "−1/8"), (2, "0"), (3, "1/8"), (4, "1/4")] {
        let x = LEFT + wide * part / 4;
        let y = base + 18;
        line(format_args!(
            r#"<text x="{x}" y="{y}" text-anchor="middle">{text}</text>"#
        ));
    }
    let (middle, below) = (LEFT + wide / 2, base + 38);
    line(format_args!(
        r#"<text x="{middle}" y="{below}" text-anchor="middle">error relative to the largest number of the block</text>"#
    ));
    let x = LEFT - 6;
    let y = TOP + 5;
    line(format_args!(
        r#"<text x="{x}" y="{y}" text-anchor="end">{most}</text>"#
    ));
    line(format_args!("</svg>"));
    out
}
