//! A real GPU, by NVIDIA's driver, which is loaded at run time.
#![allow(unsafe_code)] // launching kernels, and asking the driver what no safe function gives

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys;
use cudarc::driver::{
    CudaContext, CudaModule, CudaSlice, CudaStream, DevicePtr, DriverError, LaunchConfig,
    PushKernelArg,
};
use cudarc::nvrtc::Ptx;

use crate::Result;
use crate::chip::{Argument, Chip, Description, Loaded, Memory, failed};
use crate::nvrtc::Nvrtc;

/// A GPU.
pub struct Gpu {
    context: Arc<CudaContext>,
    compiler: Nvrtc,
    description: Description,
    /// What has been compiled, by target and source: compiling takes seconds.
    compiled: Mutex<HashMap<(String, String), Compiled>>,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.description)
    }
}

/// A module, and its machine code.
type Compiled = (Arc<CudaModule>, Arc<Vec<u8>>);

/// Whether the driver's library is there. Nothing else here asks the driver before this has said yes.
#[must_use]
pub fn has_driver() -> bool {
    // SAFETY: it tries to load the library and lets it go; the driver's own initialisers ask nothing of the caller.
    unsafe { sys::is_culib_present() }
}

/// An error of the driver about a device.
pub(crate) fn driver(device: &str) -> impl Fn(DriverError) -> crate::Error + '_ {
    move |error| {
        let name = error
            .error_name()
            .map(|name| name.to_string_lossy().into_owned());
        let text = error
            .error_string()
            .map(|text| text.to_string_lossy().into_owned());
        match (name, text) {
            (Ok(name), Ok(text)) => failed(device, format!("{name}: {text}")),
            _ => failed(device, format!("{error:?}")),
        }
    }
}

/// The driver's version, `12.9`, and its number of GPUs.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device) when there is no driver, or it does not start.
pub fn driver_and_count() -> Result<(String, usize)> {
    if !has_driver() {
        return Err(failed(
            "CUDA",
            "no driver: libcuda.so.1 cannot be loaded (it comes with NVIDIA's driver)",
        ));
    }
    let wrong = driver("CUDA");
    cudarc::driver::result::init().map_err(&wrong)?;
    let mut version = 0;
    // SAFETY: the pointer is good, and the driver has been initialised.
    let status = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    status.result().map_err(&wrong)?;
    let count = CudaContext::device_count().map_err(&wrong)?;
    let version = format!("{}.{}", version / 1000, version % 1000 / 10);
    Ok((version, usize::try_from(count).unwrap_or(0)))
}

impl Gpu {
    /// The GPU of that number, with a compiler for it.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) that says what is missing: the driver, the GPU, the compiler.
    pub fn open(ordinal: usize) -> Result<Self> {
        let device = format!("cuda:{ordinal}");
        let (version, count) = driver_and_count()?;
        if ordinal >= count {
            return Err(failed(
                &device,
                format!("the driver has {count} GPUs, numbered from 0"),
            ));
        }
        let wrong = driver(&device);
        let context = CudaContext::new(ordinal).map_err(&wrong)?;
        let (major, minor) = context.compute_capability().map_err(&wrong)?;
        let sm = u32::try_from(10 * major + minor).unwrap_or(0);
        let compiler = Nvrtc::for_target(sm)?;
        let description = Description {
            name: context.name().map_err(&wrong)?,
            sm,
            driver: version,
            compiler: format!("NVRTC {}", compiler.version()),
        };
        Ok(Self {
            context,
            compiler,
            description,
            compiled: Mutex::default(),
        })
    }
}

impl Chip for Gpu {
    fn description(&self) -> &Description {
        &self.description
    }

    fn load(&self, source: &str, is_own: bool) -> Result<Box<dyn Loaded>> {
        let key = (self.description.target(is_own), source.to_owned());
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let (module, binary) = match compiled.get(&key) {
            Some(known) => known.clone(),
            None => {
                let binary = self.compiler.compile(source, &key.0)?;
                let module = self.context.load_module(Ptx::from_binary(binary.clone()));
                let made = (
                    module.map_err(driver(&self.description.name))?,
                    Arc::new(binary),
                );
                compiled.insert(key, made.clone());
                made
            }
        };
        Ok(Box::new(Program {
            device: self.description.name.clone(),
            stream: self.context.default_stream(),
            context: Arc::clone(&self.context),
            module,
            memory: Vec::new(),
            binary,
        }))
    }
}

struct Program {
    device: String,
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    module: Arc<CudaModule>,
    memory: Vec<CudaSlice<u8>>,
    binary: Arc<Vec<u8>>,
}

impl Loaded for Program {
    fn allocate(&mut self, bytes: usize) -> Result<Memory> {
        self.context
            .bind_to_thread()
            .map_err(driver(&self.device))?;
        // No piece is empty: the driver refuses those.
        let memory = self
            .stream
            .alloc_zeros(bytes.max(1))
            .map_err(driver(&self.device))?;
        self.memory.push(memory);
        Ok(Memory(self.memory.len() - 1))
    }

    fn write(&mut self, to: Memory, bytes: &[u8]) -> Result<()> {
        self.context
            .bind_to_thread()
            .map_err(driver(&self.device))?;
        let mut memory = self.memory[to.0].slice_mut(..bytes.len());
        self.stream
            .memcpy_htod(bytes, &mut memory)
            .map_err(driver(&self.device))
    }

    fn read(&mut self, from: Memory, bytes: &mut [u8]) -> Result<()> {
        self.context
            .bind_to_thread()
            .map_err(driver(&self.device))?;
        let memory = self.memory[from.0].slice(..bytes.len());
        self.stream
            .memcpy_dtoh(&memory, bytes)
            .map_err(driver(&self.device))?;
        self.stream.synchronize().map_err(driver(&self.device))
    }

    fn launch(
        &mut self,
        kernel: &str,
        blocks: u32,
        threads: u32,
        arguments: &[Argument],
    ) -> Result<()> {
        let wrong = driver(&self.device);
        self.context.bind_to_thread().map_err(&wrong)?;
        let function = self.module.load_function(kernel).map_err(&wrong)?;
        let words: Vec<u64> = arguments
            .iter()
            .map(|argument| match *argument {
                Argument::Memory(memory) => self.memory[memory.0].device_ptr(&self.stream).0,
                Argument::Word(word) => word,
            })
            .collect();
        let mut builder = self.stream.launch_builder(&function);
        for word in &words {
            builder.arg(word);
        }
        let config = LaunchConfig {
            grid_dim: (blocks, 1, 1),
            block_dim: (threads, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: every parameter of the kernels of this crate has 64 bits, pointers are to memory of this program, and the
        // kernels stay within it (they run on a chip in C++ with bounds checked, too).
        unsafe { builder.launch(config) }.map_err(&wrong)?;
        self.stream.synchronize().map_err(&wrong)
    }

    fn binary(&self) -> Option<&[u8]> {
        Some(&self.binary)
    }
}
