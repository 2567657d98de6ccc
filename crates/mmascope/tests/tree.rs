//! Trees as values: text, JSON, equality, differences, patterns, drawings, execution, export.

use std::collections::HashSet;

use mmascope::format::{BF16, F16, F32, F64, Format, Rounding};
use mmascope::tree::{
    Arithmetic, Builder, Op, Term, Tree, TreeFacts, TreeForm, TreeLanguage, Truncated,
};

#[path = "tree/exported.rs"]
mod exported;
#[path = "tree/picture.rs"]
mod picture;
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
        (
            tree(
                "(add f32 (add f32 (add f32 (add f32 0 1) (add f32 2 3)) (add f32 4 5)) (add f32 6 7))",
            ),
            "4 pairs, then sequential",
        ),
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

/// Libraries add what fills no whole vector to the lanes, or within one of them.
#[test]
fn tails_within_lanes_are_named() {
    // Lanes of stride 4 over 8 leaves each, each lane four-way itself, with one leaf more before lanes are combined.
    let lane = |builder: &mut Builder, lane: usize| {
        let own = |index: usize| 4 * index + lane;
        let pairs: Vec<usize> = (0..4)
            .map(|part| builder.node(Op::Add, F32, vec![own(part), own(part + 4)]))
            .collect();
        let sum = pairwise(builder, pairs);
        builder.node(Op::Add, F32, vec![sum, own(8)])
    };
    let lanes_of = |leaves: usize, extra: Option<[usize; 2]>| {
        let mut builder = Builder::new(leaves);
        let mut lanes: Vec<usize> = (0..4).map(|index| lane(&mut builder, index)).collect();
        for (lane, leaf) in extra.into_iter().flatten().enumerate() {
            lanes[lane] = builder.node(Op::Add, F32, vec![lanes[lane], leaf]);
        }
        let root = pairwise(&mut builder, lanes);
        builder.build(root).expect("a tree")
    };
    let even = "4-way strided (4-way strided, pairwise combine; then one more), pairwise combine";
    assert_eq!(lanes_of(36, None).pattern(), even);
    assert_eq!(
        lanes_of(38, Some([36, 37])).pattern(),
        format!("{even} up to leaf 35; the last 2 leaves enter within")
    );
    // Leaves that are a summand of their own, that join the root, or that join no lanes have no such name.
    let lanes = strided(32, 4).to_string();
    for irregular in [
        format!("(add f32 (add f32 {lanes} 32) (add f32 33 34))"),
        format!("(fused f32 {lanes} (add f32 32 33) (add f32 34 35))"),
        format!("(fused f32 {lanes} 32 33 34)"),
        "(add f32 (add f32 (add f32 0 2) (add f32 1 4)) (add f32 3 5))".to_owned(),
    ] {
        let pattern = tree(&irregular).pattern();
        assert!(!pattern.contains("enter within"), "{irregular}: {pattern}");
    }
    // A lane's leaves are not numbered as the tree's.
    let mut builder = Builder::new(68);
    let lanes: Vec<usize> = (0..4)
        .map(|lane| {
            let own = |index: usize| 4 * index + lane;
            let blocks: Vec<usize> = (0..4)
                .map(|block| {
                    (4 * block + 1..4 * block + 4).fold(own(4 * block), |sum, index| {
                        builder.node(Op::Add, F32, vec![sum, own(index)])
                    })
                })
                .collect();
            let sum = pairwise(&mut builder, blocks);
            builder.node(Op::Add, F32, vec![sum, own(16)])
        })
        .collect();
    let root = pairwise(&mut builder, lanes);
    let numbered = builder.build(root).expect("a tree").pattern();
    assert!(!numbered.contains("leaf 16"), "{numbered}");
    // Nor are a block's.
    let block = |builder: &mut Builder, first: usize| {
        let lanes: Vec<usize> = (0..4)
            .map(|lane| {
                (lane + 4..16).step_by(4).fold(first + lane, |sum, leaf| {
                    builder.node(Op::Add, F32, vec![sum, first + leaf])
                })
            })
            .collect();
        let sum = pairwise(builder, lanes);
        builder.node(Op::Add, F32, vec![sum, first + 16])
    };
    let mut builder = Builder::new(34);
    let blocks = vec![block(&mut builder, 0), block(&mut builder, 17)];
    let root = builder.node(Op::Add, F32, blocks);
    assert_eq!(
        builder.build(root).expect("a tree").pattern(),
        "2 blocks of 17 (4-way strided, pairwise combine; then one more), then sequential"
    );
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
    let page = two.html("t", "", &names);
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(page.contains("prefers-color-scheme: dark"));
    // The picture is in it, without the heading that the page has already.
    let picture = two.svg("t", &names);
    let (heading, rest) = picture.split_once("</text>").expect("a heading");
    assert!(page.contains(rest) && !page.contains(heading));
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
        let refused = message(chain.export(language, 0, &ieee, None));
        assert!(refused.contains("products says"), "{refused}");
        assert!(chain.export(language, 2, &ieee, None).is_ok());
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
    // Another number of products is refused; none is for the tree to judge.
    assert!(facts.check_products(2).is_ok() && facts.check_products(0).is_ok());
    assert!(facts.check_products(1).is_err() && facts.check_products(3).is_err());
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

/// ∞ and NaN in every kind of node and every rounding, and what is beyond the largest number.
#[test]
fn infinities_and_nan_follow_ieee() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for rounding in Rounding::deterministic() {
        let arithmetic = Arithmetic {
            fused: Some(Truncated { bits: 24, rounding }),
            rounding,
            ..Arithmetic::ieee(F32)
        };
        let run = |text: &str, terms: &[Term]| {
            let sum = tree(text).execute(terms, &arithmetic);
            // NaN by its name, so that it equals itself.
            sum.expect("executable").to_string()
        };
        let one = Term::Product(1.0, 1.0);
        for text in [
            "(add f32 (add f32 0 1) 2)",
            "(fma f32 (fma f32 0 1) 2)",
            "(exact f16 0 1 2)",
            "(fused f32 0 1 2)",
            "(add f64 (add f64 0 1) 2)",
            "(exact f64 (fused bf16 0 1) 2)",
        ] {
            let sum = |left: Term, right: Term| run(text, &[left, one, right]);
            for (left, right, expected) in [
                (inf, 1.0, "inf"),
                (-inf, 1.0, "-inf"),
                (inf, inf, "inf"),
                (inf, -inf, "NaN"),
                (nan, 1.0, "NaN"),
                (nan, -inf, "NaN"),
            ] {
                let context = format!("{text} {rounding}: {left} and {right}");
                let given = sum(Term::Value(left), Term::Value(right));
                assert_eq!(given, expected, "{context}");
                let given = sum(Term::Product(-left, -1.0), Term::Value(right));
                assert_eq!(given, expected, "{context}");
            }
            assert_eq!(sum(Term::Product(inf, 0.0), one), "NaN", "{text}");
        }
        // Beyond the largest number.
        for (format, largest) in [
            ("f16", 65504.0),
            ("f32", f64::from(f32::MAX)),
            ("f64", f64::MAX),
        ] {
            for op in ["add", "exact", "fused"] {
                let text = format!("({op} {format} 0 1)");
                if op == "add" && rounding == Rounding::Rne && format == "f64" {
                    continue; // The language's own addition.
                }
                for sign in [1.0, -1.0] {
                    let term = Term::Value(sign * largest);
                    let is_inward = match rounding {
                        Rounding::Rz | Rounding::Odd => true,
                        Rounding::Rd => sign > 0.0,
                        Rounding::Ru => sign < 0.0,
                        _ => false,
                    };
                    let expected = sign * if is_inward { largest } else { inf };
                    let given = run(&text, &[term, term]);
                    assert_eq!(given, expected.to_string(), "{text} {rounding}");
                }
            }
        }
        // A product of finite factors is finite until it is rounded.
        let terms = [Term::Product(1e200, 1e200), Term::Product(-1e200, 1e200)];
        assert_eq!(run("(exact f64 0 1)", &terms), "0");
    }
    // Formats without ∞ have NaN for it; a format with neither has no sum.
    let sum = |format: &str, value: f64| {
        let terms = [Term::Value(value), Term::Value(1.0)];
        tree(&format!("(add {format} 0 1)")).execute(&terms, &Arithmetic::ieee(F32))
    };
    assert!(sum("e4m3", inf).is_ok_and(f64::is_nan));
    for value in [inf, nan] {
        let error = sum("e2m1", value).expect_err("refused").to_string();
        assert!(error.contains("e2m1fn has neither"), "{error}");
    }
    assert!(
        TreeFacts::of_subject("s", F32, Format::named("e4m3").expect("a format"), 0)
            .result(inf)
            .is_nan()
    );
}

