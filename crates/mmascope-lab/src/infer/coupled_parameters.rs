//! Lists parameters that hide each other, which the search therefore changes together.

use super::settings::{ALIGNMENTS, ROUNDINGS, Setting};
use crate::dpa::schema::{Parameter, Value, parameters as p};
use crate::dpa::{Dpa, Fused, General, Groups, Operation, Program, Start};

/// Parameters that are changed together, each with its values; every combination is a variant.
pub(super) type Coupled = Vec<Vec<Setting>>;

/// So near to a floor is another one beside it.
const BESIDE: i32 = 4;

/// Lists the groups of parameters that are changed together.
pub(super) fn coupled_parameters(
    program: &Program,
    domains: &[Vec<Setting>],
    usual: bool,
) -> impl Iterator<Item = Coupled> + use<> {
    let named = |name: &str| -> Vec<Setting> {
        let own = |setting: &&Setting| setting.name() == name;
        domains.iter().flatten().filter(own).copied().collect()
    };
    let of = |parameter: &Parameter| named(parameter.symbol);
    let of_c = || {
        ALIGNMENTS
            .map(|align| Setting::of(&p::ALIGN_C, Value::Rounding(align)))
            .to_vec()
    };
    let floor = |floor| Setting::of(&p::FLOOR, Value::Rounding(floor));
    let of_bits = || (4..=50).map(|bits| Setting::number(&p::FC, bits)).collect();
    let second = (10..=48).map(|bits| Setting::number(&p::F2, bits));
    // Floors at which the end of the range of f32 and of f16 is rounded once more.
    let near = |setting: &Setting| {
        let around = |floor: i32| (-150..=-114).contains(&floor) || (-36..=4).contains(&floor);
        !matches!(*setting, Setting::Of(_, Value::Number(floor)) if !around(floor))
    };
    let floors: Vec<Setting> = of(&p::E0).into_iter().filter(near).collect();
    // A floor one lower with one bit of c less leaves c's last place at the floor where it was.
    let own = program.parameters();
    let own = own.iter().find(|own| own.name == p::E0.symbol);
    let own: Option<i32> = own.and_then(|own| own.value.parse().ok());
    let beside = |setting: &Setting| match *setting {
        Setting::Of(_, Value::Number(floor)) => {
            own.is_some_and(|own| (own - floor).abs() <= BESIDE)
        }
        _ => false,
    };
    let beside: Vec<Setting> = of(&p::E0).into_iter().filter(beside).collect();
    let everywhere = ROUNDINGS[..8].iter().copied().map(Setting::Everywhere);
    let f = || (4..=48).map(|f| Setting::F(Some(f))).collect::<Vec<_>>();
    // An alignment that seems to be that of all terms may be that of groups, and its bits may hide theirs.
    let within = (2..=64).flat_map(|g| {
        let kinds = [(false, false), (false, true), (true, false), (true, true)];
        kinds.into_iter().flat_map(move |(strided, drops_zero)| {
            let groups = Groups {
                strided,
                drops_zero,
                ..Groups::exact(g)
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
    // The search may have used a second floor to explain what groups cause. Without such a floor, groups alone would be
    // tried here, and the first that explain a little would be taken.
    let no_floor: Vec<Setting> = match has_floor(program) {
        true => vec![Setting::none(&p::F2)],
        false => Vec::new(),
    };
    let beginnings = [Start::Zero, Start::Product].map(Setting::Beginning);
    let beginnings = beginnings.to_vec();
    vec![
        vec![in_groups.clone(), no_floor.clone()],
        alignment(1..=64),
        vec![f(), ALIGNMENTS.map(Setting::Align).to_vec(), of(&p::STICKY)],
        vec![of_bits(), of_c()],
        vec![ALIGNMENTS.map(Setting::Align).to_vec(), of_c()],
        vec![of(&p::FLUSH_IN), of(&p::FLUSH_OF), of(&p::FLUSH_C)],
        vec![of(&p::FLUSH_IN), of(&p::FLUSH_C), of(&p::FLUSH_RESULT)],
        vec![of(&p::FLUSH_IN), of(&p::FLUSH_C), of(&p::FLUSH_PRODUCTS)],
        // A zero that is added keeps its sign only if all these say so.
        vec![
            beginnings,
            of(&p::FLUSH_C),
            of(&p::FLUSH_RESULT),
            of(&p::ZERO),
        ],
        vec![f(), of(&p::ROUND_C)],
        vec![f(), of(&p::OPERANDS)],
        vec![
            named("rounding-between"),
            ROUNDINGS.map(Setting::End).to_vec(),
        ],
        vec![
            ROUNDINGS.map(Setting::Everywhere).to_vec(),
            named("rounding-chains"),
        ],
        vec![floors.clone(), everywhere.collect()],
        vec![f(), floors],
        vec![of(&p::OVERFLOW), of(&p::ZERO)],
        vec![of(&p::OVERFLOW), of(&p::PRODUCT_LIMIT)],
        // Before products are rounded there is no flush of them among the domains.
        vec![of(&p::PRODUCTS), Setting::all(&p::FLUSH_PRODUCTS)],
        vec![of(&p::PRODUCTS), of(&p::PRODUCT_LIMIT)],
        // Any limit of products. As a change of its own it would be searched in every unit; there only usual limits are.
        vec![
            (1..=64)
                .map(|at| Setting::number(&p::PRODUCT_LIMIT, at))
                .collect(),
        ],
        vec![f(), named("rounding-between")],
        vec![f(), of(&p::GROUPS)],
        vec![of(&p::STICKY), ROUNDINGS.map(Setting::Everywhere).to_vec()],
        vec![within.clone()],
        vec![within, no_floor],
        vec![
            in_groups,
            f(),
            ALIGNMENTS[..4]
                .iter()
                .copied()
                .map(Setting::Align)
                .collect(),
        ],
        vec![second.collect(), ALIGNMENTS.map(floor).to_vec()],
        vec![of_bits(), beside],
    ]
    .into_iter()
    .filter(move |coupled| {
        let allowed = |setting: &Setting| !usual || !setting.is_uncommon();
        let first = |settings: &Vec<Setting>| settings.first().is_some_and(allowed);
        coupled.iter().all(first)
    })
}

/// Whether a step has a second floor (F2): it cuts its sum to a number of the sum's own bits.
fn has_floor(program: &Program) -> bool {
    program.statements.iter().any(|statement| {
        matches!(
            statement.operation,
            Operation::Dot {
                algorithm: Dpa::General(General::Fused(Fused { f2: Some(_), .. })),
                ..
            }
        )
    })
}

/// F, its rounding and the rounding of results.
fn alignment(bits: std::ops::RangeInclusive<u32>) -> Coupled {
    vec![
        bits.map(Some).chain([None]).map(Setting::F).collect(),
        ALIGNMENTS.map(Setting::Align).to_vec(),
        ROUNDINGS[..8]
            .iter()
            .map(|&rounding| Setting::Everywhere(rounding))
            .collect(),
    ]
}
