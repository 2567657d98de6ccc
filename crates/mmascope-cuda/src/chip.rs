//! A chip that compiles CUDA C++ and runs its kernels: the seam between what is asked and what answers.

use crate::{Error, Result};

/// What is known of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its name, as the driver gives it.
    pub name: String,
    /// Its compute capability: 90 for sm_90.
    pub sm: u32,
    /// The driver's version.
    pub driver: String,
    /// The compiler and its version.
    pub compiler: String,
}

impl Description {
    /// The compiler's target: `sm_90`, or `sm_90a` with the instructions that later chips do not have.
    #[must_use]
    pub fn target(&self, is_own: bool) -> String {
        // PTX ISA: targets with instructions of their own begin at 90.
        let own = if is_own && self.sm >= 90 { "a" } else { "" };
        format!("sm_{}{own}", self.sm)
    }
}

/// A chip.
pub trait Chip: Send + Sync {
    /// What is known of it.
    fn description(&self) -> &Description;

    /// Compiles a source and loads it. `is_own`: for this architecture only.
    ///
    /// # Errors
    /// [`Error::Device`] with what the compiler said.
    fn load(&self, source: &str, is_own: bool) -> Result<Box<dyn Loaded>>;
}

/// Memory of a loaded program, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(pub(crate) usize);

impl Memory {
    /// The piece of memory of that number, counted from 0 in the order of allocation.
    #[must_use]
    pub fn numbered(number: usize) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> usize {
        self.0
    }
}

/// An argument of a kernel: all have 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A pointer to memory.
    Memory(Memory),
    /// A number.
    Word(u64),
}

/// A program on a chip, with its memory, which it frees when it is dropped.
pub trait Loaded: Send {
    /// Memory of so many bytes, all zero.
    ///
    /// # Errors
    /// [`Error::Device`] when there is not so much.
    fn allocate(&mut self, bytes: usize) -> Result<Memory>;

    /// Copies bytes to the start of memory.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn write(&mut self, to: Memory, bytes: &[u8]) -> Result<()>;

    /// Copies bytes from the start of memory.
    ///
    /// # Errors
    /// [`Error::Device`]; a fault of an earlier kernel.
    fn read(&mut self, from: Memory, bytes: &mut [u8]) -> Result<()>;

    /// Runs a kernel and waits for it.
    ///
    /// # Errors
    /// [`Error::Device`]; a kernel that faults takes the program with it.
    fn launch(
        &mut self,
        kernel: &str,
        blocks: u32,
        threads: u32,
        arguments: &[Argument],
    ) -> Result<()>;

    /// The machine code, where there is such a thing.
    fn binary(&self) -> Option<&[u8]> {
        None
    }
}

/// Copies words to memory.
pub(crate) fn write_words(loaded: &mut dyn Loaded, to: Memory, words: &[u64]) -> Result<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    loaded.write(to, &bytes)
}

/// Copies words from memory.
pub(crate) fn read_words(loaded: &mut dyn Loaded, from: Memory, count: usize) -> Result<Vec<u64>> {
    let mut bytes = vec![0; count * 8];
    loaded.read(from, &mut bytes)?;
    let (words, _) = bytes.as_chunks::<8>();
    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// The error of a chip or of what belongs to it.
pub(crate) fn failed(device: &str, message: impl Into<String>) -> Error {
    Error::Device {
        device: device.to_owned(),
        query: None,
        message: message.into(),
    }
}
