//! Trees as values: text, JSON, equality, differences, patterns, drawings, execution, export.

use std::collections::HashSet;
use std::process::Command;

use mmascope::format::{BF16, E5M2, F16, F32, F64, Rounding};
use mmascope::tree::{
    Arithmetic, Builder, Op, Term, Tree, TreeFacts, TreeForm, TreeLanguage, Truncated,
};

#[path = "reveal/simulated.rs"]
#[allow(dead_code)]
mod simulated;

use simulated::{Random, chain, pairwise, strided};

fn tree(text: &str) -> Tree {
    text.parse().expect("a tree")
}

#[test]
fn text_and_json_go_both_ways() {
    let mut random = Random(1);
    let mut seen = HashSet::new();
    for _ in 0..300 {
        let leaves = 1 + random.below(60);
        let tree = random.tree(leaves, true);
        assert_eq!(tree.to_string().parse(), Ok(tree.clone()));
        assert_eq!(tree.json().parse(), Ok(tree.clone()));
        let names: Vec<String> = (0..leaves).map(|leaf| format!("x{leaf}")).collect();
        assert_eq!(
            Tree::read(&tree.file("s", &names, TreeForm::Nested)),
            Ok((tree.clone(), names))
        );
        seen.insert(tree);
    }
    assert!(seen.len() > 250);
}

/// A sum over 100,000 terms is as deep; nothing may recurse.
#[test]
fn deep_trees_are_no_danger() {
    let deep = chain(&(0..100_000).collect::<Vec<_>>());
    assert_eq!(deep.json().parse(), Ok(deep.clone()));
    assert_eq!(deep.to_string().parse(), Ok(deep.clone()));
    assert_eq!(deep.pattern(), "sequential");
    assert_eq!(deep.statistics().depth, 99_999);
    assert!(deep.svg("deep", &[]).len() < 20_000);
    assert!(deep.html("deep", "", &[]).contains("</html>"));
    let terms = vec![Term::Value(1.0); 100_000];
    assert_eq!(deep.execute(&terms, &Arithmetic::ieee(F32)), Ok(100_000.0));
}

#[test]
fn the_canonical_form_orders_children() {
    let one = tree("(add f32 (fused f32 3 1 2) 0)");
    assert_eq!(
        one,
        tree(
            "{\"op\":\"add\",\"type\":\"f32\",\"children\":[0,{\"op\":\"fused\",\"type\":\"f32\",\"children\":[1,3,2]}]}"
        )
    );
    assert_eq!(one.to_string(), "(add f32 0 (fused f32 1 2 3))");
}

