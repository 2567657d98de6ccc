//! Writes trees as text and as JSON, nested and flat, without recursion.

use std::fmt::{self, Write};

use serde_json::{Map, Value};

use super::{Tree, TreeFacts};

/// How a tree stands in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeForm {
    /// Nodes within nodes.
    #[default]
    Nested,
    /// A list of nodes that name their children by number.
    Flat,
}

/// Levels above which a tree is always written flat.
pub const NESTED_LEVELS: usize = 1000;

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

    /// The form in which the tree is written as JSON: the one that is asked for, and always the flat
    /// one above [`NESTED_LEVELS`], which JSON readers do not follow.
    #[must_use]
    pub fn form(&self, asked: TreeForm) -> TreeForm {
        if self.statistics().depth > NESTED_LEVELS {
            TreeForm::Flat
        } else {
            asked
        }
    }

    /// The members that hold the tree in a JSON object, without brackets: `"tree":NODE`, or flat
    /// `"nodes":[{"op","type","children":[ids]},…],"root":id`. In the flat form numbers below that of
    /// the leaves are leaves; the nodes follow in post-order. See [`Tree::form`].
    #[must_use]
    pub fn members(&self, asked: TreeForm) -> String {
        match self.form(asked) {
            TreeForm::Nested => format!("\"tree\":{}", self.json()),
            TreeForm::Flat => {
                let nodes: Vec<String> = self
                    .nodes()
                    .iter()
                    .map(|node| {
                        format!(
                            "{{\"op\":\"{}\",\"type\":\"{}\",\"children\":{:?}}}",
                            node.op.name(),
                            node.format,
                            node.children
                        )
                    })
                    .collect();
                format!("\"nodes\":[{}],\"root\":{}", nodes.join(","), self.root())
            }
        }
    }

    /// A tree file: names of the leaves and the tree. Leaves without names have their numbers in the
    /// flat form, in which the names count the leaves.
    #[must_use]
    pub fn file(&self, subject: &str, names: &[String], asked: TreeForm) -> String {
        let facts = TreeFacts {
            members: Map::from_iter([("subject".to_owned(), subject.into())]),
            ..TreeFacts::default()
        };
        self.file_with(&facts, names, asked)
    }

    /// A tree file that says what these facts say: their members, the names of the leaves, the tree.
    #[must_use]
    pub fn file_with(&self, facts: &TreeFacts, names: &[String], asked: TreeForm) -> String {
        let names = match (names, self.form(asked)) {
            ([], TreeForm::Flat) => (0..self.leaves()).map(|leaf| leaf.to_string()).collect(),
            _ => names.to_vec(),
        };
        let mut text = String::from("{");
        for (name, value) in &facts.members {
            if !["n", "leaves", "tree", "nodes", "root"].contains(&&**name) {
                // Writing to a String cannot fail.
                let _ = write!(text, "{}:{value},", Value::from(&**name));
            }
        }
        let _ = writeln!(
            text,
            "\"n\":{},\"leaves\":{},{}}}",
            self.leaves(),
            Value::from(names),
            self.members(asked)
        );
        text
    }
}

impl fmt::Display for Tree {
    /// The canonical text: `(add f32 0 (fma f32 1 2))`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = |node: &super::Inner| format!("({} {} ", node.op.name(), node.format);
        self.write_with(open, " ", ")", out)
    }
}
