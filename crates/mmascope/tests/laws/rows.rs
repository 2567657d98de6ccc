//! The modelled rows, and what their programs say about themselves.

use mmascope::dpa::{
    Addends, Codes, Dpa, Fused, General, GrFdpa, GstFdpa, Operation, Program, Select, Signature,
    StFdpa, Start, TFdpa, Unit,
};
use mmascope::format::Rounding;
use mmascope::isa::{Catalogue, Instruction};
use rayon::prelude::*;

use super::operands::{Case, KINDS, Kind, Random};

/// A row's name and its unit.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) unit: Unit,
}

impl Row {
    pub(super) fn signature(&self) -> &Signature {
        self.unit.signature()
    }

    pub(super) fn program(&self) -> &Program {
        self.unit.program()
    }
}

pub(super) fn modelled() -> Vec<Row> {
    // Integers have a test of their own: `integers` of the model crate.
    let row = |row: &Instruction| {
        let unit = row.unit().ok()?.clone();
        if unit.program().sums_integers() {
            return None;
        }
        let name = format!("{} {}", row.architecture, row.name);
        Some(Row { name, unit })
    };
    let rows: Vec<Row> = Catalogue::built_in()
        .instructions()
        .filter_map(row)
        .collect();
    assert!(rows.len() > 500, "only {} modelled rows", rows.len());
    rows
}

/// One row by its names.
pub(super) fn row(architecture: &str, instruction: &str) -> Row {
    let found = Catalogue::built_in().find(architecture, instruction);
    let found = found.expect("the row exists");
    Row {
        name: format!("{architecture} {instruction}"),
        unit: found.unit().expect("it is modelled").clone(),
    }
}

/// Calls `law` with `trials` random operands of every kind for every modelled row.
pub(super) fn for_every_row(
    salt: u64,
    trials: usize,
    law: impl Fn(&Row, &Case, Kind, &mut Random) + Sync,
) {
    modelled().par_iter().for_each(|row| {
        let mut random = Random::seeded(&row.name, salt);
        for kind in KINDS {
            for _ in 0..trials {
                let case = Case::random(row.signature(), kind, &mut random);
                law(row, &case, kind, &mut random);
            }
        }
    });
}

/// Searches the kinds for operands with the property.
pub(super) fn witness(
    row: &Row,
    salt: u64,
    mut shows: impl FnMut(&Case, &mut Random) -> bool,
) -> Option<Case> {
    let mut random = Random::seeded(&row.name, salt);
    for _ in 0..20_000 {
        for kind in [Kind::Clustered, Kind::Cancelling, Kind::Uniform, Kind::Tiny] {
            let case = Case::random(row.signature(), kind, &mut random);
            if shows(&case, &mut random) {
                return Some(case);
            }
        }
    }
    None
}

/// Whether every pair of operands is a product; element-wise sums add a and b themselves.
pub(super) fn adds_products(program: &Program) -> bool {
    program.statements.iter().all(|statement| {
        let Operation::Dot { algorithm, .. } = &statement.operation else {
            return true;
        };
        !matches!(algorithm, Dpa::GrFdpa(GrFdpa { terms, .. }) if *terms != Addends::Product)
    })
}

/// Whether infinities and NaNs are something else than numbers.
pub(super) fn has_specials(program: &Program) -> bool {
    program.codes != Codes::Numbers
}

/// The algorithms of a program with the k that each sums, in order.
pub(super) fn dots(program: &Program, k: usize) -> Vec<(Dpa, Vec<usize>)> {
    let dot = |operation: &Operation| match operation {
        Operation::Dot {
            algorithm, over, ..
        } => Some((*algorithm, over.indices(k))),
        _ => None,
    };
    let statements = program.statements.iter();
    statements.filter_map(|s| dot(&s.operation)).collect()
}

/// The algorithm of a program that is nothing but that algorithm over every k from c.
pub(super) fn only_algorithm(program: &Program) -> Option<Dpa> {
    match &program.statements[..] {
        [only] => match only.operation {
            Operation::Dot {
                algorithm,
                operands: mmascope::dpa::Reading::WHOLE,
                over: Select::All,
                from: Start::C,
            } => Some(algorithm),
            _ => None,
        },
        _ => None,
    }
}

/// Whether every rounding treats both signs alike.
pub(super) fn is_symmetric(program: &Program) -> bool {
    let symmetric =
        |rounding: Rounding| matches!(rounding, Rounding::Rne | Rounding::Rz | Rounding::Odd);
    program.statements.iter().all(|statement| {
        let algorithm = match &statement.operation {
            Operation::Dot { algorithm, .. } => match *algorithm {
                Dpa::TrFdpa(_) | Dpa::GtrFdpa(_) | Dpa::GrFdpa(_) => false,
                // Rounded sums; sums that are exact.
                Dpa::General(General::AddMul(_) | General::Fused(Fused { f: None, .. })) => true,
                // Terms rounded to one grid, whose sum is exact.
                Dpa::General(General::Fused(Fused {
                    groups: None,
                    join: None,
                    f2: None,
                    align,
                    align_c,
                    ..
                })) => symmetric(align) && symmetric(align_c),
                Dpa::General(_) => false,
                Dpa::TFdpa(TFdpa { align, .. })
                | Dpa::StFdpa(StFdpa { align, .. })
                | Dpa::GstFdpa(GstFdpa { align, .. }) => symmetric(align),
                Dpa::FmaChain(_) | Dpa::FtzAddMul(_) | Dpa::EFdpa(_) | Dpa::SemiFma(_) => true,
                // Two's complement has one number more below zero.
                Dpa::IntDot(_) => false,
            },
            _ => true,
        };
        algorithm && symmetric(statement.output.rounding)
    })
}
