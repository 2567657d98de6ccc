//! A question to the resolver and its answer.

use super::denormal::DenormalMode;
use super::flags::Fmf;
use super::graph::{Graph, Mode, Settings};
use super::reflect::{Origin, ReflectMap};
use super::select::Lowering;
use super::step::{Step, StepOperand};
use super::{
    Context, Note, Policy, Preset, Severity, expression, fold, instruction, sass, text, tile,
};
use crate::error::{Error, Result};
use crate::format::{BF16, F16, F32, F64, Format};
use crate::precision::legal::{Legality, Rules, Target};

/// What is asked: an operation and everything that decides about it.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// A name (`sqrt`), an expression (`a*b+c`), a PTX instruction, an operation of the Tile dialect (`ftof …`) or
    /// the text of an LLVM function.
    pub operation: &'a str,
    /// The type of an expression's operations: f32, f64, f16 or bf16.
    pub format: Option<Format>,
    /// The target.
    pub target: Target,
    /// Whose choices are followed.
    pub policy: Policy,
    /// Flags of every operation; a function's text has its own.
    pub flags: Option<Fmf>,
    /// The rounding that every operation asks for.
    pub rounding: Option<Mode>,
    /// Whether every operation asks for a flush.
    pub flush: bool,
    /// The function's denormal mode.
    pub denormal: Option<DenormalMode>,
    /// Entries of the reflect map, `KEY=VALUE`.
    pub reflect: &'a [String],
    /// A standard configuration that gives what is not given otherwise.
    pub preset: Option<Preset>,
    /// `-prec-div`: 0 or 1 for libNVVM, LLVM's levels 0 to 3.
    pub prec_div: Option<u8>,
    /// `-prec-sqrt`.
    pub prec_sqrt: Option<bool>,
    /// libNVVM's `-fma`.
    pub fma: Option<bool>,
}

impl<'a> Request<'a> {
    /// A question with nothing but operation and target.
    #[must_use]
    pub fn new(operation: &'a str, target: Target) -> Self {
        Self {
            operation,
            format: None,
            target,
            policy: Policy::default(),
            flags: None,
            rounding: None,
            flush: false,
            denormal: None,
            reflect: &[],
            preset: None,
            prec_div: None,
            prec_sqrt: None,
            fma: None,
        }
    }
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// Whether the target takes every instruction and no rule was broken.
    pub legal: bool,
    /// The instructions, in order.
    pub steps: Vec<Step>,
    /// Where the result comes from.
    pub result: StepOperand,
    /// The second result of a symbol that has two: of `__nv_fast_sincosf` the cosine.
    pub second: Option<StepOperand>,
    /// The names of the inputs.
    pub inputs: Vec<String>,
    /// The type of the inputs and of the result, where it is one type.
    pub format: Format,
    /// What is to be said about it.
    pub notes: Vec<Note>,
    /// The function's denormal mode that was in force.
    pub denormal: DenormalMode,
    /// The flags that the operations began with.
    pub flags: Fmf,
    /// The reflect map that was in force.
    pub reflect: ReflectMap,
}

impl Resolution {
    /// The names of the instructions, as PTX has them.
    #[must_use]
    pub fn ptx(&self) -> Vec<String> {
        self.steps.iter().flat_map(Step::names).collect()
    }

    /// Whether the flags let the compiler go further than what is given, so that no value is known exactly.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.notes.iter().any(Note::is_open)
    }

    /// The same with its second result as the result, where there is one.
    #[must_use]
    pub fn of_second(&self) -> Option<Self> {
        let result = self.second?;
        Some(Self {
            result,
            second: None,
            ..self.clone()
        })
    }

    /// What the assembler makes of them, where it was looked at.
    #[must_use]
    pub fn sass(&self) -> Vec<String> {
        self.steps
            .iter()
            .flat_map(|step| sass::of(&step.instruction))
            .collect()
    }

    /// The rules that chose the instructions, each once, folds first.
    #[must_use]
    pub fn rule(&self) -> String {
        let folds = self
            .notes
            .iter()
            .filter(|note| note.severity != Severity::Error);
        let folds = folds
            .filter(|note| note.is_fold())
            .map(|note| note.rule.as_str());
        let mut rules: Vec<&str> = Vec::new();
        for rule in folds.chain(self.steps.iter().map(|step| step.rule.as_str())) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        rules.join("; ")
    }

    /// The instructions with their operands, one a line.
    #[must_use]
    pub fn code(&self) -> Vec<String> {
        if !self.legal && self.steps.is_empty() {
            return Vec::new();
        }
        let name = |operand: &StepOperand| match operand {
            StepOperand::Input(index) => {
                format!("%{}", self.inputs.get(*index).map_or("?", |name| name))
            }
            StepOperand::Word(word) => format!("0x{word:x}"),
            StepOperand::Step(step) => format!("%t{step}"),
        };
        let lines = self.steps.iter().enumerate().map(|(index, step)| {
            let operands: Vec<String> = step.operands.iter().map(name).collect();
            format!("{} %t{index}, {};", step.instruction, operands.join(", "))
        });
        let second = self
            .second
            .map_or(String::new(), |second| format!(", {}", name(&second)));
        lines
            .chain([format!("result {}{second}", name(&self.result))])
            .collect()
    }
}

