//! Arrays to codes with block scales, and back: any axis, blocks at the end may be shorter.

use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::array::{Array, Element, elements_of};
use crate::dpa::Scale;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::random::philox;
use mmascope_model::precision::block::{
    BlockFormat, Quantiser, Recipe, check_scale, check_tensor_scale,
};
use mmascope_model::precision::cast::{Slice, slice_bits};

/// Codes and scales of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantised {
    /// What codes and scales are.
    pub format: BlockFormat,
    /// How the scales were chosen, where that is known.
    pub recipe: Option<Recipe>,
    /// The dimensions of the codes, outermost first.
    pub shape: Vec<usize>,
    /// The dimension along which blocks lie.
    pub axis: usize,
    /// Elements that share a scale.
    pub block: usize,
    /// One code for each element, row-major.
    pub codes: Vec<u8>,
    /// One code for each block: the same shape, but ⌈n/block⌉ along the axis.
    pub scales: Vec<u8>,
    /// An f32 word that every element is multiplied by; 1 where the format has no such scale.
    pub tensor_scale: u32,
}

/// How an array is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Elements along the axis, and what one step along it is.
    length: usize,
    inner: usize,
    /// Elements of a block.
    block: usize,
}

impl Cut {
    fn new(shape: &[usize], axis: usize, block: usize) -> Result<Self> {
        let Some(&length) = shape.get(axis) else {
            return Err(Error::Argument(format!(
                "axis {axis}: an array of shape {shape:?} has the axes 0 to {}",
                shape.len().saturating_sub(1)
            )));
        };
        if block == 0 {
            return Err(Error::Argument(
                "block 0: a block has at least 1 element".to_owned(),
            ));
        }
        if elements_of(shape).is_none_or(|count| count == 0) {
            return Err(Error::Argument(format!(
                "an array of shape {shape:?} has no elements"
            )));
        }
        Ok(Self {
            length,
            inner: shape[axis + 1..].iter().product(),
            block,
        })
    }

    fn blocks(&self) -> usize {
        self.length.div_ceil(self.block)
    }
}

/// The shape of the scales of an array.
#[must_use]
pub fn scale_shape(shape: &[usize], axis: usize, block: usize) -> Vec<usize> {
    let mut shape = shape.to_vec();
    if let Some(length) = shape.get_mut(axis) {
        *length = length.div_ceil(block.max(1));
    }
    shape
}

/// Quantises f32 words of an array. With a seed, elements are rounded stochastically by the random words
/// of Philox4x32-10 with that key and the element's index as counter; the result is the same for any
/// number of threads.
///
/// # Errors
/// [`Error::Argument`] when the axis, the block or the number of words does not fit;
/// [`Error::Cancelled`].
pub fn quantise(
    words: &[u32],
    shape: &[usize],
    axis: usize,
    block: usize,
    quantiser: &Quantiser,
    seed: Option<u64>,
    cancel: &AtomicBool,
) -> Result<Quantised> {
    let cut = Cut::new(shape, axis, block)?;
    if elements_of(shape) != Some(words.len()) {
        return Err(Error::Argument(format!(
            "{} words do not make an array of shape {shape:?}",
            words.len()
        )));
    }
    let tensor = quantiser.tensor(Quantiser::largest(words));
    let bits = slice_bits(&quantiser.format().element);
    let slice = |index: usize| {
        let key = seed.map(|seed| [seed as u32, (seed >> 32) as u32])?;
        let word = philox([index as u32, (index as u64 >> 32) as u32, 0, 0], key)[0];
        let value = u64::from(word) & (u64::MAX >> (64 - bits));
        Some(Slice { bits, value })
    };
    let Cut {
        length,
        inner,
        block,
    } = cut;
    let mut codes = vec![0; words.len()];
    let mut scales = vec![0; words.len() / length * cut.blocks()];
    let outer = codes
        .par_chunks_mut(length * inner)
        .zip(scales.par_chunks_mut(cut.blocks() * inner));
    outer.enumerate().for_each(|(outer, (codes, scales))| {
        let slabs = codes
            .par_chunks_mut(block * inner)
            .zip(scales.par_chunks_mut(inner));
        slabs.enumerate().for_each(|(number, (codes, scales))| {
            if cancel.load(Ordering::Relaxed) {
                return;
            }
            let first = outer * length * inner + number * block * inner;
            let rows = codes.len() / inner;
            let (mut values, mut made) = (vec![0; rows], vec![0; rows]);
            for (column, scale) in scales.iter_mut().enumerate() {
                let at = |row: usize| row * inner + column;
                for (row, value) in values.iter_mut().enumerate() {
                    *value = words[first + at(row)];
                }
                let random = |row| slice(first + at(row));
                *scale = quantiser.block(&values, &tensor, random, &mut made);
                for (row, code) in made.iter().enumerate() {
                    codes[at(row)] = *code;
                }
            }
        });
    });
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    Ok(Quantised {
        format: *quantiser.format(),
        recipe: Some(quantiser.recipe()),
        shape: shape.to_vec(),
        axis,
        block,
        codes,
        scales,
        tensor_scale: tensor.decode,
    })
}

