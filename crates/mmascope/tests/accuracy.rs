//! Errors as K grows: the known effects of the architectures, and what the drawing shows.

use std::sync::atomic::AtomicBool;

use mmascope::accuracy::{AccuracySetting, Curve, Data, Point, chart};
use mmascope::array::{Array, Element};
use mmascope::cases::{Distribution, GeneratedOperand, philox};
use mmascope::format::{E2M1FN, F16, F32, F64};
use mmascope::gemm::{Schedule, Watch};
use mmascope::isa::Catalogue;

static GO: AtomicBool = AtomicBool::new(false);

fn measured(
    catalogue: &Catalogue,
    (arch, inst): (&str, &str),
    schedule: &str,
    dist: &str,
    shape: [usize; 3],
) -> Curve {
    let setting = AccuracySetting {
        row: catalogue
            .find(arch, inst)
            .unwrap_or_else(|error| panic!("{error}")),
        schedule: schedule.parse().unwrap_or_else(|error| panic!("{error}")),
    };
    let distribution = dist.parse().unwrap_or_else(|error| panic!("{error}"));
    let data = Data::generated(distribution, 1, shape).expect("a shape");
    let watch = Watch {
        progress: &|_| (),
        cancel: &GO,
    };
    Curve::measure(&setting, &data, true, &watch).unwrap_or_else(|error| panic!("{error}"))
}

fn last(curve: &Curve) -> &Point {
    curve.points.last().expect("points")
}

/// Hopper's fp8 unit keeps 13 bits of its accumulator: errors grow with K, and promotion to f32
/// every 128 products holds them down (DeepSeek-V3, §3.3.2).
#[test]
fn promotion_rescues_fp8_on_hopper() {
    let built_in = Catalogue::built_in();
    let row = ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3");
    for dist in ["normal", "positive"] {
        let plain = measured(built_in, row, "chain", dist, [24, 24, 4096]);
        let promoted = measured(built_in, row, "promote=4/f32", dist, [24, 24, 4096]);
        let mean = |curve: &Curve| last(curve).statistics.relative_to_products.mean;
        let (without, with) = (mean(&plain), mean(&promoted));
        assert!(without > 4.0 * with, "{dist}: {without:e} against {with:e}");
        // With same-signed sums the 13 bits truncate away more and more.
        if dist == "positive" {
            let first = plain.points[2].statistics.relative_to_products.mean; // K = 128
            assert!(without > 4.0 * first, "{first:e} grows to {without:e}");
            let level = promoted.points[2].statistics.relative_to_products.mean;
            assert!(with < 1.5 * level, "{level:e} stays, {with:e}");
            assert!(
                last(&plain).statistics.bias < -0.9 * without,
                "truncation is one-sided"
            );
        }
    }
}

/// The scheme of DeepSeek-V3's fp8 products: scales of 1 × 128 of A and 128 × 128 of B, promotion every
/// 128 products. On data that fp8 holds by itself it is as exact as promotion alone; on data beyond
/// fp8's range the scales keep it so, where without them everything is lost.
#[test]
fn software_scales_keep_fp8_exact_beyond_its_range() {
    let built_in = Catalogue::built_in();
    let row = ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3");
    let shape = [16, 160, 1024];
    let of = |schedule: &str, dist: &str| {
        let curve = measured(built_in, row, schedule, dist, shape);
        last(&curve).statistics.clone()
    };
    let scaled = of("promote=4/f32 scale=1x128", "normal");
    let promoted = of("promote=4/f32", "normal");
    let [with, without] = [&scaled, &promoted].map(|it| it.relative_to_products.mean);
    assert!(
        with < 1.5 * without && without < 1.5 * with,
        "{with:e} beside {without:e}"
    );
    assert!(with < 1e-4 && scaled.vanished == 0, "{with:e}");
    // A power of two goes into the scales: the same codes, the same errors but for the ends of f32.
    let tiny = of("promote=4/f32 scale=1x128", "normal*2^-40");
    assert_eq!(tiny.relative_to_products, scaled.relative_to_products);
    let lost = of("promote=4/f32", "normal*2^-40");
    assert_eq!(
        lost.relative_to_products.count, 0,
        "fp8 holds no 2^-40: {lost:?}"
    );
    // The chain without promotion keeps 13 bits of its sums.
    let plain = of("chain", "normal");
    assert!(plain.relative_to_products.mean > 2.0 * with, "{plain:?}");
}

