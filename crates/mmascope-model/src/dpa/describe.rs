//! Programs in words and as lists of parameters, for people and for evidence.

use super::{
    Dpa, FlushSign, General, Nan, Operation, Output, Program, Select, Source, Statement, Tininess,
    ZeroSign,
};
use crate::format::{Format, Overflow, Rounding};

/// One parameter of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
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
    pub fn parameters(&self) -> Vec<Parameter> {
        let single = self.statements.len() == 1;
        let mut found = Vec::new();
        for statement in &self.statements {
            let owner = if single { "" } else { &statement.name };
            let mut push = |name, value: String| {
                found.push(Parameter {
                    statement: owner.to_owned(),
                    name,
                    value,
                });
            };
            match &statement.operation {
                Operation::Dot {
                    algorithm,
                    widened,
                    over,
                    from,
                } => {
                    if let Some(format) = widened {
                        push("widened", format.to_string());
                    }
                    for (name, value) in algorithm.parameters() {
                        push(name, value);
                    }
                    push("order", order_value(over));
                    push("c", self.source_name(*from).to_owned());
                }
                Operation::Add(left, right) => {
                    let (left, right) = (self.source_name(*left), self.source_name(*right));
                    push("order", format!("{left} + {right}"));
                }
                Operation::Convert(source) => {
                    push("order", format!("convert {}", self.source_name(*source)));
                }
                Operation::Join { algorithm, .. } => {
                    for (name, value) in algorithm.parameters() {
                        push(name, value);
                    }
                    push("order", self.joined(&statement.operation));
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
            push("rounding", format!("{rounding} {format}"));
            push("overflow", overflow.to_string());
            push("nan", nan_value(*nan, *format));
            push("zero", zero.to_string());
            if let Some(sign) = flush {
                push("flush", sign.to_string());
                if *tininess == Tininess::Before {
                    push("tininess", "before".to_owned());
                }
            }
        }
        found
    }

    /// The arithmetic in sentences, one paragraph a statement.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let single = self.statements.len() == 1;
        self.statements
            .iter()
            .map(|statement| {
                let text = self.statement_words(statement);
                if single {
                    text
                } else {
                    format!("{}: {text}", statement.name)
                }
            })
            .collect()
    }

    fn statement_words(&self, statement: &Statement) -> String {
        let output = output_words(&statement.output);
        match &statement.operation {
            Operation::Dot {
                algorithm,
                widened,
                over,
                from,
            } => {
                let widened = widened.map_or(String::new(), |format| {
                    format!(" The operands are widened to {format} first.")
                });
                let over = match over {
                    Select::All => String::new(),
                    _ => format!(" Only {} take part, in that order.", order_value(over)),
                };
                let start = match from {
                    Source::C => String::new(),
                    Source::Zero => " It starts from +0 instead of c.".to_owned(),
                    Source::Product => match algorithm {
                        Dpa::General(_) => " Nothing is added to its first products.".to_owned(),
                        _ => " It starts with a plain rounded product.".to_owned(),
                    },
                    Source::Statement(_) => {
                        format!(" It starts from {} instead of c.", self.source_name(*from))
                    }
                };
                format!("{}{widened}{over}{start} {output}", algorithm.words())
            }
            Operation::Add(left, right) => format!(
                "{} + {}, one IEEE addition outside the matrix unit. {output}",
                self.source_name(*left),
                self.source_name(*right)
            ),
            Operation::Convert(source) => {
                format!("{} converted. {output}", self.source_name(*source))
            }
            Operation::Join { algorithm, .. } => format!(
                "{} in one sum. {} {output}",
                self.joined(&statement.operation),
                algorithm.words()
            ),
        }
    }
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

impl Dpa {
    /// The parameters with their values.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let flush = |sign| match sign {
            FlushSign::Plus => "plus".to_owned(),
            FlushSign::Kept => "kept".to_owned(),
        };
        match *self {
            Self::FmaChain => Vec::new(),
            Self::TFdpa {
                l, f, e0, align, ..
            } => vec![
                ("L", l.to_string()),
                ("F", f.to_string()),
                ("e0", e0.to_string()),
                ("align", align.to_string()),
            ],
            Self::GstFdpa { l, g, f, e0, align } => vec![
                ("L", l.to_string()),
                ("G", g.to_string()),
                ("F", f.to_string()),
                ("e0", e0.to_string()),
                ("align", align.to_string()),
            ],
            Self::FtzAddMul {
                p,
                flush_in,
                flush_out,
            } => vec![
                ("P", p.to_string()),
                ("flush-in", flush(flush_in)),
                ("flush-out", flush(flush_out)),
            ],
            Self::EFdpa { l } => vec![("L", l.to_string())],
            Self::General(ref step) => step.parameters(),
            Self::TrFdpa { l, f, f2 } | Self::GtrFdpa { l, f, f2 } => {
                vec![
                    ("L", l.to_string()),
                    ("F", f.to_string()),
                    ("F2", f2.to_string()),
                ]
            }
        }
    }

    fn words(&self) -> String {
        let align_words = |align: Rounding| match align {
            Rounding::Rz => "truncated toward zero".to_owned(),
            other => format!("rounded ({})", rounding_words(other)),
        };
        match *self {
            Self::FmaChain => {
                "FMA chain: d = c, then for k ascending d = a_k·b_k + d, rounded after each step."
                    .to_owned()
            }
            Self::TFdpa {
                l,
                f,
                e0,
                align,
                scaled,
            } => {
                let (name, scales) = if scaled {
                    (
                        "ST-FDPA",
                        ", their exponents raised by those of the block scales",
                    )
                } else {
                    ("T-FDPA", "")
                };
                format!(
                    "{name}: blocks of at most L={l} products with ascending k, each block's \
                     result being the next one's c. In a block the exact products{scales} and c \
                     are aligned to the largest exponent among them (at least e0={e0}), {} to \
                     F={f} fraction bits below it, and summed exactly.",
                    align_words(align)
                )
            }
            Self::GstFdpa { l, g, f, e0, align } => format!(
                "GST-FDPA: blocks of at most L={l} products. Groups of G={g} products are summed \
                 exactly and multiplied exactly by both scales; the groups (at their scales' \
                 exponents) and c are aligned to the largest exponent (at least e0={e0}), {} to \
                 F={f} fraction bits below it, and summed exactly.",
                align_words(align)
            ),
            Self::FtzAddMul { p, .. } => format!(
                "FTZ-AddMul: subnormal operands become zero; each product is rounded and flushed; \
                 groups of P={p} products are summed pairwise, then added to c, with rounding and \
                 flush after each addition."
            ),
            Self::General(ref step) => general_words(step),
            Self::EFdpa { l } => format!(
                "E-FDPA: the exact sum of c and blocks of at most L={l} products, rounded once a \
                 block."
            ),
            Self::TrFdpa { l, f, f2 } => format!(
                "TR-FDPA: blocks of at most L={l} products; products of 2^128 and more are ∞. The \
                 products are truncated to F={f} fraction bits below their largest exponent and \
                 summed; that sum and c are floored onto a common grid, added exactly, and the \
                 sum is floored to F2={f2} fraction bits of its own exponent."
            ),
            Self::GtrFdpa { l, f, f2 } => format!(
                "GTR-FDPA: as TR-FDPA (L={l}, F={f}, F2={f2}), but even and odd k are summed \
                 apart, each aligned to its own largest exponent, then floored and joined; a c \
                 more than F+1 binades below the products counts as 0."
            ),
        }
    }
}

