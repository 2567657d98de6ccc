//! Runs a program on operands and records the trace: decoding, statements, the exact result.

use std::collections::HashSet;

use super::block::{Block, Start, add, convert, finished, is_subnormal};
use super::integer::of_pair;
use super::lane::{Lane, special_sum, special_value};
use super::trace::{PairTrace, Trace, TracedCode, TracedError, TracedOperand, TracedStep};
use super::value::TracedValue;
use crate::dpa::{
    Addends, Codes, Dpa, General, IntPair, Modifiers, Operands, Operation, Output, Program, Scale,
    Select, Signature, Signs, Source, Statement, Unit, check_operands,
};
use crate::error::Result;
use crate::exact::Dyadic;
use crate::format::{Class, Conversion, Format, Overflow, Rounding, Unpacked};

/// Words that begin lines of the text form; a statement of that name is shown with a prime.
const RESERVED: [&str; 14] = [
    "zero", "flush", "drop", "special", "E", "cut", "bits", "total", "scale", "floor", "round",
    "note", "value", "lost",
];

impl Trace {
    /// Explains how a unit comes to its result.
    ///
    /// The operands may have several times the unit's K: then as many instructions are chained,
    /// each one's d being the next one's c; modifiers of c belong to the first one.
    ///
    /// # Errors
    /// [`crate::Error::Argument`] when the lengths fit no whole number of instructions, or a
    /// word does not fit its format.
    ///
    /// ```
    /// use mmascope_model::{dpa::{Modifiers, Operands}, explain::Trace, isa::Catalogue};
    /// let unit = Catalogue::built_in().find("V100", "mma.m8n8k4.f32.f16.f16.f32")?.unit()?;
    /// let operands = Operands {
    ///     a: &[0xf000, 0xb800, 0xb400, 0xb000], // -2^13, -1/2, -1/4, -1/8
    ///     b: &[0x6400, 0x3c00, 0x3c00, 0x3c00], //  2^10, 1, 1, 1
    ///     c: 0x4b00_0000,                       //  2^23
    ///     ..Operands::default()
    /// };
    /// let trace = Trace::of(unit, &operands, &Modifiers::default())?;
    /// assert_eq!(trace.word(), 0);
    /// assert_eq!(trace.exact.to_string(), "-0.875");
    /// assert_eq!(trace.lost().to_string(), "-0.875"); // all of it, in the alignment
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    pub fn of(unit: &Unit, operands: &Operands<'_>, modifiers: &Modifiers) -> Result<Self> {
        let signature = unit.signature();
        let count = operands.a.len().div_ceil(signature.k).max(1);
        let whole = Signature {
            k: count * signature.k,
            ..*signature
        };
        let TracedCode {
            mut pairs,
            c: c_operand,
            scale_a,
            scale_b,
            scale_block,
            exact,
            ..
        } = TracedCode::read(
            &whole,
            operands,
            modifiers,
            unit.program().stated_addends(),
            unit.program().signs(),
        )?;
        let lanes = lanes(&whole, operands, modifiers, unit.program().codes);
        let widened = widened(unit.program());
        if let Some(format) = &widened {
            for (pair, lane) in pairs.iter_mut().zip(&lanes) {
                pair.align_as(&lane.widened(format));
            }
        }
        let codes_of_c = unit.program().codes_of_c();
        let first_c = c_of(&signature.c, operands.c, modifiers, codes_of_c);
        let mut steps: Vec<TracedStep> = Vec::new();
        let mut c = Start::c(first_c);
        let mut c_word = operands.c;
        for (index, lanes) in lanes.chunks(signature.k).enumerate() {
            let run = Run {
                program: unit.program(),
                prefix: if count == 1 {
                    String::new()
                } else {
                    format!("i{}.", index + 1)
                },
                is_last: index + 1 == count,
            };
            let before = steps.len();
            steps.extend(run.steps(lanes, &c));
            if steps.len() > before {
                let own = Operands {
                    a: &operands.a[index * signature.k..],
                    b: &operands.b[index * signature.k..],
                    c: c_word,
                    ..*operands
                };
                // Those of c belong to the first instruction.
                let modifiers = Modifiers {
                    negate_c: modifiers.negate_c && index == 0,
                    no_c: modifiers.no_c && index == 0,
                    ..*modifiers
                };
                pass_nan(&mut steps[before..], unit, &own, &modifiers);
            }
            if let Some(step) = steps.last() {
                c_word = step.bits();
                c = next_c(step, unit.program().output(), &signature.c);
            }
        }
        let (pairs, exact) = match differing(unit.program()) {
            None => (pairs, exact),
            Some(pair) => bits_that_differ(pairs, &lanes, &first_c, pair),
        };
        let result = result_of(steps.last(), &unit.program().output().format);
        let any_nan = result.value == TracedValue::Nan && !unit.program().nan_is_known();
        let error = error_of(&result.value, &exact, &unit.program().output().format);
        Ok(Self {
            types: signature.to_string(),
            arithmetic: unit.program().to_string(),
            widened: widened.map(|format| format.name),
            k: signature.k,
            instructions: count,
            modifiers: modifier_names(modifiers),
            notes: Vec::new(),
            pairs,
            c: c_operand,
            scale_a,
            scale_b,
            scale_block,
            steps,
            result,
            any_nan,
            exact,
            error,
        })
    }
}

