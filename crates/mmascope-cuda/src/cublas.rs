//! Products of cuBLAS and cuBLASLt as devices: dot products on the diagonal of one product of matrices, so that `reveal` finds in which order
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
use crate::cublas_lt::{CublasLt, Kind};
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
    /// Formats of A and B.
    operands: [Format; 2],
    sum: Format,
    /// `cudaDataType` of A, B and of sums.
    types: [c_int; 3],
    /// `cublasComputeType_t`.
    compute: c_int,
    /// 1 in the format in which the library computes, as bytes.
    one: &'static [u8],
    /// Whether cuBLASLt alone has it, and whether sums may stay in the matrix unit.
    lt_only: bool,
    is_fast: bool,
}

const ONE_F32: &[u8] = &0x3f80_0000_u32.to_le_bytes();

const ROUTINES: [Routine; 10] = [
    Routine {
        name: "sgemm",
        operands: [format::F32; 2],
        sum: format::F32,
        types: [0, 0, 0],
        compute: 68,
        one: ONE_F32,
        lt_only: false,
        is_fast: false,
    },
    Routine {
        name: "dgemm",
        operands: [format::F64; 2],
        sum: format::F64,
        types: [1, 1, 1],
        compute: 70,
        one: &0x3ff0_0000_0000_0000_u64.to_le_bytes(),
        lt_only: false,
        is_fast: false,
    },
    Routine {
        name: "hgemm",
        operands: [format::F16; 2],
        sum: format::F16,
        types: [2, 2, 2],
        compute: 64,
        one: &0x3c00_u16.to_le_bytes(),
        lt_only: false,
        is_fast: false,
    },
    Routine {
        name: "f16-f32",
        operands: [format::F16; 2],
        sum: format::F32,
        types: [2, 2, 0],
        compute: 68,
        one: ONE_F32,
        lt_only: false,
        is_fast: false,
    },
    Routine {
        name: "bf16-f32",
        operands: [format::BF16; 2],
        sum: format::F32,
        types: [14, 14, 0],
        compute: 68,
        one: ONE_F32,
        lt_only: false,
        is_fast: false,
    },
    Routine {
        name: "tf32",
        // The library's conversion of other operands is no part of the sum.
        operands: [format::TF32; 2],
        sum: format::F32,
        types: [0, 0, 0],
        compute: 77,
        one: ONE_F32,
        lt_only: false,
        is_fast: false,
    },
    Routine {
        name: "e4m3-f32",
        operands: [format::E4M3FN, format::E4M3FN],
        sum: format::F32,
        types: [28, 28, 0],
        compute: 68,
        one: ONE_F32,
        lt_only: true,
        is_fast: false,
    },
    Routine {
        name: "e4m3-e5m2-f32",
        operands: [format::E4M3FN, format::E5M2],
        sum: format::F32,
        types: [28, 29, 0],
        compute: 68,
        one: ONE_F32,
        lt_only: true,
        is_fast: false,
    },
    Routine {
        name: "e5m2-e4m3-f32",
        operands: [format::E5M2, format::E4M3FN],
        sum: format::F32,
        types: [29, 28, 0],
        compute: 68,
        one: ONE_F32,
        lt_only: true,
        is_fast: false,
    },
    Routine {
        name: "e4m3-f32-fast",
        operands: [format::E4M3FN, format::E4M3FN],
        sum: format::F32,
        types: [28, 28, 0],
        compute: 68,
        one: ONE_F32,
        lt_only: true,
        is_fast: true,
    },
];

/// The names of the products of a library: `sgemm`, `dgemm`, `hgemm`, `f16-f32`, `bf16-f32`, `tf32`, and those of fp8 that
/// cuBLASLt has.
pub fn routines(which: Which) -> impl Iterator<Item = &'static str> {
    let all = ROUTINES.iter();
    let own = all.filter(move |routine| which == Which::CublasLt || !routine.lt_only);
    own.map(|routine| routine.name)
}

/// Which library multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// cuBLAS (`cublasGemmEx`).
    Cublas,
    /// cuBLASLt (`cublasLtMatmul`), by the way that it proposes first.
    CublasLt,
}

/// The library, open.
enum Opened {
    Cublas { library: Library, handle: usize },
    CublasLt(Box<CublasLt>),
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
    // Ended first: its library wants the context.
    opened: Opened,
    name: String,
    routine: &'static Routine,
    signature: Signature,
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    a: CudaSlice<u8>,
    b: CudaSlice<u8>,
    c: CudaSlice<u8>,
    side: usize,
}

impl CublasDut {
    /// Opens a product of cuBLAS on a GPU.
    ///
    /// # Errors
    /// [`Error::Unknown`] for a name that none has; [`Error::Device`] that says what is missing.
    pub fn new(which: Which, ordinal: usize, name: &str, n: usize) -> Result<Self> {
        Self::with_side(which, ordinal, name, n, SIDE)
    }

