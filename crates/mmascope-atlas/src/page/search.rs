//! The index that the search box reads, and the module as a script.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::html::slug;
use crate::study::{Place, Study};

/// The pages that are found by words of their own.
const PAGES: [(&str, &str, &str); 7] = [
    (
        "explorer.html",
        "Explorer",
        "explorer compute try cast reveal matrix npy unit",
    ),
    ("algorithms.html", "Algorithms", "algorithms fdpa fma"),
    (
        "formats.html",
        "Number formats",
        "formats fp8 fp6 fp4 bf16 tf32",
    ),
    (
        "published.html",
        "Published tables",
        "published tables fasi mma-sim papers",
    ),
    (
        "emulation.html",
        "Emulated precision",
        "emulation ozaki 3xtf32 bf16x9 schemes",
    ),
    (
        "how-we-know.html",
        "How we know",
        "evidence proofs sources how we know",
    ),
    (
        "changes.html",
        "Changes of facts",
        "changes changelog history",
    ),
];

/// The index as a script that sets one variable: also a page that was opened from a folder can load it.
pub(super) fn index(study: &Study<'_>) -> String {
    let units: Vec<String> = study
        .entries
        .iter()
        .map(|entry| format!("unit-{}.html", entry.id))
        .collect();
    let architectures: Vec<Value> = study
        .catalogue
        .architectures()
        .iter()
        .map(|architecture| {
            let rows: Vec<Value> = architecture
                .instructions()
                .map(|row| {
                    let place = Place { architecture, row };
                    // -1: no model. The anchor is made of the names, as `slug` makes it.
                    let unit = study.unit_of(&place).map_or(-1, |unit| unit as i64);
                    json!([row.name, shapes(row).join(" "), unit])
                })
                .collect();
            json!({
                "name": architecture.name,
                "title": architecture.title,
                "names": architecture.aliases.join(" "),
                "page": format!("arch-{}.html", slug(&architecture.name)),
                "rows": rows,
            })
        })
        .collect();
    let pages: Vec<Value> = PAGES
        .iter()
        .map(|(page, title, words)| json!([page, title, words]))
        .collect();
    let body = json!({"units": units, "architectures": architectures, "pages": pages});
    format!("window.atlasIndex={body};\n")
}

/// Every legal shape of an instruction but the one in its name.
fn shapes(row: &mmascope::Instruction) -> Vec<String> {
    let mut found = Vec::new();
    for shape in &row.shapes {
        for m in &shape.m {
            for n in &shape.n {
                let (k, blocks) = (shape.k, shape.blocks);
                let text = match (shape.crosses, blocks) {
                    (false, _) => format!("m{m}n{n}k{k}"),
                    (true, _) => format!("{m}x{n}x{k}"),
                };
                if !row.name.contains(&text) || shape.crosses && blocks > 1 {
                    found.push(text);
                }
            }
        }
    }
    found
}

/// The module as a script: zipped, and in base64. A page that was opened from a folder can read no other files, but can
/// run their scripts.
pub(super) fn as_script(module: &[u8]) -> String {
    let mut zipped = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    let written = zipped.write_all(module).and_then(|()| zipped.finish());
    let zipped = written.unwrap_or_default();
    format!("window.atlasModule=\"{}\";\n", base64(&zipped))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for three in bytes.chunks(3) {
        let byte = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(match place <= three.len() {
                true => char::from(digit),
                false => '=',
            });
        }
    }
    text
}
