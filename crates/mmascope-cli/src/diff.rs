//! `mmascope diff`: finds where units disagree.

mod drawing;
mod json;
mod page;
mod part;
mod products;
mod text;
mod units;

use rayon::prelude::*;

use crate::args::{Common, Diff};
use crate::cases::{self, Chosen};
use crate::check;
use crate::output::Output;
use crate::report::{self, Failure, Status};
use mmascope::cases::{Family, Generator};
use mmascope::diff::{self, Compared, Contender, DiffExample, DiffInput, Explanation, Tally};
use mmascope::dpa::Signature;
use mmascope::isa::Catalogue;
use mmascope::vector::{self, Lines, Reader};

/// Inputs that are compared in parallel at a time.
const CHUNK: u64 = 1 << 13;
/// How many bad lines are shown.
const SHOWN: u64 = 20;

/// Where an input came from, and the instruction whose formats it has.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The family and index of a generated input.
    pub(crate) case: Option<(Family, u64)>,
    /// For people: `normal, seed 1, index 7` or `FILE:3`.
    pub(crate) place: String,
    /// Name of the architecture and of the instruction.
    pub(crate) names: (String, String),
}

/// Everything that is shown of two units.
pub(crate) struct Compare {
    pub(crate) left: usize,
    pub(crate) right: usize,
    pub(crate) tally: Tally<Origin>,
    /// The first input with different results and the smallest one found, taken apart.
    pub(crate) first: Option<Shown>,
    pub(crate) smallest: Option<Shown>,
}

/// An input with its explanation.
pub(crate) struct Shown {
    pub(crate) example: DiffExample<Origin>,
    pub(crate) explanation: Explanation,
    /// The input as a vector line.
    pub(crate) line: String,
    /// What shows every step of both units.
    pub(crate) command: Option<String>,
}

/// The whole result.
pub(crate) struct Findings<'c> {
    pub(crate) subjects: Vec<Contender<'c>>,
    /// What the inputs are, in words.
    pub(crate) source: String,
    /// How units of other formats or K are given the inputs.
    pub(crate) notes: Vec<String>,
    pub(crate) inputs: u64,
    pub(crate) bad: u64,
    pub(crate) compares: Vec<Compare>,
}

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Diff,
) -> Result<Status, Failure> {
    if !options.files.is_empty() {
        return products::run(catalogue, common, options);
    }
    let (mut findings, mut tallies) = Findings::new(catalogue, options)?;
    match &options.vectors {
        Some(file) => findings.compare_file(catalogue, file, &mut tallies)?,
        None => findings.compare_families(options, &mut tallies)?,
    }
    findings.end(catalogue, common, options, tallies)
}

pub(crate) use part::{part, whole};

impl<'c> Findings<'c> {
    /// Nothing compared yet, with a tally for each pair of units.
    fn new(
        catalogue: &'c Catalogue,
        options: &Diff,
    ) -> Result<(Self, Vec<Tally<Origin>>), Failure> {
        let subjects = units::chosen(catalogue, options)?;
        let mut tallies: Vec<Tally<Origin>> = Vec::new();
        tallies.resize_with(diff::pairs(subjects.len()).len(), Tally::default);
        let findings = Self {
            subjects,
            source: String::new(),
            notes: Vec::new(),
            inputs: 0,
            bad: 0,
            compares: Vec::new(),
        };
        Ok((findings, tallies))
    }

    /// Shrinks, prints and answers.
    fn end(
        mut self,
        catalogue: &Catalogue,
        common: &Common,
        options: &Diff,
        tallies: Vec<Tally<Origin>>,
    ) -> Result<Status, Failure> {
        self.close(tallies, &common.isa_options())?;
        report::unless_closed(self.print(catalogue, common, options))?;
        self.status()
    }

    /// The cases that the options choose; says what they are and how units are given them.
    fn chosen(&mut self, options: &Diff) -> Result<Vec<Chosen>, Failure> {
        let first = self.subjects[0];
        let chosen = cases::chosen(&options.cases, first.unit())?;
        let signature = first.instruction().signature;
        self.note_handling(&signature);
        let names: Vec<&str> = chosen.iter().map(|c| c.generator.family().name()).collect();
        self.source = format!(
            "family {}, seed {}, from index {}, {signature}",
            names.join(" "),
            options.cases.seed,
            options.cases.start,
        );
        Ok(chosen)
    }

