//! The routines of BLAS: their names, their types in C, and one way to call them all.
#![allow(unsafe_code)] // calling foreign code

use std::ffi::{c_char, c_int, c_void};

use crate::memory::Plain;

use super::super::Element;
use crate::error::{Error, Result};
use crate::format::{BF16, F16, F32, F64, Format, Overflow, Rounding};

/// A routine of BLAS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Routine {
    /// Dot product.
    Dot,
    /// Matrix times vector.
    Gemv,
    /// Matrix times matrix.
    Gemm,
}

/// Number types of BLAS.
pub(in crate::reveal) trait Scalar: Element + Plain {}
impl Scalar for f32 {}
impl Scalar for f64 {}

/// What the name of a routine says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    pub(super) routine: Routine,
    /// Type of operands.
    pub(super) operands: Format,
    /// Type of results.
    pub(super) format: Format,
    /// CBLAS; otherwise Fortran.
    pub(super) cblas: bool,
    /// Whether integers have 64 bits (ILP64).
    pub(super) is_wide: bool,
}

/// Matrix products of 16-bit operands: what OpenBLAS and MKL call them, the types of operands and of results.
const NARROW: [(&str, Format, Format); 5] = [
    ("sbgemm", BF16, F32),
    ("shgemm", F16, F32),
    ("hgemm", F16, F16),
    ("gemm_bf16bf16f32", BF16, F32),
    ("gemm_f16f16f32", F16, F32),
];

/// What a symbol ends with to say that its integers have 64 bits where its name does not.
const WIDE: &str = "@ilp64";

/// The symbol as the library has it.
pub(super) fn exported(symbol: &str) -> &str {
    symbol.strip_suffix(WIDE).unwrap_or(symbol)
}

/// Names that libraries give the routine of a symbol: with the prefixes and suffixes of CBLAS, SciPy and ILP64.
pub(super) fn spellings(symbol: &str) -> Vec<String> {
    const STEMS: [&str; 6] = ["sdot", "ddot", "sgemv", "dgemv", "sgemm", "dgemm"];
    let narrow = NARROW.iter().map(|(name, ..)| *name);
    // `hgemm` is a part of `shgemm`, which stands before it.
    let Some(stem) = narrow.chain(STEMS).find(|stem| symbol.contains(stem)) else {
        return Vec::new();
    };
    let prefixes = ["", "cblas_", "scipy_", "scipy_cblas_"].into_iter();
    let suffixes = ["", "_", "64_", "_64_", "_64", "64"];
    prefixes
        .flat_map(|prefix| suffixes.map(|suffix| format!("{prefix}{stem}{suffix}")))
        .filter(|name| Symbol::parse(name).is_some())
        .collect()
}

impl Symbol {
    /// `sdot`, `sdot_` and `cblas_sdot`, and so on, with a prefix that ends with `_` (`scipy_cblas_sdot`)
    /// and a suffix of ILP64 (`sdot64_`, `sdot_64_`, `sdot_64`); `None` for every other name.
    fn parse(name: &str) -> Option<Self> {
        let (is_said, name) = (name.ends_with(WIDE), exported(name));
        let suffixes = [
            ("_64_", true),
            ("64_", true),
            ("_64", true),
            ("64", true),
            ("_", false),
            ("", false),
        ];
        let stems = suffixes
            .into_iter()
            .filter_map(|(suffix, is_wide)| Some((name.strip_suffix(suffix)?, suffix, is_wide)));
        for (stem, suffix, is_wide) in stems {
            let narrow = NARROW.into_iter().find_map(|(name, operands, format)| {
                let prefix = stem.strip_suffix(name)?;
                (prefix.is_empty() || prefix.ends_with('_')).then_some((prefix, operands, format))
            });
            if let Some((prefix, operands, format)) = narrow {
                let cblas = prefix.ends_with("cblas_");
                if cblas && suffix == "_" {
                    continue;
                }
                return Some(Self {
                    routine: Routine::Gemm,
                    operands,
                    format,
                    cblas,
                    is_wide: is_wide || is_said,
                });
            }
            let (prefix, routine) = match stem.rfind('_') {
                Some(at) => stem.split_at(at + 1),
                None => ("", stem),
            };
            let cblas = prefix.ends_with("cblas_");
            // CBLAS has no underscore of Fortran.
            if cblas && suffix == "_" {
                continue;
            }
            let (format, routine) = match routine.strip_prefix('s') {
                Some(rest) => (F32, rest),
                None => match routine.strip_prefix('d') {
                    Some(rest) => (F64, rest),
                    None => continue,
                },
            };
            let routine = match routine {
                "dot" => Routine::Dot,
                "gemv" => Routine::Gemv,
                "gemm" => Routine::Gemm,
                _ => continue,
            };
            return Some(Self {
                routine,
                operands: format,
                format,
                cblas,
                is_wide: is_wide || is_said,
            });
        }
        None
    }

