//! Finds the rounding of products from single products, before any sum is known.

use super::maker::{FRACTION, drawn};
use super::run::Run;
use super::search::Search;
use super::settings::{self, Setting};
use super::shapes::{self, Place, Step};
use crate::dpa::schema::{Value, parameters as p};
use crate::dpa::{OperandWords, Program};
use crate::error::Result;

/// So many single products are asked.
const SINGLES: usize = 64;
/// Products count as rounded when at least one of so many is not exact.
const ROUNDED: usize = 8;
/// A rounding explains the products when it fails on at most one of so many: subnormal products may be flushed.
const ODD: usize = 32;

impl Run<'_> {
    /// The rounding of products that the answers to single products show; none where exact products explain them, or
    /// nothing does.
    pub(super) fn shown_products(&mut self) -> Result<Option<Setting>> {
        if self.signature.scale.is_some() || !self.asker.affords(SINGLES) {
            return Ok(None);
        }
        let cases = (0..SINGLES).map(|_| self.single()).collect();
        let singles = self.asker.ask(cases)?;
        Ok(self.explaining(singles))
    }

    /// One product of two long significands, and nothing else.
    fn single(&mut self) -> OperandWords {
        let (maker, random) = (&self.maker, &mut self.random);
        let (low, high) = maker.products();
        let high = high.min(maker.d.top - 4).min(24);
        let low = low.max(maker.d.normal).max(-24).min(high);
        let mut long = || random.bits() >> (64 - FRACTION);
        let (fraction, other) = (long(), long());
        let number = drawn(
            random.below(2) == 0,
            low + random.below((high - low + 1) as usize) as i32,
            fraction,
        );
        let mut case = maker.blank();
        let k = random.below(maker.signature.k);
        maker.product(&mut case, k, number, other, random);
        case
    }

    /// The rounding of products that explains answers to single products.
    fn explaining(&self, singles: Vec<usize>) -> Option<Setting> {
        let order: Vec<usize> = (0..self.signature.k).collect();
        let place = Place::First;
        let exact = shapes::chained(&self.signature, Step::Rounded, &order, order.len(), place)?;
        let count = singles.len();
        let search = Search {
            scope: singles,
            ..self.everything()
        };
        let failing = |program: &Program| Some(search.candidate(program)?.failing.len());
        let values = settings::domains(&self.signature, &exact);
        let values: Vec<Setting> = values.into_iter().flatten().collect();
        // A product that has too many bits for results is rounded as results are.
        let ends = values
            .iter()
            .filter(|value| matches!(value, Setting::End(_)));
        let ends = ends.filter_map(|end| failing(&end.apply(&exact, &self.signature)?));
        if ends.chain(failing(&exact)).min()? * ROUNDED < count {
            return None;
        }
        let values = values.into_iter();
        let roundings = values.filter(|value| {
            matches!(value, Setting::Of(_, Value::Rounded(..))) && value.is_of(&p::PRODUCTS)
        });
        let ranked = roundings.filter_map(|setting| {
            let failing = failing(&setting.apply(&exact, &self.signature)?)?;
            Some((failing, setting))
        });
        let (failing, best) = ranked.min_by_key(|(failing, _)| *failing)?;
        (failing * ODD <= count).then_some(best)
    }
}
