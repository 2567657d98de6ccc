//! Subjects without a fixed tree are recognised and named; fixed trees are verified.

use mmascope::dpa::{Signature, Unit};
use mmascope::dut::{Batch, Dut, ModelDut};
use mmascope::reveal::{DeviceSum, Masks, Nature, RevealOptions, Revelation, SliceSum, reveal};
use mmascope::vector::Answer;

fn report<F: FnMut(&[f32]) -> f32>(n: usize, sum: F) -> Revelation {
    reveal(
        &mut SliceSum::new("test", n, sum),
        &RevealOptions::default(),
    )
    .expect("a closure")
}

#[test]
fn a_loop_is_verified() {
    let report = report(100, |x| x.iter().fold(0.0, |sum, x| sum + x));
    assert_eq!(report.verdict(), "verified over 100 trials (99 add f32)");
    assert_eq!(report.tree.pattern(), "sequential");
}

#[test]
fn sums_kept_in_double_are_seen() {
    let report = report(40, |x| x.iter().map(|&x| f64::from(x)).sum::<f64>() as f32);
    assert_eq!(report.verdict(), "verified over 100 trials (39 add f64)");
}

#[test]
fn nondeterministic_sums_are_named() {
    let mut turn = 0_u32;
    let report = report(32, move |x| {
        turn += 1;
        let split = (turn.wrapping_mul(2_654_435_761) >> 27) as usize % 31 + 1;
        x[..split].iter().sum::<f32>() + x[split..].iter().sum::<f32>()
    });
    assert!(
        matches!(report.nature, Nature::Nondeterministic(_)),
        "{}",
        report.verdict()
    );
}

#[test]
fn sorting_sums_are_named() {
    let report = report(24, |x| {
        let mut sorted = x.to_vec();
        sorted.sort_by(f32::total_cmp);
        sorted.iter().sum()
    });
    assert!(
        matches!(&report.nature, Nature::ValueDependent(how) if how.contains("from the smallest to the largest")),
        "{}",
        report.verdict()
    );
}

/// Begins with c and adds its products, sorted by a key.
struct Sorting {
    signature: Signature,
    key: Key,
}

type Key = fn(f32) -> f32;

impl Dut for Sorting {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        "sorting"
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        let number = |word: u64| f32::from_bits(word as u32);
        let answer = |index| {
            let query = batch.query(index);
            let mut products: Vec<f32> = query
                .a
                .iter()
                .zip(query.b)
                .map(|(&a, &b)| number(a) * number(b))
                .collect();
            products.sort_by(|x, y| (self.key)(*x).total_cmp(&(self.key)(*y)));
            let sum = products.iter().fold(number(query.c), |sum, x| sum + x);
            Answer::Word(sum.to_bits().into())
        };
        Ok((0..batch.len()).map(answer).collect())
    }
}

#[test]
fn sorted_products_behind_c_are_named() {
    let orders: [(&str, Key); 2] = [
        ("from the smallest to the largest", |x| x),
        ("from the largest magnitude to the smallest", |x| -x.abs()),
    ];
    for (order, key) in orders {
        let signature = "a=f32 b=f32 c=f32 d=f32 k=8".parse().expect("a signature");
        let mut device = Sorting { signature, key };
        let mut subject = DeviceSum::new(&mut device).expect("a subject");
        let report = reveal(&mut subject, &RevealOptions::default()).expect("answers");
        assert!(
            matches!(&report.nature, Nature::ValueDependent(how) if how.contains(order)),
            "{order}: {}",
            report.verdict()
        );
    }
}

/// An expansion: exact for what fits, rounded once.
fn expansion(x: &[f32]) -> f32 {
    let mut parts: Vec<f64> = Vec::new();
    for &term in x {
        let mut carry = f64::from(term);
        parts.retain_mut(|part| {
            let sum = carry + *part;
            let other = sum - carry;
            let error = (carry - (sum - other)) + (*part - other);
            (carry, *part) = (sum, error);
            error != 0.0
        });
        parts.push(carry);
    }
    parts.iter().sum::<f64>() as f32
}

