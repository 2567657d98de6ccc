//! Probes a device through the products of its stand-in, and says what those cannot tell.

use super::bench::Bench;
use super::order::{self, Found};
use super::report::Features;
use crate::dut::Dut;
use crate::error::{Error, Result};
use crate::stand_in::{StandIn, StandInDut};

/// Features of single operands and products: those of the stand-in, and not of the device.
const OF_OPERANDS: [&str; 4] = ["subnormal-a", "subnormal-b", "products", "product-overflow"];

/// Measures every feature that the stand-in's products show.
pub(super) fn probe(device: &mut dyn Dut, stand_in: StandIn) -> Result<Features> {
    let (subject, own) = (device.name().to_owned(), *device.signature());
    let mut device = StandInDut::new(device, stand_in);
    let mut bench = Bench::new(&mut device)?;
    bench.stand_in = Some(stand_in);
    let Found::Order(mut order) = order::measure(&mut bench)? else {
        let words =
            format!("{subject}: its products show neither as such nor by what stands in for them");
        return Err(Error::Argument(words));
    };
    let mut features = super::of_order(bench, &mut order, subject, own)?;
    for feature in &mut features.features {
        // Where operands are added, a's are the device's own.
        let is_own = feature.name == "subnormal-a" && !stand_in.multiplies();
        if OF_OPERANDS.contains(&feature.name) && !is_own {
            feature.value = "not applicable".to_owned();
            feature.conclusion = stand_in.words();
            feature.tests.clear();
        }
    }
    Ok(features)
}
