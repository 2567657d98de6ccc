//! The options that choose generated cases.

use std::ops::Range;

use crate::args::Cases;
use crate::report::Failure;
use mmascope::cases::{Family, Generator};
use mmascope::dpa::Unit;

/// Cases of each family when no number is given.
const COUNT: u64 = 1000;

/// A family's generator and the indices asked for.
pub(crate) struct Chosen {
    pub(crate) generator: Generator,
    pub(crate) indices: Range<u64>,
}

/// One for each family, made for a unit.
pub(crate) fn chosen(options: &Cases, unit: &Unit) -> Result<Vec<Chosen>, Failure> {
    if options.family.is_empty() {
        let names = Family::ALL.map(Family::name).join(" ");
        return Err(Failure::Input(format!("--family is missing: {names}")));
    }
    let mut families: Vec<Family> = Vec::new();
    for name in &options.family {
        let family = Family::named(name)?;
        if families.contains(&family) {
            return Err(Failure::Input(format!("--family {name}: it stands twice")));
        }
        families.push(family);
    }
    let one = |&family: &Family| {
        let generator = Generator::for_unit(family, options.seed, unit)?;
        let count = options
            .count
            .or_else(|| Some(generator.count()?.saturating_sub(options.start)))
            .unwrap_or(COUNT);
        if let Some(all) = generator.count() {
            let start = options.start;
            let beyond = match (start >= all, count > all.saturating_sub(start)) {
                (true, _) => format!("--start {start}"),
                (false, true) => format!("--start {start} -n {count}"),
                (false, false) => String::new(),
            };
            if !beyond.is_empty() {
                return Err(Failure::Input(format!(
                    "{beyond}: family {family} has {all} cases, 0 to {}",
                    all - 1
                )));
            }
        }
        let Some(end) = options.start.checked_add(count) else {
            return Err(Failure::Input(format!(
                "--start {} -n {count}: indices end below 2^64",
                options.start
            )));
        };
        Ok(Chosen {
            generator,
            indices: options.start..end,
        })
    };
    families.iter().map(one).collect()
}

impl Chosen {
    /// The indices in runs of at most `length`.
    pub(crate) fn chunks(&self, length: u64) -> impl Iterator<Item = Range<u64>> + use<> {
        let Range { start, end } = self.indices.clone();
        std::iter::successors(Some(start), move |first| first.checked_add(length))
            .take_while(move |first| *first < end)
            .map(move |first| first..first.saturating_add(length).min(end))
    }
}
