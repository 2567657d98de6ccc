//! What this machine has of CUDA, and what each part is for.

use serde::Serialize;

use crate::cublas;
use crate::gpu;
use crate::nvrtc::{self, Nvrtc};
use crate::sass;

/// A part of what the program can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// What it is.
    pub part: String,
    /// What was found; `None` where it is missing.
    pub found: Option<String>,
    /// Why it is missing, and how it is had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What it is needed for.
    pub needed_for: String,
}

impl Part {
    /// A part that is here, or the reason why it is not.
    #[must_use]
    pub fn new(part: &str, found: std::result::Result<String, String>, needed_for: &str) -> Self {
        let (found, why) = match found {
            Ok(found) => (Some(found), None),
            Err(why) => (None, Some(why)),
        };
        Self {
            part: part.to_owned(),
            found,
            why,
            needed_for: needed_for.to_owned(),
        }
    }
}

/// Looks for the driver, its GPUs, the compiler and the disassembler. Nothing that is missing is an error.
#[must_use]
pub fn parts() -> Vec<Part> {
    let driver = gpu::driver_and_count();
    let mut parts = vec![Part::new(
        "CUDA driver",
        driver
            .as_ref()
            .map(|(version, count)| format!("{version}, {count} GPUs"))
            .map_err(ToString::to_string),
        "cuda: subjects, record, the engine on GPUs",
    )];
    let count = driver.map_or(0, |(_, count)| count);
    for ordinal in 0..count {
        let found = gpu::Gpu::open(ordinal);
        let found = found.map(|gpu| {
            let own = crate::chip::Chip::description(&gpu).clone();
            format!("{}, sm_{}, compiler {}", own.name, own.sm, own.compiler)
        });
        parts.push(Part::new(
            &format!("cuda:{ordinal}"),
            found.map_err(|error| error.to_string()),
            "this GPU as a device and as an engine",
        ));
    }
    let compiler = Nvrtc::any().map(|found| {
        let targets: Vec<String> = found
            .targets()
            .iter()
            .map(|sm| format!("sm_{sm}"))
            .collect();
        format!(
            "{} for {} ({})",
            found.version(),
            targets.join(" "),
            found.path().display()
        )
    });
    parts.push(Part::new(
        "NVRTC",
        compiler.map_err(|_| {
            format!(
                "none was found; it comes with CUDA or with `pip install nvidia-cuda-nvrtc-cu12`; {} may name it",
                nvrtc::VARIABLE
            )
        }),
        "compiling kernels; Volta needs 12.9 or older",
    ));
    parts.push(Part::new(
        "nvdisasm",
        sass::disassembler().map(|path| path.display().to_string()).ok_or_else(|| {
            format!(
                "none was found; it comes with CUDA or with `pip install nvidia-cuda-nvdisasm`; {} may name it",
                sass::VARIABLE
            )
        }),
        "checking which machine instruction really ran",
    ));
    parts.push(Part::new(
        "cuBLAS",
        cublas::found().ok_or_else(|| {
            format!(
                "none was found; it comes with CUDA, with PyTorch or with `pip install nvidia-cublas-cu12`; {} may name it",
                cublas::VARIABLE
            )
        }),
        "reveal cuda:N:cublas:PRODUCT",
    ));
    parts
}
