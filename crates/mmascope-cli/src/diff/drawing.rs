//! Draws the histograms as SVG: one row of bars for each pair of units, light or dark as the reader's system is.

use std::fmt::Write as _;

use super::text::{bucket, histogram, others};
use super::{Compare, Findings};

const WIDTH: usize = 860;
const MARGIN: usize = 16;
/// Height of one pair: title, bars, labels, remark.
const ROW: usize = 190;
const BARS: usize = 90;

/// Colours by role; the same for drawing and page.
pub(super) const STYLE: &str = "\
:root{--paper:#ffffff;--ink:#1b1f24;--faint:#6a737d;--line:#d0d7de;--bar:#0a66c2}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--faint:#9198a1;--line:#30363d;--bar:#58a6ff}}
svg .paper{fill:var(--paper)}svg text{font:13px system-ui,sans-serif;fill:var(--ink)}
svg .faint{fill:var(--faint);font-size:11px}svg rect.bar{fill:var(--bar)}svg line{stroke:var(--line)}";

/// A drawing that stands alone.
pub(super) fn alone(findings: &Findings<'_>) -> String {
    let mut svg = svg(findings);
    let style = format!("<style>{STYLE}</style>");
    if let Some(end) = svg.find('>') {
        svg.insert_str(end + 1, &style);
    }
    svg
}

/// The drawing without its style.
pub(super) fn svg(findings: &Findings<'_>) -> String {
    let height = 2 * MARGIN + ROW * findings.compares.len();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{}\"><rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>",
        escaped("Distances between results in units of the last place")
    );
    for (index, compare) in findings.compares.iter().enumerate() {
        row(&mut svg, findings, compare, MARGIN + ROW * index);
    }
    svg += "</svg>";
    svg
}

fn row(svg: &mut String, findings: &Findings<'_>, compare: &Compare, top: usize) {
    let tally = &compare.tally;
    let mut text = |class: &str, x: usize, y: usize, text: &str| {
        let text = escaped(text);
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"
        );
    };
    text("", MARGIN, top + 14, &findings.title(compare));
    let counts = format!(
        "{} of {} differ{}",
        tally.different(),
        tally.compared,
        others(compare)
            .iter()
            .map(|part| format!(" · {part}"))
            .collect::<String>()
    );
    text("faint", MARGIN, top + 30, &counts);
    let bars: Vec<(u64, u64, u64)> = tally.histogram().collect();
    let base = top + 56 + BARS;
    let step = ((WIDTH - 2 * MARGIN) / bars.len().max(1)).min(70);
    let most = bars
        .iter()
        .map(|(_, _, count)| *count)
        .max()
        .unwrap_or(1)
        .max(1);
    for (place, (least, greatest, count)) in bars.iter().enumerate() {
        let x = MARGIN + place * step;
        if *count > 0 {
            text(
                "faint",
                x + 2,
                base - height(*count, most) - 3,
                &count.to_string(),
            );
        }
        // Labels need room; with many bars every other or every fourth has one.
        if place % (50_usize.div_ceil(step.max(1))) == 0 {
            text("faint", x + 2, base + 14, &bucket(*least, *greatest));
        }
    }
    if !bars.is_empty() {
        text(
            "faint",
            MARGIN,
            base + 30,
            "units of the last place between the results",
        );
    }
    for (place, (_, _, count)) in bars.iter().enumerate() {
        let (x, height) = (MARGIN + place * step, height(*count, most));
        let (y, width) = (base - height, step.saturating_sub(3).max(1));
        let _ = write!(
            svg,
            "<rect class=\"bar\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        );
    }
    let end = WIDTH - MARGIN;
    let _ = write!(
        svg,
        "<line x1=\"{MARGIN}\" y1=\"{base}\" x2=\"{end}\" y2=\"{base}\"/><title>{}</title>",
        escaped(&histogram(compare))
    );
}

/// A bar's height; what is there is seen.
fn height(count: u64, most: u64) -> usize {
    let scaled = (u128::from(count) * BARS as u128).div_ceil(u128::from(most));
    usize::try_from(scaled).unwrap_or(BARS)
}

/// Text for SVG and HTML.
pub(super) fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            c => c.to_string(),
        })
        .collect()
}
