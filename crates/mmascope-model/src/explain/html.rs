//! Writes one explanation, or two side by side, as an HTML page that needs nothing else.

use std::fmt::Write;

use super::against::{Comparison, Parting, TracedPart};
use super::picture::{picture, width};
use super::quiet::Quiet;
use super::step::ZERO_RULE;
use super::trace::{Trace, TracedOperand, TracedStep};
use super::value::TracedValue;
use crate::exact::Dyadic;

/// The style of the page, light and dark.
const STYLE: &str = include_str!("page.css");
/// The hatching of lost bits, which every picture uses.
const HATCH: &str = "<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\"><defs>\
    <pattern id=\"hatch\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\" \
    patternTransform=\"rotate(45)\"><rect class=\"hatch-ground\" width=\"4\" height=\"4\"/>\
    <rect class=\"hatch-line\" width=\"1.6\" height=\"4\"/></pattern></defs></svg>";
/// Rows of the operand table that are shown without a click.
const OPEN_ROWS: usize = 20;
/// Digits of most numbers.
pub(super) const DIGITS: usize = 6;
/// Digits of sums that are compared, which may differ late.
pub(super) const CARD_DIGITS: usize = 9;

/// The page of one trace; `title` names the unit.
#[must_use]
pub fn page(title: &str, trace: &Trace) -> String {
    document(title, "one", &one(title, trace))
}

/// The page of two traces and where they part.
#[must_use]
pub fn page_against(difference: &Comparison<'_>) -> String {
    let (left, right) = (difference.left_name, difference.right_name);
    document(&format!("{left} against {right}"), "two", &two(difference))
}

/// What [`page`] shows, as a part of another page: an element that is to stand in a shadow tree with [`fragment_style`].
#[must_use]
pub fn fragment(title: &str, trace: &Trace) -> String {
    format!(
        "<div class=\"explained one\">{HATCH}{}</div>",
        lowered(&one(title, trace))
    )
}

/// What [`page_against`] shows, as a part of another page; see [`fragment`].
#[must_use]
pub fn fragment_against(difference: &Comparison<'_>) -> String {
    format!(
        "<div class=\"explained two\">{HATCH}{}</div>",
        lowered(&two(difference))
    )
}

/// The title as a heading of the second level, because a part of a page does not have the page's own heading, and what is
/// wider than the page can be moved by keyboard. (Texts have no brackets of their own, because they are escaped.)
pub(super) fn lowered(body: &str) -> String {
    let body = body.replace("<h1>", "<h2 class=\"title\">");
    let body = body.replace("</h1>", "</h2>");
    body.replace(
        "<div class=\"scroll\">",
        "<div class=\"scroll\" tabindex=\"0\">",
    )
}

/// The style of fragments, for the shadow tree that they stand in: the page around them has its own.
#[must_use]
pub fn fragment_style() -> String {
    let style = STYLE.replace(":root", ":host");
    let style = style.replace("\nbody {", "\n.explained {");
    // The ground is that of the page around it.
    style + ".explained { background: none; }\n.title { font-size: 19px; }\n"
}

pub(super) fn one(title: &str, trace: &Trace) -> String {
    let mut body = String::new();
    write!(body, "<header><h1>{}</h1>", escaped(title)).ok();
    summary(&mut body, trace);
    body.push_str("</header>");
    legend(&mut body);
    details(&mut body, trace, None);
    body
}

pub(super) fn two(difference: &Comparison<'_>) -> String {
    let mut body = String::new();
    let (left, right) = (difference.left_name, difference.right_name);
    let (verb, words) = match difference.words.strip_prefix("nowhere: ") {
        Some(words) => ("They agree:", words),
        None => ("They part", &*difference.words),
    };
    write!(
        body,
        "<header><h1>{} <span class=\"versus\">against</span> {}</h1><p class=\"parting\">\
         <b>{verb}</b> {}</p></header>",
        escaped(left),
        escaped(right),
        rich(words)
    )
    .ok();
    legend(&mut body);
    // The sides stand beside each other where their pictures fit without becoming illegible.
    let steps = [difference.left, difference.right].map(|trace| &trace.steps);
    let widest = steps.into_iter().flatten().map(width).max().unwrap_or(0);
    write!(body, "<div class=\"sides\" style=\"--widest:{widest}px\">").ok();
    for (letter, name, trace) in [("A", left, difference.left), ("B", right, difference.right)] {
        write!(
            body,
            "<section class=\"side\"><h2><i>{letter}</i> {}</h2>",
            escaped(name)
        )
        .ok();
        summary(&mut body, trace);
        details(&mut body, trace, mark(difference, letter == "A"));
        body.push_str("</section>");
    }
    body.push_str("</div>");
    body
}

