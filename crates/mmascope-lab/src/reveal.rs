//! Reveals accumulation orders: finds the summation tree of anything that sums, from masked inputs.
//!
//! A masked input has +M at one leaf, −M at another and units elsewhere. Units that are added while
//! M is in the running sum are lost, so the result counts the leaves outside the subtree in which
//! the masks meet (FPRev, USENIX ATC 2025). Nothing here knows what is behind a [`Summation`].
//!
//! ```
//! use mmascope_lab::reveal::{RevealOptions, SliceSum, reveal};
//! let mut subject = SliceSum::new("a loop", 6, |x: &[f32]| x.iter().fold(0.0, |s, x| s + x));
//! let report = reveal(&mut subject, &RevealOptions::default())?;
//! assert_eq!(report.tree.pattern(), "sequential");
//! assert_eq!(report.verified.mismatches, 0);
//! # Ok::<(), mmascope_model::Error>(())
//! ```

mod brute;
mod counts;
mod device;
mod guess;
mod levels;
mod meter;
mod naming;
mod nature;
mod random;
mod range;
mod replay;
mod report;
mod rows;
mod search;
mod sets;
mod slice;
mod steps;
mod subject;
mod types;
mod verify;

pub use device::DeviceSum;
pub use report::{Nature, Revelation, Verified};
pub use rows::{RowFunction, RowSum};
pub use slice::{Element, SliceSum};
pub use subject::{Masks, Query, Summation, spread_term};

use crate::error::{Error, Result};
use crate::tree::Tree;
use meter::Meter;
pub use random::Random;

/// Span in bits from which a node that loses no unit is called exact: no unit aligns to so many.
pub const EXACT_SPAN: i32 = 64;
/// The most leaves for which each pair's lost leaves are named one by one.
const MOST_BY_NAME: usize = 600;

/// The algorithms that find an order. All give the same tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Every tree, and random masked inputs until one is left. At most 6 leaves.
    Naive,
    /// Every pair (BasicFPRev).
    Basic,
    /// The smallest leaf against the others, recursively (FPRev, algorithm 4).
    Fprev,
    /// The same with few units at a time, for narrow accumulators (FPRev, algorithm 5).
    FprevNarrow,
    /// A chosen or random pivot, and many masked inputs in a call.
    Pivot,
    /// Every unit has a weight of its own, so that a result names the leaves that are lost.
    Distinct,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 6] = [
        Self::Naive,
        Self::Basic,
        Self::Fprev,
        Self::FprevNarrow,
        Self::Pivot,
        Self::Distinct,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Basic => "basic",
            Self::Fprev => "fprev",
            Self::FprevNarrow => "fprev-narrow",
            Self::Pivot => "pivot",
            Self::Distinct => "distinct",
        }
    }

    /// The algorithm of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
            .ok_or_else(|| Error::unknown("algorithm", name, Self::ALL.map(Self::name)))
    }
}

/// Progress of a long run: the measurements made so far.
pub type RevealProgress<'a> = &'a mut dyn FnMut(u64);

/// The options of `reveal`.
#[derive(Clone, Copy, Debug)]
pub struct RevealOptions {
    /// The algorithm that finds the order.
    pub algorithm: Algorithm,
    /// Random inputs with which the tree is verified.
    pub trials: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether node types are found and the tree verified; without it only the order is.
    pub verify: bool,
}

impl Default for RevealOptions {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Pivot,
            trials: 100,
            seed: 1,
            verify: true,
        }
    }
}

/// The part of an order that masks show.
struct Seen {
    tree: Tree,
    notes: Vec<String>,
}

/// Why masks show no tree.
enum Trouble {
    /// The subject itself failed.
    Subject(Error),
    /// The results fit no tree: what the subject is instead.
    NoTree(Nature),
}

impl Trouble {
    fn no_tree(reason: String) -> Self {
        Self::NoTree(Nature::NoSingleTree(reason))
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Subject(error)
    }
}

/// Finds the tree of a subject, its node types, and verifies it.
///
/// A subject that has no single tree gives a report that says so, with every leaf in one
/// unresolved node; it is no error.
///
/// # Errors
/// The subject's own errors; [`Error::Argument`] when there is nothing to sum, the masks of no
/// format work, or `naive` is asked for more than 6 leaves.
pub fn reveal(subject: &mut dyn Summation, options: &RevealOptions) -> Result<Revelation> {
    let mut quiet = |_| ();
    run(subject, options, &mut quiet)
}

/// As [`reveal`], telling `progress` about the measurements.
///
/// # Errors
/// As [`reveal`].
pub fn reveal_with_progress(
    subject: &mut dyn Summation,
    options: &RevealOptions,
    progress: RevealProgress<'_>,
) -> Result<Revelation> {
    run(subject, options, progress)
}

