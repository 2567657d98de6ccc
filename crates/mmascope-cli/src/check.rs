//! `mmascope check`: compares recorded results with the model.

use std::io::Write;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

mod asked;
mod verdict;

use crate::args::{Check, Common};
use crate::report::{self, Failure, Status};
use crate::terminal;
use crate::{tested, units};
use asked::Subject;
use mmascope::cpu::Level;
use mmascope::dpa::Modifiers;
use mmascope::isa::Catalogue;
use mmascope::vector::{self, Answer, BadLine, Line, Lines, Reader, Vector};
use verdict::Verdict;

/// How many mismatches, and how many bad lines, are shown.
const SHOWN: usize = 20;
/// Lines, and bytes of lines, that are checked in parallel at a time.
const CHUNK: usize = 1 << 14;
const CHUNK_BYTES: usize = 64 << 20;

/// What became of a line.
enum Outcome {
    Passed,
    Failed(Mismatch),
    Bad(BadLine),
    /// Another architecture or instruction than asked for, or an empty line.
    LeftOut {
        other: bool,
    },
}

struct Mismatch {
    arch: String,
    inst: String,
    expected: String,
    got: String,
    line: String,
}

#[derive(Default)]
struct Tally {
    /// Whose answers are compared.
    source: String,
    /// Show lines whole.
    is_verbose: bool,
    passed: u64,
    failed: u64,
    bad: u64,
    left_out: u64,
    /// Compared lines that carried status flags; `None` where flags are not compared.
    with_flags: Option<u64>,
    mismatches: Vec<Value>,
    bad_lines: Vec<Value>,
}

/// Which lines are checked, and against what.
struct Selection {
    arch: Option<String>,
    inst: Option<String>,
    /// Replace what the lines name.
    replace: bool,
    /// Compare status flags as well.
    flags: bool,
    /// A device answers: the lines need no results.
    is_asked: bool,
}

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Check,
) -> Result<Status, Failure> {
    if options.engine {
        // A wrong level is one error, not one of each line.
        Level::current()?;
    }
    let selections = selections(catalogue, options)?;
    let is_stream = options.files.iter().any(|file| file == "-");
    if selections.len() > 1 && is_stream {
        return Err(Failure::Input(format!(
            "--as {}: standard input is read once, so that one unit is taken; give a file",
            options.against.join(",")
        )));
    }
    let mut bodies = Vec::new();
    let mut status = Status::Done;
    for (index, selection) in selections.iter().enumerate() {
        if index > 0 && !common.json() {
            report::unless_closed(writeln!(terminal::out()).map_err(Failure::from))?;
        }
        let (tally, verdicts) = checked(catalogue, common, options, selection)?;
        status = status.worst(tally.status());
        let unit = selection.replaced();
        match (common.json(), unit.filter(|_| selections.len() > 1)) {
            (true, None) => bodies.push(tally.json(&verdicts)),
            (true, Some(unit)) => {
                let mut body = Map::from_iter([("unit".to_owned(), unit.into())]);
                body.extend(tally.json(&verdicts));
                bodies.push(body);
            }
            (false, unit) => tally.print(unit.as_deref(), &verdicts)?,
        }
    }
    if common.json() {
        let body = report::one_or_list(bodies, "units");
        report::unless_closed(report::print_json(catalogue, body))?;
    }
    Ok(status)
}

/// Checks the lines of all files that a selection takes.
fn checked(
    catalogue: &Catalogue,
    common: &Common,
    options: &Check,
    selection: &Selection,
) -> Result<(Tally, Vec<Verdict>), Failure> {
    let progress = crate::progress::counter("line");
    let mut subject = options
        .subject
        .as_deref()
        .map(|subject| Subject::new(catalogue, subject, &options.device))
        .transpose()?;
    let mut packs = verdict::Packs::default();
    let mut tally = Tally {
        source: match &subject {
            Some(subject) => format!("{subject} gives"),
            None => "recorded".to_owned(),
        },
        is_verbose: options.verbose,
        with_flags: options.flags.then_some(0),
        ..Tally::default()
    };
    for file in &options.files {
        let mut lines = Lines::open(file)?;
        loop {
            let chunk = next_chunk(&mut lines)?;
            if chunk.is_empty() {
                break;
            }
            let mut readings: Vec<Reading<'_>> = chunk
                .par_iter()
                .map_init(
                    || {
                        Reader::new(catalogue)
                            .with_default(selection.arch.clone(), selection.inst.clone())
                    },
                    |reader, line| read(catalogue, reader, line, selection),
                )
                .collect();
            if let Some(subject) = &mut subject {
                answers(subject, &mut readings)?;
            }
            for (line, reading) in chunk.iter().zip(&readings) {
                if let (Ok(text), Reading::Vector(vector, answer)) = (&line.text, reading) {
                    packs.add(text, vector, answer);
                }
            }
            let results = results(&readings, options.engine);
            for ((line, reading), result) in chunk.iter().zip(readings).zip(results) {
                let has_flags = reading
                    .vector()
                    .is_some_and(|vector| vector.flags.is_some());
                if let Some(count) = tally.with_flags.as_mut().filter(|_| has_flags) {
                    *count += 1;
                }
                let outcome = outcome(line, reading, result, selection.flags);
                tally.add(file, line, outcome, common.json())?;
            }
            progress.inc(chunk.len() as u64);
            progress.set_message(file.clone());
        }
    }
    progress.finish_and_clear();
    Ok((tally, packs.verdicts()))
}

