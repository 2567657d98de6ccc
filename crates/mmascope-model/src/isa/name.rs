//! Reduces every accepted spelling of an instruction to one key and, beside it, the shape.

use super::shape::{Single, parse_crosses, parse_letters};

/// A name, taken apart.
pub(super) struct Spelling {
    /// The name in short form with M and N taken out; equal for all spellings of one row.
    pub(super) key: String,
    /// The shape that the name gives.
    pub(super) shape: Option<Single>,
}

impl Spelling {
    /// The short name again, for comparing it with canonical names.
    pub(crate) fn text(&self) -> String {
        let shape = self
            .shape
            .map_or(String::new(), |s| match self.key.starts_with("v_") {
                true => format!("{}x{}x{}", s.m, s.n, s.k),
                false => format!("m{}n{}k{}", s.m, s.n, s.k),
            });
        let k = self
            .shape
            .map_or(String::new(), |shape| placeholder(&shape));
        if k.is_empty() {
            self.key.clone()
        } else {
            self.key.replace(&k, &shape)
        }
    }
}

/// What stands for the shape in a key: rows differ by K only.
fn placeholder(shape: &Single) -> String {
    format!("<k{}>", shape.k)
}

/// Takes a name apart.
pub(super) fn normalise(name: &str) -> Spelling {
    let lower = name.trim().to_lowercase();
    let (base, variant) = match lower.split_once('@') {
        Some((base, variant)) => (base, format!("@{variant}")),
        None => (&*lower, String::new()),
    };
    let mut spelling = if base.starts_with("v_") {
        mnemonic(base)
    } else {
        dotted(base)
    };
    spelling.key.push_str(&variant);
    spelling
}

/// `v_mfma_f32_32x32x4_2b_f16` and the older `v_mfma_f32_32x32x4f16`.
fn mnemonic(name: &str) -> Spelling {
    let starts = name
        .char_indices()
        .filter(|(i, c)| c.is_ascii_digit() && name[..*i].ends_with('_'));
    for (start, _) in starts {
        if let Some((shape, rest)) = parse_crosses(&name[start..]) {
            let rest = rest.trim_start_matches('_');
            let key = format!("{}{}_{rest}", &name[..start], placeholder(&shape));
            return Spelling {
                key,
                shape: Some(shape),
            };
        }
    }
    Spelling {
        key: name.to_owned(),
        shape: None,
    }
}

/// PTX: words between dots. The layout, synchronisation and default qualifiers carry no
/// arithmetic and are dropped; scale-vector sizes are written as block sizes; a rounding, the kind
/// and the block size stand behind the shape.
fn dotted(name: &str) -> Spelling {
    const WITHOUT_MEANING: [&str; 7] = [
        "sync",
        "aligned",
        "row",
        "col",
        "mma_async",
        "block_scale",
        "cta_group::1",
    ];
    let mut words: Vec<&str> = Vec::new();
    let (mut shape, mut rounding, mut kind, mut block) = (None, None, None, None);
    for word in name.split('.') {
        match word {
            _ if WITHOUT_MEANING.contains(&word) => {}
            "mma" if words == ["wmma"] => {}
            "rn" => {}
            "rz" | "rm" | "rp" => rounding = Some(word),
            "scale_vec::1x" | "scale_vec::2x" | "block32" => block = Some("block32"),
            "scale_vec::4x" | "block16" => block = Some("block16"),
            _ if word.starts_with("kind::") => kind = Some(word),
            _ => {
                if let Some(single) = parse_letters(word) {
                    shape = Some(single);
                    words.push("<shape>");
                } else {
                    words.push(word);
                }
            }
        }
    }
    // One block size is the default of these kinds; the name may leave it out.
    if matches!(kind, Some("kind::mxf8f6f4" | "kind::mxf4")) {
        block = block.or(Some("block32"));
    }
    let at = words.iter().position(|word| *word == "<shape>");
    // wmma on f16 names D and C only.
    if let Some(at) = at
        && words[0] == "wmma"
        && words.len() == at + 3
    {
        words.splice(at + 2..at + 2, ["f16", "f16"]);
    }
    let behind = at.map_or(words.len(), |at| at + 1);
    words.splice(
        behind..behind,
        [rounding, kind, block].into_iter().flatten(),
    );
    let mut key = words.join(".");
    if let Some(shape) = &shape {
        key = key.replacen("<shape>", &placeholder(shape), 1);
    }
    Spelling { key, shape }
}