    /// Compares generated cases of the first unit's signature.
    fn compare_families(
        &mut self,
        options: &Diff,
        tallies: &mut [Tally<Origin>],
    ) -> Result<(), Failure> {
        let first = self.subjects[0];
        let chosen = self.chosen(options)?;
        let progress = crate::progress::counter("input");
        for chosen in &chosen {
            for indices in chosen.chunks(CHUNK) {
                if crate::interrupt::asked() {
                    return Err(Failure::Interrupted);
                }
                let input =
                    |index: u64| DiffInput::new(first.instruction(), chosen.generator.case(index));
                let compared: Vec<Compared> = indices
                    .clone()
                    .into_par_iter()
                    .map(|index| diff::compare(&self.subjects, &input(index)))
                    .collect::<Result<_, _>>()?;
                for (index, compared) in indices.zip(&compared) {
                    self.add(tallies, compared, || {
                        (origin(&chosen.generator, index, first), input(index))
                    });
                }
                progress.inc(compared.len() as u64);
            }
        }
        progress.finish_and_clear();
        Ok(())
    }

    /// Compares the lines of a file, each of its own instruction; lines without names are the first
    /// unit's.
    fn compare_file(
        &mut self,
        catalogue: &'c Catalogue,
        file: &str,
        tallies: &mut [Tally<Origin>],
    ) -> Result<(), Failure> {
        self.source = format!("vectors of {file}");
        let first = self.subjects[0].instruction();
        let default = (first.architecture.clone(), first.name.clone());
        let mut signatures: Vec<Signature> = Vec::new();
        let mut lines = Lines::open(file)?;
        let progress = crate::progress::counter("line");
        loop {
            let chunk = check::next_chunk(&mut lines)?;
            if chunk.is_empty() {
                break;
            }
            if crate::interrupt::asked() {
                return Err(Failure::Interrupted);
            }
            let reader = || {
                Reader::new(catalogue)
                    .with_default(Some(default.0.clone()), Some(default.1.clone()))
            };
            let compared: Vec<Option<Result<_, String>>> = chunk
                .par_iter()
                .map_init(reader, |reader, line| {
                    let text = match &line.text {
                        Ok(text) if text.trim().is_empty() => return None,
                        Ok(text) => text,
                        Err(message) => return Some(Err(format!("1: {message}"))),
                    };
                    Some(self.of_line(reader, text))
                })
                .collect();
            for (line, outcome) in chunk.iter().zip(compared) {
                match outcome {
                    None => {}
                    Some(Err(message)) => {
                        self.bad += 1;
                        if self.bad <= SHOWN {
                            report::tell(format_args!("{file}:{}:{message}", line.number));
                        }
                    }
                    Some(Ok((names, input, compared))) => {
                        if !signatures.contains(&input.signature) {
                            self.note_handling(&input.signature);
                            signatures.push(input.signature);
                        }
                        let place = format!("{file}:{}", line.number);
                        let case = None;
                        let origin = Origin { case, place, names };
                        self.add(tallies, &compared, || (origin.clone(), input.clone()));
                    }
                }
            }
            progress.inc(chunk.len() as u64);
        }
        progress.finish_and_clear();
        if self.bad > SHOWN {
            report::tell(format_args!(
                "{} more bad lines not shown",
                self.bad - SHOWN
            ));
        }
        Ok(())
    }

    fn of_line(
        &self,
        reader: &mut Reader<'_>,
        text: &str,
    ) -> Result<((String, String), DiffInput, Compared), String> {
        let vector = reader
            .read(text)
            .map_err(|bad| format!("{}: {}", bad.column, bad.message))?;
        let names = (
            vector.instruction.architecture.clone(),
            vector.instruction.name.clone(),
        );
        let input = DiffInput::of_vector(vector);
        let compared = diff::compare(&self.subjects, &input);
        let compared = compared.map_err(|error| format!("1: {error}"))?;
        Ok((names, input, compared))
    }

    fn add(
        &mut self,
        tallies: &mut [Tally<Origin>],
        compared: &Compared,
        example: impl Fn() -> (Origin, DiffInput),
    ) {
        self.inputs += 1;
        for (tally, verdict) in tallies.iter_mut().zip(&compared.verdicts) {
            tally.add(*verdict, &example);
        }
    }

    fn note_handling(&mut self, signature: &Signature) {
        for subject in &self.subjects {
            if let Some(words) = subject.handling(signature) {
                let note = format!("{} (inputs {signature}): {words}", subject.name());
                self.notes.push(note);
            }
        }
    }

    /// Shrinks what was kept, each pair of units on its own thread. `isa` is for the commands that are shown.
    fn close(&mut self, tallies: Vec<Tally<Origin>>, isa: &str) -> Result<(), Failure> {
        let subjects = &self.subjects;
        let pairs: Vec<((usize, usize), Tally<Origin>)> = diff::pairs(subjects.len())
            .into_iter()
            .zip(tallies)
            .collect();
        self.compares = pairs
            .into_par_iter()
            .map(|((left, right), tally)| {
                let units = [&subjects[left], &subjects[right]];
                let first = tally.examples.first().cloned();
                let first = first
                    .map(|example| shown(units, example, isa))
                    .transpose()?;
                let smaller = tally
                    .examples
                    .iter()
                    .map(|example| diff::smaller(units[0], units[1], example))
                    .collect::<mmascope::Result<Vec<_>>>()?;
                let smallest = smaller
                    .into_iter()
                    .min_by_key(|example| diff::size(&example.input))
                    .map(|example| shown(units, example, isa))
                    .transpose()?;
                Ok(Compare {
                    left,
                    right,
                    tally,
                    first,
                    smallest,
                })
            })
            .collect::<mmascope::Result<_>>()?;
        Ok(())
    }

