//! The routines of BLAS: their names, their types in C, and one way to call them all.
#![allow(unsafe_code)] // calling foreign code

use std::ffi::{c_char, c_int, c_void};

use crate::memory::Plain;

use super::super::Element;
use crate::error::{Error, Result};
use crate::format::{F32, F64, Format};

/// A routine of BLAS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Type of operands and results: f32 or f64.
    pub(super) format: Format,
    /// CBLAS; otherwise Fortran.
    pub(super) cblas: bool,
}

impl Symbol {
    /// `sdot`, `sdot_` and `cblas_sdot`, and so on; `None` for every other name.
    fn parse(name: &str) -> Option<Self> {
        let (cblas, rest) = match name.strip_prefix("cblas_") {
            Some(rest) => (true, rest),
            None => (false, name.strip_suffix('_').unwrap_or(name)),
        };
        let (format, rest) = match rest.strip_prefix('s') {
            Some(rest) => (F32, rest),
            None => (F64, rest.strip_prefix('d')?),
        };
        let routine = match rest {
            "dot" => Routine::Dot,
            "gemv" => Routine::Gemv,
            "gemm" => Routine::Gemm,
            _ => return None,
        };
        Some(Self {
            routine,
            format,
            cblas,
        })
    }

    /// The routine of `subject` (`lib:PATH:SYMBOL`) called `name`, for results of `n` products.
    pub(super) fn checked(subject: &str, name: &str, n: usize) -> Result<Self> {
        let Some(symbol) = Self::parse(name) else {
            return Err(Error::Argument(format!(
                "{subject}: expected sdot ddot sgemv dgemv sgemm dgemm, as cblas_sdot or sdot_"
            )));
        };
        if n == 0 || n > 1 << 24 {
            return Err(Error::Argument(format!(
                "{subject}: -n {n}: 1 to 16777216 are supported"
            )));
        }
        Ok(symbol)
    }
}

/// The type that C gives each routine.
#[derive(Clone, Copy)]
enum Function<T> {
    CblasDot(unsafe extern "C" fn(c_int, *const T, c_int, *const T, c_int) -> T),
    FortranDot(
        unsafe extern "C" fn(*const c_int, *const T, *const c_int, *const T, *const c_int) -> T,
    ),
    #[rustfmt::skip]
    CblasGemv(unsafe extern "C" fn(
        c_int, c_int, c_int, c_int, T, *const T, c_int, *const T, c_int, T, *mut T, c_int,
    )),
    #[rustfmt::skip]
    FortranGemv(unsafe extern "C" fn(
        *const c_char, *const c_int, *const c_int, *const T, *const T, *const c_int, *const T,
        *const c_int, *const T, *mut T, *const c_int,
    )),
    #[rustfmt::skip]
    CblasGemm(unsafe extern "C" fn(
        c_int, c_int, c_int, c_int, c_int, c_int, T, *const T, c_int, *const T, c_int, T, *mut T,
        c_int,
    )),
    #[rustfmt::skip]
    FortranGemm(unsafe extern "C" fn(
        *const c_char, *const c_char, *const c_int, *const c_int, *const c_int, *const T, *const T,
        *const c_int, *const T, *const c_int, *const T, *mut T, *const c_int,
    )),
}

impl<T> Function<T> {
    /// # Safety
    /// `address` must be that of the routine that BLAS knows by this symbol, for numbers of type T.
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

const ROW_MAJOR: c_int = 101;
const NO_TRANSPOSE: c_int = 111;

/// Multiplies `a` (m × n, row by row) by `b` (n × w, row by row), giving m × w results row by row.
/// A dot product has m = w = 1, a matrix times a vector w = 1.
///
/// # Safety
/// `address` must be that of the routine that BLAS knows by this symbol, T its number type.
#[rustfmt::skip] // one line a call
pub(super) unsafe fn multiply<T: Scalar>(
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
    let (unit, no, yes) = (1 as c_int, b'N' as c_char, b'T' as c_char);
    let mut results = vec![zero; m * w];
    let (m, n, w) = (m as c_int, n as c_int, w as c_int);
    let (a, b, d) = (a.as_ptr(), b.as_ptr(), results.as_mut_ptr());
    // SAFETY: the function has its type by the caller's promise. The three arrays have the lengths
    // that the dimensions state, checked above; D overlaps neither A nor B; all outlive the call.
    unsafe {
        match Function::<T>::at(address, symbol) {
            Function::CblasDot(dot) => *d = dot(n, a, 1, b, 1),
            Function::FortranDot(dot) => *d = dot(&n, a, &unit, b, &unit),
            Function::CblasGemv(gemv) => {
                gemv(ROW_MAJOR, NO_TRANSPOSE, m, n, one, a, n, b, 1, zero, d, 1);
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
