//! Units that are in no catalogue: which have a kernel, and sums at the ends of what a kernel carries.

use mmascope::array::Words;
use mmascope::cpu::{Kernel, Level};
use mmascope::dpa::{Modifiers, Unit};
use mmascope::format::Format;
use mmascope::gemm::{Matrices, Matrix};
use mmascope::isa::Catalogue;

use super::adversary::{ELEMENTS, Elements, STARTS};
use super::cases::{Case, by_kernel, watch};
use super::oracle::by_dots;
use super::parts::{compare, own, unit};

#[test]
fn users_units_have_kernels_where_their_parameters_fit() {
    let f16 = "a=f16 b=f16 c=f32 d=f32";
    let with = [
        (
            format!("{f16} k=12"),
            "t-fdpa L=12 F=20 e0=-126 align=rne -> rne f32",
        ),
        (
            format!("{f16} k=16"),
            "t-fdpa L=12 F=20 e0=-126 align=rne -> rne f32",
        ),
        (format!("{f16} k=5"), "t-fdpa L=3 F=27 e0=-20 -> rz f32"),
        (
            "a=e4m3 b=e3m2 c=bf16 d=bf16 k=9".to_owned(),
            "t-fdpa L=4 F=11 e0=-30 -> rne bf16",
        ),
        (
            "a=bf16 b=bf16 c=tf32 d=tf32 k=8".to_owned(),
            "t-fdpa L=8 F=12 e0=-100 -> rz tf32",
        ),
        (
            "a=e5m2 b=e5m2 c=f16 d=f16 k=8".to_owned(),
            "t-fdpa L=8 F=9 e0=0 align=rne -> rne f16",
        ),
        (
            "a=tf32 b=tf32 c=f32 d=f32 k=4".to_owned(),
            "tr-fdpa L=2 F=23 F2=31 -> rne f32",
        ),
        (
            "a=bf16 b=f16 c=f32 d=f32 k=6".to_owned(),
            "e-fdpa L=3 -> rne f32",
        ),
        (
            "a=tf32 b=bf16 c=f32 d=f32 k=6".to_owned(),
            "ftz-addmul P=2 -> rne f32",
        ),
        (
            format!("{f16} k=12"),
            "fused L=4 F=24 grid=products -> rz f32",
        ),
        (
            format!("{f16} k=16"),
            "fused L=16 F=24 align=rne grid=products -> rne f32",
        ),
        (
            "a=bf16 b=e5m2 c=f32 d=f32 k=6".to_owned(),
            "fused L=6 F=25 align=rd grid=products -> rz tf32",
        ),
        (
            "a=tf32 b=f16 c=f32 d=f32 k=8".to_owned(),
            "fused L=2 F=23 align=ru grid=products -> rd f32",
        ),
        // Without a product the sum is c, of which a grid of its own exponent would lose bits.
        (
            "a=e4m3 b=e4m3 c=f32 d=f32 k=32".to_owned(),
            "fused L=32 F=13 grid=products -> rz f32",
        ),
        // A short c, and results of its format, whose zeros keep their sign.
        (
            "a=f16 b=f16 c=f16 d=f16 k=8".to_owned(),
            "fused L=8 F=24 grid=products -> rne f16",
        ),
        (
            "a=f16 b=f16 c=f16 d=f16 k=16".to_owned(),
            "fused L=8 F=24 -> rne f16",
        ),
        // The first c has subnormals far below those of the next.
        (
            "a=f16 b=f16 c=f32 d=f16 k=32".to_owned(),
            "fused L=8 F=9 -> rne f16",
        ),
        (
            "a=bf16 b=bf16 c=bf16 d=bf16 k=8".to_owned(),
            "fused L=4 F=20 align=rne grid=products -> ru bf16",
        ),
        (
            "a=e5m2 b=e4m3 c=f16 d=f16 k=8".to_owned(),
            "fused L=8 F=18 align=rd -> rd f16 overflow=ieee",
        ),
        // Sums beyond 32 bits: parts of 8, 4, 1 and 32 products; two parts, where c does not fit beside one.
        (format!("{f16} k=16"), "fused L=16 F=26 -> rz f32"),
        (
            "a=f16 b=f16 c=f16 d=f16 k=8".to_owned(),
            "fused L=8 F=27 align=rne grid=products -> rne f16",
        ),
        (
            "a=tf32 b=tf32 c=f32 d=f32 k=8".to_owned(),
            "fused L=8 F=29 align=rd -> ru f32",
        ),
        (
            "a=e4m3 b=e4m3 c=f32 d=f32 k=128".to_owned(),
            "fused L=128 F=24 align=ru -> rne f32",
        ),
        // Terms beyond 32 bits, each in two numbers: up to the F where all of them fit f64.
        (format!("{f16} k=16"), "t-fdpa L=16 F=30 e0=-133 -> rz f32"),
        (format!("{f16} k=32"), "t-fdpa L=32 F=44 e0=-126 -> rz f32"),
        (
            format!("{f16} k=16"),
            "fused L=16 F=45 align=rne -> rne f32",
        ),
        (
            "a=bf16 b=bf16 c=f32 d=f32 k=8".to_owned(),
            "fused L=4 F=47 align=rd -> rd f32",
        ),
        (
            "a=f16 b=f16 c=f16 d=f16 k=8".to_owned(),
            "fused L=8 F=33 align=ru grid=products -> rne f16",
        ),
        (
            "a=tf32 b=tf32 c=f32 d=f32 k=8".to_owned(),
            "fused L=8 F=36 grid=products -> rz f32",
        ),
        (
            "a=e5m2 b=e5m2 c=f32 d=f32 k=128".to_owned(),
            "fused L=128 F=42 align=rne -> rz e8m13",
        ),
        (
            format!("{f16} k=16"),
            "s = fused L=8 F=32 align=rd from +0 -> rz f32 ; d = add s c -> rne f32",
        ),
        (
            format!("{f16} k=16"),
            "fused L=16 F=25 grid=products -> rz f32",
        ),
        // A sum whose c is an ∞ that another sum left.
        (
            "a=f16 b=f16 c=tf32 d=tf32 k=10".to_owned(),
            "t = fused L=9 F=29 grid=products over k%2=0 from c -> rd e5m2 zero=exact ; d = fused L=4 F=29 align=ru grid=products over k%2=1 from t -> rz tf32 zero=plus",
        ),
        // The same with c outside the sum, of two groups and of one.
        (
            format!("{f16} k=16"),
            "s = fused L=8 F=27 from +0 -> rz f32 ; d = add s c -> rne f32",
        ),
        (
            "a=f16 b=f16 c=f16 d=f16 k=16".to_owned(),
            "s = fused L=16 F=26 align=rne from +0 -> rne f32 ; d = add c s -> rd f16 overflow=ieee",
        ),
        // e5m2 has f16's exponents and fewer bits: f32 would round the sum twice.
        (
            "a=f16 b=f16 c=f16 d=e5m2 k=8".to_owned(),
            "t = fused L=8 F=24 from +0 -> rz f16 ; d = add c t -> rne e5m2",
        ),
        // c and a sum near f32's ends.
        (
            "a=f32 b=f32 c=f32 d=f32 k=2".to_owned(),
            "t = fma-chain over k%2=0 from c -> rne f32 ; u = fma-chain over k%2=1 from +0 -> rne f32 ; d = add t u -> rz f32",
        ),
        (
            "a=bf16 b=bf16 c=f32 d=f32 k=1".to_owned(),
            "s = fma-chain from product -> rne f32 ; d = add s c -> rz f32 overflow=inf",
        ),
        (
            "a=bf16 b=bf16 c=f32 d=f32 k=2".to_owned(),
            "s = fma-chain from product -> rne f32 ; u = add c c -> rd f32 overflow=ieee ; d = add s u -> ru f32 overflow=inf",
        ),
        // c outside a sum of two groups, with results of fewer bits before it and behind it.
        (
            "a=f16 b=f16 c=f16 d=f16 k=16".to_owned(),
            "s = fused L=8 F=24 from +0 -> rz tf32 ; d = add c s -> rd f16 overflow=ieee",
        ),
        // Additions that f32 would round twice, and such that do not round to nearest.
        (
            "a=f16 b=f16 c=bf16 d=bf16 k=8".to_owned(),
            "t = fused L=8 F=24 from +0 -> rz f32 ; d = add c t -> rne bf16",
        ),
        (
            format!("{f16} k=8"),
            "t = fused L=8 F=24 from +0 -> rz f32 ; d = add c t -> rd f32",
        ),
        // Plain sums of scaled products, with c as a term and behind them.
        (
            "a=e4m3 b=e4m3 c=f32 d=f32 k=32 scale=ue8m0 block=32".to_owned(),
            "fused L=32 F=25 e0=-133 -> rz f32",
        ),
        (
            "a=e5m2 b=e2m1 c=f32 d=f32 k=8 scale=ue8m0 block=8".to_owned(),
            "fused L=8 F=23 e0=-120 -> rne f32",
        ),
        (
            "a=e4m3 b=e3m2 c=f32 d=f32 k=16 scale=ue8m0 block=16".to_owned(),
            "s = fused L=16 F=25 e0=-133 from +0 -> rz f32 ; d = add s c -> rne f32",
        ),
        (
            "a=e2m1 b=e2m3 c=f32 d=f32 k=48 scale=ue4m3 block=16".to_owned(),
            "gst-fdpa L=24 G=8 F=30 e0=-139 -> rz f32",
        ),
        (
            "a=e2m1 b=e2m1 c=f32 d=f32 k=64 scale=ue8m0 block=16".to_owned(),
            "gst-fdpa L=32 G=16 F=24 e0=-90 -> rz f32",
        ),
        // Two products' sums over a group leave 16 bits.
        (
            "a=e2m3 b=e2m3 c=f32 d=f32 k=32 scale=ue8m0 block=16".to_owned(),
            "gst-fdpa L=32 G=16 F=30 e0=-120 -> rz f32",
        ),
    ];
    for (number, (signature, program)) in with.iter().enumerate() {
        let unit = own(signature, program);
        let kernel = Kernel::at_level(&unit, Level::Scalar);
        assert!(kernel.is_ok(), "{program}: {}", kernel.unwrap_err());
        for (index, elements) in ELEMENTS.into_iter().enumerate() {
            for (other, start) in STARTS.into_iter().enumerate() {
                let seed = (number * 1000 + index * 10 + other) as u64;
                let shape = [3, 17, 1 + index % 4];
                let case = Case::plain(shape, [elements; 2], start, seed);
                compare(program, &unit, &case);
            }
        }
    }
    let without = [
        (format!("{f16} k=32"), "t-fdpa L=32 F=45 e0=-126 -> rz f32"),
        (
            format!("{f16} k=16"),
            "t-fdpa L=16 F=25 e0=-133 align=odd -> rz f32",
        ),
        (
            "a=f32 b=f32 c=f32 d=f32 k=4".to_owned(),
            "t-fdpa L=4 F=24 e0=-133 -> rz f32",
        ),
        (format!("{f16} k=16"), "t-fdpa L=16 F=46 e0=-133 -> rz f32"),
        (
            format!("{f16} k=4"),
            "fused L=4 F=37 grid=products -> rz f32",
        ),
        // Several scales in a sum, scales that are no powers of two, and a sum of scaled products without a floor of E.
        (
            "a=e4m3 b=e4m3 c=f32 d=f32 k=8 scale=ue8m0 block=4".to_owned(),
            "s = fused L=8 F=25 e0=-133 from +0 -> rz f32 ; d = add c s -> rne f32",
        ),
        (
            "a=e4m3 b=e4m3 c=f32 d=f32 k=4 scale=ue4m3 block=4".to_owned(),
            "fused L=4 F=25 e0=-133 -> rz f32",
        ),
        (
            "a=e4m3 b=e4m3 c=f32 d=f32 k=4 scale=ue8m0 block=4".to_owned(),
            "fused L=4 F=25 -> rz f32",
        ),
    ];
    for (signature, program) in without {
        let kernel = Kernel::at_level(&own(&signature, program), Level::Scalar);
        assert!(kernel.is_err(), "{program}");
    }
}

