//! The number formats, with the facts of each.

use mmascope::explain::Facts;
use mmascope::format::FORMATS;

use crate::File;
use crate::html::{escaped, table};
use crate::shell::Page;
use crate::study::Study;

pub(crate) fn page(study: &Study<'_>) -> File {
    let mut page = Page::new(
        "formats.html",
        "Number formats",
        "Fields, ranges and special values of every number format of the catalogue.",
    );
    let declared = study.catalogue.declared_formats().iter();
    let rows = FORMATS.iter().chain(declared).map(|format| {
        let facts = Facts::of(format);
        let names: Vec<&str> = format.aliases().collect();
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        vec![
            format!("<code>{}</code>", escaped(format.name)),
            escaped(&names.join(", ")),
            format.bits.to_string(),
            escaped(&facts.fields),
            facts.bias.map_or(String::new(), |bias| bias.to_string()),
            escaped(&facts.largest.decimal_of(8)),
            facts
                .smallest_normal
                .as_ref()
                .map_or(String::new(), |it| escaped(&it.decimal_of(8))),
            escaped(&facts.smallest.decimal_of(8)),
            yes(facts.infinity),
            facts.nans.to_string(),
            yes(facts.negative_zero),
        ]
    });
    let heads = [
        "format",
        "other names",
        "bits",
        "fields",
        "bias",
        "largest",
        "smallest normal",
        "smallest",
        "∞",
        "NaN codes",
        "−0",
    ];
    let table = table("Number formats", &heads, rows);
    page.body.push_str(
        "<p>The <a href=\"explorer.html#view=cast\">explorer</a> casts between them and shows every bit.</p>",
    );
    page.body.push_str(&table);
    page.finish(&study.hash())
}
