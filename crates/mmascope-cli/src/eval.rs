//! `mmascope eval`: vector lines in, the same lines with results out.

use std::io::{self, BufWriter, Write};

use rayon::prelude::*;
use serde_json::Value;

use crate::args::Eval;
use crate::report::{self, Failure, Status};
use mmascope::isa::Catalogue;
use mmascope::vector::{BadLine, Line, Lines, Reader, with_answer};

/// Lines of one batch of the process protocol; a peer never writes more before an empty line.
const BATCH: usize = 4096;
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
    for file in files {
        let mut lines = Lines::open(file)?;
        let (mut batch, mut bytes): (Vec<Line>, usize) = (Vec::new(), 0);
        while let Some(line) = lines.next_line()? {
            let ends_batch = line.text.as_ref().is_ok_and(|text| text.trim().is_empty());
            if ends_batch || batch.len() == BATCH || bytes > BATCH_BYTES {
                answer(catalogue, options, file, &batch, ends_batch, &mut status)?;
                batch.clear();
                bytes = 0;
            }
            if !ends_batch {
                bytes += line.text.as_ref().map_or(0, String::len);
                batch.push(line);
            }
        }
        answer(catalogue, options, file, &batch, false, &mut status)?;
    }
    Ok(status)
}

/// Answers a batch in its order; an empty line ends the answers when one ended the questions.
fn answer(
    catalogue: &Catalogue,
    options: &Eval,
    file: &str,
    batch: &[Line],
    end: bool,
    status: &mut Status,
) -> Result<(), Failure> {
    let reader = || Reader::new(catalogue).with_default(options.arch.clone(), options.inst.clone());
    let answers: Vec<Result<String, BadLine>> = batch
        .par_iter()
        .map_init(reader, |reader, line| evaluate(reader, line))
        .collect();
    let mut out = BufWriter::new(io::stdout().lock());
    for (line, answer) in batch.iter().zip(answers) {
        match answer {
            Ok(text) => writeln!(out, "{text}")?,
            Err(bad) => {
                *status = Status::WrongInput;
                let message = Value::from(&*bad.message);
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

fn evaluate(reader: &mut Reader<'_>, line: &Line) -> Result<String, BadLine> {
    let fail = |message: String| BadLine {
        column: 1,
        message,
        id: None,
        unmodelled: false,
    };
    let text = line
        .text
        .as_ref()
        .map_err(|message| fail(message.clone()))?;
    let vector = reader.read(text)?;
    let answer = vector.compute().and_then(|d| vector.answer_text(d));
    with_answer(text, &answer.map_err(|error| fail(error.to_string()))?)
}