    /// The routine of `subject` (`lib:PATH:SYMBOL`) called `name`, for results of `n` products.
    pub(super) fn checked(subject: &str, name: &str, n: usize) -> Result<Self> {
        let Some(symbol) = Self::parse(name) else {
            return Err(Error::Argument(format!(
                "{subject}: expected sdot ddot sgemv dgemv sgemm dgemm, as cblas_sdot, sdot_ or scipy_cblas_sdot64_, or a product \
                 of 16-bit operands: sbgemm shgemm hgemm gemm_bf16bf16f32 gemm_f16f16f32"
            )));
        };
        if n == 0 || n >= 1 << 24 {
            return Err(Error::Argument(format!(
                "{subject}: -n {n}: 1 to 16777215 are supported"
            )));
        }
        Ok(symbol)
    }
}

/// The type that C gives each routine.
#[derive(Clone, Copy)]
enum Function<T, I> {
    CblasDot(unsafe extern "C" fn(I, *const T, I, *const T, I) -> T),
    FortranDot(unsafe extern "C" fn(*const I, *const T, *const I, *const T, *const I) -> T),
    #[rustfmt::skip]
    CblasGemv(unsafe extern "C" fn(
        c_int, c_int, I, I, T, *const T, I, *const T, I, T, *mut T, I,
    )),
    #[rustfmt::skip]
    FortranGemv(unsafe extern "C" fn(
        *const c_char, *const I, *const I, *const T, *const T, *const I, *const T,
        *const I, *const T, *mut T, *const I,
    )),
    #[rustfmt::skip]
    CblasGemm(unsafe extern "C" fn(
        c_int, c_int, c_int, I, I, I, T, *const T, I, *const T, I, T, *mut T, I,
    )),
    #[rustfmt::skip]
    FortranGemm(unsafe extern "C" fn(
        *const c_char, *const c_char, *const I, *const I, *const I, *const T, *const T,
        *const I, *const T, *const I, *const T, *mut T, *const I,
    )),
}

impl<T, I> Function<T, I> {
    /// # Safety
    /// `address` must be that of the routine that BLAS knows by this symbol, for numbers of type T
    /// and integers of type I.
    #[expect(
        clippy::missing_transmute_annotations,
        reason = "each variant states its type above"
    )]
    unsafe fn at(address: *const c_void, symbol: &Symbol) -> Self {
        use std::mem::transmute as of;
        // SAFETY: the caller promises the routine; these are the types that BLAS states for it, and
        // pointers to functions are as wide as other pointers.
        unsafe {
            match (symbol.routine, symbol.cblas) {
                (Routine::Dot, true) => Self::CblasDot(of(address)),
                (Routine::Dot, false) => Self::FortranDot(of(address)),
                (Routine::Gemv, true) => Self::CblasGemv(of(address)),
                (Routine::Gemv, false) => Self::FortranGemv(of(address)),
                (Routine::Gemm, true) => Self::CblasGemm(of(address)),
                (Routine::Gemm, false) => Self::FortranGemm(of(address)),
            }
        }
    }
}

/// The type that C gives a product of 16-bit operands, with alpha, beta and results of type R.
#[derive(Clone, Copy)]
enum Narrow<R, I> {
    #[rustfmt::skip]
    Cblas(unsafe extern "C" fn(
        c_int, c_int, c_int, I, I, I, R, *const u16, I, *const u16, I, R, *mut R, I,
    )),
    #[rustfmt::skip]
    Fortran(unsafe extern "C" fn(
        *const c_char, *const c_char, *const I, *const I, *const I, *const R, *const u16,
        *const I, *const u16, *const I, *const R, *mut R, *const I,
    )),
}

/// Integers of BLAS.
trait Integer: Copy {
    /// A length: at most 2^24.
    fn of(length: usize) -> Self;
}
impl Integer for c_int {
    fn of(length: usize) -> Self {
        length as Self
    }
}
impl Integer for i64 {
    fn of(length: usize) -> Self {
        length as Self
    }
}

const ROW_MAJOR: c_int = 101;
const NO_TRANSPOSE: c_int = 111;

