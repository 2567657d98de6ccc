//! The README's table of architectures, from the catalogue.

use std::path::Path;

use mmascope_model::isa::{Architecture, Catalogue};

/// The table stands between these two lines.
const BEGIN: &str = "<!-- architectures: written by `cargo xtask generate` -->\n";
const END: &str = "<!-- end of architectures -->";

/// The README with the table of today.
pub(super) fn readme(root: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(root.join("README.md")).map_err(|it| it.to_string())?;
    let text = text.replace("\r\n", "\n");
    let (before, rest) = text
        .split_once(BEGIN)
        .ok_or("has no mark where the table begins")?;
    let (_, after) = rest
        .split_once(END)
        .ok_or("has no mark where the table ends")?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", table()))
}

fn table() -> String {
    let all = Catalogue::built_in().architectures().iter();
    let (modelled, others): (Vec<_>, Vec<&Architecture>) = all.partition(|it| it.counts().0 > 0);
    let mut text = String::from(
        "\n| `--arch` | chips | modelled instructions | known, not modelled |\n|---|---|---|---|\n",
    );
    for architecture in modelled {
        let (known, unknown) = architecture.counts();
        text += &format!(
            "| `{}` | {} | {known} | {unknown} |\n",
            architecture.name, architecture.title
        );
    }
    let names: Vec<String> = others.iter().map(|it| format!("`{}`", it.name)).collect();
    text + &format!(
        "\nListed and refused, because nobody has published their arithmetic: {}.\n\n",
        names.join(", ")
    )
}
