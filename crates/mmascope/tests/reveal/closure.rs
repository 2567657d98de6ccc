//! Closure: for every row of the catalogue, what is revealed of the model is what masks can see of
//! the row's own tree.

use std::collections::BTreeMap;

use crate::symbolic::{left, left_by_tree};
use mmascope::dpa::{Dpa, Fused, General, Operation, StFdpa, TFdpa, TrFdpa, Unit};
use mmascope::dut::{Dut, ModelDut};
use mmascope::format::{E11M23, F32, F64, Format};
use mmascope::isa::Catalogue;
use mmascope::reveal::{DeviceSum, Nature, RevealOptions, Revelation, Summation, reveal};
use mmascope::tree::{Inner, Op, Sight, Tree, visible};

fn asked(unit: &Unit, options: &RevealOptions) -> Result<(Revelation, Sight), String> {
    let mut device = ModelDut::new("model", unit.clone());
    let device: &mut dyn Dut = &mut device;
    let mut subject = DeviceSum::new(device).expect("float operands");
    let report = reveal(&mut subject, options).map_err(|error| error.to_string())?;
    Ok((report, subject.sight()))
}

fn revealed(unit: &Unit, options: &RevealOptions) -> (Revelation, Sight) {
    asked(unit, options).expect("a model does not fail")
}