impl Note {
    /// Whether it says that something was folded.
    fn is_fold(&self) -> bool {
        let Some((policy, rule)) = self.rule.split_once('/') else {
            return false;
        };
        policy.parse::<Policy>().is_ok()
            && !matches!(
                rule,
                "open" | "afn" | "cannot-select" | "ftz" | "flags" | "denormal"
            )
            && !rule.contains("tanh")
            && !rule.starts_with("reflect")
            && !rule.starts_with("ftz")
    }
}

/// The types that expressions may have.
const TYPES: &[Format] = &[F32, F64, F16, BF16];

/// Chooses instructions.
///
/// # Errors
/// [`Error::Argument`] or [`Error::Unknown`] when the operation cannot be read, a type is missing, or a name is not
/// known. An operation that can be read and is illegal is an answer, no error.
///
/// ```
/// use mmascope_model::precision::resolve::{Fmf, Request, resolve};
/// use mmascope_model::format::F32;
/// let request = Request {
///     format: Some(F32),
///     flags: Some(Fmf::CONTRACT),
///     ..Request::new("a*b+c", "sm_90".parse()?)
/// };
/// assert_eq!(resolve(&request)?.ptx(), ["fma.rn.f32"]);
/// # Ok::<(), mmascope_model::Error>(())
/// ```
pub fn resolve(request: &Request<'_>) -> Result<Resolution> {
    let rules = Rules::built_in();
    let target = rules.target(&request.target.to_string())?;
    let mut notes: Vec<Note> = request
        .preset
        .map_or(Vec::new(), |preset| preset.notes(target));
    let preset_flushes = request.preset.is_some_and(Preset::flushes);
    let mut settings = Settings {
        flags: request
            .flags
            .or(request.preset.map(Preset::flags))
            .unwrap_or_default(),
        rounding: request.rounding,
        flush: request.flush || (preset_flushes && request.policy == Policy::CudaTile),
    };
    let operation = request.operation.trim();
    if operation.is_empty() {
        return Err(Error::Argument(
            "operation: it is empty; for example sqrt, a*b+c or add.rn.f32".to_owned(),
        ));
    }
    let mut denormal_other = None;
    let mut denormal = request
        .denormal
        .or(request.preset.map(Preset::denormal))
        .unwrap_or_default();
    let mut reflect = ReflectMap::for_target(target.sm);
    let graph = if text::is_function(operation) {
        let function = text::read(operation, request.policy)?;
        if let (None, Some((single, other))) = (request.denormal, function.denormal) {
            denormal = single;
            denormal_other = Some(other);
        }
        for (key, value, origin) in &function.reflect {
            reflect.set(key, *value, *origin);
        }
        settings.flags = function.flags;
        Some(function.graph)
    } else {
        None
    };
    for entry in request.reflect {
        reflect.add(entry, request.policy)?;
    }
    let flush = request.flush || preset_flushes;
    options(request, flush, &mut reflect);
    let context = Context {
        policy: request.policy,
        target,
        denormal,
        denormal_other: denormal_other.unwrap_or(denormal),
        reflect: &reflect,
        flush,
        fma: request.fma.unwrap_or(true),
        prec_div: request.prec_div,
        prec_sqrt: request.prec_sqrt,
    };
    notes.extend(context_notes(&context, request, settings));
    let mut answer = if graph.is_none() && tile::is_operation(operation) {
        tile::resolve(operation, settings, target)?
    } else if graph.is_none() && instruction::is_one(operation) {
        let form = rules.form(operation)?;
        let (step, inputs) = instruction::step(&form, settings, rules)?;
        Answer {
            format: step.format,
            steps: vec![step],
            result: StepOperand::Step(0),
            second: None,
            inputs,
            notes: Vec::new(),
        }
    } else {
        let graph = match graph {
            Some(graph) => graph,
            None => expression::read(operation, format_of(request, operation)?, settings)?,
        };
        lowered(graph, &context)?
    };
    check(&mut answer, target, &context)?;
    notes.append(&mut answer.notes);
    Ok(Resolution {
        legal: notes.iter().all(|note| note.severity != Severity::Error),
        steps: answer.steps,
        result: answer.result,
        second: answer.second,
        inputs: answer.inputs,
        format: answer.format,
        notes,
        denormal,
        flags: settings.flags,
        reflect,
    })
}

/// The parts of an answer that lowering makes.
pub(super) struct Answer {
    pub(super) steps: Vec<Step>,
    pub(super) result: StepOperand,
    pub(super) second: Option<StepOperand>,
    pub(super) inputs: Vec<String>,
    pub(super) format: Format,
    pub(super) notes: Vec<Note>,
}

