//! The changelog of facts: what the catalogue states is recorded, and every change of it is a dated entry.
//!
//! `facts/facts.txt` is what the shipped catalogue states, `facts/changes.txt` how that came about, newest first.
//! `cargo xtask generate` writes both, so that no fact changes without an entry; a test fails where they are stale.

use std::fmt::Write;

use crate::File;
use crate::html::{counted, escaped, slug};
use crate::shell::Page;
use crate::study::Study;

/// What the shipped catalogue states.
const FACTS: &str = include_str!("../facts/facts.txt");
/// The entries: a date in a line that begins with `#`, then lines `+`, `-` and `~`.
const CHANGES: &str = include_str!("../facts/changes.txt");

/// The page of changes; a catalogue with further texts shows what these change.
pub(crate) fn page(study: &Study<'_>) -> File {
    let mut page = Page::new(
        "changes.html",
        "Changes of facts",
        "When an instruction, its arithmetic or its evidence changed in the catalogue.",
    );
    let body = &mut page.body;
    body.push_str(
        "<p>The facts of the shipped catalogue are recorded; whenever an instruction, its arithmetic or the evidence of a \
         parameter changes, an entry says what was before.</p>",
    );
    let own = study.catalogue.facts_since(FACTS);
    if !own.is_empty() {
        section(body, "In the catalogue of this site", &own);
    }
    let mut entries = 0;
    let mut lines: Vec<String> = Vec::new();
    let mut date = "";
    for line in CHANGES.lines().chain(["#"]) {
        match line.strip_prefix('#') {
            Some(next) => {
                if !date.is_empty() {
                    section(body, date, &lines);
                    entries += 1;
                }
                lines.clear();
                date = next.trim();
            }
            None => lines.push(line.to_owned()),
        }
    }
    if entries == 0 {
        body.push_str("<p>No entry yet.</p>");
    }
    page.finish(&study.hash())
}

fn section(body: &mut String, title: &str, lines: &[String]) {
    write!(
        body,
        "<h2 id=\"{}\">{}</h2><p>{}.</p><ul class=\"changes\">",
        slug(title),
        escaped(title),
        counted(lines.len(), "line")
    )
    .ok();
    for line in lines {
        let (mark, words) = line.split_at(line.len().min(2));
        let what = match mark.trim() {
            "+" => "new",
            "-" => "gone",
            "~" => "changed",
            _ => "",
        };
        match what {
            "" => write!(body, "<li>{}</li>", escaped(line)).ok(),
            _ => write!(
                body,
                "<li><b>{what}</b> {}</li>",
                escaped(words).replace(" =&gt; ", " <b>is now</b> ")
            )
            .ok(),
        };
    }
    body.push_str("</ul>");
}