/// Sums that round toward −∞ product by product, up to the largest that they can be, and just beyond.
#[test]
fn sums_round_down_to_their_brim() {
    let rows = [
        (
            "a=e4m3 b=e4m3 c=f32 d=f32 k=60",
            "t-fdpa L=30 F=15 e0=-132 -> rz e8m13",
            true,
        ),
        (
            "a=e4m3 b=e5m2 c=f32 d=f32 k=64",
            "t-fdpa L=32 F=14 e0=-30 -> rz f32",
            true,
        ),
        (
            "a=e2m3 b=bf16 c=f32 d=f32 k=28",
            "t-fdpa L=14 F=16 e0=-132 -> rz f32",
            true,
        ),
        (
            "a=e4m3 b=f16 c=f32 d=f32 k=13",
            "t-fdpa L=6 F=17 e0=-10 -> rz tf32",
            true,
        ),
        (
            "a=e5m2 b=tf32 c=bf16 d=bf16 k=5",
            "t-fdpa L=2 F=9 e0=-132 -> rz bf16",
            true,
        ),
        (
            "a=e4m3 b=e4m3 c=f32 d=f32 k=64",
            "t-fdpa L=32 F=15 e0=-132 -> rz e8m13",
            false,
        ),
        (
            "a=f16 b=e4m3 c=f32 d=f32 k=16",
            "t-fdpa L=16 F=13 e0=-132 -> rz e8m13",
            false,
        ),
        (
            "a=e4m3 b=e4m3 c=f32 d=f32 k=32",
            "t-fdpa L=32 F=13 e0=-132 -> rne f32",
            false,
        ),
    ];
    let levels = [Level::Avx2, Level::Avx512];
    to_their_brim(&rows, &levels, "in 32-bit lanes, rounding down");
}

