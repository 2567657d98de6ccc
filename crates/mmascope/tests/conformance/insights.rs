//! `arithmetic.md` §7 and two rules of §2: what a user of the model should be able to reproduce.
//!
//! Not a test: the promotion of the accumulator every 128 k, an addition outside the unit.

use super::case::{Case, group, only_c, products, sign_bit};
use super::subject::{Subject, rows_to_f32, subjects};

#[test]
fn dot_products_are_not_monotone() {
    let volta = Subject::new("volta", "mma.m8n8k4.f32.f16.f16.f32");
    group("Volta is not monotone", |group| {
        group.check(&volta, &products(["2^-24"; 4]).c("1-2^-24"), "1+2^-23");
        group.check(&volta, &products(["2^-24"; 4]).c("1"), "1");
    });
}

/// Ada and Hopper keep 13 fraction bits of fp8 sums, Blackwell 25.
#[test]
fn fraction_bits_of_fp8_sums() {
    let narrow = [
        subjects(
            "ada",
            &[
                "mma.m16n8k32.f32.e5m2.e5m2.f32",
                "mma.m16n8k16.f32.e5m2.e5m2.f32",
            ],
        ),
        subjects("hopper", &["wgmma.m64n8k32.f32.e5m2.e5m2"]),
    ];
    let wide = [
        subjects(
            "blackwell",
            &["tcgen05.mma.m128n8k32.kind::f8f6f4.f32.e5m2.e5m2"],
        ),
        subjects("rtx-blackwell", &["mma.m16n8k32.f32.e5m2.e5m2.f32"]),
    ];
    let four = |product| products([product; 4]).c("1");
    group("fp8 sums", |group| {
        for subject in &narrow.concat() {
            group.check(subject, &four("2^-13"), "1+2^-11");
            group.check(subject, &four("2^-14"), "1");
            group.check(subject, &only_c("1+2^-13+2^-14"), "1+2^-13");
        }
        for subject in &wide.concat() {
            group.check(subject, &four("2^-14"), "1+2^-12");
            group.check(subject, &four("2^-25"), "1+2^-23");
            group.check(subject, &four("2^-26"), "1");
            group.check(subject, &only_c("1+2^-13+2^-14"), "1+2^-13+2^-14");
        }
    });
}

#[test]
fn subnormals_and_overflow_on_amd() {
    let rows = [
        (
            "cdna1",
            "v_mfma_f32_32x32x8f16",
            "v_mfma_f32_32x32x4bf16",
            "0",
        ),
        (
            "cdna2",
            "v_mfma_f32_32x32x8f16",
            "v_mfma_f32_32x32x4bf16",
            "nan",
        ),
        (
            "cdna3",
            "v_mfma_f32_32x32x8_f16",
            "v_mfma_f32_32x32x8_bf16",
            "nan",
        ),
    ];
    group("subnormals and overflow", |group| {
        for (architecture, f16, bf16, cancelled) in rows {
            let (f16, bf16) = (
                Subject::new(architecture, f16),
                Subject::new(architecture, bf16),
            );
            let kept = architecture != "cdna2";
            group.check(
                &f16,
                &products(["2^-24 x 1"]),
                if kept { "2^-24" } else { "0" },
            );
            group.check(&bf16, &only_c("2^-149"), if kept { "2^-149" } else { "0" });
            group.check(&bf16, &products(["2^64 x 2^64", "2^64 x -2^64"]), cancelled);
        }
        // NVIDIA's products never overflow.
        let hopper = Subject::new("hopper", "mma.m16n8k16.f32.bf16.bf16.f32");
        group.check(&hopper, &products(["2^64 x 2^64", "2^64 x -2^64"]), "0");
    });
}

/// Rounding down biases CDNA3's results: d(x) ≤ −d(−x). Truncation does not: d(x) = −d(−x).
#[test]
fn rounding_down_is_biased() {
    let cdna3 = Subject::new("cdna3", "v_mfma_f32_32x32x8_f16");
    let hopper = Subject::new("hopper", "mma.m16n8k8.f32.f16.f16.f32");
    let mut below = 0;
    group("bias of rounding down", |group| {
        for case in random_cases(2_000) {
            let [down, up] = results(&cdna3, &case);
            below += usize::from(down < up);
            group.record(down <= up, || {
                format!("  {cdna3}: {case}: {down} above {up}")
            });
            let [toward, away] = results(&hopper, &case);
            group.record(toward == away, || {
                format!("  {hopper}: {case}: {toward}, {away}")
            });
        }
        group.record(below > 200, || format!("  only {below} of 2000 are biased"));
    });
}

/// d(x) and −d(−x) as ordered integers.
fn results(subject: &Subject, case: &Case) -> [i64; 2] {
    let signature = subject.unit().signature();
    let ordered = |word: u64| {
        let magnitude = (word & !sign_bit(&signature.d)) as i64;
        if word & sign_bit(&signature.d) == 0 {
            magnitude
        } else {
            -magnitude
        }
    };
    let d = |case: &Case| ordered(case.encode(signature).compute(subject));
    [d(case), -d(&case.clone().negated())]
}

/// Products of both signs over 16 binades, and a small negative accumulator.
fn random_cases(count: usize) -> impl Iterator<Item = Case> {
    let mut state = 1_u64;
    let mut next = move |below: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) % below
    };
    (0..count).map(move |_| {
        let mut number = |exponent: i64| {
            let sign = if next(2) == 0 { "" } else { "-" };
            format!(
                "{sign}{}*2^{}",
                1024 + next(1024),
                next(8) as i64 + exponent
            )
        };
        let pairs: Vec<_> = (0..8)
            .map(|_| format!("{} x {}", number(-14), number(-14)))
            .collect();
        products(pairs).c(format!("-{}*2^-32", 1 + next(1 << 20)))
    })
}

/// §2.2 step 3: a zero operand never raises the alignment exponent.
#[test]
fn zero_operands_do_not_align() {
    group("zero operands", |group| {
        let hopper = Subject::new("hopper", "mma.m16n8k16.f32.bf16.bf16.f32");
        group.check(
            &hopper,
            &products(["2^-30", "0 x 2^127", "2^127 x 0"]),
            "2^-30",
        );
        let hopper = Subject::new("hopper", "mma.m16n8k16.f32.f16.f16.f32");
        group.check(&hopper, &products(["0 x 2^15"]).c("2^-30"), "2^-30");
    });
}

/// §2.9: the 13 low bits of tf32 operands are cleared first; a NaN of low bits becomes ∞.
#[test]
fn low_bits_of_tf32() {
    group("low bits of tf32", |group| {
        let nvidia = rows_to_f32().into_iter().map(|row| row.subject);
        let nvidia = nvidia.filter(|subject| subject.unit().signature().a.name == "tf32");
        for subject in nvidia.chain(subjects("cdna3", &["v_mfma_f32_16x16x8_xf32"])) {
            group.check(&subject, &products(["#7f800001 x #3f800000"]), "inf");
            group.check(&subject, &products(["#ff801fff x #3f800000"]), "-inf");
            group.check(&subject, &products(["#7f802000 x #3f800000"]), "nan");
            group.check(&subject, &products(["#3f801fff x #3f801fff"]), "1");
        }
    });
}
