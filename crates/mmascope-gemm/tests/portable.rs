//! Every kind of kernel over the portable lanes, on products small enough for miri:
//! `cargo xtask prove miri` runs this file there, where reads beyond packed operands, races and values that nobody has
//! written are errors. It stands in this crate so that miri has little to compile.

#![cfg(feature = "kernel")]

use std::sync::atomic::AtomicBool;

use mmascope_gemm::array::Words;
use mmascope_gemm::cpu::{Cpu, Level};
use mmascope_gemm::gemm::{Matrices, Matrix, Product, Watch};
use mmascope_model::dpa::{Modifiers, Scale, Signature, Unit};
use mmascope_model::format::{BF16, E2M1FN, E4M3FN, F16, F32, F64, Format, UE4M3};

/// Operands, c and d, K, program, and a part of the kernel's name.
const UNITS: [(Format, [Format; 2], usize, &str, &str); 18] = [
    (
        F16,
        [F32; 2],
        8,
        "t-fdpa L=8 F=24 e0=-133 -> rz f32",
        "fused sum in 32-bit",
    ),
    (
        F16,
        [F32; 2],
        8,
        "t-fdpa L=8 F=24 e0=-133 align=rne -> rz f32",
        "fused sum in 32-bit",
    ),
    (
        F16,
        [F32; 2],
        8,
        "t-fdpa L=8 F=24 e0=-133 align=rd -> rd f32",
        ", down",
    ),
    (
        F16,
        [F32; 2],
        8,
        "t-fdpa L=8 F=24 e0=-133 align=ru -> ru f32",
        ", up",
    ),
    (
        BF16,
        [F32; 2],
        8,
        "t-fdpa L=4 F=23 e0=-133 -> rne f32",
        "to nearest",
    ),
    (
        F16,
        [F16; 2],
        8,
        "t-fdpa L=8 F=24 e0=-133 -> rne f16",
        "to nearest",
    ),
    (
        E4M3FN,
        [F32; 2],
        16,
        "t-fdpa L=16 F=13 e0=-133 -> rz e8m13",
        "toward zero",
    ),
    (
        F16,
        [F32; 2],
        8,
        "tr-fdpa L=8 F=24 F2=31 -> rne f32",
        "c late",
    ),
    (
        E4M3FN,
        [F32; 2],
        16,
        "gtr-fdpa L=16 F=24 F2=31 -> rne f32",
        "even and of odd k",
    ),
    // Sums beyond 32 bits: in parts, modulo 2^32, and of split terms.
    (
        F16,
        [F32; 2],
        16,
        "fused L=16 F=26 -> rz f32",
        "sums of 64 bits",
    ),
    (
        F16,
        [F32; 2],
        8,
        "fused L=8 F=29 align=rne grid=products -> rne f32",
        "sums of 64 bits",
    ),
    (
        F16,
        [F32; 2],
        8,
        "fused L=8 F=36 align=rd -> rz f32",
        "sums of 64 bits",
    ),
    (F16, [F32; 2], 8, "e-fdpa L=4 -> rne f32", "exact sums"),
    (F16, [F32; 2], 8, "ftz-addmul P=4 -> rne f32", "pairwise"),
    (
        F32,
        [F32; 2],
        4,
        "fma-chain -> rne f32",
        "multiply-adds in f32",
    ),
    (
        F64,
        [F64; 2],
        4,
        "fma-chain -> rne f64",
        "multiply-adds in f64",
    ),
    (
        F16,
        [F32; 2],
        8,
        "s = t-fdpa L=4 F=24 e0=-133 over k=0,1,2,3 -> rz f32 ; d = t-fdpa L=4 F=24 e0=-133 over k=4,5,6,7 from s -> rz f32",
        "fused sum in",
    ),
    (
        E2M1FN,
        [F32; 2],
        32,
        "gst-fdpa L=32 G=16 F=35 e0=-139 -> rz f32",
        "grouped",
    ),
];

