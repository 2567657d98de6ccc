//! FPRev's algorithm 4 with as many pairs of masks in an input as it has room for.
//!
//! Pairs that share a leaf meet in nodes of which one holds the other, or in the same node. Pairs of two sets of leaves that are
//! known to be apart meet in nodes that are apart. In both cases the number of leaves that are absorbed by all tells that of each.

use std::collections::{BinaryHeap, VecDeque};

use super::Trouble;
use super::counts::{Task, assemble};
use super::guess::{Shape, guesses};
use super::levels::{Levels, Masked, Pair};
use super::meter::Meter;
use super::random::Random;
use crate::tree::Tree;

/// The most leaves that get units one by one, where units on all would be too many.
const MOST_SET: usize = 1 << 11;
/// Inputs whose leaves are listed at once.
const MOST_AT_ONCE: usize = 1 << 12;
/// Tasks that are tried for a place in an input that has room for smaller ones only.
const MOST_TRIED: usize = 4;

/// A pair of leaves, and the leaves of the node where they meet, when that is known.
struct Ask {
    pair: Pair,
    count: Option<usize>,
    /// A result with several pairs made no sense: this pair is asked by itself.
    is_alone: bool,
}

impl Ask {
    fn of(pair: Pair) -> Self {
        Self {
            pair,
            count: None,
            is_alone: false,
        }
    }
}

/// What a task asks for.
enum Goal {
    /// Whether an end of its set is added to its neighbour first: a chain from there takes few inputs. The first end, then the last.
    End(usize),
    /// A pivot against the others.
    Row,
    /// The nodes of a guessed order, if it is right; sequences of asks of which each holds the one before.
    Guess {
        shape: Shape,
        expected: Vec<usize>,
        sequences: Vec<Vec<usize>>,
        is_wrong: bool,
    },
}

/// A task that is being measured.
struct Open {
    task: usize,
    goal: Goal,
    asks: Vec<Ask>,
    /// What is to be asked next: sequences that stay in order where they share an input.
    threads: Vec<VecDeque<usize>>,
}

/// One input: asks, by the place of the task among the open ones and their number there, from the largest mask to the smallest.
type Input = Vec<(usize, usize)>;

/// The tree, level by level, so that a whole level goes into few calls.
pub(super) fn by_levels(
    meter: &mut Meter<'_>,
    levels: Levels,
    random: &mut Random,
) -> Result<Tree, Trouble> {
    let leaves = meter.subject.leaves();
    let mut tasks = vec![Task::root(leaves)];
    let mut next: Vec<(usize, Option<Shape>)> = vec![(0, None)];
    let mut trust = match levels.is_wide() {
        true => Trust::Untried,
        false => Trust::Always,
    };
    while !next.is_empty() {
        let open = std::mem::take(&mut next).into_iter();
        let open = open.map(|(task, shape)| Open::new(task, tasks[task].stuck, shape));
        let mut search = Search {
            levels,
            leaves,
            trust,
            open: open.collect(),
            tasks: &mut tasks,
        };
        search.start(random);
        loop {
            let inputs = search.plan();
            if inputs.is_empty() {
                break;
            }
            search.ask(meter, &inputs)?;
            search.go_on(random);
        }
        search.ask_again(meter)?;
        trust = search.trust;
        for Open {
            task, goal, asks, ..
        } in search.open
        {
            match goal {
                Goal::Guess { is_wrong: true, .. } => next.push((task, None)),
                Goal::Guess { shape, .. } => shape.settle(&mut tasks, task),
                Goal::End(_) | Goal::Row => {
                    let found = asks.iter().map(|ask| (ask.pair.1, ask.count.unwrap_or(0)));
                    let children = Task::hand_on(&mut tasks, task, found);
                    let mut guesses = guesses(&tasks, task).into_iter().peekable();
                    next.extend(children.into_iter().map(|child| {
                        let guess = guesses.next_if(|(of, _)| *of == child);
                        (child, guess.map(|(_, shape)| shape))
                    }));
                }
            }
        }
    }
    assemble(meter, &tasks, false)
}

impl Open {
    fn new(task: usize, stuck: usize, shape: Option<Shape>) -> Self {
        let mut asks = Vec::new();
        let goal = match shape {
            None if stuck == 1 => Goal::End(0),
            None => Goal::Row,
            Some(shape) => {
                let (mut expected, mut sequences) = (Vec::new(), Vec::new());
                for nodes in shape.nodes() {
                    sequences.push((asks.len()..asks.len() + nodes.len()).collect());
                    for (pair, count) in nodes {
                        asks.push(Ask::of(pair));
                        expected.push(count);
                    }
                }
                Goal::Guess {
                    shape,
                    expected,
                    sequences,
                    is_wrong: false,
                }
            }
        };
        Self {
            task,
            goal,
            asks,
            threads: Vec::new(),
        }
    }

