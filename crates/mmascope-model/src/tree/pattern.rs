//! Names orders: one line for people when a known pattern fits.

use super::{Builder, Op, Tree};
use crate::format::Format;

/// Interleaved parts are looked for in trees of up to so many leaves.
const MOST_INTERLEAVED: usize = 1024;

/// The most runs of neighbouring leaves that are looked for.
const MOST_PARTS: usize = 512;

/// The most leaves, the last ones, that may join the lanes of a named order of all before them; and at most a third of all.
const MOST_WITHIN: usize = 64;

/// Fewer leaves than these are no lanes that leaves could join.
const LEAST_IN_LANES: usize = 16;

/// They are looked for in trees of up to so many leaves.
const MOST_WITH_SOME_WITHIN: usize = 2048;

/// Names kept for the items of a tree while it is described.
pub(super) struct Shapes<'a> {
    tree: &'a Tree,
    sizes: Vec<usize>,
    firsts: Vec<usize>,
    lasts: Vec<usize>,
}

/// A node whose every level adds leaves to one running sum.
pub(super) struct Chain {
    /// Leaves of each node, the lowest node first.
    steps: Vec<Vec<usize>>,
    /// Operation of the lowest node.
    op: Op,
}

impl<'a> Shapes<'a> {
    pub(crate) fn new(tree: &'a Tree) -> Self {
        let mut lasts: Vec<usize> = (0..tree.leaves() + tree.nodes().len()).collect();
        for (index, node) in tree.nodes().iter().enumerate() {
            let last = node.children.iter().map(|&child| lasts[child]).max();
            lasts[tree.leaves() + index] = last.unwrap_or(0);
        }
        Self {
            tree,
            sizes: tree.sizes(),
            firsts: tree.firsts(),
            lasts,
        }
    }

    pub(super) fn size(&self, item: usize) -> usize {
        self.sizes[item]
    }

    fn is_contiguous(&self, item: usize) -> bool {
        self.lasts[item] - self.firsts[item] + 1 == self.sizes[item]
    }

    /// The leaves of an item in words.
    pub(super) fn range(&self, item: usize) -> String {
        let (first, last) = (self.firsts[item], self.lasts[item]);
        match (self.sizes[item], self.is_contiguous(item)) {
            (1, _) => first.to_string(),
            (_, true) => format!("{first}…{last}"),
            (count, false) => match self.chain(item).and_then(|chain| chain.stride()) {
                // Two leaves are no range.
                Some(_) if count == 2 => format!("{first}, {last}"),
                Some(stride) => format!("{first}, {}…{last}", first + stride),
                None => format!("{count} of {first}…{last}"),
            },
        }
    }

    /// The item as a chain.
    pub(super) fn chain(&self, item: usize) -> Option<Chain> {
        let (mut steps, mut item) = (Vec::new(), item);
        loop {
            let node = self.tree.inner(item)?;
            let mut inner = node.children.iter().filter(|&&c| c >= self.tree.leaves());
            let next = inner.next().copied();
            if inner.next().is_some() {
                return None;
            }
            let leaves = node.children.iter().copied();
            steps.push(leaves.filter(|&c| c < self.tree.leaves()).collect());
            match next {
                Some(next) => item = next,
                None => {
                    steps.reverse();
                    return Some(Chain { steps, op: node.op });
                }
            }
        }
    }

    fn is_pairwise(&self, root: usize) -> bool {
        let mut stack = vec![root];
        while let Some(item) = stack.pop() {
            let Some(node) = self.tree.inner(item) else {
                continue;
            };
            let [left, right] = node.children[..] else {
                return false;
            };
            let (l, r) = (self.sizes[left], self.sizes[right]);
            let halves = l.abs_diff(r) <= 1 || l.is_power_of_two() && l >= r;
            if !halves || !self.is_contiguous(left) || self.lasts[left] + 1 != self.firsts[right] {
                return false;
            }
            stack.extend([left, right]);
        }
        true
    }

