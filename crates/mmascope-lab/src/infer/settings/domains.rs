//! The values that the search tries for each parameter.

use super::apply::adds_chains;
use super::{ALIGNMENTS, FLUSHES, OWN, ROUNDINGS, Setting};
use crate::dpa::schema::{PARAMETERS, Parameter, ShownBy, Value, parameter};
use crate::dpa::{
    AddMul, Codes, Dpa, Fused, General, GroupExponent, Groups, Operation, Program, Signature,
    Start, Statement, Tininess, ZeroSign,
};
use crate::format::{BF16, E8M13, F16, F32, Format, Overflow, Rounding, TF32};
use crate::infer::maker::Maker;

/// The most fraction bits that are tried.
const MOST_BITS: u32 = 64;

/// Formats that a unit may round to on the way.
fn formats(signature: &Signature) -> Vec<Format> {
    let mut formats = vec![signature.d];
    for format in [F32, E8M13, TF32, BF16, F16] {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    formats
}

/// Roundings to formats with fewer fraction bits, and none.
fn narrower(format: &Format) -> impl Iterator<Item = Option<(Rounding, Format)>> {
    let bits = |format: &Format| format.float().map_or(0, |float| float.fraction_bits);
    let own = bits(format);
    let formats = [E8M13, TF32, F16, BF16]
        .into_iter()
        .filter(move |format| bits(format) < own);
    let rounded = formats.flat_map(|format| {
        [Rounding::Rz, Rounding::Rne, Rounding::Rna].map(|rounding| Some((rounding, format)))
    });
    std::iter::once(None).chain(rounded)
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

/// The parameters that their rows describe, and that the search tries.
fn by_rows() -> impl Iterator<Item = &'static Parameter> {
    let own = |parameter: &&&'static Parameter| {
        !OWN.contains(&parameter.symbol) && parameter.cost < Parameter::UNSEARCHED
    };
    PARAMETERS.iter().filter(own).copied()
}

/// Every value of a parameter, as its row says it.
fn of(symbol: &str) -> Vec<Setting> {
    parameter(symbol).map_or_else(Vec::new, Setting::all)
}

/// When a result counts as subnormal. Only rows of the catalogue bring the third way, which is then the usual one.
fn tininess(program: &Program) -> Vec<Setting> {
    let unbounded = |statement: &Statement| statement.output.tininess == Tininess::Unbounded;
    let own = program.statements.iter().any(unbounded);
    let own = own.then_some(Tininess::Unbounded);
    let usual = [Tininess::After, Tininess::Before];
    own.into_iter()
        .chain(usual)
        .map(Setting::Tininess)
        .collect()
}

/// A limit of products.
pub(crate) fn limit(limit: Option<i32>) -> Setting {
    Setting::Of(
        "product-limit",
        limit.map_or(Value::Word("none"), Value::Number),
    )
}

/// A rounding to a format, or none.
fn rounded(to: Option<(Rounding, Format)>) -> Value {
    to.map_or(Value::Word("exact"), |(rounding, format)| {
        Value::Rounded(rounding, format)
    })
}

