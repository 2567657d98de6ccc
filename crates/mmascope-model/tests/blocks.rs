//! Block scaling, each rule of precision.md §6 by itself, with numbers that are worked out by hand.

use mmascope_model::precision::block::{
    BlockFormat, Quantiser, Recipe, Selection, TensorScale, check_scale, check_tensor_scale,
};
use mmascope_model::precision::cast::Slice;

fn words(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

fn quantiser(format: &str, recipe: Recipe) -> Quantiser {
    Quantiser::new(BlockFormat::named(format).unwrap(), recipe).unwrap()
}

/// Scale and codes of one block, which is the whole tensor.
fn block(format: &str, recipe: Recipe, numbers: &[f32]) -> (u8, Vec<u8>) {
    let words = words(numbers);
    let quantiser = quantiser(format, recipe);
    let tensor = quantiser.tensor(Quantiser::largest(&words));
    let mut codes = vec![0; words.len()];
    let scale = quantiser.block(&words, &tensor, |_| None, &mut codes);
    (scale, codes)
}

#[test]
fn ocp_scale_is_the_binade_of_the_largest_less_emax() {
    // emax is 15 8 4 2 2 0 for e5m2 e4m3 e3m2 e2m3 e2m1 int8.
    for (format, emax) in [
        ("mxfp8-e5m2", 15),
        ("mxfp8-e4m3", 8),
        ("mxfp6-e3m2", 4),
        ("mxfp6-e2m3", 2),
        ("mxfp4", 2),
        ("mxint8", 0),
    ] {
        for (largest, log) in [(1.0, 0), (1.999, 0), (1024.0, 10), (0.75, -1)] {
            let (scale, _) = block(format, Recipe::Ocp, &[0.0, -largest, largest / 2.0]);
            assert_eq!(i32::from(scale), 127 + log - emax, "{format} {largest}");
        }
    }
}

#[test]
fn ocp_clamps_a_block_whose_significand_exceeds_the_elements() {
    // e2m1: 1.5; e4m3: 1.75.
    assert_eq!(
        block("mxfp4", Recipe::Ocp, &[7.9, -7.9]),
        (127, vec![0x7, 0xf])
    );
    assert_eq!(
        block("mxfp8-e4m3", Recipe::Ocp, &[511.0]),
        (127, vec![0x7e])
    );
    // mxint8 is symmetric: −2 is not used.
    assert_eq!(
        block("mxint8", Recipe::Ocp, &[-1.999, 1.999]),
        (127, vec![0x81, 0x7f])
    );
}

#[test]
fn ocp_nan_or_infinity_makes_the_whole_block_nan() {
    for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for name in ["mxfp8-e4m3", "mxfp4", "mxint8"] {
            let (scale, codes) = block(name, Recipe::Ocp, &[1.0, special]);
            assert_eq!(scale, 0xff, "{name}");
            let format = BlockFormat::named(name).unwrap();
            for code in codes {
                assert!(f32::from_bits(format.dequantise(code, scale, 0x3f80_0000)).is_nan());
            }
        }
    }
}

#[test]
fn ocp_scale_underflow_is_clamped_and_zero_counts_as_the_smallest_normal() {
    assert_eq!(block("mxfp8-e4m3", Recipe::Ocp, &[1e-42]).0, 0);
    assert_eq!(
        block("mxfp8-e4m3", Recipe::Ocp, &[0.0, -0.0]),
        (0, vec![0, 0x80])
    );
    // int8 has emax 0: 2^-126.
    assert_eq!(block("mxint8", Recipe::Ocp, &[0.0]).0, 1);
}

#[test]
fn round_up_never_clips_and_equals_ocp_where_nothing_would_clip() {
    // Every 2^10th significand of 2^23, as the specification's statement goes.
    let (mut equal, mut all) = (0, 0);
    for fraction in (0..1_u32 << 23).step_by(1 << 10) {
        let x = f32::from_bits(0x3f80_0000 | fraction);
        let [up, down] = [Recipe::RoundUp, Recipe::Ocp].map(|it| block("mxfp8-e4m3", it, &[x]).0);
        let clips = x > 1.75;
        assert_eq!(up, down + u8::from(clips), "{x}");
        equal += u32::from(!clips);
        all += 1;
    }
    assert_eq!(equal * 4 / all, 3); // 75 % of significands
}

#[test]
fn round_up_takes_infinity_for_a_scale_of_254_and_leaves_nan_out_of_the_largest() {
    let (scale, codes) = block("mxfp8-e4m3", Recipe::RoundUp, &[f32::INFINITY, 1.0]);
    assert_eq!((scale, codes), (0xfe, vec![0x7e, 0]));
    let (scale, codes) = block("mxfp8-e4m3", Recipe::RoundUp, &[f32::NAN, 448.0]);
    assert_eq!((scale, codes), (127, vec![0x7f, 0x7e]));
    assert_eq!(block("mxfp8-e4m3", Recipe::RoundUp, &[0.0]), (0, vec![0]));
}

