//! The Tile dialect's conversions and matrix products: `ftof`, `mmaf`, `mmaf_scaled` (`precision.md` §4, TILE).

use super::graph::{Mode, Settings};
use super::request::Answer;
use super::step::{Step, StepOperand};
use super::{Note, Severity};
use crate::error::{Error, Result, quoted};
use crate::format::{BF16, E4M3FN, E5M2, F16, F32, F64, Format, TF32, UE8M0};
use crate::precision::legal::{Rules, Suffix, Target};

const OPERATIONS: &[&str] = &["ftof", "mmaf_scaled", "mmaf"];

/// The dialect's narrow element types (13.1 to 13.3).
const ELEMENTS: &[&str] = &["e4m3fn", "e5m2", "ue8m0", "e2m1fn"];

/// Whether a text is one of the dialect's operations.
pub(super) fn is_operation(text: &str) -> bool {
    OPERATIONS.contains(&name(unassigned(text)))
}

/// The text behind `%name =`, where a result has a name.
fn unassigned(text: &str) -> &str {
    let named = text.split_once('=').filter(|(name, _)| {
        name.trim_start().starts_with('%') && name.split_whitespace().count() == 1
    });
    named.map_or(text, |(_, rest)| rest).trim_start()
}

/// The name of an operation, without the dialect's.
fn name(text: &str) -> &str {
    let word = text.split_whitespace().next().unwrap_or("");
    word.strip_prefix("cuda_tile.").unwrap_or(word)
}

/// A tile's type: its shape and its elements.
struct Tile {
    shape: Vec<u64>,
    element: Format,
}

/// Chooses instructions for one operation of the dialect.
///
/// # Errors
/// [`Error::Argument`] when the text is none, [`Error::Unknown`] for an element type that nobody knows.
pub(super) fn resolve(text: &str, settings: Settings, target: Target) -> Result<Answer> {
    let (head, types) = unassigned(text)
        .split_once(':')
        .ok_or_else(|| wrong(text, "its types are missing"))?;
    let rounding = match head.split_once("rounding<") {
        Some((_, rest)) => Some(rest.split('>').next().unwrap_or("").parse::<Mode>()?),
        None => settings.rounding,
    };
    let (operands, result) = types.split_once("->").unwrap_or((types, ""));
    let operands: Vec<Tile> = tiles(text, operands)?;
    match name(head) {
        "ftof" => {
            let result = tiles(text, result)?;
            match (&operands[..], &result[..]) {
                ([from], [to]) => Ok(cast(
                    from.element,
                    to.element,
                    rounding.unwrap_or(Mode::Rn),
                    target,
                )),
                _ => Err(wrong(text, "ftof has one operand and one result")),
            }
        }
        "mmaf" => match &operands[..] {
            [a, b, c] => Ok(product(a, b, c, None, target)),
            _ => Err(wrong(
                text,
                "mmaf has the types of a, b and the accumulator",
            )),
        },
        _ => match &operands[..] {
            [a, b, c, sa, sb] => Ok(product(a, b, c, Some((sa, sb)), target)),
            _ => Err(wrong(
                text,
                "mmaf_scaled has the types of a, b, the accumulator and both scales",
            )),
        },
    }
}

fn wrong(text: &str, what: &str) -> Error {
    Error::Argument(format!(
        "operation '{}': {what}; for example ftof %x : tile<16xf32> -> tile<16xf8E4M3FN>, \
         mmaf %a, %b, %c : tile<16x32xf8E4M3FN>, tile<32x8xf8E4M3FN>, tile<16x8xf32>",
        quoted(text)
    ))
}

fn tiles(text: &str, types: &str) -> Result<Vec<Tile>> {
    let mut tiles = Vec::new();
    for part in types.split("tile<").skip(1) {
        let inner = part.split('>').next().unwrap_or("");
        let mut shape = Vec::new();
        let mut rest = inner.trim();
        while let Some((number, after)) = rest.split_once('x') {
            let Ok(number) = number.trim().parse() else {
                break;
            };
            shape.push(number);
            rest = after;
        }
        let element = Format::named(rest.trim())?;
        tiles.push(Tile { shape, element });
    }
    if tiles.is_empty() {
        return Err(wrong(text, "it has no tile type"));
    }
    Ok(tiles)
}