/// The steps of the model space: what they sum, and every parameter that is not the usual one.
fn general_words(step: &General) -> String {
    let parameters: Vec<String> = step
        .parameters()
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let what = match step {
        General::Fused(_) => {
            "Fused sum: the products of a block (or the sums of groups of them) and c are aligned \
             to the largest exponent, rounded onto the grid and summed exactly"
        }
        General::AddMul(_) => {
            "Rounded products, added to each other and then to c with a rounding after each \
             addition"
        }
    };
    format!("{what} ({}).", parameters.join(", "))
}

fn order_value(over: &Select) -> String {
    match over {
        Select::All => "k ascending".to_owned(),
        _ => over.to_string().trim_start_matches(" over ").to_owned(),
    }
}

fn nan_value(nan: Nan, format: Format) -> String {
    match nan {
        Nan::Any => "any".to_owned(),
        Nan::Word(bits) => format!("{bits:0width$x}", width = format.container().digits()),
    }
}

fn rounding_words(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::Rne => "to nearest, ties to even",
        Rounding::Rna => "to nearest, ties away from zero",
        Rounding::Rnz => "to nearest, ties toward zero",
        Rounding::Rnu => "to nearest, ties up",
        Rounding::Rnd => "to nearest, ties down",
        Rounding::Rno => "to nearest, ties to odd",
        Rounding::Rz => "toward zero",
        Rounding::Ra => "away from zero",
        Rounding::Ru => "up",
        Rounding::Rd => "down",
        Rounding::Odd => "to odd",
        Rounding::Stochastic { .. } => "stochastically",
    }
}

fn output_words(output: &Output) -> String {
    let Output {
        format,
        rounding,
        overflow,
        nan,
        zero,
        flush,
        tininess,
    } = output;
    let overflow = match overflow {
        Overflow::Infinity => "overflow gives ∞ whatever the rounding",
        Overflow::Ieee => "overflow as IEEE 754",
        Overflow::Nan => "overflow gives NaN",
        Overflow::NanFinite => "a finite sum that overflows gives NaN",
        Overflow::Saturate | Overflow::SaturateFinite => "overflow saturates",
    };
    let nan = match nan {
        Nan::Any => "which NaN a NaN result is, is not known".to_owned(),
        Nan::Word(_) => format!("NaN is always {}", nan_value(*nan, *format)),
    };
    let zero = match zero {
        ZeroSign::Plus => "every zero is +0",
        ZeroSign::Minus => "every zero is −0",
        ZeroSign::Exact => "an exact zero is +0, a tiny negative sum −0",
        ZeroSign::Ieee => "zeros are signed as IEEE 754 says",
        ZeroSign::ExactMinus => {
            "an exact zero is −0, other sums that round to zero keep their sign"
        }
        ZeroSign::Common => "zeros of one sign keep it, other exact zeros are +0",
        ZeroSign::CommonMinus => "zeros of one sign keep it, other exact zeros are −0",
    };
    let flush = match flush {
        None => String::new(),
        Some(sign) if *tininess == Tininess::Before => {
            format!("; sums below the smallest normal number become zeros unrounded (sign: {sign})")
        }
        Some(sign) => format!("; subnormal results become zeros (sign: {sign})"),
    };
    format!(
        "Result in {format}, rounded {}; {overflow}; {nan}; {zero}{flush}.",
        rounding_words(*rounding)
    )
}
