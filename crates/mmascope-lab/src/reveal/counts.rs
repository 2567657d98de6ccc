//! Builds trees from counts: the number of leaves below the node where two masks meet.

use super::meter::Meter;
use super::random::Random;
use super::{Trouble, sets::Forest};
use crate::tree::Tree;

/// Sets of no more leaves are measured from their first leaf, whatever that shows.
const FEW: usize = 7;

/// The leaf that is measured against the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pivot {
    /// FPRev's choice: the smallest.
    Smallest,
    /// The smallest; where a set shrank by little, the first or last leaf when it is added to its neighbour first, else, or when it
    /// did so again, a random one: few measurements for sequential orders of either direction and for every balanced one.
    Chosen,
}

/// BasicFPRev: every pair, ascending.
pub(super) fn basic(meter: &mut Meter<'_>) -> Result<Tree, Trouble> {
    let leaves = meter.subject.leaves();
    let units = meter.all_units();
    let pairs: Vec<(usize, usize)> = (0..leaves)
        .flat_map(|i| (i + 1..leaves).map(move |j| (i, j)))
        .collect();
    let counts = meter.absorbed(&units, leaves, &pairs)?;
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by_key(|&at| counts[at]);
    let mut forest = Forest::new(leaves);
    // Disjoint sets; each knows its size, its item, and the count its top node was made for.
    let mut parent: Vec<usize> = (0..leaves).collect();
    let mut tops: Vec<(usize, usize, usize)> = (0..leaves).map(|leaf| (1, leaf, 1)).collect();
    fn find(parent: &mut [usize], mut leaf: usize) -> usize {
        while parent[leaf] != leaf {
            parent[leaf] = parent[parent[leaf]];
            leaf = parent[leaf];
        }
        leaf
    }
    for at in order {
        let ((i, j), count) = (pairs[at], counts[at]);
        let (left, right) = (find(&mut parent, i), find(&mut parent, j));
        if left == right {
            if tops[left].2 != count {
                return Err(contradiction(i, j, count));
            }
            continue;
        }
        let ((size_l, item_l, made_l), (size_r, item_r, made_r)) = (tops[left], tops[right]);
        let item = match (made_l == count, made_r == count) {
            (true, true) => forest.merge(item_l, item_r),
            (true, false) if made_r == size_r => forest.push(item_l, item_r),
            (false, true) if made_l == size_l => forest.push(item_r, item_l),
            (false, false) if made_l == size_l && made_r == size_r => {
                forest.join(vec![item_l, item_r])
            }
            _ => return Err(contradiction(i, j, count)),
        };
        parent[right] = left;
        tops[left] = (size_l + size_r, item, count);
    }
    let (size, item, made) = tops[find(&mut parent, 0)];
    if made != size {
        return Err(contradiction(0, leaves - 1, made));
    }
    forest.finish(item, meter.subject)
}

pub(super) fn contradiction(i: usize, j: usize, count: usize) -> Trouble {
    Trouble::no_tree(format!(
        "leaves {i} and {j} absorb {count} leaves, which fits no tree with the other counts"
    ))
}

/// A set of leaves whose order is to be found: those that joined the parent's pivot in one node.
pub(super) struct Task {
    pub(super) pivot: usize,
    /// Leaves, until they are handed on.
    pub(super) set: Vec<usize>,
    pub(super) size: usize,
    /// A leaf outside that joined them, for narrow accumulators.
    pub(super) outer: Option<usize>,
    /// The count of the node where it did; all leaves where there is none.
    pub(super) joined: usize,
    /// How many tasks in a row lost only a few leaves to the next, up to this one: a leaf less again and again would take as many
    /// inputs as there are pairs.
    pub(super) stuck: usize,
    pub(super) groups: Vec<Group>,
}

/// Leaves that meet the pivot in the same node.
pub(super) struct Group {
    pub(super) count: usize,
    pub(super) size: usize,
    /// The task that finds their order; a single leaf needs none.
    pub(super) task: Option<usize>,
    pub(super) leaf: usize,
}

impl Task {
    /// The one of all leaves.
    pub(super) fn root(leaves: usize) -> Self {
        Self {
            pivot: 0,
            set: (0..leaves).collect(),
            size: leaves,
            outer: None,
            joined: leaves,
            stuck: 0,
            groups: Vec::new(),
        }
    }

    /// The first two leaves of the set, and the last two: an end and its neighbour.
    pub(super) fn ends(&self) -> [(usize, usize); 2] {
        let last = self.set.len() - 1;
        [
            (self.set[0], self.set[1]),
            (self.set[last], self.set[last - 1]),
        ]
    }