/// Additions of f64 in every rounding: 1 + 2^-53 is a tie, and 1 + 2^-54 lies below it.
#[test]
fn f64_nodes_take_every_rounding() {
    let (one, next) = (1.0, 1.0_f64.next_up());
    for rounding in Rounding::deterministic() {
        let arithmetic = Arithmetic {
            rounding,
            ..Arithmetic::ieee(F64)
        };
        let sum = |small: f64| {
            let terms = [Term::Value(1.0), Term::Value(small)];
            tree("(add f64 0 1)").execute(&terms, &arithmetic)
        };
        let up = |is_up: bool| Ok(if is_up { next } else { one });
        use Rounding::{Odd, Ra, Rna, Rno, Rnu, Ru};
        let away = [Odd, Ra, Ru].contains(&rounding);
        let tie = away || [Rna, Rno, Rnu].contains(&rounding);
        assert_eq!(sum(2.0_f64.powi(-53)), up(tie), "{rounding}");
        assert_eq!(sum(2.0_f64.powi(-54)), up(away), "{rounding}");
    }
}

/// Fused sums of any number of bits are right, and other numbers of bits are refused everywhere.
#[test]
fn fused_bits_are_bounded() {
    let fused = |bits| Arithmetic {
        fused: Some(Truncated {
            bits,
            rounding: Rounding::Rne,
        }),
        ..Arithmetic::ieee(F32)
    };
    let terms = [0.1, 100_000.0, -0.3].map(Term::Value);
    let sum = |bits| tree("(fused f32 0 1 2)").execute(&terms, &fused(bits));
    for bits in [60, 121, 122, 123, 124, 127, 150, 200, 900, 65536] {
        assert_eq!(sum(bits), Ok(99_999.796_875), "{bits}");
    }
    // Far terms of f64, which no narrower sum holds.
    let far = [
        Term::Product(1e300, 1e300),
        Term::Value(1.0),
        Term::Product(-1e300, 1e300),
    ];
    let sum_of = |terms: &[Term], bits| tree("(fused f64 0 1 2)").execute(terms, &fused(bits));
    assert_eq!(sum_of(&far, 1000), Ok(0.0));
    assert_eq!(sum_of(&far, 2000), Ok(1.0));
    for bits in [i32::MIN, -1, 0, 65537, i32::MAX] {
        let words = format!("fused_bits = {bits}: a whole number of bits from 1 to 65536");
        let file = format!("{{\"fused_bits\":{bits},\"tree\":0}}");
        for refused in [
            sum(bits).map(|_| ()),
            Arithmetic::named(None, Some(bits), None, None).map(|_| ()),
            TreeFacts::read(&file, 1).map(|_| ()),
        ] {
            let error = refused.expect_err("refused").to_string();
            assert!(error.contains(&words), "{error}");
        }
    }
}