/// Scales and codes again, in another way, on matrices that are given.
#[test]
fn software_scales_are_largest_magnitudes_over_448() {
    let array = |name, shape: [usize; 2], number: &dyn Fn(usize, usize) -> f64| {
        let bytes = (0..shape[0] * shape[1])
            .flat_map(|at| number(at / shape[1], at % shape[1]).to_le_bytes())
            .collect();
        Array::new(name, &shape, Element::Number(F64), bytes).expect("fits")
    };
    let a = array("A", [2, 64], &|i, j| match (i, j / 32) {
        (1, 0) => 0.0,
        (_, block) => [-28.0, 1.0][block] / 2_f64.powi((j % 5) as i32),
    });
    let b = array("B", [64, 3], &|k, j| {
        if k == 5 { 2.0 } else { [0.25, 1.0, 0.3][j] }
    });
    let data = Data::given(a, b).expect("fits");
    let row = Catalogue::built_in().find("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3");
    let signature = row.and_then(|row| row.unit()).expect("a row").signature();
    let schedule: Schedule = "promote=1/f32 scale=1x2".parse().expect("a schedule");
    let promotion = schedule.promotion.expect("one");
    let scale = promotion.scale.expect("one");
    let made = data.scaled(signature, 64, &promotion, scale);
    let (matrices, scales) = made.expect("fits");
    let word = |value: f32| u64::from(value.to_bits());
    // 28/448 = 2^-4, 1/448 rounded to f32; a block of zeros has 1.
    let of_a: Vec<u64> = scales.a.iter().collect();
    assert_eq!(of_a, [0.0625, 1.0 / 448.0, 1.0, 1.0 / 448.0].map(word));
    // Two columns share a scale, the third has its own; only the first block along K has the 2.
    let of_b: Vec<u64> = scales.b.iter().collect();
    let wide = 2.0 / 448.0;
    assert_eq!(of_b, [wide, wide, 1.0 / 448.0, 0.3_f32 / 448.0].map(word));
    // Codes of the numbers in units of their scales: −448, −224; 448/4, 448/8.
    assert_eq!(
        [0, 1, 32, 33].map(|k| matrices.a().at(0, 0, k)),
        [0xfe, 0xf6, 0x6e, 0x66]
    );
    assert_eq!(matrices.a().at(0, 1, 31), 0);
    // 0.25 · 224 = 56 = 1.75·2^5; 1 · 224 = 1.75·2^7; 0.3 · 224 = 67.2 becomes 64 = 2^6.
    assert_eq!(
        [0, 1, 2].map(|j| matrices.b().at(0, 0, j)),
        [0x66, 0x76, 0x68]
    );
    // In the second block 0.25 and 1 share 1/448, 0.3 has its own.
    assert_eq!(
        [0, 1, 2].map(|j| matrices.b().at(0, 40, j)),
        [0x6e, 0x7e, 0x7e]
    );
}

/// CDNA3 floors c where the products are larger: its errors have a direction. A hypothetical unit of
/// the same size that truncates toward zero has none on symmetric data.
#[test]
fn cdna3_is_biased_and_truncation_would_not_be() {
    let truncating = include_str!("../../../examples/truncating.txt");
    let mut catalogue = Catalogue::built_in().clone();
    catalogue
        .extend("truncating.txt", truncating)
        .expect("a row");
    let units = [
        ("cdna3", "v_mfma_f32_32x32x8_f16"),
        ("truncating", "dot.m32n32k8.f32.f16"),
    ];
    let bias = |unit: (&str, &str), dist: &str, c: Option<&str>, shape: [usize; 3]| {
        let setting = AccuracySetting {
            row: catalogue.find(unit.0, unit.1).expect("a row"),
            schedule: Schedule::default(),
        };
        let parsed = |text: &str| -> Distribution { text.parse().expect("known") };
        let mut data = Data::generated(parsed(dist), 1, shape).expect("a shape");
        if let Some(c) = c {
            data = data.with_c(parsed(c), 1);
        }
        let watch = Watch {
            progress: &|_| (),
            cancel: &GO,
        };
        let curve = Curve::measure(&setting, &data, true, &watch).expect("fits");
        let last = &curve.points.last().expect("points").statistics;
        (last.bias, last.bias_error)
    };
    // One instruction with a small C; a chain in which some products are large.
    for (dist, c, shape) in [
        ("normal", Some("normal*2^-12"), [64, 64, 8]),
        ("outlier", None, [64, 64, 64]),
    ] {
        let [(down, down_error), (zero, zero_error)] = units.map(|unit| bias(unit, dist, c, shape));
        assert!(
            down < -6.0 * down_error,
            "{dist}: {down:e} ± {down_error:e}"
        );
        assert!(
            zero.abs() < 4.0 * zero_error,
            "{dist}: {zero:e} ± {zero_error:e}"
        );
        assert!(zero.abs() < -down / 3.0, "{dist}: {zero:e} beside {down:e}");
    }
}

