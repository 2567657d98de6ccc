//! Draws trees, as DOT for other programs and as SVG. Large trees are folded by pattern.

use std::fmt::Write;

use super::pattern::Shapes;
use super::{Op, Tree};
use crate::format::Format;

/// Trees of more leaves are drawn folded.
pub const FOLD_ABOVE: usize = 64;
/// The most boxes that a folded drawing opens.
const MOST_BOXES: usize = 96;
/// Height of a level, and of a box, in pixels.
const LEVEL: usize = 34;
const BOX: usize = 20;
/// Width of a character, in pixels.
const CHARACTER: usize = 7;
/// Where the edges of a node turn, behind its centre: between the circles of its level and of the next one.
const TURN: usize = LEVEL / 2;
/// Colours, light and dark as the reader's system is. The names are the drawing's own, because it also stands in pages.
/// Each colour stands twice: a program that knows no `var` takes the first.
const STYLE: &str = "\
.tree{--tree-paper:#fff;--tree-ink:#1b1f24;--tree-soft:#59636e;--tree-edge:#888;--tree-node:#dbe9f6;--tree-node-line:#245;\
--tree-leaf:#f6f0db;--tree-leaf-line:#542}\
@media (prefers-color-scheme:dark){.tree{--tree-paper:#12161d;--tree-ink:#e6edf3;--tree-soft:#9aa5b4;--tree-edge:#7b8695;\
--tree-node:#1f3550;--tree-node-line:#7fb2e5;--tree-leaf:#3a3320;--tree-leaf-line:#c9b06a}}\
.tree text{fill:#1b1f24;fill:var(--tree-ink)}.tree .paper{fill:#fff;fill:var(--tree-paper)}\
.tree .soft{fill:#59636e;fill:var(--tree-soft)}.tree path{fill:none;stroke:#888;stroke:var(--tree-edge)}\
.tree circle{fill:#dbe9f6;fill:var(--tree-node);stroke:#245;stroke:var(--tree-node-line)}\
.tree .leaf{fill:#f6f0db;fill:var(--tree-leaf);stroke:#542;stroke:var(--tree-leaf-line)}";

/// What is drawn: an item of the tree, opened or as one box.
struct Drawn {
    label: String,
    /// The format of a node where it is another than most nodes have.
    format: Option<Format>,
    title: String,
    /// Index of the parent among the drawn ones.
    parent: Option<usize>,
    children: Vec<usize>,
    is_node: bool,
}

impl Tree {
    /// Chooses what is drawn: everything up to [`FOLD_ABOVE`] leaves; beyond, chains become one
    /// box each, and the largest items are opened first until there are enough boxes.
    fn drawn(&self, fold_above: usize, names: &[String]) -> Vec<Drawn> {
        let shapes = Shapes::new(self);
        let usual = self.usual_format();
        let folds = self.leaves() > fold_above;
        let mut opened = vec![false; self.nodes().len()];
        let mut boxes = 1;
        let mut queue = std::collections::BinaryHeap::from([(self.leaves(), self.root())]);
        while let Some((_, item)) = queue.pop() {
            let Some(node) = self.inner(item) else {
                continue;
            };
            let is_chain = folds && shapes.size(item) > 4 && shapes.chain(item).is_some();
            // A chain of the whole tree shows its last step, so that there is something to see.
            if is_chain || folds && boxes + node.children.len() > MOST_BOXES {
                continue;
            }
            opened[item - self.leaves()] = true;
            boxes += node.children.len();
            queue.extend(
                node.children
                    .iter()
                    .map(|&child| (shapes.size(child), child)),
            );
        }
        let mut drawn: Vec<Drawn> = Vec::new();
        let mut stack = vec![(self.root(), None)];
        while let Some((item, parent)) = stack.pop() {
            let number = drawn.len();
            let node = self.inner(item).filter(|_| opened[item - self.leaves()]);
            let format = node.map(|node| node.format).filter(|&it| Some(it) != usual);
            let (label, title, is_node, children) = match self.inner(item) {
                None => {
                    let name = names.get(item).cloned().unwrap_or_else(|| item.to_string());
                    (name.clone(), format!("leaf {item}: {name}"), false, &[][..])
                }
                Some(node) if opened[item - self.leaves()] => {
                    let title = format!(
                        "{} {}, {} terms, leaves {}",
                        node.op.name(),
                        node.format,
                        node.children.len(),
                        shapes.range(item)
                    );
                    let sign = match node.op {
                        Op::Add => "+",
                        Op::Fma => "fma",
                        Op::Fused => "Σ",
                        Op::Exact => "Σ=",
                        Op::Unresolved => "?",
                    };
                    (sign.to_owned(), title, true, &node.children[..])
                }
                Some(_) => {
                    let range = shapes.range(item);
                    let pattern = self.pattern_below(item);
                    let kinds = self.kinds_below(item, usual);
                    (
                        format!("{range}: {pattern}{kinds}"),
                        format!("leaves {range}"),
                        false,
                        &[][..],
                    )
                }
            };
            drawn.push(Drawn {
                label,
                format,
                title,
                parent,
                children: Vec::new(),
                is_node,
            });
            if let Some(parent) = parent {
                let parent: &mut Drawn = &mut drawn[parent];
                parent.children.push(number);
            }
            stack.extend(children.iter().rev().map(|&child| (child, Some(number))));
        }
        drawn
    }

