//! The rounding modes and overflow policies that the tests run through.

use mmascope::format::{Overflow, Rounding};

pub(crate) const POLICIES: [Overflow; 6] = [
    Overflow::Infinity,
    Overflow::Ieee,
    Overflow::Nan,
    Overflow::Saturate,
    Overflow::SaturateFinite,
    Overflow::NanFinite,
];

pub(crate) const DETERMINISTIC: [Rounding; 11] = [
    Rounding::Rne,
    Rounding::Rna,
    Rounding::Rnz,
    Rounding::Rnu,
    Rounding::Rnd,
    Rounding::Rno,
    Rounding::Rz,
    Rounding::Ra,
    Rounding::Ru,
    Rounding::Rd,
    Rounding::Odd,
];

/// Widths that the instructions use and the extremes; bits above the width must not matter.
const STOCHASTIC: [(u32, u64); 13] = [
    (1, 0),
    (1, 1),
    (2, 1),
    (2, 0xffff_fffe),
    (8, 0x80),
    (8, 0x1ff),
    (13, 0x0abc),
    (16, 0x8000),
    (32, 0x7fff_ffff),
    (63, 1),
    (64, u64::MAX),
    (64, 1 << 63),
    (64, 0x4000_0000_0000_0001),
];

pub(crate) fn all() -> Vec<Rounding> {
    let stochastic = STOCHASTIC.map(|(bits, random)| Rounding::Stochastic { bits, random });
    DETERMINISTIC.into_iter().chain(stochastic).collect()
}

#[test]
fn the_named_modes_are_all_the_deterministic_ones() {
    assert!(Rounding::deterministic().eq(DETERMINISTIC));
    let names = [
        "rne", "rna", "rnz", "rnu", "rnd", "rno", "rz", "ra", "ru", "rd", "odd",
    ];
    for (mode, name) in DETERMINISTIC.into_iter().zip(names) {
        assert_eq!(
            (Rounding::named(name), mode.to_string()),
            (Ok(mode), name.to_owned())
        );
    }
    for (policy, name) in POLICIES
        .into_iter()
        .zip(["inf", "ieee", "nan", "sat", "satfinite"])
    {
        assert_eq!(
            (Overflow::named(name), policy.to_string()),
            (Ok(policy), name.to_owned())
        );
    }
    // Words that people write lead to the name.
    for (words, name) in [
        (
            "truncate trunc chop toward-zero zero TRUNCATE toward_zero rtz RZ",
            "rz",
        ),
        ("nearest nearest-even even rn ties-to-even", "rne"),
        ("floor down rm", "rd"),
        ("ceil up rp", "ru"),
        ("nearest-away ties-to-away", "rna"),
        ("away", "ra"),
        ("half-up", "rnu"),
    ] {
        for word in words.split(' ') {
            let error = Rounding::named(word).expect_err("no name").to_string();
            let begin = format!("unknown rounding '{word}'; did you mean {name} (");
            assert!(error.starts_with(&begin), "{error}");
            let end = ")? allowed: rne, rna, rnz, rnu, rnd, rno, rz, ra, ru, rd, odd";
            assert!(error.ends_with(end), "{error}");
        }
    }
    let other = Rounding::named("rnx").expect_err("no name").to_string();
    assert!(
        other.starts_with("unknown rounding 'rnx'; nearest: rn"),
        "{other}"
    );
    assert!(Rounding::named("rn").is_err() && Overflow::named("wrap").is_err());
}