    fn print(&self, catalogue: &Catalogue, common: &Common, options: &Diff) -> Result<(), Failure> {
        write_drawings(options, || drawing::svg(self), || Ok(page::page(self)))?;
        if common.json() {
            report::print_json(catalogue, json::body(self))
        } else {
            text::print(self)
        }
    }

    fn status(&self) -> Result<Status, Failure> {
        if self.inputs == 0 && self.bad == 0 {
            return Err(Failure::Input(format!(
                "there is no input, so nothing was compared ({})",
                self.source
            )));
        }
        let never: Vec<String> = self
            .compares
            .iter()
            .filter(|compare| compare.tally.compared == 0)
            .map(|compare| self.title(compare))
            .collect();
        if !never.is_empty() {
            return Err(Failure::Input(format!(
                "no input could be given to both units: {}",
                never.join("; ")
            )));
        }
        Ok(
            match self.compares.iter().any(|c| c.tally.different() > 0) {
                _ if self.bad > 0 => Status::WrongInput,
                true => Status::No,
                false => Status::Done,
            },
        )
    }

    /// `ARCH:INST and ARCH:INST`.
    pub(crate) fn title(&self, compare: &Compare) -> String {
        let name = |index: usize| self.subjects[index].name();
        format!("{} and {}", name(compare.left), name(compare.right))
    }
}

/// Writes the drawing and the page that the options ask for.
fn write_drawings(
    options: &Diff,
    svg: impl Fn() -> String,
    page: impl Fn() -> Result<String, Failure>,
) -> Result<(), Failure> {
    let write = |argument: &str, name: &str, text: &str| {
        let mut output = Output::create(argument, name)?;
        output.line(text)?;
        output.finish()
    };
    if let Some(name) = &options.svg {
        write("-o", name, &svg())?;
    }
    if let Some(name) = &options.html {
        write("-o", name, &page()?)?;
    }
    Ok(())
}

fn origin(generator: &Generator, index: u64, first: Contender<'_>) -> Origin {
    let (family, seed) = (generator.family(), generator.seed());
    let row = first.instruction();
    Origin {
        case: Some((family, index)),
        place: format!("family {family}, seed {seed}, index {index}"),
        names: (row.architecture.clone(), row.name.clone()),
    }
}

/// The names that an input's line carries: the left unit's, if the input has its formats.
fn line_names<'a>(left: &'a Contender<'_>, example: &'a DiffExample<Origin>) -> (&'a str, &'a str) {
    let row = left.instruction();
    if left.handling(&example.input.signature).is_none() {
        (&row.architecture, &row.name)
    } else {
        let (arch, inst) = &example.origin.names;
        (arch, inst)
    }
}

fn shown(
    units: [&Contender<'_>; 2],
    example: DiffExample<Origin>,
    isa: &str,
) -> mmascope::Result<Shown> {
    let input = &example.input;
    let explanation = diff::explain(units[0], units[1], input)?;
    Ok(Shown {
        line: line(line_names(units[0], &example), input),
        command: explain_command(units, input, &explanation, isa)?,
        explanation,
        example,
    })
}

fn line((arch, inst): (&str, &str), input: &DiffInput) -> String {
    let names = input.modifiers.words();
    let mods = (!names.is_empty()).then(|| ("mods", serde_json::json!(names).to_string()));
    let extra: Vec<_> = mods.into_iter().collect();
    vector::question(arch, inst, &extra, &input.signature, &input.case.operands())
}

/// The command that goes through the steps of both units. It takes the operands as the left unit has
/// them; `None` where that is no single instruction, or leads to other steps of the right unit.
fn explain_command(
    units: [&Contender<'_>; 2],
    input: &DiffInput,
    explanation: &Explanation,
    isa: &str,
) -> mmascope::Result<Option<String>> {
    let Some(own) = units[0].own(input) else {
        return Ok(None);
    };
    let again = diff::explain(units[0], units[1], &own)?;
    let result = |explanation: &Explanation| {
        let sides = explanation.sides.iter();
        let traces = sides.map(|side| side.trace.as_ref().map(|(_, word)| word.clone()));
        traces.collect::<Vec<_>>()
    };
    if again.words != explanation.words || result(&again) != result(explanation) {
        return Ok(None);
    }
    let row = units[0].instruction();
    let line = line((&row.architecture, &row.name), &own);
    let against = units[1].name();
    let line = shell_words::quote(&line);
    Ok(Some(format!(
        "mmascope explain --vector {line} --against {against}{isa}"
    )))
}