/// The same in 64-bit lanes, whose sums may be larger than 32 bits hold.
#[test]
fn sums_in_64_bit_lanes_to_their_brim() {
    let rows = [
        (
            "a=f16 b=f16 c=f32 d=f32 k=30",
            "t-fdpa L=30 F=25 e0=-132 -> rz f32",
            true,
        ),
        (
            "a=e4m3 b=e5m2 c=f32 d=f32 k=64",
            "t-fdpa L=32 F=25 e0=-30 -> rz f32",
            true,
        ),
        (
            "a=bf16 b=bf16 c=f32 d=f32 k=28",
            "t-fdpa L=14 F=26 e0=-132 -> rz e8m13",
            true,
        ),
        (
            "a=f16 b=f16 c=f16 d=f16 k=32",
            "t-fdpa L=16 F=24 e0=-133 -> rne f16",
            false,
        ),
        (
            "a=tf32 b=e5m2 c=bf16 d=bf16 k=19",
            "t-fdpa L=17 F=20 e0=-132 -> rz bf16",
            true,
        ),
        (
            "a=e2m3 b=f16 c=f32 d=f32 k=24",
            "t-fdpa L=12 F=26 e0=-132 -> rne f32",
            false,
        ),
        (
            "a=f16 b=f16 c=f32 d=f32 k=16",
            "t-fdpa L=8 F=24 e0=-132 -> rz f32",
            false,
        ),
        (
            "a=f16 b=f16 c=f32 d=f32 k=16",
            "t-fdpa L=16 F=20 e0=-132 align=rne -> rz f32",
            false,
        ),
    ];
    to_their_brim(&rows, &[Level::Avx512], "in 64-bit lanes");
}

