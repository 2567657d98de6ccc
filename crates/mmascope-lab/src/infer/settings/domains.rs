//! The values that the search tries for each parameter.

use super::apply::adds_chains;
use super::{ALIGNMENTS, IN_GROUPS, ROUNDINGS, Setting};
use crate::dpa::schema::{PARAMETERS, Parameter, ShownBy, Value, parameters as p};
use crate::dpa::{
    AddMul, Codes, Dpa, Fused, General, GroupExponent, Groups, Operation, Program, Signature,
    Start, Statement, Tininess, ZeroSign,
};
use crate::format::{BF16, E8M13, E11M23, F16, F32, F64, Format, Rounding, TF32};
use crate::infer::maker::Maker;

/// The most fraction bits that are tried.
const MOST_BITS: u32 = 64;

/// Formats that a unit may round to on the way; of those that are wider than f32, where results are f32, the first has its precision
/// and more range, the second more of both.
fn formats(signature: &Signature) -> Vec<Format> {
    let mut formats = vec![signature.d];
    let wider = match signature.d.container() == F32 {
        true => &[E11M23, F64][..],
        false => &[],
    };
    let narrower = [F32, E8M13, TF32, BF16, F16];
    for format in narrower.into_iter().chain(wider.iter().copied()) {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    formats
}

/// Roundings to formats with fewer fraction bits.
fn narrower(format: &Format) -> impl Iterator<Item = (Rounding, Format)> {
    let bits = |format: &Format| format.float().map_or(0, |float| float.fraction_bits);
    let own = bits(format);
    let formats = [E8M13, TF32, F16, BF16]
        .into_iter()
        .filter(move |format| bits(format) < own);
    formats.flat_map(|format| {
        [Rounding::Rz, Rounding::Rne, Rounding::Rna].map(|rounding| (rounding, format))
    })
}

/// Formats with smaller normal numbers: what is widened first counts by the exponent of its leading bit, if it is
/// subnormal.
fn wider(format: &Format) -> impl Iterator<Item = (Rounding, Format)> {
    let range = |format: &Format| {
        format
            .float()
            .map(|float| (float.emin(), float.fraction_bits))
    };
    let own = range(format);
    let holds = move |wide: &Format| {
        let (own, wide) = own.zip(range(wide))?;
        Some(wide.0 < own.0 && wide.1 >= own.1)
    };
    let formats = [F16, F32].into_iter();
    let formats = formats.filter(move |wide| holds(wide).unwrap_or(false));
    formats.map(|format| (Rounding::Rne, format))
}

/// Whether a format has ∞ or NaN.
fn specials(format: &Format) -> bool {
    format.nan().is_some()
}

/// Exponents of groups, and whether zeros are dropped.
const KINDS: [(GroupExponent, bool); 3] = [
    (GroupExponent::Products, false),
    (GroupExponent::Own, false),
    (GroupExponent::Products, true),
];

/// Groups that are worth trying in a block of l.
fn groups(l: u32, f: Option<u32>) -> Vec<Option<Groups>> {
    let mut found = vec![None];
    for g in (2..=l).filter(|g| l.is_multiple_of(*g)) {
        for strided in [false, true] {
            if strided && g == l {
                continue;
            }
            let mut bits = vec![None, f];
            bits.extend(f.map(|f| Some(f + 1)));
            for bits in bits {
                for (exponent, drops_zero) in KINDS {
                    found.push(Some(Groups {
                        g,
                        strided,
                        f: bits,
                        align: Rounding::Rz,
                        exponent,
                        drops_zero,
                    }));
                }
            }
        }
    }
    found
}

/// The parameters that the search tries one by one.
fn searched() -> impl Iterator<Item = &'static Parameter> {
    let alone = |parameter: &&&'static Parameter| {
        let in_groups = IN_GROUPS.iter().any(|own| own.symbol == parameter.symbol);
        !in_groups && parameter.cost < Parameter::UNSEARCHED
    };
    PARAMETERS.iter().filter(alone).copied()
}

