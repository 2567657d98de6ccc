//! A unit under comparison, and how it takes inputs that were made for another signature.

use super::number::{decode, number, translate, word};
use crate::dpa::OperandWords;
use crate::dpa::{Modifiers, Operands, Signature, Unit};
use crate::error::Result;
use crate::exact::Exact;
use crate::explain::Trace;
use crate::format::{Class, Format};
use crate::isa::Instruction;
use crate::vector::Vector;

/// Operands in the formats of an instruction, to be given to it and to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffInput {
    /// The formats of the words.
    pub signature: Signature,
    /// The words.
    pub case: OperandWords,
    /// Operand modifiers.
    pub modifiers: Modifiers,
}

impl DiffInput {
    /// Operands of an instruction, without modifiers.
    #[must_use]
    pub fn new(instruction: &Instruction, case: OperandWords) -> Self {
        Self {
            signature: instruction.signature,
            case,
            modifiers: Modifiers::default(),
        }
    }

    /// The operands and modifiers of a vector line; its result is left aside.
    #[must_use]
    pub fn of_vector(vector: Vector<'_>) -> Self {
        Self {
            signature: vector.instruction.signature,
            case: vector.words,
            modifiers: vector.modifiers,
        }
    }
}

/// An instruction that has a model.
#[derive(Clone, Copy, Debug)]
pub struct Contender<'c> {
    instruction: &'c Instruction,
    unit: &'c Unit,
}

impl<'c> Contender<'c> {
    /// An instruction as a subject.
    ///
    /// # Errors
    /// [`Error::Unmodelled`](crate::Error::Unmodelled).
    pub fn new(instruction: &'c Instruction) -> Result<Self> {
        let unit = instruction.unit()?;
        Ok(Self { instruction, unit })
    }

