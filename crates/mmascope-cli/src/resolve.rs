//! `mmascope resolve`: which instructions a compiler chooses for an operation, and what they compute.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::args::{self, Common, Resolve};
use crate::report::{self, Failure, Status};
use crate::terminal;
use mmascope::format::Format;
use mmascope::isa::Catalogue;
use mmascope::precision::eval::{Enclosure, evaluate};
use mmascope::precision::legal::{Rules, Target};
use mmascope::precision::resolve::{Fmf, Mode, Policy, Preset, Request, Resolution, resolve};

/// One evaluation: the inputs as words, and what is known of the result, or why nothing is.
struct Evaluation {
    inputs: Vec<String>,
    result: Result<Enclosure, String>,
    /// The same of a second result.
    second: Option<Result<Enclosure, String>>,
}

/// What a compiler chooses for one target, and what that computes.
struct Resolved<'r> {
    request: Request<'r>,
    resolution: Resolution,
    evaluations: Vec<Evaluation>,
}

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Resolve,
) -> Result<Status, Failure> {
    let operation = operation(options)?;
    let targets = options.target.iter();
    let targets = targets.map(|name| of("--target", Rules::built_in().target(name)));
    let targets: Vec<Target> = targets.collect::<Result<_, _>>()?;
    let resolved = targets
        .into_iter()
        .map(|target| Resolved::new(options, &operation, target));
    let resolved: Vec<Resolved> = resolved.collect::<Result<_, _>>()?;
    let is_legal = resolved.iter().all(|it| it.resolution.legal);
    let printed = if common.json() {
        let bodies = resolved.iter().map(Resolved::json).collect();
        report::print_json(catalogue, report::one_or_list(bodies, "resolutions"))
    } else {
        print_text(&resolved)
    };
    report::answer(is_legal, printed)
}

impl<'r> Resolved<'r> {
    fn new(options: &'r Resolve, operation: &'r str, target: Target) -> Result<Self, Failure> {
        let policy = of("--policy", options.policy.parse::<Policy>())?;
        let request = Request {
            format: optional("--type", options.kind.as_deref(), kind)?,
            policy,
            flags: match &options.fmf {
                Some(names) => Some(of("--fmf", Fmf::of(names.iter().map(String::as_str)))?),
                None => None,
            },
            rounding: match options.approx {
                true => Some(Mode::Approx),
                false => optional("--round", options.round.as_deref(), str::parse)?,
            },
            flush: options.ftz,
            denormal: optional("--denormal", options.denormal.as_deref(), str::parse)?,
            reflect: &options.reflect,
            preset: optional("--preset", options.preset.as_deref(), str::parse::<Preset>)?,
            prec_div: options.prec_div,
            prec_sqrt: options.prec_sqrt.map(|level| level != 0),
            fma: options.fma.map(|level| level != 0),
            ..Request::new(operation, target)
        };
        options_apply(options, operation, policy)?;
        let resolution = resolve(&request).map_err(|error| of_operation(options, error))?;
        let values = options.value.iter().map(|value| args::as_written(value));
        let values: Vec<String> = values.collect();
        let evaluations = evaluations(&resolution, target, &values)?;
        Ok(Self {
            request,
            resolution,
            evaluations,
        })
    }
}

/// Refuses options that decide nothing about what is asked.
fn options_apply(options: &Resolve, operation: &str, policy: Policy) -> Result<(), Failure> {
    let refused = |option: String, why: &str| Err(Failure::Input(format!("{option}: {why}")));
    if let Some(level) = options.fma
        && policy != Policy::LibNvvm
    {
        let why = format!("policy {policy} has no such option; libnvvm has --fma 0 and 1");
        return refused(format!("--fma {level}"), &why);
    }
    if let Some(level) = options.prec_div {
        let allowed = match policy {
            Policy::Llvm => level <= 3,
            Policy::LibNvvm => level <= 1,
            Policy::Seed | Policy::CudaTile => false,
        };
        if !allowed {
            let why =
                format!("policy {policy} has no such level; libnvvm has 0 and 1, llvm 0 to 3");
            return refused(format!("--prec-div {level}"), &why);
        }
    }
    if let Some(level) = options.prec_sqrt
        && matches!(policy, Policy::Seed | Policy::CudaTile)
    {
        let why = format!("policy {policy} has no such option; libnvvm and llvm have 0 and 1");
        return refused(format!("--prec-sqrt {level}"), &why);
    }
    let is_function = operation
        .lines()
        .any(|line| line.trim_start().starts_with("define "));
    match (&options.kind, &options.fmf) {
        (Some(kind), _) if is_function => refused(
            format!("--type {kind}"),
            "an LLVM function has its own types; leave it out",
        ),
        (_, Some(flags)) if is_function => refused(
            format!("--fmf {}", flags.join(",")),
            "the operations of an LLVM function have their own flags; leave it out",
        ),
        _ => Ok(()),
    }
}

