//! The parameters of the model space: how each is changed in a program, and which values it has.

use super::forms;
use crate::dpa::{
    AddMul, Dpa, FlushSign, Fused, General, Groups, Operation, Output, Program, Signature, Terms,
    ZeroSign,
};
use crate::format::{BF16, E8M13, F16, F32, Format, Overflow, Rounding, TF32};

/// A parameter with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    L(u32),
    /// Products or groups, and c where it has the same bits.
    F(Option<u32>),
    /// c alone.
    Fc(u32),
    E0(Option<i32>),
    /// Products and c.
    Align(Rounding),
    AlignC(Rounding),
    G(u32),
    Groups(Option<Groups>),
    F2(Option<u32>),
    Floor(Rounding),
    Normalised(bool),
    Products(Option<(Rounding, Format)>),
    Limit(Option<i32>),
    FlushIn(Option<FlushSign>),
    FlushC(Option<FlushSign>),
    FlushProducts(Option<FlushSign>),
    FlushOut(Option<FlushSign>),
    P(u32),
    Sequential(bool),
    /// Between steps.
    Between(Rounding, Format),
    /// At the end.
    End(Rounding),
    /// Everywhere.
    Everywhere(Rounding),
    /// The part of the result's word that is produced, everywhere.
    Width(Format),
    Overflow(Overflow),
    Zero(ZeroSign),
}

/// The roundings of alignments, the likely ones first.
pub(crate) const ALIGNMENTS: [Rounding; 9] = [
    Rounding::Rz,
    Rounding::Rne,
    Rounding::Rd,
    Rounding::Ru,
    Rounding::Ra,
    Rounding::Rna,
    Rounding::Rnz,
    Rounding::Odd,
    Rounding::Rnd,
];
/// The roundings of results, the likely ones first.
pub(crate) const ROUNDINGS: [Rounding; 11] = [
    Rounding::Rz,
    Rounding::Rne,
    Rounding::Rd,
    Rounding::Ru,
    Rounding::Ra,
    Rounding::Rna,
    Rounding::Rnz,
    Rounding::Odd,
    Rounding::Rno,
    Rounding::Rnu,
    Rounding::Rnd,
];
const FLUSHES: [Option<FlushSign>; 3] = [None, Some(FlushSign::Plus), Some(FlushSign::Kept)];
/// The most fraction bits that are tried.
const MOST_BITS: u32 = 64;

