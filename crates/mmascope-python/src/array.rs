//! NumPy arrays to words of formats, and words to NumPy arrays.
#![allow(unsafe_code)] // reads the memory of arrays

use std::ops::Range;

use numpy::{PyArray1, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::error::{Raised, argument};
use mmascope::array::{Array, Casting, Element, Words};
use mmascope::format::{Format, Kind};

/// What integers are among formats.
const INTEGER: Kind = Kind::Fixed { scale: 0 };

/// What an array's elements are, as the package says it: the name of a format, or `unsigned` or `signed`
/// for codes.
pub(crate) fn element(kind: &str, bytes: usize) -> PyResult<Element> {
    Ok(match kind {
        "unsigned" => Element::Unsigned(bytes),
        "signed" => Element::Signed(bytes),
        name => Element::Number(Format::named(name).raised()?),
    })
}

/// An operand as the package hands it over.
#[derive(FromPyObject)]
pub(crate) struct Operand<'py> {
    /// Row-major, in the machine's byte order, elements of 1, 2, 4 or 8 bytes.
    array: Bound<'py, PyUntypedArray>,
    /// See [`element`].
    kind: String,
    /// The argument, for messages.
    name: String,
    /// Whether its last two dimensions are exchanged.
    pub(crate) is_turned: bool,
}

impl Operand<'_> {
    pub(crate) fn shape(&self) -> &[usize] {
        self.array.shape()
    }

    /// The bytes of the elements, row-major.
    fn bytes(&self) -> PyResult<&[u8]> {
        if !self.array.is_c_contiguous() {
            return Err(argument(&format!(
                "{}: the array is not row-major",
                self.name
            )));
        }
        let length = self.array.len() * self.array.dtype().itemsize();
        if length == 0 {
            return Ok(&[]);
        }
        // SAFETY: NumPy's object is alive as long as `self`. Its data pointer leads to `length` bytes, because the
        // elements lie row-major without gaps; bytes need no alignment. The interpreter's lock is held while the
        // slice is in use (its users copy it before they let go), so that no Python code writes to it.
        Ok(unsafe {
            let data = (*self.array.as_array_ptr()).fields.data.cast::<u8>();
            std::slice::from_raw_parts(data, length)
        })
    }

    /// The array as the library has arrays.
    pub(crate) fn array(&self) -> PyResult<Array> {
        let bytes = self.array.dtype().itemsize();
        let element = element(&self.kind, bytes)?;
        // Codes of 4 bits lie one in a byte here.
        let (element, format) = match element {
            Element::Number(format) if format.bits < 8 => (Element::Unsigned(1), Some(format)),
            element => (element, None),
        };
        let array = Array::new(&self.name, self.shape(), element, self.bytes()?.to_vec());
        let array = array.raised()?;
        Ok(match format {
            Some(format) => array.with_dtype(format.name),
            None => array,
        })
    }

    /// The array's elements in row-major order as words of an operand.
    pub(crate) fn words(&self, format: &Format, casting: &Casting) -> PyResult<Words> {
        if let Some(words) = self.own_words(0..self.array.len(), format, casting)? {
            return Ok(words);
        }
        if let Some(words) = self.integers(format)? {
            return Ok(words);
        }
        if let Element::Number(own) = element(&self.kind, self.array.dtype().itemsize())?
            && own.bits < 8
            && own != *format
        {
            return Err(argument(&format!(
                "{}: elements of {own}; the instruction takes {format}",
                self.name
            )));
        }
        self.array()?.words(format, casting).raised()
    }

    /// The words of integers for an operand that is an integer; `None` where the elements or the operand are something
    /// else. Unsigned integers are codes.
    fn integers(&self, format: &Format) -> PyResult<Option<Words>> {
        let bytes = self.array.dtype().itemsize();
        let (bits, is_signed) = match element(&self.kind, bytes)? {
            Element::Signed(bytes) => (8 * bytes as u32, true),
            Element::Number(own) if own != *format && own.kind == INTEGER => (own.bits, own.signed),
            _ => return Ok(None),
        };
        if format.kind != INTEGER {
            return Ok(None);
        }
        let words = copied(self.bytes()?, bytes);
        if is_signed && format.signed && format.bits == bits {
            return Ok(Some(words));
        }
        let above = 64 - bits;
        let least = match format.signed {
            true => -1_i128 << (format.bits - 1),
            false => 0,
        };
        let most = least + (1_i128 << format.bits) - 1;
        let mut codes = Vec::with_capacity(words.len());
        for (place, code) in words.iter().enumerate() {
            let value = match is_signed {
                true => i128::from((code << above).cast_signed() >> above),
                false => i128::from(code),
            };
            if !(least..=most).contains(&value) {
                let (name, place) = (&self.name, self.place(place));
                return Err(argument(&format!(
                    "{name}: element {place} = {value} is no number of {format}: it takes {least} to {most}"
                )));
            }
            codes.push((value as u64) & format.mask());
        }
        Words::of(format, codes).raised().map(Some)
    }

    /// Where an element of the row-major order is.
    fn place(&self, index: usize) -> String {
        let mut left = index;
        let mut place = Vec::new();
        for &length in self.shape().iter().rev() {
            place.insert(0, left % length.max(1));
            left /= length.max(1);
        }
        format!("{place:?}")
    }

    /// Some of the elements as words of an operand, where these are the elements' own bits.
    pub(crate) fn own_words(
        &self,
        elements: Range<usize>,
        format: &Format,
        casting: &Casting,
    ) -> PyResult<Option<Words>> {
        let bytes = self.array.dtype().itemsize();
        let is_same = match element(&self.kind, bytes)? {
            Element::Number(own) => {
                own == *format
                    || format.container() == own && own.bits == 32 && casting.rounding.is_none()
            }
            _ => false,
        };
        let is_same =
            is_same && bytes * 8 == format.register.bits.max(8) as usize && format.bits >= 8;
        if !is_same {
            return Ok(None);
        }
        let part = elements.start * bytes..elements.end * bytes;
        Ok(self.bytes()?.get(part).map(|part| copied(part, bytes)))
    }

    /// How many elements there are.
    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }
}

/// Elements of so many bytes as words.
fn copied(bytes: &[u8], size: usize) -> Words {
    macro_rules! of {
        ($type:ty) => {{
            let elements = bytes.chunks_exact(size_of::<$type>());
            let word = |element: &[u8]| {
                <$type>::from_ne_bytes(std::array::from_fn(|index| element[index]))
            };
            Words::from(elements.map(word).collect::<Vec<$type>>())
        }};
    }
    match size {
        1 => Words::from(bytes.to_vec()),
        2 => of!(u16),
        4 => of!(u32),
        _ => of!(u64),
    }
}

/// Words as an array of unsigned integers of that shape.
pub(crate) fn to_numpy<'py>(
    py: Python<'py>,
    words: Words,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    match words {
        Words::U8(words) => shaped(PyArray1::from_vec(py, words), shape),
        Words::U16(words) => shaped(PyArray1::from_vec(py, words), shape),
        Words::U32(words) => shaped(PyArray1::from_vec(py, words), shape),
        Words::U64(words) => shaped(PyArray1::from_vec(py, words), shape),
    }
}

fn shaped<'py, T: numpy::Element>(
    array: Bound<'py, PyArray1<T>>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    Ok(array.reshape(shape)?.into_any())
}
