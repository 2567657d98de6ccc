//! The trait [`Summation`]: anything that sums, behind one batched interface.

use crate::error::Result;
use crate::format::Format;
use crate::tree::Term;

/// The masks of a format: M, the unit, and how many units are counted exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Masks {
    /// M, absorbing every partial sum of units.
    pub large: f64,
    /// The unit u.
    pub unit: f64,
    /// Sums of up to this many units are exact in the accumulator, as far as its format tells.
    pub counted: f64,
}

impl Masks {
    /// The masks for sums in a format: M near the top of its range, u = 1 or, where the range is
    /// short, as far below M as it reaches.
    #[must_use]
    pub fn of(format: Format) -> Self {
        let Some(float) = format.float() else {
            return Self {
                large: 1.0,
                unit: 1.0,
                counted: 1.0,
            };
        };
        let top = (1 << (float.exponent_bits - 1)) - 1;
        let large = crate::tree::power_of_two(top.min((1 << float.exponent_bits) - 2 - float.bias));
        let wide = float.exponent_bits >= 8;
        Self {
            large,
            unit: crate::tree::power_of_two(if wide { 0 } else { float.emin() }),
            counted: crate::tree::power_of_two(float.fraction_bits as i32 + 1),
        }
    }

    /// Masks and units of operands whose sums have another format, which says how many units are counted.
    #[must_use]
    pub fn between(operands: Format, results: Format) -> Self {
        Self {
            counted: Self::of(results).counted,
            ..Self::of(operands)
        }
    }

    /// The number of [`Masks::choice`]s.
    #[must_use]
    pub fn choices(operands: Format) -> usize {
        let is_narrow = operands
            .float()
            .is_some_and(|float| float.exponent_bits < 8);
        1 + usize::from(is_narrow)
    }

    /// Masks of a choice. Operands with few exponents have two: first units that are subnormal, so that masks absorb many of
    /// them in sums of f32, then normal ones, for what makes subnormal numbers 0.
    #[must_use]
    pub fn choice(operands: Format, results: Format, choice: usize) -> Self {
        let masks = Self::between(operands, results);
        match operands.float() {
            Some(float) if choice + 1 < Self::choices(operands) => Self {
                unit: crate::tree::power_of_two(float.emin() - float.fraction_bits as i32),
                ..masks
            },
            _ => masks,
        }
    }

    /// log2(M / u).
    #[must_use]
    pub fn span(&self) -> i32 {
        (self.large.log2() - self.unit.log2()) as i32
    }
}

/// One masked input, over the units that go with the whole batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The leaf that has +M.
    pub plus: Option<usize>,
    /// The leaf that has −M.
    pub minus: Option<usize>,
    /// Only this leaf has a unit (of weight 1), whatever the batch's units are.
    pub only: Option<usize>,
}

/// A summation: a fixed number of leaves, summed in an order that is to be found.
///
/// Python callables, processes, collectives: whatever evaluates many inputs at once can stand
/// behind this trait.
pub trait Summation {
    /// The subject as the user named it.
    fn name(&self) -> &str;

    /// Asks what must be known before there are masks, for instance a factor of the results; gives the
    /// number of inputs this took. Called once, before anything else is asked.
    ///
    /// # Errors
    /// The subject's.
    fn prepare(&mut self) -> Result<usize> {
        Ok(0)
    }

    /// Number of summands.
    fn leaves(&self) -> usize;

    /// Name of a summand.
    fn leaf_name(&self, leaf: usize) -> String {
        if self.products() {
            format!("p{leaf}")
        } else {
            format!("x{leaf}")
        }
    }

    /// Format of the result, assumed for every node until measured.
    fn format(&self) -> Format;

    /// Format of operands, and of a product that is rounded by itself.
    fn operand_format(&self) -> Format {
        self.format()
    }

    /// Whether the summands are products.
    fn products(&self) -> bool {
        false
    }

    /// Whether this leaf is a product; c is none.
    fn is_product(&self, leaf: usize) -> bool {
        let _ = leaf;
        self.products()
    }

    /// Remarks for the report, beside the tree.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// The number of inputs that one call of the subject takes.
    fn capacity(&self) -> usize {
        1
    }

    /// The masks in use.
    fn masks(&self) -> Masks;