/// What is no number of the operands' format is refused.
#[test]
fn operands_are_numbers_of_their_format() {
    let read = |format: &str, value: f64, facts: &TreeFacts| {
        let mut terms = [Term::Value(value)];
        let format = Format::named(format).expect("a format");
        facts.read_operands(format, &mut terms).map(|()| terms[0])
    };
    let bare = TreeFacts::default();
    for (format, value, words) in [
        (
            "e2m1",
            100_000.0,
            "100000.0 is no number of e2m1fn: they go from -6.0 to 6.0",
        ),
        (
            "e2m1",
            0.1,
            "0.1 is no number of e2m1fn: the nearest is 0.0",
        ),
        (
            "f16",
            0.1,
            "0.1 is no number of f16: the nearest is 0.0999755859375",
        ),
        ("f16", 100_000.0, "they go from -65504.0 to 65504.0"),
        ("f16", 65510.0, "they go from -65504.0 to 65504.0"),
        ("int8", 0.5, "is no number of"),
        ("int8", 128.0, "they go from -128.0 to 127.0"),
        ("f32", 1e39, "1e39 is no number of f32"),
        ("int8", f64::NAN, "which has no NaN"),
        ("e2m1", f64::INFINITY, "which has no such ∞"),
        ("e4m3", f64::NEG_INFINITY, "which has no such ∞"),
    ] {
        let error = read(format, value, &bare).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
    for (format, value) in [
        ("e2m1", -6.0),
        ("f16", f64::INFINITY),
        ("int8", -128.0),
        ("f64", 0.1),
    ] {
        assert_eq!(read(format, value, &bare), Ok(Term::Value(value)));
    }
    // Decimals of f32 are the nearest number.
    assert_eq!(read("f32", 0.1, &bare), Ok(Term::Value(f64::from(0.1_f32))));
    // What stands beside products is no operand.
    let dot = TreeFacts::of_subject("s", F16, F32, 1);
    assert_eq!(read("f16", 0.1, &dot), Ok(Term::Value(0.1)));
    let mut product = [Term::Product(1.0, 0.1)];
    assert!(dot.read_operands(F16, &mut product).is_err());
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
