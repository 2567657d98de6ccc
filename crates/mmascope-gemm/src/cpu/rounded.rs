//! Sums of groups on rounded grids (`gr-fdpa`) in integer lanes: 32 columns of D at a time.
//!
//! Every number of such a unit is finite and every grid has fewer than 32 bits, so that nothing is left to the
//! reference: products and sums of groups are 16-bit integers, exponents and sums with c 32-bit ones. Statements that take other parts of the same
//! significands have the same distances of exponents, which are computed once.

mod packed;
mod state;

use std::collections::BTreeSet;
use std::fmt;

use crate::dpa::{
    Addends, Codes, Dpa, FlushSign, GrFdpa, Operation, Output, Reading, Start, TakenBits, Tininess,
    Unit, ZeroSign,
};
use crate::format::{BF16, F16, Format, Overflow, Rounding, Specials, TF32};
pub(super) use packed::Packed;

/// Columns of D that are computed together.
const WIDTH: usize = 32;
/// Fraction bits of a group's grid, which products have as well.
const GROUP_BITS: u32 = 10;
/// Fraction bits of the grid of groups and c.
const BITS: u32 = 23;
/// Exponent of a zero operand: far below every product's.
const ZERO: i32 = -4096;

/// Different lists of k among the statements.
const MOST_ORDERS: usize = 8;

type Lanes = [i32; WIDTH];
/// Products and their distances: numbers of 16 bits.
type Halves = [i16; WIDTH];

/// How a unit is computed.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    k: usize,
    /// k of a group, one group after the other, of the different orders that there are.
    orders: Vec<Order>,
    statements: Vec<Statement>,
    /// The different parts of a's and of b's significands.
    parts: [Vec<TakenBits>; 2],
    operands: [Format; 2],
    /// Layout of c and d.
    result: Kind,
    /// At or below this exponent everything is zero.
    floor: i32,
    coarse: bool,
    fault: Option<u32>,
}

/// The k of one statement, in groups.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Order {
    groups: Vec<Vec<usize>>,
}

#[derive(Clone, Debug)]
struct Statement {
    order: usize,
    /// Places in `parts`.
    parts: [usize; 2],
    below: i32,
    /// A group's exponent is at least this.
    least: i32,
}

/// The format of c and d.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Single,
    Brain,
    Half,
}

impl Kind {
    fn fraction_bits(self) -> u32 {
        match self {
            Self::Single => 23,
            Self::Brain => 7,
            Self::Half => 10,
        }
    }

    fn bias(self) -> i32 {
        match self {
            Self::Single | Self::Brain => 127,
            Self::Half => 15,
        }
    }

    fn of(output: &Output) -> Option<Self> {
        let float = output.format.float()?;
        let is_ieee = float.specials == Specials::Ieee;
        match output.format.name {
            "f32" if is_ieee => Some(Self::Single),
            "bf16" if is_ieee => Some(Self::Brain),
            "f16" if float.specials == Specials::None => Some(Self::Half),
            _ => None,
        }
    }
}

impl Plan {
    /// `None` for a unit of another kind, else how it is computed or what there is no kernel for.
    pub(super) fn new(unit: &Unit) -> Option<std::result::Result<Self, String>> {
        let is_grouped = unit.program().statements.iter().any(|statement| {
            let Operation::Dot { algorithm, .. } = &statement.operation else {
                return false;
            };
            matches!(algorithm, Dpa::GrFdpa(_))
        });
        is_grouped.then(|| Self::of(unit))
    }

    fn of(unit: &Unit) -> std::result::Result<Self, String> {
        let signature = unit.signature();
        for format in [signature.a, signature.b] {
            if ![BF16, TF32, F16].contains(&format) {
                return Err(format!("operands in {format}"));
            }
        }
        if unit.program().codes != Codes::Numbers || signature.c != signature.d {
            return Err("another reading of codes, or c in another format than d".into());
        }
        let mut plan: Option<Self> = None;
        for (index, statement) in unit.program().statements.iter().enumerate() {
            let Operation::Dot {
                algorithm: Dpa::GrFdpa(step),
                operands: Reading::WHOLE,
                over,
                from,
            } = &statement.operation
            else {
                return Err("statements of other kinds".into());
            };
            let chained = match index {
                0 => *from == Start::C,
                _ => *from == Start::Statement(index - 1),
            };
            let result = result_of(&statement.output).ok_or_else(|| {
                format!(
                    "results as {} {}",
                    statement.output.rounding, statement.output.format
                )
            })?;
            let indices = over.indices(signature.k);
            if !chained || indices.len() > step.l as usize {
                return Err("statements that do not follow each other, or several blocks".into());
            }
            check(step)?;
            let own = plan.get_or_insert_with(|| Self {
                k: signature.k,
                orders: Vec::new(),
                statements: Vec::new(),
                parts: [Vec::new(), Vec::new()],
                operands: [signature.a, signature.b],
                result,
                floor: step.e0,
                coarse: step.f2.is_some(),
                fault: step.fault,
            });
            let same = own.result == result
                && own.floor == step.e0
                && own.coarse == step.f2.is_some()
                && own.fault == step.fault;
            if !same || step.e0 != -result.bias() {
                return Err("statements that differ in more than their parts".into());
            }
            own.add(step, &indices)?;
        }
        plan.ok_or_else(|| "no statement".into())
    }

