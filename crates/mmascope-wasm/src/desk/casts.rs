//! Casts one value and shows every bit of both.

use mmascope_model::Result;
use mmascope_model::exact::Rounding;
use mmascope_model::explain::word_of;
use mmascope_model::precision::cast::{Cast, CastOptions, CastPolicy, OutOfRange};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Desk, bits};

/// The roundings that need no random bits.
pub(super) const ROUNDINGS: [&str; 11] = [
    "rne", "rna", "rnz", "rnu", "rnd", "rno", "rz", "ra", "ru", "rd", "odd",
];
/// The policies by name.
pub(super) const POLICIES: [&str; 4] = ["ptx", "ml_dtypes", "ocp", "host"];

/// A value, two formats and what is asked of the cast; empty texts ask for nothing.
#[derive(Deserialize)]
pub(super) struct Question {
    from: String,
    to: String,
    value: String,
    #[serde(default)]
    rounding: String,
    #[serde(default)]
    policy: String,
    #[serde(default)]
    overflow: String,
    #[serde(default)]
    flags: Vec<String>,
}

pub(super) fn run(desk: &Desk, question: &Question) -> Result<Value> {
    let (from, to) = (desk.format(&question.from)?, desk.format(&question.to)?);
    let chosen = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let has = |flag: &str| question.flags.iter().any(|own| own == flag);
    let options = CastOptions {
        rounding: chosen(&question.rounding)
            .map(|it| Rounding::named(&it))
            .transpose()?,
        policy: chosen(&question.policy)
            .map(|it| CastPolicy::named(&it))
            .transpose()?,
        overflow: chosen(&question.overflow)
            .map(|it| OutOfRange::named(&it))
            .transpose()?,
        relu: has("relu"),
        sat: has("sat"),
        ftz: has("ftz"),
        pzo: has("pzo"),
    };
    let cast = Cast::new(from, to, &options)?;
    let word = word_of("value", &question.value, &from, true)?;
    let out = cast.word(word);
    let is_exact = cast.is_exact(from.from_register(word), to.from_register(out));
    Ok(json!({
        "from": bits::of_word(&from, word),
        "to": bits::of_word(&to, out),
        "exact": is_exact,
        "rounded": word_of("value", &question.value, &from, false).is_err(),
        "rounding": cast.rounding().to_string(),
        "policy": cast.policy().name(),
        "instruction": cast.form().map(ToString::to_string),
    }))
}