    /// The set without the pivot, from its nearest leaf to its farthest.
    pub(super) fn others(&self) -> Vec<usize> {
        let mut others = self.set.clone();
        others.retain(|&leaf| leaf != self.pivot);
        others.sort_by_key(|leaf| leaf.abs_diff(self.pivot));
        others
    }

    /// The largest of these counts of the set's other leaves up to which a tree has them: each node has all leaves that met the pivot
    /// before, and only the last may reach beyond the set.
    pub(super) fn fitting(&self, found: &[(usize, usize)]) -> usize {
        let mut counts: Vec<usize> = found.iter().map(|&(_, count)| count).collect();
        counts.sort_unstable();
        let mut size = 1;
        let fits = |same: &&[usize]| {
            size += same.len();
            let reaches_beyond = size == self.size && self.outer.is_some();
            same[0] == size || reaches_beyond && same[0] == self.joined
        };
        let groups = counts.chunk_by(|left, right| left == right);
        groups.take_while(fits).last().map_or(0, |same| same[0])
    }

    /// Groups the leaves of a task by their counts. Gives the new tasks, which find the order of groups of several.
    pub(super) fn hand_on(
        tasks: &mut Vec<Self>,
        number: usize,
        found: impl IntoIterator<Item = (usize, usize)>,
    ) -> Vec<usize> {
        let by_count = found.into_iter().map(|(leaf, count)| (count, leaf));
        let mut found: Vec<(usize, usize)> = by_count.collect();
        found.sort_unstable();
        tasks[number].set = Vec::new();
        let (size, stuck) = (tasks[number].size, tasks[number].stuck);
        let mut new = Vec::new();
        for same in found.chunk_by(|left, right| left.0 == right.0) {
            let (count, leaf) = same[0];
            let task = (same.len() > 1).then(|| {
                let set: Vec<usize> = same.iter().map(|&(_, leaf)| leaf).collect();
                tasks.push(Self {
                    pivot: set[0],
                    size: set.len(),
                    set,
                    outer: Some(tasks[number].pivot),
                    joined: count,
                    stuck: match same.len() > FEW && same.len() + 2 + size / 16 > size {
                        true => stuck + 1,
                        false => 0,
                    },
                    groups: Vec::new(),
                });
                tasks.len() - 1
            });
            new.extend(task);
            tasks[number].groups.push(Group {
                count,
                size: same.len(),
                task,
                leaf,
            });
        }
        new
    }
}

/// Algorithm 4, level by level so that a whole level goes into few calls; `narrow` is algorithm 5:
/// units only where they matter, and never more at once than are counted exactly.
pub(super) fn by_pivot(
    meter: &mut Meter<'_>,
    choice: Pivot,
    narrow: bool,
    random: &mut Random,
) -> Result<Tree, Trouble> {
    let leaves = meter.subject.leaves();
    let mut tasks = vec![Task::root(leaves)];
    let mut pending = vec![0];
    while !pending.is_empty() {
        let mut known = match choice {
            Pivot::Smallest => Known::new(),
            Pivot::Chosen => choose_pivots(meter, &mut tasks, &pending, narrow, random)?,
        };
        let pairs: Vec<Vec<(usize, usize)>> = pending
            .iter()
            .map(|&task| pairs_of(&tasks[task], known.get(&task).copied()))
            .collect();
        let counts = counts(meter, &tasks, &pending, &pairs, narrow)?;
        let mut next = Vec::new();
        for ((&number, pairs), counts) in pending.iter().zip(&pairs).zip(counts) {
            let found = pairs.iter().map(|&(_, leaf)| leaf).zip(counts);
            let found: Vec<(usize, usize)> = found.chain(known.remove(&number)).collect();
            next.extend(Task::hand_on(&mut tasks, number, found));
        }
        pending = next;
    }
    assemble(meter, &tasks, narrow)
}

/// What is known already of tasks' pivots: a leaf and its count.
type Known = std::collections::HashMap<usize, (usize, usize)>;

