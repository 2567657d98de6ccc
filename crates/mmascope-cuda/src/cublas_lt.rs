//! cuBLASLt: one product of matrices of one size, by the way that the library itself proposes first.
#![allow(unsafe_code)] // calling foreign code

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use libloading::{Library, Symbol};

use crate::chip::failed;
use crate::{Error, Result, search};

/// The variable that names the library.
const VARIABLE: &str = "MMASCOPE_CUBLASLT";

type Handle = *mut c_void;
type Create = unsafe extern "C" fn(*mut Handle) -> c_int;
type Destroy = unsafe extern "C" fn(Handle) -> c_int;
type SetAttribute = unsafe extern "C" fn(Handle, c_int, *const c_void, usize) -> c_int;
type DescriptionCreate = unsafe extern "C" fn(*mut Handle, c_int, c_int) -> c_int;
type LayoutCreate = unsafe extern "C" fn(*mut Handle, c_int, u64, u64, i64) -> c_int;
type Heuristic = unsafe extern "C" fn(
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    c_int,
    *mut Proposal,
    *mut c_int,
) -> c_int;
type Matmul = unsafe extern "C" fn(
    Handle,
    Handle,
    *const c_void,
    *const c_void,
    Handle,
    *const c_void,
    Handle,
    *const c_void,
    *const c_void,
    Handle,
    *mut c_void,
    Handle,
    *const Proposal,
    *mut c_void,
    usize,
    *mut c_void,
) -> c_int;

/// `cublasLtMatmulHeuristicResult_t`; the algorithm stands first.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Proposal {
    algorithm: [u64; 8],
    workspace: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

/// What a product is of: `cudaDataType` of A, B and of C and D, `cublasComputeType_t`, `cudaDataType` of the factors, and
/// whether sums of fp8 may stay in the matrix unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) operands: [c_int; 2],
    pub(crate) sums: c_int,
    pub(crate) compute: c_int,
    pub(crate) factor: c_int,
    pub(crate) is_fast: bool,
}

/// A product of k × side by k × side matrices, columns one after the other, to side × side.
pub(crate) struct CublasLt {
    // Parts are ended in this order; each holds the library.
    /// Of A, B, and of C and D.
    layouts: [Part; 3],
    description: Part,
    handle: Part,
    library: Arc<Library>,
    proposal: Proposal,
}

/// An object of the library, and the function that ends it when it is dropped.
struct Part {
    handle: usize,
    destroy: &'static [u8],
    library: Arc<Library>,
}

impl Drop for Part {
    fn drop(&mut self) {
        // SAFETY: the type is that of cublasLt.h; the handle is one that the library gave, used for the last time.
        unsafe {
            if let Ok(destroy) = self.library.get::<Destroy>(self.destroy) {
                destroy(self.pointer());
            }
        }
    }
}

impl Part {
    fn pointer(&self) -> Handle {
        self.handle as Handle
    }
}

fn wrong(error: libloading::Error) -> Error {
    failed("cuBLASLt", error.to_string())
}

fn done(what: &str, status: c_int) -> Result<()> {
    match status {
        0 => Ok(()),
        15 => Err(failed(
            "cuBLASLt",
            format!(
                "{what}: not supported for these types and this n (products of fp8 need a multiple of 16)"
            ),
        )),
        _ => Err(failed("cuBLASLt", format!("{what}: status {status}"))),
    }
}

fn load() -> Result<Library> {
    let mut files = search::libraries(VARIABLE, "cublasLt", &["13", "12", "11"]).into_iter();
    // SAFETY: whoever names the file trusts it; cuBLASLt's own initialisers ask nothing of the caller.
    let found = files.find_map(|file| unsafe { Library::new(file) }.ok());
    found.ok_or_else(|| {
        failed(
            "cuBLASLt",
            format!(
                "none was found; it comes with cuBLAS; {VARIABLE} may name the file libcublasLt.so"
            ),
        )
    })
}

