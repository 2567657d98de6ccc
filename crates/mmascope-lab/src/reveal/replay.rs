//! Replays a tree in every way in which its nodes may compute, on random inputs that tell these ways apart.

use std::rc::Rc;

use super::meter::Meter;
use super::random::Random;
use super::report::Revelation;
use crate::error::{Error, Result};
use crate::format::{E8M13, F16, F32, F64, Format, Rounding};
use crate::tree::{Arithmetic, Builder, Inner, Op, Term, Tree, Truncated, round};

/// Fraction bits tried for fused nodes.
pub(super) const FUSED_BITS: std::ops::RangeInclusive<i32> = 8..=40;
/// Elements of random inputs that are held at once.
const MOST_TERMS: usize = 1 << 20;

/// One way to execute a tree.
#[derive(Clone)]
pub(super) struct Way {
    /// The tree with the formats that are tried.
    pub(super) tree: Rc<Tree>,
    /// The arithmetic of its nodes.
    pub(super) arithmetic: Arithmetic,
    /// Whether the subject itself knows what its fused nodes do.
    pub(super) by_model: bool,
}

/// The result of a replay.
pub(super) struct Outcome {
    /// The first way that is left.
    pub(super) way: Way,
    /// All of them.
    pub(super) ways: Vec<Way>,
    /// The most fraction bits with which fused nodes agree just as well.
    pub(super) most_bits: Option<i32>,
    /// Inputs on which no way agreed that had agreed on all others.
    pub(super) failures: Vec<Vec<Term>>,
}

impl Way {
    /// Fraction bits that fused nodes keep.
    pub(crate) fn bits(&self) -> Option<i32> {
        self.arithmetic.fused.map(|fused| fused.bits)
    }

    /// The sum of an input as the tree gives it, in the format of the subject's results.
    pub(super) fn value(&self, meter: &mut Meter<'_>, input: &[Term]) -> Result<f64> {
        let format = meter.subject.format();
        let sum = if self.by_model {
            let unknown = || Error::Argument("this node is no step of the subject's".to_owned());
            let subject = &mut *meter.subject;
            self.tree
                .execute_by(input, &self.arithmetic, &mut |_, operands| {
                    subject.fused_sum(operands)?.ok_or_else(unknown)
                })
        } else {
            self.tree.execute(input, &self.arithmetic)
        };
        Ok(round(format, sum?))
    }

    /// Whether tree and subject agree. Zeros of either sign do: revealing does not look at them.
    pub(super) fn agrees(&self, meter: &mut Meter<'_>, input: &[Term], result: f64) -> bool {
        self.value(meter, input)
            .is_ok_and(|value| value == result || value.is_nan() && result.is_nan())
    }
}

/// The ways in which fused nodes may compute, if all that is known is that they truncate and sum, with the ways of all
/// other nodes.
pub(super) fn truncating(report: &Revelation) -> Result<Vec<Way>> {
    if !has(&report.tree, Op::Fused) {
        return ways(report, &report.tree, &[None], None);
    }
    let mut sums = Vec::new();
    for rounding in [Rounding::Rz, Rounding::Rne] {
        sums.extend(FUSED_BITS.map(|bits| Some(Truncated { bits, rounding })));
    }
    ways(report, &report.tree, &sums, None)
}

/// The ways in which all other nodes may compute, if the subject's own model computes fused and unresolved nodes, with
/// results of this format.
pub(super) fn modelled(report: &Revelation, format: Format) -> Result<Vec<Way>> {
    ways(report, &steps(&report.tree)?, &[None], Some(format))
}

fn has(tree: &Tree, op: Op) -> bool {
    tree.nodes().iter().any(|node| node.op == op)
}