/// Compares rows with the reference, and what their kernels say: at these levels those marked so, others nowhere.
fn to_their_brim(rows: &[(&str, &str, bool)], levels: &[Level], says: &str) {
    for (number, (signature, program, marked)) in rows.iter().enumerate() {
        let unit = own(signature, program);
        for level in Level::available() {
            let kernel = Kernel::at_level(&unit, level).expect("a kernel");
            let expected = levels.contains(&kernel.level()) && *marked;
            let both = [&kernel, &kernel.as_elsewhere()].map(Kernel::to_string);
            let found = both.iter().any(|kernel| kernel.contains(says));
            assert_eq!(found, expected, "{program} at {level}: {kernel}");
        }
        for (index, elements) in ELEMENTS.into_iter().enumerate() {
            for (other, start) in STARTS.into_iter().enumerate() {
                let seed = (number * 1000 + index * 10 + other) as u64;
                let case = Case::plain([4 + other % 2, 33, 3], [elements; 2], start, seed);
                compare(program, &unit, &case);
            }
        }
    }
}

/// Operands whose products round to nothing: a result is a zero, with the sign of what rounded, until c is not one.
#[test]
fn sums_that_vanish() {
    let rows = [
        ("cdna1", "v_mfma_f32_32x32x4_bf16"),
        ("cdna2", "v_mfma_f32_16x16x8_bf16"),
        ("cdna3", "v_mfma_f32_32x32x8_bf16_1k"),
        ("cdna3", "v_mfma_f32_16x16x8_xf32"),
        ("hopper", "wgmma.m64n8k16.f32.bf16.bf16"),
    ];
    for (number, (arch, inst)) in rows.into_iter().enumerate() {
        let unit = unit(arch, inst);
        let tiny = [Elements::Tiny, Elements::Subnormal];
        for (index, (a, b)) in tiny
            .into_iter()
            .flat_map(|a| tiny.map(|b| (a, b)))
            .enumerate()
        {
            for (other, start) in STARTS.into_iter().enumerate() {
                let seed = (number * 1000 + index * 100 + other) as u64;
                let mut case = Case::plain([3, 70, 40], [a, b], start, seed);
                case.modifiers.negate_a = index == 1;
                case.pieces = (index == 2).then_some(0);
                compare(inst, unit, &case);
            }
        }
    }
}