/// The step of one side at which they part, and the digit there.
type Mark<'a> = (usize, Option<(&'a str, i64)>);

fn mark<'a>(difference: &'a Comparison<'_>, is_left: bool) -> Option<Mark<'a>> {
    let Parting { left, right, part } = difference.parting.as_ref()?;
    let step = if is_left { left } else { right };
    let digit = match part {
        TracedPart::Term { left, right, bit } => {
            Some((if is_left { &**left } else { &**right }, *bit))
        }
        TracedPart::Sum { bit } => Some(("sum", *bit)),
        _ => None,
    };
    Some((*step, digit))
}

pub(super) fn document(title: &str, class: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{}</title>\
         <style>\n{STYLE}</style></head>\n<body class=\"{class}\">{HATCH}\n<main>{body}</main>\n\
         <footer>mmascope {}</footer></body></html>",
        escaped(title),
        env!("CARGO_PKG_VERSION")
    )
}

/// Result, exact value and error as cards; the arithmetic; what was done to the operands.
fn summary(out: &mut String, trace: &Trace) {
    out.push_str("<div class=\"cards\">");
    let mut card = |kind: &str, label: &str, value: &str, below: &str| {
        write!(
            out,
            "<div class=\"card {kind}\"><span class=\"label\">{label}</span>\
             <span class=\"value\">{}</span><span class=\"below\">{}</span></div>",
            escaped(value),
            rich(below)
        )
        .ok();
    };
    let result = &trace.result;
    card(
        "result",
        "result",
        &in_digits(&result.value, CARD_DIGITS),
        &format!("{}  {}", result.word, hex(&result.value)),
    );
    let exact = in_digits(&trace.exact, CARD_DIGITS);
    card("exact", "exact", &exact, &hex(&trace.exact));
    if let Some(error) = &trace.error {
        let ulps = format!("{} ulp of 2^{}", minus(&error.ulps.decimal()), error.ulp);
        card("error", "error", &minus(&error.difference.decimal()), &ulps);
    }
    out.push_str("</div>");
    write!(
        out,
        "<p class=\"does\"><code>{}</code><code>{}</code></p>",
        escaped(&trace.arithmetic),
        escaped(&trace.types)
    )
    .ok();
    let mut notes: Vec<String> = trace.remarks().collect();
    if !trace.modifiers.is_empty() {
        notes.push(format!("modifiers: {}", trace.modifiers.join(" ")));
    }
    if !notes.is_empty() {
        let items = notes
            .iter()
            .map(|note| format!("<li>{}</li>", escaped(note)));
        write!(
            out,
            "<ul class=\"notes\">{}</ul>",
            items.collect::<String>()
        )
        .ok();
    }
}

fn legend(out: &mut String) {
    let cell = |class: &str, digit: &str| {
        let unit = if class == "k1 u" {
            "<rect class=\"unit\" x=\".5\" y=\".5\" width=\"12\" height=\"15\" rx=\"2\"/>"
        } else {
            ""
        };
        let class = class.split(' ').next().unwrap_or(class);
        format!(
            "<svg width=\"13\" height=\"16\" aria-hidden=\"true\"><rect class=\"{class}\" width=\"13\" height=\"16\" rx=\"2\"/>\
             <text class=\"d {class}\" x=\"6.5\" y=\"12\">{digit}</text>{unit}</svg>"
        )
    };
    let entries = [
        (cell("k1", "1") + &cell("k0", "0"), "kept"),
        (cell("l1", "1") + &cell("l0", "0"), "lost"),
        (cell("k1 u", "1"), "place of the exponent e: the hidden bit"),
        (
            cell("w1", "1") + &cell("w0", "0"),
            "below the result's last place",
        ),
        (cell("s1", "1") + &cell("s0", "0"), "the sum"),
    ];
    out.push_str("<p class=\"legend\">");
    for (picture, words) in entries {
        write!(out, "<span>{picture} {words}</span>").ok();
    }
    out.push_str("</p>");
}

