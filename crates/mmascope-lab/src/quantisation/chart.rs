//! The histogram of errors as a picture (SVG).

use std::fmt::Write;

use super::QuantisationStatistics;
use crate::accuracy::RoundStep;

const WIDTH: usize = 720;
const HEIGHT: usize = 320;
const LEFT: usize = 60;
const RIGHT: usize = 20;
const TOP: usize = 40;
const BOTTOM: usize = 50;

/// Light or dark as the reader's system is.
const STYLE: &str = ".q{--paper:#ffffff;--ink:#1b1f24;--line:#d0d7de;--bar:#0a66c2}\
@media(prefers-color-scheme:dark){.q{--paper:#0d1117;--ink:#e6edf3;--line:#30363d;--bar:#58a6ff}}\
.q .paper{fill:var(--paper)}.q text{font:12px system-ui,sans-serif;fill:var(--ink)}.q .title{font-size:14px}\
.q .middle{text-anchor:middle}.q .end{text-anchor:end}.q .bar{fill:var(--bar)}.q path{fill:none;stroke:var(--line)}\
.q .axis{stroke:var(--ink)}";

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
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="q" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">"#
    ));
    line(format_args!("<title>{title}</title><style>{STYLE}</style>"));
    line(format_args!(
        r#"<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>"#
    ));
    line(format_args!(
        r#"<text class="title" x="{LEFT}" y="22">{title}</text>"#
    ));
    let base = TOP + high;
    let right = LEFT + wide;
    // Counts at round numbers, each with a line.
    let step = RoundStep::for_range(most as f64).size().max(1.0);
    let ticks = (most as f64 / step).floor() as u64;
    for tick in 0..=ticks {
        let count = tick as f64 * step;
        let y = base as f64 - count / most as f64 * high as f64;
        line(format_args!(
            r#"<path d="M{LEFT} {y:.2}H{right}"/><text class="end" x="{}" y="{:.2}">{count}</text>"#,
            LEFT - 6,
            y + 4.0
        ));
    }
    for (bin, count) in statistics.histogram.iter().enumerate() {
        let height = *count as f64 / most as f64 * high as f64;
        let x = LEFT as f64 + bin as f64 * wide as f64 / bins as f64;
        let y = (TOP + high) as f64 - height;
        let width = wide as f64 / bins as f64 - 1.0;
        line(format_args!(
            r#"<rect class="bar" x="{x:.2}" y="{y:.2}" width="{width:.2}" height="{height:.2}"><title>{count}</title></rect>"#
        ));
    }
    line(format_args!(
        r#"<path class="axis" d="M{LEFT} {TOP}V{base}H{right}"/>"#
    ));
    for (part, text) in [(0, "−1/4"), (1, "−1/8"), (2, "0"), (3, "1/8"), (4, "1/4")] {
        let x = LEFT + wide * part / 4;
        let y = base + 18;
        line(format_args!(
            r#"<text class="middle" x="{x}" y="{y}">{text}</text>"#
        ));
    }
    let (middle, below) = (LEFT + wide / 2, base + 38);
    line(format_args!(
        r#"<text class="middle" x="{middle}" y="{below}">error relative to the largest number of the block</text>"#
    ));
    line(format_args!("</svg>"));
    out
}
