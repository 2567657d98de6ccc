//! Arrays in memory: elements of any type, and their meaning as words of an operand.
//!
//! ```
//! use mmascope_gemm::array::{Array, Casting, Element};
//! use mmascope_model::format::{BF16, F16};
//!
//! let halves = [0x3c00_u16, 0x4000].map(u16::to_le_bytes).concat(); // 1, 2 in f16
//! let array = Array::new("example", &[1, 2], Element::Number(F16), halves)?;
//! assert_eq!(array.words(&BF16, &Casting::default())?, [0x3f80, 0x4000]);
//! # Ok::<(), mmascope_model::Error>(())
//! ```
//!
//! What an element is: floats (NumPy's `f2 f4 f8`, the float types of safetensors) are numbers and
//! are rounded to the operand's format; integers and NumPy's void and `f1` types (what `np.save`
//! makes of `ml_dtypes`) are codes of the operand's format, one per element.

mod casting;
mod reading;
mod words;

pub use crate::each_width;
pub use casting::Casting;
pub use reading::ArrayReading;
pub use words::{Stored, Words, WordsMut};

use crate::error::{Error, Result};
use crate::format::Format;

/// An array of any rank, row-major, its elements little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    name: String,
    shape: Vec<usize>,
    element: Element,
    /// The element type as the file names it.
    dtype: String,
    bytes: Vec<u8>,
}

/// Matrices of one shape in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// How many; `None` when the array is one matrix and does not count it.
    pub batch: Option<usize>,
    /// Rows of each.
    pub rows: usize,
    /// Columns of each.
    pub columns: usize,
}

/// What one element of an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A number in this format. Codes of 4 bits lie two in a byte, element 2i in the low nibble.
    Number(Format),
    /// A code in the operand's format, as an unsigned integer of that many bytes (1, 2, 4 or 8).
    Unsigned(usize),
    /// The same as a signed integer: a negative one is the bit pattern of an operand as wide as it.
    Signed(usize),
    /// The same as bytes without a meaning of their own (NumPy's `V1`, `V2`, `f1`): they fit only
    /// operands that are stored in as many bytes.
    Opaque(usize),
}

impl Element {
    /// Bits that one element takes.
    #[must_use]
    pub fn bits(self) -> usize {
        match self {
            Self::Number(format) => format.bits as usize,
            Self::Unsigned(bytes) | Self::Signed(bytes) | Self::Opaque(bytes) => 8 * bytes,
        }
    }

    /// Bytes of an array of that shape; `None` when it is no whole number or beyond `usize`.
    #[must_use]
    pub fn bytes_of(self, shape: &[usize]) -> Option<usize> {
        let bits = elements_of(shape)?.checked_mul(self.bits())?;
        (bits % 8 == 0).then_some(bits / 8)
    }
}

/// Elements of an array of that shape; `None` beyond `usize`.
#[must_use]
pub fn elements_of(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1, |n: usize, &d| n.checked_mul(d))
}

impl std::fmt::Display for Element {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(format) => write!(out, "{format}"),
            Self::Unsigned(bytes) => write!(out, "uint{}", 8 * bytes),
            Self::Signed(bytes) => write!(out, "int{}", 8 * bytes),
            Self::Opaque(bytes) => write!(out, "{bytes}-byte codes"),
        }
    }
}

impl Array {
    /// An array of these bytes, row-major, elements little-endian; `name` is for messages.
    ///
    /// # Errors
    /// [`Error::Argument`] when the element type is not one of those of [`Element`] or the number
    /// of bytes does not fit shape and element type.
    pub fn new(name: &str, shape: &[usize], element: Element, bytes: Vec<u8>) -> Result<Self> {
        if !matches!(element.bits(), 4 | 8 | 16 | 32 | 64) {
            return Err(Error::Argument(format!(
                "{name}: elements of {element} cannot be stored; elements of 4, 8, 16, 32 and 64 \
                 bits can"
            )));
        }
        if element.bytes_of(shape) != Some(bytes.len()) {
            return Err(Error::Argument(format!(
                "{name}: {} bytes do not make an array of {element} of shape {shape:?}",
                bytes.len()
            )));
        }
        let (name, shape) = (name.to_owned(), shape.to_vec());
        Ok(Self {
            name,
            shape,
            element,
            dtype: element.to_string(),
            bytes,
        })
    }

    /// The same under another name, for messages.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The same with the file's own name for the element type.
    #[must_use]
    pub fn with_dtype(mut self, dtype: &str) -> Self {
        dtype.clone_into(&mut self.dtype);
        self
    }

    /// Where the array is from, as the caller named it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The dimensions, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// What one element is.
    #[must_use]
    pub fn element(&self) -> Element {
        self.element
    }

