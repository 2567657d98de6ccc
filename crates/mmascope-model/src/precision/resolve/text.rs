//! Reading one LLVM function: float operations with their flags, calls, attributes. Exactly that subset.

use std::collections::HashMap;

use super::denormal::DenormalMode;
use super::flags::Fmf;
use super::graph::{Graph, Op, Settings};
use super::policy::Policy;
use super::reflect::Origin;
use super::{expression, intrinsic, library};
use crate::error::{Error, Position, Result, quoted};
use crate::explain::number_word;
use crate::format::{BF16, F16, F32, F64, Format, Overflow, Rounding};

/// What a function's text says.
pub(super) struct Function {
    pub(super) graph: Graph,
    /// The mode for f32, and for the other types.
    pub(super) denormal: Option<(DenormalMode, DenormalMode)>,
    /// The flags that all its operations carry.
    pub(super) flags: Fmf,
    /// Keys of the reflect map that the module sets.
    pub(super) reflect: Vec<(String, i64, Origin)>,
}

const TYPES: &[(&str, Format)] = &[
    ("float", F32),
    ("double", F64),
    ("half", F16),
    ("bfloat", BF16),
];

/// Whether a text is a function (or a module with one).
pub(super) fn is_function(text: &str) -> bool {
    text.lines()
        .any(|line| line.trim_start().starts_with("define "))
}

/// Reads the one function of a text.
///
/// # Errors
/// [`Error::Text`] with line and column: another function, an operation or type outside the subset.
pub(super) fn read(text: &str, policy: Policy) -> Result<Function> {
    let mut reader = Reader {
        line: 0,
        written: String::new(),
        graph: None,
        result: None,
        names: HashMap::new(),
        attributes: String::new(),
        groups: Vec::new(),
        flags: None,
        returned: false,
        inside: false,
        reflect: Vec::new(),
        policy,
    };
    for (number, line) in text.lines().enumerate() {
        reader.line = number + 1;
        reader.written = line.to_owned();
        reader.statement(line)?;
    }
    let Some(graph) = reader.graph else {
        return Err(reader.wrong("", "a function of float operations is expected"));
    };
    if !reader.returned {
        reader.graph = None;
        return Err(Error::Text {
            position: position(text.lines().count(), 1),
            message: "the function returns nothing".to_owned(),
        });
    }
    let mut attributes = reader.attributes;
    for (name, text) in &reader.groups {
        if attributes.split_whitespace().any(|word| word == name) {
            attributes.push_str(text);
            break;
        }
    }
    let value = |key: &str| -> Result<Option<DenormalMode>> {
        let Some((_, rest)) = attributes.split_once(&format!("\"{key}\"=\"")) else {
            return Ok(None);
        };
        rest.split('"').next().unwrap_or("").parse().map(Some)
    };
    // The f32 override is read first.
    let (single, all) = (value("denormal-fp-math-f32")?, value("denormal-fp-math")?);
    let denormal = single.or(all).map(|mode| (mode, all.unwrap_or_default()));
    Ok(Function {
        graph,
        denormal,
        flags: reader.flags.unwrap_or_default(),
        reflect: reader.reflect,
    })
}

fn position(line: usize, column: usize) -> Position {
    Position {
        file: "(function)".to_owned(),
        line,
        column,
    }
}

struct Reader {
    line: usize,
    /// The line as it is written.
    written: String,
    graph: Option<Graph>,
    /// The type of the result.
    result: Option<Format>,
    names: HashMap<String, usize>,
    attributes: String,
    groups: Vec<(String, String)>,
    flags: Option<Fmf>,
    returned: bool,
    inside: bool,
    reflect: Vec<(String, i64, Origin)>,
    policy: Policy,
}

impl Reader {
    fn wrong(&self, found: &str, message: &str) -> Error {
        let before = self.written.find(found).unwrap_or(0);
        let column = self.written[..before].chars().count() + 1;
        let found = if found.is_empty() {
            String::new()
        } else {
            format!("'{}': ", quoted(found))
        };
        Error::Text {
            position: position(self.line.max(1), column),
            message: format!("{found}{message}"),
        }
    }