impl CublasLt {
    /// Asks the library for a way to compute products of that size. A context must be current.
    pub(crate) fn new(kind: Kind, side: usize, k: usize) -> Result<Self> {
        let library = Arc::new(load()?);
        let (side, k) = (side as u64, k as u64);
        // SAFETY: the types are those of cublasLt.h; every pointer is good for the call, and every handle is one that the
        // library gave and that is not ended before the last use.
        unsafe {
            let part = |handle: Handle, destroy: &'static [u8]| Part {
                handle: handle as usize,
                destroy,
                library: Arc::clone(&library),
            };
            let make = |name: &[u8], destroy: &'static [u8]| -> Result<Part> {
                let create: Symbol<'_, Create> = library.get(name).map_err(wrong)?;
                let mut handle: Handle = std::ptr::null_mut();
                let what = String::from_utf8_lossy(name);
                done(what.trim_end_matches('\0'), create(&raw mut handle))?;
                Ok(part(handle, destroy))
            };
            let handle = make(b"cublasLtCreate\0", b"cublasLtDestroy\0")?;
            let describe: Symbol<'_, DescriptionCreate> =
                library.get(b"cublasLtMatmulDescCreate\0").map_err(wrong)?;
            let mut made: Handle = std::ptr::null_mut();
            done(
                "cublasLtMatmulDescCreate",
                describe(&raw mut made, kind.compute, kind.factor),
            )?;
            let description = part(made, b"cublasLtMatmulDescDestroy\0");
            let set: Symbol<'_, SetAttribute> = library
                .get(b"cublasLtMatmulDescSetAttribute\0")
                .map_err(wrong)?;
            let transposed: c_int = 1;
            done(
                "cublasLtMatmulDescSetAttribute",
                set(description.pointer(), 3, (&raw const transposed).cast(), 4),
            )?;
            if kind.is_fast {
                let yes: i8 = 1;
                done(
                    "CUBLASLT_MATMUL_DESC_FAST_ACCUM",
                    set(description.pointer(), 25, (&raw const yes).cast(), 1),
                )?;
            }
            let layout = |of: c_int, rows: u64, columns: u64| -> Result<Part> {
                let create: Symbol<'_, LayoutCreate> = library
                    .get(b"cublasLtMatrixLayoutCreate\0")
                    .map_err(wrong)?;
                let mut handle: Handle = std::ptr::null_mut();
                done(
                    "cublasLtMatrixLayoutCreate",
                    create(&raw mut handle, of, rows, columns, rows as i64),
                )?;
                Ok(part(handle, b"cublasLtMatrixLayoutDestroy\0"))
            };
            let layouts = [
                layout(kind.operands[0], k, side)?,
                layout(kind.operands[1], k, side)?,
                layout(kind.sums, side, side)?,
            ];
            let preference = make(
                b"cublasLtMatmulPreferenceCreate\0",
                b"cublasLtMatmulPreferenceDestroy\0",
            )?;
            let heuristic: Symbol<'_, Heuristic> = library
                .get(b"cublasLtMatmulAlgoGetHeuristic\0")
                .map_err(wrong)?;
            let (mut proposal, mut count) = (Proposal::default(), 0);
            let [a, b, d] = &layouts;
            // No workspace is offered.
            let status = heuristic(
                handle.pointer(),
                description.pointer(),
                a.pointer(),
                b.pointer(),
                d.pointer(),
                d.pointer(),
                preference.pointer(),
                1,
                &raw mut proposal,
                &raw mut count,
            );
            done("cublasLtMatmulAlgoGetHeuristic", status)?;
            done(
                "cublasLtMatmulAlgoGetHeuristic",
                if count > 0 { proposal.state } else { 15 },
            )?;
            Ok(Self {
                layouts,
                description,
                handle,
                library,
                proposal,
            })
        }
    }

    /// d = aᵀ b + d, with memory of the device; the factors are `one`.
    pub(crate) fn multiply(
        &self,
        a: *const c_void,
        b: *const c_void,
        d: *mut c_void,
        one: &[u8],
    ) -> Result<()> {
        let one = one.as_ptr().cast::<c_void>();
        let [of_a, of_b, of_d] = &self.layouts;
        // SAFETY: the type is that of cublasLt.h; the matrices lie in memory of this device that has the sizes of the layouts;
        // the factors are in the format that was said; the way needs no workspace.
        let status = unsafe {
            let matmul: Symbol<'_, Matmul> =
                self.library.get(b"cublasLtMatmul\0").map_err(wrong)?;
            matmul(
                self.handle.pointer(),
                self.description.pointer(),
                one,
                a,
                of_a.pointer(),
                b,
                of_b.pointer(),
                one,
                d,
                of_d.pointer(),
                d,
                of_d.pointer(),
                &raw const self.proposal,
                std::ptr::null_mut(),
                0,
                std::ptr::null_mut(),
            )
        };
        done("cublasLtMatmul", status)
    }
}