/// An error about the operation, with the argument or the file that it stands in.
fn of_operation(options: &Resolve, error: mmascope::Error) -> Failure {
    match error {
        mmascope::Error::Text {
            mut position,
            message,
        } => {
            if let Some(file) = &options.input {
                position.file = match file.as_str() {
                    "-" => "(standard input)".to_owned(),
                    file => file.to_owned(),
                };
            }
            mmascope::Error::Text { position, message }.into()
        }
        error @ mmascope::Error::Unknown { .. } => {
            Failure::Input(format!("OPERATION: {}", report::told(&error)))
        }
        error => error.into(),
    }
}

/// A result with the argument in front of its message.
fn of<T>(argument: &str, result: Result<T, mmascope::Error>) -> Result<T, Failure> {
    result.map_err(|error| Failure::Input(format!("{argument}: {}", report::told(&error))))
}

fn optional<T>(
    argument: &str,
    text: Option<&str>,
    read: impl Fn(&str) -> Result<T, mmascope::Error>,
) -> Result<Option<T>, Failure> {
    text.map(|text| of(argument, read(text))).transpose()
}

/// The type of that name; an unknown one is told with the types that operations have.
fn kind(name: &str) -> Result<Format, mmascope::Error> {
    Format::named(name)
        .map_err(|_| mmascope::Error::unknown("type", name, ["f32", "f64", "f16", "bf16"]))
}

/// The longest description of an operation in bytes.
const LONGEST_INPUT: u64 = 1 << 20;

fn operation(options: &Resolve) -> Result<String, Failure> {
    let Some(file) = &options.input else {
        return Ok(options.operation.clone().unwrap_or_default());
    };
    report::read_whole("--input", file, LONGEST_INPUT)
}

/// Evaluates groups of as many values as there are inputs.
fn evaluations(
    resolution: &Resolution,
    target: Target,
    values: &[String],
) -> Result<Vec<Evaluation>, Failure> {
    if values.is_empty() {
        return Ok(Vec::new());
    }
    if !resolution.legal {
        report::tell("warning: --value: an illegal combination is not evaluated");
        return Ok(Vec::new());
    }
    let count = resolution.inputs.len().max(1);
    if !values.len().is_multiple_of(count) {
        return Err(Failure::Input(format!(
            "--value: {} values are no multiple of {count}, the number of inputs ({})",
            values.len(),
            resolution.inputs.join(" ")
        )));
    }
    let groups = values.chunks(count).map(|group| {
        if let Some(reason) = resolution.unknown() {
            return Ok(Evaluation {
                inputs: group.to_vec(),
                result: Err(reason),
                second: None,
            });
        }
        let words = if resolution.inputs.is_empty() {
            Vec::new()
        } else {
            resolution.words(group)?
        };
        let of = |resolution: &Resolution| match evaluate(resolution, target, &words) {
            Ok(result) => Ok(Ok(result)),
            Err(mmascope::Error::Unmodelled { reason, .. }) => Ok(Err(reason)),
            Err(error) => Err(error),
        };
        let result = of(resolution)?;
        let second = resolution.of_second().map(|other| of(&other)).transpose()?;
        let hex = |(index, word): (usize, &u64)| hex(&resolution.input_format(index), 1, *word);
        Ok(Evaluation {
            inputs: words.iter().enumerate().map(hex).collect(),
            result,
            second,
        })
    });
    Ok(groups.collect::<Result<_, mmascope::Error>>()?)
}

/// A word of so many elements.
fn hex(format: &Format, lanes: usize, word: u64) -> String {
    format!("{word:0width$x}", width = format.digits() * lanes)
}

fn print_text(resolved: &[Resolved<'_>]) -> Result<(), Failure> {
    let mut out = terminal::out();
    for (index, one) in resolved.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        if resolved.len() > 1 {
            writeln!(out, "target {}", one.request.target)?;
        }
        one.print(&mut out)?;
    }
    Ok(())
}

