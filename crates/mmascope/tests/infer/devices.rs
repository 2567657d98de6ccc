//! Mutants behind the other interfaces: C libraries and Python processes.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mmascope::dut::{Dut, Interface, PluginDut, ProcessDut};
use mmascope::infer::{InferenceOptions, Outcome, infer};
use mmascope::isa::Catalogue;

const HEAD: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <math.h>
uint32_t mmascope_abi(void) { return 1; }
const char *mmascope_signature(void) { return "a=bf16 b=bf16 c=f32 d=f32 k=4"; }
static float word(uint64_t x) { uint32_t u = (uint32_t)x; float f; memcpy(&f, &u, 4); return f; }
static float operand(uint64_t x) { return word(x << 16); }
static uint64_t out(float f) { uint32_t u; memcpy(&u, &f, 4); return f != f ? 0x7fc00000u : u; }
int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *sa, const uint64_t *sb, uint64_t *d) {
  (void)sa; (void)sb;
  for (size_t i = 0; i < n; i++, a += 4, b += 4) {
    float p[4], x = word(c[i]);
    for (int k = 0; k < 4; k++) p[k] = operand(a[k]) * operand(b[k]);
"#;

const BODIES: [(&str, &str); 4] = [
    (
        "sequential, c first",
        "    for (int k = 0; k < 4; k++) x = x + p[k];\n    d[i] = out(x);\n",
    ),
    (
        "sequential, c last",
        "    float s = p[0];\n    for (int k = 1; k < 4; k++) s = s + p[k];\n    d[i] = out(x + s);\n",
    ),
    (
        "fma chain, descending",
        "    for (int k = 3; k >= 0; k--) x = fmaf(operand(a[k]), operand(b[k]), x);\n    d[i] = out(x);\n",
    ),
    (
        "pairs, interleaved",
        "    float s = p[0] + p[2], t = p[1] + p[3];\n    d[i] = out((s + t) + x);\n",
    ),
];

fn found(name: &str, device: &mut dyn Dut) -> mmascope::infer::Found {
    let inference = infer(
        device,
        Some(Catalogue::built_in()),
        &InferenceOptions::default(),
    )
    .expect("answers");
    let Outcome::Model(model) = inference.outcome else {
        panic!("{name}: {:?}", inference.outcome);
    };
    println!(
        "{name}: {} queries, {:.2} s: {}",
        inference.queries, inference.seconds, model.program
    );
    *model
}

#[test]
fn plugins_are_recovered() {
    let folder = tempfile::tempdir().expect("a folder");
    for (index, (name, body)) in BODIES.iter().enumerate() {
        let source = folder.path().join(format!("mutant{index}.c"));
        let library = folder.path().join(format!("mutant{index}.so"));
        std::fs::write(&source, format!("{HEAD}{body}  }}\n  return 0;\n}}\n")).expect("written");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-ffp-contract=off", "-o"])
            .args([&library, &source])
            .arg("-lm")
            .status();
        match compiled {
            Ok(status) if status.success() => {}
            other => {
                println!("skipped: no C compiler ({other:?})");
                return;
            }
        }
        let mut device = PluginDut::load(library.to_str().expect("a path")).expect("loads");
        let model = found(name, &mut device);
        assert_eq!(
            super::mutants::mismatch(&mut device, &model),
            None,
            "{name}: {}",
            model.program
        );
    }
}

/// K = 2, f16: the exact sum of products and c, rounded toward −∞; and the same with c left out.
const PYTHON: &str = r#"
import json, sys
from fractions import Fraction
def half(w):
    s, e, f = w >> 15, w >> 10 & 31, w & 1023
    if e == 31: return "nan" if f else ("-inf" if s else "inf")
    v = Fraction(f + (1024 if e else 0)) * Fraction(2) ** (max(e, 1) - 25)
    return -v if s else v
def single(w):
    s, e, f = w >> 31, w >> 23 & 255, w & 0x7fffff
    if e == 255: return "nan" if f else ("-inf" if s else "inf")
    v = Fraction(f + (1 << 23 if e else 0)) * Fraction(2) ** (max(e, 1) - 150)
    return -v if s else v
def down(v):
    if v == 0: return 0
    s, m = v < 0, abs(v)
    e = m.numerator.bit_length() - m.denominator.bit_length()
    if Fraction(2) ** e > m: e -= 1
    e = max(e, -126)
    n = m / Fraction(2) ** (e - 23)
    q = -(-n.numerator // n.denominator) if s else n.numerator // n.denominator
    if q == 1 << 24: q, e = 1 << 23, e + 1
    if e > 127: return 0xff800000 if s else 0x7f800000
    return (s << 31) | ((e + 127 << 23) if q >= 1 << 23 else 0) | (q & 0x7fffff)
def product(x, y):
    if "nan" in (x, y): return "nan"
    if isinstance(x, str) or isinstance(y, str):
        if x == 0 or y == 0: return "nan"
        sign = lambda v: v == "-inf" if isinstance(v, str) else v < 0
        return "-inf" if sign(x) != sign(y) else "inf"
    return x * y
def dot(a, b, c):
    terms = [product(half(int(a[4*k:4*k+4], 16)), half(int(b[4*k:4*k+4], 16))) for k in (0, 1)]
    terms.append(single(int(c, 16)))
    if "nan" in terms or ("inf" in terms and "-inf" in terms): return "7fffffff"
    if "inf" in terms: return "7f800000"
    if "-inf" in terms: return "ff800000"
    return "%08x" % down(sum(terms))
for line in sys.stdin:
    line = line.strip()
    if not line:
        print(flush=True)
        continue
    q = json.loads(line)
    print(json.dumps({"id": q["id"], "d": dot(q["a"], q["b"], q["c"])}))
"#;

#[test]
fn processes_are_recovered() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("mutant.py");
    std::fs::write(&script, PYTHON).expect("written");
    if Command::new("python3")
        .arg("-c")
        .arg("pass")
        .status()
        .is_err()
    {
        println!("skipped: no python3");
        return;
    }
    let signature = "a=f16 b=f16 c=f32 d=f32 k=2".parse().expect("a signature");
    let command = format!("python3 {}", quoted(&script));
    let interface = Interface::of_signature(signature);
    let mut device =
        ProcessDut::spawn(&command, interface, Duration::from_secs(60)).expect("starts");
    let model = found("a process, rounding down", &mut device);
    assert_eq!(
        super::mutants::mismatch(&mut device, &model),
        None,
        "{}",
        model.program
    );
    assert!(
        model.program.to_string().contains("rd f32"),
        "{}",
        model.program
    );
}

fn quoted(path: &Path) -> String {
    shell_words::quote(path.to_str().expect("a path")).into_owned()
}
