//! Writes the findings of `diff` as one HTML page that needs nothing else.

use super::drawing::{STYLE, escaped, svg};
use super::text::{explained, others};
use super::{Compare, Findings, Shown};

const PAGE_STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;background:var(--paper);color:var(--ink)}
table{border-collapse:collapse;display:block;overflow-x:auto}th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line)}
td.n{text-align:right;font-variant-numeric:tabular-nums}pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);padding:.6rem;font-size:13px}
.faint{color:var(--faint)}svg{width:100%;height:auto}";

pub(super) fn page(findings: &Findings<'_>) -> String {
    let notes: String = findings
        .notes
        .iter()
        .map(|note| format!("<li>{}</li>", escaped(note)))
        .collect();
    let rows: String = findings
        .compares
        .iter()
        .map(|compare| row(findings, compare))
        .collect();
    let inputs: String = findings
        .compares
        .iter()
        .filter(|compare| compare.first.is_some())
        .map(|compare| section(findings, compare))
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" \
         content=\"light dark\"><title>mmascope diff</title><style>{STYLE}\n{PAGE_STYLE}</style></head>\
         <body><h1>Where units differ</h1><p>{} inputs: {}</p><ul class=\"faint\">{notes}</ul>\
         <table><thead><tr><th>left</th><th>right</th><th>compared</th><th>equal</th><th>differ</th>\
         <th>largest ULP</th><th>other</th></tr></thead><tbody>{rows}</tbody></table>\
         {}{inputs}<p class=\"faint\">mmascope {}</p></body></html>",
        findings.inputs,
        escaped(&findings.source),
        svg(findings),
        env!("CARGO_PKG_VERSION"),
    )
}

fn row(findings: &Findings<'_>, compare: &Compare) -> String {
    let tally = &compare.tally;
    let name = |index: usize| escaped(&findings.subjects[index].name());
    format!(
        "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
        name(compare.left),
        name(compare.right),
        tally.compared,
        tally.equal,
        tally.different(),
        tally.largest,
        escaped(&others(compare).join(", ")),
    )
}

fn section(findings: &Findings<'_>, compare: &Compare) -> String {
    let part = |what: &str, shown: &Option<Shown>| match shown {
        None => String::new(),
        Some(shown) => format!(
            "<h3>{what}, from {}</h3><pre>{}\n\n{}</pre>{}",
            escaped(&shown.example.origin.place),
            escaped(&shown.line),
            escaped(&explained(&shown.explanation).join("\n")),
            shown.command.as_ref().map_or(String::new(), |command| {
                let command = escaped(command);
                format!("<p class=\"faint\">Step by step:</p><pre>{command}</pre>")
            }),
        ),
    };
    format!(
        "<h2>{}</h2>{}{}",
        escaped(&findings.title(compare)),
        part("The first", &compare.first),
        part("The smallest found", &compare.smallest),
    )
}
