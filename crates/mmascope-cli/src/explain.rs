//! `mmascope explain`: shows how one output is computed, and where two units part.

mod product;

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::args::{Common, Explain};
use crate::layout;
use crate::output::Output;
use crate::report::{self, Failure, Status};
use crate::show::flag_words;
use crate::terminal;
use crate::tested;
use crate::units::Types;
use mmascope::Error;
use mmascope::dpa::{Modifiers, Signature};
use mmascope::explain::{Comparison, Trace, TraceRequest, TracedInput, page, page_against};
use mmascope::isa::{Catalogue, Instruction, OperandTypes, Scaling};
use mmascope::vector::Reader;

/// What is explained: an instruction, its operands and their modifiers.
struct Subject<'c> {
    instruction: &'c Instruction,
    input: TracedInput,
    modifiers: Modifiers,
}

impl Subject<'_> {
    fn name(&self) -> String {
        name(self.instruction)
    }

    /// The bits of the status register that the result sets, where the row has such bits.
    fn flags(&self) -> Result<Option<u8>, Failure> {
        if !self.instruction.flags.any() {
            return Ok(None);
        }
        // Operands of another unit may need several instructions of this one.
        let (_, flags) =
            (self.instruction).chain_with_flags(&self.input.operands(), &self.modifiers)?;
        Ok(flags)
    }

    fn trace(&self) -> Result<Trace, Failure> {
        self.instruction.check_modifiers(&self.modifiers)?;
        let unit = self.instruction.unit()?;
        let mut trace = Trace::of(unit, &self.input.operands(), &self.modifiers)?;
        trace.notes.clone_from(&self.input.notes);
        Ok(trace)
    }
}

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Explain,
) -> Result<Status, Failure> {
    if let Some(arch) = options.arch.as_ref().filter(|arch| arch.contains(',')) {
        return Err(Failure::Input(format!(
            "--arch {arch}: explain takes one unit; --against ARCH:INST takes the second one"
        )));
    }
    if !options.files.is_empty() {
        return product::run(catalogue, common, options);
    }
    if !options.at.is_empty() {
        let message =
            "--at: it is for the product of two files; --a and --b are the operands of one output";
        return Err(Failure::Input(message.to_owned()));
    }
    let subject = match &options.vector {
        Some(line) => of_vector(catalogue, options, line)?,
        None => of_arguments(catalogue, options)?,
    };
    let trace = subject.trace()?;
    let name = subject.name();
    let Some(against) = &options.against else {
        write_page(options, || page(&name, &trace))?;
        let flags = subject.flags()?;
        let body = || Map::from_iter([with_flags(named(subject.instruction, &trace), flags)]);
        let said = flags.map_or_else(String::new, |flags| {
            let bits: Vec<String> = flag_words(subject.instruction, flags);
            let bits = match bits.is_empty() {
                true => "no bit of the status register is set".to_owned(),
                false => bits.join(", "),
            };
            format!("\nflags {flags:02x}: {bits} (when a bit is set is assumed)")
        });
        let trace = trace.to_string();
        let text = format!("{name}\n{}{said}", trace.trim_end());
        return print(catalogue, common, body, &text);
    };
    let other = other(catalogue, options, &subject, against)?;
    let other_trace = other.trace()?;
    let other_name = other.name();
    let (flags, other_flags) = (subject.flags()?, other.flags()?);
    let difference = Comparison::of((&name, &trace), (&other_name, &other_trace));
    write_page(options, || page_against(&difference))?;
    let body = || {
        Map::from_iter([
            with_flags(named(subject.instruction, &trace), flags),
            (
                "against".to_owned(),
                with_flags(named(other.instruction, &other_trace), other_flags).1,
            ),
            ("parting".to_owned(), json!(difference.parting)),
            ("parting_words".to_owned(), json!(difference.words)),
        ])
    };
    print(catalogue, common, body, &compared(&difference))
}

/// Both traces beside each other, or one below the other where the terminal is too narrow for that.
fn compared(difference: &Comparison<'_>) -> String {
    let wide = difference.to_string();
    // (The words above the columns may be broken anywhere.)
    let columns = wide.lines().filter(|line| line.contains('│'));
    let widest = columns.map(|line| line.chars().count()).max();
    match layout::terminal() {
        Some(columns) if widest > Some(columns) => format!("{difference:#}"),
        _ => wide,
    }
}

fn name(instruction: &Instruction) -> String {
    format!("{}:{}", instruction.architecture, instruction.name)
}

fn named(instruction: &Instruction, trace: &Trace) -> (String, Value) {
    let mut body = Map::new();
    body.insert("arch".into(), instruction.architecture.clone().into());
    body.insert("inst".into(), instruction.name.clone().into());
    if let Value::Object(fields) = json!(trace) {
        body.extend(fields);
    }
    ("explanation".to_owned(), body.into())
}

/// With the flags beside the explanation, as two hexadecimal digits.
fn with_flags((key, mut body): (String, Value), flags: Option<u8>) -> (String, Value) {
    if let (Value::Object(body), Some(flags)) = (&mut body, flags) {
        body.insert("flags".to_owned(), format!("{flags:02x}").into());
    }
    (key, body)
}

