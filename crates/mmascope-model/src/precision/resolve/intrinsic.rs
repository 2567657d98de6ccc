//! Intrinsics that name their instruction: `llvm.nvvm.sqrt.rn.ftz.f` is `sqrt.rn.ftz.f32`, whatever the function says.

/// Roundings in the names of intrinsics.
const ROUNDINGS: &[&str] = &["rn", "rz", "rm", "rp"];

/// The instruction of an `llvm.nvvm.…` intrinsic. A trailing `?` says that `@` stands for the function's own flush.
pub(super) fn instruction(name: &str) -> Option<String> {
    let name = name.strip_prefix("llvm.")?.strip_prefix("nvvm.")?;
    if name == "sqrt.f" {
        return Some("sqrt.rn@.f32?".to_owned());
    }
    if name == "tanh.approx.f32" {
        return Some(name.to_owned());
    }
    let words: Vec<&str> = name.split('.').collect();
    let (&kind, words) = words.split_last()?;
    let kind = match kind {
        "f" => "f32",
        "d" => "f64",
        _ => return None,
    };
    let (&opcode, modifiers) = words.split_first()?;
    let rounded = modifiers
        .first()
        .is_some_and(|word| ROUNDINGS.contains(word));
    let approximate = modifiers.first() == Some(&"approx");
    let fits = match opcode {
        "add" | "sub" | "mul" | "fma" => rounded,
        "div" => rounded || approximate || modifiers.first() == Some(&"full"),
        "rcp" | "sqrt" => rounded || approximate,
        "rsqrt" | "sin" | "cos" | "lg2" | "ex2" => approximate,
        _ => false,
    };
    let rest_is_flush = modifiers
        .get(1..)
        .is_some_and(|rest| rest.is_empty() || rest == ["ftz"]);
    (fits && rest_is_flush).then(|| format!("{opcode}.{}.{kind}", modifiers.join(".")))
}

/// How many operands it takes.
pub(super) fn arity(name: &str) -> Option<usize> {
    let instruction = instruction(name)?;
    Some(match instruction.split('.').next()? {
        "fma" => 3,
        "add" | "sub" | "mul" | "div" => 2,
        _ => 1,
    })
}
