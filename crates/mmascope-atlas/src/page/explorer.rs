//! The page of the explorer: the elements that its script fills. What it computes is computed by the module.

use crate::shell::Page;
use crate::study::Study;
use crate::{File, Making};

const BODY: &str = include_str!("../../assets/explorer.html");

/// What the page says where the site was made without a module.
const OFFLINE: &str = "<div class=\"panel offline\"><h2>The explorer needs its module</h2>\
    <p>This site was made without the WebAssembly module that computes here. In a clone of the project <code>cargo xtask \
    atlas</code> builds the module and the site; <code>mmascope atlas --module FILE</code> takes a module that is there.</p>\
    <p>The program computes the same: <code>mmascope explain</code>, <code>diff</code>, <code>matmul</code>, <code>cast</code>, \
    <code>reveal</code>.</p></div>";

pub(crate) fn page(study: &Study<'_>, making: &Making<'_>) -> File {
    let mut page = Page::new(
        "explorer.html",
        "Explorer",
        "Compute with every unit in this browser: operands bit by bit, results of up to four units, and where they part.",
    );
    if making.module.is_some() {
        page.body.push_str(BODY);
        if !making.texts.is_empty() {
            // `</script>` in a text must not end the script.
            let texts = serde_json::json!(making.texts).to_string();
            let texts = texts.replace('<', "\\u003c");
            page.body +=
                &format!("<script type=\"application/json\" id=\"texts\">{texts}</script>");
        }
        page.head = format!(
            "<script src=\"atlas-explorer.js\" defer data-catalogue=\"{}\"></script>",
            study.hash()
        );
    } else {
        page.body.push_str(OFFLINE);
    }
    page.finish(&study.hash())
}
