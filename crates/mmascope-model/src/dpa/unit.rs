//! Units: operand formats and a program that fit each other. A unit simulates an instruction.

use super::{
    Codes, Decoded, Dpa, Events, Modifiers, Nan, Operands, Operation, Program, Queries, Reading,
    Select, Signature, TakenBits,
};
use crate::error::{Error, Result};
use crate::format::{Class, Float, Format, Kind, Specials};

/// A matrix unit's arithmetic for given formats and K: what computes one element of D.
///
/// ```
/// use mmascope_model::dpa::{Modifiers, Operands, Scale, Signature, Unit};
/// use mmascope_model::format::{F16, F32};
///
/// // Volta's f16 → f32 unit, from its notation.
/// let signature = Signature { a: F16, b: F16, c: F32, d: F32, k: 4, scale: None };
/// let unit = Unit::new(signature, "t-fdpa L=4 F=23 e0=-131 -> rz f32 nan=7fffffff".parse()?)?;
///
/// // 2^23 − 2^23 − 1/2 − 1/4 − 1/8: the small products are truncated away.
/// let operands = Operands {
///     a: &[0xf000, 0xb800, 0xb400, 0xb000], // -2^13, -1/2, -1/4, -1/8
///     b: &[0x6400, 0x3c00, 0x3c00, 0x3c00], //  2^10, 1, 1, 1
///     c: 0x4b00_0000,                       //  2^23
///     ..Operands::default()
/// };
/// assert_eq!(unit.dot(&operands, &Modifiers::default())?, 0);
/// # Ok::<(), mmascope_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    signature: Signature,
    program: Program,
}

/// The operands of one instruction as row-major tiles of register words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tiles<'a> {
    /// Rows of A, C and D.
    pub m: usize,
    /// Columns of B, C and D.
    pub n: usize,
    /// A, m × K.
    pub a: &'a [u64],
    /// B, K × n.
    pub b: &'a [u64],
    /// C, m × n.
    pub c: &'a [u64],
    /// Scales of A, m × K/block; empty when there are none.
    pub scale_a: &'a [u64],
    /// Scales of B, K/block × n; empty when there are none.
    pub scale_b: &'a [u64],
}

impl Unit {
    /// Joins a signature and a program.
    ///
    /// # Errors
    /// [`Error::Argument`] when they do not fit: formats that the algorithm cannot take, block
    /// scales missing or in excess, a k that is summed twice or not at all.
    pub fn new(signature: Signature, program: Program) -> Result<Self> {
        let unit = Self { signature, program };
        unit.check().map_err(|message| {
            Error::Argument(format!(
                "{message} (in '{}' with {signature})",
                unit.program
            ))
        })?;
        Ok(unit)
    }

    /// The operand formats and K.
    #[must_use]
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// What is computed.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// One element of D: the register word of `d = c + Σ a_k·b_k` as the unit computes it.
    ///
    /// # Errors
    /// [`Error::Argument`] when a length or a word does not fit the signature.
    pub fn dot(&self, operands: &Operands<'_>, modifiers: &Modifiers) -> Result<u64> {
        self.dot_with_events(operands, modifiers)
            .map(|(word, _)| word)
    }

    /// Refuses chains of instructions that subtract their accumulators: what they add alternates in sign.
    ///
    /// # Errors
    /// [`Error::Argument`] when `k` products take more than one instruction of such a unit.
    pub fn check_chain(&self, k: usize) -> Result<()> {
        let native = self.signature().k;
        if self.program().signs().c < 0 && k > native {
            return Err(Error::Argument(format!(
                "K = {k}: the instruction subtracts its accumulator, so that a chain of several would add and \
                 subtract by turns; K = {native} is possible"
            )));
        }
        Ok(())
    }

    /// The unit of one block, where an instruction is a chain of such: the result of each is the c of the next, so that
    /// instructions of any K that have this block compute the same chain. `None` where an instruction is more than that.
    #[must_use]
    pub fn one_block(&self) -> Option<Self> {
        let Signature { c, d, k, scale, .. } = self.signature;
        let block = self.program.one_chain()?.block();
        // (A result may have codes that are numbers, which are ∞ or NaN as the next instruction's c.)
        let reads_alike = self.program.output().format.container() == c.container()
            || self.program.knows_numbers_only();
        let is_chained = scale.is_none() && c == d && reads_alike && k.is_multiple_of(block);
        let signature = Signature {
            k: block,
            ..self.signature
        };
        is_chained.then(|| Self::new(signature, self.program.clone()).ok())?
    }

