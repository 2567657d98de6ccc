//! Reads trees from canonical text, the JSON forms and tree files, without recursion.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::value::MAX_LEAVES;
use super::{Builder, Op, Tree};
use crate::error::{Error, Result};
use crate::format::Format;

/// What a tree file says beside the tree.
#[derive(Deserialize)]
struct File<'a> {
    #[serde(default)]
    leaves: Vec<String>,
    #[serde(borrow)]
    tree: &'a RawValue,
}

/// The flat form; a file may say more.
#[derive(Deserialize)]
struct Flat {
    leaves: Vec<String>,
    nodes: Vec<FlatNode>,
    root: usize,
}

#[derive(Deserialize)]
struct FlatNode {
    op: String,
    #[serde(rename = "type")]
    format: String,
    children: Vec<usize>,
}

impl Flat {
    fn tree(&self) -> Result<Tree> {
        if self.leaves.is_empty() || self.leaves.len() > MAX_LEAVES {
            return Err(Error::Argument(format!(
                "tree: {} leaves; there are at least 1 and at most {MAX_LEAVES}",
                self.leaves.len()
            )));
        }
        let mut builder = Builder::new(self.leaves.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let op = Op::named(&node.op)?;
            check_terms(op, node.children.len())
                .map_err(|what| Error::Argument(format!("tree: node {index}: {what}")))?;
            builder.node(op, Format::named(&node.format)?, node.children.clone());
        }
        builder.build(self.root)
    }
}

/// A node of one term is a product that is rounded by itself.
fn check_terms(op: Op, terms: usize) -> std::result::Result<(), String> {
    if matches!(op, Op::Add | Op::Fma) && terms > 2 {
        let op = op.name();
        return Err(format!(
            "a node {op} of {terms} terms, which has at most two,"
        ));
    }
    Ok(())
}

/// A node that is being read.
struct Open {
    op: Option<Op>,
    format: Option<Format>,
    children: Vec<usize>,
}

impl Tree {
    /// Reads a tree file: the output of `reveal --json`, a bare NODE, the flat form, or the canonical text.
    /// Gives the tree and the names of its leaves, which may be absent. [`TreeFacts`](super::TreeFacts) has
    /// what else the file says.
    ///
    /// # Errors
    /// [`Error::Argument`] that says what is wrong and at which character.
    pub fn read(text: &str) -> Result<(Self, Vec<String>)> {
        let text = text.trim();
        if text.starts_with('{')
            && let Ok(file) = serde_json::from_str::<File<'_>>(text)
        {
            let tree: Self = file.tree.get().parse()?;
            if !file.leaves.is_empty() && file.leaves.len() != tree.leaves() {
                return Err(Error::Argument(format!(
                    "tree file: {} names for {} leaves",
                    file.leaves.len(),
                    tree.leaves()
                )));
            }
            return Ok((tree, file.leaves));
        }
        // The flat form has a list of nodes and the number of the root.
        if text.starts_with('{') && text.contains("\"nodes\"") && text.contains("\"root\"") {
            let flat: Flat = serde_json::from_str(text)
                .map_err(|error| Error::Argument(format!("tree: flat form: {error}")))?;
            return Ok((flat.tree()?, flat.leaves));
        }
        Ok((text.parse()?, Vec::new()))
    }
}

impl std::str::FromStr for Tree {
    type Err = Error;

    /// Reads `(add f32 0 (fma f32 1 2))` or `{"op":"add","type":"f32","children":[0,…]}`.
    fn from_str(text: &str) -> Result<Self> {
        let mut stack: Vec<Open> = Vec::new();
        let mut root = None;
        let mut largest = 0;
        // Nodes get numbers above all leaves; the number of leaves is known only at the end.
        let mut builder = Builder::new(MAX_LEAVES + 1);
        let mut rest = text;
        let at = |rest: &str| text.len() - rest.len() + 1;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ",:[]\"".contains(c));
            let Some(first) = rest.chars().next() else {
                break;
            };
            let wrong =
                |what: &str| Error::Argument(format!("tree: {what} at character {}", at(rest)));
            if root.is_some() {
                return Err(wrong("text after the end"));
            }
            let complete = match first {
                '(' | '{' => {
                    stack.push(Open {
                        op: None,
                        format: None,
                        children: Vec::new(),
                    });
                    rest = &rest[1..];
                    continue;
                }
                ')' | '}' => {
                    let open = stack
                        .pop()
                        .ok_or_else(|| wrong("a closing bracket too many"))?;
                    rest = &rest[1..];
                    let (Some(op), Some(format)) = (open.op, open.format) else {
                        return Err(wrong("a node without operation or type"));
                    };
                    check_terms(op, open.children.len()).map_err(|what| wrong(&what))?;
                    builder.node(op, format, open.children)
                }
                _ => {
                    let end = rest
                        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
                        .unwrap_or(rest.len());
                    let word = &rest[..end];
                    if word.is_empty() {
                        return Err(wrong("an unexpected character"));
                    }
                    let number = word.parse::<usize>();
                    let Ok(leaf) = number else {
                        let open = stack.last_mut().ok_or_else(|| wrong("no node, a word"))?;
                        match word {
                            "op" | "type" | "children" => {}
                            _ if open.op.is_none() => open.op = Some(Op::named(word)?),
                            _ if open.format.is_none() => {
                                open.format = Some(Format::named(word)?);
                            }
                            _ => return Err(wrong("a second type")),
                        }
                        rest = &rest[end..];
                        continue;
                    };
                    if leaf >= MAX_LEAVES {
                        return Err(wrong("a leaf number beyond the limit"));
                    }
                    largest = largest.max(leaf);
                    rest = &rest[end..];
                    leaf
                }
            };
            match stack.last_mut() {
                Some(open) => open.children.push(complete),
                None => root = Some(complete),
            }
        }
        let Some(root) = root else {
            return Err(Error::Argument(
                "tree: it ends too early; expected like (add f32 0 1)".to_owned(),
            ));
        };
        builder
            .renumbered(largest + 1, MAX_LEAVES + 1)
            .build(root_of(root, largest + 1))
    }
}

/// The root's number after renumbering.
fn root_of(root: usize, leaves: usize) -> usize {
    if root > MAX_LEAVES {
        root - (MAX_LEAVES + 1) + leaves
    } else {
        root
    }
}