/// Terms that are rounded toward an infinity: each may add a unit of the grid, so that sums leave every domain in a
/// few steps, and the smallest product counts.
#[test]
fn terms_rounded_toward_an_infinity_grow_and_never_vanish() {
    // Operands, program, one word of A, of B and of C, and K.
    let cases = [
        (
            "f16",
            "t-fdpa L=8 F=4 e0=-133 align=ru -> ru f32",
            0x3c00,
            0x3c00,
            1.0,
            2048,
        ),
        (
            "f16",
            "t-fdpa L=8 F=4 e0=-133 align=ru -> ru f32",
            0x3c00,
            0x3c00,
            6e29,
            800,
        ),
        (
            "f16",
            "t-fdpa L=8 F=4 e0=-133 align=rd -> rd f32",
            0x3c00,
            0xbc00,
            -1.0,
            2400,
        ),
        (
            "f16",
            "t-fdpa L=8 F=1 e0=-133 align=ru -> rne f32",
            0x0001,
            0x0001,
            6e29,
            40,
        ),
        (
            "f16",
            "t-fdpa L=8 F=4 e0=-133 align=ru -> rne f32",
            0x3c00,
            0x3c00,
            1.0,
            2048,
        ),
        (
            "bf16",
            "t-fdpa L=2 F=28 align=ru -> ru f32",
            0x0001,
            0x5a80,
            9.5e29,
            2,
        ),
        (
            "bf16",
            "t-fdpa L=2 F=28 align=rd -> rd f32",
            0x8001,
            0x5a80,
            -9.5e29,
            2,
        ),
        (
            "tf32",
            "t-fdpa L=2 F=24 align=ru -> ru f32",
            0x2000,
            0x5a80_0000,
            9.5e29,
            2,
        ),
    ];
    for (operands, program, a, b, c, k) in cases {
        let native: usize = if program.contains("L=8") { 8 } else { 2 };
        let program = match program.contains("e0=") {
            true => program.to_owned(),
            false => program.replace("align", "e0=-300 align"),
        };
        let signature = format!("a={operands} b={operands} c=f32 d=f32 k={native}");
        let unit = own(&signature, &program);
        let [m, n] = [3, 37];
        let matrix = |rows: usize, columns: usize, word: u64, format: &Format| {
            let words = Words::of(format, vec![word; rows * columns]).expect("words");
            Matrix::row_major(rows, columns, words).expect("a matrix")
        };
        let of = unit.signature();
        let matrices = Matrices::new(matrix(m, k, a, &of.a), matrix(k, n, b, &of.b));
        let matrices = matrices.expect("shapes fit");
        let c = matrix(m, n, u64::from(f32::to_bits(c)), &of.c);
        let matrices = matrices.with_c(c).expect("shapes fit");
        at_every_level(&unit, &matrices, &format!("{operands} {program} K={k}"));
    }
}