fn ways(
    report: &Revelation,
    tree: &Tree,
    sums: &[Option<Truncated>],
    model: Option<Format>,
) -> Result<Vec<Way>> {
    // Products of operands narrower than the result are exact in it, and so are rounded to it.
    let leaf = if report.operands == F64 { F64 } else { F32 };
    let is_binary = |node: &Inner| !matches!(node.op, Op::Fused | Op::Unresolved);
    let has_binary = tree.nodes().iter().any(is_binary);
    let roundings = match has_binary {
        true => &[Rounding::Rne, Rounding::Rz, Rounding::Rd, Rounding::Ru][..],
        false => &[Rounding::Rne],
    };
    let mut ways = Vec::new();
    for tree in formats(report, tree, model)? {
        for &rounding in roundings {
            for &fused in sums {
                let arithmetic = Arithmetic {
                    leaf,
                    operands: report.operands,
                    fused,
                    // If every node is fused, their rounding is that of the tree.
                    rounding: fused
                        .filter(|_| !has_binary)
                        .map_or(rounding, |it| it.rounding),
                };
                ways.push(Way {
                    tree: Rc::clone(&tree),
                    arithmetic,
                    by_model: model.is_some(),
                });
            }
        }
    }
    Ok(ways)
}

/// The tree with the formats that its nodes may have: what was measured or assumed; for narrow
/// results, a wider one that is rounded at the end; fused nodes also one of their own.
fn formats(report: &Revelation, tree: &Tree, model: Option<Format>) -> Result<Vec<Rc<Tree>>> {
    let is_narrow = report.format != F32 && report.format != F64;
    let others: &[Option<Format>] = match report.products > 0 && is_narrow {
        true => &[None, Some(F32), Some(E8M13)],
        false => &[None],
    };
    let known = [model];
    let fused: &[Option<Format>] = match has(tree, Op::Fused) && report.operands != F64 {
        _ if model.is_some() => &known,
        true => &[None, Some(F32), Some(E8M13), Some(F16)],
        false => &[None],
    };
    let mut trees: Vec<Rc<Tree>> = Vec::new();
    let tree = &[tree.clone(), widened(tree)?];
    for (tree, &other) in tree
        .iter()
        .flat_map(|tree| others.iter().map(move |it| (tree, it)))
    {
        for &fused in fused {
            let changed = tree.map(|_, node| {
                let format = if node.op == Op::Fused { fused } else { other };
                Inner {
                    format: format.unwrap_or(node.format),
                    ..node.clone()
                }
            })?;
            if !trees.iter().any(|tree| **tree == changed) {
                trees.push(Rc::new(changed));
            }
        }
    }
    Ok(trees)
}

/// The tree with nodes in f64 that take sums in f64 and feed a node in f32: what they keep beyond f32
/// is lost there, so that no question told them from nodes in f32.
fn widened(tree: &Tree) -> Result<Tree> {
    let format = |item: usize| tree.inner(item).map(|node| node.format);
    tree.map(|_, node| {
        let takes_double = node
            .children
            .iter()
            .any(|&child| format(child) == Some(F64));
        Inner {
            format: if takes_double { F64 } else { node.format },
            ..node.clone()
        }
    })
}

/// The tree with every unresolved node a fused one, and part of the fused node that it feeds: one
/// step, whatever happens within.
fn steps(tree: &Tree) -> Result<Tree> {
    let leaves = tree.leaves();
    let mut builder = Builder::new(leaves);
    // The leaves of every item: itself, or those of an unresolved node.
    let mut items: Vec<Vec<usize>> = (0..leaves).map(|leaf| vec![leaf]).collect();
    for (index, node) in tree.nodes().iter().enumerate() {
        let is_root = leaves + index == tree.root();
        let children: Vec<usize> = node
            .children
            .iter()
            .flat_map(|&c| items[c].clone())
            .collect();
        let own = match node.op {
            Op::Unresolved if !is_root && feeds_fused(tree, leaves + index) => children,
            Op::Unresolved => vec![builder.node(Op::Fused, node.format, children)],
            op => vec![builder.node(op, node.format, children)],
        };
        items.push(own);
    }
    builder.build(items[tree.root()][0])
}

