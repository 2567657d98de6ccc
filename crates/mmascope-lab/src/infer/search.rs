//! Climbs from a program towards one that gives every answer of the device, one parameter at a time.

use super::asker::Asked;
use super::coupled_parameters::{Coupled, coupled_parameters};
use super::cpu_limit::CpuLimit;
use super::parallel;
use super::settings::{ALIGNMENTS, Part, ROUNDINGS, Setting, domains, products_only};
use crate::dpa::{Dpa, Fused, General, Groups, Operation, Program, Signature, Statement, Unit};
use crate::format::Rounding;

/// Variants are first compared on so many failing questions.
const SAMPLE: usize = 48;
/// On so many where starts are only ranked.
const SAMPLE_OF_RANKING: usize = 24;
/// Below this many failures, ranking is unreliable.
const FEW: usize = 12;
/// So many answers that told variants apart are remembered.
const TELLING: usize = 32;
/// So many variants are compared on every question.
const SHORT_LIST: usize = 12;
/// So many where starts are only ranked.
const SHORT_LIST_OF_RANKING: usize = 4;

/// A brief search skips a group of coupled parameters with more combinations than this.
const MOST_WHEN_BRIEF: usize = 2_100;

/// A unit with the questions that it answers differently from the device.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) unit: Unit,
    /// Places of these questions.
    pub(crate) failing: Vec<usize>,
}

/// The questions and limits with which candidates are compared.
pub(crate) struct Search<'a> {
    pub(crate) asked: &'a [Asked],
    /// The questions that count.
    pub(crate) scope: Vec<usize>,
    pub(crate) signature: Signature,
    /// The time after which no further sweep begins.
    pub(crate) cpu_limit: CpuLimit,
    /// Whether uncommon parameters are left as they are.
    pub(crate) usual: bool,
    /// How much is tried before it gives up.
    pub(crate) effort: Effort,
}

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// As much as it takes to see which start is nearer than others.
    Ranking,
    /// Parameters are changed together only where that takes few programs.
    Brief,
    /// Everything that there is.
    Whole,
}