/// Results that are rounded away from zero grow by a last place in each step, however small the products are, until they leave
/// every domain.
#[test]
fn results_rounded_away_from_zero_grow() {
    for program in [
        "t-fdpa L=8 F=4 e0=-133 -> ru bf16",
        "t-fdpa L=8 F=24 e0=-133 align=rne -> ru bf16",
        "fused L=8 F=4 grid=products -> ru bf16",
        "fused L=8 F=27 -> ru bf16",
    ] {
        let unit = own("a=f16 b=f16 c=bf16 d=bf16 k=8", program);
        let of = unit.signature();
        let [m, n, k] = [1, 17, 8 * 4200];
        let matrix = |rows: usize, columns: usize, word: u64, format: &Format| {
            let words = Words::of(format, vec![word; rows * columns]).expect("words");
            Matrix::row_major(rows, columns, words).expect("a matrix")
        };
        let matrices = Matrices::new(matrix(m, k, 0x3c00, &of.a), matrix(k, n, 0x3c00, &of.b));
        let c = matrix(m, n, u64::from(f32::to_bits(6e29) >> 16), &of.c);
        let matrices = matrices.and_then(|both| both.with_c(c));
        at_every_level(&unit, &matrices.expect("shapes fit"), program);
    }
}

/// The kernel of each level against the oracle.
fn at_every_level(unit: &Unit, matrices: &Matrices, name: &str) {
    let none = Modifiers::default();
    let expected = by_dots(unit, matrices, &none);
    for level in Level::available() {
        let kernel = Kernel::at_level(unit, level).expect("a kernel");
        let product = by_kernel(unit, matrices, none, Some(kernel));
        let mut sums = product.c(product.whole()).expect("memory");
        let steps = 0..product.steps();
        product
            .advance(steps, true, &mut sums, &watch())
            .expect("steps");
        assert_eq!(*sums.words(), expected, "{name} at {level}");
    }
}

/// An addition cancels c down to its last bit, which lies below the grid that the smallest products have: the next sum
/// takes it, and has no product that is not zero.
#[test]
fn additions_that_leave_the_last_bit_of_c() {
    let sum = "t-fdpa L=2 F=10 e0=-133";
    let between = format!(
        "t = {sum} over k=0,1 from +0 -> rz f32 ; s = add c t -> rne f32 ; d = {sum} over k=2,3 from s -> rz f32"
    );
    let after = "u = t-fdpa L=4 F=10 e0=-133 from c -> rz f32 ; d = add c u -> rne f32";
    for (program, b, k) in [(between.as_str(), 0x8400, 4), (after, 0x8800, 8)] {
        let unit = own("a=f16 b=f16 c=f32 d=f32 k=4", program);
        let of = unit.signature();
        let [m, n] = [2, 33];
        // The first of each row and column, 2^-14 and −2^-14 or −2^-13; the others are zeros.
        let a = |at: usize| if at.is_multiple_of(k) { 0x0400 } else { 0 };
        let a = Words::of(&of.a, (0..m * k).map(a).collect::<Vec<u64>>()).expect("words");
        let b = Words::of(
            &of.b,
            (0..k * n)
                .map(|at| if at < n { b } else { 0 })
                .collect::<Vec<u64>>(),
        );
        let c = Words::of(&of.c, vec![0x3180_0001; m * n]).expect("words");
        let matrix = |rows: usize, columns: usize, words: Words| {
            Matrix::row_major(rows, columns, words).expect("a matrix")
        };
        let matrices = Matrices::new(matrix(m, k, a), matrix(k, n, b.expect("words")));
        let matrices = matrices.and_then(|both| both.with_c(matrix(m, n, c)));
        at_every_level(&unit, &matrices.expect("shapes fit"), program);
    }
}

