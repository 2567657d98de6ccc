//! Draws error curves as an SVG, light or dark as the reader's system is.

use std::fmt::Write as _;

use super::{Curve, Point};

const WIDTH: f64 = 900.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const PANEL: f64 = 260.0;
const GAP: f64 = 72.0;
const TOP: f64 = 62.0;
const LEGEND_LINE: f64 = 20.0;

/// Colours that are told apart on white and on black, also by the colour-blind; curves also have
/// marks of their own.
const STYLE: &str = "\
svg{--paper:#ffffff;--ink:#1b1f24;--faint:#59636e;--line:#d0d7de;--c0:#0a66c2;--c1:#c2410c;--c2:#15803d;\
--c3:#9333ea;--c4:#a16207;--c5:#be185d;--c6:#0f766e;--c7:#475569}\
@media (prefers-color-scheme:dark){svg{--paper:#0d1117;--ink:#e6edf3;--faint:#9198a1;--line:#30363d;\
--c0:#58a6ff;--c1:#fb923c;--c2:#4ade80;--c3:#c084fc;--c4:#facc15;--c5:#f472b6;--c6:#2dd4bf;--c7:#94a3b8}}\
.paper{fill:var(--paper)}text{font:13px system-ui,sans-serif;fill:var(--ink)}\
.faint{fill:var(--faint);font-size:11px}.title{font-weight:600}.grid{stroke:var(--line)}.curve{fill:none;stroke-width:2}";

/// The curves over K: the mean error relative to Σ|a·b| (logarithmic), and below it the bias, the
/// mean of the signed error (linear), with twice its standard error up and down.
#[must_use]
pub fn chart(curves: &[Curve], title: &str) -> String {
    let legend = curves.len() as f64 * LEGEND_LINE;
    let height = TOP + 2.0 * PANEL + 2.0 * GAP + legend + 16.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{0}\"><style>{STYLE}</style><rect class=\"paper\" width=\"{WIDTH}\" \
         height=\"{height}\"/><text class=\"title\" x=\"16\" y=\"24\">{0}</text>",
        escaped(title)
    );
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let ks = Axis::over(points().map(|point| (point.k as f64).log2()), 1.0);
    let errors = Axis::over(points().filter_map(log_error), 1.0);
    let panel = Panel {
        top: TOP,
        x: ks,
        y: errors,
    };
    panel.frame(&mut svg, "mean |error| / Σ|a·b|", power);
    for (index, curve) in curves.iter().enumerate() {
        let places: Vec<(f64, f64)> = curve
            .points
            .iter()
            .filter_map(|point| Some(((point.k as f64).log2(), log_error(point)?)))
            .collect();
        panel.curve(&mut svg, index, &places);
    }
    let spread = |point: &Point| {
        let (bias, error) = (point.statistics.bias, 2.0 * point.statistics.bias_error);
        [bias - error, bias + error, 0.0]
    };
    let widest = points()
        .flat_map(spread)
        .fold(0.0_f64, |widest, bias| widest.max(bias.abs()));
    let tick = RoundStep::for_range(widest);
    let unit = tick.size();
    let biases = Axis::over(points().flat_map(spread).map(|bias| bias / unit), 1.0);
    let panel = Panel {
        top: TOP + PANEL + GAP,
        x: ks,
        y: biases,
    };
    panel.frame(
        &mut svg,
        "bias: mean of error / Σ|a·b|, with its sign (bars: ± 2 standard errors)",
        |y| tick.label(y),
    );
    for (index, curve) in curves.iter().enumerate() {
        let at = |point: &Point| {
            let x = (point.k as f64).log2();
            let [low, high, _] = spread(point).map(|bias| bias / unit);
            (x, point.statistics.bias / unit, low, high)
        };
        let places: Vec<_> = curve.points.iter().map(at).collect();
        for &(x, _, low, high) in &places {
            panel.bar(&mut svg, index, x, low, high);
        }
        let line: Vec<(f64, f64)> = places.iter().map(|&(x, y, ..)| (x, y)).collect();
        panel.curve(&mut svg, index, &line);
    }
    let top = TOP + 2.0 * PANEL + 2.0 * GAP;
    for (index, curve) in curves.iter().enumerate() {
        let y = top + index as f64 * LEGEND_LINE;
        mark(&mut svg, index, 30.0, y - 4.0);
        text(&mut svg, "", 46.0, y, "start", &curve.name());
    }
    svg += "</svg>\n";
    svg
}

/// log2 of the mean error; `None` when there is none.
fn log_error(point: &Point) -> Option<f64> {
    let mean = point.statistics.relative_to_products.mean;
    (mean > 0.0).then(|| mean.log2())
}

