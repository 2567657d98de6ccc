//! Programs: what an instruction computes, as a few statements over native algorithms (§3).

use super::decoded::{self, Decoded};
use super::named::Beginning;
use super::output::{self, Output, PLUS_ZERO};
use super::pair::{ONE, Pair, Scales};
use super::product::{self, Product};
use super::{
    Addends, Codes, Dpa, Events, IntDot, Modifiers, Nan, Operands, Queries, Reading, Signature,
    general, ieee,
};
use crate::format::{Class, Format, Overflow, Unpacked};

/// Statements whose values need no memory of their own; almost every program has so few.
const FEW: usize = 8;

/// A short program; its last statement computes d. Almost every row is one statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// What the ∞ and NaN codes of a and b mean, for every statement.
    pub codes: Codes,
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
        /// How it reads the operands.
        operands: Reading,
        /// Which k, in which order.
        over: Select,
        /// What its first block begins with.
        from: Start,
    },
    /// Adds two values and rounds.
    Add(Source, Source),
    /// Rounds a value to another format.
    Convert(Source),
    /// Changes the sign of a value, a zero's too; a NaN stays a NaN. The result is rounded as a
    /// conversion is, which does nothing in the value's own format.
    Negate(Source),
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

/// What is known of the operands of every k.
#[derive(Clone, Copy)]
pub(super) struct Known<'t, 's> {
    pub(super) pairs: &'t [Pair<'s>],
    /// Their exact products; none where they are not known, or have scales.
    pub(super) products: &'t [Product],
}

impl<'t, 's> Known<'t, 's> {
    fn of_pairs(pairs: &'t [Pair<'s>]) -> Self {
        let products = &[];
        Self { pairs, products }
    }
}

/// A value that a statement reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The accumulator input c.
    C,
    /// +0 in the statement's result format.
    Zero,
    /// The value of an earlier statement, by its index.
    Statement(usize),
}

/// What the first block of a run begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Start {
    /// The accumulator input c.
    C,
    /// +0 in the statement's result format.
    Zero,
    /// No value: its first product (of a chain), or its products alone.
    Product,
    /// The value of an earlier statement, by its index.
    Statement(usize),
}

impl Start {
    /// The value that it begins with, if it is one.
    #[must_use]
    pub fn source(self) -> Option<Source> {
        match self {
            Self::C => Some(Source::C),
            Self::Zero => Some(Source::Zero),
            Self::Product => None,
            Self::Statement(index) => Some(Source::Statement(index)),
        }
    }
}

impl From<Source> for Start {
    fn from(source: Source) -> Self {
        match source {
            Source::C => Self::C,
            Source::Zero => Self::Zero,
            Source::Statement(index) => Self::Statement(index),
        }
    }
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

    /// Whether it is every k, ascending.
    fn is_all(&self, k: usize) -> bool {
        match self {
            Self::All => true,
            Self::Residues { .. } => false,
            Self::List(list) => list.iter().copied().eq(0..k),
        }
    }