fn feeds_fused(tree: &Tree, item: usize) -> bool {
    let parent = tree
        .nodes()
        .iter()
        .find(|node| node.children.contains(&item));
    parent.is_some_and(|parent| parent.op == Op::Fused)
}

/// Random inputs through the subject and through every way that is left. `None` without ways.
pub(super) fn replay(
    meter: &mut Meter<'_>,
    mut ways: Vec<Way>,
    trials: usize,
    random: &mut Random,
) -> Result<Option<Outcome>> {
    let leaves = meter.subject.leaves();
    let at_once = (MOST_TERMS / leaves).clamp(1, trials.max(1));
    let mut failures = Vec::new();
    let mut done = 0;
    while done < trials && !ways.is_empty() {
        let count = at_once.min(trials - done);
        let inputs: Vec<Vec<Term>> = (0..count).map(|_| random_input(meter, random)).collect();
        let results = meter.evaluate(&inputs)?;
        for (input, result) in inputs.into_iter().zip(results) {
            let fits: Vec<bool> = (ways.iter())
                .map(|way| way.agrees(meter, &input, result))
                .collect();
            if fits.contains(&true) {
                let mut fits = fits.into_iter();
                ways.retain(|_| fits.next().unwrap_or(false));
            } else {
                failures.push(input);
            }
        }
        done += count;
    }
    let Some(way) = ways.first().cloned() else {
        return Ok(None);
    };
    let but_for_bits = |way: &Way| Arithmetic {
        fused: way
            .arithmetic
            .fused
            .map(|fused| Truncated { bits: 0, ..fused }),
        ..way.arithmetic
    };
    let alike = (ways.iter())
        .filter(|it| it.tree == way.tree && but_for_bits(it) == but_for_bits(&way))
        .filter_map(|it| it.arithmetic.fused);
    let most_bits = alike.map(|fused| fused.bits).max();
    Ok(Some(Outcome {
        way,
        ways,
        most_bits,
        failures,
    }))
}

pub(super) fn random_input(meter: &Meter<'_>, random: &mut Random) -> Vec<Term> {
    (0..meter.subject.leaves())
        .map(|leaf| meter.subject.random_term(leaf, random.bits()))
        .collect()
}

/// Levels of large terms, at most, that cancel in one input.
const LEVELS: usize = 3;

/// A random input in which large terms cancel in pairs, one pair far above the next: a sum that carries the errors of its
/// additions along in another number loses some of them there, and an exact sum does not.
pub(super) fn cancelling_input(
    meter: &Meter<'_>,
    report: &Revelation,
    random: &mut Random,
) -> Vec<Term> {
    let mut input = random_input(meter, random);
    let largest = |format: Format| match format.float() {
        Some(_) => format.decode(format.max_finite(false)).exponent,
        None => 0,
    };
    let emax = largest(report.operands).min(largest(report.format));
    let precision = report.format.float().map_or(0, |float| float.fraction_bits) as i32 + 1;
    // (c has another format than products.)
    let is_product = |term: &Term| matches!(term, Term::Product(..));
    let first = is_product(&input[0]);
    let mut places: Vec<usize> = (0..input.len())
        .filter(|place| is_product(&input[*place]) == first)
        .collect();
    random.shuffle(&mut places);
    let pairs = (places.len().saturating_sub(1) / 2).min(LEVELS);
    let mut exponent = emax - 9 - input.len().ilog2() as i32 - random.below(8) as i32;
    for pair in places.chunks_exact(2).take(pairs) {
        if exponent <= 0 {
            break;
        }
        let scale = |x: f64, sign: f64| sign * x * crate::tree::power_of_two(exponent);
        let scaled = |sign: f64| match input[pair[0]] {
            Term::Value(value) => Term::Value(scale(value, sign)),
            Term::Product(a, b) => Term::Product(scale(a, sign), b),
        };
        let (one, other) = (scaled(1.0), scaled(-1.0));
        (input[pair[0]], input[pair[1]]) = (one, other);
        exponent -= precision + 2 + random.below(precision as usize) as i32;
    }
    input
}
