//! A page for each architecture: its instructions by operand types, and those without a model.

use std::collections::BTreeMap;
use std::fmt::Write;

use mmascope::isa::{Architecture, Instruction, Model};

use super::{badge, types};
use crate::File;
use crate::class::{self, Class};
use crate::html::{counted, encoded, escaped, list, prose, slug, table};
use crate::shell::Page;
use crate::study::{Place, Study};

pub(crate) fn pages(study: &Study<'_>) -> Vec<File> {
    let architectures = study.catalogue.architectures().iter();
    architectures.map(|it| page(study, it)).collect()
}

fn page(study: &Study<'_>, architecture: &Architecture) -> File {
    let (known, unknown) = architecture.counts();
    let mut page = Page::new(
        format!("arch-{}.html", slug(&architecture.name)),
        &architecture.title,
        format!(
            "{}: {} with a model, {unknown} known without one.",
            architecture.title,
            counted(known, "matrix instruction")
        ),
    );
    let body = &mut page.body;
    let names: Vec<String> = [&architecture.name]
        .into_iter()
        .chain(&architecture.aliases)
        .map(|name| format!("<code>{}</code>", escaped(name)))
        .collect();
    write!(
        body,
        "<dl class=\"facts\"><dt>Maker</dt><dd>{}</dd><dt>Names</dt><dd>{}</dd><dt>Instructions</dt>\
         <dd>{known} modelled, {unknown} known without a model</dd></dl>",
        escaped(&architecture.vendor),
        names.join(" ")
    )
    .ok();
    if !architecture.notes.is_empty() {
        let notes = architecture.notes.iter().map(|note| prose(note));
        write!(body, "<h2 id=\"notes\">Remarks</h2>{}", list(notes)).ok();
    }
    if let Some(reason) = &architecture.unmodelled {
        write!(
            body,
            "<p class=\"refused\">Instructions that are not listed are known and have no model: {}</p>",
            prose(reason)
        )
        .ok();
    }
    let mut classes: BTreeMap<Class, Vec<&Instruction>> = BTreeMap::new();
    for row in architecture.instructions() {
        classes
            .entry(class::of(&row.signature))
            .or_default()
            .push(row);
    }
    if classes.len() > 1 {
        body.push_str("<p class=\"jump\">Operand types: ");
        for class in classes.keys() {
            write!(
                body,
                "<a href=\"#{}\">{}</a> ",
                slug(&class.id),
                escaped(&class.title)
            )
            .ok();
        }
        body.push_str("</p>");
    }
    for (class, rows) in &classes {
        write!(
            body,
            "<h2 id=\"{}\">{}</h2>",
            slug(&class.id),
            escaped(&class.title)
        )
        .ok();
        let place = |row| Place { architecture, row };
        let (modelled, others): (Vec<&Instruction>, Vec<&Instruction>) =
            rows.iter().partition(|row| row.is_modelled());
        if !modelled.is_empty() {
            let rows = modelled.iter().map(|row| modelled_row(study, &place(row)));
            body.push_str(&table(
                &format!("{} instructions with a model", class.title),
                &["instruction", "operands", "K", "arithmetic", "evidence"],
                rows,
            ));
        }
        if !others.is_empty() {
            unmodelled(body, architecture, &others);
        }
    }
    if !architecture.sources.is_empty() {
        let sources = architecture.sources.iter().map(|source| prose(source));
        write!(body, "<h2 id=\"sources\">Sources</h2>{}", list(sources)).ok();
    }
    page.finish(&study.hash())
}

fn modelled_row(study: &Study<'_>, place: &Place<'_>) -> Vec<String> {
    let row = place.row;
    let default = match row.is_default {
        true => " <small>default of its types</small>",
        false => "",
    };
    let arithmetic = row
        .unit()
        .map_or(String::new(), |unit| unit.program().to_string());
    vec![
        format!(
            "<a href=\"{}\"><code>{}</code></a>{default}",
            study.link(place),
            escaped(&row.name)
        ),
        escaped(&types(row)),
        row.signature.k.to_string(),
        format!(
            "<code>{}</code> <a class=\"try\" href=\"explorer.html#arch={}&amp;inst={}\" aria-label=\"Compute with {}\">compute</a>",
            escaped(&arithmetic),
            encoded(&row.architecture),
            encoded(&row.name),
            escaped(&row.name)
        ),
        badge(row.evidence.default),
    ]
}

/// Instructions without a model, by reason, folded.
fn unmodelled(body: &mut String, architecture: &Architecture, rows: &[&Instruction]) {
    let mut reasons: BTreeMap<&str, Vec<&Instruction>> = BTreeMap::new();
    for row in rows {
        if let Model::Unmodelled(reason) = &row.model {
            reasons.entry(reason).or_default().push(row);
        }
    }
    for (reason, rows) in reasons {
        write!(
            body,
            "<details><summary>{} known without a model: {}</summary><ul class=\"names\">",
            counted(rows.len(), "instruction"),
            prose(reason)
        )
        .ok();
        for row in rows {
            write!(
                body,
                "<li id=\"{}\"><code>{}</code></li>",
                Place { architecture, row }.anchor(),
                escaped(&row.name)
            )
            .ok();
        }
        body.push_str("</ul></details>");
    }
}
