//! A page for each algorithm: its parameters, and every unit that uses it.

use std::fmt::Write;

use mmascope::dpa::{Dpa, Operation};

use super::types;
use super::unit::meaning;
use crate::File;
use crate::html::{counted, escaped, list, slug, table};
use crate::shell::Page;
use crate::study::{Entry, Study};

/// The list of algorithms, and the page of each.
pub(crate) fn pages(study: &Study<'_>) -> Vec<File> {
    let mut files = vec![index(study)];
    files.extend(Dpa::all().map(|algorithm| page(study, &algorithm)));
    // What statements of units without any sum are.
    if study
        .entries
        .iter()
        .any(|entry| crate::study::algorithm(entry.unit) == "convert")
    {
        files.push(conversions(study));
    }
    files
}

/// The units with a statement of this algorithm.
fn users<'s, 'c>(study: &'s Study<'c>, name: &str) -> Vec<&'s Entry<'c>> {
    let uses = |entry: &&Entry<'c>| {
        entry
            .unit
            .program()
            .statements
            .iter()
            .any(|statement| match &statement.operation {
                Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } => {
                    algorithm.name() == name
                }
                _ => false,
            })
    };
    study.entries.iter().filter(uses).collect()
}

fn index(study: &Study<'_>) -> File {
    let mut page = Page::new(
        "algorithms.html",
        "Algorithms",
        "The algorithms by which matrix units sum, from the papers, each a value of one general step.",
    );
    page.body.push_str(
        "<p>An instruction is a program of one or a few statements; a statement runs an algorithm over some of the products. \
         Each algorithm of the papers equals a value of the general steps <code>fused</code> and <code>add-mul</code>, and tests hold \
         both equal.</p>",
    );
    let rows = Dpa::all().map(|algorithm| {
        let users = users(study, algorithm.name());
        let rows: usize = users.iter().map(|entry| entry.places.len()).sum();
        let parameters: Vec<&str> = algorithm
            .parameters()
            .iter()
            .map(|(it, _)| it.symbol)
            .collect();
        vec![
            format!(
                "<a href=\"algorithm-{}.html\"><code>{}</code></a>",
                slug(algorithm.name()),
                escaped(algorithm.name())
            ),
            escaped(algorithm.title()),
            format!("<code>{}</code>", escaped(&parameters.join(" "))),
            users.len().to_string(),
            rows.to_string(),
        ]
    });
    let table = table(
        "Algorithms",
        &[
            "notation",
            "name in the papers",
            "parameters",
            "units",
            "instructions",
        ],
        rows,
    );
    page.body.push_str(&table);
    page.finish(&study.hash())
}

fn page(study: &Study<'_>, algorithm: &Dpa) -> File {
    let name = algorithm.name();
    let users = users(study, name);
    let mut page = Page::new(
        format!("algorithm-{}.html", slug(name)),
        format!("{} ({name})", algorithm.title()),
        format!(
            "The algorithm {}: its parameters, and the units that use it.",
            algorithm.title()
        ),
    );
    let body = &mut page.body;
    if let Some(entry) = users.first() {
        write!(
            body,
            "<p>In the notation, as in <a href=\"unit-{}.html\">{}</a>: <code>{}</code></p><div class=\"words\">",
            entry.id,
            escaped(&entry.places[0].name()),
            escaped(&entry.unit.program().to_string())
        )
        .ok();
        for line in entry.unit.words() {
            write!(body, "<p>{}</p>", escaped(line.trim())).ok();
        }
        body.push_str("</div>");
        let general = entry.unit.program().general();
        if general != *entry.unit.program() {
            write!(
                body,
                "<p>The same as a general step: <code>{}</code></p>",
                escaped(&general.to_string())
            )
            .ok();
        }
    } else {
        body.push_str("<p>No unit of the catalogue needs it; units of your own can.</p>");
    }
    body.push_str("<h2 id=\"parameters\">Parameters</h2>");
    let rows: Vec<_> = algorithm
        .parameters()
        .into_iter()
        .map(|(parameter, _)| {
            vec![
                format!("<code>{}</code>", escaped(parameter.symbol)),
                escaped(meaning(parameter.symbol)),
                values(parameter),
            ]
        })
        .collect();
    match rows.is_empty() {
        true => body.push_str("<p>It has none.</p>"),
        false => body.push_str(&table(
            "Parameters",
            &["parameter", "what it is", "values"],
            rows,
        )),
    }
    write!(
        body,
        "<h2 id=\"units\">{}</h2>",
        counted(users.len(), "unit")
    )
    .ok();
    body.push_str(&list(users.iter().map(|entry| of_unit(entry))));
    page.finish(&study.hash())
}

/// What a parameter may be.
fn values(parameter: &mmascope::dpa::schema::Parameter) -> String {
    use mmascope::dpa::schema::Roundings;
    let mut parts = Vec::new();
    if let Some((low, high)) = parameter.kind.numbers {
        parts.push(format!("{low} to {high}"));
    }
    parts.extend(
        parameter
            .kind
            .words
            .iter()
            .map(|word| format!("<code>{word}</code>")),
    );
    match parameter.kind.rounding {
        Roundings::No => {}
        Roundings::Alone => parts.push("a rounding".to_owned()),
        Roundings::WithFormat => parts.push("a rounding to a format".to_owned()),
    }
    if !parameter.kind.registers.is_empty() {
        parts.push("a register word".to_owned());
    }
    parts.join(", ")
}

fn of_unit(entry: &Entry<'_>) -> String {
    format!(
        "<a href=\"unit-{}.html\">{}</a> <small>{}; {}</small><br><code>{}</code>",
        entry.id,
        escaped(&entry.places[0].name()),
        escaped(&types(entry.places[0].row)),
        counted(entry.places.len(), "instruction"),
        escaped(&entry.unit.program().to_string())
    )
}

fn conversions(study: &Study<'_>) -> File {
    let mut page = Page::new(
        "algorithm-convert.html",
        "Without a sum of products",
        "Units that convert or add values and sum no products.",
    );
    let entries = study.entries.iter();
    let own = entries.filter(|entry| crate::study::algorithm(entry.unit) == "convert");
    page.body.push_str(&list(own.map(of_unit)));
    page.finish(&study.hash())
}