/// CDNA2 flushes subnormal operands: f16 numbers around 2^-16 vanish. CDNA3 keeps them.
#[test]
fn cdna2_flushes_small_inputs() {
    let built_in = Catalogue::built_in();
    let shape = [16, 16, 256];
    let of = |arch, inst, dist| measured(built_in, (arch, inst), "chain", dist, shape);
    let cdna2 = of("cdna2", "v_mfma_f32_32x32x8_f16", "normal*2^-20");
    let cdna3 = of("cdna3", "v_mfma_f32_32x32x8_f16", "normal*2^-20");
    let flushed = &last(&cdna2).statistics;
    assert_eq!(flushed.vanished + flushed.exact_zeros, 256, "{flushed:?}");
    assert!(flushed.vanished > 250);
    assert_eq!(flushed.relative.max, 1.0);
    let kept = &last(&cdna3).statistics;
    assert_eq!(kept.vanished, 0);
    assert!(kept.relative_to_products.max < 1e-6, "{kept:?}");
    // At ordinary sizes CDNA2 is as good as any.
    let ordinary = of("cdna2", "v_mfma_f32_32x32x8_f16", "normal");
    assert!(last(&ordinary).statistics.relative_to_products.mean < 1e-6);
    // Between: some operands are subnormal, and the error is what they would have added.
    let between = of("cdna2", "v_mfma_f32_32x32x8_f16", "normal*2^-14");
    let mean = last(&between).statistics.relative_to_products.mean;
    assert!(mean > 1e-3, "{mean:e}");
}

#[test]
fn k_doubles_from_one_instruction_on() {
    let row = ("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let ks = |schedule: &str, k: usize| -> Vec<usize> {
        let curve = measured(Catalogue::built_in(), row, schedule, "normal", [2, 2, k]);
        curve.points.iter().map(|point| point.k).collect()
    };
    assert_eq!(ks("chain", 128), [16, 32, 64, 128]);
    assert_eq!(ks("chain", 16), [16]);
    assert_eq!(ks("chain", 200), [16, 32, 64, 128, 192]);
    assert_eq!(ks("split-k=3 reduce=pairwise/f32", 128), [64, 128]);
    assert_eq!(ks("order=blocks/3,2,1,0", 128), [64, 128]);
    let setting = |schedule: &str| AccuracySetting {
        row: Catalogue::built_in().find(row.0, row.1).expect("a row"),
        schedule: schedule.parse().expect("a schedule"),
    };
    let data = Data::generated("normal".parse().expect("known"), 1, [1, 1, 32]).expect("a shape");
    let refused = |schedule: &str| {
        let watch = Watch {
            progress: &|_| (),
            cancel: &GO,
        };
        let result = Curve::measure(&setting(schedule), &data, true, &watch);
        result.expect_err(schedule).to_string()
    };
    assert!(refused("split-k=3 reduce=pairwise/f32").contains("needs at least 48"));
    let refusal = refused("promote=1/bf16 scale=1x1");
    assert!(refusal.contains("f32 and f64 are possible"), "{refusal}");
    assert!(Data::generated("normal".parse().expect("known"), 1, [1, 0, 32]).is_err());
}