/// Chooses the pivots of tasks that shrank by little; what a probe measured of them already is kept.
fn choose_pivots(
    meter: &mut Meter<'_>,
    tasks: &mut [Task],
    pending: &[usize],
    narrow: bool,
    random: &mut Random,
) -> Result<Known, Trouble> {
    let mut known = Known::new();
    for &number in pending {
        let task = &mut tasks[number];
        if task.stuck > 1 {
            task.pivot = task.set[random.below(task.size)];
        }
    }
    let probed = pending.iter().copied();
    let probed: Vec<usize> = probed.filter(|&task| tasks[task].stuck == 1).collect();
    let probes: Vec<Vec<(usize, usize)>> = probed
        .iter()
        .map(|&task| tasks[task].ends().to_vec())
        .collect();
    let results = counts(meter, tasks, &probed, &probes, narrow)?;
    for ((&task, probes), results) in probed.iter().zip(&probes).zip(results) {
        match results.iter().position(|&count| count == 2) {
            Some(at) => {
                tasks[task].pivot = probes[at].0;
                known.insert(task, (probes[at].1, 2));
            }
            None => tasks[task].pivot = tasks[task].set[random.below(tasks[task].size)],
        }
    }
    Ok(known)
}

fn pairs_of(task: &Task, known: Option<(usize, usize)>) -> Vec<(usize, usize)> {
    let skipped = known.map(|(leaf, _)| leaf);
    let others = task.set.iter().copied();
    others
        .filter(|&j| j != task.pivot && Some(j) != skipped)
        .map(|j| (task.pivot, j))
        .collect()
}

/// Counts for the pairs of many tasks. With all units on, tasks share calls.
fn counts(
    meter: &mut Meter<'_>,
    tasks: &[Task],
    pending: &[usize],
    pairs: &[Vec<(usize, usize)>],
    narrow: bool,
) -> Result<Vec<Vec<usize>>, Trouble> {
    let leaves = meter.subject.leaves();
    if !narrow {
        let units = meter.all_units();
        let mut all = meter.absorbed(&units, leaves, &pairs.concat())?.into_iter();
        return Ok(pairs
            .iter()
            .map(|pairs| all.by_ref().take(pairs.len()).collect())
            .collect());
    }
    let most = (meter.subject.masks().counted as usize).clamp(1, leaves);
    let mut found = Vec::with_capacity(pending.len());
    for (&task, pairs) in pending.iter().zip(pairs) {
        let mut sums = vec![2; pairs.len()];
        let with_units: Vec<usize> = tasks[task]
            .set
            .iter()
            .copied()
            .chain(tasks[task].outer)
            .collect();
        for chunk in with_units.chunks(most) {
            let mut units = vec![0.0; leaves];
            for &leaf in chunk {
                units[leaf] = 1.0;
            }
            // A mask on a leaf of the chunk replaces its unit; one elsewhere adds none.
            let mut by_total: std::collections::BTreeMap<usize, Vec<usize>> = Default::default();
            for (at, &(i, j)) in pairs.iter().enumerate() {
                let masked = [i, j].iter().filter(|&&leaf| units[leaf] != 0.0).count();
                by_total
                    .entry(chunk.len() - masked + 2)
                    .or_default()
                    .push(at);
            }
            for (total, ats) in by_total {
                let chosen: Vec<_> = ats.iter().map(|&at| pairs[at]).collect();
                let absorbed = meter.absorbed(&units, total, &chosen)?;
                for (at, count) in ats.into_iter().zip(absorbed) {
                    sums[at] += count - 2;
                }
            }
        }
        found.push(sums);
    }
    Ok(found)
}

/// Joins the tasks' groups from the last tasks, which are the deepest, to the first.
pub(super) fn assemble(
    meter: &mut Meter<'_>,
    tasks: &[Task],
    narrow: bool,
) -> Result<Tree, Trouble> {
    let leaves = meter.subject.leaves();
    let mut forest = Forest::new(leaves);
    // Each task's item, and the count of its top node when leaves outside belong to that node.
    let mut items: Vec<(usize, Option<usize>)> = vec![(0, None); tasks.len()];
    for number in (0..tasks.len()).rev() {
        let task = &tasks[number];
        let (mut item, mut size, mut joined) = (task.pivot, 1, None);
        for (at, group) in task.groups.iter().enumerate() {
            let wrong = || contradiction(task.pivot, group.leaf, group.count);
            let (below, open) = group.task.map_or((group.leaf, None), |task| items[task]);
            size += group.size;
            let is_last = at + 1 == task.groups.len();
            if group.count < size || group.count > size && !(is_last && task.outer.is_some()) {
                return Err(wrong());
            }
            // Counts of narrow tasks are relative to the task's own set.
            if let Some(open) = open
                && !narrow
                && open != group.count
            {
                return Err(wrong());
            }
            item = match open {
                Some(_) => forest.push(below, item),
                None => forest.join(vec![item, below]),
            };
            joined = (group.count > size).then_some(group.count);
        }
        items[number] = (item, joined);
    }
    forest.finish(items[0].0, meter.subject)
}