/// Instructions one after another, each taking the result of the one before.
struct Chain {
    steps: Vec<Step>,
    notes: Vec<Note>,
}

impl Chain {
    fn push(&mut self, instruction: &str, format: Format, operands: Vec<StepOperand>, rule: &str) {
        self.steps.push(Step {
            instruction: instruction.to_owned(),
            emulation: Vec::new(),
            operands,
            format,
            rule: rule.to_owned(),
        });
    }

    /// One conversion of the value so far; packed conversions take it twice.
    fn convert(&mut self, instruction: &str, format: Format, packed: bool) {
        let value = match self.steps.len() {
            0 => StepOperand::Input(0),
            length => StepOperand::Step(length - 1),
        };
        let operands = if packed {
            vec![value, value]
        } else {
            vec![value]
        };
        self.push(instruction, format, operands, "cuda-tile/ftof");
    }

    fn error(&mut self, rule: &str, text: &str) {
        self.notes.push(Note::new(Severity::Error, rule, text));
    }

    fn answer(self, inputs: &[&str], format: Format) -> Answer {
        let result = match self.steps.len() {
            0 => StepOperand::Input(0),
            length => StepOperand::Step(length - 1),
        };
        Answer {
            steps: self.steps,
            result,
            second: None,
            inputs: inputs.iter().map(|&name| name.to_owned()).collect(),
            format,
            notes: self.notes,
        }
    }
}

/// The name that PTX has for a narrow format.
fn ptx_name(format: Format) -> &'static str {
    match format.name {
        "e4m3fn" => "e4m3",
        "e3m2fn" => "e3m2",
        "e2m3fn" => "e2m3",
        "e2m1fn" => "e2m1",
        other => other,
    }
}

fn cast(from: Format, to: Format, mode: Mode, target: Target) -> Answer {
    let mut chain = Chain {
        steps: Vec::new(),
        notes: Vec::new(),
    };
    let scale = to == UE8M0;
    let allowed: &[Mode] = if scale {
        &[Mode::Rz, Mode::Rp]
    } else {
        &[Mode::Rn]
    };
    if !allowed.contains(&mode) {
        let text = if scale {
            "ftof to E8M0 rounds to zero or to positive infinity only"
        } else if [F16, F32].contains(&to) {
            "ftof rounds to nearest even only; the bytecode of cuTile 13.4 knows RM, RP and RA for f16 and f32 too"
        } else {
            "ftof rounds to nearest even only"
        };
        let note = Note::new(Severity::Error, "cuda-tile/ftof-rounding", text);
        chain
            .notes
            .push(if scale { note } else { note.deviating(26) });
    }
    let narrow = |format: Format| format.bits <= 8;
    for format in [from, to] {
        if narrow(format) && !ELEMENTS.contains(&format.name) {
            let text = format!(
                "the dialect has no {format}; its narrow formats are {}",
                ELEMENTS.join(" ")
            );
            chain
                .notes
                .push(Note::new(Severity::Error, "cuda-tile/elements", &text).deviating(23));
            return chain.answer(&["x"], to);
        }
    }
    if (narrow(from) || narrow(to)) && target.sm < 90 {
        chain.error(
            "cuda-tile/ftof-target",
            "the dialect's compiler takes fp8 from sm_90 on",
        );
    }
    if narrow(from) {
        chain.convert(&format!("cvt.rn.f16x2.{}x2", ptx_name(from)), F16, false);
    } else if from == F64 && to != F64 {
        chain.convert("cvt.rn.f32.f64", F32, false);
    } else if from == F16 && to != F16 && !narrow(to) {
        chain.convert("cvt.f32.f16", F32, false);
    } else if from == BF16 && to != BF16 {
        chain.convert("cvt.f32.bf16", F32, false);
    }
    let now = chain.steps.last().map_or(from, |step| step.format);
    if narrow(to) && scale {
        if now == F16 {
            chain.convert("cvt.f32.f16", F32, false);
        }
        chain.convert(&format!("cvt.{mode}.satfinite.ue8m0x2.f32"), to, true);
    } else if narrow(to) && now == F16 {
        chain.convert(
            &format!("cvt.{mode}.satfinite.{}x2.f16x2", ptx_name(to)),
            to,
            false,
        );
    } else if narrow(to) {
        chain.convert(
            &format!("cvt.{mode}.satfinite.{}x2.f32", ptx_name(to)),
            to,
            true,
        );
    } else if now != to {
        match (now, to) {
            (F16, F32) => chain.convert("cvt.f32.f16", F32, false),
            (F16, BF16) => {
                chain.convert("cvt.f32.f16", F32, false);
                chain.convert("cvt.rn.bf16.f32", BF16, false);
            }
            (F32, F64) => chain.convert("cvt.f64.f32", F64, false),
            (F32, TF32) => chain.convert(&format!("cvt.{mode}.tf32.f32"), TF32, false),
            (F32, F16 | BF16) => chain.convert(&format!("cvt.{mode}.{to}.f32"), to, false),
            _ => chain.error(
                "cuda-tile/ftof-types",
                &format!("ftof does not convert {from} to {to}"),
            ),
        }
    }
    if narrow(to) {
        let text = "the dialect has no saturation attribute: the conversion always saturates";
        chain
            .notes
            .push(Note::new(Severity::Note, "cuda-tile/ftof-saturates", text));
    }
    chain.answer(&["x"], to)
}