#[test]
fn given_matrices_are_cut_to_k() {
    let numbers = |count: usize, from: f64| -> Vec<u8> {
        (0..count)
            .flat_map(|index| (from + index as f64).to_le_bytes())
            .collect()
    };
    let array = |name, shape: [usize; 2], from| {
        let bytes = numbers(shape[0] * shape[1], from);
        Array::new(name, &shape, Element::Number(F64), bytes).expect("fits")
    };
    let data = Data::given(array("A", [2, 32], 0.0), array("B", [32, 3], 100.0)).expect("fits");
    let unit = Catalogue::built_in()
        .find("hopper", "mma.m16n8k16.f32.f16.f16.f32")
        .and_then(|row| row.unit())
        .expect("a row");
    let first = data.matrices(unit.signature(), 16);
    let first = first.expect("fits");
    assert_eq!((first.m(), first.n(), first.k()), (2, 3, 16));
    let value = |word: u64| {
        F16.convert(
            word,
            &F32,
            mmascope::format::Conversion {
                rounding: mmascope::format::Rounding::Rne,
                overflow: mmascope::format::Overflow::Ieee,
            },
        )
    };
    let is = |word: u64, number: f32| assert_eq!(value(word), u64::from(number.to_bits()));
    is(first.a().at(0, 1, 2), 34.0);
    is(first.b().at(0, 2, 1), 107.0);
    assert!(data.matrices(unit.signature(), 48).is_err());
    assert!(Data::given(array("A", [2, 32], 0.0), array("B", [31, 3], 0.0)).is_err());
}

