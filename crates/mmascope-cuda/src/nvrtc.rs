//! NVRTC, NVIDIA's compiler as a library: loaded at run time from wherever it lies.
#![allow(unsafe_code)] // calling foreign code

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::path::{Path, PathBuf};

use libloading::{Library, Symbol};

use crate::chip::failed;
use crate::search;
use crate::{Error, Result};

/// The variable that names the library.
pub const VARIABLE: &str = "MMASCOPE_NVRTC";

/// NVRTC, loaded.
pub struct Nvrtc {
    library: Library,
    path: PathBuf,
    version: (i32, i32),
    targets: Vec<u32>,
}

impl fmt::Debug for Nvrtc {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "NVRTC {} of {}", self.version(), self.path.display())
    }
}

type Handle = *mut c_void;
type Create = unsafe extern "C" fn(
    *mut Handle,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

impl Nvrtc {
    /// A library that compiles for this target: the first that is found. Volta (70) needs one of 12.9 or older.
    ///
    /// # Errors
    /// [`Error::Device`] that says what was looked for, and which libraries do not know the target.
    pub fn for_target(sm: u32) -> Result<Self> {
        let mut others = Vec::new();
        for path in search::libraries(VARIABLE, "nvrtc", &["13", "12", "11.2"]) {
            let Ok(found) = Self::load(&path) else {
                continue;
            };
            if found.targets.contains(&sm) {
                return Ok(found);
            }
            others.push(format!("{found:?} does not know sm_{sm}"));
        }
        others.dedup();
        let others = match others.is_empty() {
            true => "none was found".to_owned(),
            false => others.join("; "),
        };
        Err(failed(
            "NVRTC",
            format!(
                "no library that compiles for sm_{sm}: {others}. It comes with CUDA, or with \
                 `pip install nvidia-cuda-nvrtc-cu12` (sm_70 to sm_121) or `nvidia-cuda-nvrtc` (from sm_75 on); \
                 {VARIABLE} may name the file libnvrtc.so"
            ),
        ))
    }

    /// Any that is found.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn any() -> Result<Self> {
        let mut found = search::libraries(VARIABLE, "nvrtc", &["13", "12", "11.2"]).into_iter();
        found
            .find_map(|path| Self::load(&path).ok())
            .ok_or_else(|| {
                failed(
                    "NVRTC",
                    format!("none was found; {VARIABLE} may name the file libnvrtc.so"),
                )
            })
    }

    /// Loads a library.
    ///
    /// # Errors
    /// [`Error::Device`] when it cannot be loaded or is no NVRTC.
    pub fn load(path: &Path) -> Result<Self> {
        let wrong =
            |error: libloading::Error| failed(&path.display().to_string(), error.to_string());
        // SAFETY: whoever names the file trusts it; NVRTC's own initialisers ask nothing of the caller.
        let library = unsafe { Library::new(path) }.map_err(wrong)?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the function's type is that of nvrtc.h, and both pointers are good.
        let status = unsafe {
            let version: Symbol<'_, unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int> =
                library.get(b"nvrtcVersion\0").map_err(wrong)?;
            version(&raw mut major, &raw mut minor)
        };
        if status != 0 {
            return Err(failed(
                &path.display().to_string(),
                format!("nvrtcVersion: status {status}"),
            ));
        }
        let targets = targets(&library).map_err(wrong)?;
        Ok(Self {
            library,
            path: path.to_owned(),
            version: (major, minor),
            targets,
        })
    }

    /// The version, `12.9`.
    #[must_use]
    pub fn version(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The targets that it knows: 90 for sm_90.
    #[must_use]
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// Compiles a source to machine code for a target such as `sm_90a`.
    ///
    /// # Errors
    /// [`Error::Device`] with what the compiler said.
    pub fn compile(&self, source: &str, target: &str) -> Result<Vec<u8>> {
        let text = |text: &str| {
            CString::new(text).map_err(|_| Error::Argument("a source with a zero byte".to_owned()))
        };
        let (code, name) = (text(source)?, text("mmascope.cu")?);
        let options = [
            text(&format!("--gpu-architecture={target}"))?,
            // Widths above 64 bits occur in sums of wide formats.
            text("--device-int128")?,
            // Bits are stated; nothing may be contracted or flushed.
            text("--fmad=false")?,
        ];
        let wrong = |error: libloading::Error| failed("NVRTC", error.to_string());
        let mut program: Handle = std::ptr::null_mut();
        // SAFETY: the types are those of nvrtc.h; all texts end in a zero byte and live through the calls; the handle is
        // the one that nvrtcCreateProgram gave, until it is destroyed below.
        unsafe {
            let create: Symbol<'_, Create> =
                self.library.get(b"nvrtcCreateProgram\0").map_err(wrong)?;
            let compile: Symbol<'_, Compile> =
                self.library.get(b"nvrtcCompileProgram\0").map_err(wrong)?;
            let destroy: Symbol<'_, unsafe extern "C" fn(*mut Handle) -> c_int> =
                self.library.get(b"nvrtcDestroyProgram\0").map_err(wrong)?;
            let none = std::ptr::null();
            let status = create(
                &raw mut program,
                code.as_ptr(),
                name.as_ptr(),
                0,
                none,
                none,
            );
            if status != 0 {
                return Err(failed(
                    "NVRTC",
                    format!("nvrtcCreateProgram: status {status}"),
                ));
            }
            let pointers: Vec<*const c_char> =
                options.iter().map(|option| option.as_ptr()).collect();
            let status = compile(program, pointers.len() as c_int, pointers.as_ptr());
            let result = if status == 0 {
                self.bytes(program, b"nvrtcGetCUBINSize\0", b"nvrtcGetCUBIN\0")
            } else {
                let log = self.bytes(
                    program,
                    b"nvrtcGetProgramLogSize\0",
                    b"nvrtcGetProgramLog\0",
                );
                let log = log.unwrap_or_default();
                let log = CStr::from_bytes_until_nul(&log).map(CStr::to_string_lossy);
                let log = log.unwrap_or_default().trim().to_owned();
                Err(failed(
                    &format!("NVRTC {}", self.version()),
                    format!("for {target}, status {status}: {log}"),
                ))
            };
            destroy(&raw mut program);
            result
        }
    }

    /// What a program has, by the function that says how many bytes it takes and the one that gives them.
    fn bytes(&self, program: Handle, size: &[u8], get: &[u8]) -> Result<Vec<u8>> {
        let wrong = |error: libloading::Error| failed("NVRTC", error.to_string());
        let mut bytes = 0;
        // SAFETY: as in `compile`; the buffer has the size that the library asks for.
        unsafe {
            let size: Symbol<'_, Size> = self.library.get(size).map_err(wrong)?;
            let get: Symbol<'_, Text> = self.library.get(get).map_err(wrong)?;
            let status = size(program, &raw mut bytes);
            let mut found = vec![0_u8; bytes];
            let status = if status == 0 {
                get(program, found.as_mut_ptr().cast())
            } else {
                status
            };
            if status != 0 {
                return Err(failed("NVRTC", format!("no output: status {status}")));
            }
            Ok(found)
        }
    }
}

/// The targets that a library knows.
fn targets(library: &Library) -> std::result::Result<Vec<u32>, libloading::Error> {
    let mut count: c_int = 0;
    // SAFETY: the types are those of nvrtc.h (CUDA 11.2 and later); the list has the size that the library says.
    unsafe {
        let size: Symbol<'_, unsafe extern "C" fn(*mut c_int) -> c_int> =
            library.get(b"nvrtcGetNumSupportedArchs\0")?;
        let get: Symbol<'_, unsafe extern "C" fn(*mut c_int) -> c_int> =
            library.get(b"nvrtcGetSupportedArchs\0")?;
        if size(&raw mut count) != 0 {
            return Ok(Vec::new());
        }
        let mut list = vec![0 as c_int; usize::try_from(count).unwrap_or(0)];
        if get(list.as_mut_ptr()) != 0 {
            return Ok(Vec::new());
        }
        Ok(list
            .into_iter()
            .filter_map(|sm| u32::try_from(sm).ok())
            .collect())
    }
}
