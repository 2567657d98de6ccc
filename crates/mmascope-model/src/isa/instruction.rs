//! Computes dot products and tiles by an instruction of the catalogue.

use super::{Instruction, Model};
use crate::dpa::{Events, Modifiers, Operands, Signature, Tiles, Unit};
use crate::error::{Error, Result};

impl Instruction {
    /// The unit that computes it.
    ///
    /// # Errors
    /// [`Error::Unmodelled`] when nobody has published its arithmetic.
    pub fn unit(&self) -> Result<&Unit> {
        match &self.model {
            Model::Known(unit) => Ok(unit),
            Model::Unmodelled(reason) => Err(Error::Unmodelled {
                name: format!("{}:{}", self.architecture, self.name),
                reason: reason.clone(),
            }),
        }
    }

    /// Its operand types alone: the signature of no K.
    pub(super) fn types(&self) -> Signature {
        Signature {
            k: 0,
            ..self.signature
        }
    }

    /// Whether the arithmetic is known.
    #[must_use]
    pub fn is_modelled(&self) -> bool {
        matches!(self.model, Model::Known(_))
    }

    /// Checks that the instruction has these operand modifiers.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the first one that it lacks.
    pub fn check_modifiers(&self, modifiers: &Modifiers) -> Result<()> {
        match modifiers
            .names()
            .find(|name| !self.modifiers.iter().any(|own| own == name))
        {
            None => Ok(()),
            Some(name) => Err(Error::Argument(format!(
                "{} has no modifier {name}; it has: {}",
                self.name,
                if self.modifiers.is_empty() {
                    "none".into()
                } else {
                    self.modifiers.join(" ")
                }
            ))),
        }
    }

    /// One element of D; see [`Unit::dot`].
    ///
    /// # Errors
    /// [`Error::Unmodelled`]; [`Error::Argument`] for wrong lengths or modifiers.
    ///
    /// ```
    /// use mmascope_model::{dpa::{Modifiers, Operands}, isa::Catalogue};
    /// let instruction = Catalogue::built_in().find("H100", "mma.m16n8k8.f32.f16.f16.f32")?;
    /// let ones = [0x3c00; 8];
    /// let operands = Operands { a: &ones, b: &ones, c: 0x3f80_0000, ..Operands::default() };
    /// assert_eq!(instruction.dot(&operands, &Modifiers::default())?, 0x4110_0000); // 9.0
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    pub fn dot(&self, operands: &Operands<'_>, modifiers: &Modifiers) -> Result<u64> {
        self.dot_with_flags(operands, modifiers)
            .map(|(word, _)| word)
    }

    /// The same with the bits of the status register that the result sets; `None` where no register
    /// is known. A `chained` row takes any multiple of K products.
    ///
    /// # Errors
    /// As [`Instruction::dot`].
    pub fn dot_with_flags(
        &self,
        operands: &Operands<'_>,
        modifiers: &Modifiers,
    ) -> Result<(u64, Option<u8>)> {
        self.check_modifiers(modifiers)?;
        let products = operands.a.len();
        let count = self.instructions_in(products);
        let is_chain = count > 1 && operands.b.len() == products && self.signature.scale.is_none();
        if is_chain {
            return self.chain_with_flags(operands, modifiers);
        }
        let (word, events) = self.unit()?.dot_with_events(operands, modifiers)?;
        Ok((word, self.flags.of(events)))
    }

    /// The same for any multiple of K products, whether the row is `chained` or not: d of each
    /// instruction is c of the next. What a modifier does to c is done to the first c. Block scales
    /// are not taken.
    ///
    /// # Errors
    /// As [`Instruction::dot`]; a last instruction with fewer than K products is a wrong length.
    pub fn chain_with_flags(
        &self,
        operands: &Operands<'_>,
        modifiers: &Modifiers,
    ) -> Result<(u64, Option<u8>)> {
        self.check_modifiers(modifiers)?;
        if operands.a.len() != operands.b.len() {
            let (a, b) = (operands.a.len(), operands.b.len());
            return Err(Error::Argument(format!(
                "a has {a} elements and b has {b}; a chain needs as many of both"
            )));
        }
        let (unit, k) = (self.unit()?, self.signature.k);
        unit.check_chain(operands.a.len())?;
        let (mut c, mut events) = (operands.c, Events::default());
        let mut modifiers = *modifiers;
        for (a, b) in operands.a.chunks(k).zip(operands.b.chunks(k)) {
            let own = Operands {
                a,
                b,
                c,
                ..Operands::default()
            };
            let (word, happened) = unit.dot_with_events(&own, &modifiers)?;
            events.join(happened);
            c = word;
            // What is done to c is done to the first one.
            modifiers = Modifiers {
                negate_a: modifiers.negate_a,
                negate_b: modifiers.negate_b,
                ..Modifiers::default()
            };
        }
        Ok((c, self.flags.of(events)))
    }

    /// How many instructions a dot product of so many products is.
    #[must_use]
    pub fn instructions_in(&self, products: usize) -> usize {
        match self.chained && products > 0 && products.is_multiple_of(self.signature.k) {
            true => products / self.signature.k,
            false => 1,
        }
    }

    /// D of one instruction, m × n; see [`Unit::tile`]. Any m and n are taken.
    ///
    /// # Errors
    /// [`Error::Unmodelled`]; [`Error::Argument`] for wrong lengths or modifiers.
    pub fn tile(&self, tiles: &Tiles<'_>, modifiers: &Modifiers) -> Result<Vec<u64>> {
        self.check_modifiers(modifiers)?;
        self.unit()?.tile(tiles, modifiers)
    }
}
