//! The `cvt` instructions that PTX has, with their targets (`precision.md` §2.1). They decide whether a cast is PTX's and
//! whether it saturates.

use super::{Options, OutOfRange, is_integer};
use crate::error::{Error, Result};
use crate::format::{BF16, E2M1FN, E4M3FN, E5M2, F16, F32, F64, Format, Rounding, TF32};

/// An instruction of PTX, and where it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
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
    packing: &'static str,
}

/// Targets that take an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Targets {
    /// This compute capability and every later one.
    From(u32),
    /// Family- and architecture-specific targets of Blackwell and later.
    Family,
    /// These alone.
    Only(&'static [&'static str]),
}

const FAMILY: [&str; 9] = [
    "sm_100a", "sm_100f", "sm_103a", "sm_107a", "sm_107f", "sm_110a", "sm_120a", "sm_120f",
    "sm_121a",
];
const RUBIN: &[&str] = &["sm_107a", "sm_107f"];
const RUBIN_ONLY: &[&str] = &["sm_107a"];
const RANDOM: &[&str] = &["sm_100a", "sm_103a", "sm_107a"];
const S2F6: &[&str] = &[
    "sm_100a", "sm_103a", "sm_107a", "sm_110a", "sm_120a", "sm_121a",
];

impl Targets {
    /// Whether a target (`sm_90a`) takes the instruction.
    ///
    /// # Errors
    /// [`Error::Argument`] when this is no target.
    pub fn include(self, target: &str) -> Result<bool> {
        let wrong = || {
            Error::Argument(format!(
                "target '{}': a target is sm_ and a number, with a or f behind it where it is \
                 specific, as sm_90 or sm_100a",
                crate::error::quoted(target)
            ))
        };
        let number = target.strip_prefix("sm_").ok_or_else(wrong)?;
        let capability: u32 = number
            .trim_end_matches(['a', 'f'])
            .parse()
            .map_err(|_| wrong())?;
        Ok(match self {
            Self::From(least) => capability >= least,
            Self::Family => FAMILY.contains(&target),
            Self::Only(list) => list.contains(&target),
        })
    }
}

impl std::fmt::Display for Targets {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::From(least) => write!(out, "sm_{least} and later"),
            Self::Family => out.write_str(&FAMILY.join(", ")),
            Self::Only(list) => out.write_str(&list.join(", ")),
        }
    }
}

/// The instruction as PTX writes it: `cvt.rn.satfinite.e4m3x2.f32`.
impl std::fmt::Display for Form {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("cvt")?;
        if let Some(rounding) = self.rounding {
            write!(out, ".{rounding}")?;
        }
        for (given, name) in [
            (self.ftz, ".ftz"),
            (self.saturates, ".satfinite"),
            (self.relu, ".relu"),
            (self.sat, ".sat"),
            (self.pzo, ".pzo"),
        ] {
            if given {
                out.write_str(name)?;
            }
        }
        let source = match (self.packing, self.from) {
            (_, "f32") | ("", _) => "",
            (packing, _) => packing,
        };
        write!(out, ".{}{}.{}{source}", self.to, self.packing, self.from)
    }
}

/// Whether PTX has `cvt.rs` to that format.
pub(super) fn has_random_form(to: &Format) -> bool {
    [F16, BF16].contains(to) || is_narrow(to)
}

/// fp8, fp6 and fp4 of PTX.
fn is_narrow(format: &Format) -> bool {
    [E4M3FN, E5M2, E2M1FN].contains(format) || ["e2m3fn", "e3m2fn"].contains(&format.name)
}

fn is_fp8(format: &Format) -> bool {
    [E4M3FN, E5M2].contains(format)
}

fn is_wide(format: &Format) -> bool {
    [F64, F32, F16, BF16].contains(format)
}

/// The name of a type in PTX; `None` where PTX has none.
fn name(format: &Format) -> Option<&'static str> {
    const INTEGERS: [(&str, &str); 8] = [
        ("int8", "s8"),
        ("uint8", "u8"),
        ("int16", "s16"),
        ("uint16", "u16"),
        ("int32", "s32"),
        ("uint32", "u32"),
        ("int64", "s64"),
        ("uint64", "u64"),
    ];
    const FLOATS: [&str; 8] = [
        "f64", "f32", "f16", "bf16", "tf32", "ue8m0", "ue5m3", "s2f6",
    ];
    const NARROW: [(&str, &str); 5] = [
        ("e4m3fn", "e4m3"),
        ("e5m2", "e5m2"),
        ("e3m2fn", "e3m2"),
        ("e2m3fn", "e2m3"),
        ("e2m1fn", "e2m1"),
    ];
    let own = FLOATS.into_iter().find(|name| *name == format.name);
    let renamed = INTEGERS.iter().chain(&NARROW);
    own.or_else(|| {
        let mut found = renamed.filter(|(ours, _)| *ours == format.name);
        found.next().map(|(_, ptx)| *ptx)
    })
}

