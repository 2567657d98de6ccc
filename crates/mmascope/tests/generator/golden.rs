//! Golden cases, retyped from the twin: a seed means the same tomorrow, also without Python.

use mmascope::cases::{Family, Generator, Hints};

use super::{signature, text};

const fn hints(l: u32, f: u32, f2: u32, e0: i32, m: u32) -> Hints {
    Hints { l, f, f2, e0, m }
}

const NARROW: Hints = hints(4, 25, 25, -133, 23);

/// Family, seed, index, signature, hints, and `a b c sa sb`.
const GOLDEN: [(&str, u64, u64, &str, Hints, &str); 17] = [
    (
        "bits",
        1,
        0,
        "tf32 tf32 f32 f32 4",
        NARROW,
        "48129cd35af04d1485b03dd80eee9868 ea7dcb6488e826e4054020ed9e7243ba 8b37dfde - -",
    ),
    (
        "normal",
        1,
        0,
        "f16 f16 f32 f32 8",
        NARROW,
        "39fabacea79f40331e5d307c36723607 b89eaaa9c07630be341337a43ecfc0df 3d4ff2dd - -",
    ),
    (
        "normal",
        1,
        1,
        "f16 f16 f32 f32 8",
        NARROW,
        "b5ceb62ebead389b3c8330e1b9e3bfac 3a3f3c06ba19b73b3a0fb774334cb690 be2823ad - -",
    ),
    (
        "outlier",
        1,
        5,
        "bf16 bf16 f32 f32 8",
        NARROW,
        "bf7ebe58bfcabf88befabfa5be363e68 3f8d3fa0bfb5c2d63ef4be423e8cbfc1 bedb1367 - -",
    ),
    (
        "stress",
        1,
        3,
        "e5m2 e4m3 f32 f32 8 ue8m0/4",
        NARROW,
        "4fcad34c58c80249 e801ebf0e8877d78 bbc15547 7f7f 807e",
    ),
    (
        "sparse",
        1,
        1,
        "f64 f64 f64 f64 2",
        NARROW,
        "80000000000000008000000000000000 3fe8fabc545f06f00000000000000000 8000000000000000 - -",
    ),
    (
        "close",
        1,
        1,
        "e4m3 e4m3 f16 f16 8",
        NARROW,
        "fef9fef973707370 2d31adb12dbbad3b d5e1 - -",
    ),
    (
        "boundary",
        1,
        0,
        "bf16 bf16 f32 f32 4",
        NARROW,
        "f1fe5dffe27fd47f 947f287fa3fe31ff c6ffffff - -",
    ),
    (
        "boundary",
        1,
        1,
        "bf16 bf16 f32 f32 4",
        NARROW,
        "070046994680e800 e700ab61aa808880 bd000000 - -",
    ),
    (
        "boundary",
        1,
        2,
        "bf16 bf16 f32 f32 4",
        NARROW,
        "8080000000000000 af00000000000000 00000001 - -",
    ),
    (
        "boundary",
        1,
        3,
        "bf16 bf16 f32 f32 4",
        NARROW,
        "1a8000001c800000 2c800000a5800000 13800000 - -",
    ),
    (
        "boundary",
        1,
        4,
        "bf16 bf16 f32 f32 4",
        NARROW,
        "a09ca09cb928b928 edfd6dfd55c0d5c0 00000000 - -",
    ),
    (
        "boundary",
        1,
        5,
        "bf16 bf16 f32 f32 4",
        NARROW,
        "1f0017009e002280 b0802a80a4001f00 10000000 - -",
    ),
    (
        "boundary",
        1,
        6,
        "bf16 bf16 f32 f32 4",
        NARROW,
        "000008800000bfb4 3ff3aa80bf9d0000 80000000 - -",
    ),
    (
        "boundary",
        1,
        7,
        "bf16 bf16 f32 f32 4",
        NARROW,
        "c4006380c380e580 fa00db00fa805900 7f7fffff - -",
    ),
    (
        "boundary",
        1,
        1,
        "e2m1 e2m1 f32 f32 16 ue4m3/8",
        hints(16, 35, 35, -139, 23),
        "132919191a199919 9b99199192211991 c9800000 0104 0802",
    ),
    (
        "exhaustive",
        0,
        123_456,
        "e4m3fnuz e5m2fnuz f32 f32 2",
        NARROW,
        "4000 e200 80000000 - -",
    ),
];

#[test]
fn golden_cases() {
    for (family, seed, index, signature_text, hints, words) in GOLDEN {
        let signature = signature(signature_text);
        let family = Family::named(family).expect("a family");
        let generator = Generator::new(family, seed, &signature, hints).expect("a generator");
        let case = generator.case(index);
        assert_eq!(
            text(&case, &signature),
            words,
            "{family} {index} {signature_text}"
        );
    }
}