    /// The same with what happened, for units that have status flags: the events of every statement.
    ///
    /// # Errors
    /// As [`Unit::dot`].
    pub fn dot_with_events(
        &self,
        operands: &Operands<'_>,
        modifiers: &Modifiers,
    ) -> Result<(u64, Events)> {
        check_operands(&self.signature, operands, modifiers)?;
        let mut events = Events::default();
        let word = (self.program).run(&self.signature, operands, modifiers, &mut events);
        Ok((word, events))
    }

    /// One element of D for each query of many, by the same steps as [`Unit::dot`]; memory is used again.
    ///
    /// # Errors
    /// As [`Unit::dot`], for the first query that does not fit.
    pub fn dots(&self, queries: &Queries<'_>) -> Result<Vec<u64>> {
        let Signature { a, b, c, scale, .. } = &self.signature;
        let scale = scale.map_or(*a, |scale| scale.format);
        let fits = fits(queries.a, a)
            && fits(queries.b, b)
            && fits(queries.c, c)
            && fits(queries.scale_a, &scale)
            && fits(queries.scale_b, &scale);
        let length = |words: &[u64], each: usize| words.len() == each * queries.c.len();
        let (k, blocks) = (self.signature.k, self.signature.scales());
        let is_whole = length(queries.a, k)
            && length(queries.b, k)
            && length(queries.scale_a, blocks)
            && length(queries.scale_b, blocks);
        if !fits || !is_whole {
            let none = Modifiers::default();
            let each = (0..queries.c.len()).map(|at| self.dot(&queries.at(at, k, blocks), &none));
            return each.collect();
        }
        Ok(self.program.run_each(&self.signature, queries))
    }

    /// The same for operands that were decoded for this signature; `operands` are the words they
    /// came from.
    pub fn dot_decoded(&self, decoded: &Decoded, operands: &Operands<'_>) -> u64 {
        let run = || {
            let (none, events) = (Modifiers::default(), &mut Events::default());
            (self.program).run(&self.signature, operands, &none, events)
        };
        self.program.run_decoded(decoded).unwrap_or_else(run)
    }

    /// One instruction: D, m × n, row-major.
    ///
    /// # Errors
    /// [`Error::Argument`] when the length of a tile does not fit m, n and K, or a word its format.
    pub fn tile(&self, tiles: &Tiles<'_>, modifiers: &Modifiers) -> Result<Vec<u64>> {
        let Tiles { m, n, .. } = *tiles;
        let (k, blocks) = (self.signature.k, self.signature.scales());
        let shapes = [
            ("a", tiles.a.len(), m, k),
            ("b", tiles.b.len(), k, n),
            ("c", tiles.c.len(), m, n),
            ("scale_a", tiles.scale_a.len(), m, blocks),
            ("scale_b", tiles.scale_b.len(), blocks, n),
        ];
        for (name, length, rows, columns) in shapes {
            if Some(length) != rows.checked_mul(columns) {
                return Err(Error::Argument(format!(
                    "{name} has {length} elements; {rows} × {columns} are needed"
                )));
            }
        }
        modifiers.check_limits().map_err(Error::Argument)?;
        check_scale(modifiers, &self.signature.c)?;
        let signature = &self.signature;
        check_words("a", tiles.a, &signature.a)?;
        check_words("b", tiles.b, &signature.b)?;
        check_words("c", tiles.c, &signature.c)?;
        if let Some(scale) = signature.scale {
            check_words("scale_a", tiles.scale_a, &scale.format)?;
            check_words("scale_b", tiles.scale_b, &scale.format)?;
        }
        let column = |matrix: &[u64], rows: usize, j: usize| -> Vec<u64> {
            (0..rows).map(|i| matrix[i * n + j]).collect()
        };
        let columns: Vec<_> = (0..n)
            .map(|j| (column(tiles.b, k, j), column(tiles.scale_b, blocks, j)))
            .collect();
        let mut d = Vec::with_capacity(m * n);
        for i in 0..m {
            for (j, (b, scale_b)) in columns.iter().enumerate() {
                let operands = Operands {
                    a: &tiles.a[i * k..(i + 1) * k],
                    b,
                    c: tiles.c[i * n + j],
                    scale_a: &tiles.scale_a[i * blocks..(i + 1) * blocks],
                    scale_b,
                };
                let events = &mut Events::default();
                d.push((self.program).run(&self.signature, &operands, modifiers, events));
            }
        }
        Ok(d)
    }

