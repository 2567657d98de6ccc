//! FPRev's algorithm 4 with two pairs of masks in an input wherever two parts of the tree have room in it.

use std::collections::HashMap;

use super::Trouble;
use super::counts::{Task, assemble, contradiction};
use super::double::{Absorbed, Double, Pair};
use super::meter::Meter;
use super::random::Random;
use crate::tree::Tree;

/// The most leaves that get units one by one, where units on all would be too many.
const MOST_SET: usize = 1 << 11;

/// Inputs whose leaves are listed at once.
const MOST_AT_ONCE: usize = 1 << 12;
/// Sets of no more leaves are measured from their first leaf, whatever that shows.
const FEW: usize = 7;

/// A task that is being measured.
struct Open {
    task: usize,
    /// Leaves whose count is unknown.
    unknown: Vec<usize>,
    /// Leaves with their counts.
    known: Vec<(usize, usize)>,
    /// Whether the task before lost only a few leaves to reach this one.
    is_stuck: bool,
}

/// One input: tasks, by their place among the open ones, with the leaves that are masked.
enum Input {
    One(usize, Pair),
    /// The large pair and the middle one, of two tasks.
    Two([(usize, Pair); 2]),
}

/// What an input says: a task, by its place, a leaf, and its count, if the input shows it.
type Answer = (usize, usize, Option<usize>);

/// The tree, level by level, so that a whole level goes into few calls.
pub(super) fn by_pairs(
    meter: &mut Meter<'_>,
    double: &Double,
    random: &mut Random,
) -> Result<Tree, Trouble> {
    let leaves = meter.subject.leaves();
    let mut tasks = vec![Task::root(leaves)];
    let mut level = vec![(0, false)];
    while !level.is_empty() {
        let opened = level.iter().map(|&(task, is_stuck)| Open {
            task,
            unknown: Vec::new(),
            known: Vec::new(),
            is_stuck,
        });
        let mut search = Search {
            double,
            tasks: &mut tasks,
            open: opened.collect(),
        };
        search.choose_pivots(meter, random)?;
        loop {
            let inputs = search.plan(leaves);
            if inputs.is_empty() {
                break;
            }
            search.measure(meter, &inputs)?;
        }
        search.ask_again(meter)?;
        let done = search.open;
        level.clear();
        for one in done {
            let size = tasks[one.task].size;
            for child in Task::hand_on(&mut tasks, one.task, one.known) {
                // A leaf less again and again would take as many inputs as there are pairs; of a few, that is little.
                let own = tasks[child].size;
                level.push((child, own > FEW && own + 2 + size / 16 > size));
            }
        }
    }
    assemble(meter, &tasks, false)
}

/// A level of the search.
struct Search<'a> {
    double: &'a Double,
    tasks: &'a mut Vec<Task>,
    open: Vec<Open>,
}

