//! The `cvt` instruction that does what a cast asks for, where PTX has one. Which there are, and on which targets, the
//! rules of legality say ([`crate::precision::legal`]; `precision.md` §2.1); here are only their names.

use super::{CastOptions, NanRule, OutOfRange, Packing, is_integer};
use crate::error::Result;
use crate::format::{F32, Format, Rounding};
use crate::precision::legal::{self, Rules, Target};

/// An instruction of PTX, and where it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PtxForm {
    /// The targets that take it.
    pub targets: Targets,
    /// Whether it has `.satfinite`.
    pub saturates: bool,
    rounding: Option<&'static str>,
    to: &'static str,
    from: &'static str,
    relu: bool,
    sat: bool,
    ftz: bool,
    pzo: bool,
    packing: Option<Packing>,
}

/// Targets that take an instruction: a bit for each of [`Rules::targets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Targets(u64);

impl Targets {
    /// Whether a target (`sm_90a`) takes the instruction.
    ///
    /// # Errors
    /// [`crate::Error::Unknown`] when this is no target that the rules know.
    pub fn include(self, target: &str) -> Result<bool> {
        let target = Rules::built_in().target(target)?;
        Ok(self.list().any(|known| known == target))
    }

    /// The targets, in the order of the rules.
    pub fn list(self) -> impl Iterator<Item = Target> {
        let all = Rules::built_in().targets().iter().enumerate();
        all.filter(move |(place, _)| self.0 >> place & 1 == 1)
            .map(|(_, target)| *target)
    }
}

impl std::fmt::Display for Targets {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let least = self.list().map(|target| target.sm).min().unwrap_or(0);
        let later = Rules::built_in().targets().iter();
        if later
            .filter(|target| target.sm >= least)
            .copied()
            .eq(self.list())
        {
            return write!(out, "sm_{least} and later");
        }
        let names: Vec<String> = self.list().map(|target| target.to_string()).collect();
        out.write_str(&names.join(", "))
    }
}

/// The instruction as PTX writes it: `cvt.rn.satfinite.e4m3x2.f32`.
impl std::fmt::Display for PtxForm {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.rule_form().fmt(out)
    }
}

impl PtxForm {
    /// The same conversion of so many values at once, if PTX has it.
    #[must_use]
    pub fn packed(self, packing: Packing) -> Option<Self> {
        Self {
            packing: Some(packing),
            ..self
        }
        .on_its_targets()
    }

    /// How many values one instruction converts; `None` is one.
    #[must_use]
    pub fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// What becomes of a NaN. PTX leaves most of this open; an H200 (sm_90) was asked. The
    /// conversions that keep a payload compile to the same machine instructions from sm_75 to
    /// sm_120; no other chip has been asked.
    #[must_use]
    pub fn nan_rule(&self) -> NanRule {
        match (self.from, self.to) {
            // Compiled to: add half to a finite word, clear the low 13 bits; with `.satfinite`, go one
            // code down from ∞ and beyond.
            ("f32", "tf32") if self.rounding == Some("rna") => match self.saturates {
                true => NanRule::Lowered,
                false => NanRule::Kept,
            },
            // A move, and a shift; with `.ftz` the latter is an arithmetic instruction.
            ("f32", "f32") | ("f64", "f64") => NanRule::Kept,
            ("bf16", "f32") if !self.ftz => NanRule::Kept,
            ("f64", _) | (_, "f64") => NanRule::Quieted,
            _ => NanRule::Canonical,
        }
    }

    /// The instruction as the rules take it.
    fn rule_form(&self) -> legal::InstructionForm {
        let modifiers = [
            self.rounding,
            self.ftz.then_some("ftz"),
            self.saturates.then_some("satfinite"),
            self.relu.then_some("relu"),
            self.sat.then_some("sat"),
            self.pzo.then_some("pzo"),
        ];
        let packing = self.packing.map_or("", Packing::name);
        let source = if self.from == "f32" { "" } else { packing };
        legal::InstructionForm {
            opcode: "cvt".to_owned(),
            modifiers: modifiers.into_iter().flatten().map(str::to_owned).collect(),
            types: vec![
                format!("{}{packing}", self.to),
                format!("{}{source}", self.from),
            ],
            operands: None,
        }
    }

    /// With the targets that the rules give it; `None` where there are none.
    fn on_its_targets(self) -> Option<Self> {
        let targets = Targets(Rules::built_in().reach(&self.rule_form()));
        (targets.0 != 0).then_some(Self { targets, ..self })
    }
}

