//! What is found out about every different unit of a catalogue before pages are written.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use mmascope::accuracy::{AccuracySetting, Curve, Data};
use mmascope::dpa::{Operation, Unit};
use mmascope::dut::ModelDut;
use mmascope::gemm::{Schedule, Watch};
use mmascope::isa::{Architecture, Catalogue, Instruction};
use mmascope::precision::specials::{self, Special};
use mmascope::probe::{Features, probe};
use mmascope::tree::{Node, Tree};
use mmascope::{Error, Result};
use rayon::prelude::*;

use crate::Making;
use crate::html::slug;
use crate::separate::{Separation, nearest, separation};

/// Outputs of the products on which errors are measured, rows and columns.
const SIDE: usize = 16;
/// Products of an output there, at most twice as many.
const PRODUCTS: usize = 1024;

/// An instruction with its architecture.
#[derive(Clone, Copy)]
pub(crate) struct Place<'c> {
    pub(crate) architecture: &'c Architecture,
    pub(crate) row: &'c Instruction,
}

impl Place<'_> {
    /// `ARCH:INST`.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.architecture.name, self.row.name)
    }

    /// Its anchor on the page of its unit, or of its architecture where it has no model.
    pub(crate) fn anchor(&self) -> String {
        slug(&self.name())
    }
}

/// A unit and every instruction that it computes: one page.
pub(crate) struct Entry<'c> {
    pub(crate) id: String,
    pub(crate) unit: &'c Unit,
    pub(crate) places: Vec<Place<'c>>,
}

/// What was found out about a unit.
pub(crate) struct Findings {
    pub(crate) tree: Option<Tree>,
    /// The features, or why there are none.
    pub(crate) features: std::result::Result<Features, String>,
    pub(crate) specials: Vec<Special>,
    /// The errors of products; `None` where every result is exact or none can be measured.
    pub(crate) curve: Option<Curve>,
    /// The nearest other units, by index, and what separates them.
    pub(crate) separations: Vec<(usize, Separation)>,
}

/// The catalogue by units, with what was found out.
pub(crate) struct Study<'c> {
    pub(crate) catalogue: &'c Catalogue,
    pub(crate) entries: Vec<Entry<'c>>,
    pub(crate) findings: Vec<Findings>,
    places: HashMap<(&'c str, &'c str), usize>,
}

/// The number of different units.
pub(crate) fn count(catalogue: &Catalogue) -> usize {
    entries(catalogue).len()
}

/// The different units in the order of the catalogue.
fn entries(catalogue: &Catalogue) -> Vec<Entry<'_>> {
    let mut known: HashMap<&Unit, usize> = HashMap::new();
    let mut found: Vec<Entry<'_>> = Vec::new();
    for architecture in catalogue.architectures() {
        for row in architecture.instructions() {
            let Ok(unit) = row.unit() else { continue };
            let index = *known.entry(unit).or_insert(found.len());
            if index == found.len() {
                let id = id(unit);
                found.push(Entry {
                    id,
                    unit,
                    places: Vec::new(),
                });
            }
            found[index].places.push(Place { architecture, row });
        }
    }
    found
}

/// A name for a unit's page that stays as long as the unit does: its algorithm and types, and a hash of all of it.
fn id(unit: &Unit) -> String {
    let signature = unit.signature();
    let types = match signature.a == signature.b {
        true => format!("{}-{}", signature.a, signature.d),
        false => format!("{}-{}-{}", signature.a, signature.b, signature.d),
    };
    let text = format!("{signature} | {}", unit.program());
    let hash = crate::page::fnv(text.bytes());
    let hash = (hash >> 40) ^ (hash & 0xff_ffff);
    slug(&format!(
        "{}-{types}-k{}-{hash:06x}",
        algorithm(unit),
        signature.k
    ))
}

/// The name of the algorithm that sums the products; the first one of several.
pub(crate) fn algorithm(unit: &Unit) -> &'static str {
    let statements = unit.program().statements.iter();
    let mut names = statements.filter_map(|statement| match &statement.operation {
        Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } => {
            Some(algorithm.name())
        }
        _ => None,
    });
    names.next().unwrap_or("convert")
}

impl<'c> Study<'c> {
    /// Studies every unit.
    pub(crate) fn of(catalogue: &'c Catalogue, making: &Making<'_>) -> Result<Self> {
        let entries = entries(catalogue);
        let mut places = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            for place in &entry.places {
                places.insert((&*place.architecture.name, &*place.row.name), index);
            }
        }
        let findings: Vec<Findings> = (0..entries.len())
            .into_par_iter()
            .map(|index| {
                if making.cancel.load(Ordering::Relaxed) {
                    return Err(Error::Cancelled);
                }
                let found = findings(&entries, index, making.cancel);
                (making.progress)(1);
                found
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            catalogue,
            entries,
            findings,
            places,
        })
    }

    /// The unit of an instruction, by index.
    pub(crate) fn unit_of(&self, place: &Place<'c>) -> Option<usize> {
        let name = (&*place.architecture.name, &*place.row.name);
        self.places.get(&name).copied()
    }

    /// Where an instruction is described: its page, and its anchor there.
    pub(crate) fn link(&self, place: &Place<'c>) -> String {
        match self.unit_of(place) {
            Some(index) => format!("unit-{}.html#{}", self.entries[index].id, place.anchor()),
            None => format!(
                "arch-{}.html#{}",
                slug(&place.architecture.name),
                place.anchor()
            ),
        }
    }

    /// The hash of the catalogue, for the foot of pages.
    pub(crate) fn hash(&self) -> String {
        self.catalogue.hash()
    }
}

fn findings(entries: &[Entry<'_>], index: usize, cancel: &AtomicBool) -> Result<Findings> {
    let Entry { unit, places, .. } = &entries[index];
    let signature = unit.signature();
    let node = Node::of_program(unit.program(), signature);
    let tree = node.and_then(|node| Tree::of_node(&node, signature.k + 1).ok());
    let mut device = ModelDut::new(&places[0].name(), (*unit).clone());
    let features = probe(&mut device).map_err(|error| error.to_string());
    let mut separations = Vec::new();
    for other in nearest(entries, index) {
        let found = separation(places[0].row, entries[other].places[0].row)?;
        separations.push((other, found));
    }
    Ok(Findings {
        tree,
        features,
        specials: specials::of_unit(unit)?,
        curve: curve(places[0].row, cancel)?,
        separations,
    })
}

/// The errors of products of normal deviates; `None` where there is nothing to measure.
fn curve(row: &Instruction, cancel: &AtomicBool) -> Result<Option<Curve>> {
    let signature = &row.signature;
    if signature.d.float().is_none() {
        return Ok(None);
    }
    let steps = PRODUCTS.div_ceil(signature.k).next_power_of_two();
    let data = Data::generated("normal".parse()?, 1, [SIDE, SIDE, steps * signature.k])?;
    let setting = AccuracySetting {
        row,
        schedule: Schedule::default(),
    };
    let watch = Watch {
        progress: &|_| (),
        cancel,
    };
    match Curve::measure(&setting, &data, true, &watch) {
        Ok(curve) => Ok(Some(curve)),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        // Chains of this unit make no sense: d is no c, or c is subtracted.
        Err(_) => Ok(None),
    }
}
