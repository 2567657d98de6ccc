//! What an instruction computes: a few statements over native algorithms (§3).

use super::output::{self, Output, PLUS_ZERO};
use super::pair::{ONE, Pair, Scales};
use super::{Codes, Dpa, Modifiers, Nan, Operands, Scale, Signature, general, ieee};
use crate::format::{Format, Unpacked};

/// A short program; its last statement computes d. Almost every row is one statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// Executed in order; the last one's value is d.
    pub statements: Vec<Statement>,
}

/// One statement: a name for the value, and how it comes about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Statement {
    /// The name that later statements use; `d` for the last one.
    pub name: String,
    /// What is done.
    pub operation: Operation,
    /// What its result becomes.
    pub output: Output,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Runs an algorithm over some of the k.
    Dot {
        /// The algorithm and its parameters.
        algorithm: Dpa,
        /// Format that the operands are widened to before, exactly. It matters because the units
        /// align by field exponents: a subnormal may become a normal number.
        widened: Option<Format>,
        /// Which k, in which order.
        over: Select,
        /// The accumulator it starts from.
        from: Source,
    },
    /// Adds two values and rounds.
    Add(Source, Source),
    /// Rounds a value to another format.
    Convert(Source),
    /// Several values and some products in one fused sum. No known unit needs it.
    Join {
        /// The sum's parameters; L does not matter.
        algorithm: Dpa,
        /// The k whose products take part.
        over: Vec<usize>,
        /// The values, at least one; the first one takes the place of c.
        of: Vec<Source>,
    },
}

/// A value that a statement reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The accumulator input c.
    C,
    /// +0 in the statement's result format.
    Zero,
    /// No value: an FMA chain that starts with a plain rounded product.
    Product,
    /// The value of an earlier statement, by its index.
    Statement(usize),
}

/// Which k a statement sums, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Select {
    /// Every k, ascending.
    All,
    /// The k with `k mod modulus` in the list, ascending.
    Residues {
        /// The modulus.
        modulus: usize,
        /// Residues, each below the modulus.
        residues: Vec<usize>,
    },
    /// These k in this order.
    List(Vec<usize>),
}

impl Select {
    /// The k in order, for a dot product of `k` terms.
    #[must_use]
    pub fn indices(&self, k: usize) -> Vec<usize> {
        let mut indices = Vec::new();
        self.each(k, |index| indices.push(index));
        indices
    }

    /// Every k in order.
    fn each(&self, k: usize, mut action: impl FnMut(usize)) {
        match self {
            Self::All => (0..k).for_each(action),
            Self::Residues { modulus, residues } => {
                let mut residue = 0;
                for index in 0..k {
                    if residues.contains(&residue) {
                        action(index);
                    }
                    residue = if residue + 1 == *modulus {
                        0
                    } else {
                        residue + 1
                    };
                }
            }
            Self::List(list) => list.iter().copied().for_each(action),
        }
    }
}

impl Program {
    /// The output of the last statement: format, rounding and NaN of d.
    ///
    /// # Panics
    /// Never for a program that came from the notation, which has at least one statement.
    #[must_use]
    pub fn output(&self) -> &Output {
        &self
            .statements
            .last()
            .expect("a program has at least one statement")
            .output
    }

