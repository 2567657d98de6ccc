//! Orders of K, split-K with its reductions, stream-K.

use super::*;

#[test]
fn orders() {
    for row in [F16_ROW, F8_ROW, F64_ROW, HALF_ROW] {
        let chain =
            |steps: &'static [usize]| move |x: &Element<'_>| x.chain(x.c(), steps.iter().copied());
        let shape = (5, 3, 7);
        compare(row, shape, "chain", chain(&[0, 1, 2, 3, 4, 5, 6]));
        compare(row, shape, "order=ascending", chain(&[0, 1, 2, 3, 4, 5, 6]));
        compare(
            row,
            shape,
            "order=descending",
            chain(&[6, 5, 4, 3, 2, 1, 0]),
        );
        compare(row, shape, "order=stride/3", chain(&[0, 3, 6, 1, 4, 2, 5]));
        compare(row, shape, "order=stride/9", chain(&[0, 1, 2, 3, 4, 5, 6]));
        // Blocks begin at 0, ⌊7/3⌋ = 2, ⌊14/3⌋ = 4.
        compare(
            row,
            shape,
            "order=blocks/2,0,1",
            chain(&[4, 5, 6, 0, 1, 2, 3]),
        );
    }
    // The orders differ in their bits, so that the comparisons can fail.
    let unit = unit(F16_ROW.0, F16_ROW.1);
    let of = matrices(unit, 5, 3, 7, 77);
    assert_ne!(
        run(unit, &of, "chain", None),
        run(unit, &of, "order=descending", None)
    );
}

#[test]
fn split_k_and_its_reductions() {
    // Three parts of seven steps begin at 0, 2, 4.
    let parts = |x: &Element<'_>| {
        [
            x.chain_f32(x.c(), 0..2),
            x.chain_f32(0, 2..4),
            x.chain_f32(0, 4..7),
        ]
    };
    for row in [F16_ROW, F8_ROW] {
        compare(row, (4, 5, 7), "split-k=3 reduce=ascending/f32", |x| {
            let [p, q, r] = parts(x);
            word((p + q) + r)
        });
        compare(row, (4, 5, 7), "split-k=3 reduce=descending/f32", |x| {
            let [p, q, r] = parts(x);
            word((r + q) + p)
        });
        compare(row, (4, 5, 7), "split-k=3 reduce=ascending/f64", |x| {
            let [p, q, r] = parts(x).map(f64::from);
            ((p + q) + r).to_bits()
        });
        // Toward zero: the sum is exact in f64 here, and its low bits are cut off.
        compare(row, (4, 5, 7), "split-k=3 reduce=ascending/f32/rz", |x| {
            let add = |x: f32, y: f32| {
                let exact = f64::from(x) + f64::from(y);
                let nearest = exact as f32;
                if f64::from(nearest).abs() <= exact.abs() {
                    nearest
                } else {
                    f32::from_bits(nearest.to_bits() - 1)
                }
            };
            let [p, q, r] = parts(x);
            word(add(add(p, q), r))
        });
    }
    compare(F64_ROW, (4, 5, 7), "split-k=3 reduce=pairwise/f64", |x| {
        let of = |c: u64, steps| f64::from_bits(x.chain(c, steps));
        ((of(x.c(), 0..2) + of(0, 2..4)) + of(0, 4..7)).to_bits()
    });
    // Pairwise over every number of parts, by levels.
    for parts in 1..=9 {
        let schedule = format!("split-k={parts} reduce=pairwise/f32");
        compare(F16_ROW, (3, 2, 9), &schedule, |x| {
            let start = |part: usize| part * 9 / parts;
            let mut sums: Vec<f32> = (0..parts)
                .map(|part| {
                    let c = if part == 0 { x.c() } else { 0 };
                    x.chain_f32(c, start(part)..start(part + 1))
                })
                .collect();
            while sums.len() > 1 {
                sums = sums
                    .chunks(2)
                    .map(|pair| pair.iter().copied().reduce(|p, q| p + q).expect("one"))
                    .collect();
            }
            word(sums[0])
        });
    }
    // f16: partial sums are rounded to f16 first; f64 holds sums of two exactly.
    compare(F16_ROW, (6, 6, 4), "split-k=2 reduce=ascending/f16", |x| {
        let round = |value: f64| half(value);
        let [p, q] = [x.chain(x.c(), 0..2), x.chain(0, 2..4)].map(|sum| f64::from(f32_of(sum)));
        let sum = half_value(round(p)) + half_value(round(q));
        round(sum)
    });
    // The order of steps comes before the cut.
    compare(
        F16_ROW,
        (3, 3, 6),
        "order=stride/2; split-k=2 reduce=ascending/f32",
        |x| word(x.chain_f32(x.c(), [0, 2, 4]) + x.chain_f32(0, [1, 3, 5])),
    );
}

#[test]
fn stream_k_deals_tiles_times_iterations_out() {
    // 5 × 7 in tiles of 2 × 3 is 3 × 3 tiles.
    for (workers, iteration) in [
        (1, 1),
        (2, 1),
        (4, 1),
        (5, 2),
        (7, 3),
        (9, 1),
        (40, 1),
        (200, 1),
    ] {
        for order in ["ascending", "descending"] {
            let schedule =
                format!("stream-k={workers} tile=2x3 iteration={iteration} reduce={order}/f32");
            let steps = 5_usize;
            compare(F16_ROW, (5, 7, steps), &schedule, |x| {
                let tile = x.i / 2 * 3 + x.j / 3;
                let iterations = steps.div_ceil(iteration);
                let total = 9 * iterations;
                // Who does each iteration, one by one.
                let mut owner = Vec::new();
                for worker in 0..workers {
                    let mine = total / workers + usize::from(worker < total % workers);
                    owner.extend(vec![worker; mine]);
                }
                let mut sums: Vec<u64> = Vec::new();
                for at in 0..iterations {
                    let number = tile * iterations + at;
                    if at == 0 || owner[number] != owner[number - 1] {
                        sums.push(if at == 0 { x.c() } else { 0 });
                    }
                    let sum = sums.last_mut().expect("one");
                    *sum = x.chain(*sum, at * iteration..steps.min((at + 1) * iteration));
                }
                if order == "descending" {
                    sums.reverse();
                }
                word(
                    sums.into_iter()
                        .map(f32_of)
                        .reduce(|p, q| p + q)
                        .expect("one"),
                )
            });
        }
    }
}
