//! `mmascope explain A B --at I,J`: walks one output's chain over K, and explains one step of it.

use serde_json::{Map, Value, json};

use super::{compared, named, print, second, write_page};
use crate::args::{Common, Explain, Matmul};
use crate::layout;
use crate::matmul;
use crate::report::{self, Failure, Status};
use crate::walk::{Chain, Parting, Walk};
use mmascope::diff::Place;
use mmascope::explain::Report;
use mmascope::isa::Catalogue;

/// The chain of the output that the options name.
fn chain<'c>(
    catalogue: &'c Catalogue,
    options: &Explain,
    arch: &str,
    inst: Option<&str>,
) -> Result<Chain<'c>, Failure> {
    let [a, b] = &options.files[..] else {
        return Err(Failure::Input("A and B of a product are needed".to_owned()));
    };
    let product = Matmul {
        c: options.c.clone(),
        types: options.types.clone(),
        pad: options.pad,
        saturate: options.saturate,
        ..Matmul::of_files(arch, inst, [a, b])
    };
    let prepared = matmul::product(catalogue, &product)?;
    let place = place(options, prepared.matrices.batch())?;
    Chain::of(prepared.row, &prepared.matrices, &prepared.schedule, place)
        .map_err(|error| Failure::Input(format!("--at: {error}")))
}

/// The output that is asked for, of a product of so many matrices.
fn place(options: &Explain, batch: usize) -> Result<Place, Failure> {
    match options.at[..] {
        [row, column] if batch > 1 => Err(Failure::Input(format!(
            "--at {row},{column}: these are {batch} products; the number of one comes first, as in --at 0,{row},{column}"
        ))),
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
    let own = chain(catalogue, options, arch, options.inst.as_deref())?;
    if own.steps.is_empty() {
        return Err(Failure::Input(
            "K = 0: there is no step to explain".to_owned(),
        ));
    }
    let other = match &options.against {
        // Where the first unit is the default of the types of the files, the second one is too, as in `diff`.
        Some(arch) if options.inst.is_none() && !arch.contains(':') => {
            let other = chain(catalogue, options, arch, None);
            Some(other.map_err(|failure| match failure {
                Failure::Input(message) => Failure::Input(format!("--against {arch}: {message}")),
                other => other,
            })?)
        }
        Some(against) => {
            let row = second(catalogue, own.row, against)?;
            Some(chain(
                catalogue,
                options,
                &row.architecture,
                Some(&row.name),
            )?)
        }
        None => None,
    };
    let asked = match options.k {
        Some(k) => Some(own.step_of(k).ok_or_else(|| {
            let all = own.steps.len() * own.row.signature.k;
            Failure::Input(format!("--k {k}: the chain sums products 0 to {}", all - 1))
        })?),
        None => None,
    };
    let walk = Walk::of(&own, other.as_ref(), asked)?;
    write_page(options, || page(options, &walk))?;
    if other.is_some() && walk.parting.is_none() {
        report::tell("the sums are equal after every step that both units end");
    }
    let body = || body(&own, other.as_ref(), &walk, asked.is_some());
    let mut said = text(other.as_ref(), &walk, asked.is_some());
    if let Some(words) = own.words_behind() {
        said = format!("{}\n{}\n", said.trim_end(), layout::paragraph(&words));
    }
    print(catalogue, common, body, &said)
}

fn page(options: &Explain, walk: &Walk) -> String {
    let at: Vec<String> = options.at.iter().map(usize::to_string).collect();
    let files = options.files.join(" · ");
    let mut report = Report::new(&format!("Output {} of {files}", at.join(",")));
    walk.draw(&mut report);
    report.page()
}

/// The chain, and the step that is explained; of two units the one that parts them, if there is one and none is asked for.
fn text(other: Option<&Chain<'_>>, walk: &Walk, asked: bool) -> String {
    let chain = &walk.chain;
    let parts = walk.parting.and_then(|parting| {
        let meeting = walk.meeting();
        // Where the opened step is the one that parts them, the chain shows it.
        let is_hidden = chain.opened != parting.step || walk.is_longer_than_its_step(parting);
        (is_hidden || meeting.is_some()).then(|| {
            let meeting = meeting.map_or_else(String::new, |meeting| format!("; {meeting}"));
            format!("they part in the step of {}{meeting}\n", parting.words())
        })
    });
    let parts = parts.unwrap_or_default();
    let is_explained = other.is_none() || walk.parting.is_some() || asked;
    match (walk.comparison(), &walk.traces[..]) {
        (Some(difference), _) if is_explained => {
            format!("{chain}{parts}\n{}", compared(&difference))
        }
        (None, [(name, trace), ..]) if other.is_none() => format!("{chain}\n{name}\n{trace}"),
        (None, [(name, trace), ..]) if asked => format!("{chain}{parts}\n{name}\n{trace}"),
        _ => chain.to_string(),
    }
}

fn body(
    own: &Chain<'_>,
    other: Option<&Chain<'_>>,
    walk: &Walk,
    asked: bool,
) -> Map<String, Value> {
    let mut body = Map::from_iter([("chain".to_owned(), steps_json(own))]);
    if let Some(behind) = &own.behind {
        body.insert("behind".to_owned(), behind.as_str().into());
    }
    let opened = walk.chain.opened;
    let Some(other) = other else {
        body.insert("step".to_owned(), opened.into());
        body.extend([named(own.row, &walk.traces[0].1)]);
        return body;
    };
    let place = |parting: Parting| {
        let (from, to) = parting.k;
        json!({"k": own.steps[parting.step].first, "step": parting.step, "parting_k": [from, to]})
    };
    let parting = walk.parting;
    body.insert("parting_step".to_owned(), json!(parting.map(place)));
    if parting.is_some() {
        let first = walk.first_parting.map(place);
        body.insert("first_parting_step".to_owned(), json!(first));
    }
    if asked {
        body.insert("step".to_owned(), opened.into());
    }
    if parting.is_some() || asked {
        body.insert("against_chain".to_owned(), steps_json(other));
        let explained = [own.row, other.row].into_iter().zip(&walk.traces);
        for (key, (row, (_, trace))) in ["explanation", "against"].into_iter().zip(explained) {
            body.insert(key.to_owned(), named(row, trace).1);
        }
        if let Some(difference) = walk.comparison() {
            body.insert("parting".to_owned(), json!(difference.parting));
            body.insert("parting_words".to_owned(), json!(difference.words));
        }
    }
    body
}

fn steps_json(chain: &Chain<'_>) -> Value {
    let digits = chain.row.signature.d.register.bits.div_ceil(4) as usize;
    let steps = chain.steps.iter().map(|step| {
        let (c, d) = (
            format!("{:x}", step.words.c),
            format!("{:0digits$x}", step.d),
        );
        json!({"k": step.first, "c": c, "d": d})
    });
    steps.collect()
}
