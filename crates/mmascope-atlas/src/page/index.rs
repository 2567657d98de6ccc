//! The first page: architectures by operand types.

use std::collections::BTreeMap;
use std::fmt::Write;

use mmascope::isa::{Architecture, Strength};

use super::badge;
use crate::File;
use crate::class::{self, Class};
use crate::html::{counted, escaped, slug};
use crate::shell::Page;
use crate::study::Study;

/// What an architecture has of a class.
#[derive(Default)]
struct Cell {
    modelled: usize,
    unmodelled: usize,
    best: Option<Strength>,
}

fn cells(architecture: &Architecture) -> BTreeMap<Class, Cell> {
    let mut found: BTreeMap<Class, Cell> = BTreeMap::new();
    for row in architecture.instructions() {
        let cell = found.entry(class::of(&row.signature)).or_default();
        if row.is_modelled() {
            cell.modelled += 1;
            let level = row.evidence.default;
            cell.best = Some(cell.best.map_or(level, |best| best.min(level)));
        } else {
            cell.unmodelled += 1;
        }
    }
    found
}

pub(crate) fn page(study: &Study<'_>) -> File {
    let architectures = study.catalogue.architectures();
    let matrix: Vec<_> = architectures.iter().map(|it| (it, cells(it))).collect();
    let mut classes: Vec<&Class> = matrix.iter().flat_map(|(_, cells)| cells.keys()).collect();
    classes.sort();
    classes.dedup();
    let modelled: usize = architectures.iter().map(|it| it.counts().0).sum();
    let mut page = Page::new(
        "index.html",
        "What matrix units compute",
        "Every known matrix instruction of GPUs and CPUs: its arithmetic bit for bit, and how that is known.",
    );
    let body = &mut page.body;
    write!(
        body,
        "<p class=\"lead\">{} of {} are described here bit for bit by {} different units of arithmetic: what each adds \
         in one step, which bits it drops, how it rounds, and how that is known. The <a href=\"explorer.html\">explorer</a> \
         computes with all of them in this browser.</p>",
        counted(modelled, "instruction"),
        counted(architectures.len(), "architecture"),
        study.entries.len()
    )
    .ok();
    body.push_str(
        "<p>A cell counts the instructions with a model and shows the strongest evidence that one of them has for most of its \
         arithmetic; the number behind + counts instructions that are known and have no model. \
         <a href=\"how-we-know.html\">How we know</a> explains the marks.</p>",
    );
    body.push_str(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Architectures by operand types\">\
         <table class=\"matrix\"><caption>Architectures by operand types</caption><thead><tr><th scope=\"col\">architecture</th>",
    );
    for class in &classes {
        write!(body, "<th scope=\"col\">{}</th>", escaped(&class.title)).ok();
    }
    body.push_str("</tr></thead><tbody>");
    let mut vendor = "";
    for (architecture, cells) in &matrix {
        if architecture.vendor != vendor {
            vendor = &architecture.vendor;
            write!(
                body,
                "<tr class=\"vendor\"><th scope=\"rowgroup\" colspan=\"{}\">{}</th></tr>",
                classes.len() + 1,
                escaped(vendor)
            )
            .ok();
        }
        let file = format!("arch-{}.html", slug(&architecture.name));
        write!(
            body,
            "<tr><th scope=\"row\"><a href=\"{file}\">{}</a><small>{}</small></th>",
            escaped(&architecture.name),
            escaped(chips(&architecture.title))
        )
        .ok();
        for class in &classes {
            body.push_str("<td>");
            if let Some(cell) = cells.get(*class) {
                write_cell(body, architecture, class, cell, &file);
            }
            body.push_str("</td>");
        }
        body.push_str("</tr>");
    }
    body.push_str("</tbody></table></div>");
    page.finish(&study.hash())
}

fn write_cell(
    body: &mut String,
    architecture: &Architecture,
    class: &Class,
    cell: &Cell,
    file: &str,
) {
    let count = match (cell.modelled, cell.unmodelled) {
        (0, unknown) => format!("<span class=\"none\">+{unknown}</span>"),
        (known, 0) => known.to_string(),
        (known, unknown) => format!("{known} <span class=\"none\">+{unknown}</span>"),
    };
    let mark = cell
        .best
        .map_or(String::new(), |best| format!(" {}", badge(best)));
    // The names of row and column are read with the number: a list of links has no rows.
    write!(
        body,
        "<a href=\"{file}#{}\"><span class=\"hidden\">{}, {}: </span>{count}{mark}</a>",
        slug(&class.id),
        escaped(&architecture.name),
        escaped(&class.title),
    )
    .ok();
}

/// The chips of a title, without the maker's and the generation's name in front.
fn chips(title: &str) -> &str {
    title.split_once(": ").map_or("", |(_, chips)| chips)
}
