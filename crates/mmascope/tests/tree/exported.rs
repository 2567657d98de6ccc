//! The code that trees are exported as, compiled and run in every language, gives the bits of the executed tree.

use std::process::Command;

use mmascope::format::{BF16, E5M2, F16, F32, F64, Format, Rounding};
use mmascope::tree::{Arithmetic, Term, TreeFacts, TreeLanguage, Truncated};

use super::simulated::{Random, chain, strided};
use super::tree;

/// Inputs that each exported function is run on.
const TRIALS: usize = 64;

/// One exported function and what it is given.
struct Exported<'a> {
    name: &'a str,
    leaves: usize,
    products: usize,
    /// Whether the function takes c and returns its sum as f64.
    is_double: bool,
    /// `TRIALS` inputs one behind the other.
    a: Vec<f32>,
    b: Vec<f32>,
}

/// What c is multiplied by where it is f64, so that it is no f32.
const OF_C: f64 = 1.1;

/// The exported code, compiled and run, gives the bits of the executed tree.
#[test]
fn exported_code_reproduces_the_bits() {
    let folder = std::env::temp_dir().join(format!("mmascope-export-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut random = Random(7);
    let fma = tree("(fma f32 (fma f32 (add f64 (fma f64 0 1) (add f64 2 3)) 4) 5)");
    let ieee = Arithmetic::ieee(F32);
    let fused = |operands, bits, rounding| Arithmetic {
        fused: Some(Truncated { bits, rounding }),
        ..Arithmetic::ieee(operands)
    };
    let down = Arithmetic {
        rounding: Rounding::Rd,
        ..ieee
    };
    let hopper = "(fused f32 0 1 2 3 4 5 6 7 8)";
    let cases = [
        (strided(40, 8), 0, "sum", ieee),
        (
            chain(&(0..40).rev().collect::<Vec<_>>()),
            0,
            "reverse",
            ieee,
        ),
        (fma.clone(), 6, "dot", ieee),
        (fma, 5, "dot_c", ieee),
        (tree(hopper), 8, "fused", fused(F16, 25, Rounding::Rz)),
        (
            tree(hopper),
            8,
            "fused_nearest",
            fused(F16, 12, Rounding::Rne),
        ),
        (
            tree("(fused e8m13 (fused e8m13 0 1 2 6) 3 4 5)"),
            6,
            "fused_narrow",
            fused(E5M2, 13, Rounding::Rz),
        ),
        (
            tree("(add f32 (fused f32 0 1 2 3) (fused f32 4 5 6 7 8))"),
            8,
            "fused_and_added",
            fused(F16, 23, Rounding::Rz),
        ),
        (tree("(exact f32 0 1 2 3 4)"), 4, "exact", ieee),
        (
            tree("(add bf16 (add bf16 0 1) (fma bf16 2 3))"),
            4,
            "narrow",
            ieee,
        ),
        (
            tree("(add f32 (fma f32 0 1) (add f32 2 3))"),
            3,
            "down",
            down,
        ),
    ];
    for (tree, products, name, arithmetic) in cases {
        let leaves = tree.leaves();
        // Numbers of the operands' format from subnormal to large, few of them far from the others.
        let mut number = || {
            let bits = random.below(1 << 24);
            let wide = (bits as f32 - 8e6) * 2.0_f32.powi(bits as i32 % 9 - 24);
            if arithmetic.operands == F32 {
                return wide;
            }
            let code = random.below(1 << arithmetic.operands.bits) as u64;
            let exact = arithmetic.operands.decode(code).exact();
            exact.map_or(1.0, |x| {
                let magnitude = x.magnitude as f32 * 2.0_f32.powi(x.exponent);
                if x.negative { -magnitude } else { magnitude }
            })
        };
        let a: Vec<f32> = (0..TRIALS * leaves).map(|_| number()).collect();
        let b: Vec<f32> = (0..TRIALS * leaves).map(|_| number()).collect();
        let case = Exported {
            name,
            leaves,
            products,
            is_double: false,
            a,
            b,
        };
        let expected: Vec<String> = (0..TRIALS)
            .map(|trial| {
                let terms: Vec<Term> = (0..leaves)
                    .map(|leaf| {
                        let at = trial * leaves + leaf;
                        let (a, b) = (f64::from(case.a[at]), f64::from(case.b[at]));
                        if leaf < products {
                            Term::Product(a, b)
                        } else {
                            Term::Value(a)
                        }
                    })
                    .collect();
                let sum = tree.execute(&terms, &arithmetic).expect("executable");
                format!("{:08x}", (sum as f32).to_bits())
            })
            .collect();
        for language in TreeLanguage::ALL {
            let code = tree
                .export(language, products, &arithmetic, None)
                .expect("a language");
            match case.run(&folder, language, &code) {
                Some(got) => assert_eq!(got, expected, "{name} {language:?}\n{code}"),
                None => println!("skipped: {language:?} does not run here"),
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    let refused = |text: &str, arithmetic: &Arithmetic| {
        tree(text)
            .export(TreeLanguage::C, 0, arithmetic, None)
            .expect_err("refused")
            .to_string()
    };
    assert!(refused("(fused f32 0 1 2)", &ieee).contains("fraction bits"));
    assert!(refused("(fused f64 0 1 2)", &fused(F32, 20, Rounding::Rz)).contains("f64"));
    assert!(refused("(fused f32 0 1 2)", &fused(F32, 50, Rounding::Rz)).contains("53"));
    assert!(refused("(unresolved f32 0 1 2)", &ieee).contains("unresolved"));
    let (f64s, narrow) = (Arithmetic::ieee(F64), Arithmetic { leaf: F16, ..ieee });
    assert!(refused("(exact f64 0 1 2)", &f64s).contains("f64"));
    assert!(refused("(add f32 0 1)", &narrow).contains("f16"));
}

/// ∞, NaN, overflow and ties in every rounding, and results in the format that is stated: all languages as the tree.
#[test]
fn exported_code_overflows_and_rounds_as_the_tree() {
    let folder = std::env::temp_dir().join(format!("mmascope-special-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut random = Random(11);
    let arithmetic = |operands, bits, rounding| Arithmetic {
        fused: Some(Truncated { bits, rounding }),
        rounding,
        ..Arithmetic::ieee(operands)
    };
    let ieee = Arithmetic::ieee(F16);
    let mixed = "(add f16 (fused f16 0 1 2 5) (fma f16 3 4))";
    let mut cases = vec![
        ("(add f16 (add f16 0 1) 2)", 0, ieee, None),
        ("(exact f32 0 1 2 3)", 3, ieee, None),
        (
            "(exact f32 0 1 2 3)",
            3,
            arithmetic(F32, 9, Rounding::Rz),
            None,
        ),
        ("(add e4m3 (add e4m3 0 1) 2)", 0, ieee, None),
        ("(add e4m3fnuz (add e4m3fnuz 0 1) 2)", 0, ieee, None),
        (
            "(add f64 (fma f64 0 1) 2)",
            2,
            Arithmetic::ieee(F32),
            Some(F64),
        ),
        (
            "(add f32 (fma f32 0 1) 2)",
            2,
            Arithmetic::ieee(F32),
            Some(BF16),
        ),
        (
            "(add f64 (add f64 0 1) 2)",
            0,
            Arithmetic::ieee(F32),
            Some(F16),
        ),
    ];
    let roundings = Rounding::deterministic();
    cases.extend(roundings.map(|rounding| (mixed, 5, arithmetic(F16, 9, rounding), None)));
    let mut sums = std::collections::HashSet::new();
    for (at, (text, products, arithmetic, result)) in cases.into_iter().enumerate() {
        let tree = tree(text);
        let (leaves, name) = (tree.leaves(), format!("special{at}"));
        let is_double = result == Some(F64);
        let mut number = |trial: usize| {
            let drawn = random.below(1 << 20);
            let sign = if drawn & 1 == 0 { 1.0 } else { -1.0 };
            let (kind, rest) = (drawn >> 1 & 3, drawn >> 3);
            sign * match (trial % 4, kind) {
                (0, 0) => f32::INFINITY,
                (0, 1) if rest % 4 == 0 => f32::NAN,
                (1, 0) => 65504.0,
                (1, 1) => 3.0e38,
                (_, 2) => 0.0,
                // Sums of these are often ties of f16.
                _ => (rest % 2048) as f32 * [0.5, 1.0, 2.0][rest % 3],
            }
        };
        // The second factors stay small, so that products of f16 are numbers that f32 takes.
        let a: Vec<f32> = (0..TRIALS * leaves).map(|at| number(at / leaves)).collect();
        let b: Vec<f32> = (0..TRIALS * leaves)
            .map(|at| [1.0, 0.5, -1.0, 1.5, 0.0][at * 7 % 5])
            .collect();
        let expected: Vec<String> = (0..TRIALS)
            .map(|trial| {
                let term = |leaf: usize| {
                    let at = trial * leaves + leaf;
                    let (a, b) = (f64::from(a[at]), f64::from(b[at]));
                    match leaf < products {
                        true => Term::Product(a, b),
                        false if is_double => Term::Value(a * OF_C),
                        false => Term::Value(a),
                    }
                };
                let terms: Vec<Term> = (0..leaves).map(term).collect();
                let sum = tree.execute(&terms, &arithmetic).expect("executable");
                let facts = TreeFacts::of_subject("s", F32, result.unwrap_or(F32), products);
                let sum = facts.result(sum);
                match is_double {
                    _ if sum.is_nan() => "nan".to_owned(),
                    true => format!("{:016x}", sum.to_bits()),
                    false => format!("{:08x}", (sum as f32).to_bits()),
                }
            })
            .collect();
        if text == mixed {
            assert!(sums.insert(expected.clone()), "a rounding like another");
        }
        let case = Exported {
            name: &name,
            leaves,
            products,
            is_double,
            a,
            b,
        };
        for language in TreeLanguage::ALL {
            let code = tree
                .export(language, products, &arithmetic, result)
                .expect("a language");
            let is_nan = |word: &String| match is_double {
                true => u64::from_str_radix(word, 16).is_ok_and(|w| f64::from_bits(w).is_nan()),
                false => u32::from_str_radix(word, 16).is_ok_and(|w| f32::from_bits(w).is_nan()),
            };
            let zero = |word: String| match &*word {
                "80000000" | "8000000000000000" => word.replace('8', "0"),
                _ => word,
            };
            match case.run(&folder, language, &code) {
                Some(got) => {
                    let named = got.into_iter().map(|word| match is_nan(&word) {
                        true => "nan".to_owned(),
                        false => word,
                    });
                    // (Zeros of either sign are one sum.)
                    let got: Vec<String> = named.map(zero).collect();
                    let expected: Vec<String> = expected.iter().cloned().map(zero).collect();
                    assert_eq!(
                        got, expected,
                        "{text} {} {language:?}\n{code}",
                        arithmetic.rounding
                    );
                }
                None => println!("skipped: {language:?} does not run here"),
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// A zero keeps its sign where a result is rounded, and what no f64 holds is rounded as the tree does.
#[test]
fn exported_python_keeps_zeros_and_takes_large_sums() {
    let ieee = Arithmetic::ieee(F64);
    let inward = Arithmetic {
        rounding: Rounding::Rz,
        ..ieee
    };
    let cases = [
        ("(add f32 0 1)", 0, ieee, Some(BF16), "[-0.0, -0.0]", "-0.0"),
        (
            "(exact f32 0 1)",
            2,
            ieee,
            None,
            "[1e200] * 2, [1e200] * 2",
            "inf",
        ),
        (
            "(exact f32 0 1)",
            2,
            inward,
            None,
            "[1e200] * 2, [-1e200] * 2",
            "-3.4028234663852886e+38",
        ),
    ];
    for (text, products, arithmetic, result, given, sum) in cases {
        let code = tree(text).export(TreeLanguage::Python, products, &arithmetic, result);
        let code = code.expect("exported") + &format!("\nprint(mmascope_sum({given}))\n");
        let Ok(output) = Command::new("python3").args(["-c", &code]).output() else {
            println!("skipped: python3 does not run here");
            return;
        };
        let said = String::from_utf8_lossy(&output.stdout);
        let failed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.trim(), sum, "{text} {given}: {failed}");
    }
}

/// Formats, roundings and bits that no helper of the exported code has are refused.
#[test]
fn what_no_exported_code_sums_is_refused() {
    let refused = |text: &str, arithmetic: &Arithmetic, result: Option<Format>, words: &str| {
        for language in [TreeLanguage::C, TreeLanguage::Rust, TreeLanguage::Cuda] {
            let error = tree(text).export(language, 2, arithmetic, result);
            let error = error.expect_err("refused").to_string();
            assert!(error.contains(words), "{error}");
        }
    };
    let ieee = Arithmetic::ieee(F32);
    let fused = |bits| Arithmetic {
        fused: Some(Truncated {
            bits,
            rounding: Rounding::Rz,
        }),
        ..ieee
    };
    let narrow = |name: &str| Some(Format::named(name).expect("a format"));
    for bits in [i32::MIN, 0, 65537, i32::MAX] {
        let words = format!("fused_bits = {bits}: a whole number of bits from 1 to 65536");
        refused("(fused f32 0 1 2)", &fused(bits), None, &words);
    }
    refused("(fused f32 0 1 2)", &fused(65536), None, "53");
    refused("(exact int32 0 1 2)", &ieee, None, "exact in int32");
    refused("(fma e2m1 0 1)", &ieee, None, "fma in e2m1fn");
    refused(
        "(add f32 0 1)",
        &ieee,
        narrow("int32"),
        "the results is int32",
    );
    let doubles = Arithmetic::ieee(F64);
    refused("(exact f32 0 1)", &doubles, None, "products of f64");
    let whole = tree("(exact f32 0 1)").export(TreeLanguage::Python, 2, &doubles, None);
    assert!(whole.is_ok());
    let random = Arithmetic {
        rounding: Rounding::Stochastic { bits: 8, random: 1 },
        ..ieee
    };
    refused("(add f32 0 1)", &random, None, "stochastic");
}

impl Exported<'_> {
    /// Compiles and runs; `None` when the language's program is missing. CUDA is run as C++ with
    /// the device functions defined for the host, where a compiler is there.
    fn run(
        &self,
        folder: &std::path::Path,
        language: TreeLanguage,
        code: &str,
    ) -> Option<Vec<String>> {
        let Self {
            leaves,
            products,
            is_double,
            ..
        } = *self;
        let [infinity, nan, suffix] = match language {
            TreeLanguage::C | TreeLanguage::Cuda => ["INFINITY", "NAN", "f"],
            TreeLanguage::Rust => ["f32::INFINITY", "f32::NAN", "_f32"],
            TreeLanguage::Python => ["math.inf", "math.nan", ""],
        };
        let list = |numbers: &[f32]| -> String {
            let text = |x: f32| match x {
                _ if x.is_nan() => nan.to_owned(),
                f32::INFINITY => infinity.to_owned(),
                f32::NEG_INFINITY => format!("-{infinity}"),
                _ => format!("{x:e}{suffix}"),
            };
            let texts: Vec<String> = numbers.iter().map(|&x| text(x)).collect();
            texts.join(", ")
        };
        let has_c = products > 0 && products < leaves;
        let file = |ending: &str| folder.join(format!("{}.{ending}", self.name));
        let run = |command: &mut Command| {
            let output = command.output().ok()?;
            assert!(
                output.status.success(),
                "{}\n{code}",
                String::from_utf8_lossy(&output.stderr)
            );
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Some(
                text.lines()
                    .map(|line| line.trim().to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        let given = match (products, has_c) {
            (0, _) => "a + t".to_owned(),
            (_, false) => "a + t, b + t".to_owned(),
            (_, true) if is_double => format!("a + t, b + t, a[t + {products}] * {OF_C}"),
            (_, true) => format!("a + t, b + t, a[t + {products}]"),
        };
        let (float, word, digits) = match is_double {
            true => ("double", "unsigned long long", "%016llx"),
            false => ("float", "unsigned", "%08x"),
        };
        let end = TRIALS * leaves;
        let main = format!(
            "#include <stdio.h>\n#include <string.h>\nstatic const float a[] = {{{}}};\n\
             static const float b[] = {{{}}};\nint main(void) {{ (void)b;\n\
             for (int t = 0; t < {end}; t += {leaves}) {{ {float} r = mmascope_sum({given}); \
             {word} u; memcpy(&u, &r, sizeof u); printf(\"{digits}\\n\", u); }} return 0; }}\n",
            list(&self.a),
            list(&self.b)
        );
        let compile = |ending: &str, compiler: &str, text: String| {
            std::fs::write(file(ending), text).expect("a file");
            let program = file(&format!("{ending}.out"));
            let mut command = Command::new(compiler);
            command
                .args([
                    "-O2",
                    "-Wall",
                    "-Werror",
                    "-Wno-unused-function",
                    "-ffp-contract=off",
                    "-o",
                ])
                .arg(&program)
                .arg(file(ending));
            run(command.arg("-lm"))?;
            run(&mut Command::new(program))
        };
        match language {
            TreeLanguage::C => compile("c", "cc", format!("{code}{main}")),
            TreeLanguage::Cuda => {
                let host = "#include <cmath>\n#include <cstring>\nusing namespace std;\n\
                    #define __device__\n\
                    static float __fadd_rn(float a, float b) { return a + b; }\n\
                    static double __dadd_rn(double a, double b) { return a + b; }\n\
                    static float __fmul_rn(float a, float b) { return a * b; }\n\
                    static float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }\n\
                    static double __fma_rn(double a, double b, double c) { return fma(a, b, c); }\n";
                nvrtc(folder, &file("cu"), code);
                compile("cpp", "c++", format!("{host}{code}{main}"))
            }
            TreeLanguage::Python => {
                let given = match (products, has_c) {
                    (0, _) => "a[t:]".to_owned(),
                    (_, false) => "a[t:], b[t:]".to_owned(),
                    (_, true) if is_double => format!("a[t:], b[t:], a[t + {products}] * {OF_C}"),
                    (_, true) => format!("a[t:], b[t:], a[t + {products}]"),
                };
                let packed = if is_double { ">d" } else { ">f" };
                let text = format!(
                    "{code}\na = [f32(x) for x in [{}]]\nb = [f32(x) for x in [{}]]\n\
                     for t in range(0, {end}, {leaves}):\n    \
                     print(struct.pack('{packed}', mmascope_sum({given})).hex())\n",
                    list(&self.a),
                    list(&self.b),
                );
                std::fs::write(file("py"), text).expect("a file");
                run(Command::new("python3").arg(file("py")))
            }
            TreeLanguage::Rust => {
                let given = match (products, has_c) {
                    (0, _) => "&a[t..]".to_owned(),
                    (_, false) => "&a[t..], &b[t..]".to_owned(),
                    (_, true) if is_double => {
                        format!("&a[t..], &b[t..], f64::from(a[t + {products}]) * {OF_C}")
                    }
                    (_, true) => format!("&a[t..], &b[t..], a[t + {products}]"),
                };
                let digits = if is_double { 16 } else { 8 };
                let text = format!(
                    "{code}\nfn main() {{ let a = [{}]; let b = [{}]; let _ = &b;\n\
                     for t in (0..{end}).step_by({leaves}) {{\n\
                     println!(\"{{:0{digits}x}}\", mmascope_sum({given}).to_bits()); }} }}\n",
                    list(&self.a),
                    list(&self.b),
                );
                std::fs::write(file("rs"), text).expect("a file");
                let program = file("rs.out");
                run(Command::new("rustc")
                    .args(["--edition", "2024", "-o"])
                    .arg(&program)
                    .arg(file("rs")))?;
                run(&mut Command::new(program))
            }
        }
    }
}

/// Compiles device code with NVRTC where it is installed (`MMASCOPE_NVRTC` may name the library).
fn nvrtc(folder: &std::path::Path, source: &std::path::Path, code: &str) {
    const SCRIPT: &str = r#"
import ctypes, os, sys
names = [os.environ.get("MMASCOPE_NVRTC"), "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"]
for name in filter(None, names):
    try:
        nvrtc = ctypes.CDLL(name)
        break
    except OSError:
        pass
else:
    print("missing")
    sys.exit()
program = ctypes.c_void_p()
text = open(sys.argv[1], "rb").read()
status = nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"tree.cu", 0, None, None)
assert status == 0, status
status = nvrtc.nvrtcCompileProgram(program, 0, None)
size = ctypes.c_size_t()
nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetProgramLog(program, log)
assert status == 0, log.value.decode()
print("compiled")
"#;
    let script = folder.join("nvrtc.py");
    std::fs::write(source, code).expect("a file");
    std::fs::write(&script, SCRIPT).expect("a file");
    let Ok(output) = Command::new("python3").arg(&script).arg(source).output() else {
        println!("skipped: NVRTC: python3 does not run here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    match said.trim() {
        "missing" => println!("skipped: NVRTC is not installed"),
        "compiled" => {}
        _ => panic!("{}", String::from_utf8_lossy(&output.stderr)),
    }
}
