//! Draws the histograms as SVG: one row of bars for each pair of units, light or dark as the reader's system is.

use std::fmt::Write as _;

use super::text::{bucket, histogram, others};
use super::{Compare, Findings};

pub(super) const WIDTH: usize = 860;
pub(super) const MARGIN: usize = 16;
/// Height of one pair: title, bars, labels, remark.
const ROW: usize = 190;
const BARS: usize = 90;

/// Empty buckets in a row that are drawn as one gap.
const GAP: usize = 3;

/// Colours by role, for drawings that stand alone or in a page.
const STYLE: &str = "\
.chart{--paper:#ffffff;--ink:#1b1f24;--faint:#6a737d;--line:#d0d7de;--bar:#0a66c2;--worst:#c2540a}\
@media (prefers-color-scheme:dark){.chart{--paper:#0d1117;--ink:#e6edf3;--faint:#9198a1;--line:#30363d;--bar:#58a6ff;--worst:#f59149}}\
.chart .paper{fill:var(--paper)}.chart text{font:13px system-ui,sans-serif;fill:var(--ink)}\
.chart .faint{fill:var(--faint);font-size:11px}.chart .end{text-anchor:end}.chart rect.bar{fill:var(--bar)}\
.chart line{stroke:var(--line)}.chart rect.equal{fill:var(--line)}\
.chart rect.first{fill:none;stroke:var(--ink);stroke-width:2}.chart rect.worst{fill:var(--worst);stroke:var(--paper)}";

/// A drawing of this height around its parts.
pub(super) fn drawing(height: usize, label: &str, parts: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{}\"><style>{STYLE}</style><rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>{parts}</svg>",
        escaped(label)
    )
}

/// A text of a drawing.
pub(super) fn label(svg: &mut String, class: &str, x: usize, y: usize, text: &str) {
    let text = escaped(text);
    // Writing to a string cannot fail.
    let _ = write!(
        svg,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"
    );
}

/// The histograms of all pairs.
pub(super) fn svg(findings: &Findings<'_>) -> String {
    let height = 2 * MARGIN + ROW * findings.compares.len();
    let mut parts = String::new();
    for (index, compare) in findings.compares.iter().enumerate() {
        row(&mut parts, findings, compare, MARGIN + ROW * index);
    }
    let what = "Distances between results in units of the last place";
    drawing(height, what, &parts)
}

/// A place on the axis: a bucket, or several empty ones.
enum Slot {
    Bucket {
        least: u64,
        greatest: u64,
        count: u64,
    },
    Gap,
}

/// The buckets from the first to the last that holds something, with long empty stretches as gaps.
fn slots(compare: &Compare) -> Vec<Slot> {
    let buckets = compare.tally.histogram();
    let buckets: Vec<(u64, u64, u64)> = buckets.skip_while(|(.., count)| *count == 0).collect();
    let mut slots = Vec::new();
    for run in buckets.chunk_by(|one, other| (one.2 == 0) == (other.2 == 0)) {
        if run.len() >= GAP && run[0].2 == 0 {
            slots.push(Slot::Gap);
            continue;
        }
        slots.extend(run.iter().map(|&(least, greatest, count)| Slot::Bucket {
            least,
            greatest,
            count,
        }));
    }
    slots
}

fn row(svg: &mut String, findings: &Findings<'_>, compare: &Compare, top: usize) {
    let tally = &compare.tally;
    label(svg, "", MARGIN, top + 14, &findings.title(compare));
    let counts = format!(
        "{} of {} differ{}",
        tally.different(),
        tally.compared,
        others(compare)
            .iter()
            .map(|part| format!(" · {part}"))
            .collect::<String>()
    );
    label(svg, "faint", MARGIN, top + 30, &counts);
    let slots = slots(compare);
    let base = top + 56 + BARS;
    let step = ((WIDTH - 2 * MARGIN) / slots.len().max(1)).min((WIDTH - 2 * MARGIN) / 4);
    let count = |slot: &Slot| match slot {
        Slot::Bucket { count, .. } => *count,
        Slot::Gap => 0,
    };
    let most = slots.iter().map(count).max().unwrap_or(1).max(1);
    for (place, slot) in slots.iter().enumerate() {
        let x = MARGIN + place * step;
        let Slot::Bucket {
            least,
            greatest,
            count,
        } = slot
        else {
            label(svg, "faint", x + step / 3, base - 4, "…");
            continue;
        };
        let (height, width) = (height(*count, most), step.saturating_sub(3).max(1));
        let y = base - height;
        if *count > 0 {
            label(svg, "faint", x + 2, y - 3, &count.to_string());
        }
        // Labels need room; with many bars every other or every fourth has one.
        if place % (50_usize.div_ceil(step.max(1))) == 0 {
            label(svg, "faint", x + 2, base + 14, &bucket(*least, *greatest));
        }
        let _ = write!(
            svg,
            "<rect class=\"bar\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        );
    }
    if !slots.is_empty() {
        let unit = "units of the last place between the results";
        label(svg, "faint", MARGIN, base + 30, unit);
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