/// The name of a type in PTX; `None` where PTX has none.
fn name(format: &Format) -> Option<&'static str> {
    const RENAMED: [(&str, &str); 13] = [
        ("int8", "s8"),
        ("uint8", "u8"),
        ("int16", "s16"),
        ("uint16", "u16"),
        ("int32", "s32"),
        ("uint32", "u32"),
        ("int64", "s64"),
        ("uint64", "u64"),
        ("e4m3fn", "e4m3"),
        ("e5m2", "e5m2"),
        ("e3m2fn", "e3m2"),
        ("e2m3fn", "e2m3"),
        ("e2m1fn", "e2m1"),
    ];
    const SAME: [&str; 8] = [
        "f64", "f32", "f16", "bf16", "tf32", "ue8m0", "ue5m3", "s2f6",
    ];
    let own = SAME.into_iter().find(|name| *name == format.name);
    own.or_else(|| {
        let found = RENAMED.iter().find(|(ours, _)| *ours == format.name);
        found.map(|(_, ptx)| *ptx)
    })
}

/// The modifiers that round so, the first that PTX has being right. Where nothing is rounded there is none, and every
/// rounding gives the same.
fn roundings(from: &Format, to: &Format, rounding: Rounding) -> Vec<Option<&'static str>> {
    let (from_integer, to_integer) = (is_integer(from), is_integer(to));
    if from_integer && to_integer {
        return vec![None];
    }
    let word = match (rounding, to_integer) {
        (Rounding::Stochastic { .. }, _) => Some("rs"),
        (Rounding::Rne, false) => Some("rn"),
        (Rounding::Rz, false) => Some("rz"),
        (Rounding::Rd, false) => Some("rm"),
        (Rounding::Ru, false) => Some("rp"),
        (Rounding::Rna, false) => Some("rna"),
        (Rounding::Rne, true) => Some("rni"),
        (Rounding::Rz, true) => Some("rzi"),
        (Rounding::Rd, true) => Some("rmi"),
        (Rounding::Ru, true) => Some("rpi"),
        _ => None,
    };
    let is_exact = !from_integer && to.has_all_values_of(from);
    let exact = (is_exact && word != Some("rs")).then_some(None);
    exact.into_iter().chain(word.map(Some)).collect()
}

/// The forms that would do what is asked, the first that exists being right; `None` where PTX has no such type.
fn candidates(
    from: &Format,
    to: &Format,
    rounding: Rounding,
    options: &CastOptions,
) -> Option<Vec<PtxForm>> {
    let (to_name, from_name) = (name(to)?, name(from)?);
    let saturations: &[bool] = match options.overflow {
        Some(OutOfRange::Nan) => &[],
        Some(OutOfRange::Ieee) => &[false],
        Some(OutOfRange::SatFinite) => &[true],
        None => &[false, true],
    };
    let mut forms = Vec::new();
    for packing in [None, Some(Packing::X2), Some(Packing::X4)] {
        for &saturates in saturations {
            for modifier in roundings(from, to, rounding) {
                forms.push(PtxForm {
                    targets: Targets(0),
                    saturates,
                    rounding: modifier,
                    to: to_name,
                    from: from_name,
                    relu: options.relu,
                    sat: options.sat,
                    ftz: options.ftz,
                    pzo: options.pzo,
                    packing,
                });
            }
        }
    }
    Some(forms)
}

/// The instruction that does what is asked.
///
/// # Errors
/// Why PTX has none, for people.
pub(super) fn form(
    from: &Format,
    to: &Format,
    rounding: Rounding,
    options: &CastOptions,
) -> std::result::Result<PtxForm, String> {
    let none = |why: &str| Err(format!("PTX has no such cvt from {from} to {to}: {why}"));
    let Some(forms) = candidates(from, to, rounding, options) else {
        let unknown = if name(to).is_none() { to } else { from };
        return none(&format!("it has no type {unknown}"));
    };
    if options.overflow == Some(OutOfRange::Nan) {
        return none("overflow nan");
    }
    let first = |forms: Vec<PtxForm>| forms.into_iter().find_map(PtxForm::on_its_targets);
    if let Some(form) = first(forms.clone()) {
        return Ok(form);
    }
    // Another rounding, or what the rules say of the form that misses one by least.
    let all = [
        Rounding::Rne,
        Rounding::Rz,
        Rounding::Rd,
        Rounding::Ru,
        Rounding::Rna,
    ];
    let exists = |rounding: &Rounding| candidates(from, to, *rounding, options).and_then(first);
    let others = all
        .into_iter()
        .filter(|rounding| exists(rounding).is_some());
    let others: Vec<String> = others.map(|rounding| rounding.to_string()).collect();
    if !others.is_empty() {
        let others = others.join(", ");
        return none(&format!("rounding {rounding}; it rounds {others}"));
    }
    let rules = Rules::built_in();
    let reasons = forms
        .iter()
        .filter_map(|form| rules.reason(&form.rule_form()));
    match reasons.min_by_key(|(size, _)| *size) {
        Some((_, reason)) => none(&reason),
        None => none("it does not convert between these types"),
    }
}

/// How PTX packs the results of `cvt.rs` to a format; `None` where it has none.
pub(super) fn random_packing(to: &Format) -> Option<Packing> {
    let stochastic = Rounding::Stochastic {
        bits: 16,
        random: 0,
    };
    let form = form(&F32, to, stochastic, &CastOptions::default());
    form.ok().and_then(|form| form.packing)
}
