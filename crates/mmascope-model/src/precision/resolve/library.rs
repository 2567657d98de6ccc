//! The device library: which symbols there are, what gates them, what their fast bodies are (`precision.md` §3).

use super::graph::Settings;
use super::select::Lowering;
use super::step::StepOperand;
use super::{Note, Severity};
use crate::error::Result;
use crate::format::{F32, F64, Format};

/// What a symbol's body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// One instruction, with `.ftz` where `__CUDA_FTZ` is set.
    Single(&'static str),
    /// The square root: `__CUDA_FTZ` first, then `__CUDA_PREC_SQRT`.
    Root,
    /// One instruction that nothing gates.
    Ungated(&'static str),
    /// A fast body of several operations.
    Fast,
    /// An accurate algorithm, with the largest error in units of the last place that CUDA's documentation states.
    Accurate(&'static str, u32),
}

/// The symbols of f32 and f64 that the resolver knows: name, operands, body.
const SYMBOLS: &[(&str, usize, Body)] = &[
    ("__nv_sqrtf", 1, Body::Root),
    ("__nv_sqrt", 1, Body::Ungated("sqrt.rn.f64")),
    ("__nv_rsqrtf", 1, Body::Single("rsqrt.approx")),
    ("__nv_exp2f", 1, Body::Single("ex2.approx")),
    ("__nv_frcp_rn", 1, Body::Single("rcp.rn")),
    ("__nv_fdiv_rn", 2, Body::Single("div.rn")),
    ("__nv_fsqrt_rn", 1, Body::Single("sqrt.rn")),
    ("__nv_fast_sinf", 1, Body::Fast),
    ("__nv_fast_cosf", 1, Body::Fast),
    ("__nv_fast_sincosf", 1, Body::Fast),
    ("__nv_fast_tanf", 1, Body::Fast),
    ("__nv_fast_tanhf", 1, Body::Fast),
    ("__nv_fast_expf", 1, Body::Fast),
    ("__nv_fast_exp10f", 1, Body::Fast),
    ("__nv_fast_logf", 1, Body::Fast),
    ("__nv_fast_log2f", 1, Body::Fast),
    ("__nv_fast_log10f", 1, Body::Fast),
    ("__nv_fast_powf", 2, Body::Fast),
    ("__nv_fast_fdividef", 2, Body::Fast),
    ("__nv_sinf", 1, Body::Accurate("sin", 2)),
    ("__nv_cosf", 1, Body::Accurate("cos", 2)),
    ("__nv_tanf", 1, Body::Accurate("tan", 4)),
    ("__nv_tanhf", 1, Body::Accurate("tanh", 2)),
    ("__nv_expf", 1, Body::Accurate("exp", 2)),
    ("__nv_exp10f", 1, Body::Accurate("exp10", 2)),
    ("__nv_logf", 1, Body::Accurate("log", 1)),
    ("__nv_log2f", 1, Body::Accurate("log2", 1)),
    ("__nv_log10f", 1, Body::Accurate("log10", 2)),
    ("__nv_powf", 2, Body::Accurate("pow", 4)),
    ("__nv_sin", 1, Body::Accurate("sin", 2)),
    ("__nv_cos", 1, Body::Accurate("cos", 2)),
];

/// Symbols that the source document names and that do not exist.
const INVENTED: &[(&str, &str)] = &[
    (
        "__nv_fast_sqrt",
        "there is no fast square root; __nv_sqrtf is gated by __CUDA_PREC_SQRT",
    ),
    (
        "__nv_fast_sqrtf",
        "there is no fast square root; __nv_sqrtf is gated by __CUDA_PREC_SQRT",
    ),
    ("__nv_fast_erff", "there is no fast error function"),
    ("__nv_fast_atanf", "there is no fast arc tangent"),
];

/// The names of all symbols.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SYMBOLS.iter().map(|(name, _, _)| *name)
}

/// The symbol that gives two results, the sine and the cosine.
pub(super) const TWO_RESULTS: &str = "__nv_fast_sincosf";

/// The fast symbols: exactly twelve exist.
pub fn fast_names() -> impl Iterator<Item = &'static str> {
    let fast = SYMBOLS.iter().filter(|(_, _, body)| *body == Body::Fast);
    fast.map(|(name, _, _)| *name)
}

/// How many operands a symbol takes.
pub(super) fn arity(name: &str) -> Option<usize> {
    let known = SYMBOLS
        .iter()
        .find(|(known, _, _)| *known == name)
        .map(|(_, count, _)| *count);
    known.or_else(|| {
        INVENTED
            .iter()
            .any(|(known, _)| *known == name)
            .then_some(1)
    })
}

/// The function that an accurate symbol computes, and its largest error in units of the last place.
pub(crate) fn accurate(name: &str) -> Option<(&'static str, u32)> {
    SYMBOLS
        .iter()
        .find(|(known, _, _)| *known == name)
        .and_then(|(_, _, body)| match body {
            Body::Accurate(function, error) => Some((*function, *error)),
            _ => None,
        })
}

/// Whether a symbol takes and gives f64.
pub(super) fn is_double(name: &str) -> bool {
    matches!(name, "__nv_sqrt" | "__nv_sin" | "__nv_cos")
}

