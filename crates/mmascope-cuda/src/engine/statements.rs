//! Programs of floats in tiles of outputs, statement by statement.

use mmascope_gemm::shape::StepShape;
use mmascope_model::dpa::{Operation, Output, Reading, Source, Start, Unit, ZeroSign};
use mmascope_model::format::{F16, F32, Format, Overflow, Rounding};

use super::fast::{Doubles, Fast, Order, accumulates, has_words, of_floats, tiles};
use super::floats::Floats;
use super::sums::Sums;

/// What the source of a program's dot products needs.
pub(super) struct Dots {
    /// What they are, for people.
    pub what: &'static str,
    /// Whether values are f64.
    pub is_wide: bool,
    /// Bytes of an operand's number.
    pub bytes: usize,
    /// Columns of a thread's outputs.
    pub columns: usize,
    /// Blocks of threads for which a multiprocessor has registers: more of them leave a thread fewer.
    pub resident: usize,
    /// Products of a block.
    pub block: usize,
    /// Whether exponents and signs of operands are needed.
    pub has_exponents: bool,
    /// The smallest normal exponent of the format as whose numbers operands are read.
    pub widened: Option<i32>,
    /// What stands before operands are expanded, and the methods.
    pub pieces: [&'static str; 2],
    /// What names in them stand for.
    pub values: Vec<(&'static str, String)>,
}

/// The dot products of a program: of which kind all of them are.
enum Kind {
    Floats(Floats),
    Sums(Sums),
}

/// One dot product of a program.
pub(super) struct Dot<'a> {
    pub shape: StepShape,
    pub output: &'a Output,
    pub reading: Reading,
    /// Its products.
    pub count: usize,
    /// The format of the value that it begins with.
    pub c: Format,
    pub from: Start,
}

/// A program on its way to a source.
struct Walk<'a> {
    unit: &'a Unit,
    kind: Kind,
    /// The k of each slot.
    order: Vec<usize>,
    /// Lines of the kernel.
    lines: String,
    /// The format of each statement's value.
    formats: Vec<Format>,
}

/// The method of a program of floats.
pub(super) fn fast(unit: &Unit, doubles: Doubles) -> Result<Fast, String> {
    let signature = unit.signature();
    let statements = &unit.program().statements;
    accumulates(unit)?;
    if signature.scale.is_some() {
        return Err("block scales".to_owned());
    }
    let mut walk = Walk {
        unit,
        kind: kind(unit, doubles)?,
        order: Vec::new(),
        lines: String::new(),
        formats: Vec::new(),
    };
    for statement in statements {
        walk.add(&statement.operation, &statement.output)?;
    }
    walk.finish()
}

/// What the first dot product says that all of them are.
fn kind(unit: &Unit, doubles: Doubles) -> Result<Kind, String> {
    let signature = unit.signature();
    for statement in &unit.program().statements {
        if let Operation::Dot {
            algorithm,
            operands,
            over,
            ..
        } = &statement.operation
        {
            let count = over.indices(signature.k).len();
            let output = &statement.output;
            return match StepShape::of(algorithm, output)? {
                StepShape::Sum(grid) => {
                    Sums::new(signature, grid, output, *operands, count, doubles).map(Kind::Sums)
                }
                shape => Floats::new(signature, shape, output).map(Kind::Floats),
            };
        }
    }
    Err("no dot product".to_owned())
}

/// The name of a value.
fn name(source: Source) -> String {
    match source {
        Source::C => "own".to_owned(),
        Source::Zero => "0".to_owned(),
        Source::Statement(index) => format!("v{index}"),
    }
}

