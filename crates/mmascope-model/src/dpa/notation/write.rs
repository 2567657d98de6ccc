//! Programs as text, in their canonical form.

use std::fmt;

use super::defaults;
use crate::dpa::{
    Codes, Nan, Operation, Output, Part, Program, Select, Source, Start, Tininess, ZeroSign,
};

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.codes != Codes::Special {
            write!(out, "codes={} ; ", self.codes)?;
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
                format,
                rounding,
                overflow,
                nan,
                zero,
                flush,
                tininess,
            } = &statement.output;
            write!(out, " -> {rounding} {format}")?;
            if let Nan::Word(bits) = nan {
                write!(
                    out,
                    " nan={bits:0width$x}",
                    width = format.container().digits()
                )?;
            }
            let (default_overflow, default_zero) = defaults(&statement.operation);
            if *zero != default_zero {
                write!(out, " zero={zero}")?;
            }
            if *overflow != default_overflow {
                write!(out, " overflow={overflow}")?;
            }
            if let Some(sign) = flush {
                write!(out, " flush={sign}")?;
                if *tininess == Tininess::Before {
                    out.write_str(" tininess=before")?;
                }
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

impl fmt::Display for ZeroSign {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Plus => "plus",
            Self::Minus => "minus",
            Self::Exact => "exact",
            Self::Ieee => "ieee",
            Self::ExactMinus => "exact-minus",
            Self::Common => "common",
            Self::CommonMinus => "common-minus",
        })
    }
}

impl fmt::Display for Select {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |list: &[usize]| {
            list.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(",")
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