/// The type of an expression: what was asked for, else that of the first symbol of the device library in it.
fn format_of(request: &Request<'_>, operation: &str) -> Result<Format> {
    let names: Vec<&str> = TYPES.iter().map(|format| format.name).collect();
    let is_end = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
    let of_symbol = || operation.split(is_end).find_map(super::library::format_of);
    let of_symbol = request.preset.map_or_else(of_symbol, |_| None);
    let format = match (request.format.or(of_symbol), request.preset) {
        (Some(format), _) => format,
        (None, Some(_)) => F32,
        (None, None) => {
            let text = format!(
                "type: it is missing; an expression has one of the types {}",
                names.join(" ")
            );
            return Err(Error::Argument(text));
        }
    };
    if !TYPES.contains(&format) {
        return Err(Error::Argument(format!(
            "type {format}: operations have the types {}; narrower formats are only converted (cvt) and multiplied (mma)",
            names.join(" ")
        )));
    }
    Ok(format)
}

fn lowered(mut graph: Graph, context: &Context<'_>) -> Result<Answer> {
    let mut notes = fold::fold(&mut graph, context);
    graph.at(graph.root);
    let mut lowering = Lowering::new(context, graph.format);
    let result = lowering.graph(&graph)?;
    notes.append(&mut lowering.notes);
    Ok(Answer {
        steps: lowering.steps,
        result,
        second: lowering.second,
        inputs: graph.parameters,
        format: graph.format,
        notes,
    })
}

/// What the compiler's own options put into the reflect map.
fn options(request: &Request<'_>, flush: bool, reflect: &mut ReflectMap) {
    if request.policy == Policy::LibNvvm {
        reflect.set("__CUDA_FTZ", i64::from(flush), Origin::Option);
        let root = request.prec_sqrt.unwrap_or(true);
        reflect.set("__CUDA_PREC_SQRT", i64::from(root), Origin::Option);
        let division = request.prec_div.unwrap_or(1);
        reflect.set("__CUDA_PREC_DIV", i64::from(division), Origin::Option);
    }
}

/// What is to be said about flags, denormal mode and reflect map before anything is chosen.
fn context_notes(context: &Context<'_>, request: &Request<'_>, settings: Settings) -> Vec<Note> {
    let mut notes = Vec::new();
    let (policy, reflect) = (context.policy, context.reflect);
    if policy == Policy::CudaTile && settings.flags != Fmf::NONE {
        let text = "the Tile dialect has no fast-math flags; it has rounding<approx|full> and flush_to_zero";
        notes.push(Note::new(Severity::Warning, "cuda-tile/flags", text).deviating(2));
    }
    if matches!(policy, Policy::LibNvvm | Policy::CudaTile) && request.denormal.is_some() {
        let text = format!("{policy} ignores the function's denormal mode");
        notes.push(Note::new(
            Severity::Note,
            &format!("{policy}/denormal"),
            &text,
        ));
    }
    for (key, _, _) in reflect.iter() {
        let text = match key {
            "__CUDA_PREC_RSQRT" | "__CUDA_PREC_LOG" => {
                format!("{key} exists nowhere: no body of the library reads it")
            }
            _ => continue,
        };
        notes.push(Note::new(Severity::Warning, "reflect/unknown-key", &text).deviating(21));
    }
    if reflect.is_set("__CUDA_FTZ") && policy != Policy::CudaTile {
        let (library, function) = (reflect.value("__CUDA_FTZ") != 0, context.denormal.flushes());
        if library != function {
            let note = match policy {
                Policy::Seed => {
                    let text = "function FTZ disagrees with libdevice FTZ";
                    Note::new(Severity::Error, "seed/ftz-disagreement", text).deviating(12)
                }
                Policy::LibNvvm => return notes,
                _ => {
                    let text = "the library's flush and the function's differ; the compiler accepts that silently";
                    Note::new(Severity::Note, &format!("{policy}/ftz-disagreement"), text)
                }
            };
            notes.push(note);
        }
    }
    notes
}

/// Asks of every chosen instruction whether the target takes it.
fn check(answer: &mut Answer, target: Target, context: &Context<'_>) -> Result<()> {
    for step in &answer.steps {
        if step.is_call() || !step.emulation.is_empty() {
            continue;
        }
        let legality = Legality::of(&step.instruction)?;
        if legality.on(target)? {
            continue;
        }
        let note = match legality
            .findings
            .first()
            .filter(|_| legality.rules.is_empty())
        {
            Some(finding) => Note::new(Severity::Error, &finding.rule, &finding.text),
            None => {
                let rule = legality.rules[0];
                let text = format!(
                    "{} does not exist on {target}; it exists on {}",
                    step.instruction,
                    rule.targets_in_words()
                );
                Note::new(Severity::Error, &format!("ptx.txt:{}", rule.line), &text)
            }
        };
        if !answer.notes.contains(&note) {
            answer.notes.push(note);
        }
    }
    if context.policy == Policy::CudaTile && answer.format != F32 {
        let flushed = answer
            .steps
            .iter()
            .any(|step| step.instruction.contains(".ftz"));
        if flushed {
            let text = "flush_to_zero is for f32 alone";
            answer
                .notes
                .push(Note::new(Severity::Error, "cuda-tile/flush", text));
        }
    }
    Ok(())
}