    /// Every k in order.
    fn each(&self, k: usize, mut action: impl FnMut(usize)) {
        match self {
            Self::All => (0..k).for_each(action),
            Self::Residues { modulus, residues } => {
                if !residues.is_empty()
                    && residues.is_sorted_by(|x, y| x < y)
                    && residues.last() < Some(modulus)
                {
                    for first in (0..k).step_by(*modulus) {
                        let own = residues.iter().map(|residue| first + residue);
                        own.take_while(|&index| index < k).for_each(&mut action);
                    }
                    return;
                }
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
    /// The integer sum of all products and c, where that is the whole program.
    #[must_use]
    pub fn integer_sum(&self) -> Option<&IntDot> {
        match self.statements.as_slice() {
            [
                Statement {
                    operation:
                        Operation::Dot {
                            algorithm: Dpa::IntDot(dot),
                            operands: Reading::WHOLE,
                            over: Select::All,
                            from: Start::C,
                        },
                    ..
                },
            ] => Some(dot),
            _ => None,
        }
    }

    /// The algorithm that adds all products to c block by block, where that is the whole program and every block does the
    /// same to the value that it begins with.
    pub(super) fn one_chain(&self) -> Option<&Dpa> {
        let (algorithm, output) = self.whole_sum()?;
        let passes_nan = matches!(output.nan, Nan::Operand(_));
        (!passes_nan && !algorithm.general(output).changes_c()).then_some(algorithm)
    }

    /// The algorithm that adds all products to c, and what becomes of its results, where that is the whole program.
    fn whole_sum(&self) -> Option<(&Dpa, &Output)> {
        let [
            Statement {
                operation:
                    Operation::Dot {
                        algorithm,
                        operands: Reading::WHOLE,
                        over: Select::All,
                        from: Start::C,
                    },
                output,
                ..
            },
        ] = self.statements.as_slice()
        else {
            return None;
        };
        Some((algorithm, output))
    }

    /// The same, where it takes nothing of a pair but its exact product.
    fn sum_of_products(&self, has_scales: bool) -> Option<(&Dpa, &Output)> {
        self.whole_sum()
            .filter(|(algorithm, _)| algorithm.sums_products(has_scales))
    }

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
    /// back as the default quiet NaN. What happened is added to the events.
    pub(crate) fn run(
        &self,
        signature: &Signature,
        operands: &Operands<'_>,
        modifiers: &Modifiers,
        events: &mut Events,
    ) -> u64 {
        let scales = decoded::scales(signature, operands.scale_a, operands.scale_b);
        self.run_scaled(
            signature,
            operands,
            &scales,
            modifiers,
            events,
            &mut Vec::new(),
        )
    }

    /// The same with the scales decoded, and with memory for the pairs.
    fn run_scaled<'s>(
        &self,
        signature: &Signature,
        operands: &Operands<'_>,
        scales: &'s [Scales],
        modifiers: &Modifiers,
        events: &mut Events,
        pairs: &mut Vec<Pair<'s>>,
    ) -> u64 {
        let codes = self.codes;
        let c = decoded::c(signature, operands, modifiers, self.codes_of_c());
        let word = match self.sum_of_products(!scales.is_empty()) {
            Some((algorithm, output)) => product::with_list(|products| {
                decoded::products(signature, operands, scales, modifiers, codes, products);
                algorithm.sum(products, c, output)
            }),
            None => {
                decoded::pairs(signature, operands, scales, modifiers, codes, pairs);
                self.sum(Known::of_pairs(pairs), c, &|_| None, events)
            }
        };
        match self.output().nan {
            Nan::Operand(_) => {
                let passed = self.passed_nan(signature, operands, modifiers, word);
                passed.map_or(word, |(_, nan)| nan)
            }
            _ => word,
        }
    }

    /// The operand (`a0`, `c`) whose NaN goes on in place of a NaN result, and the word that it becomes.
    pub(crate) fn passed_nan(
        &self,
        signature: &Signature,
        operands: &Operands<'_>,
        modifiers: &Modifiers,
        result: u64,
    ) -> Option<(String, u64)> {
        let output = self.output();
        if !matches!(output.nan, Nan::Operand(_)) || !output.is_nan(result) {
            return None;
        }
        let to = output.format.container();
        let over = self
            .statements
            .iter()
            .rev()
            .flat_map(|statement| match &statement.operation {
                Operation::Dot { over, .. } => {
                    over.indices(signature.k).into_iter().rev().collect()
                }
                _ => Vec::new(),
            });
        let (a, b) = (&signature.a, &signature.b);
        let pairs = over.flat_map(|k| {
            [
                ("a", Some(k), a, operands.a[k], modifiers.negate_a),
                ("b", Some(k), b, operands.b[k], modifiers.negate_b),
            ]
        });
        let c = ("c", None, &signature.c, operands.c, modifiers.negate_c);
        let c = (!modifiers.no_c).then_some(c);
        pairs.chain(c).find_map(|(side, k, format, word, negate)| {
            let code = format.from_register(word);
            let value = format.decode(code);
            (value.class == Class::Nan).then(|| {
                let place = k.map_or_else(String::new, |k| k.to_string());
                let nan = to.quiet(value.negative != negate, format, code);
                (format!("{side}{place}"), to.to_register(nan))
            })
        })
    }

    /// The same for many queries, whose lengths and words have been checked.
    pub(super) fn run_each(&self, signature: &Signature, queries: &Queries<'_>) -> Vec<u64> {
        let (k, blocks) = (signature.k, signature.scales());
        let none = Modifiers::default();
        let scales = decoded::scales(signature, queries.scale_a, queries.scale_b);
        let mut pairs = Vec::new();
        (0..queries.c.len())
            .map(|index| {
                let operands = queries.at(index, k, blocks);
                let own = &scales[index * blocks..(index + 1) * blocks];
                let events = &mut Events::default();
                self.run_scaled(signature, &operands, own, &none, events, &mut pairs)
            })
            .collect()
    }

    /// The same for operands that have been decoded; `None` when this program means other numbers by
    /// some of their codes.
    pub(super) fn run_decoded(&self, operands: &Decoded) -> Option<u64> {
        let c_differs = operands.c.is_special() && self.codes_of_c() != Codes::Special;
        let is_special = operands.special || operands.c.is_special();
        let passes_nan = is_special && matches!(self.output().nan, Nan::Operand(_));
        if operands.special && self.codes != Codes::Special || c_differs || passes_nan {
            return None;
        }
        let events = &mut Events::default();
        Some(match operands.scaled() {
            Some(pairs) => self.sum(Known::of_pairs(&pairs), operands.c, &|_| None, events),
            None => {
                let wide = |format| operands.widened(format);
                self.sum(operands.known(), operands.c, &wide, events)
            }
        })
    }

    /// `wide` has the operands in a wider format, if they are known.
    fn sum<'s>(
        &self,
        whole: Known<'_, 's>,
        c: Unpacked,
        wide: &dyn Fn(Format) -> Option<Known<'s, 's>>,
        events: &mut Events,
    ) -> u64 {
        let pairs = whole.pairs;
        let (mut few, mut many) = ([PLUS_ZERO; FEW], Vec::new());
        let values = match few.get_mut(..self.statements.len()) {
            Some(few) => few,
            None => {
                many.resize(self.statements.len(), PLUS_ZERO);
                &mut many[..]
            }
        };
        let mut chosen: Vec<Pair<'_>> = Vec::new();
        for (place, statement) in self.statements.iter().enumerate() {
            let Statement {
                operation, output, ..
            } = statement;
            // A step that knows numbers only takes the codes of earlier results so, too.
            let numbers = match operation {
                Operation::Dot { algorithm, .. } => algorithm.knows_numbers_only(),
                _ => false,
            };
            let read = |source: Source| match source {
                Source::C => c,
                Source::Zero => output.unpack(PLUS_ZERO),
                Source::Statement(index) => {
                    let (output, word) = (&self.statements[index].output, values[index]);
                    match numbers {
                        true => output.number(word),
                        false => output.unpack(word),
                    }
                }
            };
            let value = match operation {
                Operation::Dot {
                    algorithm,
                    operands,
                    over,
                    from,
                } => {
                    let start = match from.source() {
                        None => Beginning::Product,
                        Some(source) => Beginning::Value(read(source)),
                    };
                    // What is known of the operands as they are read.
                    let known = match operands.widened {
                        _ if !operands.is_whole() => None,
                        None => Some(whole),
                        Some(format) => wide(format),
                    };
                    let is_all = over.is_all(pairs.len());
                    match (known, start) {
                        (Some(known), Beginning::Value(start))
                            if !known.products.is_empty() && algorithm.sums_products(false) =>
                        {
                            let products = known.products;
                            match is_all {
                                true => algorithm.sum(products, start, output),
                                false => product::with_list(|list| {
                                    over.each(products.len(), |k| list.push(products[k]));
                                    algorithm.sum(list, start, output)
                                }),
                            }
                        }
                        (Some(known), start) if is_all => {
                            algorithm.run(known.pairs, start, output, events)
                        }
                        (known, start) => {
                            chosen.clear();
                            chosen.reserve(pairs.len());
                            over.each(pairs.len(), |k| {
                                chosen.push(match known {
                                    Some(known) => known.pairs[k],
                                    None => operands.pair(&pairs[k]),
                                });
                            });
                            algorithm.run(&chosen, start, output, events)
                        }
                    }
                }
                Operation::Add(left, right) => ieee::add(&read(*left), &read(*right), output),
                Operation::Convert(source) => output::convert(&read(*source), output),
                Operation::Negate(source) => {
                    let value = read(*source);
                    let negative = !value.negative;
                    output::convert(&Unpacked { negative, ..value }, output)
                }
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
                    algorithm.run_whole(&terms, over.len(), read(of[0]), output)
                }
            };
            values[place] = general::finished(value, output);
        }
        values.last().map_or(PLUS_ZERO, |&word| word)
    }

