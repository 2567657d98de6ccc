//! The tree as a value: flat, canonical, comparable.

use super::{Node, Op};
use crate::error::{Error, Result};
use crate::format::Format;

/// The most leaves a tree may have.
pub const MAX_LEAVES: usize = 1 << 24;

/// An inner node: an operation over children.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inner {
    /// What kind of operation.
    pub op: Op,
    /// Format of the node's result.
    pub format: Format,
    /// Operands, ordered by smallest leaf: a number below the tree's leaf count is that leaf,
    /// any other is leaf count + index of an inner node.
    pub children: Vec<usize>,
}

/// A summation tree. Two trees are equal when they sum the same leaves in the same order with the
/// same operations, because every tree is kept in canonical form: children ordered by smallest
/// leaf, nodes in post-order.
///
/// ```
/// use mmascope_model::tree::Tree;
/// let tree: Tree = "(add f32 (add f32 1 0) 2)".parse()?;
/// assert_eq!(tree.to_string(), "(add f32 (add f32 0 1) 2)");
/// # Ok::<(), mmascope_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tree {
    leaves: usize,
    nodes: Vec<Inner>,
}

/// Counts over a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeStatistics {
    /// Number of summands.
    pub leaves: usize,
    /// Number of inner nodes.
    pub nodes: usize,
    /// Inner nodes on the longest way from a leaf to the root.
    pub depth: usize,
    /// Most children of a node.
    pub fan_in: usize,
    /// How many nodes of each operation and format, in order of first appearance.
    pub kinds: Vec<(Op, Format, usize)>,
}

/// Builds trees from the leaves up.
#[derive(Clone, Debug)]
pub struct Builder {
    leaves: usize,
    nodes: Vec<Inner>,
}

impl Builder {
    /// A builder over leaves 0 to `leaves` − 1.
    #[must_use]
    pub fn new(leaves: usize) -> Self {
        Self {
            leaves,
            nodes: Vec::new(),
        }
    }

    /// Adds a node over leaves and earlier nodes and gives its number. One child of `fma` or
    /// `fused` is that child; a sole child of `add` is a product that is rounded by itself.
    pub fn node(&mut self, op: Op, format: Format, children: Vec<usize>) -> usize {
        self.nodes.push(Inner {
            op,
            format,
            children,
        });
        self.leaves + self.nodes.len() - 1
    }

    /// Children of an inner node made here.
    #[must_use]
    pub fn children(&self, node: usize) -> &[usize] {
        match node.checked_sub(self.leaves) {
            Some(index) => &self.nodes[index].children,
            None => &[],
        }
    }

    /// The same nodes over `leaves` leaves, where `before` were assumed.
    pub(super) fn renumbered(mut self, leaves: usize, before: usize) -> Self {
        for child in self.nodes.iter_mut().flat_map(|node| &mut node.children) {
            if *child >= before {
                *child = *child - before + leaves;
            }
        }
        self.leaves = leaves;
        self
    }

    /// The tree below `root`.
    ///
    /// # Errors
    /// [`Error::Argument`] when a leaf is missing, stands twice or is out of range.
    pub fn build(self, root: usize) -> Result<Tree> {
        canonical(self.leaves, self.nodes, root)
    }
}

/// Brings nodes into canonical form.
fn canonical(leaves: usize, mut nodes: Vec<Inner>, root: usize) -> Result<Tree> {
    let wrong = |message: String| Err(Error::Argument(format!("tree: {message}")));
    if leaves == 0 || leaves > MAX_LEAVES {
        return wrong(format!("{leaves} leaves; 1 to {MAX_LEAVES} are supported"));
    }
    // First walk: order in which nodes are left, smallest leaves, and each leaf once.
    let (mut smallest, mut seen) = (vec![usize::MAX; nodes.len()], vec![false; leaves]);
    let mut entered = vec![false; nodes.len()];
    let mut stack = vec![(root, false)];
    while let Some((item, done)) = stack.pop() {
        if item < leaves {
            if std::mem::replace(&mut seen[item], true) {
                return wrong(format!("leaf {item} stands twice"));
            }
            continue;
        }
        let index = item - leaves;
        if index >= nodes.len() {
            return wrong(format!("no node or leaf has the number {item}"));
        }
        if done {
            let least = |child: &usize| {
                if *child < leaves {
                    *child
                } else {
                    smallest[*child - leaves]
                }
            };
            nodes[index].children.sort_by_key(least);
            smallest[index] = nodes[index].children.first().map_or(usize::MAX, least);
            continue;
        }
        if std::mem::replace(&mut entered[index], true) || nodes[index].children.is_empty() {
            return wrong("a node stands twice or has no children".to_owned());
        }
        stack.push((item, true));
        stack.extend(nodes[index].children.iter().map(|&child| (child, false)));
    }
    if let Some(leaf) = seen.iter().position(|seen| !seen) {
        return wrong(format!("leaf {leaf} is missing"));
    }
    // Second walk: post-order over the sorted children gives the new numbers.
    let mut number = vec![0; nodes.len()];
    let mut ordered = Vec::new();
    let mut stack = vec![(root, false)];
    while let Some((item, done)) = stack.pop() {
        let Some(index) = item.checked_sub(leaves) else {
            continue;
        };
        if !done {
            stack.push((item, true));
            stack.extend(nodes[index].children.iter().rev().map(|&c| (c, false)));
            continue;
        }
        let mut node = nodes[index].clone();
        for child in &mut node.children {
            if *child >= leaves {
                *child = leaves + number[*child - leaves];
            }
        }
        number[index] = ordered.len();
        ordered.push(node);
    }
    Ok(Tree {
        leaves,
        nodes: ordered,
    })
}