/// When a result counts as subnormal. The way that the usual programs have comes first; a row of the catalogue may have the third.
fn tininess(program: &Program) -> Vec<Setting> {
    let unbounded = |statement: &Statement| statement.output.tininess == Tininess::Unbounded;
    let mut ways = [Tininess::After, Tininess::Before, Tininess::Unbounded];
    if program.statements.iter().any(unbounded) {
        ways.rotate_right(1);
    }
    let words = p::TININESS.kind.words.iter();
    ways.iter()
        .filter_map(|way| words.clone().find(|known| **known == way.to_string()))
        .map(|word| Setting::of(&p::TININESS, Value::Word(word)))
        .collect()
}

/// Signs of zero. Under RD one of them is what IEEE 754 says; else another is.
fn zeros(program: &Program) -> Vec<Setting> {
    let is_down = |statement: &Statement| statement.output.rounding == Rounding::Rd;
    let same = match program.statements.iter().any(is_down) {
        true => ZeroSign::CommonMinus,
        false => ZeroSign::Common,
    };
    let mut all = Setting::all(&p::ZERO);
    all.retain(|setting| setting.value() != same.to_string());
    all
}

/// A rounding to one of these formats, or the word for none.
fn rounded(
    parameter: &'static Parameter,
    to: impl Iterator<Item = (Rounding, Format)>,
) -> Vec<Setting> {
    let to = to.map(|(rounding, format)| Value::Rounded(rounding, format));
    let to = to.map(|value| Setting::of(parameter, value));
    [Setting::none(parameter)].into_iter().chain(to).collect()
}

