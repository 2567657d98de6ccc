//! Products under way: layouts, batches, steps, regions, how words are stored.

use mmascope::Error;
use mmascope::array::Words;
use mmascope::dpa::{Modifiers, Unit};
use mmascope::format::Format;
use mmascope::gemm::{self, Matrices, Matrix, Product, Region, Strides, Watch};

use super::{GO, Random, UNITS, by_elements, random_matrices, unit};

fn watch() -> Watch<'static> {
    Watch {
        progress: &|_| (),
        cancel: &GO,
    }
}

fn chain(unit: &Unit, matrices: &Matrices) -> Vec<u64> {
    gemm::chain(unit, matrices, &Modifiers::default(), &watch())
        .expect("fits")
        .to_vec()
}

/// The same elements, stored in another order and with gaps of noise.
fn scattered(matrix: &Matrix, random: &mut Random, by_columns: bool) -> Matrix {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let strides = if by_columns {
        Strides {
            batch: columns * (rows + 3) + 1,
            row: 1,
            column: rows + 3,
        }
    } else {
        Strides {
            batch: rows * (2 * columns + 1),
            row: 2 * columns + 1,
            column: 2,
        }
    };
    let length = matrix.batch() * strides.batch + 7;
    let bits = matrix.words().width();
    let mut words = Words::filled(bits, length, 0).expect("memory");
    for index in 0..length {
        words.set(index, random.bits());
    }
    let mut out = Matrix::with_strides(matrix.batch(), rows, columns, strides, words);
    let out = out.as_mut().expect("it fits");
    for batch in 0..matrix.batch() {
        for i in 0..rows {
            for j in 0..columns {
                out.set(batch, i, j, matrix.at(batch, i, j));
            }
        }
    }
    out.clone()
}

#[test]
fn layouts_do_not_matter() {
    for (arch, inst, _) in UNITS {
        let unit = unit(arch, inst);
        let plain = random_matrices(unit, 5, 7, 2 * unit.signature().k, 3);
        let expected = by_elements(unit, &plain, &Modifiers::default());
        let given = plain.given(unit.signature()).expect("fits");
        let random = &mut Random(9);
        for layout in 0..4 {
            let mut of =
                |matrix: &Matrix, bit: u32| scattered(matrix, random, layout >> bit & 1 == 1);
            let (a, b) = (of(given.a(), 0), of(given.b(), 1));
            assert_eq!((&a, &b), (given.a(), given.b()));
            let c = of(given.c().expect("given"), 0);
            let scales = given.scale_a().zip(given.scale_b());
            let scales = scales.map(|(a, b)| (of(a, 1), of(b, 0)));
            let mut matrices = Matrices::new(a, b).and_then(|x| x.with_c(c)).expect("fits");
            if let Some((scale_a, scale_b)) = scales {
                matrices = matrices.with_scales(scale_a, scale_b).expect("fits");
            }
            assert_eq!(chain(unit, &matrices), expected, "{arch} {inst} {layout}");
        }
        // Both transposed: the columns of the transposed B are its rows.
        let transposed = given.b().clone().transposed();
        assert_eq!((transposed.rows(), transposed.columns()), (7, plain.k));
        assert_eq!(transposed.at(0, 6, 1), given.b().at(0, 1, 6));
    }
}

