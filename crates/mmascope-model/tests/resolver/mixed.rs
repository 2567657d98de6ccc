//! Functions of several types: `fpext` and `fptrunc`, as the resolver and as LLVM lower them, and their values.

use mmascope_model::format::Format;
use mmascope_model::precision::eval::evaluate;
use mmascope_model::precision::legal::Target;
use mmascope_model::precision::resolve::{Request, Resolution, resolve};

use super::generated::Random;
use super::llvm;

/// A type of LLVM, its name in intrinsics, its bits.
const TYPES: &[(&str, &str, u32)] = &[
    ("half", "f16", 16),
    ("bfloat", "bf16", 16),
    ("float", "f32", 32),
    ("double", "f64", 64),
];
const FLUSHING: &str = "\"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\"";

fn of(text: &str, target: &str) -> Resolution {
    let target: Target = target.parse().expect("a target");
    resolve(&Request::new(text, target)).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The functions that convert one value.
fn single(attributes: &str) -> Vec<String> {
    let pairs = TYPES
        .iter()
        .flat_map(|from| TYPES.iter().map(move |to| (from, to)));
    let converted = pairs.filter(|(from, to)| from.2 != to.2).map(|(from, to)| {
        let opcode = if to.2 > from.2 { "fpext" } else { "fptrunc" };
        format!(
            "define {to} @f({from} %a) {attributes} {{\n%r = {opcode} {from} %a to {to}\nret {to} %r\n}}\n",
            to = to.0,
            from = from.0
        )
    });
    converted.collect()
}

#[test]
fn conversions_on_every_target_are_those_of_llvm() {
    let mut cases = Vec::new();
    for target in ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100"] {
        for attributes in ["", FLUSHING] {
            cases.extend(
                single(attributes)
                    .into_iter()
                    .map(|text| (target.to_owned(), text)),
            );
        }
    }
    let Some(answers) = llvm::instructions(&cases) else {
        eprintln!("skipped: no llvmlite beside MMASCOPE_PYTHON");
        return;
    };
    for ((target, text), names) in cases.iter().zip(answers) {
        let mut ours = of(text, target).ptx();
        ours.sort();
        assert_eq!(Some(ours), names, "{target}: {text}");
    }
}

struct Trees<'a> {
    random: &'a mut Random,
    types: &'static [usize],
    flags: &'static str,
    /// The lines, and the type of what each gives.
    lines: Vec<(String, usize)>,
}

impl Trees<'_> {
    fn push(&mut self, line: String, kind: usize) -> String {
        self.lines.push((line, kind));
        format!("%t{}", self.lines.len() - 1)
    }

    /// An operand of a type.
    fn tree(&mut self, kind: usize, depth: usize) -> String {
        let name = TYPES[kind].0;
        if depth == 0 {
            return match self.random.below(4) {
                0 => ["1.0", "2.0", "-0.0", "0.5"][self.random.below(4)].to_owned(),
                _ => format!("%{}{}", ["a", "b"][self.random.below(2)], TYPES[kind].1),
            };
        }
        let known: Vec<usize> = (0..self.lines.len())
            .filter(|&line| self.lines[line].1 == kind)
            .collect();
        if !known.is_empty() && self.random.below(8) == 0 {
            return format!("%t{}", known[self.random.below(known.len())]);
        }
        let others: Vec<usize> = (self.types.iter().copied())
            .filter(|&other| TYPES[other].2 != TYPES[kind].2)
            .collect();
        if self.random.below(3) == 0 {
            let from = others[self.random.below(others.len())];
            let value = self.tree(from, depth - 1);
            let opcode = if TYPES[kind].2 > TYPES[from].2 {
                "fpext"
            } else {
                "fptrunc"
            };
            return self.push(
                format!("{opcode} {} {value} to {name}", TYPES[from].0),
                kind,
            );
        }
        let x = self.tree(kind, depth - 1);
        let flags = self.flags;
        let line = match self.random.below(5) {
            0 => format!("fneg {flags} {name} {x}"),
            place => {
                let opcode = ["fadd", "fsub", "fmul", "fmul"][place - 1];
                let y = self.tree(kind, depth - 1);
                format!("{opcode} {flags} {name} {x}, {y}")
            }
        };
        self.push(line, kind)
    }
}

/// A function of one tree over some types.
fn function(random: &mut Random, types: &'static [usize], flags: &'static str) -> String {
    loop {
        let kind = types[random.below(types.len())];
        let depth = 2 + random.below(3);
        let mut trees = Trees {
            random,
            types,
            flags,
            lines: Vec::new(),
        };
        let root = trees.tree(kind, depth);
        let converts =
            |(line, _): &(String, usize)| line.starts_with("fpext") || line.starts_with("fptrunc");
        if !trees.lines.iter().any(converts) {
            continue;
        }
        let parameters: Vec<String> = types
            .iter()
            .flat_map(|&kind| {
                ["a", "b"].map(|name| format!("{} %{name}{}", TYPES[kind].0, TYPES[kind].1))
            })
            .collect();
        let body: Vec<String> = trees
            .lines
            .iter()
            .enumerate()
            .map(|(at, (line, _))| format!("%t{at} = {line}"))
            .collect();
        let result = TYPES[kind].0;
        return format!(
            "define {result} @f({}) {{\n{}\nret {result} {root}\n}}\n",
            parameters.join(", "),
            body.join("\n")
        );
    }
}

