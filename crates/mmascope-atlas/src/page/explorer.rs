//! The page of the explorer: the elements that its script fills. What it computes is computed by the module.

use crate::File;
use crate::shell::Page;
use crate::study::Study;

const BODY: &str = include_str!("../../assets/explorer.html");

/// What the page says where the site was made without a module.
const OFFLINE: &str = "<div class=\"panel offline\"><h2>The explorer needs its module</h2>\
    <p>This site was made without the WebAssembly module that computes here. In a clone of the project <code>cargo xtask \
    atlas</code> builds the module and the site; <code>mmascope atlas --module FILE</code> takes a module that is there.</p>\
    <p>The program computes the same: <code>mmascope explain</code>, <code>diff</code>, <code>matmul</code>, <code>cast</code>, \
    <code>reveal</code>.</p></div>";

pub(crate) fn page(study: &Study<'_>, has_module: bool) -> File {
    let mut page = Page::new(
        "explorer.html",
        "Explorer",
        "Compute with every unit in this browser: operands bit by bit, results of up to four units, and where they part.",
    );
    if has_module {
        page.body.push_str(BODY);
        page.head = format!(
            "<script src=\"atlas-explorer.js\" defer data-catalogue=\"{}\"></script>",
            study.hash()
        );
    } else {
        page.body.push_str(OFFLINE);
    }
    page.finish(&study.hash())
}