    fn statement(&mut self, line: &str) -> Result<()> {
        // A comment begins at ';', which stands in no name that this subset has.
        let line = line.split(';').next().unwrap_or("").trim();
        if line.is_empty() {
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix("define ") {
            return self.header(rest);
        }
        if let Some(rest) = line.strip_prefix("attributes ") {
            let (name, text) = rest.split_once('=').unwrap_or((rest, ""));
            self.groups.push((name.trim().to_owned(), text.to_owned()));
            return Ok(());
        }
        if line.starts_with('!') {
            self.metadata(line);
            return Ok(());
        }
        if !self.inside {
            let ignored = ["declare ", "target ", "source_filename", "@", "}"];
            if ignored.iter().any(|start| line.starts_with(start)) {
                return Ok(());
            }
            return Err(self.wrong(line, "a function begins with define"));
        }
        if line == "}" {
            self.inside = false;
            return Ok(());
        }
        // Metadata behind an instruction says nothing about what it computes.
        let line = line.split(", !").next().unwrap_or(line).trim_end();
        if line.ends_with(':') && !line.contains(' ') {
            return Ok(());
        }
        if let Some(value) = line.strip_prefix("ret ") {
            let (format, value) = self.typed(value)?;
            if Some(format) != self.result {
                return Err(self.wrong(value, "the function is said to return another type"));
            }
            let node = self.value(value)?;
            if let Some(graph) = &mut self.graph {
                graph.root = node;
            }
            self.returned = true;
            return Ok(());
        }
        let Some((name, rest)) = line.split_once('=') else {
            return Err(self.wrong(
                line,
                "an assignment %name = … or ret is expected; branches are not read",
            ));
        };
        let node = self.operation(rest.trim())?;
        self.names.insert(name.trim().to_owned(), node);
        Ok(())
    }

    fn metadata(&mut self, line: &str) {
        let mut value = |key: &str, name: &str, origin: Origin| {
            if let Some((_, rest)) = line.split_once(key) {
                let number = rest
                    .rsplit("i32")
                    .next()
                    .unwrap_or("")
                    .trim_matches(|letter: char| !letter.is_ascii_digit() && letter != '-');
                if let Ok(number) = number.parse() {
                    self.reflect.push((name.to_owned(), number, origin));
                }
            }
        };
        value("!\"nvvm-reflect-ftz\"", "__CUDA_FTZ", Origin::ModuleFlag);
        if self.policy == Policy::Seed {
            for key in super::reflect::KEYS {
                value(&format!("!\"{key}\""), key, Origin::Metadata);
            }
        }
    }

    fn header(&mut self, rest: &str) -> Result<()> {
        if self.graph.is_some() {
            return Err(self.wrong("define", "a second function; one is read"));
        }
        let (before, after) = rest
            .split_once('(')
            .ok_or_else(|| self.wrong(rest, "'(' is expected"))?;
        let (parameters, after) = after
            .split_once(')')
            .ok_or_else(|| self.wrong(rest, "')' is expected"))?;
        let words: Vec<&str> = before.split_whitespace().collect();
        let format = words.iter().find_map(|word| known(word));
        let format = format
            .ok_or_else(|| self.wrong(before, "the result is float, double, half or bfloat"))?;
        let mut graph = Graph::new(format);
        for parameter in parameters
            .split(',')
            .map(str::trim)
            .filter(|text| !text.is_empty())
        {
            let words: Vec<&str> = parameter.split_whitespace().collect();
            let own = words.first().and_then(|word| known(word));
            graph.format = own.ok_or_else(|| {
                self.wrong(parameter, "a parameter is float, double, half or bfloat")
            })?;
            let name = words.last().filter(|name| name.starts_with('%'));
            let name = name.ok_or_else(|| self.wrong(parameter, "the parameter has no name"))?;
            let node = graph.parameter(&name[1..]);
            self.names.insert((*name).to_owned(), node);
        }
        self.graph = Some(graph);
        self.result = Some(format);
        self.attributes = after.to_owned();
        self.inside = true;
        Ok(())
    }

    /// Takes a type from the front; what follows has it.
    fn typed<'t>(&mut self, text: &'t str) -> Result<(Format, &'t str)> {
        let (word, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let format = known(word).ok_or_else(|| {
            let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
            self.wrong(
                word,
                &format!("this is no type of the subset: {}", names.join(" ")),
            )
        })?;
        if let Some(graph) = &mut self.graph {
            graph.format = format;
        }
        Ok((format, rest.trim()))
    }

    fn operation(&mut self, text: &str) -> Result<usize> {
        let (mut opcode, mut rest) = text.split_once(' ').unwrap_or((text, ""));
        if matches!(opcode, "fcmp" | "icmp" | "select") {
            return Err(self.wrong(
                opcode,
                "comparisons and selections are outside the subset: fadd fsub fmul fdiv fneg fpext fptrunc call",
            ));
        }
        if matches!(opcode, "tail" | "musttail" | "notail") {
            (opcode, rest) = rest.trim().split_once(' ').unwrap_or((rest, ""));
        }
        let mut flags = Fmf::NONE;
        let mut names = Vec::new();
        loop {
            let (word, after) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
            if known(word).is_some() || word.is_empty() {
                break;
            }
            if !Fmf::names().chain(["fast"]).any(|flag| flag == word) {
                let known = Fmf::names().chain(["fast"]).collect::<Vec<_>>().join(" ");
                return Err(self.wrong(word, &format!("this is no fast-math flag: {known}")));
            }
            names.push(word);
            rest = after;
        }
        if !names.is_empty() {
            flags = Fmf::of(names)?;
        }
        if matches!(opcode, "fpext" | "fptrunc") {
            return self.conversion(opcode, rest);
        }
        self.flags = Some(self.flags.map_or(flags, |all| all.join(flags)));
        let settings = Settings {
            flags,
            ..Settings::default()
        };
        let (_, operands) = self.typed(rest)?;
        let op = match opcode {
            "fadd" => Op::Add,
            "fsub" => Op::Sub,
            "fmul" => Op::Mul,
            "fdiv" => Op::Div,
            "fneg" => Op::Neg,
            "call" => return self.call(operands, settings),
            _ => {
                let known = "fadd fsub fmul fdiv fneg fpext fptrunc call";
                return Err(self.wrong(
                    opcode,
                    &format!("this is no operation of the subset: {known}"),
                ));
            }
        };
        let args: Vec<usize> = operands
            .split(',')
            .map(|text| self.value(text.trim()))
            .collect::<Result<_>>()?;
        let wanted = if op == Op::Neg { 1 } else { 2 };
        if args.len() != wanted {
            return Err(self.wrong(text, &format!("{opcode} takes {wanted} operands")));
        }
        self.push(op, args, settings)
    }

    /// `float %x to double`.
    fn conversion(&mut self, opcode: &str, text: &str) -> Result<usize> {
        let (value, to) = text
            .rsplit_once(" to ")
            .ok_or_else(|| self.wrong(text, "'to' and a type are expected"))?;
        let (from, value) = self.typed(value)?;
        let arg = self.value(value)?;
        let (to, _) = self.typed(to)?;
        let fits = match opcode {
            "fpext" => to.bits > from.bits,
            _ => to.bits < from.bits,
        };
        if !fits {
            let text = format!("{opcode} of {from} to {to}: fpext widens, fptrunc narrows");
            return Err(self.wrong(opcode, &text));
        }
        self.push(Op::Convert, vec![arg], Settings::default())
    }

    fn push(&mut self, op: Op, args: Vec<usize>, settings: Settings) -> Result<usize> {
        match &mut self.graph {
            Some(graph) => Ok(graph.add(op, args, settings)),
            None => Err(Error::Argument("operation: outside a function".to_owned())),
        }
    }

    fn call(&mut self, text: &str, settings: Settings) -> Result<usize> {
        let (name, rest) = text
            .split_once('(')
            .ok_or_else(|| self.wrong(text, "'(' is expected"))?;
        let name = name.trim().trim_start_matches('@');
        let operands = rest.split(')').next().unwrap_or("");
        let mut args = Vec::new();
        let result = self.graph.as_ref().map(|graph| graph.format);
        for operand in operands
            .split(',')
            .map(str::trim)
            .filter(|text| !text.is_empty())
        {
            let (format, value) = self.typed(operand)?;
            if Some(format) != result {
                return Err(self.wrong(
                    operand,
                    "every operand of a call has the type of its result",
                ));
            }
            args.push(self.value(value)?);
        }
        let short = short_name(name);
        let op = match short {
            Some("fma" | "fmuladd") => Op::Fma,
            Some("fabs") => Op::Call("abs".to_owned()),
            Some("minnum") => Op::Call("min".to_owned()),
            Some("maxnum") => Op::Call("max".to_owned()),
            Some(short) => Op::Call(short.to_owned()),
            None => Op::Call(name.to_owned()),
        };
        let arity = match &op {
            Op::Fma => Some(3),
            Op::Call(called) => expression::arity(called).or_else(|| intrinsic::arity(called)),
            _ => None,
        };
        let Some(arity) = arity else {
            let known = library::names().map(str::to_owned);
            return Err(Error::unknown(
                "function",
                name,
                known.chain(["llvm.sqrt.f32".to_owned()]),
            ));
        };
        if args.len() != arity {
            return Err(self.wrong(name, &format!("it takes {arity} operands")));
        }
        self.push(op, args, settings)
    }

    fn value(&mut self, text: &str) -> Result<usize> {
        let format = self.graph.as_ref().map(|graph| graph.format);
        if let (Some(node), Some(graph)) = (self.names.get(text), &self.graph) {
            let own = graph.nodes[*node].format;
            if Some(own) != format {
                let message = format!("its type is {own}, not the one that stands before it");
                return Err(self.wrong(text, &message));
            }
            return Ok(*node);
        }
        if text.starts_with('%') || text.is_empty() {
            return Err(self.wrong(text, "this value is not defined"));
        }
        let Some(format) = format else {
            return Err(self.wrong(text, "outside a function"));
        };
        let word = constant(text, format).map_err(|error| self.wrong(text, &error.to_string()))?;
        self.push(Op::Constant(word), Vec::new(), Settings::default())
    }
}

fn known(word: &str) -> Option<Format> {
    TYPES
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, format)| *format)
}

/// `llvm.sqrt.f32` is `sqrt`; `llvm.nvvm.…` keeps its name.
fn short_name(name: &str) -> Option<&str> {
    let name = name.strip_prefix("llvm.")?;
    if name.starts_with("nvvm.") {
        return None;
    }
    name.split('.').next()
}

/// A constant: decimal, or hexadecimal as LLVM writes it (f64 bits for float and double, 0xH, 0xR for the others).
fn constant(text: &str, format: Format) -> Result<u64> {
    let wrong = || Error::Argument("this is no constant of its type".to_owned());
    let bits = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| wrong());
    if let Some(digits) = text
        .strip_prefix("0xH")
        .or_else(|| text.strip_prefix("0xR"))
    {
        return bits(digits);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        let value = F64.decode(bits(digits)?);
        return match value.exact() {
            Some(exact) => Ok(format.round(&exact, Rounding::Rne, Overflow::Ieee)),
            None => {
                let name = if value.class == crate::format::Class::Nan {
                    "nan"
                } else {
                    "inf"
                };
                let sign = if value.negative { "-" } else { "" };
                number_word("constant", &format!("{sign}{name}"), &format, true)
            }
        };
    }
    number_word("constant", text, &format, true)
}
