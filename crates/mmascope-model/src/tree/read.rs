//! Reads trees from canonical text, JSON and tree files, without recursion.

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

/// A node that is being read.
struct Open {
    op: Option<Op>,
    format: Option<Format>,
    children: Vec<usize>,
}

impl Tree {
    /// Reads a tree file: the output of `reveal --json`, a bare NODE, or the canonical text.
    /// Gives the tree and the names of its leaves, which may be absent.
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
                    // A node of one term is a product that is rounded by itself.
                    if matches!(op, Op::Add | Op::Fma) && open.children.len() > 2 {
                        let (op, terms) = (op.name(), open.children.len());
                        let what = format!("a node {op} of {terms} terms, which has at most two,");
                        return Err(wrong(&what));
                    }
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