impl TracedCode {
    /// Decodes operands of that signature.
    ///
    /// # Errors
    /// [`crate::Error::Argument`] when a length or a word does not fit the signature.
    pub fn of(
        signature: &Signature,
        operands: &Operands<'_>,
        modifiers: &Modifiers,
    ) -> Result<Self> {
        Self::read(signature, operands, modifiers, None, PLAIN)
    }

    /// Decodes operands as a unit reads them.
    ///
    /// # Errors
    /// As [`TracedCode::of`].
    pub fn of_unit(unit: &Unit, operands: &Operands<'_>, modifiers: &Modifiers) -> Result<Self> {
        Self::read(
            unit.signature(),
            operands,
            modifiers,
            unit.program().stated_addends(),
            unit.program().signs(),
        )
    }

    /// The same for a unit that takes every code for a number, where `numbers` says what its pairs add.
    fn read(
        signature: &Signature,
        operands: &Operands<'_>,
        modifiers: &Modifiers,
        numbers: Option<Addends>,
        signs: Signs,
    ) -> Result<Self> {
        check_operands(signature, operands, modifiers)?;
        let codes = numbers.map_or(Codes::Special, |_| Codes::Numbers);
        let added = numbers.unwrap_or_default();
        let lanes = lanes(signature, operands, modifiers, codes);
        let c = c_of(&signature.c, operands.c, modifiers, codes);
        let scales = |words: &[u64]| match signature.scale {
            Some(Scale { format, .. }) => words
                .iter()
                .map(|&word| operand(word, &format, &decode(&format, word)))
                .collect(),
            None => Vec::new(),
        };
        Ok(Self {
            pairs: lanes
                .iter()
                .map(|lane| pair_trace(lane, signature, operands, added))
                .collect(),
            c: operand(operands.c, &signature.c, &c),
            scale_a: scales(operands.scale_a),
            scale_b: scales(operands.scale_b),
            scale_block: signature.scale.map_or(0, |scale| scale.block),
            exact: exact_sum(&lanes, &c, added, signs),
            added,
        })
    }
}

/// The format that every sum of products widens its operands to, if there is one.
fn widened(program: &Program) -> Option<Format> {
    let formats = program
        .statements
        .iter()
        .filter_map(|statement| match &statement.operation {
            Operation::Dot { operands, .. } => Some(operands.widened),
            Operation::Join { over, .. } if !over.is_empty() => Some(None),
            _ => None,
        });
    let mut formats: Vec<Option<Format>> = formats.collect();
    formats.dedup();
    match formats[..] {
        [only] => only,
        _ => None,
    }
}

impl PairTrace {
    /// Exponents as they take part in alignments: those of the widened operands.
    fn align_as(&mut self, lane: &Lane) {
        let own = |value: &Unpacked| i64::from(value.exponent);
        self.a.exponent = self.a.exponent.map(|_| own(&lane.a));
        self.b.exponent = self.b.exponent.map(|_| own(&lane.b));
        self.exponent = self.exponent.map(|_| lane.exponent());
    }
}

fn modifier_names(modifiers: &Modifiers) -> Vec<String> {
    let name = |name: &str| match name {
        "scaleD" => format!("scaleD={}", modifiers.scale_d),
        other => other.to_owned(),
    };
    modifiers.names().map(name).collect()
}

fn decode(format: &Format, word: u64) -> Unpacked {
    format.decode(format.from_register(word))
}