/// Every value of every parameter, parameter by parameter, for a program in the general form.
pub(crate) fn domains(signature: &Signature, program: &Program) -> Vec<Vec<Setting>> {
    let k = signature.k as u32;
    let fused = first_fused(program);
    let bits = || (1..=MOST_BITS).map(Some);
    let own = |parameter: &Parameter| {
        let value = fused.and_then(|fused| Dpa::from(fused).get(parameter.symbol));
        value.unwrap_or(Value::Word(""))
    };
    let of = |parameter| values(parameter, own(parameter), signature);
    let formats = formats(signature);
    // The likely ones first: of two that help equally the first one is taken.
    let mut found: Vec<Vec<Setting>> = vec![
        bits().chain([None]).map(Setting::F).collect(),
        ALIGNMENTS.map(Setting::Align).to_vec(),
        ROUNDINGS.map(Setting::End).to_vec(),
        of(&p::FC),
        of(&p::ALIGN_C),
        of(&p::F2),
        of(&p::FLOOR),
        // Roundings of products follow below.
        Setting::all(&p::PRODUCTS),
        of(&p::FLUSH_IN),
        of(&p::FLUSH_OF),
        of(&p::FLUSH_C),
        of(&p::FLUSH_RESULT),
        tininess(program),
        of(&p::E0),
        of(&p::L),
        of(&p::P),
        of(&p::ADDS),
        [Start::Zero, Start::Product]
            .map(Setting::Beginning)
            .to_vec(),
        of(&p::OVERFLOW),
        zeros(program),
        of(&p::G),
    ];
    let word = signature.d.container();
    let widths = [signature.d, word, E8M13, TF32];
    let widths = widths
        .into_iter()
        .filter(|format| format.container() == word);
    found.push(widths.map(Setting::Width).collect());
    let mut between = Vec::new();
    for &format in &formats {
        between.extend(ROUNDINGS.map(|rounding| Setting::Between(rounding, format)));
    }
    found.push(between);
    if adds_chains(program) {
        let chains = |&format: &Format| ROUNDINGS.map(|rounding| Setting::Chains(rounding, format));
        found.push(formats.iter().flat_map(chains).collect());
    }
    if specials(&signature.a) || specials(&signature.b) {
        let infinite = |format: &Format| Maker::infinity(format, false).is_some();
        let mut codes = Setting::all(&p::CODES);
        if !infinite(&signature.a) && !infinite(&signature.b) {
            codes.retain(|setting| setting.value() != Codes::Largest.to_string());
        }
        found.push(codes);
    }
    // What the longer operand loses.
    let kept = |format: &Format| format.float().map_or(0, |float| float.fraction_bits);
    let (a, b) = (&signature.a, &signature.b);
    let longer = if kept(b) > kept(a) { b } else { a };
    let operands = narrower(longer).chain(wider(longer));
    found.push(rounded(&p::OPERANDS, operands));
    let of_c = narrower(&signature.c).chain(wider(&signature.c));
    found.push(rounded(&p::ROUND_C, of_c));
    if let Some(fused) = fused {
        if let (Some(f), Some(e0)) = (fused.f, fused.e0) {
            let floored = |bits: u32| Setting::Floored(bits, e0 + bits as i32 - f as i32);
            found.push((1..=MOST_BITS).map(floored).collect());
        }
        if let Some(f) = fused.f.filter(|f| (2..MOST_BITS - 1).contains(f)) {
            let cut = |f2| Setting::Cut(f2, fused.align);
            found.push([f - 1, f, f + 1].map(cut).to_vec());
        }
        let specials = [&p::ZERO_TIMES_INF, &p::INF_MINUS_INF];
        found.extend(
            [&p::GRID, &p::STICKY]
                .into_iter()
                .chain(specials)
                .map(Setting::all),
        );
        if let Some(groups) = fused.groups.filter(|groups| groups.g < fused.l) {
            let count = fused.l.div_ceil(groups.g);
            let group = |place: u32| match groups.strided {
                true => place % fused.l % count,
                false => place % fused.l / groups.g,
            };
            let pairs = (0..k).flat_map(|i| (i + 1..k).map(move |j| (i, j)));
            let apart = pairs.filter(|&(i, j)| i / fused.l == j / fused.l && group(i) != group(j));
            found.push(
                apart
                    .map(|(i, j)| Setting::Swap(i as usize, j as usize))
                    .collect(),
            );
        }
        found.push(
            groups(fused.l.min(k), fused.f)
                .into_iter()
                .map(Setting::Groups)
                .collect(),
        );
        if let Some(own) = fused.groups {
            let with_f = bits().chain([None]).map(|f| Groups { f, ..own });
            let with_align = ALIGNMENTS.map(|align| Groups { align, ..own });
            let with_zero = [false, true].map(|drops_zero| Groups { drops_zero, ..own });
            // Both keep groups that cancel from raising the exponent.
            let with_exponent = KINDS.map(|(exponent, drops_zero)| Groups {
                exponent,
                drops_zero,
                ..own
            });
            // Bits that are rounded look like one more that is cut.
            let near = own.f.map_or(0..0, |f| f.saturating_sub(2).max(1)..f + 3);
            let with_both = near.flat_map(|f| {
                let align = move |align| Groups {
                    f: Some(f),
                    align,
                    ..own
                };
                ALIGNMENTS.map(align)
            });
            let all = with_f
                .chain(with_align)
                .chain(with_both)
                .chain(with_zero)
                .chain(with_exponent)
                .map(|groups| Setting::Groups(Some(groups)));
            found.push(all.collect());
        }
        // Limits that products reach: the usual ones, and those beside the one there is.
        let top = |format: &Format| format.decode(format.max_finite(false)).exponent;
        let reach = top(&signature.a) + top(&signature.b) + 1;
        let usual = [128, 127, 129, 16, 15, 17, 1024];
        let beside = fused.product_limit.into_iter();
        let beside = beside.flat_map(|limit| [limit - 1, limit, limit + 1]);
        let beside = beside.filter(|limit| !usual.contains(limit));
        let limits = usual.into_iter().chain(beside);
        let limits = limits.filter(|limit| *limit <= reach);
        let limits = limits.map(|limit| Setting::number(&p::PRODUCT_LIMIT, limit));
        let none = [Setting::none(&p::PRODUCT_LIMIT)].into_iter();
        found.push(none.chain(limits).collect());
    }
    let narrow = formats.into_iter().filter(|format| format.bits <= 32);
    let products = narrow.flat_map(|format| ROUNDINGS.map(|rounding| (rounding, format)));
    found.push(rounded(&p::PRODUCTS, products));
    if fused.is_none_or(|fused| fused.terms.products.is_some()) {
        found.push(of(&p::FLUSH_PRODUCTS));
    }
    // A row that nothing above names.
    let named = |found: &[Vec<Setting>], symbol: &str| {
        let mut first = found.iter().filter_map(|settings| settings.first());
        first.any(|setting| setting.name() == symbol)
    };
    for (parameter, own) in of_algorithms(program) {
        if !named(&found, parameter.symbol) {
            found.push(values(parameter, own, signature));
        }
    }
    for parameter in searched() {
        let step = fused.map_or_else(|| Dpa::from(AddMul::plain(1)), Dpa::from);
        let has_row = step.get(parameter.symbol).is_some();
        if has_row && !named(&found, parameter.symbol) {
            found.push(Setting::all(parameter));
        }
    }
    found
}