    /// Items below `root` that are lanes of one stride, if every leaf is in one: the stride.
    fn lanes(&self, root: usize) -> Option<(usize, Vec<usize>)> {
        let (mut lanes, mut stride, mut stack) = (Vec::new(), None, vec![root]);
        while let Some(item) = stack.pop() {
            match self.chain(item).and_then(|chain| chain.stride()) {
                Some(own @ 2..) if stride.is_none_or(|stride| stride == own) => {
                    stride = Some(own);
                    lanes.push(self.firsts[item]);
                }
                _ => match self.tree.inner(item) {
                    Some(node) if node.children.len() == 2 && lanes.len() <= 4096 => {
                        stack.extend(&node.children);
                    }
                    _ => return None,
                },
            }
        }
        (stride? == lanes.len()).then_some((lanes.len(), lanes))
    }

    /// Equal parts, each of every s-th leaf: s and the order of each.
    fn interleaved(&self, root: usize, parents: &[usize]) -> Option<(usize, String)> {
        let leaves = self.tree.leaves();
        let part = |ways: usize, lane: usize| {
            let mut item = lane;
            while self.sizes[item] < leaves / ways && item != root {
                item = parents[item];
            }
            let members = self.tree.leaves_below(item);
            let all = members.len() == leaves / ways && members.iter().all(|m| m % ways == lane);
            all.then(|| self.tree.restricted(|leaf| leaf % ways == lane))
                .flatten()
        };
        for ways in (2..=64.min(leaves / 2)).filter(|&ways| leaves.is_multiple_of(ways)) {
            let Some(first) = part(ways, 0) else {
                continue;
            };
            if let Some(name) = first.named_as_part()
                && (1..ways).all(|lane| part(ways, lane).as_ref() == Some(&first))
            {
                return Some((ways, name));
            }
        }
        None
    }

    /// Runs of neighbouring leaves that each have a simple pattern, and how they are summed.
    fn parts(&self, root: usize) -> Option<String> {
        let mut parts: Vec<(usize, usize, String)> = Vec::new();
        // Leaves of each part that are added one after the other behind its pattern.
        let mut tails: Vec<usize> = Vec::new();
        let mut stack = self.tree.inner(root)?.children.clone();
        while let Some(item) = stack.pop() {
            let (first, last) = (self.firsts[item], self.lasts[item]);
            if parts.len() + stack.len() > MOST_PARTS {
                return None;
            }
            let name = (self.is_contiguous(item) && self.sizes[item] > 1)
                .then(|| {
                    let part = self
                        .tree
                        .restricted(|leaf| (first..=last).contains(&leaf))?;
                    let simple = part.simple().map(|name| (name, 0));
                    simple.or_else(|| part.simple_with_tail())
                })
                .flatten();
            match (name, self.tree.inner(item)) {
                (Some((name, tail)), _) => {
                    parts.push((first, last, name));
                    tails.push(tail);
                }
                (None, Some(node)) if node.children.len() == 2 => stack.extend(&node.children),
                _ => return None,
            }
        }
        parts.sort_unstable();
        let firsts: Vec<usize> = parts.iter().map(|part| part.0).collect();
        let tops = self
            .tree
            .restricted(|leaf| firsts.binary_search(&leaf).is_ok())?;
        let how = tops.simple()?;
        let count = parts.len();
        let same = parts.iter().all(|part| part.2 == parts[0].2);
        let tailed = tails.iter().filter(|tail| **tail > 0).count();
        if tailed > 0 && !same {
            return None;
        }
        let what = if same && (count > 4 || tailed > 0) {
            let sizes = parts.iter().map(|part| part.1 - part.0 + 1);
            let (least, most) = (sizes.clone().min()?, sizes.max()?);
            let behind = match (tailed, tails.iter().max()) {
                (0, _) | (_, None) => String::new(),
                (_, Some(1)) => format!("; then one more in {tailed} of them"),
                (_, Some(most)) => {
                    format!("; then up to {most} more one by one in {tailed} of them")
                }
            };
            format!("of {least} to {most} ({}{behind})", parts[0].2)
        } else if count <= 4 {
            let words = parts
                .iter()
                .map(|(first, last, name)| format!("{first}…{last}: {name}"));
            format!("({})", words.collect::<Vec<_>>().join("; "))
        } else {
            "of different patterns".to_owned()
        };
        Some(format!("{count} blocks {what}, then {how}"))
    }

