//! Finds units by name, and says what they take.

use mmascope_model::format::Format;
use mmascope_model::isa::{Architecture, Catalogue, Instruction};
use mmascope_model::{Error, Result};
use serde_json::{Value, json};

/// Suggestions that are given at most.
const MOST: usize = 40;

/// The instruction of `ARCH:INST`.
pub(super) fn find<'c>(catalogue: &'c Catalogue, unit: &str) -> Result<&'c Instruction> {
    let (arch, inst) = unit.split_once(':').ok_or_else(|| {
        Error::Argument(format!(
            "'{}': expected an architecture and an instruction, as in h100:mma.m16n8k16.f32.f16.f16.f32",
            mmascope_model::error::quoted(unit)
        ))
    })?;
    catalogue.find(arch.trim(), inst.trim())
}

/// Units with a model whose name has every word of a text.
pub(super) fn suggestions(catalogue: &Catalogue, text: &str) -> Vec<String> {
    let mut words: Vec<String> = text
        .split([':', ' ', ','])
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    // A word in front may be any name of an architecture.
    let named = words
        .first()
        .and_then(|word| catalogue.architecture(word).ok());
    let chosen: Vec<&Architecture> = match named {
        Some(architecture) => {
            words.remove(0);
            vec![architecture]
        }
        None => catalogue.architectures().iter().collect(),
    };
    let mut found = Vec::new();
    for architecture in chosen {
        for row in architecture.instructions().filter(|row| row.is_modelled()) {
            let name = format!("{}:{}", architecture.name, row.name);
            if found.len() < MOST && words.iter().all(|word| name.contains(&**word)) {
                found.push(name);
            }
        }
    }
    found
}

fn format(format: &Format) -> Value {
    json!({"name": format.name, "bits": format.bits, "digits": format.digits()})
}

/// Formats, K, modifiers and words of an instruction; why there is no model where there is none.
pub(super) fn describe(row: &Instruction) -> Value {
    let signature = &row.signature;
    let unit = row.unit();
    json!({
        "unit": format!("{}:{}", row.architecture, row.name),
        "arch": row.architecture,
        "inst": row.name,
        "a": format(&signature.a),
        "b": format(&signature.b),
        "c": format(&signature.c),
        "d": format(&signature.d),
        "k": signature.k,
        "scale": signature.scale.map(|scale| format(&scale.format)),
        "block": signature.scale.map(|scale| scale.block),
        "scales": signature.scales(),
        "mods": row.modifiers,
        "types": signature.to_string(),
        "arithmetic": unit.as_ref().map_or(String::new(), |unit| unit.program().to_string()),
        "words": unit.as_ref().map_or(Vec::new(), |unit| unit.summary().to_vec()),
        "evidence": row.evidence.to_string(),
        "refused": unit.err().map(|error| error.to_string()),
    })
}
