//! Functions by their short names under each policy: `sqrt`, `sin`, `tanh`, `exp2` and the others.

use super::flags::Fmf;
use super::graph::{Mode, Settings};
use super::policy::Policy;
use super::select::Lowering;
use super::step::StepOperand;
use super::{Note, Severity};
use crate::error::Result;
use crate::explain::number_word;
use crate::format::{BF16, F16, F32, F64};

/// Lowers a function.
pub(super) fn lower(
    lowering: &mut Lowering<'_>,
    name: &str,
    args: &[StepOperand],
    settings: Settings,
) -> Result<StepOperand> {
    match name {
        "abs" | "min" | "max" => Ok(lowering.selection(name, args, settings)),
        "sqrt" => Ok(root(lowering, args, settings)),
        "rsqrt" => Ok(reciprocal_root(lowering, args, settings)),
        "sin" | "cos" | "tanh" | "exp2" | "log2" | "exp" | "exp10" | "log" | "log10" | "pow"
        | "tan" => Ok(transcendental(lowering, name, args, settings)),
        _ => Err(super::expression::unknown_function("function", name)),
    }
}

/// A square root.
fn root(lowering: &mut Lowering<'_>, args: &[StepOperand], settings: Settings) -> StepOperand {
    let afn = settings.flags.has(Fmf::AFN);
    let policy = lowering.context.policy;
    let double = lowering.format == F64;
    let (arm, rule) = match (settings.rounding, policy) {
        (Some(mode @ (Mode::Approx | Mode::Full)), _) => (mode, "approx/explicit"),
        (Some(mode), _) => (mode, "operation/explicit-rounding"),
        (None, Policy::Llvm | Policy::Seed) if afn && !double => (Mode::Approx, "approx/afn"),
        (None, Policy::Seed) if afn => {
            let text = "the source document lets afn turn __nv_sqrt into sqrt.approx.f32; __nv_sqrt is the f64 symbol";
            lowering.say(Note::new(Severity::Warning, "seed/afn", text).deviating(4));
            (Mode::Rn, "operation/root")
        }
        (None, Policy::Seed) if !double && lowering.context.reflect.is_set("__CUDA_PREC_SQRT") => {
            let precise = lowering.context.reflect.value("__CUDA_PREC_SQRT") != 0;
            (
                if precise { Mode::Rn } else { Mode::Approx },
                "approx/reflect",
            )
        }
        (None, Policy::Llvm | Policy::LibNvvm) if !double && !lowering.context.precise_root() => {
            (Mode::Approx, "approx/option")
        }
        _ => (Mode::Rn, "operation/root"),
    };
    if policy == Policy::LibNvvm && afn {
        lowering.say(Note::new(
            Severity::Note,
            "libnvvm/afn",
            "libNVVM ignores afn on a square root",
        ));
    }
    lowering.unary(&format!("sqrt.{arm}"), true, args, settings, rule)
}

/// A reciprocal square root: PTX has the approximation alone.
fn reciprocal_root(
    lowering: &mut Lowering<'_>,
    args: &[StepOperand],
    settings: Settings,
) -> StepOperand {
    if let Some(mode @ (Mode::Rn | Mode::Rz | Mode::Rm | Mode::Rp)) = settings.rounding {
        return lowering.unary(
            &format!("rsqrt.{mode}"),
            true,
            args,
            settings,
            "operation/explicit-rounding",
        );
    }
    lowering.unary("rsqrt.approx", true, args, settings, "approx/only-form")
}