/// Decoded operands, modifiers applied.
fn lanes(
    signature: &Signature,
    operands: &Operands<'_>,
    modifiers: &Modifiers,
    codes: Codes,
) -> Vec<Lane> {
    let decode_code = |format: &Format, word: u64| {
        let special = decode(format, word);
        match (codes, special.class) {
            (Codes::Numbers, Class::Infinite | Class::Nan) => {
                decode(&format.without_specials(), word)
            }
            (Codes::Largest, Class::Infinite) => format.decode(format.max_finite(special.negative)),
            _ => special,
        }
    };
    let negated = |value: Unpacked, by: bool| Unpacked {
        negative: value.negative ^ by,
        ..value
    };
    let lane = |k: usize| Lane {
        k,
        a: negated(decode_code(&signature.a, operands.a[k]), modifiers.negate_a),
        b: negated(decode_code(&signature.b, operands.b[k]), modifiers.negate_b),
        taken: false,
        scales: signature.scale.map(|Scale { format, block }| {
            let scale = |words: &[u64]| decode(&format, words[k / block]);
            let (a, b) = (scale(operands.scale_a), scale(operands.scale_b));
            (k / block, a, b)
        }),
    };
    (0..signature.k).map(lane).collect()
}

fn c_of(format: &Format, word: u64, modifiers: &Modifiers, codes: Codes) -> Unpacked {
    let word = if modifiers.no_c { 0 } else { word };
    let c = codes.decode(format, format.from_register(word));
    Unpacked {
        negative: c.negative ^ (modifiers.negate_c && !modifiers.no_c),
        exponent: c.exponent + modifiers.scale_d,
        ..c
    }
}

/// What pairs of a sum of integers give where it is no product.
fn differing(program: &Program) -> Option<IntPair> {
    program
        .statements
        .iter()
        .find_map(|statement| match &statement.operation {
            Operation::Dot {
                algorithm: Dpa::IntDot(step) | Dpa::General(General::Integer(step)),
                ..
            } => Some(step.pair).filter(|pair| *pair == IntPair::Differ),
            _ => None,
        })
}

/// The table of pairs and the exact sum of bits that differ.
fn bits_that_differ(
    mut pairs: Vec<PairTrace>,
    lanes: &[Lane],
    c: &Unpacked,
    pair: IntPair,
) -> (Vec<PairTrace>, TracedValue) {
    let mut sum = TracedValue::of(c).number().unwrap_or_default();
    for (trace, lane) in pairs.iter_mut().zip(lanes) {
        let own = of_pair(lane, pair);
        trace.product = TracedValue::of_number(&own);
        trace.exponent = None;
        sum = &sum + &own;
    }
    (pairs, TracedValue::of_number(&sum))
}

/// NaN results that are the NaN of an operand: of a step, of one that was summed up to it. Such a program is one statement with one
/// product a block; where a block has several steps, only the last of all is known.
fn pass_nan(steps: &mut [TracedStep], unit: &Unit, operands: &Operands<'_>, modifiers: &Modifiers) {
    let (program, signature) = (unit.program(), unit.signature());
    let order = match &program.statements[..] {
        [
            Statement {
                operation: Operation::Dot { over, .. },
                ..
            },
        ] => over.indices(signature.k),
        _ => Vec::new(),
    };
    let count = steps.len();
    for (number, step) in steps.iter_mut().enumerate() {
        let later = match number + 1 {
            done if order.len() == count => &order[done..],
            done if done == count => &[],
            _ => continue,
        };
        // What later steps sum is no NaN yet.
        let (mut a, mut b) = (operands.a.to_vec(), operands.b.to_vec());
        for &k in later {
            (a[k], b[k]) = (0, 0);
        }
        let summed = Operands {
            a: &a,
            b: &b,
            ..*operands
        };
        let passed = program.passed_nan(signature, &summed, modifiers, step.bits());
        if let Some((name, word)) = passed {
            step.set_word(word, program.output());
            step.remarks
                .push(format!("the NaN {name} goes on, made quiet"));
        }
    }
}

/// The d of one instruction as the c of the next one, in c's format.
fn next_c(step: &TracedStep, output: &Output, format: &Format) -> Start {
    let d = Start::of_step(step, output);
    let from = output.format.container();
    if from == format.container() {
        return d;
    }
    let to_nearest = Conversion {
        rounding: Rounding::Rne,
        overflow: Overflow::Ieee,
    };
    let code = from.convert(from.from_register(step.bits()), format, to_nearest);
    Start {
        value: format.decode(code),
        ..d
    }
}

