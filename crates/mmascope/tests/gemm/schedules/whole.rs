//! Schedules as a whole: independence of threads and batches, refusals, trees, statistics.

use super::*;

#[test]
fn nothing_depends_on_threads_or_on_the_batch() {
    let unit = unit(F16_ROW.0, F16_ROW.1);
    let singles: Vec<Matrices> = (0..3).map(|seed| matrices(unit, 9, 11, 5, seed)).collect();
    let all = |of: fn(&Matrices) -> &Vec<u64>| -> Vec<u64> {
        singles.iter().flat_map(of).copied().collect()
    };
    let batched = gemm::Matrices::new(
        Matrix::batched(3, 9, 80, all(|x| &x.a)).expect("fits"),
        Matrix::batched(3, 80, 11, all(|x| &x.b)).expect("fits"),
    )
    .and_then(|x| {
        x.with_c(Matrix::batched(
            3,
            9,
            11,
            all(|x| x.c.as_ref().expect("given")),
        )?)
    })
    .expect("fits");
    for schedule in [
        "order=stride/2; split-k=3 reduce=pairwise/f32",
        "promote=2/f32; c=epilogue/f32 alpha=0.1 beta=3; out=rz bf16",
        "split-k=5 reduce=descending/f16",
    ] {
        let expected: Vec<u64> = singles
            .iter()
            .flat_map(|one| run(unit, one, schedule, None))
            .collect();
        let parsed: Schedule = schedule.parse().expect("a schedule");
        let product = Product::new(unit, &batched, Modifiers::default()).expect("fits");
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let got = pool
                .expect("threads")
                .install(|| parsed.run(&product, None, &watch()).expect("fits"));
            assert_eq!(got, expected, "{schedule} on {threads} threads");
        }
    }
    // Larger than a region: 300 × 1100 is 2 × 2 of them.
    let of = matrices(unit, 300, 1100, 2, 4);
    let got = run(unit, &of, "split-k=2 reduce=ascending/f32", None);
    for (i, j) in [(0, 0), (255, 1023), (256, 1023), (255, 1024), (299, 1099)] {
        let x = Element {
            unit,
            of: &of,
            i,
            j,
        };
        let expected = x.chain_f32(x.c(), 0..1) + x.chain_f32(0, 1..2);
        assert_eq!(got[i * 1100 + j], word(expected));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let unit = unit(F16_ROW.0, F16_ROW.1);
    let of = matrices(unit, 4, 4, 5, 1);
    let given = of.given(unit.signature()).expect("fits");
    let ones = |rows: usize, columns: usize| {
        Matrix::row_major(rows, columns, vec![0x3f80_0000_u32; rows * columns]).expect("fits")
    };
    let scales = SoftwareScales {
        a: ones(4, 3),
        b: ones(3, 1),
    };
    let refused = |schedule: &str, modifiers: &[&str], scales: Option<&SoftwareScales>| {
        let schedule: Schedule = schedule.parse().expect("a schedule");
        let mut chosen = Modifiers::default();
        modifiers
            .iter()
            .for_each(|text| chosen.add(text).expect("a modifier"));
        let product = Product::new(unit, &given, chosen).expect("fits");
        match schedule.run(&product, scales, &watch()) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    let parts = refused("split-k=6 reduce=ascending/f32", &[], None);
    assert!(parts.contains("K takes only 5 steps"), "{parts}");
    let blocks = refused("order=blocks/0,1,2,3,4,5", &[], None);
    assert!(blocks.contains("K takes only 5 steps"), "{blocks}");
    let needed = refused("promote=2/f32 scale=1x128", &[], None);
    assert!(needed.contains("needs software scales"), "{needed}");
    assert_eq!(
        refused("promote=2/f32 scale=1x128", &[], Some(&scales)),
        "accepted"
    );
    let shape = refused("promote=3/f32 scale=1x128", &[], Some(&scales));
    assert!(shape.contains("4 × 2 is needed"), "{shape}");
    let excess = refused("promote=2/f32", &[], Some(&scales));
    assert!(excess.contains("has no scale="), "{excess}");
    // Five steps in twos from the end would join steps 3 and 2 of two blocks.
    let mixed = refused(
        "order=descending; promote=2/f32 scale=1x128",
        &[],
        Some(&scales),
    );
    assert!(mixed.contains("whose scales differ"), "{mixed}");
    let modifier = refused("c=epilogue", &["negC"], None);
    assert!(modifier.contains("negC"), "{modifier}");
    assert_eq!(refused("c=epilogue", &["negA", "noC"], None), "accepted");
}

#[test]
fn f64_rows_sum_as_their_trees() {
    // The conversion of the output is RNE from f64 to f64 here: nothing.
    let unit = unit(F64_ROW.0, F64_ROW.1);
    let steps = 6;
    let of = matrices(unit, 1, 1, steps, 9);
    for schedule in [
        "chain",
        "order=descending",
        "order=blocks/1,0",
        "split-k=4 reduce=ascending/f64",
        "split-k=5 reduce=descending/f64",
        "split-k=6 reduce=pairwise/f64",
        "stream-k=4 tile=1x1 reduce=ascending/f64",
        "promote=2/f64",
        "c=epilogue/f64",
        "split-k=3 reduce=pairwise/f64; promote=1/f64; c=epilogue/f64",
    ] {
        let parsed: Schedule = schedule.parse().expect("a schedule");
        let tree = parsed
            .tree(unit, &gemm::schedule::OutputPlace::single(of.k))
            .expect("a tree");
        let terms: Vec<mmascope::tree::Term> =
            of.a.iter()
                .zip(&of.b)
                .map(|(a, b)| mmascope::tree::Term::Product(f64::from_bits(*a), f64::from_bits(*b)))
                .chain(
                    of.c.iter()
                        .flatten()
                        .map(|c| mmascope::tree::Term::Value(f64::from_bits(*c))),
                )
                .collect();
        let arithmetic = mmascope::tree::Arithmetic::ieee(F64);
        let expected = tree.execute(&terms, &arithmetic).expect("IEEE nodes");
        assert_eq!(
            run(unit, &of, schedule, None),
            [expected.to_bits()],
            "{schedule}: {tree}"
        );
    }
}

#[test]
fn trees_of_schedules() {
    let unit = unit("volta", "mma.m8n8k4.f32.f16.f16.f32");
    let text = |schedule: &str, output: gemm::schedule::OutputPlace| {
        let schedule: Schedule = schedule.parse().expect("a schedule");
        schedule.tree(unit, &output).expect("a tree").to_string()
    };
    let single = gemm::schedule::OutputPlace::single(8);
    assert_eq!(
        text("chain", single),
        "(fused f32 (fused f32 0 1 2 3 8) 4 5 6 7)"
    );
    assert_eq!(
        text("order=descending", single),
        "(fused f32 0 1 2 3 (fused f32 4 5 6 7 8))"
    );
    assert_eq!(
        text("split-k=2 reduce=ascending/f32", single),
        "(add f32 (fused f32 0 1 2 3 8) (fused f32 4 5 6 7))"
    );
    assert_eq!(
        text("promote=1/f64; out=rne bf16", single),
        "(add f64 (add f64 (fused f32 0 1 2 3) 8) (fused f32 4 5 6 7))"
    );
    assert_eq!(
        text("c=epilogue/f32 alpha=2", single),
        "(fma f32 (fused f32 (fused f32 0 1 2 3) 4 5 6 7) 8)"
    );
    assert_eq!(
        text("c=epilogue beta=0", single),
        "(fused f32 (fused f32 0 1 2 3) 4 5 6 7)"
    );
    // Two tiles of two iterations for three workers: 2 + 1 + 1, so that only the second is cut.
    let of = |j| gemm::schedule::OutputPlace {
        m: 1,
        n: 2,
        k: 8,
        i: 0,
        j,
    };
    let stream = "stream-k=3 tile=1x1 reduce=ascending/f32";
    assert_eq!(text(stream, of(0)), text("chain", single));
    assert_eq!(
        text(stream, of(1)),
        text("split-k=2 reduce=ascending/f32", single)
    );
}

/// Small integers: every sum is exact, in the schedule and here.
#[test]
fn statistics_take_scales_and_factors_into_account() {
    let unit = unit(F16_ROW.0, F16_ROW.1);
    let (m, n) = (6, 5);
    let random = &mut Random(3);
    let mut small = |count: usize| -> Vec<i64> {
        (0..count)
            .map(|_| (random.bits() % 17) as i64 - 8)
            .collect()
    };
    let (a, b, c) = (small(m * 64), small(64 * n), small(m * n));
    let scale_a: Vec<i64> = small(m * 2).iter().map(|x| x.abs() + 1).collect();
    let scale_b: Vec<i64> = small(2).iter().map(|x| x.abs() + 1).collect();
    let halves = |of: &[i64]| of.iter().map(|&x| half(x as f64)).collect();
    let singles = |of: &[i64]| -> Vec<u64> { of.iter().map(|&x| word(x as f32)).collect() };
    let of = Matrices {
        m,
        n,
        k: 64,
        a: halves(&a),
        b: halves(&b),
        c: Some(singles(&c)),
        ..Matrices::default()
    };
    let scales = SoftwareScales {
        a: Matrix::row_major(m, 2, singles(&scale_a)).expect("fits"),
        b: Matrix::row_major(2, 1, singles(&scale_b)).expect("fits"),
    };
    let given = of.given(unit.signature()).expect("fits");
    let product = Product::new(unit, &given, Modifiers::default()).expect("fits");
    let text = "promote=2/f32 scale=1x128; c=epilogue/f32 alpha=-2 beta=3; out=rne f16";
    let schedule: Schedule = text.parse().expect("a schedule");
    let d = schedule
        .run(&product, Some(&scales), &watch())
        .expect("fits");
    let of_d = |d: &Words| {
        let scales = Some(&scales);
        gemm::scheduled_statistics(&schedule, &product, scales, d, false, &watch()).expect("fits")
    };
    let got = of_d(&d);
    let (mut worst, mut worst_to_products) = (0.0_f64, 0.0_f64);
    for i in 0..m {
        for j in 0..n {
            let (mut sum, mut magnitudes) = (0, 0);
            for at in 0..64 {
                let scale = scale_a[i * 2 + at / 32] * scale_b[at / 32];
                let product = a[i * 64 + at] * b[at * n + j] * scale;
                sum += product;
                magnitudes += product.abs();
            }
            let exact = -2 * sum + 3 * c[i * n + j];
            let error = (half_value(d.get(i * n + j)) - exact as f64).abs();
            assert_eq!(d.get(i * n + j), half(exact as f64));
            worst = worst.max(error / exact.abs() as f64);
            worst_to_products = worst_to_products.max(error / (2 * magnitudes) as f64);
        }
    }
    assert_eq!(
        (got.relative.max, got.relative_to_products.max),
        (worst, worst_to_products)
    );
    assert!(worst > 0.0 && got.ulps.max <= 0.5, "{got:?}");
    // One output made wrong by three units in the last place of f16.
    let mut wrong = d.clone();
    wrong.set(7, d.get(7) + 3);
    assert!(of_d(&wrong).ulps.max >= 2.5);
}