/// What a family of instructions takes.
struct Row {
    roundings: &'static [(&'static str, Rounding)],
    /// `.satfinite`: never, if asked for, always.
    satfinite: Satfinite,
    relu: bool,
    sat: bool,
    ftz: bool,
    packing: &'static str,
    targets: Targets,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Satfinite {
    Never,
    Optional,
    Always,
}

const RN: (&str, Rounding) = ("rn", Rounding::Rne);
const RZ: (&str, Rounding) = ("rz", Rounding::Rz);
const RM: (&str, Rounding) = ("rm", Rounding::Rd);
const RP: (&str, Rounding) = ("rp", Rounding::Ru);
const RNA: (&str, Rounding) = ("rna", Rounding::Rna);
const ALL: &[(&str, Rounding)] = &[RN, RZ, RM, RP];
const TO_INTEGER: &[(&str, Rounding)] = &[
    ("rni", Rounding::Rne),
    ("rzi", Rounding::Rz),
    ("rmi", Rounding::Rd),
    ("rpi", Rounding::Ru),
];

const PLAIN: Row = Row {
    roundings: ALL,
    satfinite: Satfinite::Never,
    relu: false,
    sat: true,
    ftz: false,
    packing: "",
    targets: Targets::From(75),
};

/// The instruction that does what is asked.
///
/// # Errors
/// Why PTX has none, for people.
pub(super) fn form(
    from: &Format,
    to: &Format,
    rounding: Rounding,
    options: &Options,
) -> std::result::Result<Form, String> {
    let none = |why: &str| Err(format!("PTX has no such cvt from {from} to {to}: {why}"));
    let (Some(to_name), Some(from_name)) = (name(to), name(from)) else {
        let unknown = if name(to).is_none() { to } else { from };
        return none(&format!("it has no type {unknown}"));
    };
    let stochastic = matches!(rounding, Rounding::Stochastic { .. });
    let row = if stochastic {
        random_row(from, to)
    } else {
        row(from, to, rounding, options)
    };
    let Some(row) = row else {
        return none("it does not convert between these types");
    };
    // Where nothing is rounded (no modifier, or `.rn` alone), every rounding gives the same.
    let is_exact = row.roundings.is_empty();
    let modifier = row.roundings.iter().find(|(_, known)| *known == rounding);
    let modifier = match modifier {
        Some((name, _)) => Some(*name),
        None if stochastic => Some("rs"),
        None if is_exact => None,
        None => {
            let names: Vec<String> = row
                .roundings
                .iter()
                .map(|(_, known)| known.to_string())
                .collect();
            return none(&format!(
                "rounding {rounding}; it rounds {}",
                names.join(", ")
            ));
        }
    };
    let saturates = match (row.satfinite, options.overflow) {
        (Satfinite::Never, Some(_)) => return none("it has no .satfinite there"),
        (Satfinite::Always, Some(OutOfRange::Ieee)) => {
            return none("overflow ieee; .satfinite is mandatory there");
        }
        (_, Some(OutOfRange::Nan)) => return none("overflow nan"),
        (Satfinite::Always, _) | (_, Some(OutOfRange::SatFinite)) => true,
        _ => false,
    };
    for (asked, has, modifier) in [
        (options.relu, row.relu, ".relu"),
        (options.sat, row.sat, ".sat"),
        (options.ftz, row.ftz, ".ftz"),
        (
            options.pzo,
            is_fp8(to) && *from == F32 && !stochastic,
            ".pzo",
        ),
    ] {
        if asked && !has {
            return none(&format!("it takes no {modifier} there"));
        }
    }
    let mut targets = row.targets;
    if options.relu && targets == Targets::From(75) {
        targets = Targets::From(80);
    }
    if options.ftz && [*from, *to].contains(&BF16) && *from == BF16 {
        targets = Targets::From(90);
    }
    if options.pzo {
        targets = Targets::Only(RUBIN);
    }
    Ok(Form {
        targets,
        saturates,
        rounding: modifier,
        to: to_name,
        from: from_name,
        relu: options.relu,
        sat: options.sat,
        ftz: options.ftz,
        pzo: options.pzo,
        packing: row.packing,
    })
}