impl Tree {
    /// Number of leaves; they are numbered from 0.
    #[must_use]
    pub fn leaves(&self) -> usize {
        self.leaves
    }

    /// The inner nodes, children before parents; the root is the last one.
    #[must_use]
    pub fn nodes(&self) -> &[Inner] {
        &self.nodes
    }

    /// The number of the root: leaf 0 when there is no node.
    #[must_use]
    pub fn root(&self) -> usize {
        (self.leaves + self.nodes.len()).saturating_sub(1)
    }

    /// The inner node of that number; `None` for a leaf.
    #[must_use]
    pub fn inner(&self, item: usize) -> Option<&Inner> {
        self.nodes.get(item.checked_sub(self.leaves)?)
    }

    /// The tree of a nested node over `leaves` leaves.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn of_node(node: &Node, leaves: usize) -> Result<Self> {
        fn add(builder: &mut Builder, node: &Node) -> usize {
            match node {
                Node::Leaf(leaf) => *leaf,
                Node::Inner {
                    op,
                    format,
                    children,
                } => {
                    let children = children.iter().map(|child| add(builder, child)).collect();
                    builder.node(*op, *format, children)
                }
            }
        }
        let mut builder = Builder::new(leaves);
        let root = add(&mut builder, node);
        builder.build(root)
    }

    /// The same tree with some nodes' operation, format or children changed.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn map(&self, mut change: impl FnMut(usize, &Inner) -> Inner) -> Result<Self> {
        let nodes = self
            .nodes
            .iter()
            .enumerate()
            .map(|(index, node)| change(self.leaves + index, node))
            .collect();
        canonical(self.leaves, nodes, self.root())
    }

    /// The same order with every binary node an `add`, every wider one `fused`, all of one format:
    /// what the plain algorithms can tell.
    #[must_use]
    pub fn shape(&self, format: Format) -> Self {
        let mut shape = self.clone();
        for node in &mut shape.nodes {
            node.format = format;
            node.op = match (node.op, node.children.len()) {
                (Op::Exact, 3..) => Op::Exact,
                (Op::Unresolved, _) => Op::Unresolved,
                (_, 0..=2) => Op::Add,
                _ => Op::Fused,
            };
        }
        shape
    }

    /// Parent of every item (leaves first, then nodes); the root's parent is itself.
    #[must_use]
    pub fn parents(&self) -> Vec<usize> {
        let mut parents = vec![self.root(); self.leaves + self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for &child in &node.children {
                parents[child] = self.leaves + index;
            }
        }
        parents
    }

    /// Number of leaves below every item.
    #[must_use]
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![1; self.leaves + self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            sizes[self.leaves + index] = node.children.iter().map(|&child| sizes[child]).sum();
        }
        sizes
    }

    /// Smallest leaf below every item.
    #[must_use]
    pub fn firsts(&self) -> Vec<usize> {
        let mut firsts: Vec<usize> = (0..self.leaves + self.nodes.len()).collect();
        for (index, node) in self.nodes.iter().enumerate() {
            firsts[self.leaves + index] = firsts[node.children[0]];
        }
        firsts
    }

    /// The leaves below an item, ascending within each node's first child first.
    #[must_use]
    pub fn leaves_below(&self, item: usize) -> Vec<usize> {
        let (mut found, mut stack) = (Vec::new(), vec![item]);
        while let Some(item) = stack.pop() {
            match self.inner(item) {
                None => found.push(item),
                Some(node) => stack.extend(node.children.iter().rev()),
            }
        }
        found
    }

    /// The order that is left when only the leaves that `keep` accepts are summed; they are
    /// numbered anew. `None` when none is left.
    #[must_use]
    pub fn restricted(&self, keep: impl Fn(usize) -> bool) -> Option<Self> {
        let kept: Vec<usize> = (0..self.leaves).filter(|&leaf| keep(leaf)).collect();
        let mut new = vec![None; self.leaves + self.nodes.len()];
        for (number, &leaf) in kept.iter().enumerate() {
            new[leaf] = Some(number);
        }
        let mut builder = Builder::new(kept.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let children: Vec<usize> = node.children.iter().filter_map(|&c| new[c]).collect();
            new[self.leaves + index] = match children[..] {
                [] => None,
                [only] if node.children.len() > 1 => Some(only),
                _ => Some(builder.node(node.op, node.format, children)),
            };
        }
        builder.build(new[self.root()]?).ok()
    }

    /// How many nodes are `fma`, so that some leaves must be products; `None` when no node is.
    pub(super) fn multiplying(&self) -> Option<usize> {
        let count = self.nodes.iter().filter(|node| node.op == Op::Fma).count();
        (count > 0).then_some(count)
    }

    /// Counts.
    #[must_use]
    pub fn statistics(&self) -> TreeStatistics {
        let mut depths = vec![0; self.leaves + self.nodes.len()];
        let mut kinds: Vec<(Op, Format, usize)> = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let below = node.children.iter().map(|&child| depths[child]).max();
            depths[self.leaves + index] = 1 + below.unwrap_or(0);
            match kinds
                .iter_mut()
                .find(|(op, format, _)| (*op, *format) == (node.op, node.format))
            {
                Some((_, _, count)) => *count += 1,
                None => kinds.push((node.op, node.format, 1)),
            }
        }
        TreeStatistics {
            leaves: self.leaves,
            nodes: self.nodes.len(),
            depth: depths[self.root()],
            fan_in: self
                .nodes
                .iter()
                .map(|n| n.children.len())
                .max()
                .unwrap_or(0),
            kinds,
        }
    }
}
