//! Expression trees drawn at random, with flags of every kind, as the resolver and as LLVM lower them.
//!
//! What the resolver gives is what LLVM gives, or the resolution says that LLVM may go further.

use mmascope_model::precision::legal::Target;
use mmascope_model::precision::resolve::{Policy, Request, Resolution, resolve};

use super::generated::Random;
use super::llvm;

const FLAGS: &[&str] = &["nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"];
const SETS: &[&str] = &[
    "",
    "fast",
    "reassoc nsz",
    "contract",
    "nnan nsz",
    "nsz",
    "arcp",
    "nnan",
    "reassoc nsz nnan",
    "contract ninf",
    "afn",
    "reassoc contract",
];
const CONSTANTS: &[&str] = &["0.0", "-0.0", "1.0", "-1.0", "2.0", "3.0", "0.5"];
const OPERATIONS: &[&str] = &[
    "fadd", "fsub", "fmul", "fdiv", "fadd", "fsub", "fmul", "fneg", "fabs", "sqrt",
];

struct Trees<'a> {
    random: &'a mut Random,
    kind: &'static str,
    suffix: &'static str,
    /// The flags of every operation; `None` where each has its own.
    flags: Option<String>,
    lines: Vec<String>,
}

fn drawn_flags(random: &mut Random) -> String {
    if random.below(5) < 3 {
        return SETS[random.below(SETS.len())].to_owned();
    }
    let drawn = FLAGS.iter().filter(|_| random.below(2) == 0);
    drawn.copied().collect::<Vec<_>>().join(" ")
}

impl Trees<'_> {
    fn leaf(&mut self) -> String {
        if self.random.below(3) == 0 {
            return CONSTANTS[self.random.below(CONSTANTS.len())].to_owned();
        }
        ["%a", "%b", "%c"][self.random.below(3)].to_owned()
    }

    fn tree(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.below(10) == 0 {
            return self.leaf();
        }
        if !self.lines.is_empty() && self.random.below(7) == 0 {
            return format!("%t{}", self.random.below(self.lines.len()));
        }
        let operation = OPERATIONS[self.random.below(OPERATIONS.len())];
        let x = self.tree(depth - 1);
        let flags = match &self.flags {
            Some(flags) => flags.clone(),
            None => drawn_flags(self.random),
        };
        let (kind, suffix) = (self.kind, self.suffix);
        let line = match operation {
            "fneg" => format!("fneg {flags} {kind} {x}"),
            "fabs" | "sqrt" => {
                format!("call {flags} {kind} @llvm.{operation}.{suffix}({kind} {x})")
            }
            _ => {
                let y = if self.random.below(8) == 0 {
                    x.clone()
                } else {
                    self.tree(depth - 1)
                };
                format!("{operation} {flags} {kind} {x}, {y}")
            }
        };
        let name = format!("%t{}", self.lines.len());
        self.lines.push(format!("{name} = {line}"));
        name
    }
}

/// A type of LLVM, and its name in intrinsics.
type Kind = (&'static str, &'static str);

const WIDE: &[Kind] = &[("float", "f32"), ("float", "f32"), ("double", "f64")];
const NARROW: &[Kind] = &[("half", "f16"), ("bfloat", "bf16")];

/// A function of one tree.
fn function(random: &mut Random, kinds: &[Kind], with_flags: bool) -> String {
    let (kind, suffix) = kinds[random.below(kinds.len())];
    let flags = match with_flags {
        false => Some(String::new()),
        true => (random.below(5) < 3).then(|| drawn_flags(random)),
    };
    loop {
        let depth = 1 + random.below(3);
        let mut trees = Trees {
            random,
            kind,
            suffix,
            flags: flags.clone(),
            lines: Vec::new(),
        };
        let root = trees.tree(depth);
        if trees.lines.is_empty() {
            continue;
        }
        return format!(
            "define {kind} @f({kind} %a, {kind} %b, {kind} %c) {{\n{}\nret {kind} {root}\n}}\n\
             declare {kind} @llvm.sqrt.{suffix}({kind})\ndeclare {kind} @llvm.fabs.{suffix}({kind})\n",
            trees.lines.join("\n")
        );
    }
}

fn answers(texts: &[String]) -> Option<Vec<(Resolution, Vec<String>)>> {
    let target: Target = "sm_90".parse().expect("a target");
    let cases: Vec<(String, String)> = texts
        .iter()
        .map(|text| ("sm_90".to_owned(), text.clone()))
        .collect();
    let answers = llvm::instructions(&cases)?;
    let pairs = texts.iter().zip(answers).map(|(text, answer)| {
        let resolution =
            resolve(&Request::new(text, target)).unwrap_or_else(|error| panic!("{error}: {text}"));
        (
            resolution,
            answer.unwrap_or_else(|| panic!("LLVM selects nothing: {text}")),
        )
    });
    Some(pairs.collect())
}