    fn add(&mut self, step: &GrFdpa, indices: &[usize]) -> std::result::Result<(), String> {
        let groups = indices.chunks(step.g as usize).map(<[usize]>::to_vec);
        let order = Order {
            groups: groups.collect(),
        };
        if order.groups.len() > 2 {
            return Err("more than two groups".into());
        }
        let order = place(&mut self.orders, order);
        let all = self
            .orders
            .iter()
            .flat_map(|order| order.groups.iter().flatten());
        let distinct: BTreeSet<&usize> = all.clone().collect();
        if self.orders.len() > MOST_ORDERS || distinct.len() != all.count() {
            return Err("the same k in different groups".into());
        }
        let parts = [
            place(&mut self.parts[0], step.a),
            place(&mut self.parts[1], step.b),
        ];
        let places: u32 = [step.a, step.b]
            .into_iter()
            .zip(self.operands)
            .map(|(part, format)| {
                let fraction_bits = format.float().map_or(0, |float| float.fraction_bits);
                nominal(part, fraction_bits)
            })
            .sum();
        if places > GROUP_BITS {
            return Err(format!("products of {places} fraction bits"));
        }
        let below = (step.a.first + step.b.first) as i32;
        self.statements.push(Statement {
            order,
            parts,
            below,
            least: step.e_z.unwrap_or(step.e0).max(step.e0),
        });
        Ok(())
    }

    /// Bytes that a row or column of one step's operands takes.
    pub(super) fn bytes(&self) -> [usize; 2] {
        [0, 1].map(|side| self.k * 2 * (2 + self.parts[side].len()))
    }

    /// Columns that are packed together.
    pub(super) fn panel(&self) -> usize {
        WIDTH
    }
}

/// The index of a thing in a list, to which it is added where it is new.
fn place<T: PartialEq>(list: &mut Vec<T>, thing: T) -> usize {
    match list.iter().position(|own| *own == thing) {
        Some(place) => place,
        None => {
            list.push(thing);
            list.len() - 1
        }
    }
}

/// Places behind the first one of a part, of a significand with so many fraction bits.
fn nominal(part: TakenBits, fraction_bits: u32) -> u32 {
    let last = part.last.unwrap_or(fraction_bits).min(fraction_bits);
    last.saturating_sub(part.first)
}

/// What there is no kernel for.
fn check(step: &GrFdpa) -> std::result::Result<(), String> {
    let usual = step.terms == Addends::Product
        && step.f_g == GROUP_BITS
        && step.f == BITS
        && step.f2.is_none_or(|f2| f2 == GROUP_BITS)
        && step.align_g == Rounding::Rna
        && step.align == Rounding::Rnu
        && step.align_c == Rounding::Rna
        && step.g <= 8
        && step.fault.is_none_or(|places| places < 31)
        // A zero product is below every other one, so that it need not be told apart.
        && step.e_z.is_none_or(|e_z| e_z <= -28 - (step.a.first + step.b.first) as i32);
    match usual {
        true => Ok(()),
        false => Err("sums of groups with other grids, roundings or terms".into()),
    }
}

fn result_of(output: &Output) -> Option<Kind> {
    let usual = output.rounding == Rounding::Rna
        && output.overflow == Overflow::Infinity
        && output.zero == ZeroSign::Plus
        && output.flush == Some(FlushSign::Plus)
        && output.tininess == Tininess::Unbounded;
    usual.then(|| Kind::of(output)).flatten()
}

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "groups on rounded grids, in lanes of {WIDTH} integers")
    }
}
