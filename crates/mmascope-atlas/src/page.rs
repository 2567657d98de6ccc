//! The pages, one file a kind, and the files beside them: style, script, search index, module.

pub(crate) mod algorithm;
pub(crate) mod architecture;
pub(crate) mod emulation;
pub(crate) mod evidence;
pub(crate) mod explorer;
pub(crate) mod formats;
pub(crate) mod index;
pub(crate) mod published;
mod search;
pub(crate) mod unit;

use mmascope::isa::{Catalogue, Instruction, Strength};

use crate::File;
use crate::html::escaped;
use crate::study::Study;

const STYLE: &str = include_str!("../assets/atlas.css");
const SCRIPT: &str = include_str!("../assets/atlas.js");
const EXPLORER: &str = include_str!("../assets/explorer.js");

/// The files that are no pages.
pub(crate) fn assets(study: &Study<'_>, module: Option<&[u8]>) -> Vec<File> {
    let mut files = vec![
        File::text("atlas.css", STYLE.to_owned()),
        File::text("atlas.js", SCRIPT.to_owned()),
        File::text("atlas-explorer.js", EXPLORER.to_owned()),
        File::text("atlas-search.js", search::index(study)),
        File::text("atlas.json", about(study.catalogue, module)),
    ];
    if let Some(module) = module {
        files.push(File::text("atlas-module.js", search::as_script(module)));
    }
    files
}

/// What the site was made from, for programs.
pub(crate) fn about(catalogue: &Catalogue, module: Option<&[u8]>) -> String {
    let body = serde_json::json!({
        "mmascope": env!("CARGO_PKG_VERSION"),
        "catalogue": catalogue.hash(),
        "module": module.map(|module| format!("{:016x}", fnv(module.iter().copied()))),
        "units": crate::study::count(catalogue),
        "rows": catalogue.instructions().count(),
    });
    format!("{body}\n")
}

/// FNV-1a: short, and the same everywhere.
pub(crate) fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A level of evidence as a mark with a word, and its meaning for a pointer and a screen reader.
pub(crate) fn badge(level: Strength) -> String {
    let name = level.to_string();
    format!(
        "<span class=\"evidence e-{name}\" title=\"{}\">{name}</span>",
        escaped(level.words())
    )
}

/// Operand types in a few words: `f16 × f16 + f32 → f32`.
pub(crate) fn types(row: &Instruction) -> String {
    let signature = &row.signature;
    let scale = signature.scale.map_or(String::new(), |scale| {
        format!(", scales {}/{}", scale.format, scale.block)
    });
    let (a, b, c, d) = (signature.a, signature.b, signature.c, signature.d);
    format!("{a} × {b} + {c} → {d}{scale}")
}