    /// Equal blocks of neighbouring leaves: how many, the first block's item, their first leaves.
    fn blocks(&self, root: usize, parents: &[usize]) -> Option<(usize, usize, Vec<usize>)> {
        let leaves = self.tree.leaves();
        let mut item = 0;
        while item != root {
            item = parents[item];
            let size = self.sizes[item];
            if item == root || size < 2 || self.firsts[item] != 0 || !self.is_contiguous(item) {
                continue;
            }
            if !leaves.is_multiple_of(size) {
                continue;
            }
            let first = self.tree.restricted(|leaf| leaf < size)?;
            if !first.is_named() {
                continue;
            }
            let equal = (1..leaves / size).all(|block| {
                let range = block * size..(block + 1) * size;
                // The block is one subtree: the item above its first leaf that has its size.
                let mut above = range.start;
                while self.sizes[above] < size && above != root {
                    above = parents[above];
                }
                self.sizes[above] == size
                    && self.firsts[above] == range.start
                    && self.is_contiguous(above)
                    && self.tree.restricted(|leaf| range.contains(&leaf)).as_ref() == Some(&first)
            });
            if equal {
                return Some((leaves / size, item, (0..leaves).step_by(size).collect()));
            }
        }
        None
    }
}

/// Whether a name is true of a part of a tree, because it numbers no leaves.
fn has_no_places(name: &str) -> bool {
    let is_number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    !name.split("leaf ").skip(1).any(is_number) && !name.contains('…')
}

/// How many leaves are added one after the other behind an order.
fn behind(tail: usize) -> String {
    match tail {
        1 => "; then one more".to_owned(),
        _ => format!("; then {tail} more one by one"),
    }
}

impl Chain {
    /// The summands in order when each step adds one; the order of the first two is chosen so that
    /// it goes on as the rest does.
    pub(super) fn order(&self) -> Option<Vec<usize>> {
        let [a, b] = self.steps[0][..] else {
            return None;
        };
        let mut order = vec![a, b];
        for step in &self.steps[1..] {
            let [leaf] = step[..] else {
                return None;
            };
            order.push(leaf);
        }
        if order.get(2).is_some_and(|&third| third < b) {
            order.swap(0, 1);
        }
        Some(order)
    }

    /// The distance of neighbours when leaves ascend evenly.
    fn stride(&self) -> Option<usize> {
        let order = self.order()?;
        let stride = order[1].checked_sub(order[0])?;
        order
            .windows(2)
            .all(|two| two[1].checked_sub(two[0]) == Some(stride))
            .then_some(stride)
    }

    fn name(&self) -> String {
        let (bottom, rest) = (&self.steps[0], &self.steps[1..]);
        let op = self.op.name();
        if rest.is_empty() && bottom.len() > 2 {
            return format!("one {op} sum of {} terms", bottom.len());
        }
        if let Some(order) = self.order() {
            let descends = order.windows(2).all(|two| two[1] < two[0]);
            return match self.stride() {
                Some(1) => "sequential".to_owned(),
                Some(stride) => format!("sequential with stride {stride}"),
                None if descends => "right to left".to_owned(),
                None => {
                    // c first, then the products in their order.
                    let (last, others) = (order.iter().max(), &order[2..]);
                    let first = order.iter().position(|leaf| Some(leaf) == last);
                    let even = others.windows(2).all(|two| two[0] + 1 == two[1]);
                    if even && first.is_some_and(|at| at < 2) {
                        "sequential from the last leaf".to_owned()
                    } else {
                        "sequential in another order".to_owned()
                    }
                }
            };
        }
        let each = rest.first().map_or(0, Vec::len);
        if rest.iter().all(|step| step.len() == each) && bottom.len().abs_diff(each) <= 1 {
            return format!("chain of {each}+1-term {op} sums");
        }
        format!("chain of {} sums", self.steps.len())
    }
}

