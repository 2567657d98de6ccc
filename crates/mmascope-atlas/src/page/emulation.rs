//! Schemes of emulated precision, with their errors.

use std::fmt::Write;

use mmascope::accuracy::{AccuracySetting, Curve, Data};
use mmascope::gemm::{Schedule, Watch};
use mmascope::isa::Instruction;
use mmascope::{Error, Result};
use rayon::prelude::*;

use crate::html::{escaped, table};
use crate::shell::Page;
use crate::study::{Place, Study};
use crate::{File, Making, markdown};

/// The document that has the schemes and what their words mean.
const DOCUMENT: &str = include_str!("../../../../docs/emulation.md");

/// The products that are measured: M, N and K.
const SHAPE: [usize; 3] = [24, 24, 512];

/// The unit that a scheme is measured on, by a word of its name.
const UNITS: [(&str, &str, &str); 6] = [
    ("TF32", "ampere", "mma.m16n8k8.f32.tf32.tf32.f32"),
    ("BF16", "hopper", "mma.m16n8k16.f32.bf16.bf16.f32"),
    ("FP16", "ampere", "mma.m16n8k8.f32.f16.f16.f32"),
    ("TPU", "tpu", "mxu.f32.bf16"),
    ("FP8", "hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"),
    ("", "ampere", "mma.m16n8k32.s32.s8.s8.s32"),
];

pub(crate) fn page(study: &Study<'_>, making: &Making<'_>) -> Result<File> {
    let mut page = Page::new(
        "emulation.html",
        "Emulated precision",
        "Schemes that make f32 and f64 products of narrower units: how each is written, where it is from, how exact it is.",
    );
    let schemes = markdown::section(DOCUMENT, "## The usual schemes");
    let data = Data::generated("normal".parse()?, 1, SHAPE)?;
    let rows = markdown::rows(schemes)
        .into_par_iter()
        .map(|scheme| row(study, &data, &scheme, making))
        .collect::<Result<Vec<_>>>()?;
    let body = &mut page.body;
    let [m, n, k] = SHAPE;
    write!(
        body,
        "<p>Programs compute products of f32 and f64 with units that take narrower operands: they split the operands, form several \
         products, and join the sums. The errors are those of {m} × {n} products of normal deviates with K = {k}, against the exact \
         products.</p>"
    )
    .ok();
    body.push_str(&table(
        "Schemes and their errors",
        &[
            "scheme",
            "mean error / Σ|a·b|",
            "largest",
            "unit",
            "text",
            "source",
        ],
        rows,
    ));
    write!(
        body,
        "<h2 id=\"words\">What the words mean</h2>{}",
        markdown::html(
            markdown::section(DOCUMENT, "## What the words mean"),
            "Words"
        )
    )
    .ok();
    Ok(page.finish(&study.hash()))
}

fn row(
    study: &Study<'_>,
    data: &Data,
    scheme: &[String],
    making: &Making<'_>,
) -> Result<Vec<String>> {
    let [name, text, source] = scheme else {
        return Ok(Vec::new());
    };
    let text = text.trim_matches('`');
    let unit = UNITS.iter().find(|(word, ..)| name.contains(word));
    let found = unit.and_then(|(_, arch, inst)| {
        let architecture = study.catalogue.architecture(arch).ok()?;
        let row = architecture.find(inst).ok()?;
        Some(Place { architecture, row })
    });
    let (mut mean, mut largest) = ("–".to_owned(), "–".to_owned());
    if let Some(place) = &found
        && let Some(curve) = measured(place.row, text, data, making)?
        && let Some(point) = curve.points.last()
    {
        let errors = &point.statistics.relative_to_products;
        mean = format!("{:.2e}", errors.mean);
        largest = format!("{:.2e}", errors.max);
    }
    let unit = found.map_or(String::new(), |place| {
        format!(
            "<a href=\"{}\">{}</a>",
            study.link(&place),
            escaped(&place.name())
        )
    });
    Ok(vec![
        markdown::inline(name),
        mean,
        largest,
        unit,
        format!("<code>{}</code>", escaped(text)),
        format!("<span class=\"long\">{}</span>", markdown::inline(source)),
    ])
}

/// The errors of a scheme; `None` where the unit does not take it.
fn measured(
    row: &Instruction,
    text: &str,
    data: &Data,
    making: &Making<'_>,
) -> Result<Option<Curve>> {
    let schedule: Schedule = text.parse()?;
    let setting = AccuracySetting { row, schedule };
    let watch = Watch {
        progress: &|_| (),
        cancel: making.cancel,
    };
    match Curve::measure(&setting, data, true, &watch) {
        Ok(curve) => Ok(Some(curve)),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(_) => Ok(None),
    }
}