/// Operands and steps.
fn details(out: &mut String, trace: &Trace, mark: Option<Mark<'_>>) {
    operands(out, trace);
    let mut index = 0;
    while index < trace.steps.len() {
        // The step at which they part is shown by itself.
        let part = mark.map(|(at, _)| at).filter(|at| *at >= index);
        let end = part.unwrap_or(trace.steps.len());
        if let Some(quiet) = Quiet::in_front(trace, index..end) {
            quiet_section(out, index, &quiet);
            index += quiet.len();
            continue;
        }
        let run = (index..trace.steps.len())
            .take_while(|&at| is_plain(&trace.steps[at]))
            .take_while(|&at| at >= end || Quiet::in_front(trace, at..end).is_none())
            .count();
        if run > 0 {
            plain_steps(out, trace, index..index + run, mark);
            index += run;
            continue;
        }
        let here = mark.filter(|(at, _)| *at == index);
        step_section(out, index, &trace.steps[index], here);
        index += 1;
    }
    if trace.error.is_some() && trace.steps.iter().all(|step| !step.value.is_special()) {
        let lost = trace.lost();
        let words = if lost.is_zero() {
            "Nothing was lost.".to_owned()
        } else {
            format!(
                "Lost in all: {}, the exact value minus the result.",
                number(&lost)
            )
        };
        write!(out, "<p class=\"total\">{}</p>", rich(&words)).ok();
    }
}

/// A step without anything to see: one term, or a group that is summed exactly.
fn is_plain(step: &TracedStep) -> bool {
    step.alignment.is_none() && (step.terms.len() <= 1 || !step.factors.is_empty())
}

/// Successive steps that change nothing.
fn quiet_section(out: &mut String, index: usize, quiet: &Quiet<'_>) {
    let last = quiet.last();
    write!(
        out,
        "<section class=\"step\"><h3><span class=\"number\">{}–{}</span> {} = {} \
         <span class=\"role\">nothing changes</span></h3><p class=\"zeros\">zero: {}</p>",
        index + 1,
        index + quiet.len(),
        escaped(&last.name),
        escaped(quiet.given()),
        escaped(&quiet.zero_names())
    )
    .ok();
    out.push_str("<p class=\"end\">");
    outcome(out, last);
    out.push_str("</p></section>");
}

/// The word and the value that a step makes.
fn outcome(out: &mut String, step: &TracedStep) {
    let value = in_digits(&step.value, CARD_DIGITS);
    if !step.word.is_empty() {
        // An inexact value brings a sign of its own.
        let sign = if value.starts_with('≈') { "" } else { "= " };
        write!(out, "<code>{}</code> {sign}", step.word).ok();
    }
    write!(out, "<b class=\"outcome\">{}</b>", escaped(&value)).ok();
}

fn plain_steps(
    out: &mut String,
    trace: &Trace,
    range: std::ops::Range<usize>,
    mark: Option<Mark<'_>>,
) {
    let scaled = trace.steps[range.clone()]
        .iter()
        .any(|step| !step.factors.is_empty());
    out.push_str("<section class=\"step\"><div class=\"scroll\"><table class=\"plain\"><thead><tr><th>step</th><th></th><th>exact</th>");
    out.push_str(if scaled { "<th>scales</th>" } else { "" });
    out.push_str("<th>result</th><th></th></tr></thead><tbody>");
    for index in range {
        let step = &trace.steps[index];
        let class = if mark.is_some_and(|(at, _)| at == index) {
            " class=\"parts\""
        } else {
            ""
        };
        let exact = if step.special.is_some() {
            in_digits(&step.value, CARD_DIGITS)
        } else {
            number(&step.sum)
        };
        write!(
            out,
            "<tr{class}><td>{}</td><td>{} = {}</td><td class=\"n\">{}</td>",
            index + 1,
            escaped(&step.name),
            escaped(&step.formula()),
            rich(&exact)
        )
        .ok();
        if scaled {
            let factors: Vec<String> = step
                .factors
                .iter()
                .map(|factor| people(&factor.value))
                .collect();
            write!(
                out,
                "<td class=\"n\">{}</td>",
                escaped(&factors.join(" · "))
            )
            .ok();
        }
        let word = if step.word.is_empty() {
            String::new()
        } else {
            format!("<code>{}</code> ", step.word)
        };
        write!(
            out,
            "<td class=\"n\">{word}{}</td><td>",
            escaped(&in_digits(&step.value, CARD_DIGITS))
        )
        .ok();
        asides(out, step);
        out.push_str("</td></tr>");
    }
    out.push_str("</tbody></table></div></section>");
}