/// Changes F or its rounding for products only. [`Setting::F`] changes those of c as well while they are equal, so that a search which
/// has found the value of c first could not reach that of products.
pub(crate) fn products_only(program: &Program) -> Vec<Vec<Setting>> {
    let is_aligned = |statement: &Statement| {
        matches!(
            statement.operation,
            Operation::Dot {
                algorithm: Dpa::General(General::Fused(Fused { f: Some(_), .. })),
                ..
            }
        )
    };
    if !program.statements.iter().any(is_aligned) {
        return Vec::new();
    }
    let bits = (1..=MOST_BITS as i32).map(|bits| Setting::number(&p::F, bits));
    let roundings = ALIGNMENTS.map(|align| Setting::of(&p::ALIGN, Value::Rounding(align)));
    vec![bits.collect(), roundings.to_vec()]
}

/// Numbers of bits beside those in use that are tried of products alone.
const BESIDE: [i32; 4] = [-1, 1, 3, 6];

/// Changes of two parameters that nearly make up for each other: bits beside those in use with every rounding, and
/// [`normalised_or_widened`].
pub(crate) fn nearly_alike(signature: &Signature, program: &Program) -> Vec<[Setting; 2]> {
    let Some(fused) = first_fused(program) else {
        return Vec::new();
    };
    let more = |bits: u32, by: i32| {
        let bits = bits.checked_add_signed(by);
        bits.filter(|bits| (1..=MOST_BITS).contains(bits))
    };
    let beside = |bits: Option<u32>| {
        let both = |bits| [-1, 1].into_iter().filter_map(move |by| more(bits, by));
        bits.into_iter().flat_map(both)
    };
    let of =
        |parameter: &'static Parameter, rounding| Setting::of(parameter, Value::Rounding(rounding));
    let mut found = Vec::new();
    for rounding in ALIGNMENTS {
        let whole = beside(fused.f).map(|f| [Setting::F(Some(f)), Setting::Align(rounding)]);
        // Of products alone, c being as it is: with few digits they reach the grid beside a large c only. Where c has other
        // bits and another rounding, the pair above is the same.
        let apart = fused.f != fused.f_c && fused.align != fused.align_c;
        let alone = |by: &i32| !apart || by.abs() > 1;
        let of_products = BESIDE.into_iter().filter(alone);
        let of_products = of_products.filter_map(|by| more(fused.f?, by));
        let of_products = of_products.map(|f| {
            let bits = Setting::number(&p::F, f as i32);
            [bits, of(&p::ALIGN, rounding)]
        });
        let of_c = beside(fused.f_c).map(|f| {
            let bits = Setting::number(&p::FC, f as i32);
            [bits, of(&p::ALIGN_C, rounding)]
        });
        let of_sum = beside(fused.f2).map(|f| {
            let bits = Setting::number(&p::F2, f as i32);
            [bits, of(&p::FLOOR, rounding)]
        });
        found.extend(whole.chain(of_products).chain(of_c).chain(of_sum));
    }
    found.extend(normalised_or_widened(signature, &fused));
    found
}

