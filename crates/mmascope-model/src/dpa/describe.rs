//! Describes programs in words and as lists of parameters, for people and for evidence.

use super::schema::{Typed, Value, parameters};
use super::{
    AddMul, Codes, Dpa, Fused, General, GrFdpa, IntDot, Operation, Output, Part, Program, Select,
    Signature, Start, Statement, Unit,
};
use crate::format::{Class, Format, Kind, Overflow, Rounding};

/// One parameter of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramParameter {
    /// Statement it belongs to; empty in programs of one statement.
    pub statement: String,
    /// Name, as evidence names it: `L F e0 G F2 P align rounding nan zero overflow …`.
    pub name: &'static str,
    /// Value, as the notation writes it.
    pub value: String,
}

impl Program {
    /// Every parameter with its value, in the order of the notation.
    #[must_use]
    pub fn parameters(&self) -> Vec<ProgramParameter> {
        let single = self.statements.len() == 1;
        let mut found = Vec::new();
        if self.codes != Codes::Special {
            found.push(ProgramParameter {
                statement: String::new(),
                name: parameters::CODES.symbol,
                value: self.codes.to_string(),
            });
        }
        for statement in &self.statements {
            let owner = if single { "" } else { &statement.name };
            let mut push = |name, value: String| {
                found.push(ProgramParameter {
                    statement: owner.to_owned(),
                    name,
                    value,
                });
            };
            match &statement.operation {
                Operation::Dot {
                    algorithm,
                    operands,
                    over,
                    from,
                } => {
                    if let Some(format) = operands.widened {
                        push("widened", format.to_string());
                    }
                    for (name, part) in [("part-a", operands.a), ("part-b", operands.b)] {
                        if part != Part::Whole {
                            push(name, part.to_string());
                        }
                    }
                    for (name, value) in shown(algorithm) {
                        push(name, value);
                    }
                    push("order", order_value(over));
                    push("c", self.start_name(*from).to_owned());
                }
                Operation::Add(left, right) => {
                    let (left, right) = (self.source_name(*left), self.source_name(*right));
                    push("order", format!("{left} + {right}"));
                }
                Operation::Convert(source) => {
                    push("order", format!("convert {}", self.source_name(*source)));
                }
                Operation::Negate(source) => {
                    push("order", format!("negate {}", self.source_name(*source)));
                }
                Operation::Join { algorithm, .. } => {
                    for (name, value) in shown(algorithm) {
                        push(name, value);
                    }
                    push("order", self.joined(&statement.operation));
                }
            }
            let Output {
                format, rounding, ..
            } = &statement.output;
            push("rounding", format!("{rounding} {format}"));
            // Integers have neither NaN nor signed zeros nor infinities for these to speak of.
            let has_specials = format.float().is_some();
            let of_result = statement.output.parameters().into_iter();
            let of_result = of_result.filter(|(own, value)| has_specials && !own.is_absent(*value));
            for (parameter, value) in of_result {
                push(parameter.symbol, value.to_string());
            }
        }
        found
    }

    /// Changes a parameter of the whole program, such as `codes`; false where it has none of that symbol or cannot have this
    /// value.
    pub fn set(&mut self, symbol: &str, value: Value) -> bool {
        let row = &parameters::CODES;
        let codes = (symbol == row.symbol)
            .then(|| Typed::of(value, row))
            .flatten();
        if let Some(codes) = codes {
            self.codes = codes;
        }
        codes.is_some()
    }