    /// Asks, from the pivot, for all others, in this order; one of them may be known.
    fn row(&mut self, pivot: usize, others: Vec<usize>, known: Option<(usize, usize)>) {
        self.goal = Goal::Row;
        self.asks = (others.into_iter())
            .map(|leaf| Ask {
                count: known.filter(|known| known.0 == leaf).map(|known| known.1),
                ..Ask::of((pivot, leaf))
            })
            .collect();
    }

    /// Threads of what is not known. Those of a row that stand side by side in an input are far from each other in the row.
    fn spread(&mut self, levels: Levels, leaves: usize) {
        let asks = &self.asks;
        let is_unknown = |at: &usize| asks[*at].count.is_none();
        // Where leaves with masks carry no units, another leaf between them does.
        let least = if levels.is_wide() { 2 } else { 1 };
        self.threads = match &self.goal {
            Goal::Guess { is_wrong: true, .. } => Vec::new(),
            Goal::Guess { sequences, .. } => (sequences.iter())
                .flat_map(|sequence| (0..least).map(move |from| (sequence, from)))
                .map(|(sequence, from)| sequence.iter().skip(from).step_by(least))
                .map(|sequence| sequence.copied().filter(is_unknown).collect())
                .filter(|thread: &VecDeque<usize>| !thread.is_empty())
                .collect(),
            Goal::End(_) | Goal::Row => {
                let unknown: Vec<usize> = (0..asks.len()).filter(is_unknown).collect();
                let part = unknown.len().div_ceil(levels.most(leaves)).max(least);
                let parts = unknown.chunks(part);
                parts.map(|part| part.iter().copied().collect()).collect()
            }
        };
    }

    fn left(&self) -> usize {
        self.threads.iter().map(VecDeque::len).sum()
    }

    /// The next asks of one input, at most so many.
    fn take(&mut self, most: usize) -> Vec<usize> {
        let mut taken = Vec::with_capacity(most);
        while taken.len() < most {
            let next = match self.goal {
                Goal::Guess { .. } => self.threads.first_mut(),
                Goal::End(_) | Goal::Row => self.threads.get_mut(taken.len()),
            };
            match next.and_then(VecDeque::pop_front) {
                Some(ask) => taken.push(ask),
                None => break,
            }
        }
        self.threads.retain(|thread| !thread.is_empty());
        taken
    }
}

/// Whether several pairs share an input.
#[derive(Clone, Copy, PartialEq)]
enum Trust {
    Always,
    /// Results may make no sense: a single input shows whether they do.
    Untried,
    Tried,
    Never,
}

/// A level of the search.
struct Search<'a> {
    levels: Levels,
    leaves: usize,
    trust: Trust,
    tasks: &'a mut Vec<Task>,
    open: Vec<Open>,
}