/// Multiplies `a` (m × n, row by row) by `b` (n × w, row by row), giving m × w results row by row.
/// A dot product has m = w = 1, a matrix times a vector w = 1.
///
/// # Safety
/// `address` must be that of the routine that BLAS knows by this symbol, T its number type.
pub(super) unsafe fn multiply<T: Scalar>(
    address: *const c_void,
    symbol: &Symbol,
    shape: (usize, usize, usize),
    a: &[T],
    b: &[T],
) -> Vec<T> {
    if symbol.operands.bits == 16 {
        let (a, b) = (words(symbol.operands, a), words(symbol.operands, b));
        let one = word(F16, 1.0_f32);
        let wide = |results: Vec<f32>| {
            let numbers = results.into_iter().map(f64::from);
            numbers.map(T::from_f64).collect()
        };
        // SAFETY: the caller's promise; the symbol says which integers and which results the routine has. Routines
        // with f32 results take alpha and beta in f32, `hgemm` in f16.
        return unsafe {
            match (symbol.format == F16, symbol.is_wide) {
                (true, true) => numbers(&multiply_narrow::<u16, i64>(
                    address, symbol, shape, &a, &b, one,
                )),
                (true, false) => numbers(&multiply_narrow::<u16, c_int>(
                    address, symbol, shape, &a, &b, one,
                )),
                (false, true) => wide(multiply_narrow::<f32, i64>(
                    address, symbol, shape, &a, &b, 1.0,
                )),
                (false, false) => wide(multiply_narrow::<f32, c_int>(
                    address, symbol, shape, &a, &b, 1.0,
                )),
            }
        };
    }
    // SAFETY: the caller's promise; the symbol says which integers the routine takes.
    unsafe {
        match symbol.is_wide {
            true => multiply_with::<T, i64>(address, symbol, shape, a, b),
            false => multiply_with::<T, c_int>(address, symbol, shape, a, b),
        }
    }
}

/// The code of a number in a format of 16 bits.
fn word<T: Scalar>(format: Format, number: T) -> u16 {
    let exact = F64.decode(number.to_f64().to_bits()).exact();
    // Masks, units and random numbers are numbers of the format; the rounding changes none.
    exact.map_or(0, |exact| {
        format.round(&exact, Rounding::Rne, Overflow::Ieee) as u16
    })
}

/// The codes of numbers. Most are like the one before: units, zeros, and a column's number in all columns.
fn words<T: Scalar>(format: Format, numbers: &[T]) -> Vec<u16> {
    let mut last = (0_u64, 0_u16);
    let code = |number: &T| {
        let bits = number.to_f64().to_bits();
        if bits != last.0 {
            last = (bits, word(format, *number));
        }
        last.1
    };
    numbers.iter().map(code).collect()
}

/// Numbers of codes of f16.
fn numbers<T: Scalar>(codes: &[u16]) -> Vec<T> {
    let number = |code: &u16| match F16.decode(u64::from(*code)).exact() {
        Some(exact) => f64::from_bits(F64.round(&exact, Rounding::Rne, Overflow::Ieee)),
        None => f64::NAN,
    };
    codes.iter().map(|code| T::from_f64(number(code))).collect()
}

/// A product of 16-bit operands.
///
/// # Safety
/// As [`multiply`]; R is the routine's type of alpha, beta and results, I its integer type.
#[rustfmt::skip] // one line a call
#[expect(
    clippy::missing_transmute_annotations,
    reason = "each variant states its type above"
)]
unsafe fn multiply_narrow<R: Copy + Default, I: Integer>(
    address: *const c_void,
    symbol: &Symbol,
    (m, n, w): (usize, usize, usize),
    a: &[u16],
    b: &[u16],
    one: R,
) -> Vec<R> {
    assert!(
        a.len() == m * n && b.len() == n * w,
        "the shapes of A and B"
    );
    let (zero, no) = (R::default(), b'N' as c_char);
    let mut results = vec![zero; m * w];
    let (m, n, w) = (I::of(m), I::of(n), I::of(w));
    let (a, b, d) = (a.as_ptr(), b.as_ptr(), results.as_mut_ptr());
    // SAFETY: the function has its type by the caller's promise, and pointers to functions are as wide as other
    // pointers. The three arrays have the lengths that the dimensions state, checked above; D overlaps neither A nor
    // B; all outlive the call.
    unsafe {
        let function = match symbol.cblas {
            true => Narrow::<R, I>::Cblas(std::mem::transmute(address)),
            false => Narrow::<R, I>::Fortran(std::mem::transmute(address)),
        };
        match function {
            Narrow::Cblas(gemm) => gemm(
                ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, w, n, one, a, n, b, w, zero, d, w,
            ),
            // By columns the same numbers are transposed, and Dᵀ = Bᵀ·Aᵀ.
            Narrow::Fortran(gemm) => gemm(&no, &no, &w, &m, &n, &one, b, &w, a, &n, &zero, d, &w),
        }
    }
    results
}