    /// The arithmetic in sentences, statement by statement: each begins with a line `NAME: …`, and the
    /// lines that say how follow. Together with [`Unit::words`]' first lines they are all that is needed
    /// to compute d.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut found = Vec::new();
        for statement in &self.statements {
            let head = self.head_words(statement);
            found.push(format!("{}: {head}", statement.name));
            let mut say = |words: &str| found.extend(words.lines().map(|line| format!("  {line}")));
            let algorithm = match &statement.operation {
                Operation::Dot { algorithm, .. } => Some(*algorithm),
                Operation::Join {
                    algorithm,
                    over,
                    of,
                } => {
                    // One block, whatever L is.
                    let count = (over.len() + of.len() - 1) as u32;
                    Some(match algorithm.general(&statement.output) {
                        General::Fused(step) => Fused { l: count, ..step }.into(),
                        General::AddMul(step) => AddMul { p: count, ..step }.into(),
                        General::Grouped(step) => GrFdpa { l: count, ..step }.into(),
                        General::Semi(step) => step.into(),
                        General::Integer(step) => IntDot { l: count, ..step }.into(),
                    })
                }
                Operation::Add(..) | Operation::Convert(_) | Operation::Negate(_) => None,
            };
            if let Operation::Dot { operands, .. } = &statement.operation {
                for (name, part) in [("a", operands.a), ("b", operands.b)] {
                    if let Part::Bits { first, count } = part {
                        let last = first + count - 1;
                        say(&format!(
                            "Of the significand of {name} only bits {first} to {last} below that of its exponent count, the others are 0."
                        ));
                    }
                }
            }
            if let Some(algorithm) = algorithm {
                let words = algorithm.words(&statement.output);
                words.iter().for_each(|words| say(words));
            }
            let words = statement.output.words();
            words.iter().for_each(|words| say(words));
        }
        found
    }

    /// What a statement does, in one line.
    fn head_words(&self, statement: &Statement) -> String {
        match &statement.operation {
            Operation::Dot {
                algorithm,
                operands,
                over,
                from,
            } => {
                let over = match over {
                    Select::All => "every k, ascending".to_owned(),
                    Select::Residues { modulus, residues } => {
                        format!(
                            "the k with k mod {modulus} in {}, ascending",
                            numbers(residues)
                        )
                    }
                    Select::List(list) => format!("k = {}, in this order", numbers(list)),
                };
                let start = match from {
                    Start::Product => "a zero of the first product's sign".to_owned(),
                    _ => self.start_name(*from).to_owned(),
                };
                let widened = operands.widened.map_or_else(String::new, |format| {
                    format!(", operands as numbers of {format}")
                });
                format!(
                    "{} over {over}; the c of the first block is {start}{widened}.",
                    algorithm.title()
                )
            }
            Operation::Add(left, right) => format!(
                "{} + {}, one addition of IEEE 754 outside the matrix unit.",
                self.source_name(*left),
                self.source_name(*right)
            ),
            Operation::Convert(source) => {
                format!("{} converted.", self.source_name(*source))
            }
            Operation::Negate(source) => format!(
                "{} with the other sign, a zero too; a NaN stays a NaN.",
                self.source_name(*source)
            ),
            Operation::Join {
                algorithm,
                over,
                of,
            } => {
                let mut terms: Vec<String> = over.iter().map(|k| format!("p{k}")).collect();
                let values = of[1..].iter();
                terms.extend(values.map(|&source| self.source_name(source).to_owned()));
                let values = match algorithm.general(&statement.output) {
                    General::Fused(_) => "values as they are",
                    General::AddMul(_)
                    | General::Grouped(_)
                    | General::Semi(_)
                    | General::Integer(_) => "values as products with 1",
                };
                format!(
                    "{} in one block of {}, {values}; c is {}.",
                    algorithm.title(),
                    terms.join(" + "),
                    self.source_name(of[0])
                )
            }
        }
    }
}

/// Numbers in a list.
fn numbers(list: &[usize]) -> String {
    let words: Vec<String> = list.iter().map(ToString::to_string).collect();
    words.join(" ")
}

/// The parameters that are shown: all of an algorithm of the papers, which has few; of a step of the
/// model space those that are said.
fn shown(algorithm: &Dpa) -> Vec<(&'static str, String)> {
    let found = match algorithm {
        Dpa::General(_) => algorithm.said(),
        _ => algorithm.parameters(),
    };
    let text = found.into_iter();
    text.map(|(parameter, value)| (parameter.symbol, value.to_string()))
        .collect()
}

impl Unit {
    /// What the unit computes, in sentences: what operands are, then [`Program::words`].
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut found = operand_words(self.signature(), self.program());
        found.extend(self.program().words());
        found
    }
}

