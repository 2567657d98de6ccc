//! Products of cuBLAS as devices: dot products on the diagonal of one product of matrices, so that `reveal` finds in which order
//! the library sums. The library is loaded at run time.
#![allow(unsafe_code)] // calling foreign code

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr};
use libloading::{Library, Symbol};
use mmascope_io::vector::Answer;
use mmascope_lab::dut::{Batch, Dut};
use mmascope_model::dpa::Signature;
use mmascope_model::format::{self, Format};

use crate::chip::failed;
use crate::gpu::{driver, driver_and_count};
use crate::search;
use crate::{Error, Result};

/// The variable that names the library.
pub const VARIABLE: &str = "MMASCOPE_CUBLAS";

/// Rows and columns of the product in which queries stand on the diagonal.
const SIDE: usize = 64;

/// A kind of product: its name, formats of operands and of sums, and the numbers that the library has for them.
struct Routine {
    name: &'static str,
    operand: Format,
    sum: Format,
    /// `cudaDataType` of operands and of sums.
    types: [c_int; 2],
    /// `cublasComputeType_t`.
    compute: c_int,
    /// 1 in the format in which the library computes, as bytes.
    one: &'static [u8],
}

const ONE_F32: &[u8] = &0x3f80_0000_u32.to_le_bytes();

const ROUTINES: [Routine; 6] = [
    Routine {
        name: "sgemm",
        operand: format::F32,
        sum: format::F32,
        types: [0, 0],
        compute: 68,
        one: ONE_F32,
    },
    Routine {
        name: "dgemm",
        operand: format::F64,
        sum: format::F64,
        types: [1, 1],
        compute: 70,
        one: &0x3ff0_0000_0000_0000_u64.to_le_bytes(),
    },
    Routine {
        name: "hgemm",
        operand: format::F16,
        sum: format::F16,
        types: [2, 2],
        compute: 64,
        one: &0x3c00_u16.to_le_bytes(),
    },
    Routine {
        name: "f16-f32",
        operand: format::F16,
        sum: format::F32,
        types: [2, 0],
        compute: 68,
        one: ONE_F32,
    },
    Routine {
        name: "bf16-f32",
        operand: format::BF16,
        sum: format::F32,
        types: [14, 0],
        compute: 68,
        one: ONE_F32,
    },
    Routine {
        name: "tf32",
        operand: format::F32,
        sum: format::F32,
        types: [0, 0],
        compute: 77,
        one: ONE_F32,
    },
];

/// The names of the products: `sgemm`, `dgemm`, `hgemm`, `f16-f32`, `bf16-f32`, `tf32`.
pub fn routines() -> impl Iterator<Item = &'static str> {
    ROUTINES.iter().map(|routine| routine.name)
}

type Handle = *mut c_void;
type GemmEx = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_void,
    *const c_void,
    c_int,
    c_int,
    *const c_void,
    c_int,
    c_int,
    *const c_void,
    *mut c_void,
    c_int,
    c_int,
    c_int,
    c_int,
) -> c_int;

/// A product of cuBLAS with so many k.
pub struct CublasDut {
    name: String,
    routine: &'static Routine,
    signature: Signature,
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    a: CudaSlice<u8>,
    b: CudaSlice<u8>,
    c: CudaSlice<u8>,
    library: Library,
    handle: usize,
    side: usize,
}

impl CublasDut {
    /// Opens a product of cuBLAS on a GPU.
    ///
    /// # Errors
    /// [`Error::Unknown`] for a name that none has; [`Error::Device`] that says what is missing.
    pub fn new(ordinal: usize, name: &str, n: usize) -> Result<Self> {
        Self::with_side(ordinal, name, n, SIDE)
    }

    /// The same with so many rows and columns.
    fn with_side(ordinal: usize, name: &str, n: usize, side: usize) -> Result<Self> {
        let routine = ROUTINES.iter().find(|routine| routine.name == name);
        let routine = routine.ok_or_else(|| Error::unknown("cuBLAS product", name, routines()))?;
        if n == 0 || n > 1 << 24 {
            return Err(Error::Argument(format!(
                "n = {n}: 1 to {} products are possible",
                1 << 24
            )));
        }
        let device = format!("cuda:{ordinal}:cublas:{name}");
        let (_, count) = driver_and_count()?;
        if ordinal >= count {
            return Err(failed(
                &device,
                format!("the driver has {count} GPUs, numbered from 0"),
            ));
        }
        let library = load()?;
        let context = CudaContext::new(ordinal).map_err(driver(&device))?;
        let stream = context.default_stream();
        let size = |format: &Format| side * n * (format.bits as usize / 8);
        let make = |bytes: usize| stream.alloc_zeros::<u8>(bytes).map_err(driver(&device));
        let (a, b) = (make(size(&routine.operand))?, make(size(&routine.operand))?);
        let c = make(side * side * (routine.sum.bits as usize / 8))?;
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: the type is that of cublas_api.h, and the pointer is good; a context is current.
        let status = unsafe {
            let create: Symbol<'_, unsafe extern "C" fn(*mut Handle) -> c_int> =
                library.get(b"cublasCreate_v2\0").map_err(wrong)?;
            create(&raw mut handle)
        };
        if status != 0 {
            return Err(failed(&device, format!("cublasCreate: status {status}")));
        }
        Ok(Self {
            name: device,
            routine,
            signature: Signature {
                a: routine.operand,
                b: routine.operand,
                c: routine.sum,
                d: routine.sum,
                k: n,
                scale: None,
            },
            context,
            stream,
            a,
            b,
            c,
            library,
            handle: handle as usize,
            side,
        })
    }