/// Puts the device's answers in the places of the recorded ones.
fn answers<'c>(subject: &mut Subject<'c>, readings: &mut [Reading<'c>]) -> Result<(), Failure> {
    for reading in readings.iter_mut() {
        if let Reading::Vector(vector, _) = reading
            && (!vector.is_single() || vector.modifiers != Modifiers::default())
        {
            let why = "a device is asked for single instructions without modifiers only";
            *reading = Reading::Done(bad(why.into()));
        }
    }
    let vectors: Vec<&mut Reading<'c>> = readings
        .iter_mut()
        .filter(|reading| reading.vector().is_some())
        .collect();
    let asked: Vec<&Vector<'c>> = vectors.iter().filter_map(|it| it.vector()).collect();
    let given = subject.ask(&asked)?;
    for (reading, given) in vectors.into_iter().zip(given) {
        if let Reading::Vector(vector, answer) = reading {
            vector.d = Some(given);
            *answer = given;
        }
    }
    Ok(())
}

/// Which lines are checked against what: with several units in `--as`, one selection a unit.
fn selections(catalogue: &Catalogue, options: &Check) -> Result<Vec<Selection>, Failure> {
    let of = |arch: Option<String>, inst: Option<String>| Selection {
        arch,
        inst,
        replace: !options.against.is_empty(),
        flags: options.flags,
        is_asked: options.subject.is_some(),
    };
    if options.against.is_empty() {
        units::check_names(catalogue, options.arch.as_deref(), options.inst.as_deref())?;
        return Ok(vec![of(options.arch.clone(), options.inst.clone())]);
    }
    let units = options.against.iter().map(|unit| {
        let (arch, inst) = tested::row("--as", unit)?;
        catalogue.find(&arch, &inst)?.unit()?;
        Ok(of(Some(arch), Some(inst)))
    });
    units.collect()
}

impl Selection {
    /// The unit that takes the place of those that lines name, as it was given.
    fn replaced(&self) -> Option<String> {
        let (arch, inst) = (self.arch.as_ref()?, self.inst.as_ref()?);
        self.replace.then(|| format!("{arch}:{inst}"))
    }
}

/// The next lines, at most [`CHUNK`] of them and [`CHUNK_BYTES`] bytes.
pub(crate) fn next_chunk(lines: &mut Lines) -> Result<Vec<Line>, Failure> {
    let (mut chunk, mut bytes) = (Vec::new(), 0);
    while chunk.len() < CHUNK && bytes < CHUNK_BYTES {
        match lines.next_line()? {
            Some(line) => {
                bytes += line.text.as_ref().map_or(0, String::len);
                chunk.push(line);
            }
            None => break,
        }
    }
    Ok(chunk)
}

/// A line, or what became of it already.
enum Reading<'c> {
    Vector(Box<Vector<'c>>, Answer),
    Done(Outcome),
}

impl<'c> Reading<'c> {
    fn vector(&self) -> Option<&Vector<'c>> {
        match self {
            Self::Vector(vector, _) => Some(vector),
            Self::Done(_) => None,
        }
    }
}

fn bad(message: String) -> Outcome {
    Outcome::Bad(BadLine {
        column: 1,
        message,
        id: None,
        unmodelled: false,
    })
}

