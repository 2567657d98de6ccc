//! The page "how we know": levels of evidence, how much has which, proofs, sources, disputes.

use std::fmt::Write;

use mmascope::isa::{Architecture, Strength};
use mmascope::precision::deviations::DEVIATIONS;

use super::badge;
use crate::File;
use crate::html::{escaped, list, prose, slug, table};
use crate::markdown;
use crate::shell::Page;
use crate::study::Study;

/// The recorded proofs.
const PROOFS: &str = include_str!("../../../../docs/measured/proofs.md");

/// The levels, strongest first.
const LEVELS: [&str; 7] = ["hw", "2team", "1team", "sim", "doc", "open", "assumed"];

pub(crate) fn page(study: &Study<'_>) -> File {
    let mut page = Page::new(
        "how-we-know.html",
        "How we know",
        "What the marks of evidence mean, how many parameters have which, what was proven, and what the sources are.",
    );
    let body = &mut page.body;
    let levels: Vec<Strength> = LEVELS
        .iter()
        .filter_map(|name| Strength::named(name).ok())
        .collect();
    body.push_str(
        "<p>Every parameter of every instruction has its own mark. A recorded result of hardware wins over any document; what no \
         source states is marked as assumed, and what nobody has published is refused and never guessed.</p>",
    );
    let rows = levels.iter().map(|level| {
        let (mut rows, mut parameters) = (0, 0);
        for row in study.catalogue.instructions() {
            let Ok(unit) = row.unit() else { continue };
            rows += usize::from(row.evidence.default == *level);
            let all = unit.program().parameters();
            parameters += all
                .iter()
                .filter(|it| row.evidence.of(it.name) == *level)
                .count();
        }
        vec![
            badge(*level),
            escaped(level.words()),
            rows.to_string(),
            parameters.to_string(),
        ]
    });
    body.push_str(&table(
        "Levels of evidence",
        &["mark", "what it says", "instructions", "parameters"],
        rows,
    ));
    body.push_str("<h2 id=\"architectures\">By architecture</h2>");
    let architectures = study.catalogue.architectures();
    let heads: Vec<&str> = ["architecture"]
        .into_iter()
        .chain(LEVELS)
        .chain(["no model"])
        .collect();
    let rows = architectures.iter().map(|architecture| {
        let mut cells = vec![format!(
            "<a href=\"arch-{}.html\">{}</a>",
            slug(&architecture.name),
            escaped(&architecture.name)
        )];
        cells.extend(
            levels
                .iter()
                .map(|level| match counted(architecture, *level) {
                    0 => String::new(),
                    count => count.to_string(),
                }),
        );
        cells.push(architecture.counts().1.to_string());
        cells
    });
    body.push_str(&table(
        "Instructions by architecture and evidence",
        &heads,
        rows,
    ));
    write!(
        body,
        "<h2 id=\"proofs\">What was proven</h2>{}",
        markdown::html(without_title(PROOFS), "Proofs")
    )
    .ok();
    body.push_str("<h2 id=\"sources\">Sources</h2>");
    for architecture in architectures.iter().filter(|it| !it.sources.is_empty()) {
        let sources = architecture.sources.iter().map(|source| prose(source));
        write!(
            body,
            "<h3>{}</h3>{}",
            escaped(&architecture.title),
            list(sources)
        )
        .ok();
    }
    deviations(body);
    page.finish(&study.hash())
}

fn counted(architecture: &Architecture, level: Strength) -> usize {
    let modelled = architecture.instructions().filter(|row| row.is_modelled());
    modelled.filter(|row| row.evidence.default == level).count()
}

fn without_title(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(_, rest)| rest)
}

/// What a public page on one compiler says, and what is true.
fn deviations(body: &mut String) {
    body.push_str(
        "<h2 id=\"deviations\">A page that errs, and what is true</h2><p>An unofficial page about fast-math flags, flushes, \
         approximate functions, narrow formats and block scaling errs in these points.</p>",
    );
    let rows = DEVIATIONS.iter().map(|it| {
        vec![
            it.number.to_string(),
            escaped(it.part),
            prose(it.says),
            prose(it.truth),
            escaped(it.evidence),
        ]
    });
    body.push_str(&table(
        "Deviations",
        &[
            "number",
            "about",
            "the page says",
            "what is true",
            "evidence",
        ],
        rows,
    ));
}