    /// The element type as the file names it: `<f4`, `|V1`, `BF16`; an array that is of no file has
    /// the words of its [`Element`].
    #[must_use]
    pub fn dtype(&self) -> &str {
        &self.dtype
    }

    /// The format that the elements are of, as far as the file says it: that of numbers, and what
    /// `np.save` writes of `ml_dtypes` for one format alone (`V2` is bf16, `f1` is e5m2). `None` for
    /// codes of any format.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        match self.element {
            Element::Number(format) => Some(format),
            _ => self.written_by_numpy(),
        }
    }

    /// The elements, row-major, little-endian.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Some rows and some columns of a matrix.
    ///
    /// # Errors
    /// [`Error::Argument`] when the array is no matrix, a row or column lies outside, or elements of 4 bits make no
    /// whole bytes.
    pub fn excerpt(&self, rows: &[usize], columns: &[usize]) -> Result<Self> {
        let (m, n) = self.rows_and_columns()?;
        if rows.iter().any(|i| *i >= m) || columns.iter().any(|j| *j >= n) {
            return Err(Error::Argument(format!(
                "{}: rows {rows:?} and columns {columns:?} of a matrix of {m} × {n}",
                self.name
            )));
        }
        let mut bytes = Vec::new();
        if self.element.bits() == 4 {
            let places = rows
                .iter()
                .flat_map(|i| columns.iter().map(move |j| i * n + j));
            let codes: Vec<u64> = places.map(|index| self.bits(index)).collect();
            let pair = |pair: &[u64]| (pair[0] | pair.get(1).unwrap_or(&0) << 4) as u8;
            bytes.extend(codes.chunks(2).map(pair));
            if !codes.len().is_multiple_of(2) {
                return Err(Error::Argument(format!(
                    "{}: {} elements of 4 bits make no whole bytes",
                    self.name,
                    codes.len()
                )));
            }
        } else {
            let size = self.element.bits() / 8;
            for i in rows {
                for j in columns {
                    let at = (i * n + j) * size;
                    bytes.extend_from_slice(&self.bytes[at..at + size]);
                }
            }
        }
        Ok(Self {
            name: self.name.clone(),
            shape: vec![rows.len(), columns.len()],
            element: self.element,
            dtype: self.dtype.clone(),
            bytes,
        })
    }

    /// Rows and columns.
    ///
    /// # Errors
    /// [`Error::Argument`] when the array is no matrix or is empty.
    pub fn rows_and_columns(&self) -> Result<(usize, usize)> {
        match self.shape[..] {
            [rows, columns] if rows > 0 && columns > 0 => Ok((rows, columns)),
            [_, _] => Err(self.empty()),
            _ => Err(Error::Argument(format!(
                "{} has the shape {:?}: a matrix with two dimensions is needed",
                self.name, self.shape
            ))),
        }
    }

    /// The matrices that the array is: one, or, with three dimensions, a batch of them.
    ///
    /// # Errors
    /// [`Error::Argument`] when the array has another rank or is empty.
    pub fn stack(&self) -> Result<Stack> {
        let (batch, rows, columns) = match self.shape[..] {
            [rows, columns] => (None, rows, columns),
            [batch, rows, columns] => (Some(batch), rows, columns),
            _ => {
                return Err(Error::Argument(format!(
                    "{} has the shape {:?}: a matrix with two dimensions is needed, or a batch of \
                     matrices with three",
                    self.name, self.shape
                )));
            }
        };
        if [batch.unwrap_or(1), rows, columns].contains(&0) {
            return Err(self.empty());
        }
        Ok(Stack {
            batch,
            rows,
            columns,
        })
    }

    fn empty(&self) -> Error {
        Error::Argument(format!(
            "{} has the shape {:?}: an empty matrix has no products",
            self.name, self.shape
        ))
    }

    /// The number of elements.
    fn count(&self) -> usize {
        elements_of(&self.shape).unwrap_or(0)
    }

    /// Where element `index` of the row-major order is, as `[i, j]`.
    fn place(&self, index: usize) -> String {
        let mut left = index;
        let mut place: Vec<usize> = self
            .shape
            .iter()
            .rev()
            .map(|&dimension| {
                let at = left % dimension.max(1);
                left /= dimension.max(1);
                at
            })
            .collect();
        place.reverse();
        format!("{place:?}")
    }

    /// The bits of element `index` of the row-major order, right-aligned.
    fn bits(&self, index: usize) -> u64 {
        if self.element.bits() == 4 {
            return u64::from(self.bytes[index / 2] >> (4 * (index % 2)) & 15);
        }
        let size = self.element.bits() / 8;
        let element = &self.bytes[index * size..(index + 1) * size];
        element
            .iter()
            .rev()
            .fold(0, |bits, &byte| bits << 8 | u64::from(byte))
    }
}
