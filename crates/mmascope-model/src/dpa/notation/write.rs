//! Writes programs as text, in their canonical form.

use std::fmt;

use crate::dpa::schema::parameters;
use crate::dpa::{Codes, Operation, Output, Part, Program, Select, Source, Start};

/// So many consecutive k, and more, are written as a range.
const RANGE: usize = 9;

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.codes != Codes::Special {
            write!(out, "{}={} ; ", parameters::CODES.symbol, self.codes)?;
        }
        for (index, statement) in self.statements.iter().enumerate() {
            if index > 0 {
                out.write_str(" ; ")?;
            }
            if self.statements.len() > 1 {
                write!(out, "{} = ", statement.name)?;
            }
            match &statement.operation {
                Operation::Dot {
                    algorithm,
                    operands,
                    over,
                    from,
                } => {
                    write!(out, "{algorithm}")?;
                    if let Some(format) = operands.widened {
                        write!(out, " as {format}")?;
                    }
                    if !operands.is_whole() {
                        out.write_str(" part")?;
                    }
                    for (name, part) in [("a", operands.a), ("b", operands.b)] {
                        if part != Part::Whole {
                            write!(out, " {name}={part}")?;
                        }
                    }
                    write!(out, "{over}")?;
                    if *from != Start::C {
                        write!(out, " from {}", self.start_name(*from))?;
                    }
                }
                Operation::Add(left, right) => {
                    let (left, right) = (self.source_name(*left), self.source_name(*right));
                    write!(out, "add {left} {right}")?;
                }
                Operation::Convert(source) => {
                    write!(out, "convert {}", self.source_name(*source))?;
                }
                Operation::Negate(source) => {
                    write!(out, "negate {}", self.source_name(*source))?;
                }
                Operation::Join {
                    algorithm,
                    over,
                    of,
                } => {
                    write!(out, "join {algorithm}")?;
                    if !over.is_empty() {
                        write!(out, "{}", Select::List(over.clone()))?;
                    }
                    out.write_str(" of")?;
                    for source in of {
                        write!(out, " {}", self.source_name(*source))?;
                    }
                }
            }
            let Output {
                format, rounding, ..
            } = &statement.output;
            write!(out, " -> {rounding} {format}")?;
            for (parameter, value) in statement.output.said(&statement.operation) {
                write!(out, " {}={value}", parameter.symbol)?;
            }
        }
        Ok(())
    }
}

impl Program {
    /// How what a run begins with is written.
    pub(in crate::dpa) fn start_name(&self, start: Start) -> &str {
        start
            .source()
            .map_or("product", |source| self.source_name(source))
    }

    /// How a statement's source is written.
    pub(in crate::dpa) fn source_name(&self, source: Source) -> &str {
        match source {
            Source::C => "c",
            Source::Zero => "+0",
            Source::Statement(index) => &self.statements[index].name,
        }
    }
}

impl fmt::Display for Select {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |list: &[usize]| {
            let consecutive = list.windows(2).all(|two| two[0] + 1 == two[1]);
            match list {
                [first, .., last] if consecutive && list.len() >= RANGE => {
                    format!("{first}..{last}")
                }
                _ => {
                    let numbers: Vec<_> = list.iter().map(ToString::to_string).collect();
                    numbers.join(",")
                }
            }
        };
        match self {
            Self::All => Ok(()),
            Self::Residues { modulus, residues } => {
                write!(out, " over k%{modulus}={}", join(residues))
            }
            Self::List(list) => write!(out, " over k={}", join(list)),
        }
    }
}