impl Search<'_> {
    /// Whether nothing is tried that takes long.
    pub(super) fn is_brief(&self) -> bool {
        self.effort != Effort::Whole
    }

    pub(super) fn unit(&self, program: Program) -> Option<Unit> {
        Unit::new(self.signature, program).ok()
    }

    /// A program with its failures.
    pub(crate) fn candidate(&self, program: &Program) -> Option<Candidate> {
        let unit = self.unit(program.clone())?;
        let fails = |&place: &usize| !self.asked[place].fits(&unit);
        let failing = parallel::matching(&self.scope, usize::MAX, fails);
        Some(Candidate { unit, failing })
    }

    /// The best of the variants, if it fails less often.
    pub(super) fn better(&self, best: &Candidate, variants: Vec<Program>) -> Option<Candidate> {
        let (sample, short) = match self.effort {
            Effort::Ranking => (SAMPLE_OF_RANKING, SHORT_LIST_OF_RANKING),
            Effort::Brief | Effort::Whole => (SAMPLE, SHORT_LIST),
        };
        let step = best.failing.len().div_ceil(sample).max(1);
        let sample: Vec<usize> = best.failing.iter().copied().step_by(step).collect();
        // Few failures cannot rank the variants. Then all variants that mend one of them are compared.
        let few = sample.len() <= FEW;
        let short = if few { usize::MAX } else { short };
        let own = best.unit.program();
        let others = variants.into_iter().filter(|other| other != own);
        let pieces = parallel::pieces(others.collect());
        let ranked = parallel::each(pieces, 1, |some| self.ranked(some, &sample, short));
        let mut list: Vec<(usize, Unit)> = ranked.concat();
        list.sort_by_key(|(left, _)| *left);
        list.truncate(short);
        let mut found: Option<Candidate> = None;
        // Answers that other variants fail on.
        let mut telling: Vec<usize> = Vec::new();
        for (_, unit) in list {
            let bound = found.as_ref().unwrap_or(best).failing.len();
            if let Some(failing) = self.failing_below(&unit, best, bound, &mut telling) {
                found = Some(Candidate { unit, failing });
            }
        }
        found
    }

    /// The variants that fail on fewest questions of a sample, if not on all, with how many these are; at most `short`.
    fn ranked(&self, variants: Vec<Program>, sample: &[usize], short: usize) -> Vec<(usize, Unit)> {
        let mut list: Vec<(usize, Unit)> = Vec::new();
        for program in variants {
            let Some(unit) = self.unit(program) else {
                continue;
            };
            let last = short.checked_sub(1).and_then(|last| list.get(last));
            let bound = last.map_or(sample.len(), |(left, _)| *left);
            let mut left = 0;
            for &place in sample {
                left += usize::from(!self.asked[place].fits(&unit));
                if left >= bound {
                    break;
                }
            }
            if left < bound {
                let at = list.partition_point(|(other, _)| *other <= left);
                list.insert(at, (left, unit));
                list.truncate(short);
            }
        }
        list
    }

    /// The failures of a unit, if they are fewer than `bound`; those of `best` are looked at first.
    fn failing_below(
        &self,
        unit: &Unit,
        best: &Candidate,
        bound: usize,
        telling: &mut Vec<usize>,
    ) -> Option<Vec<usize>> {
        let fails = |place: &usize| !self.asked[*place].fits(unit);
        let mut failing = parallel::matching(&best.failing, bound, fails);
        let hard = failing.len();
        if hard >= bound || hard + telling.iter().filter(|place| fails(place)).count() >= bound {
            return None;
        }
        let fails_too = |place: &usize| best.failing.binary_search(place).is_err() && fails(place);
        failing.extend(parallel::matching(&self.scope, bound - hard, fails_too));
        if failing.len() >= bound {
            failing.drain(..hard);
            failing.retain(|place| !telling.contains(place));
            telling.extend(failing);
            telling.truncate(TELLING);
            return None;
        }
        failing.sort_unstable();
        Some(failing)
    }

    /// The best program with values of these parameters, if it fails less often.
    fn sweep(&self, best: &Candidate, coupled: &Coupled) -> Option<Candidate> {
        if best.failing.is_empty() || self.cpu_limit.is_over() {
            return None;
        }
        let mut variants = vec![best.unit.program().clone()];
        for settings in coupled {
            let mut more = Vec::new();
            for program in &variants {
                for setting in settings {
                    more.extend(setting.apply(program, &self.signature));
                }
            }
            if more.is_empty() {
                return None;
            }
            variants = more;
        }
        self.better(best, variants)
    }

    /// Searches alignment and rounding alone, which is enough to tell shapes apart.
    pub(crate) fn rough(&self, program: &Program) -> Option<Candidate> {
        let mut best = self.candidate(program)?;
        let bits = (8..=44).step_by(3).map(Some).chain([None]);
        let mut coupled = vec![
            bits.map(Setting::F).collect(),
            ALIGNMENTS[..4]
                .iter()
                .map(|&align| Setting::Align(align))
                .collect(),
            [Rounding::Rz, Rounding::Rne]
                .map(Setting::Everywhere)
                .to_vec(),
        ];
        // Rounded sums have no alignment, only roundings.
        coupled.retain(|settings: &Vec<Setting>| {
            let applies = |setting: &Setting| setting.apply(program, &self.signature).is_some();
            settings.iter().any(applies)
        });
        let mut sweep = |coupled: &Coupled| {
            let better = self.sweep(&best, coupled);
            let helps = better.is_some();
            if let Some(better) = better {
                best = better;
            }
            helps
        };
        sweep(&coupled);
        let roundings = ROUNDINGS[2..].iter().copied().map(Setting::Everywhere);
        if sweep(&vec![roundings.collect()]) {
            // The bits that were found under another rounding are hardly the right ones.
            coupled.truncate(1);
            coupled.push(ALIGNMENTS.map(Setting::Align).to_vec());
            sweep(&coupled);
        }
        if let Some(own) = groups(program) {
            // Groups with fewer bits than the sum hide the sum's bits, and the sum hides theirs.
            let bits = (8..=44).step_by(3).map(Some).chain([None]);
            let groups = bits.map(|f| Setting::Groups(Some(Groups { f, ..own })));
            sweep(&vec![groups.collect()]);
            sweep(&coupled);
        }
        Some(best)
    }

    /// Changes one parameter at a time, always the one that helps most. Parameters that hide each other are changed together
    /// only when no single one helps.
    pub(crate) fn climb(&self, mut best: Candidate) -> Candidate {
        for _ in 0..24 {
            if best.failing.is_empty() || self.cpu_limit.is_over() {
                break;
            }
            let mut domains = domains(&self.signature, best.unit.program());
            domains.extend(products_only(best.unit.program()));
            // Of two changes that help equally the usual one is taken.
            domains.retain(|settings| {
                !self.usual
                    || settings
                        .first()
                        .is_some_and(|setting| !setting.is_uncommon())
            });
            domains.sort_by_key(|settings| settings.first().is_some_and(Setting::is_uncommon));
            let mut next: Option<Candidate> = None;
            let of_domain = |settings: &Vec<Setting>| {
                let program = best.unit.program();
                let whole = settings.iter();
                let whole = whole.filter_map(|setting| setting.apply(program, &self.signature));
                let mut variants: Vec<Program> = whole.collect();
                // Results between steps are often treated otherwise than at the end, and a parameter of all
                // steps that explains a part would lead astray.
                let of_results = settings.first().is_some_and(Setting::is_of_results);
                if of_results && !self.usual {
                    variants.extend(self.variants_of_parts(&best, settings));
                }
                self.better(&best, variants)
            };
            for better in parallel::each(domains.iter().collect(), 1, of_domain)
                .into_iter()
                .flatten()
            {
                let bound = next.as_ref().unwrap_or(&best);
                if better.failing.len() < bound.failing.len() {
                    next = Some(better);
                }
            }
            // A small gain may lead astray where two parameters belong together.
            let helps = |next: &Candidate| next.failing.len() * 10 < best.failing.len() * 9;
            if let Some(next) = next.as_ref().filter(|next| helps(next)) {
                best = next.clone();
                continue;
            }
            // The last step, or those before it, may differ from the others.
            if let Some(part) = self.of_parts(&best, &domains).filter(|part| helps(part)) {
                best = part;
                continue;
            }
            // Of several that belong together the first that helps, or the best.
            for coupled in coupled_parameters(best.unit.program(), &domains, self.usual) {
                let programs: usize = coupled.iter().map(Vec::len).product();
                if self.is_brief() && programs > MOST_WHEN_BRIEF {
                    continue;
                }
                let Some(swept) = self.sweep(&best, &coupled) else {
                    continue;
                };
                let bound = next.as_ref().unwrap_or(&best).failing.len();
                if swept.failing.len() < bound {
                    let is_enough = helps(&swept);
                    next = Some(swept);
                    if is_enough {
                        break;
                    }
                }
            }
            let other = || {
                let shaped = self.reshaped(&best).or_else(|| self.parted(&best));
                let ordered = shaped.or_else(|| self.reordered(&best));
                ordered.or_else(|| self.regrouped(&best))
            };
            match next.or_else(other) {
                Some(next) => best = next,
                None => break,
            }
        }
        best
    }
}

