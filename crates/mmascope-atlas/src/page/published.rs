//! The tables of Fasi et al. and of MMA-Sim, as probing the models reproduces them.

use std::fmt::Write;

use mmascope::Result;
use mmascope::probe::Features;

use crate::File;
use crate::html::{escaped, table};
use crate::shell::Page;
use crate::study::{Place, Study};

/// Chip, operand types and instruction of a column.
type Column = (&'static str, &'static str);

/// V100, T4 and A100: PeerJ Computer Science 7:e330, tables 2 to 4.
const FASI: [Column; 8] = [
    ("V100", "mma.m8n8k4.f32.f16.f16.f32"),
    ("V100", "mma.m8n8k4.f16.f16.f16.f16"),
    ("T4", "mma.m16n8k8.f32.f16.f16.f32"),
    ("A100", "mma.m16n8k8.f32.f16.f16.f32"),
    ("A100", "mma.m16n8k8.f16.f16.f16.f16"),
    ("A100", "mma.m16n8k16.f32.bf16.bf16.f32"),
    ("A100", "mma.m16n8k8.f32.tf32.tf32.f32"),
    ("A100", "mma.m8n8k4.f64.f64.f64.f64"),
];

/// The generations that came later, and AMD's: arXiv 2511.10909, tables I and II.
const MMA_SIM: [Column; 10] = [
    ("ada", "mma.m16n8k16.f32.f16.f16.f32"),
    ("ada", "mma.m16n8k32.f32.e4m3.e4m3.f32"),
    ("hopper", "mma.m16n8k16.f32.f16.f16.f32"),
    ("hopper", "mma.m16n8k16.f32.bf16.bf16.f32"),
    ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"),
    ("blackwell", "mma.m16n8k16.f32.f16.f16.f32"),
    ("cdna1", "v_mfma_f32_32x32x8_f16"),
    ("cdna2", "v_mfma_f32_32x32x8_f16"),
    ("cdna3", "v_mfma_f32_32x32x8_f16"),
    ("cdna3", "v_mfma_f32_32x32x4_f32"),
];

/// The features that the papers tabulate, by their names in `probe`.
const FINDINGS: [&str; 20] = [
    "subnormal-a",
    "subnormal-b",
    "subnormal-c",
    "subnormal-result",
    "products",
    "products-per-step",
    "block",
    "c",
    "bits-products",
    "bits-c",
    "e0",
    "width",
    "rounding-alignment",
    "rounding-alignment-c",
    "rounding-result",
    "rounding-between",
    "normalisation",
    "carries",
    "monotone",
    "overflow",
];

pub(crate) fn page(study: &Study<'_>) -> Result<File> {
    let mut page = Page::new(
        "published.html",
        "Published tables, from the models",
        "The findings of Fasi et al. and of MMA-Sim, found again by probing the models, which sees nothing but answers.",
    );
    page.body.push_str(
        "<p><code>probe</code> asked the models of these chips and saw nothing but their answers. The papers measured the same \
         on the chips; the project's tests hold these findings against the papers'.</p>",
    );
    for (id, title, columns) in [
        (
            "fasi",
            "Fasi, Higham, Mikaitis and Pranesh: V100, T4, A100",
            &FASI[..],
        ),
        (
            "mma-sim",
            "MMA-Sim: later generations, and AMD",
            &MMA_SIM[..],
        ),
    ] {
        write!(page.body, "<h2 id=\"{id}\">{title}</h2>").ok();
        let text = findings(study, title, columns)?;
        page.body.push_str(&text);
    }
    Ok(page.finish(&study.hash()))
}

fn findings(study: &Study<'_>, caption: &str, columns: &[Column]) -> Result<String> {
    let mut heads = vec!["finding".to_owned()];
    let mut found: Vec<Option<&Features>> = Vec::new();
    let mut links = vec!["<small>page</small>".to_owned()];
    for (arch, inst) in columns {
        let architecture = study.catalogue.architecture(arch)?;
        let Ok(row) = architecture.find(inst) else {
            continue;
        };
        let place = Place { architecture, row };
        let Some(index) = study.unit_of(&place) else {
            continue;
        };
        heads.push(format!("{arch} {} → {}", row.signature.a, row.signature.d));
        links.push(format!(
            "<a href=\"{}\"><small>{}</small></a>",
            study.link(&place),
            escaped(&row.name)
        ));
        found.push(study.findings[index].features.as_ref().ok());
    }
    let mut rows = vec![links];
    for name in FINDINGS {
        let title = found
            .iter()
            .flatten()
            .flat_map(|features| &features.features)
            .find(|feature| feature.name == name)
            .map(|feature| feature.title.clone());
        let Some(title) = title else { continue };
        let mut row = vec![format!(
            "<span class=\"finding\">{}</span>",
            escaped(&title)
        )];
        row.extend(found.iter().map(|features| {
            let value = features.and_then(|features| features.value(name));
            escaped(value.unwrap_or("–"))
        }));
        rows.push(row);
    }
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    Ok(table(caption, &heads, rows))
}
