//! Climbing: from a program towards one that gives every answer of the device.

use super::asker::Asked;
use super::patience::Patience;
use super::settings::{ALIGNMENTS, FLUSHES, Part, ROUNDINGS, Setting, domains};
use crate::dpa::{Groups, Program, Signature, Unit};
use crate::format::Rounding;

/// Failing questions on which variants are compared first.
const SAMPLE: usize = 48;
/// So few failures that they do not rank variants.
const FEW: usize = 12;
/// Answers that are remembered as telling.
const TELLING: usize = 32;
/// Variants that are compared on every question.
const SHORT_LIST: usize = 12;

/// A unit with the questions that it answers otherwise than the device.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) unit: Unit,
    /// Places among the asked.
    pub(crate) failing: Vec<usize>,
}

/// What candidates are compared on.
pub(crate) struct Search<'a> {
    pub(crate) asked: &'a [Asked],
    /// The questions that count.
    pub(crate) scope: Vec<usize>,
    pub(crate) signature: Signature,
    /// No further sweep is begun after this.
    pub(crate) patience: Patience,
    /// Whether uncommon parameters are left as they are.
    pub(crate) usual: bool,
}

/// Settings that are changed together; every combination is a variant.
type Joint = Vec<Vec<Setting>>;

impl Search<'_> {
    fn unit(&self, program: Program) -> Option<Unit> {
        Unit::new(self.signature, program).ok()
    }

    /// A program with its failures.
    pub(crate) fn candidate(&self, program: &Program) -> Option<Candidate> {
        let unit = self.unit(program.clone())?;
        let fails = |&&place: &&usize| !self.asked[place].fits(&unit);
        let failing = self.scope.iter().filter(fails).copied().collect();
        Some(Candidate { unit, failing })
    }

    /// The best of the variants, if it fails less often.
    fn better(&self, best: &Candidate, variants: Vec<Program>) -> Option<Candidate> {
        let step = best.failing.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<usize> = best.failing.iter().copied().step_by(step).collect();
        // A few failures do not rank the variants: then all that mend one of them are compared.
        let few = sample.len() <= FEW;
        let mut list: Vec<(usize, Unit)> = Vec::new();
        for program in variants {
            if program == *best.unit.program() {
                continue;
            }
            let Some(unit) = self.unit(program) else {
                continue;
            };
            let bound = list
                .get(SHORT_LIST - 1)
                .filter(|_| !few)
                .map_or(sample.len(), |(left, _)| *left);
            let mut left = 0;
            for &place in &sample {
                left += usize::from(!self.asked[place].fits(&unit));
                if left >= bound {
                    break;
                }
            }
            if left < bound {
                let at = list.partition_point(|(other, _)| *other <= left);
                list.insert(at, (left, unit));
                if !few {
                    list.truncate(SHORT_LIST);
                }
            }
        }
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

    /// The failures of a unit, if they are fewer than `bound`; those of `best` are looked at first.
    fn failing_below(
        &self,
        unit: &Unit,
        best: &Candidate,
        bound: usize,
        telling: &mut Vec<usize>,
    ) -> Option<Vec<usize>> {
        let fails = |place: &usize| !self.asked[*place].fits(unit);
        let mut failing: Vec<usize> = Vec::new();
        for place in &best.failing {
            if fails(place) {
                failing.push(*place);
                if failing.len() >= bound {
                    return None;
                }
            }
        }
        if failing.len() + telling.iter().filter(|place| fails(place)).count() >= bound {
            return None;
        }
        let hard = failing.len();
        for place in &self.scope {
            if best.failing.binary_search(place).is_err() && fails(place) {
                failing.push(*place);
                if failing.len() >= bound {
                    let new = failing[hard..]
                        .iter()
                        .filter(|place| !telling.contains(place));
                    let new: Vec<usize> = new.copied().collect();
                    telling.extend(new);
                    telling.truncate(TELLING);
                    return None;
                }
            }
        }
        failing.sort_unstable();
        Some(failing)
    }

    fn sweep(&self, best: &mut Candidate, joint: &Joint) -> bool {
        if best.failing.is_empty() || self.patience.is_over() {
            return false;
        }
        let mut variants = vec![best.unit.program().clone()];
        for settings in joint {
            let mut more = Vec::new();
            for program in &variants {
                for setting in settings {
                    more.extend(setting.apply(program, &self.signature));
                }
            }
            if more.is_empty() {
                return false;
            }
            variants = more;
        }
        match self.better(best, variants) {
            Some(better) => {
                *best = better;
                true
            }
            None => false,
        }
    }

    /// Alignment and rounding alone: what tells shapes apart.
    pub(crate) fn rough(&self, program: &Program) -> Option<Candidate> {
        let mut best = self.candidate(program)?;
        let bits = (8..=44).step_by(3).map(Some).chain([None]);
        let mut joint = vec![
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
        joint.retain(|settings: &Vec<Setting>| {
            let applies = |setting: &Setting| setting.apply(program, &self.signature).is_some();
            settings.iter().any(applies)
        });
        self.sweep(&mut best, &joint);
        Some(best)
    }

    /// Changes one parameter at a time, always the one that helps most; pairs that hide each other
    /// only when none does.
    pub(crate) fn climb(&self, mut best: Candidate) -> Candidate {
        for _ in 0..24 {
            if best.failing.is_empty() || self.patience.is_over() {
                break;
            }
            let mut domains = domains(&self.signature, best.unit.program());
            // Of two that help alike the usual one is taken.
            domains.retain(|settings| {
                !self.usual
                    || settings
                        .first()
                        .is_some_and(|setting| !setting.is_uncommon())
            });
            domains.sort_by_key(|settings| settings.first().is_some_and(Setting::is_uncommon));
            let mut next: Option<Candidate> = None;
            for settings in &domains {
                let bound = next.as_ref().unwrap_or(&best);
                let program = best.unit.program();
                let whole = settings.iter();
                let whole = whole.filter_map(|setting| setting.apply(program, &self.signature));
                let mut variants: Vec<Program> = whole.collect();
                // What becomes of results between steps is often another matter than at the end, and a
                // parameter of all steps that explains some of it would lead astray.
                let of_results = matches!(
                    settings.first(),
                    Some(Setting::Overflow(_) | Setting::Zero(_) | Setting::FlushOut(_))
                );
                if of_results && !self.usual {
                    variants.extend(self.variants_of_parts(&best, settings));
                }
                if let Some(better) = self.better(&best, variants)
                    && better.failing.len() < bound.failing.len()
                {
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
            let mut joints = joints(&domains, self.usual);
            let mut joined = best.clone();
            if !joints.any(|joint| self.sweep(&mut joined, &joint)) {
                match next {
                    Some(next) => best = next,
                    None => break,
                }
            } else {
                best = joined;
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
        for settings in domains {
            let variants = self.variants_of_parts(best, settings);
            let bound = found.as_ref().unwrap_or(best).failing.len();
            let better = self.better(best, variants);
            if let Some(better) = better.filter(|better| better.failing.len() < bound) {
                found = Some(better);
            }
        }
        found
    }
}

/// What is changed together.
fn joints(domains: &[Vec<Setting>], usual: bool) -> impl Iterator<Item = Joint> {
    let of = |name: &str| -> Vec<Setting> {
        let own = |setting: &&Setting| setting.name() == name;
        domains.iter().flatten().filter(own).copied().collect()
    };
    let bits = |from: u32, to: u32| (from..=to).map(Setting::Fc).collect::<Vec<_>>();
    let second = (10..=48).map(|bits| Setting::F2(Some(bits))).collect();
    // Floors at which the end of the range of f32 and of f16 is rounded once more.
    let near = |setting: &Setting| {
        let around = |floor: i32| (-150..=-114).contains(&floor) || (-36..=4).contains(&floor);
        matches!(*setting, Setting::E0(floor) if floor.is_none_or(around))
    };
    let floors: Vec<Setting> = of("e0").into_iter().filter(near).collect();
    let everywhere = ROUNDINGS[..8].iter().copied().map(Setting::Everywhere);
    let f = || (4..=48).map(|f| Setting::F(Some(f))).collect::<Vec<_>>();
    // What looks like the alignment of all may be that of groups; and its bits may hide theirs.
    let within = (2..=64).flat_map(|g| {
        let kinds = [(false, false), (false, true), (true, false), (true, true)];
        kinds.into_iter().flat_map(move |(strided, drops_zero)| {
            let groups = Groups {
                g,
                strided,
                f: None,
                align: Rounding::Rz,
                normalised: false,
                drops_zero,
            };
            [Some(24), Some(28), Some(32), Some(40), None].map(|f| Setting::Within(groups, f))
        })
    });
    let within: Vec<Setting> = within.collect();
    let of_groups =
        |settings: &&Vec<Setting>| matches!(settings[..], [Setting::Groups(Some(_)), ..]);
    let in_groups = domains.iter().find(of_groups).into_iter().flatten();
    let in_groups = in_groups.copied().filter(|setting| {
        matches!(setting, Setting::Groups(Some(groups)) if groups.f.is_none_or(|f| (8..=40).contains(&f)))
    });
    let in_groups: Vec<Setting> = in_groups.collect();
    vec![
        // A second floor may have stood for what the groups explain.
        vec![in_groups.clone(), vec![Setting::F2(None)]],
        alignment(1..=64),
        vec![bits(4, 50), ALIGNMENTS.map(Setting::AlignC).to_vec()],
        vec![
            ALIGNMENTS.map(Setting::Align).to_vec(),
            ALIGNMENTS.map(Setting::AlignC).to_vec(),
        ],
        vec![of("flush-in"), of("flush-of"), of("flush-c")],
        vec![of("flush-in"), of("flush-c"), of("flush")],
        vec![of("flush-in"), of("flush-c"), of("flush-products")],
        vec![f(), of("round-c")],
        vec![f(), of("operands")],
        vec![of("rounding-between"), ROUNDINGS.map(Setting::End).to_vec()],
        vec![
            ROUNDINGS.map(Setting::Everywhere).to_vec(),
            of("rounding-chains"),
        ],
        vec![floors.clone(), everywhere.collect()],
        vec![f(), floors],
        vec![of("overflow"), of("zero")],
        vec![of("overflow"), of("product-limit")],
        // Before products are rounded there is no flush of them among the domains.
        vec![of("products"), FLUSHES.map(Setting::FlushProducts).to_vec()],
        vec![of("products"), of("product-limit")],
        vec![f(), of("rounding-between")],
        vec![f(), of("groups")],
        vec![of("sticky"), ROUNDINGS.map(Setting::Everywhere).to_vec()],
        vec![within.clone()],
        vec![within, vec![Setting::F2(None)]],
        vec![
            in_groups,
            f(),
            ALIGNMENTS[..4]
                .iter()
                .copied()
                .map(Setting::Align)
                .collect(),
        ],
        vec![second, ALIGNMENTS.map(Setting::Floor).to_vec()],
    ]
    .into_iter()
    .filter(move |joint| {
        let allowed = |setting: &Setting| !usual || !setting.is_uncommon();
        let first = |settings: &Vec<Setting>| settings.first().is_some_and(allowed);
        joint.iter().all(first)
    })
}

/// F, its rounding and the rounding of results.
fn alignment(bits: std::ops::RangeInclusive<u32>) -> Joint {
    vec![
        bits.map(Some).chain([None]).map(Setting::F).collect(),
        ALIGNMENTS.map(Setting::Align).to_vec(),
        ROUNDINGS[..8]
            .iter()
            .map(|&rounding| Setting::Everywhere(rounding))
            .collect(),
    ]
}