impl Setting {
    /// The parameter's name, as in the notation and in `infer --json`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::L(_) => "L",
            Self::F(_) => "F",
            Self::Fc(_) => "Fc",
            Self::E0(_) => "e0",
            Self::Align(_) => "align",
            Self::AlignC(_) => "align-c",
            Self::G(_) => "G",
            Self::Groups(_) => "groups",
            Self::F2(_) => "F2",
            Self::Floor(_) => "floor",
            Self::Normalised(_) | Self::Products(_) => "products",
            Self::Limit(_) => "product-limit",
            Self::FlushIn(_) => "flush-in",
            Self::FlushC(_) => "flush-c",
            Self::FlushProducts(_) => "flush-products",
            Self::FlushOut(_) => "flush",
            Self::P(_) => "P",
            Self::Sequential(_) => "adds",
            Self::Between(..) => "rounding-between",
            Self::End(_) | Self::Everywhere(_) => "rounding",
            Self::Width(_) => "width",
            Self::Overflow(_) => "overflow",
            Self::Zero(_) => "zero",
        }
    }

    /// Whether a unit is believed to have it only where nothing simpler gives its answers.
    pub(crate) fn is_uncommon(&self) -> bool {
        matches!(
            self,
            Self::Groups(_)
                | Self::F2(_)
                | Self::Floor(_)
                | Self::Normalised(_)
                | Self::Products(_)
                | Self::Limit(_)
        )
    }

    /// The value, as the notation writes it.
    pub(crate) fn value(&self) -> String {
        let bits = |bits: &Option<u32>| bits.map_or("exact".to_owned(), |bits| bits.to_string());
        let none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        match self {
            Self::L(value) | Self::Fc(value) | Self::G(value) | Self::P(value) => value.to_string(),
            Self::F(value) => bits(value),
            Self::F2(value) => none(value.map(|bits| bits.to_string())),
            Self::E0(value) | Self::Limit(value) => none(value.map(|value| value.to_string())),
            Self::Align(value)
            | Self::AlignC(value)
            | Self::Floor(value)
            | Self::End(value)
            | Self::Everywhere(value) => value.to_string(),
            Self::Groups(groups) => none(groups.map(|groups| {
                let strided = if groups.strided { " strided" } else { "" };
                let own = if groups.normalised {
                    " own exponent"
                } else {
                    ""
                };
                format!(
                    "{}{strided} F={} {}{own}",
                    groups.g,
                    bits(&groups.f),
                    groups.align
                )
            })),
            Self::Normalised(value) => (if *value { "normalised" } else { "exact" }).to_owned(),
            Self::Products(value) => value.map_or("exact".to_owned(), |(rounding, format)| {
                format!("{rounding}:{format}")
            }),
            Self::FlushIn(value)
            | Self::FlushC(value)
            | Self::FlushProducts(value)
            | Self::FlushOut(value) => none(value.map(|sign| sign.to_string())),
            Self::Sequential(value) => (if *value { "sequential" } else { "pairwise" }).to_owned(),
            Self::Between(rounding, format) => format!("{rounding} {format}"),
            Self::Width(format) => format.to_string(),
            Self::Overflow(value) => value.to_string(),
            Self::Zero(value) => value.to_string(),
        }
    }

    /// The program with this value; `None` when it has no such parameter.
    pub(crate) fn apply(&self, program: &Program, k: usize) -> Option<Program> {
        if let Self::Between(rounding, format) = *self {
            return between(program, k, rounding, format);
        }
        let mut changed = program.clone();
        let mut applied = false;
        let last = changed.statements.len() - 1;
        for (index, statement) in changed.statements.iter_mut().enumerate() {
            if let Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } =
                &mut statement.operation
            {
                applied |= self.on_algorithm(algorithm);
            }
            applied |= self.on_output(&mut statement.output, index == last);
        }
        applied.then_some(changed)
    }

    fn on_algorithm(&self, algorithm: &mut Dpa) -> bool {
        match (algorithm, *self) {
            (Dpa::General(General::Fused(fused)), _) => return self.on_fused(fused),
            (Dpa::General(General::AddMul(step)), _) => return self.on_add_mul(step),
            (
                Dpa::TFdpa { l, .. }
                | Dpa::GstFdpa { l, .. }
                | Dpa::EFdpa { l }
                | Dpa::TrFdpa { l, .. }
                | Dpa::GtrFdpa { l, .. },
                Self::L(value),
            ) => *l = value,
            (
                Dpa::TFdpa { f, .. }
                | Dpa::GstFdpa { f, .. }
                | Dpa::TrFdpa { f, .. }
                | Dpa::GtrFdpa { f, .. },
                Self::F(Some(value)),
            ) => *f = value,
            (Dpa::TrFdpa { f2, .. } | Dpa::GtrFdpa { f2, .. }, Self::F2(Some(value))) => {
                *f2 = value
            }
            (Dpa::TFdpa { e0, .. } | Dpa::GstFdpa { e0, .. }, Self::E0(Some(value))) => *e0 = value,
            (Dpa::TFdpa { align, .. } | Dpa::GstFdpa { align, .. }, Self::Align(value)) => {
                *align = value;
            }
            (Dpa::GstFdpa { g, .. }, Self::G(value)) => *g = value,
            (Dpa::FtzAddMul { p, .. }, Self::P(value)) => *p = value,
            (Dpa::FtzAddMul { flush_in, .. }, Self::FlushIn(Some(sign))) => *flush_in = sign,
            (Dpa::FtzAddMul { flush_out, .. }, Self::FlushOut(Some(sign))) => *flush_out = sign,
            _ => return false,
        }
        true
    }

    fn on_fused(&self, fused: &mut Fused) -> bool {
        match *self {
            Self::L(l) => fused.l = l,
            Self::F(f) => {
                if fused.f_c == fused.f || f.is_none() {
                    fused.f_c = f;
                } else if fused.f_c.is_none() {
                    return false;
                }
                fused.f = f;
            }
            Self::Fc(f) if fused.f.is_some() => fused.f_c = Some(f),
            Self::E0(e0) => fused.e0 = e0,
            Self::Align(align) => {
                if fused.align == fused.align_c {
                    fused.align_c = align;
                }
                fused.align = align;
            }
            Self::AlignC(align) => fused.align_c = align,
            Self::Groups(groups) => fused.groups = groups,
            Self::G(g) => match &mut fused.groups {
                Some(groups) => groups.g = g,
                None => return false,
            },
            Self::F2(f2) => fused.f2 = f2,
            Self::Floor(floor) if fused.f2.is_some() => fused.floor = floor,
            Self::Normalised(normalised) => {
                fused.normalised = normalised;
                fused.terms.products = None;
            }
            Self::Limit(limit) => fused.product_limit = limit,
            _ => return self.on_terms(&mut fused.terms),
        }
        true
    }

    fn on_add_mul(&self, step: &mut AddMul) -> bool {
        match *self {
            Self::P(p) => step.p = p,
            Self::Sequential(sequential) => step.sequential = sequential,
            Self::Products(None) => return false,
            _ => return self.on_terms(&mut step.terms),
        }
        true
    }

    fn on_terms(&self, terms: &mut Terms) -> bool {
        match *self {
            Self::Products(products) => terms.products = products,
            Self::FlushIn(flush) => terms.flush_in = flush,
            Self::FlushC(flush) => terms.flush_c = flush,
            Self::FlushProducts(flush) => terms.flush_products = flush,
            _ => return false,
        }
        true
    }

    fn on_output(&self, output: &mut Output, is_last: bool) -> bool {
        match *self {
            Self::End(rounding) if is_last => output.rounding = rounding,
            Self::Everywhere(rounding) => output.rounding = rounding,
            Self::Width(format) if output.format.container() == format.container() => {
                output.format = format;
            }
            Self::Overflow(overflow) => output.overflow = overflow,
            Self::Zero(zero) => output.zero = zero,
            Self::FlushOut(flush) => output.flush = flush,
            _ => return false,
        }
        true
    }
}

