//! Probes a device: measures its numerical features, each with its inputs, outputs and conclusion.
//!
//! The tests are those of Fasi et al. (PeerJ CS 7:e330), MMA-Sim (arXiv 2511.10909, §II), FTTN
//! (arXiv 2403.00232) and Hickmann & Bradford, restated for any formats and any place of k. Nothing
//! here sees what is behind a [`Dut`], and nothing is concluded from what was not asked. Some questions
//! are asked twice at the end: a device that answers them differently is [`Features::is_noisy`].
//!
//! ```
//! use mmascope_lab::{dut::ModelDut, probe::probe};
//! use mmascope_model::isa::Catalogue;
//!
//! let unit = Catalogue::built_in().find("volta", "mma.m8n8k4.f32.f16.f16.f32")?.unit()?;
//! let mut device = ModelDut::new("a black box", unit.clone());
//! let report = probe(&mut device)?;
//! assert_eq!(report.value("bits-products"), Some("23"));
//! assert_eq!(report.value("rounding-result"), Some("rz"));
//! # Ok::<(), mmascope_model::Error>(())
//! ```

mod alignment;
mod bench;
mod normalisation;
mod order;
mod range;
mod repeat;
mod report;
mod rounding;
mod special;
mod standing_in;
mod subnormal;
mod tile;
mod width;

pub use report::{Feature, Features, NOISE, Test, page_of_both};

use crate::dpa::Signature;
use crate::dut::Dut;
use crate::error::Result;
use bench::Bench;
use order::{Found, Order};

/// Measures every feature.
///
/// # Errors
/// The device's own errors; [`crate::Error::Argument`] for operands that are no floats.
pub fn probe(device: &mut dyn Dut) -> Result<Features> {
    let (subject, signature) = (device.name().to_owned(), *device.signature());
    if crate::integers::are_summed(&signature) {
        return crate::integers::probe(device);
    }
    let mut bench = Bench::new(device)?;
    // What later tests need to know: which products share a step, and how many bits it keeps.
    let mut order = match order::measure(&mut bench)? {
        Found::Order(order) => order,
        Found::StandIn(stand_in) => return standing_in::probe(bench.device, stand_in),
    };
    of_order(bench, &mut order, subject, signature)
}

/// The features of a device that sums products in an order.
fn of_order(
    mut bench: Bench<'_>,
    order: &mut Order,
    subject: String,
    signature: Signature,
) -> Result<Features> {
    let mut bits = alignment::measure(&mut bench, order)?;
    bits.width = width::measure(&mut bench, order, bits.products)?;
    bits.flushes_operands = subnormal::measure(&mut bench, order)?;
    alignment::products(&mut bench, order, &mut bits)?;
    rounding::measure(&mut bench, order, &mut bits)?;
    normalisation::measure(&mut bench, order, &bits)?;
    range::floor(&mut bench, order, &bits)?;
    range::overflow(&mut bench, order)?;
    special::measure(&mut bench)?;
    tile::measure(&mut bench)?;
    repeat::measure(&mut bench)?;
    Ok(bench.finish(subject, signature))
}
