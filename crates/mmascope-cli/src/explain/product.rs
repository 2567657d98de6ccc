//! `mmascope explain A B --at I,J`: walks one output's chain over K, and explains one step of it.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Subject, named, print, write_page};
use crate::args::{Common, Explain, Matmul};
use crate::matmul;
use crate::report::{self, Failure, Status};
use crate::tested;
use mmascope::diff::{self, Contender, DiffStep, Place};
use mmascope::dpa::Modifiers;
use mmascope::explain::{Comparison, TracedInput, page, page_against};
use mmascope::isa::{Catalogue, Instruction};

/// Steps of the strip that are shown before and after the one that is explained.
const AROUND: usize = 3;

/// A unit's chain.
struct Chain<'c> {
    row: &'c Instruction,
    steps: Vec<DiffStep>,
    k: usize,
}

impl<'c> Chain<'c> {
    fn of(
        catalogue: &'c Catalogue,
        options: &Explain,
        arch: &str,
        inst: Option<&str>,
    ) -> Result<(Self, Contender<'c>), Failure> {
        let [a, b] = &options.files[..] else {
            return Err(Failure::Input("A and B of a product are needed".to_owned()));
        };
        let product = Matmul {
            c: options.c.clone(),
            types: options.types.clone(),
            ..Matmul::of_files(arch, inst, [a, b])
        };
        let prepared = matmul::product(catalogue, &product)?;
        let contender = Contender::new(prepared.row)?;
        let steps = diff::chain(&contender, &prepared.matrices, place(options)?)
            .map_err(|error| Failure::Input(format!("--at: {error}")))?;
        let k = contender.unit().signature().k;
        let chain = Self {
            row: prepared.row,
            steps,
            k,
        };
        Ok((chain, contender))
    }

    fn subject(&self, step: usize) -> Subject<'c> {
        Subject {
            instruction: self.row,
            input: TracedInput::of_words(&self.steps[step].words.operands()),
            modifiers: Modifiers::default(),
        }
    }

    /// The result of a step, as a word.
    fn word(&self, step: usize) -> String {
        let digits = self.row.signature.d.register.bits.div_ceil(4) as usize;
        format!("{:0digits$x}", self.steps[step].d)
    }
}

fn place(options: &Explain) -> Result<Place, Failure> {
    match options.at[..] {
        [row, column] => Ok([0, row, column]),
        [batch, row, column] => Ok([batch, row, column]),
        _ => Err(Failure::Input(format!(
            "--at: {} numbers; a row and a column are needed, in a batch after its number, as in --at 3,7",
            options.at.len()
        ))),
    }
}

pub(super) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Explain,
) -> Result<Status, Failure> {
    let Some(arch) = &options.arch else {
        return Err(Failure::Input(
            "--arch names the architecture that computes the product".to_owned(),
        ));
    };
    let (chain, contender) = Chain::of(catalogue, options, arch, options.inst.as_deref())?;
    if chain.steps.is_empty() {
        return Err(Failure::Input(
            "K = 0: there is no step to explain".to_owned(),
        ));
    }
    let Some(against) = &options.against else {
        let at = chain.steps.len() - 1;
        let subject = chain.subject(at);
        let trace = subject.trace()?;
        write_page(options, || page(&subject.name(), &trace))?;
        let body = || {
            let walk = ("chain".to_owned(), steps_json(&chain));
            Map::from_iter([
                walk,
                ("step".to_owned(), at.into()),
                named(&subject, &trace),
            ])
        };
        let text = format!("{}\n{}\n{trace}", strip(&chain, None, at), subject.name());
        return print(catalogue, common, body, &text);
    };
    let (arch, inst) = tested::row("--against", against)?;
    let (other, other_contender) = Chain::of(catalogue, options, &arch, Some(&inst))?;
    let found = diff::parting((&contender, &chain.steps), (&other_contender, &other.steps));
    let Some((at, other_at)) = found else {
        report::tell("the sums are equal after every step that both units end");
        let body = || {
            Map::from_iter([
                ("chain".to_owned(), steps_json(&chain)),
                ("parting_step".to_owned(), Value::Null),
            ])
        };
        let at = chain.steps.len() - 1;
        return print(catalogue, common, body, &strip(&chain, Some(&other), at));
    };
    let (subject, second) = (chain.subject(at), other.subject(other_at));
    let (trace, other_trace) = (subject.trace()?, second.trace()?);
    let (name, other_name) = (subject.name(), second.name());
    let difference = Comparison::of((&name, &trace), (&other_name, &other_trace));
    write_page(options, || page_against(&difference))?;
    let body = || {
        Map::from_iter([
            ("chain".to_owned(), steps_json(&chain)),
            ("against_chain".to_owned(), steps_json(&other)),
            (
                "parting_step".to_owned(),
                json!({"k": chain.steps[at].first, "step": at}),
            ),
            named(&subject, &trace),
            ("against".to_owned(), named(&second, &other_trace).1),
            ("parting".to_owned(), json!(difference.parting)),
            ("parting_words".to_owned(), json!(difference.words)),
        ])
    };
    let text = format!("{}\n{difference}", strip(&chain, Some(&other), at));
    print(catalogue, common, body, &text)
}

fn steps_json(chain: &Chain<'_>) -> Value {
    let steps = (0..chain.steps.len()).map(|step| {
        json!({"k": chain.steps[step].first, "c": format!("{:x}", chain.steps[step].words.c), "d": chain.word(step)})
    });
    steps.collect()
}

/// The chain as lines: the first step, those around the one that is explained, the last.
fn strip(chain: &Chain<'_>, other: Option<&Chain<'_>>, at: usize) -> String {
    let last = chain.steps.len() - 1;
    let shown = |step: usize| step == 0 || step == last || step.abs_diff(at) <= AROUND;
    let mut text = format!("{} steps of {} products\n", last + 1, chain.k);
    let mut skipped = false;
    for (number, step) in chain.steps.iter().enumerate() {
        if !shown(number) {
            if !skipped {
                text.push_str("  …\n");
            }
            skipped = true;
            continue;
        }
        skipped = false;
        let end = step.first + chain.k;
        let mark = if number == at { '>' } else { ' ' };
        let _ = write!(
            text,
            "{mark} k = {} to {}: {}",
            step.first,
            end - 1,
            chain.word(number)
        );
        let beside = other.and_then(|other| {
            let same = other
                .steps
                .iter()
                .position(|it| it.first + other.k == end)?;
            Some(other.word(same))
        });
        if let Some(word) = beside {
            let _ = write!(text, " and {word}");
        }
        text.push('\n');
    }
    text
}
