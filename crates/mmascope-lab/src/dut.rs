//! Devices under test: the trait [`Dut`] for anything that computes `d = c + Σ a_k·b_k` on bits.
//!
//! A model of the catalogue, a process on a pipe and a C library stand behind one batched trait,
//! so that what probes, reveals and validates sees only [`Dut`]. A device that hangs, dies, answers
//! too little or nonsense, or answers the same question in two ways, gives an
//! [`Error::Device`] that names the query. Processes and C libraries are devices of `mmascope-host`.

mod gemm;
mod model;
mod noise_check;
mod tile;

pub use gemm::GemmDut;
pub use model::ModelDut;
pub use noise_check::NoiseCheckedDut;
pub use tile::Answers;

use crate::dpa::{Operands, Queries, Signature};
use crate::error::{Error, Result};
use crate::gemm::Matrices;
use crate::vector::Answer;

/// A device under test.
pub trait Dut: Send {
    /// Operand formats and K.
    fn signature(&self) -> &Signature;

    /// The name of the device in messages and reports: the subject as the user named it.
    fn name(&self) -> &str;

    /// Answers every query of the batch, in order.
    ///
    /// # Errors
    /// [`Error::Device`] naming the query; [`Error::Argument`] when the batch does not fit the
    /// signature.
    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>>;

    /// Whether it computes tiles itself, so that where an element lies may matter.
    fn has_tiles(&self) -> bool {
        false
    }

    /// Answers every dot product of a tile of one instruction: row i of A, column j of B, element
    /// (i, j) of C. A device that knows single dot products only is asked for them one by one, row
    /// by row.
    ///
    /// # Errors
    /// As [`Dut::run`]; [`Error::Argument`] when the tile is no single step of the signature.
    fn tile(&mut self, tile: &Matrices) -> Result<Answers> {
        tile::one_by_one(self, tile).map(Answers::Each)
    }
}

impl Dut for Box<dyn Dut> {
    fn signature(&self) -> &Signature {
        (**self).signature()
    }

    fn name(&self) -> &str {
        (**self).name()
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>> {
        (**self).run(batch)
    }

    fn has_tiles(&self) -> bool {
        (**self).has_tiles()
    }

    fn tile(&mut self, tile: &Matrices) -> Result<Answers> {
        (**self).tile(tile)
    }
}

/// Queries of equal signature: register words, query after query, k ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    signature: Signature,
    len: usize,
    /// K words a query.
    a: Vec<u64>,
    /// K words a query.
    b: Vec<u64>,
    /// One word a query.
    c: Vec<u64>,
    /// `signature.scales()` words a query.
    scale_a: Vec<u64>,
    /// `signature.scales()` words a query.
    scale_b: Vec<u64>,
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub fn new(signature: Signature) -> Self {
        let (a, b, c) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            signature,
            len: 0,
            a,
            b,
            c,
            scale_a: Vec::new(),
            scale_b: Vec::new(),
        }
    }

    /// Adds a query.
    ///
    /// # Errors
    /// [`Error::Argument`] when a length does not fit the signature.
    pub fn push(&mut self, query: &Operands<'_>) -> Result<()> {
        query.check(&self.signature)?;
        self.a.extend(query.a);
        self.b.extend(query.b);
        self.c.push(query.c);
        self.scale_a.extend(query.scale_a);
        self.scale_b.extend(query.scale_b);
        self.len += 1;
        Ok(())
    }

    /// Adds the queries of a batch of the same signature.
    pub(crate) fn append(&mut self, other: &Self) {
        debug_assert_eq!(self.signature, other.signature);
        self.a.extend_from_slice(&other.a);
        self.b.extend_from_slice(&other.b);
        self.c.extend_from_slice(&other.c);
        self.scale_a.extend_from_slice(&other.scale_a);
        self.scale_b.extend_from_slice(&other.scale_b);
        self.len += other.len;
    }

    /// Takes all queries out and keeps their memory.
    pub(crate) fn clear(&mut self) {
        let Self {
            signature: _,
            len,
            a,
            b,
            c,
            scale_a,
            scale_b,
        } = self;
        *len = 0;
        for words in [a, b, c, scale_a, scale_b] {
            words.clear();
        }
    }

    /// Every query.
    pub(crate) fn queries(&self) -> Queries<'_> {
        Queries {
            a: &self.a,
            b: &self.b,
            c: &self.c,
            scale_a: &self.scale_a,
            scale_b: &self.scale_b,
        }
    }

    /// Number of queries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no query.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The signature of every query.
    #[must_use]
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The words of every a: K words a query, k ascending.
    #[must_use]
    pub fn a(&self) -> &[u64] {
        &self.a
    }

    /// The words of every b: K words a query, k ascending.
    #[must_use]
    pub fn b(&self) -> &[u64] {
        &self.b
    }

    /// One accumulator input a query.
    #[must_use]
    pub fn c(&self) -> &[u64] {
        &self.c
    }

    /// The scales of A's blocks: [`Signature::scales`] words a query.
    #[must_use]
    pub fn scale_a(&self) -> &[u64] {
        &self.scale_a
    }

    /// The scales of B's blocks: [`Signature::scales`] words a query.
    #[must_use]
    pub fn scale_b(&self) -> &[u64] {
        &self.scale_b
    }

    /// One query.
    ///
    /// # Panics
    /// When `index` is not below [`Batch::len`].
    #[must_use]
    pub fn query(&self, index: usize) -> Operands<'_> {
        let (k, scales) = (self.signature.k, self.signature.scales());
        Operands {
            a: &self.a[index * k..(index + 1) * k],
            b: &self.b[index * k..(index + 1) * k],
            c: self.c[index],
            scale_a: &self.scale_a[index * scales..(index + 1) * scales],
            scale_b: &self.scale_b[index * scales..(index + 1) * scales],
        }
    }

    /// Checks that the batch is for a device of this signature.
    ///
    /// # Errors
    /// [`Error::Argument`] naming both signatures when they differ.
    pub fn check(&self, device: &Signature) -> Result<()> {
        if self.signature == *device {
            return Ok(());
        }
        Err(Error::Argument(format!(
            "the batch has {}, the device takes {device}",
            self.signature
        )))
    }
}