fn read<'c>(
    catalogue: &Catalogue,
    reader: &mut Reader<'c>,
    line: &Line,
    selection: &Selection,
) -> Reading<'c> {
    let text = match &line.text {
        Ok(text) if text.trim().is_empty() => {
            return Reading::Done(Outcome::LeftOut { other: false });
        }
        Ok(text) => text,
        Err(message) => return Reading::Done(bad(message.clone())),
    };
    if !selection.replace {
        match is_selected(catalogue, reader, text, selection) {
            Ok(true) => {}
            Ok(false) => return Reading::Done(Outcome::LeftOut { other: true }),
            Err(bad) => return Reading::Done(Outcome::Bad(bad)),
        }
    }
    let vector = if selection.replace {
        reader.read_default(text)
    } else {
        reader.read(text)
    };
    let vector = match vector {
        Ok(vector) => vector,
        Err(bad) => return Reading::Done(Outcome::Bad(bad)),
    };
    if selection.flags
        && let Some(flags) = &vector.flags
    {
        if !vector.instruction.flags.any() {
            let message = "\"flags\": no model of this instruction's status flags is known";
            return Reading::Done(bad(message.into()));
        }
        if flags.len() != 2 || u8::from_str_radix(flags, 16).is_err() {
            let message = format!("\"flags\": '{flags}': expected two hexadecimal digits");
            return Reading::Done(bad(message));
        }
    }
    match vector.d {
        // The device's answer comes later.
        None if selection.is_asked => Reading::Vector(Box::new(vector), Answer::AnyNan),
        None => Reading::Done(bad("key \"d\" is missing: no result to check".into())),
        Some(answer) => Reading::Vector(Box::new(vector), answer),
    }
}