/// A matrix product; `scales` are those of a scaled one.
fn product(a: &Tile, b: &Tile, c: &Tile, scales: Option<(&Tile, &Tile)>, target: Target) -> Answer {
    let mut chain = Chain {
        steps: Vec::new(),
        notes: Vec::new(),
    };
    let fp8 = |format: Format| format == E4M3FN || format == E5M2;
    let (fa, fb, fc) = (a.element, b.element, c.element);
    if fa != fb && !(fp8(fa) && fp8(fb)) {
        chain.error(
            "cuda-tile/mmaf-types",
            &format!("a and b have one element type, not {fa} and {fb}"),
        );
    }
    let depth = (a.shape.len() >= 2).then(|| a.shape[a.shape.len() - 1]);
    if let (Some(k), Some(&rows)) = (depth, b.shape.get(b.shape.len().wrapping_sub(2)))
        && k != rows
    {
        chain.error(
            "cuda-tile/mmaf-shape",
            &format!("a has {k} columns and b has {rows} rows"),
        );
    }
    let rule = if scales.is_some() {
        "cuda-tile/mmaf_scaled"
    } else {
        "cuda-tile/mmaf"
    };
    let name = match scales {
        Some(scales) => scaled_name(&mut chain, a, fc, scales, target),
        None => plain_name(&mut chain, fa, fb, fc, target),
    };
    if let Some(name) = name {
        let operands = if scales.is_some() { 5 } else { 3 };
        // The name as PTX writes it in full.
        let name = Rules::built_in()
            .form(&name)
            .map_or(name, |form| form.to_string());
        chain.push(
            &name,
            fc,
            (0..operands).map(StepOperand::Input).collect(),
            rule,
        );
    }
    if fp8(fa) && fc == F32 {
        let text = "native fp8 sums lie between f16 and f32 in precision; by default the compiler promotes partial sums (fast_acc turns that off)";
        chain
            .notes
            .push(Note::new(Severity::Note, "cuda-tile/fast_acc", text));
    }
    let inputs: &[&str] = if scales.is_some() {
        &["a", "b", "c", "sa", "sb"]
    } else {
        &["a", "b", "c"]
    };
    chain.answer(inputs, fc)
}

/// The unit that a target has for matrix products.
fn unit(target: Target) -> &'static str {
    match (target.sm, target.suffix) {
        (90, Suffix::Architecture) => "wgmma",
        (100..=119, Suffix::Architecture | Suffix::Family) => "tcgen05",
        _ => "mma",
    }
}

