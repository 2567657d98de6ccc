//! Stores register words in memory, each in the fewest whole bytes that its register takes.

use crate::error::{Error, Result};
use crate::format::Format;

/// Register words, all stored in the same number of bytes: 1, 2, 4 or 8.
///
/// ```
/// use mmascope_gemm::array::Words;
/// use mmascope_model::format::F16;
///
/// let words = Words::of(&F16, [0x3c00, 0x4000])?;
/// assert_eq!((words.len(), words.bytes(), words.get(1)), (2, 4, 0x4000));
/// assert_eq!(words, [0x3c00, 0x4000]);
/// # Ok::<(), mmascope_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Words {
    /// Registers of up to 8 bits.
    U8(Vec<u8>),
    /// Registers of 16 bits.
    U16(Vec<u16>),
    /// Registers of 32 bits.
    U32(Vec<u32>),
    /// Registers of 64 bits.
    U64(Vec<u64>),
}

/// Runs an expression with the vector of whatever width is there.
#[doc(hidden)]
#[macro_export]
macro_rules! each_width {
    ($words:expr, $vector:ident => $body:expr) => {
        match $words {
            $crate::array::Words::U8($vector) => $body,
            $crate::array::Words::U16($vector) => $body,
            $crate::array::Words::U32($vector) => $body,
            $crate::array::Words::U64($vector) => $body,
        }
    };
}

/// Some of the [`Words`] in memory, to be read and replaced.
#[derive(Debug)]
pub enum WordsMut<'a> {
    /// Registers of up to 8 bits.
    U8(&'a mut [u8]),
    /// Registers of 16 bits.
    U16(&'a mut [u16]),
    /// Registers of 32 bits.
    U32(&'a mut [u32]),
    /// Registers of 64 bits.
    U64(&'a mut [u64]),
}

impl WordsMut<'_> {
    /// How many words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::U8(words) => words.len(),
            Self::U16(words) => words.len(),
            Self::U32(words) => words.len(),
            Self::U64(words) => words.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One word.
    ///
    /// # Panics
    /// When there are not so many.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        match self {
            Self::U8(words) => words[index].word(),
            Self::U16(words) => words[index].word(),
            Self::U32(words) => words[index].word(),
            Self::U64(words) => words[index],
        }
    }

    /// Replaces a word; bits beyond the width are dropped.
    ///
    /// # Panics
    /// When there are not so many.
    #[inline]
    pub fn set(&mut self, index: usize, word: u64) {
        match self {
            Self::U8(words) => words[index] = Stored::stored(word),
            Self::U16(words) => words[index] = Stored::stored(word),
            Self::U32(words) => words[index] = Stored::stored(word),
            Self::U64(words) => words[index] = word,
        }
    }
}

/// An unsigned integer that words are stored as.
pub trait Stored: Copy + Send + Sync {
    /// The word.
    fn word(self) -> u64;
    /// The lower bits of a word.
    fn stored(word: u64) -> Self;
    /// Words of this width as words of any width.
    fn words_mut(words: &mut [Self]) -> WordsMut<'_>;
}

macro_rules! stored {
    ($($type:ty => $width:ident),*) => {$(
        impl Stored for $type {
            #[inline(always)]
            fn word(self) -> u64 {
                u64::from(self)
            }
            #[inline(always)]
            fn stored(word: u64) -> Self {
                word as Self
            }
            fn words_mut(words: &mut [Self]) -> WordsMut<'_> {
                WordsMut::$width(words)
            }
        }
    )*};
}
stored!(u8 => U8, u16 => U16, u32 => U32, u64 => U64);

impl Words {
    /// Words of a format.
    ///
    /// # Errors
    /// [`Error::Argument`] for a word wider than the format's register, or when they do not fit
    /// the memory.
    pub fn of(format: &Format, words: impl IntoIterator<Item = u64>) -> Result<Self> {
        let words = words.into_iter();
        let mut out = Self::with_capacity(format.register.bits, words.size_hint().0)?;
        let widest = format.widest_word();
        for (index, word) in words.enumerate() {
            if word > widest {
                return Err(Error::Argument(format!(
                    "word {index} is {word:x}, wider than a word of {format} (at most {widest:x})"
                )));
            }
            out.push(word);
        }
        Ok(out)
    }