impl Walk<'_> {
    fn format_of(&self, source: Source) -> Format {
        match source {
            Source::C => self.unit.signature().c,
            Source::Zero => F16,
            Source::Statement(index) => self.formats[index],
        }
    }

    /// Whether the program is one dot product that begins with c: its steps follow each other without a seam.
    fn is_one(&self) -> bool {
        match &self.unit.program().statements[..] {
            [only] => matches!(only.operation, Operation::Dot { from: Start::C, .. }),
            _ => false,
        }
    }

    /// One more statement.
    fn add(&mut self, operation: &Operation, output: &Output) -> Result<(), String> {
        let own = self.formats.len();
        let line = match operation {
            Operation::Dot {
                algorithm,
                operands,
                over,
                from,
            } => {
                let indices = over.indices(self.unit.signature().k);
                let (slot, count) = (self.order.len(), indices.len());
                let start = from.source().unwrap_or(Source::Zero);
                let dot = Dot {
                    shape: StepShape::of(algorithm, output)?,
                    output,
                    reading: *operands,
                    count,
                    c: self.format_of(start),
                    from: *from,
                };
                let method = match &self.kind {
                    Kind::Floats(floats) => {
                        self.order.extend(indices);
                        floats.method(&dot, self.is_one())?
                    }
                    Kind::Sums(sums) => {
                        self.order.extend(sums.ordered(&indices));
                        sums.method(&dot)?
                    }
                };
                // What is added to −0 stays what it is.
                let begin = match from {
                    Start::Product => "-(value)0".to_owned(),
                    _ => name(start),
                };
                match self.is_one() {
                    true => format!(
                        "run<{method}>(shared, first_step * SLOTS, steps * SLOTS, own, bad);"
                    ),
                    false => format!(
                        "set(v{own}, {begin}), run<{method}>(shared, step * SLOTS + {slot}, {count}, v{own}, bad);"
                    ),
                }
            }
            Operation::Add(left, right) => {
                let round = self.rounding(output, &[*left, *right])?;
                let (left, right) = (name(*left), name(*right));
                format!("EACH_OUTPUT v{own}[r][c] = {round}({left}[r][c] + {right}[r][c]);")
            }
            Operation::Convert(source) => {
                let round = self.rounding(output, &[*source])?;
                format!(
                    "EACH_OUTPUT v{own}[r][c] = {round}({}[r][c]);",
                    name(*source)
                )
            }
            Operation::Join { .. } | Operation::Negate(_) => {
                return Err("a sum of several values, or a changed sign".to_owned());
            }
        };
        self.lines += &match self.is_one() {
            true => format!("  {line}"),
            false => format!("    value v{own}[ROWS][COLUMNS];\n    {line}\n"),
        };
        self.formats.push(output.format);
        Ok(())
    }

    /// The function that rounds a sum or a conversion of f32's and f16's numbers. The sum of two of f32 in f64, or of f16 in f32, is rounded
    /// again as the exact one.
    fn rounding(&self, output: &Output, of: &[Source]) -> Result<&'static str, String> {
        let overflows = matches!(output.overflow, Overflow::Infinity | Overflow::Ieee);
        let usual = output.zero == ZeroSign::Ieee && output.rounding == Rounding::Rne;
        let are = |formats: &[Format]| {
            of.iter()
                .all(|of| *of != Source::Zero && formats.contains(&self.format_of(*of).container()))
        };
        if !(overflows && usual && output.flush.is_none() && are(&[F16, F32])) {
            return Err("a sum or a conversion of another kind".to_owned());
        }
        match output.format {
            format if format == F32 => Ok("as_f32"),
            format if format == F16 && (of.len() == 1 || are(&[F16])) => Ok("as_f16"),
            format => Err(format!("a sum rounded to {format}")),
        }
    }

    fn finish(self) -> Result<Fast, String> {
        let dots = match &self.kind {
            Kind::Floats(floats) => floats.dots(self.unit),
            Kind::Sums(sums) => sums.dots(),
        };
        let d = &self.unit.signature().d;
        if !has_words(d, dots.is_wide) {
            return Err(format!("results in {d}"));
        }
        // Values of several statements fill a thread's registers.
        let columns = if self.is_one() { dots.columns } else { 4 };
        let body = match self.is_one() {
            true => self.lines,
            false => format!(
                "  for (word step = first_step; step < first_step + steps; step++) {{\n{}    set(own, v{});\n  }}",
                self.lines,
                self.formats.len() - 1
            ),
        };
        let slots = self.order.len();
        // Every k stands once; in its place where they ascend.
        let order = Order {
            slots,
            list: match self.order.is_sorted() {
                true => None,
                false => Some(self.order),
            },
            block: dots.block,
            has_exponents: dots.has_exponents,
            has_pairs: false,
            widened: dots.widened,
        };
        let mut values = dots.values;
        values.extend([
            ("COLUMNS", columns.to_string()),
            ("RESIDENT", dots.resident.to_string()),
            ("BODY", body),
        ]);
        let [head, methods] = dots.pieces;
        let source = of_floats(
            self.unit,
            dots.is_wide,
            [head, &tiles(methods)],
            &order,
            &values,
        );
        Ok(Fast {
            what: dots.what,
            source,
            tile: [64, 8 * columns],
            bytes: dots.bytes,
            exponents: if dots.has_exponents { [2, 2] } else { [0, 0] },
            slots: order.slots,
            signs: dots.has_exponents.then_some(dots.block),
        })
    }
}
