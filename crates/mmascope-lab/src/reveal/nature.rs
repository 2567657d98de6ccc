//! Checks whether a tree can describe a subject, and whether a tree foretells its results.

use super::Trouble;
use super::meter::Meter;
use super::random::Random;
use super::report::Nature;
use super::subject::Query;
use crate::tree::{Builder, Op, Tree};

/// Random pairs that a tree must foretell, for each of the unit patterns; small trees: about all.
const PAIRS: usize = 256;
/// The same where only the order is asked for, and masks are not in doubt. Fewer leaves get fewer pairs, because
/// finding their order takes as few.
const FEW_PAIRS: usize = 8;

/// The results that a tree foretells for masked inputs.
pub(super) struct Foretold {
    tree: Tree,
    parents: Vec<usize>,
    depths: Vec<usize>,
}

impl Foretold {
    pub(crate) fn new(tree: &Tree) -> Self {
        let parents = tree.parents();
        let mut depths = vec![0; parents.len()];
        for item in (0..parents.len()).rev() {
            // Parents have larger numbers among nodes; leaves come last.
            if item >= tree.leaves() && item != tree.root() {
                depths[item] = depths[parents[item]] + 1;
            }
        }
        for leaf in 0..tree.leaves() {
            depths[leaf] = depths[parents[leaf]] + 1;
        }
        Self {
            tree: tree.clone(),
            parents,
            depths,
        }
    }

    /// The node where two leaves meet, and the children through which they come.
    fn meeting(&self, i: usize, j: usize) -> (usize, usize, usize) {
        let (mut i, mut j) = (i, j);
        while self.parents[i] != self.parents[j] {
            if self.depths[i] >= self.depths[j] {
                i = self.parents[i];
            } else {
                j = self.parents[j];
            }
        }
        (self.parents[i], i, j)
    }

    /// The result in units.
    pub(super) fn result(&self, units: &[f64], query: &Query) -> f64 {
        let weight = |leaf: &usize| match query.only {
            Some(only) => f64::from(u8::from(only == *leaf)),
            None => units[*leaf],
        };
        let total: f64 = (0..self.tree.leaves()).map(|leaf| weight(&leaf)).sum();
        let (Some(i), Some(j)) = (query.plus, query.minus) else {
            return total;
        };
        let (node, left, right) = self.meeting(i, j);
        let keeps = self
            .tree
            .inner(node)
            .is_some_and(|node| matches!(node.op, Op::Exact | Op::Unresolved));
        let lost: f64 = if keeps {
            let below = |item| self.tree.leaves_below(item).iter().map(weight).sum::<f64>();
            below(left) + below(right)
        } else {
            self.tree.leaves_below(node).iter().map(weight).sum()
        };
        total - lost
    }
}

/// The same input gives the same result, alone and among others.
pub(super) fn noise_check(meter: &mut Meter<'_>, random: &mut Random) -> Result<(), Trouble> {
    let leaves = meter.subject.leaves();
    let input: Vec<_> = (0..leaves)
        .map(|leaf| meter.subject.random_term(leaf, random.bits()))
        .collect();
    let batched = std::mem::replace(&mut meter.batched, true);
    let results = meter.evaluate(&vec![input; 4]);
    meter.batched = batched;
    let results = results?;
    if results
        .iter()
        .any(|result| result.to_bits() != results[0].to_bits())
    {
        return Err(Trouble::NoTree(Nature::Nondeterministic(format!(
            "one input gave {results:?}"
        ))));
    }
    Ok(())
}

/// A tree that foretells other masked inputs.
pub(super) fn believed(
    meter: &mut Meter<'_>,
    tree: Result<Tree, Trouble>,
    thorough: bool,
    random: &mut Random,
) -> Result<Tree, Trouble> {
    let tree = tree?;
    foretells(meter, &tree, thorough, random)?;
    Ok(tree)
}

