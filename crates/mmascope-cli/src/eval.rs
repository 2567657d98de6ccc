//! `mmascope eval`: reads vector lines and writes them with results.

use std::io::{self, BufWriter, Write};
use std::sync::Once;

use rayon::prelude::*;
use serde_json::Value;

use crate::args::Eval;
use crate::device;
use crate::report::{self, Failure, Status, escaped_json};
use mmascope::dpa::Modifiers;
use mmascope::dut::{Batch, DeviceName, Dut, Interface, NoiseCheckedDut};
use mmascope::isa::{Catalogue, Instruction};
use mmascope::vector::{
    Answer, BadLine, Line, Lines, Reader, read_operands, with_answer, with_flags, with_modifiers,
};

/// Lines of one batch of the process protocol; a peer never writes more before an empty line.
const BATCH: usize = 4096;
/// A device is asked one in so many questions twice, so that noise is found.
const ASKED_AGAIN: usize = 64;
/// Bytes of lines kept for a batch; well above what 4,096 real lines have.
const BATCH_BYTES: usize = 64 << 20;

pub(crate) fn run(catalogue: &Catalogue, options: &Eval) -> Result<Status, Failure> {
    let standard_input = ["-".to_owned()];
    let files = if options.files.is_empty() {
        &standard_input[..]
    } else {
        &options.files
    };
    let mut status = Status::Done;
    let mut answerer = Answerer::new(catalogue, options)?;
    for file in files {
        let mut lines = Lines::open(file)?;
        let (mut batch, mut bytes): (Vec<Line>, usize) = (Vec::new(), 0);
        while let Some(line) = lines.next_line()? {
            let ends_batch = line.text.as_ref().is_ok_and(|text| text.trim().is_empty());
            if ends_batch || batch.len() == BATCH || bytes > BATCH_BYTES {
                answer(&mut answerer, file, &batch, ends_batch, &mut status)?;
                batch.clear();
                bytes = 0;
            }
            if !ends_batch {
                bytes += line.text.as_ref().map_or(0, String::len);
                batch.push(line);
            }
        }
        answer(&mut answerer, file, &batch, false, &mut status)?;
    }
    Ok(status)
}

/// Who answers: the model of the instruction that each line names, or one device.
enum Answerer<'a> {
    Model(&'a Catalogue, &'a Eval, Modifiers, Option<&'a Instruction>),
    Device(Box<dyn Dut>),
}

impl<'a> Answerer<'a> {
    fn new(catalogue: &'a Catalogue, options: &'a Eval) -> Result<Self, Failure> {
        let Some(subject) = &options.subject else {
            let mut modifiers = Modifiers::default();
            for name in &options.mods {
                modifiers.add(name)?;
            }
            crate::units::check_names(catalogue, options.arch.as_deref(), options.inst.as_deref())?;
            let names = options.arch.as_ref().zip(options.inst.as_ref());
            let row = names.and_then(|(arch, inst)| catalogue.find(arch, inst).ok());
            if let Some(row) = row {
                report::doubt(row);
            }
            return Ok(Self::Model(catalogue, options, modifiers, row));
        };
        let interface = match (&options.signature, &options.arch, &options.inst) {
            (Some(text), ..) => Some(Interface::of_signature(text.parse()?)),
            (None, Some(arch), Some(inst)) => Some(Interface::of_row(catalogue, arch, inst)?),
            (None, None, None) => None,
            _ => return Err(Failure::Input("--arch and --inst go together".to_owned())),
        };
        let subject: DeviceName = subject.parse()?;
        let device = device::open(&subject, catalogue, interface, &options.device)?;
        Ok(Self::Device(Box::new(NoiseCheckedDut::new(
            device,
            ASKED_AGAIN,
        ))))
    }

    fn answers(
        &mut self,
        file: &str,
        batch: &[Line],
    ) -> Result<Vec<Result<String, BadLine>>, Failure> {
        match self {
            Self::Model(catalogue, options, modifiers, row) => {
                let reader = || {
                    Reader::new(catalogue)
                        .with_default(options.arch.clone(), options.inst.clone())
                        .with_modifiers(*modifiers)
                };
                let lines = batch.par_iter();
                Ok(lines
                    .map_init(reader, |reader, line| {
                        evaluate(reader, line, modifiers, *row)
                    })
                    .collect())
            }
            Self::Device(device) => ask(&mut **device, file, batch),
        }
    }
}

