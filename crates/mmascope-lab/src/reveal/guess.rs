//! Guesses the order of a part of a tree from that of another part: parts of one tree are often alike.

use super::counts::Task;
use super::levels::Pair;

/// Shapes that are nested deeper are not guessed.
const MOST_DEPTH: usize = 64;

/// A binary tree, seen from one of its leaves: what joins this leaf, one after the other.
#[derive(Clone)]
pub(super) struct Shape {
    first: usize,
    joins: Vec<Shape>,
    size: usize,
    depth: usize,
}

impl Shape {
    fn leaf(first: usize) -> Self {
        Self {
            first,
            joins: Vec::new(),
            size: 1,
            depth: 0,
        }
    }

    /// Leaves that are added one after the other; `None` without any.
    fn chain(leaves: impl Iterator<Item = usize>) -> Option<Self> {
        leaves.map(Self::leaf).reduce(Self::join)
    }

    fn join(mut self, other: Self) -> Self {
        self.size += other.size;
        self.depth = self.depth.max(other.depth + 1);
        self.joins.push(other);
        self
    }

    fn leaves(&self, into: &mut Vec<usize>) {
        into.push(self.first);
        for join in &self.joins {
            join.leaves(into);
        }
    }

    /// The same shape over other leaves; `to` has none for a leaf that is left out.
    fn mapped(&self, to: &impl Fn(usize) -> Option<usize>) -> Option<Self> {
        let first = to(self.first).map(Self::leaf);
        let joins = self.joins.iter().filter_map(|join| join.mapped(to));
        first.into_iter().chain(joins).reduce(Self::join)
    }

    /// This shape over the leaves of `set`, which are sorted: as far from each other where that gives this set, and else
    /// in the same sequence.
    fn over(&self, set: &[usize]) -> Option<Self> {
        // Of a far larger part, little would be left.
        if self.depth >= MOST_DEPTH || self.size > 2 * set.len() {
            return None;
        }
        let mut own = Vec::with_capacity(self.size);
        self.leaves(&mut own);
        own.sort_unstable();
        let shifted = |leaf: usize| {
            let leaf = leaf + set[0] - own[0].min(set[0]);
            set.binary_search(&leaf).is_ok().then_some(leaf)
        };
        let is_whole = |shape: &Self| shape.size == set.len();
        let by_distance = match own[0] < set[0] {
            true => self.mapped(&shifted).filter(is_whole),
            false => None,
        };
        by_distance.or_else(|| {
            let in_sequence = |leaf| own.binary_search(&leaf).ok().map(|at| set[at]);
            (self.size == set.len()).then(|| self.mapped(&in_sequence))?
        })
    }

    /// For every node a pair of leaves that meet there, and the number of its leaves: sequences in which every node holds the one
    /// before, and pairs of neighbours share a leaf. The longest are first.
    pub(super) fn nodes(&self) -> Vec<Vec<(Pair, usize)>> {
        let mut all = Vec::new();
        let mut open = vec![self];
        while let Some(shape) = open.pop() {
            let mut size = 1;
            let own = shape.joins.iter().map(|join| {
                size += join.size;
                ((shape.first, join.first), size)
            });
            all.push(own.collect());
            open.extend(shape.joins.iter().filter(|join| join.size > 1));
        }
        all.sort_by_key(|nodes: &Vec<_>| std::cmp::Reverse(nodes.len()));
        all
    }

    /// Makes the shape the order of a task.
    pub(super) fn settle(&self, tasks: &mut Vec<Task>, number: usize) {
        let mut open = vec![(number, self)];
        while let Some((number, shape)) = open.pop() {
            tasks[number].pivot = shape.first;
            let (mut size, mut found) = (1, Vec::with_capacity(shape.size));
            for join in &shape.joins {
                size += join.size;
                let mut leaves = Vec::with_capacity(join.size);
                join.leaves(&mut leaves);
                found.extend(leaves.into_iter().map(|leaf| (leaf, size)));
            }
            let children = Task::hand_on(tasks, number, found);
            let joins = shape.joins.iter().filter(|join| join.size > 1);
            open.extend(children.into_iter().zip(joins));
        }
    }
}

/// Guesses for the tasks that a task handed on: each is taken for what it joins, or for what joined before.
pub(super) fn guesses(tasks: &[Task], number: usize) -> Vec<(usize, Shape)> {
    let task = &tasks[number];
    let mut spine = Some(Shape::leaf(task.pivot));
    let mut guesses: Vec<(usize, Shape)> = Vec::new();
    for group in &task.groups {
        let is_complete = |spine: &Shape| spine.size + group.size == group.count;
        spine = spine.filter(is_complete);
        let joined = match group.task {
            None => Some(Shape::leaf(group.leaf)),
            Some(child) => {
                let set = &tasks[child].set;
                let before = guesses.last().map(|(_, shape)| shape);
                let mut sources = spine.as_ref().into_iter().chain(before);
                // Where all join the pivot at once, it may be the last of a chain from the other end.
                let is_only = task.groups.len() == 1;
                let from_the_end = || is_only.then(|| Shape::chain(set.iter().rev().copied()))?;
                let guess = sources.find_map(|source| source.over(set));
                let guess = guess.or_else(from_the_end);
                guesses.extend(guess.clone().map(|guess| (child, guess)));
                guess
            }
        };
        spine = spine.zip(joined).map(|(spine, joined)| spine.join(joined));
    }
    guesses
}