#[test]
fn nvfp4_tensor_scale_is_2688_over_the_largest() {
    let of = |x: f32, recipe| quantiser("nvfp4", recipe).tensor(x.to_bits());
    let scale = |x: f32| of(x, Recipe::Nvfp4).encode;
    assert_eq!(scale(2688.0), 1_f32.to_bits());
    assert_eq!(scale(3.0), (2688_f32 / 3.0).to_bits());
    assert_eq!(scale(0.0), 1_f32.to_bits());
    assert_eq!(scale(f32::INFINITY), 1_f32.to_bits());
    assert_eq!(scale(1e-40), f32::MAX.to_bits());
    assert_eq!(
        of(3.0, Recipe::FourOverSix).encode,
        (1536_f32 / 3.0).to_bits()
    );
    let TensorScale { encode, decode, .. } = of(3.7, Recipe::Nvfp4);
    assert_eq!(f32::from_bits(decode), 1.0 / f32::from_bits(encode));
}

#[test]
fn nvfp4_roundings_are_those_of_f32_in_the_order_of_the_recipe() {
    // The host's f32 in the order of the recipe; e4m3 and e2m1 by their lists.
    let nearest = |x: f32, list: &[f32]| {
        let distance = |i: usize| (f64::from(list[i]) - f64::from(x).abs()).abs();
        let better = |i: &usize, j: &usize| {
            distance(*i)
                .total_cmp(&distance(*j))
                .then((i % 2).cmp(&(j % 2)))
        };
        (0..list.len()).min_by(better).unwrap() as u8
    };
    let e2m1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let e4m3: Vec<f32> = (0..127)
        .map(|code| match code >> 3 {
            0 => code as f32 / 512.0,
            field => (8 + code % 8) as f32 / 8.0 * 2f32.powi(field - 7),
        })
        .collect();
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 4e6 - 2.0
    };
    for _ in 0..300 {
        let numbers: Vec<f32> = (0..16).map(|_| next()).collect();
        let largest = numbers.iter().fold(0_f32, |most, x| most.max(x.abs()));
        let (scale, codes) = block("nvfp4", Recipe::Nvfp4, &numbers);
        let encode = 2688_f32 / largest;
        let wanted = nearest(largest * (encode * (1.0 / 6.0)), &e4m3);
        assert_eq!(scale, wanted);
        let inverse = 1.0 / (e4m3[usize::from(scale)] * (1.0 / encode));
        for (x, code) in numbers.iter().zip(codes) {
            let sign = if x.is_sign_negative() { 8 } else { 0 };
            assert_eq!(code, nearest(x * inverse, &e2m1) | sign, "{x}");
        }
    }
}

#[test]
fn nvfp4_multiplies_the_tensor_scale_by_a_sixth_before_the_largest() {
    // Around the middles of neighbouring e4m3 the order of the roundings shows.
    let quantiser = quantiser("nvfp4", Recipe::Nvfp4);
    let sixth = 1.0_f32 / 6.0;
    let mut different = 0;
    for tensor_largest in [3.7_f32, 11.3, 0.9, 2000.0, 5.5] {
        let tensor = quantiser.tensor(tensor_largest.to_bits());
        let encode = f32::from_bits(tensor.encode);
        for code in 16..120_u8 {
            let value =
                |code: u8| f64::from(8 + code % 8) / 8.0 * 2f64.powi(i32::from(code >> 3) - 7);
            let middle = (value(code) + value(code + 1)) / 2.0;
            let near = ((middle / f64::from(encode * sixth)) as f32).to_bits();
            for step in -4..=4 {
                let largest = f32::from_bits(near.wrapping_add_signed(step));
                let nearest = |x: f32| {
                    let (x, odd) = (f64::from(x), code % 2 == 1);
                    code + u8::from(x > middle || x == middle && odd)
                };
                let wanted = nearest(largest * (encode * sixth));
                different += u32::from(wanted != nearest(largest * encode * sixth));
                let scale = quantiser.block(&[largest.to_bits()], &tensor, |_| None, &mut [0]);
                assert_eq!(scale, wanted, "{largest:e} of {tensor_largest:e}");
            }
        }
    }
    assert!(different > 20, "{different}");
}

