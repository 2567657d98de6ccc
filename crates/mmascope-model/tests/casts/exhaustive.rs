//! Every code of every format of at most 16 bits, cast to every format in every rounding under every
//! policy and clamp.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use mmascope_model::format::{Format, Overflow, Rounding};
use mmascope_model::precision::cast::{Cast, CastOptions, CastPolicy, OutOfRange};

use crate::oracle::{Beyond, Meaning, Place, SPECS, Shape, Spec, Target, infinite, rounded};

/// A cast and what was asked for.
pub(crate) struct Case {
    pub(crate) cast: Cast,
    pub(crate) options: CastOptions,
}

/// Every different cast between two formats.
pub(crate) fn cases(from: &Format, to: &Format) -> Vec<Case> {
    let policies = [
        None,
        Some(CastPolicy::Ieee),
        Some(CastPolicy::Ptx),
        Some(CastPolicy::MlDtypes),
        Some(CastPolicy::Ocp),
        Some(CastPolicy::Host),
    ];
    let overflows = [
        None,
        Some(OutOfRange::Ieee),
        Some(OutOfRange::SatFinite),
        Some(OutOfRange::Nan),
    ];
    let mut asked = Vec::new();
    for rounding in Rounding::deterministic() {
        let rounding = Some(rounding);
        for policy in policies {
            for overflow in overflows {
                asked.push(CastOptions {
                    rounding,
                    policy,
                    overflow,
                    ..CastOptions::default()
                });
            }
        }
        let plain = CastOptions {
            rounding,
            ..CastOptions::default()
        };
        asked.push(CastOptions {
            relu: true,
            ..plain
        });
        asked.push(CastOptions { sat: true, ..plain });
        asked.push(CastOptions { pzo: true, ..plain });
        asked.push(CastOptions {
            relu: true,
            policy: Some(CastPolicy::Ieee),
            ..plain
        });
        asked.push(CastOptions { ftz: true, ..plain });
    }
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for options in asked {
        if let Ok(cast) = Cast::new(*from, *to, &options)
            && seen.insert(cast)
        {
            out.push(Case { cast, options });
        }
    }
    out
}

fn beyond(overflow: Overflow) -> Beyond {
    match overflow {
        Overflow::Infinity => Beyond::Infinity,
        Overflow::Ieee => Beyond::Ieee,
        Overflow::Nan => Beyond::Nan,
        Overflow::Saturate => Beyond::Saturate,
        Overflow::SaturateFinite => Beyond::SaturateFinite,
        Overflow::NanFinite => unreachable!("no cast asks for it"),
    }
}

/// A code of a source, and where its magnitude stands in the target.
pub(crate) struct Source<'a> {
    spec: &'a Spec,
    code: u64,
    meaning: Meaning,
    place: Option<Place>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(spec: &'a Spec, code: u64, target: &Target) -> Self {
        let meaning = spec.meaning(code);
        let place = match meaning {
            Meaning::Number(_, magnitude) if magnitude.is_finite() => Some(target.place(magnitude)),
            _ => None,
        };
        Self {
            spec,
            code,
            meaning,
            place,
        }
    }
}

/// What the rules say.
pub(crate) fn expected(source: &Source, target: &Target, case: &Case) -> u64 {
    let Source {
        spec: from,
        code,
        meaning,
        place,
    } = *source;
    let to = &target.spec;
    let Case { cast, options } = case;
    let policy = cast.policy();
    let beyond = beyond(cast.overflow());
    let integers = from.is_integer() && to.is_integer();
    let wraps = matches!(
        policy,
        CastPolicy::Ptx | CastPolicy::MlDtypes | CastPolicy::Host
    );
    if integers && wraps && !options.sat && options.overflow.is_none() {
        let sign = from.signed && code >> (from.bits - 1) == 1;
        let extended = if sign {
            code as i128 - (1 << from.bits)
        } else {
            code as i128
        };
        return extended as u64 & to.mask();
    }
    let unit = options.sat && !to.is_integer();
    let flushes = |magnitude: f64| magnitude > 0.0 && magnitude < 2f64.powi(-126);
    let (negative, given) = match meaning {
        Meaning::Nan if unit => return to.zero(false),
        Meaning::Nan => return of_nan(from, code, to, policy, options),
        Meaning::Number(negative, magnitude) => (negative, magnitude),
    };
    let mut magnitude = given;
    if options.ftz && from.name == "f32" && flushes(magnitude) {
        magnitude = 0.0;
    }
    if (options.relu || unit) && negative {
        return to.zero(false);
    }
    if unit && magnitude > 1.0 {
        magnitude = 1.0;
    }
    if policy == CastPolicy::MlDtypes && to.name == "ue8m0" {
        // Zero, negative numbers and ∞ are NaN; of the subnormal f32 the upper ones are 2^-126.
        if negative || magnitude == 0.0 || magnitude.is_infinite() {
            return 0xff;
        }
        let least = 2f64.powi(-127);
        if cast.rounding() == Rounding::Rne && magnitude > least && magnitude < 2.0 * least {
            return 1;
        }
    }
    let code = if magnitude.is_infinite() {
        infinite(to, negative, beyond)
    } else {
        let place = place.filter(|_| magnitude == given);
        let place = place.unwrap_or_else(|| target.place(magnitude));
        rounded(to, place, negative, cast.rounding(), beyond)
    };
    let flushed = options.ftz && to.name == "f32" && {
        let Meaning::Number(_, magnitude) = to.meaning(code) else {
            return code;
        };
        flushes(magnitude)
    };
    let is_zero = matches!(to.meaning(code), Meaning::Number(_, 0.0));
    match flushed {
        true => to.zero(negative),
        false if options.pzo && is_zero => to.zero(false),
        false => code,
    }
}

