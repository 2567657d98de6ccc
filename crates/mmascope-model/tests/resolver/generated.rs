//! Functions made here, with flags drawn at random, as the resolver and as LLVM lower them.

use mmascope_model::precision::legal::Target;
use mmascope_model::precision::resolve::{Request, resolve};

use super::llvm;

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

/// Bodies: `$` stands for flags, `T` for the type, `S` for its suffix, `0`, `1`, `2`, `3` with a dot for constants.
const BODIES: &[(&str, &[&str])] = &[
    ("abc", &["%r = fadd $ T %a, %b"]),
    ("abc", &["%r = fsub $ T %a, %b"]),
    ("abc", &["%r = fmul $ T %a, %b"]),
    ("abc", &["%r = fdiv $ T %a, %b"]),
    ("a", &["%r = fdiv $ T 1.0, %a"]),
    ("a", &["%r = fdiv $ T -1.0, %a"]),
    ("a", &["%r = fneg T %a"]),
    ("abc", &["%m = fmul $ T %a, %b", "%r = fadd $ T %m, %c"]),
    ("abc", &["%m = fmul $ T %a, %b", "%r = fadd $ T %c, %m"]),
    ("abc", &["%m = fmul $ T %a, %b", "%r = fsub $ T %m, %c"]),
    ("abc", &["%m = fmul $ T %a, %b", "%r = fsub $ T %c, %m"]),
    (
        "abc",
        &[
            "%m = fmul $ T %a, %b",
            "%n = fneg T %m",
            "%r = fadd $ T %n, %c",
        ],
    ),
    (
        "abcd",
        &[
            "%m = fmul $ T %a, %b",
            "%n = fadd $ T %m, %c",
            "%p = fadd $ T %m, %d",
            "%r = fmul $ T %n, %p",
        ],
    ),
    (
        "abcd",
        &[
            "%m = fmul $ T %a, %b",
            "%n = fmul $ T %c, %d",
            "%r = fadd $ T %m, %n",
        ],
    ),
    ("abc", &["%m = fadd $ T %a, %b", "%r = fadd $ T %m, %c"]),
    ("abc", &["%m = fmul $ T %a, %b", "%r = fmul $ T %m, %c"]),
    ("a", &["%r = fsub $ T %a, %a"]),
    ("a", &["%r = fsub $ T 0.0, %a"]),
    ("a", &["%r = fsub $ T -0.0, %a"]),
    ("a", &["%r = fadd $ T %a, 0.0"]),
    ("a", &["%r = fadd $ T %a, -0.0"]),
    ("a", &["%r = fsub $ T %a, 0.0"]),
    ("a", &["%r = fmul $ T %a, 1.0"]),
    ("a", &["%r = fmul $ T %a, -1.0"]),
    ("a", &["%r = fmul $ T %a, 2.0"]),
    ("a", &["%r = fdiv $ T %a, 2.0"]),
    ("a", &["%r = fdiv $ T %a, 3.0"]),
    ("a", &["%r = fdiv $ T %a, %a"]),
    ("ab", &["%m = fadd $ T %a, %b", "%r = fsub $ T %m, %b"]),
    ("ab", &["%m = fsub $ T %a, %b", "%r = fadd $ T %m, %b"]),
    ("ab", &["%m = fneg T %b", "%r = fsub $ T %a, %m"]),
    ("ab", &["%m = fneg T %b", "%r = fadd $ T %a, %m"]),
    (
        "abc",
        &[
            "%m = fdiv $ T %a, %c",
            "%n = fdiv $ T %b, %c",
            "%r = fmul $ T %m, %n",
        ],
    ),
    ("a", &["%r = call $ T @llvm.sqrt.S(T %a)"]),
    (
        "a",
        &["%m = call $ T @llvm.sqrt.S(T %a)", "%r = fdiv $ T 1.0, %m"],
    ),
    (
        "ab",
        &["%m = call $ T @llvm.sqrt.S(T %a)", "%r = fdiv $ T %b, %m"],
    ),
    ("a", &["%r = call $ T @llvm.fabs.S(T %a)"]),
    ("abc", &["%r = call $ T @llvm.fma.S(T %a, T %b, T %c)"]),
    ("abc", &["%r = call $ T @llvm.fmuladd.S(T %a, T %b, T %c)"]),
    ("a", &["%r = call $ T @llvm.sin.S(T %a)"]),
    ("a", &["%r = call $ T @llvm.cos.S(T %a)"]),
    ("a", &["%r = call $ T @llvm.tanh.S(T %a)"]),
    ("a", &["%r = call $ T @llvm.exp2.S(T %a)"]),
    ("a", &["%r = call $ T @llvm.log2.S(T %a)"]),
];