/// The type that a symbol takes and gives; `None` where the name is none.
pub(super) fn format_of(name: &str) -> Option<Format> {
    arity(name).map(|_| if is_double(name) { F64 } else { F32 })
}

/// Lowers a call of a symbol.
pub(super) fn lower(
    lowering: &mut Lowering<'_>,
    name: &str,
    args: &[StepOperand],
    settings: Settings,
) -> Result<Option<StepOperand>> {
    if let Some((_, reason)) = INVENTED.iter().find(|(known, _)| *known == name) {
        let text = format!("{name} does not exist: {reason}");
        lowering.say(Note::new(Severity::Error, "library/symbol", &text).deviating(18));
        return Ok(Some(args[0]));
    }
    let Some((_, _, body)) = SYMBOLS.iter().find(|(known, _, _)| *known == name) else {
        return Ok(None);
    };
    let double = is_double(name);
    if double != (lowering.format == F64) {
        let (takes, given) = (if double { "f64" } else { "f32" }, lowering.format);
        let text = format!("{name} takes {takes}, not {given}");
        lowering.say(Note::new(Severity::Error, "library/type", &text));
        return Ok(Some(args[0]));
    }
    let flush = lowering.context.reflect.value("__CUDA_FTZ") != 0;
    let n = if flush { ".ftz" } else { "" };
    let result = match *body {
        Body::Ungated(instruction) => lowering.emit(instruction, args, "library/ungated"),
        Body::Single(stem) => lowering.emit(&format!("{stem}{n}.f32"), args, "library/__CUDA_FTZ"),
        Body::Root => {
            let precise = lowering.context.reflect.value("__CUDA_PREC_SQRT") != 0;
            let arm = if precise { "rn" } else { "approx" };
            let rule = "library/__CUDA_FTZ, then __CUDA_PREC_SQRT";
            lowering.emit(&format!("sqrt.{arm}{n}.f32"), args, rule)
        }
        Body::Accurate(..) => lowering.emit(&format!("call {name}"), args, "library/accurate"),
        Body::Fast => fast(lowering, name, args, settings, n),
    };
    Ok(Some(result))
}

/// The bodies of the fast symbols. `n` is `.ftz` where `__CUDA_FTZ` is set.
fn fast(
    lowering: &mut Lowering<'_>,
    name: &str,
    args: &[StepOperand],
    settings: Settings,
    n: &str,
) -> StepOperand {
    const RULE: &str = "approx/fast-symbol";
    // 0x1.715476p0, 0x1.a934fp1, 0x1.62e43p-1, 0x1.344136p-2
    let constants = [0x3fb8_aa3b, 0x4054_9a78, 0x3f31_7218, 0x3e9a_209b];
    let [log2_e, log2_10, ln_2, log10_2] = constants.map(StepOperand::Word);
    let x = args[0];
    // The multiplication is of the calling function: its flush, not the library's.
    let multiply = lowering.arithmetic(
        "mul",
        Settings {
            rounding: None,
            ..settings
        },
    );
    let unary = |stem: &str| format!("{stem}.approx{n}.f32");
    match name {
        "__nv_fast_sinf" => lowering.emit(&unary("sin"), args, RULE),
        "__nv_fast_cosf" => lowering.emit(&unary("cos"), args, RULE),
        TWO_RESULTS => {
            let sine = lowering.emit(&unary("sin"), args, RULE);
            lowering.second = Some(lowering.emit(&unary("cos"), args, RULE));
            sine
        }
        "__nv_fast_tanf" => {
            let sine = lowering.emit(&unary("sin"), args, RULE);
            let cosine = lowering.emit(&unary("cos"), args, RULE);
            lowering.emit(&unary("div"), &[sine, cosine], RULE)
        }
        "__nv_fast_tanhf" if lowering.context.reflect.value("__CUDA_ARCH") >= 730 => {
            lowering.emit("tanh.approx.f32", args, RULE)
        }
        "__nv_fast_tanhf" => lowering.emit("call __nv_tanhf", args, "library/__CUDA_ARCH"),
        "__nv_fast_expf" | "__nv_fast_exp10f" => {
            let factor = if name == "__nv_fast_expf" {
                log2_e
            } else {
                log2_10
            };
            let scaled = lowering.emit(&multiply, &[x, factor], RULE);
            lowering.emit(&unary("ex2"), &[scaled], RULE)
        }
        "__nv_fast_log2f" => lowering.emit(&unary("lg2"), args, RULE),
        "__nv_fast_logf" | "__nv_fast_log10f" => {
            let factor = if name == "__nv_fast_logf" {
                ln_2
            } else {
                log10_2
            };
            let logarithm = lowering.emit(&unary("lg2"), args, RULE);
            lowering.emit(&multiply, &[logarithm, factor], RULE)
        }
        "__nv_fast_powf" => {
            let logarithm = lowering.emit(&unary("lg2"), &[x], RULE);
            let product = lowering.emit(&multiply, &[args[1], logarithm], RULE);
            lowering.emit(&unary("ex2"), &[product], RULE)
        }
        _ => lowering.emit(&unary("div"), args, RULE),
    }
}
