//! Selection: which instruction stands for an operation under a policy.

use super::flags::Fmf;
use super::graph::{Graph, Mode, Op, Settings};
use super::policy::Policy;
use super::step::{Step, StepOperand};
use super::{Context, Note, Severity, library};
use crate::error::{Error, Result};
use crate::explain::number_word;
use crate::format::{BF16, F16, F32, Format, Overflow, Rounding};

/// The instructions that round an f32 to bf16 where there is no conversion.
pub(super) const ROUND_BF16: &[&str] = &[
    "bfe.u32",
    "add.s32",
    "add.s32",
    "setp.nan.f32",
    "or.b32",
    "selp.b32",
    "shr.u32",
];

/// The choice of instructions for one graph.
pub(super) struct Lowering<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) format: Format,
    pub(super) steps: Vec<Step>,
    pub(super) notes: Vec<Note>,
    /// The second result of a symbol that has two.
    pub(super) second: Option<StepOperand>,
    /// Roundings back to a narrow type that may be left out before another operation in f32: step and what was rounded.
    pub(super) loose: Vec<(StepOperand, StepOperand)>,
    /// Values of a narrow type that were widened, each once.
    widened: Vec<(StepOperand, StepOperand)>,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(context: &'a Context<'a>, format: Format) -> Self {
        Self {
            context,
            format,
            steps: Vec::new(),
            notes: Vec::new(),
            second: None,
            loose: Vec::new(),
            widened: Vec::new(),
        }
    }

    /// Says something, once.
    pub(super) fn say(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds an instruction; its result has the last type of its name, or of the graph for a call.
    pub(super) fn emit(
        &mut self,
        instruction: &str,
        operands: &[StepOperand],
        rule: &str,
    ) -> StepOperand {
        self.emit_as(instruction, &[], operands, rule)
    }

    pub(super) fn emit_as(
        &mut self,
        instruction: &str,
        emulation: &[&'static str],
        operands: &[StepOperand],
        rule: &str,
    ) -> StepOperand {
        let format = result_format(instruction).unwrap_or(self.format);
        self.steps.push(Step {
            instruction: instruction.to_owned(),
            emulation: emulation.to_vec(),
            operands: operands.to_vec(),
            format,
            rule: rule.to_owned(),
        });
        StepOperand::Step(self.steps.len() - 1)
    }

    /// Chooses instructions for everything that the result needs.
    pub(super) fn graph(&mut self, graph: &Graph) -> Result<StepOperand> {
        let two = Op::Call(library::TWO_RESULTS.to_owned());
        if graph
            .order()
            .iter()
            .any(|&index| graph.nodes[index].op == two && index != graph.root)
        {
            return Err(Error::Argument(format!(
                "operation: {} gives two results, the sine and the cosine; it stands alone, not inside an expression",
                library::TWO_RESULTS
            )));
        }
        let mut values: Vec<Option<StepOperand>> = vec![None; graph.nodes.len()];
        for index in graph.order() {
            let node = &graph.nodes[index];
            self.format = node.format;
            let args: Vec<StepOperand> = node.args.iter().filter_map(|&arg| values[arg]).collect();
            let roots: Vec<bool> = node
                .args
                .iter()
                .map(|&arg| is_root(&graph.nodes[arg].op))
                .collect();
            values[index] = Some(match &node.op {
                Op::Parameter(number) => StepOperand::Input(*number),
                Op::Constant(word) => StepOperand::Word(*word),
                Op::Neg => {
                    let flush = self.flush_suffix(node.settings, true);
                    self.typed("neg", &flush, &args, node.settings.flags, "operation/neg")
                }
                Op::Convert => self.conversion(&graph.nodes[node.args[0]].format, &args),
                Op::Add => self.binary("add", &args, node.settings),
                Op::Sub => self.binary("sub", &args, node.settings),
                Op::Mul => self.binary("mul", &args, node.settings),
                Op::Fma => self.fused(&args, node.settings),
                Op::Div => {
                    let root = roots[1].then(|| &graph.nodes[node.args[1]]);
                    self.quotient(&args, node.settings, root.map(|root| root.settings))
                }
                Op::Call(name) => self.call(name, &args, node.settings)?,
            });
        }
        let result = values[graph.root]
            .ok_or_else(|| Error::Argument("operation: it has no result".to_owned()))?;
        Ok(self.without_unused(result))
    }

    /// A unary operation of the graph's type; f16 below sm_80 and bf16 below sm_80 go by f32.
    fn typed(
        &mut self,
        stem: &str,
        modifiers: &str,
        args: &[StepOperand],
        flags: Fmf,
        rule: &str,
    ) -> StepOperand {
        if self.format == BF16 && self.context.target.sm < 80 {
            // A sign is turned or dropped by integers.
            let emulation: &[&'static str] = if stem == "neg" {
                &["xor.b16"]
            } else {
                &["and.b16"]
            };
            if matches!(stem, "neg" | "abs") {
                return self.emit_as(&format!("{stem}.bf16"), emulation, args, rule);
            }
        }
        let narrow = (self.format == F16 && stem == "abs" || self.format == BF16)
            && self.context.target.sm < 80;
        if narrow {
            return self.promoted(args, flags, rule, |name| name(stem, modifiers));
        }
        let name = format!("{stem}{modifiers}.{}", self.format);
        self.emit(&name, args, rule)
    }

    /// Whether operations of this type flush, for a reason that holds of the whole function.
    pub(super) fn function_flushes(&self) -> bool {
        match self.context.policy {
            Policy::Llvm | Policy::Seed => self.context.denormal.flushes(),
            Policy::LibNvvm => self.context.flush,
            Policy::CudaTile => false,
        }
    }

    /// `.ftz` or nothing for one operation of the graph's type.
    pub(super) fn flush_suffix(&self, settings: Settings, in_seed_list: bool) -> String {
        let types: &[Format] = match self.context.policy {
            Policy::Llvm | Policy::LibNvvm => &[F32, F16],
            Policy::Seed | Policy::CudaTile => &[F32],
        };
        let by_function = self.function_flushes()
            && types.contains(&self.format)
            && (in_seed_list || self.context.policy != Policy::Seed);
        let flushes = by_function || settings.flush;
        if flushes {
            ".ftz".to_owned()
        } else {
            String::new()
        }
    }

    /// The name of an addition, subtraction or multiplication.
    pub(super) fn arithmetic(&self, stem: &str, settings: Settings) -> String {
        let flush = self.flush_suffix(settings, stem == "mul");
        format!(
            "{stem}{}{flush}.{}",
            self.rounding_suffix(settings),
            self.format
        )
    }

    /// The rounding that is written: an explicit one blocks the assembler's own contraction.
    fn rounding_suffix(&self, settings: Settings) -> String {
        match (settings.rounding, self.context.policy) {
            (Some(mode), _) => format!(".{mode}"),
            (None, Policy::Llvm) if settings.flags.has(Fmf::CONTRACT) => String::new(),
            (None, Policy::LibNvvm) if self.context.fma || settings.flags.has(Fmf::CONTRACT) => {
                String::new()
            }
            (None, Policy::Seed) if settings.flags.has(Fmf::CONTRACT) => String::new(),
            (None, _) => ".rn".to_owned(),
        }
    }

    fn binary(&mut self, stem: &str, args: &[StepOperand], settings: Settings) -> StepOperand {
        if let Some(mode @ (Mode::Approx | Mode::Full)) = settings.rounding {
            let text = format!("{stem} has no .{mode}");
            self.say(Note::new(Severity::Error, "operation/rounding", &text));
        }
        if stem != "mul" && self.context.policy == Policy::Seed && self.function_flushes() {
            let text = format!(
                "the source document's list of .ftz families has no {stem}; PTX has {stem}.ftz.f32"
            );
            self.say(Note::new(Severity::Warning, "seed/ftz", &text).deviating(7));
        }
        let sm = self.context.target.sm;
        let rule = match settings.rounding {
            Some(_) => "operation/explicit-rounding",
            None if self.rounding_suffix(settings).is_empty() => "operation/contractable",
            None => "operation/round-to-nearest",
        };
        let by_single = sm < 80 || (sm < 90 && self.function_flushes());
        if self.format == BF16 && by_single && settings.rounding.is_none() {
            let suffix = self.rounding_suffix(settings);
            let flush = if self.function_flushes() { ".ftz" } else { "" };
            return self.promoted(args, settings.flags, rule, |name| {
                name(&format!("{stem}{suffix}"), flush)
            });
        }
        if self.format == BF16 && sm < 90 && settings.rounding.is_none() {
            // There is no bf16 addition before sm_90, but a fused one: a*1+b, b*(-1)+a, a*b+(-0).
            const RULE: &str = "operation/bf16-by-fma";
            let word = |text: &str| {
                StepOperand::Word(number_word("constant", text, &BF16, true).unwrap_or(0))
            };
            let (a, b) = (args[0], args[1]);
            let operands = match stem {
                "add" => [a, word("1"), b],
                "sub" => [b, word("-1"), a],
                _ => [a, b, word("-0")],
            };
            return self.emit("fma.rn.bf16", &operands, RULE);
        }
        let name = self.arithmetic(stem, settings);
        self.emit(&name, args, rule)
    }

    fn fused(&mut self, args: &[StepOperand], settings: Settings) -> StepOperand {
        let rounding = settings.rounding.unwrap_or(Mode::Rn);
        if self.format == BF16 && self.context.target.sm < 80 {
            let flush = if self.function_flushes() { ".ftz" } else { "" };
            return self.promoted(args, settings.flags, "operation/fma", |name| {
                name(&format!("fma.{rounding}"), flush)
            });
        }
        let flush = self.flush_suffix(settings, false);
        let name = format!("fma.{rounding}{flush}.{}", self.format);
        self.emit(&name, args, "operation/fma")
    }

    /// An operation of f16 or bf16 done in f32 and rounded back.
    pub(super) fn promoted(
        &mut self,
        args: &[StepOperand],
        flags: Fmf,
        rule: &str,
        name: impl Fn(&dyn Fn(&str, &str) -> String) -> String,
    ) -> StepOperand {
        let narrow = self.format;
        let name = name(&|stem, modifiers| format!("{stem}{modifiers}.f32"));
        let is_root = name.starts_with("sqrt");
        let wide: Vec<StepOperand> = args
            .iter()
            .map(|&arg| {
                if let StepOperand::Word(word) = arg {
                    // The compiler widens constants itself, exactly.
                    let value = narrow.decode(narrow.from_register(word)).exact();
                    let word = value.map(|value| F32.round(&value, Rounding::Rne, Overflow::Ieee));
                    return word.map_or(arg, StepOperand::Word);
                }
                let loose = self.loose.iter().find(|(rounded, _)| *rounded == arg);
                let is_quotient = |value: &StepOperand| {
                    matches!(value, StepOperand::Step(step)
                        if self.steps[*step].instruction.starts_with(['d', 'r']))
                };
                // Of a quotient, and before a root, the rounding stays.
                let loose = loose.filter(|(_, value)| {
                    flags.has(Fmf::CONTRACT) && !is_root && !is_quotient(value)
                });
                if let Some((_, wide)) = loose {
                    return *wide;
                }
                if let Some((_, known)) = self.widened.iter().find(|(from, _)| *from == arg) {
                    return *known;
                }
                let wide = self.widen(narrow, &[arg], "operation/widened");
                self.widened.push((arg, wide));
                wide
            })
            .collect();
        let result = self.emit(&name, &wide, rule);
        let emulation = self.narrowing();
        let rounded = self.emit_as(
            &format!("cvt.rn.{narrow}.f32"),
            emulation,
            &[result],
            "operation/narrowed",
        );
        if flags.has(Fmf::CONTRACT) && self.context.policy == Policy::Llvm {
            self.loose.push((rounded, result));
        }
        rounded
    }

    /// A call of an f32 symbol with operands of f16 or bf16.
    pub(super) fn promoted_call(&mut self, args: &[StepOperand], symbol: &str) -> StepOperand {
        self.promoted(args, Fmf::NONE, "library/accurate", |_| symbol.to_owned())
    }

    /// The instructions that round to the graph's type where there is no conversion.
    pub(super) fn narrowing(&self) -> &'static [&'static str] {
        if self.format == BF16 && self.context.target.sm < 80 {
            ROUND_BF16
        } else {
            &[]
        }
    }

    /// A function or a symbol.
    fn call(
        &mut self,
        name: &str,
        args: &[StepOperand],
        settings: Settings,
    ) -> Result<StepOperand> {
        if let Some(operand) = library::lower(self, name, args, settings)? {
            return Ok(operand);
        }
        if let Some(instruction) = super::intrinsic::instruction(name) {
            let instruction = match instruction.strip_suffix("?") {
                // The intrinsic without a rounding or a flush of its own follows the function.
                Some(stem) => stem.replace('@', &self.flush_suffix(settings, true)),
                None => instruction.to_owned(),
            };
            return Ok(self.emit(&instruction, args, "intrinsic/as-named"));
        }
        super::function::lower(self, name, args, settings)
    }

    /// A unary function of f32, with f16 and bf16 done in f32.
    pub(super) fn unary(
        &mut self,
        stem: &str,
        flush: bool,
        args: &[StepOperand],
        settings: Settings,
        rule: &str,
    ) -> StepOperand {
        match self.format {
            F16 | BF16 => {
                let ftz = if flush && self.function_flushes() {
                    ".ftz"
                } else {
                    ""
                };
                self.promoted(args, settings.flags, rule, |name| name(stem, ftz))
            }
            format => {
                let ftz = if flush {
                    self.flush_suffix(settings, true)
                } else {
                    String::new()
                };
                self.emit(&format!("{stem}{ftz}.{format}"), args, rule)
            }
        }
    }

    /// The absolute value, or the smaller or larger of two.
    pub(super) fn selection(
        &mut self,
        stem: &str,
        args: &[StepOperand],
        settings: Settings,
    ) -> StepOperand {
        let flush = self.flush_suffix(settings, true);
        self.typed(stem, &flush, args, settings.flags, "operation/selection")
    }

    /// Takes out steps that nothing needs, and gives the result its new number.
    fn without_unused(&mut self, result: StepOperand) -> StepOperand {
        let mut needed = vec![false; self.steps.len()];
        let mut open = vec![result];
        open.extend(self.second);
        while let Some(operand) = open.pop() {
            if let StepOperand::Step(step) = operand
                && !std::mem::replace(&mut needed[step], true)
            {
                open.extend(&self.steps[step].operands);
            }
        }
        let number = |step: usize| needed[..step].iter().filter(|needed| **needed).count();
        let renumbered = |operand: StepOperand| match operand {
            StepOperand::Step(step) => StepOperand::Step(number(step)),
            other => other,
        };
        let steps = std::mem::take(&mut self.steps);
        let kept = steps
            .into_iter()
            .enumerate()
            .filter(|(index, _)| needed[*index]);
        self.steps = kept
            .map(|(_, mut step)| {
                step.operands
                    .iter_mut()
                    .for_each(|operand| *operand = renumbered(*operand));
                step
            })
            .collect();
        self.second = self.second.map(renumbered);
        renumbered(result)
    }
}

fn is_root(op: &Op) -> bool {
    *op == Op::Call("sqrt".to_owned())
}

/// The format of an instruction's result: the first type in its name.
fn result_format(instruction: &str) -> Option<Format> {
    let types = instruction.split('.').skip(1);
    types
        .filter(|word| !matches!(*word, "rn" | "rz"))
        .find_map(|word| Format::named(word).ok())
}
