//! Points that sources disputed or left open, and that the GPU settled: one test a point. The rows answer every directed case as the
//! GPU did. Where the point is a number, its neighbours do not.

use mmascope::dpa::Modifiers;

use super::point::points;

/// Every case of the point is answered as the GPU did. The counts show that nothing was left out.
fn settled(name: &str, modifiers: &Modifiers, instructions: usize, cases: usize) {
    let points = points(name);
    let wrong = points
        .iter()
        .flat_map(|point| point.contradictions(point.unit(), modifiers));
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0], "{name}");
    let found = points.iter().map(|point| point.cases.len()).sum();
    assert_eq!((points.len(), found), (instructions, cases), "{name}");
}

/// How many units have that part of the notation, and how many of them the GPU's answers contradict with the other in its place.
fn refuted(name: &str, part: &str, other: &str) -> (usize, usize) {
    let points = points(name);
    let changed = points
        .iter()
        .filter_map(|point| Some((point, point.changed(part, other)?)));
    changed.fold((0, 0), |(all, refuted), (point, unit)| {
        let wrong = point.contradictions(&unit, &Modifiers::default());
        (all + 1, refuted + usize::from(!wrong.is_empty()))
    })
}

/// f32 accumulators: bf16 and tf32 operands show e0 from both sides.
#[test]
fn floor_of_the_alignment_exponent() {
    settled("e0", &Modifiers::default(), 15, 330);
    for other in ["e0=-132", "e0=-134"] {
        assert_eq!(refuted("e0", "e0=-133", other), (8, 8), "{other}");
    }
}

/// f16 accumulators of mma.sync, wmma and wgmma alike. Products of two e5m2 are too large to show more than a bound.
#[test]
fn floor_of_the_alignment_exponent_of_f16_accumulators() {
    for other in ["e0=-20", "e0=-22", "e0=-133"] {
        assert_eq!(refuted("e0", "e0=-21", other), (7, 4), "{other}");
    }
    let bounds = [("e0=-7", 5), ("e0=-6", 7), ("e0=-19", 4), ("e0=-18", 5)];
    for (other, expected) in bounds {
        assert_eq!(refuted("e0", "e0=-21", other), (7, expected), "{other}");
    }
}

#[test]
fn exponent_of_a_subnormal_c() {
    settled("c-subnormal", &Modifiers::default(), 13, 318);
}

/// Two vectors of tiny products that tell the floors of two sources apart.
#[test]
fn tiny_values() {
    settled("H1-H2", &Modifiers::default(), 3, 6);
    assert_eq!(refuted("H1-H2", "e0=-133", "e0=-132"), (3, 3));
}

#[test]
fn sign_of_a_zero_result() {
    settled("zero-sign", &Modifiers::default(), 61, 1784);
    // Where an ordinary addition ends a lowered fp8 instruction, the sign of the sum before it does not show.
    let other = refuted(
        "zero-sign",
        "rz f32 nan=7fffffff",
        "rz f32 nan=7fffffff zero=ieee",
    );
    assert_eq!(other, (22, 14));
}

/// Every pair of k: in one sum a small product survives beside a large one and c, in a later sum it does not.
#[test]
fn products_of_one_sum() {
    settled("groups", &Modifiers::default(), 24, 10_444);
    // tf32 m16n8k8 is one sum of 8, and the same shape of wmma two of 4. Rows of a smaller K have one sum whatever their L is.
    let others = [
        ("L=16", "L=8", (12, 9)),
        ("L=32", "L=16", (8, 8)),
        ("L=8", "L=4", (3, 2)),
        ("L=4", "L=8", (1, 1)),
    ];
    for (l, other, expected) in others {
        assert_eq!(refuted("groups", l, other), expected, "{other}");
    }
}

#[test]
fn fraction_bits_of_the_alignment() {
    settled("alignment", &Modifiers::default(), 26, 2986);
    for other in ["F=24", "F=26"] {
        assert_eq!(refuted("alignment", "F=25", other), (18, 18), "{other}");
    }
    for other in ["F=12", "F=14"] {
        assert_eq!(refuted("alignment", "F=13", other), (8, 8), "{other}");
    }
}

/// NaN codes, infinities, overflow, and the low 13 bits of tf32 words.
#[test]
fn special_values() {
    settled("specials", &Modifiers::default(), 61, 8112);
    // Two rows round the f32 sum to f16 in the end.
    let other = refuted("specials", "nan=7fffffff", "nan=7fc00000");
    assert_eq!(other, (29, 27));
}

#[test]
fn a_sum_of_minus_seven_eighths() {
    settled("minus-0.875", &Modifiers::default(), 16, 16);
}

/// A zero operand beside the largest power of two does not raise the alignment exponent.
#[test]
fn zero_operands() {
    settled("zero-operand", &Modifiers::default(), 45, 90);
}

/// wgmma with scale-d false ignores c, a NaN too.
#[test]
fn without_c() {
    let no_c = Modifiers {
        no_c: true,
        ..Modifiers::default()
    };
    settled("scale-d=0", &no_c, 12, 96);
}
