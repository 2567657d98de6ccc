//! Writes the findings of `diff` as one HTML page that needs nothing else.

use super::drawing::{WIDTH, escaped, svg};
use super::text::{EXPLAINED, HEADS, counts, explained};
use super::{Findings, Shown};
use mmascope::explain::{Comparison, Report};

/// A drawing that on a narrow screen is moved instead of made too small to read.
pub(super) fn scrolled(svg: &str) -> String {
    format!("<div class=\"scroll\" style=\"--width:{WIDTH}px\">{svg}</div>")
}

pub(super) fn page(findings: &Findings<'_>) -> String {
    let mut report = Report::new("Where units differ");
    let (inputs, source) = (findings.inputs, escaped(&findings.source));
    report.html(&format!("<p>{inputs} inputs: {source}</p>"));
    let notes = findings.notes.iter();
    let notes: String = notes
        .map(|note| format!("<li>{}</li>", escaped(note)))
        .collect();
    report.html(&format!("<ul class=\"notes\">{notes}</ul>"));
    let rows = findings.compares.iter();
    let rows: Vec<[String; 7]> = rows.map(|compare| counts(findings, compare)).collect();
    report.html(&table(&HEADS, &rows));
    report.html(&scrolled(&svg(findings)));
    let differing = findings.compares.iter().filter(|it| it.first.is_some());
    for compare in differing.clone().take(EXPLAINED) {
        let title = escaped(&findings.title(compare));
        report.html(&format!("<h2 class=\"pair\">{title}</h2>"));
        let parts = [
            ("The first", &compare.first),
            ("The smallest found", &compare.smallest),
        ];
        for (what, shown) in parts {
            if let Some(shown) = shown {
                example(&mut report, what, shown);
            }
        }
    }
    if let more @ 1.. = differing.count().saturating_sub(EXPLAINED) {
        report.html(&format!(
            "<p>{more} more pairs differ; --json has their inputs</p>"
        ));
    }
    report.page()
}

/// A table of texts; what follows the first two columns is numbers.
pub(super) fn table<const N: usize>(heads: &[&str; N], rows: &[[String; N]]) -> String {
    let heads = heads.iter().enumerate().map(|(column, head)| {
        let class = if column < 2 { " class=\"name\"" } else { "" };
        format!("<th{class}>{head}</th>")
    });
    let heads: String = heads.collect();
    let rows = rows.iter().map(|cells| {
        let cells = cells.iter().enumerate().map(|(column, cell)| {
            let class = if column < 2 { "" } else { " class=\"n\"" };
            format!("<td{class}>{}</td>", escaped(cell))
        });
        format!("<tr>{}</tr>", cells.collect::<String>())
    });
    format!(
        "<div class=\"scroll\"><table><thead><tr>{heads}</tr></thead><tbody>{}</tbody></table></div>",
        rows.collect::<String>()
    )
}

/// An input and its steps on both units; in words where the formats of one do not hold it.
fn example(report: &mut Report, what: &str, shown: &Shown) {
    let (place, line) = (&shown.example.origin.place, escaped(&shown.line));
    report.html(&format!(
        "<h3>{what}, from {}</h3><pre>{line}</pre>",
        escaped(place)
    ));
    let [left, right] = &shown.explanation.sides;
    match (&left.trace, &right.trace) {
        (Some((own, _)), Some((other, _))) => {
            report.explanation_against(&Comparison::of((&left.name, own), (&right.name, other)))
        }
        _ => report.html(&format!(
            "<pre>{}</pre>",
            escaped(&explained(&shown.explanation).join("\n"))
        )),
    }
    if let Some(command) = &shown.command {
        let command = escaped(command);
        report.html(&format!("<p>Step by step:</p><pre>{command}</pre>"));
    }
}
