//! Confirms a model: many more fresh inputs than the search can afford to remember, of which only those that contradict
//! it are kept.
//!
//! A model may err on one input in 30,000, and a device on one pair of operands in 100,000, which some thousand fresh
//! inputs do not show.

use std::time::Duration;

use super::InferenceProgress;
use super::asker::Asked;
use super::inputs::{
    Focus, Kind, Residues, alone, half, leading, make, nearly_normal, of_families, pair, tall,
};
use super::run::Run;
use crate::cases::{Family, Hints};
use crate::dpa::{Modifiers, OperandWords, Unit};
use crate::error::Result;

/// Inputs of each family in a portion.
const IN_FAMILY: usize = 200;
/// Numbers of aligned bits that a portion draws: what the model takes for an exact sum may be aligned in the device.
const DRAWN: usize = 4;
/// What these may be.
const BITS: std::ops::Range<usize> = 6..70;
/// Inputs around each of them.
const OF_DRAWN: usize = 100;
/// Inputs of each kind in a portion.
const OF_KIND: usize = 75;
/// Inputs of each kind that is made for one question alone.
const OF_OTHERS: usize = 100;
/// So many times as many are asked where a model has several unusual parameters or more than eight statements, or the search ended at its
/// limit: a better model may be left untried.
const WHERE_ODD: u64 = 3;
/// So many times fewer are asked where it is a row of the catalogue.
const OF_ROW: u64 = 5;
/// The first inputs that are asked together, and the most. A device that is slow is asked for few at once.
const FIRST: usize = 32;
const MOST: usize = 4096;
/// About the longest time in which a device answers them, in all. Time of the search does not count.
const LONGEST: Duration = Duration::from_secs(10);
/// So many contradictions join the questions; more of them would say the same.
const KEPT: usize = 16;

impl Run<'_> {
    /// Whether a unit gives the device's answers to as many fresh inputs as the options say, or more. Inputs that contradict it join the questions.
    pub(super) fn confirm(
        &mut self,
        unit: &Unit,
        is_row: bool,
        progress: InferenceProgress<'_>,
    ) -> Result<bool> {
        let stopped = self.cpu_limit.stopped_at();
        let usual = self.options.confirming();
        let wanted = match is_row {
            true => usual.div_ceil(OF_ROW),
            false if self.is_cut_short || self.is_odd(unit.program()) => {
                usual.saturating_mul(WHERE_ODD)
            }
            false => usual,
        };
        let contradicting = self.contradicting(unit, wanted, progress)?;
        self.cpu_limit.go_on_from(stopped);
        if contradicting.is_empty() {
            return Ok(true);
        }
        self.confirmed = 0;
        let cases = contradicting.iter().map(|asked| asked.case.clone());
        let places = self.asker.ask(cases.collect())?;
        for (place, asked) in places.into_iter().zip(contradicting) {
            self.asker.compare(place, asked.answer);
        }
        Ok(false)
    }

    /// The first fresh inputs that contradict a unit, of about so many.
    fn contradicting(
        &mut self,
        unit: &Unit,
        wanted: u64,
        progress: InferenceProgress<'_>,
    ) -> Result<Vec<Asked>> {
        let (focus, hints) = (Focus::of(unit).distinct(), Hints::all_of_unit(unit));
        let mut chunk = FIRST;
        self.confirmed = 0;
        while self.confirmed < wanted {
            let mut cases = self.portion(unit, &focus, &hints);
            cases.truncate(usize::try_from(wanted - self.confirmed).unwrap_or(usize::MAX));
            let mut rest = &cases[..];
            while !rest.is_empty() {
                if self.asker.confirming >= LONGEST {
                    return Ok(Vec::new());
                }
                let done = self.confirmed;
                progress(
                    self.asker.queries,
                    &format!("confirmed over {done} of {wanted}"),
                );
                let (now, later) = rest.split_at(chunk.min(rest.len()));
                let mut contradicting = self.asker.contradicting(unit, now)?;
                if !contradicting.is_empty() {
                    contradicting.truncate(KEPT);
                    return Ok(contradicting);
                }
                self.confirmed += now.len() as u64;
                rest = later;
                chunk = (2 * chunk).min(MOST);
            }
        }
        Ok(Vec::new())
    }

    /// Fresh inputs of every family and kind around a unit, in any order.
    fn portion(&mut self, unit: &Unit, focus: &Focus, hints: &[Hints]) -> Vec<OperandWords> {
        let (maker, random) = (&self.maker, &mut self.confirming);
        let mut cases = of_families(&maker.signature, &Family::ALL, IN_FAMILY, hints[0], random);
        // The other families are the same with all hints.
        let mut around: Vec<(Hints, usize)> = Vec::new();
        around.extend(hints[1..].iter().map(|&hints| (hints, IN_FAMILY)));
        around.extend((0..DRAWN).map(|_| {
            let f = (BITS.start + random.below(BITS.len())) as u32;
            (Hints { f, ..hints[0] }, OF_DRAWN)
        }));
        for (hints, count) in around {
            let families = [Family::Boundary];
            cases.extend(of_families(
                &maker.signature,
                &families,
                count,
                hints,
                random,
            ));
        }
        for kind in Kind::ALL {
            cases.extend((0..OF_KIND).map(|_| make(maker, kind, focus, random)));
        }
        let residues = Residues { maker, focus };
        for round in 0..OF_OTHERS {
            cases.push(alone(maker, focus, random));
            cases.push(tall(maker, focus, random));
            cases.push(half(maker, focus, round % 2 == 0, random));
            cases.extend(leading(maker, focus, random));
            cases.push(nearly_normal(maker, random));
            if maker.signature.k == 1 {
                cases.push(pair(maker, random));
            }
            let products = residues.products(random);
            if let Ok(given) = unit.dot(&products.operands(), &Modifiers::default()) {
                cases.extend(residues.with_c(&products, given, random));
                cases.extend(residues.crossing(&products, given, random));
            }
        }
        // A last portion that is cut has some of each.
        random.shuffle(&mut cases);
        cases
    }
}