fn of_nan(from: &Spec, code: u64, to: &Spec, policy: CastPolicy, options: &CastOptions) -> u64 {
    let sign = from.signed && code >> (from.bits - 1) == 1;
    if to.is_integer() {
        let long = from.name == "f64" || to.bits == 64;
        let is_ptx = matches!(policy, CastPolicy::Ptx | CastPolicy::Host);
        return if long && is_ptx {
            1 << (to.bits - 1)
        } else {
            0
        };
    }
    let largest = to.largest(false);
    // PTX's canonical NaNs, as precision.md §6 lists them.
    let canonical = match to.name {
        "f32" => 0x7fff_ffff,
        "tf32" => 0x3_ffff,
        "f16" | "bf16" => 0x7fff,
        "e5m2" => 0x7f,
        _ => to.nan().unwrap_or(largest),
    };
    if options.relu {
        return canonical;
    }
    match policy {
        CastPolicy::Ptx => of_ptx(from.name, code, to.name, options).unwrap_or(canonical),
        CastPolicy::Host => match (from.name, to.name) {
            ("bf16", "f32") => code << 16,
            _ => canonical,
        },
        CastPolicy::Ieee | CastPolicy::Ocp => to.nan().unwrap_or(largest),
        CastPolicy::MlDtypes => {
            let Some(nan) = to.nan() else {
                return to.zero(!sign);
            };
            let sign = if sign && to.signed {
                1 << (to.bits - 1)
            } else {
                0
            };
            let shifted = match (from.name, to.name) {
                ("f16", "f32") => 0x7f80_0000 | (code & 0x3ff) << 13,
                ("bf16", "f32") => (code & 0x7fff) << 16,
                // NumPy 2.4 leaves signalling NaNs of f16 as they are.
                ("f16", "f64") => 0x7ff0 << 48 | (code & 0x3ff) << 42,
                ("bf16", "f64") => 0x7ff8 << 48 | (code & 0x7f) << 45,
                (a, b) if a == b => return code,
                _ => nan,
            };
            shifted | sign
        }
    }
}

/// The NaNs that are not canonical, as an H200 makes them; `None` for the others.
fn of_ptx(from: &str, code: u64, to: &str, options: &CastOptions) -> Option<u64> {
    let rna = options.rounding == Some(Rounding::Rna);
    let quiet = 1 << 51;
    Some(match (from, to) {
        ("bf16", "f32") if !options.ftz => code << 16,
        ("f32", "f32") if !options.ftz => code,
        // Codes of tf32 are words without their 13 low bits.
        ("f32", "tf32") if rna && options.overflow == Some(OutOfRange::SatFinite) => {
            ((code & 0xffff_e000) - 0x2000) >> 13
        }
        ("f32", "tf32") if rna => code >> 13,
        ("f16", "f64") => 0x7ff << 52 | quiet | (code & 0x8000) << 48 | (code & 0x3ff) << 42,
        ("bf16", "f64") => 0x7ff << 52 | quiet | (code & 0x8000) << 48 | (code & 0x7f) << 45,
        // The product that flushes makes the NaN canonical.
        ("f32", "f64") if options.ftz => 0x7fff_ffff_e000_0000,
        ("f32", "f64") => 0x7ff << 52 | quiet | (code >> 31) << 63 | (code & 0x7f_ffff) << 29,
        _ => return None,
    })
}

/// Runs a check for every item on every core.
pub(crate) fn on_every_core<T: Sync>(items: &[T], check: impl Fn(&T) -> u64 + Sync) -> u64 {
    let next = AtomicUsize::new(0);
    let count = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, |count| count.get());
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    count.fetch_add(check(item) as usize, Ordering::Relaxed);
                }
            });
        }
    });
    count.into_inner() as u64
}

#[test]
fn every_source_of_16_bits_or_fewer_to_every_target_rounding_and_policy() {
    let narrow = SPECS.iter().filter(|spec| spec.bits <= 16);
    let pairs: Vec<(Spec, Spec)> = narrow
        .flat_map(|from| SPECS.iter().map(move |to| (*from, *to)))
        .collect();
    let count = on_every_core(&pairs, |(from, to)| {
        let (source, format) = [from, to]
            .map(|spec| Format::named(spec.name).unwrap())
            .into();
        let target = Target::new(*to);
        let mut count = 0;
        let cases = cases(&source, &format);
        for code in 0..=from.mask() {
            let source = Source::new(from, code, &target);
            for case in &cases {
                let wanted = expected(&source, &target, case);
                let got = case.cast.code(code);
                assert!(
                    got == wanted,
                    "{} {code:#x} to {}: {got:#x}, not {wanted:#x}, with {:?} ({:?})",
                    from.name,
                    to.name,
                    case.options,
                    case.cast
                );
                count += 1;
            }
        }
        count
    });
    println!("{count} casts");
    assert!(count > 300_000_000, "{count}");
}

#[test]
fn the_oracle_has_every_format_of_the_table() {
    use mmascope_model::format::FORMATS;
    let mut ours: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let mut listed: Vec<&str> = SPECS.iter().map(|spec| spec.name).collect();
    ours.sort_unstable();
    listed.sort_unstable();
    assert_eq!(ours, listed);
    assert!(SPECS.iter().any(|spec| matches!(spec.shape, Shape::Powers)));
}