fn operand(word: u64, format: &Format, value: &Unpacked) -> TracedOperand {
    let class = match value.class {
        Class::Zero => "zero",
        Class::Finite if is_subnormal(value) => "subnormal",
        Class::Finite => "normal",
        Class::Infinite => "infinite",
        Class::Nan => "nan",
    };
    TracedOperand {
        word: format!("{word:0width$x}", width = format.digits()),
        class,
        value: TracedValue::of(value),
        exponent: (value.class == Class::Finite).then(|| value.exponent.into()),
    }
}

fn pair_trace(
    lane: &Lane,
    signature: &Signature,
    operands: &Operands<'_>,
    added: Addends,
) -> PairTrace {
    let product = match added {
        Addends::Product => lane.product(),
        _ => TracedValue::of_number(&both(lane, added)),
    };
    PairTrace {
        k: lane.k,
        a: operand(operands.a[lane.k], &signature.a, &lane.a),
        b: operand(operands.b[lane.k], &signature.b, &lane.b),
        exponent: (matches!(product, TracedValue::Finite(_)) && added == Addends::Product)
            .then(|| lane.exponent()),
        product,
    }
}

fn result_of(step: Option<&TracedStep>, format: &Format) -> TracedOperand {
    let word = step.map_or(0, TracedStep::bits);
    let container = format.container();
    operand(word, &container, &decode(&container, word))
}

/// a + b, or a − b.
fn both(lane: &Lane, added: Addends) -> Dyadic {
    let number = |x: &Unpacked| TracedValue::of(x).number().unwrap_or_default();
    let (a, b) = (number(&lane.a), number(&lane.b));
    match added {
        Addends::Difference => &a - &b,
        _ => &a + &b,
    }
}

/// The signs of almost every unit.
const PLAIN: Signs = Signs { products: 1, c: 1 };

/// `c + Σ a·b` with scales, modifiers and the signs that the program gives them, in exact arithmetic.
fn exact_sum(lanes: &[Lane], c: &Unpacked, added: Addends, signs: Signs) -> TracedValue {
    let c = &Unpacked {
        negative: c.negative != (signs.c < 0),
        ..*c
    };
    let turned: Vec<Lane>;
    let lanes = match signs.products < 0 {
        false => lanes,
        true => {
            let turn = |lane: &Lane| {
                let negative = !lane.a.negative;
                let a = Unpacked { negative, ..lane.a };
                Lane { a, ..*lane }
            };
            turned = lanes.iter().map(turn).collect();
            &turned
        }
    };
    if added != Addends::Product {
        let c = TracedValue::of(c).number().unwrap_or_default();
        let sums: Vec<Dyadic> = lanes.iter().map(|lane| both(lane, added)).collect();
        return TracedValue::of_number(&sums.iter().chain([&c]).sum());
    }
    let specials = lanes
        .iter()
        .map(Lane::special)
        .chain([special_value("c", c)]);
    if let Some((_, special)) = special_sum(specials) {
        return special;
    }
    let products: Vec<Dyadic> = lanes.iter().filter_map(Lane::scaled_product).collect();
    let c = TracedValue::of(c).number().unwrap_or_default();
    TracedValue::of_number(&products.iter().chain([&c]).sum())
}

fn error_of(result: &TracedValue, exact: &TracedValue, format: &Format) -> Option<TracedError> {
    let (result, exact) = (result.number()?, exact.number()?);
    let Some(float) = format.float() else {
        // Of an integer.
        let difference = &result - &exact;
        return Some(TracedError {
            ulps: difference.clone(),
            difference,
            ulp: 0,
        });
    };
    let smallest = i64::from(float.emin());
    let top = exact.top().or(result.top()).unwrap_or(smallest);
    let ulp = top.max(smallest) - i64::from(float.fraction_bits);
    let difference = &result - &exact;
    Some(TracedError {
        ulps: difference.scaled(-ulp),
        difference,
        ulp,
    })
}

/// One instruction of the chain.
struct Run<'a> {
    program: &'a Program,
    /// In front of the names; empty when there is only one instruction.
    prefix: String,
    is_last: bool,
}