/// How many functions LLVM lowers as the resolver does, and for how many the resolver says that it may not; at most
/// `most` differ without a word.
fn compared(texts: &[String], most: usize) -> Option<(usize, usize)> {
    let (mut equal, mut open, mut wrong) = (0, 0, Vec::new());
    for (text, (resolution, names)) in texts.iter().zip(answers(texts)?) {
        let mut ours = resolution.ptx();
        ours.sort();
        open += usize::from(resolution.is_open());
        if ours == names {
            equal += 1;
        } else if !resolution.is_open() {
            wrong.push(format!("LLVM {names:?}\n   we {ours:?}\n{text}"));
        }
    }
    assert!(
        wrong.len() <= most,
        "{} of {} differ:\n{}",
        wrong.len(),
        texts.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
    Some((equal, open))
}

#[test]
fn llvm_agrees_on_trees_without_flags() {
    let mut random = Random(22);
    let texts: Vec<String> = (0..600)
        .map(|_| function(&mut random, WIDE, false))
        .collect();
    let Some((equal, open)) = compared(&texts, 0) else {
        eprintln!("skipped: no llvmlite beside MMASCOPE_PYTHON");
        return;
    };
    eprintln!(
        "{equal} of {} functions without flags are equal",
        texts.len()
    );
    assert_eq!((equal, open), (texts.len(), 0));
}

#[test]
fn llvm_agrees_on_trees_with_flags_or_the_resolution_says_that_it_may_go_further() {
    let mut random = Random(23);
    let texts: Vec<String> = (0..1_600)
        .map(|_| function(&mut random, WIDE, true))
        .collect();
    let Some((equal, open)) = compared(&texts, 0) else {
        eprintln!("skipped: no llvmlite beside MMASCOPE_PYTHON");
        return;
    };
    let share = 100.0 * open as f64 / texts.len() as f64;
    eprintln!(
        "{equal} of {} functions with flags are equal; {open} ({share:.1} %) are said to be open",
        texts.len()
    );
    assert!(open * 100 <= texts.len() * 5, "{open} are said to be open");
    assert!(equal * 100 >= texts.len() * 99, "{equal} are equal");
}

/// Types of 16 bits. One tree or two in a thousand differ in their text alone: `x - 3` beside `x + -3`.
#[test]
fn llvm_agrees_on_narrow_trees_or_the_resolution_says_that_it_may_go_further() {
    let mut random = Random(24);
    let texts: Vec<String> = (0..1_000)
        .map(|at| function(&mut random, NARROW, at % 4 > 0))
        .collect();
    let Some((equal, open)) = compared(&texts, 2) else {
        eprintln!("skipped: no llvmlite beside MMASCOPE_PYTHON");
        return;
    };
    eprintln!(
        "{equal} of {} narrow functions are equal; {open} are said to be open",
        texts.len()
    );
    assert!(open * 100 <= texts.len() * 12, "{open} are said to be open");
}

/// Instructions without what changes no value: signs, and on which side of a constant a sum stands; each once, because
/// libNVVM leaves out equal ones.
fn roundings(names: &[String]) -> Vec<String> {
    let plain = names
        .iter()
        .filter(|name| !name.starts_with("neg.") && !name.starts_with("abs."));
    let mut kept: Vec<String> = plain
        .map(|name| {
            name.replace("sub", "add")
                .replace(".rn", "")
                .replace("rcp", "div")
        })
        .collect();
    kept.sort();
    kept.dedup();
    kept
}

/// libNVVM optimises whole functions; of the forms that are not said to be open it makes the same roundings. Left out are
/// operations on constants alone, which it computes itself, and -(x*2), which is x*-2 or -(x+x).
#[test]
fn libnvvm_agrees_on_trees_or_the_resolution_says_that_it_may_go_further() {
    let mut random = Random(27);
    let is_computed = |text: &String| {
        let computes = |line: &str| line.starts_with("%t") && !line[3..].contains('%');
        text.lines().any(computes) || text.contains("2.0") && text.contains("fneg")
    };
    for with_flags in [false, true] {
        let drawn = (0..2_000).map(|_| function(&mut random, WIDE, with_flags));
        let texts: Vec<String> = drawn.filter(|text| !is_computed(text)).collect();
        let cases: Vec<(String, String)> = texts
            .iter()
            .map(|text| ("sm_100".to_owned(), text.clone()))
            .collect();
        let Some(answers) = llvm::of_libnvvm(&cases) else {
            eprintln!("skipped: no libNVVM beside MMASCOPE_PYTHON");
            return;
        };
        let (mut settled, mut wrong) = (0, Vec::new());
        for (text, answer) in texts.iter().zip(answers) {
            let names = answer.unwrap_or_else(|| panic!("libNVVM refuses {text}"));
            let request = Request {
                policy: Policy::LibNvvm,
                ..Request::new(text, "sm_100".parse().expect("a target"))
            };
            let resolution = resolve(&request).unwrap_or_else(|error| panic!("{error}: {text}"));
            if resolution.is_open() {
                continue;
            }
            settled += 1;
            let ours = resolution.ptx();
            if roundings(&ours) != roundings(&names) {
                wrong.push(format!("libNVVM {names:?}\n   we {ours:?}\n{text}"));
            }
        }
        eprintln!("{settled} of {} functions are not open", texts.len());
        // |0+x|, |0-x| and -(x+x) have forms of their own with the same value.
        assert!(
            wrong.len() <= if with_flags { settled / 50 } else { 0 },
            "{} differ:\n{}",
            wrong.len(),
            wrong[..wrong.len().min(12)].join("\n")
        );
        assert!(settled * 3 >= texts.len(), "{settled} of {}", texts.len());
    }
}
