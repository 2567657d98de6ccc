//! Each family of cases reaches what it promises to reach.

use std::collections::HashSet;

use mmascope::cases::{Family, Generator, Hints};
use mmascope::dpa::OperandWords;
use mmascope::dpa::{Modifiers, Signature, Unit};
use mmascope::format::{Class, Format, Unpacked};
use mmascope::isa::Catalogue;

use super::signature;

const BF16_ROW: &str = "bf16 bf16 f32 f32 16";

fn generator(family: Family, signature_text: &str) -> Generator {
    let signature = signature(signature_text);
    let hints = Hints::of_signature(&signature);
    Generator::new(family, 1, &signature, hints).expect("a generator")
}

fn cases(family: Family, signature_text: &str, count: u64) -> Vec<OperandWords> {
    let generator = generator(family, signature_text);
    (0..count).map(|index| generator.case(index)).collect()
}

fn unit(signature_text: &str, arithmetic: &str) -> Unit {
    let program = arithmetic.parse().expect("a program");
    Unit::new(signature(signature_text), program).expect("a unit")
}

fn dot(unit: &Unit, case: &OperandWords) -> u64 {
    unit.dot(&case.operands(), &Modifiers::default())
        .expect("a result")
}

fn decode(format: &Format, word: u64) -> Unpacked {
    format.decode(format.from_register(word))
}

/// How many of `count` boundary cases, built for `built_for`, the two units answer differently.
fn disagreements(one: &Unit, other: &Unit, count: u64) -> usize {
    let generator = Generator::for_unit(Family::Boundary, 1, one).expect("a generator");
    let differs = |index: &u64| {
        let case = generator.case(*index);
        dot(one, &case) != dot(other, &case)
    };
    (0..count).filter(differs).count()
}