fn step_section(out: &mut String, index: usize, step: &TracedStep, mark: Option<Mark<'_>>) {
    let class = if mark.is_some() { "step parts" } else { "step" };
    write!(
        out,
        "<section class=\"{class}\"><h3><span class=\"number\">{}</span> {} = {} \
         <span class=\"role\">{}</span></h3>",
        index + 1,
        escaped(&step.name),
        escaped(&step.formula()),
        escaped(&step.role)
    )
    .ok();
    if let Some(alignment) = &step.alignment {
        let by = match (&*alignment.set_by, alignment.floor) {
            ("floor", _) => "the floor".to_owned(),
            (term, Some(floor)) => format!(
                "<b>{}</b> (floor {})",
                escaped(term),
                minus(&floor.to_string())
            ),
            (term, None) => format!("<b>{}</b>", escaped(term)),
        };
        write!(
            out,
            "<p class=\"how\"><b>E = {}</b>, set by {by}; terms are cut <b>{}</b> to {}</p>",
            minus(&alignment.exponent.to_string()),
            alignment.rounding,
            rich(&alignment.grid)
        )
        .ok();
    }
    if step.special.is_none() && !step.terms.is_empty() {
        let digit = mark.and_then(|(_, digit)| digit);
        write!(out, "<div class=\"scroll\">{}</div>", picture(step, digit)).ok();
    }
    if !step.zeros.is_empty() {
        write!(
            out,
            "<p class=\"zeros\">zero: {}</p>",
            escaped(&step.zero_names())
        )
        .ok();
    }
    asides(out, step);
    out.push_str("<p class=\"end\">");
    if let Some(rounded) = &step.rounding {
        let place = format!("at 2^{}", rounded.place);
        write!(
            out,
            "rounded <b>{}</b> to {} {}: <b>{}</b> → ",
            rounded.rounding,
            step.format,
            rich(&place),
            rounded.direction
        )
        .ok();
    }
    outcome(out, step);
    let lost = step.lost();
    if !lost.is_zero() {
        write!(
            out,
            " <span class=\"lost\">lost {}</span>",
            rich(&number(&lost))
        )
        .ok();
    }
    out.push_str("</p></section>");
}

/// What else happened: flushes, a dropped term, a special result, remarks.
fn asides(out: &mut String, step: &TracedStep) {
    let mut lines = Vec::new();
    if let Some(special) = &step.special {
        lines.push(format!("decided by the operands: {}", special.reason));
    }
    for flush in &step.flushed {
        lines.push(format!(
            "{} = {} is taken as {}",
            flush.name, flush.value, flush.zero
        ));
    }
    if let Some(drop) = &step.dropped {
        let (name, value, e, below) = (&drop.name, &drop.value, drop.exponent, drop.below);
        lines.push(format!(
            "{name} = {value} counts as 0: its exponent {e} is below {below}"
        ));
    }
    // The rule for the sign of a zero is news only where it makes −0.
    let is_news = |remark: &&String| {
        !remark.starts_with(ZERO_RULE) || step.value == TracedValue::Zero { negative: true }
    };
    lines.extend(step.remarks.iter().filter(is_news).cloned());
    if step.alignment.is_none() && step.terms.len() <= 1 {
        lines.extend(
            step.losses
                .iter()
                .map(|loss| format!("lost {} by {}", number(&loss.value), loss.by)),
        );
    }
    for line in lines {
        write!(out, "<p class=\"aside\">{}</p>", rich(&line)).ok();
    }
}