/// Everything that PTX has as an approximation or not at all.
fn transcendental(
    lowering: &mut Lowering<'_>,
    name: &str,
    args: &[StepOperand],
    settings: Settings,
) -> StepOperand {
    let policy = lowering.context.policy;
    let afn = settings.flags.has(Fmf::AFN);
    let explicit = settings.rounding == Some(Mode::Approx);
    let double = lowering.format == F64;
    let sm = lowering.context.target.sm;
    if let Some(mode @ (Mode::Rn | Mode::Rz | Mode::Rm | Mode::Rp)) = settings.rounding {
        let text = format!("{name} has no .{mode} form: PTX has the approximation alone");
        lowering.say(Note::new(Severity::Error, "operation/rounding", &text));
    }
    let stem = match name {
        "exp2" => "ex2.approx",
        "log2" => "lg2.approx",
        "sin" => "sin.approx",
        "cos" => "cos.approx",
        "tanh" => "tanh.approx",
        _ => "",
    };
    let (chosen, rule) = match policy {
        _ if stem.is_empty() => (false, ""),
        _ if explicit => (true, "approx/explicit"),
        _ if double => (false, ""),
        // The plain exponential has no other form.
        Policy::Llvm | Policy::LibNvvm | Policy::CudaTile if name == "exp2" => {
            (true, "approx/only-form")
        }
        // Given PTX 7.0; with the version that LLVM writes by default, sm_75 has no tanh.
        Policy::Llvm if name == "tanh" && sm < 75 => (false, ""),
        Policy::Llvm => (afn && name != "log2", "approx/afn"),
        Policy::LibNvvm => (afn && name == "tanh" && sm >= 75, "approx/afn"),
        Policy::Seed => (afn && name != "tanh", "approx/afn"),
        Policy::CudaTile => (false, ""),
    };
    if policy == Policy::Seed && name == "tanh" && afn {
        let text = "the source document knows no tanh.approx; PTX has had it since sm_75";
        lowering.say(Note::new(Severity::Warning, "seed/tanh", text).deviating(16));
    }
    if policy == Policy::LibNvvm && afn && matches!(name, "sin" | "cos") {
        let text = format!("libNVVM ignores afn on {name}: the library's accurate body stays");
        lowering.say(Note::new(Severity::Note, "libnvvm/afn", &text));
    }
    if chosen {
        return approximate(lowering, stem, args, settings, rule);
    }
    if policy == Policy::CudaTile && explicit && name == "exp" {
        // exp(x) = 2^(x·log2 e)
        let factor = number_word("log2 e", "0x1.715476p0", &F32, true).unwrap_or(0);
        let multiply = lowering.arithmetic(
            "mul",
            Settings {
                rounding: None,
                ..settings
            },
        );
        let scaled = lowering.emit(
            &multiply,
            &[args[0], StepOperand::Word(factor)],
            "approx/explicit",
        );
        return lowering.unary("ex2.approx", true, &[scaled], settings, "approx/explicit");
    }
    library_call(lowering, name, args)
}

/// An approximation in the type that has it.
fn approximate(
    lowering: &mut Lowering<'_>,
    stem: &str,
    args: &[StepOperand],
    settings: Settings,
    rule: &str,
) -> StepOperand {
    let sm = lowering.context.target.sm;
    let flush = !stem.starts_with("tanh");
    match lowering.format {
        F16 if stem == "ex2.approx" && sm >= 80 => lowering.emit("ex2.approx.f16", args, rule),
        BF16 if stem == "ex2.approx" && sm >= 90 => {
            lowering.emit("ex2.approx.ftz.bf16", args, rule)
        }
        _ => lowering.unary(stem, flush, args, settings, rule),
    }
}

/// The accurate body of the library: the symbol of the type.
fn library_call(lowering: &mut Lowering<'_>, name: &str, args: &[StepOperand]) -> StepOperand {
    let symbol = if lowering.format == F64 {
        format!("call __nv_{name}")
    } else {
        format!("call __nv_{name}f")
    };
    if lowering.context.policy == Policy::Llvm {
        let text = format!(
            "the backend has no instruction for {name} here; front ends call the library's symbol"
        );
        lowering.say(Note::new(Severity::Note, "llvm/cannot-select", &text));
    }
    if matches!(lowering.format, F16 | BF16) {
        return lowering.promoted_call(args, &symbol);
    }
    lowering.emit(&symbol, args, "library/accurate")
}