    /// The product of what lies on the GPU.
    fn multiply(&self) -> Result<()> {
        let pointer = |memory: &CudaSlice<u8>| memory.device_ptr(&self.stream).0 as *mut c_void;
        let (side, length) = (self.side as c_int, self.signature.k as c_int);
        let [of_a, of_c] = self.routine.types;
        let one = self.routine.one.as_ptr().cast::<c_void>();
        // SAFETY: the type is that of cublas_api.h; the matrices lie in memory of this device that has their sizes, columns one
        // after the other; the factors are in the format in which the library computes.
        let status = unsafe {
            let gemm: Symbol<'_, GemmEx> = self.library.get(b"cublasGemmEx\0").map_err(wrong)?;
            gemm(
                self.handle as Handle,
                1,
                0,
                side,
                side,
                length,
                one,
                pointer(&self.a),
                of_a,
                length,
                pointer(&self.b),
                of_a,
                length,
                one,
                pointer(&self.c),
                of_c,
                side,
                self.routine.compute,
                -1,
            )
        };
        if status != 0 {
            return Err(failed(&self.name, format!("cublasGemmEx: status {status}")));
        }
        Ok(())
    }

    /// One product with at most [`SIDE`] queries.
    fn product(&mut self, batch: &Batch, first: usize, count: usize) -> Result<Vec<Answer>> {
        let device = self.name.clone();
        self.context.bind_to_thread().map_err(driver(&device))?;
        let (of_operand, of_sum) = (
            self.routine.operand.bits as usize / 8,
            self.routine.sum.bits as usize / 8,
        );
        let bytes = |words: &[u64], size: usize| -> Vec<u8> {
            words
                .iter()
                .flat_map(|word| word.to_le_bytes()[..size].to_vec())
                .collect()
        };
        // Rows and columns that no query has repeat the last one.
        let query = |place: usize| batch.query(first + place.min(count - 1));
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for place in 0..SIDE {
            a.extend(bytes(query(place).a, of_operand));
            b.extend(bytes(query(place).b, of_operand));
        }
        let sums: Vec<u64> = (0..SIDE * SIDE).map(|at| query(at % SIDE).c).collect();
        self.stream
            .memcpy_htod(&a, &mut self.a)
            .map_err(driver(&device))?;
        self.stream
            .memcpy_htod(&b, &mut self.b)
            .map_err(driver(&device))?;
        self.stream
            .memcpy_htod(&bytes(&sums, of_sum), &mut self.c)
            .map_err(driver(&device))?;
        self.multiply()?;
        let mut d = vec![0_u8; SIDE * SIDE * of_sum];
        self.stream
            .memcpy_dtoh(&self.c, &mut d)
            .map_err(driver(&device))?;
        self.stream.synchronize().map_err(driver(&device))?;
        let word = |place: usize| {
            let mut word = [0; 8];
            word[..of_sum].copy_from_slice(&d[place * (SIDE + 1) * of_sum..][..of_sum]);
            Answer::Word(u64::from_le_bytes(word))
        };
        Ok((0..count).map(word).collect())
    }
}

impl Drop for CublasDut {
    fn drop(&mut self) {
        // SAFETY: the type is that of cublas_api.h; the handle is the one that cublasCreate gave, used for the last time.
        unsafe {
            let destroy = self
                .library
                .get::<unsafe extern "C" fn(Handle) -> c_int>(b"cublasDestroy_v2\0");
            if let Ok(destroy) = destroy {
                destroy(self.handle as Handle);
            }
        }
    }
}

impl Dut for CublasDut {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>> {
        batch.check(&self.signature)?;
        let mut answers = Vec::with_capacity(batch.len());
        while answers.len() < batch.len() {
            let count = SIDE.min(batch.len() - answers.len());
            answers.extend(self.product(batch, answers.len(), count)?);
        }
        Ok(answers)
    }
}

fn wrong(error: libloading::Error) -> Error {
    failed("cuBLAS", error.to_string())
}

fn load() -> Result<Library> {
    let mut files = search::libraries(VARIABLE, "cublas", &["13", "12", "11"]).into_iter();
    // SAFETY: whoever names the file trusts it; cuBLAS's own initialisers ask nothing of the caller.
    let found = files.find_map(|file| unsafe { Library::new(file) }.ok());
    found.ok_or_else(|| {
        failed(
            "cuBLAS",
            format!(
                "none was found; it comes with CUDA, with PyTorch or with `pip install nvidia-cublas-cu12`; {VARIABLE} may name \
                 the file libcublas.so"
            ),
        )
    })
}

/// Seconds of a product of that many rows, columns and k, of zeros: the least of some.
///
/// # Errors
/// As [`CublasDut::new`].
pub fn seconds(ordinal: usize, name: &str, side: usize) -> Result<f64> {
    let dut = CublasDut::with_side(ordinal, name, side, side)?;
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let begun = Instant::now();
        dut.multiply()?;
        dut.stream.synchronize().map_err(driver(&dut.name))?;
        least = least.min(begun.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// The file of the library that would be loaded, for people; `None` where there is none.
#[must_use]
pub fn found() -> Option<String> {
    load().ok().map(|_| "found".to_owned())
}