fn plain_name(
    chain: &mut Chain,
    a: Format,
    b: Format,
    c: Format,
    target: Target,
) -> Option<String> {
    let k = 256 / a.register.bits.max(8);
    let (na, nb) = (ptx_name(a), ptx_name(b));
    let legal = matches!(
        (a.name, c.name),
        ("f16", "f16" | "f32")
            | ("bf16" | "tf32", "f32")
            | ("e4m3fn" | "e5m2", "f16" | "f32")
            | ("f64", "f64")
            | ("f32", "f32")
    );
    if !legal {
        chain.error(
            "cuda-tile/mmaf-types",
            &format!("mmaf does not take {a} operands with {c} sums"),
        );
        return None;
    }
    if a == F32 {
        let text = "cuTile's documentation lists f32 operands with f32 sums; PTX has no matrix instruction for \
                    them, and which instructions the compiler chooses is not established";
        chain
            .notes
            .push(Note::new(Severity::Note, "cuda-tile/mmaf-f32", text));
        return Some("call mmaf.f32".to_owned());
    }
    Some(match unit(target) {
        _ if a == F64 => "mma.m8n8k4.f64.f64.f64.f64".to_owned(),
        "wgmma" => format!("wgmma.mma_async.m64n64k{k}.{c}.{na}.{nb}"),
        "tcgen05" => {
            let kind = match a.name {
                "f16" | "bf16" => "f16",
                "tf32" => "tf32",
                _ => "f8f6f4",
            };
            format!("tcgen05.mma.kind::{kind}.{c}.{na}.{nb}")
        }
        _ => {
            // tf32 has its own shape.
            let k = if a == TF32 { 8 } else { k };
            format!("mma.m16n8k{k}.{c}.{na}.{nb}.{c}")
        }
    })
}

fn scaled_name(
    chain: &mut Chain,
    a: &Tile,
    c: Format,
    scales: (&Tile, &Tile),
    target: Target,
) -> Option<String> {
    let (sa, sb) = scales;
    if sa.element != sb.element {
        chain.error("cuda-tile/scale-types", "both scales have one element type");
    }
    if c != F32 {
        chain.error(
            "cuda-tile/scale-sums",
            &format!("scaled products have f32 sums, not {c}"),
        );
    }
    let columns = |tile: &Tile| tile.shape.last().copied();
    let block = match (columns(a), columns(sa)) {
        (Some(k), Some(blocks)) if blocks > 0 && k % blocks == 0 => k / blocks,
        (Some(k), Some(blocks)) => {
            chain.error(
                "cuda-tile/scale-shape",
                &format!("{blocks} scales do not divide {k} columns"),
            );
            return None;
        }
        _ => {
            chain.error("cuda-tile/scale-shape", "the tiles have no columns");
            return None;
        }
    };
    let element = ptx_name(a.element);
    let scale = ptx_name(sa.element);
    let (kind, vector, scale_type, k) = match (a.element.bits, scale, block) {
        (8, "ue8m0", 32) => ("mxf8f6f4", "1X", "ue8m0", 32),
        (4, "ue8m0", 32) => ("mxf4", "2X", "ue8m0", 64),
        (4, "ue8m0", 16) => ("mxf4nvf4", "4X", "ue8m0", 64),
        (4, "e4m3" | "ue4m3", 16) => ("mxf4nvf4", "4X", "ue4m3", 64),
        (4, "e4m3" | "ue4m3", _) => {
            let text = format!("e4m3 scales require blocks of 16, not {block}");
            chain
                .notes
                .push(Note::new(Severity::Error, "cuda-tile/scale-block", &text).deviating(33));
            return None;
        }
        (8 | 4, "ue8m0", _) => {
            chain.error(
                "cuda-tile/scale-block",
                &format!(
                    "{element} with ue8m0 scales has blocks of 32 (f4: 16 or 32), not {block}"
                ),
            );
            return None;
        }
        _ => {
            chain.error(
                "cuda-tile/scale-types",
                &format!("{element} elements do not take {scale} scales"),
            );
            return None;
        }
    };
    if scale_type == "ue4m3" {
        let text = "e4m3 scales must not be negative: the unit reads 7 bits without a sign";
        chain
            .notes
            .push(Note::new(Severity::Note, "cuda-tile/scale-sign", text).deviating(34));
    }
    Some(match unit(target) {
        "tcgen05" => {
            let block = match kind {
                "mxf4nvf4" => ".block16",
                _ => "",
            };
            format!(
                "tcgen05.mma.kind::{kind}.block_scale{block}.f32.{element}.{element}.{scale_type}"
            )
        }
        _ => format!(
            "mma.m16n8k{k}.kind::{kind}.block_scale.scale_vec::{vector}.f32.{element}.{element}.f32.{scale_type}"
        ),
    })
}