    /// Runs the program. The operands have been checked against the signature and are register
    /// words; the result is a register word. A NaN whose payload is unknown ([`Nan::Any`]) comes
    /// back as the default quiet NaN.
    pub(crate) fn run(
        &self,
        signature: &Signature,
        operands: &Operands<'_>,
        modifiers: &Modifiers,
    ) -> u64 {
        let scales = decode_scales(signature, operands);
        let pairs = decode_pairs(signature, operands, &scales, modifiers, self.codes());
        let c = decode_c(signature, operands, modifiers);
        let mut values: Vec<u64> = Vec::with_capacity(self.statements.len());
        for Statement {
            operation, output, ..
        } in &self.statements
        {
            let zero = output.unpack(PLUS_ZERO);
            let read = |source: Source| match source {
                Source::C => c,
                Source::Zero | Source::Product => zero,
                Source::Statement(index) => self.statements[index].output.unpack(values[index]),
            };
            let value = match operation {
                Operation::Dot {
                    algorithm,
                    widened,
                    over,
                    from,
                } => {
                    let start = (*from != Source::Product).then(|| read(*from));
                    if *over == Select::All && widened.is_none() {
                        algorithm.run(&pairs, start, output)
                    } else {
                        let mut chosen: Vec<Pair<'_>> = Vec::with_capacity(pairs.len());
                        over.each(pairs.len(), |k| {
                            chosen
                                .push(widened.map_or(pairs[k], |format| pairs[k].widened(&format)));
                        });
                        algorithm.run(&chosen, start, output)
                    }
                }
                Operation::Add(left, right) => ieee::add(&read(*left), &read(*right), output),
                Operation::Convert(source) => output::convert(&read(*source), output),
                Operation::Join {
                    algorithm,
                    over,
                    of,
                } => {
                    let values = of[1..].iter().map(|&source| Pair {
                        a: read(source),
                        b: ONE,
                        scales: &Scales::NONE,
                    });
                    let terms: Vec<Pair> = over.iter().map(|&k| pairs[k]).chain(values).collect();
                    algorithm.run_whole(&terms, read(of[0]), output)
                }
            };
            let value = general::finished(value, output);
            values.push(value);
        }
        values.last().map_or(PLUS_ZERO, |&word| word)
    }

    /// What the ∞ and NaN codes of a and b mean: the first step that says so says it for all.
    pub(crate) fn codes(&self) -> Codes {
        let of = |statement: &Statement| match &statement.operation {
            Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } => match algorithm
            {
                Dpa::General(step) => step.terms().codes,
                _ => Codes::Special,
            },
            _ => Codes::Special,
        };
        let mut codes = self.statements.iter().map(of);
        codes
            .find(|codes| *codes != Codes::Special)
            .unwrap_or_default()
    }

    /// Whether every NaN result is one known word.
    #[must_use]
    pub fn nan_is_known(&self) -> bool {
        self.output().nan != Nan::Any
    }
}

/// The scales of every block of k; none for a unit without.
fn decode_scales(signature: &Signature, operands: &Operands<'_>) -> Vec<Scales> {
    let Some(Scale { format, .. }) = &signature.scale else {
        return Vec::new();
    };
    let decode = |word: &u64| format.decode(format.from_register(*word));
    (operands.scale_a.iter().zip(operands.scale_b))
        .map(|(a, b)| Scales {
            a: decode(a),
            b: decode(b),
        })
        .collect()
}

fn decode_pairs<'a>(
    signature: &Signature,
    operands: &Operands<'_>,
    scales: &'a [Scales],
    modifiers: &Modifiers,
    codes: Codes,
) -> Vec<Pair<'a>> {
    let decode = |format: &Format, word: u64| codes.decode(format, format.from_register(word));
    let negate = |value: Unpacked, by: bool| Unpacked {
        negative: value.negative ^ by,
        ..value
    };
    let block = signature.scale.map_or(signature.k, |scale| scale.block);
    (0..signature.k)
        .map(|k| Pair {
            a: negate(decode(&signature.a, operands.a[k]), modifiers.negate_a),
            b: negate(decode(&signature.b, operands.b[k]), modifiers.negate_b),
            scales: scales.get(k / block).unwrap_or(&Scales::NONE),
        })
        .collect()
}

fn decode_c(signature: &Signature, operands: &Operands<'_>, modifiers: &Modifiers) -> Unpacked {
    let word = if modifiers.no_c { 0 } else { operands.c };
    let c = signature.c.decode(signature.c.from_register(word));
    let negative = c.negative ^ (modifiers.negate_c && !modifiers.no_c);
    Unpacked {
        negative,
        exponent: c.exponent + modifiers.scale_d,
        ..c
    }
}