const TYPES: &[(&str, &str)] = &[
    ("float", "f32"),
    ("float", "f32"),
    ("float", "f32"),
    ("double", "f64"),
    ("half", "f16"),
    ("bfloat", "bf16"),
];
const FLAGS: &[&str] = &["nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"];
const MODES: &[&str] = &[
    "",
    "",
    "\"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\"",
    "\"denormal-fp-math\"=\"preserve-sign,ieee\"",
    "\"denormal-fp-math\"=\"positive-zero,positive-zero\"",
    "\"denormal-fp-math\"=\"preserve-sign,preserve-sign\" \"denormal-fp-math-f32\"=\"ieee,ieee\"",
];
const TARGETS: &[&str] = &["sm_75", "sm_80", "sm_89", "sm_90", "sm_100"];

fn flags(random: &mut Random) -> String {
    match random.below(6) {
        0 => String::new(),
        1 => "fast".to_owned(),
        2 => FLAGS[random.below(7)].to_owned(),
        _ => {
            let drawn = FLAGS.iter().filter(|_| random.below(2) == 0);
            drawn.copied().collect::<Vec<_>>().join(" ")
        }
    }
}

fn function(random: &mut Random, parameters: &str, body: &[&str]) -> (String, String) {
    let (kind, suffix) = TYPES[random.below(TYPES.len())];
    let mut lines = Vec::new();
    for line in body {
        let line = line
            .replace('$', &flags(random))
            .replace(".S", &format!(".{suffix}"))
            .replace(" T ", &format!(" {kind} "));
        lines.push(line.replace("(T ", &format!("({kind} ")));
    }
    let names: Vec<String> = parameters
        .chars()
        .map(|name| format!("{kind} %{name}"))
        .collect();
    let mode = MODES[random.below(MODES.len())];
    let text = format!(
        "define {kind} @f({}) {mode} {{\n{}\nret {kind} %r\n}}\n",
        names.join(", "),
        lines.join("\n")
    );
    let calls = text
        .split('@')
        .skip(2)
        .filter_map(|call| call.split_once('('));
    let declared: Vec<String> = calls
        .map(|(name, rest)| {
            let count = rest.split(')').next().unwrap_or("").split(',').count();
            format!("declare {kind} @{name}({})\n", vec![kind; count].join(", "))
        })
        .collect();
    let target = TARGETS[random.below(TARGETS.len())];
    (target.to_owned(), text + &declared.concat())
}

#[test]
fn llvm_agrees_on_generated_functions() {
    let mut random = Random(11);
    let mut cases = Vec::new();
    for _ in 0..24 {
        for (parameters, body) in BODIES {
            cases.push(function(&mut random, parameters, body));
        }
    }
    compare(&cases, 500);
}

/// Compares the resolver with LLVM on functions for targets, of which LLVM must select at least so many.
pub(super) fn compare(cases: &[(String, String)], least: usize) {
    let Some(answers) = llvm::instructions(cases) else {
        eprintln!("skipped: no llvmlite beside MMASCOPE_PYTHON");
        return;
    };
    let (mut wrong, mut compared, mut unselected) = (Vec::new(), 0, 0);
    for ((target, text), answer) in cases.iter().zip(answers) {
        let target: Target = target.parse().expect("a target");
        let resolution =
            resolve(&Request::new(text, target)).unwrap_or_else(|error| panic!("{error}: {text}"));
        let Some(names) = answer else {
            // What the backend cannot select is a call here.
            unselected += 1;
            let called = resolution.steps.iter().any(|step| step.is_call());
            if !called {
                wrong.push(format!(
                    "{target}: LLVM selects nothing, we {:?}\n{text}",
                    resolution.ptx()
                ));
            }
            continue;
        };
        let mut ours = resolution.ptx();
        ours.sort();
        let mut names = names;
        if text.contains("bfloat") && target.sm < 89 {
            // How bf16 is widened and rounded by integers there is LLVM's affair; the float instructions are compared.
            let float = |name: &String| {
                name.contains("f32") && !name.starts_with("setp") || name.contains("bf16")
            };
            ours.retain(float);
            names.retain(float);
            ours.retain(|name| target.sm >= 80 || name != "neg.bf16" && name != "abs.bf16");
        }
        compared += 1;
        if ours != names {
            wrong.push(format!("{target}: LLVM {names:?}\n   we {ours:?}\n{text}"));
        }
    }
    eprintln!("{compared} functions compared, {unselected} that LLVM does not select");
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(25)].join("\n")
    );
    assert!(compared >= least, "{compared} functions compared");
}
