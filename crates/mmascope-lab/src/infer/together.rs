//! Searches pairs of parameters, where no single one and none of the known pairs explains more.

use super::run::Run;
use super::search::{Candidate, Search};
use super::settings::{Setting, domains, products_only};
use crate::dpa::schema::{Value, parameters as p};

/// Floors of the exponent that are tried in a pair: near the one in use, and those of formats.
const NEAR: i32 = 12;
const USUAL_FLOORS: [i32; 10] = [-149, -139, -133, -128, -127, -126, -25, -24, -15, -14];

impl Run<'_> {
    /// The candidate with pairs of parameters changed, each followed by a climb, as long as that explains more.
    pub(super) fn paired(&self, mut best: Candidate) -> Candidate {
        let search = self.everything();
        while !best.failing.is_empty() && !self.cpu_limit.is_over() {
            match search.with_two(&best) {
                Some(better) => best = search.climb(better),
                None => break,
            }
        }
        best
    }
}

impl Search<'_> {
    /// The best program with two parameters changed, if it fails less often.
    fn with_two(&self, best: &Candidate) -> Option<Candidate> {
        let program = best.unit.program();
        let mut settings = domains(&self.signature, program);
        settings.extend(products_only(program));
        // Swaps are searched in another way.
        settings.retain(|settings| settings.first().is_some_and(|it| it.name() != "swap"));
        let own = self.floor(best);
        for settings in &mut settings {
            settings.retain(|setting| is_near(setting, own));
        }
        let mut found: Option<Candidate> = None;
        for (place, firsts) in settings.iter().enumerate() {
            for first in firsts {
                let Some(changed) = first.apply(program, &self.signature) else {
                    continue;
                };
                if changed == *program {
                    continue;
                }
                let seconds = settings[place + 1..].iter().flatten();
                let variants = seconds.filter_map(|second| second.apply(&changed, &self.signature));
                let bound = found.as_ref().unwrap_or(best);
                if bound.failing.is_empty() || self.cpu_limit.is_over() {
                    return found;
                }
                if let Some(better) = self.better(bound, variants.collect()) {
                    found = Some(better);
                }
            }
        }
        found
    }

    /// The first floor of the exponent in a candidate.
    fn floor(&self, best: &Candidate) -> Option<i32> {
        let parameters = best.unit.program().parameters();
        let mut own = parameters.iter().filter(|own| own.name == p::E0.symbol);
        own.find_map(|own| own.value.parse().ok())
    }
}

/// Whether a value is no floor of the exponent, or one that is tried in a pair.
fn is_near(setting: &Setting, own: Option<i32>) -> bool {
    match *setting {
        Setting::Of(_, Value::Number(floor)) if setting.is_of(&p::E0) => {
            USUAL_FLOORS.contains(&floor) || own.is_some_and(|own| (own - floor).abs() <= NEAR)
        }
        _ => true,
    }
}