    /// The same with so many rows and columns.
    fn with_side(which: Which, ordinal: usize, name: &str, n: usize, side: usize) -> Result<Self> {
        let is_there = |routine: &&Routine| {
            routine.name == name && (which == Which::CublasLt || !routine.lt_only)
        };
        let (product, word) = match which {
            Which::Cublas => ("cuBLAS product", "cublas"),
            Which::CublasLt => ("cuBLASLt product", "cublaslt"),
        };
        let routine = ROUTINES
            .iter()
            .find(is_there)
            .ok_or_else(|| Error::unknown(product, name, routines(which)))?;
        if n == 0 || n > 1 << 24 {
            return Err(Error::Argument(format!(
                "n = {n}: 1 to {} products are possible",
                1 << 24
            )));
        }
        let device = format!("cuda:{ordinal}:{word}:{name}");
        let (_, count) = driver_and_count()?;
        if ordinal >= count {
            return Err(failed(
                &device,
                format!("the driver has {count} GPUs, numbered from 0"),
            ));
        }
        let context = CudaContext::new(ordinal).map_err(driver(&device))?;
        let stream = context.default_stream();
        let size = |format: &Format| side * n * bytes_of(format);
        let make = |bytes: usize| stream.alloc_zeros::<u8>(bytes).map_err(driver(&device));
        let [of_a, of_b] = &routine.operands;
        let (a, b) = (make(size(of_a))?, make(size(of_b))?);
        let c = make(side * side * bytes_of(&routine.sum))?;
        let opened = match which {
            Which::Cublas => open()?,
            Which::CublasLt => {
                let [a, b, sums] = routine.types;
                let kind = Kind {
                    operands: [a, b],
                    sums,
                    compute: routine.compute,
                    factor: match routine.compute {
                        70 => 1,
                        64 => 2,
                        _ => 0,
                    },
                    is_fast: routine.is_fast,
                };
                Opened::CublasLt(Box::new(CublasLt::new(kind, side, n)?))
            }
        };
        Ok(Self {
            name: device,
            routine,
            signature: Signature {
                a: routine.operands[0],
                b: routine.operands[1],
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
            opened,
            side,
        })
    }

    /// The product of what lies on the GPU.
    fn multiply(&self) -> Result<()> {
        let pointer = |memory: &CudaSlice<u8>| memory.device_ptr(&self.stream).0 as *mut c_void;
        let (side, length) = (self.side as c_int, self.signature.k as c_int);
        let (library, handle) = match &self.opened {
            Opened::CublasLt(lt) => {
                let [a, b, c] = [&self.a, &self.b, &self.c].map(pointer);
                return lt.multiply(a, b, c, self.routine.one);
            }
            Opened::Cublas { library, handle } => (library, *handle),
        };
        let [of_a, of_b, of_c] = self.routine.types;
        let one = self.routine.one.as_ptr().cast::<c_void>();
        // SAFETY: the type is that of cublas_api.h; the matrices lie in memory of this device that has their sizes, columns one
        // after the other; the factors are in the format in which the library computes.
        let status = unsafe {
            let gemm: Symbol<'_, GemmEx> = library.get(b"cublasGemmEx\0").map_err(wrong)?;
            gemm(
                handle as Handle,
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
                of_b,
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
        let [of_a, of_b] = self.routine.operands.each_ref().map(bytes_of);
        let of_sum = bytes_of(&self.routine.sum);
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
            a.extend(bytes(query(place).a, of_a));
            b.extend(bytes(query(place).b, of_b));
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

/// cuBLAS with a handle; a context is current.
fn open() -> Result<Opened> {
    let library = load()?;
    let mut handle: Handle = std::ptr::null_mut();
    // SAFETY: the type is that of cublas_api.h, and the pointer is good.
    let status = unsafe {
        let create: Symbol<'_, unsafe extern "C" fn(*mut Handle) -> c_int> =
            library.get(b"cublasCreate_v2\0").map_err(wrong)?;
        create(&raw mut handle)
    };
    if status != 0 {
        return Err(failed("cuBLAS", format!("cublasCreate: status {status}")));
    }
    Ok(Opened::Cublas {
        library,
        handle: handle as usize,
    })
}

/// Bytes of a word in memory.
fn bytes_of(format: &Format) -> usize {
    format.register.bits as usize / 8
}

impl Drop for Opened {
    fn drop(&mut self) {
        let Self::Cublas { library, handle } = self else {
            return;
        };
        // SAFETY: the type is that of cublas_api.h; the handle is the one that cublasCreate gave, used for the last time.
        unsafe {
            let destroy =
                library.get::<unsafe extern "C" fn(Handle) -> c_int>(b"cublasDestroy_v2\0");
            if let Ok(destroy) = destroy {
                destroy(*handle as Handle);
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
    let dut = CublasDut::with_side(Which::Cublas, ordinal, name, side, side)?;
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
