//! The README's table of architectures, from the catalogue.

use std::path::Path;

use mmascope_model::isa::{Architecture, Catalogue};

use super::marks;

/// The README with the table of today.
pub(super) fn readme(root: &Path) -> Result<String, String> {
    let page = marks::page(&root.join("README.md"))?;
    marks::filled(&page, "architectures", &table())
}

fn table() -> String {
    let all = Catalogue::built_in().architectures().iter();
    let (modelled, others): (Vec<_>, Vec<&Architecture>) = all.partition(|it| it.counts().0 > 0);
    let mut text = String::from(
        "\n| `--arch` | chips | modelled instructions | evidence | known, not modelled |\n|---|---|---|---|---|\n",
    );
    for architecture in modelled {
        let (known, unknown) = architecture.counts();
        text += &format!(
            "| `{}` | {} | {known} | {} | {unknown} |\n",
            architecture.name,
            architecture.title,
            evidence(architecture)
        );
    }
    let names: Vec<String> = others.iter().map(|it| format!("`{}`", it.name)).collect();
    text + &format!(
        "\nEvidence counts instructions by how well most of their arithmetic is known: `hw` recorded on hardware, `2team` and `1team` stated by \
         so many independent teams, `sim` equal to the vendor's simulator, `doc` documented, `open` disputed or unknown, `assumed` stated by no source. `show` \
         says it of every parameter.\n\nListed and refused, because nobody has published their arithmetic: {}.\n\n",
        names.join(", ")
    )
}

/// How many modelled instructions have which evidence, the strongest first.
fn evidence(architecture: &Architecture) -> String {
    let modelled = || architecture.instructions().filter(|row| row.unit().is_ok());
    let mut levels: Vec<_> = modelled().map(|row| row.evidence.default).collect();
    levels.sort_unstable();
    levels.dedup();
    let count = |level| {
        modelled()
            .filter(|row| row.evidence.default == level)
            .count()
    };
    let words = levels
        .into_iter()
        .map(|level| format!("{level} {}", count(level)));
    words.collect::<Vec<_>>().join(", ")
}
