//! Writes trees as text and as JSON, without recursion.

use std::fmt;

use serde_json::Value;

use super::Tree;

/// What is still to be written.
enum Step {
    Item(usize),
    Text(&'static str),
}

impl Tree {
    /// Walks the tree and writes it with the brackets of one notation.
    fn write_with(
        &self,
        open: impl Fn(&super::Inner) -> String,
        between: &'static str,
        close: &'static str,
        out: &mut dyn fmt::Write,
    ) -> fmt::Result {
        let mut stack = vec![Step::Item(self.root())];
        while let Some(step) = stack.pop() {
            match step {
                Step::Text(text) => out.write_str(text)?,
                Step::Item(item) => match self.inner(item) {
                    None => write!(out, "{item}")?,
                    Some(node) => {
                        out.write_str(&open(node))?;
                        stack.push(Step::Text(close));
                        for (index, &child) in node.children.iter().enumerate().rev() {
                            stack.push(Step::Item(child));
                            if index > 0 {
                                stack.push(Step::Text(between));
                            }
                        }
                    }
                },
            }
        }
        Ok(())
    }

    /// The NODE form of `reveal --json` and of tree files: a leaf number, or an object with `op`,
    /// `type` and `children`.
    #[must_use]
    pub fn json(&self) -> String {
        let mut text = String::new();
        let open = |node: &super::Inner| {
            format!(
                "{{\"op\":\"{}\",\"type\":\"{}\",\"children\":[",
                node.op.name(),
                node.format
            )
        };
        // Writing to a String cannot fail.
        let _ = self.write_with(open, ",", "]}", &mut text);
        text
    }

    /// A tree file: names of the leaves and the tree.
    #[must_use]
    pub fn file(&self, subject: &str, names: &[String]) -> String {
        format!(
            "{{\"subject\":{},\"n\":{},\"leaves\":{},\"tree\":{}}}\n",
            Value::from(subject),
            self.leaves(),
            Value::from(names.to_vec()),
            self.json()
        )
    }
}

impl fmt::Display for Tree {
    /// The canonical text: `(add f32 0 (fma f32 1 2))`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = |node: &super::Inner| format!("({} {} ", node.op.name(), node.format);
        self.write_with(open, " ", ")", out)
    }
}