#[test]
fn a_case_is_a_function_of_family_seed_and_index() {
    let signature = signature("e4m3 e4m3 f32 f32 32 ue8m0/32");
    let hints = Hints::of_signature(&signature);
    let mut seen = HashSet::new();
    for family in Family::ALL {
        assert_eq!(Family::named(family.name()), Ok(family));
        for seed in [0, 1, 1 << 32, u64::MAX] {
            let make = || Generator::new(family, seed, &signature, hints).expect("a generator");
            let (one, other) = (make(), make());
            for index in [5, 0, 1 << 32, 5, u64::MAX] {
                assert_eq!(one.case(index), other.case(index));
                if family != Family::Exhaustive && index != 5 {
                    assert!(
                        seen.insert((family, one.case(index))),
                        "{family} {seed} {index}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_modelled_row_takes_every_family() {
    for row in Catalogue::built_in()
        .instructions()
        .filter(|row| row.is_modelled())
    {
        let unit = row.unit().expect("a unit");
        for family in Family::ALL {
            let Ok(generator) = Generator::for_unit(family, 3, unit) else {
                assert!(
                    family == Family::Exhaustive && row.signature.a.bits > 8,
                    "{}",
                    row.name
                );
                continue;
            };
            for index in 0..16 {
                let case = generator.case(index);
                dot(unit, &case);
                let fits = |words: &[u64], format: Format| {
                    let register = u64::MAX >> (64 - format.register.bits);
                    let widest = if format.signed && format.register.shift == 0 {
                        format.mask()
                    } else {
                        register
                    };
                    words.iter().all(|word| *word <= widest)
                };
                let Signature { a, b, c, .. } = row.signature;
                assert!(
                    fits(&case.a, a) && fits(&case.b, b) && fits(&[case.c], c),
                    "{}",
                    row.name
                );
            }
        }
    }
}

#[test]
fn bits_reaches_every_code_and_ignored_bits() {
    let narrow = cases(Family::Bits, "e4m3 e5m2 f32 f32 32", 200);
    let codes: HashSet<u64> = narrow.iter().flat_map(|case| case.a.clone()).collect();
    assert_eq!(codes.len(), 256);
    let ignored = cases(Family::Bits, "tf32 tf32 f32 f32 4", 20);
    assert!(ignored.iter().any(|case| case.a[0] & 0x1fff != 0));
    let scales = cases(Family::Bits, "e2m1 e2m1 f32 f32 64 ue4m3/16", 20);
    assert!(scales.iter().any(|case| case.scale_a[0] & 0x80 != 0));
    assert!(
        scales
            .iter()
            .all(|case| case.a.iter().all(|word| *word < 16))
    );
}

#[test]
fn normal_is_normal_and_outlier_has_rare_large_ones() {
    let one = 0x3f80_0000_u64; // f32 magnitudes are ordered as their codes
    let share = |family, least: u64| {
        let cases = cases(family, "f32 f32 f32 f32 4", 20_000);
        let all = cases.iter().flat_map(|case| case.a.iter().chain(&case.b));
        let large = all.filter(|word| **word & 0x7fff_ffff >= least).count();
        large * 1000 / (8 * 20_000)
    };
    // P(|z| ≥ 1) = 0.3173; the deviation of 160,000 draws is 0.0012.
    assert!((313..=321).contains(&share(Family::Normal, one)));
    assert_eq!(share(Family::Normal, 0x4180_0000), 0); // 16
    assert!((14..40).contains(&share(Family::Outlier, 0x4180_0000)));
    assert_eq!(share(Family::Outlier, 0x4780_0000), 0); // 2^16
    let signs = cases(Family::Normal, "f32 f32 f32 f32 4", 1000);
    let negative = signs
        .iter()
        .flat_map(|case| &case.a)
        .filter(|word| **word >> 31 == 1);
    assert!((1850..2150).contains(&negative.count()));
}

#[test]
fn sparse_has_many_zeros_of_both_signs() {
    let cases = cases(Family::Sparse, "f16 f16 f32 f32 16", 2000);
    let products = cases.iter().flat_map(|case| case.a.iter().zip(&case.b));
    let magnitude = |word: &u64| word & 0x7fff;
    let live = products
        .filter(|(a, b)| magnitude(a) != 0 && magnitude(b) != 0)
        .count();
    assert!((3600..4400).contains(&live), "{live} of 32,000"); // one of eight
    assert!(cases.iter().any(|case| case.a.contains(&0x8000)));
    assert!(cases.iter().any(|case| case.c == 0) && cases.iter().any(|case| case.c == 1 << 31));
}

#[test]
fn stress_has_every_kind_of_number_and_mostly_finite_results() {
    let signature = signature("f16 f16 f32 f32 16");
    let cases = cases(Family::Stress, "f16 f16 f32 f32 16", 4000);
    let values: Vec<Unpacked> = cases
        .iter()
        .flat_map(|case| &case.a)
        .map(|word| decode(&signature.a, *word))
        .collect();
    let share = |is: &dyn Fn(&Unpacked) -> bool| {
        values.iter().filter(|value| is(value)).count() * 10_000 / values.len()
    };
    assert!(share(&|x| x.class == Class::Zero) > 500);
    assert!(share(&|x| x.class == Class::Finite && x.significand < 1024) > 500);
    assert!(share(&|x| x.significand == 2047) > 1000);
    assert!(share(&|x| x.class == Class::Nan) > 5);
    assert!(share(&|x| x.class == Class::Infinite) > 5);
    let finite = cases.iter().filter(|case| {
        let words = case.a.iter().chain(&case.b);
        words.clone().all(|word| word & 0x7c00 != 0x7c00) && case.c & 0x7f80_0000 != 0x7f80_0000
    });
    assert!(finite.count() > 3400);
    let narrow = cases_of_specials();
    assert!(narrow.contains(&Class::Nan));
}

fn cases_of_specials() -> HashSet<Class> {
    let scale = Format::named("ue8m0").expect("a format");
    let cases = cases(Family::Stress, "e2m1 e2m1 f32 f32 64 ue8m0/32", 4000);
    let words = cases.iter().flat_map(|case| &case.scale_a);
    words.map(|word| decode(&scale, *word).class).collect()
}

#[test]
fn close_cancels_exactly_or_almost() {
    let signature = signature("e4m3 e4m3 f32 f32 16");
    let (mut exact, mut near) = (0, 0);
    for case in cases(Family::Close, "e4m3 e4m3 f32 f32 16", 1000) {
        let products: Vec<i128> = case
            .a
            .iter()
            .zip(&case.b)
            .map(|(a, b)| {
                let (a, b) = (decode(&signature.a, *a), decode(&signature.b, *b));
                let magnitude = i128::from(a.significand * b.significand);
                let product = magnitude << (a.exponent + b.exponent + 12);
                if a.negative == b.negative {
                    product
                } else {
                    -product
                }
            })
            .collect();
        let sum: i128 = products.iter().sum();
        let largest = products.iter().map(|p| p.abs()).max().expect("products");
        exact += i32::from(sum == 0);
        near += i32::from(sum.abs() < largest);
    }
    assert!(exact > 150 && near > 900, "{exact} {near}");
}

#[test]
fn exhaustive_enumerates_all_pairs_and_sixteen_c() {
    let generator = generator(Family::Exhaustive, "e4m3 e2m3 f32 f32 4");
    assert_eq!(generator.count(), Some(16 << 14));
    let pair = |case: &OperandWords| (case.a[0], case.b[0]);
    let cases: Vec<OperandWords> = (0..1 << 14).map(|index| generator.case(index)).collect();
    assert_eq!(
        cases.iter().map(pair).collect::<HashSet<_>>().len(),
        1 << 14
    );
    let rest = |case: &OperandWords| {
        case.a[1..]
            .iter()
            .chain(&case.b[1..])
            .all(|word| *word == 0)
    };
    assert!(cases.iter().all(rest));
    let c: HashSet<u64> = (0..16).map(|which| generator.case(which << 14).c).collect();
    assert_eq!(c.len(), 16);
    assert_eq!(generator.case(16 << 14), generator.case(0));
}

#[test]
fn what_cannot_be_made_is_refused_in_words() {
    let make = |family, text: &str| {
        let signature = signature(text);
        let hints = Hints::of_signature(&signature);
        let made = Generator::new(family, 0, &signature, hints);
        made.err().map(|error| error.to_string())
    };
    let wide = make(Family::Exhaustive, "e4m3 f16 f32 f32 4").expect("an error");
    assert!(
        wide.contains("b is f16, of 16 bits") && wide.contains("at most 8 bits"),
        "{wide}"
    );
    assert!(make(Family::Normal, "int8 int8 f32 f32 4").is_some_and(|text| text.contains("int8")));
    assert!(make(Family::Bits, "f16 f16 f32 f32 0").is_some_and(|text| text.contains("K=0")));
    assert!(make(Family::Bits, "f16 f16 f32 f32 4 ue8m0/0").is_some());
    assert!(Family::named("norml").is_err_and(|error| error.to_string().contains("normal")));
    let signature = signature("f16 f16 f32 f32 4");
    let hints = Hints {
        l: 0,
        ..Hints::of_signature(&signature)
    };
    assert!(Generator::new(Family::Boundary, 0, &signature, hints).is_err());
}

/// 1 (mod 8) for each recipe; the first number that the recipe index takes.
fn recipe(unit: &Unit, recipe: u64, count: u64) -> Vec<OperandWords> {
    let generator = Generator::for_unit(Family::Boundary, 1, unit).expect("a generator");
    (0..count)
        .map(|turn| generator.case(8 * turn + recipe))
        .collect()
}

#[test]
fn near_maximum_groups_need_more_than_31_bits() {
    let unit = unit("f16 f16 f32 f32 16", "t-fdpa L=16 F=25 e0=-133 -> rz f32");
    let signature = *unit.signature();
    let widest = recipe(&unit, 0, 200)
        .iter()
        .map(|case| aligned_sum(&signature, case, 25))
        .max();
    assert!(widest >= Some(1 << 31), "{widest:?}");
}

/// |Σ| of the products and c as multiples of 2^(largest exponent − F).
fn aligned_sum(signature: &Signature, case: &OperandWords, f: i32) -> i128 {
    let mut terms: Vec<(i32, i32, i128)> = Vec::new(); // exponent, place, signed significand
    let mut add = |negative: bool, significand: u64, exponent: i32, fraction_bits: u32| {
        let value = i128::from(significand);
        let place = exponent - fraction_bits as i32;
        terms.push((exponent, place, if negative { -value } else { value }));
    };
    for (a, b) in case.a.iter().zip(&case.b) {
        let (a, b) = (decode(&signature.a, *a), decode(&signature.b, *b));
        let significand = a.significand * b.significand;
        let fraction_bits = a.fraction_bits + b.fraction_bits;
        add(
            a.negative != b.negative,
            significand,
            a.exponent + b.exponent,
            fraction_bits,
        );
    }
    let c = decode(&signature.c, case.c);
    add(c.negative, c.significand, c.exponent, c.fraction_bits);
    let live = terms.iter().filter(|term| term.2 != 0);
    let grid = live.map(|term| term.0).max().unwrap_or(0) - f;
    let aligned = |(_, place, value): &(i32, i32, i128)| {
        if *place >= grid {
            value << (place - grid).min(90)
        } else {
            value / (1 << (grid - place).min(100))
        }
    };
    terms.iter().map(aligned).sum::<i128>().abs()
}

#[test]
fn ladders_find_f_and_l() {
    for (text, l, f) in [
        (BF16_ROW, 16, 25),
        (BF16_ROW, 8, 24),
        ("f16 f16 f32 f32 16", 4, 23),
        ("e4m3 e4m3 f32 f32 32", 16, 13),
    ] {
        let with = |l: u32, f: u32| unit(text, &format!("t-fdpa L={l} F={f} e0=-133 -> rz f32"));
        let one = with(l, f);
        for other in [with(l, f - 1), with(l, f + 1), with(l / 2, f)] {
            let found = disagreements(&one, &other, 400);
            assert!(found > 5, "{} {}: {found}", one.program(), other.program());
        }
    }
}

#[test]
fn tiny_operands_reach_the_floor() {
    let scaled = "e4m3 e5m2 f32 f32 32 ue8m0/32";
    let fp4 = "e2m1 e2m1 f32 f32 64 ue8m0/32";
    for (text, arithmetic, e0) in [
        (BF16_ROW, "t-fdpa L=16 F=25 e0=E -> rz f32", -133),
        (
            "tf32 tf32 f32 f32 8",
            "t-fdpa L=4 F=24 e0=E -> rz f32",
            -132,
        ),
        (
            "f16 f16 f16 f16 16",
            "t-fdpa L=16 F=25 e0=E -> rne f16",
            -21,
        ),
        ("f16 f16 f16 f16 4", "t-fdpa L=4 F=23 e0=E -> rne f16", -19),
        (scaled, "st-fdpa L=32 F=25 e0=E -> rz f32", -133),
        (fp4, "gst-fdpa L=64 G=16 F=35 e0=E -> rz f32", -139),
    ] {
        let with = |e0: i32| unit(text, &arithmetic.replace('E', &e0.to_string()));
        let one = with(e0);
        for other in [e0 - 1, e0 + 1] {
            let found = disagreements(&one, &with(other), 2000);
            assert!(found > 0, "{text} {arithmetic} {other}: {found}");
            println!("{text}: e0={e0} and e0={other} differ on {found} of 2,000");
        }
    }
}

#[test]
fn ties_occur_at_the_final_rounding() {
    for (text, arithmetic) in [
        ("f16 f16 f16 f16 16", "t-fdpa L=16 F=25 e0=-21 -> RHO f16"),
        (BF16_ROW, "e-fdpa L=16 -> RHO f32"),
    ] {
        let with = |rho: &str| unit(text, &arithmetic.replace("RHO", rho));
        for other in ["rna", "rnz", "rno", "rz"] {
            let found = disagreements(&with("rne"), &with(other), 1600);
            assert!(found > 5, "{text} {other}: {found}");
        }
    }
}

#[test]
fn sums_cancel_or_truncate_to_zero() {
    let row = unit(BF16_ROW, "t-fdpa L=16 F=25 e0=-133 -> rz f32");
    let exact = unit(BF16_ROW, "e-fdpa L=16 -> rne f32");
    let nonzero = |case: &OperandWords| case.a.iter().any(|word| word & 0x7fff != 0);
    let cancelled = recipe(&row, 4, 200);
    let zero = |case: &&OperandWords| dot(&exact, case) == 0 && nonzero(case);
    assert!(cancelled.iter().filter(zero).count() > 30);
    let truncated = recipe(&row, 5, 200);
    let lost = |case: &&OperandWords| dot(&row, case) == 0 && dot(&exact, case) << 1 != 0;
    let found = truncated.iter().filter(lost).count();
    assert!(found > 30, "{found}");
}

#[test]
fn zeros_have_all_signs() {
    let with = |zero: &str| {
        unit(
            "f16 f16 f16 f16 8",
            &format!("t-fdpa L=8 F=24 e0=-20 -> rne f16 zero={zero}"),
        )
    };
    for (one, other) in [("plus", "exact"), ("plus", "ieee"), ("exact", "ieee")] {
        let found = disagreements(&with(one), &with(other), 800);
        assert!(found > 0, "{one} {other}");
    }
}

#[test]
fn c_is_driven_over_the_edge() {
    for (text, arithmetic, infinity) in [
        (BF16_ROW, "t-fdpa L=16 F=25 e0=-133 -> rne f32", 0x7f80_0000),
        (
            "f16 f16 f16 f16 8",
            "t-fdpa L=8 F=24 e0=-20 -> rne f16",
            0x7c00,
        ),
    ] {
        let unit = unit(text, arithmetic);
        let cases = recipe(&unit, 7, 200);
        let over = cases
            .iter()
            .filter(|case| dot(&unit, case) & infinity == infinity);
        let over = over.count();
        assert!((20..180).contains(&over), "{over}");
    }
}