#[test]
fn bad_trees_are_refused() {
    for (text, words) in [
        ("", "ends too early"),
        ("(add f32 0 0)", "stands twice"),
        ("(add f32 0 2)", "leaf 1 is missing"),
        ("(plus f32 0 1)", "unknown operation 'plus'"),
        ("(add f99 0 1)", "unknown format 'f99'"),
        ("(add f32 0 1", "ends too early"),
        ("(add f32 0 1))", "after the end"),
        (")", "closing bracket"),
        ("(add 0 1)", "without operation or type"),
        ("(add f32 0 99999999999)", "beyond the limit"),
        ("(add f32)", "no children"),
        ("(add f32 0 1 2)", "add of 3 terms, which has at most two"),
        ("(fma f32 0 1 2)", "fma of 3 terms"),
        ("(add f32 0 %)", "unexpected character"),
    ] {
        let error = text.parse::<Tree>().expect_err(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn differences_are_said_in_words() {
    let (sequential, lanes) = (chain(&(0..64).collect::<Vec<_>>()), strided(64, 8));
    let said = |left: &Tree, right: &Tree| left.difference(right).map(|d| d.to_string());
    assert_eq!(said(&sequential, &sequential), None);
    assert_eq!(
        said(&sequential, &lanes).as_deref(),
        Some("sequential against 8-way strided, pairwise combine")
    );
    // In two lanes from leaf 32 on, or not; a lane of one leaf is still the same.
    let mut builder = Builder::new(64);
    let start = (1..32).fold(0, |sum, leaf| builder.node(Op::Add, F32, vec![sum, leaf]));
    let lane = |builder: &mut Builder, first: usize| {
        (first + 2..64).step_by(2).fold(first, |sum, leaf| {
            builder.node(Op::Add, F32, vec![sum, leaf])
        })
    };
    let (even, odd) = (lane(&mut builder, 32), lane(&mut builder, 33));
    let both = builder.node(Op::Add, F32, vec![even, odd]);
    let root = builder.node(Op::Add, F32, vec![start, both]);
    let two_way = builder.build(root).expect("a tree");
    assert_eq!(
        said(&two_way, &sequential).as_deref(),
        Some("same up to leaf 32, then 2-way strided, sequential combine against sequential")
    );
    assert_eq!(
        said(&tree("(add f32 0 1)"), &tree("(fma f32 0 1)")).as_deref(),
        Some(
            "the same order; 1 nodes differ in operation or type, first add f32 against fma f32 above leaf 0"
        )
    );
    assert_eq!(
        said(&tree("(add f32 0 1)"), &tree("0")).as_deref(),
        Some("2 leaves against 1")
    );
}

#[test]
fn patterns_are_named() {
    let balanced = |leaves: usize| {
        let mut builder = Builder::new(leaves);
        let root = pairwise(&mut builder, (0..leaves).collect());
        builder.build(root).expect("a tree")
    };
    // 4 parts of 16, each sequential, added one after the other.
    let mut builder = Builder::new(64);
    let parts: Vec<usize> = (0..4)
        .map(|part| {
            (16 * part + 1..16 * part + 16).fold(16 * part, |sum, leaf| {
                builder.node(Op::Add, F32, vec![sum, leaf])
            })
        })
        .collect();
    let root = parts[1..].iter().fold(parts[0], |sum, &part| {
        builder.node(Op::Add, F32, vec![sum, part])
    });
    let split = builder.build(root).expect("a tree");
    let mut builder = Builder::new(33);
    let first = builder.node(Op::Fused, F32, (0..16).chain([32]).collect());
    let root = builder.node(Op::Fused, F32, (16..32).chain([first]).collect());
    let fused = builder.build(root).expect("a tree");
    let tail = tree("(add f32 (add f32 (add f32 (add f32 0 2) (add f32 1 3)) 4) 5)");
    for (tree, pattern) in [
        (chain(&(0..40).collect::<Vec<_>>()), "sequential"),
        (chain(&(0..40).rev().collect::<Vec<_>>()), "right to left"),
        (balanced(64), "pairwise"),
        (balanced(100), "pairwise"),
        (strided(128, 8), "8-way strided, pairwise combine"),
        (split, "split-K 4, then sequential"),
        (fused, "chain of 16+1-term fused sums"),
        (tree("(exact f32 0 1 2 3)"), "one exact sum of 4 terms"),
        (
            tail,
            "2-way strided, sequential combine up to leaf 3, then sequential",
        ),
        (
            tree("(add f32 (add f32 (add f32 0 2) (add f32 1 3)) 4)"),
            "2-way strided, sequential combine, then leaf 4",
        ),
        (
            tree(
                "(add f32 (add f32 (add f32 (add f32 0 2) (add f32 1 3)) 4) (add f32 (add f32 5 7) (add f32 6 8)))",
            ),
            "2 blocks of 4 to 5 (2-way strided, sequential combine; then one more in 1 of them), then sequential",
        ),
        (tree("0"), "one term"),
        (
            tree("(add f32 (add f32 0 3) (fused f32 1 2 4))"),
            "irregular, depth 2, at most 3 terms a node",
        ),
    ] {
        assert_eq!(tree.pattern(), pattern, "{tree}");
    }
}

#[test]
fn drawings_stay_readable() {
    let small = chain(&(0..64).collect::<Vec<_>>()).svg("64", &[]);
    assert_eq!(
        small.matches("<rect x=").count(),
        64,
        "every leaf has its box"
    );
    let large = strided(4096, 32).svg("4096", &[]);
    assert_eq!(large.matches("<rect x=").count(), 32, "a lane is a box");
    assert!(large.contains("0, 32…4064: sequential"), "{large}");
    let dot = strided(4096, 32).dot(&[]);
    assert!(
        dot.starts_with("digraph") && dot.matches(" -> ").count() == 62,
        "{dot}"
    );
    let names = ["<a>".to_owned(), "</script>".to_owned()];
    let two = tree("(add f32 0 1)");
    assert!(two.svg("\"", &names).contains("&lt;a&gt;"));
    assert_eq!(two.html("t", "", &names).matches("</script>").count(), 1);
}

/// What a node does is in the picture, not only in its hover title.
#[test]
fn kinds_of_nodes_are_drawn() {
    let written = |tree: &Tree| -> Vec<String> {
        let svg = tree.svg("t", &[]);
        let texts = svg.split("</text>").filter_map(|part| {
            let (_, text) = part.rsplit_once('>')?;
            (!text.trim().is_empty()).then(|| text.to_owned())
        });
        texts.collect()
    };
    let plain = written(&tree("(add f64 (add f64 0 1) 2)"));
    assert_eq!(plain[1..], ["2 add f64", "+", "+", "0", "1", "2"]);
    let mixed = tree("(add f64 (add f32 (fma f32 0 1) 2) 3)");
    assert_eq!(
        written(&mixed)[1..],
        [
            "1 fma f32, 1 add f32, 1 add f64",
            "+",
            "f64",
            "+",
            "fma",
            "0",
            "1",
            "2",
            "3"
        ]
    );
    let dot = mixed.dot(&[]);
    assert!(dot.contains("label=\"+ f64\"") && dot.contains("label=\"fma\""));
    // A chain that is folded says what it consists of.
    let mut builder = Builder::new(80);
    let (mut left, mut right) = (0, 40);
    for leaf in 1..40 {
        left = builder.node(Op::Fma, F32, vec![left, leaf]);
        right = builder.node(
            Op::Add,
            if leaf < 20 { F64 } else { F32 },
            vec![right, 40 + leaf],
        );
    }
    let root = builder.node(Op::Add, F32, vec![left, right]);
    let folded = written(&builder.build(root).expect("a tree"));
    let ends = |with: &str| folded.iter().any(|text| text.ends_with(with));
    assert!(
        ends("sequential, fma") && ends("sequential, partly in f64"),
        "{folded:?}"
    );
}

#[test]
fn multiply_adds_need_products() {
    let chain = tree("(fma f32 (fma f32 0 1) 2)");
    let ieee = Arithmetic::ieee(F32);
    let message = |result: mmascope::Result<String>| result.expect_err("refused").to_string();
    for language in TreeLanguage::ALL {
        let refused = message(chain.export(language, 0, &ieee));
        assert!(refused.contains("products says"), "{refused}");
        assert!(chain.export(language, 2, &ieee).is_ok());
    }
    let run = |terms: &[Term]| chain.execute(terms, &ieee).map(|sum| sum.to_string());
    let refused = message(run(&[Term::Value(1.0); 3]));
    assert!(refused.contains("products need"), "{refused}");
    assert_eq!(run(&[Term::Product(2.0, 3.0); 3]), Ok("18".to_owned()));
}

#[test]
fn what_a_file_says_beside_its_tree() {
    let tree = tree("(fma f32 (fma f32 0 1) 2)");
    let facts = TreeFacts::of_subject("s", F32, BF16, 2);
    for form in [TreeForm::Nested, TreeForm::Flat] {
        let text = tree.file_with(&facts, &[], form);
        assert_eq!(Tree::read(&text).expect("read").0, tree);
        let again = TreeFacts::read(&text, 3).expect("facts");
        assert_eq!((again.operands, again.format), (Some(F32), Some(BF16)));
        assert_eq!(
            (again.products, again.result(1.0 + 1.0 / 512.0)),
            (Some(2), 1.0)
        );
        assert_eq!(again.members["subject"], "s");
        assert_eq!(tree.file_with(&again, &[], form), text);
        assert!(TreeFacts::read(&text, 1).is_err());
    }
    for alone in ["(add f32 0 1)", &tree.json(), "0"] {
        assert_eq!(TreeFacts::read(alone, 3), Ok(TreeFacts::default()));
    }
    // A tree deeper than JSON is parsed does not hide the facts.
    let deep = chain(&(0..900).collect::<Vec<_>>());
    let text = deep.file_with(&facts, &[], TreeForm::Nested);
    assert!(text.contains("\"tree\""));
    assert_eq!(
        TreeFacts::read(&text, 900).expect("facts").products,
        Some(2)
    );
}

/// Boxes and circles do not lie on one another, and all lie inside the drawing.
#[test]
fn boxes_do_not_overlap() {
    for tree in [
        strided(4096, 32),
        strided(64, 8),
        strided(4096, 8),
        Random(3).tree(2000, true),
    ] {
        let svg = tree.svg("t", &[]);
        let number = |text: &str, key: &str| -> f64 {
            let rest = text.split_once(&format!(" {key}=\"")).expect(key).1;
            rest.split_once('"')
                .expect("a quote")
                .0
                .parse()
                .expect("a number")
        };
        let boxes: Vec<[f64; 4]> = svg
            .split("<rect x=")
            .skip(1)
            .map(|text| {
                let text = format!("<rect x={text}");
                let [x, y, w, h] = ["x", "y", "width", "height"].map(|key| number(&text, key));
                [x, y, x + w, y + h]
            })
            .collect();
        let (width, height) = (number(&svg, "width"), number(&svg, "height"));
        for (index, a) in boxes.iter().enumerate() {
            assert!(
                a[0] >= 0.0 && a[2] <= width && a[3] <= height,
                "{a:?} in {width} × {height}"
            );
            for b in &boxes[..index] {
                let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                assert!(apart, "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn execution_follows_the_types() {
    let value = |text: &str, terms: &[Term]| {
        tree(text)
            .execute(terms, &Arithmetic::ieee(F32))
            .expect("executable")
    };
    let tiny = 2.0_f64.powi(-30);
    let terms = [Term::Value(1.0), Term::Value(tiny), Term::Value(-1.0)];
    assert_eq!(value("(add f32 (add f32 0 1) 2)", &terms), 0.0);
    assert_eq!(value("(add f64 (add f64 0 1) 2)", &terms), tiny);
    assert_eq!(value("(exact f32 0 1 2)", &terms), tiny);
    let e = 2.0_f64.powi(-12);
    let terms = [
        Term::Product(-(1.0 + 2.0 * e), 1.0),
        Term::Product(1.0 + e, 1.0 + e),
    ];
    assert_eq!(value("(add f32 0 1)", &terms), 0.0);
    assert_eq!(value("(fma f32 0 1)", &terms), e * e);
    // A fused sum cuts off below the kept bits; Volta keeps 23.
    let arithmetic = Arithmetic {
        fused: Some(Truncated {
            bits: 23,
            rounding: Rounding::Rz,
        }),
        ..Arithmetic::ieee(F32)
    };
    let small = Term::Value(2.0_f64.powi(-24));
    let terms = [Term::Value(1.0), small, small, Term::Value(-1.0)];
    assert_eq!(
        tree("(fused f32 0 1 2 3)").execute(&terms, &arithmetic),
        Ok(0.0)
    );
    assert!(
        tree("(fused f32 0 1 2)")
            .execute(&terms[..3], &Arithmetic::ieee(F32))
            .is_err()
    );
    assert!(
        tree("(unresolved f32 0 1 2)")
            .execute(&terms[..3], &arithmetic)
            .is_err()
    );
    assert!(tree("(add f32 0 1)").execute(&terms, &arithmetic).is_err());
    // Directed rounding.
    let up = Arithmetic {
        rounding: Rounding::Ru,
        ..Arithmetic::ieee(F64)
    };
    let terms = [Term::Value(1.0), Term::Value(1e-40)];
    assert_eq!(
        tree("(add f64 0 1)").execute(&terms, &up),
        Ok(1.0_f64.next_up())
    );
}

/// Exact sums and multiply-adds against integers: 20,000 random sums in f32.
#[test]
fn exact_sums_are_exact() {
    let mut random = Random(9);
    let exact = tree("(exact f32 0 1 2 3 4 5 6 7)");
    for _ in 0..20_000 {
        let terms: Vec<i64> = (0..8)
            .map(|_| (random.below(1 << 24) as i64 - (1 << 23)) << random.below(30))
            .collect();
        let sum: i128 = terms.iter().map(|&term| i128::from(term)).sum();
        let given: Vec<Term> = terms.iter().map(|&term| Term::Value(term as f64)).collect();
        let expected = sum as f32; // Rust rounds integers to nearest even
        assert_eq!(
            exact.execute(&given, &Arithmetic::ieee(F32)),
            Ok(f64::from(expected))
        );
    }
}

/// Inputs that each exported function is run on.
const TRIALS: usize = 64;

/// One exported function and what it is given.
struct Exported<'a> {
    name: &'a str,
    leaves: usize,
    products: usize,
    /// `TRIALS` inputs one behind the other.
    a: Vec<f32>,
    b: Vec<f32>,
}

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
                .export(language, products, &arithmetic)
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
            .export(TreeLanguage::C, 0, arithmetic)
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
            leaves, products, ..
        } = *self;
        let list = |numbers: &[f32], suffix: &str| -> String {
            let texts: Vec<String> = numbers.iter().map(|x| format!("{x:e}{suffix}")).collect();
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
            (_, true) => format!("a + t, b + t, a[t + {products}]"),
        };
        let end = TRIALS * leaves;
        let main = format!(
            "#include <stdio.h>\n#include <string.h>\nstatic const float a[] = {{{}}};\n\
             static const float b[] = {{{}}};\nint main(void) {{ (void)b;\n\
             for (int t = 0; t < {end}; t += {leaves}) {{ float r = mmascope_sum({given}); \
             unsigned u; memcpy(&u, &r, 4); printf(\"%08x\\n\", u); }} return 0; }}\n",
            list(&self.a, "f"),
            list(&self.b, "f")
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
                    (_, true) => format!("a[t:], b[t:], a[t + {products}]"),
                };
                let text = format!(
                    "{code}\na = [f32(x) for x in [{}]]\nb = [f32(x) for x in [{}]]\n\
                     for t in range(0, {end}, {leaves}):\n    \
                     print(struct.pack('>f', mmascope_sum({given})).hex())\n",
                    list(&self.a, ""),
                    list(&self.b, ""),
                );
                std::fs::write(file("py"), text).expect("a file");
                run(Command::new("python3").arg(file("py")))
            }
            TreeLanguage::Rust => {
                let given = match (products, has_c) {
                    (0, _) => "&a[t..]".to_owned(),
                    (_, false) => "&a[t..], &b[t..]".to_owned(),
                    (_, true) => format!("&a[t..], &b[t..], a[t + {products}]"),
                };
                let text = format!(
                    "{code}\nfn main() {{ let a = [{}]; let b = [{}]; let _ = &b;\n\
                     for t in (0..{end}).step_by({leaves}) {{\n\
                     println!(\"{{:08x}}\", mmascope_sum({given}).to_bits()); }} }}\n",
                    list(&self.a, "_f32"),
                    list(&self.b, "_f32"),
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

#[test]
fn a_sequential_sum_of_16384_terms_goes_out_and_back() {
    const TERMS: usize = 16_384;
    let mut builder = Builder::new(TERMS);
    let mut sum = 0;
    for leaf in 1..TERMS {
        sum = builder.node(Op::Add, F32, vec![sum, leaf]);
    }
    let tree = builder.build(sum).expect("a tree");
    // Too deep for JSON readers: written flat, whatever is asked for.
    let text = tree.file("s", &[], TreeForm::Nested);
    let value: serde_json::Value = serde_json::from_str(&text).expect("any JSON reader takes it");
    assert_eq!(value["nodes"].as_array().map(Vec::len), Some(TERMS - 1));
    assert_eq!(value["root"], 2 * TERMS - 2);
    assert_eq!(value["nodes"][0]["children"], serde_json::json!([0, 1]));
    let (again, names) = Tree::read(&text).expect("it reads back");
    assert_eq!((&again, names.len()), (&tree, TERMS));
    // The nested form and the text are still read.
    for text in [tree.json(), tree.to_string()] {
        assert_eq!(Tree::read(&text).expect("read").0, tree);
    }
}

#[test]
fn the_flat_form() {
    let tree: Tree = "(add f32 (fused f32 0 1 2) 3)".parse().expect("a tree");
    let names = ["a", "b", "c", "d"].map(str::to_owned);
    let text = tree.file("s", &names, TreeForm::Flat);
    assert!(
        text.contains(
            r#""nodes":[{"op":"fused","type":"f32","children":[0, 1, 2]},{"op":"add","type":"f32","children":[4, 3]}],"root":5"#
        ),
        "{text}"
    );
    assert_eq!(
        Tree::read(&text).expect("read"),
        (tree.clone(), names.to_vec())
    );
    // Any order of nodes and children is the same tree.
    let other = r#"{"root":5,"leaves":["a","b","c","d"],"nodes":[
        {"op":"fused","type":"f32","children":[2,0,1]},{"op":"add","type":"f32","children":[3,4]}]}"#;
    assert_eq!(Tree::read(other).expect("read").0, tree);
    for (from, to) in [
        ("[3,4]", "[3,5]"),
        ("[3,4]", "[3,3]"),
        ("[3,4]", "[3,4,0]"),
        ("[2,0,1]", "[]"),
        ("\"root\":5", "\"root\":6"),
        ("\"root\":5", "\"root\":4"),
        ("fused", "fuse"),
        ("f32", "f33"),
        ("\"d\"", "\"d\",\"e\""),
        ("[2,0,1]", "[-1]"),
    ] {
        let damaged = other.replacen(from, to, 1);
        assert!(Tree::read(&damaged).is_err(), "{damaged}");
    }
}
