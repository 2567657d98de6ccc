//! Lists the usual schemes of emulated precision, which `identify` tries where A and B are wider than what a unit takes.

use super::Question;
use crate::array::Element;
use crate::dpa::Unit;
use crate::error::Result;
use crate::format::{Format, Kind};
use crate::gemm::Schedule;

/// Schemes that split f32. Where two stand for the same products, the orders are those of different programs.
const OF_F32: [&str; 19] = [
    "parts=1 products=0x0",
    "parts=1/rz products=0x0",
    "parts=2 products=1x0,0x1,0x0",
    "parts=2/rna products=1x0,0x1,0x0",
    "parts=2/rz products=1x0,0x1,0x0",
    "parts=2/rz/rne products=1x0,0x1,0x0",
    "parts=2/rna products=1x0,0x1,0x0; promote=12/f32",
    "parts=2 products=1x0,0x1,0x0 within=pass",
    "parts=2 products=0x1,1x0,0x0",
    "parts=2 products=levels/2 join=ascending/f32",
    "parts=2 shift=8 products=levels/2 join=ascending/f32",
    "parts=2 shift=11 products=levels/2 join=ascending/f32",
    "parts=2 shift=11 products=levels/2 unpromoted=1 join=ascending/f32; promote=1/f32",
    "parts=3 products=1x1,2x0,0x2,1x0,0x1,0x0",
    "parts=3 products=1x1,2x0,0x2,1x0,0x1,0x0 within=pass",
    "parts=3 products=2x2,1x2,2x1,1x1,2x0,0x2,1x0,0x1,0x0",
    "parts=3 products=levels/3 join=ascending/f32",
    "parts=3/rz products=pairs/3 join=ascending/f32",
    "parts=3 shift=8 products=levels/5 join=ascending/f32",
];

/// Slices of operands, of 7 bits each.
const SLICES: std::ops::RangeInclusive<usize> = 3..=10;
/// Moduli of scheme II: pairwise coprime, of 8 bits.
const MODULI: [u32; 15] = [
    256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197,
];
/// How many of them.
const COUNTS: std::ops::RangeInclusive<usize> = 6..=15;

/// The schemes that split a format for a unit that takes `narrow`, over K products.
fn usual(from: &Format, narrow: &Format, k: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    match narrow.kind {
        Kind::Float(_) if from.name == "f32" => {
            found.extend(OF_F32.iter().map(|scheme| (*scheme).to_owned()));
        }
        // No kernel slices numbers of 16 bits: there are units that take them.
        Kind::Fixed { .. } if from.bits >= 32 => {
            for count in SLICES {
                for rounding in ["/rz", ""] {
                    for products in ["levels", "pairs"] {
                        found.push(format!(
                            "slices={count}{rounding} bits=7 products={products}/{count} join=ascending/{from}"
                        ));
                    }
                }
            }
            for count in COUNTS {
                let moduli = &MODULI[..count];
                let product: u128 = moduli.iter().map(|&modulus| u128::from(modulus)).product();
                // The sum of K products of such numbers stays below half of the product of all moduli.
                let bits = (product
                    .ilog2()
                    .saturating_sub(1 + k.next_power_of_two().ilog2()))
                    / 2;
                let moduli: Vec<String> = moduli.iter().map(u32::to_string).collect();
                for rounding in ["/rz", ""] {
                    found.push(format!(
                        "residues={}{rounding} bits={} join=residues/{from}",
                        moduli.join(","),
                        bits.clamp(1, 60)
                    ));
                }
            }
        }
        Kind::Float(_) | Kind::Fixed { .. } => {}
    }
    let clause = |scheme: String| format!("emulate={from} {scheme}");
    found.into_iter().map(clause).collect()
}

/// The wider format that A and B are numbers of, where a unit takes narrower ones.
fn wide(question: &Question<'_>, unit: &Unit) -> Option<Format> {
    let Element::Number(from) = question.operands.a.element() else {
        return None;
    };
    let narrow = &unit.signature().a;
    let is_narrower = match narrow.kind {
        Kind::Fixed { .. } => true,
        Kind::Float(_) => *narrow != from && from.has_all_values_of(narrow),
    };
    // Every output takes several instructions, each one's d being the next one's c.
    let chains = unit.signature().c.container() == unit.signature().d.container();
    let is_same = question.operands.b.element() == Element::Number(from);
    (chains && is_same && is_narrower && question.operands.scale_a.is_none()).then_some(from)
}

/// The schemes that a unit may take, the first ones the simplest.
pub(super) fn schemes(unit: &Unit, question: &Question<'_>, k: usize) -> Result<Vec<Schedule>> {
    let Some(from) = wide(question, unit) else {
        return Ok(Vec::new());
    };
    let schemes = usual(&from, &unit.signature().a, k);
    schemes.iter().map(|text| text.parse()).collect()
}
