//! NaN results of f64, whose code the rows leave open: the GPU passes on the NaN operand of a fused multiply-add, made quiet; of several
//! it takes b before c before a. Without a NaN operand, the result is fff8000000000000.

use super::point::{Case, points};

/// What the chain of fused multiply-adds gives where it ends with a NaN.
fn chained(case: &Case) -> u64 {
    let quiet = |word: u64| word | 1 << 51;
    let is_nan = |word: u64| f64::from_bits(word).is_nan();
    let pairs = case.operands.a.iter().zip(&case.operands.b);
    pairs.fold(case.operands.c, |c, (a, b)| {
        if let Some(nan) = [*b, c, *a].into_iter().find(|word| is_nan(*word)) {
            return quiet(nan);
        }
        let [x, y, z] = [*a, *b, c].map(f64::from_bits);
        let sum = x.mul_add(y, z);
        if sum.is_nan() {
            return 0xfff8_0000_0000_0000;
        }
        sum.to_bits()
    })
}

#[test]
fn nan_codes_of_f64() {
    let points = points("specials");
    let of_f64 = points.iter().filter(|point| point.row.name.contains("f64"));
    let cases = of_f64.flat_map(|point| point.cases.iter().map(move |case| (point.row, case)));
    let is_nan = |(_, case): &(_, &Case)| f64::from_bits(case.d).is_nan();
    let mut number = 0;
    for (row, case) in cases.filter(is_nan) {
        number += 1;
        let expected = chained(case);
        assert_eq!(case.d, expected, "{} {}", row.name, case.label);
    }
    assert!(number > 1000, "{number} cases");
}