impl Quantised {
    /// Checks that shapes, codes and scales fit each other.
    ///
    /// # Errors
    /// [`Error::Argument`] naming what does not fit, and what is allowed.
    pub fn check(&self) -> Result<()> {
        Cut::new(&self.shape, self.axis, self.block)?;
        let scales = scale_shape(&self.shape, self.axis, self.block);
        for (name, count, shape) in [
            ("codes", self.codes.len(), &self.shape),
            ("scale", self.scales.len(), &scales),
        ] {
            if elements_of(shape) != Some(count) {
                return Err(Error::Argument(format!(
                    "{name}: {count} elements; {shape:?} are needed for blocks of {} along axis {}",
                    self.block, self.axis
                )));
            }
        }
        let mask = self.format.element.mask();
        if let Some(at) = (self.codes.iter()).position(|code| u64::from(*code) > mask) {
            return Err(Error::Argument(format!(
                "codes: element {at} = {:#04x} is no code of {}; the largest is {mask:#x}",
                self.codes[at], self.format.element
            )));
        }
        for (place, code) in self.scales.iter().enumerate() {
            check_scale(&self.format, *code, place)?;
        }
        check_tensor_scale(self.tensor_scale)
    }

    /// The block of an element, as an index of the scales.
    #[must_use]
    pub fn block_of(&self, index: usize) -> usize {
        let length = self.shape[self.axis];
        let inner: usize = self.shape[self.axis + 1..].iter().product();
        let (outer, rest) = (index / (length * inner), index % (length * inner));
        let (row, column) = (rest / inner, rest % inner);
        (outer * length.div_ceil(self.block) + row / self.block) * inner + column
    }

    /// The elements as f32 words.
    #[must_use]
    pub fn dequantise(&self) -> Vec<u32> {
        // Few codes and scales are different: a table of all pairs.
        let codes = self.format.element.mask() as usize + 1;
        let pair = |pair: usize| {
            let (scale, code) = (pair / codes, pair % codes);
            self.format
                .dequantise(code as u8, scale as u8, self.tensor_scale)
        };
        let table: Vec<u32> = (0..codes << 8).map(pair).collect();
        let one = |(index, code): (usize, &u8)| {
            let scale = self.scales[self.block_of(index)];
            table[usize::from(scale) * codes + usize::from(*code) % codes]
        };
        self.codes.par_iter().enumerate().map(one).collect()
    }
}

/// What quantised matrices are as the operand of an instruction.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The codes.
    pub codes: Array,
    /// The scales: of A M × K/block, of B K/block × N, however the operand lies.
    pub scales: Array,
    /// The second scale, an f32 word.
    pub tensor_scale: u32,
}

impl Quantised {
    /// The operand of an instruction. `k_is_last` says that K is the last dimension of the file (A as it
    /// is, B transposed), `transposed` that the file holds the operand transposed.
    ///
    /// # Errors
    /// [`Error::Argument`] when elements, scales, block or axis are not what the instruction takes.
    pub fn operand(
        &self,
        name: &str,
        element: &Format,
        scale: Option<Scale>,
        k_is_last: bool,
        transposed: bool,
    ) -> Result<Operand> {
        let rank = self.shape.len();
        let wrong = |what: String| Err(Error::Argument(format!("{name}: {what}")));
        let Some(scale) = scale else {
            return wrong(format!(
                "{} has block scales; the instruction has none",
                self.format
            ));
        };
        if self.format.element != *element || self.format.scale != scale.format {
            return wrong(format!(
                "{} has {} elements with {} scales; the instruction takes {element} with {}",
                self.format, self.format.element, self.format.scale, scale.format
            ));
        }
        if self.block != scale.block {
            return wrong(format!(
                "blocks of {}; the instruction has one scale for every {} k",
                self.block, scale.block
            ));
        }
        let wanted = rank.checked_sub(if k_is_last { 1 } else { 2 });
        if Some(self.axis) != wanted || rank < 2 {
            return wrong(format!(
                "blocks lie along axis {} of the shape {:?}; K is axis {}",
                self.axis,
                self.shape,
                wanted.map_or("none".to_owned(), |axis| axis.to_string())
            ));
        }
        let byte = Element::Unsigned(1);
        let scales = scale_shape(&self.shape, self.axis, self.block);
        let (scales, bytes) = if transposed {
            swapped(&scales, &self.scales)
        } else {
            (scales, self.scales.clone())
        };
        Ok(Operand {
            codes: Array::new(
                &format!("{name}:codes"),
                &self.shape,
                byte,
                self.codes.clone(),
            )?,
            scales: Array::new(&format!("{name}:scale"), &scales, byte, bytes)?,
            tensor_scale: self.tensor_scale,
        })
    }
}

/// The last two dimensions change places.
fn swapped(shape: &[usize], bytes: &[u8]) -> (Vec<usize>, Vec<u8>) {
    let mut out = shape.to_vec();
    let rank = out.len();
    out.swap(rank - 1, rank - 2);
    let (rows, columns) = (shape[rank - 2], shape[rank - 1]);
    let one = |matrix: &[u8]| -> Vec<u8> {
        let column = |j: usize| (0..rows).map(move |i| i * columns + j);
        (0..columns).flat_map(column).map(|at| matrix[at]).collect()
    };
    (out, bytes.chunks(rows * columns).flat_map(one).collect())
}
