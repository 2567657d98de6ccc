//! Memory that this program shares with a host program, for numbers in bulk.
//!
//! The asker writes, says so with a message on the pipe, and writes no more until the answer is there; the
//! host program copies what it was told of. Where there is no such memory, numbers go through the pipe.
#![allow(unsafe_code)] // copying to and from memory that another process maps

use std::io;
use std::path::{Path, PathBuf};

use memmap2::{MmapOptions, MmapRaw};

/// Shared memory, mapped.
#[derive(Debug)]
pub(crate) struct Memory {
    map: MmapRaw,
    /// Keeps the memory of the asker open under the name that the host program is given.
    path: Option<PathBuf>,
    _file: std::fs::File,
}

/// A number as it lies in shared memory.
pub(crate) trait Plain: Copy + Default {}
impl Plain for f32 {}
impl Plain for f64 {}
impl Plain for u64 {}

impl Memory {
    /// New memory of so many bytes; it takes no room until it is written to.
    #[cfg(target_os = "linux")]
    pub(crate) fn create(bytes: u64) -> io::Result<Self> {
        use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
        use std::os::fd::AsRawFd;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = std::fs::File::from(memfd_create("mmascope", flags)?);
        file.set_len(bytes)?;
        // A file that shrinks would take this program down with it.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let (process, number) = (std::process::id(), file.as_raw_fd());
        let path = PathBuf::from(format!("/proc/{process}/fd/{number}"));
        Self::map(file, Some(path))
    }

    /// There is none on this system.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn create(_: u64) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The memory that an asker made.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = std::fs::File::options().read(true).write(true).open(path)?;
        Self::map(file, None)
    }

    fn map(file: std::fs::File, path: Option<PathBuf>) -> io::Result<Self> {
        let map = MmapOptions::new().map_raw(&file)?;
        Ok(Self {
            map,
            path,
            _file: file,
        })
    }

    /// Under which name a host program opens it.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// How many numbers it holds.
    pub(crate) fn room<T: Plain>(&self) -> usize {
        self.map.len() / size_of::<T>()
    }

    /// Writes numbers from number `at` on.
    ///
    /// # Panics
    /// When they do not fit.
    pub(crate) fn write<T: Plain>(&mut self, at: usize, numbers: &[T]) {
        let end = at.checked_add(numbers.len());
        assert!(end.is_some_and(|end| end <= self.room::<T>()), "no room");
        // SAFETY: the range lies in the map (checked), which is aligned to a page and mapped for writing
        // as long as `self` lives; it is no reference, so that nothing is assumed of what other processes
        // do; every bit pattern is a number of such a type.
        unsafe {
            let to = self.map.as_mut_ptr().cast::<T>().add(at);
            std::ptr::copy_nonoverlapping(numbers.as_ptr(), to, numbers.len());
        }
    }

    /// Where so many numbers from number `at` on lie, for foreign code; `None` when there are not so many.
    /// Other processes may write there.
    pub(crate) fn place<T: Plain>(&self, at: usize, count: usize) -> Option<*const T> {
        at.checked_add(count)
            .filter(|&end| end <= self.room::<T>())?;
        Some(self.map.as_ptr().cast::<T>().wrapping_add(at))
    }

    /// A copy of so many numbers from number `at` on; `None` when there are not so many.
    pub(crate) fn read<T: Plain>(&self, at: usize, count: usize) -> Option<Vec<T>> {
        at.checked_add(count)
            .filter(|&end| end <= self.room::<T>())?;
        let mut numbers = vec![T::default(); count];
        // SAFETY: as in `write`; the copy is this process's own before anything looks at it.
        unsafe {
            let from = self.map.as_ptr().cast::<T>().add(at);
            std::ptr::copy_nonoverlapping(from, numbers.as_mut_ptr(), count);
        }
        Some(numbers)
    }
}