/// Operands that are widened first in place of normalised products, and the other way round: both count a subnormal operand by its
/// leading bit.
pub(crate) fn normalised_or_widened(signature: &Signature, fused: &Fused) -> Vec<[Setting; 2]> {
    let Signature { a, b, .. } = signature;
    let holds = |own: &Format, wide: &Format| own == wide || wider(own).any(|(_, f)| f == *wide);
    let mut ways: Vec<Value> = Vec::new();
    for (rounding, format) in wider(a).chain(wider(b)) {
        let way = Value::Rounded(rounding, format);
        if holds(a, &format) && holds(b, &format) && !ways.contains(&way) {
            ways.push(way);
        }
    }
    let own = |parameter: &Parameter| Dpa::from(*fused).get(parameter.symbol);
    let normalised = Value::Word("normalised");
    if own(&p::PRODUCTS) == Some(normalised) {
        let operands = ways.into_iter().map(|way| Setting::of(&p::OPERANDS, way));
        let both = operands.map(|operands| [Setting::none(&p::PRODUCTS), operands]);
        return both.collect();
    }
    match own(&p::OPERANDS).filter(|operands| ways.contains(operands)) {
        Some(_) => {
            let products = Setting::of(&p::PRODUCTS, normalised);
            vec![[products, Setting::none(&p::OPERANDS)]]
        }
        None => Vec::new(),
    }
}

/// The first fused step of a program.
pub(crate) fn first_fused(program: &Program) -> Option<Fused> {
    let mut statements = program.statements.iter();
    statements.find_map(|statement| match &statement.operation {
        Operation::Dot {
            algorithm: Dpa::General(General::Fused(fused)),
            ..
        } => Some(*fused),
        _ => None,
    })
}

