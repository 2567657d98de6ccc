//! What a chip's functions answer to all of their inputs, as hashes: equal hashes are equal answers.

use serde::{Deserialize, Serialize};

use crate::chip::{Argument, Chip, read_words};
use crate::function::DeviceFunction;
use crate::{Error, Result};

/// Inputs of a chunk, of functions that have more.
const CHUNK: u64 = 1 << 20;
/// Inputs of a thread.
const EACH: u64 = 1 << 12;
/// Threads of a block.
const THREADS: u32 = 256;

/// The answers of one function.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct FunctionHashes {
    /// The instruction.
    pub function: String,
    /// How many inputs: all of 16 and of 32 bits; of f64 all upper words, with lower words of zeros, and of answers the upper words.
    pub inputs: u64,
    /// Inputs of a chunk.
    pub chunk: u64,
    /// The sum of all chunks, modulo 2^64: 16 hexadecimal digits.
    pub hash: String,
    /// Chunk by chunk in the order of inputs: the sum of `splitmix64(x << 32 | answer)` over its inputs x, modulo 2^64.
    pub chunks: Vec<String>,
}

/// Where the answers of two chips part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// Nowhere.
    Nowhere,
    /// In so many chunks, the first of which begins with that input.
    Chunks(usize, u64),
    /// They were asked other inputs, or have chunks of another size.
    Incomparable,
}

impl FunctionHashes {
    /// Where another chip's answers part from these.
    #[must_use]
    pub fn parting(&self, other: &Self) -> Parting {
        let sizes = |own: &Self| (own.inputs, own.chunk, own.chunks.len());
        if sizes(self) != sizes(other) {
            return Parting::Incomparable;
        }
        let pairs = self.chunks.iter().zip(&other.chunks);
        let mut differ = (0_u64..)
            .zip(pairs)
            .filter(|(_, (own, other))| own != other);
        match differ.next() {
            None => Parting::Nowhere,
            Some((first, _)) => Parting::Chunks(1 + differ.count(), first * self.chunk),
        }
    }
}

/// Asks a chip for all answers of a function.
///
/// # Errors
/// [`Error::Argument`] for a function whose results are wider or narrower than its inputs, or that takes two values; [`Error::Device`] when it
/// does not compile.
pub fn hashes(chip: &dyn Chip, function: &DeviceFunction) -> Result<FunctionHashes> {
    if function.lanes != 1 || function.from.register.bits != function.to.register.bits {
        return Err(Error::Argument(format!(
            "{}: hashes are of functions of one value whose results are as wide as that",
            function.name
        )));
    }
    let mut loaded = chip.load(&function.source()?, true)?;
    let inputs = 1_u64 << function.from.register.bits.min(32);
    let (chunk, each) = (CHUNK.min(inputs), EACH.min(inputs));
    let threads = inputs / each;
    let sums = loaded.allocate(threads as usize * 8)?;
    let blocks = u32::try_from(threads.div_ceil(THREADS.into())).unwrap_or(u32::MAX);
    let arguments = [
        Argument::Word(threads),
        Argument::Word(each),
        Argument::Memory(sums),
        Argument::Word(0),
    ];
    loaded.launch("hashes", blocks, THREADS, &arguments)?;
    let sums = read_words(loaded.as_mut(), sums, threads as usize)?;
    let chunks: Vec<u64> = sums
        .chunks((chunk / each) as usize)
        .map(|own| own.iter().fold(0, |all: u64, sum| all.wrapping_add(*sum)))
        .collect();
    let hash = chunks.iter().fold(0_u64, |all, sum| all.wrapping_add(*sum));
    let text = |word: &u64| format!("{word:016x}");
    Ok(FunctionHashes {
        function: function.name.clone(),
        inputs,
        chunk,
        hash: text(&hash),
        chunks: chunks.iter().map(text).collect(),
    })
}