impl Resolved<'_> {
    fn print(&self, out: &mut impl Write) -> Result<(), Failure> {
        let resolution = &self.resolution;
        writeln!(
            out,
            "legal  {}",
            if resolution.legal { "yes" } else { "no" }
        )?;
        let (code, names) = (resolution.code(), resolution.ptx());
        // A target without a conversion computes it by several instructions.
        let is_ptx = (names.iter()).all(|name| code.iter().any(|line| line.starts_with(name)));
        for line in &code {
            writeln!(out, "{}   {line}", if is_ptx { "ptx " } else { "code" })?;
        }
        if !is_ptx {
            writeln!(out, "ptx    {}", names.join("; "))?;
        }
        for line in resolution.sass() {
            writeln!(out, "sass   {line}")?;
        }
        let rule = resolution.rule();
        if !rule.is_empty() {
            writeln!(out, "rule   {rule}")?;
        }
        for note in &resolution.notes {
            writeln!(
                out,
                "{}: {} ({})",
                note.severity.word(),
                note.text,
                note.rule
            )?;
        }
        let (format, lanes) = (resolution.result_format(), resolution.result_lanes());
        let hex = |word| hex(&format, lanes, word);
        let lines = self.evaluations.iter().flat_map(|it| {
            let inputs = it.inputs.join(" ");
            [Some(&it.result), it.second.as_ref()]
                .into_iter()
                .flatten()
                .map(move |result| (inputs.clone(), result))
        });
        for (inputs, result) in lines {
            match result {
                Err(reason) => writeln!(out, "{inputs} -> ?  {reason}")?,
                Ok(result) => match &result.bound {
                    Some(bound) => writeln!(
                        out,
                        "{inputs} -> {}  between {} and {}: the bits are not known ({bound})",
                        hex(result.out),
                        hex(result.lo),
                        hex(result.hi)
                    )?,
                    None => writeln!(out, "{inputs} -> {}", hex(result.out))?,
                },
            }
        }
        Ok(())
    }

    fn json(&self) -> Map<String, Value> {
        let Self {
            request,
            resolution,
            evaluations,
        } = self;
        let mut body = Map::new();
        body.insert("operation".into(), request.operation.into());
        body.insert("target".into(), request.target.to_string().into());
        body.insert("policy".into(), request.policy.to_string().into());
        body.insert("type".into(), resolution.format.name.into());
        body.insert("legal".into(), resolution.legal.into());
        body.insert("ptx".into(), resolution.ptx().into());
        body.insert("sass".into(), resolution.sass().into());
        body.insert("code".into(), resolution.code().into());
        body.insert("rule".into(), resolution.rule().into());
        let notes = resolution.notes.iter().map(|note| {
            json!({
                "severity": note.severity.word(),
                "text": note.text,
                "rule": note.rule,
                "deviation": note.deviation,
            })
        });
        body.insert("diagnostics".into(), notes.collect());
        body.insert("flags".into(), resolution.flags.to_string().into());
        body.insert("denormal".into(), resolution.denormal.to_string().into());
        let reflect: Map<String, Value> = resolution
            .reflect
            .iter()
            .map(|(key, value, _)| (key.to_owned(), value.into()))
            .collect();
        body.insert("reflect".into(), reflect.into());
        if let Some(preset) = request.preset {
            let (operand, sum, results) = preset.formats();
            let configuration = json!({
                "name": preset.to_string(),
                "input": operand,
                "accumulator": sum,
                "output": results,
                "ftz": preset.flushes(),
                "flags": preset.flags().to_string(),
            });
            body.insert("preset".into(), configuration);
        }
        let results: Vec<Value> = evaluations
            .iter()
            .map(|it| evaluation_json(resolution, it))
            .collect();
        if let [Value::Object(only)] = &results[..] {
            body.extend(only.clone());
        }
        if !results.is_empty() {
            body.insert("results".into(), results.into());
        }
        body
    }
}

fn evaluation_json(resolution: &Resolution, evaluation: &Evaluation) -> Value {
    let (format, lanes) = (resolution.result_format(), resolution.result_lanes());
    let hex = |word| hex(&format, lanes, word);
    let input = match &evaluation.inputs[..] {
        [only] => json!(only),
        words => json!(words),
    };
    let of = |result: &Result<Enclosure, String>| match result {
        Ok(result) => json!({
            "out": hex(result.out),
            "lo": hex(result.lo),
            "hi": hex(result.hi),
            "exact": result.is_known(),
            "bound": result.bound,
        }),
        Err(reason) => json!({
            "out": null,
            "lo": null,
            "hi": null,
            "exact": false,
            "bound": reason,
        }),
    };
    let mut body = of(&evaluation.result);
    body["in"] = input;
    if let Some(second) = &evaluation.second {
        body["second"] = of(second);
    }
    body
}