/// The parameters of algorithms that no general step stands for.
fn of_algorithms(program: &Program) -> Vec<(&'static Parameter, Value)> {
    let mut found: Vec<(&'static Parameter, Value)> = Vec::new();
    for statement in &program.statements {
        let Operation::Dot { algorithm, .. } = &statement.operation else {
            continue;
        };
        let general = algorithm.general(&statement.output);
        if !matches!(general, General::Grouped(_) | General::Semi(_)) {
            continue;
        }
        for (parameter, value) in algorithm.parameters() {
            let is_known = found
                .iter()
                .any(|(known, _)| known.symbol == parameter.symbol);
            if !is_known && parameter.cost < Parameter::UNSEARCHED {
                found.push((parameter, value));
            }
        }
    }
    found
}

/// Every value of a parameter, in their order where they are a scale. Places of significands go to the end of the
/// operand's, blocks to the end of k.
fn values(parameter: &'static Parameter, own: Value, signature: &Signature) -> Vec<Setting> {
    let of = |value| Setting::Of(parameter.symbol, value);
    let kept = |format: &Format| format.float().map_or(0, |float| float.fraction_bits) as i32;
    let own = match own {
        Value::Number(number) => Some(number),
        Value::Word(_) | Value::Rounding(_) | Value::Rounded(..) | Value::Register(_) => None,
    };
    let k = signature.k as i32;
    let numbers: Vec<i32> = match (parameter.kind.numbers, parameter.symbol) {
        (None, _) => return Setting::all(parameter),
        (Some((low, high)), "L") => (low..=k.min(high)).collect(),
        (Some((low, high)), "G") => (low..=k.min(high)).filter(|g| k % g == 0).collect(),
        (Some((_, high)), "P") => (0..=8)
            .map(|log| 1 << log)
            .filter(|p| *p <= k.min(high))
            .collect(),
        (Some((low, _)), "a-from" | "a-to") => {
            (low..=kept(&signature.a).max(own.unwrap_or(low))).collect()
        }
        (Some((low, _)), "b-from" | "b-to") => {
            (low..=kept(&signature.b).max(own.unwrap_or(low))).collect()
        }
        (Some((low, high)), _) if high - low <= MOST_BITS as i32 => (low..=high).collect(),
        (Some((low, high)), _) => floors(own)
            .flatten()
            .filter(|number| (low..=high).contains(number))
            .collect(),
    };
    let words = parameter
        .kind
        .words
        .iter()
        .map(|word| of(Value::Word(word)));
    let numbers = numbers.into_iter().map(|number| of(Value::Number(number)));
    // Every bit is more than any number of them; no floor and no fault is less than any.
    match parameter.shown_by {
        ShownBy::Alignment | ShownBy::SumBits => numbers.chain(words).collect(),
        _ => words.chain(numbers).collect(),
    }
}

/// Floors: near the one in use, and everywhere that formats reach.
fn floors(own: Option<i32>) -> impl Iterator<Item = Option<i32>> {
    let near = own.into_iter().flat_map(|own| own - 12..=own + 12);
    let mut all: Vec<i32> = near.chain(-330..=40).collect();
    all.sort_unstable();
    all.dedup();
    [None].into_iter().chain(all.into_iter().map(Some))
}

/// The settings of a plain truncated sum, and a floor as the shipped units have it: what is stated
/// where an answer does not ask for something else.
pub(crate) fn defaults(signature: &Signature, program: &Program) -> Vec<Setting> {
    let fused = first_fused(program);
    let l = fused.map_or(1, |fused| fused.l.min(signature.k as u32));
    let mut found = vec![
        Setting::number(&p::L, l as i32),
        Setting::Groups(None),
        Setting::none(&p::PRODUCTS),
        Setting::none(&p::PRODUCT_LIMIT),
        Setting::none(&p::CODES),
        Setting::none(&p::OPERANDS),
        Setting::none(&p::ROUND_C),
        Setting::none(&p::FLUSH_IN),
        Setting::none(&p::FLUSH_C),
        Setting::none(&p::FLUSH_PRODUCTS),
        Setting::none(&p::FLUSH_RESULT),
        tininess(program)[0],
        Setting::none(&p::F2),
        Setting::of(&p::FLOOR, Value::Rounding(Rounding::Rd)),
    ];
    // The others are absent where nothing asks for them.
    let others = searched().filter(|own| own.kind.absent && *own.symbol != *p::E0.symbol);
    let others = others.filter(|own| !found.iter().any(|setting| setting.is_of(own)));
    let others: Vec<Setting> = others.map(Setting::none).collect();
    found.splice(0..0, others);
    if let Some(Fused {
        f: Some(f), align, ..
    }) = fused
    {
        // So many bits are rather all bits.
        if f >= 28 {
            found.push(Setting::F(None));
        }
        found.extend([
            Setting::Align(Rounding::Rz),
            Setting::number(&p::FC, f as i32),
            Setting::of(&p::ALIGN_C, Value::Rounding(align)),
        ]);
        let bits = f as i32;
        let single = signature.d.container() == F32;
        let floor = match fused.and_then(|fused| fused.f2) {
            // Sums that are floored to bits of their own begin at the smallest normal number.
            Some(_) => signature.d.float().map_or(-126, |float| float.emin()),
            None if single => -108 - bits,
            None => 4 - bits,
        };
        // The last ones that the answers allow are stated; the named algorithms have a floor.
        let floors = [-300, -160, -126, -131, -132, -133, floor];
        found.push(Setting::none(&p::E0));
        found.extend(floors.map(|floor| Setting::number(&p::E0, floor)));
    }
    found.extend([
        Setting::Everywhere(Rounding::Rz),
        Setting::Beginning(Start::Zero),
        Setting::none(&p::OVERFLOW),
        Setting::none(&p::ZERO),
    ]);
    found
}