    /// The same program with the steps of the model space in place of the algorithms of the papers: it
    /// gives the same results.
    #[must_use]
    pub fn general(&self) -> Self {
        let mut changed = self.clone();
        for statement in &mut changed.statements {
            if let Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } =
                &mut statement.operation
            {
                *algorithm = Dpa::General(algorithm.general(&statement.output));
            }
        }
        changed
    }

    /// What a pair of operands gives to the sum: its product, in almost every program.
    #[must_use]
    pub fn addends(&self) -> Addends {
        self.stated_addends().unwrap_or_default()
    }

    /// The same; `None` where no step says it, because it knows products only.
    pub(crate) fn stated_addends(&self) -> Option<Addends> {
        let of_step = |statement: &Statement| match &statement.operation {
            Operation::Dot {
                algorithm: Dpa::GrFdpa(step) | Dpa::General(super::General::Grouped(step)),
                ..
            } => Some(step.terms),
            _ => None,
        };
        self.statements.iter().find_map(of_step)
    }

    /// Whether it is one exact sum of integers.
    #[must_use]
    pub fn sums_integers(&self) -> bool {
        matches!(&self.statements[..], [Statement { operation: Operation::Dot { algorithm, .. }, .. }]
            if algorithm.sums_integers())
    }

    /// Whether it is one statement that adds one product after the other.
    pub(super) fn is_chain(&self) -> bool {
        matches!(&self.statements[..], [Statement { operation: Operation::Dot { algorithm, .. }, .. }]
            if algorithm.block() == 1)
    }

    /// What the ∞ and NaN codes of c mean: numbers to steps that know only those.
    pub(crate) fn codes_of_c(&self) -> Codes {
        match self.knows_numbers_only() {
            true => Codes::Numbers,
            false => Codes::Special,
        }
    }

    /// Whether it has steps to which every code of a, b and c is a number.
    #[must_use]
    pub fn knows_numbers_only(&self) -> bool {
        self.statements
            .iter()
            .any(|statement| match &statement.operation {
                Operation::Dot { algorithm, .. } => algorithm.knows_numbers_only(),
                _ => false,
            })
    }

    /// Whether every NaN result is one known word.
    #[must_use]
    pub fn nan_is_known(&self) -> bool {
        let Output { nan, overflow, .. } = self.output();
        match nan {
            Nan::Any => false,
            Nan::Word(_) | Nan::Operand(_) => true,
            // A step makes no other NaN than its own, an overflow may.
            Nan::Own => !matches!(overflow, Overflow::Nan | Overflow::NanFinite),
        }
    }
}