impl Tree {
    /// [`Tree::pattern`], in which the last leaf is c where that is its name: `then c`, not `then leaf 16`.
    #[must_use]
    pub fn pattern_named(&self, names: &[String]) -> String {
        let pattern = self.pattern();
        let last = self.leaves().saturating_sub(1);
        match names.get(last).map(|name| &**name) {
            Some("c") => pattern.replace(&format!("leaf {last}"), "c"),
            _ => pattern,
        }
    }

    /// The order in one line: `sequential`, `8-way strided, pairwise combine`,
    /// `chain of 16+1-term fused sums`, `split-K 4, then sequential` …
    #[must_use]
    pub fn pattern(&self) -> String {
        let some_inside = || match self.before_rounding() {
            None => self.with_last_inside().or_else(|| self.with_some_inside()),
            Some(_) => None,
        };
        let name = self.named().or_else(some_inside);
        name.unwrap_or_else(|| {
            let statistics = self.statistics();
            format!(
                "irregular, depth {}, at most {} terms a node",
                statistics.depth, statistics.fan_in
            )
        })
    }

    /// Whether a pattern of the list fits.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.named().is_some()
    }

    /// The tree whose result the root only rounds to its own format.
    fn before_rounding(&self) -> Option<(Self, Format)> {
        let root = self.nodes().last()?;
        let [only] = root.children[..] else {
            return None;
        };
        self.inner(only)?;
        let mut builder = Builder::new(self.leaves());
        for node in &self.nodes()[..self.nodes().len() - 1] {
            builder.node(node.op, node.format, node.children.clone());
        }
        Some((builder.build(only).ok()?, root.format))
    }

    fn named(&self) -> Option<String> {
        if let Some((sum, format)) = self.before_rounding() {
            return Some(format!("{}, rounded to {format}", sum.named()?));
        }
        if let Some(name) = self.simple() {
            return Some(name);
        }
        let root = self.root();
        let shapes = Shapes::new(self);
        if let Some((count, first, firsts)) = shapes.blocks(root, &self.parents()) {
            let size = shapes.size(first);
            let part = self.restricted(|leaf| leaf < size)?.named_as_part();
            let tops = self.restricted(|leaf| firsts.binary_search(&leaf).is_ok())?;
            if let Some((part, how)) = part.zip(tops.named_as_part()) {
                return Some(match (&*part, size) {
                    // (Two neighbours are what an instruction adds first; a kernel that splits K has longer parts.)
                    ("sequential", 2) => format!("{count} pairs, then {how}"),
                    ("sequential", _) => format!("split-K {count}, then {how}"),
                    _ => format!("{count} blocks of {size} ({part}), then {how}"),
                });
            }
        }
        self.with_tail(&shapes).or_else(|| shapes.parts(root))
    }

    /// The name of a lane or a block, which numbers no leaves: they would be those of the part.
    fn named_as_part(&self) -> Option<String> {
        let tailed = || {
            let (core, tail) = self.simple_with_tail()?;
            Some(format!("{core}{}", behind(tail)))
        };
        let names = [self.simple(), tailed(), self.named()];
        names.into_iter().flatten().find(|name| has_no_places(name))
    }

    /// The patterns that are not made of blocks.
    fn simple(&self) -> Option<String> {
        let root = self.root();
        if self.nodes().is_empty() {
            return Some("one term".to_owned());
        }
        let shapes = Shapes::new(self);
        if let Some(chain) = shapes.chain(root) {
            return Some(chain.name());
        }
        if shapes.is_pairwise(root) {
            return Some("pairwise".to_owned());
        }
        let combine = |firsts: &[usize]| {
            let tops = self.restricted(|leaf| firsts.binary_search(&leaf).is_ok())?;
            tops.simple()
        };
        if let Some((count, mut lanes)) = shapes.lanes(root) {
            lanes.sort_unstable();
            let how = combine(&lanes)?;
            return Some(if how.contains(' ') {
                format!("{count}-way strided, combined: {how}")
            } else {
                format!("{count}-way strided, {how} combine")
            });
        }
        if self.leaves() <= MOST_INTERLEAVED
            && let Some((ways, part)) = shapes.interleaved(root, &self.parents())
        {
            let firsts: Vec<usize> = (0..ways).collect();
            let how = combine(&firsts)?;
            return Some(format!("{ways}-way strided ({part}), {how} combine"));
        }
        None
    }

    /// A named order of all leaves but the last one, which joins somewhere within: c of a matrix
    /// product enters its first part.
    fn with_last_inside(&self) -> Option<String> {
        let last = self.leaves() - 1;
        let name = self.restricted(|leaf| leaf < last)?.named()?;
        let beside = self.firsts()[self.parents()[last]];
        Some(format!("{name}; leaf {last} enters beside leaf {beside}"))
    }

    /// Lanes of all leaves but a few of the last ones, each of which is added to a part of the lanes: what libraries do with
    /// the products that fill no whole vector.
    fn with_some_inside(&self) -> Option<String> {
        let leaves = self.leaves();
        if leaves > MOST_WITH_SOME_WITHIN {
            return None;
        }
        let (parents, sizes) = (self.parents(), self.sizes());
        (2..=MOST_WITHIN.min(leaves / 3)).find_map(|inside| {
            let core = leaves - inside;
            // Each of the last leaves is added to a sum that has some leaves of the lanes, and not all.
            let is_added = |leaf: usize| {
                let sum = parents[leaf];
                let below = self.leaves_below(sum);
                let of_lanes = below.iter().filter(|leaf| **leaf < core).count();
                let is_addition = self.inner(sum).is_some_and(|it| it.children.len() == 2);
                is_addition && sizes[sum] > 2 && (1..core).contains(&of_lanes)
            };
            if core < LEAST_IN_LANES || !(core..leaves).all(is_added) {
                return None;
            }
            let lanes = self.restricted(|leaf| leaf < core)?;
            let name = lanes.named()?;
            let is_whole = self.nodes().len() == lanes.nodes().len() + inside;
            let is_lanes = name.contains("-way strided") && !name.contains("leaf");
            (is_whole && is_lanes).then(|| {
                format!(
                    "{name} up to leaf {}; the last {inside} leaves enter within",
                    core - 1
                )
            })
        })
    }

    /// A named core to which the last leaves are added one after the other.
    fn with_tail(&self, shapes: &Shapes<'_>) -> Option<String> {
        let tail = self.tail(shapes)?;
        let core = self.restricted(|leaf| leaf < tail)?.named()?;
        Some(if core == "sequential" {
            core
        } else if tail + 1 == self.leaves() {
            format!("{core}, then leaf {tail}")
        } else {
            format!("{core} up to leaf {}, then sequential", tail - 1)
        })
    }

    /// The pattern of a simple core and how many leaves are added to it one after the other.
    fn simple_with_tail(&self) -> Option<(String, usize)> {
        let tail = self.tail(&Shapes::new(self))?;
        let core = self.restricted(|leaf| leaf < tail)?.simple()?;
        Some((core, self.leaves() - tail))
    }

    /// The first of the last leaves that are added one after the other to the sum of all before them.
    fn tail(&self, shapes: &Shapes<'_>) -> Option<usize> {
        let (mut item, mut tail, mut inner_first) = (self.root(), self.leaves(), 0);
        while let Some(node) = self.inner(item) {
            let [left, right] = node.children[..] else {
                break;
            };
            if right >= self.leaves() || right + 1 != tail {
                break;
            }
            (item, tail, inner_first) = (left, right, shapes.size(left));
        }
        (tail < self.leaves() && inner_first == tail).then_some(tail)
    }
}
