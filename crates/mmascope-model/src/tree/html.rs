//! Writes a tree as one self-contained page: its picture, and a list that folds and searches.

use std::fmt::Write;

use serde_json::Value;

use super::Tree;
use super::draw::escape;

const PAGE: &str = include_str!("page.html");

impl Tree {
    /// The page. `facts` is a line of text below the title.
    #[must_use]
    pub fn html(&self, title: &str, facts: &str, names: &[String]) -> String {
        let mut nodes = String::from("[");
        for (index, node) in self.nodes().iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let children = &node.children;
            // Writing to a String cannot fail.
            let _ = write!(
                nodes,
                "{comma}[\"{}\",\"{}\",{children:?}]",
                node.op.name(),
                node.format
            );
        }
        nodes.push(']');
        // `</script>` in a name must not end the script.
        let list = Value::from(names.to_vec())
            .to_string()
            .replace('<', "\\u003c");
        let facts = format!(
            "{} leaves, {}. {facts}",
            self.leaves(),
            self.pattern_named(names)
        );
        let fill = [
            ("@TITLE@", escape(title)),
            ("@FACTS@", escape(&facts)),
            ("@N@", self.leaves().to_string()),
            ("@NAMES@", list),
            ("@NODES@", nodes),
            // The page has title and pattern above.
            ("@PICTURE@", self.picture("", names)),
        ];
        // One pass over the page, so that a text that looks like a mark is not taken for one.
        let mut out = String::new();
        let mut rest = PAGE;
        while let Some((before, after)) = rest.split_once('@') {
            out.push_str(before);
            let found = fill.iter().find_map(|(mark, text)| {
                let after = after.strip_prefix(&mark[1..])?;
                Some((text, after))
            });
            match found {
                Some((text, after)) => {
                    out.push_str(text);
                    rest = after;
                }
                None => {
                    out.push('@');
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        out
    }
}