fn print(
    catalogue: &Catalogue,
    common: &Common,
    body: impl Fn() -> Map<String, Value>,
    text: &str,
) -> Result<Status, Failure> {
    if common.json() {
        report::print_json(catalogue, body())?;
    } else {
        writeln!(terminal::out(), "{}", text.trim_end())?;
    }
    Ok(Status::Done)
}

fn write_page(options: &Explain, page: impl Fn() -> String) -> Result<(), Failure> {
    let Some(file) = &options.html else {
        return Ok(());
    };
    let mut output = Output::create("--html", file)?;
    output.line(&page())?;
    output.finish()?;
    report::tell(format!("wrote {file}"));
    Ok(())
}

fn of_vector<'c>(
    catalogue: &'c Catalogue,
    options: &Explain,
    line: &str,
) -> Result<Subject<'c>, Failure> {
    let inst = match (&options.arch, &options.types) {
        (Some(arch), Some(types)) => {
            let row = Types::Text(types).of(catalogue.architecture(arch)?)?;
            Some(row.name.clone())
        }
        _ => options.inst.clone(),
    };
    let mut reader = Reader::new(catalogue).with_default(options.arch.clone(), inst);
    let vector = reader
        .read(line)
        .map_err(|bad| Failure::Input(format!("--vector:{}: {}", bad.column, bad.message)))?;
    if let (Some(arch), Some(inst)) = (&options.arch, &options.inst) {
        let asked = catalogue.find(arch, inst)?;
        let own = vector.instruction;
        if (&asked.architecture, &asked.name) != (&own.architecture, &own.name) {
            return Err(Failure::Input(format!(
                "--arch {arch} --inst {inst}: the line of --vector is of {}:{}",
                own.architecture, own.name
            )));
        }
    }
    report::doubt(vector.instruction);
    let mut modifiers = vector.modifiers;
    add_modifiers(&mut modifiers, options)?;
    Ok(Subject {
        instruction: vector.instruction,
        input: TracedInput::of_words(&vector.operands()),
        modifiers,
    })
}

fn of_arguments<'c>(catalogue: &'c Catalogue, options: &Explain) -> Result<Subject<'c>, Failure> {
    let instruction = match (&options.arch, &options.inst, &options.types) {
        (Some(arch), Some(inst), _) => catalogue.find(arch, inst)?,
        (Some(arch), None, Some(types)) => Types::Text(types).of(catalogue.architecture(arch)?)?,
        _ => {
            let message = "--arch and --inst name the instruction, or --arch and --types its operand \
                           types; or give a whole line with --vector";
            return Err(Failure::Input(message.to_owned()));
        }
    };
    report::doubt(instruction);
    let unit = instruction.unit()?;
    let request = TraceRequest {
        a: options.a.as_deref().unwrap_or(""),
        b: options.b.as_deref().unwrap_or(""),
        c: options.c.as_deref(),
        scale_a: options.sa.as_deref(),
        scale_b: options.sb.as_deref(),
        round: options.round,
    };
    let input = TracedInput::read(unit.signature(), &request)?;
    let mut modifiers = Modifiers::default();
    add_modifiers(&mut modifiers, options)?;
    Ok(Subject {
        instruction,
        input,
        modifiers,
    })
}

fn add_modifiers(modifiers: &mut Modifiers, options: &Explain) -> Result<(), Failure> {
    let names = options.mods.iter().flat_map(|names| names.split(','));
    for name in names.map(str::trim).filter(|name| !name.is_empty()) {
        modifiers.add(name)?;
    }
    Ok(())
}

/// The instruction that `--against` names: `ARCH:INST`, or an architecture alone. Of that it is the instruction of the
/// same name or, where there is none, the default for the same operand types.
fn second<'c>(
    catalogue: &'c Catalogue,
    first: &Instruction,
    against: &str,
) -> Result<&'c Instruction, Failure> {
    if against.contains(':') {
        let (arch, inst) = tested::row("--against", against)?;
        return Ok(catalogue.find(&arch, &inst)?);
    }
    let named = |error: &Error| {
        let error = report::told(error);
        Failure::Input(format!("--against {against}: {error}"))
    };
    let architecture = (catalogue.architecture(against)).map_err(|error| named(&error))?;
    if let Ok(same) = catalogue.find(against, &first.name) {
        return Ok(same);
    }
    let Signature {
        a, b, c, d, scale, ..
    } = first.signature;
    let types = OperandTypes {
        c: Some(c),
        d: Some(d),
        scaling: scale.map_or(Scaling::Open, Scaling::Exactly),
        ..OperandTypes::of(a, b)
    };
    (architecture.default_for(&types)).map_err(|error| named(&error))
}

/// The same operands on another instruction.
fn other<'c>(
    catalogue: &'c Catalogue,
    options: &Explain,
    subject: &Subject<'_>,
    against: &str,
) -> Result<Subject<'c>, Failure> {
    let instruction = second(catalogue, subject.instruction, against)?;
    report::doubt(instruction);
    let (from, to) = (
        subject.instruction.unit()?.signature(),
        instruction.unit()?.signature(),
    );
    let input = subject
        .input
        .transfer(from, to, options.round)
        .map_err(|error| Failure::Input(format!("--against {against}: {error}")))?;
    Ok(Subject {
        instruction,
        input,
        modifiers: subject.modifiers,
    })
}