    /// Whether `got` is a right answer where `expected` is given: the same word, or both NaN where
    /// the unit's NaN payload is not known.
    #[must_use]
    pub fn agrees(&self, expected: u64, got: u64) -> bool {
        expected == got || !self.program.nan_is_known() && self.is_nan(expected) && self.is_nan(got)
    }

    /// Whether a word of D is a NaN.
    #[must_use]
    pub fn is_nan(&self, word: u64) -> bool {
        let d = &self.signature.d;
        d.decode(d.from_register(word)).class == Class::Nan
    }

    /// The format by which words of D are read: D's, or the same with every code a number where the unit makes none
    /// of infinity and NaN of its own. (Its largest number then stands for overflow.)
    #[must_use]
    pub fn result_format(&self) -> Format {
        let own = self.program.output().format;
        match own.is_numbers_only() && own.bits == self.signature.d.bits {
            true => own,
            false => self.signature.d,
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        let Signature {
            a,
            b,
            c,
            d,
            k,
            scale,
        } = self.signature;
        self.program.check_limits()?;
        if !(1..=4096).contains(&k) {
            return Err(format!("K={k}: 1 to 4096 are supported"));
        }
        for (name, format) in [("a", a), ("b", b)] {
            let is_integer = matches!(format.kind, Kind::Fixed { .. });
            if !is_integer && !format.signed {
                return Err(format!(
                    "{name} is {format}: signed floats and integers are supported"
                ));
            }
        }
        for (name, format) in [("c", c), ("d", d)] {
            let is_float = format.float().is_some() && format.signed;
            if !is_float && !self.program.sums_integers() {
                return Err(format!("{name} is {format}: signed floats are supported"));
            }
        }
        let result = self.program.output().format.container();
        // (The result's codes may all be numbers.)
        if result.without_specials() != d.container().without_specials() {
            return Err(format!("the program gives {result}, but d is {d}"));
        }
        if let Some(scale) = scale {
            if scale.block == 0 || k % scale.block != 0 {
                return Err(format!(
                    "a scale block of {} does not divide K={k}",
                    scale.block
                ));
            }
            // Signs and infinities of scales are nowhere defined.
            let finite = |float: Float| float.specials != Specials::Ieee;
            let fits = !scale.format.signed && scale.format.bits <= 8;
            if !fits || !scale.format.float().is_some_and(finite) {
                return Err(format!("{} is no format of block scales", scale.format));
            }
        }
        if matches!(self.program.output().nan, Nan::Operand(_)) && !self.program.is_chain() {
            return Err(
                "nan=operand is of programs that are one statement with one product a block".into(),
            );
        }
        let numbers = self.program.codes == Codes::Numbers;
        if self.program.knows_numbers_only() && !numbers {
            return Err("its steps take every code for a number: say codes=numbers".into());
        }
        let mut used: Vec<Vec<Use>> = vec![Vec::new(); k];
        let mut uses = |index: usize, reading: Use| match used.get_mut(index) {
            Some(own) if !own.iter().any(|other| other.meets(&reading)) => {
                own.push(reading);
                Ok(())
            }
            _ => Err(format!("k={index} is summed twice or is not below K={k}")),
        };
        // Every sum of products multiplies by the scales: one that does not would drop them.
        let scaled = |is_scaled: bool| match (scale.is_some(), is_scaled) {
            (true, false) => {
                let scaled = Dpa::all().filter(Dpa::takes_scales);
                // (`fused` takes scales too, and is of operands without them as well.)
                let names: Vec<&str> = scaled.map(|step| step.name()).chain(["fused"]).collect();
                let names = names.join(" or ");
                Err(format!("the block scales are not used: {names}?"))
            }
            (false, true) => Err("block scales are needed".to_owned()),
            _ => Ok(()),
        };
        for statement in &self.program.statements {
            if let Operation::Join {
                algorithm, over, ..
            } = &statement.operation
            {
                over.iter().try_for_each(|&index| uses(index, Use::WHOLE))?;
                let none = over.is_empty();
                let over = Select::List(over.clone());
                let is_scaled = algorithm.fits(&self.signature, &over, &statement.output.format)?;
                // Without products there is nothing to scale.
                scaled(is_scaled || none && scale.is_some())?;
            }
            let Operation::Dot {
                algorithm,
                operands,
                over,
                ..
            } = &statement.operation
            else {
                continue;
            };
            for operand in [a, b] {
                if let Some(format) = operands.widened
                    && !format.has_all_values_of(&operand)
                {
                    return Err(format!("{operand} cannot be widened to {format}"));
                }
                // Numbers that are normal only in the narrower format would count with another exponent.
                if let Some(format) = operands.widened
                    && let (Some(wide), Some(own)) = (format.float(), operand.float())
                    && wide.emin() > own.emin()
                {
                    return Err(format!(
                        "{operand} cannot be widened to {format}, whose smallest normal number is larger"
                    ));
                }
            }
            for index in over.indices(k) {
                let bits = algorithm.parts();
                uses(
                    index,
                    Use {
                        operands: *operands,
                        bits,
                    },
                )?;
            }
            scaled(algorithm.fits(&self.signature, over, &statement.output.format)?)?;
            algorithm.takes(&statement.output)?;
        }
        if let Some(index) = used.iter().position(Vec::is_empty) {
            return Err(format!("k={index} is not summed"));
        }
        Ok(())
    }
}

/// Which bits of a product a statement sums: those that it reads, and of them those that its step multiplies.
#[derive(Clone, Copy)]
struct Use {
    operands: Reading,
    bits: Option<(TakenBits, TakenBits)>,
}

impl Use {
    const WHOLE: Self = Self {
        operands: Reading::WHOLE,
        bits: None,
    };