/// A range with ticks at multiples of `step`.
#[derive(Clone, Copy)]
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, step: f64) -> Self {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        let high = if high > low { high } else { low + step };
        // At most about twelve ticks.
        let step = step * ((high - low) / step / 12.0).ceil().max(1.0);
        Self { low, high, step }
    }

    fn ticks(&self) -> impl Iterator<Item = f64> + use<> {
        let Self { low, high, step } = *self;
        let count = ((high - low) / step + 1e-9).floor() as usize;
        (0..=count).map(move |index| low + index as f64 * step)
    }

    /// From 0 to 1.
    fn place(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

struct Panel {
    top: f64,
    x: Axis,
    y: Axis,
}

impl Panel {
    fn x(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + (1.0 - self.y.place(value)) * PANEL
    }

    fn frame(&self, svg: &mut String, title: &str, label: impl Fn(f64) -> String) {
        text(svg, "faint", LEFT, self.top - 10.0, "start", title);
        for tick in self.y.ticks() {
            let y = self.y(tick);
            line(svg, "grid", "", (LEFT, y), (WIDTH - RIGHT, y));
            text(svg, "faint", LEFT - 8.0, y + 4.0, "end", &label(tick));
        }
        for tick in self.x.ticks() {
            let x = self.x(tick);
            line(svg, "grid", "", (x, self.top), (x, self.top + PANEL));
            let k = tick.exp2().round();
            text(
                svg,
                "faint",
                x,
                self.top + PANEL + 18.0,
                "middle",
                &format!("{k}"),
            );
        }
        text(
            svg,
            "faint",
            LEFT - 26.0,
            self.top + PANEL + 18.0,
            "end",
            "K =",
        );
    }

    fn curve(&self, svg: &mut String, index: usize, places: &[(f64, f64)]) {
        let list: String = places
            .iter()
            .map(|&(x, y)| format!("{:.1},{:.1} ", self.x(x), self.y(y)))
            .collect();
        let colour = index % 8;
        // Writing to a string cannot fail, here and below.
        let _ = write!(
            svg,
            "<polyline class=\"curve\" style=\"stroke:var(--c{colour})\" points=\"{}\"/>",
            list.trim_end()
        );
        for &(x, y) in places {
            mark(svg, index, self.x(x), self.y(y));
        }
    }

    fn bar(&self, svg: &mut String, index: usize, x: f64, low: f64, high: f64) {
        let style = format!("stroke:var(--c{})", index % 8);
        line(
            svg,
            "",
            &style,
            (self.x(x), self.y(low)),
            (self.x(x), self.y(high)),
        );
    }
}

/// A mark of a curve: a disc, a square, a triangle or a diamond.
fn mark(svg: &mut String, index: usize, x: f64, y: f64) {
    let fill = format!("style=\"fill:var(--c{})\"", index % 8);
    let _ = match index % 4 {
        0 => write!(svg, "<circle {fill} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
        1 => write!(
            svg,
            "<rect {fill} x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"/>",
            x - 3.5,
            y - 3.5
        ),
        2 => write!(svg, "<path {fill} d=\"M{x:.1} {:.1}l5 8h-10z\"/>", y - 5.0),
        _ => write!(
            svg,
            "<path {fill} d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"/>",
            y - 5.0
        ),
    };
}

fn line(svg: &mut String, class: &str, style: &str, from: (f64, f64), to: (f64, f64)) {
    let _ = write!(
        svg,
        "<line class=\"{class}\" style=\"{style}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, class: &str, x: f64, y: f64, anchor: &str, content: &str) {
    let _ = write!(
        svg,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
        escaped(content)
    );
}

/// `2⁻²⁴`.
fn power(exponent: f64) -> String {
    format!("2{}", raised(exponent.round() as i64))
}

/// `⁻²⁴`.
fn raised(exponent: i64) -> String {
    let digits = exponent.to_string();
    let raised = digits.chars().map(|digit| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => digit
            .to_digit(10)
            .and_then(|d| char::from_u32(0x2070 + d))
            .unwrap_or(digit),
    });
    raised.collect()
}

/// A step of a linear axis: 1, 2 or 5 times a power of ten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RoundStep {
    times: i64,
    exponent: i64,
}

impl RoundStep {
    /// The step that has five ticks or fewer up to `most` (and two or more); 1 for 0.
    pub(crate) fn for_range(most: f64) -> Self {
        let exponent = if most > 0.0 {
            (most / 5.0).log10().floor() as i64
        } else {
            0
        };
        let steps = [(1, 0), (2, 0), (5, 0), (1, 1), (2, 1)].map(|(times, more)| Self {
            times,
            exponent: exponent + more,
        });
        let fits = |step: &Self| step.size() * 5.0 >= most;
        steps.into_iter().find(fits).unwrap_or(steps[4])
    }

    pub(crate) fn size(self) -> f64 {
        // A negative power of ten divides, because 10^-8 itself is rounded.
        let power = 10_f64.powi(self.exponent.unsigned_abs() as i32);
        let times = self.times as f64;
        if self.exponent < 0 {
            times / power
        } else {
            times * power
        }
    }

    /// So many steps, exactly: `−1.5·10⁻⁸`.
    fn label(self, steps: f64) -> String {
        let number = steps.round() as i64 * self.times;
        if number == 0 {
            return "0".to_owned();
        }
        let digits = number.unsigned_abs().to_string();
        // The power of ten of the first digit.
        let first = self.exponent + digits.len() as i64 - 1;
        let digits = digits.trim_end_matches('0');
        let (one, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if number < 0 { "−" } else { "" };
        format!("{sign}{one}{point}{rest}·10{}", raised(first))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