/// Checks the tree against masked inputs that did not make it.
pub(super) fn foretells(
    meter: &mut Meter<'_>,
    tree: &Tree,
    thorough: bool,
    random: &mut Random,
) -> Result<(), Trouble> {
    let leaves = tree.leaves();
    let foretold = Foretold::new(tree);
    let batched = std::mem::replace(&mut meter.batched, true);
    let most = (meter.subject.masks().counted / 2.0).max(1.0);
    let share = (most / leaves as f64).min(0.5);
    let (patterns, pairs) = match thorough {
        true => (3, PAIRS),
        false if meter.subject.choices() > 1 => (1, PAIRS),
        false => (1, (leaves / 4).clamp(FEW_PAIRS / 2, FEW_PAIRS)),
    };
    let mut outcome = Ok(());
    for pattern in 0..patterns {
        let units: Vec<f64> = (0..leaves)
            .map(|_| {
                let chosen = (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
                f64::from(u8::from(chosen < share))
            })
            .collect();
        let mut queries: Vec<Query> = (0..pairs.min(2 * leaves * leaves))
            .map(|_| {
                let (plus, other) = (random.below(leaves), random.below(leaves - 1));
                let minus = (plus + 1 + other) % leaves;
                Query {
                    plus: Some(plus),
                    minus: Some(minus),
                    only: (pattern == 1).then(|| random.below(leaves)),
                }
            })
            .filter(|query| {
                query.only.is_none() || query.only != query.plus && query.only != query.minus
            })
            .collect();
        // Every place of a call must have the same order: one query everywhere.
        if pattern == 2 && meter.subject.capacity() > 1 {
            queries.truncate(1);
            queries = vec![queries[0]; meter.subject.capacity().min(4096)];
        }
        let results = meter.measure(&units, &queries)?;
        for (query, result) in queries.iter().zip(results) {
            let mut under_masks = units.clone();
            for leaf in [query.plus, query.minus].into_iter().flatten() {
                under_masks[leaf] = 0.0;
            }
            let expected = foretold.result(&under_masks, query);
            if expected != result {
                outcome = Err(Trouble::no_tree(format!(
                    "masks at leaves {} and {} leave {result} units where the tree leaves {expected}",
                    query.plus.unwrap_or(0),
                    query.minus.unwrap_or(0)
                )));
            }
        }
    }
    if outcome.is_ok() && thorough {
        outcome = units_of_every_size(meter, tree);
    }
    meter.batched = batched;
    outcome
}

/// The leaves of a fused node lose their units together: at every size of the unit all of them
/// survive, none does, or (where halves are rounded away) all are doubled. Sums kept apart inside the node break this.
fn units_of_every_size(meter: &mut Meter<'_>, tree: &Tree) -> Result<(), Trouble> {
    let leaves = tree.leaves();
    for node in tree.nodes().iter().filter(|node| node.op == Op::Fused) {
        let own: Vec<usize> = node
            .children
            .iter()
            .copied()
            .filter(|&c| c < leaves)
            .collect();
        if own.len() < 3 {
            continue;
        }
        let mut units = vec![0.0; leaves];
        for &leaf in &own {
            units[leaf] = 1.0;
        }
        let queries: Vec<Query> = own[1..]
            .iter()
            .map(|&other| Query {
                plus: Some(own[0]),
                minus: Some(other),
                only: None,
            })
            .collect();
        let all = own.len() as f64 - 2.0;
        let mut shift = 0;
        let mut failed = None;
        while failed.is_none() && meter.subject.raise_unit(shift) {
            let results = meter.measure(&units, &queries)?;
            // Half of the last bit that the node keeps may be rounded up: all units are twice as large then.
            failed = results
                .iter()
                .position(|result| ![0.0, all, 2.0 * all].contains(result))
                .map(|at| (at, results[at]));
            shift += 1;
        }
        meter.subject.raise_unit(0);
        if let Some((at, result)) = failed {
            let grew = match result > all {
                true => " (rounding away from zero makes units grow)",
                false => "",
            };
            return Err(Trouble::no_tree(format!(
                "no single tree: with masks at leaves {} and {} and units raised by 2^{}, {result} \
                 of {all} units survive, not all or none{grew}",
                own[0],
                own[at + 1],
                shift - 1
            )));
        }
    }
    Ok(())
}

/// Finds which blocks share a step, by block scales, where operands alone do not show it.
pub(super) fn blocks(
    meter: &mut Meter<'_>,
    tree: Tree,
    notes: &mut Vec<String>,
) -> Result<Tree, Trouble> {
    let has_unresolved = tree.nodes().iter().any(|node| node.op == Op::Unresolved);
    if !has_unresolved {
        return Ok(tree);
    }
    let span = meter.subject.masks().span();
    let kept = meter.subject.alignment()?;
    let missing = match kept {
        Some(kept) => format!(
            "a sum with a large last leaf keeps {kept} bits, so {} bits are missing",
            (kept + 1 - span).max(1)
        ),
        None => "how many bits are missing cannot be measured".to_owned(),
    };
    notes.push(format!(
        "unresolved: masks and units lie {span} bits apart; {missing}"
    ));
    let leaves = tree.leaves();
    let products = leaves - 1;
    let whole = tree.nodes().len() == 1;
    let Some(block) = meter
        .subject
        .block()
        .filter(|&block| block < products && whole)
    else {
        return Ok(tree);
    };
    let Some(scaled) = meter.subject.raise_blocks(true) else {
        return Ok(tree);
    };
    let block_of = |leaf: usize| leaf / block;
    let mut queries = Vec::new();
    for i in 0..leaves {
        for j in i + 1..leaves {
            let mut seen = usize::MAX;
            for k in 0..leaves {
                let own =
                    |leaf: usize| leaf == k || leaf < products && block_of(leaf) == block_of(k);
                // One unit for each further block, and c.
                let new = k == products || block_of(k) != seen;
                if own(i) || own(j) || !new {
                    continue;
                }
                seen = block_of(k);
                queries.push(Query {
                    plus: Some(i),
                    minus: Some(j),
                    only: Some(k),
                });
            }
        }
    }
    let results = meter.measure(&meter.all_units(), &queries);
    meter.subject.raise_blocks(false);
    if results?.iter().any(|&result| result != 0.0) {
        notes.push("scaling blocks apart does not show one step either".to_owned());
        return Ok(tree);
    }
    notes.push(format!(
        "with blocks scaled {scaled} bits apart, every pair of leaves absorbs all other blocks and \
         the last leaf: one step, the inside of its blocks unresolved"
    ));
    let format = meter.subject.format();
    let mut builder = Builder::new(leaves);
    let mut children: Vec<usize> = (0..products)
        .step_by(block)
        .map(|first| builder.node(Op::Unresolved, format, (first..first + block).collect()))
        .collect();
    children.push(products);
    let root = builder.node(Op::Fused, format, children);
    Ok(builder.build(root)?)
}