/// c lies so far above the products' grid that the kernel counts both in units twice as large, and cancels all but what the last
/// bits of the products say.
#[test]
fn a_c_far_above_the_products_that_they_cancel() {
    for result in ["rz", "rne", "rd", "ru"] {
        let program = format!("fused L=16 F=24 grid=products -> {result} f32");
        let unit = own("a=f16 b=f16 c=f32 d=f32 k=16", &program);
        let of = unit.signature();
        let [m, n, k] = [16, 33, 16];
        // Fifteen products of nearly −4, and one between −1/16 and −1/4 with bits down to 2^-24.
        let a = |at: usize| match at % k {
            15 => 0x3401 + 2 * 29 * (at / k) as u64,
            _ => 0x3fff,
        };
        let b = |at: usize| match at / n {
            15 => 0xb401 + 2 * 15 * (at % n) as u64,
            _ => 0xbfff,
        };
        let words = |of: &Format, words: Vec<u64>| Words::of(of, words).expect("words");
        let a = words(&of.a, (0..m * k).map(a).collect());
        let b = words(&of.b, (0..k * n).map(b).collect());
        // 64, and somewhat more.
        let c = words(
            &of.c,
            (0..m * n).map(|at| 0x4280_0000 + at as u64).collect(),
        );
        let matrix = |rows: usize, columns: usize, words: Words| {
            Matrix::row_major(rows, columns, words).expect("a matrix")
        };
        let matrices = Matrices::new(matrix(m, k, a), matrix(k, n, b));
        let matrices = matrices.and_then(|both| both.with_c(matrix(m, n, c)));
        at_every_level(&unit, &matrices.expect("shapes fit"), &program);
    }
}

/// Every word of a format as c, where all products are zero: it comes back as d.
#[test]
fn all_words_of_declared_formats_as_c_and_d() {
    for format in [
        "exponent 4 bias -30 fraction 3",
        "exponent 4 bias -22 fraction 7",
        "exponent 5 bias 15 fraction 7",
        "exponent 4 bias 110 fraction 5",
        "exponent 8 bias 127 fraction 4",
    ] {
        let text = format!(
            "format own = sign 1 {format} specials ieee\narch chip\nx.{{shape}}\n\
             | f16 x f16 + own -> own | m1n1k2 | fused L=2 F=24 -> rne own | open\n"
        );
        let mut catalogue = Catalogue::empty();
        catalogue.extend("own", &text).expect(format);
        let row = catalogue.find("chip", "x.m1n1k2").expect("a row");
        let unit = row.unit().expect("a unit");
        let of = unit.signature();
        let [n, k] = [64, 4];
        let m = (1 << of.c.bits) / n;
        let matrix = |of: &Format, rows: usize, columns: usize, words: Vec<u64>| {
            let words = Words::of(of, words).expect("words");
            Matrix::row_major(rows, columns, words).expect("a matrix")
        };
        let a = matrix(&of.a, m, k, vec![0; m * k]);
        let b = matrix(&of.b, k, n, vec![0; k * n]);
        let c = matrix(&of.c, m, n, (0..1 << of.c.bits).collect());
        let matrices = Matrices::new(a, b).and_then(|both| both.with_c(c));
        at_every_level(unit, &matrices.expect("shapes fit"), format);
    }
}
