//! Draws trees, as DOT for other programs and as SVG. Large trees are folded by pattern.

use std::fmt::Write;

use super::pattern::Shapes;
use super::{Op, Tree};

/// Trees of more leaves are drawn folded.
pub const FOLD_ABOVE: usize = 64;
/// The most boxes that a folded drawing opens.
const MOST_BOXES: usize = 96;
/// Height of a level, and of a box, in pixels.
const LEVEL: usize = 34;
const BOX: usize = 20;
/// Width of a character, in pixels.
const CHARACTER: usize = 7;

/// What is drawn: an item of the tree, opened or as one box.
struct Drawn {
    label: String,
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
                        Op::Fma => "×+",
                        Op::Fused => "Σ",
                        Op::Exact => "Σ=",
                        Op::Unresolved => "?",
                    };
                    (sign.to_owned(), title, true, &node.children[..])
                }
                Some(_) => {
                    let range = shapes.range(item);
                    let pattern = self.pattern_below(item);
                    (
                        format!("{range}: {pattern}"),
                        format!("leaves {range}"),
                        false,
                        &[][..],
                    )
                }
            };
            drawn.push(Drawn {
                label,
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
        let mut out = format!("digraph tree {{\n  label={:?};\n", self.pattern());
        out.push_str("  node [fontname=\"sans-serif\", fontsize=11];\n");
        for (number, item) in self.drawn(FOLD_ABOVE, names).iter().enumerate() {
            let shape = if item.is_node { "circle" } else { "box" };
            let _ = writeln!(
                out,
                "  i{number} [shape={shape}, label={:?}, tooltip={:?}];",
                item.label, item.title
            );
            if let Some(parent) = item.parent {
                let _ = writeln!(out, "  i{parent} -> i{number};");
            }
        }
        out.push_str("}\n");
        out
    }

    /// A drawing that needs no other program. Trees of more than [`FOLD_ABOVE`] leaves are folded
    /// by pattern.
    #[must_use]
    pub fn svg(&self, title: &str, names: &[String]) -> String {
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
        let heading = format!("{title}: {} leaves, {}", self.leaves(), self.pattern());
        let width = (right.unwrap_or(0) + 20).max(heading.chars().count() * 8 + 20);
        let height = y.iter().max().copied().unwrap_or(0) + LEVEL;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"10\" y=\"24\" font-size=\"14\">{}</text>\n",
            escape(&heading)
        );
        for (item, shape) in drawn.iter().enumerate() {
            if let Some(parent) = shape.parent {
                let end = if wide && !shape.is_node {
                    x[item].saturating_sub(widths[item] / 2)
                } else {
                    x[item]
                };
                let _ = writeln!(
                    out,
                    "<path d=\"M{} {}L{end} {}\" stroke=\"#888\" fill=\"none\"/>",
                    x[parent], y[parent], y[item]
                );
            }
        }
        for (item, shape) in drawn.iter().enumerate() {
            let (x, y, width) = (x[item], y[item], widths[item]);
            let title = escape(&shape.title);
            let _ = if shape.is_node {
                writeln!(
                    out,
                    "<g><title>{title}</title><circle cx=\"{x}\" cy=\"{y}\" r=\"11\" \
                     fill=\"#dbe9f6\" stroke=\"#245\"/>"
                )
            } else {
                writeln!(
                    out,
                    "<g><title>{title}</title><rect x=\"{}\" y=\"{}\" width=\"{width}\" \
                     height=\"{BOX}\" rx=\"3\" fill=\"#f6f0db\" stroke=\"#542\"/>",
                    x.saturating_sub(width / 2),
                    y - BOX / 2
                )
            };
            let _ = writeln!(
                out,
                "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
                y + 4,
                escape(&shape.label)
            );
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