impl Search<'_> {
    fn task(&self, at: usize) -> &Task {
        &self.tasks[self.open[at].task]
    }

    /// The pivot is the first leaf of the set. A set that shrank by little may be a chain from the other end, which is
    /// asked too; if neither end is added to its neighbour first, it gets a random pivot.
    fn choose_pivots(&mut self, meter: &mut Meter<'_>, random: &mut Random) -> Result<(), Trouble> {
        let leaves = meter.subject.leaves();
        let mut counts = vec![[None; 2]; self.open.len()];
        for end in [0, 1] {
            let is_asked = |at: &usize| match end {
                0 => true,
                _ => self.open[*at].is_stuck && counts[*at][0] != Some(2),
            };
            let asked = (0..self.open.len()).filter(is_asked);
            let mut left: Vec<(usize, Pair)> =
                asked.map(|at| (at, self.task(at).ends()[end])).collect();
            while !left.is_empty() {
                let inputs = self.across(leaves, std::mem::take(&mut left));
                for (at, _, count) in self.ask(meter, &inputs)? {
                    counts[at][end] = count;
                    left.extend(count.is_none().then(|| (at, self.task(at).ends()[end])));
                }
            }
        }
        for (one, counts) in self.open.iter_mut().zip(counts) {
            let task = &mut self.tasks[one.task];
            let ends = task.ends();
            let end = match counts {
                [Some(2), _] => 0,
                [_, Some(2)] => 1,
                _ => 0,
            };
            let mut known = counts[end].map(|count| (ends[end].1, count));
            task.pivot = ends[end].0;
            if one.is_stuck && counts[end] != Some(2) {
                task.pivot = task.set[random.below(task.size)];
                let own = (0..2).find(|&end| ends[end].0 == task.pivot);
                known = own.and_then(|end| Some((ends[end].1, counts[end]?)));
            }
            one.known.extend(known);
            let is_known = |leaf: usize| one.known.iter().any(|&(other, _)| other == leaf);
            let others = task.set.iter().copied();
            one.unknown = others
                .filter(|&leaf| leaf != task.pivot && !is_known(leaf))
                .collect();
        }
        Ok(())
    }

    /// The next inputs; none when all counts are known.
    fn plan(&self, leaves: usize) -> Vec<Input> {
        let mut left: Vec<(usize, Pair)> = Vec::new();
        for (at, one) in self.open.iter().enumerate() {
            let pivot = self.tasks[one.task].pivot;
            left.extend(one.unknown.iter().map(|&leaf| (at, (pivot, leaf))));
        }
        let size_of = |at: &usize| self.open[*at].unknown.len();
        let largest = (0..self.open.len()).max_by_key(size_of).unwrap_or(0);
        let (own, mut rest): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|&(at, _)| at == largest);
        if own.len() <= rest.len() {
            rest.extend(own);
            rest.sort_by_key(|&(at, _)| at);
            return self.across(leaves, rest);
        }
        // The largest task meets all others.
        let (others, own) = own.split_at(rest.len());
        let mut inputs = self.across(leaves, [others, &rest].concat());
        inputs.extend(own.iter().map(|&(at, pair)| Input::One(at, pair)));
        inputs
    }

    /// Pairs of different tasks, two by two as far as there is room: those of the first half meet those of the second.
    fn across(&self, leaves: usize, all: Vec<(usize, Pair)>) -> Vec<Input> {
        let (first, second) = all.split_at(all.len() / 2);
        let mut inputs = Vec::with_capacity(second.len());
        for (at, &(other, there)) in second.iter().enumerate() {
            match first.get(at) {
                Some(&(one, here)) if one != other && self.has_room(leaves, [one, other]) => {
                    inputs.push(Input::Two([(one, here), (other, there)]));
                }
                here => {
                    inputs.extend(here.map(|&(one, here)| Input::One(one, here)));
                    inputs.push(Input::One(other, there));
                }
            }
        }
        inputs
    }

    /// Whether pairs of two tasks can go into one input.
    fn has_room(&self, leaves: usize, [one, other]: [usize; 2]) -> bool {
        let size = self.task(one).size + self.task(other).size + 2;
        leaves < self.double.room || size < self.double.room.min(MOST_SET)
    }

    /// The leaves with units, where they are not all: both sets, and a leaf outside of each.
    fn support(&self, leaves: usize, both: [usize; 2]) -> Option<Vec<usize>> {
        (leaves >= self.double.room).then(|| {
            let sets = both.into_iter().flat_map(|at| {
                let task = self.task(at);
                task.set.iter().copied().chain(task.outer)
            });
            let mut support: Vec<usize> = sets.collect();
            support.sort_unstable();
            support.dedup();
            support
        })
    }

    /// The count of a task's node from the units that it absorbs: beyond the task's own set, it is the node where the
    /// set met its outer leaf.
    fn count_of(&self, at: usize, absorbed: usize, everywhere: bool) -> Result<usize, Trouble> {
        let task = self.task(at);
        if absorbed <= task.size {
            return Ok(absorbed);
        }
        match !everywhere || absorbed == task.joined {
            true => Ok(task.joined),
            false => Err(contradiction(task.pivot, task.set[0], absorbed)),
        }
    }

    /// Asks, and gives what is known then: of every input's first leaf its count.
    fn ask(&self, meter: &mut Meter<'_>, inputs: &[Input]) -> Result<Vec<Answer>, Trouble> {
        let leaves = meter.subject.leaves();
        let everywhere = leaves < self.double.room;
        let (mut ones, mut twos) = (Vec::new(), Vec::new());
        for input in inputs {
            match *input {
                Input::One(at, pair) => ones.push((at, pair)),
                Input::Two(both) => twos.push(both),
            }
        }
        let mut answers = Vec::new();
        let pairs: Vec<Pair> = ones.iter().map(|&(_, pair)| pair).collect();
        let counts = meter.absorbed(&meter.all_units(), leaves, &pairs)?;
        for (&(at, (_, leaf)), count) in ones.iter().zip(counts) {
            answers.push((at, leaf, Some(count)));
        }
        // Leaves with units are listed one by one where they are not all.
        let mut found = Vec::with_capacity(twos.len());
        for part in twos.chunks(MOST_AT_ONCE) {
            let asked = part.iter().map(|both| {
                let support = self.support(leaves, both.map(|(at, _)| at));
                (support, both.map(|(_, pair)| pair))
            });
            found.extend(self.double.absorbed(meter, &asked.collect::<Vec<_>>())?);
        }
        for ([(one, (_, near)), (other, (_, far))], found) in twos.into_iter().zip(found) {
            let count = self.count_of(one, found.large, everywhere)?;
            answers.push((one, near, Some(count)));
            let count = self.elsewhere(one, other, found, everywhere)?;
            answers.push((other, far, count));
        }
        Ok(answers)
    }

    /// What the middle pair says. Sets of tasks are apart; but a node that reaches beyond its set may hold the other one.
    fn elsewhere(
        &self,
        one: usize,
        other: usize,
        Absorbed { large, both }: Absorbed,
        everywhere: bool,
    ) -> Result<Option<usize>, Trouble> {
        let (first, task) = (self.task(one), self.task(other));
        if large > first.size {
            return Ok(None);
        }
        let own = both - large;
        // Its own two leaves are absorbed whatever it is; in narrower sums the heavy parts are too.
        if own >= 2 && own <= task.size {
            return Ok(Some(own));
        }
        match own >= 2 && (!everywhere || [own, both].contains(&task.joined)) {
            true => Ok(Some(task.joined)),
            false => Err(contradiction(task.pivot, task.set[0], own)),
        }
    }

    /// Asks with one pair where the counts of a task fit no tree: some of its sums may be wider than middle masks are made
    /// for.
    fn ask_again(&mut self, meter: &mut Meter<'_>) -> Result<(), Trouble> {
        let leaves = meter.subject.leaves();
        let units = meter.all_units();
        for one in &mut self.open {
            let task = &self.tasks[one.task];
            if !task.fits(&one.known) {
                let pairs = one.known.iter().map(|&(leaf, _)| (task.pivot, leaf));
                let counts = meter.absorbed(&units, leaves, &pairs.collect::<Vec<_>>())?;
                for (known, count) in one.known.iter_mut().zip(counts) {
                    known.1 = count;
                }
            }
        }
        Ok(())
    }

    /// Asks, and moves the leaves whose count is known now.
    fn measure(&mut self, meter: &mut Meter<'_>, inputs: &[Input]) -> Result<(), Trouble> {
        let mut said: HashMap<usize, usize> = HashMap::new();
        for (_, leaf, count) in self.ask(meter, inputs)? {
            said.extend(count.map(|count| (leaf, count)));
        }
        for one in &mut self.open {
            let mut unknown = Vec::new();
            for leaf in std::mem::take(&mut one.unknown) {
                match said.get(&leaf) {
                    Some(&count) => one.known.push((leaf, count)),
                    None => unknown.push(leaf),
                }
            }
            one.unknown = unknown;
        }
        Ok(())
    }
}