fn operands(out: &mut String, trace: &Trace) {
    let rows = trace.operand_rows();
    let open = if rows.len() <= OPEN_ROWS { " open" } else { "" };
    write!(
        out,
        "<details class=\"operands\"{open}><summary>Operands</summary><div class=\"scroll\"><table><thead><tr>\
         <th>k</th><th colspan=\"3\">a</th><th colspan=\"3\">b</th><th>product</th><th>e</th></tr></thead><tbody>"
    )
    .ok();
    for (k, pair) in rows {
        write!(out, "<tr><td>{k}</td>").ok();
        operand_cells(out, &pair.a);
        operand_cells(out, &pair.b);
        write!(
            out,
            "<td class=\"n\">{}</td><td class=\"n e\">{}</td></tr>",
            escaped(&people(&pair.product)),
            exponent(pair.exponent)
        )
        .ok();
    }
    let mut other = |name: &str, operand: &TracedOperand| {
        write!(out, "<tr class=\"other\"><td>{name}</td>").ok();
        operand_cells(out, operand);
        out.push_str("<td colspan=\"5\"></td></tr>");
    };
    other("c", &trace.c);
    for (side, scales) in [("sa", &trace.scale_a), ("sb", &trace.scale_b)] {
        for (block, scale) in scales.iter().enumerate() {
            other(&format!("{side}{block}"), scale);
        }
    }
    out.push_str("</tbody></table></div></details>");
}

fn operand_cells(out: &mut String, operand: &TracedOperand) {
    write!(
        out,
        "<td><code>{}</code></td><td class=\"n\">{}</td><td class=\"n e\">{}</td>",
        operand.word,
        escaped(&people(&operand.value)),
        exponent(operand.exponent)
    )
    .ok();
}

fn exponent(exponent: Option<i64>) -> String {
    exponent.map_or_else(String::new, |e| minus(&e.to_string()))
}

/// A value in few digits.
fn people(value: &TracedValue) -> String {
    in_digits(value, DIGITS)
}

/// `= 0.5` or `≈ 0.333333`.
pub(super) fn equals(value: &TracedValue, digits: usize) -> String {
    let text = in_digits(value, digits);
    match text.starts_with('≈') {
        true => text,
        false => format!("= {text}"),
    }
}

/// A value with at most so many digits; `≈` in front when they are not all.
fn in_digits(value: &TracedValue, digits: usize) -> String {
    let exact = match value {
        TracedValue::Finite(number) => number.short_decimal().is_some(),
        _ => true,
    };
    let text = minus(&value.decimal_of(digits));
    let text = text.replace("inf", "∞").replace("nan", "NaN");
    if exact {
        text
    } else {
        format!("≈\u{a0}{text}")
    }
}

/// A number in few digits.
pub(super) fn short(number: &Dyadic) -> String {
    people(&TracedValue::of_number(number))
}

/// A number exactly, with a decimal where that is a hexadecimal float.
fn number(number: &Dyadic) -> String {
    match number.short_decimal() {
        Some(text) => minus(&text),
        None => format!("{} ≈ {}", number.hex(), minus(&number.decimal())),
    }
}

fn hex(value: &TracedValue) -> String {
    match value {
        TracedValue::Finite(number) => number.hex(),
        _ => String::new(),
    }
}

pub(super) fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// Text with `2^-3` and `2^(E-24)` as raised exponents, escaped.
fn rich(text: &str) -> String {
    let mut out = String::new();
    let mut left = text;
    while let Some((before, after)) = left.split_once("2^") {
        let end = if after.starts_with('(') {
            after.find(')').map_or(after.len(), |at| at + 1)
        } else {
            after
                .find(|c: char| c != '-' && !c.is_ascii_digit())
                .unwrap_or(after.len())
        };
        let (exponent, rest) = after.split_at(end);
        let exponent = minus(exponent.trim_matches(['(', ')']));
        write!(out, "{}2<sup>{}</sup>", escaped(before), escaped(&exponent)).ok();
        left = rest;
    }
    out + &escaped(left)
}

/// Text as HTML shows it.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}
