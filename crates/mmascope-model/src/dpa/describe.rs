//! Programs in words and as lists of parameters, for people and for evidence.

use super::{
    Dpa, FlushSign, General, GrFdpa, GrTerms, Nan, Operation, Output, Part, Program, Select,
    SemiFma, SemiNan, Source, Statement, Tininess, ZeroSign,
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
            if format.is_numbers_only() {
                push("codes", "numbers".to_owned());
            }
            if let Some(sign) = flush {
                push("flush", sign.to_string());
                match tininess {
                    Tininess::After => {}
                    Tininess::Before => push("tininess", "before".to_owned()),
                    Tininess::Unbounded => push("tininess", "unbounded".to_owned()),
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
            Self::GrFdpa(ref step) => step.parameters(true),
            Self::SemiFma(ref step) => step.parameters(),
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
            Self::GrFdpa(ref step) => gr_words(step),
            Self::SemiFma(ref step) => semi_words(step),
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

fn gr_words(step: &GrFdpa) -> String {
    let GrFdpa {
        l, g, f_g, f, e0, ..
    } = *step;
    let part = |name: &str, part: Part| match part == Part::WHOLE {
        true => String::new(),
        false => format!(
            " Of {name}'s significand the multiplier takes the bits worth 2^-{} to 2^-{}; the \
             product's exponent is lower by {}.",
            part.first, part.last, part.first
        ),
    };
    let what = match step.terms {
        GrTerms::Product => format!("blocks of at most L={l} products"),
        GrTerms::Sum => "a + b".to_owned(),
        GrTerms::Difference => "a - b".to_owned(),
    };
    let second = step.f2.map_or_else(String::new, |f2| {
        format!(", then in the same way to F2={f2} fraction bits")
    });
    let zero = match step.e_z {
        Some(e_z) => format!("zero terms take part with the exponent ez={e_z}"),
        None => "zero terms take part with the exponent e0".to_owned(),
    };
    let fault = step.fault.map_or_else(String::new, |places| {
        format!(
            " A fault of the unit: a sum of exactly -1 in the last place of the grid comes out \
             2^{places} times as large."
        )
    });
    format!(
        "GR-FDPA: {what}. Every code is a number, an exponent field of 0 is zero.{}{} Groups of \
         G={g} terms are aligned to their largest exponent, rounded ({}) to Fg={f_g} fraction bits \
         below it and summed; {zero}, also where a product of parts is zero. The groups' sums, at \
         their largest exponents, and c are aligned to the largest of these, rounded to F={f} \
         fraction bits (groups {}; c {}){second} and summed; nothing has an exponent at or below \
         e0={e0}.{fault}",
        part("a", step.a),
        part("b", step.b),
        rounding_words(step.align_g),
        rounding_words(step.align),
        rounding_words(step.align_c),
    )
}

fn semi_words(step: &SemiFma) -> String {
    let nan = match step.nan {
        SemiNan::Quiet => "NaN is always 7fc00000",
        SemiNan::Leaks => {
            "NaN is 7f800001 with the sign of the product (of c where only c is NaN), and bits of \
             the sum may be set in it"
        }
    };
    let zeros = match step.signed_zeros {
        true => "a zero result is -0 where product and c are both negative",
        false => "zero results are +0",
    };
    let sticky = match step.drops_bit {
        true => ", of which a shift by two places loses the upper one without a trace",
        false => "",
    };
    let tiny = match step.rounds_tiny {
        true => "rounded half a place higher first",
        false => "unrounded",
    };
    format!(
        "SEMI-FMA: a·b + c with subnormal operands as zeros. The product keeps three bits below 24, \
         the last one sticky{sticky}; a product of 2^128 or more is ∞ by itself, one below 2^-126 is \
         left out. What is shifted out completely leaves no trace. Results below 2^-126 become zero, \
         {tiny}; {zeros}; {nan}."
    )
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
        Nan::Own => "own".to_owned(),
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
        Nan::Own => "NaN only where the algorithm says so".to_owned(),
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
        Some(sign) if *tininess == Tininess::Unbounded => format!(
            "; sums that, rounded to all fraction bits, stay below the smallest normal number \
             become zeros (sign: {sign})"
        ),
        Some(sign) => format!("; subnormal results become zeros (sign: {sign})"),
    };
    format!(
        "Result in {format}, rounded {}; {overflow}; {nan}; {zero}{flush}.",
        rounding_words(*rounding)
    )
}