    /// The number of choices of masks; they are tried in order until one passes its check.
    fn choices(&self) -> usize {
        1
    }

    /// Takes another choice of masks.
    fn choose(&mut self, _choice: usize) {}

    /// Raises the unit by 2^`shift` over the chosen one; false when that is not possible.
    fn raise_unit(&mut self, _shift: i32) -> bool {
        false
    }

    /// Length of the blocks that share a scale, if masks can be raised by scaling blocks.
    fn block(&self) -> Option<usize> {
        None
    }

    /// Scales the blocks of masks up and all others down; gives the span reached.
    fn raise_blocks(&mut self, _on: bool) -> Option<i32> {
        None
    }

    /// Fraction bits that a sum keeps when its last leaf is far larger than the first, if that can
    /// be measured.
    ///
    /// # Errors
    /// The subject's.
    fn alignment(&mut self) -> Result<Option<i32>> {
        Ok(None)
    }

    /// The results of masked inputs, in units. `units` has a weight for every leaf, 0 for none.
    ///
    /// # Errors
    /// The subject's.
    fn measure(&mut self, units: &[f64], queries: &[Query]) -> Result<Vec<f64>>;

    /// The results of given inputs, a term a leaf.
    ///
    /// # Errors
    /// The subject's.
    fn evaluate(&mut self, inputs: &[Vec<Term>]) -> Result<Vec<f64>>;

    /// The results of inputs that have one term at every leaf but a few.
    ///
    /// # Errors
    /// The subject's.
    fn evaluate_sparse(
        &mut self,
        background: Term,
        inputs: &[Vec<(usize, Term)>],
    ) -> Result<Vec<f64>> {
        let leaves = self.leaves();
        let full = inputs.iter().map(|terms| {
            let mut input = vec![background; leaves];
            for &(leaf, term) in terms {
                input[leaf] = term;
            }
            input
        });
        self.evaluate(&full.collect::<Vec<_>>())
    }

    /// Format of fused nodes' results where their arithmetic is known from elsewhere: the instruction
    /// behind a matrix product.
    fn fused_format(&self) -> Option<Format> {
        None
    }

    /// The result of one fused node by that arithmetic, from its children: leaves, or sums of other
    /// nodes (their numbers are not below [`Summation::leaves`]). `None` where they are no one step.
    ///
    /// # Errors
    /// Those of whatever knows the arithmetic.
    fn fused_sum(&mut self, _children: &[(usize, Term)]) -> Result<Option<f64>> {
        Ok(None)
    }

    /// Random terms for verification: from these bits, within the range where sums do not
    /// overflow.
    fn random_term(&self, leaf: usize, bits: u64) -> Term {
        let _ = leaf;
        let number = |bits: u64| {
            let magnitude = 1.0 + (bits >> 12) as f64 / (1_u64 << 52) as f64;
            let signed = if bits & 1 == 1 { -magnitude } else { magnitude };
            let value = signed * crate::tree::power_of_two((bits >> 1 & 7) as i32 - 4);
            crate::tree::round(self.operand_format(), value)
        };
        if self.products() {
            let other = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
            Term::Product(number(bits), number(other))
        } else {
            Term::Value(number(bits))
        }
    }
}

/// A random term of functions that may sum narrow numbers in f32: sums of such numbers of like size are exact there,
/// whatever their order, so that their exponents lie far apart.
#[must_use]
pub fn spread_term(operands: Format, products: bool, bits: u64) -> Term {
    let (span, top) = match operands.float() {
        Some(float) if operands.bits <= 16 && float.exponent_bits >= 8 => (31, 4),
        Some(float) if operands.bits <= 16 => (1 << (float.exponent_bits - 1), 1),
        _ => (7, 3),
    };
    let number = |bits: u64| {
        let magnitude = 1.0 + (bits >> 12) as f64 / (1_u64 << 52) as f64;
        let signed = if bits & 1 == 1 { -magnitude } else { magnitude };
        let exponent = top - (bits >> 1 & 31) as i32 % (span + 1);
        crate::tree::round(operands, signed * crate::tree::power_of_two(exponent))
    };
    if products {
        let other = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        Term::Product(number(bits), number(other))
    } else {
        Term::Value(number(bits))
    }
}