fn random_row(from: &Format, to: &Format) -> Option<Row> {
    if *from != F32 || !has_random_form(to) {
        return None;
    }
    let wide = is_wide(to);
    Some(Row {
        roundings: &[],
        satfinite: if wide {
            Satfinite::Optional
        } else {
            Satfinite::Always
        },
        relu: true,
        sat: false,
        packing: if wide { "x2" } else { "x4" },
        targets: Targets::Only(RANDOM),
        ..PLAIN
    })
}

fn row(from: &Format, to: &Format, rounding: Rounding, options: &Options) -> Option<Row> {
    let has = |format: &Format| [*from, *to].contains(format);
    if is_narrow(to) {
        return to_narrow(from, to, rounding);
    }
    if is_narrow(from) {
        // Exact, written with `.rn`.
        return [F16, BF16].contains(to).then_some(Row {
            roundings: &[RN],
            relu: true,
            sat: false,
            packing: "x2",
            targets: if *to == F16 && is_fp8(from) {
                Targets::From(89)
            } else {
                Targets::Family
            },
            ..PLAIN
        });
    }
    let packed = |roundings, satfinite, targets| Row {
        roundings,
        satfinite,
        sat: false,
        packing: "x2",
        targets,
        ..PLAIN
    };
    match (from.name, to.name) {
        ("f32" | "bf16", "ue8m0") => {
            return Some(packed(&[RZ, RP], Satfinite::Optional, Targets::Family));
        }
        ("ue8m0", "bf16") => return Some(packed(&[RN], Satfinite::Never, Targets::Family)),
        ("f32", "ue5m3") => {
            return Some(packed(&[RN], Satfinite::Optional, Targets::Only(RUBIN)));
        }
        ("f32", "s2f6") => {
            let targets = match rounding {
                Rounding::Rz => RUBIN_ONLY,
                _ => S2F6,
            };
            return Some(packed(&[RN, RZ], Satfinite::Always, Targets::Only(targets)));
        }
        _ => {}
    }
    if *to == TF32 && *from == F32 {
        let saturates = options.overflow == Some(OutOfRange::SatFinite);
        return Some(Row {
            roundings: &[RNA, RN, RZ],
            satfinite: Satfinite::Optional,
            relu: rounding != Rounding::Rna,
            sat: false,
            targets: match (rounding, saturates) {
                (Rounding::Rna, _) => Targets::From(80),
                (_, false) => Targets::From(90),
                (_, true) => Targets::From(100),
            },
            ..PLAIN
        });
    }
    let bf16 = has(&BF16);
    match (is_integer(from), is_integer(to)) {
        (true, true) => Some(Row {
            roundings: &[],
            ..PLAIN
        }),
        (false, true) if is_wide(from) => Some(Row {
            roundings: TO_INTEGER,
            ftz: *from == F32,
            targets: Targets::From(if bf16 { 90 } else { 75 }),
            ..PLAIN
        }),
        (true, false) if is_wide(to) => Some(Row {
            sat: *to != BF16,
            targets: Targets::From(if bf16 { 90 } else { 75 }),
            ..PLAIN
        }),
        (false, false) if is_wide(from) && is_wide(to) => Some(between_wide(from, to)),
        _ => None,
    }
}

/// Between f64, f32, f16 and bf16.
fn between_wide(from: &Format, to: &Format) -> Row {
    let widens = to.has_all_values_of(from);
    let halves = [F16, BF16].contains(to) && *from == F32;
    let bf16 = [*from, *to].contains(&BF16);
    let is_single = [*from, *to].contains(&F32);
    Row {
        roundings: if widens { &[] } else { ALL },
        satfinite: if halves {
            Satfinite::Optional
        } else {
            Satfinite::Never
        },
        relu: halves,
        sat: *to != BF16,
        ftz: is_single,
        packing: "",
        targets: Targets::From(match (bf16, is_single) {
            (false, _) => 75,
            (true, true) => 80,
            (true, false) => 90,
        }),
    }
}

/// To fp8, fp6 and fp4: `.satfinite` always.
fn to_narrow(from: &Format, to: &Format, rounding: Rounding) -> Option<Row> {
    let fp8 = is_fp8(to);
    let (roundings, targets): (&'static [_], _) = match (*from, fp8, rounding) {
        (F32, true, Rounding::Rz) => (&[RN, RZ], Targets::Only(RUBIN)),
        (F32, true, _) => (&[RN, RZ], Targets::From(89)),
        (F16, true, _) => (&[RN], Targets::From(89)),
        (BF16, _, _) | (F32, false, _) => (&[RN], Targets::Family),
        _ => return None,
    };
    Some(Row {
        roundings,
        satfinite: Satfinite::Always,
        relu: true,
        sat: false,
        packing: "x2",
        targets,
        ..PLAIN
    })
}