impl Search<'_> {
    /// The programs with a parameter changed in the last step, or in those before it.
    fn variants_of_parts(&self, best: &Candidate, settings: &[Setting]) -> Vec<Program> {
        let (program, signature) = (best.unit.program(), &self.signature);
        Part::all(program)
            .flat_map(|part| {
                let of = move |setting: &Setting| setting.apply_to(part, program, signature);
                settings.iter().filter_map(of)
            })
            .collect()
    }

    /// The best program that has a parameter changed in a part of its statements.
    fn of_parts(&self, best: &Candidate, domains: &[Vec<Setting>]) -> Option<Candidate> {
        let mut found: Option<Candidate> = None;
        if self.usual {
            return found;
        }
        let of_domain =
            |settings: &Vec<Setting>| self.better(best, self.variants_of_parts(best, settings));
        for better in parallel::each(domains.iter().collect(), 1, of_domain)
            .into_iter()
            .flatten()
        {
            let bound = found.as_ref().unwrap_or(best).failing.len();
            if better.failing.len() < bound {
                found = Some(better);
            }
        }
        found
    }
}

/// The groups of a program of one statement. (Programs that add several accumulators rarely have groups.)
fn groups(program: &Program) -> Option<Groups> {
    match program.statements[..] {
        [
            Statement {
                operation:
                    Operation::Dot {
                        algorithm: Dpa::General(General::Fused(Fused { groups, .. })),
                        ..
                    },
                ..
            },
        ] => groups,
        _ => None,
    }
}