/// The elements' recipe, again: Philox, and each shape from its words.
#[test]
fn elements_are_those_of_the_recipe() {
    for (text, seed) in [("uniform", 7_u64), ("uniform*2^-3", 1 << 40)] {
        let distribution: Distribution = text.parse().expect("known");
        assert_eq!(distribution.to_string(), text);
        let code = distribution
            .codes(&F32, GeneratedOperand::B, seed)
            .expect("a float");
        for (i, j) in [(0, 0), (3, 1_000_000), (u32::MAX, 5)] {
            let [w0, _, w2, _] = philox([i, j, 2 << 16, 1], [seed as u32, (seed >> 32) as u32]);
            let magnitude = f64::from(w0) * 2_f64.powi(-32 + distribution.exponent);
            let value = if w2 & 1 == 1 { -magnitude } else { magnitude };
            assert_eq!(code(i, j), u64::from((value as f32).to_bits()));
        }
    }
    // Counts and signs over a million elements, by each shape's own law.
    let all = |text: &str| -> Vec<f64> {
        let distribution: Distribution = text.parse().expect("known");
        let code = distribution
            .codes(&F64, GeneratedOperand::A, 3)
            .expect("a float");
        (0..1000)
            .flat_map(|i| (0..1000).map(move |j| (i, j)))
            .map(|(i, j)| f64::from_bits(code(i, j)))
            .collect()
    };
    let share =
        |of: &[f64], is: fn(f64) -> bool| of.iter().filter(|&&x| is(x)).count() as f64 / 1e6;
    let near = |got: f64, wanted: f64| assert!((got - wanted).abs() < 2e-3, "{got} for {wanted}");
    let normal = all("normal");
    near(share(&normal, |x| x.abs() < 1.0), 0.682_69);
    near(share(&normal, |x| x < 0.0), 0.5);
    near(share(&all("positive"), |x| x >= 0.0), 1.0);
    let sparse = all("sparse");
    near(share(&sparse, |x| x == 0.0), 0.75);
    near(share(&sparse, |x| x.abs() > 1.0), 0.25 * 0.317_31);
    let outlier = all("outlier");
    near(share(&outlier, |x| x.abs() > 6.5), 1.0 / 32.0 * 0.93);
    // Beyond a format's range: its largest number.
    let wide: Distribution = "positive*2^40".parse().expect("known");
    let narrow = wide
        .codes(&E2M1FN, GeneratedOperand::A, 1)
        .expect("a float");
    assert!((0..100).all(|j| narrow(0, j) == 7));
    for (text, message) in [
        ("gauss", "unknown distribution 'gauss'"),
        ("norml", "nearest: normal"),
        ("normal*2^x", "power of two must be"),
        ("normal*2^2000", "power of two must be"),
    ] {
        let error = text.parse::<Distribution>().expect_err(text).to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn drawings_are_whole_and_hold_every_curve() {
    let row = ("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let curve = |schedule| measured(Catalogue::built_in(), row, schedule, "normal", [4, 4, 256]);
    let curves = [
        curve("chain"),
        curve("promote=1/f32"),
        curve("out=rne bf16"),
    ];
    let drawing = chart(&curves, "a < b & \"c\"");
    assert!(drawing.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(drawing.contains("a &lt; b &amp; &quot;c&quot;"));
    assert_eq!(
        drawing.matches("<polyline").count(),
        6,
        "each curve in both panels"
    );
    assert!(drawing.contains("[promote=1/f32]") && drawing.contains("prefers-color-scheme:dark"));
    assert!(!drawing.contains("NaN") && !drawing.contains("inf"));
    // Every place lies within the drawing.
    for points in drawing.split("points=\"").skip(1) {
        let points = points.split('"').next().expect("an end");
        for pair in points.split(' ') {
            let (x, y) = pair.split_once(',').expect("a pair");
            let (x, y): (f64, f64) = (x.parse().expect("a number"), y.parse().expect("a number"));
            assert!(
                (80.0..=880.0).contains(&x) && (40.0..=640.0).contains(&y),
                "{pair}"
            );
        }
    }
    bias_ticks_are_round(&drawing);
    // A curve without any error has no logarithm, and is drawn all the same.
    let exact = measured(
        Catalogue::built_in(),
        row,
        "chain",
        "normal*2^-900",
        [2, 2, 32],
    );
    assert!(!chart(&[exact], "zeros").contains("NaN"));
    assert!(Schedule::default().is_chain());
}

/// The labels of the bias axis are whole multiples of 1, 2 or 5 times a power of ten, and lie where they say.
fn bias_ticks_are_round(drawing: &str) {
    let panel = drawing
        .split("bias: mean of error")
        .nth(1)
        .expect("a panel");
    let ticks: Vec<(f64, i64, i64)> = panel
        .split("text-anchor=\"end\">")
        .zip(panel.split("text-anchor=\"end\">").skip(1))
        .filter_map(|(before, text)| {
            let label = text.split('<').next()?;
            let y = before.rsplit_once(" y=\"")?.1.split('"').next()?;
            let y: f64 = y.parse().ok()?;
            let (mantissa, exponent) = match label {
                "0" => ("0", "⁰"),
                _ => label.split_once("·10")?,
            };
            let digits = exponent.chars().map(|c| match c {
                '⁻' => '-',
                '¹' => '1',
                '²' => '2',
                '³' => '3',
                c => char::from_digit(u32::from(c) - 0x2070, 10).expect("a digit"),
            });
            let exponent: i64 = digits.collect::<String>().parse().ok()?;
            // As tenths of the power of ten.
            let (whole, tenths) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
            let number: i64 = format!("{whole}{tenths}").replace('−', "-").parse().ok()?;
            Some((y, number, exponent - 1))
        })
        .collect();
    assert!(ticks.len() >= 3, "{ticks:?}");
    let low = ticks
        .iter()
        .filter(|tick| tick.1 != 0)
        .map(|tick| tick.2)
        .min();
    let low = low.expect("a tick that is not 0");
    let values: Vec<i64> = ticks
        .iter()
        .map(|&(_, number, exponent)| match number {
            0 => 0,
            _ => number * 10_i64.pow(u32::try_from(exponent - low).expect("a few")),
        })
        .collect();
    let step = values[1] - values[0];
    let leading = step.to_string();
    assert!(
        ["1", "2", "5"].contains(&leading.trim_end_matches('0')),
        "{values:?}"
    );
    for (value, tick) in values.windows(2).zip(ticks.windows(2)) {
        assert_eq!(value[1] - value[0], step, "{values:?}");
        let apart = (tick[0].0 - tick[1].0) - (ticks[0].0 - ticks[1].0);
        assert!(apart.abs() < 0.3, "{ticks:?}");
    }
}