#[test]
fn four_over_six_takes_the_smaller_error_and_six_on_a_tie() {
    // 4, 3, 2: with the largest at 4 everything is exact; at 6 the 3 becomes 4.5 and is rounded.
    let numbers = [256.0 * 6.0, 4.0 / 3.0 * 288.0, 288.0];
    let (scale, _) = block("nvfp4", Recipe::FourOverSix, &numbers);
    assert_eq!(scale, 0x78, "six: 256");
    let quantiser = quantiser("nvfp4", Recipe::FourOverSix);
    let tensor = quantiser.tensor(1536_f32.to_bits());
    let values = words(&[4.0, 3.0, 2.0, 1.0]);
    let mut codes = [0; 4];
    for selection in [Selection::SquaredError, Selection::AbsoluteError] {
        let quantiser = quantiser.with_selection(selection);
        let scale = quantiser.block(&values, &tensor, |_| None, &mut codes);
        assert_eq!((scale, codes), (0x38, [6, 5, 4, 2]), "four: a scale of 1");
    }
    // Both are exact: 3 is 6 · 0.5 and 4 · 0.75.
    let scale = quantiser.block(&words(&[3.0]), &tensor, |_| None, &mut codes);
    assert_eq!((scale, codes[0]), (0x30, 7));
    assert_eq!(
        block("nvfp4", Recipe::FourOverSix, &[0.0; 4]),
        (0, vec![0; 4])
    );
}

#[test]
fn zero_blocks_have_zero_codes_and_nan_becomes_the_largest_e2m1() {
    assert_eq!(block("nvfp4", Recipe::Nvfp4, &[0.0, -0.0]), (0, vec![0, 8]));
    let (_, codes) = block("nvfp4", Recipe::Nvfp4, &[f32::NAN, 1.0]);
    assert_eq!(codes, [7, 7]);
}

#[test]
fn dequantised_numbers_are_element_times_scale_times_tensor_scale() {
    let mxfp8 = BlockFormat::named("mxfp8-e5m2").unwrap();
    let one = 1_f32.to_bits();
    assert_eq!(
        mxfp8.dequantise(0x01, 0, one),
        2f32.powi(-126).to_bits() >> 17
    );
    assert_eq!(mxfp8.dequantise(0x7b, 254, one), f32::INFINITY.to_bits());
    assert_eq!(mxfp8.dequantise(0x80, 127, one), (-0.0_f32).to_bits());
    assert!(f32::from_bits(mxfp8.dequantise(0x00, 255, one)).is_nan());
    let nvfp4 = BlockFormat::named("nvfp4").unwrap();
    let third = (1.0_f32 / 3.0).to_bits();
    assert_eq!(
        nvfp4.dequantise(0xf, 0x7e, third),
        (-2688_f32 * (1.0 / 3.0)).to_bits()
    );
}

#[test]
fn stochastic_rounding_takes_the_given_bits_and_has_no_bias() {
    let quantiser = quantiser("mxfp4", Recipe::Ocp);
    let values = words(&[4.0, 2.25]);
    let tensor = quantiser.tensor(0);
    let mut ups = 0;
    for value in 0..1 << 16 {
        let mut codes = [0; 2];
        let random = |_| Some(Slice { bits: 16, value });
        let scale = quantiser.block(&values, &tensor, random, &mut codes);
        // A quarter of the way from 2 to 3.
        assert!(scale == 127 && codes[0] == 6 && [4, 5].contains(&codes[1]));
        ups += u32::from(codes[1] == 5);
    }
    assert_eq!(ups, 1 << 14);
}

#[test]
fn wrong_recipes_and_scales_are_refused_with_what_is_allowed() {
    let error = |format: &str, recipe| {
        let format = BlockFormat::named(format).unwrap();
        Quantiser::new(format, recipe).unwrap_err().to_string()
    };
    assert!(error("nvfp4", Recipe::Ocp).contains("allowed: nvfp4, four-over-six"));
    assert!(error("mxfp4", Recipe::Nvfp4).contains("allowed: ocp, round-up"));
    for (word, what) in [
        (f32::NAN.to_bits(), "NaN"),
        ((-1.5_f32).to_bits(), "tensor_scale = -1.5 is negative"),
        (f32::INFINITY.to_bits(), "infinite"),
    ] {
        let message = check_tensor_scale(word).unwrap_err().to_string();
        assert!(
            message.contains(what) && message.contains("allowed"),
            "{message}"
        );
    }
    assert_eq!(check_tensor_scale(1_f32.to_bits()), Ok(()));
    let nvfp4 = BlockFormat::named("nvfp4").unwrap();
    assert!(
        check_scale(&nvfp4, 0x80, 3)
            .unwrap_err()
            .to_string()
            .contains("element 3")
    );
    assert_eq!(
        check_scale(&nvfp4, 0x7f, 3).unwrap_err().to_string(),
        "scale: element 3 = 0x7f is NaN; a ue4m3 of at most 0x7e is allowed"
    );
    assert_eq!(check_scale(&nvfp4, 0x7e, 0), Ok(()));
}