impl Search<'_> {
    fn task(&self, at: usize) -> &Task {
        &self.tasks[self.open[at].task]
    }

    /// The first asks. The pivot is the first leaf of a set; an end where the set shrank by little (see [`Self::go_on`]), and a random
    /// leaf where it did so again. Of a guess, the least and the largest node of its longest sequence come first: a wrong one
    /// costs little.
    fn start(&mut self, random: &mut Random) {
        let (levels, leaves) = (self.levels, self.leaves);
        for one in &mut self.open {
            let task = &mut self.tasks[one.task];
            match &one.goal {
                Goal::Row => {
                    task.pivot = match task.stuck > 1 {
                        true => task.set[random.below(task.size)],
                        false => task.set[0],
                    };
                    one.row(task.pivot, task.others(), None);
                    one.spread(levels, leaves);
                }
                Goal::End(end) => {
                    one.asks = vec![Ask::of(task.ends()[*end])];
                    one.spread(levels, leaves);
                }
                Goal::Guess { sequences, .. } => {
                    let ends = sequences.first().map(|nodes| match nodes.as_slice() {
                        [first, .., last] if !levels.is_wide() => VecDeque::from([*first, *last]),
                        [.., last] => VecDeque::from([*last]),
                        [] => VecDeque::new(),
                    });
                    one.threads = ends.into_iter().collect();
                }
            }
        }
    }

    /// What is asked next, by the answers so far.
    fn go_on(&mut self, random: &mut Random) {
        let (levels, leaves) = (self.levels, self.leaves);
        for one in &mut self.open {
            let task = &mut self.tasks[one.task];
            match &mut one.goal {
                Goal::Row => {}
                Goal::Guess {
                    expected, is_wrong, ..
                } => {
                    let answers = one.asks.iter().zip(expected);
                    let mut known = answers.filter_map(|(ask, it)| Some((ask.count?, *it)));
                    *is_wrong |= known.any(|(count, expected)| count != expected);
                }
                Goal::End(end) => {
                    if let Some(count) = one.asks[0].count {
                        let (leaf, neighbour) = task.ends()[*end];
                        match (*end, count) {
                            (0, 2) | (1, 2) => task.pivot = leaf,
                            (0, _) => {
                                one.goal = Goal::End(1);
                                one.asks = vec![Ask::of(task.ends()[1])];
                                one.spread(levels, leaves);
                                continue;
                            }
                            _ => task.pivot = task.set[random.below(task.size)],
                        }
                        let known = (leaf == task.pivot).then_some((neighbour, count));
                        one.row(task.pivot, task.others(), known);
                    }
                }
            }
            one.spread(levels, leaves);
        }
    }

    /// The leaves that get units for a task: its own, and one outside.
    fn size(&self, at: usize) -> usize {
        self.task(at).size + 1
    }

    /// Whether the inputs of tasks that have so many leaves have units on these alone.
    fn is_part(&self, size: usize) -> bool {
        size <= MOST_SET && self.levels.most(size) > self.levels.most(self.leaves)
    }

    /// Pairs that an input of tasks with so many leaves has room for.
    fn room(&self, size: usize) -> usize {
        match self.is_part(size) {
            _ if self.trust == Trust::Never => 1,
            true => self.levels.most(size),
            false => self.levels.most(self.leaves),
        }
    }

    /// The next inputs; none when nothing is left to ask. The tasks that have most to ask meet; where there are too few, one asks
    /// several times in an input.
    fn plan(&mut self) -> Vec<Input> {
        let mut inputs = Vec::new();
        for (at, one) in self.open.iter_mut().enumerate() {
            for thread in &mut one.threads {
                let is_alone = |ask: &&usize| one.asks[**ask].is_alone;
                inputs.extend(thread.iter().filter(is_alone).map(|&ask| vec![(at, ask)]));
                thread.retain(|ask| !is_alone(&ask));
            }
            one.threads.retain(|thread| !thread.is_empty());
        }
        let mut waiting: BinaryHeap<(usize, usize)> = (0..self.open.len())
            .map(|at| (self.open[at].left(), at))
            .filter(|&(left, _)| left > 0)
            .collect();
        while let Some(largest) = waiting.pop() {
            let (mut chosen, mut tried) = (vec![largest], Vec::new());
            let mut size = self.size(largest.1);
            while chosen.len() < self.room(size) && tried.len() < MOST_TRIED {
                let Some(next) = waiting.pop() else {
                    break;
                };
                let with_next = size + self.size(next.1);
                match chosen.len() < self.room(with_next) {
                    true => {
                        size = with_next;
                        chosen.push(next);
                    }
                    false => tried.push(next),
                }
            }
            let mut more = self.room(size) - chosen.len();
            let mut input = Vec::with_capacity(more + chosen.len());
            for &mut (ref mut left, at) in &mut chosen {
                let taken = self.open[at].take(1 + more);
                more -= taken.len().saturating_sub(1);
                *left -= taken.len();
                input.extend(taken.into_iter().map(|ask| (at, ask)));
            }
            inputs.push(input);
            waiting.extend(chosen.into_iter().filter(|&(left, _)| left > 0));
            waiting.extend(tried);
            if self.trust == Trust::Untried && inputs.last().is_some_and(|input| input.len() > 1) {
                break;
            }
        }
        inputs
    }

    /// Asks, and notes what is known then.
    fn ask(&mut self, meter: &mut Meter<'_>, inputs: &[Input]) -> Result<(), Trouble> {
        let (alone, several): (Vec<&Input>, Vec<&Input>) =
            inputs.iter().partition(|input| input.len() == 1);
        let pair = |&(at, ask): &(usize, usize)| self.open[at].asks[ask].pair;
        let pairs: Vec<Pair> = alone.iter().map(|input| pair(&input[0])).collect();
        let counts = meter.absorbed(&meter.all_units(), self.leaves, &pairs)?;
        for (input, count) in alone.into_iter().zip(counts) {
            let (at, ask) = input[0];
            self.open[at].asks[ask].count = Some(count);
        }
        // Leaves with units are listed one by one where they are not all.
        for part in several.chunks(MOST_AT_ONCE) {
            let masked: Vec<Masked> = part.iter().map(|input| self.masked(input)).collect();
            let found = self.levels.absorbed(meter, &masked)?;
            for ((input, masked), unions) in part.iter().zip(&masked).zip(found) {
                let is_everywhere = masked.support.is_none();
                let read = unions.is_some_and(|unions| self.read(input, &unions, is_everywhere));
                self.trust = match (self.trust, read) {
                    (Trust::Always, _) => Trust::Always,
                    (Trust::Untried | Trust::Tried, true) => Trust::Tried,
                    _ => Trust::Never,
                };
                for &(at, ask) in input.iter().filter(|_| !read) {
                    self.open[at].asks[ask].is_alone = true;
                }
            }
        }
        Ok(())
    }

    fn masked(&self, input: &Input) -> Masked {
        let mut tasks: Vec<usize> = input.iter().map(|&(at, _)| at).collect();
        tasks.dedup();
        let size = tasks.iter().map(|&at| self.size(at)).sum();
        let support = self.is_part(size).then(|| {
            let sets = tasks.iter().flat_map(|&at| {
                let task = self.task(at);
                task.set.iter().copied().chain(task.outer)
            });
            let mut support: Vec<usize> = sets.collect();
            support.sort_unstable();
            support.dedup();
            support
        });
        let pair = |&(at, ask): &(usize, usize)| self.open[at].asks[ask].pair;
        Masked {
            support,
            pairs: input.iter().map(pair).collect(),
        }
    }

    /// Notes what an input says: of the first ask its count, and of the others as far as what is absorbed before leaves room. `unions`
    /// are the leaves that are absorbed by each ask and those before. False where it makes no sense.
    fn read(&mut self, input: &Input, unions: &[usize], is_everywhere: bool) -> bool {
        let mut found = Vec::with_capacity(input.len());
        let (mut before, mut own, mut last) = (0, 0, None);
        for (&(at, ask), &union) in input.iter().zip(unions) {
            let task = self.task(at);
            if last != Some(at) {
                own = 0;
            }
            let more = union - before;
            (before, last) = (union, Some(at));
            if more == 0 && own > 0 {
                // It meets no later than the ask before.
                continue;
            }
            own += more;
            let makes_sense = match own > task.size {
                // Where a set met its outer leaf; leaves that others absorb are not among its own then.
                true => !is_everywhere || own <= task.joined && task.joined <= union,
                false => own >= 2,
            };
            if !makes_sense {
                return false;
            }
            let reaches_beyond = own > task.size;
            let count = if reaches_beyond { task.joined } else { own };
            found.push((at, ask, count));
            if reaches_beyond {
                // It may hold what the next ones absorb.
                break;
            }
        }
        for (at, ask, count) in found {
            self.open[at].asks[ask].count = Some(count);
        }
        true
    }

    /// Asks with one pair where the counts of a task fit no tree: some of its sums may be wider than masks are made for. The last
    /// ones first.
    fn ask_again(&mut self, meter: &mut Meter<'_>) -> Result<(), Trouble> {
        let units = meter.all_units();
        for one in &mut self.open {
            if matches!(one.goal, Goal::Guess { .. }) {
                continue;
            }
            for is_last in [true, false] {
                let known = one
                    .asks
                    .iter()
                    .map(|ask| (ask.pair.1, ask.count.unwrap_or(0)));
                let fitting = self.tasks[one.task].fitting(&known.collect::<Vec<_>>());
                let largest = one.asks.iter().filter_map(|ask| ask.count).max();
                if Some(fitting) == largest {
                    break;
                }
                let is_in_doubt = |ask: &&mut Ask| {
                    !ask.is_alone && (!is_last || ask.count.is_some_and(|count| count > fitting))
                };
                let mut doubted: Vec<&mut Ask> = one.asks.iter_mut().filter(is_in_doubt).collect();
                let pairs: Vec<Pair> = doubted.iter().map(|ask| ask.pair).collect();
                let counts = meter.absorbed(&units, self.leaves, &pairs)?;
                for (ask, count) in doubted.iter_mut().zip(counts) {
                    (ask.count, ask.is_alone) = (Some(count), true);
                }
            }
        }
        Ok(())
    }
}