/// A small generator of words: numbers near 1, and now and then any code.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0 >> 24
    }

    fn matrix(&mut self, rows: usize, columns: usize, format: &Format, any: bool) -> Matrix {
        let float = format.float().expect("a float");
        let mut word = || {
            let code = if any && self.next().is_multiple_of(8) {
                self.next()
            } else {
                let field = float.bias as u64 + self.next() % 2;
                let fraction = self.next() & ((1 << float.fraction_bits) - 1);
                let sign = if format.signed { self.next() & 1 } else { 0 };
                sign << (format.bits - 1) | field << float.fraction_bits | fraction
            };
            format.to_register(code & (u64::MAX >> (64 - format.bits)))
        };
        let words: Vec<u64> = (0..rows * columns).map(|_| word()).collect();
        Matrix::row_major(rows, columns, Words::of(format, words).expect("words")).expect("fits")
    }
}

/// Products by the units with such a kernel, by it and by the reference.
fn check(kind: &str) {
    let engine = Cpu::at(Level::Scalar).expect("every machine");
    let mut random = Random(7);
    let watch = Watch {
        progress: &|_| (),
        cancel: &AtomicBool::new(false),
    };
    let units = UNITS.iter().filter(|unit| unit.4 == kind);
    assert!(units.clone().count() > 0, "{kind}");
    for &(ab, [c, d], k, program, name) in units {
        let grouped = program.starts_with("gst");
        let signature = Signature {
            a: ab,
            b: ab,
            c,
            d,
            k,
            scale: grouped.then_some(Scale {
                format: UE4M3,
                block: 16,
            }),
        };
        let unit = Unit::new(signature, program.parse().expect("a program")).expect("a unit");
        // Two rows and one, a panel that is not full, two steps.
        let [m, n, steps] = [3, 2, 2];
        for any in [false, true] {
            let a = random.matrix(m, k * steps, &ab, any);
            let b = random.matrix(k * steps, n, &ab, any);
            let mut matrices = Matrices::new(a, b).expect("fits");
            matrices = matrices.with_c(random.matrix(m, n, &c, any)).expect("fits");
            if grouped {
                let blocks = k * steps / 16;
                let scale_a = random.matrix(m, blocks, &UE4M3, any);
                let scale_b = random.matrix(blocks, n, &UE4M3, any);
                matrices = matrices.with_scales(scale_a, scale_b).expect("fits");
            }
            let run = |product: Product<'_>| {
                let mut sums = product.c(product.whole()).expect("memory");
                let advanced = product.advance(0..steps, true, &mut sums, &watch);
                advanced.expect("steps");
                sums.into_words()
            };
            let none = Modifiers::default();
            let expected = run(Product::by_reference(&unit, &matrices, none).expect("fits"));
            let product = Product::with_engine(&unit, &matrices, none, &engine).expect("fits");
            assert_eq!(product.reason(), None, "{program}");
            let kernel = product.plan().to_string();
            assert!(kernel.contains(name), "{program}: {kernel}");
            assert_eq!(run(product.clone()), expected, "{program}");
            assert_eq!(run(product.in_pieces(1)), expected, "{program} in pieces");
        }
    }
}

macro_rules! kinds {
    ($($name:ident: $kind:literal,)*) => {$(
        #[test]
        fn $name() {
            check($kind);
        }
    )*};
}

// One test each, so that miri can run them one by one.
kinds! {
    fused_sums: "fused sum in 32-bit",
    sums_to_nearest: "to nearest",
    sums_toward_zero: "toward zero",
    sums_rounded_down: ", down",
    sums_rounded_up: ", up",
    c_late: "c late",
    even_and_odd_k: "even and of odd k",
    wide_sums: "sums of 64 bits",
    exact_sums: "exact sums",
    pairwise_sums: "pairwise",
    chains_in_f32: "multiply-adds in f32",
    chains_in_f64: "multiply-adds in f64",
    two_statements: "fused sum in",
    grouped_sums: "grouped",
}