/// Asks a device all good lines at once.
fn ask(
    device: &mut dyn Dut,
    file: &str,
    batch: &[Line],
) -> Result<Vec<Result<String, BadLine>>, Failure> {
    let signature = *device.signature();
    let mut queries = Batch::new(signature);
    let mut read = Vec::new();
    let mut numbers = Vec::new();
    for line in batch {
        let question = text_of(line).and_then(|text| Ok((text, read_operands(text, &signature)?)));
        read.push(match question {
            Ok((text, question)) => {
                queries.push(&question.operands())?;
                numbers.push(line.number);
                Ok(text)
            }
            Err(bad) => Err(bad),
        });
    }
    let answers = device
        .run(&queries)
        .map_err(|error| located(error, file, &numbers));
    let mut answers = answers?.into_iter();
    let digits = signature.d.digits();
    Ok(read
        .into_iter()
        .map(|text| {
            let text = text?;
            match answers.next() {
                Some(Answer::Word(word)) => with_answer(text, &format!("{word:0digits$x}")),
                _ => with_answer(text, "nan"),
            }
        })
        .collect())
}

/// The failure of a device with the lines of the file that it was asked.
fn located(error: mmascope::Error, file: &str, numbers: &[usize]) -> Failure {
    let mmascope::Error::Device { query, .. } = &error else {
        return error.into();
    };
    let mut message = error.to_string();
    if let (Some(first), Some(last)) = (numbers.first(), numbers.last()) {
        let asked = format!(
            "queries 0 to {} are lines {first} to {last}",
            numbers.len() - 1
        );
        message.push_str(
            &match query.and_then(|query| Some((query, numbers.get(query)?))) {
                Some((query, line)) => format!("\n{file}:{line}: query {query}; {asked}"),
                None => format!("\n{file}: {asked}"),
            },
        );
    }
    Failure::Device(message)
}

/// Answers a batch in its order; an empty line ends the answers when one ended the questions.
fn answer(
    answerer: &mut Answerer<'_>,
    file: &str,
    batch: &[Line],
    end: bool,
    status: &mut Status,
) -> Result<(), Failure> {
    let answers = answerer.answers(file, batch)?;
    let mut out = BufWriter::new(io::stdout().lock());
    for (line, answer) in batch.iter().zip(answers) {
        match answer {
            Ok(text) => writeln!(out, "{}", escaped_json(&text))?,
            Err(bad) => {
                *status = Status::WrongInput;
                let message = Value::from(&*bad.message).to_string();
                let message = escaped_json(&message);
                match &bad.id {
                    Some(id) => writeln!(out, "{{\"id\":{id},\"error\":{message}}}")?,
                    None => writeln!(out, "{{\"error\":{message}}}")?,
                }
                let (number, column) = (line.number, bad.column);
                report::tell(format_args!("{file}:{number}:{column}: {}", bad.message));
            }
        }
    }
    if end {
        writeln!(out)?;
    }
    out.flush()?;
    Ok(())
}

fn text_of(line: &Line) -> Result<&str, BadLine> {
    line.text
        .as_deref()
        .map_err(|message| bad_line(message.clone()))
}

fn bad_line(message: String) -> BadLine {
    BadLine {
        column: 1,
        message,
        id: None,
        unmodelled: false,
    }
}

/// Says once that a line is not of the unit that the options name: they are for lines that name none.
fn tell_of_other(row: &Instruction, own: &Instruction) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        let name = |row: &Instruction| format!("{}:{}", row.architecture, row.name);
        report::tell(format_args!(
            "lines that name {} are answered for it; {} is for lines that name none, --subject model:{} answers all",
            name(own),
            name(row),
            name(row)
        ));
    });
}

/// The line with its result, and with the modifiers it was computed with: it means the same to `check`.
fn evaluate(
    reader: &mut Reader<'_>,
    line: &Line,
    modifiers: &Modifiers,
    row: Option<&Instruction>,
) -> Result<String, BadLine> {
    let text = text_of(line)?;
    let vector = reader.read(text)?;
    if let Some(row) = row.filter(|row| !std::ptr::eq(*row, vector.instruction)) {
        tell_of_other(row, vector.instruction);
    }
    let answer = vector
        .compute_with_flags()
        .and_then(|(d, flags)| Ok((vector.answer_text(d)?, flags)));
    let (answer, flags) = answer.map_err(|error| bad_line(error.to_string()))?;
    let answered = with_answer(&with_modifiers(text, modifiers)?, &answer)?;
    match flags {
        Some(flags) => with_flags(&answered, flags),
        None => Ok(answered),
    }
}