    /// The format that most nodes have; the earlier one of as many.
    fn usual_format(&self) -> Option<Format> {
        let mut counts: Vec<(Format, usize)> = Vec::new();
        for node in self.nodes() {
            match counts.iter_mut().find(|(format, _)| *format == node.format) {
                Some((_, count)) => *count += 1,
                None => counts.push((node.format, 1)),
            }
        }
        let most = counts.iter().rev().max_by_key(|(_, count)| *count);
        most.map(|&(format, _)| format)
    }

    /// What a folded item has beside rounded additions in the usual format: `, fma, partly in f64`.
    fn kinds_below(&self, item: usize, usual: Option<Format>) -> String {
        let (mut nodes, mut fused) = (0, 0);
        let mut others: Vec<(Format, usize)> = Vec::new();
        let mut stack = vec![item];
        while let Some(item) = stack.pop() {
            let Some(node) = self.inner(item) else {
                continue;
            };
            nodes += 1;
            fused += usize::from(node.op == Op::Fma);
            match others.iter_mut().find(|(format, _)| *format == node.format) {
                Some((_, count)) => *count += 1,
                None => others.push((node.format, 1)),
            }
            stack.extend(&node.children);
        }
        let partly = |count: usize| if count < nodes { "partly " } else { "" };
        let mut words = String::new();
        if fused > 0 {
            let _ = write!(words, ", {}fma", partly(fused));
        }
        for (format, count) in others {
            if Some(format) != usual {
                let _ = write!(words, ", {}in {format}", partly(count));
            }
        }
        words
    }

    /// How many nodes of each kind there are, in words.
    fn kinds(&self) -> String {
        let kinds = self.statistics().kinds;
        let words = kinds
            .iter()
            .map(|(op, format, count)| format!("{count} {} {format}", op.name()));
        words.collect::<Vec<_>>().join(", ")
    }

    /// The pattern of what is below one item.
    fn pattern_below(&self, item: usize) -> String {
        let mut leaves = self.leaves_below(item);
        leaves.sort_unstable();
        self.restricted(|leaf| leaves.binary_search(&leaf).is_ok())
            .map_or_else(String::new, |tree| tree.pattern())
    }

    /// Graphviz text. Trees of more than [`FOLD_ABOVE`] leaves are folded.
    #[must_use]
    pub fn dot(&self, names: &[String]) -> String {
        let mut out = format!(
            "digraph tree {{\n  label={:?};\n",
            self.pattern_named(names)
        );
        out.push_str("  node [fontname=\"sans-serif\", fontsize=11];\n");
        for (number, item) in self.drawn(FOLD_ABOVE, names).iter().enumerate() {
            let shape = if item.is_node { "circle" } else { "box" };
            let label = match item.format {
                Some(format) => format!("{} {format}", item.label),
                None => item.label.clone(),
            };
            let _ = writeln!(
                out,
                "  i{number} [shape={shape}, label={label:?}, tooltip={:?}];",
                item.title
            );
            if let Some(parent) = item.parent {
                let _ = writeln!(out, "  i{parent} -> i{number};");
            }
        }
        out.push_str("}\n");
        out
    }

    /// A drawing that needs no other program. Trees of more than [`FOLD_ABOVE`] leaves are folded
    /// by pattern. A line below the title counts the kinds of nodes; a node in another format than
    /// most has the format in it.
    #[must_use]
    pub fn svg(&self, title: &str, names: &[String]) -> String {
        let (leaves, pattern) = (self.leaves(), self.pattern_named(names));
        self.picture(&format!("{title}: {leaves} leaves, {pattern}"), names)
    }

