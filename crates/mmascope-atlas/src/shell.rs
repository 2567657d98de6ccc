//! What every page has around its content: head, navigation, search, foot.

use crate::File;
use crate::html::escaped;

/// A page before it has a shell.
pub(crate) struct Page {
    /// The file's name.
    pub(crate) name: String,
    /// The title: the heading, and the tab's text.
    pub(crate) title: String,
    /// A sentence on what the page has.
    pub(crate) description: String,
    /// HTML below the heading.
    pub(crate) body: String,
    /// Further elements of the head.
    pub(crate) head: String,
}

/// The pages that every page leads to.
const NAVIGATION: [(&str, &str); 8] = [
    ("index.html", "Architectures"),
    ("explorer.html", "Explorer"),
    ("algorithms.html", "Algorithms"),
    ("formats.html", "Formats"),
    ("published.html", "Tables"),
    ("emulation.html", "Emulation"),
    ("how-we-know.html", "How we know"),
    ("changes.html", "Changes"),
];

impl Page {
    pub(crate) fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            description: description.into(),
            body: String::new(),
            head: String::new(),
        }
    }

    /// The file, with the catalogue's hash in its foot.
    pub(crate) fn finish(self, hash: &str) -> File {
        let Self {
            name,
            title,
            description,
            body,
            head,
        } = self;
        let links: String = NAVIGATION
            .iter()
            .map(|(target, words)| {
                let current = match *target == name {
                    true => " aria-current=\"page\"",
                    false => "",
                };
                format!("<li><a href=\"{target}\"{current}>{words}</a></li>")
            })
            .collect();
        let (title, description) = (escaped(&title), escaped(&description));
        let full = match &*name {
            "index.html" => title.clone(),
            _ => format!("{title} · mmascope atlas"),
        };
        let version = env!("CARGO_PKG_VERSION");
        let text = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"description\" content=\"{description}\">\
             <title>{full}</title><link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"atlas.css\">{head}\
             <script src=\"atlas.js\" defer></script></head>\n<body><a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
             <header class=\"top\"><a class=\"brand\" href=\"index.html\">mmascope atlas</a>\
             <nav aria-label=\"Pages\"><ul>{links}</ul></nav>\
             <form class=\"search\" role=\"search\" action=\"index.html\"><label for=\"search\">Search</label>\
             <input id=\"search\" type=\"search\" name=\"q\" autocomplete=\"off\" spellcheck=\"false\" \
             placeholder=\"H100 f16, wgmma…\" aria-describedby=\"search-count\">\
             <p id=\"search-count\" class=\"hidden\" role=\"status\"></p><ul id=\"search-results\" hidden></ul></form></header>\n\
             <main id=\"main\" tabindex=\"-1\"><h1>{title}</h1>\n{body}</main>\n\
             <footer>Made by mmascope {version} from catalogue <code>{hash}</code>; every number is computed by the models. \
             Licence: MIT or Apache-2.0.</footer></body></html>\n"
        );
        File::text(name, text)
    }
}