#[test]
fn every_row_reveals_what_masks_can_see_of_its_own_tree() {
    let options = RevealOptions {
        trials: 20,
        ..RevealOptions::default()
    };
    let mut wrong = Vec::new();
    // Rows of equal arithmetic are revealed once.
    let mut rows = BTreeMap::new();
    let (mut count, mut standing_in) = (0, 0);
    for row in Catalogue::built_in()
        .instructions()
        .filter(|row| row.is_modelled())
    {
        let unit = row.unit().expect("modelled");
        // Sums of integers are asked otherwise: tests/integers.rs.
        if unit.program().sums_integers() {
            continue;
        }
        count += 1;
        let key = format!("{} {}", unit.signature(), unit.program());
        rows.entry(key).or_insert((row, unit));
    }
    for (key, (row, unit)) in &rows {
        let (report, sight) = match asked(unit, &options) {
            Ok(revealed) => revealed,
            Err(message) => {
                wrong.push(format!("{} {}: {message}", row.architecture, row.name));
                continue;
            }
        };
        // What stands in for its operands has other leaves than the unit's own tree.
        if report.notes.iter().any(|note| note.contains("multiplies")) {
            standing_in += 1;
            continue;
        }
        let expected = visible(unit, &sight).expect("a tree");
        match expected {
            // Masks are powers of two; parts of significands only show in the trials.
            None if unit.program().knows_numbers_only() && !report.holds() => {}
            None if matches!(report.nature, Nature::NoSingleTree(_)) => {}
            // The trials replay with operands as they are.
            Some(_) if rounds_operands(unit) && !report.holds() => {}
            Some(tree) if report.holds() && as_seen(&tree, unit) == as_seen(&report.tree, unit) => {
                wrong.extend(against_steps(unit, &report.tree, &sight));
            }
            expected => wrong.push(format!(
                "{} {} [{key}]\n  {sight:?}\n  found {} {} {:?}\n  expected {}",
                row.architecture,
                row.name,
                report.tree,
                report.verdict(),
                report.notes,
                expected.map_or("no single tree".to_owned(), |tree| tree.to_string())
            )),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
    assert!(count > 500, "{count} rows");
    assert!((1..80).contains(&standing_in), "{standing_in} rows");
}

/// Whether a step rounds a and b before it multiplies them.
fn rounds_operands(unit: &Unit) -> bool {
    unit.program().to_string().contains("operands=")
}

/// The tree as results show it: the sum of two terms rounded once is an addition, whoever calls it a
/// step; so is a multiply-add whose products are exact, those of operands narrower than f32; a last
/// conversion hides the format of the root.
fn as_seen(tree: &Tree, unit: &Unit) -> Tree {
    let signature = unit.signature();
    let is_narrow = signature.a != F32 && signature.a != F64;
    let converts = unit.program().statements.last();
    let converts = converts.is_some_and(|it| matches!(it.operation, Operation::Convert(_)));
    // One addition in a narrow format is one in f32, rounded once more.
    let converts = converts || signature.k == 1 && signature.d.bits == 16;
    let two = |node: &Inner| match (node.op, node.children.len()) {
        (Op::Fused | Op::Exact, 2) => Op::Add,
        (Op::Fma, _) if is_narrow => Op::Add,
        (op, _) => op,
    };
    // Masks tell how many bits a sum keeps, and not the range of its exponents.
    let seen = |format: Format| if format == E11M23 { F32 } else { format };
    tree.map(|item, node| Inner {
        op: two(node),
        format: if converts && item == tree.root() {
            signature.d
        } else {
            seen(node.format)
        },
        ..node.clone()
    })
    .expect("a tree")
}

/// Where the tree found contradicts the steps of the row, by another way of working them out than
/// the expected tree's: which units every pair of masks leaves, and that nothing is called
/// unresolved that the formats could show.
fn against_steps(unit: &Unit, tree: &Tree, sight: &Sight) -> Option<String> {
    let kept = unit
        .program()
        .statements
        .iter()
        .map(|statement| match statement.operation {
            Operation::Dot {
                algorithm:
                    Dpa::TFdpa(TFdpa { f, .. })
                    | Dpa::StFdpa(StFdpa { f, .. })
                    | Dpa::TrFdpa(TrFdpa { f, .. }),
                ..
            } => f as i32 + 1,
            Operation::Dot {
                algorithm: Dpa::EFdpa(_),
                ..
            } => sight.exact,
            Operation::Dot {
                algorithm:
                    Dpa::General(General::Fused(Fused {
                        f: None, l: 2.., ..
                    })),
                ..
            } => sight.exact,
            Operation::Dot {
                algorithm: Dpa::GstFdpa(_),
                ..
            } => i32::MAX,
            _ => 0,
        });
    let is_shown = kept.max().is_some_and(|bits| bits <= sight.span);
    let is_unresolved = tree.nodes().iter().any(|node| node.op == Op::Unresolved);
    if is_shown == is_unresolved {
        return Some(format!(
            "{sight:?} shows the steps: {is_shown}; found {tree}"
        ));
    }
    let leaves = tree.leaves();
    let pairs = (0..leaves).flat_map(|i| (0..leaves).map(move |j| (i, j)));
    pairs
        .filter(|(i, j)| i != j && is_shown)
        .find_map(|(i, j)| {
            let (steps, by_tree) = (left(unit, i, j)?, left_by_tree(tree, i, j));
            (steps != by_tree)
                .then(|| format!("masks {i}, {j}: {steps:?}, by the tree {by_tree:?}: {tree}"))
        })
}

fn found(arch: &str, inst: &str) -> Tree {
    let unit = Catalogue::built_in()
        .find(arch, inst)
        .and_then(|row| row.unit())
        .expect("a modelled row");
    revealed(unit, &RevealOptions::default()).0.tree
}

/// The nodes as (operation, number of terms), the root last.
fn nodes(tree: &Tree) -> Vec<(&'static str, usize)> {
    tree.nodes()
        .iter()
        .map(|node| (node.op.name(), node.children.len()))
        .collect()
}

/// The reference results of the specification, §4.
#[test]
fn reference_results() {
    let f16 = |arch, shape: &str| found(arch, &format!("mma.{shape}.f32.f16.f16.f32"));
    assert_eq!(nodes(&f16("volta", "m8n8k4")), [("fused", 5)]);
    assert_eq!(nodes(&f16("ampere", "m16n8k16")), [("fused", 9); 2]);
    assert_eq!(nodes(&f16("hopper", "m16n8k16")), [("fused", 17)]);
    let tf32 = found("ampere", "mma.m16n8k8.f32.tf32.tf32.f32");
    assert_eq!(nodes(&tf32), [("fused", 5); 2]);
    let f64 = found("ampere", "mma.m8n8k4.f64.f64.f64.f64");
    assert_eq!(nodes(&f64), [("fma", 2); 4]);
    // CDNA2: quads pairwise, then c, sequentially.
    let cdna2 = found("cdna2", "v_mfma_f32_32x32x8_f16");
    assert_eq!(
        cdna2.shape(mmascope::format::F32).to_string(),
        "(add f32 (add f32 (add f32 (add f32 0 1) (add f32 2 3)) 8) \
         (add f32 (add f32 4 5) (add f32 6 7)))"
    );
    assert_eq!(
        nodes(&found("cdna3", "v_mfma_f32_32x32x8_f16")),
        [("fused", 9)]
    );
    assert_eq!(
        nodes(&found("cdna1", "v_mfma_f32_32x32x4_2b_f16")),
        [("exact", 5)]
    );
    assert_eq!(
        nodes(&found("cdna1", "v_mfma_f32_32x32x4_bf16")),
        [("exact", 3); 2]
    );
}

/// CDNA3 fp8: c leaves with whichever parity carries the mask.
#[test]
fn no_single_tree_is_said() {
    let unit = Catalogue::built_in()
        .find("cdna3", "v_mfma_f32_16x16x32_fp8_fp8")
        .and_then(|row| row.unit())
        .expect("a modelled row");
    let (report, _) = revealed(unit, &RevealOptions::default());
    assert!(
        matches!(report.nature, Nature::NoSingleTree(_)),
        "{}",
        report.verdict()
    );
    assert!(!report.holds() && report.verdict().contains("no single tree"));
}

/// e4m3 × e3m2 is short by one bit in one f8f6f4 instruction; the report says so.
#[test]
fn missing_bits_are_said() {
    let inst = "tcgen05.mma.m128n8k32.kind::f8f6f4.f32.e4m3.e3m2";
    let unit = Catalogue::built_in()
        .find("blackwell", inst)
        .and_then(|row| row.unit())
        .expect("a modelled row");
    let (report, _) = revealed(unit, &RevealOptions::default());
    assert_eq!(report.unresolved, [(0..33).collect::<Vec<_>>()]);
    assert!(
        report.notes[0].contains("so 1 bits are missing"),
        "{:?}",
        report.notes
    );
}

/// No leaf of a unit is taken for another: names of the leaves.
#[test]
fn c_is_a_leaf() {
    let unit = Catalogue::built_in()
        .find("volta", "mma.m8n8k4.f32.f16.f16.f32")
        .and_then(|row| row.unit())
        .expect("a modelled row");
    let mut device = ModelDut::new("model", unit.clone());
    let device: &mut dyn Dut = &mut device;
    let subject = DeviceSum::new(device).expect("float operands");
    assert_eq!(
        (subject.leaf_name(3), subject.leaf_name(4)),
        ("p3".into(), "c".into())
    );
}

/// The tree of a program, as text, and whether it is said to be one.
fn tree_of(signature: &str, program: &str) -> (String, bool) {
    let signature = signature.parse().expect("a signature");
    let unit = Unit::new(signature, program.parse().expect("a program")).expect("a unit");
    let (report, _) = revealed(&unit, &RevealOptions::default());
    let is_tree = matches!(report.nature, Nature::Tree);
    (report.tree.to_string(), is_tree)
}

/// Masks that fit the formats of operands and results overflow in f16: smaller ones show the order.
#[test]
fn f16_on_the_way_has_masks_of_its_own() {
    let found = tree_of(
        "a=bf16 b=bf16 c=f32 d=f32 k=4",
        "t = fused L=2 F=24 over k=3,1 -> rz f16 ; d = fused L=2 F=24 over k=0,2 from t -> rz f32",
    );
    assert_eq!(found, ("(fused f32 0 (fused f32 1 3 4) 2)".into(), true));
    let found = tree_of(
        "a=tf32 b=tf32 c=f32 d=f32 k=3",
        "fused L=1 F=24 products=rd:f16 over k=2,0,1 -> rz f32",
    );
    assert_eq!(
        found,
        ("(add f32 (add f32 0 (add f32 2 3)) 1)".into(), true)
    );
}

/// Half of the last bit that an alignment keeps is rounded away from zero: the units of a node grow, all alike.
#[test]
fn rounded_alignments_are_fused() {
    let found = tree_of(
        "a=f16 b=f16 c=f32 d=f32 k=8",
        "s = fused L=4 F=26 align=rna over k=0,2,4,6 from product -> rd f32 ; \
         t = fused L=4 F=26 align=rna over k=1,3,5,7 from product -> rd f32 ; \
         u = add s t -> rd f32 ; d = add c u -> rd f32",
    );
    let tree = "(add f32 (add f32 (fused f32 0 2 4 6) (fused f32 1 3 5 7)) 8)";
    assert_eq!(found, (tree.into(), true));
}