/// The results of the vectors among the readings, in their places.
fn results(readings: &[Reading<'_>], engine: bool) -> Vec<mmascope::Result<u64>> {
    if !engine {
        return readings
            .par_iter()
            .map(|reading| reading.vector().map_or(Ok(0), Vector::compute))
            .collect();
    }
    let vectors: Vec<&Vector<'_>> = readings.iter().filter_map(Reading::vector).collect();
    let mut together = vector::compute_together(&vectors).into_iter();
    readings
        .iter()
        .map(|reading| {
            reading
                .vector()
                .and_then(|_| together.next())
                .unwrap_or(Ok(0))
        })
        .collect()
}

fn outcome(
    line: &Line,
    reading: Reading<'_>,
    result: mmascope::Result<u64>,
    with_flags: bool,
) -> Outcome {
    let (vector, answer) = match reading {
        Reading::Vector(vector, answer) => (vector, answer),
        Reading::Done(outcome) => return outcome,
    };
    let expected = match answer {
        Answer::AnyNan => "nan".to_owned(),
        Answer::Word(word) => {
            let width = vector.instruction.signature.d.digits();
            format!("{word:0width$x}")
        }
    };
    let flags = vector.flags.clone().filter(|_| with_flags);
    let compare = || {
        let got = result?;
        let mut agrees = vector.agrees(got)?;
        let mut text = vector.answer_text(got)?;
        if let Some(flags) = &flags {
            let own = vector.compute_with_flags()?.1.unwrap_or_default();
            agrees &= u8::from_str_radix(flags, 16) == Ok(own);
            text = format!("{text} flags {own:02x}");
        }
        Ok::<_, mmascope::Error>((agrees, text))
    };
    let expected = match &flags {
        Some(flags) => format!("{expected} flags {flags}"),
        None => expected,
    };
    match compare() {
        Ok((true, _)) => Outcome::Passed,
        Ok((false, got)) => Outcome::Failed(Mismatch {
            arch: vector.instruction.architecture.clone(),
            inst: vector.instruction.name.clone(),
            expected,
            got,
            line: line.text.clone().unwrap_or_default(),
        }),
        Err(error) => bad(error.to_string()),
    }
}

/// Whether the line's architecture and instruction are those asked for, by any of their names.
fn is_selected(
    catalogue: &Catalogue,
    reader: &Reader<'_>,
    text: &str,
    selection: &Selection,
) -> Result<bool, BadLine> {
    if selection.arch.is_none() && selection.inst.is_none() {
        return Ok(true);
    }
    let (arch, inst) = reader.names(text)?;
    let Ok(architecture) = catalogue.architecture(&arch) else {
        return Ok(selection.arch.is_none());
    };
    if let Some(wanted) = &selection.arch
        && catalogue
            .architecture(wanted)
            .is_ok_and(|wanted| wanted.name != architecture.name)
    {
        return Ok(false);
    }
    let Some(wanted) = &selection.inst else {
        return Ok(true);
    };
    Ok(
        match (architecture.find(&inst), architecture.find(wanted)) {
            (Ok(found), Ok(wanted)) => found.name == wanted.name,
            (Err(_), _) => inst == *wanted,
            (Ok(_), Err(_)) => false,
        },
    )
}

impl Tally {
    fn add(
        &mut self,
        file: &str,
        line: &Line,
        outcome: Outcome,
        json: bool,
    ) -> Result<(), Failure> {
        let number = line.number;
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::LeftOut { other } => self.left_out += u64::from(other),
            Outcome::Failed(mismatch) => {
                self.failed += 1;
                if self.mismatches.len() < SHOWN {
                    let Mismatch {
                        arch,
                        inst,
                        expected,
                        got,
                        line,
                    } = mismatch;
                    if !json {
                        let shown = match self.is_verbose {
                            true => line.clone(),
                            false => verdict::without_neighbours(&line),
                        };
                        let text = format!(
                            "{file}:{number}: {arch}:{inst}: {} {expected}, the model gives {got}\n  {shown}",
                            self.source
                        );
                        let printed = writeln!(terminal::out(), "{text}");
                        report::unless_closed(printed.map_err(Failure::from))?;
                    }
                    self.mismatches.push(json!({
                        "file": file, "line": number, "arch": arch, "inst": inst,
                        "answer": expected, "model": got, "expected": expected, "got": got, "vector": line,
                    }));
                }
            }
            Outcome::Bad(bad) => {
                self.bad += 1;
                if self.bad_lines.len() < SHOWN {
                    let BadLine {
                        column, message, ..
                    } = &bad;
                    report::tell(format_args!("{file}:{number}:{column}: {message}"));
                    self.bad_lines.push(json!({
                        "file": file, "line": number, "column": bad.column,
                        "message": bad.message, "unmodelled": bad.unmodelled,
                    }));
                }
            }
        }
        Ok(())
    }

    fn status(&self) -> Status {
        match (self.bad, self.failed) {
            (1.., _) => Status::WrongInput,
            (0, 1..) => Status::No,
            (0, 0) => Status::Done,
        }
    }

    fn json(self, verdicts: &[Verdict]) -> Map<String, Value> {
        let mut body = Map::new();
        for (name, count) in [
            ("passed", self.passed),
            ("failed", self.failed),
            ("bad", self.bad),
            ("left_out", self.left_out),
        ] {
            body.insert(name.into(), count.into());
        }
        if let Some(count) = self.with_flags {
            body.insert("with_flags".into(), count.into());
        }
        body.insert("mismatches".into(), self.mismatches.into());
        body.insert("bad_lines".into(), self.bad_lines.into());
        if !verdicts.is_empty() {
            let verdicts: Vec<Value> = verdicts.iter().map(Verdict::json).collect();
            body.insert("verdicts".into(), verdicts.into());
        }
        body
    }

    /// Prints the counts, under the unit's name where several are checked, and the verdicts.
    fn print(&self, unit: Option<&str>, verdicts: &[Verdict]) -> Result<(), Failure> {
        let Self {
            passed,
            failed,
            bad,
            left_out,
            ..
        } = *self;
        for (count, what) in [(failed, "mismatches"), (bad, "bad lines")] {
            if count > SHOWN as u64 {
                let more = count - SHOWN as u64;
                report::tell(format_args!("{more} more {what} not shown"));
            }
        }
        if passed + failed + bad == 0 {
            report::tell(match left_out {
                0 => "no vector line was read: nothing was compared",
                _ => "no line is of the instruction asked for: nothing was compared",
            });
        }
        if left_out > 0 {
            report::tell(format_args!(
                "{left_out} lines of other instructions left out"
            ));
        }
        if let Some(count) = self.with_flags {
            let lines = if count == 1 {
                "1 line has"
            } else {
                &format!("{count} lines have")
            };
            report::tell(format_args!("{lines} flags, which were compared"));
        }
        let name = unit.map_or(String::new(), |unit| format!("{unit}: "));
        let bad_part = match bad {
            0 => String::new(),
            bad => format!(", {bad} bad"),
        };
        let mut closing = format!("{name}{passed} passed, {failed} failed{bad_part}");
        for verdict in verdicts {
            closing += "\n";
            closing += &verdict.line(verdicts.len() == 1);
        }
        let printed = writeln!(terminal::out(), "{closing}");
        report::unless_closed(printed.map_err(Failure::from))
    }
}