fn run(
    subject: &mut dyn Summation,
    options: &RevealOptions,
    progress: RevealProgress<'_>,
) -> Result<Revelation> {
    let batched = matches!(options.algorithm, Algorithm::Pivot | Algorithm::Distinct);
    let mut meter = Meter::new(subject, batched, progress);
    if meter.subject.leaves() == 0 {
        return Err(Error::Argument(format!(
            "{}: nothing to sum",
            meter.subject.name()
        )));
    }
    meter.prepare()?;
    let leaves = meter.subject.leaves();
    if options.algorithm == Algorithm::Naive && leaves > brute::MOST_LEAVES {
        return Err(Error::Argument(format!(
            "naive: {leaves} leaves; it tries every tree and takes at most {}",
            brute::MOST_LEAVES
        )));
    }
    let mut random = Random::new(options.seed);
    // Without a choice there is nothing to find out; counts that masks spoil fit no tree.
    let is_chosen = options.verify || meter.subject.choices() > 1;
    let masks = if is_chosen {
        meter.choose_masks()
    } else {
        Ok(())
    };
    let seen = masks.map_err(Trouble::from).and_then(|()| {
        if options.verify {
            nature::noise_check(&mut meter, &mut random)?;
        }
        see(&mut meter, options, &mut random)
    });
    meter.batched = true;
    let mut report = match seen {
        Ok(seen) => Revelation::of_tree(meter.subject, seen.tree, seen.notes),
        Err(Trouble::Subject(error)) => return Err(error),
        Err(Trouble::NoTree(nature)) => Revelation::without_tree(meter.subject, nature)?,
    };
    (report.calls, report.measurements) = meter.found_after;
    if options.verify {
        verify::verify(&mut meter, &mut report, options.trials, &mut random)?;
    }
    (report.all_calls, report.all_measurements) = meter.counts();
    Ok(report)
}

/// The order that masks show by what they change, where they lose no units too, and the inputs that it
/// took: not verified, for a search that compares many. `None` where that is no tree, or more leaves than `most`.
///
/// # Errors
/// The subject's own errors.
pub(crate) fn order_by_change(
    subject: &mut dyn Summation,
    most: usize,
) -> Result<(Option<Tree>, u64)> {
    let mut quiet = |_| ();
    let mut meter = Meter::new(subject, true, &mut quiet);
    // (A c that is not read is no leaf.)
    meter.prepare()?;
    let leaves = 2..=most;
    let tree = match leaves.contains(&meter.subject.leaves()) && meter.choose_any_masks()? {
        true => match sets::by_change(&mut meter) {
            Ok(tree) => Some(tree),
            Err(Trouble::NoTree(_)) => None,
            Err(Trouble::Subject(error)) => return Err(error),
        },
        false => None,
    };
    Ok((tree, meter.counts().1))
}

/// The order as masks show it, checked against further masked inputs.
fn see(
    meter: &mut Meter<'_>,
    options: &RevealOptions,
    random: &mut Random,
) -> std::result::Result<Seen, Trouble> {
    let leaves = meter.subject.leaves();
    if leaves == 1 {
        let tree = crate::tree::Builder::new(1).build(0)?;
        return Ok(Seen {
            tree,
            notes: Vec::new(),
        });
    }
    let mut notes = Vec::new();
    let is_pivot = options.algorithm == Algorithm::Pivot;
    let narrow = is_pivot && !meter.counts_all();
    let has_levels = is_pivot && !narrow && leaves > 3;
    let levels = match has_levels.then(|| levels::Levels::of(meter)) {
        Some(Err(Trouble::Subject(error))) => return Err(error.into()),
        Some(Ok(levels)) => levels,
        _ => None,
    };
    // A tree is believed only when it foretells other masked inputs.
    let mut checked = Err(Trouble::no_tree(String::new()));
    if let Some(levels) = levels {
        let tree = meter.finds(|meter| search::by_levels(meter, levels, random));
        checked = nature::believed(meter, tree, options.verify, random).and_then(|tree| {
            steps::are_rounded(meter, &tree, levels.bits)?;
            Ok(tree)
        });
    }
    // Several pairs of masks need sums in their own format, rounded to nearest; one pair does not.
    if let Err(Trouble::NoTree(_)) = checked {
        let tree = meter.finds(|meter| match options.algorithm {
            Algorithm::Naive => brute::naive(meter, random),
            Algorithm::Basic => counts::basic(meter),
            Algorithm::Fprev => counts::by_pivot(meter, counts::Pivot::Smallest, false, random),
            Algorithm::FprevNarrow => {
                counts::by_pivot(meter, counts::Pivot::Smallest, true, random)
            }
            Algorithm::Pivot => counts::by_pivot(meter, counts::Pivot::Chosen, narrow, random),
            Algorithm::Distinct => sets::by_name(meter),
        });
        checked = nature::believed(meter, tree, options.verify, random);
    }
    // Counts that fit no tree, or a tree that does not foretell, are looked at leaf by leaf.
    let tree = match checked {
        Ok(tree) => tree,
        Err(Trouble::NoTree(_)) if leaves <= MOST_BY_NAME => {
            let tree = meter.finds(sets::by_name)?;
            nature::foretells(meter, &tree, options.verify, random)?;
            tree
        }
        Err(trouble) => return Err(trouble),
    };
    let tree = nature::blocks(meter, tree, &mut notes)?;
    Ok(Seen { tree, notes })
}