#[test]
fn padding_keeps_a_layout_that_lies_by_columns() {
    let unit = unit("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let plain = random_matrices(unit, 3, 4, 21, 3);
    let given = plain.given(unit.signature()).expect("fits");
    let random = &mut Random(9);
    let by_columns = Matrices::new(
        scattered(given.a(), random, true),
        scattered(given.b(), random, true),
    );
    let padded = by_columns
        .and_then(|x| x.padded(unit.signature()))
        .expect("fits");
    let expected = given.without_c().padded(unit.signature()).expect("fits");
    assert_eq!(padded, expected);
    assert_eq!(padded.a().strides().row, 1);
    assert_eq!(chain(unit, &padded), chain(unit, &expected));
}

#[test]
fn a_batch_is_its_products_and_one_matrix_serves_all() {
    for (arch, inst, _) in UNITS {
        let unit = unit(arch, inst);
        let k = 2 * unit.signature().k;
        let singles: Vec<_> = (0..3)
            .map(|seed| random_matrices(unit, 4, 3, k, seed))
            .collect();
        for broadcast in 0..3 {
            // 0: all of their own; 1: one A and its scales for all; 2: one B, one C.
            let of = |number: usize, is_shared: bool| &singles[if is_shared { 0 } else { number }];
            let mixed: Vec<_> = (0..3)
                .map(|number| super::Matrices {
                    a: of(number, broadcast == 1).a.clone(),
                    scale_a: of(number, broadcast == 1).scale_a.clone(),
                    b: of(number, broadcast == 2).b.clone(),
                    scale_b: of(number, broadcast == 2).scale_b.clone(),
                    c: of(number, broadcast == 2).c.clone(),
                    ..singles[0].clone()
                })
                .collect();
            let expected: Vec<u64> = mixed
                .iter()
                .flat_map(|one| by_elements(unit, one, &Modifiers::default()))
                .collect();
            let given: Vec<_> = mixed
                .iter()
                .map(|one| one.given(unit.signature()).expect("fits"))
                .collect();
            let batched = |of: &dyn Fn(&Matrices) -> Matrix, is_shared: bool| {
                let one = of(&given[0]);
                if is_shared {
                    return one;
                }
                let words: Vec<u64> = given
                    .iter()
                    .flat_map(|x| of(x).iter().collect::<Vec<_>>())
                    .collect();
                Matrix::batched(3, one.rows(), one.columns(), words).expect("fits")
            };
            let mut all = Matrices::new(
                batched(&|x| x.a().clone(), broadcast == 1),
                batched(&|x| x.b().clone(), broadcast == 2),
            )
            .and_then(|x| x.with_c(batched(&|x| x.c().expect("given").clone(), broadcast == 2)))
            .expect("fits");
            if unit.signature().scale.is_some() {
                all = all
                    .with_scales(
                        batched(&|x| x.scale_a().expect("given").clone(), broadcast == 1),
                        batched(&|x| x.scale_b().expect("given").clone(), broadcast == 2),
                    )
                    .expect("fits");
            }
            assert_eq!(all.batch(), 3);
            assert_eq!(chain(unit, &all), expected, "{arch} {inst} {broadcast}");
        }
    }
    let two = Matrix::batched(2, 1, 16, vec![0_u16; 32]).expect("fits");
    let three = Matrix::batched(3, 16, 1, vec![0_u16; 48]).expect("fits");
    assert!(matches!(Matrices::new(two, three), Err(Error::Argument(_))));
}

#[test]
fn steps_taken_one_by_one_or_part_by_part_are_the_chain() {
    for (arch, inst, mods) in UNITS {
        let unit = unit(arch, inst);
        let mut modifiers = Modifiers::default();
        mods.iter()
            .for_each(|text| modifiers.add(text).expect("a modifier"));
        let plain = random_matrices(unit, 6, 70, 4 * unit.signature().k, 8);
        let expected = by_elements(unit, &plain, &modifiers);
        let given = plain.given(unit.signature()).expect("fits");
        let product = Product::new(unit, &given, modifiers).expect("fits");
        let part = |rows, columns| Region {
            batch: 0..1,
            rows,
            columns,
        };
        for region in [
            product.whole(),
            part(2..5, 0..70),
            part(0..6, 69..70),
            part(1..6, 3..68),
        ] {
            let mut sums = product.c(region.clone()).expect("fits");
            product
                .advance(0..1, true, &mut sums, &watch())
                .expect("fits");
            product
                .advance(1..3, false, &mut sums, &watch())
                .expect("fits");
            product
                .advance(3..3, true, &mut sums, &watch())
                .expect("nothing");
            product
                .advance(3..4, false, &mut sums, &watch())
                .expect("fits");
            for index in 0..region.len() {
                let (_, i, j) = region.place(index);
                assert_eq!(
                    sums.words().get(index),
                    expected[i * 70 + j],
                    "{arch} {inst}"
                );
            }
        }
        let mut sums = product.zeros(product.whole()).expect("fits");
        let beyond = product.advance(3..5, true, &mut sums, &watch());
        assert!(matches!(beyond, Err(Error::Argument(_))), "{beyond:?}");
        assert!(product.c(part(0..7, 0..70)).is_err());
    }
}

#[test]
fn words_take_the_bytes_of_their_registers() {
    for (name, bytes) in [
        ("e2m1", 1),
        ("e4m3", 1),
        ("bf16", 2),
        ("tf32", 4),
        ("f64", 8),
    ] {
        let format = Format::named(name).expect("a format");
        let widest = format.widest_word();
        let words = Words::of(&format, [1, widest, 0]).expect("fits");
        assert_eq!(
            (words.bytes(), words.to_vec()),
            (3 * bytes, vec![1, widest, 0]),
            "{name}"
        );
        assert_eq!(words, Words::from(vec![1, widest, 0]));
        if widest < u64::MAX {
            let error = Words::of(&format, [0, widest + 1]).expect_err("too wide");
            assert!(error.to_string().contains("word 1 is"), "{error}");
        }
    }
    // A word wider than the operand's register is found wherever it lies.
    let unit = unit(
        "rtx-blackwell",
        "mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32",
    );
    let of = |word: u8| {
        let mut words = vec![0_u8; 64];
        words[40] = word;
        let b = Matrix::row_major(32, 1, vec![0_u8; 32]).expect("fits");
        let matrices = Matrices::new(Matrix::row_major(2, 32, words).expect("fits"), b);
        Product::new(unit, &matrices.expect("fits"), Modifiers::default()).map(drop)
    };
    assert_eq!(of(15), Ok(()));
    let error = of(16).expect_err("no code of e2m1");
    assert!(
        error.to_string().contains("element [1, 8] of A is 10"),
        "{error}"
    );
}

#[test]
fn matrices_that_do_not_lie_in_their_words_are_refused() {
    let strides = |batch, row, column| Strides { batch, row, column };
    let words = || vec![0_u8; 12];
    assert!(Matrix::with_strides(1, 3, 4, strides(0, 4, 1), words()).is_ok());
    assert!(Matrix::with_strides(1, 3, 4, strides(0, 1, 3), words()).is_ok());
    assert!(Matrix::with_strides(5, 1, 12, strides(0, 0, 1), words()).is_ok());
    assert!(Matrix::with_strides(1, 3, 4, strides(0, 5, 1), words()).is_err());
    assert!(Matrix::with_strides(2, 3, 4, strides(1, 4, 1), words()).is_err());
    assert!(Matrix::with_strides(1, 3, 4, strides(0, usize::MAX, 1), words()).is_err());
    assert!(Matrix::row_major(3, 5, words()).is_err());
    assert!(Matrix::row_major(usize::MAX, 2, words()).is_err());
}