/// Every value of every parameter, parameter by parameter, for a program in the general form.
pub(crate) fn domains(signature: &Signature, program: &Program) -> Vec<Vec<Setting>> {
    let k = signature.k as u32;
    let fused = program
        .statements
        .iter()
        .find_map(|statement| match &statement.operation {
            Operation::Dot {
                algorithm: Dpa::General(General::Fused(fused)),
                ..
            } => Some(*fused),
            _ => None,
        });
    let bits = || (1..=MOST_BITS).map(Some);
    let is_down = |statement: &Statement| statement.output.rounding == Rounding::Rd;
    let down = program.statements.iter().any(is_down);
    let formats = formats(signature);
    let mut found: Vec<Vec<Setting>> = vec![
        bits().chain([None]).map(Setting::F).collect(),
        ALIGNMENTS.map(Setting::Align).to_vec(),
        ROUNDINGS.map(Setting::End).to_vec(),
        bits().flatten().map(Setting::Fc).collect(),
        of("align-c"),
        bits().chain([None]).map(Setting::F2).collect(),
        of("floor"),
        [false, true].map(Setting::Normalised).to_vec(),
        FLUSHES.map(Setting::FlushIn).to_vec(),
        of("flush-of"),
        FLUSHES.map(Setting::FlushC).to_vec(),
        FLUSHES.map(Setting::FlushOut).to_vec(),
        tininess(program),
        floors(fused.and_then(|fused| fused.e0))
            .map(Setting::E0)
            .collect(),
        (1..=k.min(256)).map(Setting::L).collect(),
        (0..=8)
            .map(|log| Setting::P(1 << log))
            .filter(|p| matches!(p, Setting::P(p) if *p <= k))
            .collect(),
        of("adds"),
        [Start::Zero, Start::Product]
            .map(Setting::Beginning)
            .to_vec(),
        [
            Overflow::Infinity,
            Overflow::Ieee,
            Overflow::Saturate,
            Overflow::SaturateFinite,
            Overflow::Nan,
            Overflow::NanFinite,
        ]
        .map(Setting::Overflow)
        .to_vec(),
        [
            ZeroSign::Plus,
            ZeroSign::Exact,
            ZeroSign::Ieee,
            ZeroSign::Minus,
            ZeroSign::ExactMinus,
            // Under RD that is what IEEE 754 says; else it is what the other one says.
            match down {
                true => ZeroSign::Common,
                false => ZeroSign::CommonMinus,
            },
        ]
        .map(Setting::Zero)
        .to_vec(),
        (1..=k.min(256))
            .filter(|g| k.is_multiple_of(*g))
            .map(Setting::G)
            .collect(),
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
        let of = |&format: &Format| ROUNDINGS.map(|rounding| Setting::Chains(rounding, format));
        found.push(formats.iter().flat_map(of).collect());
    }
    if specials(&signature.a) || specials(&signature.b) {
        let infinite = |format: &Format| Maker::infinity(format, false).is_some();
        let mut codes = vec![Codes::Special, Codes::Numbers];
        if infinite(&signature.a) || infinite(&signature.b) {
            codes.push(Codes::Largest);
        }
        found.push(codes.into_iter().map(Setting::Codes).collect());
    }
    // What the longer operand loses.
    let kept = |format: &Format| format.float().map_or(0, |float| float.fraction_bits);
    let (a, b) = (&signature.a, &signature.b);
    let longer = if kept(b) > kept(a) { b } else { a };
    found.push(
        narrower(longer)
            .map(|to| Setting::Of("operands", rounded(to)))
            .collect(),
    );
    found.push(narrower(&signature.c).map(Setting::RoundC).collect());
    if let Some(fused) = fused {
        if let (Some(f), Some(e0)) = (fused.f, fused.e0) {
            let of = |bits: u32| Setting::Floored(bits, e0 + bits as i32 - f as i32);
            found.push((1..=MOST_BITS).map(of).collect());
        }
        if let Some(f) = fused.f.filter(|f| (2..MOST_BITS - 1).contains(f)) {
            found.push([f - 1, f, f + 1].map(Setting::Cut).to_vec());
        }
        found.push(of("grid"));
        found.extend(["sticky", "zero-times-inf", "inf-minus-inf"].map(of));
        if let Some(groups) = fused.groups.filter(|groups| groups.g < fused.l) {
            let count = fused.l.div_ceil(groups.g);
            let of = |place: u32| match groups.strided {
                true => place % fused.l % count,
                false => place % fused.l / groups.g,
            };
            let pairs = (0..k).flat_map(|i| (i + 1..k).map(move |j| (i, j)));
            let apart = pairs.filter(|&(i, j)| i / fused.l == j / fused.l && of(i) != of(j));
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
        let limits = limits.filter(|limit| *limit <= reach).map(Some);
        found.push([None].into_iter().chain(limits).map(limit).collect());
    }
    let mut products = vec![Setting::Products(None)];
    for format in formats.into_iter().filter(|format| format.bits <= 32) {
        products.extend(ROUNDINGS.map(|rounding| Setting::Products(Some((rounding, format)))));
    }
    found.push(products);
    if fused.is_none_or(|fused| fused.terms.products.is_some()) {
        found.push(FLUSHES.map(Setting::FlushProducts).to_vec());
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
    for parameter in by_rows() {
        let step = fused.map_or_else(|| Dpa::from(AddMul::plain(1)), Dpa::from);
        let has_row = step.get(parameter.symbol).is_some();
        if has_row && !named(&found, parameter.symbol) {
            found.push(Setting::all(parameter));
        }
    }
    found
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

/// Every value of a parameter of such an algorithm, in their order where they are a scale. Places of significands go to the
/// end of the operand's.
fn values(parameter: &'static Parameter, own: Value, signature: &Signature) -> Vec<Setting> {
    let of = |value| Setting::Of(parameter.symbol, value);
    let kept = |format: &Format| format.float().map_or(0, |float| float.fraction_bits) as i32;
    let own = match own {
        Value::Number(number) => Some(number),
        _ => None,
    };
    let numbers: Vec<i32> = match (parameter.kind.numbers, parameter.symbol) {
        (None, _) => return Setting::all(parameter),
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
        ShownBy::Alignment => numbers.chain(words).collect(),
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
    let fused = program.statements.iter().find_map(|s| match &s.operation {
        Operation::Dot {
            algorithm: Dpa::General(General::Fused(fused)),
            ..
        } => Some(*fused),
        _ => None,
    });
    // What rows describe is absent where nothing asks for it.
    let mut found: Vec<Setting> = by_rows().filter_map(Setting::absent).collect();
    found.extend([
        Setting::L(fused.map_or(1, |fused| fused.l.min(signature.k as u32))),
        Setting::Groups(None),
        Setting::Normalised(false),
        Setting::Products(None),
        limit(None),
        Setting::Codes(Codes::Special),
        Setting::Of("operands", rounded(None)),
        Setting::RoundC(None),
        Setting::FlushIn(None),
        Setting::FlushC(None),
        Setting::FlushProducts(None),
        Setting::FlushOut(None),
        tininess(program)[0],
        Setting::F2(None),
        Setting::Of("floor", Value::Rounding(Rounding::Rd)),
    ]);
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
            Setting::Fc(f),
            Setting::Of("align-c", Value::Rounding(align)),
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
        found.push(Setting::E0(None));
        found.extend(floors.map(|floor| Setting::E0(Some(floor))));
    }
    found.extend([
        Setting::Everywhere(Rounding::Rz),
        Setting::Beginning(Start::Zero),
        Setting::Overflow(Overflow::Infinity),
        Setting::Zero(ZeroSign::Plus),
    ]);
    found
}