    /// So many times the same word, for registers of so many bits.
    ///
    /// # Errors
    /// [`Error::Argument`] when they do not fit the memory.
    pub fn filled(bits: u32, length: usize, word: u64) -> Result<Self> {
        let mut out = Self::with_capacity(bits, length)?;
        each_width!(&mut out, vector => vector.resize(length, Stored::stored(word)));
        Ok(out)
    }

    /// No words, and room for some of registers of so many bits.
    ///
    /// # Errors
    /// [`Error::Argument`] when they do not fit the memory.
    pub fn with_capacity(bits: u32, length: usize) -> Result<Self> {
        let mut out = match bits {
            0..=8 => Self::U8(Vec::new()),
            9..=16 => Self::U16(Vec::new()),
            17..=32 => Self::U32(Vec::new()),
            _ => Self::U64(Vec::new()),
        };
        let reserved = each_width!(&mut out, vector => vector.try_reserve_exact(length));
        reserved.map_err(|_| {
            Error::Argument(format!(
                "{length} words of {bits} bits do not fit the memory"
            ))
        })?;
        Ok(out)
    }

    /// Adds a word; bits beyond the width are dropped.
    pub fn push(&mut self, word: u64) {
        each_width!(self, vector => vector.push(Stored::stored(word)));
    }

    /// How many words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        each_width!(self, vector => vector.len())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits of one word as it is stored.
    #[must_use]
    pub fn width(&self) -> u32 {
        match self {
            Self::U8(_) => 8,
            Self::U16(_) => 16,
            Self::U32(_) => 32,
            Self::U64(_) => 64,
        }
    }

    /// Bytes that the words take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.len() * self.width() as usize / 8
    }

    /// The largest word; 0 of none.
    pub(crate) fn largest(&self) -> u64 {
        // (`Iterator::max` becomes no vectors.)
        each_width!(self, vector => {
            let largest = vector.iter().copied().reduce(|all, word| all.max(word));
            largest.map_or(0, |word| word.word())
        })
    }

    /// One word.
    ///
    /// # Panics
    /// When there are not so many.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        each_width!(self, vector => vector[index].word())
    }

    /// Replaces a word; bits beyond the width are dropped.
    ///
    /// # Panics
    /// When there are not so many.
    #[inline]
    pub fn set(&mut self, index: usize, word: u64) {
        each_width!(self, vector => vector[index] = Stored::stored(word));
    }

    /// The words in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The words as 64-bit integers.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u64> {
        each_width!(self, vector => vector.iter().map(|word| word.word()).collect())
    }
}

impl Default for Words {
    fn default() -> Self {
        Self::U8(Vec::new())
    }
}

/// Words are equal when their values are; how they are stored does not matter.
impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::U8(own), Self::U8(other)) => own == other,
            (Self::U16(own), Self::U16(other)) => own == other,
            (Self::U32(own), Self::U32(other)) => own == other,
            (Self::U64(own), Self::U64(other)) => own == other,
            _ => self.len() == other.len() && self.iter().eq(other.iter()),
        }
    }
}

impl Eq for Words {}

impl PartialEq<[u64]> for Words {
    fn eq(&self, other: &[u64]) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter().copied())
    }
}

impl PartialEq<Vec<u64>> for Words {
    fn eq(&self, other: &Vec<u64>) -> bool {
        *self == other[..]
    }
}

impl<const N: usize> PartialEq<[u64; N]> for Words {
    fn eq(&self, other: &[u64; N]) -> bool {
        *self == other[..]
    }
}

macro_rules! from_vectors {
    ($($variant:ident $type:ty),*) => {$(
        /// As they are, in words of this width.
        impl From<Vec<$type>> for Words {
            fn from(words: Vec<$type>) -> Self {
                Self::$variant(words)
            }
        }
    )*};
}
from_vectors!(U8 u8, U16 u16, U32 u32, U64 u64);