/// The same with integers of type I.
///
/// # Safety
/// As [`multiply`]; I is the routine's integer type.
#[rustfmt::skip] // one line a call
unsafe fn multiply_with<T: Scalar, I: Integer>(
    address: *const c_void,
    symbol: &Symbol,
    (m, n, w): (usize, usize, usize),
    a: &[T],
    b: &[T],
) -> Vec<T> {
    assert!(
        a.len() == m * n && b.len() == n * w,
        "the shapes of A and B"
    );
    assert!(w == 1 || symbol.routine == Routine::Gemm, "B is a vector");
    assert!(m == 1 || symbol.routine != Routine::Dot, "A is a vector");
    let (one, zero) = (T::from_f64(1.0), T::from_f64(0.0));
    let (unit, no, yes) = (I::of(1), b'N' as c_char, b'T' as c_char);
    let mut results = vec![zero; m * w];
    let (m, n, w) = (I::of(m), I::of(n), I::of(w));
    let (a, b, d) = (a.as_ptr(), b.as_ptr(), results.as_mut_ptr());
    // SAFETY: the function has its type by the caller's promise. The three arrays have the lengths
    // that the dimensions state, checked above; D overlaps neither A nor B; all outlive the call.
    unsafe {
        match Function::<T, I>::at(address, symbol) {
            Function::CblasDot(dot) => *d = dot(n, a, unit, b, unit),
            Function::FortranDot(dot) => *d = dot(&n, a, &unit, b, &unit),
            Function::CblasGemv(gemv) => {
                gemv(ROW_MAJOR, NO_TRANSPOSE, m, n, one, a, n, b, unit, zero, d, unit);
            }
            // By columns the same numbers are n × m: transposed.
            Function::FortranGemv(gemv) => {
                gemv(&yes, &n, &m, &one, a, &n, b, &unit, &zero, d, &unit);
            }
            Function::CblasGemm(gemm) => gemm(
                ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, w, n, one, a, n, b, w, zero, d, w,
            ),
            // By columns the same numbers are transposed, and Dᵀ = Bᵀ·Aᵀ.
            Function::FortranGemm(gemm) => {
                gemm(&no, &no, &w, &m, &n, &one, b, &w, a, &n, &zero, d, &w);
            }
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::{Routine, Symbol};

    #[test]
    fn names_of_libraries_are_read() {
        // (name, routine, cblas, 64-bit integers)
        let known = [
            ("sdot", Routine::Dot, false, false),
            ("ddot_", Routine::Dot, false, false),
            ("cblas_sgemm", Routine::Gemm, true, false),
            ("scipy_cblas_sdot64_", Routine::Dot, true, true),
            ("scipy_sgemm_64_", Routine::Gemm, false, true),
            ("cblas_dgemv_64", Routine::Gemv, true, true),
            ("my_own_sgemv64", Routine::Gemv, false, true),
            ("scipy_cblas_sdot", Routine::Dot, true, false),
            ("cblas_sdot@ilp64", Routine::Dot, true, true),
            ("cblas_gemm_bf16bf16f32", Routine::Gemm, true, false),
            ("gemm_f16f16f32_", Routine::Gemm, false, false),
            ("cblas_hgemm_64", Routine::Gemm, true, true),
            ("scipy_cblas_sbgemm64_", Routine::Gemm, true, true),
        ];
        for (name, routine, cblas, is_wide) in known {
            let symbol = Symbol::parse(name).expect(name);
            let found = (symbol.routine, symbol.cblas, symbol.is_wide);
            assert_eq!(found, (routine, cblas, is_wide), "{name}");
        }
        for name in [
            "",
            "dot",
            "sdott",
            "cblas_sdot_",
            "sdot32_",
            "cdot",
            "cblas_sdot@lp64",
            "cblas_gemm_bf16bf16f32_compute",
            "xhgemm",
            "scipy",
        ] {
            assert_eq!(Symbol::parse(name), None, "{name}");
        }
    }
}