/// Another output for every statement but the last; a chain is split for it.
fn between(program: &Program, k: usize, rounding: Rounding, format: Format) -> Option<Program> {
    let mut changed = if program.statements.len() == 1 {
        forms::split(program, k)?
    } else {
        program.clone()
    };
    let last = changed.statements.len() - 1;
    for statement in &mut changed.statements[..last] {
        statement.output.rounding = rounding;
        statement.output.format = format;
    }
    Some(changed)
}

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
                for normalised in [false, true] {
                    found.push(Some(Groups {
                        g,
                        strided,
                        f: bits,
                        align: Rounding::Rz,
                        normalised,
                    }));
                }
            }
        }
    }
    found
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
    let formats = formats(signature);
    let mut found: Vec<Vec<Setting>> = vec![
        bits().chain([None]).map(Setting::F).collect(),
        ALIGNMENTS.map(Setting::Align).to_vec(),
        ROUNDINGS.map(Setting::End).to_vec(),
        bits().flatten().map(Setting::Fc).collect(),
        ALIGNMENTS.map(Setting::AlignC).to_vec(),
        bits().chain([None]).map(Setting::F2).collect(),
        ALIGNMENTS.map(Setting::Floor).to_vec(),
        [false, true].map(Setting::Normalised).to_vec(),
        FLUSHES.map(Setting::FlushIn).to_vec(),
        FLUSHES.map(Setting::FlushC).to_vec(),
        FLUSHES.map(Setting::FlushOut).to_vec(),
        floors(fused.and_then(|fused| fused.e0))
            .map(Setting::E0)
            .collect(),
        (1..=k.min(256)).map(Setting::L).collect(),
        (0..=8)
            .map(|log| Setting::P(1 << log))
            .filter(|p| matches!(p, Setting::P(p) if *p <= k))
            .collect(),
        [false, true].map(Setting::Sequential).to_vec(),
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
        [ZeroSign::Plus, ZeroSign::Exact, ZeroSign::Ieee]
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
    if let Some(fused) = fused {
        found.push(
            groups(fused.l.min(k), fused.f)
                .into_iter()
                .map(Setting::Groups)
                .collect(),
        );
        if let Some(own) = fused.groups {
            let with_f = bits().chain([None]).map(|f| Groups { f, ..own });
            let with_align = ALIGNMENTS.map(|align| Groups { align, ..own });
            let all = with_f
                .chain(with_align)
                .map(|groups| Setting::Groups(Some(groups)));
            found.push(all.collect());
        }
        // Limits that products reach.
        let top = |format: &Format| format.decode(format.max_finite(false)).exponent;
        let reach = top(&signature.a) + top(&signature.b) + 1;
        let limits = [128, 127, 129, 16, 15, 17, 1024];
        let limits = limits.into_iter().filter(|limit| *limit <= reach).map(Some);
        found.push(
            [None]
                .into_iter()
                .chain(limits)
                .map(Setting::Limit)
                .collect(),
        );
    }
    let mut products = vec![Setting::Products(None)];
    for format in formats {
        let roundings = [
            Rounding::Rne,
            Rounding::Rz,
            Rounding::Rna,
            Rounding::Rd,
            Rounding::Ru,
        ];
        products.extend(roundings.map(|rounding| Setting::Products(Some((rounding, format)))));
    }
    found.push(products);
    if fused.is_none_or(|fused| fused.terms.products.is_some()) {
        found.push(FLUSHES.map(Setting::FlushProducts).to_vec());
    }
    found
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
    let mut found = vec![
        Setting::L(fused.map_or(1, |fused| fused.l.min(signature.k as u32))),
        Setting::Groups(None),
        Setting::Normalised(false),
        Setting::Products(None),
        Setting::Limit(None),
        Setting::FlushIn(None),
        Setting::FlushC(None),
        Setting::FlushProducts(None),
        Setting::FlushOut(None),
        Setting::F2(None),
        Setting::Floor(Rounding::Rd),
    ];
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
            Setting::AlignC(align),
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
        Setting::Sequential(false),
        Setting::Overflow(Overflow::Infinity),
        Setting::Zero(ZeroSign::Plus),
    ]);
    found
}