#[test]
fn exact_sums_are_named() {
    let report = report(24, expansion);
    let said = report
        .notes
        .iter()
        .any(|note| note.starts_with("order-independent"));
    let named = matches!(report.nature, Nature::OrderIndependent(_));
    assert!(said || named, "{} {:?}", report.verdict(), report.notes);
}

#[test]
fn compensated_sums_are_named() {
    let report = report(64, |x| {
        let (mut sum, mut carry) = (0.0_f32, 0.0_f32);
        for &x in x {
            let y = x - carry;
            let t = sum + y;
            carry = (t - sum) - y;
            sum = t;
        }
        sum
    });
    assert!(
        matches!(report.nature, Nature::Compensated(_)),
        "{}",
        report.verdict()
    );
}

/// Neumaier's sum: of plain data it is the exact one, rounded once.
fn neumaier(x: &[f32]) -> f32 {
    let (mut sum, mut carry) = (x[0], 0.0_f32);
    for &term in &x[1..] {
        let next = sum + term;
        carry += match sum.abs() >= term.abs() {
            true => (sum - next) + term,
            false => (term - next) + sum,
        };
        sum = next;
    }
    sum + carry
}

#[test]
fn compensated_sums_are_no_exact_ones() {
    let cancelled = [
        2_f32.powi(60),
        2_f32.powi(30),
        1.0,
        -(2_f32.powi(60)),
        -(2_f32.powi(30)),
    ];
    assert_eq!(neumaier(&cancelled), 0.0);
    for n in [5, 8, 40] {
        let report = report(n, neumaier);
        let is_named = matches!(report.nature, Nature::Compensated(_));
        assert!(is_named, "{n}: {}", report.verdict());
    }
    // A sum that is exact stays one.
    let report = report(5, expansion);
    assert_eq!(report.nature, Nature::Tree, "{}", report.verdict());
    assert_eq!(report.verified.mismatches, 0, "{}", report.verdict());
}

#[test]
fn products_of_additions_are_rounded_as_their_sums() {
    for (formats, rounding) in [
        ("f32 x f32 + f32 -> f32", "rz"),
        ("f32 x f32 + f32 -> f32", "ru"),
        ("f16 x f16 + f16 -> f16", "rz"),
        ("bf16 x bf16 + bf16 -> bf16", "rd"),
    ] {
        let [a, _, b, _, c, _, d] = formats.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{formats}");
        };
        let signature = format!("a={a} b={b} c={c} d={d} k=8").parse();
        let program = format!("add-mul P=1 -> {rounding} {d}").parse();
        let unit = Unit::new(signature.expect("a signature"), program.expect("a program"));
        let mut device = ModelDut::new("model", unit.expect("a unit"));
        let mut subject = DeviceSum::new(&mut device).expect("float operands");
        let report = reveal(&mut subject, &RevealOptions::default()).expect("a model");
        assert_eq!(report.nature, Nature::Tree, "{formats}, {rounding}");
        assert_eq!(
            (report.verified.trials, report.verified.mismatches),
            (100, 0),
            "{formats}, {rounding}: {}",
            report.verdict()
        );
        let arithmetic = report.verified.chosen.expect("an arithmetic");
        assert_eq!(arithmetic.rounding.to_string(), rounding);
    }
}

#[test]
fn orders_that_depend_on_values_give_a_counter_example() {
    // The order is the plain one unless the first summand is negative.
    let report = report(20, |x| {
        if x[0] < 0.0 && x[0] > -100.0 {
            x.iter().rev().sum()
        } else {
            x.iter().sum()
        }
    });
    assert!(!report.holds());
    let example = report.verified.counter_example.expect("a counter-example");
    assert!(
        example.contains("subject") && example.matches('=').count() <= 6,
        "{example}"
    );
}

/// Masks that cannot work are refused with numbers.
#[test]
fn masks_that_do_not_work_are_said() {
    let masks = Masks {
        large: 1e300,
        unit: 1.0,
        counted: 1e6,
    };
    let mut subject = SliceSum::new("f32", 10, |x: &[f32]| x.iter().sum()).with_masks(masks);
    let error = reveal(&mut subject, &RevealOptions::default()).expect_err("infinite masks");
    assert!(
        error.to_string().contains("no masks work for 10 leaves"),
        "{error}"
    );
}