    /// Whether both sum the product of some bits.
    fn meets(&self, other: &Self) -> bool {
        let bits = match (self.bits, other.bits) {
            (Some(own), Some(other)) => own.0.meets(other.0) && own.1.meets(other.1),
            _ => true,
        };
        bits && self.operands.overlaps(&other.operands)
    }
}

/// Checks lengths, words and modifiers.
pub(crate) fn check_operands(
    signature: &Signature,
    operands: &Operands<'_>,
    modifiers: &Modifiers,
) -> Result<()> {
    operands.check(signature)?;
    modifiers.check_limits().map_err(Error::Argument)?;
    let Signature { a, b, c, scale, .. } = signature;
    check_scale(modifiers, c)?;
    check_words("a", operands.a, a)?;
    check_words("b", operands.b, b)?;
    check_words("c", &[operands.c], c)?;
    if let Some(scale) = scale {
        check_words("scale_a", operands.scale_a, &scale.format)?;
        check_words("scale_b", operands.scale_b, &scale.format)?;
    }
    Ok(())
}

/// Checks that a scale of c, a power of two below 1, is not asked of an integer.
fn check_scale(modifiers: &Modifiers, c: &Format) -> Result<()> {
    match modifiers.scale_d {
        scale if scale != 0 && c.float().is_none() => Err(Error::Argument(format!(
            "scaleD={scale}: c is {c}, and a part of an integer is none"
        ))),
        _ => Ok(()),
    }
}

/// Whether every word is one of the format's register.
fn fits(words: &[u64], format: &Format) -> bool {
    // The bits of all words together have one above the register's if a word has.
    let bits = words.iter().fold(0, |bits, word| bits | word);
    bits <= format.widest_word()
}

/// Checks that every word is one of the format's register.
fn check_words(name: &str, words: &[u64], format: &Format) -> Result<()> {
    if fits(words, format) {
        return Ok(());
    }
    let widest = format.widest_word();
    match words.iter().position(|&word| word > widest) {
        None => Ok(()),
        Some(index) => Err(Error::Argument(format!(
            "{name}[{index}] is {:x}, wider than a word of {format} (at most {widest:x})",
            words[index]
        ))),
    }
}