/// What may differ without another value: on which side of a conversion a negation stands, and which conversions are then
/// the same; where bf16 is widened by integers, how a register of 16 bits becomes one of 32.
fn without_signs(names: &[String]) -> Vec<&str> {
    let mut kept: Vec<&str> = names.iter().map(String::as_str).collect();
    kept.retain(|name| {
        !name.starts_with("neg.") && !name.starts_with("xor.") && *name != "cvt.u32.u16"
    });
    kept.sort_unstable();
    kept.dedup_by(|x, y| x == y && x.starts_with("cvt."));
    kept
}

/// Compares on a target; gives how many are equal, how many are said to be open. At most one in fifty has its negations
/// elsewhere where bf16 has conversions.
fn compared(texts: &[String], target: &str) -> Option<(usize, usize)> {
    let cases: Vec<(String, String)> = texts
        .iter()
        .map(|text| (target.to_owned(), text.clone()))
        .collect();
    let answers = llvm::instructions(&cases)?;
    let (mut equal, mut open, mut moved, mut wrong) = (0, 0, 0, Vec::new());
    for (text, names) in texts.iter().zip(answers) {
        let resolution = of(text, target);
        let mut ours = resolution.ptx();
        ours.sort();
        let names = names.unwrap_or_else(|| panic!("LLVM selects nothing: {text}"));
        open += usize::from(resolution.is_open());
        if ours == names {
            equal += 1;
        } else if without_signs(&ours) == without_signs(&names) {
            moved += 1;
        } else if !resolution.is_open() {
            wrong.push(format!("LLVM {names:?}\n   we {ours:?}\n{text}"));
        }
    }
    let is_emulated = target == "sm_80";
    assert!(
        is_emulated || moved * 50 <= texts.len(),
        "{moved} have their negations elsewhere"
    );
    let shown = wrong[..wrong.len().min(12)].join("\n");
    assert!(
        wrong.is_empty(),
        "{} of {} differ on {target}:\n{shown}",
        wrong.len(),
        texts.len()
    );
    Some((equal, open))
}

#[test]
fn llvm_agrees_on_trees_of_several_types_or_the_resolution_says_that_it_may_go_further() {
    let sets: [(&str, &[usize], &str); 7] = [
        ("sm_90", &[0, 2, 3], ""),
        ("sm_90", &[0, 2], "contract"),
        ("sm_90", &[2, 3], "fast"),
        ("sm_90", &[1, 2], ""),
        ("sm_90", &[1, 2, 3], ""),
        ("sm_80", &[1, 2], ""),
        ("sm_75", &[0, 2], ""),
    ];
    let mut random = Random(25);
    for (target, types, flags) in sets {
        let texts: Vec<String> = (0..300)
            .map(|_| function(&mut random, types, flags))
            .collect();
        let Some((equal, open)) = compared(&texts, target) else {
            eprintln!("skipped: no llvmlite beside MMASCOPE_PYTHON");
            return;
        };
        eprintln!(
            "{target} {types:?} '{flags}': {equal} of {} are equal; {open} are said to be open",
            texts.len()
        );
        assert!(open * 100 <= texts.len() * 12, "{open} are said to be open");
    }
}

/// Each input has its own type, and what is computed in f32 or f64 is what this machine computes.
#[test]
fn values_go_through_conversions() {
    let text = "define float @f(float %x, double %y, half %z) {\n%a = fpext float %x to double\n\
                %b = fmul double %a, %y\n%c = fptrunc double %b to float\n%d = fpext half %z to float\n\
                %e = fadd float %c, %d\nret float %e\n}";
    let resolution = of(text, "sm_90");
    assert_eq!(resolution.inputs, ["x", "y", "z"]);
    let formats = [0, 1, 2].map(|index| resolution.input_format(index).name);
    assert_eq!(formats, ["f32", "f64", "f16"]);
    let half = Format::named("f16").expect("a format");
    let mut random = Random(26);
    for _ in 0..10_000 {
        let x = f32::from_bits((random.below(1 << 31) as u32) << 1 | random.below(2) as u32);
        let y = f64::from_bits((random.below(1 << 31) as u64) << 33 | random.below(1 << 31) as u64);
        let z = random.below(1 << 16) as u64;
        let value = half.decode(z);
        let wide = match value.exact() {
            Some(exact) => {
                let magnitude = exact.magnitude as f32 * (exact.exponent as f32).exp2();
                if exact.negative {
                    -magnitude
                } else {
                    magnitude
                }
            }
            None => continue,
        };
        let expected = (f64::from(x) * y) as f32 + wide;
        let words = [x.to_bits().into(), y.to_bits(), z];
        let got =
            evaluate(&resolution, "sm_90".parse().expect("a target"), &words).expect("a value");
        match expected.is_nan() {
            true => assert!(f32::from_bits(got.out as u32).is_nan()),
            false => assert_eq!(got.out, u64::from(expected.to_bits()), "{x} {y} {wide}"),
        }
    }
}

#[test]
fn a_subnormal_f64_to_bf16_that_flushes_has_no_known_value_before_sm_90() {
    let text = format!(
        "define bfloat @f(double %a) {FLUSHING} {{\n%r = fptrunc double %a to bfloat\nret bfloat %r\n}}"
    );
    assert!(of(&text, "sm_80").unknown().is_some());
    assert!(of(&text, "sm_90").unknown().is_none());
    let plain = text.replace(FLUSHING, "");
    assert!(of(&plain, "sm_80").unknown().is_none());
}
