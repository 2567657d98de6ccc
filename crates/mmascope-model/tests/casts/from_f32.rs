//! f32 sources: every bf16 pattern, every value within 4 ulp of every rounding boundary of every target
//! of at most 16 bits, and random words.

use mmascope_model::format::{F32, Format};

use crate::exhaustive::{Source, cases, expected, on_every_core};
use crate::oracle::{Meaning, SPECS, Spec, Target};

/// Words of the directed inputs for a target.
fn directed(to: &Spec) -> Vec<u32> {
    let mut words: Vec<u32> = (0..1_u32 << 16).map(|upper| upper << 16).collect();
    if to.bits <= 16 {
        let largest = to.largest(true).max(to.largest(false));
        let values: Vec<f64> = (0..=largest + 1)
            .map(
                |k| match to.meaning(k & (to.mask() >> u32::from(to.signed))) {
                    Meaning::Number(_, value) if value.is_finite() => value,
                    _ => f64::from(f32::MAX),
                },
            )
            .collect();
        for pair in values.windows(2) {
            for boundary in [pair[0], (pair[0] + pair[1]) / 2.0] {
                let word = (boundary as f32).to_bits();
                words.extend((-4..=4).map(|step| word.wrapping_add_signed(step)));
            }
        }
    }
    let negative: Vec<u32> = words.iter().map(|word| word ^ 1 << 31).collect();
    words.extend(negative);
    words.sort_unstable();
    words.dedup();
    words
}

fn random(count: usize) -> impl Iterator<Item = u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    })
}

fn check(to: &Spec, words: impl Iterator<Item = u32>) -> u64 {
    let from = Spec::named("f32");
    let target = Target::new(*to);
    let cases = cases(&F32, &Format::named(to.name).unwrap());
    let mut count = 0;
    for word in words {
        let source = Source::new(&from, word.into(), &target);
        for case in &cases {
            if matches!(from.meaning(word.into()), Meaning::Nan) && has_payload_rule(to, case) {
                continue; // `rules.rs` has them
            }
            let wanted = expected(&source, &target, case);
            let got = case.cast.code(word.into());
            assert!(
                got == wanted,
                "f32 {word:#x} to {}: {got:#x}, not {wanted:#x}, with {:?}",
                to.name,
                case.options
            );
            count += 1;
        }
    }
    count
}

/// NumPy keeps payloads of f32 in f16 and f64.
fn has_payload_rule(to: &Spec, case: &crate::exhaustive::Case) -> bool {
    use mmascope_model::precision::cast::CastPolicy;
    case.cast.policy() == CastPolicy::MlDtypes && ["f16", "f64"].contains(&to.name)
}

#[test]
fn f32_patterns_of_bf16_and_around_every_rounding_boundary() {
    let count = on_every_core(SPECS, |to| check(to, directed(to).into_iter()));
    println!("{count} casts");
    assert!(count > 100_000_000, "{count}");
}

#[test]
fn random_f32() {
    let count = on_every_core(SPECS, |to| check(to, random(20_000)));
    println!("{count} casts");
}

#[test]
#[ignore = "ten million words to every target: cargo xtask prove casts"]
fn prove_casts() {
    // In rounds, each of other words, so that what is proven so far is on the screen.
    const ROUND: usize = 1_000_000;
    let words = std::env::var("MMASCOPE_INPUTS")
        .map_or(10 * ROUND, |count| count.parse().expect("a number"));
    let mut count = 0;
    for done in (0..words).step_by(ROUND) {
        let round = ROUND.min(words - done);
        count += on_every_core(SPECS, |to| check(to, random(words).skip(done).take(round)));
        println!(
            "{count} casts of {} random f32 words to {} formats",
            done + round,
            SPECS.len()
        );
    }
}