    /// The drawing under a heading, which may be empty.
    pub(super) fn picture(&self, heading: &str, names: &[String]) -> String {
        let drawn = self.drawn(FOLD_ABOVE, names);
        let widths: Vec<usize> = drawn
            .iter()
            .map(|item| (item.label.chars().count() * CHARACTER + 10).max(BOX))
            .collect();
        // Small boxes stand side by side below the nodes; wide ones below one another, and the
        // nodes to their left.
        let wide = widths
            .iter()
            .zip(&drawn)
            .any(|(&w, item)| !item.is_node && w > 90);
        let levels = depths(&drawn);
        let deepest = levels.iter().copied().max().unwrap_or(0);
        let (mut x, mut y) = (vec![0; drawn.len()], vec![0; drawn.len()]);
        let mut next = if wide { 56 } else { 10 };
        for item in 0..drawn.len() {
            let level = levels[item] * LEVEL;
            (x[item], y[item]) = if wide {
                (22 + level, 0)
            } else {
                (0, 56 + level)
            };
            if drawn[item].is_node {
                continue;
            }
            if wide {
                (x[item], y[item]) = (22 + deepest * LEVEL + widths[item] / 2, next);
                next += BOX + 6;
            } else {
                x[item] = next + widths[item] / 2;
                next += widths[item] + 4;
            }
        }
        let along = if wide { &mut y } else { &mut x };
        for item in (0..drawn.len()).rev().filter(|&item| drawn[item].is_node) {
            let children = &drawn[item].children;
            let ends = children.first().zip(children.last());
            along[item] = ends.map_or(10, |(&first, &last)| along[first].midpoint(along[last]));
        }
        let right = (0..drawn.len())
            .map(|item| x[item] + widths[item] / 2)
            .max();
        let kinds = self.kinds();
        let width = (right.unwrap_or(0) + 20)
            .max(heading.chars().count() * 8 + 20)
            .max(kinds.chars().count() * CHARACTER + 20);
        let height = y.iter().max().copied().unwrap_or(0) + LEVEL;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" class=\"tree\" font-family=\"sans-serif\" font-size=\"11\">\n\
             <style>{STYLE}</style>\n\
             <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n\
             <text x=\"10\" y=\"22\" font-size=\"14\">{}</text>\n\
             <text x=\"10\" y=\"38\" class=\"soft\">{kinds}</text>\n",
            escape(heading)
        );
        for (item, shape) in drawn.iter().enumerate() {
            if let Some(parent) = shape.parent {
                // Every edge turns between its parent's level and the next one: levels have no nodes there, and beyond it
                // runs in the lane of its end, where nodes of other branches have none.
                let ((from_x, from_y), (to_x, to_y)) = ((x[parent], y[parent]), (x[item], y[item]));
                let way = match wide {
                    true => format!("H{}V{to_y}H{to_x}", from_x + TURN),
                    false => format!("V{}H{to_x}V{to_y}", from_y + TURN),
                };
                let _ = writeln!(out, "<path d=\"M{from_x} {from_y}{way}\"/>");
            }
        }
        for (item, shape) in drawn.iter().enumerate() {
            let (x, y, width) = (x[item], y[item], widths[item]);
            let title = escape(&shape.title);
            let _ = if shape.is_node {
                let radius = if shape.format.is_some() { 13 } else { 11 };
                writeln!(
                    out,
                    "<g><title>{title}</title><circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"
                )
            } else {
                writeln!(
                    out,
                    "<g><title>{title}</title><rect x=\"{}\" y=\"{}\" width=\"{width}\" \
                     height=\"{BOX}\" rx=\"3\" class=\"leaf\"/>",
                    x.saturating_sub(width / 2),
                    y - BOX / 2
                )
            };
            // A word in a circle is smaller, and leaves room for a format below it.
            let is_word = shape.is_node && shape.label.chars().count() > 2;
            let size = if is_word { " font-size=\"9\"" } else { "" };
            let base = match (shape.format, is_word) {
                (Some(_), _) => y,
                (None, true) => y + 3,
                (None, false) => y + 4,
            };
            let _ = write!(
                out,
                "<text x=\"{x}\" y=\"{base}\" text-anchor=\"middle\"{size}>{}</text>",
                escape(&shape.label)
            );
            if let Some(format) = shape.format {
                let _ = write!(
                    out,
                    "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-size=\"8\">{format}</text>",
                    y + 8
                );
            }
            out.push_str("</g>\n");
        }
        out.push_str("</svg>\n");
        out
    }
}

fn depths(drawn: &[Drawn]) -> Vec<usize> {
    let mut depths = vec![0; drawn.len()];
    for item in 0..drawn.len() {
        depths[item] = drawn[item].parent.map_or(0, |parent| depths[parent] + 1);
    }
    depths
}

/// Text for XML and HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