/// What the words of operands mean.
fn operand_words(signature: &Signature, program: &Program) -> Vec<String> {
    let Signature { a, b, c, scale, .. } = signature;
    let mut found = vec![
        "The exponent of a number is that of its leading bit, of a subnormal number that of the smallest normal one."
            .to_owned(),
    ];
    let mut seen: Vec<Format> = Vec::new();
    for format in [a, b, c] {
        if format.register.shift > 0 && !seen.contains(format) {
            seen.push(*format);
            let bits = format.register.shift;
            found.push(format!(
                "The {bits} low bits of a word of {format} are ignored."
            ));
        }
        if let Kind::Fixed { scale } = format.kind
            && !seen.contains(format)
        {
            seen.push(*format);
            found.push(format!("The exponent of a number of {format} is {scale}."));
        }
    }
    let say_specials = program.statements.iter().all(|statement| {
        matches!(&statement.operation, Operation::Dot { algorithm, .. } if algorithm.says_specials())
    });
    match program.codes {
        Codes::Special => {}
        Codes::Numbers if say_specials => found.push(
            "Infinity and NaN codes of a, b and c are infinities and NaNs; each step says what they give."
                .to_owned(),
        ),
        Codes::Numbers => found.push(
            "Infinity and NaN codes of a and b are numbers, as their exponent and fraction say."
                .to_owned(),
        ),
        Codes::Largest => found.push(
            "Infinity codes of a and b are the largest number of their sign; NaN codes are NaN."
                .to_owned(),
        ),
    }
    if let Some(scale) = scale {
        found.push(format!(
            "Every {} k share two scales in {}, by which each of their products is multiplied exactly.",
            scale.block, scale.format
        ));
        found.push(
            "The exponent of a product grows by those of its scales; a NaN scale makes it NaN."
                .to_owned(),
        );
        let is_zero = |code| scale.format.decode(code).class == Class::Zero;
        if (0..1 << scale.format.bits).any(is_zero) {
            found.push(
                "A scale of 0 makes finite products 0; an infinite product stays infinity."
                    .to_owned(),
            );
        }
    }
    found
}

impl Program {
    /// What a join sums.
    fn joined(&self, operation: &Operation) -> String {
        let Operation::Join { over, of, .. } = operation else {
            return String::new();
        };
        let products = over.iter().map(|k| format!("p{k}"));
        let values = of.iter().map(|&source| self.source_name(source).to_owned());
        products.chain(values).collect::<Vec<_>>().join(" + ")
    }
}

fn order_value(over: &Select) -> String {
    match over {
        Select::All => "k ascending".to_owned(),
        _ => over.to_string().trim_start_matches(" over ").to_owned(),
    }
}

/// What a format has in place of an infinity that overflow gives; empty where it has infinities. Numbers that were infinite before stay.
pub(crate) fn overflow_stand_in(format: &Format) -> String {
    match (stand_ins(format), format.nan()) {
        (None, _) => String::new(),
        (_, Some(_)) => format!(
            "; {format} has no infinity: NaN stands for one that overflow gives, one that was there stays"
        ),
        (_, None) => format!(
            "; {format} has no infinity: the largest number of its sign stands for one that overflow gives, infinities and NaN that were there stay"
        ),
    }
}

/// What a format has in place of infinity and NaN, where it lacks them.
pub(crate) fn stand_ins(format: &Format) -> Option<String> {
    let infinity = format.decode(format.infinity(false, Overflow::Infinity));
    match format.nan() {
        _ if format.is_numbers_only() || infinity.class == Class::Infinite => None,
        Some(_) => Some(format!("{format} has no infinity: NaN stands for it")),
        None => Some(format!(
            "{format} has no infinity and no NaN: the largest number of its sign stands for infinity and for what is beyond it, the positive one for every other NaN"
        )),
    }
}

/// How something is rounded.
pub(crate) fn rounded(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::Rne => "to nearest (ties to even)",
        Rounding::Rna => "to nearest (ties away from zero)",
        Rounding::Rnz => "to nearest (ties toward zero)",
        Rounding::Rnu => "to nearest (ties up)",
        Rounding::Rnd => "to nearest (ties down)",
        Rounding::Rno => "to nearest (ties to odd)",
        Rounding::Rz => "toward zero",
        Rounding::Ra => "away from zero",
        Rounding::Ru => "up",
        Rounding::Rd => "down",
        Rounding::Odd => "to odd",
        Rounding::Stochastic { .. } => "stochastically",
    }
}