impl Run<'_> {
    fn steps(&self, lanes: &[Lane], c: &Start) -> Vec<TracedStep> {
        let mut steps: Vec<TracedStep> = Vec::new();
        let mut values: Vec<Start> = Vec::new();
        let mut taken = HashSet::new();
        let signs = self.program.signs_of_statements();
        for (statement, sign) in self.program.statements.iter().zip(signs) {
            let first = steps.len();
            let output = &statement.output;
            let read = |source: Source| match source {
                Source::C => c.clone(),
                Source::Zero => Start {
                    name: "+0".to_owned(),
                    value: output.format.container().decode(0),
                    cover: Vec::new(),
                },
                Source::Statement(index) => values[index].clone(),
            };
            let name = self.name(statement);
            match &statement.operation {
                Operation::Dot {
                    algorithm,
                    operands,
                    over,
                    from,
                } => {
                    let lane = |&k: &usize| {
                        let lane = match &operands.widened {
                            Some(format) => lanes[k].widened(format),
                            None => lanes[k],
                        };
                        let (a, b) = operands.parts(lane.a, lane.b);
                        Lane { a, b, ..lane }
                    };
                    let mut chosen: Vec<Lane> =
                        over.indices(lanes.len()).iter().map(lane).collect();
                    for lane in &mut chosen {
                        lane.taken = !taken.insert(lane.k);
                    }
                    let start = from.source().map(read);
                    let role = dot_role(algorithm, operands.widened, over);
                    steps.extend(dot(algorithm, &name, &role, &chosen, start, output));
                }
                Operation::Add(left, right) => {
                    let (left, right) = (read(*left), read(*right));
                    steps.push(add(&name, "add".to_owned(), &left, &right, output));
                }
                Operation::Join {
                    algorithm,
                    over,
                    of,
                } => {
                    let values: Vec<Start> = of.iter().map(|&source| read(source)).collect();
                    let lanes: Vec<Lane> = over.iter().map(|&k| lanes[k]).collect();
                    let block = Block {
                        name,
                        role: "join".to_owned(),
                        lanes: &lanes,
                        start: values.first(),
                        first: true,
                        output,
                    };
                    steps.extend(block.steps(algorithm, values.get(1..).unwrap_or_default()));
                }
                Operation::Convert(source) => {
                    let source = read(*source);
                    steps.push(convert(&name, "convert".to_owned(), &source, output));
                }
                Operation::Negate(source) => {
                    let source = read(*source).negated();
                    steps.push(convert(&name, "negate".to_owned(), &source, output));
                }
            }
            if let Some(step) = steps.last_mut() {
                values.push(finished(step, output));
            }
            for step in &mut steps[first..] {
                step.subtracted = sign < 0;
            }
        }
        steps
    }

    fn name(&self, statement: &Statement) -> String {
        let name = &statement.name;
        let index = name
            .strip_prefix(['p', 'a', 'b'])
            .or(name.strip_prefix("sa"));
        let index = index.or(name.strip_prefix("sb"));
        let is_element = index.is_some_and(|index| index.parse::<usize>().is_ok());
        if name == "d" && self.is_last {
            name.clone()
        } else if is_element || RESERVED.contains(&name.as_str()) {
            format!("{}{name}'", self.prefix)
        } else {
            format!("{}{name}", self.prefix)
        }
    }
}

fn dot_role(algorithm: &Dpa, widened: Option<Format>, over: &Select) -> String {
    let text = algorithm.to_string();
    let name = text.split(' ').next().unwrap_or_default();
    let widened = widened.map_or_else(String::new, |format| format!(" as {format}"));
    format!("{name}{widened}{over}")
}

/// An algorithm over some lanes, block by block.
fn dot(
    algorithm: &Dpa,
    name: &str,
    role: &str,
    lanes: &[Lane],
    start: Option<Start>,
    output: &Output,
) -> Vec<TracedStep> {
    let mut steps = Vec::new();
    let unscaled: Vec<Lane> = lanes.iter().map(|lane| lane.unscaled()).collect();
    // What rounds every operation knows no scales.
    let lanes = match algorithm.rounds_every_operation() {
        true => &unscaled,
        false => lanes,
    };
    let size = algorithm.block();
    let count = lanes.len().div_ceil(size);
    let mut current = start;
    for (index, lanes) in lanes.chunks(size).enumerate() {
        let role = if count == 1 {
            role.to_owned()
        } else {
            format!("{role}, block {} of {count}", index + 1)
        };
        let name = if index + 1 == count {
            name.to_owned()
        } else {
            format!("{name}.{}", index + 1)
        };
        let block = Block {
            name,
            role,
            lanes,
            start: current.as_ref(),
            first: index == 0,
            output,
        };
        steps.extend(block.steps(algorithm, &[]));
        current = steps.last_mut().map(|step| finished(step, output));
    }
    steps
}
