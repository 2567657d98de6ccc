//! Every row of `precision.md` §4 as LLVM's column has it, asked of LLVM itself.

use super::generated::compare;

/// Denormal modes of a function: both attributes, each kind of mode, output and input apart.
const MODES: &[&str] = &[
    "",
    "\"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\"",
    "\"denormal-fp-math-f32\"=\"preserve-sign,ieee\"",
    "\"denormal-fp-math-f32\"=\"ieee,preserve-sign\"",
    "\"denormal-fp-math-f32\"=\"positive-zero,positive-zero\"",
    "\"denormal-fp-math\"=\"preserve-sign,preserve-sign\"",
    "\"denormal-fp-math\"=\"preserve-sign,preserve-sign\" \"denormal-fp-math-f32\"=\"ieee,ieee\"",
    "\"denormal-fp-math\"=\"ieee,ieee\" \"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\"",
];

/// A function of f32 with these lines; what it calls is declared.
fn function(mode: &str, lines: &[&str]) -> String {
    let mut declared: Vec<String> = Vec::new();
    for line in lines {
        let Some((_, call)) = line.split_once('@') else {
            continue;
        };
        let (name, rest) = call.split_once('(').expect("a call");
        let count = rest.matches("float").count();
        let line = format!(
            "declare float @{name}({})\n",
            vec!["float"; count].join(", ")
        );
        if !declared.contains(&line) {
            declared.push(line);
        }
    }
    let body = lines.join("\n");
    let parameters = "float %a, float %b, float %c, float %d";
    format!(
        "define float @f({parameters}) {mode} {{\n{body}\nret float %r\n}}\n{}",
        declared.concat()
    )
}

/// Functions with every mode, for two generations of targets.
fn with_every_mode(functions: &[Vec<String>]) -> Vec<(String, String)> {
    let mut cases = Vec::new();
    for target in ["sm_75", "sm_90"] {
        for mode in MODES {
            for lines in functions {
                let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
                cases.push((target.to_owned(), function(mode, &lines)));
            }
        }
    }
    cases
}

fn lines(text: &[&str]) -> Vec<String> {
    text.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn llvm_flushes_where_rule_4_says() {
    let operations = ["fadd", "fsub", "fmul", "fdiv"];
    let binary = operations.map(|name| lines(&[&format!("%r = {name} float %a, %b")]));
    let mut functions = binary.to_vec();
    functions.push(lines(&["%r = call float @llvm.sqrt.f32(float %a)"]));
    functions.push(lines(&[
        "%r = call float @llvm.fma.f32(float %a, float %b, float %c)",
    ]));
    compare(&with_every_mode(&functions), 90);
}

#[test]
fn llvm_keeps_explicit_intrinsics_as_named() {
    let unary = [
        "sqrt.rn.f",
        "sqrt.rn.ftz.f",
        "sqrt.rz.f",
        "sqrt.approx.f",
        "sqrt.approx.ftz.f",
        "rcp.rn.f",
        "rcp.rn.ftz.f",
        "rsqrt.approx.f",
        "rsqrt.approx.ftz.f",
        "sin.approx.f",
        "cos.approx.ftz.f",
        "ex2.approx.f",
        "ex2.approx.ftz.f",
        "lg2.approx.f",
        "sqrt.f",
    ];
    let binary = [
        "add.rz.f",
        "add.rz.ftz.f",
        "mul.rm.f",
        "mul.rn.ftz.f",
        "div.approx.f",
        "div.rn.ftz.f",
    ];
    let call = |name: &str, operands: &str| {
        lines(&[&format!("%r = call float @llvm.nvvm.{name}({operands})")])
    };
    let mut functions: Vec<Vec<String>> = unary.iter().map(|name| call(name, "float %a")).collect();
    functions.extend(binary.iter().map(|name| call(name, "float %a, float %b")));
    functions.push(call("fma.rz.ftz.f", "float %a, float %b, float %c"));
    compare(&with_every_mode(&functions), 300);
}

#[test]
fn llvm_takes_afn_and_arcp_as_rule_4_says() {
    let mut functions = Vec::new();
    for flag in ["", "afn", "arcp", "fast"] {
        for name in ["sqrt", "sin", "cos", "tanh"] {
            functions.push(lines(&[&format!(
                "%r = call {flag} float @llvm.{name}.f32(float %a)"
            )]));
        }
        functions.push(lines(&[&format!("%r = fdiv {flag} float %a, %b")]));
        functions.push(lines(&[&format!("%r = fdiv {flag} float 1.0, %a")]));
        for root in ["", "afn"] {
            functions.push(lines(&[
                &format!("%m = call {root} float @llvm.sqrt.f32(float %a)"),
                &format!("%r = fdiv {flag} float 1.0, %m"),
            ]));
        }
    }
    compare(&with_every_mode(&functions), 300);
}

#[test]
fn llvm_contracts_and_folds_as_rule_4_says() {
    let mut functions = Vec::new();
    for product in ["", "contract"] {
        for sum in ["", "contract"] {
            functions.push(lines(&[
                &format!("%m = fmul {product} float %a, %b"),
                &format!("%r = fadd {sum} float %m, %c"),
            ]));
            // A product with two uses.
            functions.push(lines(&[
                &format!("%m = fmul {product} float %a, %b"),
                &format!("%n = fadd {sum} float %m, %c"),
                &format!("%p = fadd {sum} float %m, %d"),
                "%r = fmul float %n, %p",
            ]));
        }
        // The text of plain operations.
        for name in ["fadd", "fsub", "fmul", "fdiv"] {
            functions.push(lines(&[&format!("%r = {name} {product} float %a, %b")]));
        }
    }
    for flag in ["", "nnan", "nsz", "nnan nsz", "ninf"] {
        functions.push(lines(&[&format!("%r = fsub {flag} float %a, %a")]));
        functions.push(lines(&[&format!("%r = fsub {flag} float 0.0, %a")]));
    }
    compare(&with_every_mode(&functions), 300);
}