    /// The instruction.
    #[must_use]
    pub fn instruction(&self) -> &'c Instruction {
        self.instruction
    }

    /// Its unit.
    #[must_use]
    pub fn unit(&self) -> &'c Unit {
        self.unit
    }

    /// `ARCH:INST`.
    #[must_use]
    pub fn name(&self) -> String {
        format!(
            "{}:{}",
            self.instruction.architecture, self.instruction.name
        )
    }

    /// How inputs of another signature are given to this unit, in words; `None` when they fit as
    /// they are.
    #[must_use]
    pub fn handling(&self, signature: &Signature) -> Option<String> {
        let own = self.unit.signature();
        let mut parts = Vec::new();
        let formats = |s: &Signature| (s.a, s.b, s.c);
        if formats(own) != formats(signature) {
            parts.push(format!(
                "takes a={} b={} c={} where these hold the operands exactly",
                own.a, own.b, own.c
            ));
        }
        if own.k < signature.k {
            let slices = signature.k.div_ceil(own.k);
            parts.push(format!(
                "K={}: {slices} slices of k, ascending, each result the next slice's c",
                own.k
            ));
        } else if own.k > signature.k {
            parts.push(format!("K={}: padded with +0", own.k));
        }
        if own.scale != signature.scale {
            parts.push(match own.scale {
                Some(scale) => format!(
                    "takes scales in {} for every {} k where these hold them exactly",
                    scale.format, scale.block
                ),
                None => "has no scales: takes inputs whose scales are 1".to_owned(),
            });
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The result for an input; `None` when the unit's formats do not hold it exactly.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) when the words do not fit the input's signature, or
    /// the instruction lacks a modifier.
    pub fn compute(&self, input: &DiffInput) -> Result<Option<u64>> {
        let DiffInput {
            signature, case, ..
        } = input;
        case.operands().check(signature)?;
        self.instruction.check_modifiers(&input.modifiers)?;
        let own = self.unit.signature();
        if own == signature {
            let result = self.unit.dot(&case.operands(), &input.modifiers);
            return result.map(Some);
        }
        let Some(own_case) = self.carried(input) else {
            return Ok(None);
        };
        self.unit.check_chain(own_case.a.len())?;
        let blocks = own.scales();
        let mut c = own_case.c;
        let mut modifiers = input.modifiers;
        let mut result = None;
        for slice in 0..own_case.a.len() / own.k {
            if let Some(d) = result {
                let Some(next) = translate(d, &own.d, &own.c) else {
                    return Ok(None);
                };
                c = next;
                // The modifiers of c apply to the first slice only.
                (modifiers.no_c, modifiers.negate_c, modifiers.scale_d) = (false, false, 0);
            }
            let range = slice * own.k..(slice + 1) * own.k;
            let scales = slice * blocks..(slice + 1) * blocks;
            let operands = Operands {
                a: &own_case.a[range.clone()],
                b: &own_case.b[range],
                c,
                scale_a: &own_case.scale_a[scales.clone()],
                scale_b: &own_case.scale_b[scales],
            };
            result = Some(self.unit.dot(&operands, &modifiers)?);
        }
        Ok(result)
    }

    /// The input in the unit's own formats, if one instruction takes it.
    #[must_use]
    pub fn own(&self, input: &DiffInput) -> Option<DiffInput> {
        let signature = *self.unit.signature();
        if signature == input.signature {
            return Some(input.clone());
        }
        let case = self
            .carried(input)
            .filter(|case| case.a.len() == signature.k)?;
        Some(DiffInput {
            signature,
            case,
            modifiers: input.modifiers,
        })
    }

    /// The steps by which the result for an input is computed; `None` where [`Contender::compute`] gives none.
    ///
    /// # Errors
    /// As [`Contender::compute`].
    pub fn trace(&self, input: &DiffInput) -> Result<Option<Trace>> {
        if self.compute(input)?.is_none() {
            return Ok(None);
        }
        let own = (self.unit.signature() == &input.signature).then(|| input.case.clone());
        let Some(case) = own.or_else(|| self.carried(input)) else {
            return Ok(None);
        };
        Trace::of(self.unit, &case.operands(), &input.modifiers).map(Some)
    }

    /// The input in the unit's own formats, padded to whole slices.
    fn carried(&self, input: &DiffInput) -> Option<OperandWords> {
        let (own, theirs, case) = (self.unit.signature(), &input.signature, &input.case);
        let padded = theirs.k.div_ceil(own.k) * own.k;
        let row = |words: &[u64], from: &Format, to: &Format| -> Option<Vec<u64>> {
            let mut row: Vec<u64> = words
                .iter()
                .map(|word| translate(*word, from, to))
                .collect::<Option<_>>()?;
            row.resize(padded, 0);
            Some(row)
        };
        Some(OperandWords {
            a: row(&case.a, &theirs.a, &own.a)?,
            b: row(&case.b, &theirs.b, &own.b)?,
            c: translate(case.c, &theirs.c, &own.c)?,
            scale_a: self.scales(input, &case.scale_a, padded)?,
            scale_b: self.scales(input, &case.scale_b, padded)?,
        })
    }

    /// The scales of one operand for the unit's own blocks of `padded` k.
    fn scales(&self, input: &DiffInput, words: &[u64], padded: usize) -> Option<Vec<u64>> {
        let (theirs, own) = (input.signature.scale, self.unit.signature().scale);
        if theirs == own && padded == input.signature.k {
            return Some(words.to_vec());
        }
        let Some(own) = own else {
            let is_one =
                |format: &Format, word: u64| number(&decode(word, format)) == Some(Exact::ONE);
            let all_one = theirs.is_none_or(|s| words.iter().all(|word| is_one(&s.format, *word)));
            return all_one.then(Vec::new);
        };
        let one = word(&Exact::ONE, &own.format)?;
        let at = |k: usize| match theirs {
            Some(scale) if k < input.signature.k => {
                translate(words[k / scale.block], &scale.format, &own.format)
            }
            _ => Some(one),
        };
        (0..padded / own.block)
            .map(|block| {
                let first = block * own.block;
                let covered = (first..(first + own.block).min(input.signature.k)).map(at);
                let mut covered = covered.collect::<Option<Vec<u64>>>()?;
                covered.dedup();
                match covered[..] {
                    [] => Some(one),
                    [scale] => Some(scale),
                    _ => None,
                }
            })
            .collect()
    }

    /// Whether the result is one of several equally right NaNs.
    pub(super) fn is_any_nan(&self, word: u64) -> bool {
        let d = &self.unit.signature().d;
        !self.unit.program().nan_is_known() && decode(word, d).class == Class::Nan
    }
}
